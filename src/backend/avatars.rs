//! Avatars of users and projects: uploaded in forms, and served at the paths of GitLab's web pages.

use super::auth::{Access, Caller};
use super::body::Purpose;
use super::call::{Call, Outcome, ReadCall, ok};
use super::door::{Checks, Door, Rendered, Run};
use super::params::Inputs;
use super::records::Avatar;
use super::rejection::Rejection;
use super::world::World;
use axum::http::Method;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::ops::Deref;

/// The maximum size in bytes.
const MAX_BYTES: usize = 200 << 10;
/// The signatures of the supported image formats, and their content types.
const IMAGE_FORMATS: [(&[u8], &str); 7] = [
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"BM", "image/bmp"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
    (b"\0\0\x01\0", "image/vnd.microsoft.icon"),
];

/// The route of avatars, relative to the root of the server.
const ROUTE: &str = "/uploads/-/system/{kind}/avatar/{id}/{filename}";

/// The filename of an image, and its bytes.
type ImageFile = (String, Vec<u8>);

/// The owner of an avatar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AvatarOwner {
    User(u64),
    Project(u64),
}

impl AvatarOwner {
    fn has(self, avatar: &Avatar) -> bool {
        match self {
            AvatarOwner::User(id) => avatar.user == Some(id),
            AvatarOwner::Project(id) => avatar.project == Some(id),
        }
    }

    fn path(self, filename: &str) -> String {
        let (kind, id) = match self {
            AvatarOwner::User(id) => ("user", id),
            AvatarOwner::Project(id) => ("project", id),
        };
        format!("/uploads/-/system/{kind}/avatar/{id}/{filename}")
    }
}

/// Returns the content type of an image; `None` for other files.
pub fn kind(bytes: &[u8]) -> Option<&'static str> {
    IMAGE_FORMATS.iter().find(|(start, _)| bytes.starts_with(start)).map(|(_, kind)| *kind)
}

/// Returns the avatar that a request contains; `Some(None)` if it removes the avatar.
///
/// # Errors
/// Fails with 400 if it is not a file, is not an image, or is too large.
pub fn from_inputs(inputs: &Inputs) -> Result<Option<Option<ImageFile>>, Rejection> {
    let refuse = |why: &str| Err(Rejection::bad_request(json!({ "avatar": [why] })));
    let file = match inputs.get("avatar") {
        None => return Ok(None),
        Some(Value::Null) => return Ok(Some(None)),
        Some(Value::String(text)) if text.is_empty() => return Ok(Some(None)),
        Some(file) => file,
    };
    let text = |field: &str| file.get(field).and_then(Value::as_str);
    let (Some(name), Some(Ok(bytes))) = (text("filename"), text("base64").map(|text| STANDARD.decode(text))) else {
        return Err(Rejection::invalid("avatar"));
    };
    if bytes.len() > MAX_BYTES {
        return refuse("is too big (should be at most 200 KB)");
    }
    if kind(&bytes).is_none() {
        return refuse(
            "file format is not supported. Please try one of the following supported formats: image/png, \
            image/jpeg, image/gif, image/bmp, image/tiff, image/vnd.microsoft.icon",
        );
    }
    Ok(Some(Some((plain_filename(name, "avatar"), bytes))))
}

/// Returns a filename that is safe in an address; `otherwise` if nothing of it is left.
pub fn plain_filename(name: &str, otherwise: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_') { c } else { '_' };
    let name: String = name.rsplit(['/', '\\']).next().unwrap_or_default().chars().map(plain).take(100).collect();
    if name.trim_matches('.').is_empty() { otherwise.to_owned() } else { name }
}

/// Removes the avatar of a user or project.
pub fn remove(world: &mut World, owner: AvatarOwner) {
    world.avatars.remove_where(|avatar| owner.has(avatar));
}

/// Replaces the avatar of a user or project. Returns its path.
pub fn set(world: &mut World, owner: AvatarOwner, file: Option<ImageFile>) -> Option<String> {
    remove(world, owner);
    let (filename, bytes) = file?;
    let path = owner.path(&filename);
    let (user, project) = match owner {
        AvatarOwner::User(id) => (Some(id), None),
        AvatarOwner::Project(id) => (None, Some(id)),
    };
    world.avatars.add(Avatar { user, project, filename, bytes, ..Avatar::default() });
    Some(path)
}

impl<W: Deref<Target = World>> Call<W> {
    /// Returns the URL of an avatar; the path of an avatar on this server is made absolute.
    pub fn avatar_url(&self, url: &Option<String>) -> Option<String> {
        let url = url.as_ref()?;
        Some(if url.starts_with('/') { format!("{}{url}", self.base_url) } else { url.clone() })
    }
}

/// Adds the route of avatars. Those of private projects are only for callers who can see the project.
pub fn mount(door: &mut Door) {
    let checks = Checks { access: Access::of(Caller::Anyone), body: Purpose::Fields };
    door.route(Method::GET, ROUTE, checks, Run::Read(Box::new(get)));
}

fn get(call: &mut ReadCall) -> Outcome<Rendered> {
    let world = call.world;
    let text = |name: &str| call.inputs.get(name).and_then(Value::as_str).unwrap_or_default();
    let (filename, id) = (text("filename"), text("id").parse().unwrap_or_default());
    let owner = match text("kind") {
        "user" => Some(AvatarOwner::User(id)),
        "project" => {
            let project = world.projects.get(id).filter(|project| call.rights.can_see_project(world, project));
            project.map(|project| AvatarOwner::Project(project.id))
        }
        _ => None,
    };
    let mut avatars = world.avatars.iter();
    let found = owner.and_then(|owner| avatars.find(|avatar| owner.has(avatar) && avatar.filename == filename));
    let found = found.ok_or_else(|| Rejection::error(404, "404 Not Found"))?;
    ok(Some((kind(&found.bytes).unwrap_or("application/octet-stream").to_owned(), found.bytes.clone())))
}
