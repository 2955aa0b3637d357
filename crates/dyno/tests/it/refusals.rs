//! Bad input: exit code 2, the flag's name, and what to do about it.

use crate::rig::Rig;

/// It is refused at once, and the message contains these words.
#[track_caller]
fn refused(arguments: &[&str], words: &[&str]) {
    Rig::nowhere().refuses(arguments, words);
}

/// `dyno load URL` with these flags.
#[track_caller]
fn refused_load(flags: &[&str], words: &[&str]) {
    refused(&[&["load", "{url}/"], flags].concat(), words);
}

#[test]
fn addresses_that_are_none() {
    refused(&["load"], &["<URL>"]);
    refused(
        &["load", "http://no-such-name.invalid/"],
        &["cannot be resolved", "no-such-name.invalid"],
    );
}

#[test]
fn addresses_that_belong_to_others() {
    refused(&["load", "http://192.0.2.1/"], &["192.0.2.1", "--i-may-load-this-target"]);
    let metadata = "http://169.254.169.254/";
    refused(&["load", metadata, "--i-may-load-this-target"], &["dyno sends it no request"]);
}

#[test]
fn counts_times_and_rates_that_are_absurd() {
    refused_load(&["-c", "0"], &["--connections", "at least 1"]);
    refused_load(&["-d", "soon"], &["--duration", "500ms, 10s"]);
    refused_load(&["-n", "0"], &["--total", "at least 1"]);
    refused_load(&["-r", "0"], &["--rate", "is not a rate"]);
    refused_load(&["-r", "1:23h,1:2h"], &["--rate", "at most 24h"]);
    refused_load(&["--sessions", "0"], &["--sessions", "is not a rate"]);
    refused_load(&["--sessions", "1", "--calls", "0"], &["--calls", "at least 1"]);
    refused_load(&["--sessions", "1", "--calls", "5000000000"], &["--calls", "at most"]);
    refused_load(&["--timeout", "0"], &["--timeout", "longer than 0"]);
    refused_load(&["--warmup", "x"], &["--warmup"]);
    refused_load(&["-r", "10..100", "-d", "1s", "--warmup", "1s"], &["--warmup", "lasts 1.00 s"]);
    refused_load(&["--max-failures", "101"], &["--max-failures", "from 0 to 100"]);
    refused_load(&["-H", "Transfer-Encoding: chunked"], &["--header or --body", "no body"]);
    refused_load(&["-t", "4", "-c", "2"], &["--threads 4", "2 connections"]);
    refused_load(&["-t", "5000"], &["--threads", "1,024"]);
}

#[test]
fn flags_that_do_not_go_together() {
    refused_load(&["-r", "1", "--sessions", "1"], &["--rate", "--sessions"]);
    refused_load(&["--arrivals", "poisson"], &["--arrivals", "--rate"]);
    refused_load(&["--max-connections", "5"], &["--max-connections", "--rate"]);
    refused_load(&["--calls", "5"], &["--sessions"]);
    refused_load(&["-r", "1..5", "--arrivals", "poisson"], &["--arrivals poisson"]);
    refused_load(&["-r", "5", "-c", "9", "--max-connections", "5"], &["--max-connections 5"]);
    refused_load(&["-b", "x", "-B", "/dev/null"], &["--body", "--body-file"]);
    refused_load(&["--sessions", "5", "--no-keepalive"], &["--no-keepalive"]);
}

#[test]
fn a_place_to_connect_to_that_is_written_otherwise() {
    let says = "write only the place to connect to, like 127.0.0.1:8080";
    refused_load(&["--connect-to", "h:80:127.0.0.1:9"], &[says]);
    let curl = ["load", "--curl", "curl --connect-to ::127.0.0.1:9 http://h/"];
    refused(&curl, &["--curl: --connect-to: ", "give --connect-to HOST:PORT to dyno load"]);
}

#[test]
fn requests_and_expectations_that_cannot_be() {
    refused_load(&["-m", "GET /"], &["--method", "not a method"]);
    refused_load(&["-H", "no colon"], &["--header", "Name: value"]);
    refused_load(&["-H", "X: a\nY: b"], &["--header", "on one line"]);
    refused_load(&["-B", "/no/such/file"], &["--body-file /no/such/file", "name a file"]);
    refused_load(&["-b", "@a.json"], &["--body", "a file is --body-file a.json"]);
    refused_load(&["-b", "{random:99}"], &["--body", "{random:N}"]);
    refused_load(&["--expect-status", "banana"], &["--expect-status", "100 to 599"]);
    refused_load(&["--expect-body", "@/no/such/file"], &["--expect-body", "/no/such/file"]);
    refused_load(&["--expect-header", "x"], &["--expect-header", "Name: value"]);
}

