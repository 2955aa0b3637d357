//! An order's conditions in words.

use machine::ports::Ports;
use wire::StatusRule;

use super::flags::AskingFlags;

/// A sentence about ports, if one is needed.
pub(crate) fn of_ports(ports: &Ports) -> Option<String> {
    match ports {
        Ports::Enough => None,
        Ports::Spread(sources) => Some(format!(
            "note: closed connections hold their ports for a while; connecting from {} loopback \
             addresses in turn, 127.0.0.1 to {}",
            sources.len(),
            sources.last()?
        )),
        Ports::Short { needed, there, held_s } => Some(format!(
            "warning: this may need {} local ports at once (a closed connection holds its port for \
             {held_s} s), and there are {}; give more addresses with --source, or a lower rate",
            units::count(*needed),
            units::count(*there)
        )),
    }
}

/// The status that an answer must have.
pub(crate) fn status(rule: Option<StatusRule>) -> String {
    match rule.unwrap_or_default() {
        StatusRule::Success => "2xx".into(),
        StatusRule::Exactly(status) => status.to_string(),
        StatusRule::Any => "any".into(),
    }
}

/// What else it must have, as the flags say it.
pub(crate) fn expected(asking: &AskingFlags, same_body: bool) -> String {
    let field = |(name, value): &(String, String)| format!("header {name}: {value}");
    let fields = asking.expect_header.iter().map(field);
    let body = asking.expect_body.iter().map(|body| format!("body {body}"));
    let same = same_body.then(|| "the body of the first answer".to_string());
    fields.chain(body).chain(same).collect::<Vec<_>>().join(", ")
}

/// `1,3`, as --load-cpus takes them.
pub(crate) fn numbers(numbers: &[usize]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}
