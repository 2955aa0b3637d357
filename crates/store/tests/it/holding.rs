//! Held connections with something in every field.

use std::collections::BTreeMap;

use lab::record::HeldRecord;
use load::{
    Broadcast, Distribution, Echoes, Folded, HoldWindow, Holding, Loss, Nanos, Plateau,
    PlateauTimes, SECOND, Still, WholeBeats,
};

/// The longest latency that held connections distinguish.
const LONGEST: Nanos = 100 * SECOND;

/// Two plateaus and three windows, which differ from one number to the next.
pub(crate) fn held(number: u32) -> HeldRecord {
    let n = u64::from(number);
    let holding = Holding {
        plateaus: vec![plateau(0, n), plateau(1, n)],
        windows: (0..3).map(|place| window(place, n)).collect(),
        closed_at: 20 * SECOND + n,
        was_halted: true,
    };
    HeldRecord { began: 2_000 + n, agents: Vec::new(), holding }
}

pub(crate) fn times(values: impl IntoIterator<Item = Nanos>) -> Distribution {
    let mut distribution = Distribution::new(LONGEST);
    values.into_iter().for_each(|value| distribution.record(value));
    distribution
}

pub(crate) fn plateau(place: u64, n: u64) -> Plateau {
    let from = place * 10 * SECOND;
    let mut response = times([n, 200 * SECOND]);
    response.record_censored(5 * SECOND);
    Plateau {
        times: PlateauTimes {
            connections: 1_000 * (place as usize + 1),
            from,
            measured_from: from + SECOND + n,
            until: from + 10 * SECOND,
        },
        begun: 1_010,
        begun_again: 10,
        opened: 1_003 + n,
        failed: losses(&["connect.refused", "connect.no_ports", "ws.bad_accept"], 3 + place),
        lost: losses(&["ws.goodbye", "recv.reset", "echo.wrong"], 7 + n),
        open: 990,
        opening: 4,
        silent: 5 * place,
        messages: 9_000 + n,
        bytes: 1 << 40,
        missed: u64::MAX - n,
        stamped: 8_999,
        security: None,
        connect: times((0..100).map(|step| 30_000 + step * step)),
        agree: times([place, 90_000, 100 * SECOND]),
        late: times((0..300).map(|step| 1_000 * step + n * place)),
        gap: times([SECOND, SECOND + 1_000_000]),
        own: times([]),
        echoes: Echoes { due: 9, blocked: 1, correct: 3, failed: 4, under_way: 1, response },
        broadcasts: broadcasts(place),
        cpu: 700_000_000 + n,
        measured: 9 * SECOND - n,
        whole: Some(WholeBeats { lasted: 8 * SECOND, messages: 8_000 + n }),
        still: Still { sum: 3_000_000 + n, overslept: 2_000_000, kept_waiting: 1_000_000 },
    }
}

/// These losses, the first occurring so often, each of the others once more than the one before. An unknown name stops
/// the test.
fn losses(names: &[&str], count: u64) -> [u64; Loss::COUNT] {
    let mut all = [0; Loss::COUNT];
    for (more, name) in (0..).zip(names) {
        all[Loss::named(name).expect(name).index()] = count + more;
    }
    all
}

/// The numbers are chosen by a server: some are larger than SQLite's integers, and longer ones need not sort after
/// shorter ones.
fn broadcasts(place: u64) -> BTreeMap<u64, Broadcast> {
    let received = |first| Broadcast { first, last: first + 5_000_000, received: 990 };
    match place {
        0 => BTreeMap::new(),
        _ => [7, 1 << 63, u64::MAX].into_iter().zip((1..).map(received)).collect(),
    }
}

fn window(place: u64, n: u64) -> HoldWindow {
    HoldWindow {
        open: 300 * place,
        opening: 3,
        begun: 310,
        opened: 300,
        failed: 4 + n,
        lost: 1,
        messages: 600 * place,
        bytes: 7_200,
        open_after: Folded::of(&times((0..30).map(|step| 90_000 + step * 1_000))),
        late: Folded::of(&times((0..place * 20).map(|step| step * 10_000 + n))),
        ..HoldWindow::new(place * SECOND, (place + 1) * SECOND)
    }
}
