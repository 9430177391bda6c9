//! Quick actions: lines of comments that are commands to the server, such as `/label ~bug`. The table follows GitLab's page about
//! quick actions; the server executes every such line and cuts it out of the text.

/// A kind of object that comments are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    MergeRequest,
    Issue,
    Epic,
}

/// The arguments of a quick action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arguments {
    None,
    /// `@user`, several of them, or `me`.
    People,
    /// `~label`, or several of them; names with blanks are quoted.
    Labels,
    /// `%milestone`.
    Milestone,
    /// The name of a branch.
    Branch,
    /// A date: `2026-07-01`, `tomorrow`, `in 2 days`.
    Date,
    /// `:emoji:`.
    Emoji,
    /// One of these words.
    Words(&'static [&'static str]),
    /// A text that cannot be completed, described by an example.
    Text(&'static str),
}

/// A command that a line of a comment can give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuickAction {
    pub name: &'static str,
    /// Its other names.
    pub aliases: &'static [&'static str],
    pub arguments: Arguments,
    /// The kinds of objects that have it.
    on: &'static [On],
    /// Its effect, in a few words.
    pub about: &'static str,
}

use Arguments::{Branch, Date, Emoji, Labels, Milestone, None as Nothing, People, Text, Words};
use On::{Epic, Issue, MergeRequest};

const MR: &[On] = &[MergeRequest];
const ISSUE: &[On] = &[Issue];
const BOTH: &[On] = &[MergeRequest, Issue];
const PLANNED: &[On] = &[Issue, Epic];
const ALL: &[On] = &[MergeRequest, Issue, Epic];

const fn action(
    name: &'static str,
    aliases: &'static [&'static str],
    arguments: Arguments,
    on: &'static [On],
    about: &'static str,
) -> QuickAction {
    QuickAction { name, aliases, arguments, on, about }
}

