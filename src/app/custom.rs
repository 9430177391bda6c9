//! Custom commands of the configuration: the values they can use, what they start, and their output.

use super::command_info::{Disabled, Info};
use super::keymap::Chord;
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use ui::ansi;

/// The names of the values that a command can use.
pub const VALUES: [&str; 13] = [
    "project",
    "project_id",
    "ref",
    "sha",
    "path",
    "line",
    "iid",
    "url",
    "title",
    "source_branch",
    "target_branch",
    "job_id",
    "host",
];

/// The maximum number of bytes of a result.
pub const MAX_RESULT: usize = 1 << 20;
/// The maximum number of output lines kept of a command; the last ones are kept.
const MAX_LINES: usize = 10_000;
/// The maximum number of bytes of a line that has not ended yet.
const MAX_LINE_BYTES: usize = 64 * 1024;

/// Values by name: those that the item under the cursor has.
pub type Values = BTreeMap<&'static str, String>;

/// A custom command of the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomCommand {
    /// The ID among all commands.
    pub id: &'static str,
    /// The name in the configuration, which is also the title.
    pub title: &'static str,
    /// The keys, if there are any.
    pub key: Option<Chord>,
    /// The places where the command is offered; empty for every place.
    pub places: Vec<String>,
    /// The program that it starts.
    pub run: Run,
    /// The destination of its output.
    pub show: Show,
    /// The part of the place that it gets on its standard input.
    pub input: Option<InputKind>,
    /// The use of its standard output; `None` if it is only shown.
    pub result: Option<ResultKind>,
}

/// A part of a place that a command gets as JSON on its standard input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// The thread or comment under the cursor.
    Thread,
    /// The shown changes, with the lines under the cursor.
    Diff,
    /// The trace of a job.
    Trace,
    /// The test under the cursor.
    Test,
    /// The merge request.
    MergeRequest,
}

impl InputKind {
    /// All kinds, with their names in the configuration.
    pub const NAMES: &[(&str, InputKind)] = &[
        ("thread", InputKind::Thread),
        ("diff", InputKind::Diff),
        ("trace", InputKind::Trace),
        ("test", InputKind::Test),
        ("mr", InputKind::MergeRequest),
    ];

    /// Returns the reason why a place has nothing of this kind.
    pub fn missing(self) -> Disabled {
        match self {
            InputKind::Thread => "there is no comment under the cursor",
            InputKind::Diff => "no changes are shown here",
            InputKind::Trace => "no trace is shown here",
            InputKind::Test => "there is no test under the cursor",
            InputKind::MergeRequest => "there is no merge request here",
        }
        .into()
    }

    /// Returns whether the output of a command with this input can become that.
    pub fn allows(self, result: ResultKind) -> bool {
        match result {
            ResultKind::Comment => matches!(self, InputKind::Thread | InputKind::Diff | InputKind::MergeRequest),
            ResultKind::Suggestion => matches!(self, InputKind::Thread | InputKind::Diff),
            ResultKind::Review => self == InputKind::Diff,
            ResultKind::Staged => self != InputKind::Test,
        }
    }
}

/// A use of the output of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultKind {
    /// A draft of a comment.
    Comment,
    /// A draft that suggests other lines.
    Suggestion,
    /// Drafts of comments on lines, one for each line of JSON.
    Review,
    /// Staged changes of files, one for each line of JSON.
    Staged,
}

impl ResultKind {
    /// All kinds, with their names in the configuration.
    pub const NAMES: &[(&str, ResultKind)] = &[
        ("comment", ResultKind::Comment),
        ("suggestion", ResultKind::Suggestion),
        ("review", ResultKind::Review),
        ("staged", ResultKind::Staged),
    ];
}

/// The program that a command starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Run {
    /// A program with its arguments, started without a shell; `{name}` in an argument is replaced by a value.
    Program(Vec<String>),
    /// A command line for `sh -c`, which gets values only as environment variables.
    Shell(String),
}

/// The destination of a command's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Show {
    /// An overlay beside the place.
    Pane,
    /// An overlay beside the place, which closes when the command succeeds.
    PaneUntilDone,
    /// The terminal, which belongs to the command until it ends.
    Terminal,
    /// Nowhere; a message reports how the command ended.
    Silent,
}

