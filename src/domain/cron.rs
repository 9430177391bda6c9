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

    /// Returns the distance between the values, if they are all of `*/n`.
    fn step(&self, (least, most): (i8, i8)) -> Option<usize> {
        let step = usize::try_from(*self.values.get(1)? - self.values.first()?).ok().filter(|step| *step > 1)?;
        (least..=most).step_by(step).eq(self.values.iter().copied()).then_some(step)
    }

    /// Returns the values in words: `1, 3 to 5 and 9`.
    fn words(&self, name: impl Fn(i8) -> String) -> String {
        let mut values = self.values.clone();
        values.sort_unstable();
        values.dedup();
        let mut ranges: Vec<(i8, i8)> = Vec::new();
        for value in values {
            match ranges.last_mut() {
                Some((_, to)) if *to + 1 == value => *to = value,
                _ => ranges.push((value, value)),
            }
        }
        let mut parts: Vec<String> = Vec::new();
        for (from, to) in ranges {
            match to - from {
                0 => parts.push(name(from)),
                1 => parts.extend([name(from), name(to)]),
                _ => parts.push(format!("{} to {}", name(from), name(to))),
            }
        }
        join(&parts)
    }
}

/// Joins texts: `a, b and c`.
fn join(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Returns the name at a position; empty if there is none.
fn named(names: &[&str], at: usize) -> String {
    names.get(at).map(|name| (*name).to_owned()).unwrap_or_default()
}

/// The names of the days of the week in words, from Sunday.
const DAY_WORDS: [&str; 8] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
/// The names of the months in words.
const MONTH_WORDS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
/// The maximum number of times of a day that are listed one by one.
const MAX_TIMES: usize = 4;

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

    /// Returns why a text can be no schedule on any server; `None` if it is one, or in a form that is not known here.
    pub fn mistake(text: &str) -> Option<&'static str> {
        let text = text.trim();
        // Letters may be names, or forms that only some servers know.
        let is_plain = |c: char| c.is_ascii_digit() || matches!(c, '*' | '/' | ',' | '-' | ' ');
        match Cron::parse(text) {
            // The times are the same wherever one begins to search.
            Some(cron) if cron.next(Timestamp::UNIX_EPOCH, &TimeZone::UTC).is_none() => {
                Some("never fires: there is no such date")
            }
            Some(_) => None,
            None if text.split_whitespace().count() < 5
                && text.starts_with(|c: char| c.is_ascii_digit() || c == '*') =>
            {
                Some("needs five parts: minute hour day month weekday")
            }
            None if text.split_whitespace().count() == 5
                && text.chars().all(is_plain)
                && !text.starts_with("every") =>
            {
                Some("is invalid: minute 0-59, hour 0-23, day 1-31, month 1-12, weekday 0-7")
            }
            None => None,
        }
    }

    /// Returns the meaning in words: `at 04:00 on Monday to Friday`.
    pub fn words(&self) -> String {
        let two = |value: i8| format!("{value:02}");
        let hours = || self.hour.words(|hour| format!("{hour:02}"));
        let minutes = |step: Option<usize>| match step {
            _ if self.minute.is_any => "every minute".to_owned(),
            Some(step) => format!("every {step} minutes"),
            None if self.minute.values.len() == 1 => format!("at minute {}", self.minute.words(two)),
            None => format!("at minutes {}", self.minute.words(two)),
        };
        let step = self.minute.step((0, 59));
        let count = self.minute.values.len().saturating_mul(self.hour.values.len());
        let (time, is_frequent) = match (self.hour.is_any, self.hour.step((0, 23))) {
            (false, _) if count <= MAX_TIMES => {
                let times = self
                    .hour
                    .values
                    .iter()
                    .flat_map(|hour| self.minute.values.iter().map(move |minute| format!("{hour:02}:{minute:02}")));
                (format!("at {}", join(&times.collect::<Vec<_>>())), false)
            }
            (true, _) if self.minute.is_any || step.is_some() => (minutes(step), true),
            (true, _) => (format!("{} of every hour", minutes(None)), true),
            (false, Some(hours)) if self.minute.values.len() == 1 => {
                (format!("{} of every {hours} hours", minutes(None)), true)
            }
            (false, _) => (format!("{} in the hours {}", minutes(step), hours()), false),
        };
        let days = || self.day.words(|day| day.to_string());
        let weekdays = || self.weekday.words(|day| named(&DAY_WORDS, usize::try_from(day).unwrap_or_default()));
        let day = match (self.day.is_any, self.weekday.is_any) {
            (true, true) if is_frequent || !self.month.is_any => String::new(),
            (true, true) => " every day".to_owned(),
            (true, false) => format!(" on {}", weekdays()),
            (false, true) => format!(" on day {} of the month", days()),
            (false, false) => format!(" on day {} of the month and on {}", days(), weekdays()),
        };
        let month = |month: i8| named(&MONTH_WORDS, usize::try_from(month - 1).unwrap_or_default());
        let month = if self.month.is_any { String::new() } else { format!(" in {}", self.month.words(month)) };
        format!("{time}{day}{month}")
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
    fn schedules_are_told_in_words() {
        for (text, words) in [
            ("* * * * *", "every minute"),
            ("*/15 * * * *", "every 15 minutes"),
            ("5 * * * *", "at minute 05 of every hour"),
            ("0 */2 * * *", "at minute 00 of every 2 hours"),
            ("0 4 * * *", "at 04:00 every day"),
            ("0 4,16 * * mon-fri", "at 04:00 and 16:00 on Monday to Friday"),
            ("30 6 1,15 * *", "at 06:30 on day 1 and 15 of the month"),
            ("0 0 1 * 6", "at 00:00 on day 1 of the month and on Saturday"),
            ("*/10 8-17 * * *", "every 10 minutes in the hours 08 to 17 every day"),
            ("0 0 29 2 *", "at 00:00 on day 29 of the month in February"),
            ("@monthly", "at 00:00 on day 1 of the month"),
            ("0 0 * 6-8 7", "at 00:00 on Sunday in June to August"),
        ] {
            assert_eq!(Cron::parse(text).unwrap().words(), words, "{text}");
        }
    }

    #[test]
    fn mistakes_are_told_but_unknown_forms_are_left_to_the_server() {
        for text in ["0 0 30 2 *", "60 * * * *", "* * * *", "0 3 * * 9", "0 0 31 4,6 *"] {
            assert!(Cron::mistake(text).is_some(), "{text}");
        }
        for text in ["0 0 29 2 *", "every day at noon", "0 0 L * *", "0 3 * * 1#2", "@daily", "0 3 * * * Europe/Berlin"]
        {
            assert_eq!(Cron::mistake(text), None, "{text}");
        }
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
