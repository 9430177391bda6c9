//! The parsers of foreign input, with their seeds and the invariants of their results.

use jiff::Timestamp;
use labscope::api::page::PageInfo;
use labscope::app::keymap::{Key, parse_chord};
use labscope::app::outbox::{DiffPosition, Draft};
use labscope::app::registry::places;
use labscope::app::state::{AccountState, StateFile};
use labscope::app::{dates, query, target};
use labscope::backend::demo::schema::WorldFile;
use labscope::backend::demo::script::{Placeholders, Playback, Script};
use labscope::backend::params;
use labscope::config::remote::Remote;
use labscope::config::sign_in::SignIn;
use labscope::config::{Config, address, glab};
use labscope::domain::junit;
use labscope::domain::line_reports::{self, RepositoryPaths};
use labscope::domain::parts::{Parts, Step};
use labscope::domain::public_key::{self, Family};
use labscope::domain::zip as archive;
use labscope::panes::PANES;
use labscope::ui::ansi;
use labscope::ui::code::{Budget, Highlighter, Text};
use labscope::ui::diff::{self, DiffDoc, DiffOptions, Layout, Source};
use labscope::ui::doc::{self, DocLine, DocState};
use labscope::ui::image::Image;
use labscope::ui::theme::{Background, Theme};
use labscope::ui::trace::{Folds, Trace};
use labscope::ui::{csv, markdown, search, text, word_diff};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use reqwest::header::{HeaderMap, HeaderValue, LINK};
use std::io::Write;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, LazyLock};

/// A parser under test.
pub struct Reader {
    pub name: &'static str,
    /// Returns well-formed inputs.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Words with a special meaning in the input format.
    pub words: &'static [&'static str],
    /// The maximum number of bytes allocated, freed or not, per byte of input.
    pub cost: usize,
    /// Parses the input and checks the result; returns the problem, if any.
    pub read: fn(&[u8]) -> Result<(), String>,
}

type Check = Result<(), String>;

static THEME: LazyLock<Theme> = LazyLock::new(|| Theme::for_background(Background::Dark));

/// Checks that a text neither controls the terminal nor hides or reorders other text.
pub fn calm(shown: &str) -> Check {
    match shown.chars().find(|c| c.is_control() || text::is_invisible(*c) && !matches!(c, '\u{200c}' | '\u{200d}')) {
        Some(c) => Err(format!("{c:?} would reach the terminal, in {shown:?}")),
        None => Ok(()),
    }
}

/// Checks that the drawn cells contain only visible text.
fn calm_screen(buffer: &Buffer) -> Check {
    buffer.content().iter().try_for_each(|cell| calm(cell.symbol()))
}

/// Draws the lines of a document and checks the screen.
fn drawn<'a>(len: usize, line: impl Fn(usize) -> DocLine<'a>) -> Check {
    let mut buffer = Buffer::empty(Rect::new(0, 0, 40, 12));
    let mut state = DocState::new();
    for wrap in [false, true] {
        state.wrap = wrap;
        for at in [0, len / 2, len.saturating_sub(1)] {
            state.goto(at, len);
            buffer.reset();
            let area = buffer.area;
            doc::draw(&mut buffer, area, &THEME, true, &state, len, 0, &line);
            calm_screen(&buffer)?;
        }
    }
    Ok(())
}

fn must(holds: bool, why: impl Fn() -> String) -> Check {
    if holds { Ok(()) } else { Err(why()) }
}

/// Checks that ranges are in order and on character boundaries.
fn ranges_fit<'a>(ranges: impl Iterator<Item = &'a Range<usize>>, of: &str) -> Check {
    let mut last = 0;
    for range in ranges {
        must(range.start >= last && of.get(range.clone()).is_some(), || format!("{range:?} of {of:?}"))?;
        last = range.end;
    }
    Ok(())
}

