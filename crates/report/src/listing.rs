//! What a project has, and what is missing on this machine: subjects, services, workloads and experiments; and which
//! runs a store keeps. For readers and for programs.

use serde::Serialize;
use units::count;

use crate::grid::{Cell, lines};
use crate::grouped::grouped;
use crate::json::written;
use crate::paint::{self, Ink, Line, wrapped};

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
    paint::shown(&shown(listing, width), is_coloured)
}

/// The runs of a store, for readers.
pub fn runs_text(listing: &RunsListing, width: usize, is_coloured: bool) -> String {
    let rows: Vec<Vec<Cell>> = listing.runs.iter().map(run_cells).collect();
    let note = if rows.is_empty() { "  none" } else { "" };
    let lines = part("Runs", note, lines(&rows, 5));
    let lines: Vec<Line> = lines.into_iter().map(|line| line.cut(width)).collect();
    paint::shown(&lines, is_coloured)
}

const DYNOS_OWN: &str = "This is what is bundled with dyno, as this folder is in no project. `dyno servers init DIR` \
                         writes it out, to be changed.";

fn shown(listing: &Listing, width: usize) -> Vec<Line> {
    let mut parts = Vec::new();
    if listing.is_embedded {
        parts.push(beside("", Ink::Dim, DYNOS_OWN, width));
    }
    parts.extend(subjects(&listing.subjects, width));
    let named = |row: &NamedRow| named(row, width);
    if !listing.services.is_empty() {
        parts.push(part("Services", "", listing.services.iter().flat_map(named)));
    }
    parts.push(part("Workloads", "", listing.workloads.iter().flat_map(named)));
    parts.push(part("Experiments", "", listing.experiments.iter().flat_map(named)));
    parts.join(&Line::default()).into_iter().map(|line| line.cut(width)).collect()
}

fn named(row: &NamedRow, width: usize) -> Vec<Line> {
    let (ink, says) = match &row.error {
        Some(error) => (Ink::Bad, error),
        None => (Ink::Plain, &row.says),
    };
    beside(&format!("  {:<18} ", row.name), ink, says, width)
}

fn part(title: &str, note: &str, lines: impl IntoIterator<Item = Line>) -> Vec<Line> {
    std::iter::once(Line::ink(Ink::Bold, title).and(Ink::Dim, note)).chain(lines).collect()
}

/// A text beside a name, in as many lines as it takes.
fn beside(name: &str, ink: Ink, text: &str, width: usize) -> Vec<Line> {
    let indent = name.chars().count();
    let texts = wrapped(text, width.saturating_sub(indent).max(20)).into_iter().enumerate();
    let before = |place| if place == 0 { name.to_string() } else { " ".repeat(indent) };
    texts.map(|(place, text)| Line::plain(before(place)).and(ink, text)).collect()
}

/// By what can be done with them: those that run here come first, and what is to be built before what is to be found.
fn subjects(rows: &[SubjectRow], width: usize) -> Vec<Vec<Line>> {
    let in_state = |state: &str| rows.iter().filter(|row| row.state == state).collect::<Vec<_>>();
    let all: [(&str, &str, Shown); 4] = [
        ("built", "Servers that run here", usable),
        ("buildable", "Servers that can be built here, with `dyno servers setup NAME`", usable),
        ("missing", "Servers that lack something", lacking),
        ("broken", "Servers whose files are broken", broken),
    ];
    let of_state = |(state, title, lines): (&str, &str, Shown)| {
        let rows = in_state(state);
        let note = format!("  {}", count(rows.len() as u64));
        (!rows.is_empty()).then(|| part(title, &note, lines(&rows, width)))
    };
    let parts: Vec<Vec<Line>> = all.into_iter().filter_map(of_state).collect();
    if parts.is_empty() { vec![part("Subjects", "  none", Vec::new())] } else { parts }
}

/// How subjects of one kind are shown at a width.
type Shown = fn(&[&SubjectRow], usize) -> Vec<Line>;

/// What it speaks besides HTTP/1.1 in cleartext.
fn beyond(row: &SubjectRow) -> String {
    let short = |name: &&'static str| match *name {
        "http/1.1" => None,
        "http/1.1+tls" => Some("+tls"),
        name => Some(name),
    };
    row.protocols.iter().filter_map(short).collect::<Vec<_>>().join(" ")
}

