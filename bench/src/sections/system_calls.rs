//! b. System calls per request, counted by strace in short runs of their own.

use super::Section;
use crate::generators::{DYNO, FLOOR, Generator, WRK};
use crate::load::{Load, Shape};
use crate::rig::{Rig, check_answers};
use crate::sections::Verdict;
use crate::server::{Kind, Server};
use crate::strace::Calls;
use crate::table::{Table, number};
use anyhow::{Context, Result};
use std::fs;

/// The calls that are counted, under a name.
const KINDS: [(&str, &[&str]); 4] = [
    ("receive", &["recvfrom", "recvmsg", "read", "readv"]),
    ("send", &["sendto", "sendmsg", "write", "writev"]),
    ("wait", &["epoll_wait", "epoll_pwait", "epoll_pwait2", "poll", "ppoll", "select"]),
    ("epoll_ctl", &["epoll_ctl"]),
];
const LOAD: Load = Load::of(Shape::Closed, 50, 2);

/// dyno beside the floor and wrk.
pub(crate) fn measure(rig: &Rig) -> Section {
    let mut columns = vec!["generator"];
    columns.extend(KINDS.map(|(name, _)| name));
    columns.push("all");
    let mut table = Table::new("System calls a request, 50 connections, under strace", &columns);
    let mut dyno = None;
    for generator in [&DYNO, &FLOOR, &WRK] {
        match traced(rig, generator) {
            Ok(calls) => {
                let cells = calls.iter().map(|each| number(Some(*each), 2));
                table.rows.push([generator.name.to_owned()].into_iter().chain(cells).collect());
                dyno = dyno.or((generator.name == "dyno").then_some(calls));
            }
            Err(error) => table.notes.push(format!("{}: {error:#}", generator.name)),
        }
    }
    table.notes.push("strace slows a generator: fewer events a wait than in a free run".into());
    let verdicts = vec![
        one_call("receive calls a request", dyno.as_ref().map(|calls| calls[0])),
        one_call("send calls a request", dyno.as_ref().map(|calls| calls[1])),
    ];
    Section { tables: vec![table], verdicts }
}

/// The calls of each kind, and all of them, divided by the requests that the server counted.
fn traced(rig: &Rig, generator: &Generator) -> Result<Vec<f64>> {
    let strace =
        rig.program("strace").context("strace is not installed (apt-get install strace)")?;
    let server = Server::start(rig, Kind::Oracle(&[]))?;
    let counts = rig.scratch.join("strace.txt");
    let template = generator.template(&LOAD).context("it has no such load")?;
    let asked = rig.words(generator, &template, &rig.fillings(LOAD, &server, &counts))?;
    let counts_path = counts.to_string_lossy();
    let mut command: Vec<String> =
        [&*strace.to_string_lossy(), "-c", "-f", "-o", &counts_path].map(str::to_owned).to_vec();
    command.extend(asked);
    check_answers(generator, &rig.measured(&command, LOAD)?)?;
    let requests = server.stop()?.requests as f64;
    let calls = Calls::read(&fs::read_to_string(&counts)?);
    let each = KINDS.iter().map(|(_, names)| calls.of(names)).chain([calls.total()]);
    Ok(each.map(|calls| calls as f64 / requests).collect())
}

fn one_call(what: &str, measured: Option<f64>) -> Verdict {
    Verdict {
        what: what.to_owned(),
        // More than one: the reads of its own files and the last, unanswered ones.
        target: "1, to 5 %".to_owned(),
        measured: number(measured, 3),
        met: measured.map(|calls| calls <= 1.05),
    }
}
