//! Finds the field at a position of a JSON text: `[0].author.id`. It runs only after parsing has failed, and is not
//! generic over the parsed type.

/// Returns the path of the value at `line` and `column` (both counted from 1, the column in bytes, like serde_json);
/// `.` for the whole text.
pub fn at(text: &[u8], line: usize, column: usize) -> String {
    let start = text.split_inclusive(|b| *b == b'\n').take(line.saturating_sub(1)).map(<[u8]>::len).sum::<usize>();
    // The column is that of the last byte that the parser read.
    let end = (start + column.max(1)).min(text.len());
    let mut steps: Vec<Step> = Vec::new();
    let mut string: Option<usize> = None;
    let mut index = 0;
    while let Some(byte) = text.get(index).filter(|_| index < end) {
        match (string, byte) {
            (Some(_), b'\\') => index += 1,
            (Some(from), b'"') => {
                string = None;
                if let Some(Step::Key { name, named }) = steps.last_mut()
                    && !*named
                {
                    *name = String::from_utf8_lossy(text.get(from..index).unwrap_or_default()).into_owned();
                }
            }
            (Some(_), _) => {}
            (None, b'"') => string = Some(index + 1),
            (None, b'{') => steps.push(Step::Key { name: String::new(), named: false }),
            (None, b'[') => steps.push(Step::Index(0)),
            // A bracket at the position itself still belongs to the value.
            (None, b'}' | b']') if index + 1 < end => {
                steps.pop();
            }
            (None, b':') => {
                if let Some(Step::Key { named, .. }) = steps.last_mut() {
                    *named = true;
                }
            }
            (None, b',') if index + 1 < end => match steps.last_mut() {
                Some(Step::Index(number)) => *number += 1,
                Some(Step::Key { name, named }) => {
                    name.clear();
                    *named = false;
                }
                None => {}
            },
            (None, _) => {}
        }
        index += 1;
    }
    let mut path = String::new();
    for step in &steps {
        match step {
            Step::Index(number) => path.push_str(&format!("[{number}]")),
            Step::Key { name, named: true } if path.is_empty() => path.push_str(name),
            Step::Key { name, named: true } => path.push_str(&format!(".{name}")),
            Step::Key { .. } => {}
        }
    }
    if path.is_empty() { ".".into() } else { path }
}

enum Step {
    /// A position in an object; `named` is set after the colon that follows the key.
    Key { name: String, named: bool },
    /// A position in an array, at this element.
    Index(usize),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure<T: serde::de::DeserializeOwned + std::fmt::Debug>(text: &str) -> String {
        let error = serde_json::from_str::<T>(text).map(|_| ()).expect_err("a text that does not fit");
        at(text.as_bytes(), error.line(), error.column())
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
    }

    #[test]
    fn invalid_json_has_no_field() {
        assert_eq!(failure::<Thing>("nonsense"), ".");
        assert_eq!(failure::<Thing>(""), ".");
        assert_eq!(at(b"{}", 99, 99), ".");
    }
}
