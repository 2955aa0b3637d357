//! The queue against what queueing theory says of it, in simulated time: no socket, no sleep.

use super::*;
use crate::queue::Queue;

const US: u64 = 1_000;
const MS: u64 = 1_000_000;

/// Requests that come by chance, at so many a second.
struct Poisson {
    dice: Dice,
    at_ns: f64,
    per_s: f64,
}

impl Poisson {
    fn at(per_s: f64) -> Poisson {
        Poisson { dice: Dice::seeded(2027), at_ns: 0.0, per_s }
    }

    fn next_ns(&mut self) -> u64 {
        self.at_ns -= (1.0 - self.dice.unit()).ln() * 1e9 / self.per_s;
        self.at_ns as u64
    }
}

fn queue(servers: u32, law: &str) -> Queue {
    Queue { servers, seed: 7, ..Queue::of(law.parse().unwrap()) }
}

/// Without a stall, a collapse or a lottery.
fn shop(servers: u32, law: &str) -> Servers {
    Servers::new(&queue(servers, law), None).unwrap()
}

/// The shares of the requests that are in the system for longer than each of these, in milliseconds.
fn longer(mut servers: Servers, per_s: f64, count: u32, than_ms: &[f64]) -> Vec<f64> {
    let mut arrivals = Poisson::at(per_s);
    let mut longer = vec![0_u32; than_ms.len()];
    for _ in 0..count {
        let arrived_ns = arrivals.next_ns();
        let stay_ms = (servers.serve(arrived_ns, None).done_ns - arrived_ns) as f64 / 1e6;
        for (longer, than_ms) in longer.iter_mut().zip(than_ms) {
            *longer += u32::from(*than_ms < stay_ms);
        }
    }
    longer.iter().map(|longer| f64::from(*longer) / f64::from(count)).collect()
}

/// The found shares are those of theory, each up to some part of it.
fn check(name: &str, servers: Servers, per_s: f64, theory: &[(f64, f64, f64)]) {
    let than_ms: Vec<f64> = theory.iter().map(|(ms, ..)| *ms).collect();
    let found = longer(servers, per_s, 1_500_000, &than_ms);
    for ((ms, expected, within), found) in theory.iter().zip(found) {
        let is_near = (found - expected).abs() <= within * expected;
        assert!(is_near, "{name}, over {ms} ms: {found}, theory {expected}");
    }
}

#[test]
fn one_server_with_exponential_services_is_m_m_1() {
    let theory = |per_s: f64, ms: f64| (-(2_000.0 - per_s) * ms / 1e3).exp();
    // Where one in a hundred takes longer: the capacities, as docs/serve.md has them.
    let (one, two) = (Some((5.0, 0.01, 0.1)), Some((10.0, 0.01, 0.15)));
    for (per_s, within, capacity) in
        [(500.0, 0.02, None), (1_079.0, 0.03, one), (1_539.5, 0.08, two)]
    {
        let mut at = [0.1, 0.5, 1.0, 2.0].map(|ms| (ms, theory(per_s, ms), within)).to_vec();
        at.extend(capacity);
        check("M/M/1", shop(1, "exponential:500us"), per_s, &at);
    }
}

/// The share that M/D/1 keeps waiting for longer than `wait`, in services, at this utilisation (Erlang; Crommelin).
fn waits_longer(wait: f64, rho: f64) -> f64 {
    let mut sum = 0.0;
    for served in 0..=wait as u32 {
        let left = rho * (wait - f64::from(served));
        let power: f64 = (1..=served).map(|factor| -left / f64::from(factor)).product();
        sum += power * left.exp();
    }
    1.0 - (1.0 - rho) * sum
}

