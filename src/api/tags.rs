//! Tags and the releases that hang on them (specification, "Tags and releases").

use crate::api::commits::resources::Commit;
use crate::api::{Id, Nothing, Time};

crate::resource! {
    /// A tag, its annotation and its release.
    pub struct Tag {
        name: String,
        /// Null for a light tag.
        message: Option<String>,
        commit: Option<Commit>,
        release: Option<Release>,
    }
    newer {
        /// The hash of the tag itself, or of the commit.
        target: String,
        protected: bool,
        created_at: Time,
    }
}

crate::resource! {
    /// What a version brings.
    pub struct Release {
        tag_name: String,
        /// Markdown.
        description: Option<String>,
    }
}

crate::endpoints! {
    section "Tags and releases";

    /// Lists tags.
    GET "/projects/{id}/repository/tags" => Vec<Tag>;
    struct ListTags {
        id: Id,
        /// `name` or `updated` (where absent).
        order_by: Option<String>,
        /// `asc` or `desc` (where absent).
        sort: Option<String>,
    }

    /// Reads one tag.
    GET "/projects/{id}/repository/tags/{tag_name}" => Tag;
    struct GetTag { id: Id, tag_name: String }

    /// Creates a tag.
    POST "/projects/{id}/repository/tags" => Tag,
    touches [ListTags];
    struct CreateTag {
        id: Id,
        tag_name: String,
        /// A hash, tag or branch.
        r#ref: String,
        /// Makes it an annotated one.
        message: Option<String>,
        release_description: Option<String>,
    }

    /// Deletes a tag.
    DELETE "/projects/{id}/repository/tags/{tag_name}" => Nothing,
    touches [ListTags, GetTag];
    struct DeleteTag { id: Id, tag_name: String }

    /// Hangs a release on a tag.
    POST "/projects/{id}/repository/tags/{tag_name}/release" => Release,
    touches [ListTags, GetTag];
    struct CreateRelease { id: Id, tag_name: String, description: String }

    /// Replaces the description of a release.
    PUT "/projects/{id}/repository/tags/{tag_name}/release" => Release,
    touches [ListTags, GetTag];
    struct UpdateRelease { id: Id, tag_name: String, description: String }
}
