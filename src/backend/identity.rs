//! Identity: the server's version, and the scopes of the caller's token.

use super::access_tokens::show_token;
use super::call::{Outcome, ReadCall, ok};
use super::mount::Mount;
use super::rejection::Rejection;
use api::identity::{AccessToken, AgentServer, GetMetadata, GetOwnToken, GetVersion, Metadata};

pub fn mount(mount: Mount) -> Mount {
    mount
        .read_signed_in::<GetMetadata>(|call, _| ok(version(call)))
        .read_signed_in::<GetVersion>(|call, _| ok(version(call)))
        .read_signed_in::<GetOwnToken>(own_token)
}

fn version(call: &ReadCall) -> Metadata {
    let none = || None.into();
    let kas = AgentServer { enabled: false, external_url: none(), external_k8s_proxy_url: none(), version: none() };
    let (version, revision) = (call.version.number().into(), env!("CARGO_PKG_VERSION").into());
    Metadata { version, revision, enterprise: Some(true), kas: Some(kas) }
}

fn own_token(call: &ReadCall, _: GetOwnToken) -> Outcome<AccessToken> {
    let token = call.rights.token.and_then(|id| call.world.tokens.get(id)).ok_or_else(Rejection::unauthorized)?;
    if token.refresh.is_some() {
        return Err(Rejection::bad_request(
            "400 Bad request - This endpoint requires token type to be a personal access token",
        ));
    }
    ok(show_token(call, token))
}
