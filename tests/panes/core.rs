//! The core shared by all panes: keys, help, requests in flight, read-only mode, small screens, and hostile text.

use crate::fixtures::{self, With, project, user};
use crate::harness::{Begin, Harness, NOW};
use crate::monkey::place_of;
use jiff::Timestamp;
use labscope::api::branches::ProtectBranch;
use labscope::api::groups::TransferProject;
use labscope::api::projects::{GetProject, ListProjects};
use labscope::app::action::{Action, Msg, Outcome};
use labscope::app::command::Command;
use labscope::app::command_info::Info;
use labscope::app::context::Cx;
use labscope::app::global;
use labscope::app::keymap::{parse_chord, show};
use labscope::app::motion::Motion;
use labscope::app::pane::{Breadcrumb, Pane, PaneKind};
use labscope::app::place::Place;
use labscope::app::place_info::Needs;
use labscope::app::registry::Entry;
use labscope::app::state::AccountState;
use labscope::app::tone::Tone;
use labscope::app::view::View;
use labscope::panes::PANES;
use labscope::parts::list::pane;
use labscope::store::{Load, ParsedReply, TaskKey, Want, Write};
use labscope::ui::theme::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::json;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

fn protect() -> Action {
    let protect = ProtectBranch { id: "7".into(), branch: "main".into(), ..ProtectBranch::default() };
    Action::Send(Write::new(&protect, "protect main"))
}

/// A pane that needs one project and can make changes.
struct Probe;

impl PaneKind for Probe {
    const ID: &'static str = "probe";
    const COMMANDS: &'static [Command<Self>] = &[
        Command::new("probe.write", &["w"], "Write something", |_, cx| cx.act(protect())).writes(),
        Command::new("probe.move", &["M"], "Move project", |_, cx| {
            let transfer = TransferProject { id: "acme".into(), project_id: "7".into() };
            cx.act(Action::Send(Write::new(&transfer, "move project 7")));
        }),
        Command::new("probe.forgets", &["W"], "Write without saying so", |_, cx| cx.act(protect())),
    ];

    fn open(_: &Place, _: &View) -> Self {
        Probe
    }
}

impl Pane for Probe {
    fn place(&self) -> Place {
        Place::new("probe").project("7")
    }
    fn breadcrumbs(&self, _: &View) -> Vec<Breadcrumb> {
        vec![Breadcrumb::new("probe", Role::Title)]
    }
    fn wants(&self, _: &View) -> Vec<Want> {
        vec![Load::single(&GetProject { id: "7".into(), ..GetProject::default() }).into()]
    }
    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let known = view.store.get(&GetProject { id: "7".into(), ..GetProject::default() }).value;
        let name = known.map_or("not known", |p| p.name.as_str());
        labscope::ui::line::Line::new(name, Role::Text).draw(buf, area, view.theme);
    }
    fn motion(&mut self, _: Motion, _: &mut Cx) {}
}

const WITH_PROBE: &[Entry] = &[
    Entry::of::<Probe>("Probe"),
    pane::entry::<labscope::panes::projects::ProjectSource>("Projects").reached_by(
        "go.projects",
        &["g p"],
        "Go to projects",
    ),
];

#[tokio::test]
async fn a_message_about_a_place_disappears_when_it_is_left() {
    let mut harness = Begin::at(projects()).open();
    harness.press("Esc").expect("Nothing to go back to").press("g h").expect_no("Nothing to go back to");
    harness.press("q Esc").expect("Nothing to go back to");
    // Another tab is also another place.
    harness.press("2").expect_no("Nothing to go back to");
}

fn projects() -> Place {
    Place::new("projects")
}

fn tables() -> Vec<(&'static str, Vec<Info>)> {
    let global = global::infos(PANES).collect();
    let panes = PANES.iter().map(|entry| (entry.place.id, entry.listed_commands()));
    std::iter::once(("", global)).chain(panes).collect()
}

#[test]
fn every_default_key_is_valid_and_unambiguous_in_its_place() {
    let global: Vec<_> = global::infos(PANES).flat_map(|c| c.keys).filter_map(|k| parse_chord(k)).collect();
    for (pane, commands) in tables() {
        let mut seen: Vec<(Vec<_>, &str)> = Vec::new();
        for info in &commands {
            for key in info.keys {
                let chord = parse_chord(key).unwrap_or_else(|| panic!("{}: {key} is not a key", info.id));
                for (other, id) in &seen {
                    let apart = !chord.starts_with(other) && !other.starts_with(&chord);
                    assert!(apart, "{pane}: {} is bound to {} and {id}", show(&chord), info.id);
                }
                if !pane.is_empty() {
                    let hides = |g: &Vec<_>| g.len() > chord.len() && g.starts_with(&chord);
                    assert!(!global.iter().any(hides), "{}: {key} hides a global chord", info.id);
                }
                seen.push((chord, info.id));
            }
        }
    }
}

/// Keys with the same meaning in every place, and the suffixes of their commands' names.
const SHARED: &[(&str, &[&str])] = &[
    ("Enter", &["open", "owner", "edit"]),
    ("Space", &["mark"]),
    ("+", &["create", "add", "add_key", "enable", "section", "run"]),
    ("c", &["comment"]),
    ("e", &["edit", "release", "next_error"]),
    ("W", &["wrap", "watch", "watch_pipeline"]),
    ("[", &["previous", "previous_file"]),
    ("]", &["next", "next_file"]),
    ("{", &["previous_hunk", "previous_section", "previous_message"]),
    ("}", &["next_hunk", "next_section", "next_message"]),
];

