use super::*;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

/// Reports as tools wrote them; their versions are told there.
const SAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/line_reports");

fn changed(paths: &[&str]) -> RepositoryPaths {
    RepositoryPaths { projects: vec!["acme/shop".into()], paths: paths.iter().map(|path| (*path).to_owned()).collect() }
}

fn read_bytes(kind: Kind, bytes: Vec<u8>, changed: &RepositoryPaths) -> Result<LineReports, String> {
    match read(kind, &Parts::whole(bytes.into()), changed, &|| false) {
        Step::Done(result) => result,
        Step::Need(range) => panic!("all is there, not only {range:?}"),
    }
}

fn sample(name: &str) -> Vec<u8> {
    std::fs::read(format!("{SAMPLES}/{name}")).expect("the sample")
}

fn packed(text: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(text).expect("written");
    packed.finish().expect("packed")
}

fn shown(reports: &LineReports, path: &str) -> String {
    let lines = reports.file(path).into_iter().flatten();
    let line = |(line, report): (&u32, &LineReport)| {
        let coverage = report.coverage.map(|coverage| match coverage {
            Coverage { is_covered: false, .. } => "-".to_owned(),
            Coverage { branches: Some((taken, all)), .. } => format!("{taken}/{all}"),
            Coverage { .. } => "+".to_owned(),
        });
        let problems = report.problems.iter().map(|problem| format!("{} {}", problem.severity, problem.check));
        format!("{line}{}", coverage.into_iter().chain(problems).map(|fact| format!(" {fact}")).collect::<String>())
    };
    lines.map(line).collect::<Vec<_>>().join(", ")
}

#[test]
fn coverage_is_read_as_tools_write_it() {
    let python = "2 +, 5 +, 6 +, 7 1/2, 8 -, 9 1/2, 10 -, 11 +, 14 +, 15 -";
    let plain = "2 +, 5 +, 6 +, 7 +, 8 -, 9 +, 10 -, 11 +, 14 +, 15 -";
    for (name, path, expected) in [
        ("coveragepy.xml", "src/cart/total.py", python),
        ("coveragepy-source.xml", "src/cart/total.py", plain),
        ("coveragepy-relative.xml", "src/cart/total.py", plain),
        ("gcovr.xml", "add.c", "2 +, 3 1/2, 4 -, 6 +, 8 +"),
        ("nyc.xml", "js/total.js", "1 +, 2 +, 3 1/2, 4 -, 6 1/2, 8 +, 9 +"),
        ("c8.xml", "js/total.js", "1 2/2, 2 1/1, 3 0/1, 4 -, 5 -, 6 0/1, 7 +, 8 +, 9 +"),
        ("phpunit.xml", "php/src/Total.php", "7 +, 8 +, 9 -, 11 +"),
    ] {
        // Files of the same name elsewhere are other files.
        let others = [path, "total.py", "cart/total.py", "total.js", "src/add.c", "Total.php", "src/Total.php"];
        let reports = read_bytes(Kind::Coverage, packed(&sample(name)), &changed(&others)).expect(name);
        assert_eq!(shown(&reports, path), expected, "{name}");
        assert_eq!(reports.files.len(), 1, "{name}: {:?}", reports.files.keys());
        assert!(reports.has(Kind::Coverage) && !reports.has(Kind::CodeQuality));
    }
}

#[test]
fn problems_are_read_as_tools_write_them() {
    for (name, path, expected) in [
        ("ruff.json", "src/cart/total.py", "2 major F401"),
        ("pylint.json", "src/cart/total.py", "2 major W0611, 5 minor C0116, 14 minor C0116"),
        ("eslint.json", "js/total.js", "8 minor no-var major no-unused-vars"),
        ("mypy.json", "src/cart/total.py", "15 major return-value"),
    ] {
        let reports = read_bytes(Kind::CodeQuality, packed(&sample(name)), &changed(&[path])).expect(name);
        assert_eq!(shown(&reports, path), expected, "{name}");
    }
    let reports = read_bytes(Kind::CodeQuality, sample("ruff.json"), &changed(&["src/cart/total.py"])).expect("read");
    let problem = &reports.line("src/cart/total.py", 2).expect("a problem").problems[0];
    assert_eq!(problem.description, "F401: `os` imported but unused");
    assert!(problem.is_serious());
}

