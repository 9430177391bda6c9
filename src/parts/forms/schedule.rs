//! Forms for schedules of pipelines and their variables.

use crate::api::pipelines::PipelineVariable;
use crate::api::schedules::{
    CreateSchedule, CreateScheduleVariable, NewInput, Schedule, ScheduleInput, UpdateSchedule, UpdateScheduleVariable,
};
use crate::api::{Endpoint, GitRef, Id, InputType};
use crate::app::dates::zone;
use crate::app::overlay::form::{Form, Widget};
use crate::domain::cron::Cron;
use crate::parts::forms::refs::ref_field;
use crate::parts::forms::variable::{check_key, choose_type, type_word};
use serde_json::{Value, json};

/// Checks that a schedule can fire.
fn check_cron(text: &str) -> Result<(), String> {
    Cron::mistake(text).map_or(Ok(()), |why| Err(why.to_owned()))
}

/// Returns the meaning of a schedule in words.
fn meaning(text: &str) -> String {
    match Cron::parse(text) {
        _ if text.is_empty() || Cron::mistake(text).is_some() => String::new(),
        Some(cron) => cron.words(),
        None => "the server knows this form, or not".to_owned(),
    }
}

/// Returns the name of the time zone in which times are shown; UTC if it has none.
fn local_zone() -> String {
    zone().iana_name().unwrap_or("UTC").to_owned()
}

/// Returns the value of an input as text.
pub fn input_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Parses inputs, one `name=value` per line; `before` are those that are removed if they are left out. Values that are
/// JSON, such as numbers and lists, keep their type.
fn inputs(text: &str, before: &[ScheduleInput]) -> Result<Value, String> {
    let mut all: Vec<NewInput> = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let Some((name, value)) = line.split_once('=').filter(|(name, _)| !name.trim().is_empty()) else {
            return Err(format!("line {} is not name=value", index + 1));
        };
        let value = value.trim();
        let value = serde_json::from_str(value).unwrap_or_else(|_| json!(value));
        all.push(NewInput { name: name.trim().to_owned(), value: Some(value), destroy: None });
    }
    let removed = before.iter().filter(|old| all.iter().all(|new| new.name != old.name));
    let removed: Vec<NewInput> =
        removed.map(|old| NewInput { name: old.name.clone(), destroy: Some(true), value: None }).collect();
    Ok(all.into_iter().chain(removed).collect::<Vec<_>>().value())
}

fn fields<E: Endpoint>(project: &Id, title: String, what: &str, key: String, on: &GitRef) -> Form {
    Form::of::<E>(title, what, key)
        .fixed("id", project)
        .first(&["description", "cron", "cron_timezone", "ref", "active", "inputs"])
        .field("ref", |field| {
            ref_field(field.label("branch or tag"), project, on);
        })
        .field("cron", |field| {
            field.label("when").check(check_cron).explained(meaning);
            field.help("minute hour day month weekday: 0 4 * * 1-5 is 04:00 from Monday to Friday.");
        })
        .field("cron_timezone", |field| _ = field.label("time zone").help("A name such as Europe/Berlin, or UTC."))
        .field("active", |field| _ = field.help("no: it starts no pipelines."))
}

/// Returns the form for a new schedule.
pub fn create(project: &Id, on: &GitRef) -> Form {
    let key = format!("new schedule {project}");
    fields::<CreateSchedule>(project, format!("New schedule in {project}"), "create the schedule", key, on)
        .field("cron_timezone", |field| _ = field.text(local_zone()))
        .field("active", |field| _ = field.default("yes"))
        .field("inputs", |field| {
            field.widget(Widget::Long).parsed(|text| inputs(text, &[])).default("none");
            field.help("One name=value per line, as the configuration declares them; needs GitLab 17.11.");
        })
}

/// Returns the form that edits a schedule. Inputs are left out if the server does not know them.
pub fn edit(project: &Id, schedule: &Schedule) -> Form {
    let (title, key) =
        (format!("Edit schedule {}", schedule.description), format!("schedule {project} {}", schedule.id));
    let on = GitRef::from(schedule.r#ref.as_str());
    let form = fields::<UpdateSchedule>(project, title, "change the schedule", key, &on)
        .fixed("pipeline_schedule_id", schedule.id)
        .of_object(schedule)
        .field("description", |field| _ = field.required(true))
        .field("ref", |field| _ = field.before(on.short()).required(true))
        .field("cron", |field| _ = field.required(true))
        .field("cron_timezone", |field| _ = field.required(true));
    let Some(known) = schedule.inputs.clone() else { return form.without(&["inputs"]) };
    let line = |input: &ScheduleInput| format!("{}={}", input.name, input_text(&input.value));
    let before = known.iter().map(line).collect::<Vec<_>>().join("\n");
    form.field("inputs", |field| {
        field.widget(Widget::Long).before(before).parsed(move |text| inputs(text, &known)).default("none");
        field.help("One name=value per line, as the configuration declares them.");
    })
}

fn variable_fields(form: Form) -> Form {
    form.field("value", |field| {
        field.widget(Widget::Long).hidden();
        field.help("Not stored on this machine: forgotten if you leave with Esc.");
    })
    .field("variable_type", |field| {
        choose_type(field);
        field.default("variable");
    })
}

/// Returns the form for a new variable of a schedule.
pub fn create_variable(project: &Id, schedule: u64) -> Form {
    let key = format!("new schedule variable {project} {schedule}");
    let form = Form::of::<CreateScheduleVariable>("New variable of the schedule", "create the variable", key)
        .fixed("id", project)
        .fixed("pipeline_schedule_id", schedule)
        .field("key", |field| _ = field.check(check_key).help("Letters, digits and _."))
        .field("value", |field| _ = field.required(false).default("empty"));
    variable_fields(form)
}

/// Returns the form that edits a variable of a schedule.
pub fn edit_variable(project: &Id, schedule: u64, variable: &PipelineVariable) -> Form {
    let (title, key) = (format!("Edit variable {}", variable.key), format!("schedule variable {project} {schedule}"));
    let form = Form::of::<UpdateScheduleVariable>(title, "change the variable", key)
        .fixed("id", project)
        .fixed("pipeline_schedule_id", schedule)
        .fixed("key", &variable.key);
    variable_fields(form)
        .field("value", |field| _ = field.before(variable.value.as_str()).required(false))
        .field("variable_type", |field| _ = field.before(type_word(variable.variable_type == "file")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_keep_their_types_and_missing_ones_are_removed() {
        let before = [ScheduleInput { name: "old".into(), value: json!("x") }];
        let sent = inputs("stage=blue\n\ncount=3\nlist=[1,2]\non=true\n", &before).unwrap();
        assert_eq!(
            sent,
            json!([
                {"name": "stage", "value": "blue"},
                {"name": "count", "value": 3},
                {"name": "list", "value": [1, 2]},
                {"name": "on", "value": true},
                {"name": "old", "destroy": true},
            ])
        );
        assert_eq!(inputs("x", &[]).unwrap_err(), "line 1 is not name=value");
        assert_eq!(meaning("0 4 * * *"), "at 04:00 every day");
        assert_eq!(meaning("0 0 30 2 *"), "");
    }
}