#[test]
fn shared_keys_have_the_same_meaning_in_every_place() {
    let of_every_place: Vec<&str> = global::infos(PANES).flat_map(|command| command.keys).copied().collect();
    for info in PANES.iter().flat_map(|entry| entry.listed_commands()) {
        for key in info.keys {
            assert!(!of_every_place.contains(key), "{}: {key} is a global key", info.id);
            let name = info.id.rsplit('.').next().unwrap_or_default();
            let meant = SHARED.iter().find(|(shared, _)| shared == key);
            assert!(meant.is_none_or(|(_, names)| names.contains(&name)), "{}: {key} has another meaning", info.id);
        }
    }
}

#[test]
fn command_ids_are_unique_and_start_with_their_place() {
    let mut seen = HashSet::new();
    for (pane, commands) in tables() {
        for info in commands {
            assert!(seen.insert(info.id), "{} is duplicated", info.id);
            assert!(pane.is_empty() || info.id.starts_with(&format!("{pane}.")), "{} is not in {pane}", info.id);
            assert!(info.title.starts_with(char::is_uppercase) && !info.title.ends_with('.'), "{}", info.title);
        }
    }
}

#[test]
fn help_lists_every_command_of_the_place_and_all_global_ones() {
    for entry in PANES {
        let place = match entry.place.needs {
            Needs::Nothing | Needs::Text => Place::new(entry.place.id),
            Needs::Project => Place::new(entry.place.id).project("acme/rocket-ui"),
            Needs::Item => Place::new(entry.place.id).project("acme/rocket-ui").item(1),
        };
        let mut harness = Begin::at(place).size(100, 240).open();
        // Unavailable commands are folded at the end.
        harness.press("? PageDown PageDown PageDown Enter");
        for info in entry.listed_commands().into_iter().chain(global::infos(PANES)) {
            let key = info.keys.first().copied().unwrap_or_default();
            let listed = |line: &String| line.contains(info.title) && line.contains(key);
            assert!(harness.lines().iter().any(listed), "{}: {key} {} is not in the help", entry.place.id, info.title);
        }
    }
}

/// Returns every key that a terminal sends, except for those that close an overlay or move in it.
fn every_key() -> Vec<String> {
    let letters = ('!'..='~').map(String::from);
    let with = |modifier: &'static str| ('a'..='z').map(move |c| format!("{modifier}-{c}"));
    let others = "Space Tab S-Tab Backspace Delete Insert Up Down Left Right Home End PageUp PageDown F1 F2 F5 M-Right";
    let others = others.split(' ').map(str::to_owned);
    // A terminal cannot tell C-m from Enter.
    letters
        .chain(with("C").filter(|key| !matches!(key.as_str(), "C-c" | "C-m")))
        .chain(with("M"))
        .chain(others)
        .collect()
}

async fn merge_request() -> Harness {
    let mut harness = Begin::at(Place::new("mr").project("acme/rocket-ui").item(42)).size(100, 30).open();
    harness
        .reply("GET /user", user(1, "ada"))
        .reply(MR, fixtures::merge_request(42, "Rows", "opened"))
        .reply(&format!("{MR}/notes"), json!([]))
        .settle()
        .await;
    harness
}

const MR: &str = "GET /projects/acme%2Frocket-ui/merge_requests/42";

#[tokio::test]
async fn a_part_of_the_first_line_is_not_cut_to_a_letter() {
    let mut harness = merge_request().await;
    let mut has_state = HashSet::new();
    for width in (44..80).rev() {
        let line = harness.resize(width, 24).lines().swap_remove(0);
        assert!(line.contains("!42  Rows") && !line.contains("…"), "{width}: {line}");
        has_state.insert(line.contains("⊙ open"));
    }
    assert_eq!(has_state.len(), 2, "there is room for the state or not");
}

#[tokio::test]
async fn a_long_path_is_shortened_before_the_place_in_it() {
    let path = format!("acme/{}", "a-project-with-a-long-name-".repeat(3));
    let request = format!("GET /projects/{}/merge_requests/42", path.replace('/', "%2F"));
    for (place, words) in [
        (Place::new("mr").item(42), "!42"),
        (Place::new("jobs"), "jobs"),
        (Place::new("branches"), "branches"),
        (Place::new("commit").item("9f3c2abd"), "commit  9f3c2abd"),
    ] {
        let mut harness = Begin::at(place.project(path.as_str())).size(80, 24).open();
        harness.reply(&request, fixtures::merge_request(42, "Rows", "opened")).settle().await;
        for width in [80, 100, 160] {
            let line = harness.resize(width, 24).lines().swap_remove(0);
            assert!(line.contains("acme / a-project") && line.contains(words), "{width}: {line}");
            assert_eq!(line.contains("…"), width < 160, "{line}");
        }
    }
}

