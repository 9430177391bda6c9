//! The SSH or GPG keys of a user: a list, and the details of the selected key.

use crate::api::users::{
    DeleteGpgKey, DeleteKey, DeleteUserKey, GetGpgKey, GetKey, GetUserGpgKey, GpgKey, ListGpgKeys, ListKeys,
    ListUserGpgKeys, ListUserKeys, SshKey,
};
use crate::api::{Fault, Id, Time};
use crate::app::action::Action;
use crate::app::clip::Clip;
use crate::app::motion::Motion;
use crate::app::overlay::batch::Batch;
use crate::app::overlay::confirm::Confirm;
use crate::app::view::View;
use crate::domain::public_key::{self, Family, PublicKey};
use crate::parts::add_key::KeyOwner;
use crate::parts::facts::{Details, LinkTarget, WIDE_NAME_WIDTH};
use crate::parts::list::{Listing, age, day, time_ago};
use crate::store::{Load, Revision, Rows, Want, Write};
use crate::ui::line::Line;
use crate::ui::panels::{self, Panels};
use crate::ui::state;
use crate::ui::table::{Column, Row, Size};
use crate::ui::text::{sanitize, wrap};
use crate::ui::theme::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::collections::HashMap;
use std::time::Duration;

/// The delay after the selection moved before the details of a key are fetched.
const FETCH_DELAY: Duration = Duration::from_millis(150);
/// The maximum number of lines of a key's text.
const MAX_TEXT_LINES: usize = 24;

/// A key as listed by the server.
pub trait UserKey: Send + Sync + Sized + 'static {
    const FAMILY: Family;
    fn rows<'a>(view: &View<'a>, owner: &KeyOwner) -> Rows<'a, Self>;
    fn load(owner: &KeyOwner, pages: u32) -> Load;
    /// Returns the request for a single key, if the API has one.
    fn load_details(owner: &KeyOwner, id: u64) -> Option<Load>;
    /// Returns the request that removes the key, if the API has one.
    fn removal(owner: &KeyOwner, id: u64, what: String) -> Option<Write>;
    fn id(&self) -> u64;
    fn title(&self) -> &str;
    fn text(&self) -> &str;
    fn created(&self) -> Option<&Time>;
    /// Returns facts that only keys of this family have: names and texts.
    fn more(&self, view: &View) -> Vec<(&'static str, String)>;
}

fn since(view: &View, time: Option<&Time>) -> String {
    time_ago(view, time)
}

impl UserKey for SshKey {
    const FAMILY: Family = Family::Ssh;

    fn rows<'a>(view: &View<'a>, owner: &KeyOwner) -> Rows<'a, SshKey> {
        match owner {
            KeyOwner::Own => view.store.list(&ListKeys {}),
            KeyOwner::Of(id, _) => view.store.list(&ListUserKeys { id: Id::from(*id) }),
        }
    }

    fn load(owner: &KeyOwner, pages: u32) -> Load {
        match owner {
            KeyOwner::Own => Load::list(&ListKeys {}, pages),
            KeyOwner::Of(id, _) => Load::list(&ListUserKeys { id: Id::from(*id) }, pages),
        }
    }

    fn load_details(owner: &KeyOwner, key_id: u64) -> Option<Load> {
        (*owner == KeyOwner::Own).then(|| Load::single(&GetKey { key_id }))
    }

    fn removal(owner: &KeyOwner, key_id: u64, what: String) -> Option<Write> {
        Some(match owner {
            KeyOwner::Own => Write::new(&DeleteKey { key_id }, what),
            KeyOwner::Of(id, _) => Write::new(&DeleteUserKey { id: *id, key_id }, what),
        })
    }

    fn id(&self) -> u64 {
        self.id
    }

    fn title(&self) -> &str {
        &self.title
    }

    fn text(&self) -> &str {
        &self.key
    }

    fn created(&self) -> Option<&Time> {
        self.created_at.as_ref()
    }

    fn more(&self, view: &View) -> Vec<(&'static str, String)> {
        vec![
            ("used for", self.usage_type.clone().unwrap_or_default().replace('_', " ")),
            ("last used", since(view, self.last_used_at.as_ref())),
            ("expires", self.expires_at.as_ref().map(day).unwrap_or_default()),
        ]
    }
}

