//! Builds by commands that are really run, under a warden.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use lab::build::{BuildCache, BuildError, Built, Fitness, SALT, salt};
use lab::subject::Subject;
use rustix::process::{Pid, Signal, kill_process};

use crate::folder::{Doomed, Folder, eventually, lives, program};

crate::tests![
    a_subject_sees_nothing_of_the_users_environment_but_what_it_names,
    what_is_missing_is_named,
    a_salted_build_finds_its_salt_in_a_variable_while_it_runs,
    a_build_is_made_once_for_the_same_content,
    notes_do_not_shape_a_build_and_variables_that_pass_do,
    a_variant_is_laid_over_what_it_is_from,
    a_build_that_fails_says_so_in_one_line_and_is_tried_again,
    a_build_can_be_stopped,
    a_build_sees_of_the_environment_what_builds_need_and_what_is_passed,
    under_sudo_a_build_runs_as_the_user_who_called_it,
    salted_builds_of_equal_code_lie_elsewhere_and_find_their_salt_in_a_variable,
    nothing_of_a_build_goes_on_when_it_has_ended,
    a_build_that_was_killed_has_ended_before_the_next_one_begins,
];

/// A project's root with one subject in it, `x`.
struct Root(Folder);

impl Root {
    fn new(build: &str) -> Root {
        let root = Root(Folder::new());
        fs::create_dir_all(root.0.at("subjects/x/deep")).unwrap();
        root.write("subjects/x/deep/file", "one");
        root.manifest("x", build);
        root
    }

    fn manifest(&self, name: &str, build: &str) {
        let text = format!(
            "title = 'X'\nlanguage = 'sh'\nhome = ''\nprocesses = 'one'\nspeaks = []\npasses = ['SEEN']\n\
             run = './x'\nversion = 'cat out'\nenv = {{ PLACE = '{{build}}' }}\n{build}\n"
        );
        fs::create_dir_all(self.0.at("subjects").join(name)).unwrap();
        self.write(&format!("subjects/{name}/subject.toml"), &text);
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.0.at(path), text).unwrap();
    }

    fn cache(&self) -> BuildCache {
        let variables = vec![
            ("PATH".to_string(), "/usr/bin:/bin".to_string()),
            ("SEEN".into(), "s".into()),
            ("UNSEEN".into(), "u".into()),
            ("http_proxy".into(), "http://127.0.0.1:9".into()),
        ];
        BuildCache { state: self.0.at(".dyno"), dyno: program().into(), variables }
    }

    fn subject(&self) -> Subject {
        self.read("x")
    }

    fn read(&self, name: &str) -> Subject {
        Subject::read(&self.0.0, name).unwrap()
    }

    fn build(&self, name: &str) -> Result<(Built, Vec<String>), BuildError> {
        let subject = self.read(name);
        let mut commands = Vec::new();
        let mut report = |line: &str| commands.push(line.to_string());
        let built = self.cache().build((&subject).into(), &|| false, &mut report)?;
        Ok((built, commands))
    }
}

