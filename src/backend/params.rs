//! The inputs of a request by name: path parameters, query and body (form or JSON) are merged, whatever the method, and
//! read into the struct of the endpoint.

use super::rejection::Rejection;
use api::endpoint::encode;
use api::input::{InputError, InputReader};
use api::{Endpoint, Id, InputType};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

/// The inputs of a request by name.
pub type Inputs = Map<String, Value>;

/// The maximum nesting depth of brackets in a name. The code that reads the values recurses, so a request must not
/// choose the depth.
const MAX_DEPTH: usize = 32;

/// The maximum number of values in the inputs of a request, including those in lists and objects. Each takes up to a
/// hundred times the memory of its text; a commit of twenty thousand files has this many.
pub const MAX_VALUES: usize = 100_000;

/// The inputs that may contain any character: file contents, and the path in an archive, which has its own error.
const ANY_TEXT: [&str; 3] = ["content", "code", "artifact_path"];

/// Adds the pairs of a query or a form: `a=1`, `a[]=1`, `a[key]=1`, `a[][key]=1`.
///
/// # Errors
/// Fails as [`add_pair`] does, and with 413 for more than [`MAX_VALUES`] values.
pub fn add_pairs(inputs: &mut Inputs, encoded: &[u8]) -> Result<(), Rejection> {
    let mut values = 0;
    for (name, value) in url::form_urlencoded::parse(encoded) {
        count(&mut values, &name)?;
        add_pair(inputs, &name, Value::String(value.into_owned()))?;
    }
    Ok(())
}

/// Counts the values that a name creates: its own, and one for each bracket.
fn count(values: &mut usize, name: &str) -> Result<(), Rejection> {
    // Names that nest too deep are rejected by [`add_pair`].
    *values += 1 + name.matches('[').take(MAX_DEPTH + 1).count();
    if *values > MAX_VALUES { Err(Rejection::too_many_values()) } else { Ok(()) }
}

/// Adds a named value; brackets in the name create arrays and objects.
///
/// # Errors
/// Fails with 400 `a is invalid` if brackets nest too deep.
pub fn add_pair(inputs: &mut Inputs, name: &str, value: Value) -> Result<(), Rejection> {
    let (first, rest) = match name.find('[') {
        Some(at) if at > 0 && name.ends_with(']') => name.split_at(at),
        _ => (name, ""),
    };
    let keys: Vec<&str> = rest.trim_start_matches('[').trim_end_matches(']').split("][").collect();
    let keys = if rest.is_empty() { Vec::new() } else { keys };
    if keys.len() > MAX_DEPTH {
        return Err(Rejection::invalid(first));
    }
    match inputs.get_mut(first) {
        Some(slot) => put(slot, &keys, value),
        None => {
            let mut slot = Value::Null;
            put(&mut slot, &keys, value);
            inputs.insert(first.to_owned(), slot);
        }
    }
    Ok(())
}

/// Adds the fields of a `multipart/form-data` body. A file becomes its name and its Base64-encoded bytes. Parts without a
/// name and a missing end are ignored. (multer stops at a part with a damaged head, is asynchronous though the body is
/// in memory, and would add two crates to save five lines.)
///
/// # Errors
/// Fails as [`add_pairs`] does.
pub fn add_multipart(inputs: &mut Inputs, content_type: &str, body: &[u8]) -> Result<(), Rejection> {
    let Some((_, boundary)) = content_type.split_once("boundary=") else { return Ok(()) };
    let boundary = boundary.split(';').next().unwrap_or_default().trim().trim_matches('"');
    let mark = format!("--{boundary}");
    let finder = memchr::memmem::Finder::new(mark.as_bytes());
    let (mut before, mut values) = (None, 0);
    // In the middle of a line it is content.
    let is_at_start = |at: &usize| *at == 0 || body.get(..*at).is_some_and(|before| before.ends_with(b"\r\n"));
    for to in finder.find_iter(body).filter(is_at_start) {
        let Some(from) = before.replace(to) else { continue };
        let part = body.get(from + mark.len()..to).unwrap_or_default();
        let Some(split) = memchr::memmem::find(part, b"\r\n\r\n") else { continue };
        let (head, value) = part.split_at(split);
        let head = String::from_utf8_lossy(head);
        let quoted = |key: &str| head.split_once(key)?.1.split_once('"').map(|(value, _)| value.to_owned());
        let Some(name) = quoted(" name=\"") else { continue };
        count(&mut values, &name)?;
        let bytes = value.get(4..).unwrap_or_default();
        let bytes = bytes.strip_suffix(b"\r\n").unwrap_or(bytes);
        let value = match quoted(" filename=\"") {
            Some(filename) => json!({ "filename": filename, "base64": STANDARD.encode(bytes) }),
            None => Value::String(String::from_utf8_lossy(bytes).into_owned()),
        };
        add_pair(inputs, &name, value)?;
    }
    Ok(())
}

