//! Refused writes: every line of reach.txt that changes something is walked, and each kind of failure is simulated. The
//! user sees what was tried, the server's answer and what to do; the typed text stays, and the same keys send it again.

use crate::harness::{Begin, Harness};
use crate::reach::{line_of, shape};
use crate::sample::Sample;
use crate::served::demo;
use crate::ways::{How, ways};
use labscope::api::error::error_message;
use labscope::api::{Error, Fault};
use labscope::app::registry::places;
use labscope::app::{Place, target};
use labscope::backend::RunningServer;
use labscope::panes::PANES;
use serde_json::{Value, json};
use std::time::Duration;

/// A kind of failure.
struct Failure {
    name: &'static str,
    fault: Fault,
    /// Parts of the server's message, and of the advice, that must be shown.
    words: Vec<&'static str>,
    next: Option<&'static str>,
    /// The error that must be shown at the named field.
    at_field: Option<&'static str>,
}

/// Returns the fault of a reply, as the client reads it.
fn reply(status: u16, body: &str) -> Fault {
    Error::from_status("PUT /".into(), status, error_message(body.as_bytes()), None).fault
}

fn json(status: u16, body: Value) -> Fault {
    reply(status, &body.to_string())
}

/// The number of failures that concern a field, which come first.
const AT_FIELDS: usize = 5;
/// The number of other failures simulated per change.
const OTHERS: usize = 6;

