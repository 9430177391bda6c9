//! The configuration file: its settings, and error messages that locate mistakes in it.

pub mod address;
pub mod commands;
pub mod glab;
pub mod host;
pub mod keyring;
pub mod project_file;
mod reading;
pub mod remote;
pub mod sections;
pub mod settings;
pub mod sign_in;
pub mod templates;
pub mod token;
pub mod token_source;

use crate::api::client::TlsFiles;
use crate::domain::mistakes::nearest;
use crate::system::files;
use host::KnownServer;
use reading::{Reading, remove_at};
use serde::de::value::SeqAccessDeserializer;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::DeTable;
use url::Url;

/// The contents of `config.toml`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Further files of settings, for what this one does not set.
    pub include: Vec<Spanned<PathBuf>>,
    /// The default server: a URL, or the name of one of [`Config::hosts`].
    pub host: Option<Spanned<String>>,
    /// Servers by name.
    pub hosts: BTreeMap<String, Host>,
    /// The name of a theme.
    pub theme: Option<Spanned<String>>,
    /// The characters to draw with: `unicode` or `ascii`; if absent, the locale decides.
    pub glyphs: Option<Spanned<String>>,
    /// Whether to adapt to screen readers: the cursor on the selection, one panel at a time, words instead of symbols
    /// (default: false).
    pub accessible: Option<bool>,
    /// Whether the selected row is highlighted in accessible mode, too (default: false).
    pub selection_bar: Option<bool>,
    /// Whether to use the mouse (default: true).
    pub mouse: Option<bool>,
    /// Whether to cache replies on disk, to show them before the server responds (default: true).
    pub cache: Option<bool>,
    /// Whether `auth login` stores tokens in the system keyring (default: true).
    pub keyring: Option<bool>,
    /// Settings for job traces.
    pub trace: TraceSettings,
    /// Settings for diffs.
    pub diff: Diff,
    /// The seconds after which visible lists are read again (default: 60); 0 for never.
    pub refresh: Option<Spanned<u64>>,
    /// The notification for a watched job that has finished: `off`, `bell`, `osc9`, `osc777` or `desktop`.
    pub notify: Option<Spanned<String>>,
    /// Keys by command; they replace the default keys.
    pub keys: BTreeMap<String, Spanned<KeyList>>,
    /// Named queries, listed on Home.
    pub sections: Vec<sections::Section>,
    /// Custom commands.
    pub commands: Vec<commands::Command>,
    /// The names of the columns of lists, by the place.
    pub columns: BTreeMap<String, Spanned<Vec<String>>>,
    #[serde(skip)]
    source: Source,
}

/// Settings for job traces.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TraceSettings {
    /// Regular expressions for error lines; they replace the default ones.
    pub errors: Vec<Spanned<String>>,
    /// Regular expressions for warning lines.
    pub warnings: Vec<Spanned<String>>,
    /// The maximum number of megabytes of one trace to keep in memory; the rest goes to a temporary file.
    pub memory: Option<u64>,
}

/// Settings for diffs.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Diff {
    /// The layout: `auto`, `unified` or `split` (default: auto).
    pub layout: Option<Spanned<String>>,
    /// Whether to wrap long lines (default: only those that are side by side).
    pub wrap: Option<bool>,
    /// The number of unchanged lines around changes (default: 3, as servers send them).
    pub context: Option<Spanned<u32>>,
}

/// A mistake in a configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Mistake {
    /// The position of the wrong key or value; empty if it is in no file.
    at: Range<usize>,
    message: String,
}

impl From<String> for Mistake {
    fn from(message: String) -> Mistake {
        Mistake { at: 0..0, message }
    }
}

/// The files that a configuration was read from, the user's own one first.
#[derive(Clone, Debug, Default)]
struct Source(Vec<SourceFile>);

/// A file of a configuration. It is parsed behind as many blanks as the files before it are long, so that the position of
/// a value tells its file.
#[derive(Clone, Debug, Default)]
struct SourceFile {
    path: PathBuf,
    text: String,
    /// The number of blanks before it.
    start: usize,
}

