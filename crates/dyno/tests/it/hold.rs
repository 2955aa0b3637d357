//! `dyno hold`: connections that are kept.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};

use rustix::process::{Pid, Signal, kill_process};

use crate::agents_rig::processes_of;
use crate::lab_rig::until;
use crate::rig::{Going, Rig, in_each, in_one_of_five, serving};

/// A server that does this to every connection, once it has received a request.
fn server(talk: impl Fn(&mut TcpStream) + Send + Sync + 'static) -> Rig {
    Rig::at(serving(Ipv4Addr::LOCALHOST, move |mut socket| {
        let _ = socket.read(&mut [0; 4096]);
        talk(&mut socket);
    }))
}

/// So many connections for a second, all of which count, and none is opened again.
fn once(connections: &'static str) -> [&'static str; 7] {
    ["-c", connections, "--every", "1s", "--settle", "0", "--no-reopen"]
}

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

#[test]
fn connections_are_added_in_steps_over_several_processes() {
    in_one_of_five(|| {
        let rig = Rig::new();
        let ramp = ["-c", "30", "--step", "15", "--every", "1s", "--settle", "200ms"];
        let by_three = ["--load-on", "local:3", "--json"];
        let hold = [&["hold", "{url}/poll/0.1"], &ramp[..], &by_three].concat();
        let ran = rig.dyno(&hold).status(0);
        let json = ran.json();
        let books = |step: usize, key: &str| json["plateaus"][step]["books"][key].as_u64().unwrap();
        let last = &json["plateaus"][1];
        in_each(|| {
            let order = &json["order"];
            assert_eq!(
                (order["processes"].as_u64(), order["kind"].as_str()),
                (Some(3), Some("chunks"))
            );
            assert_eq!((books(1, "failed"), books(1, "lost")), (0, 0));
            assert_eq!(last["stamped"], last["messages"]);
        });
        assert_eq!((books(0, "open"), books(1, "open"), books(0, "begun")), (15, 30, 15));
        assert_eq!(books(1, "opening"), 0);
        let messages = last["messages"].as_u64().unwrap();
        // 30 connections, a message every 0.1 s, about 0.8 s.
        assert!((150..=300).contains(&messages), "{messages}");
        let truth = rig.truth();
        assert_eq!((truth.connections, truth.connections_peak), (30, 30));
    });
}

#[test]
fn the_report_says_what_was_held_and_what_broke() {
    in_one_of_five(|| {
        let rig = Rig::new();
        rig.dyno(&["hold", "{url}/poll/0.1", "-c", "5", "--every", "1s", "--settle", "100ms"])
            .status(0)
            .stdout_has("connections")
            .stdout_has("measured against the due times that the messages contain")
            .stderr_has("1 process, 69 open files each");
        let ran = rig.dyno(&[&["hold", "{url}/hello"], &once("5")[..]].concat());
        let ran = in_each(|| {
            ran.status(2)
                .stdout_has("held.not_a_stream")
                .stdout_has("an answer with a length")
                .stdout_has("verdict: invalid")
        });
        ran.stdout_has(
            "Not one of 5 attempts opened a connection: mostly, an answer with a length",
        )
        .stdout_has("ask once by hand (curl -v)");
        let ends =
            server(|socket| drop(socket.write_all(&[HEAD, b"3\r\nbee\r\n0\r\n\r\n"].concat())));
        let ran = ends.dyno(&[&["hold", "{url}/"], &once("4")[..]].concat());
        let ran = in_each(|| {
            ran.stdout_has("held.ended").stdout_has("an answer that should not end has ended")
        });
        ran.status(1);
    });
}

#[test]
fn ctrl_c_keeps_what_was_seen() {
    let rig = Rig::new();
    let flags = ["-c", "20", "--every", "1m", "--load-on", "local:2", "--json"];
    let ran = rig.dyno_interrupted(&[&["hold", "{url}/poll/0.1"], &flags[..]].concat()).status(130);
    let json = ran.json();
    assert_eq!(json["was_halted"], true);
    let doubts = json["verdict"]["doubts"].as_array().unwrap();
    let halted = doubts.iter().find(|doubt| doubt["id"] == "halted").expect("it is noted");
    assert_eq!(halted["gravity"], "note", "what was seen until then is valid for its time");
    assert!(10 <= json["plateaus"][0]["books"]["begun"].as_u64().unwrap());
}

