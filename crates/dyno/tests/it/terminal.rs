//! On a terminal: colours, and a live view that leaves nothing behind.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::process::{Command, Stdio};

use oracle::{Config, Oracle};
use rustix::fs::OFlags;
use rustix::process::{Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::lab_rig::Lab;
use crate::rig::{is_done, pid};

/// A pseudo-terminal: our end, and the one for a child.
pub(crate) fn terminal(columns: u16, rows: u16) -> (File, File) {
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

/// Loads a server for a while on a terminal; returns its exit code and everything written to the terminal.
fn on_terminal(
    size: (u16, u16),
    no_color: &str,
    flags: &[&str],
    is_interrupted: bool,
) -> (Option<i32>, String) {
    let command = ["load", "{url}/hello", "-r", "100"];
    watched(size, no_color, &[&command, flags].concat(), is_interrupted.then_some("response"))
}

/// Runs any command on a terminal; `{url}` stands for the server. It is interrupted as soon as this text was shown.
fn watched(
    size: (u16, u16),
    no_color: &str,
    command: &[&str],
    interrupted_at: Option<&str>,
) -> (Option<i32>, String) {
    let oracle = Oracle::start(Config { threads: 1, ..Config::default() }).unwrap();
    let url = format!("http://{}", oracle.address());
    let (mut ours, theirs) = terminal(size.0, size.1);
    let mut child = Command::new(env!("CARGO_BIN_EXE_dyno"))
        .args(command.iter().map(|argument| argument.replace("{url}", &url)))
        .env("TERM", "xterm")
        .env("NO_COLOR", no_color)
        .stdin(Stdio::null())
        .stdout(theirs.try_clone().unwrap())
        .stderr(theirs)
        .spawn()
        .unwrap();
    let mut shown = Vec::new();
    let mut piece = [0; 4_096];
    let mut is_running = true;
    // The end of the child's side reads as an error.
    while let Ok(length @ 1..) = ours.read(&mut piece) {
        shown.extend_from_slice(&piece[..length]);
        let is_shown = |text: &str| String::from_utf8_lossy(&shown).contains(text);
        if is_running && interrupted_at.is_some_and(is_shown) {
            kill_process(pid(&child), Signal::INT).unwrap();
            is_running = false;
        }
    }
    (child.wait().unwrap().code(), String::from_utf8_lossy(&shown).into_owned())
}

const ENTER: &str = "\x1b[?1049h";
const LEAVE: &str = "\x1b[?1049l";
const COLOUR: &str = "\x1b[32m";

#[test]
fn the_live_view_gives_the_screen_back_before_the_report() {
    let (code, shown) = on_terminal((80, 24), "", &["-d", "1s"], false);
    assert!(is_done(code, &shown), "{shown}");
    assert!(shown.contains(ENTER) && shown.contains(COLOUR), "{shown}");
    let (live, report) = shown.split_once(LEAVE).unwrap();
    assert!(live.contains("offered") && live.contains("p99"), "{live}");
    assert!(report.contains("The server answered") && !report.contains(ENTER), "{report}");
}

#[test]
fn an_interrupted_live_view_gives_the_screen_back_too() {
    let (code, shown) = on_terminal((40, 12), "", &["-d", "30s"], true);
    assert_eq!(code, Some(130), "{shown}");
    assert!(shown.split_once(LEAVE).unwrap().1.contains("It was stopped after"), "{shown}");
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
fn a_tiny_terminal_is_no_panic() {
    let (code, shown) = on_terminal((3, 2), "", &["-d", "700ms"], false);
    assert!(is_done(code, &shown), "{shown}");
}

#[test]
fn held_connections_are_shown_while_they_are_held() {
    let command = ["hold", "{url}/poll/0.1", "-c", "20", "--every", "3s", "--settle", "0"];
    let (code, shown) = watched((80, 24), "", &command, None);
    assert!(is_done(code, &shown), "{shown}");
    let (live, report) = shown.split_once(LEAVE).unwrap();
    assert!(live.contains(ENTER) && live.contains(COLOUR), "{shown}");
    for text in ["20 connections to", "in one step of 3 s", "messages", "lateness in", " left"] {
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

#[test]
fn the_agents_of_a_load_are_shown_while_it_goes_on() {
    let two = ["-d", "2s", "--load-on", "local:2"];
    let (code, shown) = on_terminal((120, 30), "1", &two, false);
    assert!(is_done(code, &shown), "{shown}");
    let live = shown.split_once(LEAVE).unwrap().0;
    for text in [
        "from 2 processes of this machine",
        "agents    local 1 ",
        " · local 2 50/s, sent late p99 ",
    ] {
        assert!(live.contains(text), "{text} in {live}");
    }
    let many = ["-d", "2s", "-t", "8", "--load-on", "local:8"];
    let (_, shown) = on_terminal((80, 24), "1", &many, false);
    let live = shown.split_once(LEAVE).unwrap().0;
    assert!(live.contains("8 agents  "), "{live}");
}

#[test]
fn the_agents_that_hold_connections_are_shown_with_how_many_each_has() {
    let command = ["hold", "{url}/poll/0.1", "-c", "20", "--every", "3s", "--load-on", "local:2"];
    let (code, shown) = watched((80, 24), "1", &command, None);
    assert!(is_done(code, &shown), "{shown}");
    let live = shown.split_once(LEAVE).unwrap().0;
    assert!(live.contains("agents    local 1 10 open · local 2 10 open"), "{live}");
}
