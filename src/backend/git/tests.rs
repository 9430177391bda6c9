//! Tests with generated repositories.

use super::*;
use crate::cache::Cache;
pub use crate::dice::Dice;
use git2::Signature;

/// Returns whether stock git is installed.
pub fn has_git() -> bool {
    static HAS: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    let check = || std::process::Command::new("git").arg("--version").output().is_ok_and(|done| done.status.success());
    *HAS.get_or_init(check)
}

impl Dice {
    /// Returns up to `count` distinct commits out of the `back` ones before the `n`th, as its parents.
    pub fn parents(&mut self, n: usize, count: usize, back: usize) -> Vec<usize> {
        let mut parents = Vec::new();
        while parents.len() < count.min(n) {
            let parent = n - 1 - self.below(n.min(back));
            if !parents.contains(&parent) {
                parents.push(parent);
            }
        }
        parents
    }
}

/// Writes a commit whose message is its number, with files by name and content.
pub fn write_commit(repo: &Repository, n: usize, seconds: i64, parents: &[Oid], files: &[(&str, &str)]) -> Oid {
    let mut tree = repo.treebuilder(None).unwrap();
    for (name, text) in files {
        tree.insert(name, repo.blob(text.as_bytes()).unwrap(), 0o100644).unwrap();
    }
    let tree = tree.write().unwrap();
    let parents: String = parents.iter().map(|parent| format!("parent {parent}\n")).collect();
    let by = format!("Ada <ada@x> {seconds} +0000");
    let text = format!("tree {tree}\n{parents}author {by}\ncommitter {by}\n\n{n}\n");
    repo.odb().unwrap().write(ObjectType::Commit, text.as_bytes()).unwrap()
}

/// Returns the commits at the start of each line that stock git prints.
pub fn stock(folder: &std::path::Path, arguments: &[&str]) -> Vec<Oid> {
    let mut command = std::process::Command::new("git");
    command.args(arguments).current_dir(folder);
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null").env("HOME", "/nowhere");
    let done = command.output().unwrap();
    assert!(done.stderr.is_empty(), "{}", String::from_utf8_lossy(&done.stderr));
    let text = String::from_utf8(done.stdout).unwrap();
    text.lines().map(|line| Oid::from_str(line.split(' ').next().unwrap()).unwrap()).collect()
}

struct TestRepo {
    folder: tempfile::TempDir,
    repo: Repository,
}

impl TestRepo {
    fn new() -> TestRepo {
        let folder = tempfile::tempdir().unwrap();
        let repo = Repository::init_bare(folder.path()).unwrap();
        TestRepo { folder, repo }
    }

    /// Commits a whole tree of files; names are bytes.
    fn commit(&self, branch: &str, at: i64, files: &[(&[u8], &str)]) -> Oid {
        let head = self.repo.find_reference(&format!("refs/heads/{branch}")).ok().and_then(|head| head.target());
        self.commit_on(head.as_slice(), branch, at, files)
    }

    /// Commits a tree with the given parents, even if libgit2 cannot parse one of them.
    fn commit_on(&self, parents: &[Oid], branch: &str, at: i64, files: &[(&[u8], &str)]) -> Oid {
        let mut index = git2::Index::new().unwrap();
        for (path, text) in files {
            let entry = git2::IndexEntry {
                ctime: git2::IndexTime::new(0, 0),
                mtime: git2::IndexTime::new(0, 0),
                dev: 0,
                ino: 0,
                mode: 0o100644,
                uid: 0,
                gid: 0,
                file_size: 0,
                id: self.repo.blob(text.as_bytes()).unwrap(),
                flags: 0,
                flags_extended: 0,
                path: path.to_vec(),
            };
            index.add(&entry).unwrap();
        }
        let tree = index.write_tree_to(&self.repo).unwrap();
        let by = "Ada <ada@example.com>";
        let (author, message) = (format!("{by} {at} +0200"), format!("Change at {at}\n\nBody."));
        let parents: String = parents.iter().map(|parent| format!("parent {parent}\n")).collect();
        let text = format!("tree {tree}\n{parents}author {author}\ncommitter {author}\n\n{message}");
        let id = self.repo.odb().unwrap().write(ObjectType::Commit, text.as_bytes()).unwrap();
        self.repo.reference(&format!("refs/heads/{branch}"), id, true, "").unwrap();
        id
    }

