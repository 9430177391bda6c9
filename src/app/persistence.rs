//! Texts and state that are kept, and whose they are: a key on disk names the account, so that two never mix. What is typed
//! or changed before the account is known is on disk at once as nobody's, and goes to whoever turns out to be signed in.

use super::App;
use super::action::{Action, Effect, Tone};
use super::outbox::Draft;
use super::overlay::composer::Composer;
use super::overlay::picker::{Item, Picker};
use super::state::{Change, Kept, State, StateFile};
use std::collections::HashMap;

/// The account of what is typed before it is known who is signed in.
const NOBODY: &str = "";

/// The key on disk of an account's text.
fn whole(account: &str, key: &str) -> String {
    format!("@{account} {key}")
}

/// The texts of an account, by their own keys.
fn of_account(kept: &HashMap<String, String>, account: &str) -> HashMap<String, String> {
    let mark = whole(account, "");
    let own = |(key, text): (&String, &String)| Some((key.strip_prefix(&mark)?.to_owned(), text.clone()));
    kept.iter().filter_map(own).collect()
}

impl App {
    /// Whose the texts are that are kept now.
    fn owner(&self) -> &str {
        if self.account_is_known { &self.account } else { NOBODY }
    }

    /// Under which the text `key` is on disk from now on.
    pub(super) fn key_on_disk(&self, key: &str) -> String {
        whole(self.owner(), key)
    }

    /// Keeps a text, or drops it.
    pub(super) fn keep(&mut self, key: String, text: Option<String>, effects: &mut Vec<Effect>) {
        match &text {
            Some(text) => self.drafts.insert(key.clone(), text.clone()),
            None => self.drafts.remove(&key),
        };
        let on_disk = self.key_on_disk(&key);
        if self.account_is_known {
            return effects.push(Effect::Keep(on_disk, text));
        }
        // An empty text says that the one of who was signed in last is dropped.
        let hides = self.account != NOBODY && self.others.texts.contains_key(&whole(&self.account, &key));
        effects.push(Effect::Keep(on_disk, text.clone().or(hides.then(String::new))));
        self.unowned.insert(key, text);
    }

    /// Changes the state.
    pub(super) fn change(&mut self, change: &Change, effects: &mut Vec<Effect>) {
        let mut file = self.state.apply(change);
        if !self.account_is_known {
            file = self.unowned_state.apply(change);
        }
        effects.extend(file.map(|file| Effect::KeepState(self.owner().to_owned(), file)));
    }

    /// At the start: takes what was kept for whoever was signed in last, so that nothing is opened without what was typed into
    /// it, and what was typed while nobody was known.
    pub(super) fn begin_with(&mut self, kept: Kept) {
        self.account.clone_from(&kept.account);
        let state = |account: &str| kept.states.get(account).cloned().unwrap_or_default();
        self.unowned_state = state(NOBODY);
        self.state = if self.account == NOBODY { State::default() } else { state(&self.account) };
        self.state.absorb(&self.unowned_state);
        self.drafts = of_account(&kept.texts, &self.account);
        for (key, text) in of_account(&kept.texts, NOBODY) {
            let text = Some(text).filter(|text| !text.is_empty());
            match &text {
                Some(text) => self.drafts.insert(key.clone(), text.clone()),
                None => self.drafts.remove(&key),
            };
            self.unowned.insert(key, text);
        }
        self.others = kept;
    }

    /// Once it is known who is signed in: takes what that account kept before, and what was typed while nobody was known, now
    /// or before the program ended.
    pub(super) fn claim(&mut self, effects: &mut Vec<Effect>) {
        let known = || self.view_of().me().map(|me| me.username.clone());
        let Some(account) = (!self.account_is_known).then(known).flatten() else { return };
        self.account_is_known = true;
        let (others, unowned) = (std::mem::take(&mut self.others), std::mem::take(&mut self.unowned));
        let unowned_state = std::mem::take(&mut self.unowned_state);
        let is_other = account != self.account;
        if is_other {
            self.account = account;
            self.drafts = of_account(&others.texts, &self.account);
            self.state = others.states.get(&self.account).cloned().unwrap_or_default();
            self.state.absorb(&unowned_state);
            effects.push(Effect::Keep(self.account_key(), Some(self.account.clone())));
        }
        for (key, text) in unowned {
            // It is on disk in its new place before the old one is given up. What was dropped was not this account's, where
            // another one was supposed.
            if text.is_some() || !is_other {
                self.keep(key.clone(), text, effects);
            }
            effects.push(Effect::Keep(whole(NOBODY, &key), None));
        }
        // The same of the state.
        let on_disk = others.states.get(&self.account).cloned().unwrap_or_default();
        let files = self.state.changed_since(&on_disk);
        effects.extend(files.into_iter().map(|file| Effect::KeepState(self.account.clone(), file)));
        if unowned_state != State::default() {
            let names = StateFile::NAMES.iter();
            effects.extend(names.map(|name| Effect::Keep(StateFile::key(name, NOBODY), None)));
        }
        self.resolve_all();
    }

    /// Every comment that is kept, to open it: where its place is gone or out of reach, this is the way to its words.
    pub(super) fn all_drafts(&mut self) {
        let mut drafts: Vec<(&String, Draft)> = self
            .drafts
            .iter()
            .filter(|(key, _)| key.starts_with("draft "))
            .filter_map(|(key, kept)| Some((key, Draft::read(kept)?)))
            .collect();
        if drafts.is_empty() {
            return self.say(Tone::Info, "No drafts.".into());
        }
        drafts.sort_by(|(a, first), (b, second)| (first.on.name(), a).cmp(&(second.on.name(), b)));
        let item = |(key, draft): (&String, Draft)| {
            let place = draft.spot.as_ref().map(|spot| format!(" {}", spot.label())).unwrap_or_default();
            let name = format!("{}{place}", draft.on.name());
            let words = draft.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().to_owned();
            if self.outbox.progress(key).is_some() {
                return Item::act(name, Action::Say(Tone::Warning, "It is being sent.".into())).detail(words);
            }
            let composer = Composer::comment(format!("Comment on {name}"), key.clone(), draft);
            Item::act(name, Action::Open(Box::new(composer))).detail(words)
        };
        let items = drafts.into_iter().map(item).collect();
        self.overlays.push(Box::new(Picker::new("All drafts", items)));
    }

    /// Under which it is kept who was signed in last.
    fn account_key(&self) -> String {
        format!("account {}", self.session.server)
    }

    /// News of the disk.
    pub(super) fn kept(&mut self, outcome: Result<(), String>) {
        match outcome {
            Ok(()) => self.say(Tone::Good, "Drafts are saved to disk again.".into()),
            Err(ref why) => {
                self.say(Tone::Bad, format!("Drafts are kept only in memory, writing to disk failed: {why}"))
            }
        }
        self.unkept = outcome.err();
    }

    /// Asks before quitting if that would lose texts, and says why; returns whether it does.
    pub(super) fn asks_before_quitting(&mut self) -> bool {
        let Some(why) = self.at_risk().cloned() else { return false };
        let question =
            format!("Your drafts are kept only in memory, writing to disk failed: {why}. Quit and lose them?");
        self.overlays.push(Box::new(super::Confirm::new("Drafts not saved", question, Action::QuitAnyway)));
        true
    }
}
