//! The panic message: location and reason, without tokens or terminal escapes.

use crate::system::panics;
use crate::ui::text::sanitize;
use std::io::{self, Write};
use std::panic::PanicHookInfo;

/// Replaces Rust's panic message with a short one. The terminal code installs its own hook in front, which restores the
/// screen.
pub fn install() {
    std::panic::set_hook(Box::new(|info| {
        if panics::is_caught() {
            return;
        }
        let (place, what) = describe(info);
        tracing::error!("crashed at {place}: {what}");
        let mut out = io::stderr().lock();
        // Write errors are ignored: a second panic would hide the first.
        let _ = writeln!(out, "labscope crashed at {place}: {what}");
        let advice = "Your drafts are saved. To report it, reproduce it with --log FILE.";
        let _ = writeln!(out, "This is a bug in labscope. {advice}");
    }));
}

fn describe(info: &PanicHookInfo) -> (String, String) {
    let place = info.location().map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
    let payload = info.payload();
    let message = payload.downcast_ref::<&str>().copied().or(payload.downcast_ref::<String>().map(String::as_str));
    let what = message.unwrap_or("no message");
    // The reason may quote text from a server, so only its first line is shown, sanitized.
    let line: String = what.lines().next().unwrap_or_default().chars().take(200).collect();
    (place, sanitize(&line).into_owned())
}
