//! Uploaded files: the addresses that texts have, and where they are opened.

use crate::api::endpoint::{Endpoint, encode};
use crate::api::uploads::GetUpload;
use crate::app::place::Place;
use crate::app::transfer::NewTransfer;
use crate::app::view::View;
use crate::parts::facts::LinkTarget;
use crate::parts::project;

/// The endings of files that are shown, as pictures or texts; others are saved.
const SHOWN: &[&str] = &[
    "png", "jpg", "jpeg", "gif", "webp", "bmp", "txt", "log", "md", "markdown", "csv", "tsv", "json", "xml", "yml",
    "yaml", "toml", "diff", "patch",
];

/// Returns the place that shows an uploaded file.
pub fn place(upload: &GetUpload) -> Place {
    Place::new("upload").project(upload.id.clone()).item(format!("{}/{}", upload.secret, upload.filename))
}

/// Returns the address of an uploaded file on the web.
pub fn page(view: &View, upload: &GetUpload) -> String {
    project::page(view, &upload.id, &format!("/uploads/{}/{}", upload.secret, encode(&upload.filename)))
}

/// Returns what a link to an uploaded file does: it shows a picture or a text, and saves other files.
pub fn target(upload: &GetUpload) -> LinkTarget {
    let ending = upload.filename.rsplit_once('.').map_or("", |(_, ending)| ending);
    match SHOWN.iter().any(|known| known.eq_ignore_ascii_case(ending)) {
        true => LinkTarget::Place(place(upload)),
        false => LinkTarget::File(NewTransfer::new(upload.request(), &upload.filename)),
    }
}
