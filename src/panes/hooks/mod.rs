//! System hooks, for administrators: who is told of what happens, and what a test of one delivers.

use crate::api::hooks::{DeleteHook, Hook, HookTest, ListHooks, TestHook};
use crate::app::action::{Action, FollowUp, Tone};
use crate::app::command::{Command, Disabled, Motion};
use crate::app::overlay::batch::Batch;
use crate::app::overlay::confirm::Confirm;
use crate::app::pane::{Breadcrumb, Cx, Pane, Pointer, SearchMode, View};
use crate::app::place::Place;
use crate::parts::facts::{Details, LinkTarget, NAMES_WIDE};
use crate::parts::forms;
use crate::parts::list::{Listing, age, ago};
use crate::store::{Load, Rows, Want, Write};
use crate::ui::panels::{self, PanelRequest, Panels};
use crate::ui::table::{Cell, Column, Row, Size};
use crate::ui::theme::Role;
use crate::ui::{glyph, state, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::collections::HashMap;
use std::rc::Rc;

const LIST: usize = 0;
const FACTS: usize = 1;
const ASKS: &[PanelRequest] = &[PanelRequest { min: 50, weight: 3 }, PanelRequest { min: 44, weight: 2 }];
/// The tag under which the answer to a test comes back.
const TESTED: &str = "hook tested";

/// The list of hooks.
pub struct Hooks {
    list: Listing,
    panels: Panels,
    facts: Details,
    /// What the last test of each hook was answered with, or why it failed.
    tests: HashMap<u64, Vec<(String, String, Role)>>,
}

/// What a hook is told of, in words.
fn events(hook: &Hook) -> Vec<&'static str> {
    let all =
        [(hook.push_events, "pushes"), (hook.tag_push_events, "tags"), (hook.merge_requests_events, "merge requests")];
    all.into_iter().filter(|(on, _)| *on).map(|(_, name)| name).collect()
}

/// The answer to a test as it travels to the pane: the number of the hook, then a line for each fact.
fn told(id: u64, test: &HookTest) -> String {
    let number = test.project_id.map(|id| id.to_string());
    let facts = [
        ("event", test.event_name.clone()),
        ("name", test.name.clone()),
        ("path", test.path.clone()),
        ("owner", test.owner_name.clone()),
        ("e-mail", test.owner_email.clone()),
        ("project", number),
    ];
    let mut lines = vec![id.to_string()];
    if test.url.is_some() {
        lines.push("!\tThis server answers with the hook itself: it delivers no test this way.".into());
    }
    let one =
        |(name, words): (&str, Option<String>)| words.map(|words| format!("{name}\t{}", words.replace('\n', " ")));
    lines.extend(facts.into_iter().filter_map(one));
    lines.join("\n")
}

