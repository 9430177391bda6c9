//! The texts of a file in both versions: read, or derived from the changes, which takes fewer requests.

use super::{MAX_BYTES, Reason, Touch};
use crate::edits::{HunkHeader, lines};
use api::Raw;
use api::commits::DiffEntry;
use std::collections::HashMap;
use std::sync::Arc;

/// A commit of one of the versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    BaseBefore,
    HeadBefore,
    BaseNow,
    HeadNow,
}

/// A file at a commit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TextKey {
    pub side: Side,
    pub path: String,
}

/// The texts that are known, or the reasons why they cannot be read.
pub type Texts = HashMap<TextKey, Result<Arc<Raw>, String>>;

/// The reason why a comparison stops.
pub enum Stop {
    /// Texts are needed first.
    Needs(Vec<TextKey>),
    Reason(Reason),
}

/// The texts of a file; `None` where it does not exist.
pub struct FileTexts {
    pub base_before: Option<Vec<u8>>,
    pub head_before: Option<Vec<u8>>,
    pub base_now: Option<Vec<u8>>,
    pub head_now: Option<Vec<u8>>,
}

type Text = Result<Option<Vec<u8>>, Stop>;

impl FileTexts {
    /// Returns the texts of a file that has changes `before`, and `now` if it still has some.
    pub fn read(texts: &Texts, before: &DiffEntry, now: Option<&DiffEntry>, touch: Touch) -> Result<FileTexts, Stop> {
        let read = |side: Side, path: &str| read(texts, TextKey { side, path: path.to_owned() });
        // A base that the target branch did not touch is read at the new one, which servers surely have.
        let side = if matches!(touch, Touch::Not) { Side::BaseNow } else { Side::BaseBefore };
        let base_before = match before.new_file {
            true => Ok(None),
            false => one_side(before, before.deleted_file, b'-').map_or_else(|| read(side, &before.old_path), some),
        };
        let head_before = match before.deleted_file {
            true => Ok(None),
            false => changed(before, &base_before, || read(Side::HeadBefore, &before.new_path)),
        };
        let base_now = match touch {
            Touch::Not => copy(&base_before),
            Touch::By(target) if target.deleted_file => Ok(None),
            // A file that the target branch renamed to the path of a new one.
            Touch::By(target) if before.new_file && !target.new_file => read(Side::BaseNow, &target.new_path),
            Touch::By(target) => changed(target, &base_before, || read(Side::BaseNow, &target.new_path)),
            Touch::Unknown => match now {
                Some(now) if now.new_file => Ok(None),
                Some(now) => read(Side::BaseNow, &now.old_path),
                None => read(Side::BaseNow, if before.new_file { &before.new_path } else { &before.old_path }),
            },
        };
        let head_now = match now {
            None => copy(&base_now),
            Some(now) if now.deleted_file => Ok(None),
            Some(now) => changed(now, &base_now, || read(Side::HeadNow, &now.new_path)),
        };
        let mut needed = Vec::new();
        let mut known = |text: Text| match text {
            Err(Stop::Needs(more)) => {
                needed.extend(more);
                Ok(None)
            }
            other => other,
        };
        let texts = FileTexts {
            base_before: known(base_before)?,
            head_before: known(head_before)?,
            base_now: known(base_now)?,
            head_now: known(head_now)?,
        };
        if needed.is_empty() { Ok(texts) } else { Err(Stop::Needs(needed)) }
    }
}

fn some(text: Vec<u8>) -> Text {
    Ok(Some(text))
}

fn copy(text: &Text) -> Text {
    match text {
        Ok(text) => Ok(text.clone()),
        Err(Stop::Needs(_)) => Err(Stop::Needs(Vec::new())),
        Err(Stop::Reason(reason)) => Err(Stop::Reason(reason.clone())),
    }
}

fn read(texts: &Texts, key: TextKey) -> Text {
    match texts.get(&key) {
        Some(Ok(raw)) if raw.bytes.len() > MAX_BYTES => Err(Stop::Reason(Reason::TooLarge)),
        Some(Ok(raw)) => Ok(Some(raw.bytes.clone())),
        Some(Err(why)) => Err(Stop::Reason(Reason::Unreadable(why.clone()))),
        None => Err(Stop::Needs(vec![key])),
    }
}

