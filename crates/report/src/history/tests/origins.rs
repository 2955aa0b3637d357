//! Lines of races and of loads, and the commands that prove their changes.

use load::{Arrivals, Load};

use super::*;

/// A race of the fixture's two servers; the first of them is no reference.
fn race() -> (RunRecord, Vec<TrialRecord>, Origin) {
    let (mut run, trials) = closed();
    run.entries[1].tier = "default".into();
    let side = |subject: &str, words: &[&str]| RaceSide {
        subject: subject.into(),
        name: format!("{subject} side"),
        side: Side::command(&words.iter().map(ToString::to_string).collect::<Vec<_>>()),
    };
    let sides = vec![
        side("evil", &["./evil", "-p", "{port}"]),
        side("quick", &["env", "KEY=s3cret", "sh", "-c", "exec it"]),
    ];
    let load = Load::Closed { connections: 16 };
    let fields = [("authorization".to_string(), "s3cret".to_string())];
    let flags = Flags::of(&load).with("--path", &without_values("/a?t=s3cret&b"));
    let flags = flags.with_fields("-H", &fields).with_unwritten("-b", true).words();
    (run, trials, Origin::of_race(sides, vec!["s3cret".into()], flags))
}

#[test]
fn a_race_has_lines_for_each_side_and_ratios_to_the_first() {
    let (run, trials, origin) = race();
    let lines = of(&run, &trials, &origin);
    let of_speed = lines.iter().filter(|line| line.figure == "throughput_per_s");
    let [other, first] = of_speed.collect::<Vec<_>>()[..] else { panic!("{lines:?}") };
    assert_eq!((first.subject.as_str(), other.subject.as_str()), ("evil side", "quick side"));
    assert_eq!((first.value, other.value), (2_000.0, 1_000.0));
    assert_eq!((first.first_side.as_deref(), first.ratio_to_first), (None, None));
    assert_eq!(other.first_side.as_deref(), Some("evil side"));
    assert!((other.ratio_to_first.unwrap() - 0.5).abs() < 1e-9);
    let text = written(&lines);
    assert!(text.contains("KEY=…") && !text.contains("s3cret"), "{text}");
    assert_eq!(read_text(&text).lines.len(), lines.len(), "what is written is read");
    let found = trend(&text);
    let names: Vec<String> = found.series.iter().map(naming::name).collect();
    let ratio = "race, evil side against quick side: quick side at 16 connections, throughput/s ÷ evil side";
    assert!(names.iter().any(|name| name == ratio), "{names:#?}");
    let series = found.series.iter().find(|series| naming::name(series) == ratio).unwrap();
    assert_eq!(series.values.len(), 1);
    assert!((series.values[0] - 0.5).abs() < 1e-9, "a ratio, and no rate: {:?}", series.values);
}

#[test]
fn a_ratio_that_is_a_bound_or_of_an_invalid_side_is_none() {
    let (run, mut trials, origin) = race();
    for trial in trials.iter_mut().filter(|trial| trial.key.subject == "evil") {
        let recording = &mut trial.loaded.as_mut().unwrap().recording;
        // The books of this side do not balance.
        recording.total.attempted += 5_000;
    }
    let lines = of(&run, &trials, &origin);
    let first = lines.iter().find(|line| line.subject == "evil side").unwrap();
    assert_eq!(first.verdict, "invalid");
    let mut others = lines.iter().filter(|line| line.subject == "quick side");
    assert!(others.all(|line| line.ratio_to_first.is_none()));
    let found = trend(&written(&lines));
    assert!(found.series.iter().all(|series| series.per != series::Per::FirstSide));
}

#[test]
fn a_change_of_a_race_is_proved_by_a_gate_of_its_commands() {
    let (run, trials, origin) = race();
    let lines = of(&run, &trials, &origin);
    let is_meant = |line: &&Line| line.subject == "quick side" && line.figure == "throughput_per_s";
    let one = lines.iter().find(is_meant).unwrap();
    let mut lines = days_of(one, &step(900.0));
    lines.iter_mut().for_each(|line| line.ratio_to_first = Some(line.value / 2_000.0));
    let found = trend(&written(&lines));
    assert_eq!((found.series.len(), found.shifts().count()), (2, 2), "the figure and its ratio");
    let json = json_of(&found);
    assert_eq!(json["series"][0]["relative_to"], serde_json::Value::Null);
    assert_eq!(json["series"][1]["relative_to"], "evil side");
    assert_eq!(json["series"][1]["made_by"], "race");
    let command = "dyno gate --base-cmd 'env -C base env '\\''KEY=…'\\'' sh -c '\\''exec it'\\''' --head-cmd 'env -C head \
                   env '\\''KEY=…'\\'' sh -c '\\''exec it'\\''' -c 16 --path '/a?t=…&…' -H 'authorization: …' -b …";
    let shown_command = json["series"][1]["changes"][0]["command"].as_str().unwrap();
    assert_eq!(shown_command.replace("'…'", "…"), command);
    let absolute = |line: &Line| Line {
        side: Some(Side::command(&["/opt/it".into(), "-p".into(), "{port}".into()])),
        ..line.clone()
    };
    let proved = proof::proof(&absolute(&lines[0]), &absolute(&lines[10])).unwrap();
    assert!(proved.command.starts_with("dyno gate --base-cmd BASE --head-cmd HEAD -c 16"));
    let says = shown(&found).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(says.contains("either side may have changed"), "{says}");
    assert!(says.contains(&format!("git worktree add --detach head {}", &commit(10).hash[..12])));
}

