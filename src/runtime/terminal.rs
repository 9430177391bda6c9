//! The terminal: the only place that writes escape codes. Restores it on every way out.

use super::signals::{self, StopTarget};
use crate::app::App;
use crate::ui::image::{Fitted, Placed, Protocol, Screen, TerminalPicture};
use base64::Engine;
use crossterm::clipboard::CopyToClipboard;
use crossterm::cursor::Hide;
use crossterm::event::EnableBracketedPaste;
use crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, SetTitle, disable_raw_mode, enable_raw_mode,
};
use crossterm::{execute, queue};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use std::collections::VecDeque;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once, OnceLock};

/// How the terminal is used.
#[derive(Clone, Copy, Debug)]
pub struct TerminalOptions {
    /// Whether the mouse is captured.
    pub mouse: bool,
}

/// How the user is notified that something watched has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Notify {
    /// No notification.
    Off,
    /// The terminal's bell.
    #[default]
    Bell,
    /// OSC 9, a message: iTerm2, ConEmu, WezTerm and Windows Terminal.
    Osc9,
    /// OSC 777, a title and a message: foot, rxvt and Ghostty.
    Osc777,
    /// The notification service of the desktop.
    Desktop,
}

impl Notify {
    /// Parses the name that the configuration uses.
    ///
    /// # Errors
    /// The names that exist, if it is none of them.
    pub fn named(name: &str) -> Result<Notify, String> {
        match name {
            "off" => Ok(Notify::Off),
            "bell" => Ok(Notify::Bell),
            "osc9" => Ok(Notify::Osc9),
            "osc777" => Ok(Notify::Osc777),
            "desktop" => Ok(Notify::Desktop),
            _ => Err("one of off, bell, osc9, osc777, desktop".into()),
        }
    }

    /// Returns the bytes to send to the terminal. Part of the text comes from a server, so nothing in it may end the
    /// sequence or start another.
    fn bytes(self, text: &str) -> Vec<u8> {
        let text = notification_text(text).replace(';', " ");
        match self {
            Notify::Off | Notify::Desktop => Vec::new(),
            Notify::Bell => b"\x07".to_vec(),
            Notify::Osc9 => format!("\x1b]9;{text}\x1b\\").into_bytes(),
            Notify::Osc777 => format!("\x1b]777;notify;labscope;{text}\x1b\\").into_bytes(),
        }
    }
}

/// The most characters of a notification.
const MAX_NOTIFICATION: usize = 200;

/// Returns the text of a notification: truncated, with a space for each control or invisible character.
pub(super) fn notification_text(text: &str) -> String {
    let plain = |c: char| !c.is_control() && !crate::ui::text::hides(c);
    text.chars().map(|c| if plain(c) { c } else { ' ' }).take(MAX_NOTIFICATION).collect()
}

/// Removes control characters except line feeds and tabs, because pasted into a shell they act as key presses.
fn without_controls(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}

/// The terminal while the interface draws on it.
pub struct Terminal {
    /// Never dropped: ratatui would write to the terminal again, and panic if it cannot report a failure. [`restore`] alone
    /// puts the terminal back.
    inner: ManuallyDrop<ratatui::Terminal<CrosstermBackend<BufWriter<Stdout>>>>,
    options: TerminalOptions,
    /// The pictures on the screen.
    placed: Vec<Placed>,
    /// The pictures that kitty keeps, oldest first, with the ID under which each was sent.
    sent: VecDeque<(u32, Arc<Fitted>)>,
    /// The last picture ID that was used.
    last_picture_id: u32,
}

/// The most pictures that kitty is asked to keep.
const MAX_SENT_PICTURES: usize = 16;

/// Whether the terminal has to be restored; the panic hook and signal handlers read it.
static NEEDS_RESTORE: AtomicBool = AtomicBool::new(false);

impl Terminal {
    /// Sets the terminal up for the interface.
    pub fn open(options: TerminalOptions) -> io::Result<Terminal> {
        restore_on_crash();
        // The theme decides which colors are used; crossterm must not drop them on its own.
        crossterm::style::force_color_output(true);
        let backend = CrosstermBackend::new(BufWriter::with_capacity(64 * 1024, io::stdout()));
        set_up(options)?;
        match ratatui::Terminal::new(backend) {
            Ok(inner) => Ok(Terminal {
                inner: ManuallyDrop::new(inner),
                options,
                placed: Vec::new(),
                sent: VecDeque::new(),
                last_picture_id: 0,
            }),
            Err(error) => {
                restore();
                Err(error)
            }
        }
    }

