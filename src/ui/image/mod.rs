//! Images: decoded within limits, scaled to an area, and drawn as half blocks in any terminal, or by the terminal
//! itself if it reports support.
//! Decoding and scaling run on worker threads. The cost of drawing is proportional to the cells it fills.

mod sixel;

use crate::line;
use crate::text;
use crate::theme::{Depth, Theme};
use image::imageops::FilterType;
use image::{ImageFormat, ImageReader, Limits, RgbaImage};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::io::Cursor;
use std::sync::Arc;

/// Maximum number of pixels. Larger images are refused before any pixels are decoded.
const MAX_PIXELS: u64 = 50_000_000;
/// Maximum memory for decoding an image, in bytes.
const MAX_MEMORY_BYTES: u64 = 512 * 1024 * 1024;
/// Maximum length of the longer side of a decoded image: no terminal shows more.
const MAX_SIDE_PIXELS: u32 = 2400;
/// Maximum factor by which a small image is enlarged, if the terminal itself draws it.
const MAX_UPSCALE: f64 = 2.0;
/// The alpha value below which a pixel is transparent.
const MIN_OPAQUE_ALPHA: u8 = 96;

/// The protocol by which the terminal draws images.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// No protocol: two pixels per cell, drawn as colored blocks.
    #[default]
    Blocks,
    /// The kitty graphics protocol.
    Kitty,
    /// The inline images protocol of iTerm2.
    Iterm,
    /// Sixel graphics, as in older terminals.
    Sixel,
}

/// The supported image formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Png,
    Jpeg,
    Gif,
    WebP,
    Bmp,
}

impl Format {
    /// Detects the format of `bytes` from their signature.
    pub fn of(bytes: &[u8]) -> Option<Format> {
        match bytes {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some(Format::Png),
            [0xff, 0xd8, 0xff, ..] => Some(Format::Jpeg),
            [b'G', b'I', b'F', b'8', ..] => Some(Format::Gif),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Format::WebP),
            // Two letters alone would match too many other files, so the reserved words must be zero.
            [b'B', b'M', _, _, _, _, 0, 0, 0, 0, ..] => Some(Format::Bmp),
            _ => None,
        }
    }

    /// Returns the common name.
    pub fn name(self) -> &'static str {
        match self {
            Format::Png => "PNG",
            Format::Jpeg => "JPEG",
            Format::Gif => "GIF",
            Format::WebP => "WebP",
            Format::Bmp => "BMP",
        }
    }

    fn codec(self) -> ImageFormat {
        match self {
            Format::Png => ImageFormat::Png,
            Format::Jpeg => ImageFormat::Jpeg,
            Format::Gif => ImageFormat::Gif,
            Format::WebP => ImageFormat::WebP,
            Format::Bmp => ImageFormat::Bmp,
        }
    }
}

/// The reason why bytes cannot be drawn as an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImageError {
    /// The format is not supported.
    Unknown,
    /// The image has too many pixels, or decoding it would need too much memory.
    TooLarge(Format, u32, u32),
    /// The file is damaged, with the reason.
    Broken(Format, String),
}

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ImageError::Unknown => f.write_str("unsupported image format"),
            ImageError::TooLarge(format, width, height) => {
                let (width, height) = (text::count((*width).into()), text::count((*height).into()));
                write!(f, "{} too large to display: {width} × {height} pixels", format.name())
            }
            ImageError::Broken(format, why) => write!(f, "damaged {}: {why}", format.name()),
        }
    }
}

/// A decoded image.
#[derive(Clone)]
pub struct Image {
    /// The format of the file.
    pub format: Format,
    /// The width of the original in pixels.
    pub width: u32,
    /// The height of the original in pixels.
    pub height: u32,
    /// The pixels, at most [`MAX_SIDE_PIXELS`] on the longer side.
    pixels: RgbaImage,
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Image({} {}×{})", self.format.name(), self.width, self.height)
    }
}

