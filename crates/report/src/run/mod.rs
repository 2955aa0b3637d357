//! A run of an experiment as a document, as JSON, CSV, page and chart. Computes no number that it prints: `analysis`
//! does.

mod capacity;
pub(crate) mod comparison;
pub(crate) mod conditions;
mod conformance;
mod csv;
mod curve;
pub(crate) mod document;
pub mod experiment_text;
pub(crate) mod fairness;
pub(crate) mod findings;
pub(crate) mod flames;
pub(crate) mod held;
pub(crate) mod json;
mod origin;
mod outcome;
pub(crate) mod price;
pub(crate) mod race;
pub(crate) mod results;
mod rounds;
pub(crate) mod searches;
mod then_now;
pub(crate) mod trouble;
pub(crate) mod why;

use analysis::{COMPARED, Row, Verdict};
use lab::experiment::Point;
use lab::record::RunRecord;
use units::counted;

use crate::document::Document;
use crate::load::page::named;
use crate::load::{first_json, repeated_json};
use crate::page::OfSite;
use crate::render::{self, Chart, Charts, Glyphs, Measure, Screen, Shown};
pub use comparison::{Compared, RowRepeated, Side, repeated_in_short};
pub use document::document;
pub use experiment_text::rounds;
pub use findings::{DamagedTrial, Drawn, Findings, OfCommand};
pub use outcome::{Brief, RunOutcome};
pub use race::RaceOutcome;
pub use results::{cell_of, ratio_text};

/// A place of a run's axis, with its unit.
pub fn place(run: &RunRecord, point: Point) -> String {
    experiment_text::place_in(run.experiment.as_ref(), point)
}

/// The width where pictures made of characters are not shown.
const NO_SCREEN: usize = 0;

impl Shown for Findings<'_> {
    fn document(&self) -> Document {
        document(self, NO_SCREEN, Glyphs::Ascii)
    }

    fn json(&self) -> serde_json::Result<String> {
        match self.command {
            OfCommand::Report => json::of(self),
            OfCommand::Race => race::json::of(self),
            OfCommand::Capacity => crate::capacity::json(self),
            OfCommand::Load => first_json(self),
            OfCommand::Loads => repeated_json(self),
        }
    }

    fn page(&self) -> String {
        let mut document = self.document();
        if self.only_load().is_some() {
            named(&mut document);
        }
        crate::page::page(self, &document, &csv::of(self), &OfSite::default()).into_string()
    }

    fn text(&self, screen: Screen) -> String {
        render::text(&document(self, screen.width, screen.glyphs), screen)
    }

    fn csv(&self) -> Option<String> {
        Some(csv::of(self))
    }

    /// Those at the rates that a search tried are of no use beside others.
    fn measures(&self) -> Option<Vec<Measure>> {
        if self.is_search() {
            return None;
        }
        Some(self.rows().flat_map(|(workload, row)| self.measures_of(workload, row)).collect())
    }

    fn charts(&self) -> Charts<'_> {
        let Drawn { workload, theme } = &self.drawn;
        let is_wanted = move |task: &str| workload.as_ref().is_none_or(|only| only == task);
        let names = self.workloads_drawn().into_iter();
        let of_tables = names.filter(move |name| is_wanted(name));
        let of_tables = of_tables.filter_map(|name| {
            let svg = crate::svg(self, name, *theme)?;
            Some(Chart {
                name: format!("run-{}-{}", flames::safe(&self.id), flames::safe(name)),
                svg,
            })
        });
        Box::new(of_tables.chain(flames::charts(self, is_wanted)))
    }
}

impl Findings<'_> {
    /// The answer in plain words, a paragraph about each workload, and one about how far to trust them.
    #[must_use]
    pub fn answer(&self) -> Vec<String> {
        crate::sentence::all(self)
    }

    /// The run's page as one of a site's.
    #[must_use]
    pub fn page_of(&self, site: &OfSite) -> String {
        crate::page::page(self, &self.document(), &csv::of(self), site).into_string()
    }

    /// The compared figures of a row; none of one that is invalid or was never measured.
    fn measures_of(&self, workload: &str, row: &Row) -> Vec<Measure> {
        let verdict = row.verdict().filter(|verdict| *verdict != Verdict::Invalid);
        let Some(verdict) = verdict.map(Verdict::name) else { return Vec::new() };
        let of = format!("{} · {} · {}", row.subject, self.task(workload), self.place(row.point));
        let found = COMPARED.into_iter().filter_map(|figure| Some((figure, row.estimate(figure)?)));
        let measures = found.map(|(figure, it)| Measure {
            of: of.clone(),
            name: figure.name().into(),
            unit: Measure::unit(figure.unit()),
            better: figure.better(),
            value: it.value,
            // What is only known to be no less is not said to be known.
            ends: [it.low.or(it.is_bound.then_some(it.value)), it.high],
            says: format!("{verdict}, {}", counted(it.rounds as u64, "round", "rounds")),
        });
        measures.collect()
    }

    /// The experiment's workloads, in its order.
    #[must_use]
    pub fn workloads_drawn(&self) -> Vec<&str> {
        self.board.tables.iter().map(|table| table.workload.as_str()).collect()
    }
}

#[cfg(test)]
pub(crate) mod fixture;

#[cfg(test)]
pub(crate) mod tests;