    fn git(&self, default: &str) -> Git {
        Git::open(self.folder.path(), Some(default)).unwrap()
    }
}

#[test]
fn path_log_has_only_changes_of_the_path() {
    let fixture = TestRepo::new();
    let mut all = Vec::new();
    for at in 0..10 {
        let text = if at % 3 == 0 { at } else { at - at % 3 };
        all.push(fixture.commit("main", at, &[(b"src/a.rs", &text.to_string()), (b"b.txt", &at.to_string())]));
    }
    let git = fixture.git("main");
    let from = vec![git.default_head().unwrap()];
    let query = LogQuery { from: from.clone(), path: Some("src".into()), ..LogQuery::default() };
    let log = git.log(&query, 0, 2).unwrap();
    assert_eq!(log, Page { commits: vec![all[9], all[6]], total: None, has_more: true });
    assert_eq!(git.log(&query, 2, 2).unwrap(), Page { commits: vec![all[3], all[0]], total: Some(4), has_more: false });
    let bounded = LogQuery { from, since: Some(2), until: Some(4), ..LogQuery::default() };
    assert_eq!(git.log(&bounded, 0, 20).unwrap().commits, [all[4], all[3], all[2]]);
}

/// Creates a linear history of commits with the given dates; the newest is first in the result.
fn line(fixture: &TestRepo, dates: impl Iterator<Item = i64>) -> Vec<Oid> {
    let odb = fixture.repo.odb().unwrap();
    let tree = fixture.repo.treebuilder(None).unwrap().write().unwrap();
    let mut all: Vec<Oid> = Vec::new();
    for at in dates {
        let parent = all.last().map(|parent| format!("parent {parent}\n")).unwrap_or_default();
        let by = format!("Ada <ada@x> {at} +0000");
        let text = format!("tree {tree}\n{parent}author {by}\ncommitter {by}\n\nChange {}\n", all.len());
        all.push(odb.write(ObjectType::Commit, text.as_bytes()).unwrap());
    }
    all.reverse();
    all
}

#[test]
fn log_reads_only_as_far_as_its_page() {
    let fixture = TestRepo::new();
    let all = line(&fixture, (0..2_000).map(|n| n * 60));
    let (git, cache) = (fixture.git("main"), Cache::default());
    let query = LogQuery { from: vec![all[0]], ..LogQuery::default() };
    let read =
        |query: &LogQuery| cache.logs.with(query, || panic!("it is not kept"), |log| Ok(log.commits_read())).unwrap();
    let mut before = 0;
    for page in 0..3 {
        assert_eq!(git.log_page(&query, page * 20, 20, &cache).unwrap().commits, all[page * 20..][..20]);
        let so_far = read(&query);
        assert!(so_far < 400 && so_far > before, "{so_far} commits were read, before that {before}");
        before = so_far;
    }
    assert_eq!(git.log_page(&query, 0, 20, &cache).unwrap().commits, all[..20]);
    assert_eq!(read(&query), before);
    let last = git.log_page(&query, 1_990, 20, &cache).unwrap();
    assert_eq!((last.commits.as_slice(), last.total, last.has_more), (&all[1_990..], Some(2_000), false));
    // Commits older than `since` are not read.
    let since = LogQuery { since: Some(1_995 * 60), ..query };
    assert_eq!(git.log_page(&since, 0, 20, &cache).unwrap().total, Some(5));
    assert!(read(&since) > 24 * 60, "within a day a clock may be wrong");
    let days = LogQuery {
        from: line(&fixture, (0..2_000).map(|n| n * 86_400))[..1].to_vec(),
        since: Some(1_990 * 86_400),
        ..since
    };
    assert_eq!(git.log_page(&days, 0, 20, &cache).unwrap().total, Some(10));
    assert!(read(&days) < 500);
}

