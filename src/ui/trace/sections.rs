//! The named and timed sections of a trace, collected from their markers.

use super::entries::Stream;
use super::marker::Marker;

/// Maximum nesting depth. Deeper sections are text without a heading.
const MAX_DEPTH: usize = 64;
/// Maximum number of sections in a trace. Later ones are text without a heading.
const MAX_SECTIONS: usize = 100_000;

/// A part of the trace that the runner named and timed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    pub name: String,
    /// The line of its heading.
    pub line: usize,
    /// The line after its last one, or `None` while it is open.
    pub end: Option<usize>,
    /// The start time in seconds since 1970.
    pub started: u64,
    /// The duration in seconds, or `None` while it is open or if its end was never written.
    pub seconds: Option<u64>,
    /// The number of enclosing sections.
    pub depth: usize,
    /// Whether the runner requests that it is shown folded.
    pub collapsed: bool,
}

/// Returns whether what a stream starts within a section of `outer` is a part of it. Streams of the job's programs are
/// independent of each other, but all are within the sections of the runner.
fn encloses(outer: Stream, inner: Stream) -> bool {
    outer == inner || outer.starts_with(b"00")
}

/// The known sections.
#[derive(Clone, Debug, Default)]
pub struct Sections {
    pub list: Vec<Section>,
    /// The sections without an end, outermost first, as indexes into `list`, with the streams that started them.
    open: Vec<(usize, Stream)>,
    /// A number that changes with every change of the list.
    pub revision: u64,
}

impl Sections {
    /// Starts a section at a line.
    pub fn begin(&mut self, marker: &Marker, line: usize, stream: Stream) {
        if self.open.len() == MAX_DEPTH || self.list.len() == MAX_SECTIONS {
            return;
        }
        self.revision += 1;
        self.list.push(Section {
            name: marker.name.clone(),
            line,
            end: None,
            started: marker.time,
            seconds: None,
            depth: self.open.iter().filter(|(_, outer)| encloses(*outer, stream)).count(),
            collapsed: marker.collapsed,
        });
        self.open.push((self.list.len() - 1, stream));
    }

    /// Ends the innermost section with the marker's name, of the same stream if there is one, and those within it. A
    /// marker without a section is ignored.
    pub fn end(&mut self, marker: &Marker, line: usize, stream: Stream) {
        let is_named = |(at, _): &(usize, Stream)| self.list.get(*at).is_some_and(|s| s.name == marker.name);
        let own = self.open.iter().rposition(|open| is_named(open) && open.1 == stream);
        let Some(place) = own.or_else(|| self.open.iter().rposition(is_named)) else { return };
        self.revision += 1;
        let mut outer = None;
        for (at, stream) in self.open.split_off(place) {
            if !encloses(*outer.get_or_insert(stream), stream) {
                self.open.push((at, stream));
            } else if let Some(section) = self.list.get_mut(at) {
                section.end = Some(line);
                if section.name == marker.name {
                    section.seconds = marker.time.checked_sub(section.started);
                }
            }
        }
    }
}
