//! Kept loads over HTTP/2 and within TLS: what is written down of them, shown again and compared.

use std::sync::Arc;

use oracle::Config;

use crate::folder::Folder;
use crate::rig::{Ran, Rig};

/// A store of a test's own, and the loads in it as files.
struct Kept(Folder);

impl Kept {
    fn new() -> Kept {
        Kept(Folder::new())
    }

    fn path(&self) -> String {
        self.0.path("s.sqlite")
    }

    fn file(&self, number: u32) -> String {
        self.0.path(&format!("{number}.json"))
    }

    /// Keeps a load as the run with this number, and as a file.
    fn load(&self, rig: &Rig, number: u32, flags: &[&str]) {
        let (path, file) = (self.path(), self.file(number));
        let load = ["load", "{url}/hello", "-n", "500", "-c", "4", "--keep"];
        let kept = ["--store", &path, "-o", &file];
        let ran = rig.dyno(&[&load[..], &kept, flags].concat());
        let _ = ran.stderr_has(&format!("kept as run {number}:"));
    }

    fn dyno(&self, rig: &Rig, words: &[&str]) -> Ran {
        rig.dyno(&[words, &["--store", &self.path()]].concat())
    }
}

#[test]
fn a_kept_load_over_http_2_is_shown_as_what_it_was() {
    let (kept, rig) = (Kept::new(), Rig::new());
    kept.load(&rig, 1, &["--http2", "--streams", "4", "--rounds", "2"]);
    kept.load(&rig, 2, &[]);
    let full = kept.dyno(&rig, &["report", "1", "--full"]).status(0);
    let full = full.stdout_has("closed: 4 connections × 4 streams over HTTP/2; 500 requests a");
    let full = full.stdout_has("up to 4 requests at once on each connection");
    let full = full.stdout_has("the server's SETTINGS: MAX_CONCURRENT_STREAMS 250");
    let full = full.stdout_has("HTTP/2").stdout_has("compression of fields (--hpack)");
    let _ = full.stdout_has("spread of requests (--spread)").stdout_lacks("certificate");
    let plain = kept.dyno(&rig, &["report", "2", "--full"]).status(0);
    let plain = plain.stdout_has("closed: 4 connections; 500 requests").stdout_has("HTTP/1.x");
    let _ = plain.stdout_lacks("HTTP/2").stdout_lacks("streams over");
    // Loads over another protocol are of another group: they have no trend in common, and each is pruned by itself.
    let json = kept.dyno(&rig, &["runs", "list", "--json"]).status(0).json();
    let groups: Vec<&str> =
        json["runs"].as_array().unwrap().iter().map(|run| run["group"].as_str().unwrap()).collect();
    let plain = format!("load of GET {}", rig.url("/hello"));
    let over = format!("{plain}, over HTTP/2 (--streams 4)");
    assert!(groups.contains(&plain.as_str()) && groups.contains(&over.as_str()), "{groups:?}");
    kept.load(&rig, 3, &[]);
    let pruned = kept.dyno(&rig, &["runs", "prune", "--keep-newest", "1"]).status(0);
    assert_eq!(pruned.stdout.lines().count(), 1, "{pruned}");
    let _ = pruned.stdout_has(&format!("deleted run 2: {plain}, begun "));
}

#[test]
fn a_kept_load_within_tls_says_what_was_offered_and_agreed_on() {
    let kept = Kept::new();
    let rig = Rig::oracle(Config { tls: Some(Arc::default()), ..Config::default() });
    let authority = rig.authority_file().expect("it made one");
    kept.load(&rig, 1, &["-k", "--http2", "--rounds", "2"]);
    kept.load(&rig, 2, &["--ca", authority.path(), "--http2", "--tls", "1.3"]);
    let full = kept.dyno(&rig, &["report", "1", "--full"]).status(0);
    let full = full.stdout_has("ALPN h2").stdout_has("4 handshakes: 4 full, 0 resumed");
    let full = full.stdout_has("certificates were not verified (-k)").stdout_has("1.2 or 1.3");
    let _ = full.stdout_has("closed: 4 connections × 1 stream over HTTP/2");
    let verified = kept.dyno(&rig, &["report", "2", "--full"]).status(0);
    let _ = verified.stdout_lacks("not verified").stdout_has("ALPN h2");
    kept.dyno(&rig, &["compare", "1", "2"])
        .status(2)
        .stdout_has("The two loads are not alike")
        .stdout_has("the loads differ in TLS (--tls): A had 1.2 or 1.3, B 1.3")
        .stdout_has("the loads differ in certificates: A had not verified (-k), B verified");
}

/// Whatever is said of two loads is said of both their files and both their runs.
#[test]
fn loads_over_http_1_and_over_http_2_are_not_alike_as_files_and_kept() {
    let (kept, rig) = (Kept::new(), Rig::new());
    kept.load(&rig, 1, &[]);
    kept.load(&rig, 2, &["--http2", "--streams", "4"]);
    kept.load(&rig, 3, &["--http2", "--streams", "8", "--hpack", "static"]);
    let both = |a: u32, b: u32| {
        let files = [kept.file(a), kept.file(b)];
        let of_files = rig.dyno(&["compare", &files[0], &files[1]]);
        let numbers = [a.to_string(), b.to_string()];
        [kept.dyno(&rig, &["compare", &numbers[0], &numbers[1]]), of_files]
    };
    for ran in both(1, 2) {
        let ran = ran.status(2).stdout_has("The two loads are not alike");
        let ran = ran.stdout_has("protocol (--http2): A had HTTP/1.x, B HTTP/2");
        let ran = ran.stdout_lacks("worse in").stdout_lacks("nothing");
        let _ =
            ran.stdout_has("at 4 connections (A) and 4 connections × 4 streams over HTTP/2 (B)");
    }
    for ran in both(2, 3) {
        let ran = ran.status(2).stdout_has("streams (--streams): A had 4, B 8");
        let ran = ran.stdout_has("compression of fields (--hpack): A had indexed, B static");
        assert_eq!(ran.stdout.matches("(--hpack)").count(), 1, "it is said once: {ran}");
    }
    let secured = Rig::oracle(Config { tls: Some(Arc::default()), ..Config::default() });
    kept.load(&secured, 4, &["-k"]);
    for ran in both(1, 4) {
        let ran = ran.status(2).stdout_has("TLS (--tls): A had none, B 1.2 or 1.3");
        let _ = ran.stdout_has("not alike");
    }
}
