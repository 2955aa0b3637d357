//! Lines that were heard once, and are sent again by someone who kept them.

use super::greeting;
use crate::parcel::Outbox;
use crate::{
    Agent, AgentAction, AgentEvent, CoordinatorFrame, FromAgent, Nanos, Ready, SECOND, ToAgent,
};

/// An agent, and the time.
struct Heard {
    agent: Agent,
    now: Nanos,
}

impl Heard {
    /// What the agent does about a line; questions are answered with yes.
    fn line(&mut self, run: &str, meeting: u64, says: ToAgent) -> Vec<AgentAction> {
        let frame = Box::new(CoordinatorFrame { run: run.into(), meeting, says });
        self.event(AgentEvent::Heard { frame, at: self.now })
    }

    fn event(&mut self, event: AgentEvent) -> Vec<AgentAction> {
        let mut all = self.agent.on(event, self.now);
        let answers: Vec<AgentEvent> = all
            .iter()
            .filter_map(|action| match action {
                AgentAction::Meet { .. } => Some(AgentEvent::Met(Ok(Box::default()))),
                AgentAction::Check { .. } => Some(AgentEvent::Checked(Ok(Ready::default()))),
                _ => None,
            })
            .collect();
        answers.into_iter().for_each(|answer| all.extend(self.event(answer)));
        all
    }

    /// The number of the meeting that a greeting leads to.
    fn meet(&mut self, run: &str) -> u64 {
        let actions = self.line(run, 0, ToAgent::Hello(greeting()));
        let hello = actions.into_iter().find_map(|action| match action {
            AgentAction::Say(frame) if matches!(frame.says, FromAgent::Hello(_)) => Some(frame),
            _ => None,
        });
        hello.expect("they meet").meeting
    }
}

/// All that a coordinator sends for a trial.
fn trial(number: u64, origin: Nanos) -> Vec<ToAgent> {
    let mut says = vec![ToAgent::Arm { trial: number }];
    let parcels = Outbox::new(b"an order".to_vec()).due(0).into_iter();
    says.extend(parcels.map(|parcel| ToAgent::Parcel { trial: number, parcel }));
    says.push(ToAgent::Go { trial: number, origin });
    says
}

fn starts(actions: &[AgentAction]) -> usize {
    actions.iter().filter(|action| matches!(action, AgentAction::Start { .. })).count()
}

#[test]
fn lines_of_an_earlier_meeting_or_of_another_run_move_nothing() {
    let mut heard = Heard { agent: Agent::new(7, 0), now: SECOND };
    let first = heard.meet("a");
    let all = trial(1, 1_000 * SECOND);
    let begun: usize = all.iter().map(|says| starts(&heard.line("a", first, says.clone()))).sum();
    assert_eq!(begun, 1, "a trial begins once");
    let again: usize = all.iter().map(|says| starts(&heard.line("a", first, says.clone()))).sum();
    assert_eq!(again, 0, "and not again");
    heard.line("a", first, ToAgent::Bye);
    heard.event(AgentEvent::Ended { load: 1, result: Ok(Vec::new()) });
    // The old greeting leads to a new meeting, and none of the old lines is of that.
    let second = heard.meet("a");
    assert_ne!(first, second);
    for says in &all {
        assert!(heard.line("a", first, says.clone()).is_empty(), "{says:?}");
        assert!(heard.line("b", second, says.clone()).is_empty(), "{says:?}");
    }
    // They do not renew its lease either.
    heard.now += 3 * SECOND;
    heard.event(AgentEvent::Tick);
    heard.line("a", first, ToAgent::Beat { trial: 0, windows: 0 });
    heard.now += SECOND;
    let ended = heard.event(AgentEvent::Tick);
    assert!(ended.iter().any(|action| matches!(action, AgentAction::Part)), "{ended:?}");
}

#[test]
fn a_second_run_is_refused_with_the_first_ones_name() {
    let mut heard = Heard { agent: Agent::new(7, 0), now: SECOND };
    heard.meet("a");
    heard.now += 5 * SECOND;
    let actions = heard.line("b", 0, ToAgent::Hello(greeting()));
    let [AgentAction::Say(frame)] = &actions[..] else { panic!("{actions:?}") };
    assert_eq!((frame.run.as_str(), frame.meeting), ("b", 0));
    let FromAgent::Refused { says, .. } = &frame.says else { panic!("{frame:?}") };
    assert_eq!(says, "it is busy with a run of me, for 5 s now");
}
