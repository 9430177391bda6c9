//! Artifacts: the archive as a tree, its files, its test reports as tables, and malicious archives.

use crate::fixtures::{self, With};
use crate::harness::{Begin, Harness};
use labscope::app::Place;
use labscope::app::action::Msg;
use labscope::app::transfer::{TransferEvent, Unpacked};
use serde_json::{Value, json};
use std::io::{Cursor, Write};
use zip::ZipWriter;
use zip::write::{FileOptions, SimpleFileOptions};

const ARCHIVE: &str = "GET /projects/acme%2Frocket-ui/jobs/1207/artifacts";
const JOB: &str = "GET /projects/acme%2Frocket-ui/jobs/1207";
const REPORT: &str = r#"<testsuites><testsuite name="unit">
<testcase classname="ui::table" name="head_is_shown" time="0.008"/>
<testcase classname="ui::table" name="narrow_is_no_panic" file="tests/table.rs" line="22" time="1.5">
<failure message="the last column has gone">thread panicked at src/ui/table.rs:41:9
 left: 3</failure><system-out>columns: 3</system-out></testcase>
<testcase name="later"><skipped message="not today"/></testcase>
</testsuite></testsuites>"#;
/// A PNG of one pixel.
const PIXEL: &[u8] = &[
    0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, b'I', b'H', b'D', b'R', 0, 0, 0, 1, 0, 0, 0, 1, 8,
    6, 0, 0, 0, 0x1f, 0x15, 0xc4, 0x89, 0, 0, 0, 0x0d, b'I', b'D', b'A', b'T', 0x78, 0x9c, 0x63, 0xf8, 0xcf, 0xc0,
    0xf0, 0x1f, 0, 5, 0, 1, 0xff, 0x56, 0xc7, 0x2f, 0x0d, 0, 0, 0, 0, b'I', b'E', b'N', b'D', 0xae, 0x42, 0x60, 0x82,
];

fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (path, bytes) in files {
        zip.start_file(*path, SimpleFileOptions::default()).expect("a file");
        zip.write_all(bytes).expect("bytes");
    }
    zip.finish().expect("an archive").into_inner()
}

fn usual() -> Vec<u8> {
    archive(&[
        ("summary.txt", b"first line\nsecond line\n"),
        ("report.xml", REPORT.as_bytes()),
        ("screens/one.png", PIXEL),
        ("screens/raw.bin", b"\0\x01\x02binary"),
        ("screens/deep/code.rs", b"fn main() {}\n"),
    ])
}

fn job() -> Value {
    fixtures::job(1207, "bench", "failed").with(json!({
        "artifacts_file": {"filename": "artifacts.zip", "size": 1234},
        "artifacts_expire_at": "2026-06-16T12:00:00Z",
        "commit": {"id": "0123456789abcdef0123456789abcdef01234567", "short_id": "01234567", "title": "t"},
    }))
}

fn begin(width: u16, height: u16) -> Harness {
    let place = Place::new("artifacts").project("acme/rocket-ui").item(1207);
    let mut harness = Begin::at(place).size(width, height).open();
    harness.reply(JOB, job());
    harness
}

async fn open(width: u16, height: u16, bytes: Vec<u8>) -> Harness {
    let mut harness = begin(width, height);
    harness.reply_raw(ARCHIVE, bytes).settle().await;
    harness
}

/// Selects a file in the tree by filtering.
fn go(harness: &mut Harness, name: &str) {
    harness.press("/").type_text(name).press("Enter");
}

#[tokio::test]
async fn an_archive_is_shown_as_a_tree_and_its_files_can_be_opened() {
    let mut harness = open(140, 30, usual()).await;
    let whole: usize = [23, REPORT.len(), PIXEL.len(), 9, 13].iter().sum();
    harness
        .expect(&format!("5 files · {whole} B"))
        .expect("▾ screens")
        .expect("▾ deep")
        .expect("23 B")
        .expect("expires in 1d");
    let lines = harness.lines();
    let row = |name: &str| lines.iter().position(|line| line.contains(name)).expect("a row");
    assert!(row("deep") < row("code.rs") && row("raw.bin") < row("summary.txt"), "folders come first");
    harness.press("G").settle().await;
    harness.expect("first line").expect("2 lines");
    harness.press("[").settle().await;
    harness.expect("narrow_is_no_panic");
    for (keys, words) in [("g g j j", "fn main() {}"), ("j", "PNG image 1×1"), ("j", "00 01 02 62 69 6e")] {
        harness.press(keys).settle().await;
        harness.expect(words);
    }
}

