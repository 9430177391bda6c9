//! One commit with its changes, shown in a place of its own and beside the list of commits.

use crate::api::commits::{
    Commit, CommitComment, DiffEntry, GetCommit, GetCommitDiff, GetCommitSignature, ListCommitComments,
    ListCommitMergeRequests, ListCommitRefs, ListCommitStatuses,
};
use crate::api::notes::path_hash;
use crate::api::{Endpoint, Id, Noteable};
use crate::app::clip::Clip;
use crate::app::pane::Pane;
use crate::app::view::View;
use crate::parts::project;
use crate::parts::repository::changed_files::{ChangedFiles, Changes, Entries, Revisions};
use crate::parts::text::dates::{age, compact_age};
use crate::store::{Load, Remote, Revision, Rows, Want};
use crate::ui::line::Line;
use crate::ui::theme::Role;
use crate::ui::{glyph, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Duration;

/// The maximum number of pages of changed files that are requested: more files than anyone reads.
pub const MAX_PAGES: u32 = 50;

/// The requests for a commit, and what is loaded of it.
#[derive(Clone)]
pub struct CommitReads {
    pub project: Id,
    /// The hash, or the name of a branch or a tag.
    pub sha: String,
    /// The delay before requests, so that none are sent while the selection moves.
    delay: Duration,
}

impl CommitReads {
    pub fn new(project: &Id, sha: &str, delay: Duration) -> CommitReads {
        CommitReads { project: project.clone(), sha: sha.to_owned(), delay }
    }

    fn query(&self) -> GetCommit {
        GetCommit { id: self.project.clone(), sha: self.sha.clone(), stats: None }
    }

    /// Returns the request for the changed files.
    pub fn diff(&self) -> GetCommitDiff {
        GetCommitDiff { id: self.project.clone(), sha: self.sha.clone() }
    }

    fn diff_rows<'a>(&self, view: &View<'a>) -> Rows<'a, DiffEntry> {
        view.store.list(&self.diff())
    }

    /// Returns the changed files, once they are loaded.
    pub fn entries(&self, view: &View) -> Option<Entries> {
        let rows = self.diff_rows(view);
        let pages = (0..rows.pages() as usize).filter_map(|page| rows.page(page)).collect();
        rows.is_loaded.then_some(Entries::Pages(pages))
    }

    /// Returns the request for the branches and tags that contain the commit.
    pub fn refs_query(&self) -> ListCommitRefs {
        ListCommitRefs { id: self.project.clone(), sha: self.sha.clone(), r#type: None }
    }

    /// Returns the request for the commit's statuses.
    pub fn statuses_query(&self) -> ListCommitStatuses {
        ListCommitStatuses { id: self.project.clone(), sha: self.sha.clone(), ..ListCommitStatuses::default() }
    }

    /// Returns the request for the merge requests of the commit.
    pub fn merge_requests_query(&self) -> ListCommitMergeRequests {
        ListCommitMergeRequests { id: self.project.clone(), sha: self.sha.clone() }
    }

    /// Returns the request for the commit's signature.
    pub fn signature_query(&self) -> GetCommitSignature {
        GetCommitSignature { id: self.project.clone(), sha: self.sha.clone() }
    }

    /// Returns the request for the comments, which needs the full hash.
    pub fn comments_query(&self, view: &View) -> Option<ListCommitComments> {
        let commit = self.commit(view).value?;
        Some(ListCommitComments { id: self.project.clone(), sha: commit.id.clone() })
    }

    /// Returns the commit, as far as it is loaded.
    pub fn commit<'a>(&self, view: &View<'a>) -> Remote<'a, Commit> {
        view.store.get(&self.query())
    }

    /// Returns the loaded comments.
    pub fn comments<'a>(&self, view: &View<'a>) -> Option<Rows<'a, CommitComment>> {
        self.comments_query(view).map(|list| view.store.list(&list))
    }

    /// Returns the full hash, or the name of the commit until it is loaded.
    pub fn full_sha(&self, view: &View) -> String {
        self.commit(view).value.map_or_else(|| self.sha.clone(), |commit| commit.id.clone())
    }

    /// Returns the commit as the object of comments, by its full hash even if the place was opened with another name.
    pub fn noteable(&self, view: &View) -> Noteable {
        Noteable::Commit { project: self.project.clone(), sha: self.full_sha(view) }
    }

    /// Returns whether the server has more files than are loaded.
    pub fn has_more_files(&self, view: &View) -> bool {
        self.diff_rows(view).is_cut(MAX_PAGES)
    }

    /// Returns the URL of the commit.
    pub fn url(&self, view: &View) -> String {
        project::page(view, &self.project, &format!("/-/commit/{}", crate::api::endpoint::encode(&self.full_sha(view))))
    }
}

/// A commit with its changes.
pub struct CommitView {
    pub reads: CommitReads,
    pub changes: Changes,
    /// The revision of the list that the files come from.
    files: Option<Revision>,
}

impl CommitView {
    /// Creates the view without requesting anything.
    pub fn new(reads: CommitReads) -> CommitView {
        CommitView { reads, changes: Changes::default(), files: None }
    }

