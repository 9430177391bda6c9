//! Deserializes the inputs of a request into the struct of its endpoint, as leniently as GitLab servers do.
//!
//! Path parameters, query and body (form or JSON) are merged, whatever the method. Numbers and booleans may be strings,
//! a scalar stands for an array of one element, and an empty string for a number counts as absent.

use super::rejection::Rejection;
use crate::api::Id;
use crate::api::endpoint::encode;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde::de::value::{BorrowedStrDeserializer, StrDeserializer};
use serde::de::{self, DeserializeOwned, DeserializeSeed, IntoDeserializer, Visitor};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::fmt;

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

/// Deserializes `inputs` as an `E`. Only the strings in `E` are copied.
///
/// # Errors
/// Fails with 400 and lists all mistakes: `{"error": "title is missing, page is invalid"}`.
pub fn read<E: DeserializeOwned>(inputs: &Inputs) -> Result<E, Rejection> {
    read_all(Attempt { given: named(inputs), flaws: Vec::new() })
}

/// Deserializes `inputs` as an `E` whose field `subject` is an object. `head` is the part of the route that names the
/// object: a slot for its project or group, and further slots for numbers.
///
/// # Errors
/// Fails as [`read`] does; a mistake in the path has the name of its slot.
pub fn read_about<E: DeserializeOwned>(inputs: &Inputs, subject: &str, head: &str) -> Result<E, Rejection> {
    let mut attempt = Attempt { given: named(inputs), flaws: Vec::new() };
    let mut path = String::new();
    for segment in head.split('/').skip(1) {
        path.push('/');
        let Some(slot) = segment.strip_prefix('{').and_then(|slot| slot.strip_suffix('}')) else {
            path.push_str(segment);
            continue;
        };
        let value = inputs.get(slot).and_then(Value::as_str).unwrap_or_default();
        let is_valid = if slot == "id" { !value.contains('\0') } else { value.trim().parse::<u64>().is_ok() };
        if !is_valid {
            attempt.flaws.push(InputError { field: slot.to_owned(), kind: Kind::Invalid });
        }
        path.push_str(&encode(value.trim()));
        attempt.given.retain(|(name, _)| name != slot);
    }
    attempt.given.retain(|(name, _)| name != subject);
    let path = Value::String(path);
    let value = if attempt.flaws.is_empty() { Lenient::Value(&path) } else { Lenient::Anything };
    attempt.given.push((Cow::Borrowed(subject), value));
    read_all(attempt)
}

fn read_all<E: DeserializeOwned>(mut attempt: Attempt<'_>) -> Result<E, Rejection> {
    loop {
        match E::deserialize(Reader(attempt.given.clone())) {
            Ok(value) if attempt.flaws.is_empty() => return Ok(value),
            Ok(_) => return Err(attempt.rejection()),
            Err(flaw) => attempt.take_out(flaw)?,
        }
    }
}

/// The inputs of an attempt to read all of them, and the mistakes that earlier attempts found.
struct Attempt<'v> {
    given: Vec<Named<'v>>,
    flaws: Vec<InputError>,
}

impl Attempt<'_> {
    /// Takes the input with a mistake out, to find the mistakes after it too.
    ///
    /// # Errors
    /// Fails with all mistakes if this one was found before.
    fn take_out(&mut self, found: InputError) -> Result<(), Rejection> {
        let top = found.field.split('[').next().unwrap_or_default().to_owned();
        let is_empty = found.kind == Kind::Empty;
        let known = self.flaws.iter().any(|flaw| flaw.field == found.field);
        if !is_empty {
            self.flaws.push(found);
        }
        if known {
            return Err(self.rejection());
        }
        self.given.retain(|(name, _)| *name != top);
        if !is_empty {
            self.given.push((Cow::Owned(top), Lenient::Anything));
        }
        Ok(())
    }

    fn rejection(&self) -> Rejection {
        let mut words: Vec<String> = self.flaws.iter().map(InputError::to_string).collect();
        words.dedup();
        Rejection::error(400, words.join(", "))
    }
}

/// A mistake in an input.
#[derive(Debug)]
struct InputError {
    field: String,
    kind: Kind,
}

#[derive(Debug, PartialEq)]
enum Kind {
    Missing,
    Invalid,
    NoValidValue,
    /// An empty string where a number is expected; counts as absent.
    Empty,
}

impl InputError {
    fn invalid() -> InputError {
        InputError { field: String::new(), kind: Kind::Invalid }
    }

    /// Prefixes the field with the name of its container.
    fn inside(mut self, outer: &str) -> InputError {
        self.field = match self.field.split_once('[') {
            _ if self.field.is_empty() => outer.to_owned(),
            Some((first, rest)) if !first.is_empty() => format!("{outer}[{first}][{rest}"),
            Some(_) => format!("{outer}{}", self.field),
            None => format!("{outer}[{}]", self.field),
        };
        self
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            Kind::Missing => "is missing",
            Kind::Invalid | Kind::Empty => "is invalid",
            Kind::NoValidValue => "does not have a valid value",
        };
        write!(f, "{} {what}", self.field)
    }
}

