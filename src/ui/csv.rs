//! Delimited tables (CSV and TSV): values separated by commas, semicolons, tabs or bars, with quoting. Record
//! boundaries are found in one pass; the values are parsed on demand.

use crate::code::Text;
use crate::doc::DocLine;
use crate::glyph;
use crate::line::Line;
use crate::text;
use crate::theme::Role;
use std::borrow::Cow;
use std::sync::Arc;

/// The number of records used to determine column widths.
const MEASURED_RECORDS: usize = 2000;
/// Maximum width of a column.
const MAX_COLUMN_WIDTH: usize = 40;
/// Maximum number of columns shown of a record.
const MAX_COLUMNS: usize = 400;
/// Maximum number of bytes parsed of a record.
const MAX_RECORD_BYTES: usize = 256 * 1024;
/// Number of bytes between two checks for cancellation.
const CANCEL_CHECK_INTERVAL: usize = 1 << 20;

/// A text parsed as records of values.
pub struct CsvTable {
    text: Arc<Text>,
    separator: u8,
    /// The byte offsets of the records.
    starts: Vec<usize>,
    widths: Vec<usize>,
    /// Whether each column contains only numbers, apart from its heading.
    numbers: Vec<bool>,
}

/// Returns whether the name of a file is that of a table.
pub fn is_table(path: &str) -> bool {
    separator(path, "").is_some()
}

/// Returns the separator for a file by its name and first line, or `None` if it is not a table.
pub fn separator(path: &str, first_line: &str) -> Option<u8> {
    let (_, ending) = path.rsplit_once('.')?;
    if ending.eq_ignore_ascii_case("tsv") || ending.eq_ignore_ascii_case("tab") {
        return Some(b'\t');
    }
    if !ending.eq_ignore_ascii_case("csv") {
        return None;
    }
    let first_line = text::head_bytes(first_line, 4096);
    let count = |separator: &u8| first_line.bytes().filter(|b| b == separator).count();
    // Ties are resolved in favor of the last one, the comma.
    [b'|', b'\t', b';', b','].into_iter().max_by_key(count)
}

impl CsvTable {
    /// Finds the records. Runs on a worker thread, and ends early if `canceled`.
    pub fn read(text: Arc<Text>, separator: u8, canceled: &dyn Fn() -> bool) -> CsvTable {
        let all = text.as_str().as_bytes();
        let mut starts = Vec::new();
        if !all.is_empty() {
            starts.push(0);
        }
        let (mut quoted, mut last_check) = (false, 0);
        for at in memchr::memchr2_iter(b'"', b'\n', all) {
            match all.get(at) {
                Some(b'"') => quoted = !quoted,
                _ if !quoted && at + 1 < all.len() => starts.push(at + 1),
                _ => {}
            }
            if at - last_check > CANCEL_CHECK_INTERVAL {
                last_check = at;
                if canceled() {
                    break;
                }
            }
        }
        let mut table = CsvTable { text, separator, starts, widths: Vec::new(), numbers: Vec::new() };
        let (mut widths, mut numbers): (Vec<usize>, Vec<bool>) = Default::default();
        for index in 0..table.len().min(MEASURED_RECORDS) {
            for (column, value) in table.record(index).iter().enumerate() {
                let width = text::width_up_to(value, MAX_COLUMN_WIDTH);
                let number = index == 0 || value.is_empty() || value.trim().parse::<f64>().is_ok();
                match (widths.get_mut(column), numbers.get_mut(column)) {
                    (Some(widest), Some(all)) => {
                        *widest = (*widest).max(width);
                        *all &= number;
                    }
                    _ => {
                        widths.push(width);
                        numbers.push(number && table.starts.len() > 1);
                    }
                }
            }
        }
        (table.widths, table.numbers) = (widths, numbers);
        table
    }

    /// Returns the number of records, including the heading.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Returns whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Returns the number of columns in the measured records.
    pub fn columns(&self) -> usize {
        self.widths.len()
    }

