#!/bin/bash
# What `make release` refuses: a CHANGELOG, a README, files or a program that disagree with the version.
# Sources: cli/packages
. "$(dirname "$0")/../lib.sh" || exit
top=$(readlink -f "$tests/../..")
mkdir -p sources/cli/packages dist
cd sources || exit
cp "$top/cli/packages/release.sh" cli/packages/
cp "$top/cli/command.h" cli/
version=$(sed -n 's/#define GI_VERSION  *"\(.*\)"/\1/p' cli/command.h)
date=$(sed -n 's/#define GI_VERSION_DATE "\([^"]*\)".*/\1/p' cli/command.h)
printf '# Changelog\n\n## %s, %s\n\n## 0.0.1, 2020-01-01\n' "$version" "$date" >CHANGELOG.md
echo "pip install gpuimg-$version-py3-none-any.whl, apt install ./gpuimg_${version}_amd64.deb" >README.md
git init -q .
printf 'out\nerr\ncheck.log\n' >.git/info/exclude
git config user.name a
git config user.email a@b
save() { git add -A && git commit -qm "$1"; }
save first
release=cli/packages/release.sh
expect 0 $release
echo change >>README.md
expect 1 $release
check "files that are not committed are named" grep -q 'not committed:  M README.md' err
UNRELEASED=1 expect 0 $release
check "UNRELEASED=1 warns" grep -q 'not committed' err
sed -i "s/gpuimg-$version/gpuimg-9.9.9/" README.md
save readme
expect 1 $release
check "another version in README is named" grep -q 'README.md names gpuimg-9.9.9, and this is' err
git reset -q --hard HEAD~1
sed -i "s/## $version, .*/## $version, unreleased/" CHANGELOG.md
save changelog
expect 1 $release
check "CHANGELOG has no date" grep -q "CHANGELOG.md begins with \"## $version, unreleased\", want \"## $version, $date\"" err
git reset -q --hard HEAD~1

# A program that says what the script wants, and then something else. A manual page is that of another version.
cat >../program <<'END'
#!/bin/sh
case "$*" in
    --version) printf 'gpuimg %s\ncommit: %s\ncompiler: gcc 1\nGPUs: %s\n' "$VERSION" "$COMMIT" "$GPUS" ;;
    'list --commands') echo blur ;;
    'help --man'*) printf '.TH X 1 %s "gpuimg %s" "m"\n' "$DATE" "$VERSION" ;;
esac
END
chmod +x ../program
export VERSION=$version DATE=$date GPUS='sm_75 sm_80 sm_90 sm_100 sm_120'
COMMIT=$(git rev-parse --short HEAD)
export COMMIT
echo wheel >"../dist/gpuimg-$version-py3-none-any.whl"
expect 0 $release ../program ../dist
check "SHA256SUMS has the packages" sh -c 'cd ../dist && sha256sum -c SHA256SUMS && grep -q whl SHA256SUMS'
COMMIT=0000000 expect 1 $release ../program ../dist
check "another commit" grep -q 'says commit: 0000000, want' err
GPUS='sm_90' expect 1 $release ../program ../dist
check "code for one GPU" grep -q 'too few GPUs' err
DATE=2000-01-01 expect 1 $release ../program ../dist
check "another date of the manual" grep -q 'the manual of gpuimg has another version or date' err
check "in all its pages" grep -q 'the manual of blur has another version or date' err
VERSION=9.9.9 expect 1 $release ../program ../dist
check "another version of the program" grep -q "says gpuimg 9.9.9, want gpuimg $version" err

# The sources in a tarball know their commit without git.
if git -C "$top" rev-parse HEAD >/dev/null 2>&1; then
    git -C "$top" archive HEAD cli/built.c | tar -x -C ..
    check "an archive knows its commit" grep -q "\"$(git -C "$top" rev-parse --short HEAD)[0-9a-f]*\"" ../cli/built.c
fi
finish
