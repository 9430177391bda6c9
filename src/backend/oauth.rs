//! OAuth sign-in, mounted at the root of the server: the device grant, its page, and token refresh.
//!
//! What a device gets never exceeds what its user approved: its scopes are those that it requested, its user's token must
//! have all of them, and neither its token nor a refreshed one outlives that token.

use super::auth::{self, Access, Caller};
use super::body::Purpose;
use super::call::{Answer, Call, Outcome, ReadCall, WriteCall};
use super::door::{Checks, Door, Rendered, Run};
use super::presenters::escape_html;
use super::records::{DeviceGrant, Token};
use super::rejection::Rejection;
use super::world::World;
use axum::http::{Method, header};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use std::ops::Deref;

/// The only known client application.
const CLIENT_ID: &str = "labscope";
/// The scopes that the application may request.
const SCOPES: &[&str] = &["api", "read_api", "read_user"];
/// The lifetimes of a device code and of an access token, in seconds.
const CODE_SECONDS: i64 = 300;
const TOKEN_SECONDS: i64 = 7200;
/// The polling interval for devices, in seconds.
const INTERVAL: i64 = 1;
/// The interval below which a device polls too fast. It is shorter than [`INTERVAL`] because requests may be delayed.
const MIN_INTERVAL: SignedDuration = SignedDuration::from_millis(500);
/// The maximum number of device codes that are valid at the same time. Anyone can request one.
const MAX_CODES: usize = 100;
/// The maximum number of wrong user codes that a token can be used with in the lifetime of a code.
const MAX_WRONG_CODES: usize = 20;

/// Adds the OAuth routes.
pub fn mount(door: &mut Door) {
    let unidentified = Checks { access: Access::of(Caller::Unidentified), body: Purpose::Fields };
    let any_scope = Checks { access: Access::of(Caller::AnyScope), body: Purpose::Fields };
    door.route(Method::POST, "/oauth/authorize_device", unidentified, Run::Write(Box::new(begin)));
    door.route(Method::POST, "/oauth/token", unidentified, Run::Write(Box::new(token)));
    door.route(Method::GET, "/oauth/token/info", any_scope, Run::Read(Box::new(info)));
    door.route(Method::GET, "/oauth/device", unidentified, Run::Read(Box::new(page)));
    door.route(Method::POST, "/oauth/device", unidentified, Run::Write(Box::new(consent)));
}

/// Returns the text of an input; empty if it is absent.
fn input<'c, W: Deref<Target = World>>(call: &'c Call<W>, name: &str) -> &'c str {
    call.inputs.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn reply(value: Value) -> Outcome<Rendered> {
    let answer = Answer::new(Some(("application/json".into(), value.to_string().into_bytes())));
    Ok(answer.status(200).header("cache-control", "no-store"))
}

fn oauth_error(status: u16, error: &str, description: &str) -> Rejection {
    Rejection { status, body: json!({ "error": error, "error_description": description }) }
}

fn secret() -> Result<String, Rejection> {
    auth::secret().ok_or_else(|| Rejection::internal_error("cannot get random numbers from the system"))
}

fn seconds(now: Timestamp, seconds: i64) -> Timestamp {
    now.checked_add(SignedDuration::from_secs(seconds)).unwrap_or(now)
}

/// Checks that a request comes from the client application.
fn check_client(call: &WriteCall) -> Result<(), Rejection> {
    // Devices are no browsers, which send this header: a web page must not use up the codes.
    if call.headers.contains_key(header::ORIGIN) {
        return Err(Rejection::forbidden_because("Device authorization is not available to web pages"));
    }
    match input(call, "client_id") == CLIENT_ID {
        true => Ok(()),
        false => Err(oauth_error(401, "invalid_client", "Client authentication failed due to unknown client.")),
    }
}

/// Returns the scopes in a text, each once.
///
/// # Errors
/// Fails with 400 if there is none or if one of them is not in `allowed`.
fn scopes_in(text: &str, allowed: impl Fn(&str) -> bool) -> Result<Vec<String>, Rejection> {
    let asked = || text.split_ascii_whitespace();
    if asked().next().is_none() || !asked().all(|scope| SCOPES.contains(&scope) && allowed(scope)) {
        return Err(oauth_error(400, "invalid_scope", "The requested scope is invalid, unknown, or malformed."));
    }
    let scopes = SCOPES.iter().filter(|scope| asked().any(|asked| asked == **scope));
    Ok(scopes.map(|scope| (*scope).to_owned()).collect())
}

