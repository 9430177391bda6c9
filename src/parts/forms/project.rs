//! Forms for projects: creating one for oneself or another user, forking, and the settings.

use super::{check_path, visibility};
use crate::api::projects::{CreateProject, CreateUserProject, ForkProject, GetProject, Project, UpdateProject};
use crate::api::{Endpoint, Id};
use crate::app::action::Action;
use crate::app::complete::Complete;
use crate::app::overlay::form::{Form, Widget};
use crate::app::place::Place;
use crate::app::view::View;

/// The fields that users fill in first.
const FIRST_FIELDS: &[&str] =
    &["user_id", "name", "path", "namespace_id", "visibility", "description", "default_branch", "tag_list", "avatar"];

/// Inputs with shorter labels and help texts.
const FIELD_TEXTS: &[(&str, &str, &str)] = &[
    ("issues_enabled", "issues", ""),
    ("merge_requests_enabled", "merge requests", ""),
    ("jobs_enabled", "jobs", "Runs CI/CD pipelines."),
    ("wiki_enabled", "wiki", ""),
    ("snippets_enabled", "snippets", ""),
    ("container_registry_enabled", "container registry", ""),
    ("shared_runners_enabled", "shared runners", "Jobs can run on the server's shared runners."),
    ("lfs_enabled", "large files (LFS)", ""),
    ("public_jobs", "public jobs", "Everyone who can see the project sees traces and artifacts."),
    ("request_access_enabled", "access by request", "Others can request access."),
    (
        "resolve_outdated_diff_discussions",
        "auto-resolve outdated threads",
        "Threads are resolved when their lines change.",
    ),
    ("only_allow_merge_if_pipeline_succeeds", "pipelines must succeed", "Merging requires a successful pipeline."),
    (
        "only_allow_merge_if_all_discussions_are_resolved",
        "threads must be resolved",
        "Merging requires all threads to be resolved.",
    ),
    ("printing_merge_request_link_enabled", "show MR link on push", "A push prints a link to create a merge request."),
    ("approvals_before_merge", "approvals", "Approvals required before merging."),
    ("tag_list", "topics", ""),
    ("avatar", "avatar", ""),
    ("import_url", "import from", "URL of a repository to import."),
    ("repository_storage", "storage", "Repository storage; for administrators."),
    ("ci_config_path", "CI/CD configuration file", ""),
    ("namespace_id", "group", ""),
    ("user_id", "user", "The owner."),
];

/// Returns a form with the fields that all of these forms have in common.
fn settings<E: Endpoint>(title: String, what: &str, key: &str) -> Form {
    let form = Form::of::<E>(title, what, key)
        .first(FIRST_FIELDS)
        .field("path", |field| _ = field.default("derived from the name").check(check_path))
        .field("description", |field| _ = field.widget(Widget::Long))
        .field("default_branch", |field| _ = field.default("the server's"))
        .field("ci_config_path", |field| _ = field.default(".gitlab-ci.yml"));
    let named = FIELD_TEXTS
        .iter()
        .fold(form, |form, (name, label, help)| form.field(name, |field| _ = field.label(label).help(help)));
    visibility(named)
}

fn open_it(created: &Project) -> Option<Action> {
    Some(Action::GoToPlace(Place::new("files").project(created.path_with_namespace.as_str())))
}

/// Returns the form for a new project, in `group` if it is given.
pub fn create(group: Option<&Id>) -> Form {
    settings::<CreateProject>("New project".into(), "create the project", "new project")
        .field("name", |field| _ = field.required(true))
        .field("namespace_id", |field| {
            field.widget(Widget::Named(Complete::Groups)).default("none: your own namespace");
            field.text(group.map_or("", Id::as_str));
        })
        .then(open_it)
}

/// Returns the form for a fork, whose overview is then opened: it shows the progress of the copy.
pub fn fork(id: &Id) -> Form {
    let form = Form::of::<ForkProject>(format!("Fork {id}"), "fork the project", format!("fork {id}"))
        .fixed("id", id)
        .first(&["namespace_path", "name", "path", "visibility", "description"])
        .field("namespace_path", |field| {
            field.label("namespace").widget(Widget::Line(Complete::Groups)).default("your own").help("");
        })
        .field("name", |field| _ = field.default("that of the project"))
        .field("path", |field| _ = field.default("that of the project").check(check_path))
        .field("description", |field| _ = field.widget(Widget::Long));
    visibility(form).then(|created: &Project| {
        Some(Action::GoToPlace(Place::new("overview").project(created.path_with_namespace.as_str())))
    })
}

/// Returns the form for a new project of another user, for administrators.
pub fn create_for_user() -> Form {
    settings::<CreateUserProject>("New project of a user".into(), "create the project", "new project of a user")
        .field("user_id", |field| _ = field.widget(Widget::Named(Complete::Users(None))))
        .field("namespace_id", |field| {
            field.widget(Widget::Named(Complete::Groups)).default("none: the user's namespace");
        })
        .then(open_it)
}

/// Returns the form for the settings of a project.
pub fn edit(id: &Id, view: &View) -> Form {
    settings::<UpdateProject>(format!("Settings of {id}"), "change the project", &format!("project {id}"))
        .fixed("id", id)
        .without(&["import_url"])
        .field("default_branch", |field| _ = field.widget(Widget::Line(Complete::Branches(id.clone()))))
        .of_current(view, GetProject::new(id), |project| {
            let link = project.printing_merge_requests_link_enabled.or(project.printing_merge_request_link_enabled);
            vec![(
                "printing_merge_request_link_enabled",
                link.map_or("", |on| if on { "yes" } else { "no" }).to_owned(),
            )]
        })
}
