//! To-do items: created for assignments and mentions, and done once their user has acted.

use super::auth::Rights;
use super::call::{Answer, Call, Outcome, ReadCall, WriteCall, ok};
use super::mount::Mount;
use super::notes;
use super::records::{self, Namespace, Noteable, Record, State, Status, TodoAction};
use super::rejection::Rejection;
use super::world::World;
use crate::presenters::time;
use api::merge_requests::MergeRequest;
use api::todos::*;
use api::{NoContent, json};
use jiff::Timestamp;
use serde_json::json;
use std::collections::BTreeSet;
use std::ops::Deref;

pub fn mount(mount: Mount) -> Mount {
    mount
        .read_signed_in::<ListTodos>(list)
        .write::<MarkTodoAsDone>(mark_as_done)
        .write::<MarkAllTodosAsDone>(mark_all_as_done)
        .write::<CreateTodo>(create)
}

/// Returns the names after `@` in a text, in lower case, and whether only other names precede each. Ignores code spans.
fn mentions(text: &str) -> Vec<(String, bool)> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let mut out = Vec::new();
    // Every second part is inside backticks.
    for (index, part) in text.split('`').enumerate().step_by(2) {
        let (mut is_first, mut end) = (index == 0, 0);
        for (at, _) in part.match_indices('@') {
            let between = part.get(end..at).unwrap_or_default();
            is_first &= between.chars().all(|c| c.is_whitespace() || c == ',');
            let is_inside = part.get(..at).and_then(|head| head.chars().next_back()).is_some_and(is_name);
            let rest = part.get(at + 1..).unwrap_or_default();
            let name = rest.split(|c| !is_name(c)).next().unwrap_or_default().trim_end_matches(['.', '-']);
            if !is_inside && !name.is_empty() {
                out.push((name.to_lowercase(), is_first));
                end = at + 1 + name.len();
            }
        }
    }
    out
}

impl Rights {
    /// Returns whether the caller may read the object that notes are on.
    pub fn can_read_noteable(&self, world: &World, on: Noteable) -> bool {
        let project = |id: u64| world.projects.get(id);
        match on {
            Noteable::MergeRequest(id) => world
                .merge_requests
                .get(id)
                .and_then(|mr| project(mr.target_project))
                .is_some_and(|project| self.can_see_project(world, project) && self.can_read_code(world, project)),
            Noteable::Issue(id) => world.issues.get(id).is_some_and(|issue| {
                project(issue.project).is_some_and(|project| self.can_see_project(world, project))
                    && self.can_read_issue(world, issue)
            }),
            Noteable::Snippet(id) => world.snippets.get(id).is_some_and(|snippet| {
                project(snippet.project).is_some_and(|project| {
                    self.can_see_project(world, project) && self.can_see_snippet(world, project, snippet)
                })
            }),
            Noteable::Epic(id) => {
                let group = world.epics.get(id).and_then(|epic| world.groups.get(epic.group));
                group.is_some_and(|group| self.can_see_group(world, group))
            }
        }
    }
}

impl World {
    /// Adds a to-do item, unless the same one is pending, it was caused by the user itself, or the user may not read
    /// the object.
    pub fn add_todo(&mut self, todo: records::Todo) {
        let is_pending = |known: &records::Todo| {
            !known.done && (known.user, known.action, known.on) == (todo.user, todo.action, todo.on)
        };
        let can_act = self.users.get(todo.user).is_some_and(|user| !user.blocked && !user.is_ghost);
        let has_todos = !matches!(todo.on, Noteable::Snippet(_));
        if has_todos
            && can_act
            && (todo.user != todo.author || matches!(todo.action, TodoAction::BuildFailed | TodoAction::Marked))
            && !self.todos.iter().any(is_pending)
            && Rights::of(self, todo.user).can_read_noteable(self, todo.on)
        {
            self.todos.add(todo);
        }
    }

    /// Adds to-do items for users who are newly assigned or requested to review.
    pub fn add_assignment_todos(
        &mut self,
        on: Noteable,
        action: TodoAction,
        (before, after): (&[u64], &[u64]),
        author: u64,
        now: Timestamp,
    ) {
        for user in after.iter().copied().filter(|user| !before.contains(user)) {
            self.add_todo(records::Todo { user, author, action, on, created_at: now, ..records::Todo::default() });
        }
    }

