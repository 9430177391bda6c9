//! Past tense of the descriptions of writes: `close !42` becomes `Closed !42`.

use crate::ui::text;

/// Verbs whose past tense does not follow the rules below.
const IRREGULAR: &[(&str, &str)] = &[
    ("commit", "committed"),
    ("drop", "dropped"),
    ("keep", "kept"),
    ("let", "let"),
    ("make", "made"),
    ("put", "put"),
    ("reset", "reset"),
    ("send", "sent"),
    ("set", "set"),
    ("star", "starred"),
    ("stop", "stopped"),
    ("submit", "submitted"),
    ("take", "took"),
    ("unstar", "unstarred"),
    ("withdraw", "withdrew"),
    ("write", "wrote"),
];

/// Returns `what`, which begins with a verb, in the past tense: a sentence without its period.
pub fn past_tense(what: &str) -> String {
    let (verb, rest) = what.split_at(what.find(' ').unwrap_or(what.len()));
    let past = match IRREGULAR.iter().find(|(now, _)| *now == verb) {
        Some((_, past)) => (*past).to_owned(),
        None if verb.ends_with('e') => format!("{verb}d"),
        None => match verb.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u'])) {
            Some(stem) => format!("{stem}ied"),
            None => format!("{verb}ed"),
        },
    };
    format!("{}{rest}", text::capitalize(&past))
}

#[cfg(test)]
mod tests {
    use super::past_tense;

    #[test]
    fn verbs_are_put_into_the_past() {
        for (now, past) in [
            ("close !42", "Closed !42"),
            ("retry #7 unit", "Retried #7 unit"),
            ("play #7", "Played #7"),
            ("keep #7", "Kept #7"),
            ("comment on !42", "Commented on !42"),
            ("cherry-pick 1a2b to main", "Cherry-picked 1a2b to main"),
            ("commit 2 files to main", "Committed 2 files to main"),
            ("test", "Tested"),
        ] {
            assert_eq!(past_tense(now), past);
        }
    }
}
