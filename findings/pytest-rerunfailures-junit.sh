#!/usr/bin/env bash
# pytest-rerunfailures 16.7 with pytest 9.2.0 on Python 3: in the JUnit XML, a run that failed and was repeated is a test case of its own
# without <failure>, <error> or <rerun>, so readers take it as passed.
#
# Seen: a test that always fails, with one rerun, is listed twice: once as passed and once as failed; a test that fails once is listed
# twice as passed. tests="2" in <testsuite> counts each once. Output of this script:
#
#   test_flaky: passed passed
#   test_never: passed failed
#
# Exits with 0 if that is still so.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet pytest==9.2.0 pytest-rerunfailures==16.7
cat > test_runs.py <<'PYTHON'
import pytest

runs = []

@pytest.mark.flaky(reruns=1)
def test_flaky():
    runs.append(1)
    assert len(runs) == 2

@pytest.mark.flaky(reruns=1)
def test_never():
    assert False
PYTHON
env/bin/pytest --quiet --junitxml=report.xml test_runs.py > /dev/null || true
env/bin/python - <<'PYTHON'
import collections, sys, xml.etree.ElementTree as tree
runs = collections.defaultdict(list)
for case in tree.parse("report.xml").iter("testcase"):
    runs[case.get("name")].append("failed" if len(case) else "passed")
for name, results in runs.items():
    print(f"{name}: {' '.join(results)}")
sys.exit(dict(runs) != {"test_flaky": ["passed", "passed"], "test_never": ["passed", "failed"]})
PYTHON
