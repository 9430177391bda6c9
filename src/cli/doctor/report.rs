//! The report of `labscope doctor`: checks with their facts and problems, as text or JSON.

use crate::ui::text::{self, sanitize};
use serde::Serialize;

/// One subject of the report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Check {
    /// The subject: `server`, `token`.
    pub name: &'static str,
    /// The findings, in the order of the report.
    pub facts: Vec<Fact>,
    /// The problems that were found.
    pub problems: Vec<Problem>,
}

/// A finding: a name and a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fact {
    pub name: &'static str,
    pub value: String,
}

/// A problem, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    pub problem: String,
    pub advice: String,
}

impl Check {
    pub fn new(name: &'static str) -> Check {
        Check { name, ..Check::default() }
    }

    /// Adds a fact.
    pub fn fact(&mut self, name: &'static str, value: impl Into<String>) -> &mut Check {
        self.facts.push(Fact { name, value: value.into() });
        self
    }

    /// Adds a problem.
    pub fn problem(&mut self, problem: impl Into<String>, advice: impl Into<String>) -> &mut Check {
        self.problems.push(Problem { problem: problem.into(), advice: advice.into() });
        self
    }
}

/// The whole report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The version of labscope.
    pub labscope: &'static str,
    /// The operating system and the architecture.
    pub system: String,
    pub checks: Vec<Check>,
}

impl Report {
    /// Returns the number of problems.
    pub fn problem_count(&self) -> usize {
        self.checks.iter().map(|check| check.problems.len()).sum()
    }

    /// Formats the report for people. Values from servers and files are sanitized.
    pub fn to_text(&self) -> String {
        let mut out = format!("labscope {} on {}\n", self.labscope, self.system);
        let width = self.checks.iter().flat_map(|check| &check.facts).map(|fact| fact.name.len()).max().unwrap_or(0);
        for check in &self.checks {
            let state = if check.problems.is_empty() { "ok" } else { "problem" };
            out += &format!("\n{}: {state}\n", text::capitalize(check.name));
            for Fact { name, value } in &check.facts {
                out += &format!("  {name:width$}  {}\n", sanitize(value));
            }
            for Problem { problem, advice } in &check.problems {
                out += &format!("  ! {}\n    {}\n", sanitize(problem), sanitize(advice));
            }
        }
        let summary = match self.problem_count() as u64 {
            0 => "No problems found.".to_owned(),
            count => format!("{} found.", text::count_noun(count, "problem")),
        };
        out + "\n" + &summary + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_stand_below_the_facts_with_what_to_do() {
        let mut server = Check::new("server");
        server.fact("address", "https://git.example.com/").fact("version", "18.7.0\u{1b}[2J");
        let mut token = Check::new("token");
        token.fact("source", "GITLAB_TOKEN").problem("The server refused the token.", "Sign in again.");
        let report = Report { labscope: "0.1.0", system: "linux x86_64".into(), checks: vec![server, token] };
        assert_eq!(
            report.to_text(),
            "labscope 0.1.0 on linux x86_64\n\nServer: ok\n  address  https://git.example.com/\n  \
             version  18.7.0\u{241b}[2J\n\nToken: problem\n  source   GITLAB_TOKEN\n  ! The server refused the \
             token.\n    Sign in again.\n\n1 problem found.\n"
        );
    }
}
