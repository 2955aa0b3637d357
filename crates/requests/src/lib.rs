//! What is requested of a server: one request from a URL and flags or from a curl command, or several from a file; and
//! when each is due, if a log has their times.

mod access_log;
pub mod answer;
pub mod arrivals;
mod curl;
mod curl_options;
pub mod file;
pub mod har;
mod instant;
mod line;
mod notation;
pub mod reach;
pub mod secret;
mod shell_words;
mod source;
pub mod url;

use std::path::{Path, PathBuf};

use lab::Refusal;
use lab::source_file::SourceFile;
use lab::workload::Workload;
use wire::h2::Scheme;
use wire::{Ask, AskError, Asks, Expect, Request, StatusRule};

use har::Taken;
use secret::Secret;
use url::Url;

pub use source::{RequestFile, RequestFileKind, RequestOrder, RequestSource};

/// What a user says of the requests of a load.
pub struct RequestSpec {
    pub url: Option<Url>,
    /// A curl command in place of a URL.
    pub curl: Option<String>,
    /// A file that has the requests.
    pub file: Option<(RequestFileKind, PathBuf)>,
    /// Of a recording the origin whose requests are taken.
    pub origin: Option<String>,
    pub order: Option<RequestOrder>,
    pub method: Option<String>,
    pub fields: Vec<(String, String)>,
    pub body: Option<String>,
    pub body_file: Option<PathBuf>,
    pub http_1_0: bool,
    pub http2: bool,
    pub keep_alive: bool,
    pub expect_status: Option<StatusRule>,
    pub expect_fields: Vec<(String, String)>,
    pub expect_body: Option<String>,
    pub seed: u64,
}

/// A spec whose URL, curl command or recording has been read.
pub struct Base<'s> {
    pub given: Given,
    recorded: Option<Taken>,
    spec: &'s RequestSpec,
}

/// A request as a URL with flags, or a curl command, gives it.
pub struct Given {
    pub url: Url,
    request: Request,
    /// What is said of options without effect.
    notes: Vec<String>,
    /// The curl command says that every certificate is believed.
    pub insecure: bool,
}

/// What is sent.
pub struct Requested {
    pub asks: Asks,
    pub source: RequestSource,
    /// Their file says that they are sent in several forms.
    pub is_varied: bool,
    /// Sentences for the user, before the start.
    pub notes: Vec<String>,
}

/// What the flags say of all requests of a file.
struct Wanted {
    /// The method of those that name none.
    method: Option<String>,
    expect: Expect,
}

/// The method of a request that names none.
#[must_use]
pub fn usual_method(has_body: bool) -> &'static str {
    if has_body { "POST" } else { "GET" }
}

/// What a request with HTTP/2 says of its scheme.
fn scheme(url: &Url) -> Scheme {
    if url.is_secure { Scheme::Https } else { Scheme::Http }
}

impl RequestSpec {
    /// Reads the URL, the curl command or the recording, and the body.
    pub fn base(&self) -> Result<Base<'_>, Refusal> {
        if self.order.is_some() && self.file.is_none() {
            return Err(Refusal::new(
                "--order is for the requests of a file; add --requests, --workload or --har, or leave it out",
            ));
        }
        if let Some(command) = &self.curl {
            let curl =
                curl::read(command).map_err(|says| Refusal::new(format!("--curl: {says}")))?;
            let http_1_0 = self.http_1_0 || curl.request.http_1_0;
            let keep_alive = self.keep_alive;
            let http2 = self.http2.then_some(scheme(&curl.url));
            let request = Request { http_1_0, http2, keep_alive, ..curl.request };
            return Ok(Base { given: Given { request, ..curl }, recorded: None, spec: self });
        }
        let recorded = match &self.file {
            Some((RequestFileKind::Har, path)) => Some(har::read(path, self.origin.as_deref())?),
            Some(_) | None => None,
        };
        let url = match (&self.url, &recorded) {
            (Some(url), _) => url.clone(),
            (None, Some(taken)) => url::parse(&taken.origin).map_err(Refusal::new)?,
            (None, None) => {
                return Err(Refusal::new("name an address: dyno load localhost:8080/hello"));
            }
        };
        let body = match (&self.body, &self.body_file) {
            (Some(text), _) => text.clone().into_bytes(),
            (None, Some(path)) => file::bytes("--body-file", path)?,
            (None, None) => Vec::new(),
        };
        let has_body = self.body.is_some() || self.body_file.is_some();
        let request = Request {
            method: self.method.clone().unwrap_or_else(|| usual_method(has_body).into()),
            target: url.target.clone(),
            host: url.host_field.clone(),
            headers: self.fields.clone(),
            body,
            body_has_placeholders: self.body.is_some(),
            http_1_0: self.http_1_0,
            http2: self.http2.then_some(scheme(&url)),
            chunked: false,
            keep_alive: self.keep_alive,
        };
        let given = Given { url, request, notes: Vec::new(), insecure: false };
        Ok(Base { given, recorded, spec: self })
    }
}

