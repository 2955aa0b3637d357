//! A race as the texts of an experiment, a workload and a manifest for each side, which the lab's own readers read, so
//! that whatever shows a run can show a race. Loads that are kept have an experiment and a workload likewise.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use lab::Refusal;
use lab::amounts;
use lab::experiment::{Experiment, Pairs};
use lab::manner::{Manner, Protocol};
use lab::source_file::SourceFile;
use lab::subject::Subject;
use lab::workload::Workload;
use load::{Arrivals, Load, Rate};
use tls::{TlsOrder, Trust};
use wire::{BodyRule, StatusRule};

use super::label::Label;

/// How long a trial loads, where nothing else ends it.
pub const USUAL: Duration = Duration::from_secs(3);

/// What the run, its experiment and its workload are called.
pub const NAME: &str = "race";

/// The same of a gate.
pub const GATE: &str = "gate";

/// The same of loads that are kept, repeated or in a history.
pub const LOAD: &str = "load";

/// The same of a search for a capacity.
pub const CAPACITY: &str = "capacity";

/// How it is called in a refusal.
pub fn called(name: &str) -> &'static str {
    match name {
        NAME => "a race",
        CAPACITY => "a search for a capacity",
        GATE => "a gate",
        _ => "a load that is kept, repeated or in a history",
    }
}

/// How long, how often, and under which conditions.
pub struct Course {
    /// `race`, `gate`, `load` or `capacity`.
    pub name: &'static str,
    pub question: String,
    /// None where `total` or the steps of the rate end a trial.
    pub duration: Option<Duration>,
    pub total: Option<u64>,
    pub warmup: Duration,
    pub timeout: Duration,
    pub keep_alive: bool,
    pub manner: Manner,
    pub rounds: Option<u64>,
    pub until_percent: Option<f64>,
    /// The rounds are pairs of the first subject and the second.
    pub pairs: Option<Pairs>,
    pub limit: Option<Duration>,
    pub isolate: bool,
    pub check: bool,
    pub seed: u64,
    /// How long the load stays with one side; none where whole trials follow one another.
    pub slices: Option<Duration>,
    /// The p99 that is to be kept, within which a request is on time.
    pub on_time: Option<Duration>,
    /// The percentage of requests that may fail.
    pub max_failures: Option<f64>,
    /// The percentage of answers that may be wrong; none: no answer may be.
    pub max_wrong: Option<f64>,
}

/// The experiment.
pub fn experiment(
    labels: &[Label],
    workload: &str,
    load: &Load,
    course: &Course,
) -> Result<Experiment, Refusal> {
    let names: Vec<String> = labels.iter().map(|label| quoted(&label.name)).collect();
    // Short trials need no long rest.
    let pause = (course.duration.unwrap_or(USUAL) / 6).min(Duration::from_millis(500));
    let mut trials = vec![
        format!("seed = {}", course.seed),
        format!("pause = {}", time(pause)),
        "ceiling = false".into(),
        format!("check = {}", course.check),
    ];
    trials.extend(course.slices.map(|length| format!("slices = {}", time(length))));
    trials.extend(course.rounds.map(|rounds| format!("repeat = {rounds}")));
    trials.extend(course.until_percent.map(|percent| format!("until = \"±{percent}%\"")));
    trials.extend(course.pairs.as_ref().map(Pairs::written));
    trials.extend(course.limit.map(|limit| format!("limit = {}", time(limit))));
    let mut loads = vec![of_load(load, called(course.name))?];
    loads.extend(course.duration.map(|duration| format!("duration = {}", time(duration))));
    loads.extend(course.total.map(|total| format!("total = {total}")));
    loads.extend(of_manner(course.manner));
    let mut promise: Vec<String> = Vec::new();
    promise.extend(course.on_time.map(|p99| format!("p99 = {}\n", time(p99))));
    promise.extend(course.max_failures.map(|percent| format!("failures = \"{percent}%\"\n")));
    let wrong = course.max_wrong.map(|percent| format!("\n[require]\nwrong = \"{percent}%\"\n"));
    let text = format!(
        "question = {}\nsubjects = [{}]\nworkload = {}\n\n[load]\n{}\nwarmup = {}\ntimeout = {}\nkeep_alive = {}\n\n\
         [conditions]\nisolate = {}\n\n[trials]\n{}\n\n[promise]\n{}{}",
        quoted(&course.question),
        names.join(", "),
        quoted(workload),
        loads.join("\n"),
        time(course.warmup),
        time(course.timeout),
        course.keep_alive,
        course.isolate,
        trials.join("\n"),
        promise.concat(),
        wrong.unwrap_or_default(),
    );
    let source = SourceFile { name: format!("experiments/{}.toml", course.name), text };
    Experiment::parse(course.name, source).map_err(|error| Refusal::new(error.says()))
}

