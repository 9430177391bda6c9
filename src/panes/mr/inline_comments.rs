//! Threads and drafts within the changes of a merge request: the data they are built from, and their rows in the diff.

use super::Mr;
use super::scope::Scope;
use crate::api::Time;
use crate::api::commits::{CommitComment, ListCommitComments};
use crate::api::notes::Note;
use crate::app::context::Cx;
use crate::app::outbox::DiffPosition;
use crate::app::view::View;
use crate::parts::rendered_markdown;
use crate::parts::review::diff_comments;
use crate::parts::review::thread_layout::{LaidOutDraft, Shown, Source};
use crate::parts::review::threads::{self, CommitComments};
use crate::parts::secondary::SecondaryRead;
use crate::store::{Load, Revision, Rows, Want};

/// The `noteable_type` of a note that is a comment on a commit.
pub(super) const COMMIT_NOTEABLE_TYPE: &str = "Commit";

/// The comments on commits as notes, oldest first.
#[derive(Default)]
pub(super) struct Comments {
    /// The commits and revisions that this was built from.
    inputs: Vec<(String, Revision)>,
    /// The notes, each with a key of its text.
    pub(super) notes: Vec<(String, Note)>,
    /// A number that changes with the notes.
    pub(super) revision: u64,
}

/// Returns the commits with the revisions of their comments. The SHA is needed because revisions alone do not identify
/// the commits.
fn revisions(rows: &[(String, Rows<CommitComment>)]) -> Vec<(String, Revision)> {
    rows.iter().map(|(sha, rows)| (sha.clone(), rows.revision)).collect()
}

/// Converts a comment on a commit to a note that names its position.
fn as_note(sha: &str, comment: &CommitComment) -> Note {
    let (position, rest) = threads::comment_place(sha, comment);
    let head = match position.as_ref().and_then(DiffPosition::note_header) {
        Some(head) => head,
        // A comment on the commit as a whole gets a heading with the SHA.
        None => format!("_of commit {}_\n\n", sha.get(..8).unwrap_or(sha)),
    };
    Note {
        body: format!("{head}{rest}"),
        author: comment.author.clone(),
        created_at: comment.created_at.clone(),
        noteable_type: COMMIT_NOTEABLE_TYPE.to_owned(),
        ..Note::default()
    }
}

/// The maximum number of pages of notes loaded for the threads in the changes.
const MAX_NOTE_PAGES: u32 = 40;
/// The maximum number of commits whose comments are loaded.
const MAX_COMMITS: usize = 10;

impl Mr {
    /// Returns the lists of comments on the newest commits.
    pub(super) fn comments_of(&self, view: &View) -> Vec<ListCommitComments> {
        let commits = view.store.list(&self.reads.commits());
        let newest = commits.iter().take(MAX_COMMITS);
        newest.map(|commit| ListCommitComments { id: self.reads.project.clone(), sha: commit.id.clone() }).collect()
    }

    /// Updates the comments on commits, if they changed.
    pub(super) fn sync_comments(&mut self, view: &View) {
        let rows = self.commented(view);
        let inputs = revisions(&rows);
        if self.comments.inputs == inputs {
            return;
        }
        let all = rows.iter().flat_map(|(sha, rows)| rows.iter().map(move |comment| (sha, comment)));
        let mut notes: Vec<Note> = all.map(|(sha, comment)| as_note(sha, comment)).collect();
        notes.sort_by_key(|note| note.created_at.as_ref().and_then(Time::instant));
        // These IDs count down from the maximum, so that they do not collide with those of notes.
        for (at, note) in notes.iter_mut().enumerate() {
            note.id = u64::MAX - at as u64;
        }
        let notes = notes.into_iter().map(|note| (rendered_markdown::identity(&note.body), note)).collect();
        self.comments = Comments { inputs, notes, revision: self.comments.revision + 1 };
    }

