//! Projects.

use super::avatars::{self, AvatarOwner};
use super::call::{Answer, Call, Outcome, ReadCall, WriteCall, ok, stable_sort};
use super::commits;
use super::git;
use super::keyset::Keyset;
use super::mount::Mount;
use super::params::{self, Inputs, is_path};
use super::presenters::attributes;
use super::records::{self, MergeMethod, Namespace, Project, Scope, State, User, Visibility, level};
use super::rejection::Rejection;
use super::settings;
use super::store::repository_path;
use super::views::SIMPLE_PROJECT;
use super::world::World;
use crate::presenters::{contains_ignore_case, path, time};
use crate::ref_updates::RefUpdates;
use api::commits::{CommitAction, CreateCommit};
use api::projects::Project as ProjectView;
use api::projects::{
    Access, Common, CreateProject, CreateUserProject, GetLanguages, GetProject, Links, ListProjectUsers, ListProjects,
    Permissions, ProjectBrief, ProjectStatistics, SharedGroup, StarProject, UnstarProject, UpdateProject,
};
use api::repository::EntryKind;
use api::users::User as UserView;
use api::{Id, NoContent, Nullable};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::path::Path;

pub fn mount(mount: Mount) -> Mount {
    mount
        .read::<ListProjects>(list)
        .read::<GetProject>(get)
        .read::<ListProjectUsers>(users)
        .read::<GetLanguages>(super::languages::languages)
        .write::<StarProject>(|call, e| set_star(call, &e.id, true))
        .write::<UnstarProject>(|call, e| set_star(call, &e.id, false))
        .write::<CreateProject>(create)
        .write::<CreateUserProject>(create_for_user)
        .write::<UpdateProject>(update)
        .write::<DeleteProject>(delete)
        .write::<ArchiveProject>(|call, e| set_archived(call, &e.id, true))
        .write::<UnarchiveProject>(|call, e| set_archived(call, &e.id, false))
        .write::<TransferProject>(transfer)
        .read::<ListForks>(forks)
}

api::endpoints! {
    unspecified section "Projects";

    /// Deletes a project with everything in it.
    DELETE "/projects/{id}" => NoContent;
    struct DeleteProject { id: Id }

    /// Makes a project read-only.
    POST "/projects/{id}/archive" => ProjectView;
    struct ArchiveProject { id: Id }

    /// Makes a project writable again.
    POST "/projects/{id}/unarchive" => ProjectView;
    struct UnarchiveProject { id: Id }

    /// Moves a project to another namespace (since 11.1).
    PUT "/projects/{id}/transfer" => ProjectView;
    struct TransferProject {
        id: Id,
        /// ID or path of a group, or of the caller's own namespace.
        namespace: Id,
    }

    /// Lists the forks of a project, with the filters of [`ListProjects`].
    GET "/projects/{id}/forks" => Vec<ProjectView>;
    struct ListForks { id: Id }
}

/// The filters and sort options that all lists of projects share.
#[derive(Default)]
pub struct Filter {
    pub archived: Option<bool>,
    pub visibility: Option<String>,
    pub order_by: Option<String>,
    pub sort: Option<String>,
    pub search: Option<String>,
    pub simple: Option<bool>,
    pub owned: Option<bool>,
    pub membership: Option<bool>,
    pub starred: Option<bool>,
    pub statistics: Option<bool>,
    pub with_custom_attributes: Option<bool>,
    pub with_issues_enabled: Option<bool>,
    pub with_merge_requests_enabled: Option<bool>,
    pub custom_attributes: Option<BTreeMap<String, String>>,
    /// Whether the list is that of a group, whose rows have no permissions.
    pub of_group: bool,
}

/// Creates a [`Filter`] from the input of an endpoint that lists projects.
macro_rules! filter {
    ($input:expr $(, $name:ident: $value:expr)* $(,)?) => {
        Filter {
            archived: $input.archived,
            visibility: $input.visibility,
            order_by: $input.order_by,
            sort: $input.sort,
            search: $input.search,
            simple: $input.simple,
            owned: $input.owned,
            starred: $input.starred,
            with_custom_attributes: $input.with_custom_attributes,
            $($name: $value,)*
            ..Filter::default()
        }
    };
}
pub(super) use filter;

