//! Registry of panes: the facts about each place, and the code that opens it.

use super::command::CommandTable;
use super::command_info::Info;
use super::pane::{Pane, PaneKind};
use super::place::Place;
use super::place_info::{Above, Needs, PlaceInfo, Sign, Subject};
use super::view::View;
use api::Endpoint;

/// Opens a pane at a place.
pub type PaneOpener = fn(&Place, &View) -> Box<dyn Pane>;

/// A row of the registry of panes.
pub struct Entry {
    /// The facts about the place.
    pub place: PlaceInfo,
    /// Opens the pane.
    pub open: PaneOpener,
    /// Opens what "go to anything" shows beside its list of a place with an item, or with a path: then the item is the SHA
    /// of the content.
    pub preview: Option<PaneOpener>,
    /// The commands of the pane.
    pub commands: CommandTable,
    /// Whether the place is another one under a second name, whose commands are listed only under the first.
    pub is_alias: bool,
}

impl Entry {
    /// Creates the row of `P`, with its title for the palette and the help.
    pub const fn of<P: PaneKind>(title: &'static str) -> Entry {
        let open = |place: &Place, view: &View| -> Box<dyn Pane> { Box::new(P::open(place, view)) };
        Entry::new(P::ID, title, open, CommandTable::of::<P>())
    }

    /// Creates a row from its parts.
    pub const fn new(id: &'static str, title: &'static str, open: PaneOpener, commands: CommandTable) -> Entry {
        Entry {
            place: PlaceInfo {
                id,
                title,
                needs: Needs::Nothing,
                subject: None,
                sign: None,
                is_refused: |_| false,
                above: Above::Surroundings,
                routes: &[],
                go: None,
                is_list: false,
                lists: None,
                synonyms: &[],
            },
            open,
            preview: None,
            commands,
            is_alias: false,
        }
    }

    /// Registers the same place under a second name; its commands are listed only under the first.
    pub const fn named(mut self, id: &'static str) -> Entry {
        (self.place.id, self.is_alias) = (id, true);
        self
    }

    /// Sets the data that the place must have to open; nothing by default.
    pub const fn needing(mut self, needs: Needs) -> Entry {
        self.place.needs = needs;
        self
    }

    /// Returns the commands that are listed under this place.
    pub fn listed_commands(&self) -> Vec<Info> {
        if self.is_alias { Vec::new() } else { self.commands.infos() }
    }

    /// Sets the kind of object that it shows.
    pub const fn shows(mut self, subject: Subject) -> Entry {
        self.place.subject = Some(subject);
        self
    }

    /// Sets the notation of what it shows: project, mark and number.
    pub const fn signed(mut self, mark: char) -> Entry {
        self.place.sign = Some(Sign { mark, in_group: false });
        self
    }

    /// Sets the notation of what it shows: group, mark and number.
    pub const fn signed_in_group(mut self, mark: char) -> Entry {
        self.place.sign = Some(Sign { mark, in_group: true });
        self
    }

    /// Sets the place above it.
    pub const fn below(mut self, above: Above) -> Entry {
        self.place.above = above;
        self
    }

    /// Sets the addresses that open it.
    pub const fn at(mut self, routes: &'static [&'static str]) -> Entry {
        self.place.routes = routes;
        self
    }

    /// Adds a global command that opens it.
    pub const fn reached_by(mut self, id: &'static str, keys: &'static [&'static str], title: &'static str) -> Entry {
        self.place.go = Some(Info { id, keys, title, short: "", writes: false });
        self
    }

    /// Names the operation that it shows: the place is not offered on a server that does not support it.
    pub const fn showing<E: Endpoint>(mut self) -> Entry {
        self.place.is_refused = |store| store.is_unsupported::<E>();
        self
    }

    /// Sets the words, in lower case, that find it in addition to its title.
    pub const fn known_as(mut self, synonyms: &'static [&'static str]) -> Entry {
        self.place.synonyms = synonyms;
        self
    }

    /// Sets what is shown beside the list of "go to anything".
    pub const fn previewed(mut self, open: PaneOpener) -> Entry {
        self.preview = Some(open);
        self
    }

    /// Marks the place as a list, which a query can filter.
    pub const fn filtered(mut self) -> Entry {
        self.place.is_list = true;
        self
    }

    /// Sets the name of what it lists for a project.
    pub const fn lists(mut self, what: &'static str) -> Entry {
        self.place.lists = Some(what);
        self
    }
}

/// Returns the facts about the places of `panes`, in the same order.
pub fn places(panes: &[Entry]) -> Vec<PlaceInfo> {
    panes.iter().map(|entry| entry.place).collect()
}
