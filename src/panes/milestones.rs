//! The milestones of a project or group, and the details and progress of the selected one.

use crate::api::issues::Issue;
use crate::api::merge_requests::{MergeRequest, Milestone};
use crate::api::milestones::{
    DeleteMilestone, ListMilestoneIssues, ListMilestoneMergeRequests, ListMilestones, UpdateMilestone,
};
use crate::api::{Scope, Time};
use crate::app::permission;
use crate::app::query::{self, Grammar};
use crate::parts::facts::FETCH_DELAY;
use crate::parts::facts::LinkTarget;
use crate::parts::facts::facts_markdown;
use crate::parts::forms;
use crate::parts::items::issues;
use crate::parts::items::merge_requests;
use crate::parts::list::prelude::*;
use crate::parts::list::{query_list, request_limit, scope};
use crate::parts::text::dates::time_ago;
use crate::store::Rows;
use crate::ui::glyph;
use crate::ui::text::sanitize;
use jiff::Timestamp;
use serde_json::json;

/// The server's names of the states of the tabs.
const STATES: &[&str] = &["active", "closed", "all"];
/// The width in columns of a progress bar in the details and in the list.
const BAR_WIDTH: usize = 20;
const SHORT_BAR_WIDTH: usize = 5;
/// The maximum number of issues and of merge requests listed.
const MAX_LISTED: usize = 20;

fn is_active(milestone: &Milestone) -> bool {
    milestone.state != "closed"
}

/// Returns whether an active milestone is past its due date.
fn is_past_due(milestone: &Milestone, now: Timestamp) -> bool {
    let has_passed = milestone.due_date.as_ref().is_some_and(|due| due.is_past_due(now));
    is_active(milestone) && (milestone.expired == Some(true) || has_passed)
}

/// The milestones of a project or group.
pub struct MilestoneSource {
    scope: Option<Scope>,
}

/// The list of milestones.
pub type Milestones = ListPane<MilestoneSource>;

impl MilestoneSource {
    /// Returns the project or group that a milestone of the list belongs to.
    fn scope_of(&self, milestone: &Milestone) -> Option<Scope> {
        match (milestone.group_id, &self.scope) {
            (Some(group), Some(Scope::Project(_))) => Some(Scope::Group(group.into())),
            (_, scope) => scope.clone(),
        }
    }

    fn grammar(&self) -> Grammar {
        Grammar::new(query::MILESTONES, Some("search"), self.scope.as_ref().and_then(Scope::project).cloned())
    }

    fn issues(&self, milestone: &Milestone) -> Option<ListQuery<Issue>> {
        let (scope, milestone_id) = (self.scope_of(milestone)?, milestone.id);
        Some(ListQuery::new(&ListMilestoneIssues { scope, milestone_id }))
    }

    /// Returns a cell with the closed and all loaded issues of a milestone.
    fn progress(&self, milestone: &Milestone, view: &View) -> Line<'static> {
        let Some(rows) = self.issues(milestone).map(|query| view.store.rows(&query)) else { return Line::empty() };
        let (all, closed) = (rows.len(), rows.iter().filter(|issue| !issue.is_open()).count());
        if all == 0 {
            return Line::empty();
        }
        let more = if rows.has_more { "+" } else { "" };
        let [(full, success), (left, dim)] = bar(closed, all, SHORT_BAR_WIDTH);
        Line::new(full, success).and(left, dim).and(format!(" {closed}/{all}{more}"), Role::Dim)
    }

    fn merge_requests(&self, milestone: &Milestone) -> Option<ListQuery<MergeRequest>> {
        let (scope, milestone_id) = (self.scope_of(milestone)?, milestone.id);
        Some(ListQuery::new(&ListMilestoneMergeRequests { scope, milestone_id }))
    }
}

impl Milestones {
    fn go(&self, milestone: &Milestone, pane: &str, cx: &mut Cx) {
        let query = format!("state:all milestone:\"{}\"", milestone.title.replace('"', ""));
        cx.go(scope::place(self.source.scope.as_ref(), pane).query(query));
    }

    fn open_selection(&mut self, milestone: &Milestone, cx: &mut Cx) {
        if !self.enter_detail(cx) {
            self.go(milestone, "issues", cx);
        }
    }

    fn create(&mut self, cx: &mut Cx) {
        if let Some(scope) = &self.source.scope {
            Milestones::open_form(forms::milestone::create(scope), cx);
        }
    }

    fn edit(&mut self, milestone: &Milestone, cx: &mut Cx) {
        if let Some(scope) = self.source.scope_of(milestone) {
            self.open_edit(milestone, move |milestone| forms::milestone::edit(&scope, milestone), cx);
        }
    }

    fn close(&mut self, milestone: &Milestone, cx: &mut Cx) {
        let Some(scope) = self.source.scope_of(milestone) else { return };
        let (event, verb) = if is_active(milestone) { ("close", "close") } else { ("activate", "reopen") };
        let (milestone_id, state_event) = (milestone.id, Some(event.to_owned()));
        let update = UpdateMilestone { scope, milestone_id, state_event, ..UpdateMilestone::default() };
        cx.act(Action::Send(Write::new(&update, format!("{verb} milestone {}", milestone.title))));
    }

