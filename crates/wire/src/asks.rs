//! Several kinds of requests, and which of them comes when: by weight, or one after the other.

use serde::{Deserialize, Serialize};

use crate::ask::Ask;
use crate::chance::Chance;
use crate::expect::Expect;
use crate::h2::assign_places;
use crate::template::{Values, mix};

/// Kinds of requests, and which of them comes when.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "WrittenAsks", into = "WrittenAsks")]
pub struct Asks {
    asks: Vec<Ask>,
    choice: Choice,
}

#[derive(Clone, Debug)]
enum Choice {
    /// `upto[i]`: the weights of asks 0 to i together.
    ByWeight { upto: Vec<u64> },
    /// One after the other by the requests' numbers; after each `shift_after` numbers, one place further on.
    InTurn { shift_after: u64 },
}

impl Asks {
    /// What several of the requests have in common is worth a place in HTTP/2's table of fields before all else.
    fn new(mut asks: Vec<Ask>, choice: Choice) -> Asks {
        let mut prepared: Vec<_> = asks.iter_mut().flat_map(Ask::http2_mut).collect();
        assign_places(&mut prepared);
        Asks { asks, choice }
    }

    /// Always the same one.
    #[must_use]
    pub fn one(ask: Ask) -> Asks {
        Asks::new(vec![ask], Choice::InTurn { shift_after: u64::MAX })
    }

    /// Several, chosen by weight; `None` if there is none or a weight is 0.
    #[must_use]
    pub fn weighted(weighted: Vec<(u32, Ask)>) -> Option<Asks> {
        let mut total = 0_u64;
        let (mut asks, mut upto) = (Vec::new(), Vec::new());
        for (weight, ask) in weighted {
            total += u64::from(weight);
            asks.push(ask);
            upto.push(total);
        }
        let grows = upto.windows(2).all(|pair| pair[0] < pair[1]);
        let is_right = grows && upto.first().is_some_and(|&first| 0 < first);
        is_right.then(|| Asks::new(asks, Choice::ByWeight { upto }))
    }

    /// Several, one after the other by the requests' numbers, and then from the first again; `None` if there is none.
    ///
    /// `lanes` take the numbers in turn. If their number and that of the asks have a common divisor, each lane would
    /// always get the same few of them, and a slow lane would change the mix. Then the order is shifted by one place
    /// whenever all lanes have come round to where they began: each lane gets all asks equally often, and each pass
    /// still has every ask once. A single lane is never shifted.
    #[must_use]
    pub fn in_turn(asks: Vec<Ask>, lanes: usize) -> Option<Asks> {
        let (count, lanes) = (asks.len() as u64, lanes.max(1) as u64);
        let shift_after = match common_divisor(count, lanes) {
            1 => u64::MAX,
            common => count / common * lanes,
        };
        Asks::shifted(asks, shift_after)
    }

    /// All asks in turn, shifted after each so many numbers; `None` also if there are no numbers between two shifts.
    pub(crate) fn shifted(asks: Vec<Ask>, shift_after: u64) -> Option<Asks> {
        let is_right = !asks.is_empty() && 0 < shift_after;
        is_right.then(|| Asks::new(asks, Choice::InTurn { shift_after }))
    }

    /// All asks in turn, in an order that the seed determines.
    #[must_use]
    pub fn shuffled(mut asks: Vec<Ask>, lanes: usize, seed: u64) -> Option<Asks> {
        Chance::new(seed).shuffle(&mut asks);
        Asks::in_turn(asks, lanes)
    }

    /// These requests, in forms that this seed and the number of each determine: a server must accept them all.
    #[must_use]
    pub fn varied(self, seed: u64) -> Asks {
        let asks = self.asks.into_iter().map(|ask| ask.varied(seed)).collect();
        Asks::new(asks, self.choice)
    }

    /// Whether they are sent in several forms.
    #[must_use]
    pub fn are_varied(&self) -> bool {
        self.asks.iter().any(|ask| ask.form(Values::default()).is_some())
    }

    /// These requests, each with another expectation.
    pub fn expecting<E>(
        mut self,
        mut of: impl FnMut(&Ask) -> Result<Expect, E>,
    ) -> Result<Asks, E> {
        for ask in &mut self.asks {
            ask.expect = of(ask)?;
        }
        Ok(self)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Ask> {
        self.asks.iter()
    }

    /// The request that the given values choose: the same values always choose the same one.
    #[must_use]
    pub fn choose(&self, values: Values) -> &Ask {
        let [only] = self.asks.as_slice() else {
            return &self.asks[self.place(values)];
        };
        only
    }

    fn place(&self, values: Values) -> usize {
        match &self.choice {
            Choice::ByWeight { upto } => {
                let total = upto.last().copied().unwrap_or(1);
                let point = mix(!values.random) % total;
                upto.partition_point(|&upto| upto <= point)
            }
            Choice::InTurn { shift_after } => {
                let shifted = values.seq.wrapping_add(values.seq / shift_after);
                (shifted % self.asks.len() as u64) as usize
            }
        }
    }
}

impl From<Asks> for WrittenAsks {
    fn from(all: Asks) -> WrittenAsks {
        let choice = match all.choice {
            Choice::ByWeight { upto } => {
                let before = std::iter::once(0).chain(upto.iter().copied());
                let weights = upto.iter().zip(before).map(|(upto, before)| (upto - before) as u32);
                WrittenChoice::Weights(weights.collect())
            }
            Choice::InTurn { shift_after } => WrittenChoice::InTurn { shift_after },
        };
        WrittenAsks { asks: all.asks, choice }
    }
}

/// The greatest one.
fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

/// Several requests, and which of them comes when.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenAsks {
    asks: Vec<Ask>,
    choice: WrittenChoice,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum WrittenChoice {
    /// By weight, in the order of the requests.
    Weights(Vec<u32>),
    /// One after the other; after each so many numbers, one place further on.
    InTurn { shift_after: u64 },
}

impl TryFrom<WrittenAsks> for Asks {
    type Error = &'static str;

