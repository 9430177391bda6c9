//! Tests of rendering Markdown.

use super::*;
use crate::cost::cost;
use crate::ui::layers::tests::Noise;
use crate::ui::theme::Background;

fn theme() -> Theme {
    Theme::for_background(Background::Dark)
}

fn colors() -> Budget<'static> {
    Budget::new(&|| false)
}

fn plain(line: &DocLine) -> String {
    line.spans.iter().map(|(text, _)| text.as_ref()).collect()
}

fn shown(markdown: &str, width: usize) -> Vec<String> {
    render(markdown, width, &theme(), &colors()).lines.iter().map(plain).collect()
}

fn style_of(markdown: &str, word: &str) -> Style {
    let rendered = render(markdown, 80, &theme(), &colors());
    let spans: Vec<_> = rendered.lines.into_iter().flat_map(|line| line.spans).collect();
    spans.iter().find(|(text, _)| text == word).unwrap_or_else(|| panic!("{word} in {spans:?}")).1
}

#[test]
fn paragraphs_are_wrapped_and_separated() {
    assert_eq!(
        shown("one two\nthree four **five**, six\n\nend  \nhere", 12),
        ["one two", "three four", "five, six", "", "end", "here"]
    );
    assert_eq!(shown("abcdefghij日本", 5), ["abcde", "fghij", "日本"]);
}

#[test]
fn lists_nest_and_tasks_have_boxes() {
    assert_eq!(
        shown("- one\n- two\n  - deep deeper\n    text\n- [ ] open\n- [x] done\n\n3. a\n4. b\n\n   more\n-", 12),
        [
            "• one",
            "• two",
            "  • deep",
            "    deeper",
            "    text",
            "☐ open",
            "☑ done",
            "",
            "3. a",
            "",
            "4. b",
            "",
            "   more",
            "",
            "• "
        ]
    );
}

#[test]
fn headings_quotes_rules_and_code_are_rendered() {
    assert_eq!(
        shown("# Head\ntext\n\n> quoted\n> > twice\n\n---\n```rust\nfn main() {}\n```\n", 10),
        [
            "Head",
            "──────────",
            "",
            "text",
            "",
            "│ quoted",
            "│",
            "│ │ twice",
            "",
            "──────────",
            "",
            "│ rust",
            "│ fn main() {}"
        ]
    );
    assert_eq!(
        style_of("```rust\nfn main() {}\n```", "fn"),
        theme().style(Role::Text).patch(theme().style(Role::SyntaxKeyword))
    );
    assert_eq!(style_of("# Head", "Head").fg, theme().style(Role::Title).fg);
    assert!(style_of("a ~~b~~", "b").add_modifier.contains(Modifier::CROSSED_OUT));
    assert_eq!(style_of("a `b`", "b").fg, theme().style(Role::SyntaxString).fg);
    assert_eq!(style_of("a <b>", "<b>").fg, theme().style(Role::Dim).fg);
}

#[test]
fn tables_are_aligned_and_wrapped() {
    let table = "| name | n |\n|:--|--:|\n| one | 1 |\n| a much longer one | 12 |\n";
    assert_eq!(
        shown(table, 40),
        ["name              |  n", "------------------+---", "one               |  1", "a much longer one | 12"]
            .map(|line| line.replace('|', "│").replace('+', "┼").replace('-', "─"))
    );
    assert_eq!(
        shown(table, 13),
        ["name     |  n", "---------+---", "one      |  1", "a much   | 12", "longer   | ", "one      | "]
            .map(|line| line.replace('|', "│").replace("-+-", "─┼─").replace('-', "─"))
    );
    assert!(shown("| a | b | c |\n|-|-|-|\n| 1 | 2 | 3 |", 4).iter().all(|line| text::width(line) <= 4));
}

#[test]
fn columns_that_do_not_fit_follow_below() {
    let table = "| a | second one | third column |\n|-|-|-|\n| 1 | 22222222 | 33333333 |\n";
    let lines = shown(table, 16);
    assert_eq!(
        lines,
        [
            "columns 1 to 2",
            "of 3",
            "a │ second one",
            "──┼───────────",
            "1 │ 22222222",
            "column 3 of 3",
            "third column",
            "────────────",
            "33333333"
        ]
    );
    let wide = format!("{}|\n{}|\n{}|\n", "|a".repeat(300), "|-".repeat(300), "|b".repeat(300));
    assert_eq!(shown(&wide, 40).last().map(String::as_str), Some("… 44 more columns"));
}

