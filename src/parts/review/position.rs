//! The position of a new thread in the format of the API: the commits of the version, and the line numbers in both
//! files.

use crate::api::merge_requests::DiffRefs;
use crate::api::notes::{NewLineRange, NewLineRangeEnd, NewPosition, Pixels, Position, line_code};
use crate::parts::repository::changed_files::{CommentAnchor, RangeEndpoint};
use crate::ui::diff::Kind;

/// Returns the position of lines, a file or a point of an image in the changes between `refs`; `None` if one of these
/// commits is unknown.
pub fn new_position(anchor: &CommentAnchor, refs: &DiffRefs) -> Option<NewPosition> {
    let known = |sha: &Option<String>| sha.clone().filter(|sha| !sha.is_empty());
    let mut position = NewPosition {
        position_type: "text".to_owned(),
        base_sha: known(&refs.base_sha)?,
        start_sha: known(&refs.start_sha)?,
        head_sha: known(&refs.head_sha)?,
        old_path: anchor.old_path.clone(),
        new_path: anchor.path.clone(),
        ..NewPosition::default()
    };
    if let Some(point) = anchor.point {
        position.position_type = "image".to_owned();
        (position.width, position.height) = (Some(point.width), Some(point.height));
        (position.x, position.y) = (Some(point.x), Some(point.y));
        return Some(position);
    }
    if anchor.lines.is_none() {
        position.position_type = "file".to_owned();
        return Some(position);
    }
    (position.old_line, position.new_line) = (anchor.old_line, anchor.new_line);
    let end = |line: RangeEndpoint| NewLineRangeEnd {
        line_code: line_code(&anchor.path, line.old, line.new),
        r#type: match line.kind {
            Kind::Added => Some("new".to_owned()),
            Kind::Removed => Some("old".to_owned()),
            _ => None,
        },
    };
    position.line_range = anchor.line_range.map(|(first, last)| NewLineRange { start: end(first), end: end(last) });
    Some(position)
}

/// Converts the position of a draft note for another request; `None` if it has no position.
pub fn of_draft_note(position: &Position) -> Option<NewPosition> {
    let text = |field: &Option<String>| field.clone().filter(|text| !text.is_empty());
    let small = |line: Option<u64>| line.and_then(|line| u32::try_from(line).ok());
    let pixels = |pixels: Option<Pixels>| pixels.and_then(|pixels| u32::try_from(pixels.0).ok());
    let end = |line: &crate::api::notes::LineRangeEnd| NewLineRangeEnd {
        line_code: line.line_code.clone(),
        r#type: line.r#type.clone(),
    };
    Some(NewPosition {
        position_type: text(&position.position_type)?,
        base_sha: text(&position.base_sha)?,
        start_sha: text(&position.start_sha)?,
        head_sha: text(&position.head_sha)?,
        old_path: text(&position.old_path).or_else(|| text(&position.new_path))?,
        new_path: text(&position.new_path).or_else(|| text(&position.old_path))?,
        old_line: small(position.old_line),
        new_line: small(position.new_line),
        width: pixels(position.width),
        height: pixels(position.height),
        x: pixels(position.x),
        y: pixels(position.y),
        line_range: position
            .line_range
            .as_ref()
            .map(|range| NewLineRange { start: end(&range.start), end: end(&range.end) }),
    })
}
