//! `dyno run --show`: every command, limit and target; nothing is run.

use std::time::Duration;

use lab::build::Recipe;
use lab::experiment::{Experiment, Required, Shape};
use lab::plan::plan;
use lab::record::TrialKey;
use lab::subject::Subject;

use campaign::{Campaign, EACH, RunResources};

use crate::progress::expected;
use report::run::rounds;
use report::units::{bytes, count, duration};

pub(crate) fn page(campaign: &Campaign, resources: &RunResources) -> String {
    let experiment = &campaign.experiment;
    let mut page = vec![format!("{}: {}", experiment.source.name, experiment.question)];
    page.extend(experiment.article.iter().map(|article| format!("  after {article}")));
    if experiment.is_quick {
        page.push("  --quick: shorter and fewer trials than the file asks for".into());
    }
    page.push(String::new());
    page.push("Load".into());
    page.push(format!("  {}", load(experiment)));
    let points: Vec<String> =
        experiment.points.iter().map(|point| point.value().to_string()).collect();
    let unit = experiment.points.first().map_or("", |point| point.unit());
    page.push(format!("  at {} {unit}", points.join(", ")));
    page.push(format!(
        "  each {}warm-up {}, time-out {}",
        until(experiment),
        duration(experiment.warmup),
        duration(experiment.timeout)
    ));
    page.push(format!("  {}", rounds(experiment)));
    page.push(format!("  {}", check(experiment)));
    for workload in &campaign.workloads {
        page.push(format!("  workload {}: {}", workload.name, workload.title));
        for question in &workload.questions {
            let mut request = Vec::new();
            question.ask.encode(wire::Values::default(), &mut request);
            let line = request.split(|&byte| byte == b'\r').next().unwrap_or_default();
            page.push(format!(
                "    {} × `{}`, such as {}",
                question.weight,
                question.name,
                line.escape_ascii()
            ));
        }
    }
    page.push(String::new());
    page.push("Conditions".into());
    page.extend(conditions(experiment, resources));
    page.push(String::new());
    page.push(
        "Commands, in the order of the file; each subject is started anew for every trial".into(),
    );
    for member in &campaign.members {
        match &member.subject {
            Ok(subject) => page.extend(commands(campaign, subject, member.lack())),
            Err(error) => page.push(format!("  {}: {error}", member.name)),
        }
    }
    page.push(String::new());
    page.extend(order(campaign));
    page.join("\n") + "\n"
}

/// The text for a subject that is added as a reference.
const EXTRA: &str = "is added as a reference, in the first round: it shows how far the load itself comes, so that there is a \
                     ceiling (`[trials] ceiling = false` leaves it out)";

fn load(experiment: &Experiment) -> String {
    let mut says = match experiment.shape {
        Shape::Closed => {
            "closed: each connection sends its next request when it is answered".to_string()
        }
        Shape::Open { poisson, connections, max_connections } => format!(
            "open: requests arrive {}, on {} to {} connections",
            if poisson { "at random (Poisson)" } else { "evenly spaced" },
            count(connections as u64),
            count(max_connections as u64)
        ),
        Shape::Sessions { calls, .. } => {
            format!(
                "sessions: connections arrive evenly spaced, {} calls each",
                count(u64::from(calls))
            )
        }
        Shape::Held(holds) => format!(
            "held: {} more connections every {}, begun at {} a second and kept; closed after the last step, and \
             then watched for {}",
            count(holds.step as u64),
            duration(holds.every),
            count(u64::from(holds.per_second)),
            duration(holds.drain)
        ),
    };
    if !experiment.keep_alive {
        says.push_str(", one request a connection");
    }
    says
}

/// The conformance check beside the speed.
fn check(experiment: &Experiment) -> String {
    if !experiment.has_check {
        return "no server is checked: every table will say so".into();
    }
    let require = experiment.require.filter(Required::needs_check);
    let require = require.map_or(String::new(), |require| {
        let most = [
            ("MUST broken", require.must_broken),
            ("SHOULD broken", require.should_broken),
            ("security", require.security),
        ];
        let says = most.into_iter().filter_map(|(what, most)| Some(format!("{what} {}", most?)));
        format!(
            "; a server with more than this is not ranked: {}",
            says.collect::<Vec<_>>().join(", ")
        )
    });
    format!(
        "first, once for each build: how much of the RFCs each keeps, about {} each; and the {} cheapest cases before \
         and after each load (`--no-check` leaves this out){require}",
        duration(EACH),
        count(lab::conformance::CHEAP.len() as u64)
    )
}

fn until(experiment: &Experiment) -> String {
    let what = match experiment.shape {
        Shape::Sessions { .. } => "sessions",
        Shape::Closed | Shape::Open { .. } | Shape::Held(_) => "requests",
    };
    let total = experiment.total.map(|total| format!("{} {what}, ", count(total)));
    let time = experiment.duration.map(|time| format!("{}, ", duration(time)));
    total.unwrap_or_default() + &time.unwrap_or_default()
}

