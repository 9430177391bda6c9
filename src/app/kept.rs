//! Texts that are kept, and whose they are: a key on disk begins with the account, so that two never mix.

use super::App;
use super::action::{Action, Effect, Tone};
use std::collections::HashMap;

/// The key on disk of an account's text. An account that is not known yet has no name.
fn whole(account: &str, key: &str) -> String {
    format!("@{account} {key}")
}

impl App {
    /// Keeps a text of the account at hand, or drops it.
    pub(super) fn keep(&mut self, key: String, text: Option<String>, effects: &mut Vec<Effect>) {
        match &text {
            Some(text) => self.drafts.insert(key.clone(), text.clone()),
            None => self.drafts.remove(&key),
        };
        effects.push(Effect::Keep(whole(&self.account, &key), text));
    }

    /// At the start: takes what was kept while nobody was known. It is on disk under no account's name, and stays there.
    pub(super) fn begin_with(&mut self, kept: HashMap<String, String>) {
        let nobody = whole("", "");
        let own = |(key, text): (&String, &String)| Some((key.strip_prefix(&nobody)?.to_owned(), text.clone()));
        self.drafts = kept.iter().filter_map(own).collect();
        self.others = kept;
    }

    /// Once it is known who is signed in: takes what that account kept before, and what was typed meanwhile.
    pub(super) fn claim(&mut self, effects: &mut Vec<Effect>) {
        let Some(account) = self.view_of().me().map(|me| me.username.clone()).filter(|_| self.account.is_empty())
        else {
            return;
        };
        self.account = account;
        let before = std::mem::take(&mut self.drafts);
        let mark = whole(&self.account, "");
        let others = std::mem::take(&mut self.others);
        let own = |(key, text): (&String, &String)| Some((key.strip_prefix(&mark)?.to_owned(), text.clone()));
        self.drafts = others.iter().filter_map(own).collect();
        // What is there from an earlier time was typed by nobody knows whom.
        let typed = before.into_iter().filter(|(key, text)| others.get(&whole("", key)) != Some(text));
        for (key, text) in typed {
            // What is new is on disk before the other place is given up.
            self.keep(key.clone(), Some(text), effects);
            effects.push(Effect::Keep(whole("", &key), None));
        }
    }

    /// News of the disk.
    pub(super) fn kept(&mut self, outcome: Result<(), String>) {
        match outcome {
            Ok(()) => self.say(Tone::Good, "Texts are kept on disk again.".into()),
            Err(ref why) => {
                self.say(Tone::Bad, format!("Texts are kept in memory alone, the disk refuses them: {why}"))
            }
        }
        self.unkept = outcome.err();
    }

    /// Where ending would lose texts: asks first, and says why.
    pub(super) fn asks_before_quitting(&mut self) -> bool {
        let Some(why) = self.unkept.clone().filter(|_| !self.drafts.is_empty()) else { return false };
        let question =
            format!("Texts that you typed are in memory alone, the disk refuses them: {why}. Quit and lose them?");
        self.overlays.push(Box::new(super::Confirm::new("Texts are not on disk", question, Action::QuitAnyway)));
        true
    }
}
