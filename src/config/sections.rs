//! Sections of Home: named queries, saved in the configuration file without changing anything else in it.

use crate::system::files;
use serde::Deserialize;
use std::io::Write;
use std::path::Path;
use toml::Spanned;

/// A named query.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    pub name: String,
    /// A query for merge requests: `state:opened author:@me`.
    pub query: Spanned<String>,
    /// The full path of the project to search.
    pub project: Option<String>,
    /// The full path of the group to search.
    pub group: Option<String>,
}

/// Adds the section `name` to the end of the file at `path`, replacing an existing section of that name; removes it if
/// `section` is `None`. Everything else is preserved, including comments and sections that another process saved in the
/// meantime.
///
/// # Errors
/// Returns a message if the file cannot be read or written, or if its sections are not `[[sections]]` tables.
pub fn write(path: &Path, name: &str, section: Option<&Section>) -> Result<(), String> {
    let io_message = |error: std::io::Error| format!("{}: {error}", path.display());
    let before = match files::read_text(path, files::MAX_SETTINGS) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(io_message(error)),
    };
    let is_there = |known: &[Section]| known.iter().any(|known| known.name == name);
    if section.is_none() && read(&before).is_some_and(|known| !is_there(&known)) {
        return Err(format!("{} has no section \"{name}\"; remove it from the file that it includes", path.display()));
    }
    let all = |mut known: Vec<Section>| {
        known.retain(|known| known.name != name);
        known.extend(section.cloned());
        known
    };
    let text = read(&before)
        .and_then(|known| with_sections(&before, &all(known)))
        .ok_or_else(|| format!("{}: cannot change its sections automatically; please edit the file", path.display()))?;
    // A symbolic link is preserved: its target is replaced, which may be on another file system.
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let folder = files::folder_of(&target);
    std::fs::create_dir_all(folder).map_err(io_message)?;
    let mut file = tempfile::Builder::new().prefix(".config-").tempfile_in(folder).map_err(io_message)?;
    if let Ok(known) = std::fs::metadata(path) {
        file.as_file().set_permissions(known.permissions()).map_err(io_message)?;
    }
    file.write_all(text.as_bytes()).map_err(io_message)?;
    file.as_file().sync_all().map_err(io_message)?;
    file.persist(target).map_err(|error| io_message(error.error)).map(|_| ())
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    sections: Vec<Section>,
}

fn read(text: &str) -> Option<Vec<Section>> {
    toml::from_str::<File>(text).ok().map(|file| file.sections)
}

/// Returns the text with exactly these sections, or `None` if that is not possible.
fn with_sections(before: &str, all: &[Section]) -> Option<String> {
    let known = read(before)?;
    let mut known = known.iter();
    let mut text = String::new();
    let mut keep = true;
    for line in before.split_inclusive('\n') {
        if line.trim_start().starts_with('[') {
            let section = line.trim().replace(' ', "").starts_with("[[sections]]");
            keep = !section || known.next().is_some_and(|section| all.contains(section));
        } else if line.trim_start().starts_with('#') || line.trim().is_empty() {
            // Comments before the next table belong to that table, not to a removed section.
            text.push_str(if keep { line } else { "" });
            continue;
        }
        if keep {
            text.push_str(line);
        }
    }
    let there = read(&text)?;
    for section in all.iter().filter(|section| !there.contains(section)) {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str("[[sections]]\n");
        let fields = [
            ("name", Some(&section.name)),
            ("query", Some(section.query.get_ref())),
            ("project", section.project.as_ref()),
            ("group", section.group.as_ref()),
        ];
        for (key, value) in fields {
            if let Some(value) = value {
                text.push_str(&format!("{key} = {}\n", toml::Value::String(value.clone())));
            }
        }
    }
    // Verify that the new text parses to the requested sections.
    let mut actual = read(&text)?;
    let mut expected = all.to_vec();
    let by_name = |a: &Section, b: &Section| a.name.cmp(&b.name);
    actual.sort_by(by_name);
    expected.sort_by(by_name);
    (actual == expected).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(name: &str) -> Section {
        let query = Spanned::new(0..0, "author:@me label:\"needs work\"".into());
        Section { name: name.into(), query, project: None, group: None }
    }

    #[test]
    fn saving_sections_keeps_everything_else() {
        let before = "# mine\ntheme = \"light\" # bright\n\n[hosts.work]\nurl = \"git.example.com\"\n";
        let one = with_sections(before, &[section("One")]).expect("written");
        assert!(one.starts_with(before), "{one}");
        let both = with_sections(&one, &[section("One"), section("Two \"quoted\"")]).expect("written");
        assert!(both.starts_with(&one) && both.ends_with("query = 'author:@me label:\"needs work\"'\n"), "{both}");
        let two = with_sections(&both, &[section("Two \"quoted\"")]).expect("written");
        assert!(two.starts_with(before.trim_end()) && !two.contains("One"), "{two}");
        let other = Section { group: Some("acme".into()), ..section("Two \"quoted\"") };
        assert!(with_sections(&two, &[other]).expect("written").contains("group = \"acme\""));
    }

    #[test]
    fn a_section_of_an_included_file_is_not_removed() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let path = folder.path().join("config.toml");
        std::fs::write(&path, "include = [\"team.toml\"]\n").expect("written");
        let why = write(&path, "One", None).expect_err("it is elsewhere");
        assert!(why.ends_with("has no section \"One\"; remove it from the file that it includes"), "{why}");
    }

    #[test]
    fn unsupported_files_are_not_changed() {
        let inline = "sections = [{ name = \"a\", query = \"b\" }]\n";
        assert_eq!(with_sections(inline, &[]), None);
        assert_eq!(with_sections("not toml", &[]), None);
        let folder = tempfile::tempdir().expect("a folder for the test");
        let path = folder.path().join("below/config.toml");
        write(&path, "One", Some(&section("One"))).expect("written");
        assert_eq!(read(&std::fs::read_to_string(&path).expect("reads")), Some(vec![section("One")]));
    }

    #[test]
    fn sections_saved_by_another_process_stay() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let path = folder.path().join("config.toml");
        let names = || read(&std::fs::read_to_string(&path).expect("reads")).expect("sections");
        let names = || names().into_iter().map(|section| section.name).collect::<Vec<_>>();
        for name in ["One", "Two"] {
            write(&path, name, Some(&section(name))).expect("written");
        }
        assert_eq!(names(), ["One", "Two"]);
        let other = Section { project: Some("acme/web".into()), ..section("One") };
        write(&path, "One", Some(&other)).expect("written");
        assert_eq!(names(), ["Two", "One"]);
        write(&path, "Two", None).expect("written");
        assert_eq!(read(&std::fs::read_to_string(&path).expect("reads")), Some(vec![other]));
    }
}
