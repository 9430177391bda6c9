//! Makes replies readable whose fields have other types than expected, as some versions of servers send them.
//!
//! Real servers send numbers as text (`"x": "62.14"`), text where older ones sent numbers, null in a list, or a key
//! twice. One such field must not hide everything else in the reply. This code runs only after a reply could not be
//! parsed, and is compiled once for all types.

use super::error_path::{FieldPath, Step, path_at};
use super::loose_json;
use serde_json::{Error, Number, Result, Value};

/// The text that stands for one that cannot be read.
const UNREADABLE: &str = "(unreadable)";
/// The fields of list elements that people see first.
const HEADINGS: [&str; 4] = ["title", "name", "body", "message"];
/// The maximum number of bytes to parse again, all attempts together.
const MAX_PARSED_BYTES: usize = 256 << 20;
/// The maximum number of attempts, for short replies.
const MAX_ATTEMPTS: usize = 500;

/// Parses `body` with `parse`, which failed with `error`, after repairing the fields that it reports. A number or a
/// boolean that is sent as text becomes what it looks like, and the reverse. A text or an element of a list that cannot
/// be read says so; everything else becomes null, so that the field is missing. The same field of all elements of a
/// list is repaired at once.
///
/// # Errors
/// Returns the original error if the reply as a whole is not of the expected type, is not JSON, or has too many such
/// fields.
pub fn parse_repaired(body: &[u8], error: Error, parse: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
    // Of a key that occurs twice, the last value remains.
    let parsed = serde_json::from_slice(body).or_else(|_| serde_json::from_slice(&loose_json::to_strict(body)));
    let Ok::<Value, _>(mut reply) = parsed else { return Err(error) };
    let mut parsed = 0_usize;
    for _ in 0..MAX_ATTEMPTS {
        let text = serde_json::to_vec(&reply)?;
        parsed = parsed.saturating_add(text.len());
        let Err(next) = parse(&text) else { return Ok(()) };
        let path = path_at(&text, next.line(), next.column());
        if path.0.is_empty() || parsed > MAX_PARSED_BYTES {
            return Err(error);
        }
        tracing::warn!(field = %path, reason = %next, "a field of a reply is of another type");
        let expected = Expected::of(&next);
        let Some(kind) = get(&reply, &path).map(|value| Kind::of(value, expected)) else { return Err(error) };
        repair(&mut reply, &path.0, kind, expected);
    }
    Err(error)
}

/// The type that the parser expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Text,
    /// A number within these bounds, of a type for whole numbers, or any number.
    Number(Option<(i128, i128)>),
    Bool,
    Object,
    Array,
    Other,
}

impl Expected {
    /// Reads the expected type from the parser's message, which is the only place that has it.
    fn of(error: &Error) -> Expected {
        let message = error.to_string();
        let expected = message.rsplit_once("expected ").map_or("", |(_, expected)| expected);
        let begins = |words: &[&str]| words.iter().any(|word| expected.starts_with(word));
        match () {
            () if begins(&["a string", "a borrowed string", "string"]) => Expected::Text,
            () if begins(&["u64", "usize"]) => Expected::Number(Some((0, u64::MAX.into()))),
            () if begins(&["u32"]) => Expected::Number(Some((0, u32::MAX.into()))),
            () if begins(&["u16"]) => Expected::Number(Some((0, u16::MAX.into()))),
            () if begins(&["u8"]) => Expected::Number(Some((0, u8::MAX.into()))),
            () if begins(&["i64"]) => Expected::Number(Some((i64::MIN.into(), i64::MAX.into()))),
            () if begins(&["i32"]) => Expected::Number(Some((i32::MIN.into(), i32::MAX.into()))),
            () if begins(&["f64"]) => Expected::Number(None),
            () if begins(&["a boolean"]) => Expected::Bool,
            () if begins(&["struct", "a map", "map"]) => Expected::Object,
            () if begins(&["a sequence", "a tuple"]) => Expected::Array,
            () => Expected::Other,
        }
    }
}

/// The kinds of values that a type accepts or refuses together.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Null,
    Bool,
    /// A whole number. If numbers are expected, this one is within their bounds.
    Whole(bool),
    Fraction,
    Text,
    Array,
    Object,
}

impl Kind {
    fn of(value: &Value, expected: Expected) -> Kind {
        match value {
            Value::Null => Kind::Null,
            Value::Bool(_) => Kind::Bool,
            Value::Number(number) => match number.as_i128() {
                Some(whole) => Kind::Whole(match expected {
                    Expected::Number(Some((least, greatest))) => (least..=greatest).contains(&whole),
                    _ => true,
                }),
                None => Kind::Fraction,
            },
            Value::String(_) => Kind::Text,
            Value::Array(_) => Kind::Array,
            Value::Object(_) => Kind::Object,
        }
    }
}

fn get<'a>(value: &'a Value, path: &FieldPath) -> Option<&'a Value> {
    path.0.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.get(key),
        Step::Index(index) => value.get(index),
    })
}

