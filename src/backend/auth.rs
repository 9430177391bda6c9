//! Authentication of callers, and their permissions.
//!
//! Objects that a caller may not see do not exist for them (404); changes to objects they can see but not change are
//! forbidden (403).

use super::params::Inputs;
use super::records::{
    Group, Issue, Job, Namespace, Note, Noteable, Project, ProtectedBranch, Scope, Snippet, Status, Token, Visibility,
    level,
};
use super::rejection::Rejection;
use super::world::World;
use api::permissions;
use axum::http::HeaderMap;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use git2::{ObjectType, Oid};
use jiff::Timestamp;
use rustls::crypto::ring;
use serde_json::Value;
use std::collections::BTreeMap;

/// The identity and memberships of a caller, computed once per request.
#[derive(Clone, Debug, Default)]
pub struct Rights {
    /// The ID of the user; `None` if not signed in.
    pub user: Option<u64>,
    /// The ID of the request's access token; `None` for a job token.
    pub token: Option<u64>,
    /// The ID of the running job whose token the request has.
    pub job: Option<u64>,
    pub admin: bool,
    /// Whether the user sees only public projects and groups and those they are a member of.
    external: bool,
    groups: BTreeMap<u64, u8>,
    projects: BTreeMap<u64, u8>,
}

/// The refusal of a blocked user.
pub const BLOCKED: &str = "Your account has been blocked.";

/// The scope of a token that has permissions instead.
pub const FINE_GRAINED: &str = "granular";

/// Names of the query parameters that carry a token.
pub const TOKEN_PARAMETERS: [&str; 4] = ["private_token", "access_token", "job_token", "job-token"];

/// The callers and the kinds of tokens that a route accepts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Access {
    pub caller: Caller,
    /// Whether the token of a running job is accepted, too.
    pub job_tokens: bool,
    /// The permission that a fine-grained token needs.
    pub permission: Option<permissions::Row>,
}

/// The caller that a route requires.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Caller {
    /// An unidentified caller: credentials are ignored, and the form proves who is calling.
    Unidentified,
    /// A git client. The password of its basic credentials is a token, whose scopes the handler checks.
    GitClient,
    /// Anyone. A token is not required, but it must be valid and allow reading.
    Anyone,
    /// A signed-in caller, whatever the scopes of the token.
    AnyScope,
    /// A signed-in caller whose token allows reading.
    Reader,
    /// A signed-in caller whose token allows writing.
    Writer,
}

impl Access {
    /// Returns access without tokens of jobs.
    pub const fn of(caller: Caller) -> Access {
        Access { caller, job_tokens: false, permission: None }
    }

    /// Returns access for tokens of jobs, too.
    pub const fn and_jobs(self) -> Access {
        Access { job_tokens: true, ..self }
    }

    /// Returns whether the caller must be signed in.
    pub fn needs_user(self) -> bool {
        matches!(self.caller, Caller::AnyScope | Caller::Reader | Caller::Writer)
    }

    /// Checks the expiry and the scopes of a token.
    fn check(self, token: &Token, now: Timestamp) -> Result<(), Rejection> {
        if token.expires_at.is_some_and(|at| at <= now) {
            return Err(Rejection::expired());
        }
        if token.is_fine_grained() {
            return self.check_permission(token);
        }
        let required = match self.caller {
            Caller::Unidentified | Caller::AnyScope | Caller::GitClient => return Ok(()),
            Caller::Anyone | Caller::Reader => "read_api",
            Caller::Writer => "api",
        };
        match token.covers(required) {
            true => Ok(()),
            false => Err(Rejection::insufficient_scope(if required == "api" { "api" } else { "api read_api" })),
        }
    }
}

impl Access {
    /// Checks the permissions of a fine-grained token.
    fn check_permission(self, token: &Token) -> Result<(), Rejection> {
        match self.permission {
            _ if matches!(self.caller, Caller::Unidentified) => Ok(()),
            Some(row) if token.permissions.contains(&permissions::identifier(row.permission)) => Ok(()),
            Some(row) => Err(Rejection::insufficient_permission(row)),
            None => Err(Rejection::forbidden_because("fine-grained tokens cannot be used here")),
        }
    }
}

impl Token {
    /// Returns whether the token has permissions instead of scopes.
    pub fn is_fine_grained(&self) -> bool {
        self.scopes.iter().any(|scope| scope == FINE_GRAINED)
    }

