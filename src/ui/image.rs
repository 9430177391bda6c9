//! Pictures: read within limits, fitted to an area, drawn as half blocks everywhere, and given to the terminal itself
//! where it says that it can draw them.
//!
//! Reading and fitting are for workers. Drawing costs the cells that it fills.

mod sixel;

use crate::ui::line;
use crate::ui::text;
use crate::ui::theme::{Depth, Theme};
use image::imageops::FilterType;
use image::{ImageFormat, ImageReader, Limits, RgbaImage};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::io::Cursor;
use std::sync::Arc;

/// Pixels that a picture may have: more is refused before any of them is read.
const MOST_PIXELS: u64 = 50_000_000;
/// Memory that reading one may take, in bytes.
const MOST_MEMORY: u64 = 512 * 1024 * 1024;
/// The longer side of what is kept of a picture: no terminal shows more.
const KEPT: u32 = 2400;
/// The largest that a small picture is blown up to, if the terminal itself draws it.
const BLOW_UP: f64 = 2.0;
/// Below this a pixel lets the background through.
const OPAQUE: u8 = 96;

/// How the terminal draws pictures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// Not at all: two pixels a cell, as blocks of color.
    #[default]
    Blocks,
    /// The graphics protocol of kitty.
    Kitty,
    /// The inline images of iTerm2.
    Iterm,
    /// Sixels, as the terminals of old.
    Sixel,
}

/// Formats that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Png,
    Jpeg,
    Gif,
    WebP,
    Bmp,
}

impl Format {
    /// The format of `bytes`, told by their beginning.
    pub fn of(bytes: &[u8]) -> Option<Format> {
        match bytes {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some(Format::Png),
            [0xff, 0xd8, 0xff, ..] => Some(Format::Jpeg),
            [b'G', b'I', b'F', b'8', ..] => Some(Format::Gif),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Format::WebP),
            // Two letters alone would make pictures of too much else: the reserved words are nothing.
            [b'B', b'M', _, _, _, _, 0, 0, 0, 0, ..] => Some(Format::Bmp),
            _ => None,
        }
    }

    /// As people call it.
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

/// Why bytes are not drawn as a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// None of the formats that are read.
    Unknown,
    /// It claims more pixels, or more memory, than is given to one.
    TooLarge(Format, u32, u32),
    /// It is not what it claims to be; why.
    Broken(Format, String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Unknown => f.write_str("unsupported image format"),
            Refusal::TooLarge(format, width, height) => {
                let (width, height) = (text::count((*width).into()), text::count((*height).into()));
                write!(f, "this {} is {width} × {height} pixels, too large to draw", format.name())
            }
            Refusal::Broken(format, why) => write!(f, "this {} is damaged: {why}", format.name()),
        }
    }
}

/// A picture that was read.
#[derive(Clone)]
pub struct Image {
    /// What it was.
    pub format: Format,
    /// Pixels from left to right, of the file.
    pub width: u32,
    /// Pixels from top to bottom, of the file.
    pub height: u32,
    /// At most [`KEPT`] on the longer side.
    pixels: RgbaImage,
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Image({} {}×{})", self.format.name(), self.width, self.height)
    }
}

impl Image {
    /// Bytes of its pixels.
    pub fn bytes(&self) -> usize {
        self.pixels.as_raw().len()
    }

    /// Reads a picture; of one that moves, its first. For a worker: takes up to some seconds.
    ///
    /// # Errors
    /// Bytes that are no picture, a broken one, and one that claims to be enormous.
    pub fn read(bytes: &[u8]) -> Result<Image, Refusal> {
        let format = Format::of(bytes).ok_or(Refusal::Unknown)?;
        let broken = |e: image::ImageError| Refusal::Broken(format, e.to_string());
        let reader = || ImageReader::with_format(Cursor::new(bytes), format.codec());
        let (width, height) = reader().into_dimensions().map_err(broken)?;
        if u64::from(width) * u64::from(height) > MOST_PIXELS {
            return Err(Refusal::TooLarge(format, width, height));
        }
        let mut reader = reader();
        let mut limits = Limits::default();
        limits.max_alloc = Some(MOST_MEMORY);
        reader.limits(limits);
        let read = reader.decode().map_err(|e| match e {
            image::ImageError::Limits(_) => Refusal::TooLarge(format, width, height),
            other => broken(other),
        })?;
        let longer = width.max(height);
        let read = if longer > KEPT { read.thumbnail(KEPT, KEPT) } else { read };
        Ok(Image { format, width, height, pixels: read.to_rgba8() })
    }

