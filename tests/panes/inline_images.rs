//! Images in READMEs and Markdown files, drawn in place by terminals that can.

use crate::fixtures::{self, With, blob_id, changed_file, file, folder, merge_request, user};
use crate::harness::{Begin, Harness};
use labscope::app::place::Place;
use labscope::ui::image::{Protocol, Screen};
use serde_json::json;

const PROJECT: &str = "GET /projects/acme%2Frocket";
const README: &str = "# Rocket\n\n![Logo](docs/logo.png)\n\n![Badge](https://img.shields.io/a.png) ![gone](gone.png)\n\n\
                      ![bad](bad.png)\n\n![drawing](a.svg) and ![Logo](docs/logo.png) in a text\n\n\
                      <img src=\"docs/logo.png\" width=\"100\">\n\nThe end\n";

fn raw(path: &str) -> String {
    format!("{PROJECT}/repository/files/{path}/raw?lfs=true&ref={}", "a".repeat(40))
}

fn picture(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let pixels = image::RgbImage::from_pixel(width, height, image::Rgb([200, 30, 30]));
    pixels.write_to(&mut std::io::Cursor::new(&mut bytes), image::ImageFormat::Png).expect("a picture");
    bytes
}

fn open(place: Place, protocol: Protocol) -> Harness {
    let mut app = Begin::at(place).size(140, 40).open();
    app.app.images().set_screen(Screen { protocol, cell: (10, 20) });
    let project = json!({"id": 7, "path_with_namespace": "acme/rocket", "default_branch": "main", "empty_repo": false});
    let commit = fixtures::commit(&"a".repeat(40), "One", "2026-06-14T10:00:00Z");
    app.reply("GET /user", user(1, "ada"))
        .reply(PROJECT, project)
        .reply(&format!("{PROJECT}/repository/commits"), json!([commit]))
        .reply(&format!("{PROJECT}/repository/commits/main"), commit)
        .reply(&format!("{PROJECT}/repository/tree"), json!([folder("docs"), file("README.md")]))
        .reply_raw(&format!("{PROJECT}/repository/blobs/{}/raw", blob_id("README.md")), README)
        .reply_raw(&raw("docs%2Flogo.png"), picture(200, 60))
        .reply_raw(&raw("bad.png"), "no picture")
        .fail(&raw("gone.png"), 404, "404 File Not Found");
    app
}

fn readme() -> Place {
    Place::new("files").project("acme/rocket").path("README.md")
}

/// Returns the files that were requested by path.
fn files(app: &Harness) -> Vec<&str> {
    let mut files: Vec<&str> =
        app.asked.iter().filter_map(|line| line.split_once("/repository/files/")?.1.split("/raw").next()).collect();
    files.dedup();
    files
}

#[tokio::test]
async fn images_of_the_repository_are_drawn_in_place() {
    for place in [readme(), Place::new("overview").project("acme/rocket")] {
        let mut app = open(place, Protocol::Kitty);
        app.settle().await;
        // In its own size, and as wide as the text asks for.
        let sizes: Vec<_> =
            app.app.images().placed().iter().map(|image| (image.area.width, image.area.height)).collect();
        assert_eq!(sizes, [(20, 3), (10, 2)], "{}", app.picture());
        app.expect("[image: Badge] [image: gone]")
            .expect("[image: bad]")
            .expect("[image: drawing] and [image: Logo] in");
        let mut asked = files(&app);
        asked.sort_unstable();
        asked.dedup();
        assert_eq!(asked, ["bad.png", "docs%2Flogo.png", "gone.png"]);
        assert!(!app.asked.iter().any(|line| line.contains("shields")), "{:?}", app.asked);
        app.expect("The end");
    }
}

#[tokio::test]
async fn other_terminals_show_the_texts_of_images_and_request_none() {
    let mut app = open(readme(), Protocol::Blocks);
    app.settle().await;
    app.expect("[image: Logo]").expect("[image: logo.png]");
    assert_eq!(files(&app), Vec::<&str>::new());
    assert!(app.app.images().placed().is_empty());
}

#[tokio::test]
async fn an_image_opens_from_each_of_its_lines() {
    let mut app = open(readme(), Protocol::Iterm);
    app.settle().await;
    app.reply(&format!("{PROJECT}/repository/tree?path=docs"), json!([file("docs/logo.png")]));
    app.press("j j j j Enter").settle().await;
    app.expect("docs/logo.png");
}

