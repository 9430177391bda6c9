//! Mistakes on the command line: each gets an exit code and a message that says what to do.

use crate::home::Home;
use std::process::Stdio;

#[test]
fn without_a_server_the_error_lists_ways_to_start() {
    let ended = Home::new().run::<&str>(&[]);
    assert_eq!(ended.code, Some(2));
    for way in ["labscope demo", "labscope local", "--host", "LABSCOPE_HOST", "labscope auth login"] {
        assert!(ended.err.contains(way), "{ended:?}");
    }
}

#[test]
fn the_interface_refuses_to_start_without_a_terminal() {
    let home = Home::new();
    for arguments in [&["demo"][..], &["--host", "http://127.0.0.1:9", "acme/web"]] {
        let ended = home.run(arguments);
        assert_eq!(ended.code, Some(1));
        assert!(ended.out.is_empty() && ended.err.contains("needs a terminal"), "{ended:?}");
    }
}

#[test]
fn configuration_errors_name_the_file_line_and_key() {
    for (text, says) in [
        ("them = \"dark\"\n", "line 1, key them: unknown; did you mean \"theme\"?"),
        ("weather = \"fine\"\n", "line 1, key weather: unknown; known are include, host, hosts, theme, "),
        ("\ntheme = \"pink\"\n", "line 2, key theme: there is no theme \"pink\""),
        ("[diff]\nlayout = \"wide\"\n", "line 2, key diff.layout: one of auto, unified, split"),
        ("[diff]\ncontext = 2\n", "line 2, key diff.context: a number from 3 to 200"),
        ("refresh = 5\n", "line 1, key refresh: 0, or at least 10 seconds"),
        ("glyphs = \"emoji\"\n", "line 1, key glyphs: one of unicode, ascii"),
        ("mouse = 1\n", "line 1, key mouse: expected true or false, not 1"),
        ("[trace]\nmemory = \"64\"\n", "line 2, key trace.memory: expected a whole number, not \"64\""),
        ("[trace]\nmemory = -1\n", "line 2, key trace.memory: expected a whole number, not -1"),
        ("\n[trase]\nmemory = 1\n", "line 2, key trase: unknown; did you mean \"trace\"?"),
        ("[hosts.work]\ntoken_file = \"x\"\n", "line 1, key hosts.work: url is missing"),
        (
            "[columns]\nmrss = [\"title\"]\n",
            "line 2, key columns.mrss: there is no place \"mrss\"; did you mean \"mrs\"?",
        ),
        ("[keys]\nquitt = [\"x\"]\n", "line 2, key keys.\"quitt\": no such command; did you mean \"quit\"?"),
        ("[hosts.work]\nurl = \"ssh://x\"\n", "line 2, key hosts.work.url: "),
        ("[keys]\nquit = [\"Q Q\"]\nnope = [\"x\"]\n", "line 3, key keys.\"nope\": no such command"),
        (
            "[[commands]]\nname = \"x\"\nrun = [\"x\", \"{nope}\"]\n",
            "line 3, key commands.run: there is no value {nope}",
        ),
        ("[[commands]]\nname = \"x\"\nrun = 3\n", "line 3, key commands.run: expected a string for sh"),
        (
            "[keys]\nquit = [\"g x\"]\n[[commands]]\nname = \"x\"\nkey = \"g\"\nrun = \"x\"\n",
            "line 5, key commands.key: \"g\" conflicts with \"g x\" (quit)",
        ),
        (
            "[[commands]]\nname = \"x\"\nplaces = [\"mars\"]\nrun = \"x\"\n",
            "line 3, key commands.places: there is no place",
        ),
        ("[[commands]]\nname = \"x\"\nrun = \"x\"\nshow = \"loud\"\n", "line 4, key commands.show: one of pane"),
        ("[keys]\nquit = [\"Ctrl+Q\"]\n", "line 2, key keys.\"quit\": \"Ctrl+Q\" is not a key"),
        ("[keys]\npalette = [\"C-m\"]\n", "line 2, key keys.\"palette\": terminals send Enter for \"C-m\""),
        ("[keys]\nquit = [\"g C-[\"]\n", "line 2, key keys.\"quit\": terminals send Esc for \"C-[\""),
        (
            "[[commands]]\nname = \"x\"\nkey = \"C-m\"\nrun = \"x\"\n",
            "line 3, key commands.key: terminals send Enter for \"C-m\"",
        ),
    ] {
        let home = Home::new();
        let file = home.write("config/labscope/config.toml", text);
        let ended = home.run(&["demo"]);
        assert_eq!(ended.code, Some(2), "{text:?}: {ended:?}");
        assert!(ended.err.contains(&format!("{}, {says}", file.display())), "{text:?}: {ended:?}");
    }
}

