//! Images of the repository and uploaded ones in rendered texts, drawn by the terminal itself where it can. They come from
//! the API of the server; images from elsewhere are never requested.

use super::blob::work::{self, Decode, FitPicture};
use super::links::{self, TextOrigin};
use crate::api::Raw;
use crate::api::repository::GetRawFile;
use crate::api::uploads::GetUpload;
use crate::app::view::View;
use crate::store::{Load, Want, Work};
use crate::ui::doc::DocState;
use crate::ui::image::{self, Fitted, Image, ImageError, Protocol};
use crate::ui::markdown::{ImageWidth, Rendered, TextImage};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::sync::Arc;

/// The endings of files that may be images.
const ENDINGS: &[&str] = &["png", "jpg", "jpeg", "gif", "webp", "bmp"];

/// The images of a text that are ready to be drawn.
#[derive(Default)]
pub struct InlineImages {
    /// For each image of the rendered text, in its order.
    fitted: Vec<Option<Arc<Fitted>>>,
    /// The number of lines that each takes.
    rows: Vec<u16>,
}

/// The request for an image.
enum Source {
    /// A file of the repository.
    File(GetRawFile),
    /// A file that was uploaded for a text.
    Upload(GetUpload),
}

impl Source {
    /// Returns the identity of the content.
    fn id(&self) -> String {
        match self {
            Source::File(GetRawFile { id, path, r#ref, .. }) => {
                format!("{path} at {} in {id}", r#ref.as_deref().unwrap_or_default())
            }
            Source::Upload(GetUpload { id, secret, filename }) => format!("upload {secret} {filename} in {id}"),
        }
    }

    fn load(&self) -> Load {
        match self {
            Source::File(request) => Load::single(request),
            Source::Upload(request) => Load::single(request),
        }
    }

    fn raw(&self, view: &View) -> Option<Arc<Raw>> {
        match self {
            Source::File(request) => view.store.get(request).arc(),
            Source::Upload(request) => view.store.get(request).arc(),
        }
    }
}

/// Returns whether a name is that of an image.
fn is_image(name: &str) -> bool {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    ENDINGS.iter().any(|known| known.eq_ignore_ascii_case(ending))
}

/// Returns the file that an image shows, if it is an upload of the project, or in the commit that the text is from.
fn source(origin: &TextOrigin, image: &TextImage) -> Option<Source> {
    let project = origin.project.as_ref()?;
    let address = image.address.as_ref();
    if let Some(request) = links::upload(project, address) {
        return is_image(&request.filename).then_some(Source::Upload(request));
    }
    let commit = origin.git_ref.as_ref()?;
    if links::is_absolute(address) || address.starts_with('#') {
        return None;
    }
    let path = origin.path(address).filter(|path| is_image(path))?;
    let r#ref = Some(commit.as_str().to_owned());
    Some(Source::File(GetRawFile { id: project.clone(), path, r#ref, lfs: Some(true) }))
}

/// Returns whether the terminal draws images in texts: blocks would be too coarse.
fn is_supported(view: &View) -> bool {
    view.images.screen().protocol != Protocol::Blocks && !crate::ui::glyph::is_accessible()
}

/// Returns the columns and rows that an image may take: its own size, or the width that the text asks for.
fn room(view: &View, slot: &TextImage, image: &Image) -> (u16, u16) {
    let cell = view.images.screen().cell;
    let cells = |pixels: u32, cell: u16| u16::try_from(pixels.div_ceil(cell.max(1).into())).unwrap_or(u16::MAX);
    let max_rows = (view.size.1 / 2).max(4);
    let (columns, rows) = match slot.width {
        Some(ImageWidth::Pixels(width)) => (cells(width, cell.0), max_rows),
        Some(ImageWidth::Percent(percent)) => {
            (u16::try_from(u32::from(slot.room) * percent.min(100) / 100).unwrap_or(slot.room), max_rows)
        }
        None => (cells(image.width, cell.0), cells(image.height, cell.1)),
    };
    (columns.clamp(1, slot.room.max(1)), rows.clamp(1, max_rows))
}

/// Keeps the same text under the cursor and at the top when another rendering of it replaces the shown one.
pub fn keep_position(doc: &mut DocState, before: &Rendered, after: &Rendered) {
    if before.images != after.images {
        let (cursor, top) = (before.line_in(after, doc.cursor()), before.line_in(after, doc.top()));
        doc.set_cursor(cursor);
        doc.set_top(top);
    }
}

impl InlineImages {
    /// Returns the number of lines of each image, for the next rendering.
    pub fn rows(&self) -> &[u16] {
        &self.rows
    }

    /// Returns the requests and computations for the images of a text; `origin` has the commit of the text.
    pub fn wants(view: &View, origin: &TextOrigin, rendered: Option<&Rendered>) -> Vec<Want> {
        let mut wants = Vec::new();
        for slot in rendered.filter(|_| is_supported(view)).into_iter().flat_map(|rendered| &rendered.images) {
            let Some(source) = source(origin, slot) else { continue };
            let id = source.id();
            match view.store.result::<Result<Arc<Image>, ImageError>>(&work::picture_key(&id)) {
                Some(Ok(image)) => {
                    let (room, screen) = (room(view, slot, image), view.images.screen());
                    wants.push(Work::new(FitPicture { sha: id, image: image.clone(), room, screen }).into());
                }
                Some(Err(_)) => {}
                None => {
                    wants.push(source.load().optional().into());
                    let raw = source.raw(view);
                    wants.extend(raw.map(|raw| Work::new(Decode { sha: id, bytes: work::shared_bytes(raw) }).into()));
                }
            }
        }
        wants
    }

    /// Updates the images after a store update.
    pub fn changed(&mut self, view: &View, origin: &TextOrigin, rendered: &Rendered) {
        let fitted = |slot: &TextImage| {
            let id = source(origin, slot)?.id();
            let image = view.store.result::<Result<Arc<Image>, ImageError>>(&work::picture_key(&id))?.as_ref().ok()?;
            let key = work::fit_key(&id, room(view, slot, image), view.images.screen());
            view.store.result::<Arc<Fitted>>(&key).cloned()
        };
        let is_supported = is_supported(view);
        self.fitted = rendered.images.iter().map(|slot| if is_supported { fitted(slot) } else { None }).collect();
        self.rows = self.fitted.iter().map(|image| image.as_ref().map_or(0, |image| image.rows)).collect();
        self.rows.truncate(self.rows.iter().rposition(|rows| *rows > 0).map_or(0, |last| last + 1));
    }

    /// Draws the images over the empty lines of a text that was drawn in `area` with a gutter of `gutter` columns.
    pub fn draw(&self, view: &View, area: Rect, buf: &mut Buffer, doc: &DocState, gutter: u16, rendered: &Rendered) {
        if doc.left == 0 {
            let lines: Vec<Option<usize>> = (0..area.height).map(|y| doc.line_at(y, rendered.lines.len())).collect();
            self.draw_lines(view, area, buf, &lines, 1 + gutter, rendered);
        }
    }

    /// Draws the images over the empty lines of a text: `lines` has its line in each row of `area`, which starts after
    /// `left` columns.
    pub fn draw_lines(
        &self,
        view: &View,
        area: Rect,
        buf: &mut Buffer,
        lines: &[Option<usize>],
        left: u16,
        rendered: &Rendered,
    ) {
        for (slot, image) in rendered.images.iter().zip(&self.fitted) {
            let Some(image) = image.as_ref().filter(|image| image.rows == slot.rows) else { continue };
            let within = slot.line..slot.line + usize::from(slot.rows);
            let first =
                lines.iter().zip(area.y..).find_map(|(line, y)| Some((line.filter(|line| within.contains(line))?, y)));
            let Some((line, y)) = first else { continue };
            let left = left.saturating_add(slot.left).min(area.width);
            let at = Rect { x: area.x + left, y, width: area.width - left, height: area.bottom() - y };
            match u16::try_from(line - slot.line) {
                Ok(0) => view.images.show(buf, at, view.theme, image),
                hidden => image::draw_from(buf, at, view.theme, image, hidden.unwrap_or(u16::MAX)),
            }
        }
    }
}
