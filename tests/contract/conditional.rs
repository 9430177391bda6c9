//! Requests for replies that are known: they name the entity tag, and a server that has nothing newer sends nothing.
//! GitLab's tags are weak (`W/"…"`), since Rack makes them of every body; proxies send strong ones.

use crate::client::at;
use crate::scripted::{Scripted, answer};
use labscope::api::branches::{Branch, ListBranches};
use labscope::api::client::Client;
use labscope::app::action::{Effect, Msg, Outcome};
use labscope::runtime::executor::Executor;
use labscope::store::{Load, ParsedReply, Task};
use std::path::Path;
use std::time::Duration;
use tokio::sync::mpsc;
use url::Url;

const TAG: &str = "W/\"5d41402abc4b2a76b9719d911017c592\"";
const MAIN: &str = r#"[{"name":"main"}]"#;

/// Requests the branches once, with `known` in the store and the folder `replies` as the disk cache.
async fn ask(url: &Url, known: Option<ParsedReply>, replies: Option<&Path>) -> Result<ParsedReply, String> {
    let (sender, mut inbox) = mpsc::channel(64);
    let server = at(url);
    let mut executor =
        Executor::new(Box::new(move || Client::new(server)), sender, None, replies.map(Path::to_path_buf));
    let load = Load::list(&ListBranches { id: "a/b".into(), search: None }, 1);
    executor.take(Effect::Start(Task::Load { load, page: 1, link: None, known }));
    let outcome = loop {
        let next = tokio::time::timeout(Duration::from_secs(60), inbox.recv()).await.expect("it answers");
        match next.expect("the executor is there").unless_stopped() {
            Some(Msg::Arrived(_, Ok(Outcome::Reply(reply)))) => break Ok(reply),
            Some(Msg::Arrived(_, outcome)) => break Err(outcome.err().map_or_else(String::new, |e| e.message())),
            _ => {}
        }
    };
    executor.finish().await;
    outcome
}

fn names(reply: &ParsedReply) -> Vec<&str> {
    let rows = reply.value.downcast_ref::<Vec<Branch>>().expect("branches");
    rows.iter().map(|branch| branch.name.as_str()).collect()
}

fn known_tags(server: &Scripted) -> Vec<String> {
    server.asked().iter().map(|asked| asked.header("if-none-match").to_owned()).collect()
}

#[tokio::test]
async fn a_reply_that_did_not_change_is_not_sent_again() {
    let first = answer(200, MAIN).with("etag", TAG).with("x-total", "1");
    let other = answer(200, r#"[{"name":"next"}]"#).with("etag", "\"strong\"");
    let unchanged = answer(304, "").with("etag", TAG);
    let server = Scripted::start([first, unchanged, other]).await;
    let known = ask(&server.url, None, None).await.expect("a reply");
    let same = ask(&server.url, Some(known.clone()), None).await.expect("a reply");
    assert_eq!((names(&same), same.total), (vec!["main"], Some(1)));
    assert!(std::sync::Arc::ptr_eq(&same.value, &known.value), "nothing is parsed");
    let new = ask(&server.url, Some(same), None).await.expect("a reply");
    assert_eq!(names(&new), ["next"]);
    assert_eq!(known_tags(&server), ["", TAG, TAG]);
}

#[tokio::test]
async fn what_was_kept_on_disk_is_not_sent_again_either() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let replies = Some(folder.path());
    let server = Scripted::start([answer(200, MAIN).with("etag", TAG), answer(304, "")]).await;
    ask(&server.url, None, replies).await.expect("a reply");
    // Replies are written beside other files, under another name at first.
    let is_reply = |name: &str| name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    let reply_is_kept = || {
        let files = std::fs::read_dir(folder.path()).into_iter().flatten().flatten();
        files.into_iter().any(|file| file.file_name().to_str().is_some_and(is_reply))
    };
    let kept = tokio::time::timeout(Duration::from_secs(60), async {
        while !reply_is_kept() {
            tokio::task::yield_now().await;
        }
    });
    kept.await.expect("the reply is kept");
    assert_eq!(names(&ask(&server.url, None, replies).await.expect("a reply")), ["main"]);
    assert_eq!(known_tags(&server), ["", TAG]);
}

#[tokio::test]
async fn an_answer_that_nothing_changed_is_an_error_where_nothing_is_known() {
    let server = Scripted::start([answer(304, "")]).await;
    assert!(ask(&server.url, None, None).await.is_err());
    // A tag that is no hash but a whole page is not sent back.
    let long = format!("\"{}\"", "x".repeat(5000));
    let server = Scripted::start([answer(200, MAIN).with("etag", &long), answer(200, MAIN)]).await;
    let known = ask(&server.url, None, None).await.expect("a reply");
    ask(&server.url, Some(known), None).await.expect("a reply");
    assert_eq!(known_tags(&server), ["", ""]);
}

#[tokio::test]
async fn tags_that_change_with_every_reply_are_no_change_of_the_reply() {
    let reply = |tag: &str| answer(200, MAIN).with("etag", tag);
    let unchanged = answer(304, "").with("etag", "\"4\"");
    let server = Scripted::start([reply("\"1\""), reply("\"2\""), reply("\"3\""), unchanged]).await;
    let mut known = ask(&server.url, None, None).await.expect("a reply");
    for _ in 0..3 {
        let next = ask(&server.url, Some(known.clone()), None).await.expect("a reply");
        assert_eq!((next.digest, names(&next)), (known.digest, vec!["main"]), "it counts as the same");
        known = next;
    }
    assert_eq!(known_tags(&server), ["", "\"1\"", "\"2\"", "\"3\""]);
}

#[tokio::test]
async fn a_tag_is_not_sent_to_another_host() {
    let storage = Scripted::start([answer(200, MAIN)]).await;
    let back = storage.url.join("/elsewhere").expect("an address");
    let moved = answer(302, "").with("location", back.as_str());
    let server = Scripted::start([answer(200, MAIN).with("etag", TAG), moved]).await;
    let known = ask(&server.url, None, None).await.expect("a reply");
    ask(&server.url, Some(known), None).await.expect("a reply");
    assert_eq!((known_tags(&server), known_tags(&storage)), (vec![String::new(), TAG.to_owned()], vec![String::new()]));
}
