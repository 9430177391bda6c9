//! Delivers events to system hooks.

use super::records;
use super::world::World;
use api::proxy::is_loopback;
use serde_json::Value;
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(10);
/// The delays before retries when the receiver could not be reached.
const RETRY_DELAYS: [Duration; 4] =
    [Duration::from_millis(200), Duration::from_secs(1), Duration::from_secs(5), Duration::from_secs(25)];

/// The kinds of events that a hook can subscribe to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EventKind {
    Push,
    TagPush,
    MergeRequest,
}

/// An event for system hooks.
#[derive(Clone, Debug)]
pub struct HookEvent {
    pub kind: EventKind,
    /// The JSON payload.
    pub body: Value,
}

/// Delivers events to the hooks that subscribe to them, in the background and ignoring failures.
pub fn deliver_all(world: &World, events: Vec<HookEvent>) {
    for event in events {
        let body = serde_json::to_vec(&event.body).unwrap_or_default();
        for hook in world.hooks.iter().filter(|hook| match event.kind {
            EventKind::Push => hook.push_events,
            EventKind::TagPush => hook.tag_push_events,
            EventKind::MergeRequest => hook.merge_requests_events,
        }) {
            let (hook, body) = (hook.clone(), body.clone());
            tokio::runtime::Handle::current().spawn(async move {
                let mut delays = RETRY_DELAYS.iter();
                while let Err(error) = deliver(&hook, body.clone()).await {
                    tracing::warn!("the hook {} was not delivered: {error}", hook.url);
                    // The receiver was not reached; one that replies with an error status is not retried.
                    match delays.next() {
                        Some(delay) => tokio::time::sleep(*delay).await,
                        None => break,
                    }
                }
            });
        }
    }
}

/// Sends an event to a receiver.
pub async fn deliver(hook: &records::Hook, body: Vec<u8>) -> Result<(), reqwest::Error> {
    // A standalone server has no other client that would have installed the provider.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder()
        .timeout(TIMEOUT)
        .redirect(reqwest::redirect::Policy::none())
        .tls_danger_accept_invalid_certs(!hook.enable_ssl_verification);
    // A receiver on this machine is never behind a proxy, whatever the environment says.
    let is_here = url::Url::parse(&hook.url).is_ok_and(|url| is_loopback(&url));
    let client = if is_here { client.no_proxy() } else { client };
    let client = client.build()?;
    let mut request = client
        .post(&hook.url)
        .header("content-type", "application/json")
        .header("x-gitlab-event", "System Hook")
        .body(body);
    if let Some(token) = &hook.token {
        request = request.header("x-gitlab-token", token);
    }
    request.send().await.map(drop)
}
