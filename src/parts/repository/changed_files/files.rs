//! The list of changed files: how it is drawn, and which files were viewed.

use super::tree::Node;
use super::{Changes, DIFF, FILES, PANEL_WIDTHS};
use crate::app::action::Action;
use crate::app::context::Cx;
use crate::app::state::{SeenChange, ViewedFiles};
use crate::app::view::View;
use crate::parts::repository::staging_area::ChangeKind;
use crate::ui::diff::{DiffDoc, FileDiff, RowContent};
use crate::ui::line::Line;
use crate::ui::panels::PanelRequest;
use crate::ui::table::{self, Size, TableColumn, TableRow};
use crate::ui::theme::Role;
use crate::ui::{glyph, panels, state, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::borrow::Cow;

/// The number of columns between the columns of the list, and at both of its ends.
const GAP: usize = 2;
const MARGINS: usize = 3;
/// The number of columns of the marks before a name.
const MARKS_WIDTH: usize = 4;
/// The width of a name, with its marks, up to which the diff gives way to it.
const MAX_NAME_WIDTH: usize = 60;
/// The maximum width of a number beside a file, in columns.
const MAX_NUMBER_WIDTH: usize = 12;
/// The number of steps of the progress bar.
const BAR_STEPS: usize = 8;

/// Returns the number of columns of numbers beside the names.
fn beside_names(widths: &[usize]) -> usize {
    widths.iter().filter(|width| **width > 0).map(|width| width + GAP).sum()
}

/// Returns the key of the viewed mark of a file. A deleted and an added file may have the same path.
pub fn mark_key(path: &str, is_deleted: bool) -> Cow<'_, str> {
    if is_deleted { format!("{path} (deleted)").into() } else { path.into() }
}

fn key_of(file: &FileDiff) -> Cow<'_, str> {
    mark_key(file.path(), file.source.is_deleted)
}

