//! The commits of two versions of a merge request, paired, as the Commits tab while changes since a review are shown.

use super::Mr;
use super::NOTHING_TO_OPEN;
use super::changes::Ends;
use super::reads::MergeRequestReads;
use crate::api::commits::{Commit, DiffEntry};
use crate::api::merge_requests::MergeRequest;
use crate::api::repository::Comparison;
use crate::api::versions::VersionDetail;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::motion::Motion;
use crate::app::pane::Pane;
use crate::app::place::Place;
use crate::app::view::View;
use crate::domain::paired_commits::{Mark, PairedCommit, PairedCommits, Patches, pair};
use crate::parts::list::draw_error;
use crate::parts::repository::commit_list::{CommitList, CommitMark};
use crate::parts::repository::commit_view::draw_above;
use crate::store::{Canceled, Derive, Load, Want, Work};
use crate::ui::line::Line;
use crate::ui::text::{count_noun, sanitize};
use crate::ui::theme::Role;
use crate::ui::{glyph, state};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::sync::Arc;

/// The maximum number of pages of commits that are loaded.
const MAX_PAGES: u32 = 10;
/// The number of commits whose changes are read ahead, and again each time that the cursor is on one that waits for them.
const CHANGES: usize = 20;

/// The Commits tab while changes since a review are shown.
pub struct PairedCommitsTab {
    reads: MergeRequestReads,
    /// The compared versions, and whether the second one is the current one; `None` if all changes are shown.
    versions: Option<(Ends, bool)>,
    list: CommitList,
    /// The commits whose changes are needed, as far as the comparison has got.
    needed: Vec<String>,
    /// The number of commits whose changes may be read.
    limit: usize,
    result: Option<(String, Arc<PairedCommits>)>,
}

/// The replies with the commits of a version and with its changes.
enum VersionReplies {
    Current(Vec<Arc<Vec<Commit>>>, Arc<MergeRequest>),
    Earlier(Arc<VersionDetail>),
}

impl VersionReplies {
    fn commits(&self) -> Vec<Commit> {
        match self {
            VersionReplies::Current(pages, _) => pages.iter().flat_map(|page| page.iter()).cloned().collect(),
            VersionReplies::Earlier(version) => version.commits.clone(),
        }
    }

    fn changes(&self) -> &[DiffEntry] {
        match self {
            VersionReplies::Current(_, merge_request) => merge_request.changes.as_deref().unwrap_or_default(),
            VersionReplies::Earlier(version) => &version.diffs,
        }
    }
}

/// A computation that pairs commits.
struct PairCommits {
    key: String,
    versions: [VersionReplies; 2],
    /// The comparison of both bases, if they differ.
    target: Option<Arc<Comparison>>,
    patches: Patches,
}

impl Derive for PairCommits {
    type Output = Arc<PairedCommits>;

    fn key(&self) -> String {
        self.key.clone()
    }

    fn memory(&self) -> usize {
        let entries = self.patches.values().flatten().flat_map(|entries| entries.iter());
        16 * entries.map(|entry| entry.diff.len() + 256).sum::<usize>()
    }

    fn run(&self, _canceled: Canceled<'_>) -> Arc<PairedCommits> {
        let commits = self.versions.each_ref().map(VersionReplies::commits);
        let mut patches = self.patches.clone();
        // The changes of a version with one commit are those of the commit.
        for (version, commits) in self.versions.iter().zip(&commits) {
            if let [commit] = commits.as_slice() {
                patches.entry(commit.id.clone()).or_insert_with(|| Some(Arc::new(version.changes().to_vec())));
            }
        }
        let [before, now] = &commits;
        let target = self.target.as_ref().map(|target| target.commits.as_slice()).unwrap_or_default();
        Arc::new(pair(before, now, target, &patches))
    }
}

impl PairedCommitsTab {
    pub fn new(reads: MergeRequestReads) -> PairedCommitsTab {
        let list = CommitList::new(&reads.project, None);
        PairedCommitsTab { reads, versions: None, list, needed: Vec::new(), limit: CHANGES, result: None }
    }

    /// Returns whether it takes the place of the list of commits.
    pub fn is_shown(&self) -> bool {
        self.versions.is_some()
    }

    /// Compares other versions, or none.
    pub fn set_versions(&mut self, versions: Option<(Ends, bool)>) {
        if self.versions != versions {
            *self = PairedCommitsTab { versions, ..PairedCommitsTab::new(self.reads.clone()) };
        }
    }

