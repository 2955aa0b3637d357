//! The shape of wrk's output.

use analysis::{Scatter, measured_s, throughput_per_s};

use super::Errors;
use crate::load::FinishedLoad;

fn stats(name: &str, scatter: &Scatter, written: fn(f64) -> String) -> String {
    format!(
        "    {name:<8}{}{}{}{:>8.2}%\n",
        padded(&written(scatter.mean), 10),
        padded(&written(scatter.sd), 10),
        padded(&written(scatter.max), 9),
        scatter.within_percent
    )
}

pub(super) fn text(run: &FinishedLoad, has_latency: bool) -> String {
    let (recording, total) = (&run.recording, &run.recording.total);
    let span = run.order.stop.duration.map_or(measured_s(recording), |span| span.as_secs_f64());
    let (latency, rate) = (Scatter::of_times(&total.response), Scatter::of_rates(recording));
    let mut text = format!(
        "Running {} test @ {}\n  {} threads and {} connections\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n",
        whole_time(span),
        run.asked.url,
        run.order.lanes,
        run.order.load.connections_max(),
    );

    text += &stats("Latency", &latency, time);
    text += &stats("Req/Sec", &rate, amount);
    if has_latency {
        text += "  Latency Distribution\n";
        for (percent, q) in [(50, 0.5), (75, 0.75), (90, 0.9), (99, 0.99)] {
            let value = total.response.quantile(q).map_or(0.0, |quantile| quantile.value as f64);
            text += &format!("    {percent:>3}%{}\n", padded(&time(value), 10));
        }
    }
    let seconds = measured_s(recording);
    text += &format!(
        "  {} requests in {}, {}B read\n",
        total.correct_inside,
        time(seconds * 1e9),
        bytes(total.bytes_received as f64)
    );
    text += &errors(run);
    let per_s = |amount: f64| if 0.0 < seconds { amount / seconds } else { 0.0 };
    let received = total.received_inside as f64;
    text + &format!(
        "Requests/sec: {:>9.2}\nTransfer/sec: {:>10}B\n",
        throughput_per_s(recording).unwrap_or(0.0),
        bytes(per_s(received))
    )
}

fn errors(run: &FinishedLoad) -> String {
    let Errors { connect, read, write, timeout, status } = Errors::of(run);
    let mut text = String::new();
    if 0 < connect + read + write + timeout {
        text = format!(
            "  Socket errors: connect {connect}, read {read}, write {write}, timeout {timeout}\n"
        );
    }
    match status {
        0 => text,
        wrong => text + &format!("  Non-2xx or 3xx responses: {wrong}\n"),
    }
}

/// A value, and blanks where its unit has fewer than two letters, so that numbers stand below one another.
fn padded(text: &str, width: usize) -> String {
    let letters = text.chars().rev().take_while(char::is_ascii_alphabetic).count().min(2);
    format!("{:>1$}{2}", text, width - (2 - letters), " ".repeat(2 - letters))
}

/// `10s`, `2m`; `1.06s` where it is no whole number of seconds.
fn whole_time(seconds: f64) -> String {
    match seconds {
        seconds if 60.0 <= seconds && seconds % 60.0 == 0.0 => format!("{}m", seconds / 60.0),
        seconds if seconds.fract() == 0.0 => format!("{seconds}s"),
        seconds => time(seconds * 1e9),
    }
}

/// Nanoseconds as `635.91us`, `12.92ms`, `1.01s`.
fn time(ns: f64) -> String {
    match ns / 1e3 {
        us if 1e6 <= us => scaled(us / 1e6, 60.0, &["s", "m", "h"]),
        us => scaled(us, 1e3, &["us", "ms", "s"]),
    }
}

/// `56.20k`
fn amount(value: f64) -> String {
    scaled(value, 1e3, &["", "k", "M", "G"])
}

/// `17.76G`
fn bytes(value: f64) -> String {
    scaled(value, 1_024.0, &["", "K", "M", "G", "T", "P"])
}

/// A unit is left where less than 15 % are missing to the next.
fn scaled(mut value: f64, scale: f64, units: &[&str]) -> String {
    let mut unit = 0;
    while unit + 1 < units.len() && 0.85 * scale <= value {
        value /= scale;
        unit += 1;
    }
    format!("{value:.2}{}", units[unit])
}
