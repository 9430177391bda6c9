//! Dates and times as typed by the user: `2026-01-31`, `2w`, `today`.

use crate::api::Time;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, Unit};

/// Parses a date or time relative to `now`; `3d` is three days ago. Days begin at midnight UTC, so that the same text
/// results in the same request all day.
pub fn parse(text: &str, now: Timestamp) -> Option<Time> {
    let text = text.trim();
    if text.parse::<Date>().is_ok() {
        return Some(Time(text.to_owned()));
    }
    if text.contains('T') {
        return text.parse::<Timestamp>().ok().map(|_| Time(text.to_owned()));
    }
    let days = match text {
        "today" => 0,
        "yesterday" => 1,
        _ => {
            let unit = text.chars().last()?;
            let number: i64 = text.get(..text.len() - unit.len_utf8())?.parse().ok()?;
            if number < 0 {
                return None;
            }
            let days = match unit {
                'h' => return hours_ago(number, now),
                'd' => 1,
                'w' => 7,
                'm' => 30,
                'y' => 365,
                _ => return None,
            };
            number.checked_mul(days)?
        }
    };
    let moment = now.checked_sub(SignedDuration::from_hours(days.checked_mul(24).filter(|h| *h < 1 << 30)?)).ok()?;
    Some(Time(moment.to_zoned(TimeZone::UTC).date().to_string()))
}

fn hours_ago(hours: i64, now: Timestamp) -> Option<Time> {
    let moment = now.checked_sub(SignedDuration::from_hours(Some(hours).filter(|h| *h < 1 << 30)?)).ok()?;
    let whole = moment.to_zoned(TimeZone::UTC).round(Unit::Hour).ok()?;
    Some(Time(whole.timestamp().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_parsed_in_common_notations() {
        let now: Timestamp = "2026-06-15T12:34:56Z".parse().expect("a time");
        let at = |text: &str| parse(text, now).map(|time| time.0);
        assert_eq!(at("2026-01-31").as_deref(), Some("2026-01-31"));
        assert_eq!(at("2026-01-31T10:00:00Z").as_deref(), Some("2026-01-31T10:00:00Z"));
        assert_eq!(at("today").as_deref(), Some("2026-06-15"));
        assert_eq!(at("yesterday").as_deref(), Some("2026-06-14"));
        assert_eq!(at("2w").as_deref(), Some("2026-06-01"));
        assert_eq!(at("36h").as_deref(), Some("2026-06-14T01:00:00Z"));
        for wrong in ["", "w", "2x", "-3d", "2026-13-01", "99999999999999999999d", "9999999999y", "soon"] {
            assert_eq!(at(wrong), None, "{wrong}");
        }
    }
}
