//! What a place is made of: the trait of panes, what they may see, and what they may ask for.

use super::action::{Action, Answer, Tone};
use super::checkout::CloneFolder;
use super::command::{Command, Disabled, Info, Motion};
use super::custom::{CustomCommand, Runs};
use super::hits::Hits;
use super::outbox::Outbox;
use super::place::Place;
use super::query::Grammar;
use super::registry::Entry;
use super::state::{Recents, Seen, Settings};
use super::transfer::Transfers;
use crate::api::identity::{AccessToken, GetOwnToken};
use crate::api::{Endpoint, Host, Reply};
use crate::store::{Load, Store, Want};
use crate::ui::image::Pictures;
use crate::ui::panels::Panels;
use crate::ui::theme::{Role, Theme};
use crate::ui::trace::Patterns;
use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::collections::HashMap;
use std::sync::Arc;

/// Who is signed in where.
#[derive(Clone, Debug, Default)]
pub struct Session {
    /// A short name for the server: `demo`, `local`, or its host.
    pub server: String,
    /// Root of its web pages, without a slash at the end.
    pub web_url: String,
    /// Whether writes are refused before they are sent.
    pub read_only: bool,
    /// Whether nothing is ever sent.
    pub offline: bool,
    /// Whether a token is there.
    pub signed_in: bool,
    /// The user's own sections of the home place, in order.
    pub sections: Vec<Section>,
    /// How traces of jobs are read.
    pub reading: Arc<Reading>,
    /// The commands of the configuration, in order.
    pub commands: Arc<Vec<CustomCommand>>,
    /// The other servers that one knows, in order.
    pub others: Vec<OtherServer>,
    /// The clone that labscope was started in, if it has remotes on this server.
    pub clone: Option<CloneFolder>,
}

/// Another server than the one at hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherServer {
    pub host: Host,
    /// Whether a token is there.
    pub signed_in: bool,
    /// Whether home asks it what waits for the user.
    pub at_home: bool,
}

/// How traces of jobs are read.
#[derive(Clone, Debug)]
pub struct Reading {
    /// What counts as an error, and what as a warning.
    pub patterns: Patterns,
    /// Bytes of one trace that are kept in memory; the rest is put on disk.
    pub memory: u64,
}

impl Default for Reading {
    fn default() -> Reading {
        Reading { patterns: Patterns::default(), memory: 64 << 20 }
    }
}

/// A query of one's own, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Section {
    pub name: String,
    /// Of merge requests.
    pub query: String,
    /// In that project alone.
    pub project: Option<String>,
    /// In the projects of that group alone.
    pub group: Option<String>,
}

/// Everything that a pane may look at.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The places there are.
    pub panes: &'static [Entry],
    /// What is known.
    pub store: &'a Store,
    /// How roles look.
    pub theme: &'a Theme,
    /// The moment of this update by the server's clock: what the server dates is as old as it says.
    pub now: Timestamp,
    /// The same by our own clock, for what happens here.
    pub here: Timestamp,
    /// Who is signed in where.
    pub session: &'a Session,
    /// Texts that are kept until the server has them, by key: those of this server and account.
    pub drafts: &'a HashMap<String, String>,
    /// What the user chose.
    pub settings: &'a Settings,
    /// Where the user was.
    pub recents: &'a Recents,
    /// What the user has seen.
    pub seen: &'a Seen,
    /// The drafts that are being sent.
    pub outbox: &'a Outbox,
    /// Draws pictures, by the terminal's own means where it has some.
    pub pictures: &'a Pictures,
    /// What is being saved, and was.
    pub transfers: &'a Transfers,
    /// The commands of the configuration that were started.
    pub runs: &'a Runs,
    /// The key of the saved text that is being typed, over the place.
    pub writing: Option<&'a str>,
    /// Width and height of the screen.
    pub size: (u16, u16),
    /// Takes what can be clicked, from whoever draws it.
    pub hits: &'a Hits,
}

