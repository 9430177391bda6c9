//! The configuration file: what a person may set, and where a mistake stands.

pub mod glab;
pub mod host;
pub mod keyring;
pub mod remote;
pub mod sections;
pub mod settings;
pub mod token;

use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// What `config.toml` holds.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The server of choice: a web address, or the name of one of [`Config::hosts`].
    pub host: Option<Spanned<String>>,
    /// Servers by a short name.
    pub hosts: BTreeMap<String, Host>,
    /// Name of a theme.
    pub theme: Option<Spanned<String>>,
    /// Whether the mouse is used; it is unless this says no.
    pub mouse: Option<bool>,
    /// Whether replies are kept on disk, to be shown before the server answers; they are unless this says no.
    pub cache: Option<bool>,
    /// Whether `auth login` keeps tokens in the keyring of the system; it does unless this says no.
    pub keyring: Option<bool>,
    /// How traces of jobs are read.
    pub trace: Trace,
    /// How the terminal is told that a watched job has ended: `off`, `bell`, `osc9`, `osc777`, or by the desktop:
    /// `desktop`.
    pub notify: Option<Spanned<String>>,
    /// Keys by command, in place of the table's own.
    pub keys: BTreeMap<String, Spanned<Vec<String>>>,
    /// Named queries, shown on the home place.
    pub sections: Vec<sections::Section>,
    #[serde(skip)]
    source: Source,
}

/// How traces of jobs are read.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Trace {
    /// Expressions for lines that are errors, in place of the usual ones.
    pub errors: Vec<Spanned<String>>,
    /// Expressions for lines that are warnings.
    pub warnings: Vec<Spanned<String>>,
    /// Megabytes of one trace that are kept in memory; the rest is put in a temporary file.
    pub memory: Option<u64>,
}

/// Where a configuration was read from.
#[derive(Clone, Debug, Default)]
struct Source {
    path: PathBuf,
    text: String,
}

/// A server that the configuration knows.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// The root of its web pages.
    pub url: Spanned<String>,
    /// A file whose first line is the token for it.
    pub token_file: Option<Spanned<PathBuf>>,
    /// Whether home lists what waits there while one is at another server; it does unless this says no.
    pub home: Option<bool>,
}

impl Config {
    /// Reads `path`, or the person's own file where there is one.
    ///
    /// # Errors
    /// A sentence that names file, line and key.
    pub fn load(path: Option<&Path>) -> Result<Config, String> {
        let (path, named) = match path {
            Some(path) => (path.to_path_buf(), true),
            None => match folder() {
                Some(folder) => (folder.join("config.toml"), false),
                None => return Ok(Config::default()),
            },
        };
        match std::fs::read_to_string(&path) {
            Ok(text) => Config::parse(&path, text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !named => {
                Ok(Config { source: Source { path, text: String::new() }, ..Config::default() })
            }
            Err(error) => Err(format!("the configuration {} cannot be read: {error}", path.display())),
        }
    }

    fn parse(path: &Path, text: String) -> Result<Config, String> {
        let source = Source { path: path.to_path_buf(), text };
        let mut config: Config = toml::from_str(&source.text).map_err(|error| {
            let at = error.span().unwrap_or_default();
            let key = source.path_at(at.start).unwrap_or_else(|| source.key_at(at.start));
            source.mistake(at, &key, error.message())
        })?;
        config.source = source;
        for (name, host) in &config.hosts {
            if let Err(why) = host::address(host.url.get_ref()) {
                return Err(config.mistake(host.url.span(), &format!("hosts.{name}.url"), &why));
            }
        }
        if let Some(host) = &config.host
            && let Err(why) = config.named(host.get_ref())
        {
            return Err(config.mistake(host.span(), "host", &why));
        }
        Ok(config)
    }

    /// The folder that the file is in, where themes and tokens are, too.
    pub fn folder(&self) -> Option<&Path> {
        self.source.path.parent().filter(|_| !self.source.path.as_os_str().is_empty())
    }

    /// The file itself, whether it is there or not.
    pub fn path(&self) -> &Path {
        &self.source.path
    }

    /// A sentence about a mistake in the file: `FILE, line 3, key theme: why`.
    pub fn mistake(&self, at: Range<usize>, key: &str, why: &str) -> String {
        self.source.mistake(at, key, why)
    }

    /// The server that `text` means: a name of [`Config::hosts`], or a web address.
    ///
    /// # Errors
    /// Why it is neither.
    pub fn named(&self, text: &str) -> Result<url::Url, String> {
        match self.hosts.get(text) {
            Some(host) => host::address(host.url.get_ref()),
            None => host::address(text),
        }
    }
}

impl Source {
    fn mistake(&self, at: Range<usize>, key: &str, why: &str) -> String {
        let before = self.text.get(..at.start).unwrap_or(&self.text);
        let line = before.matches('\n').count() + 1;
        let key = if key.is_empty() { String::new() } else { format!(", key {key}") };
        format!("{}, line {line}{key}: {}", self.path.display(), why.trim().replace('\n', ", "))
    }

