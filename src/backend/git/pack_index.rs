//! Checks the indexes of pack files before libgit2 uses them. libgit2 maps a pack and reads at the offset that an index
//! names without comparing it with the size of the pack, so a wrong offset would end the process. It also follows deltas
//! that lead in circles without end.

use super::loose;
use super::refs::FileFingerprint;
use crate::rejection::Rejection;
use git2::Oid;
use std::cmp::Ordering;
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The maximum number of object folders: that of a repository and its alternates.
const MAX_FOLDERS: usize = 64;
/// The nesting depth of alternates, as in git and libgit2.
const MAX_DEPTH: usize = 5;
/// The maximum size in bytes of a list of alternates.
const MAX_LIST_BYTES: u64 = 1 << 20;
/// The length of the checksum at the end of a pack, in which no object can begin.
const CHECKSUM: u64 = 20;
/// The name of the index of several packs.
const MULTIPLE: &str = "multi-pack-index";
/// The maximum number of packs of a repository whose files stay open.
const MAX_OPEN: usize = 32;
/// The bit of an offset that marks it as a position in the table of large offsets.
const LARGE: u32 = 0x8000_0000;

/// The maximum number of repositories whose packs are remembered.
const MAX_REMEMBERED: usize = 4;

/// The maximum length of a chain of deltas; git itself writes at most 4,095.
const MAX_CHAIN: usize = 10_000;
/// The types of packed objects that are deltas: of the object at a distance, and of the object with a hash.
const OFFSET_DELTA: u8 = 6;
const HASH_DELTA: u8 = 7;

/// The state of the indexes and of their packs, by path.
type State = Vec<(PathBuf, Option<FileFingerprint>)>;

/// The packs that were found to be right, and the state of the files then; the most recently checked are last.
static CHECKED: Mutex<Vec<(State, Arc<Packs>)>> = Mutex::new(Vec::new());

/// Returns an object folder and those of its alternates. Paths that are not absolute and do not begin with `.` are
/// relative to the folder, too, as in git.
///
/// # Errors
/// Fails if a list of alternates is not a regular file, is too long, or names too many folders.
pub fn object_folders(objects: &Path) -> Result<Vec<PathBuf>, Rejection> {
    let mut folders = vec![(objects.to_owned(), 0)];
    let mut at = 0;
    while let Some((folder, depth)) = folders.get(at).cloned() {
        at += 1;
        let list = folder.join("info/alternates");
        let text = match read_small(&list) {
            Ok(text) => text,
            Err(why) if why.kind() == io::ErrorKind::NotFound => continue,
            Err(why) => return Err(Rejection::damaged(format!("{}: {why}", list.display()))),
        };
        for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty() && !line.starts_with(b"#")) {
            let Ok(line) = std::str::from_utf8(line) else { continue };
            let next = folder.join(line);
            // Circles end here, too.
            if depth < MAX_DEPTH && !folders.iter().any(|(known, _)| is_same(known, &next)) {
                folders.push((next, depth + 1));
            }
            if folders.len() > MAX_FOLDERS {
                return Err(Rejection::damaged(format!("{}: too many alternates", list.display())));
            }
        }
    }
    Ok(folders.into_iter().map(|(folder, _)| folder).collect())
}

fn is_same(one: &Path, other: &Path) -> bool {
    one == other || one.canonicalize().ok().is_some_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

/// Reads a small regular file.
pub(super) fn read_small(path: &Path) -> io::Result<Vec<u8>> {
    let found = fs::metadata(path)?;
    if !found.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_LIST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_LIST_BYTES { Err(io::Error::other("too large")) } else { Ok(bytes) }
}

/// Checks all indexes of an object folder and of its alternates, and returns the packs. The indexes are read again only
/// when a file has changed.
///
/// # Errors
/// Fails with [`Rejection::damaged`] if an index names an offset that is not in its pack.
pub(super) fn check(objects: &Path) -> Result<Arc<Packs>, Rejection> {
    let mut files = Vec::new();
    for folder in object_folders(objects)? {
        loose::check(&folder)?;
        let Ok(entries) = fs::read_dir(folder.join("pack")) else { continue };
        let ends = |path: &PathBuf| path.extension().is_some_and(|end| end == "idx" || end == "pack");
        let is_multiple = |path: &PathBuf| path.file_name().is_some_and(|name| name == MULTIPLE);
        files.extend(entries.flatten().map(|entry| entry.path()).filter(|path| ends(path) || is_multiple(path)));
    }
    files.sort_unstable();
    let fingerprint = |path: &PathBuf| FileFingerprint::of(&fs::metadata(path).ok()?).ok();
    let state: State = files.into_iter().map(|path| (path.clone(), fingerprint(&path))).collect();
    let checked = || CHECKED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, packs)) = checked().iter().find(|(known, _)| *known == state) {
        return Ok(packs.clone());
    }
    let mut packs = Vec::new();
    for (path, _) in &state {
        // libgit2 refuses an index that cannot be read or has another structure.
        let found = match path.extension() {
            Some(end) if end == "pack" => continue,
            Some(_) => check_index(path),
            None => check_multiple(path),
        };
        if !found.unwrap_or(true) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            return Err(Rejection::damaged(format!("{name} names an offset that is not in its pack")));
        }
        if path.extension().is_some() {
            packs.extend(Pack::open(path, packs.len() < MAX_OPEN).ok());
        }
    }
    let packs = Arc::new(Packs(packs));
    let mut all = checked();
    if all.len() >= MAX_REMEMBERED {
        all.remove(0);
    }
    all.push((state, packs.clone()));
    Ok(packs)
}

