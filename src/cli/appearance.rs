//! Detects how the interface should look: colors, background and character set of the terminal.

use super::args::Global;
use crate::config::{Config, Mistake, mistake_in};
use crate::system::files;
use crate::ui::glyph::{self, Alphabet};
use crate::ui::theme::{BUILT_IN, Background, Depth, Theme};
use std::path::Path;

/// The initial appearance of the interface.
#[derive(Clone, Debug, PartialEq)]
pub struct Appearance {
    pub theme: Theme,
    /// Whether the user selected the theme, so that it does not follow the terminal's background.
    pub is_theme_chosen: bool,
    pub depth: Depth,
    /// Whether the terminal may be queried for its background color.
    pub query_background: bool,
    /// The set of symbols to draw with.
    pub alphabet: Alphabet,
}

impl Appearance {
    /// Determines the appearance from options, configuration and environment; `var` looks up an environment variable.
    ///
    /// # Errors
    /// Returns a mistake if a theme does not exist or cannot be read, or if `glyphs` is invalid.
    pub fn find(global: &Global, config: &Config, var: impl Fn(&str) -> Option<String>) -> Result<Appearance, Mistake> {
        let depth = depth(&var);
        let term = var("TERM").unwrap_or_default();
        let (theme, is_theme_chosen) = match (&global.theme, &config.theme) {
            (Some(name), _) => {
                let theme = named(name, config.folder()).map_err(|why| format!("--theme: {why}"))?;
                (theme, true)
            }
            (None, Some(name)) => {
                let read = named(name.get_ref(), config.folder());
                (read.map_err(|why| config.mistake(name.span(), "theme", &why))?, true)
            }
            (None, None) => (Theme::for_background(background(&var)), false),
        };
        let ascii = match config.glyphs.as_ref().map(|glyphs| (glyphs.get_ref().as_str(), glyphs.span())) {
            None => is_ascii(&var),
            Some(("ascii", _)) => true,
            Some(("unicode", _)) => false,
            Some((_, at)) => return Err(config.mistake(at, "glyphs", "one of unicode, ascii")),
        };
        let alphabet = match (global.accessible || config.accessible == Some(true), ascii) {
            (true, _) => Alphabet::Words,
            (false, true) => Alphabet::Ascii,
            (false, false) => Alphabet::Unicode,
        };
        glyph::set_bar(config.selection_bar == Some(true));
        // The Linux console would print the query, and a screen reader may say it. The query is also sent if a theme was
        // selected, because the theme may be made for the other background.
        let query_background = depth != Depth::None && term != "linux" && alphabet != Alphabet::Words;
        Ok(Appearance { theme: theme.with_depth(depth), is_theme_chosen, depth, query_background, alphabet })
    }
}

/// Loads a built-in theme, or the file `themes/NAME.toml` in the configuration folder.
fn named(name: &str, folder: Option<&Path>) -> Result<Theme, String> {
    if let Some(theme) = Theme::built_in(name) {
        return Ok(theme);
    }
    let plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'));
    let file = folder.filter(|_| plain).map(|folder| folder.join("themes").join(format!("{name}.toml")));
    let Some((file, text)) =
        file.and_then(|file| Some((file.clone(), files::read_text(&file, files::MAX_SETTINGS).ok()?)))
    else {
        let known: Vec<&str> = BUILT_IN.iter().map(|(name, _)| *name).collect();
        return Err(format!(
            "there is no theme \"{name}\"; use {}, or a file themes/NAME.toml in the configuration folder",
            known.join(", ")
        ));
    };
    Theme::parse(&text).map_err(|error| match error.at {
        Some(at) => mistake_in(&file, text, at, &error.why),
        None => format!("{}: {}", file.display(), error.why),
    })
}

fn depth(var: &impl Fn(&str) -> Option<String>) -> Depth {
    if var("NO_COLOR").is_some_and(|v| !v.is_empty()) {
        return Depth::None;
    }
    let term = var("TERM").unwrap_or_default();
    let declared = matches!(var("COLORTERM").as_deref(), Some("truecolor" | "24bit")) || var("WT_SESSION").is_some();
    // These support true color but do not always declare it: SSH does not forward COLORTERM.
    let known = ["-direct", "kitty", "alacritty", "ghostty", "wezterm", "foot"].iter().any(|name| term.contains(name));
    // GNU screen forwards COLORTERM of the outer terminal, but does not support true color.
    let screen = term.starts_with("screen") && var("STY").is_some() && var("TMUX").is_none();
    // xterm sets TERM to "xterm", but supports 256 colors.
    let xterm = term == "xterm" && var("XTERM_VERSION").is_some();
    if (declared || known) && !screen {
        Depth::True
    } else if declared || xterm || term.contains("256color") {
        Depth::Indexed
    } else if term == "dumb" || term.starts_with("vt") {
        Depth::None
    } else {
        Depth::Sixteen
    }
}

