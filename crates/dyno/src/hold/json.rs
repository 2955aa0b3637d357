//! The result of held connections, for programs. docs/hold.md explains every key.

use std::collections::BTreeMap;

use load::{Distribution, HoldWindow, Plateau};
use serde::Serialize;

use super::parts::{Held, LostProcess};
use super::told::{Kind, Spread, Wish, named};
use crate::verdict::Verdict;

#[derive(Serialize)]
struct Told<'a> {
    schema: &'static str,
    order: &'a Wish,
    kind: &'static str,
    addresses: &'a [String],
    processes: u64,
    was_halted: bool,
    lost_processes: Vec<Lost>,
    verdict: Worth<'a>,
    plateaus: Vec<Step>,
    seconds: Vec<Second>,
}

#[derive(Serialize)]
struct Lost {
    process: usize,
    at_s: f64,
    open: u64,
    says: String,
}

#[derive(Serialize)]
struct Worth<'a> {
    word: &'static str,
    doubts: Vec<Doubt<'a>>,
}

#[derive(Serialize)]
struct Doubt<'a> {
    id: &'static str,
    gravity: &'static str,
    says: &'a str,
    what_to_do: &'a str,
}

#[derive(Serialize)]
struct Step {
    asked: usize,
    from_s: f64,
    measured_from_s: f64,
    until_s: f64,
    books: Books,
    failed: BTreeMap<String, u64>,
    lost: BTreeMap<String, u64>,
    silent: u64,
    messages: u64,
    messages_per_s: Option<f64>,
    whole_beats_s: Option<f64>,
    messages_in_whole_beats: Option<u64>,
    bytes: u64,
    missed: u64,
    stamped: u64,
    connect: Times,
    agree: Times,
    late: Times,
    gap: Times,
    own: Times,
    echo: Option<Echo>,
    broadcasts: Vec<Broadcast>,
    cpu_s: f64,
    stood_still_s: f64,
    stood_still_longest_ms: f64,
}

/// begun of all steps so far = failed + lost of all steps so far + open + opening.
#[derive(Serialize)]
struct Books {
    begun: u64,
    begun_again: u64,
    opened: u64,
    failed: u64,
    lost: u64,
    open: u64,
    opening: u64,
}

#[derive(Serialize)]
struct Times {
    count: u64,
    censored: u64,
    mean_ms: f64,
    p50_ms: Option<f64>,
    p90_ms: Option<f64>,
    p99_ms: Option<f64>,
    p999_ms: Option<f64>,
    max_ms: Option<f64>,
    histogram: Spread,
}

#[derive(Serialize)]
struct Echo {
    due: u64,
    correct: u64,
    failed: u64,
    blocked: u64,
    under_way: u64,
    response: Times,
}

#[derive(Serialize)]
struct Broadcast {
    number: u64,
    heard: u64,
    first_ms: f64,
    last_ms: f64,
}

#[derive(Serialize)]
struct Second {
    from_s: f64,
    open: u64,
    opening: u64,
    begun: u64,
    failed: u64,
    lost: u64,
    messages: u64,
    bytes: u64,
    late_p50_ms: Option<f64>,
    late_p99_ms: Option<f64>,
    late_max_ms: Option<f64>,
}

/// All of it.
pub(crate) fn of(
    held: &Held,
    verdict: &Verdict,
    wish: &Wish,
    addresses: &[String],
    processes: u64,
) -> Result<String, serde_json::Error> {
    let holding = &held.holding;
    let told = Told {
        schema: "dyno-hold-1",
        order: wish,
        kind: match wish.kind {
            Kind::Chunks => "chunks",
            Kind::Events => "events",
            Kind::Socket => "websocket",
        },
        addresses,
        processes,
        was_halted: holding.was_halted,
        lost_processes: held.lost.iter().map(lost).collect(),
        verdict: worth(verdict),
        plateaus: holding.plateaus.iter().map(step).collect(),
        seconds: holding.windows.iter().map(second).collect(),
    };
    Ok(serde_json::to_string_pretty(&told)? + "\n")
}

