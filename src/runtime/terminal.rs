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

/// How the terminal is told that something watched has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Notify {
    /// Not at all.
    Off,
    /// By its bell.
    #[default]
    Bell,
    /// By a message, as iTerm2, ConEmu, WezTerm and Windows Terminal show it.
    Osc9,
    /// By a title and a message, as foot, rxvt and Ghostty show it.
    Osc777,
    /// Not by the terminal: by the desktop that it stands on.
    Desktop,
}

impl Notify {
    /// The way of that name.
    ///
    /// # Errors
    /// That there is none.
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

    /// Returns what the terminal is sent. A part of the text comes from a server: nothing in it may end the sequence,
    /// or begin one.
    fn bytes(self, text: &str) -> Vec<u8> {
        let text = notice(text).replace(';', " ");
        match self {
            Notify::Off | Notify::Desktop => Vec::new(),
            Notify::Bell => b"\x07".to_vec(),
            Notify::Osc9 => format!("\x1b]9;{text}\x1b\\").into_bytes(),
            Notify::Osc777 => format!("\x1b]777;notify;labscope;{text}\x1b\\").into_bytes(),
        }
    }
}

/// Characters of a notice.
const NOTICE: usize = 200;

/// A text as a notice holds it: short, and of letters that are seen.
pub(super) fn notice(text: &str) -> String {
    let plain = |c: char| !c.is_control() && !crate::ui::text::hides(c);
    text.chars().map(|c| if plain(c) { c } else { ' ' }).take(NOTICE).collect()
}

/// A text as it is copied: pasted into a shell, a control character of a server would be a key that nobody pressed.
fn without_controls(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}

/// The terminal in the interface's hands.
pub struct Terminal {
    /// Never dropped: ratatui would show the cursor, and give up where it cannot even say that it could not. Giving the
    /// terminal back is done here, once.
    inner: ManuallyDrop<ratatui::Terminal<CrosstermBackend<BufWriter<Stdout>>>>,
    options: TerminalOptions,
    /// Pictures that the terminal shows now.
    placed: Vec<Placed>,
    /// Pictures that it holds (kitty keeps them), by the number under which they were sent.
    sent: VecDeque<(u32, Arc<Fitted>)>,
    /// The last number given.
    last: u32,
}

/// Pictures that a terminal is asked to keep.
const KEPT: usize = 16;

/// Whether the terminal has to be restored; the panic hook looks at it from any thread.
static HELD: AtomicBool = AtomicBool::new(false);

