//! Findings of an audit in words: what speaks against a row, why that matters, and what to do.

use audit::{Finding, Format, Mark, NoLimit, Row, Rule, Why};
use units::{count, digits, percent, rate, time, trimmed};

/// Why it matters.
pub(super) fn because(rule: Rule) -> &'static str {
    match rule {
        Rule::OwnVerdict => {
            "The program that measured the row doubts it, and knew more than its file carries."
        }
        Rule::MeanAboveP99 => {
            "A few requests were so slow that they raised the mean above the p99, or the p99 is an average under another name."
        }
        Rule::Little => {
            "A connection carries one request at a time, or as many as are pipelined. So rate × mean latency is at most \
             the number of connections; it may be less, because connections also wait for the client."
        }
        Rule::MeanImpossible => {
            "A share of the requests took at least as long as each percentile says, which bounds their mean."
        }
        Rule::NotAscending => "99 % of the requests cannot take less time than 90 % of them.",
        Rule::RateImpossible => "A rate is a count divided by a time.",
        Rule::SdImpossible => {
            "Times between a shortest and a longest one lie at most half of that range from its middle."
        }
        Rule::RateMissed => {
            "The load was another one than that of the rows that had the rate: CPU time and latency are not comparable."
        }
        Rule::FewSamples => {
            "Fewer than ten requests lie beyond the percentile: the next run gives another number."
        }
        Rule::Failures => {
            "A refusal is often faster than an answer, so a server that fails looks fast. More than 1 % is too much."
        }
        Rule::NoUnit => "A number without its unit is read with a wrong one sooner or later.",
        Rule::NoNumber => "It is sorted and averaged like a number. Leave it out, or write null.",
        Rule::SameRate => {
            "Servers of different authors do not have one speed by chance. The limit may be the load generator's or the \
             machine's."
        }
        Rule::SameMedian => {
            "Servers of different authors do not have one median by chance. A timer, or the load generator, may have made it."
        }
    }
}

/// What to do about it.
pub(super) fn what_to_do(rule: Rule) -> &'static str {
    match rule {
        Rule::OwnVerdict => "the file has the way out of each doubt (`what_to_do`); measure again",
        Rule::MeanAboveP99 => {
            "look which column of the load generator was copied; do not rank by this p99"
        }
        Rule::Little => {
            "see whether requests were pipelined, whether times count from a schedule, and whether the load generator \
             corrects its times afterwards (wrk does); measure again with another one"
        }
        Rule::MeanImpossible | Rule::NotAscending | Rule::RateImpossible | Rule::SdImpossible => {
            "see which columns were mixed up, or which runs were mixed, and measure again"
        }
        Rule::RateMissed => {
            "do not rank it beside rows that had the rate; see whether the server or the load generator fell behind"
        }
        Rule::FewSamples => "load for longer, or do not publish this percentile",
        Rule::Failures => "show the row with its failures, and give it no rank",
        Rule::NoUnit => "write the unit beside the number, or in the column's name",
        Rule::NoNumber => "leave the row out of the ranking, and the number out of the file",
        Rule::SameRate => {
            "measure a server that does next to nothing with the same load: what it reaches is the limit"
        }
        Rule::SameMedian => {
            "see whether delayed acknowledgements or a timer explain it, and measure again"
        }
    }
}

/// A finding in a sentence, with its figures.
pub(super) fn says(finding: &Finding) -> String {
    match *finding {
        Finding::OwnVerdict(ref own) => {
            let doubts: String = own.doubts.iter().map(|id| format!(", {id}")).collect();
            let doubts = doubts.replacen(", ", ": ", 1);
            format!("its own verdict is {}{doubts}", own.gravity.name())
        }
        Finding::MeanAboveP99 { mean, p99, has_unit } if mean == p99 => {
            format!("p99 and mean are both {}", shown(p99, has_unit))
        }
        Finding::MeanAboveP99 { mean, p99, has_unit } => {
            format!("the mean is {}, the p99 {}", shown(mean, has_unit), shown(p99, has_unit))
        }
        Finding::Little { mean_ns, rate_per_s, under_way } => format!(
            "{} requests/s × {} are {} requests in flight at once, and no more than {} can be",
            rate(rate_per_s),
            time(mean_ns),
            digits(rate_per_s * mean_ns / 1e9),
            trimmed(under_way, 1)
        ),
        Finding::MeanImpossible { mean, least, most, has_unit } => {
            impossible_mean(mean, least, most, has_unit)
        }
        Finding::NotAscending { lower, higher, has_unit } => format!(
            "{} is {}, and {} is {}",
            share(lower.0),
            shown(lower.1, has_unit),
            share(higher.0),
            shown(higher.1, has_unit)
        ),
        Finding::RateImpossible { requests, seconds, rate_per_s } => {
            impossible_rate(requests, seconds, rate_per_s)
        }
        Finding::SdImpossible { sd, shortest, longest, has_unit } => {
            let [sd, shortest, longest] = [sd, shortest, longest].map(|time| shown(time, has_unit));
            format!(
                "the standard deviation is {sd}, and the times lie from {shortest} to {longest}"
            )
        }
        Finding::RateMissed { asked_per_s, rate_per_s } => {
            format!("{} requests/s of {}", rate(rate_per_s), rate(asked_per_s))
        }
        Finding::FewSamples { samples, share: at } => {
            format!("{} requests are too few for a {}", count(samples as u64), share(at))
        }
        Finding::Failures { failed, at_most, requests } => failures(failed, at_most, requests),
        Finding::NoUnit { ref figures } => match figures.is_empty() {
            true => "the times have no unit".into(),
            false => format!("the unit is not one of a rate: {}", figures.join(", ")),
        },
        Finding::NoNumber { ref marks } => {
            let all: Vec<String> = marks.iter().map(mark).collect();
            all.join(", ")
        }
        Finding::SameRate { rows, of, low, high } => format!(
            "{} of {} rows of this load have between {} and {} requests/s",
            count(rows as u64),
            count(of as u64),
            rate(low),
            rate(high)
        ),
        Finding::SameMedian { rows, of, median, has_unit } => format!(
            "{} of {} rows of this load have a median of {}",
            count(rows as u64),
            count(of as u64),
            shown(median, has_unit)
        ),
    }
}