    /// Returns both versions, once they are loaded.
    fn loaded(&self, view: &View) -> Option<[VersionReplies; 2]> {
        let (ends, is_current) = self.versions.as_ref()?;
        let earlier = |id: u64| view.store.get(&self.reads.version(id)).arc().map(VersionReplies::Earlier);
        let current = || {
            let rows = view.store.list(&self.reads.commits());
            let pages = (0..rows.pages() as usize).filter_map(|page| rows.page(page)).collect();
            let merge_request = view.store.get(&self.reads.changes()).arc()?;
            (rows.is_loaded && !rows.has_next(MAX_PAGES)).then_some(VersionReplies::Current(pages, merge_request))
        };
        Some([earlier(ends.from.id)?, if *is_current { current() } else { earlier(ends.to.id) }?])
    }

    /// Returns the changes that were read, and whether all were that may be.
    fn patches(&self, view: &View) -> (Patches, bool) {
        let (mut patches, mut is_complete) = (Patches::new(), true);
        for sha in self.needed.iter().take(self.limit) {
            let rows = view.store.list(&self.reads.commit_changes(sha));
            match rows.is_loaded || rows.error.is_some() {
                true => _ = patches.insert(sha.clone(), rows.page(0).filter(|_| !rows.has_more)),
                false => is_complete = false,
            }
        }
        (patches, is_complete)
    }

    /// Returns the key of the comparison, which changes with what is known.
    fn key(&self, view: &View) -> Option<String> {
        let (ends, is_current) = self.versions.as_ref()?;
        let target = ends.target_comparison(&self.reads.project);
        let is_compared = target.is_some_and(|target| view.store.get(&target).value.is_some());
        let revision = is_current.then(|| view.store.list(&self.reads.commits()).revision);
        let known = self.needed.iter().take(self.limit);
        let known: Vec<bool> = known.map(|sha| view.store.list(&self.reads.commit_changes(sha)).is_loaded).collect();
        let (project, iid) = (&self.reads.project, self.reads.iid);
        Some(format!("commits of {project}!{iid} {:?} at {revision:?} with {known:?}, {is_compared}", ends.key()))
    }

    /// Returns the pair under the cursor.
    fn current(&self) -> Option<&PairedCommit> {
        self.result.as_ref()?.1.commits.get(self.list.selected())
    }

    fn sync(&mut self, view: &View) {
        let Some(key) = self.key(view) else { return };
        if self.result.as_ref().is_some_and(|(known, _)| *known == key) {
            let waits = self.current().is_some_and(|row| row.mark == Mark::NotCompared);
            if waits && self.needed.len() > self.limit && self.patches(view).1 {
                self.limit += CHANGES;
            }
            return;
        }
        let Some(paired) = view.store.result::<Arc<PairedCommits>>(&key).cloned() else { return };
        // What was read stays in its place, so that the key does not change.
        let more: Vec<String> = paired.needed.iter().filter(|sha| !self.needed.contains(sha)).cloned().collect();
        self.needed.extend(more);
        let target = self.reads.target_branch(view);
        let marks = paired.commits.iter().map(|row| mark(row, &target)).collect();
        self.list.show(paired.commits.iter().map(|row| row.commit.clone()).collect(), Some(marks));
        self.list.empty = ("Neither version has commits.", "‹refresh› refreshes");
        self.result = Some((key, paired));
    }

    /// Returns what happened to the commits: `5 commits since version 3: 3 same, 1 changed, 1 new; 1 gone`.
    fn words(&self, view: &View) -> Option<String> {
        let (ends, is_current) = self.versions.as_ref()?;
        let since = match is_current {
            true => format!("since {}", ends.from.name),
            false => format!("from {} to {}", ends.from.name, ends.to.name),
        };
        let Some((_, paired)) = &self.result else {
            return Some(format!("Comparing commits {since}{}", glyph::ellipsis()));
        };
        let count = |fits: &dyn Fn(Mark) -> bool, words: &str| {
            let count = paired.commits.iter().filter(|row| fits(row.mark)).count();
            (count > 0).then(|| format!("{count} {words}"))
        };
        let current = [
            count(&|mark| mark == Mark::Same, "same"),
            count(&|mark| matches!(mark, Mark::Changed(_) | Mark::Reworded), "changed"),
            count(&|mark| mark == Mark::New, "new"),
            count(&|mark| mark == Mark::NotCompared, "not compared"),
        ];
        let former = [
            count(&|mark| mark == Mark::Gone, "gone"),
            count(&|mark| mark == Mark::TakenOver, &format!("taken over by {}", self.reads.target_branch(view))),
        ];
        let join = |words: &[Option<String>]| words.iter().flatten().cloned().collect::<Vec<_>>().join(", ");
        let all = [join(&current), join(&former)].into_iter().filter(|words| !words.is_empty());
        let now = match is_current {
            true => view.store.list(&self.reads.commits()).len(),
            false => view.store.get(&self.reads.version(ends.to.id)).value.map_or(0, |version| version.commits.len()),
        };
        let words = all.collect::<Vec<_>>().join("; ");
        Some(format!("{} {since}: {}", count_noun(now as u64, "commit"), sanitize(&words)))
    }

