//! Projects (specification, "Projects").

use crate::types::File;
use crate::users::{CustomAttribute, User};
use crate::views::OWNER;
use crate::{Id, Nullable, Time};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;

crate::open_enum! {
    /// The visibility of a project, group or snippet.
    pub enum Visibility {
        Private = "private",
        Internal = "internal",
        Public = "public",
    }
}

crate::resource! {
    /// A project as part of other resources, such as runners and jobs.
    pub struct ProjectBrief {
        id: u64,
        name: String,
        name_with_namespace: String,
        path: String,
        path_with_namespace: String,
    }
    views {
        description: Nullable<String>,
        created_at: Option<Time>,
    }
}

crate::resource! {
    /// The group or user that owns a project.
    pub struct Namespace {
        id: u64,
        name: String,
        path: String,
        /// The kind: `group` or `user`.
        kind: String,
        full_path: String,
    }
    unspecified {
        parent_id: Nullable<u64>,
        web_url: Option<String>,
    }
    served {
        avatar_url: Nullable<String>,
    }
}

crate::resource! {
    /// The access level and the notification level of the caller.
    pub struct Access {
        /// The access level: 10 guest, 20 reporter, 30 developer, 40 maintainer, 50 owner.
        access_level: u64,
        notification_level: Option<u64>,
    }
}

crate::resource! {
    /// The access of the caller to a project, through the project and through its group.
    pub struct Permissions {
        project_access: Option<Access>,
        group_access: Option<Access>,
    }
}

crate::resource! {
    /// A group that a project is shared with.
    pub struct SharedGroup {
        group_id: u64,
        group_name: String,
        group_access_level: u64,
    }
    served {
        group_full_path: Option<String>,
        expires_at: Nullable<Time>,
    }
}

crate::resource! {
    /// The number of commits of a project, and its storage in bytes.
    pub struct ProjectStatistics {
        commit_count: u64,
        storage_size: u64,
        repository_size: u64,
        lfs_objects_size: u64,
        job_artifacts_size: u64,
    }
}

crate::resource! {
    /// The API URLs of the parts of a project.
    pub struct Links {
        #[serde(rename = "self")]
        this: String,
        repo_branches: Option<String>,
        labels: Option<String>,
        events: Option<String>,
        members: Option<String>,
    }
    views {
        /// Absent if the feature is off.
        issues: Option<String>,
        merge_requests: Option<String>,
    }
    served {
        cluster_agents: Option<String>,
    }
}

crate::resource! {
    /// A project. Simple lists and search results contain fewer fields; the missing ones are under `views`.
    pub struct Project {
        id: u64,
        name: String,
        name_with_namespace: String,
        path: String,
        path_with_namespace: String,
        web_url: String,
    }
    views {
        description: Nullable<String>,
        /// The default branch; null for an empty repository, absent if the caller may not read the code.
        default_branch: Nullable<String>,
        visibility: Option<Visibility>,
        ssh_url_to_repo: Option<String>,
        http_url_to_repo: Option<String>,
        tag_list: Option<Vec<String>>,
        owner: Option<User>,
        issues_enabled: Option<bool>,
        merge_requests_enabled: Option<bool>,
        jobs_enabled: Option<bool>,
        wiki_enabled: Option<bool>,
        snippets_enabled: Option<bool>,
        resolve_outdated_diff_discussions: Option<bool>,
        container_registry_enabled: Option<bool>,
        archived: Option<bool>,
        shared_runners_enabled: Option<bool>,
        public_jobs: Option<bool>,
        only_allow_merge_if_pipeline_succeeds: Option<bool>,
        only_allow_merge_if_all_discussions_are_resolved: Option<bool>,
        printing_merge_requests_link_enabled: Option<bool>,
        request_access_enabled: Option<bool>,
        lfs_enabled: Option<bool>,
        open_issues_count: Option<u64>,
        creator_id: Option<u64>,
        forks_count: Option<u64>,
        star_count: Option<u64>,
        approvals_before_merge: Option<u64>,
        created_at: Option<Time>,
        last_activity_at: Option<Time>,
        namespace: Option<Namespace>,
        import_status: Option<String>,
        import_error: Nullable<String>,
        permissions: Option<Permissions>,
        avatar_url: Nullable<String>,
        /// The registration token for runners, which is a secret.
        runners_token: Option<String>,
        shared_with_groups: Option<Vec<SharedGroup>>,
        repository_storage: Option<String>,
        statistics: Option<ProjectStatistics>,
        #[serde(rename = "_links")]
        links: Option<Links>,
        custom_attributes: Option<Vec<CustomAttribute>>,
    }
    unspecified {
        /// The name of real servers for `printing_merge_requests_link_enabled`.
        printing_merge_request_link_enabled: Option<bool>,
        /// The new name of `tag_list`.
        topics: Option<Vec<String>>,
        empty_repo: Option<bool>,
        forked_from_project: Option<Box<Project>>,
        merge_method: Option<String>,
        /// The day on which the project was scheduled for deletion; the old name of `marked_for_deletion_on`.
        marked_for_deletion_at: Nullable<Time>,
        marked_for_deletion_on: Nullable<Time>,
        /// The file with the CI configuration; null or empty for the usual one.
        ci_config_path: Nullable<String>,
    }
    served {
        readme_url: Nullable<String>,
        updated_at: Option<Time>,
        can_create_merge_request_in: Option<bool>,
        import_url: Nullable<String>,
        service_desk_address: Nullable<String>,
        /// The settings that only the server knows (`src/backend/settings.rs`).
        #[serde(flatten)]
        settings: Option<Map<String, Value>>,
    }
}

