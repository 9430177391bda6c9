//! The capabilities of the terminal, as far as it answers, else as far as the environment tells.
//!
//! A program that is started from a terminal passes its environment on, so the variables of one terminal are also set
//! in another that was started from it. `TERM` and the answers are the terminal's own.

use crate::ui::image::Protocol;

/// An answer of the terminal to a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TerminalAnswer {
    /// Name and version (XTVERSION).
    Version(String),
    /// The primary device attributes: a class, followed by extensions.
    Attributes(Vec<u16>),
    /// The secondary device attributes: a type, a version, and options.
    SecondaryAttributes(Vec<u16>),
    /// The flags of kitty's keyboard protocol, so it is supported.
    KeyboardProtocol,
    /// A query with kitty's image protocol was accepted.
    KittyImages,
}

/// A program that draws cells: a terminal, or a multiplexer within one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emulator {
    Alacritty,
    Contour,
    Foot,
    Ghostty,
    Iterm,
    Kitty,
    Konsole,
    Mlterm,
    /// mosh draws on the terminal in which it was started.
    Mosh,
    /// The terminal of Neovim.
    Nvim,
    Rio,
    Screen,
    St,
    Tmux,
    Vscode,
    Vte,
    Wezterm,
    WindowsTerminal,
    Xterm,
    Zellij,
    Unknown,
}

use Emulator::*;

/// The names of terminals, as they begin in lower case in `TERM`, in `TERM_PROGRAM` and in answers.
const NAMES: &[(&str, Emulator)] = &[
    ("alacritty", Alacritty),
    ("contour", Contour),
    ("foot", Foot),
    ("ghostty", Ghostty),
    ("iterm", Iterm),
    ("kitty", Kitty),
    ("konsole", Konsole),
    ("mlterm", Mlterm),
    ("rio", Rio),
    ("st-", St),
    ("tmux", Tmux),
    ("vscode", Vscode),
    ("vte", Vte),
    ("wezterm", Wezterm),
    ("xterm(", Xterm),
    ("zellij", Zellij),
];

/// The first major version of Konsole that copies by OSC 52, in fact its development before 24.12.
const KONSOLE_WITH_OSC_52: u16 = 24;

fn named(name: &str) -> Option<Emulator> {
    let name = name.to_lowercase();
    NAMES.iter().find(|(start, _)| name.starts_with(start)).map(|(_, emulator)| *emulator)
}

impl Emulator {
    /// Returns the program that the environment names. What only a multiplexer or an editor sets precedes `TERM`, and
    /// `TERM` precedes what is passed on from terminal to terminal.
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Emulator {
        let value = |name: &str| variable(name).filter(|value| !value.is_empty());
        let set = |pairs: &[(&str, Emulator)]| {
            pairs.iter().find(|(name, _)| value(name).is_some()).map(|(_, emulator)| *emulator)
        };
        let of_term = || {
            let term = value("TERM")?;
            if term == "st" { Some(St) } else { named(term.strip_prefix("xterm-").unwrap_or(&term)) }
        };
        set(&[("TMUX", Tmux), ("STY", Screen), ("ZELLIJ", Zellij), ("NVIM", Nvim)])
            .or_else(of_term)
            .or_else(|| {
                set(&[
                    ("VTE_VERSION", Vte),
                    ("KONSOLE_VERSION", Konsole),
                    ("ALACRITTY_WINDOW_ID", Alacritty),
                    ("XTERM_VERSION", Xterm),
                ])
            })
            .or_else(|| named(&value("TERM_PROGRAM")?))
            .or_else(|| named(&value("LC_TERMINAL")?))
            .or_else(|| set(&[("KITTY_WINDOW_ID", Kitty), ("WT_SESSION", WindowsTerminal)]))
            .unwrap_or(Unknown)
    }

    /// Returns whether the program passes on only cells, whatever the outer terminal supports.
    pub fn is_multiplexer(self) -> bool {
        matches!(self, Tmux | Screen | Zellij | Mosh)
    }

    /// Returns whether the terminal answers a query of its name, in all versions of the last years.
    fn tells_its_name(self) -> bool {
        matches!(self, Contour | Foot | Ghostty | Iterm | Kitty | Konsole | Wezterm)
    }