    /// Returns the values of a record.
    pub fn record(&self, index: usize) -> Vec<Cow<'_, str>> {
        let Some(start) = self.starts.get(index).copied() else { return Vec::new() };
        let end = self.starts.get(index + 1).copied().unwrap_or(self.text.slices_len());
        let record = self.text.slice(start..end).trim_end_matches(['\n', '\r']);
        values(text::head_bytes(record, MAX_RECORD_BYTES), self.separator)
    }

    /// Returns a record as plain text, the same as in [`CsvTable::line`].
    pub fn plain_text(&self, index: usize) -> String {
        self.text_line(index).plain_text()
    }

    /// Formats a record for drawing. The first record is the heading.
    pub fn line(&self, index: usize) -> DocLine<'static> {
        let number = if index == 0 { String::new() } else { text::count(index as u64) };
        let gutter = format!("{number:>width$}  ", width = usize::from(self.gutter()) - 2);
        DocLine { gutter: Line::new(gutter, Role::LineNumber), text: self.text_line(index), ..DocLine::default() }
    }

    /// Returns the width of the gutter in columns.
    pub fn gutter(&self) -> u16 {
        text::count(self.len() as u64).len() as u16 + 2
    }

    fn text_line(&self, index: usize) -> Line<'static> {
        let mut line = Line::empty();
        for (column, value) in self.record(index).iter().enumerate() {
            if column > 0 {
                line.push(format!(" {} ", glyph::divider()), Role::Faint);
            }
            let width = self.widths.get(column).copied().unwrap_or(MAX_COLUMN_WIDTH).clamp(1, MAX_COLUMN_WIDTH);
            let value = value.replace(['\n', '\r'], " ");
            let number = self.numbers.get(column).copied().unwrap_or(false);
            let words = if number { text::pad_left(&value, width) } else { text::pad(&value, width) };
            let role = match () {
                () if index == 0 => Role::Title,
                () if number => Role::SyntaxNumber,
                () => Role::Text,
            };
            line.push(words, role);
        }
        line
    }
}

/// Parses the values of one record.
fn values(record: &str, separator: u8) -> Vec<Cow<'_, str>> {
    let mut values = Vec::new();
    let mut rest = record;
    loop {
        let (value, after) = match rest.strip_prefix('"') {
            Some(inside) => quoted(inside, separator),
            None => match memchr::memchr(separator, rest.as_bytes()) {
                Some(at) => (rest.get(..at).unwrap_or_default().into(), rest.get(at + 1..)),
                None => (rest.into(), None),
            },
        };
        values.push(value);
        match after {
            Some(after) if values.len() < MAX_COLUMNS => rest = after,
            _ => return values,
        }
    }
}

/// Parses a value after its opening quote, in which two quotes stand for one. Returns the value and the text after the
/// next separator.
fn quoted(inside: &str, separator: u8) -> (Cow<'_, str>, Option<&str>) {
    let bytes = inside.as_bytes();
    let mut at = 0;
    let end = loop {
        match memchr::memchr(b'"', bytes.get(at..).unwrap_or_default()) {
            Some(found) if bytes.get(at + found + 1) == Some(&b'"') => at += found + 2,
            Some(found) => break at + found,
            None => break bytes.len(),
        }
    };
    let value = inside.get(..end).unwrap_or_default();
    let value = if value.contains("\"\"") { Cow::Owned(value.replace("\"\"", "\"")) } else { value.into() };
    let rest = inside.get(end + 1..).unwrap_or_default();
    // Text between the closing quote and the separator is invalid and ignored.
    let after = memchr::memchr(separator, rest.as_bytes()).and_then(|at| rest.get(at + 1..));
    (value, after)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str, separator: u8) -> CsvTable {
        CsvTable::read(Arc::new(Text::new(text.as_bytes().to_vec())), separator, &|| false)
    }

    #[test]
    fn the_separator_is_detected_by_name_and_header() {
        assert_eq!(separator("a.tsv", "a,b"), Some(b'\t'));
        assert_eq!(separator("a.CSV", "a;b;c,d"), Some(b';'));
        assert_eq!(separator("a.csv", "one"), Some(b','));
        assert_eq!(separator("a.rs", "a,b"), None);
        // The end of what is looked at is inside a character.
        assert_eq!(separator("a.csv", &format!("{}aé", "a;".repeat(2047))), Some(b';'));
    }

    #[test]
    fn values_may_contain_separators_quotes_and_line_breaks() {
        let table = table("name,n\n\"a, \"\"b\"\"\",1\n\"two\nlines\",\r\n,x,y\n", b',');
        assert_eq!(table.len(), 4);
        assert_eq!(table.record(1), ["a, \"b\"", "1"]);
        assert_eq!(table.record(2), ["two\nlines", ""]);
        assert_eq!(table.record(3), ["", "x", "y"]);
        assert!(table.plain_text(2).starts_with("two lines"));
        assert_eq!(table.columns(), 3);
    }

    #[test]
    fn numbers_are_right_aligned() {
        let table = table("name\tsize\na\t7\nlonger\t1200\n", b'\t');
        assert_eq!(table.plain_text(0), "name   │ size");
        assert_eq!(table.plain_text(1), "a      │    7");
        assert_eq!(table.plain_text(2), "longer │ 1200");
    }

    #[test]
    fn hostile_tables_are_harmless() {
        for text in ["\"", "\"\n", ",,,\n\"a\"b,c", "a\u{1b}[31m,b", "é\"", "\"é\"é,é"] {
            let table = table(text, b',');
            for index in 0..=table.len() {
                table.line(index);
            }
        }
        assert!(table("", b',').is_empty());
    }
}
