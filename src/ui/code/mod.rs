//! Source code: text with any number of lines, and its syntax as roles of a theme. Highlighting is incremental and
//! never runs on the event loop.

mod content;
mod outline;
mod scopes;

use crate::doc::DocLine;
use crate::layers::blend;
use crate::line::Line;
use crate::text;
use crate::theme::{Role, Theme};
use ratatui::style::Style;
use scopes::Scopes;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

/// Maximum length in bytes of a highlighted line. The time that the regexes take grows faster than the line.
pub const MAX_LINE_BYTES: usize = 2 * 1024;
/// The number of lines between two positions from which parsing can resume.
const CHECKPOINT_LINES: usize = 64;
/// The distance in lines from a checkpoint beyond which parsing starts just above the requested lines, with approximate
/// results.
const MAX_CATCH_UP_LINES: usize = 2000;
/// The number of lines above the requested ones from which approximate parsing starts.
const LEADING_LINES: usize = 100;

pub use content::{Content, Text, is_binary};
pub use outline::{Symbol, outline};

/// The maximum number of steps back that the regex engine takes in one search; a search that needs more finds nothing.
/// Ordinary code needs a few hundred. A line made for it would need billions: 2 kB of `a-a-a-…` in SCSS, for example.
/// With this limit, no line of 2 kB takes longer than 0.1 s in any language.
const MAX_RETRIES: u64 = 20_000;
/// The time from which a line counts as slow. Lines of code take some microseconds, but the first ones of a language
/// also compile its regexes.
const SLOW_LINE: Duration = Duration::from_millis(20);
/// The time that all slow lines of a file or a text may take together; the rest of it is then not highlighted.
const MAX_SLOW_TIME: Duration = Duration::from_secs(2);

static SYNTAXES: LazyLock<SyntaxSet> = LazyLock::new(|| {
    // SAFETY: These functions set a number that the engine reads when a search begins. Nothing has used the engine
    // yet, because this is the only way to a syntax.
    unsafe {
        onig_sys::onig_set_retry_limit_in_match(MAX_RETRIES);
        onig_sys::onig_set_retry_limit_in_search(MAX_RETRIES);
    }
    two_face::syntax::extra_newlines()
});

/// The byte ranges of a line with their roles, sorted and non-overlapping. Text without a special role is not included.
pub type Spans = Vec<(Range<u32>, Role)>;

/// A language with a known syntax.
#[derive(Clone, Copy, Debug)]
pub struct Language(&'static SyntaxReference);

impl PartialEq for Language {
    fn eq(&self, other: &Language) -> bool {
        self.0.scope == other.0.scope
    }
}

impl Language {
    /// Detects the language of a file by its name, or else by its first line. The first call takes some milliseconds.
    pub fn detect(path: &str, first_line: &str) -> Option<Language> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let ending = name.rsplit_once('.').map_or(name, |(_, ending)| ending);
        // As in bat, headers of C are shown as C++; the syntaxes would take them for Objective-C.
        let ending = if ending == "h" { "hpp" } else { ending };
        let first_line = text::head_bytes(first_line, MAX_LINE_BYTES);
        SYNTAXES
            .find_syntax_by_extension(name)
            .or_else(|| SYNTAXES.find_syntax_by_extension(ending))
            .or_else(|| SYNTAXES.find_syntax_by_extension(&ending.to_lowercase()))
            .or_else(|| SYNTAXES.find_syntax_by_first_line(first_line))
            .and_then(Language::of)
    }

    /// Returns the language of a fenced code block in Markdown by its name: `rust`, `sh`, `py`.
    pub fn named(name: &str) -> Option<Language> {
        SYNTAXES.find_syntax_by_token(name).and_then(Language::of)
    }

    /// Lists all languages.
    pub fn all() -> impl Iterator<Item = Language> {
        SYNTAXES.syntaxes().iter().filter_map(Language::of)
    }

    fn of(syntax: &'static SyntaxReference) -> Option<Language> {
        (syntax.name != "Plain Text").then_some(Language(syntax))
    }

    /// Returns the display name: `Rust`.
    pub fn name(self) -> &'static str {
        &self.0.name
    }
}

