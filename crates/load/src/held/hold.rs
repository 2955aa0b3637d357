//! Runs the lanes and folds what they report.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use super::lane::Lane;
use super::{HoldOrder, HoldWindow, Holding, WindowMerger};
use crate::engine::{Epoll, Origin};
use crate::halt::{Halt, StopTime};
use crate::order::{Spin, nanos};
use crate::thread::{self, LoadError};

/// How often the program checks whether the run is to be halted.
const LOOK: Duration = Duration::from_millis(20);
/// The end is agreed on this long in advance: lanes look up several times before it.
const LEAD: u64 = 50_000_000;

/// Holds until the ramp's end, or until `halt` asks for an end. `watch` gets each window of all lanes together when it
/// is over; it runs on the caller's thread, never on a lane's.
pub fn hold(
    order: &HoldOrder,
    halt: &Halt,
    watch: &mut dyn FnMut(&HoldWindow),
) -> Result<Holding, LoadError> {
    let origin = order.origin.map_or_else(Origin::now, Origin::at);
    if order.share.of < order.share.first + order.lanes {
        return Err(LoadError::new(format!(
            "lanes {}..{} are not of {}; `share.of` is the number of lanes over all processes",
            order.share.first,
            order.share.first + order.lanes,
            order.share.of
        )));
    }
    let epolls = thread::epolls(order.lanes)?;
    let end = StopTime::open();
    std::thread::scope(|scope| {
        let (sender, windows) = channel();
        let mut joins = Vec::new();
        for (number, epoll) in epolls.into_iter().enumerate() {
            let (sender, end) = (sender.clone(), &end);
            let run = move || {
                thread::prepare(&order.cpus, number);
                origin.wait();
                let (target, sources) = (order.target.clone(), order.sources.clone());
                let lane = order.share.first + number;
                let engine = Epoll::new(epoll, target, sources, Spin::Never, origin, lane);
                let lane = Lane::new(engine, order, lane, origin.nanos());
                // If the receiver is gone, the run is over and the window is not needed.
                lane.hold(|| end.agreed(), &mut |window| drop(sender.send((number, window))))
            };
            joins.push(thread::start(scope, format!("holder {number}"), end, run)?);
        }
        drop(sender);
        let merger = WindowMerger::new(nanos(order.window), order.lanes);
        let windows = collect(&windows, merger, origin, (halt, &end), watch);
        let all = joins.into_iter().map(|join| join.join().expect("a lane does not panic"));
        let whole = all.reduce(|mut whole, one| {
            whole.merge(&one);
            whole
        });
        let mut holding = whole.ok_or_else(|| LoadError::new("there are no lanes".into()))?;
        holding.windows = windows;
        Ok(holding)
    })
}

/// Merges the windows of all lanes. When an end is requested, sets one at which all lanes end.
fn collect(
    windows: &Receiver<(usize, HoldWindow)>,
    mut merger: WindowMerger,
    origin: Origin,
    (halt, end): (&Halt, &StopTime),
    watch: &mut dyn FnMut(&HoldWindow),
) -> Vec<HoldWindow> {
    loop {
        match windows.recv_timeout(LOOK) {
            Ok((lane, window)) => {
                merger.add(lane, &window, watch);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return merger.into_windows(),
        }
        if halt.is_asked() && end.agreed().is_none() {
            let at = halt.at().unwrap_or_else(|| Origin::now().nanos() + LEAD);
            end.agree_on(at.saturating_sub(origin.nanos()));
        }
    }
}
