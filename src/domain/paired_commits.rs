//! The commits of two versions of a merge request, paired as `git range-diff` does: a commit is the same, changed, new, gone
//! or taken over by the target branch. Unlike there, commits that tell that they are the same one are paired at once.

use super::edits::{edits, lines};
use api::Time;
use api::commits::{Commit, DiffEntry};
use jiff::Timestamp;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

/// The share of its lines, in percent, that it costs to leave a commit without a partner, as in git.
const ALONE_PERCENT: usize = 60;
/// The maximum number of commits on each side that are paired by their changes.
const MAX_BY_CHANGES: usize = 30;
const TIME_LIMIT: Duration = Duration::from_millis(100);

/// The changes of commits by their SHA: `None` if they cannot be compared, as if some are missing.
pub type Patches = HashMap<String, Option<Arc<Vec<DiffEntry>>>>;

/// The change of a commit since the earlier version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A merge, which is not compared.
    Merge,
    Same,
    /// With the number of lines that are added or removed by one of them alone; 0 if only the lines around differ.
    Changed(usize),
    /// Its message changed, and nothing else.
    Reworded,
    /// Its changes are not known, or not completely.
    NotCompared,
    New,
    Gone,
    /// Moved to the target branch.
    TakenOver,
}

/// A commit of the current version, or one that is no longer in it.
#[derive(Clone, Debug, PartialEq)]
pub struct PairedCommit {
    pub commit: Commit,
    /// The commit of the earlier version that it is paired with.
    pub before: Option<Commit>,
    pub mark: Mark,
}

/// The commits of two versions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PairedCommits {
    /// The commits of the current version in their order, and then those that are no longer in it.
    pub commits: Vec<PairedCommit>,
    /// The commits whose changes are needed to complete the comparison, by their SHAs.
    pub needed: Vec<String>,
}

/// Returns whether a commit is a merge. GitLab leaves out the parents of a merge request's commits
/// (`MergeRequestDiffCommit#parent_ids`), but git names merges alike.
fn is_merge(commit: &Commit) -> bool {
    let named = ["Merge branch ", "Merge remote-tracking branch ", "Merge commit ", "Merge tag "];
    commit.is_merge() || commit.parent_ids.is_empty() && named.iter().any(|name| commit.title.starts_with(name))
}

/// The properties by which commits are paired, one after the other. `None` does not match anything.
type CommitIdentity<'a> = Option<(&'a str, Option<Timestamp>, Option<&'a str>)>;

fn identity(commit: &Commit, by_date: bool, by_title: bool) -> CommitIdentity<'_> {
    let date = commit.authored_date.as_ref().and_then(Time::instant);
    let title = Some(commit.title.as_str()).filter(|_| by_title);
    (!by_date || date.is_some()).then_some((commit.author_email.as_str(), date.filter(|_| by_date), title))
}

