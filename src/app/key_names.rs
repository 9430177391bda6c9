//! The keys of commands as messages and help name them.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use ui::glyph;

/// The written keys and the title of each command, by ID.
#[derive(Clone, Debug, Default)]
pub struct KeyNames {
    keys: HashMap<&'static str, Vec<String>>,
    titles: HashMap<&'static str, &'static str>,
    /// Commands that lost all their keys to those that the user set.
    unbound: HashSet<&'static str>,
}

impl KeyNames {
    /// Adds a command with its keys.
    pub fn add(&mut self, id: &'static str, title: &'static str, keys: Vec<String>) {
        self.keys.insert(id, keys);
        self.titles.insert(id, title);
    }

    /// Returns whether there is a command with that ID.
    pub fn has(&self, id: &str) -> bool {
        self.titles.contains_key(id)
    }

    /// Lists the IDs of all commands.
    pub fn ids(&self) -> impl Iterator<Item = &'static str> + use<'_> {
        self.titles.keys().copied()
    }

    /// Returns the title of a command; empty if there is none with that ID.
    pub fn title(&self, id: &str) -> &'static str {
        self.titles.get(id).copied().unwrap_or_default()
    }

    /// Removes a key of a command, because another one has it.
    pub fn remove(&mut self, id: &'static str, key: &str) {
        if let Some(keys) = self.keys.get_mut(id) {
            keys.retain(|known| known != key);
            if keys.is_empty() {
                self.unbound.insert(id);
            }
        }
    }

    /// Returns the keys of a command in their written form.
    pub fn all(&self, id: &str) -> &[String] {
        self.keys.get(id).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the keys of a command as one text; "unbound" if all of them are those of other commands.
    pub fn shown(&self, id: &str) -> String {
        if self.unbound.contains(id) {
            return "unbound".to_owned();
        }
        self.all(id).join(glyph::separator())
    }

    /// Returns the first of the keys of a command.
    pub fn first(&self, id: &str) -> &str {
        self.all(id).first().map(String::as_str).unwrap_or_default()
    }

    /// Replaces each command ID in angle quotes by its first key: "‹refresh› refreshes" becomes "r refreshes". An ID
    /// that starts with a dot belongs to `pane`. A command without a key is named as in the palette; other quoted text
    /// stays.
    pub fn fill<'a>(&self, text: &'a str, pane: &str) -> Cow<'a, str> {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('‹') {
            let Some((quoted, after)) = after.split_once('›') else { break };
            let id = if quoted.starts_with('.') { format!("{pane}{quoted}") } else { quoted.to_owned() };
            filled.push_str(before);
            match (self.first(&id), self.titles.get(id.as_str())) {
                ("", Some(title)) => filled.extend([":", title.trim_end_matches('…')]),
                ("", None) => filled.extend(["‹", quoted, "›"]),
                (key, _) => filled.push_str(key),
            }
            rest = after;
        }
        if filled.is_empty() {
            return text.into();
        }
        filled.push_str(rest);
        filled.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_the_keys_of_commands() {
        let mut names = KeyNames::default();
        names.add("seek", "Filter or search", vec!["C-f".into(), "/".into()]);
        names.add("anything", "Go to anything…", Vec::new());
        names.add("jobs.retry", "Retry job", vec!["R".into()]);
        let filled = |text| names.fill(text, "jobs").into_owned();
        assert_eq!(filled("‹seek› changes it"), "C-f changes it");
        assert_eq!(filled("‹.retry› retries it; ‹anything›"), "R retries it; :Go to anything");
        assert_eq!(filled("a ‹name› that is none and a ‹ more"), "a ‹name› that is none and a ‹ more");
    }
}
