//! Benchmarks requests: what labscope asks a distant server for in ten places, over TLS and HTTP/2: the number of
//! requests, bytes and connections, and the round trips until the first rows are shown and until nothing is missing,
//! against the number that the dependencies between the requests need at least.
//!
//! Each place is opened at two distances. The difference of the times is that of the round trips, however long the
//! program takes itself. With arguments, only the places are measured whose names contain one of them, and their requests
//! are listed.
//!
//! Where glab is installed, its commands that answer the same question are measured beside them, through the same proxy.

use crate::support::distance::{Exchange, Proxy, certificate};
use crate::support::served::LABSCOPE;
use crate::support::session::Session;
use crate::support::{Table, print_all};
use labscope::backend::{Options, WorldKind};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The two round trip times at which each place is measured.
const NEAR: Duration = Duration::from_millis(100);
const FAR: Duration = Duration::from_millis(300);
/// The time without requests after which a place is complete; requests wait for at most a part of it.
const QUIET: Duration = Duration::from_millis(800);
/// The round trips until a connection over TLS is open.
const HANDSHAKE: f64 = 2.0;
/// The most round trips that a place may take until its first rows are shown, with the handshake.
const MAX_FIRST: f64 = 3.0 + HANDSHAKE;
/// The most round trips until a place is complete, as a multiple of the lower bound.
const MAX_RATIO: f64 = 2.0;

/// The number of merge requests of a home that fills the screen.
const MANY: usize = 30;

/// A place that is measured.
struct Visit {
    name: &'static str,
    target: &'static str,
    /// A text of its first rows.
    shows: &'static str,
    /// The length of the longest chain of requests that depend on each other.
    chain: f64,
    /// The most requests that it may send.
    limit: usize,
}

/// Home in a world in which [`MANY`] merge requests wait for the user: the user, the lists, the details of each. Six requests
/// and one a row, the two of the session, and one for what is beside the list about the selected row.
const FULL_HOME: Visit =
    Visit { name: "home, 30 merge requests", target: "", shows: "Change part 30", chain: 3.0, limit: 9 + MANY };

const VISITS: &[Visit] = &[
    // The user, the merge requests to review, the details of each.
    Visit { name: "home", target: "", shows: "Draw only visible rows", chain: 3.0, limit: 40 },
    Visit { name: "project", target: "acme/rocket-ui", shows: "README.md", chain: 2.0, limit: 12 },
    Visit { name: "files", target: "acme/rocket-ui@main", shows: "Cargo.toml", chain: 2.0, limit: 12 },
    Visit { name: "branches", target: "acme/rocket-ui/-/branches", shows: "feature/rows", chain: 2.0, limit: 40 },
    Visit {
        name: "merge requests",
        target: "acme/rocket-ui/-/merge_requests",
        shows: "Draw only visible rows",
        chain: 2.0,
        limit: 40,
    },
    Visit {
        name: "merge requests of a group",
        target: "groups/acme/-/merge_requests",
        shows: "Draw only visible rows",
        chain: 2.0,
        limit: 40,
    },
    Visit { name: "merge request", target: "acme/rocket-ui!42", shows: "What changes", chain: 2.0, limit: 36 },
    Visit {
        name: "changes",
        target: "acme/rocket-ui/-/merge_requests/42/diffs",
        shows: "Files 6",
        chain: 2.0,
        limit: 20,
    },
    Visit { name: "pipelines", target: "acme/rocket-ui/-/pipelines", shows: "#19", chain: 2.0, limit: 40 },
    Visit { name: "trace", target: "acme/rocket-ui/-/jobs/121", shows: "a_narrow", chain: 2.0, limit: 10 },
];

/// The measurement of one start.
struct Measured {
    /// The times from the start until the first rows are shown and until the last reply has arrived, in seconds.
    first: f64,
    complete: f64,
    exchanges: Vec<Exchange>,
    connections: usize,
    /// The number of bytes on the wire.
    bytes: usize,
}

