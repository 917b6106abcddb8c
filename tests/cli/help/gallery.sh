#!/bin/bash
# The gallery's examples give the pictures and tables whose SHA-256 is committed, every operation has an example, and every task runs.
# Sources: cli/help/gallery
. "$(dirname "$0")/../lib.sh"
gallery=$tests/../../cli/help/gallery
export PYTHONDONTWRITEBYTECODE=1

# On the CPU and on the first GPU, if there is one. A failure prints the name of the example and its hash now; after an
# intended change `make gallery-hashes` writes cli/help/gallery/hashes.txt anew.
devices=cpu
gpuimg devices --json | /usr/bin/python3 -c 'import json, sys; sys.exit(not json.load(sys.stdin)["cuda"])' && devices="cpu cuda:0"
for what in --check --check-tasks; do
    GALLERY_DEVICES=$devices /usr/bin/python3 "$gallery/site.py" "$GPUIMG" $what >log
    grep '^FAILED' log
    read -r p _ f _ < <(grep -E '^[0-9]+ passed' log)
    check "gallery $what ends" test -n "$p"
    ((passed += p, failed += f))
done

# The check can fail: one digit of one hash is changed. The examples of its operation are enough.
cp -r "$gallery" changed
mkdir -p testdata
cp "$tests"/../../testdata/*.png testdata
mkdir -p cli/help && mv changed cli/help/gallery
sed -i '1s/^./g/' cli/help/gallery/hashes.txt
operation=$(sed -nE '1s/^g[0-9a-f]+  ([a-z-]+)-.*/\1/p' cli/help/gallery/hashes.txt)
expect 1 /usr/bin/python3 cli/help/gallery/site.py "$GPUIMG" --check "$operation"
check "another hash is noticed" grep -q '^FAILED: .* on cpu: .*, want g' out
check "and only that" grep -qE '^[0-9]+ passed, 1 failed, 0 skipped$' out

# The site has a page per command and topic, and all links lead to something (make test-site opens the pages in a browser).
expect 0 /usr/bin/python3 "$gallery/site.py" "$GPUIMG" site
for page in $(gpuimg list --commands | sed 's|^|op/|') $(gpuimg list --topics | sed 's|^|help/|') index commands tasks speed; do
    check "the site has $page" grep -q '<h1>' "site/$page.html"
done
expect 0 /usr/bin/python3 "$tests/../site/browser.py" site --links
check "the site has all help as Markdown" cmp site/gpuimg.md <(gpuimg help --all --markdown)
for command in $(gpuimg list --commands); do check "llms.txt has $command" grep -qF "[$command](op/$command.html)" site/llms.txt; done

echo "$passed passed, $failed failed, $skipped skipped"
((failed == 0))
