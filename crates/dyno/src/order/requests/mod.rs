//! What `dyno load` sends: one request from the URL and the flags or from a curl command, or several from a file.

mod curl;
mod curl_options;
pub(crate) mod har;
mod line;
mod shell_words;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use lab::source_file::SourceFile;
use lab::workload::Workload;
use report::load::{RequestFile, RequestFileKind, RequestOrder, RequestSource};
use tls::Client;
use wire::{Ask, Asks, Expect, Request};

use super::flags::LoadFlags;
use super::secret::Secret;
use super::url::Url;
use super::{answer, method, words};
use crate::shell::Refusal;

/// Where the requests come from, if the URL and the flags do not say all.
#[derive(Args)]
pub(crate) struct RequestsFlags {
    /// Send the requests of a file that has one JSON object a line: method, path, headers, body, weight, expect; - reads
    /// them from standard input
    #[arg(long, value_name = "FILE", conflicts_with = "workload")]
    requests: Option<PathBuf>,
    /// Send the requests of a workload: a TOML file as `dyno run` has them
    #[arg(long, value_name = "FILE", conflicts_with_all = SAID_BY_WORKLOAD)]
    workload: Option<PathBuf>,
    /// Which of the requests of a file comes when [in-order, or weighted if a line has a weight or a workload is sent]
    #[arg(long, value_name = "ORDER")]
    order: Option<Choice>,
    /// Send the request of a curl command, 'curl http://localhost:8080/ -H …', in place of a URL
    #[arg(long, value_name = "COMMAND", conflicts_with_all = SAID_BY_CURL)]
    curl: Option<String>,
}

const SAID_BY_CURL: [&str; 7] =
    ["url", "requests", "workload", "method", "header", "body", "body_file"];

const SAID_BY_WORKLOAD: [&str; 9] = [
    "method",
    "header",
    "header_command",
    "body",
    "body_file",
    "expect_status",
    "expect_body",
    "expect_header",
    "http_1_0",
];

/// Which of several requests comes when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Choice {
    /// One after the other as the file has them, over and over
    InOrder,
    /// One after the other, over and over, in an order that --seed determines
    Shuffled,
    /// Each drawn by the weights of the lines; a line without a weight has 1
    Weighted,
}

/// What is sent, and to which server.
pub(super) struct Requested {
    pub(super) asks: Asks,
    pub(super) source: RequestSource,
    /// What is said before the start.
    pub(super) notes: Vec<String>,
}

/// What the flags say of all requests.
struct Wanted {
    /// The method of those that name none.
    method: Option<String>,
    expect: Expect,
}

/// Where the requests are sent.
pub(super) fn url(flags: &LoadFlags) -> Result<Url, Refusal> {
    match (by_curl(flags)?, &flags.url) {
        (Some(curl), _) => Ok(curl.url),
        (None, Some(url)) => Ok(url.clone()),
        (None, None) => Err(Refusal::new("name an address: dyno load localhost:8080/hello")),
    }
}

/// How connections are secured: by dyno's flags, or by curl's -k.
pub(super) fn tls(flags: &LoadFlags, url: &Url) -> Result<Option<Client>, Refusal> {
    let mut tls = flags.tls.clone();
    tls.trust.insecure |= by_curl(flags)?.is_some_and(|curl| curl.insecure);
    tls.client(url)
}

fn by_curl(flags: &LoadFlags) -> Result<Option<curl::Curl>, Refusal> {
    let read = flags.from.curl.as_deref().map(curl::read).transpose();
    read.map_err(|says| Refusal::new(format!("--curl: {says}")))
}

/// Reads what is requested; `lanes` will share the requests, which all have the secret fields.
pub(super) fn requested(
    flags: &LoadFlags,
    lanes: usize,
    secrets: &[(String, Secret)],
) -> Result<Requested, Refusal> {
    let from = &flags.from;
    if from.order.is_some() && from.requests.is_none() && from.workload.is_none() {
        let says =
            "--order is for the requests of a file; add --requests or --workload, or leave it out";
        return Err(Refusal::new(says));
    }
    let by_curl = by_curl(flags)?;
    let notes = by_curl.as_ref().map_or(Vec::new(), |curl| curl.notes.clone());
    let url = url(flags)?;
    let mut base = match by_curl {
        Some(curl) => {
            let http_1_0 = flags.http_1_0 || curl.request.http_1_0;
            let keep_alive = !flags.asking.no_keepalive;
            Request { http_1_0, keep_alive, ..curl.request }
        }
        None => request(flags, &url)?,
    };
    let revealed = |(name, value): &(String, Secret)| (name.clone(), value.reveal().to_string());
    base.headers.extend(secrets.iter().map(revealed));
    let asking = &flags.asking;
    let body = asking.expect_body.as_deref();
    let expect = answer::expect(asking.expect_status, &asking.expect_header, body)?;
    // Built even where a file has the requests, so that what is wrong with a flag is not said of a line.
    let ask =
        Ask::new(&base, expect.clone()).map_err(|error| Refusal::new(words::of_ask(&error)))?;
    let wanted = Wanted { method: asking.method.clone(), expect };
    let file = match (&from.requests, &from.workload) {
        (Some(path), _) => of_lines(path, &url, &base, &wanted)?,
        (None, Some(path)) => of_workload(path, &url, asking.no_keepalive)?,
        (None, None) => {
            let source = RequestSource::Flags { method: base.method };
            return Ok(Requested { asks: Asks::one(ask), source, notes });
        }
    };
    let order = from.order.unwrap_or(file.usual_order);
    let source = RequestSource::File(RequestFile {
        kind: file.kind,
        sha256: wire::sha256(file.source.text.as_bytes()),
        name: file.source.name,
        requests: file.asks.len(),
        order: order.shown(),
    });
    Ok(Requested { asks: order.of(file.asks, lanes, asking.seed), source, notes })
}

