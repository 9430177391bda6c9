//! The snippets of a project, and text, notes and details of the selected one.

mod detail;
mod edit;
mod text;

use crate::api::snippets::{DeleteSnippet, GetSnippet, GetSnippetText, ListSnippets, Snippet};
use crate::api::{Id, Time};
use crate::app::App;
use crate::app::action::Action;
use crate::app::clip::Clip;
use crate::app::command::Command;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::pane::Breadcrumb;
use crate::app::place::Place;
use crate::app::place_info::Needs;
use crate::app::view::View;
use crate::parts::columns::{Columns, Field, ServerOrder};
use crate::parts::forms::{self, snippet as form};
use crate::parts::list::age;
use crate::parts::list_pane::ListPane;
use crate::parts::list_source::{Filter, Input, ListCommand, ListSource};
use crate::parts::project;
use crate::store::{ListQuery, Load, Remote, Want, Write};
use crate::ui::line::Line;
use crate::ui::panels::PanelRequest;
use crate::ui::table::{Column, Row, Size};
use crate::ui::text::sanitize;
use crate::ui::theme::Role;
use detail::{NOTES, SnippetDetail, TABS};

/// The snippets of a project.
pub struct SnippetSource {
    project: Id,
}

/// The list of snippets.
pub type Snippets = ListPane<SnippetSource>;

fn updated(snippet: &Snippet) -> Option<&Time> {
    snippet.updated_at.as_ref().or(snippet.created_at.as_ref())
}

const COLUMNS: Columns<Snippet> = Columns {
    place: "snippets",
    fields: &[
        Field::new("ID", Column::new("ID", Size::Fit { min: 2, max: 7 })).loaded(|a, b| a.id.cmp(&b.id)),
        Field::new("title", Column::new("Title", Size::Fill { min: 18, weight: 1 }))
            .loaded(|a, b| a.title.to_lowercase().cmp(&b.title.to_lowercase())),
        Field::new("visibility", Column::new("Visibility", Size::Fit { min: 0, max: 10 }).drop_order(2))
            .loaded(|a, b| a.visibility.cmp(&b.visibility)),
        Field::new("updated", Column::new("Updated", Size::Fixed(7)).right().drop_order(1))
            .loaded(|a, b| updated(a).and_then(Time::instant).cmp(&updated(b).and_then(Time::instant)))
            .newest_first(),
    ],
    order: None,
};

impl SnippetSource {
    fn one(&self, key: &str) -> Option<GetSnippet> {
        Some(GetSnippet { id: self.project.clone(), snippet_id: key.parse().ok()? })
    }
}

impl Snippets {
    fn show(&mut self, tab: usize) {
        self.show_tab(tab);
        self.detail.show(tab);
    }

    fn can_write_snippets(&self, view: &View) -> Result<(), Disabled> {
        forms::signed_in(view)?;
        self.has_row(view)
    }

    fn has_note(&self, view: &View) -> Result<(), Disabled> {
        self.can_write_snippets(view)?;
        match self.tab() {
            NOTES => self.detail.notes.has_note(view),
            _ => Err("there is no note under the cursor".into()),
        }
    }

    fn on_note(&self) -> bool {
        self.tab() == NOTES && self.on_detail()
    }

    /// Returns whether `e` and `D` can act: on the note under the cursor if the notes have the focus, else on the
    /// snippet.
    fn can_change(&self, view: &View) -> Result<(), Disabled> {
        self.can_write_snippets(view)?;
        if self.on_note() { self.detail.notes.can_edit_note(view) } else { Ok(()) }
    }

    fn edit(&mut self, outside: bool, cx: &mut Cx) {
        let Some(snippet) = self.current(&cx.view) else { return };
        match self.on_note() {
            true => self.detail.notes.edit(cx),
            false => edit::open(&self.source.project, snippet, outside, cx),
        }
    }

