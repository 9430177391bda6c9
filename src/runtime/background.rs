//! Detection of the terminal's background color, which is queried after the first frame and arrives among the keys.
//!
//! The reply to OSC 11 arrives in the same stream as keys, and crossterm reports it as keys: `Alt-]` or `Esc ]`, then
//! `11;rgb:hhhh/hhhh/hhhh`, then `Alt-\`, `Esc \` or `C-g`. For a short time after the query, keys that match this
//! beginning are held back. If they turn out to be typed by the user, they are passed on unchanged.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::time::{Duration, Instant};

/// The time during which Esc may be the start of a reply.
const REPLY_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum pause within a reply.
const MAX_PAUSE: Duration = Duration::from_millis(60);

/// The interpretation of a key.
#[derive(Debug, PartialEq)]
pub enum Reply {
    /// Keys typed by the user.
    Keys(Vec<KeyEvent>),
    /// A complete reply: whether the background is light.
    Background(bool),
    /// A key that may be part of a reply.
    Pending,
}

/// A detector of the reply among the keys.
pub struct Watch {
    until: Option<Instant>,
    pending: Vec<KeyEvent>,
    text: String,
    last: Instant,
}

impl Watch {
    /// Starts watching if the query was sent.
    pub fn new(asked: bool) -> Watch {
        let now = Instant::now();
        Watch { until: asked.then(|| now + REPLY_TIMEOUT), pending: Vec::new(), text: String::new(), last: now }
    }

    /// Returns the time until which held keys wait, or `None` if there are none.
    pub fn deadline(&self) -> Option<Duration> {
        (!self.pending.is_empty()).then(|| (self.last + MAX_PAUSE).saturating_duration_since(Instant::now()))
    }

    /// Returns keys that were held for a reply that did not continue.
    pub fn expired(&mut self) -> Vec<KeyEvent> {
        if !self.pending.is_empty() && self.last.elapsed() >= MAX_PAUSE {
            self.text.clear();
            return std::mem::take(&mut self.pending);
        }
        Vec::new()
    }

    /// Processes a key.
    pub fn take(&mut self, key: KeyEvent) -> Reply {
        let Some(until) = self.until else { return Reply::Keys(vec![key]) };
        // A late reply must not be typed into the interface. Esc cannot wait for one forever, but `Alt-]` can.
        let late = Instant::now() >= until && self.pending.is_empty();
        if late && !(key.code == KeyCode::Char(']') && key.modifiers.contains(KeyModifiers::ALT)) {
            return Reply::Keys(vec![key]);
        }
        let before = self.text.len();
        match (key.code, key.modifiers.contains(KeyModifiers::ALT), key.modifiers.contains(KeyModifiers::CONTROL)) {
            (KeyCode::Esc, ..) => self.text.push('\x1b'),
            (KeyCode::Char(c), true, _) => self.text.extend(['\x1b', c]),
            (KeyCode::Char('g'), _, true) => self.text.push('\x07'),
            (KeyCode::Char(c), false, false) => self.text.push(c),
            _ => return self.give_up(key),
        }
        let fits = if self.text.len() <= OPENING.len() {
            OPENING.starts_with(&self.text)
        } else {
            self.text.starts_with(OPENING)
        };
        if !fits || self.text.len() > 40 {
            self.text.truncate(before);
            return self.give_up(key);
        }
        self.pending.push(key);
        self.last = Instant::now();
        if self.text.ends_with('\x07') || self.text.ends_with("\x1b\\") {
            let answer = luminance(&self.text);
            self.until = None;
            let keys = std::mem::take(&mut self.pending);
            self.text.clear();
            return match answer {
                Some(luminance) => Reply::Background(luminance > 0.5),
                None => Reply::Keys(keys),
            };
        }
        Reply::Pending
    }

    fn give_up(&mut self, key: KeyEvent) -> Reply {
        self.text.clear();
        let mut keys = std::mem::take(&mut self.pending);
        keys.push(key);
        Reply::Keys(keys)
    }
}

const OPENING: &str = "\x1b]11;rgb";

/// Returns the luminance of `…rgb:hhhh/hhhh/hhhh…`, from 0 to 1.
fn luminance(text: &str) -> Option<f64> {
    let (_, color) = text.split_once(':')?;
    let color = color.trim_end_matches(['\x07', '\\', '\x1b']);
    let mut channels = color.split('/').map(|hex| {
        let top = 16f64.powi(i32::try_from(hex.len()).ok()?) - 1.0;
        Some(f64::from(u32::from_str_radix(hex, 16).ok()?) / top)
    });
    let (r, g, b) = (channels.next()??, channels.next()??, channels.next()??);
    Some(0.2126 * r + 0.7152 * g + 0.0722 * b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(c: char, modifiers: KeyModifiers) -> KeyEvent {
        KeyEvent::new(KeyCode::Char(c), modifiers)
    }

    fn feed(watch: &mut Watch, text: &str) -> Vec<Reply> {
        text.chars().map(|c| watch.take(key(c, KeyModifiers::NONE))).collect()
    }

    #[test]
    fn the_terminal_reply_sets_the_background_and_types_nothing() {
        for (answer, light) in [("11;rgb:ffff/ffff/f0f0", true), ("11;rgb:10/13/18", false)] {
            let mut watch = Watch::new(true);
            assert_eq!(watch.take(key(']', KeyModifiers::ALT)), Reply::Pending);
            assert!(feed(&mut watch, answer).iter().all(|r| *r == Reply::Pending));
            assert_eq!(watch.take(key('\\', KeyModifiers::ALT)), Reply::Background(light));
            assert_eq!(watch.take(key('j', KeyModifiers::NONE)), Reply::Keys(vec![key('j', KeyModifiers::NONE)]));
        }
    }

    #[test]
    fn a_late_terminal_reply_types_nothing_and_delays_no_key() {
        let mut watch = Watch::new(true);
        watch.until = Some(Instant::now());
        let escape = KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE);
        assert_eq!(watch.take(escape), Reply::Keys(vec![escape]));
        assert_eq!(watch.take(key(']', KeyModifiers::ALT)), Reply::Pending);
        assert!(feed(&mut watch, "11;rgb:ffff/ffff/ffff").iter().all(|r| *r == Reply::Pending));
        assert_eq!(watch.take(key('\\', KeyModifiers::ALT)), Reply::Background(true));
    }

    #[test]
    fn typed_keys_stay_in_order() {
        let mut watch = Watch::new(true);
        let escape = KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE);
        assert_eq!(watch.take(escape), Reply::Pending);
        assert_eq!(watch.take(key('j', KeyModifiers::NONE)), Reply::Keys(vec![escape, key('j', KeyModifiers::NONE)]));
        assert_eq!(watch.take(key('k', KeyModifiers::NONE)), Reply::Keys(vec![key('k', KeyModifiers::NONE)]));
    }
}