#[test]
fn one_server_with_constant_services_is_m_d_1() {
    for (per_s, ms) in [(925.8, 2.0), (1_547.0, 5.0), (1_771.2, 10.0)] {
        let exactly = waits_longer((ms - 0.5) / 0.5, per_s / 2_000.0);
        assert!((exactly - 0.01).abs() < 1e-4, "the capacity for {ms} ms: {exactly}");
        let at = [(0.75, 0.03), (1.5, 0.15), (ms, 0.15)];
        let at =
            at.map(|(ms, within)| (ms, waits_longer((ms - 0.5) / 0.5, per_s / 2_000.0), within));
        check("M/D/1", shop(1, "constant:500us"), per_s, &at);
    }
}

/// The share of the requests that wait at all (Erlang C), where so many services are offered at once.
fn waits(servers: u32, offered: f64) -> f64 {
    let blocked = (1..=servers)
        .fold(1.0, |blocked, count| offered * blocked / (f64::from(count) + offered * blocked));
    let rho = offered / f64::from(servers);
    blocked / (1.0 - rho * (1.0 - blocked))
}

#[test]
fn several_servers_with_exponential_services_are_m_m_c() {
    assert!((waits(1, 0.7) - 0.7).abs() < 1e-12, "one server: the utilisation");
    for (count, per_s) in [(2, 1_200.0), (4, 3_000.0), (16, 14_000.0)] {
        let (mut servers, mut arrivals) = (shop(count, "exponential:1ms"), Poisson::at(per_s));
        let (mut over, than_ms, requests) = ([0_u32; 3], [0.0, 0.3, 1.0], 1_500_000);
        for _ in 0..requests {
            let waited_ns = servers.serve(arrivals.next_ns(), None).waited_ns;
            for (over, ms) in over.iter_mut().zip(than_ms) {
                *over += u32::from(ms < waited_ns as f64 / 1e6);
            }
        }
        for (over, ms) in over.into_iter().zip(than_ms) {
            let spare = f64::from(count) * 1_000.0 - per_s;
            let theory = waits(count, per_s / 1_000.0) * (-spare * ms / 1e3).exp();
            let found = f64::from(over) / f64::from(requests);
            assert!((found - theory).abs() < 0.05 * theory, "{count}: {found}, theory {theory}");
        }
    }
    // Wait and service together, as docs/serve.md has them: in both cases one in a hundred takes longer.
    for (per_s, than_ms) in [(2_424.9, 5.0), (3_500.9, 10.0)] {
        let spare = (4_000.0 - per_s) / 1e3;
        let services = f64::exp(-than_ms);
        let waited = services * (1.0 - f64::exp(-(spare - 1.0) * than_ms)) / (spare - 1.0);
        let theory = services + waits(4, per_s / 1e3) * waited;
        assert!((theory - 0.01).abs() < 1e-5, "{theory}");
        check("M/M/4", shop(4, "exponential:1ms"), per_s, &[(than_ms, 0.01, 0.15)]);
    }
}

#[test]
fn requests_are_served_in_the_order_of_arrival_by_whoever_is_free_first() {
    let mut servers = shop(2, "constant:10ms");
    let done: Vec<u64> =
        [0, 0, 1, 12, 13].iter().map(|ms| servers.serve(ms * MS, None).done_ns / MS).collect();
    assert_eq!(done, [10, 10, 20, 22, 30]);
    let own = Some("constant:1ms".parse().unwrap());
    let served = servers.serve(13 * MS, own);
    assert_eq!((served.waited_ns, served.service_ns, served.done_ns), (9 * MS, MS, 23 * MS));
    // Arrivals that two threads report in the other order.
    assert_eq!(servers.serve(60 * MS, None).done_ns, 70 * MS);
    assert_eq!(servers.serve(59 * MS, None).done_ns, 69 * MS);
}

#[test]
fn the_same_seed_serves_alike_and_another_one_does_not() {
    let done = |seed| {
        let queue = Queue { seed, lottery: 0.05, ..queue(3, "lognormal:1ms,0.7") };
        let mut servers = Servers::new(&queue, None).unwrap();
        [(); 50].map(|()| servers.serve(0, None).done_ns)
    };
    assert_eq!(done(1), done(1));
    assert_ne!(done(1), done(2));
}

