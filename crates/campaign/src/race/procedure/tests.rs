use lab::experiment::Point;

use super::*;

fn label(title: &str, name: &str) -> Label {
    Label { title: title.into(), name: name.into() }
}

fn course() -> Procedure {
    Procedure {
        name: NAME,
        question: "A or B?".into(),
        duration: Some(Duration::from_millis(1_500)),
        timeout: Duration::from_secs(5),
        keep_alive: true,
        rounds: Some(3),
        seed: 7,
        ..Procedure::default()
    }
}

#[test]
fn a_load_comes_out_as_it_went_in() {
    let labels = [label("A", "a"), label("B", "b")];
    let rate: load::Rate = "2500.5".parse().unwrap();
    for load in [
        Load::Closed { connections: 16 },
        Load::Open { arrivals: Arrivals::Poisson(rate), connections: 4, max_connections: 9 },
        Load::Sessions { arrivals: Arrivals::Constant(rate), calls: 3, max_connections: 9 },
    ] {
        let made = experiment(&labels, NAME, &load, &course()).unwrap();
        assert_eq!(format!("{:?}", made.load(made.points[0])), format!("{load:?}"));
        assert_eq!((made.repeat, made.seed, made.has_check), (3, 7, false));
        assert_eq!(made.duration, Some(Duration::from_millis(1_500)));
    }
    let wrong = |made: Experiment| made.require.and_then(|required| required.wrong_percent);
    let closed = Load::Closed { connections: 1 };
    for max_wrong in [None, Some(0.25)] {
        let made =
            experiment(&labels, NAME, &closed, &Procedure { max_wrong, ..course() }).unwrap();
        assert_eq!(wrong(made), max_wrong);
    }
    let until = Procedure { until_percent: Some(3.0), rounds: None, ..course() };
    let made = experiment(&labels, NAME, &Load::Closed { connections: 1 }, &until).unwrap();
    assert_eq!(made.until.map(|until| until.within), Some(0.03));
    assert_eq!(made.points, [Point::Connections(1)]);
}

#[test]
fn a_ramp_and_steps_come_out_as_they_went_in() {
    let labels = [label("A", "a"), label("B", "b")];
    let rate = |text: &str| text.parse::<load::Rate>().unwrap();
    let of = |arrivals: Arrivals, duration| {
        let load = Load::Open { arrivals, connections: 4, max_connections: 9 };
        let made = experiment(&labels, NAME, &load, &Procedure { duration, ..course() }).unwrap();
        assert_eq!(format!("{:?}", made.load(made.points[0])), format!("{load:?}"));
        (made.points.clone(), made.duration)
    };
    let s = Duration::from_secs;
    let ramp = Arrivals::Ramp { from: rate("0.5"), to: rate("900"), over: s(4) };
    assert_eq!(of(ramp, Some(s(4))), (vec![Point::Requests(900.0)], Some(s(4))));
    let steps = vec![(rate("90"), Duration::from_millis(1_500)), (rate("50"), s(2))];
    let length = Some(Duration::from_millis(3_500));
    assert_eq!(of(Arrivals::Steps(steps), None), (vec![Point::Requests(90.0)], length));
}

#[test]
fn what_cannot_be_is_refused_with_its_flag() {
    let labels = [label("A", "a"), label("B", "b")];
    let closed = Load::Closed { connections: 1 };
    let says = |load: &Load, course: &Procedure| {
        experiment(&labels, NAME, load, course).unwrap_err().to_string()
    };
    let of = |change: fn(&mut Procedure)| {
        let mut course = course();
        change(&mut course);
        says(&closed, &course)
    };
    assert_eq!(of(|it| it.rounds = Some(1_001)), "--rounds: at most 1000");
    assert!(
        of(|it| it.until_percent = Some(60.0)).starts_with("--until: `±60%` is not an interval")
    );
    let few = |it: &mut Procedure| (it.until_percent, it.rounds) = (Some(3.0), Some(2));
    assert!(of(few).starts_with("--rounds: with `until` it is the least number of rounds"));
    assert!(of(|it| it.slices = Some(Duration::from_millis(5))).starts_with("--slices: a slice"));
    let many = Load::Closed { connections: 1_000_001 };
    assert!(says(&many, &course()).starts_with("--rate or --connections: 1000001 connections"));
}

#[test]
fn a_race_of_flags_is_read_back_from_a_store_as_it_was_made() {
    let folder = std::env::temp_dir().join(format!("dyno-made-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut store = store::Store::open(&folder.join("runs.sqlite")).unwrap();
    let labels = [label("A", "a"), label("B", "b")];
    let rate: load::Rate = "2500.5".parse().unwrap();
    let open = |arrivals| Load::Open { arrivals, connections: 4, max_connections: 9 };
    let steps = vec![(rate, Duration::from_millis(1_500)), (rate, Duration::from_secs(2))];
    let until = Procedure { until_percent: Some(3.1), rounds: None, ..course() };
    let stated = Procedure {
        on_time: Some(Duration::from_micros(1_500)),
        max_failures: Some(0.3),
        max_wrong: Some(0.1),
        seed: u64::MAX,
        ..course()
    };
    let sliced = Procedure { slices: Some(Duration::from_millis(100)), ..course() };
    for (load, course) in [
        (Load::Closed { connections: 16 }, until),
        (open(Arrivals::Poisson(rate)), stated),
        (open(Arrivals::Constant(rate)), sliced),
        (open(Arrivals::Steps(steps)), Procedure { duration: None, ..course() }),
    ] {
        let made = experiment(&labels, NAME, &load, &course).unwrap();
        let run = lab::record::RunRecord {
            name: NAME.into(),
            experiment: Some(made),
            ..lab::record::RunRecord::default()
        };
        let id = store.begin(&run).unwrap();
        assert_eq!(store.run(id).unwrap(), run);
    }
    drop(store);
    std::fs::remove_dir_all(&folder).unwrap();
}
