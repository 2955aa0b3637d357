#!/bin/sh
# Comments on a pull request whose runs were verified: comment.sh REPOSITORY OWNER BRANCH COMMIT RUN, in a clone of the
# repository. Needs gh, unzip, and GH_TOKEN. The report comes from a job that the pull request can change: it is
# bounded, and posted as code. The event says which pull request it is, and git what it changes.
# shellcheck disable=SC2016 # backticks of Markdown
set -euf
export LC_ALL=C
repository=$1 owner=$2 branch=$3 commit=$4 run=$5
marker='<!-- dyno board -->' label='by hand' report_max=40000 list_max=4000
here=$(cd "$(dirname "$0")" && pwd)
case $commit in '' | *[!0-9a-f]*) echo "\`$commit\` is no commit" >&2; exit 2 ;; esac
case $run in '' | *[!0-9]*) echo "\`$run\` is no run of a workflow" >&2; exit 2 ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# At most so many bytes of what others wrote, as code in Markdown: quoted BYTES.
quoted() {
  tr -c '\n -~' '?' | sed 's/^/    /' | head -c "$1"
  echo
}

found=$(gh api --method GET "repos/$repository/pulls" -f state=open -f "head=$owner:$branch" \
  --jq ".[] | select(.head.sha == \"$commit\") | \"\(.number) \(.base.sha)\"" | head -n 1)
number=${found%% *} base=${found#* }
case $number in '' | *[!0-9]*) echo "no open pull request has $commit" >&2; exit 0 ;; esac

# What cannot be listed, such as a history that shares nothing with the base, is judged by hand, too.
if git fetch --quiet --no-tags origin "$base" "$commit" && "$here/changes.sh" "$base" "$commit" >"$work/changes"; then
  sed -n 's/^other //p' "$work/changes" >"$work/others"
else
  echo 'what the pull request changes cannot be listed' >"$work/others"
fi
if [ -s "$work/others" ]; then
  gh api --method POST "repos/$repository/issues/$number/labels" -f "labels[]=$label" >/dev/null
else
  gh api --method DELETE "repos/$repository/issues/$number/labels/by%20hand" >/dev/null 2>&1 || :
fi

artifact=$(gh api "repos/$repository/actions/runs/$run/artifacts" \
  --jq '.artifacts[] | select(.name == "report" and .size_in_bytes < 1000000) | .id' | head -n 1)
: >"$work/report"
case $artifact in
'' | *[!0-9]*) ;;
*)
  # A single file is read, to this program: nothing is unpacked into a folder.
  if gh api "repos/$repository/actions/artifacts/$artifact/zip" >"$work/report.zip"; then
    unzip -p "$work/report.zip" report.md 2>/dev/null </dev/null | head -c "$report_max" >"$work/report" || :
  fi
  ;;
esac
{
  printf '%s\nOf commit %s.\n\n' "$marker" "$commit"
  if [ -s "$work/others" ]; then
    printf '**%s**: it changes more than new runs and signatures below `runs/`, so that a maintainer ' "$label"
    printf 'reads it, and its own files may have written the report below.\n\n'
    quoted "$list_max" <"$work/others"
  else
    printf 'It adds runs or signatures, and changes nothing else.\n\n'
  fi
  if [ -s "$work/report" ]; then
    printf 'The report of the verification:\n\n'
    quoted "$report_max" <"$work/report"
  else
    printf 'The verification left no report; its log says why.\n'
  fi
} >"$work/comment"
before=$(gh api --paginate "repos/$repository/issues/$number/comments" \
  --jq ".[] | select(.user.type == \"Bot\" and (.body | startswith(\"$marker\"))) | .id" | head -n 1)
if [ -n "$before" ]; then
  gh api --method PATCH "repos/$repository/issues/comments/$before" -F "body=@$work/comment" >/dev/null
else
  gh api --method POST "repos/$repository/issues/$number/comments" -F "body=@$work/comment" >/dev/null
fi
