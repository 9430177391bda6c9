//! Runs the app without a terminal: tests send keys and clicks, carry out effects themselves, and read the screen as
//! text.

use crossterm::event::{KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use jiff::{SignedDuration, Timestamp};
use labscope::api::client::{ByteRange, Client, Server};
use labscope::api::commit_data::ReadClone;
use labscope::api::endpoint::Request;
use labscope::api::page::NextPage;
use labscope::api::{Error, Fault, Host};
use labscope::app::action::{Effect, Msg, Outcome};
use labscope::app::bindings::Bindings;
use labscope::app::clone::{Checkout, CloneFile, CloneFolder, Push};
use labscope::app::custom::{CustomCommand, RunSpec};
use labscope::app::keymap::{Key, parse_chord};
use labscope::app::outbox::Claim;
use labscope::app::session::{CustomSection, OtherServer, Session};
use labscope::app::state::{AccountState, Kept, StateFile};
use labscope::app::text_key::DraftKey;
use labscope::app::transfer::TransferSpec;
use labscope::app::{App, Entry, Place, Setup};
use labscope::domain::parts::{Parts, Step};
use labscope::parts::tour;
use labscope::runtime::executor::Executor;
use labscope::store::{AnyRangeRead, Follow, Load, ParsedReply, Task, TaskKey, Write};
use labscope::ui::glyph::{Alphabet, LocalAlphabet};
use labscope::ui::text;
use labscope::ui::theme::{Background, Theme};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use secrecy::SecretString;
use serde::Serialize;
use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use tokio::sync::mpsc;

/// The time at which every test starts.
pub const NOW: &str = "2026-06-15T12:00:00Z";
/// The maximum time to wait for a local server.
const PATIENCE: Duration = Duration::from_secs(20);

/// A scripted reply.
enum Reply {
    /// A JSON body; a list is split into pages as requested.
    Json(serde_json::Value),
    Raw(Vec<u8>),
    /// Raw content of a server that supports ranges.
    InParts(Vec<u8>),
    Fails(Error),
}

/// The reply of a server that does not support an operation.
static NO_THREADS: LazyLock<Reply> =
    LazyLock::new(|| Reply::Fails(Error { tried: String::new(), fault: Fault::Unsupported("404 Not Found".into()) }));

/// A predicate on the requests of writes.
type Holds = Box<dyn Fn(&Request) -> bool>;

/// How lists never end: whatever the script says, each page has a next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endless {
    /// Pages of a hundred rows, all different.
    FullPages,
    /// Pages of one row.
    ShortPages,
    /// Pages without rows after the first one.
    EmptyPages,
    /// The first page again.
    SamePage,
    /// Two pages in turn.
    Cycle,
}

/// The source of replies.
enum Answers {
    /// The test, by request line. Requests without a reply stay in flight.
    Script(HashMap<String, Reply>),
    /// A running server, through the program's own executor.
    Server { executor: Box<Executor>, inbox: mpsc::Receiver<Msg> },
}

/// A builder for [`Harness`].
pub struct Begin {
    pub registry: &'static [Entry],
    pub place: Place,
    pub size: (u16, u16),
    pub read_only: bool,
    /// Whether the hint about the first keys is shown.
    pub shows_key_hints: bool,
    pub signed_in: bool,
    pub background: Background,
    accessible: bool,
    has_tour: bool,
    pub drafts: HashMap<String, String>,
    /// The account that was signed in last.
    pub account: String,
    /// The state of each account.
    pub states: HashMap<String, AccountState>,
    pub sections: Vec<CustomSection>,
    /// The columns that the configuration sets.
    pub columns: BTreeMap<String, Vec<String>>,
    others: Vec<OtherServer>,
    /// The clone in which the program was started.
    pub clone: Option<CloneFolder>,
    /// Reads what commits contain from a clone.
    pub clone_reader: Option<ReadClone>,
    /// The custom commands of the configuration.
    pub commands: Vec<CustomCommand>,
    /// The user's templates for texts, by name.
    pub templates: BTreeMap<String, String>,
    /// The user's own keys, by command.
    pub keys: HashMap<String, Vec<String>>,
    holds: Option<Holds>,
    refuses: Option<Holds>,
    steps_left: usize,
    pub trace_settings: Arc<labscope::app::session::TraceSettings>,
    /// The configured display options of diffs.
    pub diff: labscope::app::session::DiffDefaults,
    /// The age at which lists on the screen are read again.
    pub refresh: Option<Duration>,
    answers: Answers,
}

impl Begin {
    /// Returns a setup with all panes at `place`: 80 columns by 24 rows, dark theme, signed in. Replies come from
    /// [`Harness::reply`].
    pub fn at(place: Place) -> Begin {
        Begin {
            registry: labscope::panes::PANES,
            place,
            size: (80, 24),
            read_only: false,
            shows_key_hints: false,
            signed_in: true,
            background: Background::Dark,
            accessible: false,
            has_tour: false,
            drafts: HashMap::new(),
            account: String::new(),
            states: HashMap::new(),
            sections: Vec::new(),
            columns: BTreeMap::new(),
            keys: HashMap::new(),
            clone: None,
            clone_reader: None,
            commands: Vec::new(),
            templates: BTreeMap::new(),
            others: Vec::new(),
            holds: None,
            refuses: None,
            steps_left: usize::MAX,
            trace_settings: Arc::default(),
            diff: Default::default(),
            refresh: None,
            answers: Answers::Script(HashMap::new()),
        }
    }

    /// Sets the size of the screen.
    pub fn size(mut self, width: u16, height: u16) -> Begin {
        self.size = (width, height);
        self
    }

    /// Adds another server by its web address; in scripts, its request lines are prefixed with its name.
    pub fn beside(mut self, web_url: &str, signed_in: bool) -> Begin {
        self.others.push(OtherServer { host: Host::new(web_url), signed_in, at_home: true });
        self
    }

    /// Replaces the program's panes.
    pub fn registry(mut self, registry: &'static [Entry]) -> Begin {
        self.registry = registry;
        self
    }

    /// Behaves as with `--read-only`.
    pub fn read_only(mut self) -> Begin {
        self.read_only = true;
        self
    }

    /// Records downloads and matching writes without carrying them out.
    pub fn hold(mut self, like: impl Fn(&Request) -> bool + 'static) -> Begin {
        self.holds = Some(Box::new(like));
        self
    }

    /// Holds matching writes back: the test decides how they fail ([`Harness::refuse`]).
    pub fn refusing(mut self, like: impl Fn(&Request) -> bool + 'static) -> Begin {
        self.refuses = Some(Box::new(like));
        self
    }

