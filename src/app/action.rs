//! What panes and overlays ask of the app, and what the app asks of the runtime: all of it data.

use super::checkout::{Checkout, CheckoutOutcome};
use super::command::{Disabled, Info, Motion};
use super::custom::{FileOfClone, RunEvent, RunOrder};
use super::outbox::{Claim, Submission};
use super::overlay::Overlay;
use super::pane::Cx;
use super::pane::Section;
use super::place::Place;
use super::state::{RecentsChange, SeenChange, SettingsChange, StateFile};
use super::transfer::{Save, SaveOrder, TransferEvent};
use super::watch::Watched;
use crate::api::{Error, Host};
use crate::store::{Arrival, HeldState, Made, Ticket, Value, Want, Write};
use crate::ui::theme::{Background, Theme};
use crossterm::event::{KeyEvent, MouseEvent};
use jiff::{SignedDuration, Timestamp};
use std::any::Any;
use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How a message in the footer looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Something worked.
    Good,
    /// Something to know.
    Info,
    /// Something that could not be done here.
    Warning,
    /// Something failed.
    Bad,
}

/// What follows on the answer to a write: a list to empty, the next write of several.
pub type FollowUp = Rc<dyn Fn(&Result<Value, Error>, &mut Cx)>;

/// Text for another program: shared, for it may be large.
#[derive(Clone)]
pub struct PagerText {
    /// What it is called; its ending tells programs what it is.
    pub name: String,
    /// The text.
    pub text: Arc<dyn AsRef<str> + Send + Sync>,
}

impl PartialEq for PagerText {
    fn eq(&self, other: &PagerText) -> bool {
        self.name == other.name && (*self.text).as_ref() == (*other.text).as_ref()
    }
}

impl std::fmt::Debug for PagerText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Paper({}, {} bytes)", self.name, (*self.text).as_ref().len())
    }
}

/// What an overlay gives back to the pane that opened it: a value of a type that the pane, or a part of it, chose.
pub struct Answer(Box<dyn Any>);

impl Answer {
    /// Returns the value if it is a `T`, else the answer as it is.
    pub fn take<T: Any>(self) -> Result<T, Answer> {
        self.0.downcast().map(|value| *value).map_err(Answer)
    }
}

