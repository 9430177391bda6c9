//! The forms of errors and warnings: how the lines look by which the tools of a job say what went wrong. A further tool
//! is a further row.

use crate::search::Literals;
use regex::bytes::Regex;
use std::sync::LazyLock;

/// The meaning of a line of a form for the result of the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// The reason why a job failed: a failed test, or what a compiler or a linter reports.
    Reason,
    /// A consequence of a reason, or a line that the log of a passing job may have, too. It counts if there is no reason.
    Hint,
}

use Weight::{Hint, Reason};

/// A form, with lines as a tool wrote them.
#[derive(Debug)]
pub struct Form {
    pub weight: Weight,
    /// Bytes that each line of the form contains. Only lines with one of them are looked at. More than 32 different ones,
    /// or shorter ones than four bytes, would be searched at a fraction of the speed.
    pub needle: &'static str,
    /// The expression for the text of a line as shown. It starts with `^` if the line does, after [`PREFIX`].
    pub expression: &'static str,
    /// The tools and their versions.
    pub tools: &'static str,
    /// A line of a run that failed.
    pub failed: &'static str,
    /// A similar line of a run that passed.
    pub passed: &'static str,
}

/// Creates a row of the table.
const fn form(
    weight: Weight,
    needle: &'static str,
    expression: &'static str,
    tools: &'static str,
    failed: &'static str,
    passed: &'static str,
) -> Form {
    Form { weight, needle, expression, tools, failed, passed }
}

