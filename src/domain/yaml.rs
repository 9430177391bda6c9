//! Reads a YAML document within bounds. Aliases copy what they name, so a short document can stand for any number of
//! values: all values count, wherever they come from.

use saphyr_parser::{Event, Parser, ScalarStyle};
use std::collections::HashMap;

/// The maximum size of a document in bytes.
pub const MAX_BYTES: usize = 2 << 20;
/// The maximum number of values of a document, with those that aliases copy.
const MAX_VALUES: usize = 50_000;
/// The maximum nesting depth.
const MAX_DEPTH: usize = 50;

/// The reason why a document is refused that needs too much memory.
pub const TOO_BIG: &str = "The parsed YAML is too big";

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    Null,
    Bool(bool),
    /// A text or a number.
    Text(String),
    List(Vec<Node>),
    Map(Map),
    /// The path of another value: `!reference [job, script]`.
    Reference(Vec<String>),
}

/// The values of a map by key, in the order of the document.
pub type Map = Vec<(String, Node)>;

impl Node {
    /// Returns the value at a key of a map.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.as_map()?.iter().find(|(known, _)| known == key).map(|(_, value)| value)
    }

    pub fn as_map(&self) -> Option<&Map> {
        if let Node::Map(map) = self { Some(map) } else { None }
    }

    pub fn as_text(&self) -> Option<&str> {
        if let Node::Text(text) = self { Some(text) } else { None }
    }

    /// Returns a text or a truth value as text.
    pub fn to_text(&self) -> Option<String> {
        match self {
            Node::Text(text) => Some(text.clone()),
            Node::Bool(value) => Some(value.to_string()),
            _ => None,
        }
    }

    /// Returns the texts of a text or a list, whose lists may be nested.
    pub fn texts(&self) -> Option<Vec<String>> {
        match self {
            Node::List(list) => {
                let parts: Option<Vec<Vec<String>>> = list.iter().map(Node::texts).collect();
                Some(parts?.concat())
            }
            other => Some(vec![other.to_text()?]),
        }
    }

    /// Returns the number of values, and the nesting depth.
    fn extent(&self) -> (usize, usize) {
        let of_all = |nodes: &mut dyn Iterator<Item = &Node>| {
            nodes.map(Node::extent).fold((1, 1), |(count, depth), (more, deeper)| (count + more, depth.max(deeper + 1)))
        };
        match self {
            Node::List(list) => of_all(&mut list.iter()),
            Node::Map(map) => of_all(&mut map.iter().map(|(_, value)| value)),
            Node::Reference(path) => (1 + path.len(), 1),
            _ => (1, 1),
        }
    }
}

/// A list or a map that is being read.
struct Open {
    anchor: usize,
    content: Content,
}

enum Content {
    List { items: Vec<Node>, is_reference: bool },
    Map { entries: Map, places: HashMap<String, usize>, merged: Vec<Node>, key: Option<String> },
}

/// Parses the first document of a text.
///
/// # Errors
/// Fails with a reason if it is no YAML, too large or nested too deeply, or if a key is no text.
pub fn parse(text: &str) -> Result<Node, String> {
    if text.len() > MAX_BYTES {
        return Err(TOO_BIG.into());
    }
    let (mut open, mut anchors): (Vec<Open>, HashMap<usize, Node>) = (Vec::new(), HashMap::new());
    let mut count = 0;
    for event in Parser::new_from_str(text) {
        let (event, _) = event.map_err(|error| {
            let (at, why) = (error.marker(), error.info());
            format!("(<unknown>): {why} at line {} column {}", at.line(), at.col() + 1)
        })?;
        if count > MAX_VALUES || open.len() > MAX_DEPTH {
            return Err(TOO_BIG.into());
        }
        let (node, anchor) = match event {
            Event::SequenceStart(anchor, tag) => {
                let is_reference = tag.is_some_and(|tag| tag.suffix == "reference");
                open.push(Open { anchor, content: Content::List { items: Vec::new(), is_reference } });
                continue;
            }
            Event::MappingStart(anchor, _) => {
                let (entries, places, merged, key) = (Map::new(), HashMap::new(), Vec::new(), None);
                open.push(Open { anchor, content: Content::Map { entries, places, merged, key } });
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(closed) = open.pop() else { continue };
                (close(closed.content)?, closed.anchor)
            }
            Event::Scalar(text, style, anchor, tag) => (scalar(&text, style, tag.is_some()), anchor),
            Event::Alias(anchor) => {
                let named = anchors.get(&anchor).ok_or("An alias in the YAML names a value that contains it")?;
                let (values, depth) = named.extent();
                count += values;
                if count > MAX_VALUES || open.len() + depth > MAX_DEPTH {
                    return Err(TOO_BIG.into());
                }
                (named.clone(), 0)
            }
            Event::DocumentEnd => return Ok(Node::Null),
            _ => continue,
        };
        count += 1;
        if anchor > 0 {
            anchors.insert(anchor, node.clone());
        }
        let Some(parent) = open.last_mut() else { return Ok(node) };
        add(parent, node)?;
    }
    Ok(Node::Null)
}

