//! Servers that do not know full names of refs (`refs/tags/v1`). Such a server answers that the ref is missing. It is then
//! asked whether it has that ref under its short name, and if so, requests use short names from then on.

use super::Client;
use super::exchange::Call;
use super::moved_projects::project_of;
use super::payload::Payload;
use super::short_refs::{COMMITS, short_target};
use crate::RefKind;
use crate::endpoint::encode;
use secrecy::SecretString;
use std::sync::OnceLock;

/// Whether the server knows full names of refs, once that has been found out.
#[derive(Debug, Default)]
pub(super) struct FullRefs(OnceLock<bool>);

impl Client {
    /// Returns the call with short names of refs, if it has full ones and the server is known not to know them.
    pub(super) fn with_short_refs(&self, call: &Call) -> Option<Call> {
        let short = call.short_form.as_ref().filter(|_| self.full_refs.0.get() == Some(&false))?;
        let json = short.json.as_ref().map(|json| Payload::json(json));
        let form = || short.fields.as_ref().map(|fields| Payload::form(fields));
        let payload = json.or_else(form).or_else(|| call.payload.clone());
        let target = short_target(&call.target);
        Some(Call { target, payload, short_form: None, ..call.clone() })
    }

    /// Finds out whether the server knows full names, after it did not find the ref of a call: it does not if it has no
    /// commit under the full name, but a branch or tag under the short one.
    pub(super) async fn check_full_refs(&self, call: &Call, token: Option<&SecretString>) {
        let Some((short, project)) = call.short_form.as_ref().zip(project_of(&call.target)) else { return };
        let (Some(kind), None) = (short.git_ref.kind(), self.full_refs.0.get()) else { return };
        let list = if kind == RefKind::Tag { "tags" } else { "branches" };
        let read = async |target: String| {
            self.send_once(&Call::read(target), token).await.ok().map(|reply| reply.status().as_u16())
        };
        match read(format!("/projects/{project}{COMMITS}{}", encode(short.git_ref.as_str()))).await {
            Some(200) => _ = self.full_refs.0.set(true),
            Some(400 | 404) => {
                let found =
                    read(format!("/projects/{project}/repository/{list}/{}", encode(short.git_ref.short()))).await;
                if found == Some(200) {
                    let _ = self.full_refs.0.set(false);
                }
            }
            _ => {}
        }
    }
}
