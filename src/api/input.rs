//! The inputs of operations: their kinds, and how they are read, as leniently as GitLab servers do. Numbers and booleans
//! may be texts, a scalar stands for an array of one element, and an empty text for a number counts as absent.

use crate::types::File;
use crate::{Id, Subject, Time};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// The description of an input: enough to create a form field or a query key from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input {
    /// The name on the wire.
    pub name: &'static str,
    /// The kind of value.
    pub kind: InputKind,
    /// Whether the operation requires the input.
    pub required: bool,
    /// The help text: the doc comment of the field.
    pub help: &'static str,
}

/// The kinds of input values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    Text,
    Number,
    Decimal,
    Bool,
    Time,
    /// Several texts or numbers.
    List,
    /// A file, which is sent as a separate part.
    File,
    /// Pairs or objects: a value that cannot be a line of text.
    Structured,
}

/// A type that an input can have.
pub trait InputType: Default {
    /// The kind of value.
    const KIND: InputKind;
    /// Whether the input is required.
    const REQUIRED: bool = true;

    /// Returns an input as JSON; null if it is absent.
    fn value(&self) -> Value;

    /// Reads an input.
    ///
    /// # Errors
    /// Fails if the value has another type.
    fn read(value: &Value) -> Result<Self, InputError>;
}

/// Returns a scalar as text.
fn text(value: &Value) -> Result<String, InputError> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(_) | Value::Bool(_) => Ok(value.to_string()),
        _ => Err(InputError::invalid()),
    }
}

fn number<T: FromStr>(value: &Value) -> Result<T, InputError> {
    match text(value)?.trim() {
        "" => Err(InputError::empty()),
        digits => digits.parse().map_err(|_| InputError::invalid()),
    }
}

fn boolean(value: &Value) -> Result<bool, InputError> {
    match text(value)?.trim().to_ascii_lowercase().as_str() {
        "true" | "t" | "1" | "yes" | "y" | "on" => Ok(true),
        "false" | "f" | "0" | "no" | "n" | "off" => Ok(false),
        "" => Err(InputError::empty()),
        _ => Err(InputError::invalid()),
    }
}

fn id(value: &Value) -> Result<Id, InputError> {
    match value {
        Value::String(text) => Ok(text.as_str().into()),
        Value::Number(number) if !number.is_f64() => Ok(number.to_string().into()),
        _ => Err(InputError::invalid()),
    }
}

macro_rules! input_types {
    ($($type:ty: $kind:ident, $value:expr, $read:expr;)*) => {
        $(impl InputType for $type {
            const KIND: InputKind = InputKind::$kind;

            fn value(&self) -> Value {
                let value: fn(&$type) -> Value = $value;
                value(self)
            }

            fn read(value: &Value) -> Result<$type, InputError> {
                let read: fn(&Value) -> Result<$type, InputError> = $read;
                read(value)
            }
        })*
    };
}

input_types! {
    String: Text, |text| text.as_str().into(), text;
    Id: Text, |id| id.as_str().into(), id;
    u32: Number, |number| (*number).into(), number;
    u64: Number, |number| (*number).into(), number;
    i64: Number, |number| (*number).into(), number;
    f64: Decimal, |number| (*number).into(), number;
    bool: Bool, |is_set| (*is_set).into(), boolean;
    Time: Time, |time| time.as_str().into(), |value| text(value).map(Time);
    File: File, |_| Value::Null, |_| Ok(File);
    Value: Structured, Value::clone, |value| Ok(value.clone());
    Map<String, Value>: Structured, |map| map.clone().into(),
        |value| value.as_object().cloned().ok_or_else(InputError::invalid);
    BTreeMap<String, String>: Structured,
        |map| map.iter().map(|(key, text)| (key.clone(), Value::from(text.as_str()))).collect(),
        |value| {
            let read = |(key, value): (&String, &Value)| match text(value) {
                Ok(text) => Ok((key.clone(), text)),
                Err(error) => Err(error.inside(key)),
            };
            value.as_object().ok_or_else(InputError::invalid)?.iter().map(read).collect()
        };
}

