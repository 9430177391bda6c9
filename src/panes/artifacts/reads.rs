//! The requests for the artifacts of a job, and what is loaded of them.

use super::archive::{Archive, ReadList};
use super::tree::ArchiveNode;
use crate::api::jobs::{GetArtifactFile, GetArtifacts, GetJob, GetRefArtifacts, Job, ListJobs};
use crate::api::pipelines::resources::Status;
use crate::api::{Endpoint, GitRef, Id, Request};
use crate::app::command_info::Disabled;
use crate::app::place::Place;
use crate::app::transfer::NewTransfer;
use crate::app::view::View;
use crate::domain::zip::{Refusal, ZipEntry};
use crate::parts::ci;
use crate::store::{AnyRangeRead, Load, Want};
use std::sync::Arc;

/// The source of the artifacts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArtifactSource {
    /// A job, by its ID.
    Job(u64),
    /// The last successful job of that name on a branch or tag.
    Ref { git_ref: String, job: String },
}

/// The artifacts of a job.
#[derive(Clone)]
pub struct ArtifactReads {
    pub project: Id,
    pub of: ArtifactSource,
}

impl ArtifactReads {
    /// Returns the key of the archive.
    pub fn key(&self) -> String {
        match &self.of {
            ArtifactSource::Job(job) => format!("archive of {} job {job}", self.project),
            ArtifactSource::Ref { git_ref, job } => format!("archive of {} ref {git_ref} job {job}", self.project),
        }
    }

    /// Returns the place of the artifacts.
    pub fn place(&self) -> Place {
        let place = Place::new("artifacts").project(self.project.clone());
        match &self.of {
            ArtifactSource::Job(job) => place.item(job),
            ArtifactSource::Ref { git_ref, job } => place.at(git_ref.clone()).item(job),
        }
    }

    /// Returns the request for the archive.
    pub fn request(&self) -> Request {
        let id = self.project.clone();
        match &self.of {
            ArtifactSource::Job(job_id) => GetArtifacts { id, job_id: *job_id, ..GetArtifacts::default() }.request(),
            ArtifactSource::Ref { git_ref, job } => {
                GetRefArtifacts { id, ref_name: git_ref.clone(), job: job.clone(), job_token: None }.request()
            }
        }
    }

    fn get_job(&self) -> Option<GetJob> {
        match &self.of {
            ArtifactSource::Job(job_id) => Some(GetJob { id: self.project.clone(), job_id: *job_id }),
            ArtifactSource::Ref { .. } => None,
        }
    }

    /// Returns the list of jobs to search for the job of an [`ArtifactSource::Ref`].
    fn jobs(&self) -> ListJobs {
        ListJobs { id: self.project.clone(), scope: Some(vec!["success".into()]) }
    }

    /// Returns the job, if it is loaded.
    pub fn job<'a>(&self, view: &View<'a>) -> Option<&'a Job> {
        match &self.of {
            ArtifactSource::Job(_) => view.store.get(&self.get_job()?).value,
            ArtifactSource::Ref { git_ref, job } => view.store.list(&self.jobs()).iter().find(|one| {
                one.status == Status::Success && one.r#ref == *git_ref && one.name == *job && one.has_artifacts()
            }),
        }
    }

    pub fn job_id(&self, view: &View) -> Option<u64> {
        match &self.of {
            ArtifactSource::Job(job) => Some(*job),
            ArtifactSource::Ref { .. } => self.job(view).map(|job| job.id),
        }
    }

    /// Returns the commit of the job, or else the ref that was asked for.
    pub fn git_ref(&self, view: &View) -> Option<GitRef> {
        let commit = self.job(view).and_then(|job| {
            let pipeline = job.pipeline.as_ref().map(|pipeline| pipeline.sha.clone());
            job.commit.as_ref().map(|commit| commit.id.clone()).or(pipeline).filter(|sha| !sha.is_empty())
        });
        match (commit, &self.of) {
            (None, ArtifactSource::Ref { git_ref, .. }) => Some(GitRef::from(git_ref)),
            (commit, _) => commit.map(GitRef::from),
        }
    }

    /// Returns whether there may be artifacts to fetch. If the job cannot be read, the request for the archive itself
    /// decides.
    fn may_exist(&self, view: &View) -> bool {
        match (self.get_job(), self.job(view)) {
            (None, _) => true,
            (Some(_), Some(job)) => job.has_artifacts(),
            (Some(get), None) => view.store.get(&get).error.is_some(),
        }
    }

    /// Returns the requests for the job and for the list of entries.
    pub fn wants(&self, view: &View) -> Vec<Want> {
        let job = match self.get_job() {
            // A running job may upload artifacts when it finishes.
            Some(get) => {
                let may_change = self.job(view).is_some_and(ci::may_change);
                Load::single(&get).refresh_after(may_change.then_some(ci::POLL_INTERVAL)).into()
            }
            None => Load::list(&self.jobs(), 1).into(),
        };
        let exists = self.may_exist(view) || self.archive(view).is_some();
        let list = || AnyRangeRead::new(ReadList { key: self.key(), request: self.request() }).into();
        [job].into_iter().chain(exists.then(list)).collect()
    }

    /// Returns the archive, or why it cannot be opened.
    pub fn outcome<'a>(&self, view: &View<'a>) -> Option<&'a Result<Arc<Archive>, Refusal>> {
        view.store.result(&self.key())
    }

    pub fn archive<'a>(&self, view: &View<'a>) -> Option<&'a Arc<Archive>> {
        self.outcome(view)?.as_ref().ok()
    }

    pub fn has_archive(&self, view: &View) -> Result<(), Disabled> {
        let gone = self.job(view).is_some_and(|job| !job.has_artifacts());
        let lost = gone || self.outcome(view).is_some() || view.store.failed(&self.key()).is_some();
        let why = if lost { "there is no archive" } else { "the archive is still loading" };
        self.archive(view).map(|_| ()).ok_or_else(|| why.into())
    }

    pub fn node<'a>(&self, view: &View<'a>, index: u32) -> Option<&'a ArchiveNode> {
        self.archive(view)?.tree.node(index)
    }

    /// Returns the archive entry of a node.
    pub fn entry<'a>(&self, view: &View<'a>, index: u32) -> Option<&'a ZipEntry> {
        let archive = self.archive(view)?;
        archive.list.entries.get(archive.tree.node(index)?.entry? as usize)
    }

    /// Returns the request for a single file; `None` while the job is unknown.
    pub fn file_request(&self, view: &View, entry: &ZipEntry) -> Option<Request> {
        let (id, job_id) = (self.project.clone(), self.job_id(view)?);
        Some(GetArtifactFile { id, job_id, artifact_path: entry.path.clone() }.request())
    }

    /// Returns the name of a saved archive without its extension: the job's name, and its ID if known.
    pub fn archive_name(&self, view: &View) -> String {
        let name = match (&self.of, self.job(view)) {
            (_, Some(job)) => format!("{}-{}", job.name, job.id),
            (ArtifactSource::Job(job), None) => format!("artifacts-{job}"),
            (ArtifactSource::Ref { job, .. }, None) => job.clone(),
        };
        name.replace(['/', '\\'], "-")
    }

    /// Returns the transfer that saves the archive as `name`.
    pub fn archive_save(&self, name: &str, view: &View) -> NewTransfer {
        let file = self.job(view).and_then(|job| job.artifacts_file.as_ref());
        let save = NewTransfer::new(self.request(), name);
        match file.filter(|file| file.size > 0) {
            Some(file) => save.size(file.size),
            None => save,
        }
    }
}
