//! Resolving conflicts of staged changes: keep mine, take theirs, or merge both.

use super::check::{BranchFile, Conflict};
use super::{StagedChanges, compare};
use crate::app::App;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::overlay::editor::{Document, Editor, Origin};
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::parts::repository::staging_area::merge::{Merge, Merged};
use crate::parts::repository::staging_area::{Base, ChangeKind, StagedChange, StagedFile, StagingArea, last_commit};
use crate::store::{Want, Work};
use crate::ui::text::sanitize;

impl StagedChanges {
    pub(super) fn has_conflict(&self, _view: &View) -> Result<(), Disabled> {
        self.conflict().map(|_| ()).ok_or_else(|| "nobody else changed this file".into())
    }

    pub(super) fn can_keep_mine(&self, view: &View) -> Result<(), Disabled> {
        self.has_conflict(view)?;
        match self.conflict() {
            Some((_, Conflict::Folder)) => Err("a file cannot be where a folder is".into()),
            _ => Ok(()),
        }
    }

    pub(super) fn can_merge(&self, view: &View) -> Result<(), Disabled> {
        self.has_conflict(view)?;
        match self.conflict() {
            Some((change, conflict)) if conflict.blob().is_some() && change.kind != ChangeKind::Delete => {
                match &change.content {
                    Some(content) if !content.base64 => Ok(()),
                    _ => Err("there is no text of yours to merge".into()),
                }
            }
            _ => Err("there is no text of theirs to merge".into()),
        }
    }

    /// Returns the base of a change that is rebased onto the current state of the branch.
    fn theirs(&self, staging_area: &StagingArea, change: &StagedChange, conflict: &Conflict, view: &View) -> Base {
        let blob = conflict.blob().map(str::to_owned);
        let last_commit =
            blob.as_ref().and_then(|_| last_commit(view, &staging_area.project, &staging_area.branch, change.source()));
        Base { blob, last_commit }
    }

    /// Resolves the conflict by rebasing the change onto the current state of the branch.
    pub(super) fn keep_mine(&mut self, cx: &mut Cx) {
        let (Some(staging_area), Some((change, conflict))) = (self.staging_area(&cx.view), self.conflict()) else {
            return;
        };
        let (change, base) = (change.clone(), self.theirs(&staging_area, change, conflict, &cx.view));
        let over = change.kind == ChangeKind::Move && matches!(conflict, Conflict::Exists(_));
        if over {
            return self.move_over(&staging_area, &change, base, cx);
        }
        let nothing_left = matches!(conflict, Conflict::Gone) && change.content.is_none();
        staging_area.update(cx, |staging| {
            if nothing_left {
                staging.changes.retain(|other| *other != change);
            } else if let Some(mine) = staging.changes.iter_mut().find(|other| **other == change) {
                mine.rebase(base);
            }
            staging.refused = None;
        });
        let path = sanitize(&change.path).into_owned();
        let words = match nothing_left {
            true => format!("{path} is already deleted: the change is discarded."),
            false => format!("Keeping your version of {path}."),
        };
        cx.say(Tone::Good, words);
    }

    /// Resolves a move onto an existing file: the source is deleted, and the target gets its content.
    fn move_over(&self, staging_area: &StagingArea, change: &StagedChange, base: Base, cx: &mut Cx) {
        let content = match &change.content {
            Some(content) => staging_area.bytes(&cx.view, content),
            None => {
                let raw = change.base.as_deref().and_then(|sha| compare::blob(&cx.view, staging_area, sha));
                raw.map(|raw| raw.bytes.clone())
            }
        };
        let Some(content) = content else {
            return cx.say(Tone::Warning, format!("{} is still loading.", sanitize(change.source())));
        };
        let last = last_commit(&cx.view, &staging_area.project, &staging_area.branch, &change.path);
        let base = Base { last_commit: last, ..base };
        match staging_area.move_over(change, base, StagedFile::of(content), cx) {
            Ok(()) => cx.say(Tone::Good, format!("{} will be overwritten.", sanitize(&change.path))),
            Err(why) => cx.say(Tone::Warning, why),
        }
    }

    /// Asks for confirmation to discard the change.
    pub(super) fn take_theirs(&mut self, cx: &mut Cx) {
        let Some((change, conflict)) = self.conflict() else { return };
        let path = sanitize(&change.path);
        let theirs = match conflict {
            Conflict::Gone => "It stays deleted".to_owned(),
            Conflict::Folder => "The folder stays".to_owned(),
            Conflict::Changed(_) | Conflict::Exists(_) => "It stays as it is on the branch".to_owned(),
        };
        let question = format!("Discard your changes to {path}? {theirs}, and yours exist nowhere else.");
        let discard = Self::discard_change(&change.path, cx);
        cx.act(App::confirm("Take theirs", question, discard));
    }

