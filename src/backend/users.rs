//! Users, and the current user. Their keys are in [`keys`](super::keys).

use super::avatars::{self, AvatarOwner};
use super::call::{Answer, Call, Outcome, ReadCall, WriteCall, ok, stable_sort};
use super::keyset::{Key, Keyset};
use super::mount::Mount;
use super::params::is_path;
use super::projects::{Filter, filter};
use super::records::{Identity, MergeRequest, Namespace, Noteable, Scope, State, User, level};
use super::rejection::Rejection;
use super::world::World;
use crate::presenters::{Bounds, attributes, contains_ignore_case, date, optional_time, time, user_state};
use api::projects::Project as ProjectView;
use api::users::*;
use api::{Id, NoContent, Nullable};
use serde_json::json;
use std::ops::Deref;

pub fn mount(mount: Mount) -> Mount {
    mount
        .read::<ListUsers>(list)
        .read::<GetUser>(get)
        .read_signed_in::<GetCurrentUser>(current)
        .read::<ListUserProjects>(projects)
        .write::<CreateUser>(create)
        .write::<UpdateUser>(update)
        .write::<DeleteUser>(delete)
        .read_signed_in::<GetUserCounts>(counts)
}

api::resource! {
    /// The numbers of open merge requests, issues and to-do items of a user.
    pub struct UserCounts {
        /// The same as `assigned_merge_requests`, under its first name.
        merge_requests: u64,
        assigned_issues: u64,
        assigned_merge_requests: u64,
        review_requested_merge_requests: u64,
        todos: u64,
    }
}

api::endpoints! {
    unspecified section "Users";

    /// Gets the numbers of what waits for the caller (since 12.1).
    GET "/user_counts" => UserCounts;
    struct GetUserCounts {}
}

fn counts(call: &ReadCall, _: GetUserCounts) -> Outcome<UserCounts> {
    let user = call.require_user()?.id;
    let (world, rights) = (call.world, &call.rights);
    let is_open_request = |mr: &&MergeRequest| {
        mr.state == State::Opened && rights.can_read_noteable(world, Noteable::MergeRequest(mr.id))
    };
    let requests = || world.merge_requests.iter().filter(is_open_request);
    let assigned = requests().filter(|mr| mr.assignees().any(|id| id == user)).count() as u64;
    let review = requests().filter(|mr| mr.reviewers.iter().any(|reviewer| reviewer.user == user)).count() as u64;
    let issues = world.issues.iter().filter(|issue| {
        issue.state == State::Opened
            && issue.assignees.contains(&user)
            && rights.can_read_noteable(world, Noteable::Issue(issue.id))
    });
    let todos = world.todos.iter().filter(|todo| todo.user == user && !todo.done);
    ok(UserCounts {
        merge_requests: assigned,
        assigned_issues: issues.count() as u64,
        assigned_merge_requests: assigned,
        review_requested_merge_requests: review,
        todos: todos.filter(|todo| rights.can_read_noteable(world, todo.on)).count() as u64,
    })
}

/// The level of detail of a user's representation.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum DetailLevel {
    Brief,
    Single,
    /// For the user itself.
    Own,
    Administrator,
}

impl<W: Deref<Target = World>> Call<W> {
    fn profile(&self, user: &User, detail: DetailLevel, with_attributes: bool) -> Profile {
        let brief = self.user_summary(user.id);
        let mut out = Profile {
            id: brief.id,
            name: brief.name,
            username: brief.username,
            state: user_state(user).into(),
            avatar_url: brief.avatar_url,
            web_url: brief.web_url,
            locked: brief.locked,
            public_email: brief.public_email,
            ..Profile::default()
        };
        if detail >= DetailLevel::Single {
            out.created_at = Some(time(user.created_at));
            out.bio = user.bio.clone().into();
            out.location = user.location.clone().into();
            out.messenger_id = Some(user.messenger_id.clone());
            out.network_profile = Some(user.network_profile.clone());
            out.microblog_account = Some(user.microblog_account.clone());
            out.linkedin = Some(user.network_profile.clone());
            out.twitter = Some(user.microblog_account.clone());
            out.website_url = Some(user.website_url.clone());
            out.organization = Some(user.organization.clone());
            out.job_title = Some(String::new()).into();
            out.pronouns = None.into();
            out.work_information = None.into();
            out.bot = Some(false);
            (out.followers, out.following) = (Some(0), Some(0));
            out.local_time = None.into();
        }
        if detail >= DetailLevel::Own {
            let identity =
                |i: &Identity| api::users::Identity { provider: i.provider.clone(), extern_uid: i.extern_uid.clone() };
            out.email = Some(user.email.clone());
            out.last_sign_in_at = optional_time(user.last_sign_in_at).into();
            out.confirmed_at = optional_time(user.confirmed_at).into();
            out.theme_id = Some(user.theme_id);
            out.last_activity_on = date(user.last_activity_on).into();
            out.color_scheme_id = Some(user.color_scheme_id);
            out.projects_limit = Some(user.projects_limit);
            out.current_sign_in_at = optional_time(user.current_sign_in_at).into();
            out.identities = Some(user.identities.iter().map(identity).collect());
            out.can_create_group = Some(user.can_create_group);
            out.can_create_project = Some(user.projects_limit > 0);
            out.two_factor_enabled = Some(user.two_factor_enabled);
            out.external = Some(user.external);
            out.private_profile = Some(false);
            out.commit_email = Some(user.email.clone());
            out.preferred_language = Some("en".into());
            out.namespace_id = Some(user.namespace_id);
        }
        if detail == DetailLevel::Administrator {
            out.is_admin = Some(user.admin);
            out.note = None.into();
            out.created_by = None.into();
            out.shared_runners_minutes_limit = user.shared_runners_minutes_limit.into();
            if with_attributes {
                out.custom_attributes = Some(attributes(&user.custom_attributes));
            }
        }
        out
    }

