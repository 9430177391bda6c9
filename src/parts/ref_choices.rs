//! Branches and tags of a project as choices of a picker.

use super::dates::age;
use crate::api::branches::ListBranches;
use crate::api::tags::ListTags;
use crate::api::{GitRef, Id};
use crate::app::action::Action;
use crate::app::context::Cx;
use crate::app::overlay::picker::{Item, NameAction, Picker, Source};
use crate::app::view::View;
use crate::store::{Load, Want};
use crate::ui::glyph;
use std::rc::Rc;
use std::time::Duration;

/// The number of pages of tags that are listed. The specification has no search for tags, so what is typed filters only
/// these.
const MAX_TAG_PAGES: u32 = 3;

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

/// The source of a ref picker. The server searches the branches for the typed text.
pub struct Refs {
    project: Id,
    action: NameAction,
}

impl Refs {
    /// Opens a picker of refs. `action` returns the action for a name: the full one of a listed ref, or what was typed.
    /// A commit SHA can only be typed.
    pub fn pick(title: &str, project: &Id, cx: &mut Cx, action: impl Fn(&str) -> Action + 'static) {
        let action: NameAction = Rc::new(action);
        let source = Box::new(Refs { project: project.clone(), action: action.clone() });
        let picker = Picker::of(title, source, &cx.view)
            .free(move |name| action(name), "a branch, a tag, or the SHA of a commit");
        cx.open(picker);
    }

    /// Opens a picker of refs, and continues with the chosen one in the current pane.
    pub fn ask<P: 'static>(
        title: &str,
        project: &Id,
        cx: &mut Cx,
        then: impl Fn(&mut P, GitRef, &mut Cx) + Clone + 'static,
    ) {
        let here = cx.here;
        Refs::pick(title, project, cx, move |name| {
            let (then, name) = (then.clone(), GitRef::from(name));
            here.then(move |pane, cx| then(pane, name, cx))
        });
    }

    fn branches(&self, typed: &str) -> ListBranches {
        let typed = typed.trim();
        ListBranches { id: self.project.clone(), search: Some(typed.to_owned()).filter(|t| !t.is_empty()) }
    }

    fn tags(&self) -> ListTags {
        ListTags { id: self.project.clone(), ..ListTags::default() }
    }
}

impl Source for Refs {
    fn wants(&self, _view: &View, typed: &str) -> Vec<Want> {
        vec![
            Load::list(&self.branches(""), 1).into(),
            Load::list(&self.branches(typed), 1).after(Duration::from_millis(120)).into(),
            Load::list(&self.tags(), MAX_TAG_PAGES).into(),
        ]
    }

    fn items(&self, view: &View, typed: &str) -> Vec<Item> {
        let mut items = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for list in [self.branches(""), self.branches(typed)] {
            for branch in view.store.list(&list).iter() {
                if seen.insert(branch.name.as_str()) {
                    let when = branch.commit.as_ref().and_then(|c| c.date());
                    let action = (self.action)(GitRef::branch(&branch.name).as_str());
                    let note = format!("{} {}", glyph::branch(), age(view, when));
                    items.push(Item::act(branch.name.as_str(), action).note(note));
                }
            }
        }
        for tag in view.store.list(&self.tags()).iter() {
            let when = tag.commit.as_ref().and_then(|c| c.date());
            let action = (self.action)(GitRef::tag(&tag.name).as_str());
            items.push(Item::act(tag.name.as_str(), action).note(format!("tag {}", age(view, when))));
        }
        items
    }
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
