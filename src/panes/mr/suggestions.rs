//! Applying suggestions: with the suggestions API where available, else with a commit created by labscope.

use super::Mr;
use super::comment_actions::Target;
use crate::api::Id;
use crate::api::discussions::{ApplySuggestion, ApplySuggestions as ApplyBatch};
use crate::api::notes::{Note, Suggestion};
use crate::app::App;
use crate::app::action::Action;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::parts::list;
use crate::parts::review::apply_suggestions::ApplySuggestions;
use crate::parts::review::suggestions::{self, Change};
use crate::parts::review::threads;
use crate::store::Write;
use crate::ui::text::sanitize;

/// The reason why suggestion commands are disabled.
const NO_SUGGESTION: &str = "there is no suggestion under the cursor";

impl Mr {
    /// Returns the suggestions under the cursor, with the project and branch to commit them to.
    fn suggestions(&self, view: &View) -> Result<(Id, String, Vec<Change>), Disabled> {
        self.can_comment(view)?;
        let found = match self.target(view) {
            Some(Target::Comment { position: Some(position), body, .. }) => (position, body),
            Some(Target::Draft(key)) => {
                let draft = self.drafts.drafts().iter().find(|(known, _)| *known == key);
                let found = draft.and_then(|(_, draft)| Some((draft.position.clone()?, draft.text.clone())));
                found.ok_or(NO_SUGGESTION)?
            }
            _ => return Err(NO_SUGGESTION.into()),
        };
        let (position, body) = found;
        let changes: Vec<Change> = suggestions::read(&body)
            .into_iter()
            .map(|suggestion| Change { position: position.clone(), suggestion })
            .collect();
        if changes.is_empty() {
            return Err(NO_SUGGESTION.into());
        }
        let known = self.known(view).ok_or("it has not loaded yet")?;
        if !known.is_open() {
            return Err("it is no longer open".into());
        }
        let source = known.source_project_id.as_ref().map(|id| id.map(Id::from));
        let project = match source {
            Some(None) => return Err("its source fork is gone".into()),
            Some(Some(id)) if known.is_from_fork() => id,
            _ => self.project.clone(),
        };
        Ok((project, known.source_branch().to_owned(), changes))
    }

    /// Returns the suggestions under the cursor that have an ID on the server.
    fn known_suggestions(&self, view: &View) -> Vec<Suggestion> {
        match self.target(view) {
            Some(Target::Comment { suggestions, .. }) => suggestions,
            _ => Vec::new(),
        }
    }

    pub(super) fn can_apply(&self, view: &View) -> Result<(), Disabled> {
        let known = self.known_suggestions(view);
        if known.is_empty() {
            return self.suggestions(view).map(|_| ());
        }
        self.can_comment(view)?;
        match known.iter().find(|suggestion| suggestion.appliable) {
            Some(_) => Ok(()),
            None if known.iter().any(|suggestion| suggestion.applied) => Err("it is already applied".into()),
            None => Err("the suggestion can no longer be applied".into()),
        }
    }

    /// Asks for confirmation to apply suggestions with `write`.
    fn ask_to_apply(&self, count: usize, write: Write, cx: &mut Cx) {
        let Some(known) = self.known(&cx.view) else { return };
        let branch = sanitize(known.source_branch());
        let suggestions = if count == 1 { "the suggestion".to_owned() } else { format!("{count} suggestions") };
        let question = format!("Apply {suggestions}? This creates one commit on {branch}.");
        cx.act(App::confirm("Apply suggestions", question, Action::Send(write)));
    }

    /// Returns the IDs of the suggestions in unresolved threads that can be applied.
    fn all_suggestions(&self, view: &View) -> Vec<u64> {
        let open = |note: &&Note| note.resolved != Some(true);
        let all = self.notes(view).iter().filter(open).flat_map(|note| note.suggestions.iter().flatten());
        all.filter(|suggestion| suggestion.appliable).map(|suggestion| suggestion.id).collect()
    }

    pub(super) fn can_apply_all(&self, view: &View) -> Result<(), Disabled> {
        self.can_comment(view)?;
        let any = self.all_suggestions(view).first().map(|_| ());
        list::need(any, &self.notes(view), "the server has no suggestion that can be applied")
    }

    /// Applies all suggestions in one commit.
    pub(super) fn apply_all(&mut self, cx: &mut Cx) {
        let ids = self.all_suggestions(&cx.view);
        let count = ids.len();
        let batch = ApplyBatch { ids, commit_message: None };
        self.ask_to_apply(count, Write::new(&batch, "apply all suggestions"), cx);
    }

    /// Applies the suggestions under the cursor. If labscope creates the commit, shows the resulting changes first.
    pub(super) fn apply(&mut self, cx: &mut Cx) {
        let known = self.known_suggestions(&cx.view);
        if !known.is_empty() {
            let ids: Vec<u64> = known.iter().filter(|known| known.appliable).map(|known| known.id).collect();
            let write = match ids.as_slice() {
                [id] => Write::new(&ApplySuggestion { id: *id, commit_message: None }, "apply the suggestion"),
                _ => Write::new(&ApplyBatch { ids: ids.clone(), commit_message: None }, "apply the suggestions"),
            };
            return self.ask_to_apply(ids.len(), write, cx);
        }
        match self.suggestions(&cx.view) {
            Ok((project, branch, mut changes)) => {
                // A reply does not repeat the quoted lines; those of its thread are used.
                let notes = self.notes(&cx.view);
                for change in changes.iter_mut().filter(|change| change.position.quote.is_empty()) {
                    let places = notes.iter().filter_map(|note| threads::place(note).0);
                    let quotes =
                        places.filter(|position| !position.quote.is_empty() && position.has_same_end(&change.position));
                    if let Some(position) = quotes.into_iter().next() {
                        change.position.quote = position.quote;
                    }
                }
                cx.act(Action::OpenOverlay(Box::new(ApplySuggestions::new(project, branch, changes))));
                // The branch may have moved since it was loaded.
                cx.act(Action::Refresh);
            }
            Err(why) => cx.say(Tone::Warning, format!("Cannot apply it: {why}.")),
        }
    }
}
