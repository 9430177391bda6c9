//! Prints response bodies to a terminal: indented JSON, with control characters escaped.

use crate::ui::text::{is_invisible, sanitize};
use serde_json::value::RawValue;
use std::io::{self, Write};

/// The maximum indentation in levels; deeper levels would be mostly spaces.
const MAX_LEVELS: usize = 32;

/// Writes JSON indented, anything else as sanitized text, followed by a line feed.
///
/// # Errors
/// Returns I/O errors of `out`.
pub fn for_terminal(body: &[u8], out: &mut impl Write) -> io::Result<()> {
    let text = String::from_utf8_lossy(body);
    match serde_json::from_str::<&RawValue>(&text) {
        Ok(json) => indent(json.get(), out)?,
        Err(_) => {
            for (at, line) in text.split('\n').enumerate() {
                let feed = if at > 0 { "\n" } else { "" };
                write!(out, "{feed}{}", sanitize(line.strip_suffix('\r').unwrap_or(line)))?;
            }
        }
    }
    out.write_all(b"\n")
}

/// Indents valid JSON by two spaces per level. Order, numbers and escapes stay as the server sent them. Terminal
/// control characters become JSON escapes.
fn indent(json: &str, out: &mut impl Write) -> io::Result<()> {
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
            put_char(out, c)?;
            last = c;
            continue;
        }
        // A value or key after an opening bracket or a comma starts a new line.
        let begins_line = matches!(last, '{' | '[' | ',');
        match c {
            _ if c.is_ascii_whitespace() => continue,
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                // An empty object or array stays on one line.
                if !matches!(last, '{' | '[') {
                    begin_line(out, depth)?;
                }
                put_char(out, c)?;
            }
            ',' => put_char(out, c)?,
            ':' => out.write_all(b": ")?,
            _ => {
                if begins_line {
                    begin_line(out, depth)?;
                }
                depth += usize::from(matches!(c, '{' | '['));
                in_string = c == '"';
                put_char(out, c)?;
            }
        }
        last = c;
    }
    Ok(())
}

fn begin_line(out: &mut impl Write, depth: usize) -> io::Result<()> {
    write!(out, "\n{:1$}", "", 2 * depth.min(MAX_LEVELS))
}

fn put_char(out: &mut impl Write, c: char) -> io::Result<()> {
    if !is_invisible(c) && !c.is_control() {
        return out.write_all(c.encode_utf8(&mut [0; 4]).as_bytes());
    }
    c.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(out, "\\u{unit:04x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn indented(body: &[u8]) -> String {
        let mut out = Vec::new();
        for_terminal(body, &mut out).unwrap();
        String::from_utf8(out).unwrap().strip_suffix('\n').unwrap().to_owned()
    }

    #[test]
    fn deep_nesting_does_not_blow_up_the_output() {
        let deep = format!("{}1{}", "[".repeat(20_000), "]".repeat(20_000));
        let text = indented(deep.as_bytes());
        assert!(text.len() < 70 * deep.len(), "{} bytes", text.len());
        assert_eq!(text.replace(['\n', ' '], ""), deep);
        assert_eq!(indented(b"[[1]]"), "[\n  [\n    1\n  ]\n]");
    }

    #[test]
    fn json_is_indented_in_the_server_s_order() {
        let text = indented(br#"{"b":[1,-2.50e3,{"x":null}],"a":{},"c":[],"s":"a,\"{b:\\"}"#);
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
        assert_eq!(indented(b" \"x\" "), "\"x\"");
    }

    #[test]
    fn control_characters_are_escaped() {
        let text = indented("{\"a\":\"\u{7f}\u{9b}31m\u{202e}x\"}".as_bytes());
        assert_eq!(text, "{\n  \"a\": \"\\u007f\\u009b31m\\u202ex\"\n}");
        let raw = indented(b"one\r\n\x1b]0;two\x07");
        assert!(raw.starts_with("one\n") && !raw.contains('\x1b') && !raw.contains('\x07'), "{raw:?}");
    }
}
