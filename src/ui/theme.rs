//! Themes: what every role looks like. Colors live here and nowhere else.

use ratatui::style::{Color, Modifier, Style};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;

macro_rules! roles {
    ($($(#[$doc:meta])* $variant:ident = $key:literal),* $(,)?) => {
        /// What a piece of the screen means; a theme says how it looks.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Role { $($(#[$doc])* $variant),* }

        impl Role {
            /// All roles; a theme file names each of them.
            pub const ALL: &'static [Role] = &[$(Role::$variant),*];

            /// The key in a theme file.
            pub fn key(self) -> &'static str {
                match self { $(Role::$variant => $key),* }
            }
        }
    };
}

roles! {
    /// Ordinary text on the terminal's own background.
    Text = "text",
    /// Secondary text: ages, counts, hints.
    Dim = "dim",
    /// Rules between panes, gutters, skeletons.
    Faint = "faint",
    /// Title of the focused pane; headings.
    Title = "title",
    /// Title of a pane without focus.
    TitleDim = "title_dim",
    /// Focus, the thing that matters, keys in the footer.
    Accent = "accent",
    /// References that open something.
    Link = "link",
    /// Tint of the selected row, over its own colors.
    Selected = "selected",
    /// Tint of the selected row in a pane without focus.
    SelectedDim = "selected_dim",
    /// The mark before the selected row.
    Mark = "mark",
    /// Rows marked with Space, and selected text.
    Marked = "marked",
    /// What a search or a filter found.
    Match = "match",
    /// The match under the cursor.
    MatchCurrent = "match_current",
    /// Background of overlays.
    Overlay = "overlay",
    /// Border of overlays.
    Border = "border",
    /// A field that can be typed into.
    Input = "input",
    /// A key name, in help and footer.
    Key = "key",
    /// Names of branches, tags and commits.
    Ref = "ref",
    /// User names.
    User = "user",
    /// Labels, badges.
    Label = "label",
    /// Good news; status success, merged.
    Success = "success",
    /// Status failed, errors.
    Failed = "failed",
    /// Status running; things alive.
    Running = "running",
    /// Status created, pending, waiting.
    Pending = "pending",
    /// Status manual.
    Manual = "manual",
    /// Status canceled, skipped; closed things.
    Canceled = "canceled",
    /// Attention: drafts, staleness, warnings.
    Warning = "warning",
    /// Text of an added line's sign and counts.
    Added = "added",
    /// Text of a removed line's sign and counts.
    Removed = "removed",
    /// Tint of an added line.
    AddedLine = "added_line",
    /// Tint of a removed line.
    RemovedLine = "removed_line",
    /// Tint of the words added within a line.
    AddedWord = "added_word",
    /// Tint of the words removed within a line.
    RemovedWord = "removed_word",
    /// Tint of a line that moved from one place to another.
    MovedLine = "moved_line",
    /// Hunk headers.
    Hunk = "hunk",
    /// Line numbers.
    LineNumber = "line_number",
    /// Series of charts, from quiet to strong.
    Chart = "chart",
    ChartStrong = "chart_strong",
    /// Lines of history in a graph, told apart.
    Lane1 = "lane.1",
    Lane2 = "lane.2",
    Lane3 = "lane.3",
    Lane4 = "lane.4",
    Lane5 = "lane.5",
    Lane6 = "lane.6",
    SyntaxKeyword = "syntax.keyword",
    SyntaxFunction = "syntax.function",
    SyntaxType = "syntax.type",
    SyntaxString = "syntax.string",
    SyntaxNumber = "syntax.number",
    SyntaxConstant = "syntax.constant",
    SyntaxComment = "syntax.comment",
    SyntaxVariable = "syntax.variable",
    SyntaxOperator = "syntax.operator",
    SyntaxPunctuation = "syntax.punctuation",
    SyntaxTag = "syntax.tag",
    SyntaxAttribute = "syntax.attribute",
    SyntaxHeading = "syntax.heading",
    SyntaxEmphasis = "syntax.emphasis",
    SyntaxStrong = "syntax.strong",
    SyntaxInvalid = "syntax.invalid",
    AnsiBlack = "ansi.black",
    AnsiRed = "ansi.red",
    AnsiGreen = "ansi.green",
    AnsiYellow = "ansi.yellow",
    AnsiBlue = "ansi.blue",
    AnsiMagenta = "ansi.magenta",
    AnsiCyan = "ansi.cyan",
    AnsiWhite = "ansi.white",
    AnsiBrightBlack = "ansi.bright_black",
    AnsiBrightRed = "ansi.bright_red",
    AnsiBrightGreen = "ansi.bright_green",
    AnsiBrightYellow = "ansi.bright_yellow",
    AnsiBrightBlue = "ansi.bright_blue",
    AnsiBrightMagenta = "ansi.bright_magenta",
    AnsiBrightCyan = "ansi.bright_cyan",
    AnsiBrightWhite = "ansi.bright_white",
}

/// Whether a theme is made for a dark or a light terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Background {
    Dark,
    Light,
}

