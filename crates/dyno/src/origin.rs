//! What a load or a race was, for the lines of a history: without what may be secret, and with the flags that make
//! the same load.

use std::fmt::Debug;
use std::path::Path;
use std::time::Duration;

use ::report::history::{Flags, MadeBy, Origin, RaceSide, Side, SideKind, without_values};
use ::report::load::terms;
use agents::AgentGroup;
use campaign::race::label::Label;
use campaign::race::side;
use lab::amounts;
use lab::manner::{Manner, Protocol};
use lab::record::STREAMS;
use lab::subject::{Serving, Subject};
use load::{Load, Protocol as Spoken};

use crate::order::flags::{AskingFlags, LoadFlags};
use crate::order::{self, Plan};

/// The time-out that no flag has to name.
const USUAL_TIMEOUT: Duration = Duration::from_secs(5);

/// A load of one URL.
pub(crate) fn of_load(flags: &LoadFlags, plan: &Plan, group: Option<&AgentGroup>) -> Origin {
    let Plan { order, url, asked, .. } = plan;
    let mut shown = asked.clone();
    shown.url = without_values(&asked.url);
    let streams = terms::of(order).into_iter().find(|fact| fact.name == STREAMS);
    let over = streams
        .as_ref()
        .map_or(String::new(), |fact| format!(", over HTTP/2 (--streams {})", fact.value));
    let protocol = match (&order.protocol, url.is_secure) {
        (Spoken::Http1, false) => Protocol::Http1,
        (Spoken::Http1, true) => Protocol::Http1Tls,
        (Spoken::Http2(_), false) => Protocol::H2c,
        (Spoken::Http2(_), true) => Protocol::H2,
    };
    let manner = (protocol, streams.map(|fact| fact.value));
    let fields = flags.header_command.iter();
    let fields: Vec<_> = fields.map(|(name, _)| (name.clone(), String::new())).collect();
    let again = asking(Flags::of(&order.load), &flags.asking, &url.target, manner)
        .with_fields("-H", &fields)
        .with_any("--max-connections", flags.arriving.max_connections)
        .with_any("-d", duration(&order.load, order.stop.duration))
        .with_any("--warmup", Some(order.warmup).filter(|it| !it.is_zero()).map(amounts::written));
    Origin {
        made_by: MadeBy::Load,
        experiment: Some(format!("{}{over}", shown.words())),
        from: group.map(AgentGroup::places),
        terms: load_terms(flags, plan),
        flags: again.words(),
        ..Origin::default()
    }
}

/// What makes it another load, and stands neither in its experiment nor in its workload. A command that prints a field's
/// value counts by the field's name alone: its value changes, and is secret.
fn load_terms(flags: &LoadFlags, plan: &Plan) -> Vec<String> {
    let Plan { order, asked, .. } = plan;
    let AskingFlags { method, header, body, body_file, .. } = &flags.asking;
    let printed: Vec<&String> = flags.header_command.iter().map(|(name, _)| name).collect();
    let mut all = vec![asked.identity(), asked.expected()];
    all.extend(terms::of(order).into_iter().flat_map(|fact| [fact.name, fact.value]));
    all.extend([
        stated(method),
        stated(header),
        stated(&printed),
        stated(body),
        stated(body_file),
        stated(&flags.from.curl),
        stated(flags.http_1_0),
        stated(flags.lenient),
        stated(&flags.unix),
        stated(&flags.connect_to),
        stated(&flags.sent_from.source),
        stated(order.lanes),
        stated(&order.cpus),
        stated(flags.spin),
    ]);
    all.extend(order.asks.are_varied().then(|| "varied".into()));
    all
}