#[tokio::test]
async fn keys_typed_in_an_overlay_do_not_reach_the_place_below() {
    for (opens, title) in [("?", "Keys: Merge request"), (":", "Command"), ("a", "Actions")] {
        let mut harness = merge_request().await;
        let (before, asked) = (harness.picture(), harness.asked.len());
        harness.press(opens).expect(title);
        for key in every_key() {
            harness.press(&key);
            assert!(harness.shows(title), "{opens} was closed by {key}\n{}", harness.picture());
        }
        harness.press("Esc");
        assert_eq!(harness.picture(), before, "{opens}");
        // A folder tells whether what is typed after `:` is a path.
        let is_tree = |line: &&String| line.contains("/repository/tree");
        let rest: Vec<&String> = harness.asked[asked..].iter().filter(|line| opens != ":" || !is_tree(line)).collect();
        assert_eq!(rest, [""; 0], "{opens}");
    }
}

#[tokio::test]
async fn help_can_be_filtered_and_runs_the_selected_command() {
    let mut harness = merge_request().await;
    let put = "PUT /projects/acme%2Frocket-ui/merge_requests/42";
    let closed = |harness: &Harness| harness.asked.iter().filter(|line| line.starts_with(put)).count();
    harness.press("? / X").expect("No results.").press("Enter").expect("No results.").press("Esc");
    assert_eq!(closed(&harness), 0);
    harness.press("?").type_text("reopen").expect("Close or reopen merge request").expect_no("Reply to comment");
    // A typed key is also found, ahead of texts that contain the letter.
    harness
        .press("C-u")
        .press("]")
        .expect("Next file or comment")
        .press("C-u")
        .press("X")
        .press("Enter")
        .press("y")
        .settle()
        .await;
    assert_eq!(closed(&harness), 1, "{:?}", harness.asked);
    harness.expect_no("Keys: ");
}

#[tokio::test]
async fn available_commands_come_first_and_unavailable_ones_show_a_reason() {
    let mut harness = merge_request().await;
    let order = |harness: &Harness, words: [&str; 2]| {
        let lines = harness.lines();
        let at = words.map(|word| lines.iter().position(|line| line.contains(word)));
        assert!(at[0].is_some() && at[0] < at[1], "{words:?}\n{}", harness.picture());
    };
    harness.resize(100, 80).press("a").expect("Change ──").expect("View ──").expect_no("only on the Changes tab");
    order(&harness, ["Change ──", "Comment here…"]);
    order(&harness, ["View ──", "Next unresolved thread"]);
    harness.press("PageDown PageDown PageDown").expect("unavailable here").press("Enter");
    order(&harness, ["Comment here…", "Unavailable ──"]);
    order(&harness, ["Unavailable ──", "only on the Changes tab"]);
    // Unavailable commands can still be found by name, after available ones, and do nothing.
    let asked = harness.asked.len();
    harness.press("Esc a").type_text("comment").expect_no("Delete comment…");
    order(&harness, ["Comment here…", "unavailable here"]);
    harness.press("C-u").type_text("delete comment").expect("1 unavailable here").expect("select a comment first");
    harness.press("Enter").expect("Unavailable ──").expect("Delete comment…").press("Enter");
    assert_eq!(harness.asked.len(), asked);
    harness.press("Esc ?").expect("Keys: Merge request").expect("Move ──").expect("Go to ──").expect("Everywhere ──");
}

#[tokio::test]
async fn q_closes_then_goes_back_then_asks_to_quit() {
    let mut harness = Begin::at(projects()).open();
    harness.press("g h").press("s").press("g d").expect("Downloads").press("q").expect_no("Downloads");
    harness.press("q").expect_no("Quit labscope?");
    assert_eq!(harness.app.place(), projects());
    harness.press("q").expect("Quit labscope?").press("n").expect_no("Quit labscope?");
    assert!(!harness.app.is_quitting());
    for keys in ["q y", "q q", "q Enter"] {
        let mut harness = Begin::at(projects()).open();
        harness.press(keys);
        assert!(harness.app.is_quitting(), "{keys}");
    }
}

#[tokio::test]
async fn the_last_line_offers_no_keys_of_the_place_below_an_overlay() {
    let mut harness = Begin::at(projects()).open();
    let last = |harness: &Harness| harness.lines().last().cloned().unwrap_or_default();
    assert!(last(&harness).contains("a actions"), "{}", harness.picture());
    harness.press(":");
    assert!(!last(&harness).contains("actions"), "{}", harness.picture());
    harness.press("Esc");
    assert!(last(&harness).contains("a actions"), "{}", harness.picture());
}

#[tokio::test]
async fn the_hint_about_the_first_keys_is_shown_until_a_key_is_pressed() {
    let begin = |states: &HashMap<String, AccountState>| {
        let mut begin = Begin::at(projects());
        begin.shows_key_hints = true;
        begin.account = "ada".into();
        begin.states = states.clone();
        begin
    };
    let hint = "? lists the keys here, : runs any command, q goes back";
    let mut harness = begin(&HashMap::new()).open();
    harness.expect(hint).pass(60).expect(hint);
    harness.reply("GET /user", user(1, "ada")).settle().await;
    harness.press("j").expect_no(hint);
    let states = harness.states.clone();
    begin(&states).open().expect_no(hint);
}

#[tokio::test]
async fn control_o_and_control_i_go_back_and_forward() {
    let mut harness = Begin::at(projects()).open();
    let home = Place::new("home");
    harness.press("g h C-o");
    assert_eq!(harness.app.place(), projects());
    harness.press("C-i");
    assert_eq!(harness.app.place(), home);
    // Tab, which most terminals send instead of C-i, goes nowhere.
    harness.press("C-o Tab");
    assert_eq!(harness.app.place(), projects());
    harness.press("M-Right C-o C-o").expect("Nothing to go back to");
}

