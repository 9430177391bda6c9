//! Comments on a commit: on lines, on a file, or on the whole commit.

use super::{CHANGES, CommitPane, DETAILS};
use crate::api::commits::{CommitComment, ListCommitComments};
use crate::api::{Endpoint, Time};
use crate::app::command::Disabled;
use crate::app::outbox::{DiffPosition, Noteable};
use crate::app::overlay::composer::rows_on_lines;
use crate::app::pane::{Cx, View};
use crate::parts::changed_files::keys::ShowsChanges;
use crate::parts::facts::Pieces;
use crate::parts::list::{self, age};
use crate::parts::review;
use crate::parts::review::diff_comments::{self, quoting_spot_of, spot_of};
use crate::parts::review::drafts::CommentPlace;
use crate::parts::review::thread_layout::{LaidOutDraft, Shown, Source};
use crate::parts::review::threads::{self, CommitComments};
use crate::store::{Load, Revision, Rows, Want};
use crate::ui::theme::Role;
use crate::ui::{glyph, text};

/// The maximum number of pages of comments that are loaded.
const PAGES: u32 = 20;

impl CommitPane {
    /// Returns the commit that comments are added to, by its full SHA even if the pane was opened with another name.
    pub(super) fn thing(&self, view: &View) -> Noteable {
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
        let pages = if rows.more || !rows.known { rows.pages() + 1 } else { rows.pages() };
        let mut wants: Vec<Want> = vec![Load::list(&list, pages.min(PAGES)).into()];
        if self.tab == CHANGES && !self.shown.changes.files().is_empty() {
            let drafted = self.desk.drafted(view);
            wants.extend(self.with_source(view, &drafted, &self.margin.shown, |source| source.wants(view)));
        }
        wants
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
        let said = self.comments_of(view).map(|list| list.request().line()).unwrap_or_default();
        run(&Source {
            said: format!("{said} {}", rows.as_ref().map_or_else(Revision::default, |rows| rows.revision)),
            notes: &Vec::new,
            comments: &comments,
            drafts: drafted,
            changes: self.shown.changes.whole_name(),
            files: self.shown.changes.files(),
            head: &sha,
            whole: true,
            complete: self.shown.input().is_some_and(|input| self.shown.changes.has_all(&input)),
            shown,
            versions: Vec::new(),
            width: diff_comments::width(view, &self.shown.changes),
        })
    }

    pub(super) fn sync_comments(&mut self, cx: &mut Cx) {
        let view = cx.view;
        let on = self.thing(&view);
        self.desk.sync(&on, cx);
        if self.tab != CHANGES || self.shown.changes.files().is_empty() {
            return;
        }
        let drafted = self.desk.drafted(&view);
        let (mut margin, mut desk) = (std::mem::take(&mut self.margin), std::mem::take(&mut self.desk));
        let shown = margin.shown.clone();
        let insets = self.with_source(&view, &drafted, &shown, |source| margin.sync(source, &mut desk, cx));
        (self.margin, self.desk) = (margin, desk);
        if let Some((revision, rows)) = insets {
            self.shown.changes.set_insets(revision, || rows);
        }
    }