    /// Returns the representation inside jobs.
    pub fn profile_of(&self, id: u64) -> Option<Profile> {
        self.world.users.get(id).map(|user| self.profile(user, DetailLevel::Single, false))
    }

    /// Returns the full representation, for administrators.
    pub fn full_profile(&self, user: &User) -> Profile {
        self.profile(user, DetailLevel::Administrator, false)
    }
}

fn list(call: &ReadCall, input: ListUsers) -> Outcome<Vec<Profile>> {
    if call.rights.user.is_none() && input.username.is_none() {
        return Err(Rejection::message(403, "Not authorized to access /api/v4/users"));
    }
    let admin = call.rights.admin;
    let created = Bounds::new("created", &input.created_after, &input.created_before)?;
    let by = call.choice_or_first(
        "order_by",
        input.order_by.as_deref(),
        &["id", "name", "username", "created_at", "updated_at"],
    )?;
    let descending = call.descending(input.sort.as_deref(), "desc")?;
    // Only administrators can choose the order.
    let (by, descending) = if admin { (by, descending) } else { ("id", true) };
    let found = |user: &&User| {
        let matches = |part: &String| {
            let by_address =
                if admin { contains_ignore_case(&user.email, part) } else { user.email.eq_ignore_ascii_case(part) };
            contains_ignore_case(&user.name, part) || contains_ignore_case(&user.username, part) || by_address
        };
        let identity = |uid: &String| {
            let fits = |i: &Identity| i.extern_uid == *uid && Some(&i.provider) == input.provider.as_ref();
            user.identities.iter().any(fits)
        };
        let attributes = input.custom_attributes.iter().flatten().filter(|_| admin);
        (input.active != Some(true) || !user.blocked)
            && (input.blocked != Some(true) || user.blocked)
            && (input.external != Some(true) || user.external)
            && input.search.as_ref().is_none_or(matches)
            && input.username.as_ref().is_none_or(|name| user.username.eq_ignore_ascii_case(name))
            && input.extern_uid.as_ref().is_none_or(identity)
            && created.contains(user.created_at)
            && attributes.into_iter().all(|(key, value)| user.custom_attributes.get(key) == Some(value))
    };
    let mut users: Vec<&User> = call.world.users.iter().filter(found).collect();
    match by {
        "name" => stable_sort(&mut users, descending, |user| user.name.to_lowercase()),
        "username" => stable_sort(&mut users, descending, |user| user.username.to_lowercase()),
        "created_at" => stable_sort(&mut users, descending, |user| user.created_at),
        "updated_at" => stable_sort(&mut users, descending, |user| user.updated_at),
        _ => stable_sort(&mut users, descending, |user| user.id),
    }
    let detail = if admin { DetailLevel::Administrator } else { DetailLevel::Brief };
    let key = move |user: &&User| match by {
        "name" => Key::text(&user.name),
        "username" => Key::text(&user.username),
        "created_at" => Key::time(user.created_at),
        "updated_at" => Key::time(user.updated_at),
        _ => Key::none(),
    };
    let keyset = Keyset::Cursor { descending, key: Box::new(key), id: |user| user.id };
    call.keyset_page("User", users, keyset, |user| Profile {
        // Only in the reply for a single user.
        shared_runners_minutes_limit: Nullable::default(),
        ..call.profile(user, detail, input.with_custom_attributes == Some(true))
    })
}

fn user<W: Deref<Target = World>>(call: &Call<W>, id: u64) -> Result<&User, Rejection> {
    call.world.users.get(id).ok_or_else(|| Rejection::not_found("User"))
}

