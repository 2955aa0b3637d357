//! A project in a folder of its own, whose subjects are dyno's own oracle or a few lines of script.

use std::fs;
use std::net::TcpStream;
use std::ops::Deref;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use lab::record::{OutcomeKind, TrialRecord};
use machine::process::Marker;
use rustix::process::Pid;
use store::{Extent, Kept, RunId, Store};

use crate::folder::Folder;
use crate::rig::{Going, Ran};

/// At most this long an event is awaited.
const PATIENCE: Duration = Duration::from_secs(60);

/// A load that is over soon.
pub(crate) const SHORT: &str = "closed = { connections = 2 }, total = 200";

pub(crate) struct Lab {
    folder: Folder,
    /// A command for the shell before it becomes dyno.
    before: Option<String>,
}

impl Lab {
    /// Two workloads, and no server for them.
    pub(crate) fn new() -> Lab {
        let folder = Folder::new();
        for name in ["subjects", "experiments"] {
            fs::create_dir(folder.root.join(name)).unwrap();
        }
        let hello = "title = 'x'\n[[ask]]\nname = 'hello'\nrequest = 'GET /hello HTTP/1.1'\n\
                     status = 200\nbody = 'Hello, world!'\n";
        let both = format!(
            "{hello}[[ask]]\nname = 'second'\nrequest = 'GET /second HTTP/1.1'\nbody = 'ok'\n"
        );
        Lab { folder, before: None }
            .file("workloads/hello.toml", hello)
            .file("workloads/both.toml", &both)
    }

    /// A folder that is no project.
    pub(crate) fn bare() -> Lab {
        let lab = Lab::new();
        for folder in ["subjects", "workloads", "experiments"] {
            fs::remove_dir_all(lab.root.join(folder)).unwrap();
        }
        lab
    }

    /// One server, `a`, under this load.
    pub(crate) fn one(load: &str, rest: &str) -> Lab {
        Lab::new().oracle("a", "").experiment("x", &["a"], load, rest)
    }

    /// A command for the shell before it becomes dyno.
    pub(crate) fn before(mut self, before: &str) -> Lab {
        self.before = Some(before.into());
        self
    }

    pub(crate) fn file(self, path: &str, text: &str) -> Lab {
        self.write(path, text);
        self
    }

    /// A subject with these keys besides the usual ones.
    pub(crate) fn subject(self, name: &str, keys: &str) -> Lab {
        let ready = if keys.contains("ready = ") { "" } else { "ready = '20s'\n" };
        let text = format!(
            "title = 'A subject'\nlanguage = 'none'\nhome = 'https://example.org'\nprocesses = 'one'\n\
             speaks = ['hello', 'both']\n{ready}{keys}\n"
        );
        self.file(&format!("subjects/{name}/subject.toml"), &text)
    }

    /// A subject that speaks these workloads, with these keys besides.
    pub(crate) fn speaking(self, name: &str, speaks: &[&str], keys: &str) -> Lab {
        let text = format!("title = 'A server'\nspeaks = {speaks:?}\nready = '60s'\n{keys}\n");
        self.file(&format!("subjects/{name}/subject.toml"), &text)
    }

    /// The oracle, with these flags; without any it answers after a millisecond, so that a closed loop leaves the CPUs to
    /// other tests.
    pub(crate) fn oracle(self, name: &str, flags: &str) -> Lab {
        let flags = if flags.is_empty() { "--delay constant:1ms" } else { flags };
        self.subject(name, &format!("run = '{ORACLE} {flags}'"))
    }

    /// The oracle. Its first so many starts are as usual; it is kept from starting again until the gate is opened. So
    /// a run stands still at a known place, however late the test looks there.
    pub(crate) fn gated(self, name: &str, starts: u32) -> Lab {
        let gate = self.root.join(GATE).display().to_string();
        let script = format!(
            "echo x >>starts\nif [ $(wc -l <starts) -gt {starts} ]; then\n\
             until [ -e '{gate}' ]; do sleep 0.02; done\nfi\nexec \"$@\"\n"
        );
        self.subject(name, &format!("run = 'sh gate.sh {ORACLE}'\nready = '150s'"))
            .file(&format!("subjects/{name}/gate.sh"), &script)
    }

    pub(crate) fn open_gate(&self) {
        self.write(GATE, "");
    }

