//! Groups, their subgroups and projects, and their LDAP links.

use super::call::{Answer, Call, Outcome, ReadCall, WriteCall, ok, stable_sort};
use super::keyset::{Key, Keyset};
use super::mount::Mount;
use super::params::{self, is_path};
use super::presenters::attributes;
use super::projects::{Filter, filter};
use super::records::{self, DirectoryLink, Group, Member, Namespace, Project, Scope, Visibility, level};
use super::rejection::Rejection;
use super::settings;
use super::views::BRIEF_GROUP;
use super::world::World;
use crate::presenters::{contains_ignore_case, time};
use crate::ref_updates::RefUpdates;
use api::groups::Group as GroupView;
use api::groups::{
    AddLdapLink, Common, CreateGroup, DeleteGroup, DeleteLdapLink, DeleteLdapProviderLink, GetGroup, GroupStatistics,
    LdapGroupLink, ListGroupProjects, ListGroups, ListSubgroups, SyncLdap, TransferProject, UpdateGroup,
};
use api::projects::Project as ProjectView;
use api::{Id, NoContent};
use serde_json::json;
use std::ops::Deref;
use std::path::Path;

pub fn mount(mount: Mount) -> Mount {
    mount
        .read::<ListGroups>(list)
        .read::<ListSubgroups>(subgroups)
        .read::<ListGroupProjects>(projects)
        .read::<ListSharedProjects>(shared_projects)
        .read::<GetGroup>(get)
        .write::<CreateGroup>(create)
        .write::<TransferProject>(transfer)
        .write::<UpdateGroup>(update)
        .write::<DeleteGroup>(delete)
        .write::<SyncLdap>(sync)
        .write::<AddLdapLink>(add_link)
        .write::<DeleteLdapLink>(delete_link)
        .write::<DeleteLdapProviderLink>(delete_provider_link)
}

api::endpoints! {
    unspecified section "Groups";

    /// Lists the projects that are shared with a group, with the filters of [`ListGroupProjects`].
    GET "/groups/{id}/projects/shared" => Vec<ProjectView>;
    struct ListSharedProjects { id: Id }
}

impl<W: Deref<Target = World>> Call<W> {
    pub fn show_group(&self, group: &Group) -> GroupView {
        let full_path = self.world.group_path(group.id);
        GroupView {
            id: group.id,
            name: group.name.clone(),
            path: group.path.clone(),
            description: Some(group.description.clone()),
            visibility: group.visibility.as_str().into(),
            lfs_enabled: group.lfs_enabled,
            avatar_url: self.avatar_url(&group.avatar_url),
            web_url: format!("{}/groups/{full_path}", self.base_url),
            request_access_enabled: group.request_access_enabled,
            full_name: self.world.group_name(group.id),
            full_path,
            parent_id: group.parent,
            archived: Some(false),
            created_at: Some(time(group.created_at)),
            ldap_cn: None.into(),
            marked_for_deletion_on: None.into(),
            share_with_group_lock: Some(group.share_with_group_lock),
            settings: Some(settings::shown(&group.settings, settings::OF_GROUP, true)),
            organization_id: Some(1),
            ..GroupView::default()
        }
    }

    fn show_group_detail(&self, group: &Group, with_attributes: bool) -> GroupView {
        let (world, rights) = (&*self.world, &self.rights);
        let show = |project: &Project| self.list_project(project, false, false);
        let seen = || world.projects.iter().filter(|project| rights.can_see_project(world, project));
        let own = seen().filter(|project| project.namespace == Namespace::Group(group.id));
        let shared = seen().filter(|project| is_shared_with(project, group.id));
        GroupView {
            projects: Some(own.map(show).collect()),
            shared_projects: Some(shared.map(show).collect()),
            shared_runners_minutes_limit: group.shared_runners_minutes_limit.into(),
            membership_lock: Some(group.membership_lock),
            shared_with_groups: Some(Vec::new()),
            custom_attributes: with_attributes.then(|| attributes(&group.custom_attributes)),
            ..self.show_group(group)
        }
    }

    fn group_statistics(&self, group: &Group) -> GroupStatistics {
        let inside = |project: &&Project| match project.namespace {
            Namespace::Group(id) => self.world.group_chain(id).iter().any(|above| above.id == group.id),
            Namespace::User(_) => false,
        };
        let mut sum = GroupStatistics::default();
        for project in self.world.projects.iter().filter(inside) {
            let one = self.statistics(project);
            sum.storage_size += one.storage_size;
            sum.repository_size += one.repository_size;
            sum.lfs_objects_size += one.lfs_objects_size;
            sum.job_artifacts_size += one.job_artifacts_size;
        }
        sum
    }
}

