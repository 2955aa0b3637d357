//! Servers that do whatever they may, by chance: runs end, their counts are whole, and nothing is blamed on dyno.

use std::collections::BTreeMap;
use std::rc::Rc;

use wire::Chance;

use super::MILLI;
use super::rig::{Passed, Run, classes, closed, open, sessions};
use super::streams::{
    DATA, END_STREAM, HEADERS, INITIAL_WINDOW_SIZE, MAX_CONCURRENT_STREAMS, REFUSED, RST_STREAM,
    answer, begins, frame, goaway, next_frame, settings, spoken,
};
use crate::engine::{Act, Conn, Log, Peer, Simulated, open_and_most};
use crate::{Nanos, SECOND};

fn roll(dice: &mut Chance, sides: usize) -> u64 {
    dice.below(sides) as u64
}

/// A connection, as the server sees it.
#[derive(Default)]
struct Line {
    unread: Vec<u8>,
    is_new: bool,
    /// The last stream that is answered.
    promised: u32,
    /// The last stream that is taken, once the connection ends.
    last: Option<u32>,
}

/// Does whatever a server may do. `kinds` is a set of what it does, by bits.
fn wild(seed: u64, kinds: u32) -> Peer {
    let mut dice = Chance::new(seed);
    let mut lines: BTreeMap<(Conn, u32), Line> = BTreeMap::new();
    Box::new(move |now, conn, era, bytes| {
        let line =
            lines.entry((conn, era)).or_insert_with(|| Line { is_new: true, ..Line::default() });
        line.unread.extend_from_slice(bytes);
        let mut sent: Vec<(Nanos, Act)> = Vec::new();
        let mut say = |at: Nanos, bytes: Vec<u8>| sent.push((at, Act::Send(bytes)));
        let may = |kind: u32| kinds & (1 << kind) != 0;
        if std::mem::take(&mut line.is_new) {
            match roll(&mut dice, 20) {
                0 if may(0) => say(now + roll(&mut dice, 300) * MILLI, settings(&[])),
                1 if may(1) => {
                    say(now, [settings(&[]), goaway(0)].concat());
                    line.last = Some(0);
                }
                2 if may(2) => {
                    say(now, settings(&[(MAX_CONCURRENT_STREAMS, 0)]));
                    say(
                        now + roll(&mut dice, 200) * MILLI,
                        settings(&[(MAX_CONCURRENT_STREAMS, 3)]),
                    );
                }
                3 if may(3) => {}
                4 if may(4) => {
                    say(now, settings(&[(INITIAL_WINDOW_SIZE, 0)]));
                    say(
                        now + roll(&mut dice, 50) * MILLI,
                        settings(&[(INITIAL_WINDOW_SIZE, 1_000_000)]),
                    );
                }
                _ => say(now, settings(&[])),
            }
        }
        begins(&mut line.unread);
        let mut acts = Vec::new();
        while let Some((kind, flags, stream)) = next_frame(&mut line.unread) {
            let ends = matches!(kind, HEADERS | DATA) && flags & END_STREAM != 0;
            if !ends || line.last.is_some_and(|last| last < stream) {
                continue;
            }
            let at = now + roll(&mut dice, 5) * MILLI;
            let mut answers = true;
            match roll(&mut dice, 100) {
                0..5 if may(5) => {
                    say(at, frame(RST_STREAM, 0, stream, &REFUSED));
                    answers = false;
                }
                5..9 if may(6) => {
                    // It refuses this one and what follows.
                    let last = line.last.unwrap_or(u32::MAX).min(line.promised);
                    line.last = Some(last);
                    say(now + 5 * MILLI, goaway(last));
                    answers = false;
                }
                9..13 if may(7) => {
                    // In two steps; this one is the last.
                    say(now, goaway(0x7fff_ffff));
                    line.last = Some(stream);
                    say(now + 5 * MILLI, goaway(stream));
                }
                13..17 if may(8) => {
                    line.last = Some(stream);
                    line.promised = line.promised.max(stream);
                    say(now + 5 * MILLI, [goaway(stream), answer(stream)].concat());
                    answers = false;
                }
                17..19 if may(9) => {
                    acts.push((at, Act::Reset));
                    answers = false;
                }
                19..21 if may(10) => {
                    acts.push((at, Act::Fin));
                    answers = roll(&mut dice, 2) == 0;
                }
                21..23 if may(11) => say(at, frame(DATA, 0, 0, b"broken")),
                23..25 if may(12) => {
                    say(at, frame(RST_STREAM, 0, stream, &[0, 0, 0, 2]));
                    answers = false;
                }
                25..28 if may(13) => answers = false,
                28..31 if may(14) => {
                    let few = roll(&mut dice, 3) as u32;
                    say(at, settings(&[(MAX_CONCURRENT_STREAMS, few)]));
                    say(
                        at + roll(&mut dice, 100) * MILLI,
                        settings(&[(MAX_CONCURRENT_STREAMS, 20)]),
                    );
                }
                31..33 if may(15) => say(at, frame(6, 0, 0, &[0; 8])),
                _ => {}
            }
            if answers {
                line.promised = line.promised.max(stream);
                say(now + 5 * MILLI, answer(stream));
            }
        }
        sent.extend(acts);
        sent
    })
}

