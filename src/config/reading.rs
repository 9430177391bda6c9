//! Reads the files of a configuration, and finds all mistakes in them.
//!
//! A wrong key or value is taken out, and the rest is read again. So each check can end with the first mistake.

use super::{Config, Mistake, Source, SourceFile, address, expand};
use crate::domain::mistakes::plain_words;
use crate::system::files;
use serde::Deserialize;
use std::path::PathBuf;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer};

/// The maximum number of mistakes that are told together.
const MAX_MISTAKES: usize = 20;

/// The files of a configuration that is being read.
#[derive(Default)]
pub(super) struct Reading {
    source: Source,
    mistakes: Vec<Mistake>,
    /// The positions of the keys and values to leave out.
    removed: Vec<usize>,
}

impl Reading {
    /// Reads the text of the file at `path` and the files that it includes, and returns what `check` reads from them.
    ///
    /// # Errors
    /// Returns the messages of all mistakes, one a line.
    pub(super) fn all<T>(
        mut self,
        path: PathBuf,
        text: String,
        check: impl Fn(&Config) -> Result<T, Mistake>,
    ) -> Result<T, String> {
        self.add(path, text);
        loop {
            let mistake = match self.config().and_then(|config| check(&config)) {
                Ok(read) if self.mistakes.is_empty() => return Ok(read),
                Ok(_) => break,
                Err(mistake) => mistake,
            };
            let is_known = mistake.at.is_empty() || self.removed.contains(&mistake.at.start);
            self.removed.push(mistake.at.start);
            self.mistakes.push(mistake);
            if is_known || self.mistakes.len() >= MAX_MISTAKES {
                break;
            }
        }
        self.mistakes.sort_by_key(|mistake| mistake.at.start);
        Err(self.mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    }

    /// Adds a file. One that is not valid TOML counts as empty.
    fn add(&mut self, path: PathBuf, text: String) {
        let start = self.source.0.last().map_or(0, |last| last.start + last.text.len());
        let file = SourceFile { path, text, start };
        let padded = file.padded();
        self.source.0.push(file);
        for error in DeTable::parse_recoverable(&padded).1.iter().take(MAX_MISTAKES) {
            self.mistakes.push(self.source.mistake_at(error.span().unwrap_or_default(), &plain_words(error.message())));
        }
    }

    /// Reads what is left of all files.
    fn config(&mut self) -> Result<Config, Mistake> {
        let mut config = self.file(0)?;
        for (index, include) in config.include.clone().iter().enumerate() {
            if index + 1 == self.source.0.len() {
                let path = self.source.0.first().map(|own| own.path.as_path()).unwrap_or("".as_ref());
                let file = files::folder_of(path).join(expand(include.get_ref()));
                let text = files::read_text(&file, files::MAX_SETTINGS).map_err(|error| {
                    let why = format!("cannot read {}: {error}", file.display());
                    self.source.mistake(include.span(), "include", &why)
                })?;
                self.add(file, text);
            }
            let included = self.file(index + 1)?;
            if let Some(nested) = included.include.first() {
                return Err(self.source.mistake(nested.span(), "include", "an included file cannot include others"));
            }
            config.complete_with(included);
        }
        config.source = self.source.clone();
        for (name, host) in &config.hosts {
            if let Err(why) = address::parse_address(host.url.get_ref()) {
                return Err(config.mistake(host.url.span(), &format!("hosts.{name}.url"), &why));
            }
        }
        if let Some(host) = &config.host
            && let Err(why) = config.server(host.get_ref())
        {
            return Err(config.mistake(host.span(), "host", &why));
        }
        Ok(config)
    }

    /// Reads what is left of a file.
    fn file(&self, index: usize) -> Result<Config, Mistake> {
        let text = self.source.0.get(index).map(SourceFile::padded).unwrap_or_default();
        let Ok(mut tree) = DeTable::parse(&text) else { return Ok(Config::default()) };
        let mut removed: Vec<_> = self.removed.iter().filter_map(|at| remove_at(tree.get_mut(), 0, *at)).collect();
        loop {
            let error = match Config::deserialize(Deserializer::from(tree.clone())) {
                Ok(config) => return Ok(config),
                Err(error) => error,
            };
            let mut at = error.span().unwrap_or_default();
            if let Some(field) = error.message().strip_prefix("missing field ").map(|field| field.trim_matches('`')) {
                // The parser names the place of the list, not of the table in it.
                let lists = tree.get_ref().values().filter(|value| value.span() == at);
                let mut tables = lists.filter_map(|list| list.get_ref().as_array()).flatten();
                let lacking = tables.find(|table| table.get_ref().get(field).is_none());
                at = lacking.map_or(at, Spanned::span);
                // A value that was wrong is not missing, but its table cannot be read.
                let was_removed = |(start, path): &(usize, Vec<String>)| {
                    *start == at.start && path.last().is_some_and(|key| key == field)
                };
                if removed.iter().any(was_removed) {
                    removed.extend(remove_at(tree.get_mut(), 0, at.start));
                    continue;
                }
            }
            return Err(self.source.mistake_at(at, &plain_words(error.message())));
        }
    }
}

/// Removes the innermost key or value at byte offset `at` from the table at `start`. Returns the position of the table that
/// had it, and the keys that lead to it.
pub(super) fn remove_at(table: &mut DeTable, start: usize, at: usize) -> Option<(usize, Vec<String>)> {
    for (key, value) in table.iter_mut() {
        let start = value.span().start;
        let name = || key.get_ref().to_string();
        // The span of a table covers only its header, so its contents are searched first.
        let mut removed = match value.get_mut() {
            DeValue::Table(table) => remove_at(table, start, at),
            DeValue::Array(items) => {
                let within = items.iter_mut().find_map(|item| {
                    let start = item.span().start;
                    if let DeValue::Table(table) = item.get_mut() { remove_at(table, start, at) } else { None }
                });
                if within.is_none() && items.iter().any(|item| item.span().contains(&at)) {
                    *items = items.iter().filter(|item| !item.span().contains(&at)).cloned().collect();
                    return Some((start, vec![name()]));
                }
                within
            }
            _ => None,
        };
        if let Some((_, path)) = &mut removed {
            path.insert(0, name());
            return removed;
        }
    }
    let key = table.iter().find(|(key, value)| key.span().contains(&at) || value.span().contains(&at))?.0.clone();
    table.remove(&key);
    Some((start, vec![key.get_ref().to_string()]))
}
