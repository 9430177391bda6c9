//! The length of randomized tests.

/// Returns the number in the environment variable `name`, or `usual`.
pub fn length(name: &str, usual: usize) -> usize {
    std::env::var(name).ok().and_then(|asked| asked.parse().ok()).unwrap_or(usual)
}
