//! What a project has, and what is missing on this machine: subjects, services, workloads and experiments; and which
//! runs a store keeps. For readers and for programs.

use std::mem;

use serde::Serialize;
use units::count;

use crate::document::{
    Block, Cell, Column, Depth, Document, Entry, Fact, Paragraph, Row, Section, Table, Tone,
};
use crate::grouped::grouped;
use crate::json::written;
use crate::paint::Line;
use crate::render::{self, Screen};

#[derive(Serialize)]
pub struct Listing {
    pub format: &'static str,
    /// The folder of all that follows.
    pub project: String,
    /// Whether that is the tree that dyno carries, because no project is here.
    pub is_embedded: bool,
    pub subjects: Vec<SubjectRow>,
    /// What workloads need beside a server.
    pub services: Vec<NamedRow>,
    pub workloads: Vec<NamedRow>,
    pub experiments: Vec<NamedRow>,
}

/// The runs of a store.
#[derive(Serialize)]
pub struct RunsListing {
    pub format: &'static str,
    /// The store's file.
    pub store: String,
    pub runs: Vec<RunRow>,
}

#[derive(Serialize)]
pub struct SubjectRow {
    pub name: String,
    pub title: Option<String>,
    pub language: Option<String>,
    /// What it speaks, by the names of its manifest.
    pub protocols: Vec<&'static str>,
    /// `built`, `buildable`, `missing` or `broken`
    pub state: &'static str,
    pub version: Option<String>,
    pub lack: Option<String>,
    pub missing: Vec<String>,
    pub next_command: Option<String>,
    pub advice: Option<String>,
}

#[derive(Serialize)]
pub struct RunRow {
    pub id: String,
    pub name: String,
    /// What it is a repetition of: of a load its request, of a race its sides.
    pub group: String,
    /// In UTC.
    pub began: String,
    pub is_quick: bool,
    pub planned: u64,
    pub kept: u64,
    pub is_finished: bool,
    /// How it ended, unless it is done; or that it is damaged.
    pub unfinished: Option<&'static str>,
}

#[derive(Serialize)]
pub struct NamedRow {
    pub name: String,
    pub says: String,
    pub error: Option<String>,
}

/// For programs.
pub fn json(listing: &impl Serialize) -> serde_json::Result<String> {
    written(listing)
}

/// For readers.
pub fn text(listing: &Listing, width: usize, is_coloured: bool) -> String {
    render::text(&document(listing), Screen { is_coloured, ..Screen::file(width) })
}

/// The runs of a store, for readers. What a run is of is cut where the line ends.
pub fn runs_text(listing: &RunsListing, width: usize, is_coloured: bool) -> String {
    let mut rows: Vec<[String; 5]> = listing.runs.iter().map(run_cells).collect();
    let widest = |place: usize| rows.iter().map(|cells| cells[place].chars().count()).max();
    let taken: usize = (0..4).filter_map(widest).map(|letters| letters + 2).sum();
    let room = width.saturating_sub(taken).max(20);
    for [.., of] in &mut rows {
        *of = Line::plain(mem::take(of)).cut(room).shown(false);
    }
    let shown = if rows.iter().all(|[.., of]| of.is_empty()) { 4 } else { 5 };
    let headings = ["run", "name", "began", "trials", "of"].into_iter().take(shown);
    let columns = headings.map(|heading| Column::new(heading, heading, 0).left()).collect();
    let tones = listing.runs.iter().map(|run| match run.is_finished {
        true => Tone::Plain,
        false => Tone::Doubtful,
    });
    let rows = rows.iter().zip(tones).map(|(cells, tone)| {
        let tones = [Tone::Plain, Tone::Plain, Tone::Dim, tone, Tone::Plain];
        let cells = cells.iter().zip(tones).map(|(text, tone)| Cell::text(text).toned(tone));
        Row { cells: cells.take(shown).collect(), ..Row::default() }
    });
    let block = match listing.runs.is_empty() {
        true => Block::paragraph(Tone::Dim, "none"),
        false => Block::Table(Table::of("runs", columns, rows)),
    };
    let document = Document {
        sections: vec![Section::new("runs", "Runs", Depth::Brief).with([block])],
        ..Document::default()
    };
    render::text(&document, Screen { is_coloured, ..Screen::file(width) })
}

