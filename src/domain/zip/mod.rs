//! Reads a ZIP archive that may be available only in part: the central directory at its end, and single files.
//!
//! The `zip` crate, which the local server uses, needs the whole archive and keeps only one of several entries with the
//! same name. This module lists every entry as the archive declares it, with its anomaly if it has one.

use crate::parts::{Parts, Step};
use bytes::Bytes;
use flate2::Crc;
use flate2::read::DeflateDecoder;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::ops::Range;

/// The number of bytes at the end of an archive that are requested first: they contain the central directory of most
/// archives.
pub const TAIL_BYTES: u64 = 128 * 1024;
/// The maximum size of a central directory, in bytes; a larger one is rejected.
const MAX_DIRECTORY_BYTES: u64 = 128 * 1024 * 1024;
/// The maximum number of entries that are listed.
pub const MAX_ENTRIES: usize = 500_000;
/// The size of the end of central directory record (EOCD) without its comment, and its maximum size with one.
const EOCD_BYTES: usize = 22;
const MAX_EOCD_BYTES: u64 = EOCD_BYTES as u64 + 0xffff;
/// An entry that unpacks to more than this size, and to more than this ratio of its compressed size, counts as a zip bomb.
const ZIP_BOMB_SIZE: u64 = 64 * 1024 * 1024;
const ZIP_BOMB_RATIO: u64 = 200;
/// The number of bytes that are unpacked at a time when writing to a file.
const CHUNK_BYTES: usize = 64 * 1024;
const WRONG_CHECKSUM: &str = "the checksum of the file does not match";
/// The maximum number of levels of a path; a deeper entry is not put into folders.
const MAX_LEVELS: usize = 64;

/// The reason why an entry is listed but not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anomaly {
    /// The path leads out of the folder with `..`.
    PathTraversal,
    /// The path is absolute.
    Absolute,
    /// A name in the path is empty or `.`, or the path contains a null character.
    InvalidPath,
    /// The path has too many levels.
    TooDeep,
    /// The entry is a link.
    Link,
    /// The entry is encrypted.
    Encrypted,
    /// The entry uses an unsupported compression method, with this number.
    UnsupportedMethod(u16),
    /// The entry unpacks to far more than its compressed size.
    ZipBomb,
}

impl Anomaly {
    /// Returns a sentence that says what is wrong and what is done about it.
    pub fn message(self) -> String {
        match self {
            Anomaly::PathTraversal => "Its path leaves the archive's folder (..), so it is not opened.".into(),
            Anomaly::Absolute => "Its path is absolute, so it is not opened.".into(),
            Anomaly::InvalidPath => "Its name is not a valid file name, so it is not opened.".into(),
            Anomaly::TooDeep => "Its path has too many levels, so it is not opened.".into(),
            Anomaly::Link => "It is a link. Links in archives are not followed.".into(),
            Anomaly::Encrypted => "It is encrypted; labscope does not ask for passwords.".into(),
            Anomaly::UnsupportedMethod(number) => {
                format!("It uses compression method {number}, which labscope does not support.")
            }
            Anomaly::ZipBomb => {
                "It would unpack to hundreds of times its size, like a zip bomb, so it is not opened.".into()
            }
        }
    }

    /// Returns a short label for lists.
    pub fn label(self) -> &'static str {
        match self {
            Anomaly::PathTraversal => "unsafe path",
            Anomaly::Absolute => "absolute",
            Anomaly::InvalidPath => "bad name",
            Anomaly::TooDeep => "too deep",
            Anomaly::Link => "link",
            Anomaly::Encrypted => "encrypted",
            Anomaly::UnsupportedMethod(_) => "unsupported",
            Anomaly::ZipBomb => "zip bomb",
        }
    }

    /// Returns whether the anomaly is in the path: such entries are not put into folders.
    pub fn is_path_anomaly(self) -> bool {
        matches!(self, Anomaly::PathTraversal | Anomaly::Absolute | Anomaly::InvalidPath | Anomaly::TooDeep)
    }
}

/// An entry of the central directory.
#[derive(Clone, Debug, PartialEq)]
pub struct ZipEntry {
    /// The path, as written in the archive.
    pub path: String,
    /// The declared unpacked size, in bytes.
    pub uncompressed_size: u64,
    /// The declared packed size, in bytes.
    pub compressed_size: u64,
    /// The anomaly, if any.
    pub anomaly: Option<Anomaly>,
    /// Whether the entry is a folder.
    pub is_folder: bool,
    /// Whether the entry is executable, if the archive was created on a system that records it.
    pub is_executable: bool,
    method: u16,
    crc: u32,
    /// The offset of the entry in the archive.
    offset: u64,
    /// The length of the path in bytes.
    name_len: u64,
}

