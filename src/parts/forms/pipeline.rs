//! Forms for running a pipeline and playing a manual job with variables, which are never stored.

use crate::api::input::Input as Described;
use crate::api::jobs::{Job, PlayJob, RetryJob};
use crate::api::pipelines::CreatePipeline;
use crate::api::pipelines::resources::Pipeline;
use crate::api::{GitRef, Id, InputKind};
use crate::app::action::Action;
use crate::app::complete::Complete;
use crate::app::overlay::form::{Field, Form, Widget, Within};
use crate::app::place::Place;
use crate::domain::ci_config::{Declared, InputSpec, MAX_INPUTS, VariableSpec, text_of};
use crate::parts::ci::ci_file;
use crate::parts::ci::pipelines;
use crate::parts::forms::refs::ref_field;
use crate::ui::text::sanitize;
use serde_json::{Map, Value, json};

/// Returns the form that runs a pipeline on a ref and then opens it.
pub fn run(id: &Id, on: &GitRef) -> Form {
    let [project, of_wants, of_fields] = [0; 3].map(|_| id.clone());
    Form::of::<CreatePipeline>(format!("Run pipeline in {id}"), "run the pipeline", format!("run pipeline {id}"))
        .fixed("id", id)
        .without(&["inputs"])
        .field("ref", |field| {
            ref_field(field.label("branch or tag"), id, on);
        })
        .field("variables", |field| {
            field.widget(Widget::Long).parsed(variables).not_saved();
            field.help("One KEY=value per line. Not stored on this machine.").default("none");
        })
        .dependent(
            move |view, texts| ci_file::declared_wants(view, &of_wants, texts.get("ref")),
            move |view, texts| {
                let (key, declared) = ci_file::declared(view, &of_fields, texts.get("ref"))?;
                Some((key, declared_fields(declared)))
            },
        )
        .then(move |created: &Pipeline| Some(Action::GoToPlace(pipelines::place(&project, created.id))))
}

/// The names of the fields for inputs, which are shown under their own names.
const INPUTS: [&str; MAX_INPUTS] = [
    "input 1", "input 2", "input 3", "input 4", "input 5", "input 6", "input 7", "input 8", "input 9", "input 10",
    "input 11", "input 12", "input 13", "input 14", "input 15", "input 16", "input 17", "input 18", "input 19",
    "input 20",
];

/// Returns the fields for what a configuration declares: its inputs, and the variables that it describes.
fn declared_fields(declared: &Declared) -> Vec<Field> {
    let described = |name, required| Described { name, kind: InputKind::Structured, required, help: "" };
    let with_options = |field: &mut Field, options: &[String]| {
        if !options.is_empty() {
            field.widget(Widget::Line(Complete::Options(options.into())));
        }
    };
    let one_line = |text: &str| sanitize(&text.replace('\n', " ")).into_owned();
    let input = |(name, spec): (&&'static str, &InputSpec)| {
        let mut field = Field::of(&described(*name, spec.default.is_none()));
        field.label = format!("{} (input)", one_line(&spec.name));
        with_options(&mut field, &spec.options);
        let help = format!("{} Type: {}.", one_line(&spec.description), spec.kind.word());
        field.help(help.trim_start()).text(spec.default.as_ref().map(text_of).unwrap_or_default());
        let parsed = spec.clone();
        field.parsed(move |text| parsed.parse(text)).within(Within::Object("inputs", spec.name.clone()));
        field
    };
    let variable = |spec: &VariableSpec| {
        let mut field = Field::of(&described("variable", false));
        field.label = one_line(&spec.key);
        with_options(&mut field, &spec.options);
        let help = format!("{} Not stored on this machine.", one_line(&spec.description));
        field.help(help.trim_start()).text(spec.value.as_str()).not_saved();
        field.within(Within::Pairs("variables", spec.key.clone()));
        field
    };
    INPUTS.iter().zip(&declared.inputs).map(input).chain(declared.variables.iter().map(variable)).collect()
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
        .field("job_inputs", inputs_field)
        .then(move |_: &Job| Some(Action::GoToPlace(Place::new("job").project(project.clone()).item(job_id))))
}

/// Returns the form that retries a job with other values of its inputs and then opens the new one.
pub fn retry(id: &Id, job: &Job) -> Form {
    let (project, job_id) = (id.clone(), job.id);
    let title = format!("Retry #{job_id} {}", sanitize(&job.name));
    Form::of::<RetryJob>(title, "retry the job", format!("retry job {job_id} of {id}"))
        .fixed("id", id)
        .fixed("job_id", job_id)
        .field("inputs", inputs_field)
        .then(move |job: &Job| Some(Action::GoToPlace(Place::new("job").project(project.clone()).item(job.id))))
}

fn inputs_field(field: &mut Field) {
    field.label("inputs").widget(Widget::Long).parsed(inputs).not_saved();
    field
        .help("One NAME=value per line, for inputs that the job declares. Not stored on this machine.")
        .default("none");
}

/// Parses inputs, one per line. Numbers, lists, `true` and `false` are sent as such, since inputs have types; in quotes,
/// they are texts.
fn inputs(text: &str) -> Result<Value, String> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let input =
        |(index, line): (usize, &str)| match line.split_once('=').map(|(name, value)| (name.trim(), value.trim())) {
            Some((name, value)) if !name.is_empty() => {
                let typed =
                    serde_json::from_str::<Value>(value).ok().filter(|typed| !typed.is_null() && !typed.is_object());
                Ok((name.to_owned(), typed.unwrap_or_else(|| Value::from(value))))
            }
            // The line is not repeated, because it may contain a secret.
            _ => Err(format!("line {} is not NAME=value", index + 1)),
        };
    lines.map(input).collect::<Result<Map<String, Value>, String>>().map(Value::Object)
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

    #[test]
    fn inputs_keep_their_types() {
        let read = inputs("env = prod\ncount=3\ndry run=true\nregions=[\"a\"]\nversion=\"3\"\n").unwrap();
        let expected = json!({"env": "prod", "count": 3, "dry run": true, "regions": ["a"], "version": "3"});
        assert_eq!(read, expected);
        assert_eq!(inputs("a=1\ns3cret").unwrap_err(), "line 2 is not NAME=value");
    }
}
