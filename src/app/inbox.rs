//! New to-dos: requested whatever place is open, and told once, also over restarts.

use super::App;
use super::action::Effect;
use super::state::{SeenChange, StateChange};
use super::tone::Tone;
use super::view::View;
use api::todos::{ListTodos, Todo};
use store::{Load, Rows, Want};
use ui::text;

/// Returns the want for the pending to-dos, unless nothing is read by itself.
pub(super) fn want(view: &View) -> Option<Want> {
    let interval = view.refresh_after().filter(|_| view.session.signed_in)?;
    Some(Load::list(&ListTodos::pending(), 1).optional().refresh_after(interval).into())
}

/// Returns a to-do as news.
fn news(todo: &Todo) -> String {
    let who = todo.author.as_ref().map_or("Somebody", |author| author.username.as_str());
    let what = match format!("{}{}", todo.container_path(), todo.reference()) {
        label if label.is_empty() => todo.title().to_owned(),
        label => label,
    };
    let words = match todo.action_name.as_str() {
        "assigned" => format!("{who} assigned {what} to you"),
        "review_requested" => format!("{who} requested your review of {what}"),
        "mentioned" | "directly_addressed" => format!("{who} mentioned you in {what}"),
        "review_submitted" => format!("{who} reviewed {what}"),
        "member_access_requested" => format!("{who} requested access to {what}"),
        "build_failed" => format!("The pipeline of {what} failed"),
        "unmergeable" => format!("{what} cannot be merged"),
        "approval_required" => format!("{what} needs your approval"),
        _ => format!("New to-do: {what}"),
    };
    text::sanitize(&words).into_owned()
}

impl App {
    fn pending_todos<'a>(&self, view: &View<'a>) -> Rows<'a, Todo> {
        view.store.list(&ListTodos::pending())
    }

    /// Returns the number of pending to-dos for the first line of the screen; `None` if there are none, or if they are not
    /// requested by themselves.
    pub(super) fn todo_count(&self, view: &View) -> Option<String> {
        want(view)?;
        let rows = self.pending_todos(view);
        let loaded = rows.len() as u64;
        let count = rows.total.unwrap_or(loaded);
        let more = if rows.total.is_none() && rows.has_more { "+" } else { "" };
        (count > 0).then(|| format!("{}{more} {}", text::count(count), if count == 1 { "to-do" } else { "to-dos" }))
    }

    /// Tells the to-dos that are new, except those that the user added. At the very first time, those that are there are
    /// not new.
    pub(super) fn tell_todos(&mut self, effects: &mut Vec<Effect>) {
        if self.server_switch.in_background || want(&self.view_of()).is_none() {
            return;
        }
        let last = self.saved.state.seen.last_todo;
        let rows = self.pending_todos(&self.view_of());
        let Some(newest) = rows.iter().map(|todo| todo.id).max().or(rows.is_loaded.then_some(0)) else { return };
        if last.is_some_and(|last| newest <= last) {
            return;
        }
        let is_new = |todo: &&Todo| last.is_some_and(|last| todo.id > last) && todo.action_name != "marked";
        let new: Vec<&Todo> = rows.iter().filter(is_new).collect();
        let words = new.iter().max_by_key(|todo| todo.id).map(|latest| match new.len() {
            1 => news(latest),
            count => format!("{} new to-dos, the latest: {}", text::count(count as u64), news(latest)),
        });
        self.saved.change(&StateChange::Seen(SeenChange::Todo(newest)), effects);
        let Some(words) = words else { return };
        if self.input.is_unfocused {
            effects.push(Effect::Notify(words.clone()));
        }
        self.say(Tone::Info, format!("{words}. ‹go.todos› lists your to-dos"));
    }
}
