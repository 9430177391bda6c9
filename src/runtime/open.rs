//! Running other programs: the browser, and the user's editor and pager, which use the terminal for a while.

use super::input::{Input, Sent};
use super::run;
use super::signals::{self, DefaultStopAction, Signal, Signals};
use super::terminal;
use crate::app::action::PagerText;
use crate::app::clone::CloneFile;
use crate::app::custom::RunSpec;
use crate::app::keymap::Key;
use crate::system::{files, git, programs};
use crate::ui::text::sanitize;
use crossterm::event::{Event, KeyCode, KeyEventKind};
use std::ffi::OsString;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tempfile::NamedTempFile;
use tokio::time::timeout;
use url::Url;

/// The time for which a browser launcher is watched. A launcher that fails does so at once.
const LAUNCH_TIMEOUT: Duration = Duration::from_millis(250);
/// The time in which nobody edits a text: an editor that ends earlier has probably opened a window of its own.
const TOO_SHORT_TO_EDIT: Duration = Duration::from_secs(1);
/// The time in which a running editor takes a file.
const TAKE_TIMEOUT: Duration = Duration::from_secs(5);
/// The time that a program using the terminal gets to exit when labscope must quit.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);

/// Opens a page in the browser without waiting for it. Only web addresses are opened.
///
/// # Errors
///
/// Returns a message if `url` is not a web address, or if no browser could be started.
pub async fn browser(url: &str) -> Result<(), String> {
    let url = address(url)?;
    let mut why = "no browser found".to_owned();
    let preferred = std::env::var("BROWSER").unwrap_or_default();
    for command in programs::browsers(&preferred, url.as_str()) {
        let mut command = tokio::process::Command::from(command);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // A C-c typed in labscope must not reach the browser.
        #[cfg(unix)]
        command.process_group(0);
        match command.spawn() {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => why = error.to_string(),
            Ok(mut child) => match timeout(LAUNCH_TIMEOUT, child.wait()).await {
                Ok(Ok(status)) if status.code() == Some(programs::NOT_FOUND) => {}
                Ok(Ok(status)) if !status.success() => why = format!("the launcher exited with {status}"),
                _ => return Ok(()),
            },
        }
    }
    Err(format!("Could not open the browser: {why}. y copies the address."))
}

/// Parses a web address that is safe to pass on: it contains nothing that controls a terminal or a shell.
pub(super) fn address(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let url = url.filter(|url| url.as_str().bytes().all(|byte| byte.is_ascii_graphic()));
    url.ok_or_else(|| format!("{:?} is not a web address", sanitize(text)))
}

/// Runs a command line on a file.
async fn run_on(line: &str, file: &NamedTempFile, signals: &mut Signals) -> io::Result<(ExitStatus, bool)> {
    let mut command = programs::command_line(line);
    command.arg(file.path());
    ran(wait_for(command.into(), signals).await)
}

/// Returns the outcome of a command line, with an error if the shell found no such program.
fn ran(ended: io::Result<(ExitStatus, bool)>) -> io::Result<(ExitStatus, bool)> {
    match ended {
        Ok((status, false)) if status.code() == Some(programs::NOT_FOUND) => Err(ErrorKind::NotFound.into()),
        ended => ended,
    }
}

/// Runs a program that uses the terminal until it exits. Returns its status and whether labscope should quit; in that
/// case, the program was told to exit and got a short time for that.
async fn wait_for(mut command: tokio::process::Command, signals: &mut Signals) -> io::Result<(ExitStatus, bool)> {
    // C-z applies to both programs, and the shell continues when both have stopped.
    let _default_action = DefaultStopAction::begin();
    let mut child = command.spawn()?;
    loop {
        tokio::select! {
            status = child.wait() => return Ok((status?, false)),
            // C-c is meant for the program in the foreground.
            signal = signals.next() => if signal == Signal::End { break },
        }
    }
    signals::terminate(child.id());
    let ended = match timeout(EXIT_TIMEOUT, child.wait()).await {
        Ok(ended) => ended,
        Err(_) => {
            child.kill().await?;
            child.wait().await
        }
    };
    // A killed program leaves the terminal in its own modes.
    terminal::reset();
    Ok((ended?, true))
}

