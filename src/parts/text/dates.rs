//! Ages and dates of servers' times, in words.

use crate::api::Time;
use crate::app::dates::zone;
use crate::app::view::View;
use crate::ui::{glyph, text};
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Returns the age of a server time: `3h`; empty if it is not a date.
pub fn age(view: &View, time: Option<&Time>) -> String {
    let Some(instant) = time.and_then(Time::instant) else { return String::new() };
    text::short_age(view.now.duration_since(instant).as_secs())
}

/// Returns a time with its date for details, or the server's text if it is not a time.
pub fn date(time: &Time) -> String {
    format(time, "%Y-%m-%d %H:%M", zone())
}

/// Returns the day of a time, or the server's text if it is not a time.
pub fn day(time: &Time) -> String {
    format(time, "%Y-%m-%d", zone())
}

/// Formats a time in a time zone. A date is of no time zone.
fn format(time: &Time, form: &str, zone: TimeZone) -> String {
    let instant = time.instant().filter(|_| time.as_str().contains(':'));
    instant.map_or_else(|| time.to_string(), |at| at.to_zoned(zone).strftime(form).to_string())
}

/// Returns a time of the next or last days, with its weekday: `Fri 27 Nov 03:00`.
pub fn local_time(at: Timestamp) -> String {
    at.to_zoned(zone()).strftime("%a %-d %b %H:%M").to_string()
}

/// Returns since when something goes on, in accessible mode: a duration would change by itself.
pub fn since(began: Option<Timestamp>, now: Timestamp) -> Option<String> {
    let zone = zone();
    let (began, now) = (began.filter(|_| glyph::is_accessible())?.to_zoned(zone.clone()), now.to_zoned(zone));
    let form = if began.date() == now.date() { "%H:%M" } else { "%b %-d %H:%M" };
    Some(format!("since {}", began.strftime(form)))
}

/// Returns the age of a server time for a sentence: see [`ago`].
pub fn time_ago(view: &View, time: Option<&Time>) -> String {
    ago(&age(view, time))
}

/// Returns an [`age`] for a sentence: `3h ago`, or `3 hours ago` for screen readers; empty without an age.
pub fn ago(age: &str) -> String {
    let age = if glyph::is_accessible() { spelled_out(age) } else { age.to_owned() };
    match age.as_str() {
        "" => String::new(),
        "now" => "just now".into(),
        // Future dates; some commits have them too.
        _ if age.starts_with("in ") => age,
        _ => format!("{age} ago"),
    }
}

/// Returns an [`age`] for use beside other words: as short as in a column, or like [`ago`] for screen readers.
pub fn compact_age(age: String) -> String {
    if glyph::is_accessible() { ago(&age) } else { age }
}

/// Spells out an [`age`]: `3 hours`.
fn spelled_out(age: &str) -> String {
    let (before, age) = age.strip_prefix("in ").map_or(("", age), |age| ("in ", age));
    let units = [('m', "minute"), ('h', "hour"), ('d', "day"), ('w', "week"), ('y', "year")];
    let spelled = units.into_iter().find_map(|(letter, unit)| {
        let number = age.strip_suffix(letter)?.parse().ok()?;
        Some(text::count_noun(number, unit))
    });
    format!("{before}{}", spelled.as_deref().unwrap_or(age))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_time_zone_and_dates_are_of_none() {
        let of = |zone: &str, time: &str| {
            let zone = TimeZone::posix(zone).expect("a time zone");
            format(&Time(time.into()), "%Y-%m-%d %H:%M", zone)
        };
        assert_eq!(of("JST-9", "2026-11-29T15:49:10.123Z"), "2026-11-30 00:49");
        assert_eq!(of("EST5", "2026-11-29T02:00:00Z"), "2026-11-28 21:00");
        assert_eq!(of("EST5", "2026-11-29"), "2026-11-29");
        assert_eq!(of("JST-9", "soon"), "soon");
    }
}
