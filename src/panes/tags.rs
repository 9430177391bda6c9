//! Tags of a project, beside what they say and what they release.

use crate::api::Id;
use crate::api::tags::{CreateRelease, DeleteTag, GetTag, ListTags, Tag, UpdateRelease};
use crate::app::App;
use crate::app::action::Action;
use crate::app::command::{Command, Disabled, Motion};
use crate::app::overlay::composer::{Composer, Make};
use crate::app::pane::{Breadcrumb, Cx, Needs, Pane, Pointer, SearchMode, View};
use crate::app::place::Place;
use crate::parts::columns::{Columns, Field};
use crate::parts::list::{Listing, age};
use crate::parts::{forms, project, rendered_markdown};
use crate::store::{Cancelled, Derive, Load, Rows, Want, Work, Write};
use crate::ui::doc::{self, DocLine, DocState};
use crate::ui::panels::{self, PanelRequest, Panels};
use crate::ui::table::{Cell, Column, Row, Size};
use crate::ui::text::{self, shown};
use crate::ui::theme::{Role, Theme};
use crate::ui::{markdown, state};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::cell::Cell as Shared;
use std::hash::{DefaultHasher, Hash, Hasher};

const LIST: usize = 0;
const NOTES: usize = 1;
const ASKS: &[PanelRequest] = &[PanelRequest { min: 48, weight: 1 }, PanelRequest { min: 40, weight: 1 }];
/// Lines of an annotation that are shown: it is a text for a terminal, not a book.
const ANNOTATION: usize = 200;

const COLUMNS: Columns<Tag> = Columns {
    place: "tags",
    fields: &[
        Field::new("name", Column::new("tag", Size::Fit { min: 10, max: 30 }).middle()).server("name"),
        Field::new("release", Column::new("", Size::Fit { min: 0, max: 8 }).priority(1))
            .loaded(|a, b| b.release.is_some().cmp(&a.release.is_some())),
        Field::new("words", Column::new("says", Size::Fill { min: 24, weight: 1 }).priority(3)),
        Field::new("author", Column::new("by", Size::Fit { min: 4, max: 16 }).priority(4)),
        Field::new("SHA", Column::new("SHA", Size::Fixed(8)).priority(5)),
        Field::new("age", Column::new("when", Size::Fixed(4)).right().priority(2)).server("updated"),
    ],
    order: Some(("age", true)),
};

/// The list of tags.
pub struct Tags {
    project: Id,
    list: Listing,
    panels: Panels,
    /// The window into what the selected tag says, and the tag that it was scrolled for.
    notes: DocState,
    read: String,
    notes_area: Shared<Rect>,
}

/// What a tag says, as it is drawn: its annotation, which is plain text, above its release, which is Markdown.
struct Notes {
    key: String,
    annotation: String,
    release: Option<String>,
    width: usize,
    theme: Theme,
}

impl Notes {
    fn of(view: &View, tag: &Tag, width: usize) -> Notes {
        let annotation = tag.message.as_deref().map(str::trim).unwrap_or_default();
        let release = tag.release.as_ref().map(|release| release.description.as_deref().unwrap_or_default());
        let mut hasher = DefaultHasher::new();
        (annotation, release).hash(&mut hasher);
        let key = format!("what a tag says {:x} in {width} columns, {}", hasher.finish(), view.theme.name);
        let (annotation, release) = (annotation.to_owned(), release.map(str::to_owned));
        Notes { key, annotation, release, width, theme: view.theme.clone() }
    }
}

impl Derive for Notes {
    type Output = Vec<DocLine<'static>>;

    fn key(&self) -> String {
        self.key.clone()
    }

