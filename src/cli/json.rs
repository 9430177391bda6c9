//! Prints what a server answered: as it came into files and pipes, laid out and harmless on a terminal.

use crate::ui::text::{hides, shown};
use serde_json::value::RawValue;
use std::io::{self, Write};

/// Levels that are indented; what is deeper stands where those do, or its blanks would be more than its text.
const LEVELS: usize = 32;

/// Shows a terminal JSON over several lines, anything else as cleaned text, and a line feed at the end.
///
/// # Errors
/// What `out` says.
pub fn for_terminal(body: &[u8], out: &mut impl Write) -> io::Result<()> {
    let text = String::from_utf8_lossy(body);
    match serde_json::from_str::<&RawValue>(&text) {
        Ok(json) => lay_out(json.get(), out)?,
        Err(_) => {
            for (at, line) in text.split('\n').enumerate() {
                let feed = if at > 0 { "\n" } else { "" };
                write!(out, "{feed}{}", shown(line.strip_suffix('\r').unwrap_or(line)))?;
            }
        }
    }
    out.write_all(b"\n")
}

/// Lays valid JSON out, two spaces a level. Order, numbers and escapes stay as the server wrote them; what a terminal
/// would obey is escaped, as JSON itself does it.
fn lay_out(json: &str, out: &mut impl Write) -> io::Result<()> {
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    let mut last = ' ';
    for c in json.chars() {
        if in_string {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => in_string = false,
                _ => {}
            }
            put(out, c)?;
            last = c;
            continue;
        }
        // A value or a key that follows a bracket or a comma stands on a line of its own.
        let begins = matches!(last, '{' | '[' | ',');
        match c {
            _ if c.is_ascii_whitespace() => continue,
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                // An empty object stays on its line.
                if !matches!(last, '{' | '[') {
                    begin_line(out, depth)?;
                }
                put(out, c)?;
            }
            ',' => put(out, c)?,
            ':' => out.write_all(b": ")?,
            _ => {
                if begins {
                    begin_line(out, depth)?;
                }
                depth += usize::from(matches!(c, '{' | '['));
                in_string = c == '"';
                put(out, c)?;
            }
        }
        last = c;
    }
    Ok(())
}

fn begin_line(out: &mut impl Write, depth: usize) -> io::Result<()> {
    write!(out, "\n{:1$}", "", 2 * depth.min(LEVELS))
}

fn put(out: &mut impl Write, c: char) -> io::Result<()> {
    if !hides(c) && !c.is_control() {
        return out.write_all(c.encode_utf8(&mut [0; 4]).as_bytes());
    }
    c.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(out, "\\u{unit:04x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laid_out(body: &[u8]) -> String {
        let mut out = Vec::new();
        for_terminal(body, &mut out).unwrap();
        String::from_utf8(out).unwrap().strip_suffix('\n').unwrap().to_owned()
    }

    #[test]
    fn brackets_within_brackets_cost_what_they_are_and_no_more() {
        let deep = format!("{}1{}", "[".repeat(20_000), "]".repeat(20_000));
        let text = laid_out(deep.as_bytes());
        assert!(text.len() < 70 * deep.len(), "{} bytes", text.len());
        assert_eq!(text.replace(['\n', ' '], ""), deep);
        assert_eq!(laid_out(b"[[1]]"), "[\n  [\n    1\n  ]\n]");
    }

    #[test]
    fn json_is_laid_out_in_the_server_s_order() {
        let text = laid_out(br#"{"b":[1,-2.50e3,{"x":null}],"a":{},"c":[],"s":"a,\"{b:\\"}"#);
        let expected = r#"{
  "b": [
    1,
    -2.50e3,
    {
      "x": null
    }
  ],
  "a": {},
  "c": [],
  "s": "a,\"{b:\\"
}"#;
        assert_eq!(text, expected);
        assert_eq!(laid_out(b" \"x\" "), "\"x\"");
    }

    #[test]
    fn nothing_that_drives_a_terminal_gets_through() {
        let text = laid_out("{\"a\":\"\u{7f}\u{9b}31m\u{202e}x\"}".as_bytes());
        assert_eq!(text, "{\n  \"a\": \"\\u007f\\u009b31m\\u202ex\"\n}");
        let raw = laid_out(b"one\r\n\x1b]0;two\x07");
        assert!(raw.starts_with("one\n") && !raw.contains('\x1b') && !raw.contains('\x07'), "{raw:?}");
    }
}
