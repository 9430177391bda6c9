//! Files of a project, beyond going through them: saving, the pager, finding, blame.

use crate::harness::{Begin, Harness};
use labscope::app::action::Msg;
use labscope::app::place::Place;
use labscope::app::transfer::TransferEvent;
use serde_json::{Value, json};

const PROJECT: &str = "/projects/acme%2Frocket";

fn entry(path: &str, mode: &str) -> Value {
    let kind = match mode {
        "040000" => "tree",
        "160000" => "commit",
        _ => "blob",
    };
    let name = path.rsplit('/').next().unwrap_or(path);
    json!({"id": format!("sha-of-{}", path.replace('/', "-")), "name": name, "path": path, "type": kind, "mode": mode})
}

fn file(path: &str) -> Value {
    entry(path, "100644")
}

fn blob(path: &str) -> String {
    format!("GET {PROJECT}/repository/blobs/sha-of-{}/raw", path.replace('/', "-"))
}

/// A red picture of that size.
fn picture(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let pixels = image::RgbImage::from_pixel(width, height, image::Rgb([200, 30, 30]));
    pixels.write_to(&mut std::io::Cursor::new(&mut bytes), image::ImageFormat::Png).expect("a picture");
    bytes
}

/// A small file that claims to be an enormous picture.
fn bomb() -> Vec<u8> {
    let mut bytes = b"BM".to_vec();
    bytes.extend([0; 8]);
    bytes.extend(54u32.to_le_bytes());
    bytes.extend(40u32.to_le_bytes());
    bytes.extend(60_000i32.to_le_bytes());
    bytes.extend(60_000i32.to_le_bytes());
    bytes.extend([1, 0, 24, 0]);
    bytes.resize(54, 0);
    bytes
}

fn commit(sha: &str) -> Value {
    json!({
        "id": sha.repeat(5), "short_id": sha, "title": "Draw rows", "message": "Draw rows", "author_name": "Ada",
        "author_email": "ada@acme.test", "authored_date": "2026-06-14T10:00:00Z", "committer_name": "Ada",
        "committer_email": "ada@acme.test", "committed_date": "2026-06-14T10:00:00Z",
        "created_at": "2026-06-14T10:00:00Z", "parent_ids": [],
    })
}

/// A pointer of Git LFS to a file of so many bytes.
fn pointer(oid: &str, size: u64) -> String {
    format!("version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize {size}\n", oid.repeat(16))
}

/// The request for the file that `pointer.bin` stands for at a commit.
fn stored(sha: &str) -> String {
    format!("GET {PROJECT}/repository/files/pointer.bin/raw?lfs=true&ref={}", sha.repeat(5))
}

/// A project with a file of text and one of other bytes.
fn rocket(place: Place, width: u16, height: u16) -> Harness {
    let mut app = Begin::at(place).size(width, height).open();
    app.reply("GET /user", json!({"id": 1, "username": "ada"}))
        .reply(
            &format!("GET {PROJECT}"),
            json!({"id": 7, "path_with_namespace": "acme/rocket", "default_branch": "main", "empty_repo": false}),
        )
        .reply(&format!("GET {PROJECT}/repository/commits/main"), commit("aaaaaaaa"))
        .reply(
            &format!("GET {PROJECT}/repository/tree"),
            json!([
                entry("src", "040000"),
                file("a.rs"),
                file("big.png"),
                file("latin.txt"),
                file("long.txt"),
                file("pic.png"),
                file("pointer.bin"),
                file("raw.bin"),
                file("t.csv"),
            ]),
        )
        .reply(&format!("GET {PROJECT}/repository/tree?path=src"), json!([file("src/main.rs"), file("src/frame.rs")]))
        .reply_raw(&blob("latin.txt"), b"Viele Gr\xfc\xdfe aus M\xfcnchen, f\xfcr sch\xf6ne Tage\r\n".to_vec())
        .reply_raw(&blob("long.txt"), format!("{}END\nsecond\n", "0123456789".repeat(20)))
        .reply_raw(&blob("pic.png"), picture(8, 4))
        .reply_raw(&blob("big.png"), bomb())
        .reply_raw(&blob("pointer.bin"), pointer("ab12", 12300))
        .reply_raw(&blob("src/main.rs"), "fn main() {}\n")
        .reply_raw(&blob("src/frame.rs"), "fn frame() {}\n")
        .reply_raw(&blob("t.csv"), "name,size\n\"a, b\",7\nlonger,1200\n")
        .reply_raw(&format!("GET {PROJECT}/repository/blobs/sha-of-a.rs/raw"), "fn a() {}\n// \u{1b}[31mred\n")
        .reply_raw(&format!("GET {PROJECT}/repository/blobs/sha-of-raw.bin/raw"), vec![0, 1, 2, 255]);
    app
}

