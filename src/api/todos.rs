//! To-dos: what the server lists for its user to do. Not in the specification; servers of its age have them, too.

use crate::api::users::User;
use crate::api::{Nothing, Time};

crate::resource! {
    /// The project of a to-do.
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
    /// The group of a to-do that belongs to no project.
    pub struct TodoGroup {
        id: u64,
        name: String,
        path: String,
        full_path: String,
    }
}

crate::resource! {
    /// What a to-do is about, as far as the kinds of things have fields in common.
    pub struct TodoTarget {
        title: Option<String>,
    }
    newer {
        /// Of issues, merge requests and epics.
        iid: u64,
        /// Of issues and merge requests.
        state: String,
        web_url: String,
    }
}

crate::resource! {
    /// Something that waits for the user, and why.
    pub struct Todo {
        id: u64,
        project: Option<TodoProject>,
        /// Who caused it.
        author: Option<User>,
        /// A word of [`ACTIONS`], or a later one.
        action_name: String,
        /// A word of [`TYPES`], or a later one.
        target_type: String,
        /// Null where the target is gone.
        target: Option<TodoTarget>,
        /// The page of the target, with the note as its fragment.
        target_url: Option<String>,
        /// The title of the target, or the text of the note.
        body: String,
        /// `pending` or `done`.
        state: String,
        created_at: Option<Time>,
    }
    newer {
        group: TodoGroup,
        updated_at: Time,
    }
}

impl Todo {
    /// Returns whether it waits for the user.
    pub fn is_pending(&self) -> bool {
        self.state != "done"
    }

    /// The title of the target, else the first line of what it says.
    pub fn title(&self) -> &str {
        let title = self.target.as_ref().and_then(|target| target.title.as_deref());
        title.filter(|title| !title.is_empty()).or_else(|| self.body.lines().next()).unwrap_or_default()
    }

    /// The path of its project or group; empty where it has none.
    pub fn within(&self) -> &str {
        match (&self.project, &self.group) {
            (Some(project), _) => &project.path_with_namespace,
            (None, Some(group)) if !group.full_path.is_empty() => &group.full_path,
            (None, Some(group)) => &group.path,
            (None, None) => "",
        }
    }

    /// `!42` or `#7`; empty for other targets.
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

/// Why there are to-dos, as lists are filtered; servers add more.
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
];

/// What to-dos are about, as lists are filtered; servers add more.
pub const TYPES: &[&str] = &["MergeRequest", "Issue", "WorkItem", "Commit", "Epic"];

crate::endpoints! {
    newer section "To-dos";

    /// Lists the caller's to-dos, newest first.
    GET "/todos" => Vec<Todo>;
    struct ListTodos {
        /// A word of [`ACTIONS`].
        action: Option<String>,
        author_id: Option<u64>,
        project_id: Option<u64>,
        group_id: Option<u64>,
        /// `pending` (where absent) or `done`.
        state: Option<String>,
        /// A word of [`TYPES`].
        r#type: Option<String>,
    }

    /// Marks one as done; doing it again changes nothing.
    POST "/todos/{id}/mark_as_done" => Todo,
    touches [ListTodos];
    struct MarkTodoAsDone { id: u64 }

    /// Marks all pending ones as done, whatever a list was filtered by.
    POST "/todos/mark_as_done" => Nothing,
    touches [ListTodos];
    struct MarkAllTodosAsDone {}
}