fn lossy(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

fn texts(all: &[&str]) -> Vec<Vec<u8>> {
    all.iter().map(|text| text.as_bytes().to_vec()).collect()
}

const DIFF: &str = "@@ -1,4 +1,5 @@ fn main() {\n one\n-two\n+zwei\n+drei\n three\n@@ -90 +91,2 @@\n-x\n+y\n+z\n\\ No newline at end of file\n";
const MARKDOWN: &str = "# Title\n\nSome *text* with `code`, ~~more~~ and [a link](https://x.org/a?b=c \"t\").\n\n> a quote\n> - [x] done\n>   1. one\n\n| a | b |\n|---|:-:|\n| 1 | !12 |\n\n```rust\nfn main() {}\n```\n\n[^1]: a note\n<b>html</b> &amp; @ada\n";
const README: &str = "<p align=\"center\">\n <img width=\"40\"\n src=\"a.png\" alt=\"A\"/><br>\n <a href=\"#b\">b</a>\n</p>\n\n<details><summary>c</summary>\n\n<table><tr><th>d</th><th align=right>e</th></tr>\n<tr><td colspan=\"2\">\n\n- f\n\n| g | h |\n|---|---|\n\n</td></tr></table>\n\n</details>\n<!-- i -->\n<script>run()</script>\n";
const TRACE: &str = "2026-06-15T12:00:00.123456Z 00O \x1b[0;32msection_start:1718452800:build[collapsed=true]\r\x1b[0Kmake\x1b[0m\r\nprogress 10%\rprogress 100%\r\n\x1b[31;1merror\x1b[0m: it broke\x1b[K\nsection_end:1718452801:build\r\x1b[0K\n";
/// Reports about lines, as tools wrote them.
const LINE_REPORTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/line_reports");
const JUNIT: &str = "<?xml version=\"1.0\"?><testsuites><testsuite name=\"a\" tests=\"2\" time=\"1.5\"><testcase name=\"t\" classname=\"c\" file=\"a.rs\" time=\"0.5\"><failure message=\"no\">at a.rs:12\n<![CDATA[more]]></failure></testcase><testcase name=\"u\"><skipped/></testcase><testcase name=\"v\"><flakyFailure message=\"x\"><stackTrace>at a.b.C.d(C.java:3)</stackTrace></flakyFailure><system-out>[[ATTACHMENT|a.png]] ^[[31m</system-out></testcase><error message=\"- file: a.c\"/></testsuite></testsuites>";
const CONFIG: &str = "host = \"work\"\ntheme = \"dark\"\n\n[hosts.work]\nurl = \"https://gitlab.example.com\"\n\n[keys]\n\"mr.approve\" = \"A\"\n\n[[commands]]\nname = \"Tree\"\nkey = \"M-w\"\nrun = [\"git\", \"log\", \"{sha}\"]\nshow = \"pane\"\n";
const DRAFT: &str = r#"{"on":{"MergeRequest":{"project":"a/b","iid":1}},"spot":{"path":"a.rs","sha":"abc","lines":[1,2]},"text":"x","state":"Kept"}"#;
const POSITION: &str = "`a.rs:3-5` at 4803c71e\n> ```\n> quoted\n> ```\n\nWhy so?";
const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJoFqVdRFFhLGLqXcRGPp4zUBvZgVcZrmpTCkxz3rIOh ada@example.com";
const SCRIPT: &str = "$ make {sha}\n@0.5 Running on {runner}\n@0.2x3 step {i}\n@bar 1 Loading\n@section a Title\n@end a\n@clear\n\\e[32mdone\\c\n";

/// All readers.
pub const READERS: &[Reader] = &[
    Reader {
        name: "lines_of_a_trace",
        seeds: || texts(&[TRACE]),
        words: &["\r", "\x1b[K", "\x1b[0K", "\x1b[38;5;", "\x1b[48;2;1;2;3m", "\x1b[10G", "\x1b[A", "\x08", "\t", ";"],
        cost: 400,
        read: |bytes| {
            let mut state = ansi::SgrState::default();
            for line in bytes.split(|byte| *byte == b'\n') {
                let mut also = state;
                let parsed = ansi::parse_line(&mut state, line);
                calm(&parsed.text)?;
                ranges_fit(parsed.runs.iter().map(|run| &run.range), &parsed.text)?;
                also.advance(line);
                must(parsed.cut || also == state, || format!("{also:?} and {state:?} after {:?}", parsed.text))?;
                state = also;
            }
            Ok(())
        },
    },
    Reader {
        name: "traces_in_pieces",
        seeds: || texts(&[TRACE]),
        words: &[
            "section_start:1:a\r\x1b[0K",
            "section_end:1:a\r\x1b[0K",
            "\r\n",
            "2026-06-15T12:00:00.123456Z 00O+",
            "\n",
        ],
        cost: 3000,
        read: |bytes| {
            let rows = |piece: usize| {
                let mut trace = Trace::default();
                bytes.chunks(piece.max(1)).for_each(|chunk| trace.push(chunk));
                let mut folds = Folds::default();
                folds.refresh(&trace);
                let rows = trace.view(0..60, &folds);
                let rows = rows.into_iter().map(|row| (row.line, row.text)).collect::<Vec<_>>();
                (rows, trace.len_lines(), trace.bytes_len())
            };
            let whole = rows(bytes.len());
            let torn = rows(1 + bytes.len() / 13);
            must(whole == torn, || format!("in one piece {whole:?}\nand in several {torn:?}"))?;
            whole.0.iter().try_for_each(|(_, line)| calm(&line.text))
        },
    },
    Reader {
        name: "diffs",
        seeds: || texts(&[DIFF]),
        words: &[
            "@@ -1 +1 @@\n",
            "@@ -1,9999999999 +0,0 @@",
            "\n+",
            "\n-",
            "\n ",
            "\n\\ No newline at end of file\n",
            "--- a\n+++ b\n",
            "@@",
        ],
        cost: 4000,
        read: |bytes| {
            let source = Source {
                old_path: "a.rs".into(),
                new_path: "a.rs".into(),
                diff: lossy(bytes).into_owned(),
                ..Source::default()
            };
            let file = Arc::new(diff::parse(source));
            for line in &file.lines {
                must(file.source.diff.contains(file.text(line)), || format!("{line:?} is not of the diff"))?;
            }
            let mut doc = DiffDoc::new(vec![file]);
            let mut buffer = Buffer::empty(Rect::new(0, 0, 60, 14));
            for (layout, wrap) in [(Layout::Unified, Some(false)), (Layout::Unified, Some(true)), (Layout::Split, None)]
            {
                doc.set_layout(layout, None);
                let mut state = DocState::new();
                let look = DiffOptions { theme: &THEME, focused: true, wrap, marks: &|_| Vec::new(), marked: None };
                for row in [0, doc.len() / 2, doc.len().saturating_sub(1)] {
                    must(doc.content(row).is_none_or(|place| doc.row(place) == Some(row)), || {
                        format!("row {row} is elsewhere")
                    })?;
                    state.goto(row, doc.len());
                    buffer.reset();
                    let area = buffer.area;
                    diff::draw(&mut buffer, area, &doc, &state, &look);
                    calm_screen(&buffer)?;
                }
            }
            Ok(())
        },
    },
    Reader {
        name: "markdown",
        seeds: || texts(&[MARKDOWN, README]),
        words: &[
            "<table>",
            "</table>",
            "<tr>",
            "<td colspan=2>",
            "<th>",
            "<img src=a.png>",
            "<!--",
            "<details>",
            "<a href=\"#x\">",
            "<p onclick=x>",
            "> ",
            "- ",
            "```",
            "|",
            "\n\n",
            "[a](",
            "![",
            "**",
            "_",
            "<b>",
            "&#x1b;",
            "1. ",
            "~~~",
            "[^1]",
            "    ",
            "#",
        ],
        cost: 12_000,
        read: |bytes| {
            let made = markdown::render(&lossy(bytes), 38, &THEME, &Budget::new(&|| false));
            let bytes = |line: &DocLine| line.text.len();
            let mut linked = made.lines.iter().filter(|line| !line.links.is_empty());
            let within = linked.all(|line| line.links.iter().all(|(range, _)| range.end <= bytes(line)));
            must(within, || "a link beyond the text".into())?;
            drawn(made.lines.len(), |at| made.lines.get(at).map(DocLine::borrowed).unwrap_or_default())
        },
    },
    Reader {
        name: "tables",
        seeds: || texts(&["name,size\n\"a, \"\"b\"\"\",1\nc,2\n", "a\tb\n1\t2\n"]),
        words: &["\"", "\"\"", ",", "\n", "\r\n", ";"],
        cost: 4000,
        read: |bytes| {
            let text = Arc::new(Text::new(bytes.to_vec()));
            let table = csv::CsvTable::read(text, b',', &|| false);
            drawn(table.len(), |at| table.line(at))
        },
    },
    Reader {
        name: "encodings",
        seeds: || {
            vec![
                b"\xef\xbb\xbfa\nb".to_vec(),
                b"\xff\xfea\0\n\0".to_vec(),
                b"\xfe\xff\0a\0\n".to_vec(),
                "Grüße\r\n".into(),
                b"\x93quoted\x94 caf\xe9".to_vec(),
            ]
        },
        words: &["\u{feff}", "\r\n"],
        cost: 400,
        read: |bytes| {
            let text = Text::new(bytes.to_vec());
            must(text.is_empty() || !text.as_str().is_empty(), || "lines without text".into())?;
            must(text.bytes_len() == bytes.len(), || format!("{} bytes", text.bytes_len()))
        },
    },
    Reader {
        name: "highlighted_code",
        seeds: || {
            texts(&["fn main() { let a = \"b\"; /* c */ }\n// d\n", "#!/bin/sh\nif true; then echo \"$x\"; fi\n"])
        },
        words: &["\"", "/*", "*/", "r#\"", "'", "{", "}", "\\", "//", "\n"],
        cost: 200_000,
        read: |bytes| {
            let text = Arc::new(Text::new(bytes[..bytes.len().min(2048)].to_vec()));
            let highlighter = Highlighter::new(text.clone(), "a.rs");
            _ = highlighter.highlight(0..text.len(), &|| false);
            drawn(text.len(), |line| labscope::ui::code::draw(&text, line, None, &THEME))
        },
    },
    Reader {
        name: "changed_words",
        seeds: || texts(&["let a = compute(b, 1);\nlet aa = compute(bb, 12);"]),
        words: &["\n", "_", "(", "ß", " "],
        cost: 2000,
        read: |bytes| {
            let text = lossy(bytes);
            let (old, new) = text.split_once('\n').unwrap_or((&text, ""));
            let Some((left, right)) = word_diff::changed(old, new) else { return Ok(()) };
            let usual =
                |ranges: &[Range<u32>]| ranges.iter().map(|r| r.start as usize..r.end as usize).collect::<Vec<_>>();
            ranges_fit(usual(&left).iter(), old)?;
            ranges_fit(usual(&right).iter(), new)
        },
    },
    Reader {
        name: "sanitizing",
        seeds: || texts(&["a\u{1b}[31mb\tc\u{202e}d\u{301}", "👨‍👩‍👧 表 ffi"]),
        words: &["\u{301}", "\u{200d}", "\u{fe0f}", "\t", "\u{9b}", "\u{ad}", "🏳️‍🌈"],
        cost: 2000,
        read: |bytes| {
            let text = lossy(bytes);
            let once = text::sanitize(&text).into_owned();
            calm(&once)?;
            must(text::sanitize(&once) == once, || format!("{once:?} is changed again"))?;
            for width in [1, 7, 40] {
                let fit = text::fit(&once, width);
                must(text::width(&fit) <= width, || format!("{fit:?} in {width} columns"))?;
                for line in text::wrap(&text, width.max(2), 50) {
                    // Joined characters are never split, and a long run of joiners that is split may be one column
                    // wider on its own than in its text.
                    let spare = usize::from(line.contains('\u{200d}'));
                    let fits = text::width(&line) <= width.max(2) + spare || text::cells(&line).count() == 1;
                    must(fits, || format!("{line:?} in {width} columns"))?;
                }
            }
            Ok(())
        },
    },
    Reader {
        name: "targets",
        seeds: || {
            texts(&[
                "https://gitlab.example.com/a/b/-/blob/main/src/x.rs#L10",
                "a/b!12",
                "a/b@main:src/x.rs:3",
                "a/b$3",
                "a/b#7",
                "a/b/-/compare/x...y",
                "admin/runners",
            ])
        },
        words: &["/-/", "merge_requests/", "!", "#", "@", ":", "...", "%2F", "%ff", "?scope=all", "jobs/", "https://"],
        cost: 4000,
        read: |bytes| {
            for root in ["", "https://gitlab.example.com/git"] {
                if let Err(error) = target::parse(&places(PANES), &lossy(bytes), root) {
                    must(!error.to_string().is_empty(), || "an error without words".into())?;
                }
            }
            Ok(())
        },
    },
    Reader {
        name: "queries",
        seeds: || texts(&["state:opened author:ada label:\"a b\" fix the \"bug now\"", "-label:x is:draft"]),
        words: &["\"", ":", "state:", " ", "-", "\\\""],
        cost: 1000,
        read: |bytes| {
            let text = lossy(bytes);
            let with = query::with(&text, "state", "all of it");
            must(query::get(&with, "state").as_deref() == Some("all of it"), || format!("{with:?} has no state"))?;
            let without = query::with(&with, "state", "");
            must(query::get(&without, "state").is_none(), || format!("{without:?} has a state"))?;
            _ = query::keyed_and_plain(&text);
            Ok(())
        },
    },
    Reader {
        name: "dates",
        seeds: || texts(&["2026-06-15", "2026-06-15T12:00:00Z", "yesterday", "3 days ago", "2w"]),
        words: &["-", "days", "ago", "w", "99999"],
        cost: 1000,
        read: |bytes| {
            _ = dates::parse(&lossy(bytes), &Timestamp::UNIX_EPOCH.to_zoned(jiff::tz::TimeZone::UTC));
            Ok(())
        },
    },
    Reader {
        name: "remotes",
        seeds: || {
            texts(&["git@example.com:group/project.git", "ssh://git@host:22/group/project.git", "https://host/a/b.git"])
        },
        words: &["://", "@", ":", ".git", "[::1]", "//"],
        cost: 1000,
        read: |bytes| {
            _ = Remote::parse(&lossy(bytes));
            Ok(())
        },
    },
    Reader {
        name: "servers",
        seeds: || texts(&["gitlab.example.com", "https://host:8443/git", "localhost:3000", "user:secret@host"]),
        words: &["://", "@", ":", "http", "[::1]", "?", "#"],
        cost: 2000,
        read: |bytes| match address::parse_address(&lossy(bytes)) {
            Ok(url) => must(url.password().is_none() && url.has_host(), || format!("{url}")),
            Err(_) => Ok(()),
        },
    },
    Reader {
        name: "config",
        seeds: || texts(&[CONFIG]),
        words: &["[hosts.", "]\n", "[[commands]]\n", "\"", "'''", "= ", "{a = 1}", "\n"],
        cost: 4000,
        read: |bytes| match Config::parse(Path::new("config.toml"), lossy(bytes).into_owned()) {
            Ok(_) => Ok(()),
            Err(why) => must(why.contains("config.toml"), || format!("the file is not named: {why}")),
        },
    },
    Reader {
        name: "settings_of_glab",
        seeds: || {
            texts(&[
                "hosts:\n    gitlab.com:\n        token: !!null abc\n        api_protocol: https\n        user: 'ada'\n",
            ])
        },
        words: &["    ", "\n", ": ", "hosts:", "'", "\"", "!!null "],
        cost: 1000,
        read: |bytes| {
            _ = glab::parse(&lossy(bytes));
            Ok(())
        },
    },
    Reader {
        name: "themes",
        seeds: || texts(&[include_str!("../../themes/dark.toml")]),
        words: &["#ff00zz", "\"none\"", "[styles]", "\n", "bg = ", "bold"],
        cost: 1000,
        read: |bytes| {
            _ = Theme::parse(&lossy(bytes));
            Ok(())
        },
    },
    Reader {
        name: "state_files",
        seeds: || {
            texts(&[
                r#"{"version":1,"pins":["a/b"],"columns":{"tags":{"columns":["name"],"order":null,"down":false}}}"#,
                r#"{"visits":[{"place":{"pane":"mr","project":"a/b","item":"1"},"at":"2026-06-15T12:00:00Z"}],"files":{}}"#,
                r#"{"merge_requests":{"7":{"sha":"abc","notes":2,"at":"2026-06-15T12:00:00Z"}}}"#,
            ])
        },
        words: &["{", "}", "[", "]", ",", "null", "\"version\":2", "\"pins\":"],
        cost: 6000,
        read: |bytes| {
            for name in StateFile::NAMES {
                let mut state = AccountState::default();
                state.read(name, &lossy(bytes));
                for file in state.changed_since(&AccountState::default()) {
                    let mut again = AccountState::default();
                    must(again.read(file.name(), &file.to_json()), || format!("{} is not read again", file.to_json()))?;
                    let lasts = again.changed_since(&AccountState::default());
                    must(lasts.len() == 1 && lasts[0].to_json() == file.to_json(), || {
                        format!("{} is not the same when read again", file.to_json())
                    })?;
                }
            }
            Ok(())
        },
    },
    Reader {
        name: "drafts",
        seeds: || texts(&[DRAFT]),
        words: &["{", "}", "null", "\"text\":", "\"lines\":[4294967295,0]", "\"thread\":{\"new\":{\"position\":null}}"],
        cost: 2000,
        read: |bytes| {
            let Some(draft) = Draft::read(&lossy(bytes)) else { return Ok(()) };
            _ = (draft.body(), draft.write());
            must(Draft::read(&draft.to_json()).as_ref() == Some(&draft), || {
                format!("{} is another draft", draft.to_json())
            })
        },
    },
    Reader {
        name: "positions_in_notes",
        seeds: || texts(&[POSITION]),
        words: &["`", "``", " at ", "> ", "\n", ":1-", "4294967296", "abcdef0"],
        cost: 1000,
        read: |bytes| {
            let text = lossy(bytes);
            let Some((spot, rest)) = DiffPosition::parse_note(&text) else { return Ok(()) };
            must(text.ends_with(rest), || format!("{rest:?} is not its end"))?;
            let Some(head) = spot.note_header() else { return Ok(()) };
            let again = format!("{head}{rest}");
            let read = DiffPosition::parse_note(&again).map(|(spot, rest)| (spot, rest.to_owned()));
            must(read.as_ref().is_some_and(|(again, _)| again.has_same_end(&spot)), || {
                format!("{again:?} is {read:?}, not {spot:?}")
            })
        },
    },
    Reader {
        name: "sign_ins",
        seeds: || {
            texts(&[
                r#"{"access_token":"a","refresh_token":"b","expires_at":"2026-06-15T12:00:00Z","scope":"api","client_id":"c","id":"d"}"#,
            ])
        },
        words: &["{", "}", "null", "\""],
        cost: 1000,
        read: |bytes| match SignIn::parse(&lossy(bytes)) {
            Some(sign_in) => must(SignIn::parse(&sign_in.to_text()).is_some(), || "it is not read again".into()),
            None => Ok(()),
        },
    },
    Reader {
        name: "archives",
        seeds: || {
            let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
            for (path, text) in [("a.txt", "one"), ("dir/b.txt", "a line, and a line, and a line of some text")] {
                let options = zip::write::SimpleFileOptions::default();
                zip.start_file(path, options).expect("begun");
                zip.write_all(text.as_bytes()).expect("written");
            }
            vec![zip.finish().expect("ended").into_inner()]
        },
        words: &["PK\u{1}\u{2}", "PK\u{3}\u{4}", "PK\u{5}\u{6}", "../", "/"],
        cost: 40_000,
        read: |bytes| {
            let parts = Parts::whole(bytes.to_vec().into());
            let list = match archive::list(&parts, &|| false) {
                Step::Done(Ok(list)) => list,
                Step::Done(Err(why)) => return calm(&why.why()),
                Step::Need(range) => return Err(format!("{range:?} of a whole archive")),
            };
            for entry in list.entries.iter().take(20) {
                match archive::extract_to_memory(&parts, entry, 1 << 16) {
                    Step::Done(Ok(bytes)) => {
                        must(bytes.len() as u64 == entry.uncompressed_size, || format!("{} bytes", bytes.len()))?
                    }
                    Step::Done(Err(_)) => {}
                    Step::Need(range) => return Err(format!("{range:?} of a whole archive, for {entry:?}")),
                }
            }
            Ok(())
        },
    },
    Reader {
        name: "test_reports",
        seeds: || {
            // The expressions for locations are compiled once, whatever is read.
            let report = junit::read(JUNIT, &|| false);
            _ = report.map(|report| report.cases.iter().map(|case| case.source_locations().len()).sum::<usize>());
            texts(&[JUNIT])
        },
        words: &[
            "<testcase",
            "<testsuite",
            "</testsuite>",
            "<![CDATA[",
            "]]>",
            "&lt;",
            "&#0;",
            "<failure",
            "time=\"",
            "<!DOCTYPE a [<!ENTITY b \"c\">]>",
            "&b;",
            "/>",
        ],
        cost: 4000,
        read: |bytes| {
            let Some(report) = junit::read(&lossy(bytes), &|| false) else { return Ok(()) };
            for location in report.cases.iter().take(20).flat_map(|case| case.source_locations()) {
                let is_relative = |path: &String| !path.is_empty() && !path.starts_with('/');
                must(location.paths("a/b").iter().all(is_relative), || format!("{location:?}"))?;
            }
            must(report.time() >= 0.0, || format!("{} seconds", report.time()))
        },
    },
    Reader {
        name: "line_reports",
        seeds: || {
            let report = |name: &str| std::fs::read(format!("{LINE_REPORTS}/{name}")).expect("a report");
            ["gcovr.xml", "nyc.xml", "eslint.json", "ruff.json"].map(report).to_vec()
        },
        words: &[
            "<line",
            "number=\"",
            "hits=\"",
            "<class",
            "filename=\"",
            "<source>",
            "&lt;",
            "<!ENTITY",
            "{",
            "[",
            "\"location\":",
        ],
        cost: 4000,
        read: |bytes| {
            let paths = ["add.c", "js/total.js", "src/cart/total.py"].map(str::to_owned).into();
            let changed = RepositoryPaths { projects: vec!["acme/shop".into()], paths };
            for kind in line_reports::Kind::ALL {
                let read = line_reports::read(kind, &Parts::whole(bytes.to_vec().into()), &changed, &|| false);
                let Step::Done(Ok(reports)) = read else { continue };
                let known = |path: &String| reports.file(path).is_none_or(|lines| !lines.is_empty());
                must(changed.paths.iter().all(known), || "a file without lines".into())?;
            }
            Ok(())
        },
    },
    Reader {
        name: "public_keys",
        seeds: || {
            texts(&[
                KEY,
                "---- BEGIN SSH2 PUBLIC KEY ----\nAAAAC3NzaC1lZDI1NTE5AAAAIA==\n---- END SSH2 PUBLIC KEY ----",
                "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmDMEZ0000BYJKwYBBAHaRw8BAQdA\n=abcd\n-----END PGP PUBLIC KEY BLOCK-----",
            ])
        },
        words: &["ssh-rsa ", "AAAA", "=", "-----BEGIN", "-----END", "\n", "sk-ssh-ed25519@openssh.com "],
        cost: 2000,
        read: |bytes| {
            for family in [Family::Ssh, Family::Gpg] {
                if let Err(why) = public_key::read_bytes(family, bytes) {
                    must(!why.is_empty(), || "an error without words".into())?;
                }
            }
            Ok(())
        },
    },
    Reader {
        name: "links_to_pages",
        seeds: || texts(&["<https://h/api/v4/p?page=2&per_page=20>; rel=\"next\", <https://h/?page=9>; rel=\"last\""]),
        words: &["<", ">", ";", ",", "rel=next", "rel=\"next\"", "page=", "cursor=", "&", "?"],
        cost: 1000,
        read: |bytes| {
            let Ok(value) = HeaderValue::from_bytes(bytes) else { return Ok(()) };
            _ = PageInfo::from_headers(&HeaderMap::from_iter([(LINK, value)]));
            Ok(())
        },
    },
    Reader {
        name: "forms",
        seeds: || texts(&["a=1&b[]=2&b[]=3&c[d]=4&e[][f]=5"]),
        words: &["[", "]", "[]", "&", "=", "%5B", "%", "+"],
        cost: 3000,
        read: |bytes| {
            let mut inputs = params::Inputs::new();
            _ = params::add_pairs(&mut inputs, bytes);
            Ok(())
        },
    },
    Reader {
        name: "multipart_forms",
        seeds: || {
            texts(&[
                "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"b.txt\"\r\n\r\nbytes\r\n--x--\r\n",
            ])
        },
        words: &["--x", "--x--", "\r\n", "\r\n\r\n", "name=\"", "filename=", ";"],
        cost: 3000,
        read: |bytes| {
            let mut inputs = params::Inputs::new();
            _ = params::add_multipart(&mut inputs, "multipart/form-data; boundary=x", bytes);
            Ok(())
        },
    },
    Reader {
        name: "worlds",
        seeds: || {
            texts(&[
                "now = \"2026-11-20T16:00:00Z\"\nusers = [{ username = \"root\", admin = true }]\n\n[[projects]]\npath = \"bo/garden\"\nmembers = { ada = \"maintainer\" }\n",
            ])
        },
        words: &["[[projects]]\n", "[[merge_requests]]\n", "= ", "\"", "\n"],
        cost: 4000,
        read: |bytes| match WorldFile::parse("world.toml", &lossy(bytes)) {
            Ok(_) => Ok(()),
            Err(error) => must(error.file.starts_with("world.toml:"), || error.file.clone()),
        },
    },
    Reader {
        name: "scripts",
        seeds: || texts(&[SCRIPT]),
        words: &[
            "@",
            "@0x9",
            "{sha}",
            "{i}",
            "\n",
            "@1e9 ",
            "@0x18446744073709551615 ",
            "@clear\n",
            "@bar 9 ",
            "\\xff",
            "\\c",
        ],
        cost: 4000,
        read: |bytes| {
            let text = lossy(bytes);
            let script = Script::parse(&text);
            let placeholders = Placeholders { sha: "abc".into(), ..Placeholders::default() };
            let playback = Playback { started: Timestamp::UNIX_EPOCH, elapsed: Some(5), total: 10 };
            let len = script.len(&placeholders, &playback);
            if len > 1 << 16 {
                return Ok(());
            }
            let mut out = Vec::new();
            script.write(&placeholders, &playback, 0, &mut out).map_err(|error| error.to_string())?;
            must(out.len() as u64 == len, || format!("{} bytes of {len}", out.len()))
        },
    },
    Reader {
        name: "pictures",
        seeds: || {
            let mut png = Vec::new();
            let pixels = image::RgbImage::from_fn(5, 4, |x, y| image::Rgb([x as u8 * 40, y as u8 * 60, 9]));
            pixels.write_to(&mut std::io::Cursor::new(&mut png), image::ImageFormat::Png).expect("written");
            vec![png, b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;".to_vec()]
        },
        words: &["IHDR", "IDAT", "GIF89a"],
        // A few bytes may declare a large picture.
        cost: 16 << 20,
        read: |bytes| {
            _ = Image::read(bytes);
            Ok(())
        },
    },
    Reader {
        name: "patterns",
        seeds: || texts(&["error", "fn\\s+(\\w+)", "[a-z]{2,5}$"]),
        words: &["(", ")", "[", "]", "{9999}", "\\", "*", "|", "\\p{L}", "(?i)"],
        // The regex engine bounds the size of a compiled pattern itself.
        cost: 1 << 20,
        read: |bytes| {
            let lines = ["an error", "fn main() {}"];
            match search::pattern(&lossy(bytes)) {
                Some(pattern) => ranges_fit(
                    pattern.find_iter(lines[0]).map(|found| found.range()).collect::<Vec<_>>().iter(),
                    lines[0],
                ),
                None => Ok(()),
            }
        },
    },
    Reader {
        name: "keys",
        seeds: || texts(&["C-S-x", "M-Enter", "F12", "g w", "Space", "C-M-PageDown"]),
        words: &["C-", "M-", "S-", "F", " ", "Tab"],
        cost: 1000,
        read: |bytes| {
            let text = lossy(bytes);
            _ = parse_chord(&text);
            match Key::parse(&text) {
                Some(key) => must(Key::parse(&key.to_string()) == Some(key), || format!("{text:?} is {key}")),
                None => Ok(()),
            }
        },
    },
];
