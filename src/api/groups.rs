//! Groups, their subgroups and projects, and their LDAP links (specification, "Groups").

use crate::projects::{Project, SharedGroup, Visibility};
use crate::users::CustomAttribute;
use crate::views::OWNER;
use crate::{Id, NoContent, Nullable, Scope, Time};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;

crate::resource! {
    /// The storage used by a group's projects, in bytes.
    pub struct GroupStatistics {
        storage_size: u64,
        repository_size: u64,
        lfs_objects_size: u64,
        job_artifacts_size: u64,
    }
}

crate::resource! {
    /// A group; the single view includes its projects.
    pub struct Group {
        id: u64,
        name: String,
        path: String,
        description: Option<String>,
        visibility: Visibility,
        lfs_enabled: bool,
        avatar_url: Option<String>,
        web_url: String,
        request_access_enabled: bool,
        full_name: String,
        full_path: String,
        parent_id: Option<u64>,
    }
    views {
        statistics: Option<GroupStatistics>,
        shared_runners_minutes_limit: Nullable<u64>,
        projects: Option<Vec<Project>>,
        shared_projects: Option<Vec<Project>>,
        custom_attributes: Option<Vec<CustomAttribute>>,
    }
    unspecified {
        archived: Option<bool>,
        created_at: Option<Time>,
        /// Links to LDAP groups, visible to owners on servers with LDAP.
        ldap_group_links: Option<Vec<LdapGroupLink>>,
        marked_for_deletion_on: Nullable<Time>,
    }
    served {
        ldap_cn: Nullable<String>,
        share_with_group_lock: Option<bool>,
        organization_id: Option<u64>,
        membership_lock: Option<bool>,
        shared_with_groups: Option<Vec<SharedGroup>>,
        /// The settings that only the server knows (`src/backend/settings.rs`).
        #[serde(flatten)]
        settings: Option<Map<String, Value>>,
    }
}

/// A row of a list that contains both groups and projects.
#[derive(Clone, Debug)]
pub enum GroupOrProject {
    Group(Box<Group>),
    Project(Box<Project>),
}

impl From<Group> for GroupOrProject {
    fn from(group: Group) -> GroupOrProject {
        GroupOrProject::Group(Box::new(group))
    }
}

impl From<Project> for GroupOrProject {
    fn from(project: Project) -> GroupOrProject {
        GroupOrProject::Project(Box::new(project))
    }
}

impl Group {
    /// Returns the full path, or the ID if the server leaves the full path out, as in search results.
    pub fn path_or_id(&self) -> Cow<'_, str> {
        if self.full_path.is_empty() { self.id.to_string().into() } else { Cow::Borrowed(&self.full_path) }
    }
}

impl GroupOrProject {
    pub fn group(&self) -> Option<&Group> {
        match self {
            GroupOrProject::Group(group) => Some(group),
            GroupOrProject::Project(_) => None,
        }
    }

    pub fn project(&self) -> Option<&Project> {
        match self {
            GroupOrProject::Group(_) => None,
            GroupOrProject::Project(project) => Some(project),
        }
    }

    /// Returns the group or project by its ID.
    pub fn scope(&self) -> Scope {
        match self {
            GroupOrProject::Group(group) => Scope::Group(group.id.into()),
            GroupOrProject::Project(project) => Scope::Project(project.id.into()),
        }
    }

    /// Returns the ID, which a group and a project can share.
    pub fn id(&self) -> u64 {
        match self {
            GroupOrProject::Group(group) => group.id,
            GroupOrProject::Project(project) => project.id,
        }
    }

    /// Returns the full path, or the ID if it is unknown; see [`Project::full_path`] for `root`.
    pub fn full_path(&self, root: &str) -> Cow<'_, str> {
        match self {
            GroupOrProject::Group(group) => group.path_or_id(),
            GroupOrProject::Project(project) => project.full_path(root),
        }
    }

    /// Returns a key that identifies the row in a list: its full path after `group` or `project`.
    pub fn key(&self) -> String {
        let kind = if self.group().is_some() { "group" } else { "project" };
        format!("{kind} {}", self.full_path(""))
    }
}

crate::resource! {
    /// A link of a group to an LDAP group.
    pub struct LdapGroupLink {
        cn: Option<String>,
        /// The access level of the members.
        group_access: u64,
        provider: String,
    }
}

