use super::*;
use crate::experiment::Change;
use crate::experiment::tests::read;
use crate::source_file::SourceFile;

fn run(name: &str, facts: &[(&str, &str)]) -> RunRecord {
    let fact = |&(name, value): &(&str, &str)| Fact { name: name.into(), value: value.into() };
    let facts = facts.iter().map(fact).collect();
    RunRecord { facts, name: name.into(), ..RunRecord::default() }
}

#[test]
fn the_command_that_runs_it_anew_says_where_and_what_was_changed() {
    let local = [("load.on", "local:2"), ("subject.address", "127.0.0.1")];
    assert_eq!(run("e", &local).again(), "dyno run e --load-on local:2");
    let far = [("load.on", "ssh:a,b:cpus=0-1"), ("subject.address", "10.0.0.5")];
    let command = "dyno run e --load-on ssh:a,b:cpus=0-1 --listen-on 10.0.0.5";
    assert_eq!(run("e", &far).again(), command);
    // The machine from which the run was ordered has loaded.
    let desk = [("subject.on", "ssh:x"), ("load.on", "desk"), ("subject.address", "127.0.0.1")];
    assert_eq!(run("e", &desk).again(), "dyno run e --server-on ssh:x");

    let text = "question = 'x'\nsubjects = ['a', 'b']\nworkload = 'u'\n\
                load = { closed = { connections = [1, 9] }, duration = '9s' }\n";
    let source = SourceFile { name: "experiments/e.toml".into(), ..SourceFile::default() };
    let whole = Experiment { source, ..read(text).unwrap() };
    let changes = [Change::Subjects(vec!["b".into()]), Change::Rounds(7)];
    let changed = whole.clone().with(&changes).unwrap();
    for (experiment, is_quick, facts, flags) in [
        (&whole, false, &[][..], ""),
        (&changed, false, &[], " --only b --rounds 7"),
        (&changed, true, &[(LEFT_OUT, "")], " --quick --no-check --only b --rounds 7"),
    ] {
        let experiment = Some(experiment.clone());
        let again = RunRecord { experiment, is_quick, ..run("e", facts) }.again();
        assert_eq!(again, format!("dyno run e{flags}"));
    }
}

#[test]
fn runs_are_of_one_group_if_they_measure_the_same() {
    let sides = [("b.js", "default"), ("a.js", "default"), ("dyno's oracle", "reference")];
    let entry = |(title, tier): (&str, &str)| Entry {
        title: title.into(),
        tier: tier.into(),
        ..Entry::default()
    };
    let load = [(LOAD, "dyno load …"), (REQUEST, "GET http://a/b")];
    let streams = [&load[..], &[(STREAMS, "4")]].concat();
    for (name, facts, group) in [
        ("x", &[(REQUEST, "GET /")][..], "x"),
        ("race", &[(RACE, "dyno race …")], "race of a.js and b.js"),
        ("load", &load, "load of GET http://a/b"),
        ("load", &streams, "load of GET http://a/b, over HTTP/2 (--streams 4)"),
    ] {
        let sides = if name == "load" { &sides[..1] } else { &sides };
        let entries = sides.iter().copied().map(entry).collect();
        assert_eq!(RunRecord { entries, ..run(name, facts) }.group(), group);
    }
}