#[test]
fn names_lead_to_the_files_that_they_mean() {
    let one = changed(&["app/user.rb", "user.rb", "lib/a b.rb"]);
    let find = |sources: &[&str], name: &str| {
        let sources: Vec<String> = sources.iter().map(|source| source.replace('\\', "/")).collect();
        one.find(&sources, name).map(str::to_owned)
    };
    let app = Some("app/user.rb".to_owned());
    // Relative to the root of the project, which GitLab takes for granted.
    assert_eq!(find(&[], "app/user.rb"), app);
    assert_eq!(find(&[], "./app//user.rb"), app);
    assert_eq!(find(&["/builds/acme/shop"], "app/user.rb"), app);
    assert_eq!(find(&["builds/acme/shop"], "app/user.rb"), app);
    // In an image that has the project elsewhere, and in coverlet's reports from Windows.
    assert_eq!(find(&["/app"], "app/user.rb"), app);
    assert_eq!(find(&["C:\\"], "app\\user.rb"), app);
    assert_eq!(find(&["D:\\builds\\acme\\shop\\app\\"], "user.rb"), app);
    // Relative to a folder, absolute, or from elsewhere.
    assert_eq!(find(&["/builds/acme/shop/app"], "user.rb"), app);
    assert_eq!(find(&["app"], "user.rb"), app);
    assert_eq!(find(&["/usr/local/go/src", "/go/src"], "gitlab.example.com/acme/shop/app/user.rb"), app);
    assert_eq!(find(&["/usr/lib"], "/builds/acme/shop/app/user.rb"), app);
    assert_eq!(find(&["/builds/acme/shop/app/models"], "../user.rb"), app);
    assert_eq!(find(&[], "lib/a b.rb"), Some("lib/a b.rb".into()));
    // What could be several files, or is none of them.
    assert_eq!(find(&["/builds/acme/shop/app", "/builds/acme/shop"], "user.rb"), None);
    assert_eq!(find(&["/builds/acme/shop/other"], "user.rb"), None);
    for name in ["", "/", "..", "../user.rb", "/app/user.rb", "C:\\user.rb", "app/user.rb/", "shop/user.rb"] {
        let expected = (name == "app/user.rb/").then(|| "app/user.rb".to_owned());
        assert_eq!(find(&[], name), expected, "{name}");
    }
}

#[test]
fn several_reports_are_one() {
    let report = |hits: &str| {
        format!("<coverage><packages><class filename='a'><lines>{hits}</lines></class></packages></coverage>")
    };
    let first = report("<line number='1' hits='1'/><line number='2' hits='0'/><line number='3' hits='0'/>");
    let second = report("<line number='2' hits='4'/><line number='3' hits='0'/><line number='x' hits='1'/><line/>");
    // Runners upload several files one after the other.
    let both = [packed(first.as_bytes()), packed(second.as_bytes())].concat();
    let read = read_bytes(Kind::Coverage, both, &changed(&["a"])).expect("read");
    assert_eq!(shown(&read, "a"), "1 +, 2 +, 3 -");
    let mut merged = read_bytes(Kind::Coverage, first.into_bytes(), &changed(&["a"])).expect("read");
    let problem =
        r#"[{"description":"d","check_name":"c","severity":"MAJOR","location":{"path":"a","lines":{"begin":2}}}]"#;
    let problems = read_bytes(Kind::CodeQuality, problem.into(), &changed(&["a"])).expect("read");
    merged.merge(&problems);
    merged.merge(&problems);
    assert_eq!(shown(&merged, "a"), "1 +, 2 - major c, 3 -");
    assert!(merged.has(Kind::Coverage) && merged.has(Kind::CodeQuality));
}

/// Servers before 19.4 send the archive of the job instead of the report.
#[test]
fn reports_are_found_in_an_archive() {
    let archive = |names: &[(&str, &str)]| {
        let mut zip = zip_writer();
        for (name, text) in names {
            zip.start_file(*name, zip_options()).expect("started");
            zip.write_all(text.as_bytes()).expect("written");
        }
        zip.finish().expect("packed").into_inner()
    };
    let xml = "<coverage><class filename='a'><line number='7' hits='1'/></class></coverage>";
    for name in ["coverage.xml", "out/cobertura-coverage.xml", "target/site/cobertura/Cobertura.xml"] {
        let bytes = archive(&[("report.xml", "<testsuite/>"), (name, xml)]);
        assert_eq!(shown(&read_bytes(Kind::Coverage, bytes, &changed(&["a"])).expect(name), "a"), "7 +", "{name}");
    }
    let bytes = archive(&[("report.xml", "<testsuite/>"), ("other.json", "[]")]);
    for kind in Kind::ALL {
        let none = read_bytes(kind, bytes.clone(), &changed(&["a"])).expect("read");
        assert!(none.files.is_empty() && !none.has(kind), "nothing is told of a report that is not there");
    }
    let lying = archive(&[("coverage.xml", &"x".repeat(40 << 20))]);
    assert!(lying.len() < 1 << 20);
    assert!(read_bytes(Kind::Coverage, lying, &changed(&["a"])).is_err());
}

type ZipFile = ::zip::ZipWriter<std::io::Cursor<Vec<u8>>>;

