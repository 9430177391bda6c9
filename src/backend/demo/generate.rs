//! Generated content: files, rows and trace lines that a demo needs in large numbers.

use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::fmt::Write;
use std::io::Write as _;

/// Returns the next number of a fixed sequence (splitmix64), so that the demo is always the same.
pub fn next(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *seed;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Returns the content of file `i` of a generated set; `None` for an unknown rule.
pub fn file(rule: &str, i: usize) -> Option<String> {
    match rule {
        "icon" => Some(icon(i, "#1f6feb")),
        "icon-current" => Some(icon(i, "currentColor")),
        "points" => Some(points(40 * i)),
        "geojson" => Some(geojson(400)),
        _ => None,
    }
}

fn icon(i: usize, color: &str) -> String {
    let (a, b, r) = (4 + i % 9, 6 + i % 7, 2 + i % 5);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"24\" height=\"24\" viewBox=\"0 0 24 24\">\n  \
         <circle cx=\"{a}\" cy=\"{b}\" r=\"{r}\" fill=\"{color}\"/>\n  \
         <path d=\"M{a} {b}h{r}v{r}z\" stroke=\"{color}\" stroke-width=\"1.5\"/>\n</svg>\n"
    )
}

fn points(rows: usize) -> String {
    let mut out = String::from("time,station,temperature,humidity,wind,note\n");
    let mut seed = rows as u64;
    for i in 0..rows {
        let station = ["harbour", "hilltop", "mill", "station 北", "市場"].get(i % 5).unwrap_or(&"mill");
        let r = next(&mut seed);
        let _ = writeln!(
            out,
            "2026-{:02}-{:02}T{:02}:{:02}:00Z,{station},{}.{},{},{}.{},",
            1 + i / 900 % 11,
            1 + i / 24 % 28,
            i % 24,
            r % 60,
            r % 24,
            r / 7 % 10,
            40 + r / 11 % 55,
            r / 13 % 14,
            r / 17 % 10
        );
    }
    out
}

/// Returns a single line of many thousand characters, as exporters write it.
fn geojson(points: usize) -> String {
    let mut out = String::from("{\"type\":\"FeatureCollection\",\"features\":[");
    let mut seed = 7;
    for i in 0..points {
        let (a, b) = (next(&mut seed) % 90_000, next(&mut seed) % 90_000);
        let comma = if i == 0 { "" } else { "," };
        let _ = write!(
            out,
            "{comma}{{\"type\":\"Feature\",\"properties\":{{\"id\":{i},\"name\":\"point {i}\"}},\"geometry\":{{\"type\":\"Point\",\"coordinates\":[13.{a:05},52.{b:05}]}}}}"
        );
    }
    out.push_str("]}\n");
    out
}

/// Returns the content of a generated binary file; `None` for an unknown rule.
pub fn bytes(rule: &str) -> Option<Vec<u8>> {
    match rule {
        "chart" => Some(chart().png()),
        "table" => Some(table(None).png()),
        "table-broken" => Some(table(Some(17)).png()),
        _ => None,
    }
}

type Color = [u8; 3];

const PAPER: Color = [0x16, 0x1b, 0x22];
const LINES: Color = [0x30, 0x36, 0x3d];
const WORDS: Color = [0x8b, 0x94, 0x9e];
const BRIGHT: Color = [0xc9, 0xd1, 0xd9];
const BLUE: Color = [0x1f, 0x6f, 0xeb];
const GREEN: Color = [0x3f, 0xb9, 0x50];
const RED: Color = [0xf8, 0x51, 0x49];

/// The number of coordinate units per pixel. Half the resolution shows as much and takes a quarter of the time.
const SCALE: usize = 2;

/// An RGB image.
struct Picture {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

impl Picture {
    fn new(width: usize, height: usize, color: Color) -> Picture {
        let (width, height) = (width / SCALE, height / SCALE);
        Picture { width, height, pixels: color.repeat(width * height) }
    }

