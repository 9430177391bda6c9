//! Runs of custom commands: the values available here, starting a command, and the messages about its end.
//!
//! A command with a result prints what becomes drafts or staged changes. Its input and the function that takes its output
//! come from the place where it starts (`Pane::command_input`). Nothing of it is sent until a person does so.

use super::action::Effect;
use super::command_info::Disabled;
use super::context::Cx;
use super::custom::{CustomCommand, MAX_RESULT, ResultKind, RunEvent, RunSpec, Runs, Show, Started, Values};
use super::overlay::output::Output;
use super::pane::{CommandInput, TakeResult};
use super::place::Place;
use super::place_info::{self, Subject};
use super::tone::Tone;
use super::{App, message, target};
use crate::clip::Clip;
use api::issues::Issue;
use api::jobs::Job;
use api::merge_requests::MergeRequest;
use api::projects::Project;
use api::{Host, Id};
use std::collections::HashMap;
use std::rc::Rc;

/// The maximum number of commands whose output is kept.
const MAX_RUNS: usize = 8;

/// The output of a running command, and what takes it.
pub(super) struct PendingResult {
    kind: ResultKind,
    take: Rc<TakeResult>,
    output: Vec<u8>,
}

/// The custom commands that were started.
#[derive(Default)]
pub(super) struct CustomRuns {
    pub started: Runs,
    /// The number of the last one.
    last: u64,
    /// The output of running commands that becomes drafts or staged changes, by their numbers.
    results: HashMap<u64, PendingResult>,
}

impl App {
    /// Returns the custom commands that are offered here.
    pub(super) fn custom_commands(&self) -> impl Iterator<Item = &CustomCommand> {
        let pane = self.nav.id();
        self.session.commands.iter().filter(move |command| command.is_in(pane))
    }

