//! Small charts made of characters: sparklines, bars, progress bars. They are blank in accessible mode, since the
//! numbers are next to them.

use crate::line::Line;
use crate::theme::{Role, Theme};
use crate::{glyph, legend, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const LEVELS_ASCII: [char; 8] = ['_', '_', '.', '.', '-', '-', '=', '#'];
/// The maximum size of a chart in the legend; each of its characters has up to three bytes.
const LEGEND_BYTES: usize = 36;
const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// Draws values as a sparkline of at most `width` columns, scaled from 0 to the largest value. If there are more values
/// than columns, each column shows the largest of its values. The legend explains it with `meaning`.
pub fn sparkline(values: &[f64], width: usize, meaning: &str) -> String {
    if glyph::is_accessible() {
        return String::new();
    }
    let levels = if glyph::is_ascii() { LEVELS_ASCII } else { LEVELS };
    let columns = values.len().min(width);
    let share = |column: usize| {
        let (from, to) = (column * values.len() / columns, (column + 1) * values.len() / columns);
        values.get(from..to).unwrap_or_default().iter().copied().filter(|v| v.is_finite()).fold(0.0, f64::max)
    };
    let heights: Vec<f64> = (0..columns).map(share).collect();
    let top = heights.iter().copied().fold(0.0, f64::max);
    let level = |height: &f64| {
        let level = if top > 0.0 { (height / top * 7.0).round() as usize } else { 0 };
        levels.get(level).copied().unwrap_or(' ')
    };
    note(heights.iter().map(level).collect(), meaning)
}

/// Explains a chart in the legend.
fn note(chart: String, meaning: &str) -> String {
    legend::note(chart.trim().get(..chart.trim().len().min(LEGEND_BYTES)).unwrap_or(chart.trim()), meaning);
    chart
}

/// Draws a bar of exactly `width` columns, filled from the left to `fraction` (0 to 1) in eighths of a column. The legend
/// explains it with `meaning`.
pub fn bar(fraction: f64, width: usize, meaning: &str) -> String {
    if glyph::is_accessible() {
        return " ".repeat(width);
    }
    let fraction = if fraction.is_finite() { fraction.clamp(0.0, 1.0) } else { 0.0 };
    let eighths = (fraction * width as f64 * 8.0).round() as usize;
    let (full, rest) = (eighths / 8, eighths % 8);
    let mut out = if glyph::is_ascii() { "#".repeat(full) } else { "█".repeat(full) };
    if full < width {
        out.push(if glyph::is_ascii() { ' ' } else { EIGHTHS.get(rest).copied().unwrap_or(' ') });
        out.extend(std::iter::repeat_n(' ', width - full - 1));
    }
    note(out, meaning)
}

/// Draws a thin bar of exactly `width` columns, in halves of a column, so that bars in adjacent rows do not touch. The
/// legend explains it with `meaning`.
pub fn stroke(fraction: f64, width: usize, meaning: &str) -> String {
    if glyph::is_accessible() {
        return " ".repeat(width);
    }
    let fraction = if fraction.is_finite() { fraction.clamp(0.0, 1.0) } else { 0.0 };
    let halves = (fraction * width as f64 * 2.0).round() as usize;
    let (whole, half) = if glyph::is_ascii() { ("=", "-") } else { ("━", "╸") };
    let end = if halves % 2 == 1 { half } else { "" };
    note(format!("{}{end}{}", whole.repeat(halves / 2), " ".repeat(width.saturating_sub(halves.div_ceil(2)))), meaning)
}

/// Draws two bars that grow from the middle to the left and to the right, each of exactly `width` columns. Their length
/// is logarithmic, half a column more for 1, 2, 4, 8 and so on, so that small values remain visible next to large ones. The
/// legend explains them with `meaning`.
pub fn sides(left: usize, right: usize, width: usize, meaning: &str) -> (String, String) {
    if glyph::is_accessible() {
        return (" ".repeat(width), " ".repeat(width));
    }
    let halves = |count: usize| count.checked_ilog2().map_or(0, |log| log as usize + 1).min(width * 2);
    let ascii = glyph::is_ascii();
    let full = if ascii { "#" } else { "█" };
    let side = |count: usize, half: &'static str| {
        let (whole, half_one) = (halves(count) / 2, halves(count) % 2 == 1);
        (full.repeat(whole), if half_one { half } else { "" }, " ".repeat(width - whole - usize::from(half_one)))
    };
    let (whole, half, gap) = side(left, if ascii { "+" } else { "▐" });
    let left = format!("{gap}{half}{whole}");
    let (whole, half, gap) = side(right, if ascii { "+" } else { "▌" });
    (note(left, meaning), note(format!("{whole}{half}{gap}"), meaning))
}

