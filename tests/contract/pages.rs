//! Lists of several pages, on servers that count, servers that do not, and servers that are wrong.

use crate::client::client;
use crate::scripted::{Answer, Asked, Scripted, answer};
use futures::TryStreamExt;
use labscope::api::branches::{Branch, ListBranches};
use labscope::api::projects::ListProjects;
use labscope::api::{Fault, Page};

fn branches() -> ListBranches {
    ListBranches { id: 1_u64.into(), search: None }
}

fn names(pages: &[Page<Vec<Branch>>]) -> Vec<String> {
    pages.iter().flat_map(|page| page.items.iter().map(|b| b.name.clone())).collect()
}

async fn walked(server: &Scripted) -> Vec<String> {
    names(&client(server).all(branches(), 2).try_collect::<Vec<_>>().await.expect("all pages"))
}

#[tokio::test]
async fn a_list_is_read_to_the_end_by_its_headers() {
    let server = Scripted::start([
        answer(200, r#"[{"name":"a"},{"name":"b"}]"#).with("x-next-page", "2").with("x-total", "3"),
        answer(200, r#"[{"name":"c"}]"#).with("link", "<http://elsewhere/x?page=3&per_page=2>; rel=\"next\""),
        answer(200, "[]").with("x-next-page", ""),
    ])
    .await;
    let pages: Vec<_> = client(&server).all(branches(), 2).try_collect().await.expect("all pages");
    assert_eq!(names(&pages), ["a", "b", "c"]);
    assert_eq!(pages[0].info.total, Some(3));
    let lines: Vec<String> = server.asked().into_iter().map(|asked| asked.line).collect();
    assert_eq!(lines[2], "GET /api/v4/projects/1/repository/branches?page=3&per_page=2");
}

#[tokio::test]
async fn a_list_ends_if_the_next_page_is_the_same_page() {
    let server = Scripted::start((0..5).map(|_| answer(200, "[]").with("x-next-page", "1"))).await;
    let pages: Vec<_> = client(&server).all(ListProjects::default(), 20).try_collect().await.expect("one page");
    assert_eq!(pages.len(), 1);
}

#[tokio::test]
async fn an_empty_page_ends_a_list() {
    let server = Scripted::start((0..5).map(|_| answer(200, "[\n ]\n").with("x-next-page", "2"))).await;
    assert!(walked(&server).await.is_empty());
    assert_eq!(server.asked().len(), 1, "nothing follows an empty page");
}

/// Returns a page of a list of `pages` pages, with the next page in a header.
fn counted(asked: &Asked, pages: u32) -> Answer {
    let number = asked.line.split("page=").nth(1).and_then(|rest| rest.split('&').next()).expect("a page");
    let number: u32 = number.parse().expect("a number");
    let next = if number < pages { (number + 1).to_string() } else { String::new() };
    let page = answer(200, format!(r#"[{{"name":"{number}"}}]"#));
    page.with("x-next-page", &next).with("x-total-pages", &pages.to_string())
}

#[tokio::test]
async fn prefetched_pages_arrive_in_order() {
    let server = Scripted::minded(|asked| counted(asked, 23)).await;
    let expected: Vec<String> = (1..=23).map(|page| page.to_string()).collect();
    assert_eq!(walked(&server).await, expected);
    assert_eq!(server.asked().len(), 23, "each page is requested once");
}

#[tokio::test]
async fn only_a_few_pages_are_prefetched() {
    let server = Scripted::minded(|asked| counted(asked, 1000)).await;
    let mut pages = Box::pin(client(&server).all(branches(), 2));
    for _ in 0..3 {
        pages.try_next().await.expect("a page");
    }
    drop(pages);
    assert!(server.asked().len() <= 3 + 4, "{}", server.asked().len());
}

#[tokio::test]
async fn a_list_that_changes_while_it_is_read_ends_at_its_real_end() {
    let shrunk = Scripted::minded(|asked| match counted(asked, 9) {
        _ if asked.line.contains("page=3&") => answer(200, r#"[{"name":"3"}]"#).with("x-next-page", ""),
        page => page,
    })
    .await;
    assert_eq!(walked(&shrunk).await, ["1", "2", "3"]);
    // The first page reports two pages; the second knows of a third.
    let grown = Scripted::minded(|asked| counted(asked, if asked.line.contains("page=1&") { 2 } else { 3 })).await;
    assert_eq!(walked(&grown).await, ["1", "2", "3"]);
}

#[tokio::test]
async fn keyset_pagination_follows_the_links() {
    let next = |token: &str| {
        let query = format!("pagination=keyset&per_page=2&page_token={token}");
        format!("<http://elsewhere.invalid/api/v4/x?{query}>; rel=\"next\"")
    };
    let server = Scripted::start([
        answer(200, r#"[{"name":"a"}]"#).with("link", &next("a%2Fb")),
        answer(200, r#"[{"name":"b"}]"#).with("link", &next("c")),
        answer(200, r#"[{"name":"c"}]"#),
    ])
    .await;
    assert_eq!(walked(&server).await, ["a", "b", "c"]);
    let asked = server.asked();
    assert_eq!(
        asked[1].line,
        "GET /api/v4/projects/1/repository/branches?pagination=keyset&per_page=2&page_token=a%2Fb"
    );
    assert_eq!(asked[2].header("private-token"), "s3cret-token");
}

#[tokio::test]
async fn a_repeated_or_empty_page_ends_the_list() {
    let same = Scripted::minded(|asked| {
        let page = asked.line.split("page=").nth(1).and_then(|rest| rest.split('&').next()).expect("a page");
        let next = page.parse::<u32>().expect("a number") + 1;
        answer(200, r#"[{"name":"always"}]"#).with("x-next-page", &next.to_string())
    })
    .await;
    assert_eq!(walked(&same).await, ["always"]);
    let empty = Scripted::minded(|asked| match asked.line.contains("page=1&") {
        true => answer(200, r#"[{"name":"a"}]"#).with("x-next-page", "2").with("x-total-pages", "4000000000"),
        false => answer(200, "[ ]").with("x-next-page", "9").with("x-total-pages", "4000000000"),
    })
    .await;
    assert_eq!(walked(&empty).await, ["a"]);
    for server in [&same, &empty] {
        let pages: Vec<_> = client(server).all(branches(), 2).try_collect().await.expect("all pages");
        let last = pages.last().expect("a page");
        assert!(last.info.next.is_some(), "the last page shows that the list is incomplete");
    }
}

#[tokio::test]
async fn a_full_page_without_headers_is_followed_by_number() {
    let body = |asked: &Asked, full: u32| {
        let page = asked.line.split("page=").nth(1).and_then(|rest| rest.split('&').next()).expect("a page");
        match page.parse::<u32>().expect("a number") {
            page if page <= full => format!(r#"[{{"name":"{page}a"}},{{"name":"{page}b"}}]"#),
            _ => "[]".into(),
        }
    };
    let silent = Scripted::minded(move |asked| answer(200, body(asked, 2))).await;
    assert_eq!(walked(&silent).await, ["1a", "1b", "2a", "2b"]);
    assert_eq!(silent.asked().len(), 3, "the last page is empty");
    // What is no list of pages comes whole, whatever is asked for.
    let whole = |count: u32| (1..=count).map(|n| format!(r#"{{"name":"{n}"}}"#)).collect::<Vec<_>>().join(",");
    for (count, requests) in [(1, 1), (2, 2), (3, 1)] {
        let server = Scripted::minded(move |_| answer(200, format!("[{}]", whole(count)))).await;
        assert_eq!(walked(&server).await.len(), count as usize);
        assert_eq!(server.asked().len(), requests, "of {count} entries");
    }
    // A server that counts the entries, or that has no next link, names the end.
    for (name, value) in [("x-total", "2"), ("link", "<http://h/x?page=1>; rel=\"first\""), ("x-next-page", "")] {
        let server = Scripted::minded(move |_| answer(200, format!("[{}]", whole(2))).with(name, value)).await;
        walked(&server).await;
        assert_eq!(server.asked().len(), 1, "{name} names the end");
    }
}

#[tokio::test]
async fn a_page_that_fails_ends_the_list_with_its_error() {
    let server = Scripted::minded(|asked| match counted(asked, 9) {
        _ if asked.line.contains("page=3&") => answer(403, r#"{"message":"403 Forbidden"}"#),
        page => page,
    })
    .await;
    let client = client(&server);
    let mut pages = Box::pin(client.all(branches(), 2));
    let mut came = Vec::new();
    let error = loop {
        match pages.try_next().await {
            Ok(page) => came.push(page.expect("it does not end well")),
            Err(error) => break error,
        }
    };
    assert_eq!(names(&came), ["1", "2"]);
    assert_eq!(error.fault, Fault::Denied("403 Forbidden".into()));
}

#[tokio::test]
async fn raw_pages_are_returned_as_replies() {
    let server = Scripted::start([
        answer(200, "[1]").with("x-next-page", "4"),
        answer(500, "out of order").with("x-next-page", "5"),
    ])
    .await;
    let field = [("per_page".to_owned(), "1".to_owned())];
    let pages: Vec<_> = client(&server).all_raw("projects?page=3", &field).try_collect().await.expect("replies");
    assert_eq!(pages.iter().map(|page| page.status).collect::<Vec<_>>(), [200, 500]);
    let lines: Vec<String> = server.asked().into_iter().map(|asked| asked.line).collect();
    assert_eq!(lines, ["GET /api/v4/projects?page=3&per_page=1", "GET /api/v4/projects?page=4&per_page=1"]);
}
