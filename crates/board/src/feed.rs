//! The Atom feed (RFC 4287): an entry for each round, and for each run in which a change is shown.

use std::collections::BTreeMap;

use report::markup::{Markup, markup};

use crate::changes::{Change, sentence};
use crate::folder::Known;
use crate::pages::rounds::{address, answer};
use crate::pages::{File, runs};
use crate::slug::hash;

/// A feed has no more entries.
const ENTRIES: usize = 60;

struct Entry {
    /// `2026-11-29`.
    date: String,
    title: String,
    address: String,
    says: String,
}

pub(crate) fn feed(known: &Known, changes: &[Change<'_>]) -> File {
    let settings = &known.written.settings;
    let rounds = known.written.rounds.iter().map(|(name, round)| Entry {
        date: round.date.clone(),
        title: round.title.clone(),
        address: address(name),
        says: answer(known, round).join(" "),
    });
    let mut of_runs: BTreeMap<usize, Vec<&Change<'_>>> = BTreeMap::new();
    for change in changes {
        of_runs.entry(change.now.place).or_default().push(change);
    }
    let shown = of_runs.into_values().map(|changes| {
        let run = changes[0].now.run;
        let sentences: Vec<String> = changes.iter().map(|change| sentence(change)).collect();
        Entry {
            date: run.date(),
            title: format!(
                "{} shown in {}",
                units::counted(changes.len() as u64, "change", "changes"),
                run.experiment
            ),
            address: runs::address(run),
            says: sentences.join(" "),
        }
    });
    let mut entries: Vec<Entry> = rounds.chain(shown).collect();
    entries.sort_by(|one, other| (&other.date, &one.address).cmp(&(&one.date, &other.address)));
    entries.truncate(ENTRIES);
    // An entry's id must not depend on where the site stands.
    let board = hash(&format!("{}\n{}", settings.title, settings.question), 32);
    let updated = entries.first().map_or("1970-01-01", |entry| entry.date.as_str());
    let base = match settings.base_url.is_empty() {
        true => String::new(),
        false => format!("{}/", settings.base_url),
    };
    let text = markup!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n<title>{}</title>\n\
         <subtitle>{}</subtitle>\n<id>urn:dyno:{}</id>\n<updated>{}T00:00:00Z</updated>\n<author><name>{}</name></author>\n\
         <link rel=\"alternate\" href=\"{}index.html\"/>\n{}</feed>\n",
        settings.title,
        settings.question,
        board,
        updated,
        settings.title,
        base,
        entries.iter().map(|it| entry(it, &board, &base)).collect::<Markup>()
    );
    ("feed.xml".into(), text.into_string().into_bytes())
}

fn entry(entry: &Entry, board: &str, base: &str) -> Markup {
    markup!(
        "<entry>\n<title>{}</title>\n<id>urn:dyno:{}:{}</id>\n<updated>{}T00:00:00Z</updated>\n\
         <link rel=\"alternate\" href=\"{}{}\"/>\n<summary>{}</summary>\n</entry>\n",
        entry.title,
        board,
        entry.address,
        entry.date,
        base,
        entry.address,
        entry.says
    )
}
