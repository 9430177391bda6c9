//! Threads and drafts within the changes of a merge request: the data they are built from, and their rows in the diff.

use super::scope::Scope;
use super::{ChangesTab, versions};
use crate::api::commits::CommitComment;
use crate::app::context::Cx;
use crate::app::outbox::NoteableExt;
use crate::app::view::View;
use crate::panes::mr::commit_comments;
use crate::parts::review::commit_notes;
use crate::parts::review::diff_comments::CommentedChanges;
use crate::parts::secondary::SecondaryRead;
use crate::store::{Load, Rows, Want};

/// The maximum number of pages of notes loaded for the threads in the changes.
const MAX_NOTE_PAGES: u32 = 40;

impl ChangesTab {
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
            Scope::All | Scope::Since(_) => self.head(view),
            Scope::Commits { to: None, .. } => self.request_head(view).unwrap_or_default(),
            Scope::Commits { to: Some(to), .. } | Scope::Versions { to, .. } => &to.sha,
            Scope::Commit(sha) => sha,
        }
    }

    /// Returns whether the old side of the shown changes is the base of the merge request.
    pub(super) fn is_whole(&self, view: &View) -> bool {
        match &self.scope {
            Scope::All => true,
            Scope::Commits { from, to: None } => self.base(view) == Some(from.sha.as_str()),
            _ => false,
        }
    }

    /// Returns whether the shown files belong to the latest reply, so that positions and lines refer to the same
    /// commit.
    pub(super) fn is_current(&self, view: &View) -> bool {
        !self.changes.files().is_empty()
            && self.input(view).is_some_and(|input| input.identity == self.changes.identity())
    }

    /// Returns the comments that are shown within the changes.
    fn commented(&self, view: &View) -> CommentedChanges {
        let notes = self.reads.notes(view);
        let rows = commit_comments::loaded(&self.reads, view);
        let pages =
            |rows: &Rows<CommitComment>| (0..rows.pages() as usize).filter_map(|page| rows.page(page)).collect();
        let current = Some(self.head(view)).filter(|head| !head.is_empty()).or(self.request_head(view));
        let revisions = commit_notes::revisions(&rows);
        CommentedChanges {
            key: format!("{}!{} {} {revisions:?}", self.reads.project, self.reads.iid, notes.revision),
            project: self.reads.project.clone(),
            notes: (0..notes.pages() as usize).filter_map(|page| notes.page(page)).collect(),
            comments: rows.iter().map(|(sha, rows)| (sha.clone(), pages(rows))).collect(),
            head: self.shown_head(view).to_owned(),
            current: current.unwrap_or_default().to_owned(),
            whole: self.is_whole(view),
            versions: versions::heads(&self.reads, view),
        }
    }

    /// Returns the requests for all threads, drafts and reactions within the changes.
    pub(super) fn inline_wants(&self, view: &View) -> Vec<Want> {
        let notes = self.reads.notes(view);
        let mut wants: Vec<Want> = vec![Load::list(&self.reads.commits(), 1).into()];
        wants.extend(self.reads.noteable().load_conversation(view, notes.pages_to_end(MAX_NOTE_PAGES)).map(Want::from));
        // Comments on commits are requested after the changes and their threads are shown.
        if notes.is_loaded && self.is_current(view) {
            wants.extend(commit_comments::lists(&self.reads, view).iter().map(|list| Load::list(list, 1).into()));
        }
        wants.extend(self.diff_comments.has_outdated().then(|| versions::want(&self.reads)));
        if self.is_current(view) {
            wants.extend(self.diff_comments.reactions(view, &self.changes, &self.reads.noteable()));
            wants.extend(self.diff_comments.wants(&self.commented(view), &self.changes, &self.drafts, view));
        }
        wants
    }

    /// Returns the requests for what is shown among the lines of the changes.
    pub(super) fn inline_reads<'a>(&self, view: &View<'a>) -> [SecondaryRead<'a>; 4] {
        let notes = self.reads.notes(view);
        let commented = commit_comments::loaded(&self.reads, view);
        let drafts = self.reads.stored_noteable(view).list_draft_notes().map(|list| view.store.list(&list));
        let versions = view.store.list(&self.reads.versions());
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
        self.diff_comments.sync_reactions(&view, &self.changes, &self.reads.noteable());
        let commented = self.commented(&view);
        self.diff_comments.sync(&commented, &mut self.changes, &mut self.drafts, cx);
    }
}