    /// Kills the program after a number of write steps, see [`is_step`]. Writes that were sent arrive, but their reply is
    /// never processed.
    pub fn killed_after(mut self, steps: usize) -> Begin {
        self.steps_left = steps;
        self
    }

    /// Uses the light theme.
    pub fn light(mut self) -> Begin {
        self.background = Background::Light;
        self
    }

    /// Has the tour of the demo.
    pub fn tour(mut self) -> Begin {
        self.has_tour = true;
        self
    }

    /// Behaves as with `--accessible`.
    pub fn accessible(mut self) -> Begin {
        self.accessible = true;
        self
    }

    /// Takes replies from the server at `url`.
    pub fn server(self, url: &str, token: &str) -> Begin {
        let mut server = Server::new(url.parse().expect("the address of a server"));
        server.token = Some(SecretString::from(token.to_owned())).filter(|_| !token.is_empty());
        self.on(server)
    }

    /// Takes replies from `server`.
    pub fn on(mut self, server: Server) -> Begin {
        let (sender, inbox) = mpsc::channel(256);
        let executor = Executor::new(Box::new(move || Client::new(server)), sender, None, None);
        self.answers = Answers::Server { executor: Box::new(executor), inbox };
        self
    }

    /// Starts the app.
    pub fn open(self) -> Harness {
        let alphabet = self.accessible.then(|| LocalAlphabet::new(Alphabet::Words));
        let now: Timestamp = NOW.parse().expect("a time");
        let setup = Setup {
            registry: self.registry,
            bindings: Bindings::new(self.registry, &self.keys)
                .expect("keys that can be read")
                .with_custom(&self.commands)
                .expect("keys that can be told apart"),
            session: Session {
                server: "demo".into(),
                web_url: "http://demo.test".into(),
                read_only: self.read_only,
                offline: false,
                signed_in: self.signed_in,
                sections: self.sections,
                tour: if self.has_tour { tour::DEMO } else { &[] },
                columns: Arc::new(self.columns),
                trace_settings: self.trace_settings,
                diff: self.diff,
                refresh: self.refresh,
                others: self.others,
                clone: self.clone,
                commands: Arc::new(self.commands),
                templates: Arc::new(self.templates),
                ..Session::default()
            },
            theme: Theme::for_background(self.background),
            theme_is_chosen: true,
            kept: Kept { account: self.account, texts: self.drafts, states: self.states.clone() },
            shows_key_hints: self.shows_key_hints,
            place: self.place,
            now,
            size: self.size,
        };
        let (app, effects) = App::new(setup);
        let mut harness = Harness {
            app,
            answers: self.answers,
            clone_reader: self.clone_reader,
            now,
            server_time: None,
            size: self.size,
            pending: Vec::new(),
            log: Vec::new(),
            previews_only: false,
            previewed: HashSet::new(),
            asked: Vec::new(),
            reached: HashSet::new(),
            holds: self.holds,
            refuses: self.refuses,
            steps_left: self.steps_left,
            to_refuse: Vec::new(),
            claims: HashMap::new(),
            claimed: VecDeque::new(),
            pressed: 0,
            kept: HashMap::new(),
            states: self.states,
            held: HashMap::new(),
            endless: None,
            draws_late: false,
            in_flight: HashSet::new(),
            failed_streams: 0,
            buffer: Buffer::empty(Rect::default()),
            cursor: None,
            lines: OnceCell::new(),
            _alphabet: alphabet,
        };
        harness.take(effects);
        harness.draw();
        harness
    }
}

/// Returns whether an effect is a write step: a text is kept, claimed, sent or forgotten.
fn is_step(effect: &Effect) -> bool {
    match effect {
        // The name of the account is kept, too, but nobody typed it.
        Effect::SaveText(key, _) => !key.starts_with("account "),
        Effect::Claim(..) | Effect::Send(..) => true,
        _ => false,
    }
}

/// The app, and a record of its effects.
pub struct Harness {
    pub app: App,
    /// The number of pressed keys, without those of typed texts.
    pub pressed: usize,
    answers: Answers,
    clone_reader: Option<ReadClone>,
    now: Timestamp,
    /// The time of the server at which streams are requested, if it is another one.
    pub server_time: Option<Timestamp>,
    size: (u16, u16),
    /// Effects that were started and have no reply yet.
    pending: Vec<Effect>,
    /// Effects that get no reply from a server, in order: what the user, the terminal and other programs notice.
    pub log: Vec<Effect>,
    /// Whether computations with a preview send only that, and do not end.
    pub previews_only: bool,
    /// The keys of the computations whose preview was sent.
    previewed: HashSet<String>,
    /// The request lines of all requests in order, with the fields of forms.
    pub asked: Vec<String>,
    /// The method and route of all requests, including streams and downloads.
    pub reached: HashSet<(&'static str, &'static str)>,
    holds: Option<Holds>,
    refuses: Option<Holds>,
    /// The number of write steps until the program is killed.
    steps_left: usize,
    /// Writes that the test has yet to refuse.
    to_refuse: Vec<(u64, Write)>,
    /// Claims of another program, by key on disk.
    pub claims: HashMap<String, Claim>,
    /// Replies about claimed drafts that have yet to be delivered.
    claimed: VecDeque<(DraftKey, Claim)>,
    /// The kept texts, by key.
    pub kept: HashMap<String, String>,
    /// The state of each account, as written last.
    pub states: HashMap<String, AccountState>,
    /// The number of bytes of each stream that the app has received.
    held: HashMap<Request, usize>,
    /// How lists never end, if they do not.
    pub endless: Option<Endless>,
    /// Whether frames are drawn only on demand, as when many messages arrive at once.
    pub draws_late: bool,
    /// Requests that a server has yet to answer, except for streams.
    in_flight: HashSet<TaskKey>,
    /// The number of streams that ended with an error.
    pub failed_streams: usize,
    buffer: Buffer,
    /// The position of the terminal's cursor, if it is visible.
    cursor: Option<(u16, u16)>,
    /// The lines of the screen, computed on demand: most screens are read several times or not at all.
    lines: OnceCell<Vec<String>>,
    _alphabet: Option<LocalAlphabet>,
}

impl Harness {
    // ---- input

    /// Scripts the reply to a request: `GET /projects/7`, with or without its query, but never with its page. A list is
    /// split into pages automatically.
    pub fn reply(&mut self, line: &str, body: impl Serialize) -> &mut Harness {
        self.script(line, Reply::Json(serde_json::to_value(body).expect("a body")))
    }