/// Shows text in `$PAGER` or `less`. Resolves when the pager exits, and returns whether labscope should quit. The text
/// is sanitized, since not every pager does that.
///
/// # Errors
///
/// Returns a message if the pager could not be run.
pub async fn pager(pager_text: &PagerText, signals: &mut Signals) -> Result<bool, String> {
    let command = std::env::var("PAGER").ok().filter(|v| !v.trim().is_empty()).unwrap_or_else(|| "less".into());
    let failed = |e: io::Error| format!("Could not run the pager {command:?}: {e}. Set PAGER.");
    let file = write_pager_file(pager_text).map_err(failed)?;
    let (_, should_quit) = run_on(&command, &file, signals).await.map_err(failed)?;
    Ok(should_quit)
}

fn write_pager_file(pager_text: &PagerText) -> io::Result<NamedTempFile> {
    let suffix = format!("-{}", pager_text.name);
    let mut file = tempfile::Builder::new().prefix("labscope-").suffix(&suffix).tempfile()?;
    let mut out = io::BufWriter::new(file.as_file_mut());
    for line in (*pager_text.text).as_ref().split_inclusive('\n') {
        let (words, end) = line.strip_suffix('\n').map_or((line, ""), |words| (words, "\n"));
        let parts = words.split('\t').map(sanitize).collect::<Vec<_>>().join("\t");
        out.write_all(parts.as_bytes())?;
        out.write_all(end.as_bytes())?;
    }
    out.flush()?;
    drop(out);
    Ok(file)
}

/// Returns the user's editor command, including its options.
fn editor_command() -> String {
    let set = |name: &&str| std::env::var(name).ok().filter(|v| !v.trim().is_empty());
    ["VISUAL", "EDITOR"].iter().find_map(set).unwrap_or_else(|| "vi".into())
}

/// The way in which an editor takes the line to open a file at.
#[derive(Clone, Copy)]
enum LineOption {
    /// `+7 FILE`
    Plus,
    /// `--goto FILE:7`
    Goto,
    /// `FILE:7`
    Suffix,
    Unknown,
}

/// The known editors, how they take a line, and the spellings of the option with which one that has its own window waits
/// until the file is closed, as the book of git lists them for `core.editor` (appendix C).
const EDITORS: &[(&[&str], LineOption, &[&str])] = &[
    (&["vi", "vim", "nvim", "view", "vis", "nano", "pico", "emacs", "emacsclient"], LineOption::Plus, &[]),
    (&["kak", "micro", "joe", "jed", "ne", "mcedit"], LineOption::Plus, &[]),
    (&["gvim", "mvim"], LineOption::Plus, &["--nofork", "-f"]),
    (&["code", "code-insiders", "codium", "cursor", "windsurf"], LineOption::Goto, &["--wait", "-w"]),
    (&["hx", "helix"], LineOption::Suffix, &[]),
    (&["subl", "zed", "zeditor"], LineOption::Suffix, &["--wait", "-w"]),
    (&["atom", "bbedit", "gedit", "mate"], LineOption::Unknown, &["--wait", "-w"]),
    (&["kate"], LineOption::Unknown, &["--block", "-b"]),
];

/// Returns how an editor takes a line, and its option for waiting, by the name of the program.
fn known_editor(command: &str) -> (LineOption, &'static [&'static str]) {
    let program = programs::program_of(command);
    let name = Path::new(&program).file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    let known = EDITORS.iter().find(|(names, ..)| names.contains(&name));
    known.map_or((LineOption::Unknown, &[]), |(_, line, wait)| (*line, *wait))
}

/// Returns the arguments for opening a file at a line, depending on the name of the editor.
fn at_line(editor: &str, path: &Path, line: Option<u32>) -> Vec<OsString> {
    let file = path.as_os_str().to_owned();
    let Some(line) = line else { return vec![file] };
    let with_line = || {
        let mut at = file.clone();
        at.push(format!(":{line}"));
        at
    };
    match known_editor(editor).0 {
        LineOption::Plus => vec![format!("+{line}").into(), file],
        LineOption::Goto => vec!["--goto".into(), with_line()],
        LineOption::Suffix => vec![with_line()],
        LineOption::Unknown => vec![file],
    }
}

/// Returns the command for editing a text, which must not end before the text is written: with the option for waiting,
/// if the editor has one.
fn waiting(command: String) -> String {
    match known_editor(&command).1 {
        [option, ..] if !command.split_whitespace().any(|word| known_editor(&command).1.contains(&word)) => {
            format!("{command} {option}")
        }
        _ => command,
    }
}

