//! Why a job does not run yet: from what the server says about it, the other jobs of its pipeline, and what is known of the
//! runners and of the CI configuration. Nothing is requested for it.

use crate::api::Id;
use crate::api::jobs::Job;
use crate::api::lint::LintProject;
use crate::api::pipelines::resources::Status;
use crate::api::runners::{GetRunner, ListProjectRunners, Runner};
use crate::app::view::View;
use crate::parts::ci::deployments;
use crate::parts::ci::{self, Stage};
use crate::parts::project;
use crate::ui::text;

/// The maximum number of jobs that are named.
const MAX_NAMES: usize = 3;

/// The first stage of a pipeline that has not finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocker {
    stage: String,
    /// The names of its jobs that have not finished.
    jobs: Vec<String>,
    /// Whether all of them wait for somebody who plays them.
    is_manual: bool,
    /// The stages after it.
    later: Vec<String>,
}

/// Returns whether a job holds up later stages.
fn holds_up(job: &Job) -> bool {
    match job.status {
        Status::Manual => job.allow_failure == Some(false),
        Status::Scheduled => true,
        ref status => status.is_live(),
    }
}

impl Blocker {
    /// Returns the first unfinished stage of a pipeline; `job` returns the job at an index.
    pub fn of<'a>(stages: &[Stage], job: impl Fn(usize) -> Option<&'a Job>) -> Option<Blocker> {
        let unfinished = |stage: &Stage| -> Vec<&'a Job> {
            let newest = stage.jobs.iter().filter(|run| !run.is_retried).filter_map(|run| job(run.index));
            newest.filter(|job| holds_up(job)).collect()
        };
        let (at, jobs) = stages.iter().map(unfinished).enumerate().find(|(_, jobs)| !jobs.is_empty())?;
        let later = stages.iter().skip(at.saturating_add(1)).map(|stage| stage.name.clone());
        Some(Blocker {
            stage: stages.get(at)?.name.clone(),
            is_manual: jobs.iter().all(|job| job.status == Status::Manual),
            jobs: jobs.into_iter().map(|job| job.name.clone()).collect(),
            later: later.collect(),
        })
    }

    /// Returns the first unfinished stage of the pipeline with these jobs.
    pub fn of_jobs<'a>(jobs: impl Iterator<Item = &'a Job>) -> Option<Blocker> {
        let jobs: Vec<&Job> = jobs.collect();
        Blocker::of(&ci::stages(jobs.iter().copied().enumerate()), |at| jobs.get(at).copied())
    }
}

/// Returns the first names of a list, and the number of the others.
fn names(all: &[impl AsRef<str>]) -> String {
    let first: Vec<&str> = all.iter().take(MAX_NAMES).map(AsRef::as_ref).collect();
    let more = all.len().saturating_sub(MAX_NAMES);
    let more = if more > 0 { format!(" and {} more", text::count(more as u64)) } else { String::new() };
    text::sanitize(&format!("{}{more}", first.join(", "))).into_owned()
}

/// Returns the names of the jobs that a job needs, if a loaded check of the configuration tells them.
fn needs(view: &View, project: &Id, job: &Job) -> Option<Vec<String>> {
    let git_ref = job.git_ref()?;
    let name = git_ref.short();
    let is_default = project::default_branch(view, project) == Some(name);
    let content_ref = (!is_default).then(|| name.to_owned());
    let lint = LintProject { id: project.clone(), content_ref, include_jobs: Some(true), ..LintProject::default() };
    let jobs = view.store.get(&lint).value?.jobs.as_ref()?;
    // The share of a parallel job is not part of its name there.
    let base = job.name.split_once(": [").map_or(job.name.as_str(), |(base, _)| base);
    let needs = jobs.iter().find(|known| known.name == base)?.needs.as_ref()?;
    Some(needs.iter().map(|need| need.name.clone()).collect())
}

/// Returns what a created job waits for.
fn earlier(view: &View, project: &Id, job: &Job, blocker: Option<&Blocker>) -> String {
    if let Some(needs) = needs(view, project, job).filter(|needs| !needs.is_empty()) {
        return names(&needs);
    }
    match blocker {
        Some(Blocker { stage, jobs, is_manual, later }) if later.contains(&job.stage) => {
            let stage = text::sanitize(stage);
            match (jobs.as_slice(), is_manual) {
                ([one], true) => format!("manual job {} of stage {stage}", text::sanitize(one)),
                (jobs, true) => format!("manual jobs of stage {stage}: {}", names(jobs)),
                (jobs, false) => format!("stage {stage}: {}", names(jobs)),
            }
        }
        Some(blocker) if blocker.stage == job.stage && blocker.jobs.len() > 1 => "the jobs that it needs".to_owned(),
        _ => "earlier stages".to_owned(),
    }
}

