//! Completes the path of `labscope api`: values of the clone in place of `:id`, `:fullpath`, `:branch` and `:mr`, as in
//! glab, and the path of a project, which may be written without encoding.
//!
//! Unlike in glab, the values are encoded, so that a branch with a slash is one part of the path.

use super::failure::Failure;
use super::{open, server};
use crate::api::Id;
use crate::api::client::Client;
use crate::api::endpoint::encode;
use crate::api::merge_requests::{ListProjectMergeRequests, MergeRequest};
use crate::api::projects::GetProject;
use crate::app::clone::CloneHead;
use crate::config::Config;
use crate::config::host::FoundHost;
use crate::runtime::branch::head;

/// The number of merge requests of a branch that are read to find its newest one.
const MAX_REQUESTS: u32 = 100;

/// A value of the clone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    /// The number of the project.
    Id,
    /// The full path of the project.
    FullPath,
    /// The branch that is checked out, by its name on the server.
    Branch,
    /// The number of the merge request of that branch.
    MergeRequest,
}

const VALUES: [(&str, Value); 4] =
    [("id", Value::Id), ("fullpath", Value::FullPath), ("branch", Value::Branch), ("mr", Value::MergeRequest)];

/// Returns the path with the values of the clone in place of their names, and with the path of a project encoded.
///
/// # Errors
/// Returns a failure if there is no clone of a project on the server, no branch, or no merge request of it.
pub async fn complete(config: &Config, found: &FoundHost, client: &Client, path: &str) -> Result<String, Failure> {
    let mut done = String::new();
    let mut head = None;
    for piece in pieces(path) {
        let value = match piece {
            Piece::Text(text) => {
                done.push_str(text);
                continue;
            }
            Piece::Value(value) => value,
        };
        let name = VALUES.iter().find(|(_, known)| *known == value).map_or("", |(name, _)| name);
        let Some(project) = &found.project else {
            let why = format!("\":{name}\" needs a clone of a project on {}", found.server.host().name());
            return Err(Failure::usage(format!("{why}; run this in one, or write the value itself")));
        };
        if matches!(value, Value::Branch | Value::MergeRequest) && head.is_none() {
            head = Some(branch(config, found, name)?);
        }
        let text = match (value, &head) {
            (Value::Id, _) => client.call(&GetProject::new(&project.as_str().into())).await?.id.to_string(),
            (Value::Branch, Some((head, _))) => head.remote_branch.clone(),
            (Value::MergeRequest, Some((head, source))) => {
                merge_request(client, project, head, source).await?.to_string()
            }
            _ => project.clone(),
        };
        done.push_str(&encode(&text));
    }
    Ok(with_encoded_project(&done))
}

/// Reads the branch that is checked out, and the full path of the project that it is pushed to.
fn branch(config: &Config, found: &FoundHost, name: &str) -> Result<(CloneHead, String), Failure> {
    let failed = |why: &str| Failure::usage(format!("\":{name}\" needs a branch: {why}"));
    let clone = server::clone().map_err(|why| failed(&format!("the clone was not read: {why}")))?;
    let folder = open::clone_folder(config, &found.server, clone);
    let folder = folder.ok_or_else(|| failed("this clone has no working tree"))?;
    let head = head::read(&folder, None).map_err(|why| failed(&why))?;
    if head.branch.is_none() {
        return Err(failed("none is checked out (HEAD is detached)"));
    }
    let remote = folder.remotes.iter().find(|remote| remote.name == head.remote);
    let source = remote.map(|remote| match &remote.pushed_to {
        Some(Ok(other)) => other.project.clone(),
        _ => remote.project.clone(),
    });
    Ok((head, source.unwrap_or_default()))
}

/// Returns the number of the newest merge request of a branch in a project; `source` is the project with the branch.
async fn merge_request(client: &Client, project: &str, head: &CloneHead, source: &str) -> Result<u64, Failure> {
    let id = Id::from(project);
    let own = match source == project {
        true => None,
        false => Some(client.call(&GetProject::new(&source.into())).await?.id),
    };
    let branch = head.remote_branch.as_str();
    let query = ListProjectMergeRequests {
        id,
        source_branch: Some(branch.to_owned()),
        state: Some("all".into()),
        ..ListProjectMergeRequests::default()
    };
    let requests = client.page(&query, 1, MAX_REQUESTS).await?.items;
    let found = MergeRequest::of_branch(requests.iter(), branch, own);
    let found = found.ok_or_else(|| {
        Failure::failed(format!(
            "{project} has no merge request of the branch {branch}; labscope mr creates one. Nothing was sent."
        ))
    })?;
    Ok(found.iid)
}

/// A part of a path as it is typed.
#[derive(Debug, PartialEq, Eq)]
enum Piece<'a> {
    Text(&'a str),
    Value(Value),
}

/// Splits a path at the names of values. A longer word that begins like a name is text.
fn pieces(path: &str) -> Vec<Piece<'_>> {
    let (mut all, mut text) = (Vec::new(), 0);
    for (at, _) in path.match_indices(':') {
        let rest = path.get(at + 1..).unwrap_or_default();
        let word = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        if let Some((_, value)) = VALUES.iter().find(|(name, _)| *name == word) {
            all.extend([Piece::Text(path.get(text..at).unwrap_or_default()), Piece::Value(*value)]);
            text = at + 1 + word.len();
        }
    }
    all.push(Piece::Text(path.get(text..).unwrap_or_default()));
    all
}

