//! Actions that panes and overlays request of the app, messages to the app, and effects for the runtime: all of it
//! data.

use super::clone::{Checkout, CheckoutOutcome, CloneFile, CloneFolder, CloneHead, Push, ThreadLine};
use super::command_info::{Disabled, Info};
use super::context::{Cx, Here};
use super::custom::{RunEvent, RunSpec};
use super::motion::Motion;
use super::outbox::{Claim, Draft};
use super::overlay::Overlay;
use super::place::Place;
use super::session::CustomSection;
use super::state::{RecentsChange, SeenChange, SettingsChange, StateFile};
use super::text_key::DraftKey;
use super::tone::Tone;
use super::transfer::{NewTransfer, TransferEvent, TransferSpec};
use super::uploads::Attachment;
use super::view::View;
use super::watch::Watched;
use crate::clip::Clip;
use api::draft_notes::PublishReview;
use api::{Endpoint, Error, Host};
use crossterm::event::{KeyEvent, MouseEvent};
use jiff::{SignedDuration, Timestamp};
use std::any::Any;
use std::borrow::Cow;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use store::{Load, ParsedReply, Task, TaskKey, Value, Want, WorkResult, Write};
use ui::theme::{Background, Theme};

/// A callback for the reply to a write: clearing a list, or sending the next of several writes.
pub type FollowUp = Rc<dyn Fn(&Result<Value, Error>, &mut Cx)>;

/// Returns the callback that runs `then` on the reply to a write of `E`.
pub fn follow_up<E: Endpoint>(then: impl Fn(Result<&E::Output, &Error>, &mut Cx) + 'static) -> FollowUp {
    Rc::new(move |outcome, cx| match outcome {
        Ok(value) => value.downcast_ref().into_iter().for_each(|reply| then(Ok(reply), cx)),
        Err(error) => then(Err(error), cx),
    })
}

/// Text for another program; shared, because it may be large.
#[derive(Clone)]
pub struct PagerText {
    /// The file name; its extension tells programs the type of the text.
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
        write!(f, "PagerText({}, {} bytes)", self.name, (*self.text).as_ref().len())
    }
}

type RestOfAction = dyn FnOnce(&mut dyn Any, &mut Cx);

/// The rest of an action of a pane, after a question was answered or a reply arrived: see [`Here::then`].
pub struct InPane {
    /// The open pane that asked.
    pub(super) here: Here,
    /// The function to run in its pane.
    pub(super) run: Box<RestOfAction>,
}

/// A function that finds drafts in what is known.
type FindDrafts = dyn Fn(&View) -> Vec<Draft>;

/// The draft notes that a review publishes.
pub struct Published {
    /// The list of them, to be read before.
    pub first: Load,
    /// Returns them as drafts.
    pub drafts: Rc<FindDrafts>,
    /// The ID of the newest note before.
    pub before: u64,
}

/// A review to submit.
pub struct ReviewSubmission {
    /// The keys of its comments that are saved locally.
    pub keys: Vec<DraftKey>,
    /// A comment on the whole, to be saved under that key.
    pub summary: Option<(DraftKey, Draft)>,
    /// Whether the server keeps comments as draft notes until they are published.
    pub as_draft_notes: bool,
    /// The verdict, to be saved under that key: it replaces one that was not sent.
    pub verdict: Option<(DraftKey, Draft)>,
    /// The request that publishes the draft notes. The verdict follows.
    pub publish: Option<PublishReview>,
    /// The comments that it publishes, to be looked for afterwards.
    pub published: Option<Published>,
}

