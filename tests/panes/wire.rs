//! The budget of each place: the round trips until it is complete, and the requests for that. All requests that are sent
//! together are answered together, and what is computed here takes no time.

use crate::fixtures::{merge_request, project as project_record, user};
use crate::harness::{Begin, Harness};
use crate::http2::Http2Server;
use crate::http2::Reaction::*;
use crate::monkey::{World, place_of};
use crate::scripted::{Answer, Scripted, answer};
use crate::served::demo;
use jiff::Timestamp;
use labscope::api::client::Server;
use labscope::app::Place;
use serde_json::Value;
use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;

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
        // The jobs of the world end after the time of the tests.
        app.server_time = Some(Timestamp::MAX);
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
        (Place::new("home"), "", 21, 3),
        (project("files"), "", 4, 2),
        (project("branches"), "", 15, 2),
        (project("mrs"), "", 14, 3),
        (Place::new("mrs").group("acme"), "", 23, 3),
        (Place::new("team").group("acme"), "", 12, 2),
        (place_of("mr"), "", 24, 3),
        // Its versions tell what is new since the review, and jobs of its pipeline whether lines have reports.
        (place_of("mr"), "3", 12, 2),
        // One of them has no jobs: its title is asked for alone.
        (project("pipelines"), "", 18, 3),
        (place_of("job"), "", 4, 2),
        (place_of("issue"), "", 13, 2),
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

/// Reads of diffs have a limit of their own (GitLab 19, doc/administration/settings/rate_limits.md): a list reads those of the
/// selected row at most, and other places none.
#[tokio::test]
async fn no_place_reads_changes_that_it_does_not_show() {
    let server = demo().await;
    let mut world = World::for_user(&server, &server.user);
    let mut over = Vec::new();
    for (place, keys, allowed) in [
        (Place::new("home"), "", 0),
        (project("mrs"), "", 1),
        (Place::new("mrs").group("acme"), "", 1),
        (place_of("mr"), "4", 0),
        (project("pipelines"), "", 0),
        (project("branches"), "", 0),
        (project("issues"), "", 0),
        (place_of("issue"), "", 0),
        (place_of("job"), "", 0),
    ] {
        let visit = Visit::of(&mut world, place, keys).await;
        let reads = ["/changes", "/diffs", "/diff", "/compare?", "/versions/"].iter().map(|end| visit.count(end));
        if reads.sum::<usize>() > allowed {
            over.push(visit.describe());
        }
    }
    server.stop().await;
    assert!(over.is_empty(), "{}", over.join("\n"));
}

