//! Keys in their written form (`C-d`, `g h`, `S-Tab`), and lookup of key sequences.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::fmt;

/// One key with its modifiers, in a normalized form: a shifted letter is the capital letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd)]
pub struct Key {
    /// The key without modifiers.
    pub code: KeyCode,
    /// Whether Control is pressed.
    pub ctrl: bool,
    /// Whether Alt is pressed.
    pub alt: bool,
    /// Whether Shift is pressed, for keys that have no capital.
    pub shift: bool,
}

impl Key {
    /// Converts a key event of the terminal.
    pub fn of(event: KeyEvent) -> Key {
        // No command has these modifiers, and the key is not the one without them.
        if event.modifiers.intersects(KeyModifiers::SUPER | KeyModifiers::HYPER | KeyModifiers::META) {
            return Key { code: KeyCode::Null, ctrl: false, alt: false, shift: false };
        }
        let code = if event.code == KeyCode::BackTab { KeyCode::Tab } else { event.code };
        let shift = event.code == KeyCode::BackTab
            || event.modifiers.contains(KeyModifiers::SHIFT) && !matches!(code, KeyCode::Char(_));
        let ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
        let code = match code {
            // Terminals that distinguish all keys report these two separately; treat them as Esc and Enter, as always.
            KeyCode::Char('[') if ctrl => return Key { code: KeyCode::Esc, ctrl: false, alt: false, shift: false },
            KeyCode::Char('m') if ctrl => return Key { code: KeyCode::Enter, ctrl: false, alt: false, shift: false },
            // Terminals differ in whether they report a letter with Control as a capital.
            KeyCode::Char(c) if ctrl => KeyCode::Char(c.to_ascii_lowercase()),
            KeyCode::Char(c) if event.modifiers.contains(KeyModifiers::SHIFT) && c.is_ascii_lowercase() => {
                KeyCode::Char(c.to_ascii_uppercase())
            }
            other => other,
        };
        Key { code, ctrl, alt: event.modifiers.contains(KeyModifiers::ALT), shift }
    }

    /// Parses one key: `a`, `C-a`, `M-x`, `S-Tab`, `Enter`, `F5`, `Space`.
    pub fn parse(text: &str) -> Option<Key> {
        let mut key = Key { code: KeyCode::Null, ctrl: false, alt: false, shift: false };
        let mut rest = text;
        while let Some((modifier, after)) = rest.split_once('-').filter(|(m, after)| m.len() == 1 && !after.is_empty())
        {
            match modifier {
                "C" => key.ctrl = true,
                "M" => key.alt = true,
                "S" => key.shift = true,
                _ => return None,
            }
            rest = after;
        }
        let mut chars = rest.chars();
        key.code = match (chars.next(), chars.next()) {
            (Some(c), None) => KeyCode::Char(c),
            _ => NAMED
                .iter()
                .find(|(name, _)| *name == rest)
                .map(|(_, code)| *code)
                .or_else(|| rest.strip_prefix('F').and_then(|n| n.parse().ok()).map(KeyCode::F))?,
        };
        if let KeyCode::Char(c) = key.code {
            // Of other shifted characters, a terminal reports what they are on its keyboard.
            if key.shift && !c.is_ascii_alphabetic() {
                return None;
            }
            let c = match (key.ctrl, key.shift) {
                (true, _) => c.to_ascii_lowercase(),
                (false, true) => c.to_ascii_uppercase(),
                (false, false) => c,
            };
            (key.code, key.shift) = (KeyCode::Char(c), false);
        }
        Some(key)
    }

    /// Returns the character that the key types, if it types one.
    pub fn typed(self) -> Option<char> {
        match self.code {
            KeyCode::Char(c) if !self.ctrl && !self.alt => Some(c),
            _ => None,
        }
    }
}

const NAMED: &[(&str, KeyCode)] = &[
    ("Enter", KeyCode::Enter),
    ("Esc", KeyCode::Esc),
    ("Tab", KeyCode::Tab),
    ("Space", KeyCode::Char(' ')),
    ("Backspace", KeyCode::Backspace),
    ("Delete", KeyCode::Delete),
    ("Insert", KeyCode::Insert),
    ("Up", KeyCode::Up),
    ("Down", KeyCode::Down),
    ("Left", KeyCode::Left),
    ("Right", KeyCode::Right),
    ("Home", KeyCode::Home),
    ("End", KeyCode::End),
    ("PageUp", KeyCode::PageUp),
    ("PageDown", KeyCode::PageDown),
];

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (on, prefix) in [(self.ctrl, "C-"), (self.alt, "M-"), (self.shift, "S-")] {
            if on {
                f.write_str(prefix)?;
            }
        }
        if let Some((name, _)) = NAMED.iter().find(|(_, code)| *code == self.code) {
            return f.write_str(name);
        }
        match self.code {
            KeyCode::Char(c) => write!(f, "{c}"),
            KeyCode::F(n) => write!(f, "F{n}"),
            _ => f.write_str("?"),
        }
    }
}

