//! Archives of a commit's tree, generated while they are read: only one blob is in memory at a time.

use super::{Git, lossy};
use crate::rejection::Rejection;
use bzip2::write::BzEncoder;
use flate2::write::GzEncoder;
use git2::{ObjectType, Oid, Tree};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use zip::write::{SimpleFileOptions, StreamWriter};
use zip::{CompressionMethod, DateTime, ZipWriter};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    Tar,
    TarGz,
    TarBz2,
    Zip,
}

impl Format {
    /// Parses a format or file extension of the API; `None` for any other.
    pub fn from_name(word: &str) -> Option<Format> {
        match word {
            "tar.gz" | "tgz" | "gz" => Some(Format::TarGz),
            "tar.bz2" | "tbz" | "tbz2" | "tb2" | "bz2" => Some(Format::TarBz2),
            "tar" => Some(Format::Tar),
            "zip" => Some(Format::Zip),
            _ => None,
        }
    }

    pub fn extension(self) -> &'static str {
        match self {
            Format::Tar => "tar",
            Format::TarGz => "tar.gz",
            Format::TarBz2 => "tar.bz2",
            Format::Zip => "zip",
        }
    }
}

/// A writer of archive entries, one after the other; paths are bytes, as in git.
trait Entries {
    fn folder(&mut self, path: &[u8]) -> io::Result<()>;
    fn file(&mut self, path: &[u8], bytes: &[u8], executable: bool) -> io::Result<()>;
    fn link(&mut self, path: &[u8], target: &[u8]) -> io::Result<()>;
}

struct Tar<W: Write> {
    builder: tar::Builder<W>,
    time: u64,
}

impl<W: Write> Tar<W> {
    fn new(out: W, time: u64) -> Tar<W> {
        Tar { builder: tar::Builder::new(out), time }
    }

    fn header(&self, kind: tar::EntryType, mode: u32, size: u64) -> tar::Header {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_mode(mode);
        header.set_size(size);
        header.set_mtime(self.time);
        header
    }
}

impl<W: Write> Entries for Tar<W> {
    fn folder(&mut self, path: &[u8]) -> io::Result<()> {
        let mut header = self.header(tar::EntryType::Directory, 0o775, 0);
        self.builder.append_data(&mut header, as_path(&[path, b"/"].concat()), io::empty())
    }

    fn file(&mut self, path: &[u8], bytes: &[u8], executable: bool) -> io::Result<()> {
        let mode = if executable { 0o775 } else { 0o664 };
        let mut header = self.header(tar::EntryType::Regular, mode, bytes.len() as u64);
        self.builder.append_data(&mut header, as_path(path), bytes)
    }

    fn link(&mut self, path: &[u8], target: &[u8]) -> io::Result<()> {
        let mut header = self.header(tar::EntryType::Symlink, 0o777, 0);
        self.builder.append_link(&mut header, as_path(path), as_path(target))
    }
}

struct Zip<W: Write> {
    writer: ZipWriter<StreamWriter<W>>,
    options: SimpleFileOptions,
}

impl<W: Write> Zip<W> {
    fn new(out: W, time: i64) -> Zip<W> {
        // Zip files can only represent dates from 1980 to 2107.
        let at = Timestamp::from_second(time).unwrap_or_default().to_zoned(TimeZone::UTC).datetime();
        let part = |n: i8| u8::try_from(n).unwrap_or_default();
        let date = DateTime::from_date_and_time(
            u16::try_from(at.year()).unwrap_or_default(),
            part(at.month()),
            part(at.day()),
            part(at.hour()),
            part(at.minute()),
            part(at.second()),
        );
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .last_modified_time(date.unwrap_or_default());
        Zip { writer: ZipWriter::new_stream(out), options }
    }
}

impl<W: Write> Entries for Zip<W> {
    fn folder(&mut self, path: &[u8]) -> io::Result<()> {
        Ok(self.writer.add_directory(lossy(path), self.options.unix_permissions(0o775))?)
    }