impl<T: InputType> InputType for Option<T> {
    const KIND: InputKind = T::KIND;
    const REQUIRED: bool = false;

    fn value(&self) -> Value {
        self.as_ref().map_or(Value::Null, T::value)
    }

    fn read(value: &Value) -> Result<Option<T>, InputError> {
        if value.is_null() { Ok(None) } else { T::read(value).map(Some) }
    }
}

impl<T: InputType> InputType for Vec<T> {
    const KIND: InputKind = match T::KIND {
        InputKind::Structured => InputKind::Structured,
        _ => InputKind::List,
    };

    fn value(&self) -> Value {
        self.iter().map(T::value).collect()
    }

    fn read(value: &Value) -> Result<Vec<T>, InputError> {
        let mut read = Vec::new();
        each_element(value, &mut |element| T::read(element).map(|element| read.push(element)))?;
        Ok(read)
    }
}

/// Calls `read` with each element of an array. An error in an element that is a scalar has the name of the array, and
/// one in a field of an element includes the index.
fn each_element(value: &Value, read: &mut dyn FnMut(&Value) -> Result<(), InputError>) -> Result<(), InputError> {
    let elements: Vec<&Value> = match value {
        Value::Null => Vec::new(),
        Value::Array(elements) => elements.iter().collect(),
        // `a[0]=x&a[1]=y` is an array with explicit indices.
        Value::Object(map) if map.keys().all(|key| key.parse::<u32>().is_ok()) => map.values().collect(),
        Value::String(text) if text.is_empty() => Vec::new(),
        scalar => vec![scalar],
    };
    let mut index = 0;
    let mut next = |element: &Value| {
        let place = format!("[{index}]");
        index += 1;
        read(element).map_err(|error| if error.field.is_empty() { error } else { error.inside(&place) })
    };
    for element in elements {
        // Numbers with commas between them (GitLab, `lib/api/validations/types/comma_separated_to_integer_array.rb`).
        let is_number = |part: &str| !part.trim().is_empty() && part.trim().bytes().all(|byte| byte.is_ascii_digit());
        match element.as_str().filter(|text| text.contains(',') && text.split(',').all(is_number)) {
            Some(numbers) => numbers.split(',').try_for_each(|part| next(&part.trim().into()))?,
            None => next(element)?,
        }
    }
    Ok(())
}

/// A mistake in an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputError {
    /// The name of the input, with the place in it: `actions[0][action]`.
    field: String,
    kind: InputErrorKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum InputErrorKind {
    Invalid,
    /// An empty text where a number is expected; counts as absent.
    Empty,
    Missing,
}

impl InputError {
    pub fn invalid() -> InputError {
        InputError { field: String::new(), kind: InputErrorKind::Invalid }
    }

    fn empty() -> InputError {
        InputError { field: String::new(), kind: InputErrorKind::Empty }
    }

    /// Prefixes the field with the name of its container.
    pub fn inside(mut self, outer: &str) -> InputError {
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
        let what = if self.kind == InputErrorKind::Missing { "is missing" } else { "is invalid" };
        write!(f, "{} {what}", self.field)
    }
}

/// Reads inputs by name and collects the mistakes in all of them.
pub struct InputReader<'v> {
    given: &'v Map<String, Value>,
    /// The path of the subject, if the route names it.
    subject: Option<String>,
    mistakes: Vec<InputError>,
}

impl<'v> InputReader<'v> {
    pub fn new(given: &'v Map<String, Value>) -> InputReader<'v> {
        InputReader { given, subject: None, mistakes: Vec::new() }
    }

    /// Sets the path of the subject, which is otherwise an input, and the mistakes that are known already. Inputs that
    /// have one are not read.
    pub fn with(mut self, subject: Option<String>, mistakes: Vec<InputError>) -> InputReader<'v> {
        (self.subject, self.mistakes) = (subject, mistakes);
        self
    }