fn scalar(text: &str, style: ScalarStyle, has_tag: bool) -> Node {
    if style != ScalarStyle::Plain || has_tag {
        return Node::Text(text.to_owned());
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Node::Null,
        "true" | "True" | "TRUE" | "yes" | "Yes" | "on" => Node::Bool(true),
        "false" | "False" | "FALSE" | "no" | "No" | "off" => Node::Bool(false),
        text => Node::Text(text.to_owned()),
    }
}

/// Adds a value to the list or map that contains it.
fn add(parent: &mut Open, node: Node) -> Result<(), String> {
    match &mut parent.content {
        Content::List { items, .. } => items.push(node),
        Content::Map { entries, places, merged, key } => match key.take() {
            None => *key = Some(node.to_text().ok_or("A key in the YAML is no text")?),
            Some(name) if name == "<<" => merged.push(node),
            // Of equal keys, the last one counts.
            Some(name) => match places.get(&name).and_then(|at| entries.get_mut(*at)) {
                Some((_, known)) => *known = node,
                None => {
                    places.insert(name.clone(), entries.len());
                    entries.push((name, node));
                }
            },
        },
    }
    Ok(())
}

/// Returns the value of a list or a map that ends.
fn close(content: Content) -> Result<Node, String> {
    let (mut entries, mut places, merged) = match content {
        Content::List { items, is_reference: false } => return Ok(Node::List(items)),
        Content::List { items, .. } => {
            let path: Option<Vec<String>> = items.iter().map(Node::to_text).collect();
            return Ok(Node::Reference(path.ok_or("A !reference in the YAML is no list of keys")?));
        }
        Content::Map { entries, places, merged, .. } => (entries, places, merged),
    };
    // Keys of the map itself count more than merged ones, and earlier merged ones more than later ones.
    for node in merged {
        let maps = if let Node::List(maps) = node { maps } else { vec![node] };
        for map in maps {
            let Node::Map(map) = map else { return Err("A << in the YAML names no map".into()) };
            for (key, value) in map {
                if !places.contains_key(&key) {
                    places.insert(key.clone(), entries.len());
                    entries.push((key, value));
                }
            }
        }
    }
    Ok(Node::Map(entries))
}

/// Writes a value as a document.
pub fn emit(node: &Node) -> String {
    let mut out = String::from("---\n");
    match node {
        Node::Map(_) | Node::List(_) => emit_block(node, 0, &mut out),
        other => {
            out.push_str(&flow(other));
            out.push('\n');
        }
    }
    out
}

/// Writes a list or a map, each entry on a line of its own.
fn emit_block(node: &Node, depth: usize, out: &mut String) {
    let pad = "  ".repeat(depth);
    match node {
        Node::Map(map) => {
            for (key, value) in map {
                out.push_str(&format!("{pad}{}:", quoted(key)));
                emit_value(value, depth, depth, out);
            }
        }
        Node::List(items) => {
            for item in items {
                match item {
                    // The first entry of a map follows the dash.
                    Node::Map(map) if !map.is_empty() => {
                        let mut inner = String::new();
                        emit_block(item, depth + 1, &mut inner);
                        out.push_str(&format!("{pad}- {}", inner.trim_start()));
                    }
                    _ => {
                        out.push_str(&format!("{pad}-"));
                        emit_value(item, depth, depth + 1, out);
                    }
                }
            }
        }
        _ => {}
    }
}

/// Writes a value after its key or dash. The entries of a list are at `list_depth`.
fn emit_value(value: &Node, depth: usize, list_depth: usize, out: &mut String) {
    match value {
        Node::Map(map) if !map.is_empty() => {
            out.push('\n');
            emit_block(value, depth + 1, out);
        }
        Node::List(items) if !items.is_empty() => {
            out.push('\n');
            emit_block(value, list_depth, out);
        }
        Node::Text(text) if is_literal(text) => {
            out.push_str(if text.ends_with('\n') { " |\n" } else { " |-\n" });
            for line in text.trim_end_matches('\n').split('\n') {
                out.push_str(&format!(
                    "{}{line}\n",
                    if line.is_empty() { String::new() } else { "  ".repeat(depth + 1) }
                ));
            }
        }
        other => out.push_str(&format!(" {}\n", flow(other))),
    }
}

