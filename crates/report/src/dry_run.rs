//! What a run would do: every command, limit and target, in the order of the trials; nothing is run.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use lab::command::Command;
use lab::experiment::{Experiment, Required, Shape};
use lab::manner::Protocol;
use lab::record::TrialKey;
use lab::service::Service;
use lab::subject::{Serving, Subject, Tier};
use lab::workload::Workload;
use machine::conditions::Split;
use units::{bytes, count, counted, duration};

use crate::grouped::distinct;
use crate::run::experiment_text;

/// A run that has not begun.
pub struct DryRun<'r> {
    pub experiment: &'r Experiment,
    pub workloads: &'r [Workload],
    /// The CPUs of either side.
    pub split: &'r Split,
    /// Open files of a subject's process.
    pub files: u64,
    /// The address on which subjects listen, if it is not the machine's loopback: then the load comes from elsewhere.
    pub address: Option<String>,
    /// How many local addresses connections come from; none if the kernel chooses.
    pub sources: usize,
    pub members: Vec<DryMember<'r>>,
    /// What its workloads need beside the subjects, each with why it cannot be had, if it cannot.
    pub services: Vec<(&'r Service, Option<String>)>,
    /// Every trial, in the order in which they would run.
    pub plan: Vec<TrialKey>,
    /// How long the check of a server takes.
    pub each_check: Duration,
}

/// A subject that would take part, or why it cannot.
pub struct DryMember<'r> {
    pub name: &'r str,
    pub subject: Result<&'r Subject, &'r String>,
    /// It is added as a reference.
    pub is_extra: bool,
    /// Why it does not take part.
    pub lack: Option<String>,
    /// The folder in which it runs.
    pub folder: Option<PathBuf>,
    /// The protocols over which it is checked before the trials.
    pub checked: Vec<Protocol>,
}

/// What is printed of it.
pub fn text(run: &DryRun<'_>) -> String {
    let experiment = run.experiment;
    let mut page = vec![format!("{}: {}", experiment.source.name, experiment.question)];
    page.extend(experiment.article.iter().map(|article| format!("  after {article}")));
    if experiment.is_quick {
        page.push("  --quick: shorter and fewer trials than the file asks for".into());
    }
    if !experiment.changed.says.is_empty() {
        let (flags, says) = (&experiment.changed.flags, &experiment.changed.says);
        page.push(format!(
            "  {}: {}, instead of what the file says",
            flags.join(" "),
            says.join(", ")
        ));
    }
    page.extend([String::new(), "Load".into()]);
    page.push(format!("  {}", experiment_text::load(experiment, None)));
    page.push(format!("  {}", connections(experiment)));
    page.push(format!("  {}", check(experiment, run.each_check)));
    page.extend(run.workloads.iter().flat_map(workload));
    page.extend([String::new(), "Conditions".into()]);
    page.extend(conditions(run));
    page.extend([
        String::new(),
        "Commands, in the order of the file; each server is started anew for every trial".into(),
    ]);
    let (protocols, is_search) = (experiment.protocols(), experiment.sought.is_some());
    page.extend(run.members.iter().flat_map(|it| member(it, &protocols, is_search)));
    page.extend(run.services.iter().flat_map(|(it, lack)| service(it, lack.as_ref())));
    page.push(String::new());
    page.extend(order(run));
    // Whoever reads this decides whether to run a stranger's commands.
    units::visible(&page.join("\n")) + "\n"
}

fn workload(workload: &Workload) -> Vec<String> {
    let mut lines = vec![format!("  workload {}: {}", workload.name, workload.title)];
    lines.extend(workload.questions.iter().map(|question| {
        let (name, line) = (&question.name, question.request_line());
        format!("    {} × `{name}`, such as {line}", question.weight)
    }));
    lines
}

/// The text for a subject that is added as a reference.
const EXTRA: &str = "is added in the first round, as dyno's own server: it shows the highest rate that this machine \
    and dyno can reach (`[trials] ceiling = false` leaves it out)";

/// The text for such a subject where capacities are searched for.
const EXTRA_OF_SEARCH: &str = "is added for two seconds before the searches, as dyno's own server: no rate is tried \
    that comes near to what it gives (`[trials] ceiling = false` leaves it out)";

