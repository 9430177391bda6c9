//! Branches of a project's repository (specification, "Branches").

use crate::api::types::Id;
use crate::api::{Nothing, types::Time};
use serde::{Deserialize, Serialize};

/// A branch and the commit at its head.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Branch {
    pub name: String,
    pub merged: bool,
    pub protected: bool,
    pub developers_can_push: bool,
    pub developers_can_merge: bool,
    pub created: Option<Time>,
}

crate::endpoints! {
    section "Branches";

    /// Lists branches by name.
    GET "/projects/{id}/repository/branches" => Vec<Branch>;
    struct ListBranches {
        id: Id,
        /// Part of the name, in any case.
        search: Option<String>,
    }

    /// Protects a branch; protecting it again changes nothing.
    PUT "/projects/{id}/repository/branches/{branch}/protect" => Branch,
    touches ["/projects/{id}/repository/branches"];
    struct ProtectBranch {
        id: Id,
        branch: String,
        developers_can_push: Option<bool>,
        developers_can_merge: Option<bool>,
    }

    /// Deletes a branch.
    DELETE "/projects/{id}/repository/branches/{branch}" => Nothing,
    touches ["/projects/{id}/repository/branches"];
    struct DeleteBranch { id: Id, branch: String }
}
