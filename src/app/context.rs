//! The context of an update: the state to read, and the actions to request.

use super::action::Action;
use super::place::Place;
use super::tone::Tone;
use super::view::View;

/// The context of an update: the state to read, and the requested actions.
pub struct Cx<'a> {
    /// The state to read.
    pub view: View<'a>,
    /// The requested actions, in order.
    pub actions: Vec<Action>,
}

impl Cx<'_> {
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
}
