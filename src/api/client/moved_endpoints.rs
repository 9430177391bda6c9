//! Alternative paths of operations on older or newer servers.

use crate::api::endpoint::{Request, decode};
use crate::api::error::{Error, Fault};

/// Returns the same call at another path, if the server does not know the path of `request`.
///
/// - Before 15.2, the version is at `GET /version`.
/// - Releases of tags moved from `POST …/tags/:tag/release` to `POST …/releases`; likewise for `PUT`.
/// - Before 12.4, labels are updated at `PUT …/labels`, by name.
/// - Before 11.2, only direct members can be listed, and `all` is parsed as a user ID.
pub(super) fn moved(request: &Request, error: &Error) -> Option<Request> {
    // The message of a missing tag contains its name; some proxies answer an unknown route with a plain 404.
    let no_route = match &error.fault {
        Fault::Unsupported(_) => true,
        Fault::Missing(message) => message == "404 Not Found",
        Fault::Refused(400, message) => message.contains("user_id is invalid"),
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
