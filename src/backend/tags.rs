//! Tags and their releases.

use super::branches::{record_project_activity, search_refs};
use super::call::{Outcome, ReadCall, WriteCall, ok, stable_sort};
use super::git::{self, Author, Git, TagRef};
use super::modes::Version;
use super::mount::Mount;
use super::records::{self, Project, level};
use super::rejection::Rejection;
use super::world::World;
use api::NoContent;
use api::tags::*;
use std::sync::Arc;

pub fn mount(mount: Mount) -> Mount {
    mount
        .read::<ListTags>(list)
        .read::<GetTag>(get)
        .write::<CreateTag>(create)
        .write::<DeleteTag>(delete)
        .write::<CreateTagRelease>(release)
        .write::<UpdateTagRelease>(update_release)
}

/// The refusal for callers who may not create a protected tag.
pub const NOT_CREATED: &str = "You are not allowed to create this tag as it is protected.";

fn show(world: &World, git: &Git, project: u64, tag: &TagRef) -> Result<Tag, Rejection> {
    let release = world.releases.iter().find(|release| release.project == project && release.tag == tag.name);
    let is_protected = world.projects.get(project).is_some_and(|project| project.is_tag_protected(&tag.name));
    Ok(Tag {
        name: tag.name.clone(),
        message: tag.message.clone(),
        commit: Some(git.show(tag.commit)?),
        release: release.map(show_release),
        target: Some(tag.target.to_string()),
        protected: Some(is_protected),
        created_at: tag.tagged_at.map(git::time).into(),
    })
}

fn show_release(release: &records::Release) -> TagRelease {
    TagRelease { tag_name: release.tag.clone(), description: Some(release.description.clone()) }
}

fn list(call: &ReadCall, input: ListTags) -> Outcome<Vec<Tag>> {
    let by = call.choice_or_first("order_by", input.order_by.as_deref(), &["updated", "name", "version"])?;
    let descending = call.descending(input.sort.as_deref(), "desc")?;
    let (project, git) = call.repository(&input.id)?;
    let mut all = git.tags(&call.cache)?;
    if let Some(search) = input.search.as_deref().filter(|search| !search.is_empty()) {
        all = Arc::new(search_refs(&all, |tag| &tag.name, search)?);
    }
    let mut tags: Vec<&TagRef> = all.iter().collect();
    tags.sort_by_cached_key(|tag| (version(&tag.name), &tag.name));
    if by == "updated" {
        stable_sort(&mut tags, descending, |tag| tag.seconds);
    } else if descending {
        tags.reverse();
    }
    let (page, list_size) = call.cut_by_name(&tags, |tag| &tag.name)?;
    let rows: Result<Vec<Tag>, Rejection> = page.iter().map(|tag| show(call.world, &git, project.id, tag)).collect();
    call.page_of(rows?, list_size)
}

/// Returns a sort key for version names: digits compare as numbers, so that `v1.9` comes before `v1.10`.
fn version(name: &str) -> Vec<(String, u128)> {
    let mut out: Vec<(String, u128)> = vec![(String::new(), 0)];
    let mut in_number = false;
    for c in name.chars() {
        match (c.to_digit(10), out.last_mut()) {
            (Some(digit), Some((_, number))) => {
                *number = number.saturating_mul(10).saturating_add(digit.into());
                in_number = true;
            }
            _ if in_number => {
                out.push((c.to_string(), 0));
                in_number = false;
            }
            (_, Some((words, _))) => words.push(c),
            (_, None) => {}
        }
    }
    out
}

fn get(call: &ReadCall, input: GetTag) -> Outcome<Tag> {
    let (project, git) = call.repository(&input.id)?;
    let tag = git.tag(&input.tag_name).ok_or_else(|| Rejection::not_found("Tag"))?;
    ok(show(call.world, &git, project.id, &tag)?)
}