    /// Returns whether the scopes of the token include `scope`.
    pub fn covers(&self, scope: &str) -> bool {
        let has = |scope: &str| self.scopes.iter().any(|known| known == scope);
        match scope {
            _ if self.scopes.is_empty() => true,
            "read_api" => has("api") || has("read_api"),
            "read_user" => has("api") || has("read_api") || has("read_user"),
            "write_repository" => has("api") || has("write_repository"),
            "read_repository" => has("api") || has("write_repository") || has("read_repository"),
            scope => has(scope),
        }
    }
}

/// Returns the token of a job, which is valid while the job runs. It is not stored: it is derived from the job and a
/// secret of the server.
pub fn job_token(world: &World, job: u64) -> Option<String> {
    let root = world.tokens.iter().find(|token| world.users.get(token.user).is_some_and(|user| user.admin))?;
    let text = format!("job {job} of {}", root.secret);
    Oid::hash_object(ObjectType::Blob, text.as_bytes()).ok().map(|id| id.to_string())
}

/// Finds the caller of a request by its token, and checks the token; for a job token, the caller is the user who started
/// the job. The caller of a request without a token is nobody, whether or not the route requires one: the token may be
/// in a body that has not been read.
///
/// # Errors
/// Fails with 401 for an unknown or expired token (even for public resources), 403 for a blocked user and for
/// insufficient scopes, and 403 or 404 for an invalid `sudo`.
pub fn authenticate(
    world: &World,
    headers: &HeaderMap,
    inputs: &Inputs,
    access: Access,
    now: Timestamp,
) -> Result<Rights, Rejection> {
    match access.caller {
        Caller::Unidentified => return Ok(Rights::default()),
        Caller::GitClient => return of_git_client(world, headers, now),
        _ => {}
    }
    // A header that is not valid text becomes a token that nobody has.
    let header = |name: &str| headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let input = |name: &str| match inputs.get(name) {
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    };
    let places = [header("private-token"), input("private_token"), bearer(headers), input("access_token")];
    let Some(secret) = places.into_iter().flatten().find(|secret| !secret.is_empty()) else {
        let secret = header("job-token").or_else(|| input("job_token")).or_else(|| input("job-token"));
        return match secret.filter(|secret| !secret.is_empty() && access.job_tokens) {
            Some(secret) => of_job(world, &secret),
            None => Ok(Rights::default()),
        };
    };
    let token = find_token(world, &secret).ok_or_else(Rejection::unauthorized)?;
    let user = world.users.get(token.user).ok_or_else(Rejection::unauthorized)?;
    if user.blocked {
        return Err(Rejection::forbidden_because(BLOCKED));
    }
    access.check(token, now)?;
    let Some(sudo) = header("sudo").or_else(|| input("sudo")).filter(|who| !who.is_empty()) else {
        return Ok(Rights { token: Some(token.id), ..Rights::of(world, user.id) });
    };
    if !user.admin {
        return Err(Rejection::forbidden_because("Must be admin to use sudo"));
    }
    if !token.covers("sudo") {
        return Err(Rejection::insufficient_scope("sudo"));
    }
    let other = match sudo.parse() {
        Ok(id) => world.users.get(id),
        Err(_) => world.user_named(&sudo),
    };
    match other {
        Some(other) => Ok(Rights { token: Some(token.id), ..Rights::of(world, other.id) }),
        None => Err(Rejection::not_found(&format!("User with ID or username '{sudo}'"))),
    }
}

/// Finds the caller of a git client by the password of its basic credentials: an access token, whatever the username is,
/// or the token of a running job.
///
/// # Errors
/// Fails with 401 for any other password.
fn of_git_client(world: &World, headers: &HeaderMap, now: Timestamp) -> Result<Rights, Rejection> {
    let Some(value) = headers.get("authorization") else { return Ok(Rights::default()) };
    let denied = || Rejection::message(401, GIT_ACCESS_DENIED);
    let secret = basic_password(value.as_bytes()).filter(|secret| !secret.is_empty()).ok_or_else(denied)?;
    let Some(token) = find_token(world, &secret) else { return of_job(world, &secret).map_err(|_| denied()) };
    let is_valid = token.expires_at.is_none_or(|at| at > now);
    let user = world.users.get(token.user).filter(|user| is_valid && !user.blocked).ok_or_else(denied)?;
    Ok(Rights { token: Some(token.id), ..Rights::of(world, user.id) })
}