    /// The innermost key that holds the byte `at`, with the tables around it; `None` where the text is no TOML.
    fn path_at(&self, at: usize) -> Option<String> {
        let root = DeTable::parse(&self.text).ok()?;
        let mut path = Vec::new();
        inside(root.get_ref(), at, &mut path).then(|| path.join("."))
    }

    /// The key whose line holds the byte `at`, with its table before it, for a text that cannot be parsed.
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

/// Whether something in `table` holds the byte `at`; its keys are pushed to `path`.
fn inside(table: &DeTable, at: usize, path: &mut Vec<String>) -> bool {
    for (key, value) in table {
        path.push(key.get_ref().to_string());
        // A table's own span is its header alone, so what is in it is looked at first.
        let deeper = match value.get_ref() {
            DeValue::Table(table) => inside(table, at, path),
            DeValue::Array(items) => items.iter().any(|item| match item.get_ref() {
                DeValue::Table(table) => inside(table, at, path),
                _ => item.span().contains(&at),
            }),
            _ => false,
        };
        if deeper || key.span().contains(&at) || value.span().contains(&at) {
            return true;
        }
        path.pop();
    }
    false
}

/// The folder of the person's own configuration.
pub fn folder() -> Option<PathBuf> {
    dirs::config_dir().map(|folder| folder.join("labscope"))
}

/// `~/x` as a shell would read it.
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
    fn everything_may_be_set_and_nothing_must() {
        let config = parse(
            "host = \"work\"\ntheme = \"light\"\nmouse = false\n\n[hosts.work]\nurl = \"git.example.com\"\n\
             token_file = \"~/token\"\nhome = false\n\n[trace]\nerrors = [\"^E \"]\nmemory = 16\n\n[keys]\nquit = [\"C-q\"]\n\"files.open\" = []\n",
        )
        .expect("reads");
        assert_eq!(config.named("work").expect("known").as_str(), "https://git.example.com/");
        assert_eq!(config.mouse, Some(false));
        assert_eq!((config.keys.len(), config.trace.errors.len(), config.trace.memory), (2, 1, Some(16)));
        assert!(parse("").is_ok());
    }

    #[test]
    fn a_mistake_names_file_line_and_key() {
        for (text, begin, says) in [
            ("\nthem = 1", "/c/config.toml, line 2, key them: ", "unknown field"),
            ("mouse = \"no\"", "/c/config.toml, line 1, key mouse: ", "expected a boolean"),
            ("[hosts.work]\nurl = 3", "/c/config.toml, line 2, key hosts.work.url: ", "expected a string"),
            ("[hosts.work]\nurl = \"ftp://x\"", "/c/config.toml, line 2, key hosts.work.url: ", "http"),
            ("\n\nhost = \"a b\"", "/c/config.toml, line 3, key host: ", "address"),
            ("theme = ", "/c/config.toml, line 1, key theme: ", ""),
            (
                "[keys]\nquit = [\n  \"q\",\n  3,\n]\nback = [\"b\"]",
                "/c/config.toml, line 4, key keys.quit: ",
                "string",
            ),
            (
                "[hosts]\nwork = { url = \"h\", tok = \"x\" }",
                "/c/config.toml, line 2, key hosts.work.tok: ",
                "unknown field",
            ),
            (
                "[hosts.a]\nurl = \"h\"\n[hosts.work]\ntoken_file = 3\nurl = \"h\"",
                "/c/config.toml, line 4, key hosts.work.token_file: ",
                "string",
            ),
            ("[keys]\nquit = \"q\"", "/c/config.toml, line 2, key keys.quit: ", "sequence"),
        ] {
            let why = parse(text).expect_err(text);
            assert!(why.starts_with(begin) && why.contains(says), "{text:?}: {why}");
        }
    }
}
