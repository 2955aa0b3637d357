use super::*;
use crate::history::PublishedFigures;
use crate::record::RunRecord;

const WHOLE: &str = r#"
question = "Which?"
subjects = ["a", "b"]
workload = "hello"
load = { sessions = { rate = { from = 100, to = 1200, step = 100 }, calls = 10 }, total = 5000, timeout = "5s" }
conditions = { subject_cpus = "0", load_cpus = "1", memory = "1536MiB" }
trials = { repeat = 3, seed = 2011 }
"#;

/// The experiment of a file that is called `x`, or what is wrong with it.
pub(crate) fn read(text: &str) -> Result<Experiment, String> {
    let source = SourceFile { name: "x".into(), text: text.into() };
    Experiment::parse("x", source).map_err(|error| error.to_string())
}

/// A file with this load, and more behind it.
fn loaded_by(load: &str, more: &str) -> String {
    format!("question = 'x'\nsubjects = ['a', 'b']\nworkload = 'u'\nload = {{ {load} }}\n{more}\n")
}

/// The result of reading the file when one text in it is replaced by another.
fn check(old: &str, new: &str) -> Result<Experiment, String> {
    assert!(WHOLE.contains(old), "{old}");
    read(&WHOLE.replace(old, new))
}

#[test]
fn slices_are_for_loads_that_can_stop_at_any_time() {
    let read_slices = |slices: &str, load: &str| {
        let trials = format!("trials = {{ slices = '{slices}' }}");
        read(&loaded_by(load, &trials)).map(|read| read.slices)
    };
    let closed = "closed = { connections = 2 }, duration = '1s'";
    let open = "open = { rate = 10 }, duration = '1s'";
    assert_eq!(read_slices("100ms", closed), Ok(Some(Duration::from_millis(100))));
    assert_eq!(read_slices("1s", open), Ok(Some(Duration::from_secs(1))));
    let sessions = "sessions = { rate = 10, calls = 2 }, duration = '1s'";
    for (slices, load, says) in [
        ("5ms", closed, "x:5: a slice lasts from 50 ms to 10 s"),
        ("soon", closed, "x:5: `soon` is not a time"),
        ("100ms", sessions, "x:5: sessions and held connections have no slices"),
        ("100ms", "closed = { connections = 2 }, total = 9", "x:5: a load in slices ends by its"),
    ] {
        let found = read_slices(slices, load).unwrap_err();
        assert!(found.starts_with(says), "{found}");
    }
}

#[test]
fn an_experiment_is_read() {
    let experiment = read(WHOLE).unwrap();
    assert_eq!(experiment.points.len(), 12);
    assert_eq!(experiment.points[11], Point::Sessions(1200.0));
    assert_eq!(experiment.total, Some(5_000));
    assert_eq!(experiment.conditions.memory, Some(1_610_612_736));
    assert_eq!(experiment.load_time(Point::Sessions(1000.0)), Duration::from_secs(2 + 5));
    let Load::Sessions { calls: 10, arrivals, .. } = experiment.load(experiment.points[0]) else {
        panic!("sessions")
    };
    assert_eq!(arrivals, Arrivals::Constant(Rate::per_s(100).unwrap()));
}

#[test]
fn there_is_a_ceiling_unless_the_file_says_no() {
    assert!(read(WHOLE).unwrap().has_ceiling && read(WHOLE).unwrap().quickened().has_ceiling);
    assert!(!check("seed = 2011", "seed = 2011, ceiling = false").unwrap().has_ceiling);
    assert!(
        check("seed = 2011", "seed = 2011, ceiling = 'no'")
            .unwrap_err()
            .contains(":7: \"no\" is given where true or false is expected")
    );
}

