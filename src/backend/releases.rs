//! Releases as objects of a project; the same ones that tags include.

use super::branches::record_project_activity;
use super::call::{Answer, Call, Outcome, ReadCall, WriteCall, ok};
use super::git::Author;
use super::mount::{Mount, ROOT};
use super::params;
use super::presenters::{parse_time, time};
use super::records::{self, Project};
use super::rejection::Rejection;
use super::tags::NOT_CREATED;
use super::world::World;
use api::endpoint::encode;
use api::merge_requests::Milestone;
use api::releases::*;
use api::{Id, NoContent, Time};
use std::ops::Deref;

pub fn mount(mount: Mount) -> Mount {
    mount
        .read::<ListReleases>(list)
        .read::<GetRelease>(get)
        .read::<GetLatestRelease>(latest)
        .write::<CreateRelease>(create)
        .write::<UpdateRelease>(update)
        .write::<DeleteRelease>(delete)
        .read::<ListAssetLinks>(list_links)
        .read::<GetAssetLink>(get_link)
        .write::<CreateAssetLink>(create_link)
        .write::<UpdateAssetLink>(update_link)
        .write::<DeleteAssetLink>(delete_link)
}

api::endpoints! {
    unspecified section "Releases";

    /// Gets the release of a tag.
    GET "/projects/{id}/releases/{tag_name}" => Release;
    struct GetRelease { id: Id, tag_name: String }

    /// Redirects to the latest release (since 15.4).
    GET "/projects/{id}/releases/permalink/latest" => NoContent;
    struct GetLatestRelease { id: Id }

    /// Gets an asset link of a release.
    GET "/projects/{id}/releases/{tag_name}/assets/links/{link_id}" => AssetLink;
    struct GetAssetLink { id: Id, tag_name: String, link_id: u64 }
}

fn list(call: &ReadCall, input: ListReleases) -> Outcome<Vec<Release>> {
    let project = call.project(&input.id)?;
    let mut rows: Vec<&records::Release> =
        call.world.releases.iter().filter(|release| release.project == project.id).collect();
    let (order_by, sort): (Option<String>, Option<String>) = (call.option("order_by")?, call.option("sort")?);
    let order = call.choice_or_first("order_by", order_by.as_deref(), &["released_at", "created_at"])?;
    rows.sort_by_key(|release| if order == "created_at" { release.created_at } else { release.released_at() });
    if call.choice_or_first("sort", sort.as_deref(), &["desc", "asc"])? == "desc" {
        rows.reverse();
    }
    call.page(rows, |release| call.show_release(project, release))
}

impl<W: Deref<Target = World>> Call<W> {
    /// Converts a release to its API representation. Callers who may not read the code see neither its commit nor its
    /// sources.
    pub fn show_release(&self, project: &Project, release: &records::Release) -> Release {
        let reads_code = self.rights.can_read_code(&self.world, project);
        let tag = encode(&release.tag);
        let page = |path: &str| self.project_page(project, path);
        let source = |format: &str| AssetSource {
            format: format.into(),
            url: page(&format!("archive/{tag}/{}-{tag}.{format}", project.path)),
        };
        let sources: Vec<AssetSource> =
            ["zip", "tar.gz", "tar.bz2", "tar"].map(source).into_iter().filter(|_| reads_code).collect();
        let links: Vec<AssetLink> = release.links.iter().map(show_link).collect();
        let git = self.git(project).ok().filter(|_| reads_code);
        let commit = git.and_then(|git| git.show(git.tag(&release.tag)?.commit).ok());
        let path = |of: &str| format!("/{}/-/{of}", self.world.project_path(project));
        let milestones = release.milestones.iter().filter_map(|id| self.world.milestones.get(*id));
        let milestones: Vec<Milestone> = milestones.map(|milestone| self.show_milestone(milestone)).collect();
        let of_tag = |list: &str, state: &str| page(&format!("{list}?release_tag={tag}&scope=all&state={state}"));
        Release {
            tag_name: release.tag.clone(),
            name: Some(if release.name.is_empty() { release.tag.clone() } else { release.name.clone() }),
            description: Some(release.description.clone()),
            created_at: Some(time(release.created_at)),
            released_at: Some(time(release.released_at())),
            author: release.author.map(|author| self.user_summary(author)),
            milestones: (!milestones.is_empty()).then_some(milestones),
            upcoming_release: Some(release.released_at() > self.now),
            assets: Some(Assets { count: Some((sources.len() + links.len()) as u64), sources, links }),
            commit_path: commit.as_ref().map(|commit| path(&format!("commit/{}", commit.id))),
            tag_path: reads_code.then(|| path(&format!("tags/{tag}"))),
            evidences: reads_code.then(Vec::new),
            commit,
            links: Some(ReleaseLinks {
                this: page(&format!("releases/{tag}")),
                edit_url: page(&format!("releases/{tag}/edit")),
                closed_issues_url: of_tag("issues", "closed"),
                closed_merge_requests_url: of_tag("merge_requests", "closed"),
                merged_merge_requests_url: of_tag("merge_requests", "merged"),
                opened_issues_url: of_tag("issues", "opened"),
                opened_merge_requests_url: of_tag("merge_requests", "opened"),
            }),
        }
    }
}