fn get(call: &ReadCall, input: GetUser) -> Outcome<Profile> {
    if call.rights.user.is_none() {
        return Err(Rejection::message(403, "Not authorized!"));
    }
    let detail = if call.rights.admin { DetailLevel::Administrator } else { DetailLevel::Single };
    ok(call.profile(user(call, input.id)?, detail, input.with_custom_attributes == Some(true)))
}

fn current(call: &ReadCall, _: GetCurrentUser) -> Outcome<Profile> {
    let user = call.require_user()?;
    let detail = if user.admin { DetailLevel::Administrator } else { DetailLevel::Own };
    ok(call.profile(user, detail, false))
}

/// Returns a user by ID or username.
pub(super) fn named<'a>(world: &'a World, id: &Id) -> Result<&'a User, Rejection> {
    let found = match id.number() {
        Some(id) => world.users.get(id),
        None => world.user_named(id.as_str()),
    };
    found.ok_or_else(|| Rejection::not_found("User"))
}

fn projects(call: &ReadCall, input: ListUserProjects) -> Outcome<Vec<ProjectView>> {
    let owner = named(call.world, &input.user_id)?.id;
    let filter = filter!(input, membership: input.membership, statistics: input.statistics,
        with_issues_enabled: input.with_issues_enabled,
        with_merge_requests_enabled: input.with_merge_requests_enabled, custom_attributes: input.custom_attributes);
    super::projects::list_filtered(call, filter, |project| project.namespace == Namespace::User(owner))
}

/// Checks that the email address and the username are valid and not taken; fails with 409 if they are taken.
fn check_available(
    call: &WriteCall,
    id: u64,
    email: Option<&String>,
    username: Option<&String>,
) -> Result<(), Rejection> {
    let taken = |same: &dyn Fn(&User) -> bool| call.world.users.iter().any(|user| user.id != id && same(user));
    if email.is_some_and(|email| taken(&|user| user.email.eq_ignore_ascii_case(email))) {
        return Err(Rejection::conflict("Email has already been taken"));
    }
    let group =
        |name: &String| call.world.groups.iter().any(|g| g.parent.is_none() && g.path.eq_ignore_ascii_case(name));
    if username.is_some_and(|name| group(name) || taken(&|user| user.username.eq_ignore_ascii_case(name))) {
        return Err(Rejection::conflict("Username has already been taken"));
    }
    if email.is_some_and(|email| !email.contains('@')) {
        return Err(Rejection::bad_request(json!({ "email": ["is invalid"] })));
    }
    if username.is_some_and(|name| !is_path(name)) {
        let rule = "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-' or end in '.', '.git' or '.atom'.";
        return Err(Rejection::bad_request(json!({ "username": [rule] })));
    }
    Ok(())
}

fn check_name(name: Option<&String>) -> Result<(), Rejection> {
    match name {
        Some(name) if name.trim().is_empty() => Err(Rejection::bad_request(json!({ "name": ["can't be blank"] }))),
        _ => Ok(()),
    }
}

fn create(call: &mut WriteCall, input: CreateUser) -> Outcome<Profile> {
    call.require_admin()?;
    if input.password.as_ref().is_none_or(String::is_empty) && input.reset_password != Some(true) {
        return Err(Rejection::error(
            400,
            "password, reset_password are missing, at least one parameter must be provided",
        ));
    }
    if input.reset_password != Some(true) && input.password.as_ref().is_some_and(|word| word.len() < 8) {
        return Err(Rejection::bad_request(json!({ "password": ["is too short (minimum is 8 characters)"] })));
    }
    check_name(Some(&input.name))?;
    check_available(call, 0, Some(&input.email), Some(&input.username))?;
    let avatar = avatars::from_inputs(&call.inputs)?;
    let now = call.now;
    let identities = match (input.provider, input.extern_uid) {
        (Some(provider), Some(extern_uid)) => vec![Identity { provider, extern_uid }],
        _ => Vec::new(),
    };
    let id = call.world.add_user(User {
        username: input.username,
        name: input.name,
        email: input.email,
        admin: input.admin.unwrap_or(false),
        bio: input.bio,
        location: input.location,
        messenger_id: input.messenger_id.unwrap_or_default(),
        network_profile: input.network_profile.unwrap_or_default(),
        microblog_account: input.microblog_account.unwrap_or_default(),
        website_url: input.website_url.unwrap_or_default(),
        organization: input.organization.unwrap_or_default(),
        created_at: now,
        updated_at: now,
        confirmed_at: (input.skip_confirmation == Some(true)).then_some(now),
        theme_id: 1,
        color_scheme_id: 1,
        projects_limit: input.projects_limit.unwrap_or(100_000),
        can_create_group: input.can_create_group.unwrap_or(true),
        external: input.external.unwrap_or(false),
        shared_runners_minutes_limit: input.shared_runners_minutes_limit,
        identities,
        ..User::default()
    });
    if let Some(file) = avatar {
        let path = avatars::set(call.world, AvatarOwner::User(id), file);
        if let Some(user) = call.world.users.get_mut(id) {
            user.avatar_url = path;
        }
    }
    ok(call.profile(user(call, id)?, DetailLevel::Administrator, false))
}

