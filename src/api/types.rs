//! Scalar types of the API: IDs, times, and enumerations that servers may extend.

use crate::json;
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt;
use std::ops::Deref;
use std::str::FromStr;

/// An ID, the specification's `integer/string`: a number, or the full path of a project or group (`acme/rocket-ui`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Id(pub String);

impl Id {
    /// Returns the number, if the ID is numeric.
    pub fn number(&self) -> Option<u64> {
        self.0.parse().ok()
    }

    /// Returns whether this names the project or group with an ID and a full path.
    pub fn names(&self, id: u64, path: &str) -> bool {
        self.number().map_or_else(|| self.0.eq_ignore_ascii_case(path), |number| number == id)
    }

    /// Returns the text, not yet percent-encoded.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for Id {
    fn from(text: &str) -> Id {
        Id(text.to_owned())
    }
}

impl From<String> for Id {
    fn from(text: String) -> Id {
        Id(text)
    }
}

impl FromStr for Id {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Id, Infallible> {
        Ok(text.into())
    }
}

impl From<u64> for Id {
    fn from(number: u64) -> Id {
        Id(number.to_string())
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Id, D::Error> {
        struct IdVisitor;
        impl serde::de::Visitor<'_> for IdVisitor {
            type Value = Id;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a number or a path")
            }
            fn visit_str<E>(self, text: &str) -> Result<Id, E> {
                Ok(Id(text.to_owned()))
            }
            fn visit_u64<E>(self, number: u64) -> Result<Id, E> {
                Ok(Id(number.to_string()))
            }
            fn visit_i64<E>(self, number: i64) -> Result<Id, E> {
                Ok(Id(number.to_string()))
            }
        }
        deserializer.deserialize_any(IdVisitor)
    }
}

/// An ISO 8601 time as sent by the server, including its offset (commits have the author's offset).
///
/// The text is kept and parsed on demand, so that an invalid date does not make a whole reply unreadable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Time(pub String);

impl Time {
    /// Returns the point in time, or `None` if the text is not a valid date.
    pub fn instant(&self) -> Option<Timestamp> {
        if let Ok(instant) = self.0.parse::<Timestamp>() {
            return Some(instant);
        }
        // Some programs write a space before the offset, or the name of UTC.
        if let Some((time, offset)) = self.0.rsplit_once(' ')
            && (offset == "UTC" || offset.starts_with(['+', '-']))
        {
            return Time(format!("{time}{}", if offset == "UTC" { "Z" } else { offset })).instant();
        }
        // Without an offset, UTC is assumed, and a date without a time means midnight.
        let civil = self.0.parse::<jiff::civil::DateTime>().ok()?;
        civil.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
    }

    /// Returns whether the whole day has passed that a due date names. Days are those of UTC, as on servers.
    pub fn is_past_due(&self, now: Timestamp) -> bool {
        let end = self.instant().and_then(|day| day.checked_add(jiff::SignedDuration::from_hours(24)).ok());
        end.is_some_and(|end| end <= now)
    }

    /// Formats the time as servers do: UTC, milliseconds, `Z`.
    pub fn from_instant(instant: Timestamp) -> Time {
        Time(format!("{instant:.3}"))
    }

