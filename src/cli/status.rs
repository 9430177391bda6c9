//! `labscope status`: one line for a prompt, from what is kept.
//!
//! A prompt must not wait, so the numbers come from a small file in the folder of the kept replies, and neither the
//! server nor the keyring is asked. If they are older than a minute, this starts the program once more in the
//! background with `--refresh`. The date of a second file tells when that was done last, for all shells together, and
//! whoever locks that file first does it.

use super::args::{self, Global};
use super::failure::Failure;
use super::{NOT_SENT, async_runtime, cache, load_config, server, write_stdout};
use crate::api::client::Client;
use crate::api::error::Error;
use crate::api::merge_requests::{GetMergeRequest, ListMergeRequests};
use crate::api::pipelines::resources::Status;
use crate::api::todos::ListTodos;
use crate::api::users::GetCurrentUser;
use crate::api::{Endpoint, Page};
use crate::config::host::KnownServer;
use crate::config::token::{self, FoundToken};
use crate::runtime::cache as replies;
use crate::system::{files, programs};
use crate::ui::text;
use futures::{StreamExt, TryStreamExt, stream};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The names of the files with the numbers, and with the date of the last refresh.
const FILE: &str = "status";
const CLAIM: &str = "status-refreshed";
/// The maximum size of the file with the numbers, in bytes.
const MAX_BYTES: u64 = 16 << 10;
/// The age after which the numbers are refreshed.
const REFRESH_AFTER: Duration = Duration::from_secs(60);
/// The age from which the line tells it, in seconds.
const OLD: i64 = 5 * 60;
/// The maximum number of own merge requests whose pipelines are checked, those that changed last.
const MAX_OWN: u32 = 10;
/// The number of these that are read at the same time.
const CONCURRENCY: usize = 4;

/// The numbers, as of a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Counts {
    at: Timestamp,
    todos: u64,
    reviews: u64,
    failed: u64,
}

/// The last numbers, and the reason why there are no newer ones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct KeptCounts {
    counts: Option<Counts>,
    /// The refusal of the server, which needs the user.
    refusal: Option<String>,
}

/// A value of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    Todos,
    Reviews,
    Failed,
    Age,
}

const VALUES: [(&str, Value); 4] =
    [("todos", Value::Todos), ("reviews", Value::Reviews), ("failed", Value::Failed), ("age", Value::Age)];

/// The parts of a format: texts, and values between them.
#[derive(Debug)]
struct Format(Vec<(String, Option<Value>)>);

/// Parses a format. Braces around anything but a word are text.
///
/// # Errors
/// Returns a message with the names of all values.
fn parse_format(text: &str) -> Result<Format, String> {
    let (mut parts, mut rest, mut before) = (Vec::new(), text, String::new());
    while let Some((head, tail)) = rest.split_once('{') {
        before.push_str(head);
        let word = tail.split('}').next().filter(|word| word.len() < tail.len()).unwrap_or_default();
        if word.is_empty() || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
            before.push('{');
            rest = tail;
            continue;
        }
        let Some((_, value)) = VALUES.iter().find(|(name, _)| *name == word) else {
            let names = VALUES.map(|(name, _)| format!("{{{name}}}")).join(", ");
            return Err(format!("there is no value {{{word}}}; there are {names}"));
        };
        parts.push((std::mem::take(&mut before), Some(*value)));
        rest = tail.get(word.len() + 1..).unwrap_or_default();
    }
    parts.push((before + rest, None));
    Ok(Format(parts))
}

