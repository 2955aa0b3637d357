//! What people wrote beside the runs: the board's question, its machines, servers, rounds and corrections.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::place::Place;
use crate::slug::https;

/// `board.toml`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    pub(crate) title: String,
    /// What the board is to answer.
    pub(crate) question: String,
    /// Where the site will stand; feeds need it, pages do not.
    #[serde(default)]
    pub(crate) base_url: String,
    /// What a reader must know of the board.
    #[serde(default)]
    pub(crate) about: String,
    /// The labels of the board's own classes of machines. Others have tables of their own.
    #[serde(default)]
    pub(crate) own_machines: Vec<String>,
    /// The common questions.
    #[serde(default)]
    pub(crate) presets: Vec<Preset>,
}

/// A common question: about a workload, or about two servers.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Preset {
    pub(crate) title: String,
    #[serde(default)]
    pub(crate) workload: String,
    #[serde(default)]
    pub(crate) compare: Vec<String>,
}

/// `servers/NAME.toml` and `machines/CLASS.toml`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct About {
    #[serde(default)]
    pub(crate) title: String,
    #[serde(default)]
    pub(crate) notes: String,
    #[serde(default)]
    pub(crate) links: Vec<String>,
    #[serde(default)]
    pub(crate) maintainers: Vec<String>,
}

/// `rounds/NAME.toml`: a frozen list of runs, and what was printed of them.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Round {
    pub(crate) title: String,
    /// `2026-11-29`.
    pub(crate) date: String,
    /// The ids of its runs.
    pub(crate) runs: Vec<String>,
    /// The answer, as it was printed.
    #[serde(default)]
    pub(crate) sentences: Vec<String>,
    /// What changed since the round before.
    #[serde(default)]
    pub(crate) changes: Vec<String>,
}

/// `superseded/NAME.toml`: a run that is wrong, and why.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Superseded {
    pub(crate) run: String,
    /// The run that takes its place, if one does.
    #[serde(default)]
    pub(crate) by: String,
    pub(crate) reason: String,
}

/// A file that is not a part of the site, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Refused {
    pub file: String,
    pub why: String,
}

/// All that people wrote.
#[derive(Clone, Debug, Default)]
pub(crate) struct Written {
    pub(crate) settings: Settings,
    pub(crate) servers: BTreeMap<String, About>,
    pub(crate) machines: BTreeMap<String, About>,
    /// By name.
    pub(crate) rounds: BTreeMap<String, Round>,
    pub(crate) superseded: Vec<Superseded>,
    /// `CHANGES.md`: how the method changed, and errata.
    pub(crate) changes: String,
    /// Files that cannot be read.
    pub(crate) refused: Vec<Refused>,
}

const TEXT_MOST: usize = 256 * 1_024;
pub(crate) const BOARD: &str = "board.toml";

impl Written {
    /// Reads the files among these paths. Only `board.toml` must be there.
    pub(crate) fn read(place: &dyn Place, paths: &[String]) -> Result<Written, String> {
        let settings = match paths.iter().any(|path| path == BOARD) {
            true => toml_of(place, BOARD).map_err(|says| format!("{BOARD}: {says}"))?,
            false => {
                return Err(format!("it has no {BOARD}; `dyno publish --init` makes a folder"));
            }
        };
        let mut written = Written { settings, ..Written::default() };
        let base = written.settings.base_url.trim_end_matches('/').to_string();
        if !base.is_empty() && https(&base).is_none() {
            return Err(format!(
                "{BOARD}: `base_url` is `{base}`, and does not begin with https://"
            ));
        }
        written.settings.base_url = base;
        for path in paths {
            if let Err(why) = written.take(place, path) {
                written.refused.push(Refused { file: path.clone(), why });
            }
        }
        Ok(written)
    }

    fn take(&mut self, place: &dyn Place, path: &str) -> Result<(), String> {
        if path == "CHANGES.md" {
            let bytes = place.read(path, TEXT_MOST)?;
            self.changes = String::from_utf8(bytes).map_err(|error| error.to_string())?;
            return Ok(());
        }
        let Some((folder, name)) = path.split_once('/') else { return Ok(()) };
        let Some(name) = name.strip_suffix(".toml") else { return Ok(()) };
        match folder {
            "servers" => drop(self.servers.insert(name.into(), toml_of(place, path)?)),
            "machines" => drop(self.machines.insert(name.into(), toml_of(place, path)?)),
            "rounds" => drop(self.rounds.insert(name.into(), round(place, path)?)),
            "superseded" => self.superseded.push(toml_of(place, path)?),
            _ => {}
        }
        Ok(())
    }

    pub(crate) fn is_own(&self, class: &str) -> bool {
        self.settings.own_machines.iter().any(|own| own == class)
    }

    /// The rounds, newest first, with their names.
    pub(crate) fn newest_rounds(&self) -> Vec<(&String, &Round)> {
        let mut rounds: Vec<_> = self.rounds.iter().collect();
        rounds.sort_by(|one, other| (&other.1.date, other.0).cmp(&(&one.1.date, one.0)));
        rounds
    }

    pub(crate) fn superseded(&self, id: &str) -> Option<&Superseded> {
        self.superseded.iter().find(|it| is_id(&it.run, id))
    }
}

/// Whether people mean this run: by its whole id, or by the first half of it, which is in addresses.
pub(crate) fn is_id(written: &str, id: &str) -> bool {
    const LEAST: usize = 32;
    LEAST <= written.len() && id.starts_with(written)
}

fn toml_of<T: DeserializeOwned>(place: &dyn Place, path: &str) -> Result<T, String> {
    let bytes = place.read(path, TEXT_MOST)?;
    let text = String::from_utf8(bytes).map_err(|error| error.to_string())?;
    toml::from_str(&text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        let line = 1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count();
        format!("line {line}: {}", error.message())
    })
}

/// Whether it has the form of 2026-11-29.
fn is_date(text: &str) -> bool {
    let is_right = |(n, byte): (usize, u8)| match n {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    };
    text.len() == 10 && text.bytes().enumerate().all(is_right)
}

fn round(place: &dyn Place, path: &str) -> Result<Round, String> {
    let round: Round = toml_of(place, path)?;
    match is_date(&round.date) {
        true => Ok(round),
        false => Err(format!("`date` is `{}`, and not of the form 2026-11-29", round.date)),
    }
}
