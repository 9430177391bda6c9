//! The issues of a project, of a group or of the user, with tabs by state, and the description of the selected issue.

use crate::api::issues::Issue;
use crate::api::{Id, Scope, Time};
use crate::app::features::Feature;
use crate::app::pane::Breadcrumb;
use crate::app::permission::{self, Permission};
use crate::parts::facts::description::Description;
use crate::parts::facts::profile;
use crate::parts::items::issue_query::IssueQuery;
use crate::parts::items::issues;
use crate::parts::items::item_commands::{OpenItem, ShowsItem};
use crate::parts::list::prelude::*;
use crate::parts::list::scope;
use crate::parts::{forms, list};

const STATES: &[&str] = &["opened", "closed", "all"];

fn author(issue: &Issue) -> &str {
    issue.author.as_ref().map_or("", |user| &user.username)
}

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

    /// Returns the project, if the list belongs to one.
    fn project(&self) -> Option<&Id> {
        self.scope.as_ref().and_then(Scope::project)
    }

    fn project_of(&self, issue: &Issue, view: &View) -> Id {
        self.project().cloned().unwrap_or_else(|| issues::project(issue, view))
    }
}

impl Issues {
    fn open_issue(&mut self, issue: &Issue, cx: &mut Cx) {
        cx.go(Place::new("issue").project(self.source.project_of(issue, &cx.view)).item(issue.iid));
    }

    /// Closes or reopens the marked issues, each with its own request.
    fn close_all(&mut self, chosen: &[&Issue], cx: &mut Cx) {
        if let [issue] = chosen {
            return cx.act(issues::ask_to_close_or_reopen(&self.source.project_of(issue, &cx.view), issue));
        }
        let write = |issue: &&Issue| issues::close_or_reopen(&self.source.project_of(issue, &cx.view), issue);
        let writes = chosen.iter().map(|issue| (issue.is_open(), issue.title.as_str(), write(issue))).collect();
        let clear_marks = cx.here.then(|pane: &mut Issues, _| _ = pane.list.state.clear_marks());
        cx.act(issues::close_or_reopen_all("issues", writes, clear_marks));
    }

    fn edit(&mut self, issue: &Issue, cx: &mut Cx) {
        forms::issue::edit(&self.source.project_of(issue, &cx.view), issue.iid, &cx.view).open(cx);
    }

    fn create(&mut self, cx: &mut Cx) {
        if let Some(project) = self.source.project() {
            forms::issue::create(project).open(cx);
        }
    }
}

impl ShowsItem for Issues {
    const PEOPLE: &'static str = "Edit assignees…";
    const EDIT_FIELDS: Permission = permission::EDIT_ISSUE;

    fn item<'a>(&self, view: &View<'a>) -> Result<(Id, OpenItem<'a>), Disabled> {
        let issue = self.need_row(view)?;
        Ok((self.source.project_of(issue, view), OpenItem::Issue(issue)))
    }
}