/// Returns one page of the projects that are visible to the caller and match both `of` and the filter.
pub fn list_filtered(call: &ReadCall, filter: Filter, of: impl Fn(&Project) -> bool) -> Outcome<Vec<ProjectView>> {
    let visibility = match filter.visibility.as_deref().filter(|word| !word.is_empty()) {
        None => None,
        Some(word) => Some(Visibility::from_name(word).ok_or_else(|| Rejection::no_valid_value("visibility"))?),
    };
    let mut words = vec!["created_at", "id", "name", "path", "updated_at", "last_activity_at"];
    if !call.only_specified() {
        words.extend(["similarity", "star_count", "storage_size", "repository_size", "wiki_size", "packages_size"]);
    }
    let by = call.choice_or_first("order_by", filter.order_by.as_deref(), &words)?;
    let descending = call.descending(filter.sort.as_deref(), "desc")?;
    // Keyset pagination.
    let (id_after, id_before): (Option<u64>, Option<u64>) = (call.option("id_after")?, call.option("id_before")?);
    let is_between = |id: u64| id_after.is_none_or(|after| id > after) && id_before.is_none_or(|before| id < before);
    let (world, rights) = (call.world, &call.rights);
    let found = |project: &&Project| {
        let yes = |wanted: Option<bool>, is: bool| wanted != Some(true) || is;
        let level = || rights.in_project(world, project);
        let attributes = filter.custom_attributes.iter().flatten().filter(|_| rights.admin);
        of(project)
            && rights.can_see_project(world, project)
            && (is_between(project.id) || call.only_specified())
            && filter.archived.is_none_or(|archived| archived == project.archived)
            && visibility.is_none_or(|visibility| visibility == project.visibility)
            && filter.search.as_ref().is_none_or(|part| {
                contains_ignore_case(&project.name, part)
                    || contains_ignore_case(&project.path, part)
                    || project.description.as_ref().is_some_and(|text| contains_ignore_case(text, part))
            })
            && yes(filter.owned, level() >= level::OWNER)
            && yes(filter.membership, level() > 0)
            && yes(filter.starred, rights.user.is_some_and(|user| project.stars.contains(&user)))
            && yes(filter.with_issues_enabled, !project.issues_disabled)
            && yes(filter.with_merge_requests_enabled, !project.merge_requests_disabled)
            && attributes.into_iter().all(|(key, value)| project.custom_attributes.get(key) == Some(value))
    };
    let mut rows: Vec<&Project> = world.projects.iter().filter(found).collect();
    stable_sort(&mut rows, descending, |project| project.id);
    match by {
        "name" => stable_sort(&mut rows, descending, |project| project.name.to_lowercase()),
        "path" => stable_sort(&mut rows, descending, |project| project.path.to_lowercase()),
        "created_at" | "similarity" => stable_sort(&mut rows, descending, |project| project.created_at),
        "star_count" => stable_sort(&mut rows, descending, |project| project.stars.len()),
        // For others than administrators, the order is the usual one.
        "storage_size" | "repository_size" if rights.admin => {
            rows.sort_by_cached_key(|project| bytes_in(&repository_path(&call.repositories, project.id)));
            if descending {
                rows.reverse();
            }
        }
        "updated_at" | "last_activity_at" => stable_sort(&mut rows, descending, |project| project.last_activity_at),
        _ => {}
    }
    let statistics = filter.statistics == Some(true) && rights.admin;
    let with_attributes = filter.with_custom_attributes == Some(true) && rights.admin;
    let is_brief = filter.simple == Some(true) || call.shows_basic_projects() && !filter.of_group;
    let keyset = match by {
        "id" => Keyset::Filter { descending, id: |project: &&Project| project.id },
        _ => Keyset::Unavailable,
    };
    let answer = call.keyset_page("Project", rows, keyset, |project| match is_brief {
        true => call.search_result_project(project),
        false if filter.of_group => call.list_project(project, statistics, with_attributes),
        false => call.with_permissions(project, call.list_project(project, statistics, with_attributes)),
    })?;
    Ok(answer.only(filter.simple.filter(|simple| *simple).map(|_| SIMPLE_PROJECT)))
}

impl<W: Deref<Target = World>> Call<W> {
    /// Returns the basic representation: ID, URL, name and path.
    pub fn simple_project(&self, project: &Project) -> ProjectView {
        let path = self.world.project_path(project);
        ProjectView {
            id: project.id,
            name: project.name.clone(),
            name_with_namespace: format!("{} / {}", self.world.namespace_name(project.namespace), project.name),
            path: project.path.clone(),
            web_url: format!("{}/{path}", self.base_url),
            path_with_namespace: path,
            ..ProjectView::default()
        }
    }

    /// Returns the representation in search results.
    pub fn search_result_project(&self, project: &Project) -> ProjectView {
        let forks = self.world.projects.iter().filter(|fork| fork.forked_from == Some(project.id)).count();
        let simple = self.simple_project(project);
        let host = self.base_url.split_once("://").map_or("localhost", |(_, rest)| rest);
        let host = host.split(':').next().unwrap_or(host);
        let reads = self.only_specified() || self.rights.can_read_code(&self.world, project);
        let namespace = (!self.only_specified()).then(|| self.show_namespace(project.namespace));
        ProjectView {
            description: project.description.clone().into(),
            created_at: Some(time(project.created_at)),
            default_branch: if reads { project.default_branch.clone().into() } else { Nullable::default() },
            tag_list: Some(project.tag_list.clone()),
            ssh_url_to_repo: Some(format!("git@{host}:{}.git", simple.path_with_namespace)),
            http_url_to_repo: Some(format!("{}.git", simple.web_url)),
            avatar_url: self.avatar_url(&project.avatar_url).into(),
            star_count: Some(project.stars.len() as u64),
            forks_count: reads.then_some(forks as u64),
            visibility: (!self.only_specified()).then(|| project.visibility.as_str().into()),
            repository_storage: (!self.only_specified() && self.rights.admin).then(|| "default".into()),
            last_activity_at: Some(time(project.last_activity_at)),
            topics: Some(project.tag_list.clone()),
            readme_url: self.readme_page(project),
            namespace,
            ..simple
        }
    }

