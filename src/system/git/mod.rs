//! Starts git in a clone that others may have prepared. All of labscope's git processes are created here; `server` has
//! those of the local server.
//!
//! The configuration of such a clone can name programs, files to write and other servers. Git uses none of them, unless
//! the user was asked:
//!
//! - Variables of the environment that lead git to another repository or configuration are removed ([`Environment`]).
//! - Of the clone's own settings, those on a list of harmless ones count (`settings`). Git gets the user's own value of
//!   the others, or none. If it cannot do without one, such as a filter, the user is asked ([`Untrusted`]).
//! - The configuration is read again before each command, since a branch can change an included file.
//! - A value is never read as an option.
//! - Git fetches from and pushes to the address that the project was recognized by, or fails. That is never a folder of
//!   this machine for a push, so no hook of another repository runs.
//! - A push runs the hooks of the clone, as `git push` does, so the user is asked about them.
//!
//! Ownership (`safe.directory`) is checked by git itself, before it reads anything from the clone.

pub mod config;
mod layout;
pub mod server;
mod settings;

use super::programs::{self, Command};
pub use layout::is_in_git_folder;
pub use settings::counts;
use settings::{GitSetting, Reviewed};
use sha2::{Digest, Sha256};
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::str::Utf8Chunk;

/// The maximum size in bytes of what git may print.
const MAX_OUTPUT_BYTES: u64 = 16 << 20;
/// The maximum size in bytes of the error messages that are read.
const MAX_ERROR_BYTES: u64 = 64 << 10;

/// The variables of git that the user may set. All others are removed: they name a repository, an index, objects or
/// settings, and an outer git (a hook, an alias) sets them for itself.
const KEPT: [&str; 13] = [
    "GIT_ALLOW_PROTOCOL",
    "GIT_ASKPASS",
    "GIT_CEILING_DIRECTORIES",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_SYSTEM",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "GIT_NO_LAZY_FETCH",
    "GIT_PROTOCOL_FROM_USER",
    "GIT_PROXY_COMMAND",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_SSH_VARIANT",
];
/// The beginnings of further variables that the user may set.
const KEPT_PREFIXES: [&str; 6] =
    ["GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_HTTP_", "GIT_LFS_", "GIT_PROXY_SSL_", "GIT_SSL_"];

/// The environment of git processes.
#[derive(Clone, Debug)]
pub struct Environment(Vec<(OsString, OsString)>);

impl Environment {
    /// Returns the environment of this process, cleaned.
    pub fn inherited() -> Environment {
        Environment::cleaned(std::env::vars_os())
    }

    /// Keeps of `variables` what git processes may see.
    pub fn cleaned(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Environment {
        Environment(variables.into_iter().filter(|(name, _)| is_kept(&name.to_string_lossy())).collect())
    }

    fn get(&self, name: &str) -> Option<&OsStr> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_os_str())
    }
}

fn is_kept(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    if programs::TOKENS.contains(&name.as_str()) {
        return false;
    }
    !name.starts_with("GIT_")
        || KEPT.contains(&name.as_str())
        || KEPT_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// The settings and links of a clone that the user has not allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Untrusted {
    /// The settings and links, each on a line: `core.sshcommand = ssh -i key`.
    pub reasons: Vec<String>,
    /// The name of exactly this configuration of exactly this clone, in hexadecimal digits.
    pub fingerprint: String,
}

/// The reason why a git command was not run or failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The clone would run programs or connect differently; nothing was run.
    #[error("the configuration of the clone must be allowed first: {}", .0.reasons.join(", "))]
    Untrusted(Untrusted),
    /// Git failed, or refused, for this reason.
    #[error("{0}")]
    Failed(String),
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        Error::Failed(format!("git cannot be run: {error}"))
    }
}

/// The purpose that git is started for, which decides how it may connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose<'a> {
    /// To read refs and commits. Git connects to nothing, and writes no index.
    Read,
    /// To check out a branch that is fetched from this address. Git may fetch missing objects from it as well.
    CheckOut(&'a str),
    /// To push a branch. The hooks of the clone are run as git runs them, so the user must have allowed them as well.
    Push,
}

/// A clone in which git can be started.
pub struct GitClone<'a> {
    folder: PathBuf,
    environment: Environment,
    is_trusted: &'a dyn Fn(&str) -> bool,
    git_dir: PathBuf,
    /// Parts of the clone that lead elsewhere.
    links: Vec<String>,
    purpose: Purpose<'a>,
}

