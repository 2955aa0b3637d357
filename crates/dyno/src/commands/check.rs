//! `dyno check`: clause by clause, how much of the RFCs a server keeps.

use check::FailOn;
use clap::Args;
use load::Halt;
use report::check::list::Catalogue;
use report::check::{CheckResult, CheckedServer, FinishedCheck, Style, document, issue};
use report::render;

use crate::check::aim::{Address, Aim, Offers};
use crate::check::choice::Choice;
use crate::check::interview::{Interview, SubjectSetup};
use crate::interrupt::halt_on_interrupt;
use crate::order::tls::TrustFlags;
use crate::results::{OF_CASES, ResultFlags};
use crate::shell::{ExitStatus, Refusal, print};
use campaign::project::unknown;
use campaign::roster::Availability;
use campaign::{Lock, sweep};

/// Check a server against the RFCs, clause by clause: HTTP/1.1, HTTP/2, WebSocket
///
/// A server named in subjects/ is started for the check; one at http://… must be running, and of one at ws://… only the
/// WebSocket is checked. The result is never part of a speed figure.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct CheckFlags {
    /// Servers: names of subjects/, or http[s]://HOST:PORT/PATH, or ws[s]://HOST:PORT/PATH
    #[arg(value_name = "SERVER", required_unless_present_any = ["all", "list"])]
    servers: Vec<String>,
    /// Every server of subjects/ that can run here
    #[arg(long, conflicts_with = "servers")]
    all: bool,
    #[command(flatten)]
    choice: Choice,
    /// How often each case is played
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=20), default_value = "3")]
    rounds: u8,
    /// Print what one case found as an issue for the server's own tracker, in Markdown
    #[arg(long, value_name = "CASE")]
    #[arg(conflicts_with_all = ["all", "named", "areas", "list", "full", "format", "json", "markdown", "output"])]
    issue: Option<String>,
    /// Which broken clauses make the exit code 1: must, should, security or never
    #[arg(long, value_name = "WHAT", value_parser = fail_on, default_value = "must")]
    fail_on: FailOn,
    #[command(flatten)]
    offers: Offers,
    #[command(flatten)]
    trust: TrustFlags,
    /// Check HTTP/2 in place of HTTP/1.1 and WebSocket: with https:// also TLS below it, with http:// by prior knowledge
    #[arg(long, conflicts_with = "socket")]
    http2: bool,
    /// The owner of this address agrees to what could harm the server: smuggling, floods, slow clients
    #[arg(long)]
    i_may_probe_this_target: bool,
    /// Show the catalogue, and send nothing
    #[arg(long)]
    list: bool,
    /// Print all cases, with all that was sent and received
    #[arg(long)]
    full: bool,
    #[command(flatten)]
    results: ResultFlags<OF_CASES>,
}

const AFTER_HELP: &str = "\
That a server refuses a malformed request counts only if it accepted a well-formed one like it in the same round. \
After each case a plain request \
shows whether the server still answers. The worst of the rounds counts.

Examples:
  # a server of subjects/, started for the check
  dyno check go-net-http
  # a server that is running, with a path that sends a POST's body back
  dyno check http://localhost:8080/ --post /echo
  # a WebSocket alone
  dyno check ws://localhost:8080/feed
  # a server with a certificate of one's own authority
  dyno check https://localhost:8443/ --ca ca.pem
  # the same over HTTP/2, with TLS below it
  dyno check https://localhost:8443/ --ca ca.pem --http2
  # one finding, to be filed where the server is developed
  dyno check http://localhost:8080/ --issue H1-H02
  # every case: its clause, what it demands, what is sent, what passes
  dyno check --list --full

Exit codes:
  0    no clause is broken at the level of --fail-on
  1    a clause is broken at that level
  2    could not tell: no server answers, it cannot be started, or it does not speak HTTP/2
  130  interrupted; what was found until then is reported";

fn fail_on(word: &str) -> Result<FailOn, String> {
    FailOn::named(word).ok_or_else(|| "say must, should, security or never".into())
}

pub(crate) fn run(flags: &CheckFlags) -> Result<ExitStatus, Refusal> {
    flags.results.check(&[])?;
    flags.results.to_the_end(|| check(flags))
}

fn check(flags: &CheckFlags) -> Result<ExitStatus, Refusal> {
    let choice = Choice {
        named: flags.issue.iter().chain(&flags.choice.named).cloned().collect(),
        areas: flags.choice.areas.clone(),
        slow: flags.choice.slow || flags.list,
        http2: (flags.http2 || !flags.list).then_some(flags.http2),
    };
    let cases = choice.cases()?;
    if flags.issue.is_some() && (cases.len() != 1 || flags.servers.len() != 1) {
        return Err(Refusal::new("--issue is about one case of one server: name both in full"));
    }
    if flags.list {
        let list = Catalogue { cases: &cases, is_verbose: flags.full };
        flags.results.deliver(&list, flags.full)?;
        return Ok(ExitStatus::Yes);
    }
    let setup = prepare(flags)?;
    let halt = halt_on_interrupt()?;
    let interview = Interview {
        cases,
        rounds: usize::from(flags.rounds),
        may_probe: flags.i_may_probe_this_target,
        offers: &flags.offers,
        trust: &flags.trust,
        http2: flags.http2,
        halt: &halt,
    };
    let checked = checked(flags, &interview, &setup)?;
    finish(flags, &checked)?;
    Ok(answer(flags, &checked, &halt))
}