/// Returns the viewed mark for the identity of a file, with the commit if the server did not send its diff.
pub fn mark(identity: u64, commit: Option<&str>) -> u64 {
    let bytes = commit.unwrap_or_default().bytes();
    bytes.fold(identity, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// The files that the user has viewed.
#[derive(Default)]
pub(super) struct Viewed {
    /// Their marks, by the keys of the files.
    files: ViewedFiles,
    /// The number of those that are shown.
    count: usize,
    /// The key under which they are saved.
    key: String,
}

impl Changes {
    /// Sets the key that the viewed files are stored under, and loads them.
    pub fn load_viewed_marks(&mut self, view: &View, key: &str) {
        if self.viewed.key != key {
            self.viewed.key = key.to_owned();
            self.viewed.files = view.seen.viewed.get(key).cloned().unwrap_or_default();
            self.count_viewed();
        }
    }

    /// Returns a hash of the file's content, which changes with it. For a diff that the server did not send, it
    /// includes the commit.
    fn content(&self, file: &FileDiff) -> u64 {
        let commit = self.expansions.revisions.as_ref().filter(|_| file.lines.is_empty() || file.is_local);
        let commit = commit.map(|revisions| revisions.new.as_str());
        let in_all_changes = file.since.as_ref().and_then(|since| since.mark);
        in_all_changes.unwrap_or_else(|| mark(if file.is_local { 0 } else { file.identity }, commit))
    }

    /// Keeps the marks of files that nobody changed since: each has a key and a mark before and now.
    pub fn carry_viewed_marks(&mut self, marks: &[[(String, u64); 2]], cx: &mut Cx) {
        let moves = |[(old_key, old), (key, now)]: &&[(String, u64); 2]| {
            self.viewed.files.get(old_key) == Some(old) && self.viewed.files.get(key) != Some(now)
        };
        let moved: Vec<_> = marks.iter().filter(moves).collect();
        if moved.is_empty() || self.viewed.key.is_empty() {
            return;
        }
        // A path may be the new one of one file and the old one of another.
        moved.iter().for_each(|[(old_key, _), _]| _ = self.viewed.files.remove(old_key));
        self.viewed.files.extend(moved.into_iter().map(|[_, now]| now.clone()));
        self.save_viewed(cx);
    }

    /// Counts and saves the viewed files.
    fn save_viewed(&mut self, cx: &mut Cx) {
        self.count_viewed();
        if !self.viewed.key.is_empty() {
            let (changes, files) = (self.viewed.key.clone(), self.viewed.files.clone());
            cx.act(Action::Seen(SeenChange::Viewed { changes, files }));
        }
    }

    /// Returns whether a file was viewed, but has another content now.
    fn has_changed_since_viewed(&self, file: &FileDiff) -> bool {
        self.viewed.files.contains_key(key_of(file).as_ref()) && !self.is_viewed(file)
    }

    pub(super) fn is_viewed(&self, file: &FileDiff) -> bool {
        file.is_reviewed()
            || self.viewed.files.get(key_of(file).as_ref()).is_some_and(|identity| *identity == self.content(file))
    }

    /// Toggles the file as viewed; after marking it, moves to the next unviewed file.
    pub fn toggle_viewed(&mut self, cx: &mut Cx) {
        let Some(at) = self.file() else { return };
        let Some(file) = self.doc.as_ref().and_then(|doc| doc.files().get(at)).cloned() else { return };
        let viewed = !self.is_viewed(&file);
        if viewed {
            self.viewed.files.insert(key_of(&file).into_owned(), self.content(&file));
        } else {
            self.viewed.files.remove(key_of(&file).as_ref());
        }
        self.save_viewed(cx);
        let row = self.doc.as_mut().and_then(|doc| {
            doc.fold(at, viewed);
            doc.row(RowContent::File { file: at })
        });
        self.selection.start = None;
        self.go_to(row, false);
        if viewed {
            self.next_unviewed();
        }
    }

    /// Moves to the next unviewed file, wrapping around; returns `false` if there is none.
    pub fn next_unviewed(&mut self) -> bool {
        let Some(doc) = &self.doc else { return false };
        let files = doc.files();
        let at = self.file().unwrap_or(0);
        let order = (at + 1..files.len()).chain(0..=at);
        let next = order.into_iter().find(|next| files.get(*next).is_some_and(|file| !self.is_viewed(file)));
        let row = next.and_then(|file| doc.row(RowContent::File { file }));
        self.go_to(row, true);
        row.is_some()
    }

    /// Counts the viewed files, so that drawing does not have to.
    fn count_viewed(&mut self) {
        let files = self.doc.as_ref().map(DiffDoc::files).unwrap_or_default();
        self.viewed.count = files.iter().filter(|file| self.is_viewed(file)).count();
    }

    /// Rebuilds the rows of the tree after a change of the filter, the folding or the files.
    pub(super) fn rebuild_tree(&mut self) {
        self.count_viewed();
        let Some(doc) = &self.doc else { return };
        self.tree.rebuild(doc.files());
        self.measure_numbers();
    }

    /// Folds the files without anything to review.
    pub(super) fn fold_reviewed(&mut self) {
        let files = self.doc.as_ref().map(DiffDoc::files).unwrap_or_default();
        if self.tree.fold_reviewed(files) {
            self.rebuild_tree();
        }
    }

    /// Folds or unfolds the selected folder, or only does the one that `open` selects; returns `false` if nothing
    /// changed.
    pub(super) fn fold_folder(&mut self, open: Option<bool>) -> bool {
        let is_changed = self.tree.fold(open);
        if is_changed {
            self.rebuild_tree();
        }
        is_changed
    }

    /// Measures the numbers beside the files, so that names get what is left.
    pub(super) fn measure_numbers(&mut self) {
        let mut widths = [if self.search.query.is_empty() { 2 } else { 4 }, 0, 0];
        for (at, file) in self.files().iter().enumerate() {
            for (width, number) in widths.iter_mut().zip(self.numbers(at, file)) {
                *width = number.width().clamp(*width, MAX_NUMBER_WIDTH);
            }
        }
        self.tree.number_widths = widths;
        let name = |node: &Node| match node {
            Node::Folder { label, depth, .. } | Node::File { label, depth, .. } => {
                2 * depth + MARKS_WIDTH + text::width(label.rsplit('/').next().unwrap_or(label))
            }
        };
        self.tree.name_width = self.tree.nodes.iter().map(name).max().unwrap_or(0);
    }

    /// Returns the title of the list: the number of files and of viewed files, and the total of added and removed
    /// lines.
    fn summary(&self, doc: &DiffDoc) -> (String, String) {
        let (all, viewed) = (doc.files().len(), self.viewed.count);
        let count = match (self.tree.filter.is_empty(), viewed) {
            (false, _) => format!("{}/{} /{}", self.tree.shown.len(), text::count(all as u64), self.tree.filter),
            (true, 0) => text::count(all as u64),
            (true, viewed) => {
                let full = viewed * BAR_STEPS / all.max(1);
                let bar = glyph::full().repeat(full) + &glyph::left().repeat(BAR_STEPS - full);
                format!("{viewed}/{} viewed {bar}", text::count(all as u64))
            }
        };
        let (came, gone) = (text::count(doc.additions() as u64), text::count(doc.deletions() as u64));
        (format!("Files {count}"), format!("{} {}", glyph::additions(came), glyph::deletions(gone)))
    }

    /// Returns the widths of the panels. The diff gives way to names and numbers of the list, down to its minimum.
    pub(super) fn widths(&self, width: u16) -> Vec<PanelRequest> {
        let [added, removed, comments] = self.tree.number_widths;
        let numbers = beside_names(&[added + usize::from(removed > 0) + removed, comments]);
        let needed = (MARGINS + self.tree.name_width.min(MAX_NAME_WIDTH) + numbers) as u16;
        let mut widths = self.panels.giving_way(width, &PANEL_WIDTHS, FILES, needed);
        if let (Some(files), [least, _]) = (widths.get_mut(FILES), PANEL_WIDTHS) {
            files.min = files.min.min(needed.max(least.min));
        }
        widths
    }

    pub(super) fn draw_files(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let focused = self.panels.focus() == FILES && !self.beside.is_focused;
        let Some(doc) = &self.doc else {
            let body = panels::title(buf, area, view.theme, focused, "Files", "");
            return state::skeleton(buf, body, view.theme);
        };
        let (left, right) = self.summary(doc);
        let mut body = panels::title(buf, area, view.theme, focused, &left, &right);
        if let Some((summary, role)) = self.report_summary(body.width).filter(|_| body.height > 3) {
            body.height -= 1;
            let at = Rect { y: body.bottom(), height: 1, ..body };
            Line::new(summary, role).draw(buf, at, view.theme);
        }
        if self.tree.shown.is_empty() {
            return view.draw_empty(buf, body, "No file matches the filter.", "‹seek› changes it, ‹escape› clears it");
        }
        let [added, removed, comments] = self.tree.number_widths;
        let inner = usize::from(body.width).saturating_sub(MARGINS);
        let widths = [added + usize::from(removed > 0) + removed, comments];
        let room = match glyph::is_accessible() {
            true => usize::MAX,
            false => inner.saturating_sub(beside_names(&widths)),
        };
        let name = TableColumn::new("", Size::Fill { min: 12, weight: 1 });
        let shown_widths = widths.iter().filter(|width| **width > 0);
        let number = |width: &usize| TableColumn::new("", Size::Fixed(*width as u16)).right();
        let columns: Vec<TableColumn> = [name].into_iter().chain(shown_widths.map(number)).collect();
        let shown = |name: Line<'static>, [plus, minus, count]: [Line<'static>; 3]| {
            let mut lines = plus;
            let gap = if glyph::is_accessible() { 1 } else { (removed + 1).saturating_sub(minus.width()) };
            if removed > 0 {
                lines.push(" ".repeat(gap), Role::Text);
                lines.extend(minus);
            }
            let cells = widths.iter().zip([lines, count]).filter(|(width, _)| **width > 0).map(|(_, cell)| cell);
            TableRow::new([name].into_iter().chain(cells).collect())
        };
        let row = |index: usize| match self.tree.nodes.get(index) {
            Some(Node::Folder { label, depth, path, files }) => {
                let mark = if self.tree.folded.contains(path) { glyph::folded() } else { glyph::unfolded() };
                let indent = "  ".repeat(*depth);
                let name = Line::new(format!("{indent}{mark} "), Role::Dim).and(label.clone(), Role::Dim);
                let inside = if self.tree.folded.contains(path) { files.len().to_string() } else { String::new() };
                shown(name, [(inside, Role::Dim).into(), Line::empty(), Line::empty()])
            }
            Some(Node::File { file, label, depth }) => match doc.files().get(*file) {
                Some(diff) => shown(self.file_name(diff, (*depth, label), room), self.numbers(*file, diff)),
                None => TableRow::default(),
            },
            None => TableRow::default(),
        };
        table::draw(buf, body, view.theme, focused, &self.tree.list, &columns, self.tree.nodes.len(), &row);
    }

    /// Returns the name of a file in at most `room` columns, after its marks. The folder is cut, not the name.
    fn file_name(&self, file: &FileDiff, (depth, label): (usize, &str), room: usize) -> Line<'static> {
        let source = &file.source;
        let viewed = self.is_viewed(file);
        let (mark, mark_role) = match viewed {
            true => (glyph::or_word(glyph::done(), "viewed"), Role::Success),
            false if self.has_changed_since_viewed(file) => {
                (glyph::or_word(glyph::alive(), "changed since viewed"), Role::Accent)
            }
            false => (glyph::hollow(), Role::Dim),
        };
        let (letter, role) = match () {
            () if file.is_reviewed() => (glyph::or_word("=", "unchanged"), Role::Dim),
            () if source.is_new => ChangeKind::Create.sign(),
            () if source.is_deleted => ChangeKind::Delete.sign(),
            () if source.is_renamed => ChangeKind::Move.sign(),
            () => ChangeKind::Update.sign(),
        };
        let marks = Line::new(format!("{}{mark} ", "  ".repeat(depth)), mark_role).and(format!("{letter} "), role);
        let label = text::fit_folder(label, room.saturating_sub(marks.width()));
        let (folder, name) = label.split_at(label.rfind('/').map_or(0, |at| at + 1));
        marks.and(folder.to_owned(), Role::Dim).and(name.to_owned(), if viewed { Role::Dim } else { Role::Text })
    }

    /// Returns the numbers of a file: added and removed lines or, during a search, matches; and comments.
    fn numbers(&self, at: usize, file: &FileDiff) -> [Line<'static>; 3] {
        let comments = match self.tree.comments.get(&file.key()) {
            Some((count, is_unresolved)) => {
                let count = format!("{}{}", text::count(*count as u64), glyph::or_word("c", " comments"));
                Line::new(count, if *is_unresolved { Role::Warning } else { Role::Dim })
            }
            None => Line::empty(),
        };
        let (added, removed) = match (file.additions, file.deletions) {
            (0, 0) if file.is_reviewed() => (String::new(), String::new()),
            (0, 0) if let Some((word, _)) = file.note() => (word.to_owned(), String::new()),
            (added, 0) => (glyph::additions(added), String::new()),
            (0, removed) => (String::new(), glyph::deletions(removed)),
            (added, removed) => (glyph::additions(added), glyph::deletions(removed)),
        };
        let hits = self.search.found.as_ref().map_or(0, |found| found.count(at));
        if hits > 0 {
            return [(format!("{hits}×"), Role::Accent).into(), Line::empty(), comments];
        }
        let count_role = if file.additions > 0 { Role::Added } else { Role::Dim };
        [(added, count_role).into(), (removed, Role::Removed).into(), comments]
    }

    /// Moves the focus from the list to the diff of the selected file, or toggles the selected folder.
    pub(super) fn enter_list(&mut self) {
        if !self.fold_folder(None) {
            self.follow_list();
            self.panels.set_focus(DIFF);
        }
    }
}
