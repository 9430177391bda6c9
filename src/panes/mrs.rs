//! The merge requests of a project, of a group or of all projects, with tabs by state, and the description of the
//! selected one.

use crate::api::merge_requests::MergeRequest;
use crate::api::{Id, Scope};
use crate::app::action::Action;
use crate::app::clip::Clip;
use crate::app::command::Command;
use crate::app::context::Cx;
use crate::app::overlay::batch::Batch;
use crate::app::pane::Breadcrumb;
use crate::app::place::Place;
use crate::app::query;
use crate::app::session::CustomSection;
use crate::app::view::View;
use crate::parts::columns::{Columns, Field, ServerOrder};
use crate::parts::list::age;
use crate::parts::list_detail::{TextDetail, TextSource};
use crate::parts::list_pane::ListPane;
use crate::parts::list_source::{Filter, Input, ListCommand, ListSource};
use crate::parts::merge_request_details::{self, Details, Shown};
use crate::parts::merge_request_query::MergeRequestQuery;
use crate::parts::{forms, last_seen, merge_state, rendered_markdown, review, scope};
use crate::store::{ListQuery, Rows, Want, Work};
use crate::ui::line::Line;
use crate::ui::panels::PanelRequest;
use crate::ui::table::{Column, Row, Size};
use crate::ui::theme::Role;
use crate::ui::{glyph, text};
use std::collections::HashSet;

const STATES: &[&str] = &["opened", "merged", "closed", "all"];
const TITLES: &[&str] = &["Opened", "Merged", "Closed", "All"];

const COLUMNS: Columns<MergeRequest> = Columns {
    place: "merge requests",
    fields: &[
        Field::new("state", Column::new("", Size::Fixed(1))),
        Field::new("project", Column::new("Project", Size::Fit { min: 6, max: 24 }).cut_in_middle().drop_order(1)),
        Field::new("ID", Column::new("", Size::Fit { min: 2, max: 8 }).right()).loaded(|a, b| a.iid.cmp(&b.iid)),
        Field::new("title", Column::new("Title", Size::Fill { min: 28, weight: 3 }))
            .loaded(|a, b| review::title(a).cmp(review::title(b))),
        Field::new("labels", Column::new("Labels", Size::Fit { min: 3, max: 18 }).drop_order(7)),
        Field::new("source", Column::new("Source", Size::Fit { min: 8, max: 24 }).cut_in_middle().drop_order(8))
            .loaded(|a, b| a.source_branch().cmp(b.source_branch())),
        Field::new("target", Column::new("Target", Size::Fit { min: 4, max: 16 }).cut_in_middle().drop_order(9))
            .loaded(|a, b| a.target_branch().cmp(b.target_branch())),
        Field::new("author", Column::new("Author", Size::Fit { min: 3, max: 12 }).drop_order(4))
            .loaded(|a, b| a.author().map(|user| &user.username).cmp(&b.author().map(|user| &user.username))),
        Field::new("size", Column::new("Changes", Size::Fit { min: 6, max: 22 }).right().drop_order(6)),
        Field::new("approvals", Column::new("Approved", Size::Fit { min: 3, max: 8 }).right().drop_order(3)),
        Field::new("threads", Column::new("Unresolved", Size::Fit { min: 8, max: 12 }).right().drop_order(5)),
        Field::new("pipeline", Column::new("", Size::Fit { min: 1, max: 1 }).drop_order(2)),
        Field::new("merge", Column::new("Merge", Size::Fit { min: 5, max: 16 }).drop_order(2)),
        Field::new("comments", Column::new("Comments", Size::Fit { min: 2, max: 10 }).right().drop_order(8))
            .loaded(|a, b| a.user_notes_count.cmp(&b.user_notes_count)),
        Field::new("unread", Column::new("", Size::Fit { min: 7, max: 14 })),
        Field::new("upvotes", Column::new("Votes", Size::Fit { min: 2, max: 6 }).right().drop_order(7))
            .loaded(|a: &MergeRequest, b| a.upvotes.cmp(&b.upvotes))
            .hidden(),
        Field::new("milestone", Column::new("Milestone", Size::Fit { min: 3, max: 16 }).drop_order(6)).hidden(),
        Field::new("created", Column::new("Created", Size::Fixed(7)).right().drop_order(6))
            .server("created_at")
            .hidden()
            .newest_first(),
        Field::new("updated", Column::new("Updated", Size::Fixed(7)).right().drop_order(1))
            .server("updated_at")
            .newest_first(),
    ],
    order: Some(("updated", true)),
};

