//! The scope of the shown changes of a merge request: all, since the last view, between two versions, or of one commit.

use super::ChangesTab;
use super::versions::VersionEnd;
use crate::api::Endpoint;
use crate::api::commits::{Commit, GetCommitDiff};
use crate::api::merge_requests::{DiffRefs, MergeRequest};
use crate::api::repository::CompareRefs;
use crate::app::action::Action;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::state::SeenChange;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::parts::changed_files::{Entries, Input, Revisions};
use crate::store::{Load, Want};
use crate::ui::glyph;

/// The maximum number of pages of a commit's changed files.
const MAX_PAGES: u32 = 20;

/// The scope of the shown changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    #[default]
    All,
    /// From an earlier head, by its SHA, to the current one.
    Since(String),
    /// Between two versions.
    Versions { from: VersionEnd, to: VersionEnd },
    /// Of one commit, by its SHA.
    Commit(String),
}

/// The heads that the user has seen.
#[derive(Default)]
pub struct SeenHeads {
    /// The head recorded as seen.
    noted: Option<String>,
    /// The head seen before it, the start of [`Scope::Since`].
    before: Option<String>,
    /// The head for which the changes were reloaded, so that a server that lags behind is asked only once.
    renewed: Option<String>,
}

fn head(merge_request: &MergeRequest) -> Option<&str> {
    let refs = || merge_request.diff_refs.as_ref().and_then(|refs| refs.head_sha.as_deref());
    merge_request.sha.as_deref().or_else(refs).filter(|sha| !sha.is_empty())
}

impl Scope {
    /// Returns the SHA if the scope is a single commit.
    pub(super) fn commit(&self) -> Option<&str> {
        match self {
            Scope::Commit(sha) => Some(sha),
            _ => None,
        }
    }
}