/// The text for a git client whose credentials are missing or invalid.
pub const GIT_ACCESS_DENIED: &str = "HTTP Basic: Access denied. Use an access token as the password. If a token was \
                                     provided, it was either incorrect, expired, or improperly scoped.";

/// Returns the password of basic credentials.
fn basic_password(value: &[u8]) -> Option<String> {
    let (scheme, encoded) = std::str::from_utf8(value).ok()?.split_once(' ')?;
    let decoded = STANDARD.decode(encoded.trim()).ok().filter(|_| scheme.eq_ignore_ascii_case("basic"))?;
    Some(String::from_utf8(decoded).ok()?.split_once(':')?.1.to_owned())
}

pub fn find_token<'w>(world: &'w World, secret: &str) -> Option<&'w Token> {
    world.tokens.iter().find(|token| !secret.is_empty() && constant_time_eq(&token.secret, secret))
}

/// Returns the bearer token of the `Authorization` header.
fn bearer(headers: &HeaderMap) -> Option<String> {
    let value = String::from_utf8_lossy(headers.get("authorization")?.as_bytes()).into_owned();
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim().to_owned())
}

/// Finds the caller of a request by the token of a running job.
///
/// # Errors
/// Fails with 401 for any other token.
pub fn of_job(world: &World, secret: &str) -> Result<Rights, Rejection> {
    let mut running = world.jobs.iter().filter(|job| job.status == Status::Running);
    let is_it = |job: &&Job| job_token(world, job.id).is_some_and(|token| constant_time_eq(&token, secret));
    let job = running.find(is_it).ok_or_else(Rejection::unauthorized)?;
    let user = job.user.and_then(|user| world.users.get(user));
    let user = user.filter(|user| !user.blocked).ok_or_else(Rejection::unauthorized)?;
    // A job has the permissions of its user, except those of an administrator.
    Ok(Rights { admin: false, job: Some(job.id), ..Rights::of(world, user.id) })
}

/// Compares secrets in constant time.
pub fn constant_time_eq(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |unlike, (x, y)| unlike | (x ^ y)) == 0
}

impl Rights {
    /// Returns the permissions of `user`.
    pub fn of(world: &World, user: u64) -> Rights {
        let mut rights = Rights { user: Some(user), ..Rights::default() };
        if let Some(user) = world.users.get(user) {
            rights.admin = user.admin;
            rights.external = user.external;
        }
        for member in world.members.iter().filter(|member| member.user == user) {
            let (levels, id) = match member.place {
                Scope::Group(id) => (&mut rights.groups, id),
                Scope::Project(id) => (&mut rights.projects, id),
            };
            let level = levels.entry(id).or_default();
            *level = (*level).max(member.level);
        }
        rights
    }

    /// Returns the access level by membership of the group or one of its ancestors; 0 for none.
    pub fn in_group(&self, world: &World, group: u64) -> u8 {
        if self.groups.is_empty() {
            return 0;
        }
        let levels = world.group_chain(group).into_iter().filter_map(|group| self.groups.get(&group.id));
        levels.copied().max().unwrap_or(0)
    }

    /// Returns the access level by direct membership of the project; 0 for none.
    pub fn directly_in(&self, project: &Project) -> u8 {
        let owns = matches!(project.namespace, Namespace::User(owner) if Some(owner) == self.user);
        let own = if owns { level::OWNER } else { 0 };
        own.max(self.projects.get(&project.id).copied().unwrap_or(0))
    }

    /// Returns the highest access level by membership of the project, its groups, and groups that it is shared with.
    pub fn in_project(&self, world: &World, project: &Project) -> u8 {
        let by_group = match project.namespace {
            Namespace::Group(group) => self.in_group(world, group),
            Namespace::User(_) => 0,
        };
        let shared = project.shared_with.iter().map(|share| self.in_group(world, share.group).min(share.level));
        self.directly_in(project).max(by_group).max(shared.max().unwrap_or(0))
    }

    /// Returns the effective access level in a project: administrators are owners of everything.
    pub fn level(&self, world: &World, project: &Project) -> u8 {
        if self.admin { level::OWNER } else { self.in_project(world, project) }
    }

    /// Returns whether the caller may push to a branch: protected branches require maintainers, unless configured
    /// otherwise.
    pub fn can_push_to(&self, world: &World, project: &Project, branch: &str) -> bool {
        self.may_change_branch(world, project, branch, ProtectedBranch::push_level)
    }

