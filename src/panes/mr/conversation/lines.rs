//! The lines of the overview document.

use super::{Content, MAX_DRAFT_LINES, MAX_QUOTED_LINES};
use crate::api::notes::Note;
use crate::app::outbox::DiffPosition;
use crate::app::view::View;
use crate::parts::dates::{self, age};
use crate::parts::list::{self, more_words};
use crate::parts::{rendered_markdown, review};
use crate::store::Rows;
use crate::ui::doc::DocLine;
use crate::ui::line::Line;
use crate::ui::theme::Role;
use crate::ui::{glyph, text};

/// Returns the description, unless it is blank.
pub fn description<'a>(content: &Content<'a>) -> Option<&'a str> {
    content.facts.merge_request.description.as_deref().filter(|text| !text.trim().is_empty())
}

/// Returns a line of the description.
pub fn of_description(view: &View, content: &Content, index: usize, width: usize) -> DocLine<'static> {
    if description(content).is_none() {
        return DocLine::new("No description.", view.theme.style(Role::Dim));
    }
    match rendered_markdown::rendered(view, &content.identity, width) {
        Some(rendered) => rendered.lines.get(index).cloned().unwrap_or_default(),
        None => DocLine::new(glyph::ellipsis(), view.theme.style(Role::Faint)),
    }
}

/// Returns the divider above the notes: the numbers of notes, unresolved threads and drafts.
pub fn between(view: &View, content: &Content, unresolved: usize, width: usize) -> DocLine<'static> {
    let (theme, notes) = (view.theme, &content.notes);
    let count = list::count(notes, notes.len(), None).unwrap_or_default();
    let mut line = DocLine::new(format!("Notes {count} "), theme.style(Role::Title));
    if !content.comments.is_empty() {
        let words = format!("and {} on its commits ", text::count(content.comments.len() as u64));
        line.text.push(words, Role::Dim);
    }
    if unresolved > 0 {
        let threads = if unresolved == 1 { "thread" } else { "threads" };
        let words = format!("{} {unresolved} unresolved {threads} ", glyph::hollow());
        line.text.push(words, Role::Warning);
    }
    let waiting = match content.drafts.len() {
        0 => String::new(),
        1 => format!("{} 1 draft ", glyph::draft()),
        count => format!("{} {count} drafts ", glyph::draft()),
    };
    line.text.push(waiting, Role::Warning);
    let used = line.text.width();
    line.text.push(glyph::rule().repeat(width.saturating_sub(used)), Role::Faint);
    line
}

/// Returns the line below the loaded notes: an error, that there are none, or that more are loading.
pub fn tail(view: &View, notes: &Rows<Note>) -> DocLine<'static> {
    let theme = view.theme;
    match notes.error {
        Some(error) => {
            let words = format!("{}: {} · {}", error.title(), error.message(), view.with_keys("‹refresh› retries"));
            DocLine::new(words, theme.style(Role::Failed))
        }
        None if notes.is_loaded && notes.is_empty() => {
            let words = view.with_keys("No comments yet. ‹mr.comment› adds one.");
            DocLine::new(words.into_owned(), theme.style(Role::Dim))
        }
        None if notes.cut.is_some() => {
            DocLine::new(format!("{} {}", glyph::ellipsis(), more_words(notes.cut)), theme.style(Role::Warning))
        }
        None => DocLine::new(format!("{} loading more", glyph::ellipsis()), theme.style(Role::Dim)),
    }
}

/// The relation of a thread's position to the current changes.
pub struct PositionState {
    pub outdated: bool,
    /// The version that the position belongs to, if known.
    pub version: Option<usize>,
    /// The point in an image.
    pub point: Option<(u64, u64)>,
}

/// Returns a line of the position of a thread: its name, then the quoted code lines.
pub fn position_line(position: &DiffPosition, line: usize, state: &PositionState) -> DocLine<'static> {
    let Some(quoted) = line.checked_sub(1) else {
        let mut spans = Line::new(position.label(), Role::Link);
        if position.old {
            spans.push("  removed line", Role::Removed);
        }
        if let Some((x, y)) = state.point {
            spans.push(format!("  at {x}, {y}"), Role::Dim);
        }
        match (state.version, position.sha.get(..8)) {
            (Some(version), _) => spans.push(format!("  version {version}"), Role::Dim),
            (None, Some(short)) => spans.push(format!("  at {short}"), Role::Dim),
            (None, None) => {}
        }
        if state.outdated {
            spans.push("  outdated", Role::Warning);
        }
        return spans.into();
    };
    let from = position.quote.len().saturating_sub(MAX_QUOTED_LINES);
    let words = position.quote.get(from + quoted).cloned().unwrap_or_default();
    let spans = Line::new(format!("{} ", glyph::divider()), Role::Faint).and(words, Role::Dim);
    spans.into()
}

