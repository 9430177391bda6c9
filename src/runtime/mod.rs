//! The runtime: the loop between terminal, app and server. The only room beside the backend that spawns and sleeps.

pub mod background;
pub mod cache;
pub mod executor;
mod glean;
pub mod journal;
pub mod open;
pub mod save;
pub mod terminal;

use crate::api::client::Client;
use crate::app::App;
use crate::app::action::{Effect, Msg, Tone};
use crate::ui::theme::{Background, Depth};
use background::Reply;
use crossterm::event::{Event, EventStream, KeyEventKind};
use executor::Executor;
use futures::StreamExt;
use jiff::Timestamp;
use std::future::poll_fn;
use std::io;
use std::path::PathBuf;
use std::task::Poll;
use std::time::{Duration, Instant};
use terminal::{Terminal, TerminalOptions};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// The least time between two frames that no key asked for.
const FRAME: Duration = Duration::from_millis(16);

/// What the runtime needs beside the app.
pub struct Options {
    /// Sends the requests; made after the first frame, because reading the system's certificates takes a while.
    pub client: Box<dyn FnOnce() -> Result<Client, crate::api::Error> + Send>,
    /// Whether the mouse is used.
    pub mouse: bool,
    /// How many colours there are.
    pub depth: Depth,
    /// Whether the terminal is asked for its background.
    pub ask_background: bool,
    /// Where kept texts are written.
    pub drafts: Option<PathBuf>,
    /// Where replies are kept; `None` where nothing is to be left behind.
    pub replies: Option<PathBuf>,
    /// Writes the person's own sections to the configuration.
    pub configure: Option<executor::Configure>,
    /// How the terminal is told that something watched has ended.
    pub notify: terminal::Notify,
}

/// Runs the interface until it ends; the terminal is restored whatever happens.
pub async fn run(app: &mut App, first: Vec<Effect>, options: Options) -> io::Result<()> {
    let (sender, mut inbox) = mpsc::channel::<Msg>(256);
    let mut terminal = Terminal::open(TerminalOptions { mouse: options.mouse })?;
    app.pictures.set_screen(terminal::screen());
    terminal.draw(app)?;
    app.take_dirty();
    let mut watch = background::Watch::new(options.ask_background);
    if options.ask_background {
        terminal.ask_background()?;
    }
    let mut signals = terminal::Signals::new()?;
    let mut executor =
        Executor::new(options.client, sender, options.drafts, options.replies).configured(options.configure);
    let mut input = Input::open();
    let mut drawn = Instant::now();
    let mut todo = first;
    let mut urgent = true;
    loop {
        for effect in std::mem::take(&mut todo) {
            match effect {
                Effect::Quit => {}
                Effect::Copy(text) => terminal.copy(&text)?,
                Effect::Notify(text) => terminal.notify(options.notify, &text)?,
                Effect::Browse(url) => {
                    if let Err(why) = open::browser(&url) {
                        todo.extend(app.update(Msg::Say(Tone::Bad, why)));
                    }
                }
                Effect::Edit { tag, text, suffix } => {
                    input.close().await;
                    terminal.leave()?;
                    let outcome = open::editor(&text, &suffix);
                    terminal.enter()?;
                    input = Input::open();
                    // What was meant for the editor (C-c, C-g) must not end labscope.
                    signals = terminal::Signals::new()?;
                    todo.extend(app.update(Msg::Edited(tag, outcome)));
                }
                Effect::Page(paper) => {
                    input.close().await;
                    terminal.leave()?;
                    let outcome = open::pager(&paper);
                    terminal.enter()?;
                    input = Input::open();
                    signals = terminal::Signals::new()?;
                    if let Err(why) = outcome {
                        todo.extend(app.update(Msg::Say(Tone::Bad, why)));
                    }
                    app.set_dirty();
                }
                Effect::Suspend => {
                    input.close().await;
                    terminal.suspend()?;
                    input = Input::open();
                    todo.extend(app.update(Msg::Resize(terminal.size().0, terminal.size().1)));
                }
                other => executor.take(other),
            }
            urgent = true;
        }
        if app.is_quitting() {
            executor.finish().await;
            return terminal.close();
        }
        if !todo.is_empty() {
            continue;
        }
        let wait_for_frame = if urgent { Duration::ZERO } else { FRAME.saturating_sub(drawn.elapsed()) };
        let mut dirty = app.take_dirty();
        if dirty && wait_for_frame.is_zero() {
            terminal.draw(app)?;
            drawn = Instant::now();
            urgent = false;
            dirty = false;
        }
        let wake = if dirty { Some(wait_for_frame) } else { app.wake_at().map(until) };
        let wake = watch.deadline().map_or(wake, |d| Some(wake.map_or(d, |w| w.min(d))));
        let mut batch: Vec<Msg> = Vec::new();
        tokio::select! {
            biased;
            signal = signals.next() => match signal {
                terminal::Signal::End => batch.push(Msg::Quit),
                terminal::Signal::Continued => {
                    terminal.redraw()?;
                    app.set_dirty();
                    urgent = true;
                }
            },
            event = input.events.recv() => match event {
                Some(Ok(event)) => take_event(event, &mut watch, &mut batch),
                // The terminal is gone: there is nobody left to draw for.
                Some(Err(_)) | None => batch.push(Msg::Quit),
            },
            Some(msg) = inbox.recv() => batch.push(msg),
            () = sleep(wake) => batch.extend(watch.expired().into_iter().map(Msg::Key)),
        }
        // Everything that waits is taken before one frame is drawn.
        while let Ok(event) = input.events.try_recv() {
            match event {
                Ok(event) => take_event(event, &mut watch, &mut batch),
                Err(_) => batch.push(Msg::Quit),
            }
        }
        while batch.len() < 512 {
            let Ok(msg) = inbox.try_recv() else { break };
            batch.push(msg);
        }
        todo.extend(app.update(Msg::Now(Timestamp::now())));
        for msg in batch {
            urgent |= matches!(msg, Msg::Key(_) | Msg::Mouse(_) | Msg::Paste(_) | Msg::Resize(..) | Msg::Background(_));
            todo.extend(app.update(msg));
        }
        if dirty {
            app.set_dirty();
        }
    }
}

