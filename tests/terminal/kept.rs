//! Reads the user's texts that are saved on disk.

use std::path::Path;
use std::time::{Duration, Instant};

/// Returns the content of all saved texts below `folder`. Files that begin with a dot are still being written and would
/// be lost if the program ended now.
pub fn texts(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'))
        .flat_map(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => texts(&entry.path()),
            _ => std::fs::read_to_string(entry.path())
                .into_iter()
                .filter(|text| text.contains("labscope-kept"))
                .collect(),
        })
        .collect()
}

/// Waits until a text below `folder` satisfies `is_so`.
pub fn wait(folder: &Path, what: &str, is_so: impl Fn(&str) -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !texts(folder).iter().any(|text| is_so(text)) {
        assert!(Instant::now() < until, "not saved: {what}; saved: {:?}", texts(folder));
        std::thread::yield_now();
    }
}
