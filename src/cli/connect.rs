//! Connections to servers: the known servers, and the token of each.

use super::args::Global;
use super::{cache, interface, server};
use crate::api;
use crate::api::client::Client;
use crate::api::{Fault, Host};
use crate::app::reconcile;
use crate::app::session::{OtherServer, Session};
use crate::config::host::KnownServer;
use crate::config::token::{self, FoundToken, Token};
use crate::config::token_source::Source;
use crate::config::{Config, address, host};
use crate::runtime::connections::{Connection, DialServer};
use crate::runtime::journal;
use crate::runtime::sessions::{OpenServer, ServerContext};
use std::sync::{Arc, OnceLock};

/// Lists the servers other than `here` that are known from the configuration, stored tokens and glab. Does not open the
/// keyring.
pub fn others(config: &Config, here: &KnownServer) -> Vec<OtherServer> {
    let all = host::known(config).into_iter().filter(|server| server != here);
    all.map(|server| {
        // If the token cannot be read, the first request to that server shows the error.
        let signed_in = has_token(config, &server);
        OtherServer { host: server.host(), signed_in, at_home: is_on_home(config, &server) }
    })
    .collect()
}

/// Returns whether Home shows the items of this server while another server is open.
fn is_on_home(config: &Config, server: &KnownServer) -> bool {
    config.table(server).and_then(|host| host.home) != Some(false)
}

/// Returns the sources of the token for a server other than the one that the options select.
fn other_sources(config: &Config) -> token::TokenSources<'_> {
    token::TokenSources { option: None, is_named: false, var: &server::var, config }
}

/// Returns whether there is a token for a server other than the one that the options select.
fn has_token(config: &Config, server: &KnownServer) -> bool {
    !matches!(token::source(&other_sources(config), server), Source::Nothing(_))
}

/// Returns the server that requests name so.
fn known_server(config: &Config, host: &Host) -> Result<KnownServer, String> {
    match host.account() {
        Some(name) => config.server(name),
        None => address::parse_address(host.web_url()).map(|url| config.first_at(url)),
    }
}

/// Returns the function that connects to other servers: each with its own token, never with one that an option or an
/// environment variable set for another server.
pub fn server_dialer(global: &Global, config: &Config) -> DialServer {
    let (options, config) = (Options::new(global, config), config.clone());
    Box::new(move |host| match known_server(&config, host) {
        Ok(server) => connection(&options, server.clone(), LazyToken::configured(&config, server)),
        Err(why) => Connection::new(Box::new(|| Err(token_error(why))), None),
    })
}

/// Returns the function that prepares switching to another server; `here` is the current session.
pub fn server_opener(global: &Global, config: &Config, here: &Session) -> OpenServer {
    let (read_only, offline) = (global.read_only, global.offline);
    let current = OtherServer {
        host: here.host(),
        signed_in: here.signed_in,
        at_home: known_server(config, &here.host()).is_ok_and(|server| is_on_home(config, &server)),
    };
    let all: Vec<OtherServer> = std::iter::once(current).chain(here.others.iter().cloned()).collect();
    Arc::new(move |host| {
        let drafts = server::drafts_folder(host.name());
        let saved = drafts.as_deref().map(journal::load).unwrap_or_default();
        let session = Session {
            server: host.name().to_owned(),
            web_url: host.web_url().to_owned(),
            account: host.account().map(str::to_owned),
            read_only,
            offline,
            signed_in: all.iter().any(|other| other.host == *host && other.signed_in),
            others: all.iter().filter(|other| other.host != *host).cloned().collect(),
            ..Session::default()
        };
        ServerContext { session, drafts, warning: interface::damage_warning(&saved), kept: saved.kept }
    })
}

/// The options that apply to every server.
#[derive(Clone)]
pub struct Options {
    global: Global,
    /// Whether replies are cached on disk.
    use_cache: bool,
    /// The configuration, in whose folder sign-ins are stored.
    config: Config,
}

impl Options {
    /// Collects the options from the command line and the configuration.
    pub fn new(global: &Global, config: &Config) -> Options {
        Options { global: global.clone(), use_cache: config.cache.unwrap_or(true), config: config.clone() }
    }
}

