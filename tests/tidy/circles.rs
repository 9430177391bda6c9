//! Checks that no import cycle has more than three files.

use crate::source::{File, files, is_package};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the path of a file's module: `parts/review/mod.rs` is `parts::review`.
fn module(name: &str) -> Vec<&str> {
    let mut path: Vec<&str> = name.trim_end_matches(".rs").split('/').collect();
    if path.len() > 1 && path.last() == Some(&"mod") {
        path.pop();
    }
    path
}

/// Returns the paths that start with `crate`, `self` or `super`, in `use` or elsewhere, with braced lists expanded.
fn paths(code: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    for root in ["crate::", "self::", "super::"] {
        for (at, _) in code.match_indices(root) {
            let begins = !code[..at].ends_with(|c: char| is_word(c) || c == ':' || c == '$');
            if begins {
                take(&code[at..], &mut Vec::new(), &mut found);
            }
        }
    }
    found
}

/// Takes the path at the start of `code`, prefixed with `before`; returns the rest of `code`.
fn take<'a>(code: &'a str, before: &mut Vec<String>, found: &mut Vec<Vec<String>>) -> &'a str {
    let depth = before.len();
    let mut rest = code;
    loop {
        if let Some(list) = rest.strip_prefix('{') {
            rest = list.trim_start();
            while !rest.starts_with('}') && !rest.is_empty() {
                let next = take(rest, before, found);
                // Anything that is not a path, such as `*` or `as name`, ends at the next comma.
                let end = next.find([',', '}']).unwrap_or(next.len());
                rest = next[end..].trim_start_matches(',').trim_start();
            }
            rest = rest.strip_prefix('}').unwrap_or(rest);
            break;
        }
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        before.push(rest[..end].to_owned());
        rest = &rest[end..];
        match rest.strip_prefix("::") {
            Some(next) => rest = next,
            None => {
                found.push(before.clone());
                break;
            }
        }
    }
    before.truncate(depth);
    rest
}

/// Returns the files that each file imports. A module does not count as using the files of its own folder.
fn graph(files: &[File]) -> BTreeMap<&str, BTreeSet<&str>> {
    let modules: BTreeMap<Vec<&str>, &str> =
        files.iter().map(|file| (module(&file.name), file.name.as_str())).collect();
    let mut graph = BTreeMap::new();
    for file in files.iter().filter(|file| !matches!(file.name.as_str(), "main.rs" | "lib.rs")) {
        let here = module(&file.name);
        let mut uses = BTreeSet::new();
        for path in paths(&file.code) {
            let ups = path.iter().take_while(|name| *name == "super").count();
            let mut whole: Vec<&str> = match path.first().map(String::as_str) {
                Some("crate") if is_package(file.room()) => vec![file.room()],
                Some("crate") => Vec::new(),
                _ => here[..here.len().saturating_sub(ups)].to_vec(),
            };
            whole.extend(path.iter().skip(ups.max(1)).map(String::as_str));
            let used =
                (1..=whole.len()).rev().find_map(|length| modules.get(&whole[..length]).map(|name| (length, *name)));
            let Some((length, name)) = used else { continue };
            if name != file.name && !whole[..length].starts_with(&here) {
                uses.insert(name);
            }
        }
        graph.insert(file.name.as_str(), uses);
    }
    graph
}

/// Returns all files that can be reached from `from`.
fn reached<'a>(graph: &BTreeMap<&'a str, BTreeSet<&'a str>>, from: &'a str) -> BTreeSet<&'a str> {
    let (mut reached, mut next) = (BTreeSet::new(), vec![from]);
    while let Some(file) = next.pop() {
        for used in graph.get(file).into_iter().flatten() {
            if reached.insert(*used) {
                next.push(used);
            }
        }
    }
    reached
}

/// Returns the cycles of `graph`, each as a list of files.
fn circles<'a>(graph: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> BTreeSet<Vec<&'a str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> = graph.keys().map(|file| (*file, reached(graph, file))).collect();
    let circle = |file: &str| -> Vec<&'a str> {
        let there = reached.get(file).into_iter().flatten().copied();
        there.filter(|other| reached.get(other).is_some_and(|back| back.contains(file))).collect()
    };
    graph.keys().map(|file| circle(file)).filter(|circle| circle.len() > 1).collect()
}

#[test]
fn braced_import_lists_are_expanded() {
    let code = "use crate::a::{self, b::{C, D as E}, f};\nfn g() { super::h::i(); x_crate::no; }";
    let found: Vec<String> = paths(code).iter().map(|path| path.join("::")).collect();
    assert_eq!(found, ["crate::a::self", "crate::a::b::C", "crate::a::b::D", "crate::a::f", "super::h::i"]);
}

#[test]
fn a_cycle_is_found_without_the_files_attached_to_it() {
    let file = |name: &str, code: &str| File { name: name.into(), text: String::new(), code: code.into() };
    let files = [
        file("a.rs", "use crate::b::B;"),
        file("b.rs", "use crate::c;"),
        file("c.rs", "use super::a::A; use crate::d::D;"),
        file("d.rs", ""),
        file("e/mod.rs", "mod f; use self::f::F;"),
        file("e/f.rs", "use super::E;"),
    ];
    let found: Vec<Vec<&str>> = circles(&graph(&files)).into_iter().collect();
    assert_eq!(found, [vec!["a.rs", "b.rs", "c.rs"]]);
}

#[test]
fn no_import_cycle_has_more_than_three_files() {
    let files = files();
    let graph = graph(&files);
    let circles = circles(&graph);
    assert!(!circles.is_empty(), "the imports were read");
    let large: Vec<String> = circles.iter().filter(|circle| circle.len() > 3).map(|circle| circle.join(" ")).collect();
    assert!(large.is_empty(), "break these import cycles, or make them smaller:\n{}", large.join("\n"));
}
