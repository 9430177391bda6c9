//! Applying suggestions: those that the server knows, and those that labscope reads from comments.

use super::Mr;
use crate::api::Id;
use crate::api::notes::{Note, Suggestion};
use crate::app::action::Action;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::outbox::DiffPosition;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::parts::comments::{Comment, ShowsComments, Target};
use crate::parts::list;
use crate::parts::review::apply_suggestions::ApplySuggestions;
use crate::parts::review::suggestions::{self, SuggestedChange};
use crate::parts::review::threads;

/// The reason why suggestion commands are disabled.
const NO_SUGGESTION: &str = "there is no suggestion under the cursor";

impl Mr {
    /// Returns the project and the branch that suggestions are committed to.
    pub(super) fn source(&self, view: &View) -> Result<(Id, String), Disabled> {
        let known = self.reads.known(view).ok_or("it has not loaded yet")?;
        if !known.is_open() {
            return Err("it is no longer open".into());
        }
        if known.source_project_id.is_null() {
            return Err("its source fork is gone".into());
        }
        self.can_push_to_source(known, view)?;
        let source = known.source_project_id.filter(|_| known.is_from_fork());
        let project = source.map_or_else(|| self.reads.project.clone(), Id::from);
        Ok((project, known.source_branch().to_owned()))
    }

    /// Returns the suggestions under the cursor.
    fn suggestions(&self, view: &View) -> Result<Vec<SuggestedChange>, Disabled> {
        self.can_comment(view)?;
        let found = match self.target(view) {
            Some(Target::Comment(Comment { position: Some(position), body, .. })) => (position, body.to_owned()),
            Some(Target::Draft(id)) => {
                let found = self.drafts.get(id).and_then(|(_, draft)| Some((draft.position?, draft.text)));
                found.ok_or(NO_SUGGESTION)?
            }
            _ => return Err(NO_SUGGESTION.into()),
        };
        let (position, body) = found;
        let changes: Vec<SuggestedChange> = suggestions::read(&body)
            .into_iter()
            .map(|suggestion| SuggestedChange { position: position.clone(), suggestion, on_server: None })
            .collect();
        if changes.is_empty() {
            return Err(NO_SUGGESTION.into());
        }
        self.source(view)?;
        Ok(changes)
    }

    /// Returns the suggestions under the cursor that have an ID on the server, and the position of their comment.
    fn known_suggestions<'a>(&'a self, view: &View<'a>) -> (Option<DiffPosition>, &'a [Suggestion]) {
        match self.target(view) {
            Some(Target::Comment(Comment { suggestions, position, .. })) => (position, suggestions),
            _ => (None, &[]),
        }
    }

    pub(super) fn can_apply(&self, view: &View) -> Result<(), Disabled> {
        let (_, known) = self.known_suggestions(view);
        if known.is_empty() {
            return self.suggestions(view).map(|_| ());
        }
        self.can_comment(view)?;
        self.source(view)?;
        match known.iter().find(|suggestion| suggestion.appliable) {
            Some(_) => Ok(()),
            None if known.iter().any(|suggestion| suggestion.applied) => Err("it is already applied".into()),
            None => Err("the suggestion can no longer be applied".into()),
        }
    }

    /// Returns the suggestions in unresolved threads that the server can apply.
    fn all_suggestions(&self, view: &View) -> Vec<SuggestedChange> {
        let open = |note: &&Note| note.resolved != Some(true);
        let of_note = |note: &Note| {
            let position = threads::place(note).0;
            changes(position.as_ref(), note.suggestions.as_deref().unwrap_or_default())
        };
        self.reads.notes(view).iter().filter(open).flat_map(of_note).collect()
    }

    pub(super) fn can_apply_all(&self, view: &View) -> Result<(), Disabled> {
        self.can_comment(view)?;
        self.source(view)?;
        let any = self.all_suggestions(view).first().map(|_| ());
        list::need(any, &self.reads.notes(view), "the server has no suggestion that can be applied")
    }

    /// Applies all suggestions in one commit, after showing the resulting changes.
    pub(super) fn apply_all(&mut self, cx: &mut Cx) {
        let all = self.all_suggestions(&cx.view);
        self.ask_to_apply(all, cx);
    }

    /// Applies the suggestions under the cursor, after showing the resulting changes.
    pub(super) fn apply(&mut self, cx: &mut Cx) {
        let (position, known) = self.known_suggestions(&cx.view);
        if !known.is_empty() {
            return self.ask_to_apply(changes(position.as_ref(), known), cx);
        }
        match self.suggestions(&cx.view) {
            Ok(mut changes) => {
                // A reply does not repeat the quoted lines; those of its thread are used.
                let notes = self.reads.notes(&cx.view);
                for change in changes.iter_mut().filter(|change| change.position.quote.is_empty()) {
                    let places = notes.iter().filter_map(|note| threads::place(note).0);
                    let quotes =
                        places.filter(|position| !position.quote.is_empty() && position.has_same_end(&change.position));
                    if let Some(position) = quotes.into_iter().next() {
                        change.position.quote = position.quote;
                    }
                }
                self.ask_to_apply(changes, cx);
            }
            Err(why) => cx.say(Tone::Warning, format!("Cannot apply it: {why}.")),
        }
    }

    /// Shows what suggestions change, and asks for confirmation.
    fn ask_to_apply(&self, changes: Vec<SuggestedChange>, cx: &mut Cx) {
        match self.source(&cx.view) {
            Ok(_) if changes.is_empty() => {
                cx.say(Tone::Warning, "Cannot apply it: the server does not name its lines.")
            }
            Ok((project, branch)) => {
                cx.open(ApplySuggestions::new(project, branch, changes));
                // The branch may have moved since it was loaded.
                cx.act(Action::Refresh);
            }
            Err(why) => cx.say(Tone::Warning, format!("Cannot apply it: {why}.")),
        }
    }
}

/// Returns the suggestions of a comment that the server can apply.
fn changes(position: Option<&DiffPosition>, known: &[Suggestion]) -> Vec<SuggestedChange> {
    let known = known.iter().filter(|known| known.appliable);
    known.filter_map(|known| SuggestedChange::of_server(position?, known)).collect()
}
