//! Finds the last successful run of a job: of the same ref first, then of the target branch of its merge request, then of
//! the default branch. Few requests are sent, one after the other, until one has it.

use crate::api::Id;
use crate::api::jobs::{Job, ListJobs, ListPipelineJobs};
use crate::api::merge_requests::{GetMergeRequest, ListProjectMergeRequests};
use crate::api::pipelines::ListPipelines;
use crate::api::pipelines::resources::Status;
use crate::api::projects::GetProject;
use crate::app::view::View;
use crate::parts::project;
use crate::store::{Load, Want};

/// The maximum number of successful pipelines of each ref whose jobs are read.
const MAX_PIPELINES: usize = 3;

/// The state of a search for the last successful run.
pub enum LastSuccess<'a> {
    /// The search goes on with this request.
    Searching(Box<Want>),
    Found(&'a Job),
    /// There is none on these refs.
    Missing(Vec<String>),
}

/// A step of the search: its result, or the request that it needs.
type Step<T> = Result<T, Box<Want>>;

/// The job whose last success is searched.
struct Search<'a, 'b> {
    view: &'b View<'a>,
    project: &'b Id,
    job: &'b Job,
}

/// Returns the last successful run of `job`, or the request that continues the search for it.
pub fn last_success<'a>(view: &View<'a>, project: &Id, job: &Job) -> LastSuccess<'a> {
    let search = Search { view, project, job };
    match search.run() {
        Ok(Ok(found)) => LastSuccess::Found(found),
        Ok(Err(refs)) => LastSuccess::Missing(refs),
        Err(want) => LastSuccess::Searching(want),
    }
}

impl<'a> Search<'a, '_> {
    fn run(&self) -> Step<Result<&'a Job, Vec<String>>> {
        let mut refs: Vec<String> = Vec::new();
        let of_merge_request = || self.merge_request_refs();
        let of_project = || self.default_branch();
        let own = || Ok(vec![self.job.r#ref.clone()]);
        let sources: [&dyn Fn() -> Step<Vec<String>>; 3] = [&own, &of_merge_request, &of_project];
        for source in sources {
            for name in source()? {
                if name.is_empty() || refs.contains(&name) {
                    continue;
                }
                if let Some(found) = self.on(&name)? {
                    return Ok(Ok(found));
                }
                refs.push(name);
            }
        }
        Ok(Err(refs))
    }

    fn fits(&self, other: &Job) -> bool {
        let is_read = other.erased_at.is_none() && other.id != self.job.id;
        is_read && other.status == Status::Success && other.name == self.job.name
    }

    /// Returns the last success on a ref: among the latest successful jobs of the project, or else in the latest
    /// successful pipelines of the ref.
    fn on(&self, name: &str) -> Step<Option<&'a Job>> {
        let success = Some(vec![Status::Success.as_str().to_owned()]);
        let latest = self.list(&ListJobs { id: self.project.clone(), scope: success.clone() })?;
        let newest = |jobs: Vec<&'a Job>| jobs.into_iter().filter(|job| self.fits(job)).max_by_key(|job| job.id);
        if let Some(found) = newest(latest.into_iter().filter(|job| job.r#ref == name).collect()) {
            return Ok(Some(found));
        }
        let pipelines = self.list(&ListPipelines {
            id: self.project.clone(),
            r#ref: Some(name.to_owned()),
            status: Some(Status::Success.as_str().to_owned()),
            ..ListPipelines::default()
        })?;
        for pipeline in pipelines.into_iter().take(MAX_PIPELINES) {
            let (id, scope) = (self.project.clone(), success.clone());
            let jobs = ListPipelineJobs { id, pipeline_id: pipeline.id, scope, include_retried: None };
            if let Some(found) = newest(self.list(&jobs)?) {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Returns the source and the target branch of the merge request that the job is of.
    fn merge_request_refs(&self) -> Step<Vec<String>> {
        let name = self.job.r#ref.as_str();
        let iid = name.strip_prefix("refs/merge-requests/").and_then(|rest| rest.split('/').next()?.parse().ok());
        if let Some(merge_request_iid) = iid {
            let get = GetMergeRequest { id: self.project.clone(), merge_request_iid, include_rebase_in_progress: None };
            let remote = self.view.store.get(&get);
            return match remote.value {
                Some(known) => Ok(vec![known.source_branch().to_owned(), known.target_branch().to_owned()]),
                None if remote.error.is_some() => Ok(Vec::new()),
                None => Err(Box::new(Load::single(&get).optional().into())),
            };
        }
        if self.job.tag || name.is_empty() {
            return Ok(Vec::new());
        }
        let of_branch = ListProjectMergeRequests {
            id: self.project.clone(),
            state: Some("opened".into()),
            source_branch: Some(name.to_owned()),
            ..ListProjectMergeRequests::default()
        };
        Ok(self.list(&of_branch)?.into_iter().take(1).map(|mr| mr.target_branch().to_owned()).collect())
    }

    fn default_branch(&self) -> Step<Vec<String>> {
        let remote = self.view.store.get(&GetProject::new(self.project));
        match remote.value {
            Some(known) => Ok(known.default_branch.iter().cloned().collect()),
            None if remote.error.is_some() => Ok(Vec::new()),
            None => Err(Box::new(project::want(self.project))),
        }
    }

    /// Returns the first page of a list. One that cannot be read is empty, so that the others are still searched.
    fn list<T: 'static + Send + Sync, E: crate::api::Endpoint<Output = Vec<T>>>(&self, endpoint: &E) -> Step<Vec<&'a T>>
    where
        Vec<T>: crate::api::Reply,
    {
        let rows = self.view.store.list(endpoint);
        if !rows.is_loaded && rows.error.is_none() {
            return Err(Box::new(Load::list(endpoint, 1).optional().into()));
        }
        Ok(rows.iter().collect())
    }
}
