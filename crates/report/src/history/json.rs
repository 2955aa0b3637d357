//! A trend as JSON, `dyno.trend/1`.

use analysis::trend::{Before, Level, Needed, Shift, level_of_a_look};

use super::document::sentence;
use super::line::{Line, Measurement};
use super::origin::MadeBy;
use super::proof::proof;
use super::reader::Broken;
use super::series::{Machine, Series, Trend};
use crate::json::json_type;

json_type! {
    /// A history from run to run: at which runs the levels of its figures changed. trend.md explains the method.
    pub(crate) struct TrendDocument<'t> as "trend", "dyno.trend/1" of trend: Trend;
        let levels = trend.series.iter().map(|series| level_of_a_look(series.values.len()));
    {
        /// the answer in plain words
        sentence: String = sentence(trend),
        /// the files that were read
        files: &'t [String] = &trend.files,
        /// runs in them
        runs: usize,
        /// the significance level of this look: the probability that any series announces a change where nothing
        /// changed. trend.md says how many histories ever announce one, that are looked at after each run
        alpha_percent: f64 = 100.0 * levels.fold(0.0, f64::max),
        /// each figure of each row, by machine and plan
        series: Vec<SeriesJson<'t>> = trend.series.iter().map(SeriesJson::from).collect(),
        /// the machines whose runs are in the history
        machines: &'t [Machine] = &trend.machines,
        /// lines that were skipped
        broken: &'t [Broken] = &trend.broken,
    }
}

json_type! {
    /// One figure of one row from run to run.
    struct SeriesJson<'t> as "trend_series" of series: Series;
        let common = series.common();
        let text = |of: fn(&Line) -> &String| common.map(|line| of(line).as_str());
    {
        /// the command that measured: run, load or race (of runs in a store always run); null, as all of these: no line is a measurement
        made_by: Option<MadeBy> = common.map(|line| line.made_by),
        /// the experiment, the race's servers, or what the load requested
        experiment: Option<&'t str> = text(|line| &line.experiment),
        /// a hash of the experiment's file and of its workloads', or of the load's flags
        plan: Option<&'t str> = text(|line| &line.plan),
        /// whether times and rounds were shortened
        is_quick: Option<bool> = common.map(|line| line.is_quick),
        /// the workload
        workload: Option<&'t str> = text(|line| &line.workload),
        /// the server
        subject: Option<&'t str> = text(|line| &line.subject),
        /// the load: so many connections, or requests each second
        point: Option<f64> = common.map(|line| line.point),
        /// which of these
        point_unit: Option<&'t str> = text(|line| &line.point_unit),
        /// the figure's name in figures.md
        figure: Option<&'t str> = text(|line| &line.figure),
        /// the machine's key
        machine: Option<&'t str> = text(|line| &line.machine),
        /// dyno's own server, or the first server of a race, by whose figure the values are divided; null: by none
        relative_to: Option<&'t str> = series.divisor(),
        /// the runs whose values count, oldest first
        runs: Vec<RunJson<'t>> = series.values.iter().zip(&series.lines).map(|(value, line)| RunJson::of(value, line)).collect(),
        /// runs that are no measurement, or only a bound
        left_out: usize,
        /// the significance level of this look: the share of this series
        level_percent: f64 = 100.0 * series.course.level,
        /// the standard deviation of the values' logarithms around their levels
        spread: Option<f64> = series.course.spread,
        /// runs after which a change by 5 % is announced in nine of ten cases; null: more than were simulated
        runs_to_see_5_percent: Option<usize> = runs(series.course.typical),
        /// one after another
        levels: &'t [Level] = &series.course.levels,
        /// the changes between them
        changes: Vec<ChangeJson> = series.course.shifts.iter().map(|shift| ChangeJson::of(series, shift)).collect(),
        /// changes that were announced before the last run came and are so no more: their places in `runs`
        withdrawn: Vec<usize> = series.course.withdrawn.clone(),
    }
}

// A line of a history has thirty fields, of which a run in a series is these, with the value that the series makes of it.
json_type! {
    /// A run of a series.
    struct RunJson<'t> as "trend_run" of line: Line, with value: f64 {
        #[serde(flatten)]
        run: &'t Measurement = &line.run,
        /// the value, in the unit of its figure, or a ratio
        value: f64 = *value,
    }
}

json_type! {
    /// A change of level.
    struct ChangeJson as "trend_change" of shift: Shift, with series: Series;
        let first = series.lines.get(shift.first);
        let last = shift.first.checked_sub(1).and_then(|at| series.lines.get(at));
    {
        /// the place of the new level's first run in `runs`, from 0
        first: usize,
        /// its commit
        commit: Option<String> = first.and_then(|line| line.run.commit.clone()),
        /// the new level divided by the old one
        ratio: f64,
        /// lower end of its 95 % interval
        ratio_low: f64 = shift.interval.0,
        /// its upper end
        ratio_high: f64 = shift.interval.1,
        /// how likely chance alone makes such a change anywhere in the series
        p: f64,
        /// runs of the new level after which a change of this size is announced in nine of ten cases; null: more than were simulated
        runs_to_see: Option<usize> = runs(shift.needed),
        /// same, new (the last run made it evident) or moved
        #[schemars(extend("enum" = ["same", "new", "moved"]))]
        before_the_last_run: &'static str = before(shift.before),
        /// where it was announced before the last run came, if it moved
        was_first: Option<usize> = was(shift.before),
        /// the command that proves it, in which BASE and HEAD stand for what only a reader knows, and `…` for what is
        /// not in a history; null: one of the two runs has no commit, or both are of one
        command: Option<String> =
            last.zip(first).and_then(|(last, first)| Some(proof(last, first).ok()?.command)),
    }
}

fn runs(needed: Option<Needed>) -> Option<usize> {
    match needed {
        Some(Needed::Runs(runs)) => Some(runs),
        Some(Needed::MoreThan(_)) | None => None,
    }
}

fn before(before: Before) -> &'static str {
    match before {
        Before::Same => "same",
        Before::Nothing => "new",
        Before::At(_) => "moved",
    }
}

fn was(before: Before) -> Option<usize> {
    match before {
        Before::At(place) => Some(place),
        Before::Same | Before::Nothing => None,
    }
}
