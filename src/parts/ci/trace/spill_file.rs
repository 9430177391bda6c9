//! An unnamed temporary file for the part of a trace that exceeds the memory limit. It is removed when the trace is
//! dropped or the program exits.

use crate::ui::trace::SpillStore;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Mutex, PoisonError};

struct SpillFile(Mutex<File>);

/// Creates a file in the directory for temporary files.
pub fn create() -> io::Result<Box<dyn SpillStore>> {
    Ok(Box::new(SpillFile(Mutex::new(tempfile::tempfile()?))))
}

impl SpillStore for SpillFile {
    fn append(&self, bytes: &[u8]) -> io::Result<u64> {
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = file.seek(SeekFrom::End(0))?;
        file.write_all(bytes)?;
        Ok(at)
    }

    fn read_at(&self, at: u64, len: usize) -> io::Result<Vec<u8>> {
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(at))?;
        let mut bytes = vec![0; len];
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}
