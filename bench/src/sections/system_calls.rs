//! b. System calls per request, counted by strace in short runs of their own.

use super::Section;
use crate::generators::{DYNO, FLOOR, Generator, WRK};
use crate::load::Load;
use crate::rig::{Rig, check_answers};
use crate::sections::Verdict;
use crate::server::{Kind, Server};
use crate::strace::Calls;
use crate::table::{Table, number};
use anyhow::{Context, Result};
use std::fs;

const RECEIVE: &[&str] = &["recvfrom", "recvmsg", "read", "readv"];
const SEND: &[&str] = &["sendto", "sendmsg", "write", "writev"];
const WAIT: &[&str] = &["epoll_wait", "epoll_pwait", "epoll_pwait2", "poll", "ppoll", "select"];
const CONTROL: &[&str] = &["epoll_ctl"];
const LOAD: Load = Load::Closed { connections: 50, seconds: 2 };

/// Calls divided by the requests the server counted.
struct PerRequest {
    receive: f64,
    send: f64,
    wait: f64,
    control: f64,
    all: f64,
}

/// dyno beside the floor and wrk.
pub(crate) fn measure(rig: &Rig) -> Section {
    let columns = ["generator", "receive", "send", "wait", "epoll_ctl", "all"];
    let mut table = Table::new("System calls a request, 50 connections, under strace", &columns);
    let mut dyno = None;
    for generator in [&DYNO, &FLOOR, &WRK] {
        match traced(rig, generator) {
            Ok(calls) => {
                table.rows.push(row(generator.name, &calls));
                dyno = dyno.or((generator.name == "dyno").then_some(calls));
            }
            Err(error) => table.notes.push(format!("{}: {error:#}", generator.name)),
        }
    }
    table.notes.push("strace slows a generator: fewer events a wait than in a free run".into());
    let verdicts = vec![
        one_call("receive calls a request", dyno.as_ref().map(|calls| calls.receive)),
        one_call("send calls a request", dyno.as_ref().map(|calls| calls.send)),
    ];
    Section { tables: vec![table], verdicts }
}

fn traced(rig: &Rig, generator: &Generator) -> Result<PerRequest> {
    let strace =
        rig.program("strace").context("strace is not installed (apt-get install strace)")?;
    let server = Server::start(rig, Kind::Oracle(&[]))?;
    let counts = rig.scratch.join("strace.txt");
    let template = generator.template(&LOAD).context("it has no such load")?;
    let asked = rig.words(generator, template, &rig.fillings(LOAD, &server, &counts))?;
    let counts_path = counts.to_string_lossy();
    let mut command: Vec<String> =
        [&*strace.to_string_lossy(), "-c", "-f", "-o", &counts_path].map(str::to_owned).to_vec();
    command.extend(asked);
    check_answers(generator, &rig.measured(&command, LOAD)?)?;
    let requests = server.stop()?.requests as f64;
    let calls = Calls::read(&fs::read_to_string(&counts)?);
    let each = |names| calls.of(names) as f64 / requests;
    Ok(PerRequest {
        receive: each(RECEIVE),
        send: each(SEND),
        wait: each(WAIT),
        control: each(CONTROL),
        all: calls.total() as f64 / requests,
    })
}

fn row(name: &str, calls: &PerRequest) -> Vec<String> {
    let figures = [calls.receive, calls.send, calls.wait, calls.control, calls.all];
    let cells = figures.map(|figure| number(Some(figure), 2));
    [name.to_owned()].into_iter().chain(cells).collect()
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
