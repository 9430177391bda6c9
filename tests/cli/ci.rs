//! `labscope ci lint` against a served world.

use crate::home::Home;
use crate::program::{Ended, Served};

fn lint(home: &Home, served: &Served, arguments: &[&str]) -> Ended {
    let token = home.write("token", served.token("root"));
    let shared = ["--host", served.url(), "--token-file", token.to_str().expect("a path"), "ci", "lint"];
    home.run(&[&shared, arguments].concat())
}

#[test]
fn a_configuration_is_checked_by_the_server() {
    let home = Home::new();
    let served = Served::start(&home, &[]);
    let valid = home.write("valid.yml", "pack:\n  script: make\n");
    let valid = valid.to_str().expect("a path");
    let project = ["--project", "acme/rocket-ui"];
    let ended = lint(&home, &served, &[&[valid], &project[..]].concat());
    assert_eq!((ended.code, ended.out.trim_end()), (Some(0), &*format!("{valid}: valid")), "{ended:?}");
    let ended = lint(&home, &served, &[&[valid, "--merged"], &project[..]].concat());
    assert_eq!((ended.code, &*ended.out), (Some(0), "---\npack:\n  script: make\n"), "{ended:?}");

    let invalid = home.write("invalid.yml", "stages: [a]\npack:\n  stage: a\n  scrpt: make\n");
    let invalid = invalid.to_str().expect("a path");
    let ended = lint(&home, &served, &[&[invalid], &project[..]].concat());
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended.out.starts_with(&format!("{invalid}:4: error: jobs:pack config contains unknown keys: scrpt")),
        "{ended:?}"
    );

    // What could not be checked is not invalid.
    let ended = lint(&home, &served, &["/nowhere/at/all"]);
    assert_eq!(ended.code, Some(3));
    assert!(ended.err.contains("cannot be read"), "{ended:?}");
    let ended = home.run(&[&["--host", "http://127.0.0.1:9", "ci", "lint", valid], &project[..]].concat());
    assert_eq!(ended.code, Some(3));
    assert!(ended.err.contains("Server unreachable"), "{ended:?}");
    let ended = lint(&home, &served, &[valid]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.err.contains("--project"), "{ended:?}");
}

#[test]
fn without_a_file_the_one_that_the_project_names_is_checked() {
    let home = Home::new();
    let served = Served::start(&home, &[]);
    let repository = git2::Repository::init(home.path("work")).expect("a repository");
    repository.remote("origin", &format!("{}/acme/rocket-ui.git", served.url())).expect("a remote");
    home.write("work/.gitlab-ci.yml", "pack:\n  scrpt: make\n");
    std::fs::create_dir_all(home.path("work/ci")).expect("a folder");
    home.write("work/ci/build.yml", "pack:\n  script: make\n");
    let token = home.write("root", served.token("root"));
    let checked = |configured: &str| {
        let field = format!("ci_config_path={configured}");
        let shared = ["--host", served.url(), "--token-file", token.to_str().expect("a path")];
        let set = home.run(&[&shared[..], &["api", "PUT", "projects/acme%2Frocket-ui", "-f", &field]].concat());
        assert_eq!(set.code, Some(0), "{set:?}");
        let ended = lint(&home, &served, &[]);
        (ended.code, ended.out.lines().next().unwrap_or_default().to_owned(), ended.err)
    };
    let is = |code: i32, says: &str| (Some(code), says.to_owned(), String::new());
    assert_eq!(checked("ci/build.yml"), is(0, "ci/build.yml: valid"));
    assert_eq!(checked("").1.split(" config").next(), Some(".gitlab-ci.yml:2: error: jobs:pack"));
    // The local server does not read the files of other projects.
    let elsewhere = "error: This server can include only local files, not include:";
    for (path, kind) in [
        ("ci.yml@acme/tools", "project"),
        ("ci.yml@acme/tools:main", "project"),
        ("https://git.example.com/ci.yml", "remote"),
    ] {
        assert_eq!(checked(path), is(1, &format!("{path}: {elsewhere}{kind}")));
    }
}
