//! A season of generated work: hundreds of commits with branches and merges, as a script for
//! [`history`](super::history).
//!
//! There is one file per terminal, each added in its own branch, with several branches open at a time; fixes and an
//! index on `main`; and releases.

use super::generate::next;
use std::fmt::Write;

/// The usernames of the authors; active ones appear more often.
const PEOPLE: &[&str] = &["cem", "bo", "cem", "dora", "eli", "ada", "bo", "gus", "cem", "eli", "pipeline-bot"];

const TERMINALS: &[&str] = &[
    "aixterm",
    "alacritty",
    "aterm",
    "black-box",
    "bobcat",
    "conhost",
    "contour",
    "cool-retro-term",
    "darktile",
    "domterm",
    "dvtm",
    "eat",
    "emacs-vterm",
    "eterm",
    "extraterm",
    "fbterm",
    "foot",
    "ghostty",
    "gnome-terminal",
    "guake",
    "hterm",
    "hyper",
    "iterm2",
    "jediterm",
    "kermit",
    "kitty",
    "kmscon",
    "konsole",
    "lxterminal",
    "mate-terminal",
    "mintty",
    "mlterm",
    "mosh",
    "mrxvt",
    "mterm",
    "nsterm",
    "pangoterm",
    "ptyxis",
    "putty",
    "qterm",
    "qterminal",
    "rio",
    "roxterm",
    "rxvt-unicode",
    "sakura",
    "screen",
    "st",
    "swayterm",
    "tabby",
    "terminology",
    "terminus",
    "termite",
    "termux",
    "tilda",
    "tilix",
    "tmux",
    "vscode",
    "warp",
    "wayst",
    "wezterm",
    "windows-terminal",
    "xfce4-terminal",
    "xterm",
    "yakuake",
    "zellij",
    "zutty",
];

/// The key of a property in a terminal's file, its values, and the description in commit messages.
const ABILITIES: &[(&str, &[&str], &str)] = &[
    ("sixel", &["true", "false"], "whether it shows sixel images"),
    ("kitty_images", &["true", "false"], "whether it shows the images of kitty"),
    ("sync", &["true", "false"], "whether it draws a frame at once"),
    ("underline", &["\"curly\"", "\"straight\"", "\"none\""], "the shapes of its underlines"),
    ("hyperlinks", &["true", "false"], "whether a cell may be a link"),
    ("clipboard", &["\"write\"", "\"read and write\"", "\"none\""], "what OSC 52 may do"),
    ("focus", &["true", "false"], "whether it tells of its focus"),
    ("mouse", &["\"sgr\"", "\"x10\"", "\"pixels\""], "how it tells of the mouse"),
    ("paste", &["\"bracketed\"", "\"plain\""], "how a paste arrives"),
    ("unicode", &["9", "14", "15", "16"], "the Unicode that its widths are of"),
    ("graphemes", &["true", "false"], "whether a cell holds a grapheme"),
    ("keys", &["\"kitty\"", "\"modify-other\"", "\"plain\""], "how it writes keys"),
];

/// The maximum number of branches that are open at the same time.
const MAX_OPEN_BRANCHES: usize = 5;
/// The terminals whose branches are never merged, so that there are merge requests to review.
const UNMERGED: &[&str] = &["ghostty", "rio", "wayst"];
/// The number of merges between releases.
const MERGES_PER_RELEASE: usize = 9;

struct Branch {
    name: &'static str,
    author: &'static str,
    /// The keys that have been written, and the number of keys to come.
    written: Vec<(&'static str, &'static str)>,
    left: usize,
}

impl Branch {
    fn file(&self) -> String {
        let mut out = format!("  ! terminals/{0}.toml\n    > name = \"{0}\"\n", self.name);
        for (key, value) in &self.written {
            let _ = writeln!(out, "    > {key} = {value}");
        }
        out
    }
}

/// Picks an element pseudo-randomly.
fn pick<T: Copy + Default>(seed: &mut u64, of: &[T]) -> T {
    let at = next(seed) % (of.len().max(1) as u64);
    of.get(at as usize).copied().unwrap_or_default()
}

/// Returns the script of the season; `None` for an unknown rule.
pub fn script(rule: &str) -> Option<String> {
    (rule == "terminals").then(terminals)
}

