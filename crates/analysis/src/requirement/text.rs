//! A requirement as a user writes it: a figure, a relation and a limit, as `p99<50ms`.

use std::str::FromStr;

use lab::amounts;
use lab::figure::{Figure, Kind, Unit};
use load::Rate;

use super::{Relation, Required, Requirement, Statistic, TimeOf};

impl FromStr for Requirement {
    type Err = String;

    fn from_str(text: &str) -> Result<Requirement, String> {
        let unclear = || {
            format!(
                "`{text}` is not a requirement; write a figure, one of < <= > >=, and a limit, as 'p99<50ms'"
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
    match name {
        "failed" if limit.ends_with('%') => Ok((Required::FailedPercent, percent(limit)?)),
        "failed" if limit == "0" => Ok((Required::FailedCount, 0.0)),
        "failed" => Ok((Required::FailedCount, amounts::count(limit)? as f64)),
        _ => match named(name)? {
            Required::Figure(figure) => Ok((Required::Figure(figure), amount(figure, limit)?)),
            time => Ok((time, time_ns(limit)?)),
        },
    }
}

/// By a word of the report, or by the name that it has in figures.md.
fn named(name: &str) -> Result<Required, String> {
    let word = match name {
        "on time" => Some(Figure::OnTime),
        "silent" => Some(Figure::SilentShare),
        "longest silence" => Some(Figure::LongestSilence),
        "throughput" => Some(Figure::Throughput),
        "offered" => Some(Figure::Offered),
        _ => None,
    };
    if let Some(figure) = word {
        return Ok(Required::Figure(figure));
    }
    // Of a statistic that has two names, this one can say more of few samples.
    let of_time = name.strip_suffix(" ms").unwrap_or(name).replace("p99 9", "p99.9");
    let time = time_of(&of_time).map(|(of, statistic)| Required::Time(of, statistic));
    let is_named = |figure: &Figure| figure.name().replace('_', " ") == name;
    match (time, Figure::OF_TRIALS.into_iter().find(is_named)) {
        (Ok(time), _) => Ok(time),
        (Err(_), None) => Err(unknown(name)),
        (Err(_), Some(figure)) if matches!(figure.kind(), Kind::Reading | Kind::Start) => {
            Err(format!(
                "`{}` is measured of a server that dyno starts: `dyno run` and `dyno race` have it, and no load",
                figure.name()
            ))
        }
        (Err(_), Some(figure)) => Ok(Required::Figure(figure)),
    }
}

/// A limit in the figure's unit.
fn amount(figure: Figure, limit: &str) -> Result<f64, String> {
    match figure.unit() {
        Unit::Percent => percent(limit),
        Unit::PerSecond => {
            let rate: Rate = limit.parse()?;
            Ok(rate.as_f64())
        }
        Unit::Milliseconds => Ok(time_ns(limit)? / 1e6),
        Unit::Count => Ok(amounts::count(limit)? as f64),
        Unit::Bytes => Ok(amounts::bytes(limit)? as f64),
        Unit::KibPerSecond => {
            let number = limit.parse().ok().filter(|number: &f64| number.is_finite());
            number.ok_or_else(|| format!("`{limit}` is not a number; write it like 1024, in KiB/s"))
        }
    }
}

fn percent(limit: &str) -> Result<f64, String> {
    match limit.strip_suffix('%') {
        Some(number) => amounts::percent(number.trim()),
        None => Err(format!("`{limit}` is not a share; write it with its sign, as 99%")),
    }
}

fn time_ns(limit: &str) -> Result<f64, String> {
    if limit.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return Err(format!("`{limit}` has no unit; write it like 50ms or 1.5s"));
    }
    Ok(amounts::time_or_none(limit)?.as_nanos() as f64)
}

/// `p99`, `first byte p99`, `service mean`.
fn time_of(name: &str) -> Result<(TimeOf, Statistic), String> {
    let (of, statistic) = match name.rsplit_once(' ') {
        None => (TimeOf::Response, name),
        Some((of, statistic)) => {
            let of = match of {
                "response" => TimeOf::Response,
                "service" => TimeOf::Service,
                "first byte" => TimeOf::FirstByte,
                "connect" => TimeOf::Connect,
                // By its name in JSON, too.
                "waited" | "blocked" => TimeOf::Blocked,
                "sent late" | "late" => TimeOf::Late,
                _ => return Err(unknown(name)),
            };
            (of, statistic)
        }
    };
    let statistic = match statistic {
        "mean" => Statistic::Mean,
        "max" => Statistic::Max,
        _ => Statistic::Percentile(millionths(statistic).ok_or_else(|| unknown(name))?),
    };
    Ok((of, statistic))
}

fn unknown(name: &str) -> String {
    format!(
        "`{name}` is not a figure; there are p50, p99, p99.9 and so on, mean and max, of the response time or after \
         service, first-byte, connect, waited (for a connection) or sent-late; on-time, failed, silent, \
         longest-silence, throughput and \
         offered; and every other figure of a load by its name in docs/figures.md"
    )
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
        assert_eq!(
            read("on-time>=99%"),
            (Required::Figure(Figure::OnTime), Relation::AtLeast, 99.0)
        );
        assert_eq!(read("on time>=99.9%").2, 99.9);
        assert_eq!(read("failed<=0.1%"), (Required::FailedPercent, Relation::AtMost, 0.1));
        assert_eq!(read("failed<=0"), (Required::FailedCount, Relation::AtMost, 0.0));
        assert_eq!(read("failed<10").2, 10.0);
        assert_eq!(
            read("throughput>20k"),
            (Required::Figure(Figure::Throughput), Relation::Above, 20_000.0)
        );
        assert_eq!(read("silent<5%").0, Required::Figure(Figure::SilentShare));
        assert_eq!(read("longest-silence<1s").2, 1e3, "in its unit");
        assert_eq!(read("offered>=100").0, Required::Figure(Figure::Offered));
    }

    #[test]
    fn every_figure_of_a_load_is_required_by_its_name() {
        let limit = |unit: Unit| match unit {
            Unit::Percent => "5%",
            Unit::Milliseconds => "5ms",
            Unit::PerSecond | Unit::Count | Unit::KibPerSecond => "5",
            Unit::Bytes => "5B",
        };
        let mut times = 0;
        for figure in Figure::OF_TRIALS {
            let read = format!("{}<{}", figure.name(), limit(figure.unit())).parse::<Requirement>();
            match (figure.kind(), read.map(|read| (read.figure, read.limit))) {
                (Kind::Reading | Kind::Start, Err(why)) => assert!(why.contains("starts"), "{why}"),
                (Kind::Reading | Kind::Start, Ok(_)) => panic!("{figure:?}"),
                (_, Ok((Required::Figure(found), 5.0))) => assert_eq!(found, figure),
                (_, Ok((Required::Time(..), 5e6))) => times += 1,
                (Kind::Count, Ok((Required::FailedCount, 5.0))) => {
                    assert_eq!(figure, Figure::Failed);
                }
                (_, found) => panic!("{figure:?}: {found:?}"),
            }
        }
        assert_eq!(times, 10, "those with percentiles, means and longest ones of a time");
        let p999 = "response_p99_9_ms<1s".parse::<Requirement>().unwrap().figure;
        assert_eq!(p999, Required::Time(TimeOf::Response, Statistic::Percentile(999_000)));
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
