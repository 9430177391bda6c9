//! Texts that a person typed, on disk until the server has them: one file each, written whole and synced.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Keeps `text` under `key` in `folder`; `None` drops it.
pub fn keep(folder: &Path, key: &str, text: Option<&str>) -> io::Result<()> {
    let path = folder.join(file_name(key));
    let Some(text) = text else {
        return match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        };
    };
    fs::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new().prefix(".draft-").tempfile_in(folder)?;
    // The first line is the key, so that the file's name may be shortened.
    writeln!(file, "{key}")?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(&path).map_err(|e| e.error)?;
    Ok(())
}

/// All texts that are kept in `folder`. What cannot be read is left alone.
pub fn load(folder: &Path) -> HashMap<String, String> {
    let mut kept = HashMap::new();
    let Ok(entries) = fs::read_dir(folder) else { return kept };
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        if let Some((key, text)) = fs::read_to_string(entry.path()).ok().as_deref().and_then(|s| s.split_once('\n')) {
            kept.insert(key.to_owned(), text.to_owned());
        }
    }
    kept
}

fn file_name(key: &str) -> String {
    let mut name = crate::api::endpoint::encode(key);
    if name.len() > 180 {
        // Long keys differ at their end; a hash of the whole keeps them apart.
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        name.truncate(150);
        name.push_str(&format!("-{:016x}", hasher.finish()));
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_there_again_until_it_is_dropped() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let key = "http://h note a/b!12";
        keep(folder.path(), key, Some("one\ntwo")).expect("kept");
        assert_eq!(load(folder.path()).get(key).map(String::as_str), Some("one\ntwo"));
        keep(folder.path(), key, None).expect("dropped");
        assert!(load(folder.path()).is_empty());
        keep(folder.path(), key, None).expect("dropping twice is no error");
    }
}
