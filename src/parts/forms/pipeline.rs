//! Forms for running a pipeline and playing a manual job with variables, which are never stored.

use crate::api::jobs::{Job, PlayJob};
use crate::api::pipelines::CreatePipeline;
use crate::api::pipelines::resources::Pipeline;
use crate::api::{GitRef, Id};
use crate::app::action::Action;
use crate::app::overlay::form::{Form, Widget};
use crate::app::place::Place;
use crate::parts::forms::refs::ref_field;
use crate::parts::pipelines;
use crate::ui::text::sanitize;
use serde_json::{Value, json};

/// Returns the form that runs a pipeline on a ref and then opens it.
pub fn run(id: &Id, on: &GitRef) -> Form {
    let project = id.clone();
    Form::of::<CreatePipeline>(format!("Run pipeline in {id}"), "run the pipeline", format!("run pipeline {id}"))
        .fixed("id", id)
        .field("ref", |field| {
            ref_field(field.label("branch or tag"), id, on);
        })
        .field("variables", |field| {
            field.widget(Widget::Long).parsed(variables).not_saved();
            field.help("One KEY=value per line. Not stored on this machine.").default("none");
        })
        .then(move |answer| {
            let created = answer.downcast_ref::<Pipeline>()?;
            Some(Action::GoToPlace(pipelines::place(&project, created.id)))
        })
}

/// Returns the form that plays a manual job with variables and then opens it.
pub fn play(id: &Id, job: &Job) -> Form {
    let (project, job_id) = (id.clone(), job.id);
    let title = format!("Play #{job_id} {}", sanitize(&job.name));
    Form::of::<PlayJob>(title, "play the job", format!("play job {job_id} of {id}"))
        .fixed("id", id)
        .fixed("job_id", job_id)
        .field("job_variables_attributes", |field| {
            field.label("variables").widget(Widget::Long).parsed(variables).not_saved();
            field.help("One KEY=value per line. Not stored on this machine; needs GitLab 14.9.").default("none");
        })
        .then(move |_| Some(Action::GoToPlace(Place::new("job").project(project.clone()).item(job_id))))
}

/// Parses variables, one per line.
fn variables(text: &str) -> Result<Value, String> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let variable = |(index, line): (usize, &str)| {
        let is_key = |key: &str| !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        match line.split_once('=').map(|(key, value)| (key.trim(), value)) {
            Some((key, value)) if is_key(key) => Ok(json!({ "key": key, "value": value })),
            // The line is not repeated, because it may contain a secret.
            _ => Err(format!("line {} is not KEY=value", index + 1)),
        }
    };
    lines.map(variable).collect::<Result<Vec<Value>, String>>().map(Value::Array)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_a_variable_and_errors_do_not_repeat_it() {
        let read = variables("A=1\n\nLONG_NAME = a=b \n").unwrap();
        assert_eq!(read, json!([{"key": "A", "value": "1"}, {"key": "LONG_NAME", "value": " a=b "}]));
        assert_eq!(variables("A=1\ns3cret").unwrap_err(), "line 2 is not KEY=value");
        assert_eq!(variables("A B=1").unwrap_err(), "line 1 is not KEY=value");
    }
}
