//! https:// and wss://: what is measured, what is believed, and what is refused.

use std::sync::Arc;

use oracle::Config;
use serde_json::Value;

use crate::folder::Folder;
use crate::lab_rig::Lab;
use crate::rig::{Going, Ran, Rig};
use crate::secured_rig::Front;

const SHORT: [&str; 4] = ["-n", "200", "-c", "5"];

/// An oracle, and TLS before it.
fn secured() -> (Rig, Front) {
    let rig = Rig::new();
    let front = Front::of(&rig.url("").replace("http://", ""));
    (rig, front)
}

fn load(rig: &Rig, url: &str, flags: &[&str]) -> Ran {
    rig.dyno(&[&["load", url], &SHORT[..], flags].concat())
}

fn json_of(rig: &Rig, url: &str, flags: &[&str]) -> Value {
    load(rig, url, &[flags, &["--json"]].concat()).json()
}

#[test]
fn a_load_over_tls_says_what_was_agreed_on() {
    let (rig, front) = secured();
    let folder = Folder::new();
    let file = folder.path("load.json");
    load(&rig, &front.url("/hello"), &["--ca", front.ca(), "-o", &file])
        .status(0)
        .stdout_has("1.3, TLS_AES_256_GCM_SHA384, x25519, ALPN http/1.1")
        .stdout_has("5 handshakes: 5 full, 0 resumed; 10 tickets came")
        .stdout_has("certificate: ECDSA P-256, a chain of ");
    let json = folder.json("load.json");
    assert_eq!((&json["tls"]["full"], &json["tls"]["versions"]["1.3"]), (&5.into(), &5.into()));
    assert_eq!(json["tls"]["handshake"]["count"], 5);
    assert_eq!(json["order"]["tls"]["verified"], true);
    assert_eq!(json["order"]["url"], front.url("/hello"));
    assert_eq!(json["books"]["correct"], 200);
    let plain = json_of(&rig, &rig.url("/hello"), &[]);
    assert!(plain["tls"].is_null() && plain["order"]["tls"].is_null());
}

#[test]
fn what_is_offered_is_what_the_flags_say() {
    let (rig, front) = secured();
    let suite = "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256";
    let flags = ["-k", "--tls", "1.2", "--ciphers", suite, "--groups", "P-384"];
    let seen = &json_of(&rig, &front.url("/hello"), &flags)["tls"];
    assert_eq!((&seen["versions"]["1.2"], &seen["suites"][suite]), (&5.into(), &5.into()));
    assert_eq!(seen["groups"]["secp384r1"], 5);
}

#[test]
fn the_connections_of_a_pool_are_opened_before_any_of_them_has_a_session_to_resume() {
    let (rig, front) = secured();
    load(&rig, &front.url("/hello"), &["-k", "--tls-resume", "always"])
        .status(0)
        .stdout_has("0 of 5 handshakes resumed a session, and 5 should have");
}

#[test]
fn a_certificate_is_believed_only_with_its_authority_or_k() {
    let (rig, front) = secured();
    let refused = load(&rig, &front.url("/hello"), &[]).status(2).stdout_has("tls.certificate");
    let _ = refused.stdout_has("signed by an unknown authority; give --ca FILE, or -k");
    let _ =
        load(&rig, &front.url("/hello"), &["-k"]).status(0).stdout_has("were not verified (-k)");
    // An address may be a name, if the certificate has it.
    let by_address = format!("https://127.0.0.1:{}/hello", front.port());
    let _ = load(&rig, &by_address, &["--ca", front.ca()]).status(0);
    // The name is the URL's, wherever the connection goes.
    let there = format!("127.0.0.1:{}", front.port());
    let flags = ["--ca", front.ca(), "--connect-to", &there];
    let _ = load(&rig, "https://localhost/hello", &flags).status(0);
    let elsewhere = load(&rig, "https://example.invalid/hello", &flags).status(2);
    let _ = elsewhere.stdout_has("is not for example.invalid but for");
    let by_variable = |path: &str| {
        let mut command = rig.command(&["load", &front.url("/hello"), "-n", "10"]);
        command.env("SSL_CERT_FILE", path);
        Going::start(command).end()
    };
    let _ = by_variable(front.ca()).status(0);
    let _ = by_variable("/no/such.pem").status(2).stderr_has("SSL_CERT_FILE");
}

#[test]
fn a_plain_port_is_told_from_tls() {
    let rig = Rig::new();
    let url = rig.url("/hello").replace("http://", "https://");
    let ran = load(&rig, &url, &["-k"]).status(2).stdout_has("tls.protocol");
    let _ = ran.stdout_has("the server answers in plain HTTP; write http://");
    let ran = rig.dyno(&["check", &url, "-k", "--case", "H1-B01"]).status(2);
    let _ = ran.stdout_has("the server answers in plain HTTP; write http://");
    let _ =
        rig.dyno(&["hold", &url, "-k", "-c", "2", "--every", "1s", "--settle", "100ms"]).status(2);
}

