//! The form for a new system hook.

use crate::api::hooks::CreateHook;
use crate::app::overlay::form::{Form, Widget};

fn check_url(url: &str) -> Result<(), String> {
    let host = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    match host {
        Some(host) if !host.is_empty() && !host.starts_with('/') && !host.contains(char::is_whitespace) => Ok(()),
        Some(_) => Err("has no host".into()),
        None => Err("must begin with https:// or http://".into()),
    }
}

/// Returns the form for a new hook. Its secret is hidden, and the server never returns it.
pub fn create() -> Form {
    Form::of::<CreateHook>("New system hook", "add the hook", "new hook")
        .field("url", |field| _ = field.label("URL").check(check_url).help("Receives the events of this server."))
        .field("token", |field| {
            field.label("secret").widget(Widget::Secret);
            field.help("Sent with every delivery as X-Gitlab-Token.");
        })
        .field("push_events", |field| _ = field.label("pushes").default("no").help("Sent on every push."))
        .field("tag_push_events", |field| _ = field.label("pushed tags").default("no").help("Sent on new tags."))
        .field("merge_requests_events", |field| {
            field.label("merge requests").default("no").help("Sent when merge requests are opened, updated or merged.");
        })
        .field("enable_ssl_verification", |field| {
            field.label("check certificate").default("yes").help("no: delivers even if the certificate is invalid.");
        })
}