/// The first parts of the paths below a project, of GitLab 19 and earlier.
#[rustfmt::skip]
const BELOW_PROJECT: &[&str] = &[
    "-", "access_requests", "access_tokens", "alert_management_alerts", "analytics", "approval_rules", "approvals",
    "approvers", "archive", "audit_events", "avatar", "badges", "boards", "catalog", "ci", "cluster_agents", "clusters",
    "create_ci_config", "custom_attributes", "debian_distributions", "dependencies", "dependency_list_exports",
    "deploy_keys", "deploy_tokens", "deployments", "environments", "error_tracking", "events", "export",
    "export_relations", "external_status_checks", "feature_flags", "feature_flags_user_lists", "fork", "forks",
    "freeze_periods", "groups", "hooks", "housekeeping", "import", "import_project_members", "integrations",
    "invitations", "invited_groups", "issues", "issues_statistics", "iterations", "job_token_scope", "jobs", "labels",
    "languages", "members", "merge_request_approval_setting", "merge_requests", "merge_trains", "metric_images",
    "milestones", "mirror", "ml", "notification_settings", "packages", "pages", "pages_access", "pipeline",
    "pipeline_schedules", "pipelines", "protected_branches", "protected_environments", "protected_tags", "push_rule",
    "ref", "registry", "releases", "remote_mirrors", "repository", "repository_size", "resource_groups", "restore",
    "runners", "search", "secure_files", "security_scans", "security_settings", "services", "share", "share_locations",
    "snapshot", "snippets", "star", "starrers", "statistics", "statuses", "storage", "templates", "terraform",
    "transfer", "transfer_locations", "trigger", "triggers", "unarchive", "unstar", "uploads", "users", "variables",
    "vulnerabilities", "vulnerability_findings", "wikis", "work_items",
];
/// The words in place of a project for operations on none in particular.
const NO_PROJECT: &[&str] = &["user", "shared", "import", "import-relation", "remote-import", "remote-import-s3"];

/// Encodes the path of a project in `projects/group/project/issues`. It ends before the first word that operations on a
/// project begin with, but has at least two parts.
fn with_encoded_project(path: &str) -> String {
    let (below, query) = path.split_at(path.find('?').unwrap_or(path.len()));
    let parts: Vec<&str> = below.trim_start_matches('/').split('/').collect();
    let [first, rest @ ..] = parts.as_slice() else { return path.to_owned() };
    let is_name = |part: &&str| !part.is_empty() && !part.contains('%') && !part.bytes().all(|b| b.is_ascii_digit());
    let end = rest.iter().skip(2).position(|part| part.is_empty() || BELOW_PROJECT.contains(part));
    let (project, below) = rest.split_at(end.map_or(rest.len(), |end| end + 2));
    match project {
        [group, _, ..] if *first == "projects" && is_name(group) && !NO_PROJECT.contains(group) => {
            let below: String = below.iter().map(|part| format!("/{part}")).collect();
            format!("projects/{}{below}{query}", project.join("%2F"))
        }
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_may_be_written_with_or_without_encoding() {
        for (typed, sent) in [
            ("projects/a/b", "projects/a%2Fb"),
            ("/projects/a/b/issues?state=opened", "projects/a%2Fb/issues?state=opened"),
            (
                "projects/a/b/c/repository/files/src%2Fx.rs/raw?ref=a/b",
                "projects/a%2Fb%2Fc/repository/files/src%2Fx.rs/raw?ref=a/b",
            ),
            ("projects/a/issues/issues", "projects/a%2Fissues/issues"),
            ("projects/a/b/", "projects/a%2Fb/"),
            ("projects/a%2Fb/issues", "projects/a%2Fb/issues"),
            ("projects/7/issues", "projects/7/issues"),
            ("projects/7", "projects/7"),
            ("projects/a", "projects/a"),
            ("projects?search=a/b", "projects?search=a/b"),
            ("projects/user/4", "projects/user/4"),
            ("projects/import/authorize", "projects/import/authorize"),
            ("projects//issues", "projects//issues"),
            ("groups/a/projects", "groups/a/projects"),
            ("user", "user"),
            ("", ""),
        ] {
            assert_eq!(with_encoded_project(typed), sent, "{typed}");
        }
    }

    #[test]
    fn only_whole_names_are_values() {
        let value = |value| Piece::Value(value);
        assert_eq!(pieces("projects/:id"), [Piece::Text("projects/"), value(Value::Id), Piece::Text("")]);
        let both = pieces("a/:fullpath/:mr?b=:branch");
        assert_eq!(both.iter().filter(|piece| matches!(piece, Piece::Value(_))).count(), 3);
        for text in ["projects/:ids", "a:b", ":", "x/:branch_name", "x/:é", "http://h:1/api/v4/x"] {
            assert_eq!(pieces(text), [Piece::Text(text)]);
        }
    }
}
