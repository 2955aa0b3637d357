use lab::experiment::Point;
use lab::subject::Serving;

use super::*;

fn label(title: &str, name: &str) -> Label {
    Label { title: title.into(), name: name.into() }
}

fn course() -> Course {
    Course {
        name: NAME,
        question: "A or B?".into(),
        duration: Some(Duration::from_millis(1_500)),
        total: None,
        warmup: Duration::ZERO,
        timeout: Duration::from_secs(5),
        keep_alive: true,
        manner: Manner::default(),
        rounds: Some(3),
        until_percent: None,
        pairs: None,
        limit: None,
        isolate: false,
        check: false,
        seed: 7,
        slices: None,
        on_time: None,
        max_failures: None,
        max_wrong: None,
    }
}

#[test]
fn whatever_is_typed_comes_out_of_the_readers_unchanged() {
    let odd = "a \"b\" \\ \n\t\u{7f}\u{1b} é ' # { port }";
    let subject = own(&label(odd, "x"), NAME, "sh -c 'a \"b\"'", "/tmp/a b").unwrap();
    assert_eq!(subject.title, odd);
    let Serving::Own(command, folder) = subject.serving else { panic!("its own") };
    assert_eq!(command.words(), ["sh", "-c", "a \"b\""]);
    assert_eq!(folder, Path::new("/tmp/a b"));
    let stated = StatedRequest {
        method: "POST".into(),
        target: "/a?b={seq}".into(),
        fields: vec![("X-Odd".into(), "a\"b".into())],
        send: odd.replace(['\u{1b}'], ""),
        status: Some(StatusRule::Any),
        answer_fields: Vec::new(),
        body: ExpectedBody::Text(odd.into()),
    };
    let workload = workload(NAME, &stated).unwrap();
    let BodyRule::Exactly(body) = &workload.questions[0].ask.expect.body else { panic!() };
    assert_eq!(body.constant(), Some(odd.as_bytes()));
    assert_eq!(workload.questions[0].method, "POST");
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
        let made = experiment(&labels, NAME, &closed, &Course { max_wrong, ..course() }).unwrap();
        assert_eq!(wrong(made), max_wrong);
    }
    let until = Course { until_percent: Some(3.0), rounds: None, ..course() };
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
        let made = experiment(&labels, NAME, &load, &Course { duration, ..course() }).unwrap();
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
fn a_server_that_runs_already_has_its_own_host_and_path() {
    let address = "127.0.0.1:81".parse().unwrap();
    let subject = found(&label("h", "h"), NAME, address, ("h:81", "/x?y"), None).unwrap();
    let Serving::Found(site) = subject.serving else { panic!("found") };
    assert_eq!((site.host.as_str(), site.target.as_deref()), ("h:81", Some("/x?y")));
    let mut tls = TlsOrder::to("h");
    for (version, trust) in [
        (None, Trust::System),
        (Some(tls::Version::V1_2), Trust::All),
        (Some(tls::Version::V1_3), Trust::Given("-----BEGIN\n\"'\\ü\n".into())),
    ] {
        (tls.version, tls.trust) = (version, trust);
        (tls.groups, tls.resume) = (vec!["x25519".into()], tls::Resume::parse("80").unwrap());
        let subject = found(&label("h", "h"), NAME, address, ("h", "/"), Some(&tls)).unwrap();
        let Serving::Found(site) = subject.serving else { panic!("found") };
        assert_eq!(site.tls.as_ref(), Some(&tls), "what is kept is what was asked for");
    }
    let fields = vec![("a".into(), "1".into()), ("A".into(), "2".into())];
    assert!(table("send_header", &fields, "a race").unwrap_err().to_string().contains("twice"));
}
