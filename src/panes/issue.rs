//! An issue or an epic: its description as far as the API provides it, its facts, and its comments.

use crate::api::branches::Branch;
use crate::api::endpoint::encode;
use crate::api::issues::{
    DeleteIssue, GetIssue, Issue, ListClosingMergeRequests, ListIssueParticipants, ListRelatedMergeRequests,
};
use crate::api::merge_requests::MergeRequest;
use crate::api::search::{Hit, SearchWithin};
use crate::api::users::User;
use crate::api::{Fault, GitRef, Id, Noteable, Scope, Time};
use crate::app::App;
use crate::app::action::Action;
use crate::app::clip::Clip;
use crate::app::command::{Command, Table};
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::custom::InputKind;
use crate::app::features::Feature;
use crate::app::outbox::NoteableExt;
use crate::app::overlay::form::Form;
use crate::app::pane::{Breadcrumb, CommandInput, Pane, PaneKind};
use crate::app::permission::{self, Permission};
use crate::app::place::Place;
use crate::app::target;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::domain::mentions::Mentions;
use crate::parts::breadcrumbs;
use crate::parts::comments::notes::Notes;
use crate::parts::comments::{self, ShowsComments, Target};
use crate::parts::facts::fact_lines::{self, FactLines};
use crate::parts::facts::sidebar;
use crate::parts::items::item_commands::{OpenItem, ShowsItem};
use crate::parts::items::linked_items::{self, LinkedGroup, LinkedItem, OfIssue};
use crate::parts::items::{issues, subscription, time_tracking};
use crate::parts::programs;
use crate::parts::review::drafts::Drafts;
use crate::parts::text::dates::{age, time_ago};
use crate::parts::text::links::TextOrigin;
use crate::parts::text::{label_colors, rendered_markdown};
use crate::parts::{forms, project};
use crate::store::{Derived, Load, Revision, Want, Write};
use crate::ui::doc::DocLine;
use crate::ui::line::Line;
use crate::ui::theme::Role;
use crate::ui::{glyph, text};
use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// The width in columns of the labels of facts.
const LABEL_WIDTH: usize = 15;
/// The maximum number of lines of the title.
const MAX_TITLE_LINES: usize = 4;

/// The pane of an issue or epic.
pub struct IssuePane {
    /// Whether the pane shows an epic.
    epic: bool,
    project: Option<Id>,
    group: Option<Id>,
    number: Option<u64>,
    /// The search words that found the issue.
    words: Option<String>,
    notes: Notes,
    /// The kinds of items that the description and the notes mention, from the notes of a revision and the description
    /// received then.
    mentions: Derived<Option<Timestamp>, Mentions>,
    /// The facts shown in the sidebar; empty on a narrow screen, where they are part of the head.
    facts: Vec<DocLine<'static>>,
    /// The inputs that the lines above the notes were built from.
    inputs: Option<HeadInput>,
}

/// The inputs of the lines above the notes. The lines are rebuilt when one of them changes.
#[derive(PartialEq)]
struct HeadInput {
    /// The number of replies for the issue, and the error of the last request.
    reply: (usize, Option<String>),
    /// The revision of each search, whether it is loaded, and its error.
    replies: Vec<(Revision, bool, Option<String>)>,
    /// The revision of the labels, whose colors are shown.
    labels: Option<Revision>,
    /// The revisions of the related merge requests, closing merge requests, participants and linked issues.
    related: [Revision; 4],
    /// The width of the text and of the screen in columns.
    widths: (usize, u16),
    theme: String,
    /// The formatted ages of the issue's creation and last update.
    ages: [String; 2],
    /// Whether the description is rendered.
    rendered: (bool, bool),
    /// The name of the description with the images that are shown.
    images: String,
}

impl IssuePane {
    fn noteable(&self) -> Option<Noteable> {
        match self.epic {
            true => Some(Noteable::Epic { group: self.group.clone()?, id: self.number? }),
            false => Some(Noteable::Issue { project: self.project.clone()?, iid: self.number? }),
        }
    }