/// How many colors the terminal shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// `NO_COLOR`: attributes only.
    None,
    /// The sixteen of the terminal's own palette.
    Sixteen,
    /// The 256 of xterm.
    Indexed,
    /// 24 bits.
    True,
}

/// A complete set of styles, one for each role.
#[derive(Clone, Debug, PartialEq)]
pub struct Theme {
    /// The name by which `--theme` asks for it.
    pub name: String,
    /// The terminal that it is made for.
    pub background: Background,
    /// Its own background, `bg` of the palette; none to leave the terminal's.
    ground: Option<Color>,
    /// What the terminal shows of colors that are not the theme's own.
    depth: Depth,
    styles: Vec<Style>,
}

/// A theme file that cannot be used: which key, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct ThemeError(pub String);

impl fmt::Display for ThemeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ThemeError {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    background: Background,
    palette: BTreeMap<String, String>,
    styles: BTreeMap<String, Entry>,
}

/// `"accent"`, or `{ fg = "accent", bg = "…", bold = true }`; colors are names of the palette.
#[derive(Deserialize)]
#[serde(untagged)]
enum Entry {
    Fg(String),
    Full(Full),
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Full {
    fg: Option<String>,
    bg: Option<String>,
    bold: bool,
    dim: bool,
    italic: bool,
    underline: bool,
    reverse: bool,
    strike: bool,
}

/// The themes in the binary, complete files under `themes/`.
pub const BUILT_IN: &[(&str, &str)] = &[
    ("dark", include_str!("../../themes/dark.toml")),
    ("light", include_str!("../../themes/light.toml")),
    ("terminal", include_str!("../../themes/terminal.toml")),
    ("high-contrast", include_str!("../../themes/high-contrast.toml")),
    ("catppuccin-mocha", include_str!("../../themes/catppuccin-mocha.toml")),
    ("catppuccin-latte", include_str!("../../themes/catppuccin-latte.toml")),
    ("gruvbox", include_str!("../../themes/gruvbox.toml")),
    ("nord", include_str!("../../themes/nord.toml")),
    ("tokyo-night", include_str!("../../themes/tokyo-night.toml")),
    ("solarized-light", include_str!("../../themes/solarized-light.toml")),
];

/// The terminal's own colors, by the names that a palette may use.
const ANSI: &[(&str, Color)] = &[
    ("black", Color::Black),
    ("red", Color::Red),
    ("green", Color::Green),
    ("yellow", Color::Yellow),
    ("blue", Color::Blue),
    ("magenta", Color::Magenta),
    ("cyan", Color::Cyan),
    ("white", Color::Gray),
    ("bright_black", Color::DarkGray),
    ("bright_red", Color::LightRed),
    ("bright_green", Color::LightGreen),
    ("bright_yellow", Color::LightYellow),
    ("bright_blue", Color::LightBlue),
    ("bright_magenta", Color::LightMagenta),
    ("bright_cyan", Color::LightCyan),
    ("bright_white", Color::White),
];

impl Theme {
    /// Reads a theme file; every role must be there, and nothing else.
    pub fn parse(text: &str) -> Result<Theme, ThemeError> {
        let file: File = toml::from_str(text).map_err(|e| ThemeError(e.to_string()))?;
        let color = |key: &str, name: &str| -> Result<Color, ThemeError> {
            let hex = file
                .palette
                .get(name)
                .ok_or_else(|| ThemeError(format!("styles.{key}: the palette has no color \"{name}\"")))?;
            parse_color(hex).ok_or_else(|| ThemeError(format!("palette.{name}: \"{hex}\" is not #rrggbb, \"none\" or a color of the terminal such as \"bright_blue\"")))
        };
        let mut styles = Vec::with_capacity(Role::ALL.len());
        for role in Role::ALL {
            let key = role.key();
            let entry = file
                .styles
                .get(key)
                .ok_or_else(|| ThemeError(format!("styles: \"{key}\" is missing; a theme names every role")))?;
            let mut style = Style::new();
            match entry {
                Entry::Fg(fg) => style.fg = Some(color(key, fg)?),
                Entry::Full(full) => {
                    style.fg = full.fg.as_deref().map(|c| color(key, c)).transpose()?;
                    style.bg = full.bg.as_deref().map(|c| color(key, c)).transpose()?;
                    for (on, modifier) in [
                        (full.bold, Modifier::BOLD),
                        (full.dim, Modifier::DIM),
                        (full.italic, Modifier::ITALIC),
                        (full.underline, Modifier::UNDERLINED),
                        (full.reverse, Modifier::REVERSED),
                        (full.strike, Modifier::CROSSED_OUT),
                    ] {
                        if on {
                            style = style.add_modifier(modifier);
                        }
                    }
                }
            }
            styles.push(style);
        }
        if let Some(unknown) = file.styles.keys().find(|k| !Role::ALL.iter().any(|r| r.key() == k.as_str())) {
            return Err(ThemeError(format!("styles: \"{unknown}\" is not a role")));
        }
        let ground = match file.palette.get("bg") {
            Some(_) => Some(color("bg", "bg")?).filter(|color| *color != Color::Reset),
            None => None,
        };
        Ok(Theme { name: file.name, background: file.background, ground, depth: Depth::True, styles })
    }

