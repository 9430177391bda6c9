//! System hooks: who is told of what happens, for administrators.

use super::call::{Call, Outcome, Reading, Writing, ok};
use super::mount::Mount;
use super::records;
use super::reject::Reject;
use super::show::time;
use super::world::World;
use crate::api::Nothing;
use crate::api::hooks::*;
use serde_json::json;
use std::ops::Deref;
use std::time::Duration;

/// How long a receiver may take.
const PATIENCE: Duration = Duration::from_secs(10);

pub fn mount(mount: Mount) -> Mount {
    mount.read::<ListHooks>(list).write::<CreateHook>(create).read::<TestHook>(test).write::<DeleteHook>(delete)
}

fn show(hook: &records::Hook) -> Hook {
    Hook {
        id: hook.id,
        url: hook.url.clone(),
        created_at: Some(time(hook.created_at)),
        push_events: hook.push_events,
        tag_push_events: hook.tag_push_events,
        merge_requests_events: hook.merge_requests_events,
        enable_ssl_verification: hook.enable_ssl_verification,
        ..Hook::default()
    }
}

fn find<W: Deref<Target = World>>(call: &Call<W>, id: u64) -> Result<&records::Hook, Reject> {
    call.world.hooks.get(id).ok_or_else(|| Reject::not_found("System hook"))
}

fn list(call: &Reading, _: ListHooks) -> Outcome<Vec<Hook>> {
    call.administrator()?;
    call.page(call.world.hooks.iter().collect(), show)
}

fn create(call: &mut Writing, input: CreateHook) -> Outcome<Hook> {
    call.administrator()?;
    let is_web =
        url::Url::parse(&input.url).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    if !is_web {
        return Err(Reject::bad(json!({ "url": ["must be a valid URL"] })));
    }
    let hook = records::Hook {
        id: 0,
        url: input.url,
        token: input.token.filter(|token| !token.is_empty()),
        push_events: input.push_events.unwrap_or(false),
        tag_push_events: input.tag_push_events.unwrap_or(false),
        merge_requests_events: input.merge_requests_events.unwrap_or(false),
        enable_ssl_verification: input.enable_ssl_verification.unwrap_or(true),
        created_at: call.now,
    };
    let id = call.world.hooks.add(hook);
    ok(show(find(call, id)?))
}

/// Delivers a sample and answers with it, whether or not somebody was there to take it.
fn test(call: &Reading, input: TestHook) -> Outcome<HookTest> {
    call.administrator()?;
    let hook = find(call, input.id)?.clone();
    let sample = HookTest {
        project_id: Some(1),
        owner_email: Some("example@example.com".into()),
        owner_name: Some("Someone".into()),
        name: Some("Ruby".into()),
        path: Some("ruby".into()),
        event_name: Some("project_create".into()),
        ..HookTest::default()
    };
    let body = serde_json::to_vec(&sample).map_err(Reject::failed)?;
    // Handlers run on threads that may wait.
    if let Err(error) = tokio::runtime::Handle::current().block_on(deliver(hook, body)) {
        tracing::warn!("a hook was not delivered: {error}");
    }
    ok(sample)
}

async fn deliver(hook: records::Hook, body: Vec<u8>) -> Result<(), reqwest::Error> {
    let client = reqwest::Client::builder()
        .timeout(PATIENCE)
        .redirect(reqwest::redirect::Policy::none())
        .tls_danger_accept_invalid_certs(!hook.enable_ssl_verification)
        .build()?;
    let mut request = client
        .post(&hook.url)
        .header("content-type", "application/json")
        .header("x-gitlab-event", "System Hook")
        .body(body);
    if let Some(token) = hook.token {
        request = request.header("x-gitlab-token", token);
    }
    request.send().await.map(drop)
}

fn delete(call: &mut Writing, input: DeleteHook) -> Outcome<Nothing> {
    call.administrator()?;
    let id = find(call, input.id)?.id;
    call.world.hooks.remove(id);
    ok(Nothing)
}