/// How the load uses its connections.
fn connections(experiment: &Experiment) -> String {
    let mut says = match experiment.shape {
        Shape::Closed => "each connection sends its next request when it is answered".to_string(),
        Shape::Open { connections, max_connections, .. } => {
            let (few, many) = (count(connections as u64), count(max_connections as u64));
            format!("on {few} to {many} connections")
        }
        Shape::Sessions { .. } => {
            "sessions arrive evenly spaced, each on its own connection".into()
        }
        Shape::Held(holds) => format!(
            "connections are kept, closed after the last step, and then the server is watched for {}",
            duration(holds.drain)
        ),
    };
    if !experiment.keep_alive {
        says.push_str(", one request a connection");
    }
    says
}

/// The conformance check beside the speed.
fn check(experiment: &Experiment, each: Duration) -> String {
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
        "first, once for each build: a conformance check, about {} each; and the {} cheapest cases before and after \
         each load (`--no-check` leaves this out){require}",
        duration(each),
        count(lab::conformance::CHEAP.len() as u64)
    )
}

fn conditions(run: &DryRun<'_>) -> Vec<String> {
    let wanted = &run.experiment.conditions;
    let mut lines = vec![
        match run.address {
            None => {
                let service = run.split.service.as_ref();
                let service = service.map(|cpus| format!(", the service on CPUs {cpus}"));
                format!(
                    "  the server on CPUs {}, the load on CPUs {}{}",
                    run.split.subject,
                    run.split.load,
                    service.unwrap_or_default()
                )
            }
            Some(_) => {
                format!("  the server on CPUs {}, the load from elsewhere", run.split.subject)
            }
        },
        match wanted.memory {
            Some(memory) => format!("  memory: at most {} ({memory} bytes)", bytes(memory)),
            None => "  memory: no limit is set".into(),
        },
        format!("  open files: {} for each process of a server", count(run.files)),
        match wanted.isolate {
            true => "  network: a namespace of its own for each trial".into(),
            false => match &run.address {
                Some(address) => format!("  network: the servers listen on {address}"),
                None => "  network: the machine's loopback, 127.0.0.1".into(),
            },
        },
    ];
    lines.extend(run.split.shared.iter().map(|shared| format!("  {shared}")));
    if 0 < run.sources {
        lines.push(format!("  connections come from {} loopback addresses", run.sources));
    }
    lines
}

/// The commands that start it, each with the protocols for which it is started, if there is more than one; and what starts
/// it for its check, if that is another one.
fn starts(subject: &Subject, protocols: &[Protocol], checked: &[Protocol]) -> Vec<String> {
    let Serving::Built(starts) = &subject.serving else {
        return subject
            .serving
            .command()
            .map(|run| format!("    run      {run}"))
            .into_iter()
            .collect();
    };
    let spoken: Vec<Protocol> =
        protocols.iter().copied().filter(|it| subject.answers_over(*it)).collect();
    let commands: Vec<&Command> = distinct(spoken.iter().map(|it| starts.over(*it)));
    let over = |command: &Command| {
        let names = spoken.iter().filter(|it| starts.over(**it) == command).map(|it| it.name());
        names.collect::<Vec<_>>().join(", ")
    };
    let over = |command: &Command| match protocols {
        [_] => String::new(),
        _ => format!("  (over {})", over(command)),
    };
    let run = commands.iter().map(|command| format!("    run      {command}{}", over(command)));
    let checked = checked.iter().map(|it| starts.over(*it)).filter(|it| !commands.contains(it));
    run.chain(checked.map(|command| format!("    check    {command}"))).collect()
}

fn member(member: &DryMember<'_>, protocols: &[Protocol], is_search: bool) -> Vec<String> {
    let subject = match member.subject {
        Ok(subject) => subject,
        Err(error) => return vec![format!("  {}: {error}", member.name)],
    };
    let mut lines = vec![format!("  {} ({})", subject.name, subject.title)];
    if member.is_extra {
        lines.push(format!("    {}", if is_search { EXTRA_OF_SEARCH } else { EXTRA }));
    }
    lines.extend(member.lack.iter().map(|lack| format!("    does not take part here: {lack}")));
    lines.extend(member.folder.iter().map(|place| format!("    in       {}", place.display())));
    lines.extend(subject.plan.commands.iter().map(|command| format!("    build    {command}")));
    lines.extend(subject.version.iter().map(|command| format!("    version  {command}")));
    lines.extend(starts(subject, protocols, &member.checked));
    for (name, value) in &subject.plan.env {
        lines.push(format!("    with     {name}={value}"));
    }
    for name in &subject.plan.passes {
        lines.push(format!("    sees     your ${name}"));
    }
    lines.extend(subject.probe.iter().map(|probe| format!("    probe    probes/{probe}")));
    lines
}