    /// Reads an object.
    ///
    /// # Errors
    /// Fails with the first mistake.
    pub fn object<T>(value: &Value, read: fn(&mut InputReader) -> T) -> Result<T, InputError> {
        let mut reader = InputReader::new(value.as_object().ok_or_else(InputError::invalid)?);
        let object = read(&mut reader);
        reader.mistakes().into_iter().next().map_or(Ok(object), Err)
    }

    /// Reads an input; the default if there is a mistake.
    pub fn take<T: InputType>(&mut self, name: &str) -> T {
        self.read(name, T::REQUIRED, T::read)
    }

    /// Reads an input that has a default.
    pub fn take_or_default<T: InputType>(&mut self, name: &str) -> T {
        self.read(name, false, T::read)
    }

    /// Reads the subject of the operation. An empty path, which stands for one with a mistake, is the default.
    pub fn subject<S: Subject>(&mut self, name: &str) -> S {
        let read = |path: &str| match path {
            "" => Ok(S::default()),
            path => S::from_path(path).ok_or_else(InputError::invalid),
        };
        match self.subject.take() {
            Some(path) => read(&path).unwrap_or_default(),
            None => self.read(name, true, |value| read(value.as_str().unwrap_or_default())),
        }
    }

    fn read<T: Default>(
        &mut self,
        name: &str,
        is_required: bool,
        read: impl FnOnce(&Value) -> Result<T, InputError>,
    ) -> T {
        let is_known = |error: &InputError| error.field.split('[').next() == Some(name);
        if self.mistakes.iter().any(is_known) {
            return T::default();
        }
        let mistake = match self.given.get(name).map(read) {
            Some(Ok(value)) => return value,
            Some(Err(error)) if error.kind != InputErrorKind::Empty => Some(error.inside(name)),
            _ => is_required.then(|| InputError { field: name.to_owned(), kind: InputErrorKind::Missing }),
        };
        self.mistakes.extend(mistake);
        T::default()
    }

    /// Returns the mistakes: first those in what was given, by name, then what is missing.
    pub fn mistakes(mut self) -> Vec<InputError> {
        let name = |error: &InputError| (error.kind != InputErrorKind::Missing).then(|| error.field.clone());
        self.mistakes.sort_by_key(|error| (error.kind, name(error)));
        self.mistakes
    }
}

/// Declares an object that is an input, or an element of one. A field that is not optional is required, unless the
/// declaration begins with `default`.
#[macro_export]
macro_rules! input_object {
    (default $($rest:tt)*) => { $crate::input_object!(@declare take_or_default $($rest)*); };
    (
        @declare $take:ident $(#[$meta:meta])* $visible:vis struct $name:ident {
            $($(#[$field_meta:meta])* $field_visible:vis $field:ident: $type:ty),* $(,)?
        }
    ) => {
        $(#[$meta])*
        $visible struct $name { $($(#[$field_meta])* $field_visible $field: $type),* }

        impl $crate::InputType for $name {
            const KIND: $crate::InputKind = $crate::InputKind::Structured;

            fn value(&self) -> serde_json::Value {
                let fields = [$((
                    $crate::endpoint::input_name(stringify!($field)),
                    $crate::InputType::value(&self.$field),
                )),*];
                $crate::input::object(fields)
            }

            fn read(value: &serde_json::Value) -> Result<$name, $crate::input::InputError> {
                $crate::input::InputReader::object(value, |inputs| $name {
                    $($field: inputs.$take($crate::endpoint::input_name(stringify!($field)))),*
                })
            }
        }
    };
    ($($rest:tt)*) => { $crate::input_object!(@declare take $($rest)*); };
}

/// Returns an object without the fields that are null.
pub fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let given = fields.into_iter().filter(|(_, value)| !value.is_null());
    Value::Object(given.map(|(name, value)| (name.to_owned(), value)).collect())
}
