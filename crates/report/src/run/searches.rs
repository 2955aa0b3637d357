//! A run that searched for the capacity of each of its servers: a table of two rates for each, with ranks, and its chart.

use analysis::search::{Searched, ranks};
use analysis::{Verdict, Worth};
use units::{counted, rate};

use super::conditions::servers_and_machine;
use super::{Findings, conformance, trouble};
use crate::capacity::chart::{Drawn, drawn};
use crate::capacity::{FinishedSearch, SearchOutcome, outcome, tried_rates, verdict, words};
use crate::chart::Stand;
use crate::document::{
    Block, Cell, Column, Depth, Entry, Fold, Mark, Marks, Row, Section, Sign, Table, Tone,
};
use crate::sentence::list;

/// One server's search, and how it stands to the others of its task.
pub(crate) struct Stood<'f> {
    pub(crate) subject: &'f str,
    pub(crate) task: &'f str,
    pub(crate) found: FinishedSearch<'f>,
    /// First and last place; none: it is not ranked.
    pub(crate) rank: Option<(usize, usize)>,
    /// Why it is not ranked, whatever it holds.
    pub(crate) unmet: Option<&'f str>,
}

impl Stood<'_> {
    /// Whether full trials say anything of what it holds.
    fn is_known(&self) -> bool {
        self.found.odd.is_none() && self.found.answer.bracket().is_some()
    }
}

/// The searches of a run, task by task in the run's order; of each the best first.
pub(crate) fn stood<'f>(findings: &'f Findings<'_>) -> Vec<Vec<Stood<'f>>> {
    let mut tasks: Vec<&str> = Vec::new();
    for found in &findings.searches {
        if !tasks.contains(&found.of.task.as_str()) {
            tasks.push(&found.of.task);
        }
    }
    let order = |task: &str| {
        let mut tables = findings.board.tables.iter();
        tables.position(|table| table.workload == task).unwrap_or(usize::MAX)
    };
    tasks.sort_by_key(|task| order(task));
    tasks.into_iter().map(|task| of_task(findings, task)).collect()
}

fn of_task<'f>(findings: &'f Findings<'_>, task: &'f str) -> Vec<Stood<'f>> {
    let here: Vec<&Searched> =
        findings.searches.iter().filter(|found| found.of.task == task).collect();
    let unmet: Vec<Option<&str>> =
        here.iter().map(|found| unmet(findings, &found.of.subject, task)).collect();
    let brackets = here.iter().zip(&unmet).map(|(found, unmet)| match unmet {
        Some(_) => None,
        // What was left out may have decided it otherwise.
        None => found.answer.bracket().filter(|_| found.odd.is_none()),
    });
    let brackets: Vec<_> = brackets.collect();
    let mut ranks = ranks(&brackets);
    if brackets.iter().flatten().count() < 2 {
        ranks.fill(None);
    }
    let mut all: Vec<Stood<'f>> = here
        .iter()
        .zip(ranks.iter().zip(unmet))
        .map(|(found, (rank, unmet))| Stood {
            subject: &found.of.subject,
            task,
            found: FinishedSearch::of(findings.id.clone(), findings.run, found),
            rank: *rank,
            unmet,
        })
        .collect();
    let lower = |stood: &Stood<'_>| stood.found.answer.lower.as_ref().map_or(0.0, |end| end.rate);
    all.sort_by(|one, other| {
        let place = |stood: &Stood<'_>| stood.rank.unwrap_or((usize::MAX, usize::MAX));
        place(one).cmp(&place(other)).then(lower(other).total_cmp(&lower(one)))
    });
    all
}

/// Why a server is not ranked: it gave wrong answers, or does not meet what the experiment requires.
fn unmet<'f>(findings: &'f Findings<'_>, subject: &str, task: &str) -> Option<&'f str> {
    let table = findings.board.tables.iter().find(|table| table.workload == task)?;
    let mut rows = table.rows.iter().filter(|row| row.subject == subject);
    rows.find_map(|row| row.unmet.as_deref())
}