/// Lines that were highlighted together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HighlightedLines {
    pub first_line: usize,
    /// The spans of each line. If canceled, fewer than requested.
    pub lines: Vec<Spans>,
    /// Whether the lines far above were not parsed, so that a comment or string that starts there is unknown.
    pub approximate: bool,
}

/// The time that highlighting a file or a text may still take, and whether its result is still wanted.
pub struct Budget<'a> {
    /// The rest of [`MAX_SLOW_TIME`], in microseconds; shared by all parts of a file.
    left: Arc<AtomicU64>,
    canceled: &'a dyn Fn() -> bool,
}

impl<'a> Budget<'a> {
    /// Creates the budget of a text that is highlighted until `canceled` returns true.
    pub fn new(canceled: &'a dyn Fn() -> bool) -> Budget<'a> {
        Budget { left: Budget::of_file(), canceled }
    }

    /// Creates an empty budget: the text is not highlighted.
    pub fn none() -> Budget<'static> {
        Budget { left: Arc::default(), canceled: &|| true }
    }

    /// Creates the time that the parts of a file share.
    pub fn of_file() -> Arc<AtomicU64> {
        Arc::new(AtomicU64::new(MAX_SLOW_TIME.as_micros() as u64))
    }

    /// Creates the budget of a part of a file from the time that the parts share.
    pub fn shared(left: Arc<AtomicU64>, canceled: &'a dyn Fn() -> bool) -> Budget<'a> {
        Budget { left, canceled }
    }

    fn is_spent(&self) -> bool {
        self.left.load(Ordering::Relaxed) == 0
    }

    /// Counts the time that a line took.
    fn charge(&self, took: Duration, language: Language) {
        if took < SLOW_LINE {
            return;
        }
        let took = took.as_micros() as u64;
        let left = self.left.load(Ordering::Relaxed);
        self.left.store(left.saturating_sub(took), Ordering::Relaxed);
        if left <= took && left > 0 {
            tracing::info!(language = language.name(), "highlighting takes too long; the rest is plain");
        }
    }
}

/// The state of the parser between two lines.
#[derive(Clone)]
struct ParserState {
    language: Language,
    parser: ParseState,
    stack: ScopeStack,
}

// SAFETY: The only part of a parser that is not `Send` is the match region of the regex engine. It owns its memory,
// nothing else points to that, and it is not bound to a thread. A state is only used by one thread at a time.
unsafe impl Send for ParserState {}

impl ParserState {
    fn new(language: Language) -> ParserState {
        ParserState { language, parser: ParseState::new(language.0), stack: ScopeStack::new() }
    }

    /// Highlights one line and advances to the next.
    fn line(&mut self, line: &str, buffer: &mut String, scopes: &mut Scopes, budget: &Budget) -> Spans {
        let mut spans = Spans::new();
        self.parse(line, buffer, budget, |range, stack| mark(&mut spans, line, range, stack, scopes));
        spans
    }

    /// Parses one line and advances to the next: passes each part of it that is not empty, with its scopes. Nothing is
    /// parsed once the budget is spent.
    fn parse(
        &mut self,
        line: &str,
        buffer: &mut String,
        budget: &Budget,
        mut each: impl FnMut(Range<usize>, &[Scope]),
    ) {
        if line.len() > MAX_LINE_BYTES || budget.is_spent() {
            return;
        }
        let began = Instant::now();
        buffer.clear();
        buffer.push_str(line);
        buffer.push('\n');
        let parsed = self.parser.parse_line(buffer, &SYNTAXES);
        budget.charge(began.elapsed(), self.language);
        let Ok(changes) = parsed else { return };
        let mut at = 0;
        for (change, operation) in &changes {
            let end = (*change).min(line.len());
            if at < end {
                each(at..end, self.stack.as_slice());
            }
            at = end;
            if self.stack.apply(operation).is_err() {
                self.stack = ScopeStack::new();
            }
        }
        if at < line.len() {
            each(at..line.len(), self.stack.as_slice());
        }
    }
}

fn mark(spans: &mut Spans, line: &str, range: Range<usize>, stack: &[Scope], scopes: &mut Scopes) {
    let Some(role) = scopes.role(stack) else { return };
    // The Rust grammar uses the same scope for `let` and for types.
    let role =
        if role == Role::SyntaxType && line.get(range.clone()) == Some("let") { Role::SyntaxKeyword } else { role };
    let (start, end) = (range.start as u32, range.end as u32);
    match spans.last_mut() {
        Some((last, same)) if *same == role && last.end == start => last.end = end,
        _ => spans.push((start..end, role)),
    }
}

/// Highlights a few consecutive lines, such as one side of a hunk or a fenced block. The result is shorter if it was
/// canceled.
pub fn highlight_lines<'a>(language: Language, lines: impl Iterator<Item = &'a str>, budget: &Budget) -> Vec<Spans> {
    let mut state = ParserState::new(language);
    let mut scopes = Scopes::default();
    let mut buffer = String::new();
    let lines = lines.take_while(|_| !(budget.canceled)());
    lines.map(|line| state.line(line, &mut buffer, &mut scopes, budget)).collect()
}