/// What is said of how requests travel: nothing of HTTP/1.1 in cleartext.
fn of_manner(manner: Manner) -> Vec<String> {
    let Manner { protocol, streams, resumed } = manner;
    let mut lines = Vec::new();
    if protocol != Protocol::Http1 {
        lines.push(format!("protocol = {}", quoted(protocol.name())));
    }
    if protocol.is_http2() {
        lines.push(format!("streams = {streams}"));
    }
    if 0 < resumed {
        lines.push(format!("tls_resume = {resumed}"));
    }
    lines
}

fn of_load(load: &Load, what: &str) -> Result<String, Refusal> {
    let number = |rate: &Rate| rate.as_f64().to_string();
    Ok(match load {
        Load::Closed { connections } => format!("closed = {{ connections = {connections} }}"),
        Load::Open { arrivals, connections, max_connections } => {
            let (rate, law) = match arrivals {
                Arrivals::Constant(rate) => (number(rate), "constant"),
                Arrivals::Poisson(rate) => (number(rate), "poisson"),
                Arrivals::Ramp { from, to, .. } => {
                    (format!("\"{}..{}\"", number(from), number(to)), "constant")
                }
                Arrivals::Steps(steps) => {
                    let step = |(rate, length): &(Rate, Duration)| {
                        format!("{}:{}", number(rate), amounts::written(*length))
                    };
                    let steps: Vec<String> = steps.iter().map(step).collect();
                    (format!("\"{}\"", steps.join(",")), "constant")
                }
                Arrivals::Listed(_) => {
                    let says =
                        format!("--arrivals: {what} has no list of times; give a rate with -r");
                    return Err(Refusal::new(says));
                }
            };
            format!(
                "open = {{ rate = {rate}, arrivals = \"{law}\", connections = {connections}, max_connections = \
                 {max_connections} }}"
            )
        }
        Load::Sessions { arrivals: Arrivals::Constant(rate), calls, max_connections } => format!(
            "sessions = {{ rate = {}, calls = {calls}, max_connections = {max_connections} }}",
            rate.as_f64()
        ),
        Load::Sessions { .. } => {
            return Err(Refusal::new(format!(
                "--arrivals: sessions of {what} begin evenly; leave it out"
            )));
        }
    })
}

/// A request, and what its answer must have.
pub struct StatedRequest {
    pub method: String,
    pub target: String,
    pub fields: Vec<(String, String)>,
    pub send: String,
    pub status: Option<StatusRule>,
    pub answer_fields: Vec<(String, String)>,
    pub body: ExpectedBody,
}

/// An expected body, as text where it is one.
pub enum ExpectedBody {
    Any,
    Text(String),
    Length(u64),
    Sha256([u8; 32]),
}

impl ExpectedBody {
    /// Of a rule; the bytes of a file that is no text, or in which braces would be filled, are expected by their hash.
    pub fn of(rule: &BodyRule, written: Option<&str>) -> ExpectedBody {
        match rule {
            BodyRule::Any => ExpectedBody::Any,
            BodyRule::Length(length) => ExpectedBody::Length(*length),
            BodyRule::Sha256(digest) => ExpectedBody::Sha256(*digest),
            BodyRule::Exactly(template) => match written.filter(|text| !text.starts_with('@')) {
                Some(text) => ExpectedBody::Text(text.strip_prefix("text:").unwrap_or(text).into()),
                None => {
                    let bytes = template.constant().unwrap_or_default();
                    ExpectedBody::Sha256(wire::sha256(bytes))
                }
            },
        }
    }
}

/// The workload.
pub fn workload(name: &str, stated: &StatedRequest) -> Result<Workload, Refusal> {
    let StatedRequest { method, target, .. } = stated;
    let what = called(name);
    let mut text = format!("title = {}\n\n[[ask]]\n", quoted(&format!("{method} {target}")));
    text += &format!("request = {}\n", quoted(&format!("{method} {target} HTTP/1.1")));
    text += &table("send_header", &stated.fields, what)?;
    if !stated.send.is_empty() {
        text += &format!("send = {}\n", quoted(&stated.send));
    }
    text += &match stated.status {
        None | Some(StatusRule::Success) => String::new(),
        Some(StatusRule::Any) => "status = \"any\"\n".into(),
        Some(StatusRule::Exactly(status)) => format!("status = {status}\n"),
    };
    text += &table("header", &stated.answer_fields, what)?;
    text += &key_of(&stated.body);
    let source = SourceFile { name: format!("workloads/{name}.toml"), text };
    Workload::parse(name, source).map_err(|error| Refusal::new(error.says()))
}

