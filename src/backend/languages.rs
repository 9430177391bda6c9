//! The programming languages of a repository, by file size.

use super::call::{Outcome, ReadCall, ok};
use super::rejection::Rejection;
use crate::api::projects::GetLanguages;
use git2::{ObjectType, TreeWalkMode, TreeWalkResult};
use std::collections::BTreeMap;

/// File extensions and their languages.
const LANGUAGES: &[(&str, &str)] = &[
    ("rs", "Rust"),
    ("py", "Python"),
    ("rb", "Ruby"),
    ("go", "Go"),
    ("js", "JavaScript"),
    ("mjs", "JavaScript"),
    ("jsx", "JavaScript"),
    ("ts", "TypeScript"),
    ("tsx", "TypeScript"),
    ("c", "C"),
    ("h", "C"),
    ("cc", "C++"),
    ("cpp", "C++"),
    ("hpp", "C++"),
    ("cs", "C#"),
    ("java", "Java"),
    ("kt", "Kotlin"),
    ("swift", "Swift"),
    ("php", "PHP"),
    ("pl", "Perl"),
    ("lua", "Lua"),
    ("hs", "Haskell"),
    ("ml", "OCaml"),
    ("ex", "Elixir"),
    ("erl", "Erlang"),
    ("scala", "Scala"),
    ("sh", "Shell"),
    ("bash", "Shell"),
    ("html", "HTML"),
    ("css", "CSS"),
    ("scss", "SCSS"),
    ("vue", "Vue"),
];

/// Returns the share of each language in percent; nothing for an empty repository.
pub fn languages(call: &ReadCall, input: GetLanguages) -> Outcome<BTreeMap<String, f64>> {
    let (_, git) = call.repository(&input.id)?;
    let Some(head) = git.default_head() else { return ok(BTreeMap::new()) };
    let odb = git.repo().odb()?;
    let mut bytes: BTreeMap<&str, usize> = BTreeMap::new();
    let tree = git.tree(head).map_err(Rejection::from)?;
    tree.walk(TreeWalkMode::PreOrder, |_, entry| {
        let name = String::from_utf8_lossy(entry.name_bytes());
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        let language = LANGUAGES.iter().find(|(known, _)| ending.eq_ignore_ascii_case(known));
        if let (Some((_, language)), Some(ObjectType::Blob)) = (language, entry.kind())
            && let Ok((size, _)) = odb.read_header(entry.id())
        {
            *bytes.entry(language).or_default() += size;
        }
        TreeWalkResult::Ok
    })?;
    let total = bytes.values().sum::<usize>().max(1) as f64;
    let share = |size: usize| (size as f64 / total * 10_000.0).round() / 100.0;
    ok(bytes.into_iter().map(|(language, size)| (language.to_owned(), share(size))).collect())
}
