//! Distributions in columns: the histogram, and what it does not hold itself.

use load::{Distribution, Folded};

use crate::cell::{Reading, Row, row};

/// `count`, `censored`, `sum_ns`, `histogram`.
pub(crate) fn counted(distribution: &Distribution) -> Row {
    let folded = Folded::of(distribution);
    row![distribution.count(), folded.censored(), folded.sum(), folded.bytes().to_vec()]
}

/// A distribution out of the columns of `counted`.
pub(crate) fn read_counted(name: &str, row: &mut Reading) -> Result<Distribution, String> {
    let count: u64 = row.next()?;
    let (censored, sum) = (row.next()?, row.next()?);
    let distribution = folded(&row.next::<Vec<u8>>()?, sum, censored)?.unfold();
    if distribution.count() != count {
        return Err(format!("the distribution `{name}` does not hold {count} values"));
    }
    Ok(distribution)
}

/// `…_sum_ns`, `…_censored`, `…_histogram`.
pub(crate) fn cells(folded: &Folded) -> Row {
    row![folded.sum(), folded.censored(), folded.bytes().to_vec()]
}

/// A distribution out of the columns of `cells`.
pub(crate) fn read(row: &mut Reading) -> Result<Folded, String> {
    let (sum, censored) = (row.next()?, row.next()?);
    folded(&row.next::<Vec<u8>>()?, sum, censored)
}

fn folded(bytes: &[u8], sum: u128, censored: u64) -> Result<Folded, String> {
    Folded::from_parts(bytes, sum, censored).map_err(|error| error.to_string())
}
