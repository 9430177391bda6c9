//! Texts and state that are kept, and whose they are: a key on disk names the account, so that two never mix. What is
//! typed or changed before the account is known is on disk at once as nobody's, and goes to whoever turns out to be
//! signed in.

use super::App;
use super::action::{Action, Effect, Tone};
use super::outbox::Draft;
use super::state::{Change, Kept, State, StateFile};
use std::collections::{BTreeMap, HashMap};

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

/// What is kept of the current account.
#[derive(Default)]
pub(super) struct Saved {
    /// What somebody typed, by key.
    pub drafts: HashMap<String, String>,
    /// Settings, recents and what was seen.
    pub state: State,
    /// What was kept at the start, of all accounts, until the account is known.
    others: Kept,
    /// What was typed, or dropped, while the account was not known.
    unowned: BTreeMap<String, Option<String>>,
    /// How the state changed while the account was not known.
    unowned_state: State,
    /// The name of the account; until that is known, of the one that was at hand last.
    account: String,
    account_is_known: bool,
    /// Why the disk does not take texts, while it does not.
    pub failure: Option<String>,
}

impl Saved {
    /// At the start: takes what was kept for whoever was signed in last, so that nothing is opened without what was
    /// typed into it, and what was typed while nobody was known.
    pub fn new(kept: Kept) -> Saved {
        let state = |account: &str| kept.states.get(account).cloned().unwrap_or_default();
        let mut saved = Saved {
            drafts: of_account(&kept.texts, &kept.account),
            state: if kept.account == NOBODY { State::default() } else { state(&kept.account) },
            unowned_state: state(NOBODY),
            account: kept.account.clone(),
            ..Saved::default()
        };
        saved.state.absorb(&saved.unowned_state);
        for (key, text) in of_account(&kept.texts, NOBODY) {
            let text = Some(text).filter(|text| !text.is_empty());
            saved.set(&key, text.as_ref());
            saved.unowned.insert(key, text);
        }
        saved.others = kept;
        saved
    }

    /// Returns whether it is known whose all of this is.
    pub fn has_owner(&self) -> bool {
        self.account_is_known
    }

    /// Whose the texts are that are kept now.
    fn owner(&self) -> &str {
        if self.account_is_known { &self.account } else { NOBODY }
    }

    /// Under which the text `key` is on disk from now on.
    pub fn key_on_disk(&self, key: &str) -> String {
        whole(self.owner(), key)
    }

    /// The comment that is kept under a key, if there is one.
    pub fn draft(&self, key: &str) -> Option<Draft> {
        Draft::read(self.drafts.get(key)?)
    }

    fn set(&mut self, key: &str, text: Option<&String>) {
        match text {
            Some(text) => self.drafts.insert(key.to_owned(), text.clone()),
            None => self.drafts.remove(key),
        };
    }

    /// Keeps a text, or drops it.
    pub fn keep(&mut self, key: String, text: Option<String>, effects: &mut Vec<Effect>) {
        self.set(&key, text.as_ref());
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
    pub fn change(&mut self, change: &Change, effects: &mut Vec<Effect>) {
        let mut file = self.state.apply(change);
        if !self.account_is_known {
            file = self.unowned_state.apply(change);
        }
        effects.extend(file.map(|file| Effect::KeepState(self.owner().to_owned(), file)));
    }

    /// Once it is known who is signed in on `server`: takes what that account kept before, and what was typed while
    /// nobody was known, now or before the program ended.
    fn claim(&mut self, account: String, server: &str, effects: &mut Vec<Effect>) {
        self.account_is_known = true;
        let (others, unowned) = (std::mem::take(&mut self.others), std::mem::take(&mut self.unowned));
        let unowned_state = std::mem::take(&mut self.unowned_state);
        let is_other = account != self.account;
        if is_other {
            self.account = account;
            self.drafts = of_account(&others.texts, &self.account);
            self.state = others.states.get(&self.account).cloned().unwrap_or_default();
            self.state.absorb(&unowned_state);
            // Whoever was signed in last.
            effects.push(Effect::Keep(format!("account {server}"), Some(self.account.clone())));
        }
        for (key, text) in unowned {
            // It is on disk in its new place before the old one is given up. What was dropped was not this account's,
            // where another one was supposed.
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
    }
}

impl App {
    /// Takes what belongs to whoever is signed in, once that is known.
    pub(super) fn claim(&mut self, effects: &mut Vec<Effect>) {
        let known = || self.view_of().me().map(|me| me.username.clone());
        let Some(account) = (!self.saved.has_owner()).then(known).flatten() else { return };
        self.saved.claim(account, &self.session.server, effects);
        self.resolve_all();
    }

    /// News of the disk.
    pub(super) fn kept(&mut self, outcome: Result<(), String>) {
        match outcome {
            Ok(()) => self.say(Tone::Good, "Drafts are saved to disk again.".into()),
            Err(ref why) => {
                self.say(Tone::Bad, format!("Drafts are kept only in memory, writing to disk failed: {why}"))
            }
        }
        self.saved.failure = outcome.err();
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
