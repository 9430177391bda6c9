//! System hooks, for administrators, and the events that they receive.

use super::call::{Call, Outcome, ReadCall, WriteCall, ok};
use super::ci::PushOptions;
use super::deliveries::{EventKind, HookEvent, deliver};
use super::git::Git;
use super::mount::Mount;
use super::records;
use super::rejection::Rejection;
use super::world::World;
use crate::presenters::time;
use api::NoContent;
use api::hooks::*;
use git2::Oid;
use serde_json::{Value, json};
use std::ops::Deref;

pub fn mount(mount: Mount) -> Mount {
    mount
        .read_signed_in::<ListHooks>(list)
        .write::<CreateHook>(create)
        .read_signed_in::<TestHook>(test)
        .write::<DeleteHook>(delete)
}

fn show(hook: &records::Hook) -> Hook {
    Hook {
        id: hook.id,
        url: hook.url.clone(),
        created_at: Some(time(hook.created_at)),
        push_events: hook.push_events,
        tag_push_events: hook.tag_push_events,
        merge_requests_events: hook.merge_requests_events,
        enable_ssl_verification: hook.enable_ssl_verification,
        name: None.into(),
        description: None.into(),
        alert_status: Some("executable".into()),
        disabled_until: None.into(),
        repository_update_events: Some(false),
        push_events_branch_filter: None.into(),
        branch_filter_strategy: Some("wildcard".into()),
        url_variables: Some(Vec::new()),
        custom_headers: Some(Vec::new()),
    }
}

fn find<W: Deref<Target = World>>(call: &Call<W>, id: u64) -> Result<&records::Hook, Rejection> {
    call.world.hooks.get(id).ok_or_else(|| Rejection::not_found("System hook"))
}

fn list(call: &ReadCall, _: ListHooks) -> Outcome<Vec<Hook>> {
    call.require_admin()?;
    call.page(call.world.hooks.iter().collect(), show)
}

fn create(call: &mut WriteCall, input: CreateHook) -> Outcome<Hook> {
    call.require_admin()?;
    let is_web =
        url::Url::parse(&input.url).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    if !is_web {
        return Err(Rejection::bad_request(json!({ "url": ["must be a valid URL"] })));
    }
    let hook = records::Hook {
        id: 0,
        url: input.url,
        token: input.token.filter(|token| !token.is_empty()),
        push_events: input.push_events.unwrap_or(false),
        tag_push_events: input.tag_push_events.unwrap_or(false),
        merge_requests_events: input.merge_requests_events.unwrap_or(false),
        enable_ssl_verification: input.enable_ssl_verification.unwrap_or(true),
        created_at: call.now,
    };
    let id = call.world.hooks.add(hook);
    ok(show(find(call, id)?))
}

/// Delivers a sample event and returns it, whether or not the delivery succeeds.
fn test(call: &ReadCall, input: TestHook) -> Outcome<HookTest> {
    call.require_admin()?;
    let hook = find(call, input.id)?.clone();
    let sample = HookTest {
        project_id: Some(1),
        owner_email: Some("example@example.com".into()),
        owner_name: Some("Someone".into()),
        name: Some("Ruby".into()),
        path: Some("ruby".into()),
        event_name: Some("project_create".into()),
        ..HookTest::default()
    };
    let body = serde_json::to_vec(&sample).map_err(Rejection::internal_error)?;
    // Handlers run on threads that are allowed to block.
    if let Err(error) = tokio::runtime::Handle::current().block_on(deliver(&hook, body)) {
        tracing::warn!("a hook was not delivered: {error}");
    }
    ok(sample)
}

/// The maximum number of commits that are sent with a push.
const MAX_SENT_COMMITS: usize = 20;

