//! Ages and dates of servers' times, in words.

use crate::api::Time;
use crate::app::view::View;
use crate::ui::{glyph, text};
use jiff::Timestamp;

/// Returns the age of a server time: `3h`; empty if it is not a date.
pub fn age(view: &View, time: Option<&Time>) -> String {
    let Some(instant) = time.and_then(Time::instant) else { return String::new() };
    text::short_age(view.now.duration_since(instant).as_secs())
}

/// Returns a time as a date for details by the clock of this machine, or the server's text if it is not a date.
pub fn date(time: &Time) -> String {
    date_in(time, jiff::tz::TimeZone::system())
}

fn date_in(time: &Time, zone: jiff::tz::TimeZone) -> String {
    let zoned = time.instant().map(|instant| instant.to_zoned(zone));
    zoned.map_or_else(|| time.to_string(), |zoned| zoned.strftime("%Y-%m-%d %H:%M").to_string())
}

/// Returns a time by the clock of this machine: `Fri 27 Nov 03:00`.
pub fn local_time(at: Timestamp) -> String {
    at.to_zoned(jiff::tz::TimeZone::system()).strftime("%a %-d %b %H:%M").to_string()
}

/// Returns the day of a time, or the server's text if it is not a date.
pub fn day(time: &Time) -> String {
    match time.instant() {
        Some(instant) => instant.to_zoned(jiff::tz::TimeZone::UTC).strftime("%Y-%m-%d").to_string(),
        None => time.to_string(),
    }
}

/// Returns since when something goes on, in accessible mode: a duration would change by itself.
pub fn since(began: Option<Timestamp>, now: Timestamp) -> Option<String> {
    let zone = jiff::tz::TimeZone::system();
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
    fn dates_are_those_of_the_clock_of_this_machine() {
        let tokyo = jiff::tz::TimeZone::posix("JST-9").expect("a time zone");
        assert_eq!(date_in(&Time("2026-11-29T15:49:10.123Z".into()), tokyo.clone()), "2026-11-30 00:49");
        assert_eq!(date_in(&Time("soon".into()), tokyo), "soon");
    }
}