/// A command to start, with its environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSpec {
    /// The title of the command.
    pub title: String,
    /// The program and its arguments.
    pub program: Vec<String>,
    /// The environment variables to set; those of other values are removed.
    pub variables: Vec<(String, String)>,
    /// The working directory; `None` for the current directory.
    pub folder: Option<PathBuf>,
    pub show: Show,
    /// The text for its standard input.
    pub input: Option<String>,
    /// Whether its standard output is a result.
    pub has_result: bool,
}

/// An event of a command that was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunEvent {
    /// Bytes that the command printed.
    Output(Vec<u8>),
    /// Bytes of the result, which a command with one prints on its standard output.
    Result(Vec<u8>),
    /// The end of the command; the error is the reason why it failed.
    Ended(Result<(), String>),
}

/// A command that was started.
pub struct Started {
    /// The title of the command.
    pub title: String,
    pub(super) show: Show,
    /// The output, as a terminal shows it.
    pub lines: VecDeque<String>,
    /// The bytes of a line that has not ended yet.
    rest: Vec<u8>,
    sgr_state: ansi::SgrState,
    /// The result, once the command has ended.
    pub ended: Option<Result<(), String>>,
}

/// The commands that were started, by number.
pub type Runs = BTreeMap<u64, Started>;

/// A part of an argument.
enum Piece<'a> {
    Text(&'a str),
    Value(&'static str),
}

/// Returns the name of the environment variable that holds a value: `LABSCOPE_IID`.
pub fn variable(value: &str) -> String {
    format!("LABSCOPE_{}", value.to_uppercase())
}

/// Returns a path in a form that no program reads as an option, a command (`+!id` to vim) or a list of files (`@x`).
fn in_folder(path: &str) -> String {
    let is_plain = path.starts_with(|c: char| c.is_alphanumeric() || c == '.');
    if is_plain { path.to_owned() } else { format!("./{path}") }
}

/// Splits an argument at its values. Braces around anything but a word are literal text.
///
/// # Errors
/// Returns the word in braces if it names no value.
fn pieces(argument: &str) -> Result<Vec<Piece<'_>>, String> {
    let mut pieces = Vec::new();
    let (mut text, mut at) = (0, 0);
    while let Some(open) = argument.get(at..).and_then(|rest| rest.find('{')).map(|open| at + open) {
        let inner = argument.get(open + 1..).unwrap_or_default();
        let word = inner.split('}').next().filter(|word| word.len() < inner.len()).unwrap_or_default();
        at = open + 1;
        if word.is_empty() || !word.chars().all(|c| c.is_ascii_lowercase() || c == '_') {
            continue;
        }
        let Some(value) = VALUES.iter().find(|value| **value == word) else { return Err(word.to_owned()) };
        pieces.push(Piece::Text(argument.get(text..open).unwrap_or_default()));
        pieces.push(Piece::Value(value));
        at = open + word.len() + 2;
        text = at;
    }
    pieces.push(Piece::Text(argument.get(text..).unwrap_or_default()));
    Ok(pieces)
}

impl Run {
    /// Checks the command, as configured.
    ///
    /// # Errors
    /// Returns what is wrong, as a clause.
    pub fn check(&self) -> Result<(), String> {
        match self {
            Run::Program(words) if words.first().is_none_or(|program| program.trim().is_empty()) => {
                Err("no program is named".to_owned())
            }
            Run::Shell(line) if line.trim().is_empty() => Err("no program is named".to_owned()),
            Run::Program(words) => words.iter().try_for_each(|word| match pieces(word) {
                Ok(_) => Ok(()),
                Err(name) => Err(format!("there is no value {{{name}}}; the values are {}", VALUES.join(", "))),
            }),
            Run::Shell(_) => Ok(()),
        }
    }