impl Findings<'_> {
    /// Whether its trials are those of searches for capacities.
    pub(crate) fn is_search(&self) -> bool {
        !self.searches.is_empty()
    }

    /// What the run is worth; none before the first trial.
    pub(crate) fn verdict(&self) -> Option<Verdict> {
        match self.is_search() {
            false => self.board.verdict(),
            true => {
                let known: Vec<Verdict> = self.search_verdicts().into_iter().flatten().collect();
                Verdict::of_parts(&known)
            }
        }
    }

    /// The verdicts on all rows, one by one.
    pub(crate) fn worth(&self) -> Worth {
        match self.is_search() {
            false => self.board.worth(),
            true => Worth::of(self.search_verdicts()),
        }
    }

    fn search_verdicts(&self) -> Vec<Option<Verdict>> {
        let of = |found: &Searched| {
            let shown = FinishedSearch::of(self.id.clone(), self.run, found);
            verdict(&shown).word.filter(|_| 0 < found.answer.trials)
        };
        self.searches.iter().map(of).collect()
    }

    /// Searches that do not say what their server holds: the first, and how many.
    pub(crate) fn unknown(&self) -> Option<(String, usize)> {
        let all = stood(self);
        let mut unknown =
            all.iter().flatten().filter(|it| outcome(it.found.answer) == SearchOutcome::CannotTell);
        let first = unknown.next().map(|it| name(self, it))?;
        Some((first, 1 + unknown.count()))
    }
}

/// The server, with its task where there are several.
fn name(findings: &Findings<'_>, stood: &Stood<'_>) -> String {
    match findings.searches.iter().any(|found| found.of.task != stood.task) {
        true => format!("{}, {}", stood.found.server, findings.task(stood.task)),
        false => stood.found.server.into(),
    }
}

/// The answer: a paragraph about each task.
pub(crate) fn sentences(findings: &Findings<'_>) -> Vec<String> {
    let tasks = stood(findings);
    let about = |all: &Vec<Stood<'_>>| {
        let says = answer(all)?;
        Some(match (tasks.len(), all.first()) {
            (0 | 1, _) | (_, None) => says,
            (_, Some(first)) => format!("{}: {says}", findings.task(first.task)),
        })
    };
    tasks.iter().filter_map(about).collect()
}

/// Up to this many servers are written out.
const SHOWN: usize = 6;

fn answer(all: &[Stood<'_>]) -> Option<String> {
    let first = all.first()?;
    let arrivals =
        if first.found.is_poisson { "Poisson arrivals" } else { "evenly spaced arrivals" };
    let aim = format!("With {} ({arrivals})", words::aim(&first.found.search.aim));
    let is_known = |it: &&Stood<'_>| it.unmet.is_none() && it.is_known();
    let ranked: Vec<&Stood<'_>> = all.iter().filter(is_known).collect();
    let leaders: Vec<String> = ranked
        .iter()
        .filter(|it| it.rank.is_some_and(|(best, _)| best == 1))
        .map(|it| it.found.server.to_string())
        .collect();
    // One that is not known may hold more than any other.
    let are_known = all.iter().all(|it| it.is_known() || it.unmet.is_some());
    let of = if are_known { "" } else { "of those with a known capacity, " };
    let holds_any = ranked.iter().any(|it| it.found.answer.lower.is_some());
    let leads = match (leaders.as_slice(), ranked.len()) {
        (_, 0) => "no server's capacity is known".to_string(),
        (_, 1) => String::new(),
        _ if !holds_any => "no server holds the lowest rate that was tried".into(),
        ([only], _) => format!("{of}{only} holds most"),
        (several, all) if several.len() == all => {
            format!("{of}these searches cannot tell which server holds most")
        }
        (several, _) => {
            format!("{of}these searches cannot tell which of {} holds most", list(several))
        }
    };
    let mut shown: Vec<String> = all
        .iter()
        .filter(|it| it.unmet.is_none())
        .take(SHOWN)
        .map(|it| format!("{} {}", it.found.server, words::holds(&it.found)))
        .collect();
    let more = all.iter().filter(|it| it.unmet.is_none()).count() - shown.len();
    if 0 < more {
        shown.push(format!("{more} others follow"));
    }
    let mut says = match leads.as_str() {
        "" => format!("{aim}, {}.", shown.join("; ")),
        leads => format!("{aim}, {leads}: {}.", shown.join("; ")),
    };
    let unmet: Vec<String> =
        all.iter().filter(|it| it.unmet.is_some()).map(|it| it.found.server.to_string()).collect();
    if !unmet.is_empty() {
        says.push_str(&format!(" Not ranked: {}; see \"{}\".", list(&unmet), trouble::UNRANKED));
    }
    Some(says)
}

/// All sections of the report.
pub(super) fn sections(findings: &Findings<'_>) -> Vec<Section> {
    let tasks = stood(findings);
    let mut sections: Vec<Section> =
        tasks.iter().enumerate().map(|(place, all)| task(findings, all, place)).collect();
    sections.push(conformance::section(findings));
    sections.push(doubts(findings, &tasks));
    let found = |id: &'static str, heading: &str, entries: Vec<Entry>| {
        let blocks = (!entries.is_empty()).then_some(Block::Entries(entries));
        Section::new(id, heading, Depth::Brief).with(blocks)
    };
    sections.push(found("unranked", trouble::UNRANKED, trouble::unranked(findings)));
    sections.push(found("wrong", trouble::WRONG, trouble::failures(findings)));
    sections.extend(servers_and_machine(findings));
    sections.retain(|section| !section.blocks.is_empty());
    sections
}

