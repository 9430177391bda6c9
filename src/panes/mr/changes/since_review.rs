//! The changes of a merge request since one of its versions: the requests for both versions and for the texts that are
//! needed, and the comparison, which carries the review onto the new base.
//!
//! 1. `reviewed_version` (`src/panes/mr/changes/scope.rs`) finds the version that the user reviewed: by the time of
//!    the last comment or verdict, or by the base and head that were looked at last, which `Seen` keeps. One head can
//!    have several bases.
//! 2. It reads the changes of that version, and the comparison of both bases. The current changes are already loaded.
//! 3. `carry` (`src/domain/carried/`) pairs the files by their paths on the bases. A file is unchanged if its changes
//!    are equal and the target branch did not touch it. Else, its text in the reviewed version is carried onto the new
//!    base by a three-way merge (`src/domain/merge.rs`), and compared with its text now. If both are equal, nobody
//!    edited it: that is a proof, not a likeness.
//! 4. Texts are derived from one that is read and the changes, which takes one request for a file that both sides
//!    touched. Where changes are missing, cut, or converted by the server, the texts are read. `carry` runs as work
//!    and names the texts that it lacks. They are wanted, and it runs again.
//!    In a clone that has the commits, versions, comparisons and texts are read from it instead of from the server
//!    (`CommitData`, `src/backend/clone_reader.rs`).
//! 5. Nothing is hidden: conflicts are shown even if one side won. A file that is too large, or whose texts are gone,
//!    is shown whole with the reason, and then labscope does not say that there is nothing to review.
//! 6. `Entries::Since` has the differences as diffs whose right side is the real file. Their left line numbers are
//!    those of the reviewed version. A comment is placed among all changes (`anchor_in_all_changes` in
//!    `src/parts/repository/changed_files/anchor.rs`).
//! 7. Meanwhile, the Commits tab pairs the commits of both versions (`src/domain/paired_commits.rs`): by SHA, by
//!    author, date and title, and then by their changes, which are read a few commits ahead of the cursor. A commit of
//!    both is compared like a version, with its parent as the base (`Scope::Versions` with `within`).

use super::ChangesTab;
use super::scope::Scope;
use super::versions::VersionEnd;
use crate::api::Id;
use crate::api::commit_data::CommitData;
use crate::api::commits::{DiffEntry, GetCommit};
use crate::api::merge_requests::MergeRequest;
use crate::api::repository::{CompareRefs, Comparison, GetRawFile};
use crate::api::versions::VersionDetail;
use crate::app::view::View;
use crate::domain::carried::{self, CarriedFile, Outcome, Reason, Side, TextKey, Texts, Versions};
use crate::parts::repository::changed_files::{ChangedFiles, Entries, FilesSinceReview, viewed_mark};
use crate::store::{Canceled, Derive, Load, Want, Work};
use crate::ui::diff::SinceReview;
use crate::ui::text::{count_noun, sanitize};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The number of texts that are read ahead, and again each time that the cursor is on a file that waits for more.
const TEXTS: usize = 30;
/// The numbers of files and lines up to which servers compare refs completely (`Commit.max_diff_options` of GitLab).
const MAX_COMPARED_FILES: usize = 1000;
const MAX_COMPARED_LINES: usize = 50_000;

/// Both ends of a comparison: the version that was reviewed, and the one to review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ends {
    pub from: VersionEnd,
    pub to: VersionEnd,
}

impl Ends {
    /// Returns the comparison of both bases, if they differ.
    pub fn target_comparison(&self, project: &Id) -> Option<CompareRefs> {
        let (from, to, id) = (self.from.base.clone(), self.to.base.clone(), project.clone());
        (from != to).then_some(CompareRefs { id, from, to, straight: Some(true) })
    }

    /// Returns the want for the comparison of both bases.
    pub fn target_want(&self, project: &Id) -> Option<Want> {
        let compare = self.target_comparison(project)?;
        let data = CommitData::Comparison { from: compare.from.clone(), to: compare.to.clone() };
        Some(Load::single(&compare).optional().or_in_clone(data).into())
    }

