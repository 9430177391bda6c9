//! The conditions of rules: `$CI_COMMIT_BRANCH == "main" && $CI_COMMIT_TITLE !~ /^Draft/`.

use regex::{Regex, RegexBuilder};
use std::collections::BTreeMap;

/// Variables by name.
pub type Variables = BTreeMap<String, String>;

/// The maximum length of a condition in bytes.
const MAX_BYTES: usize = 10_000;
/// The maximum nesting depth of parentheses.
const MAX_DEPTH: usize = 50;
/// The maximum size of a compiled pattern in bytes.
const MAX_PATTERN: usize = 1 << 20;

/// Evaluates a condition; `None` if it is invalid.
pub fn evaluate(text: &str, variables: &Variables) -> Option<bool> {
    if text.len() > MAX_BYTES {
        return None;
    }
    let tokens = tokens(text)?;
    let mut reader = Reader { tokens: &tokens, variables, depth: 0 };
    let value = reader.any()?;
    reader.tokens.is_empty().then_some(value)
}

/// Returns the pattern in a text such as `/^a/i`.
pub fn pattern(text: &str) -> Option<Regex> {
    let (pattern, flags) = text.strip_prefix('/')?.rsplit_once('/')?;
    if !flags.chars().all(|flag| matches!(flag, 'i' | 'm' | 's' | 'U')) {
        return None;
    }
    // In a pattern, a slash is escaped.
    let mut builder = RegexBuilder::new(&pattern.replace("\\/", "/"));
    builder.case_insensitive(flags.contains('i')).size_limit(MAX_PATTERN);
    builder.multi_line(flags.contains('m')).dot_matches_new_line(flags.contains('s')).build().ok()
}

/// Replaces variables, `$NAME` or `${NAME}`, by their values; unknown ones by nothing.
pub fn expand(text: &str, variables: &Variables) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out += before;
        let braced = after.strip_prefix('{').and_then(|inner| inner.split_once('}'));
        let (name, tail) = braced.unwrap_or_else(|| after.split_at(name_length(after)));
        if name.is_empty() {
            out.push('$');
        }
        out += variables.get(name).map_or("", String::as_str);
        rest = tail;
    }
    out + rest
}

fn name_length(text: &str) -> usize {
    text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len())
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Variable(String),
    Text(String),
    Pattern(String),
    Null,
    Operator(&'static str),
}

const OPERATORS: [&str; 8] = ["==", "!=", "=~", "!~", "&&", "||", "(", ")"];

fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, length) = match first {
            '$' => {
                let length = name_length(rest.get(1..)?);
                (Token::Variable(rest.get(1..=length).filter(|name| !name.is_empty())?.to_owned()), length + 1)
            }
            '"' | '\'' => {
                let text = rest.get(1..)?.split_once(first)?.0;
                (Token::Text(text.to_owned()), text.len() + 2)
            }
            '/' => {
                let length = pattern_length(rest)?;
                (Token::Pattern(rest.get(..length)?.to_owned()), length)
            }
            _ => match OPERATORS.iter().find(|operator| rest.starts_with(**operator)) {
                Some(operator) => (Token::Operator(operator), operator.len()),
                None => (Token::Null, rest.strip_prefix("null").map(|_| 4)?),
            },
        };
        tokens.push(token);
        rest = rest.get(length..)?.trim_start();
    }
    Some(tokens)
}

/// Returns the length of the pattern at the start of a text, with its slashes and flags.
fn pattern_length(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '/' => {
                let flags = text.get(at + 1..)?;
                return Some(at + 1 + flags.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(flags.len()));
            }
            _ => {}
        }
    }
    None
}

struct Reader<'t> {
    tokens: &'t [Token],
    variables: &'t Variables,
    depth: usize,
}

