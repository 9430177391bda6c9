//! The times of a schedule in the format of cron: minute, hour, day of the month, month and day of the week.

use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

/// The number of days that are searched for the next time: the 29th of February returns after eight years at the latest.
const MAX_DAYS: usize = 366 * 8 + 1;
const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// The values that one part of a schedule allows.
#[derive(Clone, Debug, PartialEq)]
struct Field {
    values: Vec<i8>,
    /// Whether the part is `*`.
    is_any: bool,
}

impl Field {
    /// Parses a list such as `1,3-5,*/2`. `names` are names of values from `least` on.
    fn parse(text: &str, (least, most): (i8, i8), names: &[&str]) -> Option<Field> {
        let number = |text: &str| {
            let named = names.iter().position(|name| name.eq_ignore_ascii_case(text));
            let value = match named {
                Some(at) => i8::try_from(at).ok()?.checked_add(least)?,
                None => text.parse().ok()?,
            };
            (least..=most).contains(&value).then_some(value)
        };
        let mut values = Vec::new();
        for part in text.split(',') {
            let (range, step) = part.split_once('/').unwrap_or((part, "1"));
            let step: usize = step.parse().ok().filter(|step| *step > 0)?;
            let (from, to) = match range.split_once('-') {
                _ if range == "*" => (least, most),
                Some((from, to)) => (number(from)?, number(to)?),
                None if part.contains('/') => (number(range)?, most),
                None => (number(range)?, number(range)?),
            };
            values.extend((from..=to).step_by(step));
        }
        Some(Field { values, is_any: text == "*" }).filter(|field| !field.values.is_empty())
    }

    fn allows(&self, value: i8) -> bool {
        self.values.contains(&value)
    }
}

/// The times of a schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct Cron {
    minute: Field,
    hour: Field,
    day: Field,
    month: Field,
    weekday: Field,
}

impl Cron {
    /// Parses five parts, or a name such as `@daily`; `None` if they are invalid.
    pub fn parse(text: &str) -> Option<Cron> {
        let text = match text.trim() {
            "@hourly" => "0 * * * *",
            "@daily" | "@midnight" => "0 0 * * *",
            "@weekly" => "0 0 * * 0",
            "@monthly" => "0 0 1 * *",
            "@yearly" | "@annually" => "0 0 1 1 *",
            text => text,
        };
        let [minute, hour, day, month, weekday] = *text.split_whitespace().collect::<Vec<_>>() else { return None };
        Some(Cron {
            minute: Field::parse(minute, (0, 59), &[])?,
            hour: Field::parse(hour, (0, 23), &[])?,
            day: Field::parse(day, (1, 31), &[])?,
            month: Field::parse(month, (1, 12), &MONTHS)?,
            // Both 0 and 7 are Sunday.
            weekday: Field::parse(weekday, (0, 7), &DAYS)?,
        })
    }

    /// Returns whether a day is allowed: if both the day of the month and the day of the week are given, one suffices.
    fn allows(&self, date: Date) -> bool {
        let weekday = date.weekday().to_sunday_zero_offset();
        let is_sunday = date.weekday() == Weekday::Sunday && self.weekday.allows(7);
        let (day, weekday) = (self.day.allows(date.day()), self.weekday.allows(weekday) || is_sunday);
        let fits = match self.day.is_any || self.weekday.is_any {
            true => day && weekday,
            false => day || weekday,
        };
        fits && self.month.allows(date.month())
    }

    /// Returns the first time after `now`, by the clocks of a time zone; `None` if there is none in the coming years.
    pub fn next(&self, now: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        let start = now.to_zoned(zone.clone()).date();
        let days = std::iter::successors(Some(start), |date| date.checked_add(1.day()).ok()).take(MAX_DAYS);
        let times = days.filter(|date| self.allows(*date)).flat_map(|date| {
            let hours = (0..24).filter(|hour| self.hour.allows(*hour));
            hours.flat_map(move |hour| {
                let minutes = (0..60).filter(|minute| self.minute.allows(*minute));
                minutes.map(move |minute| date.at(hour, minute, 0, 0))
            })
        });
        let mut times = times.filter_map(|at| at.to_zoned(zone.clone()).ok().map(|at| at.timestamp()));
        times.find(|at| *at > now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(text: &str, now: &str, zone: &TimeZone) -> String {
        Cron::parse(text)
            .and_then(|cron| cron.next(now.parse().unwrap(), zone))
            .map_or("never".into(), |at| at.to_string())
    }

    #[test]
    fn the_next_time_fits_all_parts() {
        // A Friday.
        let now = "2026-11-20T16:00:00Z";
        for (text, expected) in [
            ("* * * * *", "2026-11-20T16:01:00Z"),
            ("0 16 * * *", "2026-11-21T16:00:00Z"),
            ("*/15 17-18 * * *", "2026-11-20T17:00:00Z"),
            ("5/20 * * * *", "2026-11-20T16:05:00Z"),
            ("0 4 * * mon-fri", "2026-11-23T04:00:00Z"),
            ("0 0 * * 7", "2026-11-22T00:00:00Z"),
            ("0 0 1 * 6", "2026-11-21T00:00:00Z"),
            ("30 1 29 feb *", "2028-02-29T01:30:00Z"),
            ("@monthly", "2026-12-01T00:00:00Z"),
            ("0 0 31 2 *", "never"),
        ] {
            assert_eq!(next(text, now, &TimeZone::UTC), expected, "{text}");
        }
        let berlin = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        assert_eq!(next("0 4 * * *", now, &berlin), "2026-11-21T03:00:00Z");
    }

    #[test]
    fn invalid_schedules_are_refused() {
        for text in [
            "",
            "* * * *",
            "60 * * * *",
            "* 24 * * *",
            "* * 0 * *",
            "* * * 13 *",
            "* * * * 8",
            "*/0 * * * *",
            "a * * * *",
            "5-1 * * * *",
            "1,, * * * *",
            "@often",
        ] {
            assert_eq!(Cron::parse(text), None, "{text}");
        }
    }
}