/// The merge requests of a project, of a group, or of all projects.
pub struct MergeRequestSource {
    scope: Option<Scope>,
    /// The marked merge requests as they were when marked, because another query may not list them.
    marked: Vec<(Id, MergeRequest)>,
    /// The details that are shown.
    shown: Shown,
}

/// The list of merge requests.
pub type MergeRequests = ListPane<MergeRequestSource>;

impl MergeRequestSource {
    fn list(&self, tab: usize, order: ServerOrder) -> MergeRequestQuery {
        let state = STATES.get(tab).copied().unwrap_or_default();
        MergeRequestQuery { scope: self.scope.clone(), state, order }
    }

    /// Returns the index in [`STATES`] of the listed state: the one named by the filter, else that of the tab.
    fn state(input: &Input<'_>) -> usize {
        let named = query::get(input.filter, "state");
        named.and_then(|named| STATES.iter().position(|state| *state == named)).unwrap_or(input.tab)
    }

    /// Returns the project, if the list belongs to one.
    fn project(&self) -> Option<&Id> {
        self.scope.as_ref().and_then(Scope::project)
    }

    fn project_of(&self, merge_request: &MergeRequest, view: &View) -> Id {
        self.project().cloned().unwrap_or_else(|| review::project(merge_request, view))
    }
}

impl MergeRequests {
    /// Saves the query as a section of Home.
    fn save_section(&mut self, typed: String, cx: &mut Cx) {
        let name = typed.trim().to_owned();
        if !name.is_empty() {
            let state = STATES.get(MergeRequestSource::state(&self.input())).copied().unwrap_or_default();
            let query = query::with(self.list.filter_text(), "state", state);
            let scope = self.source.scope.as_ref();
            let project = scope.and_then(Scope::project).map(Id::to_string);
            let group = scope.and_then(Scope::group).map(Id::to_string);
            cx.act(Action::SaveSection(CustomSection { name, query, project, group }));
        }
    }

    /// Returns the marked merge requests with their projects, or the one under the cursor.
    fn targets(&self, view: &View) -> Vec<(Id, MergeRequest)> {
        let marked = self.list.state.marked();
        let with_project = |request: &MergeRequest| (self.source.project_of(request, view), request.clone());
        if marked.is_empty() {
            return self.current(view).map(with_project).into_iter().collect();
        }
        // Listed ones are taken from the list, because they are newer; marked ones that are not listed are still
        // included.
        let rows = self.rows(view);
        let of = |request: &&MergeRequest| marked.contains(&request.id.to_string());
        let mut chosen: Vec<_> = rows.iter().filter(of).map(with_project).collect();
        let listed: HashSet<u64> = chosen.iter().map(|(_, request)| request.id).collect();
        let others = self.source.marked.iter().filter(|(_, request)| of(&request) && !listed.contains(&request.id));
        chosen.extend(others.cloned());
        chosen
    }

    fn mark_merge_request(&mut self, cx: &mut Cx) {
        if let Some(request) = self.current(&cx.view) {
            let project = self.source.project_of(request, &cx.view);
            self.source.marked.retain(|(_, known)| known.id != request.id);
            self.source.marked.push((project, request.clone()));
        }
        self.mark(cx);
    }