/// All quick actions, those of merge requests first.
pub const ACTIONS: &[QuickAction] = &[
    action("approve", &[], Nothing, MR, "Approve"),
    action("unapprove", &[], Nothing, MR, "Revoke your approval"),
    action(
        "submit_review",
        &[],
        Words(&["reviewed", "approve", "requested_changes"]),
        MR,
        "Publish your drafts, with a verdict",
    ),
    action("request_changes", &[], Nothing, MR, "Request changes, as a reviewer"),
    action("request_review", &[], People, MR, "Ask for a review, also again"),
    action("assign_reviewer", &["reviewer"], People, MR, "Add reviewers"),
    action("unassign_reviewer", &["remove_reviewer"], People, MR, "Remove reviewers; without names, all"),
    action("merge", &[], Nothing, MR, "Merge, now or when its checks pass"),
    action("ship", &[], Nothing, MR, "Run a pipeline and merge when it succeeds"),
    action("rebase", &[], Nothing, MR, "Rebase the source branch"),
    action("draft", &[], Nothing, MR, "Mark as draft"),
    action("ready", &[], Nothing, MR, "Mark as ready"),
    action("target_branch", &[], Branch, MR, "Change the target branch"),
    action("assign", &[], People, ALL, "Assign people"),
    action("unassign", &[], People, ALL, "Remove assignees; without names, all"),
    action("reassign", &[], People, ALL, "Replace the assignees"),
    action("label", &["labels"], Labels, ALL, "Add labels"),
    action("unlabel", &["remove_label"], Labels, ALL, "Remove labels; without names, all"),
    action("relabel", &[], Labels, ALL, "Replace all labels"),
    action("milestone", &[], Milestone, ALL, "Set the milestone"),
    action("remove_milestone", &[], Nothing, ALL, "Remove the milestone"),
    action("close", &[], Nothing, ALL, "Close"),
    action("reopen", &[], Nothing, ALL, "Reopen"),
    action("title", &[], Text("new title"), ALL, "Change the title"),
    action("lock", &[], Nothing, ALL, "Let only members comment"),
    action("unlock", &[], Nothing, ALL, "Let everybody comment"),
    action("subscribe", &[], Nothing, ALL, "Subscribe to notifications"),
    action("unsubscribe", &[], Nothing, ALL, "Unsubscribe from notifications"),
    action("todo", &[], Nothing, ALL, "Add a to-do item for yourself"),
    action("done", &[], Nothing, ALL, "Mark your to-do item as done"),
    action("react", &["award"], Emoji, ALL, "Add or remove a reaction"),
    action("estimate", &["estimate_time"], Text("1d 4h"), BOTH, "Set the time estimate"),
    action("remove_estimate", &["remove_time_estimate"], Nothing, BOTH, "Remove the time estimate"),
    action("spend", &["spend_time"], Text("1h 30m"), BOTH, "Add time spent; -30m takes some off"),
    action("remove_time_spent", &[], Nothing, BOTH, "Remove the time spent"),
    action("copy_metadata", &[], Text("#5 or !5"), ALL, "Copy labels and milestone"),
    action("shrug", &[], Text("text"), ALL, "Add a shrug to the text"),
    action("tableflip", &[], Text("text"), ALL, "Add a flipped table to the text"),
    action("due", &[], Date, PLANNED, "Set the due date"),
    action("remove_due_date", &[], Nothing, PLANNED, "Remove the due date"),
    action("confidential", &[], Nothing, PLANNED, "Show only to members"),
    action("duplicate", &[], Text("#5"), PLANNED, "Close as a duplicate"),
    action("move", &[], Text("group/project"), PLANNED, "Move to another project"),
    action("clone", &[], Text("group/project"), PLANNED, "Copy to another project"),
    action("create_merge_request", &[], Text("branch"), ISSUE, "Create a merge request"),
    action("relate", &[], Text("#5"), PLANNED, "Link as related"),
    action("blocks", &[], Text("#5"), PLANNED, "Link as blocking others"),
    action("blocked_by", &[], Text("#5"), PLANNED, "Link as blocked by others"),
    action("unlink", &[], Text("#5"), PLANNED, "Remove a link"),
    action("weight", &[], Text("3"), ISSUE, "Set the weight"),
    action("clear_weight", &[], Nothing, ISSUE, "Remove the weight"),
    action("health_status", &[], Words(&["on_track", "needs_attention", "at_risk"]), ISSUE, "Set the health status"),
    action("iteration", &[], Text("--current or --next"), ISSUE, "Set the iteration"),
    action("type", &[], Words(&["issue", "incident", "task"]), ISSUE, "Change the type"),
    action("severity", &[], Words(&["S1", "S2", "S3", "S4", "unknown"]), ISSUE, "Set the severity of an incident"),
];

impl QuickAction {
    pub fn is_on(&self, on: On) -> bool {
        self.on.contains(&on)
    }

    fn is_called(&self, name: &str) -> bool {
        std::iter::once(&self.name).chain(self.aliases).any(|known| known.eq_ignore_ascii_case(name))
    }
}

/// Returns the quick action with that name, in any case.
pub fn find(name: &str) -> Option<&'static QuickAction> {
    ACTIONS.iter().find(|action| action.is_called(name))
}

/// A quick action in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command<'t> {
    /// The name as it was written, without the slash.
    pub name: &'t str,
    /// The rest of the line, trimmed.
    pub arguments: &'t str,
}

/// Returns the command on a line: a slash and a name at its very start.
pub fn command_of(line: &str) -> Option<Command<'_>> {
    let rest = line.strip_prefix('/')?;
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
    let (name, arguments) = rest.split_at_checked(end)?;
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic());
    // A path such as `/usr/bin` is no command.
    let is_alone = arguments.is_empty() || arguments.starts_with([' ', '\t', '\r']);
    (is_name && is_alone).then(|| Command { name, arguments: arguments.trim() })
}

/// Splits a text into the text that remains as a comment, trimmed, and its commands. Lines in code blocks and in `>>>`
/// quotes are text, and so are commands that `is_known` does not know.
pub fn split<'t>(text: &'t str, is_known: impl Fn(&str) -> bool) -> (String, Vec<Command<'t>>) {
    let mut fence: Option<&str> = None;
    let (mut kept, mut commands) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let start = line.trim_start();
        match fence {
            Some(mark) => fence = Some(mark).filter(|mark| !start.starts_with(mark)),
            None => fence = ["```", "~~~", ">>>"].into_iter().find(|mark| start.starts_with(mark)),
        }
        match command_of(line).filter(|command| fence.is_none() && is_known(command.name)) {
            Some(command) => commands.push(command),
            None => kept.push(line),
        }
    }
    (kept.join("\n").trim().to_owned(), commands)
}

