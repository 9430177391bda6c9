//! Holds the operations of the client against the server's own OpenAPI document.
//!
//! The files in `openapi/` state what GitLab's document says of a version: `19.5.tsv` the operations with their
//! parameters and values, `19.5.fields.tsv` the fields of replies (`tests/tidy/fields.rs`). Their first lines name the
//! source. Not all pages of the document were read, so an operation that is missing there may exist. The next version is a
//! new file, and [`DOCUMENT`] names the one that counts. Where labscope differs on purpose, a list below says why.

use labscope::api::commits::CommitStatusState;
use labscope::api::input::{Input, InputKind};
use labscope::api::pipelines::resources::Status;
use labscope::api::projects::Visibility;
use labscope::api::releases::LINK_TYPES;
use labscope::api::search::{self, SearchScope};
use labscope::api::{EndpointDescription, Route, issues, operations, permissions};
use labscope::app::query::{self, Term, ValueKind};
use std::collections::{BTreeMap, BTreeSet};

const DOCUMENT: &str = include_str!("openapi/19.5.tsv");

/// A parameter of an operation.
struct Param<'a> {
    place: &'a str,
    name: &'a str,
    kind: &'a str,
    is_required: bool,
    values: Vec<&'a str>,
}

/// An operation of the document.
struct Operation<'a> {
    line: String,
    params: Vec<Param<'a>>,
    /// Whether parameters of the body are not in the file.
    is_partial: bool,
}

impl<'a> Operation<'a> {
    fn param(&self, name: &str) -> Option<&Param<'a>> {
        self.params.iter().find(|param| param.name == name && param.place != "path")
    }
}

/// Returns a method and a path without the names of slots.
fn shape(method: &str, path: &str) -> String {
    let slot = |segment: &str| if segment.starts_with('{') { "{}".to_owned() } else { segment.to_owned() };
    format!("{method} {}", path.split('/').map(slot).collect::<Vec<_>>().join("/"))
}

/// Reads a parameter: `query scope:[str]=a,b`, `body name:str!`, `body position:obj{a!,b}`.
fn param(text: &str) -> Option<Param<'_>> {
    let (place, rest) = text.split_once(' ')?;
    let (name, rest) = rest.split_once(':')?;
    let mut depth = 0;
    let is_end = |c: char| {
        depth += i32::from(matches!(c, '{' | '[')) - i32::from(matches!(c, '}' | ']'));
        depth == 0 && matches!(c, '!' | '=' | '(')
    };
    let end = rest.find(is_end).unwrap_or(rest.len());
    let (kind, rest) = rest.split_at(end);
    let values = rest.split_once('=').map_or_else(Vec::new, |(_, values)| values.split(',').collect());
    Some(Param { place, name, kind, is_required: rest.starts_with('!'), values })
}

fn document() -> BTreeMap<String, Operation<'static>> {
    let rows = DOCUMENT.lines().filter(|line| !line.starts_with('#'));
    let operations = rows.map(|row| {
        let mut cells = row.split('\t');
        let (method, path) = (cells.next().unwrap_or_default(), cells.next().unwrap_or_default());
        let params: Vec<&str> = cells.next().unwrap_or_default().split("; ").collect();
        let is_partial = params.iter().any(|text| matches!(*text, "body (not read)" | "body ..."));
        let params = params.into_iter().filter_map(param).collect();
        (shape(method, path), Operation { line: format!("{method} {path}"), params, is_partial })
    });
    operations.collect()
}

fn line(endpoint: &EndpointDescription, route: &Route) -> String {
    shape(endpoint.method.as_str(), route.path)
}

/// Returns whether the server reads an input of this kind as its type.
fn is_read_as(input: InputKind, kind: &str) -> bool {
    let is_list = kind.contains('[') && !kind.starts_with("obj");
    match input {
        InputKind::Text => {
            // Of texts, a comma separates the elements.
            kind.contains("str") || kind == "date" || kind == "time"
        }
        InputKind::Number => kind.contains("int") && (!is_list || kind.contains('|')) || kind == "str",
        InputKind::Decimal => kind == "num",
        InputKind::Bool => kind == "bool",
        InputKind::Time => matches!(kind, "time" | "date" | "str"),
        InputKind::List => is_list,
        InputKind::File => kind == "file",
        InputKind::Structured => kind.contains("obj"),
    }
}

/// The operations that the server does not have, and why they are in the client. Those that are not in the file are known
/// by the permissions that they need, of which the server's documentation has a whole list.
const OTHER_OPERATIONS: &[(&str, &str)] = &[
    ("POST /projects/{}/repository/tags/{}/release", "servers before 14.0"),
    ("PUT /projects/{}/repository/tags/{}/release", "servers before 14.0"),
];

