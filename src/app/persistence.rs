//! Saved texts and state, and the accounts that they belong to: a key on disk names the account, so that two accounts
//! never mix. Anything typed or changed before the account is known is saved to disk at once without an owner, and goes
//! to the account that turns out to be signed in.

use super::App;
use super::action::{Action, Effect};
use super::outbox::Draft;
use super::state::{AccountState, Kept, StateChange, StateFile};
use super::text_key::{self, DiskKey, DraftKey};
use super::texts::TypedTexts;
use super::tone::Tone;
use super::uploads::{self, Attachment};
use std::collections::{BTreeMap, HashMap};

/// The owner of texts typed before it is known who is signed in.
const NO_OWNER: &str = "";

/// Returns the key on disk of an account's text.
fn whole(account: &str, key: &str) -> String {
    DiskKey::Text { account, key }.to_string()
}

/// Returns the texts of an account, by their keys without the account.
fn of_account(kept: &HashMap<String, String>, account: &str) -> HashMap<String, String> {
    let own = |(on_disk, text): (&String, &String)| match DiskKey::parse(on_disk) {
        Some(DiskKey::Text { account: owner, key }) if owner == account => Some((key.to_owned(), text.clone())),
        _ => None,
    };
    kept.iter().filter_map(own).collect()
}

/// The saved texts and state of the current account.
#[derive(Default)]
pub(super) struct Saved {
    /// The typed texts, by key.
    pub drafts: TypedTexts,
    /// Settings, recent places, and what the user has seen.
    pub state: AccountState,
    /// Everything that was saved before the start, for all accounts, until the account is known.
    others: Kept,
    /// Texts that were typed, or deleted (`None`), while the account was not known.
    unowned: BTreeMap<String, Option<String>>,
    /// The changes of the state while the account was not known.
    unowned_state: AccountState,
    /// The name of the account; until that is known, of the account that was signed in last.
    account: String,
    account_is_known: bool,
}

impl Saved {
    /// Loads what was saved for the account that was signed in last, so that nothing is opened without the text typed
    /// into it, and what was typed while no account was known.
    pub fn new(kept: Kept) -> Saved {
        let state = |account: &str| kept.states.get(account).cloned().unwrap_or_default();
        let mut saved = Saved {
            drafts: TypedTexts::parse(of_account(&kept.texts, &kept.account)),
            state: if kept.account == NO_OWNER { AccountState::default() } else { state(&kept.account) },
            unowned_state: state(NO_OWNER),
            account: kept.account.clone(),
            ..Saved::default()
        };
        saved.state.absorb(&saved.unowned_state);
        for (key, text) in of_account(&kept.texts, NO_OWNER) {
            let text = Some(text).filter(|text| !text.is_empty());
            saved.drafts.set_on_disk(key.clone(), text.clone());
            saved.unowned.insert(key, text);
        }
        saved.others = kept;
        saved
    }

    /// Returns whether it is known which account owns the texts and state.
    pub fn has_owner(&self) -> bool {
        self.account_is_known
    }

    /// Returns the account that owns the texts saved from now on.
    fn owner(&self) -> &str {
        if self.account_is_known { &self.account } else { NO_OWNER }
    }

    /// Returns the key under which the text `key` is written to disk from now on.
    pub fn key_on_disk(&self, key: &str) -> String {
        whole(self.owner(), key)
    }

    /// Returns the comment saved under a key, if there is one.
    pub fn draft(&self, key: &DraftKey) -> Option<&Draft> {
        self.drafts.draft(key)
    }

    /// Saves a comment, or deletes it.
    pub fn keep_draft(&mut self, key: DraftKey, draft: Option<Draft>, effects: &mut Vec<Effect>) {
        self.write(key.to_string(), draft.as_ref().map(Draft::to_json), effects);
        self.drafts.set_draft(key, draft);
    }

    /// Saves the text of a form or an editor, or deletes it together with its files.
    pub fn keep_text(&mut self, key: String, text: Option<String>, effects: &mut Vec<Effect>) {
        let files = text_key::of_files(&key);
        let lost = text.is_none() && self.drafts.plain(&files).is_some();
        self.drafts.set_plain(key.clone(), text.clone());
        self.write(key, text, effects);
        if lost {
            self.keep_text(files, None, effects);
        }
    }

