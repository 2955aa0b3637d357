//! Hosts of servers behind a stand-in for ssh: what they refuse, and what their owner trusts.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rusqlite::Connection;

use crate::agents_rig::{Gate, OPEN_TO_LOOPBACK};
use crate::lab_rig::{Lab, SHORT};
use crate::rig::{Going, Ran};

/// An address that no host of these tests has.
const NOWHERE: &str = "10.255.255.1";

/// A project with one server and one experiment.
fn one() -> Lab {
    Lab::one(SHORT, "")
}

/// A run with its servers behind this gate.
fn behind(lab: &Lab, gate: &Gate, flags: &[&str]) -> Ran {
    reached(lab, gate, &[&["--listen-on", NOWHERE], flags].concat())
}

/// A run with its servers behind this gate, which listen where the host was reached.
fn reached(lab: &Lab, gate: &Gate, flags: &[&str]) -> Ran {
    let run = ["run", "x", "--server-on", "ssh:server1"];
    let mut command = lab.command(&[&run[..], flags].concat());
    gate.stands_before(&mut command);
    Going::start(command).end()
}

/// What a forced command lets a key do.
const FORCED: &str = "exec \"$DYNO\" agents run --stdio --servers";
/// Where a run behind a gate ends whose files are trusted.
const TRUSTED: &str = "server1: no server can listen on 10.255.255.1 there";

#[test]
fn a_host_runs_only_files_that_its_owner_trusts() {
    let (lab, gate) = (one(), Gate::new());
    gate.opens(FORCED);
    let untrusted = |lab: &Lab| {
        behind(lab, &gate, &[])
            .status(2)
            .stderr_has("server1: the files of subjects/a (SHA-256 ")
            .stderr_has("are not trusted on ")
            .stderr_has("its owner runs `dyno agents trust DIR` there");
    };
    untrusted(&lab);
    assert!(!lab.has("cache/dyno/builds"));
    // The whole project, and one subject.
    let trusted = lab.dyno(&["agents", "trust", "."]).status(0).stdout;
    assert!(trusted.ends_with("  subjects/a\n") && trusted.len() == 64 + 13, "{trusted}");
    behind(&lab, &gate, &[]).status(2).stderr_has(TRUSTED);
    let list = lab.root.join("state/dyno/trusted");
    assert_eq!(fs::metadata(&list).unwrap().permissions().mode() & 0o777, 0o600);
    fs::remove_file(&list).unwrap();
    untrusted(&lab);
    assert_eq!(lab.dyno(&["agents", "trust", "subjects/a"]).status(0).stdout, trusted);
    behind(&lab, &gate, &[]).status(2).stderr_has(TRUSTED);
    // One byte more, one file more, another mode: none is trusted.
    lab.write("subjects/a/more", "");
    untrusted(&lab);
    fs::remove_file(lab.root.join("subjects/a/more")).unwrap();
    behind(&lab, &gate, &[]).status(2).stderr_has(TRUSTED);
    let manifest = lab.root.join("subjects/a/subject.toml");
    fs::set_permissions(&manifest, fs::Permissions::from_mode(0o755)).unwrap();
    untrusted(&lab);
    fs::set_permissions(&manifest, fs::Permissions::from_mode(0o644)).unwrap();
    // An experiment and a workload run nothing: they need no trust.
    behind(&lab, &gate, &["-d", "3s"]).status(2).stderr_has(TRUSTED);
    fs::set_permissions(&list, fs::Permissions::from_mode(0o666)).unwrap();
    behind(&lab, &gate, &[]).status(2).stderr_has("others may write to it");
    lab.dyno(&["agents", "trust", "experiments"]).status(2).stderr_has("neither a project");
}

#[test]
fn a_host_that_cannot_have_the_servers_is_named_with_the_reason() {
    let (lab, gate) = (one(), Gate::new());
    let refused = |what: &str, says: &str| {
        gate.opens(what);
        behind(&lab, &gate, &[]).status(2).stderr_has(says);
    };
    refused(
        "echo 'ssh: connect to host server1 port 22: No route to host' >&2; exit 255",
        "server1: ssh did not reach it: connect to host server1 port 22: No route",
    );
    refused("echo dyno-agent missing Linux riscv64", "it is Linux on riscv64");
    refused("echo '{\"run\":'; sleep 60", "server1: it wrote what cannot be read");
    refused(
        "echo '{\"ended\":{\"is_interrupted\":false}}'; sleep 60",
        "did not answer the greeting",
    );
    // ssh that may start any command gets dyno, and needs no trust.
    refused(OPEN_TO_LOOPBACK, TRUSTED);
    assert!(gate.cache().read_dir().unwrap().count() == 1);
    let says = "server1: it does not say by which address it was reached";
    reached(&lab, &gate, &[]).status(2).stderr_has(says);
    // A host that says to have been reached by an address of others is not believed.
    gate.opens("export SSH_CONNECTION='10.0.0.1 4 192.0.2.1 22'; eval \"$last\"");
    reached(&lab, &gate, &[]).status(2).stderr_has("192.0.2.1 is neither this machine nor a");
    gate.opens("export SSH_CONNECTION='127.0.0.1 4 127.0.0.1 22'; eval \"$last\"");
    let says = "no other machine can reach servers that listen on 127.0.0.1";
    reached(&lab, &gate, &[]).status(2).stderr_has(says);
}