impl Image {
    /// Returns the size of the pixels in bytes.
    pub fn bytes(&self) -> usize {
        self.pixels.as_raw().len()
    }

    /// Returns about how many bytes of memory decoding takes; 0 if the bytes are no image. Reads only the header.
    pub fn memory(bytes: &[u8]) -> usize {
        let Some(format) = Format::of(bytes) else { return 0 };
        let size = ImageReader::with_format(Cursor::new(bytes), format.codec()).into_dimensions();
        let pixels = size.map_or(0, |(width, height)| u64::from(width) * u64::from(height));
        // As it is in the file, with four channels, and scaled with floating-point numbers.
        let needed = pixels.min(MAX_PIXELS).saturating_mul(28).min(MAX_MEMORY_BYTES);
        usize::try_from(needed).unwrap_or(usize::MAX)
    }

    /// Decodes an image, or the first frame of an animation. Runs on a worker thread and may take some seconds.
    ///
    /// # Errors
    ///
    /// Returns an [`ImageError`] if the format is unknown, the file is damaged, or the image is too large.
    pub fn read(bytes: &[u8]) -> Result<Image, ImageError> {
        let format = Format::of(bytes).ok_or(ImageError::Unknown)?;
        let broken = |e: image::ImageError| ImageError::Broken(format, e.to_string());
        let reader = || ImageReader::with_format(Cursor::new(bytes), format.codec());
        let (width, height) = reader().into_dimensions().map_err(broken)?;
        if u64::from(width) * u64::from(height) > MAX_PIXELS {
            return Err(ImageError::TooLarge(format, width, height));
        }
        let mut reader = reader();
        let mut limits = Limits::default();
        limits.max_alloc = Some(MAX_MEMORY_BYTES);
        reader.limits(limits);
        let read = reader.decode().map_err(|e| match e {
            image::ImageError::Limits(_) => ImageError::TooLarge(format, width, height),
            other => broken(other),
        })?;
        let longer = width.max(height);
        let read = if longer > MAX_SIDE_PIXELS { read.thumbnail(MAX_SIDE_PIXELS, MAX_SIDE_PIXELS) } else { read };
        Ok(Image { format, width, height, pixels: read.to_rgba8() })
    }

    /// Scales the image to at most `columns` by `rows`. Runs on a worker thread.
    pub fn fit(&self, columns: u16, rows: u16, screen: Screen) -> Fitted {
        let (width, height) = (f64::from(self.pixels.width().max(1)), f64::from(self.pixels.height().max(1)));
        // A cell of blocks shows two pixels, one above the other.
        let cell = if screen.protocol == Protocol::Blocks { (1, 2) } else { screen.cell };
        let (cell_width, cell_height) = (f64::from(cell.0.max(1)), f64::from(cell.1.max(1)));
        let limit = if screen.protocol == Protocol::Blocks { 1.0 } else { MAX_UPSCALE };
        let scale =
            (f64::from(columns) * cell_width / width).min(f64::from(rows) * cell_height / height).min(limit).max(0.0);
        let span = |pixels: f64, cell: f64, limit: u16| ((pixels * scale / cell).ceil() as u16).clamp(1, limit.max(1));
        let (columns, rows) = (span(width, cell_width, columns), span(height, cell_height, rows));
        let blocks = self.sized(columns.into(), u32::from(rows) * 2);
        let native = match screen.protocol {
            Protocol::Blocks => None,
            protocol => {
                let size = |pixels: f64| (pixels * scale).round().max(1.0) as u32;
                let exact = self.sized(size(width), size(height));
                match protocol {
                    Protocol::Sixel => Some(TerminalImage::Sixel(sixel::encode(&exact))),
                    _ => png(&exact).map(TerminalImage::Png),
                }
            }
        };
        Fitted { columns, rows, blocks, native }
    }

