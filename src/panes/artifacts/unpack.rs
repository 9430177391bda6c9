//! Unpacks an archive, or a folder of it, into a new folder. Entries with paths outside of it, links, zip bombs and
//! damaged entries are skipped and reported.

use crate::app::transfer::{OnUnpackProgress, Unpacked, plain_name};
use crate::domain::parts::{Parts, Step};
use crate::domain::zip::{self, ExtractError, ZipEntry};
use crate::ui::text;
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Unpacks the entries in `folder` of the archive (all of them if it is empty) into the folder `into`, which no other
/// program may write to.
///
/// # Errors
/// Returns the reason if nothing can be unpacked or unpacking ends early.
pub fn unpack(
    archive: &File,
    folder: &str,
    into: &Path,
    on_progress: OnUnpackProgress<'_>,
) -> Result<Unpacked, String> {
    let unreadable = |error: io::Error| format!("the archive cannot be read: {error}");
    let packed = archive.metadata().map_err(unreadable)?.len();
    let parts = Parts::file(archive.try_clone().map_err(unreadable)?, packed);
    let list = match zip::list(&parts, &|| false) {
        Step::Done(Ok(list)) => list,
        Step::Done(Err(refusal)) => return Err(refusal.why()),
        Step::Need(_) => return Err("the archive is truncated".into()),
    };
    let chosen: Vec<(&ZipEntry, &str)> =
        list.entries.iter().filter_map(|entry| Some((entry, within(&entry.path, folder)?))).collect();
    let opened = |entry: &ZipEntry| entry.anomaly.is_none() && zip::fits(entry, packed);
    let total = chosen.iter().filter(|(entry, _)| opened(entry)).map(|(entry, _)| entry.uncompressed_size);
    let total = total.fold(0, u64::saturating_add);
    // Entries may share their data, so that none of them alone looks like a zip bomb.
    if zip::is_zip_bomb(total, packed) {
        let (total, packed) = (text::bytes(total), text::bytes(packed));
        return Err(format!("{packed} would unpack to {total}, like a zip bomb"));
    }
    let mut target = TargetFolder { into, created: BTreeSet::new(), out: Unpacked::default() };
    let mut done = 0;
    let mut report = |bytes: u64| {
        done += bytes;
        on_progress(done, total)
    };
    for (entry, path) in chosen {
        if !report(0) {
            return Err("it was canceled".into());
        }
        match target.extract(archive, entry, path, &mut report) {
            Ok(()) => {}
            Err(ExtractError::BadEntry(why)) => target.out.left_out.push(format!("{} ({why})", entry.path)),
            Err(ExtractError::Disk(error)) => {
                return Err(match error.kind() {
                    ErrorKind::StorageFull => "the disk is full; nothing was kept".into(),
                    _ => format!("{} cannot be written: {error}", entry.path),
                });
            }
            Err(ExtractError::Canceled) => return Err("it was canceled".into()),
        }
    }
    if list.omitted_count > 0 {
        target.out.left_out.push(format!("{} entries that are not listed", text::count(list.omitted_count)));
    }
    target.out.left_out.extend(list.corruption.map(str::to_owned));
    Ok(target.out)
}

/// Returns the part of a path below a folder, the whole path if the folder is empty, or `None` if it is not in the
/// folder.
fn within<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    let mut rest = path;
    for name in folder.split('/').filter(|name| !name.is_empty()) {
        rest = rest.strip_prefix(name)?.strip_prefix(['/', '\\'])?;
    }
    Some(rest).filter(|rest| !rest.is_empty())
}

/// The folder that files are unpacked into.
struct TargetFolder<'a> {
    into: &'a Path,
    /// The folders that were created.
    created: BTreeSet<PathBuf>,
    out: Unpacked,
}

