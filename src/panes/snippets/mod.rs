//! Snippets of a project: a list beside the text, what people say of it, and where it came from.

mod text;
mod write;

use crate::api::Id;
use crate::api::snippets::{DeleteSnippet, GetSnippet, GetUserAgentDetail, ListSnippets, Snippet};
use crate::app::App;
use crate::app::action::{Action, Tone};
use crate::app::command::{Command, Disabled, Motion};
use crate::app::outbox::Noteable;
use crate::app::pane::{Breadcrumb, Cx, Needs, Pane, Pointer, SearchMode, Tabs, View};
use crate::app::place::Place;
use crate::parts::forms::{self, snippet as form};
use crate::parts::list::{self, Listing, age};
use crate::parts::notes::Notes;
use crate::parts::project;
use crate::store::{Load, Rows, Want, Write};
use crate::ui::line;
use crate::ui::panels::{self, PanelRequest, Panels};
use crate::ui::table::{Cell, Column, Row, Size};
use crate::ui::text::{pad, shown};
use crate::ui::theme::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::cell::Cell as Shared;
use text::SnippetView;

const LIST: usize = 0;
const BODY: usize = 1;
const ASKS: &[PanelRequest] = &[PanelRequest { min: 30, weight: 2 }, PanelRequest { min: 50, weight: 5 }];
const TITLES: &[&str] = &["Text", "Notes", "Details"];
const NAMES: &[&str] = &["text", "notes", "details"];
const TEXT: usize = 0;
const NOTES: usize = 1;
const DETAILS: usize = 2;

/// The snippets of a project.
pub struct Snippets {
    project: Id,
    list: Listing,
    /// One that was asked for by its number, wherever it is in the list.
    asked: Option<u64>,
    tab: usize,
    panels: Panels,
    text: SnippetView,
    notes: Notes,
    /// The snippet whose notes are shown.
    shown: Option<u64>,
    body: Shared<Rect>,
}

impl Snippets {
    fn query(&self) -> ListSnippets {
        ListSnippets { id: self.project.clone() }
    }

