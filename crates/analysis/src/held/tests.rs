use super::*;
use crate::board::Board;
use crate::doubt::doubts;
use crate::fixture::{MS, ONE, at, fact, run, series, told};
use expect_test::expect;
use lab::experiment::Point;
use lab::record::{HeldRecord, OutcomeKind, RunRecord};
use load::{Distribution, Failure, Holding, Nanos, PlateauTimes, SECOND, Still};

const EXPERIMENT: &str = r#"
question = "What does a connection cost?"
subjects = ["a"]
workload = "wspoll"
load = { held = { connections = 3000, step = 1000, every = "10s", rate = 500, settle = "1s", beat = "1s", drain = "10s" } }
"#;

/// Three plateaus of ten seconds from second 1 of the trial on; the last seven seconds of each are measured. Each
/// connection takes 8 KiB (10 by RSS), each message is 2 ms late and costs 20 µs.
fn trial(subject: &str, repeat: u32) -> TrialRecord {
    let mut trial = at(subject, Point::Held(3_000), repeat);
    trial.key.workload = "wspoll".into();
    trial.key.number = repeat * 10 + u32::from(subject.as_bytes()[0]);
    trial.loaded = None;
    let plateaus = (0..3).map(plateau).collect();
    let windows = Vec::new();
    let holding = Holding { plateaus, windows, closed_at: 30 * SECOND, was_halted: false };
    trial.held = Some(HeldRecord { began: SECOND, agents: Vec::new(), holding });
    trial.series =
        vec![memory("subject.memory.pss", 8.0), memory("subject.memory.rss", 10.0), cpu()];
    trial
}

fn times_of(ns: Nanos, times: u64) -> Distribution {
    let mut distribution = Distribution::new(100 * SECOND);
    distribution.record_many(ns, times);
    distribution
}

fn plateau(number: u64) -> load::Plateau {
    let connections = (number + 1) * 1_000;
    load::Plateau {
        times: PlateauTimes {
            connections: connections as usize,
            from: number * 10 * SECOND,
            measured_from: (number * 10 + 3) * SECOND,
            until: (number + 1) * 10 * SECOND,
        },
        begun: 1_000,
        opened: 1_000,
        open: connections,
        messages: connections * 7,
        bytes: connections * 70,
        connect: times_of(MS, 1_000),
        agree: times_of(MS, 1_000),
        late: times_of(2 * MS, connections * 7),
        gap: times_of(SECOND, connections * 7),
        own: times_of(MS / 10, connections * 7),
        cpu: SECOND,
        measured: 7 * SECOND,
        ..load::Plateau::default()
    }
}

/// 20 MB, and so many KiB more for each connection while they are held; in the end a quarter of that is still there.
fn memory(name: &str, kib: f64) -> lab::record::Series {
    let bytes_in = |second: u64| match second {
        0..=1 => 20e6,
        31.. => 20e6 + kib * 1_024.0 * 3_000.0 / 4.0,
        _ => 20e6 + kib * 1_024.0 * 1_000.0 * (((second - 2) / 10 + 1).min(3)) as f64,
    };
    let points: Vec<(Nanos, f64)> =
        (0..=40).map(|second| (second * SECOND, bytes_in(second))).collect();
    series(name, "bytes", &points)
}

/// 20 µs of CPU time for each message of the current plateau.
fn cpu() -> lab::record::Series {
    let mut used = 0.0;
    let mut points = vec![(0, 0.0), (SECOND, 0.0)];
    for plateau in 1..=3_u64 {
        used += plateau as f64 * 1_000.0 * 10.0 * 20e3;
        points.push(((plateau * 10 + 1) * SECOND, used));
    }
    series("subject.cpu.total", "ns", &points)
}

fn held_run() -> RunRecord {
    let mut run = run(&[("a", "default"), ("b", "default"), ("oracle", "reference")]);
    run.experiment = crate::fixture::experiment(EXPERIMENT);
    run
}

fn held_subject(trials: &[TrialRecord]) -> HeldSubject {
    let mut board = Board::of(&held_run(), trials);
    board.ramps.remove(0).subjects.remove(0)
}

fn held(trial: &mut TrialRecord) -> &mut Holding {
    &mut trial.held.as_mut().unwrap().holding
}