/// A sequence of keys: `g h`.
pub type Chord = Vec<Key>;

/// Parses a sequence of keys separated by blanks.
pub fn parse_chord(text: &str) -> Option<Chord> {
    let keys: Option<Chord> = text.split_whitespace().map(Key::parse).collect();
    keys.filter(|k| !k.is_empty())
}

/// Returns why a sequence cannot be pressed: terminals send another key for one of its keys; `None` if it can.
pub fn refusal(chord: &[Key]) -> Option<String> {
    chord.iter().find_map(|key| {
        let modifiers = if key.ctrl { KeyModifiers::CONTROL } else { KeyModifiers::NONE };
        let sent = Key::of(KeyEvent::new(key.code, modifiers));
        (sent.code != key.code).then(|| format!("terminals send {sent} for \"{key}\"; choose another key"))
    })
}

/// Returns the written form of a sequence of keys.
pub fn show(chord: &[Key]) -> String {
    chord.iter().map(Key::to_string).collect::<Vec<_>>().join(" ")
}

/// The meaning of the keys pressed so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning<T> {
    /// No sequence begins like this.
    Nothing,
    /// A longer sequence begins like this.
    Prefix,
    /// This is a complete sequence.
    Found(T),
}

/// Looks up `pressed` in rows of `(chord, what)`; earlier rows win.
pub fn find<'a, T>(pressed: &[Key], rows: impl Iterator<Item = (&'a [Key], T)>) -> Meaning<T> {
    let mut prefix = false;
    for (chord, what) in rows {
        if chord == pressed {
            return Meaning::Found(what);
        }
        prefix |= chord.len() > pressed.len() && chord.starts_with(pressed);
    }
    if prefix { Meaning::Prefix } else { Meaning::Nothing }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_notation_round_trips() {
        for text in ["a", "G", "C-d", "S-Tab", "Enter", "F5", "Space", "M-x", "-", "C--", "?", "[", "PageDown"] {
            let key = Key::parse(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(key.to_string(), text);
        }
        assert_eq!(Key::parse("X-a"), None);
        // As terminals report them.
        for (text, key) in [("S-a", "A"), ("S-A", "A"), ("M-S-a", "M-A"), ("C-Q", "C-q"), ("C-S-q", "C-q")] {
            assert_eq!(Key::parse(text).map(|key| key.to_string()).as_deref(), Some(key), "{text}");
        }
        for text in ["S-1", "S-Space", "S-M-?"] {
            assert_eq!(Key::parse(text), None, "{text}");
        }
        assert_eq!(parse_chord("g h").map(|c| show(&c)).as_deref(), Some("g h"));
    }

    #[test]
    fn equivalent_key_events_have_one_notation() {
        let event = |code, modifiers| Key::of(KeyEvent::new(code, modifiers)).to_string();
        assert_eq!(event(KeyCode::Char('G'), KeyModifiers::SHIFT), "G");
        assert_eq!(event(KeyCode::BackTab, KeyModifiers::SHIFT), "S-Tab");
        assert_eq!(event(KeyCode::Char('C'), KeyModifiers::CONTROL), "C-c");
        // As reported by a terminal with the kitty keyboard protocol.
        assert_eq!(event(KeyCode::Char('g'), KeyModifiers::SHIFT), "G");
        assert_eq!(event(KeyCode::Char('['), KeyModifiers::CONTROL), "Esc");
        assert_eq!(event(KeyCode::Char('m'), KeyModifiers::CONTROL), "Enter");
        assert_eq!(event(KeyCode::Char('i'), KeyModifiers::CONTROL), "C-i");
        assert_eq!(event(KeyCode::Tab, KeyModifiers::NONE), "Tab");
        for held in
            [KeyModifiers::SUPER, KeyModifiers::HYPER, KeyModifiers::META, KeyModifiers::SUPER | KeyModifiers::CONTROL]
        {
            assert_eq!(Key::of(KeyEvent::new(KeyCode::Char('q'), held)).code, KeyCode::Null, "{held:?}");
        }
    }

    #[test]
    fn a_prefix_waits_and_an_exact_row_wins() {
        let rows = [(parse_chord("g h").unwrap_or_default(), 1), (parse_chord("x").unwrap_or_default(), 2)];
        let look =
            |text: &str| find(&parse_chord(text).unwrap_or_default(), rows.iter().map(|(c, w)| (c.as_slice(), *w)));
        assert_eq!(look("g"), Meaning::Prefix);
        assert_eq!(look("g h"), Meaning::Found(1));
        assert_eq!(look("y"), Meaning::Nothing);
    }
}