fn show_link(link: &AssetLink) -> AssetLink {
    AssetLink { direct_asset_url: Some(link.url.clone()), ..link.clone() }
}

/// The inputs of a release that the interface does not use.
struct ReleaseOptions {
    released_at: Option<Time>,
    /// The titles of milestones.
    milestones: Option<Vec<String>>,
    assets: Option<NewAssets>,
}

api::input_object! {
    #[derive(Default)]
    struct NewAssets {
        links: Option<Vec<NewLink>>,
    }
}

api::input_object! {
    #[derive(Default)]
    struct NewLink {
        name: String,
        url: String,
        link_type: Option<String>,
    }
}

impl ReleaseOptions {
    fn of(call: &WriteCall) -> Result<ReleaseOptions, Rejection> {
        params::read_with(&call.inputs, |inputs| ReleaseOptions {
            released_at: inputs.take("released_at"),
            milestones: inputs.take("milestones"),
            assets: inputs.take("assets"),
        })
    }

    /// Applies the options to a release.
    ///
    /// # Errors
    /// Fails with 400 for an unknown milestone, an invalid link or an invalid date.
    fn apply(self, call: &WriteCall, project: &Project, release: &mut records::Release) -> Result<(), Rejection> {
        release.released_at = parse_time("released_at", &self.released_at)?.or(release.released_at);
        if let Some(titles) = self.milestones {
            let find = |title: &String| {
                let mut known = call.world.milestones.iter();
                let found = known.find(|one| one.title == *title && call.world.milestone_in(project, one.id).is_some());
                found.map(|milestone| milestone.id)
            };
            let missing: Vec<&str> = titles.iter().filter(|title| find(title).is_none()).map(String::as_str).collect();
            if !missing.is_empty() {
                return Err(Rejection::bad_request(format!("Milestone(s) not found: {}", missing.join(", "))));
            }
            release.milestones = titles.iter().filter_map(find).collect();
        }
        for new in self.assets.and_then(|assets| assets.links).unwrap_or_default() {
            let link_type = new.link_type.unwrap_or_else(|| "other".into());
            let id = next_id(&release.links);
            let link = AssetLink { id, name: new.name, url: new.url, link_type, ..AssetLink::default() };
            check(&link, &release.links)?;
            release.links.push(link);
        }
        Ok(())
    }
}

fn next_id(links: &[AssetLink]) -> u64 {
    links.iter().map(|link| link.id).max().unwrap_or(0) + 1
}

fn get(call: &ReadCall, input: GetRelease) -> Outcome<Release> {
    let project = call.project(&input.id)?;
    let found = find(call, project.id, &input.tag_name).ok().and_then(|id| call.world.releases.get(id));
    match found {
        Some(release) => ok(call.show_release(project, release)),
        // Who may not read the code must not learn which tags there are.
        None if !call.rights.can_read_code(call.world, project) => Err(Rejection::forbidden()),
        None => Err(Rejection::message(404, "404 Not Found")),
    }
}