    fn sized(&self, width: u32, height: u32) -> RgbaImage {
        if self.pixels.dimensions() == (width, height) {
            return self.pixels.clone();
        }
        image::imageops::resize(&self.pixels, width, height, FilterType::Triangle)
    }
}

fn png(pixels: &RgbaImage) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    pixels.write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png).ok()?;
    Some(bytes)
}

/// The data of an image for the terminal itself.
#[derive(Clone, PartialEq)]
pub enum TerminalImage {
    /// A PNG that is encoded locally, so that data from a server never reaches the terminal's decoder.
    Png(Vec<u8>),
    /// The body of a sixel image.
    Sixel(String),
}

/// An image scaled to a number of cells.
#[derive(Clone)]
pub struct Fitted {
    /// The width in cells.
    pub columns: u16,
    /// The height in cells.
    pub rows: u16,
    blocks: RgbaImage,
    native: Option<TerminalImage>,
}

impl Fitted {
    /// Returns the size in memory in bytes.
    pub fn bytes(&self) -> usize {
        let native = self.native.as_ref().map_or(0, |native| match native {
            TerminalImage::Png(bytes) => bytes.len(),
            TerminalImage::Sixel(body) => body.len(),
        });
        self.blocks.as_raw().len() + native
    }

    /// Returns the data for drawing by the terminal itself, if supported.
    pub fn native(&self) -> Option<&TerminalImage> {
        self.native.as_ref()
    }
}

/// The way images are drawn on the current screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Screen {
    /// The protocol for drawing.
    pub protocol: Protocol,
    /// The width and height of a cell in pixels.
    pub cell: (u16, u16),
}

impl Default for Screen {
    fn default() -> Screen {
        Screen { protocol: Protocol::Blocks, cell: (8, 16) }
    }
}

/// The images of a frame and their positions, for drawing by the terminal itself.
#[derive(Default)]
pub struct Images {
    screen: Cell<Screen>,
    placed: RefCell<Vec<PlacedImage>>,
    /// Whether an overlay covers the images: those drawn by the terminal would hide it.
    covered: Cell<bool>,
}

/// An image and its position.
#[derive(Clone)]
pub struct PlacedImage {
    /// The cells of the image.
    pub area: Rect,
    /// The scaled image.
    pub image: Arc<Fitted>,
}

impl PartialEq for PlacedImage {
    fn eq(&self, other: &PlacedImage) -> bool {
        self.area == other.area && Arc::ptr_eq(&self.image, &other.image)
    }
}

impl Images {
    /// Returns the way images are drawn, which is part of the cache key of scaled images.
    pub fn screen(&self) -> Screen {
        self.screen.get()
    }

    /// Sets the way images are drawn.
    pub fn set_screen(&self, screen: Screen) {
        self.screen.set(screen);
    }

    /// Draws an image at the top left of `area`. The terminal itself draws it if the whole image is visible.
    pub fn show(&self, buf: &mut Buffer, area: Rect, theme: &Theme, image: &Arc<Fitted>) {
        let whole = image.columns <= area.width && image.rows <= area.height;
        if image.native.is_none() || !whole || self.covered.get() {
            return draw(buf, area, theme, image);
        }
        // The cells stay empty, since they are visible where the image is transparent.
        let area = Rect { width: image.columns, height: image.rows, ..area };
        self.placed.borrow_mut().push(PlacedImage { area, image: image.clone() });
    }

    /// Begins a frame; `covered` if an overlay will cover parts of it.
    pub fn begin(&self, covered: bool) {
        self.placed.borrow_mut().clear();
        self.covered.set(covered);
    }

    /// Returns the images placed since the frame began.
    pub fn placed(&self) -> Vec<PlacedImage> {
        self.placed.borrow().clone()
    }
}

/// Draws an image as blocks at the top left of `area`.
pub fn draw(buf: &mut Buffer, area: Rect, theme: &Theme, image: &Fitted) {
    draw_from(buf, area, theme, image, 0);
}