#[tokio::test]
async fn the_text_under_the_cursor_stays_when_images_arrive() {
    let mut app = open(readme(), Protocol::Kitty);
    let is_raw = |line: &String| line.contains("/repository/files/");
    loop {
        let others: Vec<usize> = (0..app.waiting().len()).filter(|at| !is_raw(&app.waiting()[*at])).collect();
        if !others.into_iter().any(|at| app.answer(at)) {
            break;
        }
    }
    assert!(app.waiting().iter().any(is_raw), "{:?}", app.waiting());
    app.press("End").expect("[image: Logo]");
    let last = app.line_with("The end");
    assert!(last.contains("▌ The end"), "{last}");
    app.settle().await;
    assert_eq!(app.app.images().placed().len(), 2, "{}", app.picture());
    let last = app.line_with("The end");
    assert!(last.contains("▌ The end"), "{last}");
}

const SECRET: &str = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";

/// Opens an issue with an uploaded image in its description, and one in a comment.
fn issue_with_uploads(protocol: Protocol) -> Harness {
    let mut app = Begin::at(Place::new("issue").project("acme/rocket").item(7)).size(100, 40).open();
    app.app.images().set_screen(Screen { protocol, cell: (10, 20) });
    let image = |name: &str| format!("![{name}](/uploads/{SECRET}/{name}.png)");
    let note = json!({"id": 9, "body": format!("Seen here:\n\n{}\n\nThanks.", image("small")), "system": false,
        "author": user(2, "bo"), "created_at": "2026-06-15T09:00:00Z", "updated_at": "2026-06-15T09:00:00Z"});
    let description = format!("Rows flicker.\n\n{}\n\n![far](https://img.shields.io/a.png)", image("large"));
    app.reply("GET /user", user(1, "ada"))
        .reply(
            &format!("{PROJECT}/issues/7"),
            json!({"id": 70, "iid": 7, "title": "Rows", "state": "opened", "description": description}),
        )
        .reply(
            &format!("{PROJECT}/issues/7/discussions"),
            json!([{"id": "a", "individual_note": true, "notes": [note]}]),
        )
        .reply_raw(&format!("{PROJECT}/uploads/{SECRET}/large.png"), picture(200, 80))
        .reply_raw(&format!("{PROJECT}/uploads/{SECRET}/small.png"), picture(100, 60));
    app
}

#[tokio::test]
async fn uploads_are_drawn_in_descriptions_and_comments() {
    let mut app = issue_with_uploads(Protocol::Kitty);
    app.settle().await;
    let sizes: Vec<_> = app.app.images().placed().iter().map(|image| (image.area.width, image.area.height)).collect();
    assert_eq!(sizes, [(20, 4), (10, 3)], "{}", app.picture());
    app.expect("Rows flicker.").expect("[image: far]").expect("Seen here:").expect("Thanks.");
    assert!(!app.asked.iter().any(|line| line.contains("shields")), "{:?}", app.asked);
    // The images are in the empty rows above the text that follows.
    let rows: Vec<u16> = app.app.images().placed().iter().map(|image| image.area.bottom()).collect();
    let lines = app.lines();
    for (bottom, after) in rows.into_iter().zip(["[image: far]", "Thanks."]) {
        let below = lines.iter().position(|line| line.contains(after)).expect("it is shown");
        assert_eq!(usize::from(bottom) + 1, below, "{}", app.picture());
    }
    let mut app = issue_with_uploads(Protocol::Blocks);
    app.settle().await;
    app.expect("[image: large]").expect("[image: small]");
    assert!(!app.asked.iter().any(|line| line.contains("/uploads/")), "{:?}", app.asked);
}