    /// Returns the values that the command uses.
    fn needs(&self) -> Vec<&'static str> {
        match self {
            Run::Program(words) => {
                let all = words.iter().flat_map(|word| pieces(word).unwrap_or_default());
                all.filter_map(|piece| if let Piece::Value(value) = piece { Some(value) } else { None }).collect()
            }
            Run::Shell(line) => {
                let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
                let words: Vec<&str> = line.split(|c| !is_part(c)).collect();
                VALUES.into_iter().filter(|value| words.contains(&variable(value).as_str())).collect()
            }
        }
    }

    /// Returns the reason why the command cannot be started with these values.
    pub(super) fn refusal(&self, values: &Values) -> Option<Disabled> {
        let needs = self.needs();
        if let Some(missing) = needs.iter().find(|value| !values.contains_key(**value)) {
            return Some(format!("no {missing} here").into());
        }
        let has_null = |name: &&&'static str| values.get(**name).is_some_and(|value| value.contains('\0'));
        needs.iter().find(has_null).map(|name| format!("the {name} here contains a null character").into())
    }

    /// Returns the program with its arguments.
    pub(super) fn program(&self, values: &Values) -> Result<Vec<String>, Disabled> {
        let words = match self {
            Run::Program(words) => words,
            Run::Shell(line) => return Ok(vec!["sh".to_owned(), "-c".to_owned(), line.clone()]),
        };
        let mut program: Vec<String> = Vec::new();
        for word in words {
            let all = pieces(word).unwrap_or_default();
            let filled: String = all
                .iter()
                .map(|piece| match piece {
                    Piece::Text(text) => *text,
                    Piece::Value(value) => values.get(value).map_or("", String::as_str),
                })
                .collect();
            let first = all.iter().find(|piece| !matches!(piece, Piece::Text("")));
            program.push(match first {
                Some(Piece::Value("path")) => in_folder(&filled),
                // A value must not be read as an option; editors run a command that follows a plus sign.
                Some(Piece::Value(_)) if filled.starts_with(['-', '+']) && !program.iter().any(|one| one == "--") => {
                    return Err(format!("{filled:?} would be read as an option; put \"--\" before {word}").into());
                }
                _ => filled,
            });
        }
        Ok(program)
    }

    /// Returns the environment variables to set.
    pub(super) fn variables(&self, values: &Values) -> Vec<(String, String)> {
        match self {
            Run::Program(_) => Vec::new(),
            Run::Shell(_) => {
                let safe = values.iter().filter(|(_, value)| !value.contains('\0'));
                let given = |name: &str, value: &str| if name == "path" { in_folder(value) } else { value.to_owned() };
                safe.map(|(name, value)| (variable(name), given(name, value))).collect()
            }
        }
    }
}

impl CustomCommand {
    /// Returns the row for the command table.
    pub fn info(&self) -> Info {
        Info { id: self.id, keys: &[], title: self.title, short: "", writes: false }
    }

    /// Returns whether the command is offered in a place.
    pub fn is_in(&self, pane: &str) -> bool {
        self.places.is_empty() || self.places.iter().any(|place| place == pane)
    }
}

impl Started {
    /// Creates the state of a command that has printed nothing yet.
    pub(super) fn new(title: String, show: Show) -> Started {
        Started {
            title,
            show,
            lines: VecDeque::new(),
            rest: Vec::new(),
            sgr_state: ansi::SgrState::default(),
            ended: None,
        }
    }