    fn fill(&mut self, x: usize, y: usize, width: usize, height: usize, color: Color) {
        let [x, y, width, height] = [x, y, width, height].map(|n| n.div_ceil(SCALE));
        for row in y..(y + height).min(self.height) {
            let (from, to) = (row * self.width + x.min(self.width), row * self.width + (x + width).min(self.width));
            let bytes = self.pixels.get_mut(3 * from..3 * to).unwrap_or_default();
            for (i, byte) in bytes.iter_mut().enumerate() {
                *byte = color.get(i % 3).copied().unwrap_or_default();
            }
        }
    }

    /// Encodes the image as PNG: eight bits per color, without filters.
    fn png(&self) -> Vec<u8> {
        let mut rows = ZlibEncoder::new(Vec::new(), Compression::fast());
        for row in self.pixels.chunks(3 * self.width) {
            // Writing to memory does not fail.
            let _ = rows.write_all(&[0]).and_then(|()| rows.write_all(row));
        }
        let mut head = Vec::new();
        for side in [self.width, self.height] {
            head.extend((side as u32).to_be_bytes());
        }
        head.extend([8, 2, 0, 0, 0]);
        let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
        for (kind, data) in [(b"IHDR", head), (b"IDAT", rows.finish().unwrap_or_default()), (b"IEND", Vec::new())] {
            out.extend((data.len() as u32).to_be_bytes());
            let mut sum = flate2::Crc::new();
            sum.update(kind);
            sum.update(&data);
            out.extend(kind);
            out.extend(data);
            out.extend(sum.sum().to_be_bytes());
        }
        out
    }
}

/// Draws a benchmark chart: pairs of bars, before and after.
fn chart() -> Picture {
    let mut picture = Picture::new(640, 360, PAPER);
    for line in 0..6 {
        picture.fill(48, 30 + 56 * line, 568, 1, LINES);
    }
    picture.fill(48, 24, 2, 288, WORDS);
    picture.fill(48, 310, 568, 2, WORDS);
    for (i, (before, after)) in [(12, 12), (20, 12), (46, 13), (118, 13), (196, 14), (268, 14)].into_iter().enumerate()
    {
        let x = 72 + 92 * i;
        picture.fill(x, 310 - before, 26, before, LINES);
        picture.fill(x + 30, 310 - after, 26, after, if i == 5 { GREEN } else { BLUE });
    }
    picture
}

/// Draws a screen with a table as blocks; `wrong` is a row without its last column.
fn table(wrong: Option<usize>) -> Picture {
    let mut picture = Picture::new(640, 400, PAPER);
    picture.fill(0, 0, 640, 16, LINES);
    let mut seed = 5;
    for row in 0..24 {
        let y = 20 + 16 * row;
        if row == 9 {
            picture.fill(0, y - 2, 640, 16, BLUE);
        }
        let words = if row == 9 { BRIGHT } else { WORDS };
        for (column, color) in [(12, words), (180, BRIGHT), (360, words)] {
            let mut x = column;
            for _ in 0..1 + next(&mut seed) % 3 {
                let width = 12 + (next(&mut seed) % 34) as usize;
                picture.fill(x, y, width, 10, color);
                x += width + 6;
            }
        }
        let passed = !next(&mut seed).is_multiple_of(7);
        match wrong {
            Some(wrong) if wrong == row => picture.fill(500, y - 2, 140, 14, RED),
            _ => picture.fill(560, y, 48, 10, if passed { GREEN } else { RED }),
        }
    }
    picture
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_valid() {
        let bytes = bytes("chart").unwrap();
        assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n") && bytes.ends_with(b"IEND\xae\x42\x60\x82"));
        assert_eq!(bytes.get(16..24), Some(&[0, 0, 1, 64, 0, 0, 0, 180][..]));
        assert_eq!(super::bytes("nothing"), None);
    }
}
