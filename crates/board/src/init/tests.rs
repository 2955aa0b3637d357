//! A new board is whole, and the scripts of its CI do what they should in a repository, beside a dyno and a gh that
//! write down how they are called.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::de::DeserializeOwned;

use super::files;
use crate::settings::{About, Round, Settings, Superseded, is_id};
use crate::slug::https;
use crate::{Disk, site};

/// A run is what it says here.
const DYNO: &str = "#!/bin/sh
echo \"$*\" >>$RIG/dyno-calls
[ ! -e signers ] || cp signers $RIG/dyno-signers
for file; do :; done
cat \"$file\"
case $(head -n 1 \"$file\") in good) exit 0 ;; false) exit 1 ;; *) exit 2 ;; esac
";
/// It has pull request 7, which goes into `$BASE`, and an artifact.
const GH: &str = "#!/bin/sh
echo \"$*\" >>$RIG/gh-calls
for argument; do case $argument in body=@*) cp \"${argument#body=@}\" $RIG/posted ;; esac; done
case \"$*\" in
*--method\\ GET*) echo \"$PULLS\" ;;
*/artifacts\\ *) echo 5 ;;
*/zip) cat $RIG/artifact ;;
*--paginate*) echo \"$COMMENTS\" ;;
esac
";
const UNZIP: &str = "#!/bin/sh\nexec cat \"$2\"\n";

/// A folder with a board's repository, a clone of its branch `main`, and programs that come first in the path.
struct Rig {
    root: PathBuf,
}

impl Drop for Rig {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

fn write(path: &Path, bytes: &[u8], is_executable: bool) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
    let mode = if is_executable { 0o755 } else { 0o644 };
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

impl Rig {
    fn new() -> Rig {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("dyno-board-init-{}-{number}", std::process::id());
        let rig = Rig { root: std::env::temp_dir().join(name) };
        for (path, text, is_executable) in files() {
            write(&rig.root.join("board").join(path), text.as_bytes(), is_executable);
        }
        for (name, text) in [("dyno", DYNO), ("gh", GH), ("unzip", UNZIP)] {
            write(&rig.root.join("programs").join(name), text.as_bytes(), true);
        }
        fs::create_dir(rig.root.join("temporary")).unwrap();
        rig.add("runs/old.dyno", "good");
        rig.git(&["init", "--quiet", "--initial-branch", "main"]);
        rig.commit();
        rig
    }

    fn add(&self, path: &str, text: &str) {
        write(&self.root.join("board").join(path), text.as_bytes(), false);
    }

    fn command(&self, program: &str, folder: &str) -> Command {
        let mut command = Command::new(program);
        let path = std::env::var("PATH").unwrap();
        command
            .current_dir(self.root.join(folder))
            .env("PATH", format!("{}:{path}", self.root.join("programs").display()))
            .env("RIG", &self.root)
            .env("TMPDIR", self.root.join("temporary"))
            .envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_SYSTEM", "/dev/null")])
            .envs([("GIT_AUTHOR_NAME", "a"), ("GIT_AUTHOR_EMAIL", "a@example.org")])
            .envs([("GIT_COMMITTER_NAME", "a"), ("GIT_COMMITTER_EMAIL", "a@example.org")]);
        command
    }

    fn git(&self, arguments: &[&str]) -> String {
        let ended = self.command("git", "board").args(arguments).output().unwrap();
        assert!(ended.status.success(), "git {arguments:?}: {ended:?}");
        String::from_utf8(ended.stdout).unwrap().trim().to_string()
    }

    /// Commits all that is there, and says which commit it is.
    fn commit(&self) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", "it"]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// The base, and the head of a pull request with these changes.
    fn pull(&self, change: impl FnOnce(&Path)) -> (String, String) {
        let base = self.git(&["rev-parse", "main"]);
        self.git(&["checkout", "--quiet", "-B", "pull", "main"]);
        change(&self.root.join("board"));
        let head = self.commit();
        self.git(&["checkout", "--quiet", "main"]);
        (base, head)
    }

