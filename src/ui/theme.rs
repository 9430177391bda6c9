//! Themes: the styles of all roles. Colors are defined here and nowhere else.

use super::glyph;
use domain::mistakes::{did_you_mean, plain_words};
use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier, Style};
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use toml::Spanned;

macro_rules! roles {
    ($($(#[$doc:meta])* $variant:ident = $key:literal),* $(,)?) => {
        /// The meaning of a piece of the screen; a theme defines its style.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Role { $($(#[$doc])* $variant),* }

        impl Role {
            /// All roles. A theme file defines each of them.
            pub const ALL: &'static [Role] = &[$(Role::$variant),*];

            /// Returns the key in a theme file.
            pub fn key(self) -> &'static str {
                match self { $(Role::$variant => $key),* }
            }
        }
    };
}

roles! {
    /// Ordinary text on the default background.
    Text = "text",
    /// Secondary text: ages, counts, hints.
    Dim = "dim",
    /// Dividers between panels, gutters, loading placeholders.
    Faint = "faint",
    /// The title of the focused panel; headings.
    Title = "title",
    /// The title of a panel without focus.
    TitleDim = "title_dim",
    /// Focus, emphasis, keys in the footer.
    Accent = "accent",
    /// References that open something.
    Link = "link",
    /// The tint of the selected row, applied over the colors of its text.
    Selected = "selected",
    /// The tint of the selected row in a panel without focus.
    SelectedDim = "selected_dim",
    /// The marker before the selected row.
    Mark = "mark",
    /// Rows marked with Space, and selected text.
    Marked = "marked",
    /// Matches of a search or a filter.
    Match = "match",
    /// The match under the cursor.
    MatchCurrent = "match_current",
    /// The background of overlays.
    Overlay = "overlay",
    /// The border of overlays.
    Border = "border",
    /// The background of input fields.
    Input = "input",
    /// A key name, in the help and the footer.
    Key = "key",
    /// The names of branches, tags and commits.
    Ref = "ref",
    /// User names.
    User = "user",
    /// Labels and badges.
    Label = "label",
    /// Success: statuses success and merged.
    Success = "success",
    /// The failed status and errors.
    Failed = "failed",
    /// The running status and active items.
    Running = "running",
    /// The created, pending and waiting statuses.
    Pending = "pending",
    /// The manual status.
    Manual = "manual",
    /// The canceled and skipped statuses; closed items.
    Canceled = "canceled",
    /// Warnings: drafts, stale data.
    Warning = "warning",
    /// The sign of an added line, and counts of added lines.
    Added = "added",
    /// The sign of a removed line, and counts of removed lines.
    Removed = "removed",
    /// The tint of an added line.
    AddedLine = "added_line",
    /// The tint of a removed line.
    RemovedLine = "removed_line",
    /// The tint of the words added within a line.
    AddedWord = "added_word",
    /// The tint of the words removed within a line.
    RemovedWord = "removed_word",
    /// The tint of a moved line.
    MovedLine = "moved_line",
    /// Hunk headers.
    Hunk = "hunk",
    /// Line numbers.
    LineNumber = "line_number",
    /// Chart series, from subtle to strong.
    Chart = "chart",
    ChartStrong = "chart_strong",
    /// Lanes of a commit graph, in different colors.
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

/// The background of the terminal that a theme is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Background {
    Dark,
    Light,
}

/// The number of colors that the terminal supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// No colors, only attributes (`NO_COLOR`).
    None,
    /// The sixteen colors of the terminal's palette.
    Sixteen,
    /// The 256 colors of xterm.
    Indexed,
    /// 24-bit colors.
    True,
}

/// A complete set of styles, one for each role.
#[derive(Clone, Debug, PartialEq)]
pub struct Theme {
    /// The name, as passed to `--theme`.
    pub name: String,
    /// The terminal background that the theme is made for.
    pub background: Background,
    /// The theme's own background, `bg` of the palette, or `None` to keep the terminal's.
    background_color: Option<Color>,
    /// The color depth of the terminal, for colors that are not part of the theme.
    depth: Depth,
    styles: Vec<Style>,
}

