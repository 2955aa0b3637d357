//! What is measured: every load generator as one row of data.

use crate::load::Load;
use crate::quantiles::Report;

/// A load generator. A command line that it does not support is none; holes are in braces.
pub(crate) struct Generator {
    pub(crate) name: &'static str,
    pub(crate) program: &'static str,
    /// A command that prints a version somewhere in its first lines.
    pub(crate) version: &'static str,
    /// How to install it.
    pub(crate) get: &'static str,
    pub(crate) closed: Option<&'static str>,
    pub(crate) fresh: Option<&'static str>,
    pub(crate) counted: Option<&'static str>,
    pub(crate) open: Option<&'static str>,
    pub(crate) sessions: Option<&'static str>,
    pub(crate) resumed: Option<&'static str>,
    pub(crate) streams: Option<&'static str>,
    pub(crate) open_streams: Option<&'static str>,
    pub(crate) idle: Option<&'static str>,
    pub(crate) report: Report,
    /// The most connections that it can hold at a time.
    pub(crate) connections_max: u32,
}

impl Generator {
    /// The command line for this load, with its holes.
    pub(crate) fn template(&self, load: &Load) -> Option<&'static str> {
        let (template, connections) = match *load {
            Load::Closed { connections, .. } => (self.closed, connections),
            Load::Fresh { connections, .. } => (self.fresh, connections),
            Load::Resumed { connections, .. } => (self.resumed, connections),
            Load::Streams { connections, .. } => (self.streams, connections),
            Load::OpenStreams { connections, .. } => (self.open_streams, connections),
            Load::Counted { connections, .. } => (self.counted, connections),
            Load::Idle { connections, .. } => (self.idle, connections),
            Load::Open { connections, .. } => (self.open, connections),
            Load::Sessions { .. } => (self.sessions, 0),
        };
        template.filter(|_| connections <= self.connections_max)
    }
}

/// The program under development: every answer checked, everything timed.
pub(crate) static DYNO: Generator = Generator {
    name: "dyno",
    program: "dyno",
    version: "dyno --version",
    get: "cargo build --release -p dyno-http",
    closed: Some(
        "dyno load {url} {trust} -c {c} -t 1 -d {s}s --load-cpus 1 --expect-status 200 \
         --expect-body 'Hello, world!' --json",
    ),
    fresh: Some(
        "dyno load {url} {trust} -c {c} -t 1 -d {s}s --no-keepalive --load-cpus 1 --expect-status 200 \
         --expect-body 'Hello, world!' --json",
    ),
    counted: Some(
        "dyno load {url} -c {c} -t 1 -n {n} --load-cpus 1 --expect-status 200 \
         --expect-body 'Hello, world!' --json",
    ),
    open: Some(
        "dyno load {url} {trust} -c {c} -t 1 -d {s}s -r {r} --load-cpus 1 --expect-status 200 \
         --expect-body 'Hello, world!' --json",
    ),
    sessions: Some(
        "dyno load {url} -t 1 --sessions {r} --calls {calls} -n {n} --load-cpus 1 \
         --expect-status 200 --expect-body 'Hello, world!' --json",
    ),
    resumed: Some(
        "dyno load {url} {trust} -c {c} -t 1 -d {s}s --no-keepalive --tls-resume always --load-cpus 1 \
         --expect-status 200 --expect-body 'Hello, world!' --json",
    ),
    streams: Some(
        "dyno load {url} {trust} --http2 --streams {m} -c {c} -t 1 -d {s}s --load-cpus 1 \
         --expect-status 200 --expect-body 'Hello, world!' --json",
    ),
    open_streams: Some(
        "dyno load {url} {trust} --http2 --streams {m} -c {c} -t 1 -d {s}s -r {r} --load-cpus 1 \
         --expect-status 200 --expect-body 'Hello, world!' --json",
    ),
    idle: Some(
        "dyno load {url} {trust} -c {c} -t 1 -n {n} -r {r} --load-cpus 1 --expect-status 200 \
         --expect-body 'Hello, world!' --json",
    ),
    report: Report::OurJson,
    connections_max: u32::MAX,
};

/// The least a client can do: in a closed loop, over HTTP/2 (floor-h2), and on a schedule (floor-open).
pub(crate) static FLOOR: Generator = Generator {
    name: "floor",
    program: "bench",
    version: "bench --version",
    get: "part of this benchmark",
    closed: Some("bench floor {address} --connections {c} --seconds {s}"),
    fresh: Some("bench floor {address} --connections {c} --seconds {s} --fresh"),
    open: Some("bench floor-open {address} --connections {c} --seconds {s} --rate {r}"),
    streams: Some("bench floor-h2 {address} --connections {c} --streams {m} --seconds {s}"),
    report: Report::OurJson,
    ..ABSENT
};

/// The peer against which most targets are set.
pub(crate) static WRK: Generator = Generator {
    name: "wrk",
    program: "wrk",
    version: "wrk --version",
    get: "apt-get install wrk",
    closed: Some("wrk -t1 -c{c} -d{s}s {url}"),
    fresh: Some("wrk -t1 -c{c} -d{s}s -H 'Connection: close' {url}"),
    report: Report::Nothing,
    ..ABSENT
};