fn update(call: &mut WriteCall, input: UpdateUser) -> Outcome<Profile> {
    call.require_admin()?;
    let id = user(call, input.id)?.id;
    check_name(input.name.as_ref())?;
    // The specification requires 404 here, "even where a conflict would fit".
    check_available(call, id, input.email.as_ref(), input.username.as_ref()).map_err(|rejection| {
        match rejection.status {
            409 => Rejection { status: 404, ..rejection },
            _ => rejection,
        }
    })?;
    if input.password.as_ref().is_some_and(|word| word.len() < 8) {
        return Err(Rejection::bad_request(json!({ "password": ["is too short (minimum is 8 characters)"] })));
    }
    let now = call.now;
    let avatar = avatars::from_inputs(&call.inputs)?.map(|file| avatars::set(call.world, AvatarOwner::User(id), file));
    let Some(user) = call.world.users.get_mut(id) else { return Err(Rejection::not_found("User")) };
    user.avatar_url = avatar.unwrap_or(user.avatar_url.take());
    let set = |field: &mut String, value: Option<String>| {
        if let Some(value) = value {
            *field = value;
        }
    };
    set(&mut user.email, input.email);
    set(&mut user.username, input.username);
    set(&mut user.name, input.name);
    set(&mut user.messenger_id, input.messenger_id);
    set(&mut user.network_profile, input.network_profile);
    set(&mut user.microblog_account, input.microblog_account);
    set(&mut user.website_url, input.website_url);
    set(&mut user.organization, input.organization);
    user.bio = input.bio.or(user.bio.take());
    user.location = input.location.or(user.location.take());
    user.projects_limit = input.projects_limit.unwrap_or(user.projects_limit);
    user.admin = input.admin.unwrap_or(user.admin);
    user.can_create_group = input.can_create_group.unwrap_or(user.can_create_group);
    user.external = input.external.unwrap_or(user.external);
    user.shared_runners_minutes_limit = input.shared_runners_minutes_limit.or(user.shared_runners_minutes_limit);
    if let (Some(provider), Some(extern_uid)) = (input.provider, input.extern_uid) {
        user.identities.retain(|identity| identity.provider != provider);
        user.identities.push(Identity { provider, extern_uid });
    }
    user.updated_at = now;
    let user = user.clone();
    ok(call.profile(&user, DetailLevel::Administrator, false))
}

fn delete(call: &mut WriteCall, input: DeleteUser) -> Outcome<NoContent> {
    call.require_admin()?;
    let (id, at) = user(call, input.id).map(|user| (user.id, user.updated_at))?;
    call.check_unmodified(at)?;
    let now = call.now;
    let world = &mut *call.world;
    let owns_alone = |group: u64| {
        let mut owners = world.members.iter().filter(|m| m.place == Scope::Group(group) && m.level == level::OWNER);
        owners.next().is_some_and(|first| first.user == id) && owners.next().is_none()
    };
    let alone: Vec<u64> = world.groups.iter().map(|group| group.id).filter(|group| owns_alone(*group)).collect();
    if input.hard_delete == Some(true) {
        for group in alone {
            super::groups::remove(world, &call.ref_updates, &call.repositories, group);
        }
        super::ghost::remove_contributions(world, id);
    } else if !alone.is_empty() {
        return Err(Rejection::conflict("User cannot be removed while is the sole-owner of a group"));
    }
    let own: Vec<u64> =
        world.projects.iter().filter(|p| p.namespace == Namespace::User(id)).map(|project| project.id).collect();
    for project in own {
        super::projects::remove(world, &call.ref_updates, &call.repositories, project);
    }
    world.members.remove_where(|member| member.user == id);
    world.tokens.remove_where(|token| token.user == id);
    world.pipeline_triggers.remove_where(|trigger| trigger.owner == id);
    world.device_grants.remove_where(|grant| grant.user == Some(id));
    world.todos.remove_where(|todo| todo.user == id);
    world.ssh_keys.remove_where(|key| key.user == id);
    world.gpg_keys.remove_where(|key| key.user == id);
    world.notification_settings.remove_where(|setting| setting.user == id);
    super::ghost::reassign_contributions(world, id, now);
    avatars::remove(world, AvatarOwner::User(id));
    world.users.remove(id);
    Ok(Answer::new(NoContent))
}
