use lab::experiment::{Point, Promised, Required, Until};
use lab::manner::Manner;

use super::*;

fn label(title: &str, name: &str) -> Label {
    Label { title: title.into(), name: name.into() }
}

fn asked() -> Experiment {
    Experiment {
        name: NAME.into(),
        question: "A or B?".into(),
        duration: Some(Duration::from_millis(1_500)),
        timeout: Duration::from_secs(5),
        keep_alive: true,
        manners: vec![Manner::default()],
        repeat: 3,
        seed: 7,
        ..Experiment::default()
    }
}

/// With rounds until the intervals are so narrow, of which so many are stated.
fn until(percent: f64, stated: Option<u64>) -> Experiment {
    let until = Some(Until::with(percent / 100.0, stated, None, None));
    Experiment { repeat: Until::rounds(until.as_ref(), stated), until, ..asked() }
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
        let made = experiment(&labels, NAME, &load, asked()).unwrap();
        assert_eq!(format!("{:?}", made.load(made.points[0])), format!("{load:?}"));
        assert_eq!((made.repeat, made.seed, made.has_check), (3, 7, false));
        assert_eq!(made.duration, Some(Duration::from_millis(1_500)));
    }
    let closed = Load::Closed { connections: 1 };
    let made = experiment(&labels, NAME, &closed, until(3.0, None)).unwrap();
    assert_eq!(made.until.map(|until| until.within), Some(0.03));
    assert_eq!(made.points, [Point::Connections(1)]);
}

#[test]
fn a_ramp_and_steps_come_out_as_they_went_in() {
    let labels = [label("A", "a"), label("B", "b")];
    let rate = |text: &str| text.parse::<load::Rate>().unwrap();
    let of = |arrivals: Arrivals, duration| {
        let load = Load::Open { arrivals, connections: 4, max_connections: 9 };
        let made = experiment(&labels, NAME, &load, Experiment { duration, ..asked() }).unwrap();
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
    let says = |load: &Load, asked| experiment(&labels, NAME, load, asked).unwrap_err().to_string();
    let of = |asked| says(&closed, asked);
    let many = Experiment { repeat: 1_001, ..asked() };
    assert_eq!(of(many), "--rounds: at most 1000");
    assert!(of(until(60.0, None)).starts_with("--until: `±60%` is not an interval"));
    let few = until(3.0, Some(2));
    assert!(of(few).starts_with("--rounds: with `until` it is the least number of rounds"));
    let short = Experiment { slices: Some(Duration::from_millis(5)), ..asked() };
    assert!(of(short).starts_with("--slices: a slice"));
    let many = Load::Closed { connections: 1_000_001 };
    assert!(says(&many, asked()).starts_with("--rate or --connections: 1000001 connections"));
}

#[test]
fn a_race_of_flags_is_read_back_from_a_store_as_it_was_made() {
    let folder = crate::fixture::Folder::new();
    let mut store = store::Store::open(&folder.0.join("runs.sqlite")).unwrap();
    let labels = [label("A", "a"), label("B", "b")];
    let rate: load::Rate = "2500.5".parse().unwrap();
    let open = |arrivals| Load::Open { arrivals, connections: 4, max_connections: 9 };
    let steps = vec![(rate, Duration::from_millis(1_500)), (rate, Duration::from_secs(2))];
    let stated = Experiment {
        promise: Promised::of(Some(Duration::from_micros(1_500)), Some(0.3)),
        require: Some(Required { wrong_percent: Some(0.1), ..Required::default() }),
        seed: u64::MAX,
        ..asked()
    };
    let sliced = Experiment { slices: Some(Duration::from_millis(100)), ..asked() };
    for (load, asked) in [
        (Load::Closed { connections: 16 }, until(3.1, None)),
        (open(Arrivals::Poisson(rate)), stated),
        (open(Arrivals::Constant(rate)), sliced),
        (open(Arrivals::Steps(steps)), Experiment { duration: None, ..asked() }),
    ] {
        let made = experiment(&labels, NAME, &load, asked).unwrap();
        let run = lab::record::RunRecord {
            name: NAME.into(),
            experiment: Some(made),
            ..lab::record::RunRecord::default()
        };
        let id = store.begin(&run).unwrap();
        assert_eq!(store.run(id).unwrap(), run);
    }
}
