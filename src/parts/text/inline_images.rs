//! Images of the repository and uploaded ones in rendered texts, drawn by the terminal itself where it can. They come from
//! the API of the server; images from elsewhere are never requested.

use crate::api::Raw;
use crate::api::repository::GetRawFile;
use crate::api::uploads::GetUpload;
use crate::app::view::View;
use crate::parts::repository::blob::work;
use crate::parts::text::links::{self, TextOrigin};
use crate::store::{Canceled, Derive, Load, Want, Work};
use crate::ui::doc::DocState;
use crate::ui::drawn::Drawn;
use crate::ui::image::{self, Fitted, Image, ImageError, Protocol, Screen};
use crate::ui::markdown::{ImageWidth, Rendered, TextImage};
use bytes::Bytes;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::sync::Arc;

/// The endings of files that may be images.
const ENDINGS: &[&str] = &["png", "jpg", "jpeg", "gif", "webp", "bmp"];

/// The maximum number of images of a text that are requested and decoded at the same time. The others wait: those before
/// them may push them out of the view.
const MAX_PENDING: usize = 4;

/// The images of a text. Only those in the view are loaded, and kept.
#[derive(Default)]
pub struct InlineImages {
    /// Each image of the rendered text, in its order.
    slots: Vec<ImageSlot>,
    /// The number of lines that each takes.
    rows: Vec<u16>,
    /// The first image in the view in the last frame, and the one after the last.
    in_view: Drawn<(usize, usize)>,
}

/// An image of a text.
#[derive(Default)]
struct ImageSlot {
    /// The key of the fitted image; empty if it is not drawn.
    key: String,
    /// The number of lines that it takes, which it keeps when it leaves the view.
    rows: u16,
    /// The image, if it is in the view and loaded.
    fitted: Option<Arc<Fitted>>,
}

/// A computation that decodes an image and fits it to its place in a text. The decoded image is not kept.
struct FitInline {
    place: ImageSpace,
    bytes: Bytes,
}

/// The place of an image in a text.
#[derive(Clone)]
struct ImageSpace {
    /// The identity of the image.
    id: String,
    /// The width that the text asks for, and the columns that there are.
    width: Option<ImageWidth>,
    columns: u16,
    max_rows: u16,
    screen: Screen,
}

impl ImageSpace {
    fn new(view: &View, slot: &TextImage, id: String) -> ImageSpace {
        let (max_rows, screen) = ((view.size.1 / 2).max(4), view.images.screen());
        ImageSpace { id, width: slot.width, columns: slot.room, max_rows, screen }
    }

    /// Returns the key of the fitted image.
    fn key(&self) -> String {
        let ImageSpace { id, width, columns, max_rows, screen } = self;
        format!("in a text {id} {width:?} {columns}x{max_rows} {screen:?}")
    }

    /// Returns the columns and rows that an image may take: its own size, or the width that the text asks for.
    fn room(&self, image: &Image) -> (u16, u16) {
        let (cell, max_rows) = (self.screen.cell, self.max_rows);
        let cells = |pixels: u32, cell: u16| u16::try_from(pixels.div_ceil(cell.max(1).into())).unwrap_or(u16::MAX);
        let (columns, rows) = match self.width {
            Some(ImageWidth::Pixels(width)) => (cells(width, cell.0), max_rows),
            Some(ImageWidth::Percent(percent)) => {
                (u16::try_from(u32::from(self.columns) * percent.min(100) / 100).unwrap_or(self.columns), max_rows)
            }
            None => (cells(image.width, cell.0), cells(image.height, cell.1)),
        };
        (columns.clamp(1, self.columns.max(1)), rows.clamp(1, max_rows))
    }
}

impl Derive for FitInline {
    type Output = Result<Arc<Fitted>, ImageError>;

    fn key(&self) -> String {
        self.place.key()
    }

    fn memory(&self) -> usize {
        Image::memory(&self.bytes)
    }

    fn weight(&self, fitted: &Result<Arc<Fitted>, ImageError>) -> usize {
        fitted.as_ref().map_or(0, |fitted| fitted.bytes())
    }