#[test]
fn what_cannot_be_held_is_refused_with_its_sum() {
    let refused = |flags: &[&str], words: &[&str]| {
        Rig::nowhere().refuses(&[&["hold"], flags].concat(), words);
    };
    refused(
        &["{url}/", "-c", "900000", "--load-on", "local:1"],
        &["a process may open", "ulimit -n"],
    );
    refused(&["wss://localhost/", "ws://localhost/"], &["one path", "ws:// or wss://"]);
    refused(&["https://localhost:1/", "https://127.0.0.1:1/", "-k"], &["the same host name"]);
    refused(&["{url}/a", "{url}/b"], &["one path"]);
    refused(&["{url}/", "--echo", "5"], &["WebSocket"]);
    refused(&["{url}/", "--rate", "10", "-c", "1000"], &["leaves no time", "--every"]);
    refused(&["http://192.0.2.1/"], &["--i-may-load-this-target"]);
    refused(&["{url}/", "--source", "::1"], &["not of one family"]);
    // Of IPv6 there is one address of this machine's own, not a whole network.
    let own = "each of 1 local address";
    refused(&["http://[::1]:9/", "-c", "40000", "--dry-run"], &["more local ports", own]);
    Rig::new()
        .dyno(&["hold", "{url}/", "-c", "10000", "--dry-run"])
        .status(0)
        .stdout_has("files    1 process, 10,064 open files each")
        .stdout_has("ports    10,000 to 1 target")
        .stdout_has("backlog  a server's accept queue holds 4,096");
}

/// Sixty connections of three processes, once all are open; and the processes' ids.
fn three_processes(rig: &Rig, every: &str) -> (Going, Vec<Pid>) {
    let flags =
        ["-c", "60", "--every", every, "--settle", "100ms", "--load-on", "local:3", "--json"];
    let mut going = Going::start(rig.command(&[&["hold", "{url}/poll/0.1"], &flags[..]].concat()));
    until("three processes hold", || processes_of(going.pid()).len() == 3);
    let pids = processes_of(going.pid());
    going.says("60 open");
    (going, pids)
}

#[test]
fn what_the_other_processes_held_is_kept_and_the_exit_code_is_2() {
    let rig = Rig::new();
    let (going, pids) = three_processes(&rig, "8s");
    kill_process(pids[0], Signal::TERM).unwrap();
    kill_process(pids[0], Signal::KILL).unwrap();
    let ran = going.end().status(2).stderr_has("agent local 1 (1 of 3) was lost");
    let json = ran.json();
    assert_eq!(json["plateaus"][0]["books"]["open"].as_u64(), Some(40));
    assert_eq!(json["was_halted"], false);
    let seconds = json["windows"].as_array().unwrap();
    assert_eq!(seconds.last().unwrap()["open"].as_u64(), Some(40));
}

#[test]
fn a_holding_process_that_stands_still_is_not_waited_for_for_ever() {
    let rig = Rig::new();
    let (mut going, pids) = three_processes(&rig, "10m");
    kill_process(pids[2], Signal::STOP).unwrap();
    going.says("agent local 3 (3 of 3) was lost");
    going.signal(Signal::INT);
    let json = going.end().status(130).json();
    let lost = &json["lost_processes"][0];
    assert_eq!(lost["number"].as_u64(), Some(3));
    assert!(lost["says"].as_str().unwrap().contains("it sent nothing for 5 s"), "{lost}");
    assert_eq!(json["plateaus"][0]["books"]["open"].as_u64(), Some(40));
    until("it was killed", || rustix::process::test_kill_process(pids[2]).is_err());
}

#[test]
fn messages_a_second_are_counted_over_whole_beats() {
    in_one_of_five(|| {
        let rig = Rig::new();
        let hold = |path: &str, beat: &str, every: &str| {
            let opened = ["-c", "100", "--rate", "1000", "--every", every, "--settle", "500ms"];
            let flags = [&opened[..], &["--json", "--interval", beat]].concat();
            rig.dyno(&[&["hold", path], &flags[..]].concat()).status(0).json()["plateaus"][0]
                .clone()
        };
        // Beats are 0.5 s from the edges; 3.4 s are measured, which contain three whole beats.
        let step = hold("{url}/poll/1", "1s", "4s");
        assert_eq!(step["messages_per_s"].as_f64(), Some(100.0), "{step}");
        assert_eq!(
            (step["whole_beats_s"].as_f64(), step["messages_in_whole_beats"].as_u64()),
            (Some(3.0), Some(300))
        );
        let step = hold("{url}/poll/10", "10s", "1s");
        in_each(|| assert!(step["messages_per_s"].is_null(), "{step}"));
    });
}

#[test]
fn messages_a_second_are_called_rough_where_nothing_says_how_often_they_come() {
    let rig = Rig::new();
    let hold = |rest: &[&str]| {
        let flags = ["hold", "{url}/poll/0.5", "-c", "5", "--every", "2s", "--settle", "500ms"];
        rig.dyno(&[&flags[..], rest].concat()).status(0)
    };
    hold(&[]).stdout_has("  ~").stdout_has("~ over");
    hold(&["--interval", "500ms"]).stdout_lacks("~");
}
