//! The runtime: the loop between terminal, app and server. Apart from the backend, only this room spawns tasks.
//!
//! # From a key to a frame
//!
//! 1. `src/runtime/input/` parses the terminal's bytes, and the event reaches the loop. Before
//!    it draws, the loop takes all waiting events, but only as many messages from servers as fit in one turn
//!    (`src/runtime/turn.rs`). A flood of messages never delays a key.
//! 2. `App::receive` looks up the key together with the keys pressed before it: the top overlay takes it, or else
//!    the place's commands, or else the global ones.
//! 3. The command returns actions, and the app performs them in order: go to another place, open an overlay, send a
//!    write.
//! 4. `settle` tells the pane that something changed, compares wants with the store and with what is in flight, and
//!    returns effects.
//! 5. The loop runs the effects. If anything changed, it draws one frame as soon as typed text is written to disk; it
//!    waits for that a fraction of a second at most. A separate thread syncs the files later.
//! 6. Wants and layouts may depend on what only drawing knows, such as the width of a panel. Such values are `Drawn`
//!    (`src/ui/drawn.rs`). After a frame in which one of them changed, the loop settles again (`App::settle_frame`),
//!    at most three times per message, so that no place waits for a key to be complete.

pub mod branch;
pub mod cache;
pub mod capabilities;
mod checkout;
pub mod clipboard;
pub mod connections;
mod desktop;
pub mod download;
pub mod executor;
mod follow;
mod input;
pub mod journal;
pub mod open;
pub mod outcome;
mod range_reader;
mod run;
pub mod screen;
pub mod sessions;
pub mod sign_in;
pub mod signals;
mod state_files;
mod tasks;
pub mod terminal;
#[cfg(test)]
mod tests;
mod turn;
pub mod welcome;
mod workers;

use crate::api::Host;
use crate::app::App;
use crate::app::action::{Effect, Msg};
use crate::app::clip::Clip;
use crate::app::custom::RunEvent;
use crate::app::tone::Tone;
use crate::ui::text::{sanitize, without_controls};
use crate::ui::theme::Background;
use connections::Connections;
use crossterm::event::{Event, KeyEventKind};
use input::{Input, Sent};
use jiff::Timestamp;
use sessions::{Incoming, OpenServer, SessionTask, Sessions, SharedContext};
use signals::{ExitFlag, Signal, Signals, StopTarget};
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use terminal::{Terminal, TerminalOptions};
pub use turn::Turn;

/// The minimum time between two frames not caused by a key.
const FRAME_INTERVAL: Duration = Duration::from_millis(16);

pub struct Options {
    /// The connections to servers; set up after the first frame, because reading the system's certificates takes a
    /// while.
    pub connections: Connections,
    /// The first server.
    pub here: Host,
    /// A function that opens other servers, if any.
    pub open: Option<OpenServer>,
    pub mouse: bool,
    /// Whether to query the terminal's background color.
    pub query_background: bool,
    /// The folder for saved texts.
    pub drafts: Option<PathBuf>,
    /// A function that writes custom sections to the configuration.
    pub configure: Option<executor::Configure>,
    /// The way the user is notified when a watched job finishes.
    pub notify: terminal::Notify,
}

/// Runs the interface until it ends. Afterwards, texts are on disk and the terminal is restored, even after an error.
pub async fn run(app: App, first: Vec<Effect>, options: Options) -> io::Result<()> {
    // From here on, signals are handled, so that the terminal is restored before the process ends.
    let signals = Signals::of_terminal(ExitFlag::default())?;
    signals::exit_if_stuck(signals.exit_flag.clone(), terminal::restore_and_exit)?;
    let mut terminal = Terminal::open(TerminalOptions { mouse: options.mouse })?;
    let shared = SharedContext {
        connections: options.connections,
        open: options.open,
        configure: options.configure,
        images: terminal.image_screen(),
    };
    let sessions = Sessions::new(shared, options.here, app, options.drafts);
    let mut interface =
        Interface { sessions, terminal: &mut terminal, signals, todo: Vec::new(), notify: options.notify };
    let outcome = interface.run(first, options.query_background).await;
    // Typed text must not be lost when the terminal disappears.
    let problems = interface.sessions.finish().await;
    let released = terminal.release();
    for words in problems {
        // The terminal may be gone.
        _ = writeln!(io::stderr(), "{}", sanitize(&words));
    }
    outcome.and(released)
}

/// The loop between the terminal, the apps and background tasks.
struct Interface<'a> {
    sessions: Sessions,
    terminal: &'a mut Terminal,
    signals: Signals,
    todo: Vec<SessionTask>,
    notify: terminal::Notify,
}