#[tokio::test]
async fn uploads_are_drawn_in_comments_on_commits() {
    let sha = "a".repeat(40);
    let mut app = Begin::at(Place::new("commit").project("acme/rocket").item(&sha)).size(100, 60).open();
    app.app.images().set_screen(Screen { protocol: Protocol::Kitty, cell: (10, 20) });
    let commit = format!("{PROJECT}/repository/commits/{sha}");
    let note = format!("Seen here:\n\n![small](/uploads/{SECRET}/small.png)\n\nThanks.");
    app.reply("GET /user", user(1, "ada"))
        .reply(&commit, fixtures::commit(&sha, "One", "2026-06-14T10:00:00Z"))
        .reply(&format!("{commit}/diff"), json!([]))
        .reply(
            &format!("{commit}/comments"),
            json!([{"note": note, "author": user(2, "bo"), "created_at": "2026-06-15T09:00:00Z"}]),
        )
        .reply_raw(&format!("{PROJECT}/uploads/{SECRET}/small.png"), picture(100, 60))
        .settle()
        .await;
    app.press("2").settle().await;
    app.expect("Seen here:").expect("Thanks.");
    let sizes: Vec<_> = app.app.images().placed().iter().map(|image| (image.area.width, image.area.height)).collect();
    assert_eq!(sizes, [(10, 3)], "{}", app.picture());
}

const HEAD: &str = "9f3c2abd00112233445566778899aabbccddeeff";
const DIFF: &str = "@@ -1,2 +1,3 @@\n fn a() {}\n+let new = 2;\n fn b() {}\n";

/// Opens the changes of a merge request with comments on their first new line.
async fn changes_with(bodies: &[&str], resolved: bool, protocol: Protocol) -> Harness {
    let mr = format!("{PROJECT}/merge_requests/42");
    let base = "1".repeat(40);
    let refs = json!({"base_sha": base, "head_sha": HEAD, "start_sha": base});
    let whole = merge_request(42, "Draw rows", "opened").with(json!({"sha": HEAD, "diff_refs": refs}));
    let position = json!({"base_sha": base, "start_sha": base, "head_sha": HEAD, "position_type": "text",
        "old_path": "src/a.rs", "new_path": "src/a.rs", "old_line": null, "new_line": 2});
    let notes: Vec<_> = (1_u64..)
        .zip(bodies)
        .map(|(id, body)| {
            let of = json!({"type": "DiffNote", "resolvable": true, "resolved": resolved, "position": position});
            fixtures::note(id, "bo", body).with(of)
        })
        .collect();
    let place = Place::new("mr").project("acme/rocket").item(42).tab("changes");
    let mut app = Begin::at(place).size(120, 60).open();
    app.app.images().set_screen(Screen { protocol, cell: (10, 20) });
    app.reply("GET /user", user(1, "ada"))
        .reply(&format!("{mr}/changes"), whole.clone().with(json!({"changes": [changed_file("src/a.rs", DIFF)]})))
        .reply(&mr, whole)
        .reply(&format!("{mr}/discussions"), json!([{"id": "aaa", "individual_note": false, "notes": notes}]));
    for list in ["commits", "versions", "draft_notes", "pipelines"] {
        app.reply(&format!("{mr}/{list}"), json!([]));
    }
    for (name, size) in [("small", (100, 60)), ("tall", (100, 1000))] {
        app.reply_raw(&format!("{PROJECT}/uploads/{SECRET}/{name}.png"), picture(size.0, size.1));
    }
    app.settle().await;
    app.press("g g").settle().await;
    app
}

fn upload(name: &str) -> String {
    format!("![{name}](/uploads/{SECRET}/{name}.png)")
}

/// Returns the areas of the drawn images.
fn areas(app: &Harness) -> Vec<ratatui::layout::Rect> {
    app.app.images().placed().iter().map(|image| image.area).collect()
}

