//! Histograms with bounds, open and folded ones, beside those of the library.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};

use super::*;

#[test]
fn a_percentile_among_what_was_given_up_says_so() {
    let mut distribution = Distribution::new(10_000);
    (0..90).for_each(|_| distribution.record(100));
    (0..10).for_each(|_| distribution.record_censored(5_000));
    assert_eq!((distribution.count(), distribution.censored()), (100, 10));
    let p90 = distribution.quantile(0.9).unwrap();
    assert_eq!((p90.value, p90.is_bound, p90.is_supported), (100, false, true));
    let p91 = distribution.quantile(0.91).unwrap();
    assert!(p91.is_bound && !p91.is_supported, "{p91:?}");
}

/// A value that was given up early may have been anything later on: a percentile above it is a bound, and
/// percentiles that it cannot move are exact.
#[test]
fn a_percentile_that_a_censored_value_may_move_is_a_bound() {
    let mut distribution = Distribution::new(10_000);
    (1..=89).for_each(|value| distribution.record(value));
    (0..10).for_each(|_| distribution.record_censored(50));
    distribution.record(1_000);
    let quantile = |q: f64| distribution.quantile(q).map(|found| (found.value, found.is_bound));
    assert_eq!(quantile(0.49), Some((49, false)), "below all that was given up");
    assert_eq!(quantile(0.6), Some((50, true)), "it may be anything from 50 to 60");
    assert_eq!(quantile(0.9), Some((80, true)), "it may be anything from 80 up");
    assert_eq!(quantile(1.0), Some((1_000, true)), "no value is known to be the largest");
    assert_eq!((distribution.known_within(50), distribution.known_within(1_000)), (50, 90));
}

/// The truth behind censored values lies where the bounds say, whatever the reason for giving up.
#[test]
fn bounds_hold_the_truth_however_values_were_given_up() {
    let mut drawn = wire::Chance::new(1);
    let mut chance = || drawn.draw() >> 33;
    for _ in 0..200 {
        let (mut seen, mut truth) = (Distribution::new(1 << 30), Vec::new());
        for _ in 0..300 {
            let value = 1 + chance() % 2_000;
            // The slower a value, the more likely it is given up, at any age.
            if chance() % 2_500 < value {
                seen.record_censored(1 + chance() % value);
            } else {
                seen.record(value);
            }
            truth.push(value);
        }
        truth.sort_unstable();
        for q in [0.1, 0.5, 0.9, 0.99] {
            let is = truth[(q * 300.0_f64).ceil() as usize - 1];
            let found = seen.quantile(q).unwrap();
            assert!(found.value <= is, "{q}: {found:?} {is}");
            assert!(found.is_bound || found.value == is, "{q}: {found:?} {is}");
        }
    }
}

#[test]
fn folding_and_merging_lose_nothing() {
    let mut all = Distribution::new(1 << 40);
    let mut parts = [Distribution::new(1 << 40), Distribution::new(1 << 40)];
    for n in 0..10_000_u64 {
        let value = n * n * 37;
        all.record(value);
        parts[n as usize % 2].record(value);
    }
    all.record_censored(1 << 20);
    parts[1].record_censored(1 << 20);
    let [merged, other] = parts;
    for (is_folded, is_other_folded) in [(false, false), (false, true), (true, false), (true, true)]
    {
        let (mut merged, mut other) = (merged.clone(), other.clone());
        if is_folded {
            merged.fold();
        }
        if is_other_folded {
            other.fold();
        }
        merged.merge(&other);
        assert_eq!(merged, all);
        assert_eq!(merged.mean().to_bits(), all.mean().to_bits());
        assert_eq!(matches!(merged.0, Form::Folded(_)), is_folded);
    }
}

#[test]
fn what_has_other_bounds_is_added_all_the_same() {
    let (mut narrow, mut wide) = (Distribution::new(1_000), Distribution::new(1 << 40));
    wide.record(7);
    wide.record_censored(1 << 30);
    narrow.merge(&wide);
    assert_eq!((narrow.count(), narrow.censored()), (2, 1));
    assert_eq!(narrow.sum(), 7 + (1 << 30));
}

#[test]
fn a_distribution_is_written_and_read_back_whole() {
    let mut made = Distribution::new(1 << 40);
    (0..1_000_u64).for_each(|n| made.record(n * n));
    for made in [made.clone(), {
        (0..10).for_each(|n| made.record_censored(n * 1_000));
        made
    }] {
        let text = serde_json::to_string(&made).unwrap();
        assert_eq!(serde_json::from_str::<Distribution>(&text).unwrap(), made, "{text}");
    }
}

