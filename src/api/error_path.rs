//! Finds the path of the field in which the parsing of a JSON text failed, such as `[0].author.id`, from the line and
//! column of the error. It runs only after a failure, and is not generic over the parsed type.

use std::fmt;

/// The path of a value in a JSON text; empty for the whole text. Displayed as `[0].author.id`, or `.`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldPath(pub Vec<Step>);

/// A step of a path, from a value into one that it contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// To the value of a key.
    Key(String),
    /// To an element of an array, from 0.
    Index(usize),
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.0.iter().enumerate() {
            match step {
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Key(name) if at == 0 => f.write_str(name)?,
                Step::Key(name) => write!(f, ".{name}")?,
            }
        }
        if self.0.is_empty() { f.write_str(".") } else { Ok(()) }
    }
}

/// Returns the path of the value at `line` and `column` (both counted from 1, the column in bytes, like serde_json).
pub fn path_at(text: &[u8], line: usize, column: usize) -> FieldPath {
    let start = text.split_inclusive(|b| *b == b'\n').take(line.saturating_sub(1)).map(<[u8]>::len).sum::<usize>();
    // The column is that of the last byte that the parser read.
    let end = (start + column.max(1)).min(text.len());
    let mut segments: Vec<PathSegment> = Vec::new();
    let mut string_start: Option<usize> = None;
    let mut at = 0;
    while let Some(byte) = text.get(at).filter(|_| at < end) {
        match (string_start, byte) {
            (Some(_), b'\\') => at += 1,
            (Some(start), b'"') => {
                string_start = None;
                if let Some(PathSegment::Key { name, in_value }) = segments.last_mut()
                    && !*in_value
                {
                    *name = String::from_utf8_lossy(text.get(start..at).unwrap_or_default()).into_owned();
                }
            }
            (Some(_), _) => {}
            (None, b'"') => string_start = Some(at + 1),
            (None, b'{') => segments.push(PathSegment::Key { name: String::new(), in_value: false }),
            (None, b'[') => segments.push(PathSegment::Index(0)),
            // A bracket at the position itself still belongs to the value.
            (None, b'}' | b']') if at + 1 < end => {
                segments.pop();
            }
            (None, b':') => {
                if let Some(PathSegment::Key { in_value, .. }) = segments.last_mut() {
                    *in_value = true;
                }
            }
            // An object or null at the start of an element is refused before it is read: the comma is then the last
            // byte that was.
            (None, b',') => match segments.last_mut() {
                Some(PathSegment::Index(index)) => *index += 1,
                Some(PathSegment::Key { name, in_value }) if at + 1 < end => {
                    name.clear();
                    *in_value = false;
                }
                _ => {}
            },
            (None, _) => {}
        }
        at += 1;
    }
    let steps = segments.into_iter().filter_map(|segment| match segment {
        PathSegment::Index(index) => Some(Step::Index(index)),
        PathSegment::Key { name, in_value } => in_value.then_some(Step::Key(name)),
    });
    FieldPath(steps.collect())
}

enum PathSegment {
    /// A position in an object; `in_value` is set after the colon that follows the key.
    Key { name: String, in_value: bool },
    /// A position in an array, at this element.
    Index(usize),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure<T: serde::de::DeserializeOwned + std::fmt::Debug>(text: &str) -> String {
        let error = serde_json::from_str::<T>(text).map(|_| ()).expect_err("a text that does not fit");
        path_at(text.as_bytes(), error.line(), error.column()).to_string()
    }

    #[derive(Debug, serde::Deserialize)]
    #[allow(dead_code)]
    struct Thing {
        id: u64,
        author: Option<Author>,
        tags: Option<Vec<u8>>,
    }

    #[derive(Debug, serde::Deserialize)]
    #[allow(dead_code)]
    struct Author {
        name: String,
    }

    #[test]
    fn the_invalid_field_is_named() {
        assert_eq!(failure::<Thing>(r#"{"id": "seven"}"#), "id");
        assert_eq!(failure::<Vec<Thing>>(r#"[{"id": 1}, {"id": 2, "author": {"name": 3}}]"#), "[1].author.name");
        assert_eq!(failure::<Thing>("{\n  \"id\": 1,\n  \"tags\": [1, \"a,b\", 3]\n}"), "tags[1]");
        assert_eq!(failure::<Thing>(r#"{"id": 1, "tags": {"a": 1}}"#), "tags");
        assert_eq!(failure::<Thing>(r#"{"x": {"id": 3}, "id": true}"#), "id");
        for odd in ["{}", "null", "[1]", "\"x\"", "true", "1.5"] {
            assert_eq!(failure::<Vec<u64>>(&format!("[7,{odd},8]")), "[1]", "{odd}");
            assert_eq!(failure::<Vec<u64>>(&format!("[{odd}, 8]")), "[0]", "{odd}");
            assert_eq!(failure::<Thing>(&format!("{{\"id\":1,\"tags\":[1,{odd}]}}")), "tags[1]", "{odd}");
        }
    }

    #[test]
    fn invalid_json_has_no_field() {
        assert_eq!(failure::<Thing>("nonsense"), ".");
        assert_eq!(failure::<Thing>(""), ".");
        assert_eq!(path_at(b"{}", 99, 99).to_string(), ".");
    }
}