    fn script(&self, name: &str, folder: &str) -> Command {
        let script = self.root.join("board/ci").join(name);
        self.command(script.to_str().unwrap(), folder)
    }

    fn changes(&self, base: &str, head: &str) -> Vec<String> {
        let ended = self.script("changes.sh", "board").args([base, head]).output().unwrap();
        assert!(ended.status.success(), "{ended:?}");
        String::from_utf8(ended.stdout).unwrap().lines().map(String::from).collect()
    }

    /// The exit code and the report of a verification.
    fn verify(&self, (base, head): &(String, String)) -> (Option<i32>, String) {
        let report = self.root.join("report.md");
        let ended = self.script("verify.sh", "board").args([base, head]).arg(&report).output();
        (ended.unwrap().status.code(), fs::read_to_string(report).unwrap_or_default())
    }

    /// How gh was called, and what it posted.
    fn comment(&self, (base, head): &(String, String), before: &str) -> (Output, String, String) {
        let _ = fs::remove_dir_all(self.root.join("clone"));
        let _ = fs::remove_file(self.root.join("gh-calls"));
        let from = format!("file://{}", self.root.join("board").display());
        self.git(&["clone", "--quiet", "--single-branch", "--branch", "main", &from, "../clone"]);
        let mut command = self.script("comment.sh", "clone");
        command.env("PULLS", format!("7 {base}")).env("COMMENTS", before);
        command.args(["own/board", "forker", "a branch", head, "99"]);
        let ended = command.output().unwrap();
        let read = |name: &str| fs::read_to_string(self.root.join(name)).unwrap_or_default();
        (ended, read("gh-calls"), read("posted"))
    }
}

fn names(lines: &[String], kind: &str) -> Vec<String> {
    let found = lines.iter().filter_map(|line| line.strip_prefix(kind));
    found.map(|rest| rest.split_once(' ').unwrap().1.to_string()).collect()
}

#[test]
fn a_new_board_has_every_file_of_the_template_and_names_no_other() {
    fn below(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { below(&path, found) } else { found.push(path) }
        }
    }
    let template = Path::new(env!("CARGO_MANIFEST_DIR")).join("template");
    let mut there = Vec::new();
    below(&template, &mut there);
    let relative = |path: &PathBuf| path.strip_prefix(&template).unwrap().display().to_string();
    let mut there: Vec<String> = there.iter().map(relative).collect();
    there.sort();
    assert_eq!(there, files().iter().map(|(path, ..)| path.to_string()).collect::<Vec<_>>());
    for (path, text, is_executable) in files() {
        assert_eq!(is_executable, path.ends_with(".sh"), "{path}");
        assert!(!text.contains("{version}"), "{path}");
    }
}

#[test]
fn workflows_have_no_secrets_and_write_only_where_nothing_of_a_pull_request_is_run() {
    let all = files();
    let text = |path: &str| {
        all.iter().find(|it| it.0 == path).map(|it| it.1.clone()).expect("the template has it")
    };
    let (verify, comment) =
        (text(".github/workflows/verify.yml"), text(".github/workflows/comment.yml"));
    assert!(!verify.contains(": write"), "{verify}");
    assert!(verify.contains("on: pull_request\npermissions:\n  contents: read\njobs:"));
    assert!(comment.contains("on:\n  workflow_run:\n    workflows: [verify]\n"));
    assert!(verify.contains("name: verify\n") && verify.contains("name: report\n"));
    for workflow in [&verify, &comment] {
        for forbidden in ["secrets.", "pull_request_target", "\t", "id-token"] {
            assert!(!workflow.contains(forbidden), "{forbidden}");
        }
        // What others choose reaches a shell by its environment only.
        let runs = workflow.lines().filter(|line| line.contains("run: "));
        for line in runs {
            assert!(!line.contains("${{"), "{line}");
            let scripts = line.split_whitespace().filter(|word| word.starts_with("ci/"));
            scripts.for_each(|script| assert!(all.iter().any(|it| it.0 == script), "{script}"));
        }
    }
}