fn terminals() -> String {
    let mut seed = 41;
    let mut out = String::new();
    let mut waiting: Vec<&'static str> = TERMINALS.to_vec();
    let mut open: Vec<Branch> = Vec::new();
    let mut known: Vec<&'static str> = Vec::new();
    let mut releases = 0;
    while !waiting.is_empty() || open.iter().any(|branch| branch.left > 0 || !UNMERGED.contains(&branch.name)) {
        let chance = next(&mut seed) % 100;
        if open.len() < MAX_OPEN_BRANCHES && !waiting.is_empty() && (chance < 40 || open.is_empty()) {
            let name = waiting.remove((next(&mut seed) % waiting.len() as u64) as usize);
            let colors = pick(&mut seed, &["16777216", "16777216", "256", "16"]);
            let author = pick(&mut seed, PEOPLE);
            let left = 1 + (next(&mut seed) % 4) as usize;
            let branch = Branch { name, author, written: vec![("colors", colors)], left };
            let _ = write!(out, "on main\nbranch add/{name}\n{author}: Add {name}\n{}", branch.file());
            open.push(branch);
        } else if chance < 80 {
            let at = (next(&mut seed) % open.len().max(1) as u64) as usize;
            let Some(branch) = open.get_mut(at) else { continue };
            if branch.left > 0 {
                ability(&mut out, &mut seed, branch);
            } else if !UNMERGED.contains(&branch.name) {
                let branch = open.remove(at);
                known.push(branch.name);
                merge(&mut out, &mut seed, &branch, known.len());
                if known.len().is_multiple_of(MERGES_PER_RELEASE) {
                    releases += 1;
                    release(&mut out, releases);
                }
            }
        } else if chance < 88 && !known.is_empty() {
            index(&mut out, &mut seed, &mut known);
        } else if chance < 92 {
            // A branch merges the latest changes of `main`.
            let behind = open.iter().find(|branch| branch.left > 0 && branch.written.len() > 1);
            if let Some(Branch { name, author, .. }) = behind {
                let _ = writeln!(out, "on add/{name}\n{author} merges main: Merge branch 'main' into 'add/{name}'");
            }
        }
    }
    out.push_str("on main\n");
    out
}

/// Adds or changes a key in the file of a branch.
fn ability(out: &mut String, seed: &mut u64, branch: &mut Branch) {
    branch.left -= 1;
    let (key, values, words) = pick(seed, ABILITIES);
    let value = pick(seed, values);
    let name = branch.name;
    let author = if next(seed).is_multiple_of(4) { pick(seed, PEOPLE) } else { branch.author };
    let known = branch.written.iter_mut().find(|(known, _)| *known == key);
    let title = match known {
        Some((_, old)) if *old == value => return,
        Some((_, old)) => {
            *old = value;
            format!("{name}: correct {words}")
        }
        None => {
            branch.written.push((key, value));
            format!("{name}: {words}")
        }
    };
    let _ = write!(out, "on add/{name}\n{author}: {title}\n{}", branch.file());
}

fn merge(out: &mut String, seed: &mut u64, branch: &Branch, count: usize) {
    let by = pick(seed, &["cem", "cem", "bo", "dora"]);
    let name = branch.name;
    let _ = write!(
        out,
        "on main\n{by} merges add/{name}: Merge branch 'add/{name}' into 'main'\n  |\n  | Add {name}\n  |\n  \
         | Now there are {count}.\ndrop add/{name}\n"
    );
}

/// Updates the list of all terminals, which is changed only on `main`.
fn index(out: &mut String, seed: &mut u64, known: &mut [&'static str]) {
    known.sort_unstable();
    let author = pick(seed, PEOPLE);
    let _ = write!(out, "on main\n{author}: List {} terminals\n  ! terminals/INDEX.md\n", known.len());
    let _ = writeln!(out, "    > # {} terminals\n    >", known.len());
    for name in known.iter() {
        let _ = writeln!(out, "    > - [{name}]({name}.toml)");
    }
}

fn release(out: &mut String, number: usize) {
    let minor = number % 3;
    let major = 1 + number.div_ceil(3);
    if minor == 0 {
        let _ = writeln!(out, "tag v{major}.{minor}");
    } else {
        let _ = writeln!(out, "tag v{major}.{minor} cem: Terminals, as they were then");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn season_has_hundreds_of_commits_and_unmerged_branches() {
        let script = terminals();
        let commits = script.lines().filter(|line| !line.starts_with(' ') && line.contains(": ")).count();
        assert!(commits > 250, "{commits}");
        assert!(
            script.lines().filter(|line| line.contains(" merges add/")).count() == TERMINALS.len() - UNMERGED.len()
        );
        for name in UNMERGED {
            assert!(
                script.contains(&format!("branch add/{name}\n")) && !script.contains(&format!("drop add/{name}\n"))
            );
        }
    }
}
