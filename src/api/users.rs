//! Users, the current user, and their keys (specification, "Users").

use crate::projects::Project;
use crate::types::File;
use crate::views::OWNER;
use crate::{Id, NoContent, Nullable, Time};
use std::collections::BTreeMap;

crate::resource! {
    /// A user as part of other resources: the specification's brief user.
    pub struct User {
        id: u64,
        name: String,
        username: String,
        /// The state: `active`, `blocked`, and more on newer servers.
        state: String,
        avatar_url: Option<String>,
        web_url: String,
    }
    views {
        /// The email address; only for authors of notes, comments and snippets.
        email: Option<String>,
        created_at: Option<Time>,
    }
    served {
        public_email: Nullable<String>,
        locked: Option<bool>,
    }
}

crate::resource! {
    /// A user as returned by the endpoints for users; the fields depend on the permissions of the caller.
    pub struct Profile {
        id: u64,
        name: String,
        username: String,
        /// The state: `active`, `blocked`, and more on newer servers.
        state: String,
        avatar_url: Option<String>,
        web_url: String,
    }
    views {
        created_at: Option<Time>,
        bio: Nullable<String>,
        location: Nullable<String>,
        messenger_id: Option<String>,
        network_profile: Option<String>,
        microblog_account: Option<String>,
        website_url: Option<String>,
        organization: Option<String>,
        email: Option<String>,
        is_admin: Option<bool>,
        last_sign_in_at: Nullable<Time>,
        confirmed_at: Nullable<Time>,
        theme_id: Option<u64>,
        /// The date of the last activity, without a time.
        last_activity_on: Nullable<Time>,
        color_scheme_id: Option<u64>,
        projects_limit: Option<u64>,
        current_sign_in_at: Nullable<Time>,
        identities: Option<Vec<Identity>>,
        can_create_group: Option<bool>,
        can_create_project: Option<bool>,
        two_factor_enabled: Option<bool>,
        external: Option<bool>,
        shared_runners_minutes_limit: Nullable<u64>,
        custom_attributes: Option<Vec<CustomAttribute>>,
    }
    unspecified {
        public_email: Nullable<String>,
        job_title: Nullable<String>,
        pronouns: Nullable<String>,
        bot: Option<bool>,
        locked: Option<bool>,
        local_time: Nullable<String>,
        /// The name of real servers for `messenger_id`.
        skype: Option<String>,
        /// The name of real servers for `network_profile`.
        linkedin: Option<String>,
        /// The name of real servers for `microblog_account`.
        twitter: Option<String>,
    }
    served {
        followers: Option<u64>,
        following: Option<u64>,
        work_information: Nullable<String>,
        private_profile: Option<bool>,
        commit_email: Option<String>,
        preferred_language: Option<String>,
        note: Nullable<String>,
        namespace_id: Option<u64>,
        created_by: Nullable<User>,
    }
}

impl User {
    /// Returns whether the account is a program, as far as its name says: servers tell it only to administrators. GitLab names
    /// the accounts of access tokens `project_7_bot_…` and `group_7_bot_…` (before 15.0 `project_7_bot` or `project_7_bot1`),
    /// service accounts `service_account_…`, and its own ones `support-bot` and the like.
    pub fn is_bot(&self) -> bool {
        let name = self.username.to_ascii_lowercase();
        let of_token = |kind: &str| {
            let rest = name.strip_prefix(kind)?.trim_start_matches(|c: char| c.is_ascii_digit());
            let rest = rest.strip_prefix("_bot")?;
            Some(rest.is_empty() || rest.starts_with('_') || rest.chars().all(|c| c.is_ascii_digit()))
        };
        let is_of_token = ["project_", "group_"].into_iter().any(|kind| of_token(kind).unwrap_or_default());
        is_of_token
            || name.starts_with("service_account_")
            || ["-bot", "_bot", "[bot]"].iter().any(|end| name.ends_with(end))
    }

    /// Returns the username, or the name of a bot, whose username says nothing.
    pub fn short_name(&self) -> &str {
        if self.is_bot() && !self.name.is_empty() { &self.name } else { &self.username }
    }
}

impl Profile {
    /// Returns the account name of a messenger.
    pub fn messenger(&self) -> Option<&str> {
        self.messenger_id.as_deref().or(self.skype.as_deref())
    }

