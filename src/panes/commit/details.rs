//! The details of a commit, with its comments and drafts below them.

use crate::api::Time;
use crate::api::commits::CommitComment;
use crate::app::context::Cx;
use crate::app::pane::Pane;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::parts::commit_view::CommitReads;
use crate::parts::dates::{age, compact_age};
use crate::parts::facts::Details;
use crate::parts::review::drafts::Drafts;
use crate::parts::review::threads;
use crate::parts::{commit_details, review};
use crate::store::{Load, Want};
use crate::ui::line::Line;
use crate::ui::theme::Role;
use crate::ui::{glyph, state, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// The details of a commit.
pub struct DetailsTab {
    reads: CommitReads,
    details: Details,
    drafts: Drafts,
}

impl DetailsTab {
    /// Creates the tab without details.
    pub fn new(reads: CommitReads) -> DetailsTab {
        DetailsTab { reads, details: Details::default(), drafts: Drafts::default() }
    }

    /// Opens the target of the line under the cursor.
    pub fn enter(&mut self, cx: &mut Cx) {
        if !self.details.enter(cx) {
            cx.say(Tone::Info, "Parents, refs, the pipeline and pages of statuses can be opened.");
        }
    }

    /// Returns the lines for comments (oldest first) and drafts.
    fn comment_lines(&self, view: &View, width: usize) -> Vec<Line<'static>> {
        let mut lines: Vec<Line<'static>> = Vec::new();
        let sha = self.reads.full_sha(view);
        let mut comments: Vec<&CommitComment> = self.reads.comments(view).iter().flat_map(|rows| rows.iter()).collect();
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
}

impl Pane for DetailsTab {
    fn focused(&self) -> Option<&dyn Pane> {
        Some(&self.details)
    }

    fn focused_mut(&mut self) -> Option<&mut dyn Pane> {
        Some(&mut self.details)
    }

    fn wants(&self, _view: &View) -> Vec<Want> {
        vec![
            Load::list(&self.reads.refs_query(), 1).into(),
            Load::list(&self.reads.statuses_query(), 1).into(),
            Load::list(&self.reads.merge_requests_query(), 1).optional().into(),
            Load::single(&self.reads.signature_query()).optional().into(),
        ]
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        match self.details.is_empty() {
            true => state::skeleton(buf, area, view.theme),
            false => self.details.view(view, area, buf),
        }
    }

    fn changed(&mut self, cx: &mut Cx) {
        let view = cx.view;
        self.drafts.read(&self.reads.noteable(&view), &view);
        let width = usize::from(view.size.0).saturating_sub(4);
        commit_details::fill_facts(&mut self.details, &self.reads, &view, width);
        for line in self.comment_lines(&view, width) {
            self.details.line(line);
        }
    }
}
