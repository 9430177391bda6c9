//! Adds to-do items to a world: those caused by assignments and mentions, and those in the world file.

use super::{Loader, Result};
use crate::demo::schema::TodoForm;
use crate::records::{Noteable, Todo, TodoAction};
use jiff::Timestamp;

impl Loader {
    /// Adds to-do items for the assignees of an object and the users mentioned on it, and marks those as done whose
    /// users have acted since. `by` merged or closed it.
    pub(super) fn todos_of(&mut self, on: Noteable, by: Option<u64>) {
        let (author, assignees, description, at) = match on {
            Noteable::MergeRequest(id) => match self.world.merge_requests.get(id) {
                Some(mr) => (mr.author, mr.assignee.into_iter().collect(), mr.description.clone(), mr.created_at),
                None => return,
            },
            Noteable::Issue(id) => match self.world.issues.get(id) {
                Some(issue) => (issue.author, issue.assignees.clone(), issue.description.clone(), issue.created_at),
                None => return,
            },
            Noteable::Snippet(_) | Noteable::Epic(_) => return,
        };
        self.world.add_assignment_todos(on, TodoAction::Assigned, (&[], &assignees), author, at);
        self.world.add_mention_todos(on, None, ("", &description), author, at);
        let mut notes: Vec<(Timestamp, u64, u64, Option<String>)> = Vec::new();
        for note in self.world.notes.iter().filter(|note| note.on == on) {
            notes.push((note.created_at, note.id, note.author, (!note.system).then(|| note.body.clone())));
        }
        notes.sort();
        for (at, id, author, body) in notes {
            self.world.mark_todos_done(on, author);
            if let Some(body) = body {
                self.world.add_mention_todos(on, Some(id), ("", &body), author, at);
            }
        }
        let approved: Vec<u64> = match on {
            Noteable::MergeRequest(id) => {
                self.world.merge_requests.get(id).map(|mr| mr.approvals.keys().copied().collect())
            }
            _ => None,
        }
        .unwrap_or_default();
        for user in approved.into_iter().chain(by) {
            self.world.mark_todos_done(on, user);
        }
    }

    pub(super) fn todo(&mut self, form: &TodoForm) -> Result<()> {
        let mark = form.target.find(['!', '#']).ok_or("target: is not group/project!12 or group/project#7")?;
        let (path, number) = form.target.split_at(mark);
        let project = self.project_id(path)?;
        let is_request = number.starts_with('!');
        let iid: u64 = number.trim_start_matches(['!', '#']).parse().map_err(|e| format!("target: {e}"))?;
        let request = || self.world.merge_requests.iter().find(|mr| mr.target_project == project && mr.iid == iid);
        let issue = || self.world.issues.iter().find(|issue| issue.project == project && issue.iid == iid);
        let on = match is_request {
            true => request().map(|mr| Noteable::MergeRequest(mr.id)),
            false => issue().map(|issue| Noteable::Issue(issue.id)),
        };
        let todo = Todo {
            user: self.user_id("user", &form.user)?,
            author: self.user_id("author", &form.author)?,
            action: TodoAction::from_name(&form.action)
                .ok_or_else(|| format!("action: unknown action `{}`", form.action))?,
            on: on.ok_or_else(|| format!("target: there is no {}", form.target))?,
            created_at: self.parse_time(&form.created).map_err(|e| format!("created: {e}"))?,
            done: form.done,
            ..Todo::default()
        };
        self.world.todos.add(todo);
        Ok(())
    }
}
