//! The first error of a failed job, read from the end of its trace, by which the failures of a pipeline are grouped.

use super::work::FindErrors;
use crate::api::client::ByteRange;
use crate::api::jobs::{GetTrace, Job};
use crate::api::pipelines::resources::Status;
use crate::api::{Endpoint, Id, Request};
use crate::app::view::View;
use crate::domain::log_line::Normalizer;
use crate::domain::parts::{Parts, Step};
use crate::store::{AnyRangeRead, Canceled, Derive, RangeRead, Want};
use crate::ui::trace::{Patterns, Trace};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// The number of bytes of the end of a trace that are searched: the section that failed is at the end.
const TAIL: u64 = 256 << 10;
/// The maximum size of a trace of which a server only sends all, in bytes.
const MAX_BYTES: u64 = 8 << 20;
/// The maximum number of jobs whose traces are read.
const MAX_JOBS: usize = 20;
/// The delay before the traces are requested, so that passing by requests none.
const DELAY: Duration = Duration::from_millis(300);

/// The first error of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FirstError {
    /// The line with the error, or why there is none.
    pub text: String,
    /// A number that is the same for the same error, ignoring what differs in every run; `None` without an error.
    pub group: Option<u64>,
}

struct ReadFirstError {
    project: Id,
    job_id: u64,
    key: String,
    patterns: Patterns,
}

fn key(project: &Id, job: &Job) -> String {
    let until = job.finished_at.as_ref().map(ToString::to_string).unwrap_or_default();
    format!("first error {project}/{}\t{until}", job.id)
}

/// Returns whether the first error of a job is read from its trace.
fn is_read(job: &Job) -> bool {
    job.status == Status::Failed && !job.is_trigger() && job.erased_at.is_none()
}

/// Returns the first errors of jobs by ID, or why there is none; `None` while it is read.
pub fn first_errors<'a>(
    view: &View,
    project: &Id,
    jobs: impl Iterator<Item = &'a Job>,
) -> HashMap<u64, Option<Arc<FirstError>>> {
    let none = |text: String| Some(Arc::new(FirstError { text, group: None }));
    let mut read = 0;
    let error = |job: &'a Job| {
        read += usize::from(is_read(job));
        let key = key(project, job);
        let error = match view.store.failed(&key) {
            _ if job.is_trigger() => none("The downstream pipeline failed".to_owned()),
            _ if job.erased_at.is_some() => none("The trace was erased".to_owned()),
            _ if read > MAX_JOBS => none(format!("Only the traces of the first {MAX_JOBS} failed jobs are read")),
            Some(error) => none(format!("The trace cannot be read: {}", error.title().to_lowercase())),
            None => view.store.shared_result(&key),
        };
        (job.id, error)
    };
    jobs.map(error).collect()
}

/// Returns the reads that find the first errors of `jobs`, of a limited number.
pub fn want_first_errors<'a>(view: &View, project: &Id, jobs: impl Iterator<Item = &'a Job>) -> Vec<Want> {
    let reads = jobs.filter(|job| is_read(job)).take(MAX_JOBS).map(|job| {
        let patterns = view.session.trace_settings.patterns.clone();
        let read = ReadFirstError { project: project.clone(), job_id: job.id, key: key(project, job), patterns };
        AnyRangeRead::new(read).after(DELAY).into()
    });
    reads.collect()
}

impl RangeRead for ReadFirstError {
    type Output = FirstError;

    fn key(&self) -> String {
        self.key.clone()
    }

    fn request(&self) -> Request {
        GetTrace { id: self.project.clone(), job_id: self.job_id }.request()
    }

    fn begin(&self) -> ByteRange {
        ByteRange::Tail(TAIL)
    }

    fn max_bytes(&self) -> u64 {
        MAX_BYTES
    }

    fn too_large(&self, _bytes: u64) -> FirstError {
        FirstError { text: "The trace is too large to be searched here".into(), group: None }
    }

    fn read(&self, parts: &Parts, canceled: Canceled<'_>) -> Step<FirstError> {
        let range = parts.total().saturating_sub(TAIL)..parts.total();
        let bytes = match parts.read(range.clone()) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Step::Need(range),
            Err(_) => return Step::Done(FirstError::default()),
        };
        // The first line of a part is incomplete.
        let from = if range.start == 0 { 0 } else { memchr::memchr(b'\n', &bytes).map_or(0, |at| at + 1) };
        let mut trace = Trace::default();
        trace.push(bytes.get(from..).unwrap_or_default());
        let find = FindErrors {
            identity: String::new(),
            trace: trace.clone(),
            patterns: self.patterns.clone(),
            warnings: false,
        };
        let text = find.run(canceled).failure.and_then(|line| trace.read_text(line));
        let Some(text) = text else {
            return Step::Done(FirstError { text: "No line looks like an error".into(), group: None });
        };
        let group = Normalizer::default().fingerprint(0, &text).map(|found| found.hash);
        Step::Done(FirstError { text: text.trim().to_owned(), group })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(trace: &str) -> FirstError {
        let (key, patterns) = (String::new(), Patterns::default());
        let read = ReadFirstError { project: Id::from(1), job_id: 2, key, patterns };
        match read.read(&Parts::whole(trace.to_owned().into()), &|| false) {
            Step::Done(found) => found,
            Step::Need(range) => panic!("all is there, not only {range:?}"),
        }
    }

    #[test]
    fn the_same_error_of_other_runs_is_one_group() {
        let of = |seconds: u32, port: u32| {
            read(&format!("ready\n[{seconds}s] error: cannot reach 10.0.0.1:{port}\nERROR: Job failed: exit code 1\n"))
        };
        assert_eq!(of(3, 45213).group, of(12, 8080).group);
        assert!(of(3, 45213).group.is_some() && of(3, 1000).text.ends_with("cannot reach 10.0.0.1:1000"));
        assert_ne!(of(3, 45213).group, read("error: other\n").group);
        assert_eq!(read("all is well\n").group, None);
        // Only the end of a large trace is searched.
        let long = format!("error: long ago\n{}error: at the end\n", "a line of the trace\n".repeat(20_000));
        assert_eq!(read(&long).text, "error: at the end");
    }
}
