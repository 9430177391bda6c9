//! Tests of parsing terminal output.

use super::*;
use crate::cost::cost;
use crate::dice::Dice;
use crate::theme::{self, Background, Depth};

fn shown(line: &str) -> String {
    parse_line(&mut SgrState::default(), line.as_bytes()).text
}

#[test]
fn colors_are_mapped_to_theme_roles() {
    let theme = Theme::for_background(Background::Dark);
    let mut state = SgrState::default();
    let line = parse_line(&mut state, b"ok \x1b[1;31mbad\x1b[0m \x1b[38;5;200mx\x1b[48;2;1;2;3my\x1b[38:2::9:208:7mz");
    assert_eq!(line.text, "ok bad xyz");
    let layer = line.layer(&theme);
    assert_eq!(layer[0], (3..6, Style::new().fg(theme.style(Role::AnsiRed).fg.unwrap()).add_modifier(Modifier::BOLD)));
    assert_eq!(layer[1].1.fg, Some(Color::Indexed(200)));
    assert_eq!(layer[2].1.bg, Some(Color::Rgb(1, 2, 3)));
    assert_eq!(layer[3].1.fg, Some(Color::Rgb(9, 208, 7)));
    // The style continues on the next line.
    assert_eq!(parse_line(&mut state, b"more").runs.len(), 1);
}

#[test]
fn without_colors_ansi_colors_are_dropped() {
    let theme = Theme::plain();
    let line = parse_line(&mut SgrState::default(), b"\x1b[31;48;2;1;2;3ma\x1b[38;5;200mb");
    assert!(line.layer(&theme).iter().all(|(_, s)| s.fg.is_none() && s.bg.is_none()));
}

#[test]
fn only_the_final_state_of_a_progress_bar_is_shown() {
    assert_eq!(shown("10%\r50%\r100%"), "100%");
    assert_eq!(shown("downloading\rdone"), "doneloading");
    assert_eq!(shown("downloading\r\x1b[Kdone"), "done");
    assert_eq!(shown("downloading\x1b[2K\x1b[1Gdone"), "done");
    assert_eq!(shown("ab\x08c\r"), "ac");
    assert_eq!(shown("日本\rx"), "x 本");
    assert_eq!(shown("e\u{301}x\x08y"), "e\u{301}y");
}

#[test]
fn erasing_costs_no_more_than_writing() {
    for unit in ["x\x1b[2K", "x\x1b[1K", "x\u{301}\x1b[2K", "日\x1b[1K", "\x1b[2K\x1b[1Kx", "\tx\x08\x1b[K\x1b[1K"] {
        let flood = unit.repeat(MAX_BYTES / unit.len());
        let (line, cost) = cost(|| parse_line(&mut SgrState::default(), flood.as_bytes()));
        assert!(line.text.trim().chars().count() <= 1, "{unit:?}");
        assert!(cost.allocated < 200 * MAX_BYTES, "{unit:?} allocates {} bytes", cost.allocated);
    }
    // Text far to the right of the erased part is not visited.
    let mut flood = "y".repeat(MAX_COLUMNS);
    flood.push_str("\rx");
    flood.push_str(&"\x1b[1K".repeat(40_000));
    let (line, cost) = cost(|| parse_line(&mut SgrState::default(), flood.as_bytes()));
    assert_eq!(line.text.len(), MAX_COLUMNS);
    assert!(cost.allocated < 200 * MAX_BYTES, "{} bytes", cost.allocated);
}

#[test]
fn the_number_of_styles_is_bounded() {
    let flood = "\x1b[31mx\x1b[32my".repeat(MAX_BYTES / 12);
    let line = parse_line(&mut SgrState::default(), flood.as_bytes());
    assert!(line.runs.len() <= MAX_RUNS);
    assert_eq!(line.text.len(), MAX_BYTES / 12 * 2);
    let flood = format!("\r{flood}");
    assert!(parse_line(&mut SgrState::default(), flood.as_bytes()).runs.len() <= MAX_RUNS);
}