/// An action requested by a pane, an overlay or a global command.
pub enum Action {
    /// Opens a place; the current one stays in the history.
    GoToPlace(Place),
    /// Opens the place that a target names, as the user typed it.
    GoToTarget(String),
    /// Goes to a place that may not exist; then the nearest place that exists is shown.
    TryPlace(Place),
    /// Switches to another server: to a place of it, or to where the user was there.
    SwitchServer(Host, Option<Place>),
    /// Lists the known servers.
    ListServers,
    /// Switches to another theme.
    SetTheme(Box<Theme>),
    /// Replaces the current place.
    Replace(Place),
    /// Goes back.
    Back,
    /// Goes forward again.
    Forward,
    /// Quits labscope; asks first if texts would be lost, or if comments wait to be sent.
    Quit,
    /// Quits without a question.
    QuitAnyway,
    /// Performs several actions in order.
    All(Vec<Action>),
    /// Opens an overlay on top.
    OpenOverlay(Box<dyn Overlay>),
    /// Runs a command by its ID.
    Run(&'static str),
    /// Moves in whatever has the focus.
    Move(Motion),
    /// Opens the search prompt.
    OpenSearch,
    /// Goes to the next match (`true`), or to the previous one.
    NextMatch(bool),
    /// Sets the search or filter text.
    SetFilter(String),
    /// Sets the text from before the search or filter prompt, and returns to where a search began.
    RestoreFilter(String),
    /// Continues in a pane.
    Continue(InPane),
    /// Sends a write.
    Send(Write),
    /// Sends writes after a few seconds in which the command `undo` takes them back.
    SendLater { writes: Vec<Write>, what: String, undo: &'static str },
    /// Takes back the last writes that wait.
    TakeBack,
    /// Stops a write that uploads files, by its number.
    StopUpload(u64),
    /// Sends a write with a text that is saved under a key until the server has it.
    SendSaved(String, Write),
    /// Sends a write and runs a callback on the reply, wherever the user is by then; the text saved under the key, if
    /// any, is deleted once the server has it.
    SendThen(Option<String>, Write, FollowUp),
    /// Sends again what the overlay on top holds, after the user was asked: it may have succeeded.
    SendAgain,
    /// Records that the server does not support a route or a quick action.
    Unsupported(&'static str),
    /// Sends the drafts saved under these keys, one after the other.
    SendDrafts(Vec<DraftKey>),
    /// Submits a review.
    SubmitReview(Box<ReviewSubmission>),
    /// Finds out whether drafts arrived that were being sent when the program ended.
    CheckDrafts(Vec<DraftKey>),
    /// Keeps drafts, all on the same object, that the server has published, until their notes are found: it drops those
    /// whose lines are not in the changes any more without a word. All notes up to `before` are older.
    CheckPublished { drafts: Vec<Draft>, before: u64 },
    /// Sends no more drafts after the one in flight.
    StopSendingDrafts,
    /// Opens the place with that name, in the current project if it needs one.
    GoToPane(&'static str),
    /// Copies a text to the clipboard.
    Copy(Clip),
    /// Opens a page in the browser.
    Browse(String),
    /// Opens a text in the user's editor; the result goes to the overlay on top.
    Edit { text: String, suffix: Cow<'static, str> },
    /// Shows a text in the user's pager.
    Pager(PagerText),
    /// Checks out a branch in the clone.
    CheckOut(Checkout),
    /// Pushes a branch of the clone, and shows what git prints.
    Push(Push),
    /// Stops a custom command or a push, by its number.
    StopCustomCommand(u64),
    /// Searches the project's code for the word under the cursor.
    SearchCode,
    /// Opens the file under the cursor in the user's editor, as it is in the clone.
    EditInClone,
    /// Opens a list of lines of the clone in the user's editor: paths, numbers and texts.
    EditList(Vec<(String, u32, String)>),
    /// Finds the lines of threads in the clone, where they are to be worked off; the key says what they were collected from.
    LocateThreads(String, Vec<ThreadLine>),
    /// Downloads to a file, after asking for the path.
    AskTransferPath(NewTransfer),
    /// Downloads to the path of the order.
    StartTransfer(TransferSpec),
    /// Restarts or resumes a transfer that ended; the flag allows replacing an existing file.
    RestartTransfer(u64, bool),
    /// Stops a transfer; the bytes received so far are kept.
    StopTransfer(u64),
    /// Removes a transfer from the list, and an incomplete file from disk.
    ForgetTransfer(u64),
    /// Lists the transfers.
    ListTransfers,
    /// Lists all drafts.
    ListDrafts,
    /// Lists the messages of this session.
    ListMessages,
    /// Shows a message in the footer.
    Say(Tone, String),
    /// Shows why a command cannot be run, for as long as the reason holds.
    Refuse(Info, Disabled),
    /// Starts or stops watching a job or pipeline; the user is notified when it ends, whatever place is open.
    Watch(Watched),
    /// Reloads what is shown.
    Refresh,
    /// Reloads the data of these wants.
    Reload(Vec<Want>),
    /// Moves the focus to the next panel (`true`), or to the previous one.
    Panel(bool),
    /// Zooms the focused panel, or shows all panels again.
    Zoom,
    /// Selects the tab with that index, from 0.
    SelectTab(usize),
    /// Leaves the innermost mode, else goes back; at the first place, asks whether to quit.
    Close,
    /// Handles Esc: like [`Action::Close`], but stops a running transfer before going back, and never quits.
    Escape,
    /// Suspends the program, as C-z does in a shell.
    Suspend,
    /// Lists what can be copied here.
    CopyMenu,
    /// Opens the web page of the item under the cursor.
    BrowseHere,
    /// Lists all actions here.
    ActionMenu,
    /// Lists all commands and places.
    Palette,
    /// Opens "go to anything".
    QuickOpen,
    /// Lists the keys of this place.
    Help,
    /// Starts the tour, or leaves it.
    ToggleTour,
    /// Saves a custom section of Home in the configuration; a section of the same name is replaced.
    SaveSection(CustomSection),
    /// Removes the custom section of Home with that name.
    RemoveSection(String),
    /// Saves a text under a key, or removes what is there.
    SaveText(String, Option<String>),
    /// Saves the files that wait until the text under a key is sent, before the text itself.
    SaveFiles(String, Vec<Attachment>),
    /// Saves a comment under a key.
    SaveDraft(DraftKey, Box<Draft>),
    /// Deletes the comment under a key.
    DeleteDraft(DraftKey),
    /// Changes the settings.
    Settings(SettingsChange),
    /// Changes the recent places.
    Recents(RecentsChange),
    /// Changes which versions of merge requests the user has seen, and which files were marked as viewed.
    Seen(SeenChange),
}

/// A flag that stops a background task. Its earlier messages may still be in flight when the same task is started
/// again, and must not be mistaken for those of the new one.
#[derive(Clone, Debug, Default)]
pub struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// Stops the task.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns whether the task was stopped.
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A message to the app.
#[derive(Debug)]
pub enum Msg {
    /// The current time, sent before anything else in a turn.
    Now(Timestamp),
    /// A key event.
    Key(KeyEvent),
    /// A mouse event.
    Mouse(MouseEvent),
    /// Pasted text.
    Paste(String),
    /// Text that arrived at once like keys: a paste by a terminal that does not mark pastes, with a line feed for Enter
    /// and a tab for Tab.
    Typed(String),
    /// The new size of the terminal.
    Resize(u16, u16),
    /// The background that the terminal reported.
    Background(Background),
    /// A change of the terminal window's focus: `true` if it got the focus.
    Focus(bool),
    /// A message of a background task; ignored once the task was stopped.
    FromTask(StopFlag, Box<Msg>),
    /// The outcome of something that was started.
    Arrived(TaskKey, Result<Outcome, Error>),
    /// The cached reply to something that was started, and when it was received; the new reply is still to come.
    Cached(TaskKey, ParsedReply, Timestamp),
    /// The first result of a computation, which continues.
    Preview(TaskKey, WorkResult),
    /// The beginning of a long reply, as far as it was received: its size, and that of the whole.
    Partial { task: TaskKey, value: store::Value, received: u64, size: Option<u64> },
    /// A status that was read along with a stream.
    StreamStatus(api::Request, Result<ParsedReply, Error>),
    /// The time for which requests wait because the server has refused one for being too many.
    Limited(Duration),
    /// The offset of the server's clock from the local one; positive if the server is ahead.
    ClockOffset(SignedDuration),
    /// Bytes of a stream; `restart` if the bytes kept so far are no longer valid.
    Bytes { request: api::Request, bytes: bytes::Bytes, restart: bool },
    /// The last bytes of a long stream, which come before the rest, and its size.
    StreamEnd { request: api::Request, bytes: bytes::Bytes, size: u64 },
    /// A stream has all that the server had when it was asked.
    StreamRead(api::Request),
    /// The error of a stream that is read again until the server answers.
    StreamFailed(api::Request, Error),
    /// Progress of a result that is read from parts of a large file, by its key.
    RangeReadProgress(String, api::client::Progress),
    /// The progress of a write that uploads files, by its number.
    Uploading(u64, api::client::Progress),
    /// The outcome of a write, by its number.
    Sent(u64, Result<Value, Error>),
    /// An event of a transfer, by its number.
    Transfer(u64, TransferEvent),
    /// The text from the user's editor, or the reason why the editor could not be run.
    EditorClosed(Result<String, String>),
    /// The editor of a file of the clone was closed.
    FileEdited,
    /// The text in the user's editor when the program was told to end.
    EditorInterrupted(String),
    /// A text was copied: its name, and the program that took it, if it was not the terminal. The error is the reason why
    /// only the terminal can have taken it, which may not support that.
    Copied(&'static str, Result<Option<&'static str>, String>),
    /// The reason why texts cannot be written to disk; `Ok` when they can be again.
    DiskStatus(Result<(), String>),
    /// The result of claiming a draft, by its key.
    Claimed(DraftKey, Claim),
    /// An event of a custom command, by its number.
    CustomCommand(u64, RunEvent),
    /// The outcome of a checkout.
    CheckedOut(Checkout, CheckoutOutcome),
    /// The branch that is checked out in the clone, or the reason why it cannot be read.
    HeadRead(Result<CloneHead, String>),
    /// A push, by its number, that did not start because the user must allow what the clone's configuration runs: the
    /// settings, and their fingerprint.
    PushUntrusted { number: u64, push: Push, reasons: Vec<String>, fingerprint: String },
    /// A message from the runtime, for the footer.
    Say(Tone, String),
    /// A request to end the program.
    Quit,
}

impl Msg {
    /// Returns the inner message; `None` if it comes from a task that was stopped.
    pub fn unless_stopped(self) -> Option<Msg> {
        match self {
            Msg::FromTask(stop, _) if stop.is_stopped() => None,
            Msg::FromTask(_, msg) => msg.unless_stopped(),
            msg => Some(msg),
        }
    }
}

/// The outcome of something that was started.
#[derive(Clone)]
pub enum Outcome {
    /// A reply.
    Reply(ParsedReply),
    /// A reply from the clone, which says nothing about the server.
    FromClone(ParsedReply),
    /// The end of a stream. If the status of its document was not known, the time of the server at which it was requested.
    End(Option<Timestamp>),
    /// The result of a computation.
    Computed(WorkResult),
}

impl std::fmt::Debug for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Outcome::Reply(_) => "Reply",
            Outcome::FromClone(_) => "FromClone",
            Outcome::End(_) => "End",
            Outcome::Computed(_) => "Computed",
        })
    }
}

/// An effect that the app requests of the runtime.
#[derive(Clone, Debug, PartialEq)]
// Effects are few and short-lived: boxing the large ones would only make them harder to read in tests.
#[allow(clippy::large_enum_variant)]
pub enum Effect {
    /// Starts a task.
    Start(Task),
    /// Sends a request that waits for others, because it has become more urgent than they are.
    MoveForward(TaskKey),
    /// Pauses a stream that was started (`true`), or resumes it.
    SetPaused(TaskKey, bool),
    /// Cancels a task.
    Cancel(TaskKey),
    /// Sends a write, once.
    Send(u64, Write),
    /// Stops a write that uploads files. Answered by [`Msg::Sent`].
    StopUpload(u64, String),
    /// Copies a text to the clipboard. Answered by [`Msg::Copied`].
    Copy(Clip),
    /// Notifies the user, through the terminal, that something watched has ended.
    Notify(String),
    /// Opens a page in the browser.
    Browse(String),
    /// Runs the user's editor on this text, in a file with this suffix.
    Edit { text: String, suffix: Cow<'static, str> },
    /// Runs the user's pager on this text.
    Pager(PagerText),
    /// Checks out a branch in the clone. Answered by [`Msg::CheckedOut`].
    CheckOut(Checkout),
    /// Reads the branch that is checked out in the clone. Answered by [`Msg::HeadRead`].
    ReadHead(CloneFolder),
    /// Pushes a branch of the clone. Answered by [`Msg::PushUntrusted`], or like a custom command.
    Push(u64, Push),
    /// Starts a custom command. Answered by [`Msg::CustomCommand`].
    StartCustomCommand(u64, RunSpec),
    /// Stops a custom command or a push.
    StopCustomCommand(u64),
    /// Opens a file of the clone in the user's editor.
    EditFile(CloneFile),
    /// Opens a list of lines of the clone in the user's editor, each as `path:line: text`.
    EditList(PathBuf, String),
    /// Downloads to a file.
    Transfer(u64, TransferSpec),
    /// Stops a transfer.
    StopTransfer(u64),
    /// Deletes the incomplete file of a transfer.
    ForgetTransfer(TransferSpec),
    /// Saves a draft to disk, or deletes it.
    SaveText(String, Option<String>),
    /// Writes a state file of an account.
    SaveState(String, StateFile),
    /// Claims a draft, to make sure that no other process sends it: its key, and its key on disk. Answered by
    /// [`Msg::Claimed`].
    Claim(DraftKey, String),
    /// Writes the section with that name to the configuration, or removes it.
    WriteSection(String, Option<CustomSection>),
    /// Brings another server to the front, at a place of it, or as it was.
    SwitchServer(Host, Option<Place>),
    /// Brings the server to the front that the user came from.
    SwitchBack,
    /// Suspends the program, as C-z does in a shell.
    Suspend,
}
