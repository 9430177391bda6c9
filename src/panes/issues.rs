//! The issues of a project, of a group or of the user, with tabs by state, and the description of the selected issue.

use crate::api::issues::Issue;
use crate::api::{Id, Scope, Time};
use crate::app::action::Action;
use crate::app::clip::Clip;
use crate::app::command::Command;
use crate::app::context::Cx;
use crate::app::overlay::batch::Batch;
use crate::app::pane::Breadcrumb;
use crate::app::place::Place;
use crate::app::query;
use crate::app::view::View;
use crate::parts::columns::{Columns, Field, ServerOrder};
use crate::parts::issue_query::IssueQuery;
use crate::parts::list::age;
use crate::parts::list_detail::{TextDetail, TextSource};
use crate::parts::list_pane::ListPane;
use crate::parts::list_source::{Filter, Input, ListCommand, ListSource};
use crate::parts::{forms, issues, rendered_markdown, scope};
use crate::store::{ListQuery, Work};
use crate::ui::line::Line;
use crate::ui::panels::PanelRequest;
use crate::ui::table::{Column, Row, Size};
use crate::ui::text;
use crate::ui::theme::Role;

const STATES: &[&str] = &["opened", "closed", "all"];

const COLUMNS: Columns<Issue> = Columns {
    place: "issues",
    fields: &[
        Field::new("state", Column::new("", Size::Fixed(1))),
        Field::new("project", Column::new("Project", Size::Fit { min: 6, max: 24 }).cut_in_middle().drop_order(1)),
        Field::new("ID", Column::new("", Size::Fit { min: 2, max: 8 }).right()).loaded(|a, b| a.iid.cmp(&b.iid)),
        Field::new("title", Column::new("Title", Size::Fill { min: 20, weight: 3 })).server("title"),
        Field::new("labels", Column::new("Labels", Size::Fit { min: 3, max: 26 }).drop_order(3)),
        Field::new("milestone", Column::new("Milestone", Size::Fit { min: 3, max: 16 }).drop_order(6))
            .server("milestone_due"),
        Field::new("assignees", Column::new("Assignees", Size::Fit { min: 3, max: 16 }).drop_order(2)),
        Field::new("author", Column::new("Author", Size::Fit { min: 3, max: 12 }).drop_order(7)).hidden(),
        Field::new("comments", Column::new("Comments", Size::Fit { min: 2, max: 11 }).right().drop_order(5))
            .loaded(|a: &Issue, b| a.user_notes_count.cmp(&b.user_notes_count)),
        Field::new("votes", Column::new("Votes", Size::Fit { min: 2, max: 6 }).right().drop_order(8))
            .server("popularity")
            .hidden(),
        Field::new("due", Column::new("Due", Size::Fit { min: 2, max: 10 }).drop_order(4)).server("due_date"),
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

/// The issues of a project or group, or those assigned to the user.
pub struct IssueSource {
    scope: Option<Scope>,
}

/// The list of issues.
pub type Issues = ListPane<IssueSource>;

impl IssueSource {
    fn list(&self, tab: usize, order: ServerOrder) -> IssueQuery {
        let state = STATES.get(tab).copied().unwrap_or_default();
        IssueQuery { scope: self.scope.clone(), state, order }
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

    fn project_of(&self, issue: &Issue, view: &View) -> Id {
        self.project().cloned().unwrap_or_else(|| issues::project(issue, view))
    }
}

impl Issues {
    fn open_issue(&mut self, cx: &mut Cx) {
        if let Some(issue) = self.current(&cx.view) {
            cx.go(Place::new("issue").project(self.source.project_of(issue, &cx.view)).item(issue.iid));
        }
    }

    /// Closes or reopens the marked issues, each with its own request.
    fn close_all(&mut self, cx: &mut Cx) {
        let chosen = self.marked_or_selected(&cx.view);
        if let [issue] = chosen.as_slice() {
            return cx.act(issues::ask_to_close_or_reopen(&self.source.project_of(issue, &cx.view), issue));
        }
        let write = |issue: &&Issue| issues::close_or_reopen(&self.source.project_of(issue, &cx.view), issue);
        let writes: Vec<_> = chosen.iter().map(write).collect();
        self.list.state.clear_marks();
        cx.act(Action::OpenOverlay(Box::new(Batch::new("Close or reopen", writes))));
    }

    fn edit(&mut self, cx: &mut Cx) {
        if let Some(issue) = self.current(&cx.view) {
            forms::issue::edit(&self.source.project_of(issue, &cx.view), issue.iid, &cx.view).open(cx);
        }
    }

    fn create(&mut self, cx: &mut Cx) {
        if let Some(project) = self.source.project() {
            forms::issue::create(project).open(cx);
        }
    }
}

impl ListSource for IssueSource {
    type Row = Issue;
    type Detail = TextDetail;
    const ID: &'static str = "issues";
    const TITLE: &'static str = "Issues";
    const WIDTHS: &'static [PanelRequest] = &[PanelRequest { min: 70, weight: 2 }, PanelRequest { min: 36, weight: 1 }];
    const COLUMNS: Columns<Issue> = COLUMNS;
    const COMMANDS: &'static [ListCommand<Self>] = &[
        Command::new("issues.open", &["Enter"], "Open issue", Issues::open_issue).footer("open").when(Issues::has_row),
        Issues::mark_command("issues.mark").footer("mark"),
        Command::new("issues.close", &["X"], "Close or reopen issues", Issues::close_all)
            .writes()
            .footer("close")
            .when(Issues::has_row),
        Command::new("issues.create", &["+"], "Create issue…", Issues::create).writes().footer("new").when(
            |pane, view| {
                forms::signed_in(view)?;
                match pane.source.project() {
                    Some(_) => Ok(()),
                    None => Err("select a project first".into()),
                }
            },
        ),
        Command::new("issues.edit", &["e"], "Edit issue…", Issues::edit).writes().when(Issues::has_row),
        Issues::columns_command("issues.columns"),
    ];

    fn open(place: &Place, _view: &View) -> IssueSource {
        IssueSource { scope: scope::of(place) }
    }

    fn place(&self) -> Place {
        scope::place(self.scope.as_ref(), Self::ID)
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        let title = if self.scope.is_none() { "issues assigned to you" } else { "issues" };
        scope::breadcrumbs(self.scope.as_ref(), view, title)
    }

    fn tabs(&self) -> &'static [&'static str] {
        &["Open", "Closed", "All"]
    }

    fn shown_tab(&self, input: &Input<'_>) -> usize {
        Self::state(input)
    }

    fn select_tab(pane: &mut Issues, index: usize) {
        let Some(state) = STATES.get(index).filter(|_| index != Self::state(&pane.input())) else { return };
        let text = pane.list.filter_text().to_owned();
        match query::get(&text, "state") {
            Some(_) => pane.set_filter(&query::with(&text, "state", state)),
            None => pane.set_tab(index),
        }
    }

    fn query(&self, input: &Input<'_>, order: ServerOrder, view: &View) -> Option<ListQuery<Issue>> {
        self.list(input.tab, order).query(input.filter, view)
    }

    fn filter(&self, _: &Input<'_>) -> Filter<Issue> {
        Filter::Query(self.list(0, None).grammar())
    }

    fn key(issue: &Issue) -> String {
        issue.id.to_string()
    }

    fn row(&self, view: &View, _: usize, issue: &Issue) -> Row<'static> {
        let project = match self.project() {
            Some(_) => String::new(),
            None => issues::project(issue, view).as_str().to_owned(),
        };
        let mut title = Line::empty();
        if issue.confidential {
            title = title.and("confidential ", Role::Warning);
        }
        let assignees: Vec<&str> = issue.assignees().iter().map(|user| user.username.as_str()).collect();
        let is_past_due = issue.is_open() && issue.due_date.as_ref().is_some_and(|due| due.is_past_due(view.now));
        let count = |count: u64, words: String| if count > 0 { words } else { String::new() };
        Row::new(vec![
            Line::from(issues::state(issue)),
            Line::new(project, Role::Dim),
            Line::new(format!("#{}", issue.iid), Role::Dim),
            title.and(issue.title.clone(), Role::Text),
            issues::labels(issue),
            Line::new(issue.milestone.as_ref().map(|m| m.title.clone()).unwrap_or_default(), Role::Dim),
            Line::new(assignees.join(" "), Role::User),
            Line::new(issue.author.as_ref().map(|a| a.username.clone()).unwrap_or_default(), Role::User),
            Line::new(count(issue.user_notes_count, text::count_noun(issue.user_notes_count, "note")), Role::Dim),
            Line::new(count(issue.upvotes, issue.upvotes.to_string()), Role::Dim),
            Line::new(
                issue.due_date.as_ref().map(Time::to_string).unwrap_or_default(),
                if is_past_due { Role::Failed } else { Role::Dim },
            ),
            Line::new(age(view, issue.created_at.as_ref()), Role::Dim),
            Line::new(age(view, issue.updated_at.as_ref().or(issue.created_at.as_ref())), Role::Dim),
        ])
        .dim(!issue.is_open())
    }

    fn empty(&self, input: &Input<'_>) -> (&'static str, &'static str) {
        let is_own = self.scope.is_none();
        match (input.filter.is_empty(), input.tab) {
            (false, _) => ("No issue matches the filter.", "‹seek› changes it, ‹escape› clears it"),
            (true, 0) if is_own => ("No open issue is assigned to you.", "‹seek› scope:all lists all that you can see"),
            (true, 0) => ("No issue is open.", "‹tab.2› shows the closed ones"),
            (true, 1) => ("No issue is closed.", "‹tab.1› shows the open ones, ‹tab.3› all"),
            (true, _) if self.project().is_some() => ("There are no issues here.", "‹issues.create› creates one"),
            (true, _) => ("There are no issues here.", "‹palette› opens another place"),
        }
    }

    fn enter(pane: &mut Issues, cx: &mut Cx) {
        pane.open_issue(cx);
    }

    fn url(&self, _view: &View, issue: &Issue) -> Option<String> {
        Some(issue.web_url.clone()).filter(|url| !url.is_empty())
    }

    fn copies(&self, view: &View, issue: &Issue) -> Vec<Clip> {
        let reference = format!("{}#{}", self.project_of(issue, view), issue.iid);
        vec![
            Clip::line("number", format!("#{}", issue.iid)),
            Clip::line("reference", reference),
            Clip::line("title", issue.title.clone()),
        ]
    }
}

impl TextSource for IssueSource {
    fn text_title(&self, _view: &View, issue: &Issue) -> (String, String) {
        let author = issue.author.as_ref().map_or("", |user| user.username.as_str());
        (format!("#{} {}", issue.iid, issue.title), author.to_owned())
    }

    fn text_key(&self, view: &View, issue: &Issue, width: usize) -> Option<String> {
        issue.description.as_deref().filter(|description| !description.trim().is_empty())?;
        let at = issue.updated_at.as_ref().map_or("", Time::as_str);
        Some(rendered_markdown::key(view, &format!("description of issue {} at {at}", issue.id), width))
    }

    fn text_work(&self, view: &View, issue: &Issue, width: usize, key: String) -> Work {
        rendered_markdown::render(view, key, issue.description.clone().unwrap_or_default(), width)
    }

    fn without_text(&self, _: &Issue) -> (String, &'static str) {
        ("No description.".to_owned(), "‹issues.open› opens it")
    }
}
