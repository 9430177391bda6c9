//! Tests of rendering Markdown.

use super::*;
use crate::cost::cost;
use crate::dice::Dice;
use crate::theme::Background;

fn theme() -> Theme {
    Theme::for_background(Background::Dark)
}

fn colors() -> Budget<'static> {
    Budget::new(&|| false)
}

fn plain(line: &DocLine) -> String {
    line.text.plain_text()
}

fn shown(markdown: &str, width: usize) -> Vec<String> {
    render(markdown, width, &theme(), &colors()).lines.iter().map(plain).collect()
}

fn style_of(markdown: &str, word: &str) -> Style {
    let rendered = render(markdown, 80, &theme(), &colors());
    let spans: Vec<_> = rendered.lines.into_iter().flat_map(|line| line.text.spans).collect();
    let found = spans.iter().find(|span| span.text == word).unwrap_or_else(|| panic!("{word} in {spans:?}"));
    found.paint.style(&theme())
}

#[test]
fn paragraphs_are_wrapped_and_separated() {
    assert_eq!(
        shown("one two\nthree four **five**, six\n\nend  \nhere", 12),
        ["one two", "three four", "five, six", "", "end", "here"]
    );
    assert_eq!(shown("abcdefghij日本", 5), ["abcde", "fghij", "日本"]);
}

/// Returns the text with its emphasis in brackets.
fn emphasis(markdown: &str) -> String {
    let mut out = String::new();
    for line in render(markdown, 200, &theme(), &colors()).lines {
        for span in line.text.spans {
            let is_emphasis =
                span.paint.style(&theme()).add_modifier.intersects(Modifier::BOLD | Modifier::CROSSED_OUT);
            out += &if is_emphasis { format!("[{}]", span.text) } else { span.text.into_owned() };
        }
    }
    out.replace("][", "")
}

/// The kinds of cases that the CJK-friendly amendment of CommonMark lists (tats-u/markdown-cjk-friendly at 7fdf4909,
/// `testcases/`), which comrak implements for GitLab.
#[test]
fn emphasis_ends_beside_chinese_japanese_and_korean_punctuation() {
    for (markdown, expected) in [
        // A full stop, a comma or a bracket before the end, and a letter after it.
        ("**重要。**次に進む", "[重要。]次に進む"),
        ("**先に読む、**後で書く", "[先に読む、]後で書く"),
        ("这**（括号）**里", "这[（括号）]里"),
        ("**确认！**再**提交？**好", "[确认！]再[提交？]好"),
        ("彼は**「はい」**と言う", "彼は[「はい」]と言う"),
        ("꾸러미는 **(선택)**입니다", "꾸러미는 [(선택)]입니다"),
        // The other side is no letter: code, a link, a punctuation character of other scripts.
        ("**`make`**を実行", "[make]を実行"),
        ("値は**$100**です", "値は[$100]です"),
        ("**C#**と**F#**の違い", "[C#]と[F#]の違い"),
        ("仕様**(ECMA)**を読む", "仕様[(ECMA)]を読む"),
        // Characters beyond the first 65,536, with variation selectors, and signs that are no emoji.
        ("𠮷**(異体字)**屋", "𠮷[(異体字)]屋"),
        ("葛\u{e0100}**(つづら)**城", "葛\u{e0100}[(つづら)]城"),
        ("塚\u{fe00}**(つか)**本", "塚\u{fe00}[(つか)]本"),
        ("a**〽**a", "a[〽]a"),
        ("~~旧名。~~新名", "[旧名。]新名"),
        ("a~~a()~~あ", "a[a()]あ"),
        // In a table, a list and a quote.
        ("- **注意。**ここ", "• [注意。]ここ"),
        ("> **注意。**ここ", "│ [注意。]ここ"),
        // As before: words of other scripts, white space, code, what is escaped, and underscores.
        ("a**b.**c", "a**b.**c"),
        ("a**()b**c", "a**()b**c"),
        ("重要 ** 次 ** です", "重要 ** 次 ** です"),
        ("`**重要。**次`", "**重要。**次"),
        ("\\*\\*重要。\\*\\*次", "**重要。**次"),
        ("重要。__次__です", "重要。__次__です"),
        ("a**🍣**a", "a**🍣**a"),
        // After punctuation with a variation selector, underscores begin emphasis; after a letter with one, they do not.
        ("舊字。\u{fe01}__traditional.__", "舊字。\u{fe01}[traditional.]"),
        ("新字。\u{fe00}__(new)__", "新字。\u{fe00}[(new)]"),
        ("“\u{fe01}Mark”\u{fe01}__down__", "“\u{fe01}Mark”\u{fe01}[down]"),
        ("塚\u{fe00}__つか__", "塚\u{fe00}__つか__"),
        // An escape takes no part in emphasis.
        ("**a\\:**b", "**a:**b"),
    ] {
        assert_eq!(emphasis(markdown), expected, "{markdown}");
    }
    // The marks for the parser are shown nowhere.
    let text = "# 見出し。**「一」**二\n\n```sh 「**」\n「**」\n```\n\n[題。**](https://h.test/「**」次)\n\n<b title=\"「**」次\">x</b> \
                $「**」次$ [^「**」次]\n\n[^「**」次]: 注。**「二」**三\n\n| **重要。**|b |\n|-|-|\n| \\:tada: | \\@ada |\n";
    let rendered = render(text, 80, &theme(), &colors());
    assert!(!format!("{rendered:?}").contains("fdd0"), "{rendered:?}");
    assert!(rendered.section("見出し一二").is_some(), "{:?}", rendered.sections);
}