/// The inputs that the document does not have: operation, input, reason.
const OTHER_INPUTS: &[(&str, &str, &str)] = &[
    ("DELETE /groups/{}/labels/{}", "name", "names the label on servers before 12.4"),
    ("DELETE /projects/{}/labels/{}", "name", "names the label on servers before 12.4"),
    ("PUT /groups/{}/labels/{}", "name", "names the label on servers before 12.4"),
    ("PUT /projects/{}/labels/{}", "name", "names the label on servers before 12.4"),
    ("POST /groups/{}/labels", "priority", "only set for projects"),
    ("PUT /groups/{}/labels/{}", "priority", "only set for projects"),
    ("GET /projects/{}/issues", "non_archived", "only set for groups"),
    ("GET /user", "sudo", "every operation takes it"),
    ("POST /projects/{}/merge_requests/{}/discussions", "commit_id", "lib/api/discussions.rb reads it, undeclared"),
    ("POST /projects/{}/issues/{}/discussions", "commit_id", "only set for merge requests"),
    ("POST /projects/{}/issues/{}/discussions", "position", "only set for merge requests"),
    ("POST /projects/{}/snippets/{}/discussions", "commit_id", "only set for merge requests"),
    ("POST /projects/{}/snippets/{}/discussions", "position", "only set for merge requests"),
    ("POST /projects/{}/merge_requests/{}/add_spent_time", "summary", "doc/api/merge_requests.md has it"),
    ("POST /projects/{}/repository/tags", "release_description", "servers before 14.0"),
];

#[test]
fn operations_are_those_of_the_document() {
    let document = document();
    assert!(document.len() > 400, "the document is read");
    let is_permitted = |(endpoint, route): &(&EndpointDescription, &Route)| {
        permissions::of(endpoint.method.as_str(), route.path).is_some()
    };
    let unknown: BTreeSet<String> = operations()
        .filter(|operation| !is_permitted(operation))
        .map(|(endpoint, route)| line(endpoint, route))
        .filter(|line| !document.contains_key(line))
        .collect();
    let listed: BTreeSet<String> = OTHER_OPERATIONS.iter().map(|(line, _)| (*line).to_owned()).collect();
    let missing: Vec<_> = unknown.difference(&listed).collect();
    let outdated: Vec<_> = listed.difference(&unknown).collect();
    assert!(missing.is_empty() && outdated.is_empty(), "unknown: {missing:#?}\nknown by now: {outdated:#?}");
}

#[test]
fn inputs_are_those_of_the_document() {
    let document = document();
    let mut wrong: BTreeSet<String> = BTreeSet::new();
    let mut unknown: BTreeSet<(String, String)> = BTreeSet::new();
    for (endpoint, route) in operations() {
        let Some(operation) = document.get(&line(endpoint, route)) else { continue };
        let in_path = |input: &&Input| {
            !route.path.contains(&format!("{{{}}}", input.name))
                && !route.path.contains(&format!("{{*{}}}", input.name))
        };
        for input in endpoint.inputs.iter().filter(in_path) {
            match operation.param(input.name) {
                Some(param) if !is_read_as(input.kind, param.kind) => {
                    wrong.insert(format!("{}: {} is {}, not {:?}", operation.line, input.name, param.kind, input.kind));
                }
                Some(param)
                    if param.place
                        != (if endpoint.method == "GET" || endpoint.method == "DELETE" { "query" } else { "body" }) =>
                {
                    wrong.insert(format!("{}: {} belongs in the {}", operation.line, input.name, param.place));
                }
                Some(_) => {}
                None if operation.is_partial => {}
                None => _ = unknown.insert((line(endpoint, route), input.name.to_owned())),
            }
        }
        // A name is refused where the server takes a number.
        let slots = route.path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
        for (slot, param) in slots.zip(operation.params.iter().filter(|param| param.place == "path")) {
            let input = endpoint.inputs.iter().find(|input| input.name == slot.trim_start_matches('*'));
            if param.kind == "int" && input.is_some_and(|input| input.kind != InputKind::Number) {
                wrong.insert(format!("{}: {slot} is a number", operation.line));
            }
        }
        // The parts of an object are required where there is one.
        let is_required = |param: &&Param| param.is_required && param.place != "path" && !param.name.contains('[');
        for param in operation.params.iter().filter(is_required) {
            if !endpoint.inputs.iter().any(|input| input.name == param.name) {
                wrong.insert(format!("{}: {} is required", operation.line, param.name));
            }
        }
    }
    let listed: BTreeSet<(String, String)> =
        OTHER_INPUTS.iter().map(|(line, name, _)| ((*line).to_owned(), (*name).to_owned())).collect();
    let missing: Vec<_> = unknown.difference(&listed).collect();
    let outdated: Vec<_> = listed.difference(&unknown).collect();
    assert!(
        wrong.is_empty() && missing.is_empty() && outdated.is_empty(),
        "wrong: {wrong:#?}\nunknown: {missing:#?}\nknown by now: {outdated:#?}"
    );
}

