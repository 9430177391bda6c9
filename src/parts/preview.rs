//! The previews beside "go to anything": a file, and the description of a merge request or issue.

use super::blob::{BlobView, File};
use super::description::{Description, DescriptionPanel};
use super::{issues, list, review};
use crate::api::issues::{GetIssue, Issue};
use crate::api::merge_requests::{GetMergeRequest, MergeRequest};
use crate::api::{Endpoint, Error, Id};
use crate::app::context::Cx;
use crate::app::motion::Motion;
use crate::app::pane::Pane;
use crate::app::place::Place;
use crate::app::view::View;
use crate::store::{Load, Want};
use crate::ui::{panels, state};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Duration;

/// The time for which a row is selected before its preview is requested.
const FETCH_DELAY: Duration = Duration::from_millis(300);

/// Delays a request until the row has been selected for a while.
fn after_pause(want: Want) -> Want {
    match want {
        Want::Load(load) => load.after(FETCH_DELAY).optional().into(),
        other => other,
    }
}

/// A file.
struct FilePreview {
    project: Id,
    blob: BlobView,
}

/// Opens the preview of a file; the item of the place is the SHA of its content.
pub fn file(place: &Place, _view: &View) -> Box<dyn Pane> {
    let mut blob = BlobView::default();
    let file = place.path.clone().zip(place.item.clone());
    blob.show(file.map(|(path, sha)| File { path, sha }));
    if let Some(line) = place.line {
        blob.go_to_line(line);
    }
    Box::new(FilePreview { project: place.project.clone().unwrap_or_default(), blob })
}

impl Pane for FilePreview {
    fn wants(&self, view: &View) -> Vec<Want> {
        self.blob.wants(view, &self.project).into_iter().map(after_pause).collect()
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let Some(file) = self.blob.file() else { return };
        let body = panels::title(buf, area, view.theme, false, &file.path, &self.blob.facts(view));
        self.blob.draw(view, &self.project, body, buf, false);
    }

    fn changed(&mut self, cx: &mut Cx) {
        self.blob.update_part(&cx.view, &self.project);
        BlobView::changed(&mut self.blob, &cx.view);
    }

    fn motion(&mut self, motion: Motion, cx: &mut Cx) {
        BlobView::motion(&mut self.blob, motion, &cx.view);
    }
}

/// The description of an object that the endpoint `E` reads.
struct ItemPreview<E: Endpoint> {
    endpoint: E,
    describe: fn(&E::Output) -> Description,
    /// The description, once it is known.
    description: Option<Description>,
    panel: DescriptionPanel,
}

impl<E: Endpoint> ItemPreview<E> {
    /// Creates the preview, without a request if a list has the description.
    fn open(endpoint: E, known: Option<&E::Output>, describe: fn(&E::Output) -> Description) -> Box<dyn Pane>
    where
        E: 'static,
    {
        Box::new(ItemPreview {
            endpoint,
            describe,
            description: known.map(describe),
            panel: DescriptionPanel::default(),
        })
    }

    fn error<'a>(&self, view: &View<'a>) -> Option<&'a Error> {
        view.store.get(&self.endpoint).error
    }
}

/// Returns the number of the item of a place.
fn number(place: &Place) -> u64 {
    place.item.as_deref().and_then(|item| item.parse().ok()).unwrap_or(0)
}

/// Opens the preview of a merge request.
pub fn merge_request(place: &Place, view: &View) -> Box<dyn Pane> {
    let (project, iid) = (place.project.clone().unwrap_or_default(), number(place));
    let is_it = |request: &&MergeRequest| {
        request.iid == iid && request.description.is_some() && review::project(request, view) == project
    };
    let known = view.store.known::<MergeRequest>().map(|(_, request)| request).find(is_it);
    let describe = |request: &MergeRequest| Description::of_merge_request(request, "");
    ItemPreview::open(GetMergeRequest::new(project, iid), known, describe)
}

/// Opens the preview of an issue.
pub fn issue(place: &Place, view: &View) -> Box<dyn Pane> {
    let (id, issue_iid) = (place.project.clone().unwrap_or_default(), number(place));
    let is_it =
        |issue: &&Issue| issue.iid == issue_iid && issue.description.is_some() && issues::project(issue, view) == id;
    let known = view.store.known::<Issue>().map(|(_, issue)| issue).find(is_it);
    ItemPreview::open(GetIssue { id, issue_iid }, known, Description::of_issue)
}

impl<E: Endpoint + 'static> Pane for ItemPreview<E> {
    fn wants(&self, view: &View) -> Vec<Want> {
        match &self.description {
            None => vec![after_pause(Load::single(&self.endpoint).into())],
            of => DescriptionPanel::want(view, of.as_ref(), self.panel.area().width).into_iter().collect(),
        }
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        match (&self.description, self.error(view)) {
            (None, Some(error)) => list::draw_error(view, area, buf, error),
            (None, None) => state::skeleton(buf, area, view.theme),
            (of, _) => self.panel.draw(view, area, buf, of.as_ref(), ""),
        }
    }

    fn changed(&mut self, cx: &mut Cx) {
        if self.description.is_none() {
            self.description = cx.view.store.get(&self.endpoint).value.map(self.describe);
        }
        self.panel.changed(self.description.as_ref());
    }

    fn motion(&mut self, motion: Motion, cx: &mut Cx) {
        if let Motion::Wheel(rows) = motion {
            self.panel.scroll(rows, &cx.view);
        }
    }
}
