//! What the user's role in a project does not allow is not offered, and says which role it needs.

use crate::fixtures::{self, With, branch, commit, issue, job, merge_request, pipeline, user};
use crate::harness::{Begin, Harness};
use labscope::app::Place;
use serde_json::{Value, json};

const PROJECT: &str = "GET /projects/acme%2Frocket-ui";
const GUEST: u64 = 10;
const PLANNER: u64 = 15;
const REPORTER: u64 = 20;
const DEVELOPER: u64 = 30;
const MAINTAINER: u64 = 40;
const OWNER: u64 = 50;

/// Returns the project as GitLab sends it to a member with an access level; `None` for those who are no members, or only
/// by a group that it is shared with (`API::Entities::ProjectWithAccess`).
fn project(level: Option<u64>) -> Value {
    let access = level.map(|level| json!({"access_level": level, "notification_level": 3}));
    fixtures::project(7, "acme/rocket-ui")
        .with(json!({"permissions": {"project_access": null, "group_access": access}, "shared_with_groups": []}))
}

/// Opens a place of the project, after one that has read the project.
async fn open(place: &str, project: Value, me: Value, replies: &[(&str, Value)]) -> Harness {
    let mut harness = Begin::at(Place::new("branches").project("acme/rocket-ui")).size(120, 30).open();
    harness.reply("GET /user", me).reply(PROJECT, project);
    let sha = "9f3c2abd001100112233445566778899aabbccdd";
    let main = branch("main", commit(sha, "Start", "2026-06-15T08:00:00Z"));
    let other = branch("other", commit(sha, "Start", "2026-06-15T08:00:00Z"));
    harness.reply(&format!("{PROJECT}/repository/branches"), [main, other]);
    for (line, body) in replies {
        harness.reply(&format!("{PROJECT}{line}"), body);
    }
    harness.settle().await;
    harness.press(":").type_text(place).press("Enter").settle().await;
    harness
}

fn jobs() -> Value {
    let of = |id: u64, status: &str, who: u64| {
        job(id, &format!("job-{id}"), status)
            .with(json!({"user": user(who, "someone"), "started_at": "2026-06-15T11:51:00Z",
            "pipeline": {"id": 318, "ref": "main", "sha": "9f3c2ab0d1e2", "status": "running"}}))
    };
    json!([of(24, "failed", 2), of(23, "running", 2), of(22, "manual", 2), of(21, "success", 1)])
}

/// What is written out where a command is pressed.
fn refusal(role: &str, needs: &str) -> String {
    format!("Your role here is {role}; this needs {needs}")
}

#[tokio::test]
async fn jobs_are_run_by_developers_and_erased_by_maintainers_or_whoever_started_them() {
    let lists = [("/jobs", jobs())];
    let open = async |level| open("jobs", project(Some(level)), user(1, "ada"), &lists).await;
    let mut harness = open(REPORTER).await;
    let on = [("job-24", "R"), ("job-23", "X"), ("job-22", "P")];
    for (name, key) in on {
        harness.click_on(name).press(key).expect(&refusal("Reporter", "Developer")).press("j");
    }
    harness.click_on("job-24").press("Delete").expect(&refusal("Reporter", "Maintainer"));
    // The footer offers none of them, and the menu says why.
    let footer = |harness: &Harness| harness.lines().last().cloned().unwrap_or_default();
    harness.press("j").press("k");
    assert!(!footer(&harness).contains("retry"), "{}", harness.picture());
    harness.press("a").type_text("Retry job").expect("your role here is Reporter; this needs Developer");
    let mut harness = open(DEVELOPER).await;
    harness.click_on("job-24");
    assert!(footer(&harness).contains("retry"), "{}", harness.picture());
    harness.press("Delete").expect(&refusal("Developer", "Maintainer"));
    harness.click_on("job-21").press("Delete").expect("Erase #21 job-21?").press("Esc");
    let mut harness = open(MAINTAINER).await;
    harness.click_on("job-24").press("Delete").expect("Erase #24 job-24?");
}

