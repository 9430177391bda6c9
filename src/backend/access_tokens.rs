//! Access tokens of projects and groups: each acts as a user of its own, who is a member of the project or group.

use super::auth::access_token;
use super::call::{Answer, Call, Outcome, ReadCall, WriteCall, ok};
use super::milestones::day;
use super::mount::Mount;
use super::presenters::time;
use super::records::{self, Member, Token, User, level};
use super::rejection::Rejection;
use super::world::World;
use api::identity::AccessToken;
use api::types::Specified;
use api::{NoContent, Scope};
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
        .read_signed_in::<ListResourceTokens>(list)
        .read_signed_in::<GetResourceToken>(get)
        .write::<CreateResourceToken>(create)
        .write::<RotateResourceToken>(rotate)
        .write::<DeleteResourceToken>(delete)
}

/// An access token of a project or a group.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ResourceToken {
    #[serde(flatten)]
    token: AccessToken,
    access_level: u64,
    /// The kind of its owner, and the ID.
    resource_type: String,
    resource_id: u64,
    /// The secret; only in the reply that creates it.
    #[serde(rename = "token", skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
}

impl Specified for ResourceToken {}

api::endpoints! {
    unspecified section "Access tokens of projects and groups";

    /// Lists the access tokens of a project or a group.
    GET "/access_tokens" of scope: Scope [project, group] => Vec<ResourceToken>;
    struct ListResourceTokens {
        /// `active` or `inactive`.
        state: Option<String>,
        /// A part of the name.
        search: Option<String>,
    }

    /// Gets an access token of a project or a group.
    GET "/access_tokens/{token_id}" of scope: Scope [project, group] => ResourceToken;
    struct GetResourceToken { token_id: u64 }

    /// Creates an access token, and the user that it acts as.
    POST "/access_tokens" of scope: Scope [project, group] => ResourceToken;
    struct CreateResourceToken {
        name: String,
        description: Option<String>,
        scopes: Vec<String>,
        /// The level of its user (default: maintainer).
        access_level: Option<u64>,
        /// The date on which it expires (default: in 365 days).
        expires_at: Option<String>,
    }

    /// Replaces the secret of an access token (since 16.0).
    POST "/access_tokens/{token_id}/rotate" of scope: Scope [project, group] => ResourceToken;
    struct RotateResourceToken {
        token_id: u64,
        /// The date on which it expires (default: in a week).
        expires_at: Option<String>,
    }

    /// Revokes an access token, and removes its user from the project or group.
    DELETE "/access_tokens/{token_id}" of scope: Scope [project, group] => NoContent;
    struct DeleteResourceToken { token_id: u64 }
}

/// Returns the word for a kind of owner.
fn kind(place: records::Scope) -> &'static str {
    match place {
        records::Scope::Project(_) => "project",
        records::Scope::Group(_) => "group",
    }
}

/// Returns the owner and the caller's level in it; `None` instead of the owner if the caller may not manage its tokens:
/// those of projects are for maintainers, those of groups for owners.
fn place<W: Deref<Target = World>>(call: &Call<W>, scope: &Scope) -> Result<(records::Scope, Option<u8>), Rejection> {
    let place = call.scope(scope)?;
    let (level, least) = match place {
        records::Scope::Project(id) => {
            let project = call.world.projects.get(id);
            (project.map_or(0, |project| call.rights.level(&call.world, project)), level::MAINTAINER)
        }
        records::Scope::Group(id) => (call.rights.group_level(&call.world, id), level::OWNER),
    };
    Ok((place, Some(level).filter(|level| *level >= least)))
}

/// Returns the owner if the caller may manage its tokens.
///
/// # Errors
/// Fails with 401 otherwise, as GitLab does.
fn managed<W: Deref<Target = World>>(call: &Call<W>, scope: &Scope) -> Result<records::Scope, Rejection> {
    let (place, level) = place(call, scope)?;
    level.map(|_| place).ok_or_else(Rejection::unauthorized)
}

