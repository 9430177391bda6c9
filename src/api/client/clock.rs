//! How far the clock of a server is ahead of ours, as the dates of its replies tell.

use jiff::{SignedDuration, Timestamp};
use reqwest::header::{AGE, DATE, HeaderMap};
use std::sync::atomic::{AtomicI64, Ordering};

/// What is known of a server's clock. Where both clocks may be right, they are taken to be.
#[derive(Debug, Default)]
pub struct Clock {
    /// Milliseconds that it is ahead.
    ahead: AtomicI64,
}

impl Clock {
    /// Returns how far it is ahead of ours; negative where it is behind.
    pub fn ahead(&self) -> SignedDuration {
        SignedDuration::from_millis(self.ahead.load(Ordering::Relaxed))
    }

    /// Learns from a reply to what was sent and came at these moments of our clock.
    pub(super) fn hear(&self, headers: &HeaderMap, sent: Timestamp, came: Timestamp) {
        // What was kept on the way is dated when it was made.
        let Some(date) = date(headers).filter(|_| !headers.contains_key(AGE)) else { return };
        // It was dated after it was asked for and before it came, in some moment of that second.
        let date = date.as_millisecond();
        let (least, most) = (date - came.as_millisecond(), date + 999 - sent.as_millisecond());
        if least <= most {
            // No further than what was heard asks for: a slow reply moves nothing that a quick one has settled.
            let moved = |ahead: i64| Some(ahead.clamp(least, most));
            let _ = self.ahead.fetch_update(Ordering::Relaxed, Ordering::Relaxed, moved);
        }
    }
}

/// Returns when the server made a reply, by its clock.
pub(super) fn date(headers: &HeaderMap) -> Option<Timestamp> {
    Some(jiff::fmt::rfc2822::parse(headers.get(DATE)?.to_str().ok()?.trim()).ok()?.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what is known after replies that were dated, sent and came at these seconds.
    fn heard(replies: &[(f64, f64, f64)]) -> f64 {
        let clock = Clock::default();
        let moment = |seconds: f64| Timestamp::from_millisecond(1_781_524_800_000 + (seconds * 1e3) as i64).unwrap();
        for (dated, sent, came) in replies {
            let text = jiff::fmt::rfc2822::to_string(&moment(*dated).to_zoned(jiff::tz::TimeZone::UTC)).unwrap();
            let headers = HeaderMap::from_iter([(DATE, text.parse().unwrap())]);
            clock.hear(&headers, moment(*sent), moment(*came));
        }
        clock.ahead().as_secs_f64()
    }

    #[test]
    fn clocks_that_may_agree_are_taken_to_agree() {
        assert_eq!(heard(&[]), 0.0);
        assert_eq!(heard(&[(0.9, 0.9, 1.1), (2.0, 2.95, 2.99), (10.0, 4.0, 30.0)]), 0.0);
    }

    #[test]
    fn a_clock_that_is_ahead_or_behind_is_known_to_a_second_and_does_not_waver() {
        let year: f64 = 365.0 * 86_400.0;
        for off in [600.0, -600.0, year, -year, 3.0, -3.0] {
            // A quick reply, a slow one, and quick ones again.
            let replies = [(0.2, 0.1, 0.3), (31.0, 4.0, 40.0), (50.5, 50.4, 50.6), (61.9, 61.8, 62.0)];
            let replies = replies.map(|(dated, sent, came)| ((dated + off).floor(), sent, came));
            let first = heard(&replies[..1]);
            assert!((first - off).abs() <= 1.0, "{off}: {first}");
            assert_eq!(heard(&replies[..2]), first, "{off}");
            assert!((heard(&replies) - off).abs() <= 1.0, "{off}");
        }
    }

    #[test]
    fn what_was_kept_on_the_way_or_has_no_date_tells_nothing() {
        let clock = Clock::default();
        let (sent, came) = (Timestamp::UNIX_EPOCH, Timestamp::UNIX_EPOCH);
        for headers in [
            HeaderMap::new(),
            HeaderMap::from_iter([(DATE, "soon".parse().unwrap())]),
            HeaderMap::from_iter([
                (DATE, "Mon, 01 Jan 2018 00:00:05 GMT".parse().unwrap()),
                (AGE, "3600".parse().unwrap()),
            ]),
        ] {
            clock.hear(&headers, sent, came);
            assert!(clock.ahead().is_zero());
        }
    }
}
