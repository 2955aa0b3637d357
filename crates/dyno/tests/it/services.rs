//! Services beside a server: a store made of a few lines of shell, and a real database where there is one.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use lab::record::{OutcomeKind, TrialRecord, fact};
use machine::conditions::Cpus;
use rustix::process::Signal;
use wire::Tables;

use crate::folder::Folder;
use crate::lab_rig::{Lab, ORACLE, SHORT, carriers, is_root, until};
use crate::run_database::{lab_with_database, server};

pub(crate) const STORE: &str = "title = 'A store'\nneeds = ['sh']\nbuild = ['sh template.sh']\nrun = 'sh serve.sh {port}'\n\
    ready = 'test -e ready'\nseed = ['cp tables/world.csv tables/fortune.csv data/']\n\
    read = 'cat data/{table}.csv'\ncounters = 'sh count.sh'\nversion = 'echo Store 1.0'\n\
    settings = 'data/settings'\nnotes = 'It is small.'\n[env]\nSECRET = '{password}'\n\
    [gives]\nSTORE_URL = 'store://{password}@127.0.0.1:{port}/'\n";
pub(crate) const SERVE: &str = "id -u >ready\nexec sleep 1000\n";
const WORKLOAD: &str = "title = 'x'\nservice = 'store'\n[[ask]]\nrequest = 'GET /hello HTTP/1.1'\nbody = 'Hello, world!'\n";
/// A load that ends when something ends it.
const LONG: &str = "open = { rate = 50 }, duration = '60s'";

/// A server that needs the store, which has these texts in its files.
pub(crate) fn lab(store: &str, serve: &str) -> Lab {
    let run =
        format!("run = '''sh -c 'echo $STORE_URL >url; exec {ORACLE}' '''\nspeaks = ['needy']");
    let text = format!("title = 'A server'\nready = '20s'\n{run}\n");
    let lab = Lab::new().file("subjects/good/subject.toml", &text);
    lab.file("workloads/needy.toml", WORKLOAD)
        .file("services/store/service.toml", store)
        .file("services/store/serve.sh", serve)
        .file("services/store/template.sh", "mkdir data\necho 'size = 3' >data/settings\n")
        .file(
            "services/store/count.sh",
            "echo x >>counted; echo reads=$(($(wc -l <counted) * 5))\n",
        )
}

pub(crate) fn with_load(lab: Lab, load: &str, rest: &str) -> Lab {
    lab.experiment("x", &["good"], load, &format!("workload = 'needy'\n{rest}"))
}

fn condition<'t>(trial: &'t TrialRecord, name: &str) -> &'t str {
    fact(&trial.conditions, name).unwrap_or_else(|| panic!("no {name}: {:?}", trial.conditions))
}

#[test]
fn a_service_is_copied_started_seeded_given_to_the_server_and_counted() {
    let rest = "[trials]\nrepeat = 2\npause = '0s'";
    let lab = with_load(lab(STORE, SERVE), SHORT, rest);
    lab.dyno(&["run", "x"]).measured();
    let trials = lab.trials("1");
    for trial in &trials {
        assert_eq!(trial.outcome.kind, OutcomeKind::Measured, "{:?}", trial.outcome);
        let says = condition(trial, "service");
        assert!(says.starts_with("store: copied in ") && says.ends_with(", in /tmp"), "{says}");
        assert_eq!(condition(trial, "service.counted.reads"), "5");
        for name in ["service.cpu.total", "service.memory.rss", "service.processes"] {
            assert!(trial.series.iter().any(|series| series.name == name), "{name}");
        }
    }
    let url = lab.note("good", "url").unwrap();
    let password = url.strip_prefix("store://").and_then(|rest| rest.split_once('@')).unwrap().0;
    assert!(password.len() == 32 && !password.contains('{'), "{url}");
    let run = lab.store().run("1".parse().unwrap()).unwrap();
    assert!(fact(&run.facts, "service.store").unwrap().starts_with("Store 1.0; template "));
    assert_eq!(fact(&run.facts, "service.store.settings"), Some("size = 3"));
    assert_eq!(fact(&run.facts, "service.store.notes"), Some("It is small."));
    assert!(run.files.iter().any(|(name, _)| name == "services/store/service.toml"));
}

