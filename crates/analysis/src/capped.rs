//! Servers that allow fewer requests at once on a connection than a table's task has: they were under another load than
//! the others.

use crate::board::Row;

/// A row with fewer streams than another server of its place has is not ranked. Where all have as few, they compare.
pub(crate) fn mark(rows: &mut [Row], task: &str) {
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
                "{task}: the server allowed {allowed} requests at once on a connection, and {ordered} were ordered: \
                 others had more in flight"
            ));
        }
    }
}

/// How many streams were ordered, and how many the server allowed, if that was fewer in any round.
fn capped(row: &Row) -> Option<(u64, u64)> {
    let measured = row.trials.iter().filter(|trial| trial.is_measured());
    measured.filter_map(|trial| trial.streams_capped).min_by_key(|(_, allowed)| *allowed)
}

#[cfg(test)]
mod tests {
    use lab::experiment::Point;
    use lab::record::TrialRecord;
    use load::{Http2, ServerSettings, WantedStreams};

    use crate::board::Board;
    use crate::fixture::{healthy, run};
    use crate::judgement::Unranked;

    /// A round in which ten streams were ordered and the server allowed so many.
    fn trial(subject: &str, allowed: u32) -> TrialRecord {
        let mut trial = healthy();
        (trial.key.subject, trial.key.point) = (subject.into(), Point::Connections(16));
        trial.key.workload = "hello over h2c, 10 streams".into();
        let wanted = WantedStreams { connections: 16, streams: 10, server_cpus: Some(2) };
        let mut seen = Http2 { wanted, ..Http2::default() };
        let settings =
            ServerSettings { max_concurrent_streams: Some(allowed), ..ServerSettings::default() };
        seen.settings.push((settings, 16));
        trial.loaded.as_mut().unwrap().recording.total.http2 = Some(Box::new(seen));
        trial
    }

    /// Why each server has no rank.
    fn found(allowed: [u32; 3]) -> Vec<Option<Unranked>> {
        let entries = [("a", "default"), ("b", "default"), ("idle", "reference")];
        let trials: Vec<TrialRecord> =
            entries.iter().zip(allowed).map(|((name, _), allowed)| trial(name, allowed)).collect();
        let board = Board::of(&run(&entries), &trials);
        board.tables[0].rows.iter().map(|row| row.judgement.unranked.clone()).collect()
    }

    #[test]
    fn a_server_with_fewer_streams_than_the_others_is_not_ranked_and_says_why() {
        assert_eq!(found([10, 250, 10])[..2], [None, None]);
        let [None, Some(Unranked::Unmet(why))] = &found([10, 4, 10])[..2] else {
            panic!("{:?}", found([10, 4, 10]))
        };
        assert_eq!(
            why,
            "hello over h2c, 10 streams: the server allowed 4 requests at once on a connection, and 10 were ordered: \
             others had more in flight"
        );
    }

    #[test]
    fn servers_that_all_allow_as_few_are_compared() {
        assert_eq!(found([4, 4, 10])[..2], [None, None], "the reference competes with none");
    }

    #[test]
    fn a_server_beside_which_none_has_more_streams_is_ranked() {
        for (allowed, fewer) in [([4, 3, 10], 1), ([3, 4, 10], 0)] {
            let found = found(allowed);
            let is_left_out = |why: &Option<Unranked>| matches!(why, Some(Unranked::Unmet(_)));
            assert!(is_left_out(&found[fewer]) && found[1 - fewer].is_none(), "{found:?}");
        }
    }
}
