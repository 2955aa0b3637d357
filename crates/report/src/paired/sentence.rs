//! The sentences over figures of two sides that are compared: what differs stands before what does not. What the sides
//! are called, and what else is known of them, comes from the command that compares.

use analysis::{Change, Comparison};
use lab::figure::Figure;

use super::Ratio;

/// How a figure is said of a server: `answers 0.9× as many requests as A`.
struct Words {
    /// Of one server, and of several.
    verbs: [&'static str; 2],
    /// What there is so many times as much of.
    object: String,
    /// What stands before the other side's name.
    than: &'static str,
    /// What follows it.
    end: &'static str,
    noun: &'static str,
}

impl Words {
    fn of_requests(object: &str, noun: &'static str) -> Words {
        let verbs = ["answers", "answer"];
        Words { verbs, object: object.into(), than: " as ", end: "", noun }
    }

    fn of(figure: Figure) -> Words {
        match figure {
            Figure::Throughput => Words::of_requests("as many requests", "throughput"),
            Figure::OnTime => Words::of_requests("as many requests on time", "share on time"),
            Figure::CpuPerThousand => Words {
                verbs: ["uses", "use"],
                object: "the CPU time".into(),
                than: " of ",
                end: " for each answer",
                noun: "CPU time for an answer",
            },
            other => {
                let noun = match other {
                    Figure::MemoryPerConnection => "memory for a connection",
                    other => other.heading(),
                };
                Words {
                    verbs: ["has", "have"],
                    object: format!("the {noun}"),
                    than: " of ",
                    end: "",
                    noun,
                }
            }
        }
    }
}

/// `B answers 1.2× [1.1–1.3] as many requests as A, at 0.8× [0.7–0.9] the p99`: the figures in the order of their weight,
/// without a full stop.
pub(crate) fn against([a, b]: [&str; 2], figures: &[Comparison]) -> String {
    let (unshown, shown): (Vec<&Comparison>, Vec<&Comparison>) =
        figures.iter().partition(|made| made.finding() == Change::NotShown);
    let Some((first, rest)) = shown.split_first().or(unshown.split_first()) else {
        return String::new();
    };
    let Words { verbs: [verb, _], object, than, end, .. } = Words::of(first.figure);
    let mut sentence = format!("{b} {verb} {} {object}{than}{a}{end}", Ratio::from(*first));
    for made in rest {
        sentence += &format!(", at {} the {}", Ratio::from(*made), Words::of(made.figure).noun);
    }
    if shown.is_empty() {
        return format!("No difference is shown: {sentence}");
    }
    for made in unshown {
        let (noun, ratio) = (Words::of(made.figure).noun, Ratio::from(made));
        sentence += &format!("; no difference of the {noun} is shown ({ratio})");
    }
    sentence
}

/// Of more servers than this, only the first and the last are named.
pub(crate) const NAMED: usize = 4;

/// `B answers 0.8× [0.7–0.9] as many requests, C 0.9× [0.8–0.9]`: one figure of several servers, each against itself.
pub(crate) fn each(figure: Figure, servers: &[(String, Ratio)]) -> Option<String> {
    let ((first, ratio), rest) = servers.split_first()?;
    let Words { verbs: [singular, plural], object, end, .. } = Words::of(figure);
    Some(match rest {
        [.., (last, highest)] if NAMED < servers.len() => {
            let count = servers.len();
            format!(
                "{count} servers {plural} {ratio} ({first}) to {highest} ({last}) {object}{end}"
            )
        }
        rest => {
            let others = rest.iter().map(|(name, ratio)| format!(", {name} {ratio}"));
            format!("{first} {singular} {ratio} {object}{end}{}", others.collect::<String>())
        }
    })
}

/// `throughput/s, 16 connections: 0.91× [0.88–0.94]: why`: a figure as an entry of a list.
pub(crate) fn listed(name: &str, ratio: Option<Ratio>, why: Option<&str>) -> String {
    let ratio = ratio.map_or(String::new(), |ratio| format!(": {ratio}"));
    let why = why.map_or(String::new(), |why| format!(": {why}"));
    format!("{name}{ratio}{why}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_servers_the_first_and_the_last_are_named() {
        let servers: Vec<(String, Ratio)> = ["A", "B", "C", "D", "E"]
            .into_iter()
            .zip([0.5, 0.6, 0.7, 0.8, 0.9])
            .map(|(name, ratio)| (name.to_string(), Ratio::single(ratio)))
            .collect();
        let throughput = |servers| each(Figure::Throughput, servers).unwrap();
        assert_eq!(
            throughput(&servers),
            "5 servers answer 0.50× (A) to 0.90× (E) as many requests"
        );
        assert_eq!(throughput(&servers[..2]), "A answers 0.50× as many requests, B 0.60×");
        let cpu = each(Figure::CpuPerThousand, &servers[..1]).unwrap();
        assert_eq!(cpu, "A uses 0.50× the CPU time for each answer");
        assert_eq!(each(Figure::Throughput, &[]), None);
    }
}
