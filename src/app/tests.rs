//! Tests of the app as a pure state machine, messages in and effects out, with a pane made for them.

use super::action::{Action, Effect, Msg, Outcome, StopFlag};
use super::bindings::Bindings;
use super::command::Command;
use super::context::Cx;
use super::keymap::Key;
use super::motion::Motion;
use super::overlay::{AfterEvent, Overlay};
use super::pane::{Breadcrumb, Pane, PaneKind};
use super::place::Place;
use super::place_info::{Needs, Subject};
use super::registry::Entry;
use super::session::Session;
use super::tone::Tone;
use super::view::View;
use super::{App, Setup};
use api::branches::{Branch, DeleteBranch, ListBranches};
use api::client::Priority;
use api::{Endpoint, Error, Fault, NoContent};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::sync::Arc;
use std::time::Duration;
use store::{Load, ParsedReply, TaskKey, Value, Want, Write};
use ui::theme::{Background, Role, Theme};

/// A pane that wants the branches of a project, polled while its filter is `live`.
struct Probe {
    place: Place,
    filter: Option<String>,
    priority: Priority,
}

impl Probe {
    fn list(&self) -> ListBranches {
        ListBranches { id: self.place.project.clone().unwrap_or_default(), search: self.filter.clone() }
    }
}

impl PaneKind for Probe {
    const ID: &'static str = "probe";
    const COMMANDS: &'static [Command<Self>] = &[
        Command::new("probe.filter", &["f"], "Filter by x", |pane: &mut Self, _| pane.filter = Some("x".into())),
        Command::new("probe.live", &["L"], "Poll", |pane: &mut Self, _| pane.filter = Some("live".into())),
        Command::new("probe.select", &["s"], "Select", |pane: &mut Self, _| pane.priority = Priority::Preview),
        Command::new("probe.delete", &["d"], "Delete", |_: &mut Self, cx| {
            let write = Write::new(&DeleteBranch { id: "1".into(), branch: "x".into() }, "delete branch x");
            cx.act(Action::Send(write));
        })
        .writes(),
        Command::new("probe.other", &["p"], "Another", |_: &mut Self, cx| cx.go(Place::new("probe").project("2"))),
    ];

    fn open(place: &Place, _: &View) -> Self {
        Probe { place: place.clone(), filter: None, priority: Priority::Columns }
    }
}

impl Pane for Probe {
    fn place(&self) -> Place {
        self.place.clone()
    }
    fn breadcrumbs(&self, _: &View) -> Vec<Breadcrumb> {
        vec![Breadcrumb::new("probe", Role::Title)]
    }
    fn wants(&self, _: &View) -> Vec<Want> {
        let load = Load { priority: self.priority, ..Load::list(&self.list(), 1) };
        let live = self.filter.as_deref() == Some("live");
        vec![load.refresh_after(live.then_some(Duration::from_secs(2))).into()]
    }
    fn view(&self, _: &View, _: Rect, _: &mut Buffer) {}
    fn motion(&mut self, _: Motion, _: &mut Cx) {}
}

/// The pane that replaces a missing probe: the files of its project.
struct Files(Place);

impl PaneKind for Files {
    const ID: &'static str = "files";
    const COMMANDS: &'static [Command<Self>] = &[];
    fn open(place: &Place, _: &View) -> Self {
        Files(place.clone())
    }
}

impl Pane for Files {
    fn place(&self) -> Place {
        self.0.clone()
    }
    fn breadcrumbs(&self, _: &View) -> Vec<Breadcrumb> {
        Vec::new()
    }
    fn wants(&self, _: &View) -> Vec<Want> {
        Vec::new()
    }
    fn view(&self, _: &View, _: Rect, _: &mut Buffer) {}
    fn motion(&mut self, _: Motion, _: &mut Cx) {}
}

const REGISTRY: &[Entry] = &[
    Entry::of::<Files>("Files").needing(Needs::Project).shows(Subject::Project).reached_by(
        "files",
        &["g f"],
        "Go to files",
    ),
    Entry::of::<Probe>("A probe"),
];

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap_or_default()
}

fn signed_in() -> Session {
    Session { signed_in: true, ..Session::default() }
}

