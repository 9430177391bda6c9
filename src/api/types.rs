//! Scalar types of the wire: ids, times, and enumerations that servers may extend.

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// The specification's `integer/string`: a number, or the full path of a project or group (`acme/rocket-ui`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Id(pub String);

impl Id {
    /// The number, if it is one.
    pub fn number(&self) -> Option<u64> {
        self.0.parse().ok()
    }

    /// The text that goes on the wire, not yet encoded.
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

impl From<u64> for Id {
    fn from(number: u64) -> Id {
        Id(number.to_string())
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Id, D::Error> {
        struct ExtraVisitor;
        impl serde::de::Visitor<'_> for ExtraVisitor {
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
        deserializer.deserialize_any(ExtraVisitor)
    }
}

/// An ISO 8601 time as the server wrote it, offset kept (a commit carries its author's).
///
/// The text is kept, and read when it is needed: a server that writes a date badly must not make a whole reply
/// unreadable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Time(pub String);

impl Time {
    /// The point in time; `None` if the text is no date.
    pub fn instant(&self) -> Option<Timestamp> {
        if let Ok(instant) = self.0.parse::<Timestamp>() {
            return Some(instant);
        }
        // Without an offset it is UTC, and a bare date counts from its first moment.
        let civil = self.0.parse::<jiff::civil::DateTime>().ok()?;
        civil.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
    }

    /// The time in the form that servers write: UTC, milliseconds, `Z`.
    pub fn from_instant(instant: Timestamp) -> Time {
        Time(format!("{instant:.3}"))
    }

    /// The text as it came.
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

/// A file among the inputs of a write. It goes as a part of its own
/// ([`Client::upload`](crate::api::client::Client::upload) under its name), and is nothing in a form of texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct File;

impl Serialize for File {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_none()
    }
}

impl<'de> Deserialize<'de> for File {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<File, D::Error> {
        serde::de::IgnoredAny::deserialize(d).map(|_| File)
    }
}

/// A field that some views of a resource leave out: outside `None` it is absent, inside `None` it is null.
///
/// Declare it with `#[serde(default, skip_serializing_if = "Option::is_none", with = "crate::api::types::extra")]`.
pub type Extra<T> = Option<Option<T>>;

/// Reads and writes an [`Extra`] field.
pub mod extra {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// A field that is there was meant to be there, null or not.
    pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(d: D) -> Result<super::Extra<T>, D::Error> {
        Option::<T>::deserialize(d).map(Some)
    }

    /// Absent fields never come here: `skip_serializing_if` keeps them out.
    pub fn serialize<T: Serialize, S: Serializer>(value: &super::Extra<T>, s: S) -> Result<S::Ok, S::Error> {
        value.as_ref().and_then(Option::as_ref).serialize(s)
    }
}

/// Values by names that the server chooses. One that is of another kind than expected is left out: what newer servers
/// put there must not make the whole reply unreadable.
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
        let all = BTreeMap::<String, serde_json::Value>::deserialize(deserializer)?;
        Ok(Named(all.into_iter().filter_map(|(name, value)| Some((name, T::deserialize(value).ok()?))).collect()))
    }
}

/// What an [`Extra`] field holds, absent and null being one to a reader.
pub trait Known<T> {
    /// The value, if the server sent one.
    fn known(&self) -> Option<&T>;
}

impl<T> Known<T> for Extra<T> {
    fn known(&self) -> Option<&T> {
        self.as_ref().and_then(Option::as_ref)
    }
}

/// Reads a field that has a default: null is the default, too, because servers write null where the specification
/// does not say so.
pub fn lenient<'de, T: Deserialize<'de> + Default, D: Deserializer<'de>>(d: D) -> Result<T, D::Error> {
    Option::<T>::deserialize(d).map(Option::unwrap_or_default)
}

/// Writes seconds that are whole as an integer, as the specification has them; servers of today write parts of one.
///
/// # Errors
/// What the serializer says.
pub fn whole_seconds<S: serde::Serializer>(seconds: &Option<f64>, s: S) -> Result<S::Ok, S::Error> {
    match seconds {
        Some(seconds) if seconds.fract() == 0.0 && seconds.abs() < 1e15 => s.serialize_some(&(*seconds as i64)),
        seconds => seconds.serialize(s),
    }
}

/// Declares a resource: a struct that reads whatever a server sends and writes what the specification states.
///
/// Reading: no field is required, null is the default, unknown fields are ignored. Writing: the fields of the struct
/// are always there (`Option` as null); those under `views` are [`Extra`](crate::api::types::Extra), and only in the
/// views that set them; those under `newer` are `Option`, which servers of today send and the specification does not
/// know, written only where they are set.
#[macro_export]
macro_rules! resource {
    (
        $(#[$meta:meta])*
        pub struct $name:ident { $($(#[$fmeta:meta])* $field:ident: $type:ty),* $(,)? }
        $(views { $($(#[$vmeta:meta])* $view:ident: $vtype:ty),* $(,)? })?
        $(newer { $($(#[$nmeta:meta])* $new:ident: $ntype:ty),* $(,)? })?
    ) => {
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default)]
        $(#[$meta])*
        pub struct $name {
            $(
                $(#[$fmeta])*
                #[serde(deserialize_with = "crate::api::types::lenient")]
                pub $field: $type,
            )*
            $($(
                $(#[$vmeta])*
                #[serde(skip_serializing_if = "Option::is_none", with = "crate::api::types::extra")]
                pub $view: $crate::api::types::Extra<$vtype>,
            )*)?
            $($(
                $(#[$nmeta])*
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $new: Option<$ntype>,
            )*)?
        }

        $(impl $name {
            /// Leaves only what the specification knows.
            pub fn as_specified(mut self) -> $name {
                $(self.$new = None;)*
                self
            }
        })?
    };
}

/// Declares an enumeration of words that a server may extend: an unknown word is kept and shown.
#[macro_export]
macro_rules! open_enum {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$vmeta:meta])* $variant:ident = $word:literal),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$vmeta])* $variant,)*
            /// A word that the specification does not name, as the server wrote it.
            Other(String),
        }

        impl $name {
            /// The words that the specification names.
            pub const KNOWN: &'static [&'static str] = &[$($word),*];

            /// The word on the wire.
            pub fn as_str(&self) -> &str {
                match self { $(Self::$variant => $word,)* Self::Other(word) => word }
            }

            /// Returns whether the specification names it.
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
    fn a_time_keeps_its_hours_with_and_without_an_offset() {
        let second = |text: &str| Time::from(text).instant().map(|at| at.to_string());
        let is = |text: &str| assert_eq!(second(text).as_deref(), Some("2018-01-01T13:00:00Z"), "{text}");
        is("2018-01-01T13:00:00Z");
        is("2018-01-01T14:00:00+01:00");
        is("2018-01-01T13:00:00");
        is("2018-01-01 13:00:00");
        assert_eq!(second("2018-01-01").as_deref(), Some("2018-01-01T00:00:00Z"));
        assert_eq!(second("2018-13-01"), None);
    }
}
