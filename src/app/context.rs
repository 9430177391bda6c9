//! The context of an update: the state to read, and the actions to request.

use super::action::{Action, InPane};
use super::overlay::Overlay;
use super::place::Place;
use super::tone::Tone;
use super::view::View;

/// The context of an update: the state to read, and the requested actions.
pub struct Cx<'a> {
    /// The state to read.
    pub view: View<'a>,
    /// The requested actions, in order.
    pub actions: Vec<Action>,
    /// The current pane.
    pub here: Here,
}

/// The identity of an open pane, to continue there when a question is answered or a reply arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Here(pub(super) u64);

impl Here {
    /// Returns the action that runs `then` in this pane, which is of type `P`. It is ignored if another pane is shown by
    /// then.
    pub fn then<P: 'static>(self, then: impl FnOnce(&mut P, &mut Cx) + 'static) -> Action {
        let run = |pane: &mut dyn std::any::Any, cx: &mut Cx| {
            if let Some(pane) = pane.downcast_mut() {
                then(pane, cx);
            }
        };
        Action::Continue(InPane { here: self, run: Box::new(run) })
    }
}

impl<'a> Cx<'a> {
    pub(super) fn new(view: View<'a>, here: Here) -> Cx<'a> {
        Cx { view, actions: Vec::new(), here }
    }

    /// Requests `action`.
    pub fn act(&mut self, action: Action) {
        self.actions.push(action);
    }

    /// Opens `place`.
    pub fn go(&mut self, place: Place) {
        self.act(Action::GoToPlace(place));
    }

    /// Shows a temporary message in the footer.
    pub fn say(&mut self, tone: Tone, text: impl Into<String>) {
        self.act(Action::Say(tone, text.into()));
    }

    /// Says that a draft is saved and how it is opened again, or that it is only in memory.
    pub fn say_draft_saved(&mut self, how: &str) {
        match self.view.drafts.failure() {
            None => self.say(Tone::Info, format!("Draft saved: {how}.")),
            Some(why) => {
                let words = format!(
                    "The draft could not be written to disk and is only in memory: {why}. Until you quit, {how}."
                );
                self.say(Tone::Bad, words);
            }
        }
    }

    /// Opens an overlay on top.
    pub fn open(&mut self, overlay: impl Overlay + 'static) {
        self.act(Action::OpenOverlay(Box::new(overlay)));
    }
}