/// Opens a file of the clone in the user's editor. Resolves when the editor exits, and returns whether labscope should
/// quit.
///
/// # Errors
///
/// Returns a message if the file does not exist or is outside the clone, or if the editor could not be run.
pub async fn file_of_clone(file: &CloneFile, signals: &mut Signals) -> Result<bool, String> {
    let CloneFile { folder, path, line } = file;
    let shown = sanitize(&path.display().to_string()).into_owned();
    let missing = |_| format!("{shown} is not in the clone at {}; another branch may have it.", folder.display());
    let whole = folder.join(path).canonicalize().map_err(missing)?;
    // A symbolic link in the repository may lead anywhere.
    let folder = folder.canonicalize().map_err(missing)?;
    if !whole.starts_with(&folder) {
        return Err(format!("{shown} is outside the clone."));
    }
    if git::is_in_git_folder(&folder, &whole) {
        return Err(format!("{shown} leads into the folder of git, whose files can name programs to run."));
    }
    let value = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let editor = editor_command();
    if let Some(command) = in_running_editor(&value, &editor, &whole, *line)
        && has_taken(command).await
    {
        return Ok(false);
    }
    let mut command = programs::command_line(&editor);
    command.args(at_line(&editor, &whole, *line)).current_dir(&folder);
    edited(&editor, command, signals).await
}

/// Runs the editor on files of the clone.
async fn edited(editor: &str, command: programs::Command, signals: &mut Signals) -> Result<bool, String> {
    match ran(wait_for(command.into(), signals).await) {
        Ok((status, should_quit)) if status.success() || should_quit => Ok(should_quit),
        Ok((status, _)) => Err(format!("The editor {editor:?} exited with {status}.")),
        Err(error) => Err(format!("Could not run the editor {editor:?}: {error}. Set EDITOR.")),
    }
}

/// Opens a list of lines, each as `path:line: text`, in the user's editor; vim reads it as its list of errors. Resolves when
/// the editor exits, and returns whether labscope should quit.
///
/// # Errors
///
/// Returns a message if the editor could not be run.
pub async fn list_of_clone(folder: &Path, list: &str, signals: &mut Signals) -> Result<bool, String> {
    let editor = editor_command();
    let failed = |e: io::Error| format!("Could not run the editor {editor:?}: {e}. Set EDITOR.");
    let file = create_text_file(list, "-threads.txt").map_err(failed)?;
    let mut command = programs::command_line(&waiting(editor.clone()));
    if is_vim(&editor) {
        command.arg("-q");
    }
    command.arg(file.path()).current_dir(folder);
    edited(&editor, command, signals).await
}

/// Returns whether an editor is vim or nvim.
fn is_vim(editor: &str) -> bool {
    let program = programs::program_of(editor);
    let name = Path::new(&program).file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    ["vi", "vim", "nvim", "gvim", "mvim"].contains(&name)
}

/// Returns the command that opens a file in the editor in whose terminal labscope runs, by the variables that nvim (`$NVIM`
/// since 0.8) and VS Code set there; `None` if it runs in none.
fn in_running_editor(
    value: &dyn Fn(&str) -> Option<String>,
    editor: &str,
    file: &Path,
    line: Option<u32>,
) -> Option<programs::Command> {
    if let Some(server) = value("NVIM") {
        // `--remote` takes no line. A string in single quotes has no escapes but for the quote itself.
        let path = file.to_str().filter(|path| !path.contains(char::is_control))?.replace('\'', "''");
        let line = line.unwrap_or(1);
        let mut command = programs::command("nvim");
        // A client with the user's configuration would be slow, and may print something else.
        command.args(["--clean", "--headless", "--server", &server, "--remote-expr"]);
        command.arg(format!("execute(['drop ' . fnameescape('{path}'), '{line}'])"));
        return Some(command);
    }
    if value("TERM_PROGRAM")? != "vscode" {
        return None;
    }
    // Other editors of this family set the same variable.
    let is_of_family = matches!(known_editor(editor).0, LineOption::Goto);
    let mut command = programs::command(if is_of_family { programs::program_of(editor) } else { "code".to_owned() });
    command.arg("-r").args(at_line("code", file, line));
    Some(command)
}

/// Runs a command that hands a file to a running editor; returns whether that took it in time.
async fn has_taken(command: programs::Command) -> bool {
    let mut command = tokio::process::Command::from(command);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    matches!(timeout(TAKE_TIMEOUT, command.status()).await, Ok(Ok(status)) if status.success())
}

