//! Reads distributions from the columns of stores before version 4.

use load::{Distribution, Folded};

use crate::cell::RowReader;

/// Reads a distribution from `count`, `censored`, `sum_ns`, `histogram`. It stays folded: a store can have any number of
/// them.
pub(crate) fn read_counted(name: &str, row: &mut RowReader) -> Result<Distribution, String> {
    let count: u64 = row.next()?;
    let (censored, sum) = (row.next()?, row.next()?);
    let distribution = Distribution::from(folded(&row.next::<Vec<u8>>()?, sum, censored)?);
    if distribution.count() != count {
        return Err(format!("the distribution `{name}` does not hold {count} values"));
    }
    Ok(distribution)
}

/// Reads a distribution from `…_sum_ns`, `…_censored`, `…_histogram`.
pub(crate) fn read(row: &mut RowReader) -> Result<Folded, String> {
    let (sum, censored) = (row.next()?, row.next()?);
    folded(&row.next::<Vec<u8>>()?, sum, censored)
}

fn folded(bytes: &[u8], sum: u128, censored: u64) -> Result<Folded, String> {
    Folded::from_counted(bytes, sum, censored).map_err(|error| error.to_string())
}
