//! Values of variables stay out of all files that the program writes, whatever is done with them.

use crate::home::{Home, send};
use crate::screen::Screen;
use crate::served::Served;
use std::path::Path;

/// The values of variables of the demo world, and texts that are typed.
const SECRETS: [&str; 4] = ["pages-7Qd2xV9mB4tK", "typed-Wq5nZr8xKp2v", "added-Lm3cVt6yHs9d", "passed-Jb4fGu7kNe1a"];

/// Returns the files below a folder that contain one of the secrets, and the number of all files.
fn search(folder: &Path, found: &mut Vec<String>) -> usize {
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if entry.file_type().expect("a type").is_dir() {
            count += search(&path, found);
            continue;
        }
        count += 1;
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let text = String::from_utf8_lossy(&bytes);
        found.extend(
            SECRETS
                .iter()
                .filter(|secret| text.contains(**secret))
                .map(|secret| format!("{}: {secret}", path.display())),
        );
    }
    count
}

fn says(screen: &mut Screen, words: &str) {
    screen.wait(words, |screen| screen.contents().contains(words));
}

#[test]
fn values_of_variables_are_in_no_file() {
    let (server, home) = (Home::new(), Home::new());
    let served = Served::start(&server, &[]);
    let token = home.path("token");
    std::fs::write(&token, served.token("root")).expect("written");
    let log = home.path("log");
    let arguments = [
        "--host",
        served.url(),
        "--token-file",
        token.to_str().expect("UTF-8"),
        "--log",
        log.to_str().expect("UTF-8"),
        "acme/rocket-ui",
    ];
    let program = env!("CARGO_BIN_EXE_labscope");
    let mut screen = Screen::start_with(&home, program, &arguments, &[("LABSCOPE_LOG", "trace")]);
    screen.wait_for_command("a actions");
    screen.keys(":variables\r");
    says(&mut screen, "DEPLOY_TOKEN");
    screen.keys("/DEPLOY_TOKEN\r");
    screen.wait("one row", |screen| !screen.contents().contains("LOG_LEVEL"));
    screen.keys("v");
    says(&mut screen, SECRETS[0]);
    screen.keys("Y");
    says(&mut screen, "Copied");
    // A value that is typed and left, one that is sent, and one in a preview.
    screen.keys("e");
    says(&mut screen, "Edit variable DEPLOY_TOKEN");
    screen.keys(SECRETS[1]);
    screen.keys("\x14");
    says(&mut screen, SECRETS[1]);
    screen.keys("\x1b");
    screen.wait("the field", |screen| screen.contents().contains("draft saved"));
    screen.keys("\x1b");
    says(&mut screen, "is not saved");
    screen.keys("+");
    says(&mut screen, "New variable");
    screen.keys("ADDED\t");
    screen.keys(SECRETS[2]);
    screen.keys("\x13");
    says(&mut screen, "Created");
    screen.keys("i");
    says(&mut screen, "Add variables");
    screen.keys(&format!("\x1b[200~MORE={}\n\x1b[201~", SECRETS[3]));
    screen.keys("\x13");
    says(&mut screen, "1 new");
    screen.keys("\x1b");
    says(&mut screen, "the values are forgotten");
    screen.keys(":pipelines\r");
    says(&mut screen, "Finished");
    screen.keys("+\t");
    says(&mut screen, "Run pipeline");
    screen.keys(&format!("\x1b[200~PASSED={}\x1b[201~", SECRETS[3]));
    // The program ends while the value is still in the form, and is started again.
    send("SEGV", screen.process());
    screen.wait("the end", |screen| !screen.alternate_screen());
    drop(screen);
    let mut screen = Screen::start_with(&home, program, &arguments, &[("LABSCOPE_LOG", "trace")]);
    screen.wait_for_command("a actions");
    screen.keys(":variables\r");
    says(&mut screen, "DEPLOY_TOKEN");
    screen.keys("Q");
    assert_eq!(screen.exit_code(), 0);
    let logged = std::fs::read_to_string(&log).expect("a log");
    assert!(logged.contains("/variables"), "the requests are logged");
    let mut found = Vec::new();
    let count = search(&home.path(""), &mut found);
    assert!(count > 5, "{count} files");
    assert!(found.is_empty(), "{found:?}");
    std::fs::write(home.path("data/planted"), format!("a {} b", SECRETS[1])).expect("written");
    search(&home.path(""), &mut found);
    assert_eq!(found.len(), 1, "a secret in a file is found");
}
