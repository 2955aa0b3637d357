//! f. The oracle as a server: its CPU per request beside nginx's, under the same generator.

use super::{Compared, Section, at_most, notes};
use crate::generators::WRK;
use crate::load::{Load, Shape};
use crate::rig::{Contender, Rig};
use crate::rounds::ratio;
use crate::run::Run;
use crate::server::Kind;
use crate::table::{Table, number, range};

const NGINX: usize = 1;

/// The canned server is the lower bound: the least an epoll server can do.
pub(crate) fn measure(rig: &Rig) -> Section {
    let load = Load::of(Shape::Closed, 50, rig.seconds);
    let servers = [Kind::Oracle(&[]), Kind::Nginx, Kind::Canned];
    let contenders = servers.map(|server| Contender { generator: &WRK, load, server });
    let Compared { contenders, all } = rig.alternate(contenders.to_vec(), rig.rounds);
    let columns = ["server", "µs CPU a request", "× nginx"];
    let mut table = Table::new("The server's CPU per request under wrk, 50 connections", &columns);
    let figures = |index: usize| all[index].figures(Run::server_cpu_us);
    for (index, (server, series)) in servers.iter().zip(&all).enumerate() {
        table.rows.push(vec![
            server.name().to_owned(),
            number(series.median(Run::server_cpu_us), 2),
            range(ratio(&figures(index), &figures(NGINX))),
        ]);
        table.notes.push(format!("{}: `{}`", server.name(), server.command()));
    }
    table.notes.extend(notes(&contenders[..1], &all[..1]));
    for (server, series) in servers.iter().zip(&all).skip(1) {
        table.notes.extend(series.failures.iter().map(|why| format!("{}: {why}", server.name())));
    }
    let what = "The oracle's CPU per request".to_owned();
    let verdicts = vec![at_most(what, "nginx", ratio(&figures(0), &figures(NGINX)), 0.90)];
    Section { tables: vec![table], verdicts }
}
