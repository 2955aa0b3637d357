//! What is requested and what must be answered: one definition for readiness, checks and every answer under load.

mod expected;
mod files;
mod stated_request;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use load::{HoldWhat, Rate};
use serde::Deserialize;
use toml::Spanned;
use wire::h2::Scheme;
use wire::{
    Ask, AskError, Asks, BodyRule, Cut, Dataset, Expect, Meaning, Request, Tables, Template,
    socket_ask,
};

use crate::amounts;
use crate::schedule;
use crate::source_file::{ConfigError, SourceFile};
use crate::subject::{Site, file_name};
use expected::{DatabaseKeys, JsonKeys, StatusKey, expect, template};

pub use stated_request::StatedRequest;

/// The requests that every subject gets in the same way.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Its file's name, without the ending.
    pub name: String,
    pub source: SourceFile,
    pub title: String,
    /// The service that a server needs to answer it.
    pub service: Option<String>,
    /// Whether its requests are sent in several forms, which a server must accept.
    pub vary: bool,
    /// How many of them arrive each second, by Poisson's law, where the load is not said.
    pub rate: Option<Rate>,
    /// The kinds of questions that it has; at least one.
    pub questions: Vec<Question>,
}

#[derive(Clone, Debug)]
pub struct Question {
    /// Its name in messages and in the store.
    pub name: String,
    /// GET, POST, …
    pub method: String,
    /// Path and query, placeholders and all.
    pub path: String,
    /// How often it is sent, relative to the others.
    pub weight: u32,
    request: Request,
    /// The bytes of its request, and what must be answered.
    pub ask: Ask,
    /// The request with `Connection: close`, and what must be answered.
    pub last_ask: Ask,
    /// How it goes on after the request.
    pub interaction: Interaction,
}

/// How it goes on after a request.
#[derive(Clone, Debug)]
pub enum Interaction {
    Answer,
    /// The answer never ends; so many of its messages are awaited.
    Stream(Stream),
    /// A WebSocket: this is sent, once as text and once as binary, and must come back unchanged.
    Echo(Template),
}

/// An answer that never ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// So many chunks must arrive.
    pub chunks: u32,
    /// The first at once, each of the others so much later.
    #[serde(deserialize_with = "amounts::read_time")]
    pub every: Duration,
    #[serde(default)]
    pub over: Over,
}

/// How messages are sent.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Over {
    #[default]
    Chunks,
    /// Events of `text/event-stream`.
    Events,
    /// A WebSocket.
    Websocket,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    title: String,
    service: Option<String>,
    #[serde(default)]
    vary: bool,
    rate: Option<Spanned<String>>,
    ask: Vec<Spanned<AskKeys>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AskKeys {
    name: Option<String>,
    weight: Option<Spanned<u32>>,
    request: Spanned<String>,
    #[serde(default)]
    send_header: BTreeMap<String, String>,
    send: Option<Spanned<String>>,
    #[serde(default)]
    chunked: bool,
    status: Option<Spanned<StatusKey>>,
    #[serde(default)]
    header: BTreeMap<Spanned<String>, Spanned<String>>,
    body: Option<Spanned<String>>,
    body_length: Option<Spanned<u64>>,
    body_sha256: Option<Spanned<String>>,
    json: Option<Spanned<JsonKeys>>,
    database: Option<Spanned<DatabaseKeys>>,
    #[serde(default)]
    file: Option<Spanned<bool>>,
    wait: Option<Spanned<String>>,
    stream: Option<Spanned<Stream>>,
    echo: Option<Spanned<String>>,
}

/// The value of `Host` in all requests: the same for all subjects, whatever their port, so that all are sent the same
/// bytes.
pub(crate) const HOST: &str = "localhost";

impl Workload {
    /// Reads `workloads/NAME.toml` below the project's root.
    pub fn read(root: &Path, name: &str) -> Result<Workload, ConfigError> {
        let path = root.join("workloads").join(format!("{name}.toml"));
        Workload::parse(name, SourceFile::read(&path, &format!("workloads/{name}.toml"))?)
    }