/// Repairs the value at `path`, and the same field of the other elements of all lists on the way, where it is of the
/// same kind.
fn repair(value: &mut Value, path: &[Step], kind: Kind, expected: Expected) {
    let Some((step, rest)) = path.split_first() else { return };
    let keep = |value: &mut Value| match rest {
        [] if Kind::of(value, expected) == kind => match repaired(value.take(), expected) {
            Some(next) => {
                *value = next;
                true
            }
            None => false,
        },
        rest => {
            repair(value, rest, kind, expected);
            true
        }
    };
    match (step, value) {
        (Step::Key(key), Value::Object(fields)) => {
            let is_refused = fields.get_mut(key).is_some_and(|value| !keep(value));
            if is_refused {
                fields.remove(key);
            }
        }
        (Step::Index(_), Value::Array(elements)) => elements.retain_mut(keep),
        _ => {}
    }
}

/// Returns the next value to try instead of one that does not fit, or `None` if only leaving it out is left. Each kind
/// leads only to later ones: text, number, whole number, null, empty, nothing.
fn repaired(value: Value, expected: Expected) -> Option<Value> {
    Some(match (value, expected) {
        (Value::Number(number), Expected::Text) => Value::String(number.to_string()),
        (Value::Bool(is_set), Expected::Text) => Value::String(is_set.to_string()),
        (Value::Object(_) | Value::Array(_), Expected::Text) => Value::String(UNREADABLE.to_owned()),
        (Value::String(text), Expected::Number(_) | Expected::Bool) => scalar(text.trim()),
        (Value::Number(number), Expected::Bool) => match number.as_u64() {
            Some(bit @ (0 | 1)) => Value::Bool(bit == 1),
            _ => Value::Null,
        },
        (Value::Number(number), Expected::Number(_)) if number.is_f64() => whole(&number),
        (Value::Null, Expected::Object) => {
            Value::Object(HEADINGS.iter().map(|name| ((*name).to_owned(), UNREADABLE.into())).collect())
        }
        (Value::Null, Expected::Array) => Value::Array(Vec::new()),
        (Value::Null, Expected::Text) => Value::String(String::new()),
        (Value::Null, Expected::Number(_)) => Value::from(0),
        (Value::Null, Expected::Bool) => Value::Bool(false),
        (Value::Null, Expected::Other) => return None,
        _ => Value::Null,
    })
}

/// Returns the number or boolean that a text looks like, else null.
fn scalar(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(value @ (Value::Number(_) | Value::Bool(_))) => value,
        _ => Value::Null,
    }
}

