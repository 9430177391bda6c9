//! The lines of a conversation beside its frames: headings, system notes, drafts, and what is above and below them.

use super::Content;
use crate::api::Noteable;
use crate::api::notes::Note;
use crate::api::users::User;
use crate::app::outbox::{DiffPosition, Draft};
use crate::app::view::View;
use crate::parts::list::more_words;
use crate::parts::review;
use crate::parts::review::drafts::DraftId;
use crate::parts::review::thread_frame::{self, CommentRows};
use crate::parts::review::threads;
use crate::parts::text::dates::{self, age};
use crate::store::Rows;
use crate::ui::doc::DocLine;
use crate::ui::line::Line;
use crate::ui::theme::Role;
use crate::ui::{glyph, markdown, text};

/// The maximum number of lines shown of a draft.
const MAX_DRAFT_LINES: usize = 8;

/// Returns the divider above the comments: the numbers of comments by people and by bots, unresolved threads and drafts.
pub fn divider(content: &Content, (written, of_bots): (usize, usize), unresolved: usize) -> DocLine<'static> {
    let is_commit = matches!(content.on, Noteable::Commit { .. });
    let count = if is_commit { content.comments.len() } else { written };
    let words = match (content.list.is_loaded, content.list.has_more) {
        (false, _) if count == 0 => "Comments".to_owned(),
        (_, true) => format!("{}+ comments", text::count(count as u64)),
        (_, false) => text::count_noun(count as u64, "comment"),
    };
    let mut line = Line::new(words, Role::Title);
    if !is_commit && !content.comments.is_empty() {
        line.push(format!(", {} on commits", text::count(content.comments.len() as u64)), Role::Dim);
    }
    if of_bots > 0 {
        line.push(format!(", {} by bots", text::count(of_bots as u64)), Role::Dim);
    }
    line.push(" ", Role::Dim);
    if unresolved > 0 {
        let words = text::count_noun(unresolved as u64, "unresolved thread");
        line.push(format!("{} {words} ", glyph::hollow()), Role::Warning);
    }
    if !content.drafts.is_empty() {
        let words = text::count_noun(content.drafts.len() as u64, "draft");
        line.push(format!("{} {words} ", glyph::draft()), Role::Warning);
    }
    let used = line.width();
    line.push(glyph::rule().repeat(content.width.saturating_sub(used)), Role::Faint);
    line.into()
}

/// Returns the line below the loaded notes: an error, that there are none, or that more are loading.
pub fn tail(view: &View, content: &Content) -> DocLine<'static> {
    let list = &content.list;
    match list.error {
        Some(error) => {
            let (gap, retries) = (glyph::separator(), view.with_keys("‹refresh› retries"));
            let words = format!("{}: {}{gap}{retries}", error.title(), error.message());
            DocLine::new(words, Role::Failed)
        }
        None if list.is_loaded && list.cut.is_none() && !list.has_more => {
            DocLine::new(format!("No comments yet. {}", view.with_keys(content.empty)), Role::Dim)
        }
        None if list.cut.is_some() => {
            DocLine::new(format!("{} {}", glyph::ellipsis(), more_words(list.cut)), Role::Warning)
        }
        None if content.notes.is_empty() => DocLine::new(format!("{} loading", glyph::ellipsis()), Role::Dim),
        None => DocLine::new(format!("{} loading more", glyph::ellipsis()), Role::Dim),
    }
}

/// Returns the facts about the location of a thread: the lines, and where they are if they are not in the current
/// changes.
pub fn facts(view: &View, note: &Note, position: Option<&DiffPosition>, content: &Content) -> Vec<(String, Role)> {
    let Some(position) = position else { return Vec::new() };
    let mut facts = vec![(position.label(), Role::Link)];
    let clone = view.session.clone.as_ref();
    facts.extend(clone.and_then(|clone| threads::in_clone(clone, note.discussion_id.as_deref(), position)));
    facts.extend(threads::point_of(note).map(|(x, y)| (format!("at {x}, {y}"), Role::Dim)));
    let version = content.versions.iter().find(|(sha, _)| *sha == position.sha).map(|(_, number)| *number);
    let short = text::head(&position.sha, 8);
    if content.is_outdated(note, position) {
        let of = version.map_or_else(|| format!("at {short}"), |number| format!("version {number}"));
        facts.push((format!("outdated, {of}"), Role::Warning));
    } else if !short.is_empty() && content.head_sha != Some(position.sha.as_str()) {
        facts.push((format!("at {short}"), Role::Dim));
    }
    facts
}

