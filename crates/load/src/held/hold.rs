//! Runs the lanes and folds what they tell.

use std::sync::mpsc::{Receiver, channel};

use super::lane::Lane;
use super::{HoldOrder, HoldWindow, Holding, Plateau};
use crate::Nanos;
use crate::engine::{Epoll, Origin};
use crate::order::{Spin, nanos};
use crate::press::{Halt, PressError, prepare_thread};

/// What a watcher is shown when a window is over.
#[derive(Debug)]
pub struct HoldGlance<'a> {
    /// All lanes together.
    pub window: &'a HoldWindow,
}

/// Holds until the ramp's end, or until `halt` is asked. `watch` runs on the caller's thread, never on a lane's.
pub fn hold(
    order: &HoldOrder,
    halt: &Halt,
    watch: &mut dyn FnMut(&HoldGlance<'_>),
) -> Result<Holding, PressError> {
    let origin = order.origin.map_or_else(Origin::now, Origin::at);
    let refused = |what: &str, error: &dyn std::fmt::Display| {
        PressError::new(format!("cannot {what}: {error}"))
    };
    if order.share.of < order.share.first + order.lanes {
        return Err(PressError::new(format!(
            "lanes {}..{} are not of {}; `share.of` is the number of lanes over all processes",
            order.share.first,
            order.share.first + order.lanes,
            order.share.of
        )));
    }
    let mut epolls = Vec::new();
    for _ in 0..order.lanes {
        let epoll =
            Epoll::descriptor().map_err(|error| refused("create an epoll instance", &error))?;
        epolls.push(epoll);
    }
    std::thread::scope(|scope| {
        let (tell, told) = channel();
        let mut joins = Vec::new();
        for (number, epoll) in epolls.into_iter().enumerate() {
            let tell = tell.clone();
            let run = move || {
                prepare_thread(&order.cpus, number);
                origin.wait();
                let (target, sources) = (order.target.clone(), order.sources.clone());
                let lane = order.share.first + number;
                let engine = Epoll::new(epoll, target, sources, Spin::Never, origin, lane);
                let lane = Lane::new(engine, order, lane, origin.nanos());
                // If nobody listens any more, the run is over and nobody misses the window.
                lane.hold(|| halt.is_asked(), &mut |window| drop(tell.send((number, window))))
            };
            let thread = std::thread::Builder::new().name(format!("holder {number}"));
            let join = thread.spawn_scoped(scope, run);
            joins.push(join.map_err(|error| refused("start a thread", &error))?);
        }
        drop(tell);
        let windows = collect(&told, order, watch);
        let mut all = joins.into_iter().map(|join| join.join().expect("a lane does not panic"));
        let first = all.next().map(|told| alone(told, windows));
        let mut holding = first.ok_or_else(|| PressError::new("there are no lanes".into()))?;
        all.for_each(|told| holding.merge(&alone(told, Vec::new())));
        assert!(holding.books_balance(), "the books of held connections do not balance");
        Ok(holding)
    })
}

fn alone(told: (Vec<Plateau>, Nanos, bool), windows: Vec<HoldWindow>) -> Holding {
    let (plateaus, closed_at, was_halted) = told;
    Holding { plateaus, windows, closed_at, was_halted }
}

/// Windows of all lanes, merged; shown when the last lane has told of one.
fn collect(
    told: &Receiver<(usize, HoldWindow)>,
    order: &HoldOrder,
    watch: &mut dyn FnMut(&HoldGlance<'_>),
) -> Vec<HoldWindow> {
    let width = nanos(order.window);
    let mut windows: Vec<HoldWindow> = Vec::new();
    let mut told_until = vec![0; order.lanes];
    let mut shown = 0;
    for (lane, window) in told {
        let place = (window.from / width) as usize;
        for number in windows.len()..=place {
            let from = number as Nanos * width;
            windows.push(HoldWindow::new(from, from + width));
        }
        windows[place].merge(&window);
        told_until[lane] = place + 1;
        let whole = told_until.iter().copied().min().unwrap_or(0);
        for window in &windows[shown..whole] {
            watch(&HoldGlance { window });
        }
        shown = whole;
    }
    windows
}