impl ZipEntry {
    /// Returns an entry that is stored as it is, at the beginning of an archive.
    pub fn stored(path: &str, size: u64) -> ZipEntry {
        ZipEntry {
            path: path.to_owned(),
            uncompressed_size: size,
            compressed_size: size,
            anomaly: path_anomaly(path),
            is_folder: path.ends_with('/'),
            is_executable: false,
            method: 0,
            crc: 0,
            offset: 0,
            name_len: 0,
        }
    }
}

/// The contents of a central directory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CentralDirectory {
    pub entries: Vec<ZipEntry>,
    /// The number of entries beyond the limit, which are not listed.
    pub omitted_count: u64,
    /// The reason why the list ends early, if it does.
    pub corruption: Option<&'static str>,
}

/// The reason why an archive or a file of it cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The file is not a ZIP archive.
    NotZip,
    /// The archive is damaged, for this reason.
    Corrupt(&'static str),
    /// The data would be this large, in bytes.
    TooLarge(u64),
    /// The entry has an anomaly.
    Anomaly(Anomaly),
    /// The disk failed, with this message.
    Disk(String),
}

impl Refusal {
    /// Returns the reason in a few words, in terms of the archive.
    pub fn why(&self) -> String {
        match self {
            Refusal::NotZip => "the file is not a ZIP archive".into(),
            Refusal::Corrupt(why) => format!("the archive is damaged: {why}"),
            Refusal::TooLarge(_) => "the directory of the archive is too large".into(),
            Refusal::Anomaly(anomaly) => anomaly.message(),
            Refusal::Disk(why) => why.clone(),
        }
    }
}

type Outcome<T> = Step<Result<T, Refusal>>;

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at + 2)?.try_into().ok().map(u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes)
}

/// Reads the bytes of `range`. If that is not possible, returns the outcome to return instead.
fn read_range<T>(parts: &Parts, range: Range<u64>) -> Result<Bytes, Outcome<T>> {
    match parts.read(range.clone()) {
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) if range.end <= parts.total() && !parts.is_whole() => Err(Step::Need(range)),
        Ok(None) => Err(corrupt("the archive refers to data beyond its end")),
        Err(error) => Err(Step::Done(Err(Refusal::Disk(error.to_string())))),
    }
}

fn corrupt<T>(why: &'static str) -> Outcome<T> {
    Step::Done(Err(Refusal::Corrupt(why)))
}

/// Reads the central directory of an archive.
pub fn list(parts: &Parts, canceled: &dyn Fn() -> bool) -> Outcome<CentralDirectory> {
    read_list(parts, canceled).unwrap_or_else(|step| step)
}

