//! On a terminal: colours, and a live view that leaves nothing behind.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::process::{Child, Command};

use rustix::fs::OFlags;
use rustix::process::{Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::lab_rig::Lab;
use crate::rig::{Rig, is_done, pid};

/// A pseudo-terminal: our end, and the one for a child.
fn terminal(columns: u16, rows: u16) -> (File, File) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let size = Winsize { ws_col: columns, ws_row: rows, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&ours, size).unwrap();
    let mut options = OpenOptions::new();
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, OFlags::NOCTTY.bits() as i32);
    let theirs = options.read(true).write(true).open(name.to_str().unwrap()).unwrap();
    (File::from(ours), theirs)
}

/// Runs this on a terminal; its exit code, and all that was shown. Once this text is among it, `then` is done.
pub(crate) fn on_terminal(
    (columns, rows): (u16, u16),
    mut command: Command,
    text: Option<&str>,
    then: impl FnOnce(&mut File, &Child),
) -> (Option<i32>, String) {
    let (mut ours, theirs) = terminal(columns, rows);
    command.env("TERM", "xterm").stdin(theirs.try_clone().unwrap());
    let mut child = command.stdout(theirs.try_clone().unwrap()).stderr(theirs).spawn().unwrap();
    // It has the child's side, too, whose end reads as an error.
    drop(command);
    let (mut shown, mut piece, mut then) = (Vec::new(), [0; 4_096], Some(then));
    while let Ok(length @ 1..) = ours.read(&mut piece) {
        shown.extend_from_slice(&piece[..length]);
        if text.is_some_and(|text| String::from_utf8_lossy(&shown).contains(text)) {
            then.take().into_iter().for_each(|then| then(&mut ours, &child));
        }
    }
    (child.wait().unwrap().code(), String::from_utf8_lossy(&shown).into_owned())
}

/// Runs any command on a terminal; `{url}` stands for the server. It is interrupted as soon as this text was shown.
fn watched(
    size: (u16, u16),
    no_color: &str,
    command: &[&str],
    interrupted_at: Option<&str>,
) -> (Option<i32>, String) {
    let rig = Rig::new();
    let mut command = rig.command(command);
    command.env("NO_COLOR", no_color);
    on_terminal(size, command, interrupted_at, |_, child| {
        kill_process(pid(child), Signal::INT).unwrap();
    })
}

const ENTER: &str = "\x1b[?1049h";
const LEAVE: &str = "\x1b[?1049l";
const COLOUR: &str = "\x1b[32m";

#[test]
fn the_live_view_of_a_load_gives_the_screen_back_before_the_report() {
    let command = ["load", "{url}/hello", "-r", "100", "-d", "2s", "--load-on", "local:2"];
    let (code, shown) = watched((120, 30), "", &command, None);
    assert!(is_done(code, &shown), "{shown}");
    assert!(shown.contains(ENTER) && shown.contains(COLOUR), "{shown}");
    let (live, report) = shown.split_once(LEAVE).unwrap();
    for text in ["offered", "p99", "from 2 processes of this machine", "local 1 ", "local 2 "] {
        assert!(live.contains(text), "{text} in {live}");
    }
    assert!(report.contains("The server answered") && !report.contains(ENTER), "{report}");
}

#[test]
fn an_interrupted_live_view_gives_the_screen_back_however_small_it_is() {
    for (size, at) in [((40, 12), "response"), ((3, 2), ENTER)] {
        let command = ["load", "{url}/hello", "-r", "100", "-d", "30s"];
        let (code, shown) = watched(size, "", &command, Some(at));
        assert_eq!(code, Some(130), "{shown}");
        assert!(!shown.split_once(LEAVE).unwrap().1.contains(ENTER), "{shown}");
    }
}

#[test]
fn a_result_on_a_terminal_moves_no_cursor() {
    let lab = Lab::new();
    let folder = lab.root.join("new\x1b[2J\u{202e}");
    let (code, shown) =
        watched((400, 24), "1", &["servers", "init", folder.to_str().unwrap()], None);
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("new\\u{1b}[2J\\u{202e}"), "{shown}");
    assert!(!shown.contains(['\x1b', '\u{202e}']), "{shown}");
}

#[test]
fn held_connections_are_shown_while_they_are_held_and_by_which_agents() {
    let hold = ["hold", "{url}/poll/0.1", "-c", "20", "--every", "3s", "--settle", "0"];
    let (code, shown) =
        watched((120, 24), "", &[&hold[..], &["--load-on", "local:2"]].concat(), None);
    assert!(is_done(code, &shown), "{shown}");
    let (live, report) = shown.split_once(LEAVE).unwrap();
    assert!(live.contains(ENTER) && live.contains(COLOUR), "{shown}");
    for text in [
        "20 connections to",
        "in one step of 3 s",
        "messages",
        "lateness in",
        " left",
        "local 1 10 open",
        "local 2 10 open",
    ] {
        assert!(live.contains(text), "{text} in {live}");
    }
    assert!(report.contains("The server held 20 of 20") && !report.contains(ENTER), "{report}");
}

#[test]
fn held_connections_that_are_interrupted_give_the_screen_back() {
    let command = ["hold", "{url}/poll/0.1", "-c", "20", "--every", "1m"];
    let (code, shown) = watched((40, 12), "1", &command, Some("failed"));
    assert_eq!(code, Some(130), "{shown}");
    let (live, report) = shown.split_once(LEAVE).unwrap();
    assert!(live.contains(ENTER) && !live.contains(COLOUR), "{live}");
    assert!(report.contains("stopped"), "{report}");
}

#[test]
fn no_live_shows_no_view() {
    let command =
        ["hold", "{url}/poll/0.1", "-c", "2", "--every", "1s", "--settle", "0", "--no-live"];
    let (code, shown) = watched((80, 24), "", &command, None);
    assert!(is_done(code, &shown), "{shown}");
    assert!(!shown.contains(ENTER) && shown.contains("The server held 2 of 2"), "{shown}");
}