/// Each with its language, what it speaks besides HTTP/1.1, and its version if that is known.
fn usable(rows: &[&SubjectRow], width: usize) -> Vec<Line> {
    let language = |row: &SubjectRow| row.language.clone().unwrap_or_default();
    let widest = |text: &dyn Fn(&SubjectRow) -> usize| rows.iter().map(|row| text(row)).max();
    let names = widest(&|row| row.name.chars().count()).unwrap_or(0);
    let languages = widest(&|row| language(row).chars().count()).unwrap_or(0);
    let protocols = widest(&|row| beyond(row).len()).unwrap_or(0);
    let mut lines = Vec::new();
    for row in rows {
        let mut name = format!("  {:<names$}  {:<languages$}  ", row.name, language(row));
        if 0 < protocols {
            name += &format!("{:<protocols$}  ", beyond(row));
        }
        lines.extend(beside(&name, Ink::Good, row.version.as_deref().unwrap_or_default(), width));
    }
    lines
}

/// Those that lack the same, and get it in the same way, are one entry.
fn lacking(rows: &[&SubjectRow], width: usize) -> Vec<Line> {
    let groups = grouped(rows.iter().map(|row| ((&row.missing, way_out(row, "")), *row)));
    groups.iter().flat_map(|(_, group)| lacking_alike(group, width)).collect()
}

/// Servers that lack the same things.
fn lacking_alike(group: &[&SubjectRow], width: usize) -> Vec<Line> {
    let names: Vec<&str> = group.iter().map(|row| &row.name[..]).collect();
    let lack = format!("lacks {}", group[0].missing.join(", "));
    let line = format!("  {}  ", names.join(", "));
    let mut entry = match line.chars().count() + lack.chars().count() <= width {
        true => beside(&line, Ink::Doubtful, &lack, width),
        false => {
            let names = beside("  ", Ink::Plain, line.trim(), width);
            let lack = beside("      ", Ink::Doubtful, &lack, width);
            [names, lack].concat()
        }
    };
    let way_out = way_out(group[0], &names.join(" "));
    if !way_out.is_empty() {
        entry.extend(beside("      ", Ink::Dim, &way_out, width));
    }
    entry
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

fn broken(rows: &[&SubjectRow], width: usize) -> Vec<Line> {
    let entry = |row: &&SubjectRow| {
        let mut entry = vec![Line::plain(format!("  {}", row.name))];
        entry.extend(beside("      ", Ink::Bad, row.lack.as_deref().unwrap_or_default(), width));
        entry
    };
    rows.iter().flat_map(entry).collect()
}

fn run_cells(row: &RunRow) -> Vec<Cell> {
    // If the number of rounds is determined by the data, fewer trials than planned may have been enough.
    let kept = match row.is_finished && row.kept < row.planned {
        true => format!("{} trials", count(row.kept)),
        false => format!("{} of {} trials", count(row.kept), count(row.planned)),
    };
    // An experiment's name says it already.
    let what = row.group.strip_prefix(&format!("{} of ", row.name));
    let ink = if row.is_finished { Ink::Plain } else { Ink::Doubtful };
    vec![
        Cell::plain(format!("  {}", row.id)),
        Cell::left(Ink::Plain, row.name.clone()),
        Cell::left(Ink::Dim, row.began.clone()),
        Cell::left(ink, kept),
        Cell::left(Ink::Doubtful, row.unfinished.unwrap_or_default()),
        Cell::left(Ink::Dim, if row.is_quick { "quick" } else { "" }),
        Cell::left(Ink::Plain, what.unwrap_or_default()),
    ]
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
        let lines = shown(listing, width);
        assert!(lines.iter().all(|line| line.width() <= width), "{lines:?}");
        expected.assert_eq(paint::shown(&lines, false).trim_end());
    }

    #[test]
    fn what_runs_comes_first_and_what_lacks_the_same_is_one_entry() {
        check(
            &listing(),
            80,
            &expect![[r#"
                Servers that run here  1
                  oak  JavaScript  one 1.2, and a library with a long name 3.4, on a runtime 5.6

                Servers that can be built here, with `dyno servers setup NAME`  1
                  elm  Go  +tls h2

                Servers that lack something  4
                  yew, fir  lacks erl
                      dyno servers setup yew fir --yes
                  ash  lacks erl, mix
                      dyno servers setup ash --yes; see its README
                  box  lacks erl
                      dyno servers setup box --yes; see its README

                Servers whose files are broken  1
                  bad
                      no run

                Workloads
                  hello              Hello

                Experiments"#]],
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
                  oak  JavaScript  one 1.2, and a
                                   library with a long
                                   name 3.4, on a
                                   runtime 5.6

                Servers that can be built here, with `d…
                  elm  Go  +tls h2

                Servers that lack something  1
                  ash  lacks erl, mix
                      dyno servers setup ash --yes; see
                      its README

                Workloads

                Experiments"#]],
        );
    }
}
