//! Two runs, or two subjects, side by side: for readers and as JSON.

mod answer;
mod conformance;
mod document;
pub(crate) mod json;
mod loads;
mod repeated;

use std::collections::BTreeSet;

use analysis::why::{Explained, explained_pair};
use analysis::{
    Change, Comparison, Gate, GateAnswer, Gated, Pair, Row, Sides, Unsure, Verdict, Versus,
};
use lab::manner::Task;
use lab::record::RunRecord;
use lab::trial::SPIN;
use load::Spin;
use machine::facts::differences;

use super::findings::Findings;
use super::results::ends;
use crate::document::Document;
use crate::load::file::POLLING;
use crate::load::terms;
use crate::render::Shown;
use conformance::Checks;
pub use repeated::{RowRepeated, repeated_in_short};

pub struct Side<'t> {
    pub findings: &'t Findings<'t>,
    /// None: all subjects of the run.
    pub subject: Option<&'t str>,
}

impl<'t> Side<'t> {
    /// The server of a kept load, which is its run's only one.
    fn of_load(&self) -> Option<Side<'t>> {
        let first = self.findings.run.entries.first().filter(|_| self.findings.is_load())?;
        Some(Side { findings: self.findings, subject: Some(&first.name) })
    }
}

/// Why a figure that was compared is not judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unjudged {
    /// The loads are not alike.
    Unlike,
    /// Its rounds are in doubt, or too short for it.
    Unsure(Unsure),
}

/// Both sides, matched and compared.
pub struct Compared<'t> {
    sides: [Side<'t>; 2],
    versus: Versus<'t>,
    gate: Gate,
}

impl Shown for Compared<'_> {
    fn document(&self) -> Document {
        document::of(self)
    }

    fn json(&self) -> serde_json::Result<String> {
        json::of(self)
    }
}

