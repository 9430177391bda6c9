//! Typed queries: `state:opened author:@me label:bug updated:>2w sort:updated text words`.
//!
//! A table of terms per operation defines the keys that may be typed and the inputs that they set; this module does
//! everything else: parsing, errors that name the word, and completion.

mod terms;
mod web;

use crate::complete::{Candidate, Complete, Found};
use crate::dates;
use crate::view::View;
use api::{Endpoint, Id};
use serde_json::{Map, Value, json};
use std::ops::Range;
use store::Want;
pub use terms::*;
pub use web::words_of_web;

/// The kind of value that a key takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ValueKind {
    /// One of these words.
    Words(&'static [&'static str]),
    /// One of these words, or a username after `@`, by which the list itself narrows the loaded rows: nothing is sent.
    Local(&'static [&'static str]),
    /// A range of lines, `10-20`, by which the list itself narrows the loaded rows: nothing is sent.
    Lines,
    /// Yes or no.
    YesNo,
    /// Only yes: servers do not support the opposite.
    Flag,
    /// A user, sent by ID.
    User,
    /// A user, sent by name.
    UserName,
    /// Users by name, of whom several may be given; sent as a list.
    UserNames,
    /// A project, sent by ID.
    Project,
    /// A group, sent by ID.
    Group,
    /// A label; if several are given, all of them are required.
    Labels,
    /// The title of a milestone.
    Milestone,
    /// A branch.
    Branch,
    /// A branch or tag.
    Ref,
    /// The name of an author of commits, or a part of it.
    Author,
    /// The path of a file or folder of a project.
    Path,
    /// Any text.
    Text,
    /// A point in time.
    Moment,
    /// A time after (`>`), before (`<`), or between (`..`); the inputs for both ends.
    Dates(&'static str, &'static str),
    /// A sort order: the words to type, and what is sent for each. `-asc` and `-desc` may follow.
    Sort(&'static [(&'static str, &'static str)]),
    /// Words, of which several may be given; sent as a list.
    Several(&'static [&'static str]),
    /// Numbers, of which several may be given; sent as a list.
    Numbers,
    /// A name and a value, `team=rows`; if several are given, all of them are required.
    Pair,
}

/// A key of a query: a word before a colon.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Term {
    /// The word to type.
    pub name: &'static str,
    /// The input that it sets; not used for dates and sort orders.
    pub input: &'static str,
    /// The kind of value that it takes.
    pub takes: ValueKind,
    /// A description of a few words.
    pub help: &'static str,
    /// Whether a dash before the key excludes matches: the operation has the input `not` for that.
    pub excludes: bool,
    /// For people: the input that takes `None` and `Any`; empty if there is none.
    pub nobody: &'static str,
}

impl Term {
    /// Creates the key `name`, which sets `input`.
    pub const fn new(name: &'static str, input: &'static str, takes: ValueKind, help: &'static str) -> Term {
        Term { name, input, takes, help, excludes: false, nobody: "" }
    }

    /// Allows a dash before the key, which excludes matches.
    pub const fn or_not(mut self) -> Term {
        self.excludes = true;
        self
    }

    /// Allows `none` for nobody and `any` for anybody, which set `input`.
    pub const fn or_nobody(mut self, input: &'static str) -> Term {
        self.nobody = input;
        self
    }

    /// Returns the word that the server understands, if `value` means nobody or anybody.
    fn nobody(&self, value: &str) -> Option<&'static str> {
        let words = NOBODY.iter().filter(|_| !self.nobody.is_empty());
        words.map(|(_, word)| *word).find(|word| word.eq_ignore_ascii_case(value))
    }

    /// Returns the words that are known for the key, if it takes words that are sent, and the word for `value` among
    /// them.
    fn known(&self, value: &str) -> Option<(Vec<&'static str>, Option<&'static str>)> {
        let is_shown = |word: &str| SHOWN.iter().any(|(shown, words)| *shown == value && words.contains(&word));
        let same = |word: &&str| word.replace('-', "_") == value.replace('-', "_") || is_shown(word);
        match self.takes {
            ValueKind::Words(words) | ValueKind::Several(words) => {
                Some((words.to_vec(), words.iter().copied().find(same)))
            }
            ValueKind::Sort(orders) => {
                let (order, _) = direction(value);
                let sent = orders.iter().find(|(word, sent)| *word == order || *sent == order).map(|(_, sent)| *sent);
                Some((orders.iter().map(|(word, _)| *word).collect(), sent))
            }
            _ => None,
        }
    }
}

/// States with another word on the screen, with the words of servers.
const SHOWN: &[(&str, &[&str])] =
    &[("open", &["opened", "active"]), ("opened", &["active"]), ("waiting", &["waiting_for_resource"])];

/// The words for nobody and anybody: as they are offered, and as they are sent.
const NOBODY: [(&str, &str); 2] = [("none", "None"), ("any", "Any")];