    /// Returns the address of the page of a project's readme file; null without one, absent if the caller may not read
    /// the code.
    fn readme_page(&self, project: &Project) -> Nullable<String> {
        if !self.rights.can_read_code(&self.world, project) {
            return Nullable::default();
        }
        let file = || {
            let (git, branch) = (self.git(project).ok()?, project.default_branch.as_ref()?);
            let files = git.list(&git.tree(git.default_head()?).ok()?, "", false).ok()?.entries;
            let is_readme = |name: &str| name.to_lowercase().split('.').next() == Some("readme");
            let file = files.into_iter().find(|entry| entry.r#type == EntryKind::Blob && is_readme(&entry.name))?;
            Some(self.project_page(project, &format!("blob/{}/{}", path(branch), path(&file.name))))
        };
        file().into()
    }

    /// Returns whether the caller gets only the representation of search results, even of a single project: current servers
    /// send it to callers who are not signed in.
    fn shows_basic_projects(&self) -> bool {
        self.rights.user.is_none() && !self.only_specified()
    }

    /// Returns the representation in lists, without permissions.
    pub fn list_project(&self, project: &Project, statistics: bool, with_attributes: bool) -> ProjectView {
        let view = self.show_project(project, statistics, with_attributes);
        // Only administrators of a project are told why its import failed, when they get it alone.
        if self.only_specified() { view } else { ProjectView { import_error: Nullable::default(), ..view } }
    }

    /// Adds the access of the caller, who is signed in.
    fn with_permissions(&self, project: &Project, view: ProjectView) -> ProjectView {
        ProjectView { permissions: self.rights.user.map(|_| self.permissions(project)), ..view }
    }

    /// Returns the full representation, as far as the caller may see it. Settings of current servers are for maintainers.
    pub fn show_project(&self, project: &Project, statistics: bool, with_attributes: bool) -> ProjectView {
        let (world, rights) = (&*self.world, &self.rights);
        let api = self.project_api(project.id);
        // Confidential ones do not count, whoever asks.
        let opened = |issue: &&records::Issue| {
            issue.project == project.id && issue.state == State::Opened && !issue.confidential
        };
        let shared = project.shared_with.iter().filter_map(|share| {
            let group = world.groups.get(share.group).filter(|group| rights.can_see_group(world, group))?;
            Some(SharedGroup {
                group_id: group.id,
                group_name: group.name.clone(),
                group_full_path: Some(world.group_path(group.id)),
                group_access_level: share.level.into(),
                expires_at: None.into(),
            })
        });
        // Fields that do not apply, or that the caller may not see, are left out instead of being null.
        let owner = match project.namespace {
            Namespace::User(id) => {
                let at = world.users.get(id).map(|user| time(user.created_at));
                let at = at.filter(|_| self.only_specified());
                Some(UserView { created_at: at, ..self.user_summary(id) })
            }
            Namespace::Group(_) => None,
        };
        let runs = rights.level(world, project) >= level::MAINTAINER;
        let reads = rights.can_read_code(world, project);
        let null_if = |has: bool| if has { None.into() } else { Nullable::default() };
        let origin = project.forked_from.filter(|_| !self.only_specified()).and_then(|id| world.projects.get(id));
        let origin = origin.filter(|origin| rights.can_see_project(world, origin));
        let mut out = ProjectView {
            visibility: Some(project.visibility.as_str().into()),
            owner,
            issues_enabled: Some(!project.issues_disabled),
            merge_requests_enabled: Some(!project.merge_requests_disabled),
            jobs_enabled: Some(!project.jobs_disabled),
            wiki_enabled: Some(!project.wiki_disabled),
            snippets_enabled: Some(!project.snippets_disabled),
            resolve_outdated_diff_discussions: Some(project.resolve_outdated_diff_discussions),
            container_registry_enabled: Some(project.container_registry_enabled),
            archived: Some(project.archived),
            shared_runners_enabled: Some(!project.shared_runners_disabled),
            public_jobs: Some(!project.public_jobs_disabled),
            only_allow_merge_if_pipeline_succeeds: Some(project.only_allow_merge_if_pipeline_succeeds),
            only_allow_merge_if_all_discussions_are_resolved: Some(
                project.only_allow_merge_if_all_discussions_are_resolved,
            ),
            printing_merge_requests_link_enabled: Some(project.printing_merge_requests_link_enabled),
            printing_merge_request_link_enabled: Some(project.printing_merge_requests_link_enabled),
            request_access_enabled: Some(project.request_access_enabled),
            open_issues_count: (!project.issues_disabled).then(|| world.issues.iter().filter(opened).count() as u64),
            creator_id: Some(project.creator),
            approvals_before_merge: Some(project.approvals_before_merge),
            namespace: Some(self.show_namespace(project.namespace)),
            import_status: Some(super::forks::import_status(project, self.now).into()),
            import_error: if runs || self.only_specified() { None.into() } else { Nullable::default() },
            forked_from_project: origin.map(|origin| Box::new(self.search_result_project(origin))),
            permissions: rights.user.filter(|_| self.only_specified()).map(|_| self.permissions(project)),
            runners_token: runs.then(|| project.runners_token.clone()),
            shared_with_groups: Some(shared.collect()),
            repository_storage: rights.admin.then(|| "default".into()),
            links: Some(Links {
                this: api.clone(),
                issues: (!project.issues_disabled).then(|| format!("{api}/issues")),
                merge_requests: (!project.merge_requests_disabled).then(|| format!("{api}/merge_requests")),
                repo_branches: Some(format!("{api}/repository/branches")),
                labels: Some(format!("{api}/labels")),
                events: Some(format!("{api}/events")),
                members: Some(format!("{api}/members")),
                cluster_agents: Some(format!("{api}/cluster_agents")),
            }),
            lfs_enabled: (!self.only_specified()).then_some(project.lfs_enabled),
            empty_repo: Some(project.default_branch.is_none()),
            updated_at: Some(time(project.last_activity_at)),
            ci_config_path: if reads { project.ci_config_path.clone().into() } else { Nullable::default() },
            merge_method: Some(project.merge_method.as_str().into()),
            can_create_merge_request_in: Some(
                reads && rights.user.is_some() && !project.merge_requests_disabled && !project.archived,
            ),
            service_desk_address: null_if(rights.level(world, project) >= level::REPORTER),
            import_url: if runs { project.import_url.clone().into() } else { Nullable::default() },
            marked_for_deletion_at: None.into(),
            marked_for_deletion_on: None.into(),
            settings: Some(shown_settings(project, runs, origin.is_some())),
            ..self.search_result_project(project)
        };
        if statistics {
            out.statistics = Some(self.statistics(project));
        }
        if with_attributes {
            out.custom_attributes = Some(attributes(&project.custom_attributes));
        }
        out
    }

    /// Returns the representation inside jobs and runners.
    pub fn project_brief(&self, project: &Project) -> ProjectBrief {
        let simple = self.simple_project(project);
        ProjectBrief {
            id: simple.id,
            name: simple.name,
            name_with_namespace: simple.name_with_namespace,
            path: simple.path,
            path_with_namespace: simple.path_with_namespace,
            ..ProjectBrief::default()
        }
    }

    /// Returns the representation of the place of a project.
    pub fn show_namespace(&self, namespace: Namespace) -> api::projects::Namespace {
        let full_path = self.world.namespace_path(namespace);
        let (id, name, kind, prefix) = match namespace {
            Namespace::User(id) => {
                let user = self.world.users.get(id);
                (user.map_or(0, |u| u.namespace_id), user.map(|u| u.username.clone()), "user", "")
            }
            Namespace::Group(id) => {
                let group = self.world.groups.get(id);
                (id, group.map(|g| g.name.clone()), "group", "groups/")
            }
        };
        let (parent, avatar) = match namespace {
            Namespace::User(id) => (None, self.world.users.get(id).and_then(|user| self.avatar_url(&user.avatar_url))),
            Namespace::Group(id) => {
                let group = self.world.groups.get(id);
                (group.and_then(|g| g.parent), group.and_then(|g| self.avatar_url(&g.avatar_url)))
            }
        };
        api::projects::Namespace {
            id,
            name: name.unwrap_or_default(),
            path: full_path.rsplit('/').next().unwrap_or_default().to_owned(),
            kind: kind.into(),
            parent_id: parent.into(),
            web_url: Some(format!("{}/{prefix}{full_path}", self.base_url)),
            avatar_url: avatar.into(),
            full_path,
        }
    }

    fn permissions(&self, project: &Project) -> Permissions {
        let access = |level: u8, place: Scope| {
            let setting = self
                .world
                .notification_settings
                .iter()
                .find(|s| Some(s.user) == self.rights.user && s.place == Some(place));
            let words = ["disabled", "participating", "watch", "global", "mention", "custom"];
            let loud = setting.and_then(|s| words.iter().position(|word| *word == s.level)).unwrap_or(3);
            (level > 0).then_some(Access { access_level: level.into(), notification_level: Some(loud as u64) })
        };
        let group_access = match project.namespace {
            Namespace::Group(group) => access(self.rights.in_group(&self.world, group), Scope::Group(group)),
            Namespace::User(_) => None,
        };
        let project_access = access(self.rights.directly_in(project), Scope::Project(project.id));
        Permissions { project_access, group_access }
    }

    /// Returns the number of commits and the sizes in bytes. Parts that cannot be read count as zero.
    pub fn statistics(&self, project: &Project) -> ProjectStatistics {
        let commit_count = self.git(project).and_then(|git| git.count_commits(&self.cache)).unwrap_or(0);
        let path = repository_path(&self.repositories, project.id);
        // An alternate can be any folder: only objects are counted.
        let parts = || (0..=255).map(|n| format!("{n:02x}")).chain(["pack".into()]);
        let folders = git::object_folders(&path.join("objects")).unwrap_or_default();
        let alternates = folders.iter().skip(1).flat_map(|folder| parts().map(|part| folder.join(part)));
        let repository_size = bytes_in(&path) + alternates.map(|folder| bytes_in(&folder)).sum::<u64>();
        let artifacts = self.world.jobs.iter().filter(|job| job.project == project.id);
        let job_artifacts_size = artifacts.filter_map(|job| job.artifacts.as_ref()).map(|a| a.size).sum();
        ProjectStatistics {
            commit_count,
            storage_size: repository_size + job_artifacts_size,
            repository_size,
            lfs_objects_size: 0,
            job_artifacts_size,
        }
    }
}

/// Returns the size in bytes of all files below a folder.
fn bytes_in(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(meta) if meta.is_dir() => bytes_in(&entry.path()),
        Ok(meta) => meta.len(),
        Err(_) => 0,
    };
    entries.flatten().map(size).sum()
}