impl<'t> Compared<'t> {
    /// Either both sides name a subject, or neither does.
    pub fn of(a: Side<'t>, b: Side<'t>, gate: Gate) -> Compared<'t> {
        let (a, b) = match (a.of_load(), b.of_load()) {
            // Loads of two servers: each is its run's only one.
            (Some(first), Some(second)) if first.subject != second.subject => (first, second),
            _ => (a, b),
        };
        let sides = match a.subject.zip(b.subject) {
            None => Sides::Runs,
            Some((first, second)) if a.findings.id == b.findings.id => {
                Sides::OfOneRun([first, second])
            }
            Some((first, second)) => Sides::Subjects([first, second]),
        };
        let versus = Versus::of(&a.findings.board, &b.findings.board, sides, gate);
        Compared { sides: [a, b], versus, gate }
    }

    /// Whether anything at all was compared.
    fn is_any(&self) -> bool {
        self.versus.made().next().is_some()
    }

    /// Whether B is as good as A: in every row, and in the clauses of the RFCs that a later run of a subject keeps.
    pub fn answer(&self) -> GateAnswer {
        let is_failing =
            |pair: &Pair<'_>| [pair.a, pair.b].iter().any(|row| !row.conduct.is_tolerated());
        if self.versus.pairs.iter().any(is_failing) {
            return GateAnswer::Failing;
        }
        if self.is_unlike() {
            return GateAnswer::CannotTell;
        }
        let figures = self.versus.answer(&self.gated());
        let checks = conformance::all(self).iter().map(Checks::answer).max();
        checks.map_or(figures, |checks| figures.max(checks))
    }

    /// Pairs of which both sides were sampled; none where their loads are not alike.
    fn explained(&self) -> Vec<(&Pair<'t>, Explained)> {
        let pairs = self.versus.pairs.iter().filter(|_| !self.is_unlike());
        let [a, b] = self.sides.each_ref().map(|side| side.findings.run);
        let explained = |pair: &Pair<'t>| explained_pair(pair.workload, [(pair.a, a), (pair.b, b)]);
        pairs.filter_map(|pair| Some((pair, explained(pair)?))).collect()
    }

    /// Whether they are loads of different kinds: what they have in common is not measured alike.
    fn is_unlike(&self) -> bool {
        let [a, b] = self.sides.each_ref().map(|side| side.findings);
        let is_of_files = a.stated.is_some() && b.stated.is_some();
        let unlike = differences(&a.run.facts, &b.run.facts);
        is_of_files && unlike.iter().any(|it| it.name != lab::record::REQUEST)
            || self.kept_loads().is_some_and(|both| !loads::differences(both).is_empty())
    }

    /// Both runs, if each is of `dyno load`.
    fn kept_loads(&self) -> Option<[&'t Findings<'t>; 2]> {
        let are_loads = self.sides.iter().all(|side| side.findings.is_load());
        are_loads.then(|| self.sides.each_ref().map(|side| side.findings))
    }

    /// Whether the sides are of `dyno load`, as files or kept.
    fn is_of_loads(&self) -> bool {
        let of_load = |findings: &Findings<'_>| findings.stated.is_some() || findings.is_load();
        self.sides.iter().all(|side| of_load(side.findings))
    }

    /// Whether they are single loads.
    fn is_single(&self) -> bool {
        let is_one = |row: &Row| row.measured() == 1;
        self.is_of_loads() && self.versus.pairs.iter().any(|pair| is_one(pair.a) || is_one(pair.b))
    }

    /// Every row, judged.
    fn gated(&self) -> Vec<Gated<'_, 't>> {
        self.versus.gate(self.gate)
    }

    /// The load level of a pair; of loads that differ in it, both.
    fn place(&self, pair: &Pair<'_>) -> String {
        let [a, b] = self.sides.each_ref().map(|side| side.findings.place(pair.a.point));
        if a == b { a } else { format!("{a} (A) and {b} (B)") }
    }

    /// Whether both sides are of one run: in that case nothing is new in one of them.
    fn is_one_run(&self) -> bool {
        self.sides[0].findings.id == self.sides[1].findings.id
    }

    /// What a comparison of a figure shows, or why it is not judged.
    fn finding(&self, pair: &Pair<'_>, made: &Comparison) -> Result<Change, Unjudged> {
        if self.is_unlike() {
            return Err(Unjudged::Unlike);
        }
        match pair.unsure(made) {
            Some(unsure) => Err(Unjudged::Unsure(unsure)),
            None => Ok(made.finding()),
        }
    }

    fn count(&self, finding: Change) -> usize {
        self.count_where(|found| found == Ok(finding))
    }

    /// How many comparisons are made and not judged.
    fn unjudged(&self) -> usize {
        self.count_where(|found| found.is_err())
    }

    fn count_where(&self, is_one: impl Fn(Result<Change, Unjudged>) -> bool) -> usize {
        let of_pair = |pair: &Pair<'t>| {
            let made = pair.figures.iter().filter_map(|(_, made)| made.as_ref().ok());
            made.filter(|made| is_one(self.finding(pair, made))).count()
        };
        self.versus.pairs.iter().map(of_pair).sum()
    }

    /// What a reader must know about the data: one sentence each.
    fn notes(&self) -> Vec<String> {
        let mut notes = self.conditions();
        for (n, name) in ["A", "B"].into_iter().enumerate() {
            let findings = self.sides[n].findings;
            notes.extend(findings.says_of_damage().map(|says| format!("{name}: {says}")));
            let named = |pair: &Pair<'t>| {
                let row = [pair.a, pair.b][n];
                let (title, place) = (findings.title(&row.subject), findings.place(row.point));
                (format!("{title}, {} at {place}", pair.workload), row)
            };
            let rows: Vec<(String, &Row)> = self.versus.pairs.iter().map(named).collect();
            notes.extend(rows.iter().filter_map(|(which, row)| left_out(name, which, row)));
            notes.extend(in_doubt(name, &rows, findings));
        }
        for (n, name) in ["A", "B"].into_iter().enumerate() {
            let findings = self.sides[n].findings;
            notes.extend(self.versus.alone[n].iter().map(|(workload, row)| {
                let place = findings.place(row.point);
                // Subjects of an experiment may have one title.
                let is_url = findings.is_load() || findings.race_command().is_some();
                let title = if is_url { findings.title(&row.subject) } else { &row.subject };
                format!("only in {name}: {title}, {workload} at {place}")
            }));
        }
        notes.extend(self.apart_by_protocol());
        let shared = self.versus.pairs.iter().filter(|pair| pair.a.shares_cpu || pair.b.shares_cpu);
        let shared: BTreeSet<&str> = shared.map(|pair| pair.workload).collect();
        notes.extend(shared.into_iter().map(|workload| {
            format!("{workload}: server and database on one CPU: throughput is that of both")
        }));
        notes
    }

    /// Workloads that each side requested in a manner in which the other did not.
    fn apart_by_protocol(&self) -> Vec<String> {
        let [a, b] = self.tasks();
        let only = |mine: &BTreeSet<Task>, theirs: &BTreeSet<Task>| {
            let tasks = mine.difference(theirs);
            tasks.map(|task| task.workload.clone()).collect::<BTreeSet<String>>()
        };
        let manners = |tasks: &BTreeSet<Task>, workload: &str| {
            let of = tasks.iter().filter(|task| task.workload == workload);
            of.map(|task| task.manner.to_string()).collect::<Vec<_>>().join(" and ")
        };
        let apart = only(&a, &b).intersection(&only(&b, &a)).cloned().collect::<Vec<String>>();
        let notes = apart.into_iter().map(|workload| {
            let [a, b] = [&a, &b].map(|tasks| manners(tasks, &workload));
            format!(
                "{workload} was requested {a} in A and {b} in B: what is measured over different protocols, or with \
                 other numbers of streams, is not compared"
            )
        });
        notes.collect()
    }

    /// What was requested of either side, with or without a partner.
    fn tasks(&self) -> [BTreeSet<Task>; 2] {
        let paired = || self.versus.pairs.iter().map(|pair| pair.workload);
        self.versus.alone.each_ref().map(|alone| {
            let all = paired().chain(alone.iter().map(|(workload, _)| *workload));
            all.map(Task::named).collect()
        })
    }

    /// Differences between the conditions of the runs.
    fn conditions(&self) -> Vec<String> {
        let [a, b] = self.sides.each_ref().map(|side| side.findings.run);
        if self.is_one_run() {
            return Vec::new();
        }
        let mut notes = Vec::new();
        if a.is_quick != b.is_quick {
            notes.push("one of the runs is quick, and the other is not: they are not alike".into());
        }
        let changed = self.sides.each_ref().map(|side| side.findings.changed());
        if changed[0] != changed[1] {
            for (side, changed) in self.sides.iter().zip(changed) {
                let says = changed.map_or(&[][..], |changed| &changed.says).join(", ");
                if !says.is_empty() {
                    notes.push(format!(
                        "run {} was changed on its command line ({says}), and the other one was not changed alike: \
                         they do not measure the same",
                        side.findings.id
                    ));
                }
            }
        }
        notes.extend(match self.kept_loads() {
            Some(both) => loads::differences(both),
            None => changed_files(a, b),
        });
        let mut facts = differences(&a.facts, &b.facts);
        // Those of kept loads are named above.
        facts.retain(|it| self.kept_loads().is_none() || !terms::is_one(it.name));
        notes.extend(facts.iter().map(|it| format!("{}: {}", it.name, loads::values(it.values))));
        if self.sides.iter().any(|side| side.findings.stated.is_some()) {
            notes.push(
                "the files do not say on which machine the loads were made, nor what the requests had in their header \
                 and body"
                    .into(),
            );
        }
        if self.sides.iter().all(|side| is_adaptive(side.findings)) {
            notes.push(
                "both loads polled adaptively (--spin adaptive): dyno may have slept more with one server than with \
                 the other, which costs that server CPU time; `--spin due` treats both alike"
                    .into(),
            );
        }
        notes.push(
            "the intervals do not include what differs from one run to the next: a comparison of two servers of one \
             run is safer"
                .into(),
        );
        notes
    }
}

