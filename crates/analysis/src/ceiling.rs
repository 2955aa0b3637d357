//! The most that the load and the machine achieve with a server that does almost nothing, and the subjects that come
//! too near to it.

use lab::experiment::Point;
use lab::figure::Figure;
use lab::record::TrialRecord;
use lab::service::ServiceCeiling;

use crate::board::{Row, Table};
use crate::doubt::{Doubt, near};
use crate::estimate::Estimate;
use crate::verdict::Verdict;

impl Table {
    /// The highest throughput of a reference at a place; nothing where none has a valid or suspect verdict.
    #[must_use]
    pub fn ceiling(&self, point: Point) -> Option<Estimate> {
        // What its own server reaches is not the limit of two programs that share a CPU.
        let found = highest(self, point).filter(|_| !self.shares_cpu);
        found.map(|(throughput, _)| throughput)
    }
}

/// What the service answers with no server before it, from the lowest place.
pub(crate) fn of_service(trials: &[&TrialRecord]) -> Vec<(Point, Result<ServiceCeiling, String>)> {
    let of_trial =
        |trial: &&TrialRecord| Some((trial.key.point, ServiceCeiling::of(&trial.conditions)?));
    let mut found: Vec<_> = trials.iter().filter_map(of_trial).collect();
    found.sort_by_key(|(point, _)| *point);
    found
}

/// Adds a doubt to rows that come too near to a reference at the same place; `trials` are those of the table. Agents load
/// the reference as they load all others, so its ceiling is that of the agents and the network.
pub(crate) fn weigh(table: &mut Table, trials: &[&TrialRecord]) {
    // Where all answers wait, the connections of a closed loop limit every server alike.
    if table.shares_cpu || trials.iter().copied().any(is_waiting) {
        return;
    }
    let by_agents = trials.iter().copied().any(is_by_agents);
    let found: Vec<Option<Doubt>> =
        table.rows.iter().map(|row| too_near(table, row, by_agents)).collect();
    for (row, doubt) in table.rows.iter_mut().zip(found) {
        row.doubts.extend(doubt);
    }
}

fn too_near(table: &Table, row: &Row, by_agents: bool) -> Option<Doubt> {
    let (ceiling, is_reference_behind) = highest(table, row.point)?;
    // Where the reference kept up with a schedule, it achieved no more than the schedule.
    let is_asked = row.is_limited() && (!row.is_offered() || is_reference_behind);
    let throughput = row.estimate(Figure::Throughput)?.value;
    near(by_agents, ceiling.value, throughput).filter(|_| is_asked && !row.is_reference)
}

/// Whether agents carried its load out.
fn is_by_agents(trial: &TrialRecord) -> bool {
    trial.loaded.as_ref().is_some_and(|loaded| !loaded.agents.is_empty())
}

/// Whether each of its answers had to wait for a stated time.
fn is_waiting(trial: &TrialRecord) -> bool {
    let total = trial.loaded.as_ref().map(|loaded| &loaded.recording.total);
    let waited = total.and_then(|total| Some((total.waited?.answers, total.correct)));
    waited.is_some_and(|(waited, correct)| 0 < waited && waited == correct)
}

