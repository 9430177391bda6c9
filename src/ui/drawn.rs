//! Values that only drawing knows, such as the height of a panel. Wants and layouts may depend on them, so the app settles
//! again after a frame in which one of them changed.

use std::cell::Cell;
use std::hash::{DefaultHasher, Hash, Hasher};

thread_local! {
    /// A sum of hashes of all values that were ever set.
    static SUM: Cell<u64> = const { Cell::new(0) };
}

/// A value that drawing sets.
#[derive(Clone, Debug, Default)]
pub struct Drawn<T: Copy>(Cell<T>);

impl<T: Copy + PartialEq + Hash> Drawn<T> {
    /// Creates a value for the time before the first frame.
    pub const fn new(value: T) -> Drawn<T> {
        Drawn(Cell::new(value))
    }

    /// Returns the value of the last frame.
    pub fn get(&self) -> T {
        self.0.get()
    }

    /// Sets the value.
    pub fn set(&self, value: T) {
        let before = self.0.replace(value);
        if before != value {
            // The address tells values apart that take each other's place.
            let of = std::ptr::from_ref(self) as usize;
            let hash = |value: T| {
                let mut hasher = DefaultHasher::new();
                (of, value).hash(&mut hasher);
                hasher.finish()
            };
            SUM.set(SUM.get().wrapping_sub(hash(before)).wrapping_add(hash(value)));
        }
    }
}

/// Records that a frame found out something new that is not a [`Drawn`].
pub fn record_change() {
    SUM.set(SUM.get().wrapping_add(1));
}

/// Returns a number that is the same before and after a frame that found out nothing new, on this thread. A value may be
/// cleared and set again in between.
pub fn fingerprint() -> u64 {
    SUM.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_new_if_a_value_is_another_one_after_it() {
        let (width, height) = (Drawn::new(0_usize), Drawn::new(1_usize));
        let before = fingerprint();
        width.set(80);
        assert_ne!(fingerprint(), before);
        let before = fingerprint();
        width.set(0);
        width.set(80);
        height.set(1);
        assert_eq!(fingerprint(), before, "cleared and set again");
        width.set(1);
        height.set(80);
        assert_ne!(fingerprint(), before, "two values that change places");
        assert_eq!((width.get(), height.get()), (1, 80));
    }
}