fn start(session: Session) -> (App, Vec<Effect>) {
    App::new(Setup {
        registry: REGISTRY,
        bindings: Bindings::new(REGISTRY, &Default::default()).unwrap_or_default(),
        session,
        theme: Theme::for_background(Background::Dark),
        theme_is_chosen: false,
        kept: Default::default(),
        shows_key_hints: false,
        place: Place::new("probe").project("1"),
        now: at(0),
        size: (80, 24),
    })
}

fn press(app: &mut App, key: char) -> Vec<Effect> {
    app.update(Msg::Key(KeyEvent::new(KeyCode::Char(key), KeyModifiers::NONE)))
}

fn started(effects: &[Effect]) -> Vec<TaskKey> {
    effects.iter().filter_map(|e| if let Effect::Start(task) = e { Some(task.key()) } else { None }).collect()
}

fn branches(project: &str, search: Option<&str>) -> TaskKey {
    TaskKey::Load(ListBranches { id: project.into(), search: search.map(str::to_owned) }.request(), 1)
}

fn nothing() -> ParsedReply {
    ParsedReply::new(0, Arc::new(Vec::<api::branches::Branch>::new()))
}

fn screen(app: &App) -> String {
    let mut buffer = Buffer::empty(Rect::new(0, 0, 80, 24));
    app.view(buffer.area, &mut buffer);
    buffer.content.chunks(80).map(|row| row.iter().map(|c| c.symbol()).collect::<String>() + "\n").collect()
}

#[test]
fn wants_are_started_once() {
    let (mut app, effects) = start(Session::default());
    assert_eq!(started(&effects), [branches("1", None)]);
    assert_eq!(started(&press(&mut app, 'j')), []);
}

#[test]
fn a_request_that_becomes_more_urgent_moves_forward_once() {
    let (mut app, _) = start(Session::default());
    assert_eq!(press(&mut app, 's'), [Effect::MoveForward(branches("1", None))]);
    assert_eq!(press(&mut app, 's'), []);
}

#[test]
fn a_changed_want_cancels_the_old_request_and_its_late_reply_is_dropped() {
    let (mut app, _) = start(Session::default());
    let effects = press(&mut app, 'f');
    assert_eq!(started(&effects), [branches("1", Some("x"))]);
    assert!(effects.contains(&Effect::Cancel(branches("1", None))));
    app.update(Msg::Arrived(branches("1", None), Ok(Outcome::Reply(nothing()))));
    assert!(!app.store.list(&ListBranches { id: "1".into(), search: None }).is_loaded);
}

#[test]
fn leaving_a_place_cancels_its_requests_and_returning_restarts_them() {
    let (mut app, _) = start(Session::default());
    let effects = press(&mut app, 'p');
    assert!(effects.contains(&Effect::Cancel(branches("1", None))));
    assert_eq!(started(&press(&mut app, 'q')), [branches("1", None)]);
}

#[test]
fn only_live_lists_wake_the_app() {
    let (mut app, _) = start(Session::default());
    app.update(Msg::Arrived(branches("1", None), Ok(Outcome::Reply(nothing()))));
    assert_eq!(app.wake_at(), None);
    press(&mut app, 'L');
    app.update(Msg::Arrived(branches("1", Some("live")), Ok(Outcome::Reply(nothing()))));
    assert_eq!(app.wake_at(), Some(at(2)));
    assert_eq!(started(&app.update(Msg::Now(at(1)))), []);
    assert_eq!(started(&app.update(Msg::Now(at(2)))), [branches("1", Some("live"))]);
}

#[test]
fn writes_make_touched_replies_stale_and_are_reported() {
    let (mut app, _) = start(signed_in());
    app.update(Msg::Arrived(branches("1", None), Ok(Outcome::Reply(nothing()))));
    let effects = press(&mut app, 'd');
    assert!(matches!(effects.as_slice(), [Effect::Send(1, _)]));
    let effects = app.update(Msg::Sent(1, Ok(Arc::new(NoContent) as Value)));
    assert_eq!(started(&effects), [branches("1", None)]);
    assert!(screen(&app).contains("Deleted branch x"));
}

#[test]
fn failed_writes_report_the_reason_and_change_nothing() {
    let (mut app, _) = start(signed_in());
    press(&mut app, 'd');
    let error = Error { tried: "DELETE /x".into(), fault: Fault::Denied("it is protected".into()) };
    app.update(Msg::Sent(1, Err(error)));
    assert!(screen(&app).contains("Could not delete branch x: it is protected."));
}