/// Runs a command of the configuration that uses the terminal. Returns its outcome and whether labscope should quit.
pub(super) async fn in_terminal(
    spec: &RunSpec,
    signals: &mut Signals,
    input: &mut Input,
) -> (Result<(), String>, bool) {
    match wait_for(run::command(spec), signals).await {
        Ok((status, true)) => (run::outcome(status), true),
        Ok((status, false)) => {
            let ended = run::outcome(status);
            let how = ended.as_ref().err().map(|why| format!("{} {why}. ", sanitize(&spec.title))).unwrap_or_default();
            let should_quit = pause(&how, signals, input).await;
            (ended, should_quit)
        }
        Err(error) => {
            let program = spec.program.first().map(String::as_str).unwrap_or_default();
            (Err(format!("could not be started: {program}: {error}")), false)
        }
    }
}

/// Lets the user read a program's output until Enter is pressed. Returns whether labscope should quit. The input stays
/// open, since keys typed after Enter are for the interface.
async fn pause(how: &str, signals: &mut Signals, input: &mut Input) -> bool {
    // If this fails, the terminal is gone, which the loop detects.
    let _ = crossterm::terminal::enable_raw_mode();
    let mut out = io::stdout();
    let _ = write!(out, "\r\n{how}Press Enter to return to labscope").and_then(|()| out.flush());
    *input = Input::open(input.is_asked);
    let should_quit = loop {
        tokio::select! {
            signal = signals.next() => if signal == Signal::End { break true },
            event = input.events.recv() => match event {
                Some(Ok(Sent::Event(Event::Key(key)))) if key.kind != KeyEventKind::Release && returns(Key::of(key)) => break false,
                Some(Ok(_)) => {}
                Some(Err(_)) | None => break false,
            },
        }
    };
    let _ = write!(out, "\r\n").and_then(|()| out.flush());
    if should_quit {
        let _ = crossterm::terminal::disable_raw_mode();
    }
    should_quit
}

/// Returns whether a key ends the pause after a program.
fn returns(key: Key) -> bool {
    matches!(
        (key.code, key.ctrl),
        (KeyCode::Enter | KeyCode::Esc, _) | (KeyCode::Char('q'), false) | (KeyCode::Char('c' | 'd' | 'j'), true)
    )
}

/// Lets the user edit `text` in `$VISUAL`, `$EDITOR` or `vi`, in a file whose name ends with `suffix`. Returns exactly
/// what the editor wrote, and whether labscope should quit.
pub async fn editor(
    text: &str,
    suffix: &str,
    signals: &mut Signals,
    input: &mut Input,
) -> (Result<String, String>, bool) {
    let command = waiting(editor_command());
    let started = Instant::now();
    let failed = |e: io::Error| format!("Could not run the editor {command:?}: {e}. Set EDITOR.");
    let file = match create_text_file(text, suffix) {
        Ok(file) => file,
        Err(error) => return (Err(failed(error)), false),
    };
    let (status, mut should_quit) = match run_on(&command, &file, signals).await {
        Ok(ended) => ended,
        Err(error) => return (Err(failed(error)), false),
    };
    // An editor that was told to exit cannot succeed; what it wrote until then is kept.
    if !status.success() && !should_quit {
        let kept = file.keep().map(|(_, path)| format!(" Your text is in {}.", path.display())).unwrap_or_default();
        return (Err(format!("The editor {command:?} exited with {status}; the text is unchanged.{kept}")), false);
    }
    let mut file = file;
    let mut written = read_content(&mut file);
    let is_unchanged = |written: &io::Result<Vec<u8>>| matches!(written, Ok(bytes) if bytes == text.as_bytes());
    if is_unchanged(&written) && !should_quit && started.elapsed() < TOO_SHORT_TO_EDIT {
        let name = sanitize(&command);
        let question = format!("{name} ended at once. If it is open in another window, save the text there first.\r\n");
        should_quit = pause(&question, signals, input).await;
        written = read_content(&mut file);
        if is_unchanged(&written) {
            let why = format!("{name} ended at once, without a change. Does EDITOR need an option such as --wait?");
            return (Err(why), should_quit);
        }
    }
    let written = match written {
        Ok(written) => written,
        Err(error) => return (Err(failed(error)), should_quit),
    };
    let text = String::from_utf8(written).map_err(|_| {
        let kept = file.keep().map(|(_, path)| format!(" It is in {}.", path.display())).unwrap_or_default();
        format!("{command:?} wrote text that is not UTF-8; the text is unchanged.{kept}")
    });
    (text, should_quit)
}

fn create_text_file(text: &str, suffix: &str) -> io::Result<NamedTempFile> {
    let mut file = tempfile::Builder::new().prefix("labscope-").suffix(suffix).tempfile()?;
    file.write_all(text.as_bytes())?;
    file.flush()?;
    Ok(file)
}

