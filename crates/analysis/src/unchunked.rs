//! Servers that take no bodies in chunks: they were sent the other requests of a workload, and so were under another
//! load than the others.

use crate::board::Row;

/// A row whose server was sent only some of the requests is not ranked.
pub(crate) fn mark(rows: &mut [Row], task: &str) {
    let is_partial = |row: &Row| row.trials.iter().any(|trial| trial.is_partial);
    for row in rows.iter_mut().filter(|row| !row.is_reference && is_partial(row)) {
        row.lack(format!(
            "{task}: its manifest says `chunked = \"no\"`, so it was sent none of the requests with a body in chunks"
        ));
    }
}

#[cfg(test)]
mod tests {
    use lab::record::Fact;
    use lab::trial::LEFT_OUT;

    use crate::board::Board;
    use crate::fixture::{healthy, run};
    use crate::judgement::Unranked;

    #[test]
    fn a_server_that_takes_no_chunks_is_not_ranked_and_says_why() {
        let trials = ["a", "b"].map(|name| {
            let mut trial = healthy();
            trial.key.subject = name.into();
            if name == "a" {
                trial.conditions.push(Fact { name: LEFT_OUT.into(), value: "1".into() });
            }
            trial
        });
        let board = Board::of(&run(&[("a", "default"), ("b", "default")]), &trials);
        let rows = &board.tables[0].rows;
        let [Some(Unranked::Unmet(why)), None] =
            [0, 1].map(|place: usize| rows[place].judgement.unranked.clone())
        else {
            panic!("{rows:?}")
        };
        assert!(
            why.ends_with("so it was sent none of the requests with a body in chunks"),
            "{why}"
        );
    }
}
