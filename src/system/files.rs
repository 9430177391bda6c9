//! Safe access to files in folders that other users may write to: symbolic links are not followed, and files of other
//! users are refused.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use tempfile::NamedTempFile;

/// Opens the file at `path` with `options`, and creates it if it does not exist.
///
/// # Errors
/// Returns I/O errors, and an error if the path is a symbolic link, a pipe, a file of another user, or a file with
/// several hard links.
pub fn open(path: &Path, options: &OpenOptions) -> io::Result<File> {
    let mut options = options.clone();
    #[cfg(unix)]
    // Opening a pipe without a reader would block.
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NOFOLLOW | libc::O_NONBLOCK);
    match options.clone().create_new(true).open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        created => return created,
    }
    // Checked first, because the system's own message would be "too many levels of symbolic links".
    if std::fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) {
        return Err(io::Error::other("it is a symbolic link"));
    }
    let file = options.open(path)?;
    match refusal(&file.metadata()?) {
        Some(why) => Err(io::Error::other(why)),
        None => Ok(file),
    }
}

/// Opens the file at `path` for reading and writing if it belongs to this user; otherwise replaces it by a new file.
///
/// # Errors
/// Returns I/O errors.
pub fn open_or_replace(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    open(path, &options).or_else(|_| {
        // This removes a symbolic link itself, never its target.
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => options.create_new(true).open(path),
        }
    })
}

/// Creates a temporary file with an unpredictable name in the folder of `path`. It is deleted when its handle is
/// dropped, unless it was persisted to `path`. The umask decides who else may read it.
///
/// # Errors
/// Returns I/O errors.
pub fn temporary_for(path: &Path) -> io::Result<NamedTempFile> {
    let mut prefix = std::ffi::OsString::from(".");
    prefix.push(path.file_name().unwrap_or_default());
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(".part");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder_of(path))
}

/// Writes a file atomically: the complete file is renamed to `path`. Pipes and devices are written to directly.
///
/// # Errors
/// Returns I/O errors.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if is_special(path) {
        return OpenOptions::new().write(true).open(path)?.write_all(bytes);
    }
    let mut file = temporary_for(path)?;
    file.write_all(bytes)?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// Returns whether the path, after following symbolic links, is a pipe, a device or a folder.
pub fn is_special(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| !found.is_file())
}

/// Returns the folder that contains the path.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns the reason why labscope cannot have created an existing file, or `None` if it can.
fn refusal(found: &Metadata) -> Option<&'static str> {
    if !found.is_file() {
        return Some("it is not a regular file");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        // SAFETY: geteuid takes no arguments and always succeeds.
        let user = unsafe { libc::geteuid() };
        if found.uid() != user {
            return Some("it belongs to another user");
        }
        if found.nlink() != 1 {
            return Some("it has other hard links");
        }
    }
    None
}
