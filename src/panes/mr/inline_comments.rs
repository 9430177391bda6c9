//! Threads and drafts beside the changes of a merge request: what they are made from, and their rows in the diff.

use super::Mr;
use super::scope::Scope;
use crate::api::commits::{CommitComment, ListCommitComments};
use crate::api::notes::Note;
use crate::api::{Known, Time};
use crate::app::outbox::DiffPosition;
use crate::app::pane::{Cx, View};
use crate::parts::rendered_markdown;
use crate::parts::review::diff_comments;
use crate::parts::review::thread_layout::{LaidOutDraft, Shown, Source};
use crate::parts::review::threads::{self, CommitComments};
use crate::store::{Load, Revision, Rows, Want};

/// The kind of a note that was said of a commit.
pub(super) const COMMENT: &str = "Commit";

/// What was said of the commits, as notes that stand among the others, oldest first.
#[derive(Default)]
pub(super) struct Comments {
    /// What it was made of.
    of: Vec<(String, Revision)>,
    /// Each with a name for what it says.
    pub(super) said: Vec<(String, Note)>,
    /// Another number whenever it was made again.
    pub(super) revision: u64,
}

/// Returns which commits the comments are of, and which replies: another commit may have had as many.
fn revisions(rows: &[(String, Rows<CommitComment>)]) -> Vec<(String, Revision)> {
    rows.iter().map(|(sha, rows)| (sha.clone(), rows.revision)).collect()
}

/// A comment of a commit as a note that names its place.
fn as_note(sha: &str, comment: &CommitComment) -> Note {
    let (spot, rest) = threads::comment_place(sha, comment);
    let head = match spot.as_ref().and_then(DiffPosition::head) {
        Some(head) => head,
        // Of the commit as a whole: its name stands above the text.
        None => format!("_of commit {}_\n\n", sha.get(..8).unwrap_or(sha)),
    };
    Note {
        body: format!("{head}{rest}"),
        author: comment.author.clone(),
        created_at: comment.created_at.clone(),
        noteable_type: COMMENT.to_owned(),
        ..Note::default()
    }
}

/// Pages of notes that are read for the threads in the changes.
const NOTE_PAGES: u32 = 40;
/// Commits whose comments are read for the threads in the changes.
const COMMENTED: usize = 10;

impl Mr {
    /// The comments of its newest commits.
    pub(super) fn comments_of(&self, view: &View) -> Vec<ListCommitComments> {
        let commits = view.store.list(&self.commits_of());
        let newest = commits.iter().take(COMMENTED);
        newest.map(|commit| ListCommitComments { id: self.project.clone(), sha: commit.id.clone() }).collect()
    }

    /// After an update: what was said of the commits, as notes that stand among the others.
    pub(super) fn sync_comments(&mut self, view: &View) {
        let rows = self.commented(view);
        let of = revisions(&rows);
        if self.comments.of == of {
            return;
        }
        let all = rows.iter().flat_map(|(sha, rows)| rows.iter().map(move |comment| (sha, comment)));
        let mut notes: Vec<Note> = all.map(|(sha, comment)| as_note(sha, comment)).collect();
        notes.sort_by_key(|note| note.created_at.as_ref().and_then(Time::instant));
        // Numbers that tell them apart, from the end: those of notes begin at the start.
        for (at, note) in notes.iter_mut().enumerate() {
            note.id = u64::MAX - at as u64;
        }
        let said = notes.into_iter().map(|note| (rendered_markdown::identity(&note.body), note)).collect();
        self.comments = Comments { of, said, revision: self.comments.revision + 1 };
    }

