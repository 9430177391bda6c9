//! The terminal. Only this module writes escape codes, and it restores the terminal however the program ends.

use super::capabilities::{self, Capabilities, Emulator, TerminalAnswer};
use super::open;
use super::screen::{self, Frame, Screen};
use super::signals::{self, StopTarget};
use crate::app::App;
use crate::system::panics;
use crate::ui::image::{self, Fitted, PlacedImage, Protocol, TerminalImage};
use crate::ui::{glyph, hyperlink};
use base64::Engine;
use crossterm::clipboard::CopyToClipboard;
use crossterm::cursor::Hide;
use crossterm::event::{EnableBracketedPaste, EnableFocusChange};
use crossterm::terminal::{
    BeginSynchronizedUpdate, DisableLineWrap, EndSynchronizedUpdate, EnterAlternateScreen, disable_raw_mode,
    enable_raw_mode,
};
use crossterm::{execute, queue};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::collections::VecDeque;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::mem::ManuallyDrop;
#[cfg(unix)]
use std::os::fd::AsRawFd;
#[cfg(unix)]
use std::sync::atomic::AtomicI32;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Once, OnceLock};

#[derive(Clone, Copy, Debug)]
pub struct TerminalOptions {
    /// Whether the mouse is captured.
    pub mouse: bool,
}

/// The way the user is notified that something watched has ended.
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
    /// Parses the name used in the configuration.
    ///
    /// # Errors
    ///
    /// Returns the list of valid names if `name` is not one of them.
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

/// Maximum number of characters in a notification.
const MAX_NOTIFICATION: usize = 200;

/// Returns the text of a notification: truncated, with a space for each control or invisible character.
pub(super) fn notification_text(text: &str) -> String {
    let plain = |c: char| !c.is_control() && !crate::ui::text::is_invisible(c);
    text.chars().map(|c| if plain(c) { c } else { ' ' }).take(MAX_NOTIFICATION).collect()
}

/// The terminal while the interface draws on it. Only [`restore`] restores it.
pub struct Terminal {
    /// Never dropped: an unfinished frame must not be written after the terminal was restored.
    screen: ManuallyDrop<Screen<BufWriter<Stdout>>>,
    options: TerminalOptions,
    /// The images on the screen.
    placed: Vec<PlacedImage>,
    /// The images that kitty keeps, oldest first, with the IDs under which they were sent.
    sent: VecDeque<(u32, Arc<Fitted>)>,
    /// The last used image ID.
    last_image_id: u32,
    /// Whether the terminal draws hyperlinks or ignores them safely.
    draws_links: bool,
    capabilities: Capabilities,
}

/// Maximum number of images that kitty is asked to keep.
const MAX_SENT_IMAGES: usize = 16;

/// Whether the terminal has to be restored. It is read by the panic hook and signal handlers.
static NEEDS_RESTORE: AtomicBool = AtomicBool::new(false);

impl Terminal {
    /// Sets the terminal up for the interface.
    pub fn open(options: TerminalOptions) -> io::Result<Terminal> {
        restore_on_crash();
        // The theme decides which colors are used; crossterm must not drop them.
        crossterm::style::force_color_output(true);
        let screen = Screen::new(BufWriter::with_capacity(64 * 1024, io::stdout()));
        let capabilities = Capabilities::of(environment);
        set_up(options, &capabilities)?;
        Ok(Terminal {
            screen: ManuallyDrop::new(screen),
            options,
            placed: Vec::new(),
            sent: VecDeque::new(),
            last_image_id: 0,
            draws_links: capabilities::supports_hyperlinks(environment) && !glyph::is_accessible(),
            capabilities,
        })
    }

    /// Draws something other than an app in one synchronized update.
    pub fn draw_with(&mut self, draw: impl FnOnce(Rect, &mut Buffer) -> Option<(u16, u16)>) -> io::Result<()> {
        queue!(self.screen.out(), BeginSynchronizedUpdate)?;
        self.draw_cells(draw)?;
        queue!(self.screen.out(), EndSynchronizedUpdate)?;
        self.screen.out().flush()
    }

