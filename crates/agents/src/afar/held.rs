//! Whether what an agent reports of held connections can be of this order. It is not believed: a figure may not be so
//! large that sums overflow, nor a step lie where the ramp has none.

use load::{HoldOrder, HoldWindow, Holding, Plateau, SECOND, Sends};

/// No count of an agent is higher.
const COUNT_MAX: u64 = 1 << 50;
/// After the end, connections may take so long to close.
const CLOSING_MAX: u64 = 60 * SECOND;

pub(super) fn check_window(window: &HoldWindow, order: &HoldOrder) -> Result<(), String> {
    let latest = order.ramp.end().saturating_add(CLOSING_MAX);
    if window.until < window.from || latest < window.from {
        return Err("it reported a second that the ramp has not".into());
    }
    let HoldWindow { open, opening, begun, opened, failed, lost, messages, bytes, .. } = *window;
    no_more(&[open, opening, begun, opened, failed, lost, messages, bytes])
}

pub(super) fn check(holding: &Holding, order: &HoldOrder) -> Result<(), String> {
    if order.ramp.plateaus() < holding.plateaus.len() {
        return Err("it has more steps than the ramp".into());
    }
    no_more(&[holding.closed_at])?;
    for (number, plateau) in holding.plateaus.iter().enumerate() {
        if plateau.times != order.ramp.plateau(number) {
            return Err(format!("its step {} is none of the ramp", number + 1));
        }
        check_plateau(plateau, order)?;
    }
    Ok(())
}

fn check_plateau(plateau: &Plateau, order: &HoldOrder) -> Result<(), String> {
    let echoes = &plateau.echoes;
    no_more(&plateau.failed)?;
    no_more(&plateau.lost)?;
    no_more(&[plateau.begun, plateau.begun_again, plateau.opened, plateau.open, plateau.opening])?;
    no_more(&[plateau.silent, plateau.messages, plateau.bytes, plateau.stamped])?;
    no_more(&[echoes.due, echoes.blocked, echoes.correct, echoes.failed, echoes.under_way])?;
    no_more(&[plateau.cpu, plateau.measured, plateau.still.sum])?;
    if let Some(whole) = plateau.whole {
        no_more(&[whole.lasted, whole.messages])?;
    }
    let texts = match &order.sends {
        Some(Sends::Broadcast { every }) => {
            order.ramp.end() / u64::try_from(every.as_nanos()).unwrap_or(u64::MAX).max(1) + 2
        }
        Some(Sends::Echo { .. }) | None => 0,
    };
    if texts < plateau.broadcasts.len() as u64 {
        return Err("it received more texts than were sent".into());
    }
    plateau.broadcasts.values().try_for_each(|one| no_more(&[one.received, one.first, one.last]))
}

fn no_more(counts: &[u64]) -> Result<(), String> {
    match counts.iter().find(|count| COUNT_MAX < **count) {
        Some(count) => Err(format!("it counted {count}, which is too many")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use load::{HoldWhat, Ramp, Target};
    use wire::socket_ask;

    use super::*;

    fn order() -> HoldOrder {
        let (every, settle) = (Duration::from_secs(10), Duration::from_secs(1));
        let ramp = Ramp { connections: 20, step: 10, every, per_second: 100.0, settle };
        let what = HoldWhat::Socket { ask: socket_ask("h", "/", &[]).unwrap() };
        HoldOrder::new(Target::Tcp("127.0.0.1:1".parse().unwrap()), what, ramp)
    }

    fn holding(order: &HoldOrder) -> Holding {
        let step = |number| Plateau { times: order.ramp.plateau(number), ..Plateau::default() };
        Holding {
            plateaus: vec![step(0), step(1)],
            windows: Vec::new(),
            closed_at: 20 * SECOND,
            was_halted: false,
        }
    }

    #[test]
    fn what_is_not_of_the_ramp_is_refused() {
        let order = order();
        assert_eq!(check(&holding(&order), &order), Ok(()));
        let refused = |change: fn(&mut Holding), says: &str| {
            let mut wrong = holding(&order);
            change(&mut wrong);
            let error = check(&wrong, &order).unwrap_err();
            assert!(error.contains(says), "{error}");
        };
        refused(|it| it.plateaus.push(Plateau::default()), "more steps");
        refused(|it| it.plateaus.swap(0, 1), "step 1 is none");
        refused(|it| it.plateaus[1].begun = u64::MAX, "too many");
        refused(|it| it.plateaus[0].lost[1] = u64::MAX, "too many");
        let text = load::Broadcast { first: 1, last: 2, received: 1 };
        let mut wrong = holding(&order);
        wrong.plateaus[0].broadcasts.insert(7, text);
        assert!(check(&wrong, &order).unwrap_err().contains("more texts"));
    }

    #[test]
    fn a_second_beyond_the_ramp_is_refused() {
        let order = order();
        let second = |from: u64| HoldWindow::new(from * SECOND, (from + 1) * SECOND);
        assert_eq!(check_window(&second(19), &order), Ok(()));
        assert!(check_window(&second(1 << 33), &order).is_err());
        let many = HoldWindow { open: u64::MAX, ..second(1) };
        assert!(check_window(&many, &order).unwrap_err().contains("too many"));
    }
}
