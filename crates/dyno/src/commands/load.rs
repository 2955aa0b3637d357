//! `dyno load`: loads one address and reports.

use analysis::Requirement;
use load::{End, Failure, Recording, Target};
use report::load::{Costs, FinishedLoad, Queue, document, json, weigh};
use report::render::{self, Screen};

use crate::feed::Feed;
use crate::interrupt::halt_on_interrupt;
use crate::keep;
use crate::order::flags::LoadFlags;
use crate::order::requirement::outcome;
use crate::order::{self, Plan};
use crate::shell::{ExitStatus, Refusal};
use machine::limits::{self, Machine};
use terminal::live::{Style, View};

pub(crate) fn run(flags: &LoadFlags) -> Result<ExitStatus, Refusal> {
    if let Some(path) = &flags.output {
        keep::check("--output", path)?;
    }
    flags.feed.check(flags.json)?;
    let plan = order::plan(flags, &Machine::read())?;
    prepare(&plan)?;
    let is_silent = flags.no_live || flags.feed.is_on_terminal();
    let style = if is_silent { Style::Nothing } else { Style::usual() };
    let (run, fed) = press(plan, style, flags)?;
    report(&run, flags)?;
    fed?;
    Ok(outcome(answer(&run.recording, flags.max_failures), &run.requirements))
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

/// Runs the plan, and analyses the result; says besides what could not be written meanwhile.
fn press(
    plan: Plan,
    style: Style,
    flags: &LoadFlags,
) -> Result<(FinishedLoad, Result<(), Refusal>), Refusal> {
    let halt = halt_on_interrupt()?;
    let mut feed = Feed::open(&flags.feed, &plan.asked, plan.order.stop.duration)?;
    let mut view = View::open(style, &plan.order, &plan.asked);
    let before = queue_of(&plan.order.target);
    let loaded = load::press(&plan.order, &halt, &mut |glance| {
        view.watch(glance);
        feed.watch(glance);
    });
    let live_view_cpu = view.close();
    let mut recording = loaded.map_err(|error| Refusal::new(error.to_string()))?;
    let fed = feed.close(&recording);
    for secret in &plan.secrets {
        recording.total.evidence.iter_mut().for_each(|kept| secret.conceal(kept));
    }
    let after = queue_of(&plan.order.target);
    let queue = before.zip(after).map(|(before, after)| Queue {
        backlog: before.backlog.or(after.backlog),
        overflows: after.overflows.saturating_sub(before.overflows),
    });
    Ok((weighed(plan, recording, live_view_cpu, queue, &flags.required.require), fed))
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

/// A recording with its verdict.
pub(crate) fn weighed(
    plan: Plan,
    recording: Recording,
    live_view_cpu: u64,
    queue: Option<Queue>,
    required: &[Requirement],
) -> FinishedLoad {
    let verdict = weigh(&recording, &plan.order, queue);
    let costs = Costs { live_view_cpu, peak_memory_bytes: limits::peak_memory_bytes() };
    let judge = |required: &Requirement| required.judge(&recording, verdict.word);
    let requirements = required.iter().map(judge).collect();
    FinishedLoad {
        asked: plan.asked,
        order: plan.order,
        recording,
        verdict,
        costs,
        queue,
        requirements,
    }
}

fn report(run: &FinishedLoad, flags: &LoadFlags) -> Result<(), Refusal> {
    let refused =
        |error: &dyn std::fmt::Display| Refusal::new(format!("the results are lost: {error}"));
    let wants_json = flags.json || flags.output.is_some();
    let json = if wants_json { json(run).map_err(|error| refused(&error))? } else { String::new() };
    // Printed first: a file that cannot be written must not destroy the results.
    let screen = Screen { is_full: flags.full, ..terminal::screen() };
    let text = if flags.json { json.clone() } else { render::text(&document(run), screen) };
    match flags.feed.is_on_stdout() {
        true => terminal::notice(text.trim_end()),
        false => terminal::print(&text).map_err(|error| refused(&error))?,
    }
    match &flags.output {
        None => Ok(()),
        Some(path) => keep::write(path, &json).map_err(|error| {
            Refusal::new(format!("--output {}: {error}; the results stand above", path.display()))
        }),
    }
}

/// If there are only these failures, it is not known whether a server would have answered.
const UNREACHED: [Failure; 5] = [
    Failure::ConnectRefused,
    Failure::ConnectTimeout,
    Failure::ConnectUnreachable,
    Failure::NoPorts,
    Failure::NoFiles,
];

fn answer(recording: &Recording, failures_max_percent: f64) -> ExitStatus {
    let total = &recording.total;
    match recording.end {
        End::Halted => return ExitStatus::Interrupted,
        End::GaveUp(_) => return ExitStatus::CouldNotTell,
        End::Done => {}
    }
    let unreached: u64 = UNREACHED.into_iter().map(|failure| total.failures(failure)).sum();
    let nothing_but_unreached = unreached == total.attempted - total.under_way;
    if total.attempted == 0 || total.correct == 0 && nothing_but_unreached {
        return ExitStatus::CouldNotTell;
    }
    let failed_percent = 100.0 * total.failed_in_all() as f64 / total.attempted as f64;
    if failures_max_percent < failed_percent { ExitStatus::No } else { ExitStatus::Yes }
}