#[test]
fn quick_shrinks_what_the_file_says_or_else_everything() {
    let plain = read(WHOLE).unwrap().quickened();
    assert!(plain.is_quick);
    assert_eq!((plain.repeat, plain.total, plain.points.len()), (1, Some(500), 12));
    let quick = WHOLE.to_string() + "[quick]\npoints = [100, 900]\nrepeat = 2\ntotal = 100";
    let quick = read(&quick).unwrap().quickened();
    assert_eq!((quick.repeat, quick.total, quick.points.len()), (2, Some(100), 2));
}

#[test]
fn rounds_may_go_on_until_they_tell_enough() {
    let with_trials = |trials: &str| check("repeat = 3", trials);
    let until = with_trials("until = '±3%'").unwrap();
    assert_eq!((until.repeat, until.rounds()), (6, 20));
    assert_eq!(until.until, Some(Until { within: 0.03, repeat_max: 20, limit: None }));
    let until =
        with_trials("until = '2.5 %', repeat = 4, repeat_max = 6, limit = '30min'").unwrap();
    let limit = Some(Duration::from_secs(1_800));
    assert_eq!((until.repeat, until.rounds()), (4, 6));
    assert_eq!(until.until, Some(Until { within: 0.025, repeat_max: 6, limit }));
    let quick = until.quickened();
    assert_eq!((quick.until, quick.rounds()), (None, 1));
    assert_eq!(read(WHOLE).unwrap().rounds(), 3);
    for (trials, says) in [
        ("until = '3'", ":7: `3` is not an interval"),
        ("until = '±0%'", ":7: `±0%` is not an interval"),
        ("until = '±NaN%'", ":7: `±NaN%` is not an interval"),
        ("until = '±3%', repeat = 2", ":7: with `until` it is the least"),
        ("until = '±3%', repeat = 9, repeat_max = 8", ":7: fewer than the minimum of 9"),
        ("repeat_max = 8", ":7: it bounds `until`"),
        ("limit = '1h'", ":7: it bounds `until`"),
        ("until = '±3%', limit = 'long'", ":7: `long` is not a time"),
    ] {
        let found = with_trials(trials).unwrap_err();
        assert!(found.contains(says), "{trials}: {found}");
    }
}

const RAMP: &str = "question = '?'\nsubjects = ['a', 'b']\nworkload = 'w'\n\
                    load = { open = { rate = '100..5k' }, duration = '8s' }\n";

#[test]
fn a_rate_may_rise_or_go_in_steps() {
    let ramp = read(RAMP).unwrap();
    assert_eq!(
        (ramp.points.clone(), ramp.warmup),
        (vec![Point::Requests(5_000.0)], Duration::ZERO)
    );
    let Load::Open { arrivals, .. } = ramp.load(ramp.points[0]) else { panic!() };
    let rate = |rate: &str| rate.parse::<load::Rate>().unwrap();
    let over = Duration::from_secs(8);
    assert_eq!(arrivals, load::Arrivals::Ramp { from: rate("100"), to: rate("5000"), over });
    let steps = RAMP.replace("100..5k", "100:2s,300:4s").replace(", duration = '8s'", "");
    let steps = read(&steps).unwrap();
    assert_eq!((steps.duration, steps.points.len()), (Some(Duration::from_secs(6)), 1));
    assert_eq!(steps.quickened().duration, Some(Duration::from_secs(6)), "they have their lengths");
    for (old, new, says) in [
        ("'100..5k'", "'100'", ":4: write one rate as a number"),
        ("'100..5k'", "'100..'", ":4: `` is not a rate"),
        ("'100..5k'", "'1:20h,2:5h'", ":4: the steps are longer than a day"),
        ("'100..5k'", "'1:2s'", ":4: steps say how long they last"),
        ("'100..5k'", "'100..5k', arrivals = 'poisson'", ":4: a ramp and steps are evenly spaced"),
        ("'8s'", "'8s', total = 5", ":4: a ramp and steps end by themselves"),
        ("'8s'", "'8s', warmup = '1s'", ":4: a ramp and steps are measured from"),
        (" }\n", " }\ntrials = { slices = '100ms' }\n", ":5: a ramp and steps have no slices"),
        (" }\n", " }\nquick = { points = 3 }\n", ":5: a ramp and steps have no other loads"),
        (" }\n", " }\nwhy = {}\n", ":5: a ramp and steps are not sampled"),
    ] {
        let said = read(&RAMP.replace(old, new)).unwrap_err();
        assert!(said.contains(says), "{new}: {said}");
    }
}

