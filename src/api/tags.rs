//! Tags and their releases (specification, "Tags and releases").

use crate::api::commits::Commit;
use crate::api::{Id, NoContent, Nullable, Time};

crate::resource! {
    /// A tag, with its message and its release.
    pub struct Tag {
        name: String,
        /// The message; null for a lightweight tag.
        message: Option<String>,
        commit: Option<Commit>,
        release: Option<TagRelease>,
    }
    unspecified {
        /// The SHA of the tag object, or of the commit for a lightweight tag.
        target: Option<String>,
        protected: Option<bool>,
        /// The date of an annotated tag.
        created_at: Nullable<Time>,
    }
}

crate::resource! {
    /// The release of a tag.
    pub struct TagRelease {
        tag_name: String,
        /// The release notes in Markdown.
        description: Option<String>,
    }
}

crate::endpoints! {
    section "Tags and releases";

    /// Lists the tags of a project.
    GET "/projects/{id}/repository/tags" => Vec<Tag>, about Tags;
    struct ListTags {
        id: Id,
        /// Part of the name, case-insensitive; older servers ignore it.
        search: Option<String>,
        /// `name` or `updated` (default).
        order_by: Option<String>,
        /// `asc` or `desc` (default).
        sort: Option<String>,
    }

    /// Gets a single tag.
    GET "/projects/{id}/repository/tags/{tag_name}" => Tag, about Tags;
    struct GetTag { id: Id, tag_name: String }

    /// Creates a tag.
    POST "/projects/{id}/repository/tags" => Tag,
    outdates [Tags];
    struct CreateTag {
        id: Id,
        tag_name: String,
        /// Commit SHA, tag or branch.
        r#ref: String,
        /// Message; creates an annotated tag.
        message: Option<String>,
        /// The notes of a release; servers since 14.0 ignore it.
        release_description: Option<String>,
    }

    /// Deletes a tag.
    DELETE "/projects/{id}/repository/tags/{tag_name}" => NoContent,
    outdates [Tags];
    struct DeleteTag { id: Id, tag_name: String }

    /// Creates a release for a tag; servers since 14.0 have [`CreateRelease`](crate::api::releases::CreateRelease) only.
    POST "/projects/{id}/repository/tags/{tag_name}/release" => TagRelease,
    outdates [Tags];
    struct CreateTagRelease { id: Id, tag_name: String, description: String }

    /// Updates the description of a release; servers since 14.0 have
    /// [`UpdateRelease`](crate::api::releases::UpdateRelease) only.
    PUT "/projects/{id}/repository/tags/{tag_name}/release" => TagRelease,
    outdates [Tags];
    struct UpdateTagRelease { id: Id, tag_name: String, description: String }
}
