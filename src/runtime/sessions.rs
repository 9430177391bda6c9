//! The open servers, each with an app and an executor, and which of them is current.

use super::capabilities::Capabilities;
use super::executor::{Configure, Executor};
use super::tasks;
use crate::api::Host;
use crate::app::action::{Effect, Msg};
use crate::app::clip::Clip;
use crate::app::server_switch::UiState;
use crate::app::session::Session;
use crate::app::state::Kept;
use crate::app::tone::Tone;
use crate::app::{App, Place};
use crate::runtime::connections::Connections;
use crate::store::earliest;
use crate::ui::image;
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
    pub connections: Connections,
    /// A function that opens other servers, if any.
    pub open: Option<OpenServer>,
    /// A function that writes custom sections.
    pub configure: Option<Configure>,
    /// The way images are drawn.
    pub images: image::Screen,
}

struct ServerSession {
    host: Host,
    app: App,
    executor: Executor,
    inbox: mpsc::Receiver<Msg>,
}

impl ServerSession {
    fn new(shared: &SharedContext, host: Host, app: App, drafts: Option<PathBuf>) -> ServerSession {
        app.images().set_screen(shared.images);
        let (sender, inbox) = mpsc::channel::<Msg>(256);
        let executor = Executor::on(shared.connections.clone(), host.clone(), sender, drafts);
        ServerSession { host, app, executor: executor.configured(shared.configure.clone()), inbox }
    }

    /// Starts or cancels background work immediately, so that its messages are recognized. Returns the effects for the
    /// loop.
    fn hand_over(&mut self, effects: Vec<Effect>) -> Vec<SessionTask> {
        let left = effects.into_iter().filter_map(|effect| self.executor.take(effect));
        left.map(|effect| (self.host.clone(), effect)).collect()
    }
}

/// An effect for the loop, and the server whose app requested it.
pub(super) type SessionTask = (Host, Effect);

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
    context: JoinHandle<ServerContext>,
}

pub(super) struct Sessions {
    current: ServerSession,
    background: Vec<ServerSession>,
    /// The previously visited servers, most recent last.
    history: Vec<Host>,
    opening: Option<OpeningSession>,
    shared: SharedContext,
}

impl Sessions {
    /// Starts with the first server.
    pub fn new(shared: SharedContext, host: Host, app: App, drafts: Option<PathBuf>) -> Sessions {
        let current = ServerSession::new(&shared, host, app, drafts);
        Sessions { current, background: Vec::new(), history: Vec::new(), opening: None, shared }
    }

    pub fn app(&mut self) -> &mut App {
        &mut self.current.app
    }

    /// Returns the current server.
    pub fn host(&self) -> Host {
        self.current.host.clone()
    }

    /// Returns the time at which the next app is due.
    pub fn wake_at(&self) -> Option<Timestamp> {
        self.background.iter().fold(self.current.app.wake_at(), |wake, session| earliest(wake, session.app.wake_at()))
    }

    fn session(&mut self, host: &Host) -> Option<&mut ServerSession> {
        std::iter::once(&mut self.current).chain(&mut self.background).find(|session| session.host == *host)
    }

    pub fn is_quitting(&self) -> bool {
        self.current.app.is_quitting() || self.background.iter().any(|session| session.app.is_quitting())
    }

    /// Runs the effects of the app of `host`. Returns those for the loop.
    pub fn hand_over(&mut self, host: &Host, effects: Vec<Effect>) -> Vec<SessionTask> {
        let tasks = self.session(host).map(|session| session.hand_over(effects)).unwrap_or_default();
        self.run_switches(tasks)
    }