/// Splits a sort order into its name and its direction, if it has one.
fn direction(value: &str) -> (&str, Option<&str>) {
    match value.rsplit_once('-') {
        Some((order, direction @ ("asc" | "desc"))) => (order, Some(direction)),
        _ => (value, None),
    }
}

/// Parses a range of lines, from 1: `10-20`, or `10` for one line.
pub fn lines(text: &str) -> Option<Range<u32>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
    (0 < first && first <= last).then(|| first..last.saturating_add(1))
}

/// The input for what is excluded.
const NOT: &str = "not";

/// The terms of one operation, and the project in which names are looked up.
#[derive(Clone, Debug, PartialEq)]
pub struct Grammar {
    /// The keys.
    pub terms: &'static [Term],
    /// The input that words without a key set; `None` if the operation does not search.
    pub search: Option<&'static str>,
    /// The project of the branches, labels and users.
    pub project: Option<Id>,
}

/// A word of a query, with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
struct QueryWord {
    /// The text without quotes.
    text: String,
    /// The range in bytes, including quotes.
    at: std::ops::Range<usize>,
    /// Whether its first part was quoted, so that it is not a key.
    literal: bool,
}

/// An error in a query: the word, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryError {
    /// The word as it was typed.
    pub word: String,
    /// The reason.
    pub why: String,
}

impl std::fmt::Display for QueryError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.word.trim_end_matches(':'), self.why)
    }
}

/// The result of parsing a query.
#[derive(Clone, Debug, PartialEq)]
pub enum QueryResult<E> {
    /// The query can be sent.
    Ready(E),
    /// The server has not resolved a name yet: see [`Grammar::wants`].
    Pending,
    /// The query is invalid.
    Wrong(QueryError),
}

impl<E> QueryResult<E> {
    /// Returns the operation, if it can be sent.
    pub fn ready(self) -> Option<E> {
        match self {
            QueryResult::Ready(endpoint) => Some(endpoint),
            QueryResult::Pending | QueryResult::Wrong(_) => None,
        }
    }
}

fn words(text: &str) -> Vec<QueryWord> {
    let mut all = Vec::new();
    let mut word: Option<QueryWord> = None;
    let mut quoted = false;
    for (at, c) in text.char_indices() {
        if c == '"' {
            let word = word.get_or_insert(QueryWord { text: String::new(), at: at..at, literal: true });
            word.at.end = at + 1;
            quoted = !quoted;
        } else if c.is_whitespace() && !quoted {
            all.extend(word.take());
        } else {
            let word = word.get_or_insert(QueryWord { text: String::new(), at: at..at, literal: false });
            word.text.push(c);
            word.at.end = at + c.len_utf8();
        }
    }
    all.extend(word);
    all
}

/// Splits a word into its key and its value.
fn split(word: &QueryWord) -> Option<(&str, &str)> {
    let (name, value) = word.text.split_once(':').filter(|_| !word.literal)?;
    // A web address or a time of day is plain text.
    let plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphabetic() || c == '_' || c == '-');
    (plain && !value.starts_with("//")).then_some((name, value))
}

fn no_date(text: &str) -> String {
    format!("\"{text}\" is not a date; use 2026-01-31, 3d, 2w, 6m, 1y or today")
}

/// Returns a value as it must be typed.
fn quoted(value: &str) -> String {
    if value.contains(char::is_whitespace) { format!("\"{value}\"") } else { value.to_owned() }
}

impl Grammar {
    /// Creates a grammar with the keys `terms`; words without a key set `search`.
    pub fn new(terms: &'static [Term], search: Option<&'static str>, project: Option<Id>) -> Grammar {
        Grammar { terms, search, project }
    }

