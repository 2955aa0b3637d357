//! Where the CPU time of an answer goes, and what makes one server dearer than another: a table, a sentence, graphs.

use analysis::Gravity;
use analysis::why::{Differences, Explained, Explanation, LineGap, Micros, ServerCosts, UNSEEN};
use profile::{Line, Side, Target};
use units::{count, counted, digits, listed_in_short};

use super::findings::Findings;
use super::flames;
use crate::document::{Block, Cell, Column, Depth, Row, Section, Table, Tone};
use crate::grouped::distinct;
use crate::number_format::Written;

/// Lines that are less than this share of the dearest server's time, and not shown to differ, are left out of a text.
const LEAST: f64 = 0.005;
/// So many functions are named.
const FUNCTIONS: usize = 12;
/// So many system calls are named.
const CALLS: usize = 6;

/// A load of which servers were sampled.
pub(crate) struct SampledLoad<'t> {
    pub(crate) explained: &'t Explained,
    /// What it is called beside others.
    pub(crate) heading: String,
    /// What the servers of which there are samples are called.
    pub(crate) titles: Vec<&'t str>,
    /// A sentence about each server of which there are none.
    unsampled: Vec<String>,
}

/// Some of these servers beside each other, of two with their difference.
struct Costs<'t> {
    servers: Vec<&'t ServerCosts>,
    titles: Vec<&'t str>,
    difference: Option<&'t Differences>,
}

impl<'t> SampledLoad<'t> {
    pub(crate) fn of(
        explained: &'t Explained,
        heading: String,
        titles: Vec<&'t str>,
    ) -> SampledLoad<'t> {
        SampledLoad { explained, heading, titles, unsampled: Vec::new() }
    }

    fn all(&self) -> Costs<'_> {
        let Explanation { servers, difference, .. } = &self.explained.explanation;
        Costs {
            servers: servers.iter().collect(),
            titles: self.titles.clone(),
            difference: difference.as_ref(),
        }
    }

    /// Servers against the first one, where there are more than two.
    fn pairs(&self) -> impl Iterator<Item = Costs<'_>> {
        let all = &self.explained.explanation;
        all.pairs.iter().map(|pair| {
            let places =
                [&pair.first, &pair.server].into_iter().filter_map(|name| self.place(name));
            let (servers, titles) =
                places.map(|place| (&all.servers[place], self.titles[place])).unzip();
            Costs { servers, titles, difference: Some(&pair.difference) }
        })
    }

    /// Where a server stands among those of which there are samples.
    pub(crate) fn place(&self, name: &str) -> Option<usize> {
        self.explained.explanation.servers.iter().position(|server| server.server == name)
    }
}

/// All that is said of a run's samples; no section has a block where there are none.
pub(crate) fn sections(findings: &Findings<'_>) -> Vec<Section> {
    let loads = loads(findings);
    let (id, store) = (&findings.id, &findings.store_option);
    let mut pairs = pairs(&loads);
    let mut graphs = String::new();
    if findings.is_kept() {
        graphs = format!("`dyno report {id} -o svg:FOLDER/{store}` draws all servers and loads");
        let others = format!("Any other pair: `dyno compare --run {id} A B{store}`");
        pairs.extend((!pairs.is_empty()).then(|| Block::paragraph(Tone::Dim, others)));
    }
    vec![
        costs(&loads),
        Section::new("why-pairs", "Where one server takes more CPU time", Depth::Full)
            .noting("each against the first; all of them are decided together")
            .with(pairs),
        flames::section(&loads).noting(graphs),
    ]
}

/// The loads of a run of which servers were sampled.
pub(super) fn loads<'t>(findings: &'t Findings<'_>) -> Vec<SampledLoad<'t>> {
    findings.explained().iter().map(|explained| sampled_load(findings, explained)).collect()
}

fn sampled_load<'t>(findings: &'t Findings<'_>, explained: &'t Explained) -> SampledLoad<'t> {
    let unsampled = distinct(
        explained
            .unsampled
            .iter()
            .map(|(server, says)| format!("{}: no profile: {says}", findings.title(server))),
    );
    let names = explained.explanation.servers.iter().map(|server| server.server.as_str());
    let titles = names.map(|name| findings.title(name)).collect();
    let (task, point) = (findings.task(&explained.task), findings.place(explained.point));
    let heading = format!("{task} at {point}");
    SampledLoad { unsampled, ..SampledLoad::of(explained, heading, titles) }
}

