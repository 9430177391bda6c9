//! Subscriptions.

use labscope::api::Noteable;
use labscope::api::subscriptions::*;

requests! {
    Subscribe { on: Noteable::MergeRequest { project: "a/b".into(), iid: 4 } } =>
        "POST /projects/a%2Fb/merge_requests/4/subscribe";
    Subscribe { on: Noteable::Issue { project: 7.into(), iid: 4 } } => "POST /projects/7/issues/4/subscribe";
    Unsubscribe { on: Noteable::MergeRequest { project: 7.into(), iid: 4 } } =>
        "POST /projects/7/merge_requests/4/unsubscribe";
    Unsubscribe { on: Noteable::Issue { project: 7.into(), iid: 4 } } => "POST /projects/7/issues/4/unsubscribe";
}