    fn edit_fields(&mut self, cx: &mut Cx) {
        if let Some(snippet) = self.current(&cx.view) {
            form::edit(&self.source.project, snippet.id, &cx.view).open(cx);
        }
    }

    fn delete(&mut self, cx: &mut Cx) {
        let Some(snippet) = self.current(&cx.view) else { return };
        if self.on_note() {
            return self.detail.notes.delete(cx);
        }
        let (id, title) = (snippet.id, sanitize(&snippet.title));
        let delete = DeleteSnippet { id: self.source.project.clone(), snippet_id: id };
        let question = format!("Delete the snippet ${id} \"{title}\" with its notes? This cannot be undone.");
        let write = Write::new(&delete, format!("delete snippet ${id}"));
        cx.act(App::confirm("Delete snippet", question, Action::Send(write)));
    }

    fn comment(&mut self, reply: bool, cx: &mut Cx) {
        self.detail.notes.comment(reply, cx);
        self.show(NOTES);
    }
}

impl ListSource for SnippetSource {
    type Row = Snippet;
    type Detail = SnippetDetail;
    const ID: &'static str = "snippets";
    const TITLE: &'static str = "Snippets of a project";
    const NEEDS: Needs = Needs::Project;
    const HEADING: &'static str = "Snippets";
    const PLACE_NAMES_ROW: bool = true;
    const WIDTHS: &'static [PanelRequest] = &[PanelRequest { min: 30, weight: 2 }, PanelRequest { min: 50, weight: 5 }];
    const COLUMNS: Columns<Snippet> = COLUMNS;
    const COMMANDS: &'static [ListCommand<Self>] = &[
        Command::new("snippets.open", &["Enter"], "Open snippet", |pane: &mut Snippets, _| pane.focus_detail())
            .footer("read")
            .when(Snippets::has_row),
        Command::new("snippets.create", &["+"], "Create snippet…", |pane: &mut Snippets, cx| {
            form::create(&pane.source.project).open(cx);
        })
        .footer("new")
        .writes()
        .when(|_, view| forms::signed_in(view)),
        Command::new("snippets.edit", &["e"], "Edit text or comment", |pane: &mut Snippets, cx| pane.edit(false, cx))
            .footer("edit")
            .writes()
            .when(Snippets::can_change),
        Command::new("snippets.edit_outside", &["E"], "Edit text in $EDITOR", |pane: &mut Snippets, cx| {
            pane.edit(true, cx);
        })
        .writes()
        .when(Snippets::can_change),
        Command::new("snippets.fields", &["t"], "Edit title and visibility…", Snippets::edit_fields)
            .writes()
            .when(Snippets::can_write_snippets),
        Snippets::columns_command("snippets.columns"),
        Command::new("snippets.delete", &["D"], "Delete snippet or comment…", Snippets::delete)
            .writes()
            .when(Snippets::can_change),
        Command::new("snippets.comment", &["c"], "Add comment…", |pane: &mut Snippets, cx| pane.comment(false, cx))
            .footer("comment")
            .writes()
            .when(Snippets::can_write_snippets),
        Command::new("snippets.drafts", &["K"], "Show drafts…", |pane: &mut Snippets, cx| {
            pane.detail.notes.drafts(cx)
        })
        .when(|pane, _| pane.detail.notes.has_drafts()),
        Command::new("snippets.react", &["*"], "React to comment with emoji…", |pane: &mut Snippets, cx| {
            if let Ok(reactions) = pane.detail.notes.reactions(&cx.view) {
                reactions.choose(cx);
            }
        })
        .writes()
        .when(|pane, view| {
            Snippets::has_note(pane, view)?;
            pane.detail.notes.reactions(view)?.check(view)
        }),
        Command::new("snippets.thread", &[], "Start thread…", |pane: &mut Snippets, cx| {
            pane.detail.notes.start_thread(cx);
            pane.show(NOTES);
        })
        .writes()
        .when(|pane, view| pane.detail.notes.can_start_thread(view)),
        Command::new("snippets.reply", &["R"], "Reply to comment…", |pane: &mut Snippets, cx| pane.comment(true, cx))
            .writes()
            .when(Snippets::has_note),
    ];

    fn open(place: &Place, _view: &View) -> SnippetSource {
        SnippetSource { project: place.project.clone().unwrap_or_default() }
    }

    fn place(&self) -> Place {
        Place::new(Self::ID).project(self.project.clone())
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        let mut breadcrumbs = project::breadcrumbs(view, &self.project);
        breadcrumbs.push(Breadcrumb::new("snippets", Role::Dim));
        breadcrumbs
    }

    fn tabs(&self) -> &'static [&'static str] {
        TABS
    }

    fn tab_count(pane: &Snippets, index: usize, view: &View) -> Option<String> {
        if index == NOTES { pane.detail.notes.count(view) } else { None }
    }

    fn select_tab(pane: &mut Snippets, index: usize) {
        pane.show(index);
    }

    fn query(&self, _: &Input<'_>, _: ServerOrder, _view: &View) -> Option<ListQuery<Snippet>> {
        Some(ListQuery::new(&ListSnippets { id: self.project.clone() }))
    }

    fn filter(&self, _: &Input<'_>) -> Filter<Snippet> {
        Filter::Loaded(|snippet, words| {
            let has = |text: &str| text.to_lowercase().contains(words);
            has(&snippet.title) || snippet.file_name.as_deref().is_some_and(has)
        })
    }

    fn key(snippet: &Snippet) -> String {
        snippet.id.to_string()
    }

    fn row(&self, view: &View, _: usize, snippet: &Snippet) -> Row<'static> {
        Row::new(vec![
            Line::new(format!("${}", snippet.id), Role::Ref),
            Line::new(snippet.title.clone(), Role::Text),
            Line::new(snippet.visibility.clone().unwrap_or_default(), Role::Dim),
            Line::new(age(view, updated(snippet)), Role::Dim),
        ])
    }

    fn requested_row<'a>(&self, key: &str, view: &View<'a>) -> Option<Remote<'a, Snippet>> {
        Some(view.store.get(&self.one(key)?))
    }

    fn empty(&self, _: &Input<'_>) -> (&'static str, &'static str) {
        ("There are no snippets yet.", "‹snippets.create› creates one")
    }

    fn enter(pane: &mut Snippets, _cx: &mut Cx) {
        pane.focus_detail();
    }

    fn wants(pane: &Snippets, _view: &View) -> Vec<Want> {
        let named = pane.requested_key().and_then(|key| pane.source.one(key)).map(|get| Load::single(&get).into());
        [project::want(&pane.source.project)].into_iter().chain(named).collect()
    }

    fn changed(pane: &mut Snippets, cx: &mut Cx) {
        pane.show(pane.tab());
        // The notes are updated on every tab, because notes can be written and drafts listed from all of them.
        pane.detail.notes.changed(cx);
    }

    fn url(&self, view: &View, snippet: &Snippet) -> Option<String> {
        let page = || project::page(view, &self.project, &format!("/-/snippets/{}", snippet.id));
        Some(Some(snippet.web_url.clone()).filter(|url| !url.is_empty()).unwrap_or_else(page))
    }

    fn copies(&self, view: &View, snippet: &Snippet) -> Vec<Clip> {
        let get = GetSnippetText { id: self.project.clone(), snippet_id: snippet.id };
        let text = view.store.get(&get).value.and_then(|raw| String::from_utf8(raw.bytes.clone()).ok());
        let mut copies: Vec<Clip> = text.map(|text| Clip::lines("text", text)).into_iter().collect();
        copies.push(Clip::line("title", snippet.title.clone()));
        copies.extend(snippet.raw_url.clone().map(|url| Clip::line("raw URL", url)));
        copies
    }
}
