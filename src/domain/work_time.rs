//! Amounts of work in GitLab's words, such as `2d 3h 30m`: a day has eight hours, a week five days, and a month four weeks.

/// The units with their other names and their length in seconds, the longest first.
const UNITS: &[(&str, &[&str], u64)] = &[
    ("mo", &["month", "months", "mos"], 20 * 8 * 3600),
    ("w", &["week", "weeks", "wk", "wks"], 5 * 8 * 3600),
    ("d", &["day", "days"], 8 * 3600),
    ("h", &["hour", "hours", "hr", "hrs"], 3600),
    ("m", &["minute", "minutes", "min", "mins"], 60),
    ("s", &["second", "seconds", "sec", "secs"], 1),
];

/// The largest amount in seconds: that of the database of servers.
const MAX_SECONDS: f64 = i32::MAX as f64;

/// Parses an amount in seconds; a sign applies to all of it, and a number without a unit is in hours. `None` if it is not
/// understood.
pub fn parse(text: &str) -> Option<i64> {
    let text = text.trim().to_lowercase();
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(&text)),
    };
    if rest.trim().is_empty() {
        return None;
    }
    let mut seconds = 0.0;
    while !rest.trim_start_matches([' ', ',']).is_empty() {
        rest = rest.trim_start_matches([' ', ',']);
        let (number, after) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len()));
        let number: f64 = number.parse().ok()?;
        let after = after.trim_start_matches(' ');
        let (unit, after) = after.split_at(after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len()));
        let is_it = |(name, names, _): &&(&str, &[&str], u64)| *name == unit || names.contains(&unit);
        let length = match unit {
            "" => 3600,
            _ => UNITS.iter().find(is_it)?.2,
        };
        seconds += number * length as f64;
        rest = after;
    }
    (seconds <= MAX_SECONDS).then(|| sign * seconds.round() as i64)
}

/// Formats an amount in seconds; `None` if it is zero.
pub fn format(seconds: u64) -> Option<String> {
    let mut rest = seconds;
    let mut words = Vec::new();
    for (unit, _, length) in UNITS {
        if rest >= *length {
            words.push(format!("{}{unit}", rest / length));
            rest %= length;
        }
    }
    (!words.is_empty()).then(|| words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_in_the_words_of_servers() {
        for (text, seconds) in [
            ("1h 30m", 5_400),
            ("3h30m", 12_600),
            ("-30m", -1_800),
            ("2d", 57_600),
            ("1mo 1w", 25 * 8 * 3_600),
            ("1.5h", 5_400),
            ("2", 7_200),
            ("1 hour, 5 minutes", 3_900),
            ("+45M", 2_700),
            ("0", 0),
        ] {
            assert_eq!(parse(text), Some(seconds), "{text}");
        }
        for text in ["", "-", "soon", "1y", "h", "1h-30m", "--1h", "9999999999h", "1.2.3h", "½h"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn durations_use_working_days_and_weeks() {
        let hour = 3600;
        let durations = [59 * 60, hour, 8 * hour, 9 * hour + 30, 5 * 8 * hour, 20 * 8 * hour, 0].map(format);
        let words = durations.iter().map(|words| words.as_deref().unwrap_or_default());
        assert_eq!(words.collect::<Vec<_>>(), ["59m", "1h", "1d", "1d 1h 30s", "1w", "1mo", ""]);
    }
}
