//! The panes of the interface, one file or folder each. [`PANES`] is their only registry.

pub mod activity;
pub mod artifacts;
pub mod asset_links;
pub mod branch;
pub mod branches;
pub mod ci_config;
pub mod commit;
pub mod commits;
pub mod compare;
pub mod deployments;
pub mod environments;
pub mod files;
pub mod groups;
pub mod home;
pub mod hooks;
pub mod issue;
pub mod issues;
pub mod job;
pub mod jobs;
pub mod key;
pub mod labels;
pub mod license;
pub mod members;
pub mod milestones;
pub mod mr;
pub mod mrs;
pub mod notifications;
pub mod overview;
pub mod pipelines;
pub mod projects;
pub mod protected_branches;
pub mod releases;
pub mod runners;
pub mod schedules;
pub mod search;
pub mod snippets;
pub mod staged_changes;
pub mod tags;
pub mod team;
pub mod test_report;
pub mod todos;
pub mod traces;
pub mod upload;
pub mod user;
pub mod users;
pub mod variables;

use crate::api::events::ListEvents;
use crate::app::place_info::{Above, Needs, Subject};
use crate::app::registry::Entry;
use crate::parts::list::pane::entry as list;
use crate::parts::text::preview;

/// All panes. The first one is the root of the others.
pub const PANES: &[Entry] = &[
    list::<projects::ProjectSource>("Projects")
        .known_as(&["projects", "repositories", "repos"])
        .at(&["", "projects", "dashboard", "dashboard/projects", "explore", "explore/projects"])
        .reached_by("go.projects", &["g p"], "Go to projects"),
    list::<mrs::MergeRequestSource>("Merge requests")
        .known_as(&["merge requests", "mr", "pull requests", "pr", "reviews"])
        .at(&[
            "merge_requests",
            "dashboard/merge_requests",
            "groups/{group:rest}/-/merge_requests/..",
            "groups/{group:rest}/-/merge_requests/..?state={tab}",
            "{project}/-/merge_requests/..",
            "{project}/-/merge_requests/..?state={tab}",
        ])
        .lists("merge requests")
        .reached_by("go.mrs", &["g m"], "Go to merge requests"),
    Entry::of::<mr::Mr>("Merge request")
        .needing(Needs::Item)
        .known_as(&["merge request", "pull request", "pr", "review"])
        .shows(Subject::MergeRequest)
        .previewed(preview::merge_request)
        .signed('!')
        .below(Above::Place("mrs"))
        .at(&[
            "{project}/-/merge_requests/{item:number}/..",
            "{project}/-/merge_requests/{item:number}/..#note_{note:number}",
            "{project}/-/merge_requests/{item:number}/diffs/.. => changes",
            "{project}/-/merge_requests/{item:number}/commits/.. => commits",
            "{project}/-/merge_requests/{item:number}/pipelines/.. => pipelines",
        ]),
    Entry::of::<files::Files>("Files")
        .needing(Needs::Project)
        .known_as(&["repository", "files", "source code", "tree"])
        .shows(Subject::Project)
        .previewed(preview::file)
        .below(Above::Folder)
        .at(&[
            "{project}",
            "{project}/-/tree|blob",
            "{project}/-/tree|blob|raw|blame/{ref}/{path:rest}",
            "{project}/-/tree|blob|raw|blame/{ref}/{path:rest}#L{line}",
        ])
        .reached_by("go.files", &["g f"], "Go to files"),
    Entry::of::<upload::UploadPane>("Uploaded file")
        .needing(Needs::Item)
        .known_as(&["upload", "attachment"])
        .at(&["{project}/uploads/{item:rest}"]),
    Entry::of::<overview::Overview>("Project overview")
        .needing(Needs::Project)
        .known_as(&["project overview", "project information", "readme", "about"])
        .lists("overview"),
    list::<members::MemberSource>("Members")
        .needing(Needs::Project)
        .known_as(&["members", "manage", "people", "roles", "access"])
        .at(&["{project}/-/project_members/..", "groups/{group:rest}/-/group_members/.."])
        .lists("members")
        .reached_by("go.members", &["g a"], "Go to members"),
    list::<team::TeamSource>("Team")
        .needing(Needs::Project)
        .known_as(&["team", "people", "reviewers", "workload", "contribution analytics", "red pipelines"])
        .at(&["groups/{group:rest}/-/contribution_analytics"])
        .lists("team"),
    list::<branches::BranchSource>("Branches of a project")
        .needing(Needs::Project)
        .known_as(&["branches"])
        .at(&[
            "{project}/-/branches/..",
            "{project}/-/merge_requests/new?merge_request[source_branch]={ref} => new merge request",
        ])
        .lists("branches")
        .reached_by("go.branches", &["g b"], "Go to branches"),
    Entry::of::<branch::Branch>("This branch")
        .known_as(&["this branch", "current branch", "merge request of branch", "push"])
        .shows(Subject::Branch)
        .reached_by("go.branch", &["g ."], "Go to current branch"),
    list::<protected_branches::ProtectionSource>("Protected branches")
        .needing(Needs::Project)
        .known_as(&["protected branches", "branch rules", "repository settings"])
        .at(&["{project}/-/settings/repository", "{project}/-/protected_branches/.."])
        .lists("protected_branches"),
    list::<tags::TagSource>("Tags of a project")
        .needing(Needs::Project)
        .known_as(&["tags", "releases"])
        .at(&["{project}/-/tags/..", "{project}/-/tags/{ref:rest}", "{project}/-/tags/new"])
        .lists("tags")
        .reached_by("go.tags", &["g t"], "Go to tags"),
    list::<releases::ReleaseSource>("Releases")
        .needing(Needs::Project)
        .known_as(&["releases", "changelog", "downloads", "deploy"])
        .at(&["{project}/-/releases/..", "{project}/-/releases/{item}", "{project}/-/releases/new"])
        .lists("releases"),
    list::<asset_links::AssetLinkSource>("Asset links")
        .needing(Needs::Item)
        .known_as(&["asset links", "release assets", "downloads"])
        .below(Above::Place("releases"))
        .at(&["{project}/-/releases/{item}/edit"]),
    list::<commits::CommitSource>("Commits of a ref or a path")
        .needing(Needs::Project)
        .known_as(&["commits", "history", "log"])
        .below(Above::OwnList)
        .at(&["{project}/-/commits/{ref}/{path:rest}", "{project}/-/commits", "{project}/-/network/{ref:rest}"])
        .lists("commits")
        .reached_by("go.commits", &["g c"], "Go to commits"),
    Entry::of::<commit::CommitPane>("Commit")
        .needing(Needs::Item)
        .known_as(&["commit", "show"])
        .shows(Subject::Commit)
        .below(Above::Place("commits"))
        .at(&[
            "{project}/-/commit/{item}/..",
            "{project}/-/merge_requests/{item:number}/diffs/..?commit_id={item:name}",
        ]),
    Entry::of::<compare::ComparePane>("Compare")
        .needing(Needs::Project)
        .known_as(&["compare revisions", "diff"])
        .shows(Subject::Comparison)
        .at(&["{project}/-/compare/{item:rest}"]),
    list::<jobs::JobSource>("Jobs by pipeline")
        .needing(Needs::Project)
        .known_as(&["jobs", "builds", "ci", "ci/cd"])
        .below(Above::OwnList)
        .at(&["{project}/-/jobs|builds/..", "{project}/-/pipelines/{item:number}/.."])
        .lists("jobs")
        .reached_by("go.jobs", &["g j"], "Go to jobs"),
    list::<pipelines::PipelineSource>("Pipelines")
        .needing(Needs::Project)
        .known_as(&["pipelines", "builds", "ci", "ci/cd"])
        .at(&["{project}/-/pipelines/..", "{project}/-/pipelines/..?scope={tab}"])
        .lists("pipelines")
        .reached_by("go.pipelines", &["g l"], "Go to pipelines"),
    Entry::of::<ci_config::CiConfig>("CI configuration")
        .needing(Needs::Project)
        .known_as(&["ci configuration", "ci lint", "pipeline editor", "gitlab-ci.yml", "yaml"])
        .at(&["{project}/-/ci/editor", "{project}/-/ci/lint"])
        .lists("ci"),
    Entry::of::<test_report::TestReportPane>("Test report of a pipeline")
        .needing(Needs::Item)
        .known_as(&["test report", "tests", "junit"])
        .below(Above::SameItem("jobs"))
        .at(&["{project}/-/pipelines/{item:number}/test_report"]),
    Entry::of::<job::JobTrace>("Job")
        .needing(Needs::Item)
        .known_as(&["job", "job log", "log", "trace"])
        .shows(Subject::Job)
        .below(Above::Place("jobs"))
        .at(&["{project}/-/jobs|builds/{item:number}/..", "{project}/-/jobs|builds/{item:number}/..#L{line}"]),
    Entry::of::<traces::Traces>("Job traces side by side")
        .needing(Needs::Item)
        .known_as(&["job logs", "logs", "traces"])
        .below(Above::Place("jobs")),
    Entry::of::<artifacts::Artifacts>("Artifacts")
        .needing(Needs::Item)
        .known_as(&["artifacts", "test report"])
        .below(Above::SameItem("job"))
        .at(&[
            "{project}/-/jobs|builds/{item:number}/artifacts/..",
            "{project}/-/jobs|builds/{item:number}/artifacts/browse|file|raw|download/{path:rest}",
            "{project}/-/jobs|builds/artifacts/{ref:rest}/browse|file|raw|download/{path:rest}?job={item}",
        ]),
    list::<runners::RunnerSource>("Runners")
        .known_as(&["runners", "ci"])
        .at(&["admin/runners => all", "{project}/-/runners/..", "{project}/-/runners/{item:number}/.."])
        .reached_by("go.runners", &["g r"], "Go to runners"),
    list::<schedules::ScheduleSource>("Pipeline schedules")
        .needing(Needs::Project)
        .known_as(&["pipeline schedules", "cron", "nightly", "ci", "ci/cd"])
        .at(&["{project}/-/pipeline_schedules/..", "{project}/-/pipeline_schedules/{item:number}/.."])
        .lists("schedules"),
    list::<variables::VariableSource>("CI/CD variables")
        .needing(Needs::Project)
        .known_as(&["ci/cd variables", "secrets", "environment variables", "ci", "settings"])
        .at(&[
            "{project}/-/variables",
            "groups/{group:rest}/-/variables",
            "admin/variables",
            "{project}/-/settings/ci_cd",
            "groups/{group:rest}/-/settings/ci_cd",
            "admin/application_settings/ci_cd",
        ])
        .lists("variables"),
    list::<deployments::DeploymentSource>("Deployments by environment")
        .needing(Needs::Project)
        .known_as(&["deployments", "operate"])
        .at(&["{project}/-/deployments/..", "{project}/-/deployments/{item:number}/.."]),
    list::<environments::EnvironmentSource>("Environments")
        .needing(Needs::Project)
        .known_as(&["environments", "deployments", "operate"])
        .at(&["{project}/-/environments/..", "{project}/-/environments/{item:number}/.."])
        .lists("environments"),
    Entry::of::<home::Home>("Home")
        .known_as(&["home", "dashboard", "your work", "inbox"])
        .at(&["home"])
        .shows(Subject::Home)
        .reached_by("go.home", &["g h"], "Go home"),
    list::<todos::TodoSource>("To-do list")
        .known_as(&["to-do list", "to-dos", "todo", "todos", "tasks", "inbox"])
        .at(&["todos", "dashboard/todos"])
        .reached_by("go.todos", &["g w"], "Go to to-dos"),
    list::<search::SearchSource>("Search")
        .needing(Needs::Text)
        .shows(Subject::Search)
        .known_as(&["search", "grep", "find"])
        .at(&[
            "search",
            "search?search={item}&scope={tab}&group_id={group}&project_id={project:number}",
            "search?project_id={project:number}&scope={tab}",
            "search?group_id={group}&scope={tab}",
        ])
        .reached_by("go.search", &["g s"], "Go to search"),
    Entry::of::<staged_changes::StagedChanges>("Staged changes")
        .needing(Needs::Project)
        .known_as(&["staged changes", "web ide", "index", "commit changes"])
        .reached_by("go.stage", &["g i"], "Go to staged changes"),
    list::<snippets::SnippetSource>("Snippets of a project")
        .needing(Needs::Project)
        .known_as(&["snippets", "gists"])
        .shows(Subject::Snippet)
        .signed('$')
        .below(Above::OwnList)
        .at(&["{project}/-/snippets/..", "{project}/-/snippets/{item:number}/.."]),
    list::<groups::GroupSource>("Groups and projects")
        .known_as(&["groups", "subgroups", "namespaces"])
        .shows(Subject::Group)
        .below(Above::OwnList)
        .at(&[
            "dashboard/groups",
            "explore/groups",
            "{group:name}",
            "groups/{group:rest}",
            "groups/{group:rest}/-/..",
            "admin/groups/{group:rest}",
            "admin/groups/{group:rest}/-/..",
        ]),
    list::<activity::EventSource>("Activity")
        .known_as(&["activity", "events", "feed", "history"])
        .at(&["activity", "dashboard/activity", "{project}/activity", "users/{item:name}/activity"])
        .lists("activity")
        .showing::<ListEvents>()
        .reached_by("go.activity", &["g y"], "Go to activity"),
    list::<users::UserSource>("Users of the server")
        .known_as(&["users", "members", "people", "admin"])
        .at(&["users", "admin/users"]),
    Entry::of::<user::UserPane>("User")
        .needing(Needs::Item)
        .known_as(&["user", "profile"])
        .shows(Subject::User)
        .below(Above::Place("users"))
        .at(&[
            "@{item:name}/..",
            "@{item:name}/keys => ssh",
            "users/{item:name}/..",
            "users/{item:name}/keys => ssh",
            "admin/users/{item:name}/..",
            "admin/users/{item:name}/keys => ssh",
        ]),
    Entry::of::<user::UserPane>("Your profile and keys")
        .named("me")
        .known_as(&["me", "user settings", "preferences", "edit profile", "ssh keys", "gpg keys"])
        .at(&[
            "me",
            "profile",
            "user_settings/profile",
            "profile/keys => ssh",
            "user_settings/ssh_keys => ssh",
            "profile|user_settings/gpg_keys => gpg",
        ]),
    Entry::of::<key::KeyLookup>("SSH key by ID")
        .known_as(&["ssh keys", "fingerprint", "admin"])
        .below(Above::Place("users"))
        .at(&["keys/{item:number}", "admin/keys/{item:number}"]),
    list::<hooks::HookSource>("System hooks")
        .known_as(&["system hooks", "webhooks", "admin"])
        .at(&["hooks", "admin/hooks|system_hooks"]),
    Entry::of::<license::LicensePane>("License")
        .known_as(&["license", "licence", "subscription", "admin"])
        .at(&["license", "admin/license|subscription"]),
    list::<notifications::NotificationSource>("Notification settings")
        .known_as(&["notification settings", "mail", "email"])
        .at(&["notifications", "profile/notifications"]),
    list::<issues::IssueSource>("Issues")
        .known_as(&["issues", "tickets", "bugs", "work items", "plan"])
        .at(&[
            "issues",
            "dashboard/issues",
            "groups/{group:rest}/-/issues/..",
            "groups/{group:rest}/-/issues/..?state={tab}",
            "{project}/-/issues|work_items/..",
            "{project}/-/issues|work_items/..?state={tab}",
        ])
        .lists("issues")
        .reached_by("go.issues", &["g u"], "Go to issues"),
    list::<labels::LabelSource>("Labels")
        .needing(Needs::Project)
        .known_as(&["labels", "tags", "plan", "manage"])
        .at(&["groups/{group:rest}/-/labels/..", "{project}/-/labels/.."])
        .lists("labels"),
    list::<milestones::MilestoneSource>("Milestones")
        .needing(Needs::Project)
        .known_as(&["milestones", "releases", "roadmap", "plan"])
        .at(&["groups/{group:rest}/-/milestones/..", "{project}/-/milestones/.."])
        .lists("milestones"),
    Entry::of::<issue::IssuePane>("Issue")
        .known_as(&["issue", "ticket", "bug"])
        .shows(Subject::Issue)
        .previewed(preview::issue)
        .signed('#')
        .below(Above::Place("issues"))
        .at(&[
            "{project}/-/issues|work_items/{item:number}/..",
            "{project}/-/issues|work_items/{item:number}/..#note_{note:number}",
        ]),
    Entry::of::<issue::IssuePane>("Epic")
        .named("epic")
        .known_as(&["epic"])
        .shows(Subject::Epic)
        .signed_in_group('&')
        .at(&[
            "groups/{group:rest}/-/epics/{item:number}/..",
            "groups/{group:rest}/-/epics/{item:number}/..#note_{note:number}",
        ]),
];
