//! `dyno completions`: the script with which a shell completes commands and flags, made from the flags themselves.

use clap::{Args, Command};
use clap_complete::Shell;

use crate::shell::{ExitStatus, Refusal, print};

/// Print a script with which a shell completes commands and flags
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct CompletionsFlags {
    /// The shell
    shell: Shell,
}

const AFTER_HELP: &str = "\
`make install` installs these scripts for bash, zsh and fish. The examples do it by hand, for one user.

Examples:
  dyno completions bash > ~/.local/share/bash-completion/completions/dyno
  dyno completions fish > ~/.config/fish/completions/dyno.fish
  # into any folder of zsh's $fpath
  dyno completions zsh > ~/.zfunc/_dyno

Exit codes:
  0    printed
  2    no such shell";

pub(crate) fn run(flags: &CompletionsFlags, dyno: &Command) -> Result<ExitStatus, Refusal> {
    print(&script(flags.shell, dyno))
}

fn script(shell: Shell, dyno: &Command) -> String {
    let mut script = Vec::new();
    let mut shown = shown(dyno).version(env!("CARGO_PKG_VERSION"));
    clap_complete::generate(shell, &mut shown, "dyno", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// The command without its hidden commands and flags, which a script would offer like all others.
fn shown(command: &Command) -> Command {
    let commands = command.get_subcommands().filter(|it| !it.is_hide_set()).map(shown);
    let flags = command.get_arguments().filter(|it| !it.is_hide_set()).cloned();
    Command::new(command.get_name().to_string())
        .about(command.get_about().cloned().unwrap_or_default())
        .args(flags)
        .subcommands(commands)
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, ValueEnum};

    use super::*;

    #[test]
    fn every_shell_gets_the_commands_and_flags_that_help_shows_and_no_others() {
        for shell in Shell::value_variants() {
            let script = script(*shell, &crate::Cli::command());
            for word in ["calibrate", "prune", "max-connections", "version"] {
                assert!(script.contains(word), "{shell}: {word}");
            }
            for word in ["warden", "until-stdin-ends"] {
                assert!(!script.contains(word), "{shell}: {word}");
            }
        }
    }
}