/// Opens a place, with the files of the user in `home`.
fn open(proxy: &Proxy, token: &str, visit: &Visit, home: &Path) -> Measured {
    let home = home.to_string_lossy().into_owned();
    let certificate = certificate();
    let mut arguments = vec!["--host", &proxy.url, "--ca-cert", &certificate];
    arguments.extend(Some(visit.target).filter(|target| !target.is_empty()));
    let variables: Vec<(&str, &str)> = ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"]
        .into_iter()
        .map(|name| (name, home.as_str()))
        .chain([("LABSCOPE_TOKEN", token)])
        .collect();
    proxy.take();
    let mut session = Session::start(LABSCOPE, &arguments, &variables);
    let first = session.shows(visit.shows, Duration::from_secs(30));
    proxy.quiet(QUIET + FAR);
    let (exchanges, connections, bytes) = proxy.take();
    let last = exchanges.iter().filter_map(|exchange| exchange.ended).max();
    let complete = last.map_or(f64::NAN, |last| last.duration_since(session.started).as_secs_f64());
    session.end();
    Measured { first: first.map_or(f64::NAN, |first| first / 1e3), complete, exchanges, connections, bytes }
}

/// Commands of glab, with the place that answers the same question.
const COMMANDS: &[(&str, &[&str])] = &[
    ("project", &["repo", "view", "acme/rocket-ui"]),
    ("merge requests", &["mr", "list", "--repo", "acme/rocket-ui"]),
    ("merge requests of a group", &["mr", "list", "--group", "acme", "--repo", "acme/rocket-ui"]),
    ("merge request", &["mr", "view", "42", "--comments", "--repo", "acme/rocket-ui"]),
    ("changes", &["mr", "diff", "42", "--repo", "acme/rocket-ui"]),
    ("pipelines", &["ci", "list", "--repo", "acme/rocket-ui"]),
    ("trace", &["ci", "trace", "121", "--repo", "acme/rocket-ui"]),
];

/// Runs a command of glab; `None` if it fails or is not installed.
fn run_glab(proxy: &Proxy, token: &str, arguments: &[&str]) -> Option<Measured> {
    let home = tempfile::tempdir().expect("a folder");
    let mut command = Command::new("glab");
    command.args(arguments).current_dir(home.path()).stdin(Stdio::null()).stdout(Stdio::null());
    command.env_clear().env("HOME", home.path()).env("GLAB_CONFIG_DIR", home.path()).env("NO_PROMPT", "1");
    command.envs(std::env::var("PATH").map(|path| ("PATH", path)));
    let (host, certificate) = (proxy.url.trim_start_matches("https://"), certificate());
    // It would look for a newer version of itself.
    let config = format!(
        "host: {host}\ncheck_update: false\nhosts:\n  {host}:\n    api_protocol: https\n    api_host: {host}\n    \
         ca_cert: {certificate}\n    token: {token}\n"
    );
    let path = home.path().join("config.yml");
    std::fs::write(&path, config).ok()?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).ok()?;
    proxy.take();
    let started = Instant::now();
    let status = command.status().ok()?;
    let complete = started.elapsed().as_secs_f64();
    let (exchanges, connections, bytes) = proxy.take();
    status.success().then_some(Measured { first: complete, complete, exchanges, connections, bytes })
}

/// Measures the commands of glab; returns whether there were any.
fn measure_glab(proxy: &Proxy, token: &str, names: &[String]) -> Option<Table> {
    let mut table =
        Table::new("glab at the same distance", &["", "command", "requests", "kB", "connections", "ms at 300"]);
    let is_named = |place: &str| names.is_empty() || names.iter().any(|name| place.contains(name));
    for (place, arguments) in COMMANDS.iter().filter(|(place, _)| is_named(place)) {
        let measured = run_glab(proxy, token, arguments)?;
        table.row(
            vec![
                (*place).into(),
                format!("glab {}", arguments.join(" ")),
                measured.exchanges.len().to_string(),
                format!("{:.1}", measured.bytes as f64 / 1e3),
                measured.connections.to_string(),
                format!("{:.0}", measured.complete * 1e3),
            ],
            false,
        );
        list(names, &format!("glab {}", arguments.join(" ")), &measured);
    }
    Some(table)
}

/// Lists the requests, if single places are measured.
fn list(names: &[String], title: &str, measured: &Measured) {
    if !names.is_empty() {
        println!("\n{title}");
        for exchange in &measured.exchanges {
            println!("  {} {:>6} {}", exchange.status, exchange.bytes, exchange.line);
        }
    }
}