/// Returns the visible groups for which `of` returns true, filtered and sorted according to `input`.
fn list_filtered(call: &ReadCall, input: Common, of: impl Fn(&Group) -> bool) -> Outcome<Vec<GroupView>> {
    let orders: &[&str] = if call.only_specified() { &["name", "path"] } else { &["name", "path", "id", "similarity"] };
    let by = call.choice_or_first("order_by", input.order_by.as_deref(), orders)?;
    let descending = call.descending(input.sort.as_deref(), "asc")?;
    let (world, rights) = (call.world, &call.rights);
    let level = |group: &Group| rights.in_group(world, group.id);
    let skipped = input.skip_groups.unwrap_or_default();
    // By default, signed-in users do not get private groups that they see only because of a subgroup or project in it.
    let all = input.all_available.unwrap_or(rights.user.is_none() || rights.admin);
    let attributes: Vec<_> = input.custom_attributes.into_iter().flatten().filter(|_| rights.admin).collect();
    let found = |group: &&Group| {
        of(group)
            && rights.can_see_group(world, group)
            && !skipped.contains(&group.id)
            && (all || level(group) > 0 || group.visibility != Visibility::Private)
            && (input.owned != Some(true) || level(group) >= level::OWNER)
            && input
                .search
                .as_ref()
                .is_none_or(|part| contains_ignore_case(&group.name, part) || contains_ignore_case(&group.path, part))
            && attributes.iter().all(|(key, value)| group.custom_attributes.get(key) == Some(value))
    };
    let mut rows: Vec<&Group> = world.groups.iter().filter(found).collect();
    match by {
        "path" => stable_sort(&mut rows, descending, |group| group.path.to_lowercase()),
        "id" => stable_sort(&mut rows, descending, |group| group.id),
        _ => stable_sort(&mut rows, descending, |group| group.name.to_lowercase()),
    }
    let statistics = input.statistics == Some(true) && rights.admin;
    let with_attributes = input.with_custom_attributes == Some(true) && rights.admin;
    let keyset = match (by, descending) {
        ("name", false) => {
            Keyset::Cursor { descending, key: Box::new(|group: &&Group| Key::text(&group.name)), id: |group| group.id }
        }
        _ => Keyset::Unavailable,
    };
    call.keyset_page("Group", rows, keyset, |group| GroupView {
        statistics: statistics.then(|| call.group_statistics(group)),
        custom_attributes: with_attributes.then(|| attributes_of(group)),
        ..call.show_group(group)
    })
}

fn attributes_of(group: &Group) -> Vec<api::users::CustomAttribute> {
    attributes(&group.custom_attributes)
}

fn list(call: &ReadCall, input: ListGroups) -> Outcome<Vec<GroupView>> {
    let only = input.search.as_ref().filter(|text| !text.is_empty()).map(|_| BRIEF_GROUP);
    Ok(list_filtered(call, input.into(), |_| true)?.only(only))
}

fn subgroups(call: &ReadCall, input: ListSubgroups) -> Outcome<Vec<GroupView>> {
    let parent = call.group(&input.id)?.id;
    list_filtered(call, input.into(), |group| group.parent == Some(parent))
}

fn projects(call: &ReadCall, input: ListGroupProjects) -> Outcome<Vec<ProjectView>> {
    let group = call.group(&input.id)?.id;
    let with_subgroups = input.include_subgroups == Some(true) && !call.only_specified();
    let is_inside = |id: u64| call.world.group_chain(id).iter().any(|above| above.id == group);
    let is_listed = |project: &Project| match project.namespace {
        Namespace::Group(id) => id == group || with_subgroups && is_inside(id),
        Namespace::User(_) => false,
    };
    let filter = Filter { of_group: true, ..filter!(input) };
    super::projects::list_filtered(call, filter, is_listed)
}

fn shared_projects(call: &ReadCall, input: ListSharedProjects) -> Outcome<Vec<ProjectView>> {
    let group = call.group(&input.id)?.id;
    let filters: ListGroupProjects = params::read(&call.inputs)?;
    let filter = Filter { of_group: true, ..filter!(filters) };
    super::projects::list_filtered(call, filter, |project| is_shared_with(project, group))
}

fn is_shared_with(project: &Project, group: u64) -> bool {
    project.shared_with.iter().any(|share| share.group == group)
}

fn get(call: &ReadCall, input: GetGroup) -> Outcome<GroupView> {
    let group = call.group(&input.id)?;
    ok(call.show_group_detail(group, input.with_custom_attributes == Some(true) && call.rights.admin))
}