    /// Reads a workload's text.
    pub fn parse(name: &str, source: SourceFile) -> Result<Workload, ConfigError> {
        let file: File = source.parse()?;
        let mut questions: Vec<Question> = Vec::new();
        for (number, keys) in file.ask.iter().enumerate() {
            let question = question(&source, keys.get_ref(), number, file.ask.len())?;
            if questions.iter().any(|other| other.name == question.name) {
                let says = format!("two asks are called `{}`", question.name);
                return Err(source.wrong_here(keys, says));
            }
            if !matches!(question.interaction, Interaction::Answer) && file.ask.len() > 1 {
                let says =
                    "an endless answer or an echo is a workload of its own; put it in another file";
                return Err(source.wrong_here(keys, says));
            }
            questions.push(question);
        }
        if questions.is_empty() {
            return Err(source.wrong(None, "nothing is requested; write an [[ask]]"));
        }
        source.check("service", &file.service, |name| file_name(name))?;
        let rate = source.some_text(&file.rate, stated_rate)?;
        if questions.iter().any(|it| !matches!(it.interaction, Interaction::Answer)) {
            let alone = "an endless answer or an echo has no service beside the server; leave `service` out";
            let once =
                "an endless answer or an echo is asked for once a connection; leave this out";
            source.refuse(&[("service", alone), ("vary", once), ("rate", once)])?;
        }
        let from_database = file.ask.iter().find_map(|keys| keys.get_ref().database.as_ref());
        if let (None, Some(key)) = (&file.service, from_database) {
            let says =
                "rows come from a service; say from which one, as in service = \"postgresql\"";
            return Err(source.wrong_here(key, says));
        }
        let any = |is_it: fn(&Meaning) -> bool| {
            questions.iter().filter_map(|it| it.ask.expect.meaning()).any(is_it)
        };
        let is_changed = any(|rule| matches!(rule, Meaning::Updated(_)));
        if let Some(key) = from_database.filter(|_| is_changed)
            && any(|rule| matches!(rule, Meaning::Rows { .. }))
        {
            let says =
                "rows that other requests change are not as they were seeded; write two workloads";
            return Err(source.wrong_here(key, says));
        }
        let workload = Workload {
            name: name.into(),
            title: file.title,
            service: file.service,
            vary: file.vary,
            rate,
            questions,
            source,
        };
        workload.refuse_unknown_validators()?;
        Ok(workload)
    }

    /// The workload for a server that runs already: with its host, and its path in place of each question's; over
    /// HTTP/2, if a scheme is named.
    pub fn aimed(&self, site: &Site, http2: Option<Scheme>) -> Result<Workload, String> {
        self.readdressed(&site.host, site.target.as_deref(), http2)
    }

    /// The workload over HTTP/2, if a scheme is named; otherwise unchanged.
    pub fn over(&self, http2: Option<Scheme>) -> Result<Workload, String> {
        if http2.is_none() { Ok(self.clone()) } else { self.readdressed(HOST, None, http2) }
    }

    /// The workload with this `Host`, and with the questions' own paths; over HTTP/2, if a scheme is named.
    pub fn hosted(&self, host: &str, http2: Option<Scheme>) -> Result<Workload, String> {
        self.readdressed(host, None, http2)
    }

    /// The workload for servers that have this data set and these tables.
    #[must_use]
    pub fn with(mut self, dataset: &Dataset, tables: &Tables) -> Workload {
        for body in self.bodies() {
            if let BodyRule::Meaning(rule) = body {
                *rule = rule.with(dataset, tables);
            }
        }
        self
    }

    fn bodies(&mut self) -> impl Iterator<Item = &mut BodyRule> {
        let asks = self.questions.iter_mut().flat_map(|it| [&mut it.ask, &mut it.last_ask]);
        asks.map(|ask| &mut ask.expect.body)
    }

    /// What the bodies of its answers must mean, where that is how they are judged.
    pub fn meanings(&self) -> impl Iterator<Item = &Meaning> {
        self.questions.iter().filter_map(|question| match &question.ask.expect.body {
            BodyRule::Meaning(rule) => Some(rule),
            _ => None,
        })
    }

    /// The workload without the requests that send their body in chunks; none if it has no others.
    #[must_use]
    pub fn unchunked(mut self) -> Option<Workload> {
        self.questions.retain(|question| !question.request.chunked);
        (!self.questions.is_empty()).then_some(self)
    }