fn latest(call: &ReadCall, input: GetLatestRelease) -> Outcome<NoContent> {
    let project = call.project(&input.id)?;
    let published = call.world.releases.iter().filter(|release| release.project == project.id);
    let latest = published.max_by_key(|release| release.released_at());
    let tag = &latest.ok_or_else(|| Rejection::message(404, "404 Not Found"))?.tag;
    let path = format!("{ROOT}/projects/{}/releases/{}", project.id, encode(tag));
    Ok(Answer::new(NoContent).status(302).header("location", &path))
}

fn find<W: Deref<Target = World>>(call: &Call<W>, project: u64, tag: &str) -> Result<u64, Rejection> {
    let found = call.world.releases.iter().find(|release| release.project == project && release.tag == tag);
    found.map(|release| release.id).ok_or_else(|| Rejection::message(404, "404 Not Found"))
}

fn create(call: &mut WriteCall, input: CreateRelease) -> Outcome<Release> {
    let (project, git) = call.repository_to_write(&input.id)?;
    let project: Project = project.clone();
    if find(call, project.id, &input.tag_name).is_ok() {
        return Err(Rejection::conflict("Release already exists"));
    }
    let caller = call.require_user()?;
    let options = ReleaseOptions::of(call)?;
    let (author, by) =
        (Some(caller.id), Author { name: caller.name.clone(), email: caller.email.clone(), at: call.now });
    if git.tag(&input.tag_name).is_none() {
        let Some(from) = input.r#ref.filter(|name| !name.is_empty()) else {
            return Err(Rejection::message(422, "Ref is not specified"));
        };
        if !call.rights.can_create_tag(call.world, &project, &input.tag_name) {
            return Err(Rejection::message(403, NOT_CREATED));
        }
        let message: Option<String> = call.option("tag_message")?;
        git.create_tag(&input.tag_name, &from, message.as_deref(), &by)?;
        let tag = git.tag(&input.tag_name).ok_or_else(|| Rejection::not_found("Tag"))?;
        call.record_push(project.id, &git, &format!("refs/tags/{}", tag.name), None, Some(tag.target));
    }
    let mut release = records::Release {
        project: project.id,
        tag: input.tag_name,
        name: input.name.unwrap_or_default(),
        description: input.description.unwrap_or_default(),
        created_at: call.now,
        author,
        ..records::Release::default()
    };
    options.apply(call, &project, &mut release)?;
    call.world.releases.add(release.clone());
    record_project_activity(call.world, project.id, call.now)?;
    ok(call.show_release(&project, &release))
}

fn update(call: &mut WriteCall, input: UpdateRelease) -> Outcome<Release> {
    let project = call.repository_to_write(&input.id)?.0.clone();
    let id = find(call, project.id, &input.tag_name)?;
    let options = ReleaseOptions::of(call)?;
    let has_options = options.released_at.is_some() || options.milestones.is_some();
    if input.name.is_none() && input.description.is_none() && !has_options {
        let names = "name, description, milestones, released_at";
        return Err(Rejection::error(400, format!("{names} are missing, at least one parameter must be provided")));
    }
    let mut release = call.world.releases.get(id).cloned().ok_or_else(|| Rejection::message(404, "404 Not Found"))?;
    release.name = input.name.unwrap_or(release.name);
    release.description = input.description.unwrap_or(release.description);
    // Links are changed by operations of their own.
    ReleaseOptions { assets: None, ..options }.apply(call, &project, &mut release)?;
    call.world.releases.add(release.clone());
    ok(call.show_release(&project, &release))
}

fn delete(call: &mut WriteCall, input: DeleteRelease) -> Outcome<Release> {
    let project = call.repository_to_write(&input.id)?.0.clone();
    let id = find(call, project.id, &input.tag_name)?;
    let release = call.world.releases.remove(id).ok_or_else(|| Rejection::message(404, "404 Not Found"))?;
    // Unlike most deletions, this one returns the deleted object.
    Ok(Answer::new(call.show_release(&project, &release)).status(200))
}