/// The forms of errors.
#[rustfmt::skip]
pub const ERRORS: &[Form] = &[
    // Compilers and linters.
    form(Reason, "rror", r"^[^\s:][^:]*:\d+(?::\d+)?: (?:fatal |runtime |internal compiler )?error:", "GCC 16.2, Clang 21, javac 25, mypy 2.4, GHC 9.12, Swift 6",
        "src/e.cc:1:20: error: 'x' was not declared in this scope", "src/error.cc:1:20: warning: unused variable 'error'"),
    form(Reason, "rror", r"\berror [A-Z]+\d+: |:\d+:\d+ - error\b", "TypeScript 7.0, .NET SDK 10, MSBuild 18, link.exe 14, Pyright 1.1",
        "src/a.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'.", "    0 Error(s)"),
    form(Reason, "rror", r"^\d+:\d+ +error\b", "ESLint 10.15, yamllint 1.37",
        "  1:14  error    'console' is not defined  no-undef", "  1:7   warning  'error' is assigned a value but never used  no-unused-vars"),
    form(Reason, "rror", r"^error\[[\w-]+\]: ", "rustc 1.95, deno lint 2.6, ty 0.0.5",
        "error[E0308]: mismatched types", "For more information about this error, try `rustc --explain E0308`."),
    form(Reason, "rror", r"^CMake Error\b", "CMake 4.3",
        "CMake Error at CMakeLists.txt:3 (message):", "-- Looking for strerror_r - not found"),
    form(Reason, "RROR", r"meson\.build:\d+:\d+: ERROR: ", "Meson 1.12",
        "../meson.build:3:0: ERROR: Dependency \"nothing\" not found, tried pkgconfig and cmake", "Message: the ERROR_LIMIT is 3"),
    form(Reason, "RROR", r"^\[ERROR\] \S+\.\w+:\[\d+,\d+\] ", "Maven 3.9",
        "[ERROR] /builds/ada/hello/src/main/java/Thing.java:[7,5] cannot find symbol", "[INFO] Compiling 3 source files with javac [debug release 21]"),
    form(Reason, "RROR", r"==\d+==ERROR: \w+Sanitizer: ", "GCC 16.2, Clang 21",
        "==41==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000010", "==41== ERROR SUMMARY: 0 errors from 0 contexts (suppressed: 0 from 0)"),
    form(Reason, "undefined ref", r"undefined reference to ", "GNU ld 2.47",
        "l.cc:(.text+0x5): undefined reference to `f()'", "-- Undefined references are allowed"),
    form(Reason, ".go:", r"^(?:vet: )?[\w./@-]+\.go:\d+:\d+: \S", "go 1.27, golangci-lint 2.6",
        "bad/x.go:2:23: cannot use \"a\" (untyped string constant) as int value in return statement", "    a_test.go:5: later"),
    form(Reason, ".py:", r"^\S+\.pyi?:\d+:\d+: [A-Z]+\d+:? |^\S+\.pyi?:\d+: \[[A-Z]\d+", "Pylint 4.1, flake8 7.3, Ruff 0.17 (concise)",
        "m.py:1:0: C0114: Missing module docstring (missing-module-docstring)", "tests/test_m.py::test_docstring PASSED                   [100%]"),
    form(Reason, ".py:", r"^--> \S+\.pyi?:\d+:\d+", "Ruff 0.17",
        " --> m.py:3:8", "  File \"m.py:3:8\" was read"),
    form(Reason, "ould ", r"^[wW]ould reformat:? ", "Black 26.5, Ruff 0.17",
        "would reformat /builds/ada/hello/m.py", "1 file would be left unchanged, 0 files would be reformatted."),
    form(Reason, " line ", r"^In \S+ line \d+:$", "ShellCheck 0.11",
        "In deploy.sh line 2:", "In the file deploy.sh line 2 is empty"),
    // Tests.
    form(Reason, "FAIL", r"^FAIL +\S", "Vitest 5.1, Jest 30.5",
        " FAIL  v/sum.test.js > sum > breaks", " PASS  v/sum.test.js"),
    form(Reason, "fail", r"^[1-9]\d* failing\b", "Mocha 12.0, Cypress 15",
        "  3 failing", "  3 passing (8ms)"),
    form(Reason, "not ok", r"^not ok\b", "TAP 14: bats 1.13, prove, node:test, tap 21",
        "not ok 2 breaks", "not ok 4 later # TODO"),
    form(Reason, "Fail", r"^#\s+Failed test\b", "Test::More of Perl 5.42",
        "#   Failed test 'breaks'", "#   Failed (TODO) test 'breaks'"),
    form(Reason, "E   ", r"^E   ", "pytest 9.2",
        "E       assert 3 == 4", "E2E test of the form passed"),
    form(Reason, "E   ", r"^E   ", "pytest 9.2, color",
        "\x1b[1m\x1b[31mE       assert 3 == 4\x1b[0m", "\x1b[32mE2E\x1b[0m passed"),
    form(Reason, "FAIL", r"^FAILED \S+::|\bFAILED +\[ *\d+%\]", "pytest 9.2, xdist 3.8",
        "FAILED test_a.py::test_breaks - assert 3 == 4", "test_a.py::test_failed PASSED                            [ 50%]"),
    form(Reason, "RROR", r"^ERROR \S+\.py\b|^_+ ERROR (?:collecting|at) ", "pytest 9.2",
        "_____________________ ERROR collecting sub/test_collect.py _____________________", "test_a.py::test_ERROR PASSED                             [ 50%]"),
    form(Reason, "FAIL", r"^FAIL(?: \[[\d.]+s\])?: \w+ \(", "unittest of Python 3.13, unittest-xml-reporting 3.2",
        "FAIL: test_sub (test_a.TestUnit.test_sub) (i=1)", "test_fail (test_a.TestUnit.test_fail) ... ok"),
    form(Reason, "RROR", r"^ERROR(?: \[[\d.]+s\])?: \w+ \(", "unittest of Python 3.13, unittest-xml-reporting 3.2",
        "ERROR: test_raises (test_a.TestUnit.test_raises)", "test_error (test_a.TestUnit.test_error) ... ok"),
    form(Reason, "FAIL", r"^(?:---|===) FAIL: ", "go test 1.27, gotestsum 1.8",
        "--- FAIL: TestBreaks (0.00s)", "--- PASS: TestFails (0.00s)"),
    form(Reason, "Fail", r"^=== Failed$", "gotestsum 1.8",
        "=== Failed", "=== Skipped"),
    form(Reason, "FAIL", r"^test .* \.\.\. FAILED$", "cargo test 1.95",
        "test tests::breaks ... FAILED", "test error::tests::shows ... ok"),
    form(Reason, "FAIL", r"^(?:TRY \d+ )?FAIL \[ *[\d.]+s\]", "cargo-nextest 0.9",
        "        FAIL [   0.262s] (3/5) t tests::breaks", "        PASS [   0.023s] (2/5) t error::tests::shows"),
    form(Reason, "Fail", r":\d+: Failure$|\(\d+\): Failure$", "GoogleTest 1.17",
        "/builds/ada/hello/g.cc:3: Failure", "/builds/ada/hello/g.cc:4: Skipped"),
    form(Reason, "FAIL", r"^\[  FAILED  \] ", "GoogleTest 1.17",
        "[  FAILED  ] Sum.Breaks (0 ms)", "[       OK ] Sum.FAILED (0 ms)"),
    form(Reason, "rror", r"\(\d+\): (?:fatal )?error: in ", "Boost.Test 1.89",
        "b.cc(6): error: in \"outer/breaks\": check 1+2==4 has failed [1 + 2 != 4]", "*** No errors detected"),
    form(Reason, "FAIL", r"^\S.*:\d+: FAILED:", "Catch2 3.11",
        "c.cc:5: FAILED:", "All tests passed (2 assertions in 2 test cases)"),
    form(Reason, "fail", r"^\S.*:\d+: failed: ", "Catch2 3.11 (compact)",
        "c.cc:5: failed: 1 + 2 == 4 for: 3 == 4", "c.cc:5: passed: 1 + 2 == 3 for: 3 == 3"),
    form(Reason, "RROR", r"^\S.*:\d+: (?:FATAL )?ERROR: ", "doctest 2.4",
        "d.cc:5: ERROR: CHECK( 1 + 2 == 4 ) is NOT correct!", "[doctest] test cases: 2 | 2 passed | 0 failed | 0 skipped"),
    form(Reason, "Fail", r"\*\*\*Failed\b", "CTest 4.4",
        "1/8 Test #1: g ................................***Failed    0.01 sec", "100% tests passed, 0 tests failed out of 8"),
    form(Reason, "FAIL", r"^\d+/\d+ .* (?:FAIL|ERROR) +[\d.]+s", "Meson 1.12 test",
        "2/3 m:bad  FAIL            0.02s   exit status 1", "1/3 m:FAIL OK              0.03s"),
    form(Reason, "Fail", r"^Failures:$", "RSpec 3.13, Spock 2",
        "Failures:", "Pending: (Failures listed here are expected and do not affect your suite's status)"),
    form(Reason, "Fail", r"^\d+\) Failure:$", "Minitest 6.0, test-unit 3.7",
        "  2) Failure:", "4 runs, 2 assertions, 0 failures, 0 errors, 1 skips"),
    form(Reason, "rror", r"^\d+\) Error:$", "Minitest 6.0, test-unit 3.7",
        "  1) Error:", "4 runs, 2 assertions, 0 failures, 0 errors, 1 skips"),
    form(Reason, "fail", r"^There (?:was|were) \d+ failures?:$", "PHPUnit 13.4",
        "There were 2 failures:", "Tests: 9, Assertions: 12, Skipped: 1."),
    form(Reason, "rror", r"^There (?:was|were) \d+ errors?:$", "PHPUnit 13.4",
        "There was 1 error:", "There was 1 PHPUnit deprecation:"),
    form(Reason, "Fail", r"^Failed asserting that ", "PHPUnit 13.4",
        "   │ Failed asserting that 3 is identical to 4.", "Failed assertions: 0"),
    form(Reason, "Fail", r"^Failure (?:->|→) ", "busted 2.3",
        "Failure -> a_spec.lua @ 3", "5 successes / 0 failures / 0 errors / 1 pending : 0.010736 seconds"),
    form(Reason, "rror", r"^Error (?:->|→) ", "busted 2.3",
        "Error -> a_spec.lua @ 4", "5 successes / 0 failures / 0 errors / 1 pending : 0.010736 seconds"),
    form(Reason, "FAIL", r"(?:^|\| )FAIL \|$", "Robot Framework 7.5",
        "Breaks                                                                | FAIL |", "Handles | FAIL                                                        | PASS |"),
    form(Reason, "FAIL", r"^ASSERT FAILED: ", "behave 1.3",
        "      ASSERT FAILED: no", "1 feature passed, 0 failed, 0 skipped"),
    form(Reason, "Fail", r"^(?:Assertion Failed: |Failing [sS]cenarios:)", "behave 1.2, Cucumber 11",
        "Failing scenarios:", "0 scenarios failed"),
    form(Reason, "Fail", r"\.{3,}(?:\([^)]*\))?Failed$", "pre-commit 4.7",
        "bad hook.................................................................Failed", "good hook................................................................Passed"),
    form(Reason, "\u{2717} ", r"^✗ \S", "Vedro 1.14, bats 1.13 (pretty), bun test 1.3",
        " ✗ measure the moon (0.00s)", " ✔ measure the sun (0.00s)"),
    form(Reason, "RROR", r"<<< (?:FAILURE|ERROR)!", "Surefire 3.5",
        "[ERROR] Tests run: 8, Failures: 3, Errors: 2, Skipped: 1, Time elapsed: 0.135 s <<< FAILURE! -- in org.example.ThingTest", "[INFO] Tests run: 8, Failures: 0, Errors: 0, Skipped: 1, Time elapsed: 0.135 s -- in org.example.ThingTest"),
    form(Reason, "FAIL", r" > .+ FAILED$", "Gradle 9.2",
        "ThingTest > breaks() FAILED", "ThingTest > FAILED is drawn() PASSED"),
    form(Reason, "FAIL", r"\*\*\* FAILED \*\*\*", "ScalaTest 3.2",
        "- breaks *** FAILED ***", "All tests passed."),
    form(Reason, "FAIL", r"\[FAIL\]$", "xUnit.net 3",
        "    Tests.SumTests.Breaks [FAIL]", "  Passed Tests.SumTests.Adds [3 ms]"),
    form(Reason, "Fail", r"^Failed \S.* \[(?:< )?\d[\d.]* ?m?s\]$", "dotnet test of .NET SDK 10",
        "  Failed Tests.SumTests.Breaks [5 ms]", "Passed!  - Failed:     0, Passed:     2, Skipped:     0, Total:     2"),
    form(Reason, "fail", r"^Assertion with \S+ failed$", "ExUnit 1.19",
        "     Assertion with == failed", "2 tests, 0 failures"),
    form(Reason, "fail", r"^\(fail\) ", "bun test 1.3",
        "(fail) sum > breaks [0.21ms]", "(pass) sum > fails [0.21ms]"),
    form(Reason, "FAIL", r"\.\.\. FAILED \(", "deno test 2.6",
        "breaks ... FAILED (4ms)", "fails ... ok (4ms)"),
    form(Reason, "Fail", r"^(?:── |-- )?Failure \(", "testthat 3.3",
        "── Failure ('test-sum.R:3:3'): sum breaks ──────────────────────────────────────", "[ FAIL 0 | WARN 0 | SKIP 0 | PASS 2 ]"),
    // Any program, and what only follows.
    form(Hint, "rror", r"(?:^|[^\w-])(?:error|(?:[A-Za-z_][\w.$]*)?Error)(?: ?\[\w+\]| ?\(\w+\))?:(?:$|\s+(?:[^0\s]|0\S))", "Node.js 24, Python 3.13, cargo 1.95, uv 0.13, Helm 4, Terraform 1.14, Playwright 1.65, git 2.55",
        "error: could not compile `t` (lib) due to 1 previous error", "Errors: 0"),
    form(Hint, "rror", r"^(?:(?:✗|✘|✖|×) )?(?:error|Error) (?:[a-z]\S*|An|Command|Couldn't|code|\d+) ", "Yarn 1.22, Vite 8.3, kubectl 1.35, Docker 29",
        "error during build:", "errors and warnings of earlier versions"),
    form(Hint, "rror", r"^npm error\b|^::error\b|^\[?UnhandledPromiseRejection\b", "npm 11.19, npm 12.2, Ruff 0.17 (github), Node.js 24",
        "npm error code E404", "npm warn deprecated error-ex@1.3.2: use errors"),
    form(Hint, "ERR!", r"^[\w-]+ ERR! ", "npm 10.9, node-gyp 12",
        "npm ERR! code ELIFECYCLE", "npm WARN deprecated ERR!@1.0.0"),
    form(Hint, "ERR_PNPM", r"\bERR_PNPM_\w+", "pnpm 10, pnpm 12.21",
        "[ERR_PNPM_FETCH_404] GET https://registry.npmjs.org/no-such: Not Found - 404", "Lockfile is up to date, resolution step is skipped"),
    form(Hint, "YN00", r"^➤ YN00(?:01|09|18|22|28|35|38|41|50|78|82|87|90|91): (?:│ )?[A-Za-z@]", "Yarn 4.18",
        "➤ YN0028: │ The lockfile would have been modified by this install, which is explicitly forbidden.", "➤ YN0013: │ 3 packages were added to the project (+ 27.91 KiB)."),
    form(Hint, "Fail", r"^➤ YN0000: .*Failed with errors", "Yarn 4.18",
        "➤ YN0000: · Failed with errors in 0s 119ms", "➤ YN0000: · Done with warnings in 0s 119ms"),
    form(Hint, "fail", r"[cC]ommand .*failed with exit |^nox > .* failed\b|: commands? failed\b", "pnpm 12.21, nox 2026.10, tox 4.67",
        "nox > Command python -c 'raise SystemExit(3)' failed with exit code 3", "nox > Session tests was successful."),
    form(Hint, "FAIL", r"^\S+: FAIL\b", "tox 4.67",
        "  a: FAIL code 3 (3.28=setup[3.24]+cmd[0.04] seconds)", "  a: OK (3.28=setup[3.24]+cmd[0.04] seconds)"),
    form(Hint, "fail", r"^✖ failing tests:$", "node:test of Node.js 24",
        "✖ failing tests:", "ℹ fail 0"),
    form(Hint, "RROR", r"(?:^|[^\w=-])ERROR(?:$|[^\w=-])", "pip 26.3, wget 1.25, webpack 5, Bazel 8, BuildKit 0.26, ansible-core 2.21, sbt 1.11",
        "ERROR: No matching distribution found for no-such-package-xyz-q1", "LOG_LEVEL=ERROR"),
    form(Hint, "rror", r"^\[error\] ", "sbt 1.11, Prettier 3.7",
        "[error] src/main/scala/Thing.scala:3:5: not found: value x", "[info] error handling was tested"),
    form(Hint, "FAIL", r"(?:^|[^\w=-])FAILED(?:$|[^\w=-])", "Gradle 9.2, Ninja 1.13, Xcode 26, Bazel 8",
        "FAILED: [code=1] a", "STATE=FAILED"),
    form(Hint, "FAIL", r"^FAIL(?:URE)?(?::|\t|$)", "go test 1.27, Gradle 9.2",
        "FAILURE: Build failed with an exception.", "FAILURES_ALLOWED=3"),
    form(Hint, "fatal", r"(?:^|[\s\]:])fatal(?: error)?:|\blevel=\x22?fatal\b", "git 2.55, skopeo 1.22, Podman 5.7, ansible-core 2.21",
        "fatal: repository '/builds/ada/hello/none' does not exist", "nonfatal: 3"),
    form(Hint, "FATAL", r"(?:^|[^\w=-])FATAL(?:$|[^\w=-])", "PostgreSQL 18, GitLab Runner 18",
        "FATAL: too large", "LOG_LEVEL=FATAL"),
    form(Hint, "panic", r"\bpanicked at\b|^panic: ", "rustc 1.95, go 1.27",
        "thread 'main' panicked at src/lib.rs:6:49:", "test tests::panics - should panic ... ok"),
    form(Hint, "raceback", r"^Traceback \(most recent|^stack traceback:$", "Python 3.13, Lua 5.4",
        "Traceback (most recent call last):", "Traceback entries: 3"),
    form(Hint, "xception", r"^(?:Exception |Caused by: |Unhandled exception)|(?:^|\s)[\w.$]+Exception(?::|$)", "JDK 25, .NET SDK 10, PHP 8.4, Mocha 12.0",
        "Exception in thread \"main\" java.lang.IllegalStateException: no moon", "Exceptions: 0"),
    form(Hint, "rror", r"^\S+:\d+:in .*\(\w+Error\)$", "Ruby 3.4",
        "-e:1:in '<main>': x (RuntimeError)", "a_spec.rb:6:in 'block' is slow"),
    form(Hint, "rror", r"^Found [1-9]\d* errors?\b|^✖ \d+ problems? \([1-9]\d* errors?", "mypy 2.4, TypeScript 7.0, Biome 2.3, ESLint 10.15, Stylelint 16",
        "Found 1 error in 1 file (checked 1 source file)", "✖ 1 problem (0 errors, 1 warning)"),
    form(Hint, "not found", r"^(?:/\S*/)?\S+: (?:line )?\d+: .*: (?:command )?not found$|: command not found$|^command not found: ", "bash 5.3, dash 0.5, BusyBox 1.37, zsh 5.9, Yarn 4.18",
        "sh: 1: nosuchcommand: not found", "-- Looking for pthread_create in pthreads - not found"),
    form(Hint, " line ", r": line \d+: \w+: (?:unbound variable|parameter not set)$", "bash 5.2, BusyBox 1.37",
        "deploy.sh: line 2: TARGET: unbound variable", "deploy.sh: line 2: TARGET: set"),
    form(Hint, " line ", r"^(?:Can't |Died |Undefined subroutine |Global symbol |syntax error |Illegal |Bareword |Not an? ).* at \S+ line \d+", "Perl 5.36",
        "Can't locate Moon/Phase.pm in @INC (you may need to install the Moon::Phase module) at moon.pl line 1.", "Use of uninitialized value $moon in addition (+) at moon.pl line 3."),
    form(Hint, "o such file", r": [nN]o such file or directory", "bash 5.3, coreutils 9.7, tar 1.35, go 1.27",
        "/usr/bin/bash: line 144: cd: /no/such: No such file or directory", "no such files are kept"),
    form(Hint, "denied", r": Permission denied\b|^(?:denied|unauthorized): ", "bash 5.3, OpenSSH 10.2, Docker 29",
        "bash: line 1: ./run.sh: Permission denied", "requests that were denied: 0"),
    form(Hint, "illed", r"^Killed$|: line \d+: +\d+ Killed\b|\b[kK]illed by signal\b|\bOOMKilled\b", "bash 5.3, dash 0.5, Kubernetes 1.35",
        "bash: line 1:    41 Killed                  ./run", "0 jobs killed"),
    form(Hint, "Segmentation", r"\bSegmentation fault\b", "bash 5.3, dash 0.5",
        "Segmentation fault (core dumped)", "Segmentation of words is fast"),
    form(Hint, "imed out", r"(?:[a-z:] |^)[tT]imed out\b", "OpenSSH 10.2, Go 1.27, Docker 29",
        "ssh: connect to host example.org port 22: Connection timed out", "12 passed, 0 timed out"),
    form(Hint, ": ***", r"^[\w.-]*make(?:\[\d+\])?: \*\*\* |^scons: \*\*\* ", "GNU make 4.4, SCons 4.10",
        "make: *** [Makefile:4: bad] Error 1", "make: [Makefile:4: bad] Error 1 (ignored)"),
    form(Hint, "curl: (", r"^curl: \(\d+\) ", "curl 8.23",
        "curl: (60) SSL certificate problem: self-signed certificate", "wget and curl: (both are used)"),
    form(Hint, "fail", r"\.\.\. failed: |^ssh: .* failed|^Host key verification failed|^Automatic merge failed|^failed: \[", "GNU wget 1.25, OpenSSH 10.2, git 2.55, ansible-core 2.21",
        "Connecting to 127.0.0.1:1... failed: Connection refused.", "failed: 0"),
    form(Hint, "ssh: connect", r"^ssh: connect to host \S+ port \d+: ", "OpenSSH 9.2",
        "ssh: connect to host moon.example port 22: Connection refused", "the ssh: connect to host is tried later"),
    form(Hint, "ould ", r"\b[cC]ould not (?:resolve|connect|find|open|read|be resolved)\b", "OpenSSH 10.2, Bundler 4, Composer 2.9",
        "Could not find gem 'no_such_gem' in rubygems repository https://rubygems.org/", "1 could not be skipped"),
    form(Hint, "\nE: ", r"^E: ", "apt 3.3",
        "E: Unable to locate package no-such-package-q1", "E:\\ is a drive"),
    form(Hint, " E: ", r"^E: ", "apt 3.3 in BuildKit 0.26",
        "#8 0.512 E: Unable to locate package no-such-package-q1", "Mounted E: as a drive"),
];

