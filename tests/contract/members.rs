//! Members.

use crate::sample::{group, project, word};
use labscope::api::Scope;
use labscope::api::members::*;

requests! {
    ListMembers { scope: project(), query: word("jo") } => "GET /projects/acme%2Fui/members?query=jo";
    ListAllMembers { scope: project(), query: None } => "GET /projects/acme%2Fui/members/all";
    AddMember { scope: project(), user_id: 5, access_level: 30, expires_at: word("2026-12-31") }
        => "POST /projects/acme%2Fui/members | access_level=30&expires_at=2026-12-31&user_id=5";
    UpdateMember { scope: project(), user_id: 5, access_level: 40, expires_at: word("") }
        => "PUT /projects/acme%2Fui/members/5 | access_level=40&expires_at=";
    RemoveMember { scope: project(), user_id: 5 } => "DELETE /projects/acme%2Fui/members/5";
    ListMembers { scope: group(), query: word("jo") } => "GET /groups/acme%2Fui/members?query=jo";
    ListAllMembers { scope: group(), query: None } => "GET /groups/acme%2Fui/members/all";
    AddMember { scope: Scope::Group(1.into()), user_id: 5, access_level: 10, expires_at: None }
        => "POST /groups/1/members | access_level=10&user_id=5";
    UpdateMember { scope: Scope::Group(1.into()), user_id: 5, access_level: 50, expires_at: None }
        => "PUT /groups/1/members/5 | access_level=50";
    RemoveMember { scope: Scope::Group(1.into()), user_id: 5 } => "DELETE /groups/1/members/5";
}

samples! {
    Member => r##"{"id": 5, "name": "Jo", "username": "jo", "state": "active", "avatar_url": null, "web_url": "http://x/jo",
        "access_level": 30, "created_at": "2026-01-02T03:04:05Z", "expires_at": "2026-12-31"}"##;
}
