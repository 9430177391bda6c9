//! The open servers, each with an app and an executor, and which of them is current.

use super::executor::{Configure, Executor};
use super::terminal;
use crate::api::Host;
use crate::app::action::{Effect, Msg, Tone};
use crate::app::pane::Session;
use crate::app::server_switch::UiState;
use crate::app::state::Kept;
use crate::app::{App, Place};
use crate::runtime::connections::Connections;
use crate::store::earliest;
use futures::future::join_all;
use jiff::Timestamp;
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// The state with which another server is opened.
pub struct ServerContext {
    pub session: Session,
    /// The folder of saved texts.
    pub drafts: Option<PathBuf>,
    /// The saved texts, and the state stored with them.
    pub kept: Kept,
    /// A warning about loading them.
    pub warning: Option<String>,
}

/// A function that loads the state of a server to open. Called on a worker thread, because it reads files.
pub type OpenServer = Arc<dyn Fn(&Host) -> ServerContext + Send + Sync>;

/// The state shared by all sessions.
pub(super) struct SharedContext {
    /// The connections to servers.
    pub lines: Connections,
    /// A function that opens other servers, if any.
    pub open: Option<OpenServer>,
    /// A function that writes custom sections.
    pub configure: Option<Configure>,
}

/// An open server.
struct ServerSession {
    host: Host,
    app: App,
    executor: Executor,
    inbox: mpsc::Receiver<Msg>,
}

impl ServerSession {
    fn new(shared: &SharedContext, host: Host, app: App, drafts: Option<PathBuf>) -> ServerSession {
        app.pictures.set_screen(terminal::screen());
        let (sender, inbox) = mpsc::channel::<Msg>(256);
        let executor = Executor::on(shared.lines.clone(), host.clone(), sender, drafts);
        ServerSession { host, app, executor: executor.configured(shared.configure.clone()), inbox }
    }

    /// Starts or cancels background work immediately, so that its messages are recognized. Returns the effects for the
    /// loop.
    fn hand_over(&mut self, effects: Vec<Effect>) -> Vec<Task> {
        let left = effects.into_iter().filter_map(|effect| self.executor.take(effect));
        left.map(|effect| (self.host.clone(), effect)).collect()
    }
}

/// An effect for the loop, and the server whose app requested it.
pub(super) type Task = (Host, Effect);

/// A message from the background.
pub(super) enum Incoming {
    /// A message for the app of a server.
    Msg(Host, Msg),
    /// A server is ready to be opened; `None` if that failed.
    Opened(Host, Option<Place>, Box<Option<ServerContext>>),
}

/// A server being opened for the first time.
struct OpeningSession {
    host: Host,
    place: Option<Place>,
    ground: JoinHandle<ServerContext>,
}

/// All open servers.
pub(super) struct Sessions {
    front: ServerSession,
    away: Vec<ServerSession>,
    /// The previously visited servers, most recent last.
    way: Vec<Host>,
    arriving: Option<OpeningSession>,
    shared: SharedContext,
}

impl Sessions {
    /// Starts with the first server.
    pub fn new(shared: SharedContext, host: Host, app: App, drafts: Option<PathBuf>) -> Sessions {
        let front = ServerSession::new(&shared, host, app, drafts);
        Sessions { front, away: Vec::new(), way: Vec::new(), arriving: None, shared }
    }

    /// Returns the current app.
    pub fn app(&mut self) -> &mut App {
        &mut self.front.app
    }

    /// Returns the current server.
    pub fn host(&self) -> Host {
        self.front.host.clone()
    }

    /// Returns the time at which the next app is due.
    pub fn wake_at(&self) -> Option<Timestamp> {
        self.away.iter().fold(self.front.app.wake_at(), |wake, seat| earliest(wake, seat.app.wake_at()))
    }

    fn seat(&mut self, host: &Host) -> Option<&mut ServerSession> {
        std::iter::once(&mut self.front).chain(&mut self.away).find(|seat| seat.host == *host)
    }

    /// Returns whether an app is quitting.
    pub fn is_quitting(&self) -> bool {
        self.front.app.is_quitting() || self.away.iter().any(|seat| seat.app.is_quitting())
    }

    /// Runs the effects of the app of `host`. Returns those for the loop.
    pub fn hand_over(&mut self, host: &Host, effects: Vec<Effect>) -> Vec<Task> {
        let tasks = self.seat(host).map(|seat| seat.hand_over(effects)).unwrap_or_default();
        self.moved(tasks)
    }

    /// Switches servers immediately, so that keys typed afterwards go to the new app. Returns the remaining tasks.
    fn moved(&mut self, tasks: Vec<Task>) -> Vec<Task> {
        let mut left = Vec::new();
        let mut queue = VecDeque::from(tasks);
        while let Some((host, effect)) = queue.pop_front() {
            match effect {
                Effect::Elsewhere(to, place) => queue.extend(self.go(to, place)),
                Effect::Return => queue.extend(self.go_back()),
                other => left.push((host, other)),
            }
        }
        left
    }

    /// Shows a desktop notification for the app of `host`.
    pub fn notify(&mut self, host: &Host, text: String) {
        if let Some(seat) = self.seat(host) {
            seat.executor.notify(text);
        }
    }

    /// Copies a text by other means than the terminal, which may not support it, for the app of `host`.
    pub fn copy(&mut self, host: &Host, text: String) {
        if let Some(seat) = self.seat(host) {
            seat.executor.copy(text);
        }
    }

    /// Opens a page in the browser, for the app of `host`.
    pub fn browse(&mut self, host: &Host, url: String) {
        if let Some(seat) = self.seat(host) {
            seat.executor.browse(url);
        }
    }