fn list(call: &ReadCall, input: ListProjects) -> Outcome<Vec<ProjectView>> {
    list_filtered(call, filter_of(input), |_| true)
}

fn filter_of(input: ListProjects) -> Filter {
    filter!(input, membership: input.membership, statistics: input.statistics,
        with_issues_enabled: input.with_issues_enabled,
        with_merge_requests_enabled: input.with_merge_requests_enabled, custom_attributes: input.custom_attributes)
}

fn get(call: &ReadCall, input: GetProject) -> Outcome<ProjectView> {
    let project = call.project(&input.id)?;
    let with_attributes = input.with_custom_attributes == Some(true) && call.rights.admin;
    let is_member = call.rights.level(call.world, project) > 0;
    if call.shows_basic_projects() {
        return ok(call.search_result_project(project));
    }
    let view = call.show_project(project, input.statistics == Some(true) && is_member, with_attributes);
    ok(call.with_permissions(project, view))
}

fn set_star(call: &mut WriteCall, id: &Id, starred: bool) -> Outcome<Option<ProjectView>> {
    let (project, user) = (call.project(id)?.id, call.require_user()?.id);
    let Some(found) = call.world.projects.get_mut(project) else { return Err(Rejection::not_found("Project")) };
    let changed = if starred { found.stars.insert(user) } else { found.stars.remove(&user) };
    if !changed {
        return Ok(Answer::new(None).status(304));
    }
    let project = call.project(id)?;
    Ok(Answer::new(Some(call.show_project(project, false, false))))
}