/// Returns the text after some changes of `base`, derived if possible. While `base` is awaited, nothing else is: it may also
/// show that the file is too large.
fn changed(entry: &DiffEntry, base: &Text, read: impl Fn() -> Text) -> Text {
    if let Some(text) = one_side(entry, entry.new_file, b'+') {
        return Ok(Some(text));
    }
    match base {
        Err(Stop::Needs(_)) if is_exact(entry) || entry.is_withheld() => Err(Stop::Needs(Vec::new())),
        Ok(Some(base)) if is_exact(entry) => apply(&entry.diff, base).map_or_else(read, some),
        _ => read(),
    }
}

/// Returns whether the changes are those of the file byte by byte. Servers convert texts in other encodings to UTF-8.
fn is_exact(entry: &DiffEntry) -> bool {
    entry.has_lines() && entry.diff.is_ascii()
}

/// Returns whether the file is a submodule, whose content is the commit that it names.
pub fn is_submodule(entry: &DiffEntry) -> bool {
    [&entry.a_mode, &entry.b_mode].into_iter().any(|mode| mode.as_deref() == Some("160000"))
}

/// Returns all lines of a file on one side of its changes, which have them all if the file `is_whole` there.
fn one_side(entry: &DiffEntry, is_whole: bool, sign: u8) -> Option<Vec<u8>> {
    if !(entry.has_lines() && (is_submodule(entry) || is_whole && is_exact(entry))) {
        return None;
    }
    let all = parse(&entry.diff)?.into_iter().flat_map(|hunk| hunk.lines);
    Some(all.filter(|(of, _)| *of == sign).flat_map(|(_, line)| line).copied().collect())
}

/// A hunk: the number of its first line in the old text, from 0, and its lines with their signs.
struct TextHunk<'a> {
    start: usize,
    lines: Vec<(u8, &'a [u8])>,
}

/// Parses changes; `None` if they are not complete.
fn parse(diff: &str) -> Option<Vec<TextHunk<'_>>> {
    let mut hunks: Vec<TextHunk> = Vec::new();
    let (mut old_left, mut new_left) = (0u32, 0u32);
    for line in lines(diff.as_bytes()) {
        let is_inside = old_left > 0 || new_left > 0;
        let (sign, text) = line.split_first()?;
        match (sign, hunks.last_mut()) {
            (b'@', _) if !is_inside => {
                let header = HunkHeader::parse(std::str::from_utf8(line).ok()?)?;
                // For a side without lines, the header gives the number of the line before it.
                let start = if header.old.1 == 0 { header.old.0 } else { header.old.0.checked_sub(1)? };
                hunks.push(TextHunk { start: start as usize, lines: Vec::new() });
                (old_left, new_left) = (header.old.1, header.new.1);
            }
            (b'\\', Some(hunk)) => {
                let (_, last) = hunk.lines.last_mut()?;
                *last = last.strip_suffix(b"\n")?;
            }
            (b' ' | b'-' | b'+', Some(hunk)) if is_inside => {
                old_left = old_left.checked_sub(u32::from(*sign != b'+'))?;
                new_left = new_left.checked_sub(u32::from(*sign != b'-'))?;
                hunk.lines.push((*sign, text));
            }
            // The names of the file.
            (_, None) => {}
            (_, Some(_)) => return None,
        }
    }
    (old_left == 0 && new_left == 0 && !hunks.is_empty()).then_some(hunks)
}

/// Applies changes to the text that they were made from; `None` if it is another one.
fn apply(diff: &str, base: &[u8]) -> Option<Vec<u8>> {
    let base = lines(base);
    let (mut text, mut at) = (Vec::new(), 0);
    for hunk in parse(diff)? {
        base.get(at..hunk.start)?.iter().for_each(|line| text.extend_from_slice(line));
        at = hunk.start;
        for (sign, line) in hunk.lines {
            if sign != b'+' {
                (*base.get(at)? == line).then_some(())?;
                at += 1;
            }
            if sign != b'-' {
                text.extend_from_slice(line);
            }
        }
    }
    base.get(at..)?.iter().for_each(|line| text.extend_from_slice(line));
    Some(text)
}
