//! Whether answers that are made of a database's rows came from the database, and whether it has what they said.

use lab::record::{
    COUNTED, INSERTED, TABLE_CANNOT_BE_READ, TABLE_NOT_JUDGED, TABLE_OTHERS, TABLE_ROWS,
    TrialRecord, fact,
};
use load::Rows;
use units::{chosen, count};

use super::Doubt;
use super::definition::Definition;
use super::definition::Threshold::{Count, Number};
use crate::verdict::Gravity::{Invalid, Note, Suspect};

/// So many standard deviations from the expected number of pairs are seen once in a hundred million loads.
const DEVIATIONS: f64 = 6.0;
/// In short loads chance is coarser: so many pairs more are allowed.
const PAIRS: u64 = 12;
/// A row's new number is one of so many.
const NUMBERS: f64 = 10_000.0;
/// In short loads, so many new numbers more may equal the old ones.
const EQUAL: u64 = 3;

pub(super) const ALL: &[Definition] = &[
    NOT_FROM_DATABASE,
    QUERIES_BATCHED,
    UPDATES_NOT_WRITTEN,
    IDS_NOT_RANDOM,
    ROWS_NOT_COUNTED,
    ROW_NOT_INSERTED,
];

/// The database gave the server fewer rows than its right answers had.
pub(crate) const NOT_FROM_DATABASE: Definition = Definition::new("not_from_database", Invalid)
    .when("the server's role read fewer rows of the tables than its right answers had, between an instant before the \
        load and one after it ([what is counted](services.md#postgresql)), and not just those that an answer has twice")
    .because("the rest came from a cache or from memory: other work than the workload asks for")
    .way_out("read the rows of each answer from the database; a cache is another workload");

/// The rows were read by fewer queries than there are rows.
pub(crate) const QUERIES_BATCHED: Definition = Definition::new("queries_batched", Suspect)
    .when("the server's role read all rows, by fewer queries than the workload asks for: one for each row of a list, \
        one for each page")
    .because("one query for many rows costs the database and the server much less than many queries")
    .way_out("read each row by a query of its own; several may be in flight on one connection");

/// The table does not have what answers said was written.
pub(crate) const UPDATES_NOT_WRITTEN: Definition = Definition::new("updates_not_written", Invalid)
    .when("after the load, a row of the table had none of the numbers that answers gave for it and that no later answer \
        superseded, and no request without a right answer explains it; or right answers said that more rows were changed, \
        by more than {} standard deviations (and {}) beyond the one in 10,000 whose new number is the old one, which ORMs \
        do not write ([what this can find](validity.md#rows-of-a-database))")
    .thresholds(&[Number(DEVIATIONS), Count(EQUAL)])
    .because("an update that is answered and not written is work that was not done")
    .way_out("commit before the answer is sent");

/// Ids are not as if they were drawn.
pub(crate) const IDS_NOT_RANDOM: Definition = Definition::new("ids_not_random", Suspect)
    .when("of all pairs of rows that one thread of dyno received, the number with equal ids was further than {} \
        standard deviations (and {} pairs) from what 10,000 equally likely ids give, which is as good as a χ² test of \
        the ids")
    .thresholds(&[Number(DEVIATIONS), Count(PAIRS)])
    .because("rows that are asked for more often than others are in caches; ids that repeat are easier than random ones")
    .way_out("draw each id from 1 to 10,000, with equal chances");

/// What the database has counted is not known.
pub(crate) const ROWS_NOT_COUNTED: Definition = Definition::new("rows_not_counted", Note)
    .when("the service could not be asked what it had counted, had forgotten some of it, or its table could not be read \
        after the load")
    .because("each row was compared with the seeded one, and it is not known whether it came from the database")
    .way_out("see the trial's conditions; the setting `pg_stat_statements.max` says how many statements are remembered");

/// The row whose appearance shows that a page is not old was not inserted.
pub(crate) const ROW_NOT_INSERTED: Definition = Definition::new("row_not_inserted", Note)
    .when("the row that is inserted during the measured time was not inserted")
    .because("a page that was made before the load would look the same")
    .way_out("see the trial's conditions; a load of a second or more has the time for it");

/// Every doubt about the rows of a trial's answers.
pub(super) fn of_trial(trial: &TrialRecord) -> Vec<Doubt> {
    let total = trial.loaded.as_ref().map(|loaded| &loaded.recording.total);
    let Some(rows) = total.and_then(|total| total.rows) else { return Vec::new() };
    let mut doubts: Vec<Doubt> = ids(rows).into_iter().chain(inserted(trial)).collect();
    doubts.extend(match Counted::of(trial) {
        Some(Ok(counted)) => counted.doubt(rows, total.map_or(0, load::Tally::failed_in_all)),
        Some(Err(says)) => Some(ROWS_NOT_COUNTED.found(says)),
        None => None,
    });
    doubts.extend(table(trial));
    doubts
}

