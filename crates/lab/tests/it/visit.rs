//! Subjects that are visited: started, asked, started again, and gone afterwards.

use std::net::{SocketAddr, TcpStream};
use std::path::Path;

use check::Help;
use lab::build::{BuildCache, Built};
use lab::manner::Protocol;
use lab::record::{Outcome, OutcomeKind};
use lab::source_file::SourceFile;
use lab::subject::Subject;
use lab::trial::Launcher;
use lab::visit::{Visit, VisitSetup, target};
use lab::workload::Workload;
use load::Halt;
use rustix::process::{Pid, Signal, kill_process};

use crate::folder::{Folder, eventually, lives, program};

crate::tests![
    a_subject_is_visited_and_gone_afterwards,
    a_server_that_has_died_is_started_again_at_the_same_port,
    a_subject_that_does_not_start_says_why,
    a_visit_that_is_interrupted_ends,
    a_server_that_asks_for_a_data_set_finds_it_and_it_is_gone_afterwards,
    the_target_has_what_a_subject_speaks,
    the_target_is_whole_by_itself,
];

/// `serve PORT`: the oracle, until it is ended.
pub(crate) fn serve(arguments: &[String]) -> i32 {
    let address: SocketAddr = format!("127.0.0.1:{}", arguments[0]).parse().unwrap();
    let listen = oracle::Listen::Tcp(address);
    let config = oracle::Config { listen, threads: 1, ..oracle::Config::default() };
    let _oracle = oracle::Oracle::start(config).unwrap();
    loop {
        std::thread::park();
    }
}

fn workloads() -> Vec<Workload> {
    let workload = |name: &str, asks: &str| {
        let page = SourceFile {
            name: format!("workloads/{name}.toml"),
            text: format!("title = 'x'\n{asks}"),
        };
        Workload::parse(name, page).unwrap()
    };
    vec![
        workload(
            "beats",
            "[[ask]]\nrequest = 'GET /wspoll/1 HTTP/1.1'\nstream = { chunks = 1, every = '1s', over = 'websocket' }",
        ),
        workload("echo", "[[ask]]\nrequest = 'GET /wsecho HTTP/1.1'\necho = 'a{random:8}'"),
        workload(
            "value",
            "[[ask]]\nrequest = 'GET /?value={random:8} HTTP/1.1'\n[[ask]]\nname = 'b'\nrequest = 'GET /?a=b HTTP/1.1'",
        ),
        workload("empty", "[[ask]]\nrequest = 'GET / HTTP/1.1'\nbody = ''"),
        workload("hello", "[[ask]]\nrequest = 'GET /hello HTTP/1.1'\nbody = 'Hello, world!'"),
        workload(
            "post",
            "[[ask]]\nrequest = 'POST /user HTTP/1.1'\nsend = 'a{random:8}'\nbody = 'a{random:8}'",
        ),
    ]
}

fn subject(speaks: &str, run: &str) -> Subject {
    let text = format!(
        "title = 'x'\nlanguage = 'x'\nhome = 'x'\nprocesses = 'one'\nready = '20s'\nspeaks = {speaks}\n\
         run = '{run}'"
    );
    let page = SourceFile { name: "subjects/x/subject.toml".into(), text };
    Subject::parse(Path::new("/nowhere"), "x", &page).unwrap()
}

/// Visits a subject with this command, in a folder of its own.
fn visit<T>(run: &str, halt: &Halt, see: impl FnOnce(Result<Visit<'_>, Outcome>) -> T) -> T {
    let folder = Folder::new();
    let cache =
        BuildCache { state: folder.at("state"), dyno: program().into(), variables: Vec::new() };
    let built = Built { folder: folder.0.clone(), hash: "x".into() };
    let workloads = workloads();
    let setup = VisitSetup {
        launcher: Launcher { cache: &cache, identity: None },
        workloads: &workloads,
        protocol: Protocol::Http1,
        service: None,
        halt,
    };
    let subject = subject("['hello', 'post']", run);
    let seen = see(Visit::begin(setup, &subject, &built));
    let left = std::fs::read_dir(folder.at("state/work")).map_or(0, Iterator::count);
    assert_eq!(left, 0, "its folder is still there");
    seen
}

fn a_subject_is_visited_and_gone_afterwards() {
    visit("{dyno} serve {port}", &Halt::default(), |visit| {
        let visit = visit.unwrap();
        let (pid, address) = (visit.processes()[0], visit.address());
        assert!(TcpStream::connect(address).is_ok() && lives(pid));
        assert_eq!(
            (visit.target().get, visit.target().posts),
            ("/hello".into(), vec!["/user".into(), "/hello".into()])
        );
        let memory = visit.memory().unwrap();
        assert!((100_000..1 << 30).contains(&memory), "{memory}");
        let stopped = visit.end().unwrap();
        assert_eq!(stopped.exit.to_string(), "signal 15 (TERM)");
        assert!(!lives(pid) && TcpStream::connect(address).is_err());
    });
}

fn a_server_that_has_died_is_started_again_at_the_same_port() {
    visit("{dyno} serve {port}", &Halt::default(), |visit| {
        let visit = visit.unwrap();
        let pid = visit.processes()[0];
        kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), Signal::KILL).unwrap();
        eventually("its end", || TcpStream::connect(visit.address()).is_err());
        assert!(visit.revive());
        assert!(!visit.processes().contains(&pid));
        assert!(TcpStream::connect(visit.address()).is_ok());
        let _ = visit.end();
    });
}

