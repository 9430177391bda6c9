//! Merge requests, of a project or of all: a list by state, the description of the selected one beside it.

use crate::api::merge_requests::MergeRequest;
use crate::api::{Id, Known};
use crate::app::action::Action;
use crate::app::command::{Command, Disabled, Motion};
use crate::app::overlay::batch::Batch;
use crate::app::overlay::prompt::Prompt;
use crate::app::pane::{Breadcrumb, Cx, Pane, Pointer, SearchMode, Section, Tabs, View};
use crate::app::place::Place;
use crate::app::query::{self, Grammar};
use crate::parts::columns::{ColumnState, Columns, Field};
use crate::parts::list::{Listing, age};
use crate::parts::merge_request_query::QueryScope;
use crate::parts::{breadcrumbs, forms, last_seen, query_list, rendered_markdown, review};
use crate::store::{Rows, Want};
use crate::ui::doc::{self, DocLine, DocState};
use crate::ui::panels::{self, PanelRequest, Panels};
use crate::ui::table::{Cell, Column, Row, Size};
use crate::ui::theme::Role;
use crate::ui::{glyph, state, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::cell::Cell as Shared;
use std::collections::HashSet;

const STATES: &[&str] = &["opened", "merged", "closed", "all"];
const TITLES: &[&str] = &["Opened", "Merged", "Closed", "All"];

const COLUMNS: Columns<MergeRequest> = Columns {
    place: "merge requests",
    fields: &[
        Field::new("state", Column::new("", Size::Fixed(1))),
        Field::new("project", Column::new("project", Size::Fit { min: 6, max: 24 }).middle().priority(1)),
        Field::new("number", Column::new("", Size::Fit { min: 2, max: 8 }).right()).loaded(|a, b| a.iid.cmp(&b.iid)),
        Field::new("title", Column::new("title", Size::Fill { min: 28, weight: 3 }))
            .loaded(|a, b| review::title(a).cmp(review::title(b))),
        Field::new("labels", Column::new("labels", Size::Fit { min: 3, max: 18 }).priority(6)),
        Field::new("source", Column::new("source", Size::Fit { min: 8, max: 24 }).middle().priority(4))
            .loaded(|a, b| a.source_branch().cmp(b.source_branch())),
        Field::new("target", Column::new("target", Size::Fit { min: 4, max: 16 }).middle().priority(5))
            .loaded(|a, b| a.target_branch().cmp(b.target_branch())),
        Field::new("author", Column::new("by", Size::Fit { min: 3, max: 12 }).priority(2))
            .loaded(|a, b| a.author().map(|user| &user.username).cmp(&b.author().map(|user| &user.username))),
        Field::new("pipeline", Column::new("", Size::Fit { min: 1, max: 1 }).priority(2)),
        Field::new("notes", Column::new("notes", Size::Fit { min: 2, max: 10 }).right().priority(3))
            .loaded(|a, b| a.user_notes_count.flatten().cmp(&b.user_notes_count.flatten())),
        Field::new("news", Column::new("", Size::Fit { min: 7, max: 14 })),
        Field::new("upvotes", Column::new("votes", Size::Fit { min: 2, max: 6 }).right().priority(7))
            .loaded(|a: &MergeRequest, b| a.upvotes.flatten().cmp(&b.upvotes.flatten()))
            .hidden(),
        Field::new("milestone", Column::new("milestone", Size::Fit { min: 3, max: 16 }).priority(6)).hidden(),
        Field::new("created", Column::new("made", Size::Fixed(4)).right().priority(6)).server("created_at").hidden(),
        Field::new("changed", Column::new("when", Size::Fixed(4)).right().priority(1)).server("updated_at"),
    ],
    order: Some(("changed", true)),
};

/// The list of merge requests.
pub struct MergeRequests {
    project: Option<Id>,
    group: Option<Id>,
    /// The index in [`STATES`]; a state in the query comes before it.
    tab: usize,
    list: Listing,
    /// Those that were marked, as they were then: a query may leave them out.
    set_aside: Vec<(Id, MergeRequest)>,
    panels: Panels,
    preview: DocState,
    /// The merge request that the preview was scrolled for.
    previewed: u64,
    preview_area: Shared<Rect>,
}

impl MergeRequests {
    /// The state that is listed.
    fn state(&self) -> usize {
        let said = query::get(self.list.filter_text(), "state");
        said.and_then(|said| STATES.iter().position(|state| *state == said)).unwrap_or(self.tab)
    }

    fn table(&self, view: &View) -> ColumnState<MergeRequest> {
        COLUMNS.chosen(view).unless(query::get(self.list.filter_text(), "sort").is_some())
    }

    fn asking(&self, view: &View) -> QueryScope {
        let state = STATES.get(self.tab).copied().unwrap_or_default();
        QueryScope { project: self.project.clone(), group: self.group.clone(), state, order: self.table(view).server() }
    }

    fn rows<'a>(&self, view: &View<'a>) -> Rows<'a, MergeRequest> {
        self.asking(view).rows(self.list.shown(), view)
    }

    /// The marked ones, else the one under the cursor, with their projects.
    fn chosen(&self, view: &View) -> Vec<(Id, MergeRequest)> {
        let marked = self.list.state.marked();
        let with_project = |request: &MergeRequest| (self.project_of(request, view), request.clone());
        if marked.is_empty() {
            return self.current(view).map(with_project).into_iter().collect();
        }
        // Those that are listed as they are now; those that another query leaves out are marked all the same.
        let rows = self.rows(view);
        let of = |request: &&MergeRequest| marked.contains(&request.id.to_string());
        let mut chosen: Vec<_> = rows.iter().filter(of).map(with_project).collect();
        let listed: HashSet<u64> = chosen.iter().map(|(_, request)| request.id).collect();
        let others = self.set_aside.iter().filter(|(_, request)| of(&request) && !listed.contains(&request.id));
        chosen.extend(others.cloned());
        chosen
    }

    fn mark(&mut self, cx: &mut Cx) {
        if let Some(request) = self.current(&cx.view) {
            self.set_aside.retain(|(_, known)| known.id != request.id);
            self.set_aside.push((self.project_of(request, &cx.view), request.clone()));
            self.list.state.toggle_mark(request.id.to_string());
            let len = self.rows(&cx.view).len();
            self.list.motion(Motion::Down, len);
        }
    }

    /// Closes or reopens what is marked, each by a write of its own.
    fn close_all(&mut self, cx: &mut Cx) {
        let chosen = self.chosen(&cx.view);
        if let [(project, request)] = chosen.as_slice() {
            return cx.act(review::close_or_reopen(project, request));
        }
        let writes: Vec<_> = chosen
            .iter()
            .filter(|(_, request)| review::can_close_or_reopen(Some(request)).is_ok())
            .map(|(project, request)| review::close_or_reopen_write(project, request))
            .collect();
        self.list.state.clear_marks();
        cx.act(Action::Open(Box::new(Batch::new("Close or reopen", writes))));
    }

    fn edit(&mut self, cx: &mut Cx) {
        let chosen = self.chosen(&cx.view);
        match chosen.as_slice() {
            [(project, request)] => forms::merge_request::edit(project, request.iid, &cx.view).open(cx),
            _ => {
                self.list.state.clear_marks();
                forms::merge_request::edit_all(chosen, self.project.as_ref()).open(cx);
            }
        }
    }

    fn current<'a>(&self, view: &View<'a>) -> Option<&'a MergeRequest> {
        self.list.selected(&self.rows(view))
    }

    fn project_of(&self, merge_request: &MergeRequest, view: &View) -> Id {
        self.project.clone().unwrap_or_else(|| review::project(merge_request, view))
    }

    fn open_tab(&self, tab: Option<&str>, cx: &mut Cx) {
        if let Some(merge_request) = self.current(&cx.view) {
            let place = Place::new("mr").project(self.project_of(merge_request, &cx.view)).item(merge_request.iid);
            cx.go(Place { tab: tab.map(str::to_owned), ..place });
        }
    }

    fn has_one(&self, view: &View) -> Result<(), Disabled> {
        self.current(view).map(|_| ()).ok_or_else(|| "no merge request is selected".into())
    }

    fn asks() -> [PanelRequest; 2] {
        [PanelRequest { min: 62, weight: 5 }, PanelRequest { min: 36, weight: 3 }]
    }

    /// Columns of the preview's text; it is drawn in the whole screen between the lines of the frame.
    fn preview_width(&self, view: &View) -> usize {
        let places = self.panels.places(Rect::new(0, 0, view.size.0, view.size.1), &Self::asks());
        let width = places.get(1).copied().flatten().map_or(0, |place| usize::from(place.width));
        width.saturating_sub(3).min(rendered_markdown::MEASURE)
    }

    fn identity(merge_request: &MergeRequest) -> String {
        let at = merge_request.updated_at.as_ref().map_or("", |at| at.as_str());
        format!("description of merge request {} at {at}", merge_request.id)
    }

    fn move_preview(&mut self, motion: Motion, view: &View) {
        let Some(merge_request) = self.current(view) else { return };
        let width = self.preview_width(view);
        let len =
            rendered_markdown::made(view, &Self::identity(merge_request), width).map_or(0, |made| made.lines.len());
        match motion {
            Motion::Left => self.panels.set_focus(0),
            other => other.window(&mut self.preview, len),
        }
    }

    fn draw_preview(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let focused = self.panels.focus() == 1;
        let Some(merge_request) = self.current(view) else { return };
        let author = merge_request.author().map_or("", |user| user.username.as_str());
        let title = format!("!{} {}", merge_request.iid, review::title(merge_request));
        let body = panels::title(buf, area, view.theme, focused, &title, author);
        let body = Rect { x: body.x + 1, width: body.width.saturating_sub(1), ..body };
        self.preview_area.set(body);
        let description = merge_request.description.as_deref().unwrap_or_default();
        if description.trim().is_empty() {
            return state::empty(buf, body, view.theme, "No description.", "⏎ opens it");
        }
        let Some(made) = rendered_markdown::made(view, &Self::identity(merge_request), self.preview_width(view)) else {
            return state::skeleton(buf, body, view.theme);
        };
        let lines = &made.lines;
        doc::draw(buf, body, view.theme, focused, &self.preview, lines.len(), 0, |index| {
            lines.get(index).cloned().unwrap_or_else(DocLine::default)
        });
    }
}

