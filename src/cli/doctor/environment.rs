//! The checks of `labscope doctor` that need no server: the terminal, other programs, and the proxy.

use super::report::Check;
use crate::api::host::without_password;
use crate::api::proxy::Proxy;
use crate::cli::appearance::Appearance;
use crate::runtime::capabilities::Capabilities;
use crate::runtime::clipboard;
use crate::ui::glyph::Alphabet;
use crate::ui::theme::Depth;
use std::path::Path;
use url::Url;

/// Looks up environment variables and programs.
pub struct Environment<'a> {
    pub var: &'a dyn Fn(&str) -> Option<String>,
    /// Returns whether a program can be started.
    pub has_program: &'a dyn Fn(&str) -> bool,
}

impl Environment<'_> {
    /// Returns a variable that is not empty.
    fn set(&self, name: &str) -> Option<String> {
        (self.var)(name).filter(|value| !value.trim().is_empty())
    }

    /// Returns the first of some variables that is set, with its name.
    fn first_set<'a>(&self, names: &[&'a str]) -> Option<(&'a str, String)> {
        names.iter().find_map(|name| Some((*name, self.set(name)?)))
    }
}

/// Describes the terminal. `size` is its size, if standard output is a terminal.
pub fn terminal(env: &Environment, appearance: &Appearance, size: Option<(u16, u16)>) -> Check {
    let mut check = Check::new("terminal");
    let program = env.first_set(&["TERM_PROGRAM", "LC_TERMINAL"]).map(|(_, name)| name);
    let term = env.set("TERM");
    check.fact("TERM", term.as_deref().unwrap_or("not set"));
    if let Some(program) = program {
        check.fact("program", program);
    }
    if let Some((name, _)) = env.first_set(&["TMUX", "STY", "ZELLIJ"]) {
        check.fact(
            "inside",
            match name {
                "TMUX" => "tmux",
                "STY" => "GNU screen",
                _ => "Zellij",
            },
        );
    }
    check.fact("size", size.map_or("not a terminal".to_owned(), |(columns, rows)| format!("{columns}x{rows}")));
    check.fact(
        "colors",
        match appearance.depth {
            Depth::True => "true color",
            Depth::Indexed => "256 colors",
            Depth::Sixteen => "16 colors",
            Depth::None => "none",
        },
    );
    check.fact(
        "theme",
        format!(
            "{} ({})",
            appearance.theme.name,
            match appearance.is_theme_chosen {
                true => "chosen",
                false => "by the background",
            }
        ),
    );
    check.fact(
        "symbols",
        match appearance.alphabet {
            Alphabet::Unicode => "Unicode",
            Alphabet::Ascii => "ASCII",
            Alphabet::Words => "words",
        },
    );
    for (name, value) in Capabilities::of(env.var).facts(env.var) {
        check.fact(name, value);
    }
    if term.as_deref().is_none_or(|term| term == "dumb") {
        check.problem("TERM names no terminal that labscope can draw on.", "Set TERM, for example to xterm-256color.");
    }
    if size.is_some_and(|(columns, rows)| columns < 40 || rows < 10) {
        check.problem("The terminal is too small.", "Enlarge it to at least 40x10, better 80x24.");
    }
    check
}

/// Describes the programs that labscope starts: editor, pager, browser, git, and those for copying.
pub fn programs(env: &Environment) -> Check {
    let mut check = Check::new("programs");
    for (name, variables, default) in
        [("editor", &["VISUAL", "EDITOR"][..], "vi"), ("pager", &["PAGER"], "less"), ("browser", &["BROWSER"], "")]
    {
        let (origin, command) = match env.first_set(variables) {
            Some((variable, command)) => (variable, command),
            None => ("the default", default.to_owned()),
        };
        let value = if command.is_empty() { "the default of the system".to_owned() } else { command.clone() };
        check.fact(name, format!("{value} (from {origin})"));
        if let Some(program) = plain_program(&command).filter(|program| !(env.has_program)(program)) {
            let variable = variables.last().unwrap_or(&"");
            check.problem(
                format!("The {name} \"{program}\" was not found."),
                format!("Set {variable} to an installed program."),
            );
        }
    }
    if (env.has_program)("git") {
        check.fact("git", "found");
    } else {
        check.fact("git", "not found");
        check.problem("git was not found, so branches cannot be checked out.", "Install git.");
    }
    let copying: Vec<&str> = clipboard::copy_commands(&Capabilities::of(env.var), env.var)
        .unwrap_or_default()
        .iter()
        .filter_map(|words| words.first().copied())
        .filter(|name| (env.has_program)(name))
        .collect();
    let osc52 = "the terminal (OSC 52)";
    check.fact("clipboard", [&copying[..], &[osc52]].concat().join(", "));
    check
}

