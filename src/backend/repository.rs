//! Trees, blobs, archives, comparisons and contributors.

use super::auth::{Access, Caller};
use super::body::Purpose;
use super::call::{Answer, Outcome, ReadCall, ok, stable_sort};
use super::door::{Checks, Door, Run};
use super::git::{Format, LogQuery};
use super::modes::Version;
use super::mount::Mount;
use super::page::ListSize;
use super::range::{self, SkipWriter};
use super::rejection::Rejection;
use super::stop::Stop;
use super::stream::Stream;
use api::Id;
use api::commits::Commit;
use api::repository::*;
use axum::http::Method;
use git2::Oid;
use serde_json::Value;
use std::sync::Arc;

/// The maximum number of commits in a comparison.
const MAX_COMMITS: usize = 5_000;

pub fn mount(mount: Mount) -> Mount {
    mount
        .read::<ListTree>(tree)
        .read::<GetBlob>(blob)
        .stream::<GetRawBlob>(raw)
        .stream::<GetArchive>(archive)
        .also_stream::<GetArchive>(
            Caller::Anyone,
            "/projects/{id}/repository/archive.tar.gz",
            ("format", "tar.gz"),
            archive,
        )
        .also_stream::<GetArchive>(Caller::Anyone, "/projects/{id}/repository/archive.tgz", ("format", "tgz"), archive)
        .also_stream::<GetArchive>(Caller::Anyone, "/projects/{id}/repository/archive.gz", ("format", "gz"), archive)
        .also_stream::<GetArchive>(
            Caller::Anyone,
            "/projects/{id}/repository/archive.tar.bz2",
            ("format", "tar.bz2"),
            archive,
        )
        .also_stream::<GetArchive>(Caller::Anyone, "/projects/{id}/repository/archive.tbz", ("format", "tbz"), archive)
        .also_stream::<GetArchive>(
            Caller::Anyone,
            "/projects/{id}/repository/archive.tbz2",
            ("format", "tbz2"),
            archive,
        )
        .also_stream::<GetArchive>(Caller::Anyone, "/projects/{id}/repository/archive.tb2", ("format", "tb2"), archive)
        .also_stream::<GetArchive>(Caller::Anyone, "/projects/{id}/repository/archive.bz2", ("format", "bz2"), archive)
        .also_stream::<GetArchive>(Caller::Anyone, "/projects/{id}/repository/archive.tar", ("format", "tar"), archive)
        .also_stream::<GetArchive>(Caller::Anyone, "/projects/{id}/repository/archive.zip", ("format", "zip"), archive)
        .read::<CompareRefs>(compare)
        .read::<ListContributors>(contributors)
        .read::<GetMergeBase>(merge_base)
}

api::endpoints! {
    unspecified section "Repositories";

    /// Gets the common ancestor of refs.
    GET "/projects/{id}/repository/merge_base" => Commit;
    struct GetMergeBase {
        id: Id,
        /// At least two; also separated by commas.
        refs: Vec<String>,
    }
}