    fn readdressed(
        &self,
        host: &str,
        target: Option<&str>,
        http2: Option<Scheme>,
    ) -> Result<Workload, String> {
        let readdressed = |question: &Question| question.readdressed(host, target, http2);
        let questions = self.questions.iter().map(readdressed).collect::<Result<_, String>>()?;
        Ok(Workload { questions, ..self.clone() })
    }

    /// All questions, to be chosen by weight. Without `keep_alive` each is sent as the last of its connection.
    #[must_use]
    pub fn asks(&self, keep_alive: bool) -> Asks {
        Asks::weighted(self.weighted(keep_alive)).expect("there is a question, and no weight is 0")
    }

    /// All questions, each with its weight.
    #[must_use]
    pub fn weighted(&self, keep_alive: bool) -> Vec<(u32, Ask)> {
        let ask = |question: &Question| match keep_alive {
            true => question.ask.clone(),
            false => question.last_ask.clone(),
        };
        self.questions.iter().map(|question| (question.weight, ask(question))).collect()
    }

    /// What is held of it; none if its answers end.
    #[must_use]
    pub fn held(&self) -> Option<HoldWhat> {
        let endless = |question: &Question| Some((question.ask.clone(), question.stream()?));
        let (ask, stream) = self.questions.iter().find_map(endless)?;
        Some(match stream.over {
            Over::Chunks => HoldWhat::Stream { ask, cut: Cut::Chunk },
            Over::Events => HoldWhat::Stream { ask, cut: Cut::Event },
            Over::Websocket => HoldWhat::Socket { ask },
        })
    }

    /// Whether its answers never end.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.questions.iter().any(|question| question.stream().is_some())
    }

    /// Whether it is a conversation that only checks use, not a load.
    #[must_use]
    pub fn is_echo(&self) -> bool {
        self.questions.iter().any(|question| matches!(question.interaction, Interaction::Echo(_)))
    }
}

impl Question {
    fn readdressed(
        &self,
        host: &str,
        target: Option<&str>,
        http2: Option<Scheme>,
    ) -> Result<Question, String> {
        let path = target.unwrap_or(&self.path).to_string();
        let target = target.unwrap_or(&self.request.target).to_string();
        let request = Request { host: host.to_string(), target, http2, ..self.request.clone() };
        let question = self.remade(request, &self.ask.expect)?;
        Ok(Question { path, ..question })
    }

    /// The question with another request and another expectation.
    fn remade(&self, request: Request, expect: &Expect) -> Result<Question, String> {
        let (ask, last_ask) = asks(&request, expect).map_err(|error| error.to_string())?;
        Ok(Question { ask, last_ask, request, ..self.clone() })
    }

    /// The first line of a request, as it is sent.
    #[must_use]
    pub fn request_line(&self) -> String {
        let mut request = Vec::new();
        self.ask.encode(wire::Values::default(), &mut request);
        let line = request.split(|&byte| byte == b'\r').next().unwrap_or_default();
        line.escape_ascii().to_string()
    }

    /// Whether a request for its path alone is not answered as this one is: it has fields of its own, or a wait.
    #[must_use]
    pub fn has_demands(&self) -> bool {
        !self.request.headers.is_empty() || self.ask.expect.wait_ns.is_some()
    }

    /// The answer that never ends, if it is one.
    #[must_use]
    pub fn stream(&self) -> Option<Stream> {
        match self.interaction {
            Interaction::Stream(stream) => Some(stream),
            Interaction::Answer | Interaction::Echo(_) => None,
        }
    }
}

/// A request on a connection that is kept, and as the last of one.
fn asks(request: &Request, expect: &Expect) -> Result<(Ask, Ask), AskError> {
    let ask = |keep_alive| Ask::new(&Request { keep_alive, ..request.clone() }, expect.clone());
    Ok((ask(true)?, ask(false)?))
}

impl Interaction {
    /// Whether it begins with a WebSocket handshake.
    pub(crate) fn is_socket(&self) -> bool {
        match self {
            Interaction::Stream(stream) => stream.over == Over::Websocket,
            Interaction::Echo(_) => true,
            Interaction::Answer => false,
        }
    }
}

fn stated_rate(text: &str) -> Result<Rate, String> {
    let number = text.strip_suffix("/s").ok_or("write a rate like \"500/s\"")?;
    schedule::rate(number)
}