/// Returns the program of a command line for the shell, unless the shell must evaluate it first.
fn plain_program(command: &str) -> Option<&str> {
    let program = command.split_whitespace().next()?;
    let is_plain = program.chars().all(|c| c.is_alphanumeric() || "/._+-".contains(c));
    is_plain.then_some(program)
}

/// Describes the proxy for requests to the server at `url`.
pub fn proxy(env: &Environment, url: Option<&Url>) -> Check {
    let mut check = Check::new("proxy");
    let scheme = url.map_or("https", Url::scheme);
    let names: &[&str] = match scheme {
        "http" => &["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"],
        _ => &["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"],
    };
    match env.first_set(names) {
        Some((name, value)) => check.fact("address", format!("{} (from {name})", without_password(&value))),
        None => check.fact("address", "none"),
    };
    if let Some((name, value)) = env.first_set(&["NO_PROXY", "no_proxy"]) {
        check.fact("not for", format!("{value} (from {name})"));
    }
    if let Some(mistake) = url.and_then(|url| Proxy::of(url, env.var)?.mistake()) {
        check.problem(format!("{mistake}."), "Correct the variable, or unset it.");
    }
    check
}

/// Returns whether a program is in one of the folders of `PATH`, or is itself a path to a file.
pub fn has_program(name: &str) -> bool {
    if name.contains('/') {
        return Path::new(name).is_file();
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join(name).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(pairs: &[(&str, &str)], check: impl Fn(&Environment) -> Check) -> Check {
        let var = |name: &str| pairs.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned());
        check(&Environment { var: &var, has_program: &|name| matches!(name, "vi" | "less" | "git" | "xclip") })
    }

    fn value<'a>(check: &'a Check, name: &str) -> &'a str {
        check.facts.iter().find(|fact| fact.name == name).map_or("", |fact| &fact.value)
    }

    #[test]
    fn missing_programs_are_problems_unless_the_shell_decides() {
        let fine = checked(&[("DISPLAY", ":0"), ("WAYLAND_DISPLAY", "w")], programs);
        assert!(fine.problems.is_empty(), "{fine:?}");
        assert_eq!(value(&fine, "clipboard"), "xclip, the terminal (OSC 52)");
        let missing = checked(&[("VISUAL", "hx --foo"), ("PAGER", "most")], programs);
        let texts: Vec<&str> = missing.problems.iter().map(|found| found.problem.as_str()).collect();
        assert_eq!(texts, ["The editor \"hx\" was not found.", "The pager \"most\" was not found."]);
        let evaluated = checked(&[("EDITOR", "\"$HOME/my editor\" -w")], programs);
        assert!(evaluated.problems.is_empty(), "{evaluated:?}");
    }

    #[test]
    fn proxies_are_shown_without_their_password() {
        let url = Url::parse("https://git.example.com/").expect("an address");
        let pairs = [("HTTPS_PROXY", "socks5h://me:se@cret@proxy:1080/x@y"), ("NO_PROXY", "localhost")];
        let check = checked(&pairs, |env| proxy(env, Some(&url)));
        assert_eq!(value(&check, "address"), "socks5h://proxy:1080/x@y (from HTTPS_PROXY)");
        assert_eq!(value(&check, "not for"), "localhost (from NO_PROXY)");
        assert_eq!(value(&checked(&[], |env| proxy(env, Some(&url))), "address"), "none");
    }
}
