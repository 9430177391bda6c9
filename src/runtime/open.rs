//! Other programs: the browser, and the person's editor.

use std::io::{Read, Seek, SeekFrom, Write};
use std::process::Command;

/// Opens a page in the browser, without waiting for it. Only web addresses are opened.
pub fn browser(url: &str) -> Result<(), String> {
    if !(url.starts_with("http://") || url.starts_with("https://")) {
        return Err(format!("{url:?} is no web address"));
    }
    open::that_detached(url).map_err(|e| format!("The browser could not be opened: {e}. y copies the address."))
}

/// Lets the person write `text` in `$VISUAL`, `$EDITOR` or `vi`; blocks until the editor ends.
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
    let mut written = String::new();
    // Editors that write by rename leave the old file behind our handle: read what stands at the path.
    match std::fs::File::open(file.path()) {
        Ok(mut fresh) => fresh.read_to_string(&mut written).map_err(failed)?,
        Err(_) => {
            file.seek(SeekFrom::Start(0)).map_err(failed)?;
            file.read_to_string(&mut written).map_err(failed)?
        }
    };
    Ok(written.trim_end_matches('\n').to_owned())
}
