//! Approving, merging and rebasing merge requests: the replies, and the resulting repositories.

use crate::{Server, WORLD, each, json};
use git2::{BranchType, Commit, Oid, Repository};
use labscope::backend::{Clock, Modes, Options, Version, WorldKind};
use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json as value};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use tempfile::TempDir;

const REQUEST: &str = "/projects/ada%2Fhello/merge_requests/1";
/// The pipeline of `louder` runs for six seconds after the server starts.
const RUNNING: &str = r#"
[[schedules]]
project = "ada/hello"
refs = ["louder"]
template = "one"
user = "ada"
pause = 1000
"#;

/// A served world whose repositories can be inspected.
struct Place {
    server: Server,
    folder: TempDir,
    passed: Arc<AtomicI64>,
}

impl Place {
    async fn new(world: &str) -> Place {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("world.toml");
        std::fs::write(&file, world).unwrap();
        let passed = Arc::new(AtomicI64::new(0));
        let clock = {
            let passed = passed.clone();
            Clock::new(move || {
                let start: jiff::Timestamp = "2026-11-20T16:00:10Z".parse().unwrap();
                start + jiff::SignedDuration::from_secs(passed.load(Ordering::Relaxed))
            })
        };
        let data = Some(folder.path().join("data"));
        let server = Server::with(Options { world: WorldKind::File(file), data, clock, ..Options::default() }).await;
        Place { server, folder, passed }
    }

    fn repository(&self, project: u64) -> Repository {
        let path: PathBuf = self.folder.path().join(format!("data/repositories/{project}.git"));
        Repository::open_bare(path).unwrap()
    }

    async fn request(&self, user: &str) -> Value {
        self.server.read(user, REQUEST).await
    }

    async fn merge(&self, user: &str, form: &[(&str, &str)]) -> Response {
        self.server.put(user, &format!("{REQUEST}/merge"), form).await
    }

    /// Commits a file to a branch: creates it, except for `src/main.rs`, which exists on all branches.
    async fn commit(&self, user: &str, project: &str, branch: &str, path: &str, text: &str) -> Value {
        let action = if path == "src/main.rs" { "update" } else { "create" };
        let body = value!({"branch": branch, "commit_message": format!("Write {path}"),
            "actions": [{"action": action, "file_path": path, "content": text}]});
        let path = format!("/projects/{project}/repository/commits");
        json(self.server.call(user, Method::POST, &path).json(&body).send().await.unwrap(), 201).await
    }

    /// Returns the bodies of the system notes, oldest first.
    async fn notes(&self) -> Vec<String> {
        let notes = self.server.read("ada", &format!("{REQUEST}/notes?sort=asc")).await;
        let system = notes.as_array().unwrap().iter().filter(|note| note["system"] == true);
        system.map(|note| note["body"].as_str().unwrap().to_owned()).collect()
    }

    async fn head(&self, project: &str, branch: &str) -> String {
        let branch = self.server.read("ada", &format!("/projects/{project}/repository/branches/{branch}")).await;
        branch["commit"]["id"].as_str().unwrap().to_owned()
    }
}

async fn says(reply: Response, status: u16) -> String {
    json(reply, status).await["message"].as_str().unwrap().to_owned()
}

fn commit<'r>(repo: &'r Repository, branch: &str) -> Commit<'r> {
    repo.find_branch(branch, BranchType::Local).unwrap().get().peel_to_commit().unwrap()
}

/// Returns the text of a file in a commit, reading it from the object database.
fn text(repo: &Repository, commit: &Commit<'_>, path: &str) -> String {
    let entry = commit.tree().unwrap().get_path(path.as_ref()).unwrap();
    String::from_utf8(repo.find_blob(entry.id()).unwrap().content().to_vec()).unwrap()
}