    fn request(&self) -> Option<GetIssue> {
        let (id, issue_iid) = (self.project.clone().filter(|_| !self.epic)?, self.number?);
        Some(GetIssue { id, issue_iid })
    }

    fn related(&self) -> Option<ListRelatedMergeRequests> {
        self.request().map(|GetIssue { id, issue_iid }| ListRelatedMergeRequests { id, issue_iid })
    }

    fn closing(&self) -> Option<ListClosingMergeRequests> {
        self.request().map(|GetIssue { id, issue_iid }| ListClosingMergeRequests { id, issue_iid })
    }

    fn participants(&self) -> Option<ListIssueParticipants> {
        self.request().map(|GetIssue { id, issue_iid }| ListIssueParticipants { id, issue_iid })
    }

    /// Returns the requests for related merge requests and participants. They are sent once the issue is loaded.
    fn sidebar_wants(&self, view: &View) -> Vec<Want> {
        if self.request().is_none_or(|get| view.store.get(&get).value.is_none()) {
            return Vec::new();
        }
        // Servers count the merge requests that close it, and note each that mentions it.
        let mentions = self.mentions.latest().is_some_and(|mentions| mentions.merge_requests);
        let closing = self.issue(view).and_then(|issue| issue.merge_requests_count);
        let loads = [
            self.related().filter(|_| mentions).and_then(|list| view.if_supported(&list, 1)),
            self.closing().filter(|_| closing != Some(0)).and_then(|list| view.if_supported(&list, 1)),
            self.participants().and_then(|list| view.if_supported(&list, 1)),
        ];
        let linked = self.linked().and_then(|linked| linked.want(view));
        loads.into_iter().flatten().map(|load| load.optional().into()).chain(linked).collect()
    }

    fn read_mentions(&mut self, view: &View) {
        let (Some(on), Some(get)) = (self.noteable(), self.request()) else { return };
        let (notes, reply) = (on.conversation(view), view.store.get(&get));
        self.mentions.update(notes.revision, reply.since, || {
            let description = reply.value.and_then(|issue| issue.description.as_deref());
            let found = Mentions::of(description.into_iter().chain(notes.iter().map(|note| note.body.as_str())));
            // What is not loaded may mention anything.
            if notes.has_more { Mentions { merge_requests: true, ..found } } else { found }
        });
    }

    /// Returns the request for the issues that are linked to it.
    fn linked(&self) -> Option<OfIssue> {
        self.request().map(|GetIssue { id, issue_iid }| OfIssue::new(&id, issue_iid))
    }

