//! Source locations in what tools print, such as `src/a.rs:10:5`, for traces and test reports, and the paths that they
//! may have in a repository.

use crate::text;
use regex::Regex;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

/// The maximum number of bytes of a line that are searched.
const MAX_SEARCHED_BYTES: usize = 4096;
/// The maximum number of references in a line.
const MAX_REFERENCES: usize = 16;
/// The maximum number of paths that are tried for a location.
const MAX_PATHS: usize = 8;
/// The maximum number of files that a location may mean.
const MAX_FILES: usize = 20;

static REFERENCE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?x)
        (?P<url> https?://[^\s<>"'`\x{2500}-\x{257f}]+ )
        # Python.
        | File\ "(?P<python> [^"]+ )",\ line\ (?P<python_line> [0-9]+ )
        # A frame of a JVM: the file has no folder, but the method has a class.
        | \bat\ (?: [\w.@$-]*/ )* (?P<class> [\w$.]+ ) \. [\w$<>-]+
          \( (?P<frame> [\w$-]+\.\w{1,10} ) : (?P<frame_line> [0-9]+ ) \)
        # A path, with the notations of compilers and interpreters for a line: `:3:5`, `(3,5)`, `:line 3` (.NET),
        # ` line 3` (Perl), ` on line 3` (PHP), `, line 3` (bats), `: line 3` (bash).
        | (?P<path>
            (?: file:// )? (?: [A-Za-z]:[/\\] | / )?
            (?: (?: [\w.@+~$-] | \[[\w.-]+\] | \([\w.-]+\) )+ [/\\] )*
            (?: [\w@+~$-][\w.@+~$-]*\.[A-Za-z][A-Za-z0-9]{0,9} | (?: [Mm]ake | GNUmake | Docker | Rake | Gem )file )
          )
          (?: : (?P<line> [0-9]+ ) (?: :[0-9]+ )?
            | \( (?P<round> [0-9]+ ) (?: [,:][0-9]+ )* \)
            | (?: [:,]?\  | \ on\  | : ) line\ (?P<word> [0-9]+ )
          )
        "#,
    )
    .ok()
});

/// A folder of what is installed or generated, not written in the project.
static FOREIGN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x) (?: ^ | / ) (?: node_modules | site-packages | dist-packages | vendor | \.venv | venv | \.tox | \.nox | gems
            | bower_components | \.cargo | \.rustup | \.npm | \.yarn | \.m2 | \.gradle ) /
        | ^ / (?: usr | lib | lib64 | opt | rustc | nix | root/\.\w+ | Library | System | home/[^/]+/\. ) /",
    )
    .ok()
});

/// A class of the platform, a build tool or a test framework of the JVM.
static FRAMEWORK: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x) ^ (?: java | javax | jdk | sun | kotlin | kotlinx | scala | groovy | junit | org\.junit | org\.testng
            | org\.hamcrest | org\.assertj | org\.mockito | org\.scalatest | io\.kotest | org\.spockframework
            | org\.apache\.maven | org\.gradle | worker\.org\.gradle ) \.",
    )
    .ok()
});

/// A file and a line that a text names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceLocation {
    /// The path as it is written.
    pub path: String,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The class or package that the location belongs to, if it is known; it tells apart files of the same name.
    pub class: String,
    /// Whether the path has no folder because it is only the name of the file.
    is_name: bool,
}

/// The target of a reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A web page.
    Url(String),
    File(SourceLocation),
}

/// A reference in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The byte range in the line.
    pub range: Range<usize>,
    pub target: Target,
}

/// Returns the references in a line, in order.
pub fn in_line(line: &str) -> impl Iterator<Item = Reference> {
    let head = text::head_bytes(line, MAX_SEARCHED_BYTES);
    // Most lines contain none of these, and searching for them is cheap.
    let likely = memchr::memchr3(b':', b'(', b'"', head.as_bytes()).is_some() || head.contains(" line ");
    let found = REFERENCE.as_ref().filter(|_| likely).map(|reference| reference.captures_iter(head));
    found.into_iter().flatten().take(MAX_REFERENCES).filter_map(|found| {
        let whole = found.get(0)?;
        if let Some(url) = found.name("url") {
            // Trailing punctuation and closing brackets are not part of an address.
            let url = url.as_str().trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '}']);
            let range = whole.start()..whole.start() + url.len();
            return Some(Reference { range, target: Target::Url(url.to_owned()) });
        }
        let first = |names: &[&str]| names.iter().find_map(|name| found.name(name));
        let path = first(&["path", "python", "frame"])?.as_str();
        let line = first(&["line", "round", "word", "python_line", "frame_line"])?
            .as_str()
            .parse()
            .ok()
            .filter(|line| *line > 0)?;
        let class = found.name("class").map_or("", |class| class.as_str());
        let location = SourceLocation {
            path: path.to_owned(),
            line: Some(line),
            class: class.to_owned(),
            is_name: !class.is_empty(),
        };
        Some(Reference { range: whole.range(), target: Target::File(location) })
    })
}