    /// The oracle with wrong answers, of which each is another reason to wait for a right one for as long as this.
    pub(crate) fn liar(self, name: &str, ready: &str) -> Lab {
        self.subject(name, &format!("run = '{ORACLE} --fault wrong-body'\nready = '{ready}'"))
    }

    /// A server in Python, with a fault.
    pub(crate) fn python(self, name: &str, fault: &str) -> Lab {
        self.subject(name, &format!("run = 'python3 server.py {{port}} {fault}'\n"))
            .file(&format!("subjects/{name}/server.py"), include_str!("server.py"))
    }

    /// A server in Python with these arguments, which speaks these workloads.
    pub(crate) fn script(self, name: &str, speaks: &[&str], script: &str, arguments: &str) -> Lab {
        self.speaking(name, speaks, &format!("run = 'python3 server.py {arguments}'"))
            .file(&format!("subjects/{name}/server.py"), script)
    }

    /// `load` is what stands between the braces. No subject is checked, unless `rest` asks for it: a check takes
    /// seconds.
    pub(crate) fn experiment(self, name: &str, subjects: &[&str], load: &str, rest: &str) -> Lab {
        let unchecked = "[trials]\ncheck = false\n";
        let rest = match rest.contains("check = ") || rest.contains("require = ") {
            true => rest.to_string(),
            false => rest.replace("[trials]\n", unchecked),
        };
        let trials = match (rest.contains("[trials]"), rest.contains("require = ")) {
            (true, _) => "",
            (false, true) => "trials = { repeat = 1, pause = '0s' }\n",
            (false, false) => "trials = { repeat = 1, pause = '0s', check = false }\n",
        };
        let workload = if rest.contains("workload = ") { "" } else { "workload = 'hello'\n" };
        let text = format!(
            "question = 'Which?'\nsubjects = {subjects:?}\n{workload}\
             load = {{ {load}, warmup = '0s' }}\n{trials}{rest}\n"
        );
        self.file(&format!("experiments/{name}.toml"), &text)
    }

    /// `DYNO` stands for the program that is tested.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let dyno = env!("CARGO_BIN_EXE_dyno");
        let mut command = match &self.before {
            None => Command::new(dyno),
            Some(before) => {
                let mut shell = Command::new("sh");
                shell.args(["-c", &format!("{before}; exec \"$0\" \"$@\""), dyno]);
                shell
            }
        };
        let filled = arguments.iter().map(|argument| argument.replace("DYNO", dyno));
        command.args(filled).current_dir(&self.root).env_remove("COLUMNS");
        command.env("XDG_STATE_HOME", self.root.join("state"));
        command.env("XDG_CACHE_HOME", self.root.join("cache"));
        command
    }

    pub(crate) fn start(&self, arguments: &[&str]) -> Going {
        Going::start(self.command(arguments))
    }

    /// Runs to its end; and whatever the result, nothing is left behind.
    #[track_caller]
    pub(crate) fn dyno(&self, arguments: &[&str]) -> Ran {
        let going = self.start(arguments);
        let pid = going.pid();
        let ran = going.end();
        assert_eq!(self.left_of(pid), Vec::<String>::new(), "{ran}");
        ran
    }

    pub(crate) fn store(&self) -> Store {
        Store::open(&self.root.join(".dyno/runs.sqlite")).unwrap()
    }

    /// All trials that are kept of a run, none of them damaged.
    #[track_caller]
    pub(crate) fn trials(&self, run: &str) -> Vec<TrialRecord> {
        trials_of(&self.store(), run.parse().unwrap())
    }

    /// The only trial of the first run.
    #[track_caller]
    pub(crate) fn trial(&self) -> TrialRecord {
        let mut trials = self.trials("1");
        assert_eq!(trials.len(), 1);
        trials.pop().unwrap()
    }

    /// The only trial of the first run, which was measured.
    #[track_caller]
    pub(crate) fn measured(&self) -> TrialRecord {
        let trial = self.trial();
        assert_eq!(trial.outcome.kind, OutcomeKind::Measured, "{:?}", trial.outcome);
        trial
    }

    /// Waits until no process is left of a dyno that was killed.
    #[track_caller]
    pub(crate) fn awaits_end_of(&self, dyno: Pid) {
        let lives = || self.left_of(dyno).iter().any(|left| left.starts_with("process"));
        until("what a dead dyno had started is gone", || !lives());
    }

    /// Processes, folders and cgroups that carry the marker of this dyno.
    pub(crate) fn left_of(&self, dyno: Pid) -> Vec<String> {
        let mut left: Vec<String> =
            carriers(dyno).iter().map(|pid| format!("process {pid}")).collect();
        // Those of services are in a folder with a short path.
        let work = [self.root.join(".dyno/work"), "/tmp".into()].into_iter();
        let work = work.flat_map(fs::read_dir).flatten().flatten();
        let own = work.filter(|entry| is_of(&entry.file_name().to_string_lossy(), dyno));
        left.extend(own.map(|entry| entry.path().display().to_string()));
        groups(Path::new("/sys/fs/cgroup"), dyno, &mut left);
        left
    }

    /// The text that a subject has written into this file, in the folder where it runs.
    pub(crate) fn note(&self, subject: &str, file: &str) -> Option<String> {
        let builds = fs::read_dir(self.root.join(".dyno/builds").join(subject)).ok()?.flatten();
        builds.map(|build| build.path().join(file)).find_map(|path| fs::read_to_string(path).ok())
    }
}

