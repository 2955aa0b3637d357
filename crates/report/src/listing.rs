//! What a project has, and what is missing on this machine: subjects, services, workloads and experiments; and which
//! runs a store keeps. For readers and for programs.

use serde::Serialize;
use units::count;

use crate::document::{
    Block, Cell, Column, Depth, Document, Entry, Fact, Paragraph, Row, Section, Table, Tone,
};
use crate::grouped::grouped;
use crate::json::written;
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

/// The runs of a store, for readers.
pub fn runs_text(listing: &RunsListing, width: usize, is_coloured: bool) -> String {
    let columns = vec![
        Column::new("run", "run", 0).left(),
        Column::new("name", "name", 0).left(),
        Column::new("began", "began", 1).left(),
        Column::new("trials", "trials", 0).left(),
        Column::new("unfinished", "ended", 1).left().folding(),
        Column::new("times", "times", 3).left().folding(),
        Column::new("of", "of", 2).left().folding(),
    ];
    let block = match listing.runs.is_empty() {
        true => Block::paragraph(Tone::Dim, "none"),
        false => Block::Table(Table::of("runs", columns, listing.runs.iter().map(run_row))),
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

fn run_row(row: &RunRow) -> Row {
    // If the number of rounds is determined by the data, fewer trials than planned may have been enough.
    let kept = match row.is_finished && row.kept < row.planned {
        true => format!("{} trials", count(row.kept)),
        false => format!("{} of {} trials", count(row.kept), count(row.planned)),
    };
    // An experiment's name says it already.
    let what = row.group.strip_prefix(&format!("{} of ", row.name));
    let tone = if row.is_finished { Tone::Plain } else { Tone::Doubtful };
    let cells = vec![
        Cell::text(&row.id),
        Cell::text(&row.name),
        Cell::text(&row.began).toned(Tone::Dim),
        Cell::text(kept).toned(tone),
        Cell::text(row.unfinished.unwrap_or_default()).toned(Tone::Doubtful),
        Cell::text(if row.is_quick { "quick" } else { "" }).toned(Tone::Dim),
        Cell::text(what.unwrap_or_default()),
    ];
    Row { cells, ..Row::default() }
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
