//! A connection's requests: what each of them gets, and when.

use super::{Conn, Phase};
use crate::answer::{Answer, Circumstances, Next, write_refusal};
use crate::faults::Change;
use crate::instructions::{Arrived, Befalls, instructions};
use crate::play::{Ask, Play};
use crate::request::{Head, Refusal};
use crate::resource::Resource;
use crate::socket::Socket;
use crate::state::{ThreadState, now_ns};

impl Conn {
    pub(super) fn request(
        &mut self,
        head: &Head<'_>,
        arrived: Arrived<'_>,
        content: &[u8],
        state: &mut ThreadState,
    ) {
        self.began_ns = 0;
        self.has_requested = true;
        let reply = state.config().reply.clone();
        let answer = Answer::chosen(reply.as_deref(), head, content, state.config());
        let ask = || Ask {
            head: arrived.head.to_vec(),
            content: content.to_vec(),
            arrived_ns: arrived.ns,
        };
        if let Phase::Playing(play) = &mut self.phase {
            state.count(answer.resource);
            play.take(ask());
            return;
        }
        if state.shared.is_limited(self.arrived_ns) {
            return self.decline(head, state);
        }
        let befalls = if answer.is_socket() { Befalls::Socket } else { Befalls::Request };
        let instructions = match instructions(head, arrived, &answer, befalls, state) {
            Ok(instructions) => instructions,
            Err(refusal) => return self.refuse(refusal, state),
        };
        state.count(answer.resource);
        let due_ns = instructions.due_ns;
        let due_ns = state.shared.thaw_ns(due_ns).unwrap_or(due_ns);
        if let Some(fault) = instructions.fault {
            state.books.faults += 1;
            self.phase = Phase::Playing(Box::new(Play::fault(&fault, Some(ask()), due_ns)));
        } else if due_ns > self.arrived_ns {
            self.phase = Phase::Playing(Box::new(Play::delayed(ask(), due_ns)));
        } else {
            self.answer(head, &answer, state);
        }
    }

    /// The hot path: an answer at once.
    fn answer(&mut self, head: &Head<'_>, answer: &Answer<'_>, state: &mut ThreadState) {
        state.burn();
        let persists = !answer.is_last(head);
        let delay_ns = state.config().tell_delay.then(|| now_ns() - self.arrived_ns);
        let around = Circumstances { date: &state.date(self.arrived_ns), delay_ns, persists };
        self.owed += 1;
        self.ending = !persists;
        match answer.write(head, Change::Right, &around, &mut state.out) {
            Next::Nothing => {}
            Next::Beats(rhythm, wrap) => {
                let play = Play::beats(rhythm, wrap, state, self.arrived_ns);
                self.phase = Phase::Playing(Box::new(play));
            }
            Next::Socket(role) => {
                let socket = Socket::begin(role, state, self.arrived_ns);
                self.phase = Phase::Conversing(Box::new(socket));
            }
        }
    }

    /// Beyond the limit of the rate: the answer comes at once, and its time is none that the books keep.
    fn decline(&mut self, head: &Head<'_>, state: &mut ThreadState) {
        let answer = Answer::limited();
        state.count(answer.resource);
        state.books.limited += 1;
        state.books.answers += 1;
        let persists = !answer.is_last(head);
        self.ending = !persists;
        let around = Circumstances { date: &state.date(self.arrived_ns), delay_ns: None, persists };
        answer.write(head, Change::Right, &around, &mut state.out);
    }

    pub(super) fn refuse(&mut self, refusal: Refusal, state: &mut ThreadState) {
        state.count(Resource::Refused);
        state.books.answers += 1;
        write_refusal(refusal, &state.date(self.arrived_ns), &mut state.out);
        self.intake = None;
        self.ending = true;
        // A part of the request may still be on its way: it must be drained before the connection is closed.
        self.readable = true;
    }
}