/// GitLab, `lib/banzai/filter/markdown_engines/glfm_markdown.rb`: the characters of references can be escaped.
#[test]
fn escaped_emoji_and_references_are_text() {
    for (text, expected) in [
        ("\\:tada: :tada:", ":tada: 🎉"),
        (":tada\\: :tada:", ":tada: 🎉"),
        (":ta\\:tada:", ":ta:tada:"),
        ("\\::tada:\\:", ":🎉:"),
        ("\\\\:tada:", "\\🎉"),
        ("`\\:tada:`", "\\:tada:"),
    ] {
        assert_eq!(shown(text, 80), [expected], "{text}");
    }
    let text = "\\!12 \\#3 \\@ada a/b\\!4 !5 #6 @bo";
    let rendered = render(text, 80, &theme(), &colors());
    assert_eq!(rendered.lines.iter().map(plain).collect::<Vec<_>>(), ["!12 #3 @ada a/b!4 !5 #6 @bo"]);
    let links: Vec<&str> = rendered.lines[0].links.iter().map(|(_, target)| &**target).collect();
    assert_eq!(links, ["!5", "#6", "@bo"]);
}

/// GitLab, `lib/gitlab/file_type_detection.rb`: the extensions of videos and audio.
#[test]
fn videos_and_audio_are_told_from_images() {
    for (file, kind) in [
        ("a.mp4", "video"),
        ("a.m4v", "video"),
        ("a.MOV", "video"),
        ("a.webm", "video"),
        ("a.ogv", "video"),
        ("a.mp3", "audio"),
        ("a.oga", "audio"),
        ("a.ogg", "audio"),
        ("a.spx", "audio"),
        ("a.wav?inline=true#t=3", "audio"),
        ("a.png", "image"),
        ("mp4", "image"),
    ] {
        let markdown = format!("![how](/uploads/1/{file})");
        let html = format!("<img src=\"/uploads/1/{file}\" alt=how>");
        for text in [&markdown, &html] {
            let rendered = render(text, 80, &theme(), &colors());
            assert_eq!(plain(&rendered.lines[0]), format!("[{kind}: how]"), "{text}");
            assert_eq!(rendered.images.len(), usize::from(kind == "image"), "{text}");
            assert_eq!(&*rendered.lines[0].links[0].1, format!("/uploads/1/{file}"), "{text}");
        }
    }
}