impl Project {
    /// Returns the default branch, if there is one and the caller may read the code.
    pub fn default_branch(&self) -> Option<&str> {
        self.default_branch.as_deref().filter(|name| !name.is_empty())
    }

    /// Returns the description, or an empty string.
    pub fn description(&self) -> &str {
        self.description.as_deref().unwrap_or_default()
    }

    /// Returns the topics, under either name.
    pub fn topics(&self) -> &[String] {
        let tags = self.tag_list.as_ref();
        self.topics.as_ref().or(tags).map_or(&[], Vec::as_slice)
    }

    /// Returns the visibility, if the server sent it.
    pub fn visibility(&self) -> Option<&Visibility> {
        self.visibility.as_ref()
    }

    pub fn is_archived(&self) -> bool {
        self.archived == Some(true)
    }

    /// Returns whether the repository is empty, as far as is known.
    pub fn is_empty(&self) -> bool {
        self.empty_repo.unwrap_or(self.default_branch.is_null())
    }

    /// Returns the full path. Simple lists contain it only in the URL, below the path of `root`, the address of the
    /// server; without a URL, the ID is returned.
    pub fn full_path(&self, root: &str) -> Cow<'_, str> {
        if !self.path_with_namespace.is_empty() {
            return Cow::Borrowed(&self.path_with_namespace);
        }
        let (path, prefix) = (path_of(&self.web_url), path_of(root));
        let below = path.strip_prefix(prefix).filter(|rest| prefix.is_empty() || rest.starts_with('/'));
        match below.map_or(path, |below| below.trim_start_matches('/')) {
            path if path.contains('/') => Cow::Borrowed(path),
            _ => Cow::Owned(self.id.to_string()),
        }
    }

    /// Returns the highest access level of the caller, as far as it is known: servers leave out the groups that the
    /// project is shared with, so the level is that of such a group if it is higher.
    pub fn access_level(&self) -> Option<u64> {
        let permissions = self.permissions.as_ref()?;
        let own = [&permissions.project_access, &permissions.group_access].into_iter().flatten();
        let own = own.map(|access| access.access_level).max()?;
        let shared = self.shared_with_groups.iter().flatten().map(|group| group.group_access_level);
        Some(shared.fold(own, u64::max))
    }
}

impl GetProject {
    /// Creates the request for a project that every place in it uses.
    pub fn new(id: &Id) -> GetProject {
        GetProject { id: id.clone(), ..GetProject::default() }
    }
}

/// Returns the path of a URL, without slashes at its ends.
fn path_of(url: &str) -> &str {
    let path = url.split_once("://").and_then(|(_, rest)| rest.split_once('/'));
    path.map_or("", |(_, path)| path.trim_matches('/'))
}