impl TargetFolder<'_> {
    fn extract(
        &mut self,
        archive: &File,
        entry: &ZipEntry,
        path: &str,
        on_progress: &mut dyn FnMut(u64) -> bool,
    ) -> Result<(), ExtractError> {
        if let Some(anomaly) = entry.anomaly {
            return Err(ExtractError::BadEntry(anomaly.label()));
        }
        // A path with a name that leads elsewhere is already marked as odd. Each name is checked again before it is
        // used.
        let mut at = self.into.to_owned();
        for name in path.split(['/', '\\']).filter(|name| !name.is_empty()) {
            let name = plain_name(name);
            if matches!(name.as_str(), "." | "..") || Path::new(&name).components().count() != 1 {
                return Err(ExtractError::BadEntry("bad name"));
            }
            at.push(name);
        }
        if entry.is_folder {
            return self.folder(&at);
        }
        self.folder(at.parent().unwrap_or(self.into))?;
        // An existing file is never overwritten, and no link is followed.
        let file =
            OpenOptions::new().write(true).create_new(true).open(&at).map_err(|error| named_twice(error, &at))?;
        let mut out = BufWriter::new(file);
        let extracted = zip::extract_to_writer(archive, entry, &mut out, on_progress)
            .and_then(|()| out.flush().map_err(ExtractError::Disk));
        if extracted.is_err() {
            let _ = fs::remove_file(&at);
            return extracted;
        }
        if entry.is_executable {
            executable(&at).map_err(ExtractError::Disk)?;
        }
        self.out.files += 1;
        self.out.bytes += entry.uncompressed_size;
        Ok(())
    }

    fn folder(&mut self, at: &Path) -> Result<(), ExtractError> {
        if !self.created.contains(at) {
            fs::create_dir_all(at).map_err(|error| named_twice(error, at))?;
            self.created.insert(at.to_owned());
        }
        Ok(())
    }
}

/// Converts an error for a path: the archive contains the name twice or in a form that cannot be written, or the disk
/// failed.
fn named_twice(error: io::Error, at: &Path) -> ExtractError {
    let taken = matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotADirectory | ErrorKind::IsADirectory);
    match taken {
        true => ExtractError::BadEntry("duplicate name"),
        false if error.kind() == ErrorKind::InvalidFilename => ExtractError::BadEntry("name too long"),
        false => ExtractError::Disk(io::Error::new(error.kind(), format!("{}: {error}", at.display()))),
    }
}

#[cfg(unix)]
fn executable(at: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = fs::metadata(at)?.permissions().mode();
    // Everyone who may read the file may run it.
    fs::set_permissions(at, fs::Permissions::from_mode(mode | (mode & 0o444) >> 2))
}

