//! Reads variables from lines of `KEY=value`, as in dotenv files.

use super::ci_variables::why_no_key;

/// The maximum size of a text in bytes.
pub const MAX_BYTES: usize = 1 << 20;

/// A variable, and the number of the line on which it begins, from 1.
#[derive(Clone, PartialEq, Eq)]
pub struct DotenvVariable {
    pub line: usize,
    pub key: String,
    pub value: String,
}

/// The line that could not be read, from 1, and the reason, without the line, which may contain a secret.
pub type Mistake = (usize, &'static str);

/// Parses a text: `KEY=value`, `export KEY=value`, values in single or double quotes that may span lines, and comments.
/// Of several variables with the same key, the last one counts, as in a shell.
pub fn parse(text: &str) -> (Vec<DotenvVariable>, Vec<Mistake>) {
    let (mut variables, mut mistakes): (Vec<DotenvVariable>, Vec<Mistake>) = (Vec::new(), Vec::new());
    let mut rest = text.trim_start_matches('\u{feff}');
    let mut line = 1;
    while !rest.is_empty() {
        let first = line;
        let (head, tail) = rest.split_once('\n').unwrap_or((rest, ""));
        let trimmed = head.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            (rest, line) = (tail, line + 1);
            continue;
        }
        let declared = trimmed.strip_prefix("export ").unwrap_or(trimmed);
        let key = declared.split_once('=').map(|(key, _)| key.trim_end());
        let Some(key) = key.filter(|key| why_no_key(key).is_none()) else {
            mistakes.push((first, "is not KEY=value"));
            (rest, line) = (tail, line + 1);
            continue;
        };
        let after = rest.split_once('=').map_or("", |(_, after)| after);
        let value = after.trim_start_matches([' ', '\t']);
        let read = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => quoted(value.get(1..).unwrap_or_default(), quote),
            _ => Some((plain(head.split_once('=').map_or("", |(_, value)| value)), tail)),
        };
        let Some((value, next)) = read else {
            mistakes.push((first, "has a quote without an end"));
            (rest, line) = (tail, line + 1);
            continue;
        };
        line += rest.get(..rest.len() - next.len()).unwrap_or_default().matches('\n').count();
        rest = next;
        let variable = DotenvVariable { line: first, key: key.to_owned(), value };
        match variables.iter_mut().find(|known| known.key == variable.key) {
            Some(known) => *known = variable,
            None => variables.push(variable),
        }
    }
    (variables, mistakes)
}

/// Returns a value without quotes: up to a comment.
fn plain(text: &str) -> String {
    let end = text
        .match_indices('#')
        .map(|(at, _)| at)
        .find(|at| text.get(..*at).is_some_and(|before| before.is_empty() || before.ends_with([' ', '\t'])));
    text.get(..end.unwrap_or(text.len())).unwrap_or_default().trim().to_owned()
}

/// Returns the value up to the closing quote, and what follows its line.
fn quoted(text: &str, quote: char) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            c if c == quote => {
                let rest = text.get(at + 1..).unwrap_or_default();
                return Some((value, rest.split_once('\n').map_or("", |(_, next)| next)));
            }
            '\\' if quote == '"' => match chars.next()?.1 {
                'n' => value.push('\n'),
                'r' => value.push('\r'),
                't' => value.push('\t'),
                c @ ('"' | '\\' | '$' | '`') => value.push(c),
                other => value.extend(['\\', other]),
            },
            '\r' if text.get(at + 1..).is_some_and(|next| next.starts_with('\n')) => {}
            c => value.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(String, String)> {
        let (variables, mistakes) = parse(text);
        assert!(mistakes.is_empty(), "{mistakes:?}");
        variables.into_iter().map(|variable| (variable.key, variable.value)).collect()
    }

    #[test]
    fn values_may_be_quoted_exported_and_commented() {
        let text = "# a comment\r\n\nA=1\r\nexport B = two words # why\nC='a # b'\nD=\"x\\ny\\\"\\$\\q\"  # end\nE=\nF=a#b\nG=p=q\n";
        let pairs = [
            ("A", "1"),
            ("B", "two words"),
            ("C", "a # b"),
            ("D", "x\ny\"$\\q"),
            ("E", ""),
            ("F", "a#b"),
            ("G", "p=q"),
        ];
        assert_eq!(read(text), pairs.map(|(key, value)| (key.to_owned(), value.to_owned())));
    }

    #[test]
    fn a_quoted_value_may_span_lines_and_the_last_of_equal_keys_counts() {
        let (variables, mistakes) = parse("A=\"one\ntwo\"\nB=1\nA='x\ny'\nbad line\n");
        assert_eq!(mistakes, [(6, "is not KEY=value")]);
        let found: Vec<_> = variables.iter().map(|v| (v.line, v.key.as_str(), v.value.as_str())).collect();
        assert_eq!(found, [(4, "A", "x\ny"), (3, "B", "1")]);
    }

    #[test]
    fn mistakes_name_the_line_and_never_its_text() {
        let (variables, mistakes) = parse("s3cret\nA B=1\nC=\"no end\nD=2\n=x");
        assert_eq!(variables.iter().map(|variable| variable.key.as_str()).collect::<Vec<_>>(), ["D"]);
        let not = "is not KEY=value";
        assert_eq!(mistakes, [(1, not), (2, not), (3, "has a quote without an end"), (5, not)]);
    }
}