    /// Identifies the four commits.
    pub fn key(&self) -> String {
        let Ends { from, to } = self;
        format!("{} {} to {} {}", from.base, from.sha, to.base, to.sha)
    }
}

/// The state of a comparison.
#[derive(Default)]
pub(super) struct SinceComparison {
    pub ends: Option<Ends>,
    /// The texts that the comparison needs, as far as it has got.
    needed: Vec<TextKey>,
    /// The number of texts that may be read.
    limit: usize,
    result: Option<(String, Arc<Compared>)>,
    pub shows: Shows,
}

/// The parts of files that are shown besides the changes since.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Shows {
    /// Whether the left side of conflicts is the text of the target branch.
    pub target: bool,
    /// Whether the changes that were reviewed are shown, too.
    pub reviewed: bool,
}

/// The result of a comparison.
#[derive(Default)]
pub(super) struct Compared {
    files: Arc<FilesSinceReview>,
    needed: BTreeSet<TextKey>,
    /// The keys and marks of files without changes, before and now.
    pub marks: Vec<[(String, u64); 2]>,
    /// The numbers of files with and without changes, and of conflicts, also of those with a text of neither side.
    pub changed: usize,
    pub unchanged: usize,
    pub conflicts: usize,
    pub solved_by_hand: usize,
    /// Whether the versions have different bases.
    pub is_rebased: bool,
    pub target_branch: String,
    /// Whether it is complete, and proves that the other files did not change.
    pub is_proof: bool,
}

/// The changes of a version.
#[derive(Clone)]
enum Changes {
    Current(Arc<MergeRequest>),
    Version(Arc<VersionDetail>),
    /// Of a commit, and whether more follow that are not read.
    Commit(Arc<Vec<DiffEntry>>, bool),
}

impl Changes {
    fn entries(&self) -> &[DiffEntry] {
        match self {
            Changes::Current(merge_request) => merge_request.changes.as_deref().unwrap_or_default(),
            Changes::Version(version) => &version.diffs,
            Changes::Commit(entries, _) => entries,
        }
    }

    /// Returns whether the server left out files.
    fn is_cut(&self) -> bool {
        match self {
            Changes::Current(merge_request) => merge_request.is_overflowing(),
            Changes::Version(version) => version.version.state.starts_with("overflow"),
            Changes::Commit(_, is_cut) => *is_cut,
        }
    }
}

/// A computation that compares two versions.
struct Compare {
    key: String,
    ends: Ends,
    before: Changes,
    now: Changes,
    /// The changes of the target branch, if its commits differ and the server compared them.
    target: Option<Arc<Comparison>>,
    target_branch: String,
    shows: Shows,
    texts: Texts,
}

impl Derive for Compare {
    type Output = Arc<Compared>;

    fn key(&self) -> String {
        self.key.clone()
    }

    fn memory(&self) -> usize {
        let diffs = self.before.entries().iter().chain(self.now.entries());
        let target = self.target.iter().flat_map(|target| &target.diffs);
        let texts = self.texts.values().flatten().map(|raw| raw.bytes.len()).sum::<usize>();
        32 * texts + 8 * diffs.chain(target).map(|entry| entry.diff.len()).sum::<usize>()
    }

    fn weight(&self, compared: &Arc<Compared>) -> usize {
        compared.files.entries.iter().map(|entry| entry.diff.len() + 256).sum()
    }