/// What a pane, an overlay or a global command asks for.
pub enum Action {
    /// Open a place; the present one stays behind it.
    Go(Place),
    /// Open the place that a target names, as the user typed it.
    GoTo(String),
    /// Go to another server: to a place of it, or to where one was there.
    Elsewhere(Host, Option<Place>),
    /// The servers there are.
    Hosts,
    /// Show everything in another theme.
    Theme(Box<Theme>),
    /// Open a place instead of the present one.
    Replace(Place),
    /// Back to where one came from.
    Back,
    /// Forward again.
    Forward,
    /// End labscope; where that would lose texts, ask first.
    Quit,
    /// End it whatever is lost.
    QuitAnyway,
    /// Do these, one after the other.
    All(Vec<Action>),
    /// Lay an overlay on top.
    Open(Box<dyn Overlay>),
    /// Run a command by its name.
    Run(&'static str),
    /// Move in what has the focus.
    Move(Motion),
    /// Begin to type what is sought.
    Seek,
    /// The next thing found, or the one before.
    SeekNext(bool),
    /// The text being sought; `done` when typing ended.
    Sought(String),
    /// An overlay's answer for the pane.
    Answer(Answer),
    /// Change something on the server.
    Send(Write),
    /// The same, for a text that is kept under a key until the server has it.
    SendKept(String, Write),
    /// The same, with what follows on the answer, wherever the user is by then; the text kept under the key, if any,
    /// goes when the server has it.
    SendThen(Option<String>, Write, FollowUp),
    /// Send the drafts that are kept under these keys, one after the other.
    Post(Vec<String>),
    /// Submit a review.
    Submit(Submission),
    /// Find out whether drafts arrived that were being sent when the program ended.
    Resolve(Vec<String>),
    /// Send no more drafts than the one that is on its way.
    StopPosting,
    /// Go to the place of that name, in the current project where it needs one.
    Named(&'static str),
    /// Put into the clipboard; the first names it.
    Copy(&'static str, String),
    /// Open a page in the browser.
    Browse(String),
    /// Write text in the user's own editor; the answer goes to the overlay on top.
    Edit { text: String, suffix: Cow<'static, str> },
    /// Show text in the user's own pager.
    Page(PagerText),
    /// Check out a branch in the clone.
    CheckOut(Checkout),
    /// Stop a command of the configuration, by its number.
    StopRun(u64),
    /// Open the file under the cursor in the user's own editor, as it is in the clone.
    EditInClone,
    /// Save bytes to a file: asks where.
    Save(Save),
    /// Save them there.
    SaveTo(SaveOrder),
    /// Take a save that ended up again; whether a file that is there may be replaced.
    SaveAgain(u64, bool),
    /// Stop a save; what came is kept.
    StopSave(u64),
    /// Take a save off the list, and what came of it off the disk.
    ForgetSave(u64),
    /// What is being saved.
    Saves,
    /// The comments that are kept, whatever they are on.
    Drafts,
    /// Say something in the footer.
    Say(Tone, String),
    /// Say why a command cannot be run, for as long as that holds.
    Refuse(Info, Disabled),
    /// Watch something until it ends, wherever the user is then; or watch it no more.
    Watch(Watched),
    /// Ask the server again for what is seen.
    Refresh,
    /// Ask it again for these.
    Renew(Vec<Want>),
    /// Next panel, or the one before.
    Panel(bool),
    /// One panel alone, or all of them again.
    Zoom,
    /// The tab of that number, from 0.
    Tab(usize),
    /// The innermost thing that is on ends, else back; at the first place, it asks to quit.
    Close,
    /// Esc: the same, but what is being saved is stopped before one goes back, and it never quits.
    Halt,
    /// Go to the sleep of C-z.
    Suspend,
    /// What can be copied here.
    Copies,
    /// The page of what is under the cursor.
    BrowseHere,
    /// All actions here.
    Menu,
    /// All commands and places.
    Palette,
    /// Anything by its name.
    Anything,
    /// The keys of this place.
    Help,
    /// A section of one's own, to be kept in the configuration; one of that name is replaced.
    KeepSection(Section),
    /// The section of that name is no longer wanted.
    DropSection(String),
    /// A draft that is kept: key and text; `None` when it was sent or is empty.
    Keep(String, Option<String>),
    /// Change what the user chose.
    Settings(SettingsChange),
    /// Change where the user was.
    Recents(RecentsChange),
    /// Change what the user has seen.
    Seen(SeenChange),
}

impl Action {
    /// Answers the pane with `value`.
    pub fn answer(value: impl Any) -> Action {
        Action::Answer(Answer(Box::new(value)))
    }
}

/// Stops something that runs in the background. What it said before it knew may still be on its way when the same thing
/// is started again, and must not be taken for what the new one says.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Stops it.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns whether it was stopped.
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What reaches the app.
#[derive(Debug)]
pub enum Msg {
    /// The time, before anything else of a turn.
    Now(Timestamp),
    /// A key.
    Key(KeyEvent),
    /// The mouse.
    Mouse(MouseEvent),
    /// Pasted text.
    Paste(String),
    /// The terminal's new size.
    Resize(u16, u16),
    /// The terminal told its background.
    Background(Background),
    /// The terminal's window got the focus, or lost it.
    Focus(bool),
    /// What something that was started says; not listened to once it was stopped.
    Of(Cancel, Box<Msg>),
    /// The end of something that was started.
    Arrived(Ticket, Result<Outcome, Error>),
    /// What was last known of something that was started, and when it came; the answer of now is still to come.
    Recalled(Ticket, Arrival, Timestamp),
    /// A status that was read on the way of a stream.
    Learned(crate::api::Request, Result<Arrival, Error>),
    /// How far the server's clock is ahead of ours.
    Clock(SignedDuration),
    /// Bytes of a stream; `restart` where what was held is no longer true.
    Bytes { request: crate::api::Request, bytes: bytes::Bytes, restart: bool },
    /// Bytes came for a result that is read from parts of a large thing, by its key.
    Progress(String, crate::api::client::Progress),
    /// The end of a write.
    Sent(u64, Result<Value, Error>),
    /// What became of a save.
    Transfer(u64, TransferEvent),
    /// The user's editor came back with this text, or could not be run.
    Edited(Result<String, String>),
    /// The user's editor had written this text when the program was told to end.
    Interrupted(String),
    /// Why the disk does not take the texts that are to be kept; or that it takes them again.
    Kept(Result<(), String>),
    /// Whether a draft is ours to send.
    Claimed(String, Claim),
    /// What became of a command of the configuration, by its number.
    Ran(u64, RunEvent),
    /// What came of checking out.
    CheckedOut(Checkout, CheckoutOutcome),
    /// Something the runtime has to say.
    Say(Tone, String),
    /// The program is asked to end.
    Quit,
}

impl Msg {
    /// Returns what it says; `None` if it comes from something that was stopped.
    pub fn heard(self) -> Option<Msg> {
        match self {
            Msg::Of(stop, _) if stop.is_stopped() => None,
            Msg::Of(_, msg) => msg.heard(),
            msg => Some(msg),
        }
    }
}

/// What came of something that was started.
#[derive(Clone)]
pub enum Outcome {
    /// A reply.
    Reply(Arrival),
    /// A stream ended.
    End,
    /// A computation is done.
    Made(Made),
}

impl std::fmt::Debug for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Outcome::Reply(_) => "Reply",
            Outcome::End => "End",
            Outcome::Made(_) => "Made",
        })
    }
}

