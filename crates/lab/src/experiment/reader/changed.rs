//! What the command line changed, for one run: the keys of `[changed]` take the place of the file's own.

use serde::Deserialize;
use toml::Spanned;

use super::{Counts, File, OneOrMany, Points, Reader};
use crate::experiment::Changed;
use crate::source_file::ConfigError;

/// `dyno run` writes them under the text that it keeps with the run.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChangedKeys {
    subjects: Option<Spanned<OneOrMany>>,
    connections: Option<Spanned<Points>>,
    duration: Option<Spanned<String>>,
    repeat: Option<Spanned<u64>>,
    failures: Option<Spanned<String>>,
    protocol: Option<Spanned<OneOrMany>>,
    streams: Option<Spanned<Counts>>,
}

impl Reader<'_> {
    /// Puts what was changed in the place of what the file says, and returns it in words. It holds with `--quick`, too.
    pub(super) fn change(&self, file: &mut File) -> Result<Changed, ConfigError> {
        let Some(keys) = file.changed.take() else { return Ok(Changed::default()) };
        let mut changed = Changed::default();
        let mut note = |flag: String, says: String| {
            changed.flags.push(flag);
            changed.says.push(says);
        };
        let load = file.load.get_mut();
        let is_search = load.is_search();
        let is_schedule = load.open.is_some() || load.sessions.is_some();
        if let Some(subjects) = keys.subjects {
            let names = self.names(&subjects)?;
            note(format!("--only {}", names.join(",")), format!("only {}", names.join(", ")));
            file.subjects = subjects;
        }
        if let Some(points) = keys.connections {
            if is_schedule {
                let why =
                    "this load is a schedule, whose places are rates: connections do not change it";
                return Err(self.wrong(&points, why));
            }
            let (values, says) = in_words(points.get_ref());
            note(format!("-c {values}"), says);
            file.quick.points = None;
            match (&mut load.closed, &mut load.held) {
                (Some(closed), _) => closed.get_mut().connections = points,
                (None, Some(held)) => held.get_mut().connections = points,
                (None, None) => {}
            }
        }
        if let Some(duration) = keys.duration {
            if is_search {
                let why = "a search decides how long each of its trials lasts";
                return Err(self.wrong(&duration, why));
            }
            if load.held.is_some() {
                let why = "held connections end after their last step, not after a time; their steps say how long \
                           that takes";
                return Err(self.wrong(&duration, why));
            }
            let time = duration.get_ref();
            note(format!("-d {time}"), format!("{time} for each trial"));
            file.quick.duration = Some(duration.clone());
            (load.duration, load.total) = (Some(duration), None);
        }
        if let Some(repeat) = keys.repeat {
            if is_search {
                let why = "a search decides how many trials it has, and has no rounds";
                return Err(self.wrong(&repeat, why));
            }
            let rounds = repeat.get_ref();
            let noun = if *rounds == 1 { "round" } else { "rounds" };
            note(format!("--repeat {rounds}"), format!("{rounds} {noun}"));
            file.quick.repeat = Some(repeat.clone());
            file.trials.fix_rounds(repeat);
        }
        if let Some(failures) = keys.failures {
            let percent = failures.get_ref();
            note(format!("--max-failures {percent}"), format!("at most {percent} failed"));
            file.promise.failures = Some(failures);
        }
        if let Some(names) = keys.protocol {
            let protocols = self.protocols(&names)?;
            let list: Vec<&str> = protocols.iter().map(|it| it.name()).collect();
            note(format!("--protocol {}", list.join(",")), format!("over {}", list.join(", ")));
            load.protocol = Some(names);
            // What only the file's own protocols have goes with them.
            load.streams.take_if(|_| !protocols.iter().any(|it| it.is_http2()));
            load.tls_resume.take_if(|_| !protocols.iter().any(|it| it.is_secured()));
        }
        if let Some(counts) = keys.streams {
            let values: Vec<String> = counts.get_ref().all().iter().map(u64::to_string).collect();
            let noun = if values == ["1"] { "stream" } else { "streams" };
            note(
                format!("--streams {}", values.join(",")),
                format!("{} {noun}", values.join(", ")),
            );
            load.streams = Some(counts);
        }
        Ok(changed)
    }
}

/// As the flag takes them, and in a sentence.
fn in_words(points: &Points) -> (String, String) {
    let values: Vec<f64> = match points {
        Points::One(value) => vec![*value],
        Points::Many(values) => values.clone(),
        Points::Span { from, to, .. } => vec![*from, *to],
        // Refused where it is read.
        Points::Course(text) => return (text.clone(), text.clone()),
    };
    let values: Vec<String> = values.iter().map(f64::to_string).collect();
    let noun = if values == ["1"] { "connection" } else { "connections" };
    (values.join(","), format!("{} {noun}", values.join(", ")))
}