    /// Draws the app in one synchronized update.
    pub fn draw(&mut self, app: &App) -> io::Result<()> {
        queue!(self.inner.backend_mut(), BeginSynchronizedUpdate)?;
        let size = self.size();
        self.draw_cells(app)?;
        if self.size() != size {
            // ratatui has cleared the screen, and the pictures with it.
            self.placed.clear();
        }
        let placed = app.pictures.placed();
        if placed != self.placed {
            let kitty = app.pictures.screen().protocol == Protocol::Kitty;
            if !kitty && !self.placed.is_empty() {
                // These pictures replaced cells, so ratatui's copy of the screen is wrong.
                self.invalidate()?;
                self.draw_cells(app)?;
            }
            self.draw_pictures(&placed, kitty)?;
            self.placed = placed;
        }
        queue!(self.inner.backend_mut(), EndSynchronizedUpdate)?;
        self.inner.backend_mut().flush()
    }

    fn draw_cells(&mut self, app: &App) -> io::Result<()> {
        self.inner.draw(|frame| {
            let area = frame.area();
            if let Some(cursor) = app.view(area, frame.buffer_mut()) {
                frame.set_cursor_position(cursor);
            }
        })?;
        Ok(())
    }

    /// Draws pictures over their cells; saves and restores the cursor's position.
    fn draw_pictures(&mut self, placed: &[Placed], kitty: bool) -> io::Result<()> {
        if kitty {
            // Removes the pictures from the screen; kitty keeps their data.
            self.inner.backend_mut().write_all(b"\x1b_Ga=d,d=a,q=2\x1b\\")?;
        }
        for Placed { area, picture } in placed {
            let id = if kitty { self.send_picture(picture)? } else { 0 };
            let (columns, rows) = (area.width, area.height);
            let out = self.inner.backend_mut();
            write!(out, "\x1b7\x1b[{};{}H", area.y + 1, area.x + 1)?;
            match picture.own() {
                Some(TerminalPicture::Png(_)) if kitty => {
                    write!(out, "\x1b_Ga=p,i={id},p=1,c={columns},r={rows},C=1,q=2\x1b\\")?
                }
                Some(TerminalPicture::Png(png)) => {
                    let data = base64::engine::general_purpose::STANDARD.encode(png);
                    let size = png.len();
                    write!(out, "\x1b]1337;File=inline=1;size={size};width={columns};height={rows};")?;
                    write!(out, "preserveAspectRatio=1;doNotMoveCursor=1:{data}\x07")?;
                }
                Some(TerminalPicture::Sixel(body)) => write!(out, "\x1bP0;1q{body}\x1b\\")?,
                None => {}
            }
            write!(out, "\x1b8")?;
        }
        Ok(())
    }

    /// Sends a picture to kitty unless it has it already; returns the picture's ID.
    fn send_picture(&mut self, picture: &Arc<Fitted>) -> io::Result<u32> {
        if let Some((id, _)) = self.sent.iter().find(|(_, sent)| Arc::ptr_eq(sent, picture)) {
            return Ok(*id);
        }
        let out = self.inner.backend_mut();
        if self.sent.len() >= MAX_SENT_PICTURES
            && let Some((old, _)) = self.sent.pop_front()
        {
            write!(out, "\x1b_Ga=d,d=I,i={old},q=2\x1b\\")?;
        }
        self.last_picture_id += 1;
        let id = self.last_picture_id;
        if let Some(TerminalPicture::Png(png)) = picture.own() {
            let data = base64::engine::general_purpose::STANDARD.encode(png);
            let mut pieces = data.as_bytes().chunks(4096).peekable();
            let mut first = format!("a=t,f=100,i={id},q=2,");
            while let Some(piece) = pieces.next() {
                write!(out, "\x1b_G{first}m={};", u8::from(pieces.peek().is_some()))?;
                out.write_all(piece)?;
                out.write_all(b"\x1b\\")?;
                first.clear();
            }
        }
        self.sent.push_back((id, picture.clone()));
        Ok(id)
    }

    /// Sets the terminal up again and makes the next frame draw every cell.
    pub fn redraw(&mut self) -> io::Result<()> {
        // The shell has reset the terminal's flags, and crossterm does not know it.
        disable_raw_mode()?;
        set_up(self.options)?;
        self.invalidate()
    }

    /// Makes the next frame draw every cell, at the window's size. ratatui's `clear` queries the cursor's position, which
    /// not every terminal reports.
    fn invalidate(&mut self) -> io::Result<()> {
        self.placed.clear();
        let (width, height) = crossterm::terminal::size()?;
        self.inner.resize(Rect::new(0, 0, width, height))
    }