/// Returns the source locations in a text, in order, also those whose file and line have lines of their own (Boost.Test:
/// `- file   : a.cc`, `- line   : 6`).
pub fn in_text(text: &str) -> impl Iterator<Item = SourceLocation> {
    let mut file: Option<&str> = None;
    text.lines().flat_map(move |line| {
        let named = line.trim_start().strip_prefix("- ").and_then(|fact| fact.split_once(':'));
        let pair = match named.map(|(name, value)| (name.trim(), value.trim())) {
            Some(("file", path)) => {
                file = Some(path).filter(|path| path.contains('.'));
                None
            }
            Some(("line", number)) => {
                let line = number.parse().ok().filter(|line| *line > 0);
                file.take().filter(|_| line.is_some()).map(|path| SourceLocation::new(path, line))
            }
            _ => None,
        };
        let own = in_line(line).filter_map(|found| match found.target {
            Target::File(location) => Some(location),
            Target::Url(_) => None,
        });
        pair.into_iter().chain(own)
    })
}

impl SourceLocation {
    pub fn new(path: &str, line: Option<u32>) -> SourceLocation {
        SourceLocation { path: path.to_owned(), line, ..SourceLocation::default() }
    }

    /// Returns whether the file is installed or generated, such as a library, an interpreter or a test framework.
    pub fn is_foreign(&self) -> bool {
        let is_match = |pattern: &LazyLock<Option<Regex>>, text: &str| {
            pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
        };
        is_match(&FOREIGN, &self.normal_path()) || self.is_name && is_match(&FRAMEWORK, &self.class)
    }

    /// Returns whether both paths seem to be those of the same file.
    pub fn is_same_file(&self, other: &SourceLocation) -> bool {
        let (path, other) = (self.normal_path(), other.normal_path());
        path.trim_start_matches('/').ends_with(other.trim_start_matches('/'))
            || other.ends_with(path.trim_start_matches('/'))
    }

    /// Returns whether the path can only be the end of a path in the repository.
    pub fn is_suffix(&self) -> bool {
        self.is_name
    }

    /// Returns the path with slashes, without a drive, a scheme and empty parts.
    fn normal_path(&self) -> String {
        let path = self.path.trim().replace('\\', "/");
        let path = path.strip_prefix("file://").unwrap_or(&path);
        let (drive, path) = path.split_once(":/").filter(|(drive, _)| drive.len() == 1).unwrap_or(("", path));
        let root = if path.starts_with('/') || !drive.is_empty() { "/" } else { "" };
        let end = if path.ends_with('/') { "/" } else { "" };
        let parts = path.split('/').filter(|part| !part.is_empty() && *part != ".");
        format!("{root}{}{end}", parts.collect::<Vec<_>>().join("/"))
    }