fn task(findings: &Findings<'_>, all: &[Stood<'_>], place: usize) -> Section {
    let heading = all.first().map_or(String::new(), |first| findings.titled_task(first.task));
    let mut blocks = vec![
        Block::picture(chart(findings, all, &format!("cap{place}"), Stand::Page)),
        Block::Table(table(findings, all, format!("capacities{place}"))),
    ];
    blocks.extend(all.iter().enumerate().filter_map(|(n, stood)| {
        let table = tried_rates(&stood.found, format!("tried{place}-{n}"))?;
        Some(Block::Fold(Fold {
            summary: format!("{}: every rate that was tried", stood.found.server),
            slot: Some(findings.slot(stood.subject)),
            is_open: false,
            blocks: vec![Block::Table(table)],
        }))
    }));
    Section::new(format!("results{place}"), heading, Depth::Brief).with(blocks)
}

/// The chart of a task.
fn chart(
    findings: &Findings<'_>,
    all: &[Stood<'_>],
    id: &str,
    stand: Stand<'_>,
) -> crate::markup::Markup {
    let searches: Vec<Drawn<'_>> = all
        .iter()
        .map(|stood| Drawn { slot: findings.slot(stood.subject), found: &stood.found })
        .collect();
    drawn(id, &searches, stand)
}

/// The same, standing alone.
pub(crate) fn alone(
    findings: &Findings<'_>,
    task: &str,
    stand: Stand<'_>,
) -> crate::markup::Markup {
    chart(findings, &of_task(findings, task), "a", stand)
}

fn table(findings: &Findings<'_>, all: &[Stood<'_>], key: String) -> Table {
    let explained = |key: &'static str, heading: &str, priority: u8, meaning: &str| {
        Column::new(key, heading, priority).meaning(meaning).explained()
    };
    let mut columns = vec![
        explained(
            "rank",
            "rank",
            2,
            "first to last place: a server is ahead of another only if what it holds is no less than what the other does \
             not hold",
        )
        .left(),
        Column::new("subject", "server", 0).left(),
        explained("holds", "holds/s", 0, "the highest rate that is held, below all that are not"),
        explained("not", "not/s", 0, "the lowest rate that is not held: the capacity lies between the two"),
        explained(
            "answered",
            "answers/s",
            4,
            "right answers each second at the rate that is held",
        ),
        Column::new("kept", "kept", 1)
            .meaning("trials that kept the aim by themselves, at the rate that is held")
            .explained(),
        Column::new("broken", "kept above", 3)
            .meaning("the same at the rate that is not held")
            .explained(),
        Column::new("ended", "the search", 5).left().folding(),
        Column::new("verdict", "verdict", 1).left().folding(),
    ];
    columns.push(
        Column::new("conformance", "conformance", 5)
            .folding()
            .meaning(conformance::MEANING)
            .explained(),
    );
    columns.push(Column::new("trials", "trials", 7));
    columns.push(Column::new("took", "time of trials", 8));
    Table::of(key, columns, all.iter().map(|stood| line(findings, stood)).collect::<Vec<_>>())
}

