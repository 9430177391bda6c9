//! Diffs computed locally from both versions of a file, if the server does not send them.

use super::{FileDiff, Source, parse};
use crate::code::Text;
use domain::edits::unified_diff;
use std::time::Duration;

/// The time limit for computing a diff. When it expires, the diff remains coarse, with large replaced blocks.
const TIME_LIMIT: Duration = Duration::from_secs(3);

/// Computes the changes between two versions of a file. Runs on a worker thread.
pub fn compute(source: &Source, old: &Text, new: &Text) -> FileDiff {
    let text = unified_diff(old.as_str(), new.as_str(), TIME_LIMIT);
    let (too_large, collapsed) = (false, false);
    let mut file = parse(Source { diff: text, too_large, collapsed, ..source.clone() });
    file.is_local = true;
    file
}