/// A race, with its sides as they were typed.
pub(crate) fn of_race(
    sides: &[(&side::Side, &Label, &Subject)],
    load: &Load,
    (asked, target): &(&AskingFlags, String),
    manner: Manner,
    times: [Option<Duration>; 2],
) -> Origin {
    let streams = manner.protocol.is_http2().then_some(manner.streams);
    let [length, warmup] = times;
    let flags = asking(Flags::of(load), asked, target, (manner.protocol, streams))
        .with_any("-d", duration(load, length))
        .with_any("--warmup", warmup.map(amounts::written));
    let mut named: Vec<RaceSide> = Vec::new();
    for (side, label, subject) in sides {
        let side = as_typed(side);
        // Made of a URL's path and query, its label may have what must not be written.
        let name = match side.kind {
            SideKind::Url => once(&side.text, &named),
            SideKind::Command | SideKind::Folder | SideKind::Subject => label.name.clone(),
        };
        named.push(RaceSide { subject: subject.name.clone(), name, side });
    }
    let terms = sides.iter().flat_map(|(side, _, subject)| [whole(side), offered(subject)]);
    Origin::of_race(named, terms.collect(), flags.words())
}

/// A text, with a number where an earlier side has it.
fn once(text: &str, others: &[RaceSide]) -> String {
    let numbered = |number: usize| match number {
        1 => text.to_string(),
        _ => format!("{text} #{number}"),
    };
    let is_free = |text: &String| others.iter().all(|side| side.name != *text);
    (1..).map(numbered).find(is_free).unwrap_or_default()
}

fn as_typed(side: &side::Side) -> Side {
    match side {
        side::Side::Found(url) => Side::url(&url.shown()),
        side::Side::Own { words, .. } => Side::command(words),
        side::Side::Folder(folder) => Side { kind: SideKind::Folder, text: near(folder) },
        side::Side::Named(name) => Side { kind: SideKind::Subject, text: name.clone() },
    }
}

/// The side as its plan has it, with nothing left out: only its hash is written.
fn whole(side: &side::Side) -> String {
    match side {
        side::Side::Found(url) => url.shown(),
        side::Side::Own { text, .. } => text.clone(),
        side::Side::Folder(folder) => near(folder),
        side::Side::Named(name) => name.clone(),
    }
}

/// What is offered with TLS to a server that runs already.
fn offered(subject: &Subject) -> String {
    let Serving::Found(site) = &subject.serving else { return String::new() };
    let Some(tls) = &site.tls else { return String::new() };
    let tls::Offer { version, suites, groups, resume, .. } = &tls.offer;
    stated((version, suites, groups, resume.percent()))
}

/// A folder as seen from here, so that another checkout has the same.
fn near(folder: &Path) -> String {
    let here = std::env::current_dir().and_then(std::fs::canonicalize).ok();
    let within = here.as_ref().and_then(|here| folder.strip_prefix(here).ok());
    match within {
        Some(path) if path.as_os_str().is_empty() => ".".into(),
        Some(path) => path.display().to_string(),
        None => folder.display().to_string(),
    }
}

/// What is requested, and how it is spoken: the same flags for a load, a race and a gate.
fn asking(
    flags: Flags,
    asked: &AskingFlags,
    target: &str,
    (protocol, streams): (Protocol, Option<impl ToString>),
) -> Flags {
    let method = asked.method.as_ref().filter(|method| !method.starts_with('-'));
    let rule = asked.expect_status.map(|rule| order::conditions::status(Some(rule)));
    let timeout = Some(asked.timeout).filter(|timeout| *timeout != USUAL_TIMEOUT);
    flags
        .with_any("--path", Some(without_values(target)).filter(|path| path != "/"))
        .with_any("-m", method)
        .with_fields("-H", &asked.header)
        .with_unwritten("-b", asked.body.is_some() || asked.body_file.is_some())
        .with_switch("--no-keepalive", asked.no_keepalive)
        .with_switch("--vary", asked.varying.vary)
        .with_any("--expect-status", rule)
        .with_fields("--expect-header", &asked.expect_header)
        .with_unwritten("--expect-body", asked.expect_body.is_some())
        .with_any("--timeout", timeout.map(amounts::written))
        .with_any(
            "--protocol",
            Some(protocol).filter(|it| *it != Protocol::Http1).map(Protocol::name),
        )
        .with_any("--streams", streams)
}

/// How long a load lasts, where its steps do not say it.
fn duration(load: &Load, length: Option<Duration>) -> Option<String> {
    let is_by_steps = matches!(load.arrivals(), Some(load::Arrivals::Steps(_)));
    length.filter(|_| !is_by_steps).map(amounts::written)
}

fn stated(value: impl Debug) -> String {
    format!("{value:?}")
}