/// Renders a line in the simplest way: every column is a cell, and every erasure a walk over them.
fn plainly(line: &str) -> String {
    let mut cells: Vec<String> = Vec::new();
    let mut column = 0;
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let csi =
            rest.strip_prefix("\x1b[").and_then(|r| r.find(|c: char| c.is_ascii_alphabetic()).map(|at| r.split_at(at)));
        if let Some((parameters, last)) = csi {
            let n: usize = parameters.parse().unwrap_or(0);
            match (&last[..1], n) {
                ("K", 0) => {
                    if cells.get(column).is_some_and(String::is_empty) {
                        cells[column - 1] = " ".into();
                    }
                    cells.truncate(column);
                }
                ("K", 1) => {
                    let upto = if cells.get(column + 1).is_some_and(String::is_empty) { column + 1 } else { column };
                    cells.iter_mut().take(upto + 1).for_each(|cell| *cell = " ".into());
                }
                ("K", _) => cells.clear(),
                ("G", n) => column = n.saturating_sub(1).min(cells.len()),
                _ => {}
            }
            rest = &last[1..];
            continue;
        }
        rest = &rest[c.len_utf8()..];
        match c {
            '\r' => column = 0,
            '\x08' => column = column.saturating_sub(1),
            c => {
                let width = c.width().unwrap();
                if width == 0 {
                    if column > 0 && column <= cells.len() {
                        let at = if cells[column - 1].is_empty() { column - 2 } else { column - 1 };
                        cells[at].push(c);
                    }
                    continue;
                }
                while cells.len() < column + width {
                    cells.push(" ".into());
                }
                if cells[column].is_empty() {
                    cells[column - 1] = " ".into();
                }
                if cells.get(column + width).is_some_and(String::is_empty) {
                    cells[column + width] = " ".into();
                }
                cells[column] = c.into();
                if width == 2 {
                    cells[column + 1] = String::new();
                }
                column += width;
            }
        }
    }
    cells.concat()
}

#[test]
fn cursor_movements_match_a_grid_of_cells() {
    let units = ["a", "b", "日", "\u{301}", "\r", "\x08", "\x1b[K", "\x1b[1K", "\x1b[2K", "\x1b[3G", "\x1b[9G"];
    let mut dice = Dice(99);
    for _ in 0..5000 {
        let mut line = String::from("\x08");
        for _ in 0..dice.below(24) {
            line.push_str(units[dice.below(units.len())]);
        }
        let line = line.trim_end_matches('\r');
        assert_eq!(shown(line), plainly(line), "{line:?}");
    }
}

#[test]
fn sequences_other_than_styles_are_dropped() {
    assert_eq!(shown("a\x1b]0;title\x07b\x1b]8;;http://x\x1b\\c\x1bPq#0\x1b\\d\x1b[2Je\x1b(Bf\x1b7g\x07h"), "abcdefgh");
    assert_eq!(shown("a\x1b[?25lb\x1b[>4;1mc"), "abc");
    assert_eq!(shown("a\u{202e}b\u{9b}31mc"), "a<U+202E>b31mc");
    assert_eq!(shown("a\tb"), "a       b");
    assert_eq!(parse_line(&mut SgrState::default(), b"a\xffb\xe6\x97").text, "a\u{fffd}b\u{fffd}");
    assert_eq!(shown("x\x1b]never ends"), "x");
}

#[test]
fn an_overlong_line_is_truncated_and_marked() {
    let long = "x".repeat(MAX_COLUMNS + 10);
    let line = parse_line(&mut SgrState::default(), long.as_bytes());
    assert!(line.cut);
    assert_eq!(line.text.len(), MAX_COLUMNS);
    let mut huge = "10%\r".repeat(100_000);
    huge.push_str("100%");
    assert_eq!(shown(&huge), "100%");
}

