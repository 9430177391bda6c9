//! Estimates the offset between a server's clock and the local clock, from the `Date` headers of its replies.
//!
//! `View::now` is the server's time, and `View::local_now` the local time. Timestamps from the server are compared
//! with `View::now`, and local events with `View::local_now`.

use jiff::{SignedDuration, Timestamp};
use reqwest::header::{AGE, DATE, HeaderMap};
use std::sync::atomic::{AtomicI64, Ordering};

/// The estimated offset of a server's clock. It stays 0 while the replies are consistent with synchronized clocks.
#[derive(Debug, Default)]
pub struct ClockOffset {
    /// The number of milliseconds by which the server's clock is ahead.
    ahead: AtomicI64,
}

impl ClockOffset {
    /// Returns how far the server's clock is ahead of the local clock; negative if it is behind.
    pub fn ahead(&self) -> SignedDuration {
        SignedDuration::from_millis(self.ahead.load(Ordering::Relaxed))
    }

    /// Updates the estimate from the headers of a reply; `sent` and `received` are the local times of the request and
    /// the reply.
    pub(super) fn update(&self, headers: &HeaderMap, sent: Timestamp, received: Timestamp) {
        // A reply from a cache carries the date at which it was created.
        let Some(date) = date(headers).filter(|_| !headers.contains_key(AGE)) else { return };
        // The server set the date between request and reply, at any moment within that second.
        let date = date.as_millisecond();
        let (least, most) = (date - received.as_millisecond(), date + 999 - sent.as_millisecond());
        if least <= most {
            // The estimate moves only as far as this reply requires, so a slow reply does not disturb what a quick one
            // has settled.
            let adjusted = |ahead: i64| Some(ahead.clamp(least, most));
            let _ = self.ahead.fetch_update(Ordering::Relaxed, Ordering::Relaxed, adjusted);
        }
    }
}

/// Returns the time at which the server created the reply, by its clock.
pub(super) fn date(headers: &HeaderMap) -> Option<Timestamp> {
    Some(jiff::fmt::rfc2822::parse(headers.get(DATE)?.to_str().ok()?.trim()).ok()?.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the estimate in seconds after replies with these dates, request times and arrival times, all in seconds.
    fn estimate_after(replies: &[(f64, f64, f64)]) -> f64 {
        let clock = ClockOffset::default();
        let moment = |seconds: f64| Timestamp::from_millisecond(1_781_524_800_000 + (seconds * 1e3) as i64).unwrap();
        for (dated, sent, received) in replies {
            let text = jiff::fmt::rfc2822::to_string(&moment(*dated).to_zoned(jiff::tz::TimeZone::UTC)).unwrap();
            let headers = HeaderMap::from_iter([(DATE, text.parse().unwrap())]);
            clock.update(&headers, moment(*sent), moment(*received));
        }
        clock.ahead().as_secs_f64()
    }

    #[test]
    fn consistent_clocks_have_no_offset() {
        assert_eq!(estimate_after(&[]), 0.0);
        assert_eq!(estimate_after(&[(0.9, 0.9, 1.1), (2.0, 2.95, 2.99), (10.0, 4.0, 30.0)]), 0.0);
    }

    #[test]
    fn offset_is_accurate_to_a_second_and_stable() {
        let year: f64 = 365.0 * 86_400.0;
        for off in [600.0, -600.0, year, -year, 3.0, -3.0] {
            // A quick reply, a slow one, and two quick ones.
            let replies = [(0.2, 0.1, 0.3), (31.0, 4.0, 40.0), (50.5, 50.4, 50.6), (61.9, 61.8, 62.0)];
            let replies = replies.map(|(dated, sent, received)| ((dated + off).floor(), sent, received));
            let first = estimate_after(&replies[..1]);
            assert!((first - off).abs() <= 1.0, "{off}: {first}");
            assert_eq!(estimate_after(&replies[..2]), first, "{off}");
            assert!((estimate_after(&replies) - off).abs() <= 1.0, "{off}");
        }
    }

    #[test]
    fn cached_and_undated_replies_are_ignored() {
        let clock = ClockOffset::default();
        let (sent, received) = (Timestamp::UNIX_EPOCH, Timestamp::UNIX_EPOCH);
        for headers in [
            HeaderMap::new(),
            HeaderMap::from_iter([(DATE, "soon".parse().unwrap())]),
            HeaderMap::from_iter([
                (DATE, "Mon, 01 Jan 2018 00:00:05 GMT".parse().unwrap()),
                (AGE, "3600".parse().unwrap()),
            ]),
        ] {
            clock.update(&headers, sent, received);
            assert!(clock.ahead().is_zero());
        }
    }
}
