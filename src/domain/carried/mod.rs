//! The changes of a merge request since a version of it was reviewed: for each file, the reviewed text is carried onto the
//! new base by a three-way merge, and compared with the file as it is now. What the target branch changed is on both sides.

mod texts;

pub use texts::{Side, TextKey, Texts};

use super::edits::{Edit, HunkHeader, Section, edits, hunks, lines};
use super::merge::{Changed, merge};
use api::commits::DiffEntry;
use std::collections::BTreeSet;
use std::ops::Range;
use std::time::{Duration, Instant};
use texts::{FileTexts, Stop};

/// The limits for comparing a file, beyond which it is shown whole.
const MAX_BYTES: usize = 5 << 20;
const MAX_LINES: usize = 200_000;
const TIME_LIMIT: Duration = Duration::from_secs(3);
/// The number of bytes at the start of a file among which a zero means that it is binary, as in git.
const BINARY_PROBE: usize = 8000;

/// The two versions of a merge request to compare, and what the target branch changed between their bases.
pub struct Versions<'a> {
    /// The changes of the version that was reviewed, and of the one now.
    pub before: &'a [DiffEntry],
    pub now: &'a [DiffEntry],
    /// The changes between both bases, and whether all of them are known.
    pub target: &'a [DiffEntry],
    pub target_is_complete: bool,
    pub target_branch: &'a str,
    /// Whether the left side of conflicts is the text of the target branch instead of the reviewed one.
    pub shows_target: bool,
    /// Whether the changes that were reviewed are shown, too.
    pub shows_reviewed: bool,
    pub texts: &'a Texts,
}

/// The change of a file since the reviewed version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Outcome {
    /// Without any edit since.
    Same,
    /// Changed by the target branch only.
    Rebased,
    /// Its reviewed changes are in the target branch.
    TakenOver,
    /// Changed otherwise.
    Changed,
    /// Without changes in the reviewed version.
    New,
    /// Its changes were taken back.
    TakenBack,
    /// The target branch deleted it. Its reviewed changes were dropped, or they were kept.
    Dropped,
    Kept,
    /// Shown with all of its changes, because it cannot be compared.
    Whole(Reason),
    /// To be compared once more texts are known.
    #[default]
    Waiting,
}

/// The reason why a file cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    TooLarge,
    /// A text is missing, as the server says.
    Unreadable(String),
}

/// A file of either version.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CarriedFile {
    /// The changes since the reviewed version: from the carried text to the text now.
    pub entry: DiffEntry,
    pub outcome: Outcome,
    /// The indexes of the file among the changes before and now.
    pub before: Option<usize>,
    pub now: Option<usize>,
    /// The numbers of each line of the carried text: in the reviewed version, and in the new base. 0 if it is not there.
    pub origins: Vec<[u32; 2]>,
    /// The number of conflicts between the target branch and the reviewed changes, and how many of them have a text of
    /// neither.
    pub conflicts: usize,
    pub solved_by_hand: usize,
    /// The number of hunks that did not change, in a file that did.
    pub same_hunks: usize,
    /// Whether the target branch renamed it.
    pub is_renamed_by_target: bool,
}

impl CarriedFile {
    /// Returns whether there is nothing to review in the file.
    pub fn is_reviewed(&self) -> bool {
        matches!(self.outcome, Outcome::Same | Outcome::Rebased | Outcome::TakenOver)
    }
}

/// The comparison of two versions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Carried {
    /// The files: first those to review, in the order of the server, and then the others.
    pub files: Vec<CarriedFile>,
    /// The texts that are needed to complete the comparison.
    pub needed: BTreeSet<TextKey>,
    /// Whether the comparison proves that the files without changes have none: false if texts of the reviewed version
    /// are gone.
    pub is_proof: bool,
}

/// The part that the target branch had in a file.
#[derive(Clone, Copy)]
enum Touch<'a> {
    Not,
    /// Unknown, because the comparison of the bases is not complete.
    Unknown,
    By(&'a DiffEntry),
}