/// Returns whether a text is written as lines.
fn is_literal(text: &str) -> bool {
    let lines = text.trim_end_matches('\n');
    lines.contains('\n')
        && !text.ends_with("\n\n")
        && !lines.starts_with([' ', '\n'])
        && !lines.contains(|c: char| c.is_control() && c != '\n')
}

/// Writes a value within its line.
fn flow(node: &Node) -> String {
    match node {
        Node::Null => "null".into(),
        Node::Bool(value) => value.to_string(),
        Node::Text(text) => quoted(text),
        Node::List(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Node::Map(map) => {
            let entry = |(key, value): &(String, Node)| format!("{}: {}", quoted(key), flow(value));
            format!("{{{}}}", map.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
        Node::Reference(path) => {
            format!("!reference [{}]", path.iter().map(|key| quoted(key)).collect::<Vec<_>>().join(", "))
        }
    }
}

/// Returns a text as it is if that reads as the same text, otherwise in quotes.
fn quoted(text: &str) -> String {
    let is_plain = scalar(text, ScalarStyle::Plain, false) == Node::Text(text.to_owned())
        && !text.starts_with(|c: char| "-?:,[]{}#&*!|>'\"%@` ".contains(c))
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.contains(char::is_control);
    if is_plain { text.to_owned() } else { serde_json::Value::from(text).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::cost;

    fn text(node: &Node, path: &[&str]) -> Option<String> {
        path.iter().try_fold(node, |node, key| node.get(key)).and_then(Node::to_text)
    }

    #[test]
    fn a_written_document_reads_as_the_same_value() {
        for text in [
            "a: 1\nb: [x, 'yes', ~, true]\nc: {d: {e: 'f: g'}, h: []}\n",
            "job:\n  script:\n    - |\n      one\n      two\n    - 'plain # not'\n    - \"- dash\"\n  needs: [{job: a, optional: true}, [b, c]]\n",
            "a: !reference [.b, script]\n'k: v': ''\nx: \"tab\\there\"\ny: |\n  last\n  line\n\n",
            "- - a\n- b: 1\n  c: 2\n",
        ] {
            let node = parse(text).unwrap();
            let written = emit(&node);
            assert_eq!(parse(&written).unwrap(), node, "{text}\n{written}");
        }
    }

    #[test]
    fn anchors_merges_and_references_are_read() {
        let node = parse(
            ".base: &base\n  image: a\n  tags: [x, y]\njob:\n  <<: *base\n  image: b\n  when: on\n  list: [1, 'yes', ~]\n  \
             script: !reference [.base, tags]\n",
        );
        let node = node.unwrap();
        assert_eq!(text(&node, &["job", "image"]).unwrap(), "b");
        assert_eq!(node.get("job").unwrap().get("tags").unwrap().texts().unwrap(), ["x", "y"]);
        assert_eq!(node.get("job").unwrap().get("when"), Some(&Node::Bool(true)));
        let list = [Node::Text("1".into()), Node::Text("yes".into()), Node::Null];
        assert_eq!(node.get("job").unwrap().get("list"), Some(&Node::List(list.into())));
        let path = vec![".base".to_owned(), "tags".to_owned()];
        assert_eq!(node.get("job").unwrap().get("script"), Some(&Node::Reference(path)));
        assert_eq!(parse("").unwrap(), Node::Null);
        assert_eq!(text(&parse("a: 1\na: 2").unwrap(), &["a"]).unwrap(), "2");
    }

    #[test]
    fn mistakes_name_their_line() {
        let why = parse("a: b\nc: d: e\n").unwrap_err();
        assert!(why.starts_with("(<unknown>): ") && why.contains(" at line 2 column "), "{why}");
        for wrong in ["a: *b", "[a]: b", "<<: x", "a: !reference [[b]]", "a: &x [*x]", "a: [", "\u{0}"] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn bombs_need_little_memory() {
        let mut laughs = "a: &a [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for (name, last) in ('b'..='i').zip('a'..) {
            laughs += &format!("{name}: &{name} [{}]\n", vec![format!("*{last}"); 10].join(", "));
        }
        let deep = "[".repeat(200_000);
        let chain =
            (0..2_000).fold("a0: &a0 x\n".to_owned(), |text, n| text + &format!("a{}: &a{} [*a{n}]\n", n + 1, n + 1));
        let many = "- a\n".repeat(400_000);
        for bomb in [laughs, deep, chain, many] {
            let (parsed, cost) = cost(|| parse(&bomb));
            assert!(parsed.is_err());
            assert!(cost.peak < 64 << 20, "{}", cost.peak);
        }
        assert!(parse(&" ".repeat(MAX_BYTES + 1)).is_err());
    }
}