    /// The picture for an area of at most `columns` by `rows`. For a worker.
    pub fn fit(&self, columns: u16, rows: u16, screen: Screen) -> Fitted {
        let (width, height) = (f64::from(self.pixels.width().max(1)), f64::from(self.pixels.height().max(1)));
        // One cell of blocks shows one pixel above another.
        let cell = if screen.protocol == Protocol::Blocks { (1, 2) } else { screen.cell };
        let (cell_width, cell_height) = (f64::from(cell.0.max(1)), f64::from(cell.1.max(1)));
        let most = if screen.protocol == Protocol::Blocks { 1.0 } else { BLOW_UP };
        let scale =
            (f64::from(columns) * cell_width / width).min(f64::from(rows) * cell_height / height).min(most).max(0.0);
        let span = |pixels: f64, cell: f64, most: u16| ((pixels * scale / cell).ceil() as u16).clamp(1, most.max(1));
        let (columns, rows) = (span(width, cell_width, columns), span(height, cell_height, rows));
        let blocks = self.sized(columns.into(), u32::from(rows) * 2);
        let own = match screen.protocol {
            Protocol::Blocks => None,
            protocol => {
                let size = |pixels: f64| (pixels * scale).round().max(1.0) as u32;
                let exact = self.sized(size(width), size(height));
                match protocol {
                    Protocol::Sixel => Some(TerminalPicture::Sixel(sixel::encode(&exact))),
                    _ => png(&exact).map(TerminalPicture::Png),
                }
            }
        };
        Fitted { columns, rows, blocks, own }
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

/// What the terminal itself gets.
#[derive(Clone, PartialEq)]
pub enum TerminalPicture {
    /// A PNG made here: what a server sent never reaches the terminal's own reader.
    Png(Vec<u8>),
    /// The body of a sixel picture.
    Sixel(String),
}

/// A picture of a size.
#[derive(Clone)]
pub struct Fitted {
    /// Cells from left to right.
    pub columns: u16,
    /// Cells from top to bottom.
    pub rows: u16,
    blocks: RgbaImage,
    own: Option<TerminalPicture>,
}

impl Fitted {
    /// Returns what the terminal gets to draw it by itself.
    pub fn own(&self) -> Option<&TerminalPicture> {
        self.own.as_ref()
    }
}

/// How pictures are drawn on this screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Screen {
    /// Who draws them.
    pub protocol: Protocol,
    /// Pixels of a cell, width and height.
    pub cell: (u16, u16),
}

impl Default for Screen {
    fn default() -> Screen {
        Screen { protocol: Protocol::Blocks, cell: (8, 16) }
    }
}

/// The pictures of a frame: what was drawn, and where, so that the terminal can draw it over.
#[derive(Default)]
pub struct Pictures {
    screen: Cell<Screen>,
    placed: RefCell<Vec<Placed>>,
    /// Something lies over what is drawn: the terminal's own pictures would hide it.
    covered: Cell<bool>,
}

/// A picture in its place.
#[derive(Clone)]
pub struct Placed {
    /// Its cells.
    pub area: Rect,
    /// The picture.
    pub picture: Arc<Fitted>,
}

impl PartialEq for Placed {
    fn eq(&self, other: &Placed) -> bool {
        self.area == other.area && Arc::ptr_eq(&self.picture, &other.picture)
    }
}

impl Pictures {
    /// Returns how pictures are drawn; part of the key of whatever is fitted.
    pub fn screen(&self) -> Screen {
        self.screen.get()
    }

    /// Says how they are drawn.
    pub fn set_screen(&self, screen: Screen) {
        self.screen.set(screen);
    }

    /// Draws a picture at the top left of `area`; where all of it is to be seen, by the terminal's own means.
    pub fn show(&self, buf: &mut Buffer, area: Rect, theme: &Theme, picture: &Arc<Fitted>) {
        let whole = picture.columns <= area.width && picture.rows <= area.height;
        if picture.own.is_none() || !whole || self.covered.get() {
            return draw(buf, area, theme, picture);
        }
        // Its cells stay empty: they are seen where it is not opaque.
        let area = Rect { width: picture.columns, height: picture.rows, ..area };
        self.placed.borrow_mut().push(Placed { area, picture: picture.clone() });
    }

    /// A frame begins; `covered` where something will lie over what is drawn.
    pub fn begin(&self, covered: bool) {
        self.placed.borrow_mut().clear();
        self.covered.set(covered);
    }