/// Converts an array of labels, as current clients send it, to the comma-separated list of the specification.
pub fn as_specified(inputs: &mut Inputs) {
    if let Some(Value::Array(words)) = inputs.get("labels") {
        let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
        let joined = words.join(",");
        inputs.insert("labels".into(), joined.into());
    }
}

/// Renames the `content` of a snippet, as current clients send it, to `code`.
pub fn content_as_code(inputs: &mut Inputs) {
    if !inputs.contains_key("code")
        && let Some(text) = inputs.remove("content")
    {
        inputs.insert("code".into(), text);
    }
}

/// Inserts a value at a path of keys. Recurses once per key, and [`add_pair`] limits their number.
fn put(slot: &mut Value, keys: &[&str], value: Value) {
    let Some((key, deeper)) = keys.split_first() else {
        *slot = value;
        return;
    };
    if key.is_empty() {
        if !slot.is_array() {
            *slot = Value::Array(Vec::new());
        }
        let Value::Array(items) = slot else { return };
        // `a[][x]=1&a[][y]=2` is one element; a repeated key starts the next one.
        let grows = match (deeper.first(), items.last()) {
            (Some(key), Some(Value::Object(last))) => last.contains_key(*key) && deeper.len() == 1,
            _ => true,
        };
        if grows {
            items.push(Value::Null);
        }
        if let Some(last) = items.last_mut() {
            put(last, deeper, value);
        }
    } else {
        if !slot.is_object() {
            *slot = Value::Object(Map::new());
        }
        let Value::Object(map) = slot else { return };
        put(map.entry(key.to_owned()).or_insert(Value::Null), deeper, value);
    }
}

/// Reads the inputs of an operation.
///
/// # Errors
/// Fails with 400 and lists all mistakes: `{"error": "title is missing, page is invalid"}`.
pub fn read<E: Endpoint>(inputs: &Inputs) -> Result<E, Rejection> {
    read_about(inputs, None)
}

/// Reads inputs by name.
///
/// # Errors
/// Fails as [`read`] does.
pub fn read_with<T>(inputs: &Inputs, read: impl FnOnce(&mut InputReader) -> T) -> Result<T, Rejection> {
    read_from(reader(inputs, None), read)
}

/// Reads an optional input.
///
/// # Errors
/// Fails as [`read`] does.
pub fn option<T: InputType>(inputs: &Inputs, name: &str) -> Result<Option<T>, Rejection> {
    read_from(InputReader::new(inputs), |inputs| inputs.take(name))
}

/// Reads the inputs of an operation. `head` is the part of the route that names the object that it is about: a slot for
/// its project or group, and further slots for numbers.
///
/// # Errors
/// Fails as [`read`] does; a mistake in the path has the name of its slot.
pub fn read_about<E: Endpoint>(inputs: &Inputs, head: Option<&str>) -> Result<E, Rejection> {
    read_from(reader(inputs, head), E::read)
}

fn read_from<T>(mut reader: InputReader, read: impl FnOnce(&mut InputReader) -> T) -> Result<T, Rejection> {
    let read = read(&mut reader);
    refuse(&reader.mistakes()).map_or(Ok(read), Err)
}

// What follows does not depend on the operation, so that it is compiled once.

fn reader<'v>(inputs: &'v Inputs, head: Option<&str>) -> InputReader<'v> {
    let (mut path, mut mistakes) = (String::new(), with_nul(inputs));
    let Some(head) = head else { return InputReader::new(inputs).with(None, mistakes) };
    for segment in head.split('/').skip(1) {
        path.push('/');
        let Some(slot) = segment.strip_prefix('{').and_then(|slot| slot.strip_suffix('}')) else {
            path.push_str(segment);
            continue;
        };
        let value = inputs.get(slot).and_then(Value::as_str).unwrap_or_default();
        let is_valid = if slot == "id" { !value.contains('\0') } else { value.trim().parse::<u64>().is_ok() };
        if !is_valid {
            mistakes.push(InputError::invalid().inside(slot));
        }
        path.push_str(&encode(value.trim()));
    }
    InputReader::new(inputs).with(Some(path), mistakes)
}

