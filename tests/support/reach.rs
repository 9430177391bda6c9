//! Reads `tests/panes/reach.txt`: how to reach each row of the specification in the interface.

use std::path::Path;

/// A row of the specification and the way to reach it.
pub struct Way {
    /// The row as the specification writes it: `GET /projects/:id`.
    pub row: String,
    pub how: How,
}

/// A way to reach a row.
pub enum How {
    /// A user opens the place and presses the keys.
    Walk { user: String, place: String, keys: String },
    /// No person needs it; the reason.
    Machine(String),
}

impl How {
    /// Returns the text for the table of endpoints.
    #[allow(dead_code, reason = "one of two test programs prints it")]
    pub fn shown(&self) -> String {
        let code = |text: &str| format!("`{}`", text.replace('|', "\\|"));
        match self {
            How::Walk { user, place, keys } => {
                let mut words = code(place);
                if !keys.is_empty() {
                    words += &format!(" {}", code(keys));
                }
                if user != "ada" {
                    words += &format!(" as {user}");
                }
                words
            }
            How::Machine(why) => format!("for machines: {why}"),
        }
    }
}

/// Returns all lines of the file, in order.
pub fn ways() -> Vec<Way> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/panes/reach.txt");
    let text = std::fs::read_to_string(path).expect("the ways");
    text.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")).map(read).collect()
}

fn read(line: &str) -> Way {
    let mut parts = line.splitn(3, " | ").map(str::trim);
    let row = parts.next().unwrap_or_default().to_owned();
    let place = parts.next().unwrap_or_else(|| panic!("{line}: no way"));
    let keys = parts.next().unwrap_or_default().to_owned();
    let how = match place.split_once(": ") {
        Some(("machines", why)) => How::Machine(why.to_owned()),
        Some(("root", place)) => How::Walk { user: "root".into(), place: place.to_owned(), keys },
        _ => How::Walk { user: "ada".into(), place: place.to_owned(), keys },
    };
    Way { row, how }
}
