//! Checks the rules of ARCHITECTURE.md about rooms, the top-level modules; the table there is the data.

use crate::source::{File, document, files, is_package, root};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};

/// A row of the table: the rooms that a room may use, and the crates that it must never name. A package says so itself.
struct Room {
    uses: BTreeSet<String>,
    never: BTreeSet<String>,
}

fn table() -> BTreeMap<String, Room> {
    let text = document("ARCHITECTURE.md");
    let (_, table) =
        text.split_once("| room | what it contains | may use | must never name |\n").expect("the table is there");
    let names = |cell: &str| -> BTreeSet<String> {
        cell.split('`').skip(1).step_by(2).map(|name| name.trim_end_matches('/').to_owned()).collect()
    };
    let rows = table.lines().skip(1).take_while(|line| line.starts_with('|'));
    let rooms: BTreeMap<String, Room> = rows
        .map(|row| {
            let cells: Vec<&str> = row.trim_matches('|').split('|').collect();
            let [room, _, uses, never] = cells[..] else { panic!("four cells: {row}") };
            let room = names(room).pop_first().expect("a room");
            (room, Room { uses: names(uses), never: names(never) })
        })
        .collect();
    assert!(rooms.len() > 5, "rows were read");
    rooms
}

fn complain(mistakes: &[String]) {
    assert!(mistakes.is_empty(), "\n{}", mistakes.join("\n"));
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a pattern")
}

/// Returns the matches of `text` in files that are not among `allowed`.
fn elsewhere(files: &[File], text: &str, allowed: &[&str]) -> Vec<String> {
    let pattern = pattern(text);
    files
        .iter()
        .filter(|file| !allowed.iter().any(|allowed| file.name.starts_with(allowed)))
        .filter_map(|file| Some(format!("{}: {}", file.name, pattern.find(&file.code)?.as_str())))
        .collect()
}

/// Returns the first names of all paths from the crate root: of `crate::a::b` and of `crate::{a::{b, c}, d}`.
fn used_rooms(code: &str) -> Vec<String> {
    let word = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut rooms = Vec::new();
    for (at, found) in code.match_indices("crate::") {
        let path = &code[at + found.len()..];
        let Some(list) = path.strip_prefix('{') else {
            rooms.push(word(path));
            continue;
        };
        let (mut depth, mut begins) = (1, true);
        for (at, c) in list.char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 1 => begins = true,
                _ if begins && !c.is_whitespace() => {
                    rooms.push(word(&list[at..]));
                    begins = false;
                }
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
    }
    rooms
}

#[test]
fn nested_import_paths_are_parsed() {
    let code = "use crate::{\n    api::{Id, Time},\n    ui,\n};\npub(crate) fn a() { crate::store::b(crate::app::C) }";
    assert_eq!(used_rooms(code), ["api", "ui", "store", "app"]);
}

#[test]
fn a_module_with_files_of_its_own_is_a_folder_with_a_mod_rs() {
    let folder = |file: &File| file.name.rsplit_once('/').map(|(folder, _)| folder.to_owned());
    let folders: BTreeSet<String> = files().iter().filter_map(folder).collect();
    let mut mistakes = Vec::new();
    for folder in &folders {
        let at = root().join("src").join(folder);
        if at.with_extension("rs").exists() {
            mistakes.push(format!("{folder}.rs: belongs in its folder, as {folder}/mod.rs"));
        }
        if at.join("mod.rs").exists() && std::fs::read_dir(&at).expect("a folder").count() == 1 {
            mistakes.push(format!("{folder}/mod.rs: is alone in its folder; {folder}.rs is enough"));
        }
    }
    complain(&mistakes);
}

#[test]
fn rooms_only_use_what_the_architecture_table_allows() {
    let table = table();
    let mut mistakes = Vec::new();
    for file in files().iter().filter(|file| !matches!(file.name.as_str(), "main.rs" | "lib.rs")) {
        let Some(room) = table.get(file.room()) else {
            mistakes.push(format!("{}: the room is not in the table of ARCHITECTURE.md", file.name));
            continue;
        };
        if is_package(file.room()) {
            continue;
        }
        for used in used_rooms(&file.code) {
            // Macros are exported at the crate root, so only rooms are checked.
            if table.contains_key(&used) && used != file.room() && !room.uses.contains(&used) {
                mistakes.push(format!("{}: {} must not use {used}", file.name, file.room()));
            }
        }
        for name in &room.never {
            if pattern(&format!(r"\b{name}::")).is_match(&file.code) {
                mistakes.push(format!("{}: {} must not name {name}", file.name, file.room()));
            }
        }
    }
    complain(&mistakes);
}