    fn delete(&mut self, milestone: &Milestone, cx: &mut Cx) {
        let Some(scope) = self.source.scope_of(milestone) else { return };
        let question = format!(
            "Delete the milestone {}? Its issues and merge requests are not deleted. This cannot be undone.",
            sanitize(&milestone.title)
        );
        let delete = DeleteMilestone { scope, milestone_id: milestone.id };
        let write = Write::new(&delete, format!("delete milestone {}", milestone.title));
        cx.act(App::confirm("Delete milestone", question, Action::Send(write)));
    }
}

impl ListSource for MilestoneSource {
    type Row = Milestone;
    type Detail = Details;
    const LIST: ListInfo = ListInfo {
        tabs: ListTabs { titles: &["Open", "Closed", "All"], words: Some(("state", STATES)) },
        ..ListInfo::new("milestones", "milestone", "milestones").widths(&[(44, 1), (44, 1)])
    };
    const COLUMNS: &'static [Column<Self>] = &[
        Column::<Self>::glyph("state", |_, milestone, _| {
            glyph::status(if is_active(milestone) { "opened" } else { "closed" }).into()
        }),
        Column::<Self>::fill("title", "Title", 14, |_, milestone, _| Line::text(&milestone.title))
            .sorted(|milestone| SortKey::caseless(&milestone.title)),
        Column::<Self>::fit("progress", "Progress", 8, 14, |source, milestone, view| source.progress(milestone, view))
            .drop_order(1),
        Column::<Self>::fit("start", "Start", 2, 10, |_, milestone, _| {
            Line::new(milestone.start_date.as_ref().map(Time::to_string).unwrap_or_default(), Role::Dim)
        })
        .by_time(|milestone| milestone.start_date.as_ref())
        .newest_first()
        .drop_order(4),
        Column::<Self>::fit("due", "Due", 2, 10, |_, milestone, view| {
            let role = if is_past_due(milestone, view.now) { Role::Failed } else { Role::Text };
            Line::new(milestone.due_date.as_ref().map(Time::to_string).unwrap_or_default(), role)
        })
        .by_time(|milestone| milestone.due_date.as_ref())
        .newest_first(),
        Column::<Self>::fit("group", "", 0, 5, |source, milestone, _| {
            let is_inherited = matches!(source.scope, Some(Scope::Project(_))) && milestone.group_id.is_some();
            Line::new(if is_inherited { "group" } else { "" }, Role::Dim)
        })
        .drop_order(2),
        Column::<Self>::age("updated", "Updated", |milestone| milestone.updated_at.as_ref()).drop_order(3),
    ];
    const COMMANDS: &'static [ListCommand<Self>] = &[
        Command::row("milestones.open", &["Enter"], "Show issues of milestone", Milestones::open_selection)
            .footer("issues"),
        Command::row(
            "milestones.mrs",
            &["m"],
            "Show merge requests",
            |pane: &mut Milestones, milestone: &Milestone, cx| {
                pane.go(milestone, "mrs", cx);
            },
        )
        .footer("merge requests"),
        Command::new("milestones.create", &["+"], "Create milestone…", Milestones::create)
            .needs(permission::PLAN)
            .footer("new"),
        Command::row("milestones.edit", &["e"], "Edit milestone…", Milestones::edit)
            .needs(permission::PLAN)
            .footer("edit"),
        Command::row("milestones.close", &["X"], "Close or reopen milestone", Milestones::close)
            .needs(permission::PLAN),
        Command::row("milestones.delete", &["D"], "Delete milestone…", Milestones::delete).needs(permission::PLAN),
        Milestones::columns_command("milestones.columns"),
    ];

    fn open(place: &Place, _view: &View) -> MilestoneSource {
        MilestoneSource { scope: scope::of(place) }
    }

    fn is_dim(&self, _: usize, milestone: &Milestone) -> bool {
        !is_active(milestone)
    }

    fn empty(&self, tab: usize) -> (&'static str, &'static str) {
        match tab {
            0 => ("No milestone is open.", "‹milestones.create› creates one, ‹tab.2› shows the closed ones"),
            1 => ("No milestone is closed.", "‹tab.1› shows the open ones, ‹tab.3› all"),
            _ => ("There are no milestones here.", "‹milestones.create› creates one"),
        }
    }

    fn query(&self, input: &Input<'_>, _: ServerOrder, view: &View) -> Option<ListQuery<Milestone>> {
        let given = query_list::given([
            ("scope", json!(self.scope.as_ref()?.to_string())),
            ("state", json!(STATES.get(input.tab))),
            ("include_ancestors", json!(true)),
        ]);
        let mut list: ListMilestones = self.grammar().ask(input.filter, given, view).ready()?;
        // Servers list all states if none is given.
        list.state.take_if(|state| state == "all");
        Some(ListQuery::new(&list))
    }

    fn filter(&self, _: &Input<'_>) -> Filter<Milestone> {
        Filter::Query(self.grammar())
    }

    fn key(milestone: &Milestone) -> String {
        milestone.id.to_string()
    }

    fn wants(pane: &Milestones, view: &View) -> Vec<Want> {
        let mut wants: Vec<Want> = Vec::new();
        if let Some(milestone) = pane.current(view) {
            let (issues, requests) = (pane.source.issues(milestone), pane.source.merge_requests(milestone));
            wants.extend(issues.iter().flat_map(|query| query.wants(1, FETCH_DELAY, None)));
            wants.extend(requests.iter().flat_map(|query| query.wants(1, FETCH_DELAY, None)));
        }
        let issues = pane.visible_rows(view).filter_map(|milestone| pane.source.issues(milestone));
        wants.extend(request_limit::wants(issues.flat_map(ListQuery::into_loads)));
        wants
    }

    fn url(&self, view: &View, milestone: Option<&Milestone>) -> Option<String> {
        let milestone = milestone?;
        let known = milestone.web_url.clone().filter(|url| !url.is_empty());
        let is_own = matches!(self.scope, Some(Scope::Project(_))) && milestone.group_id.is_none();
        let page = || scope::page(self.scope.as_ref(), view, &format!("/-/milestones/{}", milestone.iid));
        known.or_else(|| page().filter(|_| is_own))
    }

    fn copies(&self, _view: &View, milestone: &Milestone) -> Vec<Clip> {
        vec![Clip::line("title", milestone.title.clone()), Clip::line("ID", milestone.id.to_string())]
    }
}

