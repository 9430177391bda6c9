//! The format of a text file apart from its lines: byte order mark, line endings, and whether the last line has one.

/// The format that turns lines into a file again; unchanged lines are the same byte for byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextFormat {
    /// Whether the file begins with U+FEFF.
    bom: bool,
    /// Whether every line ends with CR LF. If line endings are mixed, the CR stays part of its line, and is visible
    /// there.
    crlf: bool,
    /// Whether the last line ends with a line break.
    ends: bool,
    /// Whether the file is a single line break, which lines alone cannot express.
    blank: bool,
}

impl TextFormat {
    /// Splits a text into its format and its lines.
    pub fn of(text: &str) -> (TextFormat, Vec<String>) {
        let rest = text.strip_prefix('\u{feff}').unwrap_or(text);
        let ends = memchr::memchr_iter(b'\n', rest.as_bytes());
        let (mut all, mut with_cr) = (0, 0);
        for at in ends {
            all += 1;
            with_cr += usize::from(at > 0 && rest.as_bytes().get(at - 1) == Some(&b'\r'));
        }
        let crlf = all > 0 && all == with_cr;
        let end = if crlf { "\r\n" } else { "\n" };
        let format = TextFormat {
            bom: rest.len() < text.len(),
            crlf,
            // The last line of a new file gets a line break.
            ends: rest.is_empty() || rest.ends_with(end),
            blank: rest == end,
        };
        let body = rest.strip_suffix(end).unwrap_or(rest);
        (format, body.split(end).map(str::to_owned).collect())
    }

    /// Joins lines into a text.
    pub fn join(&self, lines: &[String]) -> String {
        let end = if self.crlf { "\r\n" } else { "\n" };
        let mut text = String::with_capacity(lines.iter().map(|line| line.len() + end.len()).sum::<usize>() + 3);
        if self.bom {
            text.push('\u{feff}');
        }
        for (index, line) in lines.iter().enumerate() {
            if index > 0 {
                text.push_str(end);
            }
            text.push_str(line);
        }
        let empty = matches!(lines, [only] if only.is_empty());
        if self.ends && (!empty || self.blank) {
            text.push_str(end);
        }
        text
    }

    /// Returns the peculiarities of the format.
    pub fn facts(&self) -> Vec<&'static str> {
        let mut facts = Vec::new();
        if self.crlf {
            facts.push("CRLF");
        }
        if self.bom {
            facts.push("BOM");
        }
        if !self.ends {
            facts.push("no newline at end");
        }
        facts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unchanged_texts_round_trip() {
        for text in [
            "",
            "\n",
            "\n\n",
            "a",
            "a\n",
            "a\nb",
            "a\r\nb\r\n",
            "a\r\nb",
            "a\r\nb\n",
            "a\rb",
            "\r\n",
            "\u{feff}a\r\n",
            "\u{feff}",
            "\tx\n  \n",
            "a\n\r\n",
            "\r",
            "a\n\n",
        ] {
            let (format, lines) = TextFormat::of(text);
            assert_eq!(format.join(&lines), text, "{text:?}: {format:?} {lines:?}");
        }
    }

    #[test]
    fn new_lines_use_the_line_ending_of_the_file() {
        let (format, mut lines) = TextFormat::of("a\r\nb\r\n");
        lines.insert(1, "new".into());
        assert_eq!(format.join(&lines), "a\r\nnew\r\nb\r\n");
        let (format, mut lines) = TextFormat::of("a\nb");
        lines.push("c".into());
        assert_eq!(format.join(&lines), "a\nb\nc");
        let (format, lines) = TextFormat::of("");
        assert_eq!(format.join(&lines), "");
        assert_eq!(format.join(&["x".into()]), "x\n", "a new file ends its last line");
    }
}
