//! Access tokens of a server: their sources in order, and the file where `labscope auth` stores them.

use super::host::{self, KnownServer};
use super::sign_in::SignIn;
use super::{Config, expand, glab, keyring, token_source};
use crate::system::files;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use token_source::{HostVariable, Source, TokenFacts};

/// The name of the token file in the configuration folder.
const FILE: &str = "tokens.toml";
/// The maximum size of a file with one token, in bytes.
const MAX_TOKEN: u64 = 64 << 10;

/// A token and its origin.
#[derive(Clone, Debug)]
pub struct Token {
    pub secret: SecretString,
    /// Whether this is an OAuth token, from glab or from a sign-in with labscope.
    pub oauth: bool,
    /// The sign-in that renews the token, if labscope can renew it.
    pub sign_in: Option<SignIn>,
    /// The source, for messages: `LABSCOPE_TOKEN`, `glab's configuration`.
    pub origin: String,
}

impl Token {
    /// Parses a stored token: a sign-in or a plain token.
    fn stored(text: String, origin: &str) -> Token {
        let origin = origin.to_owned();
        match SignIn::parse(&text) {
            Some(sign_in) => {
                let secret = sign_in.access_token.clone().into();
                Token { secret, oauth: true, sign_in: Some(sign_in), origin }
            }
            None => Token { secret: text.into(), oauth: false, sign_in: None, origin },
        }
    }
}

/// The location of a server's token, as recorded in the token file.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(untagged)]
enum TokenPlace {
    /// In the token file itself.
    Inline(String),
    /// In the system keyring.
    Keyring { keyring: bool },
}

/// A token, or a marker that it is in the keyring: opening the keyring may block and prompt the user.
#[derive(Clone, Debug)]
pub enum FoundToken {
    Token(Token),
    Keyring,
}

/// The location where a token was stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredToken {
    Keyring,
    /// In a file, with the reason why the keyring was not used.
    File(PathBuf, String),
}

/// The options and variables from which a token can come.
pub struct TokenSources<'a> {
    /// `--token-file`.
    pub option: Option<&'a Path>,
    /// Whether `--host` names the server.
    pub is_named: bool,
    /// Looks up an environment variable.
    pub var: &'a dyn Fn(&str) -> Option<String>,
    pub config: &'a Config,
}

/// Determines the source of the token for a server, without reading the token.
pub fn source(sources: &TokenSources, server: &KnownServer) -> Source {
    let TokenSources { option, is_named, var, config } = sources;
    let is_set = |name: &str| var(name).is_some_and(|text| !text.trim().is_empty());
    let host = |name: &str| match var(name).filter(|text| !text.trim().is_empty()) {
        Some(text) => config.server(text.trim()).map_or(HostVariable::Invalid, HostVariable::Server),
        None => HostVariable::Unset,
    };
    token_source::choose(&TokenFacts {
        server,
        is_named: *is_named,
        has_option: option.is_some(),
        labscope_token: is_set("LABSCOPE_TOKEN"),
        gitlab_token: is_set("GITLAB_TOKEN"),
        labscope_host: host("LABSCOPE_HOST"),
        gitlab_host: host("GITLAB_HOST"),
        default: default_owner(config, server),
        has_own: is_configured(config, server),
    })
}

/// Returns the server that tokens of the environment belong to if no variable names it: the default server, or `server`
/// if no other is known.
fn default_owner(config: &Config, server: &KnownServer) -> Option<KnownServer> {
    host::default(config).or_else(|| host::known(config).iter().eq([server]).then(|| server.clone()))
}

/// Finds the token for a server, see [`token_source::choose`].
///
/// # Errors
/// Returns a message if a token file cannot be read, or the keyring cannot be opened.
pub fn find(sources: &TokenSources, server: &KnownServer) -> Result<Option<Token>, String> {
    match locate(sources, server)? {
        Some(FoundToken::Token(token)) => Ok(Some(token)),
        Some(FoundToken::Keyring) => from_keyring(server),
        None => Ok(None),
    }
}

/// Finds the token like [`find`], but without opening the keyring.
///
/// # Errors
/// Returns a message if a token file cannot be read.
pub fn locate(sources: &TokenSources, server: &KnownServer) -> Result<Option<FoundToken>, String> {
    let plain = |secret, origin| Token { secret, oauth: false, sign_in: None, origin };
    match (source(sources, server), sources.option) {
        (Source::Option, Some(path)) => {
            let text = files::read_argument(path, MAX_TOKEN);
            let secret = first_line(path, text).map_err(|reason| format!("--token-file: {reason}"))?;
            Ok(Some(FoundToken::Token(plain(secret, format!("the file {}", path.display())))))
        }
        (Source::Variable(name), _) => {
            let text = (sources.var)(name).unwrap_or_default();
            Ok(Some(FoundToken::Token(plain(text.trim().to_owned().into(), name.to_owned()))))
        }
        (Source::Own, _) => configured(sources.config, server),
        (Source::Option | Source::Nothing(_), _) => Ok(None),
    }
}

