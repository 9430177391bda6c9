//! Actions on artifacts: opening, browsing, saving, unpacking and choosing them by branch or tag.

use super::{ArtifactSource, Artifacts, FILE, unpack};
use crate::api::Endpoint;
use crate::api::jobs::GetRefArtifacts;
use crate::app::action::Action;
use crate::app::command_info::Disabled;
use crate::app::complete::Complete;
use crate::app::context::Cx;
use crate::app::overlay::form::{Form, Widget};
use crate::app::place::Place;
use crate::app::tone::Tone;
use crate::app::transfer::NewTransfer;
use crate::app::view::View;
use crate::domain::zip::ZipEntry;
use crate::parts::ci::JobAction;
use crate::parts::text::links::{self, TextOrigin};
use crate::ui::markdown;

impl Artifacts {
    pub(super) fn open_node(&mut self, cx: &mut Cx) {
        if self.panels.focus() == FILE && self.file.tests.report().is_none() {
            links::open(self.file.blob.links_here(&cx.view), self, cx, Artifacts::follow_link);
        } else if self.panels.focus() == FILE {
            self.file.tests.open_case(cx);
        } else if self.tree.toggle_folder(&cx.view) {
            self.enter(&cx.view);
        }
    }

    /// Opens a link of the file: one to another file of the archive shows that file.
    fn follow_link(&mut self, address: &str, cx: &mut Cx) {
        let origin = TextOrigin::of_file(&self.reads.project, None, self.file.path().unwrap_or_default());
        let is_elsewhere = links::is_absolute(address)
            || address.starts_with('#')
            || markdown::is_reference(address)
            || links::upload(&self.reads.project, address).is_some();
        match origin.path(address).filter(|_| !is_elsewhere) {
            Some(path) => {
                self.wanted = Some(path);
                self.open_wanted(cx);
            }
            None => self.file.blob.follow(&origin, address, cx),
        }
    }

    /// Moves the focus to the file under the cursor.
    pub(super) fn enter(&mut self, view: &View) {
        self.follow(view);
        self.panels.set_focus(FILE);
        self.entered = true;
    }

    pub(super) fn sibling(&mut self, forward: bool, cx: &mut Cx) {
        if !self.tree.step_file(forward, &cx.view) {
            cx.say(Tone::Info, "No more files.");
        }
    }

    pub(super) fn save(&mut self, cx: &mut Cx) {
        let Some(entry) = self.selected_entry(&cx.view) else { return };
        if let Some(request) = self.reads.file_request(&cx.view, entry) {
            cx.act(Action::AskTransferPath(NewTransfer::new(request, &entry.path).size(entry.uncompressed_size)));
        }
    }

    pub(super) fn save_all(&mut self, cx: &mut Cx) {
        let name = format!("{}.zip", self.reads.archive_name(&cx.view));
        let save = self.reads.archive_save(&name, &cx.view);
        cx.act(Action::AskTransferPath(save));
    }

    /// Returns the node of the file that is shown or, if the tree has the focus, the node under the cursor.
    fn selected_node(&self, view: &View) -> Option<u32> {
        if self.panels.focus() == FILE { self.file.shown() } else { self.tree.current(view) }
    }

    /// Returns the path of the folder under the cursor, or of the folder that contains the file there. Empty for the
    /// root of the archive.
    pub(super) fn current_folder(&self, view: &View) -> String {
        let Some((archive, index)) = self.reads.archive(view).zip(self.selected_node(view)) else {
            return String::new();
        };
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
            _ => self.reads.archive_name(&cx.view),
        };
        let save = self.reads.archive_save(&name, &cx.view).unpacked(folder, unpack::unpack);
        cx.act(Action::AskTransferPath(save));
    }

    /// Returns the entry of the file that is shown or, if the tree has the focus, of the file under the cursor.
    pub(super) fn selected_entry<'a>(&self, view: &View<'a>) -> Option<&'a ZipEntry> {
        self.reads.entry(view, self.selected_node(view)?).filter(|entry| !entry.is_folder)
    }

    pub(super) fn can_save(&self, view: &View) -> Result<(), Disabled> {
        self.reads.has_archive(view)?;
        let Some(entry) = self.selected_entry(view) else { return Err("no file is selected".into()) };
        match (entry.anomaly, self.reads.job_id(view)) {
            (Some(anomaly), _) => {
                Err(format!("{} ‹artifacts.save_all› saves the archive as it is", anomaly.message()).into())
            }
            (None, None) => Err("the job is not known; ‹artifacts.save_all› saves the archive".into()),
            (None, Some(_)) => Ok(()),
        }
    }

    pub(super) fn can_keep(&self, view: &View) -> Result<(), Disabled> {
        match self.reads.job(view) {
            Some(job) => JobAction::KeepArtifacts.check(job),
            None => Err("the job is not known".into()),
        }
    }

    /// Opens a form for a branch or tag and the name of a job.
    pub(super) fn ask_ref(&mut self, cx: &mut Cx) {
        let project = self.reads.project.clone();
        let (git_ref, job) = match (&self.reads.of, self.reads.job(&cx.view)) {
            (ArtifactSource::Ref { git_ref, job }, _) => (git_ref.clone(), job.clone()),
            (ArtifactSource::Job(_), Some(job)) => (job.r#ref.clone(), job.name.clone()),
            (ArtifactSource::Job(_), None) => (String::new(), String::new()),
        };
        let id = project.clone();
        let open = move |inputs: serde_json::Map<String, serde_json::Value>| {
            let text = |name: &str| inputs.get(name).and_then(|value| value.as_str()).unwrap_or_default().to_owned();
            Ok(Action::GoToPlace(
                Place::new("artifacts").project(project.clone()).at(text("ref_name")).item(text("job")),
            ))
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
}
