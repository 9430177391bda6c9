//! Personal access tokens: listed, replaced and revoked by their user or an administrator.

use super::access_tokens::{expiry, new_secret, show_token};
use super::call::{Answer, Call, Outcome, ReadCall, WriteCall, ok};
use super::mount::Mount;
use super::records::Token;
use super::rejection::Rejection;
use super::world::World;
use crate::api::NoContent;
use crate::api::identity::AccessToken;
use crate::api::types::Specified;
use serde::{Deserialize, Serialize};
use std::ops::Deref;

/// The number of days until a replaced token expires, unless a date is given.
const ROTATED_DAYS: i32 = 7;

pub fn mount(mount: Mount) -> Mount {
    mount
        .read_signed_in::<ListPersonalTokens>(list)
        .read_signed_in::<GetPersonalToken>(get)
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

crate::endpoints! {
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

/// Returns whether a token is a personal one: neither of a project nor from OAuth.
fn is_personal(token: &Token) -> bool {
    token.project.is_none() && token.refresh.is_none()
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
    let is_active = match input.state.as_deref() {
        None => None,
        Some("active") => Some(true),
        Some("inactive") => Some(false),
        Some(_) => return Err(Rejection::no_valid_value("state")),
    };
    let words = input.search.unwrap_or_default().to_lowercase();
    let fits = |token: &&Token| {
        let active = token.expires_at.is_none_or(|at| at > call.now);
        is_personal(token)
            && user.is_none_or(|user| token.user == user)
            && is_active.is_none_or(|wanted| wanted == active)
            && token.name.to_lowercase().contains(&words)
    };
    let rows = call.world.tokens.iter().filter(fits).collect();
    call.page(rows, |token| show_token(call, token))
}

fn get(call: &ReadCall, input: GetPersonalToken) -> Outcome<AccessToken> {
    ok(show_token(call, find(call, input.token_id)?))
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