impl std::error::Error for InputError {}

impl de::Error for InputError {
    fn custom<T: fmt::Display>(_: T) -> InputError {
        InputError::invalid()
    }
    fn missing_field(field: &'static str) -> InputError {
        InputError { field: field.to_owned(), kind: Kind::Missing }
    }
    fn unknown_variant(_: &str, _: &'static [&'static str]) -> InputError {
        InputError { field: String::new(), kind: Kind::NoValidValue }
    }
}

/// A value, or a placeholder for an invalid one, which deserializes as anything.
#[derive(Clone, Copy, Debug)]
enum Lenient<'v> {
    Value(&'v Value),
    Anything,
}

/// An input and its name.
type Named<'v> = (Cow<'v, str>, Lenient<'v>);

struct Reader<'v>(Vec<Named<'v>>);

impl<'de> de::Deserializer<'de> for Reader<'_> {
    type Error = InputError;
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, InputError> {
        visitor.visit_map(Fields::new(self.0))
    }
    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

struct Fields<'v> {
    rest: std::vec::IntoIter<Named<'v>>,
    current: Option<Named<'v>>,
}

impl<'v> Fields<'v> {
    fn new(inputs: Vec<Named<'v>>) -> Fields<'v> {
        Fields { rest: inputs.into_iter(), current: None }
    }
}

impl<'de> de::MapAccess<'de> for Fields<'_> {
    type Error = InputError;
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, InputError> {
        self.current = self.rest.next();
        let Some((name, _)) = &self.current else { return Ok(None) };
        seed.deserialize(StrDeserializer::<InputError>::new(name)).map(Some)
    }
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, InputError> {
        let (name, given) = self.current.take().ok_or_else(InputError::invalid)?;
        let read = if given.holds_nul() && !ANY_TEXT.contains(&&*name) {
            Err(InputError::invalid())
        } else {
            seed.deserialize(given)
        };
        read.map_err(|flaw| flaw.inside(&name))
    }
}

struct Items<'v>(std::iter::Enumerate<std::vec::IntoIter<Cow<'v, Value>>>);

impl<'v> Items<'v> {
    fn new(values: impl IntoIterator<Item = &'v Value>) -> Items<'v> {
        let values: Vec<Cow<'v, Value>> = values.into_iter().flat_map(numbers).collect();
        Items(values.into_iter().enumerate())
    }
}

/// Splits numbers with commas between them (GitLab, `lib/api/validations/types/comma_separated_to_integer_array.rb`).
fn numbers(value: &Value) -> Vec<Cow<'_, Value>> {
    let is_number = |part: &str| !part.trim().is_empty() && part.trim().bytes().all(|b| b.is_ascii_digit());
    match value.as_str() {
        Some(text) if text.contains(',') && text.split(',').all(is_number) => {
            text.split(',').map(|part| Cow::Owned(part.trim().into())).collect()
        }
        _ => vec![Cow::Borrowed(value)],
    }
}

impl<'de> de::SeqAccess<'de> for Items<'_> {
    type Error = InputError;
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, InputError> {
        let Some((at, value)) = self.0.next() else { return Ok(None) };
        seed.deserialize(Lenient::Value(&value)).map(Some).map_err(|flaw| {
            // A scalar element of an array is reported under the array's name; a field of an element includes the
            // index.
            if flaw.field.is_empty() { flaw } else { flaw.inside(&format!("[{at}]")) }
        })
    }
}

impl<'v> Lenient<'v> {
    /// Returns whether it is a string, or a list with a string, that contains a NUL: names and messages in git end
    /// there.
    fn holds_nul(self) -> bool {
        let is_so = |value: &Value| value.as_str().is_some_and(|text| text.contains('\0'));
        match self {
            Lenient::Anything => false,
            Lenient::Value(Value::Array(items)) => items.iter().any(is_so),
            Lenient::Value(value) => is_so(value),
        }
    }

    /// Returns a scalar as text.
    fn text(self) -> Result<Cow<'v, str>, InputError> {
        match self {
            Lenient::Anything => Ok(Cow::Borrowed("")),
            Lenient::Value(Value::String(text)) => Ok(Cow::Borrowed(text)),
            Lenient::Value(value @ (Value::Number(_) | Value::Bool(_))) => Ok(Cow::Owned(value.to_string())),
            Lenient::Value(_) => Err(InputError::invalid()),
        }
    }

    fn number<T: std::str::FromStr + Default>(self) -> Result<T, InputError> {
        if let Lenient::Anything = self {
            return Ok(T::default());
        }
        match self.text()?.trim() {
            "" => Err(InputError { field: String::new(), kind: Kind::Empty }),
            digits => digits.parse().map_err(|_| InputError::invalid()),
        }
    }
}

