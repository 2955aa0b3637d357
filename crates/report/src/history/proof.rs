//! The command that proves a change: it measures both commits side by side.

use lab::command;

use super::line::Line;
use super::origin::{DETECT, MadeBy, Side, SideKind};

/// The unit of a closed loop's place.
const CLOSED: &str = "connections";

/// A command, and what is said before it.
pub(super) struct Proof {
    pub(super) says: String,
    pub(super) command: String,
}

/// The commit that a line is of, if nothing was changed beside it.
pub(super) fn clean_commit(line: &Line) -> Option<String> {
    line.run.commit.clone().filter(|_| line.run.is_dirty != Some(true))
}

/// The command that measures both sides anew, or why there is none.
pub(super) fn proof(last: &Line, first: &Line) -> Result<Proof, String> {
    let (Some(old), Some(new)) = (clean_commit(last), clean_commit(first)) else {
        return Err(
            "it cannot be verified by `dyno gate`: one of the two runs has no commit".into()
        );
    };
    if old == new {
        return Err("both runs have the same commit: what changed is not in the repository".into());
    }
    let commits = [old.as_str(), &new];
    Ok(match (first.made_by, &first.side) {
        (MadeBy::Run, _) => of_run(first, commits),
        (MadeBy::Load, _) | (MadeBy::Race, None) => of_server(first, commits),
        (MadeBy::Race, Some(side)) => match side.kind {
            SideKind::Command if has_absolute_path(&side.text) => of_server(first, commits),
            SideKind::Command => of_command(first, commits, side),
            SideKind::Folder if side.text.starts_with('/') => of_server(first, commits),
            SideKind::Folder => of_folder(first, commits, &side.text),
            SideKind::Subject => of_folder(first, commits, &format!("subjects/{}", side.text)),
            SideKind::Url => of_server(first, commits),
        },
    })
}

fn of_run(line: &Line, [old, new]: [&str; 2]) -> Proof {
    let (base, head) = (format!("git:{old}"), format!("git:{new}"));
    let words = ["dyno", "gate", &line.experiment, "--server", &line.subject];
    let words = [&words[..], &["--base", &base, "--head", &head]].concat();
    Proof { says: "to verify it:".into(), command: shown(words, &[]) }
}

/// A server that runs already is started by a command that no history knows.
fn of_server(line: &Line, commits: [&str; 2]) -> Proof {
    let says = format!(
        "to verify it, where BASE and HEAD are the commands that start the server at commit {} and at {}:",
        short(commits[0]),
        short(commits[1])
    );
    Proof { says, command: of_two(line, ["BASE", "HEAD"]) }
}

/// Such a command starts the same program in every folder.
fn has_absolute_path(command: &str) -> bool {
    command.split([' ', '\'', '"', '=']).any(|word| word.starts_with('/'))
}

fn of_command(line: &Line, commits: [&str; 2], side: &Side) -> Proof {
    // `env -C` starts a command in another folder, without a shell.
    let within = |folder: &str| format!("env -C {folder} {}", side.text);
    Proof { says: worktrees(commits), command: of_two(line, [&within("base"), &within("head")]) }
}

/// A folder with subject.toml, in both trees.
fn of_folder(line: &Line, commits: [&str; 2], place: &str) -> Proof {
    let [base, head] = ["base", "head"].map(|tree| format!("{tree}/{place}"));
    Proof { says: worktrees(commits), command: of_race(line, [&base, &head]) }
}

fn worktrees([old, new]: [&str; 2]) -> String {
    format!(
        "to verify it, once both commits are built in worktrees (`git worktree add --detach base {}`, \
         `git worktree add --detach head {}`):",
        short(old),
        short(new)
    )
}

/// A gate measures a closed loop. A rate is offered to both sides by a race, which answers in the same words.
fn of_two(line: &Line, sides: [&str; 2]) -> String {
    match line.point_unit == CLOSED {
        true => {
            let [base, head] = sides;
            shown(vec!["dyno", "gate", "--base-cmd", base, "--head-cmd", head], &line.flags)
        }
        false => of_race(line, sides),
    }
}

fn of_race(line: &Line, [base, head]: [&str; 2]) -> String {
    let mut words = vec!["dyno", "race", base, head];
    if line.point_unit == CLOSED {
        words.extend(["--detect", DETECT]);
    }
    shown(words, &line.flags)
}

fn shown(words: Vec<&str>, flags: &[String]) -> String {
    let words = words.into_iter().chain(flags.iter().map(String::as_str)).map(String::from);
    command::shown(&words.collect::<Vec<_>>())
}

fn short(commit: &str) -> &str {
    &commit[..commit.len().min(12)]
}