    /// Returns the requests for the commit and its diff, and the computations on them.
    pub fn wants(&self, view: &View) -> Vec<Want> {
        let reads = &self.reads;
        let pages = reads.diff_rows(view).pages_to_end(MAX_PAGES);
        let mut wants = vec![
            Load::single(&reads.query()).after(reads.delay).into(),
            Load::list(&reads.diff(), pages).after(reads.delay).into(),
        ];
        wants.extend(self.changes.wants(view));
        wants
    }

    /// Updates the state after a store update: collects the pages, and updates the changes.
    pub fn sync(&mut self, view: &View) {
        let rows = self.reads.diff_rows(view);
        if rows.is_loaded && self.files != Some(rows.revision) {
            // A further page does not change the identity, so that the parsed files are kept.
            let identity = format!("{} at {:?}", self.reads.diff().request().line(), rows.since);
            self.changes.set_input(self.reads.entries(view).map(|entries| ChangedFiles { identity, entries }));
            self.files = Some(rows.revision);
        }
        if let Some(commit) = self.reads.commit(view).value {
            let (project, old, new) =
                (self.reads.project.clone(), commit.parent_ids.first().cloned(), commit.id.clone());
            if !view.session.signed_in || view.me().is_some() {
                self.changes.load_viewed_marks(view, &format!("{project}@{new}"));
            }
            self.changes.set_revisions(Some(Revisions { project, old, new }));
        }
        self.changes.sync(view, rows.error);
    }

    /// Draws the title, the author and a part of the message; returns the area that is left for the changes.
    pub fn draw_head(&self, view: &View, area: Rect, buf: &mut Buffer) -> Rect {
        let Some(commit) = self.reads.commit(view).value else {
            return Rect { y: area.y + area.height.min(2), height: area.height.saturating_sub(2), ..area };
        };
        let mut lines = vec![Line::new(commit.title.clone(), Role::Title), self.facts(view, commit)];
        lines.extend(message_lines(commit, area));
        draw_above(view, area, buf, lines)
    }

    /// Returns the facts below the title: author, age, SHA, line counts, pipeline status.
    fn facts(&self, view: &View, commit: &Commit) -> Line<'static> {
        let mut facts = Line::new(commit.author_name.clone(), Role::User);
        let mut fact = |words: String, role: Role| {
            facts.push(glyph::separator(), Role::Faint);
            facts.push(words, role);
        };
        let when = compact_age(age(view, commit.date()));
        if !when.is_empty() {
            fact(when, Role::Dim);
        }
        fact(commit.short().to_owned(), Role::Ref);
        if let Some(stats) = commit.stats.as_ref() {
            fact(glyph::additions(text::count(stats.additions)), Role::Added);
            facts.push(format!(" {}", glyph::deletions(text::count(stats.deletions))), Role::Removed);
        }
        if let Some(status) = commit.status.as_ref().filter(|s| !s.is_empty()) {
            facts.push(glyph::separator(), Role::Faint);
            facts.extend([glyph::labeled(status)]);
        }
        facts
    }

    /// Returns the texts to copy: SHA, title, message, and the path and the URL of the file under the cursor.
    pub fn copies(&self, view: &View) -> Vec<Clip> {
        let Some(commit) = self.reads.commit(view).value else {
            return vec![Clip::line("SHA", self.reads.sha.clone())];
        };
        let mut copies: Vec<Clip> = self.changes.marked_copy().into_iter().collect();
        copies.push(Clip::line("SHA", commit.id.clone()));
        copies.push(Clip::line("short SHA", commit.short().to_owned()));
        copies.push(Clip::line("title", commit.title.clone()));
        copies.push(Clip::lines("message", commit.message.clone()));
        if let Some(location) = self.changes.location() {
            // On the page of a commit, the anchor of a file is the hash of its path.
            copies.push(Clip::line("file URL", format!("{}#{}", self.reads.url(view), path_hash(&location.path))));
            copies.push(Clip::line("path", location.path));
        }
        copies
    }
}

/// Returns the message of a commit below its title, in at most a fifth of the area.
pub fn message_lines(commit: &Commit, area: Rect) -> impl Iterator<Item = Line<'static>> {
    let width = usize::from(area.width.saturating_sub(3)).min(100);
    let rows = usize::from(area.height / 5);
    // No character has more than four bytes.
    let message = text::unwrapped(text::head_bytes(commit.body(), 4 * width * (rows + 1)), width);
    text::wrap(&message, width, rows).into_iter().map(Line::text)
}

/// Draws lines above changes, in at most half of the area; returns the area that is left for the changes.
pub fn draw_above(view: &View, area: Rect, buf: &mut Buffer, lines: Vec<Line>) -> Rect {
    let mut y = area.y;
    for line in lines.into_iter().take(usize::from(area.height / 2)) {
        line.draw(buf, Rect { x: area.x + 1, y, width: area.width.saturating_sub(2), height: 1 }, view.theme);
        y += 1;
    }
    Rect { y, height: area.bottom().saturating_sub(y), ..area }
}
