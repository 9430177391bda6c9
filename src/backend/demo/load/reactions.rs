//! Loads reactions to merge requests and issues, and to notes (also on snippets), from a world file.

use super::{Loader, Result};
use crate::demo::schema::{ReactionForm, WorldFile};
use crate::records::{Noteable, Record};
use jiff::Timestamp;

impl Loader {
    /// Adds all reactions; the threads must have been loaded.
    pub(super) fn all_reactions(&mut self, form: &WorldFile) -> Result<()> {
        for one in &form.merge_requests {
            let project = self.project_id(&one.project)?;
            let found = self.world.merge_requests.iter().find(|mr| mr.target_project == project && mr.iid == one.iid);
            let Some((id, at)) = found.map(|mr| (mr.id, mr.created_at)) else { continue };
            let votes = [one.thumbs_up.as_slice(), one.thumbs_down.as_slice()];
            self.reactions(Noteable::MergeRequest(id), votes, &one.reactions, at)
                .map_err(|e| format!("merge_requests.{}!{}.reactions: {e}", one.project, one.iid))?;
        }
        for one in &form.issues {
            let project = self.project_id(&one.project)?;
            let found = self.world.issues.iter().find(|issue| issue.project == project && issue.iid == one.iid);
            let Some((id, at)) = found.map(|issue| (issue.id, issue.created_at)) else { continue };
            self.reactions(Noteable::Issue(id), [one.thumbs_up.as_slice(), &[]], &one.reactions, at)
                .map_err(|e| format!("issues.{}#{}.reactions: {e}", one.project, one.iid))?;
        }
        for one in form.snippets.iter().filter(|one| !one.reactions.is_empty()) {
            let project = self.project_id(&one.project)?;
            let found = self.world.snippets.iter().find(|row| row.project == project && row.title == one.title);
            let Some((id, at)) = found.map(|row| (row.id, row.created_at)) else { continue };
            self.reactions(Noteable::Snippet(id), [&[], &[]], &one.reactions, at)
                .map_err(|e| format!("snippets.{}.reactions: {e}", one.title))?;
        }
        Ok(())
    }

    fn reactions(&mut self, on: Noteable, votes: [&[String]; 2], more: &[ReactionForm], at: Timestamp) -> Result<()> {
        let votes = ["thumbsup", "thumbsdown"].into_iter().zip(votes).map(|(name, users)| ("", name, users));
        let more = more.iter().map(|(note, name, users)| (note.as_str(), name.as_str(), users.as_slice()));
        for (words, name, users) in votes.chain(more) {
            let (note, at) = match words {
                "" => (None, at),
                words => {
                    let found = self.world.notes.iter().find(|note| note.on == on && note.body.contains(words));
                    let note = found.ok_or_else(|| format!("no note contains `{words}`"))?;
                    (Some(note.id()), note.created_at)
                }
            };
            for user in users {
                let user = self.user_id(name, user)?;
                self.world.react(on, note, name, user, at);
            }
        }
        Ok(())
    }
}
