//! Mentions of issues and merge requests in texts. Where nothing is mentioned, there is no need to ask the server for what
//! is.

/// The beginnings of the words before an issue that is closed, in the default pattern of servers.
const CLOSING: &[&str] = &["clos", "fix", "resolv", "implement"];

/// The kinds of items that texts mention. A kind may be set without a mention, but never the other way round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mentions {
    /// Issues, also those of other trackers, such as `ABC-12`.
    pub issues: bool,
    /// Issues that are to be closed.
    pub closed_issues: bool,
    pub merge_requests: bool,
}

impl Mentions {
    /// Returns what any of the texts mentions.
    pub fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Mentions {
        let mut all = Mentions::default();
        for text in texts {
            let mentions_issue = mentions_issue(text);
            all.issues |= mentions_issue;
            all.closed_issues |= mentions_issue && has_closing_word(text);
            all.merge_requests |= is_before_digit(text, "!") || text.contains("/merge_requests/");
        }
        all
    }
}

fn mentions_issue(text: &str) -> bool {
    let of_other_tracker = |at: usize| text.get(..at).is_some_and(|before| before.ends_with(is_key));
    ["/issues/", "/work_items/"].iter().any(|part| text.contains(part))
        || is_before_digit(text, "#")
        || text.match_indices('-').any(|(at, _)| of_other_tracker(at) && starts_with_digit(text, at + 1))
}

fn is_key(c: char) -> bool {
    c.is_ascii_uppercase() || c == '_'
}

fn has_closing_word(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    CLOSING.iter().any(|word| text.contains(word))
}

fn is_before_digit(text: &str, sign: &str) -> bool {
    text.match_indices(sign).any(|(at, sign)| starts_with_digit(text, at + sign.len()))
}

fn starts_with_digit(text: &str, at: usize) -> bool {
    text.as_bytes().get(at).is_some_and(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_of_all_forms_are_mentions() {
        let of = |text: &str| {
            let Mentions { issues, closed_issues, merge_requests } = Mentions::of([text]);
            (issues, closed_issues, merge_requests)
        };
        for text in ["#7", "see acme/cli#12.", "GL-3", "ABC-12", "https://x/acme/cli/-/issues/4", "x/-/work_items/4"] {
            assert_eq!(of(text), (true, false, false), "{text}");
        }
        for text in ["Closes #7", "fixed ABC-12", "Implements: #1, #2", "Resolves https://x/a/b/-/issues/4"] {
            assert_eq!(of(text), (true, true, false), "{text}");
        }
        for text in ["mentioned in merge request !4", "acme/cli!12", "https://x/acme/cli/-/merge_requests/4"] {
            assert_eq!(of(text), (false, false, true), "{text}");
        }
        for text in ["", "# Title", "Fix it!", "2026-06-15", "a - 5", "#", "!", "-", "ü-5", "A-"] {
            assert_eq!(of(text), (false, false, false), "{text}");
        }
        assert_eq!(Mentions::of(["#7", "!4"]), Mentions { issues: true, closed_issues: false, merge_requests: true });
    }
}