fn at(path: &str) -> Place {
    Place::new("files").project("acme/rocket").path(path)
}

#[tokio::test]
async fn a_file_is_saved_in_the_background_with_bytes_rate_and_time_left() {
    let mut app = rocket(at("a.rs"), 140, 24);
    app.settle().await;
    app.press("s").expect("save as").expect("a.rs");
    app.press("C-u").type_text("/t/b.rs").press("Enter");
    let (number, order) = app.saves.last().cloned().expect("an order");
    assert_eq!(order.path, "/t/b.rs");
    assert_eq!(order.save.request.line(), format!("GET {PROJECT}/repository/blobs/sha-of-a.rs/raw"));
    app.send(Msg::Transfer(number, TransferEvent::Began { from: 0, total: Some(80_000_000) }));
    app.pass(4).send(Msg::Transfer(number, TransferEvent::Held(20_000_000)));
    app.expect("25%").expect("20.0 of 80.0 MB · 5.0 MB/s · 12s left");
    app.press("g d").expect("Downloads").expect("/t/b.rs").press("Esc");
    app.send(Msg::Transfer(number, TransferEvent::Done { path: "/t/b.rs".into(), bytes: 80_000_000 }));
    app.expect("Saved /t/b.rs (80.0 MB)").expect_no("25%");
    // The next one is offered beside it.
    app.press("s").expect("/t/a.rs");
}

/// A command that needs to know what the file is says that it loads, and runs once it is there.
#[tokio::test]
async fn a_file_that_is_still_loading_is_not_judged() {
    let mut app = rocket(at("a.rs"), 140, 24);
    app.settle().await;
    app.press("h").press("G k k").expect("pointer.bin");
    for key in ["B", "P", "v"] {
        app.press(key).expect("the file is still loading").expect_no("binary");
    }
    app.settle().await;
    app.expect_no("still loading").press("P");
    assert_eq!(app.paged.len(), 1);
    app.press("j").settle().await.press("P").expect("it is a binary file");
}

#[tokio::test]
async fn a_file_that_cannot_be_read_is_not_said_to_be_loading() {
    let mut app = rocket(at("a.rs"), 140, 24);
    app.fail(&blob("pointer.bin"), 403, "403 Forbidden");
    app.settle().await;
    app.press("h").press("G k k").settle().await;
    app.press("P").expect("the file could not be read");
}

#[tokio::test]
async fn a_save_is_stopped_by_esc_and_goes_on_from_the_list() {
    let mut app = rocket(at("a.rs"), 100, 24);
    app.settle().await;
    app.press("s Enter");
    let (number, _) = app.saves.last().cloned().expect("an order");
    app.send(Msg::Transfer(number, TransferEvent::Began { from: 0, total: None }));
    app.send(Msg::Transfer(number, TransferEvent::Held(5_000)));
    app.press("h Esc").expect("Stopped saving a.rs at 5.0 kB").expect("a.rs");
    assert!(app.saves.is_empty());
    app.send(Msg::Transfer(number, TransferEvent::Held(9_000)));
    app.press("g d").expect("stopped at 5.0 kB").press("Enter");
    assert_eq!(app.saves.len(), 1);
    app.send(Msg::Transfer(number, TransferEvent::Failed("the disk is full".into())));
    app.expect("the disk is full").press("x").expect("No downloads yet.");
}

#[tokio::test]
async fn a_file_that_is_there_is_replaced_only_when_one_says_so() {
    let mut app = rocket(at("a.rs"), 100, 24);
    app.settle().await;
    app.press("s Enter");
    let (number, order) = app.saves.pop().expect("an order");
    assert!(!order.replace);
    app.send(Msg::Transfer(number, TransferEvent::Exists("/t/a.rs".into())));
    app.expect("/t/a.rs already exists. Replace it?").press("n").press("g d").expect("the file already exists");
    app.press("Enter");
    let (number, order) = app.saves.pop().expect("it asks again");
    assert!(!order.replace);
    app.send(Msg::Transfer(number, TransferEvent::Exists("/t/a.rs".into())));
    app.press("y");
    assert!(app.saves.pop().is_some_and(|(_, order)| order.replace));
}