fn lost(process: &LostProcess) -> Lost {
    Lost {
        process: process.number,
        at_s: seconds(process.at_ns),
        open: process.open,
        says: process.to_string(),
    }
}

fn worth(verdict: &Verdict) -> Worth<'_> {
    let doubts = verdict.doubts.iter().map(|doubt| Doubt {
        id: doubt.id,
        gravity: doubt.gravity.name(),
        says: &doubt.says,
        what_to_do: &doubt.what_to_do,
    });
    Worth { word: verdict.word(), doubts: doubts.collect() }
}

fn step(plateau: &Plateau) -> Step {
    let echoes = &plateau.echoes;
    Step {
        asked: plateau.times.connections,
        from_s: seconds(plateau.times.from),
        measured_from_s: seconds(plateau.times.measured_from),
        until_s: seconds(plateau.times.until),
        books: Books {
            begun: plateau.begun,
            begun_again: plateau.begun_again,
            opened: plateau.opened,
            failed: plateau.failed_in_all(),
            lost: plateau.lost_in_all(),
            open: plateau.open,
            opening: plateau.opening,
        },
        failed: named(&plateau.failed),
        lost: named(&plateau.lost),
        silent: plateau.silent,
        messages: plateau.messages,
        messages_per_s: plateau.messages_per_s(),
        whole_beats_s: plateau.whole.map(|whole| seconds(whole.lasted)),
        messages_in_whole_beats: plateau.whole.map(|whole| whole.messages),
        bytes: plateau.bytes,
        missed: plateau.missed,
        stamped: plateau.stamped,
        connect: times(&plateau.connect),
        agree: times(&plateau.agree),
        late: times(&plateau.late),
        gap: times(&plateau.gap),
        own: times(&plateau.own),
        echo: (0 < echoes.due).then(|| Echo {
            due: echoes.due,
            correct: echoes.correct,
            failed: echoes.failed,
            blocked: echoes.blocked,
            under_way: echoes.under_way,
            response: times(&echoes.response),
        }),
        broadcasts: plateau
            .broadcasts
            .iter()
            .map(|(&number, heard)| Broadcast {
                number,
                heard: heard.heard,
                first_ms: milliseconds(heard.first),
                last_ms: milliseconds(heard.last),
            })
            .collect(),
        cpu_s: seconds(plateau.cpu),
        stood_still_s: seconds(plateau.still.sum),
        stood_still_longest_ms: milliseconds(plateau.still.longest()),
    }
}

fn second(window: &HoldWindow) -> Second {
    let late = window.late.unfold();
    Second {
        from_s: seconds(window.from),
        open: window.open,
        opening: window.opening,
        begun: window.begun,
        failed: window.failed,
        lost: window.lost,
        messages: window.messages,
        bytes: window.bytes,
        late_p50_ms: at(&late, 0.5),
        late_p99_ms: at(&late, 0.99),
        late_max_ms: late.extremes().map(|(_, most)| milliseconds(most)),
    }
}

fn times(distribution: &Distribution) -> Times {
    Times {
        count: distribution.count(),
        censored: distribution.censored(),
        mean_ms: distribution.mean() / 1e6,
        p50_ms: at(distribution, 0.5),
        p90_ms: at(distribution, 0.9),
        p99_ms: at(distribution, 0.99),
        p999_ms: at(distribution, 0.999),
        max_ms: distribution.extremes().map(|(_, most)| milliseconds(most)),
        histogram: Spread::of(distribution),
    }
}

fn at(distribution: &Distribution, quantile: f64) -> Option<f64> {
    distribution.quantile(quantile).map(|found| milliseconds(found.value))
}

fn milliseconds(ns: u64) -> f64 {
    ns as f64 / 1e6
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}