fn users(call: &ReadCall, input: ListProjectUsers) -> Outcome<Vec<UserView>> {
    let project = call.project(&input.id)?;
    let matches = |user: &&User| {
        let part = input.search.as_deref().unwrap_or_default();
        contains_ignore_case(&user.name, part) || contains_ignore_case(&user.username, part)
    };
    let people = super::members::of_project(call.world, project, true);
    let rows: Vec<&User> = people.keys().filter_map(|id| call.world.users.get(*id)).filter(matches).collect();
    call.page(rows, |user| call.user_summary(user.id))
}

/// Returns the settings of a project that only this server knows; `has_origin` if the caller sees what it was forked from.
fn shown_settings(project: &Project, is_maintainer: bool, has_origin: bool) -> Map<String, Value> {
    let mut out = settings::shown(&project.settings, settings::OF_PROJECT, is_maintainer);
    for (level, is_disabled) in [
        ("issues_access_level", project.issues_disabled),
        ("merge_requests_access_level", project.merge_requests_disabled),
        ("builds_access_level", project.jobs_disabled),
        ("wiki_access_level", project.wiki_disabled),
        ("snippets_access_level", project.snippets_disabled),
        ("container_registry_access_level", !project.container_registry_enabled),
    ] {
        if is_disabled {
            out.insert(level.into(), "disabled".into());
        }
    }
    if !has_origin {
        out.remove("mr_default_target_self");
    }
    out.insert("repository_object_format".into(), "sha1".into());
    if is_maintainer {
        out.insert("ci_job_token_scope_enabled".into(), false.into());
        out.extend(["import_type", "runner_token_expiration_interval"].map(|name| (name.into(), Value::Null)));
    }
    out
}

