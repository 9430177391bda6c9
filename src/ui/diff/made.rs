//! A diff that is made here, of both versions of a file, if the server does not send it.

use super::{FileDiff, Source, parse};
use crate::ui::code::Text;
use crate::ui::edits::unified_diff;
use std::time::Duration;

/// A difference that takes longer is left coarse: large blocks that went and came.
const PATIENCE: Duration = Duration::from_secs(3);

/// The changes between two versions of a file; for a worker.
pub fn between(source: &Source, old: &Text, new: &Text) -> FileDiff {
    let text = unified_diff(old.as_str(), new.as_str(), PATIENCE);
    let (too_large, collapsed) = (false, false);
    let mut file = parse(Source { diff: text, too_large, collapsed, ..source.clone() });
    file.made_here = true;
    file
}