    /// A theme of the binary by name; `None` if there is none of that name.
    pub fn built_in(name: &str) -> Option<Theme> {
        let (_, text) = BUILT_IN.iter().find(|(n, _)| *n == name)?;
        Theme::parse(text).ok()
    }

    /// The theme for a terminal whose background is known.
    pub fn for_background(background: Background) -> Theme {
        let name = match background {
            Background::Dark => "dark",
            Background::Light => "light",
        };
        Theme::built_in(name).unwrap_or_else(Theme::plain)
    }

    /// Attributes only: what is left where no color may be used.
    pub fn plain() -> Theme {
        let styles = vec![Style::new(); Role::ALL.len()];
        let (name, background) = ("plain".into(), Background::Dark);
        Theme { name, background, ground: None, depth: Depth::True, styles }.with_depth(Depth::None)
    }

    /// Returns how `role` looks.
    pub fn style(&self, role: Role) -> Style {
        self.styles.get(role as usize).copied().unwrap_or_default()
    }

    /// Returns how a screen looks before anything is drawn on it.
    pub fn blank(&self) -> Style {
        let text = self.style(Role::Text);
        self.ground.map_or(text, |ground| text.bg(ground))
    }

    /// The same theme on a terminal with that background: one that is made for the other and leaves the terminal's
    /// would not be readable, so it gets the background of its overlays, or in sixteen colors those that are readable
    /// there.
    pub fn on(mut self, background: Background) -> Theme {
        // The terminal's own colors, which a theme may name at any depth.
        self = self.suited(background);
        if self.depth == Depth::Sixteen {
            return self;
        }
        let own = self.style(Role::Overlay).bg.filter(|color| matches!(color, Color::Rgb(..) | Color::Indexed(_)));
        if self.background != background && self.depth != Depth::None {
            self.ground = self.ground.or(own);
        }
        self
    }

    /// A color that the shown text itself asks for (a trace's), as far as the terminal shows it.
    pub fn foreign(&self, color: Color) -> Option<Color> {
        match self.depth {
            Depth::True => Some(color),
            Depth::Indexed => Some(to_indexed(color)),
            Depth::Sixteen => Some(to_sixteen(from_indexed(color))),
            Depth::None => None,
        }
    }

    /// The color of a pixel of a picture, red, green and blue, as far as the terminal shows it.
    pub fn pixel(&self, [r, g, b]: [u8; 3]) -> Option<Color> {
        self.foreign(Color::Rgb(r, g, b))
    }

