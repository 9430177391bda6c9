//! Sixel encoding: six pixel rows at a time, one color after the other, with ordered dithering to a palette of 216
//! colors.

use image::RgbaImage;
use std::fmt::Write;

/// The number of levels of red, green and blue.
const LEVELS: u32 = 6;
/// The dithering thresholds between two levels, distributed evenly so that areas have the right mean.
const BAYER_MATRIX: [[u32; 4]; 4] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];

/// Encodes the body of a sixel image, starting with the palette. The terminal's introducer and terminator are not
/// included.
pub fn encode(pixels: &RgbaImage) -> String {
    let (width, height) = pixels.dimensions();
    let mut out = format!("\"1;1;{width};{height}");
    for color in 0..LEVELS.pow(3) {
        let percent = |level: u32| level * 100 / (LEVELS - 1);
        let (r, g, b) = (color / (LEVELS * LEVELS), color / LEVELS % LEVELS, color % LEVELS);
        let _ = write!(out, "#{color};2;{};{};{}", percent(r), percent(g), percent(b));
    }
    for top in (0..height).step_by(6) {
        // The six bits of each color, column by column.
        let mut bands_by_color: Vec<Option<Vec<u8>>> = vec![None; LEVELS.pow(3) as usize];
        for y in top..(top + 6).min(height) {
            for x in 0..width {
                let Some(color) = palette_index(pixels, x, y) else { continue };
                let Some(band) = bands_by_color.get_mut(color as usize) else { continue };
                if let Some(bits) = band.get_or_insert_with(|| vec![0; width as usize]).get_mut(x as usize) {
                    *bits |= 1 << (y - top);
                }
            }
        }
        for (color, band) in bands_by_color.iter().enumerate() {
            let Some(band) = band else { continue };
            let _ = write!(out, "#{color}");
            for run in band.chunk_by(|a, b| a == b) {
                let sixel = char::from(b'?' + run.first().copied().unwrap_or(0));
                match run.len() {
                    1..4 => out.extend(std::iter::repeat_n(sixel, run.len())),
                    count => _ = write!(out, "!{count}{sixel}"),
                }
            }
            out.push('$');
        }
        out.push('-');
    }
    out
}

/// Returns the palette index of a pixel, or `None` if the background shows through.
fn palette_index(pixels: &RgbaImage, x: u32, y: u32) -> Option<u32> {
    let [r, g, b, alpha] = pixels.get_pixel_checked(x, y)?.0;
    if alpha < super::MIN_OPAQUE_ALPHA {
        return None;
    }
    let threshold = BAYER_MATRIX.get(y as usize % 4).and_then(|row| row.get(x as usize % 4)).copied().unwrap_or(0);
    let level = |value: u8| {
        let scaled = u32::from(value) * (LEVELS - 1) * 16;
        ((scaled + threshold * 255 + 8) / (255 * 16)).min(LEVELS - 1)
    };
    Some((level(r) * LEVELS + level(g)) * LEVELS + level(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::Rgba;

    #[test]
    fn sixel_images_have_bands_of_six_rows() {
        let pixels = RgbaImage::from_pixel(5, 7, Rgba([255, 0, 0, 255]));
        let text = encode(&pixels);
        assert!(text.starts_with("\"1;1;5;7#0;2;0;0;0"), "{text}");
        // Full red is color 180: first six rows, then the last one.
        assert!(text.ends_with("#180!5~$-#180!5@$-"), "{text}");
        assert!(text.is_ascii());
    }

    #[test]
    fn transparent_pixels_are_not_sent() {
        let text = encode(&RgbaImage::from_pixel(5, 3, Rgba([9, 9, 9, 0])));
        assert!(text.ends_with("#215;2;100;100;100-"), "{text}");
    }
}
