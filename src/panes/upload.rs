//! A file that was uploaded for a text, such as a screenshot in a comment.

use crate::api::uploads::GetUpload;
use crate::api::{Endpoint, Id};
use crate::app::action::Action;
use crate::app::command::{Command, Table};
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::pane::{Breadcrumb, Pane, PaneKind};
use crate::app::place::Place;
use crate::app::transfer::NewTransfer;
use crate::app::view::View;
use crate::parts::list;
use crate::parts::project;
use crate::parts::repository::blob::keys::ShowsFile;
use crate::parts::repository::blob::work::DetectText;
use crate::parts::repository::blob::{BlobView, File};
use crate::parts::text::links::{self, TextOrigin};
use crate::parts::text::uploads;
use crate::store::{Load, Want, Work};
use crate::ui::state;
use crate::ui::theme::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// An uploaded file, as a picture, text or bytes.
pub struct UploadPane {
    upload: GetUpload,
    blob: BlobView,
}

impl UploadPane {
    fn follow_link(&mut self, address: &str, cx: &mut Cx) {
        let origin = TextOrigin { project: Some(self.upload.id.clone()), ..TextOrigin::default() };
        self.blob.follow(&origin, address, cx);
    }
}

impl ShowsFile for UploadPane {
    fn shown_file(&self, view: &View) -> Result<(&BlobView, bool), Disabled> {
        Ok((&self.blob, view.store.get(&self.upload).error.is_some()))
    }

    fn shown_file_mut(&mut self) -> &mut BlobView {
        &mut self.blob
    }
}

impl PaneKind for UploadPane {
    const ID: &'static str = "upload";
    const TABLES: &'static [Table<Self>] = &[Self::COMMANDS, Self::FILE, Self::LINES];
    const COMMANDS: &'static [Command<Self>] = &[
        Command::new("upload.open", &["Enter"], "Open link", |pane: &mut Self, cx| {
            links::open(pane.blob.links_here(&cx.view), pane, cx, Self::follow_link);
        })
        .when(|pane, view| pane.blob.need_link(view)),
        Command::new("upload.save", &["s"], "Save file…", |pane: &mut Self, cx| {
            let name = pane.upload.filename.clone();
            cx.act(Action::AskTransferPath(NewTransfer::new(pane.upload.request(), &name)));
        })
        .footer("save"),
    ];

    fn open(place: &Place, _view: &View) -> Self {
        let id: Id = place.project.clone().unwrap_or_default();
        let (secret, filename) = place.item.as_deref().and_then(|item| item.split_once('/')).unwrap_or_default();
        let upload = GetUpload { id, secret: secret.to_owned(), filename: filename.to_owned() };
        let mut blob = BlobView::default();
        let sha = format!("upload {secret} of {}", upload.id);
        blob.show(Some(File { path: filename.to_owned(), sha }));
        UploadPane { upload, blob }
    }
}

impl Pane for UploadPane {
    fn focused(&self) -> Option<&dyn Pane> {
        Some(&self.blob)
    }

    fn focused_mut(&mut self) -> Option<&mut dyn Pane> {
        Some(&mut self.blob)
    }

    fn place(&self) -> Place {
        uploads::place(&self.upload)
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        let mut breadcrumbs = project::breadcrumbs(view, &self.upload.id);
        breadcrumbs.push(Breadcrumb::new("upload", Role::Dim));
        breadcrumbs.push(Breadcrumb::new(self.upload.filename.clone(), Role::Title));
        breadcrumbs.extend(self.blob.is_known(view).then(|| Breadcrumb::new(self.blob.facts(view), Role::Dim)));
        breadcrumbs
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        let mut wants = vec![project::want(&self.upload.id)];
        if self.blob.is_known(view) {
            wants.extend(self.blob.wants_shown(view));
            return wants;
        }
        wants.push(Load::single(&self.upload).into());
        if let (Some(raw), Some(file)) = (view.store.get(&self.upload).arc(), self.blob.file()) {
            wants.push(Work::new(DetectText { sha: file.sha.clone(), raw }).into());
        }
        wants
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        if self.blob.is_known(view) {
            return self.blob.draw_shown(view, area, buf, true);
        }
        match view.store.get(&self.upload).error {
            Some(error) => list::draw_error(view, area, buf, error),
            None => state::skeleton(buf, area, view.theme),
        }
    }

    fn url(&self, view: &View) -> Option<String> {
        Some(uploads::page(view, &self.upload))
    }
}
