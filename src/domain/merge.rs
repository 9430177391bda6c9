//! A three-way merge by lines, of texts or bytes: the stretches of the three sides, and who changed each.

use super::edits::edits;
use std::hash::Hash;
use std::ops::Range;
use std::time::Duration;

/// The side that changed a stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changed {
    Neither,
    Ours,
    Theirs,
    /// Both sides, in the same way.
    Alike,
    /// Both sides, in different ways.
    Conflict,
}

/// A stretch of a merge: ranges of the lines of the three texts. Together, the stretches cover all three in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    pub changed: Changed,
    pub base: Range<usize>,
    pub ours: Range<usize>,
    pub theirs: Range<usize>,
}

/// Merges the changes of two sides. Changes that touch each other are one conflict, as in git. If comparing takes longer
/// than `time_limit` for a side, its changes are larger than necessary, which can only lead to more conflicts.
pub fn merge<T: Eq + Hash>(base: &[T], ours: &[T], theirs: &[T], time_limit: Duration) -> Vec<Stretch> {
    let (in_ours, in_theirs) = (same(base, ours, time_limit), same(base, theirs, time_limit));
    // The lines of the base that both sides have, each with its lines in the sides, and the end of all three.
    let common = base.iter().enumerate().filter_map(|(at, _)| Some((at, (*in_ours.get(at)?)?, (*in_theirs.get(at)?)?)));
    let end = (base.len(), ours.len(), theirs.len());
    let mut stretches: Vec<Stretch> = Vec::new();
    let mut next = (0, 0, 0);
    for (b, o, t) in common.chain([end]) {
        let change = Stretch { changed: Changed::Neither, base: next.0..b, ours: next.1..o, theirs: next.2..t };
        if !change.ours.is_empty() || !change.base.is_empty() || !change.theirs.is_empty() {
            stretches.push(Stretch { changed: who(base, ours, theirs, &change), ..change });
        }
        next = (b + 1, o + 1, t + 1);
        if (b, o, t) == end {
            break;
        }
        match stretches.last_mut().filter(|last| last.changed == Changed::Neither) {
            Some(last) => (last.base.end, last.ours.end, last.theirs.end) = next,
            None => stretches.push(Stretch {
                changed: Changed::Neither,
                base: b..next.0,
                ours: o..next.1,
                theirs: t..next.2,
            }),
        }
    }
    stretches
}

/// Returns which side changed a stretch.
fn who<T: Eq>(base: &[T], ours: &[T], theirs: &[T], stretch: &Stretch) -> Changed {
    let (base, ours) = (base.get(stretch.base.clone()), ours.get(stretch.ours.clone()));
    let theirs = theirs.get(stretch.theirs.clone());
    match (ours == base, theirs == base) {
        (true, true) => Changed::Neither,
        (false, true) => Changed::Ours,
        (true, false) => Changed::Theirs,
        (false, false) if ours == theirs => Changed::Alike,
        (false, false) => Changed::Conflict,
    }
}

/// Returns, for each line of the base, the index of the same line of a side.
fn same<T: Eq + Hash>(base: &[T], side: &[T], time_limit: Duration) -> Vec<Option<usize>> {
    let mut same = vec![None; base.len()];
    for edit in edits(base, side, time_limit).into_iter().filter(|edit| edit.is_equal) {
        let lines = same.get_mut(edit.old).unwrap_or_default();
        lines.iter_mut().zip(edit.new).for_each(|(line, at)| *line = Some(at));
    }
    same
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::Dice;
    use std::process::Command;

    const TIME_LIMIT: Duration = Duration::from_secs(60);

    /// Merges texts; each conflict is a question mark.
    fn merged(base: &str, ours: &str, theirs: &str) -> String {
        let [base, ours, theirs] = [base, ours, theirs].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
        let (mut text, mut at) = (String::new(), (0, 0, 0));
        for stretch in merge(&base, &ours, &theirs, TIME_LIMIT) {
            assert_eq!((stretch.base.start, stretch.ours.start, stretch.theirs.start), at);
            at = (stretch.base.end, stretch.ours.end, stretch.theirs.end);
            match stretch.changed {
                Changed::Conflict => text.push('?'),
                Changed::Theirs => text.push_str(&theirs[stretch.theirs].concat()),
                _ => text.push_str(&ours[stretch.ours].concat()),
            }
        }
        assert_eq!(at, (base.len(), ours.len(), theirs.len()), "all lines are covered");
        text
    }

    #[test]
    fn changes_that_touch_are_a_conflict_and_equal_ones_are_not() {
        assert_eq!(merged("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n"), "A\nb\nC\n");
        assert_eq!(merged("a\nb\n", "A\nb\n", "a\nB\n"), "?");
        assert_eq!(merged("a\nb\nc\n", "a\nx\nc\n", "a\nx\nc\n"), "a\nx\nc\n");
        assert_eq!(merged("", "a\n", "b\n"), "?");
        assert_eq!(merged("a\n", "a", "a\n"), "a");
        // Both delete one of three equal lines: that is one deletion, whatever else one of them changes.
        assert_eq!(merged("x\na\nb\nb\nb\nc\n", "x\na\nb\nb\nc\n", "Z\na\nb\nb\nc\n"), "Z\na\nb\nb\nc\n");
    }

    /// Compares random merges with `git merge-file` (2.47 and later): what both merge is the same, and what git takes for
    /// a conflict is one here, too. Where lines occur many times, the two may find different changes.
    #[test]
    fn random_merges_match_git() {
        // Git is not needed to build labscope.
        if Command::new("git").arg("--version").output().is_err() {
            return;
        }
        let (folder, mut dice) = (tempfile::tempdir().unwrap(), Dice(57));
        let (mut clean, mut conflicts) = (0, 0);
        for round in 0..300 {
            let words = [12, 40, 1000][round % 3];
            let base: Vec<String> = (0..dice.below(30) + 1).map(|_| format!("{}\n", dice.below(words))).collect();
            let mut side = || {
                let mut side = base.clone();
                for _ in 0..dice.below(4) {
                    let (at, line) = (dice.below(side.len()), format!("{}\n", dice.below(words)));
                    match dice.below(3) {
                        0 => side.insert(at, line),
                        1 if !side.is_empty() => _ = side.remove(at),
                        _ => side.iter_mut().skip(at).take(1).for_each(|old| *old = format!("new {line}")),
                    }
                }
                side.concat()
            };
            let texts = [side(), base.concat(), side()];
            for (name, text) in ["ours", "base", "theirs"].into_iter().zip(&texts) {
                std::fs::write(folder.path().join(name), text).unwrap();
            }
            let arguments = ["merge-file", "-p", "ours", "base", "theirs"];
            let git = Command::new("git").current_dir(folder.path()).args(arguments).output().unwrap();
            let [ours, base, theirs] = &texts;
            let found = merged(base, ours, theirs);
            if git.status.code() == Some(0) && !found.contains('?') {
                assert_eq!(found, String::from_utf8_lossy(&git.stdout), "{texts:?}");
                clean += 1;
            } else {
                assert!(found.contains('?'), "a conflict for git: {texts:?}");
                conflicts += 1;
            }
        }
        assert!(clean > 150 && conflicts > 30, "{clean} {conflicts}");
    }
}
