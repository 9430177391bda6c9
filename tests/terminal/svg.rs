//! Renders screens as SVG pictures, still or moving. Letters stay text; lines, bars and blocks are drawn as shapes, independent of
//! fonts.

use std::collections::BTreeMap;
use std::fmt::Write;

/// The width and height of a cell.
const CELL: (f32, f32) = (8.4, 18.0);

/// The style of a piece of text: color, bold, italic, underlined.
type Look = (String, bool, bool, bool);

fn hex(color: vt100::Color, otherwise: &str) -> String {
    match color {
        vt100::Color::Rgb(r, g, b) => format!("#{r:02x}{g:02x}{b:02x}"),
        // The first sixteen colors depend on the terminal, and no theme uses them.
        vt100::Color::Idx(_) | vt100::Color::Default => otherwise.to_owned(),
    }
}

/// Returns the shape of a character that is drawn: left, top, right and bottom of each part, from 0 to 1.
fn shape(c: char) -> Option<Vec<[f32; 4]>> {
    // Half the thickness of a line, horizontally and vertically.
    let (x, y) = (0.06, 0.03);
    let arms = |left: bool, right: bool, up: bool, down: bool| {
        let mut parts = Vec::new();
        if left || right {
            parts.push([if left { 0.0 } else { 0.5 - x }, 0.5 - y, if right { 1.0 } else { 0.5 + x }, 0.5 + y]);
        }
        if up || down {
            parts.push([0.5 - x, if up { 0.0 } else { 0.5 - y }, 0.5 + x, if down { 1.0 } else { 0.5 + y }]);
        }
        Some(parts)
    };
    match c {
        '─' => arms(true, true, false, false),
        '│' => arms(false, false, true, true),
        '┌' | '╭' => arms(false, true, false, true),
        '┐' | '╮' => arms(true, false, false, true),
        '└' | '╰' => arms(false, true, true, false),
        '┘' | '╯' => arms(true, false, true, false),
        '├' => arms(false, true, true, true),
        '┤' => arms(true, false, true, true),
        '┬' => arms(true, true, false, true),
        '┴' => arms(true, true, true, false),
        '┼' => arms(true, true, true, true),
        '▀' => Some(vec![[0.0, 0.0, 1.0, 0.5]]),
        '▐' => Some(vec![[0.5, 0.0, 1.0, 1.0]]),
        // Eighths from the bottom, and from the left.
        '▁'..='█' => Some(vec![[0.0, 1.0 - (c as u32 - 0x2580) as f32 / 8.0, 1.0, 1.0]]),
        '▉'..='▏' => Some(vec![[0.0, 0.0, (0x2590 - c as u32) as f32 / 8.0, 1.0]]),
        _ => None,
    }
}

/// One path per color, for all rectangles of that color.
#[derive(Default)]
struct Fills(BTreeMap<String, String>);

impl Fills {
    fn add(&mut self, fill: &str, left: f32, top: f32, right: f32, bottom: f32) {
        let path = self.0.entry(fill.to_owned()).or_default();
        let _ = write!(path, "M{left:.1} {top:.1}H{right:.1}V{bottom:.1}H{left:.1}z");
    }

    fn paths(&self) -> String {
        self.0.iter().map(|(fill, path)| format!("<path fill=\"{fill}\" d=\"{path}\"/>\n")).collect()
    }
}

/// Draws rows of screens; the styles of all rows are collected.
struct Painter {
    /// The colors of text and background where a cell has none.
    ink: &'static str,
    paper: &'static str,
    looks: Vec<Look>,
}

impl Painter {
    fn new(light: bool) -> Painter {
        let (ink, paper) = if light { ("#1f2328", "#ffffff") } else { ("#d6dbe5", "#161a21") };
        Painter { ink, paper, looks: Vec::new() }
    }

