//! Other programs: the browser, and the person's editor.

use crate::app::action::Paper;
use crate::ui::text::shown;
use std::io::{Read, Seek, SeekFrom, Write};
use std::process::Command;

/// Opens a page in the browser, without waiting for it. Only web addresses are opened.
pub fn browser(url: &str) -> Result<(), String> {
    if !(url.starts_with("http://") || url.starts_with("https://")) {
        return Err(format!("{url:?} is no web address"));
    }
    open::that_detached(url).map_err(|e| format!("The browser could not be opened: {e}. y copies the address."))
}

/// Shows text in `$PAGER` or `less`; blocks until it ends. The text is cleaned: not every pager does that.
pub fn pager(paper: &Paper) -> Result<(), String> {
    let command = std::env::var("PAGER").ok().filter(|v| !v.trim().is_empty()).unwrap_or_else(|| "less".into());
    let failed = |e: std::io::Error| format!("The pager {command:?} could not be run: {e}. Set PAGER.");
    let suffix = format!("-{}", paper.name);
    let mut file = tempfile::Builder::new().prefix("labscope-").suffix(&suffix).tempfile().map_err(failed)?;
    let mut out = std::io::BufWriter::new(file.as_file_mut());
    for line in (*paper.text).as_ref().split_inclusive('\n') {
        let (words, end) = line.strip_suffix('\n').map_or((line, ""), |words| (words, "\n"));
        let parts = words.split('\t').map(shown).collect::<Vec<_>>().join("\t");
        out.write_all(parts.as_bytes()).and_then(|()| out.write_all(end.as_bytes())).map_err(failed)?;
    }
    out.flush().map_err(failed)?;
    drop(out);
    let mut words = command.split_whitespace();
    let program = words.next().unwrap_or("less");
    Command::new(program).args(words).arg(file.path()).status().map_err(failed)?;
    Ok(())
}

/// Lets the person write `text` in `$VISUAL`, `$EDITOR` or `vi`, in a file whose name ends with `suffix`; blocks until the
/// editor ends, and gives back every byte that it wrote.
pub fn editor(text: &str, suffix: &str) -> Result<String, String> {
    let command = ["VISUAL", "EDITOR"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|v| !v.trim().is_empty()))
        .unwrap_or_else(|| "vi".into());
    let failed = |e: std::io::Error| format!("The editor {command:?} could not be run: {e}. Set EDITOR.");
    let mut file = tempfile::Builder::new().prefix("labscope-").suffix(suffix).tempfile().map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    file.flush().map_err(failed)?;
    // An editor may come with options, as in EDITOR="code --wait".
    let mut words = command.split_whitespace();
    let program = words.next().unwrap_or("vi");
    let status = Command::new(program).args(words).arg(file.path()).status().map_err(failed)?;
    if !status.success() {
        let kept =
            file.keep().map(|(_, path)| format!(" What was written is in {}.", path.display())).unwrap_or_default();
        return Err(format!("The editor {command:?} ended with {status}; the text is unchanged.{kept}"));
    }
    let mut written = Vec::new();
    // Editors that write by rename leave the old file behind our handle: read what stands at the path.
    match std::fs::File::open(file.path()) {
        Ok(mut fresh) => fresh.read_to_end(&mut written).map_err(failed)?,
        Err(_) => {
            file.seek(SeekFrom::Start(0)).map_err(failed)?;
            file.read_to_end(&mut written).map_err(failed)?
        }
    };
    String::from_utf8(written).map_err(|_| {
        let kept = file.keep().map(|(_, path)| format!(" It is in {}.", path.display())).unwrap_or_default();
        format!("What {command:?} wrote is not UTF-8; the text is unchanged.{kept}")
    })
}