/// An index file and the sizes of its packs in bytes; `None` for a pack that does not exist.
struct Opened {
    file: File,
    packs: Vec<Option<u64>>,
}

impl Opened {
    fn new(file: File, packs: impl IntoIterator<Item = PathBuf>) -> Opened {
        Opened { file, packs: packs.into_iter().map(|pack| Some(fs::metadata(pack).ok()?.len())).collect() }
    }
}

/// Opens a regular file: opening a pipe would wait for a writer.
fn open_regular(path: &Path) -> io::Result<File> {
    if fs::metadata(path)?.is_file() { File::open(path) } else { Err(io::Error::other("not a regular file")) }
}

/// Returns whether the offsets of an index are right.
fn check_index(path: &Path) -> io::Result<bool> {
    let index = Opened::new(open_regular(path)?, [path.with_extension("pack")]);
    Index::of_pack(&index)?.check(&index)
}

/// Returns whether the offsets of an index of several packs, which names them, are right.
fn check_multiple(path: &Path) -> io::Result<bool> {
    let file = open_regular(path)?;
    let index = Multiple::read(&file)?;
    let packs = index.names.iter().map(|name| path.with_file_name(name).with_extension("pack"));
    index.check(&Opened::new(file, packs))
}

/// Where an index of one pack has its offsets.
struct Index {
    /// The number of objects.
    count: u64,
    /// The position of the first offset, and the distance from each to the next.
    first: u64,
    step: usize,
    /// The position of the large offsets; `None` in version 1, which has none.
    large: Option<u64>,
}

impl Index {
    /// Reads the head of an index.
    fn of_pack(index: &Opened) -> io::Result<Index> {
        let mut head = [0; 8];
        index.file.read_exact_at(&mut head, 0)?;
        let is_first_version = !head.starts_with(b"\xfftOc");
        let fanout = if is_first_version { 0 } else { 8 };
        let count = u64::from(number_at(&index.file, fanout + 255 * 4)?);
        let after = fanout + 256 * 4;
        Ok(match is_first_version {
            true => Index { count, first: after, step: 24, large: None },
            // Hashes and checksums of all objects precede the offsets.
            false => Index { count, first: after + count * 24, step: 4, large: Some(after + count * 28) },
        })
    }

    /// Returns whether all offsets are in the pack.
    fn check(&self, index: &Opened) -> io::Result<bool> {
        let Some(Some(size)) = index.packs.first().copied() else { return Ok(true) };
        for_each_record(&index.file, self.first, self.count, self.step, &mut |record| {
            let offset = number(record, 0);
            match self.large.filter(|_| offset & LARGE != 0) {
                Some(large) => large_offset(&index.file, large, offset).is_some_and(|offset| is_in_pack(offset, size)),
                None => is_in_pack(offset.into(), size),
            }
        })
    }
}

/// An index of several packs.
struct Multiple {
    names: Vec<String>,
    /// The positions of the chunks with the offsets and with the large offsets, and the number of objects.
    offsets: u64,
    large: Option<u64>,
    count: u64,
}

