//! The time zone, and dates and times as typed by the user: `2026-01-31`, `2w`, `fri`, `today`. Days are those of that zone.

use api::Time;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, Timestamp, Unit, Zoned};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether times are shown in the time zone of this machine.
static IS_LOCAL: AtomicBool = AtomicBool::new(false);

/// Shows times in the time zone of this machine. Tests do not: what they expect is the same on every machine.
pub fn show_local_times() {
    IS_LOCAL.store(true, Ordering::Relaxed);
}

/// Returns the time zone in which times are shown and typed.
pub fn zone() -> TimeZone {
    if IS_LOCAL.load(Ordering::Relaxed) { TimeZone::system() } else { TimeZone::UTC }
}

/// The days of the week, of which the first letters are enough.
const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// Returns the date or time itself, if the text is one.
fn exact(text: &str) -> Option<Time> {
    let is_exact = text.parse::<Date>().is_ok() || (text.contains('T') && text.parse::<Timestamp>().is_ok());
    is_exact.then(|| Time(text.to_owned()))
}

/// Parses a date in the future: `2w` is in two weeks, and `fri` the next Friday.
pub fn parse_ahead(text: &str, now: &Zoned) -> Option<Time> {
    let text = text.trim();
    if let Some(time) = exact(text) {
        return Some(time);
    }
    let (text, today) = (text.trim_start_matches('+').to_lowercase(), now.date());
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
pub fn meaning(time: &Time, now: &Zoned) -> Option<String> {
    let date: Date = time.0.get(..10)?.parse().ok()?;
    let days = now.date().until((Unit::Day, date)).ok()?.get_days();
    let distance = match days {
        0 => "today".to_owned(),
        1 => "tomorrow".to_owned(),
        -1 => "yesterday".to_owned(),
        2.. => format!("in {days} days"),
        _ => format!("{} days ago", days.unsigned_abs()),
    };
    Some(format!("{}, {distance}", date.strftime("%a %-d %b %Y")))
}

/// Parses a date or time in the past; `3d` is three days ago. Days begin at midnight, so that the same text results in
/// the same request all day. A midnight that is not the one of UTC, which servers take for a date, is a time.
pub fn parse(text: &str, now: &Zoned) -> Option<Time> {
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
    let date = now.date().checked_sub(Span::new().try_days(days).ok()?).ok()?;
    let midnight = date.to_zoned(now.time_zone().clone()).ok()?;
    let is_utc = midnight.offset().is_zero() && midnight.date() == date;
    Some(Time(if is_utc { date.to_string() } else { midnight.timestamp().to_string() }))
}

fn hours_ago(hours: i64, now: &Zoned) -> Option<Time> {
    let moment = now.timestamp().checked_sub(SignedDuration::try_from_hours(hours)?).ok()?;
    Some(Time(moment.round(Unit::Hour).ok()?.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_parsed_in_common_notations() {
        let now = "2026-06-15T12:34:56[UTC]".parse().expect("a time");
        let at = |text: &str| parse(text, &now).map(|time| time.0);
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
        let now = "2026-06-15T23:34:56[UTC]".parse().expect("a time");
        let at = |text: &str| parse_ahead(text, &now).map(|time| time.0);
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
        let said = |text: &str| parse_ahead(text, &now).and_then(|time| meaning(&time, &now)).unwrap_or_default();
        assert_eq!(said("2026-12-24"), "Thu 24 Dec 2026, in 192 days");
        assert_eq!(said("tomorrow"), "Tue 16 Jun 2026, tomorrow");
        assert_eq!(said("2026-06-01T10:00:00Z"), "Mon 1 Jun 2026, 14 days ago");
        assert_eq!(meaning(&Time("nonsense".into()), &now), None);
    }

    #[test]
    fn days_are_those_of_the_time_zone() {
        let zone = TimeZone::posix("AEST-10AEDT,M10.1.0,M4.1.0/3").expect("the zone of Sydney");
        // Tuesday morning in Sydney, Monday evening by UTC.
        let now = "2026-06-15T21:30:00Z".parse::<Timestamp>().expect("a time").to_zoned(zone);
        let at = |text: &str| parse(text, &now).map(|time| time.0).unwrap_or_default();
        assert_eq!(at("today"), "2026-06-15T14:00:00Z");
        assert_eq!(at("yesterday"), "2026-06-14T14:00:00Z");
        assert_eq!(at("1m"), "2026-05-16T14:00:00Z");
        assert_eq!(at("6m"), "2025-12-17T13:00:00Z", "summer time");
        assert_eq!(at("2026-06-16"), "2026-06-16", "as typed");
        let ahead = |text: &str| parse_ahead(text, &now).map(|time| time.0).unwrap_or_default();
        assert_eq!(
            ["today", "tomorrow", "wed", "tue"].map(ahead),
            ["2026-06-16", "2026-06-17", "2026-06-17", "2026-06-23"]
        );
        assert_eq!(meaning(&Time("2026-06-16".into()), &now).as_deref(), Some("Tue 16 Jun 2026, today"));
    }
}
