//! What readers say of a screen, by the rules of fenrir, of yasr and of a braille line.
//!
//! fenrir (1.9.7, `onCursorChange/65000-present_line_if_cursor_change_vertical.py` and `core/screenManager.py`) compares
//! the rows of the screen. If any is new, it says the new rows, in their order; only if none is, it says the row under a
//! cursor that has moved up or down. yasr (0.6.9, as it was heard) says what is written, in the order of writing; if nothing is,
//! it says the row under a cursor that has moved to another one. A braille line shows the row under the cursor, and no
//! other.

/// The rows of a screen, and the row of the cursor, if it is visible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Screen {
    pub rows: Vec<String>,
    pub cursor: Option<usize>,
}

impl Screen {
    /// Returns a screen, without the blanks at the ends of its rows.
    pub fn new(rows: impl IntoIterator<Item = String>, cursor: Option<usize>) -> Screen {
        Screen { rows: rows.into_iter().map(|row| row.trim().to_owned()).collect(), cursor }
    }

    /// Returns what a braille line shows.
    pub fn braille(&self) -> &str {
        self.cursor.and_then(|row| self.rows.get(row)).map(String::as_str).unwrap_or_default()
    }

    /// Returns the rows that were not on the screen before, except for those that only moved.
    pub fn new_rows(&self, before: &Screen) -> Vec<&str> {
        let (old, new) = (&before.rows, &self.rows);
        // The number of rows that both have in common, from each pair of rows on.
        let mut common = vec![vec![0_usize; new.len() + 1]; old.len() + 1];
        for (at, row) in old.iter().enumerate().rev() {
            for (to, other) in new.iter().enumerate().rev() {
                common[at][to] = match row == other {
                    true => common[at + 1][to + 1] + 1,
                    false => common[at + 1][to].max(common[at][to + 1]),
                };
            }
        }
        let (mut at, mut to, mut added) = (0, 0, Vec::new());
        while to < new.len() {
            if at < old.len() && old[at] == new[to] {
                (at, to) = (at + 1, to + 1);
            } else if at < old.len() && common[at + 1][to] >= common[at][to + 1] {
                at += 1;
            } else {
                added.push(new[to].as_str());
                to += 1;
            }
        }
        added
    }

    /// Returns what fenrir says after `before`.
    pub fn fenrir(&self, before: &Screen) -> String {
        let added: Vec<&str> = self.new_rows(before).into_iter().filter(|row| !row.is_empty()).collect();
        match before.rows == self.rows {
            true if before.cursor == self.cursor => String::new(),
            true => self.braille().to_owned(),
            false => added.join("\n"),
        }
    }

    /// Returns what yasr says after `before`.
    pub fn yasr(&self, before: &Screen) -> String {
        let rows = self.rows.iter().enumerate();
        let written: Vec<&str> =
            rows.filter(|(y, row)| before.rows.get(*y) != Some(row)).map(|(_, row)| row.as_str()).collect();
        match written.is_empty() {
            true if before.cursor == self.cursor => String::new(),
            true => self.braille().to_owned(),
            false => written.join("\n"),
        }
    }
}

/// Returns the number of words that are said.
pub fn words(said: &str) -> usize {
    said.split(|c: char| !c.is_alphanumeric() && !"'.".contains(c)).filter(|word| !word.is_empty()).count()
}
