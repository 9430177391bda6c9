//! Adding a key: asks for its file or its text, shows the parsed key, and sends it only after confirmation.

use crate::api::local_file::{self, Unreadable};
use crate::api::users::{AddGpgKey, AddKey, AddUserKey};
use crate::app::action::Action;
use crate::app::context::Cx;
use crate::app::overlay::confirm::Confirm;
use crate::app::overlay::form::Form;
use crate::app::overlay::prompt::{Accepted, Prompt};
use crate::app::tone::Tone;
use crate::domain::public_key::{Family, MAX_KEY_BYTES, PublicKey, is_key, is_private, read, read_bytes};
use crate::parts::paths::{LocalPaths, local};
use crate::store::{Canceled, Derive, Want, Work, Write};
use crate::ui::text::sanitize;

/// The user who gets the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyOwner {
    Own,
    /// A different user, by ID and username; for administrators.
    Of(u64, String),
}

/// A key that is being added, from the prompt to the request.
pub struct PendingKey {
    family: Family,
    owner: KeyOwner,
    /// The path of the file that is being read.
    reading: Option<String>,
    /// A number that gives each read its own key.
    generation: u64,
}

impl Default for PendingKey {
    fn default() -> PendingKey {
        PendingKey { family: Family::Ssh, owner: KeyOwner::Own, reading: None, generation: 0 }
    }
}

/// A computation that reads and parses a key file off the event loop. The contents of a private key never leave it.
struct ReadKey {
    family: Family,
    path: String,
    generation: u64,
}

fn key_of(family: Family, path: &str, generation: u64) -> String {
    format!("{} in {path}, {generation}", family.name())
}

impl Derive for ReadKey {
    type Output = Result<PublicKey, String>;

    fn key(&self) -> String {
        key_of(self.family, &self.path, self.generation)
    }

    fn run(&self, _: Canceled<'_>) -> Result<PublicKey, String> {
        let path = local(self.path.trim());
        let bytes = local_file::read_named(&path, MAX_KEY_BYTES).map_err(|why| match why {
            Unreadable::Failed(error) => format!("{} cannot be read: {error}.", path.display()),
            Unreadable::NotAFile => format!("{} is not a file.", path.display()),
            Unreadable::TooLarge(_) => format!("{} is too large for a key.", path.display()),
        })?;
        read_bytes(self.family, &bytes)
    }
}

/// Checks a pasted text before the prompt displays it.
fn take(text: &str) -> Accepted {
    match () {
        () if is_private(text) => Accepted::Refused(crate::domain::public_key::PRIVATE.into()),
        () if is_key(text) => Accepted::Whole,
        () => Accepted::Text,
    }
}

impl PendingKey {
    /// Opens a prompt for the path of the file, or for the key itself; `of` returns this key of the current pane.
    pub fn ask<P: 'static>(&mut self, family: Family, owner: KeyOwner, cx: &mut Cx, of: fn(&mut P) -> &mut PendingKey) {
        (self.family, self.owner, self.reading) = (family, owner, None);
        let (label, begin) = match family {
            Family::Ssh => ("public key: a file, Tab completes; or paste it", "~/.ssh/"),
            Family::Gpg => ("armored public key: a file, Tab completes; or paste it", "~/"),
        };
        let prompt = Prompt::ask(cx.here, label, begin, move |pane: &mut P, typed, cx| of(pane).read(typed, cx));
        cx.open(prompt.complete(Box::new(LocalPaths)).taking(take));
    }

    /// Shows the typed key, or reads the typed file.
    fn read(&mut self, text: String, cx: &mut Cx) {
        match () {
            () if is_private(&text) => cx.say(Tone::Bad, crate::domain::public_key::PRIVATE),
            () if text.len() as u64 > MAX_KEY_BYTES => cx.say(Tone::Bad, "This is too large for a key."),
            () if is_key(&text) => self.show(read(self.family, &text), cx),
            () if text.trim().is_empty() => {}
            () => {
                // Reading the same path again must give a new result.
                self.generation = (self.generation + 1).max(cx.view.now.as_millisecond().unsigned_abs());
                self.reading = Some(text);
            }
        }
    }

    /// Returns the file to read.
    pub fn wants(&self) -> Option<Want> {
        let path = self.reading.clone()?;
        Some(Work::new(ReadKey { family: self.family, path, generation: self.generation }).into())
    }

    /// Updates the state after a store update: shows the key once the file is read.
    pub fn changed(&mut self, cx: &mut Cx) {
        let Some(path) = &self.reading else { return };
        let result = cx.view.store.result::<Result<PublicKey, String>>(&key_of(self.family, path, self.generation));
        if let Some(outcome) = result.cloned() {
            self.reading = None;
            self.show(outcome, cx);
        }
    }

    fn show(&self, outcome: Result<PublicKey, String>, cx: &mut Cx) {
        match (outcome, &self.owner) {
            (Err(why), _) => cx.say(Tone::Bad, why),
            (Ok(key), _) if self.family == Family::Gpg => ask_gpg(key, cx),
            (Ok(key), KeyOwner::Own) => {
                let form = Form::of::<AddKey>("Add an SSH key", "add the SSH key", "new SSH key");
                open_ssh(form, key, cx);
            }
            (Ok(key), KeyOwner::Of(id, name)) => {
                let title = format!("Add an SSH key of @{}", sanitize(name));
                let form = Form::of::<AddUserKey>(title, format!("add an SSH key of @{name}"), "new SSH key of a user");
                open_ssh(form.fixed("id", id), key, cx);
            }
        }
    }
}

fn open_ssh(form: Form, key: PublicKey, cx: &mut Cx) {
    form.fixed("key", key.text)
        .fact("key", key.kind)
        .fact("fingerprint", key.fingerprint)
        .field("title", |field| {
            field.text(key.comment).help("A name for lists, such as the machine it is on.");
        })
        .open(cx);
}

/// Asks for confirmation before sending a GPG key, which has no title to fill in.
fn ask_gpg(key: PublicKey, cx: &mut Cx) {
    let write = Write::new(&AddGpgKey { key: key.text }, "add the GPG key");
    let mut things = vec![key.kind, key.fingerprint];
    things.extend(Some(sanitize(&key.comment).into_owned()).filter(|comment| !comment.is_empty()));
    let question = "Add this GPG key to your account?";
    let confirm = Confirm::new("Add a GPG key", question, Action::Send(write)).naming(things);
    cx.open(confirm);
}
