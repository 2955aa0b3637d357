//! A race as the texts of an experiment, a workload and a manifest for each side, which the lab's own readers read, so
//! that whatever shows a run can show a race.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use lab::experiment::Experiment;
use lab::source_file::SourceFile;
use lab::subject::Subject;
use lab::workload::Workload;
use load::{Arrivals, Load};
use wire::{BodyRule, StatusRule};

use super::label::Label;
use crate::shell::Refusal;

/// What the run, its experiment and its workload are called.
pub(crate) const NAME: &str = "race";

/// How long, how often, and under which conditions.
pub(crate) struct Course {
    pub(crate) duration: Duration,
    pub(crate) warmup: Duration,
    pub(crate) timeout: Duration,
    pub(crate) keep_alive: bool,
    pub(crate) rounds: Option<u64>,
    pub(crate) until_percent: Option<f64>,
    pub(crate) limit: Option<Duration>,
    pub(crate) isolate: bool,
    pub(crate) check: bool,
    pub(crate) seed: u64,
    /// How long the load stays with one side; none where whole trials follow one another.
    pub(crate) slices: Option<Duration>,
}

/// The experiment.
pub(crate) fn experiment(
    labels: &[Label],
    workload: &str,
    load: &Load,
    course: &Course,
) -> Result<Experiment, Refusal> {
    let titles: Vec<&str> = labels.iter().map(|label| label.title.as_str()).collect();
    let names: Vec<String> = labels.iter().map(|label| quoted(&label.name)).collect();
    // Short trials need no long rest.
    let pause = (course.duration / 6).min(Duration::from_millis(500));
    let mut trials = vec![
        format!("seed = {}", course.seed),
        format!("pause = {}", time(pause)),
        "ceiling = false".into(),
        format!("check = {}", course.check),
    ];
    trials.extend(course.slices.map(|length| format!("slices = {}", time(length))));
    trials.extend(course.rounds.map(|rounds| format!("repeat = {rounds}")));
    trials.extend(course.until_percent.map(|percent| format!("until = \"±{percent}%\"")));
    trials.extend(course.limit.map(|limit| format!("limit = {}", time(limit))));
    let text = format!(
        "question = {}\nsubjects = [{}]\nworkload = {}\n\n[load]\n{}\nduration = {}\nwarmup = {}\ntimeout = {}\n\
         keep_alive = {}\n\n[conditions]\nisolate = {}\n\n[trials]\n{}\n",
        quoted(&format!("{}?", titles.join(" or "))),
        names.join(", "),
        quoted(workload),
        of_load(load)?,
        time(course.duration),
        time(course.warmup),
        time(course.timeout),
        course.keep_alive,
        course.isolate,
        trials.join("\n"),
    );
    let source = SourceFile { name: format!("experiments/{NAME}.toml"), text };
    Experiment::parse(NAME, source).map_err(|error| Refusal::new(error.says()))
}

fn of_load(load: &Load) -> Result<String, Refusal> {
    let one_rate = || Refusal::new("--rate: a race has one rate; give it one number");
    Ok(match load {
        Load::Closed { connections } => format!("closed = {{ connections = {connections} }}"),
        Load::Open { arrivals, connections, max_connections } => {
            let (rate, law) = match arrivals {
                Arrivals::Constant(rate) => (rate, "constant"),
                Arrivals::Poisson(rate) => (rate, "poisson"),
                Arrivals::Ramp { .. } | Arrivals::Steps(_) | Arrivals::Listed(_) => {
                    return Err(one_rate());
                }
            };
            format!(
                "open = {{ rate = {}, arrivals = \"{law}\", connections = {connections}, max_connections = \
                 {max_connections} }}",
                rate.as_f64()
            )
        }
        Load::Sessions { arrivals: Arrivals::Constant(rate), calls, max_connections } => format!(
            "sessions = {{ rate = {}, calls = {calls}, max_connections = {max_connections} }}",
            rate.as_f64()
        ),
        Load::Sessions { .. } => {
            return Err(Refusal::new("--arrivals: sessions of a race begin evenly; leave it out"));
        }
    })
}

