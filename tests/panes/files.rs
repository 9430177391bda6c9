//! Files of a project beyond browsing: saving, the pager, finding files, and blame.

use crate::fixtures::{self, With, blob_id, file, folder, user};
use crate::harness::{Begin, Endless, Harness};
use labscope::api::GitRef;
use labscope::app::action::Msg;
use labscope::app::place::Place;
use labscope::app::transfer::TransferEvent;
use serde_json::{Value, json};

const PROJECT: &str = "/projects/acme%2Frocket";

fn blob(path: &str) -> String {
    format!("GET {PROJECT}/repository/blobs/{}/raw", blob_id(path))
}

/// Returns a red picture of the given size.
fn picture(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let pixels = image::RgbImage::from_pixel(width, height, image::Rgb([200, 30, 30]));
    pixels.write_to(&mut std::io::Cursor::new(&mut bytes), image::ImageFormat::Png).expect("a picture");
    bytes
}

/// Returns a small file that claims to be an enormous picture.
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
    fixtures::commit(&sha.repeat(5), "Draw rows", "2026-06-14T10:00:00Z")
}

/// Returns a Git LFS pointer to a file of `size` bytes.
fn pointer(oid: &str, size: u64) -> String {
    format!("version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize {size}\n", oid.repeat(16))
}

/// Returns the request for the file behind `pointer.bin` at a commit.
fn stored(sha: &str) -> String {
    format!("GET {PROJECT}/repository/files/pointer.bin/raw?lfs=true&ref={}", sha.repeat(5))
}

