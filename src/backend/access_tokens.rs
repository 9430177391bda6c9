//! Access tokens of projects: each acts as a user of its own, who is a member of the project.

use super::auth::access_token;
use super::call::{Answer, Call, Outcome, ReadCall, WriteCall, ok};
use super::milestones::day;
use super::mount::Mount;
use super::presenters::time;
use super::records::{Member, Project, Scope, Token, User, level};
use super::rejection::Rejection;
use super::world::World;
use crate::api::identity::AccessToken;
use crate::api::types::Specified;
use crate::api::{Id, NoContent};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::ops::Deref;

/// The scopes that a token can have.
const SCOPES: &[&str] = &[
    "api",
    "read_api",
    "read_repository",
    "write_repository",
    "read_registry",
    "write_registry",
    "create_runner",
    "manage_runner",
    "ai_features",
    "k8s_proxy",
    "self_rotate",
];
/// The levels that a token can have.
const LEVELS: &[u8] = &[level::GUEST, 15, level::REPORTER, level::DEVELOPER, level::MAINTAINER, level::OWNER];

pub fn mount(mount: Mount) -> Mount {
    mount
        .read_signed_in::<ListProjectTokens>(list)
        .read_signed_in::<GetProjectToken>(get)
        .write::<CreateProjectToken>(create)
        .write::<RotateProjectToken>(rotate)
        .write::<DeleteProjectToken>(delete)
}

/// An access token of a project.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ProjectToken {
    #[serde(flatten)]
    token: AccessToken,
    access_level: u64,
    /// The secret; only in the reply that creates it.
    #[serde(rename = "token", skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
}

impl Specified for ProjectToken {}

crate::endpoints! {
    unspecified section "Project access tokens";

    /// Lists the access tokens of a project.
    GET "/projects/{id}/access_tokens" => Vec<ProjectToken>;
    struct ListProjectTokens { id: Id }

    /// Gets an access token of a project.
    GET "/projects/{id}/access_tokens/{token_id}" => ProjectToken;
    struct GetProjectToken { id: Id, token_id: u64 }

    /// Creates an access token, and the user that it acts as.
    POST "/projects/{id}/access_tokens" => ProjectToken;
    struct CreateProjectToken {
        id: Id,
        name: String,
        description: Option<String>,
        scopes: Vec<String>,
        /// The level of its user (default: maintainer).
        access_level: Option<u64>,
        /// The date on which it expires (default: in 365 days).
        expires_at: Option<String>,
    }

    /// Replaces the secret of an access token (since 16.0).
    POST "/projects/{id}/access_tokens/{token_id}/rotate" => ProjectToken;
    struct RotateProjectToken {
        id: Id,
        token_id: u64,
        /// The date on which it expires (default: in a week).
        expires_at: Option<String>,
    }

    /// Revokes an access token, and removes its user from the project.
    DELETE "/projects/{id}/access_tokens/{token_id}" => NoContent;
    struct DeleteProjectToken { id: Id, token_id: u64 }
}

/// Returns an access token of a project.
fn find<W: Deref<Target = World>>(call: &Call<W>, project: u64, id: u64) -> Result<&Token, Rejection> {
    let found = call.world.tokens.get(id).filter(|token| token.project == Some(project));
    let what = format!("Could not find project access token with token_id: {id}");
    found.ok_or_else(|| Rejection::not_found(&what))
}

/// Returns a token without its secret.
pub fn show_token<W: Deref<Target = World>>(call: &Call<W>, token: &Token) -> AccessToken {
    let is_own = call.rights.token == Some(token.id);
    AccessToken {
        id: token.id,
        name: token.name.clone(),
        created_at: Some(time(token.created_at)),
        // Tokens of worlds have no scopes, which means all.
        scopes: if token.scopes.is_empty() { vec!["api".into()] } else { token.scopes.clone() },
        user_id: token.user,
        active: token.expires_at.is_none_or(|at| at > call.now),
        expires_at: token.expires_at.map(|at| at.strftime("%Y-%m-%d").to_string().as_str().into()),
        description: token.description.clone().into(),
        last_used_at: is_own.then(|| time(call.now)).into(),
        ..AccessToken::default()
    }
}

fn show<W: Deref<Target = World>>(call: &Call<W>, token: &Token, secret: Option<String>) -> ProjectToken {
    let place = token.project.map(Scope::Project);
    let member = call.world.members.iter().find(|member| member.user == token.user && Some(member.place) == place);
    ProjectToken {
        token: show_token(call, token),
        access_level: member.map_or(0, |member| member.level.into()),
        secret,
    }
}

