//! A text that takes the place of another: what the server has of it, and what somebody else made of that in the
//! meantime.

use super::{Composer, State};
use crate::api::Endpoint;
use crate::app::action::Tone;
use crate::app::overlay::edit_conflict::{Change, EditConflict, Resolution};
use crate::app::pane::{Cx, View};
use crate::store::Load;

/// Reads from the store what the server has; no text where it has none.
type ReadCurrent = Box<dyn Fn(&View) -> Option<Option<String>>>;

/// What the server has, of a text that takes its place.
pub(super) struct Current {
    pub load: Load,
    read: ReadCurrent,
    /// What it had when the text was begun, or when it was shown to the user last.
    pub base: Option<String>,
}

impl Composer {
    /// The text takes the place of `base`, which `get` reads with `read`: what somebody else made of it in the meantime
    /// is shown before it is replaced.
    pub fn in_place_of<G: Endpoint>(
        mut self,
        base: Option<String>,
        get: G,
        read: fn(&G::Output) -> Option<String>,
    ) -> Composer {
        self.current = Some(Current {
            load: Load::one(&get),
            read: Box::new(move |view| Some(read(view.store.get(&get).value?))),
            base,
        });
        self
    }

    /// Once the server has said what it has now: sends the text, or shows what it would take the place of.
    pub(super) fn look(&mut self, cx: &mut Cx) {
        let Some(current) = &self.current else { return };
        if !cx.view.store.is_fresh(&current.load.request) {
            return;
        }
        let mine = self.text();
        let Some(current) = &mut self.current else { return };
        let failed = cx.view.store.error_of(&current.load.request).is_some();
        // Where it cannot be read again, the server's own answer to the text has to do.
        let Some(now) = (current.read)(&cx.view).filter(|_| !failed) else {
            return self.send(cx);
        };
        if now == current.base || now.as_ref() == Some(&mine) {
            current.base = now;
            return self.send(cx);
        }
        let was = current.base.clone().unwrap_or_default();
        let change = Change { field: "text".into(), was, now: now.clone(), mine: Some(mine) };
        self.state = State::Clashing(EditConflict::new(vec![change]), now);
    }

    /// What is to become of what somebody else made of it.
    pub(super) fn decide(&mut self, choice: Resolution, cx: &mut Cx) {
        let State::Clashing(_, now) = std::mem::replace(&mut self.state, State::Typing) else { return };
        let Some(current) = self.current.as_mut().filter(|_| choice != Resolution::Back) else { return };
        current.base.clone_from(&now);
        if choice == Resolution::Mine {
            return self.send(cx);
        }
        let Some(theirs) = now else {
            return cx.say(Tone::Info, "It was deleted: C-s creates it again with your text, Esc keeps your draft.");
        };
        // In one step, so that undoing it brings back what was typed.
        let area = self.area.get_mut();
        area.select_all();
        area.insert_str(theirs);
        self.keep(cx);
        cx.say(Tone::Info, "Showing their version; C-z restores yours.");
    }
}
