//! A run that searched for the capacity of each of its servers: a table of two rates for each, with ranks, and its chart.

use analysis::search::{Conclusion, End, Searched, ranks};
use analysis::{Verdict, Worth};
use lab::record::CAPACITY;
use units::{counted, listed_in_short, rate};

use super::conditions::servers_and_machine;
use super::findings::Findings;
use super::{conformance, results, trouble};
use crate::capacity::chart::drawn;
use crate::capacity::{FinishedSearch, SearchOutcome, outcome, sentence, tried_rates, verdict};
use crate::chart::Stand;
use crate::document::{
    Block, Cell, Column, Depth, Fold, Mark, Marks, Row, Section, Sign, Table, Tone,
};
use crate::grouped::distinct;
use crate::markup::Markup;

/// The searches of a run, task by task in the run's order; of each the best first.
pub(crate) fn searches_by_task<'f>(findings: &'f Findings<'_>) -> Vec<Vec<FinishedSearch<'f>>> {
    let mut tasks = distinct(findings.searches.iter().map(|found| found.of.task.as_str()));
    let order = |task: &str| {
        let mut tables = findings.board.tables.iter();
        tables.position(|table| table.workload == task).unwrap_or(usize::MAX)
    };
    tasks.sort_by_key(|task| order(task));
    tasks.into_iter().map(|task| of_task(findings, task)).collect()
}

fn of_task<'f>(findings: &'f Findings<'_>, task: &str) -> Vec<FinishedSearch<'f>> {
    let here = findings.searches.iter().filter(|found| found.of.task == task);
    let mut all: Vec<FinishedSearch<'f>> =
        here.map(|found| FinishedSearch::of(findings, found)).collect();
    // What was left out may have decided it otherwise.
    let is_ranked = |it: &FinishedSearch<'_>| it.unmet().is_none() && it.is_known();
    let brackets = all.iter().map(|it| it.answer.bracket().filter(|_| is_ranked(it)));
    let brackets: Vec<_> = brackets.collect();
    if 1 < brackets.iter().flatten().count() {
        all.iter_mut().zip(ranks(&brackets)).for_each(|(it, rank)| it.rank = rank);
    }
    let lower = |it: &FinishedSearch<'_>| it.answer.lower.as_ref().map_or(0.0, |end| end.rate);
    all.sort_by(|one, other| {
        let place = |it: &FinishedSearch<'_>| it.rank.unwrap_or((usize::MAX, usize::MAX));
        place(one).cmp(&place(other)).then(lower(other).total_cmp(&lower(one)))
    });
    all
}

impl Findings<'_> {
    /// Whether its trials are those of searches for capacities.
    pub(crate) fn is_search(&self) -> bool {
        !self.searches.is_empty()
    }

    /// What the run is worth; none before the first trial.
    pub(crate) fn verdict(&self) -> Option<Verdict> {
        match (self.is_search(), self.ended) {
            (false, [load]) => load.verdict.word,
            (false, _) => self.board.verdict(),
            (true, _) => {
                let known: Vec<Verdict> = self.search_verdicts().into_iter().flatten().collect();
                Verdict::of_parts(&known)
            }
        }
    }

    /// The verdicts on all rows, one by one.
    pub(crate) fn worth(&self) -> Worth {
        match (self.is_search(), self.ended) {
            (false, [load]) => Worth::of([load.verdict.word]),
            (false, _) => self.board.worth(),
            (true, _) => Worth::of(self.search_verdicts()),
        }
    }

    fn search_verdicts(&self) -> Vec<Option<Verdict>> {
        let words = self.searches.iter().map(|found| {
            verdict(&FinishedSearch::of(self, found)).word.filter(|_| 0 < found.answer.trials)
        });
        words.collect()
    }

    /// Searches that do not say what their server holds: the first, and how many.
    pub(crate) fn unknown(&self) -> Option<(String, usize)> {
        let all = searches_by_task(self);
        let mut unknown =
            all.iter().flatten().filter(|it| outcome(&it.answer) == SearchOutcome::CannotTell);
        let first = unknown.next().map(|it| name(self, it))?;
        Some((first, 1 + unknown.count()))
    }

    /// What the search of `dyno capacity` has found; none of any other run.
    pub fn capacity(&self) -> Option<SearchOutcome> {
        self.searches.first().map(|found| outcome(&found.answer))
    }
}

