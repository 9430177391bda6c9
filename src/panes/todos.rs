//! The to-dos of the user, with the reason for each.

use crate::api::Time;
use crate::api::todos::{ListTodos, MarkAllTodosAsDone, Todo};
use crate::app::App;
use crate::app::action::Action;
use crate::app::clip::Clip;
use crate::app::command::Command;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::overlay::batch::Batch;
use crate::app::pane::Breadcrumb;
use crate::app::place::Place;
use crate::app::query::{self, Grammar, QueryResult};
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::parts::columns::{Columns, Field, ServerOrder};
use crate::parts::list::{self, age};
use crate::parts::list_detail::{TextDetail, TextSource};
use crate::parts::list_pane::ListPane;
use crate::parts::list_source::{Filter, Input, ListCommand, ListSource};
use crate::parts::{forms, query_list, rendered_markdown, todos};
use crate::store::{ListQuery, Load, Rows, Want, Work, Write};
use crate::ui::line::Line;
use crate::ui::panels::PanelRequest;
use crate::ui::table::{Column, Row, Size};
use crate::ui::theme::Role;
use crate::ui::{glyph, text};
use jiff::Timestamp;
use serde_json::json;

/// The server's names of the states of the tabs.
const STATES: &[&str] = &["pending", "done"];

const COLUMNS: Columns<Todo> = Columns {
    place: "todos",
    fields: &[
        Field::new("state", Column::new("", Size::Fixed(1))),
        Field::new("reason", Column::new("Reason", Size::Fit { min: 8, max: 18 }))
            .loaded(|a: &Todo, b| todos::reason(a).cmp(&todos::reason(b))),
        Field::new("title", Column::new("Title", Size::Fill { min: 24, weight: 1 }))
            .loaded(|a: &Todo, b| a.title().to_lowercase().cmp(&b.title().to_lowercase())),
        Field::new("project", Column::new("Project", Size::Fit { min: 8, max: 26 }).cut_in_middle().drop_order(2))
            .loaded(|a: &Todo, b| a.container_path().cmp(b.container_path())),
        Field::new("ID", Column::new("ID", Size::Fit { min: 2, max: 7 }).right().drop_order(3)),
        Field::new("author", Column::new("Author", Size::Fit { min: 4, max: 14 }).drop_order(4))
            .loaded(|a: &Todo, b| author(a).cmp(author(b))),
        Field::new("created", Column::new("Created", Size::Fixed(7)).right().drop_order(1))
            .loaded(|a: &Todo, b| at(a).cmp(&at(b)))
            .newest_first(),
    ],
    order: None,
};

fn author(todo: &Todo) -> &str {
    todo.author.as_ref().map_or("", |author| author.username.as_str())
}

fn at(todo: &Todo) -> Option<Timestamp> {
    todo.created_at.as_ref().and_then(Time::instant)
}

/// The to-dos of the user.
pub struct TodoSource;

/// The list of to-dos.
pub type Todos = ListPane<TodoSource>;

fn grammar() -> Grammar {
    // Words without a key are searched in the loaded rows.
    Grammar::new(query::TODOS, Some("words"), None)
}

/// Returns the index in [`STATES`] of the listed state: the one named by the filter, else that of the tab.
fn state(input: &Input<'_>) -> usize {
    let named = query::get(input.filter, "state");
    named.and_then(|named| STATES.iter().position(|state| *state == named)).unwrap_or(input.tab)
}

fn contains_word(todo: &Todo, word: &str) -> bool {
    let texts = [todo.title(), todo.container_path(), author(todo), todo.body.as_str()];
    let reference = todo.reference();
    texts.into_iter().chain([reference.as_str()]).any(|text| text.to_lowercase().contains(word))
}

impl Todos {
    fn open_target(&mut self, cx: &mut Cx) {
        let Some(todo) = self.current(&cx.view) else { return };
        match todos::place(todo, &cx.view) {
            Some(place) => cx.go(place),
            None => cx.say(Tone::Warning, "labscope cannot show its target; ‹browse› opens its page"),
        }
    }

