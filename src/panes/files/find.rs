//! Every file of a ref as things to choose, by fuzzy name.

use super::tree;
use crate::api::repository::{EntryKind, ListTree};
use crate::app::action::Action;
use crate::app::overlay::picker::{Item, Picker, Source};
use crate::app::pane::View;
use crate::store::{Load, Want};

/// Pages of the whole tree that are listed: ten thousand entries.
const PAGES: u32 = 100;

/// The whole tree, listed page by page while one types.
struct Everything {
    source: tree::Source,
}

/// A picker of files; the path that is chosen answers the pane under `tag`.
pub fn pick(tag: &'static str, source: &tree::Source, view: &View) -> Action {
    let everything = Box::new(Everything { source: source.clone() });
    Action::Open(Box::new(Picker::of("Find a file", tag, everything, view)))
}

impl Everything {
    fn listing(&self) -> ListTree {
        ListTree { recursive: Some(true), ..self.source.listing("") }
    }
}

impl Source for Everything {
    fn wants(&self, _view: &View, _typed: &str) -> Vec<Want> {
        vec![Load::list(&self.listing(), PAGES).into()]
    }

    fn items(&self, view: &View, _typed: &str) -> Vec<Item> {
        let rows = view.store.list(&self.listing());
        let files = rows.iter().filter(|entry| entry.r#type == EntryKind::Blob);
        files.map(|entry| Item::answer(entry.path.as_str(), entry.path.as_str())).collect()
    }

    fn loading(&self, view: &View, _typed: &str) -> bool {
        let rows = view.store.list(&self.listing());
        rows.loading || rows.more
    }
}
