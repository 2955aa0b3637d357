//! i. TLS: what requests within it cost the generator, what handshakes cost, and the memory of idle connections.

use super::{Section, at_most};
use crate::generators::{DYNO, Generator, S_TIME, WRK, h2load};
use crate::load::{Load, Shape};
use crate::rig::{Contender, Rig};
use crate::rounds::{Ratio, Series, ratio};
use crate::run::Run;
use crate::server::Kind;
use crate::table::{number, range};

/// The oracle speaks TLS 1.3 alone. Without tickets no session can be resumed: h2load would resume every one.
const FULL: &[&str] = &["--tls", "1.3", "--tls-tickets", "0"];
/// A ticket in each handshake is enough for the next one.
const RESUMED: &[&str] = &["--tls", "1.3", "--tls-tickets", "1"];
const IDLE: u32 = 10_000;

/// Three tables: requests, handshakes, memory.
pub(crate) fn measure(rig: &Rig) -> Section {
    Section::of([requests(rig), handshakes(rig), memory(rig)])
}

fn contenders(
    oracle: &'static [&'static str],
    pairs: &[(&'static Generator, Load)],
) -> Vec<Contender> {
    let server = Kind::Oracle(oracle);
    pairs.iter().map(|&(generator, load)| Contender { generator, load, server }).collect()
}

fn requests(rig: &Rig) -> Section {
    let title = "HTTP/1.1 within TLS 1.3, 50 connections";
    eprintln!("{title}");
    let load = Load::of(Shape::Closed, 50, rig.seconds);
    let contenders = contenders(FULL, &[(&DYNO, load), (&WRK, load), (h2load(), load)]);
    let compared = rig.alternate(contenders, rig.rounds);
    let columns = ["generator", "µs a request", "× wrk", "peak MB"];
    let mut table = compared.table(title, &columns, |contender, series| {
        let name = contender.generator.name;
        vec![
            name.to_owned(),
            number(series.median(Run::cpu_us), 2),
            range(compared.ratio((name, "wrk"), Run::cpu_us)),
            number(series.median(Run::peak_mb), 1),
        ]
    });
    table
        .notes
        .push("certificates are not verified, by any of them; the key is ECDSA P-256".into());
    let over_wrk = compared.ratio(("dyno", "wrk"), Run::cpu_us);
    let what = "CPU per request: HTTP/1.1 within TLS, 50 connections".to_owned();
    Section { tables: vec![table], verdicts: vec![at_most(what, "wrk", over_wrk, 0.85)] }
}

/// dyno, h2load and openssl in full; then dyno and openssl with sessions that are resumed.
fn handshakes(rig: &Rig) -> Section {
    let title = "A handshake and a request on each connection, TLS 1.3, 50 at a time";
    eprintln!("{title}");
    let [full, resumed] =
        [Shape::Fresh, Shape::Resumed].map(|shape| Load::of(shape, 50, rig.seconds));
    let contenders = [
        contenders(FULL, &[(&DYNO, full), (h2load(), full), (&S_TIME, full)]),
        contenders(RESUMED, &[(&DYNO, resumed), (&S_TIME, resumed)]),
    ]
    .concat();
    let compared = rig.alternate(contenders, rig.rounds);
    let all = &compared.all;
    let columns = ["generator", "µs CPU each", "resumed, %", "× h2load", "× dyno, full"];
    let over = |series: &Series<Run>, index: usize| -> Option<Ratio> {
        ratio(&series.figures(Run::cpu_us), &all.get(index)?.figures(Run::cpu_us))
    };
    let mut table = compared.table(title, &columns, |contender, series| {
        let kind = if contender.load == full { "full" } else { "resumed" };
        vec![
            format!("{}, {kind}", contender.generator.name),
            number(series.median(Run::cpu_us), 1),
            number(series.median(|run| run.resumed_share.map(|share| share * 100.0)), 1),
            range(over(series, 1)),
            range(over(series, 0)),
        ]
    });
    table
        .notes
        .push("the oracle sends no tickets, or with `--tls-tickets 1` those to resume by".into());
    table.notes.push("which handshakes resumed a session is counted by the oracle".into());
    table.notes.push("s_time has one connection at a time, and speaks HTTP/1.0".into());
    let ordered = |index: usize, share: f64| {
        let share_of = |run: &Run| run.resumed_share.map(|found| (found - share).abs());
        all.get(index).and_then(|series| series.median(share_of)).is_some_and(|off| off < 0.05)
    };
    // Handshakes of another kind than was ordered are no measure of it.
    let full_over_h2load = over(&all[0], 1).filter(|_| ordered(0, 0.0) && ordered(1, 0.0));
    let resumed_over_full = over(&all[3], 0).filter(|_| ordered(3, 1.0));
    let verdicts = vec![
        at_most("CPU per full handshake".to_owned(), "h2load", full_over_h2load, 1.0),
        at_most("CPU per resumed handshake".to_owned(), "dyno's full one", resumed_over_full, 0.70),
    ];
    Section { tables: vec![table], verdicts }
}

fn memory(rig: &Rig) -> Section {
    let title = "10,000 connections within TLS 1.3, each idle most of the time";
    eprintln!("{title}");
    let load = Load { requests: 2 * IDLE, rate: IDLE / 5, ..Load::of(Shape::Idle, IDLE, 0) };
    let contenders = contenders(FULL, &[(&DYNO, load), (h2load(), load)]);
    let compared = rig.alternate(contenders, rig.long_rounds);
    let columns = ["generator", "peak MB", "× h2load", "requests"];
    let mut table = compared.table(title, &columns, |contender, series| {
        let name = contender.generator.name;
        vec![
            name.to_owned(),
            number(series.median(Run::peak_mb), 1),
            range(compared.ratio((name, "h2load"), Run::peak_mb)),
            number(series.median(|run| Some(run.requests as f64)), 0),
        ]
    });
    table.notes.push("2,000 requests/s: five seconds between two on a connection".into());
    let over = compared.ratio(("dyno", "h2load"), Run::peak_mb);
    let what = "Peak memory at 10,000 connections within TLS".to_owned();
    Section { tables: vec![table], verdicts: vec![at_most(what, "h2load", over, 0.5)] }
}