/// A text carried onto the new base.
#[derive(Default)]
struct Text<'a> {
    lines: Vec<&'a [u8]>,
    origins: Vec<[u32; 2]>,
    conflicts: Vec<TextConflict<'a>>,
}

/// A conflict: its place in the carried text, and the lines of both sides.
struct TextConflict<'a> {
    at: Range<usize>,
    reviewed: &'a [&'a [u8]],
    target: &'a [&'a [u8]],
}

/// Compares two versions as far as the texts are known.
pub fn carry(versions: &Versions, canceled: &dyn Fn() -> bool) -> Carried {
    let mut carried = Carried { is_proof: true, ..Carried::default() };
    for (before, now) in pairs(versions) {
        if canceled() {
            break;
        }
        let file = Pair::new(versions, before, now);
        carried.files.push(file.compare(&mut carried.needed, &mut carried.is_proof));
    }
    carried.files.sort_by_key(|file| (file.is_reviewed(), file.now.unwrap_or(usize::MAX)));
    carried
}

/// Pairs the files of both versions, by their paths on the bases.
fn pairs(versions: &Versions) -> Vec<(Option<usize>, Option<usize>)> {
    let mut left: BTreeSet<usize> = (0..versions.now.len()).collect();
    let mut pairs: Vec<(Option<usize>, Option<usize>)> = Vec::new();
    let mut take = |fits: &dyn Fn(&DiffEntry) -> bool| {
        let at = left.iter().copied().find(|at| versions.now.get(*at).is_some_and(fits))?;
        left.remove(&at);
        Some(at)
    };
    for (at, before) in versions.before.iter().enumerate() {
        let base = if before.new_file { &before.new_path } else { &before.old_path };
        let touch = versions.touch(before);
        let path = match touch {
            Touch::By(target) if target.deleted_file => None,
            Touch::By(target) => Some(&target.new_path),
            Touch::Not if before.new_file => None,
            Touch::Not | Touch::Unknown => Some(base),
        };
        let on_base = path.and_then(|path| take(&|now| !now.new_file && now.old_path == *path));
        let now = on_base.or_else(|| {
            // The target branch has no such file, or may have none.
            let is_new = before.new_file || matches!(touch, Touch::By(target) if target.deleted_file);
            take(&|now| is_new && !before.deleted_file && now.new_file && now.new_path == before.new_path)
        });
        pairs.push((Some(at), now));
    }
    // A new file that was renamed since.
    for (before, now) in pairs.iter_mut().filter(|(_, now)| now.is_none()) {
        let Some(before) = before.and_then(|at| versions.before.get(at)).filter(|before| before.new_file) else {
            continue;
        };
        *now = take(&|now| now.new_file && now.has_lines() && now.diff == before.diff);
    }
    pairs.extend(left.into_iter().map(|at| (None, Some(at))));
    pairs
}

impl<'a> Versions<'a> {
    /// Returns what the target branch did with a file of the reviewed version.
    fn touch(&self, before: &DiffEntry) -> Touch<'a> {
        let is_it = |target: &&DiffEntry| match before.new_file {
            true => (target.new_file || target.renamed_file) && target.new_path == before.new_path,
            false => !target.new_file && target.old_path == before.old_path,
        };
        match self.target.iter().find(is_it) {
            Some(target) => Touch::By(target),
            None if self.target_is_complete => Touch::Not,
            None => Touch::Unknown,
        }
    }
}

/// A file in both versions, or in one of them.
struct Pair<'a> {
    versions: &'a Versions<'a>,
    at: (Option<usize>, Option<usize>),
    before: Option<&'a DiffEntry>,
    now: Option<&'a DiffEntry>,
    touch: Touch<'a>,
}