/// A sentence for each load with two servers, or with one.
pub(crate) fn sentences(findings: &Findings<'_>) -> Vec<String> {
    loads(findings).iter().filter_map(sentence).collect()
}

/// What each server spends where, and of two their difference.
pub(crate) fn costs(loads: &[SampledLoad<'_>]) -> Section {
    let blocks = loads.iter().enumerate().flat_map(|(n, load)| {
        let unsampled = load.unsampled.iter();
        let unsampled = unsampled.map(|says| Block::paragraph(Tone::Doubtful, says.as_str()));
        let heading = (1 < loads.len()).then(|| Block::Heading(load.heading.clone()));
        heading.into_iter().chain(load.all().blocks(&n.to_string())).chain(unsampled)
    });
    Section::new("why", "Where the CPU time of an answer goes", Depth::Brief)
        .noting("shares of sampled trials, of the CPU time that the rounds measured")
        .with(blocks.collect::<Vec<_>>())
}

fn pairs(loads: &[SampledLoad<'_>]) -> Vec<Block> {
    let mut blocks = Vec::new();
    for (n, load) in loads.iter().enumerate() {
        for (place, costs) in load.pairs().enumerate() {
            blocks.push(Block::Heading(format!(
                "{}, {}",
                costs.titles.join(" and "),
                load.heading
            )));
            blocks.extend(costs.tables(&format!("{n}-{place}")));
        }
    }
    blocks
}

impl Costs<'_> {
    fn blocks(&self, id: &str) -> Vec<Block> {
        if self.servers.is_empty() {
            return Vec::new();
        }
        self.tables(id).into_iter().chain(self.details()).collect()
    }

    fn tables(&self, id: &str) -> Vec<Block> {
        let all = [Some(self.lines(id)), self.functions(id)];
        all.into_iter().flatten().map(Block::Table).collect()
    }

    fn lines(&self, id: &str) -> Table {
        let mut columns = vec![Column::new("line", "", 0).left()];
        columns.extend(
            self.titles.iter().enumerate().map(|(n, title)| {
                Column::new(format!("server{}", n + 1), format!("{title}, µs"), 0)
            }),
        );
        columns.extend(self.difference.map(|_| Column::new("difference", "difference, µs", 0)));
        let mut rows = vec![self.whole("an answer", |server| server.cpu, |gaps| gaps.cpu)];
        for (side, name) in [
            (Side::Program, "the program"),
            (Side::Kernel, "the kernel"),
            (Side::NotNamed, "not named"),
        ] {
            let sum_of = |sides: &analysis::why::Sides| match side {
                Side::Program => sides.program,
                Side::Kernel => sides.kernel,
                Side::NotNamed => sides.not_named,
            };
            rows.push(self.whole(name, |it| sum_of(&it.sides), |gaps| sum_of(&gaps.sides)));
            // Of what has no name there is one line.
            let lines = if side == Side::NotNamed { Vec::new() } else { self.shown(side) };
            rows.extend(lines.into_iter().map(|line| self.line_row(line)));
        }
        rows.extend(self.calls());
        let note = match self.servers.iter().any(|server| server.cpu.low_us.is_some()) {
            true => {
                "intervals of 95 %, those of differences wider, so that all lines are right together; a difference in \
                 grey is not shown"
            }
            false => "without intervals, because a single round was measured",
        };
        let note = format!("{note}. Lines below 0.5 % of the time are left out");
        Table::of(format!("why{id}"), columns, rows).noting(vec![note])
    }

    /// The lines of a side that are worth a row, the largest difference first, or the dearest.
    fn shown(&self, side: Side) -> Vec<&Line> {
        let dearest = self.servers.iter().map(|server| server.cpu.us).fold(0.0, f64::max);
        let is_large = |line: &Line| {
            self.servers.iter().any(|server| LEAST * dearest <= cost(server, line).us)
        };
        if let Some(gaps) = self.difference {
            let of_side = gaps.lines.iter().filter(|gap| gap.line.side == side);
            let shown = of_side.filter(|gap| gap.is_shown || is_large(&gap.line));
            return shown.map(|gap| &gap.line).collect();
        }
        let lines = self.servers.iter().flat_map(|server| &server.lines).map(|cost| &cost.line);
        distinct(lines.filter(|line| line.side == side && is_large(line)))
    }

    fn whole(
        &self,
        name: &str,
        of_server: impl Fn(&ServerCosts) -> Micros,
        of_gaps: impl Fn(&Differences) -> Micros,
    ) -> Row {
        let gap = |gaps: &Differences| gap_cell(of_gaps(gaps), true);
        let mut row = self.row(name.into(), |server| cell(of_server(server)), gap);
        row.cells.iter_mut().for_each(|cell| cell.tone = Tone::Strong);
        row
    }

    fn line_row(&self, line: &Line) -> Row {
        let of_server = |server: &ServerCosts| match cost(server, line) {
            Micros { us: 0.0, .. } => Cell::none(),
            micros => cell(micros),
        };
        let gap = |gaps: &Differences| {
            let found = gaps.lines.iter().find(|gap| gap.line == *line);
            found.map_or_else(Cell::none, |gap| gap_cell(gap.gap, gap.is_shown))
        };
        self.row(format!("  {}", line.name), of_server, gap)
    }

    fn row(
        &self,
        name: String,
        of_server: impl Fn(&ServerCosts) -> Cell,
        of_gaps: impl Fn(&Differences) -> Cell,
    ) -> Row {
        let servers = self.servers.iter().map(|server| of_server(server));
        let cells = [Cell::text(name)].into_iter().chain(servers);
        Row { cells: cells.chain(self.difference.map(of_gaps)).collect(), ..Row::default() }
    }

    /// The system calls of an answer, as a row of their own.
    fn calls(&self) -> Option<Row> {
        let total = |total| Cell { value: Some(total), ..Cell::text(digits(total)) };
        let of_server = |server: &ServerCosts| {
            server.calls.as_ref().map_or_else(Cell::none, |calls| total(calls.total))
        };
        let is_known = self.servers.iter().any(|server| server.calls.is_some());
        let name = "system calls an answer".into();
        is_known.then(|| self.row(name, of_server, |_| Cell::none()))
    }

    /// Functions that are shown to differ; none where there are not two servers.
    fn functions(&self, id: &str) -> Option<Table> {
        let gaps = self.difference.filter(|gaps| !gaps.functions.is_empty())?;
        let columns = vec![
            Column::new("function", "with all they call", 0).left(),
            Column::new("difference", "difference, µs", 0),
        ];
        let leading = gaps.functions.iter().filter(|gap| gap.is_leading).take(FUNCTIONS);
        let mut rows: Vec<Row> = leading.map(|gap| gap_row(&gap.name, gap.gap)).collect();
        rows.push(gap_row("what no function explains", gaps.rest));
        let note =
            "compilers move small functions into their callers, which then have their time".into();
        Some(Table::of(format!("why-functions{id}"), columns, rows).noting(vec![note]))
    }

    /// How it was sampled, and what is doubtful.
    fn details(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        for (server, title) in self.servers.iter().zip(&self.titles) {
            blocks.push(Block::paragraph(Tone::Dim, format!("{title}: {}", sampled(server))));
            for doubt in &server.doubts {
                let is_note = doubt.gravity() == Gravity::Note;
                let tone = if is_note { Tone::Dim } else { Tone::Doubtful };
                blocks.push(Block::paragraph(tone, format!("{title}: {}", doubt.says())));
            }
        }
        blocks
    }
}

/// What a line costs a server; nothing if it has none of it.
fn cost(server: &ServerCosts, line: &Line) -> Micros {
    let found = server.lines.iter().find(|cost| cost.line == *line);
    let none = Micros { us: 0.0, low_us: None, high_us: None, outside: 0.05 };
    found.map_or(none, |cost| cost.cpu)
}

fn cell(micros: Micros) -> Cell {
    let Micros { us, low_us, high_us, .. } = micros;
    let written = Written::bare(us, low_us.zip(high_us));
    Cell { interval: written.interval, value: Some(us), ..Cell::text(written.value) }
}

/// A difference with its sign; in grey if it is not shown.
fn gap_cell(micros: Micros, is_shown: bool) -> Cell {
    let cell = cell(micros);
    let sign = if 0.0 < micros.us { "+" } else { "" };
    let tone = if is_shown { Tone::Plain } else { Tone::Dim };
    Cell { text: format!("{sign}{}", cell.text), ..cell }.toned(tone)
}

fn holds_nought(micros: Micros) -> bool {
    micros.low_us.is_none_or(|low| low <= 0.0) && micros.high_us.is_none_or(|high| 0.0 <= high)
}

fn gap_row(name: &str, gap: Micros) -> Row {
    Row { cells: vec![Cell::text(name), gap_cell(gap, true)], ..Row::default() }
}

fn sampled(server: &ServerCosts) -> String {
    let mut parts = vec![format!(
        "{} in {}",
        counted(server.samples, "sample", "samples"),
        counted(server.trials as u64, "trial", "trials")
    )];
    if let Some(method) = server.method {
        let of = match method.target {
            Target::Cpus => "of its CPUs",
            Target::Threads => "of its threads",
        };
        parts.push(format!("{}/s {of}", count(method.hz.into())));
        parts.extend(method.user_only.then(|| "without the kernel's, which need root".to_string()));
    }
    parts.extend(
        server.sampled_cpu_us.map(|us| format!("{} µs an answer while it was sampled", digits(us))),
    );
    parts.extend(
        server.waited_for_cpu_us.map(|us| format!("{} µs of waiting for a CPU", digits(us))),
    );
    parts.push(match (&server.calls, &server.calls_unknown) {
        (Some(calls), _) => {
            let named = calls.by_name.iter().take(CALLS);
            let named = named.map(|call| format!("{} {}", call.name, digits(call.per_answer)));
            format!("system calls an answer: {}", named.collect::<Vec<_>>().join(", "))
        }
        (None, Some(why)) => format!("system calls were not counted: {why}"),
        (None, None) => "system calls were not counted".into(),
    });
    parts.join(" · ")
}

/// What makes the second of two servers dearer; or where the time of the only one goes.
pub(crate) fn sentence(load: &SampledLoad<'_>) -> Option<String> {
    let Explanation { servers, difference: found, .. } = &load.explained.explanation;
    match (found, load.titles.as_slice()) {
        (Some(gaps), [a, b]) => {
            if gaps.cpu.low_us.is_none() {
                return Some(format!(
                    "A single round does not show whether the CPU time of an answer differs between {a} and {b}."
                ));
            }
            if holds_nought(gaps.cpu) {
                return Some(format!(
                    "The CPU time of an answer is not shown to differ between {a} and {b}."
                ));
            }
            let (dearer, other, is_more) =
                if 0.0 < gaps.cpu.us { (b, a, true) } else { (a, b, false) };
            let by = difference(gaps.cpu, is_more);
            let leading = gaps.leading_lines();
            let parts: Vec<String> = leading.iter().map(|gap| part(gap, is_more)).collect();
            let of = match parts.is_empty() {
                true => "no line is shown to differ".to_string(),
                false => all_of(&parts),
            };
            Some(format!(
                "An answer of {dearer} costs {by} more CPU time than one of {other}: {of}."
            ))
        }
        (None, [title]) => {
            let server = servers.first()?;
            let leading = server.leading_lines().into_iter().enumerate();
            let parts: Vec<String> = leading
                .map(|(place, cost)| {
                    let are = if place == 0 { " are" } else { "" };
                    format!("{} µs{are} in {}", digits(cost.cpu.us), named(&cost.line))
                })
                .collect();
            let all = digits(server.cpu.us);
            let parts = all_of(&parts);
            Some(format!("Of the {all} µs of CPU time of an answer of {title}, {parts}."))
        }
        _ => None,
    }
}

/// `65 µs [44–85]`.
fn difference(gap: Micros, is_more: bool) -> String {
    let sign = if is_more { 1.0 } else { -1.0 };
    let ends = gap.low_us.zip(gap.high_us);
    let ends = ends.map(|(low, high)| if is_more { (low, high) } else { (-high, -low) });
    let written = Written::bare(sign * gap.us, ends);
    let interval = written.interval.map_or(String::new(), |interval| format!(" {interval}"));
    format!("{} µs{interval}", written.value)
}

/// `30 µs in garbage collection`; what is less than the other's is said to be.
fn part(gap: &LineGap, is_more: bool) -> String {
    let us = if is_more { gap.gap.us } else { -gap.gap.us };
    let less = if us < 0.0 { " less" } else { "" };
    format!("{} µs{less} in {}", digits(us.abs()), named(&gap.line))
}

/// A line as the object of a sentence.
fn named(line: &Line) -> String {
    match (line.side, line.name.as_str()) {
        (Side::Program, name) => name.into(),
        (Side::Kernel, UNSEEN) => "the kernel".into(),
        (Side::Kernel, name) => format!("the kernel ({name})"),
        (Side::NotNamed, _) => "code without a name".into(),
    }
}

fn all_of(parts: &[String]) -> String {
    match parts {
        [first @ .., last] if 3 < parts.len() => format!("{} and {last}", first.join(", ")),
        _ => listed_in_short(parts),
    }
}