fn lose(trial: &mut TrialRecord, place: usize, loss: Loss, times: u64) {
    let plateaus = &mut held(trial).plateaus;
    plateaus[place].lost[loss.index()] += times;
    plateaus[place..].iter_mut().for_each(|plateau| plateau.open -= times);
}

#[test]
fn a_ramp_s_plateaus_are_the_places_of_its_axis() {
    let held = held_subject(&[trial("a", 0), trial("a", 1)]);
    let places: Vec<(usize, usize)> =
        held.plateaus.iter().map(|plateau| (plateau.connections, plateau.rounds)).collect();
    assert_eq!((places, held.measured), (vec![(1_000, 2), (2_000, 2), (3_000, 2)], 2));
    let value = |figure| held.plateaus[1].estimate(figure).map(|estimate| estimate.value);
    for (figure, expected) in [
        (Figure::Open, Some(2_000.0)),
        (Figure::StepConnectP99, Some(1.0)),
        (Figure::PushLateP99, Some(2.0)),
        (Figure::PushLateMax, Some(2.0)),
        (Figure::GapP50, Some(1_000.0)),
        (Figure::OwnLateP99, Some(0.1)),
        (Figure::Messages, Some(2_000.0)),
        (Figure::StepReceived, Some(20_000.0 / 1_024.0)),
        (Figure::PssMean, Some(20e6 + 8.0 * 1_024.0 * 2_000.0)),
        (Figure::StepCpuShare, Some(4.0)),
        (Figure::StepCpuPerThousand, Some(20.0)),
        (Figure::GeneratorCpu, Some(100.0 / 7.0)),
        (Figure::IoRead, None),
    ] {
        let found = value(figure);
        let near = found.zip(expected).is_none_or(|(a, b)| (a - b).abs() <= b.abs() * 0.002);
        assert!(near && found.is_some() == expected.is_some(), "{figure:?}: {found:?}");
    }
}

/// By the names that they had before probes declared their readings: the run has kept no manifest of the probe.
#[test]
fn what_a_probe_reads_is_folded_over_the_measured_part_alone() {
    let mut one = trial("a", 0);
    // Measured from second 4 to second 11 of the trial.
    let points = |inside: [f64; 2]| {
        [(2 * SECOND, 99.0), (5 * SECOND, inside[0]), (9 * SECOND, inside[1]), (12 * SECOND, 99.0)]
    };
    one.series.extend([
        series("beam.scheduler.utilisation_ratio", "ratio", &points([0.1, 0.3])),
        series("beam.scheduler.utilisation_max_ratio", "ratio", &points([0.2, 0.6])),
        series("beam.memory.total_bytes", "bytes", &points([4e6, 6e6])),
        series("beam.memory.processes_bytes", "bytes", &points([2e6, 4e6])),
        series("beam.processes", "count", &points([1_000.0, 1_000.0])),
        series("beam.run_queue", "count", &points([0.0, 3.0])),
        series("beam.io.out_bytes", "bytes", &[(0, 0.0), (20 * SECOND, 20.0 * 10_240.0)]),
    ]);
    let mut run = held_run();
    run.files.push(("subjects/a/subject.toml".into(), "probe = \"beam\"".into()));
    let manifest = include_str!("../../../../probes/beam/probe.toml");
    run.files.push(("probes/beam/probe.toml".into(), manifest.into()));
    let board = Board::of(&run, &[one]);
    let held = &board.ramps[0].subjects[0];
    let found = |plateau: &Plateau, of: &dyn Fn(PlateauFigure<'_>) -> Option<f64>| {
        let figures = board.plateau_figures().filter(|figure| plateau.estimate(*figure).is_some());
        let named = figures.filter_map(|figure| Some((figure.name().to_string(), of(figure)?)));
        let probe = named.filter(|(name, _)| name.starts_with("beam_"));
        probe.map(|(name, value)| (name, (value * 1e6).round() / 1e6)).collect::<Vec<_>>()
    };
    let expected = [
        ("beam_utilisation_mean_percent", 20.0),
        ("beam_utilisation_max_percent", 60.0),
        ("beam_memory_mean_bytes", 5e6),
        ("beam_memory_max_bytes", 6e6),
        ("beam_bytes_per_process", 3_000.0),
        ("beam_run_queue_mean", 1.5),
        ("beam_run_queue_max", 3.0),
        ("beam_out_kib_per_s", 10.0),
    ]
    .map(|(name, value)| (name.to_string(), value));
    let first = &held.plateaus[0];
    let over_rounds = found(first, &|figure| first.estimate(figure).map(|found| found.value));
    assert_eq!(over_rounds, expected);
    let round = &held.rounds[0].plateaus[0].figures;
    assert_eq!(found(first, &|figure| round.get(figure).map(|found| found.value)), expected);
    let names: Vec<String> =
        found(&held.plateaus[1], &|_| Some(0.0)).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["beam_out_kib_per_s"], "nothing else was read there");
}

