//! Glyphs: what a status looks like without color, each with a twin for terminals that have only ASCII.

use crate::ui::theme::Role;
use std::sync::atomic::{AtomicBool, Ordering};

static ASCII: AtomicBool = AtomicBool::new(false);

/// Draws ASCII twins from now on, in the whole process: a terminal has one font.
pub fn set_ascii(on: bool) {
    ASCII.store(on, Ordering::Relaxed);
}

/// Returns whether ASCII twins are drawn.
pub fn ascii() -> bool {
    ASCII.load(Ordering::Relaxed)
}

/// The glyph and the role of a status word: of a job, a pipeline, a deployment, a merge request, a runner.
/// A word that is not known gets a quiet dot.
pub fn status(word: &str) -> (&'static str, Role) {
    status_in(word, ascii())
}

fn status_in(word: &str, ascii: bool) -> (&'static str, Role) {
    let (glyph, twin, role) = match word {
        "success" | "merged" | "passed" | "finished" => ("✓", "+", Role::Success),
        "failed" => ("✗", "x", Role::Failed),
        "running" | "online" => ("●", "*", Role::Running),
        "opened" | "available" => ("●", "*", Role::Success),
        "pending" | "waiting_for_resource" | "preparing" | "scheduled" | "stopping" => ("◌", "o", Role::Pending),
        "manual" | "blocked" => ("▷", ">", Role::Manual),
        "canceled" | "canceling" => ("⊘", "-", Role::Canceled),
        "closed" => ("⊘", "-", Role::Failed),
        "skipped" => ("»", "~", Role::Canceled),
        "created" => ("◇", ".", Role::Pending),
        "locked" => ("◐", "%", Role::Warning),
        "paused" | "offline" | "stale" | "stopped" => ("○", "o", Role::Canceled),
        _ => ("·", ".", Role::Dim),
    };
    (if ascii { twin } else { glyph }, role)
}

macro_rules! glyphs {
    ($($(#[$doc:meta])* $name:ident = $glyph:literal, $twin:literal;)*) => {
        $($(#[$doc])* pub fn $name() -> &'static str { if ascii() { $twin } else { $glyph } })*
    };
}

glyphs! {
    /// Before a folder that is closed.
    folded = "▸", ">";
    /// Before a folder that is open.
    unfolded = "▾", "v";
    /// From one ref to another.
    arrow = "→", ">";
    /// A reply, or what follows from the line above.
    reply = "↳", ">";
    /// Up, as in commits ahead.
    up = "↑", "+";
    /// Down, as in commits behind.
    down = "↓", "-";
    /// Before the name of a branch.
    branch = "⎇", "@";
    /// In the first column of the selected row.
    mark = "▌", ">";
    /// Where text was cut.
    cut = "…", "~";
    /// The horizontal rule under titles.
    rule = "─", "-";
    /// The vertical rule between panes.
    divider = "│", "|";
    /// The thumb of a scroll bar.
    thumb = "▐", "#";
    /// Between facts on one line.
    dot = "·", ".";
    /// Where content will be.
    skeleton = "·", ".";
    /// Something done: a file viewed, a step passed.
    done = "✓", "+";
    /// A thing that the user pinned.
    pin = "◆", "*";
    /// Something wrong.
    wrong = "✗", "x";
    /// Something begun, or alive.
    alive = "●", "*";
    /// Something not begun.
    open = "○", "o";
    /// Attention.
    warning = "▲", "!";
    /// A draft (unsent).
    draft = "✎", "=";
    /// A step of a bar that is full.
    full = "▰", "#";
    /// A step of a bar that is left.
    left = "▱", ".";
    /// The Return key.
    enter = "⏎", "Enter";
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
            assert_eq!(text::width(status_in(word, false).0), 1, "{word}");
            assert!(status_in(word, true).0.is_ascii() && status_in(word, true).0.len() == 1, "{word}");
        }
    }

    #[test]
    fn the_glyph_alone_tells_job_statuses_apart() {
        let jobs = ["success", "failed", "running", "pending", "manual", "canceled", "skipped", "created"];
        for ascii in [false, true] {
            let mut glyphs: Vec<_> = jobs.iter().map(|word| status_in(word, ascii).0).collect();
            glyphs.sort_unstable();
            glyphs.dedup();
            assert_eq!(glyphs.len(), jobs.len());
        }
    }
}
