//! Identity: the server's version, and the scopes of the caller's token.

use super::call::{Outcome, ReadCall, ok};
use super::mount::Mount;
use super::presenters::time;
use super::rejection::Rejection;
use crate::api::identity::{AccessToken, AgentServer, GetMetadata, GetOwnToken, GetVersion, Version};

pub fn mount(mount: Mount) -> Mount {
    mount
        .read_signed_in::<GetMetadata>(|call, _| ok(version(call)))
        .read_signed_in::<GetVersion>(|call, _| ok(Version { enterprise: None, ..version(call) }))
        .read_signed_in::<GetOwnToken>(own_token)
}

fn version(call: &ReadCall) -> Version {
    let kas = AgentServer { enabled: false, external_url: None.into(), version: None.into() };
    let (version, revision) = (call.version.number().into(), env!("CARGO_PKG_VERSION").into());
    Version { version, revision, enterprise: Some(true), kas: Some(kas) }
}

fn own_token(call: &ReadCall, _: GetOwnToken) -> Outcome<AccessToken> {
    let token = call.rights.token.and_then(|id| call.world.tokens.get(id)).ok_or_else(Rejection::unauthorized)?;
    if token.refresh.is_some() {
        return Err(Rejection::bad_request(
            "400 Bad request - This endpoint requires token type to be a personal access token",
        ));
    }
    ok(AccessToken {
        id: token.id,
        name: token.name.clone(),
        scopes: if token.scopes.is_empty() { vec!["api".into()] } else { token.scopes.clone() },
        user_id: token.user,
        created_at: Some(time(token.created_at)),
        description: token.description.clone().into(),
        last_used_at: Some(time(call.now)).into(),
        active: true,
        expires_at: token.expires_at.map(|at| at.strftime("%Y-%m-%d").to_string().as_str().into()),
        ..AccessToken::default()
    })
}
