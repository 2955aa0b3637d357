//! Whether a run was repeated: each row of A, by whether B is shown to differ from it.

use analysis::{Change, Pair, Why};
use lab::figure::Figure;
use units::counted;

use super::Compared;
use crate::paired::Ratio;

/// A row was repeated unless one of these is shown to differ. At an offered rate the share on time takes the place of the
/// throughput.
const JUDGED: [Figure; 5] = [
    Figure::Throughput,
    Figure::OnTime,
    Figure::ResponseP99,
    Figure::CpuPerThousand,
    Figure::MemoryPerConnection,
];

/// What a repetition says of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowRepeated {
    Yes,
    No,
    /// Nothing of it could be compared, or its rounds lie too far apart.
    CannotTell,
}

impl Compared<'_> {
    /// Every row of A that was measured, with what B says of it, in a sentence without its end.
    #[must_use]
    pub fn repeated(&self) -> Vec<(RowRepeated, String)> {
        let name = |subject: &str, workload: &str, place: String| {
            format!("{subject}, {workload} at {place}")
        };
        let paired = self.versus.pairs.iter().filter(|pair| 0 < pair.a.measured()).map(|pair| {
            let (found, says) = row(pair);
            let name = name(&pair.a.subject, pair.workload, self.place(pair));
            (found, format!("{name}: {says}"))
        });
        let alone = self.versus.alone[0].iter().filter(|(_, row)| 0 < row.measured());
        let alone = alone.map(|(workload, row)| {
            let name = name(&row.subject, workload, self.sides[0].findings.place(row.point));
            (RowRepeated::CannotTell, format!("{name}: not measured in the repetition"))
        });
        paired.chain(alone).collect()
    }
}

/// How many rows were repeated, in a few words.
#[must_use]
pub fn repeated_in_short(rows: &[(RowRepeated, String)]) -> String {
    let many = |kind| rows.iter().filter(|(found, _)| *found == kind).count();
    format!(
        "{} repeated, {} not repeated, {} not decided",
        counted(many(RowRepeated::Yes) as u64, "row", "rows"),
        many(RowRepeated::No),
        many(RowRepeated::CannotTell)
    )
}

/// By the one rule for differences. Rounds that lie so far apart that not even a factor of two could be shown in the first
/// of the figures say nothing.
fn row(pair: &Pair<'_>) -> (RowRepeated, String) {
    let (mut differs, mut is_shown, mut says) = (false, None, Vec::new());
    for (figure, made) in pair.figures.iter().filter(|(figure, _)| JUDGED.contains(figure)) {
        let name = figure.heading();
        match made {
            // Where the original is wrong, too, there is nothing to repeat.
            Err(Why::Faults) => {
                let is_new = pair.a.conduct.is_tolerated();
                let found = if is_new { RowRepeated::No } else { RowRepeated::CannotTell };
                return (found, Why::Faults.meaning().into());
            }
            Err(why) => {
                is_shown = is_shown.or((*why == Why::KeptUp).then_some(true));
                says.push(format!("{name}: {}", why.meaning()));
            }
            Ok(made) if !made.is_supported => says.push(format!("{name}: too few samples")),
            Ok(made) => {
                let is_other = !matches!(made.finding(), Change::Within | Change::NotShown);
                differs |= is_other;
                let is_precise = made.smallest_shown() <= 1.0;
                is_shown = is_shown.or(Some(is_precise));
                let remark = match (is_other, is_precise) {
                    (true, _) => " differs",
                    (false, true) => "",
                    (false, false) => " cannot tell",
                };
                says.push(format!("{name} {}{remark}", Ratio::from(made)));
            }
        }
    }
    if pair.a.is_doubtful() || pair.b.is_doubtful() {
        says.push("rounds are in doubt".into());
    }
    let found = match (differs, is_shown) {
        (true, _) => RowRepeated::No,
        (false, Some(true)) => RowRepeated::Yes,
        (false, Some(false) | None) => RowRepeated::CannotTell,
    };
    (found, says.join(", "))
}

#[cfg(test)]
mod tests {
    use analysis::Gate;

    use super::*;
    use crate::run::Side;
    use crate::run::findings::Findings;

    /// What a repetition says whose answers took so many times as long, and which has so many rounds.
    fn repeated(times: f64, rounds: u32) -> Vec<(RowRepeated, String)> {
        let first = Findings::usual();
        let second = Findings::numbered(8, |run, trials| {
            run.plan.retain(|key| key.repeat < rounds);
            trials.retain(|trial| trial.key.repeat < rounds);
            for loaded in trials.iter_mut().filter_map(|trial| trial.loaded.as_mut()) {
                let found = &mut loaded.recording;
                let length = (found.measured_until - found.measured_from) as f64;
                found.measured_until = found.measured_from + (length * times) as u64;
            }
        });
        between(&first, &second)
    }

    fn between(a: &Findings<'_>, b: &Findings<'_>) -> Vec<(RowRepeated, String)> {
        let [a, b] = [a, b].map(|findings| Side { findings, subject: None });
        Compared::of(a, b, Gate { tolerance: 0.0, figure: None }).repeated()
    }

    /// A run in which requests of every server failed.
    fn failing(id: u64) -> Findings<'static> {
        Findings::numbered(id, |_, trials| {
            for loaded in trials.iter_mut().filter_map(|trial| trial.loaded.as_mut()) {
                let total = &mut loaded.recording.total;
                (total.failed[0], total.attempted) = (1_000, total.attempted + 1_000);
            }
        })
    }

    #[test]
    fn a_server_that_fails_in_the_original_too_is_neither_repeated_nor_refuted() {
        let is = |rows: Vec<(RowRepeated, String)>, kind| rows.iter().any(|row| row.0 == kind);
        assert!(is(between(&Findings::usual(), &failing(8)), RowRepeated::No));
        let both = between(&failing(8), &failing(9));
        assert!(both.iter().all(|row| row.0 != RowRepeated::No), "{both:#?}");
        assert!(is(both, RowRepeated::CannotTell));
    }

    #[test]
    fn the_same_rounds_repeat_a_row_and_those_of_a_server_half_as_fast_do_not() {
        let same = repeated(1.0, u32::MAX);
        assert!(same.iter().any(|(kind, _)| *kind == RowRepeated::Yes), "{same:#?}");
        assert!(same.iter().all(|(kind, _)| *kind != RowRepeated::No), "{same:#?}");
        let slower = repeated(2.0, u32::MAX);
        assert!(
            slower.iter().any(|(kind, says)| *kind == RowRepeated::No && says.contains("differs")),
            "{slower:#?}"
        );
        assert!(repeated(1.0, 0).iter().all(|(kind, _)| *kind == RowRepeated::CannotTell));
    }
}
