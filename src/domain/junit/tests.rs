//! Tests of test reports.

use super::*;

fn read_all(text: &str) -> Report {
    read(text, &|| false).expect("a report")
}

const REPORT: &str = r#"<?xml version="1.0"?>
<testsuites><testsuite name="unit">
  <testcase classname="a::b" name="passes" time="0.5"/>
  <testcase name="fails" file="src/a.rs" line="7"><failure type="assert" message="1 &lt; 0 &amp; more">
thread 'x' panicked at src/deep/a.rs:12:5
  File "lib/b.py", line 33, in test</failure><system-out><![CDATA[printed <this>]]></system-out></testcase>
  <testcase name="waits"><skipped message="later"/></testcase>
  <testcase name="breaks"><error>at org.Thing(Thing.java:41)</error></testcase>
</testsuite></testsuites>"#;

#[test]
fn failures_come_first_with_their_messages_and_locations() {
    let report = read_all(REPORT);
    let seen: Vec<_> = report.cases.iter().map(|c| (c.name.as_str(), c.verdict)).collect();
    use Verdict::*;
    assert_eq!(seen, [("fails", Failed), ("breaks", Error), ("waits", Skipped), ("passes", Passed)]);
    let fails = &report.cases[0];
    assert_eq!((fails.class.as_str(), fails.message.as_str()), ("unit", "1 < 0 & more"));
    assert!(fails.text.contains("panicked") && fails.output == "printed <this>");
    let locations: Vec<_> = fails.source_locations().into_iter().map(|s| (s.path, s.line)).collect();
    let location = |path: &str, line| (path.to_owned(), Some(line));
    // Where it broke comes before where the test is.
    assert_eq!(locations, [location("src/deep/a.rs", 12), location("lib/b.py", 33), location("src/a.rs", 7)]);
    let frame = report.cases[1].source_locations();
    assert_eq!(frame.iter().map(|at| (at.path.as_str(), at.line)).collect::<Vec<_>>(), [("Thing.java", Some(41))]);
    assert_eq!((report.count(Failed), report.count(Error), report.count(Passed)), (1, 1, 1));
    assert_eq!(report.time(), 0.5);
}

#[test]
fn a_broken_report_keeps_the_cases_before_the_error() {
    let cut = REPORT.split_once("<testcase name=\"waits\">").unwrap().0;
    let report = read_all(cut);
    assert_eq!((report.cases.len(), report.broken.as_deref()), (2, Some("the report is truncated")));
    let wrong = REPORT.replace("</failure>", "</failed>");
    let report = read_all(&wrong);
    assert!(report.broken.as_deref().is_some_and(|why| why.starts_with("line ")), "{:?}", report.broken);
    assert_eq!(report.cases.len(), 2);
    assert_eq!(read("<project><dependency/></project>", &|| false), None);
    assert_eq!(read("not XML <testsuite", &|| false), None);
    for at in 0..REPORT.len() {
        let _ = read(&REPORT[..at], &|| false);
        let _ = read(&format!("{}\u{1}<&\0{}", &REPORT[..at], &REPORT[at..]), &|| false);
    }
}

#[test]
fn custom_entities_are_never_expanded() {
    let mut bomb = String::from("<!DOCTYPE x [<!ENTITY a0 \"lol\">");
    for level in 1..30 {
        bomb += &format!("<!ENTITY a{level} \"&a{p};&a{p};\">", p = level - 1);
    }
    bomb += "<!ENTITY file SYSTEM \"file:///etc/passwd\">]>";
    bomb += "<testsuite><testcase name=\"&a29;\"><failure>&a29;&file;</failure></testcase></testsuite>";
    let report = read_all(&bomb);
    assert_eq!(report.cases[0].name, "&a29;");
    assert_eq!(report.cases[0].text, "&a29;&file;");
}

#[test]
fn long_texts_are_cut() {
    let long = "x".repeat(1_000_000);
    let report = read_all(&format!("<testsuite><testcase><failure>{long}</failure></testcase></testsuite>"));
    assert_eq!(report.cases[0].text.len(), MAX_TEXT);
}

#[test]
fn a_long_suite_name_is_cut_in_each_case() {
    let cases: String = (0..20_000).map(|n| format!("<testcase name=\"{n}\"/>")).collect();
    let text = format!("<testsuite name=\"{}\">{cases}</testsuite>", "n".repeat(100_000));
    let (report, cost) = crate::cost::cost(|| read(&text, &|| false).unwrap());
    assert_eq!(report.cases.len(), 20_000);
    assert!(cost.peak < 100 * text.len(), "{} bytes held for {}", cost.peak, text.len());
}

