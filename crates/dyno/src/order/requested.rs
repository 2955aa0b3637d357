//! What `dyno load` requests, from its flags: the URL's request, a curl command's, or those of a file or a recording.

use std::path::{Path, PathBuf};

use clap::Args;
use lab::source_file::SourceFile;
use lab::workload::Workload;
use load::Rate;
use requests::{RequestFileKind, RequestOrder, RequestSpec, har};

use super::flags::LoadFlags;
use super::schedule::Spacing;
use crate::one_of::one_of;

/// Where the requests come from, if the URL and the flags do not say all.
#[derive(Args)]
pub(crate) struct RequestsFlags {
    /// Send the requests of a file with one JSON object a line: method, path, headers, body, weight, expect; - reads
    /// them from standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["workload", "har"])]
    requests: Option<PathBuf>,
    /// Send the requests of a workload: a TOML file, as for `dyno run`
    #[arg(long, value_name = "FILE", conflicts_with_all = SAID_BY_WORKLOAD)]
    workload: Option<PathBuf>,
    /// Send what a browser or a proxy recorded: a HAR file, as the network panel of a browser saves it; - reads it from
    /// standard input. Without a URL, they go to the servers that they were recorded from
    #[arg(long, value_name = "FILE", conflicts_with = "workload")]
    pub(crate) har: Option<PathBuf>,
    /// With --har: send the requests to this origin, https://shop.example:8443 [that of the first request]
    #[arg(long, value_name = "ORIGIN", value_parser = har::origin, requires = "har")]
    pub(crate) origin: Option<String>,
    /// With --har: write the requests to this file, - for standard output, as --requests reads them, and load nothing
    #[arg(long, value_name = "FILE", requires = "har")]
    pub(crate) write_requests: Option<PathBuf>,
    /// In which order the requests of a file are sent [in-order, or weighted if a line has a weight or a workload is
    /// sent]
    #[arg(long, value_name = "ORDER", value_parser = one_of(RequestOrder::ALL, RequestOrder::name, RequestOrder::meaning))]
    order: Option<RequestOrder>,
    /// Send the request of a curl command, 'curl http://localhost:8080/ -H …', in place of a URL
    #[arg(long, value_name = "COMMAND", conflicts_with_all = SAID_BY_CURL)]
    pub(crate) curl: Option<String>,
}

impl RequestsFlags {
    /// The files of requests that are read, with their flags.
    pub(super) fn files(&self) -> [(&'static str, Option<&Path>); 3] {
        [("--requests", &self.requests), ("--workload", &self.workload), ("--har", &self.har)]
            .map(|(flag, path)| (flag, path.as_deref()))
    }
}

const SAID_BY_CURL: [&str; 8] =
    ["url", "requests", "workload", "har", "method", "header", "body", "body_file"];

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

/// The rate that the workload states, where no flag says how its requests arrive. What is wrong with its file is said
/// where its requests are read.
pub(super) fn stated_rate(flags: &LoadFlags) -> Option<Rate> {
    let arriving = &flags.arriving;
    let is_said = arriving.rate.is_some()
        || arriving.sessions.is_some()
        || arriving.connections.is_some()
        || matches!(arriving.arrivals, Some(Spacing::File(_)));
    let path = flags.from.workload.as_ref().filter(|_| !is_said)?;
    let source = SourceFile::read(path, &path.display().to_string()).ok()?;
    Workload::parse("load", source).ok()?.rate
}

/// What the flags say of the requests.
pub(super) fn spec(flags: &LoadFlags) -> RequestSpec {
    let (from, asking) = (&flags.from, &flags.asking);
    let lines = from.requests.clone().map(|path| (RequestFileKind::Requests, path));
    let workload = from.workload.clone().map(|path| (RequestFileKind::Workload, path));
    let har = from.har.clone().map(|path| (RequestFileKind::Har, path));
    RequestSpec {
        url: flags.url.clone(),
        curl: from.curl.clone(),
        file: lines.or(workload).or(har),
        origin: from.origin.clone(),
        order: from.order,
        method: asking.method.clone(),
        fields: asking.header.clone(),
        body: asking.body.clone(),
        body_file: asking.body_file.clone(),
        http2: flags.http2.http2,
        http_1_0: flags.http_1_0,
        keep_alive: !asking.no_keepalive,
        expect_status: asking.expect_status,
        expect_fields: asking.expect_header.clone(),
        expect_body: asking.expect_body.clone(),
        seed: asking.seed,
    }
}
