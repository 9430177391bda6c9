//! The commands of a place: one row drives dispatch, help, palette, footer, the `a` menu, `labscope keys` and the docs.
//! A place has tables of its own, and those of the parts that it shows.

use super::action::Action;
use super::command_info::{Disabled, Info};
use super::context::Cx;
use super::permission::Permission;
use super::view::View;
use api::{Endpoint, Id};
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// A command of a place `P`; in a list, some commands are about its current row, an `R`.
pub struct Command<P, R: 'static = NoRow> {
    /// The ID, see [`Info::id`]; in the table of a part, without the place in front: `.reply`.
    id: &'static str,
    /// See [`Info::keys`].
    keys: &'static [&'static str],
    /// See [`Info::title`].
    title: &'static str,
    /// See [`Info::short`].
    short: &'static str,
    /// See [`Info::writes`].
    writes: bool,
    /// Returns whether the server has said that it does not support what the command sends.
    is_refused: fn(&View) -> bool,
    /// The permission that the user needs in the project, if the command needs one.
    permission: Option<Permission>,
    /// Whether the command is about one row although [`Run`] does not show it, see [`Command::of_one_row`].
    is_of_one_row: bool,
    enabled: Enabled<P, R>,
    run: Run<P, R>,
}

/// The reason why a command cannot be run after the server has said that it does not know the operation.
pub const UNSUPPORTED: &str = "the server does not support this";

/// The row of a place without rows.
pub enum NoRow {}

/// The check of whether a command can be run now; the error is the reason why not.
enum Enabled<P, R: 'static> {
    Always,
    When(fn(&P, &View) -> Result<(), Disabled>),
    WhenRow(fn(&P, &R, &View) -> Result<(), Disabled>),
}

enum Run<P, R: 'static> {
    Plain(fn(&mut P, &mut Cx)),
    OnRow(fn(&mut P, &R, &mut Cx)),
    OnRows(fn(&mut P, &[&R], &mut Cx)),
}

impl<P, R: 'static> Command<P, R> {
    const fn with(id: &'static str, keys: &'static [&'static str], title: &'static str, run: Run<P, R>) -> Self {
        Command {
            id,
            keys,
            title,
            short: "",
            writes: false,
            is_refused: |_| false,
            permission: None,
            is_of_one_row: false,
            enabled: Enabled::Always,
            run,
        }
    }

    /// Creates a command that can be run without a current row.
    pub const fn new(
        id: &'static str,
        keys: &'static [&'static str],
        title: &'static str,
        run: fn(&mut P, &mut Cx),
    ) -> Self {
        Command::with(id, keys, title, Run::Plain(run))
    }

    /// Creates a command that gets the current row, and can be run only if there is one. If it changes something, it cannot
    /// be run while others are marked.
    pub const fn row(
        id: &'static str,
        keys: &'static [&'static str],
        title: &'static str,
        run: fn(&mut P, &R, &mut Cx),
    ) -> Self {
        Command::with(id, keys, title, Run::OnRow(run))
    }

    /// Creates a command that gets the marked rows, or else the current one, and can be run only if there are any.
    pub const fn rows(
        id: &'static str,
        keys: &'static [&'static str],
        title: &'static str,
        run: fn(&mut P, &[&R], &mut Cx),
    ) -> Self {
        Command::with(id, keys, title, Run::OnRows(run))
    }

    /// Marks the command of a part as one about the current row, which cannot be run while others are marked.
    pub const fn of_one_row(mut self) -> Self {
        self.is_of_one_row = true;
        self
    }

    /// Shows the command in the footer under this word.
    pub const fn footer(mut self, short: &'static str) -> Self {
        self.short = short;
        self
    }

    /// Marks the command as one that changes something on the server.
    pub const fn writes(mut self) -> Self {
        self.writes = true;
        self
    }

    /// Marks the command as one that changes something, and for which the user needs a role in the project.
    pub const fn needs(mut self, permission: Permission) -> Self {
        self.writes = true;
        self.permission = Some(permission);
        self
    }

    /// Marks the command as one that sends `E`, and so cannot be run on a server that does not support it.
    pub const fn sends<E: Endpoint>(mut self) -> Self {
        self.writes = true;
        self.is_refused = |view| view.store.is_unsupported::<E>();
        self
    }

    /// Restricts the command to when `enabled` returns `Ok`.
    pub const fn when(mut self, enabled: fn(&P, &View) -> Result<(), Disabled>) -> Self {
        self.enabled = Enabled::When(enabled);
        self
    }

    /// Restricts the command to rows for which `enabled` returns `Ok`.
    pub const fn when_row(mut self, enabled: fn(&P, &R, &View) -> Result<(), Disabled>) -> Self {
        self.enabled = Enabled::WhenRow(enabled);
        self
    }
}

impl<P: Commands> Command<P, P::Row> {
    /// Returns the command without its functions.
    pub fn info(&self) -> Info {
        let id = if self.id.starts_with('.') { full_id(P::PLACE, self.id) } else { self.id };
        Info { id, keys: self.keys, title: self.title, short: self.short, writes: self.writes }
    }

    /// Returns whether this is the command with a full ID.
    pub fn is(&self, id: &str) -> bool {
        self.id == id || self.id.starts_with('.') && id.strip_prefix(P::PLACE) == Some(self.id)
    }