    /// Returns the loaded comments on the newest commits, with the SHA of each commit.
    fn commented<'a>(&self, view: &View<'a>) -> Vec<(String, Rows<'a, CommitComment>)> {
        let lists = self.comments_of(view);
        lists.into_iter().map(|list| (list.sha.clone(), view.store.list(&list))).collect()
    }

    /// Returns the head commit of the loaded changes; empty if the server does not provide it.
    pub(super) fn head<'a>(&self, view: &View<'a>) -> &'a str {
        let reply = view.store.get(&self.reads.changes()).value;
        let head = reply.and_then(|changed| {
            let refs = changed.diff_refs.as_ref().and_then(|refs| refs.head_sha.as_deref());
            refs.or(changed.sha.as_deref())
        });
        head.unwrap_or_default()
    }

    /// Returns the head commit of the shown changes, to which their new line numbers refer; empty if unknown.
    pub(super) fn shown_head<'a>(&'a self, view: &View<'a>) -> &'a str {
        match &self.scope {
            Scope::All => self.head(view),
            Scope::Since(_) => self.request_head(view).unwrap_or_default(),
            Scope::Versions { to, .. } => &to.sha,
            Scope::Commit(sha) => sha,
        }
    }

    /// Returns whether the old side of the shown changes is the base of the merge request.
    pub(super) fn is_whole(&self, view: &View) -> bool {
        match &self.scope {
            Scope::All => true,
            Scope::Since(from) => self.base(view) == Some(from.as_str()),
            Scope::Versions { .. } | Scope::Commit(_) => false,
        }
    }

    /// Returns whether the shown files belong to the latest reply, so that positions and lines refer to the same
    /// commit.
    pub(super) fn is_current(&self, view: &View) -> bool {
        !self.changes.files().is_empty()
            && self.input(view).is_some_and(|input| input.identity == self.changes.identity())
    }

    /// Calls `run` with the data that the comment rows of the diff are built from.
    fn with_source<T>(
        &self,
        view: &View,
        drafted: &[LaidOutDraft],
        shown: &Shown,
        run: impl FnOnce(&Source) -> T,
    ) -> T {
        let notes = self.reads.notes(view);
        let pages = || (0..notes.pages() as usize).filter_map(|page| notes.page(page)).collect();
        let rows = self.commented(view);
        let comments = || -> Vec<CommitComments> {
            let pages =
                |rows: &Rows<CommitComment>| (0..rows.pages() as usize).filter_map(|page| rows.page(page)).collect();
            rows.iter().map(|(sha, rows)| (sha.clone(), pages(rows))).collect()
        };
        let revisions = revisions(&rows);
        run(&Source {
            comments_key: format!("{}!{} {} {revisions:?}", self.reads.project, self.reads.iid, notes.revision),
            notes: &pages,
            comments: &comments,
            drafts: drafted,
            changes: self.changes.all_files_name(),
            files: self.changes.files(),
            head: self.shown_head(view),
            current: Some(self.head(view))
                .filter(|head| !head.is_empty())
                .or(self.request_head(view))
                .unwrap_or_default(),
            whole: self.is_whole(view),
            complete: self.input(view).is_some_and(|input| self.changes.has_all(&input)),
            shown,
            versions: self.version_heads(view),
            width: diff_comments::width(view, &self.changes),
        })
    }

    /// Returns the requests for all threads, drafts and reactions within the changes.
    pub(super) fn inline_wants(&self, view: &View) -> Vec<Want> {
        let notes = self.reads.notes(view);
        let mut wants: Vec<Want> = vec![Load::list(&self.reads.commits(), 1).into()];
        wants.extend(self.reads.noteable().load_conversation(view, notes.pages_to_end(MAX_NOTE_PAGES)).map(Want::from));
        // Comments on commits are requested after the changes and their threads are shown.
        if notes.is_loaded && self.is_current(view) {
            wants.extend(self.comments_of(view).iter().map(|list| Load::list(list, 1).into()));
        }
        wants.extend(self.diff_comments.has_outdated().then(|| self.want_versions()));
        if self.is_current(view) {
            wants.extend(self.diff_comments.reactions(view, &self.changes, &self.reads.noteable()));
            let drafted = self.drafts.drafted(view);
            wants.extend(self.with_source(view, &drafted, &self.diff_comments.shown, |source| source.wants(view)));
        }
        wants
    }

    /// Returns the requests for what is shown among the lines of the changes.
    pub(super) fn inline_reads<'a>(&self, view: &View<'a>) -> [SecondaryRead<'a>; 4] {
        let notes = self.reads.notes(view);
        let commented = self.commented(view);
        let drafts = self.reads.stored_noteable(view).list_draft_notes().map(|list| view.store.list(&list));
        let versions = view.store.list(&self.versions_of());
        let error = commented.iter().find_map(|(_, rows)| rows.error);
        [
            SecondaryRead { name: "Threads", error: notes.error, is_cut: notes.is_cut(MAX_NOTE_PAGES) },
            SecondaryRead {
                name: "Comments on commits",
                error,
                is_cut: commented.iter().any(|(_, rows)| rows.is_cut(1)),
            },
            SecondaryRead { name: "Draft comments", error: drafts.and_then(|rows| rows.error), is_cut: false },
            SecondaryRead { name: "Versions", error: versions.error, is_cut: false },
        ]
    }

    /// Updates the comment rows of the diff.
    pub(super) fn sync_inline(&mut self, cx: &mut Cx) {
        let view = cx.view;
        if !self.is_current(&view) {
            return;
        }
        let drafted = self.drafts.drafted(&view);
        let (mut diff_comments, mut drafts) =
            (std::mem::take(&mut self.diff_comments), std::mem::take(&mut self.drafts));
        let mut insets = None;
        diff_comments.sync_reactions(&view, &self.changes, &self.reads.noteable());
        let shown = diff_comments.shown.clone();
        self.with_source(&view, &drafted, &shown, |source| insets = diff_comments.sync(source, &mut drafts, cx));
        (self.diff_comments, self.drafts) = (diff_comments, drafts);
        if let Some((revision, rows)) = insets {
            self.changes.set_insets(revision, || rows);
        }
    }
}
