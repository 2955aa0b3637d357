//! How the load is divided among the sides of a round: in slices, or in whole trials that follow one another.

use std::time::Duration;

use lab::Refusal;

use crate::Campaign;
use lab::amounts;
use load::Load;

use super::look::Look;

/// What `--slices` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slices {
    Off,
    Of(Duration),
}

/// Of the lengths that were tried, this one had the least spread from round to round.
const USUAL: Duration = Duration::from_millis(100);

impl Slices {
    /// Reads the flag.
    pub fn parse(text: &str) -> Result<Slices, String> {
        match text {
            "off" => Ok(Slices::Off),
            text => amounts::time(text).map(Slices::Of),
        }
    }

    /// How long a slice of this load is; none where whole trials follow one another. Sessions, ramps, steps and a number
    /// of requests cannot be divided.
    pub fn of(asked: Option<Slices>, load: &Load, total: Option<u64>) -> Option<Duration> {
        let is_whole = match load {
            Load::Closed { .. } => total.is_some(),
            Load::Open { arrivals, .. } => total.is_some() || arrivals.length().is_some(),
            Load::Sessions { .. } => true,
        };
        match asked {
            Some(Slices::Off) => None,
            Some(Slices::Of(length)) => Some(length),
            None => (!is_whole).then_some(USUAL),
        }
    }
}

/// Sides that live at once cannot listen on one port.
pub fn refuse_one_port(campaign: &Campaign, looks: &[Look]) -> Result<(), Refusal> {
    let experiment = &campaign.experiment;
    if experiment.slices.is_none() || experiment.conditions.isolate {
        return Ok(());
    }
    let moved = looks.iter().filter_map(|look| Some((look.title.as_str(), look.moved_to?)));
    let mut earlier: Vec<(&str, u16)> = Vec::new();
    for (title, port) in moved {
        if let Some((other, _)) = earlier.iter().find(|(_, other)| *other == port) {
            return Err(Refusal::new(format!(
                "{other} and {title} both listen on port {port}, and the servers of a race run at the same time: \
                 give each a \
                 network of its own (--isolate), let whole trials follow one another (--slices off), or let them \
                 listen on `{{port}}` or the variable PORT"
            )));
        }
        earlier.push((title, port));
    }
    Ok(())
}