/// Pairs the commits `before` and `now`. `target` has the commits of the target branch between both bases.
pub fn pair(before: &[Commit], now: &[Commit], target: &[Commit], patches: &Patches) -> PairedCommits {
    let mut pairs: Vec<Option<usize>> = vec![None; now.len()];
    let mut left: BTreeSet<usize> = (0..before.len()).collect();
    let same_sha: HashMap<&str, usize> =
        before.iter().enumerate().map(|(at, commit)| (commit.id.as_str(), at)).collect();
    for (pair, commit) in pairs.iter_mut().zip(now) {
        *pair = same_sha.get(commit.id.as_str()).copied().filter(|at| left.remove(at));
    }
    for (by_date, by_title) in [(true, true), (true, false), (false, true)] {
        let mut known: HashMap<CommitIdentity, Vec<usize>> = HashMap::new();
        for (at, commit) in
            before.iter().enumerate().rev().filter(|(at, commit)| left.contains(at) && !is_merge(commit))
        {
            known.entry(identity(commit, by_date, by_title)).or_default().push(at);
        }
        known.remove(&None);
        for (pair, commit) in pairs.iter_mut().zip(now).filter(|(pair, commit)| pair.is_none() && !is_merge(commit)) {
            *pair = known.get_mut(&identity(commit, by_date, by_title)).and_then(Vec::pop).filter(|at| left.remove(at));
        }
    }
    let mut needed: Vec<String> = Vec::new();
    let mut need = |commit: &Commit| match patches.get(&commit.id) {
        Some(patch) => patch.as_ref().and_then(|patch| patch_lines(patch)),
        None => {
            needed.push(commit.id.clone());
            None
        }
    };
    // The changes of commits that are paired already come first.
    let mut marks: Vec<Mark> = Vec::new();
    for (pair, commit) in pairs.iter().zip(now) {
        let partner = pair.and_then(|at| before.get(at));
        marks.push(match partner {
            _ if is_merge(commit) => Mark::Merge,
            None => Mark::New,
            Some(partner) if partner.id == commit.id => Mark::Same,
            Some(partner) => match (need(commit), need(partner)) {
                (Some(new), Some(old)) => mark(&difference(&old, &new), partner, commit),
                _ => Mark::NotCompared,
            },
        });
    }
    let taken: HashSet<&str> = target.iter().map(|commit| commit.id.as_str()).collect();
    let known: HashSet<CommitIdentity> = target.iter().map(|commit| identity(commit, true, true)).collect();
    let is_taken_over = |commit: &Commit| {
        let identity = identity(commit, true, true);
        taken.contains(commit.id.as_str()) || identity.is_some() && known.contains(&identity)
    };
    // The rest is paired by changes: the most similar ones first.
    let alone_now: Vec<usize> = (0..now.len()).filter(|at| marks.get(*at) == Some(&Mark::New)).collect();
    let mut is_alone = |at: &usize| before.get(*at).is_some_and(|commit| !is_merge(commit) && !is_taken_over(commit));
    let alone_before: Vec<usize> = left.iter().copied().filter(&mut is_alone).collect();
    let (mut is_complete, mut found) = (true, Vec::new());
    let few = 1..=MAX_BY_CHANGES;
    if few.contains(&alone_now.len()) && few.contains(&alone_before.len()) {
        let mut patches_of = |all: &[Commit], alone: &[usize]| -> Vec<Option<Vec<&[u8]>>> {
            alone.iter().map(|at| all.get(*at).and_then(&mut need)).collect()
        };
        let (new, old) = (patches_of(now, &alone_now), patches_of(before, &alone_before));
        is_complete = new.iter().chain(&old).all(Option::is_some);
        for (new, at_now) in new.iter().zip(&alone_now) {
            for (old, at_before) in old.iter().zip(&alone_before) {
                let (Some(old), Some(new)) = (old, new) else { continue };
                let difference = difference(old, new);
                if difference.lines * 100 < (old.len() + new.len()) * ALONE_PERCENT {
                    found.push((difference.lines, *at_now, *at_before, difference));
                }
            }
        }
    }
    found.sort_unstable_by_key(|(lines, at_now, at_before, _)| (*lines, *at_now, *at_before));
    for (_, at_now, at_before, difference) in found {
        let Some((pair, mark_of)) = pairs.get_mut(at_now).zip(marks.get_mut(at_now)) else { continue };
        if pair.is_none() && left.remove(&at_before) {
            *pair = Some(at_before);
            if let Some((old, new)) = before.get(at_before).zip(now.get(at_now)) {
                *mark_of = mark(&difference, old, new);
            }
        }
    }
    let current = now.iter().zip(pairs).zip(marks).map(|((commit, pair), mark)| {
        let is_open = mark == Mark::New && !is_complete;
        let mark = if is_open { Mark::NotCompared } else { mark };
        PairedCommit { commit: commit.clone(), before: pair.and_then(|at| before.get(at)).cloned(), mark }
    });
    let gone = left.iter().filter_map(|at| before.get(*at)).map(|commit| {
        let mark = match () {
            () if is_taken_over(commit) => Mark::TakenOver,
            () if is_merge(commit) || is_complete => Mark::Gone,
            () => Mark::NotCompared,
        };
        PairedCommit { commit: commit.clone(), before: None, mark }
    });
    PairedCommits { commits: current.chain(gone).collect(), needed }
}

fn mark(difference: &Difference, before: &Commit, now: &Commit) -> Mark {
    match difference.lines {
        0 if (&before.title, &before.message) == (&now.title, &now.message) => Mark::Same,
        0 => Mark::Reworded,
        _ => Mark::Changed(difference.changes),
    }
}

