//! Comments on a commit: on lines, on a file, or on the whole commit.

use super::{CHANGES, CommitPane, DETAILS};
use crate::api::commits::{CommitComment, ListCommitComments};
use crate::api::{Endpoint, Noteable, Time};
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::outbox::DiffPosition;
use crate::app::overlay::composer::rows_on_lines;
use crate::app::view::View;
use crate::parts::changed_files::keys::ShowsChanges;
use crate::parts::dates::{age, compact_age};
use crate::parts::review;
use crate::parts::review::diff_comments::{self, position_of, quoted_position_of};
use crate::parts::review::drafts::CommentTarget;
use crate::parts::review::thread_layout::{LaidOutDraft, Shown, Source};
use crate::parts::review::threads::{self, CommitComments};
use crate::parts::secondary::SecondaryRead;
use crate::store::{Load, Revision, Rows, Want};
use crate::ui::line::Line;
use crate::ui::theme::Role;
use crate::ui::{glyph, text};

/// The maximum number of pages of comments that are loaded.
const MAX_PAGES: u32 = 20;

impl CommitPane {
    /// Returns the commit that comments are added to, by its full SHA even if the pane was opened with another name.
    pub(super) fn noteable(&self, view: &View) -> Noteable {
        Noteable::Commit { project: self.shown.project.clone(), sha: self.sha(view) }
    }

    fn comments_of(&self, view: &View) -> Option<ListCommitComments> {
        let commit = self.shown.commit(view).value?;
        Some(ListCommitComments { id: self.shown.project.clone(), sha: commit.id.clone() })
    }