    /// Returns the paths that the file may have in the repository of the project with the full path `project`, the most
    /// specific first. Each of them may be the end of the actual path, if the tool ran in a folder of the repository.
    /// There are none if the file is elsewhere on the runner.
    pub fn paths(&self, project: &str) -> Vec<String> {
        let path = self.normal_path();
        let Some(absolute) = path.strip_prefix('/') else {
            let below: Vec<&str> = path.split('/').filter(|part| *part != "..").collect();
            let path = below.join("/");
            let mut paths = Vec::new();
            if self.is_name {
                let package = self.class.rsplit_once('.').map_or("", |(package, _)| package).replace('.', "/");
                paths.extend(ends_of(&package).map(|folder| format!("{folder}/{path}")));
            } else if path.ends_with(".go") && !path.contains('/') {
                // Go names the file without the folder, and the package as the path of the module and of the folder.
                paths.extend(ends_of(&self.class).map(|folder| format!("{folder}/{path}")));
            }
            paths.truncate(MAX_PATHS - 1);
            paths.extend(Some(path).filter(|path| !path.is_empty()));
            return paths;
        };
        // Projects may be named like their group: `/builds/mesa/mesa/src/mesa/a.c`.
        let folder = format!("/{}/", project.trim_matches('/'));
        if let Some(at) = path.find(&folder).filter(|_| folder.len() > 2) {
            return path
                .get(at + folder.len()..)
                .filter(|rest| !rest.is_empty())
                .map(str::to_owned)
                .into_iter()
                .collect();
        }
        if self.is_foreign() {
            return Vec::new();
        }
        // The repository was cloned elsewhere, or a container has it in another folder, such as `/app`. A mere name at the
        // end of a long path says too little.
        let is_short = absolute.matches('/').count() < 2;
        let ends = ends_of(absolute).skip(1).filter(|end| is_short || end.contains('/'));
        ends.take(MAX_PATHS).map(str::to_owned).collect()
    }

    /// Returns how many parts of the class or package are folders of `path`.
    pub fn relation(&self, path: &str) -> usize {
        let is_word = |part: &&str| !part.is_empty();
        let folders: Vec<&str> = path.split('/').collect();
        self.class
            .split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-')
            .filter(is_word)
            .fold(0, |sum, word| sum + usize::from(folders.contains(&word)))
    }
}

/// A line of a file in the repository, or only the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub path: String,
    pub line: Option<u32>,
}

/// Returns the places of the locations that have a path for which `exists` is true, each place once.
pub fn existing(locations: &[SourceLocation], project: &str, exists: &dyn Fn(&str) -> bool) -> Vec<Place> {
    let found = locations.iter().filter(|location| !location.is_suffix()).filter_map(|location| {
        let path = location.paths(project).into_iter().find(|path| exists(path))?;
        Some(Place { path, line: location.line })
    });
    unique(found)
}