/// Returns all failures; `field` is the name of a parameter that was sent.
fn failures(field: &str) -> Vec<Failure> {
    type Said = &'static str;
    type Told = (Said, Fault, &'static [Said], Option<Said>, Option<Said>);
    let all: Vec<Told> = vec![
        ("by field", json(400, json!({"message": {field: ["is odd", "is quux"]}})), &[], None, Some("is odd, is quux")),
        ("one text by field", json(422, json!({"message": {field: "is quux"}})), &[], None, Some("is quux")),
        ("under error", json(422, json!({"error": {field: ["is quux"]}})), &[], None, Some("is quux")),
        ("missing", json(400, json!({"error": format!("{field} is missing")})), &["missing"], None, Some("is missing")),
        (
            "not given",
            json(400, json!({"message": format!("400 (Bad request) \"{field}\" not given")})),
            &["400", "given"],
            None,
            Some("not given"),
        ),
        ("in words", json(400, json!({"message": "400 Bad request: quux"})), &["400", "quux"], None, None),
        (
            "described",
            json(400, json!({"error": "invalid", "error_description": "the quux is odd"})),
            &["quux", "odd"],
            None,
            None,
        ),
        ("of it all", json(422, json!({"message": {"base": ["quux cannot be"]}})), &["quux", "cannot"], None, None),
        ("not signed in", json(401, json!({"message": "401 Unauthorized"})), &["401"], Some("token"), None),
        ("expired", json(401, json!({"error_description": "Token quux."})), &["quux"], Some("token"), None),
        ("denied", json(403, json!({"message": "403 Forbidden"})), &["403"], Some("permission"), None),
        ("impossible", json(403, json!({"message": "403 Forbidden - Job is not quux"})), &["403", "quux"], None, None),
        ("not there", json(404, json!({"message": "404 Quux Not Found"})), &["404", "Quux"], Some("deleted"), None),
        ("not offered", json(405, json!({"message": "405 Not Allowed"})), &["405"], Some("support"), None),
        (
            "in the way",
            json(409, json!({"message": "quux already exists"})),
            &["409", "quux"],
            Some("what exists"),
            None,
        ),
        ("changed", json(412, json!({"message": "412 Precondition Failed"})), &["412"], Some("changed it first"), None),
        (
            "too large",
            reply(413, "<html><title>413 Too quux</title></html>"),
            &["413", "quux"],
            Some("send less"),
            None,
        ),
        (
            "too many",
            Fault::Limited("", Some(Duration::from_secs(7))),
            &["wait", "7"],
            Some("Nothing was changed"),
            None,
        ),
        ("failed", json(500, json!({"message": "500 Internal quux"})), &["500", "quux"], Some("check"), None),
        ("a proxy", reply(502, "<html><body><h1>Bad quux</h1></body></html>"), &["502", "quux"], Some("check"), None),
        ("at rest", reply(503, "<!doctype html><title>Be back quux</title>"), &["503", "quux"], Some("check"), None),
        ("without a message", reply(500, ""), &["500"], Some("check"), None),
        ("cut", Fault::Cut("the reply ended quux".into()), &["ended", "quux"], Some("check"), None),
        (
            "too much",
            Fault::TooLarge("the reply contains more than quux".into()),
            &["more", "quux"],
            Some("check"),
            None,
        ),
        ("silence", Fault::Timeout(Duration::from_secs(30)), &["30"], Some("check"), None),
        (
            "refused",
            Fault::Offline("connection refused by quux:443".into()),
            &["refused", "quux:443"],
            Some("network"),
            None,
        ),
    ];
    let failure =
        |(name, fault, words, next, at_field): Told| Failure { name, fault, words: words.to_vec(), next, at_field };
    all.into_iter().map(failure).collect()
}

/// A walk that leads to a write.
struct Change {
    row: String,
    user: String,
    place: String,
    keys: String,
}

fn changes() -> Vec<Change> {
    let change = |way: crate::ways::Way| match way.how {
        How::Walk { user, place, keys } if !way.row.starts_with("GET ") => {
            Some(Change { row: way.row, user, place, keys })
        }
        _ => None,
    };
    ways().into_iter().filter_map(change).collect()
}

async fn begin(server: &RunningServer, change: &Change) -> Harness {
    let place = match change.place.strip_prefix(':') {
        Some(name) => Place::new(name),
        None => target::parse(&places(PANES), &change.place, "").expect("a target"),
    };
    let like = shape(&change.row);
    let begin = Begin::at(place).size(160, 45).refusing(move |request| line_of(request.method, request.route) == like);
    let mut harness = begin.server(&server.base_url, &server.tokens[&change.user]).open();
    harness.settle().await;
    press_until_sent(&mut harness, &change.keys).await;
    harness
}

/// Presses the keys of a walk until its write waits to be refused; returns whether it does.
async fn press_until_sent(harness: &mut Harness, keys: &str) -> bool {
    for (index, part) in keys.split('"').enumerate() {
        if index % 2 == 1 {
            harness.type_text(part).settle().await;
            continue;
        }
        for key in part.split_whitespace() {
            // A question that opened by itself ignores keys for a moment.
            harness.pass(i64::from(key == "y")).press(key).settle().await;
            if harness.to_refuse().is_some() {
                return true;
            }
        }
    }
    // What can be taken back waits before it is sent.
    harness.pass(5).settle().await;
    harness.to_refuse().is_some()
}

/// Returns the typed texts of a walk that are on the screen.
fn typed<'a>(harness: &Harness, change: &'a Change) -> Vec<&'a str> {
    change.keys.split('"').skip(1).step_by(2).filter(|text| harness.shows(text)).collect()
}

/// An overlay that takes keys.
#[derive(Clone, Copy, PartialEq)]
enum Open {
    Form,
    /// A composer that is sending, a bulk change, or a picker of one value, which has its error in place of its keys.
    Other,
    Nothing,
}

fn open(harness: &Harness) -> Open {
    if harness.shows("Esc close (draft saved") {
        return Open::Form;
    }
    let others = ["C-s try again", "r retries", "C-x stops", "╭─ Enable runner"];
    if others.iter().any(|words| harness.shows(words)) { Open::Other } else { Open::Nothing }
}