impl View<'_> {
    /// Returns what loads a list, unless the server said that it has none of the kind.
    pub fn if_supported<T, E>(&self, list: &E, pages: u32) -> Option<Load>
    where
        T: Send + Sync + 'static,
        E: Endpoint<Output = Vec<T>>,
        Vec<T>: Reply,
    {
        (!self.store.is_unsupported::<E>()).then(|| Load::list(list, pages))
    }

    /// Returns whether anything can be changed on the server, or why not.
    pub fn can_write(&self) -> Result<(), Disabled> {
        if self.session.read_only {
            return Err("labscope is read-only".into());
        }
        if self.session.offline {
            return Err("labscope is offline".into());
        }
        match self.token().and_then(AccessToken::missing_scope) {
            Some(scope) => Err(format!("the token lacks the scope {scope}").into()),
            None => Ok(()),
        }
    }

    /// What the server says of the token, if it does.
    pub fn token(&self) -> Option<&AccessToken> {
        self.store.get(&GetOwnToken {}).value
    }

    /// The signed-in user, once known.
    pub fn me(&self) -> Option<&crate::api::users::Profile> {
        let me = self.store.get(&crate::api::users::GetCurrentUser::default()).value;
        me.filter(|me| !me.username.is_empty())
    }
}

/// What an update may look at and ask for.
pub struct Cx<'a> {
    /// What is known.
    pub view: View<'a>,
    /// What was asked for, in order.
    pub actions: Vec<Action>,
}

impl Cx<'_> {
    /// Asks for `action`.
    pub fn act(&mut self, action: Action) {
        self.actions.push(action);
    }

    /// Goes to `place`.
    pub fn go(&mut self, place: Place) {
        self.act(Action::Go(place));
    }

    /// Says something in the footer for a moment.
    pub fn say(&mut self, tone: Tone, text: impl Into<String>) {
        self.act(Action::Say(tone, text.into()));
    }
}

/// One step of the breadcrumb.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breadcrumb {
    /// The text, cleaned where it came from a server.
    pub text: String,
    /// How it looks.
    pub role: Role,
    /// Where a click on it leads.
    pub place: Option<Place>,
}

impl Breadcrumb {
    /// A step of the way.
    pub fn new(text: impl Into<String>, role: Role) -> Breadcrumb {
        Breadcrumb { text: text.into(), role, place: None }
    }

    /// A click on it opens that place.
    pub fn to(self, place: Place) -> Breadcrumb {
        Breadcrumb { place: Some(place), ..self }
    }
}

/// What `/` does in a pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchMode {
    /// Keeps the rows that fit.
    Filter,
    /// Goes to what fits.
    Search,
}

/// A button or the wheel of the mouse, in screen cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pointer {
    /// Pressed; the second of two quick presses opens.
    Press { column: u16, row: u16, double: bool },
    /// Moved while pressed.
    Drag { column: u16, row: u16 },
    /// Let go.
    Release,
    /// Turned, down positive.
    Wheel { column: u16, row: u16, rows: i16 },
}

/// A pane whose tabs are picked with `1`…`9`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tabs {
    /// Titles, left to right.
    pub titles: &'static [&'static str],
    /// The one that is shown.
    pub selected: usize,
}