/// An error in a theme file.
#[derive(Clone, Debug, PartialEq)]
pub struct ThemeError {
    /// The position of the value; `None` if it is missing.
    pub at: Option<Range<usize>>,
    /// The reason.
    pub why: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    background: Background,
    palette: BTreeMap<String, Spanned<String>>,
    styles: BTreeMap<String, Spanned<Entry>>,
}

/// A style: `"accent"`, or `{ fg = "accent", bg = "…", bold = true }`. Colors are names of the palette.
enum Entry {
    Fg(String),
    Full(Full),
}

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Entry, D::Error> {
        struct ColorOrTable;
        impl<'de> Visitor<'de> for ColorOrTable {
            type Value = Entry;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a color of the palette, or a table with fg, bg and attributes")
            }

            fn visit_str<E>(self, color: &str) -> Result<Entry, E> {
                Ok(Entry::Fg(color.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<Entry, A::Error> {
                Full::deserialize(MapAccessDeserializer::new(table)).map(Entry::Full)
            }
        }
        from.deserialize_any(ColorOrTable)
    }
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

/// The built-in themes, complete files in `themes/`.
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

/// The terminal's own colors, by their names in a palette.
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
    /// Parses a theme file, which must define all roles and no others.
    pub fn parse(text: &str) -> Result<Theme, ThemeError> {
        let file: File =
            toml::from_str(text).map_err(|error| ThemeError { at: error.span(), why: plain_words(error.message()) })?;
        let wrong = |at: Range<usize>, why: String| ThemeError { at: Some(at), why };
        let meant = |name: &str, known: &mut dyn Iterator<Item = &str>| {
            did_you_mean(name, known).map(|words| format!("; {words}")).unwrap_or_default()
        };
        let color = |at: Range<usize>, name: &str| -> Result<Color, ThemeError> {
            let hex = file.palette.get(name).ok_or_else(|| {
                let meant = meant(name, &mut file.palette.keys().map(String::as_str));
                wrong(at, format!("the palette has no color \"{name}\"{meant}"))
            })?;
            parse_color(hex.get_ref()).ok_or_else(|| {
                let why = "must be #rrggbb, \"none\" or a terminal color such as \"bright_blue\"";
                wrong(hex.span(), format!("\"{}\" {why}", hex.get_ref()))
            })
        };
        let roles = || Role::ALL.iter().map(|role| role.key());
        // A misspelled role is also one that is missing.
        if let Some((unknown, entry)) = file.styles.iter().find(|(key, _)| roles().all(|role| role != key.as_str())) {
            return Err(wrong(entry.span(), format!("unknown role{}", meant(unknown, &mut roles()))));
        }
        let mut styles = Vec::with_capacity(Role::ALL.len());
        for role in Role::ALL {
            let key = role.key();
            let entry = file.styles.get(key).ok_or_else(|| ThemeError {
                at: None,
                why: format!("styles: \"{key}\" is missing; a theme must define every role"),
            })?;
            let mut style = Style::new();
            match entry.get_ref() {
                Entry::Fg(fg) => style.fg = Some(color(entry.span(), fg)?),
                Entry::Full(full) => {
                    style.fg = full.fg.as_deref().map(|c| color(entry.span(), c)).transpose()?;
                    style.bg = full.bg.as_deref().map(|c| color(entry.span(), c)).transpose()?;
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
                    if full.reverse {
                        // The colors of the text below would become colored blocks.
                        style = style.fg(style.fg.unwrap_or(Color::Reset)).bg(style.bg.unwrap_or(Color::Reset));
                    }
                }
            }
            styles.push(style);
        }
        let background_color = match file.palette.get("bg") {
            Some(bg) => Some(color(bg.span(), "bg")?).filter(|color| *color != Color::Reset),
            None => None,
        };
        let (name, background) = (file.name, file.background);
        Ok(Theme { name, background, background_color, depth: Depth::True, styles }.with_depth(Depth::True))
    }

    /// Returns a built-in theme by name, or `None` if there is none of that name.
    pub fn built_in(name: &str) -> Option<Theme> {
        let (_, text) = BUILT_IN.iter().find(|(n, _)| *n == name)?;
        Theme::parse(text).ok()
    }

    /// Returns the default theme for a terminal background.
    pub fn for_background(background: Background) -> Theme {
        let name = match background {
            Background::Dark => "dark",
            Background::Light => "light",
        };
        Theme::built_in(name).unwrap_or_else(Theme::plain)
    }

    /// Returns a theme of attributes only, for use without colors.
    pub fn plain() -> Theme {
        let styles = vec![Style::new(); Role::ALL.len()];
        let (name, background) = ("plain".into(), Background::Dark);
        Theme { name, background, background_color: None, depth: Depth::True, styles }.with_depth(Depth::None)
    }

    /// Returns the style of a role.
    pub fn style(&self, role: Role) -> Style {
        if matches!(role, Role::Selected | Role::SelectedDim | Role::Mark) && !glyph::has_bar() {
            return Style::default();
        }
        self.styles.get(role as usize).copied().unwrap_or_default()
    }

    /// Returns whether a role has a background of its own.
    pub fn has_tint(&self, role: Role) -> bool {
        self.style(role).bg.is_some_and(|color| color != Color::Reset)
    }

    /// Returns the style of an empty screen.
    fn blank(&self) -> Style {
        let text = self.style(Role::Text);
        self.background_color.map_or(text, |background_color| text.bg(background_color))
    }

    /// Gives the whole screen the style of an empty one.
    pub fn fill(&self, buf: &mut Buffer) {
        let blank = self.blank();
        buf.content.iter_mut().for_each(|cell| _ = cell.set_style(blank));
    }

    /// Adapts the theme to a terminal background. A theme that is made for the other background and keeps the
    /// terminal's would be unreadable, so it gets the background of its overlays; with sixteen colors, it gets colors
    /// that are readable on the background.
    pub fn adapted_to(mut self, background: Background) -> Theme {
        // A theme may use the terminal's own colors at any depth.
        self = self.readable_on(background);
        if self.depth == Depth::Sixteen {
            return self;
        }
        let own = self.style(Role::Overlay).bg.filter(|color| matches!(color, Color::Rgb(..) | Color::Indexed(_)));
        if self.background != background && self.depth != Depth::None {
            self.background_color = self.background_color.or(own);
        }
        self
    }

    /// Converts a color of the displayed text itself, as in a job trace, to what the terminal supports.
    pub fn convert_color(&self, color: Color) -> Option<Color> {
        match self.depth {
            Depth::True => Some(color),
            Depth::Indexed => Some(to_indexed(color)),
            Depth::Sixteen => Some(to_sixteen(from_indexed(color))),
            Depth::None => None,
        }
    }

    /// Converts the color of an image's pixel (red, green and blue) to what the terminal supports.
    pub fn pixel(&self, [r, g, b]: [u8; 3]) -> Option<Color> {
        self.convert_color(Color::Rgb(r, g, b))
    }

    /// Returns black and white at the color depth of the terminal.
    fn extremes(&self) -> [Color; 2] {
        match self.depth {
            Depth::True => [Color::Rgb(0, 0, 0), Color::Rgb(255, 255, 255)],
            Depth::Indexed => [Color::Indexed(16), Color::Indexed(231)],
            Depth::Sixteen | Depth::None => [Color::Black, Color::White],
        }
    }

    /// Returns the colors of ordinary text and of its background, or likely ones if the terminal decides.
    pub fn usual_colors(&self) -> (Color, Color) {
        let [black, white] = self.extremes();
        let (text, background) = match self.background {
            Background::Dark => (white, black),
            Background::Light => (black, white),
        };
        let known = |color: Option<Color>| color.filter(|color| *color != Color::Reset);
        (known(self.style(Role::Text).fg).unwrap_or(text), known(self.background_color).unwrap_or(background))
    }

    /// Returns the color of text on a background of its own: `fg`, or ordinary text if it has none, where it is
    /// readable, else black or white.
    pub fn text_on(&self, bg: Color, fg: Option<Color>) -> Color {
        let wanted = fg.unwrap_or(self.usual_colors().0);
        let [black, white] = self.extremes();
        match contrast(wanted, bg) >= MIN_CONTRAST {
            true => wanted,
            false if contrast(black, bg) > contrast(white, bg) => black,
            false => white,
        }
    }

    /// Returns the color depth that the theme is converted for.
    pub fn depth(&self) -> Depth {
        self.depth
    }

    /// Converts the theme for a terminal with fewer colors.
    pub fn with_depth(mut self, depth: Depth) -> Theme {
        let mut colors = self.styles.iter().flat_map(|style| [style.fg, style.bg]).chain([self.background_color]);
        let is_of_terminal = !colors.any(|color| matches!(color, Some(Color::Rgb(..) | Color::Indexed(_))));
        // A theme of the terminal's own sixteen colors gets no others beside them, such as those of labels.
        self.depth = if is_of_terminal && depth != Depth::None { Depth::Sixteen } else { depth };
        let background_color = self.background_color;
        self.background_color = match depth {
            Depth::True => self.background_color,
            Depth::Indexed => self.background_color.map(to_indexed),
            Depth::Sixteen | Depth::None => None,
        };
        for (role, style) in Role::ALL.iter().zip(self.styles.iter_mut()) {
            match depth {
                Depth::True => {}
                Depth::Indexed => {
                    style.fg = style.fg.map(to_indexed);
                    style.bg = style.bg.map(|color| match role {
                        Role::AddedLine | Role::RemovedLine | Role::MovedLine | Role::AddedWord | Role::RemovedWord => {
                            tint_of_hue(color, background_color, self.background)
                        }
                        _ => to_indexed(color),
                    });
                    // Changed words get the tint of their line and are underlined: another tint of that hue would be
                    // too bright for text.
                    if style.bg.is_some() && matches!(role, Role::AddedWord | Role::RemovedWord) {
                        *style = style.add_modifier(Modifier::UNDERLINED);
                    }
                }
                Depth::Sixteen => {
                    // Labels and constants are orange; in red they would look like failures and removed lines.
                    let nearest = |color| if is_orange(color) { Color::Yellow } else { to_sixteen(color) };
                    style.fg = style.fg.map(nearest);
                    // Sixteen colors have no tints: the selection is reversed instead, other tints are dropped.
                    style.bg = None;
                    tint_as_attribute(*role, style);
                }
                Depth::None => {
                    style.fg = None;
                    style.bg = None;
                    tint_as_attribute(*role, style);
                }
            }
        }
        let background = self.background;
        if depth == Depth::Sixteen { self.readable_on(background) } else { self }
    }

    /// Replaces colors of a sixteen-color theme that are unreadable on a background. Red and green are reserved for
    /// diffs.
    fn readable_on(mut self, background: Background) -> Theme {
        for (role, style) in Role::ALL.iter().zip(self.styles.iter_mut()) {
            let code = role.key().starts_with("syntax.") && *role != Role::SyntaxInvalid;
            style.fg = style.fg.map(|color| match (color, role) {
                // The colors that a trace itself uses are kept.
                (Color::Yellow | Color::LightYellow, Role::AnsiYellow | Role::AnsiBrightYellow) => color,
                // On a light background, other yellow becomes magenta, the color of keywords.
                (Color::Yellow | Color::LightYellow, Role::SyntaxString) if background == Background::Light => {
                    Color::Cyan
                }
                (Color::Red | Color::LightRed, _) if code => Color::Magenta,
                (Color::Green | Color::LightGreen, _) if code => Color::Cyan,
                _ => readable_on(color, background),
            });
        }
        self
    }
}

/// Returns a readable color of the same hue on a background. Terminals agree on sixteen names, but not on the colors:
/// blue and red are dark in most terminals, and gray is close to a light background.
fn readable_on(color: Color, background: Background) -> Color {
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

/// Replaces the tint of a role by an attribute, for terminals without tints.
fn tint_as_attribute(role: Role, style: &mut Style) {
    match role {
        // The whole row gets one color: when reversed, words in other colors would become colored blocks.
        Role::Selected | Role::MatchCurrent => {
            *style = style.fg(Color::Reset).bg(Color::Reset).add_modifier(Modifier::REVERSED)
        }
        Role::Match | Role::AddedWord | Role::RemovedWord | Role::Input => {
            *style = style.add_modifier(Modifier::UNDERLINED)
        }
        Role::Title | Role::Key => *style = style.add_modifier(Modifier::BOLD),
        Role::Marked => *style = style.add_modifier(Modifier::BOLD | Modifier::UNDERLINED),
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
    // A dark tint of strong hue would become gray or change its hue: the cube has nothing between 0 and 95.
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

/// The tints of changed lines in 256 colors: the upper limit of the hue, and the tints on a dark and on a light
/// background. Text is not readable on any others.
const TINTS_BY_HUE: [(i32, u8, u8); 7] =
    [(20, 52, 224), (50, 58, 223), (150, 22, 194), (195, 23, 195), (265, 17, 189), (330, 53, 225), (360, 52, 224)];

/// Returns the tint of 256 colors with the hue of `color` relative to the background. Choosing the nearest color
/// instead would map most tints to the same gray.
fn tint_of_hue(color: Color, background_color: Option<Color>, background: Background) -> Color {
    let (Color::Rgb(r, g, b), is_dark) = (color, background == Background::Dark) else { return color };
    let (x, y, z) = match background_color {
        Some(Color::Rgb(x, y, z)) => (x, y, z),
        _ if is_dark => (0, 0, 0),
        _ => (255, 255, 255),
    };
    let from = |v: u8, background_color: u8| i32::from(v) - i32::from(background_color);
    let found = hue(from(r, x), from(g, y), from(b, z));
    let tint = found.and_then(|hue| TINTS_BY_HUE.iter().find(|(upto, ..)| hue <= *upto));
    tint.map_or(to_indexed(color), |(_, dark, light)| Color::Indexed(if is_dark { *dark } else { *light }))
}

/// Returns the hue of a color, from 0 to 359 degrees, or `None` for gray.
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

/// Converts the color cube and the grays of xterm to 24 bits. The first sixteen colors keep their names.
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

/// Palettes of common terminals: their sixteen colors are not known.
const PALETTES: [[u32; 16]; 2] = [
    // xterm
    [
        0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5, 0x7f7f7f, 0xff0000, 0x00ff00,
        0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff,
    ],
    // Tango, used by VTE and others
    [
        0x000000, 0xcc0000, 0x4e9a06, 0xc4a000, 0x3465a4, 0x75507b, 0x06989a, 0xd3d7cf, 0x555753, 0xef2929, 0x8ae234,
        0xfce94f, 0x729fcf, 0xad7fa8, 0x34e2e2, 0xeeeeec,
    ],
];

/// Returns the contrast ratio of two colors as defined by WCAG 2.2: the least one in any of the palettes, or 0 if a
/// color is the terminal's default. Level AA requires 4.5 for text, and 3 for large text and graphics.
pub fn contrast(a: Color, b: Color) -> f64 {
    let channel = |value: u32| {
        let value = f64::from(value & 0xff) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    let luminance = |color: Color, palette: &[u32; 16]| {
        let rgb = match from_indexed(color) {
            Color::Rgb(r, g, b) => u32::from_be_bytes([0, r, g, b]),
            Color::Indexed(n) => *palette.get(usize::from(n))?,
            named => *palette.get(ANSI.iter().position(|(_, color)| *color == named)?)?,
        };
        Some(0.2126 * channel(rgb >> 16) + 0.7152 * channel(rgb >> 8) + 0.0722 * channel(rgb))
    };
    let ratio = |palette| {
        let (a, b) = (luminance(a, palette)?, luminance(b, palette)?);
        Some((a.max(b) + 0.05) / (a.min(b) + 0.05))
    };
    PALETTES.iter().map(|palette| ratio(palette).unwrap_or_default()).fold(f64::INFINITY, f64::min)
}

/// The least contrast of text on a background of its own.
pub const MIN_CONTRAST: f64 = 3.0;

/// Returns whether the style of a row overrides the colors of its words: when reversed, they would become colored
/// blocks.
pub fn overrides_colors(style: Style) -> bool {
    style.add_modifier.contains(Modifier::REVERSED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_theme_for_the_other_background_sets_its_own_background() {
        let background_color =
            |name: &str, background| Theme::built_in(name).expect("a theme").adapted_to(background).blank().bg;
        assert_eq!(
            (background_color("light", Background::Light), background_color("dark", Background::Dark)),
            (None, None)
        );
        for (name, other) in [("light", Background::Dark), ("dark", Background::Light)] {
            let theme = Theme::built_in(name).expect("a theme");
            assert!(theme.style(Role::Overlay).bg.is_some());
            assert_eq!(background_color(name, other), theme.style(Role::Overlay).bg, "{name}");
            assert_eq!(theme.with_depth(Depth::Sixteen).adapted_to(other).blank().bg, None, "{name}");
        }
        // A theme with its own background keeps it, and the theme of the terminal's colors has none.
        assert_eq!(background_color("nord", Background::Light), Theme::built_in("nord").expect("a theme").blank().bg);
        assert_eq!(background_color("terminal", Background::Light), None);
    }

    #[test]
    fn the_sixteen_colors_are_readable_on_the_background() {
        let unreadable = |background| match background {
            Background::Dark => [Color::Black, Color::Blue, Color::Red, Color::Black, Color::Black],
            Background::Light => [Color::White, Color::Gray, Color::LightBlue, Color::Yellow, Color::LightYellow],
        };
        for (name, _) in BUILT_IN {
            let theme = Theme::built_in(name).expect("a theme").with_depth(Depth::Sixteen);
            for background in [Background::Dark, Background::Light] {
                let theme = theme.clone().adapted_to(background);
                let own = [Role::AnsiYellow, Role::AnsiBrightYellow];
                for role in Role::ALL.iter().filter(|role| !own.contains(role)) {
                    let color = theme.style(*role).fg;
                    assert!(!color.is_some_and(|c| unreadable(background).contains(&c)), "{name}: {role:?}: {color:?}");
                }
            }
        }
    }

    #[test]
    fn in_sixteen_colors_red_and_green_are_reserved_for_diffs() {
        let diff = [Color::Red, Color::LightRed, Color::Green, Color::LightGreen];
        for (name, _) in BUILT_IN {
            let theme = Theme::built_in(name).expect("a theme").with_depth(Depth::Sixteen);
            for background in [Background::Dark, Background::Light] {
                let theme = theme.clone().adapted_to(background);
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
            let theme = Theme::parse(text).unwrap_or_else(|e| panic!("{name}: {e:?}"));
            assert_eq!(&theme.name, name);
        }
    }

    #[test]
    fn errors_name_missing_roles_and_unknown_colors() {
        let (_, dark) = BUILT_IN[0];
        let without: String = dark.lines().filter(|l| !l.starts_with("hunk ")).collect::<Vec<_>>().join("\n");
        assert!(Theme::parse(&without).unwrap_err().why.contains("\"hunk\" is missing"));
        let wrong = dark.replacen("text = \"fg\"", "text = \"nope\"", 1);
        assert!(Theme::parse(&wrong).unwrap_err().why.contains("no color \"nope\""));
    }

    /// Roles not used for text in their own color: rules, and the black that traces use on colored backgrounds.
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

    /// Returns the backgrounds behind the text: the theme's own, or common ones of terminals.
    fn backgrounds(theme: &Theme) -> [(&'static str, Color); 2] {
        match (theme.background_color, theme.background) {
            (Some(background_color), _) => [("its background", background_color); 2],
            (None, Background::Dark) => [("black", Color::Rgb(0, 0, 0)), ("ink", Color::Rgb(0x10, 0x13, 0x18))],
            (None, Background::Light) => {
                [("white", Color::Rgb(255, 255, 255)), ("paper", Color::Rgb(0xfa, 0xfa, 0xfa))]
            }
        }
    }

    /// Returns the themes with their own colors, since those of a terminal are unknown.
    fn with_own_colors() -> impl Iterator<Item = Theme> {
        BUILT_IN
            .iter()
            .filter(|(name, _)| *name != "terminal")
            .map(|(_, text)| Theme::parse(text).expect("it is complete"))
    }

    #[test]
    fn the_terminal_theme_uses_only_terminal_colors() {
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
    fn all_text_is_readable_on_the_background_and_every_tint() {
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
                    // Line numbers are next to the text and may have less contrast over tints.
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
    fn with_256_colors_added_removed_and_moved_lines_differ_in_hue() {
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
    fn with_256_colors_text_is_readable_and_changed_words_keep_their_hue() {
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
    fn tints_differ_from_the_background_and_each_other() {
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
    fn the_selection_is_visible_without_colors() {
        let theme = Theme::for_background(Background::Dark).with_depth(Depth::None);
        assert!(theme.style(Role::Selected).add_modifier.contains(Modifier::REVERSED));
        assert_eq!(theme.style(Role::Added).fg, None);
    }
}