const DYNOS_OWN: &str = "This is what is bundled with dyno, as this folder is in no project. `dyno servers init DIR` \
                         writes it out, to be changed.";

fn document(listing: &Listing) -> Document {
    let named = [
        ("Services", &listing.services),
        ("Workloads", &listing.workloads),
        ("Experiments", &listing.experiments),
    ];
    let named = named.map(|(heading, rows)| {
        let facts = rows.iter().map(fact).collect();
        Section::new("named", heading, Depth::Brief).with([Block::Facts(facts)])
    });
    let own = listing.is_embedded.then(|| Paragraph::new(Tone::Dim, DYNOS_OWN));
    Document {
        notes: own.into_iter().collect(),
        sections: servers(&listing.subjects).into_iter().chain(named).collect(),
        ..Document::default()
    }
}

fn fact(row: &NamedRow) -> Fact {
    match &row.error {
        Some(error) => Fact { tone: Tone::Bad, ..Fact::new(&row.name, error) },
        None => Fact::new(&row.name, &row.says),
    }
}

/// By what can be done with them: those that run here come first, and what is to be built before what is to be found.
fn servers(rows: &[SubjectRow]) -> Vec<Section> {
    let all = [
        ("built", "Servers that run here"),
        ("buildable", "Servers that can be built here, with `dyno servers setup NAME`"),
        ("missing", "Servers that lack something"),
        ("broken", "Servers whose files are broken"),
    ];
    let sections = all.into_iter().map(|(state, heading)| {
        let own: Vec<&SubjectRow> = rows.iter().filter(|row| row.state == state).collect();
        let section = Section::new(state, heading, Depth::Brief).noting(count(own.len() as u64));
        section.with((!own.is_empty()).then(|| match state {
            "missing" => lacking(&own),
            "broken" => broken(&own),
            _ => usable(&own),
        }))
    });
    sections.collect()
}

/// Each with its language, what it speaks besides HTTP/1.1 in cleartext, and its version if that is known.
fn usable(rows: &[&SubjectRow]) -> Block {
    let short = |name: &&'static str| match *name {
        "http/1.1" => None,
        "http/1.1+tls" => Some("+tls"),
        name => Some(name),
    };
    let facts = rows.iter().map(|row| {
        let protocols = row.protocols.iter().filter_map(short).collect::<Vec<_>>().join(" ");
        let parts = [row.language.clone(), Some(protocols), row.version.clone()];
        let parts = parts.into_iter().flatten().filter(|part| !part.is_empty());
        Fact::new(&row.name, parts.collect::<Vec<_>>().join(" · "))
    });
    Block::Facts(facts.collect())
}

/// Those that lack the same, and get it in the same way, are one entry.
fn lacking(rows: &[&SubjectRow]) -> Block {
    let groups = grouped(rows.iter().map(|row| ((&row.missing, way_out(row, "")), *row)));
    let entries = groups.iter().map(|((missing, _), group)| {
        let names: Vec<&str> = group.iter().map(|row| &row.name[..]).collect();
        Entry::new(Tone::Plain, names.join(", "))
            .with(Tone::Doubtful, format!("lacks {}", missing.join(", ")))
            .with(Tone::Dim, way_out(group[0], &names.join(" ")))
    });
    Block::Entries(entries.collect())
}

/// How to get what a subject lacks; a command is for all subjects of these names.
fn way_out(row: &SubjectRow, names: &str) -> String {
    let of_one = format!("dyno servers setup {} --yes", row.name);
    let command = row.next_command.as_ref().map(|command| match *command == of_one {
        true => format!("dyno servers setup {names} --yes"),
        false => command.clone(),
    });
    command.into_iter().chain(row.advice.clone()).collect::<Vec<_>>().join("; ")
}

fn broken(rows: &[&SubjectRow]) -> Block {
    let entry = |row: &&SubjectRow| {
        Entry::new(Tone::Plain, &row.name).with(Tone::Bad, row.lack.clone().unwrap_or_default())
    };
    Block::Entries(rows.iter().map(entry).collect())
}

