//! Choosing a branch or tag of a project, and the rules of their names.

use crate::api::{GitRef, Id};
use crate::app::complete::Complete;
use crate::app::context::Cx;
use crate::app::overlay::value_picker::ValuePicker;

/// Returns why a name is not a valid name of a branch or tag (git-check-ref-format), or `None` if it is.
pub fn invalid_reason(name: &str) -> Option<&'static str> {
    let bad = |c: char| c.is_control() || " ~^:?*[\\".contains(c);
    match name {
        "" => Some("it is empty"),
        _ if name.chars().any(bad) => Some("spaces and ~ ^ : ? * [ \\ are not allowed"),
        _ if name.contains("..") || name.contains("@{") || name == "@" => Some(".. and @{ have a special meaning"),
        _ if name.starts_with('-') => Some("it begins with a dash"),
        _ if name.ends_with('.') => Some("it ends with a dot"),
        _ if name.split('/').any(|part| part.is_empty() || part.starts_with('.')) => {
            Some("a part of it is empty or begins with a dot")
        }
        _ if name.split('/').any(|part| part.ends_with(".lock")) => Some("a part of it ends with .lock"),
        _ => None,
    }
}

/// Opens a picker of branches and tags, of which `current` is shown now, and continues with the chosen one in the current
/// pane. The SHA of a commit can be typed.
pub fn ask_ref<P: 'static>(
    title: &str,
    project: &Id,
    current: Option<&GitRef>,
    cx: &mut Cx,
    then: impl Fn(&mut P, GitRef, &mut Cx) + Clone + 'static,
) {
    let here = cx.here;
    let current = current.map(|current| current.short().to_owned());
    let picker = ValuePicker::new(title, Complete::Refs(project.clone()), current, &cx.view, move |name| {
        let (then, name) = (then.clone(), GitRef::from(name));
        here.then(move |pane, cx| then(pane, name, cx))
    });
    cx.open(picker.hinting("Type to filter, or the SHA of a commit"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_invalid_in_git_are_rejected() {
        for name in ["main", "feature/rows", "v1.2", "a@b"] {
            assert_eq!(invalid_reason(name), None, "{name}");
        }
        for name in [
            "", "a b", "a..b", "-a", "a.lock", "a.lock/b", "a//b", "/a", "a/", ".a", "a/.b", "@", "a@{1}", "a\\b", "a.",
        ] {
            assert!(invalid_reason(name).is_some(), "{name}");
        }
    }
}