/// The values that labscope offers and the document does not have, or the other way around: list, value, reason.
const OTHER_VALUES: &[(&str, &str, &str)] = &[
    ("GET /search scope", "work_items", "issues are found as issues; tasks and epics have no place"),
    ("GET /groups/{}/-/search scope", "work_items", "the same"),
    ("GET /projects/{}/-/search scope", "work_items", "the same"),
];

/// Returns the values that labscope offers: the operation, the input and the words.
fn offered() -> Vec<(&'static str, &'static str, Vec<&'static str>)> {
    let mut all = Vec::new();
    let lists: [(&'static str, &'static [Term]); 13] = [
        ("GET /merge_requests", query::MERGE_REQUESTS),
        ("GET /projects/{}/merge_requests", query::MERGE_REQUESTS),
        ("GET /groups/{}/merge_requests", query::MERGE_REQUESTS),
        ("GET /projects", query::PROJECTS),
        ("GET /groups/{}/projects", query::GROUP_PROJECTS),
        ("GET /groups", query::GROUPS),
        ("GET /users", query::USERS),
        ("GET /projects/{}/repository/commits", query::COMMITS),
        ("GET /projects/{}/jobs", query::JOBS),
        ("GET /projects/{}/pipelines", query::PIPELINES),
        ("GET /todos", query::TODOS),
        ("GET /issues", query::ISSUES),
        ("GET /projects/{}/issues", query::ISSUES),
    ];
    for (line, terms) in lists {
        all.extend(terms.iter().filter_map(|term| match term.takes {
            ValueKind::Words(words) | ValueKind::Several(words) => Some((line, term.input, words.to_vec())),
            ValueKind::Sort(orders) => Some((line, "order_by", orders.iter().map(|(_, sent)| *sent).collect())),
            _ => None,
        }));
    }
    all.push(("GET /projects/{}/pipelines/{}/jobs", "scope", Status::LISTED.to_vec()));
    let names = |scopes: &[SearchScope]| scopes.iter().map(|(name, _)| *name).collect();
    all.push(("POST /projects/{}/issues", "issue_type", issues::TYPES.to_vec()));
    all.push(("PUT /projects/{}/issues/{}", "issue_type", issues::TYPES.to_vec()));
    all.push(("POST /projects/{}/statuses/{}", "state", CommitStatusState::KNOWN.to_vec()));
    all.push(("POST /projects/{}/releases/{}/assets/links", "link_type", LINK_TYPES.to_vec()));
    all.push(("POST /groups", "visibility", Visibility::KNOWN.to_vec()));
    all.push(("GET /search", "scope", names(search::GLOBAL_SCOPES)));
    all.push(("GET /groups/{}/-/search", "scope", names(search::GROUP_SCOPES)));
    all.push(("GET /projects/{}/-/search", "scope", names(search::PROJECT_SCOPES)));
    all
}

#[test]
fn offered_values_are_those_of_the_document() {
    let document = document();
    let mut different: BTreeSet<(String, String)> = BTreeSet::new();
    for (line, input, words) in offered() {
        let operation = document.get(line).unwrap_or_else(|| panic!("{line} is in the document"));
        let Some(param) = operation.param(input).filter(|param| !param.values.is_empty()) else { continue };
        let same = |a: &str, b: &str| a.replace('-', "_") == b.replace('-', "_");
        let extra = words.iter().filter(|word| !param.values.iter().any(|value| same(word, value)));
        let absent = param.values.iter().filter(|value| !words.iter().any(|word| same(word, value)));
        different.extend(extra.chain(absent).map(|word| (format!("{line} {input}"), (*word).to_owned())));
    }
    let listed: BTreeSet<(String, String)> =
        OTHER_VALUES.iter().map(|(list, word, _)| ((*list).to_owned(), (*word).to_owned())).collect();
    let missing: Vec<_> = different.difference(&listed).collect();
    let outdated: Vec<_> = listed.difference(&different).collect();
    assert!(missing.is_empty() && outdated.is_empty(), "different: {missing:#?}\nthe same by now: {outdated:#?}");
}