#[test]
fn a_promise_may_be_said() {
    assert_eq!(read(WHOLE).unwrap().promise, Promised::default());
    let with_promise = |keys: &str| read(&format!("{WHOLE}[promise]\n{keys}"));
    let promise = with_promise("p99 = '20ms'\nfailures = '0.1%'").unwrap().promise;
    assert_eq!(
        promise,
        Promised { p99: Duration::from_millis(20), failed_percent: 0.1, is_stated: true }
    );
    assert!(with_promise("p99 = '0ms'").unwrap_err().contains("longer than 0"));
    assert!(with_promise("failures = '101%'").unwrap_err().contains("not a percentage"));
    assert!(with_promise("p98 = '1ms'").unwrap_err().contains("unknown key `p98`"));
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    for (old, new, says) in [
        (
            "workload =",
            "columns = ['failed', 'respons_p50_ms']\nworkload =",
            ":4: unknown figure `respons_p50_ms`; did you mean `response_p50_ms`?",
        ),
        (
            "workload =",
            "order = 'p99'\nworkload =",
            ":4: unknown word `p99`; the only one known is cpu",
        ),
        ("subjects = [\"a\", \"b\"]", "subjects = []", ":3: an empty list"),
        ("\"b\"", "\"a\"", ":3: `a` is given twice"),
        ("\"b\"", "\"../b\"", ":3: `../b` is not a name"),
        ("workload", "worklod", ":4: unknown key `worklod`; did you mean `workload`?"),
        ("step = 100", "step = 0", ":5: `from` must not be above"),
        ("step = 100", "step = 0.001", ":5: more than 200 loads"),
        ("to = 1200", "to = inf", ":5: `from` must not be above"),
        ("{ from = 100, to = 1200, step = 100 }", "[-1]", ":5: -1 is not a rate"),
        ("{ from = 100, to = 1200, step = 100 }", "\"x\"", ":5: only `open.rate` may be a ramp"),
        ("{ from = 100, to = 1200, step = 100 }", "true", ":5: expected a number, a list"),
        ("calls = 10", "calls = 0", ":5: it must be at least 1"),
        ("{ from = 100, to = 1200, step = 100 }", "[]", ":5: write 1 to 200 loads"),
        ("{ from = 100, to = 1200, step = 100 }", "nan", ":5: "),
        ("total = 5000", "total = \"many\"", ":5: \"many\" is given where a whole number"),
        ("total = 5000", "total = -1", ":5: `-1` is given where a whole number"),
        ("total = 5000, ", "", ":5: a load that never ends"),
        ("timeout = \"5s\"", "timeout = \"5 s\"", ":5: `5 s` is not a time"),
        ("timeout = \"5s\"", "closed = { connections = 1 }", ":5: name one of"),
        ("\"1536MiB\"", "\"1536\"", ":6: `1536` is not a size"),
        ("load_cpus = \"1\"", "load_cpus = \"x\"", ":6: `x` names no CPUs"),
        ("repeat = 3", "repeat = 0", ":7: it must be at least 1"),
        ("repeat = 3", "repeat = 1001", ":7: at most 1000"),
        ("repeat = 3", "repeat = 1e9", ":7: "),
        ("repeat = 3", "repaet = 3", ":7: unknown key `repaet`; did you mean `repeat`?"),
    ] {
        let said = check(old, new).unwrap_err();
        assert!(said.starts_with(&format!("x{says}")), "{said}\n{says}");
    }
}