/// Comrak's `tasklist_in_table`, and GitLab's `spec/lib/banzai/filter/task_list_filter_spec.rb` for the spaces in a box.
#[test]
fn a_task_can_be_alone_in_a_cell_and_its_box_can_have_any_space() {
    let rows = shown("| [x] | [ ] | [~] | [x] done | [y] |\n|-|-|-|-|-|\n| [X] | a [x] | [] | **[x]** | |\n", 80);
    let cells = |row: &str| row.split('│').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    assert_eq!(cells(&rows[0]), ["☑", "☐", "⊟", "[x] done", "[y]"]);
    assert_eq!(cells(&rows[2])[..3], ["☑", "a [x]", "[]"]);
    // What is written as code, as emphasis, as a link, or with an escape is none, in cells and in items.
    let rows = shown(
        "| a | b | c | d | e | f |\n|-|-|-|-|-|-|\n| `[x]` | **[x]** | [[x]](/a) | \\[x] | [x\\] | [x]`` a`` |\n",
        80,
    );
    assert_eq!(cells(&rows[2]), ["[x]", "[x]", "[x]", "[x]", "[x]", "[x] a"]);
    let items = "- `[~]` a\n- **[~] b**\n- \\[~] c\n- [\\~] d\n- [~\\] e\n- [~] f";
    assert_eq!(shown(items, 20), ["• [~] a", "• [~] b", "• [~] c", "• [~] d", "• [~] e", "⊟ f"]);
    for space in [' ', '\u{a0}', '\u{2007}', '\u{202f}', '\u{2009}'] {
        assert_eq!(shown(&format!("- [{space}] open"), 20), ["☐ open"], "{space:?}");
    }
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
        [
            "name     |  n",
            "---------+---",
            "one      |  1",
            "---------+---",
            "a much   | 12",
            "longer   | ",
            "one      | "
        ]
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
    let lines = shown(&wide, 60);
    assert_eq!(lines.last().map(String::as_str), Some("… 44 more columns: see the source or the web page"));
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
    assert_eq!(shown("<div>\n<!-- a -->\nb</div>", 40), ["b"]);
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
fn wrapped_rows_are_separated() {
    let rows = |table: &str, width| shown(table, width).iter().filter(|line| line.starts_with('─')).count();
    assert_eq!(rows("|a|b|\n|-|-|\n|1|2|\n|3|4|\n|5|6|", 40), 1, "nothing is wrapped");
    assert_eq!(rows("|a|b|\n|-|-|\n|1|two words|\n|3|4|\n|5|6|", 12), 3);
    assert_eq!(rows("|a|b|\n|-|-|\n|1|x<br>y|\n|3|4|", 40), 2);
    assert_eq!(rows("|a|\n|-|\n|aaaa bbbb|\n|c|", 6), 2, "a column alone");
}

#[test]
fn tasks_that_do_not_apply_are_struck_through() {
    assert_eq!(
        shown("- [~] one\n- [x] two\n  - [~] three\n\n1. [~] four", 40),
        ["⊟ one", "☑ two", "  ⊟ three", "", "1. ⊟ four"]
    );
    assert!(style_of("- [~] one", "one").add_modifier.contains(Modifier::CROSSED_OUT));
    assert!(!style_of("- [~] one\n- two", "two").add_modifier.contains(Modifier::CROSSED_OUT));
    assert_eq!(shown("[~] no item\n\n- a [~] b", 40), ["[~] no item", "", "• a [~] b"]);
}

#[test]
fn alerts_have_titles() {
    assert_eq!(shown("> [!note]\n> text", 40), ["│ Note", "│ text"]);
    assert_eq!(shown("> [!WARNING] Data `loss`\n> text\n> more", 40), ["│ Data loss", "│ text more"]);
    assert_eq!(shown(">>> [!tip] Things\nto do\n\n1. a\n>>>\nb", 40), ["│ Things", "│ to do", "│", "│ 1. a", "", "b"]);
    assert_eq!(shown("> [!flag] x\n> y", 40), ["│ [!flag] x y"]);
    assert!(style_of("> [!caution] Stop\n> text", "Stop").add_modifier.contains(Modifier::BOLD));
    assert!(!style_of("> [!caution] Stop\n> text", "text").add_modifier.contains(Modifier::BOLD));
}

#[test]
fn changes_within_a_text_have_colors_and_keep_their_marks() {
    let theme = theme();
    assert_eq!(style_of("a {+ b +} c", "{+ b +}").fg, theme.style(Role::Added).fg);
    assert_eq!(style_of("a [- b -] c", "[- b -]").fg, theme.style(Role::Removed).fg);
    for text in ["{+ a +]", "[- a -}", "{+ a", "{+}"] {
        assert_eq!(style_of(text, text).fg, theme.style(Role::Text).fg);
    }
    assert_eq!(shown("{+ a +}{- b -}[+c+] {+ d", 40), ["{+ a +}{- b -}[+c+] {+ d"]);
}

#[test]
fn colors_have_a_chip() {
    assert_eq!(shown("`#F00` `\\#FF0000` `#12`", 40), ["#F00 ■ #FF0000 #12"]);
    assert_eq!(style_of("`#F00`", " ■").fg, theme().pixel([255, 0, 0]));
}

#[test]
fn math_keeps_its_source() {
    assert_eq!(shown("is $`a_1 * b_2`$ or $\\{a_b_c\\}$", 40), ["is $a_1 * b_2$ or $\\{a_b_c\\}$"]);
    assert_eq!(shown("$$\na^2 \\\\\nb\n$$", 40), ["$$", "a^2 \\\\", "b", "$$"]);
    assert_eq!(shown("costs $5, then $6", 40), ["costs $5, then $6"]);
}

#[test]
fn a_table_of_contents_lists_the_headings() {
    assert_eq!(shown("[[_TOC_]]\n\n## One\n### Two `a`\n## Three\n", 40)[..4], ["• One", "  • Two a", "• Three", ""]);
    assert_eq!(shown("a\n\n[TOC]\n\n# b", 40)[..4], ["a", "", "• b", ""]);
    assert_eq!(shown("[[_TOC_]]", 40), ["[[_TOC_]]".replace('_', "")], "without headings");
    assert_eq!(shown("see [TOC] here\n\n# b", 40)[0], "see [TOC] here");
}

#[test]
fn descriptions_follow_their_terms() {
    assert_eq!(
        shown("text\n\nFruits\n: apple\n: orange\n\nVegetables\n\n: kale\n\nend", 40),
        ["text", "", "Fruits", "  apple", "  orange", "", "Vegetables", "  kale", "", "end"]
    );
}

#[test]
fn lines_that_start_with_a_colon_are_no_descriptions() {
    assert_eq!(shown("one\n\n:tada: two\n:bug: three", 40), ["one", "", "🎉 two 🐛 three"]);
    assert_eq!(shown("> one\n> :tada: two", 40), ["│ one 🎉 two"]);
    assert_eq!(shown("- one\n\n  :tada: two", 40), ["• one", "", "  🎉 two"]);
    assert_eq!(
        shown("one\n::include{file=a.md}\n\n:::note\ntwo\n:::", 60),
        ["one ::include{file=a.md}", "", ":::note two :::"]
    );
}

#[test]
fn long_names_of_footnotes_take_no_room_from_their_text() {
    for line in shown("a[^footnote-42]\n\n[^footnote-42]: a b c d e f g h i j k l m n o p", 24) {
        assert!(text::width(&line) <= 24, "{line}");
    }
    assert_eq!(shown("a[^1]\n\n[^1]: b", 24), ["a[^1]", "", "[^1] b"]);
}

#[test]
fn images_have_names_and_no_sizes() {
    assert_eq!(shown("![](img/a.png) ![b](c.png){width=75% height=100px}, d", 60), ["[image: a.png] [image: b], d"]);
    assert_eq!(shown("![b](c.png){x}", 60), ["[image: b]{x}"]);
    let rendered = render("[![Build](a.svg)](https://ci)", 60, &theme(), &colors());
    assert_eq!(rendered.lines[0].links.iter().map(|(_, target)| target.as_ref()).collect::<Vec<_>>(), ["https://ci"]);
}

#[test]
fn html_is_shown_as_what_it_means() {
    for (html, lines) in [
        ("Press <kbd>Enter</kbd>, H<sub>2</sub>O, mc<sup>2</sup>, 9<sup>th</sup>", vec!["Press Enter, H₂O, mc², 9^th"]),
        ("a<br>b<br/>c<BR />d", vec!["a", "b", "c", "d"]),
        (
            "<p align=\"center\">\n  <b>Title</b>\n</p>\n<p>&lt;text&gt; &amp; more</p>",
            vec!["Title", "", "<text> & more"],
        ),
        (
            "<h1>Big</h1>\n\ntext",
            vec!["Big", "────────────────────────────────────────────────────────────", "", "text"],
        ),
        ("<img src='a/logo.png' width=10> <img src=b.png alt=\"B\">", vec!["[image: logo.png] [image: B]"]),
        (
            "<ul>\n<li>one\n<li>two <i>x</i></li>\n</ul>\n<ol start=3><li>a</li><li>b</li></ol>",
            vec!["• one", "• two x", "", "3. a", "4. b"],
        ),
        (
            "<details>\n<summary>Click</summary>\n\nThese **are** hidden\n\n<pre><code>LOG &lt;x&gt;\n  two</code></pre>\n\n</details>\nend",
            vec!["▾ Click", "", "These are hidden", "", "│ LOG <x>", "│   two", "", "end"],
        ),
        ("<details>\n<summary>\n\nClick _to_\n\n</summary>\n\nbody\n\n</details>", vec!["▾ Click to", "", "body"]),
        (
            "<dl>\n<dt>Term</dt>\n<dd>What it is</dd>\n<dt>B</dt><dd>C</dd></dl>",
            vec!["Term", "  What it is", "B", "  C"],
        ),
        (
            "<table><tr><th>a</th><th>b</th></tr>\n<tr><td>1</td><td></td><td>3</td></tr></table>",
            vec!["a │ b │ ", "──┼───┼──", "1 │   │ 3"],
        ),
        ("<blockquote>\nquoted\n</blockquote>\n\nnot", vec!["│ quoted", "", "not"]),
        ("| a |\n|-|\n| <ul><li>x</li><li>y</li></ul> |", vec!["a", "───", "• x", "• y"]),
        ("<input type=checkbox checked> done", vec!["☑ done"]),
        ("<hr>\n\na", vec!["────────────────────────────────────────────────────────────", "", "a"]),
        ("<video src=\"a.mp4\"></video>", vec!["[video: a.mp4]"]),
    ] {
        assert_eq!(shown(html, 60), lines, "{html}");
    }
    assert_eq!(style_of("a <strong>b</strong>", "b"), style_of("a **b**", "b"));
    assert_eq!(style_of("a <b>b</b> c", " c").add_modifier, Modifier::empty());
    let rendered = render("<a href=\"https://x\">here</a> there", 60, &theme(), &colors());
    assert_eq!(rendered.lines[0].links, [(0..4, "https://x".into())]);
}

/// The forms of the READMEs of bat, starship and lazygit (a head of centered paragraphs, whose tags are broken over
/// lines), FastAPI (images in links, quotes with an author, folded parts), delta (tables that lay out images) and Tauri
/// (tables of badges), with other words.
#[test]
fn heads_of_readmes_are_shown_as_their_markdown_would_be() {
    let head = r##"<p align="center">
  <img
    width="400"
    src="media/logo.png"
    alt="Kiln – builds"
  /><br>
  <a href="https://ci.example/kiln"
    ><img src="https://img.shields.io/ci.svg"
      alt="Build"
  /></a>
  <img src="https://img.shields.io/license.svg"><br>
  A <i>make(1)</i> that remembers
</p>

<p align="center">
  <a href="#use">Use</a> •
  <a href="docs/guide.md#first-steps">Guide</a><br>
  [<a href="docs/ja.md">日本語</a>]&nbsp;
</p>

<h2 align="center">Try <code>kiln</code></h2>

<div align="center">

Only what changed
<br/>

[![Report](https://report.example/badge.svg)](https://report.example)

</div>
"##;
    assert_eq!(
        shown(head, 60),
        [
            "[image: Kiln – builds]",
            "[image: Build] [image: license.svg]",
            "A make(1) that remembers",
            "",
            "Use • Guide",
            "[日本語]",
            "",
            "Try kiln",
            "",
            "Only what changed",
            "",
            "[image: Report]",
        ]
    );
    let rendered = render(head, 60, &theme(), &colors());
    let targets: Vec<_> = rendered.lines.iter().flat_map(|line| line.links.iter().map(|(_, to)| to.as_ref())).collect();
    assert_eq!(
        targets,
        [
            "media/logo.png",
            "https://ci.example/kiln",
            "https://img.shields.io/license.svg",
            "#use",
            "docs/guide.md#first-steps",
            "docs/ja.md",
            "https://report.example"
        ]
    );
    assert_eq!(
        shown(
            "<picture>\n  <source media=\"(prefers-color-scheme: dark)\" srcset=\"dark.png\">\n  \
             <img alt=\"Kiln\" src=\"light.png\">\n</picture>\n\n\
             <div style=\"text-align: right\">A. Person - <strong>Works</strong> \
             <a href=\"https://x\"><small>(ref)</small></a></div>",
            60
        ),
        ["[image: Kiln]", "", "A. Person - Works (ref)"]
    );
    let picture = "<picture>\n<source media=\"(prefers-color-scheme: light)\" srcset=\"light.png\">\n\
                   <source media=\"(prefers-color-scheme: dark)\" srcset=\"dark.png, dark2.png 2x\">\n\
                   <img src=a.png></picture> <img src=b.png>";
    for (background, source) in [(Background::Dark, "dark.png"), (Background::Light, "light.png")] {
        let rendered = render(picture, 60, &Theme::for_background(background), &colors());
        let links: Vec<_> = rendered.lines[0].links.iter().map(|(_, to)| to.as_ref()).collect();
        assert_eq!(links, [source, "b.png"]);
    }
}

#[test]
fn tables_of_html_are_aligned_and_their_cells_wrapped() {
    let lay_out = "<table>\n  <tr>\n    <td>\n      kiln (fast)\n    </td>\n    <td>\n      \
                   <a href=\"https://x\"><img src=\"a.png\" alt=\"A\"/></a>\n    </td>\n  </tr>\n  \
                   <tr><td>slow</td><td align=right>B</td></tr>\n</table>\n\nend";
    assert_eq!(
        shown(lay_out, 60),
        ["kiln (fast) │ [image: A]", "slow        │          B", "", "end"].map(str::to_owned)
    );
    let headed = "<table><caption>Sizes</caption><thead><tr><th>Name</th><th align=\"right\">Size</th></tr></thead>\n\
                  <tbody><tr><td>\n\nMarkdown **in** a cell\n\n- one\n- two\n\n</td><td>12</td></tr>\n\
                  <tr><td>x<td>3<br>4\n</table>";
    assert_eq!(
        shown(headed, 60),
        [
            "Sizes",
            "",
            "Name               │ Size",
            "───────────────────┼─────",
            "Markdown in a cell │ 12",
            "• one              │ ",
            "• two              │ ",
            "───────────────────┼─────",
            "x                  │ 3",
            "                   │ 4"
        ]
    );
    assert_eq!(
        shown("<table><tr><td colspan=2>one two three four five</td></tr><tr><td>a</td><td>b</td></tr></table>", 16),
        ["one two three", "four five", "──┼─────────────", "a │ b"]
    );
    assert_eq!(
        shown("<table><tr><td rowspan=2>a</td><td>b</td></tr><tr><td>c</td></tr></table>", 16),
        ["a │ b", "  │ c"]
    );
    // Code, rules and headings in cells, tables in tables, and a table of Markdown in one of HTML.
    assert_eq!(
        shown("<table><tr><td><h1>a</h1><hr><pre>if x:\n  y</pre></td><td>b</td></tr></table>", 40),
        ["a       │ b", "│ if x: │ ", "│ \u{a0}\u{a0}y   │ "].map(str::to_owned)
    );
    assert_eq!(
        shown("<table><tr><td>a<table><tr><td>1</td><td>2</td></tr></table></td><td>b</td></tr></table>", 40),
        ["a     │ b", "1 │ 2 │ "]
    );
    assert_eq!(
        shown("<table><tr><td>\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n</td><td>c</td></tr></table>", 40),
        ["a │ b │ c", "1 │ 2 │ "]
    );
    let many = format!("<table><tr>{}</tr></table>", "<td>a</td>".repeat(300));
    assert_eq!(shown(&many, 60).last().map(String::as_str), Some("… 1 more columns: see the source or the web page"));
    assert_eq!(shown("- <table><tr><td>a</td></tr></table>\n- b", 40).last().map(String::as_str), Some("• b"));
}

#[test]
fn html_that_never_closes_or_runs_code_is_shown_as_text() {
    assert_eq!(
        shown("<table>\n<tr><td>a</td></tr>\n\n# b\n\n- c", 9),
        ["<table>", "a", "", "b", "─────────", "", "• c"]
    );
    assert_eq!(shown("<p onclick=\"run()\">a</p>", 40), ["<p onclick=\"run()\">a"]);
    assert_eq!(shown("a <b ONerror=x>b", 40), ["a <b ONerror=x>b"]);
    assert_eq!(shown("<img src=a.png onload='run()'>", 40), ["<img src=a.png onload='run()'>"]);
    assert_eq!(
        shown("<style>a{}</style>\n\n<script>run()</script>", 40),
        ["<style>a{}</style>", "", "<script>run()</script>"]
    );
    for tag in ["table", "blockquote", "ul", "details", "div", "b", "table><tr><td"] {
        let name = tag.split('>').next().unwrap_or(tag);
        for deep in [
            format!("<{tag}>").repeat(1000) + "x",
            format!("<{tag}>").repeat(1000) + "x" + &format!("</{name}>").repeat(1000),
        ] {
            let lines = shown(&deep, 40);
            assert!(lines.iter().any(|line| line.contains('x')), "{tag}");
        }
    }
}

#[test]
fn code_of_html_has_the_colors_of_its_language() {
    let plain = style_of("<pre>\nfn main() {}\n</pre>", "fn main() {}");
    for code in
        ["<pre lang=\"rust\">fn main() {}</pre>", "<pre><code class=\"x language-rust\">fn main() {}</code></pre>"]
    {
        assert_ne!(style_of(code, "fn"), plain, "{code}");
    }
    assert_eq!(shown("Say <q>yes</q>", 40), ["Say “yes”"]);
    assert_eq!(shown("<section>\na\n</section>\n\nb <header> c", 40), ["a", "", "b <header> c"]);
}

/// The tags that GitLab lets through (`html-pipeline`'s allowlist) and others of HTML that change nothing that can be shown.
#[test]
fn harmless_tags_keep_their_text() {
    for (html, expected) in [
        ("at <time datetime=\"2026-11-20\">four</time>", "at four"),
        ("<bdo dir=\"rtl\">abc</bdo> and <bdi>def</bdi>", "abc and def"),
        ("<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>字", "漢(kan)字"),
        ("<ruby>漢<rt>kan</rt></ruby>字", "漢(kan)字"),
        ("<data value=3>three</data> <output>4</output> <label>name</label>", "three 4 name"),
        ("<address>\nHere 1\n</address>", "Here 1"),
        // A placeholder that looks like such a tag has no end.
        ("run at <time> o'clock", "run at <time> o'clock"),
        ("<label>: a name", "<label>: a name"),
    ] {
        assert_eq!(shown(html, 80).join("\n").trim(), expected, "{html}");
    }
}

#[test]
fn tags_that_mean_nothing_are_shown() {
    for text in [
        "git clone <url> <dir>",
        "Map<K, V> and Vec<T>",
        "cp <source> <b>",
        "a </b> c </i>",
        "<script>alert(1)</script>",
        "x <a> y",
        "1 < 2 > 0",
    ] {
        assert_eq!(shown(text, 60), [text], "{text}");
    }
    assert_eq!(shown("- a <li> b\n\nc", 60), ["• a", "  • b", "", "c"]);
}

#[test]
fn lines_of_images_leave_room_for_those_that_are_drawn() {
    let text = "a\n\n![b](b.png) ![c](c.png)\n\n- ![d](d.png)\n- e ![f](f.png)\n\n\
                <p>g<br><img src=h.png width=40%><br>i</p>\n\n|![j](j.png)|\n|-|\n\nend";
    let images = |rows: &[u16]| {
        let rendered = render_images(text, 40, &theme(), &colors(), rows);
        let lines: Vec<String> = rendered.lines.iter().map(plain).collect();
        (lines, rendered)
    };
    let (before, first) = images(&[]);
    assert_eq!(
        first.images.iter().map(|image| image.address.as_ref()).collect::<Vec<_>>(),
        ["b.png", "c.png", "d.png", "h.png"]
    );
    assert_eq!(before[..3], ["a", "", "[image: b] [image: c]"]);
    assert_eq!((first.images[2].left, first.images[2].room), (2, 38));
    assert_eq!(first.images[3].width, Some(ImageWidth::Percent(40)));
    let (after, second) = images(&[2, 0, 1, 3]);
    assert_eq!(
        after,
        [
            "a",
            "",
            "",
            "",
            "[image: c]",
            "",
            "• ",
            "• e [image: f]",
            "",
            "g",
            "",
            "",
            "",
            "i",
            "",
            "[image: j]",
            "──────────",
            "",
            "end"
        ]
    );
    assert_eq!(
        second.images.iter().map(|image| (image.line, image.rows)).collect::<Vec<_>>(),
        [(2, 2), (4, 0), (6, 1), (10, 3)]
    );
    assert_eq!(second.lines[3].links, [(0..0, "b.png".into())], "each of its lines opens it");
    let line_of = |lines: &[String], words: &str| lines.iter().position(|line| line == words).unwrap();
    for words in ["a", "• e [image: f]", "i", "end"] {
        assert_eq!(first.line_in(&second, line_of(&before, words)), line_of(&after, words), "{words}");
        assert_eq!(second.line_in(&first, line_of(&after, words)), line_of(&before, words), "{words}");
    }
    let many = "![a](a.png)\n\n".repeat(100);
    assert_eq!(render_images(&many, 40, &theme(), &colors(), &[9; 100]).images.len(), MAX_IMAGES);
}

#[test]
fn links_name_sections_by_their_headings_or_names() {
    let text = "# Kiln\n\n## 🚀 Step 1: _Install_\n\na\n\n<h3>Use `it`</h3>\n\n<a name=\"🔥-hot\"></a>\n\n\
                ## Use\n\n- # In a list\n\n## Use\n\n<details id=more><summary>b</summary></details>\n\n\
                <table><tr><td><h4>c</h4></td></tr></table>\n";
    let rendered = render(text, 40, &theme(), &colors());
    let lines: Vec<String> = rendered.lines.iter().map(plain).collect();
    let at = |name: &str| rendered.section(name).map(|line| lines[line].clone());
    for (name, line) in [
        ("kiln", "Kiln"),
        ("-step-1-install", "🚀 Step 1: Install"),
        ("step-1-install", "🚀 Step 1: Install"),
        ("use", "Use"),
        ("use-1", "Use"),
        ("user-content-in-a-list", "• In a list"),
        ("%F0%9F%94%A5-hot", "Use"),
        ("more", "▾ b"),
    ] {
        assert_eq!(at(name).as_deref(), Some(line), "{name} in {lines:#?}");
    }
    assert_ne!(rendered.section("use"), rendered.section("use-1"));
    assert_eq!((at("none"), at(""), at("use-2")), (None, None, None));
    assert!(rendered.section("c").is_some());
}

#[test]
fn a_path_is_told_from_a_reference() {
    let rendered = render("[a](docs/x.md#3) docs/x#3 [b](#3) [c](@ada) [d](a!1)", 80, &theme(), &colors());
    let targets: Vec<_> = rendered.lines[0].links.iter().map(|(_, to)| to.as_ref()).collect();
    assert_eq!(targets, ["./docs/x.md#3", "docs/x#3", "#3", "@ada", "./a!1"]);
    assert!(is_reference("g/p#3") && is_reference("@ada") && is_reference("!1"));
    assert!(!is_reference("./a#3") && !is_reference("https://x/a#3") && !is_reference("img/a@2x.png"));
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
        b"<blockquote>\n",
        b"</blockquote>\n",
        b"<li>",
        b"</li>\n",
        b"<ul>",
        b"<summary>",
        b"<details>\n",
        b"<table><tr><td>",
        b"</table>\n",
        b"<th colspan=3>",
        b"<td rowspan=2 align=right>",
        b"<p onclick=x>",
        b"<img src=x>",
        b"<pre>",
        b"</p>",
        b"<sup>",
        b": x\n",
        b"$$",
        b"{+",
        b"+}",
        b"[~] ",
        b"[TOC]\n",
        b"[!note] ",
        b">>>\n",
        b"&#x1b;",
    ];
    let mut dice = Dice(3);
    for round in 0..400 {
        let text = String::from_utf8_lossy(&dice.bytes(300, likely)).into_owned();
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
        ("bold HTML", many("a <b>b</b> ")),
        ("open HTML", many("<blockquote>")),
        ("lists of HTML", many("<ul><li>")),
        ("cells of HTML", format!("<table><tr>{}", many("<td>"))),
        ("cells of a table of HTML", format!("<table><tr>{}</table>", many("<td>"))),
        ("rows of a table of HTML", format!("<table>{}</table>", many("<tr><td>a"))),
        ("wide cells of HTML", format!("<table>{}</table>", many("<tr><td colspan=9>a<td rowspan=9>b"))),
        ("tables in tables", format!("{}{}", "<table><tr><td>".repeat(2000), "</table>".repeat(2000))),
        ("tables of HTML", many("<table><tr><td>a</table>\n")),
        ("lines in a cell", format!("<table><tr><td>{}</table>", many("a<br>"))),
        ("paragraphs in a cell", format!("<table><tr><td>\n\n{}</table>", many("a\n\n"))),
        ("images", many("![a](b) ")),
        ("lines of images", many("![a](b)<br>")),
        ("images in a cell", format!("<table><tr><td>{}</table>", many("![a](b)<br>"))),
        ("headings in a cell", format!("<table><tr><td>{}</table>", many("<h3>a</h3>"))),
        ("names", many("<a name=b></a> ")),
        ("attributes", format!("<p {}>", many("a=b "))),
        ("tags without an end", many("<a \"<b '")),
        ("tags in a block without an end", format!("<div>\n{}", many("<a \"<b '"))),
        ("changes without an end", many("{+ @a [- ")),
        ("math", many("$a$ $")),
        ("descriptions", many("a\n: b\n\n")),
        ("a table of contents", format!("[TOC]\n\n{}", many("# a\n"))),
        ("tables of contents", format!("{}{}", "# a\n".repeat(2000), many("[TOC]\n\n"))),
        ("alerts", many(">>> [!note] a\n")),
        ("references to characters", many("<p>&amp")),
    ];
    for (name, text) in texts {
        for width in [9, 80] {
            let (rendered, cost) = cost(|| render(&text, width, &theme(), &colors()));
            // The parser pads short rows of tables, up to a maximum number of cells.
            let spare = if name.starts_with("a table") { 64 << 20 } else { 0 };
            let parts: usize = rendered.lines.iter().map(|line| 1 + line.text.spans.len()).sum();
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
    assert!(plain(rendered.lines.last().unwrap()).ends_with("truncated: see the source or the web page"));
    assert!(rendered.lines.len() < 20_000, "{} lines", rendered.lines.len());
    assert!(shown(&"a\n\n".repeat(1000), 80).len() > 1990, "what is not hostile is whole");
}