/// Returns an access token of a project or a group.
fn find<W: Deref<Target = World>>(call: &Call<W>, place: records::Scope, id: u64) -> Result<&Token, Rejection> {
    let found = call.world.tokens.get(id).filter(|token| token.place() == Some(place));
    found.ok_or_else(|| Rejection::not_found(&format!("{} Access Token", kind(place))))
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

fn show<W: Deref<Target = World>>(call: &Call<W>, token: &Token, secret: Option<String>) -> ResourceToken {
    let place = token.place();
    let member = call.world.members.iter().find(|member| member.user == token.user && Some(member.place) == place);
    ResourceToken {
        token: show_token(call, token),
        access_level: member.map_or(0, |member| member.level.into()),
        resource_type: place.map(kind).unwrap_or_default().into(),
        resource_id: token.project.or(token.group).unwrap_or_default(),
        secret,
    }
}

fn list(call: &ReadCall, input: ListResourceTokens) -> Outcome<Vec<ResourceToken>> {
    let place = managed(call, &input.scope)?;
    let is_listed = filter(call, input.state.as_deref(), input.search.as_deref())?;
    let rows = call.world.tokens.iter().filter(|token| token.place() == Some(place) && is_listed(token)).collect();
    call.page(rows, |token| show(call, token, None))
}

/// Returns the filter of lists of tokens by state and name.
pub fn filter(
    call: &ReadCall,
    state: Option<&str>,
    search: Option<&str>,
) -> Result<impl Fn(&Token) -> bool + use<>, Rejection> {
    let is_active = match state {
        None => None,
        Some("active") => Some(true),
        Some("inactive") => Some(false),
        Some(_) => return Err(Rejection::no_valid_value("state")),
    };
    let (words, now) = (search.unwrap_or_default().to_lowercase(), call.now);
    Ok(move |token: &Token| {
        let active = token.expires_at.is_none_or(|at| at > now);
        is_active.is_none_or(|wanted| wanted == active) && token.name.to_lowercase().contains(&words)
    })
}

fn get(call: &ReadCall, input: GetResourceToken) -> Outcome<ResourceToken> {
    let place = managed(call, &input.scope)?;
    ok(show(call, find(call, place, input.token_id)?, None))
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

/// Checks the name of a new token and its scopes.
pub fn check_new(name: &str, scopes: &[String], known: &[&str]) -> Result<(), Rejection> {
    if name.trim().is_empty() {
        return Err(Rejection::bad_request(json!({ "name": ["can't be blank"] })));
    }
    if scopes.is_empty() || scopes.iter().any(|scope| !known.contains(&scope.as_str())) {
        return Err(Rejection::no_valid_value("scopes"));
    }
    Ok(())
}

fn create(call: &mut WriteCall, input: CreateResourceToken) -> Outcome<ResourceToken> {
    let given = input.access_level.unwrap_or(level::MAINTAINER.into());
    let access_level = u8::try_from(given).ok().filter(|level| LEVELS.contains(level));
    let access_level = access_level.ok_or_else(|| Rejection::no_valid_value("access_level"))?;
    check_new(&input.name, &input.scopes, SCOPES)?;
    let (place, own) = place(call, &input.scope)?;
    let refused = |why: &str| Rejection::message(400, format!("400 Bad request - {why}"));
    let own =
        own.ok_or_else(|| refused(&format!("User does not have permission to create {} access token", kind(place))))?;
    if access_level > own {
        return Err(refused("Access level of the token contains permissions not held by the creating user"));
    }
    let (expires_at, secret) = (expiry(call, input.expires_at.as_deref(), 365)?, new_secret()?);
    let (project, group) = match place {
        records::Scope::Project(id) => (Some(id), None),
        records::Scope::Group(id) => (None, Some(id)),
    };
    let owner = project.or(group).unwrap_or_default();
    let name = format!("{}_{owner}_bot_{}", kind(place), super::auth::secret().unwrap_or_default());
    let now = call.now;
    let external = call.require_user()?.external;
    let user = call.world.add_user(User {
        name: input.name.clone(),
        email: format!("{name}@noreply.localhost"),
        username: name,
        created_at: now,
        updated_at: now,
        confirmed_at: Some(now),
        external,
        ..User::default()
    });
    call.world.members.add(Member { place, user, level: access_level, created_at: now, ..Member::default() });
    let id = call.world.tokens.add(Token {
        user,
        project,
        group,
        name: input.name,
        description: input.description,
        secret: secret.clone(),
        scopes: input.scopes,
        created_at: now,
        expires_at,
        ..Token::default()
    });
    ok(show(call, find(call, place, id)?, Some(secret)))
}

fn rotate(call: &mut WriteCall, input: RotateResourceToken) -> Outcome<ResourceToken> {
    let (place, own) = place(call, &input.scope)?;
    // Only administrators are told that a token does not exist.
    let unknown = if call.rights.admin { Rejection::record_not_found() } else { Rejection::unauthorized() };
    let Some(own) = own else { return Err(unknown) };
    let id = find(call, place, input.token_id).map_err(|_| unknown)?.id;
    // Nobody gets the rights of a higher level by the new secret.
    if show(call, find(call, place, id)?, None).access_level > own.into() {
        return Err(Rejection::message(
            400,
            "400 Bad request - Not eligible to rotate token with access level higher than the user",
        ));
    }
    let (expires_at, secret, now) = (expiry(call, input.expires_at.as_deref(), 7)?, new_secret()?, call.now);
    let mut token = call.world.tokens.remove(id).ok_or_else(Rejection::record_not_found)?;
    token.id = 0;
    token.secret.clone_from(&secret);
    (token.expires_at, token.created_at) = (expires_at, now);
    let id = call.world.tokens.add(token);
    Ok(Answer::new(show(call, find(call, place, id)?, Some(secret))).status(200))
}

fn delete(call: &mut WriteCall, input: DeleteResourceToken) -> Outcome<NoContent> {
    let (place, own) = place(call, &input.scope)?;
    let token = find(call, place, input.token_id)?;
    let (id, user) = (token.id, token.user);
    if own.is_none() {
        let bot = call.user_summary(user).name;
        let why = format!("400 Bad request - {} cannot delete {bot}", call.require_user()?.name);
        return Err(Rejection::message(400, why));
    }
    call.world.tokens.remove(id);
    call.world.members.remove_where(|member| member.user == user && member.place == place);
    if let Some(user) = call.world.users.get_mut(user) {
        user.blocked = true;
    }
    ok(NoContent)
}
