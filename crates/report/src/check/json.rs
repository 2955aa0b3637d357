//! Checks as JSON, `dyno.check/1`: every finding with its bytes.

use check::{Area, Finding, Stamp, VerdictCounts, stamp};

use super::{CheckResult, CheckedServer};
use crate::json::{AreaJson, FindingJson, ProtocolJson, json_type};

json_type! {
    /// How much of the RFCs each server keeps.
    pub(crate) struct CheckDocument<'c> as "check", "dyno.check/1" of checked: [CheckedServer] {
        /// how each server did, in plain words
        sentence: String = checked.iter().map(sentence).collect::<Vec<_>>().join(" "),
        /// which cases there are
        catalogue: Stamp = stamp(),
        /// each server that was to be checked
        servers: Vec<ServerJson<'c>> = checked.iter().map(ServerJson::from).collect(),
    }
}

json_type! {
    /// A server that was to be checked.
    struct ServerJson<'c> as "server" of checked: CheckedServer {
        #[serde(flatten)]
        checked: &'c CheckedServer = checked,
        /// its version; empty if it is not known
        version: &'c str = checked.version(),
        /// why it could not be checked; null if it was
        error: Option<&'c str> = checked.result.as_ref().err().map(String::as_str),
        /// what was found; null if it could not be checked
        check: Option<CheckJson<'c>> = checked.result.as_ref().ok().map(CheckJson::from),
    }
}

json_type! {
    /// What was found of one server.
    struct CheckJson<'c> as "checked_server" of result: CheckResult {
        /// its address
        address: String = result.target.address.to_string(),
        /// the path that is requested
        page: &'c str = &result.target.get,
        /// the paths that take a body
        posts: &'c [String] = &result.target.posts,
        /// the path of its WebSocket; null if it has none
        socket: Option<&'c str> = result.target.socket.as_deref(),
        /// whether it was sent what could harm a server that others use
        sent_what_could_harm: bool = result.was_rude,
        /// how often each case was played
        rounds: usize = result.report.rounds,
        /// how long it took
        took_s: f64 = result.report.took_ms as f64 / 1e3,
        /// why the check ended early; null if it did not
        cut_short: Option<&'c str> =
            Some(result.report.cut_short.as_str()).filter(|says| !says.is_empty()),
        /// the cases of each protocol
        protocols: Vec<ProtocolJson> =
            result.tallies().iter().map(|(of, tally)| ProtocolJson::of(of, tally)).collect(),
        /// the cases of each area
        areas: Vec<AreaJson> = areas(result),
        /// every case
        findings: Vec<FindingJson<'c>> =
            result.report.findings.iter().map(FindingJson::from).collect(),
    }
}

/// `A server: HTTP/1.1 pass 150 of 158 …`, or why it could not be checked.
fn sentence(checked: &CheckedServer) -> String {
    let says = match &checked.result {
        Err(why) => format!("not checked: {why}"),
        Ok(result) => {
            let of_each = result.tallies().into_iter();
            let says = of_each.map(|(protocol, of)| format!("{} {of}", protocol.name()));
            says.collect::<Vec<_>>().join("; ")
        }
    };
    // Only a server of a project has a title.
    let name = if checked.title.is_empty() { &checked.name } else { &checked.title };
    format!("{name}: {says}.")
}

fn areas(result: &CheckResult) -> Vec<AreaJson> {
    let area_json = |area: &Area| {
        let own = result.report.findings.iter().filter(|finding| finding.area == *area);
        let own: Vec<&Finding> = own.collect();
        (!own.is_empty()).then(|| AreaJson::of(area, &VerdictCounts::of(own)))
    };
    Area::ALL.iter().filter_map(area_json).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_without_a_title_is_called_by_its_address() {
        let (name, title) = ("http://127.0.0.1:8080/".into(), String::new());
        let checked = CheckedServer { name, title, result: Err("gone".into()) };
        assert_eq!(sentence(&checked), "http://127.0.0.1:8080/: not checked: gone.");
        let page = crate::render::markdown(&super::super::document::summary(&[checked], false));
        assert!(page.starts_with("**Conformance**\n"), "{page}");
    }
}
