//! Benchmarks a long history: the first replies of a freshly started local server against git itself on the same
//! repository, with and without a commit-graph file.
//!
//! The repository is generated with `LABSCOPE_BENCH_COMMITS` commits. Alternatively, `LABSCOPE_BENCH_REPOSITORY` names
//! an existing one, which is only read, and `LABSCOPE_BENCH_PATH` a file that exists at its head.

use crate::support::Table;
use crate::support::served::{Connection, LABSCOPE, Process, git};
use std::path::{Path, PathBuf};
use std::time::Instant;
use std::{env, fs};

/// The number of commits in the generated repository.
const COMMITS: usize = 20_000;
/// The number of files, and of lines in each.
const FILES: usize = 400;
const LINES: usize = 60;
/// The number of server starts per measurement.
const TIMES: usize = 3;

/// Generates a history with a merge at every seventh commit; each commit changes a line of one file.
fn make(folder: &Path, commits: usize) {
    fs::create_dir_all(folder).expect("a folder");
    git(folder, &["init", "-q", "--bare", "-b", "main"], b"");
    let mut files: Vec<Vec<String>> = (0..FILES)
        .map(|file| (0..LINES).map(|line| format!("let value_{line} = compute({file}, {line});")).collect())
        .collect();
    let path = |file: usize| format!("src/part{}/file_{file:03}.rs", file / 20);
    let blob = |lines: &[String]| {
        let text = lines.join("\n") + "\n";
        format!("data {}\n{text}", text.len())
    };
    let mut out = String::new();
    for n in 0..commits {
        let message = format!("Change {n}\n\nIt does one thing well.\n");
        let who = format!("Author {} <author{}@example.org> {} +0000", n % 97, n % 97, 1_500_000_000 + n * 600);
        out += &format!("commit refs/heads/main\nmark :{}\ncommitter {who}\ndata {}\n{message}", n + 1, message.len());
        if n > 0 {
            out += &format!("from :{n}\n");
        }
        // A short branch that forked some commits earlier.
        if n.is_multiple_of(7) && n > 40 {
            out += &format!("merge :{}\n", n - n % 31);
        }
        if n == 0 {
            for (file, lines) in files.iter().enumerate() {
                out += &format!("M 100644 inline {}\n{}", path(file), blob(lines));
            }
            continue;
        }
        let file = (n * n / 3 + n) % FILES;
        files[file][n % LINES] = format!("let value_{} = change({n});", n % LINES);
        out += &format!("M 100644 inline {}\n{}", path(file), blob(&files[file]));
    }
    git(folder, &["fast-import", "--quiet"], out.as_bytes());
}

/// Clones a repository that shares the objects of `from`, which is left unchanged.
fn share(from: &Path, to: &Path) {
    let from = from.to_str().expect("UTF-8");
    git(to.parent().expect("a folder"), &["clone", "-q", "--bare", "--shared", from, to.to_str().expect("UTF-8")], b"");
    // With a remote, the server would name the project after it.
    git(to, &["remote", "remove", "origin"], b"");
}