/// What the app asks of the runtime.
#[derive(Clone, Debug, PartialEq)]
// Effects are few and short-lived: boxing the large ones would only make them harder to read in tests.
#[allow(clippy::large_enum_variant)]
pub enum Effect {
    /// Start what the ticket names, of which so much is known: a stream goes on after the bytes that are held, and what
    /// a list has (pages) need not be looked for on disk.
    Start(Ticket, Want, HeldState),
    /// A stream that was started reads no more for the moment, or goes on.
    Hold(Ticket, bool),
    /// Stop it.
    Cancel(Ticket),
    /// Send a write, once.
    Send(u64, Write),
    /// Put into the clipboard.
    Copy(String),
    /// Tell the user, by the terminal's own means, that something watched has ended.
    Notify(String),
    /// Open a page in the browser.
    Browse(String),
    /// Run the user's editor on this text, in a file whose name ends so.
    Edit { text: String, suffix: Cow<'static, str> },
    /// Run the user's pager on this text.
    Page(PagerText),
    /// Check out a branch in the clone. Answered by [`Msg::CheckedOut`].
    CheckOut(Checkout),
    /// Start a command of the configuration. Answered by [`Msg::Ran`].
    Run(u64, RunOrder),
    /// Stop that.
    StopRun(u64),
    /// Open a file of the clone in the user's own editor.
    EditFile(FileOfClone),
    /// Save bytes to a file.
    Save(u64, SaveOrder),
    /// Stop that.
    StopSave(u64),
    /// Drop what came of it.
    ForgetSave(SaveOrder),
    /// Keep a draft on disk, or drop it.
    Keep(String, Option<String>),
    /// Write a file of the state of an account.
    KeepState(String, StateFile),
    /// Find out whether a draft is ours to send: its key, and that on disk. Answered by [`Msg::Claimed`].
    Claim(String, String),
    /// Put the section of that name into the configuration, or take it out.
    Section(String, Option<Section>),
    /// Bring another server to the front, at a place of it, or as it was.
    Elsewhere(Host, Option<Place>),
    /// Bring the one to the front that one came from.
    Return,
    /// Go to the sleep of C-z.
    Suspend,
    /// End.
    Quit,
}
