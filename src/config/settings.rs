//! All settings of the configuration file: key, default and meaning. `docs/configuration.md` is generated from this
//! list.

use std::fmt::Write;

/// A key of the configuration file.
pub struct Setting {
    /// The header of its table, as in the file: `[trace]`; empty for top-level keys.
    pub table: &'static str,
    /// The key within the table.
    pub key: &'static str,
    /// The default value, in words.
    pub default: &'static str,
    /// An example value in TOML.
    pub example: &'static str,
    /// The effect of the setting, as a sentence in Markdown.
    pub meaning: &'static str,
}

const fn setting(
    table: &'static str,
    key: &'static str,
    default: &'static str,
    example: &'static str,
    meaning: &'static str,
) -> Setting {
    Setting { table, key, default, example, meaning }
}

/// All settings, in the order of the file.
pub const SETTINGS: &[Setting] = &[
    setting(
        "",
        "include",
        "none",
        "[\"team.toml\"]",
        "Further files of settings, next to this one or with a path, for what this one does not set. Their sections, commands and patterns are added.",
    ),
    setting("", "host", "none", "\"work\"", "The default server: an address, or a name of `[hosts.NAME]`."),
    setting(
        "",
        "theme",
        "dark or light, depending on the terminal",
        "\"light\"",
        "`dark`, `light`, another theme of the list below, or NAME for the file `themes/NAME.toml` next to this one.",
    ),
    setting(
        "",
        "glyphs",
        "depends on the locale",
        "\"ascii\"",
        "The characters to draw with: `unicode`, or `ascii` for terminals and fonts that lack others.",
    ),
    setting(
        "",
        "accessible",
        "`false`",
        "true",
        "For screen readers and braille displays: see [Accessible mode](#accessible-mode).",
    ),
    setting(
        "",
        "selection_bar",
        "`false`",
        "true",
        "In accessible mode, highlight the selected row, for magnifiers. Screen readers may then say the row that was left.",
    ),
    setting("", "mouse", "`true`", "true", "Use the mouse."),
    setting(
        "",
        "notify",
        "`\"bell\"`",
        "\"desktop\"",
        "How to notify you when a watched job finishes, and of new to-dos while the terminal does not have the focus: `off`, `bell`, `osc9`, `osc777` or `desktop`.",
    ),
    setting(
        "",
        "refresh",
        "`60`",
        "0",
        "The seconds after which Home and the list on the screen are read again, and your to-dos, of which new ones are announced in the last line: at least 10, or 0 for never. While the terminal does not have the focus, lists take six times as long; in accessible mode, nothing is read by itself.",
    ),
    setting("", "cache", "`true`", "true", "Keep replies on disk, to show them before the server answers."),
    setting(
        "",
        "keyring",
        "`true`",
        "true",
        "Let `labscope auth login` store tokens in the system keyring, if there is one.",
    ),
    setting(
        "[hosts.work]",
        "url",
        "required",
        "\"https://git.example.com\"",
        "The address of a server. Its name in this file is up to you; repeat the table for each server.",
    ),
    setting(
        "[hosts.work]",
        "token_file",
        "none",
        "\"~/.secrets/git-example\"",
        "A file whose first line is the token.",
    ),
    setting(
        "[hosts.work]",
        "ca_cert",
        "none",
        "\"~/.certs/example-ca.pem\"",
        "A PEM file with certificates to trust in addition to the system's: of authorities, or the server's own.",
    ),
    setting(
        "[hosts.work]",
        "client_cert",
        "none",
        "\"~/.certs/me.pem\"",
        "A PEM file with the certificate that labscope presents to the server, followed by its chain.",
    ),
    setting(
        "[hosts.work]",
        "client_key",
        "the file of `client_cert`",
        "\"~/.certs/me.key\"",
        "A PEM file with the private key of `client_cert`, without a passphrase.",
    ),
    setting(
        "[hosts.work]",
        "ssh_host",
        "the host of `url`",
        "\"ssh.example.com\"",
        "The name of the server in SSH remotes of clones, if it is another one.",
    ),
    setting(
        "[hosts.work]",
        "client_id",
        "none",
        "\"0f5a…\"",
        "The ID of an OAuth application on that server, for `labscope auth login --device`.",
    ),
    setting(
        "[hosts.work]",
        "home",
        "`true`",
        "true",
        "Show the items of this server on Home while another server is open.",
    ),
    setting(
        "[trace]",
        "memory",
        "`64`",
        "64",
        "Megabytes of a job trace to keep in memory; the rest goes to a temporary file.",
    ),
    setting(
        "[trace]",
        "errors",
        "none",
        "[\"^FEHLER \", \"checksum of .* differs\"]",
        "Regular expressions for lines that `e` and `E` go to, besides the known errors of common tools. A failed job opens at the first of them.",
    ),
    setting(
        "[trace]",
        "warnings",
        "none",
        "[\"(?i)outdated\"]",
        "Regular expressions for lines that `(` and `)` go to, besides common warnings.",
    ),
    setting(
        "[diff]",
        "layout",
        "`\"auto\"`",
        "\"split\"",
        "`unified`, `split` (both sides next to each other), or `auto`: side by side on a screen of 200 columns, and on a narrower one where the lines of a file fit. `s` in a diff changes it, and labscope remembers that.",
    ),
    setting(
        "[diff]",
        "wrap",
        "only lines that are side by side",
        "true",
        "Wrap long lines instead of cutting them. `W` in a diff changes it, and labscope remembers that.",
    ),
    setting(
        "[diff]",
        "context",
        "`3`",
        "8",
        "The number of unchanged lines around changes, from 3 to 200. Servers send 3; labscope reads more from the file.",
    ),
    setting(
        "[[sections]]",
        "name",
        "required",
        "\"My drafts\"",
        "The title of a section of Home. `D` there removes it.",
    ),
    setting(
        "[[sections]]",
        "query",
        "required",
        "\"state:opened author:@me\"",
        "The merge requests that it lists, written like the filter of `:mrs`.",
    ),
    setting(
        "[[sections]]",
        "project",
        "all",
        "\"acme/rocket\"",
        "The full path of a project; lists only its merge requests.",
    ),
    setting(
        "[[sections]]",
        "group",
        "all",
        "\"acme\"",
        "The full path of a group; lists only merge requests of its projects.",
    ),
    setting("[[commands]]", "name", "required", "\"Worktree of the branch\"", "The title of a custom command."),
    setting(
        "[[commands]]",
        "key",
        "none",
        "\"M-w\"",
        "Its keys. The command is also in the action list `a` and in the palette `:`.",
    ),
    setting(
        "[[commands]]",
        "places",
        "every place",
        "[\"mr\", \"mrs\"]",
        "The places where it is available, by the names that you type after `:`.",
    ),
    setting(
        "[[commands]]",
        "run",
        "required",
        "[\"git\", \"worktree\", \"add\", \"../{source_branch}\", \"{source_branch}\"]",
        "What to run: a list of a program and its arguments, or a string for `sh -c`.",
    ),
    setting(
        "[[commands]]",
        "show",
        "`\"pane\"`",
        "\"pane\"",
        "Where its output goes: `pane` opens a panel, `terminal` gives it the screen until you press Enter, `silent` only shows a message when it ends.",
    ),
    setting(
        "[[commands]]",
        "input",
        "none",
        "\"mr\"",
        "What it gets as JSON on its standard input: `thread`, `diff`, `trace`, `test` or `mr`; see below.",
    ),
    setting(
        "[[commands]]",
        "result",
        "`\"show\"`",
        "\"show\"",
        "What becomes of its output: `comment`, `suggestion`, `review` or `staged`, as drafts that only you send; `show` only shows it.",
    ),
    setting(
        "[columns]",
        "PLACE",
        "see the list",
        "[\"title\", \"author\", \"updated\"]",
        "The columns of a list, by the name of its place that you type after `:`, until you choose others there. Names that the list does not have are ignored.",
    ),
    setting(
        "[keys]",
        "COMMAND",
        "see [keys.md](keys.md)",
        "[\"Q\", \"C-q\"]",
        "The keys of a command, by its ID in [keys.md](keys.md). An empty list removes its keys. A key is taken from the command that had it. If the keys of others begin with it, as those of `g h` do with `g`, labscope names them when it starts.",
    ),
];

/// The command ID in the example.
const COMMAND: &str = "quit";
/// The place in the example.
const PLACE: &str = "mrs";

/// Returns an example file with all settings.
pub fn example() -> String {
    let mut text = String::new();
    let mut table = "";
    for setting in SETTINGS {
        if setting.table != table {
            table = setting.table;
            let _ = writeln!(text, "\n{table}");
        }
        let key = match setting.key {
            "COMMAND" => COMMAND,
            "PLACE" => PLACE,
            key => key,
        };
        let _ = writeln!(text, "{key} = {}", setting.example);
    }
    text
}

/// Returns the table of all settings and an example file, in Markdown.
pub fn markdown() -> String {
    let mut text = String::from("| table | key | default | meaning |\n|---|---|---|---|\n");
    for Setting { table, key, default, meaning, .. } in SETTINGS {
        let table = if table.is_empty() { String::new() } else { format!("`{table}`") };
        let _ = writeln!(text, "| {table} | `{key}` | {default} | {meaning} |");
    }
    let _ = write!(text, "\nExample with all settings:\n\n```toml\n{}```\n", example());
    text
}
