//! Parses the summary that `strace -c` writes.

use std::collections::BTreeMap;

/// Calls by name.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Calls(BTreeMap<String, u64>);

impl Calls {
    /// From the table that `strace -c -o FILE` leaves.
    pub(crate) fn read(summary: &str) -> Calls {
        let rows = summary.lines().filter_map(row);
        Calls(rows.filter(|(name, _)| name != "total").collect())
    }

    /// The sum over these names.
    pub(crate) fn of(&self, names: &[&str]) -> u64 {
        names.iter().filter_map(|name| self.0.get(*name)).sum()
    }

    /// The sum over all of them.
    pub(crate) fn total(&self) -> u64 {
        self.0.values().sum()
    }
}

/// `% time  seconds  usecs/call  calls  [errors]  syscall`.
fn row(line: &str) -> Option<(String, u64)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.first()?.parse::<f64>().ok()?;
    Some(((*words.last()?).to_owned(), words.get(3)?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_read_with_and_without_errors() {
        let summary = "\
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 60.00    0.600000           6    100000           sendto
 30.00    0.300000           3    100010        10 recvfrom
 10.00    0.100000           2     40000           epoll_pwait2
------ ----------- ----------- --------- --------- ----------------
100.00    1.000000           4    240010        10 total";
        let calls = Calls::read(summary);
        assert_eq!(calls.of(&["sendto", "write"]), 100_000);
        assert_eq!(calls.of(&["recvfrom"]), 100_010);
        assert_eq!(calls.total(), 240_010);
    }
}