/// Returns the problems with the screen after a failure; `before` contains the texts that were visible.
fn verdict(harness: &Harness, change: &Change, failure: &Failure, before: &[&str]) -> Vec<String> {
    let mut wrong = Vec::new();
    // The outbox checks on its own whether a comment arrived, also after a reply that is too large.
    let sends = change.keys.contains("C-s") || change.keys.contains("M-s");
    let comments = ["/notes", "/discussions", "/draft_notes", "/comments"].iter().any(|part| change.row.contains(part));
    let comment = sends && comments && !change.row.ends_with("/bulk_publish");
    let error = Error { tried: String::new(), fault: failure.fault.clone() };
    let passing = error.is_temporary();
    let screen = harness.lines().join("\n");
    // When deciding on a merge request, some status codes have another meaning.
    let decides = ["/approve", "/unapprove", "/merge", "/cancel_auto_merge", "/award_emoji/:award_id"];
    let decides = decides.iter().any(|end| change.row.ends_with(end));
    let next = match failure.name {
        "not signed in" if decides => Some("You may not do this"),
        // Nobody sees a file that is uploaded twice.
        _ if change.row.ends_with("/uploads") && passing => Some("Try again"),
        "not offered" if change.row.ends_with("/merge") => Some("cannot be merged yet"),
        _ => failure.next,
    };
    let is_checked = comment && (passing || error.may_have_succeeded());
    for words in failure.words.iter().chain(next.iter().filter(|_| !is_checked)) {
        // The message may be wrapped in a popup.
        if !words.split(' ').all(|word| screen.contains(word)) {
            wrong.push(format!("{words:?} is not said"));
        }
    }
    let open = open(harness);
    if open != Open::Nothing {
        wrong.extend(before.iter().filter(|text| !harness.shows(text)).map(|text| format!("{text:?} is gone")));
    }
    if let Some(at_field) = failure.at_field.filter(|_| open == Open::Form) {
        let marked = |line: &String| line.contains('✗') && line.contains(at_field);
        if !harness.lines().iter().any(marked) {
            wrong.push(format!("{at_field:?} does not stand at its field"));
        }
    }
    wrong
}

/// A walk whose write waits to be refused.
struct Sent<'a> {
    harness: Harness,
    change: &'a Change,
    failures: Vec<Failure>,
    /// Whether a field is shown that an error can be at.
    at_field: bool,
    /// The typed texts that were visible, and what was tried.
    before: Vec<&'a str>,
    what: String,
}

