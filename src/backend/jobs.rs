//! Jobs: their states, traces and actions.

use super::call::{Answer, Call, Outcome, Reading, Writing, ok};
use super::commits::pipeline_brief;
use super::git::Git;
use super::mount::Mount;
use super::records::{self, Project, Status, level};
use super::reject::Reject;
use super::runner;
use super::show::{there, time, times};
use super::world::World;
use crate::api::jobs::*;
use crate::api::{Id, Raw};
use axum::http::header;
use std::ops::Deref;

pub fn mount(mount: Mount) -> Mount {
    mount
        .read::<ListJobs>(list)
        .read::<ListPipelineJobs>(of_pipeline)
        .read::<GetJob>(get)
        .read::<GetTrace>(trace)
        .read::<GetArtifacts>(artifacts)
        .read::<GetRefArtifacts>(ref_artifacts)
        .write::<CancelJob>(cancel)
        .write::<RetryJob>(retry)
        .write::<EraseJob>(erase)
        .write::<KeepArtifacts>(keep)
        .write::<PlayJob>(play)
}

impl<W: Deref<Target = World>> Call<W> {
    /// A job on the wire; `git` is its project's repository, where it can be read.
    pub fn show_job(&self, job: &records::Job, git: Option<&Git>) -> Job {
        let commit = git.and_then(|git| git.show(git.resolve(&job.sha)?).ok());
        let artifacts = job.artifacts.as_ref();
        let end = job.finished_at.or((job.status == Status::Running).then_some(self.now));
        let duration = match (job.started_at, end) {
            (Some(start), Some(end)) => Some(end.duration_since(start).as_secs_f64()),
            _ => None,
        };
        let project = self.world.projects.get(job.project);
        Job {
            id: job.id,
            name: job.name.clone(),
            stage: job.stage.clone(),
            status: job.status.as_str().into(),
            r#ref: job.ref_name.clone(),
            tag: job.tag,
            coverage: job.coverage,
            created_at: Some(time(job.created_at)),
            started_at: times(job.started_at),
            finished_at: times(job.finished_at),
            duration,
            artifacts_file: artifacts.map(|a| ArtifactsFile { filename: a.filename.clone(), size: a.size }),
            runner: job.runner.and_then(|id| self.world.runners.get(id)).map(|runner| self.show_runner(runner)),
            user: job.user.and_then(|id| self.profile_of(id)).map(Box::new),
            commit,
            pipeline: self.world.pipelines.get(job.pipeline).map(pipeline_brief),
            web_url: project.map(|project| format!("{}/-/jobs/{}", self.project_url(project), job.id)),
            allow_failure: Some(job.allow_failure),
            erased_at: times(job.erased_at),
            artifacts_expire_at: artifacts.and_then(|a| times(a.expire_at)),
            tag_list: Some(job.tag_list.clone()),
            ..Job::default()
        }
    }

    /// The project whose jobs the caller may read.
    fn project_jobs(&self, id: &Id) -> Result<&Project, Reject> {
        let project = self.project(id)?;
        self.signed_in()?;
        let least = if project.public_jobs_disabled { level::REPORTER } else { 0 };
        let reads = self.rights.reads_code(&self.world, project);
        if reads && self.rights.level(&self.world, project) >= least { Ok(project) } else { Err(Reject::forbidden()) }
    }

    fn job(&self, project: u64, id: u64) -> Result<&records::Job, Reject> {
        self.world.jobs.get(id).filter(|job| job.project == project).ok_or_else(Reject::no_record)
    }
}

/// The statuses that a `scope` names; all where it is absent.
fn scope(words: Option<&Vec<String>>) -> Result<Option<Vec<Status>>, Reject> {
    let Some(words) = words.filter(|words| !words.is_empty()) else { return Ok(None) };
    let statuses: Option<Vec<Status>> = words.iter().map(|word| Status::from_word(word)).collect();
    statuses.map(Some).ok_or_else(|| Reject::bad("Scope contains invalid value(s)"))
}

fn listed(call: &Reading, project: &Project, wanted: impl Fn(&records::Job) -> bool) -> Outcome<Vec<Job>> {
    let of_project = |job: &&records::Job| job.project == project.id && wanted(job);
    let rows: Vec<&records::Job> = call.world.jobs.iter().rev().filter(of_project).collect();
    let git = call.git(project).ok();
    call.page(rows, |job| call.show_job(job, git.as_ref()))
}

fn list(call: &Reading, input: ListJobs) -> Outcome<Vec<Job>> {
    let scope = scope(input.scope.as_ref())?;
    let project = call.project_jobs(&input.id)?;
    listed(call, project, |job| scope.as_ref().is_none_or(|scope| scope.contains(&job.status)))
}

fn of_pipeline(call: &Reading, input: ListPipelineJobs) -> Outcome<Vec<Job>> {
    let scope = scope(input.scope.as_ref())?;
    let project = call.project_jobs(&input.id)?;
    let pipeline = call.world.pipelines.get(input.pipeline_id).filter(|pipeline| pipeline.project == project.id);
    let pipeline = pipeline.ok_or_else(|| Reject::not_found("Pipeline"))?.id;
    let in_scope = |status| scope.as_ref().is_none_or(|scope| scope.contains(&status));
    listed(call, project, |job| job.pipeline == pipeline && in_scope(job.status))
}

