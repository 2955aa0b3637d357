//! What is measured: every load generator as one row of data.

use crate::load::{Load, Shape};
use crate::quantiles::{self, Quantiles, Read};

/// A load generator.
pub(crate) struct Generator {
    pub(crate) name: &'static str,
    pub(crate) program: &'static str,
    /// A command that prints a version somewhere in its first lines.
    pub(crate) version: &'static str,
    /// How to install it.
    pub(crate) get: &'static str,
    /// How its command line begins.
    pub(crate) command: &'static str,
    /// How it goes on for each load that it supports; holes are in braces.
    pub(crate) loads: &'static [(Shape, &'static str)],
    /// Reads the response times out of what it printed, and of its log.
    pub(crate) read: Read,
    /// The most connections that it can hold at a time.
    pub(crate) connections_max: u32,
}

impl Generator {
    /// The command line for this load, with its holes.
    pub(crate) fn template(&self, load: &Load) -> Option<String> {
        let (_, rest) = self.loads.iter().find(|(shape, _)| *shape == load.shape)?;
        (load.connections <= self.connections_max).then(|| format!("{} {rest}", self.command))
    }
}

/// The program under development: every answer checked, everything timed.
pub(crate) static DYNO: Generator = Generator {
    name: "dyno",
    program: "dyno",
    version: "dyno --version",
    get: "cargo build --release -p dyno-http",
    command: "dyno load {url} -t 1 --load-cpus 1 --expect-status 200 --expect-body 'Hello, world!' --json",
    loads: &[
        (Shape::Closed, "{trust} -c {c} -d {s}s"),
        (Shape::Fresh, "{trust} -c {c} -d {s}s --no-keepalive"),
        (Shape::Counted, "-c {c} -n {n}"),
        (Shape::Open, "{trust} -c {c} -d {s}s -r {r}"),
        (Shape::Sessions, "--sessions {r} --calls {calls} -n {n}"),
        (Shape::Resumed, "{trust} -c {c} -d {s}s --no-keepalive --tls-resume always"),
        (Shape::Streams, "{trust} --http2 --streams {m} -c {c} -d {s}s"),
        (Shape::OpenStreams, "{trust} --http2 --streams {m} -c {c} -d {s}s -r {r}"),
        (Shape::Idle, "{trust} -c {c} -n {n} -r {r}"),
    ],
    read: quantiles::ours,
    connections_max: u32::MAX,
};

/// The least a client can do: in a closed loop, over HTTP/2 (floor-h2), and on a schedule (floor-open).
pub(crate) static FLOOR: Generator = Generator {
    name: "floor",
    program: "bench",
    version: "bench --version",
    get: "part of this benchmark",
    command: "bench",
    loads: &[
        (Shape::Closed, "floor {address} --connections {c} --seconds {s}"),
        (Shape::Fresh, "floor {address} --connections {c} --seconds {s} --fresh"),
        (Shape::Open, "floor-open {address} --connections {c} --seconds {s} --rate {r}"),
        (Shape::Streams, "floor-h2 {address} --connections {c} --streams {m} --seconds {s}"),
    ],
    read: quantiles::ours,
    ..ABSENT
};

/// The peer against which most targets are set.
pub(crate) static WRK: Generator = Generator {
    name: "wrk",
    program: "wrk",
    version: "wrk --version",
    get: "apt-get install wrk",
    command: "wrk -t1",
    loads: &[
        (Shape::Closed, "-c{c} -d{s}s {url}"),
        (Shape::Fresh, "-c{c} -d{s}s -H 'Connection: close' {url}"),
    ],
    ..ABSENT
};

