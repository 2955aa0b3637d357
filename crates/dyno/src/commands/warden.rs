//! `dyno warden`: dyno's own child, which starts a subject and outlives dyno if necessary. Not for users.

use std::process::ExitCode;

pub(crate) fn run() -> ExitCode {
    let code = machine::process::warden_main(std::io::stdin(), std::io::stdout());
    ExitCode::from(u8::try_from(code).unwrap_or(2))
}
