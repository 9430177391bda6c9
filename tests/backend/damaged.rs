//! Repositories that others prepared: damaged, and built to exhaust the server. Every read is answered, in bounded time and
//! memory, and a failure names the damage.

use crate::Server;
use crate::dice::Dice;
use crate::sample::length;
use futures::StreamExt;
use git2::{ObjectType, Oid, Repository};
use labscope::backend::{Options, start};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The time that all reads of one repository may take together, in a test build on a busy machine.
const LIMIT: Duration = Duration::from_secs(120);
/// The memory that the tests of this file may take, in bytes.
const MAX_MEMORY: u64 = 3 << 30;

/// A repository, and the names to read it by.
struct Prepared {
    folder: TempDir,
    commits: Vec<String>,
    blobs: Vec<String>,
    paths: Vec<&'static str>,
    is_exponential: bool,
}

impl Prepared {
    fn path(&self) -> PathBuf {
        self.folder.path().join("repo.git")
    }
}

/// Returns the bytes of a folder with entries in the given order.
fn folder(entries: &[(&str, String, Oid)]) -> Vec<u8> {
    let one = |(mode, name, id): &(&str, String, Oid)| [format!("{mode} {name}\0").as_bytes(), id.as_bytes()].concat();
    entries.iter().flat_map(one).collect()
}

/// Writes a commit and returns its ID.
fn commit(repo: &Repository, tree: Oid, parents: &[Oid], at: i64) -> Oid {
    let parents: String = parents.iter().map(|parent| format!("parent {parent}\n")).collect();
    let by = format!("Ada <ada@example.com> {at} +0100");
    let text = format!("tree {tree}\n{parents}author {by}\ncommitter {by}\n\nCommit at {at}\n");
    repo.odb().unwrap().write(ObjectType::Commit, text.as_bytes()).unwrap()
}

fn tree(repo: &Repository, entries: &[(&str, String, Oid)]) -> Oid {
    repo.odb().unwrap().write(ObjectType::Tree, &folder(entries)).unwrap()
}

/// Creates a repository whose branch `main` has a small history and then a commit with the tree that `build` returns.
fn prepared(build: impl FnOnce(&Repository) -> Oid) -> Prepared {
    let place = tempfile::tempdir().unwrap();
    let repo = Repository::init_bare(place.path().join("repo.git")).unwrap();
    let blob = |text: &str| repo.blob(text.as_bytes()).unwrap();
    let file = |name: &str, id: Oid| ("100644", name.to_owned(), id);
    let long: String = (0..400).map(|n| format!("line {n}\n")).collect();
    let (one, two) = (blob(&long), blob(&long.replace("line 7\n", "line seven\n")));
    let source = tree(&repo, &[file("lib.rs", one), ("120000", "link".into(), blob("lib.rs"))]);
    let first = tree(&repo, &[file("README.md", blob("# Hi\n")), ("40000", "src".into(), source)]);
    let changed = tree(&repo, &[file("main.rs", two)]);
    let module = Oid::from_str("1234567890123456789012345678901234567890").unwrap();
    let second = tree(
        &repo,
        &[
            ("100644", ".gitattributes".into(), blob("*.rs diff=rust\n")),
            file("README.md", blob("# Hi there\n")),
            ("160000", "module".into(), module),
            ("40000", "src".into(), changed),
        ],
    );
    let mut commits = vec![commit(&repo, first, &[], 1_500_000_000)];
    commits.push(commit(&repo, second, &commits[..1], 1_500_000_100));
    commits.push(commit(&repo, first, &commits[..1], 1_500_000_200));
    commits.push(commit(&repo, second, &commits[1..], 1_500_000_300));
    let last = build(&repo);
    commits.push(commit(&repo, last, &commits[3..], 1_500_000_400));
    repo.reference("refs/heads/main", commits[4], true, "").unwrap();
    repo.reference("refs/heads/side", commits[2], true, "").unwrap();
    let tag = format!("object {}\ntype commit\ntag v1\ntagger Ada <a@x> 1500000000 +0000\n\nv1\n", commits[1]);
    let tag = repo.odb().unwrap().write(ObjectType::Tag, tag.as_bytes()).unwrap();
    repo.reference("refs/tags/v1", tag, true, "").unwrap();
    repo.set_head("refs/heads/main").unwrap();
    let text = |ids: &[Oid]| ids.iter().map(Oid::to_string).collect();
    let (commits, blobs) = (text(&commits), text(&[one, two]));
    Prepared {
        commits,
        blobs,
        folder: place,
        paths: vec!["README.md", "src/main.rs", "src", "a/a/a"],
        is_exponential: false,
    }
}

