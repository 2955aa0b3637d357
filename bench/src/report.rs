//! The whole benchmark: prepare, measure section by section, print, sum up.

use crate::args::BenchArgs;
use crate::install;
use crate::machine;
use crate::readme;
use crate::rig::Rig;
use crate::sections::{self, Section};
use crate::table::Table;
use anyhow::{Result, bail};
use std::fs;

/// Measures and prints. A missed target is reported, not punished: this is a report.
pub(crate) fn main(args: &BenchArgs) -> Result<()> {
    let letters: Vec<&str> = sections::ALL.iter().map(|section| section.letter).collect();
    if let Some(unknown) = args.only.iter().find(|letter| !letters.contains(&letter.as_str())) {
        bail!("--only {unknown}: there is no such section; there are {}", letters.join(", "));
    }
    let rig = Rig::new(args)?;
    if args.install {
        install::all(&rig);
    }
    let facts = machine::facts(&rig);
    for fact in &facts {
        println!("{fact}");
    }
    let mut done = Vec::new();
    for section in sections::ALL {
        if args.only.is_empty() || args.only.iter().any(|letter| letter == section.letter) {
            eprintln!("\n{}. {}", section.letter, section.title);
            let measured = (section.measure)(&rig);
            print_section(&measured);
            done.push((section.title, measured));
        }
    }
    println!("{}", summary(&done).text());
    if let Some(path) = &args.markdown {
        let kept = fs::read_to_string(path).ok().filter(|_| !args.only.is_empty());
        let page = kept.map(|page| replaced(&page, &done));
        fs::write(path, page.unwrap_or_else(|| markdown(&facts, &done)))?;
    }
    if let Some(path) = args.readme.as_ref().filter(|_| !args.quick) {
        let tables: Vec<&Table> = done.iter().flat_map(|(_, section)| &section.tables).collect();
        let page = fs::read_to_string(path)?;
        fs::write(path, readme::with_figures(&page, &tables, &readme::build(&rig.dyno)?)?)?;
    }
    Ok(())
}

fn print_section(section: &Section) {
    for table in &section.tables {
        print!("{}", table.text());
    }
}

fn summary(done: &[(&str, Section)]) -> Table {
    targets(done.iter().map(|(_, section)| section))
}

fn targets<'a>(sections: impl Iterator<Item = &'a Section>) -> Table {
    let mut table = Table::new("Targets", &["what", "target", "measured", "verdict"]);
    for verdict in sections.flat_map(|section| &section.verdicts) {
        let word = match verdict.met {
            Some(true) => "PASS",
            Some(false) => "short",
            None => "not measured",
        };
        let cells = [&verdict.what, &verdict.target, &verdict.measured].map(Clone::clone);
        table.rows.push(cells.into_iter().chain([word.to_owned()]).collect());
    }
    let count = |met| table.rows.iter().filter(|row| row[3] == met).count();
    let (met, short, unknown) = (count("PASS"), count("short"), count("not measured"));
    table.notes.push(format!("{met} met, {short} short, {unknown} not measured"));
    table
}

fn markdown(facts: &[String], done: &[(&str, Section)]) -> String {
    let mut page = include_str!("../assets/page.md").to_owned();
    page += "\n## The machine\n\n";
    facts.iter().for_each(|fact| page += &format!("- {fact}\n"));
    page += &summary(done).markdown().replacen("###", "##", 1);
    for (title, section) in done {
        page += &format!("\n## {title}\n");
        section.tables.iter().for_each(|table| page += &table.markdown());
    }
    page
}

/// A page with these sections in place of those that it has, or at its end, each with its own targets.
fn replaced(page: &str, done: &[(&str, Section)]) -> String {
    let mut page = page.to_owned();
    for (title, section) in done {
        let begins = page.find(&format!("\n## {title}\n")).map_or(page.len(), |at| at + 1);
        let length = page[begins..].find("\n## ").map_or(page.len() - begins, |next| next + 1);
        let mut text = format!("## {title}\n");
        if !section.verdicts.is_empty() {
            text += &targets([section].into_iter()).markdown();
        }
        section.tables.iter().for_each(|table| text += &table.markdown());
        let is_last = begins + length == page.len();
        let before = if length == 0 { "\n" } else { "" };
        let behind = if is_last { "" } else { "\n" };
        page.replace_range(begins..begins + length, &[before, &text, behind].concat());
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sections::Verdict;

    /// `make bench` writes this page: it must not bring back an older text.
    #[test]
    fn the_page_that_is_kept_begins_and_is_divided_as_it_would_be_written() {
        let kept = include_str!("../../results/bench.md");
        assert!(kept.starts_with(include_str!("../assets/page.md").trim_end()));
        for section in crate::sections::ALL {
            assert!(kept.contains(&format!("\n## {}\n", section.title)), "{}", section.title);
        }
    }

    #[test]
    fn a_section_that_was_measured_alone_takes_its_own_place_in_a_page() {
        let page = "# A page\n\n## One\n\nold\n\n## Two\n\nkept\n";
        let section = |cell: &str| {
            let mut table = Table::new("T", &["a"]);
            table.rows.push(vec![cell.to_owned()]);
            Section { tables: vec![table], verdicts: vec![] }
        };
        let first = replaced(page, &[("One", section("new"))]);
        assert!(first.starts_with("# A page\n\n## One\n\n### T\n"), "{first}");
        assert!(
            first.ends_with("| new |\n\n\n## Two\n\nkept\n") && !first.contains("old"),
            "{first}"
        );
        let last = replaced(page, &[("Two", section("new"))]);
        assert!(last.contains("old") && last.ends_with("| new |\n\n"), "{last}");
        let more = replaced(page, &[("Three", section("new"))]);
        assert!(more.starts_with(&format!("{page}\n## Three\n\n### T\n")), "{more}");
    }

    #[test]
    fn the_summary_tells_short_from_not_measured() {
        let verdict = |met| Verdict {
            what: "CPU".into(),
            target: "≤ 0.90 × wrk".into(),
            measured: "0.95".into(),
            met,
        };
        let section = Section {
            tables: vec![],
            verdicts: [Some(true), Some(false), None].map(verdict).into(),
        };
        let text = summary(&[("Closed loop", section)]).text();
        assert!(text.contains("1 met, 1 short, 1 not measured"), "{text}");
    }
}