    /// Returns the account name of a professional network.
    pub fn network(&self) -> Option<&str> {
        self.network_profile.as_deref().or(self.linkedin.as_deref())
    }

    /// Returns the account name of a microblog.
    pub fn microblog(&self) -> Option<&str> {
        self.microblog_account.as_deref().or(self.twitter.as_deref())
    }

    /// Returns the same user as it appears in other resources.
    pub fn brief(&self) -> User {
        User {
            id: self.id,
            name: self.name.clone(),
            username: self.username.clone(),
            state: self.state.clone(),
            avatar_url: self.avatar_url.clone(),
            web_url: self.web_url.clone(),
            ..User::default()
        }
    }
}

crate::resource! {
    /// An external account with which a user signs in.
    pub struct Identity {
        provider: String,
        extern_uid: String,
    }
}

crate::resource! {
    /// A custom attribute, which administrators set for a user, group or project.
    pub struct CustomAttribute {
        key: String,
        value: String,
    }
}

crate::resource! {
    /// A public SSH key.
    pub struct SshKey {
        id: u64,
        title: String,
        key: String,
        created_at: Option<Time>,
    }
    views {
        /// The owner of the key; only when it was looked up by ID.
        user: Option<Box<Profile>>,
    }
    unspecified {
        expires_at: Nullable<Time>,
        last_used_at: Nullable<Time>,
        /// The usage: `auth`, `signing` or `auth_and_signing`.
        usage_type: Option<String>,
    }
}

crate::resource! {
    /// A public GPG key, in ASCII armor.
    pub struct GpgKey {
        id: u64,
        key: String,
        created_at: Option<Time>,
    }
}

