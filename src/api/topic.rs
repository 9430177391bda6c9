//! Topics: how a write names the reads whose replies it outdates, without knowing them.

use crate::Request;

/// The subject matter of a read. Where there is a singular, the plural is about lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Topic {
    Approvals,
    Artifacts,
    AssetLinks,
    Awards,
    Branches,
    /// The changed files and the commits of a merge request.
    Changes,
    CiConfig,
    /// One commit, and its statuses.
    Commit,
    CommitComments,
    Commits,
    CurrentUser,
    /// The merge requests that a merge request waits for.
    Dependencies,
    DraftNotes,
    Environments,
    Events,
    GpgKeys,
    Group,
    Groups,
    Hooks,
    Issue,
    IssueLinks,
    Issues,
    Job,
    Jobs,
    Labels,
    License,
    Members,
    MergeRequest,
    MergeRequests,
    Milestones,
    /// Notes and threads.
    Notes,
    Notifications,
    Participants,
    Pipeline,
    Pipelines,
    Project,
    Projects,
    ProtectionRules,
    Releases,
    /// Trees, comparisons and contributors.
    Repository,
    Reviewers,
    Runners,
    Schedules,
    ScopedNotifications,
    Snippets,
    SshKeys,
    Tags,
    Todos,
    Trace,
    TriggerJobs,
    Users,
    Variables,
}

impl Request {
    /// Returns whether the reply to this read may be outdated after `write`, which outdates `topics`, has succeeded.
    pub fn is_outdated_by(&self, write: &Request, topics: &[Topic]) -> bool {
        let is_elsewhere = match (noteable(&self.path), noteable(&write.path)) {
            (Some((kind, number)), Some((written, changed))) => {
                kind != written || number.zip(changed).is_some_and(|(number, changed)| number != changed)
            }
            _ => false,
        };
        self.topic.is_some_and(|topic| topics.contains(&topic)) && !is_elsewhere
    }
}

/// Returns the kind of the merge requests, issues, snippets or epics that a path is about, and the number of one of them.
/// What is written to one of them outdates neither the others nor lists of other kinds. The project or group is not
/// compared: it can be named by its ID or its path.
fn noteable(path: &str) -> Option<(&str, Option<&str>)> {
    let mut segments = path.split('/').skip(1);
    let kind = match segments.next()? {
        "projects" | "groups" => segments.nth(1)?,
        first => first,
    };
    matches!(kind, "merge_requests" | "issues" | "snippets" | "epics").then(|| (kind, segments.next()))
}

#[cfg(test)]
mod tests {
    use crate::discussions::ReplyToDiscussion;
    use crate::endpoint::Endpoint;
    use crate::issues::{GetIssue, ListIssues, ListScopedIssues};
    use crate::labels::UpdateLabel;
    use crate::merge_requests::{GetMergeRequest, ListProjectMergeRequests};
    use crate::milestones::UpdateMilestone;
    use crate::notes::{CreateNote, ListNotes};
    use crate::todos::ListTodos;
    use crate::{Id, Noteable, Request, Scope};

    fn outdated<W: Endpoint>(write: &W, read: Request) -> bool {
        read.is_outdated_by(&write.request(), W::OUTDATES)
    }

    fn project() -> Id {
        "acme/ui".into()
    }

    #[test]
    fn a_comment_outdates_its_object_and_what_contains_it() {
        let on = Noteable::Issue { project: project(), iid: 5 };
        let write = CreateNote { on: on.clone(), ..Default::default() };
        let within = |within| ListScopedIssues { within, ..Default::default() }.request();
        let issue = |id, issue_iid| GetIssue { id, issue_iid }.request();
        assert!(outdated(&write, ListNotes { on, ..Default::default() }.request()));
        assert!(outdated(&write, issue(project(), 5)));
        assert!(outdated(&write, issue(7.into(), 5)), "the ID of the project, perhaps");
        assert!(outdated(&write, within(Scope::Project(project()))));
        assert!(outdated(&write, within(Scope::Group("acme".into()))));
        assert!(outdated(&write, ListIssues::default().request()));
        assert!(outdated(&write, ListTodos::default().request()));
        let on = Noteable::Issue { project: project(), iid: 5 };
        let reply = ReplyToDiscussion { on, ..Default::default() };
        assert!(outdated(&reply, issue(project(), 5)));
        assert!(outdated(&reply, ListIssues::default().request()), "they count comments");

        assert!(!outdated(&write, issue(project(), 6)));
        for on in
            [Noteable::Issue { project: project(), iid: 6 }, Noteable::MergeRequest { project: project(), iid: 5 }]
        {
            assert!(!outdated(&write, ListNotes { on, ..Default::default() }.request()));
        }
        assert!(!outdated(&write, ListProjectMergeRequests { id: project(), ..Default::default() }.request()));
    }

    #[test]
    fn a_label_or_milestone_outdates_all_objects_that_may_have_it() {
        let scope = Scope::Group("acme".into());
        let milestone = UpdateMilestone { scope: scope.clone(), milestone_id: 3, ..Default::default() };
        let list = ListProjectMergeRequests { id: project(), ..Default::default() }.request();
        assert!(outdated(&milestone, list));
        let write = UpdateLabel { scope, label_id: "bug".into(), ..Default::default() };
        assert!(outdated(&write, GetIssue { id: project(), issue_iid: 5 }.request()));
        let request = GetMergeRequest { id: project(), merge_request_iid: 5, ..Default::default() };
        assert!(outdated(&write, request.request()));
    }
}
