//! The roles that a project requires for what its members change: the one table of them, which commands refer to with
//! [`Command::needs`](super::command::Command::needs).

use super::command_info::Disabled;
use super::view::View;
use api::Id;
use api::projects::{GetProject, Project};
use api::users::GetCurrentUser;
use domain::roles::{self, ANYONE, DEVELOPER, MAINTAINER, OWNER, PLANNER, REPORTER};

/// A kind of change, and who may make it.
///
/// The rows are those of `doc/user/permissions.md` and `app/policies/` of GitLab 17 for the default roles; where versions
/// differ, the lowest role counts, because what is refused here cannot be tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permission {
    /// The lowest access level.
    least: u64,
    /// The lowest access level if what is changed is the user's own.
    own: u64,
    /// Whether planners may, too, although their level is lower.
    planner: bool,
    /// Whether it is also possible in an archived project.
    archived: bool,
}

/// Comments, reactions and approvals: of everyone who sees the project, as far as is known here.
pub const PARTICIPATE: Permission = Permission::of(ANYONE);
/// Commits, branches, tags, releases and merge requests from branches of the project.
pub const PUSH: Permission = Permission::of(DEVELOPER);
/// Pipelines and jobs. Reporters may be allowed to deploy to a protected environment.
pub const RUN: Permission = Permission::of(DEVELOPER).own(REPORTER);
/// Erasing jobs, and schedules of others.
pub const ADMINISTER_CI: Permission = Permission::of(MAINTAINER).own(DEVELOPER);
pub const DELETE_PIPELINE: Permission = Permission::of(OWNER);
/// Fields and the state of a merge request: also for its author and its assignees.
pub const EDIT_MERGE_REQUEST: Permission = Permission::of(DEVELOPER).own(ANYONE);
/// Fields and the state of an issue, and the time spent on an issue or merge request.
pub const EDIT_ISSUE: Permission = Permission::of(PLANNER).own(ANYONE);
pub const DELETE_ISSUE: Permission = Permission { planner: true, ..Permission::of(OWNER) };
/// Labels and milestones.
pub const PLAN: Permission = Permission::of(PLANNER);
pub const CREATE_SNIPPET: Permission = Permission::of(REPORTER);
pub const EDIT_SNIPPET: Permission = Permission::of(MAINTAINER).own(ANYONE);
/// Settings and rules of protected branches.
pub const SETTINGS: Permission = Permission { archived: true, ..Permission::of(MAINTAINER) };
/// Members: everyone may leave.
pub const MEMBERS: Permission = Permission { own: ANYONE, ..SETTINGS };

impl Permission {
    const fn of(least: u64) -> Permission {
        Permission { least, own: least, planner: false, archived: false }
    }

    const fn own(self, own: u64) -> Permission {
        Permission { own, ..self }
    }

    /// Returns an error if the user is known not to have the permission in a project. An unknown role may have it.
    pub fn check(self, view: &View, project: Option<&Id>, is_own: impl FnOnce() -> bool) -> Result<(), Disabled> {
        let known = project.and_then(|id| view.store.get(&GetProject::new(id)).value);
        let Some(project) = known else { return Ok(()) };
        if project.is_archived() && !self.archived {
            return Err("the project is archived".into());
        }
        let Some(level) = level(view, project).filter(|level| *level < self.least) else { return Ok(()) };
        if self.planner && level == PLANNER || level >= self.own && is_own() {
            return Ok(());
        }
        Err(format!("your role here is {}; this needs {}", roles::role(level), roles::role(self.least)).into())
    }
}

/// Returns the user's access level in a project; `None` if it is not known, or has no limit.
fn level(view: &View, project: &Project) -> Option<u64> {
    let me = view.me()?;
    if me.is_admin == Some(true) {
        return None;
    }
    // In their own namespace, users are maintainers by name, and owners in fact.
    let is_owner = project.owner.as_ref().is_some_and(|owner| owner.id == me.id);
    if is_owner { Some(OWNER) } else { project.access_level() }
}

/// Returns an error unless the user is an administrator. While that is unknown, the server decides.
pub fn administrator(view: &View) -> Result<(), Disabled> {
    if !view.session.signed_in {
        return Err("you are not signed in".into());
    }
    match view.me().and_then(|me| me.is_admin) {
        Some(false) => Err("for administrators only".into()),
        _ => Ok(()),
    }
}

/// Returns whether to request data that only administrators see: not while the current user is loading, and not for
/// other users. A server that does not report the current user gets the request.
pub fn can_load_admin_data(view: &View) -> bool {
    let unknown = {
        let me = view.store.get(&GetCurrentUser::default());
        me.value.is_none() && me.error.is_none()
    };
    !unknown && administrator(view).is_ok()
}