    /// Switches servers immediately, so that keys typed afterwards go to the new app. Returns the remaining tasks.
    fn run_switches(&mut self, tasks: Vec<SessionTask>) -> Vec<SessionTask> {
        let mut left = Vec::new();
        let mut queue = VecDeque::from(tasks);
        while let Some((host, effect)) = queue.pop_front() {
            match effect {
                Effect::SwitchServer(to, place) => queue.extend(self.go(to, place)),
                Effect::SwitchBack => queue.extend(self.go_back()),
                other => left.push((host, other)),
            }
        }
        left
    }

    /// Shows a desktop notification for the app of `host`.
    pub fn notify(&mut self, host: &Host, text: String) {
        if let Some(session) = self.session(host) {
            session.executor.notify(text);
        }
    }

    /// Copies a text by other means than the terminal, which may not support it, for the app of `host`.
    pub fn copy(&mut self, host: &Host, clip: Clip, terminal: &Capabilities) {
        if let Some(session) = self.session(host) {
            session.executor.copy(clip, terminal);
        }
    }

    /// Sets the way images are drawn.
    pub fn set_images(&mut self, screen: image::Screen) {
        self.shared.images = screen;
        for session in std::iter::once(&mut self.current).chain(&mut self.background) {
            session.app.images().set_screen(screen);
            session.app.set_dirty();
        }
    }

    /// Opens a page in the browser, for the app of `host`.
    pub fn browse(&mut self, host: &Host, url: String) {
        if let Some(session) = self.session(host) {
            session.executor.browse(url);
        }
    }

    /// Delivers a message to the app of `host`. Call [`rest`](Sessions::rest) after the last one.
    pub fn receive(&mut self, host: &Host, msg: Msg) -> Vec<SessionTask> {
        let Some(session) = self.session(host) else { return Vec::new() };
        let effects = session.app.receive(msg);
        let tasks = session.hand_over(effects);
        self.run_switches(tasks)
    }

    /// Settles the current app after a frame; returns the effects to run, or `None` if the frame was as expected.
    pub fn settle_frame(&mut self) -> Option<Vec<SessionTask>> {
        let (host, effects) = (self.host(), self.current.app.settle_frame()?);
        Some(self.hand_over(&host, effects))
    }

    /// Settles all apps that received messages, and runs what is due in background sessions.
    pub fn rest(&mut self, now: Timestamp) -> Vec<SessionTask> {
        let mut tasks = Vec::new();
        let mut messages = Vec::new();
        let mut write_error = None;
        for session in &mut self.background {
            let mut effects = Vec::new();
            if session.app.wake_at().is_some_and(|due| due <= now) {
                effects = session.app.receive(Msg::Now(now));
            }
            effects.extend(session.app.settle_pending());
            messages.extend(session.app.take_messages());
            write_error = write_error.or_else(|| session.app.write_error().cloned());
            tasks.extend(session.hand_over(effects));
        }
        self.current.app.set_other_write_error(write_error);
        for (tone, words) in messages {
            tasks.extend(self.say(tone, words));
        }
        let effects = self.current.app.settle_pending();
        tasks.extend(self.current.hand_over(effects));
        self.run_switches(tasks)
    }

    fn say(&mut self, tone: Tone, words: String) -> Vec<SessionTask> {
        let effects = self.current.app.receive(Msg::Say(tone, words));
        self.current.hand_over(effects)
    }

    /// Waits for the next message from the background.
    pub async fn next_message(&mut self) -> Incoming {
        poll_fn(|cx| self.poll_next_message(cx)).await
    }

    fn poll_next_message(&mut self, cx: &mut Context<'_>) -> Poll<Incoming> {
        for session in std::iter::once(&mut self.current).chain(&mut self.background) {
            if let Poll::Ready(Some(msg)) = session.inbox.poll_recv(cx) {
                return Poll::Ready(Incoming::Msg(session.host.clone(), msg));
            }
        }
        let Some(opening) = &mut self.opening else { return Poll::Pending };
        let Poll::Ready(context) = Pin::new(&mut opening.context).poll(cx) else { return Poll::Pending };
        match self.opening.take() {
            Some(OpeningSession { host, place, .. }) => {
                Poll::Ready(Incoming::Opened(host, place, Box::new(context.ok())))
            }
            None => Poll::Pending,
        }
    }

