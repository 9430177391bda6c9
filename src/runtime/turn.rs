//! A turn of the loop: the limit on the messages handled before the next key and frame.

use std::time::{Duration, Instant};

/// Maximum number of messages per turn.
const MAX_MESSAGES: usize = 512;
/// The time within which another message may be started.
const TIME_LIMIT: Duration = Duration::from_millis(4);

/// A turn in which a limited number of waiting messages is handled, so that a key never waits for all of them.
pub struct Turn {
    end: Instant,
}

impl Turn {
    pub fn start() -> Turn {
        Turn { end: Instant::now() + TIME_LIMIT }
    }

    /// Returns whether another message may be handled after `messages` of them.
    pub fn has_room(&self, messages: usize) -> bool {
        messages == 0 || messages < MAX_MESSAGES && Instant::now() < self.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_handles_at_least_one_message_and_a_bounded_number() {
        let over = Turn { end: Instant::now() };
        assert!(over.has_room(0) && !over.has_room(1));
        let long = Turn { end: Instant::now() + Duration::from_secs(3600) };
        assert!(long.has_room(1) && !long.has_room(MAX_MESSAGES));
    }
}