/// Returns the small repository without anything hostile.
fn plain() -> Prepared {
    prepared(|repo| tree(repo, &[("100644", "README.md".into(), repo.blob(b"# The end\n").unwrap())]))
}

/// Runs stock git in a repository.
fn git(path: &Path, arguments: &[&str]) -> bool {
    let mut command = Command::new("git");
    command.current_dir(path).args(arguments).env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    command.output().is_ok_and(|done| done.status.success())
}

/// The reads of a project.
fn reads(of: &Prepared) -> Vec<String> {
    let mut all: Vec<String> = [
        "",
        "?statistics=true",
        "/languages",
        "/repository/tree?recursive=true&per_page=100",
        "/repository/tree?recursive=true&per_page=100&page=6000",
        "/repository/tree?path=src",
        "/repository/branches",
        "/repository/branches/main",
        "/repository/tags",
        "/repository/tags/v1",
        "/repository/commits?per_page=100",
        "/repository/commits?all=true&since=2017-01-01T00:00:00Z",
        "/repository/contributors",
        "/repository/compare?from=side&to=main",
        "/repository/compare?from=v1&to=main",
        "/search?scope=blobs&search=line",
        "/search?scope=commits&search=Commit",
    ]
    .map(str::to_owned)
    .into();
    // The archive of an exponential tree takes half a minute.
    if !of.is_exponential {
        all.push("/repository/archive.tar.gz?sha=main".to_owned());
    }
    for sha in &of.commits {
        let at = format!("/repository/commits/{sha}");
        all.push(at.clone());
        all.extend(["diff", "refs", "signature", "statuses", "merge_requests"].map(|part| format!("{at}/{part}")));
    }
    for path in &of.paths {
        let name = path.replace('/', "%2F");
        all.push(format!("/repository/files/{name}/raw?ref=main"));
        all.push(format!("/repository/files/{name}/blame?ref=main"));
        all.push(format!("/repository/commits?path={name}"));
        all.push(format!("/repository/tree?path={name}"));
    }
    for sha in &of.blobs {
        all.extend([format!("/repository/blobs/{sha}"), format!("/repository/blobs/{sha}/raw")]);
    }
    all
}

/// Serves a repository, reads everything, and returns the number of failures that named the damage. The server may also
/// refuse to start, with a message.
async fn read_all(of: &Prepared, what: &str) -> usize {
    let started = Instant::now();
    let options = Options { repos: vec![of.path()], ..Options::default() };
    let running = match start(options).await {
        Ok(running) => running,
        Err(why) => {
            assert!(why.to_string().contains("repo.git"), "{what}: {why}");
            return 1;
        }
    };
    let server = Server::around(running);
    let project = server.running.project.clone().unwrap().replace('/', "%2F");
    let mut failures = 0;
    for read in reads(of) {
        let began = Instant::now();
        let sent = server.call("ada", reqwest::Method::GET, &format!("/projects/{project}{read}")).send().await;
        let reply = match sent {
            Ok(reply) => reply,
            // An archive is written while it is sent, so all that a reader can see of damage is that it ends early.
            Err(_) if read.contains("/archive.") => {
                failures += 1;
                continue;
            }
            Err(error) => panic!("{what}, {read}: {error}"),
        };
        let status = reply.status().as_u16();
        // A stream that breaks off has no other way to fail.
        let text = reply.bytes().await.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
        assert!(status < 500 || text.contains("The repository is damaged: "), "{what}: {read}: {status} {text}");
        failures += usize::from(status >= 500);
        if std::env::var_os("LABSCOPE_DAMAGED_TIMES").is_some() {
            println!("{what}: {read}: {status} in {:?}, peak {} MiB", began.elapsed(), peak_memory() >> 20);
        }
        assert!(started.elapsed() < LIMIT, "{what}: {read} took {:?}", began.elapsed());
    }
    assert!(peak_memory() < MAX_MEMORY, "{what}: {} MiB", peak_memory() >> 20);
    failures
}