fn row(view: &View, merge_request: &MergeRequest, with_project: bool) -> Row {
    let (mark, _, role) = review::state(merge_request);
    let mut title = Cell::empty();
    if merge_request.is_draft() {
        title = title.and("draft ", Role::Warning);
    }
    title = title.and(review::title(merge_request).to_owned(), Role::Text);
    let source = merge_request.source_branch().to_owned();
    let target = match merge_request.target_branch() {
        "" => String::new(),
        target => format!("{} {target}", glyph::arrow()),
    };
    let (pipeline, pipeline_role) = match merge_request.pipeline() {
        Some(pipeline) => glyph::status(pipeline.status.as_str()),
        None => ("", Role::Dim),
    };
    let notes = merge_request.user_notes_count.flatten().filter(|n| *n > 0);
    let notes = notes.map(|n| text::things(n, "note"));
    let votes = merge_request.upvotes.flatten().filter(|n| *n > 0);
    let milestone = merge_request.milestone.known();
    let news = last_seen::news(view, merge_request).map(|news| format!("{} {}", glyph::alive(), news.words()));
    let project = if with_project { review::project(merge_request, view).as_str().to_owned() } else { String::new() };
    let author = merge_request.author().map_or("", |user| user.username.as_str());
    let when = merge_request.updated_at.as_ref().or(merge_request.created_at.as_ref());
    Row::new(vec![
        (mark, role).into(),
        (project, Role::Dim).into(),
        (format!("!{}", merge_request.iid), Role::Dim).into(),
        title,
        (merge_request.labels().join(" "), Role::Label).into(),
        (source, Role::Ref).into(),
        (target, Role::Dim).into(),
        (author.to_owned(), Role::User).into(),
        (pipeline, pipeline_role).into(),
        (notes.unwrap_or_default(), Role::Dim).into(),
        (news.unwrap_or_default(), Role::Accent).into(),
        (votes.map(|n| n.to_string()).unwrap_or_default(), Role::Dim).into(),
        (milestone.map(|m| m.title.clone()).unwrap_or_default(), Role::Dim).into(),
        (age(view, merge_request.created_at.as_ref()), Role::Dim).into(),
        (age(view, when), Role::Dim).into(),
    ])
}

