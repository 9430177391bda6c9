//! Personal access tokens: listed, replaced and revoked by their user or an administrator.

use super::access_tokens::{check_new, expiry, filter, new_secret, show_token};
use super::auth::FINE_GRAINED;
use super::call::{Answer, Call, Outcome, ReadCall, WriteCall, ok};
use super::modes::Version;
use super::mount::Mount;
use super::records::Token;
use super::rejection::Rejection;
use super::world::World;
use api::identity::AccessToken;
use api::types::Specified;
use api::{NoContent, permissions};
use serde::{Deserialize, Serialize};
use std::ops::Deref;

/// The number of days until a replaced token expires, unless a date is given.
const ROTATED_DAYS: i32 = 7;

/// The number of days until a new token expires, unless a date is given.
const NEW_DAYS: i32 = 365;
/// The scopes that a token can have.
const SCOPES: &[&str] = &[
    "api",
    "read_api",
    "read_user",
    "create_runner",
    "manage_runner",
    "k8s_proxy",
    "self_rotate",
    "mcp",
    "sudo",
    "admin_mode",
    "read_repository",
    "write_repository",
    "read_registry",
    "write_registry",
    "read_virtual_registry",
    "write_virtual_registry",
    "read_service_ping",
    "ai_features",
];
/// The scopes of a token that users create for themselves by the API.
const OWN_SCOPES: &[&str] = &["k8s_proxy", "self_rotate"];

pub fn mount(mount: Mount) -> Mount {
    mount
        .read_signed_in::<ListPersonalTokens>(list)
        .read_signed_in::<GetPersonalToken>(get)
        .write::<CreatePersonalToken>(create)
        .write::<CreateOwnToken>(create_own)
        .write::<RotatePersonalToken>(rotate)
        .write::<RotateOwnToken>(rotate_own)
        .write::<DeletePersonalToken>(delete)
        .write::<DeleteOwnToken>(delete_own)
}

/// A personal access token with its new secret.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct NewToken {
    #[serde(flatten)]
    token: AccessToken,
    #[serde(rename = "token")]
    secret: String,
}

impl Specified for NewToken {}

api::input_object! {
    default
    /// Permissions of a fine-grained token. Here, they are for all objects of the user, wherever a server would grant them.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct GranularScope {
        /// `all_memberships`, `selected_memberships`, `personal_projects`, `user` or `instance`.
        access: String,
        /// The permissions: `read_merge_request`.
        permissions: Vec<String>,
    }
}

api::endpoints! {
    unspecified section "Personal access tokens";

    /// Lists the personal access tokens of the caller; those of all users for administrators.
    GET "/personal_access_tokens" => Vec<AccessToken>;
    struct ListPersonalTokens {
        user_id: Option<u64>,
        /// `active` or `inactive`.
        state: Option<String>,
        /// A part of the name.
        search: Option<String>,
    }

    /// Gets a personal access token.
    GET "/personal_access_tokens/{token_id}" => AccessToken;
    struct GetPersonalToken { token_id: u64 }

    /// Creates a personal access token for a user, as an administrator.
    POST "/users/{user_id}/personal_access_tokens" => NewToken;
    struct CreatePersonalToken {
        user_id: u64,
        name: String,
        description: Option<String>,
        scopes: Vec<String>,
        /// The date on which it expires (default: in 365 days).
        expires_at: Option<String>,
    }

    /// Creates a personal access token for the caller that can do little (since 16.5).
    POST "/user/personal_access_tokens" => NewToken;
    struct CreateOwnToken {
        name: String,
        description: Option<String>,
        /// One or more of [`OWN_SCOPES`].
        scopes: Option<Vec<String>>,
        /// The permissions of a fine-grained token, instead of scopes (since 19.2).
        granular_scopes: Option<Vec<GranularScope>>,
        /// The date on which it expires (default: in a day).
        expires_at: Option<String>,
    }

    /// Replaces the secret of a personal access token (since 16.0).
    POST "/personal_access_tokens/{token_id}/rotate" => NewToken;
    struct RotatePersonalToken {
        token_id: u64,
        /// The date on which it expires (default: in a week).
        expires_at: Option<String>,
    }

    /// Replaces the secret of the token of the request (since 16.10).
    POST "/personal_access_tokens/self/rotate" => NewToken;
    struct RotateOwnToken {
        /// The date on which it expires (default: in a week).
        expires_at: Option<String>,
    }

    /// Revokes a personal access token.
    DELETE "/personal_access_tokens/{token_id}" => NoContent;
    struct DeletePersonalToken { token_id: u64 }

    /// Revokes the token of the request.
    DELETE "/personal_access_tokens/self" => NoContent;
    struct DeleteOwnToken {}
}

/// Returns whether a token is a personal one: neither of a project or group nor from OAuth.
fn is_personal(token: &Token) -> bool {
    token.place().is_none() && token.refresh.is_none()
}

/// Returns a personal token of the caller, or of anybody for administrators.
fn find<W: Deref<Target = World>>(call: &Call<W>, id: u64) -> Result<&Token, Rejection> {
    let is_readable = |token: &&Token| call.rights.admin || Some(token.user) == call.rights.user;
    let found = call.world.tokens.get(id).filter(|token| is_personal(token)).filter(is_readable);
    // Others are not told which tokens exist.
    found.ok_or_else(|| if call.rights.admin { Rejection::not_found("Token") } else { Rejection::unauthorized() })
}