#[test]
fn linters_find_nothing_where_they_are_installed() {
    let rig = Rig::new();
    let run =
        |program: &str, arguments: &[&str]| rig.command(program, "board").args(arguments).output();
    for script in ["ci/changes.sh", "ci/verify.sh", "ci/comment.sh"] {
        assert!(run("sh", &["-n", script]).unwrap().status.success(), "{script}");
        let Ok(found) = run("shellcheck", &["--shell", "sh", script]) else { continue };
        assert!(found.status.success(), "{}", String::from_utf8_lossy(&found.stdout));
    }
    for workflow in [".github/workflows/verify.yml", ".github/workflows/comment.yml"] {
        if let Ok(found) = run("actionlint", &[workflow]) {
            assert!(found.status.success(), "{}", String::from_utf8_lossy(&found.stdout));
        }
        let parse = "import sys, yaml; yaml.safe_load(open(sys.argv[1]))";
        let has_yaml = run("python3", &["-c", "import yaml"]).is_ok_and(|it| it.status.success());
        if has_yaml {
            let parsed = run("python3", &["-c", parse, workflow]).unwrap();
            assert!(parsed.status.success(), "{}", String::from_utf8_lossy(&parsed.stderr));
        }
    }
}

#[test]
fn only_new_runs_and_their_signatures_are_not_by_hand() {
    let rig = Rig::new();
    let hostile = [
        "runs/--.dyno",
        "runs/-rf.dyno",
        "runs/a`id`.dyno",
        "runs/$(id).dyno",
        "runs/a b.dyno",
        "runs/\u{e4}.dyno",
        "runs/a\nnew 0123 runs/b.dyno",
        "runs/a\tb.dyno",
        "runs/\"a.dyno",
        "runs/.a.dyno",
        "runs/.github/a.dyno",
        "runs/a.dyno.exe",
        "runs/notes.md",
        "a.dyno",
        "Runs/a.dyno",
        "signers.dyno",
    ];
    let (base, head) = rig.pull(|board| {
        rig.add("runs/new.dyno", "good");
        rig.add("runs/2026-12/deep.dyno", "good");
        rig.add("runs/new.dyno.sig", "signed");
        hostile.iter().for_each(|path| rig.add(path, "good"));
        rig.add("signers", "# mine");
        fs::remove_file(board.join("runs/old.dyno")).unwrap();
        fs::rename(board.join("RULES.md"), board.join("runs/rules.dyno")).unwrap();
        symlink("../signers", board.join("runs/link.dyno")).unwrap();
        write(&board.join("runs/program.dyno"), b"good", true);
        fs::write(board.join("runs/large.dyno"), vec![0; (16 << 20) + 1]).unwrap();
        let commit = rig.git(&["rev-parse", "main"]);
        let module = format!("160000,{commit},runs/module.dyno");
        rig.git(&["update-index", "--add", "--cacheinfo", &module]);
    });
    let lines = rig.changes(&base, &head);
    let mut new = names(&lines, "new ");
    new.sort();
    assert_eq!(
        new,
        ["runs/2026-12/deep.dyno", "runs/new.dyno", "runs/new.dyno.sig", "runs/rules.dyno"]
    );
    let others = names(&lines, "other ");
    assert_eq!(others.len(), lines.len() - new.len(), "each has a line: {lines:?}");
    let plain = [
        "RULES.md",
        "signers",
        "runs/old.dyno",
        "runs/link.dyno",
        "runs/program.dyno",
        "runs/large.dyno",
        "runs/--.dyno",
        "a.dyno",
        "runs/notes.md",
    ];
    for name in plain {
        assert!(others.iter().any(|it| it == name), "{name}: {others:?}");
    }
    assert!(others.iter().any(|it| it.starts_with("\"runs/a\\n")), "{others:?}");
    assert_eq!(others.len(), hostile.len() + 6, "{others:?}");
}

