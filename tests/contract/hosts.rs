//! Several servers at once: each only sees its own token, for every request and every redirect.

use crate::client::at;
use crate::scripted::{Scripted, answer};
use labscope::api::client::{Client, Server};
use labscope::api::host::Host;
use labscope::api::merge_requests::ListMergeRequests;
use labscope::app::action::{Effect, Msg};
use labscope::runtime::connections::{Connection, Connections};
use labscope::runtime::executor::Executor;
use labscope::store::{Load, Task};
use std::path::PathBuf;
use std::time::Duration;
use tokio::sync::mpsc;

fn connection(server: Server, token: &str, replies: Option<PathBuf>) -> Connection {
    let server = Server { token: Some(token.to_owned().into()), ..server };
    Connection::new(Box::new(move || Client::new(server)), replies)
}

/// Requests merge requests from `host`, or from the current server if it is `None`; returns whether it succeeded.
async fn ask(executor: &mut Executor, inbox: &mut mpsc::Receiver<Msg>, host: Option<&Host>) -> bool {
    let load = Load::list(&ListMergeRequests::default(), 1).at(host);
    let task = Task::Load { load, page: 1, link: None, known: None };
    let key = task.key();
    executor.take(Effect::Start(task));
    loop {
        let next = tokio::time::timeout(Duration::from_secs(60), inbox.recv()).await.expect("it answers");
        if let Some(Msg::Arrived(of, outcome)) = next.expect("the executor is there").unless_stopped() {
            assert_eq!(of, key);
            return outcome.is_ok();
        }
    }
}

#[tokio::test]
async fn each_of_two_servers_only_sees_its_own_token() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let here = Scripted::start([answer(200, "[]"), answer(200, "[]"), answer(200, "[]")]).await;
    let back = here.url.join("/api/v4/elsewhere").expect("an address");
    // The second reply of the other server redirects to the first server.
    let there = Scripted::start([answer(200, "[]"), answer(302, "").with("location", back.as_str())]).await;
    let (this, other) = (Host::new(here.url.as_str()), Host::new(there.url.as_str()));
    let (server, replies) = (at(&there.url), folder.path().join("there"));
    let lines = Connections::new(Box::new(move |_| connection(server.clone(), "token-there", Some(replies.clone()))));
    let first = connection(at(&here.url), "token-here", Some(folder.path().join("here")));
    let lines = lines.with(this.clone(), first);
    let (sender, mut inbox) = mpsc::channel(64);
    let mut executor = Executor::on(lines.clone(), this.clone(), sender, None);
    assert!(ask(&mut executor, &mut inbox, None).await);
    assert!(ask(&mut executor, &mut inbox, Some(&other)).await);
    assert!(ask(&mut executor, &mut inbox, Some(&other)).await, "the redirect is followed to the first server");
    assert!(ask(&mut executor, &mut inbox, Some(&this)).await, "a named current server uses the same token");
    let tokens = |server: &Scripted| -> Vec<String> {
        server.asked().iter().map(|asked| asked.header("private-token").to_owned()).collect()
    };
    assert_eq!(tokens(&there), ["token-there", "token-there"]);
    assert_eq!(tokens(&here), ["token-here", "", "token-here"]);
    executor.finish().await;
    lines.finish().await;
    // Replies are cached separately, under the name they would have if their server were the current one.
    let names = |at: &str| -> Vec<_> {
        let entries = std::fs::read_dir(folder.path().join(at)).expect("replies are kept");
        entries.flatten().map(|entry| entry.file_name()).filter(|name| name != "http2").collect()
    };
    assert_eq!((names("here").len(), names("there")), (1, names("here")));
}
