//! `dyno-nats key`, and what is refused before anything is connected.

use crate::rig::{Folder, Program, program};

#[test]
fn a_key_is_made_and_its_public_half_is_shown_again() {
    let folder = Folder::new();
    let public = folder.key("desk3");
    assert!(public.starts_with('U') && public.len() == 56);
    let again = program().args(["key", "--public", &folder.path("desk3")]).output().unwrap();
    assert_eq!(String::from_utf8(again.stdout).unwrap(), format!("desk3 {public}\n"));
}

#[test]
fn bad_flags_and_files_end_it_with_a_sentence() {
    let folder = Folder::new();
    let list = folder.file("list", "desk2 U1\n");
    let loose = folder.file("loose", "SUAAA\n");
    let agent =
        ["agent", "--url", "nats://127.0.0.1:9", "--lab", "lab", "--name", "a", "--trust", "any"];
    let coordinator =
        ["coordinator", "--url", "nats://127.0.0.1:9", "--lab", "lab", "--agents", "a"];
    for (flags, words) in [
        (vec!["fly"], "no command"),
        (vec!["agent"], "--url is missing"),
        ([&agent[..], &["--key-file", "/no/such"]].concat(), "--key-file /no/such: "),
        ([&agent[..], &["--key-file", &loose]].concat(), "others may read"),
        ([&agent[..], &["--ca", "/no/such"]].concat(), "--ca /no/such: "),
        ([&agent[..], &["--ca", &list]].concat(), "no certificate"),
        ([&agent[..], &["--wait", "0"]].concat(), "cannot be reached"),
        ([&coordinator[..], &["--keys", &list]].concat(), "line 1: `U1` is no public key"),
    ] {
        Program::start(&flags).ends_with(2, words);
    }
    let mut early = Program::start(&[&agent[..], &["--wait", "60"]].concat());
    early.close();
    early.ends_with(2, "standard input ended before the broker was reached");
    let help = program().arg("--help").output().unwrap();
    assert!(help.status.success() && help.stdout.starts_with(b"dyno-nats carries"));
}
