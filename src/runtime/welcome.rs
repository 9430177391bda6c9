//! A full-screen choice, used before there is a server and an app.

use super::input::{Input, Sent};
use super::signals::{ExitFlag, Signal, Signals, StopTarget};
use super::terminal::{Terminal, TerminalOptions};
use crate::app::keymap::Key;
use crossterm::event::{Event, KeyCode, KeyEventKind};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::io;

/// The effect of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Stay(usize),
    Choose(usize),
    Quit,
}

/// Lets the user choose one of `len` rows. `draw` draws them with the selected one, and returns the position of the
/// cursor. Returns the row, or `None` if the user quit. Afterwards, the terminal is restored.
///
/// # Errors
///
/// Returns an error if the terminal cannot be used.
/// A terminal that cannot be used.
pub async fn choose(
    len: usize,
    draw: impl Fn(usize, Rect, &mut Buffer) -> Option<(u16, u16)>,
) -> io::Result<Option<usize>> {
    let mut signals = Signals::of_terminal(ExitFlag::default())?;
    let mut terminal = Terminal::open(TerminalOptions { mouse: false })?;
    let mut input = Input::open(false);
    let mut selected = 0;
    let chosen = loop {
        terminal.draw_with(|area, buf| draw(selected, area, buf))?;
        tokio::select! {
            signal = signals.next() => match signal {
                Signal::End | Signal::Interrupt => break None,
                Signal::Stop => {
                    input.close().await;
                    terminal.suspend(StopTarget::Us)?;
                    input = Input::open(false);
                }
                Signal::Continued => terminal.redraw()?,
            },
            event = input.events.recv() => match event {
                Some(Ok(Sent::Event(Event::Key(key)))) if key.kind != KeyEventKind::Release => match step(Key::of(key), selected, len) {
                    Step::Stay(row) => selected = row,
                    Step::Choose(row) => break Some(row),
                    Step::Quit => break None,
                },
                Some(Ok(_)) => {}
                Some(Err(_)) | None => break None,
            },
        }
    };
    input.close().await;
    terminal.release()?;
    Ok(chosen)
}

fn step(key: Key, selected: usize, len: usize) -> Step {
    let last = len.saturating_sub(1);
    match (key.code, key.ctrl) {
        (KeyCode::Esc | KeyCode::Char('q' | 'Q'), false) | (KeyCode::Char('c'), true) => Step::Quit,
        (KeyCode::Enter, _) => Step::Choose(selected),
        (KeyCode::Down | KeyCode::Tab | KeyCode::Char('j'), _) => Step::Stay((selected + 1).min(last)),
        (KeyCode::Up | KeyCode::Char('k'), _) => Step::Stay(selected.saturating_sub(1)),
        (KeyCode::Char(digit @ '1'..='9'), false) => {
            match digit.to_digit(10).map(|digit| digit as usize - 1).filter(|row| *row < len) {
                Some(row) => Step::Choose(row),
                None => Step::Stay(selected),
            }
        }
        _ => Step::Stay(selected),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_move_select_and_leave() {
        let press = |name: &str, selected| step(Key::parse(name).expect("a key"), selected, 3);
        assert_eq!((press("j", 2), press("Down", 0)), (Step::Stay(2), Step::Stay(1)));
        assert_eq!((press("k", 0), press("Up", 2)), (Step::Stay(0), Step::Stay(1)));
        assert_eq!(
            (press("Enter", 1), press("3", 0), press("4", 1)),
            (Step::Choose(1), Step::Choose(2), Step::Stay(1))
        );
        for name in ["q", "Q", "Esc", "C-c"] {
            assert_eq!(press(name, 0), Step::Quit, "{name}");
        }
    }
}
