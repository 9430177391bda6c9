//! Writes a replayed history to disk as a bare repository with a single pack and packed refs.

use super::histories::STORED;
use super::history::History;
use crate::lfs;
use git2::{Repository, RepositoryInitOptions};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io;
use std::path::Path;

/// The refs of a history that a repository contains: a fork and its origin share a history.
#[derive(Clone, Debug, Default)]
pub struct Refs<'a> {
    /// The branches to leave out.
    pub hidden: &'a [String],
    /// The only branches to include, unless empty.
    pub only: &'a [String],
    /// Refs other than branches and tags (`refs/merge-requests/1/head`), by full name.
    pub more: &'a [(String, git2::Oid)],
}

/// Creates the bare repository at `path`; copies the objects from the repository `from` if it has the same history.
pub fn write(history: &History, refs: &Refs<'_>, path: &Path, from: Option<&Path>) -> Result<(), git2::Error> {
    let repository = Repository::init_opts(
        path,
        RepositoryInitOptions::new().bare(true).mkpath(true).external_template(false).initial_head("main"),
    )?;
    if history.objects.is_empty() {
        return Ok(());
    }
    match from {
        Some(from) => copy_packs(from, path).map_err(|e| git2::Error::from_str(&e.to_string()))?,
        None => write_pack(history, &repository)?,
    }
    write_stored(history, path).map_err(|e| git2::Error::from_str(&e.to_string()))?;
    let mut rows: BTreeMap<String, (String, Option<String>)> = BTreeMap::new();
    for (name, id) in &history.branches {
        if !refs.hidden.contains(name) && (refs.only.is_empty() || refs.only.contains(name)) {
            rows.insert(format!("refs/heads/{name}"), (id.to_string(), None));
        }
    }
    if refs.only.is_empty() {
        for (name, (id, commit)) in &history.tags {
            let peeled = (id != commit).then(|| commit.to_string());
            rows.insert(format!("refs/tags/{name}"), (id.to_string(), peeled));
        }
    }
    rows.extend(refs.more.iter().map(|(name, id)| (name.clone(), (id.to_string(), None))));
    let mut packed = String::from("# pack-refs with: peeled fully-peeled sorted \n");
    for (name, (id, peeled)) in rows {
        let _ = writeln!(packed, "{id} {name}");
        if let Some(peeled) = peeled {
            let _ = writeln!(packed, "^{peeled}");
        }
    }
    std::fs::write(repository.path().join("packed-refs"), packed).map_err(|e| git2::Error::from_str(&e.to_string()))
}

/// Writes the Git LFS files that pointers in the history refer to.
fn write_stored(history: &History, path: &Path) -> io::Result<()> {
    for file in history.objects.iter().filter_map(|(_, _, bytes)| lfs::path(path, bytes)) {
        let Some((_, bytes)) = STORED.iter().find(|(oid, _)| file.ends_with(oid)) else { continue };
        file.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        std::fs::write(file, bytes)?;
    }
    Ok(())
}

fn write_pack(history: &History, repository: &Repository) -> Result<(), git2::Error> {
    // Searching for deltas takes longer than everything else. libgit2 skips objects larger than this limit, which it
    // reads from a different key than git.
    repository.config()?.set_i64("pack.deltaCacheSize", 1)?;
    let odb = repository.odb()?;
    let memory = odb.add_new_mempack_backend(1000)?;
    let mut builder = repository.packbuilder()?;
    for (id, kind, bytes) in &history.objects {
        odb.write(*kind, bytes)?;
        builder.insert_object(*id, None)?;
    }
    builder.write(&repository.path().join("objects/pack"), 0o444)?;
    memory.reset()
}

fn copy_packs(from: &Path, to: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(from.join("objects/pack"))? {
        let entry = entry?;
        std::fs::copy(entry.path(), to.join("objects/pack").join(entry.file_name()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::histories::named;
    use super::super::history::{ScriptAuthor, replay};
    use super::*;

    #[test]
    fn repository_is_valid() {
        let author = |name: &&str| ScriptAuthor {
            username: (*name).into(),
            name: (*name).into(),
            email: format!("{name}@x"),
            offset: 60,
        };
        let authors: Vec<ScriptAuthor> = ["ada", "bo", "cem", "dora", "eli"].iter().map(author).collect();
        let (script, archive) = named("rocket-ui").unwrap();
        let history = replay(script, &archive, &authors).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("1.git");
        let hidden = ["docs-typos".to_owned()];
        write(&history, &Refs { hidden: &hidden, ..Refs::default() }, &path, None).unwrap();

        let repository = Repository::open_bare(&path).unwrap();
        let mut walk = repository.revwalk().unwrap();
        walk.push_head().unwrap();
        assert!(walk.count() > 100);
        let head = repository.head().unwrap().peel_to_tree().unwrap();
        assert!(head.get_path(Path::new("src/render/frame.rs")).is_ok());
        let branches: Vec<_> = repository.branches(None).unwrap().flatten().collect();
        let names: Vec<_> = branches.iter().filter_map(|(b, _)| b.name().ok().flatten()).collect();
        assert!(names.contains(&"feature/rows") && !names.contains(&"docs-typos"), "{names:?}");
        let tag = repository.revparse_single("v0.3.2").unwrap();
        assert_eq!(tag.kind(), Some(git2::ObjectType::Tag));
    }
}
