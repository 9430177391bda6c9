//! Places above each other, and their names.

use labscope::app::place::Place;
use labscope::app::place_info::*;
use labscope::app::recent::belongs_in_recents;
use labscope::app::registry::places;
use labscope::app::web_pages::{PAGES, WebPage};
use labscope::panes::PANES;

#[test]
fn items_are_below_their_list_and_project() {
    let way = |from: Place| {
        let next = |place: &Place| above(&places(PANES), place);
        std::iter::successors(Some(from), next).map(|place| place.pane).collect::<Vec<_>>()
    };
    assert_eq!(way(Place::new("job").project("a/b").item(7)), ["job", "jobs", "files", "projects"]);
    assert_eq!(way(Place::new("jobs").project("a/b").item(7)), ["jobs", "jobs", "files", "projects"]);
    assert_eq!(way(Place::new("mr").project("a/b").item(7)), ["mr", "mrs", "files", "projects"]);
    assert_eq!(way(Place::new("commit").project("a/b").item("abc")), ["commit", "commits", "files", "projects"]);
    let artifacts = Place::new("artifacts").project("a/b").item(7);
    assert_eq!(way(artifacts.clone()), ["artifacts", "job", "jobs", "files", "projects"]);
    assert_eq!(way(artifacts.at("main")), ["artifacts", "jobs", "files", "projects"]);
    assert_eq!(way(Place::new("groups").group("a")), ["groups", "groups", "projects"]);
    assert_eq!(way(Place::new("home")), ["home"]);
}

#[test]
fn a_missing_project_is_replaced_with_a_group() {
    let way = replacement(&places(PANES), &Place::new("files").project("acme/tools"));
    assert_eq!(way, Some(Place::new("groups").group("acme/tools")));
    let within = way.and_then(|group| replacement(&places(PANES), &group));
    assert_eq!(within, Some(Place::new("groups").group("acme")));
    assert_eq!(within.and_then(|group| replacement(&places(PANES), &group)), Some(Place::new("projects")));
    let page = Place::new("groups").group("acme/tools/page");
    assert_eq!(replacement(&places(PANES), &page), Some(Place::new("files").project("acme/tools")));
    assert_eq!(replacement(&places(PANES), &Place::new("files").project("7")), Some(Place::new("projects")));
    assert_eq!(above(&places(PANES), &Place::new("user").item("ada")), Some(Place::new("users")));
    assert_eq!(replacement(&places(PANES), &Place::new("home")), None);
}

#[test]
fn above_a_file_is_its_folder() {
    let file = Place::new("files").project("a/b").at("main").path("src/x.rs").line(3);
    assert_eq!(above(&places(PANES), &file), Some(Place::new("files").project("a/b").at("main").path("src")));
}

#[test]
fn labels_of_places_are_targets() {
    let called = |place: Place| label(&places(PANES), &place);
    assert_eq!(called(Place::new("mr").project("a/b").item(1)), "a/b!1");
    assert_eq!(called(Place::new("epic").group("a").item(1)), "a&1");
    assert_eq!(called(Place::new("files").project("a/b").at("main").path("x")), "a/b@main:x");
    assert_eq!(called(Place::new("job").project("a/b").item(7)), "a/b job 7");
    assert_eq!(called(Place::new("snippets").project("a/b")), "a/b snippets");
}

#[test]
fn places_named_by_others_exist() {
    for info in places(PANES) {
        if let Above::Place(name) | Above::SameItem(name) = info.above {
            assert!(find(&places(PANES), name).is_some(), "{} lies below {name}", info.id);
        }
    }
}

#[test]
fn items_and_files_are_recent_places_and_lists_are_not() {
    assert!(belongs_in_recents(&places(PANES), &Place::new("mr").project("a/b").item(1)));
    assert!(belongs_in_recents(&places(PANES), &Place::new("files").project("a/b")));
    assert!(!belongs_in_recents(&places(PANES), &Place::new("snippets").project("a/b")));
    assert!(!belongs_in_recents(&places(PANES), &Place::new("projects")));
}

#[test]
fn no_web_page_has_the_name_of_a_place() {
    let is_place = |page: &&WebPage| PANES.iter().any(|entry| entry.place.id == page.name);
    assert_eq!(PAGES.iter().find(is_place).map(|page| page.name), None);
}