/// The peer for handshakes: it does nothing else.
pub(crate) static S_TIME: Generator = Generator {
    name: "openssl s_time",
    program: "openssl",
    version: "openssl version",
    get: "apt-get install openssl",
    command: "openssl s_time -connect {address} -www {path}",
    loads: &[(Shape::Fresh, "-new -time {s}"), (Shape::Resumed, "-reuse -time {s}")],
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
        command: "wrk2 -t1",
        loads: &[(Shape::Open, "-c{c} -d{s}s -R{r} --latency {url}")],
        read: quantiles::audited,
        ..ABSENT
    },
    Generator {
        name: "ab",
        program: "ab",
        version: "ab -V",
        get: "apt-get install apache2-utils",
        command: "ab -q",
        loads: &[
            (Shape::Closed, "-k -c {c} -t {s} -n 3000000 {url}"),
            (Shape::Fresh, "-c {c} -t {s} -n 3000000 {url}"),
            (Shape::Counted, "-k -c {c} -n {n} {url}"),
        ],
        ..ABSENT
    },
    Generator {
        name: "h2load",
        program: "h2load",
        version: "h2load --version",
        get: "apt-get install nghttp2-client",
        command: "h2load -t1",
        loads: &[
            (Shape::Closed, "--h1 -c{c} -D{s} {url}"),
            // By count: with -D it waits for ever once servers close.
            (Shape::Fresh, "--h1 -c{c} -n{fresh} -H 'connection: close' {url}"),
            (Shape::Counted, "--h1 -c{c} -n{n} {url}"),
            (Shape::Open, "--h1 -c{c} -D{s} --rps={r_each} --log-file={log} {url}"),
            (Shape::Sessions, "--h1 -c{n} -r{r} -n{n_calls} {url}"),
            (Shape::Streams, "-c{c} -m{m} -D{s} {url}"),
            // By count: with -D it does not end on so many connections.
            (Shape::Idle, "--h1 -c{c} -n{n} --rps={r_each} {url}"),
            (Shape::OpenStreams, "-c{c} -m{m} -D{s} --rps={r_each} --log-file={log} {url}"),
        ],
        read: quantiles::h2load,
        ..ABSENT
    },
    Generator {
        name: "httperf",
        program: "httperf",
        version: "httperf --version",
        get: "apt-get install httperf",
        command: "httperf --hog --server={host} --port={port} --uri={path}",
        loads: &[
            (Shape::Closed, "--rate=20000 --num-conns={c} --num-calls={each}"),
            (Shape::Fresh, "--rate=8000 --num-conns={fresh} --num-calls=1 --timeout=5"),
            (Shape::Sessions, "--rate={r} --num-conns={n} --num-calls={calls} --timeout=5"),
        ],
        // It uses select(2), whose file set ends at 1,024.
        connections_max: 1000,
        ..ABSENT
    },
    Generator {
        name: "oha",
        program: "oha",
        version: "oha --version",
        get: "cargo install oha --locked, or `bench --install`",
        command: "oha --no-tui --output-format json",
        loads: &[
            (Shape::Closed, "-c {c} -z {s}s {url}"),
            (Shape::Fresh, "--disable-keepalive -c {c} -z {s}s {url}"),
            (Shape::Counted, "-c {c} -n {n} {url}"),
            (Shape::Open, "-c {c} -z {s}s -q {r} {url}"),
        ],
        read: quantiles::audited,
        ..ABSENT
    },
    Generator {
        name: "oha, corrected",
        program: "oha",
        version: "oha --version",
        get: "cargo install oha --locked, or `bench --install`",
        command: "oha --no-tui --output-format json",
        loads: &[(Shape::Open, "-c {c} -z {s}s -q {r} --latency-correction {url}")],
        read: quantiles::audited,
        ..ABSENT
    },
    Generator {
        name: "fortio",
        program: "fortio",
        version: "fortio version",
        get: "go install fortio.org/fortio, or `bench --install`",
        command: "fortio load -quiet",
        loads: &[
            (Shape::Closed, "-qps 0 -c {c} -t {s}s {url}"),
            (Shape::Fresh, "-qps 0 -keepalive=false -c {c} -t {s}s {url}"),
            (Shape::Counted, "-qps 0 -c {c} -n {n} {url}"),
            (Shape::Open, "-qps {r} -c {c} -t {s}s -r 0.00001 -p 50,90,99,99.9 -json - {url}"),
        ],
        read: quantiles::fortio,
        ..ABSENT
    },
    Generator {
        name: "hey",
        program: "hey",
        version: "dpkg-query -W -f ${Version} hey",
        get: "apt-get install hey",
        command: "hey -cpus 1",
        loads: &[
            (Shape::Closed, "-c {c} -z {s}s {url}"),
            (Shape::Fresh, "-c {c} -z {s}s -disable-keepalive {url}"),
            (Shape::Counted, "-c {c} -n {n} {url}"),
            (Shape::Open, "-c {c} -z {s}s -q {r_each} {url}"),
        ],
        read: quantiles::audited,
        ..ABSENT
    },
    Generator {
        name: "k6",
        program: "k6",
        version: "k6 version",
        get: "go install go.k6.io/k6@latest, or `bench --install`",
        command: "k6 run -q --no-usage-report",
        loads: &[
            (Shape::Closed, "--vus {c} --duration {s}s -e URL={url} {k6_closed}"),
            (
                Shape::Fresh,
                "--vus {c} --duration {s}s --no-connection-reuse -e URL={url} {k6_closed}",
            ),
            (Shape::Counted, "--vus {c} --iterations {n} -e URL={url} {k6_closed}"),
            (Shape::Open, "-e URL={url} -e RATE={r} -e SECONDS={s} -e VUS={c} {k6_open}"),
        ],
        read: quantiles::k6,
        ..ABSENT
    },
    Generator {
        name: "k6, 2,000 VUs",
        program: "k6",
        version: "k6 version",
        get: "go install go.k6.io/k6@latest, or `bench --install`",
        command: "k6 run -q --no-usage-report",
        loads: &[(Shape::Open, "-e URL={url} -e RATE={r} -e SECONDS={s} -e VUS=2000 {k6_open}")],
        read: quantiles::k6,
        ..ABSENT
    },
    Generator {
        name: "JMeter",
        program: "jmeter",
        version: "jmeter --version -j /dev/null",
        get: "Maven: org.apache.jmeter:ApacheJMeter, or `bench --install`",
        command: "jmeter -n -t {jmeter_plan} -Jhost={host} -Jport={port} -Jpath={path} -Jthreads={c} -Jseconds={s} -j /dev/null",
        loads: &[
            (Shape::Closed, "-Jper_minute={fast} -Jkeepalive=true"),
            (Shape::Fresh, "-Jper_minute={fast} -Jkeepalive=false"),
            (Shape::Open, "-Jper_minute={r_minute} -Jkeepalive=true -l {log}"),
        ],
        read: quantiles::jmeter,
        // A thread for each connection.
        connections_max: 1000,
    },
];