/// A highlighter of one text, for any part of it at any time and from any thread.
pub struct Highlighter {
    text: Arc<Text>,
    path: String,
    language: OnceLock<Option<Language>>,
    checkpoints: Mutex<BTreeMap<usize, ParserState>>,
    /// The budget of all parts.
    left: Arc<AtomicU64>,
}

impl Highlighter {
    /// Creates a highlighter. This is cheap: nothing is parsed until requested.
    pub fn new(text: Arc<Text>, path: &str) -> Highlighter {
        Highlighter {
            text,
            path: path.to_owned(),
            language: OnceLock::new(),
            checkpoints: Mutex::default(),
            left: Budget::of_file(),
        }
    }

    /// Returns the language, which is detected by the first highlighting.
    pub fn language(&self) -> Option<Language> {
        self.language.get().copied().flatten()
    }

    /// Highlights `lines` until `canceled` returns true. Runs on a worker thread: takes about 2 ms for a screen near
    /// lines parsed before, and up to about 100 ms elsewhere.
    pub fn highlight(&self, lines: Range<usize>, canceled: &dyn Fn() -> bool) -> HighlightedLines {
        let end = lines.end.min(self.text.len());
        let start = lines.start.min(end);
        let mut highlighted = HighlightedLines { first_line: start, ..HighlightedLines::default() };
        let Some(language) = *self.language.get_or_init(|| Language::detect(&self.path, self.text.line(0))) else {
            highlighted.lines = vec![Spans::new(); end - start];
            return highlighted;
        };
        let (mut at, mut state) = self.nearest(start).unwrap_or_else(|| (0, ParserState::new(language)));
        if start - at > MAX_CATCH_UP_LINES {
            (at, state) = (start - LEADING_LINES, ParserState::new(language));
            highlighted.approximate = true;
        }
        let mut scopes = Scopes::default();
        let mut buffer = String::new();
        let budget = Budget::shared(self.left.clone(), canceled);
        while at < end && !canceled() {
            if at.is_multiple_of(CHECKPOINT_LINES) && !highlighted.approximate {
                self.checkpoints
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .entry(at)
                    .or_insert_with(|| state.clone());
            }
            let spans = state.line(self.text.line(at), &mut buffer, &mut scopes, &budget);
            if at >= start {
                highlighted.lines.push(spans);
            }
            at += 1;
        }
        highlighted
    }

    fn nearest(&self, line: usize) -> Option<(usize, ParserState)> {
        let checkpoints = self.checkpoints.lock().unwrap_or_else(PoisonError::into_inner);
        checkpoints.range(..=line).next_back().map(|(at, state)| (*at, state.clone()))
    }
}

/// The highlighted parts of a text, in pieces that start at multiples of [`Highlights::PIECE`].
#[derive(Clone, Debug, Default)]
pub struct Highlights {
    pieces: BTreeMap<usize, Arc<HighlightedLines>>,
}

impl Highlights {
    /// The number of lines in a piece.
    pub const PIECE: usize = 128;

    /// Returns the spans of a line, if known.
    pub fn line(&self, line: usize) -> Option<&Spans> {
        let highlighted = self.pieces.get(&(line / Self::PIECE))?;
        highlighted.lines.get(line.checked_sub(highlighted.first_line)?)
    }