    /// The known comments of its newest commits, each with its commit.
    fn commented<'a>(&self, view: &View<'a>) -> Vec<(String, Rows<'a, CommitComment>)> {
        let lists = self.comments_of(view);
        lists.into_iter().map(|list| (list.sha.clone(), view.store.list(&list))).collect()
    }

    /// The commit that the changes lead to; empty where the server does not say.
    pub(super) fn head<'a>(&self, view: &View<'a>) -> &'a str {
        let reply = view.store.get(&self.changes_of()).value;
        let head = reply.and_then(|changed| {
            let refs = changed.diff_refs.as_ref().and_then(|refs| refs.head_sha.as_deref());
            refs.or(changed.sha.known().map(String::as_str))
        });
        head.unwrap_or_default()
    }

    /// The commit that what is shown leads to: its new lines have their numbers there. Empty where that is not known.
    pub(super) fn shown_head<'a>(&'a self, view: &View<'a>) -> &'a str {
        match &self.scope {
            Scope::All => self.head(view),
            Scope::Since(_) => self.request_head(view).unwrap_or_default(),
            Scope::Versions { to, .. } => &to.sha,
            Scope::Commit(sha) => sha,
        }
    }

    /// Returns whether the old lines that are shown are those from before all of the changes.
    pub(super) fn is_whole(&self, view: &View) -> bool {
        match &self.scope {
            Scope::All => true,
            Scope::Since(from) => self.base(view) == Some(from.as_str()),
            Scope::Versions { .. } | Scope::Commit(_) => false,
        }
    }

    /// Returns whether the files that are shown are those of the last reply: a place is of the same commit as the lines
    /// then.
    pub(super) fn is_current(&self, view: &View) -> bool {
        !self.changes.files().is_empty()
            && self.input(view).is_some_and(|input| input.identity == self.changes.identity())
    }

    /// Works with what the rows of comments in the changes are made from.
    fn with_source<T>(
        &self,
        view: &View,
        drafted: &[LaidOutDraft],
        shown: &Shown,
        run: impl FnOnce(&Source) -> T,
    ) -> T {
        let notes = self.notes(view);
        let pages = || (0..notes.pages() as usize).filter_map(|page| notes.page(page)).collect();
        let rows = self.commented(view);
        let comments = || -> Vec<CommitComments> {
            let pages =
                |rows: &Rows<CommitComment>| (0..rows.pages() as usize).filter_map(|page| rows.page(page)).collect();
            rows.iter().map(|(sha, rows)| (sha.clone(), pages(rows))).collect()
        };
        let revisions = revisions(&rows);
        run(&Source {
            said: format!("{}!{} {} {revisions:?}", self.project, self.iid, notes.revision),
            notes: &pages,
            comments: &comments,
            drafts: drafted,
            changes: self.changes.whole_name(),
            files: self.changes.files(),
            head: self.shown_head(view),
            whole: self.is_whole(view),
            complete: self.input(view).is_some_and(|input| self.changes.has_all(&input)),
            shown,
            versions: self.version_heads(view),
            width: diff_comments::width(view, &self.changes),
        })
    }

    /// Returns what is said of these changes, all of it: threads stand where their lines are.
    pub(super) fn beside_wants(&self, view: &View) -> Vec<Want> {
        let notes = self.notes(view);
        let pages = if notes.more || !notes.known { notes.pages() + 1 } else { notes.pages() };
        let mut wants: Vec<Want> = vec![Load::list(&self.commits_of(), 1).into()];
        wants.extend(self.here().load_conversation(view, pages.min(NOTE_PAGES)).map(Want::from));
        // Comments of commits come once the changes and their threads are on the screen.
        if notes.known && self.is_current(view) {
            wants.extend(self.comments_of(view).iter().map(|list| Load::list(list, 1).into()));
        }
        wants.extend(self.margin.has_outdated().then(|| self.want_versions()));
        if self.is_current(view) {
            wants.extend(self.margin.reactions(view, &self.changes, &self.here()));
            let drafted = self.desk.drafted(view);
            wants.extend(self.with_source(view, &drafted, &self.margin.shown, |source| source.wants(view)));
        }
        wants
    }

    /// After an update: the rows of comments are those of now.
    pub(super) fn sync_beside(&mut self, cx: &mut Cx) {
        let view = cx.view;
        if !self.is_current(&view) {
            return;
        }
        let drafted = self.desk.drafted(&view);
        let (mut margin, mut desk) = (std::mem::take(&mut self.margin), std::mem::take(&mut self.desk));
        let mut insets = None;
        margin.sync_reactions(&view, &self.changes, &self.here());
        let shown = margin.shown.clone();
        self.with_source(&view, &drafted, &shown, |source| insets = margin.sync(source, &mut desk, cx));
        (self.margin, self.desk) = (margin, desk);
        if let Some((revision, rows)) = insets {
            self.changes.set_insets(revision, || rows);
        }
    }
}