#[test]
fn a_report_with_too_many_tests_says_that_it_is_incomplete() {
    let text = |count: usize| {
        let cases: String = (0..count).map(|n| format!("<testcase name=\"{n}\"/>")).collect();
        format!("<testsuite>{cases}</testsuite>")
    };
    for (count, broken) in [(MAX_CASES, None), (MAX_CASES + 1, Some(TOO_MANY))] {
        let report = read_all(&text(count));
        assert_eq!((report.cases.len(), report.broken.as_deref()), (MAX_CASES, broken), "{count} in a file");
        let test_cases = vec![TestCase::default(); count];
        let suite = api::test_reports::TestSuite { test_cases, ..Default::default() };
        let report = Report::from(TestReport { test_suites: vec![suite], ..TestReport::default() });
        assert_eq!((report.cases.len(), report.broken.as_deref()), (MAX_CASES, broken), "{count} from the server");
    }
}

#[test]
fn invalid_durations_are_ignored() {
    for time in ["-5", "NaN", "1e999", "soon"] {
        let text = format!("<testsuite><testcase name=\"a\" time=\"{time}\"/></testsuite>");
        let report = read(&text, &|| false).expect("a report");
        assert_eq!(report.cases.first().map(|case| case.time), Some(None), "{time}");
    }
}

#[test]
fn nested_suites_are_closed_in_order() {
    let text = r#"<testsuite name="a"><testsuite name="b"><testcase name="1"/></testsuite><testcase name="2"/>
            </testsuite><testsuite name="c"><properties/><testcase name="3"/></testsuite>"#;
    let report = read(text, &|| false).unwrap();
    let classes: Vec<&str> = report.cases.iter().map(|case| case.class.as_str()).collect();
    assert_eq!(classes, ["b", "a", "c"]);
}

/// A folder with recorded reports.
const SAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/junit");

/// Returns what is wrong with the report of a row of the index.
fn faults(row: &str, files: &[&str]) -> Vec<String> {
    let column = |index: usize| row.split('\t').nth(index).unwrap_or_default();
    let number = |index: usize| column(index).parse::<usize>().expect("a number");
    let text = std::fs::read_to_string(format!("{SAMPLES}/{}", column(0))).expect("a report");
    let report = read_all(&text);
    let (mut cases, mut suites) = (Vec::new(), Vec::new());
    read_xml(&text, &|| false, &mut |record| {
        let suite = if record.is_suite { record.name.clone() } else { record.suite.clone() };
        suites.push(suite);
        if !record.is_suite {
            let key = (record.suite.clone(), record.class.clone(), record.name.clone());
            cases.push((key, Case::from(record).verdict));
        }
        true
    });
    let mut faults = Vec::new();
    let mut check = |what: &str, is: String, expected: String| {
        if is != expected {
            faults.push(format!("{}: {what}: {is} instead of {expected}", column(0)));
        }
    };
    suites.sort_unstable();
    suites.dedup();
    let count = |verdict: Verdict| cases.iter().filter(|(_, case)| *case == verdict).count();
    let counts = [suites.len(), cases.len(), count(Verdict::Failed), count(Verdict::Error), count(Verdict::Skipped)];
    let counts = format!("{counts:?} {}", count(Verdict::Flaky));
    check("counts", counts, format!("{:?} {}", [2, 3, 4, 5, 6].map(number), number(7)));
    let mut once = cases.clone();
    once.sort_unstable();
    once.dedup();
    check("tests", report.tests().to_string(), once.len().to_string());
    let first = report.cases.first().expect("a failed test");
    check("test", first.name.clone(), column(8).to_owned());
    let fits = |expected: &str| match expected.strip_prefix('=') {
        Some(whole) => first.message == whole,
        None => first.message.contains(expected),
    };
    if column(9) == "-" {
        check("message", first.message.clone(), String::new());
    } else if !column(9).split("||").any(fits) {
        check("message", first.message.clone(), column(9).to_owned());
    }
    let locations = first.source_locations();
    let mut places = source_location::existing(&locations, "ada/hello", &|path| files.contains(&path));
    if places.is_empty() {
        places = source_location::by_suffix(&locations, "ada/hello", files.iter().copied());
    }
    let place = places.first().map(|place| format!("{}:{}", place.path, place.line.unwrap_or_default()));
    if column(10) != "-" {
        check("source", place.unwrap_or_default(), column(10).to_owned());
    }
    faults
}

