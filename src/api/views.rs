//! Views of nested resources: the subsets of their fields that replies contain (specification, "Resources").

/// The fields of a resource.
pub type Fields = &'static [&'static str];

/// The nested resources that a reply contains with fewer fields: the paths of the resources, and the fields that are
/// kept.
pub type Views = &'static [(&'static str, Fields)];

/// The specification's short commit.
pub const SHORT_COMMIT: Fields = &["id", "short_id", "title", "author_name", "author_email", "created_at"];
/// The short commit with its message: in the commits of a merge request, and in jobs.
pub const COMMIT_WITH_MESSAGE: Fields =
    &["id", "short_id", "title", "author_name", "author_email", "created_at", "message"];
/// The commit of a branch.
pub const COMMIT_OF_BRANCH: Fields = &[
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
pub const OWNER: Fields = &["id", "name", "created_at"];
/// The author in a list of comments.
pub const COMMENT_AUTHOR_FIELDS: Fields = &["id", "username", "email", "name", "state", "created_at"];
