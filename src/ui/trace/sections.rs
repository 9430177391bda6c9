//! The parts of a trace that the runner named and timed, as their markers come.

use super::marker::Marker;

/// Sections within sections; deeper ones are text without a heading of their own.
const DEPTH: usize = 64;
/// Sections of one trace; what comes after them is text without a heading.
const MOST: usize = 100_000;

/// A part of the trace that the runner named and timed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    pub name: String,
    /// The line of its heading.
    pub line: usize,
    /// One past its last line; `None` while it is open.
    pub end: Option<usize>,
    /// Seconds since 1970.
    pub started: u64,
    /// How long it took; `None` while it is open, and where its end was never written.
    pub seconds: Option<u64>,
    /// Sections around it.
    pub depth: usize,
    /// The runner asks for it to be shown folded.
    pub collapsed: bool,
}

/// The sections so far.
#[derive(Clone, Debug, Default)]
pub struct Sections {
    pub list: Vec<Section>,
    /// Sections without an end, outermost first, as places in `list`.
    open: Vec<usize>,
    /// Changes with every change of the list.
    pub revision: u64,
}

impl Sections {
    /// A section begins at a line.
    pub fn begin(&mut self, marker: &Marker, line: usize) {
        if self.open.len() == DEPTH || self.list.len() == MOST {
            return;
        }
        self.revision += 1;
        self.list.push(Section {
            name: marker.name.clone(),
            line,
            end: None,
            started: marker.time,
            seconds: None,
            depth: self.open.len(),
            collapsed: marker.collapsed,
        });
        self.open.push(self.list.len() - 1);
    }

    /// Ends the innermost section of the marker's name and those within it; a marker without a section is left out.
    pub fn end(&mut self, marker: &Marker, line: usize) {
        let named = |at: &usize| self.list.get(*at).is_some_and(|s| s.name == marker.name);
        let Some(place) = self.open.iter().rposition(named) else { return };
        self.revision += 1;
        for at in self.open.drain(place..).rev() {
            if let Some(section) = self.list.get_mut(at) {
                section.end = Some(line);
                if section.name == marker.name {
                    section.seconds = marker.time.checked_sub(section.started);
                }
            }
        }
    }
}
