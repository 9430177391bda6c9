//! The reports of the head pipeline about the changed lines: finds the jobs that have some, and reads them.

use super::ChangesTab;
use crate::api::client::ByteRange;
use crate::api::error::Unreadable;
use crate::api::jobs::{GetArtifacts, Job};
use crate::api::pipelines::resources::Pipeline;
use crate::api::{Endpoint, Error, Fault, Id, Request};
use crate::app::view::View;
use crate::domain::line_reports::{self, Kind, LineReports, RepositoryPaths};
use crate::domain::parts::{Parts, Step};
use crate::domain::zip;
use crate::parts::items::merge_requests;
use crate::parts::repository::changed_files::Entries;
use crate::parts::secondary::SecondaryRead;
use crate::store::{AnyRangeRead, Canceled, Load, RangeRead, Want};
use std::collections::HashSet;
use std::sync::Arc;

/// The maximum number of reports that are read.
const MAX_REPORTS: usize = 20;

type ReadReports = Result<LineReports, String>;

/// The reports of the pipeline.
#[derive(Default)]
pub struct Reports {
    reads: Vec<ReadLineReport>,
    /// The keys of those that were read.
    keys: Vec<String>,
    merged: Option<Arc<LineReports>>,
    /// The first report that cannot be read, as an error.
    broken: Option<(Kind, Error)>,
}

/// Reads a report of a job.
#[derive(Clone)]
struct ReadLineReport {
    key: String,
    project: Id,
    job_id: u64,
    kind: Kind,
    /// The full path of the project.
    project_path: String,
    entries: Entries,
}

impl RangeRead for ReadLineReport {
    type Output = ReadReports;

    fn key(&self) -> String {
        self.key.clone()
    }

    fn request(&self) -> Request {
        let file_type = Some(self.kind.file_type().to_owned());
        GetArtifacts { id: self.project.clone(), job_id: self.job_id, file_type, ..GetArtifacts::default() }.request()
    }

    /// The end is enough for the list of an archive, and most reports are not larger.
    fn begin(&self) -> ByteRange {
        ByteRange::Tail(zip::TAIL_BYTES)
    }

    fn max_bytes(&self) -> u64 {
        line_reports::MAX_BYTES
    }

    fn too_large(&self, _bytes: u64) -> ReadReports {
        Err("it is larger than 32 MiB".into())
    }

    fn read(&self, parts: &Parts, canceled: Canceled<'_>) -> Step<ReadReports> {
        let files = (0..self.entries.parts()).flat_map(|part| self.entries.part(part));
        let paths: HashSet<String> = files.map(|entry| entry.new_path.clone()).collect();
        let changed = RepositoryPaths { projects: vec![self.project_path.clone()], paths };
        line_reports::read(self.kind, parts, &changed, canceled)
    }
}

impl ChangesTab {
    /// Returns the pipeline whose reports are about the shown lines: one that ran on the head of the shown changes.
    fn reported_pipeline<'a>(&'a self, view: &View<'a>) -> Option<&'a Pipeline> {
        let head = self.shown_head(view);
        self.reads.pipeline(view).filter(|pipeline| !head.is_empty() && pipeline.sha == head)
    }

    /// Returns the reads of all reports.
    fn find_reports(&self, view: &View) -> Vec<ReadLineReport> {
        let Some(pipeline) = self.reported_pipeline(view).filter(|_| self.is_current(view)) else { return Vec::new() };
        let (Some(known), Some(input)) = (self.reads.known(view), self.changes.input()) else { return Vec::new() };
        let project = self.reads.project_of(view, pipeline);
        let here = merge_requests::project(known, view).to_string();
        // A pipeline of a fork runs in a folder with the path of that.
        let web_url = pipeline.web_url.as_deref().and_then(|url| url.strip_prefix(&view.session.web_url));
        let path = web_url.and_then(|path| path.trim_start_matches('/').split_once("/-/")).map(|(path, _)| path);
        let project_path = path.map_or(here, str::to_owned);
        let jobs = view.store.list(&self.reads.jobs(view, pipeline));
        // Of a job that was retried, the latest run counts.
        let is_latest = |job: &Job| !jobs.iter().any(|other| other.name == job.name && other.id > job.id);
        let all = jobs.iter().filter(|job| job.artifacts.is_some()).flat_map(|job| Kind::ALL.map(|kind| (job, kind)));
        let reported = all.filter(|(job, kind)| job.has_artifact(kind.file_type()) && is_latest(job));
        let read = |(job, kind): (&Job, Kind)| ReadLineReport {
            key: format!("{} of job {project}/{} for {}", kind.file_type(), job.id, input.identity),
            project: project.clone(),
            job_id: job.id,
            kind,
            project_path: project_path.clone(),
            entries: input.entries.clone(),
        };
        reported.take(MAX_REPORTS).map(read).collect()
    }

    /// Returns the requests for the jobs of the pipeline, and for the reports of those that have some.
    pub(super) fn report_wants(&self, view: &View) -> Vec<Want> {
        let Some(pipeline) = self.reported_pipeline(view).filter(|_| self.is_current(view)) else { return Vec::new() };
        let jobs = self.reads.polled(view, Load::list(&self.reads.jobs(view, pipeline), 1)).optional();
        let reports = self.reports.reads.iter().cloned().map(|report| AnyRangeRead::new(report).into());
        [jobs.into()].into_iter().chain(reports).collect()
    }

    /// Finds the reports, takes those that were read since, and shows what they say about the lines.
    pub(super) fn take_reports(&mut self, view: &View) {
        self.reports.reads = self.find_reports(view);
        let is_read = |report: &&ReadLineReport| view.store.result::<ReadReports>(&report.key).is_some();
        let keys: Vec<String> = self.reports.reads.iter().filter(is_read).map(|report| report.key.clone()).collect();
        if keys != self.reports.keys {
            let mut merged = LineReports::default();
            self.reports.broken = None;
            for report in &self.reports.reads {
                match view.store.result::<ReadReports>(&report.key) {
                    Some(Ok(lines)) => merged.merge(lines),
                    Some(Err(why)) => {
                        let fault = Fault::Unreadable(Unreadable { field: ".".into(), reason: why.clone() });
                        let error = Error { tried: report.request().line(), fault };
                        self.reports.broken.get_or_insert((report.kind, error));
                    }
                    None => {}
                }
            }
            self.reports.merged = (!keys.is_empty()).then(|| Arc::new(merged));
            self.reports.keys = keys;
        }
        self.changes.set_line_reports(self.reports.merged.clone());
    }

    /// Returns the reports that could not be read. Those that are gone are nothing to tell.
    pub(super) fn report_reads<'a>(&'a self, view: &View<'a>) -> Vec<SecondaryRead<'a>> {
        let secondary = |kind: Kind, error| SecondaryRead { name: kind.name(), error: Some(error), is_cut: false };
        let failed = self.reports.reads.iter().filter_map(|report| {
            let error = view.store.failed(&report.key).filter(|error| !matches!(error.fault, Fault::Missing(..)))?;
            Some(secondary(report.kind, error))
        });
        let broken = self.reports.broken.iter().map(|(kind, error)| secondary(*kind, error));
        failed.chain(broken).collect()
    }
}
