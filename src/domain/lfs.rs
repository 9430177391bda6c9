//! Git LFS pointers, which a repository contains in place of large files.

/// The maximum size of a pointer, in bytes.
const MAX_POINTER_BYTES: usize = 1024;

/// A Git LFS pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LfsPointer {
    /// The SHA-256 of the file: 64 hexadecimal digits.
    pub oid: String,
    /// The size of the file, in bytes.
    pub size: u64,
}

impl LfsPointer {
    /// Parses a pointer. Returns `None` if the content is not one. The cost is independent of the length.
    pub fn read(content: &[u8]) -> Option<LfsPointer> {
        let text = Some(content).filter(|content| content.len() <= MAX_POINTER_BYTES)?;
        let mut lines = std::str::from_utf8(text).ok()?.lines().map(str::trim_end);
        lines.next()?.strip_prefix("version https://git-lfs.github.com/spec/")?;
        let value = |name: &str| lines.clone().find_map(|line| line.strip_prefix(name));
        let oid = value("oid sha256:")?;
        let is_hash = oid.len() == 64 && oid.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hash.then_some(LfsPointer { oid: oid.to_owned(), size: value("size ")?.parse().ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_pointer_with_a_whole_hash_is_read() {
        let oid = "ab12".repeat(16);
        let pointer = |oid: &str| format!("version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize 12345\n");
        assert_eq!(LfsPointer::read(pointer(&oid).as_bytes()), Some(LfsPointer { oid: oid.clone(), size: 12345 }));
        assert!(LfsPointer::read(pointer(&oid).replace('\n', "\r\n").as_bytes()).is_some());
        let long = pointer(&oid) + &"x".repeat(MAX_POINTER_BYTES);
        let no_size = pointer(&oid).replace("size", "sizes");
        for other in ["", &oid, &pointer(""), &pointer("../../x"), &pointer(&"../".repeat(22)[..64]), &long, &no_size] {
            assert_eq!(LfsPointer::read(other.as_bytes()), None, "{other}");
        }
    }
}
