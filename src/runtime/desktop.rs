//! Desktop notifications, by D-Bus on Linux and by the system's own interface elsewhere.

use super::terminal::notification_text;

/// Shows a notification. Runs on a worker thread, because it waits for the desktop.
///
/// # Errors
///
/// Returns the reason if the notification cannot be shown.
pub fn show(text: &str) -> Result<(), String> {
    let shown = notify_rust::Notification::new().appname("labscope").summary("labscope").body(&body(text)).show();
    shown.map(drop).map_err(|error| error.to_string())
}

/// Returns the body of a notification, escaped for D-Bus desktops, which interpret it as markup.
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
    fn server_names_are_not_markup() {
        assert_eq!(body("#7 <b>unit</b> & more\u{1b}[2J"), "#7 &lt;b&gt;unit&lt;/b&gt; &amp; more [2J");
    }
}
