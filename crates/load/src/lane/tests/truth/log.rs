//! The requests that a log shows which was taken at the boundary to the network.

use std::collections::{BTreeMap, BTreeSet};

use super::super::GOOD;
use crate::Nanos;
use crate::engine::{Act, Conn, Log, Seen};

/// A request's number.
fn number(bytes: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(bytes);
    text.split("/n/").nth(1).and_then(|rest| rest.split(' ').next()).unwrap().parse().unwrap()
}

/// One request, according to the schedule and the log.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) intended: Nanos,
    /// When its session was due; for all other loads, `intended`.
    pub(super) due: Nanos,
    pub(super) is_lost: bool,
    /// When the whole answer had come, and whether it was the right one.
    pub(super) answered: Option<(Nanos, bool)>,
}

impl Request {
    pub(super) fn due(at: Nanos) -> Request {
        Request { intended: at, due: at, is_lost: false, answered: None }
    }
}

/// The results of requests that are known by their numbers. A connection of a pool that cannot be established fails the
/// request that has waited longest.
pub(super) fn follow(
    log: &Log,
    timeout: Nanos,
    is_own: &dyn Fn(usize) -> bool,
    all: &mut [Request],
) {
    let mut on: BTreeMap<Conn, (usize, Vec<u8>)> = BTreeMap::new();
    let mut opening: BTreeSet<Conn> = BTreeSet::new();
    let mut sent: BTreeSet<usize> = BTreeSet::new();
    for (at, conn, seen) in log.borrow().iter() {
        match seen {
            Seen::Begun => drop(opening.insert(*conn)),
            Seen::Came(Act::Accept) => drop(opening.remove(conn)),
            Seen::Wrote(bytes) => {
                let place = number(bytes) as usize;
                sent.insert(place);
                all[place].is_lost = false;
                on.insert(*conn, (place, Vec::new()));
            }
            Seen::Came(Act::Send(bytes)) => handle(&mut on, *conn, bytes, *at, all),
            Seen::Closed | Seen::Came(Act::Room) => {}
            Seen::Came(Act::Fin | Act::Refuse | Act::Reset) => {
                let was_opening = opening.remove(conn);
                let waits = |(place, request): &(usize, &Request)| {
                    let is_due = request.intended <= *at && *at < request.intended + timeout;
                    is_due && is_own(*place) && !request.is_lost && !sent.contains(place)
                };
                let longest = || all.iter().enumerate().find(waits).map(|(place, _)| place);
                let place = on.remove(conn).map(|(place, _)| place);
                if let Some(place) = place.or(if was_opening { longest() } else { None }) {
                    all[place].is_lost = true;
                }
            }
        }
    }
}

fn handle(
    on: &mut BTreeMap<Conn, (usize, Vec<u8>)>,
    conn: Conn,
    bytes: &[u8],
    at: Nanos,
    all: &mut [Request],
) {
    let Some((place, answer)) = on.get_mut(&conn) else { return };
    answer.extend_from_slice(bytes);
    if answer.len() == GOOD.len() {
        all[*place].answered = Some((at, answer == GOOD));
        on.remove(&conn);
    }
}

/// Requests that wait for one another on their connections. A closed loop's first is due when its connection is begun,
/// a session's when the session was; each other one when the one before it was answered. Sessions are begun in the
/// order of their arrivals; those that are not begun are due nevertheless.
pub(super) fn on_connections(
    log: &Log,
    timeout: Nanos,
    sessions: Option<Vec<Nanos>>,
) -> Vec<Request> {
    let is_session = sessions.is_some();
    let mut arrivals = sessions.unwrap_or_default().into_iter();
    let mut all: Vec<Request> = Vec::new();
    let mut numbers: BTreeMap<u64, usize> = BTreeMap::new();
    // When a connection's next request is due, and a request that was begun with it and has not left.
    let mut next: BTreeMap<Conn, (Nanos, Option<Nanos>)> = BTreeMap::new();
    let mut unsent: BTreeMap<Conn, usize> = BTreeMap::new();
    let mut on: BTreeMap<Conn, (usize, Vec<u8>)> = BTreeMap::new();
    for (at, conn, seen) in log.borrow().iter() {
        match seen {
            Seen::Begun => {
                let mut arrived = arrivals.next();
                // A session that has waited for too long is not begun.
                while let Some(late) = arrived.filter(|arrived| arrived + timeout <= *at) {
                    all.push(Request::due(late));
                    arrived = arrivals.next();
                }
                assert_eq!(arrived.is_some(), is_session, "a session is due");
                next.insert(*conn, (arrived.unwrap_or(*at), arrived));
                unsent.insert(*conn, all.len());
                all.push(Request::due(arrived.unwrap_or(*at)));
            }
            Seen::Wrote(bytes) => {
                let (bound, number) = (unsent.remove(conn), number(bytes));
                let place = match numbers.get(&number) {
                    // It is sent once more: the exchange that was begun with the connection is this one.
                    Some(&place) => {
                        if let Some(bound) = bound {
                            all[bound].due = 0;
                            all[bound].intended = 0;
                            all[bound].is_lost = true;
                        }
                        all[place].is_lost = false;
                        place
                    }
                    None => bound.unwrap_or_else(|| {
                        let (since, arrived) = next[conn];
                        all.push(Request { due: arrived.unwrap_or(since), ..Request::due(since) });
                        all.len() - 1
                    }),
                };
                numbers.insert(number, place);
                on.insert(*conn, (place, Vec::new()));
            }
            Seen::Came(Act::Send(bytes)) => {
                handle(&mut on, *conn, bytes, *at, &mut all);
                let arrived = next.get(conn).and_then(|(_, arrived)| *arrived);
                next.insert(*conn, (*at, arrived));
            }
            Seen::Came(Act::Accept | Act::Room) | Seen::Closed => {}
            Seen::Came(Act::Fin | Act::Refuse | Act::Reset) => {
                let place = on.remove(conn).map(|(place, _)| place).or(unsent.remove(conn));
                if let Some(place) = place {
                    all[place].is_lost = true;
                }
            }
        }
    }
    all.extend(arrivals.map(Request::due));
    all
}