/// Reporters of a group may be allowed to deploy to a protected environment (GitLab, "Deployment-only access to protected
/// environments").
#[tokio::test]
async fn a_reporter_may_be_allowed_to_deploy() {
    let deployed = fixtures::deployment(5, "production", 'a', "success");
    let name = deployed["deployable"]["name"].as_str().unwrap_or_default().to_owned();
    let manual = job(22, &name, "manual");
    let lists = [("/jobs", json!([manual])), ("/deployments", json!([deployed])), ("/environments", json!([]))];
    let mut harness = open("jobs", project(Some(REPORTER)), user(1, "ada"), &lists).await;
    harness.click_on(&name).press("P").expect("This deploys to production.");
    let mut harness = open("jobs", project(Some(GUEST)), user(1, "ada"), &lists).await;
    harness.click_on(&name).press("P").expect(&refusal("Guest", "Developer"));
}

#[tokio::test]
async fn an_unlimited_or_unknown_role_is_offered_everything() {
    let lists = [("/pipelines", json!([pipeline(318, "main", "success")]))];
    let member = project(Some(REPORTER));
    let shared = json!({"shared_with_groups": [{"group_id": 9, "group_name": "b", "group_access_level": OWNER}]});
    let owner = json!({"owner": user(1, "ada")});
    for (project, me) in [
        (member.clone(), json!({"id": 1, "username": "ada", "is_admin": true})),
        (member.clone().with(shared), user(1, "ada")),
        (project(Some(MAINTAINER)).with(owner), user(1, "ada")),
        (project(Some(OWNER)), user(1, "ada")),
        (project(None), user(1, "ada")),
        (fixtures::project(7, "acme/rocket-ui"), user(1, "ada")),
    ] {
        let mut harness = open("pipelines", project, me, &lists).await;
        harness.press("Delete").expect("Delete pipeline");
    }
    let mut harness = open("pipelines", project(Some(MAINTAINER)), user(1, "ada"), &lists).await;
    harness.press("Delete").expect(&refusal("Maintainer", "Owner"));
    let archived = project(Some(OWNER)).with(json!({"archived": true}));
    let mut harness = open("pipelines", archived, user(1, "ada"), &lists).await;
    harness.press("Delete").expect("The project is archived").press("+").expect("The project is archived");
}

#[tokio::test]
async fn authors_and_assignees_change_their_own_merge_requests_and_issues() {
    let own = merge_request(41, "Mine", "opened").with(json!({"author": user(1, "ada")}));
    let assigned = merge_request(40, "Assigned", "opened").with(json!({"assignees": [user(1, "ada")]}));
    let requests = json!([merge_request(42, "Of others", "opened"), own, assigned]);
    let lists = [("/merge_requests", requests), ("/labels", json!([]))];
    let mut harness = open("mrs", project(Some(REPORTER)), user(1, "ada"), &lists).await;
    harness.click_on("Of others").press("L").expect(&refusal("Reporter", "Developer"));
    harness.press("+").expect(&refusal("Reporter", "Developer"));
    for mine in ["Mine", "Assigned"] {
        harness.click_on(mine).press("L").expect("Labels of").press("Esc");
    }
    // A marked one counts wherever the cursor is.
    harness.click_on("Mine").press("Space").click_on("Of others").press("X").expect("Close");
    harness.press("Esc L").expect("this is for one row only");

    let own = issue(41, "Mine", "opened").with(json!({"author": user(1, "ada")}));
    let lists = [("/issues", json!([issue(42, "Of others", "opened"), own])), ("/labels", json!([]))];
    let mut harness = open("issues", project(Some(GUEST)), user(1, "ada"), &lists).await;
    harness.click_on("Of others").press("L").expect(&refusal("Guest", "Planner"));
    harness.click_on("Mine").press("L").expect("Labels of");
    let mut harness = open("issues", project(Some(PLANNER)), user(1, "ada"), &lists).await;
    harness.click_on("Of others").press("L").expect("Labels of");
}

#[tokio::test]
async fn issues_are_deleted_by_planners_and_owners() {
    let lists = [("/issues", json!([issue(42, "Slow", "opened")])), ("/issues/42", issue(42, "Slow", "opened"))];
    for (level, words) in [
        (PLANNER, "Delete the issue #42".to_owned()),
        (REPORTER, refusal("Reporter", "Owner")),
        (MAINTAINER, refusal("Maintainer", "Owner")),
        (OWNER, "Delete the issue #42".to_owned()),
    ] {
        let mut harness = open("issues", project(Some(level)), user(1, "ada"), &lists).await;
        harness.press("Enter").settle().await.press("Delete").expect(&words);
    }
}