#[test]
fn commit_older_than_its_parent_is_listed_once() {
    let fixture = TestRepo::new();
    let all = line(&fixture, (0..1_000).map(|n| 1_000 + n * 60));
    let odb = fixture.repo.odb().unwrap();
    let tree = fixture.repo.find_commit(all[0]).unwrap().tree_id();
    let write = |parents: &[Oid], at: i64| {
        let parents: String = parents.iter().map(|parent| format!("parent {parent}\n")).collect();
        let by = format!("Ada <ada@x> {at} +0000");
        let text = format!("tree {tree}\n{parents}author {by}\ncommitter {by}\n\nOdd\n");
        odb.write(ObjectType::Commit, text.as_bytes()).unwrap()
    };
    let old = write(&[all[10]], 1);
    let tip = write(&[all[0], old], 1_000_000);
    let query = LogQuery { from: vec![tip], ..LogQuery::default() };
    let found = fixture.git("main").log(&query, 0, 9_999).unwrap();
    assert_eq!((found.total, found.commits.len()), (Some(1_002), 1_002));
    assert_eq!(found.commits.iter().collect::<HashSet<_>>().len(), 1_002);
}

#[test]
fn commit_keeps_its_authors_offset() {
    let fixture = TestRepo::new();
    let id = fixture.commit("main", 1_514_793_600, &[(b"a", "1\n2\n")]);
    let commit = fixture.git("main").show_with_stats(id).unwrap();
    assert_eq!(commit.authored_date, Some(Time("2018-01-01T10:00:00.000+02:00".into())));
    assert_eq!(
        (commit.title.as_str(), commit.message.as_str()),
        ("Change at 1514793600", "Change at 1514793600\n\nBody.")
    );
    assert_eq!(commit.stats.map(|s| (s.additions, s.deletions, s.total)), Some((2, 0, 2)));
}

#[test]
fn commits_of_one_second_are_listed_newest_first() {
    let fixture = TestRepo::new();
    let mut all: Vec<Oid> = (0..6).map(|n| fixture.commit("main", 1_000, &[(b"a", &n.to_string())])).collect();
    all.reverse();
    let git = fixture.git("main");
    for path in [None, Some("a".to_owned())] {
        let query = LogQuery { from: vec![all[0]], path, ..LogQuery::default() };
        assert_eq!(git.log(&query, 0, 9).unwrap().commits, all);
    }
    assert_eq!(git.between(all[4], all[0], 9).unwrap().0, all[..4]);
}

#[test]
fn path_log_has_changes_of_the_mode() {
    let fixture = TestRepo::new();
    let first = fixture.commit("main", 1, &[(b"run.sh", "x")]);
    let git = fixture.git("main");
    let mut tree = fixture.repo.treebuilder(Some(&git.tree(first).unwrap())).unwrap();
    let blob = tree.get("run.sh").unwrap().unwrap().id();
    tree.insert("run.sh", blob, 0o100755).unwrap();
    let by = git.find_commit(first).unwrap().author;
    let second = git.write_commit((&by, &by), "", tree.write().unwrap(), &[first]).unwrap();
    let query = LogQuery { from: vec![second], path: Some("run.sh".into()), ..LogQuery::default() };
    assert_eq!(git.log(&query, 0, 9).unwrap().commits, [second, first]);
    assert_eq!(git.show(second).unwrap().title, "No commit message");
}

#[test]
fn commits_are_decoded_as_they_say() {
    let fixture = TestRepo::new();
    let tree = fixture.repo.treebuilder(None).unwrap().write().unwrap();
    let write = |encoding: &str, bytes: &[u8]| {
        let head = format!("tree {tree}\nauthor X <x@x> 1 +0000\ncommitter X <x@x> 1 +0000\n{encoding}\nX!");
        let parts: Vec<&[u8]> = head.as_bytes().split(|byte| *byte == b'X').collect();
        fixture.repo.odb().unwrap().write(ObjectType::Commit, &parts.join(bytes)).unwrap()
    };
    let git = fixture.git("main");
    for (encoding, bytes, text) in [
        ("encoding ISO-8859-1\n", b"K\xf6ln".as_slice(), "K\u{f6}ln"),
        ("encoding koi8-r\n", b"\xf2", "\u{420}"),
        ("encoding unknown\n", b"K\xc3\xb6ln\xff", "K\u{f6}ln\u{fffd}"),
        ("", b"K\xc3\xb6ln\xff", "K\u{f6}ln\u{fffd}"),
    ] {
        let commit = git.find_commit(write(encoding, bytes)).unwrap();
        assert_eq!((commit.author.name.as_str(), commit.committer.name.as_str()), (text, text), "{encoding}");
        assert_eq!(commit.message, format!("{text}!"), "{encoding}");
    }
}