    /// Saves the files that wait until the text under `key` is sent.
    pub fn keep_files(&mut self, key: &str, files: &[Attachment], effects: &mut Vec<Effect>) {
        let text = (!files.is_empty()).then(|| uploads::to_json(files));
        self.keep_text(text_key::of_files(key), text, effects);
    }

    fn write(&mut self, key: String, text: Option<String>, effects: &mut Vec<Effect>) {
        let on_disk = self.key_on_disk(&key);
        if self.account_is_known {
            return effects.push(Effect::SaveText(on_disk, text));
        }
        // An empty text records that the text of the account that was signed in last is deleted.
        let hides = self.account != NO_OWNER && self.others.texts.contains_key(&whole(&self.account, &key));
        effects.push(Effect::SaveText(on_disk, text.clone().or(hides.then(String::new))));
        self.unowned.insert(key, text);
    }

    /// Applies a change to the state, and saves it.
    pub fn change(&mut self, change: &StateChange, effects: &mut Vec<Effect>) {
        let mut file = self.state.apply(change);
        if !self.account_is_known {
            file = self.unowned_state.apply(change);
        }
        effects.extend(file.map(|file| Effect::SaveState(self.owner().to_owned(), file)));
    }

    /// Sets the account, once it is known who is signed in on `server`: takes over what that account saved before, and
    /// what was typed while no account was known, in this run or an earlier one.
    fn claim(&mut self, account: String, server: &str, effects: &mut Vec<Effect>) {
        self.account_is_known = true;
        let (others, unowned) = (std::mem::take(&mut self.others), std::mem::take(&mut self.unowned));
        let unowned_state = std::mem::take(&mut self.unowned_state);
        let is_other = account != self.account;
        if is_other {
            self.account = account;
            let failure = self.drafts.failure.take();
            self.drafts = TypedTexts::parse(of_account(&others.texts, &self.account));
            self.drafts.failure = failure;
            self.state = others.states.get(&self.account).cloned().unwrap_or_default();
            self.state.absorb(&unowned_state);
            // Record the account that was signed in last.
            effects.push(Effect::SaveText(DiskKey::Account { server }.to_string(), Some(self.account.clone())));
        }
        for (key, text) in unowned {
            // Write the text under its new key before deleting the old one. If another account had been assumed, a
            // deleted text was not this account's.
            if text.is_some() || !is_other {
                self.drafts.set_on_disk(key.clone(), text.clone());
                self.write(key.clone(), text, effects);
            }
            effects.push(Effect::SaveText(whole(NO_OWNER, &key), None));
        }
        // The same for the state.
        let on_disk = others.states.get(&self.account).cloned().unwrap_or_default();
        let files = self.state.changed_since(&on_disk);
        effects.extend(files.into_iter().map(|file| Effect::SaveState(self.account.clone(), file)));
        if unowned_state != AccountState::default() {
            let keys = StateFile::NAMES.iter().map(|file| DiskKey::State { file, account: NO_OWNER });
            effects.extend(keys.map(|key| Effect::SaveText(key.to_string(), None)));
        }
    }
}

impl App {
    /// Takes over the texts and state of the signed-in account, once that is known.
    pub(super) fn claim(&mut self, effects: &mut Vec<Effect>) {
        let known = || self.view_of().me().map(|me| me.username.clone());
        let Some(account) = (!self.saved.has_owner()).then(known).flatten() else { return };
        self.saved.claim(account, &self.session.server, effects);
        self.tell_unsent();
        self.check_all_drafts();
    }

    /// Reports that texts can no longer be written to disk, or that they can again.
    pub(super) fn on_disk_status(&mut self, outcome: Result<(), String>) {
        match outcome {
            Ok(()) => self.say(Tone::Good, "Drafts are saved to disk again.".into()),
            Err(ref why) => {
                self.say(Tone::Bad, format!("Could not write drafts to disk, so they are only in memory: {why}"))
            }
        }
        self.saved.drafts.failure = outcome.err();
    }

    /// Asks for confirmation if quitting would lose texts, and says why; returns whether it does.
    pub(super) fn confirm_quit_if_unsaved(&mut self) -> bool {
        let Some(why) = self.write_error().cloned() else { return false };
        let question =
            format!("Your drafts could not be written to disk and are only in memory: {why}. Quit and lose them?");
        self.overlays.push(Box::new(super::Confirm::new("Drafts not saved", question, Action::QuitAnyway)));
        true
    }
}
