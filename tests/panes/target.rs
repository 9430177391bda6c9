//! Targets: what a person types to name a place.

use labscope::api::GitRef;
use labscope::app::place::Place;
use labscope::app::registry::places;
use labscope::app::target::*;
use labscope::panes::PANES;

#[test]
fn what_is_typed_at_a_place_is_completed_by_it() {
    let places = places(PANES);
    let file = Place::new("files").project("a/b").path("src/x.rs");
    let group = Place::new("groups").group("a");
    let typed = |here: &Place, text: &str| {
        typed_at(&places, here, text, "http://h:1").map(|place| {
            let of = place.project.or(place.group).map(|of| of.to_string()).unwrap_or_default();
            (place.pane, of, place.item.unwrap_or_default(), place.line)
        })
    };
    let is = |here: &Place, text: &str, pane: &str, of: &str, item: &str, line: Option<u32>| {
        assert_eq!(typed(here, text), Some((pane.into(), of.into(), item.into(), line)), "{text}");
    };
    is(&file, "!42", "mr", "a/b", "42", None);
    is(&file, "!42/diffs", "mr", "a/b", "42", None);
    is(&file, " #7 ", "issue", "a/b", "7", None);
    is(&file, "$3", "snippets", "a/b", "3", None);
    is(&file, "9f3c2ab", "commit", "a/b", "9f3c2ab", None);
    is(&file, ":20", "files", "a/b", "", Some(20));
    is(&file, "c/d!4", "mr", "c/d", "4", None);
    is(&file, "http://h:1/c/d/-/issues/3", "issue", "c/d", "3", None);
    is(&group, "&2", "epic", "a", "2", None);
    // Bare names, words that could be hexadecimal, and what the place cannot complete.
    for (here, text) in [
        (&file, "a/b"),
        (&file, "src/x"),
        (&file, "!branch"),
        (&file, "decades"),
        (&file, "42"),
        (&group, "!42"),
        (&group, ":20"),
        (&file, ""),
    ] {
        assert_eq!(typed(here, text), None, "{text}");
    }
}

#[test]
fn the_project_of_an_item_is_read_from_its_web_address() {
    let project = |text: &str| project_of(&places(PANES), text, "http://h:1/gitlab");
    for page in ["/-/issues/3", "/-/merge_requests/3/diffs?w=1#note_7", "/merge_requests/3", "/issues/3"] {
        assert_eq!(project(&format!("http://h:1/gitlab/a/b/c{page}")).as_deref(), Some("a/b/c"), "{page}");
    }
    for other in ["http://other/gitlab/a/b/-/issues/3", "http://h:1/a/b/-/issues/3", "", "a/b", "http://h:1/gitlab/a"] {
        assert_eq!(project(other), None, "{other}");
    }
}

#[test]
fn the_path_of_the_server_is_not_part_of_a_project() {
    let read = |text: &str| parse(&places(PANES), text, "http://h:1/gitlab").expect(text).project;
    for text in ["/gitlab/acme/web", "gitlab/acme/web", "gitlab/acme/web!1", "acme/web", "http://h:1/gitlab/acme/web"] {
        assert_eq!(read(text), Some("acme/web".into()), "{text}");
    }
    assert_eq!(read("gitlab/web"), Some("gitlab/web".into()));
    assert_eq!(read("gitlab-tools/acme/web"), Some("gitlab-tools/acme/web".into()));
}

fn read(text: &str) -> Place {
    parse(&places(PANES), text, "http://h:1").unwrap_or_else(|e| panic!("{text}: {e}"))
}

