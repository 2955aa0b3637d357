//! A check as a document: first the sums and what to begin with; then what is broken, with its bytes; then what is
//! doubtful, and what cannot be said.

use units::{counted, duration};

use crate::document::{
    Block, Cell, Column, Depth, Document, Entry, Paragraph, Row, Section, Table, Tone,
};
use crate::grouped::grouped;
use check::{Area, CaseVerdict, Finding, Likeness, Report, Target, VerdictCounts, likeness, stamp};

use super::excerpt::{Cut, exchange};
use super::repeat::command;
use super::{CheckResult, CheckedServer};
use crate::conformance::{entry, rounds};

/// How much of it is shown.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Whether every case is shown with all of its exchange.
    pub is_verbose: bool,
    /// Whether only a part of the catalogue was run.
    pub is_part: bool,
}

pub fn document(checked: &CheckedServer, style: Style) -> Document {
    let names = [checked.name.as_str(), &checked.title, checked.version()].into_iter();
    let names: Vec<&str> = names.filter(|text| !text.is_empty()).collect();
    let title = names.join(" · ");
    match &checked.result {
        Err(why) => {
            Document { title, notes: vec![Paragraph::new(Tone::Bad, why)], ..Document::default() }
        }
        Ok(result) => Document {
            title,
            conditions: vec![asked(result)],
            notes: cut_short(result).into_iter().collect(),
            sections: sections(result, style),
            ..Document::default()
        },
    }
}

fn cut_short(result: &CheckResult) -> Option<Paragraph> {
    let why = result.report.cut_short.as_str();
    let says = format!("cut short: {why}; what was not asked is not testable");
    (!why.is_empty()).then(|| Paragraph::new(Tone::Doubtful, says))
}

fn sections(result: &CheckResult, style: Style) -> Vec<Section> {
    let section = |id: &'static str, heading: String, blocks: Vec<Block>| {
        Section::new(id, heading, Depth::Brief).with(blocks)
    };
    let in_full =
        |findings: &[&Finding]| entries(findings, |finding| whole(finding, &result.target, style));
    let warnings = result.with(&[CaseVerdict::Warn]);
    let unstable: Vec<&Finding> =
        result.report.findings.iter().filter(|finding| finding.is_unstable()).collect();
    let doubt = |finding: &Finding| {
        let doubt = if finding.doubt.is_empty() { "" } else { "; " };
        line(finding, &format!("{}{doubt}{}", finding.why, finding.doubt))
    };
    let mut sections = vec![
        section("sums", String::new(), [begin_with(result), sums(result, style)].concat()),
        section("areas", String::new(), vec![areas(&result.report)]),
        section(
            "broken",
            String::new(),
            in_full(&result.with(&[CaseVerdict::Crash, CaseVerdict::Fail])),
        ),
        section("warnings", format!("Warnings ({})", warnings.len()), entries(&warnings, doubt)),
        section(
            "unstable",
            format!("Unstable: the worst of the rounds counts ({})", unstable.len()),
            entries(&unstable, |finding| line(finding, &rounds(finding))),
        ),
        reasons("Not testable", result, CaseVerdict::NotTestable, style),
        reasons("Not applicable, and not counted", result, CaseVerdict::NotApplicable, style),
    ];
    if style.is_verbose {
        let rest = [CaseVerdict::Pass, CaseVerdict::Warn, CaseVerdict::NotTestable];
        let rest: Vec<&Finding> =
            result.report.findings.iter().filter(|it| rest.contains(&it.verdict)).collect();
        sections.push(section("cases", String::new(), in_full(&rest)));
    }
    sections
}

/// How many failures are named to begin with.
const FIRST: usize = 3;

/// What matters most: the gravest failures, and whether they are the library's.
fn begin_with(result: &CheckResult) -> Vec<Block> {
    let broken = result.with(&[CaseVerdict::Crash, CaseVerdict::Fail]);
    if broken.is_empty() {
        return Vec::new();
    }
    let first: Vec<String> = broken.iter().take(FIRST).map(|finding| titled(finding)).collect();
    let all = counted(broken.len() as u64, "case failed", "cases failed");
    let begin = format!("{all}. Begin with {}.", first.join(", "));
    let likeness = likeness(&result.report.findings).map(|found| alike(&found, broken.len()));
    let paragraphs =
        std::iter::once((Tone::Strong, begin)).chain(likeness.map(|it| (Tone::Plain, it)));
    paragraphs.map(|(tone, text)| Block::paragraph(tone, text)).collect()
}

/// A case with its title, and why it matters.
fn titled(finding: &Finding) -> String {
    let tags = finding.tags.iter().map(|tag| tag.name());
    let why: Vec<&str> = std::iter::once(finding.level.name()).chain(tags).collect();
    format!("{} ({}; {})", finding.id, finding.title, why.join(", "))
}

