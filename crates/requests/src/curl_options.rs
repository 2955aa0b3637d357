//! The options of curl that dyno knows: what each means here, or what to do instead of it.

/// What an option of curl means here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    Url,
    Method,
    Header,
    Data(Data),
    UrlEncoded,
    Json,
    User,
    /// A header field of this name.
    Field(&'static str),
    Cookie,
    Bearer,
    /// The data belongs to the URL.
    Get,
    Head,
    Http10,
    Compressed,
    /// Every certificate is believed.
    Insecure,
    /// About curl's output, or what dyno does anyway.
    Idle {
        has_value: bool,
    },
    /// What dyno does not do, and what to do instead.
    Refused(&'static str),
}

/// How the value of a `--data…` is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Data {
    /// `@FILE` is a file without its line ends.
    Text,
    /// The value as it stands.
    Raw,
    /// `@FILE` is a file byte by byte.
    Binary,
}

const IDLE: Meaning = Meaning::Idle { has_value: false };
const IDLE_VALUE: Meaning = Meaning::Idle { has_value: true };
const TIMEOUT: Meaning = Meaning::Refused("give --timeout TIME to dyno load");
const CONNECT: Meaning = Meaning::Refused(
    "leave it out of the curl command, and give --connect-to HOST:PORT to dyno load: the place to connect to, alone",
);
const HTTP_2: Meaning = Meaning::Refused("leave it out, and give --http2 to dyno load");
const AUTH: Meaning = Meaning::Refused("only -u NAME:PASSWORD (Basic) is known here; leave it out");

pub(crate) const OPTIONS: [(Option<char>, &str, Meaning); 71] = [
    (None, "url", Meaning::Url),
    (Some('X'), "request", Meaning::Method),
    (Some('H'), "header", Meaning::Header),
    (Some('d'), "data", Meaning::Data(Data::Text)),
    (None, "data-ascii", Meaning::Data(Data::Text)),
    (None, "data-raw", Meaning::Data(Data::Raw)),
    (None, "data-binary", Meaning::Data(Data::Binary)),
    (None, "data-urlencode", Meaning::UrlEncoded),
    (None, "json", Meaning::Json),
    (Some('u'), "user", Meaning::User),
    (Some('A'), "user-agent", Meaning::Field("User-Agent")),
    (Some('e'), "referer", Meaning::Field("Referer")),
    (Some('r'), "range", Meaning::Field("Range")),
    (Some('b'), "cookie", Meaning::Cookie),
    (None, "oauth2-bearer", Meaning::Bearer),
    (Some('G'), "get", Meaning::Get),
    (Some('I'), "head", Meaning::Head),
    (Some('0'), "http1.0", Meaning::Http10),
    (None, "compressed", Meaning::Compressed),
    (None, "http1.1", IDLE),
    (None, "basic", IDLE),
    (Some('s'), "silent", IDLE),
    (Some('S'), "show-error", IDLE),
    (Some('v'), "verbose", IDLE),
    (Some('i'), "include", IDLE),
    (None, "show-headers", IDLE),
    (Some('#'), "progress-bar", IDLE),
    (None, "no-progress-meter", IDLE),
    (Some('f'), "fail", IDLE),
    (None, "fail-with-body", IDLE),
    (Some('g'), "globoff", IDLE),
    (Some('N'), "no-buffer", IDLE),
    (None, "path-as-is", IDLE),
    (Some('k'), "insecure", Meaning::Insecure),
    (Some('O'), "remote-name", IDLE),
    (Some('J'), "remote-header-name", IDLE),
    (Some('o'), "output", IDLE_VALUE),
    (Some('w'), "write-out", IDLE_VALUE),
    (Some('D'), "dump-header", IDLE_VALUE),
    (None, "stderr", IDLE_VALUE),
    (None, "trace", IDLE_VALUE),
    (None, "trace-ascii", IDLE_VALUE),
    (Some('m'), "max-time", TIMEOUT),
    (None, "connect-timeout", TIMEOUT),
    (None, "resolve", CONNECT),
    (None, "connect-to", CONNECT),
    (None, "unix-socket", Meaning::Refused("give --unix PATH to dyno load")),
    (None, "interface", Meaning::Refused("give --source ADDR to dyno load")),
    (
        Some('L'),
        "location",
        Meaning::Refused("dyno follows no redirect; write the URL to which it leads"),
    ),
    (
        None,
        "location-trusted",
        Meaning::Refused("dyno follows no redirect; write the URL to which it leads"),
    ),
    (
        Some('F'),
        "form",
        Meaning::Refused("write the body into a file, and give it as --data-binary @FILE"),
    ),
    (Some('T'), "upload-file", Meaning::Refused("write -X PUT --data-binary @FILE")),
    (Some('x'), "proxy", Meaning::Refused("dyno loads the server itself; leave it out")),
    (Some('K'), "config", Meaning::Refused("write its options out")),
    (Some('n'), "netrc", Meaning::Refused("write -u NAME:PASSWORD")),
    (
        Some('c'),
        "cookie-jar",
        Meaning::Refused("dyno keeps no cookies; write them as -b 'name=value'"),
    ),
    (
        Some(':'),
        "next",
        Meaning::Refused("this is for one request; write several into a file for --requests"),
    ),
    (Some('Z'), "parallel", Meaning::Refused("give -c CONNECTIONS to dyno load")),
    (None, "retry", Meaning::Refused("each failure counts; leave it out")),
    (
        None,
        "limit-rate",
        Meaning::Refused("give -r REQUESTS_PER_SECOND to dyno load, or leave it out"),
    ),
    (None, "digest", AUTH),
    (None, "ntlm", AUTH),
    (None, "negotiate", AUTH),
    (None, "anyauth", AUTH),
    (None, "aws-sigv4", AUTH),
    (Some('E'), "cert", Meaning::Refused("dyno has no certificates of a client; leave it out")),
    (None, "cacert", Meaning::Refused("give --ca FILE to dyno load")),
    (
        None,
        "tls-max",
        Meaning::Refused("leave it out, and give --tls 1.2 or --tls 1.3 to dyno load"),
    ),
    (None, "http2", HTTP_2),
    (None, "http2-prior-knowledge", HTTP_2),
    (
        None,
        "http3",
        Meaning::Refused("dyno load speaks HTTP/1.1, and HTTP/2 with --http2; leave it out"),
    ),
];

impl Meaning {
    pub(crate) fn has_value(self) -> bool {
        match self {
            Meaning::Idle { has_value } => has_value,
            Meaning::Get
            | Meaning::Head
            | Meaning::Http10
            | Meaning::Compressed
            | Meaning::Insecure
            | Meaning::Refused(_) => false,
            Meaning::Url
            | Meaning::Method
            | Meaning::Header
            | Meaning::Data(_)
            | Meaning::UrlEncoded
            | Meaning::Json
            | Meaning::User
            | Meaning::Field(_)
            | Meaning::Cookie
            | Meaning::Bearer => true,
        }
    }
}