    fn file(&mut self, path: &[u8], bytes: &[u8], executable: bool) -> io::Result<()> {
        let mode = if executable { 0o775 } else { 0o664 };
        self.writer.start_file(lossy(path), self.options.unix_permissions(mode))?;
        self.writer.write_all(bytes)
    }

    fn link(&mut self, path: &[u8], target: &[u8]) -> io::Result<()> {
        Ok(self.writer.add_symlink(lossy(path), lossy(target), self.options)?)
    }
}

/// A writer that reports only the first error: `ZipWriter` tries to finish the archive when it is dropped, and would
/// print another error to the terminal.
struct FailOnce<W> {
    out: W,
    has_failed: bool,
}

impl<W: Write> Write for FailOnce<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.has_failed {
            return Ok(bytes.len());
        }
        let written = self.out.write(bytes);
        self.has_failed = written.is_err();
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.has_failed { Ok(()) } else { self.out.flush() }
    }
}

fn as_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

impl Git {
    /// Writes everything in a commit's tree into an archive, in a top-level folder named `prefix`.
    ///
    /// # Errors
    /// Fails if the writer does, such as when the reader has disconnected, or if a blob cannot be read.
    pub fn write_archive(&self, commit: Oid, prefix: &str, format: Format, out: &mut dyn Write) -> io::Result<()> {
        let (root, seconds) = self.raw_commit(commit, |raw| (raw.tree, raw.seconds())).map_err(io::Error::other)?;
        let broken = |rejection: Rejection| io::Error::other(rejection.body.to_string());
        let root = self.folder(root).map_err(broken)?;
        let time = u64::try_from(seconds).unwrap_or_default();
        let prefix = prefix.as_bytes();
        match format {
            Format::Tar => self.write_tar(&root, prefix, time, out).map(drop),
            Format::TarGz => {
                let packed = GzEncoder::new(out, flate2::Compression::default());
                self.write_tar(&root, prefix, time, packed)?.finish().map(drop)
            }
            Format::TarBz2 => {
                let packed = BzEncoder::new(out, bzip2::Compression::default());
                self.write_tar(&root, prefix, time, packed)?.finish().map(drop)
            }
            Format::Zip => {
                let mut out = FailOnce { out, has_failed: false };
                let mut zip = Zip::new(&mut out, seconds);
                self.write_folder(&root, prefix, &mut zip)?;
                zip.writer.finish().map_err(io::Error::other).map(drop)
            }
        }
    }

    fn write_tar<W: Write>(&self, root: &Tree<'_>, prefix: &[u8], time: u64, out: W) -> io::Result<W> {
        let mut tar = Tar::new(out, time);
        self.write_folder(root, prefix, &mut tar)?;
        tar.builder.into_inner()
    }

    fn write_folder(&self, root: &Tree<'_>, prefix: &[u8], out: &mut dyn Entries) -> io::Result<()> {
        let broken = |rejection: Rejection| io::Error::other(rejection.body.to_string());
        out.folder(prefix)?;
        let mut walk = self.walk(root, true).at_any_pace();
        while let Some((path, entry)) = walk.next().map_err(broken)? {
            let path = [prefix, b"/", &path].concat();
            match entry.kind() {
                Some(ObjectType::Blob) => {
                    let blob = self.read_blob(entry.id()).map_err(broken)?;
                    match entry.filemode() {
                        0o120000 => out.link(&path, blob.content())?,
                        mode => out.file(&path, blob.content(), mode == 0o100755)?,
                    }
                }
                // Only the name of a submodule is known; its content is in another repository.
                _ => out.folder(&path)?,
            }
        }
        // The reader sees that the archive ends too early.
        if walk.is_cut { Err(io::Error::other("the tree is too large or nested too deeply")) } else { Ok(()) }
    }
}
