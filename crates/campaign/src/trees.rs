//! Trees of files in which a side's subject lies: a folder, or a revision of a git repository, checked out once into the
//! user's cache.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use lab::Refusal;
use rustix::fs::{FlockOperation, flock};

use crate::places;

/// A revision, checked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    /// Its commit.
    pub commit: String,
    /// Where it is checked out.
    pub folder: PathBuf,
    /// The working tree has changes that are in no commit, and the revision is the one on which they were made.
    pub is_dirty: bool,
}

/// No revision's name is longer.
const LONGEST: usize = 256;

/// Checks a revision of the repository around `folder` out, unless that was done before. Nothing in the working tree
/// changes.
pub fn checked_out(folder: &Path, revision: &str) -> Result<Revision, Refusal> {
    let refused = |says: String| Refusal::new(format!("git:{}: {says}", revision.escape_debug()));
    let is_odd = revision.is_empty() || revision.starts_with('-') || LONGEST < revision.len();
    if is_odd || revision.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(refused("no revision has such a name".into()));
    }
    let top = git(folder, &["rev-parse", "--show-toplevel"])
        .map_err(|says| refused(format!("{} is in no git repository: {says}", folder.display())))?;
    let top = PathBuf::from(top);
    let named = format!("{revision}^{{commit}}");
    let commit = git(&top, &["rev-parse", "--verify", "--quiet", "--end-of-options", &named])
        .map_err(|_| {
            refused(format!(
                "{} has no such revision; `git fetch` may bring it (in CI: a checkout with its whole history)",
                top.display()
            ))
        })?;
    let head = git(&top, &["rev-parse", "HEAD"]).unwrap_or_default();
    let changes = git(&top, &["status", "--porcelain", "--untracked-files=no"]);
    let is_dirty = commit == head && changes.is_ok_and(|changes| !changes.is_empty());
    let to = place(&top, &commit)?;
    check_out(&top, &commit, &to).map_err(refused)?;
    Ok(Revision { commit, folder: to, is_dirty })
}

/// The top of the repository around a folder; the folder itself where there is none.
#[must_use]
pub fn top(folder: &Path) -> PathBuf {
    git(folder, &["rev-parse", "--show-toplevel"]).map_or_else(|_| folder.into(), PathBuf::from)
}

/// Where the project's folder is in the tree of a revision of its repository.
pub fn in_tree(project: &Path, tree: &Path) -> Result<PathBuf, Refusal> {
    let below = git(project, &["rev-parse", "--show-prefix"]).map_err(Refusal::new)?;
    Ok(tree.join(below))
}

/// The folder of a commit: below one that is the repository's own, as two may have the same commit and other filters.
fn place(top: &Path, commit: &str) -> Result<PathBuf, Refusal> {
    let digest = wire::sha256(top.as_os_str().as_encoded_bytes());
    let of_top = units::hex(&digest[..6]);
    let short: String = commit.chars().filter(char::is_ascii_hexdigit).take(40).collect();
    Ok(places::cache()?.join("trees").join(of_top).join(short))
}

/// The file beside a tree that says that all of it is there.
fn whole(tree: &Path) -> PathBuf {
    tree.with_extension("whole")
}

/// One dyno at a time checks trees of a repository out. Its git holds the lock, too: if dyno is killed, the next one waits
/// until that git has ended, which would otherwise write into the next one's tree, or remove it as its own failure.
fn check_out(top: &Path, commit: &str, to: &Path) -> Result<(), String> {
    let io = |error: std::io::Error| format!("{}: {error}", to.display());
    let trees = to.parent().unwrap_or(to);
    fs::create_dir_all(trees).map_err(io)?;
    let lock = File::create(trees.join("lock")).map_err(io)?;
    flock(&lock, FlockOperation::LockExclusive).map_err(|errno| io(errno.into()))?;
    if whole(to).exists() && to.is_dir() {
        return Ok(());
    }
    if to.exists() {
        fs::remove_dir_all(to).map_err(io)?;
    }
    let shown = to.to_str().ok_or_else(|| format!("{}: its name is not UTF-8", to.display()))?;
    // Once more than git asks for: it locks what it makes, and a git that was killed leaves it locked.
    let add = ["worktree", "add", "--quiet", "--force", "--force", "--detach", shown, commit];
    let add = || git_with(lock.try_clone().map_err(io)?.into(), top, &add);
    if let Err(says) = add() {
        match remove_half_made(top)? {
            0 => return Err(says),
            _ => add()?,
        };
    }
    fs::write(whole(to), "").map_err(io)
}

/// Git writes these files for each tree that it checks out; while one of them is empty, git refuses all work on trees.
const OF_EACH_TREE: [&str; 3] = ["gitdir", "HEAD", "commondir"];
/// What is being written is complete after this time.
const WRITTEN_WITHIN: Duration = Duration::from_millis(300);

/// Removes what a git that was killed wrote of trees that dyno had it check out, and says of how many. All other trees are
/// left as they are.
fn remove_half_made(top: &Path) -> Result<usize, String> {
    let common = git(top, &["rev-parse", "--path-format=absolute", "--git-common-dir"])?;
    let Ok(entries) = fs::read_dir(Path::new(&common).join("worktrees")) else { return Ok(0) };
    let is_half_made = |entry: &PathBuf| {
        let is_empty = |name| fs::metadata(entry.join(name)).map_or(true, |it| it.len() == 0);
        is_of_dyno(entry) && OF_EACH_TREE.iter().any(is_empty)
    };
    let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    found.retain(is_half_made);
    if !found.is_empty() {
        // Another dyno, with another cache, may be at work in this repository.
        std::thread::sleep(WRITTEN_WITHIN);
        found.retain(is_half_made);
    }
    for entry in &found {
        fs::remove_dir_all(entry).map_err(|error| format!("{}: {error}", entry.display()))?;
    }
    Ok(found.len())
}

/// Whether git's notes are of a tree of dyno's: named after its commit, as no user names one, with a number where git knew
/// the name already.
fn is_of_dyno(entry: &Path) -> bool {
    let name = entry.file_name().unwrap_or_default().to_string_lossy();
    let (hash, number) = name.split_at_checked(40).unwrap_or_default();
    hash.len() == 40
        && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
        && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// What git prints, without the line's end; or the last line of what it complains of.
pub fn git(folder: &Path, arguments: &[&str]) -> Result<String, String> {
    git_with(Stdio::null(), folder, arguments)
}

fn git_with(stdin: Stdio, folder: &Path, arguments: &[&str]) -> Result<String, String> {
    let ended = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(arguments)
        .stdin(stdin)
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        .output()
        .map_err(|error| format!("git cannot be run: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_string();
    if ended.status.success() {
        return Ok(text(&ended.stdout));
    }
    let said = text(&ended.stderr);
    let line = said.lines().last().unwrap_or("git failed, and did not say why");
    Err(line.chars().filter(|letter| !letter.is_control()).take(300).collect())
}
