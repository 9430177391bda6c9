//! Views of things inside other things: which of their fields an answer has (specification, "Resources").

/// The fields that something has.
pub type Fields = &'static [&'static str];

/// What an answer has less of the things in it: paths of field names, and the fields that stay there.
pub type Views = &'static [(&'static str, Fields)];

/// The specification's short commit.
pub const SHORT_COMMIT: Fields = &["id", "short_id", "title", "author_name", "author_email", "created_at"];
/// The same with its message: in the list of a merge request, and in a job.
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
pub const COMMENT_AUTHOR: Fields = &["id", "username", "email", "name", "state", "created_at"];