/// Returns the ID of the token of the request, if it is a personal one or that of a project.
fn own<W: Deref<Target = World>>(call: &Call<W>) -> Result<u64, Rejection> {
    let token = call.rights.token.and_then(|id| call.world.tokens.get(id)).ok_or_else(Rejection::unauthorized)?;
    if token.refresh.is_some() {
        return Err(Rejection::message(405, "405 Method Not Allowed"));
    }
    Ok(token.id)
}

fn list(call: &ReadCall, input: ListPersonalTokens) -> Outcome<Vec<AccessToken>> {
    let own = call.require_user()?.id;
    let user = input.user_id.or((!call.rights.admin).then_some(own));
    if user.is_some_and(|user| user != own) && !call.rights.admin {
        return Err(Rejection::unauthorized());
    }
    let is_listed = filter(call, input.state.as_deref(), input.search.as_deref())?;
    let fits = |token: &&Token| is_personal(token) && user.is_none_or(|user| token.user == user) && is_listed(token);
    let rows = call.world.tokens.iter().filter(fits).collect();
    call.page(rows, |token| show_token(call, token))
}

fn get(call: &ReadCall, input: GetPersonalToken) -> Outcome<AccessToken> {
    ok(show_token(call, find(call, input.token_id)?))
}

fn add(call: &mut WriteCall, token: Token) -> Outcome<NewToken> {
    let (secret, created_at) = (new_secret()?, call.now);
    let id = call.world.tokens.add(Token { created_at, secret: secret.clone(), ..token });
    let token = call.world.tokens.get(id).ok_or_else(Rejection::record_not_found)?;
    ok(NewToken { token: show_token(call, token), secret })
}

fn create(call: &mut WriteCall, input: CreatePersonalToken) -> Outcome<NewToken> {
    call.require_admin()?;
    check_new(&input.name, &input.scopes, SCOPES)?;
    let user = call.world.users.get(input.user_id).ok_or_else(|| Rejection::not_found("User"))?.id;
    let expires_at = expiry(call, input.expires_at.as_deref(), NEW_DAYS)?;
    let (name, description, scopes) = (input.name, input.description, input.scopes);
    add(call, Token { user, name, description, scopes, expires_at, ..Token::default() })
}

fn create_own(call: &mut WriteCall, input: CreateOwnToken) -> Outcome<NewToken> {
    let granted = input.granular_scopes.filter(|_| call.version >= Version::V19);
    let (scopes, known) = match granted {
        Some(_) => (vec![FINE_GRAINED.to_owned()], &[FINE_GRAINED] as &[&str]),
        None => (input.scopes.unwrap_or_default(), OWN_SCOPES),
    };
    check_new(&input.name, &scopes, known)?;
    let user = call.require_user()?.id;
    let expires_at = expiry(call, input.expires_at.as_deref(), 1)?;
    let permissions: Vec<String> = granted.into_iter().flatten().flat_map(|scope| scope.permissions).collect();
    let is_known = |name: &String| permissions::rows().any(|row| permissions::identifier(row.permission) == *name);
    if let Some(unknown) = permissions.iter().find(|name| !is_known(name)) {
        return Err(Rejection::message(400, format!("400 Bad request - Invalid permissions: {unknown}")));
    }
    let (name, description) = (input.name, input.description);
    add(call, Token { user, name, description, scopes, permissions, expires_at, ..Token::default() })
}

fn replace(call: &mut WriteCall, id: u64, expires_at: Option<&str>) -> Outcome<NewToken> {
    let (expires_at, secret, now) = (expiry(call, expires_at, ROTATED_DAYS)?, new_secret()?, call.now);
    let mut token = call.world.tokens.remove(id).ok_or_else(Rejection::record_not_found)?;
    token.id = 0;
    token.secret.clone_from(&secret);
    (token.expires_at, token.created_at) = (expires_at, now);
    let id = call.world.tokens.add(token);
    let token = call.world.tokens.get(id).ok_or_else(Rejection::record_not_found)?;
    Ok(Answer::new(NewToken { token: show_token(call, token), secret }).status(200))
}

fn rotate(call: &mut WriteCall, input: RotatePersonalToken) -> Outcome<NewToken> {
    let id = find(call, input.token_id)?.id;
    replace(call, id, input.expires_at.as_deref())
}

fn rotate_own(call: &mut WriteCall, input: RotateOwnToken) -> Outcome<NewToken> {
    let id = own(call)?;
    replace(call, id, input.expires_at.as_deref())
}

fn delete(call: &mut WriteCall, input: DeletePersonalToken) -> Outcome<NoContent> {
    let id = find(call, input.token_id)?.id;
    call.world.tokens.remove(id);
    ok(NoContent)
}

fn delete_own(call: &mut WriteCall, _: DeleteOwnToken) -> Outcome<NoContent> {
    let id = own(call)?;
    call.world.tokens.remove(id);
    ok(NoContent)
}
