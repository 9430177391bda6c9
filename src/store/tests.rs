//! Tests of the store.

use super::resource::MAX_EMPTY_PAGES;
use super::*;
use api::Fault;
use api::branches::{Branch, CreateBranch, ListBranches};
use api::page::NextPage;
use api::tags::{CreateTag, ListTags};
use std::time::Duration;

struct Heavy(usize);

impl Derive for Heavy {
    type Output = usize;
    fn key(&self) -> String {
        format!("heavy {}", self.0)
    }
    fn run(&self, _: Canceled<'_>) -> usize {
        self.0
    }
    fn weight(&self, _: &usize) -> usize {
        MAX_RESULT_BYTES / 8
    }
}

#[test]
fn results_are_evicted_by_weight() {
    let mut store = Store::default();
    for number in 0..40 {
        let work = Work::new(Heavy(number));
        store.record_result(work.key.clone(), (work.run)(&|| false));
        store.turn();
        assert!(
            store.results.values().map(|known| known.result.weight).sum::<usize>() <= MAX_RESULT_BYTES,
            "after {number}"
        );
    }
    assert_eq!(store.result::<usize>("heavy 39"), Some(&39), "the latest stays");
    assert!(store.is_result_missing("heavy 0"));
}

#[test]
fn a_preview_is_shown_until_the_result_is_there() {
    let mut store = Store::default();
    let result = |number: usize| WorkResult::from(Arc::new(number) as Value);
    store.record_preview("text".into(), result(1));
    assert_eq!((store.result::<usize>("text"), store.is_result_missing("text")), (Some(&1), true));
    store.record_result("text".into(), result(2));
    assert_eq!((store.result::<usize>("text"), store.is_result_missing("text")), (Some(&2), false));
}

#[test]
fn failures_are_bounded() {
    let mut store = Store::default();
    (0..10 * MAX_FAILURES).for_each(|number| store.record_work_error(format!("work {number}")));
    assert!(
        store.failed_work.len() <= MAX_FAILURES && !store.is_result_missing(&format!("work {}", 10 * MAX_FAILURES - 1))
    );
}

fn rows(names: &[&str], next: Option<u32>) -> ParsedReply {
    let rows: Vec<Branch> = names.iter().map(|n| Branch { name: (*n).to_string(), ..Branch::default() }).collect();
    ParsedReply {
        digest: digest(names.join(" ").as_bytes()),
        size: names.len(),
        next: next.map(NextPage::Number),
        ..ParsedReply::new(rows.len(), Arc::new(rows))
    }
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).expect("a second of the test's clock")
}

