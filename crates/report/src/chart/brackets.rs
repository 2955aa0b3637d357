//! Capacities as intervals on an axis of rates, a row each; below them, on the same axis, what was lost at each rate.

use lab::figure::Unit;
use units::rate;

use super::marks::{
    Way, arrow, colour, heading, key, line, of_subject, point, rungs, short, stroke, text,
};
use super::scale::Scale;
use super::small::{below, said};
use super::{About, Spot, Stand, Trust, framed};
use crate::markup::{Markup, markup};

/// All of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Brackets {
    pub(crate) about: About,
    /// From the top.
    pub(crate) rows: Vec<Bracket>,
    /// What the load and the machine reach.
    pub(crate) ceiling: Option<f64>,
    /// What counts as lost.
    pub(crate) lost: String,
    /// So much of it may be lost.
    pub(crate) allowed_percent: f64,
}

/// One server.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bracket {
    pub(crate) label: String,
    pub(crate) slot: usize,
    /// The rate that is held and the one that is not; an end that is not there is open. None: nothing is known.
    pub(crate) ends: Option<(Option<f64>, Option<f64>)>,
    pub(crate) trust: Trust,
    pub(crate) says: String,
    /// What was lost, in percent, at each rate that was tried.
    pub(crate) spots: Vec<Spot>,
}

const WIDTH: f64 = 760.0;
const LEFT: f64 = 190.0;
const RIGHT: f64 = 730.0;
const TOP: f64 = 40.0;
const ROW: f64 = 26.0;
const LOSSES: f64 = 190.0;
/// Letters of a name.
const NAME: usize = 24;
/// The axis ends so far beyond the last end of a bracket; rates that were tried further up are not drawn.
const BEYOND: f64 = 1.3;
/// The axis goes by factors where capacities lie further apart than this.
const FAR: f64 = 30.0;
/// Less than this share lies on the ground of the panel, percent.
const LEAST_PERCENT: f64 = 0.01;

impl Brackets {
    /// Empty without a row.
    pub(crate) fn svg(&self, stand: Stand<'_>) -> Markup {
        if self.rows.is_empty() {
            return Markup::default();
        }
        let along = self.along();
        let rows_end = TOP + self.rows.len() as f64 * ROW;
        let panel = (rows_end + 44.0, rows_end + 44.0 + LOSSES);
        let bars = "a bar reaches from the rate that is held to the one that is not";
        let mut drawn = heading((2.0, 13.0), "requests/s that are held", bars);
        drawn.push(&text("note", "start", (2.0, 28.0), &self.note(&along)));
        for value in along.ticks(70.0) {
            let x = along.at(value);
            drawn.push(&stroke("rung", (x, TOP - 4.0), (x, rows_end)));
            drawn.push(&stroke("rung", (x, panel.0), (x, panel.1)));
        }
        if let Some(ceiling) = self.ceiling.filter(|it| *it <= along.high()) {
            let x = along.at(ceiling);
            drawn.push(&stroke("ceiling", (x, TOP - 4.0), (x, panel.1)));
        }
        for (n, row) in self.rows.iter().enumerate() {
            let inside = row.drawn(&along, TOP + (n as f64 + 0.5) * ROW);
            drawn.push(&of_subject(row.slot, &inside));
        }
        drawn.push(&self.losses(&along, panel));
        drawn.push(&below(&along, Unit::PerSecond, 70.0, panel.1));
        let drawn = framed(&self.about, "brackets", (WIDTH, panel.1 + 24.0), stand, &drawn);
        match stand {
            Stand::Page => markup!("<figure>\n{}</figure>\n", drawn),
            Stand::Alone { .. } => drawn,
        }
    }

