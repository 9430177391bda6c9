//! The theme in use: the user's choice, or what fits the background of the terminal.

use ui::theme::{Background, Theme};

/// The current theme, and what decides it.
pub(super) struct ThemeState {
    pub theme: Theme,
    /// Whether the user chose the theme; otherwise it follows the background.
    pub is_chosen: bool,
    /// The background that the terminal reported.
    background: Option<Background>,
}

impl ThemeState {
    pub fn new(theme: Theme, is_chosen: bool) -> ThemeState {
        ThemeState { theme, is_chosen, background: None }
    }

    /// Takes the background that the terminal reports.
    pub fn set_background(&mut self, background: Background) {
        self.background = Some(background);
        self.theme = match self.is_chosen {
            true => self.theme.clone().adapted_to(background),
            false => Theme::for_background(background).with_depth(self.theme.depth()),
        };
    }

    /// Uses a theme that the user chose.
    pub fn choose(&mut self, theme: Theme) {
        self.theme = match self.background {
            Some(background) => theme.adapted_to(background),
            None => theme,
        };
        self.is_chosen = true;
    }
}
