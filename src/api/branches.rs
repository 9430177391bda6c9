//! Branches of a project's repository (specification, "Branches").

use crate::commits::Commit;
use crate::views::COMMIT_OF_BRANCH;
use crate::{Id, NoContent};

crate::resource! {
    /// A branch and the commit at its head.
    pub struct Branch {
        name: String,
        /// Whether the branch is completely merged into the default branch.
        merged: bool,
        protected: bool,
        developers_can_push: bool,
        developers_can_merge: bool,
        commit: Option<Commit>,
    }
    unspecified {
        default: Option<bool>,
        web_url: Option<String>,
    }
    served {
        /// Whether the caller may push to it.
        can_push: Option<bool>,
    }
}

crate::endpoints! {
    section "Branches";

    /// Lists branches by name.
    GET "/projects/{id}/repository/branches" => Vec<Branch>, about Branches,
    views ["commit": COMMIT_OF_BRANCH];
    struct ListBranches {
        id: Id,
        /// Part of the name, case-insensitive.
        search: Option<String>,
    }

    /// Gets a single branch.
    GET "/projects/{id}/repository/branches/{branch}" => Branch, about Branches,
    views ["commit": COMMIT_OF_BRANCH];
    struct GetBranch { id: Id, branch: String }

    /// Protects a branch; protecting it again changes nothing.
    PUT "/projects/{id}/repository/branches/{branch}/protect" => Branch,
    outdates [Branches],
    views ["commit": COMMIT_OF_BRANCH];
    struct ProtectBranch {
        id: Id,
        branch: String,
        developers_can_push: Option<bool>,
        developers_can_merge: Option<bool>,
    }

    /// Removes the protection of a branch; doing it again changes nothing.
    PUT "/projects/{id}/repository/branches/{branch}/unprotect" => Branch,
    outdates [Branches],
    views ["commit": COMMIT_OF_BRANCH];
    struct UnprotectBranch { id: Id, branch: String }

    /// Creates a branch.
    POST "/projects/{id}/repository/branches" => Branch,
    outdates [Branches],
    views ["commit": COMMIT_OF_BRANCH];
    struct CreateBranch {
        id: Id,
        /// The name of the new branch.
        branch: String,
        /// The starting point: a branch or a commit SHA.
        r#ref: String,
    }

    /// Deletes a branch.
    DELETE "/projects/{id}/repository/branches/{branch}" => NoContent,
    outdates [Branches];
    struct DeleteBranch { id: Id, branch: String }

    /// Deletes all branches that are merged into the default branch, except protected ones.
    DELETE "/projects/{id}/repository/merged_branches" => NoContent,
    outdates [Branches];
    struct DeleteMergedBranches { id: Id }
}