#[test]
fn pages_are_chained_and_requested_in_order() {
    let list = ListBranches { id: "1".into(), search: None };
    let load = Load::list(&list, 3);
    let mut store = Store::default();
    assert_eq!(store.due(&load, at(0)).0, Some(1));
    store.record_reply(&load.request, 1, Ok(rows(&["a", "b"], Some(2))), at(0));
    assert_eq!(store.due(&load, at(0)).0, Some(2));
    store.record_reply(&load.request, 2, Ok(rows(&["c"], None)), at(0));
    assert_eq!(store.due(&load, at(0)).0, None);
    let known = store.list(&list);
    let names: Vec<_> = (0..known.len()).filter_map(|i| known.get(i)).map(|b| b.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    assert!(known.get(3).is_none());
    assert!(!known.has_more);
}

#[test]
fn a_list_ends_where_a_page_that_may_exist_does_not() {
    let list = ListBranches { id: "1".into(), search: None };
    let load = Load::list(&list, 2);
    let possible = |names| ParsedReply { next: Some(NextPage::Possible { page: 2 }), ..rows(names, None) };
    for further in [possible(&["a", "b"]), rows(&[], None)] {
        let mut store = Store::default();
        store.record_reply(&load.request, 1, Ok(possible(&["a", "b"])), at(0));
        assert!(store.list(&list).has_more, "the list says 2+");
        assert_eq!(store.due(&load, at(0)).0, Some(2));
        store.record_reply(&load.request, 2, Ok(further), at(0));
        let rows = store.list(&list);
        assert_eq!((rows.len(), rows.has_more, rows.cut), (2, false, None));
        assert!(!store.has_more(&[load.clone().into()]));
        assert_eq!(store.due(&load, at(0)).0, None);
    }
}

/// Answers everything that is due for `load` with the pages that `page` returns, and returns the number of requests.
fn answer_all(store: &mut Store, load: &Load, page: impl Fn(u32) -> ParsedReply) -> u32 {
    let mut count = 0;
    while let Some(number) = store.due(load, at(0)).0 {
        count += 1;
        assert!(count <= 10_000, "it never ends");
        store.record_reply(&load.request, number, Ok(page(number)), at(0));
    }
    count
}

fn endless() -> (Store, ListBranches, Load) {
    let list = ListBranches { id: "1".into(), search: None };
    let load = Load::list(&list, u32::MAX);
    (Store::default(), list, load)
}

#[test]
fn a_list_grows_by_a_bounded_number_of_pages_between_two_actions() {
    let (mut store, list, load) = endless();
    let page = |number: u32| rows(&[&format!("branch-{number}")], Some(number + 1));
    let count = answer_all(&mut store, &load, page);
    assert_eq!(count, want::MAX_UNASKED_PAGES);
    let known = store.list(&list);
    assert_eq!((known.has_more, known.cut, known.has_next(u32::MAX)), (true, Some(Cut::Paused), false));
    store.record_action();
    assert_eq!(store.list(&list).cut, None);
    assert_eq!(answer_all(&mut store, &load, page), want::MAX_UNASKED_PAGES);
    // Refreshing is not growing.
    store.refresh(&[load.clone().into()]);
    assert_eq!(answer_all(&mut store, &load, page), 2 * want::MAX_UNASKED_PAGES);
    assert_eq!(store.list(&list).pages(), 2 * want::MAX_UNASKED_PAGES);
}

#[test]
fn a_list_without_page_numbers_follows_the_links_in_order() {
    let list = ListBranches { id: "1".into(), search: Some("x".into()) };
    let load = Load::list(&list, u32::MAX).concurrency(4);
    let link = |token: u32| Some(NextPage::Query(format!("search=other&page_token={token}&page=1&per_page=20")));
    let page = |number: u32, next| ParsedReply { next, ..rows(&[&format!("branch-{number}")], None) };
    let mut store = Store::default();
    store.record_reply(&load.request, 1, Ok(page(1, link(1))), at(0));
    assert_eq!((store.list(&list).has_more, store.due(&load, at(0)).0), (true, Some(2)));
    let line = "GET /projects/1/repository/branches?search=x&page_token=1&per_page=100";
    assert_eq!(load.page(2, store.link_to(&load.request, 2).map(String::as_str)).line(), line);
    store.set_loading(&TaskKey::Load(load.request.clone(), 2), true);
    assert_eq!(store.due(&load, at(0)).0, None, "the link to the third page is on the second");
    store.record_reply(&load.request, 2, Ok(page(2, None)), at(0));
    assert_eq!((store.list(&list).len(), store.list(&list).has_more), (2, false));
    let revision = store.list(&list).revision;
    store.record_reply(&load.request, 1, Ok(page(1, link(7))), at(1));
    assert_eq!(store.list(&list).revision, revision, "another link to the same page is no change");
    assert_eq!(store.link_to(&load.request, 2), Some(&"search=other&page_token=7&page=1&per_page=20".to_owned()));
    // A server whose links lead back or nowhere is not followed for ever.
    let mut store = Store::default();
    assert_eq!(answer_all(&mut store, &load, |number| page(number % 3, link(number))), 4);
    assert_eq!(store.list(&list).cut, Some(Cut::Repeats));
}

#[test]
fn a_list_ends_where_pages_repeat_or_stay_empty() {
    let (mut store, list, load) = endless();
    let cycle = |number: u32| rows(&[["a", "b", "c"][number as usize % 3]], Some(number + 1));
    assert_eq!(answer_all(&mut store, &load, cycle), 4);
    let known = store.list(&list);
    let names: Vec<&str> = known.iter().map(|branch| branch.name.as_str()).collect();
    assert_eq!((names, known.cut), (vec!["b", "c", "a"], Some(Cut::Repeats)));
    // Rows that moved to the next page between two requests look like a repeated page, until they are refreshed.
    store.refresh(&[load.clone().into()]);
    answer_all(&mut store, &load, |number| {
        rows(&[["d", "b", "c"][number as usize % 3]], (number < 3).then_some(number + 1))
    });
    assert_eq!((store.list(&list).len(), store.list(&list).cut), (3, None));
    let (mut store, list, load) = endless();
    let empty = |number: u32| rows(if number == 1 { &["a"] } else { &[] }, Some(number + 1));
    assert_eq!(answer_all(&mut store, &load, empty), 1 + MAX_EMPTY_PAGES as u32);
    assert_eq!((store.list(&list).len(), store.list(&list).cut), (1, Some(Cut::Repeats)));
}

#[test]
fn rows_that_move_between_pages_are_shown_once_and_read_again() {
    let list = ListBranches { id: "1".into(), search: None };
    let load = Load::list(&list, 3);
    let page = |names: &[&str], next: Option<u32>, total: Option<u64>| {
        let ids = names.iter().map(|name| u64::from(name.as_bytes()[0])).collect();
        ParsedReply { ids, total, ..rows(names, next) }
    };
    let names = |store: &Store| store.list(&list).iter().map(|branch| branch.name.clone()).collect::<Vec<_>>();
    let mut store = Store::default();
    store.record_reply(&load.request, 1, Ok(page(&["d", "c"], Some(2), None)), at(0));
    // A row was added above: the last row of the first page is the first of the second one, too.
    store.record_reply(&load.request, 2, Ok(page(&["c", "b"], Some(3), None)), at(1));
    assert_eq!(names(&store), ["d", "c", "b"]);
    assert_eq!(store.list(&list).get(2).map(|branch| branch.name.as_str()), Some("b"));
    assert_eq!(store.due(&load, at(1)).0, Some(1), "the first page misses the new row");
    store.record_reply(&load.request, 1, Ok(page(&["e", "d"], Some(2), None)), at(2));
    assert_eq!(names(&store), ["e", "d", "c", "b"]);
    assert_eq!(store.due(&load, at(2)).0, Some(3));
    // A row was deleted, so one is missing between the pages: only the number of rows tells.
    store.record_reply(&load.request, 1, Ok(page(&["e", "d"], Some(2), Some(5))), at(20));
    store.record_reply(&load.request, 2, Ok(page(&["c", "b"], Some(3), Some(5))), at(20));
    assert_eq!(store.due(&load, at(20)).0, Some(3));
    store.record_reply(&load.request, 3, Ok(page(&[], None, Some(4))), at(31));
    assert_eq!(store.due(&load, at(31)).0, Some(1));
    store.record_reply(&load.request, 1, Ok(page(&["e", "c"], Some(2), Some(4))), at(32));
    store.record_reply(&load.request, 2, Ok(page(&["b", "a"], None, Some(4))), at(32));
    assert_eq!((names(&store), store.due(&load, at(32)).0), (["e", "c", "b", "a"].map(str::to_owned).to_vec(), None));
    // A list that changes with each request is not followed.
    for (second, total) in [(50, 6), (51, 7), (52, 8)] {
        store.record_reply(&load.request, 1, Ok(page(&["e", "c"], Some(2), Some(total))), at(second));
    }
    store.record_reply(&load.request, 2, Ok(page(&["b", "a"], None, Some(9))), at(53));
    assert_eq!(store.due(&load, at(53)).0, None);
    // Rows of trees have no number of their own.
    assert_eq!(row_ids(br#"[{"id": "a1", "path": "a"}, {"id": "a1", "path": "b"}]"#, 2), [0; 0]);
    assert_eq!(row_ids(br#"[{"id": 7, "iid": 1}, {"id": 9}]"#, 2), [7, 9]);
}

#[test]
fn a_list_ends_when_it_is_too_large() {
    let (mut store, list, load) = endless();
    let page = |number: u32| ParsedReply {
        size: load.max_bytes / 4,
        ..rows(&[&format!("branch-{number}")], Some(number + 1))
    };
    assert_eq!(answer_all(&mut store, &load, page), 4);
    assert_eq!(store.list(&list).cut, Some(Cut::Size));
    store.record_action();
    assert_eq!(answer_all(&mut store, &load, page), 0, "no key loads more");
    // All lists together are bounded, too.
    for id in 2..20_u64 {
        let load = Load::list(&ListBranches { id: id.into(), search: None }, u32::MAX);
        answer_all(&mut store, &load, page);
    }
    assert!(store.reply_bytes() < MAX_REPLY_BYTES + 20 * load.max_bytes / 4, "{}", store.reply_bytes());
}

#[test]
fn many_small_objects_weigh_more_than_their_text() {
    let load = Load::list(&ListBranches { id: "1".into(), search: None }, 1);
    let body = format!("[{}{{}}]", "{},".repeat(50_000));
    let (value, _) = (load.read)(body.as_bytes(), None).expect("a list");
    assert!(load.weigh(body.as_bytes(), Some("application/json"), &value) > 10 << 20);
    assert_eq!(load.weigh(body.as_bytes(), Some("text/plain"), &value), body.len());
}

#[test]
fn revisions_are_unique_and_detect_appends() {
    let list = |search: &str| ListBranches { id: "1".into(), search: Some(search.into()) };
    let mut store = Store::default();
    store.record_reply(&list("a").request(), 1, Ok(rows(&["a"], Some(2))), at(0));
    store.record_reply(&list("b").request(), 1, Ok(rows(&["b"], None)), at(0));
    let first = store.list(&list("a")).revision;
    assert_ne!(first, store.list(&list("b")).revision);
    store.record_reply(&list("a").request(), 2, Ok(rows(&["c"], None)), at(0));
    assert_ne!(store.list(&list("a")).revision, first);
    assert!(store.list(&list("a")).extends(first), "a second page leaves the first rows as they were");
    store.record_reply(&list("a").request(), 1, Ok(rows(&["x"], Some(2))), at(0));
    assert!(!store.list(&list("a")).extends(first), "another first page is another list");
}

#[test]
fn derived_values_require_their_revision() {
    let list = |search: &str| ListBranches { id: "1".into(), search: Some(search.into()) };
    let mut store = Store::default();
    store.record_reply(&list("a").request(), 1, Ok(rows(&["a"], None)), at(0));
    store.record_reply(&list("b").request(), 1, Ok(rows(&["b"], None)), at(0));
    let (a, b) = (store.list(&list("a")).revision, store.list(&list("b")).revision);
    let mut order = Derived::default();
    assert!(order.update(a, "name", || vec![0]));
    assert!(!order.update(a, "name", || vec![9]), "it is made once");
    assert_eq!((order.get(a), order.get(b)), (Some(&vec![0]), None));
    assert!(order.update(a, "age", || vec![1]) && order.update(b, "age", || vec![2]));
    assert_eq!((order.get(a), order.get(b)), (None, Some(&vec![2])));
}

#[test]
fn writes_make_touched_replies_stale_and_keep_their_rows() {
    let list = ListBranches { id: "1".into(), search: None };
    let load = Load::list(&list, 1);
    let mut store = Store::default();
    store.record_reply(&load.request, 1, Ok(rows(&["a"], None)), at(0));
    store.invalidate(&Write::new(&CreateBranch { id: "1".into(), ..Default::default() }, "create"));
    assert_eq!(store.due(&load, at(0)).0, Some(1));
    assert_eq!(store.list(&list).len(), 1);
}

#[test]
fn temporary_errors_are_retried_and_denials_are_not() {
    let list = ListBranches { id: "1".into(), search: None };
    let load = Load::list(&list, 1);
    let mut store = Store::default();
    let error = |fault| Error { tried: "GET /x".into(), fault };
    store.record_reply(&load.request, 1, Err(error(Fault::Offline("gone".into()))), at(0));
    assert_eq!(store.due(&load, at(1)), (None, Some(at(10))));
    assert_eq!(store.due(&load, at(10)).0, Some(1));
    assert!(store.unreachable().is_some());
    store.record_reply(&load.request, 1, Err(error(Fault::Denied("no".into()))), at(11));
    assert_eq!(store.due(&load, at(1000)), (None, None));
    assert!(store.unreachable().is_none());
}

#[test]
fn errors_change_the_generation() {
    let list = ListBranches { id: "1".into(), search: None };
    let mut store = Store::default();
    let mut is_news = |outcome| {
        let (before, revision) = (store.generation(), store.list(&list).revision);
        store.record_reply(&list.request(), 1, outcome, at(0));
        (store.generation() != before, store.list(&list).revision != revision)
    };
    let error = || Err(Error { tried: "GET /x".into(), fault: Fault::Offline("gone".into()) });
    assert_eq!(is_news(Ok(rows(&["a"], None))), (true, true));
    assert_eq!(is_news(Ok(rows(&["a"], None))), (false, false), "the same rows again");
    assert_eq!(is_news(error()), (true, false), "the rows stay");
    assert_eq!(is_news(Ok(rows(&["a"], None))), (true, false));
}

#[test]
fn a_requested_pause_is_respected() {
    let load = Load::list(&ListBranches { id: "1".into(), search: None }, 1);
    let mut store = Store::default();
    let fault = Fault::Limited(SERVER, Some(Duration::from_secs(600)));
    store.record_reply(&load.request, 1, Err(Error { tried: "GET /x".into(), fault }), at(0));
    assert_eq!(store.due(&load, at(10)), (None, Some(at(600))));
    assert_eq!(store.due(&load, at(600)).0, Some(1));
}

#[test]
fn local_refusals_do_not_change_reachability() {
    let mut store = Store::default();
    let error = |fault| Error { tried: "POST /x".into(), fault };
    store.record_reachability("/x", Some(&error(Fault::Offline("gone".into()))), at(0));
    store.record_reachability("/x", Some(&error(Fault::ReadOnly)), at(1));
    assert!(store.unreachable().is_some() && store.last_contact().is_none());
}

#[test]
fn all_pages_of_a_server_with_small_pages_are_requested() {
    let load = Load::list(&ListBranches { id: "1".into(), search: None }, 9);
    let mut store = Store::default();
    for page in 1..=3 {
        assert_eq!(store.due(&load, at(0)).0, Some(page));
        let names = [format!("a{page}"), format!("b{page}")];
        let rows = rows(&[&names[0], &names[1]], (page < 3).then_some(page + 1));
        let rows = ParsedReply { total: Some(6), ..rows };
        store.record_reply(&load.request, page, Ok(rows), at(0));
    }
    assert_eq!(store.due(&load, at(0)).0, None);
}

#[test]
fn used_entries_are_not_evicted() {
    let load = |n: usize| Load::list(&ListBranches { id: n.to_string().into(), search: None }, 1);
    let mut store = Store::default();
    for n in 0..3 * MAX_ENTRIES {
        store.record_reply(&load(n).request, 1, Ok(rows(&["a"], None)), at(0));
    }
    let looked_at = |store: &Store| {
        let all = (MAX_ENTRIES..3 * MAX_ENTRIES)
            .map(|n| store.list(&ListBranches { id: n.to_string().into(), search: None }));
        all.filter(|rows| rows.is_loaded).count()
    };
    for _ in 0..3 {
        assert_eq!(looked_at(&store), 2 * MAX_ENTRIES);
        store.turn();
    }
    assert!(!store.list(&ListBranches { id: "0".into(), search: None }).is_loaded);
}

#[test]
fn large_unused_entries_are_evicted() {
    let list = |n: usize| ListBranches { id: n.to_string().into(), search: None };
    let mut store = Store::default();
    for n in 0..4 {
        let large = ParsedReply { size: MAX_REPLY_BYTES / 3, ..rows(&["a"], None) };
        store.record_reply(&Load::list(&list(n), 1).request, 1, Ok(large), at(0));
        store.turn();
    }
    let known: Vec<bool> = (0..4).map(|n| store.list(&list(n)).is_loaded).collect();
    assert_eq!(known, [false, false, false, true], "half the room stays free for what comes");
}

#[test]
fn old_replies_are_refreshed_and_identical_ones_keep_the_revision() {
    let list = ListBranches { id: "1".into(), search: None };
    let load = Load::list(&list, 1);
    let mut store = Store::default();
    store.record_reply(&load.request, 1, Ok(rows(&["a"], None)), at(0));
    store.invalidate_older(&[load.clone().into()], at(0));
    assert_eq!(store.due(&load, at(1)).0, None);
    store.invalidate_older(&[load.clone().into()], at(1));
    assert_eq!(store.due(&load, at(1)).0, Some(1));
    let revision = store.list(&list).revision;
    store.record_reply(&load.request, 1, Ok(rows(&["a"], None)), at(2));
    let known = store.list(&list);
    assert_eq!((known.revision, known.since, known.at), (revision, Some(at(0)), Some(at(2))));
    store.record_reply(&load.request, 1, Ok(rows(&["b"], None)), at(3));
    assert_eq!(store.list(&list).since, Some(at(3)));
    assert_ne!(store.list(&list).revision, revision);
}

#[test]
fn polled_replies_become_due() {
    let list = ListBranches { id: "1".into(), search: None };
    let load = Load::list(&list, 1).refresh_after(Duration::from_secs(3));
    let mut store = Store::default();
    store.record_reply(&load.request, 1, Ok(rows(&["a"], None)), at(0));
    assert_eq!(store.due(&load, at(1)), (None, Some(at(3))));
    assert_eq!(store.due(&load, at(3)).0, Some(1));
}

#[test]
fn writes_invalidate_requests_in_flight() {
    let list = ListBranches { id: "1".into(), search: None };
    let load = Load::list(&list, 1);
    let mut store = Store::default();
    store.set_loading(&TaskKey::Load(load.request.clone(), 1), true);
    store.invalidate(&Write::new(&CreateBranch { id: "1".into(), ..Default::default() }, "create"));
    store.record_reply(&load.request, 1, Ok(rows(&["a"], None)), at(0));
    assert!(!store.is_fresh(&load.request) && !store.list(&list).is_settled(1), "it may be older than the change");
    assert_eq!(store.due(&load, at(0)).0, Some(1));
    store.record_reply(&load.request, 1, Ok(rows(&["a"], None)), at(0));
    assert!(store.is_fresh(&load.request) && store.list(&list).is_settled(1));
    store.invalidate(&Write::new(&CreateTag { id: "1".into(), ..Default::default() }, "create"));
    assert_eq!(store.due(&load, at(0)).0, None, "another topic says nothing of it");
}

#[test]
fn a_shorter_list_drops_old_rows() {
    let list = ListBranches { id: "1".into(), search: None };
    let load = Load::list(&list, 3);
    let mut store = Store::default();
    for (page, name) in [(1, "a"), (2, "b"), (3, "c")] {
        store.record_reply(&load.request, page, Ok(rows(&[name], (page < 3).then_some(page + 1))), at(0));
    }
    let before = store.list(&list).revision;
    assert_eq!((store.list(&list).len(), store.list(&list).has_more), (3, false));
    store.record_reply(&load.request, 2, Ok(rows(&["b"], None)), at(1));
    let known = store.list(&list);
    assert_eq!((known.len(), known.has_more, known.get(2).is_none()), (2, false, true));
    assert!(!known.extends(before), "what was derived from three rows is not of these");
    assert_eq!(store.due(&load, at(1)).0, None);
}

#[test]
fn concurrent_pages_stay_within_the_total() {
    let load = Load::list(&ListBranches { id: "1".into(), search: None }, 9).concurrency(2);
    let mut store = Store::default();
    let many = vec!["a"; PER_PAGE as usize];
    store.record_reply(&load.request, 1, Ok(ParsedReply { total: Some(500), ..rows(&many, Some(2)) }), at(0));
    for page in [2, 3] {
        assert_eq!(store.due(&load, at(0)).0, Some(page));
        store.set_loading(&TaskKey::Load(load.request.clone(), page), true);
    }
    assert_eq!(store.due(&load, at(0)).0, None, "two are on their way");
    for page in 2..=5 {
        store.record_reply(&load.request, page, Ok(rows(&many, Some(page + 1))), at(0));
    }
    assert_eq!(store.due(&load, at(0)).0, None, "five pages hold all that the server counts");
}

#[test]
fn failed_refresh_marks_replies_outdated() {
    let list = ListBranches { id: "1".into(), search: None };
    let load = Load::list(&list, 1);
    let wants = [Want::from(load.clone())];
    let mut store = Store::default();
    let error = || Err(Error { tried: "GET /x".into(), fault: Fault::Offline("gone".into()) });
    store.record_reply(&load.request, 1, error(), at(0));
    assert!(!store.freshness(&wants).is_outdated, "nothing is shown that could be old");
    store.record_reply(&load.request, 1, Ok(rows(&["a"], None)), at(1));
    assert_eq!((store.freshness(&wants).is_outdated, store.last_contact()), (false, Some(at(1))));
    store.record_reply(&load.request, 1, error(), at(2));
    let expected = Freshness { oldest: Some(at(1)), is_outdated: true, has_failed: true };
    assert_eq!((store.freshness(&wants), store.last_contact()), (expected, Some(at(1))));
}

#[test]
fn unsupported_routes_are_not_requested_until_refresh() {
    let list = |id: &str| ListBranches { id: id.into(), search: None };
    let (load, other) = (Load::list(&list("1"), 1), Load::list(&list("2"), 1));
    let mut store = Store::default();
    assert!(!store.fail_unasked(&other.request, 1, at(0)));
    let fault = Fault::Unsupported("404 Not Found".into());
    store.record_reply(&load.request, 1, Err(Error { tried: "GET /x".into(), fault }), at(0));
    assert!(store.is_unsupported::<ListBranches>() && store.fail_unasked(&other.request, 1, at(0)));
    assert!(store.error_of(&other.request).is_some());
    store.refresh(&[other.clone().into()]);
    assert!(!store.is_unsupported::<ListBranches>() && !store.fail_unasked(&other.request, 1, at(0)));
    assert_eq!(store.due(&other, at(0)).0, Some(1));
}

#[test]
fn every_request_keeps_the_pause_that_the_server_asked_for() {
    let list = |id: &str| Load::list(&ListBranches { id: id.into(), search: None }, 1);
    let (load, other) = (list("1"), list("2"));
    let mut store = Store::default();
    let fault = Fault::Limited(SERVER, Some(std::time::Duration::from_secs(60)));
    store.record_reply(&load.request, 1, Err(Error { tried: "GET /x".into(), fault }), at(0));
    assert_eq!(store.due(&other, at(10)).0, Some(1));
    assert!(store.fail_unasked(&other.request, 1, at(10)));
    let said = store.error_of(&other.request).map(|error| (error.message(), error.tried.clone()));
    assert_eq!(said, Some(("the server asks to wait 50 s".into(), format!("{}, not sent", other.request.line()))));
    assert_eq!(store.due(&other, at(11)), (None, Some(at(60))));
    assert_eq!(store.due(&other, at(60)).0, Some(1));
    assert!(!store.fail_unasked(&other.request, 1, at(60)));
    // One request tries whether the pause was long enough, also if the user asks for it.
    store.refresh(&[load.clone().into(), other.clone().into()]);
    assert!(!store.fail_unasked(&load.request, 1, at(20)) && store.waits_for_attempt(&load.request, 1));
    store.record_reply(&load.request, 1, Ok(rows(&["a"], None)), at(20));
    assert!(!store.waits_for_attempt(&other.request, 1));
}

#[test]
fn the_limit_of_an_endpoint_stops_only_requests_of_its_route() {
    let list = |id: &str| Load::list(&ListBranches { id: id.into(), search: None }, 1);
    let (load, same, other) =
        (list("1"), list("2"), Load::list(&ListTags { id: "1".into(), ..ListTags::default() }, 1));
    let mut store = Store::default();
    let fault = Fault::Limited(load.request.route, Some(std::time::Duration::from_secs(60)));
    store.record_reply(&load.request, 1, Err(Error { tried: "GET /x".into(), fault }), at(0));
    assert!(store.fail_unasked(&same.request, 1, at(10)) && !store.fail_unasked(&other.request, 1, at(10)));
    assert_eq!(store.time_to_wait(SERVER, at(10)), None);
    assert_eq!(store.due(&load, at(1)), (None, Some(at(60))));
    assert!(!store.fail_unasked(&same.request, 1, at(60)) && !store.waits_for_attempt(&load.request, 1));
}

#[test]
fn all_wait_for_one_attempt_to_reach_the_server_with_growing_pauses() {
    let list = |id: &str| Load::list(&ListBranches { id: id.into(), search: None }, 1);
    let (load, other) = (list("1"), list("2"));
    let mut store = Store::default();
    let gone = || Err(Error { tried: "GET /x".into(), fault: Fault::Offline("gone".into()) });
    store.record_reply(&load.request, 1, gone(), at(0));
    store.record_reply(&other.request, 1, gone(), at(1));
    for (failed, next) in [(11, 31), (31, 71), (71, 151), (151, 311), (311, 471), (471, 631)] {
        assert_eq!(store.due(&other, at(failed)).0, Some(1), "{failed}");
        store.record_reply(&load.request, 1, gone(), at(failed));
        assert_eq!(store.due(&other, at(failed)), (None, Some(at(next))), "{failed}");
    }
    store.record_reply(&load.request, 1, Ok(rows(&["a"], None)), at(600));
    assert_eq!(store.due(&other, at(600)).0, Some(1), "the server is back");
}

#[test]
fn requests_that_the_server_fails_to_answer_wait_for_one_attempt_of_their_route() {
    let list = |id: &str| Load::list(&ListBranches { id: id.into(), search: None }, 1);
    let (load, other, tags) = (list("1"), list("2"), Load::list(&ListTags { id: "1".into(), ..Default::default() }, 1));
    let mut store = Store::default();
    let failed = || Err(Error { tried: "GET /x".into(), fault: Fault::Server(500, "broken".into()) });
    store.record_reply(&load.request, 1, failed(), at(0));
    store.record_reply(&other.request, 1, failed(), at(1));
    assert_eq!(store.due(&load, at(10)), (None, Some(at(11))));
    store.record_reply(&load.request, 1, failed(), at(11));
    // Others are not concerned.
    assert!(store.waits_for_attempt(&other.request, 1) && !store.waits_for_attempt(&tags.request, 1));
    assert_eq!((store.due(&other, at(11)), store.due(&tags, at(11)).0), ((None, Some(at(31))), Some(1)));
    store.record_reply(&tags.request, 1, Ok(rows(&["v1"], None)), at(12));
    assert_eq!(store.due(&other, at(12)), (None, Some(at(31))), "the answer to another request says nothing");
    // The third failure in a row, of any request, is one of the server.
    for (request, now) in [(&load.request, 31), (&other.request, 32), (&tags.request, 33)] {
        store.record_reply(request, 1, failed(), at(now));
    }
    assert_eq!(store.due(&tags, at(43)).0, Some(1));
    assert!(store.waits_for_attempt(&tags.request, 1) && store.unreachable().is_none());
    store.record_reply(&load.request, 1, Ok(rows(&["a"], None)), at(44));
    assert!(store.waits_for_attempt(&tags.request, 1), "its own route failed");
    assert_eq!(store.due(&other, at(44)).0, Some(1));
}

#[test]
fn entries_are_evicted_only_beyond_the_limits() {
    let list = |n: usize| ListBranches { id: n.to_string().into(), search: None };
    let after = |count: usize, size: usize| {
        let mut store = Store::default();
        for n in 0..count {
            let large = ParsedReply { size, ..rows(&["a"], None) };
            store.record_reply(&Load::list(&list(n), 1).request, 1, Ok(large), at(0));
        }
        (0..3).for_each(|_| store.turn());
        (0..count).filter(|n| store.list(&list(*n)).is_loaded).count()
    };
    assert_eq!((after(2, MAX_REPLY_BYTES / 3), after(MAX_ENTRIES, 1)), (2, MAX_ENTRIES));
    assert_eq!(after(2, MAX_REPLY_BYTES / 3 * 2), 0);
}

#[test]
fn failures_do_not_replace_each_other() {
    let mut store = Store::default();
    for number in 0..10 {
        store.record_work_error(format!("work {number}"));
        store.record_range_error(
            format!("parts {number}"),
            Error { tried: String::new(), fault: Fault::Offline("gone".into()) },
        );
    }
    assert!(!store.is_result_missing("work 0") && !store.is_result_missing("work 9"));
    assert!(store.failed("parts 0").is_some() && !store.is_result_missing("parts 9"));
    for number in 0..10 * MAX_FAILURES {
        let error = Error { tried: String::new(), fault: Fault::Offline("gone".into()) };
        store.record_range_error(format!("parts {number}"), error);
    }
    assert!(store.failed.len() <= MAX_FAILURES);
}

#[test]
fn chained_lists_are_known_once_each_has_a_reply_or_an_error() {
    let list = |search: &str| ListBranches { id: "1".into(), search: Some(search.into()) };
    let (a, b) = (list("a"), list("b"));
    let mut store = Store::default();
    let both = |store: &Store| Rows::chain(vec![store.list(&a), store.list(&b)]).is_loaded;
    assert!(!both(&store) && !Rows::<Branch>::chain(Vec::new()).is_loaded, "nothing has answered");
    assert!(!store.knows(&a.request(), 1));
    store.set_loading(&TaskKey::Load(a.request(), 1), true);
    assert!(store.is_loading(&a.request()) && !store.is_loading(&b.request()) && !store.knows(&a.request(), 1));
    store.record_reply(&a.request(), 1, Ok(rows(&["a"], None)), at(0));
    assert!(!both(&store) && store.knows(&a.request(), 1) && !store.knows(&a.request(), 2));
    let denied = Error { tried: "GET /x".into(), fault: Fault::Denied(String::new()) };
    store.record_reply(&b.request(), 1, Err(denied), at(0));
    assert!(both(&store) && store.list(&b).refused().is_some() && store.list(&a).refused().is_none());
    let gone = Error { tried: "GET /x".into(), fault: Fault::Offline("gone".into()) };
    store.record_reply(&b.request(), 1, Err(gone), at(0));
    assert!(store.list(&b).refused().is_none(), "a server that is gone refuses nothing");
}