macro_rules! numbers {
    ($($method:ident $visit:ident $type:ty),* $(,)?) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, InputError> {
            visitor.$visit(self.number::<$type>()?)
        })*
    };
}

impl<'de> de::Deserializer<'de> for Lenient<'_> {
    type Error = InputError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, InputError> {
        match self {
            Lenient::Anything => visitor.visit_str(""),
            Lenient::Value(Value::Null) => visitor.visit_unit(),
            Lenient::Value(Value::Bool(yes)) => visitor.visit_bool(*yes),
            Lenient::Value(Value::String(text)) => visitor.visit_str(text),
            Lenient::Value(Value::Number(n)) => match (n.as_u64(), n.as_i64()) {
                (Some(n), _) => visitor.visit_u64(n),
                (_, Some(n)) => visitor.visit_i64(n),
                _ => visitor.visit_f64(n.as_f64().unwrap_or_default()),
            },
            Lenient::Value(Value::Array(items)) => visitor.visit_seq(Items::new(items)),
            Lenient::Value(Value::Object(map)) => visitor.visit_map(Fields::new(named(map))),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, InputError> {
        match self.text()?.trim().to_ascii_lowercase().as_str() {
            "true" | "t" | "1" | "yes" | "y" | "on" => visitor.visit_bool(true),
            "false" | "f" | "0" | "no" | "n" | "off" => visitor.visit_bool(false),
            "" if matches!(self, Lenient::Anything) => visitor.visit_bool(false),
            "" => Err(InputError { field: String::new(), kind: Kind::Empty }),
            _ => Err(InputError::invalid()),
        }
    }

    numbers! {
        deserialize_i8 visit_i8 i8,
        deserialize_i16 visit_i16 i16,
        deserialize_i32 visit_i32 i32,
        deserialize_i64 visit_i64 i64,
        deserialize_u8 visit_u8 u8,
        deserialize_u16 visit_u16 u16,
        deserialize_u32 visit_u32 u32,
        deserialize_u64 visit_u64 u64,
        deserialize_f32 visit_f32 f32,
        deserialize_f64 visit_f64 f64,
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, InputError> {
        visitor.visit_str(&self.text()?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, InputError> {
        visitor.visit_str(&self.text()?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, InputError> {
        match self {
            Lenient::Anything | Lenient::Value(Value::Null) => visitor.visit_none(),
            some => visitor.visit_some(some),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, InputError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, InputError> {
        let items: Vec<&Value> = match self {
            Lenient::Anything | Lenient::Value(Value::Null) => Vec::new(),
            Lenient::Value(Value::Array(items)) => items.iter().collect(),
            // `a[0]=x&a[1]=y` is an array with explicit indices.
            Lenient::Value(Value::Object(map)) if map.keys().all(|key| key.parse::<u32>().is_ok()) => {
                map.values().collect()
            }
            Lenient::Value(Value::String(text)) if text.is_empty() => Vec::new(),
            Lenient::Value(scalar) => vec![scalar],
        };
        visitor.visit_seq(Items::new(items))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, InputError> {
        match self {
            Lenient::Anything => visitor.visit_map(Fields::new(Vec::new())),
            Lenient::Value(Value::Object(map)) => visitor.visit_map(Fields::new(named(map))),
            Lenient::Value(_) => Err(InputError::invalid()),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, InputError> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, InputError> {
        match (self, variants.first()) {
            (Lenient::Anything, Some(first)) => {
                BorrowedStrDeserializer::<InputError>::new(first).deserialize_enum(name, variants, visitor)
            }
            _ => visitor.visit_enum(IntoDeserializer::<InputError>::into_deserializer(self.text()?)),
        }
    }

    serde::forward_to_deserialize_any! {
        i128 u128 char bytes byte_buf unit unit_struct tuple tuple_struct identifier ignored_any
    }
}

fn named(map: &Map<String, Value>) -> Vec<Named<'_>> {
    map.iter().map(|(name, value)| (Cow::Borrowed(name.as_str()), Lenient::Value(value))).collect()
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

/// The order of a list, for operations whose order the interface does not choose.
#[derive(Deserialize)]
pub struct OrderOptions {
    pub order_by: Option<String>,
    pub sort: Option<String>,
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

    #[derive(Debug, Deserialize, PartialEq, Default)]
    struct Example {
        title: String,
        page: Option<u32>,
        open: Option<bool>,
        scope: Option<Vec<String>>,
        ids: Option<Vec<u64>>,
        attributes: Option<BTreeMap<String, String>>,
        actions: Option<Vec<Action>>,
    }

    #[derive(Debug, Deserialize, PartialEq, Default)]
    struct Action {
        action: String,
        force: Option<bool>,
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
