//! Glyphs that show a status without color, each with a replacement for terminals that have only ASCII and a word for
//! users who hear the screen.

use crate::legend;
use crate::theme::Role;
use std::borrow::Cow;
use std::cell::Cell;
use std::fmt::Display;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// The characters used to draw anything other than text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Alphabet {
    /// Symbols and box drawing.
    #[default]
    Unicode,
    /// ASCII only.
    Ascii,
    /// Words for statuses, ASCII for the rest, and no lines.
    Words,
}

static ALPHABET: AtomicU8 = AtomicU8::new(Alphabet::Unicode as u8);

/// Sets the alphabet for the whole process: a terminal has one font and one reader.
pub fn set_alphabet(alphabet: Alphabet) {
    ALPHABET.store(alphabet as u8, Ordering::Relaxed);
}

thread_local! {
    static ON_THIS_THREAD: Cell<Option<Alphabet>> = const { Cell::new(None) };
}

/// Overrides the alphabet on this thread until dropped, for tests that run in parallel in one process.
pub struct LocalAlphabet(());

impl LocalAlphabet {
    /// Draws with `alphabet` on this thread from now on.
    pub fn new(alphabet: Alphabet) -> LocalAlphabet {
        ON_THIS_THREAD.set(Some(alphabet));
        LocalAlphabet(())
    }
}

impl Drop for LocalAlphabet {
    fn drop(&mut self) {
        ON_THIS_THREAD.set(None);
    }
}

fn alphabet() -> Alphabet {
    if let Some(alphabet) = ON_THIS_THREAD.get() {
        return alphabet;
    }
    match ALPHABET.load(Ordering::Relaxed) {
        1 => Alphabet::Ascii,
        2 => Alphabet::Words,
        _ => Alphabet::Unicode,
    }
}

/// Returns whether ASCII or words are drawn instead of Unicode symbols.
pub fn is_ascii() -> bool {
    alphabet() != Alphabet::Unicode
}

/// Returns whether words are drawn, as in accessible mode.
pub fn is_accessible() -> bool {
    alphabet() == Alphabet::Words
}

static HAS_BAR: AtomicBool = AtomicBool::new(false);

/// Sets whether the selected row is highlighted in accessible mode, too.
pub fn set_bar(has_bar: bool) {
    HAS_BAR.store(has_bar, Ordering::Relaxed);
}

/// Returns whether the selected row is highlighted. In accessible mode, the cursor alone is on it: readers say what is
/// written, and a row that is written anew in another style is one of them.
pub fn has_bar() -> bool {
    !is_accessible() || HAS_BAR.load(Ordering::Relaxed)
}

/// Returns `glyph`, or `word` in accessible mode, for a glyph that means something different elsewhere.
pub fn or_word<'a>(glyph: &'a str, word: &'a str) -> &'a str {
    if is_accessible() {
        return word;
    }
    legend::note(glyph, word);
    glyph
}

/// Returns the separator of two facts on one line, including the spaces around it.
pub fn separator() -> &'static str {
    pick(alphabet(), " · ", " . ", ", ")
}

/// Returns a number of added lines, or of other things that were added.
pub fn additions(count: impl Display) -> String {
    if is_accessible() { format!("{count} added") } else { format!("{}{count}", or_word("+", "added")) }
}

/// Returns a number of removed lines.
pub fn deletions(count: impl Display) -> String {
    if is_accessible() {
        return format!("{count} removed");
    }
    format!("{}{count}", or_word(pick(alphabet(), "−", "-", ""), "removed"))
}

/// Returns the glyph and the role of a status, such as that of a job, a pipeline, a deployment, a merge request or a
/// runner. An unknown status gets a dim dot.
pub fn status(word: &str) -> (&'static str, Role) {
    let (sign, role, meaning) = status_in(word, alphabet());
    legend::note(sign, meaning);
    (sign, role)
}

/// Returns the glyph of a status for use next to its word, and the role. The glyph is empty where words are drawn.
pub fn status_glyph(word: &str) -> (&'static str, Role) {
    let (sign, role) = status(word);
    (or_word(sign, ""), role)
}

/// Returns the glyph of a status and the role, with its word if it has no glyph of its own.
pub fn compact(word: &str) -> (Cow<'static, str>, Role) {
    let (sign, role) = status(word);
    if (sign, role) == status("") { (labeled(word).0.into(), role) } else { (sign.into(), role) }
}

/// Returns words after their glyph, or the words alone in accessible mode and without a glyph.
pub fn signed(sign: &str, words: &str) -> String {
    if sign.is_empty() || is_accessible() {
        return words.to_owned();
    }
    legend::note(sign, words);
    format!("{sign} {words}")
}

/// Returns the glyph of a status and its short word, or the word alone in accessible mode, and the role.
pub fn labeled(word: &str) -> (String, Role) {
    let (sign, role, short) = status_in(word, alphabet());
    legend::note(sign, short);
    (signed(sign, &if short.is_empty() { word.replace('_', " ") } else { short.to_owned() }), role)
}

