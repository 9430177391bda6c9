//! The histories that are embedded in the program.

use super::archive::Archive;

/// The name, script and text files of a history, and its binary files.
type Entry = (&'static str, &'static str, &'static str, &'static [(&'static str, &'static [u8])]);

macro_rules! history {
    ($name:literal $(, $path:literal = $file:literal)*) => {
        (
            $name,
            include_str!(concat!("../../../assets/world/repositories/", $name, ".history")),
            include_str!(concat!("../../../assets/world/repositories/", $name, ".txt")),
            &[$(($path, include_bytes!(concat!("../../../assets/world/files/", $file)))),*],
        )
    };
}

const ALL: &[Entry] = &[
    history!("rocket-ui", "docs/table.png" = "table.png"),
    history!("cli"),
    history!("notebook", "data/raw/logger.bin" = "logger.bin"),
    history!("handbook", "images/reviews.png" = "reviews.png"),
    history!("terminfo-lite"),
    history!("sparkline"),
    history!("deploy"),
    history!("rotation"),
    history!("split-panes"),
    history!("dotfiles"),
    history!("reading-list"),
    history!("station"),
];

/// The contents of Git LFS files by SHA-256: the histories contain only pointers.
pub const STORED: &[(&str, &[u8])] = &[(
    "eec3d214ec478ce410219e675aaa1c1611a69380a5ef90c6fababb19e3777734",
    include_bytes!("../../../assets/world/files/year.png"),
)];

/// Returns the script and the files of a history.
pub fn named(name: &str) -> Option<(&'static str, Archive)> {
    let (_, script, files, binaries) = ALL.iter().find(|(known, ..)| *known == name)?;
    let mut archive = Archive::parse(files);
    for (path, bytes) in *binaries {
        archive.insert_bytes(path, bytes);
    }
    Some((script, archive))
}