#[test]
fn a_load_is_named_by_what_it_requests_and_its_change_by_a_command_with_its_flags() {
    let (run, trials) = closed();
    let asked = "GET http://h/a?t=…".to_string();
    let origin = |from: Option<&str>, term: &str| Origin {
        made_by: MadeBy::Load,
        experiment: Some(asked.clone()),
        from: from.map(String::from),
        terms: vec![term.into()],
        flags: Flags::of(&Load::Closed { connections: 16 }).with("-d", &"10s").words(),
        ..Origin::default()
    };
    let line = |origin: &Origin| {
        let lines = of(&run, &trials, origin);
        lines.into_iter().find(|line| line.figure == "response_p99_ms").unwrap()
    };
    let one = line(&origin(None, "a"));
    assert_ne!(line(&origin(None, "b")).plan, one.plan, "another load");
    assert_ne!(line(&origin(Some("desk2"), "a")).machine, one.machine, "from elsewhere");
    assert_eq!(line(&origin(None, "a")), one);
    let lines = days_of(&one, &step(900.0));
    let says = shown(&trend(&written(&lines)));
    for part in [
        "load, GET http://h/a?t=…: 16 connections, p99: better, 0.90×",
        "BASE and HEAD are the commands that start the server at commit",
        "dyno gate --base-cmd BASE --head-cmd HEAD -c 16 -d 10s",
    ] {
        assert!(says.contains(part), "{part}\n{says}");
    }
    let at_a_rate = Line { point_unit: "requests/s".into(), ..one.clone() };
    let mut first = at_a_rate.clone();
    first.run.commit = Some(commit(1).hash);
    let proved = proof::proof(&at_a_rate, &first);
    assert!(proved.unwrap().command.starts_with("dyno race BASE HEAD -c 16"));
}

#[test]
fn series_that_differ_in_their_plans_alone_say_so() {
    let lines = days(&[1_000.0]);
    let other = Line { plan: "0123456789ab".into(), ..lines[0].clone() };
    let names = |lines: &[Line]| -> Vec<String> {
        trend(&written(lines)).series.iter().map(naming::name).collect()
    };
    assert!(!names(&lines)[0].contains("plan"));
    let both = names(&[lines[0].clone(), other]);
    assert!(both.iter().all(|name| name.contains(", plan ")), "{both:?}");
    assert!(both.iter().any(|name| name.contains(", plan 0123456789ab,")), "{both:?}");
}

#[test]
fn a_line_of_another_command_or_with_flags_of_another_is_skipped() {
    let line = days(&[1_000.0]).remove(0);
    let mut value = serde_json::to_value(&line).unwrap();
    value["made_by"] = "magic".into();
    assert!(read_text(&value.to_string()).broken[0].why.contains("unknown variant"));
    let odd = Line { flags: vec!["--store".into(), "/etc/passwd".into()], ..line };
    let read = read_text(&written(&[odd]));
    assert_eq!(read.broken[0].why, "`--store` is not a flag of a load that a history can name");
}

#[test]
fn flags_say_how_a_load_arrived() {
    let rate: load::Rate = "2500.5".parse().unwrap();
    let second = std::time::Duration::from_secs(1);
    let ramp = Arrivals::Ramp { from: rate, to: rate, over: second };
    let max_connections = 9;
    for (arrivals, flags) in [
        (Arrivals::Constant(rate), "-r 2500.5 -c 4 --detect 5%"),
        (Arrivals::Poisson(rate), "-r 2500.5 --arrivals poisson -c 4 --detect 5%"),
        (ramp, "-r 2500.5..2500.5 -c 4"),
        (Arrivals::Steps(vec![(rate, second); 2]), "-r 2500.5:1s,2500.5:1s -c 4"),
    ] {
        let open = Load::Open { arrivals, connections: 4, max_connections };
        assert_eq!(Flags::of(&open).words().join(" "), flags);
    }
    let sessions = Load::Sessions { arrivals: Arrivals::Constant(rate), calls: 3, max_connections };
    assert_eq!(Flags::of(&sessions).words().join(" "), "--sessions 2500.5 --calls 3");
}