    /// Returns a waiting message, if any.
    pub fn try_next_message(&mut self) -> Option<(Host, Msg)> {
        let sessions = std::iter::once(&mut self.current).chain(&mut self.background);
        sessions.into_iter().find_map(|session| Some((session.host.clone(), session.inbox.try_recv().ok()?)))
    }

    /// Switches to `host`, at `place` or where it was left. This is immediate if the server is already open.
    fn go(&mut self, host: Host, place: Option<Place>) -> Vec<SessionTask> {
        // Switching again before a server has opened cancels opening it.
        self.opening = None;
        if host == self.current.host {
            return Vec::new();
        }
        if let Some(at) = self.background.iter().position(|session| session.host == host) {
            self.history.push(self.current.host.clone());
            return self.switch_to(at, |app, ui_state| app.enter(ui_state, place));
        }
        if let Some(open) = self.shared.open.clone() {
            let name = host.clone();
            let context = tasks::block(move || open(&name));
            self.opening = Some(OpeningSession { host, place, context });
        }
        Vec::new()
    }

    /// Opens a new server.
    pub fn open(&mut self, host: Host, place: Option<Place>, context: Option<ServerContext>) -> Vec<SessionTask> {
        let Some(ServerContext { session, drafts, kept, warning }) = context else {
            return self.say(Tone::Bad, format!("Could not open {}; --log FILE has the details.", host.name()));
        };
        if self.session(&host).is_some() {
            return self.go(host, place);
        }
        let (app, first) = self.current.app.for_server(session, kept, place);
        let mut opened = ServerSession::new(&self.shared, host, app, drafts);
        let mut tasks = opened.hand_over(first);
        self.history.push(self.current.host.clone());
        self.background.push(opened);
        tasks.extend(self.switch_to(self.background.len() - 1, |app, ui_state| app.enter(ui_state, None)));
        tasks.extend(warning.map(|words| self.say(Tone::Warning, words)).unwrap_or_default());
        self.run_switches(tasks)
    }

    /// Returns to the previous server, where it was left.
    fn go_back(&mut self) -> Vec<SessionTask> {
        self.opening = None;
        let Some(host) = self.history.pop() else { return Vec::new() };
        let Some(at) = self.background.iter().position(|session| session.host == host) else { return Vec::new() };
        self.switch_to(at, |app, ui_state| app.come_back(ui_state))
    }

    fn switch_to(&mut self, at: usize, enter: impl FnOnce(&mut App, UiState) -> Vec<Effect>) -> Vec<SessionTask> {
        let Some(next) = self.background.get_mut(at) else { return Vec::new() };
        let ui_state = self.current.app.ui_state();
        let (left, summary) = self.current.app.leave();
        let mut tasks = self.current.hand_over(left);
        std::mem::swap(&mut self.current, next);
        let effects = enter(&mut self.current.app, ui_state);
        tasks.extend(self.current.hand_over(effects));
        tasks.extend(summary.map(|words| self.say(Tone::Info, words)).unwrap_or_default());
        tasks
    }

    /// Waits briefly until text typed in the current app is written.
    pub async fn written(&mut self) {
        self.current.executor.written().await;
    }

    /// Waits until texts are on disk, and briefly for writes to be answered, on every server.
    pub async fn finish(&mut self) -> Vec<String> {
        let sessions = std::iter::once(&mut self.current).chain(&mut self.background);
        let problems = sessions.map(async |session| {
            session.executor.finish().await;
            let ServerSession { app, inbox, .. } = session;
            app.end(std::iter::from_fn(|| inbox.try_recv().ok()))
        });
        let problems = join_all(problems).await.concat();
        self.shared.connections.finish().await;
        problems
    }
}