    /// Returns the values for the placeholders of custom commands, from the item under the cursor and the current place.
    pub(super) fn placeholder_values(&self) -> Values {
        let mut values = Values::new();
        let Some(pane) = self.nav.top() else { return values };
        let view = self.view_of();
        let mut put = |name: &'static str, value: Option<String>| {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                values.entry(name).or_insert(value);
            }
        };
        let (url, here) = (pane.url(&view), pane.place());
        let under = url.as_deref().and_then(|url| target::parse(&self.nav.places, url, &self.session.web_url).ok());
        put("host", Some(Host::new(&self.session.web_url).name().to_owned()));
        if let Some((path, line)) = pane.code(&view).position {
            put("path", Some(path));
            put("line", line.map(|line| line.to_string()));
        }
        // The place also applies to the item under the cursor, unless that is in another project.
        let same = under.as_ref().is_none_or(|under| under.project == here.project || here.project.is_none());
        let places: Vec<&Place> = under.iter().chain(Some(&here).filter(|_| same)).collect();
        for place in &places {
            put("project", place.project.as_ref().map(Id::to_string));
            if !place.is_joined {
                put("ref", place.git_ref.as_ref().map(|name| name.short().to_owned()));
                put("path", place.path.clone());
            }
            put("line", place.line.map(|line| line.to_string()));
            let name = match place_info::subject(&self.nav.places, place) {
                Some(Subject::MergeRequest | Subject::Issue | Subject::Epic) => "iid",
                Some(Subject::Job) => "job_id",
                Some(Subject::Commit) => "sha",
                _ => continue,
            };
            put(name, place.item.clone());
        }
        let page = url.as_deref().map(|url| url.split('#').next().unwrap_or(url).trim_end_matches('/'));
        if let Some(page) = page {
            let mut requests = view.store.known::<MergeRequest>().map(|(_, request)| request);
            if let Some(request) = requests.find(|request| request.web_url.trim_end_matches('/') == page) {
                put("title", Some(request.title.clone()));
                put("source_branch", Some(request.source_branch().to_owned()));
                put("target_branch", Some(request.target_branch().to_owned()));
                put("sha", (*request.sha).clone());
                put("project_id", Some(request.project_id.to_string()));
            }
            let mut issues = view.store.known::<Issue>().map(|(_, issue)| issue);
            if let Some(issue) = issues.find(|issue| issue.web_url.trim_end_matches('/') == page) {
                put("title", Some(issue.title.clone()));
                put("project_id", Some(issue.project_id.to_string()));
            }
        }
        let is_job = |place: &&&Place| place_info::subject(&self.nav.places, place) == Some(Subject::Job);
        if let Some(number) = places.iter().find(is_job).and_then(|place| place.item.as_deref()) {
            let mut jobs = view.store.known::<Job>().map(|(_, job)| job);
            if let Some(job) = jobs.find(|job| job.id.to_string() == number) {
                put("title", Some(job.name.clone()));
                put("ref", Some(job.r#ref.clone()));
                put("sha", job.commit.as_ref().map(|commit| commit.id.clone()));
            }
        }
        for Clip { name, text } in pane.copies(&view) {
            match name {
                "SHA" | "commit" | "commit SHA" => put("sha", Some(text)),
                "ref" => put("ref", Some(text)),
                "title" => put("title", Some(text)),
                _ => {}
            }
        }
        put("url", url);
        if let Some(project) = values.get("project").cloned() {
            let mut projects = view.known_projects();
            let is_it = |known: &&Project| known.path_with_namespace == project || known.id.to_string() == project;
            if let Some(known) = projects.find(is_it) {
                values.insert("project_id", known.id.to_string());
                values.insert("project", known.path_with_namespace.clone());
            }
        }
        values
    }

    /// Returns the order that starts a command here, and what it gets of the place, or the reason why that is not
    /// possible.
    pub(super) fn custom_spec(&self, command: &CustomCommand) -> Result<(RunSpec, Option<CommandInput>), Disabled> {
        let values = self.placeholder_values();
        if let Some(why) = command.run.refusal(&values) {
            return Err(why);
        }
        let (program, variables) = (command.run.program(&values)?, command.run.variables(&values));
        let folder = self.session.clone.as_ref().map(|clone| clone.folder.clone());
        let given = |kind| match self.nav.top() {
            Some(pane) => pane.command_input(kind, &self.view_of()),
            None => Err(kind.missing()),
        };
        let given = command.input.map(given).transpose()?;
        let (title, has_result) = (command.title.to_owned(), command.result.is_some());
        let spec = RunSpec { title, program, variables, folder, show: command.show, input: None, has_result };
        Ok((spec, given))
    }

    /// Starts a custom command; returns `false` if `id` is not one.
    pub(super) fn run_custom(&mut self, id: &str, effects: &mut Vec<Effect>) -> bool {
        let Some(command) = self.custom_commands().find(|command| command.id == id).cloned() else { return false };
        let (mut order, given) = match self.custom_spec(&command) {
            Ok(order) => order,
            Err(why) => {
                self.say(Tone::Warning, message::sentence(&why, command.title));
                return true;
            }
        };
        let number = self.add_run(order.title.clone(), order.show);
        if let Some(CommandInput { json, take }) = given {
            order.input = Some(format!("{}\n", json()));
            let pending = command.result.map(|kind| PendingResult { kind, take, output: Vec::new() });
            self.runs.results.extend(pending.map(|pending| (number, pending)));
        }
        effects.push(Effect::StartCustomCommand(number, order));
        true
    }

    /// Adds a command that is being started, and shows where it prints. Returns its number.
    pub(super) fn add_run(&mut self, title: String, show: Show) -> u64 {
        self.runs.last += 1;
        let number = self.runs.last;
        let ended = |(number, run): (&u64, &Started)| run.ended.is_some().then_some(*number);
        while self.runs.started.len() >= MAX_RUNS
            && let Some(oldest) = self.runs.started.iter().find_map(ended)
        {
            self.runs.started.remove(&oldest);
        }
        match show {
            Show::Pane | Show::PaneUntilDone => self.overlays.push(Box::new(Output::new(number))),
            Show::Silent => self.say(Tone::Info, format!("{title}…")),
            Show::Terminal => {}
        }
        self.runs.started.insert(number, Started::new(title, show));
        number
    }

    /// Handles an event of a command that was started.
    pub(super) fn on_custom_command(&mut self, number: u64, event: RunEvent, effects: &mut Vec<Effect>) {
        let Some(run) = self.runs.started.get_mut(&number).filter(|run| run.ended.is_none()) else { return };
        let ended = match event {
            RunEvent::Output(bytes) => return run.take(&bytes),
            RunEvent::Result(bytes) => {
                run.take(&bytes);
                let Some(pending) = self.runs.results.get_mut(&number) else { return };
                if pending.output.len() + bytes.len() <= MAX_RESULT {
                    return pending.output.extend(bytes);
                }
                effects.push(Effect::StopCustomCommand(number));
                Err("was stopped: it printed more than 1 MB".to_owned())
            }
            RunEvent::Ended(ended) => ended,
        };
        let (pending, title) = (self.runs.results.remove(&number), run.title.clone());
        let taken = ended.and_then(|()| match pending {
            Some(pending) => self.take_result(&title, &pending, effects).map(Some),
            None => Ok(None),
        });
        let message = taken.as_ref().ok().cloned().flatten();
        let ended = taken.map(|_| ());
        let Some(run) = self.runs.started.get_mut(&number) else { return };
        run.end(ended.clone());
        let words = run.last_words().map(|words| format!(": {words}")).unwrap_or_default();
        match (&ended, run.show) {
            (Ok(()), _) if message.is_some() => self.say(Tone::Good, message.unwrap_or_default()),
            (Ok(()), Show::PaneUntilDone) => self.say(Tone::Good, format!("{title}: done")),
            (Ok(()), Show::Silent) => self.say(Tone::Good, format!("{title}: done{words}")),
            (Err(why), Show::Silent) => self.say(Tone::Bad, format!("{title} {why}{words}")),
            (Err(why), Show::Terminal) => self.say(Tone::Bad, format!("{title} {why}")),
            (Ok(()), Show::Terminal) | (_, Show::Pane) | (Err(_), Show::PaneUntilDone) => {}
        }
        // The command may have changed what is shown.
        self.requests.head.is_current = false;
        let wants = self.wants(self.place_wants());
        self.store.refresh(&wants);
    }

    /// Makes of the output of a command what it is for; returns a message about it.
    fn take_result(
        &mut self,
        title: &str,
        pending: &PendingResult,
        effects: &mut Vec<Effect>,
    ) -> Result<String, String> {
        let output = String::from_utf8_lossy(&pending.output);
        // The text becomes comments and files: it controls no terminal, here or elsewhere.
        let output: String = output.chars().filter(|c| matches!(c, '\n' | '\t') || !c.is_control()).collect();
        if output.trim().is_empty() {
            return Err("printed nothing".to_owned());
        }
        let mut cx = Cx::new(self.view_of(), self.nav.here());
        let taken = (pending.take)(pending.kind, title, &output, &mut cx);
        for action in cx.actions {
            self.act(action, effects);
        }
        taken
    }

    /// Stops a command that was started.
    pub(super) fn stop_run(&mut self, number: u64, effects: &mut Vec<Effect>) {
        if self.runs.started.get(&number).is_some_and(|run| run.ended.is_none()) {
            effects.push(Effect::StopCustomCommand(number));
        }
    }
}
