//! A histogram in characters: logarithmic bins with round edges, counts, bars.

use load::{Distribution, Nanos};
use units::{count, nanos};

use crate::paint::{Line, Tone, bar};

/// Edges within a decade, from fine to coarse.
const LADDERS: [&[u64]; 4] = [
    &[100, 120, 150, 200, 250, 300, 400, 500, 600, 800],
    &[100, 150, 200, 300, 500, 700],
    &[100, 200, 500],
    &[100],
];
const ROWS_MAX: usize = 14;
const BAR_WIDTH: usize = 40;

/// The range from one edge to the next, and how many values lie in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bin {
    from: Nanos,
    until: Nanos,
    count: u64,
}

/// The lines of a histogram; empty if there are no values.
pub fn lines(times: &Distribution) -> Vec<Line> {
    let bins = bins(times);
    let bins = without_empty_ends(&bins);
    let most = bins.iter().map(|bin| bin.count).max().unwrap_or(0).max(1);
    let counts: Vec<String> = bins.iter().map(|bin| count(bin.count)).collect();
    let width = counts.iter().map(String::len).max().unwrap_or(0);
    let line = |(bin, counted): (&Bin, &String)| {
        Line::toned(Tone::Dim, format!("{:>9} – {:>7}  ", nanos(bin.from), nanos(bin.until)))
            .and(Tone::Plain, format!("{counted:>width$}  "))
            .and(Tone::Good, bar(bin.count as f64 / most as f64, BAR_WIDTH))
    };
    bins.iter().zip(&counts).map(line).collect()
}

fn bins(times: &Distribution) -> Vec<Bin> {
    let Some((min, max)) = times.extremes() else { return Vec::new() };
    let mut bins = LADDERS
        .iter()
        .map(|ladder| edges(ladder, min, max))
        .find(|edges| edges.len() <= ROWS_MAX + 1)
        .map_or_else(Vec::new, |edges| between(&edges));
    for (value, times) in times.values() {
        let place = bins.partition_point(|bin| bin.until <= value);
        let last = bins.len().saturating_sub(1);
        if let Some(bin) = bins.get_mut(place.min(last)) {
            bin.count += times;
        }
    }
    bins
}

fn without_empty_ends(bins: &[Bin]) -> &[Bin] {
    let is_there = |bin: &Bin| 0 < bin.count;
    match (bins.iter().position(is_there), bins.iter().rposition(is_there)) {
        (Some(first), Some(last)) => &bins[first..=last],
        _ => &[],
    }
}

/// The edges around everything from `min` to `max`.
fn edges(ladder: &[u64], min: Nanos, max: Nanos) -> Vec<Nanos> {
    let all = (0..12).flat_map(|decade| ladder.iter().map(move |step| step * 10_u64.pow(decade)));
    let all: Vec<Nanos> = std::iter::once(0).chain(all).collect();
    let first = all.partition_point(|&edge| edge <= min) - 1;
    let end = all.partition_point(|&edge| edge <= max);
    all[first..all.len().min(end + 1)].to_vec()
}

fn between(edges: &[Nanos]) -> Vec<Bin> {
    edges.windows(2).map(|pair| Bin { from: pair[0], until: pair[1], count: 0 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(values: &[(Nanos, u64)], expected: &Expect) {
        let mut distribution = Distribution::new(5_000_000_000);
        for &(value, times) in values {
            distribution.record_many(value, times);
        }
        // The bar keeps the spaces before it: a snapshot loses the indentation that all its lines share.
        let shown = |line: &Line| format!("|{}", line.shown(false).trim_end());
        let lines: Vec<String> = lines(&distribution).iter().map(shown).collect();
        expected.assert_eq(&lines.join("\n"));
    }

    #[test]
    fn a_narrow_distribution_has_fine_bins() {
        check(
            &[(110_000, 50), (125_000, 100), (190_000, 25), (390_000, 1)],
            &expect![[r#"
                |   100 µs –  120 µs   50  ████████████████████
                |   120 µs –  150 µs  100  ████████████████████████████████████████
                |   150 µs –  200 µs   25  ██████████
                |   200 µs –  250 µs    0
                |   250 µs –  300 µs    0
                |   300 µs –  400 µs    1  ▍"#]],
        );
    }

    #[test]
    fn a_wide_one_has_coarse_bins_and_keeps_its_single_values_visible() {
        check(
            &[(400, 3), (90_000, 1_000), (4_999_000_000, 1)],
            &expect![[r#"
                |   100 ns – 1.00 µs      3  ▏
                |  1.00 µs – 10.0 µs      0
                |  10.0 µs –  100 µs  1,000  ████████████████████████████████████████
                |   100 µs – 1.00 ms      0
                |  1.00 ms – 10.0 ms      0
                |  10.0 ms –  100 ms      0
                |   100 ms –  1.00 s      0
                |   1.00 s –  10.0 s      1  ▏"#]],
        );
    }

    #[test]
    fn of_nothing_there_is_none() {
        check(&[], &expect![[""]]);
    }
}