fn create(call: &mut WriteCall, input: CreateTag) -> Outcome<Tag> {
    let (project, git) = call.repository_to_write(&input.id)?;
    let project: Project = project.clone();
    let caller = call.require_user()?;
    if !call.rights.can_create_tag(call.world, &project, &input.tag_name) {
        return Err(Rejection::message(400, NOT_CREATED));
    }
    let by = Author { name: caller.name.clone(), email: caller.email.clone(), at: call.now };
    git.create_tag(&input.tag_name, &input.r#ref, input.message.as_deref(), &by).map_err(|why| match why.status {
        // The status of the specification, which no server has ever sent.
        405 if !call.only_specified() => Rejection { status: 400, ..why },
        _ => why,
    })?;
    let now = call.now;
    let has_old_releases = call.version < Version::V17;
    if let Some(description) = input.release_description.filter(|text| has_old_releases && !text.is_empty()) {
        let tag = input.tag_name.clone();
        let release = records::Release { project: project.id, tag, description, created_at: now, ..Default::default() };
        call.world.releases.add(release);
    }
    record_project_activity(call.world, project.id, now)?;
    let tag = git.tag(&input.tag_name).ok_or_else(|| Rejection::not_found("Tag"))?;
    call.record_push(project.id, &git, &format!("refs/tags/{}", tag.name), None, Some(tag.target));
    ok(show(call.world, &git, project.id, &tag)?)
}

fn delete(call: &mut WriteCall, input: DeleteTag) -> Outcome<NoContent> {
    let (project, git) = call.repository_to_write(&input.id)?;
    let is_maintainer = call.rights.level(call.world, project) >= level::MAINTAINER;
    if project.is_tag_protected(&input.tag_name) && !is_maintainer {
        return Err(Rejection::forbidden());
    }
    let project = project.id;
    let tag = git.tag(&input.tag_name).ok_or_else(|| Rejection::not_found("Tag"))?;
    call.check_unmodified(git.committed_at(tag.commit)?)?;
    remove(call.world, &git, project, &tag.name)?;
    record_project_activity(call.world, project, call.now)?;
    call.record_push(project, &git, &format!("refs/tags/{}", tag.name), Some(tag.target), None);
    ok(NoContent)
}

/// Removes a tag and its release.
pub fn remove(world: &mut World, git: &Git, project: u64, tag: &str) -> Result<(), Rejection> {
    git.delete_tag(tag)?;
    world.releases.remove_where(|release| release.project == project && release.tag == tag);
    Ok(())
}

/// Refuses the old way to write releases as a server does that no longer has it.
fn require_old_releases(call: &WriteCall) -> Result<(), Rejection> {
    if call.version >= Version::V17 { Err(Rejection::error(404, "404 Not Found")) } else { Ok(()) }
}

fn release(call: &mut WriteCall, input: CreateTagRelease) -> Outcome<TagRelease> {
    require_old_releases(call)?;
    let (project, git) = call.repository_to_write(&input.id)?;
    let project = project.id;
    if git.tag(&input.tag_name).is_none() {
        return Err(Rejection::message(404, "Tag does not exist"));
    }
    if call.world.releases.iter().any(|release| release.project == project && release.tag == input.tag_name) {
        return Err(Rejection::conflict("Release already exists"));
    }
    let release = records::Release {
        project,
        tag: input.tag_name,
        description: input.description,
        created_at: call.now,
        ..records::Release::default()
    };
    call.world.releases.add(release.clone());
    ok(show_release(&release))
}

fn update_release(call: &mut WriteCall, input: UpdateTagRelease) -> Outcome<TagRelease> {
    require_old_releases(call)?;
    let (project, git) = call.repository_to_write(&input.id)?;
    let project = project.id;
    if git.tag(&input.tag_name).is_none() {
        return Err(Rejection::message(404, "Tag does not exist"));
    }
    let found = call.world.releases.iter().find(|r| r.project == project && r.tag == input.tag_name).map(|r| r.id);
    let release = found.and_then(|id| call.world.releases.get_mut(id));
    let Some(release) = release else { return Err(Rejection::message(404, "Release does not exist")) };
    release.description = input.description;
    ok(show_release(release))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_sort_numerically() {
        let mut names = vec!["v1.10", "v1.9.1", "v1.9", "v2", "beta"];
        names.sort_by_cached_key(|name| version(name));
        assert_eq!(names, ["beta", "v1.9", "v1.9.1", "v1.10", "v2"]);
    }
}