#[tokio::test]
async fn a_project_place_uses_the_selected_or_last_project_or_asks() {
    let web = |id: u64, path: &str| project(id, path).with(json!({"web_url": format!("http://demo.test/{path}")}));
    let mut harness = Begin::at(projects()).size(100, 30).open();
    harness.press("g j").expect("select a project").press("Esc");
    harness.reply("GET /projects", json!([web(7, "acme/rocket-ui"), web(8, "acme/tools")])).settle().await;
    harness.press("j").press("g j");
    assert_eq!(harness.app.place(), Place::new("jobs").project("acme/tools"));
    harness.press("q").press(":").type_text("variables").press("Enter");
    assert_eq!(harness.app.place(), Place::new("variables").project("acme/tools"));
    harness.press("g h").press("g b");
    assert_eq!(harness.app.place(), Place::new("branches").project("acme/tools"));
    let mut other = Begin::at(Place::new("home")).size(100, 30).open();
    other.reply("GET /projects", json!([project(8, "acme/tools")])).settle().await;
    other.press("g r g h").press("g t").expect("select a project").settle().await;
    other.type_text("tools").press("Enter");
    assert_eq!(other.app.place(), Place::new("tags").project("acme/tools"));
}

#[tokio::test]
async fn themes_are_previewed_before_they_are_chosen() {
    let mut harness = Begin::at(Place::new("projects")).size(100, 30).open();
    harness.press(":").type_text("theme").press("Enter").expect("Themes").expect("high-contrast");
    let before = harness.app.theme().clone();
    harness.press("j j j");
    assert_eq!(harness.app.theme().name, "high-contrast");
    harness.press("Esc");
    assert_eq!(harness.app.theme(), &before);
    harness.press(":").type_text("theme").press("Enter").press("j Enter").expect("theme = \"light\"");
    assert_eq!(harness.app.theme().name, "light");
}

#[tokio::test]
async fn the_palette_finds_places_and_commands_by_synonyms() {
    let mut harness = merge_request().await;
    harness.press(":");
    for (typed, found) in [
        ("notify", "Watch job (notify on finish)"),
        ("toggle", "Toggle file or thread fold"),
        ("toggle line", "unavailable here"),
        ("refresh", "Refresh"),
        ("reload", "Refresh"),
        ("mr", "mrs  Merge requests"),
        ("pull req", "Go to merge requests"),
        ("environments", "environments  Environments"),
        ("roll back", "unavailable here"),
        ("webhooks", "hooks"),
        ("project info", "overview"),
        ("web ide", "stage  Staged changes"),
        ("to-do", "todos  To-do list"),
        ("licence", "license"),
    ] {
        harness.press("C-u").type_text(typed).expect(found);
    }
}

#[tokio::test]
async fn commands_in_a_palette_are_told_apart_by_their_titles() {
    for entry in PANES {
        let mut harness = Begin::at(place_of(entry.place.id)).size(160, 80).open();
        harness.press(":").type_text("go to");
        let lines = harness.lines();
        let titles = lines.iter().filter_map(|line| line.split_once("Go to ")?.1.split("  ").next());
        let mut seen = HashSet::new();
        let twice: Vec<&str> = titles.filter(|title| !seen.insert(*title)).collect();
        assert_eq!(twice, Vec::<&str>::new(), "{}", harness.picture());
        assert!(seen.contains("projects"), "{}", harness.picture());
    }
    // A command that does the same everywhere has all its keys on one row.
    let mut harness = Begin::at(Place::new("overview").project("acme/rocket-ui")).size(120, 30).open();
    harness.press(":").type_text("go to commits");
    assert!(harness.line_with("Go to commits").contains(" H · g c "), "{}", harness.picture());
}

#[tokio::test]
async fn a_filter_can_be_typed_after_the_name_of_a_list() {
    let mut harness = merge_request().await;
    let list = Place::new("mrs").project("acme/rocket-ui");
    harness.press(":").type_text("mrs state:all author:bo").expect("mrs state:all author:bo").press("Enter");
    assert_eq!(harness.app.place(), list.clone().query("state:all author:bo"));
    // Plain words, too, unless they are those of a command.
    harness.press(":").type_text("mrs flaky rows").press("Enter").settle().await;
    assert_eq!(harness.app.place(), list.query("flaky rows"));
    harness.press(":").type_text("branches zz9").press("Enter").settle().await;
    harness.expect("/zz9");
    assert_eq!(harness.app.place().pane, "branches");
    // Only lists can be filtered.
    harness.press(":").type_text("job x:y").press("Enter").expect("Invalid target");
    assert_eq!(harness.app.place().pane, "branches");
}

#[tokio::test]
async fn the_palette_prefers_an_exact_name() {
    // Other commands begin with the same letters.
    let mut harness = merge_request().await;
    harness.reply("GET /user", json!({ "id": 1, "username": "ada" })).settle().await;
    harness.press(":").type_text("me").press("Enter");
    assert_eq!(harness.app.place().pane, "me");
}

#[tokio::test]
async fn extra_backspaces_in_a_filter_do_not_go_back() {
    // One list with a text filter, and one with a query of keys and values.
    for place in [Place::new("branches").project("acme/rocket-ui"), Place::new("mrs").project("acme/rocket-ui")] {
        let mut harness = Begin::at(place.clone()).open();
        harness.press("/").type_text("ab").press("Backspace Backspace Backspace Backspace");
        assert_eq!(harness.app.place().pane, place.pane);
        harness.type_text("cd").expect("cd");
    }
}

