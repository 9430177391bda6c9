//! Synonyms that find a command in the palette. The synonyms of places are in the registry.

use super::registry::Entry;

/// Command IDs, and the words that find them in addition to their titles. An ID that begins with a dot matches the
/// command with that name in every place.
const SYNONYMS: &[(&[&str], &[&str])] = &[
    (&["variables.value"], &["reveal", "show secret", "toggle"]),
    (&["schedules.own"], &["take ownership", "take over"]),
    (&["variables.import"], &["import", "dotenv", "env file"]),
    (&["variables.effective"], &["scope", "inherited"]),
    (&["users.key"], &["ssh keys", "fingerprint", "admin"]),
    (&[".notifications"], &["notification settings", "mail", "email"]),
    (&[".watch", ".watch_pipeline"], &["watch", "notify", "notification", "alert"]),
    (&["refresh"], &["refresh", "reload", "update", "fetch"]),
    (&["browse"], &["browser", "web", "url"]),
    (&["copy"], &["yank", "clipboard"]),
    (&["help"], &["help", "keybindings", "shortcuts"]),
    (&["messages"], &["messages", "log", "history", "errors"]),
    (&["drafts"], &["drafts", "comments", "unsent"]),
    (&["transfers"], &["transfers", "downloads"]),
    (&["hosts"], &["hosts", "instances", "switch server"]),
    (&["quit"], &["exit", "close"]),
    (&["seek"], &["search", "find"]),
    (&[".retry"], &["rerun", "restart"]),
    (&[".cancel"], &["stop", "abort"]),
    (&[".play"], &["run", "start", "trigger"]),
    (&["job.compare", "jobs.compare", "pipelines.failures"], &["why", "cause", "red", "failure", "diff"]),
    (&[".run_again", ".redeploy"], &["re-deploy", "rollback", "roll back"]),
    (&[".blame"], &["annotate", "praise"]),
    (&[".send"], &["send review", "publish", "finish review", "request changes"]),
    (&[".spaces"], &["ignore whitespace"]),
    (&[".layout"], &["split", "unified", "inline"]),
    (&[".pick"], &["cherrypick", "backport"]),
    (&[".revert"], &["undo merge", "roll back"]),
    (&["mr.subscribe", "mrs.subscribe", "issue.subscribe", "issues.subscribe"], &["notifications", "follow", "watch"]),
    (&["mr.linked", "issue.requests"], &["related", "closes", "blocked by"]),
    (&["mr.add_dependency", "issue.link"], &["blocks", "relates to", "related issue"]),
    (&[".time"], &["spend", "estimate", "time spent", "hours"]),
    // Toggles of lists.
    (&[".pin", ".sizes", ".pause", ".mark"], &["toggle"]),
    (&[".protect"], &["toggle protection", "protect branch", "unprotect branch"]),
];

/// Returns the synonyms of a command, in lower case; a command that opens a place has the synonyms of that place.
pub fn of(panes: &[Entry], id: &str) -> &'static [&'static str] {
    let goes = |entry: &&Entry| entry.place.go.is_some_and(|go| go.id == id);
    if let Some(entry) = panes.iter().find(goes) {
        return entry.place.synonyms;
    }
    let command = id.find('.').map_or("", |dot| id.get(dot..).unwrap_or_default());
    let named = |name: &&str| *name == id || (name.starts_with('.') && *name == command);
    SYNONYMS.iter().find(|(ids, _)| ids.iter().any(named)).map_or(&[], |(_, words)| *words)
}

/// Returns all command IDs that have synonyms.
pub fn ids() -> impl Iterator<Item = &'static str> {
    SYNONYMS.iter().flat_map(|(ids, _)| ids.iter().copied())
}