/// Like [`list`], but returns an early result as an `Err`, for the `?` operator.
fn read_list(
    parts: &Parts,
    canceled: &dyn Fn() -> bool,
) -> Result<Outcome<CentralDirectory>, Outcome<CentralDirectory>> {
    let not_zip = || Step::Done(Err(Refusal::NotZip));
    let total = parts.total();
    if total < EOCD_BYTES as u64 {
        return Err(not_zip());
    }
    let tail_offset = total.saturating_sub(MAX_EOCD_BYTES.max(TAIL_BYTES.min(total)));
    let tail = read_range(parts, tail_offset..total)?;
    let eocd_at = memchr::memmem::rfind_iter(&tail, b"PK\x05\x06").find(|at| {
        // The comment has to reach the end of the file, or else the signature is only part of other data.
        u16_at(&tail, at + 20).is_some_and(|comment| at + EOCD_BYTES + usize::from(comment) <= tail.len())
    });
    let eocd_at = eocd_at.ok_or_else(not_zip)?;
    let eocd_offset = tail_offset + eocd_at as u64;
    let eocd_u32 = |field: usize| u32_at(&tail, eocd_at + field).map(u64::from);
    let (Some(disk_numbers), Some(count), Some(size), Some(offset)) =
        (eocd_u32(4), u16_at(&tail, eocd_at + 10), eocd_u32(12), eocd_u32(16))
    else {
        return Err(not_zip());
    };
    let (mut count, mut size, mut offset, mut directory_end) = (u64::from(count), size, offset, eocd_offset);
    if count == 0xffff || size == 0xffff_ffff || offset == 0xffff_ffff {
        let locator = read_range(parts, eocd_offset.saturating_sub(20)..eocd_offset)?;
        if locator.starts_with(b"PK\x06\x07") {
            let zip64_eocd_offset = u64_at(&locator, 8).unwrap_or(0);
            let zip64_eocd = read_range(parts, zip64_eocd_offset..zip64_eocd_offset.saturating_add(56))?;
            let zip64_u64 = |field: usize| u64_at(&zip64_eocd, field).filter(|_| zip64_eocd.starts_with(b"PK\x06\x06"));
            let (Some(zip64_count), Some(zip64_size), Some(zip64_offset)) =
                (zip64_u64(32), zip64_u64(40), zip64_u64(48))
            else {
                return Err(corrupt("the end of the archive is damaged"));
            };
            (count, size, offset, directory_end) = (zip64_count, zip64_size, zip64_offset, zip64_eocd_offset);
        }
    } else if disk_numbers != 0 {
        return Err(corrupt("the archive is one of several volumes"));
    }
    if size > MAX_DIRECTORY_BYTES {
        return Err(Step::Done(Err(Refusal::TooLarge(size))));
    }
    // Data before the archive, as in a self-extracting one, shifts all offsets.
    let Some(prefix_len) = directory_end.checked_sub(size).and_then(|start| start.checked_sub(offset)) else {
        return Err(corrupt("the directory of the archive is inconsistent"));
    };
    let directory_bytes = read_range(parts, directory_end - size..directory_end)?;
    let mut list = CentralDirectory::default();
    let mut at = 0;
    for index in 0..count {
        if index % 4096 == 0 && canceled() {
            break;
        }
        if list.entries.len() >= MAX_ENTRIES {
            list.omitted_count = count - index;
            break;
        }
        let Some((entry, length)) = directory_bytes.get(at..).and_then(|rest| parse_entry(rest, prefix_len)) else {
            list.corruption = Some("the directory of the archive is truncated");
            break;
        };
        at += length;
        list.entries.push(entry);
    }
    Ok(Step::Done(Ok(list)))
}

/// Parses the entry of the central directory at the start of `bytes`. Also returns its length there. `prefix_len` is the
/// number of bytes before the archive in its file.
fn parse_entry(bytes: &[u8], prefix_len: u64) -> Option<(ZipEntry, usize)> {
    if !bytes.starts_with(b"PK\x01\x02") {
        return None;
    }
    let (made_by, flags, method) = (u16_at(bytes, 4)?, u16_at(bytes, 8)?, u16_at(bytes, 10)?);
    let (crc, mut compressed_size, mut uncompressed_size) =
        (u32_at(bytes, 16)?, u64::from(u32_at(bytes, 20)?), u64::from(u32_at(bytes, 24)?));
    let (name, extra, comment) = (u16_at(bytes, 28)?, u16_at(bytes, 30)?, u16_at(bytes, 32)?);
    let (attributes, mut offset) = (u32_at(bytes, 38)?, u64::from(u32_at(bytes, 42)?));
    let extra_at = 46 + usize::from(name);
    let raw = bytes.get(46..extra_at)?;
    let extra = bytes.get(extra_at..extra_at + usize::from(extra))?;
    // Numbers that are too large for their fields are in an extra field, only those, in this order.
    let mut zip64_extra = extra_field(extra, 1).unwrap_or_default();
    let mut widen_from_zip64 = |number: &mut u64| {
        if *number == 0xffff_ffff
            && let Some(value) = u64_at(zip64_extra, 0)
        {
            *number = value;
            zip64_extra = zip64_extra.get(8..).unwrap_or_default();
        }
    };
    widen_from_zip64(&mut uncompressed_size);
    widen_from_zip64(&mut compressed_size);
    widen_from_zip64(&mut offset);
    let path = String::from_utf8_lossy(raw).into_owned();
    // In archives created on Unix, the file mode is in the upper half.
    let mode = if made_by >> 8 == 3 { attributes >> 16 } else { 0 };
    let is_folder = path.ends_with('/') || mode & 0o170_000 == 0o040_000;
    let anomaly = path_anomaly(&path).or(match () {
        () if mode & 0o170_000 == 0o120_000 => Some(Anomaly::Link),
        () if is_folder => None,
        () if flags & 1 != 0 => Some(Anomaly::Encrypted),
        () if !matches!(method, 0 | 8) => Some(Anomaly::UnsupportedMethod(method)),
        () if is_zip_bomb(uncompressed_size, compressed_size) => Some(Anomaly::ZipBomb),
        () => None,
    });
    let entry = ZipEntry {
        path,
        uncompressed_size,
        compressed_size,
        anomaly,
        is_folder,
        is_executable: !is_folder && mode & 0o100 != 0,
        method,
        crc,
        // An entry with an invalid offset is listed too; reading it fails.
        offset: offset.saturating_add(prefix_len),
        name_len: raw.len() as u64,
    };
    Some((entry, extra_at + extra.len() + usize::from(comment)))
}