#[test]
fn web_addresses_old_and_new_open_their_places() {
    let files = Place::new("files").project("acme/tools/cli");
    assert_eq!(read("http://h:1/acme/tools/cli"), files);
    let joined = |place: Place| Place { is_joined: true, ..place };
    assert_eq!(read("acme/tools/cli/-/tree/main/src/x y"), joined(files.clone().at("main").path("src/x y")));
    let line = files.clone().at("main").path("src/a.rs").line(10);
    assert_eq!(read("acme/tools/cli/blob/main/src/a.rs#L10"), joined(line));
    assert_eq!(read("acme/cli/-/tree/feature%2Fx"), Place::new("files").project("acme/cli").at("feature/x"));
    assert_eq!(
        read("acme/cli/-/merge_requests/12/diffs"),
        Place::new("mr").project("acme/cli").item(12).tab("changes")
    );
    assert_eq!(read("acme/cli/merge_requests/12"), Place::new("mr").project("acme/cli").item(12));
    assert_eq!(read("acme/cli/-/jobs/123"), Place::new("job").project("acme/cli").item(123));
    let artifacts = Place::new("artifacts").project("acme/cli");
    assert_eq!(read("acme/cli/-/jobs/123/artifacts"), artifacts.clone().item(123));
    assert_eq!(read("acme/cli/-/jobs/123/artifacts/browse/a/b"), artifacts.clone().item(123).path("a/b"));
    assert_eq!(
        read("acme/cli/-/jobs/artifacts/feature/x/file/report.xml?job=unit+tests"),
        artifacts.clone().at("feature/x").item("unit tests").path("report.xml")
    );
    assert_eq!(read("acme/cli/-/jobs/artifacts/main/download?job=unit"), artifacts.at("main").item("unit"));
    assert_eq!(read("acme/cli/-/pipelines/9"), Place::new("jobs").project("acme/cli").item(9));
    assert_eq!(read("acme/cli/-/commit/abc"), Place::new("commit").project("acme/cli").item("abc"));
    assert_eq!(
        read("acme/cli/-/compare/main...feature/x"),
        Place::new("compare").project("acme/cli").item("main...feature/x")
    );
    assert_eq!(read("acme/cli/-/compare/v1%2F0...main"), Place::new("compare").project("acme/cli").item("v1/0...main"));
    assert_eq!(read("acme/cli/-/snippets/3"), Place::new("snippets").project("acme/cli").item(3));
    assert_eq!(read("acme/cli/snippets"), Place::new("snippets").project("acme/cli"));
    assert_eq!(read("acme/cli/-/deployments"), Place::new("deployments").project("acme/cli"));
    assert_eq!(read("admin/runners"), Place::new("runners").tab("all"));
}

#[test]
fn the_ref_of_an_address_has_a_kind_and_may_be_longer_than_its_first_part() {
    let files = || Place::new("files").project("acme/cli");
    assert_eq!(read("acme/cli/-/tree/v1?ref_type=tags"), files().at(GitRef::tag("v1")));
    assert_eq!(read("acme/cli/-/tree/v1?ref_type=heads&x=1"), files().at(GitRef::branch("v1")));
    assert_eq!(read("acme/cli/-/tree/v1?ref_type=other"), files().at("v1"));
    let sha = "0123456789abcdef0123456789abcdef01234567";
    assert_eq!(read(&format!("acme/cli/-/tree/{sha}/src?ref_type=heads")), files().at(sha).path("src"));
    for page in ["tree", "blob", "raw", "blame"] {
        let joined = Place { is_joined: true, ..files().at(GitRef::tag("a")).path("b/c") };
        assert_eq!(read(&format!("acme/cli/-/{page}/a/b/c?ref_type=tags")), joined);
    }
    // An encoded slash belongs to the ref.
    assert_eq!(read("acme/cli/-/tree/a%2Fb/c"), files().at("a/b").path("c"));
    assert_eq!(read("acme/cli@a:b/c"), files().at("a").path("b/c"));
    let commits = Place::new("commits").project("acme/cli");
    assert_eq!(read("acme/cli/-/commits/a/b"), Place { is_joined: true, ..commits.clone().at("a").path("b") });
    assert_eq!(read("acme/cli/-/commits/v1?ref_type=tags"), commits.clone().at(GitRef::tag("v1")));
    assert_eq!(read("acme/cli/-/network/a/b"), commits.at("a/b"));
}

#[test]
fn lists_get_the_filters_of_their_web_addresses() {
    let issues = || Place::new("issues").project("acme/cli");
    let filters = "?label_name[]=bug&author_username=bo";
    assert_eq!(read(&format!("http://h:1/acme/cli/-/issues/{filters}")), issues().query(filters));
    assert_eq!(read("acme/cli/-/issues?state=closed&page=2"), issues().tab("closed").query("?state=closed&page=2"));
    assert_eq!(read("acme/cli/-/issues/?"), issues());
    assert_eq!(read("dashboard/merge_requests?author_username=bo"), Place::new("mrs").query("?author_username=bo"));
    let commits = Place::new("commits").project("acme/cli").at("main");
    assert_eq!(read("acme/cli/-/commits/main?ref_type=other&author=bo&search=x"), commits.query("?author=bo&search=x"));
    assert_eq!(read("acme/cli/-/issues/7?x=1"), Place::new("issue").project("acme/cli").item(7));
}

