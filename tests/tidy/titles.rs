//! Checks the titles of commands in the palette, and the synonyms that find them.

use crate::source::files;
use labscope::app::command_info::Info;
use labscope::app::global;
use labscope::app::synonyms;
use labscope::panes::PANES;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// The verbs that a title may start with. `Columns` is the term in GitLab's own lists.
const VERBS: &[&str] = &[
    "Add",
    "Apply",
    "Approve",
    "Browse",
    "Cancel",
    "Change",
    "Check",
    "Cherry-pick",
    "Close",
    "Columns",
    "Comment",
    "Commit",
    "Compare",
    "Copy",
    "Create",
    "Delete",
    "Disable",
    "Discard",
    "Edit",
    "Enable",
    "Erase",
    "Expand",
    "Filter",
    "Find",
    "Fork",
    "Go",
    "Keep",
    "Link",
    "List",
    "Mark",
    "Merge",
    "Move",
    "New",
    "Next",
    "Open",
    "Pause",
    "Play",
    "Previous",
    "Protect",
    "Push",
    "Quit",
    "React",
    "Rebase",
    "Refresh",
    "Reject",
    "Remove",
    "Reply",
    "Request",
    "Resolve",
    "Restore",
    "Retry",
    "Revert",
    "Run",
    "Save",
    "Search",
    "Set",
    "Show",
    "Sort",
    "Star",
    "Start",
    "Stop",
    "Submit",
    "Subscribe",
    "Suggest",
    "Suspend",
    "Swap",
    "Switch",
    "Sync",
    "Test",
    "Toggle",
    "Unlink",
    "Unpack",
    "Unprotect",
    "Unstar",
    "Upload",
    "View",
    "Visit",
    "Watch",
    "Withdraw",
    "Write",
    "Zoom",
];

/// The maximum length of a title, in characters.
const LONGEST: usize = 31;

/// Returns the commands of every place, by the name of the place.
fn commands() -> Vec<(&'static str, Vec<Info>)> {
    let everywhere = ("everywhere", global::infos(PANES).collect());
    std::iter::once(everywhere).chain(PANES.iter().map(|entry| (entry.place.id, entry.listed_commands()))).collect()
}

/// Returns the problem with a title, if any.
fn mistake(title: &str) -> Option<String> {
    let verb = title.trim_end_matches('…').split(' ').next().unwrap_or_default();
    if !VERBS.contains(&verb) {
        return Some(format!("\"{verb}\" is not in the list of verbs"));
    }
    if title.contains(',') || title.split(' ').any(|word| matches!(word, "it" | "its")) {
        return Some("it has a comma, \"it\" or \"its\"".into());
    }
    let length = title.chars().count();
    (length > LONGEST).then(|| format!("it has {length} characters of {LONGEST}"))
}

#[test]
fn command_titles_start_with_a_verb_and_are_short_and_unique() {
    let mut mistakes = Vec::new();
    for (_, infos) in commands() {
        let mut seen = HashSet::new();
        let of_place = infos.iter().filter_map(|info| {
            let again = (!seen.insert(info.title)).then(|| "another command has the same title".to_owned());
            Some(format!("{} \"{}\": {}", info.id, info.title, mistake(info.title).or(again)?))
        });
        mistakes.extend(of_place);
    }
    assert!(mistakes.is_empty(), "titles are \"Verb noun\":\n{}", mistakes.join("\n"));
}

#[test]
fn commands_of_one_title_ask_everywhere_or_nowhere() {
    let all: Vec<Info> = commands().into_iter().flat_map(|(_, infos)| infos).collect();
    let titles: HashSet<&str> = all.iter().map(|info| info.title).collect();
    let asks = |title: &str| titles.contains(format!("{title}…").as_str());
    let mistakes: Vec<String> =
        all.iter().filter(|info| asks(info.title)).map(|info| format!("{} \"{}\"", info.id, info.title)).collect();
    assert!(mistakes.is_empty(), "the same title ends in … elsewhere:\n{}", mistakes.join("\n"));
}

/// `Enter` opens and `+` creates what a list holds; every other act has one key that works wherever it is offered.
#[test]
fn commands_of_one_title_have_one_key() {
    let mut keys: BTreeMap<&str, Vec<(&str, BTreeSet<&str>)>> = BTreeMap::new();
    for info in commands().into_iter().skip(1).flat_map(|(_, infos)| infos) {
        let own: BTreeSet<&str> = info.keys.iter().copied().filter(|key| !matches!(*key, "Enter" | "+")).collect();
        if !own.is_empty() {
            keys.entry(info.title).or_default().push((info.id, own));
        }
    }
    keys.retain(|_, rows| {
        let common = rows.iter().map(|(_, keys)| keys.clone()).reduce(|a, b| &a & &b);
        common.is_some_and(|common| common.is_empty())
    });
    assert!(keys.is_empty(), "one act has several keys:\n{keys:#?}");
}

#[test]
fn place_titles_are_short_unique_and_without_commas() {
    let mut seen = HashSet::new();
    for entry in PANES {
        let fits = !entry.place.title.contains(',') && entry.place.title.chars().count() <= LONGEST;
        assert!(fits && seen.insert(entry.place.title), "{}: \"{}\"", entry.place.id, entry.place.title);
    }
}

#[test]
fn synonyms_name_existing_commands_and_every_place_has_some() {
    let ids: BTreeSet<String> = commands().iter().flat_map(|(_, infos)| infos).map(|info| info.id.to_owned()).collect();
    for id in synonyms::ids() {
        let known = ids.contains(id) || (id.starts_with('.') && ids.iter().any(|known| known.ends_with(id)));
        assert!(known, "{id} is not a command");
    }
    for entry in PANES {
        assert!(!entry.place.synonyms.is_empty(), "{} has no synonyms", entry.place.id);
    }
}

#[test]
fn messages_name_commands_that_exist() {
    let known: HashSet<&str> = commands().into_iter().flat_map(|(_, infos)| infos).map(|info| info.id).collect();
    let mut found = 0;
    for file in files() {
        for quoted in file.code.split('‹').skip(1).filter_map(|rest| Some(rest.split_once('›')?.0)) {
            // The ID may be inserted by a format string.
            if quoted.is_empty() || quoted.starts_with(['{', '"', '\'']) {
                continue;
            }
            let exists = known.iter().any(|id| id == &quoted || quoted.starts_with('.') && id.ends_with(quoted));
            assert!(exists, "{}: no command is called \"{quoted}\"", file.name);
            found += 1;
        }
    }
    assert!(found > 100, "the messages were found");
    // A key that is named directly is wrong once it is mapped to something else.
    for file in files() {
        for (at, _) in file.code.match_indices("press ").chain(file.code.match_indices("Press ")) {
            let next = file.code[at + "press ".len()..].split([' ', '"', '.', ',']).next().unwrap_or_default();
            let is_letter = next.len() == 1 && next.chars().all(char::is_alphanumeric);
            let is_key = is_letter && next != "a" || next.starts_with("C-") || next.starts_with("M-");
            assert!(!is_key, "{}: a message says \"press {next}\": name the command in ‹›", file.name);
        }
    }
}