fn conditions(experiment: &Experiment, resources: &RunResources) -> Vec<String> {
    let wanted = &experiment.conditions;
    let mut lines = vec![
        format!(
            "  the subject on CPUs {}, the load on CPUs {}",
            resources.split.subject, resources.split.load
        ),
        match wanted.memory {
            Some(memory) => format!("  memory: at most {} ({memory} bytes)", bytes(memory)),
            None => "  memory: no limit is set".into(),
        },
        format!("  open files: {} for each process of a subject", count(resources.files)),
        match wanted.isolate {
            true => "  network: a namespace of its own for each trial".into(),
            false => "  network: the machine's loopback, 127.0.0.1".into(),
        },
    ];
    lines.extend(resources.split.shared.iter().map(|shared| format!("  {shared}")));
    if !resources.sources.is_empty() {
        lines.push(format!(
            "  connections come from {} loopback addresses",
            resources.sources.len()
        ));
    }
    lines
}

fn commands(campaign: &Campaign, subject: &Subject, lack: Option<String>) -> Vec<String> {
    let mut lines = vec![format!("  {} ({})", subject.name, subject.title)];
    if campaign.is_extra(&subject.name) {
        lines.push(format!("    {EXTRA}"));
    }
    if let Some(lack) = lack {
        lines.push(format!("    does not take part here: {lack}"));
    }
    if let Ok(place) = campaign.cache.folder(Recipe::from(subject)) {
        lines.push(format!("    in       {}", place.display()));
    }
    lines.extend(subject.build.iter().map(|command| format!("    build    {command}")));
    lines.extend(subject.version.iter().map(|command| format!("    version  {command}")));
    lines.push(format!("    run      {}", subject.run));
    for (name, value) in &subject.env {
        lines.push(format!("    with     {name}={value}"));
    }
    for name in &subject.passes {
        lines.push(format!("    sees     your ${name}"));
    }
    lines.extend(subject.probe.iter().map(|probe| format!("    probe    probes/{probe}")));
    lines
}

/// How many trials there are; if their number is determined by the data, the least and the most.
pub(crate) fn trials(experiment: &Experiment, keys: &[&TrialKey]) -> String {
    let most = count(keys.len() as u64);
    match (experiment.until, least(experiment, keys).len()) {
        (None, _) => format!("{most} trials"),
        (Some(_), 0) => format!("at most {most} trials"),
        (Some(_), least) => format!("{} to {most} trials", count(least as u64)),
    }
}

/// About how long they take, and the checks before them.
pub(crate) fn time(experiment: &Experiment, keys: &[&TrialKey], checks: Duration) -> String {
    let of = |keys: &[&TrialKey]| {
        let expected = expected(experiment, keys) + checks;
        duration(Duration::from_secs(expected.as_secs().max(1)))
    };
    let time = match (experiment.until, least(experiment, keys).as_slice()) {
        (None, _) => format!("about {}", of(keys)),
        (Some(_), []) => format!("at most about {}", of(keys)),
        (Some(_), least) => format!("about {} to {}", of(least), of(keys)),
    };
    match checks {
        Duration::ZERO => time,
        checks => format!("{time}, {} of it to check servers against the RFCs", duration(checks)),
    }
}

/// The trials that are run in any case.
fn least<'k>(experiment: &Experiment, keys: &[&'k TrialKey]) -> Vec<&'k TrialKey> {
    keys.iter().filter(|key| key.repeat < experiment.repeat).copied().collect()
}

fn order(campaign: &Campaign) -> Vec<String> {
    let members = campaign.members.iter().filter(|member| member.lack().is_none());
    let runners: Vec<_> =
        members.filter_map(|member| Some(campaign.runner(member.subject.as_ref().ok()?))).collect();
    let experiment = &campaign.experiment;
    let plan = plan(experiment, &runners);
    let keys: Vec<_> = plan.iter().collect();
    let checks = match experiment.has_check {
        true => format!(", and {} for each server that is not checked yet", duration(EACH)),
        false => String::new(),
    };
    let mut lines = vec![format!(
        "Order of the {} (seed {}), {} in all{checks}",
        trials(experiment, &keys),
        experiment.seed,
        time(experiment, &keys, Duration::ZERO)
    )];
    let mut place = None;
    for key in &plan {
        let here = (key.repeat, key.workload.clone(), key.point.to_string());
        if place.as_ref() == Some(&here) {
            if let Some(line) = lines.last_mut() {
                line.push_str(&format!(", {}", key.subject));
            }
        } else {
            lines.push(format!(
                "  round {}  {} at {}: {}",
                key.repeat + 1,
                here.1,
                here.2,
                key.subject
            ));
            place = Some(here);
        }
    }
    lines
}