#[tokio::test]
async fn an_approval_can_be_given_once_and_revoked() {
    let place = Place::new(WORLD).await;
    let server = &place.server;
    let [all, approve, unapprove] = ["approvals", "approve", "unapprove"].map(|end| format!("{REQUEST}/{end}"));
    let none = value!({"approved": false, "approved_by": [], "user_has_approved": false, "user_can_approve": true});
    assert_eq!(server.read("bo", &all).await, none);
    assert_eq!(server.read("eve", &all).await["user_can_approve"], false);

    let head = place.request("bo").await["sha"].as_str().unwrap().to_owned();
    let wrong = says(server.post("bo", &approve, &[("sha", "0123")]).await, 409).await;
    assert_eq!(wrong, format!("SHA does not match HEAD of source branch: {head}"));
    place.passed.store(5, Ordering::Relaxed);
    let mine = json(server.post("bo", &approve, &[("sha", &head)]).await, 201).await;
    assert_eq!((&mine["user_has_approved"], &mine["user_can_approve"]), (&value!(true), &value!(false)));
    assert_eq!(mine["approved_by"][0]["user"]["username"], "bo");
    assert_eq!(mine["approved_by"][0]["approved_at"], "2026-11-20T16:00:15.000Z");
    assert_eq!(server.post("bo", &approve, &[]).await.status(), StatusCode::NOT_MODIFIED, "a second time");
    assert_eq!(says(server.post("eve", &approve, &[]).await, 401).await, "401 Unauthorized", "not a member");
    place.passed.store(6, Ordering::Relaxed);
    json(server.post("ada", &approve, &[]).await, 201).await;
    // A push does not reset approvals.
    place.commit("bo", "1", "louder", "more.txt", "more\n").await;
    let both = server.read("eve", &all).await;
    let names: Vec<&Value> =
        both["approved_by"].as_array().unwrap().iter().map(|row| &row["user"]["username"]).collect();
    assert_eq!((names, &both["approved"]), (vec![&value!("bo"), &value!("ada")], &value!(true)));

    let left = json(server.post("ada", &unapprove, &[]).await, 201).await;
    assert_eq!((left["approved_by"].as_array().unwrap().len(), &left["user_has_approved"]), (1, &value!(false)));
    assert_eq!(server.post("ada", &unapprove, &[]).await.status(), StatusCode::NOT_MODIFIED);
    let said = ["approved this merge request", "approved this merge request", "unapproved this merge request"];
    let mut notes = place.notes().await;
    notes.retain(|note| !note.starts_with("added 1 commit"));
    assert_eq!(notes, said);
    json(server.put("ada", REQUEST, &[("state_event", "close")]).await, 200).await;
    assert_eq!(says(server.post("ada", &approve, &[]).await, 401).await, "401 Unauthorized", "closed");
}

#[tokio::test]
async fn a_merge_creates_a_commit_with_both_branches_as_parents() {
    let place = Place::new(WORLD).await;
    let main = place.commit("ada", "1", "main", "more.txt", "more\n").await["id"].as_str().unwrap().to_owned();
    let before = place.request("bo").await;
    assert_eq!((&before["detailed_merge_status"], &before["has_conflicts"]), (&value!("mergeable"), &value!(false)));
    assert_eq!(before["user"], value!({"can_merge": true}));
    assert_eq!(place.request("eve").await["user"], value!({"can_merge": false}));
    let head = before["sha"].as_str().unwrap().to_owned();

    let merged = json(place.merge("bo", &[("sha", &head), ("should_remove_source_branch", "true")]).await, 200).await;
    assert_eq!((merged["state"].as_str(), merged["merged_by"]["username"].as_str()), (Some("merged"), Some("bo")));
    assert_eq!(merged["merged_at"], "2026-11-20T16:00:10.000Z");
    assert_eq!((merged["sha"].as_str(), merged["detailed_merge_status"].as_str()), (Some(&*head), Some("not_open")));
    let repo = place.repository(1);
    let tip = commit(&repo, "main");
    assert_eq!(merged["merge_commit_sha"], tip.id().to_string());
    assert_eq!(tip.parent_ids().map(|id| id.to_string()).collect::<Vec<_>>(), [main, head]);
    assert_eq!(tip.message(), Ok("Merge branch 'louder' into 'main'\n\nLouder\n\nSee merge request ada/hello!1"));
    assert_eq!((tip.author().name(), tip.committer().name()), (Ok("Bo Lind"), Ok("Bo Lind")));
    assert!(text(&repo, &tip, "src/main.rs").contains("HELLO") && text(&repo, &tip, "more.txt") == "more\n");
    // The branch is deleted, but the merge request keeps its commits and changes.
    assert_eq!(each(&place.server.read("bo", "/projects/1/repository/branches").await, "name"), ["main"]);
    assert_eq!(place.head("1", "main").await, tip.id().to_string());
    assert_eq!(each(&place.server.read("bo", &format!("{REQUEST}/commits")).await, "title"), ["Say it louder"]);
    assert_eq!(place.request("bo").await["changes_count"], "1");
    assert_eq!(place.notes().await, ["merged"]);
    assert_eq!(says(place.merge("bo", &[]).await, 405).await, "405 Method Not Allowed");
}

