//! The terms of typed queries, by kind of object.

use super::{Term, ValueKind};
use api::pipelines::resources::Status;
use api::{issues, pipelines, todos};
use domain::waiting_for::WaitingFor;

/// The sort orders that lists of merge requests support.
const MR_ORDERS: &[(&str, &str)] = &[
    ("created", "created_at"),
    ("updated", "updated_at"),
    ("merged", "merged_at"),
    ("title", "title"),
    ("priority", "priority"),
    ("label", "label_priority"),
    ("milestone", "milestone_due"),
    ("popularity", "popularity"),
];
const PROJECT_ORDERS: &[(&str, &str)] = &[
    ("active", "last_activity_at"),
    ("created", "created_at"),
    ("updated", "updated_at"),
    ("name", "name"),
    ("path", "path"),
    ("id", "id"),
    ("stars", "star_count"),
    ("similarity", "similarity"),
    ("storage", "storage_size"),
    ("repository", "repository_size"),
    ("wiki", "wiki_size"),
    ("packages", "packages_size"),
];

/// The sort orders of the projects of a group: those by storage are for all projects only.
const GROUP_PROJECT_ORDERS: &[(&str, &str)] = PROJECT_ORDERS.split_at(PROJECT_ORDERS.len() - 4).0;

// Terms that several lists share.
const VISIBILITY: Term =
    Term::new("visibility", "visibility", ValueKind::Words(&["public", "internal", "private"]), "visibility");
const ARCHIVED: Term = Term::new("archived", "archived", ValueKind::YesNo, "archived or not");
const OWNED: Term = Term::new("owned", "owned", ValueKind::YesNo, "owned by you");
const STARRED: Term = Term::new("starred", "starred", ValueKind::YesNo, "starred by you");
const SIMPLE: Term = Term::new("simple", "simple", ValueKind::YesNo, "basic fields only: faster");
const ATTRIBUTE: Term = Term::new("attribute", "custom_attributes", ValueKind::Pair, "custom attribute: team=rows");
const ATTRIBUTES: Term = Term::new(
    "attributes",
    "with_custom_attributes",
    ValueKind::YesNo,
    "include custom attributes, for administrators",
);
const SORT_PROJECTS: Term = Term::new("sort", "", ValueKind::Sort(PROJECT_ORDERS), "sort order: active, name-asc");
const SORT_GROUP_PROJECTS: Term = Term::new("sort", "", ValueKind::Sort(GROUP_PROJECT_ORDERS), SORT_PROJECTS.help);
const SCOPE: Term =
    Term::new("scope", "scope", ValueKind::Several(Status::LISTED), "in that state; several: any of them");

/// The scopes of merge requests, spelled as all servers know them.
const MR_SCOPES: &[&str] = &["all", "created-by-me", "assigned-to-me", "reviews_for_me"];

/// The terms for merge requests.
pub const MERGE_REQUESTS: &[Term] = &[
    Term::new(
        "state",
        "state",
        ValueKind::Words(&["opened", "closed", "merged", "locked", "all"]),
        "opened unless given",
    ),
    Term::new("scope", "scope", ValueKind::Words(MR_SCOPES), "author, assignee or reviewer"),
    Term::new("author", "author_id", ValueKind::User, "author").or_not(),
    Term::new("assignee", "assignee_id", ValueKind::User, "assignee; none, any").or_not().or_nobody("assignee_id"),
    Term::new("reviewer", "reviewer_username", ValueKind::UserName, "reviewer, on servers since 13.8; none, any")
        .or_not()
        .or_nobody("reviewer_id"),
    Term::new(
        "approver",
        "approved_by_usernames",
        ValueKind::UserNames,
        "approved by, on enterprise servers; none, any",
    )
    .or_nobody("approved_by_ids"),
    Term::new("waiting", "", ValueKind::Local(WaitingFor::WORDS), "who has to act next; @bo: that user"),
    Term::new("draft", "wip", ValueKind::Words(&["yes", "no"]), "draft, or ready"),
    Term::new("in", "in", ValueKind::Words(&["title", "description"]), "search only this field"),
    Term::new("label", "labels", ValueKind::Labels, "has the label; several: all of them").or_not(),
    Term::new("milestone", "milestone", ValueKind::Milestone, "in the milestone").or_not(),
    Term::new("source", "source_branch", ValueKind::Branch, "source branch"),
    Term::new("target", "target_branch", ValueKind::Branch, "target branch"),
    Term::new("reaction", "my_reaction_emoji", ValueKind::Text, "you reacted with: thumbsup, heart, …").or_not(),
    Term::new("created", "", ValueKind::Dates("created_after", "created_before"), "created: >2w, <2026-01-31"),
    Term::new("updated", "", ValueKind::Dates("updated_after", "updated_before"), "last updated: >2w"),
    Term::new("sort", "", ValueKind::Sort(MR_ORDERS), "sort order: updated, created-asc"),
];

