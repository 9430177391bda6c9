//! Users, groups, and the members of projects and groups in the model.

use super::*;

/// Path components of groups.
const GROUPS: &[&str] = &["alpha", "beta", "gamma"];
const LEVELS: &[u8] = &[GUEST, REPORTER, DEVELOPER, MAINTAINER, OWNER];

#[derive(Clone)]
pub struct Group {
    path: &'static str,
    parent: Option<u64>,
    visibility: &'static str,
    members: Members,
}

/// A project or a group, which have members.
#[derive(Clone, Copy, PartialEq)]
pub enum Place {
    Project(usize),
    Group(u64),
}

/// Returns the ID of a user: users are created in this order.
fn id_of(who: &str) -> usize {
    PEOPLE.iter().position(|name| *name == who).unwrap_or(PEOPLE.len()) + 1
}

fn rank(visibility: &str) -> Option<usize> {
    VISIBILITIES.iter().position(|other| *other == visibility)
}

impl Model {
    /// Returns a group and its ancestors.
    fn chain(&self, group: u64) -> Vec<&Group> {
        let mut next = Some(group);
        std::iter::from_fn(|| {
            let group = self.groups.get(&next?)?;
            next = group.parent;
            Some(group)
        })
        .collect()
    }

    fn is_inside(&self, group: u64, above: u64) -> bool {
        let mut next = Some(group);
        while let Some(id) = next {
            if id == above {
                return true;
            }
            next = self.groups.get(&id).and_then(|group| group.parent);
        }
        false
    }

    fn group_path(&self, group: u64) -> String {
        let mut parts: Vec<&str> = self.chain(group).iter().map(|group| group.path).collect();
        parts.reverse();
        parts.join("%2F")
    }

    /// Returns the role of a user in a group, direct or inherited.
    pub fn group_level(&self, who: &str, group: u64) -> u8 {
        let levels = self.chain(group).into_iter().filter_map(|group| group.members.get(who).copied());
        if who == "root" { OWNER } else { levels.max().unwrap_or(0) }
    }

    fn sees_group(&self, who: &str, group: u64) -> bool {
        let is_in_one_below =
            self.groups.iter().any(|(id, below)| below.members.contains_key(who) && self.is_inside(*id, group));
        let is_in_a_project = self.projects.iter().any(|project| match project.namespace {
            Namespace::Group(id) => {
                !project.is_deleted && project.members.contains_key(who) && self.is_inside(id, group)
            }
            Namespace::User(_) => false,
        });
        let visibility = self.groups.get(&group).map_or("private", |group| group.visibility);
        is_open_to(who, visibility) || self.group_level(who, group) > 0 || is_in_one_below || is_in_a_project
    }

    fn members(&mut self, place: Place) -> Option<&mut Members> {
        match place {
            Place::Project(project) => Some(&mut self.projects[project].members),
            Place::Group(group) => self.groups.get_mut(&group).map(|group| &mut group.members),
        }
    }

