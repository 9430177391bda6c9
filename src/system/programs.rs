//! Starts other programs. All child processes are created here, so that none inherits a token.

use std::ffi::OsStr;
pub use std::process::Command;
use std::process::Stdio;
use std::{env, io};

/// The environment variables that may contain a token.
pub const TOKENS: [&str; 2] = ["LABSCOPE_TOKEN", "GITLAB_TOKEN"];

/// Returns a command that starts a program without the token variables in its environment.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    without_tokens(Command::new(program))
}

/// Returns a command that starts this program once more with the same arguments, in the background: it has no terminal, and
/// survives the shell. It has the token variables, because it is no other program.
///
/// # Errors
/// Returns an I/O error if the path of the program is not known.
pub fn own() -> io::Result<Command> {
    let mut command = Command::new(env::current_exe()?);
    command.args(env::args_os().skip(1)).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    Ok(command)
}

/// The exit status of a shell that did not find the program of its command line.
pub const NOT_FOUND: i32 = 127;

/// Returns a command that runs a command line of the user, such as `EDITOR`. As in git, a shell interprets it if
/// necessary: quotes, options, `~` and variables. Arguments that are added are not interpreted.
pub fn command_line(line: &str) -> Command {
    let line = line.trim();
    let is_shell = |c: char| c.is_whitespace() || "|&;<>()$`\\\"'*?[#~=%".contains(c);
    // A colon does nothing in a shell, and is no program.
    if cfg!(unix) && (line == ":" || line.contains(is_shell)) {
        return shell(&format!("{line} \"$@\""));
    }
    let mut words = line.split_whitespace();
    let mut command = command(words.next().unwrap_or_default());
    command.args(words);
    command
}

/// Returns a command that runs a script, in which `"$@"` are the arguments that are added.
fn shell(script: &str) -> Command {
    let mut command = command("sh");
    command.args(["-c", script, "sh"]);
    command
}

/// Returns the program that a command line starts, as far as it can be told without a shell.
pub fn program_of(line: &str) -> String {
    if !cfg!(unix) {
        return line.split_whitespace().next().unwrap_or_default().to_owned();
    }
    let (mut word, mut quote, mut chars) = (String::new(), None, line.trim().chars());
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None | Some('"'), '\\') => word.extend(chars.next()),
            (None, c) if c.is_whitespace() => {
                // Variables for the program come before it.
                let is_assignment = word.find('=').is_some_and(|at| !word.get(..at).unwrap_or_default().contains('/'));
                if !is_assignment && !word.is_empty() {
                    return word;
                }
                word.clear();
            }
            (_, c) => word.push(c),
        }
    }
    word
}

/// Lists the commands that can open a URL, the preferred one first: those of `preferred`, the value of `BROWSER`, then
/// those of the system. The value is a list of command lines with colons between them, in which `%s` is the URL.
pub fn browsers(preferred: &str, address: &str) -> impl Iterator<Item = Command> {
    // On Windows, a colon is a part of a path, and there is no such convention.
    let listed = if cfg!(unix) { preferred } else { "" };
    let lines: Vec<&str> = listed.split(':').map(str::trim).filter(|line| !line.is_empty()).collect();
    let chosen: Vec<Command> = lines.into_iter().map(|line| browser(line, address)).collect();
    chosen.into_iter().chain(open::commands(address).into_iter().map(without_tokens))
}

/// Returns the command for an entry of `BROWSER`.
fn browser(line: &str, address: &str) -> Command {
    // An ampersand, which starts a browser in the background, is not needed: nothing waits for it.
    let line = line.trim_end_matches(['&', ' ']);
    let mut script = String::new();
    let mut has_address = false;
    // The quote that is open, and the text after it.
    let mut quote: Option<(char, &str)> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (c, chars.as_str().chars().next()) {
            ('%', Some('s')) => {
                has_address = true;
                script.push_str(match quote {
                    None => "\"$1\"",
                    Some(('"', _)) => "$1",
                    // Blanks are a sign of a script for another shell, which must not read the address as a part of it.
                    Some((quote, word)) if !word.split(quote).next().unwrap_or_default().contains(' ') => "'\"$1\"'",
                    Some(_) => "\"$1\"",
                });
            }
            ('%', Some('c')) => script.push(':'),
            ('%', Some('%')) => script.push('%'),
            ('\\', Some(next)) if quote.is_none_or(|(quote, _)| quote == '"') => script.extend([c, next]),
            _ => {
                quote = match quote {
                    Some((open, _)) if open == c => None,
                    None if matches!(c, '\'' | '"') => Some((c, chars.as_str())),
                    quote => quote,
                };
                script.push(c);
                continue;
            }
        }
        chars.next();
    }
    let mut command = if has_address { shell(&script) } else { command_line(&script) };
    command.arg(address);
    command
}