    /// Draws a row of a screen whose top is at `top`: adds its rectangles, and returns its text.
    fn row(
        &mut self,
        screen: &vt100::Screen,
        row: u16,
        top: f32,
        behind: &mut Fills,
        shapes: &mut Fills,
    ) -> Option<String> {
        let columns = screen.size().1.get();
        let (ink, paper) = (self.ink, self.paper);
        let mut line = String::new();
        let mut column = 0;
        while column < columns {
            let Some(first) = screen.cell(row, column) else { break };
            let (look, under) = seen(first, ink, paper);
            let begin = column;
            let mut words = String::new();
            let shaped = |cell: &vt100::Cell| cell.contents().chars().next().and_then(shape);
            // Adjacent cells of the same style form one piece. Characters outside of ASCII are separate pieces, so that
            // nothing shifts.
            while let Some(cell) = screen.cell(row, column).filter(|_| column < columns) {
                let alone = cell.is_wide() || !cell.contents().is_ascii();
                if seen(cell, ink, paper) != (look.clone(), under.clone()) || alone && column > begin {
                    break;
                }
                if let Some(parts) = shaped(cell) {
                    let left = f32::from(column) * CELL.0;
                    for [l, t, r, b] in parts {
                        shapes.add(&look.0, left + l * CELL.0, top + t * CELL.1, left + r * CELL.0, top + b * CELL.1);
                    }
                } else {
                    words.push_str(if cell.has_contents() { cell.contents() } else { " " });
                }
                column += if cell.is_wide() { 2 } else { 1 };
                if alone {
                    break;
                }
            }
            let (left, right) = (f32::from(begin) * CELL.0, f32::from(column) * CELL.0);
            if under != paper {
                behind.add(&under, left, top, right, top + CELL.1);
            }
            // Blanks at both ends need no text; an underline below them may be lost.
            let blanks = words.len() - words.trim_start().len();
            let words = words.trim();
            if words.is_empty() {
                continue;
            }
            let class = self.class(look);
            let length = words.chars().count();
            let long = if length > 3 && words.is_ascii() {
                format!(" textLength=\"{:.1}\"", length as f32 * CELL.0)
            } else {
                String::new()
            };
            let left = left + blanks as f32 * CELL.0;
            let _ = write!(line, "<tspan class=\"l{class}\" x=\"{left:.1}\"{long}>{}</tspan>", escaped(words));
        }
        (!line.is_empty()).then(|| format!("<text y=\"{:.1}\">{line}</text>\n", top + 13.5))
    }

    /// Returns the number of the class of a style.
    fn class(&mut self, look: Look) -> usize {
        self.looks.iter().position(|known| *known == look).unwrap_or_else(|| {
            self.looks.push(look);
            self.looks.len() - 1
        })
    }

    /// Returns the start of a picture of this size with the style sheet, to which `more` is added.
    fn head(&self, (width, height): (f32, f32), more: &str) -> String {
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" xml:space=\"preserve\" viewBox=\"-8 -8 {:.0} {:.0}\" font-size=\"14\" \
             font-family=\"ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace\">\n<style>text{{white-space:pre}}",
            width + 16.0,
            height + 16.0
        );
        for (class, (ink, bold, italic, underlined)) in self.looks.iter().enumerate() {
            let _ = write!(out, ".l{class}{{fill:{ink}");
            for (on, style) in [
                (bold, ";font-weight:bold"),
                (italic, ";font-style:italic"),
                (underlined, ";text-decoration:underline"),
            ] {
                out.push_str(if *on { style } else { "" });
            }
            out.push('}');
        }
        out.push_str(more);
        let paper = self.paper;
        let _ = write!(
            out,
            "</style>\n<rect x=\"-8\" y=\"-8\" width=\"100%\" height=\"100%\" rx=\"6\" fill=\"{paper}\"/>\n"
        );
        out
    }
}

