//! A merge of the user's and others' changes of a file: changes of one side are applied, conflicting ones are marked.

use crate::domain::merge::{self as lines, Changed};
use crate::store::{Canceled, Derive};
use std::time::Duration;

/// The maximum time for comparing two texts, after which the rest counts as changed.
const DIFF_TIMEOUT: Duration = Duration::from_secs(3);

/// A computation that merges the user's and others' changes of the same text.
pub struct Merge {
    pub key: String,
    pub base: Vec<u8>,
    pub mine: Vec<u8>,
    pub theirs: Vec<u8>,
    /// The name of their side in conflict markers.
    pub name: String,
}

/// The merged text and the number of conflicts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    pub text: String,
    pub conflicts: usize,
}

impl Derive for Merge {
    /// The result; `None` if one of the texts is not UTF-8.
    type Output = Option<Merged>;

    fn key(&self) -> String {
        self.key.clone()
    }

    fn memory(&self) -> usize {
        8 * [&self.base, &self.mine, &self.theirs].map(|text| text.len()).iter().sum::<usize>()
    }

    fn run(&self, _: Canceled<'_>) -> Option<Merged> {
        let [base, mine, theirs] = [&self.base, &self.mine, &self.theirs].map(|bytes| std::str::from_utf8(bytes));
        Some(merge(base.ok()?, mine.ok()?, theirs.ok()?, &self.name))
    }
}

/// Merges by lines; conflicting changes are put between markers, mine first.
pub fn merge(base: &str, mine: &str, theirs: &str, name: &str) -> Merged {
    let [base, mine, theirs] = [base, mine, theirs].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
    let mut merged = Merged { text: String::new(), conflicts: 0 };
    // Markers end as the other lines do: the editor would take a file with other lines for one with mixed line endings.
    let first = [&base, &mine, &theirs].into_iter().find_map(|lines| lines.first().filter(|line| line.ends_with('\n')));
    let end = if first.is_some_and(|line| line.ends_with("\r\n")) { "\r\n" } else { "\n" };
    for stretch in lines::merge(&base, &mine, &theirs, DIFF_TIMEOUT) {
        let my = mine.get(stretch.ours).unwrap_or_default();
        let their = theirs.get(stretch.theirs).unwrap_or_default();
        match stretch.changed {
            Changed::Theirs => merged.text.extend(their.iter().copied()),
            Changed::Neither | Changed::Ours | Changed::Alike => merged.text.extend(my.iter().copied()),
            Changed::Conflict => {
                merged.conflicts += 1;
                mark(&mut merged.text, my, their, name, end);
            }
        }
    }
    merged
}

fn mark(text: &mut String, mine: &[&str], theirs: &[&str], name: &str, end: &str) {
    let name = format!(">>>>>>> {name}");
    for (head, lines) in [("<<<<<<< mine", mine), ("=======", theirs), (name.as_str(), &[])] {
        // A last line without a line ending must not run into a marker.
        if !text.is_empty() && !text.ends_with('\n') {
            text.push_str(end);
        }
        text.push_str(head);
        text.push_str(end);
        text.extend(lines.iter().copied());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(base: &str, mine: &str, theirs: &str) -> (String, usize) {
        let merged = merge(base, mine, theirs, "main");
        (merged.text, merged.conflicts)
    }

    #[test]
    fn changes_of_one_side_are_applied() {
        let base = "a\nb\nc\nd\n";
        assert_eq!(merged(base, "A\nb\nc\nd\n", "a\nb\nc\nD\n"), ("A\nb\nc\nD\n".into(), 0));
        assert_eq!(merged(base, "a\nb\nc\nd\ne\n", "b\nc\nd\n"), ("b\nc\nd\ne\n".into(), 0));
        assert_eq!(merged(base, base, "x\n"), ("x\n".into(), 0));
        assert_eq!(merged(base, "x\n", "x\n"), ("x\n".into(), 0));
        assert_eq!(merged("", "", ""), (String::new(), 0));
    }

    #[test]
    fn different_changes_of_both_sides_are_marked_as_conflicts() {
        let (text, conflicts) = merged("a\nb\nc\n", "a\nmine\nc\n", "a\ntheirs\nc\n");
        assert_eq!(text, "a\n<<<<<<< mine\nmine\n=======\ntheirs\n>>>>>>> main\nc\n");
        assert_eq!(conflicts, 1);
        let (text, _) = merged("a\r\nb", "a\r\nmine", "a\r\ntheirs");
        assert_eq!(text, "a\r\n<<<<<<< mine\r\nmine\r\n=======\r\ntheirs\r\n>>>>>>> main\r\n");
        let (text, _) = merged("", "mine", "theirs");
        assert_eq!(text, "<<<<<<< mine\nmine\n=======\ntheirs\n>>>>>>> main\n");
    }
}