fn key_of(body: &ExpectedBody) -> String {
    match body {
        ExpectedBody::Any => String::new(),
        ExpectedBody::Text(body) => format!("body = {}\n", quoted(body)),
        ExpectedBody::Length(length) => format!("body_length = {length}\n"),
        ExpectedBody::Sha256(digest) => {
            let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("body_sha256 = \"{hex}\"\n")
        }
    }
}

/// The same with the body of the answer to its only request, which states none: another body is a failure, or is only
/// counted.
pub fn with_body(workload: &Workload, body: &[u8], is_usual: bool) -> Result<Workload, Refusal> {
    let stated = match String::from_utf8(wire::quoted(body, false)) {
        Ok(text) => ExpectedBody::Text(text),
        Err(_) => ExpectedBody::Sha256(wire::sha256(body)),
    };
    let keys = format!("[[ask]]\n{}body_is_usual = {is_usual}\n", key_of(&stated));
    let text = workload.source.text.replacen("[[ask]]\n", &keys, 1);
    let source = SourceFile { text, ..workload.source.clone() };
    Workload::parse(&workload.name, source).map_err(|error| Refusal::new(error.says()))
}

fn table(key: &str, fields: &[(String, String)], what: &str) -> Result<String, Refusal> {
    if fields.is_empty() {
        return Ok(String::new());
    }
    let twice = (1..fields.len())
        .find(|&at| fields[..at].iter().any(|other| other.0.eq_ignore_ascii_case(&fields[at].0)));
    if let Some(at) = twice {
        let name = fields[at].0.escape_debug();
        return Err(Refusal::new(format!(
            "the field `{name}` is given twice; {what} sends it once"
        )));
    }
    let pair = |(name, value): &(String, String)| format!("{} = {}", quoted(name), quoted(value));
    let pairs: Vec<String> = fields.iter().map(pair).collect();
    Ok(format!("{key} = {{ {} }}\n", pairs.join(", ")))
}

/// The user's own command, run in this folder.
pub fn own(label: &Label, workload: &str, command: &str, folder: &str) -> Result<Subject, Refusal> {
    subject(label, workload, &format!("in = {}\nrun = {}\n", quoted(folder), quoted(command)), "")
}

/// A server that runs already.
pub fn found(
    label: &Label,
    workload: &str,
    address: SocketAddr,
    (host, target): (&str, &str),
    tls: Option<&TlsOrder>,
) -> Result<Subject, Refusal> {
    let site = format!(
        "site = {{ address = \"{address}\", host = {}, target = {}{} }}\n",
        quoted(host),
        quoted(target),
        tls.map_or(String::new(), |order| format!(", tls = {}", table_of(order)))
    );
    subject(label, workload, &site, "")
}

/// TLS as an inline table.
fn table_of(order: &TlsOrder) -> String {
    let TlsOrder { host, trust, version, suites, groups, resume, alpn } = order;
    let trust = match trust {
        Trust::System => "\"system\"".to_string(),
        Trust::Given(text) => format!("{{ given = {} }}", quoted(text)),
        Trust::All => "\"all\"".to_string(),
    };
    let version = version.map(|it| format!("version = \"{}\", ", it.name())).unwrap_or_default();
    let list = |names: &[String]| names.iter().map(|it| quoted(it)).collect::<Vec<_>>().join(", ");
    format!(
        "{{ host = {}, trust = {trust}, {version}suites = [{}], groups = [{}], resume = {}, alpn = {} }}",
        quoted(host),
        list(suites),
        list(groups),
        resume.percent(),
        quoted(alpn)
    )
}

/// The server that shows the ceiling.
pub fn reference(label: &Label, workload: &str, command: &str) -> Result<Subject, Refusal> {
    let serving = format!("in = \"/\"\nrun = {}\n", quoted(command));
    subject(label, workload, &serving, "tier = \"reference\"\n")
}

fn subject(label: &Label, workload: &str, serving: &str, more: &str) -> Result<Subject, Refusal> {
    let text = format!(
        "title = {}\nlanguage = \"\"\nhome = \"\"\nprocesses = \"unstated\"\nspeaks = [{}]\n{more}{serving}",
        quoted(&label.title),
        quoted(workload)
    );
    let source = SourceFile { name: format!("subjects/{}/subject.toml", label.name), text };
    Subject::parse(Path::new("/"), &label.name, &source).map_err(|error| Refusal::new(error.says()))
}

/// A text as TOML writes it: as JSON does, except for one character.
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

fn time(time: Duration) -> String {
    format!("\"{}\"", amounts::written(time))
}

#[cfg(test)]
mod tests;
