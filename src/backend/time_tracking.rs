//! The estimated and the spent time of merge requests and issues.

use super::call::{Answer, Outcome, ReadCall, WriteCall, ok};
use super::merge_requests::time_stats;
use super::mount::Mount;
use super::notes::{self, NoteTarget};
use super::records::{Noteable, TimeSpent, level};
use super::rejection::Rejection;
use api::merge_requests::TimeStats;
use api::time_tracking::*;
use domain::work_time;
use jiff::civil::Date;
use serde_json::json;

pub fn mount(mount: Mount) -> Mount {
    mount
        .read::<GetTimeStats>(stats)
        .write::<SetTimeEstimate>(|call, e| {
            let target = notes::target(call, &e.on)?;
            let time = set_estimate(call, &target, &e.duration)?;
            Ok(Answer::new(time_stats(time)).status(200))
        })
        .write::<ResetTimeEstimate>(|call, e| {
            let target = notes::target(call, &e.on)?;
            let time = set_estimate(call, &target, "0")?;
            Ok(Answer::new(time_stats(time)).status(200))
        })
        .write::<AddSpentTime>(|call, e| {
            let target = notes::target(call, &e.on)?;
            let time = spend(call, &target, &e.duration, None)?;
            ok(time_stats(time))
        })
        .write::<ResetSpentTime>(|call, e| {
            let target = notes::target(call, &e.on)?;
            let time = reset_spent(call, &target)?;
            Ok(Answer::new(time_stats(time)).status(200))
        })
}

api::endpoints! {
    unspecified section "Time tracking";

    /// Gets the estimated and the spent time.
    GET "/time_stats" of on: Noteable [merge_request, issue] => TimeStats;
    struct GetTimeStats {}
}

fn stats(call: &ReadCall, e: GetTimeStats) -> Outcome<TimeStats> {
    let time = match notes::target(call, &e.on)?.noteable {
        Noteable::MergeRequest(id) => call.world.merge_requests.get(id).map(|mr| mr.time),
        Noteable::Issue(id) => call.world.issues.get(id).map(|issue| issue.time),
        Noteable::Snippet(_) | Noteable::Epic(_) => None,
    };
    ok(time_stats(time.ok_or_else(Rejection::record_not_found)?))
}

/// Changes the time of an object and records it as a system note; returns the new one.
fn change(
    call: &mut WriteCall,
    target: &NoteTarget,
    change: impl FnOnce(&mut TimeSpent) -> Result<String, Rejection>,
) -> Result<TimeSpent, Rejection> {
    let (on, now) = (target.noteable, call.now);
    let (time, updated_at, required) = match on {
        Noteable::MergeRequest(id) => {
            let mr = call.world.merge_requests.get_mut(id).ok_or_else(Rejection::record_not_found)?;
            (&mut mr.time, &mut mr.updated_at, level::DEVELOPER)
        }
        Noteable::Issue(id) => {
            let issue = call.world.issues.get_mut(id).ok_or_else(Rejection::record_not_found)?;
            (&mut issue.time, &mut issue.updated_at, level::REPORTER)
        }
        Noteable::Snippet(_) | Noteable::Epic(_) => return Err(Rejection::record_not_found()),
    };
    if target.level < required {
        return Err(Rejection::forbidden());
    }
    let note = change(time)?;
    let changed = *time;
    *updated_at = now;
    let user = call.require_user()?.id;
    call.add_system_note_on(on, user, note);
    Ok(changed)
}

/// Sets the estimate; zero removes it.
///
/// # Errors
/// Fails with 400 if the text is no amount of time, or a negative one.
pub fn set_estimate(call: &mut WriteCall, target: &NoteTarget, text: &str) -> Result<TimeSpent, Rejection> {
    change(call, target, |time| {
        let Some(seconds) = work_time::parse(text).and_then(|seconds| u64::try_from(seconds).ok()) else {
            let why = "must have a valid format and be greater than or equal to zero.";
            return Err(Rejection::bad_request(json!({ "time_estimate": [why] })));
        };
        time.estimate = seconds;
        Ok(match work_time::format(seconds) {
            Some(words) => format!("changed time estimate to {words}"),
            None => "removed time estimate".to_owned(),
        })
    })
}

/// Adds spent time, or takes some off. `day` is the day on which it was spent, unless that is today.
///
/// # Errors
/// Fails with 400 if the text is no amount of time, or more is taken off than was spent.
pub fn spend(call: &mut WriteCall, target: &NoteTarget, text: &str, day: Option<Date>) -> Result<TimeSpent, Rejection> {
    let refused = |why: &str| Rejection::bad_request(json!({ "base": [why] }));
    change(call, target, |time| {
        let seconds = work_time::parse(text).filter(|seconds| *seconds != 0);
        let seconds = seconds.ok_or_else(|| refused("Time spent must be formatted correctly. For example: 1h 30m."))?;
        let spent = time.spent.checked_add_signed(seconds);
        time.spent = spent.ok_or_else(|| refused("Time to subtract exceeds the total time spent"))?;
        let words = work_time::format(seconds.unsigned_abs()).unwrap_or_default();
        let verb = if seconds < 0 { "subtracted" } else { "added" };
        let day = day.map(|day| format!(" at {day}")).unwrap_or_default();
        Ok(format!("{verb} {words} of time spent{day}"))
    })
}

/// Removes all spent time.
///
/// # Errors
/// Fails if the caller may not change the object.
pub fn reset_spent(call: &mut WriteCall, target: &NoteTarget) -> Result<TimeSpent, Rejection> {
    change(call, target, |time| {
        time.spent = 0;
        Ok("removed time spent".to_owned())
    })
}
