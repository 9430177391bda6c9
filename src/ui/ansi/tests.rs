//! What a terminal would show of a line, and what of it gets through.

use super::*;
use crate::ui::layers::tests::Noise;
use crate::ui::theme::Background;

fn shown(line: &str) -> String {
    parse_line(&mut State::default(), line.as_bytes()).text
}

#[test]
fn colours_become_roles_of_the_theme() {
    let theme = Theme::for_background(Background::Dark);
    let mut state = State::default();
    let line = parse_line(&mut state, b"ok \x1b[1;31mbad\x1b[0m \x1b[38;5;200mx\x1b[48;2;1;2;3my\x1b[38:2::9:8:7mz");
    assert_eq!(line.text, "ok bad xyz");
    let layer = line.layer(&theme);
    assert_eq!(layer[0], (3..6, Style::new().fg(theme.style(Role::AnsiRed).fg.unwrap()).add_modifier(Modifier::BOLD)));
    assert_eq!(layer[1].1.fg, Some(Color::Indexed(200)));
    assert_eq!(layer[2].1.bg, Some(Color::Rgb(1, 2, 3)));
    assert_eq!(layer[3].1.fg, Some(Color::Rgb(9, 8, 7)));
    // The look goes on in the next line.
    assert_eq!(parse_line(&mut state, b"more").runs.len(), 1);
}

#[test]
fn without_colour_foreign_colours_go_too() {
    let theme = Theme::plain();
    let line = parse_line(&mut State::default(), b"\x1b[31;48;2;1;2;3ma\x1b[38;5;200mb");
    assert!(line.layer(&theme).iter().all(|(_, s)| s.fg.is_none() && s.bg.is_none()));
}

#[test]
fn the_final_state_of_a_progress_bar_shows() {
    assert_eq!(shown("10%\r50%\r100%"), "100%");
    assert_eq!(shown("downloading\rdone"), "doneloading");
    assert_eq!(shown("downloading\r\x1b[Kdone"), "done");
    assert_eq!(shown("downloading\x1b[2K\x1b[1Gdone"), "done");
    assert_eq!(shown("ab\x08c\r"), "ac");
    assert_eq!(shown("日本\rx"), "x 本");
    assert_eq!(shown("e\u{301}x\x08y"), "e\u{301}y");
}

#[test]
fn sequences_other_than_looks_are_dropped_whole() {
    assert_eq!(shown("a\x1b]0;title\x07b\x1b]8;;http://x\x1b\\c\x1bPq#0\x1b\\d\x1b[2Je\x1b(Bf\x1b7g\x07h"), "abcdefgh");
    assert_eq!(shown("a\x1b[?25lb\x1b[>4;1mc"), "abc");
    assert_eq!(shown("a\u{202e}b\u{9b}31mc"), "a<U+202E>b31mc");
    assert_eq!(shown("a\tb"), "a       b");
    assert_eq!(parse_line(&mut State::default(), b"a\xffb\xe6\x97").text, "a\u{fffd}b\u{fffd}");
    assert_eq!(shown("x\x1b]never ends"), "x");
}

#[test]
fn a_very_long_line_is_cut_and_says_so() {
    let long = "x".repeat(COLUMNS + 10);
    let line = parse_line(&mut State::default(), long.as_bytes());
    assert!(line.cut);
    assert_eq!(line.text.len(), COLUMNS);
    let mut huge = "10%\r".repeat(100_000);
    huge.push_str("100%");
    assert_eq!(shown(&huge), "100%");
}

#[test]
fn no_bytes_break_it_and_none_of_them_reach_the_terminal() {
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
    let mut noise = Noise(42);
    for _ in 0..3000 {
        let bytes = noise.bytes(80, likely);
        let mut state = State::default();
        let line = parse_line(&mut state, &bytes);
        assert!(line.text.chars().all(|c| !c.is_control() && c != '\u{202e}'), "{bytes:?}");
        assert!(line.runs.iter().all(|r| line.text.get(r.range.clone()).is_some()), "{bytes:?}");
        let mut quick = State::default();
        quick.advance(&bytes);
        if !bytes.is_empty() {
            assert_eq!(quick, state, "{bytes:?}");
        }
    }
}