#[test]
fn path_log_follows_the_kept_side_of_a_merge() {
    let fixture = TestRepo::new();
    let base = fixture.commit("main", 1, &[(b"a", "1"), (b"b", "1")]);
    fixture.repo.reference("refs/heads/side", base, false, "").unwrap();
    let dropped = fixture.commit("side", 3, &[(b"a", "2"), (b"b", "2")]);
    let kept = fixture.commit("main", 2, &[(b"a", "3"), (b"b", "1")]);
    let by = Signature::new("Ada", "ada@example.com", &git2::Time::new(4, 0)).unwrap();
    let [ours, theirs] = [kept, dropped].map(|id| fixture.repo.find_commit(id).unwrap());
    let merge = fixture
        .repo
        .commit(Some("refs/heads/main"), &by, &by, "Merge", &ours.tree().unwrap(), &[&ours, &theirs])
        .unwrap();
    let log = |path: &str| {
        let query = LogQuery { from: vec![merge], path: Some(path.into()), ..LogQuery::default() };
        fixture.git("main").log(&query, 0, 9).unwrap().commits
    };
    assert_eq!(log("a"), [kept, base]);
    assert_eq!(log("b"), [base]);
}

/// Compares with `git log --first-parent`.
#[test]
fn a_log_of_first_parents_lists_a_merge_for_its_branch() {
    let fixture = TestRepo::new();
    let base = fixture.commit("main", 1, &[(b"a", "1"), (b"b", "1")]);
    fixture.repo.reference("refs/heads/side", base, false, "").unwrap();
    let side = fixture.commit("side", 3, &[(b"a", "2"), (b"b", "1")]);
    let main = fixture.commit("main", 2, &[(b"a", "1"), (b"b", "3")]);
    let by = Signature::new("Ada", "ada@example.com", &git2::Time::new(4, 0)).unwrap();
    let [ours, theirs] = [main, side].map(|id| fixture.repo.find_commit(id).unwrap());
    let tree = theirs.tree().unwrap();
    let merge = fixture.repo.commit(Some("refs/heads/main"), &by, &by, "Merge", &tree, &[&ours, &theirs]).unwrap();
    for path in [None, Some("a"), Some("b")] {
        let query =
            LogQuery { from: vec![merge], path: path.map(str::to_owned), first_parent: true, ..LogQuery::default() };
        let mut git = std::process::Command::new("git");
        git.arg("-C").arg(fixture.repo.path()).args(["log", "--first-parent", "--format=%H", "main", "--"]).args(path);
        let listed = String::from_utf8(git.output().unwrap().stdout).unwrap();
        let found = fixture.git("main").log(&query, 0, 9).unwrap().commits;
        assert_eq!(
            found.iter().map(Oid::to_string).collect::<Vec<_>>(),
            listed.lines().collect::<Vec<_>>(),
            "{path:?}"
        );
    }
}

