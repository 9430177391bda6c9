//! How servers are reached: which there are, the token of each, and where their replies are kept.

use super::args::Global;
use super::interface;
use crate::api;
use crate::api::client::{Client, Server};
use crate::api::endpoint::encode;
use crate::api::{Fault, Host};
use crate::app::pane::{OtherServer, Session};
use crate::app::reconcile;
use crate::config::token::{self, FoundToken, Token};
use crate::config::{Config, host};
use crate::runtime::connections::{Connection, DialServer};
use crate::runtime::journal;
use crate::runtime::sessions::{OpenServer, ServerContext};
use secrecy::{ExposeSecret, SecretString};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};
use url::Url;

/// The other servers than `here` that configuration, kept tokens and glab name. No keyring is asked.
pub fn others(config: &Config, here: &Url) -> Vec<OtherServer> {
    let all = host::known(config).into_iter().filter(|url| url != here);
    all.map(|url| {
        // A token that cannot be read is a mistake that is shown where the server is asked.
        let signed_in = token::is_named(config, &url);
        OtherServer { host: Host::new(url.as_str()), signed_in, at_home: at_home(config, &url) }
    })
    .collect()
}

/// Whether home lists what waits on a server while one is at another.
fn at_home(config: &Config, url: &Url) -> bool {
    let is_it = |text: &str| host::address(text).is_ok_and(|other| other == *url);
    !config.hosts.values().any(|host| host.home == Some(false) && is_it(host.url.get_ref()))
}

/// How other servers than the one at hand are reached: each with its own token, never with one that was given for the one
/// at hand.
pub fn dial(global: &Global, config: &Config) -> DialServer {
    let (options, config) = (Options::of(global, config), config.clone());
    Box::new(move |host| match host::address(host.web_url()) {
        Ok(url) => connection(&options, url.clone(), Secret::own(&config, url)),
        Err(why) => Connection::new(Box::new(|| Err(unusable(why))), None),
    })
}

/// What other servers than the one at hand are opened on; `here` is its session.
pub fn open(global: &Global, config: &Config, here: &Session) -> OpenServer {
    let (read_only, offline) = (global.read_only, global.offline);
    let own = OtherServer {
        host: Host::new(&here.web_url),
        signed_in: here.signed_in,
        at_home: host::address(&here.web_url).is_ok_and(|url| at_home(config, &url)),
    };
    let all: Vec<OtherServer> = std::iter::once(own).chain(here.others.iter().cloned()).collect();
    let config = config.clone();
    Arc::new(move |host| {
        let url = host::address(host.web_url()).ok();
        let drafts = super::open::drafts(host.name());
        let kept = drafts.as_deref().map(journal::load).unwrap_or_default();
        let session = Session {
            server: host.name().to_owned(),
            web_url: host.web_url().to_owned(),
            read_only,
            offline,
            signed_in: url.is_some_and(|url| token::is_named(&config, &url)),
            others: all.iter().filter(|other| other.host != *host).cloned().collect(),
            ..Session::default()
        };
        ServerContext { session, drafts, warning: interface::damage(&kept), kept: kept.kept }
    })
}

/// What options say about every server alike.
#[derive(Clone)]
pub struct Options {
    ca_cert: Option<PathBuf>,
    read_only: bool,
    offline: bool,
    /// Whether replies are kept.
    keeps: bool,
}

impl Options {
    /// What options and configuration say.
    pub fn of(global: &Global, config: &Config) -> Options {
        let (ca_cert, keeps) = (global.ca_cert.clone(), config.cache.unwrap_or(true));
        Options { ca_cert, read_only: global.read_only, offline: global.offline, keeps }
    }
}

/// What comes of every call under `--offline`.
pub fn offline(web_url: &str) -> api::Error {
    let tried = format!("connect to {}", web_url.trim_end_matches('/'));
    api::Error { tried, fault: reconcile::offline() }
}

/// The token of a server, looked for once, on a worker.
#[derive(Clone)]
pub struct Secret {
    found: Arc<OnceLock<Result<Option<Token>, String>>>,
    find: Arc<dyn Fn() -> Result<Option<Token>, String> + Send + Sync>,
}

impl Secret {
    /// The token that was found for the server at `url`.
    pub fn of(found: Option<FoundToken>, url: Url) -> Secret {
        Secret::from(move || match &found {
            Some(FoundToken::Token(token)) => Ok(Some(token.clone())),
            Some(FoundToken::Keyring) => token::from_keyring(&url),
            None => Ok(None),
        })
    }