/// Draws a progress bar on the first line of `area`, followed by the percentage and `label` (bytes, rate). Without a
/// `fraction`, if the end is unknown, only the label is drawn.
pub fn progress(buf: &mut Buffer, area: Rect, theme: &Theme, fraction: Option<f64>, label: &str) {
    let style = theme.style(Role::Dim);
    let Some(fraction) = fraction else {
        Line::new(label, style).draw(buf, area, theme);
        return;
    };
    let percent = format!("{:>3.0}%", fraction.clamp(0.0, 1.0) * 100.0);
    let taken = text::width(label) + percent.len() + 2;
    let bar = bar(fraction, usize::from(area.width).saturating_sub(taken).min(40), "progress");
    let tint = theme.style(Role::Input).patch(theme.style(Role::Chart));
    Line::from([(bar.as_str(), tint), (" ", style), (&percent, theme.style(Role::Text)), (" ", style), (label, style)])
        .draw(buf, area, theme);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sparkline_scales_from_zero_to_the_maximum() {
        assert_eq!(sparkline(&[0.0, 1.0, 2.0, 7.0], 10, ""), "▁▂▃█");
        assert_eq!(sparkline(&[0.0, 0.0], 10, ""), "▁▁");
        assert_eq!(sparkline(&[1.0, 9.0, 1.0, 1.0], 2, ""), "█▂");
        assert_eq!(sparkline(&[f64::NAN, -3.0, 5.0], 3, ""), "▁▁█");
        assert_eq!(sparkline(&[], 3, ""), "");
        assert_eq!(sparkline(&[1.0], 0, ""), "");
    }

    #[test]
    fn a_bar_always_fills_its_width() {
        assert_eq!(bar(0.5, 4, ""), "██  ");
        assert_eq!(bar(0.3, 4, ""), "█▎  ");
        assert_eq!(bar(1.0, 4, ""), "████");
        assert_eq!((stroke(0.6, 4, "").as_str(), stroke(0.5, 4, "").as_str()), ("━━╸ ", "━━  "));
        for fraction in [-1.0, 0.0, 0.01, 0.99, 2.0, f64::NAN] {
            for width in 0..9 {
                assert_eq!(text::width(&bar(fraction, width, "")), width);
                assert_eq!(text::width(&stroke(fraction, width, "")), width);
            }
        }
    }

    #[test]
    fn a_two_sided_bar_has_a_logarithmic_scale() {
        assert_eq!(sides(0, 0, 3, ""), ("   ".into(), "   ".into()));
        assert_eq!(sides(1, 2, 3, ""), ("  ▐".into(), "█  ".into()));
        assert_eq!(sides(5, 1_000_000, 3, ""), (" ▐█".into(), "███".into()));
        for count in [0, 1, 7, 30, usize::MAX] {
            for width in 0..5 {
                let (left, right) = sides(count, count, width, "");
                assert_eq!((text::width(&left), text::width(&right)), (width, width));
            }
        }
    }

    #[test]
    fn progress_fits_any_width() {
        let theme = Theme::plain();
        for width in 0..60 {
            let area = Rect::new(0, 0, width, 1);
            let mut buf = Buffer::empty(area);
            progress(&mut buf, area, &theme, Some(0.4), "13.1 kB  2 kB/s");
            progress(&mut buf, area, &theme, None, "13.1 kB");
        }
    }
}