    /// Starts a merge of both sides. The editor opens when it is done.
    pub(super) fn merge(&mut self, cx: &mut Cx) {
        let (Some(staging_area), Some((change, conflict))) = (self.staging_area(&cx.view), self.conflict()) else {
            return;
        };
        let Some(theirs) = conflict.blob() else { return };
        let merging = Merging { change: change.clone(), theirs: theirs.to_owned(), branch: staging_area.branch };
        cx.say(Tone::Info, format!("Merging {}", sanitize(&change.path)));
        self.merging = Some(merging);
    }

    /// Opens the editor with the merged text, once the merge is done.
    pub(super) fn open_merged(&mut self, staging_area: &StagingArea, cx: &mut Cx) {
        let Some(merging) = &self.merging else { return };
        let Some(merged) = cx.view.store.result::<Option<Merged>>(&merging.key(staging_area)) else { return };
        let (path, theirs) = (merging.change.path.clone(), merging.theirs.clone());
        match merged {
            None => cx.say(
                Tone::Warning,
                "One of the sides is not UTF-8: ‹stage.mine› keeps yours, ‹stage.theirs› takes theirs.",
            ),
            Some(merged) => {
                let words = match merged.conflicts {
                    0 => "Merged without conflicts: C-s stages the result.".to_owned(),
                    1 => "1 conflict: resolve it between <<<<<<< and >>>>>>>.".to_owned(),
                    many => format!("{many} conflicts: resolve them between <<<<<<< and >>>>>>>."),
                };
                let base = Base {
                    last_commit: last_commit(
                        &cx.view,
                        &staging_area.project,
                        &staging_area.branch,
                        merging.change.source(),
                    ),
                    blob: Some(theirs.clone()),
                };
                let key = staging_area.key(&format!("merged {theirs} {}", crate::api::endpoint::encode(&path)));
                let document = MergedText {
                    staging_area: staging_area.clone(),
                    path,
                    key,
                    text: merged.text.clone(),
                    base,
                    words,
                };
                cx.open(Editor::new(Box::new(document)));
            }
        }
        self.merging = None;
    }

    /// Returns whether the branch is known to have a file at the source of a change.
    pub(super) fn is_on_branch(&self, index: usize) -> bool {
        self.checks.get(index).is_some_and(|check| matches!(check.source, BranchFile::Blob(_)))
    }
}

/// A merge in progress.
pub struct Merging {
    change: StagedChange,
    /// The blob on the branch.
    theirs: String,
    branch: String,
}

impl Merging {
    fn key(&self, staging_area: &StagingArea) -> String {
        let revision = self.change.content.as_ref().map_or(0, |content| content.revision);
        format!("{} {revision} of {} with {}", staging_area.key("merge"), self.change.path, self.theirs)
    }

    pub fn wants(&self, view: &View, staging_area: &StagingArea) -> Vec<Want> {
        let key = self.key(staging_area);
        if !view.store.is_result_missing(&key) {
            return Vec::new();
        }
        let base = self.change.base.as_deref();
        let mut wants: Vec<Want> =
            base.into_iter().chain([self.theirs.as_str()]).map(|sha| compare::want_blob(staging_area, sha)).collect();
        let bytes = |sha: &str| compare::blob(view, staging_area, sha).map(|raw| raw.bytes.clone());
        let mine = self.change.content.as_ref().and_then(|content| staging_area.bytes(view, content));
        let base = base.map_or(Some(Vec::new()), bytes);
        if let (Some(base), Some(mine), Some(theirs)) = (base, mine, bytes(&self.theirs)) {
            let merge = Merge { key, base, mine, theirs, name: self.branch.clone() };
            wants.push(Work::new(merge).into());
        }
        wants
    }
}

/// The merged text, as a document for the editor.
struct MergedText {
    staging_area: StagingArea,
    path: String,
    key: String,
    text: String,
    base: Base,
    /// A note on the result of the merge.
    words: String,
}

impl Document for MergedText {
    fn path(&self) -> &str {
        &self.path
    }

    fn key(&self) -> &str {
        &self.key
    }

    fn verb(&self) -> &'static str {
        "stage"
    }

    fn takes_unchanged(&self) -> bool {
        true
    }

    fn note(&self) -> Option<String> {
        Some(self.words.clone())
    }

    fn read(&self, _view: &View) -> Option<Result<Origin, String>> {
        Some(Ok(Origin { name: "merged".into(), bytes: self.text.clone().into_bytes() }))
    }

    fn save(&self, _origin: &str, text: String, cx: &mut Cx) -> Result<(), String> {
        let is_mark = |line: &str| ["<<<<<<< mine", ">>>>>>> "].iter().any(|mark| line.starts_with(mark));
        if let Some(at) = text.lines().position(is_mark) {
            return Err(format!("Line {} is still a conflict marker: resolve it first.", at + 1));
        }
        self.staging_area.put(&self.path, Some(self.base.clone()), StagedFile::Text(text), cx)?;
        cx.say(Tone::Good, format!("Staged {}, merged.", sanitize(&self.path)));
        Ok(())
    }
}
