//! Which cases run: `--case`, `--area`, `--slow`.

use check::{Area, Case, Protocol, Scheduling, Tag, catalogue};
use clap::Args;
use lab::pattern::matches;
use units::nearest;

use crate::shell::Refusal;

/// The flags that choose cases.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Choice {
    /// Only these cases: H1-F03, F03, WS-*
    #[arg(long = "case", value_name = "CASES", value_delimiter = ',')]
    pub(crate) named: Vec<String>,
    /// Only these areas or tags: framing,chunked,http,http2,websocket,security
    #[arg(long = "area", value_name = "AREAS", value_delimiter = ',')]
    pub(crate) areas: Vec<String>,
    /// Also play the slow cases: slow heads, slow bodies, idle time-outs
    #[arg(long)]
    pub(crate) slow: bool,
    // Only the cases of HTTP/2, or only those of HTTP/1.1 and WebSocket; none: all.
    #[arg(skip)]
    pub(crate) http2: Option<bool>,
}

impl Choice {
    /// The cases in the catalogue's order.
    pub(crate) fn cases(&self) -> Result<Vec<&'static Case>, Refusal> {
        for word in &self.named {
            if !catalogue().iter().any(|case| is_meant(case, word)) {
                return Err(no_case(word));
            }
        }
        let areas = self.areas.iter().map(|word| part(word));
        let areas = areas.collect::<Result<Vec<String>, Refusal>>()?;
        let is_named = |case: &Case| self.named.iter().any(|word| is_name(case, word));
        let is_named_or_quick =
            |case: &Case| case.scheduling != Scheduling::Slow || self.slow || is_named(case);
        let is_meant = |case: &&Case| {
            (self.named.is_empty() || self.named.iter().any(|word| is_meant(case, word)))
                && (areas.is_empty() || areas.iter().any(|part| is_of(case, part)))
                && is_named_or_quick(case)
        };
        let is_spoken =
            |case: &Case| self.http2.is_none_or(|http2| http2 == case.protocol().is_http2());
        let (cases, others): (Vec<&Case>, Vec<&Case>) =
            catalogue().iter().filter(is_meant).partition(|case| is_spoken(case));
        let why = match (cases.is_empty(), self.http2) {
            (false, _) => return Ok(cases),
            (true, Some(false)) if !others.is_empty() => "these are cases of HTTP/2: add --http2",
            (true, Some(true)) if !others.is_empty() => {
                "these are not cases of HTTP/2: leave --http2 out"
            }
            (true, _) => {
                "--case and --area leave no case (slow ones take --slow, too); `dyno check --list` shows all"
            }
        };
        Err(Refusal::new(why))
    }
}

/// Whether a word names exactly this case: `H1-F03` or `f03`.
fn is_name(case: &Case, word: &str) -> bool {
    case.id.eq_ignore_ascii_case(word) || case.short().eq_ignore_ascii_case(word)
}

/// Whether a word names this case exactly or by a pattern.
fn is_meant(case: &Case, word: &str) -> bool {
    let word = word.to_ascii_uppercase();
    is_name(case, &word) || matches(&word, case.id) || matches(&word, case.short())
}

fn no_case(word: &str) -> Refusal {
    let near = nearest(&word.to_ascii_uppercase(), catalogue().iter().map(|case| case.id));
    let way_out = near.map_or("`dyno check --list` shows them".into(), |near| {
        format!("did you mean `{near}`? `dyno check --list` shows all")
    });
    Refusal::new(format!("--case: no case is called `{}`; {way_out}", word.escape_debug()))
}

/// The name of a part of the catalogue, in small letters.
fn part(word: &str) -> Result<String, Refusal> {
    let (lower, known) = (word.to_ascii_lowercase(), parts());
    if known.contains(&lower.as_str()) {
        return Ok(lower);
    }
    let near = nearest(&lower, known.iter().copied());
    let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
    let (word, known) = (word.escape_debug(), known.join(", "));
    Err(Refusal::new(format!("--area: `{word}` is not an area; {near}say one of {known}")))
}

/// Whether a case is of this part: of a protocol, an area or, where no area is called so, a tag. What an attacker could
/// use has a tag.
fn is_of(case: &Case, part: &str) -> bool {
    let protocol = match case.protocol() {
        Protocol::Http => "http",
        Protocol::Http2 => "http2",
        Protocol::Socket => "websocket",
    };
    let is_called = |tag: &Tag| part == "security" || tag.name() == part;
    protocol == part
        || case.area.name() == part
        || (Area::named(part).is_none() && case.tags.iter().any(is_called))
}

fn parts() -> Vec<&'static str> {
    let areas = Area::ALL.iter().map(|area| area.name());
    let tags = Tag::ALL.iter().map(|tag| tag.name());
    let mut known: Vec<&str> = ["http", "http2", "websocket", "security"].into();
    known.extend(areas);
    let tags: Vec<&str> = tags.filter(|tag| !known.contains(tag)).collect();
    known.extend(tags);
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(only: &[&str], areas: &[&str]) -> Result<Vec<&'static str>, String> {
        let words = |words: &[&str]| words.iter().map(ToString::to_string).collect();
        let choice =
            Choice { named: words(only), areas: words(areas), slow: false, http2: Some(false) };
        let cases = choice.cases().map_err(|refusal| refusal.to_string())?;
        Ok(cases.iter().map(|case| case.id).collect())
    }

    #[test]
    fn cases_are_named_in_full_in_short_and_by_patterns() {
        assert_eq!(ids(&["H1-B01"], &[]).unwrap(), ["H1-B01"]);
        let short = ids(&["b03", "ws-h01"], &[]).unwrap();
        assert!(short.starts_with(&["H1-B03"]) && short.ends_with(&["WS-H01"]), "{short:?}");
        assert!(ids(&["H1-B*"], &[]).unwrap().starts_with(&["H1-B01"]));
        assert!(ids(&["WS-*"], &[]).unwrap().iter().all(|id| id.starts_with("WS-")));
        let why = ids(&["H1-B0l"], &[]).unwrap_err();
        assert!(why.contains("no case is called `H1-B0l`; did you mean `H1-B0"), "{why}");
        assert!(ids(&["X*\u{1b}"], &[]).unwrap_err().contains(r"`X*\u{1b}`; `dyno check --list`"));
    }

    #[test]
    fn areas_protocols_and_tags_are_parts() {
        assert_eq!(ids(&[], &["http2"]).unwrap_err(), "these are cases of HTTP/2: add --http2");
        for name in parts() {
            assert!(part(name).is_ok(), "{name}");
        }
        let socket = ids(&[], &["websocket"]).unwrap();
        assert!(socket.contains(&"WS-H01") && socket.iter().all(|id| id.starts_with("WS-")));
        assert_eq!(ids(&["H1-B04", "H1-B01"], &["chunked"]).unwrap(), ["H1-B04"]);
        assert!(ids(&["H1-B01"], &["websocket"]).unwrap_err().contains("leave no case"));
        let why = ids(&[], &["chunks"]).unwrap_err();
        assert!(why.starts_with(
            "--area: `chunks` is not an area; did you mean `chunked`? say one of http, "
        ));
    }
}
