//! Engines around another one, for tests: each says what it does otherwise, and leaves the rest to the one within.

use super::{Break, Conn, Engine, Event, Idle, Slept};
use crate::Nanos;

pub(crate) trait Around {
    type Inner: Engine;

    fn inner(&self) -> &Self::Inner;

    fn inner_mut(&mut self) -> &mut Self::Inner;

    fn now(&self) -> Nanos {
        self.inner().now()
    }

    fn open(&mut self, conn: Conn) -> Result<(), Break> {
        self.inner_mut().open(conn)
    }

    fn close(&mut self, conn: Conn) {
        self.inner_mut().close(conn);
    }

    fn write(&mut self, conn: Conn, bytes: &[u8]) -> Result<usize, Break> {
        self.inner_mut().write(conn, bytes)
    }

    fn sleep(&mut self, deadline: Nanos, in_flight: usize) -> Slept {
        self.inner_mut().sleep(deadline, in_flight)
    }

    fn deliver(&mut self, deliver: &mut impl FnMut(Conn, Event<'_>, Nanos)) -> bool {
        self.inner_mut().deliver(deliver)
    }
}

impl<A: Around> Engine for A {
    fn now(&self) -> Nanos {
        Around::now(self)
    }

    fn open(&mut self, conn: Conn) -> Result<(), Break> {
        Around::open(self, conn)
    }

    fn close(&mut self, conn: Conn) {
        Around::close(self, conn);
    }

    fn write(&mut self, conn: Conn, bytes: &[u8]) -> Result<usize, Break> {
        Around::write(self, conn, bytes)
    }

    fn sleep(&mut self, deadline: Nanos, in_flight: usize) -> Slept {
        Around::sleep(self, deadline, in_flight)
    }

    fn deliver(&mut self, deliver: &mut impl FnMut(Conn, Event<'_>, Nanos)) -> bool {
        Around::deliver(self, deliver)
    }

    fn idle(&self) -> Idle {
        self.inner().idle()
    }

    fn cpu(&self) -> Nanos {
        self.inner().cpu()
    }
}

/// The engine within is the field `engine`.
macro_rules! around_engine {
    () => {
        type Inner = E;

        fn inner(&self) -> &E {
            &self.engine
        }

        fn inner_mut(&mut self) -> &mut E {
            &mut self.engine
        }
    };
}

pub(crate) use around_engine;