    /// Returns the term of a key; a key with a dash before it has one only if that can be excluded.
    fn term(&self, name: &str) -> Option<&'static Term> {
        let excluded = name.strip_prefix('-');
        let named = |term: &&Term| term.name == name || term.excludes && excluded == Some(term.name);
        self.terms.iter().find(named)
    }

    fn complete(&self, takes: ValueKind) -> Complete {
        match takes {
            ValueKind::Words(words) | ValueKind::Several(words) | ValueKind::Local(words) => Complete::Words(words),
            ValueKind::YesNo => Complete::Words(&["yes", "no"]),
            ValueKind::Flag => Complete::Words(&["yes"]),
            ValueKind::User | ValueKind::UserName | ValueKind::UserNames => Complete::Users(self.project.clone()),
            ValueKind::Project => Complete::Projects,
            ValueKind::Group => Complete::Groups,
            ValueKind::Labels => Complete::Labels(self.project.clone()),
            ValueKind::Milestone => Complete::Milestones(self.project.clone()),
            ValueKind::Branch => self.project.clone().map_or(Complete::Nothing, Complete::Branches),
            ValueKind::Ref => self.project.clone().map_or(Complete::Nothing, Complete::Refs),
            ValueKind::Author => self.project.clone().map_or(Complete::Nothing, Complete::Authors),
            ValueKind::Path => self.project.clone().map_or(Complete::Nothing, Complete::Paths),
            ValueKind::Text
            | ValueKind::Lines
            | ValueKind::Dates(..)
            | ValueKind::Moment
            | ValueKind::Sort(_)
            | ValueKind::Numbers
            | ValueKind::Pair => Complete::Nothing,
        }
    }

    /// Returns the wants for the IDs of the users, projects and groups that `text` names.
    pub fn wants(&self, text: &str) -> Vec<Want> {
        let words = words(text);
        let named = words.iter().filter_map(split).filter_map(|(name, value)| {
            let is_named = |takes| matches!(takes, ValueKind::User | ValueKind::Project | ValueKind::Group);
            let term = self.term(name).filter(|term| is_named(term.takes))?;
            let is_looked_up = !value.is_empty() && value != "@me" && term.nobody(value).is_none();
            is_looked_up.then(|| self.complete(term.takes).find_wants(value))
        });
        named.flatten().collect()
    }

    /// Parses `text` into the operation to send; `given` are the inputs that do not come from the text.
    pub fn ask<E: Endpoint>(&self, text: &str, given: Map<String, Value>, view: &View) -> QueryResult<E> {
        match self.inputs(text, given, Some(view)) {
            Ok(None) => QueryResult::Pending,
            Ok(Some(inputs)) => match E::of(&inputs) {
                Ok(endpoint) => QueryResult::Ready(endpoint),
                Err(error) => QueryResult::Wrong(QueryError { word: text.to_owned(), why: error.to_string() }),
            },
            Err(mistake) => QueryResult::Wrong(mistake),
        }
    }

    /// Returns the error in `text`, if there is one. Without a view, names are not looked up.
    pub fn mistake(&self, text: &str, view: Option<&View>) -> Option<QueryError> {
        self.inputs(text, Map::new(), view).err()
    }

    /// Returns the first word whose value is not known, with the known ones. The server is asked nevertheless: it may be
    /// newer.
    pub fn warning(&self, text: &str) -> Option<QueryError> {
        words(text).iter().find_map(|word| {
            let (name, value) = split(word).filter(|(_, value)| !value.is_empty())?;
            let (known, None) = self.term(name)?.known(value)? else { return None };
            let word = text.get(word.at.clone()).unwrap_or_default().to_owned();
            Some(QueryError { word, why: format!("may be unknown to the server; known are {}", known.join(", ")) })
        })
    }

    fn inputs(
        &self,
        text: &str,
        mut inputs: Map<String, Value>,
        view: Option<&View>,
    ) -> Result<Option<Map<String, Value>>, QueryError> {
        let mut search: Vec<String> = Vec::new();
        let mut is_pending = false;
        for word in words(text) {
            let wrong =
                |why: String| QueryError { word: text.get(word.at.clone()).unwrap_or_default().to_owned(), why };
            let Some((name, value)) = split(&word) else {
                search.push(word.text.clone());
                continue;
            };
            let excluded = name.strip_prefix('-');
            if let Some(plain) = excluded.filter(|plain| self.term(name).is_none() && self.term(plain).is_some()) {
                return Err(wrong(format!("cannot exclude by {plain}")));
            }
            let Some(term) = self.term(name) else {
                let known: Vec<&str> = self.terms.iter().map(|term| term.name).collect();
                return Err(wrong(format!("no such key; use {}, or quote it to search for text", known.join(", "))));
            };
            if value.is_empty() {
                // The value is still being typed.
                continue;
            }
            if let Some(word) = excluded.and(term.nobody(value)) {
                let other = if word == "None" { "any" } else { "none" };
                return Err(wrong(format!("use {}:{other}", term.name)));
            }
            if excluded.is_none() {
                self.set(term, value, &mut inputs, &mut is_pending, view).map_err(wrong)?;
                continue;
            }
            let mut left_out = match inputs.remove(NOT) {
                Some(Value::Object(left_out)) => left_out,
                _ => Map::new(),
            };
            self.set(term, value, &mut left_out, &mut is_pending, view).map_err(wrong)?;
            // Each value is sent as a string.
            let word = |value: Value| if value.is_string() { value } else { json!(value.to_string()) };
            inputs.insert(NOT.to_owned(), left_out.into_iter().map(|(name, value)| (name, word(value))).collect());
        }
        match self.search {
            Some(input) if !search.is_empty() => _ = inputs.insert(input.to_owned(), json!(search.join(" "))),
            None if !search.is_empty() => {
                let why = "free text cannot be searched here".to_owned();
                return Err(QueryError { word: search.join(" "), why });
            }
            _ => {}
        }
        Ok((!is_pending).then_some(inputs))
    }

    fn set(
        &self,
        term: &Term,
        value: &str,
        inputs: &mut Map<String, Value>,
        is_pending: &mut bool,
        view: Option<&View>,
    ) -> Result<(), String> {
        let input = term.input.to_owned();
        let local_time = || view.map(View::local_time).unwrap_or_default();
        if let Some(word) = term.nobody(value) {
            inputs.insert(term.nobody.to_owned(), json!(word));
            return Ok(());
        }
        let value = match (term.takes, term.known(value)) {
            (ValueKind::Words(_) | ValueKind::Several(_), Some((_, Some(known)))) => known,
            _ => value,
        };
        match term.takes {
            ValueKind::Local(words) if !words.contains(&value) && !value.starts_with('@') => {
                return Err(format!("{} must be one of {}, or a user such as @bo", term.name, words.join(", ")));
            }
            ValueKind::Lines if lines(value).is_none() => {
                return Err(format!("{} is a range of lines, such as 10-20", term.name));
            }
            ValueKind::Local(_) | ValueKind::Lines => {}
            ValueKind::Words(_)
            | ValueKind::Text
            | ValueKind::Milestone
            | ValueKind::Branch
            | ValueKind::Ref
            | ValueKind::Author => {
                inputs.insert(input, json!(value));
            }
            // Folders are offered with a trailing slash, to continue typing from there.
            ValueKind::Path => _ = inputs.insert(input, json!(value.trim_end_matches('/'))),
            ValueKind::Moment => {
                // The signs for the ends of a range are also accepted here.
                let text = value.trim_start_matches(['<', '>']);
                let moment = dates::parse(text, &local_time()).ok_or_else(|| no_date(text))?;
                inputs.insert(input, json!(moment.to_string()));
            }
            ValueKind::Several(_) => match inputs.entry(input).or_insert_with(|| json!([])) {
                Value::Array(all) => all.push(json!(value)),
                other => *other = json!([value]),
            },
            ValueKind::Numbers => {
                let wrong = |_| format!("{} must be a number", term.name);
                let numbers: Result<Vec<u64>, String> = value.split(',').map(|n| n.parse().map_err(wrong)).collect();
                match inputs.entry(input).or_insert_with(|| json!([])) {
                    Value::Array(all) => all.extend(numbers?.into_iter().map(|number| json!(number))),
                    other => *other = json!(numbers?),
                }
            }
            ValueKind::Pair => {
                let Some((key, held)) = value.split_once('=').filter(|(key, _)| !key.is_empty()) else {
                    return Err(format!("{} must be a name and a value, such as team=rows", term.name));
                };
                match inputs.entry(input).or_insert_with(|| json!({})) {
                    Value::Object(all) => _ = all.insert(key.to_owned(), json!(held)),
                    other => *other = json!({ key: held }),
                }
            }
            ValueKind::Flag if !matches!(value, "yes" | "true") => {
                return Err(format!("{} can only be yes", term.name));
            }
            ValueKind::YesNo | ValueKind::Flag => {
                let yes = match value {
                    "yes" | "true" => true,
                    "no" | "false" => false,
                    _ => return Err(format!("{} must be yes or no", term.name)),
                };
                inputs.insert(input, json!(yes));
            }
            ValueKind::User | ValueKind::Project | ValueKind::Group => {
                match view.map_or(Found::Pending, |view| self.complete(term.takes).find(view, value)) {
                    Found::Id(id) => _ = inputs.insert(input, json!(id)),
                    Found::Pending => *is_pending = true,
                    Found::Missing => {
                        return Err(match term.takes {
                            ValueKind::User => "no user with that name".into(),
                            _ => format!("no {} with that path", term.name),
                        });
                    }
                }
            }
            ValueKind::UserName | ValueKind::UserNames => {
                let me = || view?.me().map(|me| me.username.clone());
                let Some(name) = (if value == "@me" { me() } else { Some(value.to_owned()) }) else {
                    *is_pending = true;
                    return Ok(());
                };
                let name = json!(name.trim_start_matches('@'));
                match inputs.get_mut(&input) {
                    Some(Value::Array(all)) => all.push(name),
                    _ if term.takes == ValueKind::UserNames => _ = inputs.insert(input, json!([name])),
                    _ => _ = inputs.insert(input, name),
                }
            }
            ValueKind::Labels => {
                let before = inputs.get(&input).and_then(Value::as_str).map(|all| format!("{all},"));
                inputs.insert(input, json!(format!("{}{value}", before.unwrap_or_default())));
            }
            ValueKind::Dates(after, before) => {
                let moment = |text: &str| {
                    let moment = dates::parse(text, &local_time()).map(|moment| json!(moment.to_string()));
                    moment.ok_or_else(|| no_date(text))
                };
                if let Some((from, to)) = value.split_once("..") {
                    inputs.insert(after.to_owned(), moment(from)?);
                    inputs.insert(before.to_owned(), moment(to)?);
                } else if let Some(to) = value.strip_prefix('<') {
                    inputs.insert(before.to_owned(), moment(to)?);
                } else {
                    inputs.insert(after.to_owned(), moment(value.strip_prefix('>').unwrap_or(value))?);
                }
            }
            ValueKind::Sort(_) => {
                let (order, direction) = direction(value);
                let known = term.known(value).and_then(|(_, sent)| sent);
                inputs.insert("order_by".into(), json!(known.unwrap_or(order)));
                if let Some(direction) = direction {
                    inputs.insert("sort".into(), json!(direction));
                }
            }
        }
        Ok(())
    }

    // ---- completion

    /// Returns the start of the word under the cursor, and its text up to the cursor.
    fn under<'a>(&self, text: &'a str, cursor: usize) -> (usize, &'a str) {
        let head = text.get(..cursor).unwrap_or(text);
        match words(head).pop() {
            Some(word) if word.at.end == head.len() => (word.at.start, head.get(word.at.start..).unwrap_or_default()),
            _ => (head.len(), ""),
        }
    }

    /// Returns the wants for the candidates for the word under the cursor.
    pub fn offer_wants(&self, text: &str, cursor: usize) -> Vec<Want> {
        let (_, word) = self.under(text, cursor);
        let Some((name, value)) = word.split_once(':') else { return Vec::new() };
        let value = value.trim_start_matches('"');
        self.term(name).map(|term| self.complete(term.takes).wants(value)).unwrap_or_default()
    }

    /// Returns the candidates to replace the word under the cursor.
    pub fn offers(&self, view: &View, text: &str, cursor: usize) -> Vec<Candidate> {
        let (_, word) = self.under(text, cursor);
        let Some((name, value)) = word.split_once(':') else {
            let (dash, begun) = word.strip_prefix('-').map_or(("", word), |begun| ("-", begun));
            let begins = |term: &&Term| term.name.starts_with(begun) && (dash.is_empty() || term.excludes);
            let note = |term: &Term| if dash.is_empty() { term.help.into() } else { format!("not: {}", term.help) };
            let keys = self.terms.iter().filter(begins);
            return keys.map(|term| Candidate { value: format!("{dash}{}:", term.name), note: note(term) }).collect();
        };
        let Some(term) = self.term(name) else { return Vec::new() };
        let value = value.trim_start_matches('"');
        let whole = |value: &str| format!("{name}:{}", quoted(value));
        let fixed = |all: &[(&str, &str)]| -> Vec<Candidate> {
            let fits = all.iter().filter(|(word, _)| word.starts_with(value));
            fits.map(|(word, note)| Candidate { value: whole(word), note: (*note).to_owned() }).collect()
        };
        match term.takes {
            ValueKind::Dates(..) => fixed(&[
                (">1d", "since yesterday"),
                (">1w", "in the last week"),
                (">2w", "in the last two weeks"),
                (">1m", "in the last month"),
                ("<1m", "more than a month ago"),
                ("<1y", "more than a year ago"),
                ("today", "today"),
            ]),
            ValueKind::Moment => fixed(&[
                ("1d", "yesterday"),
                ("1w", "a week ago"),
                ("2w", "two weeks ago"),
                ("1m", "a month ago"),
                ("6m", "half a year ago"),
                ("1y", "a year ago"),
                ("today", "start of today"),
            ]),
            ValueKind::Sort(orders) => {
                let both = orders.iter().flat_map(|(word, _)| [(*word).to_owned(), format!("{word}-asc")]);
                let fits = both.filter(|word| word.starts_with(value));
                fits.map(|word| Candidate { note: String::new(), value: whole(&word) }).collect()
            }
            takes => {
                let mut all = self.complete(takes).items(view, value);
                if matches!(takes, ValueKind::User | ValueKind::UserName | ValueKind::UserNames)
                    && "@me".starts_with(value)
                    && view.session.signed_in
                {
                    all.insert(0, Candidate { value: "@me".into(), note: "yourself".into() });
                }
                let nobody = NOBODY.iter().filter(|(word, _)| name == term.name && word.starts_with(value));
                for (word, _) in nobody.filter(|_| !term.nobody.is_empty()) {
                    let note = if *word == "none" { "nobody" } else { "anybody" };
                    all.push(Candidate { value: (*word).into(), note: note.into() });
                }
                all.into_iter().map(|c| Candidate { value: whole(&c.value), note: c.note }).collect()
            }
        }
    }

    /// Replaces the word under the cursor by `value`; returns the new text and cursor position.
    pub fn accept(&self, text: &str, cursor: usize, value: &str) -> (String, usize) {
        let (start, _) = self.under(text, cursor);
        let head = text.get(..start).unwrap_or_default();
        let tail = text.get(cursor..).unwrap_or_default();
        // The rest of the word after the cursor is also replaced.
        let tail = tail.find(char::is_whitespace).and_then(|end| tail.get(end..)).unwrap_or_default();
        let space = if value.ends_with([':', '/']) || !tail.is_empty() { "" } else { " " };
        (format!("{head}{value}{space}{tail}"), head.len() + value.len() + space.len())
    }
}