fn list(call: &ReadCall, input: ListProjectTokens) -> Outcome<Vec<ProjectToken>> {
    let project = call.project_as(&input.id, level::MAINTAINER)?.id;
    let rows = call.world.tokens.iter().filter(|token| token.project == Some(project)).collect();
    call.page(rows, |token| show(call, token, None))
}

fn get(call: &ReadCall, input: GetProjectToken) -> Outcome<ProjectToken> {
    let project = call.project_as(&input.id, level::MAINTAINER)?.id;
    ok(show(call, find(call, project, input.token_id)?, None))
}

/// Returns the secret of a new token.
pub fn new_secret() -> Result<String, Rejection> {
    access_token().ok_or_else(|| Rejection::internal_error("no random numbers"))
}

/// Returns the time at which a token expires: at the start of a day, by default some days from now.
pub fn expiry(call: &WriteCall, given: Option<&str>, days: i32) -> Result<Option<Timestamp>, Rejection> {
    let today = call.now.to_zoned(TimeZone::UTC).date();
    let date = match day("expires_at", given.unwrap_or_default())? {
        Some(date) if date <= today => {
            return Err(Rejection::bad_request(json!({ "expires_at": ["must be in the future"] })));
        }
        Some(date) => Some(date),
        None => today.checked_add(days.days()).ok(),
    };
    Ok(date.and_then(|date| date.to_zoned(TimeZone::UTC).ok()).map(|at| at.timestamp()))
}

fn create(call: &mut WriteCall, input: CreateProjectToken) -> Outcome<ProjectToken> {
    let project: Project = call.project_as(&input.id, level::MAINTAINER)?.clone();
    if input.name.trim().is_empty() {
        return Err(Rejection::bad_request(json!({ "name": ["can't be blank"] })));
    }
    if input.scopes.is_empty() || input.scopes.iter().any(|scope| !SCOPES.contains(&scope.as_str())) {
        return Err(Rejection::no_valid_value("scopes"));
    }
    let given = input.access_level.unwrap_or(level::MAINTAINER.into());
    let access_level = u8::try_from(given).ok().filter(|level| LEVELS.contains(level));
    let access_level = access_level.ok_or_else(|| Rejection::no_valid_value("access_level"))?;
    if access_level > call.rights.level(call.world, &project) {
        return Err(Rejection::bad_request(
            "400 Bad request - Access level of the token can't be greater than your own",
        ));
    }
    let (expires_at, secret) = (expiry(call, input.expires_at.as_deref(), 365)?, new_secret()?);
    let name = format!("project_{}_bot_{}", project.id, super::auth::secret().unwrap_or_default());
    let now = call.now;
    let user = call.world.add_user(User {
        name: input.name.clone(),
        email: format!("{name}@noreply.localhost"),
        username: name,
        created_at: now,
        updated_at: now,
        confirmed_at: Some(now),
        ..User::default()
    });
    let place = Scope::Project(project.id);
    call.world.members.add(Member { place, user, level: access_level, created_at: now, ..Member::default() });
    let id = call.world.tokens.add(Token {
        user,
        project: Some(project.id),
        name: input.name,
        description: input.description,
        secret: secret.clone(),
        scopes: input.scopes,
        created_at: now,
        expires_at,
        ..Token::default()
    });
    ok(show(call, find(call, project.id, id)?, Some(secret)))
}

fn rotate(call: &mut WriteCall, input: RotateProjectToken) -> Outcome<ProjectToken> {
    let project = call.project_as(&input.id, level::MAINTAINER)?;
    let own = call.rights.level(call.world, project);
    let (project, id) = (project.id, find(call, project.id, input.token_id)?.id);
    // Nobody gets the rights of a higher level by the new secret.
    if show(call, find(call, project, id)?, None).access_level > own.into() {
        return Err(Rejection::forbidden());
    }
    let (expires_at, secret, now) = (expiry(call, input.expires_at.as_deref(), 7)?, new_secret()?, call.now);
    let mut token = call.world.tokens.remove(id).ok_or_else(Rejection::record_not_found)?;
    token.id = 0;
    token.secret.clone_from(&secret);
    (token.expires_at, token.created_at) = (expires_at, now);
    let id = call.world.tokens.add(token);
    Ok(Answer::new(show(call, find(call, project, id)?, Some(secret))).status(200))
}

fn delete(call: &mut WriteCall, input: DeleteProjectToken) -> Outcome<NoContent> {
    let project = call.project_as(&input.id, level::MAINTAINER)?.id;
    let token = find(call, project, input.token_id)?;
    let (id, user) = (token.id, token.user);
    call.world.tokens.remove(id);
    call.world.members.remove_where(|member| member.user == user && member.place == Scope::Project(project));
    if let Some(user) = call.world.users.get_mut(user) {
        user.blocked = true;
    }
    ok(NoContent)
}
