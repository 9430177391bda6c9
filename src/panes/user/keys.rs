//! The SSH or GPG keys of a user: a list, and the details of the selected key.

use super::who::Who;
use crate::api::users::{
    DeleteGpgKey, DeleteKey, DeleteUserKey, GetGpgKey, GetKey, GetUserGpgKey, GpgKey, ListGpgKeys, ListKeys,
    ListUserGpgKeys, ListUserKeys, SshKey,
};
use crate::api::{Error, Fault, Id, Time};
use crate::app::overlay::batch;
use crate::app::pane::Breadcrumb;
use crate::app::permission;
use crate::domain::public_key::{self, Family, PublicKey};
use crate::parts::add_key::KeyOwner;
use crate::parts::facts::LinkTarget;
use crate::parts::list::prelude::*;
use crate::parts::text::dates::{day, time_ago};
use crate::store::{Load, Revision, Rows};
use crate::ui::text::{sanitize, wrap};
use std::collections::HashMap;
use std::marker::PhantomData;

/// The maximum number of lines of a key's text.
const MAX_TEXT_LINES: usize = 24;

/// A key as listed by the server.
pub(super) trait UserKey: Send + Sync + Sized + 'static {
    const FAMILY: Family;
    const HEADING: &'static str;
    /// Returns the query for the keys of a user.
    fn list(owner: &KeyOwner) -> ListQuery<Self>;
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
    const HEADING: &'static str = "SSH keys";

    fn list(owner: &KeyOwner) -> ListQuery<SshKey> {
        match owner {
            KeyOwner::Own => ListQuery::new(&ListKeys {}),
            KeyOwner::Of(id, _) => ListQuery::new(&ListUserKeys { id: Id::from(*id) }),
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
    const HEADING: &'static str = "GPG keys";

    fn list(owner: &KeyOwner) -> ListQuery<GpgKey> {
        match owner {
            KeyOwner::Own => ListQuery::new(&ListGpgKeys {}),
            KeyOwner::Of(id, _) => ListQuery::new(&ListUserGpgKeys { id: *id }),
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
pub(super) struct KeySource<K> {
    pub who: Who,
    /// The owner as of the last update.
    owner: Option<KeyOwner>,
    /// The parsed keys by ID, and the revision of the list that they were parsed from.
    known: HashMap<u64, Result<PublicKey, String>>,
    revision: Option<Revision>,
    kind: PhantomData<fn() -> K>,
}

/// The list of the keys of one family, and the facts of the selected one.
pub(super) type Keys<K> = ListPane<KeySource<K>>;

impl<K: UserKey> KeySource<K> {
    /// Returns the parsed key, if it is valid.
    fn read(&self, key: &K) -> Option<&PublicKey> {
        self.known.get(&key.id())?.as_ref().ok()
    }

    /// Returns the displayed name of a key: its title, its comment, or its ID.
    fn name(&self, key: &K) -> String {
        let known = self.read(key).map(|known| known.comment.as_str()).unwrap_or_default();
        let name = if key.title().is_empty() { known } else { key.title() };
        if name.is_empty() { format!("#{}", key.id()) } else { sanitize(name).into_owned() }
    }
}

impl<K: UserKey> ListSource for KeySource<K> {
    type Row = K;
    type Detail = Details;
    const LIST: ListInfo = ListInfo::new("user", "key", K::HEADING).widths(super::PANEL_WIDTHS);
    const COLUMNS: &'static [Column<Self>] = &[
        Column::<Self>::fill("name", "", 12, |source, key, _| Line::text(source.name(key))).weight(2),
        Column::<Self>::fit("kind", "", 5, 14, |source, key, _| {
            Line::new(source.read(key).map_or("?", |known| &known.kind), Role::Dim)
        })
        .drop_order(2),
        Column::<Self>::fit("fingerprint", "", 12, 51, |source, key, _| {
            Line::new(source.read(key).map_or("", |known| &known.fingerprint), Role::Ref)
        })
        .drop_order(3),
        Column::<Self>::age("created", "", K::created).drop_order(1),
    ];
    const COMMANDS: &'static [ListCommand<Self>] =
        &[Command::row("user.open", &["Enter"], "Open selection", |pane: &mut Keys<K>, _, cx| pane.open_details(cx))];

    fn open(place: &Place, _view: &View) -> Self {
        let who = Who::of(place);
        KeySource { who, owner: None, known: HashMap::new(), revision: None, kind: PhantomData }
    }

    fn place(&self, _: Place) -> Place {
        self.who.place()
    }

    fn breadcrumbs(&self, _: &Place, _: &View) -> Vec<Breadcrumb> {
        Vec::new()
    }

    fn query(&self, _: &Input<'_>, _: ServerOrder, view: &View) -> Option<ListQuery<K>> {
        self.who.key_owner(view).filter(|_| self.who.can_list(view)).map(|owner| K::list(&owner))
    }

    fn filter(&self, _: &Input<'_>) -> Filter<K> {
        Filter::Loaded(|key, words| {
            let says = |text: &str| text.to_lowercase().contains(words);
            let read = public_key::read(K::FAMILY, key.text());
            says(key.title()) || read.is_ok_and(|known| says(&known.comment) || says(&known.fingerprint))
        })
    }

    /// Parses the keys of a changed list.
    fn arrange_rows(pane: &mut Keys<K>, rows: &Rows<'_, K>, view: &View) {
        let source = &mut pane.source;
        source.owner = source.who.key_owner(view);
        if source.revision != Some(rows.revision) {
            source.revision = Some(rows.revision);
            source.known = rows.iter().map(|key| (key.id(), public_key::read(K::FAMILY, key.text()))).collect();
        }
    }

    fn key(key: &K) -> String {
        key.id().to_string()
    }

    fn empty(&self, _: usize) -> (&'static str, &'static str) {
        match (K::FAMILY, &self.owner) {
            (Family::Ssh, Some(KeyOwner::Of(..))) => {
                ("This user has no SSH keys.", "‹user.add_key› adds one, as an administrator")
            }
            (Family::Gpg, Some(KeyOwner::Of(..))) => ("This user has no GPG keys.", ""),
            (Family::Ssh, _) => ("You have no SSH keys here.", "‹user.add_key› adds one"),
            (Family::Gpg, _) => ("You have no GPG keys here.", "‹user.add_key› adds one"),
        }
    }

    fn instead(&self, _: &Input<'_>, error: Option<&Error>, _: &View) -> Option<(String, Cow<'static, str>)> {
        let why = "Only administrators can see the keys of other users.".to_owned();
        matches!(error?.fault, Fault::Denied(_)).then_some((why, "1 goes back to the profile".into()))
    }

    fn copies(&self, _view: &View, key: &K) -> Vec<Clip> {
        // A GPG key has several lines.
        let copy_key = if key.text().starts_with("-----BEGIN") { Clip::lines } else { Clip::line };
        let mut copies = vec![copy_key("key", key.text().to_owned())];
        copies.extend(self.read(key).map(|known| Clip::line("fingerprint", known.fingerprint.clone())));
        copies.push(Clip::line("ID", key.id().to_string()));
        copies
    }
}

impl<K: UserKey> Describes<Details> for KeySource<K> {
    fn describe(&self, facts: &mut Details, view: &View, key: &K) {
        facts.title(self.name(key), "");
        if let Some(load) = self.owner.as_ref().and_then(|owner| K::load_details(owner, key.id())) {
            facts.load(load);
        }
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
        facts.field("ID", Line::new(key.id().to_string(), Role::Dim), None);
        facts.line(Line::empty());
        for line in key.text().lines().take(MAX_TEXT_LINES) {
            facts.prose(line, 56, MAX_TEXT_LINES, Role::Dim);
        }
    }
}

/// Returns an error unless the selected key can be removed.
pub(super) fn can_remove<K: UserKey>(pane: &Keys<K>, view: &View) -> Result<(), Disabled> {
    match pane.source.who.key_owner(view).ok_or("the user has not loaded yet")? {
        KeyOwner::Own => {}
        KeyOwner::Of(..) if K::FAMILY == Family::Gpg => return Err("only its owner can remove a GPG key".into()),
        KeyOwner::Of(..) => permission::administrator(view)?,
    }
    pane.has_row(view)
}

/// Returns the action that asks for confirmation to remove the marked keys, or the one under the cursor.
pub(super) fn confirm_removal<K: UserKey>(keys: &Keys<K>, view: &View) -> Option<Action> {
    let owner = keys.source.owner.as_ref()?;
    let targets = keys.marked_or_selected(view);
    let what = K::FAMILY.name();
    let names: Vec<String> = targets.iter().map(|key| keys.source.name(key)).collect();
    let mut writes: Vec<Write> = Vec::new();
    for (key, name) in targets.iter().zip(&names) {
        writes.push(K::removal(owner, key.id(), format!("remove the {what} {name}"))?);
    }
    let after = match K::FAMILY {
        Family::Ssh => "It no longer gives access to this server.",
        Family::Gpg => "Commits signed with it no longer count as verified.",
    };
    let question = match writes.len() {
        0 => return None,
        1 => format!("Remove this {what}? {after}"),
        many => format!("Remove these {many} {what}s? {after}"),
    };
    Some(batch::confirm(&format!("Remove {what}s"), question, names, writes))
}