/// The throughput of the best reference there, and whether it did not keep up either.
fn highest(table: &Table, point: Point) -> Option<(Estimate, bool)> {
    let can_be_used = |row: &&Row| {
        let is_worth = matches!(row.verdict(), Some(Verdict::Valid | Verdict::Suspect));
        row.is_reference && row.point == point && is_worth
    };
    let references = table.rows.iter().filter(can_be_used);
    let throughput =
        references.filter_map(|row| Some((row.estimate(Figure::Throughput)?, row.is_behind())));
    throughput.max_by(|one, other| one.0.value.total_cmp(&other.0.value))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::fixture::{at, board, counted, end, fail, recording, row, table, told};
    use lab::record::OutcomeKind;
    use load::{Failure, Waited};

    const CLOSED: Point = Point::Connections(64);
    const OFFERED: Point = Point::Requests(2_000.0);

    fn trial(subject: &str, point: Point, answers: u64) -> TrialRecord {
        let mut trial = at(subject, point, 0);
        counted(&mut trial, 20_000, answers);
        trial
    }

    /// Each of its answers had to wait.
    fn waiting(subject: &str, answers: u64) -> TrialRecord {
        let mut trial = trial(subject, CLOSED, answers);
        let total = &mut recording(&mut trial).total;
        let (answers, shortest) = (total.correct, 15_000_000);
        total.waited = Some(Waited { answers, early: 0, early_by: 0, shortest });
        trial
    }

    /// The doubts about subject `a` as a whole, and about the reference.
    fn doubts(point: Point, subject: u64, reference: u64) -> [Vec<Doubt>; 2] {
        let table = table(&[trial("a", point, subject), trial("idle", point, reference)]);
        ["a", "idle"].map(|name| row(&table, name).doubts.clone())
    }

    #[test]
    fn a_server_that_comes_near_to_the_reference_may_be_limited_by_something_else() {
        assert_eq!(doubts(CLOSED, 16_000, 19_000), [vec![], vec![]]);
        expect![[r#"
            ceiling (suspect): it achieved 1,700/s, and dyno's own server, which does next to nothing, reaches 1,900/s with this load: this may be dyno's or the machine's limit, not the server's
            ceiling (suspect): it achieved 1,700/s, and dyno's own server, which does next to nothing, reaches 1,500/s with this load: this may be dyno's or the machine's limit, not the server's"#]]
        .assert_eq(&told([
            &doubts(CLOSED, 17_000, 19_000).concat(),
            &doubts(CLOSED, 17_000, 15_000).concat(),
        ]));
    }

    #[test]
    fn where_agents_load_the_ceiling_is_that_of_the_agents_and_the_network() {
        let mut trials = [trial("a", CLOSED, 17_000), trial("idle", CLOSED, 19_000)];
        for trial in &mut trials {
            trial.loaded.as_mut().unwrap().agents = vec![agents::AgentFacts::default()];
        }
        let doubts = row(&table(&trials), "a").doubts.clone();
        expect!["ceiling (suspect): it achieved 1,700/s, and dyno's own server, which does next to nothing, reaches 1,900/s with this load: this may be the limit of the machines that the load came from, or of the network between, not the server's"]
            .assert_eq(&told([&doubts]));
        let way_out = doubts[0].way_out(crate::doubt::By::Flags);
        assert!(way_out.starts_with("let the load come from more"), "{way_out}");
    }

    #[test]
    fn servers_whose_answers_wait_are_limited_by_the_connections() {
        let found = table(&[waiting("a", 1_700), waiting("idle", 1_900)]);
        assert!(found.rows.iter().all(|row| row.doubts.is_empty()), "{found:?}");
    }

    /// What waits in one workload says nothing of another one of the same run.
    #[test]
    fn a_workload_that_waits_hides_no_ceiling_of_another() {
        let mut trials = vec![waiting("a", 1_700), waiting("idle", 1_900)];
        trials.iter_mut().for_each(|trial| trial.key.workload = "wait-15".into());
        trials.extend([trial("a", CLOSED, 17_000), trial("idle", CLOSED, 19_000)]);
        let mut doubted: Vec<_> = board(&trials)
            .tables
            .iter()
            .map(|table| (table.workload.clone(), row(table, "a").doubts.len()))
            .collect();
        doubted.sort_unstable();
        assert_eq!(doubted, [("hello".into(), 1), ("wait-15".into(), 0)]);
    }

    #[test]
    fn a_schedule_is_only_asked_of_a_server_that_is_behind_like_the_reference() {
        assert_eq!(doubts(OFFERED, 20_000, 20_000), [vec![], vec![]], "both keep up");
        assert_eq!(doubts(OFFERED, 17_000, 20_000), [vec![], vec![]], "the reference keeps up");
        expect!["ceiling (suspect): it achieved 1,700/s, and dyno's own server, which does next to nothing, reaches 1,800/s with this load: this may be dyno's or the machine's limit, not the server's"]
            .assert_eq(&told([&doubts(OFFERED, 17_000, 18_000).concat()]));
        assert_eq!(doubts(OFFERED, 10_000, 18_000), [vec![], vec![]], "it is far behind");
    }

    #[test]
    fn a_ceiling_is_that_of_its_place() {
        let there = table(&[trial("a", CLOSED, 100), trial("idle", CLOSED, 19_000)]);
        assert_eq!(there.ceiling(CLOSED).unwrap().value, 1_900.0);
        assert_eq!(there.ceiling(Point::Connections(1)), None);
        assert_eq!(table(&[trial("a", CLOSED, 100)]).ceiling(CLOSED), None);
    }

    #[test]
    fn a_reference_that_is_no_measurement_is_no_ceiling() {
        let mut died = trial("idle", CLOSED, 19_000);
        end(&mut died, OutcomeKind::Died);
        let mut failing = trial("idle", CLOSED, 19_000);
        fail(&mut failing, Failure::NoPorts, 5_000);
        for unfit in [died, failing] {
            let table = table(&[trial("a", CLOSED, 18_000), unfit]);
            assert_eq!((table.ceiling(CLOSED), table.rows[0].doubts.len()), (None, 0));
        }
    }
}