/// The request of the URL and the flags.
fn request(flags: &LoadFlags, url: &Url) -> Result<Request, Refusal> {
    let asking = &flags.asking;
    let body = match (&asking.body, &asking.body_file) {
        (Some(text), _) => text.clone().into_bytes(),
        (None, Some(path)) => answer::file("--body-file", path)?,
        (None, None) => Vec::new(),
    };
    Ok(Request {
        method: method(asking),
        target: url.target.clone(),
        host: url.host_field.clone(),
        headers: asking.header.clone(),
        body,
        body_has_placeholders: asking.body.is_some(),
        http_1_0: flags.http_1_0,
        keep_alive: !asking.no_keepalive,
    })
}

/// The requests of a file, each with its weight.
struct FromFile {
    kind: RequestFileKind,
    source: SourceFile,
    asks: Vec<(u32, Ask)>,
    usual_order: Choice,
}

fn of_lines(path: &Path, url: &Url, base: &Request, wanted: &Wanted) -> Result<FromFile, Refusal> {
    let is_number =
        |text: &Path| text.to_str().is_some_and(|text| lab::amounts::count(text).is_ok());
    if is_number(path) && !path.exists() {
        return Err(Refusal::new(format!(
            "--requests {0}: there is no such file; a number of requests is given with -n {0}",
            path.display()
        )));
    }
    let source = answer::text("--requests", path)?;
    let lines = line::read(&source, base, wanted, &line::MOST)?;
    if !lines.use_path_of_url {
        root_only("--requests", url, &source)?;
    }
    let has_weights = lines.asks.iter().any(|(weight, _)| weight.is_some());
    let asks = lines.asks.into_iter().map(|(weight, ask)| (weight.unwrap_or(1), ask)).collect();
    let usual_order = if has_weights { Choice::Weighted } else { Choice::InOrder };
    Ok(FromFile { kind: RequestFileKind::Requests, source, asks, usual_order })
}

fn of_workload(path: &Path, url: &Url, no_keepalive: bool) -> Result<FromFile, Refusal> {
    let shown = path.display();
    let refused = |says: &str| Err(Refusal::new(format!("--workload {shown}: {says}")));
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let source = SourceFile::read(path, &shown.to_string());
    let workload = source.and_then(|source| Workload::parse(&name, source));
    let workload = workload.map_err(|error| Refusal::new(error.to_string()))?;
    if workload.is_held() {
        return refused(
            "its answer never ends, and dyno load waits for answers that end; dyno hold holds such connections",
        );
    }
    if workload.is_echo() {
        return refused(
            "it is a conversation on a WebSocket, for dyno check; name one that has requests",
        );
    }
    root_only("--workload", url, &workload.source)?;
    let workload = match workload.hosted(&url.host_field) {
        Ok(workload) => workload,
        Err(says) => return refused(&says),
    };
    let asks = workload.weighted(!no_keepalive);
    Ok(FromFile {
        kind: RequestFileKind::Workload,
        source: workload.source,
        asks,
        usual_order: Choice::Weighted,
    })
}

/// Refuses a path in the URL that no request would have.
fn root_only(flag: &str, url: &Url, source: &SourceFile) -> Result<(), Refusal> {
    match url.target.as_str() {
        "/" => Ok(()),
        path => Err(Refusal::new(format!(
            "{flag} {}: its requests have paths of their own, so none would be sent to the URL's {path}; leave that out",
            source.name
        ))),
    }
}

impl Choice {
    fn shown(self) -> RequestOrder {
        match self {
            Choice::InOrder => RequestOrder::InOrder,
            Choice::Shuffled => RequestOrder::Shuffled,
            Choice::Weighted => RequestOrder::Weighted,
        }
    }

    fn of(self, weighted: Vec<(u32, Ask)>, lanes: usize, seed: u64) -> Asks {
        let bare = |weighted: Vec<(u32, Ask)>| weighted.into_iter().map(|(_, ask)| ask).collect();
        let asks = match self {
            Choice::InOrder => Asks::in_turn(bare(weighted), lanes),
            Choice::Shuffled => Asks::shuffled(bare(weighted), lanes, seed),
            Choice::Weighted => Asks::weighted(weighted),
        };
        asks.expect("a file has a request, and no weight is 0")
    }
}