    fn run(&self, _: Cancelled<'_>) -> Vec<DocLine<'static>> {
        let style = self.theme.style(if self.release.is_some() { Role::Dim } else { Role::Text });
        let plain = self.annotation.lines().flat_map(|line| match line {
            "" => vec![String::new()],
            line => text::wrap(line, self.width, ANNOTATION),
        });
        let mut lines: Vec<DocLine> = plain.take(ANNOTATION).map(|line| DocLine::new(line, style)).collect();
        if let Some(release) = &self.release {
            if !lines.is_empty() {
                lines.push(DocLine::default());
            }
            lines.extend(markdown::render(release, self.width, &self.theme).lines);
        }
        lines
    }
}

impl Tags {
    fn query(&self, view: &View) -> ListTags {
        let order = COLUMNS.chosen(view).server();
        let order_by = order.map(|(word, _)| word.to_owned());
        ListTags { id: self.project.clone(), order_by, sort: order.map(|(_, way)| way.to_owned()) }
    }

    fn rows<'a>(&self, view: &View<'a>) -> Rows<'a, Tag> {
        view.store.list(&self.query(view))
    }

    fn current<'a>(&self, view: &View<'a>) -> Option<&'a Tag> {
        self.list.selected(&self.rows(view))
    }

    fn has_tag(&self, view: &View) -> Result<(), Disabled> {
        self.current(view).map(|_| ()).ok_or_else(|| "no tag is selected".into())
    }

    fn go(&mut self, pane: &str, cx: &mut Cx) {
        if let Some(tag) = self.current(&cx.view) {
            cx.go(Place::new(pane).project(self.project.clone()).at(tag.name.as_str()));
        }
    }

    fn commit(&mut self, cx: &mut Cx) {
        if let Some(commit) = self.current(&cx.view).and_then(|t| t.commit.as_ref()) {
            cx.go(Place::new("commit").project(self.project.clone()).item(&commit.id));
        }
    }

    fn delete(&mut self, cx: &mut Cx) {
        let Some(tag) = self.current(&cx.view) else { return };
        let name = tag.name.clone();
        let delete = DeleteTag { id: self.project.clone(), tag_name: name.clone() };
        let released = if tag.release.is_some() { " Its release goes with it." } else { "" };
        let question = format!("Delete the tag {} of {}?{released}", shown(&name), self.project);
        let send = Action::Send(Write::new(&delete, format!("delete tag {name}")));
        cx.act(App::confirm("Delete a tag", question, send));
    }

    /// What a person kept of a release that is not sent yet is kept under this.
    fn release_key(&self, name: &str) -> String {
        forms::refs::release_key(&self.project, name)
    }

    /// Writes the release of the tag, or changes it.
    fn release(&mut self, cx: &mut Cx) {
        let Some(tag) = self.current(&cx.view) else { return };
        let (id, name) = (self.project.clone(), tag.name.clone());
        let key = self.release_key(&name);
        let known = tag.release.as_ref().map(|release| release.description.clone().unwrap_or_default());
        let text = cx.view.drafts.get(&key).cloned().or_else(|| known.clone()).unwrap_or_default();
        let title = format!("Release {}", shown(&name));
        let get = GetTag { id: id.clone(), tag_name: name.clone() };
        let make: Make = Box::new(move |description, base| {
            let (id, tag_name, what) = (id.clone(), name.clone(), format!("release {name}"));
            match base {
                Some(_) => Write::new(&UpdateRelease { id, tag_name, description }, what),
                None => Write::new(&CreateRelease { id, tag_name, description }, what),
            }
        });
        let composer = Composer::new(title, key, &text, make).in_place_of(known, get, |tag| {
            tag.release.as_ref().map(|release| release.description.clone().unwrap_or_default())
        });
        cx.act(Action::Open(Box::new(composer)));
    }

    /// The tags to compare: two that are marked, the marked and the selected one, or the selected one with the next
    /// older in the list.
    fn pair(&self, view: &View) -> Option<(String, String)> {
        let rows = self.rows(view);
        let current = self.list.selected(&rows).map(|tag| tag.name.clone());
        let marked: Vec<&String> = self.list.state.marked().iter().collect();
        match marked.as_slice() {
            [] => Some((self.list.at(&rows, self.list.state.selected() + 1)?.name.clone(), current?)),
            [one] => Some(((*one).clone(), current.filter(|name| name != *one)?)),
            // The one further down is the older one.
            [a, b] => {
                let first = rows.iter().map(|tag| &tag.name).find(|name| name == a || name == b)?;
                let last = if first == *a { b } else { a };
                Some(((*last).clone(), first.clone()))
            }
            _ => None,
        }
    }

    fn compare(&mut self, cx: &mut Cx) {
        if let Some((from, to)) = self.pair(&cx.view) {
            cx.go(Place::new("compare").project(self.project.clone()).item(format!("{from}...{to}")));
        }
    }

    /// Columns of the notes; they are drawn in the whole screen between the lines of the frame.
    fn notes_width(&self, view: &View) -> usize {
        let places = self.panels.places(Rect::new(0, 0, view.size.0, view.size.1), ASKS);
        let width = places.get(NOTES).copied().flatten().map_or(0, |place| usize::from(place.width));
        width.saturating_sub(3).min(rendered_markdown::MEASURE)
    }

    fn made<'a>(&self, view: &View<'a>) -> Option<&'a Vec<DocLine<'static>>> {
        let notes = Notes::of(view, self.current(view)?, self.notes_width(view));
        view.store.made(&notes.key)
    }

    fn move_notes(&mut self, motion: Motion, view: &View) {
        let len = self.made(view).map_or(0, Vec::len);
        match motion {
            Motion::Left => self.panels.set_focus(LIST),
            other => other.window(&mut self.notes, len),
        }
    }

    fn draw_list(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let chosen = COLUMNS.chosen(view);
        let focused = self.panels.focus() == LIST;
        let area = panels::title(buf, area, view.theme, focused, "Tags", "");
        let marked = |tag: &Tag| self.list.state.is_marked(&tag.name);
        let draw = |tag: &Tag| chosen.row(row(view, tag).marked(marked(tag)));
        let empty = ("There are no tags yet.", "+ makes one");
        self.list.draw(view, area, buf, focused, &self.rows(view), &chosen.columns(), draw, empty);
    }

    fn draw_notes(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let Some(tag) = self.current(view) else { return };
        let focused = self.panels.focus() == NOTES;
        let kind = match (&tag.release, &tag.message) {
            (Some(_), _) => "release",
            (None, Some(message)) if !message.trim().is_empty() => "annotated",
            _ => "light",
        };
        let kept = view.drafts.contains_key(&self.release_key(&tag.name));
        let kind = if kept { format!("{kind}, a text is kept") } else { kind.to_owned() };
        let body = panels::title(buf, area, view.theme, focused, &shown(&tag.name), &kind);
        let body = Rect { x: body.x + 1, width: body.width.saturating_sub(1), ..body };
        self.notes_area.set(body);
        let Some(lines) = self.made(view) else { return state::skeleton(buf, body, view.theme) };
        if lines.is_empty() {
            let words = tag.commit.as_ref().map_or("", |commit| &commit.title);
            return state::empty(buf, body, view.theme, words, "It says nothing itself; e writes its release");
        }
        doc::draw(buf, body, view.theme, focused, &self.notes, lines.len(), 0, |index| {
            lines.get(index).map(DocLine::borrowed).unwrap_or_default()
        });
    }
}