    /// For how many colors it was made ready.
    pub fn depth(&self) -> Depth {
        self.depth
    }

    /// The same theme for a terminal of fewer colors.
    pub fn with_depth(mut self, depth: Depth) -> Theme {
        self.depth = depth;
        let ground = self.ground;
        self.ground = match depth {
            Depth::True => self.ground,
            Depth::Indexed => self.ground.map(to_indexed),
            Depth::Sixteen | Depth::None => None,
        };
        for (role, style) in Role::ALL.iter().zip(self.styles.iter_mut()) {
            match depth {
                Depth::True => {}
                Depth::Indexed => {
                    style.fg = style.fg.map(to_indexed);
                    style.bg = style.bg.map(|color| match role {
                        Role::AddedLine | Role::RemovedLine | Role::MovedLine | Role::AddedWord | Role::RemovedWord => {
                            tint_of_hue(color, ground, self.background)
                        }
                        _ => to_indexed(color),
                    });
                    // Words have the tint of their line: another one of that hue would be too bright for text.
                    if style.bg.is_some() && matches!(role, Role::AddedWord | Role::RemovedWord) {
                        *style = style.add_modifier(Modifier::UNDERLINED);
                    }
                }
                Depth::Sixteen => {
                    // Labels and constants are orange: red, they would look like failures and removed lines.
                    let nearest = |color| if is_orange(color) { Color::Yellow } else { to_sixteen(color) };
                    style.fg = style.fg.map(nearest);
                    // A tint has no counterpart among sixteen colors: selection becomes reverse, other tints go.
                    style.bg = None;
                    attribute_twin(*role, style);
                }
                Depth::None => {
                    style.fg = None;
                    style.bg = None;
                    attribute_twin(*role, style);
                }
            }
        }
        let background = self.background;
        if depth == Depth::Sixteen { self.suited(background) } else { self }
    }