#[tokio::test]
async fn the_tree_is_saved_in_the_format_one_chooses_by_its_commit() {
    let mut app = rocket(at("a.rs"), 100, 24);
    app.settle().await;
    app.press("A")
        .expect("Archive of main")
        .expect("tar.bz2")
        .type_text("gz")
        .press("Enter")
        .expect("rocket-main.tar.gz");
    app.press("Enter");
    let line = app.saves.pop().expect("an order").1.save.request.line();
    assert_eq!(line, format!("GET {PROJECT}/repository/archive?format=tar.gz&sha={}", "aaaaaaaa".repeat(5)));
}

#[tokio::test]
async fn text_goes_to_the_pager_and_bytes_say_why_not() {
    let mut app = rocket(at("a.rs"), 100, 24);
    app.settle().await;
    app.press("P");
    assert_eq!(app.paged.len(), 1);
    let mut app = rocket(at("raw.bin"), 100, 24);
    app.settle().await;
    app.press("P").expect("it is a binary file");
    assert!(app.paged.is_empty());
}

#[tokio::test]
async fn a_picture_is_drawn_and_a_bomb_is_named() {
    let mut app = rocket(at("pic.png"), 120, 24);
    app.settle().await;
    app.expect("PNG image 8×4").expect("████████").press("v").settle().await;
    app.expect("89 50 4e 47");
    let mut app = rocket(at("big.png"), 120, 24);
    app.settle().await;
    app.expect("this BMP is 60,000 × 60,000 pixels, too large to draw");
}

#[tokio::test]
async fn a_table_has_columns_and_its_heading_stays() {
    let mut app = rocket(at("t.csv"), 120, 24);
    app.settle().await;
    app.expect("name   │ size").expect("a, b   │    7").expect("longer │ 1200");
    app.press("/").type_text("longer").press("Enter").settle().await;
    app.expect("1/1").expect("name   │ size");
    app.press("Esc v").settle().await;
    app.expect("\"a, b\",7");
}

#[tokio::test]
async fn an_encoding_and_a_pointer_are_named() {
    let mut app = rocket(at("latin.txt"), 140, 24);
    app.settle().await;
    app.expect("Viele Grüße aus München").expect("windows-1252").expect("CRLF");
    let mut app = rocket(at("pointer.bin"), 140, 24);
    app.settle().await;
    app.expect("Git LFS pointer to 12.3 kB");
}

#[tokio::test]
async fn a_file_in_git_lfs_is_shown_and_saved_in_place_of_its_pointer() {
    let stored = stored("aaaaaaaa");
    let mut app = rocket(at("pointer.bin"), 140, 24);
    app.reply_raw(&stored, "the file itself\n");
    app.settle().await;
    app.expect("the file itself").expect("Git LFS").expect_no("pointer to").expect_no("oid sha256");
    app.press("B").expect("the file is in Git LFS").press("s").press("Enter");
    let (_, order) = app.saves.last().cloned().expect("an order");
    assert_eq!(order.save.request.line(), stored);
}

#[tokio::test]
async fn a_file_in_git_lfs_is_that_of_the_commit_and_opens_at_its_line() {
    let mut app = rocket(at("pointer.bin").line(60), 140, 24);
    let lines: String = (1..=90).map(|line| format!("line {line}\n")).collect();
    app.reply_raw(&stored("aaaaaaaa"), lines);
    app.settle().await;
    app.expect("▌ 60  line 60");
    // Somebody pushes another version.
    let mut entry = file("pointer.bin");
    entry["id"] = "sha-of-newer".into();
    app.reply(&format!("GET {PROJECT}/repository/tree"), json!([entry]));
    app.reply(&format!("GET {PROJECT}/repository/commits/main"), commit("bbbbbbbb"));
    app.reply_raw(&format!("GET {PROJECT}/repository/blobs/sha-of-newer/raw"), pointer("cd34", 99));
    app.reply_raw(&stored("bbbbbbbb"), "the newer file\n");
    app.press("r").settle().await;
    app.expect("the newer file").expect_no("line 60");
}

#[tokio::test]
async fn a_file_has_the_colors_of_its_own_name() {
    let mut app = rocket(at("a.rs"), 140, 24);
    let mut copy = file("a.txt");
    copy["id"] = "sha-of-a.rs".into();
    app.reply(&format!("GET {PROJECT}/repository/tree"), json!([file("a.rs"), copy]));
    app.settle().await;
    app.expect("Rust");
    app.press("h j").settle().await;
    app.expect("a.txt").expect_no("Rust");
}

