//! Doc comments open with a verb in the third person or a noun phrase.

use crate::source::files;

/// Words that open neither.
const REFUSED: &[&str] = &[
    "Another",
    "How",
    "It",
    "Nobody",
    "Not",
    "Nothing",
    "So",
    "Something",
    "Such",
    "That",
    "Those",
    "What",
    "Who",
    "Whose",
];

/// Returns the first lines of doc comments that open with a refused word. `Whether` may open the comment of a value, but
/// not that of a function, which returns it.
fn mistakes(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let is_doc = |line: &str| line.starts_with("///") || line.starts_with("//!");
    let mut mistakes = Vec::new();
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| is_doc(line)) {
        let opens = at.checked_sub(1).is_none_or(|before| !is_doc(lines[before]));
        let word = line[3..].split_whitespace().next().unwrap_or_default().trim_end_matches([',', ':']);
        let item = lines[at..].iter().find(|line| !line.starts_with("//") && !line.starts_with('#'));
        let is_function =
            item.is_some_and(|item| item.split(['(', '<']).next().is_some_and(|head| head.contains("fn ")));
        if opens && (REFUSED.contains(&word) || word == "Whether" && is_function) {
            mistakes.push(format!("{}: {line}", at + 1));
        }
    }
    mistakes
}

#[test]
fn a_refused_opening_is_found_in_the_first_line_of_a_comment() {
    let text = "/// Returns the rows.\n/// What is more.\nfn a() {}\n/// Whether it runs.\nis: bool,\n/// Whether it runs.\npub fn is() {}\n/// What it is.\nb: u8";
    assert_eq!(mistakes(text), ["6: /// Whether it runs.", "8: /// What it is."]);
}

#[test]
fn doc_comments_open_with_a_verb_or_a_noun_phrase() {
    // The comments of arguments are the help texts of the command line.
    let files = files().into_iter().filter(|file| file.name != "cli/args.rs");
    let found: Vec<String> = files
        .flat_map(|file| mistakes(&file.text).into_iter().map(move |mistake| format!("src/{}:{mistake}", file.name)))
        .collect();
    assert!(found.is_empty(), "reword these comments:\n{}", found.join("\n"));
}
