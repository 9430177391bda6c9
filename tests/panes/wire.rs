//! The budget of each place: the round trips until it is complete, and the requests for that. All requests that are sent
//! together are answered together, and what is computed here takes no time.

use crate::fixtures::user;
use crate::harness::{Begin, Harness};
use crate::monkey::{World, place_of};
use crate::scripted::{Answer, Scripted, answer};
use crate::served::demo;
use labscope::api::client::Server;
use labscope::app::Place;
use std::time::Duration;

/// The requests of every place, which are sent once in a session.
const OF_SESSION: [&str; 2] = ["GET /user", "GET /personal_access_tokens/self"];

/// The requests of a place in the demo world, by round trip.
struct Visit {
    name: String,
    rounds: Vec<Vec<String>>,
}

impl Visit {
    /// Opens a place on a large screen, presses keys, and answers requests until none is left.
    async fn of(world: &mut World, place: Place, keys: &str) -> Visit {
        let name = format!("{} {keys}", place.pane);
        let mut app = Begin::at(place).size(160, 45).open();
        if !keys.is_empty() {
            app.press(keys);
        }
        let mut rounds = Vec::new();
        loop {
            app.compute();
            if app.waiting().is_empty() {
                return Visit { name, rounds };
            }
            world.prepare(&mut app).await;
            let sent = app.answer_round();
            rounds.push(sent.into_iter().filter(|line| !OF_SESSION.contains(&line.as_str())).collect());
        }
    }

    fn requests(&self) -> impl Iterator<Item = &String> {
        self.rounds.iter().flatten()
    }

    /// Returns the number of requests whose line contains a text.
    fn count(&self, text: &str) -> usize {
        self.requests().filter(|line| line.contains(text)).count()
    }

    /// Describes the requests for a failed test.
    fn describe(&self) -> String {
        let rounds = self.rounds.iter().enumerate();
        let lines = rounds.flat_map(|(n, round)| round.iter().map(move |line| format!("  {} {line}", n + 1)));
        let (count, rounds) = (self.requests().count(), self.rounds.len());
        format!("{}: {count} requests in {rounds} round trips\n{}", self.name, lines.collect::<Vec<_>>().join("\n"))
    }
}

/// The reply of a server that refuses.
type MakeAnswer = fn() -> Answer;

fn project(pane: &str) -> Place {
    Place::new(pane).project("acme/rocket-ui")
}

#[tokio::test]
async fn no_place_exceeds_its_budget() {
    let server = demo().await;
    let mut world = World::for_user(&server, &server.user);
    let mut over = Vec::new();
    for (place, keys, requests, rounds) in [
        (Place::new("home"), "", 11, 3),
        (project("files"), "", 4, 2),
        (project("branches"), "", 15, 2),
        (project("mrs"), "", 14, 3),
        (Place::new("mrs").group("acme"), "", 20, 3),
        (place_of("mr"), "", 22, 3),
        (place_of("mr"), "3", 10, 2),
        (project("pipelines"), "", 17, 2),
        (place_of("job"), "", 4, 2),
        (place_of("issue"), "", 12, 2),
        (project("issues"), "", 2, 1),
    ] {
        let visit = Visit::of(&mut world, place, keys).await;
        if visit.requests().count() > requests || visit.rounds.len() > rounds {
            over.push(format!("{requests} requests in {rounds} round trips are allowed for {}", visit.describe()));
        }
    }
    server.stop().await;
    assert!(over.is_empty(), "{}", over.join("\n"));
}

#[tokio::test]
async fn home_asks_for_six_lists_and_once_for_each_merge_request() {
    let server = demo().await;
    let mut world = World::for_user(&server, &server.user);
    let visit = Visit::of(&mut world, Place::new("home"), "").await;
    server.stop().await;
    let each = visit.count("/merge_requests/");
    assert!(visit.requests().count() - each <= 6, "{}", visit.describe());
    assert_eq!(each, visit.count("include_rebase_in_progress"), "{}", visit.describe());
    assert_eq!(each, 5, "{}", visit.describe());
}

/// Makes all requests fail that are sent now, because the server cannot be reached.
async fn lose(app: &mut Harness) {
    while !app.waiting().is_empty() {
        for line in app.reads() {
            app.unreachable(&line);
        }
        app.settle().await;
    }
}

#[tokio::test]
async fn if_the_attempt_that_others_wait_for_is_canceled_the_next_one_follows() {
    let mut app = Begin::at(Place::new("branches").project("a/b")).open();
    app.reply("GET /user", user(5, "ada")).settle().await;
    lose(&mut app).await;
    app.press("g j");
    lose(&mut app).await;
    app.pass(10);
    assert_eq!(app.waiting().len(), 1, "one request tries for all: {:?}", app.waiting());
    // The place that it is for is left, and what the other one needs has waited for it.
    app.press("q");
    assert_eq!(app.app.place().pane, "branches");
    assert!(app.waiting().is_empty(), "{:?}", app.waiting());
    assert!(app.app.wake_at().is_some(), "nothing would wake the loop");
    app.pass(10);
    assert_eq!(app.waiting().len(), 1, "{:?}", app.waiting());
}

#[tokio::test]
async fn a_server_that_refuses_everything_gets_few_requests() {
    let answers: [(&str, MakeAnswer); 5] = [
        ("429 without a pause", || answer(429, "Retry later")),
        ("429 for a day", || answer(429, "Retry later").with("retry-after", "86400")),
        ("429 with a date in the past", || {
            answer(429, "Retry later").with("retry-after", "Sun, 31 Dec 2017 00:00:05 GMT")
        }),
        ("an exhausted limit", || {
            let used_up = answer(429, "Retry later").with("ratelimit-remaining", "0");
            used_up.with("date", "Mon, 01 Jan 2018 00:00:05 GMT").with("ratelimit-reset", "1514764865")
        }),
        ("304 to everything", || answer(304, "").with("etag", "\"x\"")),
    ];
    for (name, answer) in answers {
        let server = Scripted::minded(move |_| answer()).await;
        let mut refused = Server { token: Some("token".into()), ..Server::new(server.url.clone()) };
        refused.timeouts.retry_delay = Duration::from_millis(1);
        let mut app = Begin::at(Place::new("home")).size(120, 40).on(refused).open();
        app.settle().await;
        let burst = server.asked().len();
        for _ in 0..10 {
            app.pass(1).settle().await;
        }
        let more = server.asked().len() - burst;
        assert!(more <= 3, "{name}: {more} requests in ten seconds after the first {burst}\n{}", app.picture());
    }
}
