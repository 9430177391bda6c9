//! Exporting files: saving a file or an archive of the tree, and copying links, paths and lines.

use super::{BLOB, Files};
use crate::api::repository::GetArchive;
use crate::api::{Endpoint, GitRef};
use crate::app::action::Action;
use crate::app::clip::Clip;
use crate::app::context::Cx;
use crate::app::overlay::picker::{Item, Picker};
use crate::app::transfer::NewTransfer;
use crate::app::view::View;
use crate::parts::project;
use crate::ui::text::sanitize;

/// The formats of an archive, with a description of each.
const FORMATS: &[(&str, &str)] = &[
    ("zip", "everywhere"),
    ("tar.gz", "the usual one on Unix"),
    ("tar.bz2", "smaller, slower to create"),
    ("tar", "not packed"),
];

impl Files {
    pub(super) fn save(&mut self, cx: &mut Cx) {
        if let Some(save) = self.blob.save(&cx.view, &self.source.project) {
            cx.act(Action::AskTransferPath(save));
        }
    }

    /// Opens a picker for the format in which the whole tree is saved.
    pub(super) fn archive(&mut self, cx: &mut Cx) {
        let name = self.source.project.as_str().rsplit('/').next().unwrap_or_default().to_owned();
        let git_ref = self.ref_name(&cx.view);
        // A commit SHA keeps the download resumable even if the branch moves in the meantime.
        let sha = self.commit(&cx.view).and_then(|c| cx.view.store.get(&c).value).map(|c| c.id.clone());
        let items = FORMATS.iter().map(|(format, what)| {
            let request = GetArchive {
                id: self.source.project.clone(),
                sha: Some(sha.clone().unwrap_or_else(|| git_ref.as_str().to_owned())),
                format: Some((*format).to_owned()),
            };
            let file = format!("{name}-{}.{format}", git_ref.display().replace('/', "-"));
            Item::act(*format, Action::AskTransferPath(NewTransfer::new(request.request(), &file))).detail(*what)
        });
        cx.open(Picker::new(format!("Archive of {}", sanitize(git_ref.short())), items.collect()));
    }

    /// Returns the web page of `path` at `git_ref`, with the selected lines if the file has the focus.
    pub(super) fn page(&self, view: &View, git_ref: &GitRef, path: Option<&str>) -> String {
        let file = self.blob.file().is_some_and(|f| Some(f.path.as_str()) == path);
        let kind = if file || self.tree.current().is_some_and(|n| n.is_file() && Some(n.path.as_str()) == path) {
            "blob"
        } else {
            "tree"
        };
        let mut rest = project::page_at(kind, git_ref, path);
        if let Some(lines) = self.blob.fragment(view).filter(|_| file && self.panels.focus() == BLOB) {
            rest.push_str(&lines);
        }
        project::page(view, &self.source.project, &rest)
    }

    /// Returns the copyable texts with their names.
    pub(super) fn copied(&self, view: &View) -> Vec<Clip> {
        let mut copies = Vec::new();
        let path = self.path();
        if self.panels.focus() == BLOB {
            copies.extend(self.blob.text_here(view).map(|text| match self.blob.marked(view) {
                Some(_) => Clip::lines("the marked lines", text),
                None => Clip::code_line("the line", text),
            }));
        }
        copies.extend(path.map(|p| Clip::line("path", p.to_owned())));
        let sha = self.commit(view).and_then(|c| view.store.get(&c).value).map(|c| c.id.clone());
        if let Some(sha) = &sha {
            copies.push(Clip::line("permalink", self.page(view, &sha.into(), path)));
            copies.push(Clip::line("commit SHA", sha.clone()));
        }
        let node = self.tree.current().filter(|n| Some(n.path.as_str()) == path).map(|n| n.sha.clone());
        let file = self.blob.file().filter(|f| Some(f.path.as_str()) == path).map(|f| f.sha.clone());
        copies.extend(file.or(node).map(|sha| Clip::line("object SHA", sha)));
        copies.push(Clip::line("ref", self.ref_name(view).short().to_owned()));
        copies
    }
}