/// Applies the given settings to a project; `inputs` are those of the request.
fn apply(set: Common, inputs: &Inputs, project: &mut Project) -> Result<(), Rejection> {
    // Two have a former name, too.
    let (merge_method, topics, public_builds): (Option<String>, Option<Vec<String>>, _) =
        params::read_with(inputs, |of| (of.take("merge_method"), of.take("topics"), of.take("public_builds")))?;
    let given = settings::given(inputs, settings::OF_PROJECT)?;
    let off = |field: &mut bool, enabled: Option<bool>| *field = enabled.map_or(*field, |enabled| !enabled);
    let on = |field: &mut bool, value: Option<bool>| *field = value.unwrap_or(*field);
    let mut registry_disabled = !project.container_registry_enabled;
    // Who may use a feature says, too, whether anybody may.
    for (level, enabled, is_disabled) in [
        ("issues_access_level", set.issues_enabled, &mut project.issues_disabled),
        ("merge_requests_access_level", set.merge_requests_enabled, &mut project.merge_requests_disabled),
        ("builds_access_level", set.jobs_enabled, &mut project.jobs_disabled),
        ("wiki_access_level", set.wiki_enabled, &mut project.wiki_disabled),
        ("snippets_access_level", set.snippets_enabled, &mut project.snippets_disabled),
        ("container_registry_access_level", set.container_registry_enabled, &mut registry_disabled),
    ] {
        off(is_disabled, enabled);
        if enabled.is_some() {
            project.settings.remove(level);
        }
        off(is_disabled, given.get(level).map(|word| word != "disabled"));
    }
    project.container_registry_enabled = !registry_disabled;
    project.settings.extend(given);
    off(&mut project.shared_runners_disabled, set.shared_runners_enabled);
    off(&mut project.public_jobs_disabled, set.public_jobs.or(public_builds));
    on(&mut project.resolve_outdated_diff_discussions, set.resolve_outdated_diff_discussions);
    on(&mut project.only_allow_merge_if_pipeline_succeeds, set.only_allow_merge_if_pipeline_succeeds);
    on(
        &mut project.only_allow_merge_if_all_discussions_are_resolved,
        set.only_allow_merge_if_all_discussions_are_resolved,
    );
    on(&mut project.printing_merge_requests_link_enabled, set.printing_merge_request_link_enabled);
    on(&mut project.request_access_enabled, set.request_access_enabled);
    on(&mut project.lfs_enabled, set.lfs_enabled);
    if let Some(word) = set.visibility {
        project.visibility = Visibility::from_name(&word).ok_or_else(|| Rejection::no_valid_value("visibility"))?;
    }
    project.description = set.description.or(project.description.take());
    project.ci_config_path = set.ci_config_path.or(project.ci_config_path.take());
    project.import_url = set.import_url.or(project.import_url.take());
    project.approvals_before_merge = set.approvals_before_merge.unwrap_or(project.approvals_before_merge);
    if let Some(word) = merge_method {
        project.merge_method =
            MergeMethod::from_name(&word).ok_or_else(|| Rejection::no_valid_value("merge_method"))?;
    }
    if let Some(tags) = topics.or(set.tag_list) {
        let split = tags.iter().flat_map(|tags| tags.split(',')).map(|tag| tag.trim().to_owned());
        project.tag_list = split.filter(|tag| !tag.is_empty()).collect();
    }
    Ok(())
}

/// Checks that the name and path of a project are valid and not taken in its namespace.
///
/// # Errors
/// Fails with 400 and the errors by field.
pub fn check(world: &World, project: &Project) -> Result<(), Rejection> {
    let allowed = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | ' ' | '+') || u32::from(c) >= 0x1F000;
    if !project.name.chars().all(allowed) || !project.name.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
        let rule = "can contain only letters, digits, emojis, '_', '.', dash, space. It must start with letter, digit, emoji or '_'.";
        return Err(Rejection::bad_request(json!({ "name": [rule] })));
    }
    if !is_path(&project.path) {
        let rule = "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-', end in '.git' or end in '.atom'";
        return Err(Rejection::bad_request(json!({ "path": [rule] })));
    }
    let mut others = world.projects.iter().filter(|p| p.id != project.id && p.namespace == project.namespace);
    let taken = others.clone().any(|p| p.name.eq_ignore_ascii_case(&project.name));
    let path_taken = others.any(|p| p.path.eq_ignore_ascii_case(&project.path));
    match (taken, path_taken) {
        (false, false) => Ok(()),
        (true, false) => Err(Rejection::bad_request(json!({ "name": ["has already been taken"] }))),
        (false, true) => Err(Rejection::bad_request(json!({ "path": ["has already been taken"] }))),
        (true, true) => Err(Rejection::bad_request(
            json!({ "name": ["has already been taken"], "path": ["has already been taken"] }),
        )),
    }
}

fn create(call: &mut WriteCall, input: CreateProject) -> Outcome<ProjectView> {
    let caller = call.require_user()?.clone();
    let namespace = match input.namespace_id.filter(|id| *id != caller.namespace_id) {
        None => Namespace::User(caller.id),
        Some(id) => {
            let group = call.world.groups.get(id).filter(|group| call.rights.can_see_group(call.world, group));
            let level = group.map_or(0, |group| call.rights.group_level(call.world, group.id));
            if level < level::MAINTAINER {
                return Err(Rejection::bad_request(json!({ "namespace": ["is not valid"] })));
            }
            Namespace::Group(id)
        }
    };
    if input.repository_storage.is_some() {
        call.require_admin()?;
    }
    create_in(call, caller.id, namespace, input.name.clone(), input.path.clone(), input.into())
}