    /// Scripts raw content: a blob or a trace.
    pub fn reply_raw(&mut self, line: &str, bytes: impl Into<Vec<u8>>) -> &mut Harness {
        self.script(line, Reply::Raw(bytes.into()))
    }

    /// Scripts raw content of a server that supports ranges.
    pub fn reply_in_parts(&mut self, line: &str, bytes: impl Into<Vec<u8>>) -> &mut Harness {
        self.script(line, Reply::InParts(bytes.into()))
    }

    /// Makes a request fail with a status and a message.
    pub fn fail(&mut self, line: &str, status: u16, said: &str) -> &mut Harness {
        let error = Error::from_status(line.to_owned(), status, said.to_owned(), None);
        self.script(line, Reply::Fails(error))
    }

    /// Makes a request fail because the server does not support the operation.
    pub fn unsupported(&mut self, line: &str) -> &mut Harness {
        let fault = Fault::Unsupported("404 Not Found".into());
        self.script(line, Reply::Fails(Error { tried: line.to_owned(), fault }))
    }

    /// Makes a request fail because the server is unreachable.
    pub fn unreachable(&mut self, line: &str) -> &mut Harness {
        let fault = Fault::Offline("connection refused by demo.test".into());
        self.script(line, Reply::Fails(Error { tried: line.to_owned(), fault }))
    }

    fn script(&mut self, line: &str, reply: Reply) -> &mut Harness {
        match &mut self.answers {
            Answers::Script(replies) => replies.insert(line.to_owned(), reply),
            Answers::Server { .. } => panic!("{line}: the replies come from a server"),
        };
        self
    }

    /// Presses keys: `j j Enter`, `C-d`.
    pub fn press(&mut self, keys: &str) -> &mut Harness {
        for key in parse_chord(keys).unwrap_or_else(|| panic!("{keys}: invalid keys")) {
            self.key(key);
        }
        self
    }

    /// Types a text letter by letter.
    pub fn type_text(&mut self, words: &str) -> &mut Harness {
        let pressed = self.pressed;
        for c in words.chars() {
            self.press(if c == ' ' { "Space".to_owned() } else { c.to_string() }.as_str());
        }
        self.pressed = pressed;
        self
    }

    fn key(&mut self, key: Key) {
        self.pressed += 1;
        let mut modifiers = KeyModifiers::NONE;
        modifiers.set(KeyModifiers::CONTROL, key.ctrl);
        modifiers.set(KeyModifiers::ALT, key.alt);
        modifiers.set(KeyModifiers::SHIFT, key.shift);
        self.send(Msg::Key(KeyEvent::new(key.code, modifiers)));
    }

    /// Clicks on the first occurrence of `words`.
    pub fn click_on(&mut self, words: &str) -> &mut Harness {
        let (column, row) = self.find(words).unwrap_or_else(|| panic!("no {words:?} on\n{}", self.picture()));
        for kind in [MouseEventKind::Down(MouseButton::Left), MouseEventKind::Up(MouseButton::Left)] {
            self.mouse(kind, column, row);
        }
        self
    }

    /// Double-clicks on the first occurrence of `words`.
    pub fn double_click_on(&mut self, words: &str) -> &mut Harness {
        self.click_on(words).click_on(words)
    }

    /// Scrolls the wheel over the first occurrence of `words`.
    pub fn wheel_on(&mut self, words: &str, down: bool) -> &mut Harness {
        let (column, row) = self.find(words).unwrap_or_else(|| panic!("no {words:?} on\n{}", self.picture()));
        self.mouse(if down { MouseEventKind::ScrollDown } else { MouseEventKind::ScrollUp }, column, row);
        self
    }

    /// Drags the mouse from the first occurrence of `from` to the one of `to`.
    pub fn drag(&mut self, from: &str, to: &str) -> &mut Harness {
        let at = |words: &str| self.find(words).unwrap_or_else(|| panic!("no {words:?} on\n{}", self.picture()));
        let (from, to) = (at(from), at(to));
        self.mouse(MouseEventKind::Down(MouseButton::Left), from.0, from.1);
        self.mouse(MouseEventKind::Drag(MouseButton::Left), to.0, to.1);
        self.mouse(MouseEventKind::Up(MouseButton::Left), to.0, to.1);
        self
    }

    /// Clicks on the first occurrence of `words` with the right button.
    pub fn right_click_on(&mut self, words: &str) -> &mut Harness {
        let (column, row) = self.find(words).unwrap_or_else(|| panic!("no {words:?} on\n{}", self.picture()));
        self.mouse(MouseEventKind::Down(MouseButton::Right), column, row);
        self.mouse(MouseEventKind::Up(MouseButton::Right), column, row);
        self
    }