/// A server in the configuration.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// The base URL of the web interface.
    pub url: Spanned<String>,
    /// A file whose first line is the token.
    pub token_file: Option<Spanned<PathBuf>>,
    /// A PEM file with certificates to trust in addition to the system's.
    pub ca_cert: Option<PathBuf>,
    /// A PEM file with the certificate that labscope presents to the server, followed by its chain.
    pub client_cert: Option<PathBuf>,
    /// A PEM file with the private key of `client_cert`, if that file does not contain it.
    pub client_key: Option<PathBuf>,
    /// The name of the SSH host in remotes, if it differs from the one of the web interface.
    pub ssh_host: Option<String>,
    /// The ID of an OAuth application, for `auth login --device`.
    pub client_id: Option<String>,
    /// Whether Home lists the items of this server while another server is open (default: true).
    pub home: Option<bool>,
}

impl Config {
    /// Reads the file at `path`, or the user's configuration file if there is one.
    ///
    /// # Errors
    /// Returns a line for each mistake, with the file, the line and the key.
    pub fn load(path: Option<&Path>) -> Result<Config, String> {
        Config::load_checked(path, |config| Ok(config.clone()))
    }

    /// Reads the file like [`Config::load`]; returns what `check` reads from it.
    ///
    /// # Errors
    /// Like [`Config::load`], with the mistakes that `check` finds.
    pub fn load_checked<T>(path: Option<&Path>, check: impl Fn(&Config) -> Result<T, Mistake>) -> Result<T, String> {
        let own = || folder().map(|folder| folder.join("config.toml")).unwrap_or_default();
        let file = path.map_or_else(own, Path::to_path_buf);
        let text = match files::read_text(&file, files::MAX_SETTINGS) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && path.is_none() => String::new(),
            Err(error) => return Err(format!("cannot read the configuration {}: {error}", file.display())),
        };
        Reading::default().all(file, text, check)
    }

    /// Parses the text of the file at `path`, and reads the files that it includes.
    ///
    /// # Errors
    /// Like [`Config::load`].
    pub fn parse(path: &Path, text: String) -> Result<Config, String> {
        Reading::default().all(path.to_path_buf(), text, |config| Ok(config.clone()))
    }

    /// Adds what only an included file sets. Of two sections or commands with the same name, and of two values, the first
    /// counts; patterns are added.
    fn complete_with(&mut self, included: Config) {
        fn value<T>(own: &mut Option<T>, included: Option<T>) {
            if own.is_none() {
                *own = included;
            }
        }
        fn table<T>(own: &mut BTreeMap<String, T>, included: BTreeMap<String, T>) {
            for (key, value) in included {
                own.entry(key).or_insert(value);
            }
        }
        // Lists all settings, so that none is forgotten.
        #[rustfmt::skip]
        let Config {
            include: _, host, hosts, theme, glyphs, accessible, selection_bar, mouse, cache, keyring, trace, diff, refresh,
            notify, keys, sections, commands, columns, source: _,
        } = included;
        value(&mut self.host, host);
        table(&mut self.hosts, hosts);
        value(&mut self.theme, theme);
        value(&mut self.glyphs, glyphs);
        value(&mut self.accessible, accessible);
        value(&mut self.selection_bar, selection_bar);
        value(&mut self.mouse, mouse);
        value(&mut self.cache, cache);
        value(&mut self.keyring, keyring);
        self.trace.errors.extend(trace.errors);
        self.trace.warnings.extend(trace.warnings);
        value(&mut self.trace.memory, trace.memory);
        value(&mut self.diff.layout, diff.layout);
        value(&mut self.diff.wrap, diff.wrap);
        value(&mut self.diff.context, diff.context);
        value(&mut self.refresh, refresh);
        value(&mut self.notify, notify);
        table(&mut self.keys, keys);
        for section in sections {
            if !self.sections.iter().any(|own| own.name == section.name) {
                self.sections.push(section);
            }
        }
        for command in commands {
            if !self.commands.iter().any(|own| own.name.get_ref() == command.name.get_ref()) {
                self.commands.push(command);
            }
        }
        table(&mut self.columns, columns);
    }

    /// Returns the table that describes a server.
    pub fn table(&self, server: &KnownServer) -> Option<&Host> {
        self.hosts.get(server.table.as_ref()?)
    }

    /// Returns the files with certificates of a server.
    pub fn tls(&self, server: &KnownServer) -> TlsFiles {
        let table = self.table(server);
        let file = |of: fn(&Host) -> &Option<PathBuf>| table.and_then(|host| of(host).as_deref()).map(expand);
        TlsFiles {
            ca_cert: file(|host| &host.ca_cert),
            client_cert: file(|host| &host.client_cert),
            client_key: file(|host| &host.client_key),
        }
    }

    /// Lists the other names of a server's SSH host: `ssh_host` of its table, and its name in glab's configuration.
    pub fn ssh_hosts(&self, server: &KnownServer) -> Vec<String> {
        let own = self.table(server).and_then(|host| host.ssh_host.clone());
        let glab = glab::hosts().into_iter().filter(|host| host.url == server.url).map(|host| host.name);
        own.into_iter().chain(glab).collect()
    }

    /// Returns the configured ID of the OAuth application on a server.
    pub fn client_id(&self, server: &KnownServer) -> Option<&str> {
        self.table(server)?.client_id.as_deref().map(str::trim).filter(|id| !id.is_empty())
    }

    /// Returns the folder of the file, which also contains themes and tokens.
    pub fn folder(&self) -> Option<&Path> {
        self.path().parent().filter(|_| !self.path().as_os_str().is_empty())
    }

    /// Returns the path of the file, which need not exist.
    pub fn path(&self) -> &Path {
        self.source.0.first().map_or(Path::new(""), |file| &file.path)
    }

    /// Returns a mistake in the file, with the message `FILE, line 3, key theme: reason`.
    pub fn mistake(&self, at: Range<usize>, key: &str, why: &str) -> Mistake {
        self.source.mistake(at, key, why)
    }

    /// Returns a server, given as a name in [`Config::hosts`] or as a URL.
    ///
    /// # Errors
    /// Returns the reason why the text is neither.
    pub fn server(&self, text: &str) -> Result<KnownServer, String> {
        match self.hosts.get(text) {
            Some(host) => Ok(self.named(text, address::parse_address(host.url.get_ref())?)),
            None => match nearest(text, self.hosts.keys().map(String::as_str)) {
                Some(name) if !text.contains(['.', ':', '/']) => {
                    Err(format!("no [hosts.{text}]; there is [hosts.{name}]; for an address, write https://{text}"))
                }
                _ => Ok(self.server_at(address::parse_address(text)?)),
            },
        }
    }

    /// Returns the server at `url`. Of several tables with this address, the default server's decides, else the first
    /// one in the file.
    pub fn server_at(&self, url: Url) -> KnownServer {
        let tables = self.tables_at(&url);
        let default = self.host.as_ref().map(|host| host.get_ref().as_str());
        match tables.into_iter().find(|name| Some(*name) == default) {
            Some(name) => self.named(name, url),
            None => self.first_at(url),
        }
    }

    /// Returns the server at `url`; of several tables with this address, the first one in the file decides.
    pub fn first_at(&self, url: Url) -> KnownServer {
        match self.tables_at(&url).first() {
            Some(name) => self.named(name, url),
            None => KnownServer { url, table: None, account: None },
        }
    }

    /// Returns the server with the table `name`, whose address is `url`.
    fn named(&self, name: &str, url: Url) -> KnownServer {
        let is_first = self.tables_at(&url).first().is_none_or(|first| *first == name);
        let account = (!is_first).then(|| name.to_owned());
        KnownServer { url, table: Some(name.to_owned()), account }
    }

    /// Lists the tables of servers in the order of the file.
    pub fn tables(&self) -> Vec<(&str, &Host)> {
        let mut all: Vec<_> = self.hosts.iter().map(|(name, host)| (name.as_str(), host)).collect();
        all.sort_by_key(|(_, host)| host.url.span().start);
        all
    }

    /// Lists the names of the tables with the address `url`, in the order of the file.
    fn tables_at(&self, url: &Url) -> Vec<&str> {
        let is_there = |host: &Host| address::parse_address(host.url.get_ref()).is_ok_and(|other| other == *url);
        self.tables().into_iter().filter(|(_, host)| is_there(host)).map(|(name, _)| name).collect()
    }
}

