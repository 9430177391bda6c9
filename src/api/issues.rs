//! Issues. The specification covers only their notes, and issues in search results.

use crate::labels::ItemLabel;
use crate::merge_requests::{MergeRequest, Milestone, References, TaskStatus, TimeStats};
use crate::users::User;
use crate::{Id, NoContent, Nullable, Time};
use std::collections::BTreeMap;

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
        labels: Vec<ItemLabel>,
        milestone: Option<Milestone>,
        assignees: Vec<User>,
        /// The first of `assignees`.
        assignee: Option<User>,
        author: Option<User>,
        user_notes_count: u64,
        upvotes: u64,
        downvotes: u64,
        /// The due date, without a time.
        due_date: Option<Time>,
        confidential: bool,
        discussion_locked: Option<bool>,
        web_url: String,
        time_stats: Option<TimeStats>,
    }
    unspecified {
        closed_by: Nullable<User>,
        /// `issue`, `incident`, `task`, …; later versions send it in uppercase as `type`.
        issue_type: Option<String>,
        references: Option<References>,
        task_completion_status: Option<TaskStatus>,
        severity: Option<String>,
        subscribed: Option<bool>,
        weight: Option<u64>,
        start_date: Nullable<Time>,
        /// The link by which another issue lists this one: its ID.
        issue_link_id: Option<u64>,
        /// The type of that link, one of [`LINK_TYPES`](crate::issue_links::LINK_TYPES), seen from the other issue.
        link_type: Option<String>,
    }
    served {
        link_created_at: Option<Time>,
        link_updated_at: Option<Time>,
        /// The number of merge requests that close it when they are merged.
        merge_requests_count: Option<u64>,
        /// The issue type in capitals.
        r#type: Option<String>,
        has_tasks: Option<bool>,
        /// The completed tasks in words; absent without tasks.
        task_status: Option<String>,
        moved_to_id: Nullable<u64>,
        imported: Option<bool>,
        imported_from: Option<String>,
        service_desk_reply_to: Nullable<String>,
        #[serde(rename = "_links")]
        links: Option<IssueLinks>,
    }
}

crate::resource! {
    /// The API URLs of the parts of an issue.
    pub struct IssueLinks {
        #[serde(rename = "self")]
        this: String,
        notes: String,
        award_emoji: String,
        project: String,
        closed_as_duplicate_of: Option<String>,
    }
}

impl Issue {
    pub fn is_open(&self) -> bool {
        self.state != "closed"
    }

    pub fn assignees(&self) -> &[User] {
        match (self.assignees.as_slice(), &self.assignee) {
            ([], Some(one)) => std::slice::from_ref(one),
            (all, _) => all,
        }
    }

    /// Returns the IDs of the author and the assignees, who may change its fields.
    pub fn owners(&self) -> impl Iterator<Item = u64> {
        self.author.iter().chain(self.assignees()).map(|user| user.id)
    }

    pub fn label_names(&self) -> Vec<&str> {
        self.labels.iter().map(ItemLabel::name).filter(|name| !name.is_empty()).collect()
    }
}

/// The named values of the filter by due date.
pub const DUE: &[&str] =
    &["0", "any", "today", "tomorrow", "overdue", "week", "month", "next_month_and_previous_two_weeks"];

/// The types of issues; servers may add more.
pub const TYPES: &[&str] = &["issue", "incident", "test_case", "task", "requirement", "ticket"];