    /// Returns the linked issues, as far as they are loaded.
    fn linked_groups<'a>(&self, view: &View<'a>) -> Vec<LinkedGroup<'a>> {
        self.linked().map(|linked| linked.groups(view).to_vec()).unwrap_or_default()
    }

    /// Returns all that is linked to it: merge requests and issues.
    fn all_linked<'a>(&self, view: &View<'a>) -> Vec<LinkedGroup<'a>> {
        let of = |closes: bool| {
            let requests = self.requests(view).into_iter().filter(|(_, is_closing)| *is_closing == closes);
            requests.map(|(request, _)| LinkedItem::MergeRequest(request)).collect()
        };
        let requests = [("Closes it", of(true)), ("", of(false))];
        requests.into_iter().chain(self.linked_groups(view)).collect()
    }

    /// Returns the merge requests of the issue without duplicates, closing ones first, and whether they close it.
    fn requests<'a>(&self, view: &View<'a>) -> Vec<(&'a MergeRequest, bool)> {
        let mut found: Vec<(&MergeRequest, bool)> = Vec::new();
        let closing = self.closing().map(|list| view.store.list(&list));
        let related = self.related().map(|list| view.store.list(&list));
        let closing = closing.iter().flat_map(|rows| rows.iter()).map(|mr| (mr, true));
        for (mr, closes) in closing.chain(related.iter().flat_map(|rows| rows.iter()).map(|mr| (mr, false))) {
            if !found.iter().any(|(known, _)| known.id == mr.id) {
                found.push((mr, closes));
            }
        }
        found
    }

    fn open_linked(&mut self, cx: &mut Cx) {
        let view = cx.view;
        if let (Some(project), Some(issue)) = (&self.project, self.issue(&view)) {
            linked_items::open(&self.all_linked(&view), issue.project_id, project, cx);
        }
    }

    fn can_link(&self, view: &View) -> Result<(), Disabled> {
        self.can_change(view)?;
        self.linked().ok_or("it has not loaded yet")?.has_links(view)
    }

    fn can_unlink(&self, view: &View) -> Result<(), Disabled> {
        self.can_change(view)?;
        self.linked().ok_or("it has not loaded yet")?.is_linked(view)
    }

    fn link(&mut self, cx: &mut Cx) {
        if let Some(linked) = self.linked() {
            linked.add::<Self>(cx);
        }
    }

    fn unlink(&mut self, cx: &mut Cx) {
        let view = cx.view;
        if let (Some(linked), Some(issue)) = (self.linked(), self.issue(&view)) {
            linked.remove(issue.project_id, cx);
        }
    }

    /// Opens a form for the name of a new branch for the issue, and continues with the branch.
    fn create_branch(&mut self, then: fn(&mut Self, &Branch, &mut Cx), cx: &mut Cx) {
        if let (Some(project), Some(issue)) = (&self.project, self.issue(&cx.view)) {
            let from = project::default_branch(&cx.view, project).map(GitRef::branch).unwrap_or_default();
            forms::refs::branch_of_issue(project, &from, issue).open_then(cx, then);
        }
    }

    fn create_request(&mut self, branch: &Branch, cx: &mut Cx) {
        if let (Some(project), Some(issue)) = (&self.project, self.issue(&cx.view)) {
            forms::merge_request::create_for_issue(project, &branch.name, issue, &cx.view).open(cx);
        }
    }

    fn delete_issue(&mut self, cx: &mut Cx) {
        if let (Some(project), Some(issue)) = (&self.project, self.issue(&cx.view)) {
            let delete = DeleteIssue { id: project.clone(), issue_iid: issue.iid };
            let title = text::sanitize(&issue.title);
            let question =
                format!("Delete the issue #{} \"{title}\" with its comments? This cannot be undone.", issue.iid);
            let write = Write::new(&delete, format!("delete {project}#{}", issue.iid));
            cx.act(App::confirm("Delete issue", question, Action::Send(write)));
        }
    }

    /// Returns whether the server lacks the endpoint for a single issue, so that the issue is looked up by search.
    fn is_searched(&self, view: &View) -> bool {
        let error = self.request().and_then(|get| view.store.get(&get).error);
        error.is_some_and(|error| matches!(error.fault, Fault::Unsupported(_)))
    }

    /// Returns the searches that may find the issue: by its number, and by the words that found it before.
    fn searches(&self) -> Vec<SearchWithin> {
        let (Some(id), Some(iid), false) = (&self.project, self.number, self.epic) else { return Vec::new() };
        let searches = [Some(format!("#{iid}")), self.words.clone()].into_iter().flatten();
        let within = Scope::Project(id.clone());
        searches.map(|search| SearchWithin { within: within.clone(), scope: "issues".into(), search }).collect()
    }

    fn issue<'a>(&self, view: &View<'a>) -> Option<&'a Issue> {
        let number = self.number?;
        if let Some(issue) = self.request().and_then(|get| view.store.get(&get).value) {
            return Some(issue);
        }
        self.searches().iter().find_map(|search| {
            view.store.list(search).iter().find_map(|hit| match hit {
                Hit::Issue(issue) if issue.iid == number => Some(issue.as_ref()),
                _ => None,
            })
        })
    }

    fn identity(issue: &Issue) -> String {
        let at = issue.updated_at.as_ref().map_or("", |at| at.as_str());
        format!("description of issue {} at {at}", issue.id)
    }

    fn head_input(&self, view: &View) -> HeadInput {
        let reply = |search: &SearchWithin| {
            let rows = view.store.list(search);
            (rows.revision, rows.is_loaded, rows.error.map(|error| error.message()))
        };
        let issue = self.issue(view);
        let age = |time: Option<&Time>| time.map(|time| age(view, Some(time))).unwrap_or_default();
        let width = self.notes.width(view);
        let known = self.request().map(|get| view.store.get(&get));
        HeadInput {
            reply: known.map_or((0, None), |known| (known.replies, known.error.map(|error| error.message()))),
            replies: self.searches().iter().map(reply).collect(),
            labels: issue.map(|issue| label_colors::known(view, &issue.project_id.into()).revision),
            related: [
                self.related().map(|list| view.store.list(&list).revision).unwrap_or_default(),
                self.closing().map(|list| view.store.list(&list).revision).unwrap_or_default(),
                self.participants().map(|list| view.store.list(&list).revision).unwrap_or_default(),
                self.linked().map(|linked| linked.rows(view).revision).unwrap_or_default(),
            ],
            widths: (width, view.size.0),
            theme: view.theme.name.clone(),
            ages: [
                age(issue.and_then(|issue| issue.created_at.as_ref())),
                age(issue.and_then(|issue| issue.updated_at.as_ref())),
            ],
            rendered: issue.map_or((false, false), |issue| {
                let identity = Self::identity(issue);
                let is_there = rendered_markdown::rendered(view, &identity, width).is_some();
                (is_there, rendered_markdown::is_complete(view, &identity, width))
            }),
            images: self.notes.text.version().to_owned(),
        }
    }

    /// Returns the origin of the description.
    fn origin(&self) -> TextOrigin {
        TextOrigin { project: self.project.clone(), ..TextOrigin::default() }
    }

    /// Returns the lines above the notes, and how many of them are above the description.
    fn head(&self, view: &View) -> (Vec<DocLine<'static>>, usize) {
        let theme = view.theme;
        let line = |words: String, role: Role| DocLine::new(words, theme.style(role));
        if self.epic {
            let words = view.with_keys("The API has only the notes of an epic; ‹browse› opens its page.");
            let width = usize::from(view.size.0).saturating_sub(6).min(rendered_markdown::MAX_PROSE_WIDTH);
            let lines = text::wrap(&words, width, 4).into_iter().map(|words| line(words, Role::Dim));
            return (lines.collect(), 0);
        }
        let Some(issue) = self.issue(view) else {
            let page = view.with_keys("‹browse› opens its page.");
            if !self.is_searched(view) {
                let error = self.request().and_then(|get| view.store.get(&get).error);
                let words = error.map_or_else(
                    || "…".to_owned(),
                    |error| format!("The issue could not be loaded: {}. {page}", error.message()),
                );
                return (vec![line(words, Role::Dim)], 0);
            }
            let searches = self.searches();
            let asked = searches.last().map(|search| view.store.list(search));
            let words = match asked {
                Some(rows) if rows.is_loaded => {
                    format!("Search does not find its description. {page}")
                }
                Some(rows) => match rows.error {
                    Some(error) => {
                        format!("The description could not be loaded: {}. {page}", error.message())
                    }
                    None => "…".to_owned(),
                },
                None => return (Vec::new(), 0),
            };
            return (vec![line(words, Role::Dim)], 0);
        };
        let width = self.notes.width(view);
        // The first line of the screen shows a title that fits.
        let is_shown = self.project.as_ref().is_some_and(|id| breadcrumbs::shows_title(view, id, &issue.title));
        let title = if is_shown { Vec::new() } else { text::wrap(&issue.title, width, MAX_TITLE_LINES) };
        let title = title.into_iter().map(|words| line(words, Role::Title)).collect();
        let (words, role) = issues::state_words(issue);
        let mut pieces = vec![Line::new(words, role)];
        if let Some(tasks) = issue.task_completion_status.as_ref().filter(|tasks| tasks.count > 0) {
            let words = format!("{} of {}", tasks.completed_count, text::count_noun(tasks.count, "task"));
            pieces.push(Line::new(words, Role::Dim));
        }
        pieces.extend(issue.confidential.then(|| Line::new("confidential", Role::Warning)));
        let is_locked = issue.discussion_locked == Some(true);
        pieces.extend(is_locked.then(|| Line::new("locked: only members can comment", Role::Warning)));
        if let Some(severity) = issue.severity.as_deref().map(str::to_lowercase)
            && !severity.is_empty()
            && severity != "unknown"
        {
            let role = if matches!(severity.as_str(), "critical" | "high") { Role::Failed } else { Role::Warning };
            pieces.push(Line::new(format!("severity {severity}"), role));
        }
        let mut lines = fact_lines::above(title, pieces, width);
        let facts = lines.len();
        match self.notes.text.rendered(view, &Self::identity(issue), width) {
            Some(rendered) => lines.extend(rendered.lines.iter().cloned()),
            None if issue.description.as_deref().unwrap_or_default().trim().is_empty() => {
                lines.push(line("No description.".into(), Role::Dim));
            }
            None => lines.push(line("…".into(), Role::Dim)),
        }
        (lines, facts)
    }

    /// Returns the facts of the issue, one per line.
    fn about(&self, view: &View, issue: &Issue, width: usize) -> Vec<DocLine<'static>> {
        let mut out = FactLines::new(width, LABEL_WIDTH);
        let user = |user: &User| Line::new(user.username.clone(), Role::User);
        out.fact("Author", issue.author.iter().map(user).collect());
        out.text("Opened", time_ago(view, issue.created_at.as_ref()), Role::Text);
        out.text("Updated", time_ago(view, issue.updated_at.as_ref()), Role::Text);
        if let Some(at) = issue.closed_at.as_ref().filter(|_| !issue.is_open()) {
            let by = issue.closed_by.as_ref().map(|user| format!(" by {}", user.username)).unwrap_or_default();
            out.text("Closed", format!("{}{by}", time_ago(view, Some(at))), Role::Text);
        }
        out.text("Type", issue.issue_type.clone().filter(|kind| kind != "issue").unwrap_or_default(), Role::Text);
        out.fact("Assignees", issue.assignees().iter().map(user).collect());
        let known = label_colors::known(view, &issue.project_id.into());
        out.fact(
            "Labels",
            issue.label_names().into_iter().map(|name| label_colors::line(view, name, &known)).collect(),
        );
        let milestone = issue.milestone.as_ref().map(|milestone| milestone.title.clone());
        out.text("Milestone", milestone.unwrap_or_default(), Role::Text);
        out.text("Due", issue.due_date.as_ref().map(|due| due.as_str().to_owned()).unwrap_or_default(), Role::Text);
        out.text("Weight", issue.weight.map(|weight| weight.to_string()).unwrap_or_default(), Role::Text);
        out.text("Time spent", time_tracking::summary(issue.time_stats.as_ref()), Role::Text);
        if (issue.upvotes, issue.downvotes) != (0, 0) {
            out.text("Votes", format!("{} up, {} down", issue.upvotes, issue.downvotes), Role::Text);
        }
        let people = self.participants().map(|list| view.store.list(&list));
        out.fact("Participants", people.iter().flat_map(|rows| rows.iter()).map(user).collect());
        out.text("Subscribed", subscription::word(issue.subscribed).to_owned(), Role::Text);
        for (label, items) in self.linked_groups(view) {
            let room = out.room();
            for (at, line) in linked_items::lines(&items, issue.project_id, view, room).into_iter().enumerate() {
                out.fact(if at == 0 { label } else { "" }, vec![line]);
            }
        }
        for (at, (mr, closes)) in self.requests(view).into_iter().enumerate() {
            let (sign, role) = glyph::status(mr.state.as_str());
            let note = if closes { " closes it" } else { "" };
            let words = format!("!{} {}", mr.iid, text::sanitize(&mr.title));
            let line = Line::new(format!("{sign} "), role).and(words, Role::Text).and(note, Role::Dim);
            out.fact(if at == 0 { "Merge requests" } else { "" }, vec![line]);
        }
        out.lines
    }

    fn page(&self, view: &View) -> Option<String> {
        let number = self.number?;
        if !self.epic {
            let known = self.issue(view).map(|issue| issue.web_url.clone()).filter(|url| !url.is_empty());
            let page = || Some(project::page(view, self.project.as_ref()?, &format!("/-/issues/{number}")));
            return known.or_else(page);
        }
        let group: Vec<String> = self.group.as_ref()?.as_str().split('/').map(encode).collect();
        Some(format!("{}/groups/{}/-/epics/{number}", view.session.web_url, group.join("/")))
    }

    fn ask(&mut self, cx: &mut Cx) {
        let (label, begin) = match self.epic {
            true => ("epic, as group&2", self.group.as_ref().map(|group| format!("{group}&")).unwrap_or_default()),
            false => ("issue, as group/project#7", self.project.as_ref().map(|p| format!("{p}#")).unwrap_or_default()),
        };
        cx.ask(label, begin, |_: &mut Self, typed, cx| {
            match target::parse(cx.view.places, &typed, &cx.view.session.web_url) {
                Ok(place) if matches!(place.pane.as_str(), "issue" | "epic") => cx.act(Action::Replace(place)),
                _ => cx.say(Tone::Warning, format!("\"{}\" is not an issue or epic.", text::sanitize(&typed))),
            }
        });
    }

    fn can_change(&self, view: &View) -> Result<(), Disabled> {
        self.can_comment(view)?;
        if self.epic { Err("the API has only the notes of an epic".into()) } else { issues::is_known(self.issue(view)) }
    }

    /// Opens a form about the issue.
    fn open_form(&mut self, form: fn(&Id, u64, &View) -> Form, cx: &mut Cx) {
        if let (Some(project), Some(number)) = (&self.project, self.number) {
            form(project, number, &cx.view).open(cx);
        }
    }

    fn close(&mut self, cx: &mut Cx) {
        if let (Some(project), Some(issue)) = (&self.project, self.issue(&cx.view)) {
            cx.act(issues::ask_to_close_or_reopen(project, issue));
        }
    }

    fn create(&mut self, cx: &mut Cx) {
        if let Some(project) = &self.project {
            forms::issue::create(project).open(cx);
        }
    }
}