#[tokio::test]
async fn logs_are_shown_with_colors_or_as_raw_text() {
    let printed = b"plain\n\x1b[32mall well\x1b[0m and more\n\x1b]0;title\x07\x1b[2Jend\n";
    let mut harness = open(140, 30, archive(&[("run.log", printed), ("tool.sh", printed)])).await;
    go(&mut harness, "run.log");
    harness.settle().await;
    harness.expect("all well and more").expect("end").expect_no("[32m").expect_no("title").expect_no("[2J");
    assert!(harness.style_of("all well") != harness.style_of("and more"), "{}", harness.picture());
    harness.press("Enter m").settle().await;
    harness.expect("[32mall well");
    harness.press("m m").settle().await;
    harness.expect_no("[32m").press("/").type_text("well and").settle().await;
    assert!(harness.line_with("all well and").contains("│▌"), "{}", harness.picture());
    // Other files are shown as source first.
    let mut harness = open(140, 30, archive(&[("tool.sh", printed)])).await;
    harness.settle().await;
    harness.expect("[32mall well").press("Enter m").settle().await;
    harness.expect_no("[32m").expect("all well and more");
}

#[tokio::test]
async fn at_80_columns_either_the_tree_or_the_file_is_shown() {
    let mut harness = open(80, 24, usual()).await;
    harness.expect("summary.txt").expect_no("first line");
    harness.press("G Enter").settle().await;
    harness.expect("first line").press("Esc");
    harness.expect("report.xml").expect_no("first line");
}

#[tokio::test]
async fn with_range_support_only_the_listing_and_single_files_are_fetched() {
    let mut harness = begin(140, 30);
    let mut seed = 7_u32;
    let mut next = || {
        seed ^= seed << 13;
        seed ^= seed >> 17;
        seed ^= seed << 5;
        (seed >> 8) as u8
    };
    let noise: Vec<u8> = (0..400_000).map(|_| next()).collect();
    let bytes = archive(&[("noise.bin", &noise), ("summary.txt", b"from the archive\n")]);
    harness.reply_in_parts(ARCHIVE, bytes);
    harness.reply_raw(&format!("{ARCHIVE}/summary.txt"), "by itself\n");
    harness.reply_raw(&format!("{ARCHIVE}/noise.bin"), noise);
    harness.settle().await;
    harness.press("G").settle().await;
    harness.expect("by itself");
    let whole = harness.asked.iter().filter(|line| line.as_str() == ARCHIVE).count();
    assert_eq!(whole, 1, "{:?}", harness.asked);
}

#[tokio::test]
async fn a_test_report_lists_failures_first_and_opens_the_source() {
    let mut harness = open(160, 40, usual()).await;
    go(&mut harness, "report");
    harness.settle().await;
    harness.press("Enter").settle().await;
    harness.expect("3 tests · 1 failed · 1 skipped").expect("the last column has gone").expect("columns: 3");
    let lines = harness.lines();
    let row = |name: &str| lines.iter().position(|line| line.contains(name)).expect("a row");
    assert!(row("narrow_is_no_panic") < row("later") && row("later") < row("head_is_shown"));
    harness.press("x");
    harness.expect("left: 3").expect_no("head_is_shown").press("x");
    for (folder, file) in [("src%2Fui", "src/ui/table.rs"), ("tests", "tests/table.rs")] {
        let sha = "0123456789abcdef0123456789abcdef01234567";
        let request = format!("GET /projects/acme%2Frocket-ui/repository/tree?path={folder}&ref={sha}");
        harness.reply(&request, [json!({"type": "blob", "path": file, "name": "table.rs", "id": "1"})]);
    }
    harness.press("Enter").settle().await;
    // Where it broke comes before where the test is.
    harness.expect("Open source location").expect("src/ui/table.rs:41").press("Down Enter");
    let place = harness.app.place();
    assert_eq!((place.pane.as_str(), place.path.as_deref(), place.line), ("files", Some("tests/table.rs"), Some(22)));
    assert_eq!(place.git_ref, Some("0123456789abcdef0123456789abcdef01234567".into()));
}

/// The elements of Surefire 3.5 and prove, the output of Playwright 1.65, and an escape sequence as pytest writes it.
const RERUNS: &str = r##"<testsuites><testsuite name="unit">
<testcase name="sometimes"><flakyFailure message="first #x1B[31mred#x1B[0m"><stackTrace>at a.rs:3</stackTrace></flakyFailure></testcase>
<testcase name="never"><failure message="no"/><rerunFailure message="no"/><system-out>[[ATTACHMENT|screens/one.png]]</system-out></testcase>
<testcase name="" classname="Setup"><error message="class setup"/></testcase>
</testsuite><testsuite name="script"><error message="Dubious, test returned 255"/></testsuite></testsuites>"##;