#[test]
fn a_closed_loop_has_whole_connections() {
    let closed = |places: &str| {
        let sessions = "sessions = { rate = { from = 100, to = 1200, step = 100 }, calls = 10 }";
        check(sessions, &format!("closed = {{ connections = {places} }}"))
    };
    assert_eq!(closed("[1, 50]").unwrap().points[1], Point::Connections(50));
    assert_eq!(closed("7").unwrap().points, [Point::Connections(7)]);
    assert!(closed("1.5").unwrap_err().contains("1.5 connections"));
    assert!(closed("0").unwrap_err().contains("0 connections"));
}

/// The experiment as it is read back from what a run keeps of it.
fn kept(experiment: &Experiment) -> Result<Experiment, String> {
    let SourceFile { name, text } = experiment.source.clone();
    let run = RunRecord {
        name: experiment.name.clone(),
        files: vec![(name, text)],
        experiment: Some(experiment.clone()),
        ..RunRecord::default()
    };
    let mut read = RunRecord { name: run.name.clone(), ..RunRecord::default() };
    read.set_texts(run.texts())?;
    assert_eq!(read.files, run.files);
    Ok(read.experiment.expect("it was kept"))
}

/// Puts what no reader would write in the place of each value of its JSON, and takes each value away. What is not
/// refused can be used.
fn refuse_hostile(experiment: &Experiment) {
    let whole: serde_json::Value = serde_json::from_str(&experiment.json()).unwrap();
    let mut places = Vec::new();
    add_places(&whole, String::new(), &mut places);
    let hostile = ["null", "-1", "0", "0.5", "1e308", "18446744073709551615", "\"\"", "[]", "{}"];
    let (mut refused, mut used) = (0, 0);
    for place in &places {
        for value in hostile {
            let mut changed = whole.clone();
            *changed.pointer_mut(place).unwrap() = serde_json::from_str(value).unwrap();
            match Experiment::of_json(&changed.to_string()) {
                Err(says) => {
                    assert!(!says.is_empty());
                    refused += 1;
                }
                Ok(experiment) => {
                    use_it(&experiment);
                    used += 1;
                }
            }
        }
    }
    assert!(refused > 5 * used, "{}: {refused} are refused, {used} are not", experiment.name);
}

/// No list in a stranger's JSON makes work without bounds, and no number of it ends the program.
#[test]
fn amounts_that_no_reader_writes_are_refused_or_bounded() {
    let kept = |change: fn(&mut Experiment)| {
        let mut experiment = read(WHOLE).unwrap();
        change(&mut experiment);
        Experiment::of_json(&experiment.json())
    };
    let says = kept(|it| it.workloads = (0..1_001).map(|n| format!("w{n}")).collect());
    assert_eq!(says.unwrap_err(), "1001 names; at most 1000");
    let says = kept(|it| it.columns = vec![Figure::FailedShare; 2]);
    assert_eq!(says.unwrap_err(), "the column `failed_percent` is given twice");
    let steps: fn(&mut Experiment) = |it| {
        let step = (Rate::per_s(1).unwrap(), Duration::from_millis(1));
        it.course = Some(Schedule::Steps(vec![step; 10_001]));
    };
    assert_eq!(kept(steps).unwrap_err(), "at most 10000 steps");
    let says = kept(|it| it.manners = vec![it.manners[0]; 201]);
    assert_eq!(says.unwrap_err(), "201 manners of a request; at most 200");
    let slow = kept(|it| (it.total, it.points) = (Some(u64::MAX), vec![Point::Sessions(0.001)]));
    let slow = slow.unwrap();
    let time = slow.trial_time(slow.points[0]);
    assert!(Duration::from_secs(1 << 33) < time && time < Duration::from_secs(1 << 34), "{time:?}");
    let mut held = read(HELD).unwrap();
    let Shape::Held(holds) = &mut held.shape else { panic!("held") };
    (holds.step, holds.every) = (1, Duration::from_secs(7 * 24 * 3_600));
    let held = Experiment { points: vec![Point::Held(1_000_000)], ..held };
    let held = Experiment::of_json(&held.json()).unwrap();
    let ramp = held.ramp(held.points[0]).unwrap();
    assert_eq!((ramp.end(), ramp.plateau(999_999).until), (u64::MAX, u64::MAX));
    assert!(Duration::from_secs(1 << 33) < held.trial_time(held.points[0]));
}