impl Hooks {
    fn rows<'a>(&self, view: &View<'a>) -> Rows<'a, Hook> {
        view.store.list(&ListHooks {})
    }

    fn current<'a>(&self, view: &View<'a>) -> Option<&'a Hook> {
        self.list.selected(&self.rows(view))
    }

    fn may_change(&self, view: &View) -> Result<(), Disabled> {
        forms::administrator(view)?;
        self.current(view).map(|_| ()).ok_or_else(|| "no hook is selected".into())
    }

    fn test(&mut self, cx: &mut Cx) {
        let Some(hook) = self.current(&cx.view) else { return };
        let id = hook.id;
        let write = Write::new(&TestHook { id }, format!("test the hook {}", hook.url));
        let then: FollowUp = Rc::new(move |outcome, cx| {
            let told = match outcome {
                Ok(answer) => answer.downcast_ref::<HookTest>().map(|test| told(id, test)),
                Err(error) => Some(format!("{id}\n!\t{}: {}", error.title(), error.said())),
            };
            if let Some(told) = told {
                cx.act(Action::Answer(TESTED, told));
            }
        });
        cx.say(Tone::Info, "The server is delivering a sample…");
        cx.act(Action::SendThen(None, write, then));
    }

    fn delete(&mut self, cx: &mut Cx) {
        let rows = self.rows(&cx.view);
        let mut meant: Vec<&Hook> =
            rows.iter().filter(|hook| self.list.state.is_marked(&hook.id.to_string())).collect();
        if meant.is_empty() {
            meant.extend(self.current(&cx.view));
        }
        let names: Vec<String> = meant.iter().map(|hook| hook.url.clone()).collect();
        let write = |hook: &&Hook| Write::new(&DeleteHook { id: hook.id }, format!("remove the hook {}", hook.url));
        let writes: Vec<Write> = meant.iter().map(write).collect();
        let (question, action) = match writes.as_slice() {
            [] => return,
            [one] => ("Remove this hook? It is told nothing any more.".to_owned(), Action::Send(one.clone())),
            many => {
                let batch = Batch::new("Remove hooks", many.to_vec());
                let question = format!("Remove these {} hooks? They are told nothing any more.", many.len());
                (question, Action::Open(Box::new(batch)))
            }
        };
        let confirm = Confirm::new("Remove hooks", question, action).naming(names);
        cx.act(Action::Open(Box::new(confirm)));
    }

    fn write(&mut self, view: &View) {
        self.facts.clear();
        let Some(hook) = self.list.selected(&self.rows(view)) else { return };
        let facts = &mut self.facts;
        facts.field("URL", vec![(hook.url.clone(), Role::Link)], Some(LinkTarget::Copy("URL", hook.url.clone())));
        for (name, words) in [("name", &hook.name), ("about", &hook.description)] {
            if let Some(words) = words.as_ref().filter(|words| !words.is_empty()) {
                facts.field(name, vec![(words.clone(), Role::Text)], None);
            }
        }
        let told = [
            ("pushes", hook.push_events),
            ("tags", hook.tag_push_events),
            ("merge requests", hook.merge_requests_events),
        ];
        for (index, (what, on)) in told.into_iter().enumerate() {
            let (sign, role) = if on { (glyph::done(), Role::Success) } else { (glyph::open(), Role::Dim) };
            let pieces = vec![(format!("{sign} "), role), (what.to_owned(), if on { Role::Text } else { Role::Dim })];
            facts.field(if index == 0 { "told of" } else { "" }, pieces, None);
        }
        let (words, role) = match hook.enable_ssl_verification {
            true => ("checked", Role::Text),
            false => ("not checked", Role::Warning),
        };
        facts.field("certificate", vec![(words.into(), role)], None);
        facts.field("secret", vec![("never shown by the server".into(), Role::Dim)], None);
        facts.field("added", vec![(ago(&age(view, hook.created_at.as_ref())), Role::Text)], None);
        facts.field("number", vec![(hook.id.to_string(), Role::Dim)], None);
        facts.line(Vec::new());
        match self.tests.get(&hook.id) {
            None => facts.line(vec![("t delivers a sample, and shows what it was".into(), Role::Dim)]),
            Some(test) => {
                facts.line(vec![("The last test".into(), Role::TitleDim)]);
                for (name, words, role) in test {
                    for (index, line) in text::wrap(words, 30, 4).into_iter().enumerate() {
                        facts.field(if index == 0 { name } else { "" }, vec![(line, *role)], None);
                    }
                }
            }
        }
    }
}

