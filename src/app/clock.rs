//! The time by which the app acts, and the one that it shows.

use jiff::{SignedDuration, Timestamp};
use ui::glyph;

/// The local clock, and the server's beside it.
pub(super) struct AppClock {
    /// The local time, which never goes back.
    now: Timestamp,
    /// The time for which ages are shown. In accessible mode, that of the last reply: they do not change while the cursor
    /// moves.
    shown_at: Timestamp,
    /// The time by which the local clock was set back meanwhile.
    set_back: SignedDuration,
    /// The offset of the server's clock from the local one; positive if the server is ahead.
    offset: SignedDuration,
}

impl AppClock {
    /// Creates a clock that shows `now`, like a server whose clock is not known.
    pub fn new(now: Timestamp) -> AppClock {
        AppClock { now, shown_at: now, set_back: SignedDuration::ZERO, offset: SignedDuration::ZERO }
    }

    /// Returns the local time, which never goes back.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Returns the time for which ages are shown, by the server's clock.
    pub fn server_time(&self) -> Timestamp {
        self.shown_at.checked_add(self.offset.saturating_sub(self.set_back)).unwrap_or(self.shown_at)
    }

    /// Returns a time of this clock as the local one states it by now.
    pub fn to_local(&self, at: Timestamp) -> Timestamp {
        at.checked_sub(self.set_back).unwrap_or(at)
    }

    /// Returns the time of this clock at a time of the local one.
    pub fn at(&self, local: Timestamp) -> Timestamp {
        local.checked_add(self.set_back).unwrap_or(local).max(self.now)
    }

    /// Takes the time of the local clock. The app's own time never goes back: all that waits for a time, and every age,
    /// would stand still until a clock that was set back has caught up.
    pub fn set(&mut self, local: Timestamp) {
        let now = self.at(local);
        let set_back = now.duration_since(local.checked_add(self.set_back).unwrap_or(local));
        self.set_back = self.set_back.saturating_add(set_back);
        // It was measured by the clock as it was before; the next reply measures it again.
        self.offset = self.offset.saturating_add(set_back);
        self.now = now;
        if !glyph::is_accessible() {
            self.shown_at = now;
        }
    }

    /// Takes over the time of the app that was in front.
    pub fn follow(&mut self, now: Timestamp) {
        self.now = now;
    }

    /// Sets the offset of the server's clock from the local one.
    pub fn set_offset(&mut self, ahead: SignedDuration) {
        self.offset = ahead;
    }

    /// Shows ages as of now, because data has arrived.
    pub fn show_now(&mut self) {
        self.shown_at = self.now;
    }
}
