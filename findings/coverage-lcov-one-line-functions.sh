#!/usr/bin/env bash
# coverage.py 7.17.5 (PyPI, Python 3.11): in the LCOV report, a function of one line counts as called when its module is imported.
#
# LCOV has a record for each function: FNDA:<number of calls>,<name>; FNH is the number of functions that were called. For
# `def never(): pass` coverage.py writes FNDA:1 though nothing calls it: the only line of the function is also its `def`
# statement, which runs on import. Written on two lines, the same function has FNDA:0. The layout decides about coverage.
#
# With branch coverage the same line also becomes a branch with two outcomes ("jump to line", "return from function"), one of
# them never taken, though the function has no condition at all.
#
# The input is a plain valid module; sys.setprofile counts the real calls. Readers (a review that shows functions without
# tests, a threshold on functions, genhtml) take the figures as calls.
#
# Seen:
#   calls: short=0 long=0
#   lcov: FNDA:1,short FNDA:0,long FNF:2 FNH:1
#   branches: BRDA:1,0,jump to line 3,1 BRDA:1,0,return from function 'short',0
#
# Exits with 1 if that changes. Needs python3.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check coverage==7.17.5
cat >module.py <<'PYTHON'
def short(): pass

def long():
    pass
PYTHON
cat >calls.py <<'PYTHON'
import sys

calls = {"short": 0, "long": 0}

def watch(frame, event, argument):
    if event == "call" and frame.f_code.co_name in calls:
        calls[frame.f_code.co_name] += 1

sys.setprofile(watch)
import module
sys.setprofile(None)
print("calls:", *(f"{name}={number}" for name, number in calls.items()))
PYTHON
seen=$(env/bin/python calls.py)
env/bin/coverage run --branch --include=module.py -m module
env/bin/coverage lcov --quiet -o report.lcov
records() { grep -E "$1" report.lcov | tr '\n' ' ' | sed 's/ $//'; }
seen="$seen
lcov: $(records '^(FNDA|FNF|FNH):')
branches: $(records '^BRDA:')"
printf '%s\n' "$seen"
expected="calls: short=0 long=0
lcov: FNDA:1,short FNDA:0,long FNF:2 FNH:1
branches: BRDA:1,0,jump to line 3,1 BRDA:1,0,return from function 'short',0"
[ "$seen" = "$expected" ] || { echo "coverage.py reports functions in another way now" >&2; exit 1; }