/// The forms of warnings.
#[rustfmt::skip]
pub const WARNINGS: &[Form] = &[
    form(Reason, "arning", r"(?:^|[^\w])[wW]arning(?:\[[^\]]{1,40}\])?:", "GCC 16.2, rustc 1.95, CMake 4.3",
        "src/e.cc:1:20: warning: unused variable 'x'", "1 warning emitted"),
    form(Reason, "WARN", r"(?:^|[^\w])WARN(?:ING)?\b", "Maven 3.9, npm 10.9, pip 26.3, ansible-core 2.21",
        "[WARNING] Using platform encoding", "WARNINGS_ALLOWED=3"),
    form(Reason, "eprecated", r"\b[dD]eprecated\b", "npm 12.2, PHP 8.4",
        "Deprecated: Function strftime() is old", "deprecated_names.txt"),
    form(Reason, "npm warn", r"^npm warn\b", "npm 12.2",
        "npm warn EBADENGINE Unsupported engine", "the npm warnings are off"),
    form(Reason, "[warn]", r"^\[warn\] \S", "Prettier 3.10, sbt 1.11",
        "[warn] src/moon.js", "the level is [warn]"),
];

/// The start of a line before the text of a tool: blanks, a time, or the prefix of BuildKit, Compose, Terraform, xdist or Yarn.
const PREFIX: &str = r"^(?:\s|│ |#\d+ (?:\d+\.\d+ )?|\[?\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z|[+-][\d:]+)?\]? |\[\d\d:\d\d:\d\d(?:\.\d+)?\] |[A-Za-z][\w.@/-]* +\| |\[gw\d+\] \[ *\d+%\] |➤ YN0000: (?:│ |\[\S+\]: ))+";

