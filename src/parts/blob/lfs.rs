//! Files in Git LFS: the repository has a pointer, and the server has what it stands for.

use super::source::Source;
use crate::api::repository::GetRawFile;
use crate::ui::code::Text;

/// Bytes of the largest file that is fetched to be shown; a larger one is only saved.
const SHOWN: u64 = 10_000_000;
/// Lines that a pointer has at most.
const LINES: usize = 8;

/// What stands for a file in the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pointer {
    /// The SHA-256 of the file, in hexadecimal.
    oid: String,
    /// Bytes of the file.
    pub size: u64,
}

impl Pointer {
    /// Reads a pointer; `None` of any other text.
    pub fn read(text: &Text) -> Option<Pointer> {
        let lines = (0..text.len()).map(|line| text.line(line));
        (text.len() <= LINES).then(|| Pointer::of(lines)).flatten()
    }

    fn of<'a>(mut lines: impl Iterator<Item = &'a str>) -> Option<Pointer> {
        lines.next().filter(|line| line.starts_with("version https://git-lfs.github.com/spec/"))?;
        let lines: Vec<&str> = lines.map(str::trim_end).collect();
        let value = |name: &str| lines.iter().find_map(|line| line.strip_prefix(name));
        let oid = value("oid sha256:").filter(|oid| oid.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        Some(Pointer { oid: oid.to_owned(), size: value("size ")?.parse().ok()? })
    }

    /// What names the content of the file; no blob has such a name.
    pub fn id(&self) -> String {
        format!("lfs {}", self.oid)
    }

    /// Returns whether the file is small enough to be shown.
    pub fn is_shown(&self) -> bool {
        self.size <= SHOWN
    }
}

/// The request for the file at a path, and not for its pointer.
pub fn raw(source: &Source, path: &str) -> GetRawFile {
    let git_ref = source.git_ref.clone().unwrap_or_else(|| "HEAD".into());
    GetRawFile { id: source.project.clone(), path: path.to_owned(), r#ref: Some(git_ref), lfs: Some(true) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_says_what_it_stands_for() {
        let text = "version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 12345\n";
        assert_eq!(Pointer::of(text.lines()), Some(Pointer { oid: "ab".into(), size: 12345 }));
        for other in ["version 1\nsize 3", "", &text.replace("ab", "../x"), &text.replace("size", "sizes")] {
            assert_eq!(Pointer::of(other.lines()), None, "{other}");
        }
    }
}
