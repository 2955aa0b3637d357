//! Servers that resumed no session in a task that is about resumed ones: what they carried out are full handshakes, which
//! is another load than the others', and the price of resumption is not in it.

use lab::figure::Figure;
use lab::manner::Task;

use crate::board::Row;

/// A row without a resumed session is not ranked, also where no other server resumed one. A smaller share than was ordered
/// is usual: a connection has no session to resume before another one was given one.
pub(crate) fn mark(rows: &mut [Row], task: &str) {
    let ordered = Task::named(task).manner.resumed;
    if ordered == 0 {
        return;
    }
    for row in rows.iter_mut().filter(|row| !row.is_reference && has_none(row)) {
        row.lack(format!(
            "{task}: not one handshake resumed a session, although {ordered} % of them should have: these are full \
             handshakes"
        ));
    }
}

/// Whether there were handshakes, and none of them resumed a session in any round.
fn has_none(row: &Row) -> bool {
    let measured = row.trials.iter().filter(|trial| trial.is_measured());
    let shares = measured.filter_map(|trial| trial.figures.get(Figure::TlsResumed));
    let most = shares.map(|share| share.value).max_by(f64::total_cmp);
    most == Some(0.0)
}

#[cfg(test)]
mod tests {
    use lab::experiment::Point;
    use lab::record::TrialRecord;
    use load::{SECOND, Security};

    use crate::board::Board;
    use crate::fixture::{healthy, run};
    use crate::judgement::Unranked;
    use crate::price::PaidFor;

    const FULL: &str = "hello over http/1.1+tls";
    const RESUMED: &str = "hello over http/1.1+tls, 100 % resumed";

    /// A round with a thousand handshakes, of which so many resumed a session.
    fn trial(subject: &str, task: &str, repeat: u32, resumed: u64) -> TrialRecord {
        let mut trial = healthy();
        (trial.key.subject, trial.key.point) = (subject.into(), Point::Connections(16));
        (trial.key.workload, trial.key.repeat) = (task.into(), repeat);
        let mut security = Security::new(SECOND);
        (security.agreed.full, security.agreed.resumed) = (1_000 - resumed, resumed);
        security.agreed.meant_to_resume = if task == RESUMED { 1_000 } else { 0 };
        trial.loaded.as_mut().unwrap().recording.total.security = Some(Box::new(security));
        trial
    }

    /// Two rounds of two servers and a reference in both tasks; of `a` so many handshakes resumed a session in each.
    fn board(resumed: [u64; 2]) -> Board {
        let round = |(resumed, repeat): (u64, u32)| {
            [("a", resumed), ("b", 990), ("idle", 0)].into_iter().flat_map(
                move |(name, resumed)| {
                    [trial(name, FULL, repeat, 0), trial(name, RESUMED, repeat, resumed)]
                },
            )
        };
        let trials: Vec<TrialRecord> = resumed.into_iter().zip(0..).flat_map(round).collect();
        Board::of(&run(&[("a", "default"), ("b", "default"), ("idle", "reference")]), &trials)
    }

    /// Why `a`, `b` and the reference have no rank in the task of resumed sessions.
    fn unranked(board: &Board) -> Vec<Option<Unranked>> {
        let table = board.tables.iter().find(|table| table.workload == RESUMED).unwrap();
        table.rows.iter().map(|row| row.judgement.unranked.clone()).collect()
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
        let board = board([0, 0]);
        let [Some(Unranked::Unmet(why)), None, Some(Unranked::Reference)] = &unranked(&board)[..]
        else {
            panic!("{:?}", unranked(&board))
        };
        assert_eq!(
            why,
            "hello over http/1.1+tls, 100 % resumed: not one handshake resumed a session, although 100 % of them \
             should have: these are full handshakes"
        );
        assert_eq!(priced(&board), ["b idle", "a"]);
        let full = board.tables.iter().find(|table| table.workload == FULL).unwrap();
        assert!(full.rows.iter().all(|row| row.unmet.is_none()), "none was to be resumed");
    }

    #[test]
    fn a_server_that_resumed_any_session_has_its_rank_and_its_price() {
        for resumed in [[0, 1], [1, 0], [670, 650]] {
            let board = board(resumed);
            assert_eq!(unranked(&board)[..2], [None, None], "{resumed:?}");
            assert_eq!(priced(&board), ["a b idle", ""], "{resumed:?}");
        }
    }
}
