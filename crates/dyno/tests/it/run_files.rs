//! Files, on dyno's own server: each way of being wrong is counted as often as the server did it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::Duration;

use lab::record::OutcomeKind;
use lab::workload::Workload;
use load::{Failure, Halt, Load, Order, Protocol, Recording, Stop, Target, press};
use oracle::{Config, Fault, Listen, Oracle};
use wire::h2::Scheme;
use wire::{AnswerParts, Files, Mismatch, Validators};

use crate::lab_rig::{Lab, SHORT, trial_of};
use crate::run_work::four_streams;

const STATUS: Failure = Failure::Content(Mismatch::Status);
const HEADER: Failure = Failure::Content(Mismatch::Header);
const BODY: Failure = Failure::Content(Mismatch::Body);

const FAULTS: [(&str, Failure); 10] = [
    ("short-body", BODY),
    ("other-octet", BODY),
    ("false-label", BODY),
    ("no-label", BODY),
    ("unoffered-coding", HEADER),
    ("other-range", BODY),
    ("wrong-content-range", HEADER),
    ("other-version", HEADER),
    ("unasked-304", STATUS),
    ("unasked-206", STATUS),
];

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The server's answer to a request for a file.
fn fetched(address: SocketAddr, name: &str) -> Vec<u8> {
    let mut answer = Vec::new();
    let mut peer = TcpStream::connect(address).unwrap();
    let request = format!("GET /static/{name} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    peer.write_all(request.as_bytes()).unwrap();
    peer.read_to_end(&mut answer).unwrap();
    answer
}

/// What the server calls the versions of its files.
fn learnt(address: SocketAddr) -> Validators {
    let answers: Vec<Vec<u8>> =
        (0..Files::COUNT).map(|number| fetched(address, Files::name(number))).collect();
    let fields = |bytes| move |name: &str| AnswerParts::of(bytes).field(name);
    Validators::of(&answers.iter().map(|it| fields(it.as_slice())).collect::<Vec<_>>()).unwrap()
}

/// Six hundred requests of the workload to a server with a fault in a tenth of its answers, and how many faults it
/// counted.
fn pressed(fault: &str, is_http2: bool) -> (Recording, u64) {
    let files = Files::of(3);
    files.make();
    let all = (0..Files::COUNT).map(|it| (Files::name(it).into(), files.content(it).to_vec()));
    let name = if is_http2 { format!("h2-{fault}") } else { fault.into() };
    let config = Config {
        files: Some(oracle::Files::of(all).into()),
        fault: Some(name.parse::<Fault>().unwrap()),
        fault_rate: 0.1,
        threads: 1,
        seed: 5,
        ..Config::default()
    };
    let oracle = Oracle::start(config).unwrap();
    let Listen::Tcp(address) = oracle.address().clone() else { panic!("a port") };
    let workload = Workload::read(&root(), "files").unwrap().with_files(&files);
    // Only the fault in that answer leaves the others right, by which the versions are learnt.
    let validators = (fault == "other-version").then(|| learnt(address));
    let workload = workload.knowing(validators.as_ref()).unwrap();
    let workload = workload.over(is_http2.then_some(Scheme::Http)).unwrap();
    let protocol = match is_http2 {
        false => Protocol::Http1,
        true => Protocol::Http2(four_streams()),
    };
    let load = Load::Closed { connections: 2 };
    let order = Order {
        stop: Stop { total: Some(600), duration: None },
        timeout: Duration::from_secs(60),
        protocol,
        seed: 9,
        ..Order::new(Target::Tcp(address), workload.asks(true), load)
    };
    let recording = press(&order, &Halt::default(), &mut |_| {}).unwrap();
    let faults = oracle.stop().faults;
    (recording, faults)
}

#[test]
fn each_way_of_serving_files_wrongly_is_counted_exactly() {
    for is_http2 in [false, true] {
        for (fault, class) in FAULTS {
            let (recording, faults) = pressed(fault, is_http2);
            let total = &recording.total;
            let failed = (total.failures(class), total.failed_in_all(), total.attempted);
            assert_eq!(failed, (faults, faults, 600), "{fault}, HTTP/2: {is_http2}");
            assert!(0 < faults, "{fault}");
        }
    }
}

#[test]
fn a_server_of_files_is_right_however_it_delivers_them() {
    let read = |path: &str| std::fs::read_to_string(root().join(path)).unwrap();
    let manifest = read("subjects/oracle/subject.toml");
    let unknown = "{dyno} serve --listen {address}:{port} --fault other-version --fault-rate 0.2 \
                   --files {files}";
    let wrong = format!("title = 'x'\nspeaks = ['files']\nready = '20s'\nrun = '{unknown}'\n");
    let lab = Lab::new()
        .file("workloads/files.toml", &read("workloads/files.toml"))
        .file("subjects/right/subject.toml", &manifest)
        .file("subjects/wrong/subject.toml", &wrong);
    let lab = lab.experiment("files", &["right", "wrong"], SHORT, "workload = 'files'\n");
    lab.dyno(&["run", "files"]);
    let trials = lab.trials("1");
    let right = trial_of(&trials, "right");
    assert_eq!(right.outcome.kind, OutcomeKind::Measured, "{:?}", right.outcome);
    let total = &right.loaded.as_ref().unwrap().recording.total;
    assert_eq!((total.correct, total.failed_in_all()), (200, 0));
    let files = total.delivered.unwrap();
    let wholes = files.identity + files.gzip + files.br;
    assert_eq!(wholes + files.parts + files.not_modified, 200, "{files:?}");
    assert_eq!((files.ranges_ignored, files.conditions_ignored), (0, 0));
    assert!([files.gzip, files.br, files.parts, files.not_modified].iter().all(|it| 0 < *it));
    let compared = total.compared.unwrap();
    assert_eq!(compared.by_bytes + compared.by_meaning, 200);
    assert!(compared.by_meaning <= 2 * Files::COUNT as u64, "{compared:?}");
    // A check may meet the fault as well as the load.
    let wrong = trial_of(&trials, "wrong");
    let failed = wrong.loaded.as_ref().map(|it| it.recording.total.failures(HEADER));
    let is_wrong = wrong.outcome.kind == OutcomeKind::Wrong;
    assert!(is_wrong || failed.is_some_and(|failed| 0 < failed), "{:?}", wrong.outcome);
}