/// Returns the heading of a note: author, age and flags.
pub fn heading(view: &View, note: &Note, is_reply: bool) -> DocLine<'static> {
    let mut spans = Line::empty();
    if is_reply {
        spans.push(format!("{} ", glyph::reply()), Role::Dim);
    }
    let author = note.author.as_ref().map_or("somebody", |author| author.username.as_str());
    spans.push(author.to_owned(), Role::User);
    let mut facts = vec![dates::compact_age(age(view, note.created_at.as_ref()))];
    facts.push(if note.is_edited() { "edited".into() } else { String::new() });
    facts.push(if note.confidential == Some(true) { "confidential".into() } else { String::new() });
    for fact in facts.into_iter().filter(|fact| !fact.is_empty()) {
        spans.push(format!("{}{fact}", glyph::separator()), Role::Dim);
    }
    if note.resolved == Some(true) {
        spans.push(format!("  {} resolved", glyph::or_word(glyph::done(), "")), Role::Success);
    }
    spans.into()
}

/// Returns the line of a folded resolved thread: author, position, start of the text, and number of comments.
pub fn resolved(note: &Note, position: Option<&DiffPosition>, count: usize, width: usize) -> DocLine<'static> {
    let author = note.author.as_ref().map_or("somebody", |author| author.username.as_str());
    let mut spans = Line::new(format!("{} ", glyph::folded()), Role::Accent).and(author.to_owned(), Role::User);
    spans.extend(position.map(|position| (format!("  {}", position.label()), Role::Link)));
    let resolver = note.resolved_by.as_ref().map(|user| format!(" by {}", user.username)).unwrap_or_default();
    let comments = if count == 1 { String::new() } else { format!("{}{count} comments", glyph::separator()) };
    let end = format!("  {} resolved{resolver}{comments}", glyph::or_word(glyph::done(), ""));
    let used = spans.width();
    let room = width.saturating_sub(used + text::width(&end) + 2);
    let first_line = note.body.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    spans.push(format!("  {}", text::fit(first_line, room)), Role::Dim);
    spans.push(end, Role::Success);
    spans.into()
}

/// Returns the line of a system note.
pub fn system(view: &View, note: &Note) -> DocLine<'static> {
    let when = dates::compact_age(age(view, note.created_at.as_ref()));
    let words = format!("{} {}{}{when}", glyph::hollow(), event(note), glyph::separator());
    DocLine::new(words, view.theme.style(Role::Dim))
}

fn event(note: &Note) -> String {
    let author = note.author.as_ref().map_or("somebody", |author| author.username.as_str());
    let first_line = note.body.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    format!("{author} {first_line}")
}

/// Returns the line of consecutive system notes, cut to the width.
pub fn system_run(view: &View, notes: &Rows<Note>, run: &[usize], width: usize) -> DocLine<'static> {
    let of = |index: &usize| notes.get(*index);
    let Some(last) = run.last().and_then(of) else { return DocLine::default() };
    if run.len() == 1 {
        return system(view, last);
    }
    let when = dates::compact_age(age(view, last.created_at.as_ref()));
    let (start, end) = (format!("{} {} events: ", glyph::folded(), run.len()), format!("{}{when}", glyph::separator()));
    let mut events = String::new();
    for note in run.iter().filter_map(of) {
        if !events.is_empty() {
            events.push_str(", ");
        }
        events.push_str(&event(note));
        if events.len() > 4 * width {
            break;
        }
    }
    let room = width.saturating_sub(text::width(&start) + text::width(&end));
    DocLine::new(format!("{start}{}{end}", text::fit(&events, room)), view.theme.style(Role::Dim))
}

/// Returns a line of a draft: its state and position, then its text.
pub fn of_draft(view: &View, content: &Content, draft: usize, line: usize, width: usize) -> DocLine<'static> {
    let theme = view.theme;
    let Some((key, draft)) = content.drafts.get(draft) else { return DocLine::default() };
    let Some(within) = line.checked_sub(1) else {
        let (words, role) = review::state_of(view, key, draft);
        let mut spans = Line::new(format!("{} {words}", glyph::draft()), role);
        if let Some(position) = &draft.position {
            spans.push(format!("  {}", position.label()), Role::Link);
        }
        return spans.into();
    };
    let shown = draft.text.lines().nth(within).filter(|_| within < MAX_DRAFT_LINES).unwrap_or_default();
    let more = within + 1 == MAX_DRAFT_LINES && draft.text.lines().nth(MAX_DRAFT_LINES).is_some();
    let words = if more {
        format!("{} {}", text::fit(shown, width.saturating_sub(2)), glyph::ellipsis())
    } else {
        shown.into()
    };
    DocLine::new(words, theme.style(Role::Text))
}
