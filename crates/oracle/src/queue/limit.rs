//! A hard limit: a bucket that is filled with tokens at a constant rate. A request that finds none is refused.

use std::str::FromStr;

/// So many requests are let through each second, and no more than a burst of them at once.
///
/// As text: `1000,50`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateLimit {
    /// Tokens that come each second.
    per_s: f64,
    /// Tokens that the bucket holds; it is full at the start.
    burst: u32,
}

impl FromStr for RateLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<RateLimit, String> {
        let wrong = || no_limit(text);
        let (per_s, burst) = text.split_once(',').ok_or_else(wrong)?;
        let per_s = per_s.trim().parse().map_err(|_| wrong())?;
        let limit = RateLimit { per_s, burst: burst.trim().parse().map_err(|_| wrong())? };
        let is_possible = (0.001..=1e9).contains(&limit.per_s) && 0 < limit.burst;
        is_possible.then_some(limit).ok_or_else(wrong)
    }
}

fn no_limit(text: &str) -> String {
    format!(
        "`{text}` is no limit of a rate; write requests a second, from 0.001 to 1e9, and how many may come at once, at \
         least 1: 1000,50"
    )
}

/// The bucket, also for simulations. It is kept as the instant at which it would be full again, so nothing has to be done between two requests.
#[derive(Debug)]
pub struct Bucket {
    /// How long a token takes to come.
    token_ns: f64,
    /// How long it takes until all tokens but one have come.
    slack_ns: f64,
    full_ns: f64,
}

impl Bucket {
    /// A full one.
    #[must_use]
    pub fn new(limit: RateLimit) -> Bucket {
        let token_ns = 1e9 / limit.per_s;
        Bucket { token_ns, slack_ns: token_ns * f64::from(limit.burst - 1), full_ns: 0.0 }
    }

    /// Whether a request that arrives at this instant finds a token, which it takes.
    pub fn takes(&mut self, arrived_ns: u64) -> bool {
        let arrived_ns = arrived_ns as f64;
        // A thousandth of a nanosecond is lost in the arithmetic.
        let has_token = self.full_ns - arrived_ns <= self.slack_ns + 1e-3;
        if has_token {
            self.full_ns = self.full_ns.max(arrived_ns) + self.token_ns;
        }
        has_token
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::Dice;

    fn bucket(text: &str) -> Bucket {
        Bucket::new(text.parse().unwrap())
    }

    /// The share that is refused of requests that come by chance at this rate.
    fn refused(text: &str, per_s: f64) -> f64 {
        let (mut bucket, mut dice) = (bucket(text), Dice::seeded(19));
        let (mut at_ns, count) = (0.0, 400_000);
        let refused = (0..count).filter(|_| {
            at_ns -= (1.0 - dice.unit()).ln() * 1e9 / per_s;
            !bucket.takes(at_ns as u64)
        });
        refused.count() as f64 / f64::from(count)
    }

    /// The share that M/D/1/K loses: a bucket of K tokens is a server with room for K, whose service is the time in which a
    /// token comes. By the chain of what a departure leaves behind.
    fn theory(rho: f64, room: usize) -> f64 {
        let mut arrivals = vec![(-rho).exp()];
        for count in 1..=room {
            arrivals.push(arrivals[count - 1] * rho / count as f64);
        }
        // Left behind by a departure, up to a factor: from p[0] = 1 each next one follows from the balance.
        let mut left = vec![1.0];
        for state in 0..room.saturating_sub(1) {
            let from_one_more =
                (1..=state).map(|from| left[from] * arrivals[state + 1 - from]).sum::<f64>();
            let next: f64 = left[state] - left[0] * arrivals[state] - from_one_more;
            left.push(next / arrivals[0]);
        }
        let empty = left[0] / left.iter().sum::<f64>();
        1.0 - 1.0 / (empty + rho)
    }

    #[test]
    fn a_bucket_refuses_the_share_that_queueing_theory_says() {
        // One token: Erlang's loss formula, which needs no chain.
        assert!((theory(0.8, 1) - 0.8 / 1.8).abs() < 1e-12);
        for (burst, rho) in [(1, 0.5), (1, 1.5), (2, 0.8), (5, 0.9), (20, 0.95), (20, 1.2)] {
            let found = refused(&format!("1000,{burst}"), 1000.0 * rho);
            let expected = theory(rho, burst);
            let wide = 0.002 + expected * 0.04;
            assert!((found - expected).abs() < wide, "{burst} {rho}: {found}, theory {expected}");
        }
        let (under, over) = (refused("1000,1000", 900.0), refused("1000,50", 2_000.0));
        assert!(under < 1e-4, "{under}");
        assert!((over - 0.5).abs() < 0.005, "what passes is the limit: {over}");
    }

    #[test]
    fn a_burst_passes_and_each_token_comes_at_its_time() {
        let mut bucket = bucket("1000,3");
        let mut takes = |us: u64| bucket.takes(us * 1_000);
        assert_eq!([(); 5].map(|()| takes(10)), [true, true, true, false, false]);
        assert_eq!([takes(1_009), takes(1_010), takes(1_011)], [false, true, false]);
        let much_later = 60_000_000;
        assert_eq!([(); 4].map(|()| takes(much_later)), [true, true, true, false]);
    }

    #[test]
    fn a_limit_is_read_or_refused_with_the_way_out() {
        assert_eq!("0.5,1".parse(), Ok(RateLimit { per_s: 0.5, burst: 1 }));
        for text in
            ["", "1000", "1000,", "0,5", "-1,5", "NaN,5", "inf,5", "1e10,5", "5,0", "5,-1", "5,1.5"]
        {
            let refusal = text.parse::<RateLimit>().unwrap_err().to_string();
            assert!(refusal.ends_with("1000,50"), "{text}: {refusal}");
        }
    }
}
