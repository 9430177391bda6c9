//! Texts to copy to the clipboard.

/// A text to copy, and the name that the menu and the message give it.
#[derive(Clone, Debug, PartialEq)]
pub struct Clip {
    pub name: &'static str,
    pub text: String,
}

impl Clip {
    /// Creates a copy of a value, such as a title or a path, as one line: a shell without bracketed paste runs each line
    /// that is pasted.
    pub fn line(name: &'static str, text: String) -> Clip {
        Clip { name, text: one_line(text, char::is_control) }
    }

    /// Creates a copy of a line of code or of a log, with the tabs that indent it.
    pub fn code_line(name: &'static str, text: String) -> Clip {
        Clip { name, text: one_line(text, |c| c.is_control() && c != '\t') }
    }

    /// Creates a copy of a text with its line feeds.
    pub fn lines(name: &'static str, text: String) -> Clip {
        Clip { name, text }
    }
}

fn one_line(text: String, ends_piece: fn(char) -> bool) -> String {
    let ends_piece = |c: char| ends_piece(c) || matches!(c, '\u{2028}' | '\u{2029}');
    if !text.contains(ends_piece) {
        return text;
    }
    text.split(ends_piece).filter(|piece| !piece.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::Clip;

    #[test]
    fn copies_of_single_values_are_one_line() {
        assert_eq!(Clip::line("title", "a\nid\r\n\tb\u{1b}[2J\u{2028}c".into()).text, "a id b [2J c");
        assert_eq!(Clip::line("title", "plain  title".into()).text, "plain  title");
        assert_eq!(Clip::code_line("line", "\tindented\r\nid".into()).text, "\tindented id");
        assert_eq!(Clip::lines("note", "a\nb".into()).text, "a\nb");
    }
}
