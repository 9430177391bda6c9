//! Key bindings of every place: the defaults of the command table, with the user's own keys in place of them.

use super::command_info::Info;
use super::custom::CustomCommand;
use super::global;
use super::key_names::KeyNames;
use super::keymap::{Chord, Key, Meaning, find, parse_chord, refusal, show};
use super::registry::Entry;
use domain::mistakes::did_you_mean;
use std::collections::{BTreeMap, HashMap};

/// The former IDs of commands, which stay valid in the user's own keys, and the present ones.
pub const FORMER_IDS: &[(&str, &str)] = &[
    ("mr.next_comment", "mr.next_thread"),
    ("mr.previous_comment", "mr.previous_thread"),
    ("mr.worktree", "mr.check_out"),
    ("mr.remove_worktree", "mr.check_out"),
];

/// Keys of a command.
#[derive(Clone, Debug)]
struct Binding {
    chord: Chord,
    id: &'static str,
    /// Whether the user set them.
    is_own: bool,
}

/// The key bindings of all places.
#[derive(Clone, Debug, Default)]
pub struct Bindings {
    /// The ones of commands that are available everywhere.
    global: Vec<Binding>,
    /// All that apply in a place. Of two with the same keys, the first one counts.
    panes: HashMap<&'static str, Vec<Binding>>,
    names: KeyNames,
    /// The written keys that the user set and their commands, with other written keys that begin with them, or the other
    /// way around, and are hidden by them.
    hidden: BTreeMap<(String, &'static str), Vec<String>>,
}

/// An error in the user's own keys, with the command ID at which it occurred.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BindingError {
    /// No command has that ID; what to do about it.
    #[error("keys.\"{0}\": no such command; {1}")]
    Unknown(String, String),
    /// A key that cannot be parsed.
    #[error("keys.\"{0}\": \"{1}\" is not a key; write keys like \"C-d\", \"g h\", \"S-Tab\"")]
    NotAKey(String, String),
    /// A key for which terminals send another one, with that reason.
    #[error("keys.\"{0}\": {1}")]
    Refused(String, String),
    /// A key that the user set for two commands, or whose first keys are those of another command that the user set.
    #[error("keys.\"{id}\": \"{key}\" conflicts with \"{other_key}\" of {other}; change one of them")]
    Conflict { id: &'static str, key: String, other: &'static str, other_key: String },
}

impl BindingError {
    /// Returns the ID of the command at which the error occurred.
    pub fn id(&self) -> &str {
        match self {
            BindingError::Unknown(id, _) | BindingError::NotAKey(id, _) | BindingError::Refused(id, _) => id,
            BindingError::Conflict { id, .. } => id,
        }
    }
}

impl Bindings {
    /// Returns the keys of the table, replaced by those in `own` where that has an entry. A key in `own` is taken from
    /// the commands that have it in the table.
    pub fn new(registry: &[Entry], own: &HashMap<String, Vec<String>>) -> Result<Bindings, BindingError> {
        let mut bindings = Bindings::default();
        let own = &with_present_ids(own);
        let infos: Vec<Info> = global::infos(registry).collect();
        bindings.global = rows(&infos, own, &mut bindings.names)?;
        bindings.settle("");
        for entry in registry {
            let mut rows = rows(&entry.listed_commands(), own, &mut bindings.names)?;
            rows.extend_from_slice(&bindings.global);
            bindings.panes.insert(entry.place.id, rows);
            bindings.settle(entry.place.id);
        }
        match own.keys().find(|id| !bindings.names.has(id)) {
            Some(unknown) => {
                let meant = did_you_mean(unknown, bindings.names.ids());
                let advice = meant.unwrap_or_else(|| "`labscope keys` lists all of them".to_owned());
                Err(BindingError::Unknown(unknown.clone(), advice))
            }
            None => Ok(bindings),
        }
    }

    /// Adds the keys of custom commands, which take precedence over those of the table.
    ///
    /// # Errors
    /// Returns the index of a command whose keys are the beginning of others that the user set, or the other way around,
    /// and a message that names both.
    pub fn with_custom(mut self, commands: &[CustomCommand]) -> Result<Bindings, (usize, String)> {
        let places: Vec<&'static str> = std::iter::once("").chain(self.panes.keys().copied()).collect();
        // Of two commands with the same keys, the first one counts.
        for (index, command) in commands.iter().enumerate().rev() {
            let Some(chord) = &command.key else { continue };
            self.names.add(command.id, command.title, vec![show(chord)]);
            for place in places.iter().filter(|place| command.is_in(place)) {
                let rows = self.rows_mut(place);
                let hides = |other: &&Binding| other.is_own && other.chord != *chord && overlap(&other.chord, chord);
                if let Some(other) = rows.iter().find(hides) {
                    let (key, other_key) = (show(chord), show(&other.chord));
                    return Err((index, format!("\"{key}\" conflicts with \"{other_key}\" ({})", other.id)));
                }
                rows.insert(0, Binding { chord: chord.clone(), id: command.id, is_own: true });
                self.settle(place);
            }
        }
        Ok(self)
    }