    fn run(&self, canceled: Canceled<'_>) -> Arc<Compared> {
        let target = self.target.as_ref().map(|target| target.diffs.as_slice()).unwrap_or_default();
        let lines = || target.iter().map(|entry| memchr::memchr_iter(b'\n', entry.diff.as_bytes()).count());
        let is_whole = |comparison: &Arc<Comparison>| {
            !comparison.compare_timeout
                && target.len() < MAX_COMPARED_FILES
                && lines().sum::<usize>() < MAX_COMPARED_LINES
        };
        let (before, now) = (self.before.entries(), self.now.entries());
        let is_same_base = self.ends.from.base == self.ends.to.base;
        let carried = carried::carry(
            &Versions {
                before,
                now,
                target,
                target_is_complete: is_same_base || self.target.as_ref().is_some_and(is_whole),
                target_branch: &self.target_branch,
                shows_target: self.shows.target,
                shows_reviewed: self.shows.reviewed,
                texts: &self.texts,
            },
            canceled,
        );
        let mut compared = Compared {
            is_proof: carried.is_proof && carried.needed.is_empty() && !self.before.is_cut() && !self.now.is_cut(),
            needed: carried.needed,
            is_rebased: !is_same_base,
            target_branch: sanitize(&self.target_branch).into_owned(),
            ..Compared::default()
        };
        let mut files = FilesSinceReview::default();
        for file in carried.files {
            let mark = file.now.and_then(|at| now.get(at)).map(|entry| viewed_mark(entry, &self.ends.to.sha));
            if file.is_reviewed() {
                let before = file.before.and_then(|at| before.get(at));
                let before = before.map(|entry| viewed_mark(entry, &self.ends.from.sha));
                compared.marks.extend(before.zip(mark.clone()).map(|(before, now)| [before, now]));
                compared.unchanged += 1;
            } else {
                compared.changed += 1;
            }
            compared.conflicts += file.conflicts;
            compared.solved_by_hand += file.solved_by_hand;
            files.since.push(SinceReview {
                label: label(&file, &self.target_branch),
                is_reviewed: file.is_reviewed(),
                waits: file.outcome == Outcome::Waiting,
                origins: Arc::new(file.origins),
                mark: mark.map(|(_, mark)| mark),
            });
            files.entries.push(file.entry);
        }
        compared.files = Arc::new(files);
        Arc::new(compared)
    }
}

/// Returns what happened to a file, for its heading.
fn label(file: &CarriedFile, target: &str) -> String {
    let what = match &file.outcome {
        Outcome::Same => "unchanged".to_owned(),
        Outcome::Rebased if file.is_renamed_by_target => format!("only rebased, renamed by {target}"),
        Outcome::Rebased => "only rebased".to_owned(),
        Outcome::TakenOver => format!("taken over by {target}"),
        Outcome::Changed => {
            let hunks = (file.same_hunks > 0).then(|| count_noun(file.same_hunks as u64, "hunk") + " unchanged");
            let conflict = (file.conflicts > 0).then(|| format!("conflict with {target}"));
            let renamed = file.entry.renamed_file.then(|| "renamed since".to_owned());
            let all: Vec<String> = [conflict.or(renamed), hunks].into_iter().flatten().collect();
            all.join(", ")
        }
        Outcome::New => "new since".to_owned(),
        Outcome::TakenBack => "taken back since".to_owned(),
        Outcome::Dropped => format!("deleted by {target}, changes dropped"),
        Outcome::Kept => format!("deleted by {target}, kept"),
        Outcome::Waiting => "not compared yet".to_owned(),
        Outcome::Whole(Reason::TooLarge) => "all changes: too large to compare".to_owned(),
        Outcome::Whole(Reason::Unreadable(why)) => format!("all changes: the reviewed version is missing ({why})"),
    };
    sanitize(&what).into_owned()
}

impl ChangesTab {
    /// Returns the ends of the comparison: of the scope, or of what changed since the review.
    pub(super) fn ends(&self, view: &View) -> Option<Ends> {
        let (from, to) = self.compared_versions()?;
        let to = to.or_else(|| self.current_end(view))?;
        let with_base = |end: VersionEnd| match end.base.is_empty() {
            true => {
                let base = view.store.get(&self.commit_at(&end)).value?.parent_ids.first()?.clone();
                Some(VersionEnd { start: base.clone(), base, ..end })
            }
            false => Some(end),
        };
        Some(Ends { from: with_base(from)?, to: with_base(to)? })
    }

    /// Returns the request for a commit, whose parent is the base of its changes.
    fn commit_at(&self, end: &VersionEnd) -> GetCommit {
        GetCommit { id: self.reads.project.clone(), sha: end.sha.clone(), stats: None }
    }