#[test]
fn commits_that_libgit2_cannot_parse_are_shown() {
    let fixture = TestRepo::new();
    let first = fixture.commit("main", 1_000, &[(b"a", "1")]);
    let tree = fixture.repo.find_commit(first).unwrap().tree_id();
    let odb = fixture.repo.odb().unwrap();
    let write = |parent: Oid, header: &str| {
        let text = format!("tree {tree}\nparent {parent}\n{header}\n\n\nOdd\n  one\n\nBody");
        odb.write(ObjectType::Commit, text.as_bytes()).unwrap()
    };
    let both = |line: &str| format!("author {line}\ncommitter {line}");
    let odd = [
        "Ada <ada@x> 99999999999999999999 +0200",
        "Ada <ada@x> 9223372036854775807 +0200",
        "Ada <ada@x> -9223372036854775808 -0200",
        "Ada <ada@x> 9999999999999 +0000",
        "Ada <ada@x> abc def",
        "Ada <ada@x> 12345 +99999999999",
        "Ada <ada@x>",
        "Ada <ada@x",
        "Ada",
        "<>",
        "",
    ];
    let mut all = vec![first];
    for header in odd.iter().map(|line| both(line)).chain([String::new(), "author Ada <ada@x> 5 +0000".into()]) {
        all.push(write(all[all.len() - 1], &header));
    }
    let tip = *all.last().unwrap();
    fixture.repo.reference("refs/heads/odd", tip, false, "").unwrap();
    let tag = format!("object {tip}\ntype commit\ntag v1\ntagger Ada <ada@x> 99999999999999999999 +0000\n\nText\n");
    fixture.repo.reference("refs/tags/v1", odb.write(ObjectType::Tag, tag.as_bytes()).unwrap(), false, "").unwrap();
    let last = fixture.commit_on(&[tip], "main", 2_000, &[(b"a", "2")]);
    all.push(last);
    all.reverse();

    let (git, cache) = (fixture.git("main"), Cache::default());
    let query = LogQuery { from: vec![last], ..LogQuery::default() };
    assert_eq!(git.log(&query, 0, 99).unwrap().commits, all);
    let shown: Vec<CommitView> = all.iter().map(|id| git.show_with_stats(*id).unwrap()).collect();
    let dated = |text: &str| shown.iter().filter(|c| c.committed_date == Some(Time(text.into()))).count();
    assert_eq!((dated("1970-01-01T00:00:00.000+00:00"), dated("1970-01-01T02:00:00.000+02:00")), (9, 2));
    assert!(shown[1..all.len() - 1].iter().all(|c| c.title == "Odd one" && c.message == "Odd\n  one\n\nBody"));
    assert_eq!(git.resolve("odd"), Some(tip));
    assert_eq!(git.resolve(&tip.to_string()[..9]), Some(tip));
    assert_eq!(git.tag("v1").and_then(|tag| tag.message), Some("Text".into()));
    assert_eq!((git.branches(&cache).unwrap().len(), git.tags(&cache).unwrap().len()), (2, 1));
    assert_eq!(git.between(first, last, 99).unwrap().0, all[..all.len() - 1]);
    assert_eq!(git.merge_base(last, tip).unwrap(), Some(tip));
    assert_eq!(git.count_commits(&cache).unwrap(), all.len() as u64);
    let people = git.contributors(&cache).unwrap();
    assert_eq!(people.iter().map(|person| person.commits).sum::<u64>(), all.len() as u64);
}

#[test]
fn diff_has_files_hunks_and_renames() {
    let fixture = TestRepo::new();
    let long: String = (0..50).map(|n| format!("line {n}\n")).collect();
    fixture.commit("main", 1, &[(b"old.txt", &long), (b"same", "x"), (b"gone", "y\n")]);
    let id = fixture.commit("main", 2, &[(b"new.txt", &long), (b"same", "x\n"), (b"bin", "\0\u{1}")]);
    let changes = fixture.git("main").commit_changes(id).unwrap();
    let of = |path: &str| changes.entries.iter().find(|e| e.new_path == path).unwrap();
    assert_eq!(changes.count, 4);
    assert!(of("new.txt").renamed_file && of("new.txt").diff.is_empty());
    assert_eq!(of("new.txt").old_path, "old.txt");
    assert_eq!(of("same").diff, "--- a/same\n+++ b/same\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+x\n");
    assert!(of("bin").new_file && of("bin").diff.starts_with("Binary files /dev/null "));
    assert_eq!((of("bin").a_mode.as_deref(), of("bin").b_mode.as_deref()), (Some("0"), Some("100644")));
    assert!(of("gone").deleted_file && of("gone").diff.starts_with("--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-y"));
}

#[test]
fn identical_files_are_renames_however_many_there_are() {
    let fixture = TestRepo::new();
    let text = |n: usize| format!("{n}\n").repeat(20);
    let commit = |at, name: &dyn Fn(usize) -> String| {
        let files: Vec<(String, String)> = (0..900).map(|n| (name(n), text(n))).collect();
        let files: Vec<_> = files.iter().map(|(name, text)| (name.as_bytes(), text.as_str())).collect();
        fixture.commit("main", at, &files)
    };
    commit(1, &|n| format!("old/{n:03}"));
    let id = commit(2, &|n| format!("new/{:03}", 899 - n));
    let changes = fixture.git("main").commit_changes(id).unwrap();
    let is_right = |entry: &api::commits::DiffEntry| {
        let number = |path: &str| path[4..].parse::<usize>().unwrap();
        entry.renamed_file && entry.diff.is_empty() && number(&entry.old_path) + number(&entry.new_path) == 899
    };
    assert_eq!((changes.count, changes.entries.iter().filter(|entry| is_right(entry)).count()), (900, 900));
}

