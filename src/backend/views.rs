//! Views of things inside other things: which of their fields an answer has (specification, "Resources").

use serde_json::Value;

/// The fields that something has.
pub type Fields = &'static [&'static str];

/// A project in a simple listing.
pub const SIMPLE_PROJECT: Fields = &["id", "web_url", "name", "path"];
/// A group that was searched for.
pub const BRIEF_GROUP: Fields = &["id", "name", "path", "description"];
/// The specification's short commit.
const SHORT_COMMIT: Fields = &["id", "short_id", "title", "author_name", "author_email", "created_at"];
/// The same in the list of a merge request.
const COMMIT_OF_REQUEST: Fields = &["id", "short_id", "title", "author_name", "author_email", "created_at", "message"];
/// The commit of a job.
const COMMIT_OF_JOB: Fields = COMMIT_OF_REQUEST;
/// The commit of a branch.
const COMMIT_OF_BRANCH: Fields = &[
    "id",
    "short_id",
    "title",
    "message",
    "parent_ids",
    "author_name",
    "author_email",
    "authored_date",
    "committer_name",
    "committer_email",
    "committed_date",
];
/// The owner of a project.
const OWNER: Fields = &["id", "name", "created_at"];
/// The author in a list of comments.
const AUTHOR_OF_COMMENT: Fields = &["id", "username", "email", "name", "state", "created_at"];

/// What an endpoint's answer has less than the things in it: paths of field names, and the fields that stay there.
pub fn of(endpoint: &str) -> &'static [(&'static str, Fields)] {
    match endpoint {
        "Compare" => &[("commit", SHORT_COMMIT), ("commits", SHORT_COMMIT)],
        "ListMergeRequestCommits" => &[("", COMMIT_OF_REQUEST)],
        "ListJobs" | "ListPipelineJobs" | "GetJob" | "CancelJob" | "RetryJob" | "EraseJob" | "KeepArtifacts"
        | "PlayJob" | "ListRunnerJobs" => &[("commit", COMMIT_OF_JOB)],
        "ListDeployments" | "GetDeployment" => &[("deployable.commit", COMMIT_OF_JOB)],
        "ListBranches" | "GetBranch" | "ProtectBranch" | "UnprotectBranch" | "CreateBranch" => {
            &[("commit", COMMIT_OF_BRANCH)]
        }
        "ListProjects" | "GetProject" | "CreateProject" | "CreateUserProject" | "UpdateProject"
        | "ListUserProjects" | "ListGroupProjects" => &[("owner", OWNER)],
        "GetGroup" | "UpdateGroup" | "CreateGroup" | "TransferProject" => {
            &[("projects.owner", OWNER), ("shared_projects.owner", OWNER)]
        }
        "ListCommitComments" => &[("author", AUTHOR_OF_COMMENT)],
        _ => &[],
    }
}

/// Leaves only `fields` in what is at `path`, in each element where there are several.
pub fn narrow(value: &mut Value, path: &str, fields: Fields) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| narrow(item, path, fields)),
        Value::Object(map) => match path.split_once('.').unwrap_or((path, "")) {
            ("", _) => map.retain(|name, _| fields.contains(&name.as_str())),
            (first, rest) => {
                if let Some(inner) = map.get_mut(first) {
                    narrow(inner, rest, fields);
                }
            }
        },
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_the_fields_of_the_view_are_left() {
        let mut value = json!([{"a": {"id": 1, "x": 2}, "id": 3}, {"a": null}, {}]);
        narrow(&mut value, "a", &["id"]);
        assert_eq!(value, json!([{"a": {"id": 1}, "id": 3}, {"a": null}, {}]));
        narrow(&mut value, "", &["a"]);
        assert_eq!(value, json!([{"a": {"id": 1}}, {"a": null}, {}]));
    }
}
