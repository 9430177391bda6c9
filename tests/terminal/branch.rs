//! From a branch to a merge request: a clone of the local server, a commit, `labscope mr`, a push and the form.

use crate::home::Home;
use crate::review::{WORLD, api};
use crate::screen::Screen;
use crate::served::Served;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// Runs git in the folder `work` of the home.
fn git(home: &Home, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]).args(arguments);
    command.current_dir(home.path("work")).envs(home.variables()).env("GIT_CONFIG_NOSYSTEM", "1");
    let output = command.env("GIT_TERMINAL_PROMPT", "0").env("no_proxy", "*").output().expect("git runs");
    let printed = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "git {arguments:?}: {printed}");
    printed.trim().to_owned()
}

/// Clones a project as ada and adds a file on a new branch. The credentials are git's own: labscope never gives it a
/// token.
fn clone_with_commit(
    home: &Home,
    served: &Served,
    project: &str,
    branch: &str,
    (file, text): (&str, &str),
    about: &[&str],
) {
    let address = served.url().replacen("http://", &format!("http://oauth2:{}@", served.token("ada")), 1);
    git(home, &["clone", "-q", &format!("{address}/{project}.git"), "."]);
    git(home, &["switch", "-q", "-c", branch]);
    std::fs::write(home.path("work").join(file), text).expect("written");
    git(home, &["add", file]);
    let messages = about.iter().flat_map(|paragraph| ["-m", paragraph]);
    git(home, &["commit", "-q"].into_iter().chain(messages).collect::<Vec<_>>());
}

/// Opens labscope in the clone as a user.
fn open(home: &Home, served: &Served, user: &str, argument: &str) -> Screen {
    let variables = [("LABSCOPE_HOST", served.url()), ("LABSCOPE_TOKEN", served.token(user)), ("no_proxy", "*")];
    Screen::start_with(home, env!("CARGO_BIN_EXE_labscope"), &[argument], &variables)
}

/// Returns whether git is installed.
fn has_git() -> bool {
    let has_git = Command::new("git").arg("--version").output().is_ok();
    if !has_git {
        eprintln!("skipped: git is not installed");
    }
    has_git
}

#[test]
fn a_branch_of_a_clone_is_pushed_and_becomes_a_merge_request() {
    if !has_git() {
        return;
    }
    let home = Home::new();
    let served = Served::start(&home, &[]);
    let file = ("ROWS.md", "Rows are tidy.\n");
    clone_with_commit(&home, &served, "acme/rocket-ui", "ada/tidy-rows", file, &["Tidy the rows", "They were not."]);
    let mut screen = open(&home, &served, "ada", "mr");
    screen.wait("the push is offered", |screen| {
        let contents = screen.contents();
        contents.contains("Push ada/tidy-rows (1 commit)") && contents.contains("Tidy the rows")
    });
    assert!(!screen.has_sent(served.token("ada")), "the token in the address is not shown");
    // A question that opens by itself ignores keys at first.
    screen.at_rest(|_| ());
    screen.keys("y");
    screen.wait("the form has the texts of the commit", |screen| {
        let contents = screen.contents();
        contents.contains("New merge request in acme/rocket-ui")
            && contents.contains("Tidy the rows")
            && contents.contains("They were not.")
    });
    let upstream = git(&home, &["rev-parse", "--abbrev-ref", "ada/tidy-rows@{upstream}"]);
    assert_eq!(upstream, "origin/ada/tidy-rows");
    screen.keys("\x13");
    screen.wait("the merge request is open", |screen| {
        let contents = screen.contents();
        contents.contains("Tidy the rows")
            && contents.contains("ada/tidy-rows")
            && !contents.contains("New merge request")
    });
    screen.keys("Q");
    assert_eq!(screen.exit_code(), 0);
    std::fs::write(home.path("work/ROWS.md"), "Rows are very tidy.\n").expect("written");
    git(&home, &["commit", "-q", "-a", "-m", "Tidy more"]);
    let mut screen = open(&home, &served, "ada", "mr");
    screen.wait("the merge request of the branch is open", |screen| {
        let contents = screen.contents();
        contents.contains("Tidy the rows") && contents.contains("1 commit not pushed")
    });
    screen.keys("gh");
    screen.wait("Home begins with the branch", |screen| screen.contents().contains("This branch ada/tidy-rows"));
    git(&home, &["switch", "-q", "main"]);
    screen.keys("g.");
    screen.wait("another branch is checked out", |screen| screen.contents().contains("the default branch is main"));
    screen.keys("Q");
    assert_eq!(screen.exit_code(), 0);
}

