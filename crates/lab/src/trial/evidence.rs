//! What a service shows of the answers: how much it has counted during the load, and what is in its table afterwards.

use load::Halt;
use wire::Meaning;

use crate::record::{
    COUNTED, TABLE_CANNOT_BE_READ, TABLE_NOT_JUDGED, TABLE_OTHERS, TABLE_ROWS, TrialRecord,
};
use crate::service::{Counters, RunningService};
use crate::workload::Workload;
use machine::Fact;

/// The counters and the table before the load, while no request is in flight.
pub(super) struct Evidence {
    counters: Option<Result<Counters, String>>,
    /// `world`, if the load changes it.
    table: Option<Table>,
}

struct Table {
    rows: Result<Vec<(u32, u32)>, String>,
    /// How many rows each answer changes.
    rows_each: u32,
}

impl Evidence {
    pub(super) fn before(
        workload: &Workload,
        service: Option<&RunningService>,
        halt: &Halt,
    ) -> Option<Evidence> {
        let (service, is_halted) = (service?, || halt.is_asked());
        let updated = |rule: &Meaning| match rule {
            Meaning::Updated(count) => Some(u32::from(*count)),
            _ => None,
        };
        let rows_each = workload.meanings().filter_map(updated).max();
        let table = rows_each.map(|rows_each| Table { rows: service.world(&is_halted), rows_each });
        Some(Evidence { counters: service.counters(&is_halted), table })
    }

    /// Compares it with what is known after the load.
    pub(super) fn after(
        self,
        service: Option<&RunningService>,
        halt: &Halt,
        record: &mut TrialRecord,
    ) {
        let Some(service) = service else { return };
        let is_halted = || halt.is_asked();
        record.conditions.extend(counted(self.counters, service.counters(&is_halted)));
        let written = record.loaded.as_mut().and_then(|it| it.recording.total.written.take());
        let (Some(table), Some(written)) = (self.table, written) else { return };
        let fact = |name: &str, value: String| Fact { name: name.into(), value };
        match table.rows.and_then(|before| Ok((before, service.world(&is_halted)?))) {
            Err(says) => record.conditions.push(fact(TABLE_CANNOT_BE_READ, says)),
            Ok((before, after)) => {
                let found = written.compare(&before, &after, table.rows_each);
                record.conditions.extend([
                    fact(TABLE_ROWS, found.rows.to_string()),
                    fact(TABLE_OTHERS, found.others.to_string()),
                    fact(TABLE_NOT_JUDGED, found.not_judged.to_string()),
                ]);
            }
        }
    }
}

/// What a service has counted between two instants at which no request was in flight.
fn counted(
    before: Option<Result<Counters, String>>,
    after: Option<Result<Counters, String>>,
) -> Vec<Fact> {
    let fact = |name: &str, value| Fact { name: format!("{COUNTED}{name}"), value };
    match (before, after) {
        (Some(Ok(before)), Some(Ok(after))) => after
            .iter()
            .map(|(name, now)| (name, now.saturating_sub(before.get(name).copied().unwrap_or(0))))
            .map(|(name, grown)| fact(&format!(".{name}"), grown.to_string()))
            .collect(),
        (Some(Err(says)), _) | (_, Some(Err(says))) => vec![fact("", format!("unknown: {says}"))],
        (None, _) | (_, None) => Vec::new(),
    }
}