fn create_for_user(call: &mut WriteCall, input: CreateUserProject) -> Outcome<ProjectView> {
    call.require_admin()?;
    let owner = call.world.users.get(input.user_id).ok_or_else(|| Rejection::not_found("User"))?;
    let (owner, own) = (owner.id, owner.namespace_id);
    let namespace = match input.namespace_id.filter(|id| *id != own) {
        None => Namespace::User(owner),
        Some(id) if call.world.groups.get(id).is_some() => Namespace::Group(id),
        Some(_) => return Err(Rejection::bad_request(json!({ "namespace": ["is not valid"] }))),
    };
    create_in(call, owner, namespace, Some(input.name.clone()), input.path.clone(), input.into())
}

fn create_in(
    call: &mut WriteCall,
    creator: u64,
    namespace: Namespace,
    name: Option<String>,
    path: Option<String>,
    mut set: Common,
) -> Outcome<ProjectView> {
    let non_empty = |text: Option<String>| text.filter(|text| !text.is_empty());
    let (name, path) = match (non_empty(name), non_empty(path)) {
        (None, None) => {
            return Err(Rejection::error(400, "name, path are missing, at least one parameter must be provided"));
        }
        (Some(name), Some(path)) => (name, path),
        (None, Some(path)) => (path.clone(), path),
        (Some(name), None) => {
            let dashed = name.to_lowercase();
            let path = dashed.split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '.' | '-'));
            (name, path.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-"))
        }
    };
    let head = set.default_branch.take().filter(|branch| !branch.is_empty()).unwrap_or_else(|| "master".into());
    let now = call.now;
    let id = call.world.projects.next_id();
    let mut project = Project {
        id,
        name,
        path,
        namespace,
        creator,
        created_at: now,
        last_activity_at: now,
        request_access_enabled: true,
        printing_merge_requests_link_enabled: true,
        lfs_enabled: true,
        runners_token: super::auth::secret().unwrap_or_default(),
        ..Project::default()
    };
    apply(set, &call.inputs, &mut project)?;
    check(call.world, &project)?;
    if let Namespace::User(owner) = namespace {
        let limit = call.world.users.get(owner).map_or(0, |user| user.projects_limit);
        let own = call.world.projects.iter().filter(|project| project.namespace == namespace).count() as u64;
        if own >= limit {
            let why =
                format!("Your project limit is {limit} projects! Please contact your administrator to increase it");
            return Err(Rejection::error(403, json!([why])));
        }
    }
    let avatar = avatars::from_inputs(&call.inputs)?;
    super::git::create(&repository_path(&call.repositories, id), &head)?;
    if let Some(file) = avatar {
        project.avatar_url = avatars::set(call.world, AvatarOwner::Project(id), file);
    }
    call.world.projects.add(project.clone());
    if call.option("initialize_with_readme")? == Some(true) {
        let text = [format!("# {}", project.name)].into_iter().chain(project.description.clone());
        let action = CommitAction {
            action: "create".into(),
            file_path: "README.md".into(),
            content: Some(text.collect::<Vec<_>>().join("\n\n") + "\n"),
            ..CommitAction::default()
        };
        let (id, commit_message, actions) = (id.into(), "Initial commit".into(), vec![action]);
        commits::create(call, CreateCommit { id, branch: head, commit_message, actions, ..CreateCommit::default() })?;
    }
    let project = call.world.projects.get(id).ok_or_else(Rejection::record_not_found)?;
    ok(call.show_project(project, false, false))
}

fn update(call: &mut WriteCall, input: UpdateProject) -> Outcome<ProjectView> {
    let mut project = call.project_as(&input.id, level::MAINTAINER)?.clone();
    let name = input.name.clone();
    if name.as_ref().is_some_and(|name| name.trim().is_empty()) {
        return Err(Rejection::bad_request(json!({ "name": ["can't be blank"] })));
    }
    let path = input.path.clone().filter(|path| !path.is_empty());
    let mut set = Common::from(input);
    if let Some(branch) = set.default_branch.take().filter(|branch| !branch.is_empty()) {
        let git = call.git(&project)?;
        if git.branch_head(&branch).is_none() {
            return Err(Rejection::bad_request(json!({ "base": ["Could not set the default branch"] })));
        }
        git.set_head(&branch)?;
        project.default_branch = Some(branch);
    }
    apply(set, &call.inputs, &mut project)?;
    project.name = name.unwrap_or(project.name);
    project.path = path.unwrap_or(project.path);
    check(call.world, &project)?;
    if let Some(file) = avatars::from_inputs(&call.inputs)? {
        project.avatar_url = avatars::set(call.world, AvatarOwner::Project(project.id), file);
    }
    call.world.projects.add(project.clone());
    ok(call.show_project(&project, false, false))
}