    /// Adds to-do items for users who are mentioned in `text` but not in `before`, which it replaces. `note` is the
    /// note with the text, if it is not the description.
    pub fn add_mention_todos(
        &mut self,
        on: Noteable,
        note: Option<u64>,
        (before, text): (&str, &str),
        author: u64,
        now: Timestamp,
    ) {
        let known: BTreeSet<String> = mentions(before).into_iter().map(|(name, _)| name).collect();
        for (name, directly) in mentions(text).into_iter().filter(|(name, _)| !known.contains(name)) {
            let Some(user) = self.user_named(&name).map(|user| user.id) else { continue };
            let is_hidden = |note: &records::Note| note.internal && !Rights::of(self, user).can_read_note(self, note);
            if note.and_then(|id| self.notes.get(id)).is_some_and(is_hidden) {
                continue;
            }
            let action = if directly { TodoAction::DirectlyAddressed } else { TodoAction::Mentioned };
            let todo = records::Todo { user, author, action, on, note, created_at: now, ..records::Todo::default() };
            self.add_todo(todo);
        }
    }

    /// Adds to-do items for the authors of open merge requests whose pipeline has failed.
    pub fn add_pipeline_failure_todos(&mut self, pipeline: u64, now: Timestamp) {
        let Some(failed) = self.pipelines.get(pipeline).filter(|pipeline| pipeline.status == Status::Failed) else {
            return;
        };
        let of = |mr: &&records::MergeRequest| {
            mr.state == State::Opened && mr.source_project == failed.project && mr.source_branch == failed.ref_name
        };
        let requests: Vec<(u64, u64)> = self.merge_requests.iter().filter(of).map(|mr| (mr.id, mr.author)).collect();
        for (id, author) in requests {
            let (on, action) = (Noteable::MergeRequest(id), TodoAction::BuildFailed);
            let todo = records::Todo { user: author, author, action, on, created_at: now, ..records::Todo::default() };
            self.add_todo(todo);
        }
    }

    /// Marks a user's to-do items for an object as done, because they have acted on it.
    pub fn mark_todos_done(&mut self, on: Noteable, user: u64) {
        self.mark_done(|todo| todo.user == user && todo.on == on);
    }

    fn mark_done(&mut self, is_it: impl Fn(&records::Todo) -> bool) {
        let ids: Vec<u64> = self.todos.iter().filter(|todo| !todo.done && is_it(todo)).map(Record::id).collect();
        for id in ids {
            if let Some(todo) = self.todos.get_mut(id) {
                todo.done = true;
            }
        }
    }

    /// Removes the to-do items, reactions and links of objects that have been deleted.
    pub fn remove_orphans(&mut self) {
        let todos = self.todos.iter().filter(|todo| !self.has_noteable(todo.on));
        let awards = self.awards.iter().filter(|award| !self.has_noteable(award.on));
        let (todos, awards): (BTreeSet<u64>, BTreeSet<u64>) =
            (todos.map(Record::id).collect(), awards.map(Record::id).collect());
        self.todos.remove_where(|todo| todos.contains(&todo.id));
        self.awards.remove_where(|award| awards.contains(&award.id));
        let (issues, requests) = (&self.issues, &self.merge_requests);
        self.issue_links.remove_where(|link| issues.get(link.source).is_none() || issues.get(link.target).is_none());
        self.dependencies
            .remove_where(|known| requests.get(known.blocking).is_none() || requests.get(known.blocked).is_none());
    }

    fn has_noteable(&self, on: Noteable) -> bool {
        match on {
            Noteable::MergeRequest(id) => self.merge_requests.get(id).is_some(),
            Noteable::Issue(id) => self.issues.get(id).is_some(),
            Noteable::Snippet(id) => self.snippets.get(id).is_some(),
            Noteable::Epic(id) => self.epics.get(id).is_some(),
        }
    }

