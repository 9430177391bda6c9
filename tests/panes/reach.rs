//! Every row of the specification is reachable: each line of reach.txt is walked in the demo world, and the app must
//! send that request. Writes are held back, so that the world stays unchanged.

use crate::harness::{Begin, Harness};
use crate::sample::Sample;
use crate::served::demo;
use crate::ways::{How, ways};
use labscope::app::registry::places;
use labscope::app::{Place, target};
use labscope::panes::PANES;

/// Returns a method and a route in the form `GET /projects/:id`, because some slots are named differently.
pub fn shape(line: &str) -> String {
    let slot = |segment: &str| match segment.chars().next() {
        Some(':' | '{') if segment.starts_with("{*") => "*".to_owned(),
        Some(':' | '{') => ":".to_owned(),
        Some('*') => "*".to_owned(),
        _ => segment.to_owned(),
    };
    line.split('/').map(slot).collect::<Vec<_>>().join("/")
}

pub fn line_of(method: &str, route: &str) -> String {
    shape(&format!("{method} {route}"))
}

/// Presses keys and types quoted texts; the requests of each are answered before the next.
pub async fn walk(harness: &mut Harness, keys: &str) {
    for (index, part) in keys.split('"').enumerate() {
        if index % 2 == 1 {
            harness.type_text(part).settle().await;
        } else {
            for key in part.split_whitespace() {
                // A question that opened by itself ignores keys for a moment.
                harness.pass(i64::from(key == "y")).press(key).settle().await;
            }
        }
    }
}

#[tokio::test]
async fn the_keys_in_reach_txt_send_their_requests() {
    let server = demo().await;
    let mut wrong = Vec::new();
    for way in Sample::one_in(7).of(ways()) {
        let How::Walk { user, place, keys } = &way.how else { continue };
        let place = match place.strip_prefix(':') {
            Some(name) => Place::new(name),
            None => target::parse(&places(PANES), place, "").unwrap_or_else(|error| panic!("{}: {error}", way.row)),
        };
        let token = server.tokens.get(user).expect("a token");
        let wanted = shape(&way.row);
        let like = wanted.clone();
        let begin = Begin::at(place).size(160, 45).hold(move |request| line_of(request.method, request.route) == like);
        let mut harness = begin.server(&server.base_url, token).open();
        harness.settle().await;
        walk(&mut harness, keys).await;
        // What can be taken back waits before it is sent.
        harness.pass(5).settle().await;
        if !harness.reached.iter().any(|(method, route)| line_of(method, route) == wanted) {
            wrong.push(format!("{} | {}\n{}", way.row, way.how.shown(), harness.picture()));
        }
    }
    server.stop().await;
    assert!(wrong.is_empty(), "{} walks do not send their request:\n{}", wrong.len(), wrong.join("\n\n"));
}
