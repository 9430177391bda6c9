//! The form of requests with short names of refs, for servers that do not know full ones.

use crate::endpoint::{Request, decode, encode};
use crate::{GitRef, RefKind};
use serde_json::Value;

/// The inputs that name refs.
const INPUTS: [&str; 5] = ["ref", "ref_name", "sha", "from", "to"];
/// The part of a path after which a ref may stand in place of a SHA.
pub(super) const COMMITS: &str = "/repository/commits/";

/// The form of a request with short names of refs.
#[derive(Clone, Debug)]
pub(super) struct ShortForm {
    /// A ref that the request names by its full name.
    pub git_ref: GitRef,
    /// The fields of the form, if the request has one.
    pub fields: Option<Vec<(String, String)>>,
    /// The JSON body, if the request has one.
    pub json: Option<String>,
}

impl ShortForm {
    /// Returns the short form of a request; `None` if it has no full name of a ref.
    pub fn of(request: &Request) -> Option<ShortForm> {
        let full = |name: &str| Some(GitRef::from(name)).filter(|name| name.kind().is_some());
        let is_ref = |name: &str| INPUTS.contains(&name);
        let in_path = request.path.split_once(COMMITS).and_then(|(_, rest)| full(&decode(rest.split('/').next()?)));
        let in_fields = || request.fields.iter().filter(|(name, _)| is_ref(name)).find_map(|(_, value)| full(value));
        // A body may have many megabytes, so it is parsed only if needed.
        let json = request.json.as_ref().filter(|json| json.contains(r#""ref":"refs/"#));
        let mut json = json.and_then(|json| serde_json::from_str::<Value>(json).ok());
        let in_json = json.as_mut().and_then(|json| json.get_mut("ref")).and_then(|value| {
            let name = full(value.as_str()?)?;
            *value = name.short().into();
            Some(name)
        });
        let fields = || {
            let short = |(name, value): &(String, String)| {
                let short = if is_ref(name) { GitRef::from(value).short().to_owned() } else { value.clone() };
                (name.clone(), short)
            };
            request.fields.iter().map(short).collect::<Vec<_>>()
        };
        let git_ref = in_path.or_else(in_fields).or(in_json)?;
        Some(ShortForm { git_ref, fields: request.form.then(fields), json: json.map(|json| json.to_string()) })
    }
}

/// Returns a target with short names of refs.
pub(super) fn short_target(target: &str) -> String {
    let kinds = [RefKind::Branch, RefKind::Tag].map(|kind| encode(kind.prefix()));
    let short = |name: &str| kinds.iter().find_map(|kind| name.strip_prefix(kind.as_str())).unwrap_or(name).to_owned();
    let (path, query) = target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)));
    let path = match path.split_once(COMMITS) {
        Some((project, rest)) => format!("{project}{COMMITS}{}", short(rest)),
        None => path.to_owned(),
    };
    let pair = |pair: &str| match pair.split_once('=') {
        Some((name, value)) if INPUTS.contains(&name) => format!("{name}={}", short(value)),
        _ => pair.to_owned(),
    };
    match query {
        Some(query) => format!("{path}?{}", query.split('&').map(pair).collect::<Vec<_>>().join("&")),
        None => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Endpoint;
    use crate::branches::CreateBranch;
    use crate::repository::{GetRawFile, ListTree};

    #[test]
    fn only_names_of_refs_are_shortened() {
        for (full, short) in [
            (
                "/projects/a%2Fb/repository/tree?path=refs%2Ftags%2Fx&ref=refs%2Ftags%2Fv1",
                "?path=refs%2Ftags%2Fx&ref=v1",
            ),
            ("/projects/1/repository/compare?from=refs%2Fheads%2Fa%2Fb&to=refs%2Ftags%2Fa", "?from=a%2Fb&to=a"),
            ("/projects/1/repository/commits/refs%2Ftags%2Fv%2F1/statuses?ref=x", "commits/v%2F1/statuses?ref=x"),
            ("/projects/1/repository/archive?sha=0123&format=zip&page=2", "archive?sha=0123&format=zip&page=2"),
        ] {
            assert!(short_target(full).ends_with(short), "{}", short_target(full));
        }
    }

    #[test]
    fn requests_without_full_names_have_no_short_form() {
        let tree = |name: &str| ListTree { id: 1.into(), r#ref: Some(name.into()), ..ListTree::default() };
        assert!(ShortForm::of(&tree("refs/tags/v1").request()).is_some());
        for name in ["v1", "refs/merge-requests/1/head", "tags/v1"] {
            assert!(ShortForm::of(&tree(name).request()).is_none(), "{name}");
        }
        let file = GetRawFile { id: 1.into(), path: "refs/tags/x".into(), r#ref: Some("v1".into()), lfs: None };
        assert!(ShortForm::of(&file.request()).is_none());
        let branch = CreateBranch { id: 1.into(), branch: "refs/tags/x".into(), r#ref: "v1".into() };
        assert!(ShortForm::of(&branch.request()).is_none());
    }
}
