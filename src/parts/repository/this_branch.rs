//! The branch that is checked out in the clone: its merge request, and how it differs from the branch on the server.

use crate::api::branches::GetBranch;
use crate::api::host::without_password;
use crate::api::merge_requests::{ListProjectMergeRequests, MergeRequest};
use crate::api::projects::{GetProject, Project};
use crate::api::{Endpoint, Id};
use crate::app::action::Action;
use crate::app::clone::{CloneFolder, CloneHead, CloneRemote, Push, PushAddress};
use crate::app::command_info::Disabled;
use crate::app::overlay::confirm::Confirm;
use crate::app::overlay::form::Form;
use crate::app::view::View;
use crate::parts::{forms, project};
use crate::store::{Load, Rows, Want};
use crate::ui::text::{count_noun, sanitize};

/// The maximum number of projects that are asked for merge requests of the branch.
const MAX_PROJECTS: usize = 4;

/// The branch that is checked out in the clone.
#[derive(Clone)]
pub struct ThisBranch<'a> {
    /// The name in the clone.
    pub name: &'a str,
    /// The project that it is pushed to.
    pub project: Id,
    pub head: &'a CloneHead,
    clone: &'a CloneFolder,
    remote: &'a CloneRemote,
}

/// The relation of the branch to the one on the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// Loading, or the server does not tell.
    Unknown,
    /// The server does not have the branch.
    NotOnServer,
    /// Both have the same commit.
    Same,
    /// The numbers of commits that only the clone and only the server have.
    Differs { ahead: usize, behind: usize },
    /// The server has a commit that was not fetched.
    NewerOnServer { ahead: usize },
}

impl Sync {
    /// Describes the relation; empty if there is nothing to say.
    pub fn words(self) -> String {
        let ahead = |count: usize| format!("{} not pushed", count_noun(count as u64, "commit"));
        match self {
            Sync::Unknown | Sync::Same => String::new(),
            Sync::NotOnServer => "not on the server".to_owned(),
            Sync::Differs { ahead: count, behind: 0 } => ahead(count),
            Sync::Differs { ahead: 0, behind } => format!("{} to pull", count_noun(behind as u64, "commit")),
            Sync::Differs { ahead: count, behind } => format!("{}, {behind} to pull", ahead(count)),
            Sync::NewerOnServer { ahead: 0 } => "newer commits on the server".to_owned(),
            Sync::NewerOnServer { ahead: count } => format!("{}, newer commits on the server", ahead(count)),
        }
    }
}

/// Returns the branch that is checked out.
///
/// # Errors
/// Returns the reason why there is none, and what to do.
pub fn current<'a>(view: &View<'a>) -> Result<ThisBranch<'a>, Disabled> {
    let clone = view.session.clone.as_ref();
    let clone = clone.ok_or("not in a clone of a project on this server")?;
    let head = match &clone.head {
        None => return Err("the clone is being read".into()),
        Some(Err(why)) => return Err(format!("the clone cannot be read: {}", sanitize(why)).into()),
        Some(Ok(head)) => head,
    };
    let Some(name) = head.branch.as_deref() else {
        let at = head.commit.as_deref().map(|sha| format!(" at {}", project::short_sha(sha))).unwrap_or_default();
        return Err(format!("no branch is checked out (HEAD is detached{at}); git switch checks one out").into());
    };
    if head.commit.is_none() {
        return Err(format!("the branch {} has no commits yet", sanitize(name)).into());
    }
    let remote = clone.remotes.iter().find(|remote| remote.name == head.remote);
    let remote = remote.ok_or("no remote of the clone is on this server")?;
    let project = match &remote.pushed_to {
        Some(Ok(other)) => &other.project,
        _ => &remote.project,
    };
    Ok(ThisBranch { name, project: project.as_str().into(), head, clone, remote })
}

impl<'a> ThisBranch<'a> {
    fn server_branch(&self) -> GetBranch {
        GetBranch { id: self.project.clone(), branch: self.head.remote_branch.clone() }
    }

