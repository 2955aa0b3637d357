//! How lanes are spread over agents.

/// So many lanes for agents with these weights: in proportion, and at least one for each. None if there are fewer lanes
/// than agents.
pub(crate) fn split(lanes: usize, weights: &[usize]) -> Option<Vec<usize>> {
    if lanes < weights.len() {
        return None;
    }
    let all: usize = weights.iter().map(|weight| weight.max(&1)).sum();
    let exact = |weight: usize| lanes as f64 * weight.max(1) as f64 / all as f64;
    let mut shares: Vec<usize> =
        weights.iter().map(|&weight| (exact(weight) as usize).max(1)).collect();
    let lack = |shares: &[usize], agent: usize| exact(weights[agent]) - shares[agent] as f64;
    loop {
        let given: usize = shares.iter().sum();
        let agents = 0..shares.len();
        let by_lack =
            |one: &usize, other: &usize| lack(&shares, *one).total_cmp(&lack(&shares, *other));
        // The earliest of those that lack most gets one more; one that has too many, and more than one, gives one.
        let found = match given.cmp(&lanes) {
            std::cmp::Ordering::Equal => return Some(shares),
            std::cmp::Ordering::Less => agents.rev().max_by(by_lack).map(|agent| (agent, 1)),
            std::cmp::Ordering::Greater => {
                agents.filter(|&agent| 1 < shares[agent]).min_by(by_lack).map(|agent| (agent, -1))
            }
        };
        let (agent, more) = found?;
        shares[agent] = shares[agent].saturating_add_signed(more);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lanes_follow_the_weights() {
        assert_eq!(split(4, &[1, 1, 1, 1]), Some(vec![1, 1, 1, 1]));
        assert_eq!(split(12, &[8, 4]), Some(vec![8, 4]));
        assert_eq!(split(6, &[8, 4]), Some(vec![4, 2]));
        assert_eq!(split(3, &[8, 4]), Some(vec![2, 1]));
        assert_eq!(split(2, &[99, 1]), Some(vec![1, 1]));
        assert_eq!(split(4, &[1, 1, 1]), Some(vec![2, 1, 1]));
        assert_eq!(split(1, &[1, 1]), None);
        assert_eq!(split(5, &[0, 0]), Some(vec![3, 2]));
    }

    proptest! {
        #[test]
        fn every_lane_has_a_place_and_every_agent_a_lane(
            weights in prop::collection::vec(0usize..200, 1..20), more in 0usize..500,
        ) {
            let lanes = weights.len() + more;
            let shares = split(lanes, &weights).unwrap();
            prop_assert_eq!(shares.iter().sum::<usize>(), lanes);
            prop_assert!(shares.iter().all(|share| 0 < *share));
        }
    }
}