/// Returns a text in which no line is a command: a backslash before the slash makes it text in Markdown. Lines of code
/// get a blank instead. Servers disagree on what is code (`extractor.rb` in `lib/gitlab/quick_actions`: an open block and
/// one of tildes are none, a quote may swallow the mark of one), and newer ones know other commands, so that no line is
/// trusted.
pub fn as_text(text: &str) -> String {
    let (mut out, mut is_code) = (Vec::new(), false);
    for line in text.lines() {
        let bare = line.trim_start();
        is_code ^= ["```", "~~~"].iter().any(|mark| bare.starts_with(mark));
        let indent = line.get(..line.len() - bare.len()).unwrap_or_default();
        let is_command = command_of(bare).is_some() && !(is_code && indent.starts_with(' '));
        let guard = match (is_command, is_code) {
            (false, _) => "",
            (true, true) => " ",
            (true, false) => "\\",
        };
        out.push(format!("{indent}{guard}{bare}"));
    }
    out.join("\n")
}

/// Splits arguments at blanks; names in double quotes may contain blanks. A sign before the quotes belongs to the name:
/// `~"a b"` is `~a b`.
pub fn words(arguments: &str) -> Vec<String> {
    let (mut words, mut word, mut is_quoted) = (Vec::new(), String::new(), false);
    for c in arguments.chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            c if c.is_whitespace() && !is_quoted => words.push(std::mem::take(&mut word)),
            c => word.push(c),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn commands(text: &str) -> (String, Vec<(&str, &str)>) {
        let (rest, commands) = split(text, |name| find(name).is_some());
        (rest, commands.into_iter().map(|command| (command.name, command.arguments)).collect())
    }

    #[test]
    fn commands_are_lines_of_their_own_outside_of_code() {
        let (rest, all) = commands("Well.\n/label ~bug ~\"a b\" \n/CLOSE\nDone.");
        assert_eq!((rest.as_str(), all), ("Well.\nDone.", vec![("label", "~bug ~\"a b\""), ("CLOSE", "")]));
        for text in
            ["/unknown x", " /close", "see /close", "/usr/bin", "```\n/close\n```", ">>>\n/close\n>>>", "/", "//close"]
        {
            assert_eq!(commands(text), (text.trim().to_owned(), Vec::new()), "{text}");
        }
        assert_eq!(commands("```\n/close\n```\n/reopen").1, [("reopen", "")]);
    }

    #[test]
    fn commands_become_text() {
        for (text, safe) in [
            ("Well.\n/close\n /merge now", "Well.\n\\/close\n \\/merge now"),
            ("/unknown x", "\\/unknown x"),
            ("```sh\n/close\n  /x y\n```\n/reopen", "```sh\n /close\n  /x y\n```\n\\/reopen"),
            ("```\n/close", "```\n /close"),
            (">>>\n```\n>>>\n/close\n```", ">>>\n```\n>>>\n /close\n```"),
            ("/usr/bin is no command", "/usr/bin is no command"),
        ] {
            assert_eq!(as_text(text), safe);
            assert!(as_text(text).lines().all(|line| command_of(line).is_none()), "{text}");
        }
    }

    #[test]
    fn quoted_words_keep_their_blanks() {
        assert_eq!(words("~bug  ~\"a b\" @ada"), ["~bug", "~a b", "@ada"]);
        assert_eq!(words("  "), Vec::<String>::new());
        assert_eq!(words("%\"open"), ["%open"]);
    }

    #[test]
    fn names_are_unique() {
        let mut seen = HashSet::new();
        for action in ACTIONS {
            assert!(
                std::iter::once(&action.name).chain(action.aliases).all(|name| seen.insert(*name)),
                "{}",
                action.name
            );
            assert_eq!(find(action.name), Some(action));
        }
        assert_eq!(find("Award").map(|action| action.name), Some("react"));
    }
}
