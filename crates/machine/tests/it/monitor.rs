//! The monitors' readings are right for subjects whose use of resources is known.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use machine::Series;
use machine::conditions::Group;
use machine::monitor::{CATALOG, Watch, WatchPlan, cpu_ns_below};
use machine::process::{Running, launch};

use crate::folder::{Folder, Line, eventually, marker, spec, warden, worker};

crate::tests![
    a_subjects_needs_are_seen,
    what_works_for_the_load_is_no_other_program,
    a_group_counts_cpu_time_exactly,
    a_process_that_leaves_its_group_is_counted_all_the_same,
    time_of_children_that_ended_is_not_lost,
    what_a_subject_starts_later_is_found,
    lanes_are_reported_by_name,
    connections_that_wait_to_be_accepted_are_seen,
    a_probe_is_heard_and_a_liar_is_not,
    every_series_is_in_the_catalog,
];

const PERIOD: Duration = Duration::from_millis(5);

fn plan(running: &Running) -> WatchPlan {
    plan_of(Some(running.warden_pid()))
}

fn plan_of(root: Option<u32>) -> WatchPlan {
    WatchPlan {
        period: PERIOD,
        began: Instant::now(),
        root,
        readings: None,
        port: None,
        found: Vec::new(),
        helpers: Vec::new(),
        probe_socket: None,
        service: None,
    }
}

fn last(series: &[Series], name: &str) -> f64 {
    let found = series.iter().find(|series| series.name == name);
    found.unwrap_or_else(|| panic!("no {name}")).points.last().unwrap().1
}

/// A worker that did what the words say, watched from before it reported that until now.
fn watched(words: &[&str]) -> Vec<Series> {
    let (folder, mut line) = Line::with_folder();
    let running = launch(&warden(), &worker(&folder, words)).unwrap();
    let watch = Watch::start(plan(&running)).unwrap();
    line.hear();
    let series = watch.stop();
    let _ = running.stop();
    series
}

fn a_subjects_needs_are_seen() {
    let series = watched(&["burn-ms", "300", "memory-mib", "64", "files", "100", "threads", "9"]);
    let is = |name: &str, range: std::ops::Range<f64>| {
        let value = last(&series, name);
        assert!(range.contains(&value), "{name}: {value}, not in {range:?}");
    };
    // Two clock ticks fewer at most, and the time to fill the memory.
    is("subject.cpu.total", 280e6..700e6);
    let mib = f64::from(1 << 20);
    is("subject.memory.rss", 64.0 * mib..74.0 * mib);
    is("subject.memory.pss", 64.0 * mib..74.0 * mib);
    // Standard input and output, and the line; and a file that it may have open just then.
    is("subject.files", 104.0..106.0);
    is("subject.threads", 10.0..11.0);
    is("subject.processes", 1.0..2.0);
    is("subject.switches.voluntary", 1.0..1e6);
    let sum = last(&series, "subject.cpu.user") + last(&series, "subject.cpu.system");
    assert_eq!(last(&series, "subject.cpu.total"), sum);
    assert!(last(&series, "machine.cpu.busy") >= 280e6);
    assert!(last(&series, "load.cpu") > 0.0 && last(&series, "load.memory.rss") > mib);
    for series in &series {
        assert!(series.points.is_sorted_by(|left, right| left.0 < right.0), "{}", series.name);
    }
}

fn what_works_for_the_load_is_no_other_program() {
    let (folder, mut line) = Line::with_folder();
    let helper = launch(&warden(), &worker(&folder, &["burn-ms", "400"])).unwrap();
    let plan = WatchPlan { root: None, helpers: vec![helper.pid()], ..plan(&helper) };
    let watch = Watch::start(plan).unwrap();
    line.hear();
    let series = watch.stop();
    let grown = |name: &str| {
        let points = &series.iter().find(|series| series.name == name).unwrap().points;
        points.last().unwrap().1 - points[0].1
    };
    assert!(250e6 <= grown("load.helpers.cpu"), "{}", grown("load.helpers.cpu"));
    // All programs together have worked no longer than the CPUs have, in steps of 10 ms each.
    let together = grown("load.helpers.cpu") + grown("load.cpu") + grown("machine.cpu.other");
    assert!(together <= grown("machine.cpu.busy") + 60e6, "{together}");
    let _ = helper.stop();
}