/// Returns the changes of a commit as lines, without the places of hunks; `None` if they are not complete.
fn patch_lines(entries: &[DiffEntry]) -> Option<Vec<&[u8]>> {
    let mut out: Vec<&[u8]> = Vec::new();
    for entry in entries {
        let is_renamed_only = entry.renamed_file && !entry.is_withheld();
        let changes_mode = entry.a_mode != entry.b_mode && !entry.new_file && !entry.deleted_file;
        if !entry.has_lines() && (entry.is_withheld() || !(is_renamed_only || changes_mode)) {
            return None;
        }
        out.extend([entry.old_path.as_bytes(), entry.new_path.as_bytes()]);
        out.extend([&entry.a_mode, &entry.b_mode].into_iter().flatten().map(String::as_bytes));
        out.extend(lines(entry.diff.as_bytes()).into_iter().map(|line| match line.starts_with(b"@@") {
            true => b"@@".as_slice(),
            false => line,
        }));
    }
    Some(out)
}

/// The difference of the changes of two commits.
struct Difference {
    /// The number of lines that differ.
    lines: usize,
    /// The number of these that add or remove a line.
    changes: usize,
}

fn difference(old: &[&[u8]], new: &[&[u8]]) -> Difference {
    let changed = edits(old, new, TIME_LIMIT).into_iter().filter(|edit| !edit.is_equal);
    let lines = changed.flat_map(|edit| [old.get(edit.old), new.get(edit.new)]).flatten().flatten();
    let is_change = |line: &&&[u8]| line.starts_with(b"+") || line.starts_with(b"-");
    Difference { lines: lines.clone().count(), changes: lines.filter(is_change).count() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commit(id: &str, title: &str, date: &str) -> Commit {
        Commit {
            id: id.into(),
            title: title.into(),
            message: format!("{title}\n"),
            author_email: "ada@example.com".into(),
            authored_date: Some(Time(format!("2026-06-0{date}T10:00:00+02:00"))),
            ..Commit::default()
        }
    }

    fn patch(path: &str, at: usize, lines: &[&str]) -> Option<Arc<Vec<DiffEntry>>> {
        let added: String = lines.iter().map(|line| format!("+{line}\n")).collect();
        let diff = format!("@@ -{at},0 +{at},{} @@ fn x()\n{added}", lines.len());
        let path = path.to_owned();
        Some(Arc::new(vec![DiffEntry { diff, old_path: path.clone(), new_path: path, ..DiffEntry::default() }]))
    }

    fn patches(all: &[(&str, Option<Arc<Vec<DiffEntry>>>)]) -> Patches {
        all.iter().map(|(id, patch)| ((*id).to_owned(), patch.clone())).collect()
    }

    /// Returns the commits with their marks and partners.
    fn rows(paired: &PairedCommits) -> Vec<String> {
        let row = |row: &PairedCommit| {
            let before = row.before.as_ref().map(|before| format!(" from {}", before.id)).unwrap_or_default();
            format!("{:?} {}{before}", row.mark, row.commit.id)
        };
        paired.commits.iter().map(row).collect()
    }

    #[test]
    fn a_commit_is_the_same_changed_new_gone_or_taken_over() {
        let before = [
            commit("b5", "Try twice", "5"),
            commit("b4", "Retry uploads", "4"),
            commit("b3", "Parse headers", "3"),
            commit("b2", "Fix typo", "2"),
            commit("b1", "Keep", "1"),
        ];
        let now = [
            commit("n9", "Answer review", "9"),
            commit("n4", "Retry uploads", "4"),
            commit("n3", "Parse headers", "3"),
            Commit { parent_ids: vec!["b1".into(), "m1".into()], ..commit("n0", "Merge main", "8") },
            commit("b1", "Keep", "1"),
        ];
        // In a comparison, dates are in the time zones of their authors.
        let utc = Some(Time("2026-06-02T08:00:00Z".into()));
        let target = [Commit { authored_date: utc, ..commit("m2", "Fix typo", "2") }];
        let first = pair(&before, &now, &target, &Patches::new());
        assert_eq!(first.needed, ["n4", "b4", "n3", "b3", "n9", "b5"], "pairs first, then the rest");
        let known = patches(&[
            ("n4", patch("a.rs", 7, &["x", "retry", "y"])),
            ("b4", patch("a.rs", 2, &["x", "y"])),
            ("n3", patch("b.rs", 90, &["parse"])),
            ("b3", patch("b.rs", 30, &["parse"])),
            ("n9", patch("c.rs", 1, &["answer", "to", "review"])),
            ("b5", patch("d.rs", 1, &["try", "again"])),
        ]);
        let paired = pair(&before, &now, &target, &known);
        assert_eq!(
            rows(&paired),
            [
                "New n9",
                "Changed(1) n4 from b4",
                "Same n3 from b3",
                "Merge n0",
                "Same b1 from b1",
                "Gone b5",
                "TakenOver b2"
            ]
        );
        assert!(paired.needed.is_empty());
    }

    #[test]
    fn reworded_and_redated_commits_are_paired_and_the_rest_by_changes() {
        let known = patches(&[
            ("b1", patch("a", 1, &["1", "2", "3", "4", "5"])),
            ("n1", patch("a", 9, &["1", "2", "3", "4", "5"])),
            ("b2", patch("b", 1, &["1", "2", "3", "4", "5"])),
            ("n2", patch("b", 1, &["1", "2", "3", "4", "6"])),
        ]);
        let reworded = pair(&[commit("b1", "Old", "1")], &[commit("n1", "New", "1")], &[], &known);
        assert_eq!(rows(&reworded), ["Reworded n1 from b1"]);
        let redated = pair(&[commit("b1", "Old", "1")], &[commit("n1", "Old", "2")], &[], &known);
        assert_eq!(rows(&redated), ["Same n1 from b1"]);
        // Both differ: in order of their changes, whatever their order in the list.
        let before = [commit("b1", "Old 1", "1"), commit("b2", "Old 2", "2")];
        let now = [commit("n2", "New 2", "8"), commit("n1", "New 1", "9")];
        assert_eq!(rows(&pair(&before, &now, &[], &known)), ["Changed(2) n2 from b2", "Reworded n1 from b1"]);
        // Commits with the same title and date are paired in their order.
        let twins = |ids: [&str; 2]| ids.map(|id| commit(id, "Twin", "1"));
        assert_eq!(
            rows(&pair(&twins(["b1", "b2"]), &twins(["n1", "n2"]), &[], &known)),
            ["Same n1 from b1", "Changed(2) n2 from b2"]
        );
    }

    #[test]
    fn nothing_is_claimed_of_changes_that_are_unknown() {
        let (before, now) = ([commit("b1", "A", "1")], [commit("n1", "A", "1")]);
        assert_eq!(rows(&pair(&before, &now, &[], &Patches::new())), ["NotCompared n1 from b1"]);
        // A binary file, a diff that the server left out, and no reply.
        let entry = |diff: &str, too_large| {
            let entry = DiffEntry { diff: diff.into(), new_path: "a".into(), too_large, ..DiffEntry::default() };
            Some(Arc::new(vec![entry]))
        };
        for patch in [entry("Binary files a/a and b/a differ\n", None), entry("", Some(true)), entry("", None), None] {
            let known = patches(&[("b1", patch.clone()), ("n1", patch)]);
            assert_eq!(rows(&pair(&before, &now, &[], &known)), ["NotCompared n1 from b1"]);
        }
        // As long as changes are missing, a commit may be either.
        let other = [commit("n1", "B", "2")];
        assert_eq!(rows(&pair(&before, &other, &[], &Patches::new())), ["NotCompared n1", "NotCompared b1"]);
        assert_eq!(rows(&pair(&before, &[], &[], &Patches::new())), ["Gone b1"]);
        assert_eq!(rows(&pair(&[], &other, &[], &Patches::new())), ["New n1"]);
        // Without dates, titles count.
        let undated = |id: &str| Commit { authored_date: None, ..commit(id, "A", "") };
        let known = patches(&[("b1", patch("a", 1, &["x"])), ("n1", patch("a", 1, &["x"]))]);
        assert_eq!(rows(&pair(&[undated("b1")], &[undated("n1")], &[], &known)), ["Same n1 from b1"]);
        // GitLab sends no parents of a merge request's commits.
        let merge = |id: &str| commit(id, "Merge branch 'main' into work", "1");
        assert_eq!(rows(&pair(&[merge("b1")], &[merge("n1")], &[], &Patches::new())), ["Merge n1", "Gone b1"]);
    }
}