    /// Adds bytes that the command printed.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.rest.extend_from_slice(part.strip_suffix(b"\n").unwrap_or(part));
            if part.ends_with(b"\n") || self.rest.len() > MAX_LINE_BYTES {
                self.end_line();
            }
        }
    }

    fn end_line(&mut self) {
        let line = ansi::parse_line(&mut self.sgr_state, &std::mem::take(&mut self.rest));
        self.lines.push_back(line.text);
        if self.lines.len() > MAX_LINES {
            self.lines.pop_front();
        }
    }

    /// Records the end of the command.
    pub(super) fn end(&mut self, ended: Result<(), String>) {
        if !self.rest.is_empty() {
            self.end_line();
        }
        self.ended = Some(ended);
    }

    /// Returns the last line that is not blank.
    pub(super) fn last_words(&self) -> Option<&str> {
        self.lines.iter().rev().map(|line| line.trim()).find(|line| !line.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(pairs: &[(&'static str, &str)]) -> Values {
        pairs.iter().map(|(name, value)| (*name, (*value).to_owned())).collect()
    }

    fn program(words: &[&str]) -> Run {
        Run::Program(words.iter().map(|word| (*word).to_owned()).collect())
    }

    #[test]
    fn a_value_is_always_one_argument() {
        let hostile = "x'; rm -rf / #\"`id`$(id)\n{url}";
        let run =
            program(&["git", "worktree", "add", "../{source_branch}", "{source_branch}", "stash@{0}", "{}", "{A}"]);
        let given = values(&[("source_branch", hostile), ("url", "no")]);
        let (words, variables) = (run.program(&given).unwrap(), run.variables(&given));
        assert_eq!(words[3..5], [format!("../{hostile}"), hostile.to_owned()]);
        assert_eq!(words[5..], ["stash@{0}", "{}", "{A}"]);
        assert!(variables.is_empty());
    }

    #[test]
    fn shells_receive_values_only_as_variables() {
        let line = "echo \"$LABSCOPE_TITLE\" {title}";
        let (run, given) = (Run::Shell(line.into()), values(&[("title", "$(id)")]));
        let (words, variables) = (run.program(&given).unwrap(), run.variables(&given));
        assert_eq!(words, ["sh", "-c", line]);
        assert_eq!(variables, [("LABSCOPE_TITLE".to_owned(), "$(id)".to_owned())]);
        let missing = Run::Shell("echo $LABSCOPE_IID".into()).refusal(&values(&[]));
        assert_eq!(missing, Some("no iid here".into()));
    }

    #[test]
    fn values_cannot_be_options_without_two_hyphens() {
        let hostile = values(&[("ref", "--upload-pack=x")]);
        let why = program(&["git", "fetch", "{ref}"]).program(&hostile).unwrap_err();
        assert!(why.contains("option"), "{why}");
        let filled = program(&["git", "fetch", "--", "{ref}"]).program(&hostile).unwrap();
        assert_eq!(filled.last().map(String::as_str), Some("--upload-pack=x"));
        assert!(program(&["git", "--ref={ref}"]).program(&hostile).is_ok());
        let null = program(&["x", "{ref}"]).refusal(&values(&[("ref", "a\0b")]));
        assert!(null.is_some_and(|why| why.contains("null")));
    }

    #[test]
    fn paths_stay_paths_and_other_values_cannot_be_commands() {
        let filled =
            |words: &[&str], name: &'static str, value: &str| program(words).program(&values(&[(name, value)]));
        let path = |value: &str| filled(&["vim", "{path}"], "path", value).unwrap().remove(1);
        assert_eq!(
            (path("src/a.rs"), path(".vimrc"), path("état")),
            ("src/a.rs".into(), ".vimrc".into(), "état".into())
        );
        for hostile in ["+!id", "-c:!id", "@files", "~/x", "$HOME", "|id", " x", "%", "#", "!id", "_x", "=x"] {
            assert_eq!(path(hostile), format!("./{hostile}"));
            let shell = Run::Shell("vim \"$LABSCOPE_PATH\"".into());
            let variable = shell.variables(&values(&[("path", hostile)])).remove(0);
            assert_eq!(variable, ("LABSCOPE_PATH".to_owned(), format!("./{hostile}")));
        }
        assert_eq!(filled(&["x", "{path}:1"], "path", "+a").unwrap()[1], "./+a:1");
        assert_eq!(filled(&["x", "--file={path}"], "path", "+a").unwrap()[1], "--file=+a");
        assert_eq!(filled(&["x", "../{path}"], "path", "+a").unwrap()[1], "../+a");
        for (name, value) in [("title", "+!id"), ("ref", "-c"), ("source_branch", "+main:main")] {
            let word = format!("{{{name}}}");
            assert!(filled(&["vim", &word], name, value).is_err_and(|why| why.contains("option")), "{value}");
            assert_eq!(filled(&["vim", "--", &word], name, value).unwrap()[2], value);
            assert_eq!(filled(&["vim", &format!("x{word}")], name, value).unwrap()[1], format!("x{value}"));
        }
    }

    #[test]
    fn mistakes_in_the_configuration_are_named() {
        assert!(program(&["x", "{source_brnach}"]).check().unwrap_err().contains("{source_brnach}"));
        assert!(program(&[]).check().is_err() && Run::Shell(" ".into()).check().is_err());
        assert!(program(&["awk", "{print $1}"]).check().is_ok());
    }

    #[test]
    fn output_is_interpreted_and_bounded() {
        let mut run = Started::new("x".into(), Show::Pane);
        run.take(b"\x1b[31mred\x1b[0m\x1b]0;title\x07\nhal");
        run.take(b"f\n\nlast");
        run.end(Ok(()));
        assert_eq!(run.lines, ["red", "half", "", "last"]);
        assert_eq!(run.last_words(), Some("last"));
        run.take(&b"y\n".repeat(20_000));
        assert_eq!(run.lines.len(), MAX_LINES);
    }
}
