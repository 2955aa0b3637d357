//! A run as a document: the only place that decides what a report of a run contains, and in which order.

use analysis::Table;
use lab::record::{RunRecord, TrialRecord};

use super::curve::{self, Glyphs};
use super::{
    Findings, agreed, capacity, conformance, fairness, held, origin, price, race, results, rounds,
    searches, then_now, trouble,
};
use crate::chart::{Room, Stand};
use crate::document::{Block, Depth, Document, Drawing, Entry, Paragraph, Section, Tone};
use crate::markup::{Markup, markup};
use crate::time::utc;
use crate::{detail, sentence, signature, written};

/// The whole report of a run. Its pictures made of characters have this width and these glyphs.
pub fn document(findings: &Findings<'_>, width: usize, glyphs: Glyphs) -> Document {
    let run = findings.run;
    let question = question(findings);
    let mut notes = Vec::new();
    let article = findings.experiment.as_ref().and_then(|found| found.article.as_ref());
    notes.extend(article.map(|article| Paragraph::new(Tone::Dim, format!("After: {article}"))));
    notes.extend(warnings(findings).into_iter().map(|says| Paragraph::new(Tone::Doubtful, says)));
    let load = findings.load_in_words();
    let mut conditions: Vec<String> = load.into_iter().collect();
    conditions.extend(findings.checked().as_ref().map(written::checked));
    conditions.push(machine(run, findings.trials));
    Document {
        label: format!("{} · run {} · {}", run.name, findings.id, utc(run.began_unix_ms)),
        title: question.into(),
        notes,
        answer: sentence::all(findings),
        verdict: findings.verdict(),
        worth: findings.verdict().map(|_| findings.worth()),
        conditions,
        sections: sections(findings, (width, glyphs)),
        ending: ending(findings),
    }
}

/// What the run is to answer.
pub(super) fn question<'t>(findings: &'t Findings<'_>) -> &'t str {
    findings.experiment.as_ref().map_or(&findings.run.name, |found| &found.question)
}

fn sections(findings: &Findings<'_>, screen: (usize, Glyphs)) -> Vec<Section> {
    if findings.is_search() {
        return searches::sections(findings);
    }
    let mut sections = held::sections(findings);
    let tables = findings.board.tables.iter().enumerate();
    let loaded = tables.filter(|(_, table)| !table.is_held());
    sections.extend(loaded.map(|(place, table)| workload(findings, table, place, screen)));
    sections.push(price::section(findings));
    sections.extend(then_now::section(findings));
    sections.push(conformance::section(findings));
    let found = |id: &'static str, heading: &str, note: &str, entries: Vec<Entry>| {
        let blocks = (!entries.is_empty()).then_some(Block::Entries(entries));
        Section::new(id, heading, Depth::Brief).noting(note).with(blocks)
    };
    let alarms = trouble::alarms(findings).into_iter();
    sections.push(
        Section::new("limit", "Something else may be the limit", Depth::Brief)
            .noting("different servers are seldom so alike")
            .with(alarms.map(|says| Block::paragraph(Tone::Doubtful, says))),
    );
    let doubts = trouble::doubts(findings);
    sections.push(match doubts.is_empty() {
        true => Section::new("doubt", trouble::DOUBTS, Depth::Full)
            .with([Block::paragraph(Tone::Plain, "Nothing that dyno looks for was found.")]),
        false => found(
            "doubt",
            trouble::DOUBTS,
            "doubtful figures are shown all the same, and marked",
            doubts,
        ),
    });
    let unranked = trouble::unranked(findings);
    sections.push(found("unranked", trouble::UNRANKED, "", unranked));
    let failed = trouble::under_load(findings);
    sections.push(found("failed", trouble::FAILED, "all measured rounds together", failed));
    sections.push(found("wrong", trouble::WRONG, "", trouble::failures(findings)));
    let why = rounds::blocks(findings);
    sections.push(Section::new("rounds", rounds::heading(findings), Depth::Brief).with(why));
    sections.extend(servers_and_machine(findings));
    sections.retain(|section| !section.blocks.is_empty());
    sections
}

/// What is said of the servers, the machine and the method, whatever the run was to find.
pub(super) fn servers_and_machine(findings: &Findings<'_>) -> [Section; 5] {
    [
        Section::new("differences", "What differs between them", Depth::Full)
            .with(fairness::blocks(findings)),
        Section::new("entrants", "Which servers took part", Depth::Full)
            .with(fairness::entrants(findings)),
        origin::section(findings),
        Section::new("connections", "What was seen on the connections", Depth::Full)
            .with(agreed::blocks(findings)),
        method(findings),
    ]
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
    if is_measured {
        let markup = both(["a", "b"], place, &|id, room| {
            signature::drawn(findings, table, id, room, Stand::Page)
        });
        blocks.push(Block::picture(markup));
    }
    blocks.push(Block::Table(results::table(findings, table, place.to_string())));
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
        let cost = both(["c", "d"], place, &|id, room| signature::cost(findings, table, id, room));
        blocks.push(Block::fold("What it cost, as pictures", vec![Block::picture(cost)]));
    }
    blocks.push(Block::picture(detail::section(findings, table)));
    Section::new(format!("results{place}"), heading, Depth::Brief).with(blocks)
}

/// A picture for a large screen and one for a phone.
pub(crate) fn both(ids: [&str; 2], place: usize, drawn: &dyn Fn(&str, Room) -> Markup) -> Markup {
    let rooms = [Room::Wide, Room::Narrow].into_iter().zip(ids);
    let drawn = rooms.map(|(room, id)| drawn(&format!("{id}{place}"), room));
    markup!("<figure>\n{}</figure>\n", drawn.collect::<Markup>())
}