impl<'a> Sent<'a> {
    async fn begin(server: &RunningServer, change: &'a Change) -> Result<Sent<'a>, String> {
        let harness = begin(server, change).await;
        let write = harness
            .to_refuse()
            .ok_or_else(|| format!("nothing was sent: {} | {}\n{}", change.row, change.keys, harness.picture()))?;
        // Fields that the form does not show cannot have an error next to them.
        let shown = |name: &String| !["content", "runner_id", "key", "sha"].contains(&name.as_str());
        let field = write.request.fields.iter().map(|(name, _)| name.clone()).find(shown);
        let failures = failures(field.as_deref().unwrap_or("title"));
        let (before, what) = (typed(&harness, change), write.what.clone());
        Ok(Sent { harness, change, failures, at_field: field.is_some(), before, what })
    }

    fn picture(&self) -> String {
        format!("{} | {}\n{}", self.change.row, self.change.keys, self.harness.picture())
    }

    /// Makes the write fail, and returns what is open then.
    async fn fail(&mut self, index: usize) -> Result<Open, String> {
        let Some(failure) = self.failures.get(index) else { return Ok(Open::Nothing) };
        let (harness, change) = (&mut self.harness, self.change);
        harness.refuse(failure.fault.clone());
        harness.settle().await;
        // The outbox first checks whether the comment arrived; rate-limited comments are resent later.
        for _ in 0..3 {
            if !matches!(failure.fault, Fault::Limited(..))
                && (harness.shows("C-x stops") || change.keys.contains("M-s") && !harness.shows("Could not"))
                && harness.to_refuse().is_none()
            {
                harness.pass(60).settle().await;
            }
        }
        let failure = &Failure {
            at_field: failure.at_field.filter(|_| self.at_field),
            words: failure.words.clone(),
            fault: failure.fault.clone(),
            ..*failure
        };
        let mut wrong = verdict(harness, change, failure, &self.before);
        let open = open(harness);
        // A comment of a review is resent automatically after a rate limit.
        let goes_on = change.keys.contains("M-s") && matches!(failure.fault, Fault::Limited(..));
        if open == Open::Nothing && !goes_on && !harness.shows(&format!("Could not {}", self.what)) {
            wrong.push("what was tried is not said".into());
        }
        match wrong.is_empty() {
            true => Ok(open),
            false => Err(format!("{}: {}: {}", failure.name, wrong.join(", "), self.picture())),
        }
    }

    /// Sends the write of an open overlay again.
    async fn send_again(&mut self, index: usize) -> Result<(), String> {
        let harness = &mut self.harness;
        harness.press(if harness.shows("r retries") { "r" } else { "C-s" }).settle().await;
        // What may have succeeded is confirmed.
        if harness.shows("Send it again?") {
            harness.press("y").settle().await;
        }
        // Comments are resent automatically after a rate limit.
        for _ in 0..3 {
            if harness.to_refuse().is_none() {
                harness.pass(60).settle().await;
            }
        }
        match harness.to_refuse() {
            Some(_) => Ok(()),
            None => {
                let name = self.failures.get(index).map_or("", |failure| failure.name);
                Err(format!("{name}: cannot be sent again: {}", self.picture()))
            }
        }
    }

    /// Presses the keys again where no overlay is open, until the write is sent; returns whether it is.
    async fn repeat(&mut self) -> bool {
        press_until_sent(&mut self.harness, &self.change.keys).await
    }
}

/// Simulates all failures of one walk. If no overlay stays open, only some: there, the same few lines of code show
/// them.
async fn fail(server: &RunningServer, change: &Change, turn: &mut usize) -> Result<(), String> {
    let mut sent = Sent::begin(server, change).await?;
    let count = sent.failures.len();
    // All field errors, and some of the others: the latter share a few lines of code.
    let mut left = AT_FIELDS + OTHERS;
    let mut at = 0;
    loop {
        let index = at % count;
        let open = sent.fail(index).await?;
        left -= 1;
        if left == 0 {
            return Ok(());
        }
        if open == Open::Nothing {
            left = left.min(2);
            (*turn, at) = (*turn + 1, *turn);
            // The keys cannot be repeated if an earlier step has already changed something.
            match Sent::begin(server, change).await {
                Ok(again) => sent = again,
                Err(_) => return Ok(()),
            }
        } else {
            at += 1;
            if at >= AT_FIELDS {
                (*turn, at) = (*turn + 1, AT_FIELDS + *turn % (count - AT_FIELDS));
            }
            sent.send_again(index).await?;
        }
    }
}

/// The writes of a review and of the author's side, each of which fails in every way.
const OF_REVIEWS: &[&str] = &[
    "POST /projects/:id/merge_requests",
    "PUT /projects/:id/merge_requests/:merge_request_iid",
    "/:merge_request_iid/approve",
    "/:merge_request_iid/unapprove",
    "/:merge_request_iid/merge",
    "/draft_notes/bulk_publish",
    "POST /projects/:id/merge_requests/:merge_request_iid/notes",
    "POST /projects/:id/uploads",
    "/revert",
    "/cherry_pick",
    "/:merge_request_iid/subscribe",
    "/:merge_request_iid/unsubscribe",
    "/:merge_request_iid/todo",
    "/:merge_request_iid/time_estimate",
    "/:merge_request_iid/add_spent_time",
    "/:merge_request_iid/reset_spent_time",
    "/:merge_request_iid/reset_time_estimate",
    "/:issue_iid/links",
    "/links/:issue_link_id",
    "/:merge_request_iid/blocks",
    "/blocks/:block_id",
];

/// Returns the walks to the writes of reviews: those of reach.txt, and others to the same routes.
fn of_reviews() -> Vec<Change> {
    let is_one = |change: &Change| {
        OF_REVIEWS.iter().any(|row| change.row == *row || row.starts_with('/') && change.row.ends_with(row))
    };
    let on_42 = |row: &str, keys: &str| Change {
        row: row.into(),
        user: "ada".into(),
        place: "acme/rocket-ui!42".into(),
        keys: keys.into(),
    };
    let others = [
        on_42("POST /projects/:id/merge_requests/:merge_request_iid/draft_notes/bulk_publish", "S M-r C-s"),
        on_42("POST /projects/:id/merge_requests/:merge_request_iid/notes", r#"C "/label ~ui" C-s"#),
        Change {
            row: "POST /projects/:id/merge_requests/:merge_request_iid/notes".into(),
            user: "dora".into(),
            place: "acme/tools/cli!13".into(),
            keys: "@ C-s".into(),
        },
    ];
    changes().into_iter().filter(is_one).chain(others).collect()
}

/// Simulates every failure of one walk. Each is sent once for each time that the user sends it.
async fn fail_every_way(server: &RunningServer, change: &Change) -> Result<(), String> {
    let mut sent = Sent::begin(server, change).await?;
    let mut index = 0;
    while let Some(failure) = sent.failures.get(index) {
        // Without a network, the file is uploaded later.
        if matches!(failure.fault, Fault::Offline(_)) && change.row.ends_with("/uploads") {
            index += 1;
            continue;
        }
        let open = sent.fail(index).await?;
        let is_limited = matches!(sent.failures.get(index), Some(Failure { fault: Fault::Limited(..), .. }));
        if sent.harness.to_refuse().is_some() && !is_limited {
            return Err(format!("sent twice: {}", sent.picture()));
        }
        index += 1;
        if open == Open::Nothing {
            // Without an overlay, there are no fields.
            index = index.max(AT_FIELDS);
            if !sent.repeat().await {
                match Sent::begin(server, change).await {
                    Ok(again) => sent = again,
                    // The keys cannot be repeated if an earlier step has already changed something.
                    Err(_) => return Ok(()),
                }
            }
        } else if index < sent.failures.len() && sent.harness.to_refuse().is_none() {
            sent.send_again(index - 1).await?;
        }
    }
    Ok(())
}

#[tokio::test]
async fn writes_of_reviews_fail_in_every_way() {
    let server = demo().await;
    let mut wrong = Vec::new();
    for change in Sample::one_in(7).of(of_reviews()) {
        wrong.extend(fail_every_way(&server, &change).await.err());
    }
    server.stop().await;
    assert!(wrong.is_empty(), "{} changes:\n{}", wrong.len(), wrong.join("\n\n"));
}

#[tokio::test]
async fn refused_writes_show_the_reason_and_keep_the_text() {
    let server = demo().await;
    let (mut wrong, mut turn) = (Vec::new(), 0);
    for change in Sample::one_in(7).of(changes()) {
        wrong.extend(fail(&server, &change, &mut turn).await.err());
    }
    server.stop().await;
    assert!(wrong.is_empty(), "{} changes:\n{}", wrong.len(), wrong.join("\n\n"));
}

#[tokio::test]
async fn a_refused_secret_is_neither_shown_nor_stored() {
    let server = demo().await;
    let change = Change {
        row: "POST /hooks".into(),
        user: "root".into(),
        place: ":hooks".into(),
        keys: r#"+ "https://hooks.example/x" Tab "opensesame" C-s"#.into(),
    };
    let mut harness = begin(&server, &change).await;
    for body in [json!({"message": {"token": ["opensesame is weak"]}}), json!({"error": "no opensesame, please"})] {
        let sent = harness.to_refuse().map(|write| write.request.fields.clone()).unwrap_or_default();
        assert!(sent.iter().any(|(_, value)| value == "opensesame"), "{sent:?}");
        harness.refuse(json(400, body));
        harness.settle().await;
        harness.expect("****").expect_no("opensesame").expect("https://hooks.example/x");
        assert!(harness.kept.values().all(|kept| !kept.contains("opensesame")), "{:?}", harness.kept);
        // The secret is kept, so it can be sent again without retyping.
        harness.press("C-s").settle().await;
    }
    assert!(harness.asked.iter().filter(|line| line.starts_with("POST /hooks")).count() > 2);
    server.stop().await;
}