/// An empty row, to be filled by name.
pub(crate) const ABSENT: Generator = Generator {
    name: "",
    program: "",
    version: "",
    get: "",
    command: "",
    loads: &[],
    read: |_, _| Quantiles::default(),
    connections_max: u32::MAX,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::fill;

    const SHAPES: [Shape; 9] = [
        Shape::Closed,
        Shape::Fresh,
        Shape::Counted,
        Shape::Open,
        Shape::Sessions,
        Shape::Idle,
        Shape::Resumed,
        Shape::Streams,
        Shape::OpenStreams,
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
            for shape in SHAPES {
                let load = Load::of(shape, 50, 3);
                let Some(template) = generator.template(&load) else {
                    continue;
                };
                let mut fillings = load.fillings();
                fillings.extend(known.map(|hole| (hole, String::new())));
                let filled = fill(&template, &fillings);
                assert!(!filled.contains('{'), "{}: {filled}", generator.name);
                assert!(filled.starts_with(generator.program), "{filled}");
            }
        }
    }

    #[test]
    fn more_connections_than_a_tool_can_hold_are_not_asked_of_it() {
        let load = Load::of(Shape::Closed, 10_000, 3);
        let httperf = PEERS.iter().find(|peer| peer.name == "httperf").expect("a row");
        assert!(httperf.template(&load).is_none());
        assert!(WRK.template(&load).is_some());
    }
}