#[tokio::test]
async fn flaky_tests_reruns_and_errors_of_suites_are_marked() {
    let files: &[(&str, &[u8])] = &[("report.xml", RERUNS.as_bytes()), ("screens/one.png", PIXEL)];
    let mut harness = open(160, 40, archive(files)).await;
    go(&mut harness, "report");
    harness.settle().await;
    harness.press("Enter").settle().await;
    harness.expect("3 tests · 2 failed · 1 suite error · 1 flaky · 2 reruns").expect("failed all 2 runs");
    harness.expect("Dubious, test returned 255").expect("class setup").expect("flaky: failed 1 of 2");
    harness.press("j j j").expect("first red").expect("at a.rs:3").expect_no("x1B").expect_no("U+001B");
    harness.press("g g Enter").settle().await;
    assert_eq!(harness.app.place().path.as_deref(), Some("screens/one.png"));
    // Only an error of a suite is no empty report.
    let only = archive(&[("report.xml", b"<testsuite name=\"script\"><error message=\"died\"/></testsuite>")]);
    let mut harness = open(160, 40, only).await;
    go(&mut harness, "report");
    harness.settle().await;
    harness.expect("0 tests · 1 suite error").expect("died");
}

#[tokio::test]
async fn a_test_report_can_be_shown_as_text_and_searched() {
    let mut harness = open(160, 40, usual()).await;
    go(&mut harness, "report");
    harness.settle().await;
    harness.press("Enter m").settle().await;
    harness.expect("<testsuites>").press("m").expect_no("<testsuites>");
    harness.press("G /").type_text("narrow").press("Enter");
    harness.expect("columns: 3");
    harness.press("j e");
    harness.expect("columns: 3");
}

#[tokio::test]
async fn files_and_archives_are_saved_under_plain_file_names() {
    let mut harness = open(140, 30, usual()).await;
    harness.press("G").settle().await;
    harness.press("s");
    harness.expect("summary.txt").press("Enter");
    harness.press("A Enter");
    let orders: Vec<_> =
        harness.transfers().iter().map(|(_, o)| (o.download.request.line(), o.path.clone(), o.download.size)).collect();
    assert_eq!(
        orders,
        [
            (format!("{ARCHIVE}/summary.txt"), "summary.txt".to_owned(), Some(23)),
            (ARCHIVE.to_owned(), "bench-1207.zip".to_owned(), Some(1234)),
        ]
    );
}

#[tokio::test]
async fn artifacts_can_be_kept_except_in_read_only_mode() {
    let mut harness = open(140, 30, usual()).await;
    harness.press("K");
    assert!(harness.asked.iter().any(|line| line.starts_with("POST") && line.ends_with("/artifacts/keep")));
    let place = Place::new("artifacts").project("acme/rocket-ui").item(1207);
    let mut harness = Begin::at(place).read_only().open();
    harness.reply(JOB, job()).reply_raw(ARCHIVE, usual()).settle().await;
    harness.press("K");
    harness.expect("read-only");
    assert!(!harness.asked.iter().any(|line| line.starts_with("POST")));
}

#[tokio::test]
async fn a_branch_and_a_job_name_open_the_last_successful_job() {
    let place = Place::new("artifacts").project("acme/rocket-ui").at("feature/x").item("unit");
    let mut harness = Begin::at(place).size(140, 30).open();
    let by_ref = "GET /projects/acme%2Frocket-ui/jobs/artifacts/feature%2Fx/download";
    harness.reply_in_parts(by_ref, usual());
    let row = job().with(json!({"status": "success", "name": "unit", "ref": "feature/x"}));
    harness.reply("GET /projects/acme%2Frocket-ui/jobs", [row]);
    harness.reply_raw(&format!("{ARCHIVE}/summary.txt"), "of the job\n").settle().await;
    assert!(harness.asked.iter().any(|line| line == &format!("{by_ref}?job=unit")), "{:?}", harness.asked);
    harness.expect("⎇ feature/x").expect("summary.txt");
    harness.press("R");
    harness.expect("branch or tag").expect("feature/x");
}