#[test]
fn what_this_machine_does_not_have() {
    refused_load(&["--load-cpus", "9999"], &["--load-cpus", "no CPU 9999"]);
    refused_load(
        &["--source", "192.0.2.1"],
        &["--source 192.0.2.1", "not an address of this machine"],
    );
    refused_load(&["--source", "::1"], &["--source ::1", "one family"]);
    refused_load(&["--unix", ""], &["--unix"]);
    refused_load(&["-o", "/no/such/directory/x.json"], &["--output", "no such directory"]);
    refused_load(&["-o", "json:/"], &["--output", "directory"]);
    refused_load(&["-o", "/proc/x.json"], &["--output"]);
}

#[test]
fn too_few_files_are_reported_with_the_command_that_raises_the_limit() {
    let words = ["RLIMIT_NOFILE) is 100", "132 too few", "`ulimit -n 232`"];
    Rig::nowhere().files(100).refuses(&["load", "{url}/", "-c", "200"], &words);
}

#[test]
fn a_soft_limit_of_files_is_raised_without_a_word() {
    let rig = Rig::new().soft_files(60);
    let ran = rig.dyno(&["load", "{url}/hello", "-c", "100", "-n", "500", "--json"]).status(0);
    assert_eq!(ran.json()["connections"]["established"], 100);
}

#[test]
fn a_near_miss_is_named() {
    refused_load(&["--conections", "5"], &["--connections"]);
    refused(&["serve", "--fault", "cut-bdoy"], &["--fault", "did you mean `cut-body`?"]);
}

#[test]
fn servers_that_cannot_be() {
    refused(&["serve", "--listen", "nowhere"], &["--listen", "127.0.0.1:8080"]);
    refused(&["serve", "--listen", "192.0.2.1:80"], &["--listen", "192.0.2.1:80"]);
    refused(&["serve", "--fault-rate", "2"], &["--fault-rate", "from 0 to 1"]);
    refused(&["serve", "--dataset", "/dev/null"], &["--dataset", "no JSON array"]);
    refused(&["serve", "--cpus", "9999"], &["--cpus", "no CPU 9999"]);
    refused(&["serve", "--root", "x"], &["--root", "xml-error"]);
    let calibrate = |flags: &[&str], words: &[&str]| {
        refused(&[&["load", "--calibrate"], flags].concat(), words);
    };
    calibrate(&["-o", "x.md"], &["--calibrate", "-o takes FILE.json only"]);
    calibrate(&["-c", "5"], &["--calibrate", "--connections"]);
    calibrate(&["localhost"], &["--calibrate", "[URL]"]);
    calibrate(&["-H", "a: b"], &["--calibrate", "--header"]);
}

#[test]
fn queues_that_cannot_be() {
    let queue = |flags: &[&str], words: &[&str]| {
        refused(&[&["serve", "--listen", "127.0.0.1:0"], flags].concat(), words);
    };
    let served = |flags: &[&str], words: &[&str]| {
        queue(&[&["--service", "exponential:500us"], flags].concat(), words);
    };
    served(&["--servers", "0"], &["--servers", "from 1 to 100000"]);
    queue(&["--service", "exponential:0"], &["from 1us to an hour"]);
    served(&["--lottery", "51%"], &["--lottery", "from 0 % to 50 %"]);
    queue(&["--rate-limit", "1000,99999999999"], &["--rate-limit", "1000,50"]);
    served(&["--delay", "constant:1ms"], &["--delay", "--service"]);
    queue(&["--servers", "2"], &["--service"]);
    queue(&["--collapse", "100ms,4"], &["--service"]);
    queue(&["--lottery", "5%"], &["--service"]);
    for flags in [["--servers", "2"], ["--collapse", "100ms,4"], ["--lottery", "5%"]] {
        queue(&[&["--delay", "constant:1ms"][..], &flags].concat(), &["--delay", flags[0]]);
    }
}
