#!/bin/bash
# Counts wording that readers stumble over, in comments, texts of the program and Markdown: "what it is of", "as who wants it",
# "lies", "one a line" and the like. The count may not grow beyond 40. A hit may be right ("the pointer stands for a row").
# Sources: cli filters imgio kernels
# Usage: words.sh GPUIMG (the program is not run)
passed=0 failed=0

check() { # check WHAT COMMAND...: passes if the command succeeds
    local what=$1
    shift
    if "$@"; then
        ((passed++))
    else
        ((failed++))
        echo "FAILED: $what"
    fi
}

# A line "name<tab>Perl regular expression" per pattern; the text starts without the mark of a comment.
patterns() {
    cat <<'EOF'
parted by	\bparted by\b
stands	\bstands?\b(?! for| alone)
lies	\b(?:lie|lies)\b(?! to)
by itself	\bby (?:itself|themselves)\b
what it is	(?:^|[;:,(] |\. |\b(?:and|of|by|but|for|in) )[Ww]hat (?:is|are|has|it|of|there|comes|goes|becomes)\b
begins with Of	(?:^|[.:;] )Of (?!course)
the least of	\bthe (?:least|greatest) (?:of|that)\b
so many	\bso many\b
all but	\b(?:all|every|any|none|nothing|each) but\b|\bbut for\b
one a line	\b(?:one|two|once|twice|times|bytes|pixels|samples|lines?|files?|images?|rows?|queues?|us|ms|MB|sums?|words|threads) an? (?:second|image|pixel|sample|command|line|file|thread|warp|block|row|column|channel|device|side|call|process|turn|step|test)\b
half way	\bhalf way\b
goes by	\b(?:goes|go|went|going) by\b
as it has it	\bas (?:others|it is|people) (?:have|has) it\b
that is there	\b(?:that|which|what) (?:is|are) there\b
who wants	(?:^|[.;,(] |\b(?:for|as|by) )who(?:ever)? (?:needs|asks|measures|puts|gives|wants|calls|makes|reads|writes|has|does|knows)\b
nobody	\b(?:nobody|somebody)\b
how far	\bhow (?:far|near)\b
be it	\bbe (?:it|they)\s
EOF
}

# prose FILE...: lines "FILE:NUMBER:TEXT" of the comments and strings of sources, and of the paragraphs of Markdown.
prose() {
    perl -ne '
        chomp;
        if ($ARGV =~ /\.md$/) { $_ = "" if /^    / }
        else { $_ = join " ", m{(/\*.*|^\s*\*.*|//.*|"(?:[^"\\]|\\.)*"|\#.*)}g }
        s/^[\s\/*#"]+//;
        print "$ARGV:$.:$_\n" if length;
        close ARGV if eof' "$@"
}

# hits: the lines of standard input that a pattern matches, once per pattern.
hits() {
    local lines name regex
    lines=$(cat)
    while IFS=$'\t' read -r name regex; do
        grep -P "^[^:]*:\d+:.*?(?:${regex//^/(?<=\\d:)})" <<<"$lines" | sed "s/^/$name: /"
    done < <(patterns)
}

files() {
    find cli imgio kernels filters testdata tests Makefile *.md -type f \
        \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.md' -o -name '*.sh' -o -name '*.py' -o -name Makefile -o -name '*.mk' \) \
        ! -path '*/results/*' ! -name words.sh
}

sample=$(mktemp -d)
trap 'rm -rf "$sample"' EXIT
printf '%s\n' '/* What it is of: the rows, who needs them. */' 'x = 1; /* 4 bytes a pixel */' '/* The pointer stands for a row. */' 'int nobody;' \
    >"$sample/a.c"
check "the counter finds its patterns, in comments only" test "$(prose "$sample/a.c" | hits | wc -l)" = 3

mapfile -t all < <(files)
found=$(prose "${all[@]}" | hits)
count=$(grep -c . <<<"$found")
check "at most 40 places that readers stumble over, found $count" test "$count" -le 40
((count > 40)) && head -60 <<<"$found"
echo "$passed passed, $failed failed, 0 skipped"
((failed == 0))