/// What the service counted of the server's role during the load, over both tables.
struct Counted {
    queries: u64,
    rows: u64,
    changed: u64,
}

impl Counted {
    /// None where there is no service that counts.
    fn of(trial: &TrialRecord) -> Option<Result<Counted, String>> {
        if let Some(says) = fact(&trial.conditions, COUNTED) {
            return Some(Err(format!("what the database counted is {says}")));
        }
        let number = |name: &str| -> Option<u64> {
            fact(&trial.conditions, &format!("{COUNTED}.{name}"))?.parse().ok()
        };
        let sum = |name: &str| {
            let [world, fortune] =
                ["world", "fortune"].map(|table| number(&format!("{table}.{name}")));
            Some(world?.saturating_add(fortune?))
        };
        let (queries, rows) = (sum("reads")?, sum("rows_read")?);
        let changed = sum("rows_updated").unwrap_or(0);
        Some(match number("evicted") {
            Some(0) | None => Ok(Counted { queries, rows, changed }),
            Some(times) => Err(format!(
                "the database forgot some of the statements that it had counted ({} times)",
                count(times)
            )),
        })
    }

    /// Those `failed` requests may have read rows, too.
    fn doubt(&self, wanted: Rows, failed: u64) -> Option<Doubt> {
        let each = |number: u64| chosen(number as f64 / wanted.answers.max(1) as f64);
        let unread = wanted.rows.saturating_sub(self.rows);
        // A session that keeps the rows of an answer reads none of them twice. Another one does, or some are cached.
        let of_failed = failed.saturating_mul(wanted.rows.div_ceil(wanted.answers.max(1)));
        let kept = wanted.repeated.saturating_sub(of_failed)..=wanted.repeated;
        if 0 < unread && !kept.contains(&unread) {
            return Some(NOT_FROM_DATABASE.found(format!(
                "the database gave the server {} rows, and its {} right answers had {}: {} were not read from the database",
                count(self.rows),
                count(wanted.answers),
                count(wanted.rows),
                count(unread)
            )));
        }
        if equal_numbers(wanted.changed) < wanted.changed.saturating_sub(self.changed) as f64 {
            return Some(UPDATES_NOT_WRITTEN.found(format!(
                "the server changed {} rows, and its right answers said {}: {} were not written",
                count(self.changed),
                count(wanted.changed),
                count(wanted.changed - self.changed)
            )));
        }
        (self.queries < wanted.queries.saturating_sub(unread)).then(|| {
            let queries = each(self.queries);
            let noun = if queries == "1" { "query" } else { "queries" };
            QUERIES_BATCHED.found(format!(
                "the server read {} rows an answer by {queries} {noun}; the workload asks for {} queries",
                each(self.rows),
                each(wanted.queries)
            ))
        })
    }
}

/// So many of these new numbers equal the old ones at most.
fn equal_numbers(changed: u64) -> f64 {
    let expected = changed as f64 / NUMBERS;
    expected + DEVIATIONS * expected.sqrt() + EQUAL as f64
}

fn ids(rows: Rows) -> Option<Doubt> {
    let beyond = rows.equal_pairs as f64 - rows.expected_pairs;
    let allowed = DEVIATIONS * rows.expected_pairs.sqrt() + PAIRS as f64;
    (allowed < beyond.abs()).then(|| IDS_NOT_RANDOM.found(format!(
        "{} pairs of rows had the same id, where {} are expected of ids that are drawn with equal chances",
        count(rows.equal_pairs),
        count(rows.expected_pairs.round() as u64)
    )))
}

fn inserted(trial: &TrialRecord) -> Option<Doubt> {
    let says = fact(&trial.conditions, INSERTED)?.strip_prefix("not: ")?;
    Some(ROW_NOT_INSERTED.found(format!("no row was inserted during the load: {says}")))
}

fn table(trial: &TrialRecord) -> Option<Doubt> {
    if let Some(says) = fact(&trial.conditions, TABLE_CANNOT_BE_READ) {
        return Some(ROWS_NOT_COUNTED.found(format!("the table could not be read: {says}")));
    }
    let number = |name| fact(&trial.conditions, name)?.parse::<u64>().ok();
    let (rows, others) = (number(TABLE_ROWS)?, number(TABLE_OTHERS)?);
    let lost = others.saturating_sub(number(TABLE_NOT_JUDGED)?);
    (0 < lost).then(|| UPDATES_NOT_WRITTEN.found(format!(
        "{} rows of the table have none of the numbers that answers gave for them (of {} rows that were answered)",
        count(lost),
        count(rows)
    )))
}

#[cfg(test)]
mod tests;