fn a_build_is_made_once_for_the_same_content() {
    let root = Root::new(r#"build = ["sh -c 'cat deep/file > out; echo $PLACE >> out'"]"#);
    let (built, commands) = root.build("x").unwrap();
    assert_eq!(commands, ["sh -c 'cat deep/file > out; echo $PLACE >> out'"]);
    let out = fs::read_to_string(built.folder.join("out")).unwrap();
    assert_eq!(out, format!("one{}\n", built.folder.display()));
    let (again, commands) = root.build("x").unwrap();
    assert_eq!((&again, commands.len()), (&built, 0));
    let ignored = fs::read_to_string(root.0.at(".dyno/.gitignore")).unwrap();
    assert_eq!(ignored, "*\n", "git ignores the folder");

    root.write("subjects/x/deep/file", "two");
    let subject = root.subject();
    assert_eq!(root.cache().fitness((&subject).into()).unwrap(), Fitness::Buildable);
    let (changed, commands) = root.build("x").unwrap();
    assert_eq!(commands.len(), 1);
    assert_ne!(changed.hash, built.hash);
    assert_eq!(
        root.cache().version(&subject, &changed).unwrap(),
        format!("two{}", changed.folder.display())
    );
}

fn notes_do_not_shape_a_build_and_variables_that_pass_do() {
    let root = Root::new("build = ['true']");
    let (first, _) = root.build("x").unwrap();
    root.manifest("x", "build = ['true']\nnotes = 'new'");
    assert_eq!(root.build("x").unwrap().0, first);
    let subject = root.subject();
    let mut cache = root.cache();
    cache.variables[1].1 = "other".into();
    assert_eq!(cache.fitness((&subject).into()).unwrap(), Fitness::Buildable);
}

fn a_variant_is_laid_over_what_it_is_from() {
    let root = Root::new("build = ['true']");
    root.manifest("y", "from = 'x'\nbuild = ['true']");
    root.write("subjects/y/own", "mine");
    let (built, _) = root.build("y").unwrap();
    assert!(built.folder.join("deep/file").exists() && built.folder.join("own").exists());
}

fn a_build_that_fails_says_so_in_one_line_and_is_tried_again() {
    let root = Root::new(r#"build = ["sh -c 'echo no registry; test -e now'"]"#);
    let says = root.build("x").unwrap_err().to_string();
    assert!(says.contains("ended with exit status 1: no registry (all of it: "), "{says}");
    root.write("subjects/x/now", "");
    assert!(root.build("x").is_ok());
    let root = Root::new("build = ['no-such-program']");
    assert!(root.build("x").unwrap_err().to_string().contains("cannot be run"));
}

fn a_build_can_be_stopped() {
    let root = Root::new("build = ['sleep 1000']");
    let subject = root.subject();
    let built = root.cache().build((&subject).into(), &|| true, &mut |_| ());
    assert!(matches!(built, Err(BuildError::Halted)));
}

fn a_build_sees_of_the_environment_what_builds_need_and_what_is_passed() {
    let root = Root::new(r#"build = ["sh -c 'env > out'"]"#);
    let (built, _) = root.build("x").unwrap();
    let text = fs::read_to_string(built.folder.join("out")).unwrap();
    let mut names: Vec<&str> =
        text.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    // The shell's own.
    names.retain(|name| !["PWD", "OLDPWD", "SHLVL", "_"].contains(name));
    names.sort_unstable();
    // `UNSEEN` is the user's, and `CARGO_MANIFEST_DIR` this test's.
    assert_eq!(names, ["DYNO_TRIAL", "PATH", "PLACE", "SEEN", "http_proxy"]);
}

fn under_sudo_a_build_runs_as_the_user_who_called_it() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED: only root can run a build as another user");
        return;
    }
    let root = Root::new(r#"build = ["sh -c 'id -u > out; echo $HOME >> out'"]"#);
    let subject = root.subject();
    let mut cache = root.cache();
    let nobody = [("SUDO_UID", "65534"), ("SUDO_GID", "65534")];
    cache.variables.extend(nobody.map(|(name, value)| (name.to_string(), value.to_string())));
    let built = cache.build((&subject).into(), &|| false, &mut |_| {}).unwrap();
    let out = fs::read_to_string(built.folder.join("out")).unwrap();
    assert!(out.starts_with("65534\n/") && !out.contains("root"), "{out}");
    let whole = built.folder.with_extension("whole");
    for path in [&cache.state, &built.folder, &built.folder.join("deep/file"), &whole] {
        assert_eq!(fs::metadata(path).unwrap().uid(), 65_534, "{}", path.display());
    }
}

fn salted_builds_of_equal_code_lie_elsewhere_and_find_their_salt_in_a_variable() {
    let root = Root::new(r#"build = ["sh -c 'echo $DYNO_BUILD_SALT > out'"]"#);
    let subject = root.subject();
    let (plain, _) = root.build("x").unwrap();
    let mut seen = vec![plain.folder.clone()];
    let mut lengths = std::collections::BTreeSet::new();
    for number in 0..5 {
        let salted = subject.clone().salted(salt("x", 7, number));
        let built = root.cache().build((&salted).into(), &|| false, &mut |_| {}).unwrap();
        assert!(!seen.contains(&built.folder), "{}", built.folder.display());
        lengths.insert(built.folder.as_os_str().len());
        let out = fs::read_to_string(built.folder.join("out")).unwrap();
        assert_eq!(Some(out.trim_end()), salted.plan.salt.as_deref(), "while it is built");
        assert_eq!(root.cache().fitness((&salted).into()).unwrap(), Fitness::Built(built.clone()));
        seen.push(built.folder);
    }
    assert!(3 < lengths.len(), "their paths have several lengths: {lengths:?}");
    assert_eq!(fs::read_to_string(plain.folder.join("out")).unwrap(), "\n");
}

fn number(path: &Path) -> Option<u32> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

fn nothing_of_a_build_goes_on_when_it_has_ended() {
    let root = Root::new(r#"build = ["sh -c 'setsid sleep 1000 & echo $! > pid; true'"]"#);
    let (built, _) = root.build("x").unwrap();
    let left = number(&built.folder.join("pid")).unwrap();
    assert!(!lives(left));
}

/// `build ROOT`: a dyno that is killed while it builds.
pub(crate) fn builder(arguments: &[String]) -> i32 {
    let root = std::mem::ManuallyDrop::new(Root(Folder(PathBuf::from(&arguments[0]))));
    i32::from(root.build("x").is_err())
}

fn a_build_that_was_killed_has_ended_before_the_next_one_begins() {
    let elsewhere = ["unshare", "-T", "--boottime", "31536000"];
    let is_permitted = Command::new("unshare").args(["-T", "true"]).status();
    let is_permitted = is_permitted.is_ok_and(|status| status.success());
    let cases = [(false, &[][..]), (true, &[]), (false, &elsewhere)];
    let cases = &cases[..if is_permitted { 3 } else { 2 }];
    for (is_warden_killed, before) in cases {
        a_build_follows_one_that_was_killed(*is_warden_killed, before, None);
    }
    // At any time, also before it has begun. `make torture` says how often.
    let rounds = std::env::var("TORTURE_BUILDS").map_or(3, |rounds| rounds.parse().unwrap());
    let mut chance = wire::Chance::new(u64::from(std::process::id()));
    for round in 0..rounds {
        let (is_warden_killed, before) = cases[round % cases.len()];
        let after = Duration::from_millis(chance.below(150) as u64);
        a_build_follows_one_that_was_killed(is_warden_killed, before, Some(after));
    }
}

/// A build that is begun by a process which is killed after this time (none: once it builds), with its warden, or without
/// it, also where it cannot be seen; then by this one.
fn a_build_follows_one_that_was_killed(
    is_warden_killed: bool,
    before: &[&str],
    after: Option<Duration>,
) {
    let root = Root::new("");
    let path = |name: &str| root.0.at(name);
    fs::create_dir(path("pids")).unwrap();
    let pids = || -> Vec<u32> {
        let pid =
            |it: std::io::Result<fs::DirEntry>| it.unwrap().file_name().into_string().unwrap();
        fs::read_dir(path("pids")).unwrap().map(|it| pid(it).parse().unwrap()).collect()
    };
    // Neither of its processes ends when it is asked to.
    let script = format!(
        "trap \"\" TERM; cd {}; echo $PPID > warden; touch pids/$$; for pid in $(ls pids); do \
         [ $pid = $$ ] || if grep -qs \"State:.[^ZX]\" /proc/$pid/status; then touch both; fi; done; \
         if [ -e next ]; then exit 0; fi; sleep 1000 & wait",
        root.0.0.display()
    );
    root.manifest("x", &format!("build = [\"\"\"sh -c '{script}'\"\"\"]"));
    let mut builder = match before {
        [] => Command::new(program()),
        [unshare, rest @ ..] => {
            let mut command = Command::new(unshare);
            command.args(rest).arg(program());
            command
        }
    };
    let builder = builder.arg("build").arg(&root.0.0).spawn().unwrap();
    let builder = Doomed(builder);
    match after {
        Some(after) => std::thread::sleep(after),
        None => eventually("a build", || !pids().is_empty()),
    }
    let of_builder = Pid::from_raw(builder.0.id() as i32).unwrap();
    kill_process(of_builder, Signal::STOP).unwrap();
    if let (true, Some(warden)) = (is_warden_killed, number(&path("warden"))) {
        kill_process(Pid::from_raw(warden as i32).unwrap(), Signal::KILL).unwrap();
    }
    fs::write(path("next"), "").unwrap();
    drop(builder);
    root.build("x").unwrap();
    let case = format!("warden killed: {is_warden_killed}, {before:?}, after {after:?}");
    assert!(!path("both").exists(), "two builds at once; {case}");
    assert!(pids().into_iter().all(|pid| !lives(pid)), "a build goes on; {case}");
}

fn a_subject_sees_nothing_of_the_users_environment_but_what_it_names() {
    let root = Root::new("build = []");
    let (built, _) = root.build("x").unwrap();
    let subject = root.subject();
    let seen = root.cache().scrubbed(&subject, &built, Path::new("/work"));
    let names: Vec<&str> = seen.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["PATH", "HOME", "TMPDIR", "LANG", "TZ", "SEEN", "PLACE"]);
}

fn what_is_missing_is_named() {
    let root = Root::new("needs = ['no-such-program', 'sh']");
    let subject = root.subject();
    let fitness = root.cache().fitness((&subject).into()).unwrap();
    assert_eq!(fitness, Fitness::Missing(vec!["no-such-program".into()]));
}

fn a_salted_build_finds_its_salt_in_a_variable_while_it_runs() {
    let root = Root::new("build = []");
    let (built, _) = root.build("x").unwrap();
    let salted = root.subject().salted(salt("x", 7, 1));
    let running = root.cache().scrubbed(&salted, &built, &root.0.0);
    assert!(running.contains(&(SALT.to_string(), salt("x", 7, 1))));
}