    /// Returns the text as received.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Time {
    fn from(text: &str) -> Time {
        Time(text.to_owned())
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A file input of a write request. The file is sent as a separate part
/// ([`Client::upload`](crate::client::Client::upload), with the name of the input), so its value is null, and it is
/// omitted from the other fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct File;

/// The value of a field that some replies do not contain, and that is null in others. It reads as an `Option`; only the
/// local server, and the few readers for whom null means something, tell the two apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nullable<T>(Option<Option<T>>);

impl<T> Nullable<T> {
    /// Returns whether the server sent null.
    pub fn is_null(&self) -> bool {
        matches!(self.0, Some(None))
    }
}

impl<T> Default for Nullable<T> {
    fn default() -> Nullable<T> {
        Nullable(None)
    }
}

impl<T> From<Option<T>> for Nullable<T> {
    fn from(value: Option<T>) -> Nullable<T> {
        Nullable(Some(value))
    }
}

impl<T> Deref for Nullable<T> {
    type Target = Option<T>;

    fn deref(&self) -> &Option<T> {
        self.0.as_ref().unwrap_or(&None)
    }
}

impl<T: Serialize> Serialize for Nullable<T> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        self.as_ref().serialize(s)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Nullable<T> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Nullable<T>, D::Error> {
        Option::deserialize(d).map(Nullable::from)
    }
}

/// A field that only some replies contain.
pub trait Presence {
    /// Returns whether replies leave the field out.
    fn is_absent(&self) -> bool;
}

impl<T> Presence for Option<T> {
    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

impl<T> Presence for Nullable<T> {
    fn is_absent(&self) -> bool {
        self.0.is_none()
    }
}

/// A reply, or a part of one, that can be reduced to the specification.
pub trait Specified {
    /// Removes the fields that are not in the specification, here and in all parts.
    fn restrict_to_specified(&mut self) {}
}

/// Implements [`Specified`] for types without fields.
macro_rules! specified {
    ($($type:ty),* $(,)?) => { $(impl Specified for $type {})* };
}

specified!(bool, u64, i64, f64, String, Id, Time, Value);

impl<T: Specified> Specified for Option<T> {
    fn restrict_to_specified(&mut self) {
        self.iter_mut().for_each(T::restrict_to_specified);
    }
}

impl<T: Specified> Specified for Nullable<T> {
    fn restrict_to_specified(&mut self) {
        self.0.restrict_to_specified();
    }
}

impl<T: Specified> Specified for Vec<T> {
    fn restrict_to_specified(&mut self) {
        self.iter_mut().for_each(T::restrict_to_specified);
    }
}

impl<T: Specified> Specified for Box<T> {
    fn restrict_to_specified(&mut self) {
        self.as_mut().restrict_to_specified();
    }
}

impl<K, V> Specified for BTreeMap<K, V> {}

impl<T> Specified for Named<T> {}

/// Values with names that the server chooses. Values of an unexpected type are dropped, so that additions of newer
/// servers do not make the whole reply unreadable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Named<T>(pub BTreeMap<String, T>);

impl<T> Default for Named<T> {
    fn default() -> Named<T> {
        Named(BTreeMap::new())
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Named<T>, D::Error> {
        let all = BTreeMap::<String, Value>::deserialize(deserializer)?;
        Ok(Named(all.into_iter().filter_map(|(name, value)| Some((name, json::from_value(&value).ok()?))).collect()))
    }
}

/// Deserializes a field with a default; null also becomes the default, because servers send null where the
/// specification does not mention it.
pub fn lenient<'de, T: Deserialize<'de> + Default, D: Deserializer<'de>>(d: D) -> Result<T, D::Error> {
    Option::<T>::deserialize(d).map(Option::unwrap_or_default)
}

/// Serializes whole seconds as an integer, as the specification does; current servers send fractions.
///
/// # Errors
/// Returns the error of the serializer.
pub fn whole_seconds<S: Serializer>(seconds: &Option<f64>, s: S) -> Result<S::Ok, S::Error> {
    match seconds {
        Some(seconds) if seconds.fract() == 0.0 && seconds.abs() < 1e15 => s.serialize_some(&(*seconds as i64)),
        seconds => seconds.serialize(s),
    }
}

/// Declares a resource: a struct that deserializes whatever a server sends, and serializes what the specification
/// describes.
///
/// When deserializing, no field is required, null becomes the default, and unknown fields are ignored. When
/// serializing, the fields of the struct are always present (`Option` as null). The other fields are `Option`, or
/// [`Nullable`](crate::types::Nullable) if their value may be null, and are present only where they are set. Those
/// under `views` are in some views of the specification. Those under `unspecified` are not in the specification, but
/// current servers send them. Those under `served` are like these, but only the local server uses them: the client never
/// decodes them.
#[macro_export]
macro_rules! resource {
    (
        $(#[$meta:meta])*
        pub struct $name:ident { $($(#[$fmeta:meta])* $field:ident: $type:ty),* $(,)? }
        $(views { $($(#[$vmeta:meta])* $view:ident: $vtype:ty),* $(,)? })?
        $(unspecified { $($(#[$nmeta:meta])* $new:ident: $ntype:ty),* $(,)? })?
        $(served { $($(#[$smeta:meta])* $served:ident: $stype:ty),* $(,)? })?
    ) => {
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default)]
        $(#[$meta])*
        pub struct $name {
            $(
                $(#[$fmeta])*
                #[serde(deserialize_with = "api::types::lenient")]
                pub $field: $type,
            )*
            $($(
                $(#[$vmeta])*
                #[serde(skip_serializing_if = "api::types::Presence::is_absent")]
                pub $view: $vtype,
            )*)?
            $($(
                $(#[$nmeta])*
                #[serde(skip_serializing_if = "api::types::Presence::is_absent")]
                pub $new: $ntype,
            )*)?
            $($(
                $(#[$smeta])*
                #[serde(skip_deserializing, skip_serializing_if = "api::types::Presence::is_absent")]
                pub $served: $stype,
            )*)?
        }

        impl $crate::types::Specified for $name {
            fn restrict_to_specified(&mut self) {
                $($crate::types::Specified::restrict_to_specified(&mut self.$field);)*
                $($($crate::types::Specified::restrict_to_specified(&mut self.$view);)*)?
                $($(self.$new = Default::default();)*)?
                $($(self.$served = Default::default();)*)?
            }
        }
    };
}

/// Declares an enumeration of strings that servers may extend: unknown values are kept as text.
#[macro_export]
macro_rules! open_enum {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$vmeta:meta])* $variant:ident = $word:literal),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$vmeta])* $variant,)*
            /// A value that is not in the specification, as sent by the server.
            Other(String),
        }

        impl $name {
            /// The values in the specification.
            pub const KNOWN: &'static [&'static str] = &[$($word),*];

            /// Returns the value on the wire.
            pub fn as_str(&self) -> &str {
                match self { $(Self::$variant => $word,)* Self::Other(word) => word }
            }

            /// Returns whether the value is in the specification.
            pub fn is_known(&self) -> bool {
                !matches!(self, Self::Other(_))
            }
        }

        impl From<&str> for $name {
            fn from(word: &str) -> Self {
                match word { $($word => Self::$variant,)* other => Self::Other(other.to_owned()) }
            }
        }

        impl Default for $name {
            fn default() -> Self { Self::Other(String::new()) }
        }

        impl $crate::types::Specified for $name {}

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { f.write_str(self.as_str()) }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> { s.serialize_str(self.as_str()) }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                Ok(Self::from(<std::borrow::Cow<'de, str> as serde::Deserialize>::deserialize(d)?.as_ref()))
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_parsed_with_and_without_an_offset() {
        let second = |text: &str| Time::from(text).instant().map(|at| at.to_string());
        let is = |text: &str| assert_eq!(second(text).as_deref(), Some("2018-01-01T13:00:00Z"), "{text}");
        is("2018-01-01T13:00:00Z");
        is("2018-01-01T14:00:00+01:00");
        is("2018-01-01T13:00:00");
        is("2018-01-01 13:00:00");
        is("2018-01-01 13:00:00 UTC");
        is("2018-01-01 14:30:00 +0130");
        is("2018-01-01T09:00:00-04");
        is("2018-01-01T13:00:00.000000000Z");
        assert_eq!(second("2018-01-01").as_deref(), Some("2018-01-01T00:00:00Z"));
        for odd in
            ["2018-13-01", "", " ", "UTC", " UTC UTC", "0000-00-00 00:00:00 UTC", "1514811600", "yesterday +0100"]
        {
            assert_eq!(second(odd), None, "{odd}");
        }
    }

    #[test]
    fn a_due_date_passes_when_its_day_ends() {
        let is_past_due = |date: &str, now: &str| Time::from(date).is_past_due(now.parse().expect("a time"));
        assert!(!is_past_due("2018-01-01", "2018-01-01T00:00:00Z"));
        assert!(!is_past_due("2018-01-01", "2018-01-01T23:59:59Z"));
        assert!(is_past_due("2018-01-01", "2018-01-02T00:00:00Z"));
        assert!(!is_past_due("not a date", "2018-01-02T00:00:00Z"));
        assert!(!is_past_due("9999-12-30", "2018-01-02T00:00:00Z"));
    }
}