/// Returns why no runner can take a job, if that is known.
fn runner_problem(view: &View, project: &Id, job: &Job) -> Option<String> {
    let listed = view.store.list(&ListProjectRunners { id: project.clone() });
    if !listed.is_loaded || listed.has_more || listed.error.is_some() {
        return None;
    }
    let online: Vec<&Runner> = listed.iter().filter(|runner| runner.online == Some(true) && runner.active).collect();
    if online.is_empty() {
        return Some("no runner of the project is online".to_owned());
    }
    let wanted = job.tag_list.as_deref()?;
    // Lists of runners leave out their tags.
    let tags = |runner: &&Runner| {
        let known = view.store.get(&GetRunner { id: runner.id }).value?;
        let is_fit = match wanted.is_empty() {
            true => known.run_untagged != Some(false),
            false => wanted.iter().all(|tag| known.tag_list.as_deref().unwrap_or_default().contains(tag)),
        };
        Some(is_fit)
    };
    let fits: Option<Vec<bool>> = online.iter().map(tags).collect();
    (!fits?.contains(&true)).then(|| match wanted {
        [] => "no runner that is online takes jobs without tags".to_owned(),
        wanted => format!("no runner that is online has the tags {}", names(wanted)),
    })
}

/// Returns why a job does not run yet, as the end of a sentence; `None` if it does not wait. `blocker` is that of its
/// pipeline, if all of its jobs are known.
pub fn phrase(view: &View, project: &Id, job: &Job, blocker: Option<&Blocker>) -> Option<String> {
    Some(match &job.status {
        Status::Created => format!("waiting for {}", earlier(view, project, job, blocker)),
        Status::Pending => match runner_problem(view, project, job) {
            Some(why) => format!("waiting for a runner: {why}"),
            None => match job.tag_list.as_deref().unwrap_or_default() {
                [] => "waiting for a runner".to_owned(),
                tags => format!("waiting for a runner with the tags {}", names(tags)),
            },
        },
        Status::WaitingForResource => "waiting for another job of its resource group".to_owned(),
        Status::Preparing => "its environment is being prepared".to_owned(),
        Status::WaitingForCallback => "waiting for an answer from outside".to_owned(),
        Status::Scheduled => "starts after a delay".to_owned(),
        Status::Manual if deployments::blocked(view, project, job).is_some() => "waiting for approval".to_owned(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(id: u64, stage: &str, name: &str, status: Status, allow_failure: bool) -> Job {
        let (stage, name, allow_failure) = (stage.into(), name.into(), Some(allow_failure));
        Job { id, stage, name, status, allow_failure, ..Job::default() }
    }

    #[test]
    fn the_first_unfinished_stage_holds_up_later_ones() {
        let jobs = [
            job(1, "build", "compile", Status::Failed, false),
            job(9, "build", "compile", Status::Success, false),
            job(2, "check", "optional", Status::Manual, true),
            job(3, "test", "unit", Status::Running, false),
            job(4, "test", "lint", Status::Success, false),
            job(5, "deploy", "staging", Status::Created, false),
        ];
        let blocker = Blocker::of_jobs(jobs.iter()).unwrap();
        assert_eq!((&*blocker.stage, &*blocker.jobs, blocker.is_manual), ("test", &["unit".to_owned()][..], false));
        assert_eq!(blocker.later, ["deploy"]);
        let mut gate = jobs.clone();
        gate[3].status = Status::Success;
        gate[2].allow_failure = Some(false);
        let blocker = Blocker::of_jobs(gate.iter()).unwrap();
        assert!(blocker.stage == "check" && blocker.is_manual, "{blocker:?}");
        assert_eq!(Blocker::of_jobs(jobs[..2].iter()), None);
    }

    #[test]
    fn few_names_are_listed() {
        assert_eq!(names(&["a", "b\u{1b}[2J"]), text::sanitize("a, b\u{1b}[2J"));
        assert_eq!(names(&["a", "b", "c", "d", "e"]), "a, b, c and 2 more");
    }
}