#[test]
fn a_service_with_cpus_of_its_own_answers_alone_once() {
    let store =
        format!("ceiling = 'echo answers_per_second={{connections}} {{workload}}'\n{STORE}");
    let all = Cpus::available().unwrap();
    let first = all.iter().next().unwrap();
    // What the load and the server leave is the service's.
    let left = format!("[conditions]\nsubject_cpus = '{first}'\nload_cpus = '{first}'\n");
    for (rest, has_own) in [("", None), (left.as_str(), Some(1 < all.count()))] {
        let rest = format!("{rest}[trials]\nrepeat = 2\npause = '0s'");
        let lab = with_load(lab(&store, SERVE), SHORT, &rest);
        lab.dyno(&["run", "x"]).measured();
        let trials = lab.trials("1");
        let is_own = fact(&trials[0].conditions, "cpus.service").is_some();
        assert_eq!(has_own.unwrap_or(is_own), is_own);
        let found = trials.iter().filter_map(|it| fact(&it.conditions, "service.ceiling"));
        let expected = if is_own { vec!["2 needy"] } else { Vec::new() };
        assert_eq!(found.collect::<Vec<_>>(), expected);
        let said = lab.dyno(&["report", "1", "--format", "json"]).status(0).json();
        let ceiling = &said["tables"][0]["service_ceiling"];
        assert_eq!(ceiling[0]["by"] == "needy" && ceiling[0]["answers_per_s"] == 2.0, is_own);
    }
}

#[test]
fn a_dry_run_shows_a_service_and_builds_none() {
    let lab = with_load(lab(STORE, SERVE), SHORT, "");
    let ran = lab.dyno(&["run", "x", "--dry-run"]).status(0);
    let ran = ran.stdout_has("sh template.sh").stdout_has("with     SECRET={password}");
    assert!(!lab.has(".dyno/services"), "nothing was built: {ran}");
}

#[test]
fn the_rounds_of_a_run_have_other_rows_and_their_servers_the_same() {
    let store = STORE.replace("data/']", "data/', 'sh keep.sh']");
    let rest = "[trials]\nrepeat = 2\npause = '0s'";
    let kept = Folder::new();
    let everyone = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    fs::set_permissions(&kept.root, everyone).unwrap();
    let keep = format!("cp data/world.csv {}/$$\n", kept.root.display());
    let lab = lab(&store, SERVE).file("services/store/keep.sh", &keep);
    with_load(lab, SHORT, rest).dyno(&["run", "x"]).measured();
    let mut seeded: Vec<String> = kept.names("").iter().map(|name| kept.read(name)).collect();
    seeded.dedup();
    assert_eq!(seeded.len(), 2);
    assert!(seeded.iter().all(|rows| rows.lines().count() == 10_000));
    assert_ne!(seeded[0], Tables::of(0).world_csv());
}

/// What becomes of the only trial with this store.
#[track_caller]
fn outcome(store: &str, serve: &str, load: &str) -> (OutcomeKind, String) {
    let lab = with_load(lab(store, serve), load, "");
    lab.dyno(&["run", "x"]).status(2);
    let outcome = lab.trial().outcome;
    (outcome.kind, outcome.says)
}

#[test]
fn a_service_that_dies_under_load_is_not_held_against_the_server() {
    let serve = "echo x >ready\nsleep 2\necho 'FATAL: out of luck' >&2\nkill -9 $$\n";
    let (kind, says) = outcome(STORE, serve, LONG);
    assert_eq!(kind, OutcomeKind::ServiceDied, "{says}");
    assert!(says.starts_with("service `store` ended: signal 9 (KILL)"), "{says}");
    assert!(says.ends_with(" (`FATAL: out of luck`)"), "{says}");
}

#[test]
fn a_service_that_cannot_be_used_is_named_with_the_reason() {
    let (kind, says) = outcome(STORE, "echo no room >&2\nexit 3\n", SHORT);
    assert_eq!(
        (kind, says.as_str()),
        (OutcomeKind::ServiceDied, "service `store` ended: exit status 3 (`no room`)")
    );
    let never = STORE.replace(
        "ready = 'test -e ready'",
        "ready = 'sh -c \"echo not yet; exit 1\"'\nready_within = '1s'",
    );
    let (kind, says) = outcome(&never, SERVE, SHORT);
    assert_eq!(kind, OutcomeKind::Unable, "{says}");
    assert!(says.starts_with("service `store` was not ready within 1 s: `sh -c 'echo not yet; exit 1'` ended with exit status 1: not yet"), "{says}");
    let (kind, says) =
        outcome(&STORE.replace("'cp tables/world.csv", "'cp tables/word.csv"), SERVE, SHORT);
    assert_eq!(kind, OutcomeKind::Unable, "{says}");
    assert!(says.starts_with("service `store` cannot be seeded: `cp tables/word.csv "), "{says}");
    let (kind, says) = outcome(&STORE.replace("cat data", "tail -n +2 data"), SERVE, SHORT);
    assert_eq!(kind, OutcomeKind::Unable, "{says}");
    assert!(says.ends_with("its table `world` is not what it was given"), "{says}");
    let cut =
        STORE.replace("'cat data/{table}.csv'", "'sh -c \"cat data/{table}.csv; rm output\"'");
    let (kind, says) = outcome(&cut, SERVE, SHORT);
    assert_eq!(kind, OutcomeKind::Unable, "{says}");
    assert!(says.ends_with("could not be kept; is the disk full?"), "{says}");
    let taken = "echo 'bind: Address already in use' >&2\nexit 1\n";
    let (kind, says) = outcome(STORE, taken, SHORT);
    assert_eq!(kind, OutcomeKind::Unable, "{says}");
    assert!(
        says.contains("on each of 3 ports") && says.contains("service `store` ended"),
        "{says}"
    );
}

