//! Drawing of the visible rows of a conversation.

use super::content::Content;
use super::layout::ConversationRow;
use super::units::{Thread, Unit};
use super::{Conversation, GUTTER_WIDTH, lines};
use crate::api::Noteable;
use crate::app::view::View;
use crate::parts::comments::reactions::Reactions;
use crate::parts::review::thread_frame::{self, CODE_LINES};
use crate::parts::review::{suggestions, threads};
use crate::parts::text::illustrated_text::IllustratedText;
use crate::parts::text::links::{self, Link};
use crate::parts::text::rendered_markdown;
use crate::ui::doc::{self, DocLine};
use crate::ui::glyph;
use crate::ui::line::Line;
use crate::ui::theme::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::collections::HashSet;

impl Conversation {
    /// Returns the number of columns for the text in the area of the last frame, or in `width` columns before.
    pub fn columns(&self, width: u16) -> usize {
        let drawn = self.area.get().width;
        let width = if drawn > 0 { drawn } else { width };
        usize::from(width.saturating_sub(GUTTER_WIDTH + 2)).clamp(20, rendered_markdown::MAX_PROSE_WIDTH)
    }

    /// Draws the visible lines.
    pub fn draw(&self, view: &View, area: Rect, buf: &mut Buffer, focused: bool, content: &Content) {
        self.area.set(area);
        let here = self.at(self.scroll.at(self.len()));
        doc::draw(buf, area, view.theme, focused, &self.scroll, self.len(), GUTTER_WIDTH, &|row| {
            let Some(at) = self.at(row) else { return DocLine::default() };
            let mut line = self.line(view, content, at);
            self.mark_matches(&mut line, view.theme);
            let is_at_cursor = match (at, here) {
                (ConversationRow::Unit(unit, line), Some(ConversationRow::Unit(here, _))) => {
                    unit == here && line + 1 < self.height_of(unit)
                }
                (ConversationRow::Draft(draft, _), Some(ConversationRow::Draft(here, _))) => draft == here,
                _ => false,
            };
            if is_at_cursor && line.gutter.is_empty() {
                line.gutter = Line::new(glyph::divider(), Role::Accent);
            }
            line
        });
        self.draw_images(view, area, buf, content);
    }

    /// Draws the images of the head and of the visible comments.
    fn draw_images(&self, view: &View, area: Rect, buf: &mut Buffer, content: &Content) {
        let at: Vec<Option<ConversationRow>> =
            (0..area.height).map(|y| self.at(self.scroll.line_at(y, self.len())?)).collect();
        let left = 1 + GUTTER_WIDTH;
        if let Some(images) = content.head.images {
            let line = |at: &Option<ConversationRow>| match at {
                Some(ConversationRow::Head(row)) => row.checked_sub(self.facts),
                _ => None,
            };
            let lines: Vec<Option<usize>> = at.iter().map(line).collect();
            images.draw(view, area, buf, &lines, left);
        }
        let mut out_of_view: HashSet<u64> = self.images.keys().copied().collect();
        let mut drawn = None;
        for unit in at.iter().filter_map(|at| match at {
            Some(ConversationRow::Unit(unit, _)) => Some(*unit),
            _ => None,
        }) {
            if drawn.replace(unit) == Some(unit) {
                continue;
            }
            let Some(Unit::Comment { thread, at: place }) = self.units.get(unit) else { continue };
            let Some(thread) = self.threads.get(*thread) else { continue };
            let note = thread.notes.get(*place).and_then(|index| content.note_at(*index));
            let Some((note, images)) = note.and_then(|note| Some((note.id, self.images.get(&note.id)?))) else {
                continue;
            };
            out_of_view.remove(&note);
            let height = self.comment_height(view, content, thread, *place);
            let line = |at: &Option<ConversationRow>| match at {
                Some(ConversationRow::Unit(here, line)) if *here == unit => {
                    line.checked_sub(height.top + height.code + 1)
                }
                _ => None,
            };
            let lines: Vec<Option<usize>> = at.iter().map(line).collect();
            let frame = if thread.is_framed() { thread_frame::COLUMNS / 2 } else { 0 };
            let reply = if *place > 0 { thread_frame::COLUMNS / 2 } else { 0 };
            images.draw(view, area, buf, &lines, left + (frame + reply) as u16);
        }
        out_of_view.iter().filter_map(|note| self.images.get(note)).for_each(IllustratedText::leave_view);
    }

