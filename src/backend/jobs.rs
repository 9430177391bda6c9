//! Jobs: their statuses, traces, artifacts and actions.

use super::auth::Caller;
use super::call::{Answer, Call, Outcome, ReadCall, WriteCall, ok};
use super::git::Git;
use super::keyset::{Key, Keyset};
use super::modes::Version;
use super::mount::Mount;
use super::page::ListSize;
use super::pipelines::{check_variable, seconds};
use super::range;
use super::records::{self, Project, Status, level};
use super::rejection::Rejection;
use super::runner;
use super::stream::Stream;
use super::world::World;
use crate::presenters::{optional_time, time};
use api::jobs::*;
use api::pipelines::resources;
use api::{Id, Nullable};
use jiff::Timestamp;
use std::io::{Cursor, Read, Write};
use std::ops::Deref;
use std::sync::Arc;
use zip::ZipArchive;

pub fn mount(mount: Mount) -> Mount {
    mount
        .read_signed_in::<ListJobs>(list)
        .read_signed_in::<ListPipelineJobs>(of_pipeline)
        .read_signed_in::<GetJob>(get)
        .stream_signed_in::<GetTrace>(trace)
        .stream_to_jobs::<GetArtifacts>(artifacts)
        .stream_to_jobs::<GetRefArtifacts>(ref_artifacts)
        // Some clients do not escape the slashes of a ref.
        .also_stream_to_jobs::<GetRefArtifacts>(
            "/projects/{id}/jobs/artifacts/{ref_name}/{ref_name_2}/download",
            "ref_name",
            ref_artifacts,
        )
        .also_stream_to_jobs::<GetRefArtifacts>(
            "/projects/{id}/jobs/artifacts/{ref_name}/{ref_name_2}/{ref_name_3}/download",
            "ref_name",
            ref_artifacts,
        )
        .stream_signed_in::<GetArtifactFile>(artifact_file)
        // A file named `keep`: its path is also that of a write.
        .also_stream::<GetArtifactFile>(
            Caller::Reader,
            "/projects/{id}/jobs/{job_id}/artifacts/keep",
            ("artifact_path", "keep"),
            artifact_file,
        )
        .write::<CancelJob>(cancel)
        .write::<RetryJob>(retry)
        .write::<EraseJob>(erase)
        .write::<KeepArtifacts>(keep)
        .write::<PlayJob>(play)
}

impl<W: Deref<Target = World>> Call<W> {
    /// Converts a job to its API representation; `git` is its project's repository, if it is readable.
    pub fn show_job(&self, job: &records::Job, git: Option<&Git>) -> Job {
        let commit = git.and_then(|git| git.show(git.resolve(&job.sha)?).ok());
        let runner = job.runner.and_then(|id| self.world.runners.get(id));
        let archive = unexpired_artifacts(job, self.now);
        let file = archive.map(|a| ArtifactsFile { filename: a.filename.clone(), size: a.size });
        // Current servers leave it out if there are no artifacts.
        let artifacts_file = if file.is_none() && !self.only_specified() { Nullable::default() } else { file.into() };
        let end = job.finished_at.or((job.status == Status::Running).then_some(self.now));
        Job {
            id: job.id,
            name: job.name.clone(),
            stage: job.stage.clone(),
            status: job.status.as_str().into(),
            r#ref: job.ref_name.clone(),
            tag: job.tag,
            coverage: job.coverage,
            created_at: Some(time(job.created_at)),
            started_at: optional_time(job.started_at),
            finished_at: optional_time(job.finished_at),
            duration: seconds(job.started_at, end),
            artifacts_file,
            runner: runner.map(|runner| self.show_runner(runner)),
            user: job.user.and_then(|id| self.profile_of(id)).map(Box::new),
            commit,
            pipeline: self.world.pipelines.get(job.pipeline).map(|pipeline| self.show_pipeline(pipeline)),
            web_url: self.job_page(job.project, job.id),
            allow_failure: Some(job.allow_failure),
            failure_reason: (job.status == Status::Failed).then(|| "script_failure".into()),
            queued_duration: seconds(Some(job.queued_at.unwrap_or(job.created_at)), job.started_at).into(),
            erased_at: optional_time(job.erased_at).into(),
            artifacts: Some(archive.map(|archive| self.show_artifacts(archive)).unwrap_or_default()),
            artifacts_expire_at: optional_time(archive.and_then(|archive| archive.expire_at)).into(),
            tag_list: Some(job.tag_list.clone()),
            archived: Some(false),
            runner_manager: runner.map(|runner| self.show_runner_manager(runner)).into(),
            project: self.job_settings(),
            ..Job::default()
        }
    }