    fn try_from(written: WrittenAsks) -> Result<Asks, &'static str> {
        let WrittenAsks { asks, choice } = written;
        match choice {
            WrittenChoice::Weights(weights) if weights.len() != asks.len() => {
                Err("each request has one weight")
            }
            WrittenChoice::Weights(weights) => {
                let weighted = weights.into_iter().zip(asks).collect();
                Asks::weighted(weighted).ok_or("there is no request, or a weight is 0")
            }
            WrittenChoice::InTurn { shift_after } => {
                Asks::shifted(asks, shift_after).ok_or("there is no request, or no turn")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::Request;
    use crate::expect::Expect;

    #[test]
    fn asks_come_by_their_weights() {
        let ask = |target| Ask::new(&Request::get("h", target), Expect::default()).unwrap();
        let asks = Asks::weighted(vec![(9, ask("/often")), (1, ask("/seldom"))]).unwrap();
        let seldom = (0..10_000)
            .map(|n| asks.choose(Values { seq: n, random: mix(n) }))
            .filter(|ask| ask.constant().unwrap().starts_with(b"GET /seldom"))
            .count();
        assert!((900..1_100).contains(&seldom), "{seldom}");
        assert!(Asks::weighted(vec![(0, ask("/"))]).is_none());
        assert!(Asks::weighted(Vec::new()).is_none());
    }
    /// The targets that the requests with these numbers have.
    fn targets(asks: &Asks, numbers: impl Iterator<Item = u64>) -> String {
        let target = |seq| {
            let bytes = asks.choose(Values { seq, random: mix(seq) }).constant().unwrap();
            char::from(bytes["GET /".len()])
        };
        numbers.map(target).collect()
    }

    fn asks_of(targets: &str) -> Vec<Ask> {
        let request = |letter| Request::get("h", &format!("/{letter}"));
        let ask = |letter| Ask::new(&request(letter), Expect::default()).unwrap();
        targets.chars().map(ask).collect()
    }

    #[test]
    fn a_single_lane_gets_the_asks_in_their_order_over_and_over() {
        let asks = Asks::in_turn(asks_of("abcd"), 1).unwrap();
        assert_eq!(targets(&asks, 0..10), "abcdabcdab");
        assert!(Asks::in_turn(Vec::new(), 2).is_none());
    }

    #[test]
    fn every_pass_has_each_ask_once_and_every_lane_gets_all_of_them_equally_often() {
        for (letters, lanes) in [("ab", 2), ("abcd", 2), ("abcdef", 4), ("abc", 2), ("abcd", 8)] {
            let (count, lanes) = (letters.len() as u64, lanes as u64);
            let asks = Asks::in_turn(asks_of(letters), lanes as usize).unwrap();
            let sorted = |numbers: &mut dyn Iterator<Item = u64>| {
                let mut found: Vec<char> = targets(&asks, numbers).chars().collect();
                found.sort_unstable();
                String::from_iter(found)
            };
            for pass in 0..3 * lanes {
                assert_eq!(sorted(&mut (pass * count..(pass + 1) * count)), letters);
            }
            for lane in 0..lanes {
                let mut numbers = (0..count).map(|round| lane + round * lanes);
                assert_eq!(sorted(&mut numbers), letters, "lane {lane} of {lanes}");
            }
        }
    }

    #[test]
    fn a_seed_shuffles_and_the_same_seed_shuffles_alike() {
        let first_pass = |seed| {
            let asks = Asks::shuffled(asks_of("abcdefghijklmnop"), 1, seed).unwrap();
            assert_eq!(targets(&asks, 0..16), targets(&asks, 16..32));
            targets(&asks, 0..16)
        };
        assert_eq!(first_pass(1), first_pass(1));
        assert_ne!(first_pass(1), first_pass(2));
        assert_ne!(first_pass(1), "abcdefghijklmnop");
        let mut letters: Vec<char> = first_pass(1).chars().collect();
        letters.sort_unstable();
        assert_eq!(String::from_iter(letters), "abcdefghijklmnop");
    }
}