    /// Returns whether joiners, variation selectors and combining marks displace the text after them: screen 5 and mosh
    /// 1.4 count them as characters.
    pub fn counts_marks(self) -> bool {
        matches!(self, Screen | Mosh)
    }
}

/// The capabilities of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    pub emulator: Emulator,
    /// The protocol for images.
    pub images: Protocol,
    /// Whether it is known to copy by OSC 52.
    pub copies: bool,
    /// Whether it has kitty's keyboard protocol, which distinguishes C-i from Tab, and Esc from sequences that start
    /// with it.
    pub has_keyboard_protocol: bool,
    /// Whether it told its name.
    has_name: bool,
}

impl Capabilities {
    /// Returns what the environment tells.
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Capabilities {
        Capabilities::of_emulator(Emulator::of(variable))
    }

    fn of_emulator(emulator: Emulator) -> Capabilities {
        let images = match emulator {
            Kitty | Ghostty => Protocol::Kitty,
            Iterm | Wezterm | Rio => Protocol::Iterm,
            Foot | Mlterm | Contour => Protocol::Sixel,
            _ => Protocol::Blocks,
        };
        let copies =
            matches!(emulator, Kitty | Ghostty | Foot | Alacritty | Wezterm | Rio | Contour | Vscode | WindowsTerminal);
        Capabilities { emulator, images, copies, has_keyboard_protocol: false, has_name: false }
    }

    /// Takes an answer into account. Answers arrive in the order of the queries, in which the primary attributes are
    /// last.
    pub fn learn(&mut self, answer: &TerminalAnswer) {
        let keeps = |emulator| Capabilities {
            has_keyboard_protocol: self.has_keyboard_protocol,
            ..Self::of_emulator(emulator)
        };
        match answer {
            TerminalAnswer::Version(version) => {
                let mut all = Capabilities { has_name: true, ..keeps(named(version).unwrap_or(Unknown)) };
                let major = version.split(|c: char| !c.is_ascii_digit()).find_map(|number| number.parse::<u16>().ok());
                all.copies |= all.emulator == Konsole && major >= Some(KONSOLE_WITH_OSC_52);
                *self = all;
            }
            TerminalAnswer::KeyboardProtocol => self.has_keyboard_protocol = true,
            TerminalAnswer::KittyImages if !self.emulator.is_multiplexer() => self.images = Protocol::Kitty,
            TerminalAnswer::KittyImages => {}
            TerminalAnswer::SecondaryAttributes(all) => match all.as_slice() {
                [1, 10, 0] if !self.has_name => *self = keeps(Mosh),
                [83, ..] if !self.has_name => *self = keeps(Screen),
                _ => {}
            },
            TerminalAnswer::Attributes(all) => {
                if !self.has_name && self.emulator.tells_its_name() {
                    // The variables are those of another terminal.
                    *self = keeps(Unknown);
                }
                let has = |extension| all.iter().skip(1).any(|known| *known == extension);
                // Older terminals report other things, without extensions.
                if all.first() >= Some(&61) && !self.emulator.is_multiplexer() {
                    self.copies |= has(52);
                    if has(4) && self.images == Protocol::Blocks {
                        self.images = Protocol::Sixel;
                    }
                }
            }
        }
    }

    /// Describes what is supported beside text and colors: names and values.
    pub fn facts(&self, variable: impl Fn(&str) -> Option<String>) -> [(&'static str, &'static str); 3] {
        let images = match self.images {
            Protocol::Kitty => "kitty's protocol",
            Protocol::Iterm => "iTerm2's protocol",
            Protocol::Sixel => "sixel",
            Protocol::Blocks => "blocks",
        };
        [
            ("images", images),
            ("hyperlinks", if supports_hyperlinks(variable) { "yes" } else { "no" }),
            ("OSC 52", if self.copies { "yes" } else { "unknown" }),
        ]
    }
}

/// Returns whether the terminal prints sequences that it does not know, as very old ones do.
pub fn prints_unknown(variable: impl Fn(&str) -> Option<String>) -> bool {
    let term = variable("TERM").unwrap_or_default();
    let prints = ["linux", "vt", "dumb", "eterm", "cons", "sun", "cygwin"].iter().any(|name| term.starts_with(name));
    term.is_empty() || prints || variable("INSIDE_EMACS").is_some_and(|value| !value.is_empty())
}

