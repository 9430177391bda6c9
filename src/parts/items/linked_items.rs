//! Linked items: issues that a merge request closes or mentions, merge requests that wait for each other, and links between
//! issues. They are listed among the facts, and chosen from a picker that also looks up what is typed.

use crate::api::dependencies::{
    AddDependency, Dependency, ListBlockedMergeRequests, ListBlockingMergeRequests, RemoveDependency,
};
use crate::api::issue_links::{CreateIssueLink, DeleteIssueLink, LINK_TYPES, ListLinkedIssues};
use crate::api::issues::{GetIssue, Issue, ListClosedIssues, ListRelatedIssues, ListScopedIssues};
use crate::api::merge_requests::{GetMergeRequest, ListProjectMergeRequests, MergeRequest};
use crate::api::{Fault, Id, Scope};
use crate::app::action::Action;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::overlay::picker::{Item, Picker, Source};
use crate::app::place::Place;
use crate::app::target;
use crate::app::view::View;
use crate::domain::mentions::Mentions;
use crate::parts::items::issues;
use crate::parts::items::merge_requests;
use crate::store::{Load, Rows, Want, Write};
use crate::ui::line::Line;
use crate::ui::text::{fit, sanitize};
use crate::ui::theme::Role;
use std::collections::HashSet;
use std::rc::Rc;
use std::time::Duration;

/// The delay before the typed text is sent to the server.
const FETCH_DELAY: Duration = Duration::from_millis(150);
/// The maximum number of items listed under one label.
const MAX_LISTED: usize = 6;

/// Items of one kind, with a label such as `Blocked by`.
pub type LinkedGroup<'a> = (&'static str, Vec<LinkedItem<'a>>);

/// An issue or merge request that is linked.
#[derive(Clone, Copy)]
pub enum LinkedItem<'a> {
    Issue(&'a Issue),
    MergeRequest(&'a MergeRequest),
    /// A merge request that the user may not see.
    Hidden,
}

impl LinkedItem<'_> {
    fn title(self) -> String {
        match self {
            LinkedItem::Issue(issue) => issue.title.clone(),
            LinkedItem::MergeRequest(request) => request.title.clone(),
            LinkedItem::Hidden => "a merge request that you may not see".to_owned(),
        }
    }

    fn state(self) -> String {
        match self {
            LinkedItem::Issue(issue) if issue.is_open() => "open".to_owned(),
            LinkedItem::Issue(issue) => issue.state.clone(),
            LinkedItem::MergeRequest(request) => merge_requests::state(request).1.to_owned(),
            LinkedItem::Hidden => String::new(),
        }
    }

    /// Returns the number, after the path of another project than `own`.
    fn reference(self, own: u64, view: &View) -> String {
        match self {
            LinkedItem::Issue(issue) if issue.project_id == own => format!("#{}", issue.iid),
            LinkedItem::Issue(issue) => format!("{}#{}", issues::project(issue, view), issue.iid),
            LinkedItem::MergeRequest(request) if request.project_id == own => format!("!{}", request.iid),
            LinkedItem::MergeRequest(request) => format!("{}!{}", merge_requests::project(request, view), request.iid),
            LinkedItem::Hidden => String::new(),
        }
    }

    /// Returns the place that shows it; one of the project with the ID `own` is opened in `project`.
    fn place(self, own: u64, project: &Id, view: &View) -> Option<Place> {
        let (pane, id, other, iid) = match self {
            LinkedItem::Issue(issue) => ("issue", issue.project_id, issues::project(issue, view), issue.iid),
            LinkedItem::MergeRequest(request) => {
                ("mr", request.project_id, merge_requests::project(request, view), request.iid)
            }
            LinkedItem::Hidden => return None,
        };
        Some(Place::new(pane).project(if id == own { project.clone() } else { other }).item(iid))
    }

    /// Returns the glyph of its state, its number and its title, at most `width` columns wide.
    fn line(self, own: u64, view: &View, width: usize) -> Line<'static> {
        let (mark, role) = match self {
            LinkedItem::Issue(issue) => issues::state(issue),
            LinkedItem::MergeRequest(request) => {
                let (mark, _, role) = merge_requests::state(request);
                (mark, role)
            }
            LinkedItem::Hidden => return Line::new(fit(&self.title(), width), Role::Dim),
        };
        let reference = self.reference(own, view);
        let room = width.saturating_sub(reference.chars().count() + 3);
        Line::new(format!("{mark} "), role)
            .and(format!("{reference} "), Role::Ref)
            .and(fit(&sanitize(&self.title()), room), Role::Text)
    }
}