/// The terms for projects.
pub const PROJECTS: &[Term] = &[
    VISIBILITY,
    ARCHIVED,
    OWNED,
    Term::new("member", "membership", ValueKind::YesNo, "you are a member"),
    STARRED,
    Term::new("issues", "with_issues_enabled", ValueKind::YesNo, "issues enabled"),
    Term::new("mrs", "with_merge_requests_enabled", ValueKind::YesNo, "merge requests enabled"),
    Term::new("statistics", "statistics", ValueKind::YesNo, "include storage sizes"),
    SIMPLE,
    ATTRIBUTE,
    ATTRIBUTES,
    SORT_PROJECTS,
];

/// The terms for the projects of a group.
pub const GROUP_PROJECTS: &[Term] = &[VISIBILITY, ARCHIVED, OWNED, STARRED, SIMPLE, ATTRIBUTES, SORT_GROUP_PROJECTS];

const GROUP_ORDERS: &[(&str, &str)] = &[("name", "name"), ("path", "path"), ("id", "id"), ("similarity", "similarity")];

/// The terms for groups.
pub const GROUPS: &[Term] = &[
    OWNED,
    Term::new("available", "all_available", ValueKind::YesNo, "all groups you can see"),
    Term::new("statistics", "statistics", ValueKind::YesNo, "include storage sizes, for administrators"),
    Term::new("skip", "skip_groups", ValueKind::Numbers, "exclude the group with that ID"),
    ATTRIBUTE,
    ATTRIBUTES,
    Term::new("sort", "", ValueKind::Sort(GROUP_ORDERS), "sort order: name, path-desc"),
];

/// The terms for users.
pub const USERS: &[Term] = &[
    Term::new("active", "active", ValueKind::Flag, "not blocked"),
    Term::new("blocked", "blocked", ValueKind::Flag, "blocked"),
    Term::new("username", "username", ValueKind::UserName, "exact username"),
    Term::new("external", "external", ValueKind::Flag, "external users"),
    Term::new("provider", "provider", ValueKind::Text, "identity provider; needs uid"),
    Term::new("uid", "extern_uid", ValueKind::Text, "user ID at the provider"),
    ATTRIBUTE,
    ATTRIBUTES,
    Term::new("created", "", ValueKind::Dates("created_after", "created_before"), "account created"),
    Term::new("sort", "", ValueKind::Sort(USER_ORDERS), "sort order, for administrators"),
];
const USER_ORDERS: &[(&str, &str)] =
    &[("id", "id"), ("name", "name"), ("username", "username"), ("created", "created_at"), ("updated", "updated_at")];

/// The terms for the commits of a project.
pub const COMMITS: &[Term] = &[
    Term::new("author", "author", ValueKind::Author, "name or email contains this"),
    Term::new("since", "since", ValueKind::Moment, "since: 2w, 2026-01-31"),
    Term::new("until", "until", ValueKind::Moment, "until: 2w, 2026-01-31"),
    Term::new("ref", "ref_name", ValueKind::Ref, "on that branch or tag"),
    Term::new("path", "path", ValueKind::Path, "that changed the path"),
    Term::new("lines", "", ValueKind::Lines, "that changed these lines of the path: 10-20"),
    Term::new("date", "", ValueKind::Dates("since", "until"), "date: >2w, 2026-01-01..2026-02-01"),
    Term::new("all", "all", ValueKind::YesNo, "on all branches"),
];

/// The terms for the jobs of a project.
pub const JOBS: &[Term] = &[SCOPE];

/// The terms for searching jobs: the state is sent to the server, the rest is matched against its replies.
pub const JOB_SEARCH: &[Term] = &[
    SCOPE,
    Term::new("name", "", ValueKind::Text, "name contains it"),
    Term::new("stage", "", ValueKind::Text, "in the stage"),
    Term::new("ref", "", ValueKind::Ref, "on that branch or tag"),
    Term::new("runner", "", ValueKind::Text, "run by the runner"),
    Term::new("by", "", ValueKind::UserName, "started by the user"),
    Term::new("commit", "", ValueKind::Text, "for the commit"),
];