/// Guesses the background from `COLORFGBG`, which some terminals set to a value such as `15;0`. The default is dark.
fn background(var: &impl Fn(&str) -> Option<String>) -> Background {
    let number = var("COLORFGBG").and_then(|v| v.rsplit(';').next().and_then(|n| n.parse::<u8>().ok()));
    match number {
        Some(7 | 9..=15) => Background::Light,
        _ => Background::Dark,
    }
}

/// Returns whether the locale specifies an encoding other than UTF-8. If no locale is set, as in containers, UTF-8 is
/// assumed because terminals use it.
fn is_ascii(var: &impl Fn(&str) -> Option<String>) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| var(name).filter(|v| !v.is_empty()));
    locale.is_some_and(|locale| {
        let locale = locale.to_ascii_lowercase();
        !locale.contains("utf-8") && !locale.contains("utf8")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn appearance(pairs: &[(&str, &str)]) -> Appearance {
        let var = |name: &str| pairs.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned());
        Appearance::find(&Global::default(), &Config::default(), var).expect("an appearance")
    }

    #[test]
    fn color_depth_follows_the_environment() {
        for (pairs, depth) in [
            (&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")][..], Depth::True),
            (&[("TERM", "xterm-kitty")], Depth::True),
            (&[("TERM", "screen-256color")], Depth::Indexed),
            (&[("TERM", "xterm"), ("XTERM_VERSION", "XTerm(379)")], Depth::Indexed),
            (&[("TERM", "xterm")], Depth::Sixteen),
            (&[("TERM", "screen"), ("STY", "1.pts"), ("COLORTERM", "truecolor")], Depth::Indexed),
            (&[("TERM", "screen"), ("STY", "1.pts")], Depth::Sixteen),
            (&[("TERM", "screen-256color"), ("STY", "1.pts"), ("TMUX", "a"), ("COLORTERM", "truecolor")], Depth::True),
            (&[("TERM", "linux")], Depth::Sixteen),
            (&[("TERM", "vt220")], Depth::None),
            (&[("TERM", "xterm-256color"), ("NO_COLOR", "1")], Depth::None),
        ] {
            assert_eq!(appearance(pairs).depth, depth, "{pairs:?}");
        }
    }

    #[test]
    fn the_background_is_guessed_and_queried() {
        let guessed = appearance(&[("TERM", "xterm-256color"), ("COLORFGBG", "0;15")]);
        assert_eq!((guessed.theme.background, guessed.query_background), (Background::Light, true));
        assert!(!appearance(&[("TERM", "xterm"), ("NO_COLOR", "1")]).query_background);
        let global = Global { theme: Some("light".into()), ..Global::default() };
        let selected = Appearance::find(&global, &Config::default(), |_| None).expect("an appearance");
        assert!(selected.is_theme_chosen && selected.query_background);
        let global = Global { theme: Some("../dark".into()), ..Global::default() };
        let missing = Appearance::find(&global, &Config::default(), |_| None).expect_err("no such theme");
        assert!(missing.to_string().contains("dark, light"), "{missing}");
    }

    #[test]
    fn a_locale_without_utf_8_gets_ascii() {
        assert_eq!(appearance(&[("LC_ALL", "C"), ("LANG", "en_GB.UTF-8")]).alphabet, Alphabet::Ascii);
        assert_eq!(appearance(&[("LANG", "C.utf8")]).alphabet, Alphabet::Unicode);
        assert_eq!(appearance(&[]).alphabet, Alphabet::Unicode);
    }

    #[test]
    fn accessible_mode_selects_words() {
        let option = Global { accessible: true, ..Global::default() };
        let mut file = Config::default();
        file.accessible = Some(true);
        for (global, config) in [(option, Config::default()), (Global::default(), file)] {
            let found = Appearance::find(&global, &config, |_| None).expect("an appearance");
            assert_eq!(found.alphabet, Alphabet::Words);
        }
    }
}