    /// Returns the marked to-dos, or the one under the cursor, that are pending.
    fn targets<'a>(&self, view: &View<'a>) -> Vec<&'a Todo> {
        self.marked_or_selected(view).into_iter().filter(|todo| todo.is_pending()).collect()
    }

    fn can_finish(&self, view: &View) -> Result<(), Disabled> {
        self.has_row(view)?;
        if self.targets(view).is_empty() { Err("it is done already".into()) } else { Ok(()) }
    }

    fn finish(&mut self, cx: &mut Cx) {
        let writes: Vec<Write> = self.targets(&cx.view).into_iter().map(todos::done).collect();
        self.list.state.clear_marks();
        let mut writes = writes.into_iter();
        match (writes.next(), writes.len()) {
            (Some(write), 0) => cx.act(Action::Send(write)),
            (Some(write), _) => {
                let all = std::iter::once(write).chain(writes).collect();
                cx.act(Action::OpenOverlay(Box::new(Batch::new("Mark as done", all))));
            }
            (None, _) => {}
        }
    }

    fn can_finish_all(&self, view: &View) -> Result<(), Disabled> {
        forms::signed_in(view)?;
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
    const ID: &'static str = "todos";
    const TITLE: &'static str = "To-do list";
    const WIDTHS: &'static [PanelRequest] = &[PanelRequest { min: 70, weight: 2 }, PanelRequest { min: 36, weight: 1 }];
    const COLUMNS: Columns<Todo> = COLUMNS;
    const COMMANDS: &'static [ListCommand<Self>] = &[
        Command::new("todos.open", &["Enter"], "Open target", Todos::open_target).footer("open").when(Todos::has_row),
        Command::new("todos.done", &["x"], "Mark to-dos as done", Todos::finish)
            .writes()
            .footer("done")
            .when(Todos::can_finish),
        Command::new("todos.done_all", &["X"], "Mark all to-dos as done…", Todos::finish_all)
            .writes()
            .footer("all done")
            .when(Todos::can_finish_all),
        Todos::mark_command("todos.mark"),
        Todos::columns_command("todos.columns"),
    ];

    fn open(_: &Place, _view: &View) -> TodoSource {
        TodoSource
    }

    fn place(&self) -> Place {
        Place::new(Self::ID)
    }

    fn breadcrumbs(&self, _view: &View) -> Vec<Breadcrumb> {
        vec![Breadcrumb::new("to-dos", Role::Title)]
    }

    fn tabs(&self) -> &'static [&'static str] {
        &["To do", "Done"]
    }

    fn shown_tab(&self, input: &Input<'_>) -> usize {
        state(input)
    }

    fn select_tab(pane: &mut Todos, index: usize) {
        let Some(word) = STATES.get(index).filter(|_| index != state(&pane.input())) else { return };
        let text = pane.list.filter_text().to_owned();
        match query::get(&text, "state") {
            Some(_) => pane.set_filter(&query::with(&text, "state", word)),
            None => pane.set_tab(index),
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

    fn arrange_rows(pane: &mut Todos, rows: &Rows<'_, Todo>, _view: &View) {
        let (_, words) = query::keyed_and_plain(pane.list.shown());
        let narrowed = words.join(" ");
        pane.list.narrow_to(rows, &narrowed, |todo| words.iter().all(|word| contains_word(todo, word)));
    }

    fn key(todo: &Todo) -> String {
        todo.id.to_string()
    }

    fn row(&self, view: &View, _: usize, todo: &Todo) -> Row<'static> {
        let state = todo.target.as_ref().and_then(|target| target.state.as_deref());
        let role = match todo.action_name.as_str() {
            "build_failed" | "unmergeable" => Role::Failed,
            _ => Role::Text,
        };
        let title = match todo.kind() {
            kind if kind.is_empty() => Line::new(todo.title().to_owned(), Role::Text),
            kind => Line::new(format!("{kind}  "), Role::Dim).and(todo.title().to_owned(), Role::Text),
        };
        Row::new(vec![
            state.map_or_else(Line::empty, |state| Line::from(glyph::status(state))),
            Line::new(todos::reason(todo), role),
            title,
            Line::new(todo.container_path().to_owned(), Role::Dim),
            Line::new(todo.reference(), Role::Ref),
            Line::new(author(todo).to_owned(), Role::User),
            Line::new(age(view, todo.created_at.as_ref()), Role::Dim),
        ])
        .dim(!todo.is_pending())
    }

    fn empty(&self, input: &Input<'_>) -> (&'static str, &'static str) {
        match (input.filter.is_empty(), input.tab) {
            (false, _) => ("No to-do matches the filter.", "‹seek› changes it, ‹escape› clears it"),
            (true, 0) => ("There is nothing to do.", "‹tab.2› shows what is done"),
            (true, _) => ("Nothing has been done yet.", "‹tab.1› shows what is to be done"),
        }
    }

    fn enter(pane: &mut Todos, cx: &mut Cx) {
        pane.open_target(cx);
    }

    fn wants(_: &Todos, _view: &View) -> Vec<Want> {
        // The tab shows the number of all pending to-dos, regardless of the filter.
        vec![Load::list(&todos::pending(), 1).into()]
    }

    fn tab_count(_: &Todos, index: usize, view: &View) -> Option<String> {
        let rows = todos::waiting(view);
        list::count(&rows, rows.len(), None).filter(|_| index == 0)
    }

    fn url(&self, _view: &View, todo: &Todo) -> Option<String> {
        todo.target_url.clone().filter(|url| !url.is_empty())
    }

    fn copies(&self, _view: &View, todo: &Todo) -> Vec<Clip> {
        vec![Clip::line("reference", todos::label(todo)), Clip::line("title", todo.title().to_owned())]
    }
}

impl TextSource for TodoSource {
    fn text_title(&self, _view: &View, todo: &Todo) -> (String, String) {
        (format!("{} {}", todos::label(todo), todo.title()), author(todo).to_owned())
    }

    fn text_key(&self, view: &View, todo: &Todo, width: usize) -> Option<String> {
        let is_note = !todo.body.trim().is_empty() && todo.body != todo.title();
        let identity = || format!("to-do {} with {}", todo.id, rendered_markdown::identity(&todo.body));
        is_note.then(|| rendered_markdown::key(view, &identity(), width))
    }

    fn text_work(&self, view: &View, todo: &Todo, width: usize, key: String) -> Work {
        rendered_markdown::render(view, key, todo.body.clone(), width)
    }

    fn without_text(&self, todo: &Todo) -> (String, &'static str) {
        let reason = todos::reason(todo);
        let mut letters = reason.chars();
        let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
        (format!("{first}{}.", letters.as_str()), "‹todos.open› opens it")
    }
}