    /// Returns the versions whose commits are compared, and whether the second one is the current one.
    pub fn paired_versions(&self, view: &View) -> Option<(Ends, bool)> {
        let (from, to) = match self.scope.without_pair() {
            Scope::Since(from) => (from, None),
            Scope::Versions { from, to, .. } => (from, Some(to)),
            _ => return None,
        };
        let to = to.filter(|to| !self.is_current_end(to, view)).cloned();
        let is_current = to.is_none();
        Some((Ends { from: from.clone(), to: to.or_else(|| self.current_end(view))? }, is_current))
    }

    /// Returns the current version, as the loaded changes are.
    pub(super) fn current_end(&self, view: &View) -> Option<VersionEnd> {
        let refs = view.store.get(&self.reads.changes()).value?.diff_refs.as_ref()?;
        let (base, sha) = (refs.base_sha.clone()?, refs.head_sha.clone()?);
        Some(VersionEnd { sha, base, ..VersionEnd::default() })
    }

    pub(super) fn is_current_end(&self, end: &VersionEnd, view: &View) -> bool {
        self.current_end(view).is_some_and(|current| (&current.base, &current.sha) == (&end.base, &end.sha))
    }

    /// Returns the changes of a version, once they are loaded.
    fn changes_of(&self, end: &VersionEnd, view: &View) -> Option<Changes> {
        if self.is_current_end(end, view) {
            return view.store.get(&self.reads.changes()).arc().map(Changes::Current);
        }
        if end.id > 0 {
            return view.store.get(&self.reads.version(end.id)).arc().map(Changes::Version);
        }
        let rows = view.store.list(&self.reads.commit_changes(&end.sha));
        rows.page(0).map(|entries| Changes::Commit(entries, rows.has_more))
    }

    /// Returns the files of a version, once they are loaded.
    pub(super) fn entries_of(&self, end: &VersionEnd, view: &View) -> Option<Entries> {
        Some(match self.changes_of(end, view)? {
            Changes::Current(merge_request) => Entries::MergeRequest(merge_request),
            Changes::Version(version) => Entries::List(Arc::new(version.diffs.clone())),
            Changes::Commit(entries, _) => Entries::List(entries),
        })
    }