fn refuse(mistakes: &[InputError]) -> Option<Rejection> {
    let mut words: Vec<String> = mistakes.iter().map(InputError::to_string).collect();
    words.dedup();
    (!words.is_empty()).then(|| Rejection::error(400, words.join(", ")))
}

/// Lists the inputs that contain a NUL: names and messages in git end there.
fn with_nul(inputs: &Inputs) -> Vec<InputError> {
    let holds_nul = |(name, value): (&String, &Value)| {
        if ANY_TEXT.contains(&name.as_str()) {
            return None;
        }
        nul_in(value).map(|error| error.inside(name))
    };
    inputs.iter().filter_map(holds_nul).collect()
}

fn nul_in(value: &Value) -> Option<InputError> {
    match value {
        Value::String(text) => text.contains('\0').then(InputError::invalid),
        Value::Array(items) => items.iter().enumerate().find_map(|(index, item)| {
            let error = nul_in(item)?;
            Some(if item.is_object() { error.inside(&format!("[{index}]")) } else { error })
        }),
        Value::Object(fields) => with_nul(fields).into_iter().next(),
        _ => None,
    }
}

/// Returns whether a text is a valid path of a user, group or project.
pub fn is_path(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    !text.is_empty()
        && text.len() <= 255
        && text.chars().all(plain)
        && !text.starts_with(['-', '.'])
        && ![".", ".git", ".atom"].iter().any(|end| text.ends_with(end))
}

/// Checks the filter by a person: a number, `None` or `Any` (GitLab, `lib/api/validations/validators/integer_none_any.rb`).
///
/// # Errors
/// Fails with 400 if it is another word.
pub fn check_person(name: &str, wanted: Option<&Id>) -> Result<(), Rejection> {
    let word = wanted.map_or("", Id::as_str);
    let is_word = ["", "none", "any"].iter().any(|known| word.eq_ignore_ascii_case(known));
    if is_word || word.parse::<u64>().is_ok() {
        return Ok(());
    }
    let words = format!("{name} should be an integer, 'None' or 'Any', however got {word}");
    Err(Rejection::error(400, words))
}

