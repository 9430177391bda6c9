//! The hosts behind the aliases of the user's SSH configuration.

use super::programs;
use std::path::Path;
use std::process::Stdio;

/// The configuration of ssh for all users.
const SYSTEM_CONFIG: &str = "/etc/ssh/ssh_config";

/// Returns the host name that ssh connects to for `alias`, or `None` if that is the same or ssh does not say. The user
/// may precede the alias, because the configuration can depend on it: `git@work`.
pub fn host_name(alias: &str) -> Option<String> {
    // The name may come from a clone that somebody else prepared.
    let is_plain = alias.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '@'));
    let host = alias.rsplit_once('@').map_or(alias, |(_, host)| host);
    let of_user = dirs::home_dir().map(|home| home.join(".ssh/config"));
    let is_configured = of_user.is_some_and(|path| path.is_file()) || Path::new(SYSTEM_CONFIG).is_file();
    if !is_plain || alias.starts_with('-') || host.starts_with('-') || !is_configured {
        return None;
    }
    let mut command = programs::command("ssh");
    let output = command.args(["-G", "--", alias]).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    parse(&String::from_utf8_lossy(&output.stdout)).filter(|name| !name.eq_ignore_ascii_case(host))
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
        assert_eq!(host_name("git@-oProxyCommand=x"), None);
        assert_eq!(host_name("a b"), None);
    }
}