/// The server, with its task where there are several.
fn name(findings: &Findings<'_>, found: &FinishedSearch<'_>) -> String {
    match findings.searches.iter().any(|other| other.of.task != found.of.task) {
        true => format!("{}, {}", found.server(), findings.task(&found.of.task)),
        false => found.server().into(),
    }
}

/// The answer: a paragraph about each task. That of one search alone also says what it rests on.
pub(crate) fn sentences(findings: &Findings<'_>) -> Vec<String> {
    let tasks = searches_by_task(findings);
    if let [all] = tasks.as_slice() {
        let evidence = match all.as_slice() {
            [only] => sentence::evidence(only),
            _ => Vec::new(),
        };
        return answer(all).into_iter().chain(evidence).collect();
    }
    let about = |all: &Vec<FinishedSearch<'_>>| {
        Some(format!("{}: {}", findings.task(&all.first()?.of.task), answer(all)?))
    };
    tasks.iter().filter_map(about).collect()
}

/// Up to this many servers are written out.
const SHOWN: usize = 6;

fn answer(all: &[FinishedSearch<'_>]) -> Option<String> {
    let under = sentence::under(all.first()?);
    // What a server holds that is alone is said, whatever else it does.
    let is_met = |it: &&FinishedSearch<'_>| it.unmet().is_none() || all.len() == 1;
    let met: Vec<&FinishedSearch<'_>> = all.iter().filter(is_met).collect();
    let ranked: Vec<&FinishedSearch<'_>> = met.iter().copied().filter(|it| it.is_known()).collect();
    let leaders: Vec<String> = ranked
        .iter()
        .filter(|it| it.rank.is_some_and(|(best, _)| best == 1))
        .map(|it| it.server().to_string())
        .collect();
    // One that is not known may hold more than any other.
    let of = if ranked.len() == met.len() { "" } else { "of those with a known capacity, " };
    let holds_any = ranked.iter().any(|it| it.answer.lower.is_some());
    let leads = match (leaders.as_slice(), ranked.len()) {
        (_, 0) if all.len() == 1 => String::new(),
        (_, 0) => "no server's capacity is known: ".to_string(),
        (_, 1) => String::new(),
        _ if !holds_any => "no server holds the lowest rate that was tried: ".into(),
        ([only], _) => format!("{of}{only} holds most: "),
        (several, all) if several.len() == all => {
            format!("{of}these searches cannot tell which server holds most: ")
        }
        (several, _) => {
            format!(
                "{of}these searches cannot tell which of {} holds most: ",
                listed_in_short(several)
            )
        }
    };
    let mut shown: Vec<String> = met
        .iter()
        .take(SHOWN)
        .map(|it| format!("{} {}", it.server(), sentence::holds(it)))
        .collect();
    let more = met.len() - shown.len();
    if 0 < more {
        shown.push(format!("{more} others follow"));
    }
    let mut says = match shown.is_empty() {
        true => format!("{under}, no server is ranked."),
        false => format!("{under}, {leads}{}.", shown.join("; ")),
    };
    let unmet: Vec<String> =
        all.iter().filter(|it| it.unmet().is_some()).map(|it| it.server().to_string()).collect();
    if !unmet.is_empty() {
        says.push_str(&format!(
            " Not ranked: {}; see \"{}\".",
            listed_in_short(&unmet),
            trouble::UNRANKED
        ));
    }
    Some(says)
}

/// All sections of the report.
pub(super) fn sections(findings: &Findings<'_>) -> Vec<Section> {
    let tasks = searches_by_task(findings);
    let mut sections: Vec<Section> =
        tasks.iter().enumerate().map(|(place, all)| task(findings, all, place)).collect();
    sections.push(conformance::section(findings));
    sections.push(doubts(findings, &tasks));
    sections.push(trouble::section("unranked", trouble::UNRANKED, trouble::unranked(findings)));
    sections.push(trouble::section("wrong", trouble::WRONG, trouble::failures(findings)));
    sections.extend(servers_and_machine(findings));
    sections
}

fn task(findings: &Findings<'_>, all: &[FinishedSearch<'_>], place: usize) -> Section {
    let heading = all.first().map_or(String::new(), |first| findings.titled_task(&first.of.task));
    let mut blocks = vec![
        Block::picture(drawn(all, Stand::Page)),
        Block::Table(table(findings, all, format!("capacities{place}"))),
    ];
    for (n, found) in all.iter().enumerate() {
        let Some(tried) = tried_rates(found, format!("tried{place}-{n}")) else { continue };
        let tried = Block::Table(tried);
        if findings.searches.len() == 1 {
            blocks.extend([Block::Heading("Every rate that was tried".into()), tried]);
        } else {
            blocks.push(Block::Fold(Fold {
                summary: format!("{}: every rate that was tried", found.server()),
                slot: Some(found.slot()),
                is_open: false,
                blocks: vec![tried],
            }));
        }
    }
    Section::new(format!("results{place}"), heading, Depth::Brief).with(blocks)
}

