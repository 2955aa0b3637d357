//! Servers that were under another load than the others of their table: they are not ranked, and their rows say why.

use lab::figure::Figure;
use lab::manner::Task;

use crate::board::Row;

/// Marks the rows of a table of this task.
pub(crate) fn mark(rows: &mut [Row], task: &str) {
    mark_capped(rows);
    let resumed = Task::named(task).manner.resumed;
    for row in rows.iter_mut().filter(|row| !row.is_reference) {
        if 0 < resumed && has_resumed_none(row) {
            row.lack(format!(
                "not one handshake resumed a session, although {resumed} % of them should have: these are full \
                 handshakes"
            ));
        }
        if row.trials.iter().any(|trial| trial.is_partial) {
            row.lack(
                "its manifest says `chunked = \"no\"`, so it was sent none of the requests with a body in chunks"
                    .into(),
            );
        }
    }
}

/// A row with fewer streams than another server of its place has is not ranked. Where all have as few, they compare.
fn mark_capped(rows: &mut [Row]) {
    let seen: Vec<Option<(u64, u64)>> = rows.iter().map(capped).collect();
    let is_one = |row: &Row| !row.is_reference && 0 < row.measured();
    for place in 0..rows.len() {
        let Some((ordered, allowed)) = seen[place].filter(|_| is_one(&rows[place])) else {
            continue;
        };
        let mut others = rows.iter().zip(&seen).filter(|(row, _)| is_one(row));
        let has_more = others.any(|(row, other)| {
            row.point == rows[place].point
                && allowed < other.map_or(ordered, |(_, allowed)| allowed)
        });
        if has_more {
            rows[place].lack(format!(
                "the server allowed {allowed} requests at once on a connection, and {ordered} were ordered: others had \
                 more in flight"
            ));
        }
    }
}

/// How many streams were ordered, and how many the server allowed, if that was fewer in any round.
fn capped(row: &Row) -> Option<(u64, u64)> {
    let rounds = row.measured_trials();
    rounds.filter_map(|trial| trial.streams_capped).min_by_key(|(_, allowed)| *allowed)
}

/// Whether there were handshakes, and none of them resumed a session in any round. A smaller share than was ordered is
/// usual: a connection has no session to resume before another one was given one.
fn has_resumed_none(row: &Row) -> bool {
    let shares = row.measured_trials().filter_map(|trial| trial.figures.get(Figure::TlsResumed));
    let most = shares.map(|share| share.value).max_by(f64::total_cmp);
    most == Some(0.0)
}

#[cfg(test)]
mod tests {
    use lab::experiment::Point;
    use lab::record::TrialRecord;
    use lab::trial::LEFT_OUT;
    use load::{Http2, SECOND, Security, ServerSettings, WantedStreams};

    use crate::board::{Board, Row};
    use crate::fixture::{at, board, fact, recording};
    use crate::judgement::Unranked;
    use crate::price::PaidFor;

    const FULL: &str = "hello over http/1.1+tls";
    const RESUMED: &str = "hello over http/1.1+tls, 100 % resumed";

    fn trial(subject: &str, task: &str) -> TrialRecord {
        let mut trial = at(subject, Point::Connections(16), 0);
        trial.key.workload = task.into();
        trial
    }

    /// Why each server that competes has no rank in this task.
    fn unranked(board: &Board, task: &str) -> Vec<Option<String>> {
        let table = board.tables.iter().find(|table| table.workload == task).unwrap();
        let why = |row: &Row| {
            assert_eq!(row.unmet.is_some(), row.judgement.unranked == Some(Unranked::Unmet));
            row.unmet.clone()
        };
        table.competitors().map(why).collect()
    }

    const STREAMS: &str = "hello over h2c, 10 streams";

    /// A round in which ten streams were ordered and the server allowed so many.
    fn with_streams(subject: &str, allowed: u32) -> TrialRecord {
        let wanted = WantedStreams { connections: 16, streams: 10, server_cpus: Some(2) };
        let mut seen = Http2 { wanted, ..Http2::default() };
        let max_concurrent_streams = Some(allowed);
        seen.settings.push((ServerSettings { max_concurrent_streams, ..Default::default() }, 16));
        let mut trial = trial(subject, STREAMS);
        recording(&mut trial).total.http2 = Some(Box::new(seen));
        trial
    }

