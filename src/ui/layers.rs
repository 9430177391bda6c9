//! Combines styles on a line of text: syntax highlighting, then tints, then changed words.

use crate::line::Line;
use ratatui::style::Style;
use std::ops::Range;

/// Sorted, non-overlapping byte ranges, each with the style to apply to its text.
pub type Layer<'a> = &'a [(Range<usize>, Style)];

/// Splits `text` into spans of one style each. Each layer is applied on top of the previous ones, starting from `base`.
/// Ranges that do not fit the text are harmless.
pub fn blend<'a>(text: &'a str, base: Style, layers: &[Layer<'_>]) -> Line<'a> {
    let mut spans: Vec<(Range<usize>, Style)> = Vec::new();
    let mut heads = vec![0usize; layers.len()];
    let mut at = 0;
    while at < text.len() {
        let (style, next) = style_at(at, text.len(), base, layers, &mut heads);
        let mut end = next.clamp(at + 1, text.len());
        while !text.is_char_boundary(end) {
            end += 1;
        }
        match spans.last_mut() {
            Some((range, last)) if *last == style => range.end = end,
            _ => spans.push((at..end, style)),
        }
        at = end;
    }
    spans.into_iter().map(|(range, style)| (text.get(range).unwrap_or_default(), style)).collect()
}

/// Returns the style at a byte, and the next byte at which the style may change.
fn style_at(at: usize, len: usize, base: Style, layers: &[Layer<'_>], heads: &mut [usize]) -> (Style, usize) {
    let mut style = base;
    let mut next = len;
    for (layer, head) in layers.iter().zip(heads.iter_mut()) {
        while layer.get(*head).is_some_and(|(range, _)| range.end <= at) {
            *head += 1;
        }
        if let Some((range, patch)) = layer.get(*head) {
            if range.start <= at {
                style = style.patch(*patch);
                next = next.min(range.end);
            } else {
                next = next.min(range.start);
            }
        }
    }
    (style, next)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::Dice;
    use crate::theme::Theme;
    use ratatui::style::Modifier;

    #[test]
    fn styles_of_layers_are_combined() {
        let bold = Style::new().add_modifier(Modifier::BOLD);
        let italic = Style::new().add_modifier(Modifier::ITALIC);
        let blended = blend("abcdef", Style::new(), &[&[(1..4, bold)], &[(3..5, italic)]]);
        let seen: Vec<_> =
            blended.spans.iter().map(|span| (&*span.text, span.paint.style(&Theme::plain()).add_modifier)).collect();
        assert_eq!(
            seen,
            [
                ("a", Modifier::empty()),
                ("bc", Modifier::BOLD),
                ("d", Modifier::BOLD | Modifier::ITALIC),
                ("e", Modifier::ITALIC),
                ("f", Modifier::empty()),
            ]
        );
    }

    #[test]
    fn hostile_ranges_do_not_panic() {
        let mut dice = Dice(7);
        for _ in 0..500 {
            let bytes = dice.bytes(60, &["é".as_bytes(), "日".as_bytes(), b"\t", b"a"]);
            let line = String::from_utf8_lossy(&bytes).into_owned();
            let bold = Style::new().add_modifier(Modifier::BOLD);
            let layer: Vec<_> = (0..5).map(|_| (dice.below(80)..dice.below(80), bold)).collect();
            let blended = blend(&line, Style::new(), &[&layer]);
            assert_eq!(blended.plain_text(), line);
        }
    }
}