#[test]
fn a_template_that_cannot_be_made_or_copied_is_named_and_leaves_nothing() {
    let broken = lab(STORE, SERVE)
        .file("services/store/template.sh", "echo fatal: no luck >&2\necho bye\nexit 1\n");
    with_load(broken, SHORT, "").dyno(&["run", "x"]).status(2).stderr_has(
        "its service `store` cannot be built: `sh template.sh` ended with exit status 1: fatal: no luck",
    );
    let odd = lab(STORE, SERVE).file("services/store/template.sh", "mkdir data\nmkfifo data/odd\n");
    with_load(odd, SHORT, "")
        .dyno(&["run", "x"])
        .status(2)
        .stderr_has("/data/odd: neither a file nor a folder");
}

#[test]
fn a_full_disk_is_named_and_nothing_is_left_on_it() {
    if !is_root("a full disk") {
        return;
    }
    let big = "mkdir data\necho 'size = 3' >data/settings\nhead -c 3000000 /dev/zero >data/big\n";
    let whole = lab(STORE, SERVE).file("services/store/template.sh", big);
    let whole = with_load(whole, SHORT, "");
    whole.dyno(&["servers", "setup", "store"]).status(0);
    // In mounts of its own: another place for the project, and a small disk in which services run.
    // So has the program, which may lie below /tmp.
    let before = "mkdir -p /mnt/dyno-full/lab && >/mnt/dyno-full/dyno && exec unshare --mount sh -c '\
                  mount --bind . /mnt/dyno-full/lab && mount --bind \"$1\" /mnt/dyno-full/dyno && shift && \
                  mount -t tmpfs -o size=2m none /tmp && cd /mnt/dyno-full/lab && \
                  ../dyno \"$@\"; status=$?; ls /tmp >&2; exit $status' sh \"$0\" \"$@\"";
    let whole = whole.before(before);
    let ran = whole.dyno(&["run", "x"]);
    let _ = fs::remove_dir_all("/mnt/dyno-full");
    let ran = ran.status(2).stderr_has("No space left on device");
    assert!(!ran.stderr.lines().any(|line| line.starts_with("dyno-")), "{ran}");
    let outcome = whole.trial().outcome;
    assert_eq!(outcome.kind, OutcomeKind::Unable, "{}", outcome.says);
    assert!(
        outcome.says.starts_with("the template of service `store` cannot be copied: /tmp/"),
        "{}",
        outcome.says
    );
}

#[test]
fn a_service_that_is_missing_or_unknown_is_refused_with_the_way_out() {
    let missing = STORE.replace("'sh']", "'/no/such/store']\nadvice = 'pray'");
    let says = "its service `store` needs `/no/such/store`; pray";
    with_load(lab(&missing, SERVE), SHORT, "").dyno(&["run", "x"]).status(2).stderr_has(says);
    let unknown = with_load(lab(STORE, SERVE), SHORT, "")
        .file("workloads/needy.toml", &WORKLOAD.replace("'store'", "'stor'"));
    let says = "workloads/needy.toml:2: unknown service `stor`; did you mean `store`?";
    unknown.dyno(&["run", "x"]).status(2).stderr_has(says);
}

#[test]
fn a_service_is_refused_where_dyno_cannot_start_it() {
    let url = lab(STORE, SERVE)
        .file(
            "subjects/far/subject.toml",
            "title = 'x'\nspeaks = ['needy']\nurl = 'http://127.0.0.1:1'\n",
        )
        .experiment("x", &["far"], SHORT, "workload = 'needy'");
    let says =
        "`far` runs already, and cannot be given the service `store` that workload `needy` needs";
    url.dyno(&["run", "x"]).status(2).stderr_has(says);
    url.write(
        "workloads/needy.toml",
        "title = 'x'\n[[ask]]\nrequest = 'GET /{file} HTTP/1.1'\nfile = true\n",
    );
    let says = "`far` runs already, and cannot be given the data that workload `needy` needs";
    url.dyno(&["run", "x"]).status(2).stderr_has(says);
    url.write("workloads/needy.toml", WORKLOAD);
    let says = "workload `needy` needs the service `store` beside the server, and a race, a gate or a search starts none";
    url.write(
        "subjects/other/subject.toml",
        "title = 'x'\nspeaks = ['needy']\nrun = 'true {port}'\n",
    );
    url.dyno(&["race", "good", "other"]).status(2).stderr_has(says);
    let file = ["load", "http://127.0.0.1:1/", "--workload", "workloads/needy.toml"];
    url.dyno(&file).status(2).stderr_has("a server at a URL runs already");
    let near = with_load(lab(STORE, SERVE), SHORT, "");
    near.dyno(&["run", "x", "--server-on", "ssh:nowhere"])
        .status(2)
        .stderr_has("and a run on another machine starts none");
    let sliced = with_load(
        lab(STORE, SERVE),
        "closed = { connections = 2 }, duration = '1s'",
        "[trials]\nslices = '100ms'",
    );
    sliced.dyno(&["run", "x"]).status(2).stderr_has("leave `slices` out");
}

