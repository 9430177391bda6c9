//! Key bindings of every place: the defaults of the command table, with the user's own keys in place of them.

use super::command_info::Info;
use super::custom::CustomCommand;
use super::global;
use super::key_names::KeyNames;
use super::keymap::{Chord, Key, Meaning, find, parse_chord, show};
use super::registry::Entry;
use std::collections::HashMap;

/// The former IDs of commands, which stay valid in the user's own keys, and the present ones.
const FORMER_IDS: &[(&str, &str)] =
    &[("mr.next_comment", "mr.next_thread"), ("mr.previous_comment", "mr.previous_thread")];

/// The key bindings of all places.
#[derive(Clone, Debug, Default)]
pub struct Bindings {
    global: Vec<(Chord, &'static str)>,
    /// The keys of custom commands, each with the places where it is offered.
    custom: Vec<(Chord, &'static str, Vec<String>)>,
    panes: HashMap<&'static str, Vec<(Chord, &'static str)>>,
    names: KeyNames,
}

/// An error in the user's own keys, with the command ID at which it occurred.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BindingError {
    /// No command has that ID.
    #[error("keys.\"{0}\": no such command; `labscope keys` lists all of them")]
    Unknown(String),
    /// A key that cannot be parsed.
    #[error("keys.\"{0}\": \"{1}\" is not a key; write keys like \"C-d\", \"g h\", \"S-Tab\"")]
    NotAKey(String, String),
    /// A key that another command has, or whose first keys are those of another command.
    #[error("keys.\"{id}\": \"{key}\" conflicts with \"{other_key}\" of {other}; change one of them")]
    Conflict { id: &'static str, key: String, other: &'static str, other_key: String },
}

impl BindingError {
    /// Returns the ID of the command at which the error occurred.
    pub fn id(&self) -> &str {
        match self {
            BindingError::Unknown(id) | BindingError::NotAKey(id, _) => id,
            BindingError::Conflict { id, .. } => id,
        }
    }
}

impl Bindings {
    /// Returns the keys of the table, replaced by those in `own` where that has an entry.
    pub fn new(registry: &[Entry], own: &HashMap<String, Vec<String>>) -> Result<Bindings, BindingError> {
        let mut bindings = Bindings::default();
        let own = &with_present_ids(own);
        let mut known: Vec<&'static str> = Vec::new();
        let global: Vec<Info> = global::infos(registry).collect();
        bindings.global = rows(&global, own, &mut known, &mut bindings.names)?;
        for entry in registry {
            let infos = entry.listed_commands();
            let rows = rows(&infos, own, &mut known, &mut bindings.names)?;
            check_conflicts(&rows, &bindings.global, own)?;
            bindings.panes.insert(entry.place.id, rows);
        }
        check_conflicts(&bindings.global, &[], own)?;
        match own.keys().find(|id| !known.contains(&id.as_str())) {
            Some(unknown) => Err(BindingError::Unknown(unknown.clone())),
            None => Ok(bindings),
        }
    }

    /// Adds the keys of custom commands, which take precedence over those of the table.
    ///
    /// # Errors
    /// Returns the index of a command whose keys are the beginning of those of another one, or the other way around,
    /// and a message that names both.
    pub fn with_custom(mut self, commands: &[CustomCommand]) -> Result<Bindings, (usize, String)> {
        for (index, command) in commands.iter().enumerate() {
            let Some(chord) = &command.key else { continue };
            let hides = |other: &Chord| other != chord && (other.starts_with(chord) || chord.starts_with(other));
            let places = self.panes.iter().filter(|(pane, _)| command.is_in(pane)).flat_map(|(_, rows)| rows);
            if let Some((other, id)) = self.global.iter().chain(places).find(|(other, _)| hides(other)) {
                return Err((index, format!("\"{}\" conflicts with \"{}\" ({id})", show(chord), show(other))));
            }
            self.names.add(command.id, command.title, vec![show(chord)]);
            self.custom.push((chord.clone(), command.id, command.places.clone()));
        }
        Ok(self)
    }

    /// Returns the keys that apply in `pane`: those of custom commands, of the place, and of global commands.
    fn rows<'a>(&'a self, pane: &'a str) -> impl Iterator<Item = (&'a [Key], &'static str)> {
        let is_in = move |places: &[String]| places.is_empty() || places.iter().any(|place| place == pane);
        let custom = self.custom.iter().filter(move |(_, _, places)| is_in(places));
        let own = self.panes.get(pane).map(Vec::as_slice).unwrap_or_default();
        let table = own.iter().chain(&self.global).map(|(chord, id)| (chord.as_slice(), *id));
        custom.map(|(chord, id, _)| (chord.as_slice(), *id)).chain(table)
    }

    /// Returns the meaning of `pressed` in `pane`; commands of the place take precedence over global ones.
    pub fn meaning(&self, pane: &str, pressed: &[Key]) -> Meaning<&'static str> {
        find(pressed, self.rows(pane))
    }

    /// Returns the possible continuations of `pressed` in `pane`: the remaining keys, and the command.
    pub fn continuations(&self, pane: &str, pressed: &[Key]) -> Vec<(String, &'static str)> {
        self.rows(pane)
            .filter(|(chord, _)| chord.len() > pressed.len() && chord.starts_with(pressed))
            .map(|(chord, id)| (show(chord.get(pressed.len()..).unwrap_or_default()), id))
            .collect()
    }

    /// Returns the written keys of all commands.
    pub fn names(&self) -> &KeyNames {
        &self.names
    }
}

/// Returns the user's own keys with the present IDs of commands.
fn with_present_ids(own: &HashMap<String, Vec<String>>) -> HashMap<String, Vec<String>> {
    let mut own = own.clone();
    for (former, present) in FORMER_IDS {
        if let Some(keys) = own.remove(*former) {
            own.entry((*present).to_owned()).or_insert(keys);
        }
    }
    own
}