/// Returns whether the people of a record fit a filter: the ID of one of them, or `None` or `Any`; 0 is nobody, too.
pub fn person_fits(wanted: Option<&Id>, mut people: impl Iterator<Item = u64>) -> bool {
    wanted.is_none_or(|wanted| match wanted.as_str() {
        "0" => people.next().is_none(),
        word if word.eq_ignore_ascii_case("none") => people.next().is_none(),
        word if word.eq_ignore_ascii_case("any") => people.next().is_some(),
        id => people.any(|person| person.to_string() == id),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[derive(Debug, PartialEq, Default)]
    struct Example {
        title: String,
        page: Option<u32>,
        open: Option<bool>,
        scope: Option<Vec<String>>,
        ids: Option<Vec<u64>>,
        attributes: Option<BTreeMap<String, String>>,
        actions: Option<Vec<Action>>,
    }

    api::input_object! {
        #[derive(Debug, PartialEq, Default)]
        struct Action {
            action: String,
            force: Option<bool>,
        }
    }

    fn read(inputs: &Inputs) -> Result<Example, Rejection> {
        read_with(inputs, |inputs| Example {
            title: inputs.take("title"),
            page: inputs.take("page"),
            open: inputs.take("open"),
            scope: inputs.take("scope"),
            ids: inputs.take("ids"),
            attributes: inputs.take("attributes"),
            actions: inputs.take("actions"),
        })
    }

    fn form(text: &str) -> Result<Example, String> {
        let mut inputs = Inputs::new();
        add_pairs(&mut inputs, text.as_bytes()).unwrap();
        read(&inputs).map_err(|rejection| {
            assert_eq!(rejection.status, 400);
            rejection.body["error"].as_str().unwrap_or_default().to_owned()
        })
    }

    #[test]
    fn text_is_parsed_by_type() {
        let example = form("title=5&page=+7&open=Yes&scope=failed&ids[]=3&ids[]=4&attributes[a.b]=c").unwrap();
        assert_eq!(example.title, "5");
        assert_eq!(example.page, Some(7));
        assert_eq!(example.open, Some(true));
        assert_eq!(example.scope, Some(vec!["failed".to_string()]));
        assert_eq!(example.ids, Some(vec![3, 4]));
        assert_eq!(example.attributes, Some(BTreeMap::from([("a.b".to_string(), "c".to_string())])));
    }

    #[test]
    fn json_numbers_and_text_are_interchangeable() {
        let Value::Object(inputs) = serde_json::json!({"title": 12, "page": "3", "open": 1, "ids": "9"}) else {
            unreachable!()
        };
        let example: Example = read(&inputs).unwrap();
        assert_eq!((example.title.as_str(), example.page, example.open), ("12", Some(3), Some(true)));
        assert_eq!(example.ids, Some(vec![9]));
    }

    #[test]
    fn inputs_of_current_clients_are_converted() {
        let mut inputs = Inputs::new();
        add_pairs(&mut inputs, b"labels[]=a&labels[]=b%20c&content=text").unwrap();
        as_specified(&mut inputs);
        content_as_code(&mut inputs);
        assert_eq!((&inputs["labels"], &inputs["code"]), (&Value::from("a,b c"), &Value::from("text")));
    }

    #[test]
    fn multipart_form_is_parsed_like_a_form() {
        let body = "--x\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\ntwo\r\nlines\r\n--x\r\n\
                    Content-Disposition: form-data; name=\"ids[]\"\r\n\r\n7\r\n--x--\r\n";
        let mut inputs = Inputs::new();
        add_multipart(&mut inputs, "multipart/form-data; boundary=x", body.as_bytes()).unwrap();
        let example: Example = read(&inputs).unwrap();
        assert_eq!((example.title.as_str(), example.ids), ("two\r\nlines", Some(vec![7])));
    }

    #[test]
    fn damaged_parts_and_boundaries_inside_lines_are_tolerated() {
        let title = |parts: &str| {
            let body = format!("{parts}--x\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\na --x b\r\n--x");
            let mut inputs = Inputs::new();
            add_multipart(&mut inputs, "multipart/form-data; boundary=x", body.as_bytes()).unwrap();
            Value::Object(inputs)
        };
        for parts in ["", "preamble\r\n", "--x\r\nA: b\r\n\r\nno name\r\n", "--x\r\n\u{1}\r\n\r\nno head\r\n"] {
            assert_eq!(title(parts), json!({"title": "a --x b"}), "{parts:?}");
        }
    }

    #[test]
    fn deeply_nested_names_are_rejected() {
        let mut inputs = Inputs::new();
        let name = |depth: usize| format!("a{}", "[b]".repeat(depth));
        assert!(add_pair(&mut inputs, &name(32), Value::Null).is_ok());
        let rejection = add_pair(&mut inputs, &name(200_000), Value::Null).unwrap_err();
        assert_eq!(rejection, Rejection::error(400, "a is invalid"));
        assert!(add_pair(&mut inputs, &format!("a{}", "[]".repeat(200_000)), Value::Null).is_err());
    }

    #[test]
    fn empty_numbers_are_absent() {
        assert_eq!(form("title=x&page=&open=").unwrap(), Example { title: "x".into(), ..Example::default() });
    }

    #[test]
    fn errors_name_the_input() {
        assert_eq!(form("page=abc&open=maybe").unwrap_err(), "open is invalid, page is invalid, title is missing");
        assert_eq!(form("").unwrap_err(), "title is missing");
        assert_eq!(form("title=x&ids[]=one").unwrap_err(), "ids is invalid");
    }

    #[test]
    fn text_with_nul_is_rejected_by_name() {
        assert_eq!(form("title=a%00").unwrap_err(), "title is invalid");
        assert_eq!(form("title=x&scope[]=a&scope[]=%00").unwrap_err(), "scope is invalid");
        assert_eq!(form("title=x&actions[][action]=%00").unwrap_err(), "actions[0][action] is invalid");
    }

    #[test]
    fn errors_in_arrays_of_objects_name_the_place() {
        let example = form("title=x&actions[][action]=a&actions[][force]=on&actions[][action]=b").unwrap();
        let actions = example.actions.unwrap();
        assert_eq!(actions.len(), 2);
        assert_eq!(actions[0], Action { action: "a".into(), force: Some(true) });
        assert_eq!(form("title=x&actions[][force]=1").unwrap_err(), "actions[0][action] is missing");
    }
}
