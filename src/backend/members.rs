//! Members of projects and groups, and their roles.

use super::call::{Call, Outcome, ReadCall, WriteCall, ok};
use super::milestones::day;
use super::mount::Mount;
use super::presenters::{contains_ignore_case, date, time};
use super::records::{self, Namespace, Project, Scope, level};
use super::rejection::Rejection;
use super::world::World;
use api::members::*;
use api::{self, NoContent};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::collections::BTreeMap;
use std::ops::Deref;

/// The access levels that can be assigned.
const LEVELS: &[u8] = &[5, 10, 15, 20, 25, 30, 40, 50];

pub fn mount(mount: Mount) -> Mount {
    mount
        .read::<ListMembers>(|call, e| list(call, members_of(call, &e.scope, false)?, e.query))
        .read::<ListAllMembers>(|call, e| list(call, members_of(call, &e.scope, true)?, e.query))
        .read::<GetMember>(|call, e| get(call, &members_of(call, &e.scope, false)?, e.user_id))
        .read::<GetAnyMember>(|call, e| get(call, &members_of(call, &e.scope, true)?, e.user_id))
        .write::<AddMember>(|call, e| {
            let manager = Manager::of(call, &e.scope)?;
            add(call, manager, e.user_id, e.access_level, e.expires_at)
        })
        .write::<UpdateMember>(|call, e| {
            let manager = Manager::of(call, &e.scope)?;
            update(call, manager, e.user_id, e.access_level, e.expires_at)
        })
        .write::<RemoveMember>(|call, e| {
            let place = call.scope(&e.scope)?;
            let is_self = call.require_user()?.id == e.user_id;
            let manager = if is_self { None } else { Some(Manager::of(call, &e.scope)?) };
            remove(call, manager, place, e.user_id)
        })
}

api::endpoints! {
    unspecified section "Members";

    /// Gets a direct member.
    GET "/members/{user_id}" of scope: Scope [project, group] => Member;
    struct GetMember { user_id: u64 }

    /// Gets a member, direct or inherited (since 12.4).
    GET "/members/all/{user_id}" of scope: Scope [project, group] => Member;
    struct GetAnyMember { user_id: u64 }
}

/// A user who may manage members.
#[derive(Clone, Copy)]
struct Manager {
    place: Scope,
    /// The manager's own level, the maximum that they can assign or change.
    level: u8,
}

impl Manager {
    fn of(call: &WriteCall, scope: &api::Scope) -> Result<Manager, Rejection> {
        match scope {
            api::Scope::Project(id) => {
                let project = call.project_as(id, level::MAINTAINER)?;
                Ok(Manager { place: Scope::Project(project.id), level: call.rights.level(call.world, project) })
            }
            api::Scope::Group(id) => {
                let group = call.group_as(id, level::OWNER)?.id;
                Ok(Manager { place: Scope::Group(group), level: call.rights.group_level(call.world, group) })
            }
        }
    }
}

/// Returns the members by user ID, each with the highest membership.
fn members_of(
    call: &ReadCall,
    scope: &api::Scope,
    inherited: bool,
) -> Result<BTreeMap<u64, records::Member>, Rejection> {
    Ok(match scope {
        api::Scope::Project(id) => of_project(call.world, call.project(id)?, inherited),
        api::Scope::Group(id) => of_group(call.world, call.group(id)?.id, inherited),
    })
}

/// Returns the highest membership of each user, by user ID.
fn highest<'a>(members: impl Iterator<Item = &'a records::Member>) -> BTreeMap<u64, records::Member> {
    let mut out: BTreeMap<u64, records::Member> = BTreeMap::new();
    for member in members {
        let best = out.entry(member.user).or_insert_with(|| member.clone());
        if member.level > best.level {
            best.clone_from(member);
        }
    }
    out
}

/// Returns the members of a project by user ID, each with the highest membership. The owner of a user namespace counts
/// as a member.
pub fn of_project(world: &World, project: &Project, inherited: bool) -> BTreeMap<u64, records::Member> {
    let own = Scope::Project(project.id);
    let (owner, groups) = match project.namespace {
        Namespace::User(user) => {
            let (level, created_at) = (level::OWNER, project.created_at);
            (Some(records::Member { place: own, user, level, created_at, ..records::Member::default() }), Vec::new())
        }
        Namespace::Group(group) if inherited => (None, world.group_chain(group)),
        Namespace::Group(_) => (None, Vec::new()),
    };
    let places: Vec<Scope> = std::iter::once(own).chain(groups.iter().map(|group| Scope::Group(group.id))).collect();
    highest(owner.iter().chain(world.members.iter().filter(|member| places.contains(&member.place))))
}

/// Returns the members of a group by user ID, with those of its ancestors if `inherited`.
fn of_group(world: &World, group: u64, inherited: bool) -> BTreeMap<u64, records::Member> {
    let chain = world.group_chain(group);
    let groups = chain.iter().filter(|above| inherited || above.id == group);
    let places: Vec<Scope> = groups.map(|group| Scope::Group(group.id)).collect();
    highest(world.members.iter().filter(|member| places.contains(&member.place)))
}

