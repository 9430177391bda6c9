//! Issues. The specification has their notes, and shows them where search finds them.

use crate::api::labels::Label;
use crate::api::merge_requests::{MergeRequest, Milestone, References, TimeStats};
use crate::api::notes::ListIssueNotes;
use crate::api::todos::ListTodos;
use crate::api::users::User;
use crate::api::{Id, Nothing, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

crate::resource! {
    /// How many of the tasks in a description are done.
    pub struct TaskStatus {
        count: u64,
        completed_count: u64,
    }
}

crate::resource! {
    /// An issue.
    pub struct Issue {
        id: u64,
        iid: u64,
        project_id: u64,
        title: String,
        description: Option<String>,
        /// `opened` or `closed`.
        state: String,
        created_at: Option<Time>,
        updated_at: Option<Time>,
        closed_at: Option<Time>,
        labels: Vec<IssueLabel>,
        milestone: Option<Milestone>,
        assignees: Vec<User>,
        /// The first of `assignees`.
        assignee: Option<User>,
        author: Option<User>,
        user_notes_count: u64,
        upvotes: u64,
        downvotes: u64,
        /// A date.
        due_date: Option<Time>,
        confidential: bool,
        discussion_locked: Option<bool>,
        web_url: String,
        time_stats: Option<TimeStats>,
    }
    newer {
        closed_by: User,
        /// `issue`, `incident`, `task`, …; later versions write it in capitals as `type`.
        issue_type: String,
        merge_requests_count: u64,
        references: References,
        task_completion_status: TaskStatus,
        severity: String,
        subscribed: bool,
        weight: u64,
        start_date: Time,
    }
}

/// A label of an issue: its name, or all of it where a list is asked for details.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum IssueLabel {
    /// Its name.
    Name(String),
    /// All of it.
    Label(Box<Label>),
    /// What servers may come to write here.
    Other(serde_json::Value),
}

impl IssueLabel {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            IssueLabel::Name(name) => name,
            IssueLabel::Label(label) => &label.name,
            IssueLabel::Other(_) => "",
        }
    }

    /// Its color, where that is known.
    pub fn color(&self) -> Option<&str> {
        match self {
            IssueLabel::Label(label) => Some(&label.color),
            IssueLabel::Name(_) | IssueLabel::Other(_) => None,
        }
    }
}

impl From<&str> for IssueLabel {
    fn from(name: &str) -> IssueLabel {
        IssueLabel::Name(name.to_owned())
    }
}

impl Issue {
    /// Returns whether it is open.
    pub fn is_open(&self) -> bool {
        self.state != "closed"
    }

    /// The people it is assigned to.
    pub fn assignees(&self) -> &[User] {
        match (self.assignees.as_slice(), &self.assignee) {
            ([], Some(one)) => std::slice::from_ref(one),
            (all, _) => all,
        }
    }

    /// The names of its labels.
    pub fn label_names(&self) -> Vec<&str> {
        self.labels.iter().map(IssueLabel::name).filter(|name| !name.is_empty()).collect()
    }
}

/// Words for dates that an issue is due.
pub const DUE: &[&str] =
    &["0", "any", "today", "tomorrow", "overdue", "week", "month", "next_month_and_previous_two_weeks"];

/// Types of issues; servers add more.
pub const TYPES: &[&str] = &["issue", "incident", "test_case", "task"];