    /// Draws the app in one synchronized update.
    pub fn draw(&mut self, app: &App) -> io::Result<()> {
        queue!(self.screen.out(), BeginSynchronizedUpdate)?;
        let is_kitty = app.images().screen().protocol == Protocol::Kitty;
        let mut rewritten = self.draw_cells(|area, buf| app.view(area, buf))?;
        let placed = app.images().placed();
        if placed != self.placed && !is_kitty && !self.placed.is_empty() {
            // These images replaced cells.
            self.invalidate();
            rewritten = self.draw_cells(|area, buf| app.view(area, buf))?;
        }
        let is_damaged = match rewritten {
            // Clearing the screen removes images.
            None => true,
            Some(rows) => {
                let crosses = |row| placed.iter().any(|image| image.area.rows().any(|area| area.y == row));
                !is_kitty && rows.into_iter().any(crosses)
            }
        };
        if placed != self.placed || is_damaged {
            self.draw_images(&placed, is_kitty)?;
            self.placed = placed;
        }
        queue!(self.screen.out(), EndSynchronizedUpdate)?;
        self.screen.out().flush()
    }

    /// Draws a frame without images. Returns the same as [`Screen::draw`].
    fn draw_cells(
        &mut self,
        draw: impl FnOnce(Rect, &mut Buffer) -> Option<(u16, u16)>,
    ) -> io::Result<Option<Vec<u16>>> {
        let (width, height) = size();
        let mut cells = Buffer::empty(Rect::new(0, 0, width, height));
        let cursor = draw(cells.area, &mut cells);
        if self.capabilities.emulator.counts_marks() {
            screen::leave_out_marks(&mut cells);
        }
        let mut frame = Frame::new(cells);
        let links = hyperlink::take();
        for link in links.iter().filter(|_| self.draws_links) {
            if let Ok(address) = open::address(&link.target) {
                frame.link(link.area, &String::from(address).into());
            }
        }
        self.screen.draw(frame, cursor)
    }

    /// Draws images over their cells; saves and restores the cursor's position.
    fn draw_images(&mut self, placed: &[PlacedImage], kitty: bool) -> io::Result<()> {
        if kitty {
            // Removes the images from the screen; kitty keeps their data.
            self.screen.out().write_all(b"\x1b_Ga=d,d=a,q=2\x1b\\")?;
        }
        for PlacedImage { area, image } in placed {
            let id = if kitty { self.send_image(image)? } else { 0 };
            let (columns, rows) = (area.width, area.height);
            let out = self.screen.out();
            write!(out, "\x1b7\x1b[{};{}H", area.y + 1, area.x + 1)?;
            match image.native() {
                Some(TerminalImage::Png(_)) if kitty => {
                    write!(out, "\x1b_Ga=p,i={id},p=1,c={columns},r={rows},C=1,q=2\x1b\\")?
                }
                Some(TerminalImage::Png(png)) => {
                    let data = base64::engine::general_purpose::STANDARD.encode(png);
                    let size = png.len();
                    write!(out, "\x1b]1337;File=inline=1;size={size};width={columns};height={rows};")?;
                    write!(out, "preserveAspectRatio=1;doNotMoveCursor=1:{data}\x07")?;
                }
                Some(TerminalImage::Sixel(body)) => write!(out, "\x1bP0;1q{body}\x1b\\")?,
                None => {}
            }
            write!(out, "\x1b8")?;
        }
        Ok(())
    }

