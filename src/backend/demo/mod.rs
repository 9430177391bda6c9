//! The demo world, built deterministically from the files under `assets/world/`.

pub mod archive;
pub mod generate;
pub mod histories;
pub mod history;
pub mod load;
pub mod repository;
pub mod schema;
pub mod script;
pub mod season;

use super::world::World;
use schema::{WorldError, WorldFile};
use std::path::{Path, PathBuf};
use system::files;

/// The parts of the demo world.
const DEMO: &[(&str, &str)] = &[
    ("people.toml", include_str!("../../../assets/world/people.toml")),
    ("projects.toml", include_str!("../../../assets/world/projects.toml")),
    ("requests.toml", include_str!("../../../assets/world/requests.toml")),
    ("artifacts.toml", include_str!("../../../assets/world/artifacts.toml")),
    ("runners.toml", include_str!("../../../assets/world/runners.toml")),
    ("pipelines.toml", include_str!("../../../assets/world/pipelines.toml")),
];

const EMPTY: &str = include_str!("../../../assets/world/empty.toml");

/// The maximum size of a world file, in bytes.
const MAX_WORLD: u64 = 64 << 20;

/// The initial world of a server, as selected by `--world`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum WorldKind {
    #[default]
    Demo,
    /// A world with only an administrator and a regular user.
    Empty,
    File(PathBuf),
}

impl WorldKind {
    /// Parses `demo`, `empty` or a path.
    pub fn parse(word: &str) -> WorldKind {
        match word {
            "demo" => WorldKind::Demo,
            "empty" => WorldKind::Empty,
            path => WorldKind::File(PathBuf::from(path)),
        }
    }
}

/// Returns the usernames of the demo world's users who can sign in.
///
/// # Errors
/// Fails if a part of the demo world cannot be parsed.
pub fn usernames() -> Result<Vec<String>, WorldError> {
    let mut all = Vec::new();
    for (name, text) in DEMO {
        let users = WorldFile::parse(name, text)?.users.into_iter();
        all.extend(users.filter(|user| !user.blocked).map(|user| user.username));
    }
    Ok(all)
}

