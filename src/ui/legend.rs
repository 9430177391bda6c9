//! The signs and bars of a frame, and what they mean. What draws one states its meaning where it is drawn.

use crate::glyph;
use ratatui::buffer::Buffer;
use std::cell::RefCell;

thread_local! {
    /// The signs that were drawn with their meanings, while a legend is made.
    static NOTED: RefCell<Option<Vec<Entry>>> = const { RefCell::new(None) };
}

/// A sign or a bar, and what it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub sign: String,
    pub meaning: String,
}

/// Notes what a sign or a bar means, if a legend is made. It replaces what the sign alone means.
pub fn note(sign: &str, meaning: &str) {
    NOTED.with_borrow_mut(|noted| {
        let Some(noted) = noted else { return };
        let (sign, meaning) = (sign.trim(), meaning.trim().trim_end_matches(':'));
        // A word needs no explanation.
        let is_word = sign.chars().filter(|c| c.is_alphabetic()).count() > 2;
        if sign.is_empty() || meaning.is_empty() || is_word {
            return;
        }
        noted.pop_if(|last| last.sign == sign && glyph::meanings(sign).any(|known| known == last.meaning));
        noted.push(Entry { sign: sign.to_owned(), meaning: meaning.to_owned() });
    });
}

/// Returns the signs in the frame that `draw` draws, in the order in which they are drawn. Those of texts that were laid
/// out before have all their meanings.
pub fn of(draw: impl FnOnce() -> Buffer) -> Vec<Entry> {
    NOTED.set(Some(Vec::new()));
    let frame = draw();
    let noted = NOTED.take().unwrap_or_default();
    let is_shown = |sign: &str| {
        let first = sign.chars().next().unwrap_or_default();
        frame.content().iter().any(|cell| cell.symbol().starts_with(first))
    };
    let mut entries: Vec<Entry> = Vec::new();
    // Letters and punctuation are everywhere.
    let others = glyph::all().filter(|(sign, _)| !sign.is_ascii());
    let others = others.map(|(sign, meaning)| Entry { sign: sign.to_owned(), meaning: meaning.to_owned() });
    let others: Vec<Entry> = others.filter(|other| noted.iter().all(|entry| entry.sign != other.sign)).collect();
    for Entry { sign, meaning } in noted.into_iter().chain(others).filter(|entry| is_shown(&entry.sign)) {
        match entries.iter_mut().find(|entry| entry.sign == sign) {
            Some(entry) if entry.meaning.split(", ").any(|known| known == meaning) => {}
            Some(entry) => entry.meaning = format!("{}, {meaning}", entry.meaning),
            None => entries.push(Entry { sign, meaning }),
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    #[test]
    fn signs_have_the_meaning_that_they_were_drawn_with() {
        let legend = of(|| {
            let mut frame = Buffer::empty(Rect::new(0, 0, 20, 1));
            let words = [glyph::status("running").0, glyph::or_word(glyph::done(), "viewed:"), "▸", "x"].concat();
            // Drawn, but not in the frame.
            glyph::warning();
            frame.set_string(0, 0, words, Style::new());
            frame
        });
        let shown: Vec<_> = legend.iter().map(|entry| (&*entry.sign, &*entry.meaning)).collect();
        assert_eq!(shown, [("●", "running"), ("✓", "viewed"), ("▸", "collapsed")]);
        // Outside of a legend, nothing is kept.
        glyph::warning();
        assert!(NOTED.take().is_none());
    }

    /// The legend can only be true if a sign of its own means one thing.
    #[test]
    fn the_hollow_sign_means_one_thing() {
        assert_eq!(glyph::meanings("○").collect::<Vec<_>>(), ["not done yet"]);
    }
}