/// What is asked, and what must be answered.
pub(crate) struct Asked {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) send: String,
    pub(crate) status: Option<StatusRule>,
    pub(crate) answer_fields: Vec<(String, String)>,
    pub(crate) body: ExpectedBody,
}

/// An expected body, as text where it is one.
pub(crate) enum ExpectedBody {
    Any,
    Text(String),
    Length(u64),
    Sha256([u8; 32]),
}

impl ExpectedBody {
    /// Of a rule; the bytes of a file that is no text, or in which braces would be filled, are expected by their hash.
    pub(crate) fn of(rule: &BodyRule, written: Option<&str>) -> ExpectedBody {
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
pub(crate) fn workload(asked: &Asked) -> Result<Workload, Refusal> {
    let Asked { method, target, .. } = asked;
    let mut text = format!("title = {}\n\n[[ask]]\n", quoted(&format!("{method} {target}")));
    text += &format!("request = {}\n", quoted(&format!("{method} {target} HTTP/1.1")));
    text += &table("send_header", &asked.fields)?;
    if !asked.send.is_empty() {
        text += &format!("send = {}\n", quoted(&asked.send));
    }
    text += &match asked.status {
        None | Some(StatusRule::Success) => String::new(),
        Some(StatusRule::Any) => "status = \"any\"\n".into(),
        Some(StatusRule::Exactly(status)) => format!("status = {status}\n"),
    };
    text += &table("header", &asked.answer_fields)?;
    text += &match &asked.body {
        ExpectedBody::Any => String::new(),
        ExpectedBody::Text(body) => format!("body = {}\n", quoted(body)),
        ExpectedBody::Length(length) => format!("body_length = {length}\n"),
        ExpectedBody::Sha256(digest) => {
            let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("body_sha256 = \"{hex}\"\n")
        }
    };
    let source = SourceFile { name: format!("workloads/{NAME}.toml"), text };
    Workload::parse(NAME, source).map_err(|error| Refusal::new(error.says()))
}

fn table(key: &str, fields: &[(String, String)]) -> Result<String, Refusal> {
    if fields.is_empty() {
        return Ok(String::new());
    }
    let twice = (1..fields.len())
        .find(|&at| fields[..at].iter().any(|other| other.0.eq_ignore_ascii_case(&fields[at].0)));
    if let Some(at) = twice {
        let name = fields[at].0.escape_debug();
        return Err(Refusal::new(format!(
            "the field `{name}` is given twice; a race sends it once"
        )));
    }
    let pair = |(name, value): &(String, String)| format!("{} = {}", quoted(name), quoted(value));
    let pairs: Vec<String> = fields.iter().map(pair).collect();
    Ok(format!("{key} = {{ {} }}\n", pairs.join(", ")))
}

/// The user's own command, run in this folder.
pub(crate) fn own(
    label: &Label,
    workload: &str,
    command: &str,
    folder: &str,
) -> Result<Subject, Refusal> {
    subject(label, workload, &format!("in = {}\nrun = {}\n", quoted(folder), quoted(command)), "")
}

/// A server that runs already.
pub(crate) fn found(
    label: &Label,
    workload: &str,
    address: SocketAddr,
    (host, target): (&str, &str),
) -> Result<Subject, Refusal> {
    let site = format!(
        "site = {{ address = \"{address}\", host = {}, target = {} }}\n",
        quoted(host),
        quoted(target)
    );
    subject(label, workload, &site, "")
}

/// The server that shows the ceiling.
pub(crate) fn reference(label: &Label, workload: &str, command: &str) -> Result<Subject, Refusal> {
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
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

fn time(time: Duration) -> String {
    match time.subsec_nanos() % 1_000_000 {
        0 => format!("\"{}ms\"", time.as_millis()),
        _ => format!("\"{}s\"", time.as_secs_f64()),
    }
}

#[cfg(test)]
mod tests {
    use lab::experiment::Point;
    use lab::subject::Serving;

    use super::*;

    fn label(title: &str, name: &str) -> Label {
        Label { title: title.into(), name: name.into() }
    }

    fn course() -> Course {
        Course {
            duration: Duration::from_millis(1_500),
            warmup: Duration::ZERO,
            timeout: Duration::from_secs(5),
            keep_alive: true,
            rounds: Some(3),
            until_percent: None,
            limit: None,
            isolate: false,
            check: false,
            seed: 7,
            slices: None,
        }
    }

    #[test]
    fn whatever_is_typed_comes_out_of_the_readers_unchanged() {
        let odd = "a \"b\" \\ \n\t\u{7f}\u{1b} é ' # {port}";
        let subject = own(&label(odd, "x"), NAME, "sh -c 'a \"b\"'", "/tmp/a b").unwrap();
        assert_eq!(subject.title, odd);
        let Serving::Own(command, folder) = subject.serving else { panic!("its own") };
        assert_eq!(command.words(), ["sh", "-c", "a \"b\""]);
        assert_eq!(folder, Path::new("/tmp/a b"));
        let asked = Asked {
            method: "POST".into(),
            target: "/a?b={seq}".into(),
            fields: vec![("X-Odd".into(), "a\"b".into())],
            send: odd.replace(['\u{1b}'], ""),
            status: Some(StatusRule::Any),
            answer_fields: Vec::new(),
            body: ExpectedBody::Text(odd.into()),
        };
        let workload = workload(&asked).unwrap();
        let BodyRule::Exactly(body) = &workload.questions[0].ask.expect.body else { panic!() };
        assert_eq!(body.constant(), Some(odd.as_bytes()));
        assert_eq!(workload.questions[0].method, "POST");
    }

    #[test]
    fn a_load_comes_out_as_it_went_in() {
        let labels = [label("A", "a"), label("B", "b")];
        let rate: load::Rate = "2500.5".parse().unwrap();
        for load in [
            Load::Closed { connections: 16 },
            Load::Open { arrivals: Arrivals::Poisson(rate), connections: 4, max_connections: 9 },
            Load::Sessions { arrivals: Arrivals::Constant(rate), calls: 3, max_connections: 9 },
        ] {
            let made = experiment(&labels, NAME, &load, &course()).unwrap();
            assert_eq!(format!("{:?}", made.load(made.points[0])), format!("{load:?}"));
            assert_eq!((made.repeat, made.seed, made.has_check), (3, 7, false));
            assert_eq!(made.duration, Some(Duration::from_millis(1_500)));
        }
        let until = Course { until_percent: Some(3.0), rounds: None, ..course() };
        let made = experiment(&labels, NAME, &Load::Closed { connections: 1 }, &until).unwrap();
        assert_eq!(made.until.map(|until| until.within), Some(0.03));
        assert_eq!(made.points, [Point::Connections(1)]);
        let ramp = Arrivals::Ramp { from: rate, to: rate, over: Duration::from_secs(1) };
        let load = Load::Open { arrivals: ramp, connections: 1, max_connections: 1 };
        let says = experiment(&labels, NAME, &load, &course()).unwrap_err().to_string();
        assert!(says.contains("a race has one rate"), "{says}");
    }

    #[test]
    fn a_server_that_runs_already_has_its_own_host_and_path() {
        let address = "127.0.0.1:81".parse().unwrap();
        let subject = found(&label("h", "h"), NAME, address, ("h:81", "/x?y")).unwrap();
        let Serving::Found(site) = subject.serving else { panic!("found") };
        assert_eq!((site.host.as_str(), site.target.as_str()), ("h:81", "/x?y"));
        let fields = vec![("a".into(), "1".into()), ("A".into(), "2".into())];
        assert!(table("send_header", &fields).unwrap_err().to_string().contains("twice"));
    }
}
