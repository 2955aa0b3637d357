//! A race: sides that need neither files nor a project, told apart, written as the texts that the lab reads, and asked
//! once before the load.

mod asked;
pub(crate) mod ceiling;
pub(crate) mod label;
pub(crate) mod look;
pub(crate) mod side;
pub(crate) mod slices;
pub(crate) mod texts;

use lab::command::shown;

/// The command as it was typed.
pub(crate) fn command_line() -> String {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    shown(&std::iter::once("dyno".to_string()).chain(words).collect::<Vec<_>>())
}