    fn line(&self, view: &View, content: &Content, at: ConversationRow) -> DocLine<'static> {
        match at {
            ConversationRow::Head(index) => (content.head.line)(index),
            ConversationRow::Between(0) => Reactions::to(content.on.clone(), None).line(view, content.width).into(),
            ConversationRow::Between(index) => match content.head.below.get(index - 1) {
                Some(line) => line.clone(),
                None => lines::divider(content, (self.written, self.of_bots), self.unresolved.len()),
            },
            ConversationRow::Unit(unit, line) => self.unit_line(view, content, unit, line),
            ConversationRow::Draft(draft, line) => self.draft_line(view, content, draft, line),
            ConversationRow::Tail => lines::tail(view, content),
        }
    }

    /// Returns the links of the line under the cursor.
    pub fn links_here(&self, view: &View, content: &Content) -> Vec<Link> {
        let at = self.at(self.scroll.at(self.len()));
        at.map(|at| links::of_line(&self.line(view, content, at))).unwrap_or_default()
    }

    fn unit_line(&self, view: &View, content: &Content, unit: usize, line: usize) -> DocLine<'static> {
        match self.units.get(unit) {
            Some(Unit::System { notes: run, open: true }) => run
                .get(line)
                .and_then(|index| content.note_at(*index))
                .map(|note| lines::system(view, note))
                .unwrap_or_default(),
            Some(Unit::System { notes: run, open: false }) if line == 0 => {
                lines::system_run(view, &content.notes, run, content.width)
            }
            Some(Unit::Resolved { thread }) if line == 0 => {
                let Some(thread) = self.threads.get(*thread) else { return DocLine::default() };
                let Some(first) = thread.notes.first().and_then(|index| content.note_at(*index)) else {
                    return DocLine::default();
                };
                let facts = lines::facts(view, first, thread.position.as_ref(), content);
                let body = threads::place(first).1;
                thread.state().folded(facts, first.author.as_ref(), body, content.width).into()
            }
            Some(Unit::Comment { thread, at }) => match self.threads.get(*thread) {
                Some(thread) => self.comment_line(view, content, (unit, thread, *at), line),
                None => DocLine::default(),
            },
            _ => DocLine::default(),
        }
    }

    fn comment_line(
        &self,
        view: &View,
        content: &Content,
        (unit, thread, at): (usize, &Thread, usize),
        line: usize,
    ) -> DocLine<'static> {
        let Some(index) = thread.notes.get(at).copied() else { return DocLine::default() };
        let Some(note) = content.note_at(index) else { return DocLine::default() };
        let height = self.comment_height(view, content, thread, at);
        let frame = thread.state().frame();
        let framed = |line: DocLine<'static>| if thread.is_framed() { frame.row(line) } else { line };
        let Some(line) = line.checked_sub(height.top) else {
            let top = thread.state().top(lines::facts(view, note, thread.position.as_ref(), content));
            // The cursor may be on any comment of the thread.
            let here = self.unit().and_then(|here| here.checked_sub(unit)).and_then(|at| thread.notes.get(at));
            let Some(here) = here.and_then(|index| content.note_at(*index)) else { return top.into() };
            let has_suggestion = matches!(content.on, Noteable::MergeRequest { .. })
                && thread.position.is_some()
                && !suggestions::read(&here.body).is_empty();
            return lines::with_hints(view, content, top, thread.resolved, has_suggestion).into();
        };
        if line < height.code {
            let code = self.code(content, thread);
            let shown = code.get(code.len().saturating_sub(CODE_LINES) + line);
            return shown.map(|line| frame.code(&code, line)).unwrap_or_default();
        }
        let line = line - height.code;
        if line < height.text {
            return framed(match self.body(view, content, index) {
                Some(body) => lines::comment(view, note, at > 0, body, content).row(line),
                None if line == 0 => lines::comment(view, note, at > 0, &[], content).row(0),
                None => DocLine::new(glyph::ellipsis(), Role::Faint),
            });
        }
        match line - height.text {
            0 if height.reactions > 0 => {
                framed(Reactions::to(content.on.clone(), Some(note.id)).line(view, content.text_width()).into())
            }
            rest if rest == height.reactions && height.bottom > 0 => frame.bottom(),
            _ => DocLine::default(),
        }
    }

    fn draft_line(&self, view: &View, content: &Content, draft: usize, line: usize) -> DocLine<'static> {
        let Some((key, of)) = content.drafts.get(draft) else { return DocLine::default() };
        match line.checked_sub(1) {
            None => lines::draft_heading(view, key, of),
            Some(within) => {
                let words = self.drafted.get(draft).and_then(|lines| lines.get(within));
                words.map(|words| DocLine::new(words.clone(), Role::Text)).unwrap_or_default()
            }
        }
    }
}