/// Returns the lines of a group, each at most `width` columns wide; `own` is the ID of the project.
pub fn lines(items: &[LinkedItem], own: u64, view: &View, width: usize) -> Vec<Line<'static>> {
    let mut lines: Vec<Line<'static>> = items.iter().take(MAX_LISTED).map(|item| item.line(own, view, width)).collect();
    if let Some(more) = items.len().checked_sub(MAX_LISTED).filter(|more| *more > 0) {
        lines.push(Line::new(format!("and {more} more"), Role::Dim));
    }
    lines
}

/// Opens one of several items of `project`, whose ID is `own`, and of others; the only one at once.
pub fn open(groups: &[LinkedGroup], own: u64, project: &Id, cx: &mut Cx) {
    let view = cx.view;
    let all = groups.iter().flat_map(|(label, items)| items.iter().map(move |item| (*label, *item)));
    let known: Vec<_> = all.filter_map(|(label, item)| Some((label, item, item.place(own, project, &view)?))).collect();
    match known.as_slice() {
        [] => {}
        [(_, _, place)] => cx.go(place.clone()),
        many => {
            let item = |(label, item, place): &(&str, LinkedItem, Place)| {
                let words = format!("{} {}", item.reference(own, &view), item.title());
                let note = format!("{}, {}", item.state(), label.to_lowercase());
                Item::act(words, Action::GoToPlace(place.clone())).note(note.trim_end_matches(", "))
            };
            let items = many.iter().map(item).collect();
            cx.open(Picker::new("Open linked item", items));
        }
    }
}

/// Returns an error if there is nothing to open.
pub fn can_open(groups: &[LinkedGroup]) -> Result<(), Disabled> {
    let mut items = groups.iter().flat_map(|(_, items)| items);
    match items.all(|item| matches!(item, LinkedItem::Hidden)) {
        true => Err("nothing is linked to it".into()),
        false => Ok(()),
    }
}

// ---- merge requests

/// The requests for what is linked to a merge request.
pub struct OfMergeRequest {
    closes: ListClosedIssues,
    related: ListRelatedIssues,
    blocking: ListBlockingMergeRequests,
    blocked: ListBlockedMergeRequests,
}

impl OfMergeRequest {
    pub fn new(project: &Id, merge_request_iid: u64) -> OfMergeRequest {
        let id = || project.clone();
        OfMergeRequest {
            closes: ListClosedIssues { id: id(), merge_request_iid },
            related: ListRelatedIssues { id: id(), merge_request_iid },
            blocking: ListBlockingMergeRequests { id: id(), merge_request_iid },
            blocked: ListBlockedMergeRequests { id: id(), merge_request_iid },
        }
    }

    /// Returns the requests that the server supports, without those for issues that are not mentioned; they need a user.
    /// One that is denied is not sent again: the license of the server may lack it.
    pub fn wants(&self, view: &View, mentions: Mentions) -> Vec<Want> {
        if !view.session.signed_in {
            return Vec::new();
        }
        let loads = [
            view.if_supported(&self.closes, 1).filter(|_| mentions.closed_issues),
            view.if_supported(&self.related, 1).filter(|_| mentions.issues),
            view.if_supported(&self.blocking, 1),
            view.if_supported(&self.blocked, 1),
        ];
        let is_denied = |load: &Load| {
            let error = view.store.error_of(&load.request);
            error.is_some_and(|error| matches!(error.fault, Fault::Denied(_)))
        };
        loads.into_iter().flatten().filter(|load| !is_denied(load)).map(|load| load.optional().into()).collect()
    }