#[test]
fn front_matter_is_only_at_the_start() {
    for text in ["one\n\n---\n\ntwo\n\n---\n\nthree", "# a\n\n---\nb: c\n\n---\nd"] {
        let lines = shown(text, 40);
        assert!(!lines.iter().any(|line| line.contains("yaml")), "{lines:?}");
        assert!(lines.iter().any(|line| line.starts_with("───")), "{lines:?}");
    }
    assert_eq!(shown("---\ntitle: x\n---\ntext", 20), ["│ yaml", "│ title: x", "", "text"]);
    assert_eq!(shown("# -*- coding: utf-8\n\n+++\nt = 1\n+++\ntext", 20), ["│ toml", "│ t = 1", "", "text"]);
    assert_eq!(shown("---toml\r\nt = 1\r\n...\r\n", 20), ["│ toml", "│ t = 1"]);
    assert_eq!(shown("----\na\n----", 4)[0], "────");
}

#[test]
fn comments_are_not_shown() {
    assert_eq!(shown("one\n\n<!-- two\n\nthree -->\n\nfour <!-- five\nsix --> seven", 40), ["one", "", "four seven"]);
    assert_eq!(shown("<!-- a --> b\n<!-- c -->\n\n- <!-- d -->\n- e", 40), ["b", "", "• ", "• e"]);
    assert_eq!(shown("<div>\n<!-- a -->\nb</div>", 40), ["<div>", "", "b</div>"]);
    assert_eq!(shown("`<!-- a -->`", 40), ["<!-- a -->"]);
    assert_eq!(shown("<!-- no end", 40), ["<!-- no end"]);
}

#[test]
fn names_of_emoji_become_emoji() {
    assert_eq!(shown("done :tada: :+1:, (:rocket:)", 40), ["done 🎉 👍, (🚀)"]);
    assert_eq!(shown(":melting_face: :thumbsup_tone3: :flag_fr: :slightly_smiling_face:", 40), ["🫠 👍🏽 🇫🇷 🙂"]);
    for text in ["at 10:30:45", "a:tada:b", ":no_such_name:", "::tada::", "`:tada:`"] {
        assert_eq!(shown(text, 40), [text.trim_matches('`')]);
    }
    assert_eq!(shown("[:bug: fix](https://x)", 40), ["🐛 fix"]);
}

#[test]
fn quotes_between_marks_are_quotes() {
    assert_eq!(
        shown("before\n>>>\none\n\n- two\n>>>\nafter", 40),
        ["before", "", "│ one", "│", "│ • two", "", "after"]
    );
    assert_eq!(shown(">>>>\na\n>>>\nb\n>>>\nc\n>>>>\nd", 40), ["│ a", "│", "│ │ b", "│", "│ c", "", "d"]);
    assert_eq!(shown("```\n>>>\na\n>>>\n```\n", 40), ["│ >>>", "│ a", "│ >>>"]);
    assert_eq!(shown(">>>\n```\n>>>\n```\n>>>\nb", 40), ["│ │ >>>", "", "b"]);
    assert_eq!(shown(">>>\nno end", 40), ["│ no end"]);
}

#[test]
fn tasks_of_numbered_lists_keep_their_numbers() {
    assert_eq!(shown("1. [x] one\n2. [ ] two\n   more", 40), ["1. ☑ one", "2. ☐ two more"]);
    assert_eq!(shown("9. a\n\n   - [x] b", 40).last().map(String::as_str), Some("   ☑ b"));
}

#[test]
fn links_and_references_are_listed() {
    let rendered = render(
        "- see [the docs](https://x/y) and !12, g/p#3 by @ada (https://z/a.b).\n- mail a@b.c, ![pic](p.png)",
        80,
        &theme(),
        &colors(),
    );
    let links = rendered.lines.iter().flat_map(|line| line.links.iter().map(move |link| (line, link)));
    let seen: Vec<_> =
        links.map(|(line, (range, target))| (plain(line)[range.clone()].to_owned(), target.as_ref())).collect();
    assert_eq!(
        seen,
        [
            ("the docs".to_owned(), "https://x/y"),
            ("!12".to_owned(), "!12"),
            ("g/p#3".to_owned(), "g/p#3"),
            ("@ada".to_owned(), "@ada"),
            ("https://z/a.b".to_owned(), "https://z/a.b"),
            ("[image: pic]".to_owned(), "p.png"),
        ]
    );
}

