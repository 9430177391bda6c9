//! What is said when labscope itself is wrong: where, and what was violated; never a token, never an escape.

use crate::ui::text::shown;
use std::panic::PanicHookInfo;

/// Says it in a few lines, instead of Rust's own words. Whoever holds the terminal gives it back first.
pub fn install() {
    std::panic::set_hook(Box::new(|info| {
        let (place, what) = describe(info);
        tracing::error!("crashed at {place}: {what}");
        eprintln!("labscope crashed at {place}: {what}");
        eprintln!(
            "This is a mistake in labscope. Texts that were typed are kept; --log FILE records what leads to it."
        );
    }));
}

fn describe(info: &PanicHookInfo) -> (String, String) {
    let place = info.location().map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
    let what = info.payload_as_str().unwrap_or("no reason was given");
    // The reason may quote what a server sent: one line of it, cleaned, is enough.
    let line: String = what.lines().next().unwrap_or_default().chars().take(200).collect();
    (place, shown(&line).into_owned())
}
