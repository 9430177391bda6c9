//! The to-dos of the user, with the reason for each.

use crate::api::todos::{ListTodos, MarkAllTodosAsDone, Todo};
use crate::app::overlay::batch;
use crate::app::query::{self, Grammar, QueryResult};
use crate::app::tone::Tone;
use crate::parts::items::todos;
use crate::parts::list::prelude::*;
use crate::parts::list::{self, query_list};
use crate::parts::text::rendered_markdown;
use crate::store::{Derived, Load, Rows};
use crate::ui::{glyph, text};
use serde_json::json;

/// The server's names of the states of the tabs.
const STATES: &[&str] = &["pending", "done"];

fn author(todo: &Todo) -> &str {
    todo.author.as_ref().map_or("", |author| author.username.as_str())
}

/// The to-dos of the user.
#[derive(Default)]
pub struct TodoSource {
    /// The number of pending to-dos, without those that were marked as done, for a version of those.
    pending: Derived<u64, usize>,
}

/// The list of to-dos.
pub type Todos = ListPane<TodoSource>;

fn grammar() -> Grammar {
    // Words without a key are searched in the loaded rows.
    Grammar::new(query::TODOS, Some("words"), None)
}

fn contains_word(todo: &Todo, word: &str) -> bool {
    let texts = [todo.title(), todo.container_path(), author(todo), todo.body.as_str()];
    let reference = todo.reference();
    texts.into_iter().chain([reference.as_str()]).any(|text| text.to_lowercase().contains(word))
}

impl Todos {
    fn open_target(&mut self, todo: &Todo, cx: &mut Cx) {
        match todos::place(todo, &cx.view) {
            Some(place) => cx.go(place),
            None => cx.say(Tone::Warning, "labscope cannot show its target; ‹browse› opens its page"),
        }
    }

    fn can_finish(&self, view: &View) -> Result<(), Disabled> {
        match self.marked_or_selected(view).iter().any(|todo| todo.is_pending()) {
            true => Ok(()),
            false => Err("it is done already".into()),
        }
    }

    fn finish(&mut self, chosen: &[&Todo], cx: &mut Cx) {
        let pending: Vec<&Todo> = chosen.iter().copied().filter(|todo| todo.is_pending()).collect();
        let action = todos::finish(&pending, "todos.undo");
        self.list.state.clear_marks();
        cx.act(action);
    }

    /// Returns the writes that add the done to-dos again that are marked or under the cursor.
    fn additions(&self, view: &View) -> Vec<Write> {
        let done = self.marked_or_selected(view).into_iter().filter(|todo| !todo.is_pending());
        done.filter_map(todos::again).collect()
    }

    fn can_undo(&self, view: &View) -> Result<(), Disabled> {
        if view.waiting.can_take_back() || !self.additions(view).is_empty() {
            return Ok(());
        }
        match self.current(view).is_some_and(|todo| !todo.is_pending()) {
            true => Err("the server cannot add a to-do for this".into()),
            false => Err("nothing was marked as done in the last seconds".into()),
        }
    }

    fn undo(&mut self, cx: &mut Cx) {
        if cx.view.waiting.can_take_back() {
            return cx.act(Action::TakeBack);
        }
        let writes = self.additions(&cx.view);
        self.list.state.clear_marks();
        cx.act(batch::send("Restore to-dos", writes));
    }

    fn can_finish_all(&self, view: &View) -> Result<(), Disabled> {
        let rows = todos::waiting(view);
        list::need(rows.get(0), &rows, "there is nothing to do").map(|_| ())
    }

    fn finish_all(&mut self, cx: &mut Cx) {
        let rows = todos::waiting(&cx.view);
        let all = match (rows.total, rows.has_more) {
            (Some(total), _) => text::count_noun(total, "pending to-do"),
            (None, false) => text::count_noun(rows.len() as u64, "pending to-do"),
            (None, true) => format!("{} pending to-dos", list::at_least(rows.len(), true)),
        };
        let question = format!("Mark all to-dos as done: {all}, whatever the filter shows? This cannot be undone.");
        let write = Write::new(&MarkAllTodosAsDone {}, "mark all to-dos as done");
        cx.act(App::confirm("Mark all as done", question, Action::Send(write)));
    }
}