    fn comments<'a>(&self, view: &View<'a>) -> Option<Rows<'a, CommitComment>> {
        self.comments_of(view).map(|list| view.store.list(&list))
    }

    pub(super) fn comment_wants(&self, view: &View) -> Vec<Want> {
        let Some(list) = self.comments_of(view) else { return Vec::new() };
        let rows: Rows<CommitComment> = view.store.list(&list);
        let mut wants: Vec<Want> = vec![Load::list(&list, rows.pages_to_end(MAX_PAGES)).into()];
        if self.tab == CHANGES && !self.shown.changes.files().is_empty() {
            let drafted = self.drafts.drafted(view);
            wants.extend(self.with_source(view, &drafted, &self.diff_comments.shown, |source| source.wants(view)));
        }
        wants
    }

    /// Returns the requests for what is shown in the changes besides the first files.
    pub(super) fn changes_reads<'a>(&self, view: &View<'a>) -> Vec<SecondaryRead<'a>> {
        let comments = self.comments(view).map(|rows| SecondaryRead {
            name: "Comments",
            error: rows.error,
            is_cut: rows.is_cut(MAX_PAGES),
        });
        let files = SecondaryRead { name: "Files", error: None, is_cut: self.shown.has_more_files(view) };
        comments.into_iter().chain([files]).collect()
    }

    /// Calls `run` with the data that the comment rows of the diff are built from.
    fn with_source<T>(
        &self,
        view: &View,
        drafted: &[LaidOutDraft],
        shown: &Shown,
        run: impl FnOnce(&Source) -> T,
    ) -> T {
        let rows = self.comments(view);
        let sha = self.sha(view);
        let comments = || -> Vec<CommitComments> {
            let pages = rows.iter().flat_map(|rows| (0..rows.pages() as usize).filter_map(|page| rows.page(page)));
            vec![(sha.clone(), pages.collect())]
        };
        let comment = self.comments_of(view).map(|list| list.request().line()).unwrap_or_default();
        run(&Source {
            comments_key: format!("{comment} {}", rows.as_ref().map_or_else(Revision::default, |rows| rows.revision)),
            notes: &Vec::new,
            comments: &comments,
            drafts: drafted,
            changes: self.shown.changes.all_files_name(),
            files: self.shown.changes.files(),
            head: &sha,
            current: &sha,
            whole: true,
            complete: self.shown.changes.has_all(),
            shown,
            versions: Vec::new(),
            width: diff_comments::width(view, &self.shown.changes),
        })
    }

    pub(super) fn sync_comments(&mut self, cx: &mut Cx) {
        let view = cx.view;
        let on = self.noteable(&view);
        self.drafts.sync(&on, cx);
        if self.tab != CHANGES || self.shown.changes.files().is_empty() {
            return;
        }
        let drafted = self.drafts.drafted(&view);
        let (mut diff_comments, mut drafts) =
            (std::mem::take(&mut self.diff_comments), std::mem::take(&mut self.drafts));
        let shown = diff_comments.shown.clone();
        let insets = self.with_source(&view, &drafted, &shown, |source| diff_comments.sync(source, &mut drafts, cx));
        (self.diff_comments, self.drafts) = (diff_comments, drafts);
        if let Some((revision, rows)) = insets {
            self.shown.changes.set_insets(revision, || rows);
        }
    }

    /// Returns the lines of the Details tab for comments (oldest first) and drafts.
    pub(super) fn comment_lines(&self, view: &View, width: usize) -> Vec<Line<'static>> {
        let mut lines: Vec<Line<'static>> = Vec::new();
        let sha = self.sha(view);
        let mut comments: Vec<&CommitComment> = self.comments(view).iter().flat_map(|rows| rows.iter()).collect();
        comments.sort_by_key(|comment| comment.created_at.as_ref().and_then(Time::instant));
        let wrap = |words: &str| text::wrap(words, width.clamp(20, 100), 200);
        for comment in comments {
            let (position, body) = threads::comment_place(&sha, comment);
            let author = comment.author.as_ref().map_or("somebody", |author| author.username.as_str());
            let when = compact_age(age(view, comment.created_at.as_ref()));
            let mut heading =
                Line::new(author.to_owned(), Role::User).and(format!("{}{when}", glyph::separator()), Role::Dim);
            heading.extend(position.map(|position| (format!("  {}", position.label()), Role::Link)));
            lines.extend([Line::empty(), heading]);
            lines.extend(body.lines().flat_map(&wrap).map(Line::text));
        }
        for (key, draft) in self.drafts.drafts() {
            let (words, role) = review::state_of(view, key, draft);
            let mut heading = Line::new(format!("{} {words}", glyph::draft()), role);
            heading.extend(draft.position.as_ref().map(|position| (format!("  {}", position.label()), Role::Link)));
            lines.extend([Line::empty(), heading]);
            lines.extend(draft.text.lines().flat_map(&wrap).map(Line::text));
        }
        lines
    }

    pub(super) fn can_comment(&self, view: &View) -> Result<(), Disabled> {
        if !view.session.signed_in {
            return Err("you are not signed in".into());
        }
        if view.me().is_none() {
            return Err("your account has not loaded yet".into());
        }
        self.shown.commit(view).value.map(|_| ()).ok_or_else(|| "it has not loaded yet".into())
    }

    pub(super) fn can_comment_here(&self, view: &View) -> Result<(), Disabled> {
        self.can_comment(view)?;
        self.on_changes(view)?;
        let changes = &self.shown.changes;
        let anchor = changes.need(changes.anchor(), "there is nothing under the cursor")?;
        let writable = position_of(&anchor, &self.sha(view)).note_header().is_some();
        if writable { Ok(()) } else { Err("the file name contains characters that a comment cannot reference".into()) }
    }

    pub(super) fn has_comment(&self, view: &View) -> Result<(), Disabled> {
        self.can_comment(view)?;
        let comment = self.tab == CHANGES && self.diff_comments.comment(&self.shown.changes).is_some();
        if comment { Ok(()) } else { Err("there is no comment under the cursor".into()) }
    }

    pub(super) fn has_draft(&self, view: &View) -> Result<(), Disabled> {
        self.can_comment(view)?;
        if self.tab == DETAILS {
            return Err("‹commit.drafts› shows the drafts".into());
        }
        let draft = self.diff_comments.draft(&self.shown.changes).is_some();
        if draft {
            Ok(())
        } else {
            Err("there is no draft under the cursor; comments on a commit cannot be edited".into())
        }
    }

    pub(super) fn comment(&mut self, cx: &mut Cx) {
        let on = self.noteable(&cx.view);
        self.drafts.comment(on, CommentTarget::default(), "", cx);
    }

    pub(super) fn comment_here(&mut self, cx: &mut Cx) {
        let Some(anchor) = self.shown.changes.anchor() else { return };
        let on = self.noteable(&cx.view);
        let position = quoted_position_of(&self.shown.changes, &anchor, &self.sha(&cx.view));
        self.shown.changes.clear_selection();
        self.shown.changes.keep_cursor_above(rows_on_lines(cx.view.size.1));
        self.drafts.comment(on, Some(position).into(), "", cx);
    }

    pub(super) fn reply(&mut self, cx: &mut Cx) {
        let Some((thread, comment)) = self.diff_comments.comment(&self.shown.changes) else { return };
        let begin = review::quoted_reply(&comment.body, comment.author.as_ref());
        let position = DiffPosition { quote: Vec::new(), ..thread.position.clone() };
        let on = self.noteable(&cx.view);
        self.drafts.comment(on, Some(position).into(), &begin, cx);
    }

    pub(super) fn edit(&mut self, cx: &mut Cx) {
        if let Some(key) = self.diff_comments.draft(&self.shown.changes).map(str::to_owned) {
            self.drafts.open(&key, cx);
        }
    }

    pub(super) fn drop_draft(&mut self, cx: &mut Cx) {
        if let Some(key) = self.diff_comments.draft(&self.shown.changes).map(str::to_owned) {
            self.drafts.confirm_delete_by_key(&key, cx);
        }
    }
}
