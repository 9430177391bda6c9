//! The previews beside "go to anything": a file, and the description of a merge request or issue.

use crate::api::issues::{GetIssue, Issue};
use crate::api::merge_requests::{GetMergeRequest, MergeRequest};
use crate::api::{Endpoint, Id};
use crate::app::context::Cx;
use crate::app::pane::Pane;
use crate::app::place::Place;
use crate::app::view::View;
use crate::parts::facts::description::Description;
use crate::parts::items::issues;
use crate::parts::items::merge_requests;
use crate::parts::list;
use crate::parts::list::detail::TextDetail;
use crate::parts::repository::blob::{BlobView, File};
use crate::store::{Load, Want};
use crate::ui::drawn::Drawn;
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
    fn focused_mut(&mut self) -> Option<&mut dyn Pane> {
        Some(&mut self.blob)
    }

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
        Pane::changed(&mut self.blob, cx);
    }
}

/// The description of an object that the endpoint `E` reads.
struct ItemPreview<E: Endpoint> {
    endpoint: E,
    describe: fn(&E::Output) -> Description,
    /// The description, once it is known.
    description: Option<Description<'static>>,
    panel: TextDetail,
    area: Drawn<Rect>,
}

impl<E: Endpoint + 'static> ItemPreview<E> {
    /// Creates the preview, without a request if a list has the description.
    fn open(endpoint: E, known: Option<&E::Output>, describe: fn(&E::Output) -> Description) -> Box<dyn Pane> {
        let description = known.map(|known| describe(known).into_owned());
        let (panel, area) = (TextDetail::default(), Drawn::default());
        Box::new(ItemPreview { endpoint, describe, description, panel, area })
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
        request.iid == iid && request.description.is_some() && merge_requests::project(request, view) == project
    };
    let known = view.store.known::<MergeRequest>().map(|(_, request)| request).find(is_it);
    ItemPreview::open(GetMergeRequest::new(project, iid), known, |request| Description::of_merge_request(request, ""))
}

/// Opens the preview of an issue.
pub fn issue(place: &Place, view: &View) -> Box<dyn Pane> {
    let (id, issue_iid) = (place.project.clone().unwrap_or_default(), number(place));
    let is_it =
        |issue: &&Issue| issue.iid == issue_iid && issue.description.is_some() && issues::project(issue, view) == id;
    let known = view.store.known::<Issue>().map(|(_, issue)| issue).find(is_it);
    ItemPreview::open(GetIssue { id, issue_iid }, known, |issue| Description::of_issue(issue))
}

impl<E: Endpoint + 'static> Pane for ItemPreview<E> {
    fn focused_mut(&mut self) -> Option<&mut dyn Pane> {
        Some(&mut self.panel)
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        match &self.description {
            None => vec![after_pause(Load::single(&self.endpoint).into())],
            Some(_) => self.panel.wants(view),
        }
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        self.area.set(area);
        match (&self.description, view.store.get(&self.endpoint).error) {
            (Some(_), _) => self.panel.view(view, area, buf),
            (None, Some(error)) => list::draw_error(view, area, buf, error),
            (None, None) => state::skeleton(buf, area, view.theme),
        }
    }

    fn changed(&mut self, cx: &mut Cx) {
        if self.description.is_none() {
            let reply = cx.view.store.get(&self.endpoint).value;
            self.description = reply.map(|reply| (self.describe)(reply).into_owned());
        }
        self.panel.begin(self.area.get().width.into(), false, false);
        if let Some(of) = &self.description {
            self.panel.description(&cx.view, of, "");
        }
    }
}