impl<'a> Pair<'a> {
    fn new(versions: &'a Versions<'a>, before: Option<usize>, now: Option<usize>) -> Pair<'a> {
        let at = (before, now);
        let before = before.and_then(|at| versions.before.get(at));
        let now = now.and_then(|at| versions.now.get(at));
        let touch = before.map_or(Touch::Not, |before| versions.touch(before));
        Pair { versions, at, before, now, touch }
    }

    /// Compares the file; `needed` gets the texts that are missing.
    fn compare(&self, needed: &mut BTreeSet<TextKey>, is_proof: &mut bool) -> CarriedFile {
        let Some(before) = self.before else { return self.shown(Outcome::New) };
        let is_equal = self.now.is_some_and(|now| now == before && now.has_lines());
        if is_equal && matches!(self.touch, Touch::Not) {
            return self.shown(Outcome::Same);
        }
        match self.compared(before) {
            Ok(file) => file,
            Err(Stop::Needs(keys)) => {
                needed.extend(keys);
                self.shown(Outcome::Waiting)
            }
            Err(Stop::Reason(Reason::Unreadable(_))) if is_equal && matches!(self.touch, Touch::Unknown) => {
                *is_proof = false;
                self.shown(Outcome::Same)
            }
            Err(Stop::Reason(reason)) => self.shown(Outcome::Whole(reason)),
        }
    }

    /// Returns the file with all of its changes now, or those before; without any if there is nothing to review.
    fn shown(&self, outcome: Outcome) -> CarriedFile {
        let mut entry = self.now.or(self.before).cloned().unwrap_or_default();
        let is_reviewed = matches!(outcome, Outcome::Same | Outcome::Rebased | Outcome::TakenOver);
        let shows_now = self.versions.shows_reviewed && self.now.is_some();
        if is_reviewed && !shows_now || outcome == Outcome::Waiting {
            let new_path = match self.touch {
                Touch::By(target) if self.now.is_none() && !target.deleted_file => target.new_path.clone(),
                _ => entry.new_path,
            };
            let old_path = self.before.map_or_else(|| new_path.clone(), |before| before.new_path.clone());
            let renamed_file = old_path != new_path;
            entry = DiffEntry { old_path, new_path, renamed_file, ..DiffEntry::default() };
        }
        let is_renamed_by_target = matches!(self.touch, Touch::By(target) if target.renamed_file);
        let (before, now) = self.at;
        CarriedFile { entry, outcome, before, now, is_renamed_by_target, ..CarriedFile::default() }
    }

    /// Compares the texts of the file.
    fn compared(&self, before: &DiffEntry) -> Result<CarriedFile, Stop> {
        let started = Instant::now();
        let texts = FileTexts::read(self.versions.texts, before, self.now, self.touch)?;
        let FileTexts { base_before, head_before, base_now, head_now } = &texts;
        let all = || [base_before, head_before, base_now, head_now].into_iter().flatten();
        let is_binary = all().any(|text| text.get(..BINARY_PROBE).unwrap_or(text).contains(&0));
        // A binary file is merged and compared as if it were one line.
        let [old_base, reviewed, new_base, head] =
            [base_before, head_before, base_now, head_now].map(|text| match text {
                Some(text) if is_binary => vec![text.as_slice()],
                Some(text) => lines(text),
                None => Vec::new(),
            });
        let most_lines = [&old_base, &reviewed, &new_base, &head].into_iter().map(Vec::len).max().unwrap_or(0);
        if all().any(|text| text.len() > MAX_BYTES) || most_lines > MAX_LINES {
            return Err(Stop::Reason(Reason::TooLarge));
        }
        let is_deleted_by_target = base_before.is_some() && base_now.is_none();
        let target_text = if is_deleted_by_target { &old_base } else { &new_base };
        let carried = match head_before {
            Some(_) => self.merge(&old_base, target_text, &reviewed),
            None => Text::default(),
        };
        // The reviewed version deleted what the target branch changed.
        let changed_deleted = head_before.is_none() && base_now.is_some() && base_before != base_now;
        if changed_deleted && head_now.is_none() {
            return Ok(CarriedFile { conflicts: 1, ..self.shown(Outcome::Changed) });
        }
        let changes = edits(&carried.lines, &head, TIME_LIMIT / 3);
        if started.elapsed() > TIME_LIMIT {
            return Err(Stop::Reason(Reason::TooLarge));
        }
        let mut sections: Vec<Section> = Vec::new();
        let mut solved_by_hand = 0;
        for conflict in &carried.conflicts {
            let (section, is_by_hand) = self.section(conflict, &carried, &head, &changes);
            solved_by_hand += usize::from(is_by_hand);
            sections.push(section);
        }
        let conflicts = sections.len();
        let same = if is_binary { Vec::new() } else { self.same_hunks(&changes) };
        let same_hunks = same.len();
        if self.versions.shows_reviewed {
            sections.extend(same);
        }
        let mut entry = self.named(before);
        (entry.new_file, entry.deleted_file) = match (head_before, head_now) {
            (None, Some(_)) => (true, false),
            (Some(_), None) => (false, true),
            _ => (false, false),
        };
        let has_changes = changes.iter().any(|edit| !edit.is_equal) || entry.new_file || entry.deleted_file;
        entry.diff = match is_binary {
            true if has_changes => format!("Binary files a/{} and b/{} differ\n", entry.old_path, entry.new_path),
            true => String::new(),
            false => hunks(&carried.lines, &head, &changes, &sections),
        };
        let conflicts = conflicts + usize::from(changed_deleted);
        if head_before.is_none() || head_now.is_none() {
            entry.a_mode.clone_from(&entry.b_mode);
            entry.renamed_file = false;
        }
        let is_changed = has_changes || conflicts > 0 || entry.renamed_file || entry.a_mode != entry.b_mode;
        let outcome = match () {
            () if is_deleted_by_target && head_before.is_some() && head_now.is_some() => Outcome::Kept,
            () if is_deleted_by_target && head_before.is_some() => Outcome::Dropped,
            () if is_changed && self.now.is_none() => Outcome::TakenBack,
            () if is_changed => Outcome::Changed,
            () if self.now.is_none() => Outcome::TakenOver,
            () if matches!(self.touch, Touch::Not) => Outcome::Same,
            () => Outcome::Rebased,
        };
        let origins = if is_binary { Vec::new() } else { carried.origins };
        let shown = self.shown(outcome);
        // Of a file without changes, only the names are shown, or all of its changes.
        let (entry, origins) = match shown.is_reviewed() {
            true => (shown.entry.clone(), Vec::new()),
            false => (entry, origins),
        };
        Ok(CarriedFile { entry, origins, conflicts, solved_by_hand, same_hunks, ..shown })
    }

    /// Carries the reviewed text onto the new base.
    fn merge<'t>(&self, base: &'t [&'t [u8]], target: &'t [&'t [u8]], reviewed: &'t [&'t [u8]]) -> Text<'t> {
        let mut text = Text::default();
        for stretch in merge(base, target, reviewed, TIME_LIMIT / 3) {
            let in_target = target.get(stretch.ours.clone()).unwrap_or_default();
            let in_reviewed = reviewed.get(stretch.theirs.clone()).unwrap_or_default();
            let at = text.lines.len();
            let is_reviewed = match stretch.changed {
                Changed::Theirs => true,
                Changed::Conflict => !self.versions.shows_target,
                Changed::Neither | Changed::Ours | Changed::Alike => false,
            };
            text.lines.extend(if is_reviewed { in_reviewed } else { in_target });
            let is_both = matches!(stretch.changed, Changed::Neither | Changed::Alike);
            let number = |is_there: bool, start: usize, line: usize| match is_there {
                true => u32::try_from(start + line + 1).unwrap_or(0),
                false => 0,
            };
            text.origins.extend((0..text.lines.len() - at).map(|line| {
                [
                    number(is_reviewed || is_both, stretch.theirs.start, line),
                    number(!is_reviewed, stretch.ours.start, line),
                ]
            }));
            if stretch.changed == Changed::Conflict {
                text.conflicts.push(TextConflict {
                    at: at..text.lines.len(),
                    reviewed: in_reviewed,
                    target: in_target,
                });
            }
        }
        text
    }

    /// Returns the hunks of the current changes that nobody edited since, as sections.
    fn same_hunks(&self, changes: &[Edit]) -> Vec<Section> {
        let headers = self.now.map(|now| now.diff.lines().filter_map(HunkHeader::parse)).into_iter().flatten();
        let places = headers.filter_map(|header| {
            let (start, count) = (header.new.0 as usize, header.new.1 as usize);
            let new = start.saturating_sub(1)..start.saturating_sub(1) + count;
            let same = changes.iter().find(|edit| edit.new.start <= new.start && edit.new.end >= new.end)?;
            let old = same.is_equal.then(|| same.old.start + (new.start - same.new.start))?;
            Some((old..old + count, new))
        });
        let name = if matches!(self.touch, Touch::Not) { "unchanged" } else { "only rebased" };
        places.map(|(old, new)| Section { old, new, name: name.to_owned() }).collect()
    }

    /// Returns the section of a conflict: all lines of it, with the changes that touch it; and whether it has a text of
    /// neither side.
    fn section(&self, conflict: &TextConflict, carried: &Text, head: &[&[u8]], changes: &[Edit]) -> (Section, bool) {
        let mut old = conflict.at.clone();
        // Changes follow one another in order, and equal lines lie between them.
        let touches = |old: &Range<usize>, edit: &Edit| edit.old.start <= old.end && edit.old.end >= old.start;
        let touching = || changes.iter().filter(|edit| !edit.is_equal);
        for edit in touching().filter(|edit| touches(&conflict.at, edit)) {
            old = old.start.min(edit.old.start)..old.end.max(edit.old.end);
        }
        let mut new = at_head(changes, old.start, false)..at_head(changes, old.end, true);
        new.end = new.end.max(new.start);
        let resolved = head.get(new.clone()).unwrap_or_default();
        let is = |side: &[&[u8]]| {
            let before = carried.lines.get(old.start..conflict.at.start).unwrap_or_default();
            let after = carried.lines.get(conflict.at.end..old.end).unwrap_or_default();
            before.iter().chain(side).chain(after).eq(resolved)
        };
        let (how, is_by_hand) = match () {
            () if is(conflict.reviewed) => ("kept as reviewed".to_owned(), false),
            () if is(conflict.target) => (format!("took the text of {}", self.versions.target_branch), false),
            () => ("solved by hand".to_owned(), true),
        };
        let name = format!("conflict with {}, {how}", self.versions.target_branch);
        (Section { old, new, name }, is_by_hand)
    }

    /// Returns the entry of the file with its names and modes: those that the reviewed version has on the new base, and
    /// those now.
    fn named(&self, before: &DiffEntry) -> DiffEntry {
        let target = match self.touch {
            Touch::By(target) if !target.deleted_file => Some(target),
            _ => None,
        };
        let base = (before.old_path.as_str(), before.a_mode.as_ref());
        let reviewed = (before.new_path.as_str(), before.b_mode.as_ref());
        let on_target = target.map_or(base, |target| (target.new_path.as_str(), target.b_mode.as_ref()));
        let path = if reviewed.0 == base.0 { on_target.0 } else { reviewed.0 };
        let mode = if reviewed.1 == base.1 { on_target.1 } else { reviewed.1 };
        let now = self.now.map_or(on_target, |now| (now.new_path.as_str(), now.b_mode.as_ref()));
        DiffEntry {
            old_path: path.to_owned(),
            new_path: now.0.to_owned(),
            renamed_file: path != now.0,
            a_mode: mode.or(now.1).cloned(),
            b_mode: now.1.or(mode).cloned(),
            ..DiffEntry::default()
        }
    }
}

/// Returns the line of the head that is at a line of the carried text, before or after what replaces the latter.
fn at_head(changes: &[Edit], line: usize, is_after: bool) -> usize {
    let fits = |edit: &&Edit| edit.old.start <= line && line <= edit.old.end;
    let edit = if is_after { changes.iter().rfind(fits) } else { changes.iter().find(fits) };
    edit.map_or(0, |edit| match (edit.is_equal, is_after) {
        (true, _) => edit.new.start + (line - edit.old.start),
        (false, true) => edit.new.end,
        (false, false) => edit.new.start,
    })
}

#[cfg(test)]
mod tests;