    /// Returns the project that the merge request goes to if this one is a fork.
    fn upstream(&self, view: &View<'a>) -> Option<&'a str> {
        let parent = project::project(view, &self.project)?.forked_from_project.as_ref()?;
        Some(parent.path_with_namespace.as_str()).filter(|path| !path.is_empty())
    }

    /// Lists the projects that may have the merge request: the one with the branch, and those that it was forked from.
    fn projects(&self, view: &View<'a>) -> Vec<Id> {
        let others = self.clone.remotes.iter().map(|remote| remote.project.as_str());
        let mut all = vec![self.project.clone()];
        for other in self.upstream(view).into_iter().chain(others).map(Id::from) {
            if !all.contains(&other) && all.len() < MAX_PROJECTS {
                all.push(other);
            }
        }
        all
    }

    fn list(&self, project: Id) -> ListProjectMergeRequests {
        ListProjectMergeRequests {
            id: project,
            source_branch: Some(self.head.remote_branch.clone()),
            state: Some("all".into()),
            ..ListProjectMergeRequests::default()
        }
    }

    /// Returns the merge requests of branches with this name.
    pub fn requests(&self, view: &View<'a>) -> Rows<'a, MergeRequest> {
        Rows::chain(self.projects(view).into_iter().map(|id| view.store.list(&self.list(id))).collect())
    }

    /// Returns the merge request of the branch.
    pub fn request(&self, view: &View<'a>) -> Option<&'a MergeRequest> {
        let source = project::project(view, &self.project).map(|project| project.id);
        MergeRequest::of_branch(self.requests(view).iter(), &self.head.remote_branch, source)
    }

    /// Returns whether the replies that decide whether there is a merge request have arrived.
    pub fn is_loaded(&self, view: &View<'a>) -> bool {
        let answered = |id| {
            let rows = view.store.list(&self.list(id));
            rows.is_loaded || rows.error.is_some()
        };
        let own = view.store.get(&GetProject::new(&self.project));
        (own.value.is_some() || own.error.is_some()) && self.projects(view).into_iter().all(answered)
    }

    /// Returns whether all replies are of now, not from an earlier session.
    pub fn is_current(&self, view: &View<'a>) -> bool {
        self.wants(view).iter().all(|want| match want {
            Want::Load(load) => view.store.is_fresh(&load.request) || view.store.error_of(&load.request).is_some(),
            _ => true,
        })
    }

    /// Returns the relation of the branch to the one on the server.
    pub fn sync(&self, view: &View<'a>) -> Sync {
        let head = self.head;
        if project::is_missing(view, &self.server_branch()) {
            return Sync::NotOnServer;
        }
        let Some(commit) = view.store.get(&self.server_branch()).value.and_then(|branch| branch.commit.as_ref()) else {
            return Sync::Unknown;
        };
        match Some(&commit.id) {
            same if same == head.commit.as_ref() => Sync::Same,
            known if known == head.tracked.as_ref() => Sync::Differs { ahead: head.ahead, behind: head.behind },
            _ => Sync::NewerOnServer { ahead: head.ahead },
        }
    }

    /// Returns whether the branch is the default branch, which no merge request is made from.
    pub fn is_default(&self, view: &View<'a>) -> bool {
        self.upstream(view).is_none()
            && project::default_branch(view, &self.project) == Some(self.head.remote_branch.as_str())
    }

    /// Returns whether there is something to push; the error is the reason why not.
    pub fn can_push(&self, view: &View<'a>) -> Result<(), Disabled> {
        let sync = self.sync(view);
        if let (Some(Err(why)), true) = (&self.remote.pushed_to, sync != Sync::Same) {
            return Err(format!("{}; push with git if that is right", sanitize(why)).into());
        }
        view.accepts_changes()?;
        match sync {
            Sync::NotOnServer | Sync::Differs { behind: 0, .. } => Ok(()),
            Sync::Unknown => Err("the branch on the server has not loaded yet".into()),
            Sync::Same => Err("the server has all commits of the branch".into()),
            Sync::Differs { ahead: 0, .. } | Sync::NewerOnServer { ahead: 0 } => {
                Err("the server has newer commits; git pull brings them".into())
            }
            Sync::Differs { .. } | Sync::NewerOnServer { .. } => {
                Err("the server has other commits; pull or rebase with git first".into())
            }
        }
    }

    /// Returns the question whether to push the branch. Enter does not push into a branch of another name, or into another
    /// project than the one that the clone is fetched from.
    pub fn push(&self) -> Action {
        let (head, remote) = (self.head, self.remote);
        let (url, is_same_project) = match &remote.pushed_to {
            Some(Ok(PushAddress { url, project })) => (url, *project == remote.project),
            _ => (&remote.url, true),
        };
        let push = Push {
            folder: self.clone.folder.clone(),
            remote: head.remote.clone(),
            url: url.clone(),
            branch: self.name.to_owned(),
            remote_branch: head.remote_branch.clone(),
            trusted: None,
        };
        let is_same_name = head.remote_branch == self.name;
        let to = if is_same_name { "to".to_owned() } else { format!("into {} of", sanitize(&head.remote_branch)) };
        let shown = |url: &str| sanitize(&without_password(url)).into_owned();
        let (commits, to_url) = (count_noun(head.ahead as u64, "commit"), shown(url));
        let mut question = format!("Push {} ({commits}) {to} {to_url} with git?", sanitize(self.name));
        if remote.pushed_to.is_some() {
            question.push_str(&format!(" The clone is fetched from {}.", shown(&remote.url)));
        }
        let mut titles: Vec<String> = head.titles.iter().map(|title| sanitize(title).into_owned()).collect();
        titles.extend(
            head.ahead.checked_sub(titles.len()).filter(|more| *more > 0).map(|more| format!("and {more} more")),
        );
        let confirm = Confirm::new("Push branch", question, Action::Push(push)).naming(titles);
        let is_plain = is_same_name && is_same_project;
        Action::OpenOverlay(Box::new(if is_plain { confirm.by_enter_or('P') } else { confirm }))
    }

    /// Returns whether a merge request can be created; the error is the reason why not.
    pub fn can_create(&self, view: &View<'a>) -> Result<(), Disabled> {
        view.can_write()?;
        let open = self.request(view).filter(|request| request.is_open());
        match open {
            _ if !self.is_loaded(view) => Err("the merge requests of the branch have not loaded yet".into()),
            Some(request) => Err(format!("the branch has the merge request !{}", request.iid).into()),
            None if self.is_default(view) => {
                Err(format!("the default branch is {}; git switch -c begins another", sanitize(self.name)).into())
            }
            None => Ok(()),
        }
    }

    /// Returns the form for a merge request of the branch.
    pub fn create(&self, view: &View<'a>) -> Form {
        let form = forms::merge_request::create(&self.project, Some(&self.head.remote_branch), None, view);
        match self.upstream(view) {
            Some(upstream) => form.field("target_project_id", |field| _ = field.text(upstream)),
            None => form,
        }
    }

    /// Returns the wants of the places that show the branch.
    pub fn wants(&self, view: &View<'a>) -> Vec<Want> {
        let again = |load: Load| load.refresh_after(view.refresh_after()).optional();
        let mut wants = vec![again(Load::single(&GetProject::new(&self.project))).into()];
        wants.push(again(Load::single(&self.server_branch())).into());
        let lists = self.projects(view).into_iter().map(|id| again(Load::list(&self.list(id), 1)).into());
        wants.extend(lists);
        wants
    }

    /// Returns an error of the requests for its merge request.
    pub fn error(&self, view: &View<'a>) -> Option<&'a crate::api::Error> {
        let of = |request| view.store.error_of(&request);
        let list = self.requests(view).error;
        list.or_else(|| of(GetProject::new(&self.project).request()))
    }

    /// Returns the project with the branch.
    pub fn known_project(&self, view: &View<'a>) -> Option<&'a Project> {
        project::project(view, &self.project)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_named() {
        let words = |ahead, behind| Sync::Differs { ahead, behind }.words();
        assert_eq!(words(1, 0), "1 commit not pushed");
        assert_eq!(words(2, 3), "2 commits not pushed, 3 to pull");
        assert_eq!(words(0, 1), "1 commit to pull");
        assert_eq!(Sync::NewerOnServer { ahead: 2 }.words(), "2 commits not pushed, newer commits on the server");
    }
}
