//! Actions on artifacts: opening, browsing, saving, unpacking and choosing them by branch or tag.

use super::{ArtifactSource, Artifacts, FILE, archive, ci, refused, unpack};
use crate::api::jobs::GetRefArtifacts;
use crate::api::{Endpoint, GitRef};
use crate::app::action::Action;
use crate::app::command_info::Disabled;
use crate::app::complete::Complete;
use crate::app::context::Cx;
use crate::app::overlay::form::{Form, Widget};
use crate::app::place::Place;
use crate::app::tone::Tone;
use crate::app::transfer::NewTransfer;
use crate::app::view::View;
use crate::domain::zip::Entry;
use crate::parts::test_report;
use ci::JobAction;

impl Artifacts {
    pub(super) fn open_node(&mut self, cx: &mut Cx) {
        if self.panels.focus() == FILE {
            return self.open_case(cx);
        }
        let Some(index) = self.current(&cx.view) else { return };
        match self.node(&cx.view, index) {
            Some(node) if node.folder => self.set_open(index, !self.open.contains(&index), &cx.view),
            Some(_) => self.enter(&cx.view),
            None => {}
        }
    }

    pub(super) fn enter(&mut self, view: &View) {
        self.follow(view);
        self.panels.set_focus(FILE);
        self.entered = true;
    }

    /// Opens the source file that the selected test case names, at the job's commit. If the case names none, toggles
    /// its full output.
    pub(super) fn open_case(&mut self, cx: &mut Cx) {
        let Some(case) = self.table(&cx.view).and_then(|report| self.report.case(report)) else { return };
        let commit = self.job(&cx.view).and_then(|job| {
            let pipeline = job.pipeline.as_ref().map(|pipeline| pipeline.sha.clone());
            job.commit.as_ref().map(|commit| commit.id.clone()).or(pipeline).filter(|sha| !sha.is_empty())
        });
        let git_ref = match (commit, &self.of) {
            (None, ArtifactSource::Ref { git_ref, .. }) => Some(GitRef::from(git_ref)),
            (commit, _) => commit.map(GitRef::from),
        };
        if !test_report::open_source(case, &self.project, git_ref, cx) {
            self.report.toggle_full_output();
        }
    }

    pub(super) fn sibling(&mut self, forward: bool, cx: &mut Cx) {
        let len = self.len(&cx.view);
        let at = self.list.selected();
        let is_file = |i: &usize| {
            let node = self.node_at(&cx.view, *i).and_then(|index| self.node(&cx.view, index));
            node.is_some_and(|node| !node.folder)
        };
        let next = if forward { (at + 1..len).find(is_file) } else { (0..at).rev().find(is_file) };
        match next {
            Some(index) => {
                self.list.select(index, len);
                self.follow(&cx.view);
            }
            None => cx.say(Tone::Info, "No more files."),
        }
    }

    pub(super) fn save(&mut self, cx: &mut Cx) {
        let Some(entry) = self.selected_entry(&cx.view) else { return };
        if let Some(request) = self.file_request(&cx.view, entry) {
            cx.act(Action::AskTransferPath(NewTransfer::new(request, &entry.path).size(entry.uncompressed_size)));
        }
    }

    pub(super) fn save_all(&mut self, cx: &mut Cx) {
        let name = format!("{}.zip", self.archive_name(&cx.view));
        let save = self.archive_save(&name, &cx.view);
        cx.act(Action::AskTransferPath(save));
    }

    /// Returns the name of a saved archive without its extension: the job's name, and its ID if known.
    fn archive_name(&self, view: &View) -> String {
        let name = match (&self.of, self.job(view)) {
            (_, Some(job)) => format!("{}-{}", job.name, job.id),
            (ArtifactSource::Job(job), None) => format!("artifacts-{job}"),
            (ArtifactSource::Ref { job, .. }, None) => job.clone(),
        };
        name.replace(['/', '\\'], "-")
    }

    fn archive_save(&self, name: &str, view: &View) -> NewTransfer {
        let file = self.job(view).and_then(|job| job.artifacts_file.as_ref());
        let save = NewTransfer::new(self.request(), name);
        match file.filter(|file| file.size > 0) {
            Some(file) => save.size(file.size),
            None => save,
        }
    }

    /// Returns the path of the folder under the cursor, or of the folder that contains the file there. Empty for the
    /// root of the archive.
    pub(super) fn current_folder(&self, view: &View) -> String {
        let index = if self.panels.focus() == FILE { self.shown } else { self.current(view) };
        let Some((archive, index)) = self.archive(view).zip(index) else { return String::new() };
        match archive.tree.node(index) {
            Some(node) if node.folder => archive.tree.path(index),
            Some(_) => archive.tree.parent(index).map(|folder| archive.tree.path(folder)).unwrap_or_default(),
            None => String::new(),
        }
    }

