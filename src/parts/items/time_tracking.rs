//! The estimated and the spent time of a merge request or issue: the menu of what can be done about it, and its forms.

use crate::api::Noteable;
use crate::api::merge_requests::TimeStats;
use crate::api::time_tracking::{AddSpentTime, ResetSpentTime, ResetTimeEstimate, SetTimeEstimate};
use crate::app::action::Action;
use crate::app::context::Cx;
use crate::app::overlay::form::Form;
use crate::app::overlay::picker::{Item, Picker};
use crate::domain::work_time;
use crate::store::Write;

/// Returns the spent and the estimated time, such as `3h of 2d`; empty if there is none.
pub fn summary(stats: Option<&TimeStats>) -> String {
    let Some(stats) = stats else { return String::new() };
    // Servers that send no words send the seconds.
    let words = |words: &Option<String>, seconds| words.clone().or_else(|| work_time::format(seconds));
    let spent = words(&stats.human_total_time_spent, stats.total_time_spent);
    match (spent, words(&stats.human_time_estimate, stats.time_estimate)) {
        (spent, Some(estimate)) => format!("{} of {estimate}", spent.unwrap_or_else(|| "0h".into())),
        (Some(spent), None) => spent,
        (None, None) => String::new(),
    }
}

/// Opens the menu in the pane `P`: adding spent time, setting the estimate, and removing either.
pub fn choose<P: 'static>(on: &Noteable, stats: Option<&TimeStats>, cx: &mut Cx) {
    let name = on.short();
    let here = cx.here;
    let open = |form: Form| here.then(move |_: &mut P, cx| form.open(cx));
    let is_spent = stats.is_none_or(|stats| stats.total_time_spent > 0);
    let is_estimated = stats.is_none_or(|stats| stats.time_estimate > 0);
    let reset_spent = Write::new(&ResetSpentTime { on: on.clone() }, format!("reset the time spent on {name}"));
    let remove_estimate = Write::new(&ResetTimeEstimate { on: on.clone() }, format!("remove the estimate of {name}"));
    let items = vec![
        Item::act("Add time spent…", open(spend(on, stats))).note(summary(stats)),
        Item::act("Set estimate…", open(estimate(on, stats))),
        Item::act("Reset time spent", Action::Send(reset_spent)).unless((!is_spent).then_some("no time is spent")),
        Item::act("Remove estimate", Action::Send(remove_estimate)).unless((!is_estimated).then_some("there is none")),
    ];
    cx.open(Picker::new(format!("Time tracking of {name}"), items));
}

/// Returns the form that adds spent time.
fn spend(on: &Noteable, stats: Option<&TimeStats>) -> Form {
    let name = on.short();
    let form = Form::of::<AddSpentTime>(
        format!("Add time spent on {name}"),
        format!("add the time spent on {name}"),
        format!("time spent {on}"),
    );
    with_facts(form, on, stats)
        .first(&["duration", "summary"])
        .field("duration", |field| {
            field.label("time spent").help("As 1h 30m; -30m takes some off. A day has 8 hours, a week 5 days.");
            field.check(check_spent).explained(meaning);
        })
        .field("summary", |field| _ = field.help("What it was spent on."))
}

/// Returns the form that sets the estimate.
fn estimate(on: &Noteable, stats: Option<&TimeStats>) -> Form {
    let name = on.short();
    let form = Form::of::<SetTimeEstimate>(
        format!("Estimate of {name}"),
        format!("set the estimate of {name}"),
        format!("time estimate {on}"),
    );
    with_facts(form, on, stats).field("duration", |field| {
        field.label("estimate").help("As 2d 4h. A day has 8 hours, a week 5 days.");
        field.check(check_estimate).explained(meaning);
    })
}

fn with_facts(form: Form, on: &Noteable, stats: Option<&TimeStats>) -> Form {
    let form = form.fixed("on", on.to_string());
    match summary(stats) {
        known if known.is_empty() => form,
        known => form.fact("now", known),
    }
}

fn check_spent(text: &str) -> Result<(), String> {
    match work_time::parse(text) {
        _ if text.is_empty() => Ok(()),
        Some(seconds) if seconds != 0 => Ok(()),
        _ => Err("is no amount of time: write it as 1h 30m".into()),
    }
}

fn check_estimate(text: &str) -> Result<(), String> {
    if text.starts_with('-') { Err("must not be negative".into()) } else { check_spent(text) }
}

/// Returns an amount of time in hours, if it is given in longer units.
fn meaning(text: &str) -> String {
    let hours = work_time::parse(text).map(|seconds| seconds.unsigned_abs() / 3600).filter(|hours| *hours >= 8);
    hours.map(|hours| format!("{hours} hours")).unwrap_or_default()
}
