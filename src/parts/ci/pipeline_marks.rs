//! The status of the newest pipelines of commits or branches, for lists without such a field: taken from one list of
//! pipelines.

use crate::api::pipelines::ListPipelines;
use crate::api::pipelines::resources::{Pipeline, Status};
use crate::api::{Error, Id};
use crate::app::view::View;
use crate::parts::ci::POLL_INTERVAL;
use crate::store::{Load, Revision, Want};
use crate::ui::glyph;
use crate::ui::line::Line;
use std::collections::HashMap;

/// The maximum number of pages of pipelines that are requested, whatever the length of the list.
const MAX_PAGES: u32 = 5;

/// The function that returns the key of a pipeline: the hash of its commit, or its ref.
type KeyFn = fn(&Pipeline) -> &str;

/// The newest pipeline of each commit or ref.
pub struct PipelineMarks {
    endpoint: ListPipelines,
    key_of: KeyFn,
    /// The status of the newest pipeline of each commit or ref.
    status_by_key: HashMap<String, Status>,
    is_live: bool,
    /// The revision of the list that the marks were made from; `None` if the list has not loaded.
    synced_revision: Option<Revision>,
}

impl PipelineMarks {
    /// Creates the marks of commits: of all, or of those of a branch or tag.
    pub fn of_commits(project: &Id, git_ref: Option<&str>) -> PipelineMarks {
        let endpoint =
            ListPipelines { id: project.clone(), r#ref: git_ref.map(str::to_owned), ..ListPipelines::default() };
        PipelineMarks::new(endpoint, |pipeline| &pipeline.sha)
    }

    /// Creates the marks of branches, for which the server lists the newest pipeline each.
    pub fn of_branches(project: &Id) -> PipelineMarks {
        let endpoint =
            ListPipelines { id: project.clone(), scope: Some("branches".into()), ..ListPipelines::default() };
        PipelineMarks::new(endpoint, |pipeline| &pipeline.r#ref)
    }

    fn new(endpoint: ListPipelines, key_of: KeyFn) -> PipelineMarks {
        PipelineMarks { endpoint, key_of, status_by_key: HashMap::new(), is_live: false, synced_revision: None }
    }

    /// Returns whether the marks are of the given ref.
    pub fn is_for_ref(&self, git_ref: Option<&str>) -> bool {
        self.endpoint.r#ref.as_deref() == git_ref
    }

    /// Returns the request for as many pages as the list beside it has; `None` if the server has no list of
    /// pipelines.
    pub fn want(&self, view: &View, pages: u32) -> Option<Want> {
        let error = view.store.list(&self.endpoint).error;
        let failed = error.is_some();
        let is_missing = error.is_some_and(Error::is_missing);
        if view.store.is_unsupported::<ListPipelines>() || is_missing && self.synced_revision.is_none() {
            return None;
        }
        let load = Load::list(&self.endpoint, pages.clamp(1, MAX_PAGES));
        Some(load.refresh_after((self.is_live && !failed).then_some(POLL_INTERVAL * 2)).into())
    }

    /// Updates the marks after a store update, if the list changed.
    pub fn sync(&mut self, view: &View) {
        let rows = view.store.list(&self.endpoint);
        if self.synced_revision.replace(rows.revision) == Some(rows.revision) {
            return;
        }
        self.status_by_key.clear();
        for pipeline in rows.iter() {
            // The list is sorted newest first.
            self.status_by_key.entry((self.key_of)(pipeline).to_owned()).or_insert_with(|| pipeline.status.clone());
        }
        self.is_live = self.status_by_key.values().any(Status::is_live);
        if !rows.is_loaded {
            self.synced_revision = None;
        }
    }

    /// Returns the status glyph of a commit or ref; empty if it has no known pipeline.
    pub fn glyph_cell(&self, key: &str) -> Line<'static> {
        self.status_by_key.get(key).map_or_else(Line::empty, |status| Line::from(glyph::status(status.as_str())))
    }

    /// Returns the status glyph and name of a commit or ref.
    pub fn labeled_cell(&self, key: &str) -> Line<'static> {
        self.status_by_key.get(key).map_or_else(Line::empty, |status| Line::from(glyph::labeled(status.as_str())))
    }
}
