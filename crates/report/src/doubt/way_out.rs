//! What to do about a doubt.

use analysis::{Doubt, Http2Doubt, TlsDoubt};
use load::Failure;
use tls::TlsFault;

use super::{agents, http2};

/// Where the remedy is applied: in the files of an experiment, or by the flags of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    Experiment,
    Flags,
}

/// What to do about it.
pub(crate) fn way_out(doubt: &Doubt, by: By) -> &'static str {
    let own = match by {
        By::Flags => way_out_by_flags(doubt),
        By::Experiment => way_out_by_files(doubt),
    };
    own.unwrap_or_else(|| usual_way_out(doubt))
}

/// Where nothing worked, mostly because of this failure.
pub(crate) fn of_nothing_but(failure: Failure) -> &'static str {
    match failure {
        Failure::Tls(TlsFault::Certificate) => {
            "give --ca FILE with the authority that signed its certificate, or -k"
        }
        Failure::Tls(_) => {
            "see whether this is the server's port for TLS, and whether it takes what the flags offer"
        }
        over_2 if over_2.is_unreached() && over_2.name().starts_with("h2.") => {
            "see whether the server speaks HTTP/2 at this address, or leave out --http2"
        }
        _ => "see whether the server runs, and at this address",
    }
}

/// Doubts for which flags do what an experiment expresses differently.
fn way_out_by_flags(doubt: &Doubt) -> Option<&'static str> {
    Some(match doubt {
        Doubt::Late { .. } => "free a CPU for dyno (--cpus), try --spin always, or offer less",
        Doubt::Busy { .. } => {
            "give dyno more lanes (--lanes) on CPUs of their own (--cpus), apart from the server's"
        }
        Doubt::Starved { .. } => {
            "stop the other programs, or give dyno CPUs of its own (--cpus), apart from the server's"
        }
        Doubt::NotOnTime { .. } | Doubt::Growing { .. } => {
            "offer less to see the latency of a server that keeps up, or load it in a closed loop (-c) to see its limit"
        }
        Doubt::CarriedIn { .. } => "warm up for longer (--warmup), or measure for longer (-d)",
        Doubt::Drift { .. } => {
            "warm up for longer (--warmup), or measure for longer (-d) and look for what fills up"
        }
        Doubt::FewSamples { .. } => "let it run longer (-d, -n)",
        _ => return None,
    })
}

/// Doubts for which an experiment, or the manifest of a server, does what flags of `dyno load` do otherwise.
fn way_out_by_files(doubt: &Doubt) -> Option<&'static str> {
    Some(match doubt {
        Doubt::Tls(TlsDoubt::Mixed { .. }) => {
            "see whether several servers answer at its address, and let all of them have the same settings for TLS"
        }
        Doubt::Tls(TlsDoubt::Unlike { .. }) => SAME_TLS,
        Doubt::Tls(TlsDoubt::ResumptionUnlike { .. }) => {
            "connections that are opened at once have no session to resume yet: load with `keep_alive = false`, and for a \
             longer `duration`; the row `TLS, as agreed on` says whether the server sent tickets"
        }
        Doubt::Tls(TlsDoubt::HelloRetry { .. }) => {
            "let its settings for TLS take the group that is offered first: x25519, if dyno starts it"
        }
        Doubt::Http2(Http2Doubt::StreamsCapped { .. }) => {
            "compare only loads with equally many requests at once, or give more `connections` and fewer `streams`"
        }
        Doubt::Http2(Http2Doubt::FewConnections { .. }) => "load with more `connections`, too",
        Doubt::Http2(Http2Doubt::OwnWindow { .. }) => {
            "its windows are the largest that there are, so this is a fault of dyno: report it"
        }
        Doubt::Http2(Http2Doubt::Calm { .. }) => {
            "give `load.timeout` more time or offer less, so that no request is given up"
        }
        _ => return None,
    })
}

/// How servers come to agree on the same TLS, wherever dyno says what is offered.
pub(super) const SAME_TLS: &str = "give all servers the same certificate chain (a server that dyno starts should send {cert} unchanged), and look in \
     their settings for what makes them choose another version, suite or group";

