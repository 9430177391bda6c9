//! What is typed to find commits, taken apart: what the server is asked, and what is looked for in its answer.

use crate::api::Id;
use crate::api::commits::{Commit, ListCommits};
use crate::app::pane::View;
use crate::app::query::{self, Grammar};
use serde_json::{Map, json};

/// A log, and what is looked for in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LogQuery {
    /// What the server is asked.
    pub asked: ListCommits,
    /// Words of the title or the author, or the beginning of a hash, in lower case.
    words: Vec<String>,
    /// A part of the author's name or address in lower case: servers of today know it, the others do not look at it.
    author: String,
}

impl LogQuery {
    /// Reads the log of a ref (where `all` is not said), of a path, and what `text` says beside that: `author:ada
    /// since:2w path:src words`; `None` where a word cannot be asked.
    pub fn read(text: &str, log: ListCommits, view: &View) -> Option<LogQuery> {
        let (keyed, words) = query::keyed_and_plain(text);
        let mut given = Map::new();
        given.insert("id".into(), json!(log.id));
        for (name, value) in [("ref_name", &log.ref_name), ("path", &log.path)] {
            given.extend(value.as_ref().map(|value| (name.to_owned(), json!(value))));
        }
        given.extend(log.all.map(|all| ("all".to_owned(), json!(all))));
        let asked: ListCommits = LogQuery::grammar(&log.id).ask(&keyed, given, view).ready()?;
        let author = asked.author.as_deref().unwrap_or_default().to_lowercase();
        Some(LogQuery { asked, words, author })
    }

    /// Returns what may be typed, and what is offered while it is.
    pub fn grammar(id: &Id) -> Grammar {
        // Words are looked for in what the server answers.
        Grammar::new(query::COMMITS, Some("words"), Some(id.clone()))
    }

    /// The project whose log it is.
    pub fn of(id: &Id) -> ListCommits {
        ListCommits { id: id.clone(), ..ListCommits::default() }
    }

    /// Names what is looked for in the answer; empty where all of it is meant.
    pub fn narrows(&self) -> String {
        if self.words.is_empty() && self.author.is_empty() {
            return String::new();
        }
        format!("{} by {}", self.words.join(" "), self.author)
    }

    /// Returns whether `commit` is one of those that are looked for.
    pub fn fits(&self, commit: &Commit) -> bool {
        let (title, name) = (commit.title.to_lowercase(), commit.author_name.to_lowercase());
        let says = |word: &String| title.contains(word) || name.contains(word) || commit.id.starts_with(word.as_str());
        self.words.iter().all(says)
            && (name.contains(&self.author) || commit.author_email.to_lowercase().contains(&self.author))
    }

    /// Returns whether every commit of the answer stands beside its parents.
    pub fn is_whole(&self) -> bool {
        self.asked.path.is_none() && self.narrows().is_empty()
    }
}