    fn note(&self, along: &Scale) -> String {
        let any = |is: fn(&Bracket) -> bool| self.rows.iter().any(is);
        let beyond = self.ceiling.filter(|it| along.high() < *it);
        let parts = [
            (0.0 < along.low()).then(|| "the axis goes by factors".to_string()),
            any(|row| row.ends.is_some_and(|ends| ends.1.is_none()))
                .then(|| "an arrow to the right: that or more".into()),
            any(|row| row.trust == Trust::Doubtful && row.ends.is_some())
                .then(|| "dashed: in doubt".into()),
            self.ceiling
                .filter(|_| beyond.is_none())
                .map(|_| "grey: the reference's ceiling".into()),
            beyond
                .map(|it| format!("the reference's ceiling, {}/s, lies beyond the axis", rate(it))),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
    }

    fn along(&self) -> Scale {
        let ends = self.rows.iter().filter_map(|row| row.ends);
        let mut values: Vec<f64> = ends.flat_map(|(low, high)| [low, high]).flatten().collect();
        if values.is_empty() {
            values = self.rows.iter().flat_map(|row| &row.spots).map(|spot| spot.x).collect();
        }
        let least = values.iter().copied().fold(f64::MAX, f64::min);
        let most = values.iter().copied().fold(0.0, f64::max);
        if 0.0 < least && least * FAR < most {
            return Scale::log(&values, LEFT, RIGHT);
        }
        Scale::linear(&[most * BEYOND], LEFT, RIGHT)
    }

    /// What was lost against the rate, by factors.
    fn losses(&self, along: &Scale, (top, bottom): (f64, f64)) -> Markup {
        let scale = Scale::log(&[LEAST_PERCENT, 100.0], bottom, top);
        let is_on = |spot: &&Spot| spot.x <= along.high();
        let shown = || self.rows.iter().flat_map(|row| row.spots.iter().filter(is_on));
        let hollow = shown().any(|spot| spot.trust != Trust::Full);
        let note = if hollow { "hollow: short trials, which decide nothing" } else { "" };
        let heading = heading((2.0, top - 12.0), &self.lost, note);
        let mut drawn = markup!("{}{}", heading, rungs(&scale, Unit::Percent, LEFT, RIGHT));
        let allowed = scale.at(self.allowed_percent);
        drawn.push(&stroke("limit", (LEFT, allowed), (RIGHT, allowed)));
        drawn.push(&text("note", "end", (RIGHT, allowed - 4.0), "so much may be lost"));
        for row in &self.rows {
            let at = |spot: &Spot| (along.at(spot.x), scale.at(spot.value));
            let spots: Vec<&Spot> = row.spots.iter().filter(is_on).collect();
            let places: Vec<(f64, f64)> = spots.iter().map(|spot| at(spot)).collect();
            let slot = colour(row.slot);
            let mut inside = line(&format!("thin {slot}"), &places);
            for (spot, place) in spots.iter().zip(&places) {
                if let Some((low, high)) = spot.interval {
                    let (low, high) = ((place.0, scale.at(low)), (place.0, scale.at(high)));
                    inside.push(&stroke(&format!("thin {slot}"), low, high));
                }
                let says = format!("{}: {}", row.label, spot.says);
                inside.push(&point(row.slot, spot.trust, *place, &says));
            }
            drawn.push(&of_subject(row.slot, &inside));
        }
        drawn
    }
}

impl Bracket {
    fn drawn(&self, along: &Scale, y: f64) -> Markup {
        /// Half the height of an end.
        const END: f64 = 7.0;
        let slot = colour(self.slot);
        let mut drawn = key(self.slot, (10.0, y));
        drawn.push(&text("label", "start", (22.0, y + 4.0), &short(&self.label, NAME)));
        let Some((low, high)) = self.ends else {
            drawn.push(&text("note", "start", (LEFT + 6.0, y + 4.0), &self.says));
            return drawn;
        };
        let (from, to) =
            (low.map_or(LEFT, |it| along.at(it)), high.map_or(RIGHT, |it| along.at(it)));
        let is_doubtful = self.trust != Trust::Full;
        let class = format!("{} {slot}", if is_doubtful { "past" } else { "bar" });
        drawn.push(&stroke(&class, (from, y), (to, y)));
        for x in [low.map(|_| from), high.map(|_| to)].into_iter().flatten() {
            drawn.push(&stroke(&format!("line {slot}"), (x, y - END), (x, y + END)));
        }
        if low.is_none() {
            drawn.push(&arrow(&slot, (from, y), Way::Left));
        }
        if high.is_none() {
            drawn.push(&arrow(&slot, (to, y), Way::Right));
        }
        let says = match (low, high) {
            (Some(low), Some(high)) => format!("{}–{}", rate(low), rate(high)),
            (Some(low), None) => format!("≥ {}", rate(low)),
            (None, Some(high)) => format!("< {}", rate(high)),
            (None, None) => String::new(),
        };
        // Beside the bar, where there is room.
        let beside = match high {
            Some(_) if to + 98.0 < RIGHT => ("start", to + 8.0),
            _ if LEFT + 98.0 < from => ("end", from - 8.0),
            _ => ("start", from + 8.0),
        };
        // Over the bar, where there is no room beside it.
        let y_text = if beside.1 == from + 8.0 { y - 5.0 } else { y + 4.0 };
        drawn.push(&text("value", beside.0, (beside.1, y_text), &says));
        let middle = (f64::midpoint(from, to), y);
        drawn.push(&said(middle, "touch", 9.0, &format!("{}: {}", self.label, self.says)));
        drawn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(label: &str, ends: Option<(Option<f64>, Option<f64>)>) -> Bracket {
        let spot = |x: f64, value: f64, trust| Spot { x, value, trust, ..Spot::default() };
        let spots = vec![
            spot(500.0, 0.0, Trust::Doubtful),
            spot(1_000.0, 0.4, Trust::Full),
            spot(1_050.0, 3.0, Trust::Full),
            spot(64_000.0, 99.0, Trust::Doubtful),
        ];
        Bracket {
            label: label.into(),
            ends,
            spots,
            says: "has no known capacity".into(),
            ..Bracket::default()
        }
    }

    fn drawn(rows: Vec<Bracket>, ceiling: Option<f64>) -> String {
        let lost = "answered after 10 ms".to_string();
        let brackets =
            Brackets { rows, ceiling, lost, allowed_percent: 1.0, ..Brackets::default() };
        brackets.svg(Stand::Page).into_string()
    }

    #[test]
    fn a_bracket_has_two_ends_and_an_open_one_an_arrow() {
        let both = drawn(vec![row("a", Some((Some(1_000.0), Some(1_050.0))))], None);
        assert!(both.contains("1,000–1,050") && !both.contains("class=\"arrow"), "{both}");
        let open = drawn(vec![row("a", Some((Some(1_000.0), None)))], None);
        assert!(open.contains("≥ 1,000") && open.contains("class=\"arrow"), "{open}");
        assert!(open.contains("an arrow to the right: that or more"), "{open}");
        let missed = drawn(vec![row("a", Some((None, Some(10.0))))], None);
        assert!(missed.contains("&lt; 10"), "{missed}");
    }

    #[test]
    fn a_server_of_which_nothing_is_known_is_named_and_has_no_bar() {
        let none = drawn(vec![row("mute", None)], None);
        assert!(none.contains("mute") && none.contains("has no known capacity"), "{none}");
        assert!(!none.contains("class=\"bar"), "{none}");
        assert_eq!(drawn(Vec::new(), None), "");
    }

    #[test]
    fn what_was_tried_beyond_the_axis_is_not_drawn_at_its_edge() {
        let shown = drawn(vec![row("a", Some((Some(1_000.0), Some(1_050.0))))], None);
        assert_eq!(shown.matches("class=\"s0 mark").count(), 3, "{shown}");
    }

    #[test]
    fn the_ceiling_is_a_line_or_a_sentence() {
        let at =
            |ceiling| drawn(vec![row("a", Some((Some(1_000.0), Some(1_050.0))))], Some(ceiling));
        let near = at(1_200.0);
        assert!(
            near.contains("class=\"ceiling\"") && near.contains("grey: the reference"),
            "{near}"
        );
        let far = at(90_000.0);
        assert!(
            !far.contains("class=\"ceiling\"") && far.contains("90,000/s, lies beyond"),
            "{far}"
        );
    }

    #[test]
    fn ugly_values_stay_on_the_paper() {
        for ends in [(Some(1e-9), Some(1e9)), (Some(0.0), Some(0.0)), (Some(f64::NAN), None)] {
            let shown =
                drawn(vec![row("a", Some(ends)), row("b", Some((Some(7.0), Some(8.0))))], None);
            assert!(!shown.contains("NaN\"") && !shown.contains("inf\""), "{shown}");
        }
    }
}