impl Base<'_> {
    /// Reads the rest; `lanes` will share the requests, which all have the secret fields.
    pub fn requested(
        self,
        lanes: usize,
        secrets: &[(String, Secret)],
    ) -> Result<Requested, Refusal> {
        let Base { given: Given { url, mut request, mut notes, .. }, recorded, spec } = self;
        let revealed =
            |(name, value): &(String, Secret)| (name.clone(), value.reveal().to_string());
        request.headers.extend(secrets.iter().map(revealed));
        let body = spec.expect_body.as_deref();
        let expect = answer::expect(spec.expect_status, &spec.expect_fields, body)?;
        // Built even where a file has the requests, so that what is wrong with a flag is not said of a line.
        let ask = Ask::new(&request, expect.clone())
            .map_err(|error| with_flag(&error, &request.method))?;
        let Some((kind, path)) = &spec.file else {
            if ask.is_head() && body.is_some() {
                return Err(Refusal::new(
                    "--expect-body: answers to HEAD have no body; leave it out, or send another method (--method)",
                ));
            }
            let source = RequestSource::Flags { method: request.method };
            return Ok(Requested { asks: Asks::one(ask), source, is_varied: false, notes });
        };
        let wanted = Wanted { method: spec.method.clone(), expect };
        let file = match (kind, recorded) {
            (RequestFileKind::Workload, _) => of_workload(path, &url, &request)?,
            (RequestFileKind::Har, Some(taken)) => {
                notes.extend(taken.notes);
                let source = SourceFile { name: path.display().to_string(), text: taken.text };
                of_lines(("--har", source), &url, &request, &wanted)?
            }
            (RequestFileKind::Requests | RequestFileKind::Har, _) => {
                of_lines(("--requests", lines(path)?), &url, &request, &wanted)?
            }
        };
        let order = spec.order.unwrap_or(file.usual_order);
        let source = RequestSource::File(RequestFile {
            kind: *kind,
            sha256: wire::sha256(file.source.text.as_bytes()),
            name: file.source.name,
            requests: file.asks.len(),
            order,
        });
        let asks = order.of(file.asks, lanes, spec.seed);
        Ok(Requested { asks, source, is_varied: file.is_varied, notes })
    }
}

/// Which flag made a request impossible.
fn with_flag(error: &AskError, method: &str) -> Refusal {
    let flag = match error {
        AskError::Method(_) => "--method",
        AskError::NotHttp2(name) if name == method => "--method",
        AskError::Target(_) => "URL",
        AskError::Header(_) | AskError::NotHttp2(_) => "--header",
        AskError::Template(_) => "URL, --header or --body",
        AskError::Chunked(_) | AskError::Length(..) => "--header or --body",
    };
    Refusal::new(format!("{flag}: {error}"))
}

/// The requests of a file, each with its weight.
struct FromFile {
    source: SourceFile,
    asks: Vec<(u32, Ask)>,
    is_varied: bool,
    usual_order: RequestOrder,
}

/// A file of requests, as it is named.
fn lines(path: &Path) -> Result<SourceFile, Refusal> {
    let is_number =
        |text: &Path| text.to_str().is_some_and(|text| lab::amounts::count(text).is_ok());
    if is_number(path) && !path.exists() {
        return Err(Refusal::new(format!(
            "--requests {0}: there is no such file; a number of requests is given with -n {0}",
            path.display()
        )));
    }
    file::text("--requests", path)
}

/// The requests of a source with a line for each, which a flag names.
fn of_lines(
    (flag, source): (&str, SourceFile),
    url: &Url,
    base: &Request,
    wanted: &Wanted,
) -> Result<FromFile, Refusal> {
    let lines = line::read(&source, base, wanted, &line::MOST)?;
    if !lines.use_path_of_url {
        root_only(flag, url, &source)?;
    }
    let has_weights = lines.asks.iter().any(|(weight, _)| weight.is_some());
    let asks = lines.asks.into_iter().map(|(weight, ask)| (weight.unwrap_or(1), ask)).collect();
    let usual_order = if has_weights { RequestOrder::Weighted } else { RequestOrder::InOrder };
    Ok(FromFile { source, asks, is_varied: false, usual_order })
}

fn of_workload(path: &Path, url: &Url, base: &Request) -> Result<FromFile, Refusal> {
    let shown = path.display();
    let refused = |says: &str| Err(Refusal::new(format!("--workload {shown}: {says}")));
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let source = SourceFile::read(path, &shown.to_string());
    let workload = source.and_then(|source| Workload::parse(&name, source));
    let workload = workload?;
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
    if let Some(service) = &workload.service {
        return refused(&format!(
            "it needs the service `{service}` beside the server, and a server at a URL runs already; measure it by an \
             experiment: dyno run EXPERIMENT"
        ));
    }
    if workload.needs_data() {
        return refused(
            "its answers are made of data that dyno gives to servers that it starts, and a server at a URL runs already; \
             measure it by an experiment: dyno run EXPERIMENT",
        );
    }
    root_only("--workload", url, &workload.source)?;
    let workload = match workload.hosted(&url.host_field, base.http2) {
        Ok(workload) => workload,
        Err(says) => return refused(&says),
    };
    let asks = workload.weighted(base.keep_alive);
    let (source, is_varied) = (workload.source, workload.vary);
    Ok(FromFile { source, asks, is_varied, usual_order: RequestOrder::Weighted })
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