/// Whether dyno chose by itself when to poll and when to sleep: by what a file says, or by what was kept of each load.
fn is_adaptive(findings: &Findings<'_>) -> bool {
    let kept = findings.trials.iter().flat_map(|trial| &trial.conditions);
    let mut kept = kept.filter(|it| it.name == SPIN);
    let mut stated = findings.run.facts.iter().filter(|it| it.name == POLLING);
    stated.any(|it| it.value == Spin::Adaptive.name())
        || kept.any(|it| it.value == Spin::Adaptive.name())
}

/// Files that shaped both, and are not the same.
fn changed_files(a: &RunRecord, b: &RunRecord) -> Vec<String> {
    let (a, b) = (a.texts(), b.texts());
    let shared = a.iter().filter(|(path, _)| !path.starts_with("subjects/"));
    let changed = shared.filter_map(|(path, text)| {
        let (_, other) = b.iter().find(|(other, _)| other == path)?;
        (text != other).then(|| format!("{path} is not the same in both"))
    });
    changed.collect()
}

/// Rounds that are not in the figures.
fn left_out(name: &str, which: &str, row: &Row) -> Option<String> {
    let missing = row.planned.saturating_sub(row.measured());
    (0 < missing).then(|| {
        let (planned, ends) = (row.planned, ends(row));
        format!("{name}, {which}: {missing} of {planned} rounds not measured{ends}")
    })
}

