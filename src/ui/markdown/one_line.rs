//! The beginning of a Markdown text as one line without marks, for rows of lists.

use crate::text;
use pulldown_cmark::{Event, Options, Parser, TagEnd};

/// The maximum number of bytes that are looked at.
const MAX_BYTES: usize = 2048;

/// Returns the words of the first paragraph, heading or list item; of a text that only has HTML, its first line.
pub fn one_line(markdown: &str) -> String {
    let head = text::head_bytes(markdown.trim_start(), MAX_BYTES);
    let mut line = String::new();
    for event in Parser::new_ext(head, Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TABLES) {
        match event {
            Event::Text(words) => {
                // The marks of inline diffs (GitLab, "Markdown").
                let marks = ["{-", "-}", "{+", "+}"];
                line.push_str(&marks.iter().fold(words.into_string(), |words, mark| words.replace(mark, "")));
            }
            Event::Code(words) => line.push_str(&words),
            Event::SoftBreak | Event::HardBreak => line.push(' '),
            Event::End(TagEnd::TableCell) => line.push(' '),
            Event::Start(_) | Event::End(TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Link) => {}
            Event::End(_) if !line.trim().is_empty() => break,
            _ => {}
        }
    }
    let line = line.trim().lines().next().unwrap_or_default();
    let is_html = || head.lines().next().unwrap_or_default().trim_end().to_owned();
    if line.is_empty() { is_html() } else { line.trim_end().to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_words_have_no_marks() {
        for (markdown, expected) in [
            ("## Coverage\n\n82 % of **all** lines", "Coverage"),
            (
                "Please see [the docs](https://a.example/b) and `src/a.rs`,\nthey **differ**.\n\nMore",
                "Please see the docs and src/a.rs, they differ.",
            ),
            ("changed title from **{-Old words-}** to **{+New words+}**", "changed title from Old words to New words"),
            ("- [ ] first\n- [x] second", "[ ] first"),
            ("> quoted\n\nanswer", "quoted"),
            ("```rust\nlet a = 1;\nlet b = 2;\n```", "let a = 1;"),
            ("![a screenshot](/uploads/1/a.png){width=400}", "a screenshot"),
            ("| one | two |\n|---|---|\n| 1 | 2 |", "one two"),
            ("<br>\n\nwords", "words"),
            ("<ul><li>abc - Commit</li></ul>", "<ul><li>abc - Commit</li></ul>"),
            ("~~no~~ _yes_ !12 @ada #3", "no yes !12 @ada #3"),
            ("", ""),
        ] {
            assert_eq!(one_line(markdown), expected, "{markdown:?}");
        }
    }
}