#[test]
fn web_addresses_of_one_thing_in_a_list_open_it() {
    let of = |pane: &str| Place::new(pane).project("acme/cli");
    assert_eq!(read("acme/cli/-/tags/v1.0"), of("tags").at("v1.0"));
    assert_eq!(read("acme/cli/-/tags/rel/1"), of("tags").at("rel/1"));
    assert_eq!((read("acme/cli/-/tags"), read("acme/cli/-/tags/new")), (of("tags"), of("tags")));
    assert_eq!(read("acme/cli/-/releases/v1.0"), of("releases").item("v1.0"));
    assert_eq!(read("acme/cli/-/environments/3"), of("environments").item(3));
    assert_eq!(read("acme/cli/-/jobs/155#L5"), of("job").item(155).line(5));
    let sha = "0123456789abcdef0123456789abcdef01234567";
    let commit = of("commit").item(sha);
    assert_eq!(read(&format!("acme/cli/-/merge_requests/12/diffs?commit_id={sha}")), commit);
    // `git push` prints it (`app/services/merge_requests/get_urls_service.rb` of GitLab).
    let new = of("branches").at("fix/x").tab("new merge request");
    for brackets in [["[", "]"], ["%5B", "%5D"]] {
        let [open, close] = brackets;
        let address = format!("acme/cli/-/merge_requests/new?merge_request{open}source_branch{close}=fix%2Fx");
        assert_eq!(read(&address), new);
    }
}

#[test]
fn addresses_of_repositories_open_their_projects() {
    let project = Place::new("files").project("acme/cli");
    for address in [
        "http://h:1/acme/cli.git",
        "acme/cli.git",
        "git@h:acme/cli.git",
        "git@h:acme/cli",
        "ssh://git@h/acme/cli.git",
        "ssh://git@h:2222/acme/cli.git",
    ] {
        assert_eq!(read(address), project, "{address}");
    }
    assert_eq!(read("acme/cli/-/blob/main/a.git").path.as_deref(), Some("a.git"));
    assert_eq!(read("acme/cli@h:a/b.git"), project.at("h").path("a/b.git"));
    let elsewhere = parse(&places(PANES), "git@other:acme/cli.git", "http://h:1");
    assert!(matches!(elsewhere, Err(TargetError::OtherHost(..))), "{elsewhere:?}");
}

#[test]
fn web_searches_open_search_with_their_text_scope_and_project() {
    let search = || Place::new("search");
    for (query, place) in [
        ("search", search()),
        ("search?search=narrow+table", search().item("narrow table")),
        ("http://h:1/search?scope=blobs&search=a%2Bb&project_id=7", search().item("a+b").tab("blobs").project("7")),
        ("search?group_id=3&project_id=7&search=x", search().item("x").project("7").group("3")),
        ("search?group_id=3&scope=issues&search=%23x", search().item("#x").tab("issues").group("3")),
        ("search?search=&group_id=&project_id=7", search().project("7")),
        ("search?project_id=x&search=y&scope=", search().item("y")),
        ("search?group_id=3", search().group("3")),
    ] {
        assert_eq!(read(query), place, "{query}");
    }
}

#[test]
fn groups_users_and_keys_have_addresses_too() {
    assert_eq!(read("admin/users"), Place::new("users"));
    assert_eq!(read("http://h:1/admin/users/ada"), Place::new("user").item("ada"));
    assert_eq!(read("@ada"), Place::new("user").item("ada"));
    assert_eq!(read("admin/hooks"), Place::new("hooks"));
    assert_eq!(read("admin/license"), Place::new("license"));
    assert_eq!(read("groups"), Place::new("groups"));
    assert_eq!(read("http://h:1/groups/acme/tools/-/activity"), Place::new("groups").group("acme/tools"));
    assert_eq!(read("acme"), Place::new("groups").group("acme"));
    assert_eq!((read("home"), read("todos")), (Place::new("home"), Place::new("todos")));
    assert_eq!(read("groups/home"), Place::new("groups").group("home"));
    assert_eq!(read("-/user_settings/ssh_keys"), Place::new("me").tab("ssh"));
    assert_eq!(read("-/profile/notifications"), Place::new("notifications"));
    assert_eq!(read("admin/keys/17"), Place::new("key").item(17));
}

