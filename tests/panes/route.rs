//! Routes of web addresses: the places that they open.

use labscope::app::place::Place;
use labscope::app::registry::places;
use labscope::app::route::*;
use labscope::panes::PANES;

#[test]
fn slots_of_routes_are_fields_of_places() {
    for route in PANES.iter().flat_map(|entry| entry.place.routes) {
        let pattern = route.strip_prefix(PROJECT).unwrap_or(route);
        for slot in pattern.split('{').skip(1).filter_map(|rest| rest.split('}').next()) {
            let value = if slot.contains("number") || slot == "line" { "7" } else { "word" };
            assert!(fill(Place::default(), slot, value.into()).is_some(), "{route}: {{{slot}}}");
        }
    }
}

#[test]
fn the_most_specific_pattern_wins() {
    let read = |path| in_project(&places(PANES), &Address { path, query: "state=all", fragment: None }).map(|p| p.pane);
    assert_eq!(read("merge_requests/12"), Some("mr".into()));
    assert_eq!(read("merge_requests/new"), Some("mrs".into()));
    assert_eq!(read("jobs/12/artifacts/browse/a"), Some("artifacts".into()));
    assert_eq!(read("jobs/12/raw"), Some("job".into()));
}