    /// Returns whether the caller may merge into a branch: everyone who may push to it may also merge.
    pub fn can_merge_into(&self, world: &World, project: &Project, branch: &str) -> bool {
        self.may_change_branch(world, project, branch, ProtectedBranch::merge_level)
            || self.can_push_to(world, project, branch)
    }

    /// Returns whether a rule for a branch grants access at the caller's level; a level of 0 in a rule means no one.
    fn may_change_branch(
        &self,
        world: &World,
        project: &Project,
        branch: &str,
        level_of: impl Fn(&ProtectedBranch) -> u8,
    ) -> bool {
        let own = self.level(world, project);
        let may = match project.is_protected(branch) {
            true => project.protection(branch).map(level_of).any(|least| least > 0 && own >= least),
            false => own >= level::DEVELOPER,
        };
        may && !project.archived
    }

    /// Returns whether the caller, who is a developer at least, may create a tag: protected ones require the level of a
    /// rule.
    pub fn can_create_tag(&self, world: &World, project: &Project, tag: &str) -> bool {
        let own = self.level(world, project);
        let mut levels = project.tag_protection(tag).map(|rule| rule.create_level);
        !project.is_tag_protected(tag) || levels.any(|least| least > 0 && own >= least)
    }

    /// Returns the effective access level in a group.
    pub fn group_level(&self, world: &World, group: u64) -> u8 {
        if self.admin { level::OWNER } else { self.in_group(world, group) }
    }

    fn can_see(&self, visibility: Visibility) -> bool {
        match visibility {
            Visibility::Public => true,
            Visibility::Internal => self.user.is_some() && !self.external,
            Visibility::Private => false,
        }
    }

    pub fn can_see_project(&self, world: &World, project: &Project) -> bool {
        self.admin || self.can_see(project.visibility) || self.in_project(world, project) > 0
    }

    /// Returns whether the caller may read a project's code: guests of a private project may not.
    pub fn can_read_code(&self, world: &World, project: &Project) -> bool {
        self.admin || self.can_see(project.visibility) || self.in_project(world, project) >= level::REPORTER
    }

    /// Returns whether the caller can see a group: members of the group or of a project or group inside it can.
    pub fn can_see_group(&self, world: &World, group: &Group) -> bool {
        let inside = |id: u64| world.group_chain(id).iter().any(|above| above.id == group.id);
        self.admin
            || self.can_see(group.visibility)
            || self.in_group(world, group.id) > 0
            || self.groups.keys().any(|id| inside(*id))
            || self.projects.keys().filter_map(|id| world.projects.get(*id)).any(|project| match project.namespace {
                Namespace::Group(id) => inside(id),
                Namespace::User(_) => false,
            })
    }

    /// Returns whether the caller may read an issue of a project that they can see: confidential issues are for the
    /// author, the assignees and members (reporters and up).
    pub fn can_read_issue(&self, world: &World, issue: &Issue) -> bool {
        let level = || world.projects.get(issue.project).map_or(0, |project| self.level(world, project));
        !issue.confidential
            || self.user.is_some_and(|user| issue.author == user || issue.assignees.contains(&user))
            || level() >= level::REPORTER
    }

    /// Returns whether the caller may read a note on an object that they can see: internal ones are for members (planners
    /// and up), the author and the assignees of the object (GitLab, `app/policies/note_policy.rb`).
    pub fn can_read_note(&self, world: &World, note: &Note) -> bool {
        let concerns = || match note.on {
            Noteable::Issue(id) => {
                world.issues.get(id).is_some_and(|issue| self.is_one_of(issue.author, issue.assignees.iter().copied()))
            }
            Noteable::MergeRequest(id) => {
                world.merge_requests.get(id).is_some_and(|mr| self.is_one_of(mr.author, mr.assignees()))
            }
            Noteable::Epic(id) => world.epics.get(id).is_some_and(|epic| self.user == Some(epic.author)),
            Noteable::Snippet(_) => true,
        };
        !note.internal || concerns() || self.level_on(world, note.on) >= level::PLANNER
    }

    fn is_one_of(&self, author: u64, mut assignees: impl Iterator<Item = u64>) -> bool {
        self.user.is_some_and(|user| author == user || assignees.any(|id| id == user))
    }

