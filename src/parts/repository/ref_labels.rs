//! The branches and tags at each commit, for the labels in a list of commits.

use crate::api::Id;
use crate::api::branches::ListBranches;
use crate::api::tags::ListTags;
use crate::app::view::View;
use crate::store::{Load, Revision, Want};
use crate::ui::line::Line;
use crate::ui::text;
use crate::ui::theme::Role;
use std::collections::HashMap;

/// The number of pages of branches and of tags that are loaded, which is enough for labels.
const MAX_PAGES: u32 = 3;
/// The maximum number of labels on one commit; the others are counted.
const MAX_LABELS: usize = 2;
/// The maximum width of a name, in columns.
const MAX_NAME_WIDTH: usize = 24;

/// A branch or a tag at a commit.
struct Label {
    name: String,
    role: Role,
}

/// The labels of a project's commits.
pub struct Labels {
    project: Id,
    at: HashMap<String, Vec<Label>>,
    /// The revisions of the lists of branches and tags.
    revisions: (Revision, Revision),
}

impl Labels {
    /// Creates the labels of a project, empty until its refs are loaded.
    pub fn new(project: &Id) -> Labels {
        Labels { project: project.clone(), at: HashMap::new(), revisions: Default::default() }
    }

    fn branches(&self) -> ListBranches {
        ListBranches { id: self.project.clone(), search: None }
    }

    fn tags(&self) -> ListTags {
        ListTags { id: self.project.clone(), ..ListTags::default() }
    }

    /// Returns the requests for the branches and tags.
    pub fn wants(&self) -> [Want; 2] {
        [Load::list(&self.branches(), MAX_PAGES).into(), Load::list(&self.tags(), MAX_PAGES).into()]
    }

    /// Updates the labels after a store update.
    pub fn sync(&mut self, view: &View) {
        let (branches, tags) = (view.store.list(&self.branches()), view.store.list(&self.tags()));
        if self.revisions == (branches.revision, tags.revision) {
            return;
        }
        self.revisions = (branches.revision, tags.revision);
        self.at.clear();
        let most = MAX_PAGES as usize * crate::store::PER_PAGE as usize;
        let branches = branches.iter().take(most).map(|b| (b.commit.as_ref(), &b.name, Role::Ref));
        let tags = tags.iter().take(most).map(|t| (t.commit.as_ref(), &t.name, Role::Label));
        for (commit, name, role) in branches.chain(tags) {
            if let Some(commit) = commit {
                self.at.entry(commit.id.clone()).or_default().push(Label { name: name.clone(), role });
            }
        }
    }

    /// Returns the labels shown before the title of the commit `id`.
    pub fn cell(&self, id: &str) -> Line<'static> {
        let mut cell = Line::empty();
        let Some(labels) = self.at.get(id) else { return cell };
        for label in labels.iter().take(MAX_LABELS) {
            cell = cell.and("[", Role::Faint).and(text::fit_middle(&label.name, MAX_NAME_WIDTH), label.role);
            cell = cell.and("] ", Role::Faint);
        }
        match labels.len().saturating_sub(MAX_LABELS) {
            0 => cell,
            more => cell.and(format!("+{more} "), Role::Dim),
        }
    }
}