fn a_group_counts_cpu_time_exactly() {
    let (group, facts) = Group::create(&marker(), None);
    let Some(group) = group else {
        eprintln!("SKIPPED: {facts:?}");
        return;
    };
    let (folder, mut line) = Line::with_folder();
    let mut spec = worker(&folder, &["burn-ms", "123"]);
    spec.membership = Some(group.membership());
    let running = launch(&warden(), &spec).unwrap();
    line.hear();
    let readings = Some(group.readings());
    let watch = Watch::start(WatchPlan { readings, ..plan(&running) }).unwrap();
    let series = watch.stop();
    let total = last(&series, "subject.cpu.total");
    assert!((123e6..160e6).contains(&total), "{total}");
    // Processes that started and ended outside of it are not counted.
    let _ = running.stop();
    group.remove().unwrap();
}

fn a_process_that_leaves_its_group_is_counted_all_the_same() {
    let (Some(group), _) = Group::create(&marker(), None) else {
        eprintln!("SKIPPED: no group can be made");
        return;
    };
    let (folder, mut line) = Line::with_folder();
    let program = crate::folder::program().into_string().unwrap();
    let membership = group.membership();
    let script = r#"program=$0; line=$1; shift; for procs; do echo $$ >"$procs"; done
        exec "$program" worker "$line" burn-ms 200"#;
    let mut argv = vec!["sh", "-c", script, &program, "LINE"];
    argv.extend(membership.leave.iter().map(|procs| procs.to_str().unwrap()));
    let mut spec = spec(&folder, &argv);
    spec.membership = Some(membership);
    let running = launch(&warden(), &spec).unwrap();
    let readings = group.readings();
    let plan = WatchPlan { readings: Some(readings.clone()), ..plan(&running) };
    let watch = Watch::start(plan).unwrap();
    line.hear();
    let at_once = cpu_ns_below(running.warden_pid(), &readings).unwrap();
    let series = watch.stop();
    let last_of = |name: &str| last(&series, name);
    assert!(last_of("subject.cpu.cgroup") < 100e6, "it left: {}", last_of("subject.cpu.cgroup"));
    assert!(180e6 <= last_of("subject.cpu.total") && 180_000_000 <= at_once, "{at_once}");
    let _ = running.stop();
    group.remove().unwrap();
}

fn time_of_children_that_ended_is_not_lost() {
    let (folder, mut line) = Line::with_folder();
    let program = crate::folder::program().into_string().unwrap();
    // One child that its parent waits for, and one that is left to the warden.
    let script = r#"exec 9>"$1"; "$0" worker "$1" burn-ms 150 exit 0
        ( ( "$0" worker "$1" burn-ms 150 exit 0; echo left >&9 ) & ); echo waited >&9; sleep 1000"#;
    let running =
        launch(&warden(), &spec(&folder, &["sh", "-c", script, &program, "LINE"])).unwrap();
    let watch = Watch::start(plan(&running)).unwrap();
    let mut heard = [line.hear(), line.hear()];
    heard.sort();
    assert_eq!(heard, ["left", "waited"]);
    let enough = || watch.latest("subject.cpu.total").is_some_and(|total| total >= 260e6);
    eventually("the time of both", enough);
    let series = watch.stop();
    let total = series.iter().find(|series| series.name == "subject.cpu.total").unwrap();
    assert!(total.points.is_sorted_by(|left, right| left.1 <= right.1), "it fell");
    assert!(total.points.last().unwrap().1 < 450e6, "counted twice: {:?}", total.points.last());
    let _ = running.stop();
}

fn what_a_subject_starts_later_is_found() {
    let (folder, mut line) = Line::with_folder();
    let script =
        r#"exec 9>"$0"; echo ready >&9; read go <"$0.go"; (setsid sleep 1000 &); sleep 1000"#;
    let go = folder.at("line.go");
    let made = std::process::Command::new("mkfifo").arg(&go).status().unwrap();
    assert!(made.success());
    let running = launch(&warden(), &spec(&folder, &["sh", "-c", script, "LINE"])).unwrap();
    let watch = Watch::start(plan(&running)).unwrap();
    line.hear();
    eventually("the first", || watch.latest("subject.processes") == Some(1.0));
    std::fs::write(&go, "go\n").unwrap();
    eventually("the others", || watch.latest("subject.processes") == Some(3.0));
    let _ = running.stop();
    eventually("the end", || watch.latest("subject.processes") == Some(0.0));
}