crate::endpoints! {
    section "Groups";

    common {
        skip_groups: Option<Vec<u64>>,
        all_available: Option<bool>,
        /// Part of the name or path.
        search: Option<String>,
        /// `name` (default) or `path`.
        order_by: Option<String>,
        /// `asc` (default) or `desc`.
        sort: Option<String>,
        statistics: Option<bool>,
        with_custom_attributes: Option<bool>,
        owned: Option<bool>,
        custom_attributes: Option<BTreeMap<String, String>>,
    }

    /// Lists the groups that are visible to the caller.
    GET "/groups" => Vec<Group>, about Groups;
    struct ListGroups { .. }

    /// Lists the direct subgroups of a group.
    GET "/groups/{id}/subgroups" => Vec<Group>, about Groups;
    struct ListSubgroups {
        id: Id,
        ..
    }

    /// Lists the projects of a group.
    GET "/groups/{id}/projects" => Vec<Project>, about Projects,
    views ["owner": OWNER];
    struct ListGroupProjects {
        id: Id,
        /// Whether to list those of its subgroups as well (since 10.8).
        include_subgroups: Option<bool>,
        archived: Option<bool>,
        visibility: Option<String>,
        /// `id`, `name`, `path`, `created_at` (default), `updated_at` or `last_activity_at`.
        order_by: Option<String>,
        /// `asc` or `desc` (default).
        sort: Option<String>,
        search: Option<String>,
        simple: Option<bool>,
        owned: Option<bool>,
        starred: Option<bool>,
        with_custom_attributes: Option<bool>,
    }

    /// Gets a single group with its projects.
    GET "/groups/{id}" => Group, about Group,
    views ["projects.owner": OWNER, "shared_projects.owner": OWNER];
    struct GetGroup { id: Id, with_custom_attributes: Option<bool> }

    /// Creates a group or subgroup.
    POST "/groups" => Group,
    outdates [Groups],
    views ["projects.owner": OWNER, "shared_projects.owner": OWNER];
    struct CreateGroup {
        name: String,
        path: String,
        description: Option<String>,
        visibility: Option<String>,
        lfs_enabled: Option<bool>,
        request_access_enabled: Option<bool>,
        parent_id: Option<u64>,
        shared_runners_minutes_limit: Option<u64>,
    }

    /// Moves a project into a group; administrators only.
    POST "/groups/{id}/projects/{project_id}" => Group,
    outdates [Group, Projects, Project],
    views ["projects.owner": OWNER, "shared_projects.owner": OWNER];
    struct TransferProject { id: Id, project_id: Id }

    /// Updates a group.
    PUT "/groups/{id}" => Group,
    outdates [Groups, Group],
    views ["projects.owner": OWNER, "shared_projects.owner": OWNER];
    struct UpdateGroup {
        id: Id,
        name: Option<String>,
        path: Option<String>,
        description: Option<String>,
        membership_lock: Option<bool>,
        share_with_group_lock: Option<bool>,
        visibility: Option<String>,
        lfs_enabled: Option<bool>,
        request_access_enabled: Option<bool>,
        shared_runners_minutes_limit: Option<u64>,
    }

    /// Deletes a group with all its projects.
    DELETE "/groups/{id}" => NoContent,
    outdates [Groups, Group, Projects, Project];
    struct DeleteGroup { id: Id }

    /// Synchronizes the members with the linked LDAP groups.
    POST "/groups/{id}/ldap_sync" => NoContent;
    struct SyncLdap { id: Id }

    /// Links a group to an LDAP group.
    POST "/groups/{id}/ldap_group_links" => LdapGroupLink,
    outdates [Group];
    struct AddLdapLink {
        id: Id,
        cn: String,
        /// Access level of the members: 10 guest, 20 reporter, 30 developer, 40 maintainer, 50 owner.
        group_access: u64,
        provider: String,
    }

    /// Removes a link to an LDAP group.
    DELETE "/groups/{id}/ldap_group_links/{cn}" => NoContent,
    outdates [Group];
    struct DeleteLdapLink { id: Id, cn: String }

    /// Removes a link to an LDAP group of a given provider.
    DELETE "/groups/{id}/ldap_group_links/{provider}/{cn}" => NoContent,
    outdates [Group];
    struct DeleteLdapProviderLink { id: Id, provider: String, cn: String }
}
