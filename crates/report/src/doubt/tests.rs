use analysis::{AgentsDoubt, BusyAgent, Faults, Http2Doubt, LateAgent, Remark, TlsDoubt};

use super::*;

fn all() -> Vec<Doubt> {
    let under_load = |others| Doubt::ConformanceUnderLoad {
        case: "H1-L01".into(),
        before: "200".into(),
        after: "no answer, still open".into(),
        others,
    };
    vec![
        Doubt::Unmeasured(lab::record::OutcomeKind::Died),
        Doubt::Books { rule: "due, and attempted", one: 2, other: 1 },
        Doubt::Connections { begun: 1, accounted: 2 },
        Doubt::Halted { after_s: 12.0 },
        Doubt::Stopped,
        Doubt::OwnFailures { failed: 1, attempted: 2 },
        Doubt::Late { p99_ms: 2.0, bound_ms: 1.0 },
        Doubt::StoodStill { longest_ms: 30.0, share: 0.005, p99_ms: 2.0, agent: None },
        Doubt::StoodStill {
            longest_ms: 2_000.0,
            share: 0.2,
            p99_ms: 2.0,
            agent: Some("desk2".into()),
        },
        Doubt::Silence { longest_ms: 700.0, from_ms: 2_000.0, times: 1, share: 0.14 },
        Doubt::Silence { longest_ms: 120.0, from_ms: 40.0, times: 3, share: 0.03 },
        Doubt::UnderWay { left: 1, due: 10_000 },
        Doubt::UnderWay { left: 500, due: 10_000 },
        Doubt::NotOnTime { on_time: 1_131, due: 2_000, within_ms: 100.0 },
        Doubt::Growing { first_ms: 20.0, last_ms: 900.0 },
        Doubt::CarriedIn { carried_in: 500, inside: 1_500, excess: 480 },
        Doubt::CarriedIn { carried_in: 500, inside: 1_500, excess: -20 },
        Doubt::UnlikeBodies { unlike: 3, correct: 1_000 },
        Doubt::Surplus { answers: 3, bytes: 0, correct: 1_000 },
        Doubt::Reconnects { announced: 900, unannounced: 0, answers: 1_000 },
        Doubt::Reconnects { announced: 0, unannounced: 500, answers: 1_000 },
        Doubt::Starved { busy: 0.97, cpu: 0.3 },
        Doubt::Busy { share: 0.95 },
        Doubt::Overflows { overflows: 7, backlog: Some(5), is_isolated: true },
        Doubt::Overflows { overflows: 7, backlog: Some(5), is_isolated: false },
        Doubt::SynRetries { retries: 7, stepped: 6, established: 1_000 },
        Doubt::DelayedAck { p50_ms: 41.0, cpu_share: 0.03 },
        Doubt::Drift { of: Drifting::Throughput, first: 2_000.0, last: 1_500.0 },
        Doubt::Drift { of: Drifting::ResponseP50, first: 1.0, last: 1.5 },
        Doubt::WarmupTooShort { warmup_s: 0.5, steady_from_s: 1.7 },
        Doubt::Steal { share: 0.1 },
        Doubt::OtherPrograms { share: 0.4 },
        Doubt::OtherDyno { process: "process 7, `dyno run x` in /tmp".into() },
        Doubt::ProcessesEnded { ready: 4, fewest: 3 },
        Doubt::MemoryKills { kills: 1 },
        Doubt::LeftCgroup { share: 0.97 },
        Doubt::MeanAboveP99 { mean_ms: 50.0, p99_ms: 9.0, is_by_rate: true },
        ceiling(false),
        ceiling(true),
        Doubt::TwinBusy { share: 0.12, own: 0.97 },
        Doubt::ShortSlices { share: 0.31 },
        Doubt::ClockStep { step_ms: 3_600_000.0 },
        Doubt::ClockStep { step_ms: -250.0 },
        Doubt::OwnLosses { own: 4, begun: 3_000 },
        Doubt::ReceivedLate { connections: 9_000, own_p99_ms: 3.0, late_p99_ms: 8.0 },
        Doubt::NotKept { gone: 5, begun: 3_000 },
        Doubt::NotOpened { waiting: 195, connections: 200 },
        Doubt::Tls(TlsDoubt::Mixed { what: "version", most: "1.3".into(), other: "1.2".into() }),
        Doubt::Tls(TlsDoubt::Unlike {
            what: "version",
            mine: "1.2".into(),
            most: Some("1.3".into()),
        }),
        Doubt::Tls(TlsDoubt::Unlike { what: "version", mine: "1.2".into(), most: None }),
        Doubt::Tls(TlsDoubt::ResumptionUnlike { resumed: 3, meant: 1_000, of: 1_000 }),
        Doubt::Tls(TlsDoubt::HelloRetry { retried: 50, of: 50 }),
        Doubt::Tls(TlsDoubt::HandshakesCost { handshakes: 9_000, share: 0.8 }),
        Doubt::Http2(Http2Doubt::StreamsCapped { ordered: 100, allowed: 10 }),
        Doubt::Http2(Http2Doubt::FewConnections { connections: 1, begun: 1, cpus: 8 }),
        Doubt::Http2(Http2Doubt::FewConnections { connections: 4, begun: 1_364, cpus: 8 }),
        Doubt::Http2(Http2Doubt::OwnWindow { waits: waits(), share: 0.12 }),
        Doubt::Http2(Http2Doubt::PeerWindow { waits: waits() }),
        Doubt::Http2(Http2Doubt::Churn { goaways: 1, refused: 10, attempted: 1_000 }),
        Doubt::Http2(Http2Doubt::Churn { goaways: 2, refused: 11, attempted: 1_000 }),
        Doubt::Http2(Http2Doubt::Calm { times: 1, resets_sent: 11 }),
        Doubt::Agents(AgentsDoubt::Late(late(1))),
        Doubt::Agents(AgentsDoubt::Busy(busy(2))),
        Doubt::Agents(AgentsDoubt::Starved(busy(1))),
        Doubt::Agents(AgentsDoubt::Apart {
            agent: "desk2".into(),
            p50: 8_000_000,
            others: 5_000_000,
        }),
        Doubt::Agents(AgentsDoubt::StartApart { agent: "desk2".into(), by: 80_000_000 }),
        Doubt::Agents(AgentsDoubt::ClockDrift { agent: "desk2".into(), by: -20_000_000 }),
        Doubt::Agents(AgentsDoubt::LinkFull {
            host: "desk2".into(),
            link: "eth0".into(),
            share: 0.93,
        }),
        Doubt::Agents(AgentsDoubt::PathLoss {
            host: "desk2".into(),
            retransmitted: 90,
            segments: 10_000,
        }),
        Doubt::Agents(AgentsDoubt::Blinked { agent: "desk2".into(), nanos: 700_000_000 }),
        Doubt::Silent { silent: 7, connections: 9_000 },
        Doubt::Nothing,
        Doubt::FewSamples { samples: 10 },
        Doubt::FewAlone { samples: 10 },
        Doubt::FewForTail { samples: 2_000 },
        Doubt::GaveUp(load::Failure::ConnectRefused),
        Doubt::NoneRight { attempted: 0, mostly: None },
        Doubt::NoneRight { attempted: 7, mostly: Some(load::Failure::Deadline) },
        failures(1),
        failures(11),
        Doubt::Blocked { share: 0.2, p99_ms: 3.0, may_grow: true },
        Doubt::Stated { verdict: analysis::Verdict::Suspect, ids: vec!["failures".into()] },
        under_load(0),
        under_load(2),
    ]
}