/// Returns the places of the locations whose paths are the ends of some of the paths in `files`, each place once. Of
/// several files, those in the folders of the class or package are meant.
pub fn by_suffix<'a>(locations: &[SourceLocation], project: &str, files: impl Iterator<Item = &'a str>) -> Vec<Place> {
    let paths: Vec<Vec<String>> = locations.iter().map(|location| location.paths(project)).collect();
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let mut names: HashMap<String, Vec<usize>> = HashMap::new();
    for (index, paths) in paths.iter().enumerate() {
        if let Some(path) = paths.first() {
            names.entry(name(path)).or_default().push(index);
        }
    }
    // The matching files of each location, with the number of the path that they end with.
    let mut matching: Vec<Vec<(usize, &str)>> = vec![Vec::new(); locations.len()];
    for file in files {
        let Some(indexes) = names.get(file.rsplit('/').next().unwrap_or_default()) else { continue };
        for index in indexes {
            let is_end = |path: &String| {
                file.strip_suffix(path.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
            };
            let rank = paths.get(*index).and_then(|paths| paths.iter().position(is_end));
            if let (Some(rank), Some(found)) = (rank, matching.get_mut(*index)) {
                found.push((rank, file));
            }
        }
    }
    let found = locations.iter().zip(matching).flat_map(|(location, mut files)| {
        let order = |(rank, file): &(usize, &str)| (*rank, Reverse(location.relation(file)));
        files.sort_by_key(order);
        let best = files.first().map(order);
        let best = files.into_iter().filter(move |file| Some(order(file)) == best).take(MAX_FILES);
        best.map(|(_, file)| Place { path: file.to_owned(), line: location.line }).collect::<Vec<_>>()
    });
    unique(found)
}

/// Leaves out places that occur before, and files without a line that occur with one.
fn unique(places: impl Iterator<Item = Place>) -> Vec<Place> {
    let places: Vec<Place> = places.collect();
    let mut unique: Vec<Place> = Vec::new();
    for place in &places {
        let has_line =
            || place.line.is_none() && places.iter().any(|other| other.line.is_some() && other.path == place.path);
        if !unique.contains(place) && !has_line() {
            unique.push(place.clone());
        }
    }
    unique
}

/// Returns the path and its ends, longest first: `a/b/c`, `b/c`, `c`. An empty path has none.
fn ends_of(path: &str) -> impl Iterator<Item = &str> {
    let starts = std::iter::once(0).chain(path.match_indices('/').map(|(at, _)| at + 1));
    starts.filter_map(|start| path.get(start..)).filter(|end| !end.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(line: &str) -> Vec<String> {
        in_line(line)
            .map(|found| match found.target {
                Target::Url(url) => url,
                Target::File(at) => format!("{} {}", at.path, at.line.unwrap_or_default()),
            })
            .collect()
    }

    fn paths(path: &str, project: &str) -> Vec<String> {
        SourceLocation::new(path, None).paths(project)
    }

    #[test]
    fn source_locations_are_found_in_the_notations_of_common_tools() {
        for (line, expected) in [
            ("  --> src/frame.rs:10:5", vec!["src/frame.rs 10"]),
            ("thread 'x' panicked at tests/a.rs:7:1:", vec!["tests/a.rs 7"]),
            ("./lib/a_b.py:12: error: no", vec!["./lib/a_b.py 12"]),
            ("  File \"/builds/a/b/x.py\", line 3, in f", vec!["/builds/a/b/x.py 3"]),
            ("src/app.ts(14,3): error TS2304", vec!["src/app.ts 14"]),
            ("at main.go:9 and b.go:10", vec!["main.go 9", "b.go 10"]),
            ("see https://a.example/x?y=1#z).", vec!["https://a.example/x?y=1#z"]),
            // Perl 5.42, PHP 8.4, bats 1.11, bash 5.2, .NET 9, Node.js 24, Next.js, GNU make 4.4, Windows.
            ("Died at lib/a.pl line 3.", vec!["lib/a.pl 3"]),
            ("PHP Warning:  Undefined variable $x in /builds/a/b/a.php on line 3", vec!["/builds/a/b/a.php 3"]),
            ("# (in test file test/a.bats, line 3)", vec!["test/a.bats 3"]),
            ("# (from function `f' in file test/help.bash, line 2,", vec!["test/help.bash 2"]),
            ("./run.sh: line 5: nope: command not found", vec!["./run.sh 5"]),
            ("   at T.A.B() in /builds/a/b/A.cs:line 12", vec!["/builds/a/b/A.cs 12"]),
            ("    at f (file:///builds/a/b/m/sum.js:4:31)", vec!["file:///builds/a/b/m/sum.js 4"]),
            ("    at f (src/app/[slug]/(group)/page.tsx:4:31)", vec!["src/app/[slug]/(group)/page.tsx 4"]),
            ("make: *** [Makefile:2: test] Error 1", vec!["Makefile 2"]),
            (r"C:\builds\a\b\src\a.cs(3,5): error CS1002", vec![r"C:\builds\a\b\src\a.cs 3"]),
            ("test_breaks(ATest) [a_test.rb:5]:", vec!["a_test.rb 5"]),
            ("b.cc(6): error: in \"outer/breaks\"", vec!["b.cc 6"]),
            ("time: 10:20:30 v1.2:3 a.b", vec![]),
            ("at process.processImmediate (node:internal/timers:574:21)", vec![]),
            ("src/zero.rs:0", vec![]),
            ("a.b and line 3", vec![]),
            ("nothing here", vec![]),
        ] {
            assert_eq!(named(line), expected, "{line}");
        }
        assert_eq!(in_line(&"x.rs:1 ".repeat(1000)).count(), MAX_REFERENCES);
        let long = format!("{}é a.rs:1", "x".repeat(MAX_SEARCHED_BYTES - 1));
        assert_eq!(in_line(&long).count(), 0);
        let boost: Vec<_> = in_text("- file   : b.cc\n- line   : 6\n- file: unknown\n- line: 0").collect();
        assert_eq!(boost, [SourceLocation::new("b.cc", Some(6))]);
    }

    #[test]
    fn runner_paths_are_mapped_to_repository_paths() {
        for (path, project, expected) in [
            ("./src/a.rs", "acme/ui", "src/a.rs"),
            ("/builds/acme/ui/src/a.rs", "acme/ui", "src/a.rs"),
            ("file:///builds/acme/ui/src/a.rs", "acme/ui", "src/a.rs"),
            (r"C:\runner\builds\x\0\acme\ui\src\a.rs", "acme/ui", "src/a.rs"),
            (r".\src\a.cs", "acme/ui", "src/a.cs"),
            ("/builds/acme/web/ui/src/a.rs", "acme/web/ui", "src/a.rs"),
            ("/builds/mesa/mesa/src/mesa/main/a.c", "mesa/mesa", "src/mesa/main/a.c"),
            ("../src/a.c", "acme/ui", "src/a.c"),
        ] {
            assert_eq!(paths(path, project), [expected], "{path}");
        }
        assert_eq!(paths("/app/tests/a.py", "acme/ui"), ["tests/a.py"]);
        assert_eq!(paths("/app/a.py", "acme/ui"), ["a.py"]);
        assert_eq!(paths("/builds/old/ui/src/a.py", "acme/ui"), ["old/ui/src/a.py", "ui/src/a.py", "src/a.py"]);
        for elsewhere in
            ["/usr/lib/python3/x.py", "/app/node_modules/a/b.js", "/rustc/1a2b/library/core/a.rs", "/builds/acme/ui/"]
        {
            assert_eq!(paths(elsewhere, "acme/ui"), [""; 0], "{elsewhere}");
        }
        // Packages of the repository may be there, too, but come last.
        let module = SourceLocation::new("/builds/acme/ui/node_modules/a/b.js", Some(1));
        assert_eq!((module.paths("acme/ui"), module.is_foreign()), (vec!["node_modules/a/b.js".to_owned()], true));
    }

    #[test]
    fn classes_and_packages_name_folders() {
        let frame = |line: &str| in_text(line).next().expect("a location");
        let java = frame("\tat app//org.example.ThingTest.breaks(ThingTest.java:7)");
        assert_eq!((java.line, java.is_suffix(), java.is_foreign()), (Some(7), true, false));
        assert!(frame("\tat org.junit.Assert.fail(Assert.java:89)").is_foreign());
        assert_eq!(java.paths("acme/ui"), ["org/example/ThingTest.java", "example/ThingTest.java", "ThingTest.java"]);
        let kotlin = frame("    at org.example.Thing$Inner.lambda$0(Thing.kt:12)");
        assert_eq!(kotlin.paths("acme/ui").first().map(String::as_str), Some("org/example/Thing.kt"));
        assert!(kotlin.relation("src/org/example/Thing.kt") > kotlin.relation("src/other/Thing.kt"));
        let go = SourceLocation { class: "example.org/t/sub".into(), ..SourceLocation::new("a_test.go", Some(4)) };
        assert_eq!(
            go.paths("acme/ui"),
            ["example.org/t/sub/a_test.go", "t/sub/a_test.go", "sub/a_test.go", "a_test.go"]
        );
    }

    #[test]
    fn only_places_that_exist_are_found_each_once() {
        let files =
            ["p/a.spec.ts", "a/src/lib.rs", "b/src/lib.rs", "x/org/example/T.java", "y/other/T.java", "README.md"];
        let at = |path: &str, line| SourceLocation::new(path, Some(line));
        let place = |path: &str, line| Place { path: path.to_owned(), line: Some(line) };
        let playwright = [at("a.spec.ts", 4), at("/builds/o/n/p/a.spec.ts", 4), at("/builds/o/n/gone.ts", 1)];
        let exists = |path: &str| files.contains(&path);
        assert_eq!(existing(&playwright, "o/n", &exists), [place("p/a.spec.ts", 4)]);
        let file_only = [SourceLocation::new("README.md", None), at("README.md", 3)];
        assert_eq!(existing(&file_only, "o/n", &exists), [place("README.md", 3)]);
        let find = |locations: &[SourceLocation]| by_suffix(locations, "o/n", files.iter().copied());
        assert_eq!(find(&playwright), [place("p/a.spec.ts", 4)]);
        let java: Vec<_> = in_text("at org.junit.A.b(A.java:1)\nat org.example.T.b(T.java:7)").collect();
        assert_eq!(existing(&java, "o/n", &exists), []);
        assert_eq!(find(&java), [place("x/org/example/T.java", 7)]);
        assert_eq!(find(&[at("src/lib.rs", 2)]), [place("a/src/lib.rs", 2), place("b/src/lib.rs", 2)]);
        let of_crate = SourceLocation { class: "b::tests".into(), ..at("src/lib.rs", 2) };
        assert_eq!(find(&[of_crate]), [place("b/src/lib.rs", 2)]);
    }
}