/// Lines that are no errors although they may have one of the forms: source code in reports, commands as the shell, the
/// runner and package managers repeat them, tests that passed or may fail, and warnings.
#[rustfmt::skip]
const NO_ERRORS: &[(&str, &str)] = &[
    (r"^(?:> ?)?\d+(?: \||:) ", "    > 4 |   it('breaks', () => { throw new Error('Error: no') })"),
    (r"^> [^T]", "> echo \"Error: no test specified\" && exit 1"),
    (r"^[$+] ", "$ test -f a || { echo \"ERROR: a is missing\"; exit 1; }"),
    (r"^(?:✓|✔|√) ", "✓ shows error: message (3 ms)"),
    (r"^(?:ok|PASS|--- PASS:)\b", "ok 3 - error: is shown"),
    (r"^(?:\[gw\d+\] )?(?:\[ *\d+%\] )?PASSED\b", "[gw0] [ 50%] PASSED tests/test_a.py::test_error[Error: no]"),
    (r"\bPASSED(?: +\[ *\d+%\])?$", "tests/test_a.py::test_error[Error: no] PASSED [ 50%]"),
    (r"^\[ +OK \]", "[       OK ] Error.FAILED (0 ms)"),
    (r"\.\.\. (?:ok|ignored)$", "test error::tests::a - ERROR ... ok"),
    (r"(?:^|\| )PASS \|$", "Handles an error: no rows                                             | PASS |"),
    (r" (?:Passed|OK) +[\d.]+ ?s", "1/3 Test #1: error: .........................   Passed    0.01 sec"),
    (r"# ?(?i:todo|skip)\b", "not ok 4 later # TODO"),
    (r"^(?i:npm warn|warn|warning|\[warn\]|\[warning\])\b", "WARNING: Failed to pull image with policy \"always\": Error: denied"),
    (r"\.\.\.ignoring$|\(ignored\)$", "make: [Makefile:4: bad] Error 1 (ignored)"),
    (r"ERROR SUMMARY: 0\b", "==41== ERROR SUMMARY: 0 errors from 0 contexts (suppressed: 0 from 0)"),
];