/// Returns whether a server has a token of its own, readable or not, without opening token files or the keyring.
fn is_configured(config: &Config, server: &KnownServer) -> bool {
    config.table(server).is_some_and(|host| host.token_file.is_some())
        || places(config)
            .get(&server.key())
            .is_some_and(|place| !matches!(place, TokenPlace::Keyring { keyring: false }))
        || from_glab(server).is_some()
}

/// Returns the server's own token: from its `token_file`, the stored tokens, or glab.
fn configured(config: &Config, server: &KnownServer) -> Result<Option<FoundToken>, String> {
    if let Some(name) = &server.table
        && let Some(path) = config.table(server).and_then(|host| host.token_file.as_ref())
    {
        let file = expand(path.get_ref());
        let secret = first_line(&file, files::read_text(&file, MAX_TOKEN))
            .map_err(|reason| config.mistake(path.span(), &format!("hosts.{name}.token_file"), &reason).to_string())?;
        let origin = format!("hosts.{name}.token_file in the configuration");
        return Ok(Some(FoundToken::Token(Token { secret, oauth: false, sign_in: None, origin })));
    }
    match places(config).remove(&server.key()) {
        Some(TokenPlace::Inline(token)) => {
            return Ok(Some(FoundToken::Token(Token::stored(token, "labscope auth login"))));
        }
        Some(TokenPlace::Keyring { keyring: true }) => return Ok(Some(FoundToken::Keyring)),
        Some(TokenPlace::Keyring { keyring: false }) | None => {}
    }
    Ok(from_glab(server).map(FoundToken::Token))
}

/// Returns the token for a server from the keyring, or glab's if the keyring has none.
///
/// # Errors
/// Returns the reason why the keyring cannot be opened.
pub fn from_keyring(server: &KnownServer) -> Result<Option<Token>, String> {
    let token = keyring::token(&server.key());
    let token = token.map_err(|reason| format!("cannot read the token from the keyring: {reason}"))?;
    Ok(token.map(|token| Token::stored(token, "labscope auth login, in the keyring")).or_else(|| from_glab(server)))
}

/// Returns the sign-in that is currently stored for a server, if it can be read.
pub fn stored_sign_in(config: &Config, server: &KnownServer) -> Option<SignIn> {
    let key = server.key();
    let text = match places(config).remove(&key)? {
        TokenPlace::Inline(text) => text,
        TokenPlace::Keyring { keyring } => keyring::token(&key).ok().flatten().filter(|_| keyring)?,
    };
    SignIn::parse(&text)
}

/// Acquires an exclusive lock on the stored tokens across processes; blocks until it is free. Dropping the file
/// releases it.
///
/// # Errors
/// Returns I/O errors.
pub fn lock(config: &Config) -> io::Result<fs::File> {
    let Some(path) = path(config) else { return Err(io::Error::other("there is no folder for the configuration")) };
    fs::create_dir_all(files::folder_of(&path))?;
    let mut options = fs::OpenOptions::new();
    options.write(true);
    let file = files::open(&path.with_extension("lock"), &options)?;
    file.lock()?;
    Ok(file)
}

fn from_glab(server: &KnownServer) -> Option<Token> {
    // glab knows one account per address.
    let host = glab::hosts().into_iter().find(|host| host.url == server.url && server.account.is_none())?;
    let origin = "glab's configuration".to_owned();
    Some(Token { secret: host.token?, oauth: host.oauth, sign_in: None, origin })
}

fn first_line(path: &Path, text: io::Result<String>) -> Result<SecretString, String> {
    let text = text.map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    match text.lines().next().map(str::trim).filter(|line| !line.is_empty()) {
        Some(line) => Ok(line.to_owned().into()),
        None => Err(format!("no token on the first line of {}", path.display())),
    }
}

fn path(config: &Config) -> Option<PathBuf> {
    config.folder().map(|folder| folder.join(FILE))
}

/// Lists the servers with a stored token; the list is empty if the file cannot be read.
pub fn servers(config: &Config) -> impl Iterator<Item = String> + use<> {
    places(config).into_keys()
}

fn places(config: &Config) -> BTreeMap<String, TokenPlace> {
    path(config).and_then(|path| read(&path).ok()).unwrap_or_default()
}

/// Reads the token file; returns an empty map if it does not exist.
fn read(path: &Path) -> io::Result<BTreeMap<String, TokenPlace>> {
    let text = match files::read_text(path, files::MAX_SETTINGS) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        text => text?,
    };
    // The parser's message would quote the line with the token.
    let damaged = |_| io::Error::other(format!("{} is damaged; repair or remove it", path.display()));
    toml::from_str(&text).map_err(damaged)
}