impl Source {
    /// Returns the file at a position.
    fn file_at(&self, at: usize) -> Option<&SourceFile> {
        self.0.iter().rfind(|file| file.start <= at)
    }

    fn mistake(&self, at: Range<usize>, key: &str, why: &str) -> Mistake {
        let Some(file) = self.file_at(at.start) else { return why.to_owned().into() };
        let before = file.text.get(..at.start - file.start).unwrap_or(&file.text);
        let line = before.matches('\n').count() + 1;
        let key = if key.is_empty() { String::new() } else { format!(", key {key}") };
        let message = format!("{}, line {line}{key}: {}", file.path.display(), why.trim().replace('\n', ", "));
        Mistake { at, message }
    }

    /// Like [`Source::mistake`], of the key at that position.
    fn mistake_at(&self, at: Range<usize>, why: &str) -> Mistake {
        self.mistake(at.clone(), &self.key(at.start), why)
    }

    /// Returns the key at a position.
    fn key(&self, at: usize) -> String {
        let found = self.file_at(at).map(|file| (file, at - file.start));
        found.map(|(file, at)| file.path_at(at).unwrap_or_else(|| file.key_at(at))).unwrap_or_default()
    }
}

impl SourceFile {
    /// Returns the text behind the blanks.
    fn padded(&self) -> String {
        format!("{}{}", " ".repeat(self.start), self.text)
    }

