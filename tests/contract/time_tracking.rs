//! Time tracking.

use crate::sample::word;
use labscope::api::Noteable;
use labscope::api::time_tracking::*;

fn request() -> Noteable {
    Noteable::MergeRequest { project: "a/b".into(), iid: 4 }
}

fn issue() -> Noteable {
    Noteable::Issue { project: 7.into(), iid: 4 }
}

requests! {
    SetTimeEstimate { on: request(), duration: "2d 4h".into() } =>
        "POST /projects/a%2Fb/merge_requests/4/time_estimate | duration=2d 4h";
    SetTimeEstimate { on: issue(), duration: "2d".into() } => "POST /projects/7/issues/4/time_estimate | duration=2d";
    ResetTimeEstimate { on: request() } => "POST /projects/a%2Fb/merge_requests/4/reset_time_estimate";
    ResetTimeEstimate { on: issue() } => "POST /projects/7/issues/4/reset_time_estimate";
    AddSpentTime { on: request(), duration: "-30m".into(), summary: word("Less") } =>
        "POST /projects/a%2Fb/merge_requests/4/add_spent_time | duration=-30m&summary=Less";
    AddSpentTime { on: issue(), duration: "1h".into(), summary: None } =>
        "POST /projects/7/issues/4/add_spent_time | duration=1h";
    ResetSpentTime { on: request() } => "POST /projects/a%2Fb/merge_requests/4/reset_spent_time";
    ResetSpentTime { on: issue() } => "POST /projects/7/issues/4/reset_spent_time";
}