/// Whose failures they are, of so many.
fn alike(found: &Likeness, all: usize) -> String {
    let libraries = found.libraries.join(" and of ");
    let mut says = format!(
        "{} of them are known of {libraries} (results/conformance.md): if your server is built on it, they are the \
         library's and not your program's.",
        found.shared.len()
    );
    if !found.own.is_empty() {
        let own = found.own.join(" ");
        says.push_str(&format!(" {own}: not among the library's; look for it in your program."));
    }
    match all - found.shared.len() - found.own.len() {
        0 => says,
        more => format!("{says} Of {more} more it is not known whose they are."),
    }
}

fn entries(findings: &[&Finding], one: impl Fn(&Finding) -> Entry) -> Vec<Block> {
    vec![Block::Entries(findings.iter().map(|finding| one(finding)).collect())]
}

fn line(finding: &Finding, says: &str) -> Entry {
    Entry {
        head: format!("{}  {}: {says}", finding.id, finding.title),
        lines: Vec::new(),
        ..entry(finding)
    }
}

/// A finding with everything that is known about it.
fn whole(finding: &Finding, to: &Target, style: Style) -> Entry {
    let cut = if style.is_verbose { Cut::WHOLE } else { Cut::SHORT };
    let entry = Entry { quoted: exchange(finding, cut), ..entry(finding) };
    match command(finding, to) {
        Ok(line) => Entry { command: line, ..entry },
        Err(why) => {
            entry.with(Tone::Dim, format!("repeat    printf and nc do not repeat it: {why}"))
        }
    }
}

/// Cases with the same reason are listed together.
fn reasons(title: &str, result: &CheckResult, verdict: CaseVerdict, style: Style) -> Section {
    let found = result.report.findings.iter().filter(|finding| finding.verdict == verdict);
    let reasons = grouped(found.map(|finding| (&finding.why[..], &finding.id[..])));
    let all: usize = reasons.iter().map(|(_, ids)| ids.len()).sum();
    let paragraph = |(why, ids): &(&str, Vec<&str>)| {
        Block::paragraph(Tone::Plain, format!("{}: {why}", named(ids, style)))
    };
    Section::new("reasons", format!("{title} ({all})"), Depth::Brief)
        .with(reasons.iter().map(paragraph))
}

/// All of them, or as many as are readable.
fn named(ids: &[&str], style: Style) -> String {
    const SHOWN: usize = 10;
    match ids.len() > SHOWN + 2 && !style.is_verbose {
        true => format!("{} and {} more", ids[..SHOWN].join(" "), ids.len() - SHOWN),
        false => ids.join(" "),
    }
}

fn table(key: &str, columns: Vec<Column>, rows: Vec<Row>) -> Block {
    Block::Table(Table::of(key, columns, rows))
}

fn areas(report: &Report) -> Block {
    let heads = ["pass", "warn", "fail", "crash", "not testable", "n/a"];
    let mut columns = vec![Column::new("area", "area", 0).left()];
    columns.extend(heads.map(|head| Column::new(head, head, 0)));
    let row_of_area = |area: &Area| {
        let tally =
            VerdictCounts::of(report.findings.iter().filter(|finding| finding.area == *area));
        (0 < tally.applicable() + tally.not_applicable).then(|| area_row(area.name(), &tally))
    };
    table("areas", columns, Area::ALL.iter().filter_map(row_of_area).collect())
}

fn area_row(name: &str, tally: &VerdictCounts) -> Row {
    let counts = [
        (Tone::Good, tally.pass),
        (Tone::Doubtful, tally.warn),
        (Tone::Bad, tally.fail),
        (Tone::Bad, tally.crash),
        (Tone::Plain, tally.not_testable),
        (Tone::Dim, tally.not_applicable),
    ];
    let counts = counts.map(|(tone, count)| match count {
        0 => Cell::text("·").toned(Tone::Dim),
        count => Cell::number(count).toned(tone),
    });
    Row { cells: std::iter::once(Cell::text(name)).chain(counts).collect(), ..Row::default() }
}

fn sums(result: &CheckResult, style: Style) -> Vec<Block> {
    let mut blocks = Vec::new();
    for (protocol, tally) in result.tallies() {
        let title = protocol.name();
        if tally.applicable() == 0 {
            let why = result.of(protocol).next().map_or("", |finding| finding.why.as_str());
            blocks.push(Block::paragraph(Tone::Dim, format!("{title} not applicable: {why}")));
            continue;
        }
        let sum = format!("{title} {tally} | catalogue {}", result.report.catalogue);
        blocks.push(Block::paragraph(tone_of(&tally), sum));
        blocks.push(Block::paragraph(Tone::Dim, notes(&tally, style.is_part)));
    }
    blocks
}

