//! System hooks; administrators only (specification, "System hooks").

use crate::{NoContent, Nullable, Time};
use serde_json::Value;

crate::resource! {
    /// A URL that is notified of events. The server never returns its secret token.
    pub struct Hook {
        id: u64,
        url: String,
        created_at: Option<Time>,
        push_events: bool,
        tag_push_events: bool,
        merge_requests_events: bool,
        enable_ssl_verification: bool,
    }
    unspecified {
        name: Nullable<String>,
        description: Nullable<String>,
        /// `executable`, `temporarily_disabled` or `disabled`: deliveries stop after failures.
        alert_status: Option<String>,
        /// The end of a temporary disablement.
        disabled_until: Nullable<Time>,
    }
    served {
        repository_update_events: Option<bool>,
        push_events_branch_filter: Nullable<String>,
        branch_filter_strategy: Option<String>,
        url_variables: Option<Vec<Value>>,
        custom_headers: Option<Vec<Value>>,
    }
}

crate::resource! {
    /// The sample event that a hook test delivers. Current servers return the hook instead: then `url` and `id` are
    /// set.
    pub struct HookTest {
        project_id: Option<u64>,
        owner_email: Option<String>,
        owner_name: Option<String>,
        name: Option<String>,
        path: Option<String>,
        event_name: Option<String>,
    }
    unspecified {
        id: Option<u64>,
        url: Option<String>,
    }
}

crate::endpoints! {
    section "System hooks";

    /// Lists the system hooks.
    GET "/hooks" => Vec<Hook>, about Hooks;
    struct ListHooks {}

    /// Adds a system hook.
    POST "/hooks" => Hook,
    outdates [Hooks];
    struct CreateHook {
        url: String,
        /// Secret token sent with every delivery; it cannot be read back.
        token: Option<String>,
        push_events: Option<bool>,
        tag_push_events: Option<bool>,
        merge_requests_events: Option<bool>,
        enable_ssl_verification: Option<bool>,
    }

    /// Tests a hook: the server delivers a sample event and returns it.
    GET "/hooks/{id}" => HookTest;
    struct TestHook { id: u64 }

    /// Removes a hook.
    DELETE "/hooks/{id}" => NoContent,
    outdates [Hooks];
    struct DeleteHook { id: u64 }
}
