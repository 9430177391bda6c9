//! What is said when labscope itself is wrong: where, and what was violated; never a token, never an escape.

use crate::ui::text::shown;
use std::io::{self, Write};
use std::panic::PanicHookInfo;

/// Says it in a few lines, instead of Rust's own words. Whoever holds the terminal gives it back first.
pub fn install() {
    std::panic::set_hook(Box::new(|info| {
        let (place, what) = describe(info);
        tracing::error!("crashed at {place}: {what}");
        let mut out = io::stderr().lock();
        // Where nobody listens any more, a second panic would hide the first.
        let _ = writeln!(out, "labscope crashed at {place}: {what}");
        let advice = "Texts that were typed are kept; --log FILE records what leads to it.";
        let _ = writeln!(out, "This is a mistake in labscope. {advice}");
    }));
}

fn describe(info: &PanicHookInfo) -> (String, String) {
    let place = info.location().map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
    let payload = info.payload();
    let said = payload.downcast_ref::<&str>().copied().or(payload.downcast_ref::<String>().map(String::as_str));
    let what = said.unwrap_or("no reason was given");
    // The reason may quote what a server sent: one line of it, cleaned, is enough.
    let line: String = what.lines().next().unwrap_or_default().chars().take(200).collect();
    (place, shown(&line).into_owned())
}