/// The hooks that git runs when it pushes.
const PUSH_HOOKS: [&str; 2] = ["pre-push", "reference-transaction"];
/// The maximum size in bytes of a hook that is read to recognize it.
const MAX_HOOK_BYTES: u64 = 16 << 20;

impl<'a> GitClone<'a> {
    /// Opens the clone whose working tree is `folder`. `is_trusted` returns whether the user has allowed the
    /// configuration with a fingerprint; it is asked before each command, if the configuration must be allowed.
    ///
    /// # Errors
    /// Returns an error if git finds another working tree or none, and if the clone is not trusted.
    pub fn open(
        folder: &Path,
        environment: Environment,
        purpose: Purpose<'a>,
        is_trusted: &'a dyn Fn(&str) -> bool,
    ) -> Result<GitClone<'a>, Error> {
        let folder = folder.canonicalize()?;
        let (git_dir, links) = (PathBuf::new(), Vec::new());
        let mut clone = GitClone { folder, environment, is_trusted, git_dir, links, purpose };
        // This prints paths and runs nothing, so it is allowed before the user is asked.
        let ask = |what: &str| clone.start(None, &[], &["rev-parse", what]);
        if ask("--is-inside-work-tree")? != "true" {
            return Err(Error::Failed("the clone has no working tree".to_owned()));
        }
        let path = |what: &str| -> Result<PathBuf, Error> { Ok(clone.folder.join(ask(what)?).canonicalize()?) };
        let (git_dir, common_dir) = (path("--absolute-git-dir")?, path("--git-common-dir")?);
        let top = path("--show-toplevel")?;
        if top != clone.folder {
            return Err(Error::Failed(format!("git uses the working tree at {} for this clone", top.display())));
        }
        clone.links = layout::links(&clone.folder, &git_dir, &common_dir);
        clone.git_dir = git_dir;
        clone.review()?;
        Ok(clone)
    }

    /// Runs a git command in the clone. Returns its output, trimmed. No value may begin with a hyphen.
    ///
    /// # Errors
    /// Returns the first message of git that reports an error, and an error if the clone is not trusted any more.
    pub fn run(&self, command: &[&str], values: &[&str]) -> Result<String, Error> {
        let reviewed = self.review()?;
        self.start_reviewed(&reviewed, &[], command, values)
    }

    /// Fetches `refspec` from `url`, whatever the clone's configuration says about that URL.
    ///
    /// # Errors
    /// Like [`GitClone::run`], and an error if the clone's configuration replaces the URL.
    pub fn fetch(&self, url: &str, refspec: &str) -> Result<(), Error> {
        if url.starts_with('-') {
            return Err(Error::Failed(format!("{url:?} would be read as an option")));
        }
        let reviewed = self.review()?;
        // Git reads settings by the name of a remote, also if that is a URL. This name has none.
        let is_used = |name: &str| reviewed.settings.iter().any(|setting| setting.subsection() == Some(name));
        let name = (0..=reviewed.settings.len()).map(|number| format!("labscope-{number}")).find(|name| !is_used(name));
        let name = name.unwrap_or_default();
        let remote = [(format!("remote.{name}.url"), url.to_owned())];
        let fetched = self.start_reviewed(&reviewed, &remote, &["ls-remote", "--get-url", "--"], &[&name])?;
        if fetched != url {
            // An address may contain a password.
            return Err(Error::Failed("the configuration of the clone replaces the address of the project".into()));
        }
        let command = ["fetch", "--quiet", "--no-recurse-submodules", "--upload-pack=git-upload-pack", "--"];
        self.start_reviewed(&reviewed, &remote, &command, &[&name, refspec]).map(drop)
    }

    /// Returns the command that pushes `refspec` to `url`, the address of the remote of that name, and makes it the
    /// upstream of its branch if that has none. It asks nothing on a terminal.
    ///
    /// # Errors
    /// Like [`GitClone::run`], and an error if git would push to another address.
    pub fn push_command(&self, remote: &str, url: &str, branch: &str, refspec: &str) -> Result<Command, Error> {
        if !is_on_server(url) {
            return Err(Error::Failed(format!("the remote {remote} is not on a server")));
        }
        let reviewed = self.review()?;
        let key = format!("remote.{remote}.pushurl");
        let is_set = reviewed.settings.iter().any(|setting| setting.is(&key));
        let settings: Vec<_> = (!is_set).then(|| (key, url.to_owned())).into_iter().collect();
        let get_url = ["remote", "get-url", "--push", "--all", "--"];
        if self.start_reviewed(&reviewed, &settings, &get_url, &[remote])? != url {
            // An address may contain a password.
            return Err(Error::Failed(format!(
                "git pushes to another address than the one of the project; see git remote get-url --push --all {remote}"
            )));
        }
        let mut command = vec!["push", "--progress", "--no-recurse-submodules", "--receive-pack=git-receive-pack"];
        if !reviewed.settings.iter().any(|setting| setting.is(&format!("branch.{branch}.merge"))) {
            command.push("--set-upstream");
        }
        command.push("--");
        self.reviewed_command(&reviewed, &settings, &command, &[remote, refspec])
    }

    /// Returns the value of a setting, whose section and name are in lower case.
    ///
    /// # Errors
    /// Like [`GitClone::run`].
    pub fn setting(&self, key: &str) -> Result<Option<String>, Error> {
        let settings = self.review()?.settings;
        Ok(settings.iter().rfind(|setting| setting.is(key)).map(|setting| setting.value().to_owned()))
    }

    /// Lists the hooks of a push that a clone brings along: the path of each, and what names its content.
    fn push_hooks(&self, settings: &[GitSetting]) -> Result<Vec<String>, Error> {
        let folder = self.folder.join(self.start(None, &[], &["rev-parse", "--git-path", "hooks"])?);
        let is_users =
            settings.iter().rfind(|setting| setting.is("core.hookspath")).is_some_and(|setting| !setting.is_of_clone());
        if is_users && !folder.canonicalize().is_ok_and(|folder| folder.starts_with(&self.folder)) {
            return Ok(Vec::new());
        }
        let hook = |name: &&str| {
            let path = folder.join(name);
            let content = super::files::read(&path.canonicalize().ok()?, MAX_HOOK_BYTES);
            let content = content.map_or_else(|error| error.to_string(), |bytes| hex(&Sha256::digest(bytes)));
            Some(format!("{} = {content}", path.display()))
        };
        Ok(PUSH_HOOKS.iter().filter_map(hook).collect())
    }

    /// Reads the configuration, and fails if it contains what must be allowed and was not.
    fn review(&self) -> Result<Reviewed, Error> {
        let listed = self.start(None, &[], &["config", "--list", "-z", "--show-scope", "--show-origin"])?;
        let mut reviewed = settings::review(GitSetting::parse_all(&listed), &self.folder, &self.git_dir);
        match self.purpose {
            // No transport is allowed.
            Purpose::Read => reviewed.overrides.push(("protocol.allow".to_owned(), "never".to_owned())),
            Purpose::CheckOut(address) => {
                for name in &reviewed.promisors {
                    let url = self.start(None, &reviewed.overrides, &["ls-remote", "--get-url", "--", name])?;
                    if url != address {
                        reviewed.reasons.push(format!("remote.{name}.promisor = {url}"));
                    }
                }
            }
            Purpose::Push => {
                reviewed.reasons.extend(self.push_hooks(&reviewed.settings)?);
                reviewed.overrides.retain(|(key, _)| key != settings::HOOKS);
            }
        }
        let reasons: Vec<String> = self.links.iter().chain(&reviewed.reasons).cloned().collect();
        let fingerprint = self.fingerprint(&reasons);
        if reasons.is_empty() || (self.is_trusted)(&fingerprint) {
            return Ok(reviewed);
        }
        Err(Error::Untrusted(Untrusted { reasons, fingerprint }))
    }

    fn fingerprint(&self, reasons: &[String]) -> String {
        let mut hash = Sha256::new();
        for part in [&self.folder, &self.git_dir].map(|path| path.as_os_str().as_encoded_bytes()) {
            hash.update(part);
            hash.update([0]);
        }
        for reason in reasons {
            hash.update(reason.as_bytes());
            hash.update([0]);
        }
        hex(&hash.finalize())
    }

    fn start_reviewed(
        &self,
        reviewed: &Reviewed,
        settings: &[(String, String)],
        command: &[&str],
        values: &[&str],
    ) -> Result<String, Error> {
        self.wait(self.reviewed_command(reviewed, settings, command, values)?, command)
    }

    fn reviewed_command(
        &self,
        reviewed: &Reviewed,
        settings: &[(String, String)],
        command: &[&str],
        values: &[&str],
    ) -> Result<Command, Error> {
        if let Some(value) = values.iter().find(|value| value.starts_with('-')) {
            return Err(Error::Failed(format!("{value:?} would be read as an option")));
        }
        let settings: Vec<_> = reviewed.overrides.iter().chain(settings).cloned().collect();
        let is_set = |name: &&str| self.environment.get(name).is_some();
        let sets_ssh = reviewed.sets_ssh_command || ["GIT_SSH_COMMAND", "GIT_SSH"].iter().any(is_set);
        let ssh = (!sets_ssh).then_some("ssh -oBatchMode=yes");
        Ok(self.command(ssh, &settings, &[command, values].concat()))
    }

    /// Starts git with an SSH command and with settings, and waits until it ends. Returns what it printed, without the
    /// last line feed.
    fn start(&self, ssh: Option<&str>, settings: &[(String, String)], arguments: &[&str]) -> Result<String, Error> {
        self.wait(self.command(ssh, settings, arguments), arguments)
    }

    fn command(&self, ssh: Option<&str>, settings: &[(String, String)], arguments: &[&str]) -> Command {
        let mut command = programs::command("git");
        command.env_clear().envs(self.environment.0.iter().map(|(name, value)| (name, value)));
        for (name, value) in [
            ("LC_ALL", "C"),
            // Git must neither ask on our terminal nor open an editor there.
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_EDITOR", ":"),
            ("GIT_SEQUENCE_EDITOR", ":"),
            ("GIT_MERGE_AUTOEDIT", "no"),
        ] {
            command.env(name, value);
        }
        if !matches!(self.purpose, Purpose::CheckOut(_)) {
            command.env("GIT_NO_LAZY_FETCH", "1");
        }
        if self.purpose == Purpose::Read {
            command.env("GIT_OPTIONAL_LOCKS", "0");
        }
        if let Some(ssh) = ssh {
            command.env("GIT_SSH_COMMAND", ssh);
        }
        for (key, value) in settings {
            command.arg("-c").arg(format!("{key}={value}"));
        }
        programs::without_terminal(&mut command);
        command.args(arguments).current_dir(&self.folder).stdin(Stdio::null());
        command
    }

    fn wait(&self, mut command: Command, arguments: &[&str]) -> Result<String, Error> {
        let mut errors = tempfile::tempfile()?;
        command.stdout(Stdio::piped()).stderr(errors.try_clone()?);
        let mut child = command.spawn().map_err(|error| Error::Failed(format!("git cannot be started: {error}")))?;
        let mut printed = Vec::new();
        if let Some(output) = child.stdout.take() {
            output.take(MAX_OUTPUT_BYTES + 1).read_to_end(&mut printed)?;
        }
        if printed.len() as u64 > MAX_OUTPUT_BYTES {
            child.kill()?;
            child.wait()?;
            return Err(Error::Failed(format!("git {} printed too much", arguments.first().unwrap_or(&""))));
        }
        if child.wait()?.success() {
            return Ok(text_of(&printed).trim_end_matches(['\n', '\r']).to_owned());
        }
        Err(Error::Failed(first_error(&mut errors)?))
    }
}