/// Builds a world: its records, and its repositories as `<id>.git` under `repositories`.
///
/// # Errors
/// Fails with the line number if a world file cannot be parsed, and with the key if it refers to something that does
/// not exist.
pub fn build(choice: &WorldKind, repositories: &Path) -> Result<World, WorldError> {
    match choice {
        WorldKind::Demo => {
            let mut all = WorldFile::default();
            for (name, text) in DEMO {
                all.join(WorldFile::parse(name, text)?);
            }
            load::load("demo", &all, repositories)
        }
        WorldKind::Empty => load::load("empty", &WorldFile::parse("empty.toml", EMPTY)?, repositories),
        WorldKind::File(path) => {
            let file = path.display().to_string();
            let text = files::read_text(path, MAX_WORLD)
                .map_err(|e| WorldError { file: file.clone(), what: format!("cannot be read: {e}") })?;
            load::load(&file, &WorldFile::parse(&file, &text)?, repositories)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{Note, Noteable, ReviewState, State, Status};
    use crate::runner;
    use api::notes::Position;
    use std::collections::BTreeSet;

    fn fresh() -> (tempfile::TempDir, World) {
        let folder = tempfile::tempdir().unwrap();
        let world = build(&WorldKind::Demo, folder.path()).unwrap_or_else(|e| panic!("{e}"));
        (folder, world)
    }

    /// Returns a demo world that is shared by all tests that only read it.
    fn demo() -> (&'static Path, World) {
        static DEMO: std::sync::OnceLock<(tempfile::TempDir, World)> = std::sync::OnceLock::new();
        let (folder, world) = DEMO.get_or_init(fresh);
        (folder.path(), world.clone())
    }

    fn printed(world: &World, job: &crate::records::Job) -> String {
        let mut out = Vec::new();
        if let Some(trace) = runner::trace(world, job, "2026-11-21T09:00:00Z".parse().unwrap()) {
            trace.write(0, &mut out).unwrap();
        }
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn demo_world_is_reproducible() {
        let ((folder, a), (_, b)) = (demo(), fresh());
        let text = |world: &World| {
            let mut world = world.clone();
            world.take_changes().into_iter().map(|c| (c.table, c.id, c.row)).collect::<Vec<_>>()
        };
        assert!(text(&a) == text(&b));
        let rocket = a.project_at("acme/rocket-ui").unwrap();
        assert_eq!(rocket.id, 1);
        let repository = git2::Repository::open_bare(folder.join("1.git")).unwrap();
        assert_eq!(
            repository.head().unwrap().target().unwrap().to_string(),
            "f8b2a08aaea2f98333539fc7b8f3ce213e7bc637"
        );
    }

    #[test]
    fn every_merge_request_has_commits_and_a_diff() {
        let (folder, world) = demo();
        assert!(world.merge_requests.len() >= 12);
        for request in world.merge_requests.iter() {
            let name = format!("{}!{}", request.target_project, request.iid);
            let open = |id| git2::Repository::open_bare(folder.join(format!("{id}.git"))).unwrap();
            let (target, source) = (open(request.target_project), open(request.source_project));
            let (base, head) = match &request.range {
                Some(range) => (range.base.parse().unwrap(), range.head.parse().unwrap()),
                None => {
                    let head = |r: &git2::Repository, b: &str| r.refname_to_id(&format!("refs/heads/{b}")).unwrap();
                    let head_of_source = head(&source, &request.source_branch);
                    let head_of_target = head(&target, &request.target_branch);
                    (target.merge_base(head_of_source, head_of_target).unwrap(), head_of_source)
                }
            };
            let tree = |id| target.find_commit(id).unwrap().tree().unwrap();
            let diff = target.diff_tree_to_tree(Some(&tree(base)), Some(&tree(head)), None).unwrap();
            assert!(diff.deltas().len() > 0, "{name} changes nothing");
            if request.title.starts_with("Icons") {
                assert!(diff.deltas().len() > 1000);
            }
            let written = target.find_commit(head).unwrap().time().seconds();
            assert!(request.created_at.as_second() >= written, "{name} is older than its commits");
            assert!(request.merged_at.is_none_or(|merged| merged > request.created_at), "{name}");
            assert_eq!(request.state == State::Merged, request.merge_commit_sha.is_some(), "{name}");
        }
        let states: BTreeSet<State> = world.merge_requests.iter().map(|r| r.state).collect();
        assert_eq!(states.len(), 3);
        assert!(world.merge_requests.iter().any(|request| request.approvals.len() > 1));
        let waits = world.merge_requests.iter().find_map(|request| Some((request, request.auto_merge.as_ref()?)));
        let (request, params) = waits.expect("one waits for its pipeline");
        let pipeline = world.pipelines.iter().rev().find(|pipeline| pipeline.sha == params.sha).unwrap();
        assert_eq!((&pipeline.ref_name, pipeline.status), (&request.source_branch, Status::Running));
    }

    #[test]
    fn demo_world_has_every_kind_of_thread() {
        let (_folder, world) = demo();
        let rocket = world.project_at("acme/rocket-ui").unwrap().id;
        let request = world.merge_requests.iter().find(|r| r.target_project == rocket && r.iid == 42).unwrap();
        let on = Noteable::MergeRequest(request.id);
        let firsts: Vec<&Note> = world.notes.iter().filter(|n| n.on == on && n.thread.is_none()).collect();
        let has = |fits: &dyn Fn(&Note, &Position) -> bool| {
            firsts.iter().any(|note| note.position.as_ref().is_some_and(|position| fits(note, position)))
        };
        let answered = |note: &Note| world.thread(on, note.id).count() > 1;
        assert!(has(&|note, at| at.new_line.is_some() && answered(note) && note.is_unresolved()));
        assert!(has(&|_, at| at.new_line.is_none() && at.old_line.is_some()));
        let suggests = |note: &Note| world.suggestions.iter().any(|suggestion| suggestion.note == note.id);
        assert!(has(&|note, at| at.line_range.is_some() && suggests(note)));
        assert!(has(&|note, _| note.resolved_by.is_some()));
        assert!(firsts.iter().any(|note| note.position.is_none() && note.is_unresolved()));
        let ada = world.user_named("ada").unwrap().id;
        assert!(world.draft_notes.iter().any(|draft| draft.author == ada && draft.line_code.is_some()));
        assert!(request.reviewers.iter().any(|r| r.user == ada && r.state == ReviewState::Started));
        assert_eq!(world.versions_of(request.id).count(), 3);
        let issue = world.issues.iter().find(|issue| issue.project == rocket && issue.iid == 42).unwrap();
        let unresolved = world.notes.iter().filter(|n| n.on == Noteable::Issue(issue.id) && n.is_unresolved());
        assert_eq!(unresolved.count(), 2);
    }

    #[test]
    fn demo_world_has_every_status() {
        let (_folder, mut world) = demo();
        let now = "2026-11-21T09:00:00Z".parse().unwrap();
        runner::advance(&mut world, now);
        let statuses: BTreeSet<Status> = world.jobs.iter().map(|job| job.status).collect();
        // Nothing in the demo waits for a delay.
        let expected: BTreeSet<Status> = Status::ALL.iter().copied().filter(|s| *s != Status::Scheduled).collect();
        assert_eq!(statuses, expected);
        let longest = world.jobs.iter().map(|job| printed(&world, job).lines().count()).max();
        assert!(longest > Some(20_000));
    }

    #[test]
    fn demo_world_covers_every_feature() {
        let (folder, world) = demo();
        let left: BTreeSet<u64> = world.jobs.iter().filter_map(|job| Some(job.artifacts.as_ref()?.archive)).collect();
        let named = |archive: &str| {
            let found = world.archives.iter().find(|a| a.name == archive).unwrap();
            assert!(left.contains(&found.id), "no job left {archive}");
            let mut zip = zip::ZipArchive::new(std::io::Cursor::new(&found.bytes)).unwrap();
            (0..zip.len()).map(|at| zip.by_index(at).unwrap().name().unwrap().into_owned()).collect::<Vec<_>>()
        };
        for (archive, file) in [
            ("screens", "target/screens/table/80x24.png"),
            ("screens fails", "report.xml"),
            ("unit", "coverage/html/index.html"),
            ("bench", "bench/frame.csv"),
        ] {
            assert!(named(archive).iter().any(|name| name == file), "{archive} without {file}");
        }
        let environments: BTreeSet<&str> = world
            .deployments
            .iter()
            .map(|deployment| world.environments.get(deployment.environment).unwrap().name.as_str())
            .collect();
        assert_eq!(environments, ["production", "staging"].into());
        assert!(
            world.commit_comments.iter().any(|c| c.line.is_some())
                && world.commit_comments.iter().any(|c| c.path.is_none())
        );
        assert!(world.commit_statuses.iter().any(|s| s.status == Status::Failed));
        assert!(world.groups.iter().any(|group| !group.directory_links.is_empty()));
        assert!(world.projects.iter().any(|project| !project.shared_with.is_empty()));
        assert!(world.snippets.iter().any(|snippet| snippet.user_agent.is_some()));
        assert!(world.runners.iter().any(|r| r.projects.len() == 1) && world.runners.iter().any(|r| r.is_shared));
        assert!(world.users.iter().any(|user| user.blocked) && world.users.iter().any(|user| user.external));
        assert!(world.hooks.len() > 1 && !world.licenses.is_empty() && !world.gpg_keys.is_empty());
        assert_eq!((world.epics.iter().next().unwrap().id, world.milestones.iter().next().unwrap().id), (1, 1));
        // A graph with branches to show.
        let terminfo = world.project_at("acme/tools/terminfo-lite").unwrap().id;
        let repository = git2::Repository::open_bare(folder.join(format!("{terminfo}.git"))).unwrap();
        let mut walk = repository.revwalk().unwrap();
        walk.push_head().unwrap();
        let parents: Vec<usize> = walk.map(|id| repository.find_commit(id.unwrap()).unwrap().parent_count()).collect();
        let merges = parents.iter().filter(|count| **count > 1).count();
        assert!(parents.len() > 300 && merges > 60, "{} commits, {merges} merges", parents.len());
    }

    #[test]
    fn a_job_is_always_running() {
        let (_folder, mut world) = demo();
        let start = "2026-11-21T09:00:00Z".parse::<jiff::Timestamp>().unwrap();
        let mut quiet = 0;
        for second in (0..600).step_by(5) {
            let now = start + jiff::SignedDuration::from_secs(second);
            runner::advance(&mut world, now);
            let running = world.jobs.iter().filter(|job| job.status == Status::Running).count();
            quiet += usize::from(running == 0);
        }
        assert!(quiet < 24, "nothing ran {quiet} of 120 times");
    }

    #[test]
    fn empty_world_has_an_administrator_and_a_regular_user() {
        let folder = tempfile::tempdir().unwrap();
        let world = build(&WorldKind::Empty, folder.path()).unwrap();
        assert_eq!(world.users.iter().filter(|user| user.admin).count(), 1);
        assert_eq!(world.users.len(), 2);
        assert!(world.projects.is_empty());
    }

    #[test]
    fn unknown_names_are_reported_with_their_location() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mine.toml");
        std::fs::write(&path, "[[projects]]\npath = \"zoe/thing\"\n").unwrap();
        let error = build(&WorldKind::File(path), folder.path()).unwrap_err().to_string();
        assert!(error.ends_with("mine.toml: projects.zoe/thing.path: there is no group or person zoe"), "{error}");
    }

    #[test]
    fn worlds_at_the_limits_of_time_work() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mine.toml");
        let example = include_str!("../../../assets/world/example.toml");
        // Times before the earliest timestamp are an error.
        for (now, can_be) in [(jiff::Timestamp::MIN, false), (jiff::Timestamp::MAX, true)] {
            std::fs::write(&path, example.replacen("2026-11-20T16:00:00Z", &now.to_string(), 1)).unwrap();
            let folder = tempfile::tempdir().unwrap();
            let built = build(&WorldKind::File(path.clone()), folder.path());
            assert_eq!(built.is_ok(), can_be, "{now}");
            if let Ok(mut world) = built {
                runner::advance(&mut world, now);
                assert!(world.jobs.iter().next().is_some());
            }
        }
        let late = runner::saturating_add(jiff::Timestamp::MAX, jiff::SignedDuration::from_secs(2));
        let early = runner::saturating_add(jiff::Timestamp::MIN, -jiff::SignedDuration::from_secs(2));
        assert_eq!((early, late), (jiff::Timestamp::MIN, jiff::Timestamp::MAX));
    }

    #[test]
    fn the_world_of_users_has_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("users.toml");
        std::fs::write(&path, include_str!("../../../assets/world/users.toml")).unwrap();
        let world = build(&WorldKind::File(path), folder.path()).unwrap_or_else(|e| panic!("{e}"));
        let named = |secret: &str| world.tokens.iter().find(|token| token.secret == secret).map(|token| token.user);
        let ada = world.users.iter().find(|user| user.username == "ada").unwrap();
        assert_eq!(named("glpat-ada-0123456789abcde"), Some(ada.id));
        assert_eq!(world.users.iter().count(), 6);
        assert_eq!((world.projects.iter().count(), world.groups.iter().count()), (0, 0));
    }

    #[test]
    fn world_file_can_define_history_and_jobs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mine.toml");
        std::fs::write(&path, include_str!("../../../assets/world/example.toml")).unwrap();
        let world = build(&WorldKind::File(path), folder.path()).unwrap_or_else(|e| panic!("{e}"));
        let job = world.jobs.iter().next().unwrap();
        assert_eq!((job.name.as_str(), job.status), ("hello", Status::Failed));
        assert!(printed(&world, job).contains("src/main.rs:1"));
    }
}