    /// Returns whether the item under the cursor can be opened, or why not.
    pub fn can_enter(&self) -> Result<(), Disabled> {
        self.list.current().map(|_| ()).ok_or_else(|| NOTHING_TO_OPEN.into())
    }
}

/// Returns the mark of a commit.
fn mark(row: &PairedCommit, target: &str) -> CommitMark {
    let (words, role) = match row.mark {
        Mark::Merge => (String::new(), Role::Dim),
        Mark::Same => ("= same".to_owned(), Role::Dim),
        Mark::Changed(0) => ("! context".to_owned(), Role::Warning),
        Mark::Reworded => ("! message".to_owned(), Role::Warning),
        Mark::Changed(lines) => (format!("! {}", count_noun(lines as u64, "line")), Role::Warning),
        Mark::NotCompared => ("? not compared".to_owned(), Role::Dim),
        Mark::New => ("+ new".to_owned(), Role::Added),
        Mark::Gone => ("- gone".to_owned(), Role::Removed),
        Mark::TakenOver => (format!("- in {}", sanitize(target)), Role::Dim),
    };
    CommitMark { words, role, is_dim: matches!(row.mark, Mark::Merge | Mark::Gone | Mark::TakenOver) }
}

impl Pane for PairedCommitsTab {
    fn focused(&self) -> Option<&dyn Pane> {
        Some(&self.list)
    }

    fn focused_mut(&mut self) -> Option<&mut dyn Pane> {
        Some(&mut self.list)
    }

    fn place(&self) -> Place {
        self.reads.place().tab("commits")
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        let Some((ends, is_current)) = &self.versions else { return Vec::new() };
        let mut wants: Vec<Want> = vec![ends.from.want(&self.reads)];
        if *is_current {
            let pages = view.store.list(&self.reads.commits()).pages_to_end(MAX_PAGES);
            wants.extend([Load::list(&self.reads.commits(), pages).into(), Load::single(&self.reads.changes()).into()]);
        } else {
            wants.push(ends.to.want(&self.reads));
        }
        let target = ends.target_comparison(&self.reads.project);
        wants.extend(ends.target_want(&self.reads.project));
        let needed = self.needed.iter().take(self.limit);
        wants.extend(needed.map(|sha| self.reads.commit_changes_want(sha)));
        let (patches, is_complete) = self.patches(view);
        let target = target.as_ref().map(|target| view.store.get(target));
        let is_answered = target.as_ref().is_none_or(|reply| reply.value.is_some() || reply.error.is_some());
        let key = self.key(view).filter(|key| self.result.as_ref().is_none_or(|(known, _)| known != key));
        if let (true, true, Some(key)) = (is_complete, is_answered, key)
            && let Some(versions) = self.loaded(view)
        {
            let target = target.and_then(|reply| reply.arc());
            wants.push(Work::new(PairCommits { key, versions, target, patches }).into());
        }
        wants
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let words = Line::new(self.words(view).unwrap_or_default(), Role::Warning);
        let body = draw_above(view, area, buf, vec![words]);
        let error = self.versions.as_ref().and_then(|(ends, is_current)| {
            let failed = |id: u64| view.store.get(&self.reads.version(id)).error;
            failed(ends.from.id).or_else(|| failed(ends.to.id).filter(|_| !is_current))
        });
        match (&self.result, error) {
            (Some(_), _) => self.list.view(view, body, buf),
            (None, Some(error)) => draw_error(view, body, buf, error),
            (None, None) => state::skeleton(buf, body, view.theme),
        }
    }

    fn changed(&mut self, cx: &mut Cx) {
        self.sync(&cx.view);
        self.list.changed(cx);
    }

    fn enter(&mut self, cx: &mut Cx) {
        let Some(row) = self.current().cloned() else { return };
        cx.act(match (row.mark, row.before) {
            (Mark::Gone | Mark::TakenOver, _) => return self.list.enter(cx),
            (Mark::Changed(_) | Mark::NotCompared, Some(before)) => {
                cx.here.then(move |pane: &mut Mr, _| pane.show_changes().show_pair(&before, &row.commit))
            }
            _ => cx.here.then(move |pane: &mut Mr, _| pane.show_changes().show_commit(row.commit.id)),
        });
    }

    fn motion(&mut self, motion: Motion, cx: &mut Cx) {
        match motion {
            Motion::Right => self.enter(cx),
            other => self.list.motion(other, cx),
        }
    }
}