    /// Returns the details to show: those of the chosen columns, else those that the width allows.
    fn shown(&self, view: &View) -> Shown {
        let (chosen, room) = (COLUMNS.current(view), Shown::in_width(self.list.width()));
        let shows = |name: &str, fits: bool| (fits || COLUMNS.is_chosen(view)) && chosen.shows(name);
        Shown {
            labels: chosen.shows("labels"),
            approvals: shows("approvals", room.approvals),
            threads: shows("threads", room.threads),
            size: shows("size", room.size),
        }
    }

    /// Returns the requests for the details of the visible rows.
    fn details(&self, view: &View) -> Vec<Want> {
        let seen = self.visible_rows(view).map(|request| (self.source.project_of(request, view), request));
        let seen: Vec<_> = seen.collect();
        let details = seen.iter().map(|(project, request)| Details::new(view, project, request, self.source.shown));
        merge_request_details::wants(view, details)
    }

    /// Closes or reopens the marked merge requests, each with its own request.
    fn close_all(&mut self, cx: &mut Cx) {
        let chosen = self.targets(&cx.view);
        if let [(project, request)] = chosen.as_slice() {
            return cx.act(review::close_or_reopen(project, request));
        }
        let writes: Vec<_> = chosen
            .iter()
            .filter(|(_, request)| review::can_close_or_reopen(Some(request)).is_ok())
            .map(|(project, request)| review::close_or_reopen_write(project, request))
            .collect();
        self.list.state.clear_marks();
        cx.act(Action::OpenOverlay(Box::new(Batch::new("Close or reopen", writes))));
    }

    fn edit(&mut self, cx: &mut Cx) {
        let chosen = self.targets(&cx.view);
        match chosen.as_slice() {
            [(project, request)] => forms::merge_request::edit(project, request.iid, &cx.view).open(cx),
            _ => {
                self.list.state.clear_marks();
                forms::merge_request::edit_all(chosen, self.source.project()).open(cx);
            }
        }
    }

    fn open_tab(&self, tab: Option<&str>, cx: &mut Cx) {
        if let Some(merge_request) = self.current(&cx.view) {
            let place =
                Place::new("mr").project(self.source.project_of(merge_request, &cx.view)).item(merge_request.iid);
            cx.go(Place { tab: tab.map(str::to_owned), ..place });
        }
    }
}

fn row(view: &View, merge_request: &MergeRequest, source: &MergeRequestSource) -> Row<'static> {
    let of = source.project_of(merge_request, view);
    let details = Details::new(view, &of, merge_request, source.shown);
    let project = source.project();
    let (mark, word, role) = review::state(merge_request);
    let mut title = Line::empty();
    if merge_request.is_draft() {
        title = title.and("draft ", Role::Warning);
    }
    title = title.and(review::title(merge_request).to_owned(), Role::Text);
    let source = merge_request.source_branch().to_owned();
    let target = match merge_request.target_branch() {
        "" => String::new(),
        target => format!("{} {target}", glyph::arrow()),
    };
    let notes = merge_request.user_notes_count.filter(|n| *n > 0);
    let notes = notes.map(|n| text::count_noun(n, "note"));
    let votes = merge_request.upvotes.filter(|n| *n > 0);
    let milestone = merge_request.milestone.as_ref();
    let changes_since = last_seen::changes_since_seen(view, merge_request)
        .map(|changes_since| format!("{} {}", glyph::alive(), changes_since.words()));
    let project = match project {
        None => of.as_str().to_owned(),
        Some(_) => String::new(),
    };
    let author = merge_request.author().map_or("", |user| user.username.as_str());
    let when = merge_request.updated_at.as_ref().or(merge_request.created_at.as_ref());
    Row::new(vec![
        (glyph::or_word(mark, word).to_owned(), role).into(),
        (project, Role::Dim).into(),
        (format!("!{}", merge_request.iid), Role::Dim).into(),
        title,
        details.labels(),
        (source, Role::Ref).into(),
        (target, Role::Dim).into(),
        (author.to_owned(), Role::User).into(),
        details.size(),
        details.approvals(),
        details.threads(),
        details.pipeline(),
        merge_state::brief(merge_request).into(),
        (notes.unwrap_or_default(), Role::Dim).into(),
        (changes_since.unwrap_or_default(), Role::Accent).into(),
        (votes.map(|n| n.to_string()).unwrap_or_default(), Role::Dim).into(),
        (milestone.map(|m| m.title.clone()).unwrap_or_default(), Role::Dim).into(),
        (age(view, merge_request.created_at.as_ref()), Role::Dim).into(),
        (age(view, when), Role::Dim).into(),
    ])
}