    /// Returns the width and height in cells.
    pub fn size(&self) -> (u16, u16) {
        self.inner.size().map_or((80, 24), |s| (s.width, s.height))
    }

    /// Queries the background color (OSC 11); the reply arrives among the keys.
    pub fn query_background(&mut self) -> io::Result<()> {
        let out = self.inner.backend_mut();
        out.write_all(b"\x1b]11;?\x1b\\")?;
        out.flush()
    }

    /// Copies `text` to the clipboard (OSC 52, which also works over SSH).
    pub fn copy(&mut self, text: &str) -> io::Result<()> {
        execute!(self.inner.backend_mut(), CopyToClipboard::to_clipboard_from(without_controls(text)))
    }

    /// Notifies the user with `text`.
    pub fn notify(&mut self, how: Notify, text: &str) -> io::Result<()> {
        let out = self.inner.backend_mut();
        out.write_all(&how.bytes(text))?;
        out.flush()
    }

    /// Restores the terminal, for another program or for good.
    pub fn release(&mut self) -> io::Result<()> {
        if !self.sent.is_empty() {
            self.inner.backend_mut().write_all(b"\x1b_Ga=d,d=A,q=2\x1b\\")?;
            self.sent.clear();
        }
        self.inner.backend_mut().flush()?;
        restore();
        Ok(())
    }

    /// Sets the terminal up again after [`release`](Terminal::release).
    pub fn reclaim(&mut self) -> io::Result<()> {
        set_up(self.options)?;
        // The screen is in an unknown state, and the window may have another size.
        self.invalidate()
    }

    /// Restores the terminal, stops `target`, and sets the terminal up again when it continues.
    pub fn suspend(&mut self, target: StopTarget) -> io::Result<()> {
        self.release()?;
        signals::stop(target);
        self.reclaim()
    }
}

/// Detects the picture protocol, from the environment, and the size of a cell in pixels.
pub fn screen() -> Screen {
    let cell = crossterm::terminal::window_size().ok().and_then(|size| {
        let side = |pixels: u16, cells: u16| pixels.checked_div(cells).filter(|side| (4..=100).contains(side));
        Some((side(size.width, size.columns)?, side(size.height, size.rows)?))
    });
    Screen { protocol: protocol(|name| std::env::var(name).ok()), cell: cell.unwrap_or(Screen::default().cell) }
}

fn protocol(variable: impl Fn(&str) -> Option<String>) -> Protocol {
    let is = |name: &str, words: &[&str]| {
        variable(name).is_some_and(|value| words.iter().any(|word| value.to_lowercase().contains(word)))
    };
    let there = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
    match () {
        // A multiplexer passes only cells on, whatever the terminal around it supports.
        () if there("TMUX") || there("STY") || there("ZELLIJ") => Protocol::Blocks,
        () if there("KITTY_WINDOW_ID") || is("TERM", &["kitty", "ghostty"]) || is("TERM_PROGRAM", &["ghostty"]) => {
            Protocol::Kitty
        }
        () if is("TERM_PROGRAM", &["iterm", "wezterm", "rio"]) || is("LC_TERMINAL", &["iterm"]) => Protocol::Iterm,
        () if is("TERM", &["foot", "mlterm", "sixel", "contour"]) => Protocol::Sixel,
        () => Protocol::Blocks,
    }
}

/// Returns whether standard output is still a terminal: its window may have been closed.
pub fn is_there() -> bool {
    io::stdout().is_terminal()
}

impl Drop for Terminal {
    fn drop(&mut self) {
        restore();
    }
}

/// Enables reports of presses, the wheel, and moves while a button is down, in SGR coordinates. crossterm's own command
/// also enables every other move, and each would wake an idle screen.
const MOUSE_ON: &[u8] = b"\x1b[?1000h\x1b[?1002h\x1b[?1006h";

/// Disables every mode that is enabled here; harmless where none is.
const RESET: &[u8] = b"\x1b[?2026l\x1b[?1006l\x1b[?1002l\x1b[?1000l\x1b[?2004l\x1b[?1049l\x1b[?25h\x1b[0m";

fn set_up(options: TerminalOptions) -> io::Result<()> {
    save_flags();
    enable_raw_mode()?;
    NEEDS_RESTORE.store(true, Ordering::SeqCst);
    let mut out = io::stdout();
    execute!(out, EnterAlternateScreen, EnableBracketedPaste, Hide, SetTitle("labscope"))?;
    if options.mouse {
        out.write_all(MOUSE_ON)?;
        out.flush()?;
    }
    Ok(())
}

