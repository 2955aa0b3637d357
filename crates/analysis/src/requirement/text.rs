//! A requirement as a user writes it: a figure, a relation and a limit, as `p99<50ms`.

use std::str::FromStr;

use lab::amounts;
use load::Rate;

use super::{Relation, Required, Requirement, Statistic, TimeOf};

impl FromStr for Requirement {
    type Err = String;

    fn from_str(text: &str) -> Result<Requirement, String> {
        let unclear = || {
            format!(
                "`{text}` is no requirement; write a figure, one of < <= > >=, and a limit, as 'p99<50ms'"
            )
        };
        let (name, rest) = text.split_at(text.find(['<', '>']).ok_or_else(unclear)?);
        let relations = [
            ("<=", Relation::AtMost),
            ("<", Relation::Below),
            (">=", Relation::AtLeast),
            (">", Relation::Above),
        ];
        let found = relations
            .into_iter()
            .find_map(|(sign, relation)| Some((rest.strip_prefix(sign)?, relation)));
        let (limit, relation) = found.ok_or_else(unclear)?;
        let limit = limit.trim();
        let name = name.trim().to_ascii_lowercase().replace(['-', '_'], " ");
        let (figure, limit) = figure(&name, limit)?;
        Ok(Requirement { written: text.trim().into(), figure, relation, limit })
    }
}

/// The figure with this name, and the limit in its unit.
fn figure(name: &str, limit: &str) -> Result<(Required, f64), String> {
    let percent = || match limit.strip_suffix('%') {
        Some(number) => amounts::percent(number.trim()),
        None => Err(format!("`{limit}` is no share; write it with its sign, as 99%")),
    };
    let per_s = |figure| {
        let rate: Rate = limit.parse().map_err(|error: load::RateError| error.to_string())?;
        Ok((figure, rate.as_f64()))
    };
    match name {
        "on time" => Ok((Required::OnTimePercent, percent()?)),
        "failed" if limit.ends_with('%') => Ok((Required::FailedPercent, percent()?)),
        "failed" if limit == "0" => Ok((Required::FailedCount, 0.0)),
        "failed" => Ok((Required::FailedCount, amounts::count(limit)? as f64)),
        "silent" => Ok((Required::SilentPercent, percent()?)),
        "throughput" => per_s(Required::ThroughputPerS),
        "offered" => per_s(Required::OfferedPerS),
        _ => {
            let figure = match name {
                "longest silence" => Required::LongestSilence,
                _ => time_of(name).map(|(of, statistic)| Required::Time(of, statistic))?,
            };
            let is_bare = limit.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            if is_bare {
                return Err(format!("`{limit}` has no unit; write it like 50ms or 1.5s"));
            }
            let limit_ns = amounts::time_or_none(limit)?.as_nanos() as f64;
            Ok((figure, limit_ns))
        }
    }
}

/// `p99`, `first byte p99`, `service mean`.
fn time_of(name: &str) -> Result<(TimeOf, Statistic), String> {
    let unknown = || {
        format!(
            "`{name}` is no figure; there are p50, p99, p99.9 and so on, mean and max, of the response time or after \
             service, first-byte, connect, blocked or late; on-time, failed, silent, longest-silence, throughput and offered"
        )
    };
    let (of, statistic) = match name.rsplit_once(' ') {
        None => (TimeOf::Response, name),
        Some((of, statistic)) => {
            let of = match of {
                "response" => TimeOf::Response,
                "service" => TimeOf::Service,
                "first byte" => TimeOf::FirstByte,
                "connect" => TimeOf::Connect,
                "blocked" => TimeOf::Blocked,
                "late" => TimeOf::Late,
                _ => return Err(unknown()),
            };
            (of, statistic)
        }
    };
    let statistic = match statistic {
        "mean" => Statistic::Mean,
        "max" => Statistic::Max,
        _ => Statistic::Percentile(millionths(statistic).ok_or_else(unknown)?),
    };
    Ok((of, statistic))
}

/// `p99.9` is 999,000 millionths.
fn millionths(text: &str) -> Option<u32> {
    let digits = text.strip_prefix('p')?;
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty()
        || 2 < whole.len()
        || 4 < part.len()
        || !is_number(whole)
        || !is_number(part)
    {
        return None;
    }
    let millionths =
        whole.parse::<u32>().ok()? * 10_000 + format!("{part:0<4}").parse::<u32>().ok()?;
    (0 < millionths).then_some(millionths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_requirement_names_a_figure_of_the_report() {
        let read = |text: &str| {
            let read = text.parse::<Requirement>().unwrap_or_else(|why| panic!("{text}: {why}"));
            (read.figure, read.relation, read.limit)
        };
        let p = |of, millionths| Required::Time(of, Statistic::Percentile(millionths));
        assert_eq!(read("p99<50ms"), (p(TimeOf::Response, 990_000), Relation::Below, 50e6));
        assert_eq!(read("p99.99 <= 1.5s"), (p(TimeOf::Response, 999_900), Relation::AtMost, 1.5e9));
        assert_eq!(
            read("first-byte p5>10us"),
            (p(TimeOf::FirstByte, 50_000), Relation::Above, 1e4)
        );
        assert_eq!(read("First byte P50<1s").0, p(TimeOf::FirstByte, 500_000));
        assert_eq!(read("service mean<1ms").0, Required::Time(TimeOf::Service, Statistic::Mean));
        assert_eq!(read("max<1s").0, Required::Time(TimeOf::Response, Statistic::Max));
        assert_eq!(read("on-time>=99%"), (Required::OnTimePercent, Relation::AtLeast, 99.0));
        assert_eq!(read("on time>=99.9%").2, 99.9);
        assert_eq!(read("failed<=0.1%"), (Required::FailedPercent, Relation::AtMost, 0.1));
        assert_eq!(read("failed<=0"), (Required::FailedCount, Relation::AtMost, 0.0));
        assert_eq!(read("failed<10").2, 10.0);
        assert_eq!(read("throughput>20k"), (Required::ThroughputPerS, Relation::Above, 20_000.0));
        assert_eq!(read("offered>=100").0, Required::OfferedPerS);
    }

    #[test]
    fn what_is_no_requirement_is_refused_with_the_way_out() {
        for text in [
            "",
            "p99",
            "p99=1s",
            "<1s",
            "p99<",
            "p99<50",
            "p0<1s",
            "p100<1s",
            "p99.99999<1s",
            "p9x<1s",
        ] {
            assert!(text.parse::<Requirement>().is_err(), "{text}");
        }
        for text in [
            "on-time>=99",
            "failed<-1",
            "failed<101%",
            "throughput>0",
            "max byte<1s",
            "silent<1",
            "longest-silence<100",
            "p99<>1s",
            "p99<1s2",
        ] {
            assert!(text.parse::<Requirement>().is_err(), "{text}");
        }
        assert!("latency<1s".parse::<Requirement>().unwrap_err().contains("there are p50, p99"));
        assert!("p99<50".parse::<Requirement>().unwrap_err().contains("50ms"));
    }
}