#[tokio::test]
async fn squashing_makes_one_commit_and_custom_messages_are_used() {
    let place = Place::new(WORLD).await;
    let base = place.head("1", "main").await;
    place.commit("bo", "1", "louder", "more.txt", "more\n").await;
    let form = [("squash", "true"), ("squash_commit_message", "All at once"), ("merge_commit_message", "Take it in")];
    let merged = json(place.merge("bo", &form).await, 200).await;
    assert_eq!((merged["squash"].as_bool(), merged["state"].as_str()), (Some(true), Some("merged")));
    let repo = place.repository(1);
    let tip = commit(&repo, "main");
    let [first, squashed] = [0, 1].map(|at| tip.parent(at).unwrap());
    assert_eq!((tip.message(), squashed.message()), (Ok("Take it in"), Ok("All at once")));
    assert_eq!((first.id().to_string(), squashed.parent_id(0).unwrap().to_string()), (base.clone(), base));
    assert_eq!((squashed.author().name(), squashed.committer().name()), (Ok("Ada Sommer"), Ok("Bo Lind")));
    assert!(text(&repo, &tip, "src/main.rs").contains("HELLO") && text(&repo, &squashed, "more.txt") == "more\n");
    assert_eq!(each(&place.server.read("bo", "/projects/1/repository/branches").await, "name"), ["louder", "main"]);
}

#[tokio::test]
async fn a_merge_that_is_not_possible_is_refused_with_the_reason() {
    let place = Place::new(WORLD).await;
    let (server, status) = (&place.server, async || place.request("ada").await["detailed_merge_status"].clone());
    assert_eq!(says(place.merge("eve", &[]).await, 401).await, "401 Unauthorized");
    json(server.put("ada", "/projects/1/repository/branches/main/protect", &[]).await, 200).await;
    assert_eq!(says(place.merge("bo", &[]).await, 401).await, "401 Unauthorized", "a protected branch");
    let head = place.request("ada").await["sha"].as_str().unwrap().to_owned();
    let wrong = says(place.merge("ada", &[("sha", "0123")]).await, 409).await;
    assert_eq!(wrong, format!("SHA does not match HEAD of source branch: {head}"));

    let set = async |field: &'static str, text: &'static str| {
        json(server.put("ada", REQUEST, &[(field, text)]).await, 200).await;
    };
    set("title", "Draft: Louder").await;
    assert_eq!(status().await, "draft_status");
    assert_eq!(says(place.merge("ada", &[]).await, 405).await, "405 Method Not Allowed");
    set("title", "Louder").await;
    set("state_event", "close").await;
    assert_eq!(status().await, "not_open");
    assert_eq!(says(place.merge("ada", &[]).await, 405).await, "405 Method Not Allowed");
    set("state_event", "reopen").await;
    // The new head has no pipeline.
    let needs_pipeline = [("name", "hello"), ("only_allow_merge_if_pipeline_succeeds", "true")];
    json(server.put("ada", "/projects/1", &needs_pipeline).await, 200).await;
    assert_eq!(status().await, "mergeable");
    place.commit("ada", "1", "louder", "more.txt", "more\n").await;
    assert_eq!(status().await, "ci_must_pass");
    for form in [&[][..], &[("auto_merge", "true")], &[("merge_when_pipeline_succeeds", "true")]] {
        assert_eq!(says(place.merge("ada", form).await, 405).await, "405 Method Not Allowed", "{form:?}");
    }

    place.commit("ada", "1", "main", "src/main.rs", "fn main() {}\n").await;
    let request = place.request("ada").await;
    assert_eq!((&request["detailed_merge_status"], &request["has_conflicts"]), (&value!("conflict"), &value!(true)));
    assert_eq!(request["merge_status"], "cannot_be_merged");
    let listed = server.read("ada", "/merge_requests").await;
    assert_eq!(
        (&listed[0]["detailed_merge_status"], &listed[0]["has_conflicts"]),
        (&value!("conflict"), &value!(true))
    );
    // Conflicts are reported before a stale `sha`.
    assert_eq!(says(place.merge("ada", &[("sha", "0123")]).await, 422).await, "Branch cannot be merged");
    assert_eq!(place.server.delete("ada", "/projects/1/repository/branches/louder").await.status(), 204);
    assert_eq!(status().await, "commits_status");
    assert_eq!(place.notes().await.iter().filter(|note| *note == "merged").count(), 0);
}

