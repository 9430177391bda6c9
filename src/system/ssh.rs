//! The hosts behind the aliases of the user's SSH configuration.

use super::programs;
use std::process::Stdio;

/// Returns the host name that ssh connects to for `alias`, or `None` if that is the same or ssh does not say.
pub fn host_name(alias: &str) -> Option<String> {
    // The name may come from a clone that somebody else prepared.
    let is_plain = alias.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'));
    if !is_plain || alias.starts_with('-') || !dirs::home_dir()?.join(".ssh/config").is_file() {
        return None;
    }
    let mut command = programs::command("ssh");
    let output = command.args(["-G", "--", alias]).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    parse(&String::from_utf8_lossy(&output.stdout)).filter(|name| !name.eq_ignore_ascii_case(alias))
}

/// Returns the host name in the output of `ssh -G`.
fn parse(output: &str) -> Option<String> {
    output.lines().find_map(|line| line.strip_prefix("hostname ")).map(|name| name.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_name_is_read_from_the_output() {
        let output = "host work\nuser git\nhostname git.example.com\nport 22\n";
        assert_eq!(parse(output).as_deref(), Some("git.example.com"));
        assert_eq!(parse("hostnames x\n"), None);
        assert_eq!(host_name("-oProxyCommand=x"), None);
        assert_eq!(host_name("a b"), None);
    }
}