fn tone_of(tally: &VerdictCounts) -> Tone {
    if tally.crash + tally.must_broken + tally.security.len() > 0 {
        Tone::Bad
    } else if tally.fail + tally.warn > 0 {
        Tone::Doubtful
    } else {
        Tone::Good
    }
}

/// All servers, a row for each and for each protocol.
pub(super) fn summary(checked: &[CheckedServer], is_part: bool) -> Document {
    let columns = vec![
        Column::new("server", "server", 0).left(),
        Column::new("version", "version", 5).left().folding(),
        Column::new("protocol", "protocol", 0).left(),
        Column::new("pass", "pass", 1),
        Column::new("warn", "warn", 1),
        Column::new("fail", "fail", 1),
        Column::new("not_testable", "not testable", 3),
        Column::new("of", "of", 1),
        Column::new("must_broken", "MUST broken", 1),
        Column::new("security", "security", 2).left(),
        Column::new("score", "score", 4).left(),
    ];
    let rows = checked.iter().flat_map(|one| match &one.result {
        Err(why) => {
            let why = Cell::text(format!("not checked: {why}")).toned(Tone::Bad);
            vec![Row { cells: vec![Cell::text(&one.name), Cell::none(), why], ..Row::default() }]
        }
        Ok(result) => {
            let tallies = result.tallies().into_iter();
            tallies.map(|(protocol, tally)| sum_row(one, result, protocol, &tally)).collect()
        }
    });
    let table = table("checks", columns, rows.collect());
    let part = if is_part { "; only a part of it was asked: no score of any server" } else { "" };
    let by =
        format!("Catalogue {}; scores of different catalogues are not comparable{part}.", stamp());
    let section = Section::new("checks", "", Depth::Brief);
    Document {
        title: "Conformance".into(),
        sections: vec![section.with([table, Block::paragraph(Tone::Dim, by)])],
        ..Document::default()
    }
}

fn sum_row(
    checked: &CheckedServer,
    result: &CheckResult,
    protocol: check::Protocol,
    tally: &VerdictCounts,
) -> Row {
    let mut cells =
        vec![Cell::text(&checked.name), Cell::text(&result.version), Cell::text(protocol.name())];
    if tally.applicable() == 0 {
        let why = result.of(protocol).next().map_or("", |finding| finding.why.as_str());
        cells.extend([Cell::none(), Cell::none(), Cell::none(), Cell::none(), Cell::text("0")]);
        cells.extend([Cell::none(), Cell::none()]);
        cells.push(Cell::text(format!("not applicable: {why}")).toned(Tone::Dim));
        return Row { cells, ..Row::default() };
    }
    let crash = if tally.crash > 0 { format!(" + {} crash", tally.crash) } else { String::new() };
    let security = match tally.security.is_empty() {
        true => Cell::none(),
        false => {
            let cases = format!("{}: {}", tally.security.len(), tally.security.join(" "));
            Cell::text(cases).toned(Tone::Bad)
        }
    };
    cells.extend([
        Cell::number(tally.pass),
        Cell::number(tally.warn),
        Cell { text: format!("{}{crash}", tally.fail), ..Cell::number(tally.fail) },
        Cell::number(tally.not_testable),
        Cell::number(tally.applicable()),
        Cell::number(tally.must_broken),
        security,
        Cell::text(tally.score()),
    ]);
    Row { cells, ..Row::default() }
}

/// Which server, where, how often.
fn asked(result: &CheckResult) -> String {
    let target = &result.target;
    let mut parts = vec![format!("at {}", target.address)];
    if !result.is_socket {
        let spoken = if target.is_http2 { "HTTP/2, " } else { "" };
        parts.push(format!("{spoken}page {}", target.get));
        if !target.posts.is_empty() {
            parts.push(format!("POST {}", target.posts.join(" or ")));
        }
    }
    parts.extend(target.socket.as_ref().map(|path| format!("WebSocket {path}")));
    let report = &result.report;
    let times =
        if report.rounds == 1 { "1 round".into() } else { format!("{} rounds", report.rounds) };
    let took = duration(std::time::Duration::from_millis(report.took_ms.max(1)));
    parts.push(format!("{times} in {took}"));
    parts.join(", ")
}

/// Notes that the sum needs.
fn notes(tally: &VerdictCounts, is_part: bool) -> String {
    let mut notes = vec![tally.score()];
    if tally.not_applicable > 0 {
        notes.push(format!("{} more are not applicable", tally.not_applicable));
    }
    if tally.unstable > 0 {
        notes.push(format!("{} unstable", tally.unstable));
    }
    if is_part {
        notes.push("only a part of the catalogue was asked: no score of the server".into());
    }
    notes.join("; ")
}
