//! Files that are attached to texts in a project, and served at the addresses that the texts contain.

use super::auth::{Access, Caller, secret};
use super::avatars;
use super::body::Purpose;
use super::call::{Answer, Call, Outcome, ReadCall, WriteCall, ok};
use super::door::{Checks, Door, Rendered, Run};
use super::mount::Mount;
use super::presenters::time;
use super::records::{Upload, level};
use super::rejection::Rejection;
use super::world::World;
use api::uploads::{CreateUpload, GetUpload, NewUpload};
use api::{Id, NoContent, Raw, Time};
use axum::http::Method;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use std::ops::Deref;

/// The number of hexadecimal digits of the secret in an address.
const SECRET_DIGITS: usize = 32;
/// The extensions of the files that Markdown embeds: images, videos and audio.
const EMBEDDED: [&str; 19] = [
    "png", "jpg", "jpeg", "gif", "bmp", "tiff", "ico", "webp", "mp4", "m4v", "mov", "webm", "ogv", "mp3", "oga", "ogg",
    "spx", "wav", "avif",
];
/// The route of uploads outside the REST API, relative to the root of the server.
const ROUTE: &str = "/-/project/{id}/uploads/{secret}/{filename}";

pub fn mount(mount: Mount) -> Mount {
    mount
        .write_files::<CreateUpload>(create)
        .read_signed_in::<ListUploads>(list)
        .read::<GetUpload>(get)
        .write::<DeleteUpload>(delete)
        .read_signed_in::<GetUploadById>(get_by_id)
        .write::<DeleteUploadById>(delete_by_id)
}

api::resource! {
    /// An upload in lists, without its secret.
    pub struct UploadBrief {
        id: u64,
        /// The size in bytes.
        size: u64,
        filename: String,
        created_at: Option<Time>,
        uploaded_by: Option<Uploader>,
    }
}

api::resource! {
    /// The user who uploaded a file.
    pub struct Uploader {
        id: u64,
        name: String,
        username: String,
    }
}

api::endpoints! {
    unspecified section "Uploads";

    /// Lists the uploads of a project, newest first (since 17.2).
    GET "/projects/{id}/uploads" => Vec<UploadBrief>;
    struct ListUploads { id: Id }

    /// Deletes an upload (since 17.4).
    DELETE "/projects/{id}/uploads/{secret}/{filename}" => NoContent;
    struct DeleteUpload { id: Id, secret: String, filename: String }

    /// Downloads an upload (since 17.2).
    GET "/projects/{id}/uploads/{upload_id}" => Raw;
    struct GetUploadById { id: Id, upload_id: u64 }

    /// Deletes an upload (since 17.2).
    DELETE "/projects/{id}/uploads/{upload_id}" => NoContent;
    struct DeleteUploadById { id: Id, upload_id: u64 }
}

fn create(call: &mut WriteCall, input: CreateUpload) -> Outcome<NewUpload> {
    let (project, user) = (call.project(&input.id)?.id, call.require_user()?.id);
    let file = call.inputs.get("file").cloned().unwrap_or_default();
    let text = |field: &str| file.get(field).and_then(Value::as_str);
    let (Some(name), Some(Ok(bytes))) = (text("filename"), text("base64").map(|text| STANDARD.decode(text))) else {
        return Err(Rejection::invalid("file"));
    };
    let filename = avatars::plain_filename(name, "file");
    let secret = secret().ok_or_else(|| Rejection::internal_error("no random numbers"))?;
    let secret: String = secret.chars().take(SECRET_DIGITS).collect();
    let (stem, ending) = filename.rsplit_once('.').unwrap_or((&filename, ""));
    let is_embedded = EMBEDDED.contains(&&*ending.to_lowercase());
    let alt = if is_embedded { stem.to_owned() } else { filename.clone() };
    let url = format!("/uploads/{secret}/{filename}");
    let upload = Upload { id: 0, project, user, secret, filename, bytes, created_at: call.now };
    let id = call.world.uploads.add(upload);
    let full_path = format!("/-/project/{project}{url}");
    let markdown = format!("{}[{alt}]({url})", if is_embedded { "!" } else { "" });
    ok(NewUpload { id, alt, url, full_path, markdown })
}

