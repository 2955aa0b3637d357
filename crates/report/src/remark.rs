//! Remarks and alarms about a table in words.

use analysis::{Alarm, Remark};
use lab::experiment::Point;
use lab::figure::Figure;

use crate::Findings;
use crate::number_format::in_unit_of;
use crate::run::experiment_text;

/// A remark in a sentence; `shown` makes of a place the one that people read.
pub(crate) fn says(remark: &Remark, shown: &dyn Fn(Point) -> Point) -> String {
    match remark {
        Remark::NoCeiling(points) => {
            let at = match points.as_slice() {
                [only] => experiment_text::place_and_unit(shown(*only)),
                many => {
                    let places = many.iter().map(|&point| experiment_text::place(shown(point)));
                    let unit = many.first().map_or("", |&point| shown(point).unit());
                    format!("{} {unit}", places.collect::<Vec<_>>().join(", "))
                }
            };
            format!(
                "dyno's own server has no valid figure at {at}: what dyno and the machine can reach there is not known"
            )
        }
        Remark::Apart(answers) => format!(
            "to `{}`, {} answered differently from {}; all were right",
            answers.ask,
            answers.apart.join(", "),
            answers.alike.join(", ")
        ),
        Remark::RequestsUnlike { ask, subjects } => format!(
            "not all were sent the same fields and body: `{ask}` was another request for {}",
            subjects.join(", ")
        ),
        Remark::TlsUnlike { what, first, subjects } => format!(
            "not all agreed on the same TLS: {} had another {what} than {first}",
            subjects.join(", ")
        ),
        Remark::TlsMissing { first, subjects } => {
            format!("{first} was loaded over TLS, and {} without it", subjects.join(", "))
        }
        Remark::SharesCpu => {
            "server and database on one CPU: throughput is that of both and is not ranked; the servers are in the order \
             of their own CPU time for an answer"
                .into()
        }
        Remark::CpuUnknown { lacking } => format!(
            "the servers are not ranked, because the CPU time of {} is not known",
            lacking.join(", ")
        ),
    }
}

/// What is odd about a table, and what to do about it.
pub(crate) fn alarm(findings: &Findings<'_>, alarm: &Alarm) -> String {
    let number = |value| in_unit_of(alarm.figure, value);
    let range = match (number(alarm.low), number(alarm.high)) {
        (low, high) if low == high => low,
        (low, high) => format!("{low} to {high}"),
    };
    let what = match alarm.figure {
        Figure::Throughput => format!("achieved {range}/s"),
        figure => format!("share one {}, {range}", figure.heading()),
    };
    let subjects: Vec<&str> = alarm.subjects.iter().map(|name| findings.title(name)).collect();
    format!(
        "{} at {}: {} of {} servers {what} ({}); see how busy dyno and the CPUs were, and what dyno's own server \
         reaches here \
         (`dyno load --calibrate`)",
        findings.task(&alarm.workload),
        experiment_text::place_and_unit(findings.shown(alarm.point)),
        alarm.subjects.len(),
        alarm.of,
        subjects.join(", ")
    )
}

#[cfg(test)]
mod tests;