#[tokio::test]
async fn home_asks_for_six_lists_and_thrice_for_each_merge_request() {
    let server = demo().await;
    let mut world = World::for_user(&server, &server.user);
    let visit = Visit::of(&mut world, Place::new("home"), "").await;
    server.stop().await;
    assert!(visit.requests().count() - visit.count("/merge_requests/") <= 6, "{}", visit.describe());
    let each = ["include_rebase_in_progress", "/approvals", "/discussions"].map(|of| visit.count(of));
    assert_eq!(each, [5, 5, 5], "{}", visit.describe());
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
async fn after_the_limit_of_an_endpoint_others_are_asked() {
    let server = Scripted::minded(|asked| match asked.line.contains("/repository/branches") {
        true => answer(429, r#"{"message":{"error":"This endpoint has been requested too many times."}}"#)
            .with("content-type", "application/json")
            .with("retry-after", "60"),
        false if asked.line.ends_with("/user") => answer(200, user(5, "ada").to_string()),
        false if asked.line.ends_with("rocket-ui") => answer(200, project_record(7, "acme/rocket-ui").to_string()),
        false => answer(200, "[]"),
    })
    .await;
    let settings = Server { token: Some("token".into()), ..Server::new(server.url.clone()) };
    let mut app = Begin::at(project("branches")).size(120, 40).on(settings).open();
    app.settle().await;
    app.expect("the server asks to wait 60 s").expect_no("too many requests: wait");
    app.press("g j").settle().await;
    app.expect_no("Too many requests");
    let count = |part: &str| server.asked().iter().filter(|asked| asked.line.contains(part)).count();
    let asked = (count("/repository/branches"), count("/jobs"));
    assert!(asked.1 > 0, "{asked:?}");
    app.press("g b").settle().await;
    app.expect("Too many requests");
    assert_eq!(count("/repository/branches"), asked.0);
}

#[tokio::test]
async fn a_server_that_refuses_everything_gets_few_requests() {
    let answers: [(&str, MakeAnswer); 9] = [
        ("500 to everything", || answer(500, r#"{"message":"500 Internal Server Error"}"#)),
        ("half a reply to everything", || answer(200, r#"[{"id":1,"#).cut()),
        ("429 without a pause", || answer(429, "Retry later")),
        ("429 in JSON", || answer(429, r#"{"message":"Too many"}"#).with("content-type", "application/json")),
        ("429 of every endpoint", || {
            let limited = answer(429, r#"{"message":{"error":"Too many"}}"#).with("content-type", "application/json");
            limited.with("retry-after", "60")
        }),
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

#[tokio::test]
async fn a_server_that_is_away_gets_few_requests_and_is_noticed_when_it_is_back() {
    let failures = [
        Answer(502, "<html><title>502 Bad Gateway</title></html>"),
        Answer(503, "busy"),
        Answer(504, ""),
        Reset(h2::Reason::REFUSED_STREAM),
        Reset(h2::Reason::INTERNAL_ERROR),
        GoAway(h2::Reason::NO_ERROR),
        Close,
        Answer(500, r#"{"message":"500 Internal Server Error"}"#),
        Half(r#"[{"id":"#),
    ];
    for failure in failures {
        let is_away = Arc::new(AtomicBool::new(true));
        let (away, reaction) = (is_away.clone(), failure.clone());
        let server = Http2Server::start(move |line| match line {
            _ if away.load(Ordering::Relaxed) => reaction.clone(),
            line if line.ends_with("/user") => Answer(200, r#"{"id":5,"username":"ada","name":"Ada"}"#),
            _ => Answer(200, "[]"),
        })
        .await;
        let mut settings = Server { token: Some("token".into()), ..server.trusted(Server::new(server.url.clone())) };
        settings.timeouts.retry_delay = Duration::from_millis(20);
        let mut app = Begin::at(Place::new("home")).size(120, 40).on(settings).open();
        app.settle().await;
        let burst = server.asked();
        let lists = burst.iter().collect::<BTreeSet<_>>().len();
        assert!(burst.len() <= lists + 3, "{failure:?}: {burst:?}");
        for _ in 0..10 {
            app.pass(1).settle().await;
        }
        let more = server.asked().len() - burst.len();
        assert!((1..=3).contains(&more), "{failure:?}: {more} requests in ten seconds\n{}", app.picture());
        is_away.store(false, Ordering::Relaxed);
        for _ in 0..25 {
            app.pass(1).settle().await;
        }
        assert!(
            !app.shows("unreachable")
                && !app.shows("Internal Server Error")
                && !app.shows("Incomplete")
                && !app.shows("did not answer"),
            "{failure:?}\n{}",
            app.picture()
        );
        app.expect("ada");
    }
}

#[tokio::test(start_paused = true)]
async fn a_short_pause_that_the_server_asks_for_is_counted_down() {
    let server = Scripted::minded(|_| answer(429, "Retry later\n").with("retry-after", "20")).await;
    let settings = Server { token: Some("token".into()), ..Server::new(server.url.clone()) };
    let mut app = Begin::at(project("branches")).size(120, 40).on(settings).open();
    app.until("The server limits requests").await;
    app.press("j").expect("too many requests: wait 20s");
    app.pass(15).expect("too many requests: wait 5s");
    app.pass(6).expect_no("no reply since");
    app.pass(10).expect("no reply since");
}

/// A server with 100 merge requests that refuses what is more than ten requests in a second, as `rack-attack` does, and
/// counts that.
async fn limited_server() -> (Scripted, Arc<AtomicUsize>) {
    let answered: Mutex<VecDeque<Instant>> = Mutex::default();
    let refused = Arc::new(AtomicUsize::new(0));
    let count = refused.clone();
    let server = Scripted::minded(move |asked| {
        let mut answered = answered.lock().expect("it is not held");
        answered.retain(|at| at.elapsed() < Duration::from_secs(1));
        if answered.len() >= 10 {
            count.fetch_add(1, Ordering::Relaxed);
            return answer(429, "Retry later\n").with("retry-after", "1");
        }
        answered.push_back(Instant::now());
        let path = asked.line.trim_start_matches("GET /api/v4").split('?').next().unwrap_or_default();
        let request = |iid| merge_request(iid, "Draw only visible rows", "opened");
        let body = match path.split('/').collect::<Vec<_>>().as_slice() {
            ["", "user"] => user(5, "ada"),
            ["", "projects", _] => project_record(7, "acme/rocket-ui"),
            ["", "projects", _, "merge_requests"] => (1..=100).rev().map(request).collect(),
            ["", "projects", _, "merge_requests", iid] => request(iid.parse().expect("a number")),
            _ => Value::Array(Vec::new()),
        };
        answer(200, body.to_string())
    });
    (server.await, refused)
}

/// Handles messages until nothing is left to load, or for some seconds.
async fn run(app: &mut Harness, seconds: u64) {
    let until = Instant::now() + Duration::from_secs(seconds);
    let mut clock = Instant::now();
    while app.is_loading() && Instant::now() < until {
        app.hear().await;
        if clock.elapsed() >= Duration::from_secs(1) {
            clock += Duration::from_secs(1);
            app.pass(1);
        }
    }
}

/// Returns the merge request that a request is about, if it is about one.
fn number_of(line: &str) -> Option<u64> {
    line.split("/merge_requests/").nth(1)?.split(['/', '?', ' ']).next()?.parse().ok()
}

#[tokio::test(start_paused = true)]
async fn a_page_of_a_hundred_merge_requests_is_usable_at_ten_requests_a_second() {
    let (server, refused) = limited_server().await;
    let settings = Server { token: Some("token".into()), ..Server::new(server.url.clone()) };
    let mut app = Begin::at(project("mrs")).size(160, 45).on(settings).open();
    let lines = || server.asked().into_iter().map(|asked| asked.line).collect::<Vec<String>>();
    run(&mut app, 3).await;
    let first: Vec<String> = lines();
    app.expect("Draw only visible rows");
    let header = app.line_with("rocket-ui");
    assert!(header.contains(" loading"), "{header}");
    // The list and the session come first, then the selected row.
    let numbers: Vec<u64> = first.iter().filter_map(|line| number_of(line)).collect();
    assert_eq!(numbers.first(), Some(&100), "{first:#?}");
    let is_visible = |number: &u64| app.shows(&format!("!{number} "));
    assert!(numbers.iter().all(is_visible), "only visible rows are asked for: {numbers:?}\n{}", app.picture());
    // What was scrolled away is canceled, and what is visible now comes next.
    app.press("G");
    let scrolled = lines().len();
    run(&mut app, 3).await;
    let numbers: Vec<u64> = lines()[scrolled..].iter().filter_map(|line| number_of(line)).collect();
    let late = numbers.iter().filter(|number| **number > 60).count();
    assert!(late <= 6 && numbers.contains(&1), "{late} of what was scrolled away: {numbers:?}");
    // What the user does next does not wait for the columns.
    let before = lines().len();
    let asked_at = Instant::now();
    app.press("/").type_text("draw");
    let is_answered = |line: &String| line.contains("search=draw");
    while !lines()[before..].iter().any(is_answered) {
        assert!(asked_at.elapsed() < Duration::from_secs(3), "{:#?}", &lines()[before..]);
        app.hear().await;
    }
    run(&mut app, 60).await;
    assert!(!app.is_loading() && !app.shows("loading"), "{}", app.picture());
    let (refused, all) = (refused.load(Ordering::Relaxed), lines().len());
    assert!(refused * 5 <= all, "{refused} of {all} requests are refused");
}