    /// Returns the archive and the reports of a job.
    fn show_artifacts(&self, artifacts: &records::Artifacts) -> Vec<Artifact> {
        let artifact = |file_type: &str, size: u64, filename: &str, format: &str| Artifact {
            file_type: file_type.into(),
            size,
            filename: filename.into(),
            file_format: Some(format.into()).into(),
        };
        let reports = self.world.archives.get(artifacts.archive).map(|archive| &*archive.reports).unwrap_or_default();
        let reports = reports
            .iter()
            .map(|report| artifact(&report.file_type, report.bytes.len() as u64, &report.filename, "gzip"));
        [artifact("archive", artifacts.size, &artifacts.filename, "zip")].into_iter().chain(reports).collect()
    }

    /// Returns the settings of a project that are part of its jobs.
    fn job_settings(&self) -> Option<JobProject> {
        (!self.only_specified()).then_some(JobProject::Settings { ci_job_token_scope_enabled: false })
    }

    /// Converts a trigger job to its API representation.
    pub fn show_bridge(&self, bridge: &records::Bridge, git: Option<&Git>) -> Job {
        let pipeline = self.world.pipelines.get(bridge.pipeline);
        let commit = pipeline.and_then(|pipeline| git?.show(git?.resolve(&pipeline.sha)?).ok());
        let downstream = bridge.downstream.and_then(|id| self.world.pipelines.get(id));
        let is_visible = |child: &&records::Pipeline| self.can_see_project_with_id(child.project);
        let downstream = downstream.filter(is_visible).map(|child| self.show_pipeline(child));
        Job {
            id: bridge.id,
            name: bridge.name.clone(),
            stage: bridge.stage.clone(),
            status: bridge.status.as_str().into(),
            r#ref: pipeline.map(|pipeline| pipeline.ref_name.clone()).unwrap_or_default(),
            tag: pipeline.is_some_and(|pipeline| pipeline.tag),
            created_at: Some(time(bridge.created_at)),
            started_at: optional_time(bridge.finished_at),
            finished_at: optional_time(bridge.finished_at),
            user: bridge.user.and_then(|id| self.profile_of(id)).map(Box::new),
            commit,
            pipeline: pipeline.map(|pipeline| self.show_pipeline(pipeline)),
            downstream_pipeline: downstream.into(),
            web_url: self.job_page(bridge.project, bridge.id),
            allow_failure: Some(false),
            failure_reason: (bridge.status == Status::Failed).then(|| "downstream_pipeline_creation_failed".into()),
            duration: bridge.finished_at.map(|_| 0.0),
            queued_duration: seconds(Some(bridge.created_at), bridge.finished_at).into(),
            erased_at: None.into(),
            archived: Some(false),
            project: self.job_settings(),
            ..Job::default()
        }
    }

    /// Returns the web URL of a job; `None` if its project is gone.
    pub fn job_page(&self, project: u64, job: u64) -> Option<String> {
        self.world.projects.get(project).map(|project| self.project_page(project, &format!("jobs/{job}")))
    }

    /// Returns a project if the caller may read its jobs.
    pub fn project_jobs(&self, id: &Id) -> Result<&Project, Rejection> {
        let project = self.project(id)?;
        self.require_user()?;
        let least = if project.public_jobs_disabled { level::REPORTER } else { 0 };
        let reads = self.rights.can_read_code(&self.world, project);
        if reads && self.rights.level(&self.world, project) >= least {
            Ok(project)
        } else {
            Err(Rejection::forbidden())
        }
    }

    fn job(&self, project: u64, id: u64) -> Result<&records::Job, Rejection> {
        self.world.jobs.get(id).filter(|job| job.project == project).ok_or_else(Rejection::record_not_found)
    }
}

/// Returns the artifacts of a job, unless they have expired.
pub fn unexpired_artifacts(job: &records::Job, now: Timestamp) -> Option<&records::Artifacts> {
    job.artifacts.as_ref().filter(|artifacts| artifacts.expire_at.is_none_or(|end| end > now))
}

/// Parses the statuses of a `scope`; `None` if it is absent.
pub fn scope(words: Option<&Vec<String>>) -> Result<Option<Vec<Status>>, Rejection> {
    let Some(words) = words.filter(|words| !words.is_empty()) else { return Ok(None) };
    let statuses: Option<Vec<Status>> = words.iter().map(|word| Status::from_name(word)).collect();
    statuses.map(Some).ok_or_else(|| Rejection::bad_request("Scope contains invalid value(s)"))
}

