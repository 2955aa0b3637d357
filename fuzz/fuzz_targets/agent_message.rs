//! Any lines from the other side: no panic, no hang, no memory beyond what a line has; and what is read is written as the
//! same.
//!
//! The input's first byte chooses which side reads, or that the rest is an order or a result, or lines or files of a run
//! whose servers are elsewhere.
#![no_main]

use libfuzzer_sys::fuzz_target;
use post::{
    Agent, AgentAction, AgentEvent, Assignment, Coordinator, CoordinatorEvent, FromServers,
    Greeting, Lines, Measured, PROTOCOL, ProjectFiles, Ready, Reassembly, SECOND, Task, Terms,
    ToServers, decode, decode_whole, encode_task, encode_whole,
};

fuzz_target!(|input: &[u8]| {
    let [how, bytes @ ..] = input else { return };
    match how {
        4 => servers(bytes),
        5 => files(bytes),
        how => measured(how % 4, bytes),
    }
});

fn measured(how: u8, bytes: &[u8]) {
    match how {
        0 => agent(bytes),
        1 => coordinator(bytes),
        2 => {
            if let Ok(task) = decode_whole::<Task>(bytes) {
                let written = encode_task(&task).expect("it was read");
                let again = decode_whole::<Task>(&written).expect("what is written is read");
                assert_eq!(encode_task(&again).expect("it was read"), written);
            }
        }
        _ => {
            if let Ok(measured) = decode_whole::<Measured>(bytes) {
                let written = encode_whole(&measured).expect("it was read");
                decode_whole::<Measured>(&written).expect("what is written is read");
            }
        }
    }
}

/// Both sides of a run whose servers are elsewhere.
fn servers(bytes: &[u8]) {
    let (mut lines, mut wholes) = (Lines::default(), Reassembly::default());
    lines.receive(bytes, &mut |line| {
        if let Ok(ToServers::Part(part)) = line.clone().and_then(decode) {
            let digest = part.digest.clone();
            let _ = wholes.add(part);
            let _ = wholes.take(&digest);
        }
        let _ = line.and_then(decode::<FromServers>);
    });
}

/// Files are read as they were written, and none is outside its project.
fn files(bytes: &[u8]) {
    let Ok(files) = ProjectFiles::decode(bytes) else { return };
    assert!(files.all().iter().all(|file| !file.name.split('/').any(|part| part == "..")));
    let again = ProjectFiles::decode(&files.encode().expect("it was read"));
    assert_eq!(again.as_ref(), Ok(&files));
    assert_eq!(again.map(|files| files.folders()), Ok(files.folders()));
}

/// An agent, and whoever writes to it.
fn agent(bytes: &[u8]) {
    let mut agent = Agent::new(1, 0);
    let (mut lines, mut now) = (Lines::default(), 0);
    lines.receive(bytes, &mut |line| {
        let Ok(frame) = line.and_then(decode) else { return };
        now += SECOND / 4;
        let mut events = vec![AgentEvent::Heard { frame: Box::new(frame), at: now }];
        while let Some(event) = events.pop() {
            for action in agent.on(event, now) {
                match action {
                    AgentAction::Meet { .. } => events.push(AgentEvent::Met(Ok(Box::default()))),
                    AgentAction::Check { .. } => {
                        events.push(AgentEvent::Checked(Ok(Ready::default())));
                    }
                    _ => {}
                }
            }
        }
        agent.on(AgentEvent::Tick, now);
    });
}

/// A coordinator of two agents, and whoever writes for them.
fn coordinator(bytes: &[u8]) {
    let (dyno, by) = ("1".into(), "me".into());
    let greeting = Greeting { protocol: PROTOCOL, dyno, sha256: None, by, lease: 2 * SECOND };
    let terms = Terms {
        greeting,
        has_one_clock: true,
        meet_within: 60 * SECOND,
        arm_within: 60 * SECOND,
        lead: SECOND,
        goes_on: true,
    };
    let mut coordinator = Coordinator::new("r", 2, terms, 0);
    let (mut lines, mut now, mut agent) = (Lines::default(), 0, 0);
    lines.receive(bytes, &mut |line| {
        let Ok(frame) = line.and_then(decode) else { return };
        now += SECOND / 4;
        agent = 1 - agent;
        coordinator.on(CoordinatorEvent::Heard { agent, frame: Box::new(frame), at: now }, now);
        if now == SECOND {
            let course = Assignment { orders: vec![vec![1], vec![2]], lasts: None, grace: SECOND };
            coordinator.on(CoordinatorEvent::Begin(course), now);
        }
        coordinator.on(CoordinatorEvent::Tick, now);
    });
}
