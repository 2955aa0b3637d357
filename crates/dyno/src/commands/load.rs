//! `dyno load`: loads one address and reports.

mod calibrate;

use std::path::Path;

use agents::{AgentGroup, LoadEvent, Loads, OwnThreads, Pressed};
use analysis::{Conduct, Faults, RequirementAnswer, Tolerated, Verdict};
use archive::keep;
use campaign::now_unix_ms;
use load::{End, Failure, Halt, Target};
use machine::Series;
use report::load::{Costs, FinishedLoad, Queue, like, weigh};
use report::run::OfCommand;
use requests::{har, secret};

use crate::interrupt::halt_on_interrupt;
use crate::load_agents;
use crate::loads::{ServerWatch, Shelf, profile};
use crate::order::flags::LoadFlags;
use crate::order::{self, Plan};
use crate::origin::of_load;
use crate::shell::{ExitStatus, Found, Refusal, status};
use machine::limits::{self, Machine};
use terminal::live::{LoadView, Style};

pub(crate) fn run(flags: &LoadFlags) -> Result<ExitStatus, Refusal> {
    flags.keeping.refuse_script()?;
    let others: Vec<_> = flags.feed.files().chain(flags.files_read()).collect();
    flags.results.check(&others)?;
    if flags.calibrating.calibrate {
        return calibrate::run(&flags.calibrating, &flags.results);
    }
    if let (Some(har), Some(to)) = (&flags.from.har, &flags.from.write_requests) {
        return write_requests(har, flags.from.origin.as_deref(), to);
    }
    flags.results.to_the_end(|| loaded(flags))
}

/// Writes the requests of a recording to a file that `--requests` reads, and loads nothing.
fn write_requests(har: &Path, origin: Option<&str>, to: &Path) -> Result<ExitStatus, Refusal> {
    let is_stdout = to == Path::new("-");
    if !is_stdout {
        keep::check_all(&[("--write-requests", to)], &[("--har", har)])?;
    }
    let taken = har::read(har, origin)?;
    match is_stdout {
        true => terminal::print(&taken.text)?,
        false => keep::write_for("--write-requests", to, &taken.text)?,
    }
    taken.notes.iter().for_each(|note| terminal::notice(&format!("dyno: {note}")));
    Ok(ExitStatus::Yes)
}

fn loaded(flags: &LoadFlags) -> Result<ExitStatus, Refusal> {
    keep::check_all(&flags.feed.files().collect::<Vec<_>>(), &flags.files_read())?;
    flags.feed.check(!flags.results.prints_text(), flags.keeping.loads())?;
    flags.keeping.history.begin(Path::new("."))?;
    let halt = halt_on_interrupt()?;
    // Before agents of its own are started, which are dynos, too.
    notice_other_dynos();
    let mut group = None;
    let planned = order::plan(flags, &Machine::read(), &mut |target| {
        group = met(flags, target, &halt)?;
        Ok(group.as_ref().and_then(Loads::lanes))
    })?;
    let Some(plan) = planned else { return Ok(ExitStatus::Interrupted) };
    let changes = plan.order.load.arrivals().is_some_and(|it| it.length().is_some());
    if flags.why.why && changes {
        return Err(Refusal::new(
            "--why: a ramp, steps and the times of a log are not sampled; name one rate, or leave it out",
        ));
    }
    let from = group.as_ref().map(AgentGroup::places);
    let origin = of_load(flags, &plan, group.as_ref());
    let mut here = OwnThreads;
    let loads_by: &mut dyn Loads = match &mut group {
        Some(group) => group,
        None => &mut here,
    };
    let history = &flags.keeping.history;
    let mut shelf = Shelf::open(flags, &plan)?;
    prepare(&plan)?;
    machine::resident::release();
    let is_silent = flags.sent_from.no_live || flags.feed.is_on_terminal();
    let style = if is_silent { Style::Nothing } else { Style::usual() };
    let count = flags.keeping.loads() as usize;
    let mut press_next =
        |place: u32| press(loads_by, from.as_deref(), plan.nth(place), style, &halt, flags);
    let Measured { loads, fed, cut_short } = measured(count, &mut press_next, &mut shelf, &halt)?;
    // The report's code comes where that of the load was.
    machine::resident::release();
    let was_interrupted = halt.is_asked();
    let is_sampled = flags.why.why && !was_interrupted && cut_short.is_ok() && !loads.is_empty();
    let profiled = match is_sampled {
        true => shelf.put_profile(|key| profile(&plan, key, &halt)),
        false => Ok(()),
    };
    // What was measured is reported and closed, whatever could not be kept or written.
    let is_done = |load: &FinishedLoad| load.recording.end == End::Done;
    let is_whole = loads.len() == count && loads.iter().all(is_done) && cut_short.is_ok();
    let closed = shelf.close(is_whole, was_interrupted);
    let reported = report(&loads, &shelf, flags);
    if let Ok(Some(says)) = &closed {
        terminal::notice(says);
    }
    // What cut the loads short is said first: a store that is full takes no note of their end either.
    cut_short?;
    profiled?;
    closed?;
    match is_whole {
        true => history.append(&shelf.findings(&loads), &origin)?,
        false => history.leave_out(),
    }
    reported?;
    fed?;
    if loads.len() < count && halt.is_asked() {
        return Ok(ExitStatus::Interrupted);
    }
    Ok(answer(&loads))
}

