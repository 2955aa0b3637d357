//! An installed dyno, in an empty folder of a user with an empty home: it runs what it carries.

use std::fs;
use std::ops::Deref;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::PathBuf;
use std::process::Command;

use crate::folder::Folder;
use crate::lab_rig::is_root;
use crate::rig::{Going, Ran};

/// A user's home, and a folder of this user's; both are empty at first.
struct User(Folder);

impl User {
    fn new() -> User {
        let folder = Folder::new();
        ["home", "here"].iter().for_each(|it| fs::create_dir(folder.root.join(it)).unwrap());
        User(folder)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dyno"));
        command.args(arguments).current_dir(self.here()).env("HOME", self.home());
        for name in ["XDG_CACHE_HOME", "XDG_STATE_HOME", "COLUMNS", "SUDO_UID", "SUDO_GID"] {
            command.env_remove(name);
        }
        command
    }

    fn dyno(&self, arguments: &[&str]) -> Ran {
        Going::start(self.command(arguments)).end()
    }

    fn home(&self) -> PathBuf {
        self.0.root.join("home")
    }

    fn here(&self) -> PathBuf {
        self.0.root.join("here")
    }
}

impl Deref for User {
    type Target = Folder;

    fn deref(&self) -> &Folder {
        &self.0
    }
}

const ONE_SERVER: &str = "question = 'Which?'\nsubjects = ['oracle']\nworkload = 'hello'\n\
    load = { closed = { connections = 2 }, total = 200, warmup = '0s' }\n\
    trials = { repeat = 1, pause = '0s', check = false }\n";

#[test]
fn what_dyno_carries_is_listed_set_up_run_and_kept_for_the_user() {
    let user = User::new();
    let list = user.dyno(&["servers", "list", "--json"]).status(0).json();
    assert_eq!(list["is_embedded"], true);
    let all = |kind: &str| list[kind].as_array().unwrap().len();
    assert!(20 < all("subjects") && 5 < all("experiments") && 5 < all("workloads"), "{list}");
    user.dyno(&["servers", "list"]).status(0).stdout_has("`dyno servers init DIR` writes it out");
    user.dyno(&["servers", "setup", "oracle"]).status(0).stderr_has("oracle: ready");
    user.dyno(&["run", "demo", "--dry-run"]).status(0).stdout_has("oracle");
    assert_eq!(user.names("here"), Vec::<String>::new(), "nothing is written here");
    assert_eq!(user.names("home"), [".cache"], "nothing is kept before a run");

    user.write("here/mine.toml", ONE_SERVER);
    user.dyno(&["run", "./mine.toml"])
        .measured()
        .stdout_has(".local/state/dyno/reports/1-mine.html");
    assert_eq!(user.names("here"), ["mine.toml"]);
    assert_eq!(user.names("home/.local/state/dyno"), ["reports", "run.lock", "runs.sqlite"]);
    assert!(user.home().join(".cache/dyno/builds/oracle").is_dir());
    user.dyno(&["report", "1", "--format", "csv"]).status(0).stdout_has("oracle");
    user.dyno(&["runs", "list"]).status(0).stdout_has("1 of 1 trials");
    user.dyno(&["run", "mine"]).status(2).stderr_has("this folder is in no project");
}

#[test]
fn a_missing_toolchain_is_named_with_the_way_to_get_it_on_this_machine() {
    let user = User::new();
    let lack = |path: &str| {
        let mut command = user.command(&["servers", "list", "--json"]);
        command.env("PATH", path);
        let list = Going::start(command).end().status(0).json();
        let rows = list["subjects"].as_array().unwrap();
        let row = rows.iter().find(|row| row["name"] == "node-http").unwrap();
        row["lack"].as_str().unwrap().to_string()
    };
    let packages = "elsewhere see https://nodejs.org";
    let without = lack("/nowhere");
    assert!(without.contains("needs `node` and `npm`; on Debian") && without.contains(packages));
    let bin = user.root.join("bin");
    fs::create_dir(&bin).unwrap();
    symlink("/bin/true", bin.join("apt-get")).unwrap();
    let with = lack(bin.to_str().unwrap());
    assert!(with.contains("`dyno servers setup node-http --yes` installs nodejs npm"), "{with}");
}

#[test]
fn the_folders_that_the_user_chose_are_used() {
    let user = User::new();
    let mut command = user.command(&["servers", "setup", "oracle"]);
    command.env("XDG_CACHE_HOME", user.root.join("cache")).env_remove("HOME");
    let refusal = "neither XDG_STATE_HOME nor HOME names a folder";
    Going::start(command).end().status(2).stderr_has(refusal);
    let mut command = user.command(&["servers", "setup", "oracle"]);
    // A path that is not absolute is to be ignored.
    command.env("XDG_CACHE_HOME", user.root.join("cache")).env("XDG_STATE_HOME", "relative");
    Going::start(command).end().status(0);
    assert!(user.root.join("cache/dyno/builds/oracle").is_dir());
    assert!(user.names("home").is_empty() && user.names("here").is_empty());
}

#[test]
fn a_cache_that_cannot_be_written_is_named() {
    let user = User::new();
    user.write("home/.cache", "a file");
    user.dyno(&["servers", "list"])
        .status(2)
        .stderr_has("set XDG_CACHE_HOME to a folder that you may write");
}

#[test]
fn the_tree_is_written_out_to_be_changed_and_wins_then() {
    let user = User::new();
    user.dyno(&["servers", "init", "mine"])
        .status(0)
        .stdout_has("next: cd mine; dyno servers list");
    user.dyno(&["servers", "init", "mine"]).status(2).stderr_has("this folder is not empty");
    user.write("here/file", "text");
    user.dyno(&["servers", "init", "file"]).status(2).stderr_has("file: ");
    assert_eq!(
        user.names("here/mine"),
        ["experiments", "probes", "services", "subjects", "workloads"]
    );
    fs::remove_dir_all(user.here().join("mine/subjects/hyper")).unwrap();
    let mut command = user.command(&["servers", "list", "--json"]);
    command.current_dir(user.here().join("mine/subjects"));
    let list = Going::start(command).end().status(0).json();
    assert_eq!(list["is_embedded"], false);
    let subjects = list["subjects"].as_array().unwrap();
    assert!(20 < subjects.len() && subjects.iter().all(|row| row["name"] != "hyper"));
    assert!(user.names("home").is_empty(), "a project needs no cache folder");
}

#[test]
fn under_sudo_the_builds_belong_to_the_caller() {
    if !is_root("that builds belong to the user who called sudo") {
        return;
    }
    let user = User::new();
    let mut command = user.command(&["servers", "setup", "oracle"]);
    // The user `nobody` is on every machine.
    command
        .env("XDG_CACHE_HOME", user.root.join("cache"))
        .env("SUDO_UID", "65534")
        .env("SUDO_GID", "65534");
    Going::start(command).end().status(0);
    let mut folders = vec![user.root.join("cache")];
    while let Some(folder) = folders.pop() {
        assert_eq!(fs::metadata(&folder).unwrap().uid(), 65534, "{}", folder.display());
        let entries = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap());
        folders.extend(entries.filter(|it| it.path().is_dir()).map(|entry| entry.path()));
    }
}
