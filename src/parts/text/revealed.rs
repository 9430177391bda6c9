//! A secret value that is on the screen for a few seconds because the user asked for it.

use crate::ui::line::Line;
use crate::ui::theme::Role;
use jiff::{SignedDuration, Timestamp};

/// The time for which a value is shown.
const SHOWN_FOR: SignedDuration = SignedDuration::from_secs(10);
/// The text in place of a value.
const MASK: &str = "••••••••";

/// The value that is shown, if there is one.
#[derive(Default)]
pub struct Revealed {
    /// The key of its row, and until when it is shown.
    shown: Option<(String, Timestamp)>,
}

impl Revealed {
    /// Shows the value of a row from `now` on, or hides it if it is shown.
    pub fn toggle(&mut self, key: String, now: Timestamp) {
        let until = now.checked_add(SHOWN_FOR).unwrap_or(now);
        self.shown = (!self.shows(&key, now)).then_some((key, until));
    }

    /// Returns whether the value of a row is shown.
    pub fn shows(&self, key: &str, now: Timestamp) -> bool {
        self.shown.as_ref().is_some_and(|(shown, until)| shown == key && now < *until)
    }

    /// Returns whether a value may be on the screen.
    pub fn is_any(&self) -> bool {
        self.shown.is_some()
    }

    /// Hides the value whose time is over.
    pub fn expire(&mut self, now: Timestamp) {
        self.shown.take_if(|(_, until)| now >= *until);
    }

    /// Returns the value of a row as one line, or what stands for it.
    pub fn cell(&self, key: &str, value: &str, now: Timestamp) -> Line<'static> {
        match self.shows(key, now) {
            true => Line::new(value.replace(['\n', '\r'], " "), Role::Text),
            false if value.is_empty() => Line::new("empty", Role::Dim),
            false => Line::new(MASK, Role::Dim),
        }
    }
}