impl ShowsComments for IssuePane {
    const WHOLE: &'static str = "Comment on issue…";

    fn comments_on(&self, _: &View) -> Result<Noteable, Disabled> {
        self.notes.on()
    }

    fn drafts(&self) -> &Drafts {
        self.notes.drafts()
    }

    fn target<'a>(&'a self, view: &View<'a>) -> Option<Target<'a>> {
        self.notes.target(view)
    }

    fn can_edit_whole(&self, view: &View) -> Option<Result<(), Disabled>> {
        (!self.epic).then(|| self.can_change(view))
    }

    fn edit_whole(&mut self, cx: &mut Cx) {
        self.open_form(forms::issue::edit, cx);
    }

    fn step_thread(&mut self, forward: bool) -> bool {
        self.notes.step_thread(forward)
    }
}

impl ShowsItem for IssuePane {
    const PEOPLE: &'static str = "Edit assignees…";
    const EDIT_FIELDS: Permission = permission::EDIT_ISSUE;

    fn item<'a>(&self, view: &View<'a>) -> Result<(Id, OpenItem<'a>), Disabled> {
        self.can_change(view)?;
        let known = self.project.clone().zip(self.issue(view)).ok_or("it has not loaded yet")?;
        Ok((known.0, OpenItem::Issue(known.1)))
    }
}