/// Returns `text` with another value under `key`, or without the key if `value` is empty.
pub fn with(text: &str, key: &str, value: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut put = value.is_empty();
    for word in words(text) {
        let own = !word.literal && word.text.split_once(':').is_some_and(|(name, _)| name == key);
        if !own {
            parts.push(text.get(word.at).unwrap_or_default().to_owned());
        } else if !put {
            put = true;
            parts.push(format!("{key}:{}", quoted(value)));
        }
    }
    if !put {
        parts.insert(0, format!("{key}:{}", quoted(value)));
    }
    parts.join(" ")
}

/// Returns the value under `key`, if there is one.
pub fn get(text: &str, key: &str) -> Option<String> {
    let own = |word: QueryWord| {
        let (name, value) = word.text.split_once(':').filter(|_| !word.literal)?;
        (name == key).then(|| value.to_owned())
    };
    words(text).into_iter().find_map(own)
}

/// Splits a query whose plain words are matched on the client: returns the words with a key, and the others in lower
/// case without their quotes.
pub fn keyed_and_plain(text: &str) -> (String, Vec<String>) {
    let (keyed, plain): (Vec<_>, Vec<_>) = parts(text).into_iter().partition(|(_, keyed)| *keyed);
    let keyed: Vec<String> = keyed.into_iter().map(|(word, _)| word).collect();
    let plain = plain.into_iter().map(|(word, _)| word.replace('"', "").to_lowercase());
    (keyed.join(" "), plain.filter(|word| !word.is_empty()).collect())
}

