//! Other words that find a place or a command in the palette: GitLab's own names, and what people type elsewhere.

/// Ids, and the words that find them besides their titles. An id that begins with a dot stands for the command of that name
/// in every place.
const SYNONYMS: &[(&[&str], &[&str])] = &[
    // Places, by the names of GitLab's pages.
    (&["home", "go.home"], &["home", "dashboard", "your work", "to-do list", "todo", "inbox"]),
    (&["projects", "go.projects"], &["projects", "repositories", "repos"]),
    (&["mrs", "go.mrs"], &["merge requests", "mr", "pull requests", "pr", "reviews"]),
    (&["mr"], &["merge request", "pull request", "pr", "review"]),
    (&["files", "go.files"], &["repository", "files", "source code", "tree"]),
    (&["overview"], &["project overview", "project information", "readme", "about"]),
    (&["branches", "go.branches"], &["branches"]),
    (&["tags", "go.tags"], &["tags", "releases"]),
    (&["commits", "go.commits"], &["commits", "history", "log"]),
    (&["commit"], &["commit", "show"]),
    (&["compare"], &["compare revisions", "diff"]),
    (&["jobs", "go.jobs"], &["jobs", "builds", "ci", "ci/cd"]),
    (&["pipelines"], &["pipelines", "ci", "ci/cd"]),
    (&["job"], &["job", "job log", "log", "trace"]),
    (&["traces"], &["job logs", "logs", "traces"]),
    (&["artifacts"], &["artifacts", "test report"]),
    (&["runners", "go.runners"], &["runners", "ci"]),
    (&["deployments"], &["deployments", "environments", "operate"]),
    (&["search", "go.search"], &["search", "grep", "find"]),
    (&["stage", "go.stage"], &["staged changes", "web ide", "index", "commit changes"]),
    (&["snippets"], &["snippets", "gists"]),
    (&["groups"], &["groups", "subgroups", "namespaces"]),
    (&["users"], &["users", "members", "people", "admin"]),
    (&["user"], &["user", "profile"]),
    (&["me"], &["me", "user settings", "preferences", "edit profile", "ssh keys", "gpg keys"]),
    (&["key", "users.key"], &["ssh keys", "fingerprint", "admin"]),
    (&["hooks"], &["system hooks", "webhooks", "admin"]),
    (&["license"], &["license", "licence", "subscription", "admin"]),
    (&["notifications", ".notifications"], &["notification settings", "mail", "email"]),
    (&["issue"], &["issue", "ticket", "bug"]),
    (&["epic"], &["epic"]),
    // Commands.
    (&[".watch", ".watch_pipeline"], &["watch", "notify", "notification", "alert"]),
    (&["refresh"], &["refresh", "reload", "update", "fetch"]),
    (&["browse"], &["browser", "web", "url"]),
    (&["copy"], &["yank", "clipboard"]),
    (&["help"], &["help", "keybindings", "shortcuts"]),
    (&["drafts"], &["drafts", "comments", "unsent"]),
    (&["transfers"], &["transfers", "downloads"]),
    (&["hosts"], &["hosts", "instances", "switch server"]),
    (&["quit"], &["exit", "close"]),
    (&["seek"], &["search", "find"]),
    (&[".retry"], &["rerun", "restart"]),
    (&[".cancel"], &["stop", "abort"]),
    (&[".play"], &["run", "start", "trigger"]),
    (&[".blame"], &["annotate", "praise"]),
    (&[".send"], &["send review", "publish", "finish review"]),
    (&[".spaces"], &["ignore whitespace"]),
    (&[".layout"], &["split", "unified", "inline"]),
    (&[".pick"], &["cherrypick", "backport"]),
    // Switches of lists.
    (&[".pin", ".sizes", ".protect", ".pause", ".mark"], &["toggle"]),
];

/// The words that find a place or a command by its id, in lower case.
pub fn of(id: &str) -> &'static [&'static str] {
    let command = id.find('.').map_or("", |dot| id.get(dot..).unwrap_or_default());
    let named = |name: &&str| *name == id || (name.starts_with('.') && *name == command);
    SYNONYMS.iter().find(|(ids, _)| ids.iter().any(named)).map_or(&[], |(_, words)| *words)
}

/// Returns every id of the list.
pub fn ids() -> impl Iterator<Item = &'static str> {
    SYNONYMS.iter().flat_map(|(ids, _)| ids.iter().copied())
}
