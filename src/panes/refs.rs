//! Branches and tags of a project as things to choose.

use super::list::age;
use crate::api::Id;
use crate::api::branches::ListBranches;
use crate::api::tags::ListTags;
use crate::app::action::Action;
use crate::app::overlay::picker::{Item, Picker, Source};
use crate::app::pane::View;
use crate::store::{Load, Want};
use crate::ui::glyph;
use std::time::Duration;

/// How many pages of tags are listed: servers do not search among them.
const TAG_PAGES: u32 = 3;

/// Where refs come from: the server searches among branches while one types.
pub struct Refs {
    project: Id,
}

impl Refs {
    /// A picker of refs; the name that is chosen answers the pane under `tag`.
    pub fn pick(title: &str, tag: &'static str, project: &Id, view: &View) -> Action {
        let source = Box::new(Refs { project: project.clone() });
        Action::Open(Box::new(Picker::of(title, tag, source, view)))
    }

    fn branches(&self, typed: &str) -> ListBranches {
        let typed = typed.trim();
        ListBranches { id: self.project.clone(), search: Some(typed.to_owned()).filter(|t| !t.is_empty()) }
    }

    fn tags(&self) -> ListTags {
        ListTags { id: self.project.clone(), order_by: None, sort: None }
    }
}

impl Source for Refs {
    fn wants(&self, _view: &View, typed: &str) -> Vec<Want> {
        vec![
            Load::list(&self.branches(""), 1).into(),
            Load::list(&self.branches(typed), 1).after(Duration::from_millis(120)).into(),
            Load::list(&self.tags(), TAG_PAGES).into(),
        ]
    }

    fn items(&self, view: &View, typed: &str) -> Vec<Item> {
        let mut items = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for list in [self.branches(""), self.branches(typed)] {
            for branch in view.store.list(&list).iter() {
                if seen.insert(branch.name.as_str()) {
                    let when = branch.commit.as_ref().and_then(|c| c.when());
                    let name = branch.name.as_str();
                    items.push(Item::answer(name, name).note(format!("{} {}", glyph::branch(), age(view, when))));
                }
            }
        }
        for tag in view.store.list(&self.tags()).iter() {
            let when = tag.commit.as_ref().and_then(|c| c.when());
            items.push(Item::answer(tag.name.as_str(), tag.name.as_str()).note(format!("tag {}", age(view, when))));
        }
        items
    }

    fn loading(&self, view: &View, typed: &str) -> bool {
        view.store.list(&self.branches(typed)).loading || view.store.list(&self.tags()).loading
    }
}