#[test]
fn line_counts_match_the_diff() {
    let fixture = TestRepo::new();
    let long: String = (0..50).map(|n| format!("line {n}\n")).collect();
    let other = long.replace("line 7\n", "changed\nline\n");
    let large = "x\n".repeat(5 << 20);
    let trees: &[&[(&[u8], &str)]] = &[
        &[(b"a", "1\n2\n"), (b"src/a.rs", &long)],
        &[(b"a", "1\n2"), (b"src/a.rs", &other)],
        // A line is added, a line is removed, and a file is renamed.
        &[(b"a", "1\n2"), (b"b", "1\n2\n3"), (b"src/a.rs", &other), (b"src/deep/b", "\n")],
        &[(b"a", "1\n2"), (b"src/a.rs", &other)],
        &[(b"a", "1\n2"), (b"src/b.rs", &long)],
        // A file becomes a folder, and names have common prefixes.
        &[(b"a/b", "1\n"), (b"a.b", "1\n"), (b"src/b.rs", &long)],
        &[(b"a/b", "1\n"), (b"a.b", "1\n"), (b"a-b", ""), (b"src/b.rs", &long), (b"src.rs", "2\n2\n")],
        // A binary file, and one that is too large.
        &[(b"a.b", "\0\n"), (b"a-b", "1"), (b"src.rs", "2\n2\n")],
        &[(b"a.b", "1\n"), (b"a-b", &large), (b"src.rs", "3\n2\n")],
        &[(b"a-b", "1\n"), (b"src.rs", "3\n2\n")],
        &[],
    ];
    let ids = trees.iter().zip(1..).map(|(files, at)| fixture.commit("main", at, files));
    let ids: Vec<Oid> = ids.collect();
    let git = fixture.git("main");
    let mut counter = lines::LineCounter::new(&git);
    let counted: Vec<_> = ids.iter().map(|id| counter.count(*id).unwrap()).collect();
    let compared: Vec<_> = ids.iter().map(|id| git.diff_stats(*id).unwrap()).collect();
    assert_eq!(counted, compared);
    assert_eq!(counted[..3], [(52, 0), (3, 2), (4, 0)].map(Some));
}

#[test]
fn diffs_of_binary_files_say_so() {
    let fixture = TestRepo::new();
    fixture.commit("main", 1, &[(b"a", "\0 1\n"), (b"b", "1\n")]);
    let id = fixture.commit("main", 2, &[(b"a", "\0 2\n"), (b"c", "\0")]);
    let changes = fixture.git("main").commit_changes(id).unwrap();
    let diffs: Vec<_> = changes.entries.iter().map(|entry| entry.diff.as_str()).collect();
    let binary = ["Binary files a/a and b/a differ\n", "Binary files /dev/null and b/c differ\n"];
    assert_eq!([diffs[0], diffs[2]], binary, "{diffs:?}");
}

#[test]
fn oversized_diffs_are_listed_without_text() {
    let fixture = TestRepo::new();
    let long = "line\n".repeat(600_000);
    let id = fixture.commit("main", 1, &[(b"a", "1\n"), (b"b", "2\n"), (b"c", "3\n"), (b"long", &long)]);
    let git = fixture.git("main");
    let told = |room| {
        let changes = git.changes_within(None, id, room).unwrap();
        let texts = changes.entries.iter().map(|entry| (!entry.diff.is_empty(), entry.too_large == Some(true)));
        (texts.collect::<Vec<_>>(), changes.count, changes.overflow)
    };
    let (text, left_out) = ((true, false), (false, true));
    // The text of more than two megabytes is left out, and the others stay.
    assert_eq!(told(1 << 20), (vec![text, text, text, left_out], 4, false));
    assert_eq!(told(1), (vec![text, left_out, left_out, left_out], 4, true));
}

#[test]
fn changed_files_of_many_megabytes_are_marked_as_too_large() {
    let fixture = TestRepo::new();
    let text = |last: &str| format!("{}{last}\n", "a line\n".repeat(1_300_000));
    let first = fixture.commit("main", 1, &[(b"long", &text("old"))]);
    let second = fixture.commit("main", 2, &[(b"long", &text("new"))]);
    let changes = fixture.git("main").changes(Some(first), second).unwrap();
    let told: Vec<_> = changes.entries.iter().map(|entry| (entry.diff.as_str(), entry.too_large)).collect();
    assert_eq!(told, [("", Some(true))]);
}

