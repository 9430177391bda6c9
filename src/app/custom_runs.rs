//! Runs of custom commands: the values available here, starting a command, and the messages about its end.

use super::action::Effect;
use super::command_info::Disabled;
use super::custom::{CustomCommand, RunEvent, RunSpec, Show, Started, Values};
use super::overlay::output::Output;
use super::place::Place;
use super::place_info::{self, Subject};
use super::tone::Tone;
use super::{App, target};
use crate::api::issues::Issue;
use crate::api::jobs::Job;
use crate::api::merge_requests::MergeRequest;
use crate::api::projects::Project;
use crate::api::{Host, Id};
use crate::app::clip::Clip;

/// The maximum number of commands whose output is kept.
const MAX_RUNS: usize = 8;

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
        let under = url.as_deref().and_then(|url| target::parse(&self.places, url, &self.session.web_url).ok());
        put("host", Some(Host::new(&self.session.web_url).name().to_owned()));
        if let Some((path, line)) = pane.position(&view) {
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
            let name = match place_info::subject(&self.places, place) {
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
        let is_job = |place: &&&Place| place_info::subject(&self.places, place) == Some(Subject::Job);
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

    /// Returns the order that starts a command here, or the reason why that is not possible.
    pub(super) fn custom_spec(&self, command: &CustomCommand) -> Result<RunSpec, Disabled> {
        let values = self.placeholder_values();
        if let Some(why) = command.run.refusal(&values) {
            return Err(why);
        }
        let (program, variables) = (command.run.program(&values)?, command.run.variables(&values));
        let folder = self.session.clone.as_ref().map(|clone| clone.folder.clone());
        Ok(RunSpec { title: command.title.to_owned(), program, variables, folder, show: command.show })
    }

    /// Starts a custom command; returns `false` if `id` is not one.
    pub(super) fn run_custom(&mut self, id: &str, effects: &mut Vec<Effect>) -> bool {
        let Some(command) = self.custom_commands().find(|command| command.id == id).cloned() else { return false };
        let order = match self.custom_spec(&command) {
            Ok(order) => order,
            Err(why) => {
                self.say(Tone::Warning, format!("{}: {why}.", command.title));
                return true;
            }
        };
        let number = self.add_run(order.title.clone(), order.show);
        effects.push(Effect::StartCustomCommand(number, order));
        true
    }

    /// Adds a command that is being started, and shows where it prints. Returns its number.
    pub(super) fn add_run(&mut self, title: String, show: Show) -> u64 {
        self.last_run_number += 1;
        let number = self.last_run_number;
        let ended = |(number, run): (&u64, &Started)| run.ended.is_some().then_some(*number);
        while self.runs.len() >= MAX_RUNS
            && let Some(oldest) = self.runs.iter().find_map(ended)
        {
            self.runs.remove(&oldest);
        }
        match show {
            Show::Pane | Show::PaneUntilDone => self.overlays.push(Box::new(Output::new(number))),
            Show::Silent => self.say(Tone::Info, format!("{title}…")),
            Show::Terminal => {}
        }
        self.runs.insert(number, Started::new(title, show));
        number
    }

    /// Handles an event of a command that was started.
    pub(super) fn on_custom_command(&mut self, number: u64, event: RunEvent) {
        let Some(run) = self.runs.get_mut(&number) else { return };
        let ended = match event {
            RunEvent::Output(bytes) => return run.take(&bytes),
            RunEvent::Ended(ended) => ended,
        };
        run.end(ended.clone());
        let (title, words) =
            (run.title.clone(), run.last_words().map(|words| format!(": {words}")).unwrap_or_default());
        match (&ended, run.show) {
            (Ok(()), Show::PaneUntilDone) => self.say(Tone::Good, format!("{title}: done")),
            (Ok(()), Show::Silent) => self.say(Tone::Good, format!("{title}: done{words}")),
            (Err(why), Show::Silent) => self.say(Tone::Bad, format!("{title} {why}{words}")),
            (Err(why), Show::Terminal) => self.say(Tone::Bad, format!("{title} {why}")),
            (Ok(()), Show::Terminal) | (_, Show::Pane) | (Err(_), Show::PaneUntilDone) => {}
        }
        // The command may have changed what is shown.
        self.is_head_due = true;
        let wants = self.wants();
        self.store.refresh(&wants);
    }

    /// Stops a command that was started.
    pub(super) fn stop_run(&mut self, number: u64, effects: &mut Vec<Effect>) {
        if self.runs.get(&number).is_some_and(|run| run.ended.is_none()) {
            effects.push(Effect::StopCustomCommand(number));
        }
    }
}