/// Returns the peak memory of this process in bytes; 0 if the system does not tell.
fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok()).map_or(0, |kib| kib << 10)
}

#[tokio::test]
async fn an_undamaged_repository_is_read_without_failures() {
    let plain = plain();
    assert_eq!(read_all(&plain, "plain").await, 0);
    if git(&plain.path(), &["repack", "-adq"]) && git(&plain.path(), &["commit-graph", "write", "--reachable"]) {
        assert_eq!(read_all(&plain, "packed").await, 0);
    }
}

#[tokio::test]
async fn a_tree_that_is_nested_without_end_is_cut() {
    // Every folder is the only entry of the next one.
    let deep = prepared(|repo| {
        let mut id = tree(repo, &[("100644", "file.rs".into(), repo.blob(b"x\n").unwrap())]);
        for _ in 0..20_000 {
            id = tree(repo, &[("40000", "a".into(), id)]);
        }
        id
    });
    assert_eq!(read_all(&deep, "deep").await, 0);
}

#[tokio::test]
async fn a_tree_that_grows_exponentially_is_cut_and_says_so() {
    // Each of ten folders has ten entries, which are all the same folder.
    for mode in ["40000", "40755"] {
        let mut bomb = prepared(|repo| {
            let file = repo.blob(b"fn main() {}\n").unwrap();
            let ten =
                |mode: &'static str, id: Oid| -> Vec<_> { (0..10).map(|n| (mode, format!("f{n}.rs"), id)).collect() };
            let mut id = tree(repo, &ten("100644", file));
            for _ in 0..10 {
                id = tree(repo, &ten(mode, id));
            }
            id
        });
        bomb.is_exponential = true;
        if mode == "40000" {
            assert_eq!(read_all(&bomb, "bomb").await, 0);
        }
        let server = Server::over(bomb.path()).await;
        let at = "/projects/local%2Frepo/repository";
        let page = server.get("ada", &format!("{at}/tree?recursive=true&per_page=100")).await;
        assert!(!page.headers().contains_key("x-total"), "nobody counts it");
        let past = server.get("ada", &format!("{at}/tree?recursive=true&per_page=100&page=6001")).await;
        assert_eq!(past.status(), 422);
        let text = past.text().await.unwrap();
        assert!(text.contains("too large or nested too deeply"), "{text}");
        let compared = server.read("ada", &format!("{at}/compare?from=side&to=main")).await;
        assert_eq!(compared["compare_timeout"], true, "the diff says that it is cut");
        assert!(compared["diffs"][0]["diff"].as_str().unwrap().starts_with("@@ "), "{}", compared["diffs"][0]);
    }
}

/// Returns all files of a repository.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        if entry.path().is_dir() { out.extend(files(&entry.path())) } else { out.push(entry.path()) }
    }
    out.sort();
    out
}

/// Damages a file, and returns what was done.
fn damage(dice: &mut Dice, path: &Path, others: &[PathBuf]) -> String {
    let mut bytes = fs::read(path).unwrap();
    let what = dice.below(6);
    match what {
        // Several bytes.
        0 | 1 if !bytes.is_empty() => {
            for _ in 0..=dice.below(4) {
                let at = dice.below(bytes.len());
                bytes[at] = dice.pick(&[&0u8, &1, &0x7f, &0x80, &0xff, &bytes[at].wrapping_add(1)]).to_owned();
            }
        }
        // A number of four bytes: of objects, an offset.
        2 if bytes.len() >= 4 => {
            let at = dice.below(bytes.len() / 4) * 4;
            let number = [0u32, 12, 0x7000_0000, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0x0fff_ffff][dice.below(7)];
            bytes[at..at + 4].copy_from_slice(&number.to_be_bytes());
        }
        3 => bytes.truncate(dice.below(bytes.len() + 1)),
        4 => bytes = fs::read(&others[dice.below(others.len())]).unwrap(),
        _ => {
            fs::remove_file(path).unwrap();
            return format!("removed {}", path.display());
        }
    }
    // Git makes objects read-only.
    fs::remove_file(path).unwrap();
    fs::write(path, bytes).unwrap();
    format!("damaged {} ({what})", path.display())
}