#[test]
fn panes_do_not_import_each_other() {
    let files = files();
    let module = |file: &File| file.name.split('/').nth(1).unwrap_or_default().trim_end_matches(".rs").to_owned();
    let is_pane = pattern(r"\bimpl (Pane|ListSource) for\b");
    let in_panes = || files.iter().filter(|file| file.room() == "panes" && file.name != "panes/mod.rs");
    let panes: BTreeSet<String> = in_panes().filter(|file| is_pane.is_match(&file.code)).map(module).collect();
    assert!(panes.len() > 3, "panes were found: {panes:?}");
    let modules: BTreeSet<String> = in_panes().map(module).collect();
    let strangers =
        modules.difference(&panes).map(|name| format!("panes/{name}: not a pane; shared code belongs in parts"));
    complain(&strangers.collect::<Vec<_>>());
    let path = pattern(r"\b(?:crate::panes|super)::(?:\{([^}]*)\}|(\w+))");
    let mut mistakes = Vec::new();
    for file in in_panes() {
        // Within a pane's own folder, `super` is the pane.
        let nested = file.name.matches('/').count() > 1 && !file.name.ends_with("/mod.rs");
        for found in path.captures_iter(&file.code).filter(|found| !(nested && found[0].starts_with("super"))) {
            let names = found.get(1).or(found.get(2)).map_or("", |names| names.as_str());
            for name in names.split(',').map(|name| name.trim().split("::").next().unwrap_or_default().to_owned()) {
                if panes.contains(&name) && name != module(file) {
                    mistakes.push(format!("{}: panes open each other by name, not through {name}::", file.name));
                }
            }
        }
    }
    complain(&mistakes);
}

#[test]
fn only_panes_and_parts_refer_to_places_by_name() {
    let by_name = r#"\bPlace::new\("|\bNamed\("|\.pane(\.as_str\(\) \{|\s*[!=]=\s*")"#;
    complain(&elsewhere(&files(), by_name, &["panes/", "parts/"]));
}

#[test]
fn only_the_runtime_and_the_backend_spawn_tasks() {
    let files = files();
    complain(&elsewhere(&files, r"\b(tokio|thread)::spawn\b|\bthread::sleep\b|\bJoinSet\b", &["runtime/", "backend/"]));
    // The client pauses before a retry and decodes large replies on a worker thread.
    complain(&elsewhere(
        &files,
        r"\btime::sleep\b|\bspawn_blocking\b",
        &["runtime/", "backend/", "api/client/exchange.rs"],
    ));
}

#[test]
fn structs_are_only_converted_to_and_from_json_text() {
    // Through values, the code of each struct would be compiled twice. Inputs of endpoints are numbers and texts.
    complain(&elsewhere(&files(), r"\bserde_json::(from|to)_value\b", &["api/json.rs", "api/endpoint.rs"]));
}

#[test]
fn external_programs_are_only_started_by_system_programs() {
    let made = r"\bprocess::Command::new\b|\buse [\w:]*\bprocess::(Command\b|\{[^}]*\bCommand\b)";
    let of_the_crate = r"\bopen::(that|with|commands)";
    complain(&elsewhere(&files(), &format!("{made}|{of_the_crate}"), &["system/programs.rs"]));
}

#[test]
fn only_the_terminal_module_writes_escape_codes() {
    let files = files();
    let writers = ["runtime/terminal.rs", "runtime/screen.rs"];
    complain(&elsewhere(&files, r"\b(execute|queue)!|\bEnterAlternateScreen\b", &writers));
    // These parse escape codes, search text with some, or generate job traces that contain some.
    let readers = [
        "runtime/terminal.rs",
        "runtime/screen.rs",
        "runtime/input/parser.rs",
        "ui/ansi/",
        "ui/trace",
        "ui/search/literals.rs",
        "backend/",
    ];
    complain(&elsewhere(&files, r"\\x1b|\\u\{1b\}", &readers));
}

#[test]
fn colors_are_only_defined_in_themes() {
    complain(&elsewhere(&files(), r"\bColor::", &["ui/theme.rs", "ui/ansi/", "ui/layers.rs"]));
}

#[test]
fn the_source_has_no_panics_todos_or_dead_code() {
    let rule = r"\.unwrap\(\)|\.expect\(|\b(panic|todo|unimplemented|unreachable|dbg)!|allow\(dead_code\)";
    complain(&elsewhere(&files(), rule, &[]));
}

#[test]
fn every_file_starts_with_a_module_comment() {
    let silent = |file: &&File| !file.text.starts_with("//! ");
    complain(&files().iter().filter(silent).map(|file| file.name.clone()).collect::<Vec<_>>());
}

#[test]
fn public_types_of_a_room_have_different_names() {
    let declared = pattern(r"(?m)^\s*pub (?:struct|enum|trait|type) (\w+)");
    let mut seen: BTreeSet<(String, String)> = BTreeSet::new();
    let mut twins = Vec::new();
    for file in files() {
        for name in declared.captures_iter(&file.code).map(|found| found[1].to_owned()) {
            if !seen.insert((file.room().to_owned(), name.clone())) {
                twins.push(format!("{}: `{}` has another public type {name}", file.name, file.room()));
            }
        }
    }
    complain(&twins);
}