    fn text_request(&self, key: &TextKey, ends: &Ends) -> GetRawFile {
        let commit = match key.side {
            Side::BaseBefore => &ends.from.base,
            Side::HeadBefore => &ends.from.sha,
            Side::BaseNow => &ends.to.base,
            Side::HeadNow => &ends.to.sha,
        };
        let id = self.reads.project.clone();
        GetRawFile { id, path: key.path.clone(), r#ref: Some(commit.clone()), lfs: None }
    }

    /// Returns the error of the last request for one of the versions.
    pub(super) fn since_error<'a>(&self, view: &View<'a>) -> Option<&'a crate::api::Error> {
        let (from, to) = self.compared_versions()?;
        let ends = [Some(from), to].into_iter().flatten().filter(|end| !self.is_current_end(end, view));
        let failed = |end: VersionEnd| match end.id {
            0 => view
                .store
                .list(&self.reads.commit_changes(&end.sha))
                .error
                .or(view.store.get(&self.commit_at(&end)).error),
            id => view.store.get(&self.reads.version(id)).error,
        };
        ends.filter_map(failed).next()
    }

    /// Returns the requests and the computation for the comparison.
    pub(super) fn since_wants(&self, view: &View) -> Vec<Want> {
        let mut wants: Vec<Want> = vec![Load::single(&self.reads.changes()).into()];
        let compared = self.compared_versions().map(|(from, to)| [Some(from), to]).into_iter().flatten().flatten();
        for end in compared.filter(|end| !self.is_current_end(end, view)) {
            match end.id {
                0 => {
                    wants.push(self.reads.commit_changes_want(&end.sha));
                    wants.extend(end.base.is_empty().then(|| Load::single(&self.commit_at(&end)).optional().into()));
                }
                _ => wants.push(end.want(&self.reads)),
            }
        }
        let Some(ends) = self.ends(view) else { return wants };
        let target = ends.target_comparison(&self.reads.project);
        wants.extend(ends.target_want(&self.reads.project));
        let mut texts = Texts::new();
        let mut is_complete = true;
        for key in self.since.texts() {
            let request = self.text_request(key, &ends);
            let reply = view.store.get(&request);
            let commit = request.r#ref.clone().unwrap_or_default();
            let data = CommitData::File { commit, path: key.path.clone() };
            wants.push(Load::single(&request).optional().or_in_clone(data).into());
            match (reply.arc(), reply.error) {
                (Some(raw), _) => _ = texts.insert(key.clone(), Ok(raw)),
                (None, Some(error)) => _ = texts.insert(key.clone(), Err(error.message())),
                (None, None) => is_complete = false,
            }
        }
        let reply = target.as_ref().map(|target| view.store.get(target));
        let is_answered = reply.as_ref().is_none_or(|reply| reply.value.is_some() || reply.error.is_some());
        if let (true, Some(before), Some(now)) =
            (is_complete && is_answered, self.changes_of(&ends.from, view), self.changes_of(&ends.to, view))
        {
            let key = self.since_key(&ends, view);
            if self.since.result.as_ref().is_some_and(|(known, _)| *known == key) {
                return wants;
            }
            wants.push(
                Work::new(Compare {
                    key,
                    before,
                    now,
                    target: reply.and_then(|reply| reply.arc()),
                    target_branch: self.target_name(view),
                    shows: self.since.shows,
                    texts,
                    ends,
                })
                .into(),
            );
        }
        wants
    }

    /// Returns the key of the comparison, which changes with what is known.
    fn since_key(&self, ends: &Ends, view: &View) -> String {
        let is_read = |key: &TextKey| view.store.get(&self.text_request(key, ends)).value.is_some();
        let texts: Vec<(&TextKey, bool)> = self.since.texts().map(|key| (key, is_read(key))).collect();
        let is_compared =
            ends.target_comparison(&self.reads.project).is_some_and(|target| view.store.get(&target).value.is_some());
        let (project, iid, shows) = (&self.reads.project, self.reads.iid, self.since.shows);
        format!("{project}!{iid} {}, {shows:?}, with {texts:?} and {is_compared}", ends.key())
    }

    /// Returns the name of what both sides are rebased onto.
    fn target_name(&self, view: &View) -> String {
        match &self.scope {
            Scope::Versions { within: Some(_), .. } => "the parent commit".to_owned(),
            _ => self.reads.target_branch(view),
        }
    }

    /// Takes a finished comparison after a store update.
    pub(super) fn since_sync(&mut self, view: &View) {
        let ends = self.ends(view);
        if self.since.ends != ends {
            let shows = self.since.shows;
            self.since = SinceComparison { ends: ends.clone(), limit: TEXTS, shows, ..SinceComparison::default() };
        }
        let Some(ends) = ends else { return };
        // A file on which the cursor waits gets its texts.
        let waits = self.changes.current_file().and_then(|file| file.since.as_ref()).is_some_and(|since| since.waits);
        let has_more = self.since.needed.len() > self.since.limit;
        let key = self.since_key(&ends, view);
        if self.since.result.as_ref().is_some_and(|(known, _)| *known == key) {
            self.since.limit += if waits && has_more { TEXTS } else { 0 };
            return;
        }
        if let Some(compared) = view.store.result::<Arc<Compared>>(&key) {
            let known: BTreeSet<&TextKey> = self.since.needed.iter().collect();
            let more: Vec<TextKey> = compared.needed.iter().filter(|key| !known.contains(key)).cloned().collect();
            self.since.needed.extend(more);
            self.since.result = Some((key, compared.clone()));
        }
    }

    /// Returns the files of the comparison.
    pub(super) fn since_input(&self) -> Option<ChangedFiles> {
        let (key, compared) = self.since.result.as_ref()?;
        Some(ChangedFiles { identity: key.clone(), entries: Entries::Since(compared.files.clone()) })
    }
}

impl SinceComparison {
    /// Returns the comparison, as far as it has got.
    pub fn compared(&self) -> Option<&Compared> {
        self.result.as_ref().map(|(_, compared)| &**compared)
    }

    /// Iterates over the texts to read.
    fn texts(&self) -> impl Iterator<Item = &TextKey> {
        self.needed.iter().take(self.limit)
    }
}