fn a_subject_that_does_not_start_says_why() {
    let fails = |run: &str| visit(run, &Halt::default(), |visit| visit.map(drop).unwrap_err());
    let died = fails("sh -c \"echo begun; echo no such file >&2; exit 3\" {port}");
    assert_eq!(died.kind, OutcomeKind::Died);
    let says = "it ended before it answered: exit status 3; the end of its output:\n  begun\n  no such file";
    assert_eq!(died.says, says);
    let missing = fails("/no/such/program {port}");
    assert_eq!(missing.kind, OutcomeKind::NotReady);
    assert!(missing.says.contains("cannot be started"), "{}", missing.says);
}

fn a_server_that_asks_for_a_data_set_finds_it_and_it_is_gone_afterwards() {
    let run = "sh -c \"grep -q quantity {dataset} && exec {dyno} serve {port}\"";
    visit(run, &Halt::default(), |visit| drop(visit.unwrap().end()));
}

fn a_visit_that_is_interrupted_ends() {
    let halt = Halt::default();
    halt.ask();
    let outcome = visit("sleep 1000 {port}", &halt, |visit| visit.map(drop).unwrap_err());
    assert_eq!(outcome.kind, OutcomeKind::Interrupted);
}

fn the_target_has_what_a_subject_speaks() {
    let address = SocketAddr::from(([127, 0, 0, 1], 7));
    let target_of = |speaks: &str| target(address, &subject(speaks, "x {port}"), &workloads());
    let all = target_of("['value', 'empty', 'hello', 'post', 'beats', 'unheard-of']");
    assert_eq!((all.authority.as_str(), all.get.as_str()), ("localhost:7", "/hello"));
    assert_eq!(all.posts, ["/user", "/hello"], "what gives bodies back, then what may take them");
    assert_eq!(all.socket.as_deref(), Some("/wspoll/1"));
    assert_eq!(target_of("['beats', 'echo']").socket.as_deref(), Some("/wsecho"));
    assert_eq!(target_of("['value', 'empty']").get, "/");
    let few = target_of("['value']");
    assert_eq!((few.get.as_str(), few.posts, few.socket), ("/?a=b", vec!["/?a=b".into()], None));
    assert_eq!(target_of("['beats']").get, "/");
}

/// Of the tree's own workloads, whatever their names: no page that needs a database, a field or a wait.
fn the_target_is_whole_by_itself() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let files = std::fs::read_dir(root.join("workloads")).unwrap();
    let mut names: Vec<String> = files
        .map(|file| file.unwrap().path().file_stem().unwrap().to_str().unwrap().to_string())
        .collect();
    names.sort();
    let all: Vec<Workload> =
        names.iter().map(|name| Workload::read(&root, name).unwrap()).collect();
    let address = SocketAddr::from(([127, 0, 0, 1], 7));
    let get_of = |names: &[String]| {
        let speaks = format!("{names:?}").replace('"', "'");
        target(address, &subject(&speaks, "x {port}"), &all).get
    };
    assert_eq!(get_of(&names), "/hello");
    let with = |other: &str| get_of(&[other.to_string(), "hello".to_string()]);
    for name in &names {
        assert_eq!(with(name), "/hello", "{name}");
    }
    // What it does speak is asked, if there is nothing else.
    assert_eq!(get_of(&["db-row".to_string()]), "/db");
    assert_eq!(get_of(&["headers".to_string()]), "/header");
}