/// The terminal's events, read by a task of their own.
///
/// The loop drains what waits before it draws, and crossterm's stream must not be polled for that: it keeps the waker of
/// the first poll that found nothing, so a poll without a waker would put the loop to sleep for good.
struct Input {
    events: mpsc::Receiver<io::Result<Event>>,
    task: JoinHandle<()>,
}

impl Input {
    fn open() -> Input {
        let (sender, events) = mpsc::channel(256);
        let task = tokio::spawn(async move {
            let mut stream = EventStream::new();
            // The terminal is looked at each time: crossterm would read the end of one that was closed over and over,
            // and never come back.
            while let Some(event) =
                poll_fn(|cx| if terminal::is_there() { stream.poll_next_unpin(cx) } else { Poll::Ready(None) }).await
            {
                if sender.send(event).await.is_err() {
                    break;
                }
            }
        });
        Input { events, task }
    }

    /// Stops reading, so that another program can; returns when nothing reads any more.
    async fn close(self) {
        self.task.abort();
        let _ = self.task.await;
    }
}

fn take_event(event: Event, watch: &mut background::Watch, batch: &mut Vec<Msg>) {
    match event {
        Event::Key(key) if key.kind == KeyEventKind::Release => {}
        Event::Key(key) => match watch.take(key) {
            Reply::Keys(keys) => batch.extend(keys.into_iter().map(Msg::Key)),
            Reply::Background(light) => {
                batch.push(Msg::Background(if light { Background::Light } else { Background::Dark }));
            }
            Reply::Held => {}
        },
        Event::Mouse(mouse) => batch.push(Msg::Mouse(mouse)),
        Event::Paste(text) => batch.push(Msg::Paste(text)),
        Event::Resize(width, height) => batch.push(Msg::Resize(width, height)),
        Event::FocusGained | Event::FocusLost => {}
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