#[test]
fn a_distribution_that_contradicts_itself_is_refused() {
    let mut made = Distribution::new(1 << 40);
    made.record(5);
    made.record_censored(9);
    let good: serde_json::Value = serde_json::to_value(&made).unwrap();
    let mut other = Distribution::new(1 << 40);
    other.record_censored(77);
    let other = serde_json::to_value(&other).unwrap();
    let refused = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut bad = good.clone();
        change(&mut bad);
        serde_json::from_value::<Distribution>(bad).unwrap_err().to_string()
    };
    refused(&|bad| bad["count"] = 3.into());
    refused(&|bad| bad["censored"] = 0.into());
    refused(&|bad| bad["sum"] = "-1".into());
    refused(&|bad| bad["histogram"] = "AAAA".into());
    refused(&|bad| bad["histogram"] = "not base64 at all".into());
    let says = refused(&|bad| bad["censored_histogram"] = other["censored_histogram"].clone());
    assert!(says.contains("censored"), "{says}");
}

/// As many values as there are powers of two and their neighbours, into bounds of many sizes.
#[test]
fn a_sparse_histogram_has_the_places_of_a_whole_one() {
    for high in [2, 1_000, 2_047, 2_048, 10_000_000_000, 1 << 60] {
        let (mut sparse, mut whole) = (Distribution::new(high), empty(high));
        for value in (0..63).flat_map(|bit| [(1 << bit) - 1, 1 << bit, 3 << bit]) {
            sparse.record_many(value, value % 7 + 1);
            whole.saturating_record_n(value, value % 7 + 1);
        }
        assert_eq!(by_the_library(&sparse), whole, "{high}");
        assert_eq!((sparse.high(), sparse.count()), (whole.high(), whole.len()));
        sparse.clear();
        assert_eq!(by_the_library(&sparse), empty(high));
    }
}

fn empty(max: Nanos) -> Histogram<u64> {
    Histogram::new_with_bounds(LOWEST, max.max(2), DIGITS).expect("bounds and digits are valid")
}

/// The values of a distribution, censored ones at their bounds, in a histogram of the library.
pub(super) fn by_the_library(distribution: &Distribution) -> Histogram<u64> {
    let mut histogram = empty(distribution.high());
    distribution.values().for_each(|(value, times)| histogram.saturating_record_n(value, times));
    histogram
}

/// What queries say of a histogram, by HdrHistogram's own methods.
fn queried(values: &Histogram<u64>, q: f64, limit: Nanos) -> (Nanos, u64, Option<(Nanos, Nanos)>) {
    let extremes = (!values.is_empty()).then(|| (values.min(), values.max()));
    (values.value_at_quantile(q), values.count_between(0, limit), extremes)
}

fn bytes_by_the_library(values: &Histogram<u64>) -> Vec<u8> {
    let mut bytes = Vec::new();
    V2Serializer::new().serialize(values, &mut bytes).expect("writing to memory cannot fail");
    bytes
}

#[test]
fn every_form_answers_as_the_library_does_and_as_the_other_forms() {
    let mut drawn = wire::Chance::new(7);
    for round in 0..400_u32 {
        let high = 1 << (3 + round % 40);
        let mut sparse = Distribution::new(high);
        for _ in 0..drawn.draw() % 60 {
            // Some lie above the largest that is distinguished.
            let value = (drawn.draw() % (2 * high)) >> (drawn.draw() % 30);
            sparse.record_many(value, 1 + drawn.draw() % 3);
        }
        let folded = Folded::of(&sparse);
        let open = folded.unfold();
        let whole = by_the_library(&sparse);
        assert_eq!(folded.bytes(), bytes_by_the_library(&whole));
        let text = sparse.encoded().map(|text| STANDARD.decode(text).expect("base64"));
        let read = text.map(|bytes| Deserializer::new().deserialize(&mut &bytes[..]).unwrap());
        assert_eq!(read, (!whole.is_empty()).then_some(whole.clone()));
        let folded = Distribution::from(folded);
        let q = (1 + drawn.draw() % 1_000) as f64 / 1_000.0;
        let limit = drawn.draw() % (3 * high);
        let (value, within, extremes) = queried(&whole, q, limit);
        for form in [&sparse, &open, &folded] {
            assert_eq!(form.quantile(q).map_or(0, |found| found.value), value, "{q} {form:?}");
            assert_eq!(form.known_within(limit), within, "{limit} {form:?}");
            assert_eq!(form.extremes(), extremes, "{form:?}");
            assert!(*form == sparse && form.is_sum_possible(), "{form:?}");
        }
    }
}

#[test]
fn every_form_says_the_same_of_values_that_were_given_up() {
    let mut drawn = wire::Chance::new(8);
    for _ in 0..400 {
        let mut open = Distribution::new(1 << 20);
        for _ in 0..1 + drawn.draw() % 60 {
            // Some lie above the largest that is distinguished.
            let value = (drawn.draw() % (1 << 21)) >> (drawn.draw() % 20);
            if drawn.draw().is_multiple_of(3) {
                open.record_censored(value);
            } else {
                open.record(value);
            }
        }
        let folded = Distribution::from(Folded::of(&open));
        assert_eq!(folded, open);
        assert_eq!((folded.extremes(), folded.moments()), (open.extremes(), open.moments()));
        for rank in 1..=open.count() {
            assert_eq!(folded.at_rank(rank), open.at_rank(rank), "{rank} {open:?}");
        }
    }
}
