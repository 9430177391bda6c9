//! The scope of the shown changes of a merge request: all, since the last view, between two versions, or of one commit.

use super::ChangesTab;
use super::versions::{self, VersionEnd};
use crate::api::commits::Commit;
use crate::api::merge_requests::{DiffRefs, MergeRequest};
use crate::api::notes::Note;
use crate::api::partial_reply;
use crate::api::repository::CompareRefs;
use crate::api::{Endpoint, Error, Fault, Time};
use crate::app::action::Action;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::state::SeenChange;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::parts::repository::changed_files::{ChangedFiles, Entries, Revisions};
use crate::parts::text::dates::time_ago;
use crate::store::{Load, Partial, Revision, Want};
use crate::ui::{glyph, text};
use jiff::Timestamp;

/// The maximum number of pages of a commit's changed files.
const MAX_PAGES: u32 = 20;
/// The minimum number of columns for naming the review beside what changed since.
const WIDE: u16 = 100;

/// The scope of the shown changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    #[default]
    All,
    /// Since a version that was reviewed, without what the target branch changed.
    Since(VersionEnd),
    /// Between two versions, without what the target branch changed; or of a commit that both have, within the scope that
    /// has more of them.
    Versions { from: VersionEnd, to: VersionEnd, within: Option<Box<Scope>> },
    /// Between two commits, with everything that differs; the second one may be the head.
    Commits { from: VersionEnd, to: Option<VersionEnd> },
    /// Of one commit, by its SHA.
    Commit(String),
}

/// The base and the head of changes that were shown.
type SeenEnds = (Option<String>, String);

/// The changes that the user has seen.
#[derive(Default)]
pub struct SeenHeads {
    /// The ends recorded as seen.
    noted: Option<SeenEnds>,
    /// The ends seen before them.
    before: Option<SeenEnds>,
    /// The time of the user's last comment or verdict, and the revision of the notes that it was found in.
    reviewed_at: (Option<Revision>, Option<Timestamp>),
    /// The version that was reviewed last, unless it is the current one.
    reviewed: Option<VersionEnd>,
    /// The head for which the changes were reloaded, so that a server that lags behind is asked only once.
    renewed: Option<String>,
}

fn head(merge_request: &MergeRequest) -> Option<&str> {
    let refs = || merge_request.diff_refs.as_ref().and_then(|refs| refs.head_sha.as_deref());
    merge_request.sha.as_deref().or_else(refs).filter(|sha| !sha.is_empty())
}

impl Scope {
    /// Returns the scope, or the one that it is a part of.
    pub(super) fn without_pair(&self) -> &Scope {
        match self {
            Scope::Versions { within: Some(scope), .. } => scope,
            scope => scope,
        }
    }

    /// Returns the scope between two ends: commits are compared as they are.
    pub(super) fn between(from: VersionEnd, to: VersionEnd) -> Scope {
        match from.is_version() && to.is_version() {
            true => Scope::Versions { from, to, within: None },
            false => Scope::Commits { from, to: Some(to) },
        }
    }
}

/// Returns whether a note is a verdict or a comment, unlike those that the server adds for pushes and edits.
fn is_review(note: &Note) -> bool {
    let verdicts = ["approved this merge request", "requested changes"];
    !note.system || verdicts.iter().any(|verdict| note.body.starts_with(verdict))
}