#[test]
fn folders_come_first_and_non_utf8_names_can_be_opened() {
    let fixture = TestRepo::new();
    fixture.commit("main", 1, &[(b"a.txt", "1"), (b"z/deep/b", "2"), (b"caf\xe9/c", "3")]);
    let git = fixture.git("main");
    let root = git.tree(git.default_head().unwrap()).unwrap();
    let names = |path: &str, recursive| -> Vec<String> {
        git.list(&root, path, recursive).unwrap().entries.into_iter().map(|entry| entry.path).collect()
    };
    assert_eq!(names("", false), ["caf\u{fffd}", "z", "a.txt"]);
    assert_eq!(names("", true), ["caf\u{fffd}", "z", "z/deep", "a.txt", "caf\u{fffd}/c", "z/deep/b"]);
    assert_eq!(names("caf\u{fffd}", false), ["caf\u{fffd}/c"]);
    assert_eq!(names("nowhere", false), [] as [&str; 0]);
    let query =
        LogQuery { from: vec![git.default_head().unwrap()], path: Some("caf\u{fffd}".into()), ..LogQuery::default() };
    assert_eq!(git.log(&query, 0, 9).unwrap().commits.len(), 1);
    assert_eq!(git.file(&root, "z/deep/b").unwrap().unwrap().1, b"2");
}

#[test]
fn refs_containing_a_commit_are_found() {
    let fixture = TestRepo::new();
    let first = fixture.commit("main", 1, &[(b"a", "1")]);
    let second = fixture.commit("main", 2, &[(b"a", "2")]);
    let git = fixture.git("main");
    git.create_branch("old", &first.to_string()).unwrap();
    let containing = |id| -> Vec<String> {
        git.heads_containing(&git.branches(&Cache::default()).unwrap(), id)
            .unwrap()
            .into_iter()
            .map(|head| head.name)
            .collect()
    };
    assert_eq!(containing(first), ["main", "old"]);
    assert_eq!(containing(second), ["main"]);
    assert_eq!(git.ancestors_among(second, vec![first, second], &Cache::default()).unwrap().len(), 2);
    let aside = fixture.commit("aside", 3, &[(b"a", "3")]);
    assert_eq!(
        git.ancestors_among(second, vec![first, aside], &Cache::default()).unwrap().iter().copied().collect::<Vec<_>>(),
        [first]
    );
    assert_eq!(containing(aside), ["aside"]);
    assert_eq!(git.resolve(&second.to_string()[..7]), Some(second));
    assert_eq!(git.resolve("nowhere"), None);
    assert_eq!(git.create_branch("old", "main").unwrap_err().body["message"], "Branch already exists");
    assert_eq!(git.create_branch("a..b", "main").unwrap_err().body["message"], "Branch name is invalid");
}

#[test]
fn wrong_dates_hide_no_history() {
    let fixture = TestRepo::new();
    let day = 24 * 60 * 60;
    let first = fixture.commit("main", 900 * day, &[(b"a", "1")]);
    fixture.commit("main", 5, &[(b"a", "2")]);
    let last = fixture.commit("main", 1000 * day, &[(b"a", "3")]);
    let git = fixture.git("main");
    assert!(git.ancestors_among(last, vec![first], &Cache::default()).unwrap().contains(&first));
    assert_eq!(git.heads_containing(&git.branches(&Cache::default()).unwrap(), first).unwrap().len(), 1);
}

#[test]
fn branch_without_a_commit_is_not_listed() {
    let fixture = TestRepo::new();
    fixture.commit("main", 1, &[(b"a", "1")]);
    let heads = fixture.folder.path().join("refs/heads");
    std::fs::write(heads.join("missing"), format!("{}\n", "ab".repeat(20))).unwrap();
    let blob = fixture.repo.blob(b"no commit").unwrap();
    std::fs::write(heads.join("blob"), format!("{blob}\n")).unwrap();
    let listed = fixture.git("main").branches(&Cache::default()).unwrap();
    assert_eq!(listed.iter().map(|head| head.name.as_str()).collect::<Vec<_>>(), ["main"]);
}