/// Returns the done and the remaining part of a bar that is `steps` columns wide.
fn bar(done: usize, all: usize, steps: usize) -> [(String, Role); 2] {
    let full = done.min(all) * steps / all.max(1);
    [(glyph::full().repeat(full), Role::Success), (glyph::left().repeat(steps - full), Role::Dim)]
}

/// Returns a bar with the number of done and of all loaded rows, or the loading state.
fn progress<T: 'static>(rows: &Rows<'_, T>, done: impl Fn(&T) -> bool, word: &str) -> Line<'static> {
    if !rows.is_loaded {
        let words =
            rows.error.map_or_else(|| "…".to_owned(), |error| format!("{}: {}", error.title(), error.message()));
        return Line::new(words, Role::Dim);
    }
    let (all, closed) = (rows.len(), rows.iter().filter(|row| done(row)).count());
    if all == 0 {
        return Line::new("none", Role::Dim);
    }
    let more = if rows.has_more { " (loaded rows only)" } else { "" };
    let words = (format!("  {closed} of {all} {word}{more}"), Role::Text);
    bar(closed, all, BAR_WIDTH).into_iter().chain([words]).collect()
}

impl Describes<Details> for MilestoneSource {
    fn describe(&self, facts: &mut Details, view: &View, milestone: &Milestone) {
        facts.title(milestone.title.clone(), "");
        let mut state = Line::new(if is_active(milestone) { "open" } else { "closed" }.to_owned(), Role::Text);
        if is_past_due(milestone, view.now) {
            state.push(format!("{}past due", glyph::separator()), Role::Failed);
        }
        facts.field("state", state, None);
        for (name, date) in [("start", &milestone.start_date), ("due", &milestone.due_date)] {
            if let Some(date) = date {
                facts.field(name, Line::new(date.to_string(), Role::Text), None);
            }
        }
        let created = time_ago(view, milestone.created_at.as_ref());
        if !created.is_empty() {
            facts.field("created", Line::new(created, Role::Dim), None);
        }
        if let Some(scope) = self.scope_of(milestone) {
            facts_markdown::write(facts, view, &scope, milestone.description.as_deref(), facts.width());
        }
        facts.line(Line::empty());
        let (Some(issues_of), Some(requests_of)) = (self.issues(milestone), self.merge_requests(milestone)) else {
            return;
        };
        let rows = view.store.rows(&issues_of);
        facts.field("issues", progress(&rows, |issue| !issue.is_open(), "closed"), None);
        for issue in rows.iter().take(MAX_LISTED) {
            let place = Place::new("issue").project(issues::project(issue, view)).item(issue.iid);
            let (sign, role) = issues::state(issue);
            let pieces = Line::new(format!("{sign} "), role)
                .and(format!("#{} ", issue.iid), Role::Ref)
                .and(issue.title.clone(), Role::Text);
            facts.field("", pieces, Some(LinkTarget::Place(place)));
        }
        let rows = view.store.rows(&requests_of);
        facts.field("merge requests", progress(&rows, |request| !request.is_open(), "merged or closed"), None);
        for request in rows.iter().take(MAX_LISTED) {
            let place = Place::new("mr").project(merge_requests::project(request, view)).item(request.iid);
            let (sign, word, role) = merge_requests::state(request);
            let pieces = Line::new(format!("{} ", glyph::or_word(sign, word)), role)
                .and(format!("!{} ", request.iid), Role::Ref)
                .and(merge_requests::title(request).to_owned(), Role::Text);
            facts.field("", pieces, Some(LinkTarget::Place(place)));
        }
    }
}
