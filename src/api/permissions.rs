//! The permissions of fine-grained tokens (since GitLab 19.2), by operation. `permissions.tsv` states them as the
//! server's own documentation does.

const TABLE: &str = include_str!("permissions.tsv");

/// An operation, and the permission that a fine-grained token needs for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The kind of object and the action, as servers name them: `Merge Request: Read`.
    pub permission: &'static str,
    pub method: &'static str,
    /// The path below `/api/v4`, with its slots.
    pub route: &'static str,
}

impl Row {
    /// Returns the kind of object and the action.
    pub fn parts(&self) -> (&'static str, &'static str) {
        self.permission.split_once(": ").unwrap_or((self.permission, ""))
    }

    /// Returns where servers grant the permission: to the projects and groups that a token names, to its user, or to the
    /// whole server.
    pub fn access(&self) -> &'static str {
        match self.route.split('/').nth(1) {
            Some("projects" | "suggestions") if self.route != "/projects" => "project",
            Some("groups") if self.route != "/groups" => "group",
            Some("admin" | "hooks" | "keys" | "license" | "metadata" | "version") => "instance",
            _ => "user",
        }
    }
}

/// Returns all operations, sorted by permission.
pub fn rows() -> impl Iterator<Item = Row> {
    TABLE.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let mut cells = line.split('\t');
        Some(Row { permission: cells.next()?, method: cells.next()?, route: cells.next()? })
    })
}

/// Returns the row of an operation; `None` for those that servers with such tokens do not have.
pub fn of(method: &str, route: &str) -> Option<Row> {
    rows().find(|row| row.method == method && row.route == route)
}

/// Returns a permission as requests name it: `read_merge_request`.
pub fn identifier(permission: &str) -> String {
    let (kind, action) = permission.split_once(": ").unwrap_or((permission, ""));
    format!("{action}_{kind}").to_lowercase().replace(' ', "_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations;

    /// The operations that servers with such tokens do not have.
    const OLDER: &[&str] = &[
        "POST /projects/{id}/repository/tags/{tag_name}/release",
        "PUT /projects/{id}/repository/tags/{tag_name}/release",
    ];

    #[test]
    fn each_operation_has_one_permission() {
        let mut all: Vec<String> = rows().map(|row| format!("{} {}", row.method, row.route)).collect();
        all.extend(OLDER.iter().map(|line| (*line).to_owned()));
        all.sort();
        let mut ours: Vec<String> =
            operations().map(|(endpoint, route)| format!("{} {}", endpoint.method, route.path)).collect();
        ours.sort();
        let missing: Vec<_> = ours.iter().filter(|line| !all.contains(line)).collect();
        let strange: Vec<_> = all.iter().filter(|line| !ours.contains(line)).collect();
        assert!(missing.is_empty() && strange.is_empty(), "missing: {missing:#?}\nstrange: {strange:#?}");
        assert_eq!(all.len(), ours.len(), "an operation is there twice");
    }

    #[test]
    fn permissions_are_named_as_servers_name_them() {
        let row = of("GET", "/projects/{id}/merge_requests").expect("the row");
        assert_eq!((row.parts(), row.access()), (("Merge Request", "Read"), "project"));
        assert_eq!(identifier(row.permission), "read_merge_request");
        // Comments on merge requests are work items for servers.
        let comment = of("POST", "/projects/{id}/merge_requests/{merge_request_iid}/notes").expect("the row");
        assert_eq!(comment.permission, "Work Item: Create");
        assert_eq!(of("GET", "/todos").map(|row| row.access()), Some("user"));
        assert_eq!(of("GET", "/admin/ci/variables").map(|row| row.access()), Some("instance"));
    }
}