/// Returns whether the terminal draws hyperlinks or ignores unknown sequences, as all but a few do.
pub fn supports_hyperlinks(variable: impl Fn(&str) -> Option<String>) -> bool {
    // These versions of VTE crash.
    let crashes = variable("VTE_VERSION").and_then(|version| version.parse().ok()).is_some_and(|v: u32| v < 5000);
    !(prints_unknown(variable) || crashes)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Pairs = &'static [(&'static str, &'static str)];

    fn with(pairs: Pairs) -> impl Fn(&str) -> Option<String> + Copy {
        move |name: &str| pairs.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned())
    }

    #[test]
    fn the_inner_terminal_is_recognized_before_the_one_that_started_it() {
        let cases: &[(Pairs, Emulator)] = &[
            (&[("TERM", "xterm-256color")], Unknown),
            (&[("TERM", "xterm-kitty"), ("KITTY_WINDOW_ID", "1")], Kitty),
            (&[("TERM", "xterm-ghostty"), ("TERM_PROGRAM", "ghostty")], Ghostty),
            (&[("TERM", "foot-extra")], Foot),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "WezTerm")], Wezterm),
            (&[("TERM", "xterm-256color"), ("KITTY_WINDOW_ID", "1")], Kitty),
            // Started from kitty, whose variables they inherit: GNOME Terminal, Konsole, Alacritty with another TERM,
            // xterm, st.
            (&[("TERM", "xterm-256color"), ("KITTY_WINDOW_ID", "1"), ("VTE_VERSION", "8400")], Vte),
            (&[("TERM", "xterm-256color"), ("KITTY_WINDOW_ID", "1"), ("KONSOLE_VERSION", "260800")], Konsole),
            (&[("TERM", "xterm-256color"), ("KITTY_WINDOW_ID", "1"), ("ALACRITTY_WINDOW_ID", "9")], Alacritty),
            (&[("TERM", "xterm"), ("KITTY_WINDOW_ID", "1"), ("XTERM_VERSION", "XTerm(412)")], Xterm),
            (&[("TERM", "st-256color"), ("KITTY_WINDOW_ID", "1")], St),
            // nvim sets NVIM and TERM in its terminal, and passes the rest on.
            (&[("TERM", "xterm-256color"), ("KITTY_WINDOW_ID", "1"), ("NVIM", "/run/nvim.1.0")], Nvim),
            // kitty started from GNOME Terminal.
            (&[("TERM", "xterm-kitty"), ("VTE_VERSION", "8400")], Kitty),
            (&[("TERM", "tmux-256color"), ("TMUX", "/tmp/tmux"), ("KITTY_WINDOW_ID", "1")], Tmux),
            (&[("TERM", "screen"), ("STY", "1.pts-0.host")], Screen),
            (&[], Unknown),
        ];
        for (pairs, emulator) in cases {
            assert_eq!(Emulator::of(with(pairs)), *emulator, "{pairs:?}");
        }
    }

    #[test]
    fn environment_tells_images_and_copying() {
        let cases: &[(Pairs, Protocol, bool, bool)] = &[
            // The variables, followed by images, copying by OSC 52, and hyperlinks.
            (&[("TERM", "xterm-256color")], Protocol::Blocks, false, true),
            (&[("TERM", "xterm-kitty")], Protocol::Kitty, true, true),
            (&[("TERM", "foot")], Protocol::Sixel, true, true),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "WezTerm")], Protocol::Iterm, true, true),
            (&[("TERM", "xterm-kitty"), ("TMUX", "/tmp/tmux")], Protocol::Blocks, false, true),
            (&[("TERM", "xterm-256color"), ("VTE_VERSION", "4999")], Protocol::Blocks, false, false),
            (&[("TERM", "linux")], Protocol::Blocks, false, false),
            (&[], Protocol::Blocks, false, false),
        ];
        for (pairs, images, copies, links) in cases {
            let found = Capabilities::of(with(pairs));
            let links_found = supports_hyperlinks(with(pairs));
            assert_eq!((found.images, found.copies, links_found), (*images, *copies, *links), "{pairs:?}");
        }
    }

    #[test]
    fn answers_precede_the_environment() {
        const INHERITED: Pairs = &[("TERM", "xterm-256color"), ("KITTY_WINDOW_ID", "1")];
        let version = |name: &str| TerminalAnswer::Version(name.to_owned());
        let attributes = |all: &[u16]| TerminalAnswer::Attributes(all.to_vec());
        let secondary = |all: &[u16]| TerminalAnswer::SecondaryAttributes(all.to_vec());
        let cases: &[(Pairs, &[TerminalAnswer], Emulator, Protocol, bool)] = &[
            // kitty 0.48 (kitty/screen.c, kitty/window.py), with another TERM.
            (
                INHERITED,
                &[
                    version("kitty(0.48.0)"),
                    TerminalAnswer::KeyboardProtocol,
                    TerminalAnswer::KittyImages,
                    attributes(&[62, 52]),
                ],
                Kitty,
                Protocol::Kitty,
                true,
            ),
            // foot 1.28 (csi.c).
            (INHERITED, &[version("foot(1.28.0)"), attributes(&[62, 4, 22, 28, 52])], Foot, Protocol::Sixel, true),
            // Konsole 26.08 and 22.12 (src/Vt102Emulation.cpp).
            (
                INHERITED,
                &[
                    version("Konsole 26.08.0"),
                    secondary(&[1, 115, 0]),
                    TerminalAnswer::KittyImages,
                    attributes(&[62, 1, 4]),
                ],
                Konsole,
                Protocol::Kitty,
                true,
            ),
            (INHERITED, &[version("Konsole 22.12.3"), attributes(&[62, 1, 4])], Konsole, Protocol::Sixel, false),
            // VTE 0.84 without sixel (src/vteseq.cc).
            (INHERITED, &[version("VTE(8400)"), attributes(&[61, 1, 21, 22])], Vte, Protocol::Blocks, false),
            // xterm 412 (charproc.c), as a VT340 and as it is by default.
            (
                INHERITED,
                &[version("XTerm(412)"), attributes(&[63, 1, 2, 4, 6, 9, 15, 22])],
                Xterm,
                Protocol::Sixel,
                false,
            ),
            (
                INHERITED,
                &[version("XTerm(412)"), attributes(&[64, 1, 2, 6, 9, 15, 17, 18, 21, 22, 28])],
                Xterm,
                Protocol::Blocks,
                false,
            ),
            // st 0.9 (config.def.h): no name; a class without extensions. So is Alacritty 0.17.
            (INHERITED, &[attributes(&[6])], Unknown, Protocol::Blocks, false),
            (
                &[("TERM", "alacritty"), ("KITTY_WINDOW_ID", "1")],
                &[attributes(&[6])],
                Alacritty,
                Protocol::Blocks,
                true,
            ),
            // A terminal that was started from tmux, and tmux 3.8 with sixel (input.c).
            (&[("TERM", "xterm-256color"), ("TMUX", "x")], &[version("VTE(8400)")], Vte, Protocol::Blocks, false),
            (
                &[("TERM", "tmux"), ("TMUX", "x")],
                &[version("tmux 3.8"), attributes(&[1, 2, 4])],
                Tmux,
                Protocol::Blocks,
                false,
            ),
            // mosh 1.4 (src/terminal/terminalfunctions.cc), from kitty; screen 5 (ansi.c) on another computer.
            (INHERITED, &[secondary(&[1, 10, 0]), attributes(&[62])], Mosh, Protocol::Blocks, false),
            (&[("TERM", "screen-256color")], &[secondary(&[83, 50001, 0])], Screen, Protocol::Blocks, false),
        ];
        for (pairs, answers, emulator, images, copies) in cases {
            let mut found = Capabilities::of(with(pairs));
            for answer in *answers {
                found.learn(answer);
            }
            assert_eq!((found.emulator, found.images, found.copies), (*emulator, *images, *copies), "{answers:?}");
            assert_eq!(found.has_keyboard_protocol, answers.contains(&TerminalAnswer::KeyboardProtocol), "{answers:?}");
            assert_eq!(found.emulator.counts_marks(), matches!(emulator, Mosh | Screen));
        }
    }
}