    /// Delivers a message to the app of `host`. Call [`rest`](Sessions::rest) after the last one.
    pub fn receive(&mut self, host: &Host, msg: Msg) -> Vec<Task> {
        let Some(seat) = self.seat(host) else { return Vec::new() };
        let effects = seat.app.receive(msg);
        let tasks = seat.hand_over(effects);
        self.moved(tasks)
    }

    /// Settles all apps that received messages, and runs what is due in background sessions.
    pub fn rest(&mut self, now: Timestamp) -> Vec<Task> {
        let mut tasks = Vec::new();
        let mut told = Vec::new();
        let mut at_risk = None;
        for seat in &mut self.away {
            let mut effects = Vec::new();
            if seat.app.wake_at().is_some_and(|due| due <= now) {
                effects = seat.app.receive(Msg::Now(now));
            }
            effects.extend(seat.app.rest());
            told.extend(seat.app.take_messages());
            at_risk = at_risk.or_else(|| seat.app.at_risk().cloned());
            tasks.extend(seat.hand_over(effects));
        }
        self.front.app.set_risk_elsewhere(at_risk);
        for (tone, words) in told {
            tasks.extend(self.say(tone, words));
        }
        let effects = self.front.app.rest();
        tasks.extend(self.front.hand_over(effects));
        self.moved(tasks)
    }

    fn say(&mut self, tone: Tone, words: String) -> Vec<Task> {
        let effects = self.front.app.receive(Msg::Say(tone, words));
        self.front.hand_over(effects)
    }

    /// Waits for the next message from the background.
    pub async fn heard(&mut self) -> Incoming {
        poll_fn(|cx| self.poll_heard(cx)).await
    }

    fn poll_heard(&mut self, cx: &mut Context<'_>) -> Poll<Incoming> {
        for seat in std::iter::once(&mut self.front).chain(&mut self.away) {
            if let Poll::Ready(Some(msg)) = seat.inbox.poll_recv(cx) {
                return Poll::Ready(Incoming::Msg(seat.host.clone(), msg));
            }
        }
        let Some(arriving) = &mut self.arriving else { return Poll::Pending };
        let Poll::Ready(ground) = Pin::new(&mut arriving.ground).poll(cx) else { return Poll::Pending };
        match self.arriving.take() {
            Some(OpeningSession { host, place, .. }) => {
                Poll::Ready(Incoming::Opened(host, place, Box::new(ground.ok())))
            }
            None => Poll::Pending,
        }
    }

    /// Returns a waiting message, if any.
    pub fn try_heard(&mut self) -> Option<(Host, Msg)> {
        let seats = std::iter::once(&mut self.front).chain(&mut self.away);
        seats.into_iter().find_map(|seat| Some((seat.host.clone(), seat.inbox.try_recv().ok()?)))
    }

    /// Switches to `host`, at `place` or where it was left. This is immediate if the server is already open.
    fn go(&mut self, host: Host, place: Option<Place>) -> Vec<Task> {
        // Switching again before a server has opened cancels opening it.
        self.arriving = None;
        if host == self.front.host {
            return Vec::new();
        }
        if let Some(at) = self.away.iter().position(|seat| seat.host == host) {
            self.way.push(self.front.host.clone());
            return self.bring(at, |app, manner| app.enter(manner, place));
        }
        if let Some(open) = self.shared.open.clone() {
            let name = host.clone();
            let ground = tokio::task::spawn_blocking(move || open(&name));
            self.arriving = Some(OpeningSession { host, place, ground });
        }
        Vec::new()
    }

    /// Opens a new server.
    pub fn open(&mut self, host: Host, place: Option<Place>, ground: Option<ServerContext>) -> Vec<Task> {
        let Some(ServerContext { session, drafts, kept, warning }) = ground else {
            return self.say(Tone::Bad, format!("Could not open {}; --log FILE has the details.", host.name()));
        };
        if self.seat(&host).is_some() {
            return self.go(host, place);
        }
        let (app, first) = self.front.app.beside(session, kept, place);
        let mut seat = ServerSession::new(&self.shared, host, app, drafts);
        let mut tasks = seat.hand_over(first);
        self.way.push(self.front.host.clone());
        self.away.push(seat);
        tasks.extend(self.bring(self.away.len() - 1, |app, manner| app.enter(manner, None)));
        tasks.extend(warning.map(|words| self.say(Tone::Warning, words)).unwrap_or_default());
        self.moved(tasks)
    }

    /// Returns to the previous server, where it was left.
    fn go_back(&mut self) -> Vec<Task> {
        self.arriving = None;
        let Some(host) = self.way.pop() else { return Vec::new() };
        let Some(at) = self.away.iter().position(|seat| seat.host == host) else { return Vec::new() };
        self.bring(at, |app, manner| app.come_back(manner))
    }

    fn bring(&mut self, at: usize, enter: impl FnOnce(&mut App, UiState) -> Vec<Effect>) -> Vec<Task> {
        let Some(next) = self.away.get_mut(at) else { return Vec::new() };
        let manner = self.front.app.manner();
        let (left, goes_on) = self.front.app.leave();
        let mut tasks = self.front.hand_over(left);
        std::mem::swap(&mut self.front, next);
        let effects = enter(&mut self.front.app, manner);
        tasks.extend(self.front.hand_over(effects));
        tasks.extend(goes_on.map(|words| self.say(Tone::Info, words)).unwrap_or_default());
        tasks
    }

    /// Waits briefly until text typed in the current app is written.
    pub async fn written(&mut self) {
        self.front.executor.written().await;
    }

    /// Waits until texts are on disk, and briefly for writes to be answered, on every server.
    pub async fn finish(&mut self) {
        let seats = std::iter::once(&mut self.front).chain(&mut self.away);
        join_all(seats.map(|seat| seat.executor.finish())).await;
        self.shared.lines.finish().await;
    }
}