fn zip_writer() -> ZipFile {
    ::zip::ZipWriter::new(std::io::Cursor::new(Vec::new()))
}

fn zip_options() -> ::zip::write::SimpleFileOptions {
    ::zip::write::SimpleFileOptions::default().compression_method(::zip::CompressionMethod::Deflated)
}

#[test]
fn broken_reports_are_refused_with_the_reason() {
    let whole = sample("gcovr.xml");
    let all = changed(&["add.c", "js/total.js"]);
    let fail = |kind: Kind, bytes: &[u8]| read_bytes(kind, bytes.to_vec(), &all).expect_err("it is broken");
    // A part of a report would tell a wrong percentage.
    for cut in [100, whole.len() / 2, whole.len() - 20] {
        fail(Kind::Coverage, &whole[..cut]);
    }
    assert_eq!(fail(Kind::Coverage, b"<report><class/></report>"), "it is not Cobertura XML");
    assert_eq!(fail(Kind::Coverage, b""), "it is not Cobertura XML");
    assert!(fail(Kind::Coverage, b"<coverage>\n<a></b>").starts_with("it is not XML from line 2"));
    assert_eq!(fail(Kind::Coverage, "<a>".repeat(1 << 20).as_bytes()), "its elements are nested too deeply");
    let half = packed(&whole);
    assert!(fail(Kind::Coverage, &half[..half.len() / 2]).starts_with("its packed data is damaged"));
    let json = sample("eslint.json");
    assert_eq!(fail(Kind::CodeQuality, &json[..json.len() / 2]), "it ends in the middle");
    assert_eq!(
        fail(Kind::CodeQuality, b"[] []"),
        "it is not Code Quality JSON: trailing characters at line 1 column 4"
    );
    for text in ["{}", "null", "7", "{\"description\":\"one\"}", "<coverage/>"] {
        assert!(fail(Kind::CodeQuality, text.as_bytes()).starts_with("it is not Code Quality JSON"), "{text}");
    }
}

#[test]
fn bombs_do_not_go_off() {
    // A packed file of zeros, and one with as many files.
    let zeros = packed(&vec![b' '; 40 << 20]);
    assert!(zeros.len() < 1 << 20);
    let refused = read_bytes(Kind::Coverage, zeros, &changed(&["a"]));
    assert_eq!(refused, Err("it unpacks to more than 32 MiB".into()));
    let many = packed(b"<coverage/>").repeat(1_001);
    assert_eq!(read_bytes(Kind::Coverage, many, &changed(&["a"])), Err("it has too many files".into()));
    // Custom entities are not expanded, wherever they are.
    let entities = "<!DOCTYPE coverage [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]>\n\
                    <coverage><source>&b;&b;</source><class filename='&b;'><line number='&b;' hits='1'/></class></coverage>";
    assert!(read_bytes(Kind::Coverage, entities.into(), &changed(&["a"])).expect("read").files.is_empty());
    // Deep JSON where nothing is read, and where a problem is.
    let deep = "[".repeat(100_000);
    read_bytes(Kind::CodeQuality, deep.clone().into(), &changed(&["a"])).expect_err("it ends in the middle");
    let inside = format!("[{{\"description\":\"d\",\"x\":{deep}{}}}]", "]".repeat(100_000));
    read_bytes(Kind::CodeQuality, inside.into(), &changed(&["a"])).expect("an entry with too much in it is left out");
    // More problems than are shown, on one line.
    let problem =
        |n: usize| format!("{{\"description\":\"{n}\",\"location\":{{\"path\":\"a\",\"lines\":{{\"begin\":1}}}}}}");
    let many: Vec<String> = (0..1_000).map(problem).collect();
    let read = read_bytes(Kind::CodeQuality, format!("[{}]", many.join(",")).into(), &changed(&["a"])).expect("read");
    assert_eq!(read.line("a", 1).expect("the line").problems.len(), MAX_PROBLEMS);
}

#[test]
fn entries_that_are_no_problems_are_left_out() {
    let text = r#"[null, 7, {}, {"description": 1, "location": {"path": "a", "lines": {"begin": 1}}},
        {"description": "no line", "location": {"path": "a"}},
        {"description": "elsewhere", "location": {"path": "b", "lines": {"begin": 1}}},
        {"description": "negative", "location": {"path": "a", "lines": {"begin": -1}}},
        {"description": "whole", "severity": null, "check_name": null, "location": {"path": "./a", "lines": {"begin": 3, "end": 4}}}]"#;
    let read = read_bytes(Kind::CodeQuality, text.into(), &changed(&["a"])).expect("read");
    assert_eq!(read.lines, 1);
    assert_eq!(read.line("a", 3).expect("the line").problems[0].description, "whole");
}