impl Terminal {
    /// Takes the terminal over.
    pub fn open(options: TerminalOptions) -> io::Result<Terminal> {
        restore_on_crash();
        // Colors from the theme are wanted even where crossterm would leave them out by itself; the theme knows the depth.
        crossterm::style::force_color_output(true);
        let backend = CrosstermBackend::new(BufWriter::with_capacity(64 * 1024, io::stdout()));
        enter(options)?;
        match ratatui::Terminal::new(backend) {
            Ok(inner) => Ok(Terminal {
                inner: ManuallyDrop::new(inner),
                options,
                placed: Vec::new(),
                sent: VecDeque::new(),
                last: 0,
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
                // These are part of the cells, which ratatui believes that it knows.
                self.forget()?;
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

    /// Lays pictures over their cells; the cursor is where it was afterwards.
    fn draw_pictures(&mut self, placed: &[Placed], kitty: bool) -> io::Result<()> {
        if kitty {
            // What is shown goes, what was sent stays.
            self.inner.backend_mut().write_all(b"\x1b_Ga=d,d=a,q=2\x1b\\")?;
        }
        for Placed { area, picture } in placed {
            let number = if kitty { self.send(picture)? } else { 0 };
            let (columns, rows) = (area.width, area.height);
            let out = self.inner.backend_mut();
            write!(out, "\x1b7\x1b[{};{}H", area.y + 1, area.x + 1)?;
            match picture.own() {
                Some(TerminalPicture::Png(_)) if kitty => {
                    write!(out, "\x1b_Ga=p,i={number},p=1,c={columns},r={rows},C=1,q=2\x1b\\")?
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

    /// Sends a picture to a terminal that keeps it, once; the number under which it has it.
    fn send(&mut self, picture: &Arc<Fitted>) -> io::Result<u32> {
        if let Some((number, _)) = self.sent.iter().find(|(_, sent)| Arc::ptr_eq(sent, picture)) {
            return Ok(*number);
        }
        let out = self.inner.backend_mut();
        if self.sent.len() >= KEPT
            && let Some((old, _)) = self.sent.pop_front()
        {
            write!(out, "\x1b_Ga=d,d=I,i={old},q=2\x1b\\")?;
        }
        self.last += 1;
        let number = self.last;
        if let Some(TerminalPicture::Png(png)) = picture.own() {
            let data = base64::engine::general_purpose::STANDARD.encode(png);
            let mut pieces = data.as_bytes().chunks(4096).peekable();
            let mut first = format!("a=t,f=100,i={number},q=2,");
            while let Some(piece) = pieces.next() {
                write!(out, "\x1b_G{first}m={};", u8::from(pieces.peek().is_some()))?;
                out.write_all(piece)?;
                out.write_all(b"\x1b\\")?;
                first.clear();
            }
        }
        self.sent.push_back((number, picture.clone()));
        Ok(number)
    }

    /// Makes the next frame draw every cell.
    pub fn redraw(&mut self) -> io::Result<()> {
        // Whoever stopped us has set the terminal's flags back; crossterm believes that they still hold.
        disable_raw_mode()?;
        enter(self.options)?;
        self.forget()
    }

    /// Makes the next frame draw every cell, at the window's size. ratatui's own way to clear asks the terminal where its
    /// cursor is, and not every terminal answers.
    fn forget(&mut self) -> io::Result<()> {
        self.placed.clear();
        let (width, height) = crossterm::terminal::size()?;
        self.inner.resize(Rect::new(0, 0, width, height))
    }

    /// Width and height.
    pub fn size(&self) -> (u16, u16) {
        self.inner.size().map_or((80, 24), |s| (s.width, s.height))
    }

    /// Asks for the background color; the answer comes among the keys.
    pub fn ask_background(&mut self) -> io::Result<()> {
        let out = self.inner.backend_mut();
        out.write_all(b"\x1b]11;?\x1b\\")?;
        out.flush()
    }

    /// Puts `text` into the clipboard (OSC 52, which works over SSH too).
    pub fn copy(&mut self, text: &str) -> io::Result<()> {
        execute!(self.inner.backend_mut(), CopyToClipboard::to_clipboard_from(without_controls(text)))
    }

    /// Tells the user that something watched has ended.
    pub fn notify(&mut self, how: Notify, text: &str) -> io::Result<()> {
        let out = self.inner.backend_mut();
        out.write_all(&how.bytes(text))?;
        out.flush()
    }

    /// Gives the terminal to another program for a while.
    pub fn leave(&mut self) -> io::Result<()> {
        if !self.sent.is_empty() {
            self.inner.backend_mut().write_all(b"\x1b_Ga=d,d=A,q=2\x1b\\")?;
            self.sent.clear();
        }
        self.inner.backend_mut().flush()?;
        restore();
        Ok(())
    }

    /// Takes it back.
    pub fn enter(&mut self) -> io::Result<()> {
        enter(self.options)?;
        // The other program may have left anything behind, and the window may have another size.
        self.forget()
    }

    /// Stops, with the terminal as it was before; has it again when it goes on.
    pub fn suspend(&mut self, who: StopTarget) -> io::Result<()> {
        self.leave()?;
        signals::stop(who);
        self.enter()
    }

    /// Gives it back for good.
    pub fn close(&mut self) -> io::Result<()> {
        self.leave()
    }
}

/// Returns how pictures are drawn, as far as the terminal says by its environment, and how large a cell is.
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
        // A multiplexer draws cells alone, whatever the terminal around it can do.
        () if there("TMUX") || there("STY") || there("ZELLIJ") => Protocol::Blocks,
        () if there("KITTY_WINDOW_ID") || is("TERM", &["kitty", "ghostty"]) || is("TERM_PROGRAM", &["ghostty"]) => {
            Protocol::Kitty
        }
        () if is("TERM_PROGRAM", &["iterm", "wezterm", "rio"]) || is("LC_TERMINAL", &["iterm"]) => Protocol::Iterm,
        () if is("TERM", &["foot", "mlterm", "sixel", "contour"]) => Protocol::Sixel,
        () => Protocol::Blocks,
    }
}

/// Returns whether the terminal is still there: its window may have been closed.
pub fn is_there() -> bool {
    io::stdout().is_terminal()
}

impl Drop for Terminal {
    fn drop(&mut self) {
        restore();
    }
}

/// Presses, the wheel, and moves while a button is down, in SGR coordinates. Crossterm's own command asks for every move
/// of the mouse, and each would wake an idle screen.
const MOUSE_ON: &[u8] = b"\x1b[?1000h\x1b[?1002h\x1b[?1006h";

/// What undoes all that is asked of a terminal here; harmless where nothing of it was.
const GIVE_BACK: &[u8] = b"\x1b[?2026l\x1b[?1006l\x1b[?1002l\x1b[?1000l\x1b[?2004l\x1b[?1049l\x1b[?25h\x1b[0m";

fn enter(options: TerminalOptions) -> io::Result<()> {
    remember();
    enable_raw_mode()?;
    HELD.store(true, Ordering::SeqCst);
    let mut out = io::stdout();
    execute!(out, EnterAlternateScreen, EnableBracketedPaste, Hide, SetTitle("labscope"))?;
    if options.mouse {
        out.write_all(MOUSE_ON)?;
        out.flush()?;
    }
    Ok(())
}

/// Gives the terminal back as it was; harmless when done twice.
fn restore() {
    if !HELD.swap(false, Ordering::SeqCst) {
        return;
    }
    // Nothing can be done about a terminal that is gone.
    let _ = io::stdout().flush();
    give_back();
    // It keeps the flags for itself, too.
    let _ = disable_raw_mode();
}

/// Ends the process from another thread than the one that draws, with the terminal as it was.
pub(super) fn abandon() {
    if HELD.swap(false, Ordering::SeqCst) {
        give_back();
    }
    // As a shell names a program that SIGTERM ended.
    std::process::exit(143);
}

/// The flags of the terminal as they were at first.
#[cfg(unix)]
static FLAGS: OnceLock<libc::termios> = OnceLock::new();

/// Remembers how the terminal was, once.
fn remember() {
    #[cfg(unix)]
    {
        // SAFETY: a structure of numbers, filled in by the call that it is handed to.
        let flags = unsafe {
            let mut flags: libc::termios = std::mem::zeroed();
            (libc::tcgetattr(libc::STDOUT_FILENO, &raw mut flags) == 0).then_some(flags)
        };
        if let Some(flags) = flags {
            FLAGS.get_or_init(|| flags);
        }
    }
}

/// Puts the terminal right, whoever left it how, without a lock and without memory: a handler of a signal may call it.
pub(super) fn give_back() {
    #[cfg(unix)]
    // SAFETY: both calls are among those that handlers may make, and only read what they are handed.
    unsafe {
        if let Some(flags) = FLAGS.get() {
            libc::tcsetattr(libc::STDOUT_FILENO, libc::TCSANOW, flags);
        }
        libc::write(libc::STDOUT_FILENO, GIVE_BACK.as_ptr().cast(), GIVE_BACK.len());
    }
    #[cfg(not(unix))]
    let _ = io::stdout().write_all(GIVE_BACK);
}

/// Gives the terminal back where the process ends without unwinding.
#[cfg(unix)]
extern "C" fn restore_on_abort(_: libc::c_int) {
    if HELD.swap(false, Ordering::SeqCst) {
        give_back();
        // SAFETY: as above.
        unsafe {
            libc::write(libc::STDERR_FILENO, ABORTED.as_ptr().cast(), ABORTED.len());
        }
    }
}

/// What is said then. Why, was said before on the screen that is gone.
#[cfg(unix)]
const ABORTED: &[u8] = b"labscope ran out of memory or crashed. Your drafts are saved.\n";

fn restore_on_crash() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        #[cfg(unix)]
        signals::on_abort(restore_on_abort);
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            // A panic on a worker does not end the interface: it is drawn over, so only the main thread restores.
            if std::thread::current().name() == Some("main") {
                restore();
                before(info);
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
    fn what_a_server_sends_cannot_leave_a_notice() {
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