fn delete(call: &mut WriteCall, input: DeleteProject) -> Outcome<NoContent> {
    let project = call.project_as(&input.id, level::OWNER)?;
    let (id, at) = (project.id, project.last_activity_at);
    call.check_unmodified(at)?;
    remove(call.world, &call.ref_updates, &call.repositories, id);
    Ok(Answer::new(NoContent).status(202).with_body(json!({ "message": "202 Accepted" })))
}

fn set_archived(call: &mut WriteCall, id: &Id, archived: bool) -> Outcome<ProjectView> {
    let mut project = call.project_as(id, level::OWNER)?.clone();
    project.archived = archived;
    call.world.projects.add(project.clone());
    ok(call.show_project(&project, false, false))
}

fn transfer(call: &mut WriteCall, input: TransferProject) -> Outcome<ProjectView> {
    let mut project = call.project_as(&input.id, level::OWNER)?.clone();
    let caller = call.require_user()?;
    let is_own = input.namespace.names(caller.namespace_id, &caller.username);
    let refused =
        |why: &str| Rejection::bad_request(format!("Failed to transfer project {{:new_namespace=>[\"{why}\"]}}"));
    let namespace = match is_own {
        true => Namespace::User(caller.id),
        false => {
            let group = call.group(&input.namespace).map_err(|_| Rejection::not_found("Namespace"))?.id;
            if call.rights.group_level(call.world, group) < level::MAINTAINER {
                return Err(refused("You don't have permission to transfer projects into that namespace."));
            }
            Namespace::Group(group)
        }
    };
    if namespace == project.namespace {
        return Err(refused("Project is already in this namespace."));
    }
    project.namespace = namespace;
    if check(call.world, &project).is_err() {
        return Err(refused("Project with same name or path in target namespace already exists"));
    }
    call.world.projects.add(project.clone());
    Ok(Answer::new(call.show_project(&project, false, false)))
}

fn forks(call: &ReadCall, input: ListForks) -> Outcome<Vec<ProjectView>> {
    let origin = call.project(&input.id)?.id;
    let filters: ListProjects = params::read(&call.inputs)?;
    list_filtered(call, filter_of(filters), |project| project.forked_from == Some(origin))
}

/// Removes a project with everything in it.
pub fn remove(world: &mut World, ref_updates: &RefUpdates, repositories: &Path, project: u64) {
    super::branches::store_diff_ranges(world, repositories, |mr| {
        mr.source_project == project && mr.target_project != project
    });
    let requests: BTreeSet<u64> =
        world.merge_requests.remove_where(|mr| mr.target_project == project).iter().map(|mr| mr.id).collect();
    world.versions.remove_where(|version| requests.contains(&version.merge_request));
    world.draft_notes.remove_where(|draft| requests.contains(&draft.merge_request));
    let issues: BTreeSet<u64> = world.issues.remove_where(|i| i.project == project).iter().map(|i| i.id).collect();
    let snippets: BTreeSet<u64> = world.snippets.remove_where(|s| s.project == project).iter().map(|s| s.id).collect();
    world.remove_notes(|note| match note.on {
        records::Noteable::MergeRequest(id) => requests.contains(&id),
        records::Noteable::Issue(id) => issues.contains(&id),
        records::Noteable::Snippet(id) => snippets.contains(&id),
        records::Noteable::Epic(_) => false,
    });
    world.remove_orphans();
    world.schedules.remove_where(|schedule| schedule.project == project);
    world.jobs.remove_where(|job| job.project == project);
    world.pipelines.remove_where(|row| row.project == project);
    world.bridges.remove_where(|row| row.project == project);
    world.labels.remove_where(|row| row.project == project);
    world.milestones.remove_where(|row| row.project == project);
    world.releases.remove_where(|row| row.project == project);
    world.pushes.remove_where(|row| row.project == project);
    world.uploads.remove_where(|row| row.project == project);
    world.ci_variables.remove_where(|row| row.place == Some(Scope::Project(project)));
    world.pipeline_schedules.remove_where(|row| row.project == project);
    world.pipeline_triggers.remove_where(|row| row.project == project);
    world.tokens.remove_where(|token| token.project == Some(project));
    world.environments.remove_where(|row| row.project == project);
    world.deployments.remove_where(|row| row.project == project);
    world.commit_statuses.remove_where(|row| row.project == project);
    world.commit_comments.remove_where(|row| row.project == project);
    world.members.remove_where(|member| member.place == Scope::Project(project));
    world.notification_settings.remove_where(|setting| setting.place == Some(Scope::Project(project)));
    let serving: Vec<u64> =
        world.runners.iter().filter(|runner| runner.projects.contains(&project)).map(|runner| runner.id).collect();
    for id in serving {
        if let Some(runner) = world.runners.get_mut(id) {
            runner.projects.remove(&project);
        }
    }
    avatars::remove(world, AvatarOwner::Project(project));
    world.projects.remove(project);
    // The repository of a fork is needed as long as a merge request from it exists.
    if !world.merge_requests.iter().any(|mr| mr.source_project == project) {
        ref_updates.push(records::RefUpdate::Remove { project });
    }
}
