//! Forks: copies of a project with its branches and tags.

use super::call::{Outcome, WriteCall, ok};
use super::mount::Mount;
use super::projects::check;
use super::records::{Namespace, Project, Visibility, level};
use super::rejection::Rejection;
use super::store::repository_path;
use api::projects::{ForkProject, Project as ProjectView};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

/// The duration for which a fork is reported as being copied.
const COPY_DURATION: SignedDuration = SignedDuration::from_secs(3);

pub fn mount(mount: Mount) -> Mount {
    mount.write::<ForkProject>(fork)
}

pub fn import_status(project: &Project, now: Timestamp) -> &'static str {
    match project.forked_from {
        None => "none",
        Some(_) if now.duration_since(project.created_at) < COPY_DURATION => "started",
        Some(_) => "finished",
    }
}

fn fork(call: &mut WriteCall, input: ForkProject) -> Outcome<ProjectView> {
    // Callers who may not read the code must not learn that there is something to fork.
    let origin = call.project_code(&input.id)?.clone();
    let caller = call.require_user()?.clone();
    let namespace = match input.namespace_path.filter(|path| !path.is_empty() && *path != caller.username) {
        None => Namespace::User(caller.id),
        Some(path) => {
            let groups = call.world.groups.iter().filter(|group| call.rights.can_see_group(call.world, group));
            let group =
                groups.map(|group| group.id).find(|id| call.world.namespace_path(Namespace::Group(*id)) == path);
            let id = group.ok_or_else(|| Rejection::message(404, "404 Target Namespace Not Found"))?;
            if call.rights.group_level(call.world, id) < level::DEVELOPER {
                return Err(Rejection::message(404, "404 Target Namespace Not Found"));
            }
            Namespace::Group(id)
        }
    };
    let given = |text: Option<String>| text.filter(|text| !text.is_empty());
    let visibility = match given(input.visibility) {
        Some(word) => Visibility::from_name(&word).ok_or_else(|| Rejection::no_valid_value("visibility"))?,
        None => origin.visibility,
    };
    let now = call.now;
    let fork = Project {
        id: call.world.projects.next_id(),
        name: given(input.name).unwrap_or_else(|| origin.name.clone()),
        path: given(input.path).unwrap_or_else(|| origin.path.clone()),
        description: given(input.description).or_else(|| origin.description.clone()),
        namespace,
        // A fork must not be more visible than its origin.
        visibility: visibility.min(origin.visibility),
        default_branch: origin.default_branch.clone(),
        tag_list: origin.tag_list.clone(),
        creator: caller.id,
        created_at: now,
        last_activity_at: now,
        forked_from: Some(origin.id),
        request_access_enabled: true,
        printing_merge_requests_link_enabled: true,
        lfs_enabled: origin.lfs_enabled,
        runners_token: super::auth::secret().unwrap_or_default(),
        ..Project::default()
    };
    check(call.world, &fork).map_err(to_conflict)?;
    let git = call.git(&origin)?;
    git.copy_to(&repository_path(&call.repositories, fork.id), fork.default_branch.as_deref())?;
    call.world.projects.add(fork.clone());
    ok(call.show_project(&fork, false, false))
}

/// Turns the error for a taken name or path into a conflict (409), as this endpoint requires.
fn to_conflict(rejection: Rejection) -> Rejection {
    let message = rejection.body.get("message").cloned().unwrap_or_default();
    let words: Vec<String> = message
        .as_object()
        .into_iter()
        .flatten()
        .flat_map(|(field, why)| {
            let name = field.get(..1).unwrap_or_default().to_uppercase() + field.get(1..).unwrap_or_default();
            why.as_array().into_iter().flatten().filter_map(Value::as_str).map(move |why| format!("{name} {why}"))
        })
        .collect();
    if words.iter().any(|word| word.contains("taken")) { Rejection::message(409, json!(words)) } else { rejection }
}