    /// Sends a mouse event at a cell.
    pub fn mouse(&mut self, kind: MouseEventKind, column: u16, row: u16) {
        self.send(Msg::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE }));
    }

    /// Advances the clock.
    pub fn pass(&mut self, seconds: i64) -> &mut Harness {
        self.now += SignedDuration::from_secs(seconds);
        self.send(Msg::Now(self.now));
        self
    }

    /// Passes a message to the app and draws.
    pub fn send(&mut self, msg: Msg) {
        if let Msg::Arrived(task, outcome) = &msg {
            self.in_flight.remove(task);
            self.failed_streams += usize::from(matches!(task, TaskKey::Follow(_)) && outcome.is_err());
        }
        if self.is_killed() {
            return;
        }
        let effects = self.app.update(msg);
        self.take(effects);
        while let Some((key, claim)) = self.claimed.pop_front() {
            let effects = self.app.update(Msg::Claimed(key, claim));
            self.take(effects);
        }
        if !self.draws_late {
            self.draw();
        }
    }

    // ---- output

    /// Returns whether the program was killed, see [`Begin::killed_after`].
    pub fn is_killed(&self) -> bool {
        self.steps_left == 0
    }

    fn take(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            if self.is_killed() {
                return;
            }
            self.steps_left -= usize::from(is_step(&effect));
            self.reached.extend(route_of(&effect));
            match effect {
                Effect::Start(mut task) => {
                    if let Task::Load { load, page, link, .. } = &mut task {
                        if self.in_clone(load).is_none() {
                            self.asked.push(named(&load.page(*page, link.as_deref())));
                        }
                        // Tests do not pause while typing, so a debounce would only slow them down.
                        load.delay = Duration::ZERO;
                    }
                    if let Task::RangeRead(gleaned) = &mut task {
                        self.asked.push(gleaned.request.line());
                        gleaned.delay = Duration::ZERO;
                    }
                    if !matches!(task, Task::Follow(..)) {
                        self.in_flight.insert(task.key());
                    }
                    self.start(Effect::Start(task));
                }
                Effect::Send(_, write) if self.holds.as_ref().is_some_and(|like| like(&write.request)) => {
                    self.asked.push(line_with_fields(&write))
                }
                Effect::Send(number, write) if self.refuses.as_ref().is_some_and(|like| like(&write.request)) => {
                    self.asked.push(line_with_fields(&write));
                    self.to_refuse.push((number, write));
                }
                // No other program claims a test's drafts, unless the test says so.
                Effect::Claim(key, on_disk) => {
                    let claim = self.claims.remove(&on_disk).unwrap_or(Claim::Ours(None));
                    self.claimed.push_back((key, claim));
                }
                Effect::Transfer(..) if self.holds.is_some() => self.log.push(effect),
                Effect::Send(number, write) => {
                    self.asked.push(line_with_fields(&write));
                    self.start(Effect::Send(number, write));
                }
                Effect::Cancel(task) => {
                    self.pending.retain(|e| !matches!(e, Effect::Start(started) if started.key() == task));
                    self.in_flight.remove(&task);
                    if let Answers::Server { executor, .. } = &mut self.answers {
                        executor.take(Effect::Cancel(task.clone()));
                    }
                    self.log.push(Effect::Cancel(task));
                }
                Effect::MoveForward(task) => {
                    if let Answers::Server { executor, .. } = &mut self.answers {
                        executor.take(Effect::MoveForward(task));
                    }
                }
                Effect::SetPaused(task, hold) => {
                    if let Answers::Server { executor, .. } = &mut self.answers {
                        executor.take(Effect::SetPaused(task.clone(), hold));
                    }
                    self.log.push(Effect::SetPaused(task, hold));
                }
                // The last account is kept as well, but is not a text that anybody typed.
                Effect::SaveText(key, _) if key.starts_with("account ") => {}
                Effect::SaveState(account, file) => {
                    let state = self.states.entry(account).or_default();
                    match file {
                        StateFile::Settings(settings) => state.settings = settings,
                        StateFile::Recents(recents) => state.recents = recents,
                        StateFile::Seen(seen) => state.seen = seen,
                    }
                }
                Effect::SaveText(key, Some(words)) => _ = self.kept.insert(key, words),
                Effect::SaveText(key, None) => _ = self.kept.remove(&key),
                Effect::Transfer(..) => match &mut self.answers {
                    Answers::Script(_) => self.log.push(effect),
                    Answers::Server { executor, .. } => _ = executor.take(effect),
                },
                Effect::Copy(clip) => {
                    let taken = Msg::Copied(clip.name, Ok(None));
                    self.log.push(Effect::Copy(clip));
                    self.send(taken);
                }
                Effect::Browse(_)
                | Effect::Notify(_)
                | Effect::Pager(_)
                | Effect::CheckOut(_)
                | Effect::StopUpload(..)
                | Effect::ReadHead(_)
                | Effect::Push(..)
                | Effect::StartCustomCommand(..)
                | Effect::StopCustomCommand(_)
                | Effect::EditFile(_)
                | Effect::EditList(..)
                | Effect::StopTransfer(_)
                | Effect::WriteSection(..)
                | Effect::SwitchServer(..)
                | Effect::SwitchBack => self.log.push(effect),
                Effect::Edit { .. } | Effect::ForgetTransfer(_) | Effect::Suspend => {}
            }
        }
    }

    fn start(&mut self, effect: Effect) {
        match &mut self.answers {
            Answers::Script(_) => self.pending.push(effect),
            Answers::Server { executor, .. } => {
                if matches!(effect, Effect::Send(..)) {
                    self.pending.push(effect.clone());
                }
                executor.take(effect);
            }
        }
    }

    // ---- effects that get no reply from a server

    fn logged<'a, T: Clone + 'a>(&'a self, pick: impl Fn(&'a Effect) -> Option<&'a T>) -> Vec<T> {
        self.log.iter().filter_map(pick).cloned().collect()
    }

    /// Returns the canceled requests.
    pub fn canceled(&self) -> Vec<TaskKey> {
        self.logged(|effect| if let Effect::Cancel(task) = effect { Some(task) } else { None })
    }

    /// Returns the flow control of streams: `true` to pause, `false` to resume.
    pub fn holding(&self) -> Vec<bool> {
        self.logged(|effect| if let Effect::SetPaused(_, hold) = effect { Some(hold) } else { None })
    }

    /// Returns the texts copied to the clipboard.
    pub fn copied(&self) -> Vec<String> {
        self.logged(|effect| if let Effect::Copy(clip) = effect { Some(&clip.text) } else { None })
    }

    /// Returns the addresses opened in the browser.
    pub fn browsed(&self) -> Vec<String> {
        self.logged(|effect| if let Effect::Browse(url) = effect { Some(url) } else { None })
    }

    /// Returns the notifications sent through the terminal.
    pub fn notified(&self) -> Vec<String> {
        self.logged(|effect| if let Effect::Notify(words) = effect { Some(words) } else { None })
    }

    /// Returns the texts shown in the pager.
    pub fn paged(&self) -> Vec<String> {
        let papers = self.logged(|effect| if let Effect::Pager(paper) = effect { Some(paper) } else { None });
        papers.iter().map(|paper| (*paper.text).as_ref().to_owned()).collect()
    }

    /// Returns the checkouts requested from git.
    pub fn checked_out(&self) -> Vec<Checkout> {
        self.logged(|effect| if let Effect::CheckOut(order) = effect { Some(order) } else { None })
    }

    /// Returns the started pushes by number.
    pub fn pushed(&self) -> Vec<(u64, Push)> {
        let pushed = |effect: &Effect| match effect {
            Effect::Push(number, push) => Some((*number, push.clone())),
            _ => None,
        };
        self.log.iter().filter_map(pushed).collect()
    }

    /// Returns the started custom commands by number.
    pub fn ran(&self) -> Vec<(u64, RunSpec)> {
        let ran = |effect: &Effect| match effect {
            Effect::StartCustomCommand(number, order) => Some((*number, order.clone())),
            _ => None,
        };
        self.log.iter().filter_map(ran).collect()
    }

    /// Returns the numbers of the stopped custom commands.
    pub fn stopped(&self) -> Vec<u64> {
        self.logged(|effect| if let Effect::StopCustomCommand(number) = effect { Some(number) } else { None })
    }

    /// Returns the lists of lines of the clone that were opened in an editor.
    pub fn edited_lists(&self) -> Vec<String> {
        self.log
            .iter()
            .filter_map(|effect| if let Effect::EditList(_, list) = effect { Some(list.clone()) } else { None })
            .collect()
    }

    /// Returns the files of the clone that were opened in an editor.
    pub fn edited(&self) -> Vec<CloneFile> {
        self.logged(|effect| if let Effect::EditFile(file) = effect { Some(file) } else { None })
    }

    /// Returns the downloads that were not stopped, by number; files of a real server are saved instead.
    pub fn transfers(&self) -> Vec<(u64, TransferSpec)> {
        let mut transfers = Vec::new();
        for effect in &self.log {
            match effect {
                Effect::Transfer(number, order) => transfers.push((*number, order.clone())),
                Effect::StopTransfer(number) => transfers.retain(|(known, _)| known != number),
                _ => {}
            }
        }
        transfers
    }

    /// Removes the last download from the log.
    pub fn take_transfer(&mut self) -> Option<(u64, TransferSpec)> {
        let last = self.transfers().pop()?;
        self.log.retain(|effect| !matches!(effect, Effect::Transfer(number, _) if *number == last.0));
        Some(last)
    }

    /// Returns the custom sections that the configuration would contain.
    pub fn sections(&self) -> Vec<CustomSection> {
        let mut sections: Vec<CustomSection> = Vec::new();
        for effect in &self.log {
            if let Effect::WriteSection(name, section) = effect {
                sections.retain(|known| known.name != *name);
                sections.extend(section.clone());
            }
        }
        sections
    }

    /// Returns the switches to another server, with the place to open there.
    pub fn elsewhere(&self) -> Vec<(Host, Option<Place>)> {
        let elsewhere = |effect: &Effect| match effect {
            Effect::SwitchServer(host, place) => Some((host.clone(), place.clone())),
            _ => None,
        };
        self.log.iter().filter_map(elsewhere).collect()
    }

    /// Returns the number of times the app asked to return to the previous server.
    pub fn returned(&self) -> usize {
        self.log.iter().filter(|effect| matches!(effect, Effect::SwitchBack)).count()
    }

    /// Returns whether a request other than a stream is in flight.
    pub fn is_loading(&self) -> bool {
        !self.in_flight.is_empty()
    }

    /// Answers requests, and the requests that follow from them, until nothing is left that has a reply.
    pub async fn settle(&mut self) -> &mut Harness {
        match self.answers {
            Answers::Script(_) => while self.answer_one() {},
            Answers::Server { .. } => {
                while !self.in_flight.is_empty() || !self.pending.is_empty() {
                    self.hear().await;
                }
            }
        }
        self
    }

    /// Waits until the screen shows `words`, for messages that a server sends on its own.
    pub async fn until(&mut self, words: &str) -> &mut Harness {
        while !self.shows(words) {
            self.hear().await;
        }
        self
    }

    /// Waits for a message from the server, and processes it.
    pub async fn hear(&mut self) {
        let heard = match &mut self.answers {
            Answers::Server { inbox, .. } => tokio::time::timeout(PATIENCE, inbox.recv()).await.ok().flatten(),
            Answers::Script(_) => None,
        };
        // Only computed on failure: the picture takes longer than most messages.
        let msg = heard.unwrap_or_else(|| panic!("no reply to {:?}\n{}", self.in_flight, self.picture()));
        let Some(msg) = msg.unless_stopped() else { return };
        if let Msg::Sent(number, _) = &msg {
            self.pending.retain(|e| !matches!(e, Effect::Send(n, _) if n == number));
        }
        self.send(msg);
    }

    /// Returns the first write that waits to be refused.
    pub fn to_refuse(&self) -> Option<&Write> {
        self.to_refuse.first().map(|(_, write)| write)
    }

    /// Makes the first waiting write fail.
    pub fn refuse(&mut self, fault: Fault) {
        let (number, write) = self.to_refuse.remove(0);
        self.send(Msg::Sent(number, Err(Error { tried: write.request.line(), fault })));
    }

    /// Returns the request lines of all effects without a reply.
    pub fn waiting(&self) -> Vec<String> {
        let line = |effect: &Effect| match effect {
            Effect::Start(task) => match task.key() {
                TaskKey::Load(request, _) | TaskKey::Follow(request) => request.line(),
                TaskKey::Work(key) | TaskKey::RangeRead(key) => key,
            },
            Effect::Send(_, write) => line_with_fields(write),
            _ => String::new(),
        };
        self.pending.iter().map(line).collect()
    }

    /// Returns the request of the stream that is being read.
    pub fn follows(&self) -> Option<Request> {
        self.pending.iter().find_map(|effect| match effect {
            Effect::Start(Task::Follow(follow, _)) => Some(follow.request.clone()),
            _ => None,
        })
    }

    /// Sends the beginning of the reply to a pending request, as from a slow server; `size` is that of the whole.
    pub fn reply_partly(&mut self, line: &str, bytes: impl Into<Vec<u8>>, size: u64) -> &mut Harness {
        let is_it = |load: &Load| named(&Request { page: None, ..load.request.clone() }) == line;
        let part = self.pending.iter().find_map(|effect| match effect {
            Effect::Start(task @ Task::Load { load, .. }) if is_it(load) => Some((task.key(), load.cut?, load.read)),
            _ => None,
        });
        let (task, cut, read) = part.unwrap_or_else(|| panic!("{line} is not read in parts: {:?}", self.waiting()));
        let bytes = bytes.into();
        let received = bytes.len() as u64;
        if let Some(part) = cut(bytes) {
            let (value, _) = read(&part, None).expect("a part that can be read");
            self.send(Msg::Partial { task, value, received, size: Some(size) });
        }
        self
    }

    /// Answers the first request that has a reply; returns `false` if there is none.
    fn answer_one(&mut self) -> bool {
        (0..self.pending.len()).any(|index| self.answer(index))
    }

    /// Runs all pending computations, and those that follow from them.
    pub fn compute(&mut self) {
        let is_work = |effect: &Effect| matches!(effect, Effect::Start(Task::Work(_)));
        while let Some(index) = self.pending.iter().position(is_work) {
            self.answer(index);
        }
    }

    /// Answers all requests that are pending now, but not those that follow from the replies. Returns their request
    /// lines.
    pub fn answer_round(&mut self) -> Vec<String> {
        let key = |effect: &Effect| match effect {
            Effect::Start(task) => Some(task.key()),
            _ => None,
        };
        let sent: Vec<TaskKey> = self.pending.iter().filter_map(key).collect();
        let mut lines = Vec::new();
        for task in sent {
            // An earlier reply of this round may have canceled it.
            if let Some(index) = self.pending.iter().position(|effect| key(effect).as_ref() == Some(&task)) {
                let line = self.waiting().swap_remove(index);
                assert!(self.answer(index), "no reply to {line}");
                lines.push(line);
            }
        }
        lines
    }

    /// Answers the [pending](Harness::waiting) effect at `index`, if it has a reply.
    pub fn answer(&mut self, index: usize) -> bool {
        let messages = match &self.pending[index] {
            Effect::Start(task @ Task::Load { load, page, link, .. }) => {
                let Some(outcome) = self.arrival(load, &load.page(*page, link.as_deref())) else { return false };
                vec![Msg::Arrived(task.key(), outcome.map(Outcome::Reply))]
            }
            Effect::Start(task @ Task::Work(work)) => {
                let preview = (work.preview)().map(|preview| Msg::Preview(task.key(), preview));
                if self.previews_only
                    && let Some(preview) = preview
                {
                    let is_new = self.previewed.insert(work.key.clone());
                    if is_new {
                        self.send(preview);
                    }
                    return is_new;
                }
                let result = Msg::Arrived(task.key(), Ok(Outcome::Computed((work.run)(&|| false))));
                preview.into_iter().chain([result]).collect()
            }
            Effect::Start(task @ Task::RangeRead(gleaned)) => {
                let Some(outcome) = self.gleaned(gleaned) else { return false };
                vec![Msg::Arrived(task.key(), outcome)]
            }
            Effect::Start(Task::Follow(follow, known)) => {
                let (follow, is_new) = (follow.clone(), known.is_new);
                match self.grown(&follow, is_new) {
                    Some((messages, true)) => messages,
                    Some((messages, false)) => {
                        for msg in messages {
                            self.send(msg);
                        }
                        return true;
                    }
                    None => return false,
                }
            }
            Effect::Send(number, write) => {
                let outcome = match self.scripted(&write.request) {
                    Some(Reply::Json(body)) => {
                        Ok((write.read)(body.to_string().as_bytes(), None).expect("a reply that can be read").0)
                    }
                    Some(Reply::Raw(bytes) | Reply::InParts(bytes)) => {
                        Ok((write.read)(bytes, None).expect("a reply that can be read").0)
                    }
                    Some(Reply::Fails(error)) => Err(Error { tried: write.request.line(), ..error.clone() }),
                    None => return false,
                };
                vec![Msg::Sent(*number, outcome)]
            }
            other => panic!("{other:?} is not for a server"),
        };
        self.pending.remove(index);
        for msg in messages {
            self.send(msg);
        }
        true
    }

    /// Answers the [pending](Harness::waiting) write at `index` with the first of `bodies` that can be decoded as its
    /// reply; returns `false` if there is none.
    pub fn succeed(&mut self, index: usize, bodies: &[String]) -> bool {
        let Effect::Send(number, write) = &self.pending[index] else { return false };
        let read = |body: &String| Some((write.read)(body.as_bytes(), None).ok()?.0);
        let Some(value) = bodies.iter().find_map(read) else { return false };
        let number = *number;
        self.pending.remove(index);
        self.send(Msg::Sent(number, Ok(value)));
        true
    }

    /// Makes the [pending](Harness::waiting) effect at `index` fail.
    pub fn break_off(&mut self, index: usize, fault: Fault) {
        let error = Error { tried: self.waiting()[index].clone(), fault };
        match self.pending.remove(index) {
            // Local computations do not fail because of a server.
            effect @ Effect::Start(Task::Work(_)) => self.pending.push(effect),
            Effect::Start(task) => self.send(Msg::Arrived(task.key(), Err(error))),
            Effect::Send(number, _) => self.send(Msg::Sent(number, Err(error))),
            other => panic!("{other:?} is not for a server"),
        }
    }

    /// Loses the reply to the pending write whose line starts with `line`.
    pub fn lose(&mut self, line: &str) -> &mut Harness {
        let at = self.waiting().iter().position(|waiting| waiting.starts_with(line));
        let at = at.unwrap_or_else(|| panic!("{line} is not sent: {:?}", self.waiting()));
        self.break_off(at, Fault::Cut("the connection closed before the reply was complete".into()));
        self
    }

    /// Returns the request lines, without pages, of all pending reads.
    pub fn reads(&self) -> Vec<String> {
        let line = |request: &Request| named(&Request { page: None, ..request.clone() });
        let lines = |effect: &Effect| match effect {
            Effect::Start(Task::Load { load, .. }) => vec![line(&load.request)],
            Effect::Start(Task::Follow(follow, _)) => vec![line(&follow.status.request), line(&follow.request)],
            Effect::Start(Task::RangeRead(gleaned)) => vec![line(&gleaned.request)],
            _ => Vec::new(),
        };
        self.pending.iter().flat_map(lines).collect()
    }

    /// Returns whether there is a reply to exactly this request line.
    pub fn knows(&self, line: &str) -> bool {
        matches!(&self.answers, Answers::Script(replies) if replies.contains_key(line))
    }

    fn scripted(&self, request: &Request) -> Option<&Reply> {
        let Answers::Script(replies) = &self.answers else { return None };
        let line = named(&Request { page: None, ..request.clone() });
        // Older servers ignore what they do not know.
        let older = line.replace("?with_last_commit=true", "").replace("&with_last_commit=true", "");
        let bare = line.split('?').next().unwrap_or_default();
        // By default, the server does not support newer operations such as threads.
        let is_newer = request.is_read()
            && ([
                "/discussions",
                "/draft_notes",
                "/reviewers",
                "/personal_access_tokens/self",
                "/award_emoji",
                "/languages",
                "/signature",
                "/closes_issues",
                "/related_issues",
                "/blocks",
                "/blockees",
            ]
            .iter()
            .any(|end| bare.ends_with(end))
                || (bare.contains("/issues/") && bare.ends_with("/links"))
                || (bare.contains("/repository/commits/") && bare.ends_with("/merge_requests")));
        replies
            .get(&line)
            .or_else(|| replies.get(&older))
            .or_else(|| replies.get(bare))
            .or_else(|| is_newer.then_some(&*NO_THREADS))
    }

    fn in_clone(&self, load: &Load) -> Option<ParsedReply> {
        load.read_clone(self.clone_reader.as_ref()?)
    }

    fn arrival(&self, load: &Load, request: &Request) -> Option<Result<ParsedReply, Error>> {
        if let Some(reply) = self.in_clone(load) {
            return Some(Ok(reply));
        }
        let mut arrival = ParsedReply::new(1, Arc::new(()));
        let body = match self.scripted(request)? {
            Reply::Fails(error) => return Some(Err(Error { tried: request.line(), ..error.clone() })),
            Reply::Raw(bytes) | Reply::InParts(bytes) => bytes.clone(),
            Reply::Json(serde_json::Value::Array(rows)) if self.endless.is_some() && request.page.is_some() => {
                let page = request.page.map_or(1, |(page, _)| page);
                arrival.next = Some(NextPage::Number(page + 1));
                endless_page(rows, page, self.endless.unwrap_or(Endless::FullPages)).into_bytes()
            }
            Reply::Json(serde_json::Value::Array(rows)) if request.page.is_some() => {
                let (page, size) = request.page.unwrap_or((1, 100));
                let skipped = (page as usize - 1) * size as usize;
                let rows: Vec<_> = rows.iter().skip(skipped).collect();
                arrival.total = Some((skipped + rows.len()) as u64);
                arrival.next = (rows.len() > size as usize).then_some(NextPage::Number(page + 1));
                serde_json::to_vec(&rows[..rows.len().min(size as usize)]).expect("a body")
            }
            Reply::Json(body) => body.to_string().into_bytes(),
        };
        let (value, len) =
            (load.read)(&body, None).unwrap_or_else(|e| panic!("{}: field {}: {}", request.line(), e.field, e.reason));
        let size = load.weigh(&body, Some("application/json"), &value);
        Some(Ok(ParsedReply { value, len, digest: labscope::store::digest(&body), size, ..arrival }))
    }

    /// Returns the result of a range read, in parts if the script supports ranges.
    fn gleaned(&self, gleaned: &AnyRangeRead) -> Option<Result<Outcome, Error>> {
        let (bytes, in_parts) = match self.scripted(&gleaned.request)? {
            Reply::Fails(error) => return Some(Err(Error { tried: gleaned.request.line(), ..error.clone() })),
            Reply::Raw(bytes) => (bytes.clone(), false),
            Reply::InParts(bytes) => (bytes.clone(), true),
            Reply::Json(body) => (body.to_string().into_bytes(), false),
        };
        let total = bytes.len() as u64;
        let all = bytes::Bytes::from(bytes);
        let part = |range: std::ops::Range<u64>| all.slice(range.start as usize..range.end.min(total) as usize);
        let mut parts = if in_parts { Parts::of(total) } else { Parts::whole(all.clone()) };
        match &gleaned.begin {
            ByteRange::Tail(bytes) => {
                parts.add(total.saturating_sub(*bytes), part(total.saturating_sub(*bytes)..total))
            }
            ByteRange::Span(range) => parts.add(range.start, part(range.clone())),
            ByteRange::All => parts.add(0, all.clone()),
        }
        loop {
            match (gleaned.read)(&parts, &|| false) {
                Step::Done(value) => return Some(Ok(Outcome::Computed(value.into()))),
                Step::Need(range) => parts.add(range.start, part(range)),
            }
        }
    }

    /// Returns the new part of a stream, and whether it is complete; `None` if there is nothing new.
    fn grown(&mut self, follow: &Follow, is_new: bool) -> Option<(Vec<Msg>, bool)> {
        let request = follow.request.clone();
        if let Some(Reply::Raw(bytes)) = self.scripted(&request).filter(|_| is_new) {
            let bytes = bytes.clone();
            self.held.insert(request.clone(), bytes.len());
            let bytes = Msg::Bytes { request: request.clone(), bytes: bytes.into(), restart: false };
            let end =
                Msg::Arrived(TaskKey::Follow(request), Ok(Outcome::End(Some(self.server_time.unwrap_or(self.now)))));
            return Some((vec![bytes, end], true));
        }
        let status = self.arrival(&follow.status, &follow.status.request)?;
        let over = status.as_ref().is_ok_and(|arrival| (follow.completed_at)(&arrival.value).is_some());
        let status_read = |status| Msg::StreamStatus(follow.status.request.clone(), status);
        let broken = |error| Msg::Arrived(TaskKey::Follow(follow.request.clone()), Err(error));
        if let Some(error) = status.as_ref().err().filter(|error| !error.is_temporary()).cloned() {
            return Some((vec![status_read(status), broken(error)], true));
        }
        let bytes = match self.scripted(&follow.request)? {
            Reply::Raw(bytes) => bytes,
            Reply::Fails(error) if !error.is_temporary() && (over || !error.is_missing()) => {
                return Some((vec![status_read(status), broken(error.clone())], true));
            }
            _ => return None,
        };
        let held = self.held.get(&follow.request).copied().unwrap_or(0);
        let new = bytes.get(held..).unwrap_or_default().to_vec();
        if new.is_empty() && !over {
            return None;
        }
        self.held.insert(follow.request.clone(), held + new.len());
        let request = follow.request.clone();
        let mut messages =
            vec![status_read(status), Msg::Bytes { request: request.clone(), bytes: new.into(), restart: false }];
        if over {
            messages.push(Msg::Arrived(TaskKey::Follow(request), Ok(Outcome::End(None))));
        }
        Some((messages, over))
    }

    /// Draws, and settles what the frame found out, as the loop does.
    pub fn draw(&mut self) {
        self.draw_once();
        while let Some(effects) = self.app.settle_frame() {
            self.take(effects);
            self.draw_once();
        }
    }

    fn draw_once(&mut self) {
        let area = Rect::new(0, 0, self.size.0, self.size.1);
        self.buffer = Buffer::empty(area);
        self.cursor = self.app.view(area, &mut self.buffer);
        self.lines.take();
        let names_command = self.buffer.content().iter().any(|cell| cell.symbol() == "‹");
        assert!(!names_command, "the ID of a command instead of its key on\n{}", self.picture());
    }

    /// Resizes the terminal.
    pub fn resize(&mut self, width: u16, height: u16) -> &mut Harness {
        self.size = (width, height);
        self.send(Msg::Resize(width, height));
        self
    }

    /// Returns the columns and rows of the terminal.
    pub fn size(&self) -> (u16, u16) {
        self.size
    }

    /// Returns the lines of the screen at the given size, without trailing blanks.
    pub fn screen(&mut self, width: u16, height: u16) -> Vec<String> {
        if self.size != (width, height) {
            self.resize(width, height);
        }
        self.lines()
    }

    /// Returns the cells of the current screen.
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// Returns the position of the terminal's cursor, if it is visible.
    pub fn cursor(&self) -> Option<(u16, u16)> {
        self.cursor
    }

    /// Returns the lines of the current screen.
    pub fn lines(&self) -> Vec<String> {
        self.seen().to_vec()
    }

    fn seen(&self) -> &[String] {
        let line = |y| trimmed(self.cells(y).into_iter().map(|(_, s)| s).collect());
        self.lines.get_or_init(|| (0..self.size.1).map(line).collect())
    }

    /// Returns the symbols of a row with their columns; wide ones occur once.
    fn cells(&self, y: u16) -> Vec<(u16, &str)> {
        let mut out = Vec::new();
        let mut x = 0;
        while let Some(cell) = self.buffer.cell((x, y)) {
            out.push((x, cell.symbol()));
            x += text::width(cell.symbol()).max(1) as u16;
        }
        out
    }

    /// Returns the screen as one text for snapshots, without the time of day, which depends on the time zone.
    pub fn picture(&self) -> String {
        let clock = regex::Regex::new(r"([✓✗]) \d\d:\d\d").expect("an expression");
        clock.replace_all(&self.seen().join("\n"), "$1 --:--").into_owned()
    }

    /// Returns the cell at which `words` begin.
    fn find(&self, words: &str) -> Option<(u16, u16)> {
        (0..self.size.1).find_map(|y| {
            let cells = self.cells(y);
            let line: String = cells.iter().map(|(_, s)| *s).collect();
            let at = line.find(words)?;
            let mut bytes = 0;
            let cell = cells.iter().find(|(_, symbol)| {
                bytes += symbol.len();
                bytes > at
            })?;
            Some((cell.0, y))
        })
    }

    /// Returns whether a line of the screen contains `words`.
    pub fn shows(&self, words: &str) -> bool {
        self.seen().iter().any(|line| line.contains(words))
    }

    /// Asserts that a line of the screen contains `words`.
    #[track_caller]
    pub fn expect(&mut self, words: &str) -> &mut Harness {
        assert!(self.shows(words), "no {words:?} on\n{}", self.picture());
        self
    }

    /// Asserts that no line of the screen contains `words`.
    #[track_caller]
    pub fn expect_no(&mut self, words: &str) -> &mut Harness {
        assert!(!self.shows(words), "{words:?} on\n{}", self.picture());
        self
    }

    /// Returns the line with the terminal's cursor, which a screen reader speaks.
    pub fn heard(&self) -> String {
        let line = self.cursor.and_then(|(_, y)| self.seen().get(usize::from(y)));
        line.map(|line| line.trim().to_owned()).unwrap_or_default()
    }

    /// Asserts that the line with the terminal's cursor contains `words`.
    #[track_caller]
    pub fn hears(&mut self, words: &str) -> &mut Harness {
        assert!(self.heard().contains(words), "{:?}, not {words:?}, on\n{}", self.heard(), self.picture());
        self
    }

    /// Returns the first line that contains `words`.
    #[track_caller]
    pub fn line_with(&self, words: &str) -> String {
        let found = self.seen().iter().find(|line| line.contains(words)).cloned();
        found.unwrap_or_else(|| panic!("no {words:?} on\n{}", self.picture()))
    }

    /// Returns the style of the first cell of `words`.
    #[track_caller]
    pub fn style_of(&self, words: &str) -> ratatui::style::Style {
        let found = self.find(words).and_then(|at| self.buffer.cell(at));
        found.unwrap_or_else(|| panic!("no {words:?} on\n{}", self.picture())).style()
    }
}