fn tree(call: &ReadCall, input: ListTree) -> Outcome<Vec<TreeEntry>> {
    let (_, git) = call.repository(&input.id)?;
    let commit = git.commit_at(input.r#ref.as_deref().filter(|name| !name.is_empty()), "Tree")?;
    let root = git.folder(commit.tree_id)?;
    let (path, recursive) = (input.path.unwrap_or_default(), input.recursive == Some(true));
    let key = (root.id(), path.clone(), recursive);
    let listing = call.cache.trees.get_or_try_init(key, || git.list(&root, &path, recursive).map(Arc::new))?;
    if listing.entries.is_empty() && !path.is_empty() && !call.only_specified() {
        return Err(Rejection::not_found("invalid revision or path"));
    }
    if call.is_unpaged() && !listing.is_cut {
        return ok(listing.entries.clone());
    }
    let (page, list_size) = call.cut_by_name(&listing.entries, |entry| &entry.path)?;
    let mut page = page.to_vec();
    if input.with_last_commit == Some(true) && call.version >= Version::V19 {
        for entry in &mut page {
            call.stop.check()?;
            let query = LogQuery { from: vec![commit.id], path: Some(entry.path.clone()), ..LogQuery::default() };
            let last = git.log_page(&query, 0, 1, &call.cache)?.commits.first().copied();
            entry.last_commit = last.map(|id| git.show(id)).transpose()?.map(Box::new);
        }
    }
    if !listing.is_cut {
        return call.page_of(page, list_size);
    }
    // A listing that is cut has no total, and a page after its end, so that nobody takes it for complete.
    if page.is_empty() {
        return Err(Rejection::unprocessable("The tree is too large or nested too deeply to be listed completely"));
    }
    call.page_of(page, ListSize::HasMore(true))
}

fn blob(call: &ReadCall, input: GetBlob) -> Outcome<Blob> {
    let (id, bytes) = call.repository(&input.id)?.1.blob(&input.sha)?;
    ok(Blob::new(id.to_string(), &bytes))
}

fn raw(call: &ReadCall, input: GetRawBlob) -> Outcome<Stream> {
    let (id, bytes) = call.repository(&input.id)?.1.blob(&input.sha)?;
    Ok(inline(call, &id.to_string(), bytes))
}

/// Answers with the bytes of a blob for inline display.
pub fn inline(call: &ReadCall, id: &str, bytes: Vec<u8>) -> Answer<Stream> {
    let length = bytes.len() as u64;
    let stream = Stream::new("text/plain", Some(length), move |from, out| {
        out.write_all(bytes.get(usize::try_from(from).unwrap_or(usize::MAX)..).unwrap_or_default())
    });
    range::answer(stream, &call.headers, Some(&format!("\"{id}\""))).header("content-disposition", "inline")
}

/// Adds the archives at web addresses: `/group/project/-/archive/REF/NAME.zip`.
pub fn mount_archives(door: &mut Door) {
    let checks = Checks { access: Access::of(Caller::Anyone), body: Purpose::Fields };
    let run = |call: &mut ReadCall| {
        let input = |name: &str| call.inputs.get(name).and_then(Value::as_str).unwrap_or_default();
        let (name, file) = input("rest").rsplit_once('/').unwrap_or_default();
        // The longer endings first: `.tar.gz` also ends with `.gz`.
        let endings = [Format::TarGz, Format::TarBz2, Format::Tar, Format::Zip].map(Format::extension);
        let ending =
            endings.into_iter().find(|ending| file.strip_suffix(ending).is_some_and(|name| name.ends_with('.')));
        let format = ending.ok_or_else(|| Rejection::not_found("File"))?.to_owned();
        let (id, sha) = (input("project").to_owned().into(), Some(name.to_owned()));
        stream_archive(call, GetArchive { id, sha, format: Some(format) }, false)
    };
    door.project_route(Method::GET, "/-/archive/{*rest}", checks, Run::Stream(Box::new(run)));
}

fn archive(call: &ReadCall, input: GetArchive) -> Outcome<Stream> {
    stream_archive(call, input, true)
}

/// Answers with an archive, whose folder has the hash of the commit in its name if `names_commit`.
fn stream_archive(call: &ReadCall, input: GetArchive, names_commit: bool) -> Outcome<Stream> {
    let word = input.format.as_deref().filter(|word| !word.is_empty()).unwrap_or("tar.gz");
    let format = Format::from_name(word).ok_or_else(|| Rejection::no_valid_value("format"))?;
    let (project, git) = call.repository(&input.id)?;
    let sha = input.sha.as_deref().filter(|name| !name.is_empty());
    let commit = git.commit_at(sha, "File")?.id;
    let name = sha.or(project.default_branch.as_deref());
    // A single top-level folder, named after the content.
    let prefix = format!("{}-{}", project.path, name.unwrap_or("HEAD").replace('/', "-"));
    let prefix = if names_commit { format!("{prefix}-{commit}") } else { prefix };
    let named = format!("attachment; filename=\"{}.{}\"", prefix.replace(['"', '\\'], "-"), format.extension());
    let content_type = if format == Format::Zip { "application/zip" } else { "application/octet-stream" };
    // The bytes are determined by these values, so a download with the same tag can be resumed.
    let tag = range::etag(&format!("{commit} {format:?} {prefix}"));
    let (cache, key) = (call.cache.clone(), (commit, format, prefix.clone()));
    // The length is known only after writing the archive, but a range request needs it in advance.
    let length = match cache.archive_sizes.get(&key) {
        None if range::is_range_request(&call.headers, tag.as_deref()) => {
            let mut all = SkipWriter { out: &mut std::io::sink(), left: 0, written: 0 };
            git.write_archive(commit, &prefix, format, &mut all).map_err(Rejection::internal_error)?;
            cache.archive_sizes.put(key.clone(), all.written);
            Some(all.written)
        }
        known => known,
    };
    // The call ends when the reply begins, which sets its flag; from then on, the writer ends when the reader
    // disconnects.
    let git = git.with_stop(&Stop::default());
    let stream = Stream::new(content_type, length, move |from, out| {
        let mut rest = SkipWriter { out, left: from, written: 0 };
        git.write_archive(commit, &prefix, format, &mut rest)?;
        cache.archive_sizes.put(key, rest.written);
        Ok(())
    });
    Ok(range::answer(stream, &call.headers, tag.as_deref())
        .header("content-disposition", &named)
        .header("content-transfer-encoding", "binary"))
}

fn compare(call: &ReadCall, input: CompareRefs) -> Outcome<Comparison> {
    let (project, git) = call.repository(&input.id)?;
    let what = if call.only_specified() { "Commit" } else { "Ref" };
    let from = git.commit_at(Some(&input.from), what)?.id;
    let to = git.commit_at(Some(&input.to), what)?.id;
    let (ids, cut) = git.between(from, to, MAX_COMMITS)?;
    // The changes of `to` since the merge base, unless both ends are compared; for unrelated histories, everything.
    let base = if input.straight == Some(true) { Some(from) } else { git.merge_base(from, to)? };
    let changes = git.changes(base, to)?;
    let mut commits = ids.into_iter().map(|id| git.show(id)).collect::<Result<Vec<_>, Rejection>>()?;
    commits.reverse();
    ok(Comparison {
        commit: commits.last().cloned(),
        commits,
        diffs: call.show_diffs(changes.entries)?,
        compare_timeout: cut || changes.overflow,
        compare_same_ref: from == to,
        web_url: Some(call.project_page(project, &format!("compare/{}...{to}", base.unwrap_or(from)))),
    })
}

fn contributors(call: &ReadCall, input: ListContributors) -> Outcome<Vec<Contributor>> {
    let by = call.choice_or_first("order_by", input.order_by.as_deref(), &["date", "name", "email", "commits"])?;
    let descending = call.descending(input.sort.as_deref(), "asc")?;
    let mut people = call.repository(&input.id)?.1.contributors(&call.cache)?.to_vec();
    match by {
        "name" => stable_sort(&mut people, descending, |person| person.name.to_lowercase()),
        "email" => stable_sort(&mut people, descending, |person| person.email.to_lowercase()),
        "commits" => stable_sort(&mut people, descending, |person| person.commits),
        _ if descending => people.reverse(),
        _ => {}
    }
    call.page(people, |person| person)
}

fn merge_base(call: &ReadCall, input: GetMergeBase) -> Outcome<Commit> {
    let (_, git) = call.repository(&input.id)?;
    let refs: Vec<&str> = input.refs.iter().flat_map(|refs| refs.split(',')).map(str::trim).collect();
    if refs.len() < 2 {
        return Err(Rejection::bad_request("Provide at least 2 refs"));
    }
    let unknown: Vec<&str> = refs.iter().copied().filter(|name| git.resolve(name).is_none()).collect();
    match unknown.as_slice() {
        [] => {}
        [one] => return Err(Rejection::bad_request(format!("Could not find ref: {one}"))),
        some => return Err(Rejection::bad_request(format!("Could not find refs: {}", some.join(", ")))),
    }
    let mut base: Option<Oid> = None;
    for commit in refs.iter().filter_map(|name| git.resolve(name)) {
        let known = base.map_or(Ok(Some(commit)), |base| git.merge_base(base, commit))?;
        base = Some(known.ok_or_else(|| Rejection::not_found("Merge Base"))?);
    }
    ok(git.show(base.ok_or_else(|| Rejection::not_found("Merge Base"))?)?)
}