fn lanes_are_reported_by_name() {
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let lane = std::thread::Builder::new().name("loader 7".to_string());
    let lane = lane.spawn(move || ended.recv()).unwrap();
    let folder = Folder::new();
    let running = launch(&warden(), &spec(&folder, &["sleep", "1000"])).unwrap();
    let watch = Watch::start(plan(&running)).unwrap();
    eventually("the lane", || watch.latest("load.lane.7.cpu").is_some_and(|cpu| 0.0 < cpu));
    drop(end);
    let _ = lane.join().unwrap();
    let series = watch.stop();
    assert!(series.iter().any(|series| series.name == "load.lane.7.delay" && series.unit == "ns"));
    let _ = running.stop();
}

fn connections_that_wait_to_be_accepted_are_seen() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let _waiting = [0; 5].map(|_| TcpStream::connect(("127.0.0.1", port)).unwrap());
    let watch = Watch::start(WatchPlan { port: Some(port), ..plan_of(None) }).unwrap();
    eventually("five", || watch.latest("kernel.tcp.accept_queue") == Some(5.0));
    let _accepted = listener.accept().unwrap();
    eventually("four", || watch.latest("kernel.tcp.accept_queue") == Some(4.0));
    let series = watch.stop();
    assert!(!series.iter().any(|series| series.name.starts_with("subject.")));
    assert!(5.0 <= last(&series, "kernel.tcp.in_use"));
    let _ =
        last(&series, "kernel.tcp.listen_overflows") + last(&series, "kernel.tcp.retransmitted");
}

fn a_probe_is_heard_and_a_liar_is_not() {
    let folder = Folder::new();
    let socket = folder.at("probe");
    let running = launch(&warden(), &spec(&folder, &["sleep", "1000"])).unwrap();
    let probe_socket = Some(socket.clone());
    let watch = Watch::start(WatchPlan { probe_socket, ..plan(&running) }).unwrap();
    let mut probe = UnixStream::connect(&socket).unwrap();
    probe.write_all(b"vm.run_queue=3 vm.memory.total_bytes=1024\nvm.run").unwrap();
    eventually("a word", || watch.latest("vm.run_queue") == Some(3.0));
    probe.write_all(b"_queue=4\n").unwrap();
    eventually("the rest of a line", || watch.latest("vm.run_queue") == Some(4.0));
    let mut liar = UnixStream::connect(&socket).unwrap();
    liar.write_all(b"subject.cpu.total=1 x=1\n").unwrap();
    eventually("a refusal", || watch.latest("watch.refused") == Some(1.0));
    // A line without an end is cut off, however much of it arrives.
    let flood = vec![b'x'; 64 << 10];
    eventually("that the connection is closed", || liar.write_all(&flood).is_err());
    let many: String = (0..100).map(|number| format!("name{number}=1\n")).collect();
    probe.write_all(many.as_bytes()).unwrap();
    eventually("refusals", || watch.latest("watch.refused") == Some(40.0));
    let series = watch.stop();
    assert_eq!(series.iter().filter(|series| series.name.starts_with("name")).count(), 62);
    assert!(!series.iter().any(|series| series.name == "x"));
    let unit = |name: &str| series.iter().find(|series| series.name == name).unwrap().unit.clone();
    assert_eq!(
        (unit("vm.memory.total_bytes"), unit("vm.run_queue")),
        ("bytes".into(), "count".into())
    );
    assert!(!socket.exists());
    let _ = running.stop();
}

fn every_series_is_in_the_catalog() {
    let series = watched(&[]);
    for series in &series {
        let is_it = |reading: &&machine::monitor::ReadingSpec| reading.name == series.name;
        let reading = CATALOG.iter().find(is_it).unwrap_or_else(|| panic!("{}", series.name));
        assert_eq!(reading.unit, series.unit, "{}", series.name);
    }
}