impl ListSource for TodoSource {
    type Row = Todo;
    type Detail = TextDetail;
    // The reason, the reference and the title are shown before a text is.
    const LIST: ListInfo = ListInfo {
        tabs: ListTabs { titles: &["To do", "Done"], words: Some(("state", STATES)) },
        ..ListInfo::new("todos", "to-do", "to-dos").widths(&[(110, 10), (36, 3)])
    };
    const COLUMNS: &'static [Column<Self>] = &[
        Column::<Self>::glyph("state", |_, todo, _| {
            let state = todo.target.as_ref().and_then(|target| target.state.as_deref());
            state.map_or_else(Line::empty, |state| glyph::status(state).into())
        }),
        Column::<Self>::fit("reason", "Reason", 8, 18, |_, todo, _| {
            let is_failure = matches!(todo.action_name.as_str(), "build_failed" | "unmergeable");
            Line::new(todos::reason(todo), if is_failure { Role::Failed } else { Role::Text })
        })
        .sorted(|todo| todos::reason(todo).as_str().into()),
        Column::<Self>::fit("project", "Project", 8, 26, |_, todo, _| Line::new(todo.container_path(), Role::Dim))
            .cut_in_middle()
            .sorted(|todo| todo.container_path().into()),
        Column::<Self>::fit("ID", "ID", 2, 7, |_, todo, _| Line::new(todo.reference(), Role::Ref)).right(),
        Column::<Self>::fill("title", "Title", 24, |_, todo, _| match todo.kind() {
            kind if kind.is_empty() => Line::text(todo.title()),
            kind => Line::new(format!("{kind}  "), Role::Dim).and(todo.title(), Role::Text),
        })
        .sorted(|todo| SortKey::caseless(todo.title())),
        Column::<Self>::fit("author", "Author", 4, 14, |_, todo, _| Line::new(author(todo), Role::User))
            .sorted(|todo| author(todo).into())
            .drop_order(4),
        Column::<Self>::age("created", "Created", |todo| todo.created_at.as_ref()).drop_order(1),
    ];
    const COMMANDS: &'static [ListCommand<Self>] = &[
        Command::row("todos.open", &["Enter"], "Open target", Todos::open_target).footer("open"),
        Command::rows("todos.done", &["x"], "Mark to-dos as done", Todos::finish)
            .writes()
            .footer("done")
            .when(Todos::can_finish),
        Command::new("todos.done_all", &["X"], "Mark all to-dos as done…", Todos::finish_all)
            .writes()
            .footer("all done")
            .when(Todos::can_finish_all),
        Command::new("todos.undo", &["u"], "Restore to-do", Todos::undo).writes().when(Todos::can_undo),
        Todos::mark_command("todos.mark"),
        Todos::columns_command("todos.columns"),
    ];

    fn open(_: &Place, _view: &View) -> TodoSource {
        TodoSource::default()
    }

    fn is_dim(&self, _: usize, todo: &Todo) -> bool {
        !todo.is_pending()
    }

    fn place(&self, _: Place) -> Place {
        Place::new(Self::LIST.id)
    }

    fn empty(&self, tab: usize) -> (&'static str, &'static str) {
        match tab {
            0 => ("There is nothing to do.", "‹tab.2› shows what is done"),
            _ => ("Nothing has been done yet.", "‹tab.1› shows what is to be done"),
        }
    }

    fn query(&self, input: &Input<'_>, _: ServerOrder, view: &View) -> Option<ListQuery<Todo>> {
        let state = STATES.get(input.tab).copied().unwrap_or_default();
        let given = query_list::given([("state", json!(state))]);
        let asked: QueryResult<ListTodos> = grammar().ask(&query::keyed_and_plain(input.filter).0, given, view);
        Some(ListQuery::new(&asked.ready()?))
    }

    fn filter(&self, _: &Input<'_>) -> Filter<Todo> {
        Filter::Query(grammar())
    }

    fn arrange_rows(pane: &mut Todos, rows: &Rows<'_, Todo>, view: &View) {
        let (_, words) = query::keyed_and_plain(pane.list.shown());
        let mut narrowed = words.join(" ");
        let all = todos::waiting(view);
        pane.source.pending.update(all.revision, view.waiting.version(), || {
            all.iter().filter(|todo| !todos::is_finished(todo, view)).count()
        });
        if rows.iter().any(|todo| todos::is_finished(todo, view)) {
            narrowed.push_str(&format!(" without finished ones, {}", view.waiting.version()));
        }
        pane.list.narrow_to(rows, &narrowed, |todo| {
            words.iter().all(|word| contains_word(todo, word)) && !todos::is_finished(todo, view)
        });
    }

    fn key(todo: &Todo) -> String {
        todo.id.to_string()
    }

    fn wants(_: &Todos, _view: &View) -> Vec<Want> {
        // The tab shows the number of all pending to-dos, regardless of the filter.
        vec![Load::list(&ListTodos::pending(), 1).into()]
    }

    fn tab_count(pane: &Todos, index: usize, view: &View) -> Option<String> {
        let rows = todos::waiting(view);
        let pending = pane.source.pending.get(rows.revision).copied().unwrap_or(rows.len());
        list::count(&rows, pending, None).filter(|_| index == 0)
    }

    fn url(&self, _view: &View, todo: Option<&Todo>) -> Option<String> {
        todo?.target_url.clone().filter(|url| !url.is_empty())
    }

    fn copies(&self, _view: &View, todo: &Todo) -> Vec<Clip> {
        vec![Clip::line("reference", todos::label(todo)), Clip::line("title", todo.title().to_owned())]
    }
}

impl Describes<TextDetail> for TodoSource {
    fn describe(&self, text: &mut TextDetail, view: &View, todo: &Todo) {
        let empty = (format!("{}.", text::capitalize(&todos::reason(todo))), "‹todos.open› opens it");
        text.title(format!("{} {}", todos::label(todo), todo.title()), author(todo), empty);
        let identity = format!("to-do {} with {}", todo.id, rendered_markdown::identity(&todo.body));
        text.markdown(view, &identity, Some(&todo.body).filter(|body| **body != todo.title()).map(String::as_str));
    }
}
