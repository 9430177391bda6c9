//! The version of a server, and the permissions of a token.

use labscope::api::identity::*;

requests! {
    GetMetadata {} => "GET /metadata";
    GetVersion {} => "GET /version";
    GetOwnToken {} => "GET /personal_access_tokens/self";
}

samples! {
    Metadata => r#"{"version": "18.9.0-ee", "revision": "c401a659d0c", "enterprise": true}"#;
    Metadata => r#"{"version": "10.6.0", "revision": "60def45"}"#;
    AccessToken => r#"{"id": 4, "name": "Test Token", "revoked": false, "created_at": "2020-07-23T14:31:47.729Z",
        "description": "Test Token description", "scopes": ["api"], "user_id": 3,
        "last_used_at": "2021-10-06T17:58:37.550Z", "active": true, "expires_at": null}"#;
}