/// At most this many rows in doubt are named; further ones are counted.
const NAMED: usize = 6;

/// Rows with rounds that are in the figures and in doubt, in one sentence: the run's own report says why.
fn in_doubt(name: &str, rows: &[(String, &Row)], findings: &Findings<'_>) -> Option<String> {
    let named = |(which, row): &(String, &Row)| Some(format!("{which} ({})", doubtful(row)?));
    let found: Vec<String> = rows.iter().filter_map(named).collect();
    let named = match found.len() {
        0 => return None,
        all if 1 < all && all == rows.len() => format!("all {all} rows"),
        some if some <= NAMED => found.join("; "),
        some => format!("{}; and {} more", found[..NAMED].join("; "), some - NAMED),
    };
    let why = match &findings.stated {
        None => format!("`dyno report {}{}` says why", findings.id, findings.store_option),
        Some(_) => {
            let reasons = rows.iter().flat_map(|(_, row)| row.reasons());
            reasons.map(|reason| reason.doubt.says().to_owned()).collect::<Vec<_>>().join("; ")
        }
    };
    Some(format!("{name}, in doubt: {named}; {why}"))
}

/// How much of a row is in doubt.
fn doubtful(row: &Row) -> Option<String> {
    let measured = row.trials.iter().filter(|trial| trial.is_measured());
    match measured.filter(|trial| trial.verdict() != Verdict::Valid).count() {
        0 if row.doubts.is_empty() => None,
        0 => Some("as a whole".into()),
        rounds => Some(format!("{rounds} of {} rounds", row.measured())),
    }
}

#[cfg(test)]
mod tests {
    use lab::experiment::Point;
    use lab::record::TrialKey;

    use super::*;

    const H2C: &str = "echo-xml over h2c, 1 stream";

