//! Reports of jobs about the lines of changed files: coverage, from Cobertura XML, and problems, from Code Quality JSON.

mod cobertura;
mod code_quality;
#[cfg(test)]
mod tests;

use crate::parts::{Parts, Step};
use crate::zip::{self, Refusal, ZipEntry};
use bytes::Bytes;
use flate2::bufread::GzDecoder;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Read;

/// The maximum size of a report, packed and unpacked, in bytes. GitLab reads coverage up to 10 MiB.
pub const MAX_BYTES: u64 = 32 << 20;
/// The maximum number of files in a report.
const MAX_DOCUMENTS: usize = 1_000;
/// The maximum number of lines, and of problems on a line, that are kept.
const MAX_LINES: usize = 500_000;
const MAX_PROBLEMS: usize = 20;
/// The maximum size of a text of a problem, and of a path, in bytes.
const MAX_TEXT: usize = 4_096;

/// The kind of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Coverage,
    CodeQuality,
}

impl Kind {
    pub const ALL: [Kind; 2] = [Kind::Coverage, Kind::CodeQuality];

    /// Returns the type of the artifact, as servers name it.
    pub fn file_type(self) -> &'static str {
        match self {
            Kind::Coverage => "cobertura",
            Kind::CodeQuality => "codequality",
        }
    }

    /// Returns the name of the report, to be read.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Coverage => "Coverage",
            Kind::CodeQuality => "Code quality",
        }
    }

    /// Returns whether a file in an archive is such a report, by its usual names.
    fn is_named(self, entry: &ZipEntry) -> bool {
        let name = entry.path.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
        match self {
            Kind::Coverage => name == "coverage.xml" || name.ends_with(".xml") && has(&["cobertura"]),
            Kind::CodeQuality => {
                name.ends_with(".json") && has(&["code-quality", "code_quality", "codequality", "codeclimate"])
            }
        }
    }
}

/// The coverage of a line by tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coverage {
    pub is_covered: bool,
    /// The number of its branches that were taken, and of all, if it has some.
    pub branches: Option<(u32, u32)>,
}

impl Coverage {
    /// Returns whether the line was reached, but not all of its branches were taken.
    pub fn is_partial(self) -> bool {
        self.is_covered && self.branches.is_some_and(|(taken, all)| taken < all)
    }

    /// Returns the better coverage of two runs.
    fn or(self, other: Coverage) -> Coverage {
        Coverage { is_covered: self.is_covered || other.is_covered, branches: self.branches.max(other.branches) }
    }
}

/// A problem that a linter or another tool found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// `info`, `minor`, `major`, `critical` or `blocker`, or another word of the tool.
    pub severity: String,
    pub description: String,
    /// The name of the rule.
    pub check: String,
}

impl Problem {
    /// Returns whether the problem is worse than minor.
    pub fn is_serious(&self) -> bool {
        !matches!(self.severity.as_str(), "info" | "minor")
    }
}

/// The facts that reports have about a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineReport {
    pub coverage: Option<Coverage>,
    pub problems: Vec<Problem>,
}

/// The facts about the lines of changed files, by path and line number, counted from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineReports {
    files: HashMap<String, BTreeMap<u32, LineReport>>,
    lines: usize,
    /// Whether there is a report of each kind.
    kinds: [bool; 2],
}

impl LineReports {
    /// Returns whether there is a report of a kind.
    pub fn has(&self, kind: Kind) -> bool {
        self.kinds.get(kind as usize).is_some_and(|has| *has)
    }

    /// Returns the facts about the lines of a file.
    pub fn file(&self, path: &str) -> Option<&BTreeMap<u32, LineReport>> {
        self.files.get(path)
    }

    /// Returns the facts about a line.
    pub fn line(&self, path: &str, line: u32) -> Option<&LineReport> {
        self.files.get(path)?.get(&line)
    }

    /// Returns the report of a line to write to, unless there are too many.
    fn entry(&mut self, path: &str, line: u32) -> Option<&mut LineReport> {
        let lines = match self.files.contains_key(path) {
            true => self.files.get_mut(path)?,
            false => self.files.entry(path.to_owned()).or_default(),
        };
        if !lines.contains_key(&line) {
            if self.lines == MAX_LINES {
                return None;
            }
            self.lines += 1;
        }
        Some(lines.entry(line).or_default())
    }

    fn add_coverage(&mut self, path: &str, line: u32, coverage: Coverage) {
        if let Some(report) = self.entry(path, line) {
            report.coverage = Some(report.coverage.map_or(coverage, |known| known.or(coverage)));
        }
    }

    fn add_problem(&mut self, path: &str, line: u32, problem: Problem) {
        if let Some(report) = self.entry(path, line)
            && report.problems.len() < MAX_PROBLEMS
            && !report.problems.contains(&problem)
        {
            report.problems.push(problem);
        }
    }

    /// Adds another report: a line is covered if any of them says so.
    pub fn merge(&mut self, other: &LineReports) {
        for (has, also) in self.kinds.iter_mut().zip(other.kinds) {
            *has |= also;
        }
        for (path, lines) in &other.files {
            for (line, report) in lines {
                if let Some(coverage) = report.coverage {
                    self.add_coverage(path, *line, coverage);
                }
                report.problems.iter().for_each(|problem| self.add_problem(path, *line, problem.clone()));
            }
        }
    }
}

/// The files of the repository that the names in reports may lead to.
#[derive(Clone, Debug, Default)]
pub struct RepositoryPaths {
    /// The full paths of the projects whose pipelines wrote the reports: runners clone into folders with that path.
    pub projects: Vec<String>,
    pub paths: HashSet<String>,
}