/// Returns the jobs of a project that are wanted, newest first.
fn filtered<'w>(
    call: &ReadCall<'w>,
    project: &Project,
    wanted: impl Fn(&records::Job) -> bool,
) -> Vec<&'w records::Job> {
    let of_project = |job: &&records::Job| job.project == project.id && wanted(job);
    call.world.jobs.iter().rev().filter(of_project).collect()
}

/// Returns the number of rows of a list that current servers do not count: only whether there are more is told.
fn uncounted<T>(call: &ReadCall, answer: Answer<T>) -> Answer<T> {
    let past = call.pagination.skip().saturating_add(call.pagination.per_page);
    let list_size = match answer.list_size {
        Some(ListSize::Known(total)) if !call.only_specified() => Some(ListSize::HasMore(total > past)),
        known => known,
    };
    Answer { list_size, ..answer }
}

fn list(call: &ReadCall, input: ListJobs) -> Outcome<Vec<Job>> {
    let scope = scope(input.scope.as_ref())?;
    let project = call.project_jobs(&input.id)?;
    let is_listed = |job: &records::Job| scope.as_ref().is_none_or(|scope| scope.contains(&job.status));
    let git = call.git(project).ok();
    let is_usual = |name: &str, usual: &str| call.inputs.get(name).is_none_or(|value| value.as_str() == Some(usual));
    let keyset = match is_usual("order_by", "id") && is_usual("sort", "desc") {
        true => Keyset::Cursor { descending: true, key: Box::new(|_| Key::none()), id: |job: &&records::Job| job.id },
        false => Keyset::Unavailable,
    };
    let rows = filtered(call, project, is_listed);
    let answer = call.keyset_page("Ci::Build", rows, keyset, |job| call.show_job(job, git.as_ref()))?;
    Ok(uncounted(call, answer))
}

fn of_pipeline(call: &ReadCall, input: ListPipelineJobs) -> Outcome<Vec<Job>> {
    let scope = scope(input.scope.as_ref())?;
    let project = call.project_jobs(&input.id)?;
    let pipeline = call.world.pipelines.get(input.pipeline_id).filter(|pipeline| pipeline.project == project.id);
    let pipeline = pipeline.ok_or_else(|| Rejection::not_found("Pipeline"))?.id;
    let in_scope = |status| scope.as_ref().is_none_or(|scope| scope.contains(&status));
    // Servers of the specification's version list retried jobs, too.
    let with_retried = input.include_retried == Some(true) || call.only_specified();
    let is_listed = |job: &records::Job| job.pipeline == pipeline && in_scope(job.status);
    let rows = filtered(call, project, |job| is_listed(job) && (with_retried || !job.retried));
    let git = call.git(project).ok();
    call.page(rows, |job| call.show_job(job, git.as_ref()))
}

fn get(call: &ReadCall, input: GetJob) -> Outcome<Job> {
    let project = call.project_jobs(&input.id)?;
    let job = call.job(project.id, input.job_id)?;
    ok(call.show_job(job, call.git(project).ok().as_ref()))
}

/// The maximum size of a part of a trace (GitLab 19.5).
const MAX_TRACE_PART: u64 = 500 << 10;

fn trace(call: &ReadCall, input: GetTrace) -> Outcome<Stream> {
    let project = call.project_jobs(&input.id)?;
    let job = call.job(project.id, input.job_id)?;
    let trace = runner::trace(call.world, job, call.now).ok_or_else(Rejection::record_not_found)?;
    let total = trace.length();
    let write = move |from: u64, out: &mut dyn Write| trace.write(from, out);
    let mut stream = Stream::new("text/plain", Some(total), write);
    if call.version >= Version::V19 {
        let (offset, limit): (Option<u64>, Option<u64>) = (call.option("byte_offset")?, call.option("byte_limit")?);
        if limit.is_some_and(|limit| !(1..=MAX_TRACE_PART).contains(&limit)) {
            return Err(Rejection::no_valid_value("byte_limit"));
        }
        let from = offset.unwrap_or(0).min(total);
        let to = limit.map_or(total, |limit| from.saturating_add(limit).min(total));
        if (from, to) != (0, total) {
            stream = range::part(stream, from, to);
        }
    }
    // Ranges let clients fetch only the tail. There is no entity tag, because the trace grows.
    let named = format!("infile; filename=\"{}.log\"", job.id);
    Ok(range::answer(stream, &call.headers, None).header("content-disposition", &named))
}

/// Returns the archive of a job's artifacts, unless they have expired.
fn archive<'a>(call: &'a ReadCall, job: &records::Job) -> Result<&'a Arc<records::Archive>, Rejection> {
    let artifacts = unexpired_artifacts(job, call.now).ok_or_else(Rejection::record_not_found)?;
    call.world.archives.get_arc(artifacts.archive).ok_or_else(Rejection::record_not_found)
}

