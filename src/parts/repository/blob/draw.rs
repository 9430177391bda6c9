//! Draws a file: its text, rendered Markdown, table, image or bytes, and the facts beside its title.

use super::{BlameStep, BlobView, Mode, work};
use crate::api::Id;
use crate::app::view::View;
use crate::parts::list;
use crate::parts::repository::blob::file_type;
use crate::parts::text::dates;
use crate::ui::code::{self, Content, HighlightedLines, Highlights};
use crate::ui::doc::{self, DocLine, DocState};
use crate::ui::hex;
use crate::ui::search::{Match, Matches};
use crate::ui::theme::{Role, Theme};
use crate::ui::{chart, glyph, state, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use std::cell::Cell;

impl BlobView {
    /// Returns the text at the right of the title: matches, lines, size, language.
    pub fn facts(&self, view: &View) -> String {
        let mut facts = Vec::new();
        if !self.query.is_empty() {
            facts.push(match self.found(view) {
                None => format!("/{}", self.query),
                Some(found) if found.matches.is_empty() => "not found".into(),
                Some(found) => {
                    let more = if found.capped { "+" } else { "" };
                    let at = self.current.map(|at| format!("{}/", text::count(at as u64 + 1))).unwrap_or_default();
                    format!("{at}{}{more}", text::count(found.matches.len() as u64))
                }
            });
        }
        if let Some(marked) = self.marked(view) {
            let lines = marked.len() as u64;
            facts.push(format!("{} line{} marked", text::count(lines), if lines == 1 { "" } else { "s" }));
        }
        if let Some(blame) = self.blame.as_ref().filter(|_| self.mode(view) == Some(Mode::Source)) {
            facts.extend(self.author(view).map(|step| text::fit(&step.title, 50)));
            facts.push(blame.message());
            return text::sanitize(&facts.join(glyph::separator())).into_owned();
        }
        let lfs_fact = self.lfs_fact(view);
        let is_pointer = lfs_fact.is_some() && !self.is_lfs_file(view);
        facts.extend(lfs_fact);
        if let Some((_, received, size)) = self.partial.as_ref().filter(|_| self.is_partial(view)) {
            facts.push(text::bytes_of(*received, *size));
        }
        match self.content(view) {
            // The size of a pointer would be taken for that of the file.
            _ if is_pointer => {}
            Some(Content::Text(lines)) => {
                let one = lines.len() == 1;
                facts.push(format!("{} line{}", text::count(lines.len() as u64), if one { "" } else { "s" }));
                facts.push(text::bytes(lines.bytes_len() as u64));
                facts.extend(lines.encoding().map(str::to_owned));
                facts.extend(lines.is_crlf().then(|| "CRLF".to_owned()));
                let language = self.highlighter.as_ref().and_then(|(_, h)| h.language());
                facts.extend(language.map(|l| l.name().to_owned()));
            }
            Some(Content::Binary(bytes)) => {
                facts.push(text::bytes(bytes.len() as u64));
                facts.push(match self.picture(view) {
                    Some(Ok(image)) => format!("{} image {}×{}", image.format.name(), image.width, image.height),
                    _ => file_type::kind(bytes),
                });
            }
            None => {}
        }
        if self.chosen == Some(Mode::Hex) {
            facts.push("hex".into());
        }
        text::sanitize(&facts.join(glyph::separator())).into_owned()
    }

    /// Draws the file below its title.
    pub fn draw(&self, view: &View, project: &Id, area: Rect, buf: &mut Buffer, focused: bool) {
        self.area.set(area);
        let Some(file) = &self.file else { return };
        let error = view.store.get(&Self::raw(project, file)).error;
        match error {
            Some(error) if self.content(view).is_none() => list::draw_error(view, area, buf, error),
            None if self.content(view).is_none() => match self.part(view, project) {
                // An image or another file that is not text is shown once all of it is there.
                Some((_, part)) => {
                    let fraction = part.size.map(|size| part.received as f64 / size.max(1) as f64);
                    let label = text::bytes_of(part.received, part.size);
                    chart::progress(buf, area, view.theme, fraction, &label);
                }
                None => state::skeleton(buf, area, view.theme),
            },
            error => {
                let area = list::draw_error_line(view, area, buf, error.filter(|_| self.is_partial(view)));
                self.draw_shown(view, area, buf, focused);
            }
        }
    }

    /// Draws a file whose content is available, whatever its source.
    pub fn draw_shown(&self, view: &View, area: Rect, buf: &mut Buffer, focused: bool) {
        self.area.set(area);
        let (Some(file), Some(id), Some(content)) = (&self.file, self.id(view), self.content(view)) else { return };
        if content.bytes().is_empty() {
            return view.draw_empty(buf, area, "This file is empty.", "");
        }
        let found = self.found(view);
        let current = found.and_then(|f| f.matches.get(self.current?));
        let theme = view.theme;
        match (self.mode(view), content) {
            (Some(Mode::Source), Content::Text(text)) => {
                let piece: Cell<Option<(usize, Option<&HighlightedLines>)>> = Cell::new(None);
                let spans = |line: usize| {
                    let start = line / Highlights::PIECE * Highlights::PIECE;
                    let highlighted = match piece.get() {
                        Some((at, highlighted)) if at == start => highlighted,
                        _ => view.store.result::<HighlightedLines>(&work::color_key(&id, &file.path, start)),
                    };
                    piece.set(Some((start, highlighted)));
                    highlighted.and_then(|h| h.lines.get(line - start))
                };
                let numbers = code::gutter(text) as u16;
                let columns = if self.blame.is_some() { blame_columns(area.width) } else { 0 };
                let gutter = numbers + columns;
                let lines = self.marked(view);
                doc::draw(buf, area, theme, focused, &self.doc, text.len(), gutter, &|line| {
                    let mut built = code::draw(text, line, spans(line), theme);
                    if let Some(blame) = &self.blame {
                        let begins = line == self.doc.top()
                            || blame.owner(line) != line.checked_sub(1).and_then(|l| blame.owner(l));
                        built.gutter.spans.insert(0, blame_cell(view, blame.owner(line), begins, columns).into());
                    }
                    if lines.as_ref().is_some_and(|lines| lines.contains(&line)) {
                        built.mark(theme);
                    }
                    with_matches(theme, found, current, line, built)
                });
            }
            (Some(Mode::Rendered), _) => match self.rendered(view) {
                Some(rendered) => {
                    doc::draw(buf, area, theme, focused, &self.doc, rendered.lines.len(), 1, &|line| {
                        let built = rendered.lines.get(line).cloned().unwrap_or_default();
                        with_matches(theme, found, current, line, built)
                    });
                    self.images.draw(view, area, buf, &self.doc, 1, rendered);
                }
                None => state::skeleton(buf, area, theme),
            },
            (Some(Mode::Table), _) => match self.table(view) {
                Some(table) => {
                    let heading = Rect { height: 1, ..area };
                    let still = DocState { left: self.doc.left, cursor_line: false, ..DocState::default() };
                    doc::draw(buf, heading, theme, focused, &still, 1, table.gutter(), &|_| table.line(0));
                    let body = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
                    let len = table.len().saturating_sub(1);
                    doc::draw(buf, body, theme, focused, &self.doc, len, table.gutter(), &|record| {
                        with_matches(theme, found, current, record, table.line(record + 1))
                    });
                }
                None => state::skeleton(buf, area, theme),
            },
            (Some(Mode::Picture), _) => match (self.picture(view), self.fitted(view)) {
                (Some(Err(refusal)), _) => {
                    view.draw_empty(buf, area, &format!("{refusal}."), "‹.mode› shows its bytes, ‹.save› saves it");
                }
                (_, Some(picture)) => {
                    let (columns, rows) = (picture.columns.min(area.width), picture.rows.min(area.height));
                    let x = area.x + (area.width - columns) / 2;
                    let y = area.y + (area.height - rows) / 2;
                    view.images.show(buf, Rect { x, y, width: columns, height: rows }, theme, picture);
                }
                _ => state::skeleton(buf, area, theme),
            },
            _ => {
                let bytes = content.bytes();
                doc::draw(buf, area, theme, focused, &self.doc, hex::rows(bytes.len()), hex::GUTTER, &|row| {
                    hex::line(bytes, row)
                });
            }
        }
    }
}

/// Returns the width of the blame column.
fn blame_columns(width: u16) -> u16 {
    match width {
        0..60 => 12,
        60..100 => 20,
        _ => 30,
    }
}

/// Returns the blame of a line: hash, author and age, as far as they fit, only on the first line of a run.
fn blame_cell(view: &View, step: Option<&BlameStep>, begins: bool, columns: u16) -> (String, Style) {
    let columns = usize::from(columns);
    let Some(step) = step else {
        return (text::pad(glyph::skeleton(), columns), view.theme.style(Role::Faint));
    };
    if !begins {
        return (" ".repeat(columns), view.theme.style(Role::Dim));
    }
    let age = dates::age(view, step.when.as_ref());
    let hash = if columns >= 30 { format!("{} ", text::head(&step.sha, 8)) } else { String::new() };
    let room = columns.saturating_sub(hash.len() + 7);
    let words = format!("{hash}{} {}  ", text::pad(&step.author, room), text::pad_left(&age, 4));
    (words, view.theme.style(Role::Dim))
}

/// Adds the search matches to a line.
fn with_matches<'a>(
    theme: &Theme,
    found: Option<&Matches>,
    current: Option<&Match>,
    line: usize,
    built: DocLine<'a>,
) -> DocLine<'a> {
    let Some(found) = found else { return built };
    let role = |hit: &Match| if Some(hit) == current { Role::MatchCurrent } else { Role::Match };
    let marks = found.on(line).iter().map(|hit| (hit.range.clone(), theme.style(role(hit)))).collect();
    DocLine { marks, ..built }
}