#[tokio::test]
async fn randomly_damaged_repositories_are_answered_or_reported() {
    let mut failures = 0;
    for seed in 0..length(12) as u64 {
        let (repo, mut dice) = (plain(), Dice(seed));
        let kind = dice.below(4);
        if kind > 0 {
            let packed = git(&repo.path(), &["repack", "-adq", "--depth=50"])
                && git(&repo.path(), &["commit-graph", "write", "--reachable"])
                && (kind < 3 || git(&repo.path(), &["multi-pack-index", "write"]))
                && git(&repo.path(), &["pack-refs", "--all"]);
            if !packed {
                continue;
            }
        }
        let all = files(&repo.path());
        let is_target = |path: &&PathBuf| {
            let name = path.strip_prefix(repo.path()).unwrap().to_string_lossy();
            name.starts_with("objects") || name.starts_with("refs") || name == "packed-refs" || name == "HEAD"
        };
        let targets: Vec<PathBuf> = all.iter().filter(is_target).cloned().collect();
        let mut done = vec![format!("seed {seed}")];
        for _ in 0..=dice.below(3) {
            let path = &targets[dice.below(targets.len())];
            if path.exists() && targets.iter().all(|path| path.exists()) {
                done.push(damage(&mut dice, path, &targets));
            }
        }
        failures += read_all(&repo, &done.join(", ")).await;
    }
    assert!(failures > 0, "no damage was found");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pipe_in_the_place_of_an_object_is_refused_at_once() {
    let of = plain();
    let repo = Repository::open_bare(of.path()).unwrap();
    let head = repo.find_commit(Oid::from_str(&of.commits[4]).unwrap()).unwrap();
    let loose = |id: Oid| {
        let id = id.to_string();
        of.path().join("objects").join(&id[..2]).join(&id[2..])
    };
    let others = [PathBuf::from("pack/x.bitmap"), "info/commit-graph".into(), "00/x".into()];
    let others = others.map(|name| of.path().join("objects").join(name));
    let server = Server::over(of.path()).await;
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let is_read = async || server.get("ada", "/projects/1/repository/tree").await.status() == 200;
    assert!(is_read().await);
    for path in [loose(head.tree_id()), loose(head.id())].into_iter().chain(others) {
        let kept = fs::read(&path).ok();
        let _ = fs::remove_file(&path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        let clone = format!("/{}.git/info/refs?service=git-upload-pack", server.running.project.clone().unwrap());
        let reads = (0..600).map(async |n| {
            let reply = match n % 3 {
                0 => client
                    .get(format!("{}{clone}", server.running.base_url))
                    .basic_auth("x", Some(server.token("ada")))
                    .send()
                    .await
                    .unwrap(),
                1 => server.get("ada", "/projects/1/repository/tree").await,
                _ => server.get("ada", "/projects/1/repository/commits").await,
            };
            let (status, text) = (reply.status(), reply.text().await.unwrap());
            let is_told = text.contains("is not a regular file") && text.contains("damaged");
            assert!((status == 500 && is_told) || status == 503, "{status} {text}");
        });
        // Of more connections at once, the server closes the oldest silent ones.
        let all = futures::stream::iter(reads).buffer_unordered(60).collect::<Vec<()>>();
        tokio::time::timeout(LIMIT, all).await.unwrap_or_else(|_| panic!("{} is waited for", path.display()));
        assert_eq!(server.get("ada", "/user").await.status(), 200);
        // A server that starts now says so at once.
        let error = start(Options { repos: vec![of.path()], ..Options::default() }).await.err().unwrap().to_string();
        assert!(error.contains("is not a regular file"), "{error}");
        fs::remove_file(&path).unwrap();
        if let Some(bytes) = kept {
            fs::write(&path, bytes).unwrap();
        }
        assert!(is_read().await);
    }
}