    /// Returns the access level in the project or group of an object.
    fn level_on(&self, world: &World, on: Noteable) -> u8 {
        match (world.project_of(on), world.group_of(on)) {
            (Some(project), _) => self.level(world, project),
            (None, Some(group)) => self.group_level(world, group),
            (None, None) => 0,
        }
    }

    /// Returns whether the caller can see a snippet that belongs to no project.
    pub fn can_see_personal_snippet(&self, snippet: &Snippet) -> bool {
        self.can_see(snippet.visibility) || self.user == Some(snippet.author) || self.admin
    }

    /// Returns whether the caller can see a snippet of a project that they can see: private snippets are for the author
    /// (and administrators) only.
    pub fn can_see_snippet(&self, world: &World, project: &Project, snippet: &Snippet) -> bool {
        let is_member = || snippet.visibility != Visibility::Private && self.in_project(world, project) > 0;
        self.can_see(snippet.visibility) || self.user == Some(snippet.author) || self.admin || is_member()
    }
}

/// Returns 160 random bits in hexadecimal; `None` if the system has no random numbers.
pub fn secret() -> Option<String> {
    Some(random()?.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Returns a personal access token in the form of current servers, with 120 random bits; `None` if the system has no random
/// numbers.
pub fn access_token() -> Option<String> {
    let text = URL_SAFE_NO_PAD.encode(random()?);
    Some(format!("glpat-{}", text.get(..20)?))
}

fn random() -> Option<[u8; 20]> {
    let mut bytes = [0; 20];
    ring::default_provider().secure_random.fill(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{Member, Share, User};

    fn world() -> World {
        let mut world = World::default();
        for (name, admin, blocked) in [("root", true, false), ("ada", false, false), ("eve", false, true)] {
            let user = world.add_user(User { username: name.into(), admin, blocked, ..User::default() });
            world.tokens.add(Token { user, secret: format!("{name}-token"), ..Token::default() });
        }
        let top = world.groups.add(Group { path: "top".into(), ..Group::default() });
        let sub = world.groups.add(Group { path: "sub".into(), parent: Some(top), ..Group::default() });
        world.members.add(Member { place: Scope::Group(top), user: 2, level: level::DEVELOPER, ..Member::default() });
        world.projects.add(Project { namespace: Namespace::Group(sub), ..Project::default() });
        let share = Share { group: top, level: level::GUEST };
        world.projects.add(Project { namespace: Namespace::User(1), shared_with: vec![share], ..Project::default() });
        world.projects.add(Project { namespace: Namespace::User(1), ..Project::default() });
        world
    }

    fn caller(headers: &[(&'static str, &str)]) -> Result<Rights, Rejection> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        authenticate(&world(), &map, &Inputs::new(), Access::of(Caller::Anyone), Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn tokens_are_accepted_in_every_form_and_unknown_ones_rejected() {
        assert_eq!(caller(&[("private-token", "ada-token")]).unwrap().user, Some(2));
        assert_eq!(caller(&[("authorization", "Bearer ada-token")]).unwrap().user, Some(2));
        assert_eq!(caller(&[]).unwrap().user, None);
        assert_eq!(caller(&[("private-token", "nobody")]).unwrap_err().status, 401);
        assert_eq!(caller(&[("private-token", "eve-token")]).unwrap_err().status, 403);
    }

    #[test]
    fn only_administrators_can_use_sudo() {
        let sudo = |token, who| caller(&[("private-token", token), ("sudo", who)]);
        assert_eq!(sudo("root-token", "ada").unwrap().user, Some(2));
        assert_eq!(sudo("root-token", "2").unwrap().user, Some(2));
        assert_eq!(sudo("ada-token", "root").unwrap_err().status, 403);
        assert_eq!(
            sudo("root-token", "nobody").unwrap_err().body["message"],
            "404 User with ID or username 'nobody' Not Found"
        );
    }

    #[test]
    fn membership_is_inherited_and_shared() {
        let world = world();
        let ada = Rights::of(&world, 2);
        let level = |id| ada.level(&world, world.projects.get(id).unwrap());
        assert_eq!(level(1), level::DEVELOPER);
        assert_eq!(level(2), level::GUEST);
        assert_eq!(level(3), 0);
        assert!(!ada.can_read_code(&world, world.projects.get(2).unwrap()));
        assert!(!ada.can_see_project(&world, world.projects.get(3).unwrap()));
        assert!(Rights::of(&world, 1).can_see_project(&world, world.projects.get(1).unwrap()));
    }
}