crate::endpoints! {
    newer section "Issues";

    common {
        /// `created_by_me`, `assigned_to_me` or `all`.
        scope: Option<String>,
        /// `opened`, `closed` or `all`.
        state: Option<String>,
        /// Separated by commas; `None` and `Any` are words.
        labels: Option<String>,
        /// A milestone's title; `None`, `Any`, `Upcoming` and `Started` are words.
        milestone: Option<String>,
        author_id: Option<u64>,
        author_username: Option<String>,
        assignee_id: Option<u64>,
        /// Community editions take one name.
        assignee_username: Option<Vec<String>>,
        closed_by_id: Option<u64>,
        confidential: Option<bool>,
        /// A word of [`DUE`].
        due_date: Option<String>,
        /// A word of [`TYPES`].
        issue_type: Option<String>,
        iids: Option<Vec<u64>>,
        my_reaction_emoji: Option<String>,
        /// Part of a title or description.
        search: Option<String>,
        /// Where to search: `title`, `description`, or both with a comma.
        r#in: Option<String>,
        created_after: Option<Time>,
        created_before: Option<Time>,
        updated_after: Option<Time>,
        updated_before: Option<Time>,
        /// What must not be: inputs and their values.
        not: Option<BTreeMap<String, String>>,
        /// Whether labels come with their colors.
        with_labels_details: Option<bool>,
        /// `created_at` (where absent), `updated_at`, `due_date`, `priority`, ….
        order_by: Option<String>,
        /// `asc` or `desc` (where absent).
        sort: Option<String>,
    }

    /// Lists issues everywhere: the caller's own, unless `scope` is `all`.
    GET "/issues" => Vec<Issue>;
    struct ListIssues { non_archived: Option<bool>, .. }

    /// Lists the issues of a group and of the groups in it.
    GET "/groups/{id}/issues" => Vec<Issue>;
    struct ListGroupIssues { id: Id, non_archived: Option<bool>, .. }

    /// Lists the issues of a project.
    GET "/projects/{id}/issues" => Vec<Issue>;
    struct ListProjectIssues { id: Id, .. }

    /// Reads one issue.
    GET "/projects/{id}/issues/{issue_iid}" => Issue;
    struct GetIssue { id: Id, issue_iid: u64 }

    /// Creates an issue. Names of labels that are not known are created, too.
    POST "/projects/{id}/issues" => Issue,
    touches [ListIssues, ListGroupIssues, ListProjectIssues];
    struct CreateIssue {
        id: Id,
        title: String,
        description: Option<String>,
        /// Separated by commas.
        labels: Option<String>,
        assignee_ids: Option<Vec<u64>>,
        milestone_id: Option<u64>,
        due_date: Option<Time>,
        /// Whether only members of the project see it.
        confidential: Option<bool>,
        /// A word of [`TYPES`].
        issue_type: Option<String>,
    }

    /// Changes, closes or reopens an issue.
    PUT "/projects/{id}/issues/{issue_iid}" => Issue,
    touches [ListIssues, ListGroupIssues, ListProjectIssues, GetIssue, ListIssueNotes, ListTodos];
    struct UpdateIssue {
        id: Id,
        issue_iid: u64,
        title: Option<String>,
        description: Option<String>,
        /// Separated by commas; nothing clears them.
        labels: Option<String>,
        /// 0 takes it from everybody.
        assignee_ids: Option<Vec<u64>>,
        /// 0 takes it out of its milestone.
        milestone_id: Option<u64>,
        /// Nothing takes the date away.
        due_date: Option<String>,
        /// Whether only members of the project see it.
        confidential: Option<bool>,
        /// Whether only members of the project may comment.
        discussion_locked: Option<bool>,
        /// `close` or `reopen`.
        state_event: Option<String>,
        /// A word of [`TYPES`].
        issue_type: Option<String>,
    }

    /// Deletes an issue.
    DELETE "/projects/{id}/issues/{issue_iid}" => Nothing,
    touches [ListIssues, ListGroupIssues, ListProjectIssues, GetIssue, ListTodos];
    struct DeleteIssue { id: Id, issue_iid: u64 }

    /// Lists the merge requests that mention an issue, or that it mentions.
    GET "/projects/{id}/issues/{issue_iid}/related_merge_requests" => Vec<MergeRequest>;
    struct ListRelatedMergeRequests { id: Id, issue_iid: u64 }

    /// Lists the merge requests that close an issue when they are merged.
    GET "/projects/{id}/issues/{issue_iid}/closed_by" => Vec<MergeRequest>;
    struct ListClosingMergeRequests { id: Id, issue_iid: u64 }

    /// Lists the people who take part in an issue.
    GET "/projects/{id}/issues/{issue_iid}/participants" => Vec<User>;
    struct ListIssueParticipants { id: Id, issue_iid: u64 }
}