/// Stores `token` for a server in the system keyring, or else in a file that only its owner can read. The file records the
/// location of each token, so that the keyring is opened only for servers whose token it contains.
///
/// # Errors
/// Returns I/O errors. A damaged file is not overwritten, because it may contain other tokens.
pub fn store(config: &Config, server: &KnownServer, token: &str) -> io::Result<StoredToken> {
    let Some(path) = path(config) else { return Err(io::Error::other("there is no folder for the configuration")) };
    let mut all = read(&path)?;
    let stored = match config.keyring {
        Some(false) => Err("it is turned off in the configuration".to_owned()),
        _ => keyring::store(&server.key(), token),
    };
    let (place, stored) = match stored {
        Ok(()) => (TokenPlace::Keyring { keyring: true }, StoredToken::Keyring),
        Err(reason) => (TokenPlace::Inline(token.to_owned()), StoredToken::File(path.clone(), reason)),
    };
    all.insert(server.key(), place);
    write(&path, &all)?;
    Ok(stored)
}

/// Removes the stored token of a server; returns `false` if there was none.
///
/// # Errors
/// Returns I/O errors, and the reason why the keyring cannot remove the token.
pub fn remove(config: &Config, server: &KnownServer) -> io::Result<bool> {
    let Some(path) = path(config) else { return Ok(false) };
    let mut all = read(&path)?;
    let Some(place) = all.remove(&server.key()) else { return Ok(false) };
    if matches!(place, TokenPlace::Keyring { keyring: true }) {
        keyring::remove(&server.key()).map_err(|reason| io::Error::other(format!("the keyring: {reason}")))?;
    }
    write(&path, &all)?;
    Ok(true)
}

fn write(path: &Path, all: &BTreeMap<String, TokenPlace>) -> io::Result<()> {
    write_private(path, toml::to_string(all).map_err(io::Error::other)?.as_bytes())
}

/// Writes a file atomically, readable only by its owner (mode 0600).
///
/// # Errors
/// Returns I/O errors.
pub fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = files::folder_of(path);
    fs::create_dir_all(folder)?;
    // Temporary files are created with mode 0600.
    let mut file = tempfile::Builder::new().prefix(".labscope-").tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|e| e.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::ExposeSecret;

    fn find_with_file(config: &Config, server: &KnownServer) -> Result<Option<Token>, String> {
        super::find(
            &TokenSources { option: Some(Path::new("/nowhere")), is_named: true, var: &|_| None, config },
            server,
        )
    }

    #[test]
    fn tokens_are_stored_per_server_and_only_for_the_owner() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("config.toml");
        fs::write(&file, "keyring = false").expect("written");
        let config = Config::load(Some(&file)).expect("reads");
        let server = |text: &str| config.server(text).expect("an address");
        store(&config, &server("https://one.example/"), "secret-1").expect("stored");
        store(&config, &server("https://two.example/"), "secret-2").expect("stored");
        let find = |host: &str, env: Option<&str>| {
            let var = |name: &str| env.filter(|_| name == "GITLAB_TOKEN").map(str::to_owned);
            let sources = TokenSources { option: None, is_named: true, var: &var, config: &config };
            let token = find(&sources, &server(host)).expect("no mistake");
            token.map(|token| (token.secret.expose_secret().to_owned(), token.origin))
        };
        let stored = |secret: &str| Some((secret.to_owned(), "labscope auth login".to_owned()));
        assert_eq!(find("https://two.example/", None), stored("secret-2"));
        // The first server with a stored token is the default, to which the variable belongs.
        assert_eq!(find("https://one.example/", Some("env")), Some(("env".to_owned(), "GITLAB_TOKEN".to_owned())));
        assert_eq!(find("https://two.example/", Some("env")), stored("secret-2"));
        assert!(remove(&config, &server("https://two.example/")).expect("removed"));
        assert!(!remove(&config, &server("https://two.example/")).expect("nothing to remove"));
        assert_eq!(find("https://one.example/", None), stored("secret-1"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(folder.path().join(FILE)).expect("there").permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        fs::write(folder.path().join(FILE), "\"https://one.example/\" = secret-1").expect("written");
        let error = store(&config, &server("https://two.example/"), "secret-3").expect_err("it is damaged");
        assert!(error.to_string().contains("tokens.toml is damaged") && !error.to_string().contains("secret"));
        let left = fs::read_to_string(folder.path().join(FILE)).expect("still there");
        assert!(left.contains("secret-1"), "what it held is not lost: {left}");
        let mistake = find_with_file(&config, &server("https://one.example/"));
        assert!(mistake.expect_err("no such file").starts_with("--token-file: cannot read /nowhere"));
    }
}
