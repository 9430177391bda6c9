//! Files that are attached to texts in a project. Not in the specification.

use crate::types::File;
use crate::{Id, Raw};

crate::resource! {
    /// An upload, as its author learns it.
    pub struct NewUpload {
        id: u64,
        alt: String,
        /// The address relative to the project, for texts.
        url: String,
        /// The address relative to the server.
        full_path: String,
        /// The link or image that texts contain.
        markdown: String,
    }
}

crate::endpoints! {
    unspecified section "Uploads";

    /// Uploads a file for a text.
    POST "/projects/{id}/uploads" => NewUpload;
    struct CreateUpload { id: Id, file: File }

    /// Downloads an upload (since 17.4).
    GET "/projects/{id}/uploads/{secret}/{filename}" => Raw, about Project;
    struct GetUpload { id: Id, secret: String, filename: String }
}