    /// Returns the project of an object; `None` for an epic.
    pub fn project_of(&self, on: Noteable) -> Option<&records::Project> {
        self.projects.get(match on {
            Noteable::MergeRequest(id) => self.merge_requests.get(id)?.target_project,
            Noteable::Issue(id) => self.issues.get(id)?.project,
            Noteable::Snippet(id) => self.snippets.get(id)?.project,
            Noteable::Epic(_) => return None,
        })
    }

    /// Returns the group of an object, or of its project.
    pub fn group_of(&self, on: Noteable) -> Option<u64> {
        match (on, self.project_of(on).map(|project| project.namespace)) {
            (Noteable::Epic(id), _) => self.epics.get(id).map(|epic| epic.group),
            (_, Some(Namespace::Group(id))) => Some(id),
            (_, Some(Namespace::User(_)) | None) => None,
        }
    }
}

impl<W: Deref<Target = World>> Call<W> {
    /// Converts a to-do item to its API representation.
    fn show_todo(&self, todo: &records::Todo) -> Todo {
        let world = &self.world;
        let project = world.project_of(todo.on);
        let page = |path: &str| project.map(|project| self.project_page(project, path));
        let (target_type, url, title, whole) = match todo.on {
            Noteable::MergeRequest(id) => {
                let mr = world.merge_requests.get(id);
                let git = project.and_then(|project| self.git(project).ok());
                let whole = mr.map(|mr| {
                    let changes_count = Some(self.change_count(mr, git.as_ref()));
                    json::to_value(&MergeRequest { changes_count, ..self.show_merge_request(mr, git.as_ref()) })
                });
                let url = mr.and_then(|mr| page(&format!("merge_requests/{}", mr.iid)));
                ("MergeRequest", url, mr.map(|mr| mr.title.clone()), whole)
            }
            Noteable::Issue(id) => {
                let issue = world.issues.get(id);
                let url = issue.and_then(|issue| page(&format!("issues/{}", issue.iid)));
                let whole = issue.map(|issue| json::to_value(&self.show_issue(issue, false)));
                ("Issue", url, issue.map(|issue| issue.title.clone()), whole)
            }
            Noteable::Epic(id) => {
                let epic = world.epics.get(id);
                let path = epic.map(|epic| world.group_path(epic.group)).unwrap_or_default();
                let url = epic.map(|epic| format!("{}/groups/{path}/-/epics/{}", self.base_url, epic.iid));
                let whole = epic.map(|epic| {
                    let (id, iid, title, group_id) = (epic.id, epic.iid, &epic.title, epic.group);
                    Ok(json!({ "id": id, "iid": iid, "group_id": group_id, "title": title, "web_url": &url }))
                });
                ("Epic", url, epic.map(|epic| epic.title.clone()), whole)
            }
            Noteable::Snippet(_) => ("ProjectSnippet", None, None, None),
        };
        let note = todo.note.and_then(|id| world.notes.get(id));
        let group = project.is_none().then(|| self.todo_group(todo.on)).flatten();
        let fragment = note.map(|note| format!("#note_{}", note.id)).unwrap_or_default();
        Todo {
            id: todo.id,
            project: project.map(|project| self.todo_project(project)),
            group,
            author: Some(self.user_summary(todo.author)),
            action_name: todo.action.as_str().into(),
            target_type: target_type.into(),
            target: whole.and_then(Result::ok).map(|whole| TodoTarget { whole, ..TodoTarget::default() }),
            target_url: url.map(|url| format!("{url}{fragment}")),
            body: note.map_or(title.unwrap_or_default(), |note| note.body.clone()),
            state: if todo.done { "done" } else { "pending" }.into(),
            created_at: Some(time(todo.created_at)),
            updated_at: Some(time(todo.created_at)),
        }
    }

    fn todo_project(&self, project: &records::Project) -> TodoProject {
        TodoProject {
            id: project.id,
            description: project.description.clone(),
            name: project.name.clone(),
            name_with_namespace: format!("{} / {}", self.world.namespace_name(project.namespace), project.name),
            path: project.path.clone(),
            path_with_namespace: self.world.project_path(project),
            created_at: Some(time(project.created_at)),
        }
    }