impl WriteCall<'_> {
    /// Records a push of a branch or tag, given by its full name, and starts its pipelines.
    pub fn record_push(&mut self, project: u64, git: &Git, ref_name: &str, before: Option<Oid>, after: Option<Oid>) {
        self.record_ref_change(project, git, ref_name, before, after);
        for prepared in self.prepare_push_pipelines(project, git, ref_name, (before, after), &PushOptions::default()) {
            self.start_prepared(prepared);
        }
    }

    /// Records a push event for a branch or tag, given by its full name, and new versions of the merge requests from
    /// the branch. Merge requests into the branch whose commits it brings are merged.
    pub fn record_ref_change(
        &mut self,
        project: u64,
        git: &Git,
        ref_name: &str,
        before: Option<Oid>,
        after: Option<Oid>,
    ) {
        self.add_push(project, git, ref_name, before, after);
        if let (Some(branch), Some(after)) = (ref_name.strip_prefix("refs/heads/"), after) {
            self.add_versions(project, branch);
            if let Some(before) = before {
                self.close_merged(project, git, branch, (before, after));
                self.add_versions_of_target(project, git, branch, (before, after));
            }
        }
        let (Some(user), Some(project)) = (self.rights.user, self.world.projects.get(project)) else { return };
        let Some(user) = self.world.users.get(user) else { return };
        let is_tag = ref_name.starts_with("refs/tags/");
        let between = before.zip(after).filter(|_| !is_tag);
        let ids = between.map(|(before, after)| self.commits_between(git, before, after)).unwrap_or_default();
        let (total, url) = (ids.len(), self.project_url(project));
        let commits = ids.iter().take(MAX_SENT_COMMITS).rev().filter_map(|id| {
            let commit = git.show(*id).ok()?;
            let author = json!({ "name": commit.author_name, "email": commit.author_email });
            let at = commit.committed_date;
            let url = format!("{url}/commit/{id}");
            Some(json!({ "id": commit.id, "message": commit.message, "timestamp": at, "url": url, "author": author }))
        });
        let commits: Vec<Value> = commits.collect();
        let id = |oid: Option<Oid>| oid.unwrap_or(Oid::ZERO_SHA1).to_string();
        let body = json!({
            "event_name": if is_tag { "tag_push" } else { "push" },
            "before": id(before),
            "after": id(after),
            "ref": ref_name,
            "checkout_sha": after.map(|id| id.to_string()),
            "user_id": user.id,
            "user_name": user.name,
            "user_email": user.email,
            "project_id": project.id,
            "project": self.project_payload(project),
            "total_commits_count": total,
            "commits": commits,
        });
        self.events.push(HookEvent { kind: if is_tag { EventKind::TagPush } else { EventKind::Push }, body });
    }

    /// Records an action on a merge request as an event, such as `open`, `update`, `close`, `approved` or `merge`.
    pub fn record_merge_request_event(&mut self, mr: &records::MergeRequest, action: &str) {
        let (Some(user), Some(project)) = (self.rights.user, self.world.projects.get(mr.target_project)) else {
            return;
        };
        let summary = self.user_summary(user);
        let body = json!({
            "object_kind": "merge_request",
            "user": { "name": summary.name, "username": summary.username, "avatar_url": summary.avatar_url },
            "project": self.project_payload(project),
            "object_attributes": {
                "id": mr.id,
                "iid": mr.iid,
                "title": mr.title,
                "description": mr.description,
                "state": mr.state.as_str(),
                "source_branch": mr.source_branch,
                "source_project_id": mr.source_project,
                "target_branch": mr.target_branch,
                "target_project_id": mr.target_project,
                "author_id": mr.author,
                "assignee_id": mr.assignee,
                "created_at": time(mr.created_at),
                "updated_at": time(mr.updated_at),
                "url": self.project_page(project, &format!("merge_requests/{}", mr.iid)),
                "action": action,
            },
        });
        self.events.push(HookEvent { kind: EventKind::MergeRequest, body });
    }

    /// Returns the representation of a project in events.
    fn project_payload(&self, project: &records::Project) -> Value {
        let found = self.search_result_project(project);
        json!({
            "name": project.name,
            "description": project.description,
            "web_url": found.web_url,
            "git_ssh_url": found.ssh_url_to_repo,
            "git_http_url": found.http_url_to_repo,
            "namespace": self.world.namespace_name(project.namespace),
            "path_with_namespace": found.path_with_namespace,
            "default_branch": project.default_branch,
        })
    }
}

fn delete(call: &mut WriteCall, input: DeleteHook) -> Outcome<NoContent> {
    call.require_admin()?;
    let (id, at) = find(call, input.id).map(|hook| (hook.id, hook.created_at))?;
    call.check_unmodified(at)?;
    call.world.hooks.remove(id);
    ok(NoContent)
}