impl ChangesTab {
    /// Returns the head commit as reported by the merge request.
    pub(super) fn request_head<'a>(&self, view: &View<'a>) -> Option<&'a str> {
        head(self.reads.known(view)?)
    }

    /// Returns the comparison that contains the shown changes, if two commits are compared as they are.
    fn comparison_of(&self, view: &View) -> Option<CompareRefs> {
        let Scope::Commits { from, to } = &self.scope else { return None };
        let to = to.as_ref().map_or_else(|| self.request_head(view), |to| Some(to.sha.as_str()))?.to_owned();
        Some(CompareRefs { id: self.reads.project.clone(), from: from.sha.clone(), to, straight: Some(true) })
    }

    /// Returns the versions to compare without the changes of the target branch; the second one may be the current one.
    /// With all changes, they are those since the review.
    pub(super) fn compared_versions(&self) -> Option<(VersionEnd, Option<VersionEnd>)> {
        match &self.scope {
            Scope::All => Some((self.seen.reviewed.clone().filter(VersionEnd::is_version)?, None)),
            Scope::Since(from) => Some((from.clone(), None)),
            Scope::Versions { from, to, .. } => Some((from.clone(), Some(to.clone()))),
            Scope::Commits { .. } | Scope::Commit(_) => None,
        }
    }

    /// Finds the time of the user's last comment or verdict, if there are other notes than before.
    fn find_review(&mut self, view: &View) {
        let (notes, me) = (self.reads.notes(view), view.me().map(|me| me.id));
        if self.seen.reviewed_at.0 != Some(notes.revision) {
            let mine = notes.iter().filter(|note| me.is_some() && note.author.as_ref().map(|author| author.id) == me);
            let times = mine.filter(|note| is_review(note)).filter_map(|note| note.created_at.as_ref()?.instant());
            self.seen.reviewed_at = (Some(notes.revision), times.max());
        }
    }

    /// Returns the version that the user reviewed last, unless it is the current one: by a comment or a verdict, or the one
    /// that was looked at last if that is newer.
    fn reviewed_version(&self, view: &View) -> Option<VersionEnd> {
        let versions = versions::all(&self.reads, view);
        let current = self.current_end(view)?;
        let commented = self.seen.reviewed_at.1.and_then(|at| {
            versions.iter().filter(|version| version.is_from_before(at)).max_by_key(|version| version.id)
        });
        // A record without a base is of the first version with that head.
        let looked_at = self.seen.before.as_ref().and_then(|(base, sha)| {
            let is_it =
                |version: &&VersionEnd| version.sha == *sha && base.as_ref().is_none_or(|base| version.base == *base);
            versions.iter().filter(is_it).min_by_key(|version| version.id)
        });
        let last = commented.into_iter().chain(looked_at).max_by_key(|version| version.id)?;
        let is_current = (&last.sha, &last.base) == (&current.sha, &current.base);
        (!is_current).then(|| last.clone())
    }

    /// Returns the requests for the shown changes.
    pub(super) fn scope_wants(&self, view: &View) -> Vec<Want> {
        let mut wants: Vec<Want> =
            vec![Load::list(&self.reads.commits(), view.store.list(&self.reads.commits()).pages().max(1)).into()];
        match &self.scope {
            Scope::All => {
                wants.push(Load::single(&self.reads.changes()).in_parts(partial_reply::elements).into());
                // What is new since the review is read after the changes are shown.
                let has_review = self.seen.reviewed_at.1.is_some() || self.seen.before.is_some();
                if self.is_current(view) && has_review {
                    wants.push(versions::want(&self.reads));
                    wants.extend(self.since_wants(view));
                }
            }
            Scope::Since(_) | Scope::Versions { .. } => {
                wants.push(versions::want(&self.reads));
                wants.extend(self.since_wants(view));
            }
            Scope::Commits { .. } => {
                wants.extend(self.comparison_of(view).map(|compare| Load::single(&compare).into()));
            }
            Scope::Commit(sha) => {
                let list = self.reads.commit_changes(sha);
                let pages = view.store.list(&list).pages_to_end(MAX_PAGES);
                wants.push(Load::list(&list, pages).into());
            }
        }
        wants
    }

    /// Returns the shown changes, once they are loaded.
    pub(super) fn input(&self, view: &View) -> Option<ChangedFiles> {
        match &self.scope {
            Scope::All => {
                let reply = view.store.get(&self.reads.changes());
                let Some(changed) = reply.arc() else {
                    // The first files of a long reply are shown before the others are there.
                    let part = view.store.partial(&self.reads.changes())?;
                    let identity = format!("{} up to {}", self.reads.changes().request().line(), part.received);
                    return Some(ChangedFiles { identity, entries: Entries::MergeRequest(part.value) });
                };
                // Changes with the same base and head are equal: when they are loaded again, they are not parsed again.
                let refs = changed.diff_refs.as_ref();
                let ends = refs.and_then(|refs| Some((refs.base_sha.as_deref()?, refs.head_sha.as_deref()?)));
                let files = changed.changes.as_ref().map_or(0, Vec::len);
                let line = self.reads.changes().request().line();
                let identity = match ends {
                    Some((base, head)) => format!("{line} from {base} to {head}, {files} files"),
                    None => format!("{line} at {:?}", reply.since),
                };
                Some(ChangedFiles { identity, entries: Entries::MergeRequest(changed) })
            }
            Scope::Since(_) | Scope::Versions { .. } => self.since_input(),
            Scope::Commits { .. } => {
                let compare = self.comparison_of(view)?;
                let reply = view.store.get(&compare);
                let identity = format!("{} at {:?}", compare.request().line(), reply.since);
                Some(ChangedFiles { identity, entries: Entries::Comparison(reply.arc()?) })
            }
            Scope::Commit(sha) => {
                let list = self.reads.commit_changes(sha);
                let rows = view.store.list(&list);
                let pages: Vec<_> = (0..rows.pages() as usize).filter_map(|page| rows.page(page)).collect();
                let identity = format!("{} at {:?}", list.request().line(), rows.since);
                rows.is_loaded.then_some(ChangedFiles { identity, entries: Entries::Pages(pages) })
            }
        }
    }

    /// Returns the error of the last request for the shown changes.
    pub(super) fn scope_error<'a>(&self, view: &View<'a>) -> Option<&'a Error> {
        match &self.scope {
            Scope::All => view.store.get(&self.reads.changes()).error,
            Scope::Since(_) | Scope::Versions { .. } => self.since_error(view),
            Scope::Commits { .. } => self.comparison_of(view).and_then(|compare| view.store.get(&compare).error),
            Scope::Commit(sha) => view.store.list(&self.reads.commit_changes(sha)).error,
        }
    }

    /// Returns what changed since the review, as far as it is known: `2 files changed since your review (2d ago), 4 only
    /// rebased`.
    fn since_counts(&self, since: &str) -> Option<String> {
        let compared = self.since.compared()?;
        let files = |count: usize| text::count_noun(count as u64, "file");
        let mut words = match compared.changed {
            0 if compared.is_proof => "Nothing to review".to_owned(),
            changed => format!("{} changed", files(changed)),
        };
        words.push_str(since);
        if compared.unchanged > 0 {
            let how = if compared.is_rebased { "only rebased" } else { "unchanged" };
            words.push_str(&format!(", {} {how}", text::count(compared.unchanged as u64)));
        }
        if compared.conflicts > 0 {
            let conflicts = text::count_noun(compared.conflicts as u64, "conflict");
            let with = format!("with {}", compared.target_branch);
            words.push_str(&match compared.solved_by_hand {
                0 => format!(", {conflicts} {with}"),
                by_hand if by_hand == compared.conflicts => format!(", {conflicts} solved by hand"),
                by_hand => format!(", {conflicts} {with} ({by_hand} solved by hand)"),
            });
        }
        match self.diff_comments.changed_since() {
            0 => {}
            1 => words.push_str(", 1 of your threads changed"),
            threads => words.push_str(&format!(", {threads} of your threads changed")),
        }
        Some(words)
    }

    /// Returns a description of the scope; with all changes, of what changed since the review.
    pub(super) fn scope_words(&self, view: &View) -> Option<String> {
        let short = |sha: &str| sha.get(..8).unwrap_or(sha).to_owned();
        let (gap, all) = (glyph::separator(), view.with_keys("‹mr.since› shows all"));
        let since = |from: &VersionEnd| match self.seen.reviewed_at.1.filter(|at| from.is_from_before(*at)) {
            // On a narrow screen, there is no room for more than the counts.
            _ if view.size.0 < WIDE => String::new(),
            Some(at) => format!(" since your review ({})", time_ago(view, Some(&Time(at.to_string())))),
            None => format!(" since you saw {}", from.name),
        };
        let counts =
            |since: &str| self.since_counts(since).unwrap_or_else(|| format!("Comparing{}{since}", glyph::ellipsis()));
        match &self.scope {
            Scope::All if let Some(part) = self.part(view) => {
                let files = text::count_noun(part.value.changes.as_ref().map_or(0, Vec::len) as u64, "file");
                let read = text::bytes_of(part.received, part.size);
                match view.store.get(&self.reads.changes()).error {
                    None => Some(format!("{files} so far{gap}{read} read")),
                    Some(_) => Some(format!("{files}; the others are missing: the reply ended after {read}")),
                }
            }
            Scope::All => {
                let from = self.seen.reviewed.as_ref()?;
                let counts = self.since_counts(&since(from))?;
                Some(format!("{counts}{gap}{}", view.with_keys("‹mr.since› shows this")))
            }
            Scope::Since(from) => Some(format!("{}{gap}{all}", counts(&since(from)))),
            Scope::Versions { from, to, .. } => {
                Some(format!("{}{gap}{all}", counts(&format!(" from {} to {}", from.name, to.name))))
            }
            Scope::Commits { from, to: None } if self.base(view) == Some(from.sha.as_str()) => {
                Some(format!("Full diff{gap}{}", view.with_keys("‹mr.since› shows the server's diff")))
            }
            Scope::Commits { from, to } => {
                let to = to.as_ref().map_or("the head", |to| to.name.as_str());
                let target = self.reads.target_branch(view);
                Some(format!("Changes from {} to {to}, with those of {target}{gap}{all}", from.name))
            }
            Scope::Commit(sha) => {
                let rows = view.store.list(&self.reads.commits());
                let at = rows.iter().position(|commit| commit.id == *sha).unwrap_or(0);
                let number = rows.len().saturating_sub(at);
                let step = view.with_keys("‹mr.previous_commit› ‹mr.next_commit› step");
                Some(format!("Commit {number} of {}  {}{gap}{step}{gap}{all}", rows.len(), short(sha)))
            }
        }
    }

    /// Returns the SHA of the commit whose changes alone are shown.
    pub fn shown_sha(&self) -> Option<&str> {
        match &self.scope {
            Scope::Commit(sha) => Some(sha),
            _ => None,
        }
    }

    /// Returns the commit whose changes alone are shown, once it is known.
    pub(super) fn shown_commit<'a>(&self, view: &View<'a>) -> Option<&'a Commit> {
        let sha = self.shown_sha()?;
        view.store.list(&self.reads.commits()).iter().find(|commit| commit.id == *sha)
    }

    /// Shows the changes of one commit alone.
    pub fn show_commit(&mut self, sha: String) {
        self.scope = Scope::Commit(sha);
    }

    /// Returns what was received of the changes, unless all of them are there.
    fn part(&self, view: &View) -> Option<Partial<MergeRequest>> {
        view.store.get(&self.reads.changes()).value.is_none().then(|| view.store.partial(&self.reads.changes()))?
    }

    /// Returns the revisions on both sides of the shown changes.
    fn revisions(&self, view: &View) -> Option<Revisions> {
        let merge_request = self.reads.known(view)?;
        let project = self.reads.project.clone();
        let head = match (&self.scope, self.head(view)) {
            // The shown diff may be older than the head reported by the merge request.
            (Scope::All, shown) if !shown.is_empty() => shown.to_owned(),
            _ => head(merge_request)?.to_owned(),
        };
        let rows = view.store.list(&self.reads.commits());
        let parent = |commit: &Commit| commit.parent_ids.first().cloned();
        Some(match &self.scope {
            Scope::All => {
                let base = merge_request.diff_refs.as_ref().and_then(|refs| refs.base_sha.clone());
                let oldest = || rows.iter().last().filter(|_| !rows.has_more).and_then(parent);
                Revisions { project, old: base.or_else(oldest), new: head }
            }
            Scope::Since(_) | Scope::Versions { .. } => {
                let to = self.ends(view)?.to;
                Revisions { project, old: Some(to.base), new: to.sha }
            }
            Scope::Commits { from, to } => {
                let new = to.as_ref().map_or(head, |to| to.sha.clone());
                Revisions { project, old: Some(from.sha.clone()), new }
            }
            Scope::Commit(sha) => {
                let commit = rows.iter().find(|commit| commit.id == *sha);
                Revisions { project, old: commit.and_then(parent), new: sha.clone() }
            }
        })
    }

    /// Returns the commits that the shown line numbers refer to; the server maps a position from there to the current
    /// changes. `None` if one of them is unknown.
    pub(super) fn shown_refs(&self, view: &View) -> Option<DiffRefs> {
        let head = Some(self.shown_head(view)).filter(|head| !head.is_empty())?;
        let between = |from: &str| {
            let from = Some(from.to_owned());
            DiffRefs { base_sha: from.clone(), start_sha: from, head_sha: Some(head.to_owned()) }
        };
        let parent = |sha: &String| {
            let rows = view.store.list(&self.reads.commits());
            rows.iter().find(|commit| commit.id == *sha)?.parent_ids.first().cloned()
        };
        match &self.scope {
            Scope::Versions { to, .. } if !self.is_current_end(to, view) => {
                let to = self.ends(view)?.to;
                Some(DiffRefs { base_sha: Some(to.base), start_sha: Some(to.start), head_sha: Some(to.sha) })
            }
            Scope::Commits { from, .. } if !self.is_whole(view) => Some(between(&from.sha)),
            Scope::Commit(sha) => Some(between(&parent(sha)?)),
            Scope::All | Scope::Since(_) | Scope::Versions { .. } | Scope::Commits { .. } => {
                let refs = view.store.get(&self.reads.changes()).value.and_then(|changes| changes.diff_refs.as_ref());
                let refs = refs.or_else(|| self.reads.known(view)?.diff_refs.as_ref())?;
                Some(refs.clone()).filter(|refs| refs.head_sha.as_deref() == Some(head))
            }
        }
    }

    /// Updates the revisions and the viewed files of the changes, and records the shown head as seen.
    pub(super) fn scope_sync(&mut self, cx: &mut Cx) {
        let view = cx.view;
        self.changes.set_revisions(self.revisions(&view));
        // The saved state is available once the account is known.
        if view.session.signed_in && view.me().is_none() {
            return;
        }
        let request = format!("{}!{}", self.reads.project, self.reads.iid);
        // What is viewed since the review is viewed in all changes. Other scopes have their own viewed files.
        let under = match &self.scope {
            Scope::All | Scope::Since(_) => request.clone(),
            Scope::Versions { from, to, .. } => format!("{request} from {} to {}", from.sha, to.sha),
            Scope::Commits { from, to: Some(to) } => format!("{request} from {} to {}", from.sha, to.sha),
            Scope::Commits { from, to: None } => format!("{request} since {}", from.sha),
            Scope::Commit(sha) => format!("{}@{sha}", self.reads.project),
        };
        self.changes.load_viewed_marks(&view, &under);
        self.follow_head(cx);
        self.note_seen(&request, cx);
        self.find_review(&view);
        self.seen.reviewed = self.reviewed_version(&view);
        self.since_sync(&view);
        if matches!(self.scope, Scope::All | Scope::Since(_))
            && let Some(compared) = self.since.compared()
        {
            self.changes.carry_viewed_marks(&compared.marks, cx);
        }
    }

    /// Records the ends of the shown changes as seen. Only changes that were shown count, not a newer head reported by the
    /// merge request.
    fn note_seen(&mut self, request: &str, cx: &mut Cx) {
        let view = cx.view;
        let sha = self.head(&view).to_owned();
        let base = self.current_end(&view).map(|end| end.base);
        let ends = Some((base.clone(), sha.clone()));
        if sha.is_empty() || self.seen.noted == ends {
            return;
        }
        self.seen.noted = ends;
        let known = view.seen.heads.get(request);
        self.seen.before =
            known.and_then(|seen| match seen.last == sha && (seen.base.is_none() || seen.base == base) {
                true => Some((seen.before_base.clone(), seen.before.clone()?)),
                false => Some((seen.base.clone(), seen.last.clone())),
            });
        cx.act(Action::Seen(SeenChange::Head { merge_request: request.to_owned(), sha, base }));
    }

    /// Reloads the changes if the merge request reports another head than theirs.
    fn follow_head(&mut self, cx: &mut Cx) {
        let (Some(now), shown) = (self.request_head(&cx.view), self.head(&cx.view)) else { return };
        // The source branch of a merged or closed merge request may move on.
        if !self.reads.known(&cx.view).is_some_and(MergeRequest::is_open) {
            return;
        }
        if shown.is_empty() || now == shown || self.seen.renewed.as_deref() == Some(now) {
            return;
        }
        self.seen.renewed = Some(now.to_owned());
        let wants = vec![
            Load::single(&self.reads.changes()).into(),
            Load::list(&self.reads.commits(), 1).into(),
            versions::want(&self.reads),
        ];
        cx.act(Action::Reload(wants));
        let short = now.get(..8).unwrap_or(now);
        cx.say(Tone::Warning, format!("The branch has moved to {short}: reloading its changes."));
    }

    /// Returns the scope of the changes since the review. Without versions or their bases, the heads are compared.
    fn since_scope(&self, view: &View) -> Option<Scope> {
        match self.seen.reviewed.clone() {
            Some(version) if version.is_version() => return Some(Scope::Since(version)),
            Some(from) => return Some(Scope::Commits { from, to: None }),
            None => {}
        }
        let versions = view.store.list(&self.reads.versions());
        let (base, sha) = self.seen.before.as_ref().filter(|_| !versions.is_loading())?;
        let is_version = versions.iter().any(|version| version.head_commit_sha.as_ref() == Some(sha));
        let is_current =
            self.current_end(view).is_some_and(|current| current.sha == *sha && Some(&current.base) == base.as_ref());
        let name = sha.get(..8).unwrap_or(sha).to_owned();
        let from = VersionEnd::of_commit(sha.clone(), name);
        (!is_version && !is_current).then_some(Scope::Commits { from, to: None })
    }

    /// Toggles between all changes and those since the review.
    pub fn toggle_since(&mut self, cx: &mut Cx) {
        let since = self.since_scope(&cx.view).filter(|_| self.scope == Scope::All);
        self.scope = since.unwrap_or_default();
        if self.scope == Scope::All {
            cx.say(Tone::Info, "All changes.");
        }
    }

    /// Compares the heads of the compared versions.
    pub fn compare_heads(&mut self) {
        if let Some((from, to)) = self.compared_versions() {
            self.scope = Scope::Commits { from, to };
        }
    }

    pub fn can_compare_heads(&self) -> Result<(), Disabled> {
        self.compared_versions().map(|_| ()).ok_or_else(|| "no two versions are compared".into())
    }

    /// Shows the text of the target branch on the left side of conflicts, or the reviewed text.
    pub fn toggle_conflicts(&mut self) {
        self.since.shows.target = !self.since.shows.target;
        self.since.ends = None;
    }

    /// Shows the changes that were reviewed as well, or only those since.
    pub fn toggle_reviewed(&mut self) {
        self.since.shows.reviewed = !self.since.shows.reviewed;
        self.since.ends = None;
    }

    pub fn can_toggle_reviewed(&self) -> Result<(), Disabled> {
        match &self.scope {
            Scope::Since(_) | Scope::Versions { .. } => Ok(()),
            _ => Err("only with changes since your review: ‹mr.since› shows them".into()),
        }
    }

    pub fn can_toggle_conflicts(&self) -> Result<(), Disabled> {
        let has_conflicts = self.since.compared().is_some_and(|compared| compared.conflicts > 0);
        match &self.scope {
            Scope::Since(_) | Scope::Versions { .. } if has_conflicts => Ok(()),
            _ => Err("no conflict is shown".into()),
        }
    }

    /// Returns the base commit of the changes, if the server provides it.
    pub(super) fn base<'a>(&self, view: &View<'a>) -> Option<&'a str> {
        self.reads.known(view)?.diff_refs.as_ref()?.base_sha.as_deref()
    }

    /// Shows all changes by comparing base and head, which may contain files that the server left out.
    pub fn compare_ends(&mut self, cx: &mut Cx) {
        if let Some(base) = self.base(&cx.view) {
            let from = VersionEnd::of_commit(base.to_owned(), "base".to_owned());
            self.scope = Scope::Commits { from, to: None };
        }
    }

    pub fn can_compare_ends(&self, view: &View) -> Result<(), Disabled> {
        self.reads.known(view).ok_or("it has not loaded yet")?;
        self.base(view).ok_or("the base commit is unknown")?;
        Ok(())
    }

    /// Returns whether the request for all changes failed in a way that a comparison may not.
    pub(super) fn can_try_ends(&self, view: &View) -> bool {
        let error = view.store.get(&self.reads.changes()).error;
        let is_own = |error: &Error| {
            error.is_withheld() || matches!(error.fault, Fault::Server(..) | Fault::Timeout(_) | Fault::TooLarge(_))
        };
        error.is_some_and(is_own) && self.can_compare_ends(view).is_ok()
    }

    /// Returns to the scope around the shown one, or to all changes. Returns whether another scope was shown.
    pub(super) fn leave_scope(&mut self) -> bool {
        match std::mem::take(&mut self.scope) {
            Scope::All => return false,
            Scope::Versions { within: Some(scope), .. } => self.scope = *scope,
            _ => {}
        }
        true
    }

    /// Shows what changed in a commit since the version that was reviewed.
    pub fn show_pair(&mut self, before: &Commit, now: &Commit) {
        let end = |commit: &Commit| {
            let base = commit.parent_ids.first().cloned().unwrap_or_default();
            let start = base.clone();
            VersionEnd { base, start, ..VersionEnd::of_commit(commit.id.clone(), commit.short().to_owned()) }
        };
        let within = Some(Box::new(self.scope.without_pair().clone()));
        self.scope = Scope::Versions { from: end(before), to: end(now), within };
    }

    pub fn can_toggle_since(&self, view: &View) -> Result<(), Disabled> {
        match self.scope == Scope::All && self.since_scope(view).is_none() {
            true if self.seen.before.is_some() && view.store.list(&self.reads.versions()).is_loading() => {
                Err("its versions are still loading".into())
            }
            true => Err("nothing changed since your last review".into()),
            false => Ok(()),
        }
    }

    /// Shows the next or previous commit; past either end, all changes.
    pub fn step_commit(&mut self, forward: bool, cx: &mut Cx) {
        // The list has the newest commit first; stepping forward goes from the oldest to the newest.
        let ids: Vec<&str> =
            cx.view.store.list(&self.reads.commits()).iter().map(|commit| commit.id.as_str()).collect();
        let at = match &self.scope {
            Scope::Commit(sha) => ids.iter().position(|id| id == sha),
            _ => None,
        };
        let next = match (at, forward) {
            (None, true) => ids.len().checked_sub(1),
            (None, false) => Some(0).filter(|_| !ids.is_empty()),
            (Some(at), true) => at.checked_sub(1),
            (Some(at), false) => Some(at + 1).filter(|at| *at < ids.len()),
        };
        self.scope = next.and_then(|at| ids.get(at)).map_or(Scope::All, |id| Scope::Commit((*id).to_owned()));
        if self.scope == Scope::All {
            cx.say(Tone::Info, "All changes.");
        }
    }

    pub fn can_step_commit(&self, view: &View) -> Result<(), Disabled> {
        match view.store.list(&self.reads.commits()).is_empty() {
            true => Err("its commits have not loaded yet".into()),
            false => Ok(()),
        }
    }
}
