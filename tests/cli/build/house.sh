#!/bin/bash
# The rules of the house that a script can check: which folder includes which, and the length of files and functions.
# Usage: house.sh GPUIMG (the program is not run; the object files beside it are read)
# Sources: cli filters imgio kernels
passed=0 failed=0
families="arithmetic color convolution denoise geometry morphology rank regions statistics tone"
# The family codec has primitives, but no operations: JPEGs are coded on the way into and out of a chain.
primitives="arithmetic codec color convolution denoise geometry morphology rank regions statistics tone"

check() { # check WHAT OFFENDERS: passes where there are none
    if [[ -z $2 ]]; then
        ((passed++))
    else
        ((failed++))
        printf 'FAILED: %s\n%s\n' "$1" "$2"
    fi
}

includes() { # includes FOLDER FORBIDDEN: lines of FOLDER that include what it may not know
    grep -rnE "^#include \"($2)" "$1" --include='*.[ch]' --include='*.cu' --include='*.cuh'
}

check "a kernel includes only imgio/image.h, its status.h, coded.h and the pure functions of runs_code.h of other folders" \
    "$(includes kernels 'filters/|cli/|tests/|imgio/' | grep -vE 'imgio/(image|status|coded|png/runs_code)\.h')"
check "a filter includes only kernels, imgio/image.h, rows.h, small.h, median_cut.h and quality_search.h of other folders" \
    "$(includes filters 'cli/|tests/|imgio/' | grep -vE 'imgio/(image|status|rows|small|median_cut|quality_search)\.h')"
check "imgio includes no other folder" "$(includes imgio 'kernels/|filters/|cli/|tests/')"
check "a filter uses no device directly" "$(grep -rnE 'cuda_runtime|gi_kernels_c|kernels/(cpu|cuda)/' filters)"
check "only cli prints or exits" \
    "$(grep -rnE '\b(printf|puts|perror|exit|abort)\(' imgio kernels filters --include='*.[ch]' --include='*.cu' | grep -vE '^\S+\s*(\*|//|/\*)|gi_sink_printf|_exit')"

