//! Revisions of lists, and values that are derived from the rows of one revision.

use std::hash::{DefaultHasher, Hasher};

/// Identifies one state of the rows of one or several lists; no two states of any lists share a revision. A value
/// derived from rows is stored with their revision, see [`Derived`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision(pub(super) u64);

impl Revision {
    /// Returns the revision of several lists chained together.
    pub(super) fn chain(parts: impl Iterator<Item = Revision>) -> Revision {
        let mut hasher = DefaultHasher::new();
        parts.for_each(|part| hasher.write_u64(part.0));
        Revision(hasher.finish())
    }
}

impl std::fmt::Display for Revision {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// A value derived from the rows of a list and from other inputs `K`. It can be read only with the revision it was
/// derived from, so that the rows of one list are never combined with the order or filter of another.
#[derive(Clone, Debug)]
pub struct Derived<K, T> {
    value: Option<(Revision, K, T)>,
}

impl<K, T> Default for Derived<K, T> {
    fn default() -> Derived<K, T> {
        Derived { value: None }
    }
}

impl<K: PartialEq, T> Derived<K, T> {
    /// Recomputes the value if the rows or the inputs changed, and returns whether it did.
    pub fn update(&mut self, revision: Revision, key: K, make: impl FnOnce() -> T) -> bool {
        let is_current = self.value.as_ref().is_some_and(|(from, of, _)| (*from, of) == (revision, &key));
        if !is_current {
            self.value = Some((revision, key, make()));
        }
        !is_current
    }

    pub fn clear(&mut self) {
        self.value = None;
    }

    /// Returns whether there is a value, of any revision.
    pub fn is_set(&self) -> bool {
        self.value.is_some()
    }

    /// Returns the inputs of the current value.
    pub fn key(&self) -> Option<&K> {
        self.value.as_ref().map(|(_, key, _)| key)
    }

    /// Returns the value, of any revision.
    pub fn latest(&self) -> Option<&T> {
        self.value.as_ref().map(|(.., value)| value)
    }

    /// Returns the value, if it was derived from the rows of this revision.
    pub fn get(&self, revision: Revision) -> Option<&T> {
        self.value.as_ref().filter(|(from, ..)| *from == revision).map(|(.., value)| value)
    }
}