#[test]
fn a_run_that_the_base_has_meanwhile_is_by_hand_and_what_is_no_commit_is_refused() {
    let rig = Rig::new();
    let (_, head) = rig.pull(|_| rig.add("runs/new.dyno", "good"));
    rig.add("runs/new.dyno", "another");
    let base = rig.commit();
    assert_eq!(names(&rig.changes(&base, &head), "other "), ["runs/new.dyno"]);
    for wrong in ["", "--output=x", "main"] {
        let ended = rig.script("changes.sh", "board").args([&base, wrong]).output().unwrap();
        assert_eq!(ended.status.code(), Some(2), "{wrong}");
    }
}

#[test]
fn each_new_run_is_verified_by_the_signers_of_the_base() {
    let rig = Rig::new();
    let pull = rig.pull(|_| {
        rig.add("runs/a.dyno", "good\n```\n<script>\rx\u{202e}");
        rig.add("runs/a.dyno.sig", "signed");
        rig.add("runs/old.dyno.sig", "signed");
    });
    let (code, report) = rig.verify(&pull);
    assert_eq!(code, Some(0), "{report}");
    assert!(report.starts_with("# 2 of 2 runs are consistent\n"), "{report}");
    assert!(
        report.contains("\n## `runs/a.dyno`: consistent\n\n    good\n    ```\n    <script>?x???")
    );
    assert!(!report.contains("By hand"), "{report}");
    let calls = fs::read_to_string(rig.root.join("dyno-calls")).unwrap();
    let verified = "runs verify --signers signers runs/";
    assert_eq!(calls, format!("{verified}a.dyno\n{verified}old.dyno\n"));
    let left = fs::read_dir(rig.root.join("temporary")).unwrap().count();
    assert_eq!(left, 0, "nothing is left behind");

    let pull = rig.pull(|_| {
        rig.add("runs/b.dyno", "false");
        rig.add("runs/c.dyno.sig", "signed");
        rig.add("signers", "mine");
        rig.add("ci/verify.sh", "#!/bin/sh\nexit 0");
    });
    let (code, report) = rig.verify(&pull);
    assert_eq!(code, Some(2), "a signature of nothing: {report}");
    assert!(report.contains("`runs/b.dyno`: intact, and not consistent\n\n    false"), "{report}");
    assert!(report.contains("`runs/c.dyno`: refused"), "{report}");
    assert!(report.contains("    M ci/verify.sh\n    M signers\n"), "{report}");
    let signers = fs::read_to_string(rig.root.join("dyno-signers")).unwrap();
    assert!(signers.starts_with("# Who may sign"), "{signers}");
}

#[test]
fn a_pull_request_of_too_many_runs_is_not_verified() {
    let rig = Rig::new();
    let pull = rig.pull(|_| (0..51).for_each(|it| rig.add(&format!("runs/{it}.dyno"), "good")));
    let (code, report) = rig.verify(&pull);
    assert_eq!(code, Some(2), "{report}");
    assert!(report.starts_with("# 0 of 51 runs are consistent\n\nNone was verified"), "{report}");
    assert!(!rig.root.join("dyno-calls").exists());
}

#[test]
fn a_comment_says_what_the_report_says_as_text_and_labels_what_is_by_hand() {
    let rig = Rig::new();
    let hostile =
        "# fine\r# forged\n```\n</pre><b>\u{202e}@all\n".to_string() + &"\n".repeat(90_000);
    fs::write(rig.root.join("artifact"), hostile).unwrap();
    let pull = rig.pull(|_| rig.add("runs/a.dyno", "good"));
    let (ended, calls, posted) = rig.comment(&pull, "");
    assert!(ended.status.success(), "{ended:?}");
    assert!(calls.contains("--method DELETE repos/own/board/issues/7/labels/by%20hand"), "{calls}");
    assert!(!calls.contains("labels[]"), "{calls}");
    assert!(calls.contains("--method POST repos/own/board/issues/7/comments"), "{calls}");
    assert!(posted.starts_with("<!-- dyno board -->\n"), "{posted}");
    let (_, report) = posted.split_once("The report of the verification:\n\n").unwrap();
    assert!(
        report.lines().all(|line| line.trim().is_empty() || line.starts_with("    ")),
        "{report}"
    );
    assert!(report.contains("    # fine?# forged\n    ```\n    </pre><b>???@all\n"));
    assert!(report.is_ascii() && posted.len() < 65_536, "{}", posted.len());

    let pull = rig.pull(|board| {
        rig.add("runs/a.dyno", "good");
        rig.add("`<b>`", "x");
        fs::remove_file(board.join("RULES.md")).unwrap();
    });
    let (ended, calls, posted) = rig.comment(&pull, "12");
    assert!(ended.status.success(), "{ended:?}");
    assert!(calls.contains("repos/own/board/issues/7/labels -f labels[]=by hand"), "{calls}");
    assert!(calls.contains("--method PATCH repos/own/board/issues/comments/12"), "{calls}");
    assert!(posted.contains("\n\n    D RULES.md\n    A `<b>`\n"), "{posted}");
}