impl<'t> Reader<'t> {
    fn next(&mut self) -> Option<&'t Token> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(first)
    }

    fn take(&mut self, operator: &str) -> bool {
        let is_next = matches!(self.tokens.first(), Some(Token::Operator(next)) if *next == operator);
        if is_next {
            self.next();
        }
        is_next
    }

    fn any(&mut self) -> Option<bool> {
        let mut value = self.all()?;
        while self.take("||") {
            value |= self.all()?;
        }
        Some(value)
    }

    fn all(&mut self) -> Option<bool> {
        let mut value = self.comparison()?;
        while self.take("&&") {
            value &= self.comparison()?;
        }
        Some(value)
    }

    fn comparison(&mut self) -> Option<bool> {
        if self.take("(") {
            self.depth += 1;
            let value = (self.depth <= MAX_DEPTH).then(|| self.any())??;
            self.depth -= 1;
            return self.take(")").then_some(value);
        }
        let left = self.value()?;
        for (operator, is_positive) in [("==", true), ("!=", false)] {
            if self.take(operator) {
                return Some((left == self.value()?) == is_positive);
            }
        }
        for (operator, is_positive) in [("=~", true), ("!~", false)] {
            if self.take(operator) {
                let right = match self.next()? {
                    Token::Pattern(text) => Some(pattern(text)?),
                    // A variable may contain a pattern; another text matches nothing.
                    Token::Variable(name) => self.variables.get(name).and_then(|text| pattern(text)),
                    _ => return None,
                };
                let matches = right.is_some_and(|right| left.is_some_and(|left| right.is_match(&left)));
                return Some(matches == is_positive);
            }
        }
        Some(left.is_some_and(|left| !left.is_empty()))
    }

    fn value(&mut self) -> Option<Option<String>> {
        match self.next()? {
            Token::Variable(name) => Some(self.variables.get(name).cloned()),
            Token::Text(text) => Some(Some(text.clone())),
            Token::Null => Some(None),
            Token::Pattern(_) | Token::Operator(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables() -> Variables {
        [("A", "main"), ("EMPTY", ""), ("P", "/^ma/"), ("B", "main")].map(|(k, v)| (k.to_owned(), v.to_owned())).into()
    }

    #[test]
    fn conditions_are_evaluated_as_documented() {
        for (text, expected) in [
            ("$A", Some(true)),
            ("$EMPTY", Some(false)),
            ("$NONE", Some(false)),
            ("$A == \"main\"", Some(true)),
            ("$A == 'other'", Some(false)),
            ("$A != 'other'", Some(true)),
            ("$A == $B", Some(true)),
            ("$NONE == null", Some(true)),
            ("$EMPTY == null", Some(false)),
            ("$A =~ /^ma.n$/", Some(true)),
            ("$A =~ /MAIN/", Some(false)),
            ("$A =~ /MAIN/i", Some(true)),
            ("$A !~ /x\\/y/", Some(true)),
            ("$A =~ $P", Some(true)),
            ("$NONE =~ /a/", Some(false)),
            ("$NONE || $A && $B", Some(true)),
            ("($NONE || $A) && $EMPTY", Some(false)),
            ("", None),
            ("main", None),
            ("$A ==", None),
            ("$A = 'x'", None),
            ("$A =~ /(/", None),
            ("$A =~ 'x'", None),
            ("($A", None),
            ("$A $B", None),
            ("\"a", None),
            ("/a", None),
            ("$", None),
            ("$A =~ /ä\\", None),
        ] {
            assert_eq!(evaluate(text, &variables()), expected, "{text}");
        }
        assert_eq!(evaluate(&"(".repeat(9_000), &variables()), None);
        assert_eq!(evaluate("$A =~ /((a{1000}){1000}){1000}/", &variables()), None);
    }

    #[test]
    fn variables_are_replaced() {
        assert_eq!(expand("review/$A-${B}/$NONE$", &variables()), "review/main-main/$");
        assert_eq!(expand("${A", &variables()), "${A");
    }
}