fn check(world: &World, group: &Group) -> Result<(), Rejection> {
    if group.name.trim().is_empty() {
        return Err(Rejection::bad_request(json!({ "name": ["can't be blank"] })));
    }
    if !is_path(&group.path) {
        let rule = "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-' or end in '.', '.git' or '.atom'.";
        return Err(Rejection::bad_request(json!({ "path": [rule] })));
    }
    let of_group = |g: &Group| g.id != group.id && g.parent == group.parent && g.path.eq_ignore_ascii_case(&group.path);
    let of_user = group.parent.is_none() && world.user_named(&group.path).is_some();
    if of_user || world.groups.iter().any(of_group) {
        return Err(Rejection::bad_request(json!({ "path": ["has already been taken"] })));
    }
    let most = group.parent.and_then(|parent| world.groups.get(parent)).map(|parent| parent.visibility);
    if most.is_some_and(|most| group.visibility > most) {
        let why = format!("{} is not allowed since the parent group has lower visibility", group.visibility);
        return Err(Rejection::bad_request(json!({ "visibility_level": [why] })));
    }
    Ok(())
}

fn visibility(word: &str) -> Result<Visibility, Rejection> {
    Visibility::from_name(word).ok_or_else(|| Rejection::no_valid_value("visibility"))
}

fn create(call: &mut WriteCall, input: CreateGroup) -> Outcome<GroupView> {
    let caller = call.require_user()?.clone();
    if let Some(parent) = input.parent_id {
        call.group_as(&parent.into(), level::OWNER)?;
    } else if !caller.can_create_group && !caller.admin {
        return Err(Rejection::forbidden());
    }
    let now = call.now;
    let group = Group {
        id: call.world.groups.next_id(),
        name: input.name,
        path: input.path,
        parent: input.parent_id,
        description: input.description.unwrap_or_default(),
        visibility: input.visibility.as_deref().map(visibility).transpose()?.unwrap_or_default(),
        lfs_enabled: input.lfs_enabled.unwrap_or(true),
        request_access_enabled: input.request_access_enabled.unwrap_or(false),
        shared_runners_minutes_limit: input.shared_runners_minutes_limit.filter(|_| caller.admin),
        created_at: now,
        settings: settings::given(&call.inputs, settings::OF_GROUP)?,
        ..Group::default()
    };
    check(call.world, &group)?;
    let id = call.world.groups.add(group.clone());
    let place = Scope::Group(id);
    call.world.members.add(Member {
        place,
        user: caller.id,
        level: level::OWNER,
        created_at: now,
        ..Member::default()
    });
    call.rights = super::auth::Rights::of(call.world, caller.id);
    ok(call.show_group_detail(&group, false))
}

fn transfer(call: &mut WriteCall, input: TransferProject) -> Outcome<GroupView> {
    call.require_admin()?;
    let group = call.group(&input.id)?.clone();
    let project = call.project(&input.project_id)?.clone();
    let namespace = Namespace::Group(group.id);
    let same = |p: &Project| p.namespace == namespace && p.path.eq_ignore_ascii_case(&project.path);
    if call.world.projects.iter().any(same) {
        return Err(Rejection::bad_request(
            "Failed to transfer project: Project with same path in target namespace already exists",
        ));
    }
    let now = call.now;
    if let Some(project) = call.world.projects.get_mut(project.id) {
        project.namespace = namespace;
        project.last_activity_at = now;
    }
    ok(call.show_group_detail(&group, false))
}

fn update(call: &mut WriteCall, input: UpdateGroup) -> Outcome<GroupView> {
    let mut group = call.group_as(&input.id, level::OWNER)?.clone();
    group.name = input.name.unwrap_or(group.name);
    group.path = input.path.unwrap_or(group.path);
    group.description = input.description.unwrap_or(group.description);
    group.membership_lock = input.membership_lock.unwrap_or(group.membership_lock);
    group.share_with_group_lock = input.share_with_group_lock.unwrap_or(group.share_with_group_lock);
    group.lfs_enabled = input.lfs_enabled.unwrap_or(group.lfs_enabled);
    group.request_access_enabled = input.request_access_enabled.unwrap_or(group.request_access_enabled);
    group.require_sha_for_merge = call.option("require_sha_for_merge")?.unwrap_or(group.require_sha_for_merge);
    if let Some(word) = &input.visibility {
        group.visibility = visibility(word)?;
    }
    group.settings.extend(settings::given(&call.inputs, settings::OF_GROUP)?);
    if call.rights.admin {
        group.shared_runners_minutes_limit = input.shared_runners_minutes_limit.or(group.shared_runners_minutes_limit);
    }
    check(call.world, &group)?;
    call.world.groups.add(group.clone());
    ok(call.show_group_detail(&group, false))
}

