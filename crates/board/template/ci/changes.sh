#!/bin/sh
# What a pull request changes, a line for each file: changes.sh BASE HEAD. `new BLOB PATH` is a run, or the signature of
# one, that is new below runs/; `other STATUS PATH` is anything else, which a person has to judge. What is compared are
# lists of git: no file of the pull request is checked out.
set -euf
export LC_ALL=C
base=$1 head=$2
tab=$(printf '\t')
for commit in "$base" "$head"; do
  case $commit in '' | *[!0-9a-f]*) echo "\`$commit\` is no commit" >&2; exit 2 ;; esac
done

# Git writes a name with quotes, blanks, control characters or other letters in quotation marks, and so in one line: no
# such name is one of a run.
is_name_of_run() {
  case $1 in
  *[!A-Za-z0-9._/-]* | */.* | */-* | *//*) return 1 ;;
  runs/*.dyno | runs/*.dyno.sig) return 0 ;;
  *) return 1 ;;
  esac
}

from=$(git merge-base "$base" "$head")
changed=$(git -c core.quotePath=true diff-tree -r --raw --no-renames --no-abbrev "$from" "$head")
while IFS= read -r line; do
  [ -n "$line" ] || continue
  path=${line#*"$tab"}
  # shellcheck disable=SC2086 # the old mode, the new one, the old blob, the new one, and what became of the file
  set -- ${line%%"$tab"*}
  kind="other $5"
  # A plain file, which was not added to the base meanwhile, and is no larger than dyno reads.
  if [ "$2 $5" = '100644 A' ] && is_name_of_run "$path" &&
    ! git cat-file -e "$base:$path" 2>/dev/null && [ "$(git cat-file -s "$4")" -le 16777216 ]; then
    kind="new $4"
  fi
  printf '%s %s\n' "$kind" "$path"
done <<END
$changed
END