    /// Returns the innermost key at byte offset `at`, prefixed with its tables, or `None` if the text is not valid
    /// TOML.
    fn path_at(&self, at: usize) -> Option<String> {
        let mut root = DeTable::parse(&self.text).ok()?;
        remove_at(root.get_mut(), 0, at).map(|(_, path)| path.join("."))
    }

    /// Returns the key on the line at byte offset `at`, prefixed with its table, for a text that cannot be parsed.
    fn key_at(&self, at: usize) -> String {
        let start = self.text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |newline| newline + 1);
        let line = self.text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or_default();
        let table = |line: &str| Some(line.trim().strip_prefix('[')?.split(']').next()?.trim().to_owned());
        if let Some(table) = table(line) {
            return table;
        }
        let key = line.split('=').next().unwrap_or_default().trim();
        let above = self.text.get(..start).unwrap_or_default().lines().rev().find_map(table);
        match above {
            Some(table) if !key.is_empty() => format!("{table}.{key}"),
            _ => key.to_owned(),
        }
    }
}

/// The keys of a command.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyList(pub Vec<String>);

impl<'de> Deserialize<'de> for KeyList {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<KeyList, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = KeyList;

            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.write_str("a list, such as [\"C-q\"]")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<KeyList, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(items)).map(KeyList)
            }
        }
        from.deserialize_seq(List)
    }
}

/// Formats the message for a mistake in another TOML file: `FILE, line 3, key palette.new: reason`.
pub fn mistake_in(path: &Path, text: String, at: Range<usize>, why: &str) -> String {
    Source(vec![SourceFile { path: path.to_path_buf(), text, start: 0 }]).mistake_at(at, why).message
}

/// Returns the user's configuration folder.
pub fn folder() -> Option<PathBuf> {
    dirs::config_dir().map(|folder| folder.join("labscope"))
}