impl ListSource for IssueSource {
    type Row = Issue;
    type Detail = TextDetail;
    // Authors and ages are shown beside the titles before a description is.
    const LIST: ListInfo = ListInfo {
        tabs: ListTabs { titles: &["Open", "Closed", "All"], words: Some(("state", STATES)) },
        order: Some(("updated", true)),
        ..ListInfo::new("issues", "issue", "issues").widths(&[(93, 10), (36, 3)])
    };
    const COLUMNS: &'static [Column<Self>] = &[
        Column::<Self>::glyph("state", |_, issue, _| issues::state(issue).into()),
        Column::<Self>::fit("project", "Project", 6, 24, |source, issue, view| match source.project() {
            Some(_) => Line::empty(),
            None => Line::new(issues::project(issue, view).to_string(), Role::Dim),
        })
        .cut_in_middle()
        .drop_order(1),
        Column::<Self>::fit("ID", "", 2, 8, |_, issue, _| Line::new(format!("#{}", issue.iid), Role::Dim))
            .right()
            .sorted(|issue| issue.iid.into()),
        Column::<Self>::fill("title", "Title", 28, |_, issue, _| {
            Line::new(if issue.confidential { "confidential " } else { "" }, Role::Warning)
                .and(&issue.title, Role::Text)
        })
        .server("title"),
        Column::<Self>::fit("labels", "Labels", 3, 26, |_, issue, _| issues::labels(issue)).drop_order(3),
        Column::<Self>::fit("author", "Author", 3, 12, |_, issue, _| Line::new(author(issue), Role::User))
            .drop_order(2),
        Column::<Self>::fit("assignees", "Assignees", 3, 16, |_, issue, _| profile::usernames(issue.assignees()))
            .drop_order(4),
        Column::<Self>::fit("milestone", "Milestone", 3, 16, |_, issue, _| {
            Line::new(issue.milestone.as_ref().map_or("", |milestone| &milestone.title), Role::Dim)
        })
        .server("milestone_due")
        .drop_order(7),
        Column::<Self>::fit("due", "Due", 2, 10, |_, issue, view| {
            let is_past_due = issue.is_open() && issue.due_date.as_ref().is_some_and(|due| due.is_past_due(view.now));
            let due = issue.due_date.as_ref().map(Time::to_string).unwrap_or_default();
            Line::new(due, if is_past_due { Role::Failed } else { Role::Dim })
        })
        .server("due_date")
        .drop_order(5),
        Column::<Self>::fit("comments", "Comments", 2, 12, |_, issue, _| {
            let count = Some(issue.user_notes_count).filter(|count| *count > 0);
            Line::new(count.map(list::comment_count).unwrap_or_default(), Role::Dim)
        })
        .right()
        .sorted(|issue| issue.user_notes_count.into())
        .drop_order(6),
        Column::<Self>::fit("votes", "Votes", 2, 6, |_, issue, _| {
            let votes = Some(issue.upvotes).filter(|votes| *votes > 0);
            Line::new(votes.map(|votes| votes.to_string()).unwrap_or_default(), Role::Dim)
        })
        .right()
        .server("popularity")
        .drop_order(8)
        .hidden(),
        Column::<Self>::age("created", "Created", |issue| issue.created_at.as_ref())
            .server("created_at")
            .drop_order(6)
            .hidden(),
        Column::<Self>::age("updated", "Updated", |issue| issue.updated_at.as_ref().or(issue.created_at.as_ref()))
            .server("updated_at")
            .drop_order(1),
    ];
    const TABLES: &'static [&'static [ListCommand<Self>]] = &[Self::COMMANDS, Issues::ITEM];
    const COMMANDS: &'static [ListCommand<Self>] = &[
        Command::row("issues.open", &["Enter"], "Open issue", Issues::open_issue).footer("open"),
        Issues::mark_command("issues.mark").footer("mark"),
        Command::rows("issues.close", &["X"], "Close or reopen issues", Issues::close_all)
            .needs(permission::EDIT_ISSUE)
            .footer("close"),
        Command::new("issues.create", &["+"], "Create issue…", Issues::create).writes().footer("new").when(
            |pane, view| match pane.source.project() {
                Some(project) => Feature::Issues.check(view.store, Some(project)),
                None => Err("select a project first".into()),
            },
        ),
        Command::row("issues.edit", &["e", "E"], "Edit issue…", Issues::edit).needs(permission::EDIT_ISSUE),
        Issues::columns_command("issues.columns"),
    ];

    fn open(place: &Place, _view: &View) -> IssueSource {
        IssueSource { scope: scope::of(place) }
    }

    fn is_dim(&self, _: usize, issue: &Issue) -> bool {
        !issue.is_open()
    }

    fn empty(&self, tab: usize) -> (&'static str, &'static str) {
        match tab {
            0 if self.scope.is_none() => {
                ("No open issue is assigned to you.", "‹seek› scope:all lists all that you can see")
            }
            0 => ("No issue is open.", "‹tab.2› shows the closed ones"),
            1 => ("No issue is closed.", "‹tab.1› shows the open ones, ‹tab.3› all"),
            _ if self.project().is_some() => ("There are no issues here.", "‹issues.create› creates one"),
            _ => ("There are no issues here.", "‹palette› opens another place"),
        }
    }

    fn breadcrumbs(&self, _: &Place, view: &View) -> Vec<Breadcrumb> {
        let title = if self.scope.is_none() { "issues assigned to you" } else { "issues" };
        scope::breadcrumbs(self.scope.as_ref(), view, title)
    }

    fn query(&self, input: &Input<'_>, order: ServerOrder, view: &View) -> Option<ListQuery<Issue>> {
        self.list(input.tab, order).query(input.filter, view)
    }

    fn filter(&self, _: &Input<'_>) -> Filter<Issue> {
        Filter::Query(self.list(0, None).grammar())
    }

    fn belongs_to(&self, issue: &Issue, view: &View) -> (Option<Id>, bool) {
        (Some(self.project_of(issue, view)), view.is_me(issue.owners()))
    }

    fn key(issue: &Issue) -> String {
        issue.id.to_string()
    }

    fn url(&self, _view: &View, issue: Option<&Issue>) -> Option<String> {
        Some(issue?.web_url.clone()).filter(|url| !url.is_empty())
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

impl Describes<TextDetail> for IssueSource {
    fn describe(&self, text: &mut TextDetail, view: &View, issue: &Issue) {
        text.description(view, &Description::of_issue(issue), "‹issues.open› opens it");
    }
}