#[tokio::test]
async fn fast_forward_and_semi_linear_merges_require_a_rebase() {
    for method in ["ff", "rebase_merge"] {
        let method_of = format!("visibility = \"public\"\nmerge_method = \"{method}\"");
        let place = Place::new(&WORLD.replacen("visibility = \"public\"", &method_of, 1)).await;
        let main = place.commit("ada", "1", "main", "more.txt", "more\n").await["id"].as_str().unwrap().to_owned();
        assert_eq!(place.request("bo").await["detailed_merge_status"], "need_rebase");
        assert_eq!(says(place.merge("bo", &[]).await, 422).await, "Branch cannot be merged");
        let running = json(place.server.put("bo", &format!("{REQUEST}/rebase"), &[]).await, 202).await;
        assert_eq!(running, value!({"rebase_in_progress": true}));
        let done = place.server.read("bo", &format!("{REQUEST}?include_rebase_in_progress=true")).await;
        assert_eq!((&done["rebase_in_progress"], &done["merge_error"]), (&value!(false), &Value::Null));
        assert!(place.request("bo").await.get("rebase_in_progress").is_none());
        let head = done["sha"].as_str().unwrap().to_owned();
        let repo = place.repository(1);
        let rebased = repo.find_commit(Oid::from_str(&head).unwrap()).unwrap();
        assert_eq!((rebased.parent_count(), rebased.parent_id(0).unwrap().to_string()), (1, main.clone()));
        assert_eq!((rebased.author().name(), rebased.committer().name()), (Ok("Ada Sommer"), Ok("Bo Lind")));
        assert_eq!(
            (rebased.summary(), text(&repo, &rebased, "more.txt")),
            (Ok(Some("Say it louder")), "more\n".into())
        );
        // A second rebase changes nothing.
        json(place.server.put("bo", &format!("{REQUEST}/rebase"), &[]).await, 202).await;
        assert_eq!(place.head("1", "louder").await, head);

        let merged = json(place.merge("bo", &[]).await, 200).await;
        let tip = commit(&repo, "main");
        let parents: Vec<String> = tip.parent_ids().map(|id| id.to_string()).collect();
        if method == "ff" {
            assert_eq!((tip.id().to_string(), &merged["merge_commit_sha"]), (head, &Value::Null));
        } else {
            assert_eq!((parents, &merged["merge_commit_sha"]), (vec![main, head], &value!(tip.id().to_string())));
        }
    }
}

