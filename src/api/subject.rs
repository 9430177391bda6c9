//! Subjects: the objects that an operation can be about when several kinds of objects have it. The path of the subject is
//! the first part of the route.

use crate::api::Id;
use crate::api::endpoint::{decode, encode};
use serde::de::{self, DeserializeOwned};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// An object that an operation is about. It is displayed, and serialized, as its path below `/api/v4`.
pub trait Subject: fmt::Display + DeserializeOwned {
    /// Returns the kind of object, as the index of its variant.
    fn kind(&self) -> usize;
}

/// The project or group that a list, label, milestone, member or setting belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    Project(Id),
    Group(Id),
}

impl Scope {
    /// Returns the ID of the project or group.
    pub fn id(&self) -> &Id {
        match self {
            Scope::Project(id) | Scope::Group(id) => id,
        }
    }

    /// Returns the project, if it is one.
    pub fn project(&self) -> Option<&Id> {
        if let Scope::Project(id) = self { Some(id) } else { None }
    }

    /// Returns the group, if it is one.
    pub fn group(&self) -> Option<&Id> {
        if let Scope::Group(id) = self { Some(id) } else { None }
    }
}

impl Default for Scope {
    fn default() -> Scope {
        Scope::Project(Id::default())
    }
}

impl Subject for Scope {
    fn kind(&self) -> usize {
        match self {
            Scope::Project(_) => 0,
            Scope::Group(_) => 1,
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scope::Project(id) => write!(f, "/projects/{}", encode(id.as_str())),
            Scope::Group(id) => write!(f, "/groups/{}", encode(id.as_str())),
        }
    }
}

impl Serialize for Scope {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Scope {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Scope, D::Error> {
        let path = String::deserialize(deserializer)?;
        match *path.split('/').collect::<Vec<_>>() {
            // The placeholder of a value that is reported as invalid.
            [""] => Ok(Scope::default()),
            ["", "projects", id] => Ok(Scope::Project(decode(id).into())),
            ["", "groups", id] => Ok(Scope::Group(decode(id).into())),
            _ => Err(de::Error::custom("not the path of a project or group")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::json;

    #[test]
    fn the_path_of_a_scope_is_read_as_it_is_written() {
        for scope in [Scope::Project("acme/ui".into()), Scope::Group(7.into()), Scope::Group("a b/ü".into())] {
            let value = json::to_value(&scope).expect("a path");
            assert_eq!(json::from_value::<Scope>(&value).expect("a scope"), scope, "{value}");
        }
        for wrong in ["/projects", "/projects/1/issues/2", "/users/1", "projects/1"] {
            assert!(json::from_value::<Scope>(&wrong.into()).is_err(), "{wrong}");
        }
    }
}