/// The places of a value and of all that it consists of.
fn add_places(value: &serde_json::Value, place: String, places: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(map) => {
            map.iter().for_each(|(key, value)| add_places(value, format!("{place}/{key}"), places));
        }
        serde_json::Value::Array(list) => {
            let list = list.iter().enumerate();
            list.for_each(|(at, value)| add_places(value, format!("{place}/{at}"), places));
        }
        _ => {}
    }
    places.push(place);
}

/// Asks an experiment for all that a report or a run asks it for.
fn use_it(experiment: &Experiment) {
    for point in &experiment.points {
        let _ = (experiment.load(*point), experiment.load_time(*point), experiment.ramp(*point));
        let _ = point.to_string();
    }
    let _ = (experiment.on_time_within(), experiment.tasks().count());
    assert_eq!(Experiment::of_json(&experiment.json()).as_ref(), Ok(experiment));
}

#[test]
fn every_experiment_of_ours_can_be_read_and_its_history_is_about_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let mut seen = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "toml") {
            continue;
        }
        let experiment = Experiment::read(&path, &path.to_string_lossy()).unwrap();
        let quick = experiment.clone().quickened();
        for experiment in [&experiment, &quick] {
            assert_eq!(kept(experiment).unwrap(), *experiment, "{path:?}");
            refuse_hostile(experiment);
        }
        let is_a_place = |point: &Point| match experiment.shape {
            // A shorter ramp ends where a step of the whole one does.
            Shape::Held(holds) => {
                let most = experiment.points[0].value();
                point.value() <= most && point.value() % holds.step as f64 == 0.0
            }
            Shape::Closed | Shape::Open { .. } | Shape::Sessions { .. } => {
                experiment.points.contains(point)
            }
        };
        assert!(quick.points.iter().all(is_a_place), "{path:?}");
        for point in &quick.points {
            let ramp = quick.ramp(*point);
            assert!(ramp.is_none_or(|ramp| ramp.leaves_time()), "{path:?} --quick measures");
        }
        if let Some(name) = &experiment.history {
            let source = SourceFile::read(&folder.join("history").join(name), name).unwrap();
            let history = PublishedFigures::parse(&source).unwrap();
            let Subjects::Named(subjects) = &experiment.subjects else { panic!("{path:?}") };
            for published in &history.figures {
                assert!(subjects.contains(&published.subject), "{path:?}: {published:?}");
                assert!(experiment.workloads.contains(&published.workload), "{published:?}");
                let is_here = |place| experiment.points.iter().any(|point| point.value() == place);
                assert!(published.point.is_none_or(is_here), "{path:?}: {published:?}");
            }
        }
        seen += 1;
    }
    assert_eq!(seen, 18);
}

const HELD: &str = r#"
question = "Which?"
subjects = ["a"]
workload = "poll"
load = { held = { connections = 10000, step = 1000, every = "30s", rate = 500, beat = "1s" } }
"#;

