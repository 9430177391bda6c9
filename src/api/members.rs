//! Members of projects and groups. Not in the specification, although servers of that version support them.

use crate::{NoContent, Nullable, Time};

crate::resource! {
    /// A membership of a user in a project or group.
    pub struct Member {
        id: u64,
        name: String,
        username: String,
        /// The state of the user: `active`, `blocked`, and more on newer servers.
        state: String,
        avatar_url: Option<String>,
        web_url: String,
        /// The access level: 10 guest, 20 reporter, 30 developer, 40 maintainer, 50 owner; newer servers have more.
        access_level: u64,
        created_at: Option<Time>,
        /// The date on which the membership ends.
        expires_at: Option<Time>,
    }
    served {
        public_email: Nullable<String>,
        locked: Option<bool>,
        membership_state: Option<String>,
    }
}

crate::endpoints! {
    unspecified section "Members";

    /// Lists the direct members.
    GET "/members" of scope: Scope [project, group] => Vec<Member>, about Members;
    struct ListMembers {
        /// Part of the name or username.
        query: Option<String>,
    }

    /// Lists the members, including inherited ones, each with the highest role (since 11.2).
    GET "/members/all" of scope: Scope [project, group] => Vec<Member>, about Members;
    struct ListAllMembers {
        /// Part of the name or username.
        query: Option<String>,
    }

    /// Adds a member.
    POST "/members" of scope: Scope [project, group] => Member,
    outdates [Members];
    struct AddMember {
        user_id: u64,
        /// Access level: 10 guest, 20 reporter, 30 developer, 40 maintainer, 50 owner.
        access_level: u64,
        /// Date on which the membership ends.
        expires_at: Option<String>,
    }

    /// Updates the role of a direct member.
    PUT "/members/{user_id}" of scope: Scope [project, group] => Member,
    outdates [Members];
    struct UpdateMember {
        user_id: u64,
        /// Access level: 10 guest, 20 reporter, 30 developer, 40 maintainer, 50 owner.
        access_level: u64,
        /// Date on which the membership ends; an empty value removes the date.
        expires_at: Option<String>,
    }

    /// Removes a direct member.
    DELETE "/members/{user_id}" of scope: Scope [project, group] => NoContent,
    outdates [Members];
    struct RemoveMember { user_id: u64 }
}