impl Multiple {
    fn read(file: &File) -> io::Result<Multiple> {
        let odd = || io::Error::other("not a multi-pack-index");
        let mut head = [0; 12];
        file.read_exact_at(&mut head, 0)?;
        let mut table = vec![0; (usize::from(head[6]) + 1) * 12];
        file.read_exact_at(&mut table, 12)?;
        let chunk = |name: &[u8]| {
            let mut entries = table.chunks_exact(12);
            let position = |entry: &[u8]| (u64::from(number(entry, 4)) << 32) | u64::from(number(entry, 8));
            let start = entries.find(|entry| entry.starts_with(name)).map(position)?;
            Some((start, position(entries.next()?).checked_sub(start)?))
        };
        let (names_at, names_length) =
            chunk(b"PNAM").filter(|(_, length)| *length <= MAX_LIST_BYTES).ok_or_else(odd)?;
        let mut names = vec![0; usize::try_from(names_length).unwrap_or_default()];
        file.read_exact_at(&mut names, names_at)?;
        let names = names.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        let (offsets, length) = chunk(b"OOFF").ok_or_else(odd)?;
        Ok(Multiple {
            names: names.map(|name| String::from_utf8_lossy(name).into_owned()).collect(),
            offsets,
            large: chunk(b"LOFF").map(|(start, _)| start),
            count: length / 8,
        })
    }

    /// Returns whether all offsets are in their packs.
    fn check(&self, index: &Opened) -> io::Result<bool> {
        for_each_record(&index.file, self.offsets, self.count, 8, &mut |record| {
            let (pack, offset) = (number(record, 0) as usize, number(record, 4));
            // libgit2 does not use a multi-pack-index with a missing pack.
            let Some(Some(size)) = index.packs.get(pack).copied() else { return true };
            match self.large.filter(|_| offset & LARGE != 0) {
                Some(large) => large_offset(&index.file, large, offset).is_some_and(|offset| is_in_pack(offset, size)),
                None => is_in_pack(offset.into(), size),
            }
        })
    }
}

/// Returns whether an object can begin at an offset of a pack of that size.
fn is_in_pack(offset: u64, size: u64) -> bool {
    offset.checked_add(CHECKSUM).is_some_and(|end| end < size)
}

/// Returns an offset from the table of large ones.
fn large_offset(index: &File, table: u64, offset: u32) -> Option<u64> {
    let mut bytes = [0; 8];
    index.read_exact_at(&mut bytes, table.checked_add(u64::from(offset & !LARGE) * 8)?).ok()?;
    Some(u64::from_be_bytes(bytes))
}

fn number(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |bytes| u32::from_be_bytes(*bytes))
}

fn number_at(file: &File, at: u64) -> io::Result<u32> {
    let mut bytes = [0; 4];
    file.read_exact_at(&mut bytes, at)?;
    Ok(u32::from_be_bytes(bytes))
}