fn impossible_mean(mean: f64, least: f64, most: Option<f64>, has_unit: bool) -> String {
    let (mean, least) = (shown(mean, has_unit), shown(least, has_unit));
    match most {
        Some(most) => format!(
            "the mean is {mean}, and by the percentiles it must lie from {least} to {}",
            shown(most, has_unit)
        ),
        None => format!("the mean is {mean}, and by the percentiles it is at least {least}"),
    }
}

fn failures(failed: f64, at_most: f64, requests: f64) -> String {
    let [failures, most, all] =
        [failed, at_most, requests].map(|number| count(number.round() as u64));
    let share = percent(at_most / requests);
    match failed == at_most {
        true => format!("{failures} of {all} requests failed ({share})"),
        false => {
            format!(
                "at least {failures} and at most {most} of {all} requests failed (up to {share})"
            )
        }
    }
}

fn impossible_rate(requests: f64, seconds: f64, rate_per_s: f64) -> String {
    format!(
        "{} requests in {} are {} requests/s, and {} are stated",
        count(requests.round() as u64),
        time(seconds * 1e9),
        rate(requests / seconds),
        rate(rate_per_s)
    )
}

fn mark(mark: &Mark) -> String {
    let text = match mark.text.parse::<f64>() {
        Ok(number) if number.is_finite() && number.abs() < 1e6 => trimmed(number, 3),
        Ok(number) if number.is_finite() => format!("{number:.2e}"),
        Ok(_) | Err(_) => mark.text.clone(),
    };
    format!("{} is {text}", mark.figure)
}

/// A time with its unit, or the bare number where the unit is not known.
fn shown(value: f64, has_unit: bool) -> String {
    if has_unit { time(value) } else { digits(value) }
}

/// A time of a row.
pub(super) fn of_row(row: &Row, found: Option<audit::Time>) -> Option<String> {
    found.map(|time| shown(time.value, row.has_unit))
}

/// `p99`, `p99.9`
pub(super) fn share(share: f64) -> String {
    match share {
        share if share <= 0.0 => "the shortest time".into(),
        share if 1.0 <= share => "the longest time".into(),
        share => format!("p{}", trimmed(share * 100.0, 6)),
    }
}

/// What a program does not count, or counts otherwise than one expects.
pub(super) fn not_counted(format: Format) -> Option<&'static str> {
    let says = match format {
        Format::Wrk => "requests that were never answered, at most one for each connection",
        Format::Hey => {
            "which answers were cut off, and requests that were sent again on a new connection"
        }
        Format::H2load | Format::H2loadJson => {
            "which failed requests were never sent, because their connection had been lost"
        }
        Format::Ab => "which of the answers with another length than the first one were cut off",
        Format::K6 | Format::K6Json => {
            "failed requests that were sent again, because a kept connection had been lost"
        }
        Format::Oha | Format::OhaJson | Format::DynoLoad => return None,
        Format::Gcannon | Format::GcannonJson | Format::Zrk => return None,
        Format::TechEmpower | Format::HttpArena | Format::WebFrameworks => return None,
    };
    Some(says)
}

pub(super) fn why(why: Why) -> &'static str {
    match why {
        Why::NoMean => "no mean latency above 0 is given",
        Why::NoP99 => "no p99 above 0 is given",
        Why::NoMedian => "no median above 0 is given",
        Why::NoPercentiles => "no percentiles are given",
        Why::NoSamples => "the number of requests is not given",
        Why::NoFailures => "failed requests are not counted",
        Why::NoRate => "no rate is given",
        Why::NoDuration => "it is not stated what the rate counts",
        Why::NoSd => "no standard deviation is given",
        Why::NoUnit => "the times have no unit; --times-in states it",
        Why::NoLimit(NoLimit::Connections) => {
            "the file does not say how many connections there were; --connections states it"
        }
        Why::NoLimit(NoLimit::Streams) => {
            "a connection may carry many requests at once, and the file does not say how many"
        }
        Why::NoLimit(NoLimit::Averages) => {
            "figures are means of several runs, and the product of two means is not the mean of the products"
        }
        Why::NoLimit(NoLimit::Pipelined) => {
            "requests were pipelined, and the file does not say how many at once"
        }
        Why::NoLimit(NoLimit::Schedule) => {
            "requests were due by a schedule: it gave the rate, and times include a wait that no connection carried"
        }
        Why::NoLimit(NoLimit::Executor) => {
            "the summary does not say whether virtual users or a schedule started the requests, nor whether a user sent \
             several at once; --connections states the most"
        }
        Why::NoLimit(NoLimit::Profile) => {
            "the file's name, which states the profile, was changed: it ends in the number of connections"
        }
        Why::NoServer => "the file does not name the server, and runs of one server have one speed",
        Why::FewDigits => "the median has fewer than three digits",
        Why::FewRows => "fewer than four rows can be compared",
    }
}