fn ceiling(by_agents: bool) -> Doubt {
    Doubt::Ceiling { by_agents, ceiling_per_s: 31_000.0, throughput_per_s: 30_000.0 }
}

#[test]
fn the_limit_that_a_reference_shows_is_that_of_where_the_load_came_from() {
    let [here, afar] = [false, true].map(|by_agents| says(&ceiling(by_agents)));
    assert!(
        here.ends_with("this may be dyno's or the machine's limit, not the subject's"),
        "{here}"
    );
    let limit = "the limit of the machines that the load came from, or of the network between, not";
    assert!(afar.contains(limit), "{afar}");
    let ways_out = [false, true].map(|by_agents| way_out(&ceiling(by_agents), By::Experiment));
    assert_ne!(ways_out[0], ways_out[1]);
}

/// So many agents that sent late, the worst first.
fn late(agents: usize) -> Vec<LateAgent> {
    let one = |number: usize| LateAgent {
        agent: format!("desk{number}"),
        p99_ms: 9.0 - number as f64,
        bound_ms: 1.0,
    };
    (1..=agents).map(one).collect()
}

fn busy(agents: usize) -> Vec<BusyAgent> {
    let one = |number: usize| BusyAgent {
        agent: format!("desk{number}"),
        busy: 0.98 - number as f64 / 100.0,
        cpu: 0.5,
    };
    (1..=agents).map(one).collect()
}

