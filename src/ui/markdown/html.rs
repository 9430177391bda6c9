//! HTML within Markdown: its tags, attributes and entities.

use std::borrow::Cow;

/// A piece of HTML.
#[derive(Debug, PartialEq)]
pub enum Token<'a> {
    Text(&'a str),
    Tag(Tag<'a>),
}

/// The start or the end of an element.
#[derive(Debug, PartialEq)]
pub struct Tag<'a> {
    /// The name in lower case.
    pub name: String,
    /// Whether it is the end.
    pub is_end: bool,
    /// The whole tag as it is written.
    pub source: &'a str,
    attributes: &'a str,
}

/// Splits HTML without comments at its tags. Whatever is no complete tag is text.
pub fn tokens(html: &str) -> impl Iterator<Item = Token<'_>> {
    let mut rest = html;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if let Some((tag, after)) = tag(rest) {
            rest = after;
            return Some(Token::Tag(tag));
        }
        // The text up to the next sign that starts a tag; after a sign without an end, nothing more can be a tag.
        let is_open = starts_tag(rest);
        let end = rest
            .match_indices('<')
            .map(|(at, _)| at)
            .find(|at| *at > 0 && !is_open && rest.get(*at..).is_some_and(starts_tag));
        let (text, after) = rest.split_at_checked(end.unwrap_or(rest.len()))?;
        rest = after;
        Some(Token::Text(text))
    })
}

/// Returns text with one space for every run of white space.
pub fn collapse(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if !c.is_ascii_whitespace() {
            out.push(c);
        } else if !out.ends_with(' ') {
            out.push(' ');
        }
    }
    out
}

/// Returns how often an element may end in a text.
pub fn count_ends(text: &str, name: &str) -> usize {
    let ends = text.match_indices("</").map(|(at, end)| at + end.len());
    ends.filter(|at| text.get(*at..at + name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name))).count()
}

fn starts_tag(html: &str) -> bool {
    start(html).is_some()
}

/// Splits the start of a tag: whether it ends an element, the name, and the text after it.
fn start(html: &str) -> Option<(bool, &str, &str)> {
    let inner = html.strip_prefix('<')?;
    let (inner, is_end) = inner.strip_prefix('/').map_or((inner, false), |inner| (inner, true));
    let length = inner.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'-').count();
    let (name, after) = inner.split_at_checked(length)?;
    let fits = after.starts_with(|c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>'));
    (fits && name.starts_with(|c: char| c.is_ascii_alphabetic())).then_some((is_end, name, after))
}

/// Splits the tag off that begins a text.
fn tag(html: &str) -> Option<(Tag<'_>, &str)> {
    let (is_end, name, attributes) = start(html)?;
    let mut quote = None;
    let end = attributes.bytes().position(|b| {
        match (quote, b) {
            (Some(open), b) if open == b => quote = None,
            (None, b'"' | b'\'') => quote = Some(b),
            (None, b'>') => return true,
            _ => {}
        }
        false
    })?;
    let (attributes, after) = attributes.split_at_checked(end)?;
    let after = after.strip_prefix('>')?;
    let source = html.get(..html.len() - after.len())?;
    Some((Tag { name: name.to_ascii_lowercase(), is_end, source, attributes }, after))
}

impl<'a> Tag<'a> {
    /// Returns the value of an attribute; empty if it has none.
    pub fn attribute(&self, name: &str) -> Option<Cow<'a, str>> {
        self.attributes().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| decode(value))
    }

    /// Returns the number in an attribute, such as `3` in `colspan="3"`, or `1`.
    pub fn count(&self, name: &str) -> usize {
        self.attribute(name).and_then(|value| value.trim().parse().ok()).unwrap_or(1)
    }

    /// Returns whether the tag has code to run on events: `onclick="…"`.
    pub fn has_events(&self) -> bool {
        self.attributes().any(|(key, _)| {
            let prefix = key.get(..2).is_some_and(|prefix| prefix.eq_ignore_ascii_case("on"));
            prefix && key.len() > 2
        })
    }

    /// Returns the attributes as they are written: names and values.
    fn attributes(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        let mut rest = self.attributes;
        std::iter::from_fn(move || {
            rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
            let end = rest.find(|c: char| c.is_ascii_whitespace() || matches!(c, '=' | '/')).unwrap_or(rest.len());
            let (key, after) = rest.split_at_checked(end.max(usize::from(rest.starts_with('='))))?;
            if key.is_empty() {
                return None;
            }
            let mut value = "";
            rest = after;
            if let Some(given) = after.trim_ascii_start().strip_prefix('=') {
                let given = given.trim_ascii_start();
                let quote = given.chars().next().filter(|c| matches!(c, '"' | '\''));
                (value, rest) = match quote {
                    Some(quote) => given.get(1..)?.split_once(quote)?,
                    None => {
                        given.split_at_checked(given.find(|c: char| c.is_ascii_whitespace()).unwrap_or(given.len()))?
                    }
                };
            }
            Some((key, value))
        })
    }
}