/// Checks the user's own keys among those of a place: each must be that of one command, and must not begin the keys of
/// another one. A place may give another meaning to a global key.
fn check_conflicts(
    place: &[(Chord, &'static str)],
    global: &[(Chord, &'static str)],
    own: &HashMap<String, Vec<String>>,
) -> Result<(), BindingError> {
    let all = || place.iter().chain(global);
    for (chord, id) in all().filter(|(_, id)| own.contains_key(*id)) {
        let is_in = |rows: &[(Chord, &'static str)]| rows.iter().any(|(_, other)| other == id);
        let hides = |other: &Chord| other != chord && (other.starts_with(chord) || chord.starts_with(other));
        let is_same = |other: &Chord, rows: &[(Chord, &'static str)]| other == chord && is_in(rows);
        let conflict = place
            .iter()
            .map(|row| (row, place))
            .chain(global.iter().map(|row| (row, global)))
            .find(|((other, other_id), rows)| other_id != id && (hides(other) || is_same(other, rows)));
        if let Some(((other_key, other), _)) = conflict {
            let (key, other_key) = (show(chord), show(other_key));
            return Err(BindingError::Conflict { id, key, other, other_key });
        }
    }
    Ok(())
}

fn rows(
    infos: &[Info],
    own: &HashMap<String, Vec<String>>,
    known: &mut Vec<&'static str>,
    key_names: &mut KeyNames,
) -> Result<Vec<(Chord, &'static str)>, BindingError> {
    let mut rows = Vec::new();
    for info in infos {
        known.push(info.id);
        let keys: Vec<String> = match own.get(info.id) {
            Some(keys) => keys.clone(),
            None => info.keys.iter().map(|k| (*k).to_owned()).collect(),
        };
        let mut names = Vec::new();
        for key in keys {
            let chord = parse_chord(&key).ok_or_else(|| BindingError::NotAKey(info.id.to_owned(), key.clone()))?;
            names.push(show(&chord));
            rows.push((chord, info.id));
        }
        key_names.add(info.id, info.title, names);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panes::PANES;

    #[test]
    fn global_keys_are_unique() {
        let bindings = Bindings::new(&[], &HashMap::new()).unwrap_or_default();
        for (index, (chord, id)) in bindings.global.iter().enumerate() {
            for (other, other_id) in &bindings.global[index + 1..] {
                assert!(!chord.starts_with(other) && !other.starts_with(chord), "{}: {id} and {other_id}", show(chord));
            }
        }
    }

    #[test]
    fn custom_keys_replace_defaults_and_errors_are_reported() {
        let own = |id: &str, key: &str| HashMap::from([(id.to_owned(), vec![key.to_owned()])]);
        let bindings = Bindings::new(&[], &own("quit", "C-q")).unwrap_or_default();
        let pressed = |text: &str| bindings.meaning("", &parse_chord(text).unwrap_or_default());
        assert_eq!(pressed("C-q"), Meaning::Found("quit"));
        assert_eq!(pressed("Q"), Meaning::Nothing);
        assert!(matches!(Bindings::new(&[], &own("nope", "x")), Err(BindingError::Unknown(_))));
        assert!(matches!(Bindings::new(&[], &own("quit", "Ctrl+Q")), Err(BindingError::NotAKey(..))));
    }

    #[test]
    fn former_ids_of_commands_stay_valid() {
        let keys = |text: &str| vec![text.to_owned()];
        let meaning = |own: &[(&str, &str)], pressed: &str| {
            let own = own.iter().map(|(id, key)| ((*id).to_owned(), keys(key))).collect();
            let bindings = Bindings::new(PANES, &own).expect("valid keys");
            bindings.meaning("mr", &parse_chord(pressed).unwrap_or_default())
        };
        assert_eq!(meaning(&[("mr.next_comment", "F9")], "F9"), Meaning::Found("mr.next_thread"));
        // The present ID counts if both are given.
        let both = [("mr.next_comment", "F9"), ("mr.next_thread", "F8")];
        assert_eq!(meaning(&both, "F9"), Meaning::Nothing);
        assert_eq!(meaning(&both, "F8"), Meaning::Found("mr.next_thread"));
        for (_, present) in FORMER_IDS {
            assert!(Bindings::new(PANES, &HashMap::from([((*present).to_owned(), keys("F9"))])).is_ok(), "{present}");
        }
    }

    #[test]
    fn conflicts_of_own_keys_name_both_commands() {
        let new = |rows: &[(&str, &str)]| {
            let own = rows.iter().map(|(id, key)| ((*id).to_owned(), vec![(*key).to_owned()])).collect();
            Bindings::new(PANES, &own).map(drop).map_err(|error| error.to_string())
        };
        let same = "keys.\"quit\": \"r\" conflicts with \"r\" of refresh; change one of them";
        assert_eq!(new(&[("quit", "r")]), Err(same.to_owned()));
        let first = "keys.\"quit\": \"g\" conflicts with";
        assert!(new(&[("quit", "g")]).is_err_and(|error| error.starts_with(first)));
        let in_place = "keys.\"todos.done\": \"X\" conflicts with \"X\" of todos.done_all; change one of them";
        assert_eq!(new(&[("todos.done", "X")]), Err(in_place.to_owned()));
        // Two commands may swap their keys, and a place may give another meaning to a global key.
        assert_eq!(new(&[("todos.done", "X"), ("todos.done_all", "x")]), Ok(()));
        assert_eq!(new(&[("todos.done", "r")]), Ok(()));
        assert_eq!(new(&[("refresh", "x")]), Ok(()));
    }
}