    /// Sends an image to kitty, unless kitty has it already. Returns the ID of the image.
    fn send_image(&mut self, image: &Arc<Fitted>) -> io::Result<u32> {
        if let Some((id, _)) = self.sent.iter().find(|(_, sent)| Arc::ptr_eq(sent, image)) {
            return Ok(*id);
        }
        let out = self.screen.out();
        if self.sent.len() >= MAX_SENT_IMAGES
            && let Some((old, _)) = self.sent.pop_front()
        {
            write!(out, "\x1b_Ga=d,d=I,i={old},q=2\x1b\\")?;
        }
        self.last_image_id += 1;
        let id = self.last_image_id;
        if let Some(TerminalImage::Png(png)) = image.native() {
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
        self.sent.push_back((id, image.clone()));
        Ok(id)
    }

    /// Sets the terminal up again and makes the next frame draw every cell.
    pub fn redraw(&mut self) -> io::Result<()> {
        // The shell has reset the terminal's flags, which crossterm does not know.
        disable_raw_mode()?;
        set_up(self.options, &self.capabilities)?;
        self.invalidate();
        Ok(())
    }

    /// Makes the next frame draw every cell.
    fn invalidate(&mut self) {
        self.placed.clear();
        self.screen.invalidate();
    }

    /// Queries what the terminal is, and its background color if `background` says so. The answers arrive among the keys,
    /// in the order of the queries.
    pub fn query(&mut self, background: bool) -> io::Result<()> {
        let out = self.screen.out();
        if background {
            out.write_all(b"\x1b]11;?\x1b\\")?;
        }
        if !capabilities::prints_unknown(environment) {
            // The name, the keyboard protocol, and the secondary and primary device attributes.
            out.write_all(b"\x1b[>q\x1b[?u\x1b[>c\x1b[c")?;
        }
        out.flush()
    }

    /// Takes an answer of the terminal into account.
    pub fn learn(&mut self, answer: &TerminalAnswer) -> io::Result<()> {
        let before = self.capabilities;
        self.capabilities.learn(answer);
        let now = &self.capabilities;
        if now.emulator != before.emulator || now.has_keyboard_protocol != before.has_keyboard_protocol {
            set_modes(now)?;
        }
        if now.emulator.counts_marks() != before.emulator.counts_marks() {
            self.invalidate();
        }
        // Terminals that tell their name ignore what they do not know.
        let draws_images = !glyph::is_accessible() && !self.capabilities.emulator.is_multiplexer();
        if matches!(answer, TerminalAnswer::Version(_)) && draws_images {
            let out = self.screen.out();
            out.write_all(b"\x1b_Gi=1,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\")?;
            out.flush()?;
        }
        Ok(())
    }

    /// Returns what the terminal supports, as far as it is known.
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// Returns the way images are drawn.
    pub fn image_screen(&self) -> image::Screen {
        image_screen(self.capabilities.images)
    }

    /// Copies `text` to the clipboard through the terminal (OSC 52, which also works over SSH). GNU screen only passes
    /// on sequences that are wrapped for it, in pieces.
    pub fn copy(&mut self, text: &str) -> io::Result<()> {
        let out = self.screen.out();
        if self.capabilities.emulator != Emulator::Screen {
            return execute!(out, CopyToClipboard::to_clipboard_from(text));
        }
        let data = base64::engine::general_purpose::STANDARD.encode(text);
        let sequence = format!("\x1b]52;c;{data}\x07");
        for piece in sequence.as_bytes().chunks(240) {
            out.write_all(b"\x1bP")?;
            out.write_all(piece)?;
            out.write_all(b"\x1b\\")?;
        }
        out.flush()
    }

    /// Notifies the user with `text`.
    pub fn notify(&mut self, how: Notify, text: &str) -> io::Result<()> {
        let out = self.screen.out();
        out.write_all(&how.bytes(text))?;
        out.flush()
    }

    /// Restores the terminal, for another program or for good.
    pub fn release(&mut self) -> io::Result<()> {
        if !self.sent.is_empty() {
            self.screen.out().write_all(b"\x1b_Ga=d,d=A,q=2\x1b\\")?;
            self.sent.clear();
        }
        self.screen.out().flush()?;
        restore();
        Ok(())
    }

    /// Sets the terminal up again after [`release`](Terminal::release).
    pub fn reclaim(&mut self) -> io::Result<()> {
        set_up(self.options, &self.capabilities)?;
        // The screen is in an unknown state.
        self.invalidate();
        Ok(())
    }

    /// Restores the terminal, stops `target`, and sets the terminal up again when it continues.
    pub fn suspend(&mut self, target: StopTarget) -> io::Result<()> {
        self.release()?;
        signals::stop(target);
        self.reclaim()
    }
}

/// Returns the width and height of the window in cells. If the terminal does not know a side, `COLUMNS` or `LINES` says
/// it, else it is that of 80x24.
pub fn size() -> (u16, u16) {
    size_or(crossterm::terminal::size().unwrap_or_default(), environment)
}

fn size_or((width, height): (u16, u16), variable: impl Fn(&str) -> Option<String>) -> (u16, u16) {
    let side = |known: u16, name: &str, default: u16| {
        let named = || variable(name).and_then(|value| value.trim().parse().ok()).filter(|side| *side > 0);
        if known > 0 { known } else { named().unwrap_or(default) }
    };
    (side(width, "COLUMNS", 80), side(height, "LINES", 24))
}

/// Returns the way images are drawn: the protocol that is passed, and the size of a cell in pixels.
fn image_screen(protocol: Protocol) -> image::Screen {
    let cell = crossterm::terminal::window_size().ok().and_then(|size| {
        let side = |pixels: u16, cells: u16| pixels.checked_div(cells).filter(|side| (4..=100).contains(side));
        Some((side(size.width, size.columns)?, side(size.height, size.rows)?))
    });
    image::Screen { protocol, cell: cell.unwrap_or(image::Screen::default().cell) }
}

/// Returns an environment variable.
pub fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

impl Drop for Terminal {
    fn drop(&mut self) {
        restore();
    }
}

/// The sequence that enables reports of presses, the wheel, and moves while a button is down, in SGR coordinates.
/// crossterm's own command also enables all other moves, and each would wake an idle screen.
const MOUSE_ON: &[u8] = b"\x1b[?1000h\x1b[?1002h\x1b[?1006h";

/// A mode that only some terminals have, or get.
struct TerminalMode {
    /// Its bit in [`MODES`].
    bit: u8,
    on: &'static [u8],
    off: &'static [u8],
}

/// kitty's keyboard protocol: unambiguous keys, and the keys of the Latin layout. Each screen of the terminal has its own
/// flags, so they are reset before the alternate screen is left.
const KITTY_KEYS: TerminalMode = TerminalMode { bit: 1, on: b"\x1b[>5u", off: b"\x1b[<1u" };
/// The same without the keys of the Latin layout, for Konsole, which numbers them in another way.
const KONSOLE_KEYS: TerminalMode = TerminalMode { bit: 1, on: b"\x1b[>1u", off: b"\x1b[<1u" };
/// By default, xterm sends Alt with a letter as another letter.
const XTERM_KEYS: TerminalMode = TerminalMode { bit: 2, on: b"\x1b[?1036s\x1b[?1036h", off: b"\x1b[?1036r" };
/// st sends commands of the screen for Delete and Insert, unless the keypad is in its application mode, as terminfo's
/// smkx sets it.
const ST_KEYS: TerminalMode = TerminalMode { bit: 4, on: b"\x1b[?1h\x1b=", off: b"\x1b[?1l\x1b>" };

/// The title, which is kept and set. At the end it is cleared; where the terminal has kept the one before, that is
/// restored. Screen readers that say what is written would say it.
const TITLE: TerminalMode =
    TerminalMode { bit: 8, on: b"\x1b[22;2t\x1b]2;labscope\x07", off: b"\x1b]8;;\x1b\\\x1b]2;\x07\x1b[23;2t" };

/// The modes that are set.
static MODES: AtomicU8 = AtomicU8::new(0);

/// Sets the modes that the terminal needs and that are not set yet. Terminals that do not have them may
/// interpret the sequences as other commands.
fn set_modes(capabilities: &Capabilities) -> io::Result<()> {
    let protocol = match capabilities.emulator {
        Emulator::Konsole => KONSOLE_KEYS,
        _ => KITTY_KEYS,
    };
    let mut out = io::stdout();
    for (is_needed, mode) in [
        (capabilities.has_keyboard_protocol, protocol),
        (capabilities.emulator == Emulator::Xterm, XTERM_KEYS),
        (capabilities.emulator == Emulator::St, ST_KEYS),
        (!glyph::is_accessible(), TITLE),
    ] {
        if is_needed && MODES.fetch_or(mode.bit, Ordering::SeqCst) & mode.bit == 0 {
            out.write_all(mode.on)?;
        }
    }
    out.flush()
}

/// The sequence that disables every mode enabled here but those of [`MODES`]. It is harmless if none is.
const RESET: &[u8] =
    b"\x1b[?2026l\x1b[?1004l\x1b[?1006l\x1b[?1002l\x1b[?1000l\x1b[?2004l\x1b[?7h\x1b[?1049l\x1b[?25h\x1b[0m";

fn set_up(options: TerminalOptions, capabilities: &Capabilities) -> io::Result<()> {
    save_flags();
    enable_raw_mode()?;
    NEEDS_RESTORE.store(true, Ordering::SeqCst);
    redirect_stderr();
    let mut out = io::stdout();
    execute!(out, EnterAlternateScreen, DisableLineWrap, EnableBracketedPaste, EnableFocusChange, Hide)?;
    set_modes(capabilities)?;
    if options.mouse {
        out.write_all(MOUSE_ON)?;
    }
    out.flush()
}

/// Restores the terminal. Calling it twice is harmless.
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

/// Restores the terminal and exits, from a thread that does not draw.
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

/// The standard error stream while it is redirected, or -1. Whatever a library or a child process prints there would
/// be drawn over the interface.
#[cfg(unix)]
static OWN_STDERR: AtomicI32 = AtomicI32::new(-1);

/// Redirects standard error to nowhere if it is the terminal.
fn redirect_stderr() {
    #[cfg(unix)]
    if io::stderr().is_terminal()
        && OWN_STDERR.load(Ordering::SeqCst) < 0
        && let Ok(nowhere) = std::fs::OpenOptions::new().write(true).open("/dev/null")
    {
        // SAFETY: these calls only take file descriptors, which are open.
        unsafe {
            let own = libc::fcntl(libc::STDERR_FILENO, libc::F_DUPFD_CLOEXEC, 3);
            if own >= 0 {
                libc::dup2(nowhere.as_raw_fd(), libc::STDERR_FILENO);
                OWN_STDERR.store(own, Ordering::SeqCst);
            }
        }
    }
}

/// Resets the terminal's modes and flags, and standard error, without locking or allocating, so that signal handlers may call it.
pub(super) fn reset() {
    #[cfg(unix)]
    // SAFETY: all calls are async-signal-safe and only read their arguments.
    unsafe {
        if let Some(flags) = STARTUP_FLAGS.get() {
            libc::tcsetattr(libc::STDOUT_FILENO, libc::TCSANOW, flags);
        }
        let own = OWN_STDERR.swap(-1, Ordering::SeqCst);
        if own >= 0 {
            libc::dup2(own, libc::STDERR_FILENO);
            libc::close(own);
        }
        let modes = MODES.swap(0, Ordering::SeqCst);
        for mode in [KITTY_KEYS, XTERM_KEYS, ST_KEYS, TITLE] {
            if modes & mode.bit != 0 {
                libc::write(libc::STDOUT_FILENO, mode.off.as_ptr().cast(), mode.off.len());
            }
        }
        libc::write(libc::STDOUT_FILENO, RESET.as_ptr().cast(), RESET.len());
    }
    #[cfg(not(unix))]
    {
        let _ = io::stdout().write_all(RESET);
        let _ = io::stdout().write_all(TITLE.off);
    }
}

/// Restores the terminal when the process ends without unwinding.
#[cfg(unix)]
fn restore_before_crash() {
    if NEEDS_RESTORE.swap(false, Ordering::SeqCst) {
        reset();
        // SAFETY: As above.
        unsafe {
            libc::write(libc::STDERR_FILENO, CRASH_MESSAGE.as_ptr().cast(), CRASH_MESSAGE.len());
        }
    }
}

/// The message after a crash. The reason was printed to the alternate screen.
#[cfg(unix)]
const CRASH_MESSAGE: &[u8] = b"labscope ran out of memory or crashed. Your drafts are saved.\n";

fn restore_on_crash() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        #[cfg(unix)]
        signals::on_crash(restore_before_crash);
        let previous_hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if panics::is_caught() {
                return;
            }
            // A panic on a worker does not end the interface, so the terminal is restored only for the main thread.
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
    fn only_a_web_address_of_printable_bytes_becomes_a_hyperlink() {
        let found = open::address("https://x.example/a b\u{1b}\\\u{7}\u{9d}é").expect("an address");
        let found = String::from(found);
        assert!(found.bytes().all(|byte| byte.is_ascii_graphic()), "{found}");
        for target in ["javascript:alert(1)", "file:///etc/passwd", "!12", "https://", ""] {
            assert!(open::address(target).is_err(), "{target}");
        }
    }

    #[test]
    fn an_unknown_window_size_comes_from_the_environment_or_is_80x24() {
        let with = |pairs: &'static [(&str, &str)]| {
            move |name: &str| pairs.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned())
        };
        assert_eq!(size_or((100, 30), with(&[("COLUMNS", "7"), ("LINES", "7")])), (100, 30));
        assert_eq!(size_or((0, 0), with(&[("COLUMNS", "132"), ("LINES", "50")])), (132, 50));
        assert_eq!(size_or((0, 30), with(&[("COLUMNS", "132"), ("LINES", "50")])), (132, 30));
        assert_eq!(size_or((0, 0), with(&[("COLUMNS", "0"), ("LINES", "many")])), (80, 24));
        assert_eq!(size_or((0, 0), with(&[])), (80, 24));
    }
}
