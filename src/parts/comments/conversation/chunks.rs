//! Rendering of notes in the background, in chunks.

use crate::api::notes::Note;
use crate::parts::text::rendered_markdown;
use crate::store::{Canceled, Derive, Revision, Rows};
use crate::ui::code::Budget;
use crate::ui::markdown;
use crate::ui::theme::Theme;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The number of notes rendered together.
pub const CHUNK_NOTES: usize = 100;

/// The maximum size in bytes of the notes of a chunk that is rendered, shared equally; and the minimum share of one
/// note.
const MAX_CHUNK_BYTES: usize = 8 << 20;
const MIN_BODY_BYTES: usize = 64 << 10;

/// The rendering of a chunk of notes.
pub struct Render {
    pub key: String,
    /// The texts of the notes; empty for system notes, which are single lines without markup.
    pub bodies: Vec<String>,
    pub width: usize,
    pub theme: Theme,
}

/// The rendered text of each note of a chunk.
pub struct RenderedChunk(pub Vec<markdown::Rendered>);

impl Derive for Render {
    type Output = RenderedChunk;

    fn key(&self) -> String {
        self.key.clone()
    }

    fn weight(&self, _: &RenderedChunk) -> usize {
        rendered_markdown::BYTES_PER_BYTE * self.bodies.iter().map(String::len).sum::<usize>()
    }

    fn run(&self, canceled: Canceled<'_>) -> RenderedChunk {
        self.render(&Budget::new(canceled), canceled)
    }

    fn preview(&self) -> Option<RenderedChunk> {
        let has_code = self.bodies.iter().any(|body| markdown::has_code(body));
        has_code.then(|| self.render(&Budget::none(), &|| false))
    }
}

impl Render {
    fn render(&self, colors: &Budget, canceled: Canceled<'_>) -> RenderedChunk {
        let room = (MAX_CHUNK_BYTES / self.bodies.len().max(1)).max(MIN_BODY_BYTES);
        let bodies = self.bodies.iter().take_while(|_| !canceled());
        RenderedChunk(bodies.map(|body| markdown::render_start(body, room, self.width, &self.theme, colors)).collect())
    }
}

/// Returns the key of a chunk. It changes when a note of the chunk is edited.
pub fn chunk_key(notes: &Rows<Note>, chunk: usize, chunks_key: &(Revision, usize, String)) -> String {
    let mut hasher = DefaultHasher::new();
    for index in chunk * CHUNK_NOTES..(chunk + 1) * CHUNK_NOTES {
        let Some(note) = notes.get(index) else { break };
        let changed = note.updated_at.as_ref().map(|time| time.as_str());
        (note.id, note.system, changed, note.body.len()).hash(&mut hasher);
    }
    format!("notes {:016x} in {} columns, {}", hasher.finish(), chunks_key.1, chunks_key.2)
}