#[test]
fn agents_that_were_too_slow_are_named_the_worst_first() {
    let said = |doubt| says(&Doubt::Agents(doubt));
    assert_eq!(
        said(AgentsDoubt::Late(late(1))),
        "agent desk1 sent 1 % of its requests 8.00 ms or more late (bound: 1.00 ms); this is in the response times"
    );
    let late_also = "(bound: 1.00 ms); also late: desk2 (7.00 ms), desk3 (6.00 ms), desk4 (5.00 ms) and 2 more; this is";
    assert!(said(AgentsDoubt::Late(late(6))).contains(late_also));
    assert_eq!(
        said(AgentsDoubt::Busy(busy(2))),
        "the threads of agent desk1 were busy 97 % of the time, and so were those of desk2 (96 %): the rate may be the \
         limit of that host, and not the server's"
    );
    let starved = said(AgentsDoubt::Starved(busy(3)));
    let had = "a CPU for 50 % of it, and so had those of desk2 (96 %) and desk3 (95 %): other";
    assert!(starved.contains(had), "{starved}");
}

fn waits() -> load::Waits {
    load::Waits { times: 3, sum: 45_000_000, longest: 20_000_000 }
}

fn remarks() -> [Remark; 5] {
    let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    [
        Remark::NoCeiling([1, 16].map(lab::experiment::Point::Connections).to_vec()),
        Remark::Apart(analysis::Answers {
            workload: "hello".into(),
            ask: "ask".into(),
            alike: names(&["a", "b"]),
            apart: names(&["c"]),
        }),
        Remark::RequestsUnlike { ask: "ask".into(), subjects: names(&["c"]) },
        Remark::TlsUnlike { what: "version", first: "a".into(), subjects: names(&["c"]) },
        Remark::TlsMissing { first: "a".into(), subjects: names(&["c"]) },
    ]
}

#[test]
fn the_page_of_doubts_names_them_all() {
    let page = include_str!("../../../../docs/validity.md");
    let all = all();
    let doubts = all.iter().map(|doubt| (id(doubt), doubt.gravity().name()));
    let remarks = remarks().map(|remark| (remark_id(&remark), remark.gravity().name()));
    for (id, gravity) in doubts.chain(remarks) {
        let start = format!("| `{id}` | ");
        let row = page.lines().find(|line| line.starts_with(&start));
        let row = row.unwrap_or_else(|| panic!("docs/validity.md lacks {start}"));
        assert!(row.split(" | ").nth(1).unwrap().contains(gravity), "{row}: {gravity}");
    }
}