#[tokio::test]
async fn a_rebase_with_conflicts_reports_an_error_and_changes_nothing() {
    let place = Place::new(WORLD).await;
    let head = place.head("1", "louder").await;
    place.commit("ada", "1", "main", "src/main.rs", "fn main() {}\n").await;
    let rebase = format!("{REQUEST}/rebase");
    json(place.server.put("bo", &rebase, &[]).await, 202).await;
    let request = place.request("bo").await;
    let error = "Rebase failed: Rebase locally, resolve all conflicts, then push the branch.";
    assert_eq!((request["merge_error"].as_str(), request["sha"].as_str()), (Some(error), Some(&*head)));

    let why = says(place.server.put("eve", &rebase, &[]).await, 403).await;
    assert_eq!(why, "403 Forbidden - Cannot push to source branch");
    json(place.server.put("ada", "/projects/1/repository/branches/louder/protect", &[]).await, 200).await;
    let why = says(place.server.put("ada", &rebase, &[]).await, 403).await;
    assert_eq!(why, "403 Forbidden - Source branch is protected from force push");
    json(place.server.put("ada", "/projects/1/repository/branches/louder/unprotect", &[]).await, 200).await;
    json(place.server.put("ada", REQUEST, &[("state_event", "close")]).await, 200).await;
    assert_eq!(says(place.server.put("ada", &rebase, &[]).await, 409).await, "409 Conflict: Resource lock");
    assert_eq!(place.server.delete("ada", "/projects/1/repository/branches/louder").await.status(), 204);
    let why = says(place.server.put("ada", &rebase, &[]).await, 403).await;
    assert_eq!(why, "403 Forbidden - Source branch does not exist");
}

/// Returns a world whose branch `louder` is in eve's fork.
fn forked() -> String {
    let project = WORLD.split("[[projects]]").nth(1).unwrap().split("[[merge_requests]]").next().unwrap();
    let fork = project
        .replace("ada/hello", "eve/hello")
        .replace("members = { bo = \"developer\" }", "fork_of = \"ada/hello\"");
    let own = "members = { bo = \"developer\" }";
    WORLD
        .replacen(own, &format!("{own}\nonly = [\"main\"]"), 1)
        .replacen("[[merge_requests]]", &format!("[[projects]]{fork}\n[[merge_requests]]"), 1)
        .replacen("source = \"louder\"", "source = \"louder\"\nsource_project = \"eve/hello\"", 1)
        .split("[[pipelines]]")
        .next()
        .unwrap()
        .to_owned()
}

#[tokio::test]
async fn a_merge_request_from_a_fork_can_be_rebased_and_merged() {
    let place = Place::new(&forked()).await;
    let pushed = place.commit("eve", "2", "louder", "new.txt", "of eve\n").await["id"].as_str().unwrap().to_owned();
    let main = place.commit("ada", "1", "main", "more.txt", "more\n").await["id"].as_str().unwrap().to_owned();
    assert_eq!(place.request("ada").await["sha"], pushed);
    assert_eq!(each(&place.server.read("ada", "/projects/1/repository/branches").await, "name"), ["main"]);
    // Only eve may push to the fork, but she may not merge into the project.
    let why = says(place.server.put("bo", &format!("{REQUEST}/rebase"), &[]).await, 403).await;
    assert_eq!(why, "403 Forbidden - Cannot push to source branch");
    assert_eq!(says(place.merge("eve", &[]).await, 401).await, "401 Unauthorized");
    json(place.server.put("eve", &format!("{REQUEST}/rebase"), &[]).await, 202).await;
    let fork = place.repository(2);
    let rebased = commit(&fork, "louder");
    assert_eq!(rebased.parent(0).unwrap().parent_id(0).unwrap().to_string(), main);
    assert_eq!(
        (text(&fork, &rebased, "more.txt"), text(&fork, &rebased, "new.txt")),
        ("more\n".into(), "of eve\n".into())
    );

    let merged = json(place.merge("bo", &[("should_remove_source_branch", "true")]).await, 200).await;
    assert_eq!(merged["state"], "merged");
    let repo = place.repository(1);
    let tip = commit(&repo, "main");
    assert_eq!(tip.parent_ids().collect::<Vec<_>>(), [Oid::from_str(&main).unwrap(), rebased.id()]);
    assert_eq!((text(&repo, &tip, "new.txt"), text(&repo, &tip, "more.txt")), ("of eve\n".into(), "more\n".into()));
    assert!(text(&repo, &tip, "src/main.rs").contains("HELLO"));
    // Merging does not delete a source branch that the user may not push to.
    assert!(fork.find_branch("louder", BranchType::Local).is_ok());
}