    /// Returns what is loaded.
    pub fn groups<'a>(&self, view: &View<'a>) -> [LinkedGroup<'a>; 4] {
        let closes = view.store.list(&self.closes);
        let closed: HashSet<u64> = closes.iter().map(|issue| issue.id).collect();
        let related = view.store.list(&self.related);
        let related = related.iter().filter(|issue| !closed.contains(&issue.id));
        let end = |rows: Rows<'a, Dependency>, of: fn(&'a Dependency) -> &'a Option<Box<MergeRequest>>| {
            let item = |row| of(row).as_deref().map_or(LinkedItem::Hidden, LinkedItem::MergeRequest);
            rows.iter().map(item).collect::<Vec<_>>()
        };
        [
            ("Closes", closes.iter().map(LinkedItem::Issue).collect()),
            ("Mentions", related.map(LinkedItem::Issue).collect()),
            ("Blocked by", end(view.store.list(&self.blocking), |row| &row.blocking_merge_request)),
            ("Blocks", end(view.store.list(&self.blocked), |row| &row.blocked_merge_request)),
        ]
    }

    /// Returns an error if the server has no dependencies.
    pub fn has_dependencies(&self, view: &View) -> Result<(), Disabled> {
        match view.store.is_unsupported::<ListBlockingMergeRequests>() {
            true => Err("this server has no dependencies of merge requests".into()),
            false => Ok(()),
        }
    }

    /// Returns an error if it waits for no other merge request.
    pub fn has_blocking(&self, view: &View) -> Result<(), Disabled> {
        self.has_dependencies(view)?;
        if view.store.list(&self.blocking).is_empty() { Err("it waits for no other one".into()) } else { Ok(()) }
    }

    /// Asks for the merge request to wait for.
    pub fn add(&self, cx: &mut Cx) {
        let (id, merge_request_iid) = (self.closes.id.clone(), self.closes.merge_request_iid);
        let title = format!("!{merge_request_iid} is blocked by");
        pick(Kind::MergeRequest, title, &self.closes.id, merge_request_iid, cx, move |found| {
            let (id, blocking_merge_request_id) = (id.clone(), Some(found.id));
            let what = format!("let !{merge_request_iid} wait for {}", found.reference);
            let add = AddDependency { id, merge_request_iid, blocking_merge_request_id, ..AddDependency::default() };
            Action::Send(Write::new(&add, what))
        });
    }

    /// Asks which merge request it no longer waits for.
    pub fn remove(&self, own: u64, cx: &mut Cx) {
        let view = cx.view;
        let rows = view.store.list(&self.blocking);
        let (id, merge_request_iid) = (&self.closes.id, self.closes.merge_request_iid);
        let item = |row: &Dependency| {
            let item = row.blocking_merge_request.as_deref().map_or(LinkedItem::Hidden, LinkedItem::MergeRequest);
            let reference = item.reference(own, &view);
            let remove = RemoveDependency { id: id.clone(), merge_request_iid, block_id: row.id };
            let what = format!("remove the dependency of !{merge_request_iid} on {reference}");
            Item::act(format!("{reference} {}", item.title()), Action::Send(Write::new(&remove, what.trim_end())))
        };
        let items = rows.iter().map(item).collect();
        cx.open(Picker::new(format!("Remove dependency of !{merge_request_iid}"), items));
    }
}

// ---- issues

/// The request for the issues that are linked to an issue.
pub struct OfIssue(ListLinkedIssues);

impl OfIssue {
    pub fn new(project: &Id, issue_iid: u64) -> OfIssue {
        OfIssue(ListLinkedIssues { id: project.clone(), issue_iid })
    }

    /// Returns the request, if the server supports it; it needs a user.
    pub fn want(&self, view: &View) -> Option<Want> {
        let load = view.if_supported(&self.0, 1).filter(|_| view.session.signed_in)?;
        Some(load.optional().into())
    }