#[test]
fn hostile_markdown_neither_panics_nor_reaches_the_terminal() {
    let likely: &[&[u8]] = &[
        b"\n",
        b"# ",
        b"> ",
        b"- ",
        b"1. ",
        b"```\n",
        b"| a | b |\n|-|-|\n",
        b"*",
        b"**",
        b"_",
        b"[",
        b"](",
        b")",
        b"<b>",
        b"`",
        b"    ",
        b"!",
        b"[ ] ",
        b"\x1b[31m",
        "\u{202e}".as_bytes(),
        "日".as_bytes(),
        b"~~",
        b"---\n",
        b"[^1]",
        b"word ",
    ];
    let mut noise = Noise(3);
    for round in 0..400 {
        let text = String::from_utf8_lossy(&noise.bytes(300, likely)).into_owned();
        for line in shown(&text, round % 50) {
            assert!(line.chars().all(|c| !c.is_control() && c != '\u{202e}'), "{text:?} gives {line:?}");
        }
    }
    for deep in ["> ", "- ", "*a ", "[", "<b>"] {
        shown(&deep.repeat(5000), 40);
    }
}

#[test]
fn rendering_costs_are_linear() {
    let size = 64 * 1024;
    let many = |unit: &str| unit.repeat(size / unit.len());
    let nested = |unit: &str| (0..12).map(|depth| format!("{}{unit}", "  ".repeat(depth))).collect::<String>();
    let texts = [
        ("an address", format!("see https://x.example/{}", "a".repeat(size))),
        ("a link", format!("[the docs and more of them, in many words](https://x/{})", "a".repeat(size))),
        ("the text of a link", format!("[{}](https://x/{})", many("word "), "a".repeat(1000))),
        ("a word", "a".repeat(size)),
        ("a word of several looks", many("a**b**`c`")),
        ("a heading", format!("# {}", "a".repeat(size))),
        ("words", many("a ")),
        ("paragraphs", many("a\n\n")),
        ("references", many("@a ")),
        ("a table of many columns", format!("{}\n{}\n{}", many("|a"), many("|-"), many("|a\n"))),
        ("a table of short rows", format!("{}\n{}\n{}", "|a".repeat(60), "|-".repeat(60), many("|a\n"))),
        ("a cell", format!("|a|b|\n|-|-|\n|{}|[b](https://x/{})|", "a".repeat(size), "a".repeat(size))),
        ("empty lines of code", format!("```\n{}", many("\n"))),
        ("a line of code", format!("```rust\n{}", "a".repeat(size))),
        ("deep quotes", format!("{} {}", ">".repeat(100), many("a "))),
        ("deep lists", format!("{}{}", nested("1000000000. "), many("a "))),
        ("marks", format!("a{}", many("\u{301}"))),
        ("a footnote", format!("[^{0}]: x\n\ny[^{0}]", "a".repeat(size / 2))),
        ("raw HTML", many("<b>\n")),
    ];
    for (name, text) in texts {
        for width in [9, 80] {
            let (rendered, cost) = cost(|| render(&text, width, &theme(), &colors()));
            // The parser pads short rows of tables, up to a maximum number of cells.
            let spare = if name.starts_with("a table") { 64 << 20 } else { 0 };
            let parts: usize = rendered.lines.iter().map(|line| 1 + line.spans.len()).sum();
            assert!(parts <= 2 * text.len() + 2 * MIN_BUDGET, "{name}: {parts} parts of {} bytes", text.len());
            assert!(cost.peak < 400 * text.len() + spare, "{name}: {} bytes held for {}", cost.peak, text.len());
            assert!(
                cost.allocated < 2500 * text.len() + 4 * spare,
                "{name}: {} bytes taken for {}",
                cost.allocated,
                text.len()
            );
        }
    }
}

#[test]
fn too_many_lines_are_truncated_and_marked() {
    let text = format!("{}\n{}\n{}", "|a".repeat(60), "|-".repeat(60), "|a\n".repeat(20_000));
    let rendered = render(&text, 200, &theme(), &colors());
    assert!(plain(rendered.lines.last().unwrap()).ends_with("truncated"));
    assert!(rendered.lines.len() < 20_000, "{} lines", rendered.lines.len());
    assert!(shown(&"a\n\n".repeat(1000), 80).len() > 1990, "what is not hostile is whole");
}