#[test]
fn a_host_that_has_the_servers_of_another_run_says_so() {
    let (lab, gate) = (one(), Gate::new());
    gate.opens(FORCED);
    let mut command = agent(&lab, &[]);
    command.env("DYNO_LOCKS", gate.path());
    let mut other = command.spawn().unwrap();
    let mut input = other.stdin.take().unwrap();
    input.write_all(hello(env!("CARGO_PKG_VERSION")).as_bytes()).unwrap();
    let mut line = String::new();
    // It would end if its last reader were gone.
    let mut output = BufReader::new(other.stdout.take().unwrap());
    output.read_line(&mut line).unwrap();
    assert!(line.starts_with("{\"hello\":"), "{line}");
    let says = "server1: it is busy with a run of me@here, since ";
    behind(&lab, &gate, &[]).status(2).stderr_has(says);
    drop(input);
    assert!(other.wait().unwrap().success());
    lab.dyno(&["agents", "trust", "."]).status(0);
    behind(&lab, &gate, &[]).status(2).stderr_has(TRUSTED);
}

#[test]
fn a_host_that_does_not_keep_to_the_order_of_a_run_is_not_believed() {
    let (lab, gate) = (one(), Gate::new());
    let refused = |line: &str, says: &str| {
        // The greeting is answered by an agent, which has a lock of its own; what comes after it is anything.
        gate.opens(&format!(
            "DYNO_LOCKS=$DYNO_LOCKS/$$; mkdir $DYNO_LOCKS\n\
             ({FORCED}) | grep -m 1 hello; printf '%s\\n' '{line}'; sleep 60"
        ));
        let ran = behind(&lab, &gate, &[]).status(2).stderr_has(says);
        assert!(!ran.stderr.contains('\x1b'), "{ran}");
    };
    let order = "server1: it does not follow the protocol of a run";
    refused(r#"{"begun":{"trial":0}}"#, order);
    refused(r#"{"load":{"load":1,"order":"00"}}"#, order);
    refused(r#"{"kept":{"store":"00"}}"#, order);
    refused(r#"{"need":{"files":"../../etc"}}"#, order);
    refused(r#"{"began":{"store":"00"}}"#, "server1: it names what it did not send");
    let part = r#"{"part":{"number":5,"of":2,"digest":"x","bytes":""}}"#;
    refused(part, "server1: it wrote what cannot be read: part 5 of 2");
    refused(r#"{"run_this":"rm"}"#, "server1: it wrote what cannot be read: unknown variant");
    refused(r#"{"refused":{"says":"\u001b[2Jno"}}"#, "server1: [2Jno");
    assert_eq!(lab.store().runs().unwrap(), []);
}

fn agent(lab: &Lab, flags: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dyno"));
    command
        .args(["agents", "run", "--stdio", "--servers"])
        .args(flags)
        .env("DYNO_LOCKS", &lab.root);
    command.env("XDG_STATE_HOME", lab.root.join("state"));
    command.env("XDG_CACHE_HOME", lab.root.join("cache"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn hello(dyno: &str) -> String {
    let greeting = serde_json::json!({
        "protocol": 1, "dyno": dyno, "sha256": null, "by": "me@here", "lease": 2_000_000_000u64,
    });
    format!("{}\n", serde_json::json!({ "hello": greeting }))
}

/// What a host of servers says to these lines, and how it ends.
fn talk(lab: &Lab, flags: &[&str], lines: &[u8]) -> Ran {
    Ran::with_input(agent(lab, flags), lines)
}

/// A greeting, and the order to show what would be run of these files.
fn ordered(files: &str, so_far: Option<&str>) -> String {
    let run = serde_json::json!({
        "files": files, "name": "x", "file": "experiments/x.toml", "text": "x", "experiment": "{}",
        "is_unchecked": false, "subject_cpus": null, "listen_on": "127.0.0.1", "load_on": "here",
        "facts": [], "is_shown": true, "so_far": so_far,
    });
    format!("{}{}\n", hello(env!("CARGO_PKG_VERSION")), serde_json::json!({ "run": run }))
}

/// The lines with which a coordinator sends this, and the digest by which it names it.
fn parcels(bytes: &[u8]) -> (String, String) {
    let digest: String = wire::sha256(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    let parts: Vec<&[u8]> = bytes.chunks(512 << 10).collect();
    let line = |(number, part): (usize, &&[u8])| {
        let part = serde_json::json!({
            "number": number, "of": parts.len(), "digest": digest, "bytes": BASE64_STANDARD.encode(part),
        });
        format!("{}\n", serde_json::json!({ "part": part }))
    };
    (parts.iter().enumerate().map(line).collect(), digest)
}

/// A run that goes on brings its store, which the host opens: its coordinator is a stranger.
#[test]
fn a_host_goes_on_only_with_a_store_that_is_as_a_dyno_sealed_it() {
    let lab = one();
    lab.dyno(&["run", "x", "--server-on", "local"]).measured();
    let mut sent = fs::read_dir(lab.root.join("state/dyno/lab")).unwrap().flatten();
    let files = sent.find(|it| it.path().is_dir()).unwrap().file_name().into_string().unwrap();
    let goes_on_with = |change: &str| {
        let path = lab.root.join("so-far.sqlite");
        fs::copy(lab.root.join(".dyno/runs.sqlite"), &path).unwrap();
        Connection::open(&path).unwrap().execute_batch(change).unwrap();
        let (parts, digest) = parcels(&fs::read(path).unwrap());
        let order = ordered(&files, Some(&digest));
        let (greeting, order) = order.split_once('\n').unwrap();
        let mut bounded = Command::new("sh");
        let bounds = "ulimit -t 10; ulimit -v 300000; exec \"$0\" \"$@\"";
        let agent = agent(&lab, &["--local"]);
        bounded.args(["-c", bounds]).arg(agent.get_program()).args(agent.get_args());
        bounded.envs(agent.get_envs().filter_map(|(name, value)| Some((name, value?))));
        Ran::with_input(bounded, format!("{greeting}\n{parts}{order}").as_bytes())
    };
    goes_on_with("PRAGMA journal_mode = DELETE").status(0).stdout_has("{\"shown\":");
    let endless = "PRAGMA journal_mode = DELETE; PRAGMA foreign_keys = OFF; DROP TABLE run_plan; CREATE VIEW run_plan AS \
                   WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x AS run, x AS trial FROM c";
    for (change, says) in [
        (endless, "has not the tables of a dyno"),
        ("PRAGMA journal_mode = DELETE; UPDATE trial SET outcome_says = 'better'", "is damaged"),
        (
            "PRAGMA journal_mode = DELETE; INSERT INTO run SELECT 2, name, 0, seed, 1, dyno FROM run",
            "not a store of one run",
        ),
    ] {
        let ran = goes_on_with(change).status(2).stdout_has("{\"refused\":").stdout_has(says);
        assert!(!ran.stdout.contains("shown"), "{change}: {ran}");
    }
}

#[test]
fn a_host_obeys_only_orders_of_a_run() {
    let lab = one();
    let long = vec![b'x'; 5 << 20];
    for (garbage, says) in [
        (&b"hello\n"[..], "that is not a line of a coordinator"),
        (&b"{\"run_this\":\"rm\"}\n"[..], "unknown variant"),
        (&b"{\"run\":\"r\",\"meeting\":0,\"says\":\"bye\"}\n"[..], "and was asked to load"),
        (&[&long[..], b"\n"].concat()[..], "a line of more than 4 MiB"),
        (
            &b"\"halt\"\n{\"met\":{\"lanes\":1,\"hosts\":[],\"processes\":[]}}\n"[..],
            "an order before the greeting",
        ),
    ] {
        talk(&lab, &[], garbage).status(2).stderr_has(says);
    }
    talk(&lab, &[], hello("0.0.9").as_bytes()).status(2).stderr_has("and this is dyno 0.0.9");
    let whole = serde_json::json!({ "sent": { "whole": "0" } });
    let lines = format!("{}{whole}\n", ordered("../../etc", None));
    talk(&lab, &[], lines.as_bytes())
        .status(2)
        .stdout_has("{\"need\":{\"files\":\"../../etc\"}}")
        .stderr_has("did not come before it");
}