/// The servers to check, looked up before anything starts.
struct Servers {
    aims: Vec<Aim>,
    /// Where subjects are; none if only addresses were named.
    setup: Option<(SubjectSetup, Lock)>,
}

fn prepare(flags: &CheckFlags) -> Result<Servers, Refusal> {
    let aims = flags.servers.iter().map(|word| Aim::parse(word));
    let mut aims = aims.collect::<Result<Vec<Aim>, Refusal>>()?;
    let addresses = || aims.iter().filter_map(Aim::address);
    flags.trust.refuse_without(&addresses().map(Address::url).collect::<Vec<_>>())?;
    for address in addresses() {
        if flags.http2 && address.is_socket {
            return Err(Refusal::new(format!(
                "--http2: a WebSocket is checked over HTTP/1.1; leave --http2 out, or write {}",
                address.url().shown()
            )));
        }
        address.tls(&flags.trust, flags.http2)?;
    }
    let is_subject = |aim: &Aim| matches!(aim, Aim::Subject(_));
    if !flags.all && !aims.iter().any(is_subject) {
        return Ok(Servers { aims, setup: None });
    }
    if flags.offers.are_given() && aims.iter().all(is_subject) {
        return Err(Refusal::new(
            "--post and --socket are for addresses; a server's workloads say where it has what",
        ));
    }
    let setup = SubjectSetup::find()?;
    let known = setup.project.subjects();
    if flags.all {
        aims = known.iter().cloned().map(Aim::Subject).collect();
    }
    for aim in &aims {
        match aim {
            Aim::Subject(name) if !known.contains(name) => {
                let otherwise =
                    format!("`dyno servers list` shows them; an address is written http://{name}/");
                return Err(unknown("server", name, &known, &otherwise));
            }
            Aim::Subject(_) | Aim::Address(_) => {}
        }
    }
    let lock = Lock::take(&setup.project)?;
    if let Some(says) = sweep(&setup.project) {
        terminal::notice(&format!("dyno: {says}"));
    }
    Ok(Servers { aims, setup: Some((setup, lock)) })
}

/// Checks one server after the other. Text results are printed at once.
fn checked(
    flags: &CheckFlags,
    interview: &Interview<'_>,
    servers: &Servers,
) -> Result<Vec<CheckedServer>, Refusal> {
    let mut all = Vec::new();
    for aim in &servers.aims {
        if interview.halt.is_asked() {
            break;
        }
        let one = match (aim, &servers.setup) {
            (Aim::Address(address), _) => interview.of_address(address),
            (Aim::Subject(name), Some((setup, _))) => {
                let member = setup.member(name);
                if flags.all
                    && !matches!(member.state, Availability::Built { .. } | Availability::Buildable)
                {
                    let lack = member.lack().unwrap_or_default();
                    terminal::notice(&format!("{name} cannot run here: {lack}"));
                    continue;
                }
                interview.of_subject(setup, &member)
            }
            (Aim::Subject(_), None) => continue,
        };
        if flags.results.prints_text() && flags.issue.is_none() {
            let between = if all.is_empty() { "" } else { "\n" };
            let whole = document(&one, style(flags));
            print(&format!("{between}{}", render::text(&whole, terminal::screen())))?;
        }
        all.push(one);
    }
    Ok(all)
}

fn style(flags: &CheckFlags) -> Style {
    Style { is_verbose: flags.full, is_part: is_part(flags) }
}

/// Whether only a part of the catalogue is run.
fn is_part(flags: &CheckFlags) -> bool {
    !(flags.choice.named.is_empty() && flags.choice.areas.is_empty())
}

/// Prints what is printed when all servers were checked, and writes the files.
fn finish(flags: &CheckFlags, checked: &[CheckedServer]) -> Result<(), Refusal> {
    if flags.issue.is_some() {
        for one in checked {
            match issue(one) {
                Ok(text) => drop(print(&text)?),
                Err(why) => terminal::notice(&format!("dyno: {why}")),
            }
        }
        return Ok(());
    }
    let found = FinishedCheck { servers: checked, style: style(flags), fail_on: flags.fail_on };
    if !flags.results.prints_text() {
        return flags.results.deliver(&found, flags.full);
    }
    let printed = match 1 < checked.len() {
        true => {
            print(&format!("\n{}", render::text(&found.summary(), terminal::screen()))).map(drop)
        }
        false => Ok(()),
    };
    flags.results.write(&found, flags.full).and(printed)
}

fn answer(flags: &CheckFlags, checked: &[CheckedServer], halt: &Halt) -> ExitStatus {
    if halt.is_asked() {
        return ExitStatus::Interrupted;
    }
    let result: Vec<&CheckResult> =
        checked.iter().filter_map(|one| one.result.as_ref().ok()).collect();
    let is_told = |result: &&CheckResult| {
        let has_none = result.tally().applicable() == 0 && !result.target.is_http2;
        result.tally().tested() > 0 || has_none
    };
    let is_cut = result.iter().any(|result| !result.report.cut_short.is_empty());
    if result.len() < checked.len() || result.is_empty() {
        return ExitStatus::CouldNotTell;
    }
    if result.iter().any(|result| flags.fail_on.fails(&result.tally())) {
        ExitStatus::No
    } else if is_cut || !result.iter().all(is_told) {
        ExitStatus::CouldNotTell
    } else {
        ExitStatus::Yes
    }
}