/// Returns whether git reaches an address over the network: it is neither a folder of this machine nor the name of a
/// remote helper.
fn is_on_server(url: &str) -> bool {
    match url.split_once("://") {
        Some((scheme, _)) => ["http", "https", "ssh", "git", "git+ssh", "ssh+git"].contains(&scheme),
        // A single letter before the colon is a drive, and two colons follow the name of a helper.
        None => url.split_once(':').is_some_and(|(host, path)| {
            let is_helper = path.starts_with(':') && host.bytes().all(|byte| byte.is_ascii_alphanumeric());
            host.len() > 1 && !host.contains('/') && !host.starts_with('-') && !is_helper
        }),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        _ = write!(text, "{byte:02x}");
        text
    })
}

/// Converts bytes to text in which different bytes stay different, so that a trusted setting has one spelling.
fn text_of(bytes: &[u8]) -> String {
    let private = |byte: &u8| char::from_u32(0x0010_ff00 + u32::from(*byte));
    let text = |chunk: Utf8Chunk| {
        let valid = chunk.valid().to_owned();
        chunk.invalid().iter().filter_map(private).fold(valid, |mut text, c| {
            text.push(c);
            text
        })
    };
    bytes.utf8_chunks().map(text).collect()
}

/// Returns the first message of git that reports an error.
fn first_error(errors: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    errors.seek(SeekFrom::Start(0))?;
    errors.take(MAX_ERROR_BYTES).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let message = text.lines().find(|line| line.starts_with("fatal:") || line.starts_with("error:"));
    let message = message.or(text.lines().find(|line| !line.is_empty()));
    let message = message.unwrap_or("git failed without an error message");
    Ok(message.trim_start_matches("fatal: ").trim_start_matches("error: ").to_owned())
}
