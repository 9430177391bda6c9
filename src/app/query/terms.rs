//! What may be typed to find things, by what is looked for.

use super::{Term, ValueKind};

/// Directions and orders that lists of merge requests know.
const MR_ORDERS: &[(&str, &str)] = &[("created", "created_at"), ("updated", "updated_at")];
const PROJECT_ORDERS: &[(&str, &str)] = &[
    ("active", "last_activity_at"),
    ("created", "created_at"),
    ("updated", "updated_at"),
    ("name", "name"),
    ("path", "path"),
    ("id", "id"),
];

/// What may be asked of merge requests.
pub const MERGE_REQUESTS: &[Term] = &[
    Term::new(
        "state",
        "state",
        ValueKind::Words(&["opened", "closed", "merged", "all"]),
        "opened where it is not said",
    ),
    Term::new("scope", "scope", ValueKind::Words(&["all", "created-by-me", "assigned-to-me"]), "whose they are"),
    Term::new("author", "author_id", ValueKind::User, "who made it"),
    Term::new("assignee", "assignee_id", ValueKind::User, "who it is assigned to"),
    Term::new("label", "labels", ValueKind::Labels, "has the label; several: all of them"),
    Term::new("milestone", "milestone", ValueKind::Milestone, "in the milestone"),
    Term::new("source", "source_branch", ValueKind::Branch, "brings the branch"),
    Term::new("target", "target_branch", ValueKind::Branch, "goes to the branch"),
    Term::new("reaction", "my_reaction_emoji", ValueKind::Text, "you reacted with: thumbsup, heart, …"),
    Term::new("created", "", ValueKind::Dates("created_after", "created_before"), "when it was made: >2w, <2026-01-31"),
    Term::new("updated", "", ValueKind::Dates("updated_after", "updated_before"), "when it last changed: >2w"),
    Term::new("sort", "", ValueKind::Sort(MR_ORDERS), "the order: updated, created-asc"),
];

/// What may be asked of projects.
pub const PROJECTS: &[Term] = &[
    Term::new("visibility", "visibility", ValueKind::Words(&["public", "internal", "private"]), "who may see it"),
    Term::new("archived", "archived", ValueKind::YesNo, "put away, or not"),
    Term::new("owned", "owned", ValueKind::YesNo, "your own"),
    Term::new("member", "membership", ValueKind::YesNo, "you are a member"),
    Term::new("starred", "starred", ValueKind::YesNo, "you gave it a star"),
    Term::new("issues", "with_issues_enabled", ValueKind::YesNo, "with issues"),
    Term::new("mrs", "with_merge_requests_enabled", ValueKind::YesNo, "with merge requests"),
    Term::new("statistics", "statistics", ValueKind::YesNo, "with sizes"),
    Term::new("simple", "simple", ValueKind::YesNo, "names and addresses alone: quicker"),
    Term::new("attribute", "custom_attributes", ValueKind::Pair, "a word that administrators keep: team=rows"),
    Term::new("attributes", "with_custom_attributes", ValueKind::YesNo, "with those words, for administrators"),
    Term::new("sort", "", ValueKind::Sort(PROJECT_ORDERS), "the order: active, name-asc"),
];

/// What may be asked of the projects of a group.
pub const GROUP_PROJECTS: &[Term] = &[
    Term::new("visibility", "visibility", ValueKind::Words(&["public", "internal", "private"]), "who may see it"),
    Term::new("archived", "archived", ValueKind::YesNo, "put away, or not"),
    Term::new("owned", "owned", ValueKind::YesNo, "your own"),
    Term::new("starred", "starred", ValueKind::YesNo, "you gave it a star"),
    Term::new("simple", "simple", ValueKind::YesNo, "names and addresses alone: quicker"),
    Term::new("attributes", "with_custom_attributes", ValueKind::YesNo, "with what administrators keep of them"),
    Term::new("sort", "", ValueKind::Sort(PROJECT_ORDERS), "the order: active, name-asc"),
];

/// What may be asked of groups.
pub const GROUPS: &[Term] = &[
    Term::new("owned", "owned", ValueKind::YesNo, "your own"),
    Term::new("available", "all_available", ValueKind::YesNo, "all that you may see"),
    Term::new("statistics", "statistics", ValueKind::YesNo, "with sizes, for administrators"),
    Term::new("skip", "skip_groups", ValueKind::Numbers, "without the group of that number"),
    Term::new("attribute", "custom_attributes", ValueKind::Pair, "a word that administrators keep: team=rows"),
    Term::new("attributes", "with_custom_attributes", ValueKind::YesNo, "with those words, for administrators"),
    Term::new("sort", "", ValueKind::Sort(&[("name", "name"), ("path", "path")]), "the order: name, path-desc"),
];

/// What may be asked of users.
pub const USERS: &[Term] = &[
    Term::new("active", "active", ValueKind::Flag, "not blocked"),
    Term::new("blocked", "blocked", ValueKind::Flag, "blocked"),
    Term::new("username", "username", ValueKind::UserName, "of exactly that username"),
    Term::new("external", "external", ValueKind::Flag, "external users"),
    Term::new("provider", "provider", ValueKind::Text, "signs in through that provider; with uid"),
    Term::new("uid", "extern_uid", ValueKind::Text, "has that name at the provider"),
    Term::new("attribute", "custom_attributes", ValueKind::Pair, "a word that administrators keep: team=rows"),
    Term::new("attributes", "with_custom_attributes", ValueKind::YesNo, "with those words, for administrators"),
    Term::new("created", "", ValueKind::Dates("created_after", "created_before"), "when the account was made"),
    Term::new("sort", "", ValueKind::Sort(USER_ORDERS), "the order, for administrators"),
];
const USER_ORDERS: &[(&str, &str)] =
    &[("id", "id"), ("name", "name"), ("username", "username"), ("created", "created_at"), ("updated", "updated_at")];

/// What may be asked of the commits of a project.
pub const COMMITS: &[Term] = &[
    Term::new("author", "author", ValueKind::Author, "whose name or address holds it"),
    Term::new("since", "since", ValueKind::Moment, "from then on: 2w, 2026-01-31"),
    Term::new("until", "until", ValueKind::Moment, "up to then: 2w, 2026-01-31"),
    Term::new("ref", "ref_name", ValueKind::Ref, "of that branch or tag"),
    Term::new("path", "path", ValueKind::Path, "that changed the path"),
    Term::new("date", "", ValueKind::Dates("since", "until"), "when: >2w, 2026-01-01..2026-02-01"),
    Term::new("all", "all", ValueKind::YesNo, "of all branches"),
];

/// States of jobs that servers list by.
const STATES: &[&str] = &["created", "pending", "running", "failed", "success", "canceled", "skipped", "manual"];

/// What may be asked of the jobs of a project.
pub const JOBS: &[Term] =
    &[Term::new("scope", "scope", ValueKind::Several(STATES), "in that state; several: any of them")];

/// What may be looked for among jobs: the state is asked of the server, the rest is looked for in what it answers.
pub const JOBS_LOOKED: &[Term] = &[
    Term::new("scope", "scope", ValueKind::Several(STATES), "in that state; several: any of them"),
    Term::new("name", "", ValueKind::Text, "whose name holds it"),
    Term::new("stage", "", ValueKind::Text, "of the stage"),
    Term::new("ref", "", ValueKind::Ref, "of that branch or tag"),
    Term::new("runner", "", ValueKind::Text, "that the runner took"),
    Term::new("by", "", ValueKind::UserName, "that somebody started"),
    Term::new("commit", "", ValueKind::Text, "of the commit"),
];