fn millis(from: Instant) -> f64 {
    from.elapsed().as_secs_f64() * 1e3
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

/// Returns the milliseconds that git takes for some commands.
fn of_git(repository: &Path, commands: &[Vec<&str>]) -> f64 {
    let once = || {
        let from = Instant::now();
        commands.iter().for_each(|command| drop(git(repository, command, b"")));
        millis(from)
    };
    median((0..TIMES).map(|_| once()).collect())
}

/// Returns the milliseconds that a freshly started server takes for some requests.
fn of_server(repository: &Path, home: &Path, requests: &[String]) -> f64 {
    let path = repository.to_str().expect("UTF-8");
    let options = ["serve", "--world", "empty", "--repo", path, "--ready-file", "ready.json"];
    let once = || {
        let _ = fs::remove_file(home.join("ready.json"));
        let server = Process::start(LABSCOPE, &options, home);
        let name = repository.file_stem().and_then(|name| name.to_str()).expect("UTF-8");
        let target = |request: &str| format!("/api/v4/projects/local%2F{name}{request}");
        let mut connection = Connection::open(&server, &target(""));
        connection.ask();
        let from = Instant::now();
        for request in requests {
            connection.ask_for(&target(request));
        }
        millis(from)
    };
    median((0..TIMES).map(|_| once()).collect())
}

pub fn run(_: &[String]) {
    let home = tempfile::tempdir().expect("a folder");
    let number = |name: &str| env::var(name).ok().and_then(|text| text.parse().ok());
    let source = env::var_os("LABSCOPE_BENCH_REPOSITORY").map(PathBuf::from).unwrap_or_else(|| {
        let made = home.path().join("made");
        make(&made, number("LABSCOPE_BENCH_COMMITS").unwrap_or(COMMITS));
        made
    });
    let mut table = Table::new("a long history, ms", &["first answer", "git", "labscope", "ratio", "limit"]);
    for with_file in [false, true] {
        let name = if with_file { "filed" } else { "plain" };
        let repository = home.path().join(format!("{name}.git"));
        share(&source, &repository);
        if with_file {
            git(&repository, &["commit-graph", "write", "--reachable"], b"");
        }
        let ask = |arguments: &[&str]| git(&repository, arguments, b"");
        let count: usize = ask(&["rev-list", "--count", "HEAD"]).parse().expect("a number");
        let branch = ask(&["rev-parse", "--abbrev-ref", "HEAD"]);
        let file = env::var("LABSCOPE_BENCH_PATH").unwrap_or_else(|_| "src/part7/file_150.rs".to_owned());
        // Page 100, or the last full page.
        let page = (count / 100).clamp(1, 100);
        let skip = format!("--skip={}", (page - 1) * 100);
        // A distance typical of two releases.
        let (old, new) = (ask(&["rev-parse", "HEAD~400"]), ask(&["rev-parse", "HEAD~100"]));
        let range = format!("{old}..{new}");
        let since_base = format!("{old}...{new}");
        let versions = ask(&["log", "--format=%H", "-200", "--", &file]);
        let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
        let blame: Vec<String> = versions
            .lines()
            .flat_map(|commit| {
                let blob = ask(&["rev-parse", &format!("{commit}:{file}")]);
                let tree = format!("/repository/tree?path={folder}&ref={commit}&per_page=100");
                [tree, format!("/repository/blobs/{blob}/raw")]
            })
            .collect();
        let commits = |rest: &str| vec![format!("/repository/commits?ref_name={branch}&per_page=100{rest}")];
        let log = ["log", "--format=raw"];
        let one = |rest: &[&'static str]| vec![[log.as_slice(), rest].concat()];

        let kind = format!("{count} commits, {} commit-graph file", if with_file { "with a" } else { "no" });
        table.row([kind, String::new(), String::new(), String::new(), String::new()].into(), false);
        let mut row = |name: &str, commands: &[Vec<&str>], requests: Vec<String>| {
            let pair = (of_git(&repository, commands), of_server(&repository, home.path(), &requests));
            // With the commit-graph file, a page takes only a few milliseconds, and reading that file once is a large
            // part of it.
            table.ratio(name, pair, if name.contains("page") && with_file { 3.0 } else { 2.0 });
        };
        row("the first page", &one(&["-100"]), commits(""));
        row(&format!("page {page}"), &[vec!["log", "--format=raw", &skip, "-100"]], commits(&format!("&page={page}")));
        let of_path = vec!["log", "--format=raw", "-100", "--", &file];
        row("a path, its first page", &[of_path], commits(&format!("&path={file}")));
        let of_path = vec!["log", "--format=raw", "--", "no/such/file"];
        row("a path that is nowhere", &[of_path], commits("&path=no/such/file"));
        let requests = [commits(&format!("&path={file}")), blame].concat();
        row("blame, up to 200 versions", &[vec!["blame", "--porcelain", "HEAD", "--", &file]], requests);
        let commands = [vec!["log", "--format=raw", &range], vec!["diff", &since_base]];
        row("a comparison", &commands, vec![format!("/repository/compare?from={old}&to={new}")]);
        let shortlog = vec!["log", "--no-merges", "-2000", "--shortstat"];
        row("contributors", &[shortlog], vec!["/repository/contributors?per_page=100".to_owned()]);
        row("the number of commits", &[vec!["rev-list", "--count", "HEAD"]], vec!["?statistics=true".to_owned()]);
    }
    table.print();
}