#[tokio::test]
async fn auto_merge_merges_when_the_pipeline_succeeds() {
    let place = Place::new(&format!("{WORLD}{RUNNING}")).await;
    let set = json(place.merge("bo", &[("auto_merge", "true"), ("squash", "true")]).await, 200).await;
    let waits = (set["state"].as_str(), set["merge_when_pipeline_succeeds"].as_bool());
    assert_eq!(waits, (Some("opened"), Some(true)));
    place.passed.store(2, Ordering::Relaxed);
    assert_eq!(place.request("ada").await["state"], "opened");
    place.passed.store(9, Ordering::Relaxed);
    let merged = place.request("ada").await;
    assert_eq!((merged["state"].as_str(), merged["merged_by"]["username"].as_str()), (Some("merged"), Some("bo")));
    assert_eq!(merged["merge_when_pipeline_succeeds"], false);
    let repo = place.repository(1);
    let tip = commit(&repo, "main");
    assert_eq!((tip.id().to_string().into(), tip.parent_count()), (merged["merge_commit_sha"].clone(), 2));
    assert_eq!(tip.parent(1).unwrap().summary(), Ok(Some("Louder")));
    let short = &merged["sha"].as_str().unwrap()[..8];
    let enabled = format!("enabled an automatic merge when the pipeline for {short} succeeds");
    assert_eq!(place.notes().await, [enabled.as_str(), "merged"]);
}

#[tokio::test]
async fn a_failed_pipeline_or_a_push_aborts_auto_merge() {
    let failing = WORLD.replacen("[[scripts]]\n", "[[scripts]]\nstatus = \"failed\"\n", 1);
    for (world, reason) in
        [(failing.as_str(), "the pipeline did not succeed"), (WORLD, "the source branch was updated")]
    {
        let place = Place::new(&format!("{world}{RUNNING}")).await;
        json(place.merge("bo", &[("merge_when_pipeline_succeeds", "true")]).await, 200).await;
        if world == WORLD {
            place.commit("ada", "1", "louder", "more.txt", "more\n").await;
        }
        place.passed.store(9, Ordering::Relaxed);
        let request = place.request("ada").await;
        let left = (request["state"].as_str(), request["merge_when_pipeline_succeeds"].as_bool());
        assert_eq!(left, (Some("opened"), Some(false)));
        let notes = place.notes().await;
        assert_eq!(notes.last(), Some(&format!("aborted the automatic merge because {reason}")));
    }
}

#[tokio::test]
async fn auto_merge_can_be_canceled_and_needs_an_unfinished_pipeline() {
    let place = Place::new(&format!("{WORLD}{RUNNING}")).await;
    let cancel = format!("{REQUEST}/cancel_merge_when_pipeline_succeeds");
    let none = json(place.server.post("bo", &cancel, &[]).await, 201).await;
    assert_eq!(none, value!({"message": "Can't cancel the automatic merge", "status": "error", "http_status": 406}));
    json(place.merge("bo", &[("auto_merge", "true")]).await, 200).await;
    assert_eq!(says(place.server.post("eve", &cancel, &[]).await, 401).await, "401 Unauthorized");
    assert_eq!(json(place.server.post("ada", &cancel, &[]).await, 201).await, value!({"status": "success"}));
    // The newer operation replies with the merge request, and refuses what it cannot do.
    let newer = format!("{REQUEST}/cancel_auto_merge");
    json(place.server.post("ada", &newer, &[]).await, 409).await;
    json(place.merge("bo", &[("auto_merge", "true")]).await, 200).await;
    json(place.server.post("eve", &newer, &[]).await, 403).await;
    json(place.server.post("", &newer, &[]).await, 401).await;
    let canceled = json(place.server.post("ada", &newer, &[]).await, 201).await;
    assert_eq!((&canceled["iid"], &canceled["merge_when_pipeline_succeeds"]), (&value!(1), &value!(false)));
    place.passed.store(9, Ordering::Relaxed);
    assert_eq!(place.request("ada").await["state"], "opened");
    // The pipeline has succeeded by now.
    assert_eq!(json(place.merge("bo", &[("auto_merge", "true")]).await, 200).await["state"], "merged");
}