/// Returns the method and route of the request that an effect sends.
fn route_of(effect: &Effect) -> Option<(&'static str, &'static str)> {
    let request = match effect {
        Effect::Start(Task::Load { load, .. }) => &load.request,
        Effect::Start(Task::Follow(follow, _)) => &follow.request,
        Effect::Start(Task::RangeRead(gleaned)) => &gleaned.request,
        Effect::Send(_, write) => &write.request,
        Effect::Transfer(_, spec) => &spec.download.request,
        _ => return None,
    };
    Some((request.method, request.route))
}

/// Returns the request line, prefixed with the server's name if it is another server.
fn named(request: &Request) -> String {
    let host = request.host.as_ref().map(|host| format!("{} ", host.name())).unwrap_or_default();
    format!("{host}{}", request.line())
}

/// Returns a page of a list that never ends, made of the rows of an ordinary one.
fn endless_page(rows: &[serde_json::Value], page: u32, endless: Endless) -> String {
    let (number, len) = match endless {
        Endless::FullPages => (page, 100),
        Endless::ShortPages => (page, 1),
        Endless::EmptyPages => (page, if page == 1 { 100 } else { 0 }),
        Endless::SamePage => (1, 100),
        Endless::Cycle => (page % 2, 100),
    };
    let row = |index: usize| {
        let mut row = rows.get(index % rows.len())?.clone();
        if let Some(fields) = row.as_object_mut() {
            let number = u64::from(number) * 1000 + index as u64;
            let name = fields.get("name").and_then(|name| name.as_str()).map(|name| format!("{name}-{number}"));
            let path = fields.get("path").and_then(|path| path.as_str()).map(|path| format!("{path}-{number}"));
            fields.extend(name.map(|name| ("name".to_owned(), name.into())));
            fields.extend(path.map(|path| ("path".to_owned(), path.into())));
            for field in ["id", "iid"] {
                if fields.get(field).is_some_and(|id| id.is_u64()) {
                    fields.insert(field.to_owned(), (1_000_000 + number).into());
                }
            }
            if fields.get("id").is_some_and(|id| id.is_string()) {
                fields.insert("id".to_owned(), format!("{number:040x}").into());
            }
            // Without effect, but no two rows are the same.
            fields.insert("row".to_owned(), number.into());
        }
        Some(row)
    };
    let rows: Vec<serde_json::Value> = if rows.is_empty() { Vec::new() } else { (0..len).filter_map(row).collect() };
    serde_json::Value::Array(rows).to_string()
}

fn trimmed(line: String) -> String {
    line.trim_end().to_owned()
}

/// Returns the request line with the fields of the form: `POST /projects/7/notes body=hello`.
fn line_with_fields(write: &Write) -> String {
    let mut line = write.request.line();
    if write.request.form {
        for (name, value) in &write.request.fields {
            line.push_str(&format!(" {name}={value}"));
        }
    }
    if let Some(json) = &write.request.json {
        line.push_str(&format!(" {json}"));
    }
    for (name, path) in &write.files {
        line.push_str(&format!(" {name}=@{}", path.display()));
    }
    line
}