fn row(view: &View, tag: &Tag) -> Row {
    let commit = tag.commit.as_ref();
    let message = tag.message.as_deref().and_then(|m| m.lines().next()).filter(|m| !m.is_empty());
    // A light tag says nothing itself: the title of its commit stands for it, quietly.
    let words = match (message, commit) {
        (Some(message), _) => Cell::from((message.to_owned(), Role::Text)),
        (None, Some(commit)) => Cell::from((commit.title.clone(), Role::Dim)),
        (None, None) => Cell::empty(),
    };
    let note = if tag.release.is_some() { "release" } else { "" };
    let made = tag.created_at.as_ref().or_else(|| commit.and_then(|c| c.when()));
    Row::new(vec![
        Cell::from((tag.name.clone(), Role::Ref)),
        Cell::from((note, Role::Success)),
        words,
        Cell::from((commit.map(|c| c.author_name.clone()).unwrap_or_default(), Role::User)),
        Cell::from((commit.map(|c| c.short().to_owned()).unwrap_or_default(), Role::Dim)),
        Cell::from((age(view, made), Role::Dim)),
    ])
}

impl Pane for Tags {
    const ID: &'static str = "tags";
    const TITLE: &'static str = "Tags of a project";
    const NEEDS: Needs = Needs::Project;
    const COMMANDS: &'static [Command<Self>] = &[
        Command::new("tags.open", &["Enter"], "Browse its files", |pane: &mut Self, cx| pane.go("files", cx))
            .footer("files")
            .when(Self::has_tag),
        Command::new("tags.commits", &["H"], "Commits up to it", |pane: &mut Self, cx| pane.go("commits", cx))
            .footer("commits")
            .when(Self::has_tag),
        Command::new("tags.commit", &["d"], "Its commit", Self::commit).footer("commit").when(Self::has_tag),
        Command::new("tags.order", &["s"], "Order by name: up, down, or by date again", |_: &mut Self, cx| {
            COLUMNS.turn("name", cx);
        }),
        Command::new("tags.columns", &["|"], "Choose columns, and what sorts", |_: &mut Self, cx| COLUMNS.open(cx)),
        Command::new("tags.release", &["e"], "Write its release, or change it", Self::release)
            .writes()
            .footer("release")
            .when(Self::has_tag),
        Command::new("tags.mark", &["Space"], "Mark it", |pane: &mut Self, cx| {
            if let Some(tag) = pane.current(&cx.view) {
                pane.list.state.toggle_mark(tag.name.as_str());
            }
            pane.list.motion(Motion::Down, pane.list.len(&pane.rows(&cx.view)));
        })
        .when(Self::has_tag),
        Command::new("tags.compare", &["="], "Compare: two marked ones, or it with the one below", Self::compare)
            .footer("compare")
            .when(|pane, view| pane.pair(view).map(|_| ()).ok_or_else(|| "mark another one with Space".into())),
        Command::new("tags.create", &["+"], "New tag", |pane: &mut Self, cx| {
            let at = project::default_branch(&cx.view, &pane.project).unwrap_or("HEAD");
            forms::refs::create_tag(&pane.project, at).open(cx);
        })
        .writes(),
        Command::new("tags.delete", &["D"], "Delete it", Self::delete).writes().when(Self::has_tag),
    ];

    fn open(place: &Place, _view: &View) -> Self {
        let project = place.project.clone().unwrap_or_default();
        let mut list = Listing::default();
        if let Some(name) = &place.git_ref {
            list.reveal(name.as_str());
        }
        Tags {
            project,
            list,
            panels: Panels::new(2),
            notes: DocState { cursor_line: false, ..DocState::new() },
            read: String::new(),
            notes_area: Shared::default(),
        }
    }

    fn place(&self) -> Place {
        Place::new(Self::ID).project(self.project.clone())
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        let mut breadcrumbs = project::breadcrumbs(view, &self.project);
        breadcrumbs.push(Breadcrumb::new("tags", Role::Dim));
        let rows = self.rows(view);
        breadcrumbs.extend(self.list.breadcrumbs(&rows));
        breadcrumbs.extend(COLUMNS.chosen(view).breadcrumb(&rows));
        breadcrumbs
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        let mut wants = vec![project::want(&self.project), Load::list(&self.query(view), self.list.pages()).into()];
        let width = self.notes_width(view);
        if let Some(tag) = self.current(view).filter(|_| width > 0) {
            let notes = Notes::of(view, tag, width);
            wants.extend(view.store.lacks(&notes.key).then(|| Work::new(notes).into()));
        }
        wants
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        // What is not drawn cannot be pressed.
        self.list.drawn_at(Rect::default());
        self.notes_area.set(Rect::default());
        let places = self.panels.layout(area, ASKS);
        if let Some(place) = places.get(LIST).copied().flatten() {
            self.draw_list(view, place, buf);
        }
        if let Some(place) = places.get(NOTES).copied().flatten() {
            self.draw_notes(view, place, buf);
        }
        self.panels.rules(buf, view.theme);
    }

    fn changed(&mut self, cx: &mut Cx) {
        let rows = self.rows(&cx.view);
        self.list.narrow(&rows, |tag, words| {
            let says = |text: &str| text.to_lowercase().contains(words);
            says(&tag.name) || tag.message.as_deref().is_some_and(says)
        });
        COLUMNS.chosen(&cx.view).sort(&mut self.list, &rows);
        self.list.sync(&rows, |tag| tag.name.clone());
        let current = self.list.selected(&rows).map_or("", |tag| tag.name.as_str());
        if current != self.read {
            self.read = current.to_owned();
            self.notes.first();
            self.notes.top.set(0);
        }
    }

    fn motion(&mut self, motion: Motion, cx: &mut Cx) {
        if self.panels.focus() == NOTES {
            return self.move_notes(motion, &cx.view);
        }
        match motion {
            Motion::Right => self.go("files", cx),
            Motion::Left => {}
            other => self.list.motion(other, self.list.len(&self.rows(&cx.view))),
        }
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        let at = match pointer {
            Pointer::Press { column, row, .. } | Pointer::Wheel { column, row, .. } => Some((column, row)),
            _ => None,
        };
        let in_notes = at.is_some_and(|at| self.notes_area.get().contains(at.into()));
        match pointer {
            Pointer::Wheel { rows, .. } if in_notes => self.move_notes(Motion::Wheel(rows), &cx.view),
            Pointer::Press { .. } if in_notes => self.panels.set_focus(NOTES),
            _ => {
                if matches!(pointer, Pointer::Press { .. }) {
                    self.panels.set_focus(LIST);
                }
                if COLUMNS.pressed(&self.list, pointer, cx) {
                    return;
                }
                if self.list.pointer(pointer, self.list.len(&self.rows(&cx.view))) {
                    self.go("files", cx);
                }
            }
        }
    }

    fn panels(&mut self) -> Option<&mut Panels> {
        Some(&mut self.panels)
    }

    fn search_mode(&self) -> Option<SearchMode> {
        Some(SearchMode::Filter)
    }

    fn filter_text(&self) -> String {
        self.list.filter_text().to_owned()
    }

    fn set_filter_text(&mut self, text: &str, cx: &mut Cx) {
        let here = self.current(&cx.view).map(|tag| tag.name.clone());
        self.list.seek(text, here);
    }

    fn escape(&mut self, cx: &mut Cx) -> bool {
        if self.panels.focus() == NOTES {
            self.panels.set_focus(LIST);
            return true;
        }
        let here = self.current(&cx.view).map(|tag| tag.name.clone());
        if self.list.clear_filter(here) {
            return true;
        }
        let marked = !self.list.state.marked().is_empty();
        self.list.state.clear_marks();
        marked
    }

    fn answer(&mut self, tag: &'static str, value: String, _cx: &mut Cx) {
        if tag == forms::refs::MADE {
            self.list.reveal_new(value);
        }
    }

    fn url(&self, view: &View) -> Option<String> {
        let tag = self.current(view)?;
        Some(project::page(view, &self.project, &format!("/-/tags/{}", project::path(&tag.name))))
    }

    fn copies(&self, view: &View) -> Vec<(&'static str, String)> {
        let Some(tag) = self.current(view) else { return Vec::new() };
        let mut copies = vec![("name", tag.name.clone())];
        copies.extend(tag.commit.as_ref().map(|c| ("SHA", c.id.clone())));
        copies
    }
}