#[tokio::test]
async fn required_approvals_appear_as_one_approval_rule() {
    let place = Place::new(WORLD).await;
    let server = &place.server;
    let state = format!("{REQUEST}/approval_state");
    assert_eq!(server.read("bo", &state).await, value!({"rules": []}));
    json(server.put("root", "/projects/1", &[("approvals_before_merge", "2")]).await, 200).await;
    json(server.post("bo", &format!("{REQUEST}/approve"), &[]).await, 201).await;
    let rule = server.read("eve", &state).await["rules"][0].clone();
    assert_eq!((&rule["approvals_required"], &rule["approved"]), (&value!(2), &value!(false)));
    assert_eq!(rule["approved_by"][0]["username"], "bo");
    let approvals = server.read("eve", &format!("{REQUEST}/approvals")).await;
    assert_eq!((&approvals["approvals_required"], &approvals["approvals_left"]), (&value!(2), &value!(1)));
    assert_eq!(place.request("ada").await["detailed_merge_status"], "not_approved");
    json(place.merge("bo", &[]).await, 405).await;
    json(server.put("root", "/projects/1", &[("approvals_before_merge", "1")]).await, 200).await;
    assert_eq!(place.request("ada").await["detailed_merge_status"], "mergeable");
    json(place.merge("bo", &[]).await, 200).await;
}

#[tokio::test]
async fn a_protected_source_branch_is_kept_after_the_merge() {
    let place = Place::new(WORLD).await;
    json(place.server.put("ada", "/projects/1/repository/branches/louder/protect", &[]).await, 200).await;
    json(place.merge("ada", &[("should_remove_source_branch", "true")]).await, 200).await;
    assert_eq!(each(&place.server.read("ada", "/projects/1/repository/branches").await, "name"), ["louder", "main"]);
}

#[tokio::test]
async fn assignees_and_developers_may_approve() {
    let place = Place::new(WORLD).await;
    let may =
        async |user: &str| place.server.read(user, &format!("{REQUEST}/approvals")).await["user_can_approve"].clone();
    assert_eq!((may("bo").await, may("eve").await), (true.into(), false.into()));
    let eve = place.server.read("root", "/users?username=eve").await[0]["id"].to_string();
    json(place.server.put("ada", REQUEST, &[("assignee_id", &eve)]).await, 200).await;
    assert_eq!((may("eve").await, may("bo").await), (true.into(), true.into()));
}

/// The setting `require_sha_for_merge` of a group, also for its subgroups (lib/api/merge_requests.rb and lib/api/groups.rb
/// of GitLab 19.5).
#[tokio::test]
async fn a_group_may_want_the_commit_that_is_merged() {
    let modes = Modes::of(Version::V19);
    let server = Server::with(Options { world: WorldKind::Demo, modes, ..Options::default() }).await;
    json(server.put("root", "/groups/acme", &[("require_sha_for_merge", "true")]).await, 200).await;
    let request = "/projects/acme%2Frocket-ui/merge_requests/42";
    let head = server.read("root", request).await["sha"].as_str().unwrap().to_owned();
    let refused = json(server.put("root", &format!("{request}/merge"), &[]).await, 400).await;
    assert_eq!(refused["message"], "SHA must be provided when merging");
    let reply = server.put("root", &format!("{request}/merge"), &[("sha", &head)]).await;
    assert_ne!(reply.status(), StatusCode::BAD_REQUEST);
}