#[tokio::test]
async fn files_are_unpacked_locally_if_the_job_is_unknown() {
    let place = Place::new("artifacts").project("acme/rocket-ui").at("main").item("unit");
    let mut harness = Begin::at(place).size(140, 30).open();
    harness.reply_in_parts("GET /projects/acme%2Frocket-ui/jobs/artifacts/main/download", usual());
    harness.reply("GET /projects/acme%2Frocket-ui/jobs", json!([])).settle().await;
    harness.press("G").settle().await;
    harness.expect("first line").press("s").expect("The job is not known");
}

#[tokio::test]
async fn missing_denied_and_unreachable_artifacts_look_different() {
    let mut harness = begin(100, 24);
    harness.fail(ARCHIVE, 404, "404 Not found").settle().await;
    harness.expect("This job created no artifacts").expect_no("404");
    let mut harness = begin(100, 24);
    harness.fail(ARCHIVE, 403, "403 Forbidden").settle().await;
    harness.expect("Not allowed");
    let mut harness = begin(100, 24);
    harness.unreachable(ARCHIVE).settle().await;
    harness.expect("Server unreachable");
    harness.reply_raw(ARCHIVE, usual()).press("r").settle().await;
    harness.expect("summary.txt");
    for (field, value, words) in [
        ("erased_at", "2026-06-15T09:00:00Z", "erased 3h ago"),
        ("artifacts_expire_at", "2026-06-10T12:00:00Z", "expired 5d ago"),
    ] {
        let mut harness = begin(100, 24);
        let gone = job().with(json!({field: value, "artifacts_file": null}));
        harness.reply(JOB, gone).fail(ARCHIVE, 404, "404 Not found").settle().await;
        harness.expect(words);
    }
}

#[tokio::test]
async fn artifacts_of_a_running_job_appear_when_it_ends() {
    let place = Place::new("artifacts").project("acme/rocket-ui").item(1207);
    let mut harness = Begin::at(place).size(100, 24).open();
    let running = job().with(json!({"status": "running", "artifacts_file": null}));
    harness.reply(JOB, running).fail(ARCHIVE, 404, "404 Not found").settle().await;
    harness.expect("no artifacts yet");
    harness.reply(JOB, job()).reply_raw(ARCHIVE, usual()).pass(3).settle().await;
    harness.expect("summary.txt");
}

#[tokio::test]
async fn damaged_and_invalid_archives_are_reported() {
    let mut harness = open(100, 24, b"<html>an error page</html>".repeat(9)).await;
    harness.expect("is not a ZIP archive").expect("A saves");
    let whole = usual();
    let mut harness = open(100, 24, whole[40..].to_vec()).await;
    harness.expect("is damaged");
    let mut harness = open(100, 24, Vec::new()).await;
    harness.expect("is not a ZIP archive");
    let mut harness = open(100, 24, archive(&[])).await;
    harness.expect("This archive is empty");
    // One file is damaged; the others can be opened.
    let text = b"some text that is packed and then changed on its way to us, as happens to archives".repeat(30);
    let mut bytes = archive(&[("a.txt", &text), ("b.txt", b"well\n")]);
    bytes[60] ^= 0x5a;
    let mut harness = open(140, 30, bytes).await;
    harness.press("g g").settle().await;
    harness.expect("This file is damaged").press("j").settle().await;
    harness.expect("well");
}

#[tokio::test]
async fn links_and_paths_outside_of_the_archive_are_never_opened_or_saved() {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.add_symlink("shortcut", "/etc/passwd", FileOptions::<()>::default()).expect("a link");
    zip.start_file("aa/aa/evil.txt", SimpleFileOptions::default()).expect("a file");
    zip.write_all(b"gotcha").expect("bytes");
    let mut bytes = zip.finish().expect("an archive").into_inner();
    // The crate sanitizes such names when writing, so they are restored here.
    while let Some(at) = bytes.windows(6).position(|window| window == b"aa/aa/") {
        bytes[at..at + 6].copy_from_slice(b"../../");
    }
    let mut harness = open(140, 30, bytes).await;
    harness.expect("../../evil.txt").expect("unsafe path").expect("▲ link");
    harness.press("g g").settle().await;
    harness.expect("leaves the archive's folder").expect_no("gotcha").press("s").expect("it is not opened");
    harness.press("j").settle().await;
    harness.expect("It is a link to /etc/passwd. Links in archives are not followed");
    assert!(harness.transfers().is_empty());
}