    /// Returns what was drawn since.
    pub fn placed(&self) -> Vec<Placed> {
        self.placed.borrow().clone()
    }
}

/// Draws a picture as blocks at the top left of `area`.
pub fn draw(buf: &mut Buffer, area: Rect, theme: &Theme, picture: &Fitted) {
    let area = area.intersection(buf.area);
    for row in 0..picture.rows.min(area.height) {
        for column in 0..picture.columns.min(area.width) {
            let pixel = |half: u32| {
                let pixel = picture.blocks.get_pixel_checked(column.into(), u32::from(row) * 2 + half)?;
                let [r, g, b, alpha] = pixel.0;
                (alpha >= OPAQUE).then_some([r, g, b])
            };
            let (symbol, style) = block(theme, pixel(0), pixel(1));
            line::set(buf, area.x + column, area.y + row, symbol, 1, style);
        }
    }
}

/// The cell that shows one pixel above another; the background shows where there is none.
fn block(theme: &Theme, upper: Option<[u8; 3]>, lower: Option<[u8; 3]>) -> (&'static str, Style) {
    if crate::ui::glyph::words() {
        return (" ", Style::new());
    }
    if matches!(theme.depth(), Depth::None) || crate::ui::glyph::ascii() {
        // No color: how bright the two are together.
        let light = |pixel: Option<[u8; 3]>| {
            pixel.map_or(0, |[r, g, b]| (u32::from(r) * 30 + u32::from(g) * 59 + u32::from(b) * 11) / 100)
        };
        let shades =
            if crate::ui::glyph::ascii() { [" ", ".", "+", "%", "#"] } else { [" ", "░", "▒", "▓", "█"] };
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
        // The background shows where a font's block is smaller than its cell, as in xterm.
        (Some(upper), lower) if lower == Some(upper) => ("█", style(upper, lower)),
        (Some(upper), lower) => ("▀", style(upper, lower)),
        (None, Some(lower)) => ("▄", style(lower, None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::theme::Background;
    use image::Rgba;

    fn picture(width: u32, height: u32) -> Vec<u8> {
        let pixels = RgbaImage::from_fn(width, height, |x, y| {
            if x < width / 2 { Rgba([200, 30, 30, 255]) } else { Rgba([0, 0, 0, if y < height / 2 { 0 } else { 255 }]) }
        });
        png(&pixels).unwrap()
    }

    #[test]
    fn formats_are_told_by_their_first_bytes() {
        assert_eq!(Format::of(&picture(2, 2)), Some(Format::Png));
        assert_eq!(Format::of(b"\xff\xd8\xff\xe0"), Some(Format::Jpeg));
        assert_eq!(Format::of(b"RIFF\0\0\0\0WEBPVP8 "), Some(Format::WebP));
        assert_eq!(Format::of(b"BMW is a car"), None);
        assert_eq!(Format::of(b""), None);
    }

    #[test]
    fn a_picture_is_drawn_two_pixels_a_cell_and_lets_the_background_through() {
        let image = Image::read(&picture(4, 4)).unwrap();
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
    fn a_picture_fits_its_area_and_keeps_its_shape() {
        let image = Image::read(&picture(400, 100)).unwrap();
        let fitted = image.fit(80, 24, Screen::default());
        assert_eq!((fitted.columns, fitted.rows), (80, 10));
        let kitty = Screen { protocol: Protocol::Kitty, cell: (10, 20) };
        let fitted = image.fit(80, 24, kitty);
        assert_eq!((fitted.columns, fitted.rows), (80, 10));
        assert!(matches!(fitted.own(), Some(TerminalPicture::Png(bytes)) if Format::of(bytes) == Some(Format::Png)));
        let fitted = image.fit(0, 0, Screen { protocol: Protocol::Sixel, cell: (0, 0) });
        assert_eq!((fitted.columns, fitted.rows), (1, 1));
        assert!(matches!(fitted.own(), Some(TerminalPicture::Sixel(_))));
    }

    #[test]
    fn the_terminal_draws_what_nothing_covers() {
        let screen = Screen { protocol: Protocol::Kitty, cell: (10, 20) };
        let fitted = Arc::new(Image::read(&picture(40, 40)).unwrap().fit(4, 2, screen));
        let (pictures, area, theme) = (Pictures::default(), Rect::new(0, 0, 9, 9), Theme::plain());
        let mut buf = Buffer::empty(area);
        pictures.begin(false);
        pictures.show(&mut buf, area, &theme, &fitted);
        assert_eq!(pictures.placed().len(), 1);
        assert_eq!(buf[(0, 0)].symbol(), " ");
        pictures.show(&mut buf, Rect::new(0, 0, 1, 1), &theme, &fitted);
        assert_eq!(pictures.placed().len(), 1, "a part of it is drawn as blocks");
        pictures.begin(true);
        pictures.show(&mut buf, area, &theme, &fitted);
        assert!(pictures.placed().is_empty());
        assert_ne!(buf[(0, 0)].symbol(), " ");
    }

    #[test]
    fn a_bomb_is_refused_and_named() {
        let mut bomb = picture(1, 1);
        // The header alone claims the size; its checksum is made to fit.
        bomb[16..24].copy_from_slice(&[0, 1, 0, 0, 0, 1, 0, 0]);
        let sum = crc(&bomb[12..29]);
        bomb[29..33].copy_from_slice(&sum.to_be_bytes());
        let refused = Image::read(&bomb).unwrap_err();
        assert_eq!(refused, Refusal::TooLarge(Format::Png, 65536, 65536));
        assert!(refused.to_string().contains("65,536 × 65,536 pixels"), "{refused}");
    }

    #[test]
    fn a_broken_picture_says_so() {
        let whole = picture(30, 30);
        assert!(matches!(Image::read(&whole[..40]), Err(Refusal::Broken(Format::Png, _))));
        assert_eq!(Image::read(b"text").unwrap_err(), Refusal::Unknown);
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