/// Returns the entity tag of a file in an archive; archives never change.
fn version(archive: &records::Archive, path: &str) -> Option<String> {
    range::etag(&format!("{} {} {path}", archive.id, archive.bytes.len()))
}

fn send(call: &ReadCall, archive: &Arc<records::Archive>) -> Outcome<Stream> {
    let (archive, tag) = (archive.clone(), version(archive, ""));
    let length = archive.bytes.len() as u64;
    let write = move |from: u64, out: &mut dyn Write| {
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        out.write_all(archive.bytes.get(from..).unwrap_or_default())
    };
    let stream = Stream::new("application/zip", Some(length), write);
    Ok(range::answer(stream, &call.headers, tag.as_deref())
        .header("content-disposition", "attachment; filename=artifacts.zip")
        .header("content-transfer-encoding", "binary"))
}

/// The types of artifacts; jobs here have archives and reports about lines.
const FILE_TYPES: &[&str] = &[
    "archive",
    "accessibility",
    "api_fuzzing",
    "browser_performance",
    "cluster_image_scanning",
    "cobertura",
    "codequality",
    "container_scanning",
    "cyclonedx",
    "dast",
    "dependency_scanning",
    "dotenv",
    "jacoco",
    "junit",
    "license_scanning",
    "load_performance",
    "lsif",
    "metrics",
    "performance",
    "requirements",
    "requirements_v2",
    "sarif",
    "sast",
    "secret_detection",
];

fn artifacts(call: &ReadCall, input: GetArtifacts) -> Outcome<Stream> {
    let project = call.project_jobs(&input.id)?;
    let wanted: Option<String> = call.option("file_type")?.filter(|_| call.version >= Version::V19);
    let file_type = call.choice_or_first("file_type", wanted.as_deref(), FILE_TYPES)?;
    let archive = archive(call, call.job(project.id, input.job_id)?)?;
    if file_type == "archive" {
        return send(call, archive);
    }
    let report = archive.reports.iter().find(|report| report.file_type == file_type);
    let report = report.ok_or_else(Rejection::record_not_found)?;
    let tag = version(archive, &report.filename);
    let named = format!("attachment; filename=\"{}\"", report.filename);
    let bytes = report.bytes.clone();
    let stream = Stream::new("application/gzip", Some(bytes.len() as u64), move |from: u64, out: &mut dyn Write| {
        out.write_all(bytes.get(usize::try_from(from).unwrap_or(usize::MAX)..).unwrap_or_default())
    });
    Ok(range::answer(stream, &call.headers, tag.as_deref()).header("content-disposition", &named))
}

fn ref_artifacts(call: &ReadCall, input: GetRefArtifacts) -> Outcome<Stream> {
    let project = call.project_jobs(&input.id)?;
    let mut newest = call.world.jobs.iter().rev();
    let job = newest.find(|job| {
        job.project == project.id
            && job.ref_name == input.ref_name
            && job.name == input.job
            && job.status == Status::Success
            && unexpired_artifacts(job, call.now).is_some()
    });
    send(call, archive(call, job.ok_or_else(Rejection::record_not_found)?)?)
}

/// Sends a file from an archive, and unpacks it while it is sent.
fn artifact_file(call: &ReadCall, input: GetArtifactFile) -> Outcome<Stream> {
    let project = call.project_jobs(&input.id)?;
    let archive = archive(call, call.job(project.id, input.job_id)?)?.clone();
    let path = input.artifact_path;
    let climbs = path.split('/').any(|name| matches!(name, "" | "." | ".."));
    if climbs || path.contains(['\0', '\\']) {
        return Err(Rejection::message(400, "400 (Bad request)"));
    }
    // A truncated archive has no readable entries.
    let mut zip =
        ZipArchive::new(Cursor::new(ArchiveBytes(archive.clone()))).map_err(|_| Rejection::record_not_found())?;
    let length = match zip.by_name(&path) {
        Ok(file) if file.is_file() => file.size(),
        _ => return Err(Rejection::record_not_found()),
    };
    let content_type = content_type(&path);
    let named = format!("attachment; filename=\"{}\"", path.rsplit('/').next().unwrap_or_default().replace('"', "_"));
    let tag = version(&archive, &path);
    let write = move |from: u64, out: &mut dyn Write| {
        let mut file = zip.by_name(&path)?;
        // It is not possible to seek in compressed data.
        std::io::copy(&mut (&mut file).take(from), &mut std::io::sink())?;
        std::io::copy(&mut file, out).map(drop)
    };
    let stream = Stream::new(content_type, Some(length), write);
    Ok(range::answer(stream, &call.headers, tag.as_deref()).header("content-disposition", &named))
}

