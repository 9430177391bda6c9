//! The outline of a text: the functions, types and sections that it defines, by the scopes of its grammar.

use super::{Budget, Language, ParserState, Text};
use std::collections::HashMap;
use std::sync::LazyLock;
use syntect::parsing::Scope;

/// The maximum number of symbols of a text.
const MAX_SYMBOLS: usize = 5_000;

/// The scopes of names that are defined, and their kinds; the longest one that is a prefix of a scope applies. An empty
/// kind excludes names that grammars give the same scope where they are only used.
const KINDS: &[(&str, &str)] = &[
    ("entity.name.class", "class"),
    ("entity.name.enum", "enum"),
    ("entity.name.function", "function"),
    ("entity.name.function.dart", ""),
    ("entity.name.impl", "impl"),
    ("entity.name.interface", "interface"),
    ("entity.name.macro", "macro"),
    ("entity.name.module", "module"),
    ("entity.name.namespace", "namespace"),
    ("entity.name.section", "section"),
    ("entity.name.struct", "struct"),
    ("entity.name.table", "table"),
    ("entity.name.trait", "trait"),
    ("entity.name.type", "type"),
    ("entity.name.type.class", "class"),
    ("entity.name.type.enum", "enum"),
    ("entity.name.type.interface", "interface"),
    ("entity.name.type.module", "module"),
    ("entity.name.type.ts", ""),
    ("entity.name.type.tsx", ""),
    ("entity.name.union", "union"),
];

/// Scopes directly around names that are only used.
const USES: &[&str] =
    &["meta.function-call", "meta.return.type", "meta.type.annotation", "meta.type.parameters", "meta.path"];

type Kinds = Vec<(Scope, &'static str)>;

static KIND_SCOPES: LazyLock<Kinds> =
    LazyLock::new(|| KINDS.iter().filter_map(|(name, kind)| Some((Scope::new(name).ok()?, *kind))).collect());
static USE_SCOPES: LazyLock<Vec<Scope>> =
    LazyLock::new(|| USES.iter().filter_map(|use_| Scope::new(use_).ok()).collect());
static META: LazyLock<Option<Scope>> = LazyLock::new(|| Scope::new("meta").ok());

/// A name that a text defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The line, from 0.
    pub line: usize,
    pub name: String,
    /// A word such as `function` or `section`.
    pub kind: &'static str,
}

/// Returns the symbols of a file in order, as far as they were found before `canceled` returned true.
pub fn outline(text: &Text, path: &str, canceled: &dyn Fn() -> bool) -> Vec<Symbol> {
    let Some(language) = Language::detect(path, text.line(0)) else { return Vec::new() };
    let (mut state, mut buffer, budget) = (ParserState::new(language), String::new(), Budget::new(canceled));
    let mut kinds: HashMap<Scope, Option<&'static str>> = HashMap::new();
    let mut symbols: Vec<Symbol> = Vec::new();
    for line in 0..text.len() {
        if canceled() || symbols.len() >= MAX_SYMBOLS {
            break;
        }
        let words = text.line(line);
        // The end of the symbol before, which the next part of its name follows.
        let mut end = None;
        state.parse(words, &mut buffer, &budget, |range, stack| {
            let (Some(kind), Some(part)) = (kind_of(stack, &mut kinds), words.get(range.clone())) else { return };
            match symbols.last_mut().filter(|_| end == Some(range.start)) {
                Some(symbol) => symbol.name.push_str(part),
                None => symbols.push(Symbol { line, name: part.to_owned(), kind }),
            }
            end = Some(range.end);
        });
    }
    symbols.iter_mut().for_each(|symbol| symbol.name = symbol.name.trim().to_owned());
    symbols.retain(|symbol| !symbol.name.is_empty());
    symbols
}

/// Returns the kind of the name that text in the scopes `stack` is a part of, if it is defined there.
fn kind_of(stack: &[Scope], kinds: &mut HashMap<Scope, Option<&'static str>>) -> Option<&'static str> {
    let kind_of = |scope: Scope| {
        let longest =
            KIND_SCOPES.iter().filter(|(name, _)| name.is_prefix_of(scope)).max_by_key(|(name, _)| name.len());
        longest.map(|(_, kind)| *kind).filter(|kind| !kind.is_empty())
    };
    let mut kind = |scope: &Scope| *kinds.entry(*scope).or_insert_with(|| kind_of(*scope));
    let (at, kind) = stack.iter().enumerate().rev().find_map(|(at, scope)| Some((at, kind(scope)?)))?;
    let is_meta = |scope: &&Scope| META.is_some_and(|meta| meta.is_prefix_of(**scope));
    let around = stack.get(..at)?.iter().rev().find(is_meta);
    let is_use = around.is_some_and(|around| USE_SCOPES.iter().any(|name| name.is_prefix_of(*around)));
    (!is_use).then_some(kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(path: &str, text: &str) -> Vec<(usize, String, &'static str)> {
        let text = Text::new(text.as_bytes().to_vec());
        outline(&text, path, &|| false).into_iter().map(|s| (s.line, s.name, s.kind)).collect()
    }

    #[test]
    fn definitions_are_listed_and_uses_are_not() {
        let of = |path: &str, text: &str, expected: &[(usize, &str, &'static str)]| {
            let expected: Vec<_> =
                expected.iter().map(|(line, name, kind)| (*line, (*name).to_owned(), *kind)).collect();
            assert_eq!(names(path, text), expected, "{path}");
        };
        of(
            "a.rs",
            "pub struct Row { id: u8 }\nimpl Row {\n    fn draw(&self) -> Option<Row> { fit(Row::new()) }\n}\nmod deep {}\n",
            &[(0, "Row", "struct"), (1, "Row", "impl"), (2, "draw", "function"), (4, "deep", "module")],
        );
        of(
            "a.ts",
            "export class Table extends Base {\n  draw(w: Row): Promise<Row> { fit(w); new Row(); }\n}\nconst fit = (w: Row) => w;\n",
            &[(0, "Table", "class"), (1, "draw", "function"), (3, "fit", "function")],
        );
        of(
            "a.py",
            "class Table(Base):\n    def draw(self, w: Row) -> Row:\n        return fit(w)\n",
            &[(0, "Table", "class"), (1, "draw", "function")],
        );
        of(
            "a.go",
            "package a\ntype Table struct { rows []Row }\nfunc (t *Table) Draw(w int) error { return fit(w) }\n",
            &[(1, "Table", "type"), (2, "Draw", "function")],
        );
        of(
            "a.java",
            "class Table extends Base {\n  public Row draw(int w) { return fit(new Row(w)); }\n}\n",
            &[(0, "Table", "class"), (1, "draw", "function")],
        );
        of("a.sh", "fit() { echo 1; }\nfit 2\n", &[(0, "fit", "function")]);
        of(
            "a.md",
            "# Title\ntext\n\n## Of *two* words\n",
            &[(0, "Title", "section"), (3, "Of *two* words", "section")],
        );
        of("a.dart", "int fit(int w) => helper(w);\n", &[]);
        of("notes.txt", "fn a() {}\n", &[]);
    }

    #[test]
    fn a_text_of_many_definitions_is_bounded_and_can_be_canceled() {
        let text = Text::new("fn a() {}\n".repeat(MAX_SYMBOLS + 10).into_bytes());
        assert_eq!(outline(&text, "a.rs", &|| false).len(), MAX_SYMBOLS);
        assert_eq!(outline(&text, "a.rs", &|| true), []);
    }
}
