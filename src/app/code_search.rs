//! Searching a project's code for a word of the line under the cursor.

use super::App;
use super::action::{Action, Effect};
use super::command_info::Disabled;
use super::overlay::picker::{Item, Picker};
use super::place::Place;
use super::place_info::{self, Subject};

impl App {
    /// Opens the search for the word under the cursor, or a list of the words of its line if none is meant.
    pub(super) fn search_code(&mut self, effects: &mut Vec<Effect>) {
        let Ok(mut found) = self.code_searches() else { return };
        match (found.pop(), found.is_empty()) {
            (Some((_, place)), true) => self.act(Action::GoToPlace(place), effects),
            (last, _) => {
                let items = found.into_iter().chain(last);
                let items = items.map(|(word, place)| Item::act(word, Action::GoToPlace(place))).collect();
                self.overlays.push(Box::new(Picker::new("Search code for", items)));
            }
        }
    }

    /// Returns the words under the cursor with the searches for them, at least one; the error is the reason why there is
    /// none.
    pub(super) fn code_searches(&self) -> Result<Vec<(String, Place)>, Disabled> {
        let pane = self.nav.top().ok_or("no place is open")?;
        let project = pane.place().project.ok_or("no project is selected")?;
        let words = pane.code(&self.view_of()).words;
        if words.is_empty() {
            return Err("there is no word under the cursor".into());
        }
        let place = place_info::place_of(&self.nav.places, Subject::Search);
        let search = |word: &str| place.clone().project(project.clone()).item(word).tab("blobs");
        Ok(words.into_iter().map(|word| (word.clone(), search(&word))).collect())
    }
}
