//! OAuth sign-in, mounted at the root of the server: the device grant, its page, and token refresh.

use super::auth;
use super::engine::Engine;
use super::mount::error_response;
use super::records::{DeviceGrant, Token};
use super::rejection::Rejection;
use super::world::World;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use url::form_urlencoded;

/// The only known client application.
const CLIENT_ID: &str = "labscope";
/// The scopes that the application may request.
const SCOPES: &[&str] = &["api", "read_api", "read_user"];
/// The lifetimes of a device code and of an access token, in seconds.
const CODE_SECONDS: i64 = 300;
const TOKEN_SECONDS: i64 = 7200;
/// The polling interval for devices, in seconds.
const INTERVAL: i64 = 1;

type Form = HashMap<String, String>;
/// A function that changes the world according to a form.
type Handler = fn(&mut World, &Engine, &Form) -> Result<Value, Rejection>;

/// Adds the OAuth routes.
pub fn mount(router: Router<Arc<Engine>>) -> Router<Arc<Engine>> {
    router
        .route("/oauth/authorize_device", post(async |engine: State<_>, body: Bytes| run(engine, body, begin).await))
        .route("/oauth/token", post(async |engine: State<_>, body: Bytes| run(engine, body, token).await))
        .route("/oauth/token/info", get(info))
        .route("/oauth/device", get(page).post(consent))
}

fn form(body: &[u8]) -> Form {
    form_urlencoded::parse(body).into_owned().collect()
}

/// Returns the value of an input; empty if it is absent.
fn input<'f>(form: &'f Form, name: &str) -> &'f str {
    form.get(name).map_or("", String::as_str)
}

async fn changed(engine: Arc<Engine>, form: Form, handler: Handler) -> Result<Value, Rejection> {
    let work = move || engine.write(|world| Ok((handler(world, &engine, &form)?, Vec::new())));
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|panic| Err(Rejection::internal_error(panic)))
}