#[test]
fn a_ramp_of_held_connections_is_one_place() {
    let experiment = read(HELD).unwrap();
    assert_eq!(experiment.points, [Point::Held(10_000)]);
    let ramp = experiment.ramp(experiment.points[0]).unwrap();
    assert_eq!((ramp.plateaus(), ramp.step, ramp.per_second), (10, 1_000, 500.0));
    assert_eq!(experiment.load_time(experiment.points[0]), Duration::from_secs(300 + 5));
    let Shape::Held(holds) = experiment.shape else { panic!("held") };
    assert_eq!((holds.silence, holds.reopen), (Duration::from_secs(3), true));
    assert_eq!(read(WHOLE).unwrap().ramp(Point::Sessions(1.0)), None);
    for (every, usual) in [("10s", 300.0), ("2min", 100.0)] {
        let unstated = HELD.replace("rate = 500, ", "").replace("30s", every);
        let unstated = read(&unstated).unwrap();
        assert_eq!(unstated.ramp(unstated.points[0]).unwrap().per_second, usual, "{every}");
    }
    let quick = HELD.to_string() + "[quick]\npoints = 2000\nstep = 500\nevery = '5s'";
    let quick = read(&quick).unwrap().quickened();
    let ramp = quick.ramp(quick.points[0]).unwrap();
    assert_eq!((ramp.connections, ramp.plateaus(), ramp.every), (2_000, 4, Duration::from_secs(5)));
}

#[test]
fn held_connections_that_cannot_be_are_refused_with_their_line() {
    for (old, new, says) in [
        ("every = \"30s\"", "every = \"2s\"", ":5: a step of 1000 takes 4.0 s"),
        ("step = 1000", "step = 0", ":5: it must be at least 1"),
        ("beat = \"1s\" }", "beat = \"1s\" }, total = 5", ":5: held connections end after"),
        ("beat = \"1s\" }", "beat = \"1s\" }, closed = { connections = 1 }", ":5: `held` stands"),
        ("beat", "beet", ":5: unknown key `beet`; did you mean `beat`?"),
        ("10000", "1.5", ":5: 1.5 connections"),
    ] {
        let said = read(&HELD.replace(old, new)).unwrap_err();
        assert!(said.starts_with(&format!("x{says}")), "{said} / {says}");
    }
}

/// A server may leave malformed requests unanswered, and each pair would wait for it.
#[test]
fn the_cheapest_cases_are_played_around_loads_that_are_no_pairs() {
    let with_trials = |trials: &str| {
        let load = "closed = { connections = 8 }, duration = '1s'";
        read(&loaded_by(load, &format!("trials = {{ {trials} }}"))).unwrap()
    };
    let pairs = "pairs = { detect = 0.05, level = 0.01, missed = 0.05, figures = [], most = 3 }";
    let (rounds, pairs) = (with_trials("repeat = 3"), with_trials(pairs));
    assert!(rounds.has_spots() && pairs.has_check && !pairs.has_spots());
    assert!(!with_trials("check = false").has_spots());
    let time = |experiment: &Experiment| experiment.trial_time(experiment.points[0]);
    assert_eq!(time(&rounds) - time(&pairs), Duration::from_millis(400));
}

#[test]
fn subjects_are_checked_and_must_keep_what_the_file_requires() {
    let plain = read(WHOLE).unwrap();
    assert!(plain.has_check && plain.require.is_none() && plain.quickened().has_check);
    assert!(!check("seed = 2011", "seed = 2011, check = false").unwrap().has_check);
    let requiring = |keys: &str| read(&format!("require = {keys}\n{WHOLE}"));
    let require = requiring("{ must_broken = 0, security = 2 }").unwrap().require;
    let wanted = Required { must_broken: Some(0), security: Some(2), ..Required::default() };
    assert_eq!(require, Some(wanted));
    assert_eq!(
        requiring("{ should_broken = 3 }").unwrap().quickened().require.unwrap().should_broken,
        Some(3)
    );
    for (keys, says) in [
        ("{}", ":1: nothing is required; write it like { must_broken = 0"),
        ("{ must_broken = -1 }", ":1: `-1` is given where a whole number"),
        ("{ must_broken = 'none' }", ":1: \"none\" is given where a whole number"),
        ("{ must_brocken = 0 }", ":1: unknown key `must_brocken`; did you mean `must_broken`?"),
        ("0", ":1: `0` is given where a table is expected"),
    ] {
        let refused = requiring(keys).unwrap_err();
        assert!(refused.contains(says), "{keys}: {refused}");
    }
    let both = WHOLE.replace("seed = 2011", "check = false");
    let refused = read(&format!("require = {{ security = 0 }}\n{both}")).unwrap_err();
    assert!(refused.contains(":8: `require` asks for what the check finds"), "{refused}");
    let wrong = read(&format!("require = {{ wrong = \"0.5%\" }}\n{both}")).unwrap();
    assert_eq!(wrong.require.unwrap().wrong_percent, Some(0.5), "the load itself finds those");
    let refused = requiring("{ wrong = '101' }").unwrap_err();
    assert!(refused.contains(":1: `101` is not a percentage"), "{refused}");
}

