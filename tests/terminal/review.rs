//! A complete review from the request to the merge, as a person does it.

use crate::home::Home;
use crate::screen::Screen;
use crate::served::Served;
use serde_json::Value;

/// A merge request that adds three lines, one of which has a thread; a review by ada is requested.
pub const WORLD: &str = r#"
now = "2026-11-20T16:00:00Z"
users = [{ username = "root", admin = true }, { username = "ada" }, { username = "bo" }]

[[projects]]
path = "bo/garden"
visibility = "public"
members = { ada = "maintainer" }
threads_must_be_resolved = true
files = '''
-- README.md --
A garden.
-- plan.txt --
first roses
second beans
third nothing
'''
script = '''
from 2026-11-02
to 2026-11-20
bo: Say what it is
  + README.md
branch plan
bo: Plan the year
  + plan.txt
'''

[[merge_requests]]
project = "bo/garden"
iid = 1
title = "Plan the year"
source = "plan"
author = "bo"
created = "1d"
reviewers = [["ada", "unreviewed", "20h"]]

[[merge_requests.threads]]
path = "plan.txt"
line = 3
notes = [["bo", "3h", "Is nothing enough?"]]
"#;

/// Returns the reply to a read as ada.
pub fn api(home: &Home, served: &Served, path: &str) -> Value {
    let mut command = home.command(&["api", "GET", path]);
    command.env("LABSCOPE_HOST", served.url()).env("LABSCOPE_TOKEN", served.token("ada"));
    serde_json::from_slice(&command.output().expect("it runs").stdout).expect("JSON")
}

#[test]
fn a_review_can_be_completed_from_the_request_to_the_merge() {
    let home = Home::new();
    let world = home.path("world.toml");
    std::fs::write(&world, WORLD).expect("written");
    let served = Served::start(&home, &["--world", world.to_str().expect("UTF-8")]);
    let variables = [("LABSCOPE_HOST", served.url()), ("LABSCOPE_TOKEN", served.token("ada"))];
    let mut screen = Screen::start_with(&home, env!("CARGO_BIN_EXE_labscope"), &[], &variables);
    let shows = |words: &'static str| move |screen: &vt100::Screen| screen.contents().contains(words);
    screen.wait("home lists the request", shows("Plan the year"));
    screen.keys("\r");
    screen.wait("it opens", shows("plan → main"));
    screen.keys("3");
    screen.wait("its changes are shown", shows("first roses"));
    for (at, line, words) in [("1", "first", "Which ones?"), ("2", "second", "How many?")] {
        // C-u clears the previous search.
        screen.keys(&format!("/\x15{line}\r"));
        screen.wait("the line is found", |screen| screen.contents().contains(&format!("/{line} 1/1")));
        screen.keys("c");
        let composer = format!("Comment on plan.txt:{at}");
        screen.wait("the composer opens", |screen| screen.contents().contains(&composer));
        screen.keys(&format!("{words}\x1bs"));
        screen.wait("the comment is in the review", |screen| screen.contents().contains(words));
        screen.wait("the composer closes", |screen| !screen.contents().contains("add to review"));
    }
    let in_review = |screen: &vt100::Screen| screen.contents().matches("in your review").count() == 2;
    screen.wait("both comments are in the review", in_review);
    screen.keys(";t");
    screen.wait("the thread is resolved", shows("✓ resolved"));
    screen.keys("S");
    screen.wait("the review is to be submitted", shows("Submit review of !1"));
    screen.wait("both comments are on the server", shows("2 comments"));
    screen.keys("All fine.");
    screen.wait("the summary is written", shows("All fine."));
    screen.keys("\x1ba");
    screen.wait("it is approved", shows("[x] Approve"));
    screen.keys("\x13");
    let is_over = |screen: &vt100::Screen| {
        let shown = screen.contents();
        ["Submit review of !1", "Drafts on bo/garden!1", "in your review"].iter().all(|words| !shown.contains(words))
    };
    screen.wait("the review is submitted, and its list is closed", is_over);
    screen.keys("1");
    screen.wait("the approval is shown", shows("✓ ada"));
    // The user's own comments are threads, which block the merge until they are resolved.
    for left in ["2 unresolved", "1 unresolved"] {
        screen.wait(left, shows(left));
        screen.keys(";t");
    }
    screen.wait("all threads are resolved", |screen| !screen.contents().contains("unresolved"));
    screen.keys("M");
    screen.wait("the merge is to be confirmed", shows("Merge !1 into main"));
    screen.keys("\x13");
    screen.wait("it is merged", shows("✓ merged  plan"));
    screen.keys("Q");
    assert_eq!(screen.exit_code(), 0);
    let request = api(&home, &served, "projects/bo%2Fgarden/merge_requests/1");
    assert_eq!(request["state"], "merged");
    let approvals = api(&home, &served, "projects/bo%2Fgarden/merge_requests/1/approvals");
    assert_eq!(approvals["approved_by"][0]["user"]["username"], "ada");
    let notes = api(&home, &served, "projects/bo%2Fgarden/merge_requests/1/notes");
    for words in ["Which ones?", "How many?", "All fine."] {
        let count = notes.as_array().expect("a list").iter().filter(|note| note["body"] == words).count();
        assert_eq!(count, 1, "{words}: {notes}");
    }
}