/// The peer for handshakes: it does nothing else.
pub(crate) static S_TIME: Generator = Generator {
    name: "openssl s_time",
    program: "openssl",
    version: "openssl version",
    get: "apt-get install openssl",
    fresh: Some("openssl s_time -connect {address} -www {path} -new -time {s}"),
    resumed: Some("openssl s_time -connect {address} -www {path} -reuse -time {s}"),
    connections_max: u32::MAX,
    ..ABSENT
};

/// The peer for HTTP/2.
pub(crate) fn h2load() -> &'static Generator {
    PEERS.iter().find(|peer| peer.name == "h2load").expect("it is among them")
}

/// All peers but the one for HTTP/2, in the order of their rows.
pub(crate) static PEERS: &[Generator] = &[
    Generator {
        name: "wrk2",
        program: "wrk2",
        version: "wrk2 --version",
        get: "build it from source as `wrk2`",
        open: Some("wrk2 -t1 -c{c} -d{s}s -R{r} --latency {url}"),
        report: Report::Wrk2,
        ..ABSENT
    },
    Generator {
        name: "ab",
        program: "ab",
        version: "ab -V",
        get: "apt-get install apache2-utils",
        closed: Some("ab -q -k -c {c} -t {s} -n 3000000 {url}"),
        fresh: Some("ab -q -c {c} -t {s} -n 3000000 {url}"),
        counted: Some("ab -q -k -c {c} -n {n} {url}"),
        ..ABSENT
    },
    Generator {
        name: "h2load",
        program: "h2load",
        version: "h2load --version",
        get: "apt-get install nghttp2-client",
        closed: Some("h2load --h1 -t1 -c{c} -D{s} {url}"),
        // By count: with -D it waits for ever once servers close.
        fresh: Some("h2load --h1 -t1 -c{c} -n{fresh} -H 'connection: close' {url}"),
        counted: Some("h2load --h1 -t1 -c{c} -n{n} {url}"),
        open: Some("h2load --h1 -t1 -c{c} -D{s} --rps={r_each} --log-file={log} {url}"),
        sessions: Some("h2load --h1 -t1 -c{n} -r{r} -n{n_calls} {url}"),
        streams: Some("h2load -t1 -c{c} -m{m} -D{s} {url}"),
        // By count: with -D it does not end on so many connections.
        idle: Some("h2load --h1 -t1 -c{c} -n{n} --rps={r_each} {url}"),
        open_streams: Some("h2load -t1 -c{c} -m{m} -D{s} --rps={r_each} --log-file={log} {url}"),
        report: Report::H2loadLog,
        ..ABSENT
    },
    Generator {
        name: "httperf",
        program: "httperf",
        version: "httperf --version",
        get: "apt-get install httperf",
        closed: Some(
            "httperf --hog --server={host} --port={port} --uri={path} --rate=20000 --num-conns={c} \
             --num-calls={each}",
        ),
        fresh: Some(
            "httperf --hog --server={host} --port={port} --uri={path} --rate=8000 \
             --num-conns={fresh} --num-calls=1 --timeout=5",
        ),
        sessions: Some(
            "httperf --hog --server={host} --port={port} --uri={path} --rate={r} --num-conns={n} \
             --num-calls={calls} --timeout=5",
        ),
        // It uses select(2), whose file set ends at 1,024.
        connections_max: 1000,
        ..ABSENT
    },
    Generator {
        name: "oha",
        program: "oha",
        version: "oha --version",
        get: "cargo install oha --locked, or `bench --install`",
        closed: Some("oha --no-tui --output-format json -c {c} -z {s}s {url}"),
        fresh: Some("oha --no-tui --output-format json --disable-keepalive -c {c} -z {s}s {url}"),
        counted: Some("oha --no-tui --output-format json -c {c} -n {n} {url}"),
        open: Some("oha --no-tui --output-format json -c {c} -z {s}s -q {r} {url}"),
        report: Report::OhaJson,
        ..ABSENT
    },
    Generator {
        name: "oha, corrected",
        program: "oha",
        version: "oha --version",
        get: "cargo install oha --locked, or `bench --install`",
        open: Some(
            "oha --no-tui --output-format json -c {c} -z {s}s -q {r} --latency-correction {url}",
        ),
        report: Report::OhaJson,
        ..ABSENT
    },
    Generator {
        name: "fortio",
        program: "fortio",
        version: "fortio version",
        get: "go install fortio.org/fortio, or `bench --install`",
        closed: Some("fortio load -quiet -qps 0 -c {c} -t {s}s {url}"),
        fresh: Some("fortio load -quiet -qps 0 -keepalive=false -c {c} -t {s}s {url}"),
        counted: Some("fortio load -quiet -qps 0 -c {c} -n {n} {url}"),
        open: Some(
            "fortio load -quiet -qps {r} -c {c} -t {s}s -r 0.00001 -p 50,90,99,99.9 -json - {url}",
        ),
        report: Report::FortioJson,
        ..ABSENT
    },
    Generator {
        name: "hey",
        program: "hey",
        version: "dpkg-query -W -f ${Version} hey",
        get: "apt-get install hey",
        closed: Some("hey -cpus 1 -c {c} -z {s}s {url}"),
        fresh: Some("hey -cpus 1 -c {c} -z {s}s -disable-keepalive {url}"),
        counted: Some("hey -cpus 1 -c {c} -n {n} {url}"),
        open: Some("hey -cpus 1 -c {c} -z {s}s -q {r_each} {url}"),
        report: Report::Hey,
        ..ABSENT
    },
    Generator {
        name: "k6",
        program: "k6",
        version: "k6 version",
        get: "go install go.k6.io/k6@latest, or `bench --install`",
        closed: Some(
            "k6 run -q --no-usage-report --vus {c} --duration {s}s -e URL={url} {k6_closed}",
        ),
        fresh: Some(
            "k6 run -q --no-usage-report --vus {c} --duration {s}s --no-connection-reuse \
             -e URL={url} {k6_closed}",
        ),
        counted: Some(
            "k6 run -q --no-usage-report --vus {c} --iterations {n} -e URL={url} {k6_closed}",
        ),
        open: Some(
            "k6 run -q --no-usage-report -e URL={url} -e RATE={r} -e SECONDS={s} -e VUS={c} \
             {k6_open}",
        ),
        report: Report::K6Json,
        ..ABSENT
    },
    Generator {
        name: "k6, 2,000 VUs",
        program: "k6",
        version: "k6 version",
        get: "go install go.k6.io/k6@latest, or `bench --install`",
        open: Some(
            "k6 run -q --no-usage-report -e URL={url} -e RATE={r} -e SECONDS={s} -e VUS=2000 \
             {k6_open}",
        ),
        report: Report::K6Json,
        ..ABSENT
    },
    Generator {
        name: "JMeter",
        program: "jmeter",
        version: "jmeter --version -j /dev/null",
        get: "Maven: org.apache.jmeter:ApacheJMeter, or `bench --install`",
        closed: Some(
            "jmeter -n -t {jmeter_plan} -Jhost={host} -Jport={port} -Jpath={path} -Jthreads={c} -Jseconds={s} \
             -Jper_minute={fast} -Jkeepalive=true -j /dev/null",
        ),
        fresh: Some(
            "jmeter -n -t {jmeter_plan} -Jhost={host} -Jport={port} -Jpath={path} -Jthreads={c} -Jseconds={s} \
             -Jper_minute={fast} -Jkeepalive=false -j /dev/null",
        ),
        open: Some(
            "jmeter -n -t {jmeter_plan} -Jhost={host} -Jport={port} -Jpath={path} -Jthreads={c} -Jseconds={s} \
             -Jper_minute={r_minute} -Jkeepalive=true -j /dev/null -l {log}",
        ),
        report: Report::JmeterCsv,
        // A thread for each connection.
        connections_max: 1000,
        ..ABSENT
    },
];