/// Returns text with its character references replaced: numbers and the common names.
pub fn decode(text: &str) -> Cow<'_, str> {
    const MAX_REFERENCE: usize = 12;
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        let (before, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.push_str(before);
        let length = from.bytes().take(MAX_REFERENCE).position(|b| b == b';');
        let decoded = length.and_then(|length| Some((character(from.get(1..length)?)?, from.get(length + 1..)?)));
        let (c, after) = decoded.unwrap_or(('&', from.get(1..).unwrap_or_default()));
        out.push(c);
        rest = after;
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn character(reference: &str) -> Option<char> {
    if let Some(number) = reference.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16),
            None => number.parse(),
        };
        return char::from_u32(code.ok()?).filter(|c| *c != '\0');
    }
    Some(match reference {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" | "ensp" | "emsp" | "thinsp" => ' ',
        "copy" => '©',
        "reg" => '®',
        "trade" => '™',
        "hellip" => '…',
        "ndash" => '–',
        "mdash" => '—',
        "lsquo" => '‘',
        "rsquo" => '’',
        "ldquo" => '“',
        "rdquo" => '”',
        "laquo" => '«',
        "raquo" => '»',
        "larr" => '←',
        "rarr" => '→',
        "uarr" => '↑',
        "darr" => '↓',
        "bull" => '•',
        "middot" => '·',
        "times" => '×',
        "check" => '✓',
        "star" => '☆',
        "hearts" => '♥',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_told_from_text() {
        let split = |html| {
            let parts = tokens(html).map(|token| match token {
                Token::Text(text) => format!("'{text}'"),
                Token::Tag(tag) => format!("{}{}", if tag.is_end { "/" } else { "" }, tag.name),
            });
            parts.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(split("a <B class='x>y'>b</b> <br/>"), "'a ' b 'b' /b ' ' br");
        assert_eq!(split("1 < 2 <3> <-> a<b"), "'1 < 2 <3> <-> a<b'");
        assert_eq!(split("<a \"<b>"), "'<a \"<b>'");
        assert_eq!(split("<a:b> <!DOCTYPE html> <i>"), "'<a:b> <!DOCTYPE html> ' i");
    }

    #[test]
    fn attributes_are_found_in_every_notation() {
        let Some((tag, "")) = tag("<img SRC = 'a b' alt=\"&lt;x&gt;\" checked width=10 height=5/>") else { panic!() };
        let values = ["src", "alt", "checked", "width", "height", "none"].map(|name| tag.attribute(name));
        assert_eq!(
            values.map(|value| value.map(Cow::into_owned)),
            [Some("a b"), Some("<x>"), Some(""), Some("10"), Some("5/"), None].map(|value| value.map(str::to_owned))
        );
        for odd in ["<a =>", "<a = = =>", "<a 'x'>", "<a x='>", "<a x=\">"] {
            let found = tag_or_none(odd);
            assert!(found.is_none_or(|tag| tag.attribute("y").is_none()), "{odd}");
        }
    }

    fn tag_or_none(html: &str) -> Option<Tag<'_>> {
        tag(html).map(|(tag, _)| tag)
    }

    #[test]
    fn references_become_characters() {
        assert_eq!(decode("a &lt;b&gt; &amp;amp; &#65;&#x42;&nbsp;c"), "a <b> &amp; AB c");
        for text in ["&", "&;", "a & b", "&unknown;", "&#0;", "&#xD800;", "&ltx"] {
            assert_eq!(decode(text), text);
        }
    }
}
