//! The parsed query for runners: the scope requested from the server, and the filters applied to its reply.

use super::{Scope, kind, status};
use crate::api::runners::Runner;
use crate::app::query::{self, Grammar, Term, ValueKind};

/// The scopes of all runners, spelled as all servers know them.
const SCOPES: &[&str] =
    &["specific", "shared", "group_type", "active", "paused", "online", "offline", "stale", "never_contacted"];
const ALL: &[Term] =
    &[Term::new("scope", "scope", ValueKind::Words(SCOPES), "filtered by the server"), TYPE, STATUS, TAG];
const MINE: &[Term] = &[
    Term::new(
        "scope",
        "scope",
        ValueKind::Words(&["active", "paused", "online", "offline", "stale", "never_contacted"]),
        "filtered by the server",
    ),
    TYPE,
    STATUS,
    TAG,
];
const PROJECT: &[Term] = &[TYPE, STATUS, TAG];
const TYPE: Term = Term::new("type", "type", ValueKind::Words(&["instance", "group", "project"]), "runner type");
const STATUS: Term = Term::new(
    "status",
    "status",
    ValueKind::Words(&["online", "offline", "paused", "stale", "never_contacted", "not_connected"]),
    "runner status",
);
const TAG: Term = Term::new("tag", "tag", ValueKind::Text, "runner tag");

/// A parsed query for runners.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunnerQuery {
    /// The scope requested from the server.
    pub scope: Option<String>,
    /// The filters applied to the reply: words without a key, and values of the other keys.
    words: Vec<String>,
    kind: Option<String>,
    status: Option<String>,
    tags: Vec<String>,
}

/// Returns the grammar of the query. The available scopes depend on the list.
pub fn grammar(scope: Scope) -> Grammar {
    let terms = match scope {
        Scope::All => ALL,
        Scope::Mine => MINE,
        Scope::Project => PROJECT,
    };
    // Words without a key are searched in the loaded rows.
    Grammar::new(terms, Some("words"), None)
}

impl RunnerQuery {
    /// Parses `text`; unknown keys are left out.
    pub fn read(text: &str, scope: Scope) -> RunnerQuery {
        let grammar = grammar(scope);
        let mut parsed = RunnerQuery::default();
        for (word, keyed) in query::parts(text) {
            let word = word.replace('"', "");
            let Some((name, value)) = word.split_once(':').filter(|(_, value)| keyed && !value.is_empty()) else {
                if !keyed && !word.is_empty() {
                    parsed.words.push(word.to_lowercase());
                }
                continue;
            };
            let Some(term) = grammar.terms.iter().find(|term| term.name == name) else { continue };
            match term.name {
                "scope" => parsed.scope = Some(value.to_owned()),
                "type" => parsed.kind = Some(value.to_owned()),
                "status" => parsed.status = Some(value.to_owned()),
                _ => parsed.tags.push(value.to_lowercase()),
            }
        }
        parsed
    }

    /// Returns a key of the filters applied to the reply; empty without filters.
    pub fn filter_key(&self) -> String {
        if (&self.kind, &self.status) == (&None, &None) && self.words.is_empty() && self.tags.is_empty() {
            return String::new();
        }
        format!("{:?} {:?} {:?} {:?}", self.words, self.kind, self.status, self.tags)
    }

    /// Returns whether a runner matches the query.
    pub fn matches(&self, runner: &Runner) -> bool {
        let tags: Vec<String> = runner.tags().iter().map(|tag| tag.to_lowercase()).collect();
        let name = runner.label().to_lowercase();
        let says = |word: &String| name.contains(word) || tags.iter().any(|tag| tag.contains(word));
        let (_, word, _) = status(runner);
        let stands = |wanted: &String| wanted.replace('_', " ") == word || *wanted == runner.status.as_str();
        self.words.iter().all(says)
            && self.tags.iter().all(|wanted| tags.contains(wanted))
            && self.kind.as_ref().is_none_or(|wanted| wanted == kind(runner))
            && self.status.as_ref().is_none_or(stands)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::runners::RunnerStatus;

    fn runner(name: &str, tags: &[&str], active: bool) -> Runner {
        Runner {
            description: Some(name.into()),
            tag_list: Some(tags.iter().map(|tag| (*tag).to_owned()).collect()),
            active,
            status: RunnerStatus::Online,
            ..Runner::default()
        }
    }

    #[test]
    fn scope_is_sent_and_the_rest_filters_locally() {
        let parsed = RunnerQuery::read("scope:online tag:gpu mill", Scope::Mine);
        assert_eq!(parsed.scope.as_deref(), Some("online"));
        assert!(parsed.matches(&runner("Mill 3", &["GPU", "linux"], true)));
        assert!(!parsed.matches(&runner("mill 3", &["gpu2"], true)));
        assert!(!parsed.matches(&runner("attic", &["gpu"], true)));
        let paused = RunnerQuery::read("status:paused", Scope::All);
        assert!(paused.matches(&runner("a", &[], false)) && !paused.matches(&runner("a", &[], true)));
        assert_eq!(RunnerQuery::read("scope:shared", Scope::Mine).scope.as_deref(), Some("shared"));
        assert_eq!(RunnerQuery::read("color:red", Scope::Mine), RunnerQuery::default());
        assert_eq!(RunnerQuery::read("", Scope::All).filter_key(), "");
    }
}
