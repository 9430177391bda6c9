//! Labels of projects and groups. Not in the specification, although servers of that version support those of projects.

use crate::NoContent;
use crate::types::Specified;
use serde::{Deserialize, Serialize};

crate::resource! {
    /// A label.
    pub struct Label {
        id: u64,
        name: String,
        /// The color: `#rrggbb`.
        color: String,
        description: Option<String>,
    }
    unspecified {
        /// The text color: `#rrggbb`.
        text_color: Option<String>,
        description_html: Option<String>,
        open_issues_count: Option<u64>,
        closed_issues_count: Option<u64>,
        open_merge_requests_count: Option<u64>,
        subscribed: Option<bool>,
        /// The priority; lower values are more important.
        priority: Option<u64>,
        /// Whether the label belongs to the project itself, not to an ancestor group.
        is_project_label: Option<bool>,
        archived: Option<bool>,
    }
}

crate::endpoints! {
    unspecified section "Labels";

    /// Lists the labels, sorted by name.
    GET "/labels" of scope: Scope [project, group] => Vec<Label>, about Labels;
    struct ListLabels {
        /// Whether to count issues and merge requests.
        with_counts: Option<bool>,
        /// Whether to include labels of ancestor groups (default: yes).
        include_ancestor_groups: Option<bool>,
        /// Part of the name or description.
        search: Option<String>,
    }

    /// Creates a label.
    POST "/labels" of scope: Scope [project, group] => Label,
    outdates [Labels];
    struct CreateLabel {
        name: String,
        /// `#rgb`, `#rrggbb`, or a CSS color name.
        color: String,
        description: Option<String>,
        /// Lower values are more important; only in projects.
        priority: Option<u64>,
    }

    /// Updates a label. Labels of a group are updated in the group.
    PUT "/labels/{label_id}" of scope: Scope [project, group] => Label,
    outdates [Labels, Issues, Issue, MergeRequests, MergeRequest];
    struct UpdateLabel {
        /// ID or name of the label.
        label_id: String,
        /// Current name of the label, by which servers before 12.4 identify it.
        name: Option<String>,
        new_name: Option<String>,
        /// `#rgb`, `#rrggbb`, or a CSS color name.
        color: Option<String>,
        description: Option<String>,
        /// Lower values are more important; only in projects.
        priority: Option<u64>,
    }

    /// Subscribes the caller to a label; 304 without a change.
    POST "/labels/{label_id}/subscribe" of scope: Scope [project, group] => Label,
    outdates [Labels];
    struct SubscribeToLabel {
        /// ID or name of the label, also of one of a group above.
        label_id: String,
    }

    /// Unsubscribes the caller from a label; 304 without a change.
    POST "/labels/{label_id}/unsubscribe" of scope: Scope [project, group] => Label,
    outdates [Labels];
    struct UnsubscribeFromLabel {
        /// ID or name of the label, also of one of a group above.
        label_id: String,
    }

    /// Deletes a label, and removes it from all issues and merge requests.
    DELETE "/labels/{label_id}" of scope: Scope [project, group] => NoContent,
    outdates [Labels, Issues, Issue, MergeRequests, MergeRequest];
    struct DeleteLabel {
        /// ID or name of the label.
        label_id: String,
        /// Current name of the label, by which servers before 12.4 identify it.
        name: Option<String>,
    }
}

/// A label of an issue or a merge request: its name, or the complete label if the request asks for label details.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ItemLabel {
    /// The name.
    Name(String),
    /// The complete label.
    Label(Box<Label>),
    /// Any other value that newer servers may send.
    Other(serde_json::Value),
}

impl Specified for ItemLabel {
    fn restrict_to_specified(&mut self) {
        if let ItemLabel::Label(label) = self {
            label.restrict_to_specified();
        }
    }
}

impl ItemLabel {
    /// Returns the name; empty for unknown values.
    pub fn name(&self) -> &str {
        match self {
            ItemLabel::Name(name) => name,
            ItemLabel::Label(label) => &label.name,
            ItemLabel::Other(_) => "",
        }
    }

    pub fn color(&self) -> Option<&str> {
        match self {
            ItemLabel::Label(label) => Some(&label.color),
            ItemLabel::Name(_) | ItemLabel::Other(_) => None,
        }
    }
}

impl From<&str> for ItemLabel {
    fn from(name: &str) -> ItemLabel {
        ItemLabel::Name(name.to_owned())
    }
}

/// Parses a color, `#rrggbb` or `#rgb`, into red, green and blue.
pub fn rgb(color: &str) -> Option<[u8; 3]> {
    let digits = color.strip_prefix('#')?;
    let digit = |at: usize| digits.get(at..at + 1).and_then(|digit| u8::from_str_radix(digit, 16).ok());
    match digits.len() {
        3 => Some([digit(0)? * 17, digit(1)? * 17, digit(2)? * 17]),
        6 => {
            let byte = |at: usize| Some(digit(at)? * 16 + digit(at + 1)?);
            Some([byte(0)?, byte(2)?, byte(4)?])
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::rgb;

    #[test]
    fn colors_have_three_or_six_digits() {
        assert_eq!(rgb("#d9534f"), Some([0xd9, 0x53, 0x4f]));
        assert_eq!(rgb("#0fA"), Some([0, 255, 170]));
        for wrong in ["", "#", "d9534f", "#d9534", "#ggg", "red", "#+1+1+1", "#ü1ü1"] {
            assert_eq!(rgb(wrong), None, "{wrong}");
        }
    }
}