/// Restores the terminal as it was; harmless when done twice.
fn restore() {
    if !NEEDS_RESTORE.swap(false, Ordering::SeqCst) {
        return;
    }
    // If the terminal is gone, nothing can be done.
    let _ = io::stdout().flush();
    reset();
    // crossterm keeps its own copy of the flags.
    let _ = disable_raw_mode();
}

/// Restores the terminal and ends the process, from a thread that does not draw.
pub(super) fn restore_and_exit() {
    if NEEDS_RESTORE.swap(false, Ordering::SeqCst) {
        reset();
    }
    // The exit status that a shell reports for SIGTERM.
    std::process::exit(143);
}

/// The terminal's flags at startup.
#[cfg(unix)]
static STARTUP_FLAGS: OnceLock<libc::termios> = OnceLock::new();

/// Saves the terminal's flags, once.
fn save_flags() {
    #[cfg(unix)]
    {
        // SAFETY: `termios` is plain data, and `tcgetattr` fills it in.
        let flags = unsafe {
            let mut flags: libc::termios = std::mem::zeroed();
            (libc::tcgetattr(libc::STDOUT_FILENO, &raw mut flags) == 0).then_some(flags)
        };
        if let Some(flags) = flags {
            STARTUP_FLAGS.get_or_init(|| flags);
        }
    }
}

/// Resets the terminal's modes and flags, without a lock and without allocating: signal handlers may call it.
pub(super) fn reset() {
    #[cfg(unix)]
    // SAFETY: both calls are async-signal-safe and only read their arguments.
    unsafe {
        if let Some(flags) = STARTUP_FLAGS.get() {
            libc::tcsetattr(libc::STDOUT_FILENO, libc::TCSANOW, flags);
        }
        libc::write(libc::STDOUT_FILENO, RESET.as_ptr().cast(), RESET.len());
    }
    #[cfg(not(unix))]
    let _ = io::stdout().write_all(RESET);
}

/// Restores the terminal when the process ends without unwinding.
#[cfg(unix)]
extern "C" fn restore_on_abort(_: libc::c_int) {
    if NEEDS_RESTORE.swap(false, Ordering::SeqCst) {
        reset();
        // SAFETY: as above.
        unsafe {
            libc::write(libc::STDERR_FILENO, ABORT_MESSAGE.as_ptr().cast(), ABORT_MESSAGE.len());
        }
    }
}

/// The message after an abort; the reason went to the alternate screen.
#[cfg(unix)]
const ABORT_MESSAGE: &[u8] = b"labscope ran out of memory or crashed. Your drafts are saved.\n";

fn restore_on_crash() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        #[cfg(unix)]
        signals::on_abort(restore_on_abort);
        let previous_hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            // A panic on a worker does not end the interface, so only the main thread restores.
            if std::thread::current().name() == Some("main") {
                restore();
                previous_hook(info);
            } else {
                tracing::error!("a worker panicked: {info}");
            }
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_a_server_cannot_end_a_notification() {
        let text = "#7 unit\u{1b}\\\u{7}; rm\u{9b}\u{202e} failed";
        assert_eq!(Notify::Off.bytes(text), b"");
        assert_eq!(Notify::Bell.bytes(text), b"\x07");
        assert_eq!(Notify::Osc9.bytes(text), b"\x1b]9;#7 unit \\   rm   failed\x1b\\");
        assert!(Notify::Osc777.bytes(text).starts_with(b"\x1b]777;notify;labscope;#7 unit "));
        assert!(Notify::Osc9.bytes(&"x".repeat(9000)).len() < 300);
        assert_eq!(Notify::named("osc777"), Ok(Notify::Osc777));
        assert_eq!(Notify::Desktop.bytes(text), b"");
        assert!(Notify::named("pigeon").is_err());
    }

    #[test]
    fn copied_text_keeps_lines_and_tabs_and_no_other_control_character() {
        assert_eq!(without_controls("fix: a\r\n\tb\u{1b}[31m\u{7f}\u{9b}2J\u{0}é"), "fix: a\n\tb[31m2Jé");
    }

    #[test]
    fn pictures_are_drawn_by_the_terminal_where_its_environment_says_that_it_can() {
        let with = |pairs: &[(&str, &str)]| {
            protocol(|name| pairs.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned()))
        };
        assert_eq!(with(&[("TERM", "xterm-256color")]), Protocol::Blocks);
        assert_eq!(with(&[("TERM", "xterm-kitty")]), Protocol::Kitty);
        assert_eq!(with(&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "WezTerm")]), Protocol::Iterm);
        assert_eq!(with(&[("TERM", "foot")]), Protocol::Sixel);
        assert_eq!(with(&[("TERM", "xterm-kitty"), ("TMUX", "/tmp/tmux")]), Protocol::Blocks);
    }
}