#[test]
fn hostile_bytes_neither_panic_nor_reach_the_terminal() {
    let likely: &[&[u8]] = &[
        b"\x1b[",
        b"\x1b]",
        b"\x1b",
        b"m",
        b";",
        b"38",
        b"2",
        b"\r",
        b"\x08",
        b"\t",
        b"K",
        b"1",
        "日".as_bytes(),
        b"\x1b\\",
        b"\xe2\x80\xae",
    ];
    let mut dice = Dice(42);
    for _ in 0..3000 {
        let bytes = dice.bytes(80, likely);
        let mut state = SgrState::default();
        let line = parse_line(&mut state, &bytes);
        assert!(line.text.chars().all(|c| !c.is_control() && c != '\u{202e}'), "{bytes:?}");
        assert!(line.runs.iter().all(|r| line.text.get(r.range.clone()).is_some()), "{bytes:?}");
        let mut quick = SgrState::default();
        quick.advance(&bytes);
        if !bytes.is_empty() {
            assert_eq!(quick, state, "{bytes:?}");
        }
    }
}

#[test]
fn the_character_that_ends_a_broken_sequence_is_dropped() {
    for end in ["\x18", "\x1a"] {
        let line = parse_line(&mut SgrState::default(), format!("a\x1b[3{end}bc").as_bytes());
        assert_eq!(line.text, "abc");
    }
}

#[test]
fn a_line_is_truncated_after_the_last_column() {
    for (columns, is_cut) in [(MAX_COLUMNS, false), (MAX_COLUMNS + 1, true)] {
        let line = parse_line(&mut SgrState::default(), "é".repeat(columns).as_bytes());
        assert_eq!((line.text.chars().count(), line.cut), (MAX_COLUMNS, is_cut));
    }
}

#[test]
fn text_on_a_background_of_its_own_is_readable_in_every_theme() {
    let codes = |prefix: &str, first: u8, bright: u8| -> Vec<String> {
        let named = (0..8).flat_map(|n| [format!("{}", first + n), format!("{}", bright + n)]);
        let indexed = (0..=255).step_by(17).map(|n| format!("{prefix}8;5;{n}"));
        let rgb = ["0;0;0", "255;255;255", "128;128;128", "255;200;0", "40;0;90"].map(|c| format!("{prefix}8;2;{c}"));
        named.chain(indexed).chain(rgb).chain([format!("{prefix}9")]).collect()
    };
    let (texts, backgrounds) = (codes("3", 30, 90), codes("4", 40, 100));
    let mut bad = Vec::new();
    for (name, _) in theme::BUILT_IN {
        for depth in [Depth::True, Depth::Indexed, Depth::Sixteen] {
            for background in [Background::Dark, Background::Light] {
                let theme = Theme::built_in(name).unwrap().with_depth(depth).adapted_to(background);
                for (fg, bg) in texts.iter().flat_map(|fg| backgrounds.iter().map(move |bg| (fg, bg))) {
                    for more in ["", ";1", ";2", ";7", ";1;7"] {
                        let mut state = SgrState::default();
                        state.advance(format!("\x1b[{fg};{bg}{more}m").as_bytes());
                        let style = state.style(&theme);
                        let Some(shown) = style.bg else { continue };
                        let plain = !style.add_modifier.intersects(Modifier::DIM | Modifier::REVERSED);
                        let ratio = theme::contrast(style.fg.unwrap_or_default(), shown);
                        if ratio < theme::MIN_CONTRAST || !plain {
                            bad.push(format!("{name} {depth:?} {background:?} {fg};{bg}{more}: {ratio:.1} {style:?}"));
                        }
                    }
                }
            }
        }
    }
    assert!(bad.is_empty(), "{} pairs: {:#?}", bad.len(), &bad[..bad.len().min(9)]);
    // A readable pair keeps its colors, and a badge keeps its background.
    let theme = Theme::for_background(Background::Dark);
    let mut state = SgrState::default();
    state.advance(b"\x1b[38;2;255;255;0;48;2;0;0;90m");
    assert_eq!(state.style(&theme), Style::new().fg(Color::Rgb(255, 255, 0)).bg(Color::Rgb(0, 0, 90)));
    state.advance(b"\x1b[0;30;42m");
    assert_eq!(state.style(&theme).bg, theme.style(Role::AnsiGreen).fg);
}