    /// Returns a call on the members of a project or a group.
    pub fn on_members(&self, step: Step, place: Place) -> Option<Call> {
        let Step { who, what, b, .. } = step;
        let (at, sees, own, least, members, owner) = match place {
            Place::Project(id) => {
                let project = &self.projects[id];
                let owner = match project.namespace {
                    Namespace::User(owner) => Some(owner),
                    Namespace::Group(_) => None,
                };
                let at = format!("/projects/{}", project.path);
                (at, self.sees(who, id), self.level(who, id), MAINTAINER, &project.members, owner)
            }
            Place::Group(id) => {
                let (sees, level) = (self.sees_group(who, id), self.group_level(who, id));
                (format!("/groups/{id}"), sees, level, OWNER, &self.groups.get(&id)?.members, None)
            }
        };
        let person = PEOPLE[b % 5];
        let level = LEVELS[b / 5 % LEVELS.len()];
        let held = members.get(person).copied();
        // A group always has an owner, direct or inherited.
        let is_last_owner = || match place {
            Place::Project(_) => false,
            Place::Group(group) => {
                let others = self.chain(group).into_iter().flat_map(|group| &group.members);
                let others = others.filter(|(name, level)| **name != person && **level >= OWNER).count();
                held == Some(OWNER) && others == 0
            }
        };
        let rights = [("user_id", id_of(person).to_string()), ("access_level", level.to_string())];
        let form: Vec<(&'static str, &str)> = rights.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let one = format!("{at}/members/{}", id_of(person));
        let set = move |model: &mut Model, _: &Value| {
            model.members(place).map(|members| members.insert(person, level));
            Ok(())
        };
        let call = match what {
            ListMembers | ListGroupMembers => {
                let names = members.keys().copied().chain(owner).map(str::to_owned);
                Call::read(format!("{at}/members?per_page=100")).listing("username", names)
            }
            AddMember | AddGroupMember => {
                let call = Call::write(Method::POST, format!("{at}/members"), &form).then(set);
                match () {
                    () if own < least || level > own => call.refused(403),
                    () if self.deleted.contains(person) => call.refused(404),
                    () if owner == Some(person) || held.is_some() => call.refused(409),
                    () => call,
                }
            }
            ChangeMember | ChangeGroupMember => {
                let call = Call::write(Method::PUT, one, &form[1..]).then(set);
                match held {
                    _ if own < least || level > own => call.refused(403),
                    None => call.refused(404),
                    Some(held) if held > own || level < OWNER && is_last_owner() => call.refused(403),
                    Some(_) => call,
                }
            }
            _ => {
                let call = Call::write(Method::DELETE, one, &[]).then(move |model, _| {
                    model.members(place).map(|members| members.remove(person));
                    Ok(())
                });
                match held {
                    _ if own < least && person != who => call.refused(403),
                    None => call.refused(404),
                    Some(_) if is_last_owner() => call.refused(403),
                    Some(_) => call,
                }
            }
        };
        Some(if sees { call } else { call.refused(404) })
    }

    /// Returns a call that creates or lists groups.
    pub fn of_groups(&self, step: Step) -> Option<Call> {
        let Step { who, what, a, b } = step;
        if what == ListGroups {
            let ids = self.groups.keys().filter(|id| self.sees_group(who, **id)).map(u64::to_string);
            return Some(Call::read("/groups?per_page=100&all_available=true".into()).listing("id", ids));
        }
        let parent = choose(self.groups.iter(), b).map(|(id, _)| *id).filter(|_| b % 2 == 0);
        let (path, visibility) = (GROUPS[a % GROUPS.len()], VISIBILITIES[b / 2 % 3]);
        let above = parent.map(|parent| parent.to_string());
        let mut form = vec![("name", path), ("path", path), ("visibility", visibility)];
        form.extend(above.as_deref().map(|parent| ("parent_id", parent)));
        let call = Call::write(Method::POST, "/groups".into(), &form).then(move |model, answer| {
            let members = Members::from([(who, OWNER)]);
            model.groups.insert(number(answer, "id")?, Group { path, parent, visibility, members });
            Ok(())
        });
        let is_taken = self.groups.values().any(|group| (group.parent, group.path) == (parent, path));
        Some(match parent {
            Some(parent) if !self.sees_group(who, parent) => call.refused(404),
            Some(parent) if self.group_level(who, parent) < OWNER => call.refused(403),
            // External users cannot create top-level groups.
            None if who == "eve" => call.refused(403),
            _ if is_taken || self.is_more_open(visibility, parent) => call.refused(400),
            _ => call,
        })
    }

    /// Returns whether a visibility is more open than that of the parent group.
    fn is_more_open(&self, visibility: &str, parent: Option<u64>) -> bool {
        let parent = parent.and_then(|parent| self.groups.get(&parent));
        parent.is_some_and(|parent| rank(visibility) > rank(parent.visibility))
    }

    /// Returns a call on one group.
    pub fn on_group(&self, step: Step) -> Option<Call> {
        let Step { who, what, a, b } = step;
        let (id, group) = choose(self.groups.iter(), a)?;
        let id = *id;
        let at = format!("/groups/{id}");
        let visibility = VISIBILITIES[b % 3];
        let (sees, level) = (self.sees_group(who, id), self.group_level(who, id));
        let call = match what {
            GetGroup => return Some(if sees { Call::read(at) } else { Call::read(at).refused(404) }),
            CreateProjectInGroup => {
                // Users who cannot create projects in a group get the same reply as for a missing group.
                let name = format!("p{}", self.projects.len());
                let path = format!("{}%2F{name}", self.group_path(id));
                let form = [("name", name.as_str()), ("namespace_id", &id.to_string()), ("visibility", visibility)];
                let call = Call::write(Method::POST, "/projects".into(), &form).then(move |model, _| {
                    model.projects.push(Project::new(&path, Namespace::Group(id), visibility, Members::new()));
                    Ok(())
                });
                return Some(if level >= MAINTAINER { call } else { call.refused(400) });
            }
            SetGroupVisibility => {
                let call = Call::write(Method::PUT, at, &[("visibility", visibility)]).then(move |model, _| {
                    if let Some(group) = model.groups.get_mut(&id) {
                        group.visibility = visibility;
                    }
                    Ok(())
                });
                if level >= OWNER && self.is_more_open(visibility, group.parent) { call.refused(400) } else { call }
            }
            _ => {
                if b % 3 > 0 {
                    return None;
                }
                Call::write(Method::DELETE, at, &[]).then(move |model, _| {
                    model.delete_group(id);
                    Ok(())
                })
            }
        };
        Some(call.within(sees, level >= OWNER))
    }

    fn delete_group(&mut self, group: u64) {
        let inside = |of: Namespace| matches!(of, Namespace::Group(id) if self.is_inside(id, group));
        let projects: Vec<usize> =
            (0..self.projects.len()).filter(|project| inside(self.projects[*project].namespace)).collect();
        let groups: Vec<u64> = self.groups.keys().copied().filter(|id| self.is_inside(*id, group)).collect();
        projects.into_iter().for_each(|project| self.delete_project(project));
        self.groups.retain(|id, _| !groups.contains(id));
    }

    /// Returns a call on users.
    pub fn on_user(&self, step: Step) -> Option<Call> {
        let Step { who, what, a, b } = step;
        if what == ListUsers {
            let names = PEOPLE.iter().filter(|name| !name.is_empty() && !self.deleted.contains(*name));
            let call = Call::read("/users?per_page=100".into());
            let call = call.listing("username", names.map(|name| (*name).to_owned()));
            return Some(if who.is_empty() { call.refused(403) } else { call });
        }
        let person = PEOPLE[1 + a % 4];
        let at = format!("/users/{}", id_of(person));
        let call = match what {
            DeleteUser if b % 2 == 0 => {
                let is_sole_owner = self.groups.values().any(|group| {
                    let mut owners = group.members.iter().filter(|(_, level)| **level >= OWNER);
                    owners.next().is_some_and(|(name, _)| *name == person) && owners.next().is_none()
                });
                let call = Call::write(Method::DELETE, at, &[]).then(move |model, _| {
                    model.delete_user(person);
                    Ok(())
                });
                if is_sole_owner { call.refused(409) } else { call }
            }
            _ => return None,
        };
        Some(match () {
            () if who != "root" => call.refused(403),
            () if self.deleted.contains(person) => call.refused(404),
            () => call,
        })
    }

    /// Deletes a user with their projects. The ghost user becomes the author of their contributions.
    fn delete_user(&mut self, person: &'static str) {
        self.deleted.insert(person);
        for project in 0..self.projects.len() {
            if self.projects[project].namespace == Namespace::User(person) {
                self.delete_project(project);
            }
            self.projects[project].members.remove(person);
        }
        self.groups.values_mut().for_each(|group| _ = group.members.remove(person));
        self.awards.retain(|_, (_, by)| *by != person);
        let issues = self.issues.iter_mut().map(|issue| &mut issue.author);
        let requests = self.requests.iter_mut().map(|request| &mut request.author);
        let notes = self.notes.values_mut().chain(self.snippets.values_mut()).map(|written| &mut written.author);
        for author in issues.chain(requests).chain(notes).filter(|author| **author == person) {
            *author = GHOST;
        }
    }
}