#[tokio::test]
async fn a_late_reply_is_dropped() {
    let mut harness = Begin::at(projects()).open();
    harness.press("/").type_text("roc");
    let of = |words: &str| ListProjects {
        search: Some(words.into()),
        order_by: Some("last_activity_at".into()),
        ..ListProjects::default()
    };
    let late = TaskKey::Load(Load::single(&of("ro")).request, 1);
    assert!(harness.canceled().contains(&late), "{:?}", harness.canceled());
    let rows: Vec<labscope::api::projects::Project> = vec![Default::default()];
    let arrival = ParsedReply::new(1, Arc::new(rows));
    harness.send(Msg::Arrived(late, Ok(Outcome::Reply(arrival))));
    assert!(!harness.app.store.list(&of("ro")).is_loaded, "an unexpected reply was kept");
    harness.reply("GET /projects", [project(1, "acme/rocket-ui")]).settle().await;
    harness.expect("acme/rocket-ui");
}

#[tokio::test]
async fn a_read_in_flight_during_a_write_is_repeated_after_it() {
    let mut harness = Begin::at(Place::new("probe")).registry(WITH_PROBE).open();
    let asked = |harness: &Harness| harness.asked.iter().filter(|line| line.starts_with("GET /projects/7")).count();
    assert_eq!(asked(&harness), 1);
    // The server answers the write first, and then the earlier read, whose reply may predate the write.
    let write = harness.press("M").waiting().iter().position(|line| line.starts_with("POST")).expect("a write");
    assert!(harness.succeed(write, &[json!({"id": 3}).to_string()]));
    let read = harness.waiting().iter().position(|line| line.starts_with("GET /projects/7")).expect("a read");
    assert!(harness.reply("GET /projects/7", json!({"id": 7, "name": "before"})).answer(read));
    harness.expect("before");
    assert_eq!(asked(&harness), 2, "{:?}", harness.asked);
}

#[tokio::test]
async fn leaving_a_place_cancels_its_requests() {
    let mut harness = Begin::at(Place::new("probe")).registry(WITH_PROBE).open();
    let waiting = |harness: &Harness| harness.waiting().iter().any(|line| line.starts_with("GET /projects/7"));
    assert!(waiting(&harness), "{:?}", harness.waiting());
    harness.press("g p");
    assert!(!waiting(&harness), "{:?}", harness.waiting());
    assert!(harness.canceled().iter().any(|t| matches!(t, TaskKey::Load(r, _) if r.path == "/projects/7")));
    // The session is shared by all places: the current user is still requested.
    assert!(harness.waiting().iter().any(|line| line == "GET /user"), "{:?}", harness.waiting());
}

#[tokio::test]
async fn read_only_mode_refuses_every_write() {
    let mut harness = Begin::at(Place::new("probe")).registry(WITH_PROBE).read_only().open();
    harness.press("w").settle().await;
    harness.expect("read-only").expect("labscope is read-only: start it without --read-only to change things");
    assert!(!harness.asked.iter().any(|line| !line.starts_with("GET ")), "{:?}", harness.asked);
    // A write that no command guards is blocked when it is sent.
    harness.press("W").settle().await;
    harness.expect("Could not protect main");
    assert!(!harness.asked.iter().any(|line| !line.starts_with("GET ")), "{:?}", harness.asked);
    let mut harness = Begin::at(Place::new("probe")).registry(WITH_PROBE).open();
    harness.reply("PUT /projects/7/repository/branches/main/protect", json!({"name": "main"}));
    harness.press("w").settle().await;
    harness.expect("Protected main");
}

#[tokio::test]
async fn a_failed_write_shows_the_message_of_the_server() {
    let mut harness = Begin::at(Place::new("probe")).registry(WITH_PROBE).open();
    harness.fail("PUT /projects/7/repository/branches/main/protect", 403, "insufficient rights");
    harness.press("w").settle().await;
    harness.expect("Could not protect main: insufficient rights");
}

#[tokio::test]
async fn every_place_can_be_drawn_at_any_size() {
    for entry in PANES {
        let place = Place::new(entry.place.id).project("acme/rocket-ui").item(1);
        let mut harness = Begin::at(place).open();
        for (width, height) in [(1, 1), (0, 0), (20, 5), (5, 40), (44, 12), (60, 13), (100, 12), (300, 100)] {
            harness.screen(width, height);
            harness.press("j").press("?");
            harness.press("Esc");
        }
        let lines = harness.screen(20, 5);
        assert!(lines.iter().any(|l| l.contains("44x12")), "{}: {lines:?}", entry.place.id);
    }
}

/// A question that is not visible must not be answered: `y` was meant for something else.
#[tokio::test]
async fn keys_do_nothing_while_the_terminal_is_too_small() {
    let mut harness = Begin::at(Place::new("branches").project("7")).size(120, 24).open();
    harness.reply("GET /projects/7/repository/branches", json!([{"name": "old"}])).settle().await;
    harness.press("D").expect("Delete the branch old").resize(30, 8).press("y");
    assert!(!harness.asked.iter().any(|line| line.starts_with("DELETE")), "{:?}", harness.asked);
    harness.resize(120, 24).press("y");
    assert!(harness.asked.iter().any(|line| line.starts_with("DELETE")), "{:?}", harness.asked);
    harness.resize(30, 8).press("Q");
    assert!(harness.app.is_quitting());
}

