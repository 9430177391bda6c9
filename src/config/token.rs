//! The token for a server: where it may come from, in which order, and the file where `labscope auth` keeps it.

use super::{Config, expand, glab, keyring};
use crate::system::{files, programs};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use url::Url;

/// The file beside the configuration that keeps tokens.
const FILE: &str = "tokens.toml";

/// A token, and what it came from in words.
#[derive(Clone, Debug)]
pub struct Token {
    pub secret: SecretString,
    /// Whether it came from a sign-in of glab's in the browser, as OAuth has it.
    pub oauth: bool,
    /// `LABSCOPE_TOKEN`, `glab's configuration`.
    pub origin: String,
}

/// Where the token of a server is kept, as the file says.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(untagged)]
enum TokenPlace {
    /// In the file itself.
    Here(String),
    /// In the keyring of the system.
    Keyring { keyring: bool },
}

/// A token, or that the keyring has it: asking that may take its time, and may ask the person.
#[derive(Clone, Debug)]
pub enum FoundToken {
    Token(Token),
    Keyring,
}

/// What became of a token that was to be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredToken {
    Keyring,
    /// In a file, and why not in the keyring.
    File(PathBuf, String),
}

/// Finds the token for the server at `url`: `--token-file`, the environment, the host's `token_file`, the one that is
/// kept, glab's.
///
/// # Errors
/// A file that was named and cannot be read.
pub fn find(
    option: Option<&Path>,
    var: &dyn Fn(&str) -> Option<String>,
    config: &Config,
    url: &Url,
) -> Result<Option<Token>, String> {
    match seek(option, var, config, url)? {
        Some(FoundToken::Token(token)) => Ok(Some(token)),
        Some(FoundToken::Keyring) => from_keyring(url),
        None => Ok(None),
    }
}

/// The same, without asking the keyring.
///
/// # Errors
/// A file that was named and cannot be read.
pub fn seek(
    option: Option<&Path>,
    var: &dyn Fn(&str) -> Option<String>,
    config: &Config,
    url: &Url,
) -> Result<Option<FoundToken>, String> {
    if let Some(path) = option {
        let secret = from_file(path).map_err(|why| format!("--token-file: {why}"))?;
        return Ok(Some(FoundToken::Token(Token {
            secret,
            oauth: false,
            origin: format!("the file {}", path.display()),
        })));
    }
    for name in programs::TOKENS {
        if let Some(text) = var(name).filter(|text| !text.trim().is_empty()) {
            let token = Token { secret: text.trim().to_owned().into(), oauth: false, origin: name.to_owned() };
            return Ok(Some(FoundToken::Token(token)));
        }
    }
    own(config, url)
}

/// Whether [`own`] names a token for a server, readable or not. No file that holds one alone is opened.
pub fn is_named(config: &Config, url: &Url) -> bool {
    let is_it = |text: &str| super::host::address(text).is_ok_and(|other| other == *url);
    config.hosts.values().any(|host| host.token_file.is_some() && is_it(host.url.get_ref()))
        || places(config)
            .get(url.as_str())
            .is_some_and(|place| !matches!(place, TokenPlace::Keyring { keyring: false }))
        || from_glab(url).is_some()
}

/// The token that belongs to a server, whatever was said for the one at hand: its `token_file`, the one that is kept, glab's.
///
/// # Errors
/// A file that the configuration names and that cannot be read.
pub fn own(config: &Config, url: &Url) -> Result<Option<FoundToken>, String> {
    let is_it = |text: &str| super::host::address(text).is_ok_and(|other| other == *url);
    for (name, host) in config.hosts.iter().filter(|(_, host)| is_it(host.url.get_ref())) {
        let Some(path) = &host.token_file else { continue };
        let secret = from_file(&expand(path.get_ref()))
            .map_err(|why| config.mistake(path.span(), &format!("hosts.{name}.token_file"), &why))?;
        let origin = format!("hosts.{name}.token_file of the configuration");
        return Ok(Some(FoundToken::Token(Token { secret, oauth: false, origin })));
    }
    match places(config).remove(url.as_str()) {
        Some(TokenPlace::Here(token)) => {
            let token = Token { secret: token.into(), oauth: false, origin: "labscope auth login".to_owned() };
            return Ok(Some(FoundToken::Token(token)));
        }
        Some(TokenPlace::Keyring { keyring: true }) => return Ok(Some(FoundToken::Keyring)),
        Some(TokenPlace::Keyring { keyring: false }) | None => {}
    }
    Ok(from_glab(url).map(FoundToken::Token))
}

/// The token that the keyring has for a server; glab's, where it has none.
///
/// # Errors
/// Why it cannot be asked.
pub fn from_keyring(url: &Url) -> Result<Option<Token>, String> {
    let token = keyring::token(url).map_err(|why| format!("the keyring that holds the token: {why}"))?;
    let origin = "labscope auth login, in the keyring".to_owned();
    Ok(token.map(|token| Token { secret: token.into(), oauth: false, origin }).or_else(|| from_glab(url)))
}

fn from_glab(url: &Url) -> Option<Token> {
    let host = glab::hosts().into_iter().find(|host| host.url == *url)?;
    Some(Token { secret: host.token?, oauth: host.oauth, origin: "glab's configuration".to_owned() })
}