/// The bytes of an archive, shared.
pub struct ArchiveBytes(pub Arc<records::Archive>);

impl AsRef<[u8]> for ArchiveBytes {
    fn as_ref(&self) -> &[u8] {
        &self.0.bytes
    }
}

/// Returns the content type according to the file extension.
fn content_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map_or("", |(_, end)| end).to_ascii_lowercase().as_str() {
        "txt" | "log" | "md" | "csv" | "ansi" | "info" => "text/plain",
        "html" | "htm" => "text/html",
        "xml" => "text/xml",
        "json" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "zip" => "application/zip",
        _ => "application/octet-stream",
    }
}

/// Returns the project and the job of an action, and the caller, who must be allowed to act on jobs.
fn authorize(call: &WriteCall, id: &Id, job: u64) -> Result<(Project, records::Job, u64), Rejection> {
    let project = call.project_as(id, level::DEVELOPER)?.clone();
    let job = call.job(project.id, job)?.clone();
    Ok((project, job, call.require_user()?.id))
}

fn show_by_id(call: &WriteCall, project: &Project, job: u64) -> Outcome<Job> {
    let job = call.job(project.id, job)?;
    ok(call.show_job(job, call.git(project).ok().as_ref()))
}

fn cancel(call: &mut WriteCall, input: CancelJob) -> Outcome<Job> {
    let (project, job, _) = authorize(call, &input.id, input.job_id)?;
    runner::cancel(call.world, job.id, call.now);
    show_by_id(call, &project, job.id)
}

fn retry(call: &mut WriteCall, input: RetryJob) -> Outcome<Job> {
    let is_it = |bridge: &&records::Bridge| !bridge.retried && bridge.status != Status::Created;
    if let Some(bridge) = call.world.bridges.get(input.job_id).filter(is_it).cloned() {
        let project = call.project_as(&input.id, level::DEVELOPER)?.clone();
        let user = call.require_user()?.id;
        if bridge.project != project.id {
            return Err(Rejection::record_not_found());
        }
        let new =
            runner::retry_bridge(call.world, bridge.id, user, call.now).ok_or_else(Rejection::record_not_found)?;
        let bridge = call.world.bridges.get(new).ok_or_else(Rejection::record_not_found)?;
        return ok(call.show_bridge(bridge, call.git(&project).ok().as_ref()));
    }
    let (project, job, user) = authorize(call, &input.id, input.job_id)?;
    let new = runner::retry(call.world, job.id, user, call.now).ok_or_else(Rejection::record_not_found)?;
    show_by_id(call, &project, new)
}

fn play(call: &mut WriteCall, input: PlayJob) -> Outcome<Job> {
    let (project, job, user) = authorize(call, &input.id, input.job_id)?;
    for variable in input.job_variables_attributes.iter().flatten() {
        // The variables do not affect the output of scripts.
        check_variable(call, variable)?;
    }
    if !runner::play(call.world, job.id, user, call.now) {
        return Err(Rejection::bad_request_because("Unplayable Job"));
    }
    let mut answer = show_by_id(call, &project, job.id)?.status(200);
    // Only this reply has that status; the job itself is waiting for its runner now.
    answer.body.status = resources::Status::Started;
    Ok(answer)
}

fn erase(call: &mut WriteCall, input: EraseJob) -> Outcome<Job> {
    let (project, job, user) = authorize(call, &input.id, input.job_id)?;
    if job.user != Some(user) && call.rights.level(call.world, &project) < level::MAINTAINER {
        return Err(Rejection::forbidden());
    }
    runner::erase(call.world, job.id, call.now);
    let mut answer = show_by_id(call, &project, job.id)?;
    answer.body.download_url = None.into();
    Ok(answer)
}

fn keep(call: &mut WriteCall, input: KeepArtifacts) -> Outcome<Job> {
    let (project, job, _) = authorize(call, &input.id, input.job_id)?;
    if unexpired_artifacts(&job, call.now).is_none() {
        return Err(Rejection::record_not_found());
    }
    if let Some(artifacts) = call.world.jobs.get_mut(job.id).and_then(|job| job.artifacts.as_mut()) {
        artifacts.expire_at = None;
    }
    let mut answer = show_by_id(call, &project, job.id)?.status(200);
    let root = super::mount::ROOT;
    let url = format!("{}{root}/projects/{}/jobs/{}/artifacts", call.base_url, project.id, job.id);
    answer.body.download_url = Some(url).into();
    Ok(answer)
}
