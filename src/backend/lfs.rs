//! Git LFS: what a pointer stands for, as stock git keeps it beside the objects of a repository.

use std::path::{Path, PathBuf};

/// Bytes of the largest pointer.
const LARGEST: usize = 1024;

/// The SHA-256 that a pointer names, in hexadecimal; `None` of any other blob.
pub fn oid(blob: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(blob).ok().filter(|text| text.len() <= LARGEST)?;
    let mut lines = text.lines();
    lines.next().filter(|line| line.starts_with("version https://git-lfs.github.com/spec/"))?;
    let oid = lines.find_map(|line| line.strip_prefix("oid sha256:"))?.trim_end();
    (oid.len() == 64 && oid.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(oid)
}

/// Where the file of that name is kept in a repository.
pub fn path(repository: &Path, oid: &str) -> PathBuf {
    let part = |range| oid.get(range).unwrap_or_default();
    repository.join("lfs").join("objects").join(part(0..2)).join(part(2..4)).join(oid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_hash_becomes_a_path() {
        let pointer = |oid: &str| format!("version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize 3\n");
        let hash = "ab12".repeat(16);
        assert_eq!(oid(pointer(&hash).as_bytes()), Some(&*hash));
        let kept = format!("/r/lfs/objects/ab/12/{hash}");
        assert_eq!(path(Path::new("/r"), &hash), Path::new(&kept));
        for other in [pointer("../../x"), pointer(""), hash.clone(), pointer(&"../".repeat(22)[..64])] {
            assert_eq!(oid(other.as_bytes()), None, "{other}");
        }
    }
}