    /// Returns the loaded issues.
    pub fn rows<'a>(&self, view: &View<'a>) -> Rows<'a, Issue> {
        view.store.list(&self.0)
    }

    /// Returns what is loaded.
    pub fn groups<'a>(&self, view: &View<'a>) -> [LinkedGroup<'a>; 3] {
        let rows = self.rows(view);
        let of = |kind: &str| {
            let is_it = |issue: &&Issue| issue.link_type.as_deref().unwrap_or("relates_to") == kind;
            rows.iter().filter(is_it).map(LinkedItem::Issue).collect::<Vec<_>>()
        };
        [("Blocked by", of("is_blocked_by")), ("Blocks", of("blocks")), ("Relates to", of("relates_to"))]
    }

    /// Returns an error if the server has no links of issues.
    pub fn has_links(&self, view: &View) -> Result<(), Disabled> {
        match view.store.is_unsupported::<ListLinkedIssues>() {
            true => Err("this server has no links of issues".into()),
            false => Ok(()),
        }
    }

    /// Returns an error if no issue is linked.
    pub fn is_linked(&self, view: &View) -> Result<(), Disabled> {
        self.has_links(view)?;
        if self.rows(view).is_empty() { Err("no issue is linked to it".into()) } else { Ok(()) }
    }

    /// Asks in the pane `P` for the issue to link, and how they are related.
    pub fn add<P: 'static>(&self, cx: &mut Cx) {
        let (id, issue_iid, here) = (self.0.id.clone(), self.0.issue_iid, cx.here);
        pick(Kind::Issue, format!("Link #{issue_iid} to"), &self.0.id, issue_iid, cx, move |found| {
            let create = CreateIssueLink {
                id: id.clone(),
                issue_iid,
                target_project_id: Some(found.project.clone()),
                target_issue_iid: found.iid,
                link_type: None,
            };
            let reference = found.reference.clone();
            here.then(move |_: &mut P, cx| cx.open(relations(&create, &reference)))
        });
    }

    /// Asks which link to remove.
    pub fn remove(&self, own: u64, cx: &mut Cx) {
        let view = cx.view;
        let (id, issue_iid) = (&self.0.id, self.0.issue_iid);
        let item = |issue: &Issue| {
            let reference = LinkedItem::Issue(issue).reference(own, &view);
            let issue_link_id = issue.issue_link_id?;
            let remove = DeleteIssueLink { id: id.clone(), issue_iid, issue_link_id };
            let what = format!("remove the link between #{issue_iid} and {reference}");
            let note = issue.link_type.as_deref().unwrap_or_default().replace('_', " ");
            let words = format!("{reference} {}", issue.title);
            Some(Item::act(words, Action::Send(Write::new(&remove, what))).note(note))
        };
        let items = self.rows(&view).iter().filter_map(item).collect();
        cx.open(Picker::new(format!("Remove link of #{issue_iid}"), items));
    }
}

/// Returns the picker of the type of a new link.
fn relations(create: &CreateIssueLink, reference: &str) -> Picker {
    let item = |kind: &&str| {
        let create = CreateIssueLink { link_type: Some((*kind).to_owned()), ..create.clone() };
        let words = match *kind {
            "blocks" => "Blocks",
            "is_blocked_by" => "Is blocked by",
            _ => "Relates to",
        };
        let what = format!("link #{} to {reference}", create.issue_iid);
        Item::act(format!("{words} {reference}"), Action::Send(Write::new(&create, what)))
    };
    Picker::new(format!("Link #{} as", create.issue_iid), LINK_TYPES.iter().map(item).collect())
}

// ---- choosing

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Issue,
    MergeRequest,
}

/// A chosen issue or merge request.
struct ChosenItem {
    project: Id,
    iid: u64,
    /// The ID, which is unique on the server.
    id: u64,
    /// The number, after the path of another project.
    reference: String,
}

type Choose = Rc<dyn Fn(&ChosenItem) -> Action>;

/// The issues or merge requests of a project, and one of any project whose reference or address is typed.
struct ItemChoices {
    kind: Kind,
    project: Id,
    /// The number of the one that is linked, which is not offered.
    own: u64,
    choose: Choose,
}

/// Opens the picker; `choose` returns the action for what is chosen.
fn pick(
    kind: Kind,
    title: String,
    project: &Id,
    own: u64,
    cx: &mut Cx,
    choose: impl Fn(&ChosenItem) -> Action + 'static,
) {
    let choices = ItemChoices { kind, project: project.clone(), own, choose: Rc::new(choose) };
    cx.open(Picker::of(title, Box::new(choices), &cx.view));
}

impl ItemChoices {
    fn issues(&self, typed: &str) -> ListScopedIssues {
        ListScopedIssues {
            within: Scope::Project(self.project.clone()),
            search: searched(typed),
            order_by: Some("updated_at".into()),
            ..ListScopedIssues::default()
        }
    }