fn list(call: &ReadCall, input: ListUploads) -> Outcome<Vec<UploadBrief>> {
    let project = call.project_as(&input.id, level::MAINTAINER)?.id;
    let rows = call.world.uploads.iter().rev().filter(|upload| upload.project == project).collect();
    let uploader = |id: u64| {
        let user = call.user_summary(id);
        Uploader { id: user.id, name: user.name, username: user.username }
    };
    call.page(rows, |upload| UploadBrief {
        id: upload.id,
        size: upload.bytes.len() as u64,
        filename: upload.filename.clone(),
        created_at: Some(time(upload.created_at)),
        uploaded_by: Some(uploader(upload.user)),
    })
}

impl<W: Deref<Target = World>> Call<W> {
    fn upload(&self, project: u64, secret: &str, filename: &str) -> Result<&Upload, Rejection> {
        let is_it =
            |upload: &&Upload| upload.project == project && upload.secret == secret && upload.filename == filename;
        self.world.uploads.iter().find(is_it).ok_or_else(Rejection::record_not_found)
    }
}

fn get(call: &ReadCall, input: GetUpload) -> Outcome<Raw> {
    let project = call.project(&input.id)?.id;
    Ok(download(call.upload(project, &input.secret, &input.filename)?))
}

/// Finds an upload of a project by its ID, for maintainers.
fn find_by_id<'c, W: Deref<Target = World>>(call: &'c Call<W>, project: &Id, id: u64) -> Result<&'c Upload, Rejection> {
    let project = call.project_as(project, level::MAINTAINER)?.id;
    call.world.uploads.get(id).filter(|upload| upload.project == project).ok_or_else(Rejection::record_not_found)
}

fn get_by_id(call: &ReadCall, input: GetUploadById) -> Outcome<Raw> {
    Ok(download(find_by_id(call, &input.id, input.upload_id)?))
}

fn delete_by_id(call: &mut WriteCall, input: DeleteUploadById) -> Outcome<NoContent> {
    let id = find_by_id(call, &input.id, input.upload_id)?.id;
    call.world.uploads.remove(id);
    ok(NoContent)
}

/// Returns the bytes of an upload as a download.
fn download(upload: &Upload) -> Answer<Raw> {
    let content_type = avatars::kind(&upload.bytes).unwrap_or("application/octet-stream");
    let raw = Raw { bytes: upload.bytes.clone(), content_type: Some(content_type.into()) };
    Answer::new(raw).header("content-disposition", &format!("attachment; filename=\"{}\"", upload.filename))
}

fn delete(call: &mut WriteCall, input: DeleteUpload) -> Outcome<NoContent> {
    let project = call.project_as(&input.id, level::MAINTAINER)?.id;
    let id = call.upload(project, &input.secret, &input.filename)?.id;
    call.world.uploads.remove(id);
    ok(NoContent)
}

/// Adds the route of uploads, which are for those who can see the project, images too: GitLab's setting for that is on by
/// default (`enforce_auth_checks_on_uploads`).
pub fn mount_page(door: &mut Door) {
    let checks = Checks { access: Access::of(Caller::Anyone), body: Purpose::Fields };
    door.route(Method::GET, ROUTE, checks, Run::Read(Box::new(page)));
}

fn page(call: &mut ReadCall) -> Outcome<Rendered> {
    let text = |name: &str| call.inputs.get(name).and_then(Value::as_str).unwrap_or_default();
    let project = text("id").parse().unwrap_or_default();
    let hidden = |_| Rejection::error(404, "404 Not Found");
    let upload = call.upload(project, text("secret"), text("filename")).map_err(hidden)?;
    if !call.can_see_project_with_id(project) {
        return Err(Rejection::error(404, "404 Not Found"));
    }
    let kind = avatars::kind(&upload.bytes);
    let disposition = if kind.is_some() { "inline" } else { "attachment" };
    let answer = Answer::new(Some((kind.unwrap_or("application/octet-stream").to_owned(), upload.bytes.clone())));
    Ok(answer.header("content-disposition", disposition))
}
