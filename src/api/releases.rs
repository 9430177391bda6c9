//! Releases of a project. Not in the specification; since 11.7. Servers of its age have a text on each tag.

use crate::api::merge_requests::Milestone;
use crate::api::tags::{GetTag, ListTags};
use crate::api::users::User;
use crate::api::{Id, Time};

crate::resource! {
    /// A version that is given to its users.
    pub struct ProjectRelease {
        tag_name: String,
        name: Option<String>,
        /// Markdown.
        description: Option<String>,
        created_at: Option<Time>,
        /// Later than now where it is upcoming.
        released_at: Option<Time>,
    }
    newer {
        author: User,
        milestones: Vec<Milestone>,
        upcoming_release: bool,
        assets: Assets,
    }
}

crate::resource! {
    /// What there is to download.
    pub struct Assets {
        /// Absent where the caller may not read the code.
        sources: Vec<AssetSource>,
        links: Vec<AssetLink>,
    }
}

crate::resource! {
    /// The files of the tag as an archive.
    pub struct AssetSource {
        format: String,
        url: String,
    }
}

crate::resource! {
    /// A file, or a page.
    pub struct AssetLink {
        id: u64,
        name: String,
        url: String,
        /// `other`, `runbook`, `image` or `package`.
        link_type: String,
    }
}

/// What a link may be of.
pub const LINK_TYPES: &[&str] = &["other", "runbook", "image", "package"];

impl ProjectRelease {
    /// Returns its title: its name, or its tag where it has none.
    pub fn title(&self) -> &str {
        self.name.as_deref().filter(|name| !name.is_empty()).unwrap_or(&self.tag_name)
    }
}

crate::endpoints! {
    newer section "Releases";

    /// Lists the releases of a project, the latest first.
    GET "/projects/{id}/releases" => Vec<ProjectRelease>;
    struct ListReleases { id: Id }

    /// Creates a release of a tag, and the tag where `ref` says of what.
    POST "/projects/{id}/releases" => ProjectRelease,
    touches [ListReleases, ListTags, GetTag];
    struct CreateProjectRelease {
        id: Id,
        tag_name: String,
        name: Option<String>,
        description: Option<String>,
        /// A commit, branch or tag, for a tag that does not exist yet.
        r#ref: Option<String>,
    }

    /// Changes a release.
    PUT "/projects/{id}/releases/{tag_name}" => ProjectRelease,
    touches [ListReleases, ListTags, GetTag];
    struct UpdateProjectRelease { id: Id, tag_name: String, name: Option<String>, description: Option<String> }

    /// Deletes a release; its tag stays.
    DELETE "/projects/{id}/releases/{tag_name}" => ProjectRelease,
    touches [ListReleases, ListTags, GetTag];
    struct DeleteProjectRelease { id: Id, tag_name: String }

    /// Lists the links among the assets of a release.
    GET "/projects/{id}/releases/{tag_name}/assets/links" => Vec<AssetLink>;
    struct ListAssetLinks { id: Id, tag_name: String }

    /// Adds a link to the assets of a release. No two have the same name or address.
    POST "/projects/{id}/releases/{tag_name}/assets/links" => AssetLink,
    touches [ListAssetLinks, ListReleases];
    struct CreateAssetLink {
        id: Id,
        tag_name: String,
        name: String,
        /// http, https or ftp.
        url: String,
        /// A word of [`LINK_TYPES`]; `other` where absent.
        link_type: Option<String>,
    }

    /// Changes a link of a release. Servers want the name or the address, and take an absent type for `other`.
    PUT "/projects/{id}/releases/{tag_name}/assets/links/{link_id}" => AssetLink,
    touches [ListAssetLinks, ListReleases];
    struct UpdateAssetLink {
        id: Id,
        tag_name: String,
        link_id: u64,
        name: Option<String>,
        url: Option<String>,
        link_type: Option<String>,
    }

    /// Removes a link from a release; what it leads to stays.
    DELETE "/projects/{id}/releases/{tag_name}/assets/links/{link_id}" => AssetLink,
    touches [ListAssetLinks, ListReleases];
    struct DeleteAssetLink { id: Id, tag_name: String, link_id: u64 }
}