impl PaneKind for IssuePane {
    const ID: &'static str = "issue";
    const TABLES: &'static [Table<Self>] =
        &[Self::COMMENTS, Self::RESOLVE, Self::THREADS, Self::COMMANDS, Self::DELETE, Self::ITEM];
    const COMMANDS: Table<Self> = &[
        Command::new("issue.edit", &["e"], "Edit issue or comment…", comments::edit)
            .writes()
            .footer("edit")
            .when(comments::can_edit),
        Command::new("issue.change", &["E"], "Edit issue…", Self::edit_whole)
            .needs(permission::EDIT_ISSUE)
            .when(Self::can_change),
        Command::new("issue.close", &["X"], "Close or reopen issue", |pane: &mut Self, cx| pane.close(cx))
            .needs(permission::EDIT_ISSUE)
            .footer("close")
            .when(Self::can_change),
        Command::new("issue.create", &["+"], "Create issue…", |pane: &mut Self, cx| pane.create(cx)).writes().when(
            |pane, view| {
                Feature::Issues.check(view.store, pane.project.as_ref())?;
                pane.project.as_ref().map(|_| ()).ok_or_else(|| "select a project first".into())
            },
        ),
        Command::new("issue.requests", &["m"], "Open linked item…", |pane: &mut Self, cx| pane.open_linked(cx))
            .when(|pane, view| linked_items::can_open(&pane.all_linked(view))),
        Command::new("issue.link", &["&"], "Link issue…", |pane: &mut Self, cx| pane.link(cx))
            .writes()
            .when(Self::can_link),
        Command::new("issue.unlink", &[], "Unlink issue…", |pane: &mut Self, cx| pane.unlink(cx))
            .writes()
            .when(Self::can_unlink),
        Command::new("issue.branch", &["B"], "Create branch…", |pane: &mut Self, cx| {
            let created = |_: &mut Self, branch: &Branch, cx: &mut Cx| {
                cx.say(Tone::Good, format!("Created branch {}.", text::sanitize(&branch.name)));
            };
            pane.create_branch(created, cx);
        })
        .needs(permission::PUSH)
        .when(Self::can_change),
        Command::new("issue.mr", &["M"], "Create merge request…", |pane: &mut Self, cx| {
            pane.create_branch(Self::create_request, cx);
        })
        .needs(permission::PUSH)
        .when(Self::can_change),
        Command::new("issue.delete_issue", &["Delete"], "Delete issue…", |pane: &mut Self, cx| pane.delete_issue(cx))
            .needs(permission::DELETE_ISSUE)
            .when(Self::can_change),
        Command::new("issue.open", &["Enter"], "Open selection", |pane: &mut Self, cx| {
            pane.notes.enter((pane.project.as_ref(), pane.group.as_ref()), cx);
        })
        .when(|pane, view| pane.notes.can_enter(view)),
        Command::new("issue.fold", &["-"], "Toggle thread fold", |pane: &mut Self, cx| pane.notes.toggle(cx)),
        Command::new("issue.next", &["]"], "Next comment", |pane: &mut Self, _| pane.notes.step(true)),
        Command::new("issue.previous", &["["], "Previous comment", |pane: &mut Self, _| pane.notes.step(false)),
        Command::new("issue.which", &["#"], "Go to issue by number…", Self::ask).footer("go to issue"),
    ];