/// A project of ada's that bo maintains, too.
const GARDEN: &str = r#"
now = "2026-11-20T16:00:00Z"
users = [{ username = "root", admin = true }, { username = "ada" }, { username = "bo" }]

[[projects]]
path = "ada/garden"
visibility = "public"
members = { bo = "maintainer" }
files = '''
-- README.md --
A garden.
'''
script = '''
from 2026-11-02
to 2026-11-20
ada: Say what it is
  + README.md
'''
"#;

/// The whole way of a change, with two people: clone, branch, commit, push, merge request, a review that requests changes, an
/// answer, another review, approval, merge.
#[test]
fn a_change_goes_from_a_clone_through_a_review_that_requests_changes_to_the_merge() {
    if !has_git() {
        return;
    }
    let home = Home::new();
    let world = home.path("world.toml");
    std::fs::write(&world, GARDEN).expect("written");
    let served = Served::start(&home, &["--world", world.to_str().expect("UTF-8")]);
    clone_with_commit(&home, &served, "ada/garden", "beds", ("BEDS.md", "Two beds of beans.\n"), &["Plan the beds"]);
    let open = |user: &str, argument: &str| open(&home, &served, user, argument);
    let shows = |words: &'static str| move |screen: &vt100::Screen| screen.contents().contains(words);
    let lacks = |words: &'static str| move |screen: &vt100::Screen| !screen.contents().contains(words);
    let end = |mut screen: Screen| {
        screen.keys("Q");
        assert_eq!(screen.exit_code(), 0);
    };

    let mut screen = open("ada", "mr");
    screen.wait("the push is offered", shows("Push beds (1 commit)"));
    // A question that opens by itself ignores keys at first.
    screen.at_rest(|_| ());
    screen.keys("y");
    screen.wait("the form opens", shows("New merge request in ada/garden"));
    screen.wait("it has the title of the commit", shows("Plan the beds"));
    screen.keys("\x13");
    screen.wait("the merge request is open", lacks("New merge request"));
    screen.wait("it is shown", shows("beds → main"));
    end(screen);

    let mut screen = open("bo", "ada/garden!1");
    screen.wait("it opens", shows("beds → main"));
    screen.keys("3");
    screen.wait("its changes are shown", shows("Two beds"));
    screen.keys("/\x15beans\r");
    screen.wait("the line is found", shows("/beans 1/1"));
    screen.keys("c");
    screen.wait("the composer opens", shows("Comment on BEDS.md:1"));
    screen.keys("Why not three?\x1bs");
    screen.wait("the comment is in the review", shows("in your review"));
    screen.keys("S");
    screen.wait("the review is to be submitted", shows("Submit review of !1"));
    screen.keys("\x1br");
    screen.wait("changes are requested", shows("[x] Request changes"));
    screen.keys("\x13");
    screen.wait("the form closes", lacks("Submit review of !1"));
    screen.wait("the review is submitted", lacks("in your review"));
    screen.keys("1");
    screen.wait("the verdict is shown", shows("bo requested changes"));
    end(screen);

    let mut screen = open("ada", "mr");
    screen.wait("the author sees the verdict", shows("bo requested changes"));
    screen.keys(";");
    screen.wait("the thread is shown", shows("Why not three?"));
    screen.keys("R");
    screen.wait("the composer opens", shows("C-s"));
    screen.keys("There is room for two.\x13");
    screen.wait("the answer is posted", shows("↳ ada"));
    screen.keys("@");
    screen.wait("the reviewer is marked", |screen| {
        screen.contents().contains("Request review of !1") && screen.contents().contains("1 marked")
    });
    screen.keys("\x13");
    screen.wait("the reviewer is asked again", shows("Requested a review from @bo."));
    end(screen);
    let path = "projects/ada%2Fgarden/merge_requests/1";
    assert_eq!(api(&home, &served, &format!("{path}/reviewers"))[0]["state"], "unreviewed");

    let mut screen = open("bo", "ada/garden!1");
    screen.wait("the answer is there", shows("There is room for two."));
    screen.keys("A");
    screen.wait("it is approved", shows("✓ bo"));
    end(screen);

    let mut screen = open("ada", "mr");
    screen.wait("the approval is shown", shows("✓ bo"));
    screen.keys("M");
    screen.wait("the merge is to be confirmed", shows("Merge !1 into main"));
    screen.keys("\x13");
    screen.wait("it is merged", shows("✓ merged"));
    end(screen);
    assert_eq!(api(&home, &served, path)["state"], "merged");
    let notes = api(&home, &served, &format!("{path}/notes"));
    for words in ["Why not three?", "There is room for two."] {
        let count = notes.as_array().expect("a list").iter().filter(|note| note["body"] == words).count();
        assert_eq!(count, 1, "{words}: {notes}");
    }
    git(&home, &["fetch", "-q"]);
    assert_eq!(git(&home, &["show", "origin/main:BEDS.md"]), "Two beds of beans.");
}