/// The number of a run, its name, when it began, how many trials it has, and what it is of.
fn run_cells(row: &RunRow) -> [String; 5] {
    // If the number of rounds is determined by the data, fewer trials than planned may have been enough.
    let mut trials = match row.is_finished && row.kept < row.planned {
        true => format!("{} trials", count(row.kept)),
        false => format!("{} of {} trials", count(row.kept), count(row.planned)),
    };
    for more in row.is_quick.then_some("quick").into_iter().chain(row.unfinished) {
        trials += &format!(", {more}");
    }
    // An experiment's name says it already.
    let of = row.group.strip_prefix(&format!("{} of ", row.name)).unwrap_or_default();
    [row.id.clone(), row.name.clone(), row.began.clone(), trials, of.into()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn row(name: &str, language: &str, state: &'static str) -> SubjectRow {
        SubjectRow {
            name: name.into(),
            title: None,
            language: Some(language.into()),
            protocols: vec!["http/1.1"],
            state,
            version: None,
            lack: None,
            missing: Vec::new(),
            next_command: None,
            advice: None,
        }
    }

    fn missing(name: &str, needs: &[&str], advice: Option<&str>) -> SubjectRow {
        SubjectRow {
            missing: needs.iter().map(ToString::to_string).collect(),
            next_command: Some(format!("dyno servers setup {name} --yes")),
            advice: advice.map(String::from),
            ..row(name, "Erlang", "missing")
        }
    }

    fn listing() -> Listing {
        let version = Some("one 1.2, and a library with a long name 3.4, on a runtime 5.6".into());
        let oak = SubjectRow { version, ..row("oak", "JavaScript", "built") };
        let elm = row("elm", "Go", "buildable");
        let elm = SubjectRow { protocols: vec!["http/1.1", "http/1.1+tls", "h2"], ..elm };
        let bad = SubjectRow { lack: Some("no run".into()), ..row("bad", "C", "broken") };
        Listing {
            format: "dyno.list/1",
            project: "/a/project".into(),
            is_embedded: false,
            subjects: vec![
                missing("yew", &["erl"], None),
                oak,
                missing("ash", &["erl", "mix"], Some("see its README")),
                elm,
                bad,
                missing("fir", &["erl"], None),
                missing("box", &["erl"], Some("see its README")),
            ],
            services: Vec::new(),
            workloads: vec![NamedRow { name: "hello".into(), says: "Hello".into(), error: None }],
            experiments: Vec::new(),
        }
    }

    fn check(listing: &Listing, width: usize, expected: &Expect) {
        let text = text(listing, width, false);
        assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
        expected.assert_eq(text.trim_end());
    }

    #[test]
    fn what_runs_comes_first_and_what_lacks_the_same_is_one_entry() {
        check(
            &listing(),
            80,
            &expect![[r#"
                Servers that run here  1
                oak  JavaScript · one 1.2, and a library with a long name 3.4, on a runtime 5.6

                Servers that can be built here, with `dyno servers setup NAME`  1
                elm  Go · +tls h2

                Servers that lack something  4
                yew, fir
                  lacks erl
                  dyno servers setup yew fir --yes
                ash
                  lacks erl, mix
                  dyno servers setup ash --yes; see its README
                box
                  lacks erl
                  dyno servers setup box --yes; see its README

                Servers whose files are broken  1
                bad
                  no run

                Workloads
                hello  Hello"#]],
        );
    }

    #[test]
    fn a_narrow_list_wraps_its_texts() {
        let mut listing = listing();
        listing.subjects.retain(|row| ["oak", "elm", "ash"].contains(&&row.name[..]));
        listing.workloads.clear();
        check(
            &listing,
            40,
            &expect![[r#"
                Servers that run here  1
                oak  JavaScript · one 1.2, and a library
                     with a long name 3.4, on a runtime
                     5.6

                Servers that can be built here, with `d…
                elm  Go · +tls h2

                Servers that lack something  1
                ash
                  lacks erl, mix
                  dyno servers setup ash --yes; see its
                  README"#]],
        );
    }
}