    fn rows<'a>(&self, view: &View<'a>) -> Rows<'a, Snippet> {
        view.store.list(&self.query())
    }

    fn one(&self, snippet_id: u64) -> GetSnippet {
        GetSnippet { id: self.project.clone(), snippet_id }
    }

    /// The snippet under the cursor, or the one that was asked for until it is found in the list.
    fn current<'a>(&self, view: &View<'a>) -> Option<&'a Snippet> {
        let selected = self.list.selected(&self.rows(view));
        match self.asked.filter(|asked| selected.is_none_or(|snippet| snippet.id != *asked)) {
            Some(asked) => view.store.get(&self.one(asked)).value,
            None => selected,
        }
    }

    fn has_snippet(&self, view: &View) -> Result<(), Disabled> {
        self.current(view).map(|_| ()).ok_or_else(|| "no snippet is selected".into())
    }

    fn may_write(&self, view: &View) -> Result<(), Disabled> {
        forms::signed_in(view)?;
        self.has_snippet(view)
    }

    fn has_note(&self, view: &View) -> Result<(), Disabled> {
        self.may_write(view)?;
        if self.tab == NOTES { self.notes.has_note(view) } else { Err("there is no note under the cursor".into()) }
    }

    /// What `e` and `D` mean is the note among the notes, else the snippet.
    fn may_change(&self, view: &View) -> Result<(), Disabled> {
        self.may_write(view)?;
        if self.on_note() { self.notes.has_own(view) } else { Ok(()) }
    }

    fn enter(&mut self, _cx: &mut Cx) {
        self.panels.set_focus(BODY);
    }

    fn on_note(&self) -> bool {
        self.tab == NOTES && self.panels.focus() == BODY
    }

    fn edit(&mut self, outside: bool, cx: &mut Cx) {
        let Some(snippet) = self.current(&cx.view) else { return };
        match self.on_note() {
            true => self.notes.edit(cx),
            false => write::open(&self.project, snippet, outside, cx),
        }
    }

    fn delete(&mut self, cx: &mut Cx) {
        let Some(snippet) = self.current(&cx.view) else { return };
        if self.on_note() {
            return self.notes.delete(cx);
        }
        let delete = DeleteSnippet { id: self.project.clone(), snippet_id: snippet.id };
        let question = format!(
            "Delete the snippet ${} \"{}\" with its notes? This cannot be undone.",
            snippet.id,
            shown(&snippet.title)
        );
        let write = Write::new(&delete, format!("delete snippet ${}", snippet.id));
        cx.act(App::confirm("Delete a snippet", question, Action::Send(write)));
    }

    fn comment(&mut self, reply: bool, cx: &mut Cx) {
        self.notes.comment(reply, cx);
        self.tab = NOTES;
    }

    fn agent(&self, snippet: u64) -> GetUserAgentDetail {
        GetUserAgentDetail { id: self.project.clone(), snippet_id: snippet }
    }

    fn draw_details(&self, view: &View, area: Rect, buf: &mut Buffer, snippet: &Snippet) {
        let theme = view.theme;
        let mut lines: Vec<(&str, String, Role)> = vec![
            ("title", snippet.title.clone(), Role::Title),
            ("file", snippet.file_name.clone().unwrap_or_default(), Role::Text),
            ("visibility", snippet.visibility.clone().unwrap_or_default(), Role::Text),
            (
                "author",
                snippet.author.as_ref().map(|a| format!("{} @{}", a.name, a.username)).unwrap_or_default(),
                Role::User,
            ),
            ("created", list::ago(&age(view, snippet.created_at.as_ref())), Role::Text),
            ("changed", list::ago(&age(view, snippet.updated_at.as_ref())), Role::Text),
            ("page", snippet.web_url.clone(), Role::Link),
            ("raw", snippet.raw_url.clone().unwrap_or_default(), Role::Link),
        ];
        let files = snippet.files.iter().flatten().map(|file| ("", file.path.clone(), Role::Text));
        lines.extend(files);
        lines.retain(|(_, words, _)| !words.is_empty());
        let width = usize::from(area.width.saturating_sub(14)).clamp(20, 100);
        let description = crate::ui::text::wrap(snippet.description.as_deref().unwrap_or_default(), width, 12);
        for (index, words) in description.into_iter().enumerate() {
            lines.push((if index == 0 { "about" } else { "" }, words, Role::Text));
        }
        let reply = view.store.get(&self.agent(snippet.id));
        match (reply.value, reply.error) {
            (Some(agent), _) => {
                lines.push(("", String::new(), Role::Text));
                lines.push(("user agent", agent.user_agent.clone(), Role::Text));
                lines.push(("address", agent.ip_address.clone(), Role::Text));
                let checked = if agent.spam_check_submitted { "yes" } else { "no" };
                lines.push(("spam check", checked.into(), Role::Text));
            }
            (None, Some(error)) => {
                lines.push(("", String::new(), Role::Text));
                lines.push(("user agent", format!("{}: {}", error.title(), error.said()), Role::Dim));
                lines.push(("", "Where a snippet was made from is for administrators.".into(), Role::Dim));
            }
            (None, None) => {}
        }
        for (y, (name, words, role)) in (area.y..area.bottom()).zip(lines) {
            let at = Rect { x: area.x + 1, y, width: area.width.saturating_sub(2), height: 1 };
            line::draw(
                buf,
                at,
                &[(pad(name, 12), theme.style(Role::Dim)), (shown(&words).into_owned(), theme.style(role))],
            );
        }
    }

    fn draw_body(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let focused = self.panels.focus() == BODY;
        let Some(snippet) = self.current(view) else {
            let body = panels::title(buf, area, view.theme, focused, "", "");
            if let Some(error) = self.asked.and_then(|asked| view.store.get(&self.one(asked)).error) {
                list::failure(view, body, buf, error);
            }
            return;
        };
        let name = snippet.file_name.as_deref().filter(|name| !name.is_empty()).unwrap_or(&snippet.title);
        let facts = if self.tab == TEXT { self.text.facts(view) } else { String::new() };
        let body = panels::title(buf, area, view.theme, focused, name, &facts);
        self.body.set(body);
        match self.tab {
            NOTES => {
                let empty = ("Nobody has said anything yet.", "c writes a note");
                self.notes.draw(view, body, buf, focused, empty);
            }
            DETAILS => self.draw_details(view, body, buf, snippet),
            _ => self.text.draw(view, body, buf, focused),
        }
    }
}

const COLUMNS: &[Column] = &[
    Column::new("", Size::Fit { min: 2, max: 7 }),
    Column::new("", Size::Fill { min: 18, weight: 1 }),
    Column::new("", Size::Fit { min: 0, max: 9 }).priority(2),
    Column::new("", Size::Fixed(4)).right().priority(1),
];

fn row(view: &View, snippet: &Snippet) -> Row {
    Row::new(vec![
        Cell::from((format!("${}", snippet.id), Role::Ref)),
        Cell::from((snippet.title.clone(), Role::Text)),
        Cell::from((snippet.visibility.clone().unwrap_or_default(), Role::Dim)),
        Cell::from((age(view, snippet.updated_at.as_ref().or(snippet.created_at.as_ref())), Role::Dim)),
    ])
}

