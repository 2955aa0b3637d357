//! The agents of a load that is under way, in a line or two: what each does, and which are lost. Pure.

use ::agents::{AgentNow, Doing};
use load::Nanos;
use report::paint::{Line, Tone};
use units::{count, counted, nanos, percent, rate};

/// Each agent by itself takes no more lines than these; more agents are summed up.
const LINES: usize = 2;
/// Of the lost agents so many are named.
const NAMED: usize = 3;
/// The words before the first agent, and as many blanks before those of another line.
const HEAD: &str = "agents    ";

/// What the agents do: each of them if there is room, else all of them together, with the one that is latest. Nothing
/// without agents.
pub(crate) fn lines(agents: &[AgentNow], width: usize) -> Vec<Line> {
    if agents.is_empty() {
        return Vec::new();
    }
    one_by_one(agents, width).unwrap_or_else(|| vec![together(agents)])
}

fn one_by_one(agents: &[AgentNow], width: usize) -> Option<Vec<Line>> {
    let shares = agents.windows(2).any(|pair| pair[0].share != pair[1].share);
    let mut lines = vec![Line::toned(Tone::Dim, HEAD)];
    let mut is_first = true;
    for agent in agents {
        let (tone, says) = one(agent, shares);
        let taken = lines.last().map_or(0, Line::width) + if is_first { 0 } else { 3 };
        if width < taken + says.chars().count() {
            if is_first || lines.len() == LINES {
                return None;
            }
            lines.push(Line::plain(" ".repeat(HEAD.len())));
            is_first = true;
            if width < HEAD.len() + says.chars().count() {
                return None;
            }
        }
        let line = lines.pop()?;
        let line = if is_first { line } else { line.and(Tone::Dim, " · ") };
        lines.push(line.and(tone, says));
        is_first = false;
    }
    Some(lines)
}

fn one(agent: &AgentNow, with_share: bool) -> (Tone, String) {
    let share = if with_share { format!(" ({})", percent(agent.share)) } else { String::new() };
    let late =
        agent.late_p99.map_or(String::new(), |late| format!(", sent late p99 {}", nanos(late)));
    let (tone, does) = match agent.does {
        Doing::Starting => (Tone::Dim, "starting".to_string()),
        Doing::Requests(per_s) => (Tone::Plain, format!("{}/s{late}", rate(per_s.round()))),
        Doing::Connections(open) => (Tone::Plain, format!("{} open", count(open))),
        Doing::Lost => (Tone::Bad, "LOST".to_string()),
    };
    (tone, format!("{}{share} {does}", agent.name))
}

/// `8 agents  990–1,010/s each, sent late p99 up to 3.20 ms (desk7), 1 LOST: desk3`
fn together(agents: &[AgentNow]) -> Line {
    let mut line = Line::toned(Tone::Dim, counted(agents.len() as u64, "agent", "agents"));
    let rates = agents.iter().filter_map(|agent| match agent.does {
        Doing::Requests(per_s) => Some(per_s.round()),
        _ => None,
    });
    let open = agents.iter().filter_map(|agent| match agent.does {
        Doing::Connections(open) => Some(open as f64),
        _ => None,
    });
    let spans = [span(rates).map(|it| it + "/s"), span(open).map(|it| it + " open")];
    for says in spans.into_iter().flatten() {
        line = line.and(Tone::Plain, format!("  {says} each"));
    }
    let there = agents.iter().filter(|agent| agent.does != Doing::Lost);
    let latest: Option<(Nanos, &str)> =
        there.filter_map(|agent| Some((agent.late_p99?, agent.name.as_str()))).max();
    if let Some((late, name)) = latest {
        line = line.and(Tone::Plain, format!("  sent late p99 up to {} ({name})", nanos(late)));
    }
    let lost: Vec<&str> = agents
        .iter()
        .filter(|agent| agent.does == Doing::Lost)
        .map(|agent| agent.name.as_str())
        .collect();
    if lost.is_empty() {
        return line;
    }
    let named = lost[..lost.len().min(NAMED)].join(", ");
    let more = if NAMED < lost.len() { ", …" } else { "" };
    line.and(Tone::Bad, format!("  {} LOST: {named}{more}", count(lost.len() as u64)))
}

/// The least and the most.
fn span(values: impl Iterator<Item = f64>) -> Option<String> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let (low, high) = (rate(*values.first()?), rate(*values.last()?));
    Some(if low == high { high } else { format!("{low}–{high}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agents(count: usize) -> Vec<AgentNow> {
        let one = |number: usize| AgentNow {
            name: format!("desk{number}"),
            share: 1.0 / count as f64,
            does: Doing::Requests(1_000.0 + number as f64),
            late_p99: Some(10_000 * number as Nanos),
        };
        (1..=count).map(one).collect()
    }

    fn shown(agents: &[AgentNow], width: usize) -> Vec<String> {
        lines(agents, width).iter().map(|line| line.shown(false)).collect()
    }

    #[test]
    fn few_agents_are_shown_one_by_one() {
        assert!(shown(&[], 80).is_empty());
        let mut two = agents(2);
        assert_eq!(
            shown(&two, 90),
            [
                "agents    desk1 1,001/s, sent late p99 10.0 µs · desk2 1,002/s, sent late p99 20.0 µs"
            ]
        );
        two[1].does = Doing::Lost;
        assert_eq!(
            shown(&two, 80),
            ["agents    desk1 1,001/s, sent late p99 10.0 µs · desk2 LOST"]
        );
        (two[0].does, two[1].does) = (Doing::Starting, Doing::Connections(1_200));
        (two[0].share, two[1].share) = (0.25, 0.75);
        assert_eq!(shown(&two, 80), ["agents    desk1 (25 %) starting · desk2 (75 %) 1,200 open"]);
    }

    #[test]
    fn what_does_not_fit_in_one_line_takes_two() {
        assert_eq!(
            shown(&agents(4), 90),
            [
                "agents    desk1 1,001/s, sent late p99 10.0 µs · desk2 1,002/s, sent late p99 20.0 µs",
                "          desk3 1,003/s, sent late p99 30.0 µs · desk4 1,004/s, sent late p99 40.0 µs"
            ]
        );
    }

    #[test]
    fn many_agents_are_summed_up_and_the_latest_and_the_lost_are_named() {
        let mut many = agents(300);
        assert_eq!(
            shown(&many, 80),
            ["300 agents  1,001–1,300/s each  sent late p99 up to 3.00 ms (desk300)"]
        );
        for lost in [2, 7, 9, 299] {
            many[lost].does = Doing::Lost;
        }
        assert_eq!(
            shown(&many, 120),
            [
                "300 agents  1,001–1,299/s each  sent late p99 up to 2.99 ms (desk299)  4 LOST: desk3, desk8, desk10, …"
            ]
        );
    }

    #[test]
    fn a_narrow_terminal_gets_one_line() {
        for width in 0..60 {
            assert_eq!(shown(&agents(2), width).len(), if width < 46 { 1 } else { 2 }, "{width}");
        }
    }
}