/// Prints the line.
pub fn run(global: &Global, options: &args::Status) -> Result<(), Failure> {
    let format = options.format.as_deref().map(parse_format).transpose();
    let format = format.map_err(|why| Failure::usage(format!("--format: {why}")))?;
    let config = load_config(global)?;
    let server = server::require(global, &config)?.server;
    let name = server.host().name().to_owned();
    let found = token::locate(&server::token_sources(global, &config), &server).map_err(Failure::usage)?;
    let Some(found) = found else {
        let why = server::withheld(global, &config, &server);
        let why = why.unwrap_or_else(|| format!("not signed in to {name}; labscope auth login --host {name} signs in"));
        return Err(Failure::failed(why));
    };
    let folder = match config.cache {
        Some(false) => None,
        _ => Some(folder(&server, &found).ok_or_else(|| {
            Failure::failed("there is no folder to keep the numbers in: neither HOME nor XDG_CACHE_HOME is set")
        })?),
    };
    let kept = match (&folder, options.refresh) {
        (_, true) if global.offline => return Err(Failure::failed(NOT_SENT)),
        (folder, true) => {
            let before = folder.as_deref().map(read).unwrap_or_default();
            let (client, _) = server::server(global, &config, &server)?;
            let answer = async_runtime()?.block_on(async { ask(&Client::new(client)?).await });
            let kept = match &answer {
                Ok(counts) => KeptCounts { counts: Some(counts.clone()), refusal: None },
                // What is only temporary is told by the age of the numbers.
                Err(error) if error.is_temporary() => before,
                Err(error) => KeptCounts { refusal: Some(Failure::from(error.clone()).message), ..before },
            };
            if let Some(folder) = folder {
                write(folder, &kept).map_err(|why| Failure::failed(format!("{}: {why}", folder.display())))?;
            }
            answer?;
            kept
        }
        (Some(folder), false) => {
            let kept = read(folder);
            let age = kept.counts.as_ref().map(|counts| Timestamp::now().duration_since(counts.at).as_secs());
            let is_fresh = age.is_some_and(|age| (0..REFRESH_AFTER.as_secs() as i64).contains(&age));
            if !is_fresh && !global.offline {
                refresh(folder).map_err(|why| Failure::failed(format!("cannot refresh the numbers: {why}")))?;
            }
            kept
        }
        (None, false) => {
            return Err(Failure::usage("with cache = false nothing is kept; --refresh asks the server"));
        }
    };
    if let Some(refusal) = kept.refusal {
        return Err(Failure::failed(refusal));
    }
    let line = match (&kept.counts, &format) {
        (Some(counts), Some(format)) => formatted(format, counts, Timestamp::now()),
        (Some(counts), None) => words(counts, Timestamp::now()),
        (None, _) => String::new(),
    };
    match (line.is_empty(), format.is_none() && io::stdout().is_terminal()) {
        (false, _) => write_stdout(format!("{line}\n").as_bytes()),
        (true, false) => Ok(()),
        (true, true) if kept.counts.is_some() => write_stdout(b"Nothing needs you.\n"),
        (true, true) => write_stdout(b"Nothing is known yet; asking the server in the background.\n"),
    }
}

/// Returns the folder of the replies to the token. The keyring may ask the user, so it is not opened: with a token in
/// it, this is the folder without a token, where nothing else says who the user is.
fn folder(server: &KnownServer, found: &FoundToken) -> Option<PathBuf> {
    match found {
        FoundToken::Token(token) => cache::folder(&server.key(), Some(token)),
        FoundToken::Keyring => cache::folder(&server.key(), None),
    }
}

