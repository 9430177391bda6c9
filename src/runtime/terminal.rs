//! The terminal: the only place that writes escape codes. Restores it on every way out.

use crate::app::App;
use crossterm::clipboard::CopyToClipboard;
use crossterm::cursor::{Hide, Show};
use crossterm::event::{DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste};
use crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen, SetTitle,
    disable_raw_mode, enable_raw_mode,
};
use crossterm::{execute, queue};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::mem::ManuallyDrop;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

/// How the terminal is used.
#[derive(Clone, Copy, Debug)]
pub struct TerminalOptions {
    /// Whether the mouse is captured.
    pub mouse: bool,
}

/// The terminal in the interface's hands.
pub struct Terminal {
    /// Never dropped: ratatui would show the cursor, and give up where it cannot even say that it could not. Giving the
    /// terminal back is done here, once.
    inner: ManuallyDrop<ratatui::Terminal<CrosstermBackend<BufWriter<Stdout>>>>,
    options: TerminalOptions,
}

/// Whether the terminal has to be restored; the panic hook looks at it from any thread.
static HELD: AtomicBool = AtomicBool::new(false);

impl Terminal {
    /// Takes the terminal over.
    pub fn open(options: TerminalOptions) -> io::Result<Terminal> {
        restore_on_panic();
        // Colours from the theme are wanted even where crossterm would leave them out by itself; the theme knows the depth.
        crossterm::style::force_color_output(true);
        let backend = CrosstermBackend::new(BufWriter::with_capacity(64 * 1024, io::stdout()));
        enter(options)?;
        match ratatui::Terminal::new(backend) {
            Ok(inner) => Ok(Terminal { inner: ManuallyDrop::new(inner), options }),
            Err(error) => {
                restore();
                Err(error)
            }
        }
    }

    /// Draws the app in one synchronized update.
    pub fn draw(&mut self, app: &App) -> io::Result<()> {
        queue!(self.inner.backend_mut(), BeginSynchronizedUpdate)?;
        self.inner.draw(|frame| {
            let area = frame.area();
            if let Some(cursor) = app.view(area, frame.buffer_mut()) {
                frame.set_cursor_position(cursor);
            }
        })?;
        queue!(self.inner.backend_mut(), EndSynchronizedUpdate)?;
        self.inner.backend_mut().flush()
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
        let (width, height) = crossterm::terminal::size()?;
        self.inner.resize(Rect::new(0, 0, width, height))
    }

    /// Width and height.
    pub fn size(&self) -> (u16, u16) {
        self.inner.size().map_or((80, 24), |s| (s.width, s.height))
    }

    /// Asks for the background colour; the answer comes among the keys.
    pub fn ask_background(&mut self) -> io::Result<()> {
        let out = self.inner.backend_mut();
        out.write_all(b"\x1b]11;?\x1b\\")?;
        out.flush()
    }

    /// Puts `text` into the clipboard (OSC 52, which works over SSH too).
    pub fn copy(&mut self, text: &str) -> io::Result<()> {
        execute!(self.inner.backend_mut(), CopyToClipboard::to_clipboard_from(text))
    }

    /// Gives the terminal to another program for a while.
    pub fn leave(&mut self) -> io::Result<()> {
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

    /// The sleep of C-z.
    pub fn suspend(&mut self) -> io::Result<()> {
        self.leave()?;
        #[cfg(unix)]
        stop_self();
        self.enter()
    }

    /// Gives it back for good.
    pub fn close(&mut self) -> io::Result<()> {
        self.leave()
    }
}

/// Whether the terminal is still there: its window may have been closed.
pub fn is_there() -> bool {
    io::stdout().is_terminal()
}

impl Drop for Terminal {
    fn drop(&mut self) {
        restore();
    }
}

/// Stops the whole process group, as a shell's C-z would; returns when it is continued.
#[cfg(unix)]
fn stop_self() {
    // The standard library has no call for it; group 0 is the caller's own, as the terminal's C-z would stop it.
    let _ = std::process::Command::new("kill").args(["-TSTP", "0"]).status();
}

/// Presses, the wheel, and moves while a button is down, in SGR coordinates. Crossterm's own command asks for every move
/// of the mouse, and each would wake an idle screen.
const MOUSE_ON: &[u8] = b"\x1b[?1000h\x1b[?1002h\x1b[?1006h";

fn enter(options: TerminalOptions) -> io::Result<()> {
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
    let mut out = io::stdout();
    // Nothing can be done about a terminal that is gone.
    let _ =
        execute!(out, EndSynchronizedUpdate, DisableMouseCapture, DisableBracketedPaste, LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
}

fn restore_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
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

/// What a signal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// End cleanly.
    End,
    /// Back from a stop: the screen is not ours any more.
    Continued,
}

/// The signals that end or wake the program.
pub struct Signals {
    #[cfg(unix)]
    streams: [tokio::signal::unix::Signal; 4],
}

impl Signals {
    /// Listens for them.
    pub fn new() -> io::Result<Signals> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            let sigcont = SignalKind::from_raw(18);
            Ok(Signals {
                streams: [
                    signal(SignalKind::terminate())?,
                    signal(SignalKind::hangup())?,
                    signal(SignalKind::interrupt())?,
                    signal(sigcont)?,
                ],
            })
        }
        #[cfg(not(unix))]
        Ok(Signals {})
    }

    /// The next one.
    #[cfg(unix)]
    pub async fn next(&mut self) -> Signal {
        let [term, hup, int, cont] = &mut self.streams;
        tokio::select! {
            _ = term.recv() => Signal::End,
            _ = hup.recv() => Signal::End,
            _ = int.recv() => Signal::End,
            _ = cont.recv() => Signal::Continued,
        }
    }

    /// The next one.
    #[cfg(not(unix))]
    pub async fn next(&mut self) -> Signal {
        match tokio::signal::ctrl_c().await {
            Ok(()) => Signal::End,
            Err(_) => std::future::pending().await,
        }
    }
}