/// The forms of one table, compiled.
#[derive(Debug)]
pub struct Forms {
    needles: Option<Literals>,
    prefix: Option<Regex>,
    excluded: Option<Regex>,
    reasons: Option<Regex>,
    hints: Option<Regex>,
}

/// The forms of [`ERRORS`].
pub static ERROR_FORMS: LazyLock<Forms> = LazyLock::new(|| Forms::new(ERRORS, NO_ERRORS));
/// The forms of [`WARNINGS`].
pub static WARNING_FORMS: LazyLock<Forms> = LazyLock::new(|| Forms::new(WARNINGS, &[]));

impl Forms {
    fn new(table: &[Form], excluded: &[(&str, &str)]) -> Forms {
        let of =
            |weight: Weight| any(&mut table.iter().filter(|form| form.weight == weight).map(|form| form.expression));
        Forms {
            needles: Literals::any(table.iter().map(|form| form.needle)),
            prefix: any(&mut [PREFIX].into_iter()),
            excluded: any(&mut excluded.iter().map(|(expression, _)| *expression)),
            reasons: of(Reason),
            hints: of(Hint),
        }
    }

    /// Returns the first position at or after `from` in terminal output at which a form may begin. It may be the line
    /// feed before the line.
    pub fn candidate(&self, bytes: &[u8], from: usize) -> Option<usize> {
        self.needles.as_ref()?.find(bytes, from)
    }