impl UserKey for GpgKey {
    const FAMILY: Family = Family::Gpg;

    fn rows<'a>(view: &View<'a>, owner: &KeyOwner) -> Rows<'a, GpgKey> {
        match owner {
            KeyOwner::Own => view.store.list(&ListGpgKeys {}),
            KeyOwner::Of(id, _) => view.store.list(&ListUserGpgKeys { id: *id }),
        }
    }

    fn load(owner: &KeyOwner, pages: u32) -> Load {
        match owner {
            KeyOwner::Own => Load::list(&ListGpgKeys {}, pages),
            KeyOwner::Of(id, _) => Load::list(&ListUserGpgKeys { id: *id }, pages),
        }
    }

    fn load_details(owner: &KeyOwner, key_id: u64) -> Option<Load> {
        Some(match owner {
            KeyOwner::Own => Load::single(&GetGpgKey { key_id }),
            KeyOwner::Of(id, _) => Load::single(&GetUserGpgKey { id: *id, key_id }),
        })
    }

    fn removal(owner: &KeyOwner, key_id: u64, what: String) -> Option<Write> {
        (*owner == KeyOwner::Own).then(|| Write::new(&DeleteGpgKey { key_id }, what))
    }

    fn id(&self) -> u64 {
        self.id
    }

    fn title(&self) -> &str {
        ""
    }

    fn text(&self) -> &str {
        &self.key
    }

    fn created(&self) -> Option<&Time> {
        self.created_at.as_ref()
    }

    fn more(&self, _view: &View) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}

/// The keys of one family.
pub struct Keys<K> {
    pub list: Listing,
    pub facts: Details,
    /// The parsed keys by ID, and the revision of the list that they were parsed from.
    known: HashMap<u64, Result<PublicKey, String>>,
    revision: Option<Revision>,
    kind: std::marker::PhantomData<fn() -> K>,
}

impl<K: UserKey> Default for Keys<K> {
    fn default() -> Keys<K> {
        let known = HashMap::new();
        Keys {
            list: Listing::default(),
            facts: Details::default().names(WIDE_NAME_WIDTH),
            known,
            revision: None,
            kind: std::marker::PhantomData,
        }
    }
}

