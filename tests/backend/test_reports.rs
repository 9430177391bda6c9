//! Test reports, generated from the artifacts of a pipeline's jobs.

use crate::{Server, each, json};
use labscope::backend::{Options, WorldKind};
use serde_json::{Value, json as value};
use std::sync::Arc;
use std::sync::atomic::AtomicI64;

const PIPELINES: &str = "/projects/acme%2Frocket-ui/pipelines";

#[tokio::test]
async fn a_finished_pipeline_reports_the_tests_of_its_jobs() {
    let server = Server::with(Options { world: WorldKind::Demo, ..Options::default() }).await;
    let failed = server.read("ada", &format!("{PIPELINES}?ref=fix%2Fnarrow-columns")).await[0]["id"].clone();
    let summary = server.read("ada", &format!("{PIPELINES}/{failed}/test_report_summary")).await;
    let total = &summary["total"];
    assert_eq!(
        (&total["count"], &total["failed"], &total["skipped"], &total["error"]),
        (&28.into(), &1.into(), &1.into(), &0.into()),
        "{summary}"
    );
    assert_eq!(each(&summary["test_suites"], "name"), ["unit", "screens"]);
    assert!(summary["test_suites"][1]["build_ids"][0].is_u64());
    let report = server.read("ada", &format!("{PIPELINES}/{failed}/test_report")).await;
    assert_eq!((&report["total_count"], &report["failed_count"]), (&28.into(), &1.into()));
    let cases = report["test_suites"][1]["test_cases"].as_array().unwrap();
    let broken: Vec<&Value> = cases.iter().filter(|case| case["status"] == "failed").collect();
    assert_eq!(broken.len(), 1);
    assert_eq!(
        (&broken[0]["name"], &broken[0]["classname"]),
        (&"a_narrow_terminal_is_not_a_panic".into(), &"table".into())
    );
    assert!(broken[0]["system_output"].as_str().unwrap().contains("tests/table.rs:22"), "{}", broken[0]);
}

#[tokio::test]
async fn a_pipeline_without_reports_has_no_tests_and_an_unknown_one_is_404() {
    let server = Server::with(Options { world: WorldKind::Demo, ..Options::default() }).await;
    let running = server.read("ada", &format!("{PIPELINES}?scope=running")).await[0]["id"].clone();
    let report = server.read("ada", &format!("{PIPELINES}/{running}/test_report")).await;
    assert_eq!((&report["total_count"], &report["test_suites"]), (&0.into(), &value!([])));
    let missing = server.get("ada", &format!("{PIPELINES}/999999/test_report_summary")).await;
    assert_eq!(json(missing, 404).await["message"], "404 Not found");
    let anonymous = server.get("", &format!("{PIPELINES}/{running}/test_report")).await;
    assert_eq!(anonymous.status(), 401);
}

/// Returns the server's test report for the files of a job's artifacts.
async fn report_of(files: &[(&str, &str)]) -> Value {
    let files = files.iter().map(|(path, text)| format!("{{ path = {path:?}, text = '''{text}''' }}"));
    let files: Vec<String> = files.collect();
    let world = format!(
        r#"now = "2026-11-20T16:00:00Z"
users = [{{ username = "root", admin = true }}, {{ username = "ada" }}]

[[projects]]
path = "ada/hello"
files = "-- a --\nb"
script = "from 2026-11-02\nto 2026-11-20\nada: Begin\n  + a"

[[runners]]
name = "here"
shared = true
contacted = "1m"

[[artifacts]]
name = "left"
files = [{}]

[[scripts]]
name = "tests"
artifacts = "left"
text = "hello"

[[templates]]
name = "one"
jobs = [{{ name = "unit", stage = "test", script = "tests", seconds = 4 }}]

[[pipelines]]
project = "ada/hello"
ref_name = "main"
template = "one"
user = "ada"
created = "1h"
"#,
        files.join(", ")
    );
    let server = Server::of(&world, &Arc::new(AtomicI64::new(0))).await;
    let pipeline = server.read("root", "/projects/ada%2Fhello/pipelines").await[0]["id"].clone();
    server.read("root", &format!("/projects/ada%2Fhello/pipelines/{pipeline}/test_report")).await
}

