//! Other programs: the browser, and the user's editor and pager, which have the terminal for a while.

use super::signals::{self, Signal, Signals, StopsBySystem};
use super::terminal;
use crate::app::action::PagerText;
use crate::system::programs;
use crate::ui::text::sanitize;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tempfile::NamedTempFile;
use tokio::time::timeout;
use url::Url;

/// How long a launcher of the browser is watched: one that fails does so at once.
const LAUNCH: Duration = Duration::from_millis(250);
/// How long a program that has the terminal may take to end when labscope is told to.
const GRACE: Duration = Duration::from_secs(2);

/// Opens a page in the browser, without waiting for it. Only web addresses are opened.
///
/// # Errors
/// What is no web address, and why there is no browser.
pub async fn browser(url: &str) -> Result<(), String> {
    let url = address(url)?;
    let mut why = "no program was found that opens web addresses".to_owned();
    for command in programs::browsers(url.as_str()) {
        let mut command = tokio::process::Command::from(command);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // C-c in our terminal is not for it.
        #[cfg(unix)]
        command.process_group(0);
        match command.spawn() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => why = error.to_string(),
            Ok(mut child) => match timeout(LAUNCH, child.wait()).await {
                Ok(Ok(status)) if !status.success() => why = format!("its launcher exited with {status}"),
                _ => return Ok(()),
            },
        }
    }
    Err(format!("The browser could not be opened: {why}. y copies the address."))
}

/// The address as it is handed on: of the web, and with nothing in it that drives a terminal or a shell.
fn address(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let url = url.filter(|url| url.as_str().bytes().all(|byte| byte.is_ascii_graphic()));
    url.ok_or_else(|| format!("{:?} is not a web address", sanitize(text)))
}

/// Runs a program that has the terminal until it ends; whether labscope is to end, too. It is told to end then, and has a
/// moment for that.
async fn run(words: &str, file: &NamedTempFile, signals: &mut Signals) -> io::Result<(ExitStatus, bool)> {
    // A program may come with options, as in EDITOR="code --wait".
    let mut words = words.split_whitespace();
    let mut command = programs::command(words.next().unwrap_or_default());
    command.args(words).arg(file.path());
    // C-z is for both, and the shell goes on when both have stopped.
    let _by_system = StopsBySystem::begin();
    let mut child = tokio::process::Command::from(command).spawn()?;
    loop {
        tokio::select! {
            status = child.wait() => return Ok((status?, false)),
            // C-c is for the program in front.
            signal = signals.next() => if signal == Signal::End { break },
        }
    }
    signals::end(child.id());
    let ended = match timeout(GRACE, child.wait()).await {
        Ok(ended) => ended,
        Err(_) => {
            child.kill().await?;
            child.wait().await
        }
    };
    // What is killed leaves the terminal as it had it.
    terminal::reset();
    Ok((ended?, true))
}

/// Shows text in `$PAGER` or `less`; resolves when it ended, with whether labscope is to end, too. The text is cleaned: not
/// every pager does that.
///
/// # Errors
/// Why it could not be run.
pub async fn pager(paper: &PagerText, signals: &mut Signals) -> Result<bool, String> {
    let command = std::env::var("PAGER").ok().filter(|v| !v.trim().is_empty()).unwrap_or_else(|| "less".into());
    let failed = |e: io::Error| format!("The pager {command:?} could not be run: {e}. Set PAGER.");
    let file = printed(paper).map_err(failed)?;
    let (_, ends) = run(&command, &file, signals).await.map_err(failed)?;
    Ok(ends)
}

fn printed(paper: &PagerText) -> io::Result<NamedTempFile> {
    let suffix = format!("-{}", paper.name);
    let mut file = tempfile::Builder::new().prefix("labscope-").suffix(&suffix).tempfile()?;
    let mut out = io::BufWriter::new(file.as_file_mut());
    for line in (*paper.text).as_ref().split_inclusive('\n') {
        let (words, end) = line.strip_suffix('\n').map_or((line, ""), |words| (words, "\n"));
        let parts = words.split('\t').map(sanitize).collect::<Vec<_>>().join("\t");
        out.write_all(parts.as_bytes())?;
        out.write_all(end.as_bytes())?;
    }
    out.flush()?;
    drop(out);
    Ok(file)
}

/// Lets the user write `text` in `$VISUAL`, `$EDITOR` or `vi`, in a file whose name ends with `suffix`; gives back
/// every byte that the editor wrote, and whether labscope is to end, too.
pub async fn editor(text: &str, suffix: &str, signals: &mut Signals) -> (Result<String, String>, bool) {
    let command = ["VISUAL", "EDITOR"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|v| !v.trim().is_empty()))
        .unwrap_or_else(|| "vi".into());
    let failed = |e: io::Error| format!("The editor {command:?} could not be run: {e}. Set EDITOR.");
    let file = match filled(text, suffix) {
        Ok(file) => file,
        Err(error) => return (Err(failed(error)), false),
    };
    let (status, ends) = match run(&command, &file, signals).await {
        Ok(ended) => ended,
        Err(error) => return (Err(failed(error)), false),
    };
    // One that was told to end cannot end well; what it wrote until then is the user's.
    if !status.success() && !ends {
        let kept = file.keep().map(|(_, path)| format!(" Your text is in {}.", path.display())).unwrap_or_default();
        return (Err(format!("The editor {command:?} exited with {status}; the text is unchanged.{kept}")), false);
    }
    let mut file = file;
    let written = match written(&mut file) {
        Ok(written) => written,
        Err(error) => return (Err(failed(error)), ends),
    };
    let text = String::from_utf8(written).map_err(|_| {
        let kept = file.keep().map(|(_, path)| format!(" It is in {}.", path.display())).unwrap_or_default();
        format!("{command:?} wrote text that is not UTF-8; the text is unchanged.{kept}")
    });
    (text, ends)
}

fn filled(text: &str, suffix: &str) -> io::Result<NamedTempFile> {
    let mut file = tempfile::Builder::new().prefix("labscope-").suffix(suffix).tempfile()?;
    file.write_all(text.as_bytes())?;
    file.flush()?;
    Ok(file)
}

/// Returns what is in the file now.
fn written(file: &mut NamedTempFile) -> io::Result<Vec<u8>> {
    let mut written = Vec::new();
    // Editors that write by rename leave the old file behind our handle: read what stands at the path.
    match std::fs::File::open(file.path()) {
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
    fn only_clean_addresses_of_the_web_reach_the_browser() {
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
