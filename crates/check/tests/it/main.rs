//! The catalogue against servers that are known: the oracle keeps every clause, and servers that do the same whatever they are
//! asked get next to nothing.

use check::{Help, Order, Target, Verdict, catalogue, check};
use oracle::{Config, Listen, Oracle};

struct Nobody;
impl Help for Nobody {}

#[test]
fn the_oracle_keeps_every_clause() {
    let oracle = Oracle::start(Config::default()).unwrap();
    let Listen::Tcp(address) = *oracle.address() else { panic!("not TCP") };
    let target = Target {
        posts: vec!["/user".into()],
        socket: Some("/wsecho".into()),
        ..Target::at(address)
    };
    let order = Order::new(target, catalogue().iter().collect());
    let report = check(&order, &Nobody, &mut |_| {});
    for finding in &report.findings {
        assert_eq!(finding.verdict, Verdict::Pass, "{}: {}", finding.id, finding.why);
    }
    let _ = oracle.stop();
}