impl<K: UserKey> Keys<K> {
    /// Returns the key under the cursor.
    pub fn current<'a>(&self, view: &View<'a>, owner: &KeyOwner) -> Option<&'a K> {
        self.list.selected(&K::rows(view, owner))
    }

    /// Returns the parsed key, if it is valid.
    fn read(&self, key: &K) -> Option<&PublicKey> {
        self.known.get(&key.id())?.as_ref().ok()
    }

    /// Returns the displayed name of a key: its title, its comment, or its ID.
    pub fn name(&self, key: &K) -> String {
        let known = self.read(key).map(|known| known.comment.as_str()).unwrap_or_default();
        let name = if key.title().is_empty() { known } else { key.title() };
        if name.is_empty() { format!("#{}", key.id()) } else { sanitize(name).into_owned() }
    }

    /// Returns the copyable texts of the key under the cursor.
    pub fn copies(&self, view: &View, owner: &KeyOwner) -> Vec<Clip> {
        let Some(key) = self.current(view, owner) else { return Vec::new() };
        // A GPG key has several lines.
        let copy_key = if key.text().starts_with("-----BEGIN") { Clip::lines } else { Clip::line };
        let mut copies = vec![copy_key("key", key.text().to_owned())];
        copies.extend(self.read(key).map(|known| Clip::line("fingerprint", known.fingerprint.clone())));
        copies.push(Clip::line("number", key.id().to_string()));
        copies
    }

    pub fn wants(&self, view: &View, owner: &KeyOwner, shows_details: bool) -> Vec<Want> {
        let mut wants = vec![K::load(owner, self.list.pages()).into()];
        let one = self.current(view, owner).filter(|_| shows_details).and_then(|key| K::load_details(owner, key.id()));
        wants.extend(one.map(|load| Want::from(load.after(FETCH_DELAY))));
        wants
    }

    pub fn changed(&mut self, view: &View, owner: &KeyOwner) {
        let rows = K::rows(view, owner);
        if self.revision != Some(rows.revision) {
            self.revision = Some(rows.revision);
            self.known = rows.iter().map(|key| (key.id(), public_key::read(K::FAMILY, key.text()))).collect();
        }
        let known = &self.known;
        self.list.narrow(&rows, |key, words| {
            let says = |text: &str| text.to_lowercase().contains(words);
            let read = known.get(&key.id()).and_then(|known| known.as_ref().ok());
            says(key.title()) || read.is_some_and(|known| says(&known.comment) || says(&known.fingerprint))
        });
        self.list.sync(&rows, |key| key.id().to_string());
        self.facts.clear();
        if let Some(key) = self.list.selected(&rows) {
            self.fill_facts(view, key);
        }
    }

    fn fill_facts(&mut self, view: &View, key: &K) {
        let facts = &mut self.facts;
        if !key.title().is_empty() {
            facts.field("title", Line::new(key.title().to_owned(), Role::Title), None);
        }
        match self.known.get(&key.id()) {
            Some(Ok(known)) => {
                facts.field("kind", Line::new(known.kind.clone(), Role::Text), None);
                let print = known.fingerprint.clone();
                for (index, part) in wrap(&print, 52, 3).into_iter().enumerate() {
                    let link = Some(LinkTarget::Copy(Clip::line("fingerprint", print.clone())));
                    facts.field(if index == 0 { "fingerprint" } else { "" }, Line::new(part, Role::Ref), link);
                }
                if !known.comment.is_empty() {
                    facts.field("comment", Line::new(known.comment.clone(), Role::Text), None);
                }
            }
            Some(Err(why)) => facts.field("kind", Line::new(why.clone(), Role::Warning), None),
            None => {}
        }
        facts.field("added", Line::new(since(view, key.created()), Role::Text), None);
        for (name, words) in key.more(view).into_iter().filter(|(_, words)| !words.is_empty()) {
            facts.field(name, Line::new(words, Role::Text), None);
        }
        facts.field("number", Line::new(key.id().to_string(), Role::Dim), None);
        facts.line(Line::empty());
        for line in key.text().lines().take(MAX_TEXT_LINES) {
            facts.prose(line, 56, MAX_TEXT_LINES, Role::Dim);
        }
    }

    pub fn draw(&self, view: &View, area: Rect, buf: &mut Buffer, focused: bool, owner: &KeyOwner) {
        let theme = view.theme;
        let (title, empty) = match (K::FAMILY, owner) {
            (Family::Ssh, KeyOwner::Own) => ("SSH keys", ("You have no SSH keys here.", "‹user.add_key› adds one")),
            (Family::Gpg, KeyOwner::Own) => ("GPG keys", ("You have no GPG keys here.", "‹user.add_key› adds one")),
            (Family::Ssh, _) => {
                ("SSH keys", ("This user has no SSH keys.", "‹user.add_key› adds one, as an administrator"))
            }
            (Family::Gpg, _) => ("GPG keys", ("This user has no GPG keys.", "")),
        };
        let body = panels::title(buf, area, theme, focused, title, "");
        let rows = K::rows(view, owner);
        if let Some(error) = rows.error.filter(|error| rows.is_empty() && matches!(error.fault, Fault::Denied(_))) {
            let why = "Only administrators can see the keys of other users.";
            return state::failure(buf, body, theme, why, &error.tried, &error.message(), "1 goes back to the profile");
        }
        let columns = [
            Column::new("", Size::Fill { min: 12, weight: 2 }),
            Column::new("", Size::Fit { min: 5, max: 14 }).drop_order(2),
            Column::new("", Size::Fit { min: 12, max: 51 }).drop_order(3),
            Column::new("", Size::Fixed(4)).right().drop_order(1),
        ];
        let row = |key: &K| {
            let read = self.read(key);
            Row::new(vec![
                Line::new(self.name(key), Role::Text),
                Line::new(read.map_or("?".into(), |known| known.kind.clone()), Role::Dim),
                Line::new(read.map(|known| known.fingerprint.clone()).unwrap_or_default(), Role::Ref),
                Line::new(age(view, key.created()), Role::Dim),
            ])
            .marked(self.list.state.is_marked(&key.id().to_string()))
        };
        self.list.draw(view, body, buf, focused, &rows, &columns, row, empty);
    }

    pub fn draw_facts(&self, view: &View, area: Rect, buf: &mut Buffer, focused: bool, owner: &KeyOwner) {
        let name = self.current(view, owner).map(|key| self.name(key)).unwrap_or_default();
        let body = panels::title(buf, area, view.theme, focused, &name, "");
        self.facts.draw(view, body, buf, focused);
    }

    pub fn hide(&self) {
        self.list.drawn_at(Rect::default());
        self.facts.hide();
    }

    /// Moves the cursor of the focused panel.
    pub fn motion(&mut self, motion: Motion, view: &View, owner: &KeyOwner, panels: &mut Panels) {
        match (panels.focus(), motion) {
            (0, Motion::Right) => panels.set_focus(1),
            (0, Motion::Left) => {}
            (0, other) => self.list.motion(other, self.list.len(&K::rows(view, owner))),
            (_, Motion::Left) => panels.set_focus(0),
            (_, other) => self.facts.motion(other),
        }
    }
}