#[tokio::test]
async fn a_file_in_git_lfs_that_is_not_there_is_shown_as_its_pointer() {
    let stored = stored("aaaaaaaa");
    for (status, why) in [(403, "Not allowed"), (404, "Not found")] {
        let mut app = rocket(at("pointer.bin"), 140, 24);
        app.fail(&stored, status, "no");
        app.settle().await;
        app.expect("oid sha256:ab12").expect(&format!("Git LFS pointer to 12.3 kB: {why}"));
    }
    let mut app = rocket(at("pointer.bin"), 140, 24);
    app.reply_raw(&blob("pointer.bin"), pointer("ab12", 12_300_000));
    app.settle().await;
    app.expect("Git LFS pointer to 12.3 MB, too large to be shown");
    assert!(!app.asked.iter().any(|line| line.contains("lfs=true")));
}

#[tokio::test]
async fn long_lines_are_cut_or_wrapped() {
    let mut app = rocket(at("long.txt"), 120, 24);
    app.settle().await;
    app.expect("…").expect_no("END").press("W").expect("END").expect("second").press("W").expect_no("END");
}

#[tokio::test]
async fn lines_are_marked_copied_and_linked_to() {
    let mut app = rocket(at("a.rs"), 120, 24);
    app.settle().await;
    app.press("Space j").expect("2 lines marked").press("y").expect("the marked lines").press("Enter");
    assert_eq!(app.copied, ["fn a() {}\n// \u{1b}[31mred"]);
    app.press("o");
    assert_eq!(app.browsed, ["http://demo.test/acme/rocket/-/blob/main/a.rs#L1-2"]);
    app.press("Esc").expect_no("marked");
}

#[tokio::test]
async fn a_word_of_the_line_is_looked_for_as_a_whole() {
    let mut app = rocket(at("long.txt"), 120, 24);
    app.settle().await;
    app.press("j *").settle().await;
    app.expect("Every \"second\" as a whole word.").expect("1/1");
}

#[tokio::test]
async fn any_file_is_found_by_letters_while_the_tree_comes() {
    let mut app = rocket(at("a.rs"), 120, 30);
    let all: Vec<Value> = (0..250).map(|i| file(&format!("lib/module_{i}.rs"))).chain([file("src/frame.rs")]).collect();
    app.reply(&format!("GET {PROJECT}/repository/tree?recursive=true"), all).settle().await;
    app.press("t").settle().await;
    app.expect("251 files").type_text("frme").settle().await;
    app.expect("1 of 251").press("Enter").settle().await;
    app.expect("fn frame()").expect("▾ src");
    // It was opened last: it comes first.
    app.press("t").settle().await;
    app.expect("recent");
}

#[tokio::test]
async fn folds_are_remembered() {
    let mut app = rocket(Place::new("files").project("acme/rocket"), 120, 24);
    app.settle().await;
    app.press("l").settle().await;
    app.expect("▾ src").expect("frame.rs");
    let state = app.states.values().next().expect("a state");
    assert_eq!(state.recents.project("acme/rocket").expect("a project").open_folders, ["src"]);
}

#[tokio::test]
async fn an_address_whose_ref_has_a_slash_is_taken_apart_by_the_known_refs() {
    let place = Place::new("files").project("acme/rocket").at("feature").path("rows/src/main.rs");
    let mut app = Begin::at(place).size(120, 24).open();
    let tree = format!("GET {PROJECT}/repository/tree");
    app.reply("GET /user", json!({"id": 1, "username": "ada"}))
        .reply(
            &format!("GET {PROJECT}"),
            json!({"id": 7, "path_with_namespace": "acme/rocket", "default_branch": "main", "empty_repo": false}),
        )
        .reply_raw(&blob("src/main.rs"), "fn main() {}\n");
    // Replies come in any order: what is below is missing before it is known that all is.
    app.fail(&format!("GET {PROJECT}/repository/commits/feature"), 404, "404 Commit Not Found").fail(
        &format!("{tree}?path=rows&ref=feature"),
        404,
        "404 Tree Not Found",
    );
    app.settle().await;
    app.fail(&format!("{tree}?ref=feature"), 404, "404 Tree Not Found")
        .fail(&format!("{tree}?path=rows%2Fsrc&ref=feature"), 404, "404 Tree Not Found")
        .reply(&format!("GET {PROJECT}/repository/branches?search=feature"), json!([{"name": "feature/rows"}]))
        .reply(&format!("GET {PROJECT}/repository/tags"), json!([]))
        .reply(&format!("GET {PROJECT}/repository/commits/feature%2Frows"), commit("bbbbbbbb"))
        .reply(&format!("{tree}?ref=feature%2Frows"), json!([entry("src", "040000")]))
        .reply(&format!("{tree}?path=src&ref=feature%2Frows"), json!([file("src/main.rs")]));
    app.settle().await;
    app.expect("⎇ feature/rows").expect("fn main()");
}