    /// Returns the lines of the Details tab for comments (oldest first) and drafts.
    pub(super) fn comment_lines(&self, view: &View, width: usize) -> Vec<Pieces> {
        let mut lines: Vec<Pieces> = Vec::new();
        let sha = self.sha(view);
        let mut comments: Vec<&CommitComment> = self.comments(view).iter().flat_map(|rows| rows.iter()).collect();
        comments.sort_by_key(|comment| comment.created_at.as_ref().and_then(Time::instant));
        let wrap = |words: &str| text::wrap(words, width.clamp(20, 100), 200);
        for comment in comments {
            let (spot, body) = threads::comment_place(&sha, comment);
            let author = comment.author.as_ref().map_or("somebody", |author| author.username.as_str());
            let when = list::beside(age(view, comment.created_at.as_ref()));
            let mut heading: Pieces =
                vec![(author.to_owned(), Role::User), (format!("{}{when}", glyph::separator()), Role::Dim)];
            heading.extend(spot.map(|spot| (format!("  {}", spot.label()), Role::Link)));
            lines.extend([Vec::new(), heading]);
            lines.extend(body.lines().flat_map(&wrap).map(|line| vec![(line, Role::Text)]));
        }
        for (key, draft) in self.desk.drafts() {
            let (words, role) = review::state_of(view, key, draft);
            let mut heading: Pieces = vec![(format!("{} {words}", glyph::draft()), role)];
            heading.extend(draft.spot.as_ref().map(|spot| (format!("  {}", spot.label()), Role::Link)));
            lines.extend([Vec::new(), heading]);
            lines.extend(draft.text.lines().flat_map(&wrap).map(|line| vec![(line, Role::Text)]));
        }
        lines
    }

    pub(super) fn can_speak(&self, view: &View) -> Result<(), Disabled> {
        if !view.session.signed_in {
            return Err("you are not signed in".into());
        }
        if view.me().is_none() {
            return Err("your account has not loaded yet".into());
        }
        self.shown.commit(view).value.map(|_| ()).ok_or_else(|| "it has not loaded yet".into())
    }

    pub(super) fn can_place(&self, view: &View) -> Result<(), Disabled> {
        self.can_speak(view)?;
        self.on_changes(view)?;
        let changes = &self.shown.changes;
        let anchor = changes.need(changes.anchor(), "there is nothing under the cursor")?;
        let writable = spot_of(&anchor, &self.sha(view)).head().is_some();
        if writable { Ok(()) } else { Err("the name of the file cannot be written in a comment".into()) }
    }

    pub(super) fn has_comment(&self, view: &View) -> Result<(), Disabled> {
        self.can_speak(view)?;
        let said = self.tab == CHANGES && self.margin.said(&self.shown.changes).is_some();
        if said { Ok(()) } else { Err("there is no comment under the cursor".into()) }
    }

    pub(super) fn has_draft(&self, view: &View) -> Result<(), Disabled> {
        self.can_speak(view)?;
        if self.tab == DETAILS {
            return Err("K shows the drafts".into());
        }
        let draft = self.margin.draft(&self.shown.changes).is_some();
        if draft {
            Ok(())
        } else {
            Err("there is no draft under the cursor; comments on a commit cannot be edited".into())
        }
    }

    pub(super) fn comment(&mut self, cx: &mut Cx) {
        let on = self.thing(&cx.view);
        self.desk.comment(on, CommentPlace::default(), "", cx);
    }

    pub(super) fn comment_here(&mut self, cx: &mut Cx) {
        let Some(anchor) = self.shown.changes.anchor() else { return };
        let on = self.thing(&cx.view);
        let spot = quoting_spot_of(&self.shown.changes, &anchor, &self.sha(&cx.view));
        self.shown.changes.end_mark();
        self.shown.changes.leave_below(rows_on_lines(cx.view.size.1));
        self.desk.comment(on, Some(spot).into(), "", cx);
    }

    pub(super) fn reply(&mut self, cx: &mut Cx) {
        let Some((thread, said)) = self.margin.said(&self.shown.changes) else { return };
        let begin = review::answer_to(&said.body, said.author.as_ref());
        let spot = DiffPosition { quote: Vec::new(), ..thread.spot.clone() };
        let on = self.thing(&cx.view);
        self.desk.comment(on, Some(spot).into(), &begin, cx);
    }

    pub(super) fn edit(&mut self, cx: &mut Cx) {
        if let Some(key) = self.margin.draft(&self.shown.changes).map(str::to_owned) {
            self.desk.open(&key, cx);
        }
    }

    pub(super) fn drop_draft(&mut self, cx: &mut Cx) {
        if let Some(key) = self.margin.draft(&self.shown.changes).map(str::to_owned) {
            self.desk.ask_drop(&key, cx);
        }
    }
}