#[test]
fn each_process_draws_its_speed_and_keeps_it() {
    let seeded = |seed| {
        Servers::new(&Queue { seed, lottery: 0.05, ..queue(1, "constant:1ms") }, None).unwrap()
    };
    let speeds: Vec<f64> = (0..2_000).map(|seed| seeded(seed).speed()).collect();
    assert!(speeds.iter().all(|speed| (0.95..=1.05).contains(speed)));
    let mean = speeds.iter().sum::<f64>() / 2_000.0;
    let slow = speeds.iter().filter(|speed| **speed < 0.975).count() as f64 / 2_000.0;
    assert!((mean - 1.0).abs() < 0.003 && (slow - 0.25).abs() < 0.04, "{mean} {slow}");
    let mut servers = seeded(3);
    for at_ms in [0, 1_000, 3_600_000] {
        let expected = (1e6 / servers.speed()) as u64;
        assert_eq!(servers.serve(at_ms * MS, None).service_ns, expected);
    }
    assert!((shop(1, "constant:1ms").speed() - 1.0).abs() < 1e-12);
}

#[test]
fn what_has_collapsed_stays_so_and_a_fresh_process_does_not() {
    let fresh = || {
        let collapse = Some("100ms,4".parse().unwrap());
        Servers::new(&Queue { collapse, ..queue(1, "constant:1ms") }, None).unwrap()
    };
    let mut servers = fresh();
    for request in 0..100_000 {
        assert_eq!(servers.serve(request * MS, None).service_ns, MS, "it keeps up");
    }
    assert_eq!(servers.collapsed_ns(), None);
    let at_ns = 200_000 * MS;
    let services = [(); 103].map(|()| servers.serve(at_ns, None).service_ns);
    assert!(services[..101].iter().all(|ns| *ns == MS), "a wait of 100 ms does no harm");
    assert_eq!(services[101..], [4 * MS, 4 * MS]);
    assert_eq!(servers.collapsed_ns(), Some(at_ns));
    let hours = at_ns + 36_000_000 * MS;
    assert_eq!(servers.serve(hours, None).service_ns, 4 * MS, "no rest helps it");
    assert_eq!((servers.collapsed_ns(), fresh().serve(hours, None).service_ns), (Some(at_ns), MS));
}

#[test]
fn in_a_stall_all_service_stands_still() {
    let stall = Some("1s/20s".parse().unwrap());
    let mut servers = Servers::new(&queue(1, "constant:500us"), stall).unwrap();
    // One each millisecond, of which one is being served when a freeze begins: the backlog of a freeze is gone a second
    // after it.
    let (mut late, periods) = ([0_u32; 3], 10);
    for arrived in 19_999..20_000 * (1 + periods) {
        let arrived_ns = arrived * MS + 800 * US;
        let served = servers.serve(arrived_ns, None);
        let stay_ns = served.done_ns - arrived_ns;
        assert!(stay_ns <= 1_001 * MS && served.service_ns == 500 * US);
        assert!(served.done_ns / MS % 20_000 >= 1_000, "done in a freeze: {}", served.done_ns);
        for (late, over_ms) in late.iter_mut().zip([10, 500, 990]) {
            *late += u32::from(over_ms * MS < stay_ns);
        }
    }
    // Half of what the servers can do: a stay of more than x is that of 2 (1 s - x) in 20 s.
    for (late, theory) in late.into_iter().zip([1_980, 1_000, 20]) {
        let found = late / periods as u32;
        assert!(found.abs_diff(theory) <= 2, "{found} each time, theory {theory}");
    }
}

#[test]
fn nothing_overflows() {
    let stall = Some("86399s/86400s".parse().unwrap());
    let collapse = Some("0,1000".parse().unwrap());
    let slow = Queue { collapse, ..queue(1, "constant:3600s") };
    for stall in [stall, None] {
        let mut servers = Servers::new(&slow, stall).unwrap();
        let last = (0..2_000_000).map(|_| servers.serve(0, None)).last();
        assert!(last.is_some_and(|served| served.done_ns <= NEVER));
        servers.serve(NEVER, None);
    }
}