/// A place the user can be. One file in `panes/` each.
pub trait Pane: Sized + 'static {
    /// The name of the place, and its command after `:`.
    const ID: &'static str;
    /// What it shows, for the palette and the help.
    const TITLE: &'static str;
    /// What a place must name for this pane to open.
    const NEEDS: Needs = Needs::Nothing;
    /// What can be done here.
    const COMMANDS: &'static [Command<Self>];

    /// Opens it at `place`. What it needs from the server it says in [`Pane::wants`].
    fn open(place: &Place, view: &View) -> Self;
    /// Returns where it stands now; opening that place again shows the same.
    fn place(&self) -> Place;
    /// The way here, for the first line of the screen.
    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb>;
    /// Returns what it needs now. Called after every update: cheap, and without effect.
    fn wants(&self, view: &View) -> Vec<Want>;
    /// Draws it. Never waits, never parses; costs what is visible.
    fn view(&self, view: &View, area: Rect, buf: &mut Buffer);
    /// Something it may show has changed: keep selections on their things, finish what waited.
    fn changed(&mut self, _cx: &mut Cx) {}
    /// Moves in what has the focus.
    fn motion(&mut self, motion: Motion, cx: &mut Cx);
    /// The mouse.
    fn pointer(&mut self, _pointer: Pointer, _cx: &mut Cx) {}
    /// Sorts by the column `index` of those that are shown; `false` where its lists have an order of their own.
    fn sort_by(&mut self, _index: usize, _cx: &mut Cx) -> bool {
        false
    }
    /// Its panels, if it has several: Tab, z and the divider are handled for it.
    fn panels(&mut self) -> Option<&mut Panels> {
        None
    }
    /// Its tabs, if it has some.
    fn tabs(&self) -> Tabs {
        Tabs::default()
    }
    /// Returns what stands behind the title of a tab: how many things are under it.
    fn tab_count(&self, _index: usize, _view: &View) -> Option<String> {
        None
    }
    /// Shows the tab `index`.
    fn select_tab(&mut self, _index: usize, _cx: &mut Cx) {}
    /// Returns what `/` does with what has the focus; `None` if there is nothing to seek.
    fn search_mode(&self) -> Option<SearchMode> {
        None
    }
    /// Returns what may be typed as a filter, if it is a query with keys.
    fn grammar(&self) -> Option<Grammar> {
        None
    }
    /// The text sought now.
    fn filter_text(&self) -> String {
        String::new()
    }
    /// The text being sought changed; empty means that seeking ended.
    fn set_filter_text(&mut self, _text: &str, _cx: &mut Cx) {}
    /// Goes to the next thing found, or the one before.
    fn seek_next(&mut self, _forward: bool, _cx: &mut Cx) {}
    /// The answer of an overlay that it opened.
    fn answer(&mut self, _answer: Answer, _cx: &mut Cx) {}
    /// Esc: undo the innermost thing that is on (a filter, a mark); `false` where there is none.
    fn escape(&mut self, _cx: &mut Cx) -> bool {
        false
    }
    /// The web page of what is under the cursor.
    fn url(&self, _view: &View) -> Option<String> {
        None
    }
    /// Returns the path of the file under the cursor, and the line, where no address says so.
    fn position(&self, _view: &View) -> Option<(String, Option<u32>)> {
        None
    }
    /// Returns what `y` can copy here: name and text.
    fn copies(&self, _view: &View) -> Vec<(&'static str, String)> {
        Vec::new()
    }
    /// Returns whether it shows a clock that runs, so that it is drawn every second.
    fn ticks(&self, _view: &View) -> bool {
        false
    }
}

/// What a place must name for its pane to open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing: it opens from anywhere.
    Nothing,
    /// A project.
    Project,
    /// A project and a thing in it: opened from lists, not by its name.
    Item,
}

/// A pane without its type.
pub trait AnyPane {
    fn id(&self) -> &'static str;
    fn place(&self) -> Place;
    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb>;
    fn wants(&self, view: &View) -> Vec<Want>;
    fn view(&self, view: &View, area: Rect, buf: &mut Buffer);
    fn changed(&mut self, cx: &mut Cx);
    fn motion(&mut self, motion: Motion, cx: &mut Cx);
    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx);
    fn sort_by(&mut self, index: usize, cx: &mut Cx) -> bool;
    fn panels(&mut self) -> Option<&mut Panels>;
    fn tabs(&self) -> Tabs;
    fn tab_count(&self, index: usize, view: &View) -> Option<String>;
    fn select_tab(&mut self, index: usize, cx: &mut Cx);
    fn search_mode(&self) -> Option<SearchMode>;
    fn grammar(&self) -> Option<Grammar>;
    fn filter_text(&self) -> String;
    fn set_filter_text(&mut self, text: &str, cx: &mut Cx);
    fn seek_next(&mut self, forward: bool, cx: &mut Cx);
    fn answer(&mut self, answer: Answer, cx: &mut Cx);
    fn escape(&mut self, cx: &mut Cx) -> bool;
    fn url(&self, view: &View) -> Option<String>;
    fn position(&self, view: &View) -> Option<(String, Option<u32>)>;
    fn copies(&self, view: &View) -> Vec<(&'static str, String)>;
    fn ticks(&self, view: &View) -> bool;
    /// The rows of its command table.
    fn commands(&self) -> Vec<Info>;
    /// Returns whether the command can be run now; `None` if it is not of this pane.
    fn can(&self, id: &str, view: &View) -> Option<Result<(), Disabled>>;
    /// Runs a command of this pane; `false` where it has none of that name.
    fn run(&mut self, id: &str, cx: &mut Cx) -> bool;
}