fn subjects(names: &[&str]) -> Subjects {
    Subjects::Named(names.iter().map(ToString::to_string).collect())
}

#[test]
fn a_change_takes_the_place_of_what_the_file_says_and_stays_in_its_text() {
    let text = WHOLE.replace(
        "sessions = { rate = { from = 100, to = 1200, step = 100 }, calls = 10 }, total = 5000",
        CLOSED,
    );
    let text = text.replace("repeat = 3", "repeat = 4, until = '±3%', limit = '1h'")
        + "quick = { points = [2], repeat = 2, duration = '1s' }\n";
    let whole = read(&text).unwrap();
    let changed = whole.clone().with(&[
        Change::Subjects(vec!["b".into()]),
        Change::Connections(vec![50, 100]),
        Change::Duration(Duration::from_millis(1_500)),
        Change::Rounds(7),
    ]);
    let changed = changed.unwrap();
    for experiment in [
        changed.clone(),
        changed.clone().quickened(),
        Experiment::of_json(&changed.json()).unwrap(),
    ] {
        assert_eq!(experiment.subjects, subjects(&["b"]));
        assert_eq!(experiment.points, [Point::Connections(50), Point::Connections(100)]);
        assert_eq!(
            (experiment.duration, experiment.total),
            (Some(Duration::from_millis(1_500)), None)
        );
        assert_eq!((experiment.repeat, experiment.until), (7, None));
        assert_eq!(experiment.changed.flags, ["--only b", "-c 50,100", "-d 1500ms", "--rounds 7"]);
        let says = ["only b", "50, 100 connections", "1500ms for each trial", "7 rounds"];
        assert_eq!(experiment.changed.says, says);
    }
    assert_eq!(changed.seed, whole.seed);
    assert_eq!(whole.changed, Changed::default());
    // What is not changed stays, with --quick, too.
    let rounds = whole.clone().with(&[Change::Rounds(1)]).unwrap().quickened();
    assert_eq!((rounds.points, rounds.repeat), (vec![Point::Connections(2)], 1));
}

const CLOSED: &str = "closed = { connections = [1, 9] }, total = 10, duration = '9s'";

#[test]
fn a_change_that_makes_no_sense_is_refused_with_the_reason() {
    let changed = |load: &str, change: Change| {
        let changed = read(&loaded_by(load, "")).unwrap().with(&[change]);
        changed.map(|changed| changed.points).map_err(|flaw| flaw.says)
    };
    let steps = "held = { connections = 100, step = 50, every = '10s' }";
    let open = "open = { rate = 10 }, duration = '1s'";
    for (load, change, expected) in [
        (steps, Change::Duration(Duration::from_secs(1)), "after their last step, not after a"),
        (open, Change::Connections(vec![2]), "a schedule of rates, which"),
        (open, Change::Rounds(2_000), "at most 1000"),
    ] {
        let found = changed(load, change).unwrap_err();
        assert!(found.contains(expected), "{load}: {found}");
    }
    assert_eq!(changed(steps, Change::Connections(vec![200])), Ok(vec![Point::Held(200)]));
}

#[test]
fn a_time_is_written_as_it_is_read() {
    for nanos in [1, 1_500, 2_000_000, 90_000_000_000, 86_400_000_000_000, 1_000_000_001] {
        let time = Duration::from_nanos(nanos);
        assert_eq!(crate::amounts::time(&crate::amounts::written(time)), Ok(time));
    }
}