    /// The fixture's run with these trials' keys changed.
    fn run(id: u64, change: impl Fn(&mut TrialKey)) -> Findings<'static> {
        Findings::numbered(id, |run, trials| {
            run.plan.iter_mut().for_each(&change);
            trials.iter_mut().for_each(|trial| change(&mut trial.key));
        })
    }

    /// What is said of protocols where the keys of A and of B are changed like this.
    fn apart(a: impl Fn(&mut TrialKey), b: impl Fn(&mut TrialKey)) -> Vec<String> {
        Compared::whole(&run(7, a), &run(8, b)).apart_by_protocol()
    }

    fn over(task: &str) -> impl Fn(&mut TrialKey) {
        move |key| key.workload = task.into()
    }

    /// A change of the task of one of the two subjects.
    fn evil_over(task: &str) -> impl Fn(&mut TrialKey) {
        move |key| {
            if key.subject == "evil" {
                key.workload = task.into();
            }
        }
    }

    #[test]
    fn a_workload_over_different_protocols_is_said_with_all_that_it_was_requested_over() {
        const NOT_COMPARED: &str = "what is measured over different protocols, or with other numbers of streams, is not compared";
        let says = |a: &str, b: &str| {
            vec![format!("echo-xml was requested {a} in A and {b} in B: {NOT_COMPARED}")]
        };
        assert_eq!(apart(|_| {}, over(H2C)), says("over http/1.1", "over h2c, 1 stream"));
        assert_eq!(
            apart(evil_over("echo-xml over http/1.1+tls"), evil_over(H2C)),
            says("over http/1.1 and over http/1.1+tls", "over http/1.1 and over h2c, 1 stream")
        );
    }

    #[test]
    fn only_the_side_that_has_few_samples_is_marked() {
        let few = Findings::numbered(8, |_, trials| {
            for trial in trials {
                let response = &mut trial.loaded.as_mut().unwrap().recording.total.response;
                *response = load::Distribution::new(5 * load::SECOND);
                response.record_many(1_000_000, 50);
            }
        });
        let whole = Findings::usual();
        let text = Compared::whole(&whole, &few).text(crate::render::Screen::file(200));
        let p99 = text.lines().find(|line| line.trim_start().starts_with("p99 ")).unwrap();
        let cells: Vec<&str> = p99.split_whitespace().collect();
        assert!(!cells[1].contains('*') && cells[2].contains('*'), "{p99}");
    }

    #[test]
    fn a_rate_of_a_server_and_a_database_on_one_cpu_is_called_that_of_both() {
        let shared = Findings::numbered(8, |_, trials| {
            let fact = lab::record::Fact { name: "service".into(), value: "a store".into() };
            trials.iter_mut().for_each(|trial| trial.conditions.push(fact.clone()));
        });
        let (usual, says) =
            (Findings::usual(), "server and database on one CPU: throughput is that of both");
        let are_said = |b| Compared::whole(&usual, b).notes().iter().any(|it| it.ends_with(says));
        assert!(are_said(&shared) && !are_said(&usual));
    }

    #[test]
    fn kept_loads_that_polled_adaptively_may_have_treated_their_servers_unlike() {
        assert!(notes_that_both_are_adaptive(Spin::Adaptive));
        assert!(!notes_that_both_are_adaptive(Spin::Due));
    }

    fn notes_that_both_are_adaptive(spin: Spin) -> bool {
        let [a, b] = [7, 8].map(|id| {
            let fact = lab::record::Fact { name: SPIN.into(), value: spin.name().into() };
            Findings::numbered(id, |_, trials| {
                trials.iter_mut().for_each(|trial| trial.conditions.push(fact.clone()));
            })
        });
        let notes = Compared::whole(&a, &b).notes();
        notes.iter().any(|note| note.contains("polled adaptively"))
    }

    #[test]
    fn rows_that_lack_a_partner_for_another_reason_are_of_no_other_protocol() {
        let other_subject = |key: &mut TrialKey| {
            if key.subject == "evil" {
                key.subject = "other".into();
            }
        };
        assert!(apart(|_| {}, other_subject).is_empty());
        assert!(
            apart(over(H2C), |key| {
                (key.workload, key.point) = (H2C.into(), Point::Sessions(300.0));
            })
            .is_empty()
        );
        assert!(apart(|_| {}, evil_over(H2C)).is_empty(), "B has more, and what A has");
    }
}
