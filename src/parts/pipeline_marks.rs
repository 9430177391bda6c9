//! The status of the newest pipelines of commits or branches, for lists without such a field: taken from one list of
//! pipelines.

use crate::api::Id;
use crate::api::pipelines::resources::Status;
use crate::api::pipelines::{ListPipelines, Pipeline};
use crate::app::view::View;
use crate::parts::ci::POLL_INTERVAL;
use crate::store::{Load, Revision, Want};
use crate::ui::glyph;
use crate::ui::table::Cell;
use std::collections::HashMap;

/// The maximum number of pages of pipelines that are requested, whatever the length of the list.
const MAX_PAGES: u32 = 5;

/// The function that returns the commit or the ref of a pipeline.
type Subject = fn(&Pipeline) -> &str;

/// The newest pipeline of each commit or ref.
pub struct PipelineMarks {
    list: ListPipelines,
    subject: Subject,
    newest: HashMap<String, Status>,
    is_live: bool,
    inputs: Option<Revision>,
}

impl PipelineMarks {
    /// Creates the marks of commits: of all, or of those of a branch or tag.
    pub fn of_commits(project: &Id, git_ref: Option<&str>) -> PipelineMarks {
        let list = ListPipelines { id: project.clone(), r#ref: git_ref.map(str::to_owned), ..ListPipelines::default() };
        PipelineMarks::new(list, |pipeline| &pipeline.sha)
    }

    /// Creates the marks of branches, for which the server lists the newest pipeline each.
    pub fn of_branches(project: &Id) -> PipelineMarks {
        let list = ListPipelines { id: project.clone(), scope: Some("branches".into()), ..ListPipelines::default() };
        PipelineMarks::new(list, |pipeline| &pipeline.r#ref)
    }

    fn new(list: ListPipelines, subject: Subject) -> PipelineMarks {
        PipelineMarks { list, subject, newest: HashMap::new(), is_live: false, inputs: None }
    }

    /// Returns whether the marks are of the given ref.
    pub fn is_of(&self, git_ref: Option<&str>) -> bool {
        self.list.r#ref.as_deref() == git_ref
    }

    /// Returns the request for as many pages as the list beside it has; `None` if the server has no list of pipelines,
    /// or refuses it.
    pub fn want(&self, view: &View, pages: u32) -> Option<Want> {
        let failed = view.store.list(&self.list).error.is_some();
        if view.store.is_unsupported::<ListPipelines>() || failed && self.inputs.is_none() {
            return None;
        }
        let load = Load::list(&self.list, pages.clamp(1, MAX_PAGES));
        Some(if self.is_live && !failed { load.refresh_after(POLL_INTERVAL * 2).into() } else { load.into() })
    }

    /// Updates the marks after a store update, if the list changed.
    pub fn sync(&mut self, view: &View) {
        let rows = view.store.list(&self.list);
        if self.inputs.replace(rows.revision) == Some(rows.revision) {
            return;
        }
        self.newest.clear();
        for pipeline in rows.iter() {
            // The list is sorted newest first.
            self.newest.entry((self.subject)(pipeline).to_owned()).or_insert_with(|| pipeline.status.clone());
        }
        self.is_live = self.newest.values().any(Status::is_live);
        if !rows.is_known {
            self.inputs = None;
        }
    }

    /// Returns the status glyph of a commit or ref; empty if it has no known pipeline.
    pub fn sign(&self, subject: &str) -> Cell {
        self.newest.get(subject).map_or_else(Cell::empty, |status| Cell::from(glyph::status(status.as_str())))
    }

    /// Returns the status glyph and name of a commit or ref.
    pub fn cell(&self, subject: &str) -> Cell {
        self.newest.get(subject).map_or_else(Cell::empty, |status| Cell::from(glyph::labeled(status.as_str())))
    }
}
