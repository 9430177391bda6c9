//! The parsed query of the jobs list: the states requested from the server, and the conditions checked against its
//! reply.

use crate::api::Id;
use crate::api::jobs::{Job, ListJobs};
use crate::app::query::{self, Grammar, QueryResult};
use crate::app::view::View;
use serde_json::{Map, json};

/// Returns the grammar of the query in a project.
pub fn grammar(project: &Id) -> Grammar {
    Grammar::new(query::JOB_SEARCH, Some("words"), Some(project.clone()))
}

/// A parsed query for jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobQuery {
    /// The states requested from the server; empty for all.
    pub scope: Vec<String>,
    /// Keys, and values in lower case.
    keys: Vec<(String, String)>,
    words: Vec<String>,
}

impl JobQuery {
    /// Parses a query, for example `scope:failed ref:main words`.
    pub fn read(text: &str, project: &Id, view: &View) -> JobQuery {
        let mut parsed = JobQuery::default();
        let mut asked = Vec::new();
        for (word, keyed) in query::parts(text) {
            let plain = word.replace('"', "");
            match plain.split_once(':').filter(|_| keyed) {
                Some(("scope", _)) => asked.push(word),
                Some((key, value)) if query::JOB_SEARCH.iter().any(|term| term.name == key) => {
                    parsed.keys.push((key.to_owned(), value.to_lowercase()));
                }
                _ => parsed.words.push(plain.to_lowercase()),
            }
        }
        let given = Map::from_iter([("id".to_owned(), json!(project))]);
        let states = Grammar::new(query::JOBS, None, None).ask::<ListJobs>(&asked.join(" "), given, view);
        if let QueryResult::Ready(list) = states {
            parsed.scope = list.scope.unwrap_or_default();
        }
        parsed.keys.retain(|(_, value)| !value.is_empty());
        parsed.words.retain(|word| !word.is_empty());
        parsed
    }

    /// Returns whether the query matches all jobs of the reply.
    pub fn is_whole(&self) -> bool {
        self.keys.is_empty() && self.words.is_empty()
    }

    /// Returns whether a job matches the query.
    pub fn matches(&self, job: &Job) -> bool {
        let contains = |text: &str, part: &str| text.to_lowercase().contains(part);
        let runner =
            || job.runner.as_ref().map(|runner| format!("{} #{}", runner.label(), runner.id)).unwrap_or_default();
        let sha = || match (&job.commit, &job.pipeline) {
            (Some(commit), _) => commit.id.as_str(),
            (None, Some(pipeline)) => pipeline.sha.as_str(),
            (None, None) => "",
        };
        let key = |(key, value): &(String, String)| match key.as_str() {
            "name" => contains(&job.name, value),
            "stage" => contains(&job.stage, value),
            "ref" => job.r#ref.to_lowercase() == *value,
            "runner" => contains(&runner(), value),
            "by" => job.user.as_ref().is_some_and(|user| contains(&user.username, value.trim_start_matches('@'))),
            "commit" => sha().to_lowercase().starts_with(value.as_str()),
            _ => true,
        };
        let word = |word: &String| {
            contains(job.status.as_str(), word)
                || contains(&job.name, word)
                || contains(&job.stage, word)
                || contains(&job.r#ref, word)
                || job.id.to_string() == *word
        };
        self.keys.iter().all(key) && self.words.iter().all(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::commits::Commit;

    #[test]
    fn each_key_filters() {
        let commit = Commit { id: "9f3c2ab0d1e2".into(), ..Commit::default() };
        let job = Job {
            id: 7,
            name: "unit tests".into(),
            stage: "test".into(),
            r#ref: "main".into(),
            commit: Some(commit),
            ..Job::default()
        };
        let fits = |keys: &[(&str, &str)], words: &[&str]| {
            let keys = keys.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
            JobQuery { scope: Vec::new(), keys, words: words.iter().map(|word| (*word).to_owned()).collect() }
                .matches(&job)
        };
        assert!(fits(&[("name", "unit"), ("ref", "main"), ("commit", "9f3c")], &["test"]));
        assert!(fits(&[], &["7"]));
        for wrong in [("ref", "mai"), ("stage", "build"), ("runner", "mill"), ("by", "ada"), ("commit", "ab")] {
            assert!(!fits(&[wrong], &[]), "{wrong:?}");
        }
    }
}