impl<P: Pane> AnyPane for P {
    fn id(&self) -> &'static str {
        P::ID
    }
    fn place(&self) -> Place {
        Pane::place(self)
    }
    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        Pane::breadcrumbs(self, view)
    }
    fn wants(&self, view: &View) -> Vec<Want> {
        Pane::wants(self, view)
    }
    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        Pane::view(self, view, area, buf);
    }
    fn changed(&mut self, cx: &mut Cx) {
        Pane::changed(self, cx);
    }
    fn motion(&mut self, motion: Motion, cx: &mut Cx) {
        Pane::motion(self, motion, cx);
    }
    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        Pane::pointer(self, pointer, cx);
    }
    fn sort_by(&mut self, index: usize, cx: &mut Cx) -> bool {
        Pane::sort_by(self, index, cx)
    }
    fn panels(&mut self) -> Option<&mut Panels> {
        Pane::panels(self)
    }
    fn tabs(&self) -> Tabs {
        Pane::tabs(self)
    }
    fn tab_count(&self, index: usize, view: &View) -> Option<String> {
        Pane::tab_count(self, index, view)
    }
    fn select_tab(&mut self, index: usize, cx: &mut Cx) {
        Pane::select_tab(self, index, cx);
    }
    fn search_mode(&self) -> Option<SearchMode> {
        Pane::search_mode(self)
    }
    fn grammar(&self) -> Option<Grammar> {
        Pane::grammar(self)
    }
    fn filter_text(&self) -> String {
        Pane::filter_text(self)
    }
    fn set_filter_text(&mut self, text: &str, cx: &mut Cx) {
        Pane::set_filter_text(self, text, cx);
    }
    fn seek_next(&mut self, forward: bool, cx: &mut Cx) {
        Pane::seek_next(self, forward, cx);
    }
    fn answer(&mut self, answer: Answer, cx: &mut Cx) {
        Pane::answer(self, answer, cx);
    }
    fn escape(&mut self, cx: &mut Cx) -> bool {
        Pane::escape(self, cx)
    }
    fn url(&self, view: &View) -> Option<String> {
        Pane::url(self, view)
    }
    fn position(&self, view: &View) -> Option<(String, Option<u32>)> {
        Pane::position(self, view)
    }
    fn copies(&self, view: &View) -> Vec<(&'static str, String)> {
        Pane::copies(self, view)
    }
    fn ticks(&self, view: &View) -> bool {
        Pane::ticks(self, view)
    }
    fn commands(&self) -> Vec<Info> {
        P::COMMANDS.iter().map(Command::info).collect()
    }
    fn can(&self, id: &str, view: &View) -> Option<Result<(), Disabled>> {
        P::COMMANDS.iter().find(|c| c.id == id).map(|c| c.can(self, view))
    }
    fn run(&mut self, id: &str, cx: &mut Cx) -> bool {
        let Some(command) = P::COMMANDS.iter().find(|c| c.id == id) else { return false };
        match command.can(self, &cx.view) {
            Ok(()) => (command.run)(self, cx),
            Err(why) => cx.act(Action::Refuse(command.info(), why)),
        }
        true
    }
}