fn list_links(call: &ReadCall, input: ListAssetLinks) -> Outcome<Vec<AssetLink>> {
    let project = call.project(&input.id)?.id;
    let mut releases = call.world.releases.iter();
    let found = releases.find(|release| release.project == project && release.tag == input.tag_name);
    let release = found.ok_or_else(|| Rejection::message(404, "404 Not found"))?;
    call.page(release.links.iter().rev().collect(), show_link)
}

fn get_link(call: &ReadCall, input: GetAssetLink) -> Outcome<AssetLink> {
    let project = call.project(&input.id)?.id;
    let release = find(call, project, &input.tag_name).ok().and_then(|id| call.world.releases.get(id));
    let mut links = release.ok_or_else(Rejection::record_not_found)?.links.iter();
    ok(links.find(|link| link.id == input.link_id).map(show_link).ok_or_else(Rejection::record_not_found)?)
}

/// Returns the links of a release that the caller may change.
fn links<'a>(call: &'a mut WriteCall, id: &Id, tag: &str) -> Result<&'a mut Vec<AssetLink>, Rejection> {
    let project = call.repository_to_write(id)?.0.id;
    let release = find(call, project, tag).ok().and_then(|id| call.world.releases.get_mut(id));
    release.map(|release| &mut release.links).ok_or_else(Rejection::record_not_found)
}

/// Checks a link, which may be among `links`.
fn check(link: &AssetLink, links: &[AssetLink]) -> Result<(), Rejection> {
    let scheme = link.url.split_once("://").map_or("", |(scheme, _)| scheme);
    let others = || links.iter().filter(|other| other.id != link.id);
    let wrong = match link {
        _ if link.name.trim().is_empty() => ("name", "can't be blank"),
        _ if !matches!(scheme, "http" | "https" | "ftp") => {
            ("url", "is blocked: Only allowed schemes are http, https, ftp")
        }
        _ if others().any(|other| other.name == link.name) => ("name", "has already been taken"),
        _ if others().any(|other| other.url == link.url) => ("url", "has already been taken"),
        _ if !LINK_TYPES.contains(&link.link_type.as_str()) => return Err(Rejection::no_valid_value("link_type")),
        _ => return Ok(()),
    };
    Err(Rejection::bad_request(serde_json::json!({ wrong.0: [wrong.1] })))
}

fn create_link(call: &mut WriteCall, input: CreateAssetLink) -> Outcome<AssetLink> {
    let links = links(call, &input.id, &input.tag_name)?;
    let link_type = input.link_type.unwrap_or_else(|| "other".into());
    let (id, name, url) = (next_id(links), input.name, input.url);
    let link = AssetLink { id, name, url, link_type, ..AssetLink::default() };
    check(&link, links)?;
    links.push(link.clone());
    ok(show_link(&link))
}

fn update_link(call: &mut WriteCall, input: UpdateAssetLink) -> Outcome<AssetLink> {
    if input.name.is_none() && input.url.is_none() {
        return Err(Rejection::error(400, "name, url are missing, at least one parameter must be provided"));
    }
    let links = links(call, &input.id, &input.tag_name)?;
    let at = links.iter().position(|link| link.id == input.link_id).ok_or_else(Rejection::record_not_found)?;
    let mut link = links.get(at).cloned().ok_or_else(Rejection::record_not_found)?;
    link.name = input.name.unwrap_or(link.name);
    link.url = input.url.unwrap_or(link.url);
    link.link_type = input.link_type.unwrap_or_else(|| "other".into());
    check(&link, links)?;
    links.splice(at..=at, [link.clone()]);
    ok(show_link(&link))
}

fn delete_link(call: &mut WriteCall, input: DeleteAssetLink) -> Outcome<AssetLink> {
    let links = links(call, &input.id, &input.tag_name)?;
    let at = links.iter().position(|link| link.id == input.link_id).ok_or_else(Rejection::record_not_found)?;
    Ok(Answer::new(show_link(&links.remove(at))).status(200))
}