#[tokio::test]
async fn uploads_are_drawn_in_threads_within_changes() {
    let seen = format!("Seen here:\n\n{}\n\nThanks.", upload("small"));
    let mut app = changes_with(&[&seen, &upload("small")], false, Protocol::Kitty).await;
    app.expect("Seen here:").expect("Thanks.");
    let drawn = areas(&app);
    assert_eq!(drawn.iter().map(|area| (area.width, area.height)).collect::<Vec<_>>(), [(10, 3); 2]);
    // The first one is between its texts, where the text starts, and the second one below its heading.
    let lines = app.lines();
    let line = |words: &str| lines.iter().position(|line| line.contains(words)).expect("it is shown");
    assert_eq!(usize::from(drawn[0].y), line("Seen here:") + 2, "{}", app.picture());
    assert_eq!(usize::from(drawn[0].bottom()) + 1, line("Thanks."), "{}", app.picture());
    let column = lines[line("Thanks.")].chars().position(|symbol| symbol == 'T').expect("it is there");
    assert_eq!(usize::from(drawn[0].x), column, "{}", app.picture());
    assert_eq!(usize::from(drawn[1].y), line("↳ bo") + 1, "{}", app.picture());
    assert_eq!(drawn[1].x, drawn[0].x + 2, "a reply is indented");
    insta::assert_snapshot!("image_in_a_thread_120x60", app.picture());
    // Other text below the diff line stays where it is when the image scrolls out.
    app.resize(120, 14).settle().await;
    app.press("G").settle().await;
    app.expect("fn b() {}");
    let asked = app.asked.iter().filter(|line| line.contains("/uploads/")).count();
    assert_eq!(asked, 1, "{:?}", app.asked);
}

#[tokio::test]
async fn images_in_threads_are_text_where_they_cannot_be_drawn() {
    let far = format!("{} and\n\n![far](https://img.shields.io/a.png)", upload("small"));
    let mut app = changes_with(&[&far], false, Protocol::Blocks).await;
    app.expect("[image: small]").expect("[image: far]");
    assert!(!app.asked.iter().any(|line| line.contains("/uploads/")), "{:?}", app.asked);
    app.click_on("[image: far]").press("Enter");
    assert_eq!(app.browsed(), ["https://img.shields.io/a.png"]);
    app.click_on("[image: small]").press("Enter").settle().await;
    assert_eq!(app.app.place(), Place::new("upload").project("acme/rocket").item(format!("{SECRET}/small.png")));
}

#[tokio::test]
async fn keys_move_in_the_diff_after_going_to_a_thread() {
    let body = format!("One\n\n{}", upload("small"));
    let mut app = changes_with(&[&body], false, Protocol::Blocks).await;
    // The cursor of the diff is on a link, but Enter belongs to the list.
    app.click_on("[image: small]").press("S-Tab Enter").settle().await;
    assert_eq!(app.app.place().pane, "mr");
    app.press("S-Tab ;").settle().await;
    app.press("j j j j").expect("▌          │ [image: small]");
}

#[tokio::test]
async fn images_of_folded_threads_are_not_requested() {
    let mut app = changes_with(&[&format!("Look\n\n{}", upload("small"))], true, Protocol::Kitty).await;
    app.expect("resolved").expect("bo: Look");
    assert!(!app.asked.iter().any(|line| line.contains("/uploads/")), "{:?}", app.asked);
    app.click_on("bo: Look").press("Enter").settle().await;
    assert_eq!(areas(&app).len(), 1, "{}", app.picture());
}

#[tokio::test]
async fn an_image_below_the_shown_part_of_a_long_comment_is_not_cut() {
    let long = format!("{}\n\n{}", vec!["A line of prose."; 29].join("\n\n"), upload("tall"));
    let mut app = changes_with(&[&long], false, Protocol::Kitty).await;
    app.resize(120, 100).settle().await;
    app.expect("more on the Overview tab").expect("fn b() {}");
    assert_eq!(areas(&app), [], "{}", app.picture());
}

#[tokio::test]
async fn an_upload_that_is_gone_stays_a_text_in_its_thread() {
    let mut app = changes_with(&[&format!("Look\n\n{}", upload("gone"))], false, Protocol::Kitty).await;
    app.expect("[image: gone]").expect("fn b() {}");
    assert_eq!(areas(&app), []);
}

#[tokio::test]
async fn uploads_are_drawn_in_comments_on_lines_of_commits() {
    let sha = "a".repeat(40);
    let mut app = Begin::at(Place::new("commit").project("acme/rocket").item(&sha).tab("changes")).size(120, 50).open();
    app.app.images().set_screen(Screen { protocol: Protocol::Sixel, cell: (10, 20) });
    let commit = format!("{PROJECT}/repository/commits/{sha}");
    let note = format!("Seen here:\n\n{}\n\nThanks.", upload("small"));
    app.reply("GET /user", user(1, "ada"))
        .reply(&commit, fixtures::commit(&sha, "One", "2026-06-14T10:00:00Z"))
        .reply(&format!("{commit}/diff"), json!([changed_file("src/a.rs", DIFF)]))
        .reply(
            &format!("{commit}/comments"),
            json!([{"note": note, "author": user(2, "bo"), "path": "src/a.rs", "line": 2, "line_type": "new",
                "created_at": "2026-06-15T09:00:00Z"}]),
        )
        .reply_raw(&format!("{PROJECT}/uploads/{SECRET}/small.png"), picture(100, 60))
        .settle()
        .await;
    app.expect("Seen here:").expect("Thanks.");
    assert_eq!(areas(&app).len(), 1, "{}", app.picture());
}