/// Returns the error of every request under `--offline`.
pub fn offline(web_url: &str) -> api::Error {
    let tried = format!("connect to {}", web_url.trim_end_matches('/'));
    api::Error { tried, fault: reconcile::offline() }
}

/// The token of a server. It is looked up once, on a worker thread.
#[derive(Clone)]
pub struct LazyToken {
    result: Arc<OnceLock<Result<Option<Token>, String>>>,
    find: Arc<dyn Fn() -> Result<Option<Token>, String> + Send + Sync>,
}

impl LazyToken {
    /// Uses the token that was found for a server, and reads the keyring if it is there.
    pub fn new(found: Option<FoundToken>, server: KnownServer) -> LazyToken {
        LazyToken::from(move || match &found {
            Some(FoundToken::Token(token)) => Ok(Some(token.clone())),
            Some(FoundToken::Keyring) => token::from_keyring(&server),
            None => Ok(None),
        })
    }

    /// Looks up the token of a server other than the one that the options select.
    fn configured(config: &Config, server: KnownServer) -> LazyToken {
        let config = config.clone();
        LazyToken::from(move || token::find(&other_sources(&config), &server))
    }

    fn from(find: impl Fn() -> Result<Option<Token>, String> + Send + Sync + 'static) -> LazyToken {
        LazyToken { result: Arc::default(), find: Arc::new(find) }
    }

    fn get(&self) -> Result<Option<Token>, String> {
        self.result.get_or_init(|| (self.find)()).clone()
    }
}

fn token_error(why: String) -> api::Error {
    api::Error { tried: "find the token".into(), fault: Fault::Offline(why) }
}

/// Returns the connection to a server; the client and the cache folder are created on first use.
pub fn connection(options: &Options, server: KnownServer, secret: LazyToken) -> Connection {
    let cache_key = server.key();
    let cache_secret = secret.clone();
    let Options { global, use_cache, config } = options.clone();
    let client = move || {
        if global.offline {
            return Err(self::offline(server.url.as_str()));
        }
        let token = secret.get().map_err(token_error)?;
        Client::new(server::with_token(&config, &server, server::anonymous(&global, &config, &server), token))
    };
    let replies = move || {
        if use_cache { cache::folder(&cache_key, cache_secret.get().ok()?.as_ref()) } else { None }
    };
    Connection { client: Box::new(client), replies: Box::new(replies) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_servers_come_from_the_configuration_with_their_own_tokens() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("config.toml");
        let token = folder.path().join("token");
        std::fs::write(&token, "secret\n").expect("written");
        let host = |name: &str, more: &str| format!("[hosts.{name}]\nurl = \"{name}.example\"\n{more}\n");
        let with = format!("token_file = \"{}\"", token.display());
        let gone = "token_file = \"/nowhere/token\"";
        let ring = "\"https://ring.example/\" = { keyring = true }";
        std::fs::write(folder.path().join("tokens.toml"), ring).expect("written");
        let silent = format!("{with}\nhome = false");
        let text = [host("here", &with), host("with", &with), host("without", ""), host("gone", gone)].concat()
            + &host("silent", &silent);
        std::fs::write(&file, text).expect("written");
        let config = Config::load(Some(&file)).expect("reads");
        let all = others(&config, &config.server("here").expect("a server"));
        let signed_in = |name: &str| all.iter().find(|o| o.host.name() == name).map(|o| o.signed_in);
        assert_eq!((signed_in("here.example"), signed_in("with.example")), (None, Some(true)));
        assert_eq!(signed_in("without.example"), Some(false));
        // Checking for a token in the keyring does not open it.
        assert_eq!(signed_in("ring.example"), Some(true));
        let hidden: Vec<&str> = all.iter().filter(|other| !other.at_home).map(|other| other.host.name()).collect();
        assert_eq!((signed_in("silent.example"), hidden), (Some(true), vec!["silent.example"]));
        // The error appears with the first request.
        assert_eq!(signed_in("gone.example"), Some(true));
        let options = Options { global: Global::default(), use_cache: false, config: config.clone() };
        let server = config.server("gone").expect("a server");
        let connection = connection(&options, server.clone(), LazyToken::configured(&config, server));
        let error = (connection.client)().expect_err("there is no such file");
        assert!(error.message().contains("/nowhere/token") && (connection.replies)().is_none(), "{error}");
    }
}
