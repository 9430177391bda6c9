//! Files in folders that others may write to, as a clone: no link is followed, and nothing of theirs is taken for ours.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use tempfile::NamedTempFile;

/// Opens the file at `path` as `options` say, and makes it where there is none.
///
/// # Errors
/// Those of the disk, and a sentence where a link, a pipe, or a file of somebody else has that name.
pub fn open(path: &Path, options: &OpenOptions) -> io::Result<File> {
    let mut options = options.clone();
    #[cfg(unix)]
    // A pipe that nobody reads would hold us up.
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NOFOLLOW | libc::O_NONBLOCK);
    match options.clone().create_new(true).open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        made => return made,
    }
    // Named outright: the system says of it that there are too many links.
    if std::fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) {
        return Err(io::Error::other("it is a link"));
    }
    let file = options.open(path)?;
    match objection(&file.metadata()?) {
        Some(why) => Err(io::Error::other(why)),
        None => Ok(file),
    }
}

/// Opens the file at `path` to read and write it, where it is one of ours; what else has its name makes room for a new one.
///
/// # Errors
/// Those of the disk.
pub fn open_or_replace(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    open(path, &options).or_else(|_| {
        // Only the name goes, never what a link leads to.
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => options.create_new(true).open(path),
        }
    })
}

/// A new file in the folder of `path`, under a name that nobody can know before; it is gone with its handle, unless it is
/// given the name `path`. Others may read it as the umask says.
///
/// # Errors
/// Those of the disk.
pub fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let mut prefix = std::ffi::OsString::from(".");
    prefix.push(path.file_name().unwrap_or_default());
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(".part");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder_of(path))
}

/// Writes all of a file, and gives it its name when it is whole. A pipe or a device is written to; nothing could take its
/// place.
///
/// # Errors
/// Those of the disk.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if is_place(path) {
        return OpenOptions::new().write(true).open(path)?.write_all(bytes);
    }
    let mut file = beside(path)?;
    file.write_all(bytes)?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// Whether a path, by a link or not, is that of a pipe, a device or a folder.
pub fn is_place(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| !found.is_file())
}

/// The folder that a path is in.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Why a file that was there is none that we made.
fn objection(found: &Metadata) -> Option<&'static str> {
    if !found.is_file() {
        return Some("it is no file");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        // SAFETY: it reads a number, and cannot fail.
        let us = unsafe { libc::geteuid() };
        if found.uid() != us {
            return Some("it belongs to another user");
        }
        if found.nlink() != 1 {
            return Some("it has another name, too");
        }
    }
    None
}
