//! How long a machine that looks for defects runs.

/// What the variable `name` asks for; else `usual`.
pub fn length(name: &str, usual: usize) -> usize {
    std::env::var(name).ok().and_then(|asked| asked.parse().ok()).unwrap_or(usual)
}
