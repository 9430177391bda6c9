//! Replacing a text on the server: its current version, and conflicts with changes that somebody else made in the
//! meantime.

use super::{Composer, State};
use crate::context::Cx;
use crate::overlay::edit_conflict::{ConflictingChange, EditConflict, Resolution};
use crate::tone::Tone;
use crate::view::View;
use api::Endpoint;
use store::Load;

/// A function that reads the current text from the store; the inner value is `None` if the server has no text.
type ReadCurrentText = Box<dyn Fn(&View) -> Option<Option<String>>>;

/// The text on the server that is to be replaced.
pub(super) struct Current {
    pub load: Load,
    read: ReadCurrentText,
    /// The text when editing started, or when it was last shown to the user.
    pub base: Option<String>,
}

impl Composer {
    /// Makes the text replace `base`, which `read` extracts from the reply to `get`: a change that somebody else made
    /// in the meantime is shown before it is overwritten.
    pub fn in_place_of<G: Endpoint>(
        mut self,
        base: Option<String>,
        get: G,
        read: fn(&G::Output) -> Option<String>,
    ) -> Composer {
        self.current = Some(Current {
            load: Load::single(&get),
            read: Box::new(move |view| Some(read(view.store.get(&get).value?))),
            base,
        });
        self
    }

    /// Once the current text is known, sends the new one, or shows the text that it would replace.
    pub(super) fn check(&mut self, cx: &mut Cx) {
        let Some(current) = &self.current else { return };
        if !cx.view.store.is_fresh(&current.load.request) {
            return;
        }
        let mine = self.text();
        let Some(current) = &mut self.current else { return };
        let failed = cx.view.store.error_of(&current.load.request).is_some();
        // If the text cannot be fetched again, rely on the server's reply to the write.
        let Some(now) = (current.read)(&cx.view).filter(|_| !failed) else {
            return self.send(cx);
        };
        if now == current.base || now.as_ref() == Some(&mine) {
            current.base = now;
            return self.send(cx);
        }
        let was = current.base.clone().unwrap_or_default();
        let change = ConflictingChange { field: "text".into(), was, now: now.clone(), mine: Some(mine) };
        self.state = State::Conflict(Box::new(EditConflict::new(vec![change])), now);
    }

    /// Resolves the conflict with somebody else's change.
    pub(super) fn decide(&mut self, choice: Resolution, cx: &mut Cx) {
        let State::Conflict(_, now) = std::mem::replace(&mut self.state, State::Typing) else { return };
        let Some(current) = self.current.as_mut().filter(|_| choice != Resolution::Back) else { return };
        current.base.clone_from(&now);
        if choice == Resolution::Mine {
            return self.send(cx);
        }
        let Some(theirs) = now else {
            return cx.say(Tone::Info, "It was deleted: C-s creates it again with your text, Esc keeps your draft.");
        };
        self.input.replace(&theirs);
        self.keep(cx);
        cx.say(Tone::Info, "Showing their version; C-z restores yours.");
    }
}