#[test]
fn what_shares_no_history_with_the_base_is_by_hand_and_what_is_not_open_gets_no_comment() {
    let rig = Rig::new();
    let base = rig.git(&["rev-parse", "main"]);
    rig.git(&["checkout", "--quiet", "--orphan", "other"]);
    rig.add("runs/a.dyno", "good");
    let head = rig.commit();
    rig.git(&["checkout", "--quiet", "main"]);
    let (ended, calls, posted) = rig.comment(&(base, head.clone()), "");
    assert!(ended.status.success(), "{ended:?}");
    assert!(calls.contains("labels[]=by hand"), "{calls}");
    assert!(posted.contains("cannot be listed"), "{posted}");
    let mut closed = rig.script("comment.sh", "clone");
    closed.env("PULLS", "").args(["own/board", "forker", "branch", &head, "99"]);
    let _ = fs::remove_file(rig.root.join("gh-calls"));
    assert!(closed.output().unwrap().status.success());
    let calls = fs::read_to_string(rig.root.join("gh-calls")).unwrap();
    assert_eq!(calls.lines().count(), 1, "it only asks which pull request it is: {calls}");
    for (commit, run) in [("\") or true", "99"), (&head, "9/../../x")] {
        let mut wrong = rig.script("comment.sh", "clone");
        wrong.args(["own/board", "forker", "branch", commit, run]);
        assert_eq!(wrong.output().unwrap().status.code(), Some(2));
    }
}

/// The example in the README of a folder, as a file of that folder.
fn example<T: DeserializeOwned>(readme: &str) -> T {
    let (_, text, _) = files().into_iter().find(|file| file.0 == readme).unwrap();
    toml::from_str(text.split("```").nth(1).unwrap().strip_prefix("toml\n").unwrap()).unwrap()
}

#[test]
fn a_new_board_is_a_site_without_runs_and_the_examples_of_its_pages_are_read() {
    let rig = Rig::new();
    fs::remove_file(rig.root.join("board/runs/old.dyno")).unwrap();
    let built = site(&Disk {
        folder: rig.root.join("board"),
        site: rig.root.join("site"),
        signed: |_, _| String::new(),
    });
    let built = built.unwrap();
    assert_eq!((built.runs, built.refused.len()), (0, 0));
    assert!(rig.root.join("site/index.html").exists());
    let machine: About = example("machines/README.md");
    let server: About = example("servers/README.md");
    assert!(server.links.iter().chain(&machine.links).all(|link| https(link).is_some()));
    let round: Round = example("rounds/README.md");
    let superseded: Superseded = example("superseded/README.md");
    let id = "0123456789abcdef".repeat(4);
    assert!(is_id(&round.runs[0], &id) && is_id(&superseded.run, &id));
    // The presets that are commented out.
    let (_, text, _) = files().into_iter().find(|file| file.0 == "board.toml").unwrap();
    let keys = ["[[presets", "title", "workload", "compare"];
    let text = keys
        .iter()
        .fold(text, |text, key| text.replace(&format!("\n# {key}"), &format!("\n{key}")));
    let settings: Settings = toml::from_str(&text).unwrap();
    assert_eq!(settings.presets.len(), 2);
}
