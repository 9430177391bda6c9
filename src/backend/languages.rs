//! The programming languages of a repository, by file size.

use super::call::{Outcome, ReadCall, ok};
use api::projects::GetLanguages;
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

/// Returns the share of each language in percent; nothing for an empty repository. Of a tree that is too large, only the
/// part that is read counts.
pub fn languages(call: &ReadCall, input: GetLanguages) -> Outcome<BTreeMap<String, f64>> {
    let (_, git) = call.repository(&input.id)?;
    let Some(head) = git.default_head() else { return ok(BTreeMap::new()) };
    let mut bytes: BTreeMap<&str, usize> = BTreeMap::new();
    let language_of = |name: &str| {
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        LANGUAGES.iter().find(|(known, _)| ending.eq_ignore_ascii_case(known)).map(|(_, language)| *language)
    };
    git.add_file_sizes(&git.tree(head)?, &language_of, &mut |language, size| {
        *bytes.entry(language).or_default() += size;
    })?;
    let total = bytes.values().sum::<usize>().max(1) as f64;
    let share = |size: usize| (size as f64 / total * 10_000.0).round() / 100.0;
    ok(bytes.into_iter().map(|(language, size)| (language.to_owned(), share(size))).collect())
}