    fn is_own(&self, view: &View) -> bool {
        self.issue(view).is_some_and(|issue| view.is_me(issue.owners()))
    }

    fn open(place: &Place, _view: &View) -> Self {
        let epic = place.pane == "epic";
        let mut pane = IssuePane {
            epic,
            project: place.project.clone().filter(|_| !epic),
            group: place.group.clone().filter(|_| epic),
            number: place.item.as_deref().and_then(|item| item.parse().ok()),
            words: place.query.clone().filter(|words| !words.trim().is_empty()),
            notes: Notes::default(),
            mentions: Derived::default(),
            facts: Vec::new(),
            inputs: None,
        };
        let noteable = pane.noteable();
        pane.notes.show(noteable);
        pane.notes.want_note(place.note);
        pane
    }
}

impl Pane for IssuePane {
    fn focused(&self) -> Option<&dyn Pane> {
        Some(&self.notes)
    }

    fn focused_mut(&mut self) -> Option<&mut dyn Pane> {
        Some(&mut self.notes)
    }

    fn command_input(&self, kind: InputKind, view: &View) -> Result<CommandInput, Disabled> {
        match kind {
            InputKind::Thread => programs::thread(self, Err("an issue has no branch".into()), view),
            _ => Err(kind.missing()),
        }
    }