/// The chart of a task, standing alone.
pub(crate) fn alone(findings: &Findings<'_>, task: &str, stand: Stand<'_>) -> Markup {
    drawn(&of_task(findings, task), stand)
}

fn explained(key: &'static str, heading: &str, priority: u8, meaning: &str) -> Column {
    Column::new(key, heading, priority).meaning(meaning).explained()
}

fn table(findings: &Findings<'_>, all: &[FinishedSearch<'_>], key: String) -> Table {
    let mut columns = vec![
        Column::new("subject", "server", 0).left(),
        explained("holds", "holds/s", 0, "the highest rate that is held, below all that are not"),
        explained(
            "not",
            "not/s",
            0,
            "the lowest rate that is not held: the capacity lies between the two",
        ),
        explained(
            "answered",
            "answers/s",
            4,
            "correct answers each second at the rate that is held",
        ),
        explained(
            "kept",
            "kept",
            1,
            "trials that met the limits by themselves, at the rate that is held",
        ),
        explained("broken", "kept above", 3, "the same at the rate that is not held"),
        Column::new("ended", "the search", 5).left().folding(),
        Column::new("verdict", "verdict", 1).left().folding(),
    ];
    if is_checked(findings) {
        let meaning = conformance::MEANING;
        columns.push(explained("conformance", "conformance", 5, meaning).folding());
    }
    columns.push(Column::new("trials", "trials", 7));
    columns.push(Column::new("took", "time of trials", 8));
    let mut rows: Vec<Row> = all.iter().map(|found| line(findings, found)).collect();
    if 1 < all.len() {
        let meaning = "first to last place: a server is ahead of another only if what it holds is no less than what the \
                       other does not hold";
        columns.insert(0, explained("rank", "rank", 2, meaning).left());
        rows.iter_mut().for_each(|row| row.cells.insert(0, results::rank(row.tie)));
    }
    let ceiling = all.iter().filter_map(|found| found.answer.ceiling).reduce(f64::max);
    let ceiling = ceiling.map(|it| format!("dyno's own server gives {} answers/s here", rate(it)));
    Table::of(key, columns, rows).noting(ceiling.into_iter().collect())
}

/// `dyno capacity` checks no rule of the RFCs.
fn is_checked(findings: &Findings<'_>) -> bool {
    findings.fact(CAPACITY).is_none()
}