/// Opens a project with text files, binary files, and pictures.
fn rocket(place: Place, width: u16, height: u16) -> Harness {
    let mut app = Begin::at(place).size(width, height).open();
    app.reply("GET /user", user(1, "ada"))
        .reply(
            &format!("GET {PROJECT}"),
            json!({"id": 7, "path_with_namespace": "acme/rocket", "default_branch": "main", "empty_repo": false}),
        )
        .reply(&format!("GET {PROJECT}/repository/commits/main"), commit("aaaaaaaa"))
        .reply(
            &format!("GET {PROJECT}/repository/tree"),
            json!([
                folder("src"),
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
async fn saving_a_file_shows_bytes_rate_and_remaining_time() {
    let mut app = rocket(at("a.rs"), 140, 24);
    app.settle().await;
    app.press("s").expect("save as").expect("a.rs");
    app.press("C-u").type_text("/t/b.rs").press("Enter");
    let (number, order) = app.transfers().last().cloned().expect("an order");
    assert_eq!(order.path, "/t/b.rs");
    assert_eq!(order.download.request.line(), format!("GET {PROJECT}/repository/blobs/sha-of-a.rs/raw"));
    app.send(Msg::Transfer(number, TransferEvent::Began { from: 0, total: Some(80_000_000) }));
    app.pass(4).send(Msg::Transfer(number, TransferEvent::Received(20_000_000)));
    app.expect("25%").expect("20.0 of 80.0 MB · 5.0 MB/s · 12s left");
    app.press("g d").expect("Downloads").expect("/t/b.rs").press("Esc");
    app.send(Msg::Transfer(number, TransferEvent::Done { path: "/t/b.rs".into(), bytes: 80_000_000 }));
    app.expect("Saved /t/b.rs (80.0 MB)").expect_no("25%");
    // The next file is offered in the same folder.
    app.press("s").expect("/t/a.rs");
}

/// Commands that depend on the type of the file wait until it is loaded.
#[tokio::test]
async fn commands_wait_for_a_file_that_is_still_loading() {
    let mut app = rocket(at("a.rs"), 140, 24);
    app.settle().await;
    app.press("h").press("G k k").expect("pointer.bin");
    for key in ["B", "O", "m"] {
        app.press(key).expect("The file is still loading").expect_no("binary");
    }
    app.settle().await;
    app.expect_no("still loading").press("O");
    assert_eq!(app.paged().len(), 1);
    app.press("j").settle().await.press("O").expect("It is a binary file");
}

#[tokio::test]
async fn a_file_that_cannot_be_read_is_not_reported_as_loading() {
    let mut app = rocket(at("a.rs"), 140, 24);
    app.fail(&blob("pointer.bin"), 403, "403 Forbidden");
    app.settle().await;
    app.press("h").press("G k k").settle().await;
    app.press("O").expect("The file could not be read");
}

#[tokio::test]
async fn esc_stops_a_save_and_the_downloads_list_resumes_it() {
    let mut app = rocket(at("a.rs"), 100, 24);
    app.settle().await;
    app.press("s Enter");
    let (number, _) = app.transfers().last().cloned().expect("an order");
    app.send(Msg::Transfer(number, TransferEvent::Began { from: 0, total: None }));
    app.send(Msg::Transfer(number, TransferEvent::Received(5_000)));
    app.press("h Esc").expect("Stopped saving a.rs at 5.0 kB").expect("a.rs");
    assert!(app.transfers().is_empty());
    app.send(Msg::Transfer(number, TransferEvent::Received(9_000)));
    app.press("g d").expect("stopped at 5.0 kB").press("Enter");
    assert_eq!(app.transfers().len(), 1);
    app.send(Msg::Transfer(number, TransferEvent::Failed("the disk is full".into())));
    app.expect("the disk is full").press("x").expect("No downloads yet.");
}

#[tokio::test]
async fn an_existing_file_is_only_replaced_after_confirmation() {
    let mut app = rocket(at("a.rs"), 100, 24);
    app.settle().await;
    app.press("s Enter");
    let (number, order) = app.take_transfer().expect("an order");
    assert!(!order.replace);
    app.send(Msg::Transfer(number, TransferEvent::Exists("/t/a.rs".into())));
    app.expect("/t/a.rs already exists. Replace it?").pass(1).press("n").press("g d").expect("the file already exists");
    app.press("Enter");
    let (number, order) = app.take_transfer().expect("it asks again");
    assert!(!order.replace);
    app.send(Msg::Transfer(number, TransferEvent::Exists("/t/a.rs".into())));
    app.pass(1).press("y");
    assert!(app.take_transfer().is_some_and(|(_, order)| order.replace));
}

#[tokio::test]
async fn the_archive_of_a_commit_is_saved_in_the_chosen_format() {
    let mut app = rocket(at("a.rs"), 100, 24);
    app.settle().await;
    app.press("A")
        .expect("Archive of main")
        .expect("tar.bz2")
        .type_text("gz")
        .press("Enter")
        .expect("rocket-main.tar.gz");
    app.press("Enter");
    let line = app.take_transfer().expect("an order").1.download.request.line();
    assert_eq!(line, format!("GET {PROJECT}/repository/archive?format=tar.gz&sha={}", "aaaaaaaa".repeat(5)));
}

#[tokio::test]
async fn text_opens_in_the_pager_and_binary_files_are_refused() {
    let mut app = rocket(at("a.rs"), 100, 24);
    app.settle().await;
    app.press("O");
    assert_eq!(app.paged().len(), 1);
    let mut app = rocket(at("raw.bin"), 100, 24);
    app.settle().await;
    app.press("O").expect("It is a binary file");
    assert!(app.paged().is_empty());
}

#[tokio::test]
async fn a_picture_is_drawn_unless_it_is_too_large() {
    let mut app = rocket(at("pic.png"), 120, 24);
    app.settle().await;
    app.expect("PNG image 8×4").expect("████████").press("m").settle().await;
    app.expect("89 50 4e 47");
    let mut app = rocket(at("big.png"), 120, 24);
    app.settle().await;
    app.expect("BMP too large to display: 60,000 × 60,000 pixels");
}

#[tokio::test]
async fn a_csv_file_is_a_table_with_a_fixed_header() {
    let mut app = rocket(at("t.csv"), 120, 24);
    app.settle().await;
    app.expect("name   │ size").expect("a, b   │    7").expect("longer │ 1200");
    app.press("/").type_text("longer").press("Enter").settle().await;
    app.expect("1/1").expect("name   │ size");
    app.press("Esc m").settle().await;
    app.expect("\"a, b\",7");
}

#[tokio::test]
async fn text_encodings_and_git_lfs_pointers_are_named() {
    let mut app = rocket(at("latin.txt"), 140, 24);
    app.settle().await;
    app.expect("Viele Grüße aus München").expect("windows-1252").expect("CRLF");
    let mut app = rocket(at("pointer.bin"), 140, 24);
    app.settle().await;
    app.expect("Git LFS pointer to 12.3 kB");
}

#[tokio::test]
async fn a_git_lfs_file_is_shown_and_saved_instead_of_its_pointer() {
    let stored = stored("aaaaaaaa");
    let mut app = rocket(at("pointer.bin"), 140, 24);
    app.reply_raw(&stored, "the file itself\n");
    app.settle().await;
    app.expect("the file itself").expect("Git LFS").expect_no("pointer to").expect_no("oid sha256");
    app.press("B").expect("The file is in Git LFS").press("s").press("Enter");
    let (_, order) = app.transfers().last().cloned().expect("an order");
    assert_eq!(order.download.request.line(), stored);
}

#[tokio::test]
async fn a_git_lfs_file_belongs_to_its_commit_and_opens_at_its_line() {
    let mut app = rocket(at("pointer.bin").line(60), 140, 24);
    let lines: String = (1..=90).map(|line| format!("line {line}\n")).collect();
    app.reply_raw(&stored("aaaaaaaa"), lines);
    app.settle().await;
    app.expect("▌ 60  line 60");
    // Another version is pushed.
    let newer = file("pointer.bin").with(json!({"id": "sha-of-newer"}));
    app.reply(&format!("GET {PROJECT}/repository/tree"), json!([newer]));
    app.reply(&format!("GET {PROJECT}/repository/commits/main"), commit("bbbbbbbb"));
    app.reply_raw(&format!("GET {PROJECT}/repository/blobs/sha-of-newer/raw"), pointer("cd34", 99));
    app.reply_raw(&stored("bbbbbbbb"), "the newer file\n");
    app.press("r").settle().await;
    app.expect("the newer file").expect_no("line 60");
}

#[tokio::test]
async fn highlighting_follows_the_name_of_the_file_not_its_content() {
    let mut app = rocket(at("a.rs"), 140, 24);
    let copy = file("a.txt").with(json!({"id": blob_id("a.rs")}));
    app.reply(&format!("GET {PROJECT}/repository/tree"), json!([file("a.rs"), copy]));
    app.settle().await;
    app.expect("Rust");
    app.press("h j").settle().await;
    app.expect("a.txt").expect_no("Rust");
}

#[tokio::test]
async fn a_missing_git_lfs_file_is_shown_as_its_pointer() {
    let stored = stored("aaaaaaaa");
    for (status, words) in
        [(403, "Git LFS pointer to 12.3 kB: Not allowed"), (404, "Git LFS, 12.3 kB, not on this server")]
    {
        for width in [140, 80] {
            let mut app = rocket(at("pointer.bin"), width, 24);
            app.fail(&stored, status, "no");
            app.settle().await;
            app.expect("oid sha256:ab12").expect(words).expect_no("retries");
        }
    }
    let mut app = rocket(at("pointer.bin"), 140, 24);
    app.reply_raw(&blob("pointer.bin"), pointer("ab12", 12_300_000));
    app.settle().await;
    app.expect("Git LFS pointer to 12.3 MB, too large to be shown");
    assert!(!app.asked.iter().any(|line| line.contains("lfs=true")));
}

#[tokio::test]
async fn long_lines_are_truncated_or_wrapped() {
    let mut app = rocket(at("long.txt"), 120, 24);
    app.settle().await;
    app.expect("…").expect_no("END").press("W").expect("END").expect("second").press("W").expect_no("END");
}

#[tokio::test]
async fn lines_can_be_marked_copied_and_linked() {
    let mut app = rocket(at("a.rs"), 120, 24);
    app.settle().await;
    app.drag("fn a() {}", "red").expect("2 lines marked").right_click_on("red").expect("Actions").press("Esc");
    app.expect("2 lines marked").press("Esc").expect_no("lines marked").press("g g");
    app.press("V j").expect("2 lines marked").press("v").expect_no("lines marked").press("k");
    app.press("Space j").expect("2 lines marked").press("y").expect("the marked lines").press("Enter");
    assert_eq!(app.copied(), ["fn a() {}\n// \u{1b}[31mred"]);
    app.press("o");
    assert_eq!(app.browsed(), ["http://demo.test/acme/rocket/-/blob/main/a.rs#L1-2"]);
    app.press("Esc").expect_no("marked");
}

#[tokio::test]
async fn a_search_in_vain_returns_the_cursor() {
    let mut app = rocket(at("long.txt"), 120, 24);
    app.settle().await;
    let before = app.line_with("▌");
    app.press("/").type_text("second").settle().await;
    assert_ne!(app.line_with("▌"), before);
    app.type_text("ary").settle().await;
    app.expect("not found");
    assert_eq!(app.line_with("▌"), before);
}

/// Another `/` searches from the cursor, as in vim and less, and Esc returns to it.
#[tokio::test]
async fn another_search_starts_at_the_cursor() {
    let mut app = rocket(at("a.rs"), 120, 24);
    app.reply_raw(
        &format!("GET {PROJECT}/repository/blobs/sha-of-a.rs/raw"),
        (1..=300)
            .map(|at| if at % 50 == 0 { "fifty\n".to_owned() } else { format!("line {at}\n") })
            .collect::<String>(),
    );
    app.settle().await;
    app.press("j /").type_text("fifty").settle().await;
    app.press("Enter").expect("1/6");
    app.press("1 6 0 G /").type_text("nosuch").settle().await;
    assert!(app.shows("▌160  line 160"), "{}", app.picture());
    app.press("Esc").settle().await;
    assert!(app.shows("▌160  line 160"), "{}", app.picture());
    app.press("/").type_text("line 1").settle().await;
    app.press("Esc").settle().await;
    assert!(app.shows("▌160  line 160"), "{}", app.picture());
    app.press("/").type_text("fifty").settle().await;
    app.press("Enter").expect("4/6").press("2 6 0 G n").expect("6/6").press("1 3 0 G N").expect("2/6");
}

#[tokio::test]
async fn the_prompt_says_that_a_search_is_a_regular_expression_unless_it_is_none() {
    let mut app = rocket(at("a.rs"), 80, 24);
    app.settle().await;
    app.press("/").expect("search (regular expression)").type_text("a(").expect("search (text)");
    app.type_text(")").settle().await;
    app.expect("search (regular expression)");
    // The tree is searched for names.
    app.press("Enter Esc h /").expect_no("regular expression");
}

#[tokio::test]
async fn the_end_of_a_long_line_is_scrolled_to() {
    let mut app = rocket(at("long.txt"), 80, 24);
    app.settle().await;
    app.expect_no("END").press("$").expect("789END").press("0").expect_no("END");
    app.press("$").expect("789END").press("^").expect_no("END").press("j $").expect("second").expect_no("END");
}

/// Another form of a file begins at the place in it that corresponds to the cursor, and `m` again returns to it.
#[tokio::test]
async fn another_view_mode_keeps_the_place() {
    let mut app = rocket(at("a.rs"), 120, 24);
    app.reply_raw(
        &format!("GET {PROJECT}/repository/blobs/sha-of-a.rs/raw"),
        (1..=300).map(|at| format!("line {at}\n")).collect::<String>(),
    );
    app.settle().await;
    app.press("2 0 0 G m").settle().await.expect("00000000");
    app.press("m").settle().await;
    assert!(app.shows("▌200  line 200"), "{}", app.picture());
}

#[tokio::test]
async fn the_word_under_the_cursor_is_searched_as_a_whole_word() {
    let mut app = rocket(at("long.txt"), 120, 24);
    app.settle().await;
    app.press("j *").settle().await;
    app.expect("Every \"second\" as a whole word.").expect("1/1");
}

#[tokio::test]
async fn files_are_found_by_fuzzy_search_over_the_whole_tree() {
    let mut app = rocket(at("a.rs"), 120, 30);
    let all: Vec<Value> = (0..250).map(|i| file(&format!("lib/module_{i}.rs"))).chain([file("src/frame.rs")]).collect();
    app.reply(&format!("GET {PROJECT}/repository/tree?recursive=true"), all).settle().await;
    app.press("t").settle().await;
    app.expect("251 files").type_text("frme").settle().await;
    app.expect("1 of 251").press("Enter").settle().await;
    app.expect("fn frame()").expect("▾ src");
    // The file opened last comes first.
    app.press("t").settle().await;
    app.expect("recent");
}

#[tokio::test]
async fn a_file_that_is_found_opens_at_its_first_line() {
    let mut app = rocket(at("a.rs"), 120, 30);
    app.reply(&format!("GET {PROJECT}/repository/tree?recursive=true"), [file("long.txt"), file("a.rs")]);
    app.settle().await;
    app.press("L").type_text("2").press("Enter").settle().await;
    assert_eq!(app.app.place(), at("a.rs").line(2));
    app.press("t").type_text("long").settle().await;
    app.press("Enter").settle().await;
    assert_eq!(app.app.place(), at("long.txt"), "{}", app.picture());
    assert!(app.line_with("0123456789").contains("▌  1"), "{}", app.picture());
}

#[tokio::test]
async fn a_typed_path_of_the_project_is_that_file_at_its_line() {
    for from in [":", "C-p"] {
        for (typed, place) in [
            ("src/frame.rs:2", at("src/frame.rs").line(2)),
            ("./src/frame.rs:2:5", at("src/frame.rs").line(2)),
            ("src/frame.rs", at("src/frame.rs")),
            ("src/", at("src")),
        ] {
            for is_known in [true, false] {
                let mut app = rocket(Place::new("branches").project("acme/rocket"), 120, 30);
                app.reply_raw(&blob("src/frame.rs"), "fn frame() {}\nfn row() {}\n");
                app.reply(
                    &format!("GET {PROJECT}/repository/tree?path=src"),
                    [file("src/main.rs"), file("src/frame.rs")],
                )
                .reply(&format!("GET {PROJECT}/repository/tree"), [folder("src"), file("a.rs")])
                .settle()
                .await;
                app.press(from).type_text(typed);
                if is_known {
                    app.settle().await;
                }
                app.press("Enter").settle().await;
                assert_eq!(app.app.place(), place, "{from} {typed} {is_known}: {}", app.picture());
            }
        }
        // Enter does not wait for a path that the project does not have.
        let mut app = rocket(Place::new("branches").project("acme/rocket"), 120, 30);
        app.reply(&format!("GET {PROJECT}/repository/tree?path=src"), [file("src/a.rs")]);
        app.fail("GET /projects/src%2Fnope.rs", 404, "404 Not Found").fail("GET /groups/src%2Fnope.rs", 404, "Gone");
        app.fail("GET /groups/src", 404, "404 Not Found").settle().await;
        app.press(from).type_text("src/nope.rs").settle().await;
        app.press("Enter").settle().await;
        app.expect("Not found: src/nope.rs.");
    }
}

/// A tree may have thousands of pages.
#[tokio::test]
async fn a_typed_target_does_not_read_the_whole_tree() {
    for typed in ["acme/rocket-ui!42", "src/frame.rs"] {
        let mut app = rocket(Place::new("branches").project("acme/rocket"), 120, 30);
        app.settle().await.press(":").type_text(typed).pass(1).settle().await;
        let is_tree = |line: &&String| line.contains("recursive=true");
        assert_eq!(app.asked.iter().find(is_tree), None, "{typed}");
    }
}

#[tokio::test]
async fn a_search_in_a_large_tree_says_how_far_it_is() {
    let mut app = Begin::at(Place::new("branches").project("acme/rocket")).size(120, 30).open();
    app.reply("GET /user", user(1, "ada")).settle().await.press("C-p").type_text("main").pass(1).settle().await;
    app.expect("0 files read so far");
    app.reply(&format!("GET {PROJECT}/repository/tree?recursive=true"), [file("src/main.rs")]).settle().await;
    app.expect("src/main.rs").expect_no("so far");
}

#[tokio::test]
async fn a_search_in_an_endless_tree_pauses_until_a_key_is_pressed() {
    for keys in ["t", "C-p"] {
        let mut app = rocket(Place::new("files").project("acme/rocket"), 80, 24);
        app.reply(&format!("GET {PROJECT}/repository/tree?recursive=true"), [file("src/main.rs")]).settle().await;
        app.endless = Some(Endless::FullPages);
        app.press(keys);
        if keys == "C-p" {
            app.type_text("main").pass(1);
        }
        for more in ["", "i"] {
            app.type_text(more);
            let before = app.asked.len();
            while app.asked.len() < before + 600 && (0..app.waiting().len()).any(|index| app.answer(index)) {}
            let asked = app.asked[before..].iter().filter(|line| line.contains("recursive=true")).count();
            // A few were sent with the key.
            assert!((490..=500).contains(&asked), "{asked} after {keys} {more}\n{}", app.picture());
            if more.is_empty() {
                app.expect("50,100+ files: a key reads more, :PATH opens any");
            }
        }
    }
}

#[tokio::test]
async fn a_missing_file_is_reported_where_the_tree_is_shown_alone() {
    let mut app = rocket(Place::new("files").project("acme/rocket").at("main").path("nope.txt"), 80, 24);
    app.settle().await;
    app.expect("nope.txt not found at main.").expect("long.txt");
}

#[tokio::test]
async fn open_folders_are_remembered() {
    let mut app = rocket(Place::new("files").project("acme/rocket"), 120, 24);
    app.settle().await;
    app.press("l").settle().await;
    app.expect("▾ src").expect("frame.rs");
    let state = app.states.values().next().expect("a state");
    assert_eq!(state.recents.project("acme/rocket").expect("a project").open_folders, ["src"]);
}

#[tokio::test]
async fn keys_of_folders_say_why_they_do_nothing() {
    let mut app = rocket(Place::new("files").project("acme/rocket"), 120, 24);
    app.settle().await;
    app.press("u").expect("There is no parent folder.").press("-").expect("No folder is open");
    app.press("l").settle().await;
    app.expect("▾ src").press("-").expect("▸ src");
}

/// Opens a web address in a repository whose refs are `branches` and `tags`. Each ref has the files `c`, `b/c` and
/// `rows/src/main.rs`.
fn address(rest: &str, branches: &[&str], tags: &[&str]) -> Harness {
    let mut app = Begin::at(Place::new("projects")).size(120, 24).open();
    app.reply("GET /user", user(1, "ada")).reply(
        &format!("GET {PROJECT}"),
        json!({"id": 7, "path_with_namespace": "acme/rocket", "default_branch": "main", "empty_repo": false}),
    );
    for (list, names) in [("branches", branches), ("tags", tags)] {
        for name in ["a", "a%2Fb", "a%2Fb%2Fc", "a%2Fb%2Fc%2Fd"] {
            let request = format!("GET {PROJECT}/repository/{list}/{name}");
            match names.contains(&&*name.replace("%2F", "/")) {
                true => app.reply(&request, json!({"name": name.replace("%2F", "/"), "commit": commit("bbbbbbbb")})),
                false => app.fail(&request, 404, "404 Not Found"),
            };
        }
    }
    app.press("C-p").type_text(&format!("acme/rocket/-/{rest}")).press("Enter");
    app
}

/// Replies with the commits that changed a path at a ref.
fn history(app: &mut Harness, git_ref: &str, path: &str, commits: &[&str]) {
    let commits: Vec<Value> = commits.iter().map(|sha| commit(sha)).collect();
    let (path, git_ref) = (path.replace('/', "%2F"), git_ref.replace('/', "%2F"));
    app.reply(&format!("GET {PROJECT}/repository/commits?path={path}&ref_name={git_ref}"), commits);
}

#[tokio::test]
async fn a_ref_with_a_slash_is_split_from_the_path_by_the_refs_that_exist() {
    for (branches, tags, git_ref, path) in [
        (&["a/b"][..], &[][..], GitRef::branch("a/b"), Some("c/d")),
        (&[], &["a/b/c"], GitRef::tag("a/b/c"), Some("d")),
        (&["a"], &[], GitRef::branch("a"), Some("b/c/d")),
        (&["a/b/c/d"], &[], GitRef::branch("a/b/c/d"), None),
        // The SHA of a commit, or something else that only the server can read.
        (&[], &[], GitRef::from("a"), Some("b/c/d")),
    ] {
        let mut app = address("tree/a/b/c/d", branches, tags);
        app.settle().await;
        let place = app.app.place();
        assert_eq!((place.git_ref.as_ref(), place.path.as_deref(), place.is_joined), (Some(&git_ref), path, false));
        let tree = format!("repository/tree?ref={}", git_ref.as_str().replace('/', "%2F"));
        assert!(app.waiting().iter().any(|line| line.contains(&tree)), "{:?}", app.waiting());
    }
}

#[tokio::test]
async fn an_address_with_several_readings_is_not_guessed() {
    let mut app = address("blob/a/b/c/d#L3", &["a"], &["a", "a/b"]);
    history(&mut app, "refs/heads/a", "b/c/d", &["bbbbbbbb"]);
    history(&mut app, "refs/tags/a", "b/c/d", &[]);
    history(&mut app, "refs/tags/a/b", "c/d", &["bbbbbbbb"]);
    app.settle().await;
    app.expect("This address can mean several refs").expect("⎇ a").expect("tag a/b").expect_no("tag a ");
    app.press("Down Enter").settle().await;
    let place = app.app.place();
    assert_eq!((place.git_ref, place.path.as_deref()), (Some(GitRef::branch("a")), Some("b/c/d")));
}

#[tokio::test]
async fn a_reading_without_its_path_is_no_reading() {
    let mut app = address("blame/a/b/c", &["a/b"], &["a"]);
    history(&mut app, "refs/tags/a", "b/c", &[]);
    history(&mut app, "refs/heads/a/b", "c", &["bbbbbbbb"]);
    app.settle().await;
    app.expect_no("several refs");
    assert_eq!(app.app.place().git_ref, Some(GitRef::branch("a/b")));
}

#[tokio::test]
async fn the_history_of_an_address_is_split_like_its_files() {
    let mut app = address("commits/a/b/c", &["a/b"], &[]);
    app.settle().await;
    let place = app.app.place();
    assert_eq!((place.git_ref, place.path.as_deref()), (Some(GitRef::branch("a/b")), Some("c")));
    assert!(
        app.waiting().iter().any(|line| line.contains("path=c&ref_name=refs%2Fheads%2Fa%2Fb")),
        "{:?}",
        app.waiting()
    );
    // The kind is known, so only tags are looked up.
    let mut app = address("commits/a/b?ref_type=tags", &["a"], &["a"]);
    app.settle().await;
    assert_eq!(app.app.place().git_ref, Some(GitRef::tag("a")));
    assert!(!app.asked.iter().any(|line| line.contains("/branches/")), "{:?}", app.asked);
}

#[tokio::test]
async fn blame_is_computed_from_the_history_and_opens_commits() {
    let mut app = rocket(at("a.rs"), 140, 24);
    app.unsupported(&format!("GET {PROJECT}/repository/files/a.rs/blame?ref=HEAD"));
    let log = format!("GET {PROJECT}/repository/commits");
    let newer = json!({"title": "Color it", "author_name": "Bo", "parent_ids": ["2".repeat(40)]});
    let newer = commit("11111111").with(newer);
    let tree = format!("GET {PROJECT}/repository/tree");
    let old = json!([file("a.rs").with(json!({"id": blob_id("old")}))]);
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
async fn a_large_folder_is_loaded_page_by_page_and_keeps_its_order() {
    let mut app = rocket(Place::new("files").project("acme/rocket"), 100, 24);
    let many: Vec<Value> = [folder("dir")].into_iter().chain((0..1030).map(|i| file(&format!("f{i:04}")))).collect();
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
async fn the_blame_of_the_server_is_used_if_it_matches_the_file() {
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
async fn blame_goes_back_before_a_change_as_far_as_one_likes() {
    let [newest, middle, oldest] = ["3", "2", "1"].map(|digit| digit.repeat(40));
    let first = "0".repeat(40);
    let blamed = |name: &str, at: &str| format!("GET {PROJECT}/repository/files/{name}/blame?ref={at}");
    let by = |sha: &str, parents: &[&str], lines: usize| {
        json!([{"commit": {"id": sha, "message": format!("Change {sha}"), "author_name": "Bo", "parent_ids": parents},
            "lines": vec!["x"; lines]}])
    };
    let mut app = rocket(at("a.rs"), 140, 24);
    app.settle().await;
    let lines = app.lines().iter().filter(|line| line.contains("fn a() {}") || line.contains("// ␛")).count();
    for (at, name, id) in [(&middle, "a.rs", "middle"), (&oldest, "b.rs", "oldest")] {
        app.reply(&format!("GET {PROJECT}/repository/commits/{at}"), commit(&at[..8]))
            .reply(
                &format!("GET {PROJECT}/repository/tree?ref={at}"),
                json!([file(name).with(json!({"id": blob_id(id)}))]),
            )
            .reply_raw(&blob(id), format!("fn a() {{}}\n// {id}\n"));
    }
    let diff = |old: &str, new: &str, is_new: bool| json!([{"old_path": old, "new_path": new, "diff": "", "new_file": is_new, "renamed_file": old != new}]);
    for (at, diff) in [
        (&newest, diff("a.rs", "a.rs", false)),
        (&middle, diff("b.rs", "a.rs", false)),
        (&oldest, diff("b.rs", "b.rs", true)),
    ] {
        app.reply(&format!("GET {PROJECT}/repository/commits/{at}/diff"), diff);
    }
    app.reply(&blamed("a.rs", "HEAD"), by(&newest, &[&middle], lines))
        .reply(&blamed("a.rs", &middle), by(&middle, &[&oldest], 2))
        .reply(&blamed("b.rs", &oldest), by(&oldest, &[&first], 2));
    app.press("Tab").press(",").expect("B shows the blame first").press("B").settle().await;
    app.press("j").press(",").settle().await;
    app.expect("// middle").expect("22222222 Bo");
    app.press(",").settle().await;
    app.expect("// oldest").expect("11111111 Bo").press(",").settle().await.expect("b.rs was added in 11111111.");
    // And back, each with its blame.
    app.press("C-o").settle().await;
    app.expect("// middle").expect("22222222 Bo").press("C-o").settle().await;
    app.expect("33333333 Bo");
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

#[tokio::test]
async fn a_line_beyond_the_end_of_a_file_is_said_to_be_missing() {
    let mut app = rocket(Place { line: Some(900), ..at("a.rs") }, 120, 24);
    app.settle().await;
    app.expect("fn a() {}").expect("There is no line 900: a.rs has");
    let mut app = rocket(Place { line: Some(1), ..at("a.rs") }, 120, 24);
    app.settle().await;
    app.expect("fn a() {}").expect_no("There is no line");
}

/// The input `with_last_commit` (since GitLab 19.4, doc/api/repositories.md), servers that ignore it, and those that fail.
#[tokio::test]
async fn files_are_listed_with_their_last_commits_if_there_is_room_and_the_server_tells_them() {
    let with_commits = format!("GET {PROJECT}/repository/tree?with_last_commit=true");
    let mut entries = vec![folder("src"), file("a.rs")];
    for entry in &mut entries {
        entry["last_commit"] = commit("bbbbbbbb");
    }
    let mut app = rocket(Place::new("files").project("acme/rocket"), 160, 24);
    app.reply(&with_commits, &entries);
    app.settle().await;
    app.pass(1).settle().await;
    assert!(app.line_with("a.rs").contains("Draw rows"), "{}", app.picture());
    app.press("j").expect("a.rs");

    // An older server ignores the input.
    let mut app = rocket(Place::new("files").project("acme/rocket"), 160, 24);
    app.reply(&with_commits, json!([folder("src"), file("a.rs")]));
    app.settle().await;
    app.pass(1).settle().await;
    app.expect("a.rs").expect_no("Draw rows");

    // A server that cannot find the commits is asked without them.
    let mut app = rocket(Place::new("files").project("acme/rocket"), 160, 24);
    app.fail(&with_commits, 500, "500 Internal Server Error");
    app.reply(&format!("GET {PROJECT}/repository/tree"), json!([folder("src"), file("a.rs")]));
    app.settle().await;
    app.pass(1).settle().await;
    app.expect("a.rs").expect_no("Draw rows").expect("Last commits: Server error");
    app.reply(&with_commits, &entries).press("r").settle().await;
    app.expect("Draw rows").expect_no("Server error");

    // The tree is not shown.
    let mut app = rocket(at("a.rs"), 60, 24);
    app.settle().await;
    app.pass(1).settle().await;
    assert!(!app.reads().iter().any(|line| line.contains("with_last_commit")), "{:?}", app.reads());
}

/// Long titles of commits give way to the names, the kinds and the ages.
#[tokio::test]
async fn a_narrow_tree_keeps_the_kind_and_the_age_of_its_entries() {
    let mut entries = vec![fixtures::tree_entry("run.sh", "100755"), file("a.rs")];
    for entry in &mut entries {
        entry["last_commit"] =
            fixtures::commit(&"bbbbbbbb".repeat(5), &"a long title ".repeat(9), "2026-06-14T10:00:00Z");
    }
    let mut app = rocket(Place::new("files").project("acme/rocket"), 80, 24);
    app.reply(&format!("GET {PROJECT}/repository/tree?with_last_commit=true"), &entries);
    app.settle().await;
    app.pass(1).settle().await;
    let row = app.line_with("run.sh");
    assert!(row.contains("a long title") && row.contains("exec") && row.contains("1d"), "{}", app.picture());
}

/// Beside a submodule, no other file is shown.
#[tokio::test]
async fn the_panel_tells_what_a_submodule_is() {
    let mut app = rocket(Place::new("files").project("acme/rocket"), 120, 30);
    app.reply(
        &format!("GET {PROJECT}/repository/tree"),
        json!([folder("src"), file(".gitmodules"), file("README.md"), fixtures::tree_entry("lib", "160000")]),
    );
    let modules = "[submodule \"lib\"]\n\tpath = lib\n\turl = https://elsewhere.test/a/lib.git\n";
    app.reply_raw(&blob(".gitmodules"), modules).reply_raw(&blob("README.md"), "Read me first.\n").settle().await;
    app.expect("Read me first.").press("j j j").settle().await;
    app.expect("Another repository, at sha-of-lib.").expect("https://elsewhere.test/a/lib.git").expect_no("Read me");
}

#[tokio::test]
async fn enter_in_a_symbolic_link_goes_to_its_target() {
    let mut app = rocket(Place::new("files").project("acme/rocket"), 120, 30);
    app.reply(
        &format!("GET {PROJECT}/repository/tree"),
        json!([folder("src"), fixtures::tree_entry("link", "120000")]),
    );
    app.reply_raw(&blob("link"), "src/main.rs").settle().await;
    app.press("g g j").settle().await.press("Enter").settle().await;
    app.expect("src/main.rs").press("Enter").settle().await;
    app.expect("fn main() {}");
}

#[tokio::test]
async fn files_are_shown_before_the_server_has_found_their_last_commits() {
    let slow = |line: &String| line.contains("with_last_commit");
    let mut app = rocket(at("src/main.rs"), 160, 24);
    app.reply_raw(&blob("src/main.rs"), "fn main() {}\n");
    while let Some(next) = app.waiting().iter().position(|line| !slow(line)) {
        assert!(app.answer(next), "{:?}", app.waiting());
    }
    app.expect("frame.rs").expect("fn main() {}").expect_no("loading").expect_no("Draw rows");
    assert_eq!(app.waiting().iter().filter(|line| slow(line)).count(), 2, "{:?}", app.waiting());
    let with_commit = |mut entry: Value| {
        entry["last_commit"] = commit("bbbbbbbb");
        entry
    };
    let line = format!("GET {PROJECT}/repository/tree?path=src&with_last_commit=true");
    app.reply(&line, [file("src/main.rs"), file("src/frame.rs")].map(with_commit)).settle().await;
    assert!(app.line_with("frame.rs").contains("Draw rows"), "{}", app.picture());
    app.expect("fn main() {}");
}

#[tokio::test]
async fn a_submodule_opens_its_project_or_offers_its_address() {
    let mut app = rocket(Place::new("files").project("acme/rocket"), 120, 30);
    app.reply(
        &format!("GET {PROJECT}/repository/tree"),
        json!([file(".gitmodules"), fixtures::tree_entry("lib", "160000"), fixtures::tree_entry("other", "160000")]),
    );
    let modules = "[submodule \"lib\"]\n\tpath = lib\n\turl = ../lib.git\n\
                   [submodule \"other\"]\n\tpath = other\n\turl = https://elsewhere.test/a/b.git\n";
    app.reply_raw(&blob(".gitmodules"), modules).settle().await;
    app.press("g g").press("j").press("j").press("Enter").settle().await;
    app.expect("On another server, at sha-of-other").expect("https://elsewhere.test/a/b.git").press("Esc");
    app.press("k").press("Enter").settle().await;
    let tree = format!("GET /projects/acme%2Flib/repository/tree?ref={}", blob_id("lib"));
    assert!(app.asked.iter().any(|line| line.starts_with("GET /projects/acme%2Flib")), "{tree}: {:?}", app.asked);
}
