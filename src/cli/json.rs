//! Prints what a server answered: as it came into files and pipes, laid out and harmless on a terminal.

use crate::ui::text::{hides, shown};
use serde_json::value::RawValue;
use std::fmt::Write;

/// What a terminal is shown: JSON over several lines, anything else as cleaned text.
pub fn for_terminal(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    match serde_json::from_str::<&RawValue>(&text) {
        Ok(json) => laid_out(json.get()),
        Err(_) => {
            text.split('\n').map(|line| shown(line.strip_suffix('\r').unwrap_or(line))).collect::<Vec<_>>().join("\n")
        }
    }
}

/// Lays valid JSON out, two spaces a level. Order, numbers and escapes stay as the server wrote them; what a terminal
/// would obey is escaped, as JSON itself does it.
fn laid_out(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    let mut last = ' ';
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", depth));
    };
    for c in json.chars() {
        if in_string {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => in_string = false,
                _ => {}
            }
            put(&mut out, c);
            last = c;
            continue;
        }
        match c {
            _ if c.is_ascii_whitespace() => continue,
            '{' | '[' => {
                begin(&mut out, last, depth, &line);
                out.push(c);
                depth += 1;
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                // An empty object stays on its line.
                if !matches!(last, '{' | '[') {
                    line(&mut out, depth);
                }
                out.push(c);
            }
            ',' => out.push(c),
            ':' => out.push_str(": "),
            _ => {
                begin(&mut out, last, depth, &line);
                in_string = c == '"';
                out.push(c);
            }
        }
        last = c;
    }
    out
}

/// A value or a key that follows a bracket or a comma stands on a line of its own.
fn begin(out: &mut String, last: char, depth: usize, line: &impl Fn(&mut String, usize)) {
    if matches!(last, '{' | '[' | ',') {
        line(out, depth);
    }
}

fn put(out: &mut String, c: char) {
    if !hides(c) && !c.is_control() {
        return out.push(c);
    }
    for unit in c.encode_utf16(&mut [0; 2]) {
        // Writing into a string cannot fail.
        let _ = write!(out, "\\u{unit:04x}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_laid_out_in_the_server_s_order() {
        let text = for_terminal(br#"{"b":[1,-2.50e3,{"x":null}],"a":{},"c":[],"s":"a,\"{b:\\"}"#);
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
        assert_eq!(for_terminal(b" \"x\" "), "\"x\"");
    }

    #[test]
    fn nothing_that_drives_a_terminal_gets_through() {
        let text = for_terminal("{\"a\":\"\u{7f}\u{9b}31m\u{202e}x\"}".as_bytes());
        assert_eq!(text, "{\n  \"a\": \"\\u007f\\u009b31m\\u202ex\"\n}");
        let raw = for_terminal(b"one\r\n\x1b]0;two\x07");
        assert!(raw.starts_with("one\n") && !raw.contains('\x1b') && !raw.contains('\x07'), "{raw:?}");
    }
}