#[test]
fn a_connection_s_price_is_a_slope_and_not_a_quotient() {
    let one = held_subject(&[trial("a", 0)]).price;
    let slope = one.memory.unwrap();
    assert!((slope.bytes - 8_192.0).abs() < 1.0, "{slope:?}");
    assert_eq!((slope.of, slope.basis, slope.rounds), (Memory::Pss, Basis::Line, 1));
    let (low, high) = slope.interval.unwrap();
    assert!(low <= slope.bytes && slope.bytes <= high && high - low < 1.0, "on a line: {slope:?}");
    assert!((one.cpu_ms_per_1000.unwrap().value - 20.0).abs() < 1e-6);
    assert_eq!(one.reached.unwrap().value, 3_000.0);
    assert_eq!(one.gave_way, None);
}

#[test]
fn over_rounds_the_interval_is_that_of_their_slopes() {
    let mut second = trial("a", 1);
    second.series[0] = memory("subject.memory.pss", 9.0);
    let slope = held_subject(&[trial("a", 0), second.clone()]).price.memory.unwrap();
    assert_eq!((slope.basis, slope.rounds), (Basis::Rounds, 2));
    // The geometric mean of 8 and 9 KiB.
    assert!((slope.bytes - 72_f64.sqrt() * 1_024.0).abs() < 1.0, "{slope:?}");
    let (low, high) = slope.interval.unwrap();
    assert!(low < 8.0 * 1_024.0 && 9.0 * 1_024.0 < high, "two rounds tell little: {slope:?}");
    // If one round has no PSS, all are judged by RSS.
    second.series.remove(0);
    let by_rss = held_subject(&[trial("a", 0), second]).price;
    let slope = by_rss.memory.unwrap();
    assert_eq!(slope.of, Memory::Rss);
    assert_eq!(by_rss.after.map(|after| after.of), Some(Memory::Rss));
    assert!((slope.bytes - 10_240.0).abs() < 1.0, "{slope:?}");
}

#[test]
fn the_first_plateau_on_which_something_is_lost_gave_way() {
    let reset = Loss::Failure(Failure::RecvReset);
    let mut second = trial("a", 1);
    lose(&mut second, 1, reset, 30);
    lose(&mut second, 1, Loss::Close, 5);
    held(&mut second).plateaus[2].silent = 7;
    let held = held_subject(&[trial("a", 0), second]);
    let gave = held.price.gave_way.unwrap();
    assert_eq!((gave.connections, gave.open, gave.repeat), (2_000, 1_965, 1));
    assert_eq!((gave.rounds, gave.of), (1, 2));
    assert_eq!(gave.causes, [Cause::Lost(reset, 30), Cause::Lost(Loss::Close, 5)]);
    // One round reached all plateaus, the other only those with losses below one in a thousand.
    let reached = held.price.reached.unwrap();
    assert_eq!((reached.min, reached.max), (2_965.0, 3_000.0));
    assert_eq!((held.plateaus[1].sums.lost, held.plateaus[2].sums.silent), (35, 7));
    let gone = LossCount { was_open: true, loss: reset, times: 30 };
    assert_eq!(held.plateaus[1].gone[0], gone);
}

#[test]
fn more_than_one_loss_in_a_thousand_is_not_reached() {
    let reached = |lost: u64| {
        let mut one = trial("a", 0);
        lose(&mut one, 2, Loss::Close, lost);
        held_subject(&[one]).price.reached.unwrap().value
    };
    assert_eq!([reached(3), reached(4)], [2_997.0, 2_000.0]);
}

