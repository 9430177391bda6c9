//! Members of projects and groups. Not in the specification, although servers of that version support them.

use crate::api::projects::ListProjectUsers;
use crate::api::{Id, NoContent, Time};

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
}

crate::endpoints! {
    unspecified section "Members";

    /// Lists the direct members of a project.
    GET "/projects/{id}/members" => Vec<Member>;
    struct ListMembers {
        id: Id,
        /// Part of the name or username.
        query: Option<String>,
    }

    /// Lists the members of a project, including inherited ones, each with the highest role (since 11.2).
    GET "/projects/{id}/members/all" => Vec<Member>;
    struct ListAllMembers {
        id: Id,
        /// Part of the name or username.
        query: Option<String>,
    }

    /// Adds a member to a project.
    POST "/projects/{id}/members" => Member,
    touches [ListMembers, ListAllMembers, ListProjectUsers];
    struct AddMember {
        id: Id,
        user_id: u64,
        /// Access level: 10 guest, 20 reporter, 30 developer, 40 maintainer, 50 owner.
        access_level: u64,
        /// Date on which the membership ends.
        expires_at: Option<String>,
    }

    /// Updates the role of a direct member of a project.
    PUT "/projects/{id}/members/{user_id}" => Member,
    touches [ListMembers, ListAllMembers];
    struct UpdateMember {
        id: Id,
        user_id: u64,
        /// Access level: 10 guest, 20 reporter, 30 developer, 40 maintainer, 50 owner.
        access_level: u64,
        /// Date on which the membership ends; an empty value removes the date.
        expires_at: Option<String>,
    }

    /// Removes a direct member from a project.
    DELETE "/projects/{id}/members/{user_id}" => NoContent,
    touches [ListMembers, ListAllMembers, ListProjectUsers];
    struct RemoveMember { id: Id, user_id: u64 }

    /// Lists the direct members of a group.
    GET "/groups/{id}/members" => Vec<Member>;
    struct ListGroupMembers {
        id: Id,
        /// Part of the name or username.
        query: Option<String>,
    }

    /// Lists the members of a group, including inherited ones, each with the highest role (since 11.2).
    GET "/groups/{id}/members/all" => Vec<Member>;
    struct ListAllGroupMembers {
        id: Id,
        /// Part of the name or username.
        query: Option<String>,
    }

    /// Adds a member to a group.
    POST "/groups/{id}/members" => Member,
    touches [ListGroupMembers, ListAllGroupMembers, ListAllMembers, ListProjectUsers];
    struct AddGroupMember {
        id: Id,
        user_id: u64,
        /// Access level: 10 guest, 20 reporter, 30 developer, 40 maintainer, 50 owner.
        access_level: u64,
        /// Date on which the membership ends.
        expires_at: Option<String>,
    }

    /// Updates the role of a direct member of a group.
    PUT "/groups/{id}/members/{user_id}" => Member,
    touches [ListGroupMembers, ListAllGroupMembers, ListAllMembers];
    struct UpdateGroupMember {
        id: Id,
        user_id: u64,
        /// Access level: 10 guest, 20 reporter, 30 developer, 40 maintainer, 50 owner.
        access_level: u64,
        /// Date on which the membership ends; an empty value removes the date.
        expires_at: Option<String>,
    }

    /// Removes a direct member from a group.
    DELETE "/groups/{id}/members/{user_id}" => NoContent,
    touches [ListGroupMembers, ListAllGroupMembers, ListAllMembers, ListProjectUsers];
    struct RemoveGroupMember { id: Id, user_id: u64 }
}
