//! What may be typed to find things, by what is looked for.

use super::{Takes, Term};

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
    Term::new("state", "state", Takes::Words(&["opened", "closed", "merged", "all"]), "opened where it is not said"),
    Term::new("scope", "scope", Takes::Words(&["all", "created-by-me", "assigned-to-me"]), "whose they are"),
    Term::new("author", "author_id", Takes::User, "who made it"),
    Term::new("assignee", "assignee_id", Takes::User, "who is to see it through"),
    Term::new("label", "labels", Takes::Labels, "has the label; several: all of them"),
    Term::new("milestone", "milestone", Takes::Milestone, "in the milestone"),
    Term::new("source", "source_branch", Takes::Branch, "brings the branch"),
    Term::new("target", "target_branch", Takes::Branch, "goes to the branch"),
    Term::new("reaction", "my_reaction_emoji", Takes::Text, "you reacted with: thumbsup, heart, …"),
    Term::new("created", "", Takes::Dates("created_after", "created_before"), "when it was made: >2w, <2026-01-31"),
    Term::new("updated", "", Takes::Dates("updated_after", "updated_before"), "when it last changed: >2w"),
    Term::new("sort", "", Takes::Sort(MR_ORDERS), "the order: updated, created-asc"),
];

/// What may be asked of projects.
pub const PROJECTS: &[Term] = &[
    Term::new("visibility", "visibility", Takes::Words(&["public", "internal", "private"]), "who may see it"),
    Term::new("archived", "archived", Takes::YesNo, "put away, or not"),
    Term::new("owned", "owned", Takes::YesNo, "your own"),
    Term::new("member", "membership", Takes::YesNo, "you are a member"),
    Term::new("starred", "starred", Takes::YesNo, "you gave it a star"),
    Term::new("issues", "with_issues_enabled", Takes::YesNo, "with issues"),
    Term::new("mrs", "with_merge_requests_enabled", Takes::YesNo, "with merge requests"),
    Term::new("statistics", "statistics", Takes::YesNo, "with sizes"),
    Term::new("simple", "simple", Takes::YesNo, "names and addresses alone: quicker"),
    Term::new("attribute", "custom_attributes", Takes::Pair, "a word that administrators keep: team=rows"),
    Term::new("attributes", "with_custom_attributes", Takes::YesNo, "with those words, for administrators"),
    Term::new("sort", "", Takes::Sort(PROJECT_ORDERS), "the order: active, name-asc"),
];

/// What may be asked of the projects of a group.
pub const GROUP_PROJECTS: &[Term] = &[
    Term::new("visibility", "visibility", Takes::Words(&["public", "internal", "private"]), "who may see it"),
    Term::new("archived", "archived", Takes::YesNo, "put away, or not"),
    Term::new("owned", "owned", Takes::YesNo, "your own"),
    Term::new("starred", "starred", Takes::YesNo, "you gave it a star"),
    Term::new("simple", "simple", Takes::YesNo, "names and addresses alone: quicker"),
    Term::new("attributes", "with_custom_attributes", Takes::YesNo, "with what administrators keep of them"),
    Term::new("sort", "", Takes::Sort(PROJECT_ORDERS), "the order: active, name-asc"),
];

/// What may be asked of groups.
pub const GROUPS: &[Term] = &[
    Term::new("owned", "owned", Takes::YesNo, "your own"),
    Term::new("available", "all_available", Takes::YesNo, "all that you may see"),
    Term::new("statistics", "statistics", Takes::YesNo, "with sizes, for administrators"),
    Term::new("skip", "skip_groups", Takes::Numbers, "without the group of that number"),
    Term::new("attribute", "custom_attributes", Takes::Pair, "a word that administrators keep: team=rows"),
    Term::new("attributes", "with_custom_attributes", Takes::YesNo, "with those words, for administrators"),
    Term::new("sort", "", Takes::Sort(&[("name", "name"), ("path", "path")]), "the order: name, path-desc"),
];

/// What may be asked of users.
pub const USERS: &[Term] = &[
    Term::new("active", "active", Takes::Flag, "not blocked"),
    Term::new("blocked", "blocked", Takes::Flag, "blocked"),
    Term::new("username", "username", Takes::UserName, "of exactly that user name"),
    Term::new("external", "external", Takes::Flag, "external users"),
    Term::new("provider", "provider", Takes::Text, "signs in through that provider; with uid"),
    Term::new("uid", "extern_uid", Takes::Text, "has that name at the provider"),
    Term::new("attribute", "custom_attributes", Takes::Pair, "a word that administrators keep: team=rows"),
    Term::new("attributes", "with_custom_attributes", Takes::YesNo, "with those words, for administrators"),
    Term::new("created", "", Takes::Dates("created_after", "created_before"), "when the account was made"),
    Term::new("sort", "", Takes::Sort(USER_ORDERS), "the order, for administrators"),
];
const USER_ORDERS: &[(&str, &str)] =
    &[("id", "id"), ("name", "name"), ("username", "username"), ("created", "created_at"), ("updated", "updated_at")];

/// What may be asked of the commits of a project.
pub const COMMITS: &[Term] = &[
    Term::new("author", "author", Takes::Author, "whose name or address holds it"),
    Term::new("since", "since", Takes::Moment, "from then on: 2w, 2026-01-31"),
    Term::new("until", "until", Takes::Moment, "up to then: 2w, 2026-01-31"),
    Term::new("ref", "ref_name", Takes::Ref, "of that branch or tag"),
    Term::new("path", "path", Takes::Path, "that changed the path"),
    Term::new("date", "", Takes::Dates("since", "until"), "when: >2w, 2026-01-01..2026-02-01"),
    Term::new("all", "all", Takes::YesNo, "of all branches"),
];

/// States of jobs that servers list by.
const STATES: &[&str] = &["created", "pending", "running", "failed", "success", "canceled", "skipped", "manual"];

/// What may be asked of the jobs of a project.
pub const JOBS: &[Term] = &[Term::new("scope", "scope", Takes::Several(STATES), "in that state; several: any of them")];

/// What may be looked for among jobs: the state is asked of the server, the rest is looked for in what it answers.
pub const JOBS_LOOKED: &[Term] = &[
    Term::new("scope", "scope", Takes::Several(STATES), "in that state; several: any of them"),
    Term::new("name", "", Takes::Text, "whose name holds it"),
    Term::new("stage", "", Takes::Text, "of the stage"),
    Term::new("ref", "", Takes::Ref, "of that branch or tag"),
    Term::new("runner", "", Takes::Text, "that the runner took"),
    Term::new("by", "", Takes::UserName, "that somebody started"),
    Term::new("commit", "", Takes::Text, "of the commit"),
];