#[tokio::test]
async fn merge_requests_are_merged_rebased_and_resolved_by_those_who_may() {
    let single = merge_request(42, "Of others", "opened").with(json!({"detailed_merge_status": "mergeable"}));
    let note = |id: u64, who: u64| {
        fixtures::note(id, "", &format!("Comment {id}")).with(json!({"author": user(who, "someone"),
            "noteable_type": "MergeRequest", "resolvable": true, "resolved": false}))
    };
    let threads = json!([
        {"id": "abc", "individual_note": false, "notes": [note(1, 2)]},
        {"id": "def", "individual_note": false, "notes": [note(3, 1)]},
    ]);
    let lists = [
        ("/merge_requests", json!([single])),
        ("/merge_requests/42", single.clone()),
        ("/merge_requests/42/discussions", threads),
    ];
    let mut harness = open("mrs", project(Some(REPORTER)), user(1, "ada"), &lists).await;
    harness.press("Enter").settle().await;
    for key in ["M", "B", "L", "X"] {
        harness.press(key).expect(&refusal("Reporter", "Developer")).press("j");
    }
    harness.click_on("Comment 1").press("t").expect(&refusal("Reporter", "Developer"));
    harness.reply("PUT /projects/acme%2Frocket-ui/merge_requests/42/discussions/def", json!({}));
    harness.click_on("Comment 3").press("t").settle().await.expect_no("your role here");
    // The server knows better who may merge, and a fork is not the project.
    let knows = single.with(json!({"user": {"can_merge": true}, "source_project_id": 8}));
    let lists = [("/merge_requests", json!([knows])), ("/merge_requests/42", knows.clone())];
    let mut harness = open("mrs", project(Some(REPORTER)), user(1, "ada"), &lists).await;
    harness.press("Enter").settle().await.press("M").expect("Merge !42 into main").press("Esc");
    harness.press("B").expect("Rebase feature/42 onto main?");
}

#[tokio::test]
async fn nobody_comments_or_approves_in_an_archived_project() {
    let single = merge_request(42, "Of others", "opened");
    let by_someone = json!({"author": user(2, "someone"), "noteable_type": "MergeRequest"});
    let lists = [
        ("/merge_requests", json!([single])),
        ("/merge_requests/42", single),
        ("/merge_requests/42/notes", json!([fixtures::note(1, "", "Comment 1").with(by_someone)])),
        ("/merge_requests/42/approvals", json!({"user_has_approved": false, "user_can_approve": true})),
    ];
    let archived = project(Some(OWNER)).with(json!({"archived": true}));
    let mut harness = open("mrs", archived, user(1, "ada"), &lists).await;
    harness.press("Enter").settle().await.click_on("Comment 1");
    for key in ["c", "C", "R", "*", "A"] {
        harness.press(key).expect("The project is archived").pass(60).expect_no("The project is archived");
    }
}

#[tokio::test]
async fn the_other_lists_of_a_project_know_their_roles() {
    let lists = [
        ("/labels?with_counts=true", json!([fixtures::label(1, "bug", "#d9534f")])),
        ("/repository/tags", json!([])),
        ("/pipeline_schedules", json!([])),
        ("/releases", json!([])),
        ("/protected_branches", json!([])),
        ("/members/all", json!([])),
    ];
    for (place, key, level, words) in [
        ("labels", "+", GUEST, refusal("Guest", "Planner")),
        ("labels", "+", PLANNER, "New label in".to_owned()),
        ("tags", "+", REPORTER, refusal("Reporter", "Developer")),
        ("schedules", "+", REPORTER, refusal("Reporter", "Developer")),
        ("releases", "+", REPORTER, refusal("Reporter", "Developer")),
        ("members", "+", DEVELOPER, refusal("Developer", "Maintainer")),
        ("protected_branches", "+", DEVELOPER, refusal("Developer", "Maintainer")),
        ("branches", "+", REPORTER, refusal("Reporter", "Developer")),
        ("branches", "j D", REPORTER, refusal("Reporter", "Developer")),
        ("branches", "j P", DEVELOPER, refusal("Developer", "Maintainer")),
    ] {
        let mut harness = open(place, project(Some(level)), user(1, "ada"), &lists).await;
        harness.press(key).expect(&words);
    }
}