fn from_file(path: &Path) -> Result<SecretString, String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{} cannot be read: {e}", path.display()))?;
    match text.lines().next().map(str::trim).filter(|line| !line.is_empty()) {
        Some(line) => Ok(line.to_owned().into()),
        None => Err(format!("{} holds no token on its first line", path.display())),
    }
}

fn path(config: &Config) -> Option<PathBuf> {
    config.folder().map(|folder| folder.join(FILE))
}

/// The servers whose tokens are kept. What cannot be read counts as nothing.
pub fn servers(config: &Config) -> impl Iterator<Item = String> + use<> {
    places(config).into_keys()
}

fn places(config: &Config) -> BTreeMap<String, TokenPlace> {
    path(config).and_then(|path| read(&path).ok()).unwrap_or_default()
}

/// The places of a file; none where there is no file.
fn read(path: &Path) -> io::Result<BTreeMap<String, TokenPlace>> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        text => text?,
    };
    // The parser would quote the line, and with it a token.
    let damaged = |_| io::Error::other(format!("{} is damaged; mend it, or remove it", path.display()));
    toml::from_str(&text).map_err(damaged)
}

/// Keeps `token` for `url` in the keyring of the system, else in a file that only its owner can read. The file says where the
/// token of each server is, so that the keyring is asked for those alone that it has.
///
/// # Errors
/// What the disk says; a file that cannot be read is left as it is, because it may hold other tokens.
pub fn keep(config: &Config, url: &Url, token: &str) -> io::Result<StoredToken> {
    let Some(path) = path(config) else { return Err(io::Error::other("there is no folder for the configuration")) };
    let mut all = read(&path)?;
    let kept = match config.keyring {
        Some(false) => Err("the configuration says so".to_owned()),
        _ => keyring::keep(url, token),
    };
    let (place, kept) = match kept {
        Ok(()) => (TokenPlace::Keyring { keyring: true }, StoredToken::Keyring),
        Err(why) => (TokenPlace::Here(token.to_owned()), StoredToken::File(path.clone(), why)),
    };
    all.insert(url.to_string(), place);
    write(&path, &all)?;
    Ok(kept)
}

/// Forgets the token for `url`; says whether there was one.
///
/// # Errors
/// What the disk says, and why the keyring does not forget it.
pub fn forget(config: &Config, url: &Url) -> io::Result<bool> {
    let Some(path) = path(config) else { return Ok(false) };
    let mut all = read(&path)?;
    let Some(place) = all.remove(url.as_str()) else { return Ok(false) };
    if matches!(place, TokenPlace::Keyring { keyring: true }) {
        keyring::forget(url).map_err(|why| io::Error::other(format!("the keyring: {why}")))?;
    }
    write(&path, &all)?;
    Ok(true)
}

fn write(path: &Path, all: &BTreeMap<String, TokenPlace>) -> io::Result<()> {
    write_private(path, toml::to_string(all).map_err(io::Error::other)?.as_bytes())
}

/// Writes a file by rename, so that it is there whole or not at all, readable for its owner alone (mode 0600).
///
/// # Errors
/// What the disk says.
pub fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = files::folder_of(path);
    fs::create_dir_all(folder)?;
    // Temporary files are made with mode 0600.
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

    #[test]
    fn tokens_are_kept_apart_by_server_and_for_the_owner_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("config.toml");
        fs::write(&file, "keyring = false").expect("written");
        let config = Config::load(Some(&file)).expect("reads");
        let url = |text: &str| Url::parse(text).expect("an address");
        keep(&config, &url("https://one.example/"), "secret-1").expect("kept");
        keep(&config, &url("https://two.example/"), "secret-2").expect("kept");
        let find = |host: &str, env: Option<&str>| {
            let var = |name: &str| env.filter(|_| name == "GITLAB_TOKEN").map(str::to_owned);
            let token = find(None, &var, &config, &url(host)).expect("no mistake");
            token.map(|token| (token.secret.expose_secret().to_owned(), token.origin))
        };
        let kept = |secret: &str| Some((secret.to_owned(), "labscope auth login".to_owned()));
        assert_eq!(find("https://two.example/", None), kept("secret-2"));
        assert_eq!(find("https://two.example/", Some("env")), Some(("env".to_owned(), "GITLAB_TOKEN".to_owned())));
        assert!(forget(&config, &url("https://two.example/")).expect("forgotten"));
        assert!(!forget(&config, &url("https://two.example/")).expect("nothing to forget"));
        assert_eq!(find("https://one.example/", None), kept("secret-1"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(folder.path().join(FILE)).expect("there").permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        fs::write(folder.path().join(FILE), "\"https://one.example/\" = secret-1").expect("written");
        let error = keep(&config, &url("https://two.example/"), "secret-3").expect_err("it is damaged");
        assert!(error.to_string().contains("tokens.toml is damaged") && !error.to_string().contains("secret"));
        let left = fs::read_to_string(folder.path().join(FILE)).expect("still there");
        assert!(left.contains("secret-1"), "what it held is not lost: {left}");
        let mistake = super::find(Some(Path::new("/nowhere")), &|_| None, &config, &url("https://one.example/"));
        assert!(mistake.expect_err("no such file").starts_with("--token-file: /nowhere"));
    }
}
