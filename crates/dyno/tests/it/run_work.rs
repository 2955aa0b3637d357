//! Workloads that resemble work, on a server that answers them rightly, and with a fault in four of its answers.

use std::num::NonZeroU16;
use std::path::Path;
use std::time::Duration;

use agents::{AgentGroup, Loads, Place, Wish};
use lab::record::OutcomeKind;
use lab::workload::Workload;
use load::{Failure, Halt, Load, Order, Protocol, Recording, Stop, Target, press};
use oracle::{Config, Listen, Oracle};
use wire::h2::{H2Order, Scheme, Windows};
use wire::{Dataset, Limits, Mismatch, Tables};

use crate::lab_rig::{Lab, SHORT};

const WORKLOADS: [&str; 5] = ["wait-50", "headers", "json", "post-json", "echo-bytes"];

const FAULTS: [(&str, &str, Option<Failure>); 9] = [
    ("wait-50", "early", Some(Failure::Early)),
    ("headers", "short", Some(Failure::Content(Mismatch::Body))),
    ("json", "total", Some(Failure::Content(Mismatch::Body))),
    ("json", "extra", Some(Failure::Content(Mismatch::Body))),
    ("json", "stale", Some(Failure::Content(Mismatch::Body))),
    // Other forms of right answers are right.
    ("json", "forms", None),
    ("post-json", "late", Some(Failure::Content(Mismatch::Body))),
    ("echo-bytes", "byte", Some(Failure::Content(Mismatch::Body))),
    ("echo-bytes", "cut", Some(Failure::Content(Mismatch::Body))),
];

#[test]
fn each_way_of_being_wrong_is_counted_exactly_and_no_right_answer_is() {
    let mut lab = Lab::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workloads");
    for workload in WORKLOADS {
        let text = std::fs::read_to_string(root.join(format!("{workload}.toml"))).unwrap();
        lab = lab.file(&format!("workloads/{workload}.toml"), &text);
    }
    let script = include_str!("work.py");
    lab = lab.script("right", &WORKLOADS, script, "{port} {dataset} none");
    let named = |(workload, fault, _): (&str, &str, _)| format!("{workload}-{fault}");
    for faulty in FAULTS {
        let arguments = format!("{{port}} {{dataset}} {}", faulty.1);
        lab = lab.script(&named(faulty), &[faulty.0], script, &arguments);
    }
    let names: Vec<String> = FAULTS.into_iter().map(named).chain(["right".to_string()]).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let rest = format!("workload = {WORKLOADS:?}\n");
    let lab = lab.experiment("work", &names, SHORT, &rest);
    lab.dyno(&["run", "work"]).status(1).stderr_has("failed 4");
    let trials = lab.trials("1");
    let right = || trials.iter().filter(|trial| trial.key.subject == "right");
    assert_eq!(right().count(), WORKLOADS.len());
    for trial in &trials {
        let name = &trial.key.subject;
        assert_eq!(trial.outcome.kind, OutcomeKind::Measured, "{name}: {:?}", trial.outcome);
        let total = &trial.loaded.as_ref().unwrap().recording.total;
        let planted = FAULTS.into_iter().find(|faulty| named(*faulty) == *name);
        let class = planted.and_then(|(_, _, class)| class);
        let expected = if class.is_some() { 4 } else { 0 };
        let classes: Vec<_> =
            Failure::ALL.into_iter().filter(|class| 0 < total.failures(*class)).collect();
        assert_eq!(total.failed_in_all(), expected, "{name}, {}: {classes:?}", trial.key.workload);
        assert_eq!(class.map_or(0, |class| total.failures(class)), expected, "{name}: {classes:?}");
        let is_json = trial.key.workload.ends_with("json");
        let compared = total.compared.map(|it| it.by_bytes + it.by_meaning);
        assert_eq!(compared, is_json.then_some(200), "{name}");
        assert_eq!(total.waited.is_some(), trial.key.workload == "wait-50", "{name}");
    }
    let sums = right().find(|trial| trial.key.workload == "post-json").unwrap();
    let compared = sums.loaded.as_ref().unwrap().recording.total.compared.unwrap();
    assert_eq!(compared.by_meaning, 2, "one for each kind of request");
}

pub(crate) fn four_streams() -> H2Order {
    H2Order {
        streams: NonZeroU16::new(4).unwrap(),
        windows: Windows::default(),
        indexed: true,
        limits: Limits::default(),
    }
}

/// Dyno's own server with this fault in a tenth of its answers.
fn faulty(fault: &str, dataset: &Dataset) -> Oracle {
    let dataset = oracle::Dataset::parse(dataset.to_json().as_bytes()).unwrap();
    let config = Config {
        dataset: Some(dataset.into()),
        fault: Some(fault.parse().unwrap()),
        fault_rate: 0.1,
        threads: 1,
        seed: 5,
        ..Config::default()
    };
    Oracle::start(config).unwrap()
}

/// Six hundred requests of a workload, whose failures must be those that the server counted.
fn wrong_totals_are_counted(
    workload: &str,
    fault: &str,
    http2: Option<H2Order>,
    load: impl FnOnce(&Order) -> Recording,
) {
    let dataset = Dataset::of(3);
    let oracle = faulty(fault, &dataset);
    let Listen::Tcp(address) = oracle.address().clone() else { panic!("a port") };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = Workload::read(&root, workload).unwrap().with(&dataset, &Tables::of(3));
    let asks = read.over(http2.map(|_| Scheme::Http)).unwrap().asks(true);
    let order = Order {
        stop: Stop { total: Some(600), duration: None },
        timeout: Duration::from_secs(60),
        protocol: http2.map_or(Protocol::Http1, Protocol::Http2),
        lanes: 2,
        seed: 9,
        ..Order::new(Target::Tcp(address), asks, Load::Closed { connections: 4 })
    };
    let total = load(&order).total;
    let faults = oracle.stop().faults;
    let failed = (total.failures(Failure::Content(Mismatch::Body)), total.failed_in_all());
    assert_eq!((failed, total.attempted), ((faults, faults), 600), "{workload}");
    assert!((30..100).contains(&faults), "{workload}: {faults}");
    let compared = total.compared.unwrap();
    assert_eq!(compared.by_bytes + compared.by_meaning, 600, "{workload}: {compared:?}");
}

#[test]
fn wrong_totals_are_counted_exactly_over_http2() {
    for workload in ["json", "post-json"] {
        wrong_totals_are_counted(workload, "h2-wrong-total", Some(four_streams()), |order| {
            press(order, &Halt::default(), &mut |_| {}).unwrap()
        });
    }
}

#[test]
fn wrong_totals_are_counted_exactly_by_two_agents() {
    for workload in ["json", "post-json"] {
        wrong_totals_are_counted(workload, "wrong-total", None, |order| {
            let Target::Tcp(address) = &order.target else { panic!("a port") };
            let (place, program) = (Place::Local(2), env!("CARGO_BIN_EXE_dyno").into());
            let wish = Wish { place: &place, program, targets: &[*address], goes_on: false };
            let mut group = AgentGroup::meet(&wish, &Halt::default()).unwrap();
            let pressed = group.press(order, &Halt::default(), &mut |_| {}).unwrap();
            let shares: Vec<u64> =
                pressed.agents.iter().map(|it| it.saw.as_ref().unwrap().attempted).collect();
            assert!(shares.len() == 2 && !shares.contains(&0), "{workload}: {shares:?}");
            pressed.recording.unwrap()
        });
    }
}
