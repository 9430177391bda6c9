//! Threads and units: which notes belong together, and which of them are folded.

use super::Conversation;
use super::content::{Content, FIRST_COMMENT};
use crate::api::notes::Note;
use crate::app::outbox::DiffPosition;
use crate::parts::review::thread_frame::ThreadState;
use crate::parts::review::threads;
use std::collections::HashMap;

/// Comments that belong together: those of a thread of the server, or on the same lines.
pub struct Thread {
    /// The indices of its notes; there is at least one.
    pub notes: Vec<usize>,
    /// The ID of its first note.
    pub id: u64,
    /// The lines of the changes that it is about.
    pub position: Option<DiffPosition>,
    pub resolved: Option<bool>,
    pub resolver: Option<String>,
    /// Whether no person wrote in it.
    pub is_of_bots: bool,
}

impl Thread {
    /// Returns whether it has a frame: a single comment that is on nothing else and cannot be resolved has none.
    pub fn is_framed(&self) -> bool {
        self.notes.len() > 1 || self.resolved.is_some() || self.position.is_some()
    }

    /// Returns whether it is one row until it is opened: there is nothing to do about it.
    fn is_done(&self) -> bool {
        self.resolved.unwrap_or(self.is_of_bots)
    }

    pub fn state(&self) -> ThreadState<'_> {
        ThreadState { resolved: self.resolved, resolver: self.resolver.as_deref(), comments: self.notes.len() }
    }
}

/// A unit of the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Consecutive system notes, by their indices.
    System { notes: Vec<usize>, open: bool },
    /// A resolved thread, or one of bots that cannot be resolved, folded into one row.
    Resolved { thread: usize },
    /// A comment of a thread, by its index in it.
    Comment { thread: usize, at: usize },
}

impl Conversation {
    /// Groups the notes into threads and units.
    pub(super) fn group_notes(&mut self, content: &Content) {
        self.threads.clear();
        // The threads on lines, by path, side and last line.
        let mut by_line: HashMap<(String, bool, Option<u32>), Vec<usize>> = HashMap::new();
        // The threads of the server, by ID.
        let mut by_id: HashMap<&str, usize> = HashMap::new();
        let mut run: Vec<usize> = Vec::new();
        // A run of system notes, or the next thread.
        let mut order: Vec<Option<Vec<usize>>> = Vec::new();
        (self.written, self.of_bots) = (0, 0);
        for (index, note) in content.all() {
            if note.system {
                run.push(index);
                continue;
            }
            if index < FIRST_COMMENT {
                *(if note.is_of_bot() { &mut self.of_bots } else { &mut self.written }) += 1;
            }
            if !run.is_empty() {
                order.push(Some(std::mem::take(&mut run)));
            }
            if let Some(id) = note.discussion_id.as_deref() {
                let known = *by_id.entry(id).or_insert(self.threads.len());
                if let Some(thread) = self.threads.get_mut(known) {
                    thread.notes.push(index);
                    continue;
                }
            }
            let position = threads::place(note).0;
            // The server may have two threads on the same lines.
            if let Some(position) =
                position.as_ref().filter(|_| note.discussion_id.is_none() || note.position.is_none())
            {
                let near = by_line.entry((position.path.clone(), position.old, position.line())).or_default();
                let is_same = |at: &&usize| {
                    let known = self.threads.get(**at).and_then(|thread| thread.position.as_ref());
                    known.is_some_and(|known| known.has_same_end(position))
                };
                if let Some(thread) = near.iter().find(is_same).copied().and_then(|at| self.threads.get_mut(at)) {
                    thread.notes.push(index);
                    continue;
                }
                near.push(self.threads.len());
            }
            order.push(None);
            let notes = vec![index];
            let id = note.id;
            self.threads.push(Thread { notes, id, position, resolved: None, resolver: None, is_of_bots: false });
        }
        if !run.is_empty() {
            order.push(Some(run));
        }
        for thread in &mut self.threads {
            let notes = || thread.notes.iter().filter_map(|index| content.note_at(*index));
            thread.resolved = threads::is_resolved(notes());
            thread.is_of_bots = notes().all(Note::is_of_bot);
            thread.resolver = notes().find_map(|note| Some(note.resolved_by.as_ref()?.username.clone()));
        }
        self.has_outdated = self.threads.iter().any(|thread| {
            let first = thread.notes.first().and_then(|index| content.note_at(*index));
            first.zip(thread.position.as_ref()).is_some_and(|(note, position)| content.is_outdated(note, position))
        });
        self.has_resolvable = self.threads.iter().any(|thread| thread.resolved.is_some());
        self.units.clear();
        self.unresolved.clear();
        self.measured = None;
        let mut next = 0;
        for entry in order {
            match entry {
                Some(system) => {
                    let first = system.first().and_then(|index| content.note_at(*index)).map_or(0, |note| note.id);
                    let open = self.open.contains(&first);
                    self.units.push(Unit::System { notes: system, open });
                }
                None => {
                    let Some(thread) = self.threads.get(next) else { continue };
                    if thread.is_done() && !self.open.contains(&thread.id) {
                        self.units.push(Unit::Resolved { thread: next });
                    } else {
                        self.unresolved.extend((thread.resolved == Some(false)).then_some(self.units.len()));
                        self.units.extend((0..thread.notes.len()).map(|at| Unit::Comment { thread: next, at }));
                    }
                    next += 1;
                }
            }
        }
    }
}