    /// The token that belongs to the server at `url`.
    fn own(config: &Config, url: Url) -> Secret {
        let config = config.clone();
        Secret::from(move || match token::own(&config, &url)? {
            Some(FoundToken::Token(token)) => Ok(Some(token)),
            Some(FoundToken::Keyring) => token::from_keyring(&url),
            None => Ok(None),
        })
    }

    fn from(find: impl Fn() -> Result<Option<Token>, String> + Send + Sync + 'static) -> Secret {
        Secret { found: Arc::default(), find: Arc::new(find) }
    }

    fn get(&self) -> Result<Option<Token>, String> {
        self.found.get_or_init(|| (self.find)()).clone()
    }
}

fn unusable(why: String) -> api::Error {
    api::Error { tried: "find the token".into(), fault: Fault::Offline(why) }
}

/// How the server at `url` is reached with its token.
pub fn connection(options: &Options, url: Url, secret: Secret) -> Connection {
    let (ca_cert, read_only) = (options.ca_cert.clone(), options.read_only);
    let folder = url.clone();
    let for_replies = secret.clone();
    let (offline, keeps) = (options.offline, options.keeps);
    let client = move || {
        if offline {
            return Err(self::offline(url.as_str()));
        }
        let token = secret.get().map_err(unusable)?;
        let oauth = token.as_ref().is_some_and(|token| token.oauth);
        Client::new(Server { token: token.map(|token| token.secret), oauth, ca_cert, read_only, ..Server::new(url) })
    };
    let replies = move || {
        if keeps { replies(&folder, for_replies.get().ok()?.as_ref().map(|token| &token.secret)) } else { None }
    };
    Connection { client: Box::new(client), replies: Box::new(replies) }
}

/// Where replies of a server are kept: what one token may see is not for another.
fn replies(url: &Url, token: Option<&SecretString>) -> Option<PathBuf> {
    let mut hasher = DefaultHasher::new();
    token.map(|token| token.expose_secret()).hash(&mut hasher);
    let server = dirs::cache_dir()?.join("labscope/replies").join(encode(url.as_str()));
    let folder = server.join(format!("{:016x}", hasher.finish()));
    forget(&server, &folder, SystemTime::now());
    Some(folder)
}

/// How long what another token may see is kept after it was last added to: tokens end.
const LASTS: Duration = Duration::from_secs(30 * 86_400);

/// Removes what was kept for tokens that nobody used for long. What cannot be looked at stays.
fn forget(server: &Path, used: &Path, now: SystemTime) {
    for entry in fs::read_dir(server).into_iter().flatten().flatten() {
        let written = entry.metadata().ok().filter(|found| found.is_dir()).and_then(|found| found.modified().ok());
        let age = written.and_then(|written| now.duration_since(written).ok());
        if entry.path() != used && age.is_some_and(|age| age > LASTS) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_of_tokens_that_ended_long_ago_are_not_kept_for_ever() {
        let server = tempfile::tempdir().expect("a folder");
        let at = |name: &str| server.path().join(name);
        for name in ["used", "other"] {
            fs::create_dir(at(name)).expect("made");
            fs::write(at(name).join("reply"), "x").expect("written");
        }
        forget(server.path(), &at("used"), SystemTime::now());
        assert!(at("other").exists());
        forget(server.path(), &at("used"), SystemTime::now() + LASTS * 2);
        assert!(at("used").join("reply").exists() && !at("other").exists());
        forget(&at("nowhere"), &at("used"), SystemTime::now());
    }

    #[test]
    fn other_servers_are_those_that_are_named_and_only_their_own_tokens_count() {
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
        let all = others(&config, &host::address("here.example").expect("an address"));
        let signed_in = |name: &str| all.iter().find(|o| o.host.name() == name).map(|o| o.signed_in);
        assert_eq!((signed_in("here.example"), signed_in("with.example")), (None, Some(true)));
        assert_eq!(signed_in("without.example"), Some(false));
        // That the keyring has one is known without asking it.
        assert_eq!(signed_in("ring.example"), Some(true));
        let heard: Vec<&str> = all.iter().filter(|other| !other.at_home).map(|other| other.host.name()).collect();
        assert_eq!((signed_in("silent.example"), heard), (Some(true), vec!["silent.example"]));
        // What is wrong with it is said where it is asked.
        assert_eq!(signed_in("gone.example"), Some(true));
        let global = Options { ca_cert: None, read_only: false, offline: false, keeps: false };
        let url = host::address("gone.example").expect("an address");
        let reached = connection(&global, url.clone(), Secret::own(&config, url));
        let error = (reached.client)().expect_err("there is no such file");
        assert!(error.said().contains("/nowhere/token") && (reached.replies)().is_none(), "{error}");
    }
}
