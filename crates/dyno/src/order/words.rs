//! An order's conditions in words.

use machine::ports::Ports;
use report::units;
use wire::AskError;

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

/// Which flag made a request impossible.
pub(crate) fn of_ask(error: &AskError) -> String {
    let flag = match error {
        AskError::Method(_) => "--method",
        AskError::Target(_) => "URL",
        AskError::Header(_) => "--header",
        AskError::Template(_) => "URL, --header or --body",
    };
    format!("{flag}: {error}")
}
