# One Python, $python, runs all scripts of a test, because to import takes longer than most scripts. A test sources this after
# it has written helpers.py, which each script begins with. Names that a script makes are gone after it.
# shellcheck shell=bash
cat >scripts.py <<'END'
import sys
for _ in sys.stdin:
    try:
        exec(open("helpers.py").read() + open("script.py").read(), {})
        print("passed", flush=True)
    except BaseException as e:
        print(repr(e), flush=True)
END
coproc PYTHON { exec "${python:?}" scripts.py; }

# py SCRIPT: runs it, and prints its exception if it fails.
py() {
    local answer=
    echo "$1" >script.py
    echo >&"${PYTHON[1]}"
    IFS= read -r answer <&"${PYTHON[0]}"
    [[ $answer == passed ]] || { echo "$answer" && false; }
}

# holds NAME EXPRESSION: passes if the Python expression is true.
holds() { check "$1" py "assert $2"; }
