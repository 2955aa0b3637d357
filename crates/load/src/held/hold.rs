//! Runs the lanes and folds what they report.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use super::lane::Lane;
use super::tally::LONGEST;
use super::{HoldOrder, HoldWindow, Holding, WindowMerger};
use crate::Nanos;
use crate::engine::{Engine, Epoll, Origin, Tls};
use crate::halt::{Halt, StopTime};
use crate::order::{Spin, nanos};
use crate::security::SecurityLog;
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
    let origin = Origin::ordered(order.origin).map_err(LoadError::new)?;
    order.share.check(order.lanes).map_err(LoadError::new)?;
    let epolls = thread::epolls(order.lanes)?;
    let end = StopTime::open();
    std::thread::scope(|scope| {
        let (sender, windows) = channel();
        let mut joins = Vec::new();
        for (number, epoll) in epolls.into_iter().enumerate() {
            let (sender, end) = (sender.clone(), &end);
            let join = thread::start(scope, format!("holder {number}"), end, move || {
                thread::prepare(&order.cpus, number);
                if !origin.wait_unless(&|| end.agreed() == Some(0)) {
                    return Holding::of_nothing();
                }
                let (target, sources) = (order.target.clone(), order.sources.clone());
                let lane = order.share.first + number;
                let engine = Epoll::new(epoll, target, sources, Spin::Never, origin, lane);
                // If the receiver is gone, the run is over and the window is not needed.
                let hand_over = &mut |window| drop(sender.send((number, window)));
                hold_lane(engine, order, lane, origin.nanos(), || end.agreed(), hand_over)
            });
            joins.push(join?);
        }
        drop(sender);
        let merger = WindowMerger::new(nanos(order.window), order.lanes);
        let windows = collect(&windows, merger, origin, (halt, &end), watch);
        let all = joins.into_iter().map(|join| join.join().expect("a thread does not panic"));
        let whole = all.reduce(|mut whole, one| {
            whole.merge(&one);
            whole
        });
        let mut holding = whole.ok_or_else(|| LoadError::new("there are no threads".into()))?;
        debug_assert_eq!(holding.check(order), Ok(()));
        holding.windows = windows;
        Ok(holding)
    })
}

/// One lane's part, on any engine; with TLS between the two, if that was ordered.
pub(super) fn hold_lane(
    engine: impl Engine,
    order: &HoldOrder,
    lane: usize,
    origin: u64,
    stopped_at: impl Fn() -> Option<Nanos>,
    hand_over: &mut dyn FnMut(HoldWindow),
) -> Holding {
    let Some(client) = &order.tls else {
        return Lane::new(engine, order, lane, origin).hold(stopped_at, hand_over);
    };
    let log = SecurityLog::new(LONGEST);
    let engine = Tls::new(engine, client, log.clone());
    Lane::new(engine, order, lane, origin).reading(log).hold(stopped_at, hand_over)
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
