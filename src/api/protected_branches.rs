//! Protection rules of branches: a branch name, or a pattern that matches several. Not in the specification; available
//! since 9.5.

use crate::{Id, NoContent};

crate::resource! {
    /// A permission, granted to a role or to a single user, group or key.
    pub struct BranchAccess {
        /// The access level: 0 nobody, 30 developers, 40 maintainers; null for a user, group or key.
        access_level: Option<u64>,
        access_level_description: String,
    }
    unspecified {
        id: Option<u64>,
        user_id: Option<u64>,
        group_id: Option<u64>,
        deploy_key_id: Option<u64>,
    }
}

crate::resource! {
    /// A protection rule.
    pub struct ProtectionRule {
        /// A branch, or a pattern such as `release/*`.
        name: String,
        push_access_levels: Vec<BranchAccess>,
        merge_access_levels: Vec<BranchAccess>,
    }
    unspecified {
        id: Option<u64>,
        allow_force_push: Option<bool>,
        code_owner_approval_required: Option<bool>,
        inherited: Option<bool>,
    }
}

crate::input_object! {
    default
    /// A change of a permission of a rule: of the one with this `id`, or a new one if `id` is absent.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct AccessChange {
        pub id: Option<u64>,
        /// The access level: 0 nobody, 30 developers, 40 maintainers.
        pub access_level: u64,
    }
}

/// Returns whether the rule `name` matches a branch; `*` matches any characters.
pub fn covers(name: &str, branch: &str) -> bool {
    let Some((first, rest)) = name.split_once('*') else { return name == branch };
    let Some(mut left) = branch.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        let Some((_, behind)) = left.split_once(part) else { return false };
        left = behind;
    }
    left.ends_with(last)
}

crate::endpoints! {
    unspecified section "Protected branches";

    /// Lists the protection rules of a project.
    GET "/projects/{id}/protected_branches" => Vec<ProtectionRule>, about ProtectionRules;
    struct ListProtectionRules { id: Id }

    /// Protects the branches that match a name or a pattern.
    POST "/projects/{id}/protected_branches" => ProtectionRule,
    outdates [ProtectionRules, Branches];
    struct CreateProtectionRule {
        id: Id,
        name: String,
        /// Role that can push: 0 nobody, 30 developers, 40 maintainers (default).
        push_access_level: Option<u64>,
        /// Role that can merge: 0 nobody, 30 developers, 40 maintainers (default).
        merge_access_level: Option<u64>,
        allow_force_push: Option<bool>,
    }

    /// Updates a rule (since 15.6).
    JSON PATCH "/projects/{id}/protected_branches/{name}" => ProtectionRule,
    outdates [ProtectionRules, Branches];
    struct UpdateProtectionRule {
        id: Id,
        name: String,
        /// Permissions to push; ignored by servers without a Premium license.
        allowed_to_push: Option<Vec<AccessChange>>,
        /// Permissions to merge; ignored by servers without a Premium license.
        allowed_to_merge: Option<Vec<AccessChange>>,
        allow_force_push: Option<bool>,
    }

    /// Deletes a rule.
    DELETE "/projects/{id}/protected_branches/{name}" => NoContent,
    outdates [ProtectionRules, Branches];
    struct DeleteProtectionRule { id: Id, name: String }
}

#[cfg(test)]
mod tests {
    use super::covers;

    #[test]
    fn wildcards_match_any_characters() {
        for (name, branch) in
            [("main", "main"), ("release/*", "release/1"), ("*", "a/b"), ("*-stable", "1-stable"), ("a*b*c", "a-b-c")]
        {
            assert!(covers(name, branch), "{name} covers {branch}");
        }
        for (name, branch) in [("main", "main2"), ("release/*", "releases/1"), ("*-stable", "stable"), ("a*b*c", "acb")]
        {
            assert!(!covers(name, branch), "{name} does not cover {branch}");
        }
    }
}
