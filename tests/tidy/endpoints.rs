//! Generates docs/endpoints.md from the list of endpoints and checks it against the rows of reach.txt.

use crate::source::{document, is_printed, root};
use crate::ways::{How, ways};
use labscope::api::{EndpointDescription, Route, operations};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;

/// The files in which an operation is implemented and tested.
struct Row {
    section: &'static str,
    /// The row as the specification writes it: `GET /projects/:id`.
    line: String,
    name: &'static str,
    /// The files, relative to the root of the repository; `None` if there is none.
    client: Option<String>,
    handler: Option<String>,
    contract: Option<String>,
    /// The way to reach it in the interface.
    reach: Option<How>,
}

/// Returns a row as method and shape, because some slots are named differently.
fn shape(line: &str) -> String {
    let slot = |segment: &str| match segment.chars().next() {
        Some(mark @ (':' | '*')) => mark.to_string(),
        _ => segment.to_owned(),
    };
    line.split('/').map(slot).collect::<Vec<_>>().join("/")
}

fn line_of(endpoint: &EndpointDescription, route: &Route) -> String {
    let path = route.path.replace("{*", "*").replace('{', ":").replace('}', "");
    format!("{} {path}", endpoint.method)
}

/// Returns the source files of a folder and the folders in it, sorted by name, with their text.
fn files_of(folder: &str) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(root().join(folder)).expect("a folder").map(|entry| entry.expect("an entry"));
    let mut names: Vec<String> =
        entries.map(|entry| format!("{folder}/{}", entry.file_name().to_string_lossy())).collect();
    names.sort();
    let files = names.into_iter().flat_map(|name| match name.ends_with(".rs") {
        true => vec![(name.clone(), document(&name))],
        false if root().join(&name).is_dir() => files_of(&name),
        false => Vec::new(),
    });
    files.collect()
}

fn rows() -> Vec<Row> {
    let (api, backend, contract) = (files_of("src/api"), files_of("src/backend"), files_of("tests/contract"));
    let holds = |files: &[(String, String)], words: String| {
        files.iter().find(|(_, text)| text.contains(&words)).map(|(name, _)| name.clone())
    };
    let mut reached: HashMap<String, How> = ways().into_iter().map(|way| (shape(&way.row), way.how)).collect();
    let row = |(endpoint, route): (&EndpointDescription, &Route)| Row {
        section: endpoint.section,
        line: line_of(endpoint, route),
        name: endpoint.name,
        client: holds(&api, format!("    struct {} {{", endpoint.name)),
        handler: holds(&backend, format!("::<{}>(", endpoint.name)),
        contract: holds(&contract, format!("\n    {} {{", endpoint.name)),
        reach: reached.remove(&shape(&line_of(endpoint, route))),
    };
    let all: Vec<Row> = operations().map(row).collect();
    let order: Vec<String> = ways().iter().map(|way| shape(&way.row)).collect();
    let mut rows = all;
    rows.sort_by_key(|row| order.iter().position(|line| *line == shape(&row.line)));
    rows
}

fn table() -> String {
    let rows = rows();
    let count = |of: fn(&Row) -> &Option<String>| rows.iter().filter(|row| of(row).is_some()).count();
    let within = |fits: fn(&How) -> bool| rows.iter().filter(|row| row.reach.as_ref().is_some_and(fits)).count();
    let mut text = format!(
        "# Endpoints\n\nThe files that implement and test each API operation. This page is generated from the list of \
         endpoints:\n`UPDATE_DOCS=1 cargo test --test tidy endpoints`. The last column shows how to reach the operation \
         in the interface,\naccording to [reach.txt](../tests/panes/reach.txt): open the place with `labscope demo PLACE` \
         (or type it, if it begins\nwith a colon), press the keys, and type the text in quotes. `cargo test --test panes \
         reach` does this for each operation.\n\n\
         | operations | in the client | handlers in the local server | contract tests | reached by keys | for machines only |\n\
         |---|---|---|---|---|---|\n\
         | {} | {} | {} | {} | {} | {} |\n",
        rows.len(),
        count(|row| &row.client),
        count(|row| &row.handler),
        count(|row| &row.contract),
        within(|how| matches!(how, How::Walk { .. })),
        within(|how| matches!(how, How::Machine(_))),
    );
    let mut section = "";
    for row in &rows {
        if row.section != section {
            section = row.section;
            let head = "| operation | client | handler | contract test | in the interface |\n|---|---|---|---|---|";
            let _ = write!(text, "\n## {section}\n\n{head}\n");
        }
        let link = |words: &str, file: &Option<String>| match file {
            Some(file) => format!("[{words}](../{file})"),
            None => "none".to_owned(),
        };
        let file = |file: &Option<String>| {
            let name = file.as_deref().and_then(|file| file.rsplit('/').next()).unwrap_or_default();
            link(name, file)
        };
        let (client, handler, contract) = (link(row.name, &row.client), file(&row.handler), file(&row.contract));
        let reach = row.reach.as_ref().map(How::shown).unwrap_or_default();
        let _ = writeln!(text, "| `{}` | {client} | {handler} | {contract} | {reach} |", row.line);
    }
    text
}

#[test]
fn rows_of_reach_txt_and_endpoints_match_one_to_one() {
    let rows: Vec<String> = ways().iter().map(|way| shape(&way.row)).collect();
    let stated: BTreeSet<String> = rows.iter().cloned().collect();
    assert_eq!(rows.len(), stated.len(), "tests/panes/reach.txt has a duplicate row");
    let ours: BTreeSet<String> = operations().map(|(endpoint, route)| shape(&line_of(endpoint, route))).collect();
    let (missing, strange): (Vec<_>, Vec<_>) = (stated.difference(&ours).collect(), ours.difference(&stated).collect());
    assert!(
        missing.is_empty() && strange.is_empty(),
        "missing: {missing:#?}\nnot in tests/panes/reach.txt: {strange:#?}"
    );
}

#[test]
fn every_endpoint_has_a_client_a_handler_and_a_contract_test() {
    for row in rows() {
        assert!(row.client.is_some(), "{} ({}) is not in the client", row.name, row.line);
        assert!(row.handler.is_some(), "{} ({}) has no handler in the local server", row.name, row.line);
        assert!(row.contract.is_some(), "{} ({}) has no contract test", row.name, row.line);
    }
}

#[test]
fn the_endpoints_page_is_up_to_date() {
    is_printed("docs/endpoints.md", &table(), "endpoints");
}
