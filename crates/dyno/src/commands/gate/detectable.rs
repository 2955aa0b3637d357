//! What a gate can see on this machine, told before it begins; and how often its rule is wrong on the machine's noise.

use std::time::{Duration, Instant};

use ::report::gate::{Early, disturbance};
use analysis::gate::{
    Against, GateCourse, LOOKS, Pooled, Rule, false_alarms, least_shown, looks, mean_and_spread,
    most, pairs_needed,
};
use lab::experiment::Pairs;
use lab::figure::Figure;
use units::{chosen, counted, duration, percent};

use super::figures::{self, Wanted};
use super::gate_run::{GateRun, Loading};
use super::output::{Stop, unless_interrupted};
use super::{GateFlags, history};
use crate::shell::{ExitStatus, print};

/// Pairs of the base against itself, before a gate.
const FIRST: u32 = 3;

/// So many pairs of a load of which no figure is gated: they only say what the base does, and whether the head fails.
pub(super) const UNTIMED: u32 = 3;

/// How often signs are flipped.
const FLIPPED: u32 = 10_000;

/// So many pairs, for what they spread by.
pub(super) fn equal_pairs(rule: Rule, most: u32) -> Pairs {
    let Rule { alpha, detect, missed, builds } = rule;
    // So few pairs have builds of their own; no more of them are built.
    let builds = builds.map(|builds| most.min(builds as u32));
    // Without figures, they end when there are so many.
    Pairs { detect, level: alpha, missed, figures: Vec::new(), most, builds, limit: None }
}

/// How far pairs of equal code spread, how that is known, and how long a pair takes.
struct Spread {
    spread: f64,
    whose: String,
    pair: Duration,
}

/// On stdout where nothing else is wanted, otherwise beside the output.
fn say(text: &str, is_output: bool) -> Result<(), Stop> {
    if is_output {
        print(&format!("{text}\n"))?;
    } else {
        terminal::notice(text);
    }
    Ok(())
}

/// Says what can be seen, and ends a gate that could not see what it is to find within its time.
pub(super) fn before(
    gate_run: &mut GateRun<'_>,
    flags: &GateFlags,
    rule: Rule,
) -> Result<(), Stop> {
    let say = |text: String| say(&text, flags.show);
    let (loads, check) = (gate_run.loads(), gate_run.check);
    let whole = |pairs: Duration| duration(rounded(pairs + check));
    if Wanted::gated(&flags.gate).is_empty() {
        let pairs = gate_run.pair_time() * UNTIMED * loads;
        say(format!("no figure is gated: pairs and the head's check take about {}", whole(pairs)))?;
        return Ok(());
    }
    let Spread { spread, whose, pair } = spread(gate_run, flags, rule)?;
    let level = rule.alpha / figures::count(&flags.gate) as f64;
    let time = |pairs: usize| whole(pair * pairs as u32 * loads);
    let shown = |pairs: usize| {
        let least = least_shown(spread, pairs, rule, level)?;
        Some(format!("{} with {pairs} pairs ({})", percent(least), time(pairs)))
    };
    let table: Vec<String> = looks(rule.builds).into_iter().filter_map(shown).collect();
    let noise = percent(spread);
    say(format!("noise between pairs: {noise} ({whose}); detectable: {}", table.join(", ")))?;
    let for_pairs = flags.max_time.saturating_sub(check).as_secs_f64();
    let allowed = (for_pairs / (pair * loads).as_secs_f64()).floor() as usize;
    let allowed = allowed.min(most(rule.builds));
    let detect = format!("{} %", chosen(100.0 * rule.detect));
    let needed = pairs_needed(spread, rule, level);
    let checked = match check.is_zero() {
        true => String::new(),
        false => format!(", the head's check of {} included", duration(rounded(check))),
    };
    if let Some(pairs) = needed.filter(|pairs| *pairs <= allowed) {
        say(format!(
            "detecting {detect} takes about {pairs} pairs ({}{checked}), and the gate ends after {} (--max-time)",
            time(pairs),
            duration(flags.max_time)
        ))?;
        return Ok(());
    }
    let shows = least_shown(spread, allowed, rule, level);
    let shows = shows.map_or("too few for any answer".into(), |least| {
        format!("which can detect {}", percent(least))
    });
    let takes =
        needed.map_or(format!("no number of pairs can detect {detect} (--detect)"), |pairs| {
            format!("detecting {detect} (--detect) takes {pairs} pairs, {}{checked}", time(pairs))
        });
    Err(Stop::new(
        Early::Limit,
        format!(
            "{takes}; {} (--max-time) allow {}, {shows}",
            duration(flags.max_time),
            counted(allowed as u64, "pair", "pairs")
        ),
    ))
}

