//! `dyno runs prune`: deletes old and unfinished runs by a rule.

use std::cmp::Reverse;
use std::collections::HashMap;

use archive::removal::Removal;
use campaign::{Claim, now_unix_ms};
use clap::Args;
use lab::amounts;
use store::RunSummary;

use crate::shell::{ExitStatus, Refusal, print};
use crate::stores::StoreFlag;

/// Delete runs by their age, or all but the newest
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct PruneFlags {
    /// Keep the newest N runs of each group: of each experiment, of the races between the same servers, and of the
    /// kept loads of the same method and URL over the same protocol
    #[arg(long, value_name = "N", value_parser = amounts::count)]
    keep_newest: Option<u64>,
    /// Delete only what began longer ago than this: 12h, 30d, 8w
    #[arg(long, value_name = "AGE", value_parser = age_ms)]
    older_than: Option<i64>,
    /// Delete only runs that were not finished
    #[arg(long)]
    unfinished: bool,
    /// Print what would be deleted, and delete nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    store: StoreFlag,
}

const AFTER_HELP: &str = "\
A run is deleted if every rule that is given allows it. A run that another dyno is working on is left alone, and so is \
one whose own rows are damaged: `dyno runs rm` deletes it by its number.

Examples:
  # of each group of runs the newest ten
  dyno runs prune --keep-newest 10
  # what was interrupted more than a week ago; look first
  dyno runs prune --unfinished --older-than 7d --dry-run

Exit codes:
  0    deleted, or there was nothing to delete
  2    no rule was given, or the store cannot be written to";

pub(super) fn run(flags: &PruneFlags) -> Result<ExitStatus, Refusal> {
    if flags.keep_newest.is_none() && flags.older_than.is_none() && !flags.unfinished {
        return Err(Refusal::new(
            "say which runs to delete: --keep-newest N, --older-than 30d or --unfinished; `dyno runs rm RUN` deletes one",
        ));
    }
    let (project, path) = flags.store.find()?;
    let mut removal = Removal::open(project, path)?;
    let runs = removal.store.runs()?;
    let mut deleted = 0;
    for some in flags.chosen(&runs, now_unix_ms()).chunks(AT_ONCE) {
        deleted += prune(flags, &mut removal, some)?;
    }
    match (deleted, flags.dry_run) {
        (0, _) => drop(print("nothing to delete\n")?),
        (_, true) => {}
        (_, false) => removal.shrink(),
    }
    Ok(ExitStatus::Yes)
}

/// So many runs are deleted in one transaction. Each has an open file meanwhile, of which a process may have 1,024; and
/// the log takes as much room as they do, where prune is often called because the disk is full.
const AT_ONCE: usize = 25;

/// Deletes these runs, but for those that another dyno works on. Returns how many.
fn prune(
    flags: &PruneFlags,
    removal: &mut Removal,
    runs: &[&RunSummary],
) -> Result<usize, Refusal> {
    let (mut claimed, mut claims) = (Vec::new(), Vec::<Claim>::new());
    for run in runs {
        match removal.claim(run.id) {
            Ok(claim) => {
                claims.push(claim);
                claimed.push((*run).clone());
            }
            Err(refusal) => terminal::notice(&format!("dyno: {refusal}; it is left alone")),
        }
    }
    let (chosen, gone) = removal.still_there(claimed)?;
    for run in gone {
        terminal::notice(&format!(
            "dyno: run {} was deleted or changed meanwhile; nothing was done with it",
            run.id
        ));
    }
    match flags.dry_run {
        true => removal.show(&chosen)?,
        false => removal.delete(&chosen, claims)?,
    }
    Ok(chosen.len())
}

impl PruneFlags {
    /// The runs that every rule allows to be deleted.
    fn chosen<'r>(&self, runs: &'r [RunSummary], now_unix_ms: i64) -> Vec<&'r RunSummary> {
        let mut sound: Vec<_> = runs.iter().filter(|run| run.damage.is_none()).collect();
        sound.sort_by_key(|run| Reverse((run.began_unix_ms, run.id)));
        // How many of each group began later.
        let mut newer: HashMap<&str, u64> = HashMap::new();
        sound.retain(|run| {
            let newer = newer.entry(&run.group).or_default();
            *newer += 1;
            self.keep_newest.is_none_or(|keep| keep < *newer)
                && self.older_than.is_none_or(|age| run.began_unix_ms < now_unix_ms - age)
                && (!self.unfinished || !run.is_finished)
        });
        sound.sort_by_key(|run| run.id);
        sound
    }
}

/// An age in milliseconds: `90min`, `12h`, `30d`, `8w`.
fn age_ms(text: &str) -> Result<i64, String> {
    const MINUTE: i64 = 60_000;
    let unclear = || {
        format!("`{text}` is not an age; write a whole number and its unit, like 12h, 30d or 8w")
    };
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (amount, unit) = text.split_at(digits);
    let scale = match unit {
        "min" => MINUTE,
        "h" => 60 * MINUTE,
        "d" => 24 * 60 * MINUTE,
        "w" => 7 * 24 * 60 * MINUTE,
        _ => return Err(unclear()),
    };
    let amount: i64 = amount.parse().map_err(|_| unclear())?;
    amount.checked_mul(scale).ok_or_else(unclear)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400_000;

    fn run(number: u32, name: &str, day: i64, is_finished: bool) -> RunSummary {
        RunSummary {
            id: number.to_string().parse().unwrap(),
            name: name.into(),
            group: name.into(),
            began_unix_ms: day * DAY,
            planned: 1,
            kept: 1,
            is_finished,
            ..RunSummary::default()
        }
    }

    #[track_caller]
    fn check(keep: Option<u64>, older_than: Option<&str>, unfinished: bool, expected: &[&str]) {
        let runs = [
            run(1, "x", 1, true),
            run(2, "y", 2, true),
            run(3, "x", 3, false),
            run(4, "x", 4, true),
            RunSummary { damage: Some("torn".into()), ..run(5, "", 0, false) },
            // The clock was set back: the order is that of time.
            run(6, "x", 2, true),
        ];
        let older_than = older_than.map(|text| age_ms(text).unwrap());
        let flags = PruneFlags {
            keep_newest: keep,
            older_than,
            unfinished,
            dry_run: false,
            store: StoreFlag::default(),
        };
        let chosen = flags.chosen(&runs, 5 * DAY);
        let found: Vec<String> = chosen.iter().map(|run| run.id.to_string()).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_run_goes_if_every_rule_that_is_given_allows_it() {
        check(Some(1), None, false, &["1", "3", "6"]);
        check(Some(2), None, false, &["1", "6"]);
        check(Some(9), None, false, &[]);
        check(None, Some("2d"), false, &["1", "2", "6"]);
        check(None, Some("2w"), false, &[]);
        check(None, None, true, &["3"]);
        check(Some(1), Some("2d"), false, &["1", "6"]);
        check(Some(2), None, true, &[]);
    }

    #[test]
    fn an_age_has_a_unit() {
        assert_eq!(age_ms("12h"), Ok(DAY / 2));
        assert_eq!(
            (age_ms("30d"), age_ms("1w"), age_ms("90min")),
            (Ok(30 * DAY), Ok(7 * DAY), Ok(DAY / 16))
        );
        for odd in ["30", "d", "1.5d", "-1d", "30days", "99999999999999999d"] {
            assert!(age_ms(odd).unwrap_err().contains("not an age"), "{odd}");
        }
    }
}