    /// Returns what a line, as shown, says; `None` if it has none of the forms.
    pub fn weight(&self, line: &[u8]) -> Option<Weight> {
        let start = self.prefix.as_ref().and_then(|prefix| prefix.find(line)).map_or(0, |found| found.end());
        let text = line.get(start..).unwrap_or_default();
        let is = |pattern: &Option<Regex>| pattern.as_ref().is_some_and(|pattern| pattern.is_match(text));
        if is(&self.excluded) {
            return None;
        }
        let weights = [(&self.reasons, Reason), (&self.hints, Hint)];
        weights.into_iter().find(|(pattern, _)| is(pattern)).map(|(_, weight)| weight)
    }
}

/// Compiles an expression that matches what any of `expressions` does; `None` without any.
fn any(expressions: &mut dyn Iterator<Item = &str>) -> Option<Regex> {
    let all: Vec<String> = expressions.map(|one| format!("(?:{one})")).collect();
    // Without Unicode, since signs in the expressions are only compared.
    if all.is_empty() { None } else { Regex::new(&format!("(?-u){}", all.join("|"))).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Patterns, Trace};
    use std::collections::BTreeSet;

    fn lines_of(table: &[Form], text: &str) -> Vec<usize> {
        let mut trace = Trace::default();
        trace.push(text.as_bytes());
        let patterns = Patterns::default();
        let pattern = if std::ptr::eq(table, WARNINGS) { &patterns.warnings } else { &patterns.errors };
        trace.matching_lines(pattern, 100, &|| false).lines
    }

    #[test]
    fn each_form_is_found_in_a_failed_run_and_in_no_passed_one() {
        for table in [ERRORS, WARNINGS] {
            for form in table {
                let failed = format!("$ run\n{}\nend\n", form.failed);
                assert_eq!(lines_of(table, &failed), [1], "{form:?}");
                assert_eq!(lines_of(table, &format!("$ run\n{}\nend\n", form.passed)), [0_usize; 0], "{form:?}");
                // By this row, not by another one.
                let own = Forms::new(std::slice::from_ref(form), &[]);
                let mut text = Vec::new();
                assert!(crate::ansi::append_text(&mut text, form.failed.as_bytes()).is_some());
                assert_eq!(own.weight(&text), Some(form.weight), "{form:?}");
                assert!(own.candidate(failed.as_bytes(), 0).is_some(), "{form:?}");
            }
        }
    }

    #[test]
    fn lines_of_passed_tests_and_commands_are_no_errors() {
        for (expression, line) in NO_ERRORS {
            assert_eq!(lines_of(ERRORS, &format!("$ run\n{line}\n")), [0_usize; 0], "{line}");
            let own = Forms::new(&[], &[(expression, line)]);
            assert!(own.excluded.is_some_and(|excluded| excluded.is_match(line.trim_start().as_bytes())), "{line}");
        }
    }

    #[test]
    fn escape_sequences_and_prefixes_stand_before_a_form() {
        for line in [
            "\x1b[01m\x1b[Ke.cc:1:20:\x1b[m\x1b[K \x1b[01;31m\x1b[Kerror: \x1b[m\x1b[Kno",
            "\x1b[96ma.ts\x1b[0m:\x1b[93m1\x1b[0m:\x1b[93m7\x1b[0m - \x1b[91merror\x1b[0m\x1b[90m TS2322: \x1b[0mno",
            "m.py:2: \x1b[1m\x1b[31merror:\x1b(B\x1b[m no",
            "#8 12.51 a.c:1:2: error: no",
            "web-1  |  FAIL  a.test.js",
            "[12:00:01] --- FAIL: TestA",
            "2026-06-21T00:00:00.123Z not ok 3",
        ] {
            assert_eq!(lines_of(ERRORS, &format!("a\n{line}\n")), [1], "{line:?}");
        }
    }

    #[test]
    fn there_are_as_many_needles_as_are_searched_at_full_speed() {
        for table in [ERRORS, WARNINGS] {
            let needles: BTreeSet<&str> = table.iter().map(|form| form.needle).collect();
            assert!(needles.len() <= 32 && needles.iter().all(|needle| needle.len() >= 4), "{needles:?}");
        }
    }

    #[test]
    fn a_reason_outweighs_hints() {
        let log = "12:00:01 ERROR expected\n";
        assert_eq!(lines_of(ERRORS, log), [0]);
        assert_eq!(lines_of(ERRORS, &format!("{log}--- FAIL: TestA\nmake: *** [a] Error 1\n")), [1]);
    }
}
