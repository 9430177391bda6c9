//! The branches and tags at each commit, for the labels in a list of commits.

use crate::api::branches::ListBranches;
use crate::api::commits::{Commit, GetCommit};
use crate::api::tags::ListTags;
use crate::api::{GitRef, Id, RefKind};
use crate::app::view::View;
use crate::store::{Load, Revision, Rows, Want};
use crate::ui::line::Line;
use crate::ui::text;
use crate::ui::theme::Role;
use std::collections::HashMap;

/// The number of pages of branches and of tags that are loaded. A note says if there are more.
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
    /// The refs that are labeled in any case, with their commits if those had to be requested.
    heads: Vec<(GitRef, Option<String>)>,
    /// Heads that are not among the loaded branches and tags.
    unlisted: Vec<GitRef>,
}

/// Returns the number of rows of a list that are labeled, and whether there are more.
fn labeled<T: 'static>(rows: &Rows<'_, T>) -> (usize, bool) {
    let most = MAX_PAGES as usize * crate::store::PER_PAGE as usize;
    (rows.len().min(most), rows.len() > most || rows.is_cut(MAX_PAGES))
}

impl Labels {
    /// Creates the labels of a project, empty until its refs are loaded.
    pub fn new(project: &Id) -> Labels {
        Labels {
            project: project.clone(),
            at: HashMap::new(),
            revisions: Default::default(),
            heads: Vec::new(),
            unlisted: Vec::new(),
        }
    }

    fn branches(&self) -> ListBranches {
        ListBranches { id: self.project.clone(), search: None }
    }

    fn tags(&self) -> ListTags {
        ListTags { id: self.project.clone(), ..ListTags::default() }
    }

    fn head(&self, git_ref: &GitRef) -> GetCommit {
        GetCommit { id: self.project.clone(), sha: git_ref.as_str().to_owned(), stats: None }
    }

    /// Returns the requests for the branches and tags, and for the refs that are not among them.
    pub fn wants(&self) -> impl Iterator<Item = Want> {
        let lists = [Load::list(&self.branches(), MAX_PAGES), Load::list(&self.tags(), MAX_PAGES)];
        let heads = self.unlisted.iter().map(|git_ref| Load::single(&self.head(git_ref)));
        lists.into_iter().chain(heads).map(Want::from)
    }

    /// Updates the labels after a store update. Those of `heads` are shown in any case, before others of their commit.
    pub fn sync(&mut self, view: &View, heads: impl IntoIterator<Item = GitRef>) {
        let (branches, tags) = (view.store.list(&self.branches()), view.store.list(&self.tags()));
        let commit = |git_ref: &GitRef| Some(view.store.get(&self.head(git_ref)).value?.id.clone());
        let heads: Vec<_> = heads.into_iter().map(|head| (head.clone(), commit(&head))).collect();
        if self.revisions == (branches.revision, tags.revision) && self.heads == heads {
            return;
        }
        self.revisions = (branches.revision, tags.revision);
        self.heads = heads;
        let (of_branches, of_tags) = (labeled(&branches), labeled(&tags));
        let id = |commit: &Option<Commit>| Some(commit.as_ref()?.id.clone());
        let branches = branches.iter().take(of_branches.0).map(|b| (id(&b.commit), b.name.as_str(), Role::Ref));
        let tags = tags.iter().take(of_tags.0).map(|t| (id(&t.commit), t.name.as_str(), Role::Label));
        let listed: Vec<_> = branches.chain(tags).collect();
        let is_cut = of_branches.1 || of_tags.1;
        let is_unlisted = |head: &GitRef| is_cut && listed.iter().all(|(_, name, _)| *name != head.short());
        let unlisted = self.heads.iter().filter(|(head, _)| is_unlisted(head));
        self.unlisted = unlisted.clone().map(|(head, _)| head.clone()).collect();
        let role = |head: &GitRef| if head.kind() == Some(RefKind::Tag) { Role::Label } else { Role::Ref };
        let unlisted = unlisted.map(|(head, id)| (id.clone(), head.short(), role(head)));
        self.at.clear();
        for (id, name, role) in unlisted.chain(listed.iter().cloned()) {
            if let Some(id) = id {
                self.at.entry(id).or_default().push(Label { name: name.to_owned(), role });
            }
        }
        for labels in self.at.values_mut() {
            labels.sort_by_key(|label| self.heads.iter().all(|(head, _)| head.short() != label.name));
        }
    }

    /// Returns how many branches and tags are labeled, if not all are.
    pub fn note(&self, view: &View) -> Option<String> {
        let (branches, tags) = (view.store.list(&self.branches()), view.store.list(&self.tags()));
        let counts = [(labeled(&branches), "branches"), (labeled(&tags), "tags")].into_iter();
        let cut = counts.filter(|((_, is_cut), _)| *is_cut).map(|((count, _), noun)| format!("{count} {noun}"));
        Some(cut.collect::<Vec<_>>().join(", ")).filter(|words| !words.is_empty()).map(|words| words + " labeled")
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