fn extra_field(mut extra: &[u8], wanted: u16) -> Option<&[u8]> {
    loop {
        let (id, length) = (u16_at(extra, 0)?, usize::from(u16_at(extra, 2)?));
        let body = extra.get(4..4 + length)?;
        if id == wanted {
            return Some(body);
        }
        extra = extra.get(4 + length..)?;
    }
}

/// Returns the anomaly of a path, if any. Some programs write backslashes between names.
fn path_anomaly(path: &str) -> Option<Anomaly> {
    let names = path.trim_end_matches('/').split(['/', '\\']);
    // Without a separator, the path is relative to a drive on Windows, and a name like any other elsewhere.
    let drive = match path.as_bytes() {
        [letter, b':', rest @ ..] => {
            letter.is_ascii_alphabetic() && (cfg!(windows) || matches!(rest.first(), Some(b'/' | b'\\')))
        }
        _ => false,
    };
    if path.starts_with(['/', '\\']) || drive {
        Some(Anomaly::Absolute)
    } else if names.clone().any(|name| name == "..") {
        Some(Anomaly::PathTraversal)
    } else if path.contains('\0') || names.clone().any(|name| matches!(name, "" | ".")) {
        Some(Anomaly::InvalidPath)
    } else {
        (names.count() > MAX_LEVELS).then_some(Anomaly::TooDeep)
    }
}

/// Returns the range of an archive that is enough to unpack an entry, in nearly every archive.
pub fn entry_range(entry: &ZipEntry, total: u64) -> Range<u64> {
    // The extra field before the data of an entry may be longer there than in the central directory.
    let header = 30 + entry.name_len + 4096;
    let start = entry.offset.min(total);
    start..start.saturating_add(header).saturating_add(entry.compressed_size).min(total)
}

/// Unpacks an entry of at most `max_bytes` bytes and checks it against the central directory. The content of a link is its
/// target.
pub fn extract_to_memory(parts: &Parts, entry: &ZipEntry, max_bytes: u64) -> Outcome<Bytes> {
    if let Some(anomaly) = entry.anomaly.filter(|anomaly| *anomaly != Anomaly::Link) {
        return Step::Done(Err(Refusal::Anomaly(anomaly)));
    }
    if entry.uncompressed_size > max_bytes {
        return Step::Done(Err(Refusal::TooLarge(entry.uncompressed_size)));
    }
    extract_checked(parts, entry).unwrap_or_else(|step| step)
}

/// Like [`extract_to_memory`], for an entry whose size and anomaly were checked. Returns an early result as an `Err`,
/// for the `?` operator.
fn extract_checked(parts: &Parts, entry: &ZipEntry) -> Result<Outcome<Bytes>, Outcome<Bytes>> {
    let all = entry_range(entry, parts.total());
    let header = all.start..all.start.saturating_add(30).min(parts.total());
    // If the header has to be requested, the whole entry is requested at once.
    let header = match read_range(parts, header) {
        Err(Step::Need(_)) => return Err(Step::Need(all)),
        other => other?,
    };
    let (Some(name), Some(extra)) = (u16_at(&header, 26), u16_at(&header, 28)) else {
        return Err(corrupt("the archive ends inside the file"));
    };
    if !header.starts_with(b"PK\x03\x04") {
        return Err(corrupt("the archive has no file at the offset in its directory"));
    }
    let start = all.start + 30 + u64::from(name) + u64::from(extra);
    let packed = read_range(parts, start..start.saturating_add(entry.compressed_size))?;
    let mut bytes = Vec::new();
    if entry.method == 0 {
        bytes.extend_from_slice(&packed);
    } else {
        // Reading one byte more than declared detects a declared size that is too small.
        let unpacked =
            DeflateDecoder::new(&packed[..]).take(entry.uncompressed_size.saturating_add(1)).read_to_end(&mut bytes);
        if unpacked.is_err() {
            return Err(corrupt("the compressed data of the file is invalid"));
        }
    }
    if bytes.len() as u64 > entry.uncompressed_size {
        return Err(corrupt("the file unpacks to more than the archive declares"));
    }
    let mut crc = Crc::new();
    crc.update(&bytes);
    if (bytes.len() as u64) < entry.uncompressed_size || crc.sum() != entry.crc {
        return Err(corrupt(WRONG_CHECKSUM));
    }
    Ok(Step::Done(Ok(bytes.into())))
}