impl Pane for MergeRequests {
    const ID: &'static str = "mrs";
    const TITLE: &'static str = "Merge requests";
    const COMMANDS: &'static [Command<Self>] = &[
        Command::new("mrs.open", &["Enter"], "Open it", |pane: &mut Self, cx| pane.open_tab(None, cx))
            .footer("open")
            .when(MergeRequests::has_one),
        Command::new("mrs.changes", &["d"], "Open its changes", |pane: &mut Self, cx| {
            pane.open_tab(Some("changes"), cx);
        })
        .footer("changes")
        .when(MergeRequests::has_one),
        Command::new("mrs.pipelines", &["J"], "Open its pipelines", |pane: &mut Self, cx| {
            pane.open_tab(Some("pipelines"), cx);
        })
        .when(MergeRequests::has_one),
        Command::new("mrs.mark", &["Space"], "Mark for the next action", |pane: &mut Self, cx| pane.mark(cx))
            .footer("mark")
            .when(MergeRequests::has_one),
        Command::new("mrs.close", &["X"], "Close or reopen it, or all that are marked", |pane: &mut Self, cx| {
            pane.close_all(cx);
        })
        .writes()
        .when(|pane, view| match pane.list.state.marked().is_empty() {
            true => review::can_close_or_reopen(pane.current(view)),
            false => Ok(()),
        }),
        Command::new("mrs.create", &["+"], "New merge request", |pane: &mut Self, cx| {
            if let Some(project) = &pane.project {
                forms::merge_request::create(project, None, None, &cx.view).open(cx);
            }
        })
        .writes()
        .when(|pane, _| match &pane.project {
            Some(_) => Ok(()),
            None => Err("open the merge requests of a project first".into()),
        }),
        Command::new("mrs.columns", &["|"], "Choose columns, and what sorts", |_: &mut Self, cx| COLUMNS.open(cx)),
        Command::new("mrs.save", &["S"], "Save the query as a section of home", |pane: &mut Self, cx| {
            let name = pane.list.filter_text().to_owned();
            cx.act(Action::Open(Box::new(Prompt::ask("name of the section", "section", name))));
        }),
        Command::new("mrs.edit", &["e"], "Edit it, or all that are marked", |pane: &mut Self, cx| pane.edit(cx))
            .writes()
            .when(MergeRequests::has_one),
    ];

    fn open(place: &Place, _view: &View) -> Self {
        let tab = place.tab.as_deref().and_then(|tab| STATES.iter().position(|state| *state == tab)).unwrap_or(0);
        MergeRequests {
            project: place.project.clone(),
            group: place.group.clone().filter(|_| place.project.is_none()),
            tab,
            list: Listing::asked(place.query.as_deref().unwrap_or_default()),
            panels: Panels::new(2),
            preview: DocState { cursor_line: false, ..DocState::new() },
            set_aside: Vec::new(),
            previewed: 0,
            preview_area: Shared::default(),
        }
    }

    fn place(&self) -> Place {
        let tab = STATES.get(self.tab).filter(|_| self.tab > 0).map(|state| (*state).to_owned());
        let place = Place { project: self.project.clone(), group: self.group.clone(), tab, ..Place::new(Self::ID) };
        place.query(self.list.filter_text())
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        let mut out = breadcrumbs::project(self.project.as_ref().or(self.group.as_ref()));
        let role = if out.is_empty() { Role::Title } else { Role::Text };
        out.push(Breadcrumb::new("merge requests", role));
        let (rows, asking) = (self.rows(view), self.asking(view));
        out.extend(query_list::breadcrumbs(&self.list, &rows, &asking.grammar(), view));
        out.extend(self.table(view).breadcrumb(&rows));
        if !self.list.state.marked().is_empty() {
            out.push(Breadcrumb::new(format!("{} marked", self.list.state.marked().len()), Role::Warning));
        }
        out
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        let mut wants = self.asking(view).wants(self.list.filter_text(), view, self.list.pages(), self.list.rest());
        let width = self.preview_width(view);
        if width > 0
            && let Some(merge_request) = self.current(view)
            && let Some(description) = merge_request.description.as_deref().filter(|d| !d.trim().is_empty())
        {
            wants.extend(
                rendered_markdown::work(view, &Self::identity(merge_request), description, width).map(Want::from),
            );
        }
        wants
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let chosen = self.table(view);
        let empty = match (self.list.shown().is_empty(), self.tab) {
            (false, _) => ("No merge request fits the filter.", "/ changes it, Esc ends it"),
            (true, 0) => ("No merge request is open.", "2 shows the merged ones, 4 all"),
            (true, _) => ("There are no merge requests here.", "1 shows the open ones, 4 all"),
        };
        let places = self.panels.layout(area, &Self::asks());
        self.panels.rules(buf, view.theme);
        if let Some(place) = places.first().copied().flatten() {
            let focused = self.panels.focus() == 0;
            let with_project = self.project.is_none();
            self.list.draw(
                view,
                place,
                buf,
                focused,
                &self.rows(view),
                &chosen.columns(),
                |m| chosen.row(row(view, m, with_project).marked(self.list.state.is_marked(&m.id.to_string()))),
                empty,
            );
        }
        self.preview_area.set(Rect::default());
        if let Some(place) = places.get(1).copied().flatten() {
            self.draw_preview(view, place, buf);
        }
    }

    fn changed(&mut self, cx: &mut Cx) {
        let filter_text = self.asking(&cx.view).rows(self.list.filter_text(), &cx.view);
        self.list.answered(&filter_text);
        let rows = self.rows(&cx.view);
        self.table(&cx.view).sort(&mut self.list, &rows);
        self.list.sync(&rows, |merge_request| merge_request.id.to_string());
        let current = self.list.selected(&rows).map_or(0, |merge_request| merge_request.id);
        if current != self.previewed {
            self.previewed = current;
            self.preview.first();
            self.preview.top.set(0);
        }
    }

    fn motion(&mut self, motion: Motion, cx: &mut Cx) {
        if self.panels.focus() == 1 {
            return self.move_preview(motion, &cx.view);
        }
        match motion {
            Motion::Right => self.open_tab(None, cx),
            Motion::Left => {}
            other => self.list.motion(other, self.rows(&cx.view).len()),
        }
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        let at = match pointer {
            Pointer::Press { column, row, .. } | Pointer::Wheel { column, row, .. } => Some((column, row)),
            _ => None,
        };
        let in_preview = at.is_some_and(|at| self.preview_area.get().contains(at.into()));
        match pointer {
            Pointer::Wheel { rows, .. } if in_preview => self.move_preview(Motion::Wheel(rows), &cx.view),
            Pointer::Press { .. } if in_preview => self.panels.set_focus(1),
            _ => {
                if matches!(pointer, Pointer::Press { .. }) {
                    self.panels.set_focus(0);
                }
                if COLUMNS.pressed(&self.list, pointer, cx) {
                    return;
                }
                if self.list.pointer(pointer, self.rows(&cx.view).len()) {
                    self.open_tab(None, cx);
                }
            }
        }
    }

    fn panels(&mut self) -> Option<&mut Panels> {
        Some(&mut self.panels)
    }

    fn tabs(&self) -> Tabs {
        Tabs { titles: TITLES, selected: self.state() }
    }

    fn select_tab(&mut self, index: usize, _cx: &mut Cx) {
        let Some(state) = STATES.get(index).filter(|_| index != self.state()) else { return };
        let text = self.list.filter_text().to_owned();
        // One word says the state: the query's own, where it has one.
        if query::get(&text, "state").is_some() {
            self.list = Listing::asked(&query::with(&text, "state", state));
        } else {
            self.tab = index;
            self.list = Listing::asked(&text);
        }
    }

    fn search_mode(&self) -> Option<SearchMode> {
        Some(SearchMode::Filter)
    }

    fn grammar(&self) -> Option<Grammar> {
        Some(QueryScope { project: self.project.clone(), ..QueryScope::default() }.grammar())
    }

    fn filter_text(&self) -> String {
        self.list.filter_text().to_owned()
    }

    fn set_filter_text(&mut self, text: &str, cx: &mut Cx) {
        let here = self.current(&cx.view).map(|m| m.id.to_string());
        self.list.seek(text, here);
    }

    fn escape(&mut self, cx: &mut Cx) -> bool {
        if self.panels.focus() == 1 {
            self.panels.set_focus(0);
            return true;
        }
        if !self.list.state.marked().is_empty() {
            self.list.state.clear_marks();
            return true;
        }
        let here = self.current(&cx.view).map(|m| m.id.to_string());
        self.list.clear_filter(here)
    }

    fn answer(&mut self, tag: &'static str, value: String, cx: &mut Cx) {
        let name = value.trim().to_owned();
        if tag == "section" && !name.is_empty() {
            let query =
                query::with(self.list.filter_text(), "state", STATES.get(self.state()).copied().unwrap_or_default());
            let of = |id: &Option<Id>| id.as_ref().map(Id::to_string);
            let section = Section { name, query, project: of(&self.project), group: of(&self.group) };
            cx.act(Action::KeepSection(section));
        }
    }

    fn url(&self, view: &View) -> Option<String> {
        self.current(view).map(|m| m.web_url.clone()).filter(|url| !url.is_empty())
    }

    fn copies(&self, view: &View) -> Vec<(&'static str, String)> {
        self.current(view).map(review::copies).unwrap_or_default()
    }
}