    /// Why a server has no rank that allowed so many streams.
    fn capped(allowed: u32) -> Option<String> {
        Some(format!(
            "the server allowed {allowed} requests at once on a connection, and 10 were \
             ordered: others had more in flight"
        ))
    }

    #[test]
    fn a_server_with_fewer_streams_than_the_others_is_not_ranked_and_says_why() {
        for (allowed, found) in [
            ([10, 250, 10], [None, None]),
            ([10, 4, 10], [None, capped(4)]),
            ([4, 3, 10], [None, capped(3)]),
            ([3, 4, 10], [capped(3), None]),
            // All have as few, and the reference competes with none.
            ([4, 4, 10], [None, None]),
        ] {
            let servers = ["a", "b", "idle"].into_iter().zip(allowed);
            let trials: Vec<TrialRecord> =
                servers.map(|(name, allowed)| with_streams(name, allowed)).collect();
            assert_eq!(unranked(&board(&trials), STREAMS), found, "{allowed:?}");
        }
    }

    #[test]
    fn a_server_that_takes_no_chunks_is_not_ranked_and_says_why() {
        let mut trials = ["a", "b"].map(|name| trial(name, "hello"));
        trials[0].conditions.push(fact(LEFT_OUT, "1"));
        let why = "its manifest says `chunked = \"no\"`, so it was sent none of the requests with a body in \
                   chunks";
        assert_eq!(unranked(&board(&trials), "hello"), [Some(why.to_string()), None]);
    }

    /// A round with a thousand handshakes, of which so many resumed a session.
    fn handshakes(subject: &str, task: &str, repeat: u32, resumed: u64) -> TrialRecord {
        let mut trial = trial(subject, task);
        trial.key.repeat = repeat;
        let mut security = Security::new(SECOND);
        (security.agreed.full, security.agreed.resumed) = (1_000 - resumed, resumed);
        security.agreed.meant_to_resume = if task == RESUMED { 1_000 } else { 0 };
        recording(&mut trial).total.security = Some(Box::new(security));
        trial
    }

    /// Two rounds of two servers and a reference in both tasks; of `a` so many handshakes resumed a session in each.
    fn resuming(resumed: [u64; 2]) -> Board {
        let round = |(resumed, repeat): (u64, u32)| {
            let servers = [("a", resumed), ("b", 990), ("idle", 0)];
            servers.into_iter().flat_map(move |(name, resumed)| {
                [handshakes(name, FULL, repeat, 0), handshakes(name, RESUMED, repeat, resumed)]
            })
        };
        board(&resumed.into_iter().zip(0..).flat_map(round).collect::<Vec<_>>())
    }

    /// The servers with a price of resumption, and those without.
    fn priced(board: &Board) -> [String; 2] {
        let prices = board.prices();
        let price = prices.iter().find(|price| price.paid_for == PaidFor::Resumption).unwrap();
        let with = price.pairs.iter().map(|pair| pair.b.subject.as_str());
        let without = price.left_out.iter().map(|lack| lack.row.subject.as_str());
        [with.collect::<Vec<_>>(), without.collect()].map(|mut names| {
            names.sort_unstable();
            names.join(" ")
        })
    }

    #[test]
    fn a_server_that_resumed_no_session_has_no_rank_and_no_price_and_says_why() {
        let board = resuming([0, 0]);
        let why = "not one handshake resumed a session, although 100 % of \
                   them should have: these are full handshakes";
        assert_eq!(unranked(&board, RESUMED), [Some(why.to_string()), None]);
        assert_eq!(priced(&board), ["b idle", "a"]);
        let full = board.tables.iter().find(|table| table.workload == FULL).unwrap();
        assert!(full.rows.iter().all(|row| row.unmet.is_none()), "none was to be resumed");
    }

    #[test]
    fn a_server_that_resumed_any_session_has_its_rank_and_its_price() {
        for resumed in [[0, 1], [1, 0], [670, 650]] {
            let board = resuming(resumed);
            assert_eq!(unranked(&board, RESUMED), [None, None], "{resumed:?}");
            assert_eq!(priced(&board), ["a b idle", ""], "{resumed:?}");
        }
    }
}