fn line(findings: &Findings<'_>, found: &FinishedSearch<'_>) -> Row {
    let answer = &found.answer;
    let (lower, upper) = (answer.lower.as_ref(), answer.upper.as_ref());
    let worth = verdict(found);
    let is_known = outcome(answer) != SearchOutcome::CannotTell;
    let tone = if found.unmet().is_some() || !is_known { Tone::Dim } else { Tone::Strong };
    let doubtful = results::mark(worth.word);
    let end = |end: Option<&End>| {
        end.map_or_else(Cell::none, |end| end_rate(end).marked(doubtful).toned(tone))
    };
    let kept = |end: Option<&End>| {
        end.map_or_else(Cell::none, |end| {
            Cell::text(format!("{} of {}", end.judged.kept, end.judged.of))
        })
    };
    let is_open = answer.conclusion == Conclusion::AtLeast;
    let holds = end(lower);
    let holds = Cell { marks: holds.marks.when(is_open, Mark::Open), ..holds };
    let answered =
        lower.map(|end| Cell::text(rate(end.answered_per_s)).valued(Some(end.answered_per_s)));
    let subject = Cell { sign: Sign::Slot, ..Cell::text(found.server()) };
    let mut cells = vec![
        subject.marked(Marks::default().when(found.unmet().is_some(), Mark::Unranked)),
        holds,
        end(upper),
        answered.unwrap_or_else(Cell::none),
        kept(lower),
        kept(upper),
        Cell::text(sentence::ended(&answer.conclusion)),
        Cell::verdict(worth.word.filter(|_| 0 < answer.trials)),
    ];
    cells.extend(is_checked(findings).then(|| conformance::cell(findings, &found.of.subject)));
    cells.extend([
        Cell::number(answer.trials),
        Cell::text(sentence::seconds(answer.seconds)).valued(Some(answer.seconds)),
    ]);
    Row { slot: Some(found.slot()), tie: found.rank, cells, ..Row::default() }
}

/// The rate at an end of a search.
fn end_rate(end: &End) -> Cell {
    let short = if end.is_short { " (short)" } else { "" };
    Cell::text(format!("{}{short}", rate(end.rate))).valued(Some(end.rate))
}

/// Why answers are worth no more, server by server.
fn doubts(findings: &Findings<'_>, tasks: &[Vec<FinishedSearch<'_>>]) -> Section {
    let entries = tasks.iter().flatten().flat_map(|found| {
        let whose = format!("{}: ", name(findings, found));
        verdict(found).entries(&whose).collect::<Vec<_>>()
    });
    crate::verdict::section(entries.collect())
}

/// What a search for each server means.
pub(super) const METHOD: [&str; 3] = [
    "Each server's capacity is searched for: the highest rate at which it meets the limits. Short trials narrow the \
     range; full trials at two rates decide, each with a fresh process unless the server ran already. The trials of \
     all searches alternate, so that a disturbance of the machine affects all servers.",
    "A trial's loss is the share of the requests due that were answered too late, counted from when each was due, or \
     failed, or were not answered. A rate is held if half of its trials or more met the limits by themselves and what \
     all of them lost is below what may be lost, with its interval. docs/capacity.md says how often such an answer is \
     right.",
    "The brackets do not include what differs from one run, day or machine to the next.",
];

/// What a reader of an unfinished run should know.
pub(super) fn unfinished(findings: &Findings<'_>) -> Option<String> {
    use analysis::search::Conclusion;
    let is_open =
        |found: &&Searched| matches!(found.answer.conclusion, Conclusion::Unfinished { .. });
    let left = findings.searches.iter().filter(is_open).count();
    if left == 0 {
        return None;
    }
    let Findings { id, store_option, .. } = findings;
    let searches = counted(left as u64, "search is", "searches are");
    let command = match findings.fact(CAPACITY) {
        Some(_) => format!("dyno capacity --resume {id}"),
        None => format!("dyno run --resume {id}{}", findings.run.place_flags()),
    };
    Some(format!("{searches} not over; `{command}{store_option}` continues it"))
}