    /// Returns whether the command can be run now; checks first whether writes are possible, if it needs them.
    pub fn can(&self, pane: &P, view: &View) -> Result<(), Disabled> {
        if self.writes {
            view.can_write()?;
        }
        if (self.is_refused)(view) {
            return Err(UNSUPPORTED.into());
        }
        if let Some(permission) = self.permission {
            permission.check(view, pane.acts_in(view).as_ref(), || pane.acts_on_own(view))?;
        }
        if pane.marks() > 0 && (self.is_of_one_row || self.writes && matches!(self.run, Run::OnRow(_))) {
            let why = "Rows are marked, and this is for one row only; ‹escape› clears the marks";
            return Err(view.with_keys(why).into_owned().into());
        }
        if let Enabled::When(enabled) = &self.enabled {
            enabled(pane, view)?;
        }
        let rows = match &self.run {
            Run::Plain(_) => Vec::new(),
            Run::OnRow(_) => vec![pane.command_row(view)?],
            Run::OnRows(_) => pane.command_rows(view)?,
        };
        match &self.enabled {
            Enabled::WhenRow(enabled) => rows.into_iter().try_for_each(|row| enabled(pane, row, view)),
            Enabled::Always | Enabled::When(_) => Ok(()),
        }
    }

    /// Runs the command, or shows why it cannot be run.
    pub fn run(&self, pane: &mut P, cx: &mut Cx) {
        let view = cx.view;
        let refused = match (self.can(pane, &view), &self.run) {
            (Ok(()), Run::Plain(run)) => return run(pane, cx),
            (Ok(()), Run::OnRow(run)) => match pane.command_row(&view) {
                Ok(row) => return run(pane, row, cx),
                Err(why) => why,
            },
            (Ok(()), Run::OnRows(run)) => match pane.command_rows(&view) {
                Ok(rows) => return run(pane, &rows, cx),
                Err(why) => why,
            },
            (Err(why), _) => why,
        };
        cx.act(Action::Refuse(self.info(), refused));
    }
}

/// Returns the ID of a part's command in a place. There are few of them, and each is kept.
fn full_id(place: &'static str, id: &'static str) -> &'static str {
    static KNOWN: Mutex<BTreeMap<(&str, &str), &'static str>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry((place, id)).or_insert_with(|| format!("{place}{id}").leak())
}

/// Commands that belong together: those of a place, or those of a part of it.
pub type Table<P, R = NoRow> = &'static [Command<P, R>];

/// A pane with commands.
pub trait Commands: Sized + 'static {
    /// The type of the rows of its list; [`NoRow`] if it has none.
    type Row: 'static;
    /// The ID of the place, which begins the IDs of its commands.
    const PLACE: &'static str;
    /// Returns its own commands and those of its parts, in the order in which they are listed.
    fn tables() -> &'static [Table<Self, Self::Row>];
    /// Returns the current row, or the reason why there is none.
    fn command_row<'a>(&self, view: &View<'a>) -> Result<&'a Self::Row, Disabled>;
    /// Returns the marked rows, or else the current one, or the reason why there is none.
    fn command_rows<'a>(&self, view: &View<'a>) -> Result<Vec<&'a Self::Row>, Disabled> {
        self.command_row(view).map(|row| vec![row])
    }
    /// Returns the number of marked rows.
    fn marks(&self) -> usize {
        0
    }
    /// Returns the project in which commands change something, for [`Command::needs`].
    fn acts_in(&self, _: &View) -> Option<Id> {
        None
    }
    /// Returns whether what they change belongs to the user, who then needs a lower role.
    fn acts_on_own(&self, _: &View) -> bool {
        false
    }
}

type Check = fn(&dyn Any, &str, &View) -> Option<Result<(), Disabled>>;

/// The commands of a kind of pane, without its type.
#[derive(Clone, Copy)]
pub struct CommandTable {
    /// The ID under which the configuration and the docs list the commands.
    pub id: &'static str,
    infos: fn() -> Vec<Info>,
    can: Check,
    run: fn(&mut dyn Any, &str, &mut Cx) -> bool,
}

impl CommandTable {
    /// Creates the table of `P`.
    pub const fn of<P: Commands>() -> CommandTable {
        CommandTable {
            id: P::PLACE,
            infos: || all::<P>().map(Command::info).collect(),
            can: |pane, id, view| Some(find::<P>(id)?.can(pane.downcast_ref()?, view)),
            run: |pane, id, cx| {
                let (Some(command), Some(pane)) = (find::<P>(id), pane.downcast_mut()) else { return false };
                command.run(pane, cx);
                true
            },
        }
    }

    pub fn infos(&self) -> Vec<Info> {
        (self.infos)()
    }

    /// Returns whether a command of `pane` can be run now; `None` if the pane does not have it.
    pub fn can(&self, pane: &dyn Any, id: &str, view: &View) -> Option<Result<(), Disabled>> {
        (self.can)(pane, id, view)
    }

    /// Runs a command of `pane`; returns `false` if the pane does not have it.
    pub fn run(&self, pane: &mut dyn Any, id: &str, cx: &mut Cx) -> bool {
        (self.run)(pane, id, cx)
    }
}

fn all<P: Commands>() -> impl Iterator<Item = &'static Command<P, P::Row>> {
    P::tables().iter().copied().flatten()
}

fn find<P: Commands>(id: &str) -> Option<&'static Command<P, P::Row>> {
    all::<P>().find(|command| command.is(id))
}
