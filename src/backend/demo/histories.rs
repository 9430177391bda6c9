//! The histories that are embedded in the program.

use super::archive::Archive;

macro_rules! history {
    ($name:literal) => {
        (
            $name,
            include_str!(concat!("../../../assets/world/repositories/", $name, ".history")),
            include_str!(concat!("../../../assets/world/repositories/", $name, ".txt")),
        )
    };
}

/// Name, script and files.
const ALL: &[(&str, &str, &str)] = &[history!("rocket-ui")];

/// The script and the files of a history.
pub fn named(name: &str) -> Option<(&'static str, Archive)> {
    let (_, script, files) = ALL.iter().find(|(known, ..)| *known == name)?;
    Some((script, Archive::parse(files)))
}
