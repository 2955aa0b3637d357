//! Values as a file writes them, which are read where they stand: what is wrong with one has its line.

use std::time::Duration;

use serde::Deserialize;

use crate::amounts;
use crate::experiment::check::CONNECTIONS_MAX;
use crate::search_goal;

/// Values that are written as texts.
macro_rules! texts {
    ($($Name:ident($Value:ty) = $read:path;)*) => {$(
        #[derive(Clone, Copy, Deserialize)]
        #[serde(try_from = "String")]
        pub(super) struct $Name(pub(super) $Value);

        impl TryFrom<String> for $Name {
            type Error = String;

            fn try_from(text: String) -> Result<$Name, String> {
                $read(&text).map($Name)
            }
        }
    )*};
}

texts! {
    Time(Duration) = amounts::time;
    TimeOrNone(Duration) = amounts::time_or_none;
    Percent(f64) = amounts::percent;
    Within(f64) = within;
    SearchFailures(f64) = search_goal::failures;
    SearchWidth(f64) = search_goal::width;
    SearchTime(Duration) = search_goal::limit;
}

/// How narrow an interval is to be, as a share to either side: `±3%`.
fn within(text: &str) -> Result<f64, String> {
    let bare = text.strip_prefix('±').or(text.strip_prefix("+-")).unwrap_or(text);
    let percent = bare.strip_suffix('%').and_then(|digits| digits.trim().parse::<f64>().ok());
    percent.map(|percent| percent / 100.0).ok_or_else(|| {
        let shown = text.escape_debug();
        format!("`{shown}` is not an interval; write it like \"±3%\", from ±0.1% to ±50%")
    })
}

/// At least 1.
#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "u64")]
pub(super) struct Count<const MOST: u64>(pub(super) u64);

pub(super) type Connections = Count<CONNECTIONS_MAX>;

impl<const MOST: u64> TryFrom<u64> for Count<MOST> {
    type Error = String;

    fn try_from(number: u64) -> Result<Count<MOST>, String> {
        match number {
            0 => Err("it must be at least 1".into()),
            number if number <= MOST => Ok(Count(number)),
            _ => Err(format!("at most {MOST}")),
        }
    }
}