/// A few of them; `DYNO_WILD_SEEDS` says how many others.
#[test]
fn wild_servers() {
    let seeds = std::env::var("DYNO_WILD_SEEDS").ok().map_or(6, |seeds| seeds.parse().unwrap());
    for seed in 0..seeds {
        for shape in 0..7 {
            press_wildly(seed, shape, Chance::new(7 * seed + shape));
        }
    }
}

fn press_wildly(seed: u64, shape: u64, mut dice: Chance) {
    let kinds = (roll(&mut dice, 1 << 16) | roll(&mut dice, 1 << 16)) as u32;
    let streams = [1, 3, 10][roll(&mut dice, 3) as usize];
    let connections = [1, 2, 8][roll(&mut dice, 3) as usize];
    let turns = || Some(Passed { length: 50 * MILLI, times: Rc::default() });
    let base = match shape {
        0 => closed(connections),
        1 => Run { keep_alive: false, ..closed(connections) },
        2 => Run { max_connections: connections * 2, ..open(connections, 500) },
        3 => Run { keep_alive: false, max_connections: 30, ..open(connections, 300) },
        4 => sessions(3, 100, 100),
        5 => Run { turns: turns(), ..closed(connections) },
        _ => Run { turns: turns(), max_connections: connections * 2, ..open(connections, 500) },
    };
    let (is_session, is_timed) = (shape == 4, seed.is_multiple_of(3));
    let total = if is_session { 100 } else { 300 };
    let run = Run {
        total: if is_timed { u64::MAX } else { total },
        until: if is_timed { SECOND } else { u64::MAX },
        timeout: 300 * MILLI,
        method: if seed.is_multiple_of(2) { "POST" } else { "GET" },
        body: if seed.is_multiple_of(2) { "a body" } else { "" },
        protocol: spoken(if shape == 1 || shape == 3 { 1 } else { streams }),
        ..base
    };
    let name = format!("seed {seed} shape {shape} kinds {kinds:016b} {connections} × {streams}");
    let mut chance = Chance::new(seed ^ 99);
    let accepts = move |now: Nanos| match roll(&mut chance, 30) {
        0 if kinds & 1 << 9 != 0 => (now + MILLI, Act::Refuse),
        1 if kinds & 1 << 10 != 0 => (now + 50 * MILLI, Act::Accept),
        _ => (now, Act::Accept),
    };
    // Some kernels take a few bytes at once.
    let takes = if seed.is_multiple_of(5) { 60 } else { usize::MAX };
    let engine = Simulated::new(accepts, |_| Vec::new()).with_peer(wild(seed, kinds)).taking(takes);
    let limit = if is_timed { 1_600 * MILLI } else { 120 * SECOND };
    let log = Log::default();
    let seen = run.press(engine.ending_by(limit).logged(&log));
    if !is_session && !is_timed {
        assert_eq!(seen.attempted, total, "{name}: {:?}", classes(&seen));
    }
    // At the end of the time a session may have calls left, and one under way.
    let sessions = &seen.sessions;
    let ended = sessions.complete + sessions.failed;
    assert!(ended == sessions.attempted || is_timed && ended < sessions.attempted, "{name}");
    assert!(seen.under_way == 0 || is_session && is_timed, "{name}: {}", seen.under_way);
    let begun = &seen.connections;
    assert!(begun.established + begun.failed <= begun.begun, "{name}");
    let late = seen.late.quantile(1.0).map_or(0, |late| late.value);
    assert!(late <= MILLI + MILLI / 100, "{name}: late {late}");
    let failed = classes(&seen);
    let is_own = |(class, _): &(&str, u64)| ["own.late", "own.still"].contains(class);
    assert!(!failed.iter().any(is_own), "{name}: {failed:?}");
    // Connections that drain are closed at last, and few are left over when the run ends.
    let pool = run.max_connections.max(connections) as u64;
    let (open_ones, most) = open_and_most(&log);
    let left = if is_session { 0 } else { pool };
    assert!(open_ones <= left + 2, "{name}: {open_ones} connections at the end");
    let at_most = if is_session { 200 } else { 6 * pool + 12 };
    assert!(most <= at_most, "{name}: {most} connections at once");
}
