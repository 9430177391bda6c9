//! The mapping from the scopes of a grammar to the roles of a theme.

use crate::theme::Role;
use std::collections::HashMap;
use std::sync::LazyLock;
use syntect::parsing::Scope;

/// The roles of scopes. For a scope, the longest name that is a prefix of it applies; among the scopes around some
/// text, the innermost listed one applies.
const NAMES: &[(&str, Role)] = &[
    ("comment", Role::SyntaxComment),
    ("constant", Role::SyntaxConstant),
    ("constant.numeric", Role::SyntaxNumber),
    ("entity.name", Role::SyntaxType),
    ("entity.name.constant", Role::SyntaxConstant),
    ("entity.name.function", Role::SyntaxFunction),
    ("entity.name.macro", Role::SyntaxFunction),
    ("entity.name.label", Role::SyntaxAttribute),
    ("entity.name.section", Role::SyntaxHeading),
    ("entity.name.tag", Role::SyntaxTag),
    ("entity.other.attribute-name", Role::SyntaxAttribute),
    ("entity.other.inherited-class", Role::SyntaxType),
    ("invalid", Role::SyntaxInvalid),
    ("keyword", Role::SyntaxKeyword),
    ("keyword.operator", Role::SyntaxOperator),
    ("keyword.operator.new", Role::SyntaxKeyword),
    ("keyword.operator.word", Role::SyntaxKeyword),
    ("keyword.operator.logical.python", Role::SyntaxKeyword),
    ("markup.bold", Role::SyntaxStrong),
    ("markup.deleted", Role::Removed),
    ("markup.heading", Role::SyntaxHeading),
    ("markup.inserted", Role::Added),
    ("markup.italic", Role::SyntaxEmphasis),
    ("markup.quote", Role::SyntaxComment),
    ("markup.raw", Role::SyntaxString),
    ("markup.underline.link", Role::Link),
    ("meta.annotation", Role::SyntaxAttribute),
    ("meta.diff.header", Role::Hunk),
    ("meta.diff.range", Role::Hunk),
    ("meta.preprocessor", Role::SyntaxAttribute),
    ("punctuation", Role::SyntaxPunctuation),
    ("punctuation.definition.annotation", Role::SyntaxAttribute),
    ("punctuation.definition.comment", Role::SyntaxComment),
    ("punctuation.definition.heading", Role::SyntaxHeading),
    ("punctuation.definition.string", Role::SyntaxString),
    ("storage", Role::SyntaxKeyword),
    ("storage.modifier.lifetime", Role::SyntaxAttribute),
    ("storage.type.c", Role::SyntaxType),
    ("storage.type.c++", Role::SyntaxType),
    ("storage.type.go", Role::SyntaxType),
    ("storage.type.java", Role::SyntaxType),
    ("storage.type.primitive", Role::SyntaxType),
    ("storage.type.rust", Role::SyntaxType),
    ("storage.type.function.arrow", Role::SyntaxOperator),
    ("storage.type.numeric", Role::SyntaxNumber),
    ("string", Role::SyntaxString),
    ("support.class", Role::SyntaxType),
    ("support.constant", Role::SyntaxConstant),
    ("support.function", Role::SyntaxFunction),
    ("support.macro", Role::SyntaxFunction),
    ("support.type", Role::SyntaxType),
    ("support.type.property-name", Role::SyntaxAttribute),
    ("variable", Role::SyntaxVariable),
    ("variable.annotation", Role::SyntaxAttribute),
    ("variable.function", Role::SyntaxFunction),
    ("variable.language", Role::SyntaxKeyword),
    ("variable.other.constant", Role::SyntaxConstant),
];

/// Scopes in which a string is the key of a mapping and shown as a key.
const KEYS: &[&str] = &["meta.mapping.key", "meta.structure.dictionary.key"];

static TABLE: LazyLock<Vec<(Scope, Role)>> =
    LazyLock::new(|| NAMES.iter().filter_map(|(name, role)| Some((Scope::new(name).ok()?, *role))).collect());
static KEY_SCOPES: LazyLock<Vec<Scope>> =
    LazyLock::new(|| KEYS.iter().filter_map(|name| Scope::new(name).ok()).collect());

/// A cache of the scopes seen so far, since a text contains few different ones.
#[derive(Default)]
pub struct Scopes {
    known: HashMap<Scope, (Option<Role>, bool)>,
}

impl Scopes {
    /// Returns the role of text in the scopes `stack`, outermost first.
    pub fn role(&mut self, stack: &[Scope]) -> Option<Role> {
        let role = stack.iter().rev().find_map(|scope| self.look_up(*scope).0)?;
        if role == Role::SyntaxString && stack.iter().any(|scope| self.look_up(*scope).1) {
            return Some(Role::SyntaxTag);
        }
        Some(role)
    }

    fn look_up(&mut self, scope: Scope) -> (Option<Role>, bool) {
        *self.known.entry(scope).or_insert_with(|| {
            let longest = TABLE.iter().filter(|(name, _)| name.is_prefix_of(scope)).max_by_key(|(name, _)| name.len());
            (longest.map(|(_, role)| *role), KEY_SCOPES.iter().any(|key| key.is_prefix_of(scope)))
        })
    }
}
