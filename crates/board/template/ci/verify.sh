#!/bin/sh
# Verifies the runs that a pull request adds: verify.sh BASE HEAD REPORT, where dyno is in the path. Nothing of the pull
# request is run or checked out: its runs are written into a folder of their own, and `signers` is that of the base.
# Ends as `dyno runs verify` does: 0 if every run is consistent, 1 if something differs, 2 if a file is refused.
# shellcheck disable=SC2016 # backticks of Markdown
set -euf
export LC_ALL=C
base=$1 head=$2 report=$3
here=$(cd "$(dirname "$0")" && pwd)
runs_max=50 says_max=20000 seconds=120
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/files"

# Text that others wrote, as code in Markdown: no character of it ends the lines that begin with blanks.
quoted() {
  head -c "$says_max" | tr -c '\n -~' '?' | sed 's/^/    /'
  echo
}

# Writes a file into the folder, if the commit has it: copy COMMIT:PATH PATH.
copy() {
  git cat-file -e "$1" 2>/dev/null || return 1
  mkdir -p "$work/files/$(dirname "$2")"
  git cat-file blob "$1" >"$work/files/$2"
}

"$here/changes.sh" "$base" "$head" >"$work/changes"
sed -n 's/^new [0-9a-f]* //p' "$work/changes" | sed 's/\.sig$//' | sort -u >"$work/runs"
count=$(wc -l <"$work/runs")
while read -r kind blob path; do
  [ "$kind" != new ] || copy "$blob" "$path"
done <"$work/changes"
set -- runs verify
! copy "$base:signers" signers || set -- "$@" --signers signers

worst=0 consistent=0
: >"$work/report"
while [ "$count" -le "$runs_max" ] && read -r run; do
  code=0
  # A signature may be added to a run that is in the base.
  if [ -e "$work/files/$run" ] || copy "$base:$run" "$run"; then
    (cd "$work/files" && timeout "$seconds" dyno "$@" "$run") >"$work/says" 2>&1 </dev/null || code=$?
  else
    code=2 && echo 'a signature, and no run beside it' >"$work/says"
  fi
  case $code in
  0) level=consistent consistent=$((consistent + 1)) ;;
  1) level='intact, and not consistent' ;;
  *) level=refused code=2 ;;
  esac
  [ "$code" -le "$worst" ] || worst=$code
  { printf '## `%s`: %s\n\n' "$run" "$level" && quoted <"$work/says"; } >>"$work/report"
done <"$work/runs"
[ "$count" -le "$runs_max" ] || worst=2

{
  printf '# %s of %s runs are consistent\n\n' "$consistent" "$((count))"
  [ "$count" -le "$runs_max" ] || printf 'None was verified: add at most %s at once.\n\n' "$runs_max"
  cat "$work/report"
  if grep -q '^other ' "$work/changes"; then
    printf '## By hand\n\nNot new runs or signatures below `runs/`:\n\n'
    sed -n 's/^other //p' "$work/changes" | quoted
  fi
} >"$report"
exit "$worst"
