//! What happens in a run, as it is told to the machine from which the run was ordered.

use std::path::Path;

use agents::servers::HostSession;
use lab::build::last_bytes;
use lab::record::TrialKey;
use lab::trial;
use post::FromServers;

use crate::event::Event;

/// So much of a build's log is told.
const TAIL_MAX: u64 = 8 << 10;
const TAIL_LINES: usize = 20;

/// Tells what happens; what is kept goes another way.
pub(super) fn tell(session: &HostSession, event: &Event<'_>) {
    match event {
        Event::Notice(says) => session.say(FromServers::Notice { says: says.to_string() }),
        Event::Building { name, command } => {
            let (name, command) = (name.to_string(), command.to_string());
            session.say(FromServers::Building { name, command });
        }
        Event::Excluded { subject, why } => {
            let (subject, why) = (subject.to_string(), why.to_string());
            session.say(FromServers::Excluded { subject, why });
        }
        Event::Checks { subjects, cases } => {
            let (subjects, cases) = (*subjects, *cases);
            session.say(FromServers::Checks { subjects, cases });
        }
        Event::Checking { subject, place, subjects, done, cases } => {
            session.mention(FromServers::Checking {
                subject: subject.to_string(),
                place: *place,
                subjects: *subjects,
                done: *done,
                cases: *cases,
            });
        }
        Event::Left(keys) => {
            let trials = keys.iter().map(|key| key.number).collect();
            session.say(FromServers::Left { trials });
        }
        Event::FirstRoundKept => session.say(FromServers::FirstRoundKept),
        Event::Begun(key) => session.say(FromServers::Begun { trial: key.number }),
        Event::Trial(key, event) => within(session, key, event),
        Event::Abandoned => session.say(FromServers::Abandoned),
        Event::Again(key) => session.say(FromServers::Again { trial: key.number }),
        Event::BuildFailed { name, log } => {
            let (name, tail) = (name.to_string(), tail(log));
            session.say(FromServers::BuildLog { name, tail });
        }
        Event::BuildLog { .. } | Event::Checked(_) | Event::Together(_) | Event::Kept(_) => {}
        // A run on the host of its servers has no searches and no profiles.
        Event::Searching(_)
        | Event::Tried { .. }
        | Event::Sampling { .. }
        | Event::SamplingEnded => {}
    }
}

/// The last that was written to a file.
fn tail(log: &Path) -> String {
    let text = last_bytes(log, TAIL_MAX).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n")
}

fn within(session: &HostSession, key: &TrialKey, event: &trial::Event<'_>) {
    let trial = key.number;
    match event {
        trial::Event::Launched { pid, port } => {
            session.say(FromServers::Launched { trial, pid: *pid, port: *port });
        }
        trial::Event::Ready(after) => session.say(FromServers::Ready { trial, after: *after }),
        trial::Event::Checked(check) => {
            let (ask, wrong) = (check.ask.clone(), check.wrong.clone());
            session.say(FromServers::Answered { trial, ask, wrong });
        }
        trial::Event::Glance(_, vitals) | trial::Event::Held(_, vitals) => {
            session.mention(FromServers::Vitals { cpu: vitals.cpu, memory: vitals.memory });
        }
        // The agents, if there are any, were met by the machine that is told.
        trial::Event::Agents(_) => {}
    }
}
