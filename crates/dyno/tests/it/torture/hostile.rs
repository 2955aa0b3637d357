//! Servers that flood what checks them, and orders beyond what an agent's owner allows.

use std::time::Duration;

use super::{Dice, is_orderly};
use crate::agents_rig::Gate;
use crate::floods::{self, FLOODS};
use crate::rig::Rig;

pub(super) fn flooded(dice: &mut Dice) -> &'static str {
    let flood = *dice.one(&FLOODS);
    let areas =
        if flood.is_http2() { ["H2-F*", "H2-G*", "H2-B*"] } else { ["H1-F*", "H1-C*", "H1-T*"] };
    let area = *dice.one::<&str>(&areas);
    let (ran, _) = floods::check(flood, area);
    is_orderly(&ran);
    "ended within 200 MB"
}

/// What arrives at a server, counted by the server, is within the caps, whatever load is ordered.
pub(super) fn capped(dice: &mut Dice) -> &'static str {
    let (rig, gate) = (Rig::new(), Gate::new());
    let most = 20 + dice.roll(80) as u64;
    gate.opens(&format!("exec \"$DYNO\" agents run --stdio --max-rate {most} --max-duration 3s"));
    let number = dice.roll(150).to_string();
    let load = *dice.one(&[["-c", "2"], ["-r", &number], ["--sessions", &number]]);
    let rest =
        *dice.one(&[&["--no-keepalive"][..], &["--timeout", "1s"], &["--timeout", "1h"], &[]]);
    let load = [&["load", "{url}/hello", "--load-on", "ssh:desk2", "-d", "1s"], &load[..], rest];
    let ran = gate.start(&rig, &load.concat()).end();
    is_orderly(&ran);
    assert!(ran.took < Duration::from_secs(30), "{ran}");
    let came = rig.requests();
    // Requests of one second, and the one with which the second one begins.
    assert!(came <= most + 1, "{came} requests, and {most} a second are allowed: {ran}");
    if came == 0 { "refused" } else { "loaded within its caps" }
}