fn without_tokens(mut command: Command) -> Command {
    for name in TOKENS {
        command.env_remove(name);
    }
    command
}

/// Takes the terminal from a program: what it starts cannot ask a question there.
pub fn without_terminal(command: &mut Command) {
    #[cfg(unix)]
    // SAFETY: setsid is safe to call between fork and exec, and nothing is allocated there.
    unsafe {
        std::os::unix::process::CommandExt::pre_exec(command, || match libc::setsid() {
            -1 => Err(std::io::Error::last_os_error()),
            _ => Ok(()),
        });
    }
    #[cfg(not(unix))]
    let _ = command;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a command and returns the lines that it prints.
    #[cfg(unix)]
    fn printed(mut command: Command) -> Vec<String> {
        command.env("LABSCOPE_TEST_NAME", "a b").env("HOME", "/home/ada");
        let output = command.output().expect("it runs");
        String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
    }

    #[test]
    #[cfg(unix)]
    fn command_lines_are_interpreted_and_their_arguments_are_not() {
        let hostile = "/tmp/a b;id'\"$(id)`id`*.rs";
        for (line, words) in [
            ("printf '%s\\n'", vec![]),
            ("printf '%s\\n' 'one word' two", vec!["one word", "two"]),
            ("printf '%s\\n' \"$LABSCOPE_TEST_NAME\" ~/x", vec!["a b", "/home/ada/x"]),
            ("'printf' \"%s\\n\" -p", vec!["-p"]),
            ("X=1 printf '%s\\n'", vec![]),
            ("true && printf '%s\\n'", vec![]),
        ] {
            let mut command = command_line(line);
            command.arg(hostile);
            assert_eq!(printed(command), [words, vec![hostile]].concat(), "{line}");
        }
        assert_eq!(command_line(" vi ").get_program(), "vi");
        let mut nothing = command_line(":");
        assert!(nothing.arg(hostile).status().is_ok_and(|status| status.success()));
    }

    #[test]
    #[cfg(unix)]
    fn browsers_are_a_list_with_places_for_the_address() {
        let address = "https://h/a?b=c&d='$(id)'";
        let opened = |preferred: &str| browsers(preferred, address).next().map(printed).unwrap_or_default();
        for line in ["printf '%%s\\n'", "printf '%%s\\n' %s", "printf '%%s\\n' '%s'", "printf '%%s\\n' \"%s\" &"] {
            assert_eq!(opened(line), [address], "{line}");
        }
        let with_option = format!("--url={address}#");
        for line in ["'--url=%s#'", "\"--url=%s#\"", "--url=%s\\#", "\"-\"-url='%s#'"] {
            assert_eq!(opened(&format!("printf '%%s\\n' {line}")), [with_option.as_str()], "{line}");
        }
        assert_eq!(opened("sh -c 'printf \"%%s.\\n\" %s'"), ["."], "another shell does not read the address");
        assert_eq!(opened("printf '%%s\\n' -new-tab%c %s -x"), ["-new-tab:", address, "-x"]);
        let all: Vec<_> = browsers("one: :two --new", address).take(2).collect();
        assert_eq!(all[0].get_program(), "one");
        assert!(all[1].get_args().any(|word| word.to_string_lossy().starts_with("two --new")));
    }

    #[test]
    fn the_program_of_a_command_line_is_found() {
        for (line, program) in [
            ("vim", "vim"),
            ("  /usr/bin/vim -p", "/usr/bin/vim"),
            ("'/opt/my editors/vim' -p", "/opt/my editors/vim"),
            ("\"$HOME\"/bin/hx", "$HOME/bin/hx"),
            ("LANG=C TERM=x nano", "nano"),
            ("/opt/a\\ b/vi", "/opt/a b/vi"),
            ("", ""),
        ] {
            assert_eq!(program_of(line), program, "{line}");
        }
    }
}