/// A service, with each command in the order in which they are run.
fn service(service: &Service, lack: Option<&String>) -> Vec<String> {
    let Service { name, manifest, plan, .. } = service;
    let mut lines = vec![format!("  {name} ({}), beside the server", manifest.title)];
    lines.extend(lack.map(|lack| format!("    cannot be had here: {lack}")));
    let all = [
        ("build  ", plan.commands.iter().collect::<Vec<_>>()),
        ("version", manifest.version.iter().collect()),
        ("start  ", vec![&manifest.run]),
        ("ready  ", vec![&manifest.ready]),
        ("seed   ", manifest.seed.iter().collect()),
        ("read   ", manifest.read.iter().collect()),
        ("insert ", manifest.insert.iter().collect()),
        ("count  ", manifest.counters.iter().collect()),
        ("ceiling", manifest.ceiling.iter().collect()),
    ];
    for (what, commands) in all {
        lines.extend(commands.iter().map(|command| format!("    {what}  {command}")));
    }
    let with = plan.env.iter().map(|(name, value)| (name, value)).chain(&manifest.env);
    lines.extend(with.map(|(name, value)| format!("    with     {name}={value}")));
    let given = manifest.gives.iter();
    lines.extend(given.map(|(name, value)| format!("    gives    {name}={value}")));
    lines
}

/// How many trials there are; if their number is determined by the data, the least and the most.
pub fn trials(experiment: &Experiment, keys: &[&TrialKey]) -> String {
    if experiment.sought.is_some() {
        return counted(searches(keys) as u64, "search", "searches");
    }
    let most = count(keys.len() as u64);
    match (experiment.until, least(experiment, keys).len()) {
        (None, _) => format!("{most} trials"),
        (Some(_), 0) => format!("at most {most} trials"),
        (Some(_), least) => format!("{} to {most} trials", count(least as u64)),
    }
}

/// About how long they take, and the checks before them.
pub fn time(experiment: &Experiment, keys: &[&TrialKey], checks: Duration) -> String {
    if let Some(sought) = &experiment.sought {
        let all = sought.limit * u32::try_from(searches(keys)).unwrap_or(u32::MAX);
        let checks = match checks {
            Duration::ZERO => String::new(),
            checks => {
                format!(", and before them {} to check servers against the RFCs", duration(checks))
            }
        };
        return format!(
            "at most {} of trials each, {} in all, one trial of each in turn{checks}",
            duration(sought.limit),
            duration(all)
        );
    }
    let most = in_all(experiment, keys, checks);
    let time = match (experiment.until, least(experiment, keys).as_slice()) {
        (None, _) => format!("about {most}"),
        (Some(_), []) => format!("at most about {most}"),
        (Some(_), least) => format!("about {} to {most}", in_all(experiment, least, checks)),
    };
    match checks {
        Duration::ZERO => time,
        checks => format!("{time}, {} of it to check servers against the RFCs", duration(checks)),
    }
}

/// How long trials take, and the checks before them.
fn in_all(experiment: &Experiment, keys: &[&TrialKey], checks: Duration) -> String {
    let each = keys.iter().map(|key| experiment.trial_time(key.point));
    let expected = each.sum::<Duration>() + checks;
    duration(Duration::from_secs(expected.as_secs().max(1)))
}

/// Each server and task has one.
fn searches(keys: &[&TrialKey]) -> usize {
    let all: BTreeSet<(&str, &str)> =
        keys.iter().map(|key| (key.subject.as_str(), key.workload.as_str())).collect();
    all.len()
}

/// The trials that are run in any case.
fn least<'k>(experiment: &Experiment, keys: &[&'k TrialKey]) -> Vec<&'k TrialKey> {
    keys.iter().filter(|key| key.repeat < experiment.repeat).copied().collect()
}

/// Which servers are searched for what they hold. References are not, unless there is nothing else.
fn searched<'r>(run: &'r DryRun<'_>) -> Vec<&'r TrialKey> {
    let is_extra = |key: &TrialKey| {
        run.members.iter().any(|member| member.is_extra && member.name == key.subject)
    };
    let is_reference = |key: &TrialKey| {
        let mut subjects = run.members.iter().filter_map(|member| member.subject.ok());
        subjects.any(|it| it.name == key.subject && it.tier == Tier::Reference)
    };
    let all: Vec<&TrialKey> = run.plan.iter().filter(|key| !is_extra(key)).collect();
    let rest: Vec<&TrialKey> = all.iter().copied().filter(|key| !is_reference(key)).collect();
    if rest.is_empty() { all } else { rest }
}

