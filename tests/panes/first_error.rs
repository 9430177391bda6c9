//! The first error of a job, for what the tools of today write: `tests/traces/tools/index.tsv` names the lines that a
//! person would call the reason. The job opens at one of them, and `e` goes to one from the start; in a passing job, there
//! is none.

use crate::fixtures::{self, With};
use crate::harness::{Begin, Harness};
use labscope::app::Place;
use labscope::ui::trace::{Folds, Trace};
use serde_json::json;
use std::path::Path;

const PROJECT: &str = "acme/rocket-ui";
const JOB: &str = "GET /projects/acme%2Frocket-ui/jobs/7";

/// The size of the screen: the widest without details beside the trace.
const SIZE: (u16, u16) = (139, 40);

/// The output of a tool as an entry of the index describes it.
struct Sample {
    file: String,
    has_failed: bool,
    text: String,
    /// The texts as shown of the lines that are the reason.
    reasons: Vec<String>,
}

/// Returns a line as shown.
fn shown(line: &str) -> String {
    let mut trace = Trace::default();
    trace.push(line.as_bytes());
    let rows = trace.view(0..1, &Folds::default());
    rows.first().map(|row| row.text.text.clone()).unwrap_or_default()
}

fn samples() -> Vec<Sample> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces/tools");
    let read = |name: &str| String::from_utf8_lossy(&std::fs::read(folder.join(name)).expect(name)).into_owned();
    let index = read("index.tsv");
    let samples = index.lines().skip(1).map(|row| {
        let fields: Vec<&str> = row.split('\t').collect();
        let &[file, _tool, result, lines] = fields.as_slice() else { panic!("{row}") };
        let text = read(file);
        let line = |number: &str| -> Option<&str> { text.split('\n').nth(number.parse::<usize>().ok()? - 1) };
        let reasons = lines.split('|').filter_map(line).map(shown).collect();
        Sample { file: file.to_owned(), has_failed: result == "failed", text: text.clone(), reasons }
    });
    samples.collect()
}

/// Opens a job whose script wrote `output`.
async fn open(output: &str, has_failed: bool) -> Harness {
    let (status, verdict) = match has_failed {
        true => ("failed", "\u{1b}[31;1mERROR: Job failed: exit code 1\n\u{1b}[0;m"),
        false => ("success", "\u{1b}[32;1mJob succeeded\u{1b}[0;m"),
    };
    let trace = format!(
        "\u{1b}[0KRunning with gitlab-runner 18.4.0 (39850d17)\u{1b}[0;m\n\
         section_start:1767348445:step_script\r\u{1b}[0K\u{1b}[0K\u{1b}[36;1mExecuting \"step_script\" stage of the job \
         script\u{1b}[0;m\u{1b}[0;m\n\u{1b}[32;1m$ ci/run || {{ echo \"ERROR: failed\"; exit 1; }}\u{1b}[0;m\n{output}\n\
         section_end:1767348460:step_script\r\u{1b}[0Ksection_start:1767348460:cleanup_file_variables\r\u{1b}[0K\u{1b}[0K\
         \u{1b}[36;1mCleaning up project directory and file based variables\u{1b}[0;m\u{1b}[0;m\n\
         section_end:1767348461:cleanup_file_variables\r\u{1b}[0K{verdict}\n"
    );
    let mut harness = Begin::at(Place::new("job").project(PROJECT).item(7)).size(SIZE.0, SIZE.1).open();
    let job = fixtures::job(7, "unit", status).with(json!({"started_at": "2026-06-15T11:58:29Z"}));
    harness.reply(JOB, job).reply_raw(&format!("{JOB}/trace"), trace).settle().await;
    harness
}

/// Returns the text of the line under the cursor, as far as it fits.
fn line_at_cursor(harness: &Harness) -> String {
    let line = harness.line_with("▌");
    let text = line.trim_start_matches(['▌', ' ']).trim_start_matches(|c: char| c.is_ascii_digit());
    text.strip_prefix("  ").unwrap_or(text).trim_end_matches(['▐', '│', ' ', '…']).to_owned()
}

/// Returns whether a line on the screen is one of `texts`, maybe as the heading of a section, or cut.
fn is_one_of(line: &str, texts: &[String]) -> bool {
    let is_text = |text: &str| line.contains(text) || line.len() > 40 && text.starts_with(line.trim());
    texts.iter().map(|text| text.trim()).any(|text| !text.is_empty() && is_text(text))
}

#[tokio::test]
async fn a_job_opens_at_the_reason_and_e_goes_to_it() {
    let (mut found, mut failing, mut wrong, mut passing) = (0, 0, Vec::new(), 0);
    for sample in samples() {
        let mut harness = open(&sample.text, sample.has_failed).await;
        if !sample.has_failed {
            passing += 1;
            harness.press("g g e").settle().await;
            if !harness.picture().contains("No line looks like an error.") {
                wrong.push(format!("{}: {}", sample.file, line_at_cursor(&harness)));
            }
            continue;
        }
        failing += 1;
        let opened = line_at_cursor(&harness);
        harness.press("g g e").settle().await;
        let stepped = line_at_cursor(&harness);
        match is_one_of(&opened, &sample.reasons) && is_one_of(&stepped, &sample.reasons) {
            true => found += 1,
            false => wrong.push(format!("{}: opens at {opened:?}, e goes to {stepped:?}", sample.file)),
        }
    }
    let missed = failing - found;
    println!("reasons found: {found} of {failing}; errors in passing jobs: {} of {passing}", wrong.len() - missed);
    assert_eq!(wrong, [""; 0], "{found} of {failing} found");
    assert!(failing > 60 && passing > 20, "{failing} failing and {passing} passing runs");
}

#[tokio::test]
async fn a_job_without_a_known_error_opens_at_the_end_of_its_output() {
    let output: String = (0..90).map(|n| format!("step {n}\n")).collect();
    let mut harness = open(&format!("{output}the moon is gone"), true).await;
    assert_eq!(line_at_cursor(&harness), "the moon is gone");
    harness.expect("ERROR: Job failed: exit code 1").press("e").settle().await;
    harness.expect("known forms of errors found. Add others to errors in [trace]");
    harness.press("Z").settle().await;
    harness.expect("the moon is gone").expect("▸ Cleaning up");
}

#[tokio::test]
async fn lines_that_passing_jobs_have_too_are_errors_only_in_failed_ones() {
    let output = "12:00:01 ERROR expected by the test\nValueError: expected, too\nall is well";
    let mut harness = open(output, false).await;
    harness.press("g g e").settle().await;
    harness.expect("No line looks like an error.");
    let mut harness = open(output, true).await;
    assert_eq!(line_at_cursor(&harness), "12:00:01 ERROR expected by the test");
    harness.press("e").settle().await;
    assert_eq!(line_at_cursor(&harness), "ValueError: expected, too");
    harness.press("e").settle().await;
    harness.expect("No error below.");
}
