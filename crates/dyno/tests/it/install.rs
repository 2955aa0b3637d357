//! `make install`: the program, a manual page for each command, and completions that a shell understands.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::folder::Folder;
use crate::lab_rig::not_tested;

/// A folder into which dyno is installed, until it is dropped.
struct Installed(Folder);

impl Installed {
    fn new() -> Installed {
        let installed = Installed(Folder::new());
        let made = installed.make("install");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        installed
    }

    /// Installs the dyno that these tests run, without building another one.
    fn make(&self, goal: &str) -> Output {
        let mut make = Command::new("make");
        make.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
        make.args(["--assume-old=build", goal, "PREFIX=/usr"]);
        make.arg(format!("DYNO={}", env!("CARGO_BIN_EXE_dyno")));
        make.arg(format!("DESTDIR={}", self.0.root.display()));
        make.env_remove("MAKEFLAGS").env_remove("MAKELEVEL").output().unwrap()
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.root.join("usr").join(path)
    }

    /// All files, without the folder.
    fn files(&self) -> Vec<String> {
        let found = Command::new("find").arg(&self.0.root).args(["-type", "f"]).output().unwrap();
        let root = format!("{}/usr/", self.0.root.display());
        String::from_utf8(found.stdout).unwrap().lines().map(|it| it.replace(&root, "")).collect()
    }
}

/// The commands that `dyno --help` lists.
pub(crate) fn commands() -> Vec<String> {
    commands_of(&[])
}

/// The commands that the help of this command lists.
pub(crate) fn commands_of(command: &[&str]) -> Vec<String> {
    let mut dyno = Command::new(env!("CARGO_BIN_EXE_dyno"));
    let help = dyno.args(command).arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let lines = help.lines().skip_while(|line| !["Measure:", "Commands:"].contains(line));
    let lines = lines.take_while(|line| *line != "Options:");
    let lines = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = lines.map(|line| line.split_whitespace().next().unwrap().to_string());
    names.filter(|name| name != "help").collect()
}

#[test]
fn every_command_has_a_page_and_completions_and_nothing_stays_when_it_is_uninstalled() {
    let installed = Installed::new();
    let commands = commands();
    assert!(10 < commands.len(), "{commands:?}");
    bash_completes_commands_and_flags(&installed, commands.len());
    zsh_and_fish_read_their_scripts(&installed);
    man_shows_the_pages_without_a_warning(&installed);
    let below = ["servers", "runs", "agents"].map(|of| (of, commands_of(&[of])));
    assert!(below.iter().all(|(_, all)| 3 < all.len()), "{below:?}");
    let below = below.iter().flat_map(|(of, all)| all.iter().map(move |it| format!("{of}-{it}")));
    let names = commands.into_iter().chain(below);
    let mut expected: Vec<String> =
        names.map(|name| format!("share/man/man1/dyno-{name}.1")).collect();
    let others = [
        "bin/dyno",
        "share/bash-completion/completions/dyno",
        "share/fish/vendor_completions.d/dyno.fish",
        "share/man/man1/dyno.1",
        "share/zsh/site-functions/_dyno",
    ];
    expected.extend(others.map(String::from));
    expected.sort();
    let mut files = installed.files();
    files.sort();
    assert_eq!(files, expected);
    assert!(installed.make("uninstall").status.success());
    assert_eq!(installed.files(), Vec::<String>::new());
}

/// Sources the installed script, and asks it as bash does when the user presses Tab after these words.
const TAB: &str = r#"source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_dyno dyno "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}""#;

fn bash_completes_commands_and_flags(installed: &Installed, commands: usize) {
    let script = installed.path("share/bash-completion/completions/dyno");
    let completed = |words: &[&str]| -> Vec<String> {
        let mut bash = Command::new("bash");
        let ran = bash.args(["-c", TAB, "bash"]).arg(&script).args(words).output().unwrap();
        assert!(ran.stderr.is_empty(), "{}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).unwrap().lines().map(String::from).collect()
    };
    assert_eq!(completed(&["dyno", "lo"]), ["load"]);
    assert_eq!(completed(&["dyno", "load", "--max-c"]), ["--max-connections"]);
    assert_eq!(completed(&["dyno", "load", "--spin", "n"]), ["never"]);
    assert_eq!(completed(&["dyno", "report", "--format", "s"]), ["svg"]);
    let all = completed(&["dyno", ""]);
    let all: Vec<&String> = all.iter().filter(|word| !word.starts_with('-')).collect();
    assert_eq!(all.len(), commands + 1, "and `help`: {all:?}");
}

fn zsh_and_fish_read_their_scripts(installed: &Installed) {
    for (shell, script) in
        [("zsh", "zsh/site-functions/_dyno"), ("fish", "fish/vendor_completions.d/dyno.fish")]
    {
        let script = installed.path("share").join(script);
        match Command::new(shell).arg("-n").arg(script).output() {
            Err(_) => not_tested("the completions of a shell", shell),
            Ok(ran) => assert!(ran.status.success() && ran.stderr.is_empty(), "{shell}: {ran:?}"),
        }
    }
}

fn man_shows_the_pages_without_a_warning(installed: &Installed) {
    for name in ["dyno", "dyno-load", "dyno-compare"] {
        let page = installed.path("share/man/man1").join(format!("{name}.1"));
        let mut man = Command::new("man");
        man.args(["--warnings", "-l"]).arg(page).env("LC_ALL", "C.UTF-8").env("MANWIDTH", "80");
        let Ok(ran) = man.output() else {
            return not_tested("how the pages of the manual look", "man");
        };
        let shown = String::from_utf8(ran.stdout).unwrap();
        assert!(ran.status.success() && ran.stderr.is_empty(), "{name}: {shown}");
        for heading in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "EXIT STATUS"] {
            assert!(shown.lines().any(|line| line == heading), "{name} has no {heading}: {shown}");
        }
    }
}
