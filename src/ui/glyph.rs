//! Glyphs: what a status looks like without color, each with a twin for terminals that have only ASCII, and with a word
//! for who hears the screen instead of seeing it.

use crate::ui::theme::Role;
use std::cell::Cell;
use std::sync::atomic::{AtomicU8, Ordering};

/// What is drawn besides text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Alphabet {
    /// Symbols and box drawing.
    #[default]
    Unicode,
    /// ASCII alone.
    Ascii,
    /// Words for states, ASCII for the rest, and no lines.
    Words,
}

static ALPHABET: AtomicU8 = AtomicU8::new(Alphabet::Unicode as u8);

/// Draws with an alphabet from now on, in the whole process: a terminal has one font and one reader.
pub fn set_alphabet(alphabet: Alphabet) {
    ALPHABET.store(alphabet as u8, Ordering::Relaxed);
}

thread_local! {
    static ON_THIS_THREAD: Cell<Option<Alphabet>> = const { Cell::new(None) };
}

/// An alphabet of this thread alone, until it is dropped: for tests, which run side by side in one process.
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

/// Returns whether ASCII twins are drawn, or words.
pub fn ascii() -> bool {
    alphabet() != Alphabet::Unicode
}

/// Returns whether words are drawn: the accessible mode.
pub fn words() -> bool {
    alphabet() == Alphabet::Words
}

/// Returns the word for a glyph that means something else elsewhere.
pub fn or_word<'a>(glyph: &'a str, word: &'a str) -> &'a str {
    if words() { word } else { glyph }
}

/// What parts two facts on one line, with the blanks around it.
pub fn between() -> &'static str {
    pick(alphabet(), " · ", " . ", ", ")
}

/// The glyph and the role of a status word: of a job, a pipeline, a deployment, a merge request, a runner.
/// A word that is not known gets a quiet dot.
pub fn status(word: &str) -> (&'static str, Role) {
    status_in(word, alphabet())
}

/// The glyph of a status beside a word that says the same: nothing where words are drawn.
pub fn sign(word: &str) -> (&'static str, Role) {
    let (sign, role) = status(word);
    (or_word(sign, ""), role)
}

/// The glyph of a status and its word, or the word alone, with its role.
pub fn labeled(word: &str) -> (String, Role) {
    let (sign, role) = status(word);
    let word = word.replace('_', " ");
    (if words() { word } else { format!("{sign} {word}") }, role)
}

fn status_in(word: &str, alphabet: Alphabet) -> (&'static str, Role) {
    let (glyph, twin, name, role) = match word {
        "success" => ("✓", "+", "success", Role::Success),
        "merged" => ("✓", "+", "merged", Role::Success),
        "passed" => ("✓", "+", "passed", Role::Success),
        "finished" => ("✓", "+", "finished", Role::Success),
        "failed" => ("✗", "x", "failed", Role::Failed),
        "running" => ("●", "*", "running", Role::Running),
        "online" => ("●", "*", "online", Role::Running),
        "opened" => ("●", "*", "open", Role::Success),
        "available" => ("●", "*", "available", Role::Success),
        "stopping" => ("◌", "o", "stopping", Role::Pending),
        "stopped" => ("○", "o", "stopped", Role::Canceled),
        "pending" => ("◌", "o", "pending", Role::Pending),
        "waiting_for_resource" => ("◌", "o", "waiting", Role::Pending),
        "preparing" => ("◌", "o", "preparing", Role::Pending),
        "scheduled" => ("◌", "o", "scheduled", Role::Pending),
        "manual" => ("▷", ">", "manual", Role::Manual),
        "blocked" => ("▷", ">", "blocked", Role::Manual),
        "canceled" => ("⊘", "-", "canceled", Role::Canceled),
        "canceling" => ("⊘", "-", "canceling", Role::Canceled),
        "closed" => ("⊘", "-", "closed", Role::Failed),
        "skipped" => ("»", "~", "skipped", Role::Canceled),
        "created" => ("◇", ".", "created", Role::Pending),
        "locked" => ("◐", "%", "locked", Role::Warning),
        "paused" => ("○", "o", "paused", Role::Canceled),
        "offline" => ("○", "o", "offline", Role::Canceled),
        "stale" => ("○", "o", "stale", Role::Canceled),
        _ => ("·", ".", "", Role::Dim),
    };
    (pick(alphabet, glyph, twin, name), role)
}