/// Returns the current content of the file.
fn read_content(file: &mut NamedTempFile) -> io::Result<Vec<u8>> {
    let mut written = Vec::new();
    // Editors that save by renaming leave the old file behind our handle, so the path is read again.
    match files::open_regular(file.path()) {
        Ok(mut fresh) => fresh.read_to_end(&mut written)?,
        Err(_) => {
            file.seek(SeekFrom::Start(0))?;
            file.read_to_end(&mut written)?
        }
    };
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn editors_receive_the_line_in_their_syntax() {
        let opened = |editor: &str| {
            let all = at_line(editor, Path::new("/c/a b.rs"), Some(7));
            all.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        assert_eq!(opened("/usr/bin/vim -p"), ["+7", "/c/a b.rs"]);
        assert_eq!(opened("code --wait"), ["--goto", "/c/a b.rs:7"]);
        if cfg!(unix) {
            assert_eq!(opened("'/opt/my editors/vim' -p"), ["+7", "/c/a b.rs"]);
            assert_eq!(opened("LANG=C \"$HOME\"/bin/hx"), ["/c/a b.rs:7"]);
        }
        assert_eq!(opened("hx"), ["/c/a b.rs:7"]);
        assert_eq!(opened("my-editor"), ["/c/a b.rs"]);
        assert_eq!(at_line("vi", Path::new("x"), None), ["x"]);
    }

    #[test]
    fn files_open_in_the_editor_that_labscope_runs_in() {
        let command = |variables: &[(&str, &str)], editor: &str, file: &str| {
            let value = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, v)| (*v).to_owned());
            let command = in_running_editor(&value, editor, Path::new(file), Some(7))?;
            let words = std::iter::once(command.get_program()).chain(command.get_args());
            Some(words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>())
        };
        let nvim = [("NVIM", "/run/nvim.1.0"), ("TERM_PROGRAM", "vscode")];
        let hostile = "/c/x'); system('id') .rs";
        let words = command(&nvim, "vim", hostile).expect("it runs in one");
        assert_eq!(words[..5], ["nvim", "--clean", "--headless", "--server", "/run/nvim.1.0"]);
        assert_eq!(words[6], "execute(['drop ' . fnameescape('/c/x''); system(''id'') .rs'), '7'])");
        assert_eq!(command(&nvim, "vim", "/c/a\nb"), None);
        let code = [("TERM_PROGRAM", "vscode")];
        assert_eq!(
            command(&code, "vim", "/c/a.rs"),
            Some(["code", "-r", "--goto", "/c/a.rs:7"].map(str::to_owned).to_vec())
        );
        assert_eq!(command(&code, "cursor --wait", "/c/a.rs").expect("one")[0], "cursor");
        assert_eq!(command(&[("TERM_PROGRAM", "WezTerm")], "vim", "/c/a.rs"), None);
        assert_eq!(command(&[], "vim", "/c/a.rs"), None);
    }

    #[test]
    fn editors_with_windows_of_their_own_are_told_to_wait() {
        for (set, run) in [
            ("code", "code --wait"),
            ("code -n -w", "code -n -w"),
            ("/opt/zed/zed --wait", "/opt/zed/zed --wait"),
            ("gvim", "gvim --nofork"),
            ("kate -n", "kate -n --block"),
            ("mate", "mate --wait"),
            ("nvim", "nvim"),
            ("emacsclient -c", "emacsclient -c"),
            ("my-editor", "my-editor"),
        ] {
            assert_eq!(waiting(set.to_owned()), run);
        }
    }

    #[test]
    fn only_safe_web_addresses_reach_the_browser() {
        let handed = |text: &str| address(text).map(String::from);
        assert_eq!(handed("https://git.example.com/a/-/b?c=d#e"), Ok("https://git.example.com/a/-/b?c=d#e".into()));
        let hostile = "https://git.example.com/\u{1b}]0;x\u{7}/\u{9b}2J?\u{1b}=\n#\u{202e}\u{1b} '\"`";
        let clean = handed(hostile).expect("it is one");
        assert!(clean.bytes().all(|byte| byte.is_ascii_graphic()), "{clean}");
        assert!(clean.starts_with("https://git.example.com/%1B]0;x%07/"), "{clean}");
        for other in
            ["file:///etc/passwd", "javascript:alert(1)", "https://", "--help", "git.example.com", "http:///\u{1b}"]
        {
            assert!(handed(other).is_err(), "{other}");
        }
        assert_eq!(handed("mailto:\u{1b}[2J"), Err("\"mailto:\u{241b}[2J\" is not a web address".into()));
    }
}
