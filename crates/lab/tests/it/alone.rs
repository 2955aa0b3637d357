//! What a service answers with no server before it: measured by its own command, whatever CPUs this machine has.

use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;

use lab::build::BuildCache;
use lab::experiment::{Experiment, Point};
use lab::record::TrialKey;
use lab::service::{Service, ServiceCeiling};
use lab::source_file::SourceFile;
use lab::trial::{Beside, Launcher, Setup, service_alone};
use load::Halt;
use machine::conditions::{Cpus, Split};

use crate::folder::{Folder, program};

crate::tests![
    the_command_runs_on_the_cpus_of_the_load_and_knows_workload_connections_and_seconds,
    a_command_that_fails_or_says_nothing_is_a_sentence,
    where_it_has_no_cpus_of_its_own_or_no_command_nothing_is_measured,
    a_real_database_answers_the_queries_of_each_workload,
];

const STORE: &str = "title = 'A store'\nrun = 'sleep 1000'\nready = 'true'\nceiling = 'sh alone.sh {workload} \
    {connections} {seconds}'\n[gives]\n";
const EXPERIMENT: &str = "question = 'x'\nsubjects = ['a']\nworkload = 'needy'\nload = { closed = { connections = 4 }, duration = \
    '900ms' }\ntrials = { repeat = 1, seed = 7 }\n";

/// A store whose command is this script.
fn store(root: &Folder, script: &str) -> Service {
    let folder = root.at("services/store");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("alone.sh"), script).unwrap();
    fs::write(folder.join("service.toml"), STORE).unwrap();
    Service::read(&root.0, "store", &[]).unwrap()
}

/// The first CPU of this machine, and its last.
fn cpus() -> [Cpus; 2] {
    let all: Vec<usize> = Cpus::available().unwrap().iter().collect();
    [all[0], all[all.len() - 1]].map(|cpu| Cpus::of(&[cpu]).unwrap())
}

/// What it answers at four connections, each workload once.
fn alone(
    root: &Folder,
    service: &Service,
    workloads: &[&str],
    has_cpus: bool,
) -> Vec<Option<Result<ServiceCeiling, String>>> {
    let cache = BuildCache {
        state: root.at("state"),
        dyno: program().into(),
        variables: vec![("PATH".into(), "/usr/bin:/bin".into())],
    };
    let ready = cache.service(service, &|| false, &mut |_| {}).unwrap();
    let source = SourceFile { name: "experiments/x.toml".into(), text: EXPERIMENT.into() };
    let experiment = Experiment::parse("x", source).unwrap();
    let [first, last] = cpus();
    let service = has_cpus.then(|| first.clone());
    let split = Split { subject: first, load: last, service, shared: None };
    let setup = Setup {
        experiment: &experiment,
        launcher: Launcher { cache: &cache, identity: None },
        split: &split,
        address: IpAddr::from(Ipv4Addr::LOCALHOST),
        sources: &[],
        files: 1_024,
        workloads: &[],
        elsewhere: None,
        beside: Beside::default(),
    };
    let keys = workloads.iter().map(|workload| key(workload));
    let facts = keys.map(|key| service_alone(setup, &ready, &key, &Halt::default()));
    facts.map(|fact| ServiceCeiling::of(&[fact?])).collect()
}

fn key(workload: &str) -> TrialKey {
    let (subject, workload) = ("a".into(), workload.into());
    TrialKey { number: 0, subject, workload, point: Point::Connections(4), repeat: 0 }
}

fn why_unknown(script: &str) -> String {
    let root = Folder::new();
    alone(&root, &store(&root, script), &["needy"], true).remove(0).unwrap().unwrap_err()
}

fn the_command_runs_on_the_cpus_of_the_load_and_knows_workload_connections_and_seconds() {
    let script = "cpus=$(sed -n 's/^Cpus_allowed_list:\t//p' /proc/self/status)\n\
                  echo answers_per_second=$2.$3 $1 on $cpus\n";
    let root = Folder::new();
    let found = alone(&root, &store(&root, script), &["needy"], true).remove(0);
    let by = format!("needy on {}", cpus()[1]);
    assert_eq!(found, Some(Ok(ServiceCeiling { answers_per_s: 4.1, by })));
}

fn a_command_that_fails_or_says_nothing_is_a_sentence() {
    let failed = why_unknown("echo no luck >&2; exit 3\n");
    assert!(failed.ends_with("ended with exit status 3: no luck"), "{failed}");
    let silent = why_unknown("echo tps = 5\n");
    let expected = "its last line, `tps = 5`, is not `answers_per_second=NUMBER PROGRAM`";
    assert!(silent.ends_with(expected), "{silent}");
}

fn where_it_has_no_cpus_of_its_own_or_no_command_nothing_is_measured() {
    let root = Folder::new();
    let service = store(&root, "echo answers_per_second=1 x\n");
    assert_eq!(alone(&root, &service, &["needy"], false), [None]);
    let mut without = service;
    without.manifest.ceiling = None;
    assert_eq!(alone(&root, &without, &["needy"], true), [None]);
}

fn a_real_database_answers_the_queries_of_each_workload() {
    let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    if !fs::read_dir("/usr/lib/postgresql").is_ok_and(|mut found| found.next().is_some()) {
        eprintln!("NOT TESTED, for want of Debian's package postgresql: a real database alone");
        return;
    }
    let root = Folder::new();
    let service = Service::read(&tree, "postgresql", &[]).unwrap();
    let workloads = ["db-rows-5", "db-update", "fortunes"];
    for workload in workloads {
        // On a machine that is busy with other tests, no answer may come in so short a time.
        let is_answer = |found: &Result<_, String>| {
            !found.as_ref().is_err_and(|says| says.ends_with("pgbench had no answer within 1 s"))
        };
        let mut found =
            (0..10).map(|_| alone(&root, &service, &[workload], true).remove(0).unwrap());
        let found = found.find(is_answer).map(|found| found.map(|found| found.by));
        assert_eq!(found, Some(Ok("pgbench".into())), "{workload}");
    }
}