#[tokio::test]
async fn blame_is_computed_from_the_history_and_leads_to_commits() {
    let mut app = rocket(at("a.rs"), 140, 24);
    app.unsupported(&format!("GET {PROJECT}/repository/files/a.rs/blame?ref=HEAD"));
    let log = format!("GET {PROJECT}/repository/commits");
    let mut newer = commit("11111111");
    newer["title"] = json!("Color it");
    newer["author_name"] = json!("Bo");
    newer["parent_ids"] = json!(["2".repeat(40)]);
    let tree = format!("GET {PROJECT}/repository/tree");
    let old = json!([{"id": "sha-of-old", "name": "a.rs", "path": "a.rs", "type": "blob", "mode": "100644"}]);
    app.reply(&log, json!([newer, commit("22222222")]))
        .reply(&format!("{tree}?ref={}", "1".repeat(40)), json!([file("a.rs")]))
        .reply(&format!("{tree}?ref={}", "2".repeat(40)), old)
        .reply(&format!("GET {PROJECT}/repository/commits/{}/diff", "2".repeat(40)), json!([]))
        .reply_raw(&blob("old"), "fn a() {}\n");
    app.settle().await;
    app.press("Tab B").settle().await;
    app.expect("blame, computed from 2 commits");
    assert!(app.line_with("fn a() {}").contains("22222222 Ada"), "{}", app.picture());
    assert!(app.line_with("// ␛").contains("11111111 Bo"), "{}", app.picture());
    app.press("j").expect("Color it").press("Enter");
    assert_eq!(app.app.place().item.as_deref(), Some("1".repeat(40).as_str()));
}

#[tokio::test]
async fn a_folder_of_many_entries_comes_page_by_page_and_keeps_its_order() {
    let mut app = rocket(Place::new("files").project("acme/rocket"), 100, 24);
    let many: Vec<Value> =
        [entry("dir", "040000")].into_iter().chain((0..1030).map(|i| file(&format!("f{i:04}")))).collect();
    app.reply(&format!("GET {PROJECT}/repository/tree"), many)
        .reply(&format!("GET {PROJECT}/repository/tree?path=dir"), json!([file("dir/inner")]))
        .settle()
        .await;
    for _ in 0..14 {
        app.press("G").settle().await;
    }
    app.expect("f1029").expect("f1020").expect_no("more");
    app.press("g g l").settle().await;
    app.expect("▾ dir").expect("inner").expect("f0000");
    app.press("h").settle().await;
    app.expect("▸ dir").expect_no("inner").expect("f0000");
    app.press("G").expect("f1029");
}

#[tokio::test]
async fn blame_that_the_server_tells_is_taken_where_it_is_about_this_file() {
    let told = format!("GET {PROJECT}/repository/files/a.rs/blame?ref=HEAD");
    let range = |sha: char, author: &str, words: &str, lines: usize| {
        json!({"commit": {"id": sha.to_string().repeat(40), "message": format!("{words}\n\nMore."),
            "author_name": author, "authored_date": "2026-06-14T09:00:00Z"}, "lines": vec!["x"; lines]})
    };
    let mut app = rocket(at("a.rs"), 140, 24);
    app.settle().await;
    let lines = app.lines().iter().filter(|line| line.contains("fn a() {}") || line.contains("// ␛")).count();
    app.reply(&told, [range('1', "Ada", "Begin", 1), range('2', "Bo", "Color it", lines - 1)]);
    app.press("Tab B").settle().await;
    app.expect("blame, 2 commits");
    assert!(app.line_with("fn a() {}").contains("11111111 Ada"), "{}", app.picture());
    assert!(app.line_with("// ␛").contains("22222222 Bo"), "{}", app.picture());
    app.press("j").expect("Color it");
    assert!(!app.asked.iter().any(|line| line.contains("/repository/commits?path")), "{:?}", app.asked);
}

#[tokio::test]
async fn esc_ends_blame_before_it_leaves_the_file() {
    let mut app = rocket(at("a.rs"), 140, 24);
    app.fail(&format!("GET {PROJECT}/repository/files/a.rs/blame?ref=HEAD"), 400, "400 Bad request");
    app.fail(&format!("GET {PROJECT}/repository/commits"), 403, "403 Forbidden").settle().await;
    app.press("Tab B").settle().await;
    app.expect("blame: 403 Forbidden");
    app.press("Esc").expect_no("blame:").expect("fn a() {}");
}
