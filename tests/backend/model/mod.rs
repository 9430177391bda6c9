//! Random calls to the local server, compared with a plain model of the specification. After each call the status, the
//! rows of lists, and the records that a deletion removes must match the model. This file has issues and snippets;
//! merge requests and people have their own.
//!
//! The random numbers are seeded; a failure prints the shortest
//! history that still fails.

mod people;
mod requests;

use crate::Server;
use crate::dice::Dice;
use crate::sample::length;
use reqwest::Method;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The default number of calls.
const STEPS: usize = 6_000;
/// The number of calls before the world is reset, which bounds the history of a failure.
const ROUND: usize = 300;

/// A world of three projects with the same code, each with two branches besides the default one.
fn world() -> String {
    let people = r#"
now = "2026-11-20T16:00:00Z"
users = [
    { username = "root", admin = true },
    { username = "ada" },
    { username = "bo" },
    { username = "cy" },
    { username = "eve", external = true },
]
"#;
    let project = |owner: &str, name: &str, visibility: &str, members: &str| {
        format!(
            r#"
[[projects]]
path = "{owner}/{name}"
visibility = "{visibility}"
members = {{ {members} }}
files = '''
-- README.md --
x
-- one.md --
x
-- two.md --
x
'''
script = '''
from 2026-11-02
to 2026-11-03
{owner}: Begin
  + README.md
branch one
{owner}: Begin one
  + one.md
on main
branch two
{owner}: Begin two
  + two.md
'''
"#
        )
    };
    [
        people.to_owned(),
        project("ada", "open", "public", r#"bo = "developer", cy = "reporter""#),
        project("ada", "inner", "internal", r#"bo = "guest", eve = "guest""#),
        project("bo", "shut", "private", r#"ada = "maintainer", cy = "guest""#),
    ]
    .concat()
}

/// The callers; the empty name is not signed in.
const PEOPLE: &[&str] = &["root", "ada", "bo", "cy", "eve", ""];
/// The author of what deleted people wrote.
const GHOST: &str = "ghost";
const VISIBILITIES: &[&str] = &["private", "internal", "public"];
const LABELS: &[&str] = &["bug", "later", "ui"];
const TITLES: &[&str] = &["It is slow", "It is broken", "It is ugly"];

const GUEST: u8 = 10;
const REPORTER: u8 = 20;
const DEVELOPER: u8 = 30;
const MAINTAINER: u8 = 40;
const OWNER: u8 = 50;

/// The roles of people in a project or a group.
type Members = BTreeMap<&'static str, u8>;

#[derive(Clone)]
struct Project {
    /// The encoded path, as in a route.
    path: String,
    namespace: Namespace,
    visibility: &'static str,
    /// Its direct members, without those of its namespace.
    members: Members,
    /// Issues that were ever created.
    issues: u64,
    /// Merge requests that were ever created.
    requests: u64,
    /// Its merged branches.
    merged: BTreeSet<&'static str>,
    is_deleted: bool,
}

/// The namespace of a project.
#[derive(Clone, Copy, PartialEq)]
enum Namespace {
    User(&'static str),
    Group(u64),
}

#[derive(Clone)]
struct Issue {
    project: usize,
    iid: u64,
    title: String,
    author: &'static str,
    is_open: bool,
    is_confidential: bool,
    labels: BTreeSet<&'static str>,
    milestone: Option<u64>,
}

/// A note or a snippet, which has one author.
#[derive(Clone)]
struct Written {
    author: &'static str,
    /// The parent: an issue (by index in the model) or a snippet (by ID) for a note, a project for a snippet.
    on: On,
    visibility: &'static str,
}

#[derive(Clone, Copy, PartialEq)]
enum On {
    Project(usize),
    Issue(usize, u64),
    Request(usize, u64),
    Snippet(usize, u64),
}

impl On {
    fn project(&self) -> usize {
        match self {
            On::Project(project) | On::Issue(project, _) | On::Request(project, _) | On::Snippet(project, _) => {
                *project
            }
        }
    }
}

/// The expected state of the server.
#[derive(Clone)]
struct Model {
    projects: Vec<Project>,
    groups: BTreeMap<u64, people::Group>,
    issues: Vec<Issue>,
    requests: Vec<requests::Request>,
    notes: BTreeMap<u64, Written>,
    snippets: BTreeMap<u64, Written>,
    /// Labels by project.
    labels: BTreeSet<(usize, &'static str)>,
    /// Titles and states of milestones, by ID.
    milestones: BTreeMap<u64, (usize, String, bool)>,
    /// Reactions to issues by ID, with their authors.
    awards: BTreeMap<u64, (On, &'static str)>,
    /// Deleted people.
    deleted: BTreeSet<&'static str>,
}

/// A call that is valid in any history: its targets are chosen among the records that exist at that point.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Step {
    who: &'static str,
    what: What,
    /// Random numbers that choose the targets.
    a: usize,
    b: usize,
}

/// The kinds of calls with their weights.
macro_rules! calls {
    ($($what:ident $times:literal,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq)]
        enum What {
            $($what,)*
        }

        const TIMES: &[(What, usize)] = &[$((What::$what, $times),)*];
    };
}

calls! {
    SetVisibility 1,
    CreateIssue 3,
    EditIssue 1,
    CloseIssue 1,
    LabelIssue 2,
    PlanIssue 1,
    DeleteIssue 1,
    Comment 2,
    EditComment 1,
    DeleteComment 1,
    React 1,
    TakeBack 1,
    CreateLabel 1,
    RenameLabel 1,
    DeleteLabel 1,
    CreateMilestone 1,
    CloseMilestone 1,
    DeleteMilestone 1,
    CreateSnippet 2,
    EditSnippet 1,
    DeleteSnippet 1,
    CommentOnSnippet 1,
    ListProjects 1,
    GetProject 1,
    ListIssues 1,
    ListAllIssues 1,
    GetIssue 1,
    ListComments 1,
    ListReactions 1,
    ListLabels 1,
    ListMilestones 1,
    ListIssuesOfMilestone 1,
    ListSnippets 1,
    GetSnippet 1,
    ListCommentsOnSnippet 1,
    SearchIssues 1,
    CreateRequest 3,
    EditRequest 1,
    CloseRequest 2,
    Merge 1,
    CommentOnRequest 2,
    EditCommentOnRequest 1,
    DeleteCommentOnRequest 1,
    GetRequest 1,
    ListRequests 1,
    ListAllRequests 1,
    ListCommentsOnRequest 1,
    SearchRequests 1,
    AddMember 2,
    ChangeMember 1,
    RemoveMember 1,
    ListMembers 2,
    CreateGroup 3,
    SetGroupVisibility 1,
    DeleteGroup 1,
    GetGroup 2,
    ListGroups 1,
    AddGroupMember 3,
    ChangeGroupMember 1,
    RemoveGroupMember 1,
    ListGroupMembers 1,
    CreateProjectInGroup 2,
    DeleteUser 2,
    ListUsers 1,
}

use What::*;

impl Step {
    fn of_chance(dice: &mut Dice, kinds: &[What]) -> Step {
        // Only administrators may make some calls.
        let who = if dice.below(4) == 0 { "root" } else { dice.pick(PEOPLE) };
        let what = kinds[dice.below(kinds.len())];
        Step { who, what, a: dice.below(1 << 16), b: dice.below(1 << 16) }
    }
}

/// The calls of one round, each as often as its weight says. A random half is left out, so that the others come often
/// enough to act on the same things.
fn kinds(dice: &mut Dice) -> Vec<What> {
    let some: Vec<&(What, usize)> = TIMES.iter().filter(|_| dice.below(2) == 0).collect();
    some.into_iter().flat_map(|(what, times)| std::iter::repeat_n(*what, *times)).collect()
}

/// Applies the effect of a call to the model.
type Effect = Box<dyn FnOnce(&mut Model, &Value) -> Result<(), String>>;

/// A call with its expected reply and its effect.
struct Call {
    method: Method,
    path: String,
    form: Vec<(&'static str, String)>,
    status: u16,
    /// The field of list rows to compare, and its expected values in any order.
    rows: Option<(&'static str, BTreeSet<String>)>,
    effect: Option<Effect>,
}

impl Call {
    fn read(path: String) -> Call {
        Call { method: Method::GET, path, form: Vec::new(), status: 200, rows: None, effect: None }
    }

    fn write(method: Method, path: String, form: &[(&'static str, &str)]) -> Call {
        let status = match method {
            Method::POST => 201,
            Method::DELETE => 204,
            _ => 200,
        };
        let form = form.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        Call { method, path, form, status, rows: None, effect: None }
    }

    fn refused(mut self, status: u16) -> Call {
        (self.status, self.rows, self.effect) = (status, None, None);
        self
    }

    /// Expects 404 if the caller cannot see the target, and 403 if the caller sees it but lacks the right.
    fn within(self, sees: bool, may: bool) -> Call {
        match (sees, may) {
            (false, _) => self.refused(404),
            (true, false) => self.refused(403),
            (true, true) => self,
        }
    }

    /// Expects a list whose rows have these values in `field`.
    fn listing(mut self, field: &'static str, values: impl IntoIterator<Item = String>) -> Call {
        self.rows = Some((field, values.into_iter().collect()));
        self
    }

    fn then(mut self, effect: impl FnOnce(&mut Model, &Value) -> Result<(), String> + 'static) -> Call {
        self.effect = Some(Box::new(effect));
        self
    }
}

fn number(answer: &Value, field: &str) -> Result<u64, String> {
    answer[field].as_u64().ok_or_else(|| format!("no {field} in {answer}"))
}

/// Returns one of the items; `None` if there are none.
fn choose<T>(mut all: impl Iterator<Item = T> + Clone, at: usize) -> Option<T> {
    let count = all.clone().count();
    all.nth(at.checked_rem(count)?)
}

impl Model {
    fn new() -> Model {
        let project = |path: &str, owner, visibility, members: &[(&'static str, u8)]| {
            Project::new(path, Namespace::User(owner), visibility, members.iter().copied().collect())
        };
        Model {
            projects: vec![
                project("ada%2Fopen", "ada", "public", &[("bo", DEVELOPER), ("cy", REPORTER)]),
                project("ada%2Finner", "ada", "internal", &[("bo", GUEST), ("eve", GUEST)]),
                project("bo%2Fshut", "bo", "private", &[("ada", MAINTAINER), ("cy", GUEST)]),
            ],
            groups: BTreeMap::new(),
            issues: Vec::new(),
            requests: Vec::new(),
            notes: BTreeMap::new(),
            snippets: BTreeMap::new(),
            labels: BTreeSet::new(),
            milestones: BTreeMap::new(),
            awards: BTreeMap::new(),
            deleted: BTreeSet::new(),
        }
    }

    // ---- rights

    /// Returns the role of a user in a project, direct or by its namespace.
    fn level(&self, who: &str, project: usize) -> u8 {
        let Project { namespace, members, .. } = &self.projects[project];
        let by_namespace = match namespace {
            Namespace::User(owner) if *owner == who => OWNER,
            Namespace::User(_) => 0,
            Namespace::Group(group) => self.group_level(who, *group),
        };
        if who == "root" { OWNER } else { by_namespace.max(members.get(who).copied().unwrap_or(0)) }
    }

    fn sees(&self, who: &str, project: usize) -> bool {
        let Project { visibility, is_deleted, .. } = self.projects[project];
        !is_deleted && (self.level(who, project) > 0 || is_open_to(who, visibility))
    }

    fn sees_issue(&self, who: &str, issue: &Issue) -> bool {
        self.sees(who, issue.project)
            && (!issue.is_confidential || issue.author == who || self.level(who, issue.project) >= REPORTER)
    }

    fn sees_snippet(&self, who: &str, snippet: &Written) -> bool {
        let On::Project(project) = snippet.on else { return false };
        self.sees(who, project)
            && (who == "root"
                || !who.is_empty() && snippet.author == who
                || match snippet.visibility {
                    "public" => true,
                    "internal" => !who.is_empty() && (who != "eve" || self.level(who, project) > 0),
                    _ => false,
                })
    }

    // ---- cascading deletions

    fn delete_project(&mut self, project: usize) {
        self.projects[project].is_deleted = true;
        self.issues.retain(|issue| issue.project != project);
        self.requests.retain(|request| request.project != project);
        self.snippets.retain(|_, snippet| snippet.on.project() != project);
        self.labels.retain(|(of, _)| *of != project);
        self.milestones.retain(|_, (of, _, _)| *of != project);
        self.awards.retain(|_, (on, _)| on.project() != project);
        self.forget_notes(|on| on.project() == project);
    }

    fn forget_notes(&mut self, on: impl Fn(&On) -> bool) {
        self.notes.retain(|_, note| !on(&note.on));
    }

    fn issue(&mut self, project: usize, iid: u64) -> Option<&mut Issue> {
        self.issues.iter_mut().find(|issue| issue.project == project && issue.iid == iid)
    }

    // ---- calls

    /// Returns the call of a step in the current state; `None` if there is no target for it.
    fn call(&self, step: Step) -> Option<Call> {
        let Step { who, what, .. } = step;
        let call = self.signed_call(step)?;
        // Public reads need no token.
        let open = matches!(
            what,
            ListProjects | GetProject | GetSnippet | ListMembers | GetGroup | ListGroups | ListGroupMembers | ListUsers
        );
        Some(if self.deleted.contains(who) || who.is_empty() && !open { call.refused(401) } else { call })
    }

    fn signed_call(&self, step: Step) -> Option<Call> {
        let Step { who, what, a, b } = step;
        let project = a % self.projects.len();
        let at = format!("/projects/{}", self.projects[project].path);
        let (sees, level) = (self.sees(who, project), self.level(who, project));
        // Calls on the content of a project need a role.
        let inside = |call: Call, least: u8| call.within(sees, level >= least);
        let visibility = VISIBILITIES[b % 3];
        Some(match what {
            SetVisibility => {
                let call = Call::write(Method::PUT, at, &[("visibility", visibility)]);
                inside(
                    call.then(move |model, _| {
                        model.projects[project].visibility = visibility;
                        Ok(())
                    }),
                    MAINTAINER,
                )
            }
            ListProjects => {
                let seen = (0..self.projects.len()).filter(|at| self.sees(who, *at));
                let paths = seen.map(|at| self.projects[at].path.replace("%2F", "/"));
                Call::read("/projects?per_page=100".into()).listing("path_with_namespace", paths)
            }
            GetProject => inside(Call::read(at), 0),
            CreateIssue => {
                let (title, secret) = (TITLES[b % 3], b % 4 == 0);
                let label = LABELS[b % LABELS.len()];
                let confidential = if secret { "true" } else { "false" };
                let form = [("title", title), ("confidential", confidential), ("labels", label)];
                let who = step.who;
                let call = Call::write(Method::POST, format!("{at}/issues"), &form).then(move |model, answer| {
                    model.projects[project].issues += 1;
                    let iid = model.projects[project].issues;
                    if number(answer, "iid")? != iid {
                        return Err(format!("the issue is not number {iid}: {answer}"));
                    }
                    let mut labels = BTreeSet::new();
                    // Guests cannot set labels.
                    if level >= REPORTER {
                        labels.insert(label);
                        model.labels.insert((project, label));
                    }
                    let (is_open, milestone) = (true, None);
                    let title = title.to_owned();
                    let issue =
                        Issue { project, iid, title, author: who, is_open, is_confidential: secret, labels, milestone };
                    model.issues.push(issue);
                    Ok(())
                });
                if sees { call } else { call.refused(404) }
            }
            ListIssues => {
                let state = ["opened", "closed", "all"][b % 3];
                let of = |issue: &&Issue| {
                    issue.project == project
                        && self.sees_issue(who, issue)
                        && (state == "all" || issue.is_open == (state == "opened"))
                };
                let path = format!("{at}/issues?per_page=100&state={state}");
                inside(
                    Call::read(path).listing("iid", self.issues.iter().filter(of).map(|issue| issue.iid.to_string())),
                    0,
                )
            }
            ListAllIssues | SearchIssues => {
                let word = ["slow", "broken", "ugly"][b % 3];
                let found = |issue: &&Issue| {
                    self.sees_issue(who, issue) && (what == ListAllIssues || issue.title.contains(word))
                };
                let urls =
                    self.issues.iter().filter(found).map(|issue| {
                        format!("{}#{}", self.projects[issue.project].path.replace("%2F", "/"), issue.iid)
                    });
                let path = match what {
                    ListAllIssues => "/issues?scope=all&per_page=100".to_owned(),
                    _ => format!("/search?scope=issues&search={word}&per_page=100"),
                };
                Call::read(path).listing("web_url", urls)
            }
            ListLabels => {
                let names = self.labels.iter().filter(|(of, _)| *of == project).map(|(_, name)| (*name).to_owned());
                inside(Call::read(format!("{at}/labels?per_page=100")).listing("name", names), 0)
            }
            CreateLabel => {
                let name = LABELS[b % LABELS.len()];
                let form = [("name", name), ("color", "#112233")];
                let call = Call::write(Method::POST, format!("{at}/labels"), &form).then(move |model, _| {
                    model.labels.insert((project, name));
                    Ok(())
                });
                let taken = self.labels.contains(&(project, name));
                inside(if taken { call.refused(409) } else { call }, REPORTER)
            }
            DeleteLabel => {
                let name = LABELS[b % LABELS.len()];
                let call = Call::write(Method::DELETE, format!("{at}/labels/{name}"), &[]).then(move |model, _| {
                    model.labels.remove(&(project, name));
                    for issue in model.issues.iter_mut().filter(|issue| issue.project == project) {
                        issue.labels.remove(name);
                    }
                    Ok(())
                });
                let known = self.labels.contains(&(project, name));
                inside(if known { call } else { call.refused(404) }, REPORTER)
            }
            RenameLabel => {
                let (from, to) = (LABELS[a % LABELS.len()], LABELS[b % LABELS.len()]);
                let has = |name| self.labels.contains(&(project, name));
                if from == to || !has(from) || has(to) {
                    return None;
                }
                let path = format!("{at}/labels/{from}");
                let call = Call::write(Method::PUT, path, &[("new_name", to)]).then(move |model, _| {
                    model.labels.remove(&(project, from));
                    model.labels.insert((project, to));
                    for issue in model.issues.iter_mut().filter(|issue| issue.project == project) {
                        if issue.labels.remove(from) {
                            issue.labels.insert(to);
                        }
                    }
                    Ok(())
                });
                inside(call, REPORTER)
            }
            CreateMilestone => {
                let title = format!("Milestone {}", b % 4);
                let taken = self.milestones.values().any(|(of, other, _)| *of == project && *other == title);
                let call = Call::write(Method::POST, format!("{at}/milestones"), &[("title", &title)]);
                let call = call.then(move |model, answer| {
                    model.milestones.insert(number(answer, "id")?, (project, title, true));
                    Ok(())
                });
                inside(if taken { call.refused(400) } else { call }, REPORTER)
            }
            ListMilestones => {
                let state = ["active", "closed"][b % 2];
                let of = |(_, (of, _, is_open)): &(&u64, &(usize, String, bool))| {
                    *of == project && *is_open == (state == "active")
                };
                let ids = self.milestones.iter().filter(of).map(|(id, _)| id.to_string());
                inside(Call::read(format!("{at}/milestones?per_page=100&state={state}")).listing("id", ids), 0)
            }
            CloseMilestone | DeleteMilestone | ListIssuesOfMilestone => return self.on_milestone(step),
            CreateSnippet => {
                let form = [("title", "A snippet"), ("file_name", "f"), ("code", "x"), ("visibility", visibility)];
                let who = step.who;
                let call = Call::write(Method::POST, format!("{at}/snippets"), &form).then(move |model, answer| {
                    let snippet = Written { author: who, on: On::Project(project), visibility };
                    model.snippets.insert(number(answer, "id")?, snippet);
                    Ok(())
                });
                inside(call, REPORTER)
            }
            ListSnippets => {
                let of = |(_, snippet): &(&u64, &Written)| {
                    snippet.on == On::Project(project) && self.sees_snippet(who, snippet)
                };
                let ids = self.snippets.iter().filter(of).map(|(id, _)| id.to_string());
                inside(Call::read(format!("{at}/snippets?per_page=100")).listing("id", ids), 0)
            }
            EditSnippet | DeleteSnippet | GetSnippet | CommentOnSnippet | ListCommentsOnSnippet => {
                return self.on_snippet(step);
            }
            CreateRequest | ListRequests | ListAllRequests | SearchRequests => return self.of_requests(step),
            EditRequest
            | CloseRequest
            | Merge
            | CommentOnRequest
            | EditCommentOnRequest
            | DeleteCommentOnRequest
            | GetRequest
            | ListCommentsOnRequest => return self.on_request(step),
            AddMember | ChangeMember | RemoveMember | ListMembers => {
                return self.on_members(step, people::Place::Project(project));
            }
            CreateGroup | ListGroups => return self.of_groups(step),
            SetGroupVisibility | DeleteGroup | GetGroup | CreateProjectInGroup => return self.on_group(step),
            AddGroupMember | ChangeGroupMember | RemoveGroupMember | ListGroupMembers => {
                let (group, _) = choose(self.groups.iter(), a)?;
                return self.on_members(step, people::Place::Group(*group));
            }
            DeleteUser | ListUsers => return self.on_user(step),
            _ => return self.on_issue(step),
        })
    }

    fn on_milestone(&self, step: Step) -> Option<Call> {
        let Step { who, what, a, .. } = step;
        let (id, (project, _, _)) = choose(self.milestones.iter(), a)?;
        let (id, project) = (*id, *project);
        let at = format!("/projects/{}/milestones/{id}", self.projects[project].path);
        let (sees, level) = (self.sees(who, project), self.level(who, project));
        if what == ListIssuesOfMilestone {
            let of = |issue: &&Issue| issue.milestone == Some(id) && self.sees_issue(who, issue);
            let iids = self.issues.iter().filter(of).map(|issue| issue.iid.to_string());
            let call = Call::read(format!("{at}/issues?per_page=100")).listing("iid", iids);
            return Some(if sees { call } else { call.refused(404) });
        }
        let call = match what {
            CloseMilestone => Call::write(Method::PUT, at, &[("state_event", "close")]).then(move |model, _| {
                if let Some((_, _, is_open)) = model.milestones.get_mut(&id) {
                    *is_open = false;
                }
                Ok(())
            }),
            _ => Call::write(Method::DELETE, at, &[]).then(move |model, _| {
                model.milestones.remove(&id);
                for issue in model.issues.iter_mut().filter(|issue| issue.milestone == Some(id)) {
                    issue.milestone = None;
                }
                Ok(())
            }),
        };
        Some(call.within(sees, level >= REPORTER))
    }

    fn on_snippet(&self, step: Step) -> Option<Call> {
        let Step { who, what, a, b } = step;
        let (id, snippet) = choose(self.snippets.iter(), a)?;
        let On::Project(project) = snippet.on else { return None };
        let id = *id;
        let at = format!("/projects/{}/snippets/{id}", self.projects[project].path);
        let sees = self.sees_snippet(who, snippet);
        let may = sees && (snippet.author == who || self.level(who, project) >= MAINTAINER);
        let visibility = VISIBILITIES[b % 3];
        let call = match what {
            GetSnippet => Call::read(at),
            ListCommentsOnSnippet => self.list_comments(&at, On::Snippet(project, id)),
            CommentOnSnippet => Model::comment(&at, On::Snippet(project, id), who),
            EditSnippet => Call::write(Method::PUT, at, &[("visibility", visibility)]).then(move |model, _| {
                if let Some(snippet) = model.snippets.get_mut(&id) {
                    snippet.visibility = visibility;
                }
                Ok(())
            }),
            _ => Call::write(Method::DELETE, at, &[]).then(move |model, _| {
                model.snippets.remove(&id);
                model.forget_notes(|on| *on == On::Snippet(project, id));
                Ok(())
            }),
        };
        Some(match what {
            _ if !sees => call.refused(404),
            EditSnippet | DeleteSnippet if !may => call.refused(403),
            _ => call,
        })
    }

    fn list_comments(&self, at: &str, on: On) -> Call {
        let of = |(_, note): &(&u64, &Written)| note.on == on;
        let ids = self.notes.iter().filter(of).map(|(id, _)| id.to_string());
        Call::read(format!("{at}/notes?per_page=100")).listing("id", ids)
    }

    fn comment(at: &str, on: On, who: &'static str) -> Call {
        Call::write(Method::POST, format!("{at}/notes"), &[("body", "So it is")]).then(move |model, answer| {
            model.notes.insert(number(answer, "id")?, Written { author: who, on, visibility: "" });
            Ok(())
        })
    }

    /// Returns a call that edits or deletes one of the comments on a record.
    fn change_comment(&self, step: Step, at: &str, on: On, deletes: bool) -> Option<Call> {
        let (id, note) = choose(self.notes.iter().filter(|(_, note)| note.on == on), step.b)?;
        let (id, path) = (*id, format!("{at}/notes/{id}"));
        let call = match deletes {
            false => Call::write(Method::PUT, path, &[("body", "Or not")]),
            true => Call::write(Method::DELETE, path, &[]).then(move |model, _| {
                model.notes.remove(&id);
                Ok(())
            }),
        };
        let may = note.author == step.who || self.level(step.who, on.project()) >= MAINTAINER;
        Some(if may { call } else { call.refused(403) })
    }

    fn on_issue(&self, step: Step) -> Option<Call> {
        let Step { who, what, a, b } = step;
        let issue = choose(self.issues.iter(), a)?;
        let (project, iid) = (issue.project, issue.iid);
        let on = On::Issue(project, iid);
        let at = format!("/projects/{}/issues/{iid}", self.projects[project].path);
        let (sees, level) = (self.sees_issue(who, issue), self.level(who, project));
        let is_own = issue.author == who;
        let plans = level >= REPORTER;
        let who = step.who;
        let call = match what {
            GetIssue => Call::read(at),
            ListComments => self.list_comments(&at, on),
            ListReactions => {
                let of = |(_, (to, _)): &(&u64, &(On, &str))| *to == on;
                let ids = self.awards.iter().filter(of).map(|(id, _)| id.to_string());
                Call::read(format!("{at}/award_emoji?per_page=100")).listing("id", ids)
            }
            Comment => Model::comment(&at, on, who),
            React => {
                let given = self.awards.values().any(|(to, by)| *to == on && *by == who);
                let call = Call::write(Method::POST, format!("{at}/award_emoji"), &[("name", "heart")]).then(
                    move |model, answer| {
                        model.awards.insert(number(answer, "id")?, (on, who));
                        Ok(())
                    },
                );
                if given { call.refused(404) } else { call }
            }
            TakeBack => {
                let mut all = self.awards.iter().filter(|(_, (to, _))| *to == on);
                let (id, (_, by)) = all.next()?;
                let id = *id;
                let call = Call::write(Method::DELETE, format!("{at}/award_emoji/{id}"), &[]).then(move |model, _| {
                    model.awards.remove(&id);
                    Ok(())
                });
                if *by == who || who == "root" { call } else { call.refused(401) }
            }
            EditComment | DeleteComment => self.change_comment(step, &at, on, what == DeleteComment)?,
            EditIssue => {
                let title = format!("{} again", TITLES[b % 3]);
                let call = Call::write(Method::PUT, at, &[("title", &title)]).then(move |model, _| {
                    if let Some(issue) = model.issue(project, iid) {
                        issue.title = title;
                    }
                    Ok(())
                });
                if is_own || plans { call } else { call.refused(403) }
            }
            CloseIssue => {
                let (event, is_open) = [("close", false), ("reopen", true)][b % 2];
                let call = Call::write(Method::PUT, at, &[("state_event", event)]).then(move |model, _| {
                    if let Some(issue) = model.issue(project, iid) {
                        issue.is_open = is_open;
                    }
                    Ok(())
                });
                if is_own || plans { call } else { call.refused(403) }
            }
            LabelIssue => {
                let label = LABELS[b % LABELS.len()];
                let call = Call::write(Method::PUT, at, &[("add_labels", label)]).then(move |model, _| {
                    if plans {
                        model.labels.insert((project, label));
                        if let Some(issue) = model.issue(project, iid) {
                            issue.labels.insert(label);
                        }
                    }
                    Ok(())
                });
                if is_own || plans { call } else { call.refused(403) }
            }
            PlanIssue => {
                let (id, _) = choose(self.milestones.iter().filter(|(_, (of, _, _))| *of == project), b)?;
                let id = *id;
                let call = Call::write(Method::PUT, at, &[("milestone_id", &id.to_string())]).then(move |model, _| {
                    if let Some(issue) = model.issue(project, iid).filter(|_| plans) {
                        issue.milestone = Some(id);
                    }
                    Ok(())
                });
                if is_own || plans { call } else { call.refused(403) }
            }
            _ => {
                let call = Call::write(Method::DELETE, at, &[]).then(move |model, _| {
                    model.issues.retain(|issue| (issue.project, issue.iid) != (project, iid));
                    model.forget_notes(|of| *of == on);
                    model.awards.retain(|_, (of, _)| *of != on);
                    Ok(())
                });
                if level >= OWNER { call } else { call.refused(403) }
            }
        };
        Some(if sees { call } else { call.refused(404) })
    }

    /// Returns whether an issue of the server equals that of the model.
    fn check_issue(&self, shown: &Value) -> Result<(), String> {
        let url = shown["web_url"].as_str().unwrap_or_default();
        let of = |issue: &&Issue| {
            let path = self.projects[issue.project].path.replace("%2F", "/");
            url.contains(&format!("/{path}/")) && shown["iid"] == issue.iid
        };
        let issue = self.issues.iter().find(of).ok_or_else(|| format!("there is no such issue: {shown}"))?;
        let labels: BTreeSet<&str> =
            shown["labels"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let state = if issue.is_open { "opened" } else { "closed" };
        let is_it = labels == issue.labels
            && shown["state"] == state
            && shown["title"] == issue.title.as_str()
            && shown["milestone"]["id"].as_u64() == issue.milestone
            && shown["author"]["username"] == issue.author
            && shown["confidential"] == issue.is_confidential;
        let labels = &issue.labels;
        if is_it { Ok(()) } else { Err(format!("{state}, {labels:?}, milestone {:?} is {shown}", issue.milestone)) }
    }
}

impl Project {
    fn new(path: &str, namespace: Namespace, visibility: &'static str, members: Members) -> Project {
        let (issues, requests, merged) = (0, 0, BTreeSet::new());
        Project { path: path.to_owned(), namespace, visibility, members, issues, requests, merged, is_deleted: false }
    }
}

/// Returns whether a user who is not a member can see a project of this visibility.
fn is_open_to(who: &str, visibility: &str) -> bool {
    match visibility {
        "public" => true,
        // External users cannot see internal projects.
        "internal" => !who.is_empty() && who != "eve",
        _ => false,
    }
}

/// Returns the value of a field in the notation of the model.
fn value_of(row: &Value, field: &str) -> String {
    match (field, &row[field]) {
        ("web_url", Value::String(url)) => {
            // Ignore the address of the server.
            let path: Vec<&str> = url.split('/').skip(3).filter(|part| *part != "-").collect();
            path.join("/").replace("/issues/", "#").replace("/merge_requests/", "!")
        }
        (_, Value::String(text)) => text.clone(),
        (_, other) => other.to_string(),
    }
}

/// Makes the calls of a history on a new server. Returns the first step that differs from the model, and how it
/// differs.
async fn run(steps: &[Step], model: &Model) -> Result<(), (usize, String)> {
    let server = Server::of(&world(), &Default::default()).await;
    let mut model = model.clone();
    for (at, step) in steps.iter().enumerate() {
        let Some(call) = model.call(*step) else { continue };
        let line = format!("{} {} {:?} by {:?}", call.method, call.path, call.form, step.who);
        let wrong = |why: String| (at, format!("{line}: {why}"));
        let request = server.call(step.who, call.method.clone(), &call.path);
        let request = if call.form.is_empty() { request } else { request.form(&call.form) };
        let reply = request.send().await.map_err(|error| wrong(error.to_string()))?;
        let status = reply.status().as_u16();
        let text = reply.text().await.map_err(|error| wrong(error.to_string()))?;
        if status != call.status {
            return Err(wrong(format!("{status}, not {}: {text}", call.status)));
        }
        let answer: Value = serde_json::from_str(&text).unwrap_or_default();
        if let Some((field, expected)) = call.rows {
            // Ignore system notes and the ghost user.
            let rows = answer.as_array().cloned().unwrap_or_default();
            let is_told = |row: &Value| row["system"] != true && row["username"] != GHOST;
            let rows: Vec<Value> = rows.into_iter().filter(is_told).collect();
            let found: BTreeSet<String> = rows.iter().map(|row| value_of(row, field)).collect();
            if found != expected || rows.len() != found.len() {
                return Err(wrong(format!("{found:?}, not {expected:?}")));
            }
            if matches!(step.what, What::ListIssues | What::ListAllIssues | What::ListIssuesOfMilestone) {
                rows.iter().try_for_each(|row| model.check_issue(row)).map_err(wrong)?;
            }
            if matches!(step.what, What::ListRequests | What::ListAllRequests) {
                rows.iter().try_for_each(|row| model.check_request(row)).map_err(wrong)?;
            }
        }
        if step.what == What::GetRequest && status == 200 {
            model.check_request(&answer).map_err(wrong)?;
        }
        if step.what == What::GetIssue && status == 200 {
            model.check_issue(&answer).map_err(wrong)?;
        }
        if let Some(effect) = call.effect {
            effect(&mut model, &answer).map_err(wrong)?;
        }
    }
    Ok(())
}

/// Shrinks a failing history by leaving out steps. Returns the shortest one found that still fails.
async fn shrink(mut steps: Vec<Step>, model: &Model) -> (Vec<Step>, String) {
    let mut why = String::new();
    let mut piece = steps.len();
    while piece > 0 {
        let mut at = 0;
        while at < steps.len() {
            let shorter: Vec<Step> = [&steps[..at], &steps[(at + piece).min(steps.len())..]].concat();
            match run(&shorter, model).await {
                Err((last, words)) => {
                    steps = shorter[..=last].to_vec();
                    why = words;
                }
                Ok(()) => at += piece,
            }
        }
        piece /= 2;
    }
    (steps, why)
}

/// Runs one round. Returns the failing history and the difference; `None` if all replies match the model.
async fn wrong(seed: u64, model: &Model) -> Option<(Vec<Step>, String)> {
    let mut dice = Dice(seed);
    let kinds = kinds(&mut dice);
    let history: Vec<Step> = (0..ROUND).map(|_| Step::of_chance(&mut dice, &kinds)).collect();
    let (last, why) = run(&history, model).await.err()?;
    let (shortest, words) = shrink(history[..=last].to_vec(), model).await;
    Some((shortest, if words.is_empty() { why } else { words }))
}

#[tokio::test]
async fn random_calls_match_the_model() {
    let steps = length(STEPS);
    for seed in 0..(steps / ROUND) as u64 {
        if let Some((steps, why)) = wrong(seed, &Model::new()).await {
            let steps: Vec<String> = steps.iter().map(|step| format!("    {step:?}")).collect();
            panic!("seed {seed}: {why}\n{}", steps.join("\n"));
        }
    }
}

/// Checks that planted defects are found.
#[tokio::test]
async fn a_server_that_hides_too_much_or_allows_too_much_is_detected() {
    // The model is told that the project is public; the server hides it.
    let mut model = Model::new();
    model.projects[2].visibility = "public";
    let (steps, why) = wrong(0, &model).await.expect("a wrong history");
    assert!(steps.len() <= 2 && why.contains("shut"), "{why}");
    // The model is told that a reporter is a guest; the server lets the reporter write.
    let mut model = Model::new();
    model.projects[0].members.insert("cy", GUEST);
    let (steps, why) = wrong(0, &model).await.expect("a wrong history");
    assert!(steps.len() <= 2 && why.contains("by \"cy\""), "{why}");
}
