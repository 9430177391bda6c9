//! Releases as things of their own: the same that hang on tags.

use super::branches::touch;
use super::call::{Outcome, Reading, Writing, ok};
use super::git::Author;
use super::mount::Mount;
use super::presenters::time;
use super::records::{self, Project};
use super::reject::Reject;
use crate::api::endpoint::encode;
use crate::api::releases::*;

pub fn mount(mount: Mount) -> Mount {
    mount
        .read::<ListReleases>(list)
        .write::<CreateProjectRelease>(create)
        .write::<UpdateProjectRelease>(update)
        .write::<DeleteProjectRelease>(delete)
}

fn list(call: &Reading, input: ListReleases) -> Outcome<Vec<ProjectRelease>> {
    let project = call.project(&input.id)?;
    let mut rows: Vec<&records::Release> =
        call.world.releases.iter().filter(|release| release.project == project.id).collect();
    rows.sort_by_key(|release| std::cmp::Reverse(release.created_at));
    call.page(rows, |release| show(call, project, release))
}

fn show<W: std::ops::Deref<Target = super::world::World>>(
    call: &super::call::Call<W>,
    project: &Project,
    release: &records::Release,
) -> ProjectRelease {
    let reads_code = call.rights.reads_code(&call.world, project);
    let source = |format: &str| AssetSource {
        format: format.into(),
        url: format!(
            "{}/-/archive/{tag}/{}-{tag}.{format}",
            call.project_url(project),
            project.path,
            tag = encode(&release.tag)
        ),
    };
    let links = release.links.iter().enumerate().map(|(index, (name, url))| AssetLink {
        id: index as u64 + 1,
        name: name.clone(),
        url: url.clone(),
        link_type: "other".into(),
    });
    let sources = ["zip", "tar.gz", "tar.bz2", "tar"].map(source).into_iter().filter(|_| reads_code);
    ProjectRelease {
        tag_name: release.tag.clone(),
        name: Some(if release.name.is_empty() { release.tag.clone() } else { release.name.clone() }),
        description: Some(release.description.clone()),
        created_at: Some(time(release.created_at)),
        released_at: Some(time(release.created_at)),
        author: release.author.map(|author| call.person(author)),
        upcoming_release: Some(release.created_at > call.now),
        assets: Some(Assets { sources: sources.collect(), links: links.collect() }),
        ..ProjectRelease::default()
    }
}

fn find(call: &Writing, project: u64, tag: &str) -> Result<u64, Reject> {
    let found = call.world.releases.iter().find(|release| release.project == project && release.tag == tag);
    found.map(|release| release.id).ok_or_else(|| Reject::message(404, "404 Not Found"))
}

fn create(call: &mut Writing, input: CreateProjectRelease) -> Outcome<ProjectRelease> {
    let (project, git) = call.repository_to_write(&input.id)?;
    let project: Project = project.clone();
    if find(call, project.id, &input.tag_name).is_ok() {
        return Err(Reject::conflict("Release already exists"));
    }
    let caller = call.signed_in()?;
    let (author, by) =
        (Some(caller.id), Author { name: caller.name.clone(), email: caller.email.clone(), at: call.now });
    if git.tag(&input.tag_name).is_none() {
        let Some(from) = input.r#ref.filter(|name| !name.is_empty()) else {
            return Err(Reject::message(422, "Ref is not specified"));
        };
        git.create_tag(&input.tag_name, &from, None, &by)?;
        let tag = git.tag(&input.tag_name).ok_or_else(|| Reject::not_found("Tag"))?;
        call.pushed(project.id, &git, &format!("refs/tags/{}", tag.name), None, Some(tag.target));
    }
    let release = records::Release {
        project: project.id,
        tag: input.tag_name,
        name: input.name.unwrap_or_default(),
        description: input.description.unwrap_or_default(),
        created_at: call.now,
        author,
        ..records::Release::default()
    };
    call.world.releases.add(release.clone());
    touch(call.world, project.id, call.now)?;
    ok(show(call, &project, &release))
}

fn update(call: &mut Writing, input: UpdateProjectRelease) -> Outcome<ProjectRelease> {
    let project = call.repository_to_write(&input.id)?.0.clone();
    let id = find(call, project.id, &input.tag_name)?;
    if input.name.is_none() && input.description.is_none() {
        return Err(Reject::error(400, "name, description are missing, at least one parameter must be provided"));
    }
    let Some(release) = call.world.releases.get_mut(id) else { return Err(Reject::message(404, "404 Not Found")) };
    release.name = input.name.unwrap_or_else(|| release.name.clone());
    release.description = input.description.unwrap_or_else(|| release.description.clone());
    let release = release.clone();
    ok(show(call, &project, &release))
}

fn delete(call: &mut Writing, input: DeleteProjectRelease) -> Outcome<ProjectRelease> {
    let project = call.repository_to_write(&input.id)?.0.clone();
    let id = find(call, project.id, &input.tag_name)?;
    let release = call.world.releases.remove(id).ok_or_else(|| Reject::message(404, "404 Not Found"))?;
    // Unlike others, this answers with what is gone.
    Ok(super::call::Answer::new(show(call, &project, &release)).status(200))
}