impl ChangesTab {
    /// Returns the head commit as reported by the merge request.
    pub(super) fn request_head<'a>(&self, view: &View<'a>) -> Option<&'a str> {
        head(self.reads.known(view)?)
    }

    fn since_of(&self, view: &View, from: &str) -> Option<CompareRefs> {
        let to = self.request_head(view)?.to_owned();
        Some(CompareRefs { id: self.reads.project.clone(), from: from.to_owned(), to, straight: Some(true) })
    }

    /// Returns the comparison that contains the shown changes; `None` for all changes or a single commit.
    fn comparison_of(&self, view: &View) -> Option<CompareRefs> {
        match &self.scope {
            Scope::Since(from) => self.since_of(view, from),
            Scope::Versions { from, to } => {
                let (from, to) = (from.sha.clone(), to.sha.clone());
                Some(CompareRefs { id: self.reads.project.clone(), from, to, straight: Some(true) })
            }
            Scope::All | Scope::Commit(_) => None,
        }
    }

    fn commit_of(&self, sha: &str) -> GetCommitDiff {
        GetCommitDiff { id: self.reads.project.clone(), sha: sha.to_owned() }
    }

    /// Returns the requests for the shown changes.
    pub(super) fn scope_wants(&self, view: &View) -> Vec<Want> {
        let mut wants: Vec<Want> =
            vec![Load::list(&self.reads.commits(), view.store.list(&self.reads.commits()).pages().max(1)).into()];
        match &self.scope {
            Scope::All => wants.push(Load::single(&self.reads.changes()).into()),
            Scope::Since(_) | Scope::Versions { .. } => {
                wants.extend(self.comparison_of(view).map(|compare| Load::single(&compare).into()));
            }
            Scope::Commit(sha) => {
                let list = self.commit_of(sha);
                let pages = view.store.list(&list).pages_to_end(MAX_PAGES);
                wants.push(Load::list(&list, pages).into());
            }
        }
        wants
    }

    /// Returns the shown changes, once they are loaded.
    pub(super) fn input(&self, view: &View) -> Option<Input> {
        match &self.scope {
            Scope::All => {
                let reply = view.store.get(&self.reads.changes());
                let changed = reply.arc()?;
                // Changes with the same base and head are equal: when they are loaded again, they are not parsed again.
                let refs = changed.diff_refs.as_ref();
                let ends = refs.and_then(|refs| Some((refs.base_sha.as_deref()?, refs.head_sha.as_deref()?)));
                let files = changed.changes.as_ref().map_or(0, Vec::len);
                let line = self.reads.changes().request().line();
                let identity = match ends {
                    Some((base, head)) => format!("{line} from {base} to {head}, {files} files"),
                    None => format!("{line} at {:?}", reply.since),
                };
                Some(Input { identity, entries: Entries::MergeRequest(changed) })
            }
            Scope::Since(_) | Scope::Versions { .. } => {
                let compare = self.comparison_of(view)?;
                let reply = view.store.get(&compare);
                let identity = format!("{} at {:?}", compare.request().line(), reply.since);
                Some(Input { identity, entries: Entries::Comparison(reply.arc()?) })
            }
            Scope::Commit(sha) => {
                let list = self.commit_of(sha);
                let rows = view.store.list(&list);
                let pages: Vec<_> = (0..rows.pages() as usize).filter_map(|page| rows.page(page)).collect();
                let identity = format!("{} at {:?}", list.request().line(), rows.since);
                rows.is_loaded.then_some(Input { identity, entries: Entries::Pages(pages) })
            }
        }
    }

    /// Returns the error of the last request for the shown changes.
    pub(super) fn scope_error<'a>(&self, view: &View<'a>) -> Option<&'a crate::api::Error> {
        match &self.scope {
            Scope::All => view.store.get(&self.reads.changes()).error,
            Scope::Since(_) | Scope::Versions { .. } => {
                self.comparison_of(view).and_then(|compare| view.store.get(&compare).error)
            }
            Scope::Commit(sha) => view.store.list(&self.commit_of(sha)).error,
        }
    }

    /// Returns a description of the scope, unless it is all changes.
    pub(super) fn scope_words(&self, view: &View) -> Option<String> {
        let short = |sha: &str| sha.get(..8).unwrap_or(sha).to_owned();
        let (gap, all) = (glyph::separator(), view.with_keys("‹mr.since› shows all"));
        match &self.scope {
            Scope::All => None,
            Scope::Since(from) if self.base(view) == Some(from.as_str()) => {
                Some(format!(" Full diff{gap}{}", view.with_keys("‹mr.since› shows the server's diff")))
            }
            Scope::Since(from) => Some(format!(" Changes since {}, when you last looked{gap}{all}", short(from))),
            Scope::Versions { from, to } => Some(format!(" Changes from {} to {}{gap}{all}", from.name, to.name)),
            Scope::Commit(sha) => {
                let rows = view.store.list(&self.reads.commits());
                let at = rows.iter().position(|commit| commit.id == *sha).unwrap_or(0);
                let title = rows.get(at).map(|commit| commit.title.as_str()).unwrap_or_default();
                let number = rows.len().saturating_sub(at);
                let next = view.with_keys("‹mr.next_commit› next");
                Some(format!(" Only commit {number}/{} {} {title}{gap}{next}{gap}{all}", rows.len(), short(sha)))
            }
        }
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
            Scope::Since(from) => Revisions { project, old: Some(from.clone()), new: head },
            Scope::Versions { from, to } => Revisions { project, old: Some(from.sha.clone()), new: to.sha.clone() },
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
            Scope::Since(from) if !self.is_whole(view) => Some(between(from)),
            Scope::Versions { from, .. } => Some(between(&from.sha)),
            Scope::Commit(sha) => Some(between(&parent(sha)?)),
            Scope::All | Scope::Since(_) => {
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
        // Each scope has its own viewed files.
        let under = match &self.scope {
            Scope::All => request.clone(),
            Scope::Since(from) => format!("{request} since {from}"),
            Scope::Versions { from, to } => format!("{request} from {} to {}", from.sha, to.sha),
            Scope::Commit(sha) => format!("{}@{sha}", self.reads.project),
        };
        self.changes.load_viewed_marks(&view, &under);
        self.follow_head(cx);
        // Only a head whose changes were shown counts as seen, not a newer one reported by the merge request.
        let head = self.head(&view);
        if head.is_empty() || self.seen.noted.as_deref() == Some(head) {
            return;
        }
        self.seen.noted = Some(head.to_owned());
        self.seen.before = match view.seen.heads.get(&request) {
            Some(seen) if seen.last == head => seen.before.clone(),
            seen => seen.map(|seen| seen.last.clone()),
        };
        cx.act(Action::Seen(SeenChange::Head { merge_request: request, sha: head.to_owned() }));
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
        let wants = vec![Load::single(&self.reads.changes()).into(), Load::list(&self.reads.commits(), 1).into()];
        cx.act(Action::Reload(wants));
        let short = now.get(..8).unwrap_or(now);
        cx.say(Tone::Warning, format!("The branch has moved to {short}: reloading its changes."));
    }

    /// Toggles between all changes and those since the last view.
    pub fn toggle_since(&mut self, cx: &mut Cx) {
        self.scope = match (&self.scope, &self.seen.before) {
            (Scope::All, Some(before)) => Scope::Since(before.clone()),
            _ => Scope::All,
        };
        if self.scope == Scope::All {
            cx.say(Tone::Info, "All changes.");
        }
    }

    /// Returns the base commit of the changes, if the server provides it.
    pub(super) fn base<'a>(&self, view: &View<'a>) -> Option<&'a str> {
        self.reads.known(view)?.diff_refs.as_ref()?.base_sha.as_deref()
    }

    /// Shows all changes by comparing base and head, which may contain files that the server left out.
    pub fn compare_ends(&mut self, cx: &mut Cx) {
        if let Some(base) = self.base(&cx.view) {
            self.scope = Scope::Since(base.to_owned());
        }
    }

    pub fn can_compare_ends(&self, view: &View) -> Result<(), Disabled> {
        self.reads.known(view).ok_or("it has not loaded yet")?;
        self.base(view).ok_or("the base commit is unknown")?;
        Ok(())
    }

    /// Returns to all changes. Returns whether another scope was shown.
    pub(super) fn leave_scope(&mut self) -> bool {
        std::mem::take(&mut self.scope) != Scope::All
    }

    pub fn can_toggle_since(&self) -> Result<(), Disabled> {
        match (&self.scope, &self.seen.before) {
            (Scope::All, None) => Err("nothing changed since you last looked".into()),
            _ => Ok(()),
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
