//! A local image that is sent with a form: checked in the background before anything is sent.

use crate::local_paths;
use api::local_file::{self, Unreadable};
use store::{Canceled, Derive, Want, Work};

/// The maximum size of an image that servers accept, in bytes.
const MAX_FILE_BYTES: u64 = 200 << 10;
/// The first bytes of the image formats that servers accept.
const IMAGE_SIGNATURES: [&[u8]; 7] =
    [b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF8", b"BM", b"II*\0", b"MM\0*", b"\0\0\x01\0"];

/// A check of a file: its path, and the number of the check.
struct FileCheck(String, u32);

/// Returns the key of the result of a check: `Ok`, or the reason why the file cannot be sent. Another check may find
/// another file.
pub fn key(typed: &str, number: u32) -> String {
    format!("picture {typed} of this machine\t{number}")
}

/// Returns the want that checks the file.
pub fn check(typed: &str, number: u32) -> Want {
    Work::new(FileCheck(typed.to_owned(), number)).into()
}

impl Derive for FileCheck {
    type Output = Result<(), String>;

    fn key(&self) -> String {
        key(&self.0, self.1)
    }

    fn run(&self, _: Canceled<'_>) -> Result<(), String> {
        let path = local_paths::path(&self.0);
        let bytes = local_file::read_named(&path, MAX_FILE_BYTES).map_err(|why| match why {
            Unreadable::Failed(error) => format!("cannot be read: {error}"),
            Unreadable::NotAFile => "is not a file".into(),
            Unreadable::TooLarge(_) => format!("is too large: at most {} KB", MAX_FILE_BYTES >> 10),
        })?;
        let fits = IMAGE_SIGNATURES.iter().any(|kind| bytes.starts_with(kind));
        if fits { Ok(()) } else { Err("is not a supported image: PNG, JPEG, GIF, BMP, TIFF or ICO".into()) }
    }
}