/// Somebody who makes the window smaller goes on typing. The keys that end the text wait until it is seen.
#[tokio::test]
async fn a_text_is_typed_on_while_the_terminal_is_too_small() {
    let mut harness = merge_request().await;
    harness.press("C").type_text("One").resize(30, 8).expect("typed text is kept").press("Enter").type_text("TQo");
    harness.press("Backspace");
    harness.send(Msg::Paste("wo, ".into()));
    harness.send(Msg::Typed("three".into()));
    harness.press("C-s Esc").resize(120, 24).expect("One").expect("TQwo, three").expect("post now");
    assert!(!harness.asked.iter().any(|line| line.starts_with("POST ")), "{:?}", harness.asked);
    let mut harness = Begin::at(projects()).open();
    harness.resize(30, 8).expect_no("typed text").resize(120, 24);
    harness.press("/").resize(30, 8).type_text("ab").press("Enter").resize(120, 24).expect(" filter ab").press("Enter");
    harness.expect("projects  ab");
}

#[tokio::test]
async fn hostile_text_is_sanitized() {
    let mut harness = Begin::at(projects()).size(120, 30).open();
    let evil = project(1, "acme/\u{1b}[31mred\u{202e}live").with(json!({"description": "a\u{7}b\u{9b}2Jc\r\nd"}));
    harness.reply("GET /projects", [evil]).settle().await;
    harness.expect("acme/␛[31mred<U+202E>live").expect("a␇b<U+009B>2Jc");
    let picture = harness.picture();
    let bad = |c: char| c.is_control() && c != '\n' || ('\u{202a}'..='\u{202e}').contains(&c);
    assert!(!picture.contains(bad), "{picture:?}");
}

#[tokio::test]
async fn a_long_list_loads_its_pages_while_scrolling() {
    let mut harness = Begin::at(projects()).open();
    let rows: Vec<_> = (0..250).map(|n| project(n, &format!("acme/p{n}"))).collect();
    harness.reply("GET /projects", rows).settle().await;
    let pages = |harness: &Harness| harness.asked.iter().filter(|l| l.starts_with("GET /projects")).count();
    assert_eq!(pages(&harness), 1, "{:?}", harness.asked);
    harness.press("G").settle().await;
    harness.press("G").settle().await;
    harness.press("G").settle().await;
    assert_eq!(pages(&harness), 3, "{:?}", harness.asked);
    harness.expect("acme/p249");
}

#[tokio::test]
async fn a_message_disappears_after_a_while() {
    let mut harness = Begin::at(projects()).open();
    harness.press("Esc").expect("Nothing to go back to");
    harness.pass(7).expect_no("Nothing to go back to");
}

#[tokio::test]
async fn messages_can_be_read_again_with_their_times() {
    let mut harness = Begin::at(projects()).open();
    harness.press(":").type_text("messages").press("Enter").expect("No messages yet").pass(4);
    harness.send(Msg::Say(Tone::Bad, format!("could not save: {} and that was all", "a long reason ".repeat(12))));
    harness.send(Msg::Say(Tone::Good, "Saved \u{1b}[31mred".into()));
    harness.pass(9).expect_no("Saved").press(":").type_text("messages").press("Enter");
    // Newest first, and the selected one in full.
    harness.expect("Messages").expect("Saved ␛[31mred").expect_no("was all").press("Down");
    harness.expect("was all").press("Enter");
    assert!(harness.copied().last().is_some_and(|text| text.ends_with("and that was all")));
    let time = harness.press(":").type_text("messages").press("Enter").line_with("No messages yet");
    let digits = |c: char| if c.is_ascii_digit() { '0' } else { c };
    assert!(time.chars().map(digits).collect::<String>().contains("00:00:00"), "{time}");
}

/// A text in one line is no exception among the texts: the same key saves it, and it says which keys do what.
#[tokio::test]
async fn a_line_of_text_is_saved_with_the_key_of_all_texts_and_names_its_keys() {
    let keys = "Enter ok  Esc cancel";
    for place in [projects(), Place::new("mrs").project("acme/rocket-ui"), Place::new("jobs").project("acme/rocket-ui")]
    {
        let mut harness = Begin::at(place).size(80, 24).open();
        harness.press("/").expect(keys).type_text("abc").expect(keys).press("C-s").expect_no(keys).expect("abc");
        // The text is more important.
        harness.press("/").type_text(&"long".repeat(17)).expect_no(keys);
    }
    let mut harness = Begin::at(Place::new("mrs").project("acme/rocket-ui")).size(80, 24).open();
    harness.press("S").expect(keys).type_text("mine").press("C-s").expect("Added section \"mine\"").expect_no(keys);
}

#[tokio::test]
async fn digits_select_tabs_only_where_there_are_some() {
    let mut harness = merge_request().await;
    harness.press("2").expect_no("2 …");
    let commits = Place::new("commits").project("acme/rocket-ui");
    Begin::at(commits.clone()).open().press("2").expect("2 …").press("0").expect("20 …");
    // A user who gives tabs other keys can type numbers everywhere, and digits may have another meaning.
    let mut begin = Begin::at(projects());
    begin.keys.insert("tab.2".into(), Vec::new());
    begin.open().press("2").expect("2 …");
    let mut begin = Begin::at(commits);
    begin.keys.insert("refresh".into(), vec!["2".into()]);
    begin.open().press("2").expect_no("2 …").press("3").expect("3 …");
}