impl Pane for Snippets {
    const ID: &'static str = "snippets";
    const TITLE: &'static str = "Snippets of a project";
    const NEEDS: Needs = Needs::Project;
    const COMMANDS: &'static [Command<Self>] = &[
        Command::new("snippets.open", &["Enter"], "Read it", Self::enter).footer("read").when(Self::has_snippet),
        Command::new("snippets.create", &["+"], "New snippet", |pane: &mut Self, cx| {
            form::create(&pane.project).open(cx)
        })
        .footer("new")
        .writes()
        .when(|_, view| forms::signed_in(view)),
        Command::new("snippets.edit", &["e"], "Edit its text, or the note", |pane: &mut Self, cx| pane.edit(false, cx))
            .footer("edit")
            .writes()
            .when(Self::may_change),
        Command::new("snippets.edit_outside", &["E"], "Edit its text in $EDITOR", |pane: &mut Self, cx| {
            pane.edit(true, cx);
        })
        .writes()
        .when(Self::may_change),
        Command::new(
            "snippets.fields",
            &["t"],
            "Change title, name, description, visibility",
            |pane: &mut Self, cx| {
                if let Some(snippet) = pane.current(&cx.view) {
                    form::edit(&pane.project, snippet.id, &cx.view).open(cx);
                }
            },
        )
        .writes()
        .when(Self::may_write),
        Command::new("snippets.delete", &["D"], "Delete it, or the note", Self::delete).writes().when(Self::may_change),
        Command::new("snippets.comment", &["c"], "Write a note", |pane: &mut Self, cx| pane.comment(false, cx))
            .footer("comment")
            .writes()
            .when(Self::may_write),
        Command::new("snippets.drafts", &["K"], "Kept drafts of notes: edit, drop, send", |pane: &mut Self, cx| {
            pane.notes.drafts(cx);
        })
        .when(|pane, _| pane.notes.has_drafts()),
        Command::new("snippets.reply", &["R"], "Reply, quoting the note", |pane: &mut Self, cx| pane.comment(true, cx))
            .writes()
            .when(Self::has_note),
    ];

    fn open(place: &Place, _view: &View) -> Self {
        let asked = place.item.as_deref().and_then(|item| item.parse().ok());
        let mut list = Listing::default();
        let mut panels = Panels::new(2);
        if let Some(asked) = asked {
            list.reveal(u64::to_string(&asked));
            panels.set_focus(BODY);
        }
        let tab = place.tab.as_deref().and_then(|tab| NAMES.iter().position(|name| *name == tab)).unwrap_or(TEXT);
        Snippets {
            project: place.project.clone().unwrap_or_default(),
            list,
            asked,
            tab,
            panels,
            text: SnippetView::default(),
            notes: Notes::default(),
            shown: None,
            body: Shared::default(),
        }
    }

    fn place(&self) -> Place {
        let mut place = Place::new(Self::ID).project(self.project.clone());
        place.item = self.asked.or(self.shown.filter(|_| self.panels.focus() == BODY)).map(|id| id.to_string());
        match NAMES.get(self.tab).filter(|_| self.tab != TEXT) {
            Some(name) => place.tab(name),
            None => place,
        }
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        let mut breadcrumbs = project::breadcrumbs(view, &self.project);
        breadcrumbs.push(Breadcrumb::new("snippets", Role::Dim));
        breadcrumbs.extend(self.list.breadcrumbs(&self.rows(view)));
        breadcrumbs
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        let mut wants = vec![project::want(&self.project), Load::list(&self.query(), self.list.pages()).into()];
        wants.extend(self.asked.map(|asked| Load::one(&self.one(asked)).into()));
        if let Some(snippet) = self.current(view) {
            match self.tab {
                NOTES => wants.extend(self.notes.wants(view)),
                DETAILS => wants.push(Load::one(&self.agent(snippet.id)).into()),
                _ => wants.extend(self.text.wants(view)),
            }
        }
        wants
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        self.list.drawn_at(Rect::default());
        self.body.set(Rect::default());
        let places = self.panels.layout(area, ASKS);
        if let Some(area) = places.get(LIST).copied().flatten() {
            let focused = self.panels.focus() == LIST;
            let body = panels::title(buf, area, view.theme, focused, "Snippets", "");
            let empty = ("There are no snippets yet.", "+ makes one");
            self.list.draw(view, body, buf, focused, &self.rows(view), COLUMNS, |s| row(view, s), empty);
        }
        if let Some(area) = places.get(BODY).copied().flatten() {
            self.draw_body(view, area, buf);
        }
        self.panels.rules(buf, view.theme);
    }

    fn changed(&mut self, cx: &mut Cx) {
        let view = &cx.view;
        let rows = self.rows(view);
        self.list.narrow(&rows, |snippet, words| {
            let says = |text: &str| text.to_lowercase().contains(words);
            says(&snippet.title) || snippet.file_name.as_deref().is_some_and(says)
        });
        self.list.sync(&rows, |snippet| snippet.id.to_string());
        if self.list.selected(&rows).is_some_and(|snippet| Some(snippet.id) == self.asked) {
            self.asked = None;
        }
        let current = self.current(view);
        let id = current.map(|snippet| snippet.id);
        if self.shown != id {
            self.shown = id;
            let project = self.project.clone();
            self.notes.show(id.map(|id| Noteable::Snippet { project, id }));
        }
        self.text.show(&self.project, current);
        self.text.changed(view);
        // On every tab: a note is begun, and drafts are listed, from all of them.
        self.notes.changed(cx);
    }

    fn motion(&mut self, motion: Motion, cx: &mut Cx) {
        if self.panels.focus() == BODY {
            let stays = match self.tab {
                NOTES => self.notes.motion(motion),
                TEXT => self.text.motion(motion, &cx.view),
                _ => motion != Motion::Left,
            };
            if !stays {
                self.panels.set_focus(LIST);
            }
            return;
        }
        match motion {
            Motion::Right => self.enter(cx),
            Motion::Left => {}
            other => {
                self.asked = None;
                self.list.motion(other, self.list.len(&self.rows(&cx.view)));
            }
        }
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        let (Pointer::Press { column, row, .. } | Pointer::Wheel { column, row, .. }) = pointer else { return };
        if self.body.get().contains((column, row).into()) {
            match pointer {
                Pointer::Wheel { rows, .. } if self.tab == NOTES => _ = self.notes.motion(Motion::Wheel(rows)),
                Pointer::Wheel { rows, .. } => _ = self.text.motion(Motion::Wheel(rows), &cx.view),
                _ => {
                    self.panels.set_focus(BODY);
                    if self.tab == NOTES {
                        self.notes.click(column, row);
                    }
                }
            }
            return;
        }
        if matches!(pointer, Pointer::Press { .. }) {
            self.asked = None;
            self.panels.set_focus(LIST);
        }
        if self.list.pointer(pointer, self.list.len(&self.rows(&cx.view))) {
            self.enter(cx);
        }
    }

    fn panels(&mut self) -> Option<&mut Panels> {
        Some(&mut self.panels)
    }

    fn tabs(&self) -> Tabs {
        Tabs { titles: TITLES, selected: self.tab }
    }

    fn tab_count(&self, index: usize, view: &View) -> Option<String> {
        if index == NOTES { self.notes.count(view) } else { None }
    }

    fn select_tab(&mut self, index: usize, _cx: &mut Cx) {
        self.tab = index;
    }

    fn search_mode(&self) -> Option<SearchMode> {
        match (self.panels.focus(), self.tab) {
            (BODY, TEXT) => Some(SearchMode::Search),
            (BODY, _) => None,
            _ => Some(SearchMode::Filter),
        }
    }

    fn filter_text(&self) -> String {
        if self.panels.focus() == BODY { self.text.query.clone() } else { self.list.filter_text().to_owned() }
    }

    fn set_filter_text(&mut self, text: &str, cx: &mut Cx) {
        if self.panels.focus() == BODY {
            return self.text.seek(text);
        }
        let here = self.current(&cx.view).map(|snippet| snippet.id.to_string());
        self.list.seek(text, here);
    }

    fn seek_next(&mut self, forward: bool, cx: &mut Cx) {
        if self.panels.focus() == BODY {
            if !self.text.seek_next(forward, &cx.view) {
                cx.say(Tone::Info, format!("\"{}\" is not found.", shown(&self.text.query)));
            }
            return;
        }
        self.list.motion(if forward { Motion::Down } else { Motion::Up }, self.list.len(&self.rows(&cx.view)));
    }

    fn escape(&mut self, cx: &mut Cx) -> bool {
        if !Pane::filter_text(self).is_empty() {
            self.set_filter_text("", cx);
            return true;
        }
        let body = self.panels.focus() == BODY;
        self.panels.set_focus(LIST);
        body && self.asked.is_none()
    }

    fn url(&self, view: &View) -> Option<String> {
        let snippet = self.current(view)?;
        let page = || project::page(view, &self.project, &format!("/-/snippets/{}", snippet.id));
        Some(Some(snippet.web_url.clone()).filter(|url| !url.is_empty()).unwrap_or_else(page))
    }

    fn copies(&self, view: &View) -> Vec<(&'static str, String)> {
        let Some(snippet) = self.current(view) else { return Vec::new() };
        let mut copies = Vec::new();
        let text = self.text.raw(view).and_then(|raw| String::from_utf8(raw.bytes.clone()).ok());
        copies.extend(text.map(|text| ("text", text)));
        copies.push(("title", snippet.title.clone()));
        copies.extend(snippet.raw_url.clone().map(|url| ("raw URL", url)));
        copies
    }
}