#[tokio::test]
async fn a_link_to_an_upload_shows_the_image_in_a_place_of_its_own() {
    let mut app = issue_with_uploads(Protocol::Kitty);
    app.settle().await;
    app.click_on("Rows flicker.").press("j j Enter").settle().await;
    app.expect("large.png").expect_no("Rows flicker.");
    assert_eq!(app.app.place(), Place::new("upload").project("acme/rocket").item(format!("{SECRET}/large.png")));
    assert_eq!(app.app.images().placed().len(), 1, "{}", app.picture());
    app.press("s").expect("save as").press("Esc q").settle().await;
    app.expect("Rows flicker.");
    assert_eq!(app.browsed(), Vec::<String>::new());
}

#[tokio::test]
async fn an_upload_that_is_no_text_or_image_is_saved() {
    let mut app = Begin::at(Place::new("issue").project("acme/rocket").item(7)).size(100, 40).open();
    let description = format!("[core.zip](/uploads/{SECRET}/core.zip)");
    app.reply("GET /user", user(1, "ada"))
        .reply(
            &format!("{PROJECT}/issues/7"),
            json!({"id": 70, "iid": 7, "title": "Rows", "state": "opened", "description": description}),
        )
        .reply(&format!("{PROJECT}/issues/7/discussions"), json!([]))
        .settle()
        .await;
    app.click_on("core.zip").press("Enter").expect("save as").expect("core.zip").press("Enter");
    let (_, spec) = app.take_transfer().expect("a download");
    assert_eq!(spec.download.request.path, format!("/projects/acme%2Frocket/uploads/{SECRET}/core.zip"));
}

/// Returns the images that are being loaded or computed.
fn at_work(app: &Harness) -> usize {
    app.waiting().iter().filter(|line| line.contains("/uploads/") || line.starts_with("in a text upload")).count()
}

#[tokio::test]
async fn many_images_are_loaded_a_few_at_a_time_and_only_in_the_view() {
    let body: String = (0..30).map(|number| format!("![n](/uploads/{SECRET}/{number}.png)\n\n")).collect();
    let mut app = Begin::at(Place::new("issue").project("acme/rocket").item(7)).size(100, 40).open();
    app.app.images().set_screen(Screen { protocol: Protocol::Kitty, cell: (10, 20) });
    app.reply("GET /user", user(1, "ada"))
        .reply(
            &format!("{PROJECT}/issues/7"),
            json!({"id": 70, "iid": 7, "title": "Rows", "state": "opened", "description": body}),
        )
        .reply(&format!("{PROJECT}/issues/7/discussions"), json!([]));
    for number in 0..30 {
        app.reply_raw(&format!("{PROJECT}/uploads/{SECRET}/{number}.png"), picture(200, 160));
    }
    let mut steps = 0;
    loop {
        assert!(at_work(&app) <= 4, "{:?}", app.waiting());
        if !(0..app.waiting().len()).any(|index| app.answer(index)) {
            break;
        }
        steps += 1;
        assert!(steps < 1_000, "{:?}", app.waiting());
    }
    let asked = |app: &Harness| app.asked.iter().filter(|line| line.contains("/uploads/")).count();
    // Each takes 8 lines of 40.
    assert!((3..=9).contains(&asked(&app)), "{:?}\n{}", app.asked, app.picture());
    let drawn = areas(&app).len();
    assert!((3..=5).contains(&drawn), "{drawn} drawn\n{}", app.picture());
    let before = asked(&app);
    app.press("PageDown").settle().await;
    app.press("PageDown").settle().await;
    assert!(asked(&app) > before && asked(&app) < 30, "{:?}", app.asked);
    assert!((3..=5).contains(&areas(&app).len()), "{}", app.picture());
}