#[cfg(not(unix))]
fn executable(_at: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::zip::ZipWriter;
    use ::zip::write::SimpleFileOptions;
    use std::io::{Read, Seek, SeekFrom};

    fn archive(files: &[(&str, &str)]) -> ZipWriter<File> {
        let mut zip = ZipWriter::new(tempfile::tempfile().unwrap());
        for (path, text) in files {
            zip.start_file(*path, SimpleFileOptions::default()).unwrap();
            zip.write_all(text.as_bytes()).unwrap();
        }
        zip
    }

    /// Returns all files below a folder with their contents.
    fn files(folder: &Path) -> Vec<(String, String)> {
        let mut all = Vec::new();
        let mut todo = vec![folder.to_owned()];
        while let Some(at) = todo.pop() {
            for entry in fs::read_dir(at).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    todo.push(path);
                } else {
                    let name = path.strip_prefix(folder).unwrap().display().to_string();
                    all.push((name, fs::read_to_string(path).unwrap()));
                }
            }
        }
        all.sort();
        all
    }

    fn owned(files: &[(&str, &str)]) -> Vec<(String, String)> {
        files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn all_or_one_folder_is_unpacked_and_progress_is_reported() {
        let long = "a line\n".repeat(50_000);
        let file =
            archive(&[("a.txt", "one"), ("dir/b.txt", &long), ("dir/deep/c.txt", "three"), ("direct.txt", "no")]);
        let file = file.finish().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut reported = Vec::new();
        let out = unpack(&file, "", folder.path(), &mut |done, total| {
            reported.push((done, total));
            true
        });
        let total = 350_010;
        assert_eq!(out, Ok(Unpacked { files: 4, bytes: total, left_out: vec![] }));
        assert_eq!(reported.last(), Some(&(total, total)));
        assert!(reported.is_sorted() && reported.len() > 6);
        assert_eq!(files(folder.path()).len(), 4);
        let folder = tempfile::tempdir().unwrap();
        let out = unpack(&file, "dir", folder.path(), &mut |_, _| true).unwrap();
        assert_eq!((out.files, files(folder.path())), (2, owned(&[("b.txt", &long), ("deep/c.txt", "three")])));
    }

    #[test]
    fn traversal_links_and_duplicates_are_skipped_and_reported() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("in");
        fs::create_dir(&folder).unwrap();
        let absolute = outer.path().join("absolute").display().to_string();
        let mut zip = archive(&[
            ("../up.txt", "no"),
            ("a/../../up.txt", "no"),
            ("..\\up.txt", "no"),
            (&absolute, "no"),
            ("C:\\up.txt", "no"),
            ("good.txt", "yes"),
            ("good.txt/under", "no"),
            ("esc\u{1b}[2J", "one"),
            (".dir\u{202e}\u{2028}/a:b?.txt", "two"),
            ("esc\u{9b}[2J", "no"),
        ]);
        zip.add_symlink("link", "/etc", SimpleFileOptions::default()).unwrap();
        zip.start_file("link/passwd", SimpleFileOptions::default()).unwrap();
        zip.write_all(b"a file of a folder").unwrap();
        let out = unpack(&zip.finish().unwrap(), "", &folder, &mut |_, _| true).unwrap();
        assert_eq!(
            files(outer.path()),
            owned(&[
                ("in/.dir__/a_b_.txt", "two"),
                ("in/esc_[2J", "one"),
                ("in/good.txt", "yes"),
                ("in/link/passwd", "a file of a folder"),
            ])
        );
        // On Unix a backslash is an ordinary character: written unchanged, it would be a file of that name in the
        // current directory.
        for name in ["..\\up.txt", "C:\\up.txt"] {
            assert!(fs::symlink_metadata(name).is_err(), "{name}");
        }
        assert_eq!(
            out.left_out,
            [
                "../up.txt (unsafe path)".to_owned(),
                "a/../../up.txt (unsafe path)".into(),
                "..\\up.txt (unsafe path)".into(),
                format!("{absolute} (absolute)"),
                "C:\\up.txt (absolute)".into(),
                "good.txt/under (duplicate name)".into(),
                "esc\u{9b}[2J (duplicate name)".into(),
                "link (link)".into(),
            ]
        );
    }

    #[test]
    fn zip_bombs_are_rejected_and_damaged_entries_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let zeros = "\0".repeat(20 << 20);
        let many: Vec<(String, &str)> = (0..6).map(|at| (format!("{at}"), zeros.as_str())).collect();
        let many: Vec<(&str, &str)> = many.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        let message = unpack(&archive(&many).finish().unwrap(), "", folder.path(), &mut |_, _| true).unwrap_err();
        assert!(message.ends_with("would unpack to 125.8 MB, like a zip bomb"), "{message}");
        assert!(files(folder.path()).is_empty());
        let mut file = archive(&[("a.txt", "a text of many letters"), ("b.txt", "fine")]).finish().unwrap();
        file.seek(SeekFrom::Start(40)).unwrap();
        file.write_all(b"???").unwrap();
        let out = unpack(&file, "", folder.path(), &mut |_, _| true).unwrap();
        assert_eq!((out.files, files(folder.path())), (1, owned(&[("b.txt", "fine")])));
        assert!(out.left_out[0].starts_with("a.txt ("), "{:?}", out.left_out);
        assert!(unpack(&tempfile::tempfile().unwrap(), "", folder.path(), &mut |_, _| true).is_err());
        let stopped = unpack(&archive(&[("x", "y")]).finish().unwrap(), "", folder.path(), &mut |_, _| false);
        assert_eq!(stopped, Err("it was canceled".into()));
    }

    #[test]
    fn only_the_entry_with_an_invalid_offset_is_skipped() {
        let mut whole = Vec::new();
        let mut file = archive(&[("a.txt", "one"), ("b.txt", "two")]).finish().unwrap();
        file.seek(SeekFrom::Start(0)).unwrap();
        file.read_to_end(&mut whole).unwrap();
        // The offset of the first entry is too large for its field: it is in an extra field of twelve bytes.
        for offset in [u64::MAX, i64::MAX as u64 + 1, i64::MAX as u64, 1 << 40] {
            let mut all = whole.clone();
            let list = memchr::memmem::find(&all, b"PK\x01\x02").unwrap();
            all[list + 30] = 12;
            all[list + 42..list + 46].fill(0xff);
            let extra = [&[1, 0, 8, 0][..], &offset.to_le_bytes()].concat();
            all.splice(list + 51..list + 51, extra);
            let end = memchr::memmem::rfind(&all, b"PK\x05\x06").unwrap();
            all[end + 12] += 12;
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(&all).unwrap();
            let folder = tempfile::tempdir().unwrap();
            let out = unpack(&file, "", folder.path(), &mut |_, _| true).unwrap();
            assert_eq!(out.left_out, ["a.txt (the file lies outside the archive)"], "{offset}");
            assert_eq!(files(folder.path()), owned(&[("b.txt", "two")]));
        }
    }

    #[cfg(unix)]
    #[test]
    fn executable_files_stay_executable() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let mut zip = archive(&[]);
        for (name, mode) in [("run", 0o755), ("read", 0o644)] {
            zip.start_file(name, SimpleFileOptions::default().unix_permissions(mode)).unwrap();
        }
        unpack(&zip.finish().unwrap(), "", folder.path(), &mut |_, _| true).unwrap();
        let runs = |name: &str| fs::metadata(folder.path().join(name)).unwrap().permissions().mode() & 0o100 != 0;
        assert!(runs("run") && !runs("read"));
    }
}
