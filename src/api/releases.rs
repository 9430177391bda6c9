//! Releases of a project. Not in the specification; available since 11.7. Older servers have only a release description
//! per tag.

use crate::commits::Commit;
use crate::merge_requests::Milestone;
use crate::users::User;
use crate::{Id, Time};
use serde_json::Value;

crate::resource! {
    /// A release of a project.
    pub struct Release {
        tag_name: String,
        name: Option<String>,
        /// The release notes in Markdown.
        description: Option<String>,
        created_at: Option<Time>,
        /// The release date; in the future for upcoming releases.
        released_at: Option<Time>,
    }
    unspecified {
        author: Option<User>,
        milestones: Option<Vec<Milestone>>,
        upcoming_release: Option<bool>,
        assets: Option<Assets>,
    }
    served {
        // Absent if the caller may not read the code.
        commit: Option<Commit>,
        commit_path: Option<String>,
        tag_path: Option<String>,
        evidences: Option<Vec<Value>>,
        #[serde(rename = "_links")]
        links: Option<ReleaseLinks>,
    }
}

crate::resource! {
    /// The pages of a release; lists of issues and merge requests are those of its milestones.
    pub struct ReleaseLinks {
        #[serde(rename = "self")]
        this: String,
        edit_url: String,
        closed_issues_url: String,
        closed_merge_requests_url: String,
        merged_merge_requests_url: String,
        opened_issues_url: String,
        opened_merge_requests_url: String,
    }
}

crate::resource! {
    /// The assets of a release.
    pub struct Assets {
        /// The source archives; absent if the caller may not read the code.
        sources: Vec<AssetSource>,
        links: Vec<AssetLink>,
    }
    served {
        /// The number of sources and links.
        count: Option<u64>,
    }
}

crate::resource! {
    /// A source archive of the tag.
    pub struct AssetSource {
        format: String,
        url: String,
    }
}

crate::resource! {
    /// A link to a file or a page.
    pub struct AssetLink {
        id: u64,
        name: String,
        url: String,
        /// The type: `other`, `runbook`, `image` or `package`.
        link_type: String,
    }
    served {
        direct_asset_url: Option<String>,
    }
}

/// The types of asset links.
pub const LINK_TYPES: &[&str] = &["other", "runbook", "image", "package"];

impl Release {
    /// Returns the name, or the tag if the release has no name.
    pub fn title(&self) -> &str {
        self.name.as_deref().filter(|name| !name.is_empty()).unwrap_or(&self.tag_name)
    }
}

crate::endpoints! {
    unspecified section "Releases";

    /// Lists the releases of a project, latest first.
    GET "/projects/{id}/releases" => Vec<Release>, about Releases;
    struct ListReleases { id: Id }

    /// Creates a release for a tag; also creates the tag if `ref` is set.
    POST "/projects/{id}/releases" => Release,
    outdates [Releases, Tags];
    struct CreateRelease {
        id: Id,
        tag_name: String,
        name: Option<String>,
        description: Option<String>,
        /// Commit, branch or tag, if the tag does not exist yet.
        r#ref: Option<String>,
    }

    /// Updates a release.
    PUT "/projects/{id}/releases/{tag_name}" => Release,
    outdates [Releases, Tags];
    struct UpdateRelease { id: Id, tag_name: String, name: Option<String>, description: Option<String> }

    /// Deletes a release; its tag is kept.
    DELETE "/projects/{id}/releases/{tag_name}" => Release,
    outdates [Releases, Tags];
    struct DeleteRelease { id: Id, tag_name: String }

    /// Lists the asset links of a release.
    GET "/projects/{id}/releases/{tag_name}/assets/links" => Vec<AssetLink>, about AssetLinks;
    struct ListAssetLinks { id: Id, tag_name: String }

    /// Adds a link to the assets of a release. Names and URLs must be unique.
    POST "/projects/{id}/releases/{tag_name}/assets/links" => AssetLink,
    outdates [AssetLinks, Releases];
    struct CreateAssetLink {
        id: Id,
        tag_name: String,
        name: String,
        /// URL with http, https or ftp.
        url: String,
        /// `other` (default), `runbook`, `image` or `package`.
        link_type: Option<String>,
    }

    /// Updates an asset link of a release. Servers require the name or the URL, and reset an absent type to `other`.
    PUT "/projects/{id}/releases/{tag_name}/assets/links/{link_id}" => AssetLink,
    outdates [AssetLinks, Releases];
    struct UpdateAssetLink {
        id: Id,
        tag_name: String,
        link_id: u64,
        name: Option<String>,
        url: Option<String>,
        link_type: Option<String>,
    }

    /// Removes an asset link from a release; the target of the link is not deleted.
    DELETE "/projects/{id}/releases/{tag_name}/assets/links/{link_id}" => AssetLink,
    outdates [AssetLinks, Releases];
    struct DeleteAssetLink { id: Id, tag_name: String, link_id: u64 }
}