const PIPELINE_ORDERS: &[(&str, &str)] =
    &[("id", "id"), ("status", "status"), ("ref", "ref"), ("updated", "updated_at"), ("user", "user_id")];

/// The terms for milestones.
pub const MILESTONES: &[Term] = &[
    Term::new("state", "state", ValueKind::Words(&["active", "closed", "all"]), "active unless given"),
    Term::new("title", "title", ValueKind::Text, "exact title"),
    Term::new("number", "iids", ValueKind::Numbers, "with that number; several: any of them"),
];

/// The terms for pipelines.
pub const PIPELINES: &[Term] = &[
    Term::new("ref", "ref", ValueKind::Ref, "on that branch or tag"),
    Term::new("status", "status", ValueKind::Words(Status::LISTED), "in that state"),
    Term::new("source", "source", ValueKind::Words(pipelines::SOURCES), "started by: push, web, schedule, …"),
    Term::new("user", "username", ValueKind::UserName, "started by the user"),
    Term::new("scope", "scope", ValueKind::Words(pipelines::SCOPES), "running, finished, newest of each branch or tag"),
    Term::new("commit", "sha", ValueKind::Text, "for the commit, by its whole SHA"),
    Term::new("errors", "yaml_errors", ValueKind::YesNo, "with an invalid CI file"),
    Term::new("updated", "", ValueKind::Dates("updated_after", "updated_before"), "last updated: >2w"),
    Term::new("sort", "", ValueKind::Sort(PIPELINE_ORDERS), "sort order: updated, ref-asc"),
];

/// The terms for to-dos.
pub const TODOS: &[Term] = &[
    Term::new("state", "state", ValueKind::Words(&["pending", "done"]), "pending unless given"),
    Term::new("action", "action", ValueKind::Words(todos::ACTIONS), "reason for the to-do"),
    Term::new("type", "type", ValueKind::Words(todos::TYPES), "kind of object"),
    Term::new("author", "author_id", ValueKind::User, "author"),
    Term::new("project", "project_id", ValueKind::Project, "in the project"),
    Term::new("group", "group_id", ValueKind::Group, "in a project of the group"),
];

const ISSUE_ORDERS: &[(&str, &str)] = &[
    ("created", "created_at"),
    ("updated", "updated_at"),
    ("due", "due_date"),
    ("title", "title"),
    ("priority", "priority"),
    ("label", "label_priority"),
    ("milestone", "milestone_due"),
    ("popularity", "popularity"),
    ("position", "relative_position"),
    ("weight", "weight"),
];

/// The terms for issues.
pub const ISSUES: &[Term] = &[
    Term::new("state", "state", ValueKind::Words(&["opened", "closed", "all"]), "opened unless given"),
    Term::new("scope", "scope", ValueKind::Words(&["all", "created_by_me", "assigned_to_me"]), "author or assignee"),
    Term::new("author", "author_id", ValueKind::User, "author").or_not(),
    Term::new("assignee", "assignee_id", ValueKind::User, "assignee; none, any").or_not().or_nobody("assignee_id"),
    Term::new("label", "labels", ValueKind::Labels, "has the label; several: all of them").or_not(),
    Term::new("milestone", "milestone", ValueKind::Milestone, "in the milestone; None, Any, Upcoming, Started")
        .or_not(),
    Term::new("due", "due_date", ValueKind::Words(issues::DUE), "due: overdue, today, week, …"),
    Term::new("type", "issue_type", ValueKind::Words(issues::TYPES), "type: issue, incident, task"),
    Term::new("confidential", "confidential", ValueKind::YesNo, "confidential or not"),
    Term::new("closer", "closed_by_id", ValueKind::User, "closed by"),
    Term::new("reaction", "my_reaction_emoji", ValueKind::Text, "you reacted with: thumbsup, heart, …").or_not(),
    Term::new("number", "iids", ValueKind::Numbers, "with that number; several: any of them"),
    Term::new("in", "in", ValueKind::Words(&["title", "description"]), "search only this field"),
    Term::new("created", "", ValueKind::Dates("created_after", "created_before"), "created: >2w, <2026-01-31"),
    Term::new("updated", "", ValueKind::Dates("updated_after", "updated_before"), "last updated: >2w"),
    Term::new("sort", "", ValueKind::Sort(ISSUE_ORDERS), "sort order: updated, due-asc"),
];
