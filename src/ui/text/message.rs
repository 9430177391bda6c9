//! Messages of commits and tags, which people wrap by hand.

use super::{width, width_up_to};
use std::borrow::Cow;

/// The width from which on a line counts as full, and the one beyond which nobody wrapped it by hand.
const FULL: usize = 60;
const WRAPPED_BY_HAND: usize = 100;
/// The indent of code.
const CODE_INDENT: usize = 4;

/// Returns the message with the lines of its paragraphs joined, if one of them does not fit into `columns`: wrapping them again
/// would leave rests of one or two words. Lists, quotes, code and trailers stay as they are.
pub fn unwrapped(message: &str, columns: usize) -> Cow<'_, str> {
    if message.lines().all(|line| width_up_to(line, columns + 1) <= columns) {
        return Cow::Borrowed(message);
    }
    let mut joined = String::with_capacity(message.len());
    let mut before: Option<&str> = None;
    for line in message.lines() {
        match before {
            Some(before) if continues(before, line) => {
                joined.push(' ');
                joined.push_str(line.trim_start());
            }
            Some(_) => {
                joined.push('\n');
                joined.push_str(line);
            }
            None => joined.push_str(line),
        }
        before = Some(line.trim_end());
    }
    Cow::Owned(joined)
}

/// Returns whether a line goes on with what the one before it says: its first word did not fit there.
fn continues(before: &str, line: &str) -> bool {
    let Some(first) = line.split_whitespace().next() else { return false };
    let long = width(before);
    let was_full = long + 1 + width(first) > FULL && long <= WRAPPED_BY_HAND;
    let begins_item = list_mark(line) > 0 || first.starts_with(['>', '#', '|']) || first.ends_with(':');
    let depth = indent(line);
    was_full && !begins_item && depth < CODE_INDENT && depth == indent(before) + list_mark(before)
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Returns the length of the mark of a list item with its blanks, or 0.
fn list_mark(line: &str) -> usize {
    let text = line.trim_start();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let ends: &[char] = if digits > 0 { &['.', ')'] } else { &['-', '*', '+'] };
    let rest = text.get(digits..).and_then(|rest| rest.strip_prefix(ends));
    match rest {
        Some(rest) if rest.starts_with(' ') => digits + 1 + indent(rest),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The forms are those of messages in git.git and the Linux kernel.
    #[test]
    fn paragraphs_that_were_wrapped_by_hand_are_joined_if_they_do_not_fit() {
        let message = "The lines of this paragraph were wrapped by hand at seventy-two columns,\n\
                       as git's documentation recommends, and go on for several lines so that\n\
                       this is the last.\n\n\
                       - an item that is wrapped by hand as well, since it is rather long for\n\
                       \x20 one line\n\
                       - a second one\n\
                       1. a number, and an item after it which is just as long as it can be in\n\
                       \x20  one line\n\n\
                       \x20   code(that, stays, as, it, is, however, long, its, lines, are, here);\n\
                       \x20   more();\n\n\
                       Fixes: 0123456789ab (\"subsystem: name of a commit that broke something\")\n\
                       Signed-off-by: Somebody With A Long Name <somebody@mail.example.org>";
        assert_eq!(unwrapped(message, 72), message);
        let joined = unwrapped(message, 50);
        let lines: Vec<&str> = joined.lines().collect();
        assert_eq!(lines.len(), message.lines().count() - 4, "{joined}");
        assert!(lines[0].ends_with(
            "columns, as git's documentation recommends, and go on for several lines so that this is the last."
        ));
        assert_eq!(lines[2], "- an item that is wrapped by hand as well, since it is rather long for one line");
        assert!(lines[4].ends_with("as it can be in one line"));
        assert_eq!(lines[7], "    more();");
    }
}
