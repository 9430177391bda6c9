//! Symbols whose width differs between terminals: after any change, the screen equals a full redraw, whatever width a
//! terminal gives them.

use crate::dice::Dice;
use crate::emulator::{Emulator, Widths};
use crate::harness::{Begin, Harness};
use labscope::app::Place;
use labscope::runtime::screen::{Frame, Screen};
use labscope::ui::text;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use serde_json::json;

/// Lines of real traces, titles and comments, and some that are worse.
const LINES: &[&str] = &[
    "⚠️ Warning: git commit 55 is unsigned",
    "plain line without any emoji",
    "✔️ done ℹ️ see ❤️ 🏷️ v1.2",
    "1️⃣ one, 2️⃣ two, #️⃣ hash and *️⃣ star",
    "👩‍💻 and 👨‍👩‍👧‍👦 write 🏳️‍🌈 code",
    "🇩🇪🇫🇷🇯 flags, one of them halved",
    "👍🏽 👋🏿 ☝🏻 skin",
    "⚠ ✔ ☎ ™ © text ⌛ ⏰ presentation ☎︎ ⌛︎",
    "ภาษาไทย: ที่นี่ ก็ไม่ น้ำ",
    "हिन्दी: क्षत्रिय श्री र्कि",
    "日本語 and 世界 are wide",
    "한국어 각ᄀ",
    "e\u{301}a\u{308}o\u{302} combined ｶﾞ",
    "مرحبا 👋🏾 עברית",
    "👩‍👩‍👧‍👧‍👩‍👩‍👧‍👧‍👩‍👩‍👧‍👧‍👩‍👩‍👧‍👧 long family",
    "a\u{200d}⚠️\u{fe0f}\u{200d}",
    "",
    "│ ├── ✓ ✗ ● ▸ … table",
    "end at the edge of the screen 👩‍💻",
    "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f} tags, 1\u{20e3} keycap, a\u{20dd} circle",
    "\u{1112}\u{1161}\u{11ab}\u{1100}\u{1173}\u{11af} jamo, \u{115f}\u{1161} filler \u{3164}",
    "ন্ত্র ক্ষ্ম്മ ക്ഷ க்ஷ ກຳ ស្ត្រី မြန်မာ",
    "葛\u{e0100} 齒\u{fe00} selected, \u{ad}soft, zero\u{200b}width\u{2060} a\u{fe0e}b\u{fe0f}",
    "\u{301}first, ☎\u{fe0e}\u{fe0f} ❤\u{fe0e}\u{200d}🔥 🧑🏽\u{200d}🤝\u{200d}🧑🏿 1\u{fe0e}\u{20e3}",
    "﷽ ꧅ 𒐫 ⸻ 🀄 🃏 ㊗️ ㊙ 〰️ ‼️ ⁉",
];

const KINDS: &[Widths] =
    &[Widths::Clusters, Widths::Characters, Widths::Arbitrary(2_654_435_761), Widths::Arbitrary(40_503)];

/// A screen and the terminals that show it.
struct Terminals {
    screen: Screen<Vec<u8>>,
    all: Vec<Emulator>,
}

impl Terminals {
    fn new(columns: u16, rows: u16) -> Terminals {
        let all = KINDS.iter().map(|kind| Emulator::new(columns, rows, *kind)).collect();
        Terminals { screen: Screen::new(Vec::new()), all }
    }

    fn draw(&mut self, frame: Frame) {
        self.screen.draw(frame, None).expect("written");
        let bytes = std::mem::take(self.screen.out());
        self.all.iter_mut().for_each(|terminal| terminal.feed(&bytes));
    }

    /// Draws a frame on what is there, and on new terminals, and compares them.
    fn compare(&mut self, frame: impl Fn() -> Frame, when: &str) {
        let mut other = Terminals::new(self.columns(), self.rows());
        other.draw(frame());
        self.draw(frame());
        for (kind, (terminal, fresh)) in KINDS.iter().zip(self.all.iter().zip(&other.all)) {
            for y in 0..usize::from(self.rows()) {
                assert_eq!(terminal.row(y), fresh.row(y), "row {y}, {kind:?}, {when}");
            }
            assert!(terminal.cells == fresh.cells, "the styles, {kind:?}, {when}");
        }
    }

    fn columns(&self) -> u16 {
        self.all[0].columns()
    }

    fn rows(&self) -> u16 {
        (self.all[0].cells.len() / usize::from(self.columns())) as u16
    }
}