async fn run(State(engine): State<Arc<Engine>>, body: Bytes, handler: Handler) -> Response {
    match changed(engine, form(&body), handler).await {
        Ok(value) => ([(header::CACHE_CONTROL, "no-store")], axum::Json(value)).into_response(),
        Err(rejection) => error_response(rejection),
    }
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

fn check_client(form: &Form) -> Result<(), Rejection> {
    match input(form, "client_id") == CLIENT_ID {
        true => Ok(()),
        false => Err(oauth_error(401, "invalid_client", "Client authentication failed due to unknown client.")),
    }
}

fn begin(world: &mut World, engine: &Engine, form: &Form) -> Result<Value, Rejection> {
    check_client(form)?;
    let now = engine.clock.now();
    let scope = input(form, "scope");
    if scope.is_empty() || !scope.split(' ').all(|scope| SCOPES.contains(&scope)) {
        return Err(oauth_error(400, "invalid_scope", "The requested scope is invalid, unknown, or malformed."));
    }
    world.device_grants.remove_where(|grant| grant.expires_at <= now);
    let user_code: String = secret()?.to_uppercase().chars().take(8).collect();
    let device_code = secret()?;
    world.device_grants.add(DeviceGrant {
        device_code: device_code.clone(),
        user_code: user_code.clone(),
        scope: scope.to_owned(),
        expires_at: seconds(now, CODE_SECONDS),
        ..DeviceGrant::default()
    });
    let page = format!("{}/oauth/device", engine.base_url);
    Ok(json!({
        "device_code": device_code, "user_code": user_code, "verification_uri": page,
        "verification_uri_complete": format!("{page}?user_code={user_code}"),
        "expires_in": CODE_SECONDS, "interval": INTERVAL,
    }))
}

fn token(world: &mut World, engine: &Engine, form: &Form) -> Result<Value, Rejection> {
    check_client(form)?;
    let now = engine.clock.now();
    let invalid =
        || oauth_error(400, "invalid_grant", "The provided authorization grant is invalid, expired or revoked.");
    let (user, scopes) = match input(form, "grant_type") {
        "refresh_token" => {
            let refresh = input(form, "refresh_token");
            let is_it =
                |token: &Token| token.refresh.as_deref().is_some_and(|known| auth::constant_time_eq(known, refresh));
            let old = world.tokens.remove_where(is_it).into_iter().next().ok_or_else(invalid)?;
            (old.user, old.scopes)
        }
        "urn:ietf:params:oauth:grant-type:device_code" => {
            let code = input(form, "device_code");
            let is_it = |grant: &DeviceGrant| auth::constant_time_eq(&grant.device_code, code);
            let grant = world.device_grants.iter().find(|grant| is_it(grant)).cloned().ok_or_else(invalid)?;
            if grant.expires_at <= now {
                return Err(oauth_error(400, "expired_token", "The device code has expired."));
            }
            let user = grant.user.ok_or_else(|| {
                oauth_error(400, "authorization_pending", "The authorization request is still pending.")
            })?;
            world.device_grants.remove_where(is_it);
            (user, grant.scope.split(' ').map(str::to_owned).collect())
        }
        _ => return Err(oauth_error(400, "unsupported_grant_type", "The authorization grant type is not supported.")),
    };
    let (access, refresh) = (secret()?, secret()?);
    let scope = scopes.join(" ");
    world.tokens.add(Token {
        user,
        name: "device".into(),
        secret: access.clone(),
        scopes,
        expires_at: Some(seconds(now, TOKEN_SECONDS)),
        refresh: Some(refresh.clone()),
        ..Token::default()
    });
    Ok(json!({
        "access_token": access, "token_type": "Bearer", "expires_in": TOKEN_SECONDS, "refresh_token": refresh,
        "scope": scope, "created_at": now.as_second(),
    }))
}

/// Describes the OAuth token that the request carries.
async fn info(State(engine): State<Arc<Engine>>, headers: HeaderMap) -> Response {
    let secret = auth::bearer(&headers).unwrap_or_default();
    let (world, now) = (engine.snapshot(), engine.clock.now());
    let is_it = |token: &&Token| token.refresh.is_some() && auth::constant_time_eq(&token.secret, &secret);
    let found = world.tokens.iter().find(is_it).and_then(|token| Some((token, token.expires_at?)));
    let Some((token, expiry)) = found.filter(|(_, expiry)| *expiry > now) else {
        return error_response(oauth_error(401, "invalid_token", "The access token is invalid"));
    };
    let left = expiry.duration_since(now).as_secs();
    let reply = json!({
        "resource_owner_id": token.user, "scope": token.scopes, "scopes": token.scopes,
        "expires_in": left, "expires_in_seconds": left, "application": { "uid": CLIENT_ID },
        "created_at": expiry.as_second() - TOKEN_SECONDS,
    });
    ([(header::CACHE_CONTROL, "no-store")], axum::Json(reply)).into_response()
}

/// Authorizes a device on behalf of the owner of a personal token: the server has no browser sessions.
fn allow(world: &mut World, engine: &Engine, form: &Form) -> Result<Value, Rejection> {
    let now = engine.clock.now();
    let token = world.tokens.iter().find(|token| auth::constant_time_eq(&token.secret, input(form, "token")));
    let user = token.filter(|token| token.refresh.is_none()).map(|token| token.user);
    let user = user.ok_or_else(|| Rejection::message(401, "Invalid token."))?;
    let code: String = input(form, "user_code").trim().to_uppercase();
    let grant = world.device_grants.iter().find(|grant| grant.user_code == code && grant.expires_at > now);
    let id = grant.map(|grant| grant.id).ok_or_else(|| Rejection::message(404, "Invalid or expired code."))?;
    if let Some(grant) = world.device_grants.get_mut(id) {
        grant.user = Some(user);
    }
    Ok(Value::Null)
}

async fn page(RawQuery(query): RawQuery) -> Html<String> {
    let query = form(query.unwrap_or_default().as_bytes());
    Html(html(input(&query, "user_code"), ""))
}

async fn consent(State(engine): State<Arc<Engine>>, body: Bytes) -> Response {
    let form = form(&body);
    let code = input(&form, "user_code").to_owned();
    match changed(engine, form, allow).await {
        Ok(_) => Html("<!doctype html><title>Signed in</title><p>The device is signed in.".to_owned()).into_response(),
        Err(rejection) => {
            let status = axum::http::StatusCode::from_u16(rejection.status).unwrap_or_default();
            (status, Html(html(&code, rejection.body.get("message").and_then(Value::as_str).unwrap_or_default())))
                .into_response()
        }
    }
}

fn html(code: &str, message: &str) -> String {
    format!(
        "<!doctype html><title>Sign in a device</title><p>{}</p><form method=post>\
         <label>Code <input name=user_code value=\"{}\"></label>\n\
         <label>Your token <input name=token type=password></label> <button>Allow</button></form>",
        escape(message),
        escape(code)
    )
}

fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            c => out.push(c),
        }
    }
    out
}