#[test]
fn short_forms_open_their_places() {
    assert_eq!(read("acme/cli!12"), Place::new("mr").project("acme/cli").item(12));
    assert_eq!(read("acme/cli!12/diffs"), Place::new("mr").project("acme/cli").item(12).tab("changes"));
    assert_eq!(read("acme/cli!12/commits/"), Place::new("mr").project("acme/cli").item(12).tab("commits"));
    let note = Place { note: Some(31), ..Place::new("mr").project("acme/cli").item(12) };
    assert_eq!(read("acme/cli!12#note_31"), note);
    assert_eq!(read("acme/cli#7/designs"), Place::new("issue").project("acme/cli").item(7));
    assert_eq!(read("acme/cli@a!1/b"), Place::new("files").project("acme/cli").at("a!1/b"));
    assert_eq!(read("acme/cli#7"), Place::new("issue").project("acme/cli").item(7));
    assert_eq!(read("acme/cli/-/issues/7"), Place::new("issue").project("acme/cli").item(7));
    let note = Place { note: Some(31), ..Place::new("issue").project("acme/cli").item(7) };
    assert_eq!(read("acme/cli/-/issues/7#note_31"), note);
    assert_eq!(read("acme/cli/issues/7#note_31"), note);
    assert_eq!(read("acme/cli@fix&2"), Place::new("files").project("acme/cli").at("fix&2"));
    let page = Place::new("files").project("acme/cli").at("main").path("docs/R&2");
    assert_eq!(read("acme/cli@main:docs/R&2"), page);
    assert_eq!(read("acme/cli/-/blob/main/docs/R&2").pane, "files");
    assert_eq!(read("acme/cli@fix#7"), Place::new("files").project("acme/cli").at("fix#7"));
    assert_eq!(read("acme/tools&2"), Place::new("epic").group("acme/tools").item(2));
    assert_eq!(read("groups/acme/tools/-/epics/2"), Place::new("epic").group("acme/tools").item(2));
    assert_eq!(read("acme/cli$3"), Place::new("snippets").project("acme/cli").item(3));
    let files = Place::new("files").project("acme/cli");
    assert_eq!(read("acme/cli@v1.0"), files.clone().at("v1.0"));
    assert_eq!(read("acme/cli@feature/x:src/a.rs:7"), files.clone().at("feature/x").path("src/a.rs").line(7));
    assert_eq!(read("acme/cli@main:src"), files.clone().at("main").path("src"));
    let file = files.at("main").path("odd/a?b&c=d.txt");
    assert_eq!(read("acme/cli@main:odd/a?b&c=d.txt"), file);
    assert_eq!(read("acme/cli@main:odd/a?b&c=d.txt:7:2"), file.line(7));
}

#[test]
fn invalid_targets_are_reported() {
    for other in ["http://other/a/b", "http://h:12/a/b", "http://h:1.other/a/b", "ftp://h:1/a/b"] {
        assert!(matches!(parse(&places(PANES), other, "http://h:1"), Err(TargetError::OtherHost(..))), "{other}");
    }
    let here = Place::new("files").project("a/b");
    assert_eq!(parse(&places(PANES), "http://h:1/a/b", "https://h:1"), Ok(here.clone()), "a proxy ends TLS");
    assert_eq!(parse(&places(PANES), "HTTPS://Git.Example.com/a/b", "https://git.example.com/"), Ok(here.clone()));
    assert_eq!(parse(&places(PANES), "http://git.example.com/a/b", "https://git.example.com/"), Ok(here.clone()));
    assert!(parse(&places(PANES), "ftp://git.example.com/a/b", "https://git.example.com/").is_err());
    assert_eq!(parse(&places(PANES), "https://example.com/lab/a/b", "https://example.com/lab/"), Ok(here));
    assert!(parse(&places(PANES), "https://example.com/labs/a/b", "https://example.com/lab/").is_err());
    assert_eq!(
        parse(&places(PANES), "https://git.example.com", "https://git.example.com/"),
        Ok(Place::new("projects"))
    );
    assert!(matches!(parse(&places(PANES), "no target", ""), Err(TargetError::Unknown(_))));
    assert!(matches!(parse(&places(PANES), "http://h/-/vaults/5", ""), Err(TargetError::Unknown(_))));
    let page = ("acme/cli/-/wikis/home".to_owned(), "acme/cli".to_owned());
    assert_eq!(parse(&places(PANES), &page.0, ""), Err(TargetError::NoPlace(page.0, page.1)));
}