/// The statuses: the server's word, glyph, ASCII, word and role.
const STATUSES: &[(&str, &str, &str, &str, Role)] = &[
    ("success", "✓", "+", "success", Role::Success),
    ("merged", "✓", "+", "merged", Role::Success),
    ("passed", "✓", "+", "passed", Role::Success),
    ("finished", "✓", "+", "finished", Role::Success),
    ("failed", "✗", "x", "failed", Role::Failed),
    ("running", "●", "*", "running", Role::Running),
    ("online", "●", "*", "online", Role::Running),
    ("opened", "⊙", "@", "open", Role::Success),
    ("available", "⊙", "@", "available", Role::Success),
    ("stopping", "◌", "o", "stopping", Role::Pending),
    ("stopped", "□", "0", "stopped", Role::Canceled),
    ("pending", "◌", "o", "pending", Role::Pending),
    ("waiting_for_resource", "◌", "o", "waiting", Role::Pending),
    ("waiting_for_callback", "◌", "o", "waiting", Role::Pending),
    ("preparing", "◌", "o", "preparing", Role::Pending),
    ("scheduled", "◌", "o", "scheduled", Role::Pending),
    ("manual", "▷", ">", "manual", Role::Manual),
    ("blocked", "▷", ">", "blocked", Role::Manual),
    ("canceled", "⊘", "-", "canceled", Role::Canceled),
    ("canceling", "⊘", "-", "canceling", Role::Canceled),
    ("closed", "⊗", "#", "closed", Role::Failed),
    ("skipped", "»", "~", "skipped", Role::Canceled),
    ("created", "◇", ".", "created", Role::Pending),
    ("locked", "◐", "%", "locked", Role::Warning),
    ("paused", "‖", "=", "paused", Role::Canceled),
    ("offline", "□", "0", "offline", Role::Canceled),
    ("stale", "?", "?", "stale", Role::Canceled),
];

/// Returns the sign of a status, the role, and its word.
fn status_in(word: &str, alphabet: Alphabet) -> (&'static str, Role, &'static str) {
    let known = STATUSES.iter().find(|(known, ..)| *known == word);
    let (_, glyph, ascii, name, role) = known.copied().unwrap_or(("", "·", ".", "", Role::Dim));
    (pick(alphabet, glyph, ascii, name), role, name)
}

