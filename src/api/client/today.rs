//! Operations that servers of another age have at another place: the same thing, as they call it.

use crate::api::endpoint::{Request, decode};
use crate::api::error::{Error, Fault};

/// The same call where other servers take it, if they do not know the place that `request` went to.
///
/// - Before 15.2 the version is told at `GET /version`.
/// - A release of a tag was moved: `POST …/tags/:tag/release` to `POST …/releases`, and `PUT` likewise.
/// - Before 12.4 a label is changed at `PUT …/labels`, by its name.
/// - Before 11.2 only direct members are listed, and `all` is read as the id of a user.
pub(super) fn elsewhere(request: &Request, error: &Error) -> Option<Request> {
    // A tag that is not there is named; some proxies say of a route that it is missing.
    let no_route = match &error.fault {
        Fault::Unsupported(_) => true,
        Fault::Missing(said) => said == "404 Not Found",
        Fault::Refused(400, said) => said.contains("user_id is invalid"),
        _ => false,
    };
    if !no_route {
        return None;
    }
    match request.route {
        "/metadata" => Some(Request { path: "/version".into(), ..request.clone() }),
        "/projects/{id}/members/all" | "/groups/{id}/members/all" => {
            let path = request.path.strip_suffix("/all")?.to_owned();
            Some(Request { path, ..request.clone() })
        }
        "/projects/{id}/repository/tags/{tag_name}/release" => release(request),
        "/projects/{id}/labels/{label_id}" | "/groups/{id}/labels/{label_id}" => label(request),
        _ => None,
    }
}

fn label(request: &Request) -> Option<Request> {
    let named = request.fields.iter().any(|(name, _)| name == "name");
    let (labels, _) = request.path.rsplit_once('/').filter(|_| named)?;
    Some(Request { path: labels.to_owned(), ..request.clone() })
}

fn release(request: &Request) -> Option<Request> {
    let (project, rest) = request.path.split_once("/repository/tags/")?;
    let tag = rest.strip_suffix("/release")?;
    let mut request = request.clone();
    if request.method == "POST" {
        request.path = format!("{project}/releases");
        request.fields.push(("tag_name".into(), decode(tag)));
    } else {
        request.path = format!("{project}/releases/{tag}");
    }
    Some(request)
}
