//! The message in the footer, and those that were there before.

use super::App;
use super::action::{Action, Effect};
use super::clip::Clip;
use super::command_info::{Disabled, Info};
use super::dates::zone;
use super::overlay::picker::{Item, Picker};
use super::state::{SettingsChange, StateChange};
use super::tone::Tone;
use jiff::{SignedDuration, Timestamp};
use std::collections::VecDeque;
use ui::glyph;
use ui::text::{self, sanitize};

/// The number of seconds that a message of a problem stays in the footer.
const PROBLEM_SECONDS: i64 = 6;
/// The number of seconds that any other message stays there, where it hides the keys.
const MESSAGE_SECONDS: i64 = 3;

/// A temporary message in the footer.
pub(super) struct Message {
    pub tone: Tone,
    pub words: String,
    /// The time at which the message expires; `None` if it stays until the next key.
    pub expires_at: Option<Timestamp>,
    /// The turn in which the message was set.
    pub turn: u64,
    /// Whether a key was pressed since the message was set.
    pub is_heard: bool,
    /// The command that the message refuses, and the reason; the message is removed once the reason no longer holds.
    pub refusal: Option<(&'static str, Disabled)>,
}

/// The number of messages that are kept to be read again.
const MAX_LOGGED: usize = 200;

/// The messages of this session with their times, newest first.
pub(super) type MessageLog = VecDeque<(Timestamp, String)>;

/// The message in the footer, and those that were there before.
#[derive(Default)]
pub(super) struct Messages {
    pub current: Option<Message>,
    pub log: MessageLog,
    /// The number of turns of the loop so far: messages received, not those shown.
    pub turn: u64,
    /// Whether the user was warned that the token expires soon.
    pub has_warned_expiry: bool,
}

/// Returns the reason of a refusal as a sentence; `title` is what was refused, if there is no reason.
pub(super) fn sentence(why: &Disabled, title: &str) -> String {
    match why.to_string() {
        words if words.is_empty() => title.to_owned(),
        // The name of the program is written in lowercase.
        words if words.starts_with("labscope") => words,
        words => text::capitalize(&words),
    }
}

impl App {
    pub(super) fn say(&mut self, tone: Tone, text: String) {
        let text = self.view_of().with_keys(&text).into_owned();
        if self.server_switch.in_background {
            return self.server_switch.queue_message(tone, text);
        }
        // One that is repeated, such as a refusal, is listed once.
        if self.messages.log.front().is_some_and(|(_, last)| *last == text) {
            self.messages.log.pop_front();
        }
        self.messages.log.push_front((self.clock.now(), text.clone()));
        self.messages.log.truncate(MAX_LOGGED);
        let seconds = if matches!(tone, Tone::Warning | Tone::Bad) { PROBLEM_SECONDS } else { MESSAGE_SECONDS };
        let expires_at = self.clock.now().checked_add(SignedDuration::from_secs(seconds)).unwrap_or(Timestamp::MAX);
        // Listening takes longer than reading: in accessible mode, the message stays until the next key.
        let expires_at = Some(expires_at).filter(|_| !glyph::is_accessible());
        self.messages.current =
            Some(Message { tone, words: text, expires_at, turn: self.messages.turn, is_heard: false, refusal: None });
        self.frame.dirty = true;
    }

    /// Shows the three keys that lead to all others, once, until the first key is pressed.
    pub(super) fn greet(&mut self, effects: &mut Vec<Effect>) {
        let words = match self.session.tour {
            [] => "‹help› lists the keys here, ‹palette› runs any command, ‹close› goes back",
            _ => "‹help› lists the keys here, ‹palette› runs any command, ‹tour› starts a tour",
        };
        self.say(Tone::Info, words.to_owned());
        if let Some(message) = &mut self.messages.current {
            message.expires_at = None;
        }
        self.saved.change(&StateChange::Settings(SettingsChange::Greeted), effects);
    }

    /// Lists the messages of this session with their times. Enter copies one.
    pub(super) fn list_messages(&mut self) {
        if self.messages.log.is_empty() {
            return self.say(Tone::Info, "No messages yet.".into());
        }
        let items = self.messages.log.iter().map(|(at, words)| {
            let time = at.to_zoned(zone()).strftime("%H:%M:%S").to_string();
            let words = sanitize(words).into_owned();
            Item::act(words.clone(), Action::Copy(Clip::lines("message", words))).note(time).in_full()
        });
        self.overlays.push(Box::new(Picker::new("Messages", items.collect()).of_keys()));
    }

    /// Returns whether a message was set since the last key.
    pub(super) fn is_message_new(&self) -> bool {
        self.messages.current.as_ref().is_some_and(|message| !message.is_heard)
    }

    /// Removes the message that was shown until now. One that expires stays until then. In accessible mode, all stay: a
    /// line that is cleared while the cursor moves would be read instead of the row.
    pub(super) fn pass_message(&mut self) {
        let stays = |message: &Message| message.expires_at.is_some() || glyph::is_accessible();
        let message = self.messages.current.take().filter(stays);
        self.messages.current = message.map(|message| Message { is_heard: true, ..message });
    }

    /// Shows why a command of the current place cannot be run.
    pub(super) fn refuse(&mut self, command: &Info, why: Disabled) {
        self.say(Tone::Warning, sentence(&why, command.title));
        if let Some(message) = &mut self.messages.current {
            message.refusal = Some((command.id, why));
        }
    }

    /// Removes a refusal whose reason no longer holds, for example because data has arrived.
    pub(super) fn check_refusal(&mut self) {
        let Some((id, why)) = self.messages.current.as_ref().and_then(|message| message.refusal.as_ref()) else {
            return;
        };
        let view = self.view_of();
        if glyph::is_accessible() {
            return;
        }
        let still = self.nav.top().and_then(|pane| pane.can(id, &view)).and_then(Result::err);
        if still.as_ref() != Some(why) {
            self.messages.current = None;
            self.frame.dirty = true;
        }
    }

    /// Removes the message because another place is shown; a message set in the same turn stays.
    pub(super) fn forget_message(&mut self) {
        self.messages.current = self.messages.current.take().filter(|message| message.turn == self.messages.turn);
        self.frame.dirty = true;
    }
}
