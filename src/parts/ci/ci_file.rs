//! The file with the CI configuration of a project, and what it declares for those who run a pipeline.

use crate::api::repository::GetRawFile;
use crate::api::{Id, Raw};
use crate::app::view::View;
use crate::domain::ci_config::{self, Declared};
use crate::parts::project;
use crate::store::{Canceled, Derive, Load, Want, Work};
use std::sync::Arc;

/// The file with the configuration, unless the project names another.
pub const FILE: &str = ".gitlab-ci.yml";

/// Returns the path of the file in the repository; `None` while the project is not known, or if the file is elsewhere.
pub fn path<'a>(view: &View<'a>, id: &Id) -> Option<&'a str> {
    let known = project::project(view, id)?;
    let path = known.ci_config_path.as_deref().filter(|path| !path.is_empty()).unwrap_or(FILE);
    (!path.contains('@') && !path.contains("://")).then_some(path)
}

/// Returns the request for the file at a ref, or on the default branch.
pub fn written(view: &View, id: &Id, git_ref: Option<&str>) -> Option<GetRawFile> {
    let path = path(view, id)?.to_owned();
    let name = git_ref.or(project::default_branch(view, id))?;
    Some(GetRawFile { id: id.clone(), path, r#ref: Some(name.to_owned()), lfs: None })
}

/// Reads what a file declares.
struct Declare {
    key: String,
    raw: Arc<Raw>,
}

impl Derive for Declare {
    type Output = Declared;

    fn key(&self) -> String {
        self.key.clone()
    }

    fn run(&self, _: Canceled<'_>) -> Declared {
        ci_config::declared(&String::from_utf8_lossy(&self.raw.bytes))
    }
}

/// Returns the key of what the file at a ref declares, and the file, once it is loaded.
fn loaded(view: &View, id: &Id, git_ref: &str) -> Option<(String, Arc<Raw>)> {
    let known = view.store.get(&written(view, id, Some(git_ref))?);
    Some((format!("ci declared {id} {git_ref} {:?}", known.since), known.arc()?))
}

/// Returns the wants for what the file at a ref declares.
pub fn declared_wants(view: &View, id: &Id, git_ref: &str) -> Vec<Want> {
    let mut wants = vec![project::want(id)];
    wants.extend(written(view, id, Some(git_ref)).map(|written| Load::single(&written).optional().into()));
    let missing = loaded(view, id, git_ref).filter(|(key, _)| view.store.is_result_missing(key));
    wants.extend(missing.map(|(key, raw)| Work::new(Declare { key, raw }).into()));
    wants
}

/// Returns what the file at a ref declares, with a key that changes with it; `None` while it is not known.
pub fn declared<'a>(view: &View<'a>, id: &Id, git_ref: &str) -> Option<(String, &'a Declared)> {
    let (key, _) = loaded(view, id, git_ref)?;
    let declared = view.store.result(&key)?;
    Some((key, declared))
}
