//! `labscope keys`: prints all key bindings, from the command table of the interface.

use super::args::Global;
use super::failure::Failure;
use super::interface::bindings;
use super::write_stdout;
use crate::app::bindings::Bindings;
use crate::app::command_info::Info;
use crate::app::global;
use crate::config::Config;
use crate::panes::PANES;
use crate::ui::text::pad;
use std::fmt::Write;

/// Prints the key bindings, including those of the configuration.
pub fn run(global: &Global, as_markdown: bool) -> Result<(), Failure> {
    let bindings = Config::load_checked(global.config.as_deref(), bindings).map_err(Failure::usage)?;
    let text = if as_markdown { markdown(&bindings) } else { plain(&bindings) };
    write_stdout(text.as_bytes())
}

/// Lists the global commands, followed by those of each place.
fn sections() -> Vec<(&'static str, Vec<Info>)> {
    let everywhere = ("Everywhere", global::infos(PANES).collect());
    let places = PANES.iter().map(|entry| (entry.place.title, entry.listed_commands()));
    std::iter::once(everywhere).chain(places.filter(|(_, infos)| !infos.is_empty())).collect()
}

/// Formats columns for a terminal: keys, title, and the command ID to use in the configuration.
fn plain(bindings: &Bindings) -> String {
    let sections = sections();
    let infos = || sections.iter().flat_map(|(_, infos)| infos);
    let keys = infos().map(|info| bindings.names().shown(info.id).chars().count()).max().unwrap_or(0);
    let titles = infos().map(|info| info.title.chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    for (index, (title, infos)) in sections.iter().enumerate() {
        let gap = if index == 0 { "" } else { "\n" };
        let _ = writeln!(out, "{gap}{title}");
        for info in infos {
            let _ = writeln!(
                out,
                "  {}  {}  {}",
                pad(&bindings.names().shown(info.id), keys),
                pad(info.title, titles),
                info.id
            );
        }
    }
    out
}

/// Formats Markdown tables for the documentation.
pub fn markdown(bindings: &Bindings) -> String {
    let mut out = String::new();
    for (index, (title, infos)) in sections().iter().enumerate() {
        let gap = if index == 0 { "" } else { "\n" };
        let _ = writeln!(out, "{gap}### {title}\n\n| keys | command | ID |\n|---|---|---|");
        for info in infos {
            let keys = bindings.names().all(info.id).iter().map(|key| code(key)).collect::<Vec<_>>().join(" ");
            let _ = writeln!(out, "| {keys} | {} | `{}` |", info.title.replace('|', "\\|"), info.id);
        }
    }
    out
}

fn code(key: &str) -> String {
    match key {
        "`" => "`` ` ``".to_owned(),
        key => format!("`{}`", key.replace('|', "\\|")),
    }
}