    fn place(&self) -> Place {
        Place {
            project: self.project.clone(),
            group: self.group.clone(),
            item: self.number.map(|number| number.to_string()),
            query: self.words.clone(),
            ..Place::new(if self.epic { "epic" } else { Self::ID })
        }
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        let mut all = match &self.project {
            Some(id) => project::breadcrumbs(view, id),
            None => breadcrumbs::group(self.group.as_ref()),
        };
        let kind = if self.epic { "epic" } else { "issue" };
        all.push(Breadcrumb::new(kind, if all.is_empty() { Role::Title } else { Role::Dim }));
        let mark = if self.epic { "&" } else { "#" };
        all.extend(self.number.map(|number| Breadcrumb::new(format!("{mark}{number}"), Role::Ref)));
        // On a narrow screen, the title is cut.
        all.extend(self.notes.breadcrumbs(view));
        all.extend(self.issue(view).map(|issue| Breadcrumb::new(issue.title.clone(), Role::Text)));
        all
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        let mut wants: Vec<Want> = self.project.iter().map(project::want).collect();
        if !self.is_searched(view) {
            wants.extend(self.request().map(|get| Want::from(Load::single(&get))));
        }
        for search in self.searches().into_iter().filter(|_| self.is_searched(view)) {
            let rows = view.store.list(&search);
            wants.push(Load::list(&search, 1).into());
            // The words are searched only if the search by number did not find the issue.
            if self.issue(view).is_some() || !(rows.is_loaded || rows.error.is_some()) {
                break;
            }
        }
        if let Some(issue) = self.issue(view)
            && let Some(words) = issue.description.as_deref().filter(|words| !words.trim().is_empty())
        {
            let (identity, width) = (Self::identity(issue), self.notes.width(view));
            wants.extend(self.notes.text.wants(view, &self.origin(), &identity, words, width));
        }
        let labeled = self.issue(view).filter(|issue| !issue.labels.is_empty());
        wants.extend(labeled.map(|issue| label_colors::load(&issue.project_id.into()).optional().into()));
        wants.extend(self.sidebar_wants(view));
        wants.extend(self.notes.wants(view));
        wants
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        if self.noteable().is_none() {
            let (why, hint) = match self.epic {
                true => ("No epic selected.", "‹issue.which› opens one by reference, for example group&2"),
                false => ("No issue selected.", "‹issue.which› opens one by reference, ‹go.search› searches"),
            };
            return view.draw_empty(buf, area, why, hint);
        }
        let area = if self.facts.is_empty() { area } else { sidebar::draw(view, area, buf, &self.facts) };
        self.notes.view(view, area, buf);
    }