    fn rows_mut(&mut self, place: &str) -> &mut Vec<Binding> {
        self.panes.get_mut(place).unwrap_or(&mut self.global)
    }

    /// Removes the bindings of a place, or of commands that are available everywhere, that another one hides: those that
    /// the user set are in force, and what they leave is.
    fn settle(&mut self, place: &str) {
        let mut rows = std::mem::take(self.rows_mut(place));
        rows.sort_by_key(|row| !row.is_own);
        let mut left: Vec<Binding> = Vec::new();
        for row in rows {
            let hides = |other: &Binding| other.is_own && other.id != row.id && overlap(&other.chord, &row.chord);
            let Some(other) = left.iter().find(|other| hides(other)) else {
                left.push(row);
                continue;
            };
            if other.chord != row.chord {
                let (keys, hidden) = (self.hidden.entry((show(&other.chord), other.id)).or_default(), show(&row.chord));
                if !keys.contains(&hidden) {
                    keys.push(hidden);
                }
            }
            if place.is_empty() || !self.global.iter().any(|other| other.id == row.id) {
                self.names.remove(row.id, &show(&row.chord));
            }
        }
        *self.rows_mut(place) = left;
    }

    /// Names the keys that others hide because the user set those, such as `g h` by `g`; `None` if there are none.
    pub fn hidden(&self) -> Option<String> {
        let words =
            self.hidden.iter().map(|((key, id), keys)| format!("the key {key} of {id} hides {}", keys.join(", ")));
        let all: Vec<String> = words.collect();
        (!all.is_empty()).then(|| all.join("; "))
    }

    /// Returns the keys that apply in `pane`.
    fn rows<'a>(&'a self, pane: &str) -> impl Iterator<Item = (&'a [Key], &'static str)> + use<'a> {
        let rows = self.panes.get(pane).unwrap_or(&self.global);
        rows.iter().map(|row| (row.chord.as_slice(), row.id))
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

/// Returns whether one of two key sequences begins with the other one.
fn overlap(one: &[Key], other: &[Key]) -> bool {
    one.starts_with(other) || other.starts_with(one)
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

/// Returns the keys of the commands of a place, or of those that are available everywhere.
fn rows(
    infos: &[Info],
    own: &HashMap<String, Vec<String>>,
    key_names: &mut KeyNames,
) -> Result<Vec<Binding>, BindingError> {
    let mut rows: Vec<Binding> = Vec::new();
    for info in infos {
        let (keys, is_own) = match own.get(info.id) {
            Some(keys) => (keys.clone(), true),
            None => (info.keys.iter().map(|k| (*k).to_owned()).collect(), false),
        };
        let mut names = Vec::new();
        for key in keys {
            let chord = parse_chord(&key).ok_or_else(|| BindingError::NotAKey(info.id.to_owned(), key.clone()))?;
            if is_own && let Some(why) = refusal(&chord) {
                return Err(BindingError::Refused(info.id.to_owned(), why));
            }
            let is_same = |other: &&Binding| other.is_own && other.id != info.id && overlap(&other.chord, &chord);
            if is_own && let Some(other) = rows.iter().find(is_same) {
                let (key, other_key) = (show(&chord), show(&other.chord));
                return Err(BindingError::Conflict { id: info.id, key, other: other.id, other_key });
            }
            names.push(show(&chord));
            rows.push(Binding { chord, id: info.id, is_own });
        }
        key_names.add(info.id, info.title, names);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn global_keys_are_unique() {
        let bindings = Bindings::new(&[], &HashMap::new()).unwrap_or_default();
        for (index, row) in bindings.global.iter().enumerate() {
            for other in &bindings.global[index + 1..] {
                let keys = show(&row.chord);
                assert!(!overlap(&row.chord, &other.chord), "{keys}: {} and {}", row.id, other.id);
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
        assert!(matches!(Bindings::new(&[], &own("nope", "x")), Err(BindingError::Unknown(..))));
        assert!(matches!(Bindings::new(&[], &own("quit", "Ctrl+Q")), Err(BindingError::NotAKey(..))));
    }
}