/// Toggles the mark of the key under the cursor, and moves to the next one.
pub fn mark<K: UserKey>(keys: &mut Keys<K>, view: &View, owner: &KeyOwner) {
    if let Some(key) = keys.current(view, owner) {
        keys.list.state.toggle_mark(key.id().to_string());
    }
    keys.list.motion(Motion::Down, keys.list.len(&K::rows(view, owner)));
}

/// Returns the action that asks for confirmation to remove the marked keys, or the one under the cursor.
pub fn confirm_removal<K: UserKey>(keys: &Keys<K>, view: &View, owner: &KeyOwner) -> Option<Action> {
    let rows = K::rows(view, owner);
    let mut targets: Vec<&K> = rows.iter().filter(|key| keys.list.state.is_marked(&key.id().to_string())).collect();
    if targets.is_empty() {
        targets.extend(keys.current(view, owner));
    }
    let what = K::FAMILY.name();
    let names: Vec<String> = targets.iter().map(|key| keys.name(key)).collect();
    let mut writes: Vec<Write> = Vec::new();
    for (key, name) in targets.iter().zip(&names) {
        writes.push(K::removal(owner, key.id(), format!("remove the {what} {name}"))?);
    }
    let after = match K::FAMILY {
        Family::Ssh => "It no longer gives access to this server.",
        Family::Gpg => "Commits signed with it no longer count as verified.",
    };
    let (question, action) = match writes.as_slice() {
        [] => return None,
        [one] => (format!("Remove this {what}? {after}"), Action::Send(one.clone())),
        many => {
            let batch = Batch::new(format!("Remove {what}s"), many.to_vec());
            (format!("Remove these {} {what}s? {after}", many.len()), Action::OpenOverlay(Box::new(batch)))
        }
    };
    Some(Action::OpenOverlay(Box::new(Confirm::new(format!("Remove {what}s"), question, action).naming(names))))
}
