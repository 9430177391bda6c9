//! Sections of the home place: named queries, written back into the file without touching anything else in it.

use crate::system::files;
use serde::Deserialize;
use std::io::Write;
use std::path::Path;

/// A named query.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    pub name: String,
    /// Of merge requests: `state:opened author:@me`.
    pub query: String,
    /// In that project alone, by its full path.
    pub project: Option<String>,
    /// In the projects of that group alone.
    pub group: Option<String>,
}

/// Puts the section of that name into the file at `path`, at its end, or takes it out; everything else stays as it was
/// written, comments too, and sections that another labscope put there meanwhile.
///
/// # Errors
/// Why the file cannot be read or written, or that its sections are written in a way that cannot be changed here.
pub fn write(path: &Path, name: &str, section: Option<&Section>) -> Result<(), String> {
    let said = |error: std::io::Error| format!("{}: {error}", path.display());
    let before = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(said(error)),
    };
    let all = |mut known: Vec<Section>| {
        known.retain(|known| known.name != name);
        known.extend(section.cloned());
        known
    };
    let text = read(&before)
        .and_then(|known| changed(&before, &all(known)))
        .ok_or_else(|| format!("{}: its sections are written in a way that only you can change", path.display()))?;
    // A link stays a link: what it points to is written, perhaps on another disk.
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let folder = files::folder_of(&target);
    std::fs::create_dir_all(folder).map_err(said)?;
    let mut file = tempfile::Builder::new().prefix(".config-").tempfile_in(folder).map_err(said)?;
    if let Ok(known) = std::fs::metadata(path) {
        file.as_file().set_permissions(known.permissions()).map_err(said)?;
    }
    file.write_all(text.as_bytes()).map_err(said)?;
    file.as_file().sync_all().map_err(said)?;
    file.persist(target).map_err(|error| said(error.error)).map(|_| ())
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    sections: Vec<Section>,
}

fn read(text: &str) -> Option<Vec<Section>> {
    toml::from_str::<File>(text).ok().map(|file| file.sections)
}

/// The text with these sections; `None` where that cannot be done.
fn changed(before: &str, all: &[Section]) -> Option<String> {
    let known = read(before)?;
    let mut known = known.iter();
    let mut text = String::new();
    let mut keep = true;
    for line in before.split_inclusive('\n') {
        if line.trim_start().starts_with('[') {
            let section = line.trim().replace(' ', "").starts_with("[[sections]]");
            keep = !section || known.next().is_some_and(|section| all.contains(section));
        } else if line.trim_start().starts_with('#') || line.trim().is_empty() {
            // What stands before the next table belongs to it, not to the one that goes.
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
            ("query", Some(&section.query)),
            ("project", section.project.as_ref()),
            ("group", section.group.as_ref()),
        ];
        for (key, value) in fields {
            if let Some(value) = value {
                text.push_str(&format!("{key} = {}\n", toml::Value::String(value.clone())));
            }
        }
    }
    // What was written means what was meant, whatever stood in the file.
    let mut now = read(&text)?;
    let mut meant = all.to_vec();
    let by_name = |a: &Section, b: &Section| a.name.cmp(&b.name);
    now.sort_by(by_name);
    meant.sort_by(by_name);
    (now == meant).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(name: &str) -> Section {
        Section { name: name.into(), query: "author:@me label:\"needs work\"".into(), project: None, group: None }
    }

    #[test]
    fn sections_come_and_go_and_everything_else_stays_as_it_was_written() {
        let before = "# mine\ntheme = \"light\" # bright\n\n[hosts.work]\nurl = \"git.example.com\"\n";
        let one = changed(before, &[section("One")]).expect("written");
        assert!(one.starts_with(before), "{one}");
        let both = changed(&one, &[section("One"), section("Two \"quoted\"")]).expect("written");
        assert!(both.starts_with(&one) && both.ends_with("query = 'author:@me label:\"needs work\"'\n"), "{both}");
        let two = changed(&both, &[section("Two \"quoted\"")]).expect("written");
        assert!(two.starts_with(before.trim_end()) && !two.contains("One"), "{two}");
        let other = Section { group: Some("acme".into()), ..section("Two \"quoted\"") };
        assert!(changed(&two, &[other]).expect("written").contains("group = \"acme\""));
    }

    #[test]
    fn what_cannot_be_changed_is_left_alone() {
        let inline = "sections = [{ name = \"a\", query = \"b\" }]\n";
        assert_eq!(changed(inline, &[]), None);
        assert_eq!(changed("not toml", &[]), None);
        let folder = tempfile::tempdir().expect("a folder for the test");
        let path = folder.path().join("below/config.toml");
        write(&path, "One", Some(&section("One"))).expect("written");
        assert_eq!(read(&std::fs::read_to_string(&path).expect("reads")), Some(vec![section("One")]));
    }

    #[test]
    fn sections_that_another_labscope_made_stay() {
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