impl Pane for Hooks {
    const ID: &'static str = "hooks";
    const TITLE: &'static str = "System hooks, for administrators";
    const COMMANDS: &'static [Command<Self>] = &[
        Command::new("hooks.open", &["Enter"], "Show what is known of it", |pane: &mut Self, cx| {
            if pane.panels.focus() == LIST || !pane.facts.enter(cx) {
                pane.panels.set_focus(FACTS);
            }
        })
        .footer("details"),
        Command::new("hooks.create", &["+"], "New hook", |_: &mut Self, cx| forms::hook::create().open(cx))
            .footer("new")
            .writes()
            .when(|_, view| forms::administrator(view)),
        Command::new("hooks.test", &["t"], "Test it: the server delivers a sample", Self::test)
            .footer("test")
            .writes()
            .when(Self::may_change),
        Command::new("hooks.mark", &["Space"], "Mark it", |pane: &mut Self, cx| {
            if let Some(hook) = pane.current(&cx.view) {
                pane.list.state.toggle_mark(hook.id.to_string());
            }
            pane.list.motion(Motion::Down, pane.list.len(&pane.rows(&cx.view)));
        })
        .when(Self::may_change),
        Command::new("hooks.delete", &["D", "Delete"], "Remove it, or all that are marked", Self::delete)
            .footer("remove")
            .writes()
            .when(Self::may_change),
    ];

    fn open(place: &Place, _view: &View) -> Self {
        let mut list = Listing::default();
        if let Some(item) = &place.item {
            list.reveal(item.as_str());
        }
        Hooks { list, panels: Panels::new(2), facts: Details::default().names(NAMES_WIDE), tests: HashMap::new() }
    }

    fn place(&self) -> Place {
        Place::new(Self::ID)
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        let mut breadcrumbs = vec![Breadcrumb::new("system hooks", Role::Title)];
        breadcrumbs.extend(self.list.breadcrumbs(&self.rows(view)));
        breadcrumbs
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        let may = forms::asks_as_administrator(view);
        may.then(|| Load::list(&ListHooks {}, self.list.pages()).into()).into_iter().collect()
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        self.list.drawn_at(Rect::default());
        self.facts.hide();
        let theme = view.theme;
        if let Err(why) = forms::administrator(view) {
            let body = panels::title(buf, area, theme, true, "System hooks", "");
            let words = format!("Hooks of the whole server are not shown to you: {why}.");
            return state::empty(buf, body, theme, &words, "Ask an administrator for one");
        }
        let places = self.panels.layout(area, ASKS);
        if let Some(place) = places.get(LIST).copied().flatten() {
            let focused = self.panels.focus() == LIST;
            let body = panels::title(buf, place, theme, focused, "System hooks", "");
            let columns = [
                Column::new("", Size::Fill { min: 24, weight: 1 }).middle(),
                Column::new("", Size::Fit { min: 0, max: 28 }).priority(2),
                Column::new("", Size::Fixed(4)).right().priority(1),
            ];
            let row = |hook: &Hook| {
                let told = events(hook);
                let told = if told.is_empty() { "other events".to_owned() } else { told.join(", ") };
                Row::new(vec![
                    Cell::from((hook.url.clone(), Role::Link)),
                    Cell::from((told, Role::Dim)),
                    Cell::from((age(view, hook.created_at.as_ref()), Role::Dim)),
                ])
                .marked(self.list.state.is_marked(&hook.id.to_string()))
            };
            let empty = ("This server has no system hooks.", "+ adds one");
            self.list.draw(view, body, buf, focused, &self.rows(view), &columns, row, empty);
        }
        if let Some(place) = places.get(FACTS).copied().flatten() {
            let focused = self.panels.focus() == FACTS;
            let number = self.current(view).map(|hook| format!("hook #{}", hook.id)).unwrap_or_default();
            let body = panels::title(buf, place, theme, focused, &number, "");
            self.facts.draw(view, body, buf, focused);
        }
        self.panels.rules(buf, theme);
    }

    fn changed(&mut self, cx: &mut Cx) {
        let rows = self.rows(&cx.view);
        self.list.narrow(&rows, |hook, words| hook.url.to_lowercase().contains(words));
        self.list.sync(&rows, |hook| hook.id.to_string());
        self.write(&cx.view);
    }

    fn motion(&mut self, motion: Motion, cx: &mut Cx) {
        match (self.panels.focus(), motion) {
            (FACTS, Motion::Left) => self.panels.set_focus(LIST),
            (FACTS, other) => self.facts.motion(other),
            (_, Motion::Right) => self.panels.set_focus(FACTS),
            (_, Motion::Left) => {}
            (_, other) => self.list.motion(other, self.list.len(&self.rows(&cx.view))),
        }
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        let (Pointer::Press { column, row, .. } | Pointer::Wheel { column, row, .. }) = pointer else { return };
        let facts = self.facts.holds(column, row);
        if matches!(pointer, Pointer::Press { .. }) {
            self.panels.set_focus(if facts { FACTS } else { LIST });
        }
        if facts {
            self.facts.pointer(pointer, cx);
        } else if self.list.pointer(pointer, self.list.len(&self.rows(&cx.view))) {
            self.panels.set_focus(FACTS);
        }
    }

    fn panels(&mut self) -> Option<&mut Panels> {
        Some(&mut self.panels)
    }

    fn search_mode(&self) -> Option<SearchMode> {
        Some(SearchMode::Filter)
    }

    fn filter_text(&self) -> String {
        self.list.filter_text().to_owned()
    }

    fn set_filter_text(&mut self, text: &str, cx: &mut Cx) {
        let here = self.current(&cx.view).map(|hook| hook.id.to_string());
        self.list.seek(text, here);
    }

    fn escape(&mut self, _cx: &mut Cx) -> bool {
        if self.panels.focus() == FACTS {
            self.panels.set_focus(LIST);
            return true;
        }
        if self.list.clear_filter(None) {
            return true;
        }
        let marked = !self.list.state.marked().is_empty();
        self.list.state.clear_marks();
        marked
    }

    fn answer(&mut self, tag: &'static str, value: String, _cx: &mut Cx) {
        if tag == forms::hook::MADE {
            return self.list.reveal_new(value);
        }
        let mut lines = value.lines();
        let Some(id) = lines.next().and_then(|id| id.parse().ok()).filter(|_| tag == TESTED) else { return };
        let fact = |line: &str| {
            let (name, words) = line.split_once('\t')?;
            let (name, role) = if name == "!" { ("", Role::Warning) } else { (name, Role::Text) };
            Some((name.to_owned(), words.to_owned(), role))
        };
        self.tests.insert(id, lines.filter_map(fact).collect());
        self.panels.set_focus(FACTS);
    }

    fn url(&self, view: &View) -> Option<String> {
        Some(format!("{}/admin/hooks", view.session.web_url))
    }

    fn copies(&self, view: &View) -> Vec<(&'static str, String)> {
        self.current(view).map(|hook| ("hook URL", hook.url.clone())).into_iter().collect()
    }
}