/// The reason why extracting an entry failed.
#[derive(Debug)]
pub enum ExtractError {
    /// The entry is damaged, or not written to disk, for this reason.
    BadEntry(&'static str),
    /// The disk failed.
    Disk(std::io::Error),
    /// The operation was canceled.
    Canceled,
}

/// Unpacks an entry of any size from an archive on disk to `out`. The number of bytes of each chunk is passed to
/// `on_progress`, which returns whether to continue.
pub fn extract_to_writer(
    mut archive: &File,
    entry: &ZipEntry,
    out: &mut dyn Write,
    on_progress: &mut dyn FnMut(u64) -> bool,
) -> Result<(), ExtractError> {
    let length = archive.metadata().map_err(ExtractError::Disk)?.len();
    if !fits(entry, length) {
        return Err(ExtractError::BadEntry("the file lies outside the archive"));
    }
    let mut header = [0; 30];
    archive.seek(SeekFrom::Start(entry.offset)).map_err(ExtractError::Disk)?;
    archive.read_exact(&mut header).map_err(|_| ExtractError::BadEntry("the archive ends inside the file"))?;
    let (Some(name), Some(extra)) = (u16_at(&header, 26), u16_at(&header, 28)) else {
        return Err(ExtractError::BadEntry("the archive ends inside the file"));
    };
    if !header.starts_with(b"PK\x03\x04") {
        return Err(ExtractError::BadEntry("the archive has no file at the offset in its directory"));
    }
    archive.seek(SeekFrom::Current(i64::from(name) + i64::from(extra))).map_err(ExtractError::Disk)?;
    let packed = BufReader::new(archive.take(entry.compressed_size));
    // Reading one byte more than declared detects a declared size that is too small.
    let mut bytes: Box<dyn Read> = match entry.method {
        0 => Box::new(packed.take(entry.uncompressed_size.saturating_add(1))),
        _ => Box::new(DeflateDecoder::new(packed).take(entry.uncompressed_size.saturating_add(1))),
    };
    let (mut crc, mut done, mut chunk) = (Crc::new(), 0, vec![0; CHUNK_BYTES]);
    loop {
        let read =
            bytes.read(&mut chunk).map_err(|_| ExtractError::BadEntry("the compressed data of the file is invalid"))?;
        let Some(new) = chunk.get(..read).filter(|new| !new.is_empty()) else { break };
        done += new.len() as u64;
        if done > entry.uncompressed_size {
            return Err(ExtractError::BadEntry("the file unpacks to more than the archive declares"));
        }
        crc.update(new);
        out.write_all(new).map_err(ExtractError::Disk)?;
        if !on_progress(new.len() as u64) {
            return Err(ExtractError::Canceled);
        }
    }
    if done < entry.uncompressed_size || crc.sum() != entry.crc {
        return Err(ExtractError::BadEntry(WRONG_CHECKSUM));
    }
    Ok(())
}

/// Returns whether the declared data of an entry lies within an archive of `length` bytes.
pub fn fits(entry: &ZipEntry, length: u64) -> bool {
    entry.offset.checked_add(entry.compressed_size).is_some_and(|end| end <= length)
}

/// Returns whether these sizes, in bytes, are only plausible for a zip bomb.
pub fn is_zip_bomb(uncompressed_size: u64, compressed_size: u64) -> bool {
    uncompressed_size > ZIP_BOMB_SIZE && uncompressed_size / compressed_size.max(1) > ZIP_BOMB_RATIO
}

#[cfg(test)]
mod tests;