#[test]
fn a_service_ends_with_a_dyno_that_is_killed_and_the_next_one_removes_its_folder() {
    let lab = with_load(lab(STORE, SERVE), LONG, "");
    let going = lab.start(&["run", "x"]);
    let pid = going.pid();
    until("the load is under way", || lab.note("good", "url").is_some());
    going.signal(Signal::KILL);
    let _ = going.end();
    until("nothing of it runs", || carriers(pid).is_empty());
    let quick = lab.experiment("y", &["good"], SHORT, "workload = 'needy'");
    quick.dyno(&["run", "y"]).measured().stderr_has("an earlier run ended abnormally");
    assert_eq!(quick.left_of(pid), Vec::<String>::new());
}

#[test]
fn a_command_of_a_service_that_hangs_ends_soon_after_an_interrupt() {
    let open = Folder::new();
    let everyone = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    fs::set_permissions(&open.root, everyone).unwrap();
    let hang = format!("echo >{}/began\nexec sleep 1000\n", open.root.display());
    let lab = with_load(lab(STORE, SERVE).file("services/store/count.sh", &hang), SHORT, "");
    let going = lab.start(&["run", "x"]);
    until("it is asked what it counted", || open.names("").contains(&"began".to_string()));
    let began = Instant::now();
    going.signal(Signal::INT);
    going.end().status(130);
    assert!(began.elapsed() < Duration::from_secs(40), "{:?}", began.elapsed());
}

#[test]
fn a_service_is_prepared_as_a_server_is() {
    let lab = lab(STORE, SERVE);
    lab.dyno(&["servers", "setup", "store"]).status(0).stderr_has("store: ready: Store 1.0");
    let absent = STORE.replace("'sh']", "'/no/such/store']\ndebian = ['no-such-package']\nstarts = 'a store on port 1'\nprevent = ['touch prevented']");
    lab.write("services/store/service.toml", &absent);
    let ran = lab.dyno(&["servers", "setup", "store"]).status(1);
    if Path::new("/usr/bin/apt-get").exists() {
        ran.stderr_has(
            "installing its packages would start a store on port 1; with --yes that is prevented",
        )
        .stderr_has("`dyno servers setup store --yes` runs `apt-get install ");
        assert!(!lab.has("prevented"), "nothing was run");
    }
}

#[test]
fn a_real_database_gives_the_seeded_rows_and_counts_what_it_gave() {
    let Some(lab) = lab_with_database() else { return };
    let lab = server(lab, "slow", &["db-row"], "none");
    let rest = "workload = 'db-row'\n[conditions]\nisolate = ISOLATE";
    let isolate = rustix::process::geteuid().is_root();
    let rest = rest.replace("ISOLATE", &isolate.to_string());
    let lab = lab.experiment("x", &["slow"], "closed = { connections = 1 }, total = 30", &rest);
    lab.dyno(&["run", "x"]).measured();
    let trial = lab.measured();
    assert_eq!(condition(&trial, "service.counted.world.reads"), "30");
    assert_eq!(condition(&trial, "service.counted.world.rows_read"), "30");
    assert_eq!(condition(&trial, "service.counted.evicted"), "0");
    let pss = trial.series.iter().find(|series| series.name == "service.memory.pss").unwrap();
    assert!(pss.points.iter().any(|(_, bytes)| 5e6 < *bytes), "{pss:?}");
    let run = lab.store().run("1".parse().unwrap()).unwrap();
    assert!(fact(&run.facts, "service.postgresql").unwrap().contains("(PostgreSQL)"));
    let settings = fact(&run.facts, "service.postgresql.settings").unwrap();
    assert!(
        settings.contains("max_connections = 2000, ")
            && settings.contains("synchronous_commit = off"),
        "{settings}"
    );
    let truth = Tables::of(lab::plan::seed_of(run.seed, &trial.key));
    for check in &trial.checks {
        let row: serde_json::Value = serde_json::from_slice(&check.content()).unwrap();
        let id = row["id"].as_u64().unwrap() as u32;
        assert_eq!(row["randomNumber"].as_u64(), truth.number(id).map(u64::from), "row {id}");
    }
}