fn escaped(words: &str) -> String {
    words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Renders a screen as an SVG picture.
pub fn picture(screen: &vt100::Screen, light: bool) -> String {
    let (rows, columns) = (screen.size().0.get(), screen.size().1.get());
    let mut painter = Painter::new(light);
    let (mut behind, mut shapes) = (Fills::default(), Fills::default());
    let rows: Vec<u16> = (0..rows).collect();
    let lines: String = rows
        .iter()
        .filter_map(|row| painter.row(screen, *row, f32::from(*row) * CELL.1, &mut behind, &mut shapes))
        .collect();
    let size = (f32::from(columns) * CELL.0, rows.len() as f32 * CELL.1);
    painter.head(size, "") + &behind.paths() + &shapes.paths() + &lines + "</svg>\n"
}

/// A frame of a moving picture.
pub struct Frame {
    screen: vt100::Screen,
    caption: &'static str,
    /// The keys that led to it.
    keys: &'static str,
    millis: u32,
}

impl Frame {
    /// Takes a frame of a screen, to be shown for `millis` milliseconds.
    pub fn new(screen: &vt100::Screen, caption: &'static str, keys: &'static str, millis: u32) -> Frame {
        Frame { screen: screen.clone(), caption, keys, millis }
    }
}

/// Renders frames of one size as a moving picture: a strip of frames that moves behind a window, by CSS alone. Where
/// animations are off, it shows the first frame. Rows that occur several times are drawn once.
pub fn movie(frames: &[Frame]) -> String {
    let (rows, columns) = frames.first().map_or((1, 1), |frame| {
        let size = frame.screen.size();
        (size.0.get(), size.1.get())
    });
    let mut painter = Painter::new(false);
    let (width, height) = (f32::from(columns) * CELL.0, f32::from(rows) * CELL.1);
    // A row above the screen has the caption and the keys.
    let bar = 2.0 * CELL.1;
    let total: u32 = frames.iter().map(|frame| frame.millis).sum::<u32>().max(1);
    let (mut drawn, mut strip, mut stops) = (Vec::<String>::new(), String::new(), String::new());
    let (mut now, mut left) = (0, 0.0_f32);
    for frame in frames {
        let _ = write!(stops, "{:.2}%{{transform:translateX(-{left:.0}px)}}", now as f32 * 100.0 / total as f32);
        let _ = write!(strip, "<g transform=\"translate({left:.0})\">");
        let keys_width = frame.keys.chars().count() as f32 * CELL.0;
        if !frame.keys.is_empty() {
            let _ = write!(
                strip,
                "<rect x=\"{:.1}\" y=\"2\" width=\"{:.1}\" height=\"24\" rx=\"4\" class=\"key\"/>\
                 <text class=\"caption\" x=\"{:.1}\" y=\"19\">{}</text>",
                width - keys_width - 20.0,
                keys_width + 20.0,
                width - keys_width - 10.0,
                escaped(frame.keys)
            );
        }
        let _ = writeln!(strip, "<text class=\"caption\" x=\"4\" y=\"19\">{}</text>", escaped(frame.caption));
        for row in 0..rows {
            let (mut behind, mut shapes) = (Fills::default(), Fills::default());
            let text = painter.row(&frame.screen, row, 0.0, &mut behind, &mut shapes).unwrap_or_default();
            let row_drawn = behind.paths() + &shapes.paths() + &text;
            if row_drawn.is_empty() {
                continue;
            }
            let known = drawn.iter().position(|known| *known == row_drawn).unwrap_or_else(|| {
                drawn.push(row_drawn);
                drawn.len() - 1
            });
            let _ = write!(strip, "<use href=\"#r{known}\" y=\"{:.0}\"/>", bar + f32::from(row) * CELL.1);
        }
        strip.push_str("</g>\n");
        now += frame.millis;
        left += (width + 40.0).round();
    }
    let seconds = total as f32 / 1000.0;
    let style = format!(
        ".caption{{fill:{ink};font-weight:bold}}.key{{fill:#2d333f}}@keyframes strip{{{stops}}}\
         .strip{{animation:strip {seconds}s step-end infinite}}\
         @media(prefers-reduced-motion:reduce){{.strip{{animation:none}}}}",
        ink = painter.ink
    );
    let mut out = painter.head((width, bar + height), &style);
    out.push_str("<defs>\n");
    for (number, row) in drawn.iter().enumerate() {
        let _ = write!(out, "<g id=\"r{number}\">\n{row}</g>\n");
    }
    let _ = write!(
        out,
        "</defs>\n<svg width=\"{width:.0}\" height=\"{:.0}\">\n<g class=\"strip\">\n{strip}</g>\n</svg>\n</svg>\n",
        bar + height
    );
    out
}

/// Returns the style of a cell and its background color.
fn seen(cell: &vt100::Cell, ink: &str, paper: &str) -> (Look, String) {
    let (ink, paper) = (hex(cell.fgcolor(), ink), hex(cell.bgcolor(), paper));
    let (ink, paper) = if cell.inverse() { (paper, ink) } else { (ink, paper) };
    let ink = if cell.dim() { format!("{ink}b0") } else { ink };
    // Empty cells are styled like others, so that they join their neighbors.
    ((ink, cell.bold(), cell.italic(), cell.underline()), paper)
}

/// Returns the text of a picture, with one line per line of the screen and a blank between pieces.
pub fn words(picture: &str) -> String {
    let mut out = String::new();
    for line in picture.lines().filter(|line| line.contains("<text ")) {
        let pieces = line.split('<').filter_map(|part| part.split_once('>')).map(|(_, text)| text);
        let pieces: Vec<&str> = pieces.filter(|text| !text.is_empty()).collect();
        out += &pieces.join(" ").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        out.push('\n');
    }
    out
}