    /// The same theme of sixteen colors with those that can be read on a background. Red and green are left to diffs.
    fn suited(mut self, background: Background) -> Theme {
        for (role, style) in Role::ALL.iter().zip(self.styles.iter_mut()) {
            let code = role.key().starts_with("syntax.") && *role != Role::SyntaxInvalid;
            style.fg = style.fg.map(|color| match (color, role) {
                // What a trace itself asks for stays what it is.
                (Color::Yellow | Color::LightYellow, Role::AnsiYellow | Role::AnsiBrightYellow) => color,
                // On a light background other yellow becomes magenta, which keywords are.
                (Color::Yellow | Color::LightYellow, Role::SyntaxString) if background == Background::Light => {
                    Color::Cyan
                }
                (Color::Red | Color::LightRed, _) if code => Color::Magenta,
                (Color::Green | Color::LightGreen, _) if code => Color::Cyan,
                _ => suited(color, background),
            });
        }
        self
    }
}

/// The color of the same hue that can be read on a background. Terminals agree on sixteen names, not on what they look
/// like: blue and red are dark in most, gray is close to a light background.
fn suited(color: Color, background: Background) -> Color {
    match (color, background) {
        (Color::Blue | Color::LightBlue, Background::Dark) => Color::LightBlue,
        (Color::Blue | Color::LightBlue, Background::Light) => Color::Blue,
        (Color::Red | Color::LightRed, Background::Dark) => Color::LightRed,
        (Color::Red | Color::LightRed, Background::Light) => Color::Red,
        (Color::Gray | Color::White, Background::Light) => Color::DarkGray,
        (Color::Yellow | Color::LightYellow, Background::Light) => Color::Magenta,
        (Color::Black, _) => Color::Reset,
        (color, _) => color,
    }
}

/// What stands for a tint where there are none.
fn attribute_twin(role: Role, style: &mut Style) {
    match role {
        // All of the row in one color: reversed, colored words would be colored blocks.
        Role::Selected | Role::MatchCurrent => *style = style.fg(Color::Reset).add_modifier(Modifier::REVERSED),
        Role::Match | Role::AddedWord | Role::RemovedWord | Role::Input => {
            *style = style.add_modifier(Modifier::UNDERLINED)
        }
        Role::Marked | Role::Title | Role::Key => *style = style.add_modifier(Modifier::BOLD),
        _ => {}
    }
}

fn parse_color(text: &str) -> Option<Color> {
    if text == "none" {
        return Some(Color::Reset);
    }
    if let Some((_, color)) = ANSI.iter().find(|(name, _)| *name == text) {
        return Some(*color);
    }
    let hex = text.strip_prefix('#').filter(|h| h.len() == 6 && h.is_ascii())?;
    let byte = |at: usize| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok();
    Some(Color::Rgb(byte(0)?, byte(2)?, byte(4)?))
}

fn to_indexed(color: Color) -> Color {
    let Color::Rgb(r, g, b) = color else { return color };
    let level = |v: u8| {
        if v < 48 {
            0
        } else if v < 115 {
            1
        } else {
            (v - 35) / 40
        }
    };
    let (lr, lg, lb) = (level(r), level(g), level(b));
    let cube = |l: u8| if l == 0 { 0i32 } else { 55 + 40 * i32::from(l) };
    // A dark tint of strong hue would come out gray, or in another hue: the cube has nothing between 0 and 95.
    let (max, min) = (r.max(g).max(b), r.min(g).min(b));
    if max < 95 && max - min >= 36 {
        let lit = |v: u8| u8::from(v > min + (max - min) / 2);
        return Color::Indexed(16 + 36 * lit(r) + 6 * lit(g) + lit(b));
    }
    let distance =
        |x: i32, y: i32, z: i32| (x - i32::from(r)).pow(2) + (y - i32::from(g)).pow(2) + (z - i32::from(b)).pow(2);
    let mean = (i32::from(r) + i32::from(g) + i32::from(b)) / 3;
    let step = ((mean - 3) / 10).clamp(0, 23);
    let gray = 8 + 10 * step;
    if distance(gray, gray, gray) < distance(cube(lr), cube(lg), cube(lb)) {
        Color::Indexed(232 + step as u8)
    } else {
        Color::Indexed(16 + 36 * lr + 6 * lg + lb)
    }
}

/// The tints of changed lines in 256 colors: up to which hue, on a dark and on a light background. There are no others
/// on which text can be read.
const TINTS_BY_HUE: [(i32, u8, u8); 7] =
    [(20, 52, 224), (50, 58, 223), (150, 22, 194), (195, 23, 195), (265, 17, 189), (330, 53, 225), (360, 52, 224)];

/// The tint of 256 colors that has the hue of `color` beside the background: next to it, most tints come out as the
/// same gray.
fn tint_of_hue(color: Color, ground: Option<Color>, background: Background) -> Color {
    let (Color::Rgb(r, g, b), is_dark) = (color, background == Background::Dark) else { return color };
    let (x, y, z) = match ground {
        Some(Color::Rgb(x, y, z)) => (x, y, z),
        _ if is_dark => (0, 0, 0),
        _ => (255, 255, 255),
    };
    let from = |v: u8, ground: u8| i32::from(v) - i32::from(ground);
    let found = hue(from(r, x), from(g, y), from(b, z));
    let tint = found.and_then(|hue| TINTS_BY_HUE.iter().find(|(upto, ..)| hue <= *upto));
    tint.map_or(to_indexed(color), |(_, dark, light)| Color::Indexed(if is_dark { *dark } else { *light }))
}

/// The hue of a color, from 0 to 359 degrees; a gray has none.
fn hue(r: i32, g: i32, b: i32) -> Option<i32> {
    let (max, min) = (r.max(g).max(b), r.min(g).min(b));
    let part = |from: i32, to: i32| (to - from) * 60 / (max - min);
    match max {
        _ if max == min => None,
        _ if max == r => Some((part(b, g) + 360) % 360),
        _ if max == g => Some(120 + part(r, b)),
        _ => Some(240 + part(g, r)),
    }
}

/// The color cube and the grays of xterm as 24 bits; the first sixteen stay names.
fn from_indexed(color: Color) -> Color {
    let Color::Indexed(n) = color else { return color };
    let cube = |l: u8| if l == 0 { 0 } else { 55 + 40 * l };
    match n {
        0..=15 => color,
        16..=231 => Color::Rgb(cube((n - 16) / 36), cube((n - 16) / 6 % 6), cube((n - 16) % 6)),
        232.. => Color::Rgb(8 + 10 * (n - 232), 8 + 10 * (n - 232), 8 + 10 * (n - 232)),
    }
}

fn is_orange(color: Color) -> bool {
    let Color::Rgb(r, g, b) = color else { return false };
    let (r, g, b) = (i32::from(r), i32::from(g), i32::from(b));
    r > g && r - b >= 40 && (g - b) * 3 > r - b
}

fn to_sixteen(color: Color) -> Color {
    let Color::Rgb(r, g, b) = color else { return color };
    let (max, min) = (r.max(g).max(b), r.min(g).min(b));
    if max - min < 40 {
        return match max {
            0..64 => Color::Black,
            64..150 => Color::DarkGray,
            150..210 => Color::Gray,
            _ => Color::Reset,
        };
    }
    let mid = max - (max - min) / 2;
    match (r > mid, g > mid, b > mid) {
        (true, false, false) => Color::Red,
        (false, true, false) => Color::Green,
        (true, true, false) => Color::Yellow,
        (false, false, true) => Color::Blue,
        (true, false, true) => Color::Magenta,
        (false, true, true) => Color::Cyan,
        _ => Color::Reset,
    }
}

/// Returns whether a style of a row goes over the colors of its words: reversed, they would be colored blocks.
pub fn covers(style: Style) -> bool {
    style.add_modifier.contains(Modifier::REVERSED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_theme_for_the_other_background_brings_its_own() {
        let ground = |name: &str, background| Theme::built_in(name).expect("a theme").on(background).blank().bg;
        assert_eq!((ground("light", Background::Light), ground("dark", Background::Dark)), (None, None));
        for (name, other) in [("light", Background::Dark), ("dark", Background::Light)] {
            let theme = Theme::built_in(name).expect("a theme");
            assert!(theme.style(Role::Overlay).bg.is_some());
            assert_eq!(ground(name, other), theme.style(Role::Overlay).bg, "{name}");
            assert_eq!(theme.with_depth(Depth::Sixteen).on(other).blank().bg, None, "{name}");
        }
        // One with a background of its own keeps it, and that of the terminal's colors has none.
        assert_eq!(ground("nord", Background::Light), Theme::built_in("nord").expect("a theme").blank().bg);
        assert_eq!(ground("terminal", Background::Light), None);
    }

    #[test]
    fn sixteen_colors_are_those_that_can_be_read_on_the_background() {
        let unreadable = |background| match background {
            Background::Dark => [Color::Black, Color::Blue, Color::Red, Color::Black, Color::Black],
            Background::Light => [Color::White, Color::Gray, Color::LightBlue, Color::Yellow, Color::LightYellow],
        };
        for (name, _) in BUILT_IN {
            let theme = Theme::built_in(name).expect("a theme").with_depth(Depth::Sixteen);
            for background in [Background::Dark, Background::Light] {
                let theme = theme.clone().on(background);
                let own = [Role::AnsiYellow, Role::AnsiBrightYellow];
                for role in Role::ALL.iter().filter(|role| !own.contains(role)) {
                    let color = theme.style(*role).fg;
                    assert!(!color.is_some_and(|c| unreadable(background).contains(&c)), "{name}: {role:?}: {color:?}");
                }
            }
        }
    }

    #[test]
    fn in_sixteen_colors_red_and_green_are_left_to_diffs() {
        let diff = [Color::Red, Color::LightRed, Color::Green, Color::LightGreen];
        for (name, _) in BUILT_IN {
            let theme = Theme::built_in(name).expect("a theme").with_depth(Depth::Sixteen);
            for background in [Background::Dark, Background::Light] {
                let theme = theme.clone().on(background);
                let code = |role: &&Role| role.key().starts_with("syntax.") && **role != Role::SyntaxInvalid;
                for role in Role::ALL.iter().filter(code) {
                    let color = theme.style(*role).fg;
                    assert!(!color.is_some_and(|c| diff.contains(&c)), "{name}: {role:?} on {background:?}: {color:?}");
                }
            }
        }
    }

    #[test]
    fn in_sixteen_colors_a_label_does_not_look_like_a_failure() {
        for (name, label) in [
            ("dark", Color::Yellow),
            ("gruvbox", Color::Yellow),
            ("tokyo-night", Color::Yellow),
            ("catppuccin-mocha", Color::Yellow),
            ("light", Color::Magenta),
            ("catppuccin-latte", Color::Magenta),
        ] {
            let theme = Theme::built_in(name).expect("a theme").with_depth(Depth::Sixteen);
            assert_eq!(theme.style(Role::Label).fg, Some(label), "{name}");
            assert!(matches!(theme.style(Role::Failed).fg, Some(Color::Red | Color::LightRed)), "{name}");
        }
    }

    #[test]
    fn every_theme_in_the_binary_is_complete() {
        for (name, text) in BUILT_IN {
            let theme = Theme::parse(text).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(&theme.name, name);
        }
    }

    #[test]
    fn a_missing_role_and_an_unknown_color_are_named() {
        let (_, dark) = BUILT_IN[0];
        let without: String = dark.lines().filter(|l| !l.starts_with("hunk ")).collect::<Vec<_>>().join("\n");
        assert!(Theme::parse(&without).unwrap_err().0.contains("\"hunk\" is missing"));
        let wrong = dark.replacen("text = \"fg\"", "text = \"nope\"", 1);
        assert!(Theme::parse(&wrong).unwrap_err().0.contains("no color \"nope\""));
    }

    /// The ratio of WCAG 2.2, "contrast ratio"; 4.5 is AA for text, 3 for large text and graphics.
    fn contrast(a: Color, b: Color) -> f64 {
        let luminance = |color| {
            let Color::Rgb(r, g, b) = from_indexed(color) else { panic!("{color:?} has no known look") };
            let channel = |v: u8| {
                let v = f64::from(v) / 255.0;
                if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
            };
            0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b)
        };
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// Roles that draw no text of their own color: rules, and the black that traces put on colored backgrounds.
    const NOT_TEXT: &[Role] = &[Role::Faint, Role::Border, Role::AnsiBlack];

    const TINTS: &[Role] = &[
        Role::Selected,
        Role::SelectedDim,
        Role::Marked,
        Role::Match,
        Role::Overlay,
        Role::Input,
        Role::AddedLine,
        Role::RemovedLine,
        Role::MovedLine,
        Role::AddedWord,
        Role::RemovedWord,
    ];

    /// What the text stands on: the theme's own background, or what terminals have.
    fn backgrounds(theme: &Theme) -> [(&'static str, Color); 2] {
        match (theme.ground, theme.background) {
            (Some(ground), _) => [("its background", ground); 2],
            (None, Background::Dark) => [("black", Color::Rgb(0, 0, 0)), ("ink", Color::Rgb(0x10, 0x13, 0x18))],
            (None, Background::Light) => {
                [("white", Color::Rgb(255, 255, 255)), ("paper", Color::Rgb(0xfa, 0xfa, 0xfa))]
            }
        }
    }

    /// The themes whose colors are their own: what the terminal's look like is not known.
    fn with_own_colors() -> impl Iterator<Item = Theme> {
        BUILT_IN
            .iter()
            .filter(|(name, _)| *name != "terminal")
            .map(|(_, text)| Theme::parse(text).expect("it is complete"))
    }

    #[test]
    fn the_terminal_s_theme_has_the_terminal_s_colors_alone() {
        let theme = Theme::built_in("terminal").expect("it is built in");
        for role in Role::ALL {
            let style = theme.style(*role);
            for color in [style.fg, style.bg].into_iter().flatten() {
                assert!(!matches!(color, Color::Rgb(..) | Color::Indexed(_)), "{}: {color:?}", role.key());
            }
        }
        assert!(theme.style(Role::Selected).add_modifier.contains(Modifier::REVERSED));
    }

    #[test]
    fn all_text_can_be_read_on_the_terminal_and_on_every_tint() {
        let mut bad = Vec::new();
        for theme in with_own_colors() {
            let tints = TINTS.iter().filter_map(|tint| Some((tint.key(), theme.style(*tint).bg?)));
            let tints: Vec<_> = tints.collect();
            assert_eq!(tints.len(), TINTS.len());
            for role in Role::ALL.iter().filter(|role| !NOT_TEXT.contains(role)) {
                let style = theme.style(*role);
                let Some(fg) = style.fg else { continue };
                let own = style.bg.map(|bg| (role.key(), bg));
                let on: Vec<_> = match own {
                    Some(own) => vec![own],
                    None => backgrounds(&theme).into_iter().chain(tints.iter().copied()).collect(),
                };
                for (name, bg) in on {
                    let ratio = contrast(fg, bg);
                    // Numbers of lines are beside the text; over tints they may step back.
                    let least = if *role == Role::LineNumber && bg != backgrounds(&theme)[0].1 { 3.0 } else { 4.5 };
                    if ratio < least {
                        bad.push(format!("{}: {} on {name} is {ratio:.2}", theme.name, role.key()));
                    }
                }
            }
        }
        assert!(bad.is_empty(), "{bad:#?}");
    }

    #[test]
    fn with_256_colors_added_removed_and_moved_lines_differ_in_hue_and_can_be_read() {
        for theme in with_own_colors() {
            let theme = theme.with_depth(Depth::Indexed);
            let hue_of = |role: Role| {
                let Color::Rgb(r, g, b) = from_indexed(theme.style(role).bg?) else { return None };
                hue(r.into(), g.into(), b.into())
            };
            for (role, hues) in [
                (Role::AddedLine, 90..=150),
                (Role::AddedWord, 90..=150),
                (Role::RemovedLine, 0..=20),
                (Role::RemovedWord, 0..=20),
                (Role::MovedLine, 180..=260),
            ] {
                let found = hue_of(role).unwrap_or_else(|| panic!("{}: {} has no hue", theme.name, role.key()));
                assert!(hues.contains(&found), "{}: {} is {found}", theme.name, role.key());
                let bg = theme.style(role).bg.unwrap();
                let ratio = |role| contrast(theme.style(role).fg.unwrap(), bg);
                assert!(ratio(Role::Text) >= 4.5, "{}: {} {}", theme.name, role.key(), ratio(Role::Text));
                for sign in [Role::Added, Role::Removed] {
                    assert!(ratio(sign) >= 3.0, "{}: {} on {}", theme.name, sign.key(), role.key());
                }
            }
            for word in [Role::AddedWord, Role::RemovedWord] {
                assert!(theme.style(word).add_modifier.contains(Modifier::UNDERLINED), "{}", theme.name);
            }
        }
    }

    #[test]
    fn with_256_colors_the_main_text_can_be_read_and_changed_words_keep_their_hue() {
        for theme in [Background::Dark, Background::Light].map(Theme::for_background) {
            let theme = theme.with_depth(Depth::Indexed);
            for role in [Role::Text, Role::Dim, Role::Accent, Role::Success, Role::Failed, Role::Warning, Role::Ref] {
                let fg = theme.style(role).fg.unwrap();
                assert!(contrast(fg, backgrounds(&theme)[1].1) >= 4.5, "{} {}", theme.name, role.key());
                let selected = contrast(fg, theme.style(Role::Selected).bg.unwrap());
                assert!(selected >= 4.0, "{} {} selected {selected}", theme.name, role.key());
            }
        }
        let dark = Theme::for_background(Background::Dark).with_depth(Depth::Indexed);
        assert_eq!(dark.style(Role::AddedWord).bg, Some(Color::Indexed(22)));
        assert_eq!(dark.style(Role::RemovedWord).bg, Some(Color::Indexed(52)));
    }

    #[test]
    fn tints_are_told_from_the_terminal_and_from_each_other() {
        for theme in with_own_colors() {
            let bg = |role: Role| theme.style(role).bg.unwrap();
            for (role, least) in
                [(Role::Selected, 1.2), (Role::SelectedDim, 1.1), (Role::AddedLine, 1.1), (Role::RemovedLine, 1.1)]
            {
                let ratio = contrast(bg(role), backgrounds(&theme)[1].1);
                assert!(ratio >= least, "{} {} {ratio}", theme.name, role.key());
            }
            assert!(contrast(bg(Role::AddedWord), bg(Role::AddedLine)) >= 1.15, "{}", theme.name);
            assert!(contrast(bg(Role::RemovedWord), bg(Role::RemovedLine)) >= 1.15, "{}", theme.name);
        }
    }

    #[test]
    fn without_color_the_selection_is_still_seen() {
        let theme = Theme::for_background(Background::Dark).with_depth(Depth::None);
        assert!(theme.style(Role::Selected).add_modifier.contains(Modifier::REVERSED));
        assert_eq!(theme.style(Role::Added).fg, None);
    }
}
