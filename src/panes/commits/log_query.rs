//! Commit queries: splits the typed text into a request to the server and a filter on its reply.

use crate::api::commits::{Commit, ListCommits};
use crate::api::{Id, Time};
use crate::app::query::{self, Grammar};
use crate::app::view::View;
use serde_json::{Map, json};
use std::ops::Range;

/// A commit log request and the filter on its reply.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LogQuery {
    /// The request to the server.
    pub request: ListCommits,
    /// Lowercase words, each part of the title or author name or a prefix of the hash.
    words: Vec<String>,
    /// A part of the author's name or email address, in lowercase. Current servers filter by it; older ones ignore it.
    author: String,
    /// The lines of the path that the commits changed.
    pub lines: Option<Range<u32>>,
    /// The times between which the commits of lines were made.
    between: (Option<Time>, Option<Time>),
}

impl LogQuery {
    /// Parses `text` (`author:ada since:2w path:src words`) into a query on `log`, which gives the ref (unless `all` is
    /// set) and the path. Returns `None` while the text is invalid or its names are being looked up.
    pub fn read(text: &str, log: ListCommits, view: &View) -> Option<LogQuery> {
        let (keyed, words) = query::keyed_and_plain(text);
        let mut given = Map::new();
        given.insert("id".into(), json!(log.id));
        for (name, value) in [("ref_name", &log.ref_name), ("path", &log.path)] {
            given.extend(value.as_ref().map(|value| (name.to_owned(), json!(value))));
        }
        given.extend(log.all.map(|all| ("all".to_owned(), json!(all))));
        let mut request: ListCommits = LogQuery::grammar(&log.id).ask(&keyed, given, view).ready()?;
        let lines = query::get(&keyed, "lines").and_then(|lines| query::lines(&lines));
        let lines = lines.filter(|_| request.path.is_some());
        let author = request.author.as_deref().unwrap_or_default().to_lowercase();
        let mut between = (None, None);
        if lines.is_some() {
            // Lines are followed from each version to the one before it, so none may be left out.
            between = (request.since.take(), request.until.take());
            (request.author, request.all, request.first_parent) = (None, None, Some(true));
        }
        Some(LogQuery { request, words, author, lines, between })
    }

    /// Returns the grammar of commit queries, which also drives completion.
    pub fn grammar(id: &Id) -> Grammar {
        // Plain words are matched against the server's reply.
        Grammar::new(query::COMMITS, Some("words"), Some(id.clone()))
    }

    /// Returns the request for the log of a project.
    pub fn for_project(id: &Id) -> ListCommits {
        ListCommits { id: id.clone(), ..ListCommits::default() }
    }

    /// Returns a text that identifies the filter on the reply, or an empty string if there is none.
    pub fn filter_key(&self) -> String {
        if self.words.is_empty() && self.author.is_empty() {
            return String::new();
        }
        format!("{} by {}", self.words.join(" "), self.author)
    }

    /// Returns whether `commit` matches the filter.
    pub fn matches(&self, commit: &Commit) -> bool {
        let (title, name) = (commit.title.to_lowercase(), commit.author_name.to_lowercase());
        let says = |word: &String| title.contains(word) || name.contains(word) || commit.id.starts_with(word.as_str());
        let date = commit.date().and_then(Time::instant);
        let (since, until) = (self.between.0.as_ref(), self.between.1.as_ref());
        self.words.iter().all(says)
            && since.and_then(Time::instant).is_none_or(|since| date.is_some_and(|date| date >= since))
            && until.and_then(Time::instant).is_none_or(|until| date.is_some_and(|date| date <= until))
            && (name.contains(&self.author) || commit.author_email.to_lowercase().contains(&self.author))
    }

    /// Returns whether the reply includes the parents of every commit, because neither a path nor a filter removes any.
    pub fn is_whole(&self) -> bool {
        self.request.path.is_none() && self.filter_key().is_empty()
    }
}