impl Deref for Lab {
    type Target = Folder;

    fn deref(&self) -> &Folder {
        &self.folder
    }
}

/// The command that runs the oracle as a subject.
pub(crate) const ORACLE: &str = "{dyno} serve --listen {address}:{port} --threads 1";

/// The file that lets gated servers start.
const GATE: &str = "go";

/// All trials that a store has of a run, none of them damaged.
#[track_caller]
pub(crate) fn trials_of(store: &Store, run: RunId) -> Vec<TrialRecord> {
    let whole = |kept| match kept {
        Kept::Whole(trial) => *trial,
        Kept::Damaged(damage) => panic!("{damage:?}"),
    };
    store.trials(run, Extent::Whole).unwrap().into_iter().map(whole).collect()
}

/// The first of these trials that is of this subject.
#[track_caller]
pub(crate) fn trial_of<'t>(trials: &'t [TrialRecord], subject: &str) -> &'t TrialRecord {
    trials.iter().find(|trial| trial.key.subject == subject).unwrap()
}

/// Waits until this holds.
#[track_caller]
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "in vain: {what}");
        thread::sleep(Duration::from_millis(1));
    }
}

/// What an attempt finds with the shortest of these times to be ready in that is long enough for it. A trial of a server
/// that is never ready takes the whole of it; and on a busy machine, a server may not even have begun in a short one.
#[track_caller]
pub(crate) fn patiently<T>(attempt: impl FnMut(&str) -> Option<T>) -> T {
    ["1s", "4s", "16s"].into_iter().find_map(attempt).expect("the longest is long enough")
}

/// Whether a server listens there.
pub(crate) fn is_answered(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).is_ok()
}

/// Whether this is a marker of this dyno, alive or dead.
fn is_of(marker: &str, dyno: Pid) -> bool {
    let owner = marker.parse::<Marker>().ok().and_then(|marker| marker.owner());
    owner.is_some_and(|(pid, _)| i32::try_from(pid) == Ok(dyno.as_raw_nonzero().get()))
}

/// Processes whose environment has a marker of this dyno.
pub(crate) fn carriers(dyno: Pid) -> Vec<u32> {
    let carries = |pid: &u32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let mut entries = environment.split(|&byte| byte == 0).map(String::from_utf8_lossy);
        entries.any(|it| it.strip_prefix("DYNO_TRIAL=").is_some_and(|it| is_of(it, dyno)))
    };
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(carries).collect()
}

fn groups(folder: &Path, dyno: Pid, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            if is_of(&entry.file_name().to_string_lossy(), dyno) {
                found.push(entry.path().display().to_string());
            }
            groups(&entry.path(), dyno, found);
        }
    }
}

/// Prints what could not be tested on this machine.
#[expect(
    clippy::print_stderr,
    reason = "a test that did not take place must not look like one that did"
)]
pub(crate) fn not_tested(what: &str, for_want_of: &str) {
    eprintln!("NOT TESTED, for want of {for_want_of}: {what}");
}

/// Whether we are root, which own mounts and networks require; if not, prints what is left out.
pub(crate) fn is_root(left_out: &str) -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        not_tested(left_out, "root");
    }
    is_root
}