impl ListSource for MergeRequestSource {
    type Row = MergeRequest;
    type Detail = TextDetail;
    const ID: &'static str = "mrs";
    const TITLE: &'static str = "Merge requests";
    const WIDTHS: &'static [PanelRequest] = &[PanelRequest { min: 82, weight: 5 }, PanelRequest { min: 36, weight: 3 }];
    const COLUMNS: Columns<MergeRequest> = COLUMNS;
    const COMMANDS: &'static [ListCommand<Self>] = &[
        Command::new("mrs.open", &["Enter"], "Open merge request", |pane: &mut MergeRequests, cx| {
            pane.open_tab(None, cx)
        })
        .footer("open")
        .when(MergeRequests::has_row),
        Command::new("mrs.changes", &["d"], "Open changes", |pane: &mut MergeRequests, cx| {
            pane.open_tab(Some("changes"), cx);
        })
        .footer("changes")
        .when(MergeRequests::has_row),
        Command::new("mrs.pipelines", &["J"], "Open pipelines", |pane: &mut MergeRequests, cx| {
            pane.open_tab(Some("pipelines"), cx);
        })
        .when(MergeRequests::has_row),
        Command::new("mrs.mark", &["Space"], "Toggle mark", |pane: &mut MergeRequests, cx| pane.mark_merge_request(cx))
            .footer("mark")
            .when(MergeRequests::has_row),
        Command::new("mrs.close", &["X"], "Close or reopen merge requests", |pane: &mut MergeRequests, cx| {
            pane.close_all(cx);
        })
        .writes()
        .when(|pane, view| match pane.list.state.marked().is_empty() {
            true => review::can_close_or_reopen(pane.current(view)),
            false => Ok(()),
        }),
        Command::new("mrs.create", &["+"], "Create merge request…", |pane: &mut MergeRequests, cx| {
            if let Some(project) = pane.source.project() {
                forms::merge_request::create(project, None, None, &cx.view).open(cx);
            }
        })
        .writes()
        .when(|pane, _| match pane.source.project() {
            Some(_) => Ok(()),
            None => Err("select a project first".into()),
        }),
        MergeRequests::columns_command("mrs.columns"),
        Command::new("mrs.save", &["S"], "Save query to home…", |pane: &mut MergeRequests, cx| {
            let name = pane.list.filter_text().to_owned();
            cx.ask("section name", name, MergeRequests::save_section);
        }),
        Command::new("mrs.edit", &["e"], "Edit merge requests…", |pane: &mut MergeRequests, cx| pane.edit(cx))
            .writes()
            .when(MergeRequests::has_row),
    ];

    fn open(place: &Place, _view: &View) -> MergeRequestSource {
        MergeRequestSource { scope: scope::of(place), marked: Vec::new(), shown: Shown::default() }
    }

    fn place(&self) -> Place {
        scope::place(self.scope.as_ref(), Self::ID)
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        scope::breadcrumbs(self.scope.as_ref(), view, "merge requests")
    }

    fn tabs(&self) -> &'static [&'static str] {
        TITLES
    }

    fn shown_tab(&self, input: &Input<'_>) -> usize {
        Self::state(input)
    }

    fn select_tab(pane: &mut MergeRequests, index: usize) {
        let Some(state) = STATES.get(index).filter(|_| index != Self::state(&pane.input())) else { return };
        let text = pane.list.filter_text().to_owned();
        // A state in the query overrides the tab, so it is replaced there.
        match query::get(&text, "state") {
            Some(_) => pane.set_filter(&query::with(&text, "state", state)),
            None => pane.set_tab(index),
        }
    }

    fn query(&self, input: &Input<'_>, order: ServerOrder, view: &View) -> Option<ListQuery<MergeRequest>> {
        self.list(input.tab, order).query(input.filter, view)
    }

    fn rows<'a>(
        &self,
        _: &Input<'_>,
        query: Option<&ListQuery<MergeRequest>>,
        view: &View<'a>,
    ) -> Rows<'a, MergeRequest> {
        self.list(0, None).rows(query, view)
    }

    fn filter(&self, _: &Input<'_>) -> Filter<MergeRequest> {
        Filter::Query(self.list(0, None).grammar())
    }

    fn key(merge_request: &MergeRequest) -> String {
        merge_request.id.to_string()
    }

    fn row(&self, view: &View, _: usize, merge_request: &MergeRequest) -> Row<'static> {
        row(view, merge_request, self)
    }

    fn empty(&self, input: &Input<'_>) -> (&'static str, &'static str) {
        match (input.filter.is_empty(), input.tab) {
            (false, _) => ("No merge request matches the filter.", "‹seek› changes it, ‹escape› clears it"),
            (true, 0) => ("No merge request is open.", "‹tab.2› shows the merged ones, ‹tab.4› all"),
            (true, 1) => ("No merge request is merged.", "‹tab.1› shows the open ones, ‹tab.4› all"),
            (true, 2) => ("No merge request is closed.", "‹tab.1› shows the open ones, ‹tab.4› all"),
            (true, _) if self.project().is_some() => ("There are no merge requests here.", "‹mrs.create› creates one"),
            (true, _) => ("There are no merge requests here.", "‹palette› opens another place"),
        }
    }

    fn enter(pane: &mut MergeRequests, cx: &mut Cx) {
        pane.open_tab(None, cx);
    }

    fn wants(pane: &MergeRequests, view: &View) -> Vec<Want> {
        pane.source.list(0, None).projects_want().into_iter().chain(pane.details(view)).collect()
    }

    fn changed(pane: &mut MergeRequests, cx: &mut Cx) {
        pane.source.shown = pane.shown(&cx.view);
    }

    fn url(&self, _view: &View, merge_request: &MergeRequest) -> Option<String> {
        Some(merge_request.web_url.clone()).filter(|url| !url.is_empty())
    }

    fn copies(&self, _view: &View, merge_request: &MergeRequest) -> Vec<Clip> {
        review::copies(merge_request)
    }
}

impl TextSource for MergeRequestSource {
    fn text_title(&self, _view: &View, merge_request: &MergeRequest) -> (String, String) {
        let author = merge_request.author().map_or("", |user| user.username.as_str());
        (format!("!{} {}", merge_request.iid, review::title(merge_request)), author.to_owned())
    }

    fn text_key(&self, view: &View, merge_request: &MergeRequest, width: usize) -> Option<String> {
        merge_request.description.as_deref().filter(|description| !description.trim().is_empty())?;
        let at = merge_request.updated_at.as_ref().map_or("", |at| at.as_str());
        let identity = format!("description of merge request {} at {at}", merge_request.id);
        Some(rendered_markdown::key(view, &identity, width))
    }

    fn text_work(&self, view: &View, merge_request: &MergeRequest, width: usize, key: String) -> Work {
        let description = merge_request.description.clone().unwrap_or_default();
        rendered_markdown::render(view, key, description, width)
    }

    fn without_text(&self, _: &MergeRequest) -> (String, &'static str) {
        ("No description.".to_owned(), "‹mrs.open› opens it")
    }
}