#[tokio::test]
async fn a_key_that_does_nothing_here_says_why() {
    let mut harness = merge_request().await;
    harness.press("9").expect("There are 4 tabs here");
    harness.press("M-Right").expect("No forward history");
    let mut harness = Begin::at(Place::new("probe")).registry(WITH_PROBE).open();
    harness.press("n").expect("There is nothing to search here");
    harness.press("y").expect("There is nothing to copy here");
}

#[tokio::test]
async fn a_key_of_the_user_is_shown_as_unbound_where_it_was_before() {
    let mut begin = Begin::at(projects());
    begin.keys.insert("quit".into(), vec!["m".into()]);
    let mut harness = begin.open();
    harness.press("?").type_text("merge requests");
    assert!(harness.line_with("unbound").contains("Go to project merge requests"), "{}", harness.picture());
}

#[tokio::test]
async fn an_unreachable_server_is_reported_in_place_of_the_rows() {
    let mut harness = Begin::at(projects()).open();
    harness.unreachable("GET /projects").settle().await;
    harness.expect("Server unreachable").expect("connection refused by demo.test").expect("GET /projects?");
    harness.expect("unreachable");
}

#[tokio::test]
async fn a_server_that_does_not_reply_is_told_after_ten_seconds() {
    let mut harness = Begin::at(projects()).open();
    let now = harness.app.wake_at().expect("a time").as_second();
    harness.pass(9).expect_no("no reply").pass(1).expect("no reply since");
    assert_eq!(now - NOW.parse::<Timestamp>().expect("a time").as_second(), 10);
    assert_eq!(harness.app.wake_at(), None, "the time since when it is does not change");
    // Any reply counts.
    harness.reply("GET /user", user(1, "ada")).settle().await;
    harness.expect_no("no reply").pass(10).expect("no reply since");
    harness.reply("GET /projects", [project(1, "acme/rocket-ui")]).settle().await;
    harness.expect_no("no reply");
}

#[tokio::test]
async fn the_time_that_the_server_asked_to_wait_is_counted_down() {
    let mut harness = Begin::at(projects()).open();
    harness.reply("GET /user", user(1, "ada"));
    let at = harness.waiting().iter().position(|line| line.starts_with("GET /projects")).expect("a request");
    harness.break_off(at, labscope::api::Fault::Limited("", Some(std::time::Duration::from_secs(75))));
    harness.settle().await;
    harness.expect("too many requests: wait 1m 15s").expect("the server asks to wait 75 s");
    let now = NOW.parse::<Timestamp>().expect("a time").as_second();
    assert_eq!(harness.app.wake_at().map(|at| at.as_second() - now), Some(1), "the clock ticks");
    harness.pass(1).expect("wait 1m 14s").pass(40).expect("wait 34s").expect("asks to wait 34 s");
    harness.reply("GET /projects", [project(1, "acme/rocket-ui")]).pass(34).settle().await;
    harness.expect("acme/rocket-ui").expect_no("too many requests");
    assert!(harness.app.wake_at().is_none(), "nothing is shown that changes");
    // So is that of a route, where its requests are missing.
    let mut harness = Begin::at(projects()).open();
    harness.reply("GET /user", user(1, "ada"));
    let at = harness.waiting().iter().position(|line| line.starts_with("GET /projects")).expect("a request");
    harness.break_off(at, labscope::api::Fault::Limited("/projects", Some(std::time::Duration::from_secs(75))));
    harness.settle().await;
    harness.expect("asks to wait 75 s before more requests of this kind").expect_no("too many requests: wait");
    assert_eq!(harness.app.wake_at().map(|at| at.as_second() - now), Some(1), "the clock ticks");
    harness.pass(41).expect("asks to wait 34 s before");
    harness.reply("GET /projects", [project(1, "acme/rocket-ui")]).pass(34).settle().await;
    harness.expect("acme/rocket-ui");
    assert!(harness.app.wake_at().is_none(), "nothing is shown that changes");
    // A long time is told in minutes, and only they are counted.
    let mut harness = Begin::at(projects()).open();
    let at = harness.waiting().iter().position(|line| line.starts_with("GET /projects")).expect("a request");
    harness.break_off(at, labscope::api::Fault::Limited("", Some(std::time::Duration::from_secs(7_230))));
    harness.reply("GET /user", user(1, "ada")).settle().await;
    let wakes_in = |harness: &Harness, now| harness.app.wake_at().map(|at| at.as_second() - now);
    assert_eq!(wakes_in(harness.expect("wait 2h 00m"), now), Some(31));
    assert_eq!(wakes_in(harness.pass(31).expect("wait 1h 59m"), now + 31), Some(60));
    // A refused change, too.
    let mut harness = merge_request().await;
    harness.press("X").pass(1).press("y");
    let at = harness.waiting().iter().position(|line| line.starts_with("PUT ")).expect("a request");
    harness.break_off(at, labscope::api::Fault::Limited("", Some(std::time::Duration::from_secs(42))));
    harness.expect("Nothing was changed").expect("too many requests: wait 42s").pass(40).expect("wait 2s");
    harness.pass(2).expect_no("too many requests:");
}