/// The loads, one after another.
struct Measured {
    loads: Vec<FinishedLoad>,
    /// Whether everything that follows a load while it is under way was written.
    fed: Result<(), Refusal>,
    /// Why there are fewer than were ordered, if it was no interruption.
    cut_short: Result<(), Refusal>,
}

/// Loads so many times, and puts each load on the shelf. Refused only if not even the first could begin.
fn measured(
    count: usize,
    press_next: &mut dyn FnMut(u32) -> Result<Option<Loaded>, Refusal>,
    shelf: &mut Shelf,
    halt: &Halt,
) -> Result<Measured, Refusal> {
    let mut all = Measured { loads: Vec::new(), fed: Ok(()), cut_short: Ok(()) };
    while all.loads.len() < count && !halt.is_asked() {
        let (load, readings, written) = match press_next(all.loads.len() as u32) {
            Ok(Some(pressed)) => pressed,
            Ok(None) => break,
            Err(refusal) if all.loads.is_empty() => return Err(refusal),
            Err(refusal) => return Ok(Measured { cut_short: Err(refusal), ..all }),
        };
        all.fed = all.fed.and(written);
        let number = all.loads.len() + 1;
        if load.recording.end == End::Halted && 1 < number {
            terminal::notice(&format!(
                "dyno: load {number} of {count} was interrupted, and is left out"
            ));
            break;
        }
        all.cut_short = shelf.put(&load, readings);
        let says = match load.recording.end {
            End::Halted => "was interrupted; what it measured until then is reported",
            End::Done | End::GaveUp(_) => "is done",
        };
        all.loads.push(load);
        if all.cut_short.is_err() {
            break;
        }
        if 1 < count {
            terminal::notice(&format!("dyno: load {number} of {count} {says}"));
        }
    }
    Ok(all)
}

/// Says so if another dyno loads a server on this machine: each takes CPU time from the other.
pub(crate) fn notice_other_dynos() {
    if let Some(others) = campaign::other_dynos() {
        terminal::notice(&format!(
            "dyno: another dyno is at work on this machine ({others}); loads that run at the same time disturb each \
             other"
        ));
    }
}

/// Prints the warnings, and takes what the run needs.
pub(crate) fn prepare(plan: &Plan) -> Result<(), Refusal> {
    plan.warnings.iter().for_each(|warning| terminal::notice(&format!("dyno: {warning}")));
    let Some(files) = plan.files else {
        return Ok(());
    };
    limits::raise_files(files).map_err(|error| {
        Refusal::new(format!(
            "the limit of open files cannot be raised to {files} ({error}); try `ulimit -n {files}`"
        ))
    })
}

/// The agents, if the load comes from any. None of agents that were wanted: interrupted.
fn met(flags: &LoadFlags, target: &Target, halt: &Halt) -> Result<Option<AgentGroup>, Refusal> {
    match (&flags.sent_from.load_on, target) {
        (Some(_), _) if flags.why.why => Err(Refusal::new(
            "a server is sampled only where this dyno loads it itself: leave --why out, or --load-on",
        )),
        (Some(place), Target::Tcp(address)) => load_agents::meet(place, &[*address], halt),
        _ => Ok(None),
    }
}

/// A load, the readings of its server if it is to be sampled, and what could not be written meanwhile.
type Loaded = (FinishedLoad, Vec<Series>, Result<(), Refusal>);