#[test]
fn what_is_typed_wrongly_is_refused_with_the_way_out() {
    let (rig, front) = secured();
    let folder = Folder::new();
    let file = |name: &str, content: &[u8]| {
        folder.write(name, content);
        folder.path(name)
    };
    let (empty, text) = (file("empty.pem", b""), file("text.pem", b"hello"));
    let der = file("a.der", &[0x30, 0x82, 1, 2]);
    let cut = front.authority().replace("-----END", "-----EMD");
    let broken = file("cut.pem", cut.as_bytes());
    let odd = file("odd.pem", b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    let url = front.url("/hello");
    for (flags, words) in [
        (&["--ca", "/no/such.pem"][..], ["--ca", "/no/such.pem"]),
        (&["--ca", &empty], ["no certificate in PEM form", "openssl x509 -inform der"]),
        (&["--ca", &text], ["no certificate in PEM form", "text.pem"]),
        (&["--ca", &der], ["no certificate in PEM form", "a.der"]),
        (&["--ca", &broken], ["--ca", "cut.pem"]),
        (&["--ca", &odd], ["certificate 1 in it cannot be used", "odd.pem"]),
        (&["--ca", front.ca(), "-k"], ["--ca", "--insecure"]),
        (&["--tls", "1.1"], ["--tls", "the versions are 1.2 and 1.3"]),
        (&["--tls-resume", "often"], ["--tls-resume", "never, always"]),
        (&["--ciphers", "RC4-MD5"], ["no suite `RC4-MD5`", "TLS_AES_128_GCM_SHA256"]),
        (&["--groups", "secp521r1"], ["no group `secp521r1`", "x25519"]),
    ] {
        rig.refuses(&[&["load", &url], flags].concat(), &words);
    }
}

#[test]
fn connections_are_held_over_tls() {
    let (rig, front) = secured();
    let six = ["-c", "6", "--every", "1s", "--settle", "200ms", "--json"];
    let flags = [&six[..], &["--ca", front.ca()]].concat();
    let held =
        rig.dyno(&[&["hold", &front.url("/poll/0.1")], &flags[..]].concat()).status(0).json();
    let step = &held["plateaus"][0];
    assert_eq!((&step["books"]["open"], &step["tls"]["full"]), (&6.into(), &6.into()));
    assert!(10 < step["messages"].as_u64().unwrap());
    // Of its own TLS, the oracle knows how many handshakes there were.
    let rig = Rig::oracle(Config { tls: Some(Arc::default()), ..Config::default() });
    let (sockets, authority) = (rig.url("/wsecho"), rig.authority_file().unwrap());
    let sockets = sockets.replace("https", "wss");
    let more = ["--ca", authority.path(), "--echo", "20", "--load-on", "local:2"];
    let held = rig.dyno(&[&["hold", &sockets], &six[..], &more].concat()).status(0).json();
    let step = &held["plateaus"][0];
    assert_eq!((&step["books"]["open"], &step["tls"]["full"]), (&6.into(), &6.into()));
    assert!(5 < step["echo"]["correct"].as_u64().unwrap(), "{}", step["echo"]);
    assert_eq!(rig.truth().handshakes_full, 6);
}

#[test]
fn a_server_with_tls_is_checked() {
    let (rig, front) = secured();
    let few = ["--case", "H1-B0*,H1-C*", "--rounds", "1", "--ca", front.ca()];
    let ran = rig.dyno(&[&["check", &front.url("/hello")], &few[..]].concat()).status(0);
    let _ = ran.stdout_has(" 0 fail").stdout_has("https://localhost:");
    let socket = front.url("/wsecho").replace("https", "wss");
    let few = ["--case", "WS-H0*", "--rounds", "1", "-k"];
    let _ = rig.dyno(&[&["check", &socket], &few[..]].concat()).status(0).stdout_has("wss://");
    let unknown = rig.dyno(&["check", &front.url("/hello"), "--case", "H1-B01"]).status(2);
    let _ = unknown.stdout_has("signed by an unknown authority");
}

#[test]
fn sides_of_a_race_may_have_tls() {
    let (_rig, one) = secured();
    let (_other_rig, other) = secured();
    let lab = Lab::new();
    let race = |urls: [&str; 2], flags: &[&str]| {
        let short = ["-c", "2", "-d", "150ms", "--warmup", "50ms", "--rounds", "2", "--json"];
        Going::start(lab.command(&[&["race"], &urls[..], &short, flags].concat())).end()
    };
    let (first, second) = (one.url("/hello"), other.url("/hello"));
    let ran = race([&first, &second], &["-k", "--tls", "1.3", "--groups", "secp256r1"]);
    assert!([Some(0), Some(2)].contains(&ran.code()), "{}", ran.stderr);
    let json = ran.json();
    assert!(json["ratios"][0]["figures"].as_array().is_some_and(|all| !all.is_empty()), "{json}");
    let text = json["sides"].to_string();
    assert!(text.contains("https://localhost:"), "{text}");
    let foreign = race([&first, &second], &["--ca", one.ca()]).status(1);
    let _ = foreign.stderr_has("signed by");
}