/// Returns a number without its fraction, else null.
fn whole(number: &Number) -> Value {
    // Beyond 2^53, a fraction is not exact, and neither would be the number.
    match number.as_f64().map(f64::trunc) {
        Some(whole) if whole.abs() <= 9_007_199_254_740_992.0 => Value::from(whole as i64),
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use crate::Nullable;
    use crate::json::from_reply;
    use serde::Deserialize;

    crate::resource! {
        /// An author.
        pub struct Author {
            name: String,
        }
    }

    crate::resource! {
        /// A thing with a field of each kind.
        pub struct Thing {
            id: u64,
            title: String,
            ratio: f64,
            done: bool,
            count: Option<u64>,
            author: Option<Author>,
            tags: Vec<String>,
        }
        views {
            seen: Nullable<u64>,
            x: Option<f64>,
        }
    }

    fn read(text: &str) -> Vec<Thing> {
        from_reply(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn scalars_become_what_they_look_like() {
        let things = read(
            r#"[{"id": "7", "title": 18, "ratio": " 62.5 ", "done": "true", "count": "12.9", "seen": "3", "x": "-1e2"},
                {"id": 8.0, "title": true, "ratio": 3, "done": 1, "count": "many", "seen": [], "x": {}}]"#,
        );
        let (first, second) = (&things[0], &things[1]);
        assert_eq!((first.id, first.title.as_str(), first.ratio, first.done), (7, "18", 62.5, true));
        assert_eq!((first.count, *first.seen, first.x), (Some(12), Some(3), Some(-100.0)));
        assert_eq!((second.id, second.title.as_str(), second.ratio, second.done), (8, "true", 3.0, true));
        assert_eq!((second.count, *second.seen, second.x), (None, None, None));
    }

    #[test]
    fn one_odd_element_leaves_the_others_as_they_are() {
        for odd in [
            "null",
            "\"x\"",
            "7",
            "[1]",
            "true",
            r#"{"id": "22ef943c", "title": ["x"], "author": "bob", "tags": {"a": 1}, "done": "maybe"}"#,
            r#"{"id": 1e300, "author": {"name": {"first": "a"}}, "tags": [1, null, {"a": 2}], "count": -1}"#,
            r#"{"id": 1, "id": 2, "title": "twice", "title": "twice"}"#,
        ] {
            let things = read(&format!(r#"[{{"id": 1, "title": "a"}}, {odd}, {{"id": 3, "title": "c"}}]"#));
            let ends: Vec<(u64, &str)> = [&things[0], &things[2]].map(|thing| (thing.id, thing.title.as_str())).into();
            assert_eq!((things.len(), ends), (3, vec![(1, "a"), (3, "c")]), "{odd}");
        }
        assert_eq!(read(r#"[{"id": 1, "id": 2, "title": "twice"}]"#)[0].id, 2);
        assert_eq!(read(r#"[{"id": 1, "title": {"en": "x"}}]"#)[0].title, "(unreadable)");
        assert_eq!(read(r#"["x", {"id": 1}]"#)[0].title, "(unreadable)");
    }

    #[test]
    fn one_odd_author_leaves_a_conversation_as_it_is() {
        for odd in [
            "[]",
            "[1]",
            "[\"bo\", 7]",
            "[[1], {}]",
            "\"bo\"",
            "7",
            "true",
            "[null, null, null]",
            r#"{"id": [], "username": {}}"#,
        ] {
            let text = format!(
                r#"[{{"id": "a", "notes": [{{"id": 1, "body": "one", "author": {odd}}}, {{"id": 2, "body": "two"}}]}},
                    {{"id": "b", "notes": [{{"id": 3, "body": "three", "author": {{"id": 4, "username": "cy"}}}}]}}]"#
            );
            let threads: Vec<crate::discussions::Discussion> =
                from_reply(text.as_bytes()).unwrap_or_else(|error| panic!("{odd}: {error}"));
            let bodies: Vec<&str> =
                threads.iter().flat_map(|thread| &thread.notes).map(|note| note.body.as_str()).collect();
            assert_eq!(bodies, ["one", "two", "three"], "{odd}");
            let known = threads[1].notes[0].author.as_ref().map(|author| author.username.as_str());
            assert_eq!(known, Some("cy"), "{odd}");
        }
    }

    #[test]
    fn text_that_is_nearly_json_leaves_the_others_as_they_are() {
        let deep = format!(r#"{{"id": "2", "more": {}1{}}}"#, "[".repeat(300), "]".repeat(300));
        for (odd, title) in [
            (&br#"{"title": "b", "count": 1e999, "ratio": -1E+400}"#[..], "b"),
            (br#"{"title": "b", "count": 007, "ratio": NaN, "x": -Infinity}"#, "b"),
            (br#"{"title": "b\ud83d"}"#, "b\u{fffd}"),
            (br#"{"title": "\uDE00\ud83d\ude00\ud83d\n\\\""}"#, "\u{fffd}\u{1f600}\u{fffd}\n\\\""),
            (b"{\"title\": \"caf\xe9\"}", "caf\u{fffd}"),
            (b"{\"title\": \"a\tb\nc\x07\", \"a\nb\": 1}", "a\tb\nc\u{7}"),
            (br#"{"title": "a\'b\x"}"#, "a'bx"),
            (deep.as_bytes(), ""),
        ] {
            let parts: [&[u8]; 3] = [b"\xef\xbb\xbf[{\"id\": 1}, ", odd, b", {\"id\": 3}]"];
            let read: Vec<Thing> = from_reply(&parts.concat()).unwrap_or_else(|error| panic!("{odd:?}: {error}"));
            let ids: Vec<u64> = read.iter().map(|thing| thing.id).collect();
            assert_eq!((read[1].title.as_str(), ids[0], ids[2], ids.len()), (title, 1, 3, 3), "{odd:?}");
        }
    }

    #[test]
    fn a_reply_of_another_type_is_an_error() {
        for text in ["{}", "null", "7", "\"text\"", "[{\"id\": \"x\"", "", "<html>"] {
            assert!(from_reply::<Vec<Thing>>(text.as_bytes()).is_err(), "{text}");
        }
        let error = from_reply::<Thing>(b"7").expect_err("a number is not a thing");
        assert!(error.to_string().contains("expected struct Thing"), "{error}");
    }

    #[test]
    fn many_odd_elements_cost_as_little_as_one() {
        let odd = |n| format!(r#"{{"id": "7", "x": "1", "tags": [1, 2], "count": -{n}}}"#);
        let text = format!("[{}]", (1..20_000).map(odd).collect::<Vec<_>>().join(","));
        let mut attempts = 0;
        let error = serde_json::from_str::<Vec<Thing>>(&text).expect_err("the numbers are text");
        let repaired = super::parse_repaired(text.as_bytes(), error, &mut |text| {
            attempts += 1;
            serde_json::from_slice::<Vec<Thing>>(text).map(drop)
        });
        assert!(repaired.is_ok() && attempts <= 6, "{attempts} attempts");
    }

    #[test]
    fn hopeless_replies_end_after_a_bounded_number_of_attempts() {
        let mut attempts = 0;
        let odd = |_: &[u8]| {
            #[derive(Debug, Deserialize)]
            struct Never {
                #[allow(dead_code)]
                missing: u64,
            }
            serde_json::from_str::<Vec<Never>>("[{}]").map(drop)
        };
        let error = odd(b"").expect_err("a field is missing");
        let repaired = super::parse_repaired(b"[{}]", error, &mut |text| {
            attempts += 1;
            odd(text)
        });
        assert!(repaired.is_err() && attempts <= super::MAX_ATTEMPTS, "{attempts} attempts");
    }
}
