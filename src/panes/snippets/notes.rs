//! What people say of a snippet: rendered notes, one under the other.

use crate::api::Id;
use crate::api::notes::{DeleteSnippetNote, ListSnippetNotes, Note};
use crate::app::App;
use crate::app::action::Action;
use crate::app::command::Motion;
use crate::app::outbox::Thing;
use crate::app::pane::{Cx, View};
use crate::panes::list::{age, ago, trouble, without_rows};
use crate::panes::review::desk::Desk;
use crate::panes::{prose, review};
use crate::store::{Load, Rows, Want, Write};
use crate::ui::doc::{self, DocLine, DocState};
use crate::ui::text;
use crate::ui::theme::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::cell::Cell;

/// Notes that are rendered around the window at once.
const AROUND: usize = 40;

/// The notes of one snippet at a time.
#[derive(Default)]
pub struct Notes {
    doc: DocState,
    more_pages: u32,
    /// The first row of each note, and behind them the number of rows.
    starts: Vec<usize>,
    width: Cell<usize>,
}

fn query(project: &Id, snippet_id: u64) -> ListSnippetNotes {
    let (sort, order_by) = (Some("asc".into()), Some("created_at".into()));
    ListSnippetNotes { id: project.clone(), snippet_id, sort, order_by }
}

fn rows<'a>(view: &View<'a>, project: &Id, snippet: u64) -> Rows<'a, Note> {
    view.store.list(&query(project, snippet))
}

fn identity(note: &Note) -> String {
    let changed = note.updated_at.as_ref().map(|at| at.as_str()).unwrap_or_default();
    format!("note {} {changed} of a snippet, {} bytes", note.id, note.body.len())
}

impl Notes {
    /// Another snippet.
    pub fn restart(&mut self) {
        *self = Notes { width: self.width.clone(), ..Notes::default() };
    }

    fn width(&self, view: &View) -> usize {
        let drawn = self.width.get();
        let width = if drawn > 0 { drawn } else { usize::from(view.size.0).saturating_sub(4) };
        width.clamp(20, prose::MEASURE)
    }

    fn len(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    /// The note at a row.
    fn at(&self, row: usize) -> Option<usize> {
        let note = self.starts.partition_point(|start| *start <= row).checked_sub(1)?;
        (note + 1 < self.starts.len()).then_some(note)
    }

    fn around(&self) -> std::ops::Range<usize> {
        let at = self.at(self.doc.at(self.len())).unwrap_or(0);
        at.saturating_sub(AROUND)..at + AROUND
    }

    /// How many there are.
    pub fn count(view: &View, project: &Id, snippet: u64) -> Option<String> {
        let rows = rows(view, project, snippet);
        let more = if rows.more { "+" } else { "" };
        rows.known.then(|| format!("{}{more}", text::count(rows.len() as u64)))
    }

    pub fn wants(&self, view: &View, project: &Id, snippet: u64) -> Vec<Want> {
        let mut wants: Vec<Want> = vec![Load::list(&query(project, snippet), 1 + self.more_pages).into()];
        let (rows, width) = (rows(view, project, snippet), self.width(view));
        let notes = self.around().filter_map(|index| rows.get(index)).filter(|note| !note.system);
        wants.extend(notes.filter_map(|note| prose::work(view, &identity(note), &note.body, width)).map(Want::from));
        wants
    }

    pub fn changed(&mut self, view: &View, project: &Id, snippet: u64) {
        let (rows, width) = (rows(view, project, snippet), self.width(view));
        self.starts.clear();
        let mut row = 0;
        for note in rows.iter() {
            self.starts.push(row);
            // Who and when, the text, and a line between.
            row += 2 + prose::made(view, &identity(note), width).map_or(1, |made| made.lines.len().max(1));
        }
        self.starts.push(row);
        let near = self.at(self.doc.at(row) + 3 * self.doc.height.get().max(1)).unwrap_or(rows.len());
        if rows.more && near + 1 >= rows.len() {
            self.more_pages = self.more_pages.max(rows.pages());
        }
    }

    /// Moves; `false` where a move to the left leaves the notes.
    pub fn motion(&mut self, motion: Motion) -> bool {
        let len = self.len();
        match motion {
            Motion::Left => return false,
            Motion::Right => {}
            other => other.scroll(&mut self.doc, len),
        }
        true
    }

    /// The note under the cursor that a person wrote.
    pub fn note<'a>(&self, view: &View<'a>, project: &Id, snippet: u64) -> Option<&'a Note> {
        let index = self.at(self.doc.at(self.len()))?;
        rows(view, project, snippet).get(index).filter(|note| !note.system)
    }

    pub fn draw(&self, view: &View, area: Rect, buf: &mut Buffer, focused: bool, project: &Id, snippet: u64) {
        let rows = rows(view, project, snippet);
        self.width.set(usize::from(area.width).saturating_sub(4));
        if rows.is_empty() {
            return without_rows(view, area, buf, &rows, ("Nobody has said anything yet.", "c writes a note"));
        }
        let body = trouble(view, area, buf, rows.error);
        let (theme, width) = (view.theme, self.width(view));
        doc::draw(buf, body, theme, focused, &self.doc, self.len(), 2, |row| {
            let Some((index, note)) = self.at(row).and_then(|index| Some((index, rows.get(index)?))) else {
                return DocLine::default();
            };
            match row - self.starts.get(index).copied().unwrap_or(0) {
                0 => {
                    let author = note.author.as_ref().map(|author| author.name.clone()).unwrap_or_default();
                    let when = ago(&age(view, note.created_at.as_ref()));
                    let edited = if note.is_edited() { " · edited" } else { "" };
                    let spans = vec![
                        (author.into(), theme.style(Role::User)),
                        (format!(" · {when}{edited}").into(), theme.style(Role::Dim)),
                    ];
                    DocLine { spans, ..DocLine::default() }
                }
                line => match prose::made(view, &identity(note), width) {
                    Some(made) => made.lines.get(line - 1).cloned().unwrap_or_default(),
                    None => {
                        DocLine::new(note.body.lines().next().unwrap_or_default().to_owned(), theme.style(Role::Text))
                    }
                },
            }
        });
    }
}

/// What notes are written on.
pub fn thing(project: &Id, id: u64) -> Thing {
    Thing::Snippet { project: project.clone(), id }
}

/// Opens the composer of a note, with what is quoted. The outbox sends it: once, whatever becomes of the connection.
pub fn comment(desk: &Desk, project: &Id, snippet_id: u64, quoted: Option<&Note>, cx: &mut Cx) {
    let begin = quoted.map(|note| review::answer_to(&note.body, note.author.as_ref())).unwrap_or_default();
    desk.comment(thing(project, snippet_id), None, &begin, cx);
}

/// Opens the composer of a note that is there.
pub fn edit(desk: &Desk, project: &Id, snippet_id: u64, note: &Note, cx: &mut Cx) {
    desk.edit(thing(project, snippet_id), note.id, "", &note.body, cx);
}

/// Deletes a note, after a question.
pub fn delete(project: &Id, snippet_id: u64, note: &Note, cx: &mut Cx) {
    let said = text::fit(note.body.lines().next().unwrap_or_default(), 80);
    let delete = DeleteSnippetNote { id: project.clone(), snippet_id, note_id: note.id };
    let write = Write::new(&delete, format!("delete a note on ${snippet_id}"));
    let question = format!("Delete your note \"{said}\"? It cannot be brought back.");
    cx.act(App::confirm("Delete a note", question, Action::Send(write)));
}