crate::endpoints! {
    section "Users";

    common {
        messenger_id: Option<String>,
        network_profile: Option<String>,
        microblog_account: Option<String>,
        website_url: Option<String>,
        organization: Option<String>,
        projects_limit: Option<u64>,
        extern_uid: Option<String>,
        provider: Option<String>,
        bio: Option<String>,
        location: Option<String>,
        avatar: Option<File>,
        admin: Option<bool>,
        can_create_group: Option<bool>,
        external: Option<bool>,
        shared_runners_minutes_limit: Option<u64>,
    }

    /// Lists users.
    GET "/users" => Vec<Profile>, about Users;
    struct ListUsers {
        /// Only `true` has an effect.
        active: Option<bool>,
        /// Only `true` has an effect.
        blocked: Option<bool>,
        /// Part of the name, username or email address.
        search: Option<String>,
        username: Option<String>,
        extern_uid: Option<String>,
        provider: Option<String>,
        external: Option<bool>,
        created_after: Option<Time>,
        created_before: Option<Time>,
        custom_attributes: Option<BTreeMap<String, String>>,
        with_custom_attributes: Option<bool>,
        /// `id` (default), `name`, `username`, `created_at` or `updated_at`; administrators only.
        order_by: Option<String>,
        /// `asc` or `desc` (default); administrators only.
        sort: Option<String>,
    }

    /// Gets a single user.
    GET "/users/{id}" => Profile, about Users;
    struct GetUser { id: u64, with_custom_attributes: Option<bool> }

    /// Creates a user; administrators only. Either `password` or `reset_password` is required.
    POST "/users" => Profile,
    outdates [Users];
    struct CreateUser {
        email: String,
        username: String,
        name: String,
        password: Option<String>,
        /// Whether to send a link for setting a password, instead of using `password`.
        reset_password: Option<bool>,
        /// Whether to skip the confirmation of the email address.
        skip_confirmation: Option<bool>,
        ..
    }

    /// Updates a user; administrators only.
    PUT "/users/{id}" => Profile,
    outdates [Users, CurrentUser];
    struct UpdateUser {
        id: u64,
        email: Option<String>,
        username: Option<String>,
        name: Option<String>,
        /// New password, which the user must change at the next sign-in.
        password: Option<String>,
        /// Whether to skip the confirmation of a new email address.
        skip_reconfirmation: Option<bool>,
        ..
    }

    /// Deletes a user; administrators only.
    DELETE "/users/{id}" => NoContent,
    outdates [Users];
    struct DeleteUser {
        id: u64,
        /// Whether to also delete the user's contributions, instead of moving them to the ghost user.
        hard_delete: Option<bool>,
    }

    /// Gets the current user.
    GET "/user" => Profile, about CurrentUser;
    struct GetCurrentUser {
        /// ID of the user to act as; administrators only.
        sudo: Option<u64>,
    }

    /// Lists the caller's SSH keys.
    GET "/user/keys" => Vec<SshKey>, about SshKeys;
    struct ListKeys {}

    /// Lists the SSH keys of a user.
    GET "/users/{id}/keys" => Vec<SshKey>, about SshKeys;
    struct ListUserKeys { id: Id }

    /// Gets one of the caller's SSH keys.
    GET "/user/keys/{key_id}" => SshKey, about SshKeys;
    struct GetKey { key_id: u64 }

    /// Adds an SSH key for the caller.
    POST "/user/keys" => SshKey,
    outdates [SshKeys];
    struct AddKey { title: String, key: String }

    /// Adds an SSH key for a user; administrators only.
    POST "/users/{id}/keys" => SshKey,
    outdates [SshKeys];
    struct AddUserKey { id: u64, title: String, key: String }

    /// Deletes an SSH key of the caller.
    DELETE "/user/keys/{key_id}" => NoContent,
    outdates [SshKeys];
    struct DeleteKey { key_id: u64 }

    /// Deletes an SSH key of a user; administrators only.
    DELETE "/users/{id}/keys/{key_id}" => NoContent,
    outdates [SshKeys];
    struct DeleteUserKey { id: u64, key_id: u64 }

    /// Lists the caller's GPG keys.
    GET "/user/gpg_keys" => Vec<GpgKey>, about GpgKeys;
    struct ListGpgKeys {}

    /// Gets one of the caller's GPG keys.
    GET "/user/gpg_keys/{key_id}" => GpgKey, about GpgKeys;
    struct GetGpgKey { key_id: u64 }

    /// Adds a GPG key for the caller.
    POST "/user/gpg_keys" => GpgKey,
    outdates [GpgKeys];
    struct AddGpgKey { key: String }

    /// Deletes a GPG key of the caller.
    DELETE "/user/gpg_keys/{key_id}" => NoContent,
    outdates [GpgKeys];
    struct DeleteGpgKey { key_id: u64 }

    /// Lists the GPG keys of a user.
    GET "/users/{id}/gpg_keys" => Vec<GpgKey>;
    struct ListUserGpgKeys { id: u64 }

    /// Gets a GPG key of a user.
    GET "/users/{id}/gpg_keys/{key_id}" => GpgKey;
    struct GetUserGpgKey { id: u64, key_id: u64 }

    /// Gets an SSH key by its ID, with its owner; administrators only.
    GET "/keys/{id}" => SshKey;
    struct LookUpKey { id: u64 }

    /// Lists the projects of a user.
    GET "/users/{user_id}/projects" => Vec<Project>, about Projects,
    views ["owner": OWNER];
    struct ListUserProjects {
        /// ID or username.
        user_id: Id,
        archived: Option<bool>,
        visibility: Option<String>,
        order_by: Option<String>,
        sort: Option<String>,
        search: Option<String>,
        simple: Option<bool>,
        owned: Option<bool>,
        membership: Option<bool>,
        starred: Option<bool>,
        statistics: Option<bool>,
        with_custom_attributes: Option<bool>,
        with_issues_enabled: Option<bool>,
        with_merge_requests_enabled: Option<bool>,
        custom_attributes: Option<BTreeMap<String, String>>,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of access tokens in GitLab 13.0 to 19.5 (app/services/resource_access_tokens/create_service.rb), of service
    /// accounts (17.0 on), and of accounts that GitLab or teams made.
    #[test]
    fn bots_are_told_by_their_names() {
        let is_bot = |username: &str| User { username: username.into(), ..User::default() }.is_bot();
        for name in [
            "project_123_bot",
            "project_123_bot1",
            "project_123_bot_0f3a9c55d2e8b1476a90cc1e7d24b8f0",
            "group_99_bot_a1b2c3",
            "service_account_group_5_9b8a7c",
            "service_account_0a1b2c3d",
            "support-bot",
            "alert-bot",
            "Renovate-Bot",
            "release_bot",
            "dependabot[bot]",
        ] {
            assert!(is_bot(name), "{name}");
        }
        for name in ["abbot", "talbot", "project_manager", "project_7_bottle", "group_hug", "robot", "bot.smith", ""] {
            assert!(!is_bot(name), "{name}");
        }
    }
}