/// Returns the upper border of the thread under the cursor, with the keys that act on it at the right. In accessible
/// mode, a row does not change with the cursor.
pub fn with_hints(
    view: &View,
    content: &Content,
    top: Line<'static>,
    resolved: Option<bool>,
    has_suggestion: bool,
) -> Line<'static> {
    let resolve = match resolved {
        Some(true) => "  ‹.resolve› reopen",
        Some(false) => "  ‹.resolve› resolve",
        None => "",
    };
    if glyph::is_accessible() {
        return top;
    }
    let apply = if has_suggestion { "‹.apply› apply  " } else { "" };
    let hints = view.with_keys(&format!("{apply}‹.reply› reply{resolve}")).into_owned();
    match content.width.checked_sub(top.width() + text::width(&hints)).filter(|room| *room > 1) {
        Some(room) => top.and(" ".repeat(room), Role::Dim).and(hints, Role::Dim),
        None => top,
    }
}

/// Returns the rows of a comment with a rendered text.
pub fn comment<'a>(
    view: &View,
    note: &Note,
    is_reply: bool,
    body: &'a [DocLine<'static>],
    content: &Content,
) -> CommentRows<'a> {
    let age = dates::compact_age(age(view, note.created_at.as_ref()));
    let flags = [(note.is_edited(), "edited"), (note.is_internal(), "internal")];
    let heading = thread_frame::heading(note.author.as_ref(), &age, &flags);
    CommentRows { heading, is_reply, body, width: content.text_width() + thread_frame::COLUMNS / 2 }
}

/// Returns the line of a system note.
pub fn system(view: &View, note: &Note) -> DocLine<'static> {
    let when = dates::compact_age(age(view, note.created_at.as_ref()));
    DocLine::new(format!("{} {}{}{when}", glyph::dot(), event(note), glyph::separator()), Role::Dim)
}

fn event(note: &Note) -> String {
    let author = note.author.as_ref().map_or("somebody", User::short_name);
    format!("{author} {}", markdown::one_line(&note.body))
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
    let events = if glyph::is_accessible() { events } else { text::fit(&events, room) };
    DocLine::new(format!("{start}{events}{end}"), Role::Dim)
}

/// Returns the heading of a draft: its state and position.
pub fn draft_heading(view: &View, id: &DraftId, draft: &Draft) -> DocLine<'static> {
    let (words, role) = review::state_of(view, id, draft);
    let mut line = Line::new(format!("{} {words}", glyph::draft()), role);
    if draft.edits.is_some() {
        line.push("  edit of a comment", Role::Dim);
    }
    line.extend(draft.position.as_ref().map(|position| (format!("  {}", position.label()), Role::Link)));
    line.into()
}

/// Returns the first lines of a draft; the last one is marked if there are more.
pub fn drafted(draft: &Draft, width: usize) -> Vec<String> {
    let lines = draft.text.lines().flat_map(|line| match line {
        "" => vec![String::new()],
        line => text::wrap(line, width.saturating_sub(2), MAX_DRAFT_LINES),
    });
    let mut lines: Vec<String> = lines.take(MAX_DRAFT_LINES + 1).collect();
    if lines.len() > MAX_DRAFT_LINES {
        lines.truncate(MAX_DRAFT_LINES);
        let last = lines.pop();
        lines.extend(last.map(|last| format!("{last} {}", glyph::ellipsis())));
    }
    lines
}