fn order(run: &DryRun<'_>) -> Vec<String> {
    let experiment = run.experiment;
    if experiment.sought.is_some() {
        let keys = searched(run);
        let (all, time) = (trials(experiment, &keys), time(experiment, &keys, Duration::ZERO));
        let mut lines = vec![format!("The {all} (seed {}), {time}", experiment.seed)];
        let search = |key: &&TrialKey| format!("  {}: {}", key.workload, key.subject);
        lines.extend(keys.iter().map(search));
        return lines;
    }
    let keys: Vec<&TrialKey> = run.plan.iter().collect();
    let checks = match experiment.has_check {
        true => {
            format!(", and {} for each server that is not checked yet", duration(run.each_check))
        }
        false => String::new(),
    };
    let mut lines = vec![format!(
        "Order of the {} (seed {}), {} in all{checks}",
        trials(experiment, &keys),
        experiment.seed,
        time(experiment, &keys, Duration::ZERO)
    )];
    let is_at = |one: &TrialKey, other: &TrialKey| {
        (one.repeat, &one.workload, one.point) == (other.repeat, &other.workload, other.point)
    };
    lines.extend(run.plan.chunk_by(is_at).map(|here| {
        let subjects: Vec<&str> = here.iter().map(|key| key.subject.as_str()).collect();
        let place = experiment_text::place_in(Some(experiment), here[0].point);
        let (round, workload) = (here[0].repeat + 1, &here[0].workload);
        format!("  round {round}  {workload} at {place}: {}", subjects.join(", "))
    }));
    lines
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use lab::source_file::SourceFile;

    use super::*;
    use crate::run::fixture;

    #[test]
    fn every_command_and_variable_of_a_service_and_of_a_check_is_shown() {
        let text = "title = 't'\nbuild = ['make it']\nrun = 'it {port}'\nready = 'is ready'\nseed = ['sow']\nread = \
                    'cat {table}'\ninsert = 'add row'\ncounters = 'tell'\nceiling = 'press'\nversion = 'it -v'\n\
                    env = { LD_PRELOAD = '{work}/x.so' }\ngives = { URL = 'x:{port}' }\n";
        let source = SourceFile { name: "s".into(), text: text.into() };
        let read = Service::parse(Path::new("/nowhere"), "s", source, &[]).unwrap();
        let shown = service(&read, None).join("\n");
        for line in text.lines().skip(1).filter_map(|line| line.split('\'').nth(1)) {
            assert!(shown.contains(line), "{line}: {shown}");
        }
        assert!(shown.contains("with     LD_PRELOAD={work}/x.so"), "{shown}");
        assert!(shown.contains("with     PATH=") && shown.contains("gives    URL=x:{port}"));
        let text = "title = 't'\nspeaks = ['w']\nprotocols = ['http/1.1', 'h2c']\nrun = 'one'\nrun_h2c = 'two'\n";
        let source = SourceFile { name: "s".into(), text: text.into() };
        let subject = Subject::parse(Path::new("/nowhere"), "s", &source).unwrap();
        let shown = |checked: &[Protocol]| starts(&subject, &[Protocol::H2c], checked).join("\n");
        assert_eq!(shown(&[Protocol::Http1, Protocol::H2c]), "    run      two\n    check    one");
        assert_eq!(shown(&[Protocol::H2c]), "    run      two");
    }

    #[test]
    fn offered_sessions_are_shown_as_the_requests_that_they_offer() {
        let record = fixture::run();
        let experiment = record.experiment.unwrap();
        let split = Split {
            subject: "0".parse().unwrap(),
            load: "1".parse().unwrap(),
            service: None,
            shared: None,
        };
        let shown = super::text(&DryRun {
            address: None,
            experiment: &experiment,
            workloads: &[],
            split: &split,
            files: 1_000,
            sources: 0,
            members: Vec::new(),
            services: Vec::new(),
            plan: record.plan,
            each_check: Duration::from_secs(12),
        });
        assert!(
            shown.contains("1,000, 2,000 requests/s (= 100, 200 sessions/s × 10 calls)"),
            "{shown}"
        );
        assert_eq!(shown.matches("sessions/s").count(), 1, "{shown}");
        assert!(shown.contains("round 2  echo-xml at 2,000 requests/s: quick, evil"), "{shown}");
    }
}