#[test]
fn a_server_that_lets_connections_wait_for_ever_gave_way() {
    let mut one = trial("a", 0);
    let plateau = &mut held(&mut one).plateaus[0];
    (plateau.open, plateau.opening) = (5, 995);
    let held = held_subject(&[one.clone()]);
    assert_eq!(held.price.gave_way.unwrap().causes, [Cause::Waiting(995)]);
    assert_eq!(held.plateaus[0].sums.waiting, 995);
    expect!["connections_not_opened (note): 995 of 1,000 connections neither opened nor failed within their step"]
        .assert_eq(&told([&doubts(&one, ONE)]));
}

#[test]
fn beats_that_come_a_tenth_of_their_distance_late_give_way() {
    let of = |late: Nanos| {
        let mut one = trial("a", 0);
        held(&mut one).plateaus[2].late = times_of(late, 1_000);
        held_subject(&[one]).price.gave_way
    };
    assert_eq!(of(99 * MS), None);
    let gave = of(150 * MS).unwrap();
    let [Cause::Late { bound_ms: 100.0, p99_ms }] = gave.causes[..] else { panic!("{gave:?}") };
    assert!((p99_ms - 150.0).abs() < 0.1, "{gave:?}");
}

#[test]
fn a_death_on_the_way_up_is_no_measurement_and_gave_way() {
    let mut dead = trial("a", 0);
    dead.outcome.kind = OutcomeKind::Died;
    held(&mut dead).plateaus.truncate(2);
    lose(&mut dead, 1, Loss::Failure(Failure::RecvReset), 2_000);
    let board = Board::of(&held_run(), &[dead.clone()]);
    let held = &board.ramps[0].subjects[0];
    assert!(held.plateaus.is_empty() && held.price.memory.is_none() && held.rounds.len() == 1);
    let gave = held.price.gave_way.as_ref().unwrap();
    assert_eq!((gave.connections, gave.causes[0]), (2_000, Cause::Ended(OutcomeKind::Died)));
    expect![[r#"
        not_measured (invalid): this trial is not a measurement, and not in any figure: died
        connections_not_kept (note): 2,000 of 2,000 connections could not be opened or were lost"#]]
    .assert_eq(&told([&doubts(&dead, ONE)]));
}

#[test]
fn what_is_given_back_is_reported_against_what_was_taken() {
    let after = held_subject(&[trial("a", 0)]).price.after.unwrap();
    let grown = 8.0 * 1_024.0 * 3_000.0;
    let values = [&after.before, &after.peak, &after.after].map(|estimate| estimate.value);
    assert_eq!(values, [20e6, 20e6 + grown, 20e6 + grown / 4.0]);
    assert!((after.given_back_percent.unwrap().value - 75.0).abs() < 1e-9);
}

#[test]
fn a_healthy_ramp_is_valid_and_a_reference_stands_beside_it() {
    let board = Board::of(&held_run(), &[trial("a", 0), trial("b", 0), trial("oracle", 0)]);
    let ramps = &board.ramps[0];
    assert_eq!(board.tables[0].remarks, []);
    assert_eq!(board.tables[0].worth().valid, 2, "{:?}", board.tables[0].rows[0].trials[0].doubts);
    assert!(board.tables[0].is_held() && board.tables[0].peaks.is_empty());
    assert!(ramps.subjects.iter().any(|held| held.is_reference));
    assert_eq!(ramps.reference(2_000).map(|plateau| plateau.connections), Some(2_000));
    assert_eq!(ramps.reference(2_500), None);
}

#[test]
fn dyno_s_own_part_is_distinguished_from_the_subject_s() {
    let doubts_after = |change: &dyn Fn(&mut TrialRecord)| {
        let mut one = trial("a", 0);
        change(&mut one);
        doubts(&one, ONE)
    };
    assert_eq!(doubts_after(&|_| {}), []);
    let own = |ns| doubts_after(&move |one| held(one).plateaus[1].own.record_many(ns, 20_000));
    assert_eq!(own(MS * 9 / 10), [], "less than a millisecond is no one's");
    let busy = |cpus: &str| {
        doubts_after(&|one| {
            held(one).plateaus[2].cpu = 7 * SECOND;
            one.conditions = vec![fact("cpus.load", cpus)];
        })
    };
    assert_eq!(busy("0-1"), [], "two lanes share it");
    let still = |sum: Nanos, overslept: Nanos| {
        doubts_after(&|one| held(one).plateaus[1].still = Still { sum, overslept, kept_waiting: 0 })
    };
    assert_eq!(still(4 * MS, 4 * MS), [], "any scheduler takes that now and then");
    expect![[r#"
        own_losses (suspect): 4 of 3,000 connections failed or were lost for reasons on dyno's side
        connections_not_kept (note): 4 of 3,000 connections could not be opened or were lost
        instrument_heard_late (suspect): with 2,000 connections one message in a hundred may have waited 3.00 ms for dyno itself, and came 2.00 ms late in all
        instrument_busy (suspect): dyno's own threads were busy 100 % of the time: the rate may be dyno's limit
        halted (note): it was stopped after 30.0 s; the figures cover that time
        books (invalid): the counts do not add up: connections begun, and failed, lost, open or being opened must be equal, and are 2,001 and 2,000
        books (invalid): the counts do not add up: echo messages due, and correct, failed, without a free connection or in flight must be equal, and are 5 and 0
        instrument_stood_still (suspect): dyno was not running for up to 6.00 ms, < 0.1 % of the time in all (the p99 of what it measured: 2.00 ms): answers that arrived meanwhile are timed too late
        instrument_stood_still (invalid): dyno was not running for up to 1.00 s, 20 % of the time in all (the p99 of what it measured: 2.00 ms): answers that arrived meanwhile are timed too late
        nothing_measured (invalid): not one connection was begun
        connections_silent (note): 3 of 2,000 connections stayed open and received nothing any more"#]]
    .assert_eq(&told([
        &doubts_after(&|one| lose(one, 0, Loss::Failure(Failure::NoFiles), 4)),
        &doubts_after(&|one| lose(one, 0, Loss::Close, 4)),
        &own(3 * MS),
        &busy("1"),
        &doubts_after(&|one| held(one).was_halted = true),
        &doubts_after(&|one| held(one).plateaus[1].begun += 1),
        &doubts_after(&|one| held(one).plateaus[1].echoes.due = 5),
        // Longer than a p99 that is printed.
        &still(6 * MS, 6 * MS),
        &still(2 * SECOND, SECOND),
        &doubts_after(&|one| held(one).plateaus.clear()),
        &doubts_after(&|one| held(one).plateaus[1].silent = 3),
    ]));
}

#[test]
fn of_echoes_the_time_until_they_are_back_is_what_was_measured() {
    let mut one = trial("a", 0);
    for plateau in &mut held(&mut one).plateaus {
        let none = Distribution::new(100 * SECOND);
        plateau.echoes.response = std::mem::replace(&mut plateau.late, none);
        plateau.still = Still { sum: 6 * MS, overslept: 6 * MS, kept_waiting: 0 };
        plateau.own.record_many(3 * MS, 100_000);
    }
    expect![[r#"
        instrument_stood_still (suspect): dyno was not running for up to 6.00 ms, < 0.1 % of the time in all (the p99 of what it measured: 2.00 ms): answers that arrived meanwhile are timed too late
        instrument_heard_late (suspect): with 3,000 connections one message in a hundred may have waited 3.00 ms for dyno itself, and came 2.00 ms late in all"#]]
    .assert_eq(&told([&doubts(&one, ONE)]));
}

#[test]
fn the_queue_and_the_machine_are_watched_over_the_whole_ramp() {
    let of = |name: &str, unit: &str, by: f64| {
        let mut one = trial("a", 0);
        let points = [(0, 0.0), (SECOND, 0.0), (31 * SECOND, by), (40 * SECOND, 2.0 * by)];
        one.series.push(series(name, unit, &points));
        doubts(&one, ONE)
    };
    expect![[r#"
        accept_queue_full (suspect): 7 connections found an accept queue of this machine full (others' count, too): the kernel retries only after 1 s, 3 s, 7 s …
        memory_kills (suspect): the kernel killed 1 of the server's processes, because they were out of memory
        cpu_stolen (suspect): the host took 10 % of a CPU's time from this machine (steal)"#]]
    .assert_eq(&told([
        &of("kernel.tcp.listen_overflows", "count", 7.0),
        &of("subject.memory.kills", "count", 1.0),
        &of("machine.cpu.steal", "ns", 3e9),
    ]));
}