/// Runs the plan, and analyses the result; says besides what could not be written meanwhile. None: interrupted before
/// anything was measured.
fn press(
    loads_by: &mut dyn Loads,
    from: Option<&str>,
    plan: Plan,
    style: Style,
    halt: &Halt,
    flags: &LoadFlags,
) -> Result<Option<Loaded>, Refusal> {
    let began_unix_ms = now_unix_ms();
    let mut feed = flags.feed.open(&plan.asked, plan.order.stop.duration)?;
    let mut view = LoadView::open(style, &plan.order, &plan.asked, from);
    let before = queue_of(&plan.order.target);
    let watch = flags.why.why.then(|| ServerWatch::start(&plan.order.target)).flatten();
    let loaded = loads_by.press(&plan.order, halt, &mut |event| match event {
        LoadEvent::Glance(glance) => {
            view.watch(glance);
            feed.watch(glance);
        }
        LoadEvent::Second(_) => {}
        LoadEvent::Agents(agents) => view.watch_agents(agents),
        LoadEvent::Lost(lost) => view.notice(&format!("dyno: {lost}")),
    });
    let readings = watch.map_or(Vec::new(), ServerWatch::stop);
    let live_view_cpu = view.close();
    let Some(Pressed { recording, agents, lost }) = load_agents::uninterrupted(loaded)? else {
        return Ok(None);
    };
    let Some(mut recording) = recording else {
        let all: Vec<String> = lost.iter().map(ToString::to_string).collect();
        return Err(Refusal::new(format!("nothing was measured: {}", all.join("\n"))));
    };
    let fed = feed.close(&recording);
    secret::conceal(&plan.secrets, &mut recording.total.evidence);
    let after = queue_of(&plan.order.target);
    let queue = before.zip(after).map(|(before, after)| Queue {
        backlog: before.backlog.or(after.backlog),
        overflows: after.overflows.saturating_sub(before.overflows),
    });
    let verdict = weigh(&recording, &plan.order, queue, (&agents, &lost));
    let required = flags.required.require.iter();
    let load = FinishedLoad {
        began_unix_ms,
        asked: plan.asked,
        order: plan.order,
        requirements: required.map(|one| one.judge(&recording, verdict.word)).collect(),
        recording,
        verdict,
        costs: Costs { live_view_cpu, peak_memory_bytes: limits::peak_memory_bytes() },
        queue,
        agents,
        lost,
        tolerated: Tolerated { failed_percent: flags.max_failures, ..Tolerated::default() },
    };
    Ok(Some((load, readings, fed)))
}

/// The server's accept queue, if the server listens on this machine.
fn queue_of(target: &Target) -> Option<machine::sockets::Queue> {
    match target {
        Target::Tcp(address) if address.ip().is_loopback() => {
            machine::sockets::queue(address.port())
        }
        Target::Tcp(_) | Target::Unix(_) => None,
    }
}

/// Prints what was found, and writes it. Either is done even if the other fails.
fn report(loads: &[FinishedLoad], shelf: &Shelf, flags: &LoadFlags) -> Result<(), Refusal> {
    let Some(load) = loads.first() else { return Ok(()) };
    let mut found = shelf.findings(loads);
    let are_together = flags.keeping.rounds.is_some();
    found.command = if are_together { OfCommand::Loads } else { OfCommand::Load };
    let results = &flags.results;
    let printed = match flags.keeping.like {
        Some(tool) => {
            // What the tool has no place for.
            like::beside(load).iter().for_each(|line| terminal::notice(&format!("dyno: {line}")));
            Ok(like::text(load, tool, flags.latency))
        }
        None => results.printed(&found, flags.full),
    };
    let printed = printed.and_then(|text| {
        if !flags.feed.is_on_stdout() {
            return terminal::print(&text);
        }
        terminal::notice(text.trim_end());
        Ok(())
    });
    results.write(&found, flags.full).and(printed)
}

/// What one of them found holds for all of them. Like the rows of a run, several are invalid if more than half are.
fn answer(loads: &[FinishedLoad]) -> ExitStatus {
    if loads.is_empty() {
        return ExitStatus::Interrupted;
    }
    let all: Vec<Found> = loads.iter().map(found).collect();
    let is_invalid = |load: &&FinishedLoad| load.verdict.word == Some(Verdict::Invalid);
    let invalid = loads.iter().filter(is_invalid).count();
    status(Found {
        is_interrupted: all.iter().any(|it| it.is_interrupted),
        has_failed: all.iter().any(|it| it.has_failed),
        is_unknown: all.iter().any(|it| it.is_unknown) || loads.len() < 2 * invalid,
    })
}

/// What a load found, apart from its verdict.
fn found(load: &FinishedLoad) -> Found {
    let total = &load.recording.total;
    let unreached = Failure::ALL.into_iter().filter(|failure| failure.is_unreached());
    let unreached: u64 = unreached.map(|failure| total.failures(failure)).sum();
    let is_reached = 0 < total.correct || unreached < total.attempted - total.under_way;
    let conduct = Conduct::of(Faults::of([total]), load.tolerated);
    let is = |answer: fn(&RequirementAnswer) -> bool| {
        load.requirements.iter().any(|judged| answer(&judged.answer))
    };
    Found {
        is_interrupted: load.recording.end == End::Halted,
        // Where no server was reached, it is not known what one would have done.
        has_failed: is_reached && !conduct.is_tolerated()
            || is(|answer| *answer == RequirementAnswer::NotMet),
        is_unknown: !is_reached || is(|answer| matches!(answer, RequirementAnswer::CannotTell(_))),
    }
}