#[test]
fn all_mistakes_of_a_configuration_are_told_at_once() {
    let home = Home::new();
    home.write(
        "config/labscope/config.toml",
        "include = [\"team.toml\", \"nowhere.toml\"]\nrefresh = 5\nmouse = \"no\"\nthem = 1\n\
        [trace]\nerrors = [\"(\", \"fine\", \"[\"]\n[hosts.work]\nurl = \"ftp://x\"\nssh_host = 3\n\
        [keys]\nquitt = [\"x\"]\nback = [\"Ctrl+Q\"]\n\
        [[commands]]\nname = \"x\"\nrun = 3\n[[commands]]\nname = \"y\"\n\
        [[commands]]\nname = \"z\"\nrun = \"x\"\nshow = \"loud\"\n",
    );
    home.write("config/labscope/team.toml", "theme = \nglyphs = emoji\n");
    let told = |arguments: &[&str]| {
        let ended = home.run(arguments);
        let text = format!("{}{}", ended.out, ended.err);
        let of_files = text.lines().filter_map(|line| line.split_once("config/labscope/"));
        let lines = of_files.filter_map(|(_, line)| Some(line.rsplit_once(": ")?.0.split(": ").next()?.to_owned()));
        (ended.code, lines.filter(|line| line.contains(", line ")).collect::<Vec<_>>())
    };
    let all = [
        "config.toml, line 1, key include",
        "config.toml, line 2, key refresh",
        "config.toml, line 3, key mouse",
        "config.toml, line 4, key them",
        "config.toml, line 6, key trace.errors",
        "config.toml, line 6, key trace.errors",
        "config.toml, line 8, key hosts.work.url",
        "config.toml, line 9, key hosts.work.ssh_host",
        "config.toml, line 11, key keys.\"quitt\"",
        "config.toml, line 12, key keys.\"back\"",
        "config.toml, line 15, key commands.run",
        "config.toml, line 16, key commands",
        "config.toml, line 21, key commands.show",
        "team.toml, line 1, key theme",
        "team.toml, line 2, key glyphs",
    ];
    assert_eq!(told(&["demo"]), (Some(2), all.map(str::to_owned).to_vec()));
    assert_eq!(told(&["--offline", "doctor"]), (Some(1), all.map(str::to_owned).to_vec()));
}

#[test]
fn errors_in_themes_name_the_file_line_and_key() {
    let dark = include_str!("../../themes/dark.toml");
    let header = "\n[palette]\n";
    assert!(dark.contains(header) && dark.contains("\nmatch = "));
    let line_of =
        |text: &str, begin: &str| text.lines().position(|line| line.starts_with(begin)).map_or(0, |at| at + 1);
    for (text, begin, says) in [
        (dark.replacen(header, "\n[palete]\n", 1), "[palete]", "key palete: unknown; did you mean \"palette\"?"),
        (
            dark.replacen("\nmatch = ", "\nmatch = { fg = \"fg\", bould = true }\n#", 1),
            "match = ",
            "key styles.match.bould: unknown; did you mean \"bold\"?",
        ),
        (
            dark.replacen("\nmatch = ", "\nmatch = 3\n#", 1),
            "match = ",
            "key styles.match: expected a color of the palette, or a table with fg, bg and attributes, not 3",
        ),
        (
            dark.replacen("\nmatch = ", "\nmatch = \"acent\"\n#", 1),
            "match = ",
            "key styles.match: the palette has no color \"acent\"; did you mean \"accent\"?",
        ),
        (
            dark.replacen("\nmatch = ", "\nmach = ", 1),
            "mach = ",
            "key styles.mach: unknown role; did you mean \"match\"?",
        ),
        (
            dark.replacen(header, "\n[palette]\nnew = \"#12\"\n", 1).replacen("\nmatch = ", "\nmatch = \"new\"\n#", 1),
            "new = ",
            "key palette.new: \"#12\" must be #rrggbb",
        ),
    ] {
        let home = Home::new();
        home.write("config/labscope/config.toml", "theme = \"own\"\n");
        std::fs::create_dir_all(home.path("config/labscope/themes")).expect("a folder");
        let file = home.write("config/labscope/themes/own.toml", &text);
        let says = format!("key theme: {}, line {}, {says}", file.display(), line_of(&text, begin));
        let ended = home.run(&["demo"]);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.err.contains(&says) && ended.err.lines().count() == 1, "{says}: {ended:?}");
    }
}