fn pick(alphabet: Alphabet, glyph: &'static str, ascii: &'static str, word: &'static str) -> &'static str {
    match alphabet {
        Alphabet::Unicode => glyph,
        Alphabet::Ascii => ascii,
        Alphabet::Words => word,
    }
}

/// The meaning of a glyph: its word, unless that is left to the text next to it.
macro_rules! meaning {
    ($word:literal) => {
        $word
    };
    ($word:literal $meaning:literal) => {
        $meaning
    };
}

macro_rules! glyphs {
    ($($(#[$doc:meta])* $name:ident = $glyph:literal, $ascii:literal, $word:literal $(=> $meaning:literal)?;)*) => {
        $($(#[$doc])* pub fn $name() -> &'static str {
            let sign = pick(alphabet(), $glyph, $ascii, $word);
            legend::note(sign, meaning!($word $($meaning)?));
            sign
        })*
        /// The glyphs that are no status, their ASCII, and what they mean.
        const GLYPHS: &[(&str, &str, &str)] = &[$(($glyph, $ascii, meaning!($word $($meaning)?))),*];
    };
}

glyphs! {
    /// Returns the glyph of a collapsed folder.
    folded = "▸", ">", "collapsed";
    /// Returns the glyph of an expanded folder.
    unfolded = "▾", "v", "expanded";
    /// Returns the arrow from one ref to another.
    arrow = "→", ">", "to";
    /// Returns the glyph of a reply, or of a continuation of the line above.
    reply = "↳", ">", "reply";
    /// Returns the glyph for up, as in commits ahead.
    up = "↑", "^", "up";
    /// Returns the glyph for down, as in commits behind.
    down = "↓", "v", "down";
    /// Returns the glyph in front of a branch name.
    branch = "⎇", "@", "branch";
    /// Returns the marker in the first column of the selected row, where the cursor is if it is visible.
    mark = "▌", ">", " " => "selected row";
    /// Returns the sign of a row that is marked to be changed with others.
    marked = "•", "*", "marked";
    /// Returns the sign of what is not known yet, because it is read only for the selected row.
    unknown = "?", "?", "unknown" => "not read until selected";
    /// Returns the mark at the end of truncated text.
    ellipsis = "…", "~", "…" => "cut off, or more to come";
    /// Returns a piece of the horizontal rule of titles.
    rule = "─", "-", " ";
    /// Returns a piece of the vertical divider between panels.
    divider = "│", "|", " ";
    /// Returns the thumb of a scroll bar.
    thumb = "▐", "|", " " => "what is visible of the whole";
    /// Returns a neutral bullet, next to text that says what it is.
    dot = "·", ".", "";
    /// Returns the placeholder of content that is loading.
    skeleton = "·", ".", "";
    /// Returns the glyph of a completed step.
    done = "✓", "+", "done";
    /// Returns the glyph of a line that tests reach.
    covered = "┃", "|", "covered" => "covered by tests";
    /// Returns the glyph of a line of which tests reach only some branches.
    partly_covered = "┇", ":", "partly covered" => "covered in part";
    /// Returns the glyph of a pinned item.
    pin = "◆", "*", "pinned";
    /// Returns the glyph of an error.
    wrong = "✗", "x", "error";
    /// Returns the glyph of a started or active item, next to text that says what it is.
    alive = "●", "*", "" => "active";
    /// Returns the glyph of what is off or inactive, next to text that says what it is.
    off = "□", "0", "" => "off";
    /// Returns the glyph of a commit in a graph.
    commit = "●", "*", "" => "commit";
    /// Returns the glyph of a merge commit in a graph.
    merge = "◎", "o", "" => "merge commit";
    /// Returns the glyph of what is not done yet, next to text that says what it is.
    hollow = "○", "o", "" => "not done yet";
    /// Returns the glyph of a warning.
    warning = "▲", "!", "warning";
    /// Returns the glyph of an unsent draft, next to text that says so.
    draft = "✎", "=", "" => "unsent draft";
    /// Returns a filled step of a progress bar.
    full = "▰", "#", "" => "done";
    /// Returns an empty step of a progress bar.
    left = "▱", ".", "" => "to do";
    /// Returns the glyph of a project's stars.
    star = "★", "*", "stars";
    /// Returns the glyph of the Return key.
    enter = "⏎", "Enter", "Enter";
    /// Returns the glyph of a request in flight.
    busy = "◌", "o", "loading";
}

/// Returns all signs with each of their meanings. In accessible mode, there are none.
pub fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    let alphabet = alphabet();
    let statuses = STATUSES.iter().map(|(_, glyph, ascii, name, _)| (*glyph, *ascii, *name));
    let all = statuses.chain(GLYPHS.iter().copied()).filter(move |_| alphabet != Alphabet::Words);
    all.map(move |(glyph, ascii, meaning)| (pick(alphabet, glyph, ascii, ""), meaning))
        .filter(|(_, meaning)| !matches!(meaning.trim(), ""))
}

/// Returns the meanings of a sign alone.
pub fn meanings(sign: &str) -> impl Iterator<Item = &'static str> {
    all().filter(move |(known, _)| *known == sign).map(|(_, meaning)| meaning)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text;

    #[test]
    fn every_status_glyph_is_one_column_wide() {
        for (word, ..) in STATUSES {
            assert_eq!(text::width(status_in(word, Alphabet::Unicode).0), 1, "{word}");
            let ascii = status_in(word, Alphabet::Ascii).0;
            assert!(ascii.is_ascii() && ascii.len() == 1, "{word}");
        }
    }

    /// The statuses are those of `AVAILABLE_STATUSES` in `app/models/concerns/ci/has_status.rb` of GitLab 18.
    #[test]
    fn the_statuses_of_jobs_and_pipelines_have_a_glyph_and_a_short_word() {
        let statuses = "created waiting_for_resource preparing waiting_for_callback pending running success failed canceling \
                        canceled skipped manual scheduled";
        for status in statuses.split(' ') {
            let (words, role) = labeled(status);
            assert!(role != Role::Dim && text::width(&words) <= 11, "{status}: {words}");
            assert_eq!(text::width(&compact(status).0), 1, "{status}");
        }
        assert_eq!(labeled("waiting_for_resource").0, "◌ waiting");
        assert_eq!(labeled("not_known_here").0, "· not known here");
    }

    /// The statuses that are shown in one column, by what has them: they are told apart without color.
    #[test]
    fn statuses_differ_by_glyph() {
        let jobs = ["success", "failed", "running", "pending", "manual", "canceled", "skipped", "created"];
        let requests = ["opened", "merged", "closed", "locked"];
        let runners = ["online", "offline", "paused", "stale"];
        let environments = ["available", "stopping", "stopped"];
        // A merge request and its pipeline are next to each other.
        let both = ["opened", "merged", "closed", "locked", "running", "pending", "failed", "canceled", "skipped"];
        for set in [&jobs[..], &requests, &runners, &environments, &both] {
            for alphabet in [Alphabet::Unicode, Alphabet::Ascii, Alphabet::Words] {
                let mut glyphs: Vec<_> = set.iter().map(|word| status_in(word, alphabet).0).collect();
                glyphs.sort_unstable();
                glyphs.dedup();
                assert_eq!(glyphs.len(), set.len(), "{set:?}");
            }
        }
    }
}