/// An empty row, to be filled by name.
pub(crate) const ABSENT: Generator = Generator {
    name: "",
    program: "",
    version: "",
    get: "",
    closed: None,
    fresh: None,
    counted: None,
    open: None,
    sessions: None,
    resumed: None,
    streams: None,
    open_streams: None,
    idle: None,
    report: Report::Nothing,
    connections_max: u32::MAX,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::fill;

    const LOADS: [Load; 9] = [
        Load::Closed { connections: 50, seconds: 3 },
        Load::Fresh { connections: 50, seconds: 3 },
        Load::Counted { connections: 50, requests: 200_000 },
        Load::Open { connections: 50, seconds: 3, rate: 1000 },
        Load::Sessions { rate: 1200, calls: 10, sessions: 5000 },
        Load::Idle { connections: 10_000, requests: 20_000, rate: 2000 },
        Load::Resumed { connections: 50, seconds: 3 },
        Load::Streams { connections: 16, streams: 10, seconds: 3 },
        Load::OpenStreams { connections: 4, streams: 50, seconds: 3, rate: 1000 },
    ];

    #[test]
    fn every_hole_of_every_command_line_is_filled() {
        let known = [
            "url",
            "trust",
            "address",
            "host",
            "port",
            "path",
            "log",
            "k6_closed",
            "k6_open",
            "jmeter_plan",
        ];
        for generator in [&DYNO, &FLOOR, &WRK, &S_TIME].into_iter().chain(PEERS) {
            for load in &LOADS {
                let Some(template) = generator.template(load) else {
                    continue;
                };
                let mut fillings = load.fillings();
                fillings.extend(known.map(|hole| (hole, String::new())));
                let filled = fill(template, &fillings);
                assert!(!filled.contains('{'), "{}: {filled}", generator.name);
                assert!(filled.starts_with(generator.program), "{filled}");
            }
        }
    }

    #[test]
    fn more_connections_than_a_tool_can_hold_are_not_asked_of_it() {
        let load = Load::Closed { connections: 10_000, seconds: 3 };
        let httperf = PEERS.iter().find(|peer| peer.name == "httperf").expect("a row");
        assert!(httperf.template(&load).is_none());
        assert!(WRK.template(&load).is_some());
    }
}