    fn todo_group(&self, on: Noteable) -> Option<TodoGroup> {
        let Noteable::Epic(id) = on else { return None };
        let group = self.world.groups.get(self.world.epics.get(id)?.group)?;
        let full_path = self.world.group_path(group.id);
        Some(TodoGroup { id: group.id, name: group.name.clone(), path: group.path.clone(), full_path })
    }
}

fn list(call: &ReadCall, input: ListTodos) -> Outcome<Vec<Todo>> {
    let user = call.require_user()?.id;
    let any =
        |words: &[&'static str]| -> Vec<&'static str> { std::iter::once("").chain(words.iter().copied()).collect() };
    let action = call.choice_or_first("action", input.action.as_deref(), &any(ACTIONS))?.to_owned();
    let kind = call.choice_or_first("type", input.r#type.as_deref(), &any(TYPES))?.to_owned();
    let done = call.choice_or_first("state", input.state.as_deref(), &["pending", "done"])? == "done";
    let world = call.world;
    let in_group = |on: Noteable, group: u64| {
        let own = world.group_of(on);
        own.is_some_and(|own| world.group_chain(own).iter().any(|above| above.id == group))
    };
    let kind_of = |on: Noteable| match on {
        Noteable::MergeRequest(_) => "MergeRequest",
        Noteable::Issue(_) => "Issue",
        Noteable::Epic(_) => "Epic",
        Noteable::Snippet(_) => "ProjectSnippet",
    };
    let fits = |todo: &&records::Todo| {
        todo.user == user
            && todo.done == done
            && (action.is_empty() || todo.action.as_str() == action)
            && (kind.is_empty() || kind_of(todo.on) == kind)
            && input.author_id.is_none_or(|author| todo.author == author)
            && input.project_id.is_none_or(|id| world.project_of(todo.on).is_some_and(|project| project.id == id))
            && input.group_id.is_none_or(|group| in_group(todo.on, group))
            && call.rights.can_read_noteable(world, todo.on)
    };
    let mut rows: Vec<&records::Todo> = world.todos.iter().filter(fits).collect();
    rows.sort_by_key(|todo| std::cmp::Reverse((todo.created_at, todo.id)));
    call.page(rows, |todo| call.show_todo(todo))
}

fn create(call: &mut WriteCall, input: CreateTodo) -> Outcome<Todo> {
    let on = notes::target(call, &input.on)?.noteable;
    let user = call.require_user()?.id;
    let before = call.world.todos.len();
    let (action, created_at) = (TodoAction::Marked, call.now);
    call.world.add_todo(records::Todo { user, author: user, action, on, created_at, ..records::Todo::default() });
    let new = call.world.todos.iter().next_back().filter(|_| call.world.todos.len() > before);
    ok(call.show_todo(new.ok_or_else(Rejection::not_modified)?))
}

fn mark_as_done(call: &mut WriteCall, input: MarkTodoAsDone) -> Outcome<Todo> {
    let user = call.require_user()?.id;
    let is_shown = |todo: &&records::Todo| todo.user == user && call.rights.can_read_noteable(call.world, todo.on);
    let own = call.world.todos.get(input.id).filter(is_shown);
    let id = own.ok_or_else(Rejection::record_not_found)?.id;
    call.world.mark_done(|todo| todo.id == id);
    let todo = call.world.todos.get(id).ok_or_else(Rejection::record_not_found)?;
    ok(call.show_todo(todo))
}

fn mark_all_as_done(call: &mut WriteCall, _: MarkAllTodosAsDone) -> Outcome<NoContent> {
    let user = call.require_user()?.id;
    call.world.mark_done(|todo| todo.user == user);
    Ok(Answer::new(NoContent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mentions_are_found_outside_code() {
        let found = |text: &str| -> Vec<String> {
            let show = |(name, first): (String, bool)| if first { format!("{name}!") } else { name };
            mentions(text).into_iter().map(show).collect()
        };
        assert_eq!(found("@ada, @Bo could you?"), ["ada!", "bo!"]);
        assert_eq!(found("Ask @ada. Or @bo-2!"), ["ada", "bo-2"]);
        assert_eq!(found("ada@example.com `@bo` and\n```\n@cem\n```\n@dora"), ["dora"]);
        assert_eq!(found("@"), Vec::<String>::new());
    }
}
