//! Labels of projects and groups.

crate::resource! {
    /// A label.
    pub struct Label {
        id: u64,
        name: String,
        /// `#rrggbb`.
        color: String,
        description: Option<String>,
    }
    newer {
        /// The color of its text: `#rrggbb`.
        text_color: String,
        description_html: String,
        open_issues_count: u64,
        closed_issues_count: u64,
        open_merge_requests_count: u64,
        subscribed: bool,
        /// The lower, the more important.
        priority: u64,
        /// Whether it belongs to the project itself, not to a group above it.
        is_project_label: bool,
        archived: bool,
    }
}

/// Red, green and blue of `#rrggbb` or `#rgb`.
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
    fn a_color_is_read_in_both_lengths_and_anything_else_is_none() {
        assert_eq!(rgb("#d9534f"), Some([0xd9, 0x53, 0x4f]));
        assert_eq!(rgb("#0fA"), Some([0, 255, 170]));
        for wrong in ["", "#", "d9534f", "#d9534", "#ggg", "red", "#+1+1+1", "#ü1ü1"] {
            assert_eq!(rgb(wrong), None, "{wrong}");
        }
    }
}