    fn changed(&mut self, cx: &mut Cx) {
        let noteable = self.noteable();
        self.notes.show(noteable);
        self.read_mentions(&cx.view);
        if let Some(identity) = self.issue(&cx.view).map(Self::identity) {
            let (origin, width) = (self.origin(), self.notes.width(&cx.view));
            self.notes.text.changed(&cx.view, &origin, &identity, width);
        }
        let inputs = Some(self.head_input(&cx.view));
        if self.inputs != inputs {
            self.notes.set_head(self.head(&cx.view));
            let (is_wide, width) = (sidebar::is_wide(&cx.view), self.notes.width(&cx.view));
            let width = if is_wide { sidebar::FACT_WIDTH } else { width };
            let about = self.issue(&cx.view).map_or_else(Vec::new, |issue| self.about(&cx.view, issue, width));
            let (beside, below) = match is_wide || about.is_empty() {
                true => (about, Vec::new()),
                false => (Vec::new(), fact_lines::below(about)),
            };
            self.facts = beside;
            self.notes.set_below(below);
            self.inputs = inputs;
        }
        self.notes.changed(cx);
    }

    fn url(&self, view: &View) -> Option<String> {
        self.page(view)
    }

    fn copies(&self, view: &View) -> Vec<Clip> {
        let mut copies: Vec<Clip> = self.noteable().map(|on| Clip::line("name", on.name())).into_iter().collect();
        copies.extend(self.issue(view).map(|issue| Clip::line("title", issue.title.clone())));
        copies
    }
}
