//! Templates of the user for comments and descriptions: the files `templates/NAME.md` beside the configuration.

use crate::system::files;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The maximum size of a template in bytes, and their maximum number.
const MAX_BYTES: u64 = 64 << 10;
const MAX_TEMPLATES: usize = 200;

/// Reads the templates in the folder of the configuration. Returns their texts by the names of their files without the
/// extension. What cannot be read is logged and left out.
pub fn read(config_folder: &Path) -> BTreeMap<String, String> {
    let Ok(entries) = fs::read_dir(config_folder.join("templates")) else { return BTreeMap::new() };
    let named = entries.flatten().filter_map(|entry| {
        let name = entry.file_name().to_str()?.strip_suffix(".md")?.to_owned();
        Some((name, entry.path())).filter(|(name, _)| !name.is_empty())
    });
    let mut named: Vec<_> = named.collect();
    named.sort();
    named.truncate(MAX_TEMPLATES);
    let read = |(name, path): (String, PathBuf)| {
        let text =
            files::read_text(&path, MAX_BYTES).map_err(|error| tracing::warn!(?path, %error, "template")).ok()?;
        Some((name, text.replace("\r\n", "\n").trim_end().to_owned()))
    };
    named.into_iter().filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_the_readable_markdown_files_of_a_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(read(folder.path()).is_empty());
        let templates = folder.path().join("templates");
        fs::create_dir_all(templates.join("folder.md")).expect("a folder");
        let write = |name: &str, text: &[u8]| fs::write(templates.join(name), text).expect("written");
        write("thanks.md", b"Thanks!\r\n\r\n- merged\n\n");
        write("a longer one.md", "Größe".as_bytes());
        write("notes.txt", b"no template");
        write(".md", b"no name");
        write("binary.md", b"\xff\xfe");
        write("large.md", &vec![b'a'; MAX_BYTES as usize + 1]);
        let expected = [("a longer one", "Größe"), ("thanks", "Thanks!\n\n- merged")];
        assert_eq!(read(folder.path()), expected.map(|(name, text)| (name.to_owned(), text.to_owned())).into());
    }
}