/// Fills a frame with lines, one of them selected, some cells linked, and perhaps a window over them.
fn random_frame(dice: &mut Dice, lines: &[(usize, Style)], area: Rect) -> (Buffer, Vec<(Rect, String)>) {
    let mut cells = Buffer::empty(area);
    let mut links = Vec::new();
    for (y, (line, style)) in (0..area.height).zip(lines) {
        let selected = if dice.below(9) == 0 { style.bg(Color::Indexed(4)) } else { *style };
        cells.set_stringn(0, y, text::sanitize(LINES[*line]), usize::from(area.width), selected);
        if dice.below(5) == 0 {
            let x = dice.below(usize::from(area.width)) as u16;
            links.push((Rect::new(x, y, 5, 1), format!("https://x.example/{}", dice.below(3))));
        }
    }
    if dice.below(4) == 0 {
        let window = Rect::new(dice.below(20) as u16, dice.below(6) as u16, 12, 4).intersection(area);
        let theme = labscope::ui::theme::Theme::for_background(labscope::ui::theme::Background::Dark);
        labscope::ui::popup::clear(&mut cells, window, &theme);
        cells.set_stringn(window.x, window.y, "⚠️ sure?", usize::from(window.width), Style::new());
    }
    (cells, links)
}

#[test]
fn any_change_equals_a_full_redraw_whatever_the_widths() {
    let mut dice = Dice(7);
    let styles = [
        Style::new(),
        Style::new().fg(Color::Rgb(200, 0, 0)).add_modifier(Modifier::BOLD),
        Style::new().bg(Color::Indexed(52)).add_modifier(Modifier::UNDERLINED),
    ];
    for columns in [40, 33, 21, 7] {
        let area = Rect::new(0, 0, columns, 10);
        let mut terminals = Terminals::new(columns, 10);
        let mut lines = vec![(0, styles[0]); 10];
        for step in 0..150 {
            match dice.below(3) {
                0 => lines.rotate_left(1),
                1 => lines.rotate_right(2),
                _ => {
                    let at = dice.below(10);
                    lines[at] = (dice.below(LINES.len()), styles[dice.below(styles.len())]);
                }
            }
            let (cells, links) = random_frame(&mut dice, &lines, area);
            let frame = || {
                let mut frame = Frame::new(cells.clone());
                links.iter().for_each(|(area, address)| frame.link(*area, &address.as_str().into()));
                frame
            };
            terminals.compare(frame, &format!("step {step} of {columns} columns"));
        }
    }
}

#[test]
fn symbols_of_two_columns_are_followed_by_a_move() {
    let mut terminals = Terminals::new(40, 1);
    for line in ["x", "⚠️ Warning", "⚠️ warning", "  plain"] {
        let mut cells = Buffer::empty(Rect::new(0, 0, 40, 1));
        cells.set_string(0, 0, line, Style::new());
        terminals.compare(|| Frame::new(cells.clone()), line);
        for terminal in &terminals.all[..2] {
            let narrow = if line.starts_with('⚠') && terminal.cells[1].text == " " { 1 } else { 0 };
            let shown = terminal.row(0);
            let expected = if narrow == 1 { line.replacen("⚠️", "⚠️ ", 1) } else { line.to_owned() };
            assert_eq!(shown.trim_end(), expected.trim_end());
        }
    }
}

#[tokio::test]
async fn a_trace_scrolled_anywhere_equals_a_full_redraw() {
    let mut dice = Dice(3);
    let lines: Vec<&str> = (0..200).map(|_| LINES[dice.below(LINES.len())]).collect();
    let mut harness: Harness = Begin::at(Place::new("job").project("acme/rocket-ui").item(7)).open();
    let job = json!({
        "id": 7, "name": "⚠️ unit 👩‍💻", "stage": "test", "status": "success", "ref": "main",
        "created_at": "2026-06-15T11:50:00Z", "started_at": "2026-06-15T11:58:29Z",
    });
    harness.reply("GET /projects/acme%2Frocket-ui/jobs/7", job);
    harness.reply_raw("GET /projects/acme%2Frocket-ui/jobs/7/trace", lines.join("\n")).settle().await;
    let (columns, rows) = harness.size();
    let mut terminals = Terminals::new(columns, rows);
    for step in 0..120 {
        let keys = dice.pick(&["j", "k", "C-d", "C-u", "G", "g g", "?", "Esc", "W", "T", ":", "L", "n"]);
        harness.press(keys).settle().await;
        let cells = harness.buffer().clone();
        terminals.compare(|| Frame::new(cells.clone()), &format!("step {step}: {keys}"));
    }
}