#[tokio::test]
async fn the_mouse_selects_and_the_wheel_scrolls() {
    let mut harness = Begin::at(projects()).open();
    let rows: Vec<_> = (0..60).map(|n| project(n, &format!("acme/p{n}"))).collect();
    harness.reply("GET /projects", rows).settle().await;
    harness.click_on("acme/p7");
    assert!(harness.line_with("acme/p7 ").starts_with('▌'), "{}", harness.picture());
    assert!(harness.style_of("acme/p7").bg.is_some());
    harness.wheel_on("acme/p9", true).wheel_on("acme/p9", true).expect_no("acme/p2 ");
}

#[tokio::test]
async fn stale_data_is_shown_at_once_and_refetched() {
    let mut harness = Begin::at(projects()).open();
    let asked = |harness: &Harness| {
        harness.asked.iter().filter(|line| line.starts_with("GET /projects?order_by=last_activity_at&page=1&")).count()
    };
    harness.reply("GET /projects", [project(1, "acme/rocket-ui")]).settle().await;
    harness.press("g h").pass(5).press("g p");
    assert_eq!(asked(&harness), 1, "{:?}", harness.asked);
    harness.press("g h").pass(600).press("g p").expect("acme/rocket-ui");
    assert_eq!(asked(&harness), 2, "{:?}", harness.asked);
    harness.reply("GET /projects", [project(2, "acme/new")]).settle().await;
    harness.expect("acme/new");
    // Going back also opens the place.
    harness.press("g h").pass(600).press("q");
    assert_eq!(asked(&harness), 3, "{:?}", harness.asked);
}

#[tokio::test]
async fn an_address_of_another_server_is_not_opened_on_this_one() {
    let mut harness = Begin::at(projects()).open();
    harness.reply("GET /projects", [project(1, "acme/rocket-ui")]).settle().await;
    harness.press(":").type_text("https://other.test/a/b/-/merge_requests/3").press("Enter").expect("other.test");
    assert_eq!(harness.app.place().pane, "projects");
    harness.press(":").type_text("http://demo.test/a/b/-/merge_requests/3").press("Enter");
    assert_eq!(harness.app.place(), Place::new("mr").project("a/b").item(3));
}

#[tokio::test]
async fn the_palette_shows_the_full_reason_for_an_unavailable_command() {
    let shared =
        serde_json::json!({"id": 1, "description": "mill", "active": true, "is_shared": true, "status": "online"});
    let mut harness = Begin::at(Place::new("runners")).open();
    harness.reply("GET /runners", [shared]).settle().await;
    harness.press(":").type_text("disable runner").settle().await;
    // The row is too short for the reason.
    harness.expect("an instance runner serves all").expect("instance runners off");
    for (width, height) in [(20, 8), (40, 10), (44, 12), (200, 60)] {
        harness.resize(width, height).press("Down Up");
    }
}

#[test]
fn a_picker_without_an_answer_says_why_and_not_that_there_are_no_results() {
    let mut app = Begin::at(Place::new("branches").project("a/b")).size(100, 30).open();
    app.press("C-p").type_text("zzz");
    let is_search = |line: &String| line.contains("search=zzz");
    assert!(app.waiting().iter().any(is_search), "{:?}", app.waiting());
    while let Some(index) = app.waiting().iter().position(is_search) {
        app.break_off(index, labscope::api::Fault::Denied("403 Forbidden".into()));
    }
    app.expect("Not allowed: 403 Forbidden").expect_no("No results.");
}

#[tokio::test]
async fn the_palette_opens_the_web_page_of_what_has_no_place() {
    let mut harness = merge_request().await;
    harness.press(":").type_text("webhooks").expect("webhooks  Webhooks · not in labscope: opens its web page");
    harness.press("Enter").expect("Opening http://demo.test/acme/rocket-ui/-/hooks");
    harness.press(":").type_text("kanban").press("Enter");
    assert_eq!(
        harness.browsed(),
        ["http://demo.test/acme/rocket-ui/-/hooks", "http://demo.test/acme/rocket-ui/-/boards"]
    );
    // The name is that of the place, wherever it is typed.
    harness.press(":").type_text("hooks").press("Enter");
    assert_eq!(harness.app.place().pane, "hooks");
    let mut harness = Begin::at(projects()).open();
    harness.press(":").type_text("hooks").press("Enter");
    assert_eq!(harness.app.place().pane, "hooks");
    harness.press(":").type_text("wiki").expect("unavailable here").expect_no("not in labscope");
    let mut harness = Begin::at(Place::new("groups").group("acme/tools")).open();
    harness.press(":").type_text("boards").press("Enter");
    assert_eq!(harness.browsed(), ["http://demo.test/groups/acme/tools/-/boards"]);
}

#[tokio::test]
async fn a_message_that_is_longer_than_the_last_line_takes_more_rows() {
    let mut harness = merge_request().await;
    let why =
        "The editor \"vi\" exited with exit status: 1; the text is unchanged. Your text is in /tmp/labscope-of-ada.md";
    harness.resize(80, 24).send(Msg::EditorClosed(Err(why.into())));
    harness.expect("The editor \"vi\" exited").expect("/tmp/labscope-of-ada.md");
    harness.press("j").expect_no("/tmp/labscope-of-ada.md").expect("? help");
}