    /// Returns the first missing piece among the `visible` lines of a text of `len` lines, to be requested next.
    pub fn missing(&self, visible: Range<usize>, len: usize) -> Option<Range<usize>> {
        let end = visible.end.min(len);
        if visible.start >= end {
            return None;
        }
        let piece = (visible.start / Self::PIECE..=(end - 1) / Self::PIECE).find(|p| !self.pieces.contains_key(p))?;
        Some(piece * Self::PIECE..((piece + 1) * Self::PIECE).min(len))
    }

    /// Inserts a requested piece. A piece that was canceled is ignored.
    pub fn insert(&mut self, wanted: &Range<usize>, highlighted: HighlightedLines) {
        if highlighted.lines.len() == wanted.len() {
            self.pieces.insert(wanted.start / Self::PIECE, Arc::new(highlighted));
        }
    }
}

/// Converts spans to a layer with the colors of `theme`.
pub fn layer(spans: &Spans, theme: &Theme) -> Vec<(Range<usize>, Style)> {
    spans.iter().map(|(range, role)| (range.start as usize..range.end as usize, theme.style(*role))).collect()
}

/// Returns the gutter width of [`draw`] in columns.
pub fn gutter(text: &Text) -> usize {
    digits(text.len()) + 2
}

fn digits(number: usize) -> usize {
    number.max(100).ilog10() as usize + 1
}