fn delete(call: &mut WriteCall, input: DeleteGroup) -> Outcome<NoContent> {
    let id = call.group_as(&input.id, level::OWNER)?.id;
    remove(call.world, &call.ref_updates, &call.repositories, id);
    Ok(Answer::new(NoContent))
}

/// Removes a group with its subgroups and projects.
pub fn remove(world: &mut World, ref_updates: &RefUpdates, repositories: &Path, group: u64) {
    let inside = |id: u64| world.group_chain(id).iter().any(|above| above.id == group);
    let groups: Vec<u64> = world.groups.iter().map(|g| g.id).filter(|id| inside(*id)).collect();
    let of_groups = |p: &&Project| matches!(p.namespace, Namespace::Group(id) if groups.contains(&id));
    let projects: Vec<u64> = world.projects.iter().filter(of_groups).map(|project| project.id).collect();
    for project in projects {
        super::projects::remove(world, ref_updates, repositories, project);
    }
    for id in groups.iter().copied() {
        let epics: Vec<u64> = world.epics.remove_where(|epic| epic.group == id).iter().map(|epic| epic.id).collect();
        world.remove_notes(|note| matches!(note.on, records::Noteable::Epic(epic) if epics.contains(&epic)));
        world.remove_orphans();
        world.labels.remove_where(|label| label.group == Some(id));
        world.milestones.remove_where(|milestone| milestone.group == Some(id));
        world.members.remove_where(|member| member.place == Scope::Group(id));
        world.tokens.remove_where(|token| token.group == Some(id));
        world.ci_variables.remove_where(|row| row.place == Some(Scope::Group(id)));
        world.notification_settings.remove_where(|setting| setting.place == Some(Scope::Group(id)));
        world.groups.remove(id);
    }
    let shared = |p: &&Project| p.shared_with.iter().any(|share| groups.contains(&share.group));
    let shared: Vec<u64> = world.projects.iter().filter(shared).map(|project| project.id).collect();
    for id in shared {
        if let Some(project) = world.projects.get_mut(id) {
            project.shared_with.retain(|share| !groups.contains(&share.group));
        }
    }
}

fn sync(call: &mut WriteCall, input: SyncLdap) -> Outcome<NoContent> {
    let group = call.group_as(&input.id, level::OWNER)?;
    // Without a link there is no directory to synchronize with.
    if group.directory_links.is_empty() {
        return Err(Rejection::error(404, "404 Not Found"));
    }
    Ok(Answer::new(NoContent).status(202).with_body(202))
}

fn add_link(call: &mut WriteCall, input: AddLdapLink) -> Outcome<LdapGroupLink> {
    let id = call.group_as(&input.id, level::OWNER)?.id;
    let access = u8::try_from(input.group_access).ok().filter(|level| [10, 20, 30, 40, 50].contains(level));
    let group_access = access.ok_or_else(|| Rejection::no_valid_value("group_access"))?;
    let Some(group) = call.world.groups.get_mut(id) else { return Err(Rejection::not_found("Group")) };
    if group.directory_links.iter().any(|link| link.cn == input.cn && link.provider == input.provider) {
        return Err(Rejection::conflict("Linked LDAP group has already been taken"));
    }
    group.directory_links.push(DirectoryLink { cn: input.cn.clone(), group_access, provider: input.provider.clone() });
    ok(LdapGroupLink { cn: Some(input.cn), group_access: input.group_access, provider: input.provider })
}

fn delete_link(call: &mut WriteCall, input: DeleteLdapLink) -> Outcome<NoContent> {
    unlink(call, &input.id, |link| link.cn == input.cn)
}

fn delete_provider_link(call: &mut WriteCall, input: DeleteLdapProviderLink) -> Outcome<NoContent> {
    unlink(call, &input.id, |link| link.cn == input.cn && link.provider == input.provider)
}

fn unlink(call: &mut WriteCall, id: &api::Id, is_it: impl Fn(&DirectoryLink) -> bool) -> Outcome<NoContent> {
    let id = call.group_as(id, level::OWNER)?.id;
    let Some(group) = call.world.groups.get_mut(id) else { return Err(Rejection::not_found("Group")) };
    let before = group.directory_links.len();
    group.directory_links.retain(|link| !is_it(link));
    if group.directory_links.len() == before {
        return Err(Rejection::message(404, "Linked LDAP group not found"));
    }
    ok(NoContent)
}