#[test]
fn recorded_reports_are_right_in_counts_message_and_way_to_the_line() {
    let index = std::fs::read_to_string(format!("{SAMPLES}/index.tsv")).expect("the index");
    let rows: Vec<&str> = index.lines().skip(1).collect();
    let source = |row: &&str| row.rsplit('\t').next()?.rsplit_once(':').map(|(path, _)| path.to_owned());
    let mut files: Vec<String> = rows.iter().filter_map(source).collect();
    // Other files of these names.
    files.extend(
        ["other/ThingTest.java", "e2e/b.spec.ts", "lib/testing/testing.go", "tools/__init__.py"].map(Into::into),
    );
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let faults: Vec<String> = rows.iter().flat_map(|row| faults(row, &files)).collect();
    assert!(rows.len() >= 20 && faults.is_empty(), "{} faults in {}:\n{}", faults.len(), rows.len(), faults.join("\n"));
}

fn of_server(test_case: serde_json::Value) -> Case {
    let report = serde_json::json!({"test_suites": [{"name": "unit", "test_cases": [test_case]}]});
    let report: TestReport = serde_json::from_value(report).expect("a report");
    Report::from(report).cases.remove(0)
}

#[test]
fn outputs_of_servers_are_texts_attributes_or_lists() {
    use serde_json::json;
    let case = |status: &str, output| of_server(json!({"status": status, "name": "a", "system_output": output}));
    // GitLab before 16.6: several failures (GoogleTest, Boost.Test), attributes without text (Robot), both.
    let several = case("failed", json!(["/builds/a/b/g.cc:3\nValue of: false", "g.cc:4\nno", "g.cc:4\nno"]));
    assert_eq!(
        (several.message.as_str(), several.text.as_str()),
        ("Value of: false", "/builds/a/b/g.cc:3\nValue of: false\n\ng.cc:4\nno")
    );
    let attributes = case("failed", json!({"message": "a != b", "type": "AssertionError"}));
    assert_eq!((attributes.message.as_str(), attributes.text.as_str()), ("a != b", "a != b"));
    let mixed = case("error", json!([{"message": "one"}, "two", {"type": "Three"}]));
    assert_eq!((mixed.message.as_str(), mixed.text.as_str()), ("one", "one\n\ntwo\n\nThree"));
    assert_eq!(case("skipped", json!({"message": "later"})).message, "later");
    // Since 16.6: one text, with the output, and attributes as Ruby prints them.
    let joined = case("failed", json!("no\n\nSystem Out:\n\nprinted\n[[ATTACHMENT|a/b.png]]\n\nSystem Err:\n\nto err"));
    assert_eq!((joined.text.as_str(), joined.attachments.as_slice()), ("no", &["a/b.png".to_owned()][..]));
    assert!(joined.output.starts_with("System Out:") && joined.output.ends_with("to err"), "{}", joined.output);
    assert_eq!(case("failed", json!("System Err:\n\nboom")).text, "");
    for printed in [r#"{"message"=>"a \"b\"\n", "type"=>""}"#, r#"{"message" => "a \"b\"\n", "type" => ""}"#] {
        assert_eq!(case("failed", json!(printed)).message, "a \"b\"", "{printed}");
    }
    assert_eq!(case("failed", json!(r#"{"a": 1}"#)).text, r#"{"a": 1}"#);
    assert_eq!(case("success", json!("not shown")).text, "");
    assert_eq!(case("failed", json!(null)).verdict, Verdict::Failed);
}

#[test]
fn attachments_of_servers_name_their_job() {
    let url = "https://gitlab.example/a/b/-/jobs/42/artifacts/file/shots/a%20b.png";
    let output = "no\n\nSystem Out:\n\n[[ATTACHMENT|shots/a b.png]] [[ATTACHMENT|c.md]]";
    let case = of_server(serde_json::json!({"status": "failed", "name": "(No name)", "classname": "c",
        "system_output": output, "attachment_url": url, "recent_failures": {"count": 2, "base_branch": "main"}}));
    assert_eq!((case.name.as_str(), case.attachment_job), ("c", Some(42)));
    assert_eq!(case.attachments, ["shots/a b.png", "c.md"]);
    assert_eq!(case.recent_failures.map(|recent| recent.count), Some(2));
}

#[test]
fn repeated_and_flaky_cases_are_counted() {
    // The elements of Surefire 3.5 and cargo-nextest 0.9.
    let report = read_all(
        r#"<testsuite name="s"><testcase name="again" time="1"/><testcase name="again" time="2"/>
        <testcase name="again"><failure>one</failure></testcase><testcase name="again"><failure>two</failure></testcase>
        <testcase name="flaky"><flakyFailure message="first" type="x"><stackTrace>at a.rs:3</stackTrace>
        <system-out>printed</system-out></flakyFailure><flakyError message="second"/><system-out>own</system-out></testcase>
        <testcase name="never"><failure message="no"/><rerunFailure message="no"/><rerunError message="no again"/></testcase>
        </testsuite>"#,
    );
    let seen: Vec<_> = report.cases.iter().map(|case| (case.name.as_str(), case.verdict, case.reruns)).collect();
    use Verdict::*;
    assert_eq!(seen, [("again", Failed, 0), ("never", Failed, 2), ("flaky", Flaky, 2), ("again", Passed, 0)]);
    assert_eq!((report.tests(), report.reruns(), report.time()), (4, 4, 3.0));
    assert_eq!(report.cases[0].text, "one\n\ntwo");
    assert_eq!(report.cases[1].text, "no\n\nFailed run 2 of 2:\nno again");
    let flaky = &report.cases[2];
    assert!(
        flaky.text.starts_with("Failed run 1 of 2:\nfirst\nat a.rs:3") && flaky.text.contains("printed"),
        "{}",
        flaky.text
    );
    assert_eq!((flaky.message.as_str(), flaky.output.as_str()), ("first", "own"));
    assert_eq!(flaky.source_locations().first().and_then(|at| at.line), Some(3));
}

#[test]
fn errors_of_suites_are_rows_but_no_tests() {
    // prove with TAP::Formatter::JUnit: a script that died.
    let report = read_all(
        r#"<testsuites><testsuite name="b_t" tests="1"><testcase name="1 - a"/><system-err>died at b.t line 3.</system-err>
        <error message="Dubious, test returned 255"/></testsuite></testsuites>"#,
    );
    let row = &report.cases[0];
    assert_eq!(
        (row.verdict, row.name.as_str(), row.message.as_str()),
        (Verdict::SuiteError, "b_t", "Dubious, test returned 255")
    );
    assert_eq!((report.tests(), report.count(Verdict::Error)), (1, 0));
    assert_eq!(row.source_locations().first().map(|at| (at.path.as_str(), at.line)), Some(("b.t", Some(3))));
    let only = read_all("<testsuite name=\"s\"><error>died</error></testsuite>");
    assert_eq!((only.tests(), only.cases.len()), (0, 1));
}

#[test]
fn lints_are_in_the_file_that_their_suite_is_named_after() {
    // Ruff 0.17, ESLint 10.
    for (case, line) in [
        (
            r#"<testcase name="org.ruff.F401" classname="/builds/a/b/m" line="7" column="8"><failure message="unused">line 7, col 8, unused</failure>"#,
            7,
        ),
        (
            r#"<testcase name="org.eslint.x" classname="/builds/a/b/m"><failure message="no"><![CDATA[line 9, col 10, Error - no (x)]]></failure>"#,
            9,
        ),
    ] {
        let report = read_all(&format!("<testsuite name=\"/builds/a/b/m.py\">{case}</testcase></testsuite>"));
        assert_eq!(
            report.cases[0].source_locations().first().map(|at| (at.paths("a/b"), at.line)),
            Some((vec!["m.py".to_owned()], Some(line)))
        );
    }
    // PHPUnit 13: the line of the assertion, not that of the method.
    let report = read_all(
        r#"<testsuite><testcase name="testA" file="/builds/a/b/tests/ATest.php" line="7"><failure>ATest::testA
Failed asserting that 3 is identical to 4.

/builds/a/b/tests/ATest.php:9</failure></testcase></testsuite>"#,
    );
    let lines: Vec<_> = report.cases[0].source_locations().into_iter().map(|at| at.line).collect();
    assert_eq!(lines, [Some(9)]);
    // ESLint lists a rule once for each line: that is one test for servers, with all its lines.
    let lint = |line: u32| {
        format!(
            "<testcase name=\"org.eslint.x\" classname=\"/a/m\"><failure>line {line}, col 1, no</failure></testcase>"
        )
    };
    let report = read_all(&format!("<testsuite name=\"/builds/a/b/m.js\">{}{}</testsuite>", lint(3), lint(5)));
    let lines: Vec<_> = report.cases[0].source_locations().into_iter().map(|at| at.line).collect();
    assert_eq!((report.tests(), lines), (1, vec![Some(3), Some(5)]));
    // PHPStan and golangci-lint name the location instead of a class or a test.
    let report = read_all(
        r#"<testsuite><testcase name="x" classname="pkg/a.go:5:10"><failure message="unused"/></testcase></testsuite>"#,
    );
    assert_eq!(report.cases[0].source_locations().first().and_then(|at| at.line), Some(5));
}