fn question(
    source: &SourceFile,
    keys: &AskKeys,
    number: usize,
    of: usize,
) -> Result<Question, ConfigError> {
    let weight = match &keys.weight {
        Some(weight) if *weight.get_ref() == 0 => {
            let says = "a weight of 0 is never requested; leave it out";
            return Err(source.wrong_here(weight, says));
        }
        Some(weight) => *weight.get_ref(),
        None => 1,
    };
    let request = request(source, keys)?;
    let expect = expect(source, keys, &request)?;
    let interaction = interaction(source, keys)?;
    let encoded = match interaction.is_socket() {
        true => {
            let ask = socket_ask(HOST, &request.target, &request.headers);
            ask.map(|ask| (ask.clone(), ask))
        }
        false => asks(&request, &expect),
    };
    let wrong = |error: AskError| source.wrong_here(&keys.request, error.to_string());
    let (ask, last_ask) = encoded.map_err(wrong)?;
    let numbered = || match of {
        1 => "ask".to_string(),
        _ => format!("ask {}", number + 1),
    };
    Ok(Question {
        name: keys.name.clone().unwrap_or_else(numbered),
        weight,
        method: request.method.clone(),
        path: request.target.clone(),
        ask,
        last_ask,
        request,
        interaction,
    })
}

/// `GET /path HTTP/1.1`, and the rest of the request.
fn request(source: &SourceFile, keys: &AskKeys) -> Result<Request, ConfigError> {
    let line = &keys.request;
    let words: Vec<&str> = line.get_ref().split(' ').collect();
    let [method, target, version @ ("HTTP/1.1" | "HTTP/1.0")] = words[..] else {
        let says = format!(
            "`{}` is not a request line; write it like \"GET /path HTTP/1.1\"",
            line.get_ref().escape_debug()
        );
        return Err(source.wrong_here(line, says));
    };
    let body = keys.send.as_ref().map(|body| body.get_ref().clone().into_bytes());
    Ok(Request {
        method: method.into(),
        headers: keys.send_header.clone().into_iter().collect(),
        body: body.unwrap_or_default(),
        http_1_0: version == "HTTP/1.0",
        chunked: keys.chunked,
        ..Request::get(HOST, target)
    })
}

fn interaction(source: &SourceFile, keys: &AskKeys) -> Result<Interaction, ConfigError> {
    let interaction = match (&keys.stream, &keys.echo) {
        (None, None) => return Ok(Interaction::Answer),
        (Some(keys), None) => Interaction::Stream(stream(source, keys)?),
        (None, Some(text)) => Interaction::Echo(source.text(text, template)?),
        (Some(_), Some(text)) => {
            let says = "what is echoed is not an endless answer; leave `stream` or `echo` out";
            return Err(source.wrong_here(text, says));
        }
    };
    if let Some(body) = &keys.body {
        let says = "an endless answer or an echo has no body to compare; leave `body` out";
        return Err(source.wrong_here(body, says));
    }
    if let Some(wait) = &keys.wait {
        let says = "an endless answer or an echo is not waited for; leave `wait` out";
        return Err(source.wrong_here(wait, says));
    }
    if interaction.is_socket() {
        handshake_alone(source, keys)?;
    }
    Ok(interaction)
}

/// RFC 6455, 4.1: a WebSocket is opened with GET, and the workload does not say what the response to that must be.
fn handshake_alone(source: &SourceFile, keys: &AskKeys) -> Result<(), ConfigError> {
    let is_get = |line: &str| line.starts_with("GET ") && line.ends_with(" HTTP/1.1");
    let odd = [
        (!is_get(keys.request.get_ref())).then(|| keys.request.span()),
        keys.send.as_ref().map(Spanned::span),
        keys.status.as_ref().map(Spanned::span),
        keys.header.keys().next().map(Spanned::span),
    ];
    odd.into_iter().flatten().next().map_or(Ok(()), |span| {
        let says = "a WebSocket begins with its own handshake: ask with GET and HTTP/1.1, and leave `send`, `status` \
                    and `header` out";
        Err(source.wrong(Some(span), says))
    })
}