/// Expands `~/` as a shell does.
pub fn expand(path: &Path) -> PathBuf {
    match (path.strip_prefix("~"), dirs::home_dir()) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_path_buf(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Config, String> {
        Config::parse(Path::new("/c/config.toml"), text.to_owned())
    }

    #[test]
    fn all_settings_are_optional() {
        let config = parse(
            "host = \"work\"\ntheme = \"light\"\nmouse = false\n\n[hosts.work]\nurl = \"git.example.com\"\n\
             token_file = \"~/token\"\nhome = false\n\n[trace]\nerrors = [\"^E \"]\nmemory = 16\n\n[keys]\nquit = [\"C-q\"]\n\"files.open\" = []\n",
        )
        .expect("reads");
        assert_eq!(config.server("work").expect("known").url.as_str(), "https://git.example.com/");
        assert_eq!(config.mouse, Some(false));
        assert_eq!((config.keys.len(), config.trace.errors.len(), config.trace.memory), (2, 1, Some(16)));
        assert!(parse("").is_ok());
    }

    #[test]
    fn included_files_complete_the_own_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
        let own = folder.path().join("config.toml");
        let read = |text: &str| Config::parse(&own, text.to_owned());
        write(
            "team.toml",
            "theme = \"light\"\nmouse = false\n[trace]\nerrors = [\"^T\"]\n[hosts.team]\nurl = \"t.example\"\n\n\
            [[sections]]\nname = \"A\"\nquery = \"team\"\n[[sections]]\nname = \"B\"\nquery = \"team\"\n\
            [columns]\nmrs = [\"title\"]\n[keys]\nquit = [\"x\"]\n",
        );
        write("more.toml", "notify = \"off\"\ntheme = \"nord\"\n");
        let text = "include = [\"team.toml\", \"more.toml\"]\ntheme = \"dark\"\nhost = \"team\"\n[trace]\nerrors = [\"^O\"]\n\
            [[sections]]\nname = \"A\"\nquery = \"own\"\n[keys]\nquit = [\"Q\"]\n";
        let config = read(text).expect("reads");
        assert_eq!(config.theme.as_ref().map(|theme| theme.get_ref().as_str()), Some("dark"));
        assert_eq!((config.mouse, config.hosts.len(), config.columns.len()), (Some(false), 1, 1));
        let errors: Vec<&str> = config.trace.errors.iter().map(|one| one.get_ref().as_str()).collect();
        assert_eq!(errors, ["^O", "^T"]);
        let sections: Vec<_> =
            config.sections.iter().map(|one| (one.name.as_str(), one.query.get_ref().as_str())).collect();
        assert_eq!(sections, [("A", "own"), ("B", "team")]);
        assert_eq!(config.keys.get("quit").map(|keys| keys.get_ref().0.clone()), Some(vec!["Q".to_owned()]));
        assert_eq!((config.path(), config.folder()), (own.as_path(), Some(folder.path())));
        // A mistake in a value is located in its own file, also when it is found later.
        let notify = config.notify.as_ref().expect("set");
        let more = folder.path().join("more.toml").display().to_string();
        assert_eq!(config.mistake(notify.span(), "notify", "no").message, format!("{more}, line 1, key notify: no"));
        for (included, says) in [
            ("\nthem = 1\n", "team.toml, line 2, key them: unknown"),
            ("[hosts.work]\nurl = 3\n", "team.toml, line 2, key hosts.work.url: "),
            ("[hosts.work]\nurl = \"ftp://x\"\n", "team.toml, line 2, key hosts.work.url: "),
            ("x = ", "team.toml, line 1, key x: "),
            ("include = [\"more.toml\"]", "team.toml, line 1, key include: an included file cannot include others"),
        ] {
            write("team.toml", included);
            let why = read("mouse = true\ninclude = [\"team.toml\"]\n").expect_err(included);
            assert!(why.contains(says), "{included:?}: {why}");
        }
        let why = read("mouse = true\ninclude = [\"nowhere.toml\"]\n").expect_err("not there");
        assert!(
            why.contains("config.toml, line 2, key include: cannot read ") && why.contains("nowhere.toml"),
            "{why}"
        );
    }

    #[test]
    fn a_mistyped_name_of_a_server_is_no_address() {
        let host = |name: &str| parse(&format!("host = \"{name}\"\n[hosts.wrk]\nurl = \"git.example.com\"\n"));
        let why = host("work").expect_err("a typing mistake");
        assert_eq!(
            why,
            "/c/config.toml, line 1, key host: no [hosts.work]; there is [hosts.wrk]; for an address, write https://work"
        );
        for address in ["localhost", "gitlab", "work.example", "work:8080", "http://work"] {
            assert!(host(address).is_ok(), "{address}");
        }
    }

    #[test]
    fn a_mistake_names_file_line_and_key() {
        for (text, begin, says) in [
            ("\nthem = 1", "/c/config.toml, line 2, key them: ", "unknown"),
            ("mouse = \"no\"", "/c/config.toml, line 1, key mouse: ", "expected true or false, not \"no\""),
            ("[hosts.work]\nurl = 3", "/c/config.toml, line 2, key hosts.work.url: ", "expected a string"),
            ("[hosts.work]\nurl = \"ftp://x\"", "/c/config.toml, line 2, key hosts.work.url: ", "http"),
            ("\n\nhost = \"a b\"", "/c/config.toml, line 3, key host: ", "address"),
            ("theme = ", "/c/config.toml, line 1, key theme: ", ""),
            (
                "[keys]\nquit = [\n  \"q\",\n  3,\n]\nback = [\"b\"]",
                "/c/config.toml, line 4, key keys.quit: ",
                "string",
            ),
            ("[hosts]\nwork = { url = \"h\", tok = \"x\" }", "/c/config.toml, line 2, key hosts.work.tok: ", "unknown"),
            (
                "[hosts.a]\nurl = \"h\"\n[hosts.work]\ntoken_file = 3\nurl = \"h\"",
                "/c/config.toml, line 4, key hosts.work.token_file: ",
                "string",
            ),
            ("[keys]\nquit = \"q\"", "/c/config.toml, line 2, key keys.quit: ", "expected a list, such as [\"C-q\"]"),
        ] {
            let why = parse(text).expect_err(text);
            assert!(why.starts_with(begin) && why.contains(says), "{text:?}: {why}");
        }
    }
}
