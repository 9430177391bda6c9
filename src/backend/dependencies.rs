//! Dependencies of merge requests.

use super::call::{Answer, Call, Outcome, ReadCall, WriteCall, ok};
use super::mount::Mount;
use super::records::{self, MergeRequest, State, level};
use super::rejection::Rejection;
use super::world::World;
use api::dependencies::*;
use api::{Id, NoContent};
use std::ops::Deref;

pub fn mount(mount: Mount) -> Mount {
    mount
        .read_signed_in::<ListBlockingMergeRequests>(|call, e| {
            let mr = call.merge_request(&e.id, e.merge_request_iid)?.1.id;
            list(call, |dependency| dependency.blocked == mr)
        })
        .read_signed_in::<ListBlockedMergeRequests>(|call, e| {
            let mr = call.merge_request(&e.id, e.merge_request_iid)?.1.id;
            list(call, |dependency| dependency.blocking == mr)
        })
        .read_signed_in::<GetDependency>(get)
        .write::<AddDependency>(add)
        .write::<RemoveDependency>(remove)
}

api::endpoints! {
    unspecified section "Merge request dependencies";

    /// Gets a dependency of a merge request.
    GET "/projects/{id}/merge_requests/{merge_request_iid}/blocks/{block_id}" => Dependency;
    struct GetDependency { id: Id, merge_request_iid: u64, block_id: u64 }
}

fn get(call: &ReadCall, input: GetDependency) -> Outcome<Dependency> {
    let mr = call.merge_request(&input.id, input.merge_request_iid)?.1.id;
    let found = call.world.dependencies.get(input.block_id).filter(|dependency| dependency.blocked == mr);
    ok(call.show_dependency(found.ok_or_else(Rejection::record_not_found)?))
}

impl<W: Deref<Target = World>> Call<W> {
    /// Returns whether a merge request must wait for another one, which is not merged.
    pub fn is_blocked(&self, mr: &MergeRequest) -> bool {
        let waits = |dependency: &records::Dependency| {
            let blocking = self.world.merge_requests.get(dependency.blocking);
            dependency.blocked == mr.id && blocking.is_some_and(|blocking| blocking.state != State::Merged)
        };
        self.world.dependencies.iter().any(waits)
    }

    fn show_dependency(&self, dependency: &records::Dependency) -> Dependency {
        let show = |id: u64| {
            let mr = self.world.merge_requests.get(id)?;
            let project = self.world.projects.get(mr.target_project)?;
            let is_visible =
                self.rights.can_see_project(&self.world, project) && self.rights.can_read_code(&self.world, project);
            is_visible.then(|| Box::new(self.show_merge_request(mr, self.git(project).ok().as_ref())))
        };
        let blocked = self.world.merge_requests.get(dependency.blocked);
        Dependency {
            id: dependency.id,
            project_id: blocked.map_or(0, |mr| mr.target_project),
            blocking_merge_request: show(dependency.blocking),
            blocked_merge_request: show(dependency.blocked),
        }
    }
}

fn list(call: &ReadCall, of: impl Fn(&records::Dependency) -> bool) -> Outcome<Vec<Dependency>> {
    let rows: Vec<&records::Dependency> = call.world.dependencies.iter().filter(|row| of(row)).collect();
    call.page(rows, |row| call.show_dependency(row))
}

/// Returns the ID of a merge request that the caller may change.
fn to_change(call: &WriteCall, id: &Id, iid: u64) -> Result<u64, Rejection> {
    let (project, mr, _) = call.merge_request(id, iid)?;
    let user = call.require_user()?.id;
    let may = mr.author == user || call.rights.level(call.world, project) >= level::DEVELOPER;
    if may { Ok(mr.id) } else { Err(Rejection::message(403, "Lacking permissions to update the merge request")) }
}

fn add(call: &mut WriteCall, input: AddDependency) -> Outcome<Dependency> {
    let blocked = to_change(call, &input.id, input.merge_request_iid)?;
    let names = "blocking_merge_request_id, blocking_merge_request_iid";
    let mistake = |why: &str| Err(Rejection::error(400, format!("{names} are {why}")));
    let blocking = match (input.blocking_merge_request_id, input.blocking_merge_request_iid) {
        (Some(id), None) => call.world.merge_requests.get(id),
        (None, Some(iid)) => {
            let project = call.project(input.blocking_project_id.as_ref().unwrap_or(&input.id))?.id;
            call.world.merge_requests.iter().find(|mr| (mr.target_project, mr.iid) == (project, iid))
        }
        (Some(_), Some(_)) => return mistake("mutually exclusive"),
        (None, None) => return mistake("missing, exactly one parameter must be provided"),
    };
    let blocking = blocking.filter(|mr| {
        let project = call.world.projects.get(mr.target_project);
        project.is_some_and(|project| call.rights.can_see_project(call.world, project))
    });
    let blocking =
        blocking.map(|mr| mr.id).ok_or_else(|| Rejection::message(404, "Blocking merge request not found"))?;
    if blocking == blocked {
        return Err(Rejection::bad_request("Blocking merge request cannot be the same as the blocked one"));
    }
    if call.world.dependencies.iter().any(|known| (known.blocking, known.blocked) == (blocking, blocked)) {
        return Err(Rejection::conflict("Block already exists"));
    }
    let id = call.world.dependencies.add(records::Dependency { blocking, blocked, ..Default::default() });
    let made = call.world.dependencies.get(id).ok_or_else(Rejection::record_not_found)?;
    ok(call.show_dependency(made))
}

fn remove(call: &mut WriteCall, input: RemoveDependency) -> Outcome<NoContent> {
    let blocked = to_change(call, &input.id, input.merge_request_iid)?;
    let found = call.world.dependencies.get(input.block_id).filter(|known| known.blocked == blocked);
    let id = found.map(|known| known.id).ok_or_else(Rejection::record_not_found)?;
    call.world.dependencies.remove(id);
    Ok(Answer::new(NoContent))
}