fn get(call: &Reading, input: GetJob) -> Outcome<Job> {
    let project = call.project_jobs(&input.id)?;
    let job = call.job(project.id, input.job_id)?;
    ok(call.show_job(job, call.git(project).ok().as_ref()))
}

fn trace(call: &Reading, input: GetTrace) -> Outcome<Raw> {
    let project = call.project_jobs(&input.id)?;
    let job = call.job(project.id, input.job_id)?;
    let bytes = call.world.traces.get(job.id).map(|trace| trace.bytes.as_slice()).unwrap_or_default();
    let text = |bytes: &[u8]| Answer::new(Raw { bytes: bytes.to_vec(), content_type: Some("text/plain".into()) });
    let named = format!("infile; filename=\"{}.log\"", job.id);
    let total = bytes.len();
    // The tail alone, for who holds the rest already.
    let range = call.headers.get(header::RANGE).and_then(|range| range.to_str().ok());
    let start = range.and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse::<usize>().ok());
    let answer = match start {
        None => text(bytes),
        Some(start) => match bytes.get(start..) {
            Some(rest) if !rest.is_empty() => {
                text(rest).status(206).header("content-range", &format!("bytes {start}-{}/{total}", total - 1))
            }
            _ => text(b"").status(416).header("content-range", &format!("bytes */{total}")),
        },
    };
    Ok(answer.header("content-disposition", &named).header("accept-ranges", "bytes"))
}

/// The archive of what a job kept.
fn archive(call: &Reading, job: &records::Job) -> Outcome<Raw> {
    let missing = || Reject::not_found("Artifacts");
    job.artifacts.as_ref().ok_or_else(missing)?;
    let bytes = call.world.archives.get(job.id).ok_or_else(missing)?.bytes.clone();
    Ok(Answer::new(Raw { bytes, content_type: Some("application/zip".into()) })
        .header("content-disposition", "attachment; filename=artifacts.zip"))
}

fn artifacts(call: &Reading, input: GetArtifacts) -> Outcome<Raw> {
    let project = call.project_jobs(&input.id)?;
    archive(call, call.job(project.id, input.job_id)?)
}

fn ref_artifacts(call: &Reading, input: GetRefArtifacts) -> Outcome<Raw> {
    let project = call.project_jobs(&input.id)?;
    let mut newest = call.world.jobs.iter().rev();
    let job = newest.find(|job| {
        job.project == project.id
            && job.ref_name == input.ref_name
            && job.name == input.job
            && job.status == Status::Success
            && job.artifacts.is_some()
    });
    archive(call, job.ok_or_else(Reject::no_record)?)
}

/// The job of an action by somebody who may act on jobs of the project.
fn to_act(call: &Writing, id: &Id, job: u64) -> Result<(Project, records::Job, u64), Reject> {
    let project = call.project_as(id, level::DEVELOPER)?.clone();
    let job = call.job(project.id, job)?.clone();
    Ok((project, job, call.signed_in()?.id))
}

fn shown(call: &Writing, project: &Project, job: u64) -> Outcome<Job> {
    let job = call.job(project.id, job)?;
    ok(call.show_job(job, call.git(project).ok().as_ref()))
}

fn cancel(call: &mut Writing, input: CancelJob) -> Outcome<Job> {
    let (project, job, _) = to_act(call, &input.id, input.job_id)?;
    runner::cancel(call.world, job.id, call.now);
    shown(call, &project, job.id)
}

fn retry(call: &mut Writing, input: RetryJob) -> Outcome<Job> {
    let (project, job, user) = to_act(call, &input.id, input.job_id)?;
    if job.retried {
        return Err(Reject::forbidden_because("Job is not retryable"));
    }
    let new = runner::retry(call.world, job.id, user, call.now).ok_or_else(Reject::no_record)?;
    shown(call, &project, new)
}

fn play(call: &mut Writing, input: PlayJob) -> Outcome<Job> {
    let (project, job, user) = to_act(call, &input.id, input.job_id)?;
    if !runner::play(call.world, job.id, user, call.now) {
        return Err(Reject::not_given("Unplayable Job"));
    }
    let mut answer = shown(call, &project, job.id)?.status(200);
    // The one answer that says so; the job itself waits for its runner now.
    answer.body.status = crate::api::jobs::Status::Started;
    Ok(answer)
}

fn erase(call: &mut Writing, input: EraseJob) -> Outcome<Job> {
    let (project, job, user) = to_act(call, &input.id, input.job_id)?;
    if job.user != Some(user) && call.rights.level(call.world, &project) < level::MAINTAINER {
        return Err(Reject::forbidden());
    }
    runner::erase(call.world, job.id, call.now);
    let mut answer = shown(call, &project, job.id)?;
    answer.body.download_url = Some(None);
    Ok(answer)
}

fn keep(call: &mut Writing, input: KeepArtifacts) -> Outcome<Job> {
    let (project, job, _) = to_act(call, &input.id, input.job_id)?;
    if job.artifacts.is_none() {
        return Err(Reject::not_found("Artifacts"));
    }
    if let Some(artifacts) = call.world.jobs.get_mut(job.id).and_then(|job| job.artifacts.as_mut()) {
        artifacts.expire_at = None;
    }
    let mut answer = shown(call, &project, job.id)?.status(200);
    let root = super::mount::ROOT;
    let url = format!("{}{root}/projects/{}/jobs/{}/artifacts", call.base_url, project.id, job.id);
    answer.body.download_url = there(url);
    Ok(answer)
}
