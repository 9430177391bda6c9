//! Dates and times as typed by the user: `2026-01-31`, `2w`, `fri`, `today`.

use crate::api::Time;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, Timestamp, Unit};

/// The days of the week, of which the first letters are enough.
const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// Returns the date or time itself, if the text is one.
fn exact(text: &str) -> Option<Time> {
    let is_exact = text.parse::<Date>().is_ok() || (text.contains('T') && text.parse::<Timestamp>().is_ok());
    is_exact.then(|| Time(text.to_owned()))
}

fn today(now: Timestamp) -> Date {
    now.to_zoned(TimeZone::UTC).date()
}

/// Parses a date in the future: `2w` is in two weeks, and `fri` the next Friday.
pub fn parse_ahead(text: &str, now: Timestamp) -> Option<Time> {
    let text = text.trim();
    if let Some(time) = exact(text) {
        return Some(time);
    }
    let (text, today) = (text.trim_start_matches('+').to_lowercase(), today(now));
    let weekday = WEEKDAYS.iter().position(|day| text.len() >= 3 && day.starts_with(&text));
    let span = match text.as_str() {
        "today" => Span::new(),
        "tomorrow" => Span::new().days(1),
        "yesterday" => Span::new().days(-1),
        _ if weekday.is_some() => {
            let days = weekday? as i64 - i64::from(today.weekday().to_monday_zero_offset());
            Span::new().days(if days > 0 { days } else { days + 7 })
        }
        _ => {
            let unit = text.chars().last()?;
            // Enough for any date that can be written.
            let number: i64 = text.get(..text.len() - unit.len_utf8())?.trim_end().parse().ok()?;
            let number = Some(number).filter(|number| (0..100_000).contains(number))?;
            match unit {
                'd' => Span::new().days(number),
                'w' => Span::new().weeks(number),
                'm' => Span::new().try_months(number).ok()?,
                'y' => Span::new().try_years(number).ok()?,
                _ => return None,
            }
        }
    };
    today.checked_add(span).ok().map(|date| Time(date.to_string()))
}

/// Describes the date of a parsed time: `Fri 4 Dec 2026, in 8 days`.
pub fn meaning(time: &Time, now: Timestamp) -> Option<String> {
    let date: Date = time.0.get(..10)?.parse().ok()?;
    let days = today(now).until((Unit::Day, date)).ok()?.get_days();
    let distance = match days {
        0 => "today".to_owned(),
        1 => "tomorrow".to_owned(),
        -1 => "yesterday".to_owned(),
        2.. => format!("in {days} days"),
        _ => format!("{} days ago", days.unsigned_abs()),
    };
    Some(format!("{}, {distance}", date.strftime("%a %-d %b %Y")))
}

/// Parses a date or time in the past; `3d` is three days ago. Days begin at midnight UTC, so that the same text
/// results in the same request all day.
pub fn parse(text: &str, now: Timestamp) -> Option<Time> {
    let text = text.trim();
    if let Some(time) = exact(text) {
        return Some(time);
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

    #[test]
    fn dates_in_the_future_are_parsed_and_described() {
        let now: Timestamp = "2026-06-15T23:34:56Z".parse().expect("a time");
        let at = |text: &str| parse_ahead(text, now).map(|time| time.0);
        for (text, date) in [
            ("2026-12-24", "2026-12-24"),
            ("today", "2026-06-15"),
            ("tomorrow", "2026-06-16"),
            ("fri", "2026-06-19"),
            ("Friday", "2026-06-19"),
            ("mon", "2026-06-22"),
            ("2w", "2026-06-29"),
            ("+3d", "2026-06-18"),
            ("1m", "2026-07-15"),
            ("1y", "2027-06-15"),
        ] {
            assert_eq!(at(text).as_deref(), Some(date), "{text}");
        }
        for wrong in ["", "w", "fr", "-3d", "2026-13-01", "99999999999999999999d", "99999y", "soon", "ü"] {
            assert_eq!(at(wrong), None, "{wrong}");
        }
        let said = |text: &str| parse_ahead(text, now).and_then(|time| meaning(&time, now)).unwrap_or_default();
        assert_eq!(said("2026-12-24"), "Thu 24 Dec 2026, in 192 days");
        assert_eq!(said("tomorrow"), "Tue 16 Jun 2026, tomorrow");
        assert_eq!(said("2026-06-01T10:00:00Z"), "Mon 1 Jun 2026, 14 days ago");
        assert_eq!(meaning(&Time("nonsense".into()), now), None);
    }
}
