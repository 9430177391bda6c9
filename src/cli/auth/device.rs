//! `labscope auth login --device`: the user authorizes the sign-in in a browser, on this or another device.

use crate::api::Fault;
use crate::api::client::{Client, Server};
use crate::cli::failure::Failure;
use crate::cli::renewal;
use crate::config::address::display_name;
use crate::config::host::KnownServer;
use crate::config::sign_in::SignIn;
use crate::runtime::open::browser;
use crate::runtime::sign_in;
use crate::ui::text::sanitize;
use secrecy::SecretString;
use std::io::{self, IsTerminal, Write};

/// The requested scope.
const SCOPE: &str = "api";

/// Signs in at `server` with the OAuth device flow; returns the sign-in and the username.
///
/// # Errors
/// Returns a failure if the server does not support the grant, or the sign-in was not
/// authorized.
pub async fn sign_in(client_id: &str, server: Server) -> Result<(SignIn, String), Failure> {
    let name = display_name(&server.base_url);
    let client = Client::new(server.clone())?;
    let code = client.request_device_code(client_id, SCOPE).await.map_err(|error| match error.fault {
        Fault::Missing(_) | Fault::Unsupported(_) => Failure::failed(format!(
            "{name} does not support the device flow (GitLab does since 17.3). Use labscope auth login without --device"
        )),
        Fault::Unauthorized(_) => Failure::failed(format!("{name} does not know the configured client_id")),
        _ => error.into(),
    })?;
    let (page, complete) = code.pages(&server);
    writeln!(io::stderr(), "Open this page, and enter the code {}:\n  {page}", sanitize(&code.user_code))?;
    if io::stderr().is_terminal() {
        // The URL was printed above, in case no browser can be opened.
        let _ = browser(complete.as_str()).await;
    }
    let grant = sign_in::wait(&client, client_id, &code).await?;
    let token = Server { token: Some(SecretString::from(grant.access_token.clone())), oauth: true, ..server };
    let username = super::identity::username(&Client::new(token)?).await?;
    let expires_at = renewal::expiry(&grant);
    // This ID identifies the sign-in without revealing the token.
    let id = SignIn::id_of(&grant.access_token);
    let (access_token, refresh_token, scope) = (grant.access_token, grant.refresh_token, grant.scope);
    let client_id = client_id.to_owned();
    Ok((SignIn { access_token, refresh_token, expires_at, scope, client_id, id }, username))
}

/// Returns the message if no client ID is configured for the server.
pub fn no_client(server: &KnownServer) -> String {
    let url = server.url.as_str().trim_end_matches('/');
    format!(
        "no client_id is configured for {url}. Create an OAuth application there (User settings, Applications; not \
         confidential, with the scope api), and add its ID to the configuration:\n  [hosts.NAME]\n  url = \"{url}\"\n  \
         client_id = \"ID\""
    )
}