impl Interface<'_> {
    async fn run(&mut self, mut first: Vec<Effect>, query_background: bool) -> io::Result<()> {
        self.terminal.draw(self.sessions.app())?;
        self.sessions.app().take_dirty();
        first.extend(self.sessions.app().settle_frame().unwrap_or_default());
        let query_background = query_background && input::READS_ANSWERS;
        if input::READS_ANSWERS {
            self.terminal.query(query_background)?;
        }
        let mut input = Input::open(query_background);
        let mut drawn = Instant::now();
        let mut urgent = true;
        let here = self.sessions.host();
        self.todo.extend(self.sessions.hand_over(&here, first));
        loop {
            while !self.todo.is_empty() {
                for (host, effect) in std::mem::take(&mut self.todo) {
                    self.perform(&host, effect, &mut input).await?;
                }
                urgent = true;
            }
            if self.sessions.is_quitting() {
                return Ok(());
            }
            let wait_for_frame = if urgent { Duration::ZERO } else { FRAME_INTERVAL.saturating_sub(drawn.elapsed()) };
            let mut dirty = self.sessions.app().take_dirty();
            if dirty && wait_for_frame.is_zero() {
                // Text is written to disk before it is shown.
                self.sessions.written().await;
                self.terminal.draw(self.sessions.app())?;
                drawn = Instant::now();
                urgent = false;
                if let Some(effects) = self.sessions.settle_frame() {
                    self.todo.extend(effects);
                    continue;
                }
                dirty = false;
            }
            let wake = if dirty { Some(wait_for_frame) } else { self.sessions.wake_at().map(until) };
            let mut batch: Vec<Msg> = Vec::new();
            let mut received: Option<(Host, Msg)> = None;
            tokio::select! {
                biased;
                signal = self.signals.next() => match signal {
                    Signal::End | Signal::Interrupt => batch.push(Msg::Quit),
                    Signal::Stop => {
                        let current = self.sessions.host();
                        self.suspend(StopTarget::Us, &current, &mut input).await?;
                        urgent = true;
                    }
                    Signal::Continued => {
                        self.terminal.redraw()?;
                        self.sessions.app().set_dirty();
                        urgent = true;
                    }
                },
                event = input.events.recv() => match event {
                    Some(Ok(event)) => self.take_event(event, &mut input, &mut batch)?,
                    // The terminal is gone.
                    Some(Err(_)) | None => batch.push(Msg::Quit),
                },
                next = self.sessions.next_message() => match next {
                    Incoming::Msg(host, msg) => received = Some((host, msg)),
                    Incoming::Opened(host, place, context) => {
                        self.todo.extend(self.sessions.open(host, place, *context));
                        urgent = true;
                    }
                },
                () = sleep(wake) => {}
            }
            // All waiting events are handled before one frame is drawn.
            while let Ok(event) = input.events.try_recv() {
                match event {
                    Ok(event) => self.take_event(event, &mut input, &mut batch)?,
                    Err(_) => batch.push(Msg::Quit),
                }
            }
            let now = Timestamp::now();
            for msg in std::iter::once(Msg::Now(now)).chain(batch) {
                urgent |= matches!(
                    msg,
                    Msg::Key(_) | Msg::Mouse(_) | Msg::Paste(_) | Msg::Typed(_) | Msg::Resize(..) | Msg::Background(_)
                );
                let current = self.sessions.host();
                self.todo.extend(self.sessions.receive(&current, msg));
            }
            let (turn, mut messages) = (Turn::start(), 0);
            while turn.has_room(messages)
                && let Some((host, msg)) = received.take().or_else(|| self.sessions.try_next_message())
            {
                messages += 1;
                if host != self.sessions.host() {
                    self.todo.extend(self.sessions.receive(&host, Msg::Now(now)));
                }
                self.todo.extend(self.sessions.receive(&host, msg));
            }
            self.todo.extend(self.sessions.rest(now));
            if dirty {
                self.sessions.app().set_dirty();
            }
        }
    }

    /// Runs an effect that needs the terminal.
    async fn perform(&mut self, host: &Host, effect: Effect, input: &mut Input) -> io::Result<()> {
        match effect {
            Effect::Copy(clip) => {
                let clip = Clip { text: without_controls(&clip.text), ..clip };
                self.terminal.copy(&clip.text)?;
                self.sessions.copy(host, clip, self.terminal.capabilities());
            }
            Effect::Notify(text) => {
                let of = if *host == self.sessions.host() { String::new() } else { format!("{}: ", host.name()) };
                match self.notify {
                    terminal::Notify::Desktop => self.sessions.notify(host, of + &text),
                    other => self.terminal.notify(other, &(of + &text))?,
                }
            }
            Effect::Browse(url) => self.sessions.browse(host, url),
            Effect::Edit { text, suffix } => {
                self.lend(input).await?;
                let (outcome, should_quit) = open::editor(&text, &suffix, &mut self.signals, input).await;
                if should_quit {
                    match outcome {
                        Ok(text) => self.tell(host, Msg::EditorInterrupted(text)),
                        // The text stays in its file, which is not overwritten.
                        Err(why) => _ = writeln!(io::stderr(), "{}", sanitize(&why)),
                    }
                    self.tell(host, Msg::Quit);
                    return Ok(());
                }
                // The text is reported first, so that it is saved even if the terminal is lost.
                self.tell(host, Msg::EditorClosed(outcome));
                self.take_back(input)?;
            }
            Effect::Pager(pager_text) => {
                self.lend(input).await?;
                let ended = open::pager(&pager_text, &mut self.signals).await;
                self.after(ended, host, input)?;
            }
            Effect::EditFile(file) => {
                self.lend(input).await?;
                let ended = open::file_of_clone(&file, &mut self.signals).await;
                self.tell(host, Msg::FileEdited);
                self.after(ended, host, input)?;
            }
            Effect::EditList(folder, list) => {
                self.lend(input).await?;
                let ended = open::list_of_clone(&folder, &list, &mut self.signals).await;
                self.tell(host, Msg::FileEdited);
                self.after(ended, host, input)?;
            }
            Effect::StartCustomCommand(number, order) => {
                self.lend(input).await?;
                let (ended, should_quit) = open::in_terminal(&order, &mut self.signals, input).await;
                self.tell(host, Msg::CustomCommand(number, RunEvent::Ended(ended)));
                self.after(Ok(should_quit), host, input)?;
            }
            Effect::Suspend => self.suspend(StopTarget::Group, host, input).await?,
            // The app reports quitting itself; no other effects reach the loop.
            _ => {}
        }
        Ok(())
    }

    /// Gives the terminal to another program.
    async fn lend(&mut self, input: &mut Input) -> io::Result<()> {
        input.close().await;
        self.terminal.release()
    }

    /// Resumes after another program ended, or quits if a signal requested that meanwhile.
    fn after(&mut self, ended: Result<bool, String>, host: &Host, input: &mut Input) -> io::Result<()> {
        match ended {
            Ok(false) => {}
            Ok(true) => {
                self.tell(host, Msg::Quit);
                return Ok(());
            }
            Err(why) => self.tell(host, Msg::Say(Tone::Bad, why)),
        }
        self.take_back(input)?;
        self.sessions.app().set_dirty();
        Ok(())
    }

    /// Takes the terminal back after another program.
    fn take_back(&mut self, input: &mut Input) -> io::Result<()> {
        self.terminal.reclaim()?;
        if input.is_closed() {
            *input = Input::open(input.is_asked);
        }
        // Signals for the other program (C-c, C-g) must not end labscope.
        self.signals = Signals::of_terminal(self.signals.exit_flag.clone())?;
        Ok(())
    }

    /// Suspends the program. The window may have another size when it continues.
    async fn suspend(&mut self, who: StopTarget, host: &Host, input: &mut Input) -> io::Result<()> {
        input.close().await;
        self.terminal.suspend(who)?;
        *input = Input::open(input.is_asked);
        let (columns, rows) = terminal::size();
        self.tell(host, Msg::Resize(columns, rows));
        Ok(())
    }

    fn tell(&mut self, host: &Host, msg: Msg) {
        self.todo.extend(self.sessions.receive(host, msg));
        self.todo.extend(self.sessions.rest(Timestamp::now()));
    }

    /// Passes on what the terminal sent, and takes its answers into account.
    fn take_event(&mut self, sent: Sent, input: &mut Input, batch: &mut Vec<Msg>) -> io::Result<()> {
        match sent {
            Sent::Text(text) => batch.push(Msg::Typed(text)),
            Sent::Background(is_light) => {
                input.is_asked = false;
                batch.push(Msg::Background(if is_light { Background::Light } else { Background::Dark }));
            }
            Sent::Answer(answer) => {
                let before = *self.terminal.capabilities();
                self.terminal.learn(&answer)?;
                if *self.terminal.capabilities() != before {
                    self.sessions.set_images(self.terminal.image_screen());
                }
            }
            Sent::Event(Event::Key(key)) if key.kind == KeyEventKind::Release => {}
            Sent::Event(Event::Key(key)) => batch.push(Msg::Key(key)),
            Sent::Event(Event::Mouse(mouse)) => batch.push(Msg::Mouse(mouse)),
            Sent::Event(Event::Paste(text)) => batch.push(Msg::Paste(text)),
            Sent::Event(Event::Resize(..)) => {
                let (width, height) = terminal::size();
                batch.push(Msg::Resize(width, height));
            }
            Sent::Event(Event::FocusGained) => batch.push(Msg::Focus(true)),
            Sent::Event(Event::FocusLost) => batch.push(Msg::Focus(false)),
        }
        Ok(())
    }
}

fn until(moment: Timestamp) -> Duration {
    Duration::try_from(moment.duration_since(Timestamp::now())).unwrap_or_default()
}

async fn sleep(wake: Option<Duration>) {
    match wake {
        Some(duration) => tokio::time::sleep(duration).await,
        None => std::future::pending().await,
    }
}
