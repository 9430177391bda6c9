//! The changes of a commit with the comments on their lines.

use crate::api::Endpoint;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::overlay::composer::rows_on_lines;
use crate::app::pane::Pane;
use crate::app::view::View;
use crate::parts::comments::Target;
use crate::parts::programs::{Branch, ShownChanges};
use crate::parts::repository::commit_view::CommitView;
use crate::parts::review::diff_comments::{CommentedChanges, DiffComments, position_of, quoted_position_of};
use crate::parts::review::drafts::Drafts;
use crate::parts::secondary::{self, SecondaryRead};
use crate::parts::text::links;
use crate::store::{Revision, Want};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::json;

/// The maximum number of pages of comments that are loaded.
pub const MAX_COMMENT_PAGES: u32 = 20;

/// The changes of a commit.
pub struct CommitChangesTab {
    pub shown: CommitView,
    drafts: Drafts,
    /// The comments shown within the changes.
    diff_comments: DiffComments,
}

impl CommitChangesTab {
    /// Creates the tab without comments.
    pub fn new(shown: CommitView) -> CommitChangesTab {
        CommitChangesTab { shown, drafts: Drafts::default(), diff_comments: DiffComments::default() }
    }

    /// Returns the comment or draft under the cursor.
    pub fn target(&self) -> Option<Target<'_>> {
        self.diff_comments.target(&self.shown.changes)
    }

    /// Returns whether lines are under the cursor or selected, rather than a comment.
    pub fn is_on_lines(&self) -> bool {
        self.shown.changes.has_selection() || self.diff_comments.part(&self.shown.changes).is_none()
    }

    /// Returns whether a comment can be added to the lines under the cursor, or why not.
    pub fn can_comment_here(&self, view: &View) -> Result<(), Disabled> {
        let changes = &self.shown.changes;
        let anchor = changes.need(changes.anchor(), "there is nothing under the cursor")?;
        let writable = position_of(&anchor, &self.shown.reads.full_sha(view)).note_header().is_some();
        if writable { Ok(()) } else { Err("the file name contains characters that a comment cannot reference".into()) }
    }

    /// Returns the shown changes, for comments of a program on their lines.
    pub fn for_program(&self, branch: Branch, view: &View) -> Result<ShownChanges, Disabled> {
        let (reads, changes) = (&self.shown.reads, &self.shown.changes);
        let commit = reads.commit(view).value.ok_or("it has not loaded yet")?;
        if !changes.has_all() {
            return Err("the changes are still loading".into());
        }
        Ok(ShownChanges {
            on: reads.noteable(view),
            head: reads.full_sha(view),
            refs: None,
            commit_id: None,
            files: changes.files().to_vec(),
            anchor: changes.anchor(),
            suggestion: None,
            about: json!({"project": reads.project.to_string(), "sha": commit.id, "title": commit.title}),
            branch,
        })
    }

    /// Opens the composer for a comment on the lines under the cursor.
    pub fn comment_here(&mut self, cx: &mut Cx) {
        let Some(anchor) = self.shown.changes.anchor() else { return };
        let reads = &self.shown.reads;
        let position = quoted_position_of(self.shown.changes.files(), (&anchor, &anchor), &reads.full_sha(&cx.view));
        let on = reads.noteable(&cx.view);
        self.shown.changes.clear_selection();
        self.shown.changes.keep_cursor_above(rows_on_lines(cx.view.size.1));
        self.drafts.comment(on, Some(position).into(), "", cx);
    }

    /// Returns the requests for what is shown in the changes besides the first files.
    fn secondary_reads<'a>(&self, view: &View<'a>) -> Vec<SecondaryRead<'a>> {
        let comments = self.shown.reads.comments(view).map(|rows| SecondaryRead {
            name: "Comments",
            error: rows.error,
            is_cut: rows.is_cut(MAX_COMMENT_PAGES),
        });
        let files = SecondaryRead { name: "Files", error: None, is_cut: self.shown.reads.has_more_files(view) };
        comments.into_iter().chain([files]).collect()
    }

    /// Returns the comments that are shown within the changes.
    fn commented(&self, view: &View) -> CommentedChanges {
        let rows = self.shown.reads.comments(view);
        let sha = self.shown.reads.full_sha(view);
        let pages = rows.iter().flat_map(|rows| (0..rows.pages() as usize).filter_map(|page| rows.page(page)));
        let list = self.shown.reads.comments_query(view).map(|list| list.request().line()).unwrap_or_default();
        let revision = rows.as_ref().map_or_else(Revision::default, |rows| rows.revision);
        CommentedChanges {
            key: format!("{list} {revision}"),
            project: self.shown.reads.project.clone(),
            notes: Vec::new(),
            comments: vec![(sha.clone(), pages.collect())],
            current: sha.clone(),
            head: sha,
            whole: true,
            versions: Vec::new(),
        }
    }
}

impl Pane for CommitChangesTab {
    fn focused(&self) -> Option<&dyn Pane> {
        Some(&self.shown.changes)
    }

    fn focused_mut(&mut self) -> Option<&mut dyn Pane> {
        Some(&mut self.shown.changes)
    }

    /// Returns the layout of the comments. The commit and its changes are wanted on all tabs.
    fn wants(&self, view: &View) -> Vec<Want> {
        let is_ready = self.shown.reads.comments(view).is_some() && !self.shown.changes.files().is_empty();
        if !is_ready {
            return Vec::new();
        }
        self.diff_comments.wants(&self.commented(view), &self.shown.changes, &self.drafts, view)
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let rest = self.shown.draw_head(view, area, buf);
        let rest = secondary::draw_line(view, rest, buf, &self.secondary_reads(view));
        self.shown.changes.view(view, rest, buf);
        self.diff_comments.draw_images(view, &self.shown.changes, buf);
    }

    /// Opens the draft or the links under the cursor, else folds or unfolds the comment or the file there.
    fn enter(&mut self, cx: &mut Cx) {
        if self.shown.changes.is_in_list() {
            return self.shown.changes.enter();
        }
        let links = self.diff_comments.links(&self.shown.changes);
        if let Some(id) = self.diff_comments.draft(&self.shown.changes) {
            self.drafts.open(id, cx);
        } else if !links.is_empty() {
            links::open_comment(&links, (Some(&self.shown.reads.project), None), cx);
        } else if !self.diff_comments.toggle(&self.shown.changes) {
            self.shown.changes.enter();
        }
    }

    fn changed(&mut self, cx: &mut Cx) {
        let view = cx.view;
        self.drafts.read(&self.shown.reads.noteable(&view), &view);
        if !self.shown.changes.files().is_empty() {
            let commented = self.commented(&view);
            self.diff_comments.sync(&commented, &mut self.shown.changes, &mut self.drafts, cx);
        }
    }
}
