//! The commands of jobs, in lists and beside their traces.

use crate::api::Id;
use crate::api::jobs::Job;
use crate::app::App;
use crate::app::action::Action;
use crate::app::command::{Command, Commands, Table};
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::permission::{ADMINISTER_CI, RUN};
use crate::app::place::Place;
use crate::app::view::View;
use crate::parts::ci::{self, JobAction};
use crate::parts::forms;
use crate::ui::text::sanitize;

/// A place with jobs, of which one is open or under the cursor.
pub trait ShowsJob: Commands {
    /// Returns the job with its project, or the reason why there is none.
    fn job<'a>(&self, view: &View<'a>) -> Result<(Id, &'a Job), Disabled>;
    /// Returns the jobs that an action applies to.
    fn jobs<'a>(&self, view: &View<'a>) -> Result<(Id, Vec<&'a Job>), Disabled> {
        self.job(view).map(|(project, job)| (project, vec![job]))
    }
    /// Prepares for an action, and returns what to do once it was requested.
    fn before(&mut self, action: JobAction, cx: &Cx) -> Option<Action>;

    /// Being told when a job ends.
    const WATCH: Table<Self, Self::Row> =
        &[Command::new(".watch", &["w"], "Watch job (notify on finish)", |pane: &mut Self, cx| {
            if let Ok((project, job)) = pane.job(&cx.view) {
                cx.act(Action::Watch(ci::watched(&project, job)));
            }
        })
        .footer("watch")
        .of_one_row()
        .when(|pane, view| {
            let (_, job) = pane.job(view)?;
            ci::has_trace(job)?;
            if job.status.is_finished() { Err("the job has ended".into()) } else { Ok(()) }
        })];

    /// Actions on jobs besides reading their traces.
    const JOB: Table<Self, Self::Row> = &[
        Command::new(".retry", &["R"], "Retry job", |pane: &mut Self, cx| apply(pane, JobAction::Retry, cx))
            .footer("retry")
            .needs(RUN)
            .when(|pane, view| can(pane, JobAction::Retry, view)),
        Command::new(".retry_with", &[], "Retry job with inputs…", |pane: &mut Self, cx| {
            if let Ok((project, job)) = pane.job(&cx.view) {
                forms::pipeline::retry(&project, job).open(cx);
            }
        })
        .needs(RUN)
        .of_one_row()
        .when(|pane, view| JobAction::Retry.check(pane.job(view)?.1)),
        Command::new(".cancel", &["X"], "Cancel job…", |pane: &mut Self, cx| apply(pane, JobAction::Cancel, cx))
            .footer("cancel")
            .needs(RUN)
            .when(|pane, view| can(pane, JobAction::Cancel, view)),
        Command::new(".play", &["P"], "Play job", |pane: &mut Self, cx| apply(pane, JobAction::Play, cx))
            .footer("play")
            .needs(RUN)
            .when(|pane, view| can(pane, JobAction::Play, view)),
        Command::new(".play_with", &["M-p"], "Play job with variables…", |pane: &mut Self, cx| {
            let Ok((project, job)) = pane.job(&cx.view) else { return };
            match ci::deployment_words(&cx.view, &project, &[job]) {
                None => forms::pipeline::play(&project, job).open(cx),
                // As playing it without variables does.
                Some(words) => {
                    let question = format!("Play #{} {} with variables? {words}", job.id, sanitize(&job.name));
                    let (project, job) = (project.clone(), job.clone());
                    let open = cx.here.then(move |_: &mut Self, cx| forms::pipeline::play(&project, &job).open(cx));
                    cx.act(App::confirm("Play", question, open));
                }
            }
        })
        .needs(RUN)
        .of_one_row()
        .when(|pane, view| JobAction::Play.check(pane.job(view)?.1)),
        Command::new(".artifacts", &["A"], "Browse artifacts", |pane: &mut Self, cx| {
            if let Ok((project, job)) = pane.job(&cx.view) {
                cx.go(Place::new("artifacts").project(project).item(job.id));
            }
        })
        .when(|pane, view| match pane.job(view)?.1.has_artifacts() {
            true => Ok(()),
            false => Err("it has no artifacts".into()),
        }),
        Command::new(".keep", &["K"], "Keep artifacts", |pane: &mut Self, cx| {
            apply(pane, JobAction::KeepArtifacts, cx);
        })
        .needs(RUN)
        .when(|pane, view| can(pane, JobAction::KeepArtifacts, view)),
        Command::new(".erase", &["Delete"], "Erase job…", |pane: &mut Self, cx| apply(pane, JobAction::Erase, cx))
            .needs(ADMINISTER_CI)
            .when(|pane, view| can(pane, JobAction::Erase, view)),
        Command::new(".commit", &["S"], "Open commit", |pane: &mut Self, cx| {
            if let Ok((project, Job { commit: Some(commit), .. })) = pane.job(&cx.view) {
                cx.go(Place::new("commit").project(project).item(&commit.id));
            }
        })
        .when(|pane, view| match pane.job(view)?.1.commit {
            Some(_) => Ok(()),
            None => Err("its commit is unknown".into()),
        }),
    ];
}

/// Returns whether one of the jobs allows the action, or why the last one does not.
fn can<P: ShowsJob>(pane: &P, action: JobAction, view: &View) -> Result<(), Disabled> {
    let (_, jobs) = pane.jobs(view)?;
    let mut why = Disabled::default();
    for job in jobs {
        match action.check(job) {
            Ok(()) => return Ok(()),
            Err(reason) => why = reason,
        }
    }
    Err(why)
}

fn apply<P: ShowsJob>(pane: &mut P, action: JobAction, cx: &mut Cx) {
    let view = cx.view;
    if let Ok((project, jobs)) = pane.jobs(&view) {
        let then = pane.before(action, cx);
        action.apply(&project, &jobs, then, cx);
    }
}