#[test]
fn read_only_mode_refuses_writes() {
    let (mut app, _) = start(Session { read_only: true, ..Session::default() });
    assert_eq!(press(&mut app, 'd'), []);
    let screen = screen(&app);
    assert!(screen.contains(" labscope is read-only: start it without --read-only to change things "), "{screen}");
}

#[test]
fn a_local_repository_is_only_read() {
    let (mut app, _) = start(Session { read_only: true, server: "local".into(), ..Session::default() });
    assert_eq!(press(&mut app, 'd'), []);
    let screen = screen(&app);
    assert!(screen.contains(" labscope local only reads the repository: change it with git "), "{screen}");
}

#[test]
fn without_a_token_no_write_is_sent_and_the_reason_is_named() {
    let (mut app, _) = start(Session::default());
    assert_eq!(press(&mut app, 'd'), []);
    let screen = screen(&app);
    assert!(screen.contains(" You are not signed in "), "{screen}");
}

#[test]
fn offline_mode_shows_cached_data_and_never_wakes() {
    let (mut app, _) = start(Session { offline: true, ..Session::default() });
    let list = ListBranches { id: "1".into(), search: None };
    let task = branches("1", None);
    let known = ParsedReply { value: Arc::new(vec![api::branches::Branch::default()]), len: 1, ..nothing() };
    app.update(Msg::Cached(task.clone(), known, at(-40 * 86_400)));
    let error = Error { tried: "connect to http://h".into(), fault: super::reconcile::offline() };
    app.update(Msg::Arrived(task, Err(error)));
    assert_eq!(app.wake_at(), None);
    assert_eq!(app.store.list(&list).len(), 1);
    assert!(screen(&app).contains("offline · as of Nov 22"), "{}", screen(&app));
}

#[test]
fn cached_replies_never_replace_newer_ones() {
    let (mut app, effects) = start(Session::default());
    let list = ListBranches { id: "1".into(), search: None };
    let [task] = started(&effects).try_into().expect("one list is asked for");
    let known = ParsedReply { value: Arc::new(vec![api::branches::Branch::default()]), len: 1, ..nothing() };
    app.update(Msg::Cached(task.clone(), known.clone(), at(-60)));
    assert!(app.store.list(&list).is_loading(), "what was kept is shown while the server is asked");
    assert_eq!(app.store.list(&list).len(), 1);
    app.update(Msg::Arrived(task.clone(), Ok(Outcome::Reply(nothing()))));
    app.update(Msg::Cached(task, known, at(-60)));
    assert_eq!(app.store.list(&list).len(), 0);
}

#[test]
fn a_reply_from_the_clone_does_not_mean_that_the_server_answers() {
    for (outcome, is_gone) in [(Outcome::FromClone(nothing()), true), (Outcome::Reply(nothing()), false)] {
        let (mut app, _) = start(Session::default());
        let gone = Error { tried: "connect to http://h".into(), fault: Fault::Offline("refused".into()) };
        app.store.record_reachability("/user", Some(&gone), at(0));
        app.update(Msg::Arrived(branches("1", None), Ok(outcome)));
        assert!(app.store.list(&ListBranches { id: "1".into(), search: None }).is_loaded);
        assert_eq!(app.store.unreachable().is_some(), is_gone);
    }
}

#[test]
fn a_missing_target_is_replaced_with_the_nearest_existing_place() {
    let (mut app, _) = start(Session::default());
    let error = Error { tried: "GET /projects/1/repository/branches".into(), fault: Fault::Missing("404".into()) };
    app.update(Msg::Arrived(branches("1", None), Err(error)));
    assert_eq!(app.place(), Place::new("files").project("1"));
    assert!(screen(&app).contains("Not found: 1. Showing the nearest existing place."));
    // A part of a project is named itself.
    let error = Error { tried: "GET /projects/1".into(), fault: Fault::Missing("404".into()) };
    app.nav.panes.clear();
    app.open(Place::new("probe").project("1").item(7));
    app.nav.replace_if_missing = true;
    app.update(Msg::Arrived(branches("1", None), Err(error)));
    assert!(screen(&app).contains("Not found: 1 probe 7."), "{}", screen(&app));
}

#[test]
fn messages_expire() {
    let (mut app, _) = start(Session::default());
    app.update(Msg::Arrived(branches("1", None), Ok(Outcome::Reply(nothing()))));
    app.update(Msg::Say(Tone::Info, "for a moment".into()));
    assert!(screen(&app).contains("for a moment"));
    let until = app.wake_at().unwrap_or_default();
    app.update(Msg::Now(until));
    assert!(!screen(&app).contains("for a moment"));
    assert_eq!(app.wake_at(), None);
}