#[test]
fn an_alarm_names_the_rows_that_are_alike() {
    let run = crate::run::fixture::run();
    let findings = Findings::of(&1, &run, &[], Vec::new());
    let alarm = |figure, low, high| {
        super::alarm(
            &findings,
            &Alarm {
                workload: "hello".into(),
                point: lab::experiment::Point::Connections(64),
                figure,
                subjects: ["a", "b", "c", "d"].map(String::from).to_vec(),
                of: 6,
                low,
                high,
            },
        )
    };
    let rate = alarm(Figure::Throughput, 15_000.0, 15_100.0);
    let median = alarm(Figure::ResponseP50, 1.0, 1.0);
    expect_test::expect![[r#"
        hello at 64 connections: 4 of 6 subjects achieved 15,000 to 15,100/s (a, b, c, d); see how busy dyno and the CPUs were, and what the oracle reaches here (`dyno calibrate`)
        hello at 64 connections: 4 of 6 subjects share one p50, 1.00ms (a, b, c, d); see how busy dyno and the CPUs were, and what the oracle reaches here (`dyno calibrate`)
    "#]].assert_eq(&format!("{rate}\n{median}\n"));
}

fn failures(failed: u64) -> Doubt {
    let faults = Faults { failed, of: 1_000, ..Faults::default() };
    Doubt::Failures { faults, mostly: Some(load::Failure::Deadline) }
}

/// Whether only a single load raises it, whose ways out are flags.
fn is_of_a_load(doubt: &Doubt) -> bool {
    matches!(
        doubt,
        Doubt::FewAlone { .. }
            | Doubt::FewForTail { .. }
            | Doubt::GaveUp(_)
            | Doubt::NoneRight { .. }
            | Doubt::Failures { .. }
            | Doubt::Blocked { .. }
            | Doubt::Stated { .. }
    )
}

#[test]
fn no_way_out_of_an_experiment_is_a_flag_of_a_load() {
    let all = all().into_iter().filter(|doubt| !is_of_a_load(doubt));
    let of_doubts = all.map(|doubt| way_out(&doubt, By::Experiment));
    for says in of_doubts.chain(remarks().iter().map(remark_way_out)) {
        let has_flag = says.split([' ', '(']).any(|word| word.starts_with('-'));
        assert!(!has_flag || says.contains("(curl -v)"), "{says}");
    }
}

#[test]
fn the_ways_out_of_a_load_over_tls_and_http2_are_its_flags() {
    let all = all().into_iter();
    let of_connections = all.filter(|doubt| matches!(doubt, Doubt::Tls(_) | Doubt::Http2(_)));
    let mut lines: Vec<String> =
        of_connections.map(|doubt| way_out(&doubt, By::Flags).to_string() + "\n").collect();
    lines.dedup();
    expect_test::expect![[r#"
        see whether several servers answer at this address; offer only one choice (--tls, --ciphers, --groups)
        give all servers the same certificate, and offer only one choice (--tls, --ciphers, --groups)
        connections that are opened at once have no session to resume yet: load with --no-keepalive or --sessions, and for longer; the line `TLS` says whether the server sent tickets
        offer the server's group first (--groups); its name is in the line `TLS`
        give dyno more CPUs, apart from the server's, and compare CPU times and not rates
        compare only loads with equally many requests at once, or give more connections (-c) and fewer --streams
        load with more connections (-c), too
        leave --h2-windows out if you do not want to measure small windows: then the server never waits
        the server's INITIAL_WINDOW_SIZE sets how much it takes at once
        let the server keep its connections for longer (nginx: keepalive_requests), or compare with servers that are set alike
        allow more time (--timeout) or offer less, so that no request is given up
    "#]].assert_eq(&lines.concat());
}

#[test]
fn every_doubt_says_its_figures_and_the_way_out() {
    let all = all();
    let doubts =
        all.iter().map(|doubt| format!("{}; {}\n", says(doubt), way_out(doubt, By::Experiment)));
    let remarks = remarks();
    let remarks = remarks.iter().map(|remark| {
        format!("{}; {}\n", remark_says(remark, &|point| point), remark_way_out(remark))
    });
    let lines: Vec<String> = doubts.chain(remarks).collect();
    expect_test::expect![[r#"
        this trial is no measurement, and is in no figure: died; see what it left behind
        the books do not balance: due, and attempted must agree, and are 2 and 1; this is a fault of dyno: report it
        the connections do not balance: 1 were begun, 2 were established or failed; this is a fault of dyno: report it
        it was stopped after 12.0 s; the figures are of that time; let it run to its end to measure all that was ordered
        the load gave up before its end; see whether the server runs, and at this address
        1 of 2 requests failed for reasons of dyno's own; see their classes; offer less, or give dyno more of what it lacked
        dyno sent 1 % of the requests 2.00 ms or more late (bound: 1.00 ms); this is in the response times; give dyno a CPU of its own, or offer less
        dyno itself stood still for 30.0 ms at a stretch, 0.5 % of the time in all (the p99 of what it measured: 2.00 ms): what the server did meanwhile is not known; let nothing stop or pause dyno while it measures, stop the other programs, and run it again
        agent desk2 stood still for 2.00 s at a stretch, 20 % of the time in all (the p99 of what it measured: 2.00 ms): what the server did meanwhile is not known; let nothing stop or pause dyno while it measures, stop the other programs, and run it again
        the server gave no right answer for 700 ms from 2.00 s on: 14 % of the measured time, in which requests waited for it; see in the server's log what happened then (a restart, a pause, a full accept queue); rates and percentiles are of the rest of the time
        the server gave no right answer for 120 ms from 40.0 ms on (the longest of 3 silences): 3.0 % of the measured time, in which requests waited for it; see in the server's log what happened then (a restart, a pause, a full accept queue); rates and percentiles are of the rest of the time
        1 of 10,000 requests were neither answered nor given up when the load ended; let it run to its end
        500 of 10,000 requests were neither answered nor given up when the load ended; let it run to its end
        the server did not keep up: 1,131 of the 2,000 requests that were due (57 %) were answered correctly within 100 ms; offer less to see the latency of a server that keeps up
        the response times grew as long as the load lasted, from a p50 of 20.0 ms in the first third to 900 ms in the last: more came than was answered; offer less to see the latency of a server that keeps up
        500 of the 1,500 correct answers inside the measured time (33 %) were to requests that had been due before it: the throughput is 480 answers more than the requests of that time account for; give `load.warmup` more time, or measure for longer
        500 of the 1,500 correct answers inside the measured time (33 %) were to requests that had been due before it: a queue from before it was worked off; give `load.warmup` more time, or measure for longer
        3 of 1,000 correct answers had another body than the three before the load, which were equal; `--same-body` makes them failures, which are shown with their bytes; `--expect-body` states the right body
        more came than was requested: 3 answers without a request, 0 answers with bytes behind them (of 1,000 correct answers); such connections were closed; ask once by hand (curl -v) and compare with what is expected
        connections that were to be kept were closed by the server: 900 as their last answer had announced, at 1,000 answers; see the server's limits of requests or of time for a connection; what it costs to connect is in the figures
        connections that were to be kept were closed by the server: 500 without a word, at 1,000 answers; see the server's limits of requests or of time for a connection; what it costs to connect is in the figures
        dyno's own threads had something to do 97 % of the time, and a CPU for 30 % of it: other programs, or a limit on its CPU time, kept it waiting; stop the other programs, or give dyno CPUs of its own
        dyno's own threads were busy 95 % of the time: the rate may be dyno's limit; give dyno more CPUs, apart from the subject's
        7 connections found the subject's accept queue full (it holds 5): the kernel tries again only after 1 s, 3 s, 7 s …; that is a finding about its backlog, not its speed: raise it (and net.core.somaxconn), or open fewer connections at once
        7 connections found an accept queue of this machine full (the subject's holds 5; others' count, too): the kernel tries again only after 1 s, 3 s, 7 s …; that is a finding about its backlog, not its speed: raise it (and net.core.somaxconn), or open fewer connections at once
        the kernel had to ask 7 times more for a connection (SYN), and 6 of 1,000 connections took a whole second, or some, longer: steps at 1 s, 3 s, 7 s in the latencies are the kernel's timer; read max and p99.9 as connections refused, not as slow answers; raise the backlog, or connect more slowly
        half the answers took 41.0 ms, and the subject used 3.0 % of a CPU: this looks like Nagle's algorithm waiting for a delayed acknowledgement (40 ms), not like work; let it send head and body in one write, or set TCP_NODELAY; and see what its entry says of it
        the throughput was not steady: 2,000/s in the first third of the measured time, 1,500/s in the last; warm up for longer, or measure for longer and look for what fills up
        the response time was not steady: p50 was 1.00 ms in the first third of the measured time, 1.50 ms in the last; warm up for longer, or measure for longer and look for what fills up
        the warm-up was too short: the load was steady from 1.70 s after its beginning, and only 500 ms were left out of the figures; give `load.warmup` more time than that
        the host took 10 % of a CPU's time from this machine (steal); use a machine that is not shared, or more rounds
        programs that are neither the subject nor dyno used 40 % of a CPU; stop them, and run it again
        another dyno was loading a server on this machine: process 7, `dyno run x` in /tmp; run them one after the other
        processes of the subject's ended under load: it had 4 when it was ready, and 3 at the fewest; see what it wrote, and whether it restarts its workers by design
        the kernel killed 1 of the subject's processes, because they were out of memory; allow it more memory, or say that this is its limit
        its processes used 97 % of their CPU time outside of the cgroup in which dyno started them: CPU time is that of its processes, in steps of 10 ms; start it without `systemd-run`, a container's client or whatever else moves it
        p99 is 9.00 ms, but at this rate the connections must have waited 50.0 ms on average (Little's law): this p99 is of no distribution, or an average; look at p99.9, max and the slowest exchanges before either is quoted
        it achieved 30,000/s, and the reference, which does next to nothing, reaches 31,000/s with this load: this may be dyno's or the machine's limit, not the subject's; give dyno more CPUs, or another machine; or say that it is at least so fast
        it achieved 30,000/s, and the reference, which does next to nothing, reaches 31,000/s with this load: this may be the limit of the machines that the load came from, or of the network between, not the subject's; let the load come from more machines, or over a faster link; or say that it is at least so fast
        it used 12 % of a CPU while the load was with another server, and 97 % under load: the servers disturb one another; let the trials follow one another, without slices; and see what it does without requests
        31 % of its slices went by waiting for their last answers, while ever fewer requests were under way: that lowers its rate; let the trials follow one another, without slices, or make the slices longer
        the wall clock was set forward by 3,600 s while it ran: dyno's times do not follow it, the subject's timers may; keep the clock still while it is measured (timedatectl set-ntp)
        the wall clock was set back by 250 ms while it ran: dyno's times do not follow it, the subject's timers may; keep the clock still while it is measured (timedatectl set-ntp)
        4 of 3,000 connections failed or were lost for reasons of dyno's own; see their causes; hold fewer, or give dyno more of what it lacked
        with 9,000 connections one message in a hundred may have waited 3.00 ms for dyno itself, and came 8.00 ms late in all; give dyno more CPUs, apart from the subject's, or hold fewer
        5 of 3,000 connections could not be opened or were lost; see their causes, and what it wrote
        of 200 connections 195 neither opened nor failed in the time that a step has; it takes no more at once (workers, its backlog): see its settings, and what it wrote
        connections differ in what they agreed on with TLS: most have the version `1.3`, others `1.2`; see whether several servers answer at its address, and let all of them have the same settings for TLS
        the version that it agreed on with TLS is `1.2`, and that of most others `1.3`: they differ in what TLS costs them; give all servers the same certificate chain (a server that dyno starts should send {cert} unchanged), and look in their settings for what makes them choose another version, suite or group
        the version that it agreed on with TLS is `1.2`, and that of others is another, without a majority for any: they differ in what TLS costs them; give all servers the same certificate chain (a server that dyno starts should send {cert} unchanged), and look in their settings for what makes them choose another version, suite or group
        3 of 1,000 handshakes resumed a session, and 1,000 were to: full and resumed handshakes differ in what they cost; connections that are opened at once have no session to resume yet: load with `keep_alive = false`, and for a longer `duration`; the row `TLS, as agreed on` says whether the server sent tickets
        in 50 of 50 handshakes the server asked for another group than the first one offered, which takes a round trip more; let its settings for TLS take the group that is offered first: x25519, if dyno starts it
        there were 9,000 handshakes with TLS, and dyno was busy 80 % of the time: a client's part of a handshake costs about as much as the server's, or more, so the rate may be dyno's limit; give dyno more CPUs, apart from the server's, and compare CPU times and not rates
        100 requests were ordered on each connection at once, and the server allowed 10; compare only loads with equally many requests at once, or give more `connections` and fewer `streams`
        all requests travelled on 1 connection, and the server has 8 CPUs: many servers serve a connection with one worker, and leave the others idle; load with more `connections`, too
        all requests travelled on 1,364 connections, 4 at a time, and the server has 8 CPUs: many servers serve a connection with one worker, and leave the others idle; load with more `connections`, too
        the server had used up a window of dyno's 3 times, and waited 45.0 ms for more (12 % of the connections' time); its windows are the largest that there are, so this is a fault of dyno: report it
        bodies of requests waited 3 times for a window of the server's, 45.0 ms in all and at most 20.0 ms; this is in the service times; the server's INITIAL_WINDOW_SIZE sets how much it takes at once
        under load the server announced the end of 1 connection (GOAWAY); requests came back 10 times because it had not touched them, at 1,000 requests in all, and went out again: the wait is in their response times; let the server keep its connections for longer (nginx: keepalive_requests), or compare with servers that are set alike
        under load the server announced the end of 2 connections (GOAWAY); requests came back 11 times because it had not touched them, at 1,000 requests in all, and went out again: the wait is in their response times; let the server keep its connections for longer (nginx: keepalive_requests), or compare with servers that are set alike
        once the server asked for calm (ENHANCE_YOUR_CALM) on connections on which dyno had ended streams, 11 in all: what failed there may be dyno's doing; give `load.timeout` more time or offer less, so that no request is given up
        agent desk1 sent 1 % of its requests 8.00 ms or more late (bound: 1.00 ms); this is in the response times; free CPUs on that host for dyno (ssh:HOST:cpus=LIST names them), let the load come from more hosts, or offer less
        the threads of agent desk1 were busy 97 % of the time, and so were those of desk2 (96 %): the rate may be the limit of that host, and not the server's; let the load come from more hosts, or give dyno more CPUs there (ssh:HOST:cpus=LIST names them)
        the threads of agent desk1 had something to do 97 % of the time, and a CPU for 50 % of it: other programs there, or a limit on dyno's CPU time, kept it waiting; stop the other programs on that host, or name CPUs for dyno that they do not use (ssh:HOST:cpus=LIST)
        half of the answers to desk2 took more than 8.00 ms, and of those to the other agents more than 5.00 ms: they did not see the same server, or not over equal ways; `dyno agents check` compares the hosts' ways; leave one out whose way or CPU is another, or report it by itself
        desk2 began 80.0 ms after the instant that all agents had agreed on: at first the load was a part of what was ordered; see what kept that machine busy, and run again
        the clock of desk2 lost 20.0 ms against this machine's while the load went on: its windows lie beside other windows, and its rates are by another second; let a service such as chrony keep its clock, and not set it while a load goes on
        93 % of what eth0 of desk2 can carry passed over it: the network may have been the limit, and not the server; ask for smaller answers or less load, or take a faster link
        desk2 sent 90 of 10,000 segments of TCP again: they were lost on the way, or came late, and the wait for them is in the response times; look for a full link, a shaper or a faulty cable between the two; `dyno agents check` shows their speeds
        the connection to desk2 was interrupted for 700 ms; its load went on; look at the network to it, or at the broker, if it happens again
        of 9,000 connections 7 stayed open and received nothing any more; it keeps sockets that it no longer serves: see what it wrote, and its limits
        not one request was due in the measured time; offer more, or measure for longer
        10 samples are too few for a p99, which takes 1,000; measure for longer
        10 samples are too few for a p99, which takes 1,000; let it run longer (-d, -n)
        2,000 samples are too few for p99.9, which takes 10,000; let it run longer (-d, -n)
        it gave up: nothing but failures, mostly connect.refused (no server listens there); see whether the server runs, and at this address
        nothing was attempted in the measured time; ask once by hand (curl -v) and compare with what is expected
        not one of 7 attempts was answered as expected, mostly recv.deadline (the answer began and did not end within the time-out); ask once by hand (curl -v) and compare with what is expected
        1 of 1,000 attempts (0.1 %) failed, mostly recv.deadline (the answer began and did not end within the time-out); the latencies are mostly those of the others: find the cause, or offer less
        11 of 1,000 attempts (1.1 %) failed, mostly recv.deadline (the answer began and did not end within the time-out); the latencies are mostly those of the others: find the cause, or offer less
        20 % of the requests waited for a free connection, 1 % of these 3.00 ms or longer; this is in the response times; if your clients would open more connections, allow more with --max-connections
        the load was judged suspect: failures; see what its own report says
        H1-L01 was kept before the load and not after it: before: 200; after, in both attempts: no answer, still open; it is another server under load: see what it wrote, its limits, and `dyno check` for the case
        H1-L01 was kept before the load and not after it (nor were 2 more): before: 200; after, in both attempts: no answer, still open; it is another server under load: see what it wrote, its limits, and `dyno check` for the case
        no reference has a valid figure at 1, 16 connections: what dyno and the machine can reach there is not known; let a subject of tier `reference` take part, and see why if it could not
        to `ask`, c answered otherwise than a, b; all were right; see what differs between their answers before they are compared
        not all were sent the same fields and body: `ask` was another request for c; this is a fault of dyno: report it
        not all agreed on the same TLS: c had another version than a; give all servers the same certificate chain (a server that dyno starts should send {cert} unchanged), and look in their settings for what makes them choose another version, suite or group
        a was loaded over TLS, and c without it; the difference between them includes what TLS costs
    "#]].assert_eq(&lines.concat());
}