/// Returns a world with a user for whom [`MANY`] merge requests wait.
fn full_world() -> String {
    let user = |name: &str, more: &str| format!("[[users]]\nusername = \"{name}\"\n{more}\n");
    let users = user("root", "admin = true") + &user("ada", "token = \"a-token-of-ada\"") + &user("bo", "");
    let parts = 1..=MANY;
    let branch = |part: usize| format!("branch part-{part}\nbo: Change part {part}\n  + part_{part}.txt\n");
    let files: String = parts.clone().map(|part| format!("-- part_{part}.txt --\n{part}\n")).collect();
    let branches: String = parts.clone().map(branch).collect();
    let merge_request = |part: usize| {
        format!(
            "[[merge_requests]]\nproject = \"ada/parts\"\niid = {part}\ntitle = \"Change part {part}\"\n\
             source = \"part-{part}\"\nauthor = \"bo\"\nassignee = \"ada\"\ncreated = \"1d\"\n"
        )
    };
    let merge_requests: String = parts.map(merge_request).collect();
    format!(
        "now = \"2026-11-20T16:00:00Z\"\n{users}[[projects]]\npath = \"ada/parts\"\nfiles = '''\n-- README.md --\nParts\n\
         {files}'''\nscript = '''\nfrom 2026-11-02\nto 2026-11-20\nada: Begin\n  + README.md\n{branches}'''\n{merge_requests}"
    )
}

pub fn run(names: &[String]) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let serve = |world: WorldKind| {
        let options = Options { world, ..Options::default() };
        let server = runtime.block_on(labscope::backend::start(options)).expect("a server on a free port");
        let address: SocketAddr = server.base_url.trim_start_matches("http://").parse().expect("an address");
        let token = server.tokens["ada"].clone();
        (server, token, [NEAR, FAR].map(|round_trip| Proxy::start(address, round_trip)))
    };
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("world.toml");
    std::fs::write(&file, full_world()).expect("a world");
    let (demo, full) = (serve(WorldKind::Demo), serve(WorldKind::File(file)));
    let head = [
        "",
        "requests",
        "limit",
        "kB",
        "connections",
        "first rows",
        "complete",
        "lower bound",
        "ratio",
        "ms at 300",
        "again: requests",
        "unchanged",
        "kB",
        "connections",
    ];
    let mut table = Table::new("round trips of a distant server over TLS", &head);
    let began = Instant::now();
    let visits = std::iter::once((&FULL_HOME, &full)).chain(VISITS.iter().map(|visit| (visit, &demo)));
    let is_named = |name: &str| names.is_empty() || names.iter().any(|part| name.contains(part));
    for (visit, (_, token, [near, far])) in visits.filter(|(visit, _)| is_named(visit.name)) {
        let folder = || tempfile::tempdir().expect("a folder");
        let (near_home, home) = (folder(), folder());
        let close = open(near, token, visit, near_home.path());
        let distant = open(far, token, visit, home.path());
        let again = open(far, token, visit, home.path());
        let apart = (FAR - NEAR).as_secs_f64();
        let first = (distant.first - close.first) / apart;
        let complete = (distant.complete - close.complete) / apart;
        let bound = HANDSHAKE + visit.chain;
        let unchanged = again.exchanges.iter().filter(|exchange| exchange.status == 304).count();
        let is_over = first.is_nan()
            || first > MAX_FIRST + 0.5
            || complete > bound * MAX_RATIO
            || distant.exchanges.len() > visit.limit;
        table.row(
            vec![
                visit.name.into(),
                distant.exchanges.len().to_string(),
                visit.limit.to_string(),
                format!("{:.1}", distant.bytes as f64 / 1e3),
                distant.connections.to_string(),
                format!("{first:.1}"),
                format!("{complete:.1}"),
                format!("{bound:.0}"),
                format!("{:.1}{}", complete / bound, if is_over { " !" } else { "" }),
                format!("{:.0}", distant.complete * 1e3),
                again.exchanges.len().to_string(),
                unchanged.to_string(),
                format!("{:.1}", again.bytes as f64 / 1e3),
                again.connections.to_string(),
            ],
            is_over,
        );
        list(names, visit.name, &distant);
    }
    let (_, token, [_, far]) = &demo;
    let beside = measure_glab(far, token, names);
    println!("\nmeasured in {:.0} s", began.elapsed().as_secs_f64());
    if beside.is_none() {
        println!("glab is not installed, or a command of it failed");
    }
    match beside {
        Some(beside) => print_all([table, beside]),
        None => table.print(),
    }
}