/// How it was measured, and on what.
fn method(findings: &Findings<'_>) -> Section {
    let mut texts = vec![
        match findings.is_load() {
            true => "`dyno load` made each load on a server that ran already, one after another.",
            false => {
                "Every trial starts its server anew, verifies its answers, loads it, and verifies them again. Trials are \
                 shuffled by the seed."
            }
        },
        "throughput: correct answers inside the measured time. Response time counts from when a request was due, not from \
         when it was sent; a request that was given up counts at the time-out.",
        "95 % interval: by Student's t over the rounds of this run. What differs from one run, day or machine to the next \
         is not in it. With one round there is none.",
    ];
    if !findings.board.ramps.is_empty() {
        texts.push(
            "Held connections: a trial is a whole ramp. Connections are added in steps, and each step is measured once its \
             connections have been begun and have settled. At the end all are closed, and the server is watched while it \
             gives back.",
        );
        texts.push(
            "A message's lateness counts from its beat. dyno's own share of it stands beside it (own p99), and never in its \
             place.",
        );
    }
    if findings.is_search() {
        texts = searches::METHOD.to_vec();
    }
    let mut blocks: Vec<Block> =
        texts.into_iter().map(|says| Block::paragraph(Tone::Plain, says)).collect();
    blocks.push(Block::Heading("The machine".into()));
    let (facts, is_shortened) = origin::facts_that_differ(&findings.run.facts);
    if is_shortened {
        let says =
            "What was read of another machine stands here where it differs; its name is before it.";
        blocks.push(Block::paragraph(Tone::Dim, says));
    }
    let facts = facts.into_iter().map(|fact| vec![fact.name.clone(), fact.value.clone()]);
    blocks.push(Block::Table(fairness::text_table("facts", &["fact", "as it was read"], facts)));
    Section::new("method", "How it was measured", Depth::Full).with(blocks)
}

/// What a reader must know before the first number.
pub(super) fn warnings(findings: &Findings<'_>) -> Vec<String> {
    let run = findings.run;
    let mut warnings = Vec::new();
    if run.is_quick {
        warnings
            .push("quick: times and rounds were shrunk; good for a look, not to be quoted".into());
    }
    if let Some(changed) = findings.changed().filter(|changed| !changed.says.is_empty()) {
        let says = changed.says.join(", ");
        warnings.push(format!("not run as its file says; the command line changed it: {says}"));
    }
    warnings.extend(searches::unfinished(findings));
    let planned = findings.board.planned();
    if !findings.is_search() && findings.kept() < planned {
        let least = if findings.is_bound() { " or more" } else { "" };
        let way_out = match findings.is_race() || findings.is_load() {
            true => String::new(),
            false => {
                let Findings { id, store_option, .. } = findings;
                let places = findings.run.place_flags();
                format!("; `dyno run --resume {id}{places}{store_option}` goes on")
            }
        };
        warnings.push(format!(
            "{} of {planned}{least} trials: the run is not finished{way_out}",
            findings.kept()
        ));
    }
    warnings.extend(race::answers(findings).map(String::from));
    warnings.extend(findings.says_of_damage().map(String::from));
    warnings.extend(findings.history_says.clone());
    warnings
}

/// CPU, kernel, cores, which CPUs each side has, the limit of memory, the version of dyno.
pub(crate) fn machine(run: &RunRecord, trials: &[TrialRecord]) -> String {
    let fact = |name: &str| {
        let fact = run.facts.iter().find(|fact| fact.name == name);
        fact.map(|fact| fact.value.clone())
    };
    let condition = |name: &str| {
        let mut all = trials.iter().flat_map(|trial| &trial.conditions);
        all.find(|fact| fact.name == name).map(|fact| fact.value.clone())
    };
    let load_from = origin::load(run, trials);
    let is_here = load_from.is_none();
    let parts = [
        fact("cpu.model"),
        fact("cpu.online").map(|cpus| format!("CPUs {cpus}")),
        fact("kernel"),
        condition("cpus.subject").map(|cpus| format!("subject on CPU {cpus}")),
        condition("cpus.load").filter(|_| is_here).map(|cpus| format!("load on CPU {cpus}")),
        condition("cpus.shared").filter(|_| is_here),
        condition(lab::trial::SPIN).map(|spin| format!("dyno's polling: {spin}")),
        load_from.map(|from| format!("load from {from}")),
        condition("memory").map(|memory| format!("memory: {memory}")),
        Some(format!("dyno {}", run.dyno)),
        Some(format!("seed {}", run.seed)),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

fn ending(findings: &Findings<'_>) -> Vec<Paragraph> {
    let Findings { id, store_option, .. } = findings;
    let again = match findings.race_command().or(findings.load_command()) {
        Some(command) => command.to_string(),
        None => findings.run.again() + store_option,
    };
    // Loads that are repeated and not kept have no number.
    let is_kept = id.bytes().all(|byte| byte.is_ascii_digit());
    let mut texts = vec![match is_kept {
        false => format!("once more: `{again}`"),
        true => format!(
            "more: `dyno report {id} --full{store_option}` has all of it, `--format csv` every trial, `--format json` \
             everything · once more: `{again}`"
        ),
    }];
    let label = &findings.history.label;
    texts.extend(findings.history.about.iter().map(|about| format!("{label}: {about}")));
    texts.into_iter().map(|text| Paragraph::new(Tone::Dim, text)).collect()
}