#[test]
fn a_key_prefix_lists_its_continuations() {
    let (mut app, _) = start(Session::default());
    press(&mut app, 'g');
    let screen = screen(&app);
    assert!(screen.contains("f  Go to files"), "{screen}");
}

#[test]
fn an_unchanged_screen_is_not_redrawn() {
    let (mut app, _) = start(Session::default());
    assert!(app.take_dirty());
    app.update(Msg::Now(at(1)));
    assert!(!app.take_dirty());
    press(&mut app, 'j');
    assert!(app.take_dirty());
}

#[test]
fn any_terminal_size_can_be_drawn() {
    let (mut app, _) = start(Session::default());
    press(&mut app, '?');
    for (width, height) in [(0, 0), (1, 1), (20, 5), (44, 12), (300, 4)] {
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
        app.view(buffer.area, &mut buffer);
    }
}

#[test]
fn messages_of_stopped_tasks_are_ignored() {
    let (mut app, effects) = start(Session::default());
    let task = |effects: &[Effect]| {
        effects.iter().find_map(|effect| match effect {
            Effect::Start(task) => Some(task.key()),
            _ => None,
        })
    };
    let first = task(&effects).expect("it asks for branches");
    let (old, new) = (StopFlag::default(), StopFlag::default());
    // Leave and come back: the same is requested again while the first reply is still in flight.
    old.stop();
    let effects = press(&mut app, 'p');
    assert!(effects.contains(&Effect::Cancel(first.clone())));
    let effects = app.update(Msg::Key(KeyEvent::new(KeyCode::Char('q'), KeyModifiers::NONE)));
    assert_eq!(task(&effects), Some(first.clone()));
    let list = ListBranches { id: "1".into(), search: None };
    let said = |stop: &StopFlag, names: &[&str]| {
        let rows: Vec<Branch> = names.iter().map(|name| Branch { name: (*name).into(), ..Branch::default() }).collect();
        let reply = ParsedReply::new(rows.len(), Arc::new(rows));
        Msg::FromTask(stop.clone(), Box::new(Msg::Arrived(first.clone(), Ok(Outcome::Reply(reply)))))
    };
    app.update(said(&old, &["old"]));
    assert!(!app.store.list(&list).is_loaded);
    app.update(said(&new, &["new", "newer"]));
    assert_eq!(app.store.list(&list).len(), 2);
}

#[test]
fn server_messages_are_settled_together_before_user_input() {
    let (mut app, _) = start(Session::default());
    let list = Load::list(&ListBranches { id: "1".into(), search: None }, 1);
    let rows = vec![Branch::default()];
    let reply = ParsedReply::new(1, Arc::new(rows));
    let arrived = Msg::Arrived(TaskKey::Load(list.request, 1), Ok(Outcome::Reply(reply)));
    assert!(app.receive(arrived).is_empty());
    assert!(app.receive(Msg::Say(Tone::Info, "said".into())).is_empty());
    let effects = app.receive(Msg::Key(KeyEvent::new(KeyCode::Char('f'), KeyModifiers::NONE)));
    assert_eq!(started(&effects), [branches("1", Some("x"))], "{effects:?}");
    assert!(app.settle_pending().is_empty());
}

/// An overlay that is done.
struct Finished;

impl Overlay for Finished {
    fn view(&self, _: &View, _: Rect, _: &mut Buffer) -> Option<(u16, u16)> {
        None
    }
    fn key(&mut self, _: Key, _: &mut Cx) -> AfterEvent {
        AfterEvent::KeepOpen
    }
    fn is_done(&self) -> bool {
        true
    }
}

#[test]
fn keys_pressed_before_the_screen_shows_that_an_overlay_closed_do_not_reach_the_place() {
    let (mut app, _) = start(Session::default());
    let here = app.place();
    app.overlays.push(Box::new(Finished));
    app.update(Msg::Now(at(1)));
    assert!(app.overlays.is_empty());
    for _ in 0..3 {
        press(&mut app, 'p');
        assert_eq!(app.place(), here);
    }
    screen(&app);
    press(&mut app, 'p');
    assert_ne!(app.place(), here);
}