fn read(folder: &Path) -> KeptCounts {
    let bytes = files::read(&folder.join(FILE), MAX_BYTES).ok();
    bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

fn write(folder: &Path, kept: &KeptCounts) -> io::Result<()> {
    replies::create(folder)?;
    token::write_private(&folder.join(FILE), &serde_json::to_vec(kept)?)
}

/// Starts a refresh in the background, unless one was started in the last minute.
fn refresh(folder: &Path) -> io::Result<()> {
    if claim(folder, SystemTime::now())? {
        programs::own()?.arg("--refresh").spawn()?;
    }
    Ok(())
}

/// Returns whether this process is the one that refreshes the numbers now.
fn claim(folder: &Path, now: SystemTime) -> io::Result<bool> {
    let path = folder.join(CLAIM);
    replies::create(folder)?;
    let is_new = !path.exists();
    let file: File = files::open(&path, OpenOptions::new().write(true))?;
    if file.try_lock().is_err() {
        return Ok(false);
    }
    let age = file.metadata()?.modified().ok().and_then(|last| now.duration_since(last).ok());
    let is_due = is_new || age.is_none_or(|age| age >= REFRESH_AFTER);
    if is_due {
        file.set_modified(now)?;
    }
    Ok(is_due)
}

/// Asks the server for the numbers.
async fn ask(client: &Client) -> Result<Counts, Error> {
    let me = client.call(&GetCurrentUser::default()).await?;
    let requests = |scope: &str, reviewer: Option<String>| ListMergeRequests {
        scope: Some(scope.into()),
        state: Some("opened".into()),
        order_by: Some("updated_at".into()),
        reviewer_username: reviewer,
        ..ListMergeRequests::default()
    };
    let (reviews, own) = (requests("all", Some(me.username.clone())), requests("created-by-me", None));
    let (todos, reviews, own) =
        futures::try_join!(count(client, ListTodos::pending()), count(client, reviews), client.page(&own, 1, MAX_OWN))?;
    let statuses = own.items.iter().map(|request| async {
        let single = GetMergeRequest::new(request.project_id.into(), request.iid);
        let single = client.call(&single).await?;
        Ok::<_, Error>(single.pipeline().is_some_and(|pipeline| pipeline.status == Status::Failed))
    });
    let failed: Vec<bool> = stream::iter(statuses).buffered(CONCURRENCY).try_collect().await?;
    let failed = failed.into_iter().filter(|is_failed| *is_failed).count() as u64;
    Ok(Counts { at: Timestamp::now(), todos, reviews, failed })
}

/// Returns the number of entries of a list. Servers that do not count long lists send at least a page.
async fn count<T, E: Endpoint<Output = Vec<T>>>(client: &Client, list: E) -> Result<u64, Error> {
    let Page { items, info } = client.page(&list, 1, 100).await?;
    Ok(info.total.unwrap_or(items.len() as u64))
}

/// Describes what needs the user; empty if nothing does.
fn words(counts: &Counts, now: Timestamp) -> String {
    let named = [(counts.todos, "to-do"), (counts.reviews, "review"), (counts.failed, "failed pipeline")];
    let words: Vec<String> = named
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, noun)| text::count_noun(number, noun))
        .collect();
    let age = now.duration_since(counts.at).as_secs();
    match words.join(", ") {
        line if line.is_empty() || age < OLD => line,
        line => format!("{line} ({} ago)", text::short_age(age)),
    }
}

fn formatted(format: &Format, counts: &Counts, now: Timestamp) -> String {
    let value = |value: &Value| match value {
        Value::Todos => counts.todos.to_string(),
        Value::Reviews => counts.reviews.to_string(),
        Value::Failed => counts.failed.to_string(),
        Value::Age => text::short_age(now.duration_since(counts.at).as_secs()),
    };
    let parts = format.0.iter().map(|(text, of)| format!("{text}{}", of.as_ref().map(value).unwrap_or_default()));
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(todos: u64, reviews: u64, failed: u64) -> Counts {
        Counts { at: Timestamp::UNIX_EPOCH, todos, reviews, failed }
    }

    fn after(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).expect("a time")
    }

    #[test]
    fn the_line_names_what_needs_the_user_and_its_age_if_it_is_old() {
        assert_eq!(words(&counts(3, 1, 2), after(59)), "3 to-dos, 1 review, 2 failed pipelines");
        assert_eq!(words(&counts(0, 2, 0), after(720)), "2 reviews (12m ago)");
        assert_eq!(words(&counts(0, 0, 0), after(720)), "");
    }

    #[test]
    fn a_format_has_values_in_braces() {
        let line = |format: &str| formatted(&parse_format(format).expect(format), &counts(3, 1, 2), after(240));
        assert_eq!(line("T{todos} R{reviews} F{failed} {age}"), "T3 R1 F2 4m");
        assert_eq!(line("{} { x {Todos} #[fg=red]{failed}"), "{} { x {Todos} #[fg=red]2");
        assert_eq!(line(""), "");
        let why = parse_format("{todo}").expect_err("unknown");
        assert_eq!(why, "there is no value {todo}; there are {todos}, {reviews}, {failed}, {age}");
    }

    #[test]
    fn many_shells_refresh_once_a_minute() {
        let folder = tempfile::tempdir().expect("a folder");
        let now = SystemTime::now();
        assert!(claim(folder.path(), now).expect("claims"));
        for later in [0, 1, 59] {
            assert!(!claim(folder.path(), now + Duration::from_secs(later)).expect("claims"), "{later}");
        }
        assert!(claim(folder.path(), now + REFRESH_AFTER).expect("claims"));
        // A clock that was set back does not stop it for long.
        assert!(claim(folder.path(), now - REFRESH_AFTER).expect("claims"));
    }
}