fn usual_way_out(doubt: &Doubt) -> &'static str {
    match doubt {
        Doubt::Unmeasured(_) => "see what it left behind",
        Doubt::Books { .. } | Doubt::Connections { .. } => "this is a fault of dyno: report it",
        Doubt::Halted { .. } => "let it run to its end to measure all that was ordered",
        Doubt::AgentsLost { .. } => {
            "see above how each was lost; the rest is another load than was ordered, so run it again with all of them"
        }
        Doubt::Stopped => "see whether the server runs, and at this address",
        Doubt::OwnFailures { .. } => {
            "see their classes; offer less, or give dyno more of what it lacked"
        }
        Doubt::Late { .. } => "give dyno a CPU of its own, or offer less",
        Doubt::StoodStill { .. } => {
            "let nothing stop or pause dyno while it measures, stop the other programs, and run it again"
        }
        Doubt::Silence { .. } => {
            "see in the server's log what happened then (a restart, a pause, a full accept queue); rates and percentiles are \
             of the rest of the time"
        }
        Doubt::UnderWay { .. } => "let it run to its end",
        Doubt::NotOnTime { .. } | Doubt::Growing { .. } => {
            "offer less to see the latency of a server that keeps up"
        }
        Doubt::CarriedIn { .. } => "give `load.warmup` more time, or measure for longer",
        Doubt::Surplus { .. } => "ask once by hand (curl -v) and compare with what is expected",
        Doubt::UnlikeBodies { .. } => {
            "`--same-body` makes them failures, which are shown with their bytes; `--expect-body` states the right body"
        }
        Doubt::Reconnects { .. } => {
            "see the server's limits of requests or of time for a connection; what it costs to connect is in the figures"
        }
        Doubt::Starved { .. } => "stop the other programs, or give dyno CPUs of its own",
        Doubt::Busy { .. } => "give dyno more CPUs, apart from the subject's",
        Doubt::Overflows { .. } => {
            "that is a finding about its backlog, not its speed: raise it (and net.core.somaxconn), or open fewer \
             connections at once"
        }
        Doubt::SynRetries { .. } => {
            "read max and p99.9 as connections refused, not as slow answers; raise the backlog, or connect more slowly"
        }
        Doubt::DelayedAck { .. } => {
            "let it send head and body in one write, or set TCP_NODELAY; and see what its entry says of it"
        }
        Doubt::Drift { .. } => {
            "warm up for longer, or measure for longer and look for what fills up"
        }
        Doubt::WarmupTooShort { .. } => "give `load.warmup` more time than that",
        Doubt::Steal { .. } => "use a machine that is not shared, or more rounds",
        Doubt::OtherPrograms { .. } => "stop them, and run it again",
        Doubt::OtherDyno { .. } => "run them one after the other",
        Doubt::ProcessesEnded { .. } => {
            "see what it wrote, and whether it restarts its workers by design"
        }
        Doubt::MemoryKills { .. } => "allow it more memory, or say that this is its limit",
        Doubt::LeftCgroup { .. } => {
            "start it without `systemd-run`, a container's client or whatever else moves it"
        }
        Doubt::MeanAboveP99 { .. } => {
            "look at p99.9, max and the slowest exchanges before either is quoted"
        }
        Doubt::Ceiling { by_agents: true, .. } => {
            "let the load come from more machines, or over a faster link; or say that it is at least so fast"
        }
        Doubt::Ceiling { by_agents: false, .. } => {
            "give dyno more CPUs, or another machine; or say that it is at least so fast"
        }
        Doubt::TwinBusy { .. } => {
            "let the trials follow one another, without slices; and see what it does without requests"
        }
        Doubt::ShortSlices { .. } => {
            "let the trials follow one another, without slices, or make the slices longer"
        }
        Doubt::ClockStep { .. } => {
            "keep the clock still while it is measured (timedatectl set-ntp)"
        }
        Doubt::OwnLosses { .. } => {
            "see their causes; hold fewer, or give dyno more of what it lacked"
        }
        Doubt::ReceivedLate { .. } => {
            "give dyno more CPUs, apart from the subject's, or hold fewer"
        }
        Doubt::NotKept { .. } => "see their causes, and what it wrote",
        Doubt::NotOpened { .. } => {
            "it takes no more at once (workers, its backlog): see its settings, and what it wrote"
        }
        Doubt::Tls(TlsDoubt::Mixed { .. }) => {
            "see whether several servers answer at this address; offer only one choice (--tls, --ciphers, --groups)"
        }
        Doubt::Tls(TlsDoubt::Unlike { .. }) => {
            "give all servers the same certificate, and offer only one choice (--tls, --ciphers, --groups)"
        }
        Doubt::Tls(TlsDoubt::ResumptionUnlike { .. }) => {
            "connections that are opened at once have no session to resume yet: load with --no-keepalive or --sessions, and \
             for longer; the line `TLS` says whether the server sent tickets"
        }
        Doubt::Tls(TlsDoubt::HelloRetry { .. }) => {
            "offer the server's group first (--groups); its name is in the line `TLS`"
        }
        Doubt::Tls(TlsDoubt::HandshakesCost { .. }) => {
            "give dyno more CPUs, apart from the server's, and compare CPU times and not rates"
        }
        Doubt::Http2(doubt) => http2::way_out(doubt),
        Doubt::Agents(doubt) => agents::way_out(doubt),
        Doubt::Silent { .. } => {
            "it keeps sockets that it no longer serves: see what it wrote, and its limits"
        }
        Doubt::ConformanceUnderLoad { .. } => {
            "it is another server under load: see what it wrote, its limits, and `dyno check` for the case"
        }
        Doubt::Nothing => "offer more, or measure for longer",
        Doubt::FewSamples { .. } => "measure for longer",
        Doubt::FewAlone { .. } | Doubt::FewForTail { .. } => "let it run longer (-d, -n)",
        Doubt::GaveUp(failure) => of_nothing_but(*failure),
        Doubt::NoneRight { .. } => "ask once by hand (curl -v) and compare with what is expected",
        Doubt::Failures { faults, .. } if 0 < faults.cut.sessions => {
            "see the server's limit of requests for a connection, or let sessions make fewer calls (--calls)"
        }
        Doubt::Failures { .. } => {
            "the latencies are mostly those of the others: find the cause, or offer less"
        }
        Doubt::Blocked { may_grow: true, .. } => {
            "if your clients would open more connections, allow more with --max-connections"
        }
        Doubt::Blocked { may_grow: false, .. } => {
            "this is the server's time for the requests before it"
        }
        Doubt::Stated { .. } => "see what its own report says",
    }
}
