//! Finds the path of the field in which the parsing of a JSON text failed, such as `[0].author.id`, from the line and
//! column of the error. It runs only after a failure, and is not generic over the parsed type.

/// Returns the path of the value at `line` and `column` (both counted from 1, the column in bytes, like serde_json);
/// `.` for the whole text.
pub fn path_at(text: &[u8], line: usize, column: usize) -> String {
    let mut path = String::new();
    for segment in &segments_at(text, line, column) {
        match segment {
            PathSegment::Index(index) => path.push_str(&format!("[{index}]")),
            PathSegment::Key(name) if path.is_empty() => path.push_str(name),
            PathSegment::Key(name) => path.push_str(&format!(".{name}")),
        }
    }
    if path.is_empty() { ".".into() } else { path }
}

/// A step from a value to one inside it.
#[derive(Debug, PartialEq)]
pub enum PathSegment {
    /// To the field of an object.
    Key(String),
    /// To the element of an array.
    Index(usize),
}

/// Returns the steps from the whole text to the value at `line` and `column`, as [`path_at`] does. A key that is not
/// followed by a value yet is the last step.
pub fn segments_at(text: &[u8], line: usize, column: usize) -> Vec<PathSegment> {
    let start = text.split_inclusive(|b| *b == b'\n').take(line.saturating_sub(1)).map(<[u8]>::len).sum::<usize>();
    // The column is that of the last byte that the parser read.
    let end = (start + column.max(1)).min(text.len());
    let mut open: Vec<Open> = Vec::new();
    let mut string_start: Option<usize> = None;
    let mut at = 0;
    while let Some(byte) = text.get(at).filter(|_| at < end) {
        match (string_start, byte) {
            (Some(_), b'\\') => at += 1,
            (Some(start), b'"') => {
                string_start = None;
                if let Some(Open::Object { key, in_value }) = open.last_mut()
                    && !*in_value
                {
                    *key = String::from_utf8_lossy(text.get(start..at).unwrap_or_default()).into_owned();
                }
            }
            (Some(_), _) => {}
            (None, b'"') => string_start = Some(at + 1),
            (None, b'{') => open.push(Open::Object { key: String::new(), in_value: false }),
            (None, b'[') => open.push(Open::Array(0)),
            // A bracket at the position itself still belongs to the value.
            (None, b'}' | b']') if at + 1 < end => {
                open.pop();
            }
            (None, b':') => {
                if let Some(Open::Object { in_value, .. }) = open.last_mut() {
                    *in_value = true;
                }
            }
            (None, b',') if at + 1 < end => match open.last_mut() {
                Some(Open::Array(index)) => *index += 1,
                Some(Open::Object { key, in_value }) => {
                    key.clear();
                    *in_value = false;
                }
                None => {}
            },
            (None, _) => {}
        }
        at += 1;
    }
    let segment = |open| match open {
        Open::Array(index) => Some(PathSegment::Index(index)),
        Open::Object { key, .. } => Some(PathSegment::Key(key)).filter(|key| *key != PathSegment::Key(String::new())),
    };
    open.into_iter().filter_map(segment).collect()
}

/// An array or an object that the position is in.
enum Open {
    /// An object, at this key; `in_value` is set after the colon that follows the key.
    Object { key: String, in_value: bool },
    /// An array, at this element.
    Array(usize),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure<T: serde::de::DeserializeOwned + std::fmt::Debug>(text: &str) -> String {
        let error = serde_json::from_str::<T>(text).map(|_| ()).expect_err("a text that does not fit");
        path_at(text.as_bytes(), error.line(), error.column())
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
        assert_eq!(failure::<Thing>(r#"{"id": 1, "author": {}}"#), "author");
        assert_eq!(failure::<Thing>(r#"{"id": 1, "id": 2}"#), "id");
    }

    #[test]
    fn invalid_json_has_no_field() {
        assert_eq!(failure::<Thing>("nonsense"), ".");
        assert_eq!(failure::<Thing>(""), ".");
        assert_eq!(path_at(b"{}", 99, 99), ".");
    }
}