/// Returns the words of a query for display; the flag is `true` for a key with its value.
pub fn parts(text: &str) -> Vec<(String, bool)> {
    let part = |word: QueryWord| {
        let keyed = split(&word).is_some();
        (text.get(word.at).unwrap_or_default().to_owned(), keyed)
    };
    words(text).into_iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outbox::Outbox;
    use crate::session::Session;
    use crate::texts::TypedTexts;
    use api::InputKind;
    use api::commits::ListCommits;
    use api::groups::{ListGroupProjects, ListGroups};
    use api::input::Input;
    use api::issues::{ListIssues, ListScopedIssues};
    use api::jobs::ListJobs;
    use api::merge_requests::{ListMergeRequests, ListProjectMergeRequests};
    use api::pipelines::ListPipelines;
    use api::projects::ListProjects;
    use api::todos::ListTodos;
    use api::users::ListUsers;
    use store::Store;
    use ui::theme::Theme;

    /// Calls `run` with an empty store, at noon on a Monday.
    fn asking<T>(run: impl FnOnce(&View) -> T) -> T {
        let (store, theme, drafts, outbox) =
            (Store::default(), Theme::plain(), TypedTexts::default(), Outbox::default());
        let session = Session { signed_in: true, ..Session::default() };
        run(&View {
            places: &[],
            key_names: &Default::default(),
            pane: "",
            store: &store,
            theme: &theme,
            now: "2026-06-15T12:00:00Z".parse().expect("a time"),
            local_now: "2026-06-15T12:00:00Z".parse().expect("a time"),
            session: &session,
            drafts: &drafts,
            settings: &Default::default(),
            recents: &Default::default(),
            seen: &Default::default(),
            outbox: &outbox,
            waiting: &Default::default(),
            sending: &Default::default(),
            writing: None,
            images: &ui::image::Images::default(),
            transfers: &Default::default(),
            runs: &Default::default(),
            size: (80, 24),
            hits: &Default::default(),
        })
    }

    fn requests(text: &str) -> QueryResult<ListMergeRequests> {
        asking(|view| Grammar::new(MERGE_REQUESTS, Some("search"), None).ask(text, Map::new(), view))
    }

    fn line(text: &str) -> String {
        match requests(text) {
            QueryResult::Ready(list) => list.request().line(),
            QueryResult::Pending => "pending".into(),
            QueryResult::Wrong(mistake) => mistake.to_string(),
        }
    }

    #[test]
    fn terms_set_inputs_and_other_words_are_searched() {
        assert_eq!(
            line("state:opened label:bug label:\"needs work\" updated:>2w sort:updated-asc fast rows"),
            "GET /merge_requests?labels=bug%2Cneeds%20work&order_by=updated_at&search=fast%20rows&sort=asc&state=opened&updated_after=2026-06-01"
        );
        assert_eq!(
            line("created:2026-01-01..2026-02-01"),
            "GET /merge_requests?created_after=2026-01-01&created_before=2026-02-01"
        );
        assert_eq!(line("author:17 updated:<1m"), "GET /merge_requests?author_id=17&updated_before=2026-05-16");
        assert_eq!(line("\"state:odd\" http://x"), "GET /merge_requests?search=state%3Aodd%20http%3A%2F%2Fx");
        assert_eq!(line("label:"), "GET /merge_requests");
        assert_eq!(line("author:@me"), "pending");
    }

    #[test]
    fn open_is_another_word_for_opened() {
        assert_eq!(line("state:open"), "GET /merge_requests?state=opened");
        let grammar = Grammar::new(MERGE_REQUESTS, Some("search"), None);
        assert_eq!(grammar.warning("state:open"), None);
    }

    #[test]
    fn a_dash_leaves_out() {
        assert_eq!(
            line("-label:bug -label:old -author:17 reviewer:bo in:title rows"),
            "GET /merge_requests?in=title&not[author_id]=17&not[labels]=bug%2Cold&reviewer_username=bo&search=rows"
        );
    }

    #[test]
    fn pairs_and_numbers_may_be_given_several_times() {
        let line = |text: &str| {
            let asked = asking(|view| Grammar::new(GROUPS, Some("search"), None).ask(text, Map::new(), view));
            match asked {
                QueryResult::Ready(list) => ListGroups::request(&list).line(),
                QueryResult::Pending => "pending".into(),
                QueryResult::Wrong(mistake) => mistake.to_string(),
            }
        };
        let asked = line("skip:3 skip:4,5 attribute:team=rows attribute:\"site=two words\"");
        for part in ["skip_groups%5B%5D=3", "=4", "=5", "custom_attributes%5Bteam%5D=rows", "=two%20words"] {
            assert!(asked.contains(part) || asked.replace("[", "%5B").replace("]", "%5D").contains(part), "{asked}");
        }
        assert!(line("skip:x").contains("must be a number") && line("attribute:team").contains("team=rows"));
    }

    #[test]
    fn addresses_and_times_are_highlighted_as_words() {
        let keyed = |text: &str| parts(text).into_iter().map(|(_, keyed)| keyed).collect::<Vec<_>>();
        assert_eq!(keyed("author:ada 12:30 http://x \"a:b\" rows author:"), [true, false, false, false, false, true]);
    }

    #[test]
    fn a_mistake_names_its_word() {
        for (text, word, why) in [
            ("waiting:you rows", "waiting:you", "one of me, author, reviewers, pipeline, or a user"),
            ("-assignee:any", "-assignee:any", "use assignee:none"),
            ("color:red", "color:red", "no such key"),
            ("updated:>soon", "updated:>soon", "not a date"),
            ("-state:opened", "-state:opened", "cannot exclude by state"),
        ] {
            let QueryResult::Wrong(mistake) = requests(text) else { panic!("{text}") };
            assert!(mistake.word == word && mistake.why.contains(why), "{text}: {mistake}");
        }
    }

    #[test]
    fn a_word_that_is_not_known_is_sent_with_a_warning() {
        let warning = |text: &str| {
            let grammar = Grammar::new(MERGE_REQUESTS, Some("search"), None);
            grammar.warning(text).map(|warning| warning.to_string())
        };
        for (text, sent, known) in [
            ("state:parked", "state=parked", "state:parked: may be unknown to the server; known are opened, closed"),
            (
                "sort:size-asc",
                "order_by=size&sort=asc",
                "sort:size-asc: may be unknown to the server; known are created",
            ),
        ] {
            assert_eq!(line(text), format!("GET /merge_requests?{sent}"));
            assert!(warning(text).is_some_and(|warning| warning.starts_with(known)), "{:?}", warning(text));
        }
        // Both spellings of a word are known, and the names that are sent.
        assert_eq!(
            line("scope:created_by_me sort:merged_at"),
            "GET /merge_requests?order_by=merged_at&scope=created-by-me"
        );
        for text in [
            "scope:created_by_me",
            "scope:reviews-for-me",
            "state:locked sort:title",
            "rows",
            "state:",
            "sort:merged_at",
        ] {
            assert_eq!(warning(text), None, "{text}");
        }
    }

    #[test]
    fn nobody_and_anybody_are_people() {
        assert_eq!(line("assignee:none reviewer:any"), "GET /merge_requests?assignee_id=None&reviewer_id=Any");
        assert_eq!(line("approver:None"), "GET /merge_requests?approved_by_ids=None");
        // Of a name that begins so, it is the user.
        assert_eq!(line("reviewer:anya reviewer:@any"), "GET /merge_requests?reviewer_username=any");
        let offered = |text: &str| -> Vec<String> {
            let grammar = Grammar::new(MERGE_REQUESTS, Some("search"), None);
            asking(|view| grammar.offers(view, text, text.len()).into_iter().map(|c| c.value).collect())
        };
        assert_eq!(offered("assignee:n"), ["assignee:none"]);
        assert_eq!(offered("-assignee:n"), [""; 0]);
        assert_eq!(offered("author:n"), [""; 0]);
    }

    #[test]
    fn unknown_keys_are_reported_with_one_colon() {
        assert!(line("autor:").starts_with("autor: no such key; use "), "{}", line("autor:"));
        assert!(line("-state:").starts_with("-state: cannot exclude by state"));
    }

    #[test]
    fn every_key_sets_an_input_that_its_operation_has() {
        fn check<E: Endpoint>(terms: &[Term]) {
            let input = |name: &str| -> Input {
                *E::INPUTS.iter().find(|input| input.name == name).unwrap_or_else(|| panic!("{}: {name}", E::NAME))
            };
            for term in terms {
                match term.takes {
                    ValueKind::Dates(after, before) => {
                        assert_eq!((input(after).kind, input(before).kind), (InputKind::Time, InputKind::Time));
                    }
                    ValueKind::Sort(_) => _ = (input("order_by"), input("sort")),
                    ValueKind::Moment => assert_eq!(input(term.input).kind, InputKind::Time, "{}", term.name),
                    ValueKind::YesNo | ValueKind::Flag => {
                        assert_eq!(input(term.input).kind, InputKind::Bool, "{}", term.name)
                    }
                    ValueKind::User | ValueKind::Project | ValueKind::Group => {
                        let kind = if term.nobody.is_empty() { InputKind::Number } else { InputKind::Text };
                        assert_eq!(input(term.input).kind, kind, "{}", term.name);
                    }
                    ValueKind::Numbers => assert_eq!(input(term.input).kind, InputKind::List, "{}", term.name),
                    ValueKind::Pair => assert_eq!(input(term.input).kind, InputKind::Structured, "{}", term.name),
                    ValueKind::Local(_) | ValueKind::Lines => {
                        assert_eq!(term.input, "", "{} is not sent", term.name);
                    }
                    ValueKind::Several(_) | ValueKind::UserNames => {
                        assert_eq!(input(term.input).kind, InputKind::List, "{}", term.name);
                    }
                    _ => assert_eq!(input(term.input).kind, InputKind::Text, "{}", term.name),
                }
            }
        }
        check::<ListMergeRequests>(MERGE_REQUESTS);
        check::<ListProjectMergeRequests>(MERGE_REQUESTS);
        check::<ListProjects>(PROJECTS);
        check::<ListGroupProjects>(GROUP_PROJECTS);
        check::<ListGroups>(GROUPS);
        check::<ListUsers>(USERS);
        check::<ListCommits>(COMMITS);
        check::<ListJobs>(JOBS);
        check::<ListPipelines>(PIPELINES);
        check::<ListTodos>(TODOS);
        check::<ListIssues>(ISSUES);
        check::<ListScopedIssues>(ISSUES);
    }

    #[test]
    fn candidates_replace_the_word_under_the_cursor() {
        let grammar = Grammar::new(MERGE_REQUESTS, Some("search"), None);
        let values = |text: &str| -> Vec<String> {
            asking(|view| grammar.offers(view, text, text.len()).into_iter().map(|c| c.value).collect())
        };
        assert_eq!(values("rows s"), ["state:", "scope:", "source:", "sort:"]);
        assert_eq!(values("state:op"), ["state:opened"]);
        assert_eq!(values("author:@"), ["author:@me"]);
        assert_eq!(values("sort:up"), ["sort:updated", "sort:updated-asc"]);
        assert_eq!(grammar.accept("rows sta", 8, "state:"), ("rows state:".into(), 11));
        assert_eq!(grammar.accept("state:o x", 7, "state:opened"), ("state:opened x".into(), 12));
        assert_eq!(grammar.accept("state:o", 7, "state:opened"), ("state:opened ".into(), 13));
    }

    #[test]
    fn a_time_bounds_one_end_only() {
        let grammar = Grammar::new(COMMITS, None, Some("7".into()));
        let asked = |text: &str| {
            asking(|view| grammar.ask::<ListCommits>(text, Map::from_iter([("id".into(), json!("7"))]), view))
        };
        let QueryResult::Ready(list) = asked("until:1w path:src/ui/") else { panic!("it can be asked") };
        assert_eq!(
            (list.since.is_none(), list.until.map(|at| at.as_str()[..10].to_owned())),
            (true, Some("2026-06-08".into()))
        );
        assert_eq!(list.path.as_deref(), Some("src/ui"));
        assert!(matches!(asked("since:soon"), QueryResult::Wrong(mistake) if mistake.why.contains("is not a date")));
        let offered = asking(|view| grammar.offers(view, "until:1", 7));
        assert_eq!(offered.first().map(|offer| offer.value.as_str()), Some("until:1d"));
        // A value that can be continued is not followed by a blank.
        assert_eq!(grammar.accept("path:s", 6, "path:src/"), ("path:src/".into(), 9));
    }

    #[test]
    fn one_key_can_be_changed_without_the_rest() {
        assert_eq!(with("state:opened rows", "state", "merged"), "state:merged rows");
        assert_eq!(with("rows", "state", "merged"), "state:merged rows");
        assert_eq!(with("state:opened rows", "state", ""), "rows");
        assert_eq!(with("rows", "label", "needs work"), "label:\"needs work\" rows");
        assert_eq!(get("a label:\"needs work\"", "label").as_deref(), Some("needs work"));
        assert_eq!(get("\"label:x\"", "label"), None);
    }
}