long_files=$(find cli imgio kernels filters testdata tests -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' | xargs wc -l | awk '$2 != "total" && $1 > 500 {print $2 ": " $1 " lines, want at most 500"}')
check "no file over 500 lines" "$long_files"

# A function starts at a line with only "{" in the first column and ends at the next line with "}" there.
long_functions=$(for f in $(find cli imgio kernels filters -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh'); do
    awk -v f="$f" '/^{/ {start = FNR} /^}/ && start {n = FNR - start - 1; if (n > (f ~ /cu/ ? 80 : 60)) print f ":" start ": " n " lines"; start = 0}' "$f"
done)
check "no function over 60 lines, no kernel over 80" "$long_functions"

check "code for certain GPUs asks only GI_CUDA_ARCH" \
    "$(grep -rn '__CUDA_ARCH__' kernels | grep -v '^kernels/cuda/common/arch.cuh:')"

check "attributes of kernels are set in one place, not per launch" \
    "$(grep -rnE 'cudaFuncSet(Attribute|CacheConfig)|cudaMemcpyToSymbol|^(static )?__constant__' kernels | grep -v '^kernels/cuda/device/function.cu:')"

check "operations are in folders by family, the machinery at the top of filters/" \
    "$(grep -lE '^const struct gi_filter gi_filter_' filters/*.c; find filters -mindepth 2 -name '*.c' -exec grep -lE 'gi_execution_|gi_pipeline_' {} +; find filters -mindepth 3 -type f)"
# Files that include each other in a circle: tsort names them.
check "no include cycle" \
    "$(grep -rE '^#include "' cli filters kernels imgio --include='*.[ch]' --include='*.cu' --include='*.cuh' |
        sed -E 's/^([^:]+):#include "([^"]+)".*/\1 \2/' | tsort 2>&1 >/dev/null)"
check "kernels.h includes no family, so that a family's contract is a matter of that family" \
    "$(grep -HE "^#include \"kernels/($(paste -sd'|' <<<"${primitives// /$'\n'}"))\.h\"" kernels/kernels.h kernels/ways.h kernels/rules.h kernels/cpu/cpu.h kernels/cuda/cuda.h)"
for folder in filters kernels/cpu kernels/cuda; do
    [[ $folder == filters ]] && of=$families || of=$primitives
    check "$folder has the folders of its families" \
        "$(diff <(tr ' ' '\n' <<<"$of") <(find $folder -mindepth 1 -maxdepth 1 -type d -printf '%f\n' | grep -vxE 'device|common' | sort))"
done
check "every family has its contracts in kernels/FAMILY.h, and only shared headers are beside them" \
    "$(diff <(tr ' ' '\n' <<<"$primitives border calc canny correlate crc32 device device_functions elementary footprint fourier jpeg_decode jpeg_encode kernels parallel png_encode primitives rules ways xyb" | sort) \
        <(find kernels -maxdepth 1 -name '*.h' -printf '%f\n' | sed 's/\.h$//' | sort))"
# Each primitive is in the family of its heading in the list, on each side that has it.
check "the file of a primitive is in the folder of its family" \
    "$(awk '/kernels\/[a-z]+\.h( \*\/|;)/ {match($0, /kernels\/[a-z]+/); family = substr($0, RSTART + 8, RLENGTH - 8)}
        /^#define GI_PRIMITIVES_(BOTH|CPU|CUDA)\(P\)/ {match($0, /(BOTH|CPU|CUDA)/); side = substr($0, RSTART, RLENGTH)}
        /^    P\(/ {split($0, part, /[(,]/); print family, side, part[2]}' kernels/primitives.h |
        while read -r family side name; do
            for at in cpu cuda; do
                [[ $side == BOTH || ${side,,} == "$at" ]] || continue
                row="gi_${name}_way (gi_cuda_${name}_ways|GI_CPU\(${name}_ways\))|^GI_CPU_(ONE_WAY|BY_ROWS)\(${name},"
                grep -rqE "$row" "kernels/$at/$family" || echo "$name: no table of ways in kernels/$at/$family"
            done
        done)"

check "primitives are in folders by family" \
    "$(find kernels/cpu kernels/cuda -maxdepth 1 -type f | grep -vxE 'kernels/(cpu/(cpu\.h|table\.c)|cuda/(cuda\.h|table\.cu))')"

# Counts the members of every named struct of cli and of filter.h; a struct in a struct is one. gi_cairo is a table of a library's functions.
members() {
    python3 - "$1" <<'END'
import glob, re, sys

for file in sorted(glob.glob("cli/**/*.[ch]", recursive=True)) + ["filters/filter.h"]:
    text = re.sub(r"/\*.*?\*/", "", open(file).read(), flags=re.S)
    for match in re.finditer(r"\bstruct\s+(\w+)\s*\{", text):
        depth, count, declares = 1, 0, False
        for c in text[match.end():]:
            depth += (c in "{([") - (c in "})]")
            if depth == 0:
                break
            if depth == 1 and c in ",;" and declares:
                count += 1
            declares = (declares or c.isalnum()) and not (depth == 1 and c == ";")
        if count > int(sys.argv[1]) and match[1] != "gi_cairo":
            print(f"{file}: struct {match[1]} has {count} members")
END
}
check "no struct of cli, and no row of an operation, has more than 16 members" "$(members 16)"

# Each folder of cli with C files may include those before it in this list, and the top of cli, which includes no folder. main.c is above all of them.
floors="plot paths args report run tables inputs help commands"
check "cli has the folders that CONTRIBUTING names" \
    "$(diff <(tr ' ' '\n' <<<"$floors" | sort) <(find cli -mindepth 2 -name '*.[ch]' ! -path 'cli/packages/*' -printf '%P\n' | sed 's|/[^/]*$||' | sort -u))"
upward() {
    local above=$floors floor
    grep -nE '^#include "cli/[a-z_]+/' cli/*.[ch] | grep -v '^cli/main\.c:'
    for floor in $floors; do
        above=${above#"$floor"}
        above=${above# }
        [[ -z $above ]] || grep -rnE "^#include \"cli/(${above// /|})/" "cli/$floor" --include='*.[ch]'
    done
}
check "a folder of cli includes only folders before it ($floors)" "$(upward)"

check "a test of tests/unit draws cases of every primitive" \
    "$(sed -nE 's/^ +P\(([a-z_0-9]+),.*/\1/p' kernels/primitives.h | while read -r name; do
        grep -q "\"$name\"" tests/unit/test_*.c || echo "$name"; done)"

check "scripts of tests/cli are in folders by topic" "$(find tests/cli -maxdepth 1 -type f | grep -vxE "tests/cli/(lib|python).sh")"
# A module is a file.c with its file.h. Prints every circle of more than four modules of cli/: strongly connected components of
# "includes", then of "defines a symbol that the other uses", by the object files.
circles() { # circles OBJECTS
    python3 - "$1" <<'END'
import glob, os, re, subprocess, sys

files = sorted(f for f in glob.glob("cli/**/*.[ch]", recursive=True) if not f.startswith("cli/packages/"))
includes = {f[:-2]: set() for f in files}
for f in files:
    for name in re.findall(r'^#include "(cli/.*)\.h"', open(f).read(), re.M):
        includes[f[:-2]].add(name)

defined, used = {}, {}
for module in (f[:-2] for f in files if f.endswith(".c")):
    used[module] = set()
    out = subprocess.run(["nm", "-g", f"{sys.argv[1]}/{module}.o"], capture_output=True, text=True, check=True).stdout
    for kind, symbol in (line.split()[-2:] for line in out.splitlines()):
        if kind in "Uw":
            used[module].add(symbol)
        else:
            defined[symbol] = module
calls = {m: {defined[s] for s in symbols if s in defined} for m, symbols in used.items()}


def reach(graph, start):
    seen, todo = set(), [start]
    while todo:
        for module in graph.get(todo.pop(), set()) - seen:
            seen.add(module)
            todo.append(module)
    return seen


for what, graph in (("includes", includes), ("calls", calls)):
    reached = {m: reach(graph, m) for m in graph}
    circles = {tuple(sorted({m} | {n for n in reached[m] if m in reached.get(n, ())})) for m in graph}
    for circle in sorted(circles):
        if len(circle) > 4:
            print(f"{len(circle)} modules in a circle of {what}: {' '.join(circle)}")
END
}
check "no circle of more than four modules in cli" "$(circles "$(dirname "$(readlink -f "$1")")" 2>&1)"

# cli computes no pixels. These files see samples: they draw images for tests and measurements, draw outlines, labels, shapes and legends, turn points
# or a drawn mask into a parameter, write sums as PFM, and hash an image for gpuimg info.
sees='cli/commands/(bench|bench_quick|selftest_cases|extract_images|info|integral)\.c|cli/run/(rates_measure|rates_codecs|option_images|paste_sources)\.c|cli/plot/(overlay|label|drawing|legend)\.c|cli/content\.c'
# These only copy whole samples or sums, as bytes.
copies='cli/commands/(montage|stack|stack_strip|stack_sums)\.c'
samples='\bgi_(row|sample)\(|(\.|->)data( \+|,|\[)|\*\)[a-z_.>-]*data\b'
check "only few files of cli access samples" \
    "$(grep -rnE "$samples" cli --include='*.[ch]' | grep -vE "^($sees|$copies):")"
check "files of cli that copy samples do not look at their values" \
    "$(grep -rnE '\bgi_sample\(|\b(u?int(8|16|32|64)_t|float|double) \*' cli --include='*.c' | grep -E "^($copies):")"

check "there are no other entries at the top of the tree" \
    "$(git ls-files 2>/dev/null | cut -d/ -f1 | sort -u | grep -vxE 'Makefile|cli|imgio|kernels|filters|testdata|tests|README\.md|CONTRIBUTING\.md|LICENSE|CHANGELOG\.md|SECURITY\.md|\.ci|\.clang-format|\.editorconfig|\.gitattributes|pyproject\.toml|\.gitignore')"

echo "$passed passed, $failed failed, 0 skipped"
((failed == 0))