crate::endpoints! {
    section "Projects";

    common {
        default_branch: Option<String>,
        description: Option<String>,
        issues_enabled: Option<bool>,
        merge_requests_enabled: Option<bool>,
        jobs_enabled: Option<bool>,
        wiki_enabled: Option<bool>,
        snippets_enabled: Option<bool>,
        resolve_outdated_diff_discussions: Option<bool>,
        container_registry_enabled: Option<bool>,
        shared_runners_enabled: Option<bool>,
        visibility: Option<String>,
        import_url: Option<String>,
        public_jobs: Option<bool>,
        only_allow_merge_if_pipeline_succeeds: Option<bool>,
        only_allow_merge_if_all_discussions_are_resolved: Option<bool>,
        lfs_enabled: Option<bool>,
        request_access_enabled: Option<bool>,
        tag_list: Option<Vec<String>>,
        avatar: Option<File>,
        printing_merge_request_link_enabled: Option<bool>,
        ci_config_path: Option<String>,
        repository_storage: Option<String>,
        approvals_before_merge: Option<u64>,
    }

    /// Lists the projects that are visible to the caller.
    GET "/projects" => Vec<Project>, about Projects,
    views ["owner": OWNER];
    struct ListProjects {
        archived: Option<bool>,
        /// `private`, `internal` or `public`.
        visibility: Option<String>,
        /// `id`, `name`, `path`, `created_at` (default), `updated_at` or `last_activity_at`.
        order_by: Option<String>,
        /// `asc` or `desc` (default).
        sort: Option<String>,
        search: Option<String>,
        /// Whether to return only ID, URL, name and path.
        simple: Option<bool>,
        owned: Option<bool>,
        membership: Option<bool>,
        starred: Option<bool>,
        statistics: Option<bool>,
        with_custom_attributes: Option<bool>,
        with_issues_enabled: Option<bool>,
        with_merge_requests_enabled: Option<bool>,
        custom_attributes: Option<BTreeMap<String, String>>,
    }

    /// Gets a single project.
    GET "/projects/{id}" => Project, about Project,
    views ["owner": OWNER];
    struct GetProject { id: Id, statistics: Option<bool>, with_custom_attributes: Option<bool> }

    /// Lists the users of a project.
    GET "/projects/{id}/users" => Vec<User>, about Members;
    struct ListProjectUsers { id: Id, search: Option<String> }

    /// Gets the percentage of each language (since 10.8); empty until the server has computed it.
    UNSPECIFIED GET "/projects/{id}/languages" => BTreeMap<String, f64>;
    struct GetLanguages { id: Id }

    /// Stars a project. Returns `None` if the caller has already starred it.
    UNSPECIFIED POST "/projects/{id}/star" => Option<Project>,
    outdates [Projects, Project];
    struct StarProject { id: Id }

    /// Unstars a project. Returns `None` if the caller has not starred it.
    UNSPECIFIED POST "/projects/{id}/unstar" => Option<Project>,
    outdates [Projects, Project];
    struct UnstarProject { id: Id }

    /// Forks a project; the reply contains the status of the import.
    UNSPECIFIED POST "/projects/{id}/fork" => Project,
    outdates [Projects, Project];
    struct ForkProject {
        id: Id,
        /// Full path of a user or group; your own if absent.
        namespace_path: Option<String>,
        name: Option<String>,
        path: Option<String>,
        description: Option<String>,
        visibility: Option<String>,
    }

    /// Creates a project; either `name` or `path` is required.
    POST "/projects" => Project,
    outdates [Projects, Group],
    views ["owner": OWNER];
    struct CreateProject {
        name: Option<String>,
        path: Option<String>,
        /// ID of the namespace; your own if absent.
        namespace_id: Option<u64>,
        ..
    }

    /// Creates a project that is owned by another user; administrators only.
    POST "/projects/user/{user_id}" => Project,
    outdates [Projects, Group],
    views ["owner": OWNER];
    struct CreateUserProject {
        user_id: u64,
        name: String,
        path: Option<String>,
        namespace_id: Option<u64>,
        ..
    }

    /// Updates a project. The specification requires `name`, but servers do not.
    PUT "/projects/{id}" => Project,
    outdates [Projects, Project, Group],
    views ["owner": OWNER];
    struct UpdateProject {
        id: Id,
        name: Option<String>,
        path: Option<String>,
        ..
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_path_from_a_url_is_below_the_path_of_the_server() {
        let of = |web_url: &str, root: &str| {
            Project { id: 7, web_url: web_url.into(), ..Project::default() }.full_path(root).into_owned()
        };
        assert_eq!(of("https://h.test/acme/tools/web", "https://h.test"), "acme/tools/web");
        assert_eq!(of("https://h.test/git/acme/web", "https://h.test/git/"), "acme/web");
        assert_eq!(of("https://h.test/git/git/web", "http://other.test/git"), "git/web");
        assert_eq!(of("https://h.test/gitter/web", "https://h.test/git"), "gitter/web");
        assert_eq!(of("", "https://h.test/git"), "7");
    }
}