    /// Unpacks a folder of the archive, or the whole archive if `folder` is empty, into a local folder.
    pub(super) fn unpack(&mut self, folder: &str, cx: &mut Cx) {
        let name = match folder.rsplit('/').next() {
            Some(name) if !name.is_empty() => name.to_owned(),
            _ => self.archive_name(&cx.view),
        };
        let save = self.archive_save(&name, &cx.view).unpacked(folder, unpack::unpack);
        cx.act(Action::AskTransferPath(save));
    }

    /// Returns the entry of the file that is shown or, if the tree has the focus, of the file under the cursor.
    pub(super) fn selected_entry<'a>(&self, view: &View<'a>) -> Option<&'a Entry> {
        let index = if self.panels.focus() == FILE { self.shown } else { self.current(view) };
        self.entry(view, index?).filter(|entry| !entry.is_folder)
    }

    pub(super) fn can_save(&self, view: &View) -> Result<(), Disabled> {
        self.has_archive(view)?;
        let Some(entry) = self.selected_entry(view) else { return Err("no file is selected".into()) };
        match (entry.anomaly, self.job_id(view)) {
            (Some(anomaly), _) => {
                Err(format!("{} ‹artifacts.save_all› saves the archive as it is", anomaly.message()).into())
            }
            (None, None) => Err("the job is not known; ‹artifacts.save_all› saves the archive".into()),
            (None, Some(_)) => Ok(()),
        }
    }

    pub(super) fn has_archive(&self, view: &View) -> Result<(), Disabled> {
        let gone = self.job(view).is_some_and(|job| !job.has_artifacts());
        let lost = gone || self.outcome(view).is_some() || view.store.failed(&self.key()).is_some();
        let why = if lost { "there is no archive" } else { "the archive is still loading" };
        self.archive(view).map(|_| ()).ok_or_else(|| why.into())
    }

    /// Returns whether the content of the shown file is unavailable: refused, or failed to load.
    fn has_failed(&self, view: &View) -> bool {
        let key = self.sha().map(|sha| archive::content_key(&sha)).unwrap_or_default();
        let refused = self.shown_entry(view).is_some_and(|entry| refused(entry).is_some());
        refused || self.content(view).is_some_and(Result::is_err) || view.store.failed(&key).is_some()
    }

    pub(super) fn has_file(&self, view: &View) -> Result<(), Disabled> {
        self.has_archive(view)?;
        self.blob.need_content(view, self.has_failed(view)).map(|_| ())
    }

    pub(super) fn has_text(&self, view: &View) -> Result<(), Disabled> {
        self.has_archive(view)?;
        self.blob.need_text(view, self.has_failed(view))
    }

    pub(super) fn has_report(&self, view: &View) -> Result<(), Disabled> {
        self.has_file(view)?;
        if self.is_read_as_report(view) {
            return Err("the test report is still being read".into());
        }
        self.table(view).map(|_| ()).ok_or_else(|| "this is not a test report".into())
    }

    pub(super) fn can_keep(&self, view: &View) -> Result<(), Disabled> {
        match self.job(view) {
            Some(job) => JobAction::KeepArtifacts.check(job),
            None => Err("the job is not known".into()),
        }
    }

    pub(super) fn failed(&mut self, forward: bool, cx: &mut Cx) {
        if let Some(report) = self.table(&cx.view)
            && !self.report.next_failed(report, forward)
        {
            cx.say(Tone::Good, "No failed tests.");
        }
    }

    /// Opens a form for a branch or tag and the name of a job.
    pub(super) fn ask_ref(&mut self, cx: &mut Cx) {
        let project = self.project.clone();
        let (git_ref, job) = match (&self.of, self.job(&cx.view)) {
            (ArtifactSource::Ref { git_ref, job }, _) => (git_ref.clone(), job.clone()),
            (ArtifactSource::Job(_), Some(job)) => (job.r#ref.clone(), job.name.clone()),
            (ArtifactSource::Job(_), None) => (String::new(), String::new()),
        };
        let id = project.clone();
        let open = move |inputs: serde_json::Map<String, serde_json::Value>| {
            let text = |name: &str| inputs.get(name).and_then(|value| value.as_str()).unwrap_or_default().to_owned();
            Action::GoToPlace(Place::new("artifacts").project(project.clone()).at(text("ref_name")).item(text("job")))
        };
        let key = format!("artifacts of a ref {id}");
        Form::acting("Artifacts by branch or tag", "open artifacts", key, GetRefArtifacts::INPUTS, open)
            .without(&["id", "job_token"])
            .field("ref_name", |field| {
                field.label("branch or tag").widget(Widget::Line(Complete::Refs(id))).text(git_ref);
            })
            .field("job", |field| _ = field.help("The job's name; its latest successful run is used.").text(job))
            .open(cx);
    }

    pub(super) fn search_test(&mut self, forward: bool, from_here: bool, view: &View) -> bool {
        match self.table(view) {
            Some(report) => self.report.next_match(report, &self.test, forward, from_here),
            None => false,
        }
    }
}
