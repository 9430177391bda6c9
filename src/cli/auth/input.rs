//! Reads a token from the terminal without showing it, or from a pipe.

use crate::cli::failure::Failure;
use crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers};
use std::io::{self, IsTerminal, Write};

/// Reads the token from standard input, or from the terminal without showing it.
pub fn read_token(name: &str) -> Result<String, Failure> {
    if !io::stdin().is_terminal() {
        let mut line = String::new();
        io::stdin().read_line(&mut line)?;
        return Ok(line);
    }
    // Before the prompt: whoever answers it at once is not shown either.
    crossterm::terminal::enable_raw_mode()?;
    // If the prompt cannot be written, the token can still be read.
    let mut prompt = io::stderr();
    let _ = write!(prompt, "Token for {name} (not shown; Enter confirms, Ctrl-C cancels): ");
    let typed = read_hidden_line();
    crossterm::terminal::disable_raw_mode()?;
    let _ = writeln!(prompt);
    match typed? {
        Some(text) => Ok(text),
        None => Err(Failure::failed("canceled; nothing was stored")),
    }
}

fn read_hidden_line() -> io::Result<Option<String>> {
    let mut text = String::new();
    loop {
        let Event::Key(key) = crossterm::event::read()? else { continue };
        if key.kind == KeyEventKind::Release {
            continue;
        }
        match (key.code, key.modifiers.contains(KeyModifiers::CONTROL)) {
            (KeyCode::Enter, _) => return Ok(Some(text)),
            (KeyCode::Esc, _) | (KeyCode::Char('c' | 'd'), true) => return Ok(None),
            (KeyCode::Char('u'), true) => text.clear(),
            (KeyCode::Backspace, _) => drop(text.pop()),
            (KeyCode::Char(c), false) => text.push(c),
            _ => {}
        }
    }
}
