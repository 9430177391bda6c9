//! Reads a token from the terminal without echo, or from a pipe; prompts for other lines.

use crate::cli::failure::Failure;
use crate::ui::text;
use crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers};
use std::io::{self, IsTerminal, Write};

/// Reads the token from standard input, or from the terminal without echo.
pub fn read_token(name: &str) -> Result<String, Failure> {
    if !io::stdin().is_terminal() {
        let mut line = String::new();
        io::stdin().read_line(&mut line)?;
        return Ok(line);
    }
    let prompt = format!("Token for {name} (not shown; Enter confirms, Esc cancels): ");
    match prompt_line(&prompt, false)? {
        Some(text) => Ok(text),
        None => Err(Failure::failed("canceled; nothing was stored")),
    }
}

/// Prompts for a line on the terminal, with echo if `echo`; returns `None` if the user canceled with Esc or Ctrl-C.
pub fn prompt_line(prompt: &str, echo: bool) -> io::Result<Option<String>> {
    // Raw mode begins before the prompt, so that an immediate answer is not echoed either.
    crossterm::terminal::enable_raw_mode()?;
    // If the prompt cannot be written, the line can still be read.
    let mut out = io::stderr();
    let _ = write!(out, "{prompt}").and_then(|()| out.flush());
    let typed = read_line(&mut out, echo);
    crossterm::terminal::disable_raw_mode()?;
    let _ = writeln!(out);
    typed
}

fn read_line(out: &mut impl Write, echo: bool) -> io::Result<Option<String>> {
    let mut typed = String::new();
    loop {
        let Event::Key(key) = crossterm::event::read()? else { continue };
        if key.kind == KeyEventKind::Release {
            continue;
        }
        match (key.code, key.modifiers.contains(KeyModifiers::CONTROL)) {
            // Input typed before raw mode began ends with a line feed.
            (KeyCode::Enter, _) | (KeyCode::Char('j'), true) => return Ok(Some(typed)),
            (KeyCode::Esc, _) | (KeyCode::Char('c' | 'd'), true) => return Ok(None),
            (KeyCode::Char('u'), true) => erase(out, &std::mem::take(&mut typed), echo),
            (KeyCode::Backspace, _) => erase(out, &typed.pop().map(String::from).unwrap_or_default(), echo),
            (KeyCode::Char(c), false) => {
                typed.push(c);
                if echo {
                    let _ = write!(out, "{}", text::sanitize(c.encode_utf8(&mut [0; 4]))).and_then(|()| out.flush());
                }
            }
            _ => {}
        }
    }
}

/// Erases the end of the typed text from the line.
fn erase(out: &mut impl Write, end: &str, echo: bool) {
    if echo {
        let back = "\u{8} \u{8}".repeat(text::width(&text::sanitize(end)));
        let _ = write!(out, "{back}").and_then(|()| out.flush());
    }
}
