//! To-do items of the user. Not in the specification, although servers of that version support them.

use crate::types::Specified;
use crate::users::User;
use crate::{NoContent, Time};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

crate::resource! {
    /// The project of a to-do item.
    pub struct TodoProject {
        id: u64,
        description: Option<String>,
        name: String,
        name_with_namespace: String,
        path: String,
        path_with_namespace: String,
        created_at: Option<Time>,
    }
}

crate::resource! {
    /// The group of a to-do item that belongs to no project.
    pub struct TodoGroup {
        id: u64,
        name: String,
        path: String,
        full_path: String,
    }
}

/// The target of a to-do item: the fields that the different kinds of targets have in common.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default, into = "Value")]
pub struct TodoTarget {
    pub title: Option<String>,
    /// The number, for issues, merge requests and epics.
    pub iid: Option<u64>,
    /// The state, for issues and merge requests.
    pub state: Option<String>,
    pub web_url: Option<String>,
    /// The whole object, as the local server sends it.
    #[serde(skip)]
    pub whole: Value,
}

impl From<TodoTarget> for Value {
    fn from(target: TodoTarget) -> Value {
        let TodoTarget { title, iid, state, web_url, whole } = target;
        if whole.is_null() { json!({ "title": title, "iid": iid, "state": state, "web_url": web_url }) } else { whole }
    }
}

impl Specified for TodoTarget {}

crate::resource! {
    /// A to-do item.
    pub struct Todo {
        id: u64,
        project: Option<TodoProject>,
        /// The user who caused it.
        author: Option<User>,
        /// The reason: one of [`ACTIONS`], or a newer value.
        action_name: String,
        /// The type of the target: one of [`TYPES`], or a newer value.
        target_type: String,
        /// The target; null if it was deleted.
        target: Option<TodoTarget>,
        /// The URL of the target, with the note as its fragment.
        target_url: Option<String>,
        /// The title of the target, or the text of the note.
        body: String,
        /// `pending` or `done`.
        state: String,
        created_at: Option<Time>,
    }
    unspecified {
        group: Option<TodoGroup>,
        updated_at: Option<Time>,
    }
}

impl ListTodos {
    /// Returns the request for the caller's pending to-dos.
    pub fn pending() -> ListTodos {
        ListTodos { state: Some("pending".into()), ..ListTodos::default() }
    }
}

impl Todo {
    pub fn is_pending(&self) -> bool {
        self.state != "done"
    }

    /// Returns the title of the target, or else the first line of the body.
    pub fn title(&self) -> &str {
        let title = self.target.as_ref().and_then(|target| target.title.as_deref());
        title.filter(|title| !title.is_empty()).or_else(|| self.body.lines().next()).unwrap_or_default()
    }

    /// Returns the path of the project or group; empty if it has none.
    pub fn container_path(&self) -> &str {
        match (&self.project, &self.group) {
            (Some(project), _) => &project.path_with_namespace,
            (None, Some(group)) if !group.full_path.is_empty() => &group.full_path,
            (None, Some(group)) => &group.path,
            (None, None) => "",
        }
    }

    /// Returns the kind of a target that has no reference: `alert`, `design`, `vulnerability`; newer kinds in the
    /// server's words. Empty for a target with a reference.
    pub fn kind(&self) -> String {
        match self.target_type.as_str() {
            "" | "MergeRequest" | "Issue" | "WorkItem" | "Epic" => String::new(),
            // `AlertManagement::Alert`, `DesignManagement::Design`, `WikiPage::Meta`.
            "WikiPage::Meta" => "wiki page".to_owned(),
            "Key" => "SSH key".to_owned(),
            other => {
                let name = other.rsplit("::").next().unwrap_or(other);
                let mut words = String::new();
                for letter in name.chars() {
                    if letter.is_uppercase() && !words.is_empty() {
                        words.push(' ');
                    }
                    words.extend(letter.to_lowercase());
                }
                words
            }
        }
    }

    /// Returns the reference of the target, such as `!42` or `#7`; empty for targets without one.
    pub fn reference(&self) -> String {
        let iid = self.target.as_ref().and_then(|target| target.iid);
        let mark = match self.target_type.as_str() {
            "MergeRequest" => '!',
            "Issue" | "WorkItem" => '#',
            "Epic" => '&',
            _ => return String::new(),
        };
        iid.map(|iid| format!("{mark}{iid}")).unwrap_or_default()
    }
}

/// The reasons for to-do items that lists can be filtered by; servers may add more.
pub const ACTIONS: &[&str] = &[
    "assigned",
    "review_requested",
    "mentioned",
    "directly_addressed",
    "build_failed",
    "marked",
    "approval_required",
    "unmergeable",
    "member_access_requested",
    "review_submitted",
    "ssh_key_expired",
    "ssh_key_expiring_soon",
    "transfer_failed",
    "merge_train_removed",
    "okr_checkin_requested",
    "added_approver",
    "duo_pro_access_granted",
    "duo_enterprise_access_granted",
    "duo_core_access_granted",
    "duo_workflow_input_required",
];

/// The target types of to-do items that lists can be filtered by; servers may add more.
pub const TYPES: &[&str] = &[
    "MergeRequest",
    "Issue",
    "WorkItem",
    "Commit",
    "Epic",
    "Project",
    "Namespace",
    "WikiPage::Meta",
    "DesignManagement::Design",
    "AlertManagement::Alert",
    "Vulnerability",
    "Key",
    "User",
    "ComplianceManagement::Projects::ComplianceViolation",
    "Ai::DuoWorkflows::Workflow",
];

crate::endpoints! {
    unspecified section "To-dos";

    /// Lists the caller's to-do items, newest first.
    GET "/todos" => Vec<Todo>, about Todos;
    struct ListTodos {
        /// One of [`ACTIONS`].
        action: Option<String>,
        author_id: Option<u64>,
        project_id: Option<u64>,
        group_id: Option<u64>,
        /// `pending` (default) or `done`.
        state: Option<String>,
        /// One of [`TYPES`].
        r#type: Option<String>,
    }

    /// Adds a to-do item for the caller; 304 if there is a pending one.
    POST "/todo" of on: Noteable [merge_request, issue] => Todo,
    outdates [Todos];
    struct CreateTodo {}

    /// Marks a to-do item as done; doing it again changes nothing.
    POST "/todos/{id}/mark_as_done" => Todo,
    outdates [Todos];
    struct MarkTodoAsDone { id: u64 }

    /// Marks all pending to-do items as done, whatever filter a list had.
    POST "/todos/mark_as_done" => NoContent,
    outdates [Todos];
    struct MarkAllTodosAsDone {}
}