/// Calls `is_right` with each record of a table, and returns whether it holds for all.
fn for_each_record(
    mut file: &File,
    first: u64,
    count: u64,
    size: usize,
    is_right: &mut dyn FnMut(&[u8]) -> bool,
) -> io::Result<bool> {
    file.seek(SeekFrom::Start(first))?;
    let mut rest = BufReader::with_capacity(1 << 18, file);
    let mut record = [0; 24];
    let record = record.get_mut(..size).unwrap_or_default();
    for _ in 0..count {
        rest.read_exact(record)?;
        if !is_right(record) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The packs of a repository, to find deltas that lead in circles: libgit2 follows them without end.
#[derive(Debug)]
pub(super) struct Packs(Vec<Pack>);

#[derive(Debug)]
struct Pack {
    /// The path of the index.
    path: PathBuf,
    /// The index and the pack, if they stay open.
    files: Option<(Arc<File>, Arc<File>)>,
    /// The table of the number of objects by the first byte of their hashes.
    fanout: Vec<u8>,
    /// The position of the first hash and the distance from each to the next, and the same for offsets.
    hashes: (u64, u64),
    offsets: (u64, u64),
    large: Option<u64>,
}

impl Packs {
    /// Returns whether an object is a delta whose chain does not end.
    pub fn is_endless(&self, id: Oid) -> bool {
        self.0.iter().any(|pack| pack.is_endless(id.as_bytes()).unwrap_or(false))
    }
}

impl Pack {
    fn open(path: &Path, stays_open: bool) -> io::Result<Pack> {
        let (index, pack) = (open_regular(path)?, open_regular(&path.with_extension("pack"))?);
        let mut head = [0; 8];
        index.read_exact_at(&mut head, 0)?;
        let is_first_version = !head.starts_with(b"\xfftOc");
        let start: u64 = if is_first_version { 0 } else { 8 };
        let mut fanout = vec![0; 1024];
        index.read_exact_at(&mut fanout, start)?;
        let (count, after) = (u64::from(number(&fanout, 1020)), start + 1024);
        let (hashes, offsets, large) = match is_first_version {
            true => ((after + 4, 24), (after, 24), None),
            false => ((after, 20), (after + count * 24, 4), Some(after + count * 28)),
        };
        let files = stays_open.then(|| (Arc::new(index), Arc::new(pack)));
        Ok(Pack { path: path.to_owned(), files, fanout, hashes, offsets, large })
    }

    /// Returns whether an object of this pack is a delta whose chain does not end; `None` if it is not here, or damaged.
    fn is_endless(&self, id: &[u8]) -> Option<bool> {
        let (low, high) = self.range(id)?;
        if low >= high {
            return None;
        }
        let (index, pack) = match &self.files {
            Some(files) => files.clone(),
            None => (
                Arc::new(open_regular(&self.path).ok()?),
                Arc::new(open_regular(&self.path.with_extension("pack")).ok()?),
            ),
        };
        let mut offset = self.find(&index, id)?;
        for _ in 0..MAX_CHAIN {
            offset = self.base(&index, &pack, offset)?;
        }
        Some(true)
    }

    /// Returns the places of the objects whose hashes begin with the same byte.
    fn range(&self, id: &[u8]) -> Option<(u64, u64)> {
        let first = usize::from(*id.first()?);
        let low = first.checked_sub(1).map_or(0, |before| u64::from(number(&self.fanout, before * 4)));
        Some((low, u64::from(number(&self.fanout, first * 4))))
    }

    /// Returns the offset of an object.
    fn find(&self, index: &File, id: &[u8]) -> Option<u64> {
        let (mut low, mut high) = self.range(id)?;
        let mut found = [0; 20];
        while low < high {
            let middle = low + (high - low) / 2;
            index.read_exact_at(&mut found, self.hashes.0 + middle * self.hashes.1).ok()?;
            match found.as_slice().cmp(id) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => {
                    let offset = number_at(index, self.offsets.0 + middle * self.offsets.1).ok()?;
                    let Some(large) = self.large.filter(|_| offset & LARGE != 0) else { return Some(offset.into()) };
                    return large_offset(index, large, offset);
                }
            }
        }
        None
    }

    /// Returns the offset of the base of a delta; `None` for a whole object and for a damaged one.
    fn base(&self, index: &File, pack: &File, offset: u64) -> Option<u64> {
        // A header has at most ten bytes, and a distance as well.
        let mut bytes = [0; 32];
        pack.read_exact_at(&mut bytes, offset).ok()?;
        let end = bytes.iter().position(|byte| byte & 0x80 == 0)?;
        let rest = bytes.get(end + 1..)?;
        match (bytes.first()? >> 4) & 7 {
            OFFSET_DELTA => {
                let mut distance = 0u64;
                for (at, byte) in rest.iter().enumerate() {
                    distance = distance.checked_add(u64::from(at > 0))?.checked_mul(128)?;
                    distance += u64::from(byte & 0x7f);
                    if byte & 0x80 == 0 {
                        return offset.checked_sub(distance).filter(|base| *base > 0 && *base < offset);
                    }
                }
                None
            }
            HASH_DELTA => self.find(index, rest.get(..20)?),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::Git;
    use crate::git::tests::{has_git, write_commit};
    use git2::Repository;
    use std::process::Command;

    fn git(folder: &Path, arguments: &[&str]) {
        let done = Command::new("git").current_dir(folder).args(arguments).output().unwrap();
        assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    /// Creates a packed repository with a chain of deltas. Returns its commits.
    fn packed(folder: &Path) -> Vec<Oid> {
        let repo = Repository::init_bare(folder).unwrap();
        let mut commits: Vec<Oid> = Vec::new();
        for n in 0..12 {
            let text: String = (0..300).map(|line| format!("line {line} of {}\n", line.min(n))).collect();
            let parents = commits.last().copied();
            commits.push(write_commit(&repo, n, 1_500_000_000 + n as i64, parents.as_slice(), &[("a", &text)]));
        }
        repo.reference("refs/heads/main", *commits.last().unwrap(), true, "").unwrap();
        git(folder, &["repack", "-adqf", "--depth=20", "--window=20"]);
        commits
    }

    /// Returns the only file of the pack folder that ends like this.
    fn file(folder: &Path, end: &str) -> PathBuf {
        let entries = fs::read_dir(folder.join("objects/pack")).unwrap();
        entries.map(|entry| entry.unwrap().path()).find(|path| path.to_string_lossy().ends_with(end)).unwrap()
    }

    fn replace(path: &Path, bytes: &[u8]) {
        fs::remove_file(path).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// Reads everything in a repository, if it can be opened.
    fn read(folder: &Path, commits: &[Oid]) -> bool {
        let Ok(git) = Git::open(folder, Some("main")) else { return false };
        for commit in commits {
            _ = git.commit_changes(*commit);
        }
        true
    }

    #[test]
    fn every_damaged_byte_of_an_index_is_refused_or_harmless() {
        if !has_git() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let commits = packed(folder.path());
        assert!(read(folder.path(), &commits));
        git(folder.path(), &["multi-pack-index", "write"]);
        assert!(read(folder.path(), &commits));
        for end in [".idx", "multi-pack-index"] {
            let path = file(folder.path(), end);
            let whole = fs::read(&path).unwrap();
            let mut refused = 0;
            // The offsets are near the end.
            for at in (0..whole.len()).filter(|at| *at > whole.len() * 3 / 4 || at % 64 == 0) {
                let mut bytes = whole.clone();
                bytes[at] = 0x7f;
                replace(&path, &bytes);
                refused += usize::from(!read(folder.path(), &commits));
            }
            assert!(refused > 0, "{end}");
            replace(&path, &whole);
        }
        assert!(read(folder.path(), &commits));
    }

    #[test]
    fn large_offsets_are_compared_with_the_size_of_the_pack() {
        if !has_git() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let commits = packed(folder.path());
        let (pack, index) = (file(folder.path(), ".pack"), file(folder.path(), ".idx"));
        // With this option, all offsets are large ones.
        git(folder.path(), &["index-pack", "--index-version=2,0x0", "-o", "large.idx", &pack.to_string_lossy()]);
        let mut bytes = fs::read(folder.path().join("large.idx")).unwrap();
        replace(&index, &bytes);
        assert!(read(folder.path(), &commits));
        let last = bytes.len() - 40 - 8;
        bytes[last..last + 8].copy_from_slice(&(1u64 << 40).to_be_bytes());
        replace(&index, &bytes);
        let why = Git::open(folder.path(), None).err().unwrap();
        assert!(why.body.to_string().contains("names an offset that is not in its pack"), "{why:?}");
    }

    #[test]
    fn a_delta_of_itself_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        drop(Repository::init_bare(folder.path()).unwrap());
        // Two objects whose bases are each other, by hash.
        let ids = [[0x11; 20], [0x22; 20]];
        let mut pack = [&b"PACK"[..], &2u32.to_be_bytes(), &2u32.to_be_bytes()].concat();
        let mut offsets = Vec::new();
        for base in [ids[1], ids[0]] {
            offsets.push(pack.len() as u32);
            let mut delta = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
            io::Write::write_all(&mut delta, &[4, 4, 0x90, 4]).unwrap();
            pack.extend([&[0x74][..], &base, &delta.finish().unwrap()].concat());
        }
        pack.extend([7; 20]);
        let fanout: Vec<u8> =
            (0u32..256).flat_map(|n| (u32::from(n >= 0x11) + u32::from(n >= 0x22)).to_be_bytes()).collect();
        let mut index = [&b"\xfftOc"[..], &2u32.to_be_bytes(), &fanout, &ids[0], &ids[1], &[0; 8]].concat();
        index.extend(offsets.iter().flat_map(|offset| offset.to_be_bytes()));
        index.extend([[7; 20], [0; 20]].concat());
        let place = folder.path().join("objects/pack");
        fs::create_dir_all(&place).unwrap();
        fs::write(place.join("pack-1.pack"), pack).unwrap();
        fs::write(place.join("pack-1.idx"), index).unwrap();
        let git = Git::open(folder.path(), None).unwrap();
        let why = git.blob(&"11".repeat(20)).unwrap_err();
        assert!(why.body.to_string().contains("is a delta of itself"), "{why:?}");
    }

    #[test]
    fn alternates_may_lead_in_circles_but_not_to_devices() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for (here, there) in [(&one, &other), (&other, &one)] {
            fs::create_dir_all(here.path().join("info")).unwrap();
            fs::write(here.path().join("info/alternates"), format!("{}\n", there.path().display())).unwrap();
        }
        assert_eq!(object_folders(one.path()).unwrap().len(), 2);
        fs::remove_file(other.path().join("info/alternates")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", other.path().join("info/alternates")).unwrap();
        assert!(object_folders(one.path()).is_err());
    }
}
