//! Several loads of one kind, one after another: each of them, and every figure over all of them with its interval.

use analysis::why::Explained;
use analysis::{By, Conduct, Estimate, Faults, Number, Row, Tolerated};
use lab::figure::Figure;
use load::Tally;

use crate::conduct;
use crate::json::{ByFigure, json_type, written};
use crate::number_format::Written;
use crate::run::findings::Findings;
use crate::verdict::ExplainedVerdict;

pub(crate) const SCHEMA: &str = "dyno.loads/1";

fn row<'t>(findings: &'t Findings<'_>) -> Option<&'t Row> {
    findings.board.tables.first()?.rows.first()
}

/// The answer of a run of `dyno load`: faults that are not tolerated, of all loads together or of one of them, come
/// first.
pub(crate) fn sentence(findings: &Findings<'_>) -> String {
    let tolerated = match findings.ended {
        [load, ..] => load.tolerated,
        [] => Tolerated::by(findings.run.experiment.as_ref()),
    };
    let totals: Vec<&Tally> = findings
        .trials
        .iter()
        .filter_map(|trial| Some(&trial.loaded.as_ref()?.recording.total))
        .collect();
    let all = Conduct::of(Faults::of(totals.iter().copied()), tolerated);
    let each = totals.iter().map(|total| Conduct::of(Faults::of([*total]), tolerated));
    let worst = each.enumerate().find(|(_, conduct)| !conduct.is_tolerated());
    let (first, then) = match worst {
        Some((place, conduct)) if all.is_tolerated() => (
            conduct::says(&format!("Load {}", place + 1), &conduct),
            figures("the server", findings),
        ),
        Some(_) => (conduct::says("The server", &all), figures("it", findings)),
        None => {
            (Some(figures("The server", findings)), conduct::says("it", &all).unwrap_or_default())
        }
    };
    let parts = [first.unwrap_or_default(), then];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    format!("{}.", parts.join("; "))
}

/// Each figure of this server with its interval, without a full stop.
fn figures(server: &str, findings: &Findings<'_>) -> String {
    let Some(rate) = written_figure(findings, Figure::Throughput) else {
        return format!("{server} has no measured answers");
    };
    let count = row(findings).map_or(0, Row::measured);
    let times =
        [(Figure::ResponseP50, "half of them within"), (Figure::ResponseP99, "99 % within")];
    let times = times.map(|(of, says)| Some(format!("{says} {}", written_figure(findings, of)?)));
    let times: Vec<String> = times.into_iter().flatten().collect();
    let times = if times.is_empty() { String::new() } else { format!(", {}", times.join(" and ")) };
    let on_time = written_figure(findings, Figure::OnTime)
        .map_or(String::new(), |share| format!("; {share} on time"));
    let spread = match count {
        1 => "one load, whose spread is not known".to_string(),
        count => format!("the means of {count} loads, with 95 % intervals"),
    };
    format!("{server} answered {rate} requests/s{times}{on_time}: {spread}")
}

fn written_figure(findings: &Findings<'_>, figure: Figure) -> Option<String> {
    let estimate = row(findings)?.estimate(figure)?;
    let written = Written::estimate(figure.unit(), &estimate);
    Some(format!("{}{}", written.bounded(), written.between()))
}

json_type! {
    /// Several loads of one kind, one after another.
    pub(crate) struct Loads<'t> as "loads", SCHEMA of findings: Findings<'_> {
        /// all of them in plain words
        sentence: String = sentence(findings),
        /// what the figures are worth
        verdict: ExplainedVerdict = row(findings)
            .map_or_else(ExplainedVerdict::default, |row| ExplainedVerdict::of_row(row, By::Flags)),
        /// each figure over all loads
        figures: ByFigure<EstimateJson> =
            ByFigure::of(|figure| Some(EstimateJson::from(&row(findings)?.estimate(figure)?))),
        /// each load, as `dyno load --json` writes it
        loads: Vec<super::json::LoadDocument<'t>> =
            findings.ended.iter().map(|load| super::json::LoadDocument::of(&[], load)).collect(),
        /// where the CPU time of answers goes, with `--why`
        why: &'t [Explained] = findings.explained(),
    }
}

json_type! {
    /// A figure over all loads.
    struct EstimateJson as "estimate" of estimate: Estimate {
        /// the mean; of rates and times the geometric one
        #[serde(flatten)]
        mean: Number = estimate.number(),
        /// lower end of its 95 % interval; null with one load
        low: Option<f64>,
        /// its upper end
        high: Option<f64>,
        /// loads that have it
        loads: usize = estimate.rounds,
    }
}

/// The first of loads that have just ended as JSON, with a line end; all of them where none has.
pub(crate) fn first_json(findings: &Findings<'_>) -> serde_json::Result<String> {
    match findings.ended.first() {
        Some(load) => super::json(load, findings.explained()),
        None => repeated_json(findings),
    }
}

/// Loads that have just ended as JSON, with a line end.
pub(crate) fn repeated_json(findings: &Findings<'_>) -> serde_json::Result<String> {
    written(&Loads::from(findings))
}

#[cfg(test)]
mod tests;