fn begin(call: &mut WriteCall) -> Outcome<Rendered> {
    check_client(call)?;
    let now = call.now;
    let scope = scopes_in(input(call, "scope"), |_| true)?.join(" ");
    call.world.device_grants.remove_where(|grant| grant.expires_at <= now);
    if call.world.device_grants.len() >= MAX_CODES {
        return Err(Rejection::message(429, "Too many devices are waiting for authorization. Retry later."));
    }
    let user_code: String = secret()?.to_uppercase().chars().take(8).collect();
    let device_code = secret()?;
    call.world.device_grants.add(DeviceGrant {
        device_code: device_code.clone(),
        user_code: user_code.clone(),
        scope,
        expires_at: seconds(now, CODE_SECONDS),
        ..DeviceGrant::default()
    });
    let page = format!("{}/oauth/device", call.base_url);
    reply(json!({
        "device_code": device_code, "user_code": user_code, "verification_uri": page,
        "verification_uri_complete": format!("{page}?user_code={user_code}"),
        "expires_in": CODE_SECONDS, "interval": INTERVAL,
    }))
}

fn invalid_grant() -> Rejection {
    oauth_error(400, "invalid_grant", "The provided authorization grant is invalid, expired or revoked.")
}

/// The rights of a device, or of the owner of a refresh token.
struct Entitlement {
    user: u64,
    scopes: Vec<String>,
    until: Option<Timestamp>,
}

fn token(call: &mut WriteCall) -> Outcome<Rendered> {
    check_client(call)?;
    let now = call.now;
    let granted = match input(call, "grant_type") {
        "refresh_token" => refreshed(call)?,
        "urn:ietf:params:oauth:grant-type:device_code" => {
            let code = input(call, "device_code");
            let is_it = |grant: &&DeviceGrant| auth::constant_time_eq(&grant.device_code, code);
            let grant = call.world.device_grants.iter().find(is_it).cloned().ok_or_else(invalid_grant)?;
            if grant.expires_at <= now {
                return Err(oauth_error(400, "expired_token", "The device code has expired."));
            }
            let Some(user) = grant.user else { return pending(call, &grant) };
            call.world.device_grants.remove(grant.id);
            let scopes = grant.scope.split(' ').map(str::to_owned).collect();
            Entitlement { user, scopes, until: grant.token_expires_at }
        }
        _ => return Err(oauth_error(400, "unsupported_grant_type", "The authorization grant type is not supported.")),
    };
    let is_active = call.world.users.get(granted.user).is_some_and(|user| !user.blocked);
    let expires_at = granted.until.map_or(seconds(now, TOKEN_SECONDS), |until| until.min(seconds(now, TOKEN_SECONDS)));
    if !is_active || expires_at <= now {
        return Err(invalid_grant());
    }
    let (access, refresh) = (secret()?, secret()?);
    let scope = granted.scopes.join(" ");
    call.world.tokens.add(Token {
        user: granted.user,
        name: "device".into(),
        secret: access.clone(),
        created_at: now,
        scopes: granted.scopes,
        expires_at: Some(expires_at),
        refresh: Some(refresh.clone()),
        refresh_until: granted.until,
        ..Token::default()
    });
    reply(json!({
        "access_token": access, "token_type": "Bearer", "expires_in": expires_at.duration_since(now).as_secs(),
        "refresh_token": refresh, "scope": scope, "created_at": now.as_second(),
    }))
}

/// Exchanges a refresh token, for all its scopes or for some of them.
fn refreshed(call: &mut WriteCall) -> Result<Entitlement, Rejection> {
    let refresh = input(call, "refresh_token");
    let is_it = |token: &&Token| token.refresh.as_deref().is_some_and(|known| auth::constant_time_eq(known, refresh));
    let old = call.world.tokens.iter().find(is_it).cloned().ok_or_else(invalid_grant)?;
    let scopes = match input(call, "scope") {
        "" => old.scopes,
        asked => scopes_in(asked, |scope| old.scopes.iter().any(|known| known == scope))?,
    };
    call.world.tokens.remove(old.id);
    Ok(Entitlement { user: old.user, scopes, until: old.refresh_until })
}