/// Returns whether a path is absolute, on Unix or Windows.
fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || matches!(path.as_bytes(), [drive, b':', b'/', ..] if drive.is_ascii_alphabetic())
}

/// Returns a relative path without `.`, `..` and empty names; `None` if it leaves its folder.
fn normalize(path: &str) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()?),
            name => names.push(name),
        }
    }
    Some(names.join("/"))
}

impl RepositoryPaths {
    /// Returns the part of an absolute path after the folder of the project, as GitLab finds it.
    fn in_project(&self, path: &str) -> Option<String> {
        let after = |project: &String| path.split_once(&format!("/{project}/")).map(|(_, rest)| rest);
        normalize(self.projects.iter().filter(|project| !project.is_empty()).find_map(after)?)
    }

    /// Returns the changed file that a name in a report leads to. `sources` are the folders that names are relative to.
    /// If it could be several files, it is none.
    fn find(&self, sources: &[String], name: &str) -> Option<&str> {
        let name = name.replace('\\', "/");
        let joined: Vec<String> = match is_absolute(&name) {
            true => vec![name.clone()],
            false => sources.iter().map(|source| format!("{}/{name}", source.trim_end_matches('/'))).collect(),
        };
        let in_project: Vec<String> = joined.iter().filter_map(|path| self.in_project(path)).collect();
        if !in_project.is_empty() {
            return self.only(&in_project);
        }
        let relative = joined.iter().zip(sources).filter(|(_, source)| !is_absolute(source));
        let relative: Vec<String> = relative.filter_map(|(path, _)| normalize(path)).collect();
        let itself = || normalize(&name).filter(|_| !is_absolute(&name));
        self.only(&relative).or_else(|| self.only(itself().as_slice()))
    }

    /// Returns the only path among `paths` that was changed.
    fn only(&self, paths: &[String]) -> Option<&str> {
        let mut known = paths.iter().filter_map(|path| self.paths.get(path));
        let first = known.next()?;
        known.all(|other| other == first).then_some(first)
    }
}

/// Reads a report of a job, or the reason why it cannot be read: files one after the other, each packed with gzip, or an
/// archive with files of the usual names, as from servers that send no single reports.
pub fn read(
    kind: Kind,
    parts: &Parts,
    changed: &RepositoryPaths,
    canceled: &dyn Fn() -> bool,
) -> Step<Result<LineReports, String>> {
    let documents = match documents(kind, parts, canceled) {
        Ok(documents) => documents,
        Err(step) => return step,
    };
    let mut reports = LineReports::default();
    for document in &documents {
        let text = String::from_utf8_lossy(document);
        let text = text.trim_start_matches('\u{feff}');
        let read = match kind {
            Kind::Coverage => cobertura::read(text, changed, canceled, &mut reports),
            Kind::CodeQuality => code_quality::read(text, changed, canceled, &mut reports),
        };
        if let Err(why) = read {
            return Step::Done(Err(why));
        }
        if let Some(has) = reports.kinds.get_mut(kind as usize) {
            *has = true;
        }
    }
    Step::Done(Ok(reports))
}

/// Returns the files of a report, or an early result as an `Err`, for the `?` operator.
fn documents(
    kind: Kind,
    parts: &Parts,
    canceled: &dyn Fn() -> bool,
) -> Result<Vec<Bytes>, Step<Result<LineReports, String>>> {
    let fail = |why: String| Step::Done(Err(why));
    let list = match zip::list(parts, canceled) {
        Step::Need(range) => return Err(Step::Need(range)),
        Step::Done(Ok(list)) => list,
        Step::Done(Err(Refusal::NotZip)) => {
            let all = 0..parts.total();
            return match parts.read(all.clone()) {
                Ok(Some(bytes)) => unpack(bytes).map_err(fail),
                Ok(None) => Err(Step::Need(all)),
                Err(error) => Err(fail(error.to_string())),
            };
        }
        Step::Done(Err(refusal)) => return Err(fail(refusal.why())),
    };
    let mut documents = Vec::new();
    let mut left = MAX_BYTES;
    for entry in list.entries.iter().filter(|entry| !entry.is_folder && kind.is_named(entry)).take(MAX_DOCUMENTS) {
        let bytes = match zip::extract_to_memory(parts, entry, left) {
            Step::Need(range) => return Err(Step::Need(range)),
            Step::Done(Ok(bytes)) => bytes,
            Step::Done(Err(refusal)) => return Err(fail(refusal.why())),
        };
        left = left.saturating_sub(bytes.len() as u64);
        documents.push(bytes);
    }
    Ok(documents)
}

/// Unpacks files that follow each other, each packed with gzip; a file that is not packed is returned as it is.
fn unpack(bytes: Bytes) -> Result<Vec<Bytes>, String> {
    let is_packed = |bytes: &[u8]| bytes.starts_with(&[0x1f, 0x8b]);
    if !is_packed(&bytes) {
        return Ok(vec![bytes]);
    }
    let mut documents: Vec<Bytes> = Vec::new();
    let (mut rest, mut left) = (&bytes[..], MAX_BYTES);
    while is_packed(rest) {
        if documents.len() == MAX_DOCUMENTS {
            return Err("it has too many files".into());
        }
        let mut decoder = GzDecoder::new(rest);
        let mut document = Vec::new();
        let unpacked = decoder.by_ref().take(left + 1).read_to_end(&mut document);
        unpacked.map_err(|error| format!("its packed data is damaged: {error}"))?;
        left = left.checked_sub(document.len() as u64).ok_or("it unpacks to more than 32 MiB")?;
        documents.push(document.into());
        rest = decoder.into_inner();
    }
    Ok(documents)
}