fn line(findings: &Findings<'_>, stood: &Stood<'_>) -> Row {
    let found = &stood.found;
    let answer = found.answer;
    let (lower, upper) = (answer.lower.as_ref(), answer.upper.as_ref());
    let worth = verdict(found);
    let is_known = outcome(answer) != SearchOutcome::CannotTell;
    let tone = if stood.unmet.is_some() || !is_known { Tone::Dim } else { Tone::Strong };
    let doubtful = match worth.word {
        Some(Verdict::Suspect) => Marks::default().with(Mark::Suspect),
        Some(Verdict::Invalid) => Marks::default().with(Mark::Invalid),
        Some(Verdict::Valid) | None => Marks::default(),
    };
    let end = |end: Option<&analysis::search::End>| match end {
        None => Cell::none(),
        Some(end) => {
            let short = if end.is_short { " (short)" } else { "" };
            Cell::text(format!("{}{short}", rate(end.rate)))
                .valued(Some(end.rate))
                .marked(doubtful)
                .toned(tone)
        }
    };
    let is_open = answer.conclusion == analysis::search::Conclusion::AtLeast;
    let holds = end(lower);
    let holds = Cell { marks: holds.marks.when(is_open, Mark::Open), ..holds };
    let kept = |end: Option<&analysis::search::End>| match end {
        None => Cell::none(),
        Some(end) => Cell::text(format!("{} of {}", end.judged.kept, end.judged.of)),
    };
    let rank = match stood.rank {
        None => Cell::none(),
        Some((first, last)) if first == last => Cell::text(first.to_string()),
        Some((first, last)) => Cell::text(format!("{first}–{last}")),
    };
    let answered =
        lower.map(|end| Cell::text(rate(end.answered_per_s)).valued(Some(end.answered_per_s)));
    let subject = Cell { sign: Sign::Slot, ..Cell::text(found.server) };
    let word = match worth.word.filter(|_| 0 < answer.trials) {
        None => Cell::text("not run yet"),
        Some(verdict) => Cell { sign: Sign::Verdict(verdict), ..Cell::text(verdict.name()) },
    };
    let cells = vec![
        rank.valued(stood.rank.map(|(first, _)| first as f64)).toned(Tone::Dim),
        subject.marked(Marks::default().when(stood.unmet.is_some(), Mark::Unranked)),
        holds,
        end(upper),
        answered.unwrap_or_else(Cell::none),
        kept(lower),
        kept(upper),
        Cell::text(words::ended(&answer.conclusion)),
        word,
        conformance::cell(findings, stood.subject),
        Cell::text(answer.trials.to_string()).valued(Some(answer.trials as f64)),
        Cell::text(words::seconds(answer.seconds)).valued(Some(answer.seconds)),
    ];
    Row { slot: Some(findings.slot(stood.subject)), tie: stood.rank, cells, ..Row::default() }
}

/// Why answers are worth no more, server by server.
fn doubts(findings: &Findings<'_>, tasks: &[Vec<Stood<'_>>]) -> Section {
    let of = |stood: &Stood<'_>| {
        let name = name(findings, stood);
        let one = |doubt: &crate::verdict::ExplainedDoubt| {
            let says = format!("{name}: {}: {}", doubt.gravity.name(), doubt.says);
            Entry::new(doubt.gravity.into(), says)
                .with(Tone::Dim, format!("what to do: {}", doubt.what_to_do))
        };
        verdict(&stood.found).doubts.iter().map(one).collect::<Vec<_>>()
    };
    let entries: Vec<Entry> = tasks.iter().flatten().flat_map(of).collect();
    let blocks = (!entries.is_empty()).then_some(Block::Entries(entries));
    Section::new("doubt", trouble::DOUBTS, Depth::Brief).with(blocks)
}

/// What a search for each server means.
pub(super) const METHOD: [&str; 3] = [
    "Each server's capacity is searched for: the greatest rate at which it keeps the aim. Short trials narrow the range; full \
     trials at two rates decide, each with a fresh process. The trials of all searches alternate, so that what the machine \
     does meanwhile, it does to all servers.",
    "A trial's loss is the share of the requests due that were answered too late, counted from when each was due, or \
     failed, or were not answered. A rate is held if half of its trials or more kept the aim by themselves and what all of \
     them lost is below what may be lost, with its interval. docs/capacity.md says how often such an answer is right.",
    "What differs from one run, day or machine to the next is in no bracket.",
];

/// What a reader of an unfinished run should know.
pub(super) fn unfinished(findings: &Findings<'_>) -> Option<String> {
    use analysis::search::Conclusion;
    let is_open =
        |found: &&Searched| matches!(found.answer.conclusion, Conclusion::Unfinished { .. });
    let left = findings.searches.iter().filter(is_open).count();
    if left == 0 || findings.fact(lab::record::CAPACITY).is_some() {
        return None;
    }
    let Findings { id, store_option, .. } = findings;
    let places = findings.run.place_flags();
    let searches = counted(left as u64, "search is", "searches are");
    Some(format!("{searches} not over; `dyno run --resume {id}{places}{store_option}` goes on"))
}
