use std::collections::BTreeSet;

use super::*;

#[test]
fn every_figure_has_a_name_of_its_own_that_ends_in_its_unit() {
    for (at, figure) in Figure::ALL.into_iter().enumerate() {
        assert_eq!(figure as usize, at, "ALL has the order of the list");
        let unit = figure.unit();
        assert!(unit == Unit::Count || figure.name().contains(unit.name()), "{figure:?}");
    }
    for all in [&Figure::OF_TRIALS[..], &Figure::OF_STEPS] {
        let names: BTreeSet<&str> = all.iter().map(|figure| figure.name()).collect();
        assert_eq!(names.len(), all.len());
    }
    for figure in Figure::OF_TRIALS {
        assert_eq!(Figure::from_name(figure.name()), Some(figure));
    }
}

#[test]
fn every_entry_says_what_its_figure_is() {
    for figure in Figure::ALL {
        assert!(!figure.heading().is_empty(), "{figure:?}");
        for text in [figure.meaning(), figure.population(), figure.time()] {
            assert!(!text.is_empty() && !text.ends_with('.'), "{figure:?}: {text}");
        }
    }
}

/// A figure whose rounds are averaged as logarithms is above zero wherever it is present.
#[test]
fn what_may_be_zero_is_no_geometric_mean() {
    for figure in Figure::ALL {
        let may_be_zero = matches!(figure.kind(), Kind::Count | Kind::Share | Kind::ShareOfDue);
        assert!(!may_be_zero || figure.fold() != Fold::Factors, "{figure:?}");
    }
}

#[test]
fn a_figure_of_a_step_has_the_unit_of_the_one_that_it_is_set_beside() {
    let beside = |figure: Figure| Some((figure, figure.at_step()?));
    for (figure, step) in Figure::OF_TRIALS.into_iter().filter_map(beside) {
        assert!(Figure::OF_STEPS.contains(&step), "{figure:?}");
        assert_eq!((figure.unit(), figure.better()), (step.unit(), step.better()), "{figure:?}");
    }
}