fn show<W: Deref<Target = World>>(call: &Call<W>, member: &records::Member) -> Member {
    let user = call.user_summary(member.user);
    Member {
        id: user.id,
        name: user.name,
        username: user.username,
        state: user.state,
        avatar_url: user.avatar_url,
        web_url: user.web_url,
        access_level: member.level.into(),
        created_at: Some(time(member.created_at)),
        expires_at: date(member.expires_at),
        public_email: user.public_email,
        locked: user.locked,
        membership_state: Some("active".into()),
    }
}

fn list(call: &ReadCall, members: BTreeMap<u64, records::Member>, query: Option<String>) -> Outcome<Vec<Member>> {
    let part = query.unwrap_or_default();
    let rows = members.values().map(|member| show(call, member));
    let rows = rows
        .filter(|member| contains_ignore_case(&member.name, &part) || contains_ignore_case(&member.username, &part))
        .collect();
    call.page(rows, |member| member)
}

fn get(call: &ReadCall, members: &BTreeMap<u64, records::Member>, user: u64) -> Outcome<Member> {
    ok(show(call, members.get(&user).ok_or_else(Rejection::record_not_found)?))
}

/// Validates an access level, which must not exceed the manager's own.
fn check_level(manager: Manager, access_level: u64) -> Result<u8, Rejection> {
    let level = u8::try_from(access_level).ok().filter(|level| LEVELS.contains(level));
    let level = level.ok_or_else(|| Rejection::no_valid_value("access_level"))?;
    if level > manager.level { Err(Rejection::forbidden()) } else { Ok(level) }
}

fn find(world: &World, place: Scope, user: u64) -> Result<&records::Member, Rejection> {
    let found = world.members.iter().find(|member| member.place == place && member.user == user);
    found.ok_or_else(Rejection::record_not_found)
}

/// Checks that the group of a member would still have an owner without that member.
fn check_owners(world: &World, member: &records::Member) -> Result<(), Rejection> {
    let Scope::Group(group) = member.place else { return Ok(()) };
    let owners = of_group(world, group, true);
    let others = owners.values().filter(|other| other.user != member.user && other.level >= level::OWNER).count();
    if member.level >= level::OWNER && others == 0 { Err(Rejection::forbidden()) } else { Ok(()) }
}

fn add(
    call: &mut WriteCall,
    manager: Manager,
    user: u64,
    access_level: u64,
    expires_at: Option<String>,
) -> Outcome<Member> {
    let level = check_level(manager, access_level)?;
    let expires_at = day("expires_at", &expires_at.unwrap_or_default())?;
    call.world.users.get(user).ok_or_else(|| Rejection::not_found("User"))?;
    let place = manager.place;
    let owns = match place {
        Scope::Project(id) => call.world.projects.get(id).map(|project| project.namespace),
        Scope::Group(_) => None,
    };
    if owns == Some(Namespace::User(user)) || find(call.world, place, user).is_ok() {
        return Err(Rejection::conflict("Member already exists"));
    }
    call.world.members.add(records::Member { place, user, level, created_at: call.now, expires_at, id: 0 });
    ok(show(call, find(call.world, place, user)?))
}

fn update(
    call: &mut WriteCall,
    manager: Manager,
    user: u64,
    access_level: u64,
    expires_at: Option<String>,
) -> Outcome<Member> {
    let level = check_level(manager, access_level)?;
    let member = find(call.world, manager.place, user)?;
    if member.level > manager.level {
        return Err(Rejection::forbidden());
    }
    if level < level::OWNER {
        check_owners(call.world, member)?;
    }
    let ends = match expires_at {
        Some(text) => day("expires_at", &text)?,
        None => member.expires_at,
    };
    let id = member.id;
    let member = call.world.members.get_mut(id).ok_or_else(Rejection::record_not_found)?;
    (member.level, member.expires_at) = (level, ends);
    ok(show(call, find(call.world, manager.place, user)?))
}

/// Removes a member; `manager` is `None` for users who leave by themselves.
fn remove(call: &mut WriteCall, manager: Option<Manager>, place: Scope, user: u64) -> Outcome<NoContent> {
    let member = find(call.world, place, user)?;
    if manager.is_some_and(|manager| member.level > manager.level) {
        return Err(Rejection::forbidden());
    }
    check_owners(call.world, member)?;
    let id = member.id;
    call.world.members.remove(id);
    ok(NoContent)
}

/// Removes the memberships that have expired by `now`. Returns the time when the next one expires.
pub fn remove_expired(world: &mut World, now: Timestamp) -> Option<Timestamp> {
    let ends = |member: &records::Member| member.expires_at?.to_zoned(TimeZone::UTC).ok().map(|day| day.timestamp());
    world.members.remove_where(|member| ends(member).is_some_and(|at| at <= now));
    world.members.iter().filter_map(ends).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn membership_expires_at_the_start_of_its_day() {
        let mut world = World::default();
        for day in ["2026-11-20", "2026-11-21"] {
            let expires_at = Some(day.parse().unwrap());
            world.members.add(records::Member { expires_at, ..records::Member::default() });
        }
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        assert_eq!(remove_expired(&mut world, at("2026-11-19T23:59:59Z")), Some(at("2026-11-20T00:00:00Z")));
        assert_eq!(world.members.iter().count(), 2);
        assert_eq!(remove_expired(&mut world, at("2026-11-20T00:00:00Z")), Some(at("2026-11-21T00:00:00Z")));
        assert_eq!(world.members.iter().count(), 1);
    }
}
