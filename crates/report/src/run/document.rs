//! A run as a document: the only place that decides what a report of a run contains, and in which order.

use analysis::Table;
use lab::record::{CAPACITY, LOAD, RACE};

use super::curve;
use super::{
    Findings, capacity, conditions, conformance, held, price, race, results, rounds, searches,
    then_now, trouble, why,
};
use crate::chart::{Stand, both};
use crate::document::{Block, Depth, Document, Drawing, Paragraph, Section, Tone};
use crate::load::known::KnownLoad;
use crate::load::required;
use crate::markup::Markup;
use crate::render::Glyphs;
use crate::{agents, detail, number_format, sentence, signature, verdict};

/// The whole report of a run. Its pictures made of characters have this width and these glyphs.
pub fn document(findings: &Findings<'_>, width: usize, glyphs: Glyphs) -> Document {
    let run = findings.run;
    let mut notes = Vec::new();
    let article = findings.run.experiment.as_ref().and_then(|found| found.article.as_ref());
    notes.extend(article.map(|article| Paragraph::new(Tone::Dim, format!("After: {article}"))));
    notes.extend(
        conditions::warnings(findings).into_iter().map(|says| Paragraph::new(Tone::Doubtful, says)),
    );
    let is_lenient = findings.ended.first().is_some_and(|load| load.order.limits.lenient);
    let lenient = "lenient: broken framing that old servers send is accepted";
    notes.extend(is_lenient.then(|| Paragraph::new(Tone::Dim, lenient)));
    let load = findings.load_in_words();
    let mut conditions: Vec<String> = load.into_iter().collect();
    conditions.extend(findings.checked().as_ref().map(number_format::checked));
    conditions.push(conditions::machine(run, findings.trials));
    Document {
        label: findings.label(),
        title: findings.question(),
        notes,
        answer: sentence::all(findings),
        verdict: findings.verdict(),
        worth: findings.verdict().map(|_| findings.worth()),
        conditions,
        sections: sections(findings, (width, glyphs)),
        ending: ending(findings),
    }
}

fn sections(findings: &Findings<'_>, screen: (usize, Glyphs)) -> Vec<Section> {
    if findings.is_search() {
        return searches::sections(findings);
    }
    let mut sections = held::sections(findings);
    match findings.only_load().and_then(|trial| KnownLoad::of(findings, trial)) {
        Some(load) => sections.extend(only_load(findings, &load)),
        None => {
            let tables = findings.board.tables.iter().enumerate();
            let loaded = tables.filter(|(_, table)| !table.is_held());
            sections.extend(loaded.map(|(place, table)| workload(findings, table, place, screen)));
        }
    }
    sections.extend(why::sections(findings));
    sections.push(price::section(findings));
    sections.extend(then_now::section(findings));
    sections.push(conformance::section(findings));
    let alarms = trouble::alarms(findings).into_iter();
    sections.push(
        Section::new("limit", "Something else may be the limit", Depth::Brief)
            .noting("different servers are seldom so alike")
            .with(alarms.map(|says| Block::paragraph(Tone::Doubtful, says))),
    );
    sections.push(verdict::section(trouble::doubts(findings)));
    sections.push(trouble::section("unranked", trouble::UNRANKED, trouble::unranked(findings)));
    let failed = trouble::section("failed", trouble::FAILED, trouble::under_load(findings));
    sections.push(failed.noting("all measured rounds together"));
    sections.push(trouble::section("wrong", trouble::WRONG, trouble::failures(findings)));
    sections.push(required(findings.ended));
    let why = rounds::blocks(findings);
    sections.push(Section::new("rounds", rounds::heading(findings), Depth::Brief).with(why));
    sections.extend(conditions::servers_and_machine(findings));
    sections
}

/// A run of one load: all that is known of it. Its only row and its failures are in that.
fn only_load(findings: &Findings<'_>, load: &KnownLoad<'_>) -> Vec<Section> {
    let mut sections = load.sections();
    let times = sections.iter().position(|section| section.id == "latencies");
    let pictures = Block::picture(detail::of_load(findings));
    let course = Section::new("course", "How long answers took, and when", Depth::Page);
    sections.insert(times.unwrap_or(sections.len()), course.with([pictures]));
    sections.extend(findings.ended.iter().map(|load| agents::lost(&load.lost)));
    sections
}

fn workload(
    findings: &Findings<'_>,
    table: &Table,
    place: usize,
    (width, glyphs): (usize, Glyphs),
) -> Section {
    let heading = findings.titled_task(&table.workload);
    // Axes without a mark say nothing.
    let is_measured = table.rows.iter().any(|row| 0 < row.measured());
    let mut blocks = Vec::new();
    if let Some(rows) = race::picture::rows(findings).filter(|_| findings.is_race() && place == 0) {
        blocks.push(Block::picture(both(|room| rows.svg(room, Stand::Page))));
    }
    if is_measured {
        let markup = both(|room| signature::drawn(findings, table, room, Stand::Page));
        blocks.push(Block::picture(markup));
    }
    match table.rows.as_slice() {
        [row] if findings.is_load() && 1 < row.trials.len() => {
            blocks.push(Block::Table(results::each_load(row)));
        }
        _ => blocks.push(Block::Table(results::table(findings, table, place.to_string()))),
    }
    blocks.extend(trouble::remarks(findings, table));
    blocks.extend(capacity::blocks(findings, table, format!("capacity{place}")));
    if is_measured {
        let lines = match width {
            0 => Vec::new(),
            _ => curve::lines(findings, table, width, glyphs),
        };
        blocks.push(Block::Drawing(Drawing { markup: Markup::default(), lines, is_brief: false }));
    }
    // What a load cost its server was not watched.
    if is_measured && !findings.is_load() {
        let cost = both(|room| signature::cost(findings, table, room));
        blocks.push(Block::fold("What it cost, as pictures", vec![Block::picture(cost)]));
    }
    blocks.push(Block::picture(detail::section(findings, table)));
    if findings.is_load() {
        blocks.extend(loads(findings));
    }
    Section::new(format!("results{place}"), heading, Depth::Brief).with(blocks)
}

/// All that is known of each load of `dyno load`.
fn loads(findings: &Findings<'_>) -> impl Iterator<Item = Block> {
    findings.trials.iter().filter_map(|trial| {
        let sections = KnownLoad::of(findings, trial)?.sections();
        let blocks = sections.into_iter().flat_map(|section| section.blocks).collect();
        Some(Block::fold(format!("All of load {}", trial.key.repeat + 1), blocks))
    })
}

fn ending(findings: &Findings<'_>) -> Vec<Paragraph> {
    if findings.is_passing_load() {
        return Vec::new();
    }
    let Findings { id, store_option, .. } = findings;
    let of_flags = [RACE, LOAD, CAPACITY].into_iter().find_map(|name| findings.fact(name));
    let again = match of_flags {
        Some(command) => command.to_string(),
        None => findings.run.again() + store_option,
    };
    let text = match findings.is_kept() {
        false => format!("to repeat: `{again}`"),
        true => format!(
            "more: `dyno report {id} --full{store_option}` has all of it, `--format csv` every trial, `--format json` \
             everything · to repeat: `{again}`"
        ),
    };
    vec![Paragraph::new(Tone::Dim, text)]
}