crate::endpoints! {
    unspecified section "Issues";

    common {
        /// `created_by_me`, `assigned_to_me` or `all`.
        scope: Option<String>,
        /// `opened`, `closed` or `all`.
        state: Option<String>,
        /// Separated by commas, or `None` or `Any`.
        labels: Option<String>,
        /// The title of a milestone, or `None`, `Any`, `Upcoming` or `Started`.
        milestone: Option<String>,
        author_id: Option<u64>,
        author_username: Option<String>,
        /// The ID of a user, or `None` or `Any`; servers before 12.0 know only numbers, and 0 for nobody.
        assignee_id: Option<Id>,
        /// Community edition servers accept only one username.
        assignee_username: Option<Vec<String>>,
        closed_by_id: Option<u64>,
        confidential: Option<bool>,
        /// One of the values of [`DUE`].
        due_date: Option<String>,
        /// One of [`TYPES`].
        issue_type: Option<String>,
        iids: Option<Vec<u64>>,
        my_reaction_emoji: Option<String>,
        /// Part of the title or description.
        search: Option<String>,
        /// The fields to search: `title`, `description`, or both separated by a comma.
        r#in: Option<String>,
        created_after: Option<Time>,
        created_before: Option<Time>,
        updated_after: Option<Time>,
        updated_before: Option<Time>,
        /// Filters to negate: names of other inputs, and their values.
        not: Option<BTreeMap<String, String>>,
        /// Whether to include the details of labels, such as colors.
        with_labels_details: Option<bool>,
        /// `created_at` (default), `updated_at`, `due_date`, `priority`, ….
        order_by: Option<String>,
        /// `asc` or `desc` (default).
        sort: Option<String>,
    }

    /// Lists issues of all projects: the caller's own, unless `scope` is `all`.
    GET "/issues" => Vec<Issue>, about Issues;
    struct ListIssues { non_archived: Option<bool>, .. }

    /// Lists the issues of a project, or of a group and its subgroups.
    GET "/issues" of within: Scope [project, group] => Vec<Issue>, about Issues;
    struct ListScopedIssues {
        /// Whether to leave out those of archived projects; only in groups.
        non_archived: Option<bool>,
        ..
    }

    /// Gets a single issue.
    GET "/projects/{id}/issues/{issue_iid}" => Issue, about Issue;
    struct GetIssue { id: Id, issue_iid: u64 }

    /// Creates an issue. Labels that do not exist are created.
    POST "/projects/{id}/issues" => Issue,
    outdates [Issues, Events];
    struct CreateIssue {
        id: Id,
        title: String,
        description: Option<String>,
        /// Separated by commas; new names create labels.
        labels: Option<String>,
        assignee_ids: Option<Vec<u64>>,
        milestone_id: Option<u64>,
        due_date: Option<Time>,
        /// Whether only project members can see the issue.
        confidential: Option<bool>,
        /// `issue`, `incident`, `test_case` or `task`.
        issue_type: Option<String>,
    }

    /// Updates, closes or reopens an issue.
    PUT "/projects/{id}/issues/{issue_iid}" => Issue,
    outdates [Issues, Issue, Notes, Todos, Events];
    struct UpdateIssue {
        id: Id,
        issue_iid: u64,
        title: Option<String>,
        description: Option<String>,
        /// Separated by commas; an empty value removes all labels.
        labels: Option<String>,
        /// 0 removes all assignees.
        assignee_ids: Option<Vec<u64>>,
        /// 0 removes the milestone.
        milestone_id: Option<u64>,
        /// An empty value removes the due date.
        due_date: Option<String>,
        /// Whether only project members can see the issue.
        confidential: Option<bool>,
        /// Whether only project members can comment.
        discussion_locked: Option<bool>,
        /// `close` or `reopen`.
        state_event: Option<String>,
        /// `issue`, `incident`, `test_case` or `task`.
        issue_type: Option<String>,
    }

    /// Deletes an issue.
    DELETE "/projects/{id}/issues/{issue_iid}" => NoContent,
    outdates [Issues, Issue, Todos];
    struct DeleteIssue { id: Id, issue_iid: u64 }

    /// Lists the merge requests that mention an issue or are mentioned in it.
    GET "/projects/{id}/issues/{issue_iid}/related_merge_requests" => Vec<MergeRequest>;
    struct ListRelatedMergeRequests { id: Id, issue_iid: u64 }

    /// Lists the merge requests that close an issue when they are merged.
    GET "/projects/{id}/issues/{issue_iid}/closed_by" => Vec<MergeRequest>;
    struct ListClosingMergeRequests { id: Id, issue_iid: u64 }

    /// Lists the issues that a merge request closes when it is merged.
    GET "/projects/{id}/merge_requests/{merge_request_iid}/closes_issues" => Vec<Issue>, about MergeRequest;
    struct ListClosedIssues { id: Id, merge_request_iid: u64 }

    /// Lists the issues that a merge request refers to in its title, description, commits and comments (since 17.1).
    GET "/projects/{id}/merge_requests/{merge_request_iid}/related_issues" => Vec<Issue>, about MergeRequest;
    struct ListRelatedIssues { id: Id, merge_request_iid: u64 }

    /// Lists the participants of an issue.
    GET "/projects/{id}/issues/{issue_iid}/participants" => Vec<User>;
    struct ListIssueParticipants { id: Id, issue_iid: u64 }
}