#[test]
fn pipes_and_devices_in_place_of_files_are_refused_at_once() {
    let home = Home::new();
    let made = std::process::Command::new("mkfifo").arg(home.path("pipe")).status().expect("it starts");
    assert!(made.success());
    let (git, tokens) = (home.path("work/.git"), home.path("config/labscope/tokens.toml"));
    std::fs::create_dir_all(git.join("objects")).expect("a folder");
    std::fs::create_dir_all(git.join("refs")).expect("a folder");
    home.write("work/.git/HEAD", "ref: refs/heads/main\n");
    let link = |target: &std::path::Path, at: &std::path::Path| {
        let _ = std::fs::remove_file(at);
        std::os::unix::fs::symlink(target, at).expect("linked");
    };
    for target in [home.path("pipe"), "/dev/zero".into()] {
        link(&target, &git.join("config"));
        link(&target, &tokens);
        let clone = home.run(&["api", "GET", "user"]);
        assert!(clone.err.contains(".git/config: it is not a regular file"), "{clone:?}");
        let local = home.run(&["local", "."]);
        assert!(local.err.contains("it is not a regular file"), "{local:?}");
        let target = target.to_str().expect("a path");
        for (arguments, says) in [
            (["--config", target, "keys"], "cannot read the configuration"),
            (["--ca-cert", target, "api"], "certificate file"),
        ] {
            let more: &[&str] =
                if arguments[2] == "api" { &["--host", "http://127.0.0.1:9", "GET", "user"] } else { &[] };
            let ended = home.run(&[&arguments[..], more].concat());
            assert!(ended.err.contains(says) && ended.err.contains("it is not a regular file"), "{ended:?}");
        }
    }
}

#[test]
fn arguments_that_do_not_exist_are_reported() {
    let home = Home::new();
    for (arguments, code, says) in [
        (&["local", "."][..], 1, "is not in a git repository"),
        (&["local", "nowhere"], 1, "nowhere does not exist"),
        (&["demo", "no target"], 2, "Invalid target"),
        (&["demo", "--as", "nobody"], 2, "the demo has no user \"nobody\"; it has root, ada, bo"),
        (&["dmeo"], 2, "Did you mean:\n  labscope demo\n"),
        (&["login"], 2, "labscope auth login"),
        (&["--host", "http://h", "http://other/a/b"], 2, "another server"),
        (&["--host", "ftp://h", "a/b"], 2, "--host: "),
        (&["--host", "http://h", "--token-file", "nowhere", "a/b"], 2, "--token-file: cannot read nowhere"),
        (&["--config", "nowhere.toml", "demo"], 2, "cannot read the configuration nowhere.toml"),
        (&["--theme", "pink", "demo"], 2, "--theme: there is no theme"),
        (&["a/b", "demo"], 2, "before a command"),
        (&["--nonsense"], 2, "--nonsense"),
        (&["serve", "--world", "nowhere.toml"], 1, "nowhere.toml"),
        (&["serve", "--listen", "nowhere.invalid:0"], 2, "--listen"),
        (&["serve", "--ready-file", "/dev/null"], 2, "/dev/null exists and is not a regular file"),
        (&["https://git.example.org/a/b"], 2, "labscope --host https://git.example.org https://git.example.org/a/b"),
        (&["serve", "--repo", "nowhere"], 1, "nowhere does not exist"),
        (&["serve", "--api", "12"], 2, "expected one of 10.6, 17, 18, 19"),
        (&["serve", "--fail", "5"], 2, "expected a number from 0 to 1"),
        (&["serve", "--range", "no"], 2, "expected on or off"),
        (&["serve", "--rate-limit", "0"], 2, "0 is not in 1.."),
        (&["serve", "--seed", "3"], 2, "--fail <RATE>"),
    ] {
        let ended = home.run(arguments);
        assert_eq!(ended.code, Some(code), "{arguments:?}: {ended:?}");
        assert!(ended.err.contains(says), "{arguments:?}: {ended:?}");
        assert!(!ended.err.contains("crashed"), "{arguments:?}: {ended:?}");
    }
    assert!(home.left_behind().is_empty());
}

#[test]
fn a_closed_output_pipe_is_not_an_error() {
    let home = Home::new();
    let mut child = home.command(&["keys"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    drop(child.stdout.take());
    let ended = child.wait_with_output().expect("it ends");
    assert_eq!((ended.status.code(), ended.stderr.len()), (Some(0), 0));
}

#[test]
fn completions_and_the_man_page_cover_the_options() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish"] {
        let ended = home.run(&["completions", shell]);
        assert!(ended.code == Some(0) && ended.out.contains("token-file"), "{shell}: {}", ended.err);
    }
    // The names of themes and versions are no files; certificates are.
    let bash = home.run(&["completions", "bash"]).out;
    let offered = |option: &str| {
        let at = bash.find(&format!("                {option})\n")).unwrap_or_else(|| panic!("no {option}:\n{bash}"));
        bash[at..].lines().take_while(|line| !line.contains("return 0")).any(|line| line.contains("compgen -f"))
    };
    assert!(!offered("--theme") && !offered("--api") && offered("--world") && offered("--ca-cert"));
    let manual = home.run(&["man"]);
    assert!(manual.out.contains(".TH labscope 1") && manual.out.contains(".SH \"LABSCOPE SERVE\""));
}

#[cfg(target_os = "linux")]
#[test]
fn missing_system_certificates_are_reported_as_the_cause() {
    let home = Home::new();
    let mut command = home.command(&["--host", "http://127.0.0.1:9", "api", "GET", "version"]);
    command.env("SSL_CERT_FILE", home.path("none")).env("SSL_CERT_DIR", home.path("none"));
    let output = command.output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("No CA certificates were loaded from the system") && said.contains("--ca-cert"), "{said}");
}
