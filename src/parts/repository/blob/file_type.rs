//! Detects the type of a binary file from its first bytes.

/// The magic bytes of each file type, and its name.
const KINDS: &[(&[u8], &str)] = &[
    (b"\xff\xd8\xff", "JPEG image"),
    (b"GIF8", "GIF image"),
    (b"BM", "BMP image"),
    (b"\0\0\x01\0", "icon"),
    (b"%PDF", "PDF"),
    (b"PK\x03\x04", "ZIP archive"),
    (b"\x1f\x8b", "gzip"),
    (b"\xfd7zXZ", "xz"),
    (b"\x28\xb5\x2f\xfd", "Zstandard"),
    (b"BZh", "bzip2"),
    (b"7z\xbc\xaf", "7-Zip archive"),
    (b"\x7fELF", "ELF binary"),
    (b"MZ", "Windows binary"),
    (b"\xca\xfe\xba\xbe", "Java class"),
    (b"\0asm", "WebAssembly"),
    (b"SQLite format 3", "SQLite database"),
    (b"OggS", "Ogg media"),
    (b"ID3", "MP3 audio"),
    (b"wOFF", "web font"),
    (b"wOF2", "web font"),
];

/// Returns the name of the type of `bytes`, with the dimensions of a PNG image.
pub fn kind(bytes: &[u8]) -> String {
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        let side = |at: usize| bytes.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes);
        return match (side(16), side(20)) {
            (Some(width), Some(height)) => format!("PNG image {width}×{height}"),
            _ => "PNG image".into(),
        };
    }
    KINDS.iter().find(|(start, _)| bytes.starts_with(start)).map_or("binary", |(_, name)| name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_and_archives_are_recognized() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x40\0\0\0\x20";
        assert_eq!(kind(png), "PNG image 64×32");
        assert_eq!(kind(b"\x89PNG\r\n\x1a\n"), "PNG image");
        assert_eq!(kind(b"PK\x03\x04rest"), "ZIP archive");
        assert_eq!(kind(b""), "binary");
    }
}