/// Answers a device whose code is not authorized yet, and remembers when it asked.
fn pending(call: &mut WriteCall, grant: &DeviceGrant) -> Outcome<Rendered> {
    let now = call.now;
    let is_too_fast = grant.polled_at.is_some_and(|at| now.duration_since(at) < MIN_INTERVAL);
    if let Some(grant) = call.world.device_grants.get_mut(grant.id) {
        grant.polled_at = Some(now);
    }
    let (error, description) = match is_too_fast {
        true => ("slow_down", "The device is polling too frequently."),
        false => ("authorization_pending", "The authorization request is still pending."),
    };
    // An error as an answer, because an answer commits the change.
    Ok(reply(json!({ "error": error, "error_description": description }))?.status(400))
}

/// Describes the OAuth token that the request carries.
fn info(call: &mut ReadCall) -> Outcome<Rendered> {
    let token = call.rights.token.and_then(|id| call.world.tokens.get(id)).filter(|token| token.refresh.is_some());
    let Some((token, expiry)) = token.and_then(|token| Some((token, token.expires_at?))) else {
        return Err(oauth_error(401, "invalid_token", "The access token is invalid"));
    };
    let left = expiry.duration_since(call.now).as_secs();
    reply(json!({
        "resource_owner_id": token.user, "scope": token.scopes, "scopes": token.scopes,
        "expires_in": left, "expires_in_seconds": left, "application": { "uid": CLIENT_ID },
        "created_at": expiry.as_second() - TOKEN_SECONDS,
    }))
}

/// Authorizes a device on behalf of the owner of a personal token: the server has no browser sessions. Returns the
/// granted scopes, or the status and the text of an error.
fn allow(call: &mut WriteCall) -> Result<String, (u16, String)> {
    let now = call.now;
    let refuse = |status: u16, why: &str| Err((status, why.to_owned()));
    let token = auth::find_token(call.world, input(call, "token")).filter(|token| token.refresh.is_none()).cloned();
    let Some(token) = token else { return refuse(401, "Invalid token.") };
    if call.world.users.get(token.user).is_none_or(|user| user.blocked) {
        return refuse(403, "The user of this token is blocked.");
    }
    if token.expires_at.is_some_and(|at| at <= now) {
        return refuse(401, "This token has expired.");
    }
    let mut wrong_codes = token.wrong_codes.clone();
    wrong_codes.retain(|at| now.duration_since(*at).as_secs() < CODE_SECONDS);
    if wrong_codes.len() >= MAX_WRONG_CODES {
        return refuse(429, "Too many wrong codes. Retry in a few minutes.");
    }
    let code: String = input(call, "user_code").trim().to_uppercase();
    let is_it = |grant: &&DeviceGrant| {
        auth::constant_time_eq(&grant.user_code, &code) && grant.expires_at > now && grant.user.is_none()
    };
    let Some(grant) = call.world.device_grants.iter().find(is_it).cloned() else {
        wrong_codes.push(now);
        if let Some(token) = call.world.tokens.get_mut(token.id) {
            token.wrong_codes = wrong_codes;
        }
        return refuse(404, "Invalid or expired code.");
    };
    if let Some(missing) = grant.scope.split(' ').find(|scope| !token.covers(scope)) {
        let own = token.scopes.join(" ");
        return Err((403, format!("The device requests the scope {missing}, and this token has only: {own}.")));
    }
    if let Some(grant) = call.world.device_grants.get_mut(grant.id) {
        grant.user = Some(token.user);
        grant.token_expires_at = token.expires_at;
    }
    Ok(grant.scope)
}

fn show_page(status: u16, html: String) -> Outcome<Rendered> {
    let answer = Answer::new(Some(("text/html; charset=utf-8".into(), html.into_bytes())));
    Ok(answer.status(status).header("cache-control", "no-store"))
}

fn page(call: &mut ReadCall) -> Outcome<Rendered> {
    show_page(200, html(input(call, "user_code"), ""))
}

fn consent(call: &mut WriteCall) -> Outcome<Rendered> {
    let code = input(call, "user_code").to_owned();
    match allow(call) {
        Ok(scope) => show_page(
            200,
            format!("<!doctype html><title>Signed in</title><p>The device is signed in. Scopes: {scope}"),
        ),
        // An error as an answer, because an answer commits the number of wrong codes.
        Err((status, why)) => show_page(status, html(&code, &why)),
    }
}

fn html(code: &str, message: &str) -> String {
    format!(
        "<!doctype html><title>Sign in a device</title><p>{}</p><form method=post>\
         <label>Code <input name=user_code value=\"{}\"></label>\n\
         <label>Your token <input name=token type=password></label> <button>Allow</button></form>",
        escape_html(message),
        escape_html(code)
    )
}
