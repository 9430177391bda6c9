//! Notices of the desktop: by the bus of a session on Linux, by the system's own means elsewhere.

use super::terminal::notification_text;

/// Shows a text; waits for the desktop, so it is for a worker.
///
/// # Errors
/// Why there is nobody who shows it.
pub fn show(text: &str) -> Result<(), String> {
    let shown = notify_rust::Notification::new().appname("labscope").summary("labscope").body(&body(text)).show();
    shown.map(drop).map_err(|error| error.to_string())
}

/// The text as a body, which desktops of the bus read as markup.
fn body(text: &str) -> String {
    let text = notification_text(text);
    if cfg!(any(target_os = "macos", windows)) {
        return text;
    }
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(not(any(target_os = "macos", windows)))]
    fn a_name_of_the_server_is_no_markup() {
        assert_eq!(body("#7 <b>unit</b> & more\u{1b}[2J"), "#7 &lt;b&gt;unit&lt;/b&gt; &amp; more [2J");
    }
}
