//! Which keys mean which command in which place: the table's own keys, with the user's in their stead.

use super::command::Info;
use super::custom::CustomCommand;
use super::global;
use super::keymap::{Chord, Key, Meaning, find, parse_chord, show};
use super::registry::Entry;
use std::collections::HashMap;

/// All keys, by place.
#[derive(Clone, Debug, Default)]
pub struct Bindings {
    global: Vec<(Chord, &'static str)>,
    /// Keys of the commands of the configuration, each with the places where it is offered.
    custom: Vec<(Chord, &'static str, Vec<String>)>,
    panes: HashMap<&'static str, Vec<(Chord, &'static str)>>,
    shown: HashMap<&'static str, String>,
}

/// A mistake in the user's own keys, with the name it was made at.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BindingError {
    /// No command has that name.
    #[error("keys.\"{0}\": there is no command of that name; `labscope keys` lists them")]
    Unknown(String),
    /// A key that cannot be read.
    #[error("keys.\"{0}\": \"{1}\" is no key; write them like \"C-d\", \"g h\", \"S-Tab\"")]
    NotAKey(String, String),
}

impl Bindings {
    /// The keys of the table, where `own` names other ones.
    pub fn new(registry: &[Entry], own: &HashMap<String, Vec<String>>) -> Result<Bindings, BindingError> {
        let mut bindings = Bindings::default();
        let mut known: Vec<&'static str> = Vec::new();
        let global: Vec<Info> = global::infos(registry).collect();
        bindings.global = rows(&global, own, &mut known, &mut bindings.shown)?;
        for entry in registry {
            let infos = (entry.commands)();
            let rows = rows(&infos, own, &mut known, &mut bindings.shown)?;
            bindings.panes.insert(entry.id, rows);
        }
        match own.keys().find(|id| !known.contains(&id.as_str())) {
            Some(unknown) => Err(BindingError::Unknown(unknown.clone())),
            None => Ok(bindings),
        }
    }

    /// With the keys of the commands of the configuration, which go before those of the table.
    ///
    /// # Errors
    /// The index of a command whose keys begin those of another one, or the other way round, and what these are.
    pub fn with_custom(mut self, commands: &[CustomCommand]) -> Result<Bindings, (usize, String)> {
        for (index, command) in commands.iter().enumerate() {
            let Some(chord) = &command.key else { continue };
            let hides = |other: &Chord| other != chord && (other.starts_with(chord) || chord.starts_with(other));
            let places = self.panes.iter().filter(|(pane, _)| command.is_in(pane)).flat_map(|(_, rows)| rows);
            if let Some((other, id)) = self.global.iter().chain(places).find(|(other, _)| hides(other)) {
                return Err((index, format!("\"{}\" cannot be told from \"{}\" ({id})", show(chord), show(other))));
            }
            self.shown.insert(command.id, show(chord));
            self.custom.push((chord.clone(), command.id, command.places.clone()));
        }
        Ok(self)
    }

    /// The keys that hold in `pane`: those of the user's own commands, of the place, and of every place.
    fn rows<'a>(&'a self, pane: &'a str) -> impl Iterator<Item = (&'a [Key], &'static str)> {
        let is_in = move |places: &[String]| places.is_empty() || places.iter().any(|place| place == pane);
        let custom = self.custom.iter().filter(move |(_, _, places)| is_in(places));
        let own = self.panes.get(pane).map(Vec::as_slice).unwrap_or_default();
        let table = own.iter().chain(&self.global).map(|(chord, id)| (chord.as_slice(), *id));
        custom.map(|(chord, id, _)| (chord.as_slice(), *id)).chain(table)
    }

    /// Returns what `pressed` means in `pane`; its own commands go before those of every place.
    pub fn meaning(&self, pane: &str, pressed: &[Key]) -> Meaning<&'static str> {
        find(pressed, self.rows(pane))
    }

    /// Returns what `pressed` can go on to in `pane`: the rest of the keys, and the command.
    pub fn continuations(&self, pane: &str, pressed: &[Key]) -> Vec<(String, &'static str)> {
        self.rows(pane)
            .filter(|(chord, _)| chord.len() > pressed.len() && chord.starts_with(pressed))
            .map(|(chord, id)| (show(chord.get(pressed.len()..).unwrap_or_default()), id))
            .collect()
    }

    /// The keys of a command, as people write them.
    pub fn shown(&self, id: &str) -> &str {
        self.shown.get(id).map(String::as_str).unwrap_or_default()
    }

    /// The first of the keys of a command.
    pub fn first(&self, id: &str) -> &str {
        let shown = self.shown(id);
        shown.split(" · ").next().unwrap_or(shown)
    }
}

fn rows(
    infos: &[Info],
    own: &HashMap<String, Vec<String>>,
    known: &mut Vec<&'static str>,
    shown: &mut HashMap<&'static str, String>,
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
        shown.insert(info.id, names.join(" · "));
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_of_every_place_means_two_things() {
        let bindings = Bindings::new(&[], &HashMap::new()).unwrap_or_default();
        for (index, (chord, id)) in bindings.global.iter().enumerate() {
            for (other, other_id) in &bindings.global[index + 1..] {
                assert!(!chord.starts_with(other) && !other.starts_with(chord), "{}: {id} and {other_id}", show(chord));
            }
        }
    }

    #[test]
    fn a_person_s_key_replaces_the_table_s_and_mistakes_are_named() {
        let own = |id: &str, key: &str| HashMap::from([(id.to_owned(), vec![key.to_owned()])]);
        let bindings = Bindings::new(&[], &own("quit", "C-q")).unwrap_or_default();
        let pressed = |text: &str| bindings.meaning("", &parse_chord(text).unwrap_or_default());
        assert_eq!(pressed("C-q"), Meaning::Found("quit"));
        assert_eq!(pressed("Q"), Meaning::Nothing);
        assert!(matches!(Bindings::new(&[], &own("nope", "x")), Err(BindingError::Unknown(_))));
        assert!(matches!(Bindings::new(&[], &own("quit", "Ctrl+Q")), Err(BindingError::NotAKey(..))));
    }
}