#[test]
fn a_thread_is_worked_off_from_the_clone_until_it_is_resolved() {
    if !has_git() {
        return;
    }
    let home = Home::new();
    let world = home.path("world.toml");
    std::fs::write(&world, WORLD).expect("written");
    let served = Served::start(&home, &["--world", world.to_str().expect("UTF-8")]);
    let address = served.url().replacen("http://", &format!("http://oauth2:{}@", served.token("ada")), 1);
    git(&home, &["clone", "-q", "-b", "plan", &format!("{address}/bo/garden.git"), "."]);
    let plan = home.path("work").join("plan.txt");
    // An edit above moves the line of the thread.
    std::fs::write(&plan, "zeroth tools\nfirst roses\nsecond beans\nthird nothing\n").expect("written");
    let editor = home.path("vim");
    let script = "#!/bin/sh\necho \"$1 ${2##*/}\" > \"$HOME/opened\"\nsed -i.old 's/third nothing/third peas/' \"$2\"\nrm -f \"$2.old\"\n";
    std::fs::write(&editor, script).expect("written");
    std::fs::set_permissions(&editor, std::fs::Permissions::from_mode(0o755)).expect("set");
    let variables = [
        ("LABSCOPE_HOST", served.url()),
        ("LABSCOPE_TOKEN", served.token("ada")),
        ("no_proxy", "*"),
        ("EDITOR", editor.to_str().expect("UTF-8")),
    ];
    let mut screen = Screen::start_with(&home, env!("CARGO_BIN_EXE_labscope"), &["bo/garden!1"], &variables);
    let shows = |words: &'static str| move |screen: &vt100::Screen| screen.contents().contains(words);
    screen.wait("the thread is shown, with its line here", shows("line 4 here"));
    screen.keys(";e");
    screen.wait("it is marked when the editor is closed", shows("changed here"));
    assert_eq!(std::fs::read_to_string(home.path("opened")).expect("written"), "+4 plan.txt\n");
    git(&home, &["commit", "-q", "-a", "-m", "Plant peas"]);
    git(&home, &["push", "-q", "origin", "plan"]);
    let sha = git(&home, &["rev-parse", "--short=8", "HEAD"]);
    screen.keys("r");
    let marked = format!("changed here in {sha}");
    screen.wait("the commit is named", |screen| screen.contents().contains(&marked));
    screen.keys("\x1be");
    screen.wait("the answer is offered with its change", shows("third nothing → third peas"));
    screen.keys("y");
    screen.wait("it is a draft", shows("Drafts on bo/garden!1"));
    let answer = format!("Done in {sha}: Plant peas");
    let discussions = || api(&home, &served, "/projects/bo%2Fgarden/merge_requests/1/discussions").to_string();
    assert!(!discussions().contains(&answer), "nothing is sent by itself");
    screen.keys("S");
    screen.wait("the review is to be submitted", shows("Submit review of !1"));
    screen.keys("\x13");
    screen.wait("the thread is resolved", |screen| {
        let shown = screen.contents();
        shown.contains("✓ resolved") && !shown.contains("Drafts on") && !shown.contains("Submit review")
    });
    let sent = discussions();
    assert!(sent.contains(&answer) && sent.contains("\"resolved\":true"), "{sent}");
    screen.keys("Q");
    assert_eq!(screen.exit_code(), 0);
}