#[test]
fn adopted_repository_is_never_written() {
    let fixture = TestRepo::new();
    let id = fixture.commit("main", 1, &[(b"a", "1")]);
    fixture.commit("feature/x", 2, &[(b"a", "2")]);
    let place = tempfile::tempdir().unwrap();
    let target = place.path().join("1.git");
    let adopted = adopt(fixture.folder.path(), &target).unwrap();
    // The folder's HEAD names a branch that does not exist (`master`), so a common name is used.
    assert_eq!(adopted.default_branch.as_deref(), Some("main"));
    let git = Git::open(&target, Some("main")).unwrap();
    assert_eq!(git.default_head(), Some(id));
    git.create_branch("mine", "feature/x").unwrap();
    git.delete_branch("main").unwrap();
    assert!(fixture.repo.find_reference("refs/heads/mine").is_err());
    assert!(fixture.repo.find_reference("refs/heads/main").is_ok());
}

#[test]
fn refresh_copies_changes_and_keeps_local_ones() {
    let fixture = TestRepo::new();
    let place = tempfile::tempdir().unwrap();
    let target = place.path().join("1.git");
    let base = fixture.commit("main", 1, &[(b"a", "1")]);
    for branch in ["feat", "moved", "both", "gone", "dropped"] {
        fixture.repo.reference(&format!("refs/heads/{branch}"), base, false, "").unwrap();
    }
    adopt(fixture.folder.path(), &target).unwrap();
    let git = Git::open(&target, Some("main")).unwrap();
    let ours = {
        let tip = git.repo.find_commit(base).unwrap();
        let by = Signature::new("Bo", "bo@example.com", &git2::Time::new(9, 0)).unwrap();
        git.repo.commit(None, &by, &by, "Here", &tip.tree().unwrap(), &[&tip]).unwrap()
    };
    for branch in ["main", "both"] {
        git.repo.reference(&format!("refs/heads/{branch}"), ours, true, "").unwrap();
    }
    git.delete_branch("dropped").unwrap();

    let moved = fixture.commit("moved", 2, &[(b"a", "2")]);
    let theirs = fixture.commit("both", 3, &[(b"a", "3")]);
    for branch in ["feat", "gone"] {
        fixture.repo.find_reference(&format!("refs/heads/{branch}")).unwrap().delete().unwrap();
    }
    let below = fixture.commit("feat/x", 4, &[(b"a", "4")]);
    let again = || {
        refresh(fixture.folder.path(), &target, |git, head| git.delete_branch(&head.name)).unwrap();
        let git = Git::open(&target, Some("main")).unwrap();
        let heads = git.branches(&Cache::default()).unwrap();
        heads.iter().map(|head| (head.name.clone(), head.commit)).collect::<Vec<_>>()
    };
    let expected = [("both", ours), ("feat/x", below), ("main", ours), ("moved", moved)];
    let expected: Vec<(String, Oid)> = expected.map(|(name, id)| (name.to_owned(), id)).to_vec();
    assert_ne!(ours, theirs);
    assert_eq!(again(), expected);
    assert_eq!(again(), expected, "once more changes nothing");

    // A local branch that conflicts with one of the source stays, and does not affect the others.
    git.create_branch("way", "main").unwrap();
    fixture.commit("way/x", 5, &[(b"a", "5")]);
    assert!(again().contains(&("way".to_owned(), ours)));
}

#[test]
fn detached_head_gets_a_branch() {
    let fixture = TestRepo::new();
    let id = fixture.commit("main", 1, &[(b"a", "1")]);
    fixture.repo.set_head_detached(id).unwrap();
    let place = tempfile::tempdir().unwrap();
    assert_eq!(
        adopt(fixture.folder.path(), &place.path().join("1.git")).unwrap().default_branch.as_deref(),
        Some("main")
    );
    fixture.repo.find_reference("refs/heads/main").unwrap().delete().unwrap();
    let adopted = adopt(fixture.folder.path(), &place.path().join("2.git")).unwrap();
    assert_eq!(adopted.default_branch.as_deref(), id.to_string().get(..8));
}

#[test]
fn invalid_repositories_are_rejected_with_a_message() {
    let folder = tempfile::tempdir().unwrap();
    let place = tempfile::tempdir().unwrap();
    let error = adopt(folder.path(), &place.path().join("1.git")).unwrap_err();
    assert!(error.to_string().contains("is not in a git repository"), "{error}");
    let error = adopt(&folder.path().join("nowhere"), &place.path().join("2.git")).unwrap_err();
    assert!(error.to_string().ends_with("does not exist"), "{error}");
}