/// The spread as it was said, or as earlier gates know it, or else of the first pairs of the base against itself.
fn spread(gate_run: &mut GateRun<'_>, flags: &GateFlags, rule: Rule) -> Result<Spread, Stop> {
    if let Some(spread) = flags.noise {
        return Ok(Spread { spread, whose: "from --noise".into(), pair: gate_run.pair_time() });
    }
    if flags.history.is_given() {
        let intended = unless_interrupted(gate_run.intended(equal_pairs(rule, FIRST)))?;
        if let Some(found) = history::spread(gate_run, flags, rule, (&intended.0, &intended.1))? {
            let (spread, whose) = (found.spread, of_gates(&found));
            return Ok(Spread { spread, whose, pair: gate_run.pair_time() });
        }
    }
    let began = Instant::now();
    let measured = unless_interrupted(gate_run.measure(Loading::Equal, equal_pairs(rule, FIRST)))?;
    let pair = began.elapsed() / measured.course.tried().max(1) as u32;
    let course = &gate_run.equal.insert(measured).course;
    let differences = course.differences(Figure::Throughput, Against::Head);
    if differences.len() < 2 {
        return Err(too_few(course, differences.len()));
    }
    let pairs = counted(u64::from(FIRST), "pair", "pairs");
    let whose = match rule.builds {
        None => format!("{pairs} of equal code"),
        Some(_) => format!("{pairs} of equal code, each of builds of its own"),
    };
    Ok(Spread { spread: mean_and_spread(&differences).1, whose, pair })
}

/// Too few pairs of the base against itself were measurements.
fn too_few(course: &GateCourse, counting: usize) -> Stop {
    let pairs = counted(course.tried() as u64, "pair", "pairs");
    let says =
        format!("only {counting} of {pairs} of the base against itself count{}", why(course));
    Stop::new(Early::Disturbed, says)
}

fn of_gates(found: &Pooled) -> String {
    format!(
        "{} of {}",
        counted(found.pairs as u64, "pair", "pairs"),
        counted(found.gates as u64, "earlier gate", "earlier gates")
    )
}

/// What disturbed the others.
fn why(course: &GateCourse) -> String {
    disturbance(course).map_or(String::new(), |says| format!("; the first of the others: {says}"))
}

/// Whole seconds.
fn rounded(time: Duration) -> Duration {
    Duration::from_secs(time.as_secs_f64().round().max(1.0) as u64)
}

/// `--aa`: the rule on pairs of equal code.
pub(super) fn equal_code(
    gate_run: &mut GateRun<'_>,
    rule: Rule,
    pairs: u32,
) -> Result<ExitStatus, Stop> {
    let measured = unless_interrupted(gate_run.measure(Loading::Equal, equal_pairs(rule, pairs)))?;
    let course = &gate_run.equal.insert(measured).course;
    let differences = course.differences(Figure::Throughput, Against::Head);
    if differences.len() < LOOKS[0] || course.is_disturbed() {
        return Err(too_few(course, differences.len()));
    }
    let (mean, spread) = mean_and_spread(&differences);
    let share = false_alarms(&differences, rule, rule.alpha, FLIPPED);
    Ok(print(&format!(
        "{} of equal code: mean ratio {:.4}, noise {}. With their signs flipped at random, {FLIPPED} times, the rule \
         says \
         worse in {} of gates; {} % is allowed.\n",
        counted(differences.len() as u64, "pair", "pairs"),
        (-mean).exp(),
        percent(spread),
        percent(share),
        chosen(100.0 * rule.alpha)
    ))?)
}