/// Draws an image without its first `hidden` rows as blocks at the top left of `area`.
pub fn draw_from(buf: &mut Buffer, area: Rect, theme: &Theme, image: &Fitted, hidden: u16) {
    let area = area.intersection(buf.area);
    for row in 0..image.rows.saturating_sub(hidden).min(area.height) {
        for column in 0..image.columns.min(area.width) {
            let pixel = |half: u32| {
                let y = (u32::from(hidden) + u32::from(row)) * 2 + half;
                let pixel = image.blocks.get_pixel_checked(column.into(), y)?;
                let [r, g, b, alpha] = pixel.0;
                (alpha >= MIN_OPAQUE_ALPHA).then_some([r, g, b])
            };
            let (symbol, style) = block(theme, pixel(0), pixel(1));
            line::set(buf, area.x + column, area.y + row, symbol, 1, style);
        }
    }
}

/// Returns the symbol and style of a cell with one pixel above the other. The background shows through transparent
/// pixels.
fn block(theme: &Theme, upper: Option<[u8; 3]>, lower: Option<[u8; 3]>) -> (&'static str, Style) {
    if crate::glyph::is_accessible() {
        return (" ", Style::new());
    }
    if matches!(theme.depth(), Depth::None) || crate::glyph::is_ascii() {
        // Without colors, the symbol shows the mean brightness of both pixels.
        let light = |pixel: Option<[u8; 3]>| {
            pixel.map_or(0, |[r, g, b]| (u32::from(r) * 30 + u32::from(g) * 59 + u32::from(b) * 11) / 100)
        };
        let shades =
            if crate::glyph::is_ascii() { [" ", ".", "+", "%", "#"] } else { [" ", "░", "▒", "▓", "█"] };
        let shade = ((light(upper) + light(lower)) / 2 * 5 / 256) as usize;
        return (shades.get(shade).copied().unwrap_or(" "), Style::new());
    }
    let style = |fg: [u8; 3], bg: Option<[u8; 3]>| Style {
        fg: theme.pixel(fg),
        bg: bg.and_then(|bg| theme.pixel(bg)),
        ..Style::new()
    };
    match (upper, lower) {
        (None, None) => (" ", Style::new()),
        // The background would show where a font's block is smaller than its cell, as in xterm.
        (Some(upper), lower) if lower == Some(upper) => ("█", style(upper, lower)),
        (Some(upper), lower) => ("▀", style(upper, lower)),
        (None, Some(lower)) => ("▄", style(lower, None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::Background;
    use image::Rgba;

    fn encoded(width: u32, height: u32) -> Vec<u8> {
        let pixels = RgbaImage::from_fn(width, height, |x, y| {
            if x < width / 2 { Rgba([200, 30, 30, 255]) } else { Rgba([0, 0, 0, if y < height / 2 { 0 } else { 255 }]) }
        });
        png(&pixels).unwrap()
    }

    #[test]
    fn formats_are_detected_by_their_first_bytes() {
        assert_eq!(Format::of(&encoded(2, 2)), Some(Format::Png));
        assert_eq!(Format::of(b"\xff\xd8\xff\xe0"), Some(Format::Jpeg));
        assert_eq!(Format::of(b"RIFF\0\0\0\0WEBPVP8 "), Some(Format::WebP));
        assert_eq!(Format::of(b"BMW is a car"), None);
        assert_eq!(Format::of(b""), None);
    }

    #[test]
    fn an_image_has_two_pixels_per_cell_and_a_transparent_background() {
        let image = Image::read(&encoded(4, 4)).unwrap();
        assert_eq!((image.width, image.height), (4, 4));
        let fitted = image.fit(20, 20, Screen::default());
        assert_eq!((fitted.columns, fitted.rows), (4, 2));
        let area = Rect::new(0, 0, 6, 3);
        let mut buf = Buffer::empty(area);
        let theme = Theme::for_background(Background::Dark);
        draw(&mut buf, area, &theme, &fitted);
        assert_eq!((buf[(0, 0)].symbol(), buf[(3, 0)].symbol(), buf[(4, 0)].symbol()), ("█", " ", " "));
        let red = theme.pixel([200, 30, 30]);
        assert_eq!((Some(buf[(0, 0)].fg), Some(buf[(0, 0)].bg)), (red, red), "no gap beside a block");
        draw(&mut buf, Rect::new(5, 2, 9, 9), &Theme::plain(), &fitted);
    }

    #[test]
    fn an_image_fits_its_area_and_keeps_its_aspect_ratio() {
        let image = Image::read(&encoded(400, 100)).unwrap();
        let fitted = image.fit(80, 24, Screen::default());
        assert_eq!((fitted.columns, fitted.rows), (80, 10));
        let kitty = Screen { protocol: Protocol::Kitty, cell: (10, 20) };
        let fitted = image.fit(80, 24, kitty);
        assert_eq!((fitted.columns, fitted.rows), (80, 10));
        assert!(matches!(fitted.native(), Some(TerminalImage::Png(bytes)) if Format::of(bytes) == Some(Format::Png)));
        let fitted = image.fit(0, 0, Screen { protocol: Protocol::Sixel, cell: (0, 0) });
        assert_eq!((fitted.columns, fitted.rows), (1, 1));
        assert!(matches!(fitted.native(), Some(TerminalImage::Sixel(_))));
    }

    #[test]
    fn the_terminal_draws_uncovered_images() {
        let screen = Screen { protocol: Protocol::Kitty, cell: (10, 20) };
        let fitted = Arc::new(Image::read(&encoded(40, 40)).unwrap().fit(4, 2, screen));
        let (images, area, theme) = (Images::default(), Rect::new(0, 0, 9, 9), Theme::plain());
        let mut buf = Buffer::empty(area);
        images.begin(false);
        images.show(&mut buf, area, &theme, &fitted);
        assert_eq!(images.placed().len(), 1);
        assert_eq!(buf[(0, 0)].symbol(), " ");
        images.show(&mut buf, Rect::new(0, 0, 1, 1), &theme, &fitted);
        assert_eq!(images.placed().len(), 1, "a part of it is drawn as blocks");
        images.begin(true);
        images.show(&mut buf, area, &theme, &fitted);
        assert!(images.placed().is_empty());
        assert_ne!(buf[(0, 0)].symbol(), " ");
    }

    #[test]
    fn a_decompression_bomb_is_rejected_with_a_message() {
        let mut bomb = encoded(1, 1);
        // Only the header claims the size; its checksum is adjusted to match.
        bomb[16..24].copy_from_slice(&[0, 1, 0, 0, 0, 1, 0, 0]);
        let sum = crc(&bomb[12..29]);
        bomb[29..33].copy_from_slice(&sum.to_be_bytes());
        let refused = Image::read(&bomb).unwrap_err();
        assert_eq!(refused, ImageError::TooLarge(Format::Png, 65536, 65536));
        assert!(refused.to_string().contains("65,536 × 65,536 pixels"), "{refused}");
    }

    #[test]
    fn a_broken_image_is_reported() {
        let whole = encoded(30, 30);
        assert!(matches!(Image::read(&whole[..40]), Err(ImageError::Broken(Format::Png, _))));
        assert_eq!(Image::read(b"text").unwrap_err(), ImageError::Unknown);
        for cut in 0..whole.len() {
            let _ = Image::read(&whole[..cut]);
        }
    }

    fn crc(bytes: &[u8]) -> u32 {
        !bytes.iter().fold(!0u32, |sum, byte| {
            (0..8).fold(sum ^ u32::from(*byte), |sum, _| if sum & 1 == 1 { (sum >> 1) ^ 0xedb8_8320 } else { sum >> 1 })
        })
    }
}
