//! `dyno check --http2`: against the oracle in cleartext and within TLS, against servers that do not speak HTTP/2.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use oracle::{Config, HttpVersions, Listen};

use crate::check::{outer_address, says_at};
use crate::folder::Folder;
use crate::rig::{Ran, Rig};
use crate::schema::fits;

/// A few cases that take no time, one of each kind of verdict that the oracle gives.
const FEW: [&str; 5] = ["--http2", "--case", "H2-B01,H2-B02,H2-G04,H2-Z03", "--rounds", "1"];

#[track_caller]
fn check(rig: &Rig, flags: &[&str]) -> Ran {
    rig.dyno(&[&["check", "{url}/hello", "--post", "/user"], flags].concat())
}

#[test]
fn the_oracle_keeps_what_it_is_asked_by_prior_knowledge() {
    let (folder, rig) = (Folder::new(), Rig::new());
    let ran = check(&rig, &[&FEW[..], &["--full", "-o", &folder.path("c.json")]].concat());
    let ran = ran.status(0).stdout_has("HTTP/2, page /hello");
    let ran = ran.stdout_has("HTTP/2 3 pass · 0 warn · 0 fail · 0 not testable of 3");
    let ran = ran.stdout_has("H2-Z03: there is no TLS at http://");
    let ran =
        ran.stdout_has("the preface").stdout_has("HEADERS on stream 1 (END_STREAM, END_HEADERS)");
    let _ = ran.stdout_has("GOAWAY: last stream 0, FRAME_SIZE_ERROR");
    fits("check", &folder.json("c.json"));
}

#[test]
fn within_tls_the_cases_of_tls_apply_too() {
    let rig = Rig::oracle(Config { tls: Some(Arc::default()), ..Config::default() });
    let all = ["--http2", "--area", "h2-tls", "--rounds", "1", "-k"];
    let ran = check(&rig, &all).status(0).stdout_has("HTTP/2 8 pass · 1 warn · 0 fail");
    let _ = ran.stdout_has("H2-Z07").stdout_has("may answer for every name");
}

#[test]
fn a_server_that_does_not_speak_http_2_is_not_failed() {
    let bad = b"HTTP/1.1 400 \x1b[31mBad\r\nContent-Length: 0\r\n\r\n";
    let rig = says_at(Ipv4Addr::LOCALHOST, bad);
    let ran =
        check(&rig, &FEW).status(2).stdout_has("HTTP/2 not applicable: HTTP/2 is not offered");
    let _ = ran.stdout_has(r"answers its preface with `HTTP/1.1 400 \x1b[31mBad`");
    let tls = Config { tls: Some(Arc::default()), http: HttpVersions::Http1, ..Config::default() };
    let ran = check(&Rig::oracle(tls), &[&FEW[..], &["-k"]].concat()).status(2);
    let _ = ran.stdout_has("HTTP/2 not applicable: HTTP/2 is not offered").stdout_lacks("fail  H2");
    let rig = Rig::oracle(Config { tls: Some(Arc::default()), ..Config::default() });
    let plain = rig.url("/").replacen("https:", "http:", 1);
    let ran = rig.dyno(&["check", &plain, "--http2"]).status(2);
    let _ = ran.stdout_has("the server answers with a record of TLS; write https://");
}

#[test]
fn floods_are_sent_to_no_other_machine_whatever_is_agreed() {
    let Some(address) = outer_address() else {
        return crate::lab_rig::not_tested("a server elsewhere", "an address that is not loopback");
    };
    let listen = Listen::Tcp(SocketAddr::new(address, 0));
    let rig = Rig::oracle(Config { listen, ..Config::default() });
    let flags = ["--http2", "--case", "H2-B01,H2-X02,H2-L0*", "--rounds", "1"];
    let ran = check(&rig, &flags).status(0).stdout_has("HTTP/2 1 pass");
    let _ = ran.stdout_has("H2-X02: not sent: it could harm");
    let ran = check(&rig, &[&flags[..], &["--i-may-probe-this-target"]].concat()).status(0);
    let ran =
        ran.stdout_has("HTTP/2 2 pass").stdout_has("H2-L07 H2-L08: not sent: floods are only");
    let _ = ran.stdout_has("Not applicable, and not counted (8)");
}
