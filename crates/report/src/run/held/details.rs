//! What is known of one ramp besides its steps: what was agreed on, what came back of what dyno sent, and what it took.

use lab::record::HeldRecord;
use load::{Distribution, Nanos, Plateau};
use units::{bytes, count, counted, nanos, percent};

use crate::agents::facts_of;
use crate::document::{Block, Fact};
use crate::{quantile, security};

/// Facts of a ramp, and why TLS failed where it did.
pub(super) fn blocks(ramp: &HeldRecord, is_unverified: bool) -> Vec<Block> {
    let security = ramp.holding.security();
    let plateaus = &ramp.holding.plateaus;
    let mut facts: Vec<Fact> =
        security.iter().map(|seen| security::fact(seen, is_unverified)).collect();
    let sum = |of: fn(&Plateau) -> u64| plateaus.iter().map(of).sum::<u64>();
    let (again, missed) = (sum(|plateau| plateau.begun_again), sum(|plateau| plateau.missed));
    if 0 < again {
        facts.push(Fact::new("begun again", counted(again, "connection", "connections")));
    }
    if 0 < missed {
        let missed = counted(missed, "numbered message", "numbered messages");
        facts.push(Fact::new("missed", format!("{missed} never came")));
    }
    if let Some(last) = plateaus.last() {
        facts.extend(lateness(last).map(|says| Fact::new("late", says)));
        facts.extend(echoes(last).map(|says| Fact::new("echo", says)));
        facts.extend(broadcasts(last).map(|says| Fact::new("broadcast", says)));
        facts.push(Fact::new("dyno", cost(last)));
    }
    facts.extend(facts_of(&ramp.agents));
    let reasons = security.iter().flat_map(security::reasons);
    vec![Block::Facts(facts), Block::Entries(reasons.collect())]
}

fn lateness(last: &Plateau) -> Option<String> {
    let all = last.late.count();
    if all == 0 {
        return None;
    }
    Some(match last.stamped {
        0 => "a lower bound, measured against the interval of each connection".into(),
        stamped if stamped == all => {
            "measured against the due times that the messages contain, on this machine's clock"
                .into()
        }
        stamped => format!(
            "{} of {} messages contain their due times; the others were expected at the interval",
            count(stamped),
            count(all)
        ),
    })
}

fn echoes(last: &Plateau) -> Option<String> {
    let echoes = &last.echoes;
    (0 < echoes.due).then(|| {
        format!(
            "{} due = {} correct + {} failed + {} without a free connection + {} in flight; p50 {}, p99 {}",
            count(echoes.due),
            count(echoes.correct),
            count(echoes.failed),
            count(echoes.blocked),
            count(echoes.under_way),
            at(&echoes.response, 0.5),
            at(&echoes.response, 0.99)
        )
    })
}

fn broadcasts(last: &Plateau) -> Option<String> {
    let sent = last.broadcasts.len() as u64;
    let received = last.broadcasts.values().filter(|one| 0 < one.received);
    let all: u64 = received.clone().map(|one| one.received).sum();
    let counts = format!("{} sent, {} received", count(sent), count(all));
    let first = median(received.clone().map(|one| one.first));
    let times = first.zip(median(received.map(|one| one.last))).map(|(first, last_one)| {
        format!(
            "; the first receiver after {}, half of all after {}, the last after {} (medians)",
            nanos(first),
            at(&last.late, 0.5),
            nanos(last_one)
        )
    });
    (0 < sent).then(|| counts + &times.unwrap_or_default())
}

/// The least that half of the values do not exceed, as percentiles are: so that the first receiver is never later than
/// half of all.
fn median(values: impl Iterator<Item = Nanos>) -> Option<Nanos> {
    let mut values: Vec<Nanos> = values.collect();
    values.sort_unstable();
    values.get(values.len().saturating_sub(1) / 2).copied()
}

fn at(distribution: &Distribution, q: f64) -> String {
    distribution.quantile(q).map_or("–".into(), quantile::shown)
}

fn cost(last: &Plateau) -> String {
    let share = last.cpu as f64 / last.measured.max(1) as f64;
    format!("{} of a CPU in the last step, {} received", percent(share), bytes(last.bytes))
}

#[cfg(test)]
mod tests {
    use load::{Broadcast, PlateauTimes, SECOND};

    use super::*;

    #[test]
    fn a_little_cpu_time_is_not_shown_as_none() {
        let times = PlateauTimes::default();
        let last = Plateau { cpu: SECOND / 250, measured: SECOND, ..Plateau::new(times) };
        assert_eq!(cost(&last), "0.4 % of a CPU in the last step, 0 B received");
    }

    #[test]
    fn broadcasts_that_nobody_received_were_sent_and_half_of_all_come_after_the_first() {
        let mut last = Plateau::new(PlateauTimes::default());
        assert_eq!(broadcasts(&last), None);
        last.broadcasts.insert(1, Broadcast::default());
        assert_eq!(broadcasts(&last).unwrap(), "1 sent, 0 received");
        for (number, times) in [(2, [100, 200]), (4, [300, 400])] {
            let [first, end] = times.map(|us| us * 1_000);
            times.iter().for_each(|us| last.late.record(us * 1_000));
            last.broadcasts.insert(number, Broadcast { first, last: end, received: 2 });
        }
        assert_eq!(
            broadcasts(&last).unwrap(),
            "3 sent, 4 received; the first receiver after 100 µs, half of all after 200 µs*, the last after 200 µs \
             (medians)"
        );
    }
}