    fn requests(&self, typed: &str) -> ListProjectMergeRequests {
        ListProjectMergeRequests {
            id: self.project.clone(),
            state: Some("opened".into()),
            search: searched(typed),
            order_by: Some("updated_at".into()),
            ..ListProjectMergeRequests::default()
        }
    }

    /// Returns the project and the number that the typed text names: `#5`, `group/project#5`, or a web address.
    fn named(&self, view: &View, typed: &str) -> Option<(Id, u64)> {
        let typed = typed.trim();
        let (mark, pane) = if self.kind == Kind::Issue { ('#', "issue") } else { ('!', "mr") };
        let number = typed.trim_start_matches(mark);
        if let Ok(iid) = number.parse() {
            return Some((self.project.clone(), iid));
        }
        let place = target::parse(view.places, typed, &view.session.web_url).ok().filter(|place| place.pane == pane)?;
        Some((place.project?, place.item?.parse().ok()?))
    }

    fn found(&self, project: Id, iid: u64, id: u64) -> ChosenItem {
        let mark = if self.kind == Kind::Issue { '#' } else { '!' };
        let path = if project == self.project { "" } else { project.as_str() };
        ChosenItem { reference: format!("{path}{mark}{iid}"), project, iid, id }
    }

    fn item(&self, found: &ChosenItem, title: &str, label: &str) -> Item {
        Item::act(format!("{label} {title}"), (self.choose)(found))
    }
}

/// Returns the text to search; `None` if it is a reference.
fn searched(typed: &str) -> Option<String> {
    let typed = typed.trim();
    let is_reference = typed.starts_with(['#', '!']) || typed.contains("://");
    Some(typed.to_owned()).filter(|typed| !typed.is_empty() && !is_reference)
}

impl Source for ItemChoices {
    fn wants(&self, view: &View, typed: &str) -> Vec<Want> {
        let named = self.named(view, typed);
        let mut wants: Vec<Want> = Vec::new();
        match self.kind {
            Kind::Issue => {
                wants.push(Load::list(&self.issues(""), 1).into());
                wants.push(Load::list(&self.issues(typed), 1).after(FETCH_DELAY).into());
                let get = named.map(|(id, issue_iid)| GetIssue { id, issue_iid });
                wants.extend(get.map(|get| Want::from(Load::single(&get).after(FETCH_DELAY).optional())));
            }
            Kind::MergeRequest => {
                wants.push(Load::list(&self.requests(""), 1).into());
                wants.push(Load::list(&self.requests(typed), 1).after(FETCH_DELAY).into());
                let get = named.map(|(id, iid)| GetMergeRequest::new(id, iid));
                wants.extend(get.map(|get| Want::from(Load::single(&get).after(FETCH_DELAY).optional())));
            }
        }
        wants
    }

    fn items(&self, view: &View, typed: &str) -> Vec<Item> {
        let mut items = Vec::new();
        let mut seen = HashSet::new();
        let mut add = |project: Id, iid: u64, id: u64, title: &str, label: Option<&str>| {
            let is_own = project == self.project && iid == self.own;
            if !is_own && seen.insert(id) {
                let found = self.found(project, iid, id);
                items.push(self.item(&found, title, label.unwrap_or(&found.reference)));
            }
        };
        // What is typed stays a part of the label, by which it is found.
        let label = Some(typed.trim()).filter(|typed| typed.contains('/'));
        match self.kind {
            Kind::Issue => {
                if let Some((id, issue_iid)) = self.named(view, typed)
                    && let Some(issue) = view.store.get(&GetIssue { id: id.clone(), issue_iid }).value
                {
                    add(id, issue.iid, issue.id, &issue.title, label);
                }
                for issue in [self.issues(""), self.issues(typed)].iter().flat_map(|list| view.store.list(list).iter())
                {
                    add(self.project.clone(), issue.iid, issue.id, &issue.title, None);
                }
            }
            Kind::MergeRequest => {
                if let Some((id, iid)) = self.named(view, typed)
                    && let Some(request) = view.store.get(&GetMergeRequest::new(id.clone(), iid)).value
                {
                    add(id, request.iid, request.id, &request.title, label);
                }
                let lists = [self.requests(""), self.requests(typed)];
                for request in lists.iter().flat_map(|list| view.store.list(list).iter()) {
                    add(self.project.clone(), request.iid, request.id, &request.title, None);
                }
            }
        }
        items
    }
}
