use super::*;

#[test]
fn the_command_that_runs_it_anew_says_where() {
    let again = |facts: &[(&str, &str)]| {
        let fact = |&(name, value): &(&str, &str)| Fact { name: name.into(), value: value.into() };
        let facts = facts.iter().map(fact).collect();
        RunRecord { facts, name: "e".into(), ..RunRecord::default() }.again()
    };
    let local = [("load.on", "local:2"), ("subject.address", "127.0.0.1")];
    assert_eq!(again(&local), "dyno run e --load-on local:2");
    let far = [("load.on", "ssh:a,b:cpus=0-1"), ("subject.address", "10.0.0.5")];
    assert_eq!(again(&far), "dyno run e --load-on ssh:a,b:cpus=0-1 --listen-on 10.0.0.5");
    // The machine from which the run was ordered has loaded.
    let desk = [("subject.on", "ssh:x"), ("load.on", "desk"), ("subject.address", "127.0.0.1")];
    assert_eq!(again(&desk), "dyno run e --server-on ssh:x");
}
