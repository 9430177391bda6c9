//! Queries the identity of the caller and the details of the token and the server, and builds the URL of the page for
//! creating tokens.

use crate::api::client::{Client, Server};
use crate::api::endpoint::Method;
use crate::api::error::Unreadable;
use crate::api::identity::{AccessToken, GetMetadata, GetOwnToken};
use crate::api::users::GetCurrentUser;
use crate::api::{Endpoint, Error, Fault};
use crate::config::address;
use crate::ui::text::sanitize;
use jiff::Timestamp;
use url::Url;

/// The display name of a token that comes from a device sign-in.
const SIGN_IN_NAME: &str = "browser sign-in";

/// The path of the page for access tokens, on current servers and on servers without `/metadata`.
const PAGES: [&str; 2] = ["-/user_settings/personal_access_tokens", "profile/personal_access_tokens"];

/// Returns the username of the token's owner.
///
/// # Errors
/// Returns an error if the server refuses the token, or the response is not a user.
pub async fn username(client: &Client) -> Result<String, Error> {
    let endpoint = GetCurrentUser::default();
    let user = client.call(&endpoint).await?;
    if user.id == 0 || user.username.trim().is_empty() {
        let reason = format!("{} did not return a user", address::display_name(&client.server().base_url));
        let fault = Fault::Unreadable(Unreadable { field: ".".into(), reason });
        return Err(Error { tried: endpoint.request().line(), fault });
    }
    Ok(sanitize(&user.username).into_owned())
}

/// Returns the URL of the page for creating a token, with name and scope filled in. Servers without `/metadata` have it
/// at another path.
///
/// # Errors
/// Returns an error if there is no connection to the server.
pub async fn token_page(server: Server) -> Result<Url, Error> {
    let url = server.base_url.clone();
    let answer = Client::new(server)?.raw(Method::GET, "metadata", &[]).await;
    let path = match answer {
        Ok(reply) if matches!(reply.status, 404 | 405) => PAGES[1],
        Err(error)
            if matches!(error.fault, Fault::Offline(_) | Fault::Tls(_) | Fault::NeedsHttps(_) | Fault::Timeout(_)) =>
        {
            return Err(error);
        }
        _ => PAGES[0],
    };
    Ok(page_at(&url, path))
}

/// Returns the URL like [`token_page`], but without a request: the path on current servers.
pub fn current_token_page(url: &Url) -> Url {
    page_at(url, PAGES[0])
}

fn page_at(url: &Url, path: &str) -> Url {
    let mut page = url.clone();
    page.set_path(&format!("{}/{path}", url.path().trim_end_matches('/')));
    page.set_query(Some("name=labscope&scopes=api"));
    page
}

/// Describes the server and the token, one fact per line; facts that the server does not send are "unknown".
pub async fn describe(client: &Client, now: Timestamp) -> String {
    let version =
        client.call(&GetMetadata {}).await.ok().map(|found| found.version).filter(|version| !version.is_empty());
    let version = version.unwrap_or_else(|| "unknown".into());
    let server = client.server();
    let token = match client.call(&GetOwnToken {}).await {
        Ok(token) if server.renewal.is_some() => {
            describe_token(&AccessToken { name: SIGN_IN_NAME.into(), ..token }, "renewed automatically", now)
        }
        Ok(token) if server.oauth => describe_token(&AccessToken { name: "OAuth".into(), ..token }, "never", now),
        Ok(token) => describe_token(&token, "never", now),
        Err(_) if server.renewal.is_some() => format!("Token: {SIGN_IN_NAME}, renewed automatically\n"),
        Err(_) if server.oauth => "Scopes and expiry of the token: unknown; it is an OAuth token.\n".to_owned(),
        Err(_) => "Scopes and expiry of the token: unknown; reported by servers since 15.5.\n".to_owned(),
    };
    format!("Version: {}\n{token}", sanitize(&version))
}

/// Describes a token; `no_expiry` is the expiry to show if the token has none.
fn describe_token(token: &AccessToken, no_expiry: &str, now: Timestamp) -> String {
    let expiry = match (&token.expires_at, token.days_left(now)) {
        (None, _) => no_expiry.to_owned(),
        (Some(_), _) if let Some(minutes) = token.minutes_left(now) => format!("in {minutes} min"),
        (Some(date), Some(1)) => format!("{date} (in 1 day)"),
        (Some(date), Some(days)) if days > 0 => format!("{date} (in {days} days)"),
        (Some(date), Some(_)) => format!("{date} (expired)"),
        (Some(date), None) => date.to_string(),
    };
    let scopes = if token.scopes.is_empty() { "none".to_owned() } else { token.scopes.join(", ") };
    let lines = [("Token", token.name.as_str()), ("Scopes", &scopes), ("Expires", &expiry)];
    let mut text: String = lines.iter().map(|(label, value)| format!("{label}: {}\n", sanitize(value))).collect();
    if let Some(scope) = token.missing_scope() {
        let limit =
            if token.reads_no_projects() { "cannot read projects: that needs" } else { "can only read: changes need" };
        text += &format!("The token {limit} the scope {scope}.\n");
    }
    if token.expires_soon(now).is_some() {
        text += "The token expires soon: create a new one and store it with labscope auth login.\n";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expiry_is_shown_as_date_and_days_left() {
        let now: Timestamp = "2026-11-23T23:00:00Z".parse().expect("a time");
        for (date, says) in [
            (Some("2026-12-01"), "Expires: 2026-12-01 (in 8 days)\n"),
            (Some("2026-11-26"), "Expires: 2026-11-26 (in 3 days)\nsoon"),
            (Some("2026-11-24"), "Expires: 2026-11-24 (in 1 day)\nsoon"),
            (Some("2026-11-23"), "Expires: 2026-11-23 (expired)\nsoon"),
            (Some("soon"), "Expires: soon\n"),
            (None, "Expires: never\n"),
        ] {
            let warning = "The token expires soon: create a new one and store it with labscope auth login.\n";
            let says = says.replace("\nsoon", &format!("\n{warning}"));
            let scopes = vec!["api".into(), "a\u{1b}b".into()];
            let token = AccessToken { scopes, expires_at: date.map(Into::into), ..AccessToken::default() };
            let text = describe_token(&token, "never", now);
            assert!(text.ends_with(&says) && text.contains("Scopes: api, a\u{241b}b\n"), "{text}");
        }
    }

    #[test]
    fn read_only_tokens_are_reported() {
        let says = |scopes: &[&str]| {
            let scopes = scopes.iter().map(|scope| (*scope).to_owned()).collect();
            describe_token(&AccessToken { scopes, ..AccessToken::default() }, "never", Timestamp::UNIX_EPOCH)
        };
        let note = "The token can only read: changes need the scope api.\n";
        assert!(says(&["read_api", "read_user"]).ends_with(note));
        for scopes in [&["read_user"][..], &["read_repository", "read_registry"]] {
            assert!(
                says(scopes).ends_with("The token cannot read projects: that needs the scope api.\n"),
                "{scopes:?}"
            );
        }
        // Unknown scopes may allow writes.
        for scopes in [&["read_api", "api"][..], &["granular"], &["read_api", "create_something"], &[]] {
            assert!(!says(scopes).contains(note), "{scopes:?}");
        }
    }

    #[test]
    fn the_token_page_keeps_the_path_prefix() {
        let url = address::parse_address("https://h.example/gitlab").expect("an address");
        let page = "https://h.example/gitlab/-/user_settings/personal_access_tokens?name=labscope&scopes=api";
        assert_eq!(current_token_page(&url).as_str(), page);
    }
}