fn stream(source: &SourceFile, stream: &Spanned<Stream>) -> Result<Stream, ConfigError> {
    match stream.get_ref().chunks {
        1..=100 => Ok(*stream.get_ref()),
        _ => {
            let says = "between 1 and 100 chunks can be awaited";
            Err(source.wrong_here(stream, says))
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use wire::Values;

    /// The workload of a file that is called `x`, or what is wrong with it.
    pub(crate) fn read(text: &str) -> Result<Workload, String> {
        let source = SourceFile { name: "x".into(), text: text.into() };
        Workload::parse("x", source).map_err(|error| error.to_string())
    }

    #[test]
    fn a_question_becomes_bytes_that_are_the_same_for_every_subject() {
        let workload = read(
            "title = 'x'\n[[ask]]\nrequest = 'POST /user HTTP/1.1'\nsend = 'a{seq}'\n\
             send_header = { content-type = 'text/plain' }\nbody = 'a{seq}'",
        )
        .unwrap();
        let mut bytes = Vec::new();
        workload.questions[0].ask.encode(Values { seq: 12, random: 0 }, &mut bytes);
        let expected = "POST /user HTTP/1.1\r\nHost: localhost\r\ncontent-type: text/plain\r\n\
                        Content-Length: 3\r\n\r\na12";
        assert_eq!(String::from_utf8(bytes).unwrap(), expected);
    }

    #[test]
    fn a_server_without_chunks_is_sent_the_other_requests() {
        let ask = |chunked| {
            format!("[[ask]]\nrequest = 'POST / HTTP/1.1'\nsend = 'x'\nchunked = {chunked}\n")
        };
        let both = read(&format!("title = 'x'\n{}{}", ask(true), ask(false))).unwrap();
        let left: Vec<String> =
            both.unchunked().unwrap().questions.into_iter().map(|it| it.name).collect();
        assert_eq!(left, ["ask 2"]);
        assert!(read(&format!("title = 'x'\n{}", ask(true))).unwrap().unchunked().is_none());
    }

    #[test]
    fn rows_of_a_database_are_stated_with_their_service() {
        let ask = |service: &str, database: &str| {
            read(&format!(
                "title = 'x'\n{service}\n[[ask]]\nrequest = 'GET / HTTP/1.1'\ndatabase = {database}"
            ))
        };
        let refusal = |database: &str| ask("service = 'y'", database).unwrap_err().to_string();
        for database in ["'row'", "'fortunes'", "{ rows = 500 }", "{ updated = 1 }"] {
            assert_eq!(ask("service = 'y'", database).unwrap().meanings().count(), 1, "{database}");
            let says = ask("", database).unwrap_err().to_string();
            assert!(says.contains(":5: rows come from a service"), "{says}");
        }
        for database in ["'rows'", "'x'", "5", "{ rows = 5, updated = 5 }", "{ rows = -1 }"] {
            let says = refusal(database);
            assert!(says.contains(":5: expected \"row\", \"fortunes\", { rows = 5 }"), "{says}");
        }
        for database in ["{ rows = 0 }", "{ updated = 501 }"] {
            assert!(refusal(database).contains(":5: an answer has from 1 to 500 rows"));
        }
        let both = |second| {
            refusal(&format!(
                "{{ updated = 5 }}\n[[ask]]\nrequest = 'GET /db HTTP/1.1'\ndatabase = {second}"
            ))
        };
        assert!(both("'row'").contains(":5: rows that other requests change are not as they were"));
        assert!(
            ask(
                "service = 'y'",
                "'row'\n[[ask]]\nrequest = 'GET /f HTTP/1.1'\ndatabase = 'fortunes'"
            )
            .is_ok()
        );
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let ask = |rest: &str| format!("title = 'x'\n[[ask]]\nrequest = 'GET / HTTP/1.1'\n{rest}");
        for (text, says) in [
            ("title = 'x'\nask = []".to_string(), ": nothing is requested"),
            (
                "title = 'x'\nservice = '../x'\n[[ask]]\nrequest = 'GET / HTTP/1.1'".into(),
                ":2: `../x` is not a name",
            ),
            (ask("").replace("[[ask]]", "rate = 500\n[[ask]]"), ":2: "),
            (ask("").replace("[[ask]]", "rate = '500'\n[[ask]]"), ":2: write a rate like"),
            (ask("").replace("[[ask]]", "rate = '0/s'\n[[ask]]"), ":2: "),
            (
                ask("echo = 'x'").replace("[[ask]]", "vary = true\n[[ask]]"),
                ":2: an endless answer or an echo is asked for once",
            ),
            (
                "title = 'x'\nservice = 'y'\n[[ask]]\nrequest = 'GET / HTTP/1.1'\necho = 'e'"
                    .into(),
                ":2: an endless answer or an echo has no service",
            ),
            ("title = 'x'\n[[ask]]\nrequest = 'GET /'".into(), ":3: `GET /` is not a request line"),
            (ask("weight = 0"), ":4: a weight of 0"),
            (ask("status = 99"), ":4: 99 is not a final status"),
            (ask("bdy = 'x'"), ":4: unknown key `bdy`; did you mean `body`?"),
            (ask("body = '{random:99}'"), ":4: "),
            (ask("status = 'none'"), ":4: `none` is not a status"),
            (ask("body = 'x'\nbody_length = 1"), ":5: the body is stated twice"),
            (ask("body_sha256 = 'ab'"), ":4: a SHA-256 is 64"),
            (ask("stream = { chunks = 0, every = '1s' }"), ":4: between 1 and 100"),
            (ask("stream = { chunks = 1, every = '1s' }\nbody = ''"), ":5: an endless answer"),
            (ask("echo = 'x'\nbody = 'x'"), ":5: an endless answer or an echo has no body"),
            (ask("echo = '{random:99}'"), ":4: "),
            (
                ask("body = 'x'\njson = { items = '{number:1-2}', times = '{number:1-2}' }"),
                ":5: the body is",
            ),
            (ask("json = { items = '{number:1-2}' }"), ":4: a body of JSON has `items`"),
            (ask("json = { sum = '5' }"), ":4: a sum is that of integers"),
            (
                ask("json = { sum = '{integers:5}', times = '{number:1-2}' }"),
                ":4: a body of JSON has",
            ),
            (ask("json = { itms = '{number:1-2}' }"), ":4: unknown key `itms`"),
            (ask("json = { items = '{number:1-2}', times = '3' }"), ":4: `3` is not a number"),
            (
                ask("json = { items = '{number:1-51}', times = '{number:1-2}' }"),
                ":4: a data set has 50 items",
            ),
            (ask("file = true"), ":4: a file is named by its path"),
            (ask("file = true\nstatus = 200"), ":4: the status of a file follows"),
            (ask("file = true\nbody = 'x'"), ":4: the body is stated twice"),
            (
                ask("file = true\nsend_header = { accept-encoding = 'zstd' }"),
                ":4: the codings of a file",
            ),
            (
                ask("file = true\nsend_header = { if-none-match = '{validator}' }")
                    .replace("GET /", "GET /{file}"),
                ": versions of files are learnt by a request",
            ),
            (ask("chunked = true"), ":3: there is no body to be sent in chunks"),
            (ask("send = '{bytes:0}'"), ":3: `{bytes:0}`: bytes of any value"),
            (ask("wait = '15x'"), ":4: `15x` is not a time"),
            (ask("wait = '1ms'"), ":4: a wait of 1 ms or less cannot be judged"),
            (
                ask("echo = 'x'\nwait = '15ms'"),
                ":5: an endless answer or an echo is not waited for",
            ),
            (ask("echo = 'x'\nstatus = 200"), ":5: a WebSocket begins with its own handshake"),
            (ask("echo = 'x'\nsend = 'x'"), ":5: a WebSocket begins"),
            (ask("echo = 'x'\nheader = { upgrade = 'x' }"), ":5: a WebSocket begins"),
            (
                ask("echo = 'x'").replace("GET / HTTP/1.1", "POST / HTTP/1.1"),
                ":3: a WebSocket begins",
            ),
            (ask("echo = 'x'\nstream = { chunks = 1, every = '1s' }"), ":4: what is echoed"),
            (
                ask("echo = 'x'\n[[ask]]\nrequest = 'GET /hello HTTP/1.1'"),
                ":2: an endless answer or an echo is a workload of its own",
            ),
            (ask("[[ask]]\nname = 'ask 1'\nrequest = 'GET / HTTP/1.1'"), ":4: two asks"),
        ] {
            let said = read(&text).unwrap_err();
            assert!(said.starts_with(&format!("x{says}")), "{said} / {says}");
        }
    }
}
