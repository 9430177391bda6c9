//! `labscope man`: prints the manual page, generated from the definition of the command line.

use super::args::Cli;
use super::failure::Failure;
use super::write_stdout;
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use std::io;

/// Prints the manual page.
pub fn run() -> Result<(), Failure> {
    write_stdout(&page()?)
}

fn page() -> io::Result<Vec<u8>> {
    let mut command = Cli::command();
    command.build();
    let man = Man::new(command.clone());
    let mut out = Vec::new();
    man.render_title(&mut out)?;
    man.render_name_section(&mut out)?;
    man.render_synopsis_section(&mut out)?;
    man.render_description_section(&mut out)?;
    man.render_options_section(&mut out)?;
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        section(&mut out, sub)?;
    }
    man.render_extra_section(&mut out)?;
    man.render_version_section(&mut out)?;
    Ok(out)
}

/// Renders one command: heading, description and its own options. Global options are described once, at the top.
fn section(out: &mut Vec<u8>, command: &Command) -> io::Result<()> {
    let own = command.clone().mut_args(|arg| {
        let shared = arg.is_global_set() || matches!(arg.get_id().as_str(), "help" | "version");
        arg.hide(shared)
    });
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name()).to_uppercase();
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string).unwrap_or_default();
    let mut options = Vec::new();
    Man::new(own).render_options_section(&mut options)?;
    let options = String::from_utf8_lossy(&options);
    // The heading of the command replaces the heading of its options.
    let options: Vec<&str> = options.lines().filter(|line| !line.starts_with(".SH")).collect();
    out.extend(format!(".SH \"{name}\"\n{}\n{}\n", about.replace('\\', "\\\\"), options.join("\n")).into_bytes());
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        section(out, sub)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_section_and_global_options_appear_once() {
        let page = String::from_utf8(page().expect("a page")).expect("UTF-8");
        for command in ["DEMO", "LOCAL", "SERVE", "API", "AUTH", "AUTH LOGIN", "KEYS", "COMPLETIONS", "MAN"] {
            assert!(page.contains(&format!(".SH \"LABSCOPE {command}\"")), "{command}\n{page}");
        }
        assert_eq!(page.lines().filter(|line| *line == "\\fB\\-\\-read\\-only\\fR").count(), 1);
    }
}
