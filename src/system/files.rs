//! Safe access to files in folders that other users may write to: symbolic links are not followed, and files of other
//! users are refused.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;
use tempfile::NamedTempFile;

/// The maximum size of a file with settings, in bytes.
pub const MAX_SETTINGS: u64 = 4 << 20;

/// Opens a regular file for reading. Never waits, whatever is at the path.
///
/// # Errors
/// Returns I/O errors, and an error if the path is a pipe, a device or a folder.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let file = open_without_waiting(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is not a regular file")) }
}

/// The reason why a file is not read.
#[derive(Debug)]
pub enum Unreadable {
    Failed(io::Error),
    /// A folder, a pipe or a device.
    NotAFile,
    /// More bytes than the limit: this many, as far as they were read.
    TooLarge(u64),
}

/// Reads a file that the user named. Never waits, whatever is at the path, and reads no more than the limit, even if the
/// file grows.
///
/// # Errors
/// Returns I/O errors, and an error if the path is not a regular file, or the file is larger than `limit` bytes.
pub fn read_named(path: &Path, limit: u64) -> Result<Vec<u8>, Unreadable> {
    let file = open_without_waiting(path).map_err(Unreadable::Failed)?;
    let about = file.metadata().map_err(Unreadable::Failed)?;
    if !about.is_file() {
        return Err(Unreadable::NotAFile);
    }
    let mut bytes = Vec::new();
    if about.len() <= limit {
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(Unreadable::Failed)?;
    }
    match about.len().max(bytes.len() as u64) {
        length if length > limit => Err(Unreadable::TooLarge(length)),
        _ => Ok(bytes),
    }
}

fn open_without_waiting(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    // Opening a pipe without a writer would block.
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK | libc::O_NOCTTY);
    options.open(path)
}

/// Reads a regular file of at most `limit` bytes. All files that somebody else may have prepared are read here.
///
/// # Errors
/// Returns I/O errors, and an error if the path is not a regular file or larger.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read_bounded(open_regular(path)?, limit)
}

/// Reads a text file like [`read`].
///
/// # Errors
/// Returns an error like [`read`], and also if the file is not UTF-8.
pub fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    to_text(read(path, limit)?)
}

/// Reads a text that the user named on the command line: a file like [`read_text`], or a pipe that is being written, such
/// as that of `<(command)`.
///
/// # Errors
/// Returns an error like [`read_text`]. A pipe that nobody writes to is empty.
pub fn read_argument(path: &Path, limit: u64) -> io::Result<String> {
    let file = open_without_waiting(path)?;
    #[cfg(unix)]
    {
        use std::os::fd::AsRawFd;
        use std::os::unix::fs::FileTypeExt;
        if file.metadata()?.file_type().is_fifo() {
            let mut state = libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLIN, revents: 0 };
            let mut bytes = Vec::new();
            let mut chunk = [0; 4096];
            loop {
                match (&file).read(&mut chunk) {
                    Ok(0) => return to_text(bytes),
                    Ok(count) => bytes.extend_from_slice(chunk.get(..count).unwrap_or_default()),
                    // SAFETY: `state` is one valid entry. A writer has the pipe open, so this ends when it is done.
                    Err(error) if error.kind() == ErrorKind::WouldBlock => _ = unsafe { libc::poll(&mut state, 1, -1) },
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
                if bytes.len() as u64 > limit {
                    return Err(too_large(limit));
                }
            }
        }
    }
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    to_text(read_bounded(file, limit)?)
}

fn read_bounded(file: File, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if file.metadata()?.len() > limit {
        return Err(too_large(limit));
    }
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(too_large(limit)) } else { Ok(bytes) }
}

fn too_large(limit: u64) -> io::Error {
    io::Error::new(ErrorKind::FileTooLarge, format!("it is larger than {}", size(limit)))
}

fn to_text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is not UTF-8 text"))
}

/// Formats a limit: `64 KB`, `8 MB`.
pub fn size(limit: u64) -> String {
    if limit < 1 << 20 { format!("{} KB", limit >> 10) } else { format!("{} MB", limit >> 20) }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn only_regular_files_of_a_bounded_size_are_read_and_nothing_is_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("text"), "four").expect("written");
        std::os::unix::fs::symlink(at("text"), at("link")).expect("linked");
        let pipe = std::ffi::CString::new(at("pipe").as_os_str().as_encoded_bytes()).expect("a path");
        // SAFETY: the path is a valid C string.
        assert_eq!(unsafe { libc::mkfifo(pipe.as_ptr(), 0o600) }, 0);
        assert_eq!(read_text(&at("text"), 4).expect("it is small enough"), "four");
        assert_eq!(read(&at("link"), 4).expect("links are followed"), b"four");
        assert_eq!(read(&at("text"), 3).expect_err("it is larger").kind(), ErrorKind::FileTooLarge);
        for path in [at("pipe"), "/dev/zero".into(), folder.path().to_owned()] {
            let error = read(&path, 4).expect_err("it is no file");
            assert_eq!(error.to_string(), "it is not a regular file", "{}", path.display());
        }
        assert_eq!(read_argument(&at("pipe"), 4).expect("nobody writes to it"), "");
        assert!(read_argument(Path::new("/dev/zero"), 4).is_err());
        assert_eq!(read(&at("none"), 4).expect_err("it is not there").kind(), ErrorKind::NotFound);
    }
}