/// Converts a line for drawing, without colors if its `spans` are not known yet.
pub fn draw<'a>(text: &'a Text, line: usize, spans: Option<&Spans>, theme: &Theme) -> DocLine<'a> {
    let colors = spans.map(|spans| layer(spans, theme)).unwrap_or_default();
    DocLine {
        gutter: Line::new(format!("{:>1$}  ", line + 1, digits(text.len())), Role::LineNumber),
        text: blend(text.line(line), theme.style(Role::Text), &[&colors]),
        ..DocLine::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::Dice;

    fn text(text: &str) -> Arc<Text> {
        Arc::new(Text::new(text.as_bytes().to_vec()))
    }

    fn named(line: &str, spans: &Spans) -> Vec<(String, Role)> {
        spans.iter().map(|(r, role)| (line[r.start as usize..r.end as usize].to_owned(), *role)).collect()
    }

    #[test]
    fn a_long_first_line_is_cut_between_characters() {
        let line = format!("#!/bin/sh {}é", "a".repeat(MAX_LINE_BYTES - 11));
        assert!(Language::detect("script", &line).is_some());
    }

    #[test]
    fn the_rest_is_plain_once_slow_lines_have_used_the_budget() {
        let rust = Language::named("rust").expect("a language");
        let budget = Budget::new(&|| false);
        for _ in 0..1000 {
            budget.charge(SLOW_LINE / 2, rust);
        }
        assert!(!highlight_lines(rust, ["fn a() {}"].into_iter(), &budget)[0].is_empty());
        budget.charge(MAX_SLOW_TIME * 2 / 3, rust);
        assert!(!highlight_lines(rust, ["fn a() {}"].into_iter(), &budget)[0].is_empty());
        budget.charge(MAX_SLOW_TIME / 2, rust);
        assert_eq!(highlight_lines(rust, ["fn a() {}"].into_iter(), &budget), [Spans::new()]);
        assert_eq!(highlight_lines(rust, ["fn a() {}"].into_iter(), &Budget::none()), Vec::<Spans>::new());
    }

    #[test]
    fn languages_are_known_by_name_ending_and_first_line() {
        let name = |path, first| Language::detect(path, first).map(Language::name);
        assert_eq!(name("src/main.rs", ""), Some("Rust"));
        assert_eq!(name("a/Makefile", ""), Some("Makefile"));
        assert_eq!(name("x.TS", ""), Some("TypeScript"));
        assert_eq!(name("lib/url.h", ""), Some("C++"));
        assert_eq!(name("tool", "#!/usr/bin/env python3"), Some("Python"));
        assert_eq!(name("Dockerfile", ""), Some("Dockerfile"));
        assert_eq!(name("notes.txt", ""), None);
        assert_eq!(Language::named("sh").map(Language::name), Some("Bourne Again Shell (bash)"));
    }

    #[test]
    fn syntax_becomes_roles() {
        let text = text("// note\npub fn draw(n: u32) -> &'static str {\n    \"x\\n\" // 7\n}\n");
        let highlighted = Highlighter::new(text.clone(), "a.rs").highlight(0..10, &|| false);
        assert_eq!(highlighted.lines.len(), 4);
        assert_eq!(named(text.line(0), &highlighted.lines[0]), [("// note".into(), Role::SyntaxComment)]);
        let line = named(text.line(1), &highlighted.lines[1]);
        for wanted in [
            ("pub", Role::SyntaxKeyword),
            ("fn", Role::SyntaxKeyword),
            ("draw", Role::SyntaxFunction),
            ("u32", Role::SyntaxType),
        ] {
            assert!(line.contains(&(wanted.0.into(), wanted.1)), "{wanted:?} in {line:?}");
        }
        let line = named(text.line(2), &highlighted.lines[2]);
        assert!(line.contains(&("\\n".into(), Role::SyntaxConstant)), "{line:?}");
        assert!(line.contains(&("// 7".into(), Role::SyntaxComment)), "{line:?}");
    }

    #[test]
    fn a_part_is_highlighted_like_the_whole() {
        let mut source = String::from("/* begins\n");
        for n in 0..300 {
            source.push_str(&format!("line {n}\n"));
        }
        source.push_str("ends */ fn main() {}\n");
        let text = text(&source);
        let whole = Highlighter::new(text.clone(), "a.rs").highlight(0..400, &|| false);
        let parts = Highlighter::new(text, "a.rs");
        for start in [250, 128, 200, 0, 290] {
            let highlighted = parts.highlight(start..start + 10, &|| false);
            assert!(!highlighted.approximate);
            assert_eq!(highlighted.lines, whole.lines[start..(start + 10).min(302)]);
        }
    }

    #[test]
    fn distant_lines_are_highlighted_approximately_and_can_be_canceled() {
        let text = text(&"let x = 1;\n".repeat(9000));
        let highlighter = Highlighter::new(text, "a.rs");
        let highlighted = highlighter.highlight(8000..8010, &|| false);
        assert!(highlighted.approximate);
        assert!(highlighted.lines.iter().all(|line| !line.is_empty()));
        assert!(highlighter.highlight(0..100, &|| true).lines.is_empty());
        assert_eq!(highlighter.language().map(Language::name), Some("Rust"));
    }

    #[test]
    fn pieces_are_requested_once() {
        let mut known = Highlights::default();
        assert_eq!(known.missing(100..150, 140), Some(0..128));
        known.insert(&(0..128), HighlightedLines { lines: vec![Spans::new(); 128], ..HighlightedLines::default() });
        assert_eq!(known.missing(100..150, 140), Some(128..140));
        known.insert(&(128..140), HighlightedLines { first_line: 128, ..HighlightedLines::default() });
        assert_eq!(known.missing(100..150, 140), Some(128..140), "a canceled piece is not kept");
        assert!(known.line(100).is_some());
        assert!(known.line(130).is_none());
        assert_eq!(known.missing(0..0, 0), None);
    }

    #[test]
    fn lines_may_have_any_line_ending() {
        let text = Text::new(b"a\r\n\nb".to_vec());
        assert_eq!((text.len(), text.line(0), text.line(1), text.line(2), text.line(3)), (3, "a", "", "b", ""));
        assert_eq!(Text::new(Vec::new()).len(), 0);
        assert_eq!(Text::new(b"\n".to_vec()).len(), 1);
    }

    #[test]
    fn hostile_source_does_not_panic() {
        let mut dice = Dice(5);
        let likely: &[&[u8]] =
            &[b"\n", b"\"", b"/*", b"*/", b"fn ", b"{", b"}", b"<b>", b"'", b"${", "é".as_bytes(), b"\\", b"#", b"```"];
        for path in ["a.rs", "a.ts", "a.html", "a.md", "a.sh", "a.py", "a.json", "a.yml", "a.c", "a.rb"] {
            for _ in 0..10 {
                let text = Arc::new(Text::new(dice.bytes(300, likely)));
                let highlighted = Highlighter::new(text.clone(), path).highlight(0..usize::MAX, &|| false);
                assert_eq!(highlighted.lines.len(), text.len());
                for (at, spans) in highlighted.lines.iter().enumerate() {
                    draw(&text, at, Some(spans), &Theme::plain());
                    assert!(spans.iter().all(|(r, _)| text.line(at).get(r.start as usize..r.end as usize).is_some()));
                }
            }
        }
    }
}