    fn run(&self, _: Canceled<'_>) -> Result<Arc<Fitted>, ImageError> {
        let image = Image::read(&self.bytes)?;
        let (columns, rows) = self.place.room(&image);
        Ok(Arc::new(image.fit(columns, rows, self.place.screen)))
    }
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

    /// Returns the requests and computations for the images of a text that are in the view; `origin` has the commit of
    /// the text.
    pub fn wants(&self, view: &View, origin: &TextOrigin, rendered: Option<&Rendered>) -> Vec<Want> {
        let (mut wants, mut pending) = (Vec::new(), 0);
        for slot in rendered.filter(|_| is_supported(view)).map(|rendered| self.in_view(rendered)).unwrap_or_default() {
            let Some(source) = source(origin, slot) else { continue };
            let place = ImageSpace::new(view, slot, source.id());
            if view.store.result::<Result<Arc<Fitted>, ImageError>>(&place.key()).is_some() {
                continue;
            }
            let load = source.load().optional();
            let has_failed = view.store.error_of(&load.request).is_some();
            pending += usize::from(!has_failed);
            if pending > MAX_PENDING {
                break;
            }
            wants.push(load.into());
            let raw = source.raw(view);
            wants.extend(raw.map(|raw| Work::new(FitInline { place, bytes: work::shared_bytes(raw) }).into()));
        }
        wants
    }

    /// Returns the images of a rendered text that were in the view in the last frame.
    fn in_view<'r>(&self, rendered: &'r Rendered) -> &'r [TextImage] {
        let (first, end) = self.in_view.get();
        rendered.images.get(first..end.min(rendered.images.len())).unwrap_or_default()
    }

    /// Records that no part of the text is in the view.
    pub fn leave_view(&self) {
        self.in_view.set((0, 0));
    }

    /// Records which images are in the view: `lines` has the line of the text in each row.
    pub fn record_view(&self, lines: &[Option<usize>], images: &[TextImage]) {
        let is_in_view = |slot: &TextImage| {
            let place = slot.line..slot.line + usize::from(slot.rows.max(1));
            lines.iter().flatten().any(|line| place.contains(line))
        };
        let first = images.iter().position(is_in_view);
        let end = images.iter().rposition(is_in_view).map_or(0, |last| last + 1);
        self.in_view.set((first.unwrap_or(0), end));
    }

    /// Updates the images after a store update.
    pub fn changed(&mut self, view: &View, origin: &TextOrigin, rendered: &Rendered) {
        let (first, end) = self.in_view.get();
        let mut known = std::mem::take(&mut self.slots).into_iter();
        for (index, slot) in rendered.images.iter().enumerate().filter(|_| is_supported(view)) {
            let before = known.next().unwrap_or_default();
            let place = source(origin, slot).map(|source| ImageSpace::new(view, slot, source.id()));
            let key = place.map(|place| place.key()).unwrap_or_default();
            let fitted = (first..end).contains(&index).then(|| {
                view.store.result::<Result<Arc<Fitted>, ImageError>>(&key).and_then(|fitted| fitted.as_ref().ok())
            });
            let fitted = fitted.flatten().cloned();
            let known_rows = if before.key == key { before.rows } else { 0 };
            let rows = fitted.as_ref().map_or(known_rows, |image| image.rows);
            self.slots.push(ImageSlot { key, rows, fitted });
        }
        self.rows = self.slots.iter().map(|slot| slot.rows).collect();
        self.rows.truncate(self.rows.iter().rposition(|rows| *rows > 0).map_or(0, |last| last + 1));
    }

    /// Draws the images over the empty lines of a text that was drawn in `area` with a gutter of `gutter` columns.
    pub fn draw(&self, view: &View, area: Rect, buf: &mut Buffer, doc: &DocState, gutter: u16, rendered: &Rendered) {
        let lines: Vec<Option<usize>> = (0..area.height).map(|y| doc.line_at(y, rendered.lines.len())).collect();
        if doc.left == 0 {
            self.draw_lines(view, area, buf, &lines, 1 + gutter, rendered);
        } else {
            self.record_view(&lines, &rendered.images);
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
        self.record_view(lines, &rendered.images);
        for (slot, ImageSlot { fitted, .. }) in rendered.images.iter().zip(&self.slots) {
            let Some(image) = fitted.as_ref().filter(|image| image.rows == slot.rows) else { continue };
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