#[tokio::test]
async fn outputs_are_what_gitlab_takes_from_a_report() {
    let report = report_of(&[(
        "out/junit.xml",
        r#"<testsuites><testsuite name="s">
        <testcase classname="c" name="one" time="1.5" file="a.cc"><failure message="m" type="t">text</failure>
          <system-out>printed [[ATTACHMENT|shots/a b.png]] [[ATTACHMENT|c.md]]</system-out></testcase>
        <testcase name="two"><failure message="m">1</failure><failure>2</failure></testcase>
        <testcase name="attributes"><error message="m" type="t"/></testcase>
        <testcase name="both"><skipped/><failure message="m"/></testcase>
        <testcase name="kind"><failure type="t"/></testcase>
        <testcase name="node" failure="short"><failure message="short">long</failure></testcase>
        <testcase name="later" time="-0.0"><skipped message="later"/></testcase>
        <testcase name="flaky"><flakyFailure message="first"/></testcase>
        </testsuite></testsuites>"#,
    )])
    .await;
    let suite = &report["test_suites"][0];
    let case = |name: &str| {
        let cases = suite["test_cases"].as_array().unwrap();
        let case = cases.iter().find(|case| case["name"] == name).unwrap_or_else(|| panic!("no {name} in {suite}"));
        (case["status"].clone(), case["system_output"].clone())
    };
    // GitLab's parser: lib/gitlab/ci/parsers/test/junit.rb.
    for (name, status, output) in [
        ("one", "failed", value!("text")),
        ("two", "failed", value!(["1", "2"])),
        ("attributes", "error", value!({"message": "m", "type": "t"})),
        ("both", "failed", value!({"message": "m"})),
        ("kind", "failed", Value::Null),
        ("node", "failed", value!("short")),
        ("later", "skipped", value!({"message": "later"})),
        ("flaky", "success", Value::Null),
    ] {
        assert_eq!(case(name), (value!(status), output), "{name}");
    }
    let first = &suite["test_cases"][0];
    assert_eq!((&first["status"], &suite["test_cases"][1]["name"]), (&value!("error"), &value!("one")), "errors first");
    let url = suite["test_cases"][1]["attachment_url"].as_str().unwrap();
    assert!(url.contains("/ada/hello/-/jobs/") && url.ends_with("/artifacts/file/shots/a%20b.png"), "{url}");
    assert!(!report.to_string().contains("-0.0"), "{report}");
}

#[tokio::test]
async fn equal_cases_count_once() {
    let report = report_of(&[(
        "junit.xml",
        r#"<testsuites><testsuite name="s"><testcase classname="c" name="a" time="1"/><testcase classname="c" name="a" time="2"/>
        <testcase classname="c" name="a"><failure>one</failure></testcase><testcase classname="c" name="a"><failure>two</failure></testcase>
        </testsuite><testsuite name="t"><testcase classname="c" name="a"/></testsuite></testsuites>"#,
    )])
    .await;
    let suite = &report["test_suites"][0];
    let counts = [&suite["total_count"], &suite["success_count"], &suite["failed_count"], &suite["total_time"]];
    assert_eq!(counts, [&value!(3), &value!(2), &value!(1), &value!(3.0)]);
    // The last one counts.
    assert_eq!(
        (&suite["test_cases"][0]["system_output"], &suite["test_cases"][1]["execution_time"]),
        (&value!("two"), &value!(2.0))
    );
}

#[tokio::test]
async fn a_report_that_is_not_xml_is_an_error_of_its_suite() {
    let good = "<testsuite name=\"s\"><testcase name=\"a\"/></testsuite>";
    for (text, why) in [
        ("not XML", "1:1: FATAL: Start tag expected, '<' not found"),
        ("<testsuite>\n<testcase name=\"a\"/>", "2:21: FATAL: Premature end of data"),
        ("<testsuite>\n<testcase></failure></testsuite>", "FATAL: "),
    ] {
        let report = report_of(&[("a.xml", good), ("b.xml", text)]).await;
        let suite = &report["test_suites"][0];
        let error = suite["suite_error"].as_str().unwrap_or_else(|| panic!("no error in {report}"));
        assert!(error.starts_with("JUnit XML parsing failed: ") && error.contains(why), "{error}");
        assert_eq!((&report["total_count"], &suite["test_cases"]), (&value!(0), &value!([])));
    }
    // Other files of artifacts are no reports.
    for text in ["", "<project><dependency/></project>", "<html/>"] {
        let report = report_of(&[("a.xml", good), ("b.xml", text)]).await;
        assert_eq!(
            (&report["total_count"], &report["test_suites"][0]["suite_error"]),
            (&value!(1), &Value::Null),
            "{text}"
        );
        let alone = report_of(&[("b.xml", text)]).await;
        assert_eq!((&alone["test_suites"], alone["total_time"].to_string()), (&value!([]), "0.0".to_owned()), "{text}");
    }
}
