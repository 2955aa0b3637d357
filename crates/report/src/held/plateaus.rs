//! Every plateau in numbers, folded: what the pictures are made of.

use analysis::{HeldFigure, Plateau};

use super::lines::{Line, estimated, number};
use crate::Findings;
use crate::markup::escaped;
use lab::figure::Unit;

/// Figures in the order of their columns; what nobody has is left out.
const FIGURES: [HeldFigure; 23] = [
    HeldFigure::Open,
    HeldFigure::Failed,
    HeldFigure::Lost,
    HeldFigure::Silent,
    HeldFigure::BegunAgain,
    HeldFigure::Messages,
    HeldFigure::Missed,
    HeldFigure::LateP50,
    HeldFigure::LateP99,
    HeldFigure::LateMax,
    HeldFigure::OwnP99,
    HeldFigure::GapP99,
    HeldFigure::ConnectP50,
    HeldFigure::ConnectP99,
    HeldFigure::AgreeP99,
    HeldFigure::RssMean,
    HeldFigure::PssMean,
    HeldFigure::PssMax,
    HeldFigure::BeamMean,
    HeldFigure::Utilisation,
    HeldFigure::UtilisationMax,
    HeldFigure::CpuShare,
    HeldFigure::CpuPerThousand,
];

/// One table of all of them.
pub(super) fn table(findings: &Findings<'_>, lines: &[Line<'_>]) -> String {
    let plateaus = || lines.iter().flat_map(|line| &line.climb.plateaus);
    if plateaus().next().is_none() {
        return String::new();
    }
    let is_there =
        |figure: &HeldFigure| plateaus().any(|plateau| plateau.estimate(*figure).is_some());
    let figures: Vec<HeldFigure> = FIGURES.into_iter().filter(is_there).collect();
    let head = |figure: &HeldFigure| {
        format!("<th title=\"{}\">{}</th>", escaped(figure.meaning()), escaped(figure.heading()))
    };
    let heads: String = figures.iter().map(head).collect();
    let rows: String = lines.iter().map(|line| rows(findings, line, &figures)).collect();
    format!(
        "<details class=\"depth\">\n<summary><b>Every plateau in numbers</b> <span class=\"dim\">{} columns</span></summary>\n\
         <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"plateaus\"><table>\n<thead><tr><th>subject</th><th>connections</th>\
         {heads}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n</details>\n",
        figures.len()
    )
}

fn rows(findings: &Findings<'_>, line: &Line<'_>, figures: &[HeldFigure]) -> String {
    let row = |(n, plateau): (usize, &Plateau)| {
        let (title, class) = match n {
            0 => (escaped(&line.title), " class=\"new\""),
            _ => (String::new(), ""),
        };
        let cell = |figure: &HeldFigure| {
            let found = plateau.estimate(*figure);
            let says =
                found.map_or("–".into(), |found| estimated(findings, figure.unit(), &found));
            format!("<td>{}</td>", escaped(&says))
        };
        let cells: String = figures.iter().map(cell).collect();
        let asked = number(findings, Unit::Count, plateau.connections as f64);
        format!(
            "<tr{class} data-s=\"{}\"><th scope=\"row\">{title}</th><td>{}</td>{cells}</tr>\n",
            line.slot,
            escaped(&asked)
        )
    };
    line.climb.plateaus.iter().enumerate().map(row).collect()
}
