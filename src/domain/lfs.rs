//! Pointers of Git LFS: what a repository has in place of a large file.

/// Bytes of the largest pointer.
const LARGEST: usize = 1024;

/// What stands for a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pointer {
    /// The SHA-256 of the file: 64 hexadecimal digits.
    pub oid: String,
    /// Bytes of the file.
    pub size: u64,
}

impl Pointer {
    /// Reads a pointer; `None` of any other text.
    pub fn read(text: &str) -> Option<Pointer> {
        let mut lines = text.lines().map(str::trim_end);
        let first = lines.next().filter(|_| text.len() <= LARGEST)?;
        first.strip_prefix("version https://git-lfs.github.com/spec/")?;
        let value = |name: &str| lines.clone().find_map(|line| line.strip_prefix(name));
        let oid = value("oid sha256:")?;
        let is_hash = oid.len() == 64 && oid.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hash.then_some(Pointer { oid: oid.to_owned(), size: value("size ")?.parse().ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_pointer_with_a_whole_hash_is_read() {
        let oid = "ab12".repeat(16);
        let pointer = |oid: &str| format!("version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize 12345\n");
        assert_eq!(Pointer::read(&pointer(&oid)), Some(Pointer { oid: oid.clone(), size: 12345 }));
        assert!(Pointer::read(&pointer(&oid).replace('\n', "\r\n")).is_some());
        let long = pointer(&oid) + &"x".repeat(LARGEST);
        let no_size = pointer(&oid).replace("size", "sizes");
        for other in ["", &oid, &pointer(""), &pointer("../../x"), &pointer(&"../".repeat(22)[..64]), &long, &no_size] {
            assert_eq!(Pointer::read(other), None, "{other}");
        }
    }
}