fn pick(alphabet: Alphabet, glyph: &'static str, twin: &'static str, word: &'static str) -> &'static str {
    match alphabet {
        Alphabet::Unicode => glyph,
        Alphabet::Ascii => twin,
        Alphabet::Words => word,
    }
}

macro_rules! glyphs {
    ($($(#[$doc:meta])* $name:ident = $glyph:literal, $twin:literal, $word:literal;)*) => {
        $($(#[$doc])* pub fn $name() -> &'static str { pick(alphabet(), $glyph, $twin, $word) })*
    };
}

glyphs! {
    /// Before a folder that is closed.
    folded = "▸", ">", "collapsed";
    /// Before a folder that is open.
    unfolded = "▾", "v", "expanded";
    /// From one ref to another.
    arrow = "→", ">", "to";
    /// A reply, or what follows from the line above.
    reply = "↳", ">", "reply";
    /// Up, as in commits ahead.
    up = "↑", "+", "up";
    /// Down, as in commits behind.
    down = "↓", "-", "down";
    /// Before the name of a branch.
    branch = "⎇", "@", "branch";
    /// In the first column of the selected row, where the cursor stands if it is seen.
    mark = "▌", ">", " ";
    /// Where text was cut.
    cut = "…", "~", "~";
    /// The horizontal rule under titles.
    rule = "─", "-", " ";
    /// The vertical rule between panes.
    divider = "│", "|", " ";
    /// The thumb of a scroll bar.
    thumb = "▐", "#", " ";
    /// Something quiet: beside it stands what it is.
    dot = "·", ".", "";
    /// Where content will be.
    skeleton = "·", ".", ".";
    /// Something done: a step passed.
    done = "✓", "+", "done";
    /// A thing that the user pinned.
    pin = "◆", "*", "pinned";
    /// Something wrong.
    wrong = "✗", "x", "error";
    /// Something begun, or alive; words beside it say what.
    alive = "●", "*", "";
    /// Something not begun; words beside it say what.
    open = "○", "o", "";
    /// Attention.
    warning = "▲", "!", "warning";
    /// A draft (unsent); words beside it say so.
    draft = "✎", "=", "";
    /// A step of a bar that is full.
    full = "▰", "#", "";
    /// A step of a bar that is left.
    left = "▱", ".", "";
    /// Stars of a project.
    star = "★", "*", "stars";
    /// The Return key.
    enter = "⏎", "Enter", "Enter";
    /// A request is on its way.
    busy = "◌", "o", "loading";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::text;

    const WORDS: &[&str] = &[
        "success",
        "failed",
        "running",
        "pending",
        "waiting_for_resource",
        "preparing",
        "scheduled",
        "manual",
        "canceled",
        "canceling",
        "skipped",
        "created",
        "opened",
        "merged",
        "closed",
        "locked",
        "paused",
        "other",
    ];

    #[test]
    fn every_status_is_one_column_wide_in_both_alphabets() {
        for word in WORDS {
            assert_eq!(text::width(status_in(word, Alphabet::Unicode).0), 1, "{word}");
            let twin = status_in(word, Alphabet::Ascii).0;
            assert!(twin.is_ascii() && twin.len() == 1, "{word}");
        }
    }

    #[test]
    fn the_glyph_alone_tells_job_statuses_apart() {
        let jobs = ["success", "failed", "running", "pending", "manual", "canceled", "skipped", "created"];
        for alphabet in [Alphabet::Unicode, Alphabet::Ascii, Alphabet::Words] {
            let mut glyphs: Vec<_> = jobs.iter().map(|word| status_in(word, alphabet).0).collect();
            glyphs.sort_unstable();
            glyphs.dedup();
            assert_eq!(glyphs.len(), jobs.len());
        }
    }
}