#[tokio::test]
async fn a_zip_bomb_is_marked_and_not_unpacked() {
    let mut bytes = archive(&[("zeros", &vec![0; 300_000])]);
    let list = bytes.windows(4).position(|w| w == b"PK\x01\x02").expect("a list");
    bytes[list + 24..list + 28].copy_from_slice(&4_000_000_000_u32.to_le_bytes());
    let mut harness = open(140, 30, bytes).await;
    harness.expect("▲ zip bomb").expect("would unpack to 4.0 GB").expect("hundreds of times its size");
}

#[tokio::test]
async fn duplicate_names_are_listed_twice() {
    let mut bytes = archive(&[("one.txt", b"the first\n"), ("two.txt", b"the second\n")]);
    while let Some(at) = bytes.windows(7).position(|window| window == b"two.txt") {
        bytes[at..at + 7].copy_from_slice(b"one.txt");
    }
    let mut harness = open(140, 30, bytes).await;
    harness.expect("2 files").expect("duplicate");
    harness.press("g g").settle().await;
    harness.expect("the first").press("j").settle().await;
    harness.expect("the second");
}

#[tokio::test]
async fn hostile_names_are_sanitized_at_any_size() {
    let bytes = archive(&[("a\u{1b}[31mred\u{202e}txt", b"x"), ("ok/b.txt", b"y"), ("report.xml", REPORT.as_bytes())]);
    let mut harness = open(160, 40, bytes).await;
    assert!(!harness.picture().contains('\u{1b}') && !harness.picture().contains('\u{202e}'));
    for (width, height) in [(44, 12), (80, 14), (100, 12), (300, 90), (20, 6), (10, 3)] {
        harness.resize(width, height).press("Tab j z k z Tab G").settle().await;
        harness.press("x x");
    }
}

#[tokio::test]
async fn a_path_in_the_archive_can_be_opened_and_a_missing_one_is_reported() {
    let place = Place::new("artifacts").project("acme/rocket-ui").item(1207).path("screens/deep/code.rs");
    let mut harness = Begin::at(place).open();
    harness.reply(JOB, job()).reply_raw(ARCHIVE, usual()).settle().await;
    harness.expect("fn main() {}");
    let place = Place::new("artifacts").project("acme/rocket-ui").item(1207).path("screens/none");
    let mut harness = Begin::at(place).open();
    harness.reply(JOB, job()).reply_raw(ARCHIVE, usual()).settle().await;
    harness.expect("screens/none not found in these artifacts");
}

#[tokio::test]
async fn the_artifacts_screen_matches_its_snapshot() {
    let mut harness = open(120, 30, usual()).await;
    go(&mut harness, "report");
    harness.press("Esc").settle().await;
    insta::assert_snapshot!("artifacts_120", harness.picture());
}

#[tokio::test]
async fn a_folder_or_the_archive_can_be_unpacked_and_skipped_files_are_listed() {
    let mut harness =
        open(140, 30, archive(&[("site/css/a.css", b"a"), ("site/index.html", b"i"), ("top.txt", b"t")])).await;
    harness.press("g g u").expect("unpack into").expect("site");
    harness.press("C-u").type_text("/t/here").press("Enter");
    let (number, order) = harness.transfers().last().cloned().expect("an order");
    assert_eq!(
        (order.path.as_str(), order.download.unpack.map(|unpack| unpack.folder)),
        ("/t/here", Some("site".into()))
    );
    harness.send(Msg::Transfer(number, TransferEvent::Began { from: 0, total: Some(8_000_000) }));
    harness.send(Msg::Transfer(number, TransferEvent::Unpacking(40_000_000)));
    harness.pass(2).send(Msg::Transfer(number, TransferEvent::Received(10_000_000)));
    harness.expect("10.0 of 40.0 MB").press("g d").expect("unpacking").press("Esc");
    let left_out = vec!["../evil\u{1b}[2J.txt (unsafe path)".to_owned(), "link (link)".into()];
    let unpacked = Unpacked { files: 3, bytes: 40_000_000, left_out };
    harness.send(Msg::Transfer(number, TransferEvent::Unpacked { path: "/t/here".into(), unpacked }));
    harness.expect("Unpacked 3 files (40.0 MB) into /t/here; skipped: ../evil␛[2J.txt (unsafe path) and 1 more");
    // For a file at the top level, the whole archive is unpacked.
    harness.press("G u").expect("unpack into").press("Enter");
    let (_, order) = harness.transfers().last().cloned().expect("an order");
    assert_eq!(order.download.unpack.map(|unpack| unpack.folder), Some(String::new()));
    harness.press("g g U Enter");
    assert_eq!(harness.transfers().len(), 3);
}
