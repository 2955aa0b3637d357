//! Runs: the command line of dyno. No protocol bytes, no statistics.

mod ceiling;
mod check;
mod commands;
mod generators;
mod history;
mod interrupt;
mod kernel;
mod load_agents;
mod loads;
mod one_of;
mod order;
mod origin;
mod own_server;
mod results;
mod session;
mod shell;
mod sides;
mod signing;
mod stores;
mod unfinished;

use std::io;
use std::process::ExitCode;

use clap::error::ContextValue;
use clap::{CommandFactory, FromArgMatches, Parser};

use commands::Command;

/// A benchmark for HTTP servers that checks every answer, and says whether its numbers can be believed.
#[derive(Parser)]
#[command(name = "dyno", version, arg_required_else_help = true)]
#[command(after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
`dyno help COMMAND` explains a command, its flags, and what its exit codes mean. `dyno help completions` and `dyno help \
man` explain how to install shell completions and manual pages.

Examples:
  # race two servers: no file and no project is needed
  dyno race 'node a.js --port {port}' 'node b.js --port {port}'
  # load one server, and watch it
  dyno load localhost:8080/hello
  # compare the servers that this machine can run
  dyno run demo
  # the newest run again; all runs in a browser
  dyno report
  dyno view

Exit codes:
  0    completed, and nothing was found to be wrong
  1    completed, and something is wrong: failures, broken clauses, a slower server
  2    not completed, or the data cannot decide
  130  interrupted; what was measured until then is reported";

/// Looks for what a command that starts servers cannot do without, before it does anything.
fn refuse_early(command: &Command) -> Result<(), shell::Refusal> {
    match command {
        Command::Race(_)
        | Command::Capacity(_)
        | Command::Run(_)
        | Command::Check(_)
        | Command::Gate(_) => kernel::check(),
        _ => Ok(()),
    }
}

/// Prints the help, the version or what is wrong with the flags.
fn explain(said: &clap::Error) -> ExitCode {
    if said.use_stderr() {
        terminal::notice(refused_words(said).trim_end());
        return shell::ExitStatus::CouldNotTell.into();
    }
    match said.print() {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            terminal::notice(&format!("dyno: standard output: {error}"));
            shell::ExitStatus::CouldNotTell.into()
        }
        Ok(()) | Err(_) => shell::ExitStatus::Yes.into(),
    }
}

/// What is wrong with the flags, in clap's words, which repeat the user's: an address without its password.
fn refused_words(said: &clap::Error) -> String {
    let mut text = said.render().to_string();
    for (_, value) in said.context() {
        let words = match value {
            ContextValue::String(word) => std::slice::from_ref(word),
            ContextValue::Strings(words) => words.as_slice(),
            _ => &[],
        };
        for word in words {
            let shown = units::without_password(word);
            if shown == *word {
                continue;
            }
            // Words with blanks are quoted as Rust does.
            text = text.replace(word, &shown).replace(&word.escape_debug().to_string(), &shown);
        }
    }
    text
}

fn main() -> ExitCode {
    let dyno = commands::in_groups(Cli::command());
    let parsed = dyno.clone().try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(said) => return explain(&commands::with_places(said, &dyno)),
    };
    terminal::restore_on_panic();
    interrupt::survive_file_limits();
    if let Err(refusal) = refuse_early(&cli.command) {
        terminal::notice(&format!("dyno: {refusal}"));
        return shell::ExitStatus::CouldNotTell.into();
    }
    let done = match cli.command {
        Command::Race(flags) => commands::race::run(&flags),
        Command::Run(flags) => commands::run::run(&flags),
        Command::Capacity(flags) => commands::capacity::run(&flags),
        Command::Audit(flags) => commands::audit::run(&flags),
        Command::Report(flags) => commands::report::run(&flags),
        Command::Gate(flags) => commands::gate::run(&flags),
        Command::Compare(flags) => commands::compare::run(&flags),
        Command::Publish(flags) => commands::publish::run(&flags),
        Command::Trend(flags) => commands::trend::run(&flags),
        Command::View(flags) => commands::view::run(&flags),
        Command::Check(flags) => commands::check::run(&flags),
        Command::Load(flags) => commands::load::run(&flags),
        Command::Hold(flags) => commands::hold::run(&flags),
        Command::Serve(flags) => commands::serve::run(&flags),
        Command::Servers(flags) => commands::servers::run(&flags),
        Command::Runs(flags) => commands::runs::run(&flags),
        Command::Agents(flags) => commands::agents::run(&flags),
        Command::Completions(flags) => commands::completions::run(&flags, &dyno),
        Command::Man(flags) => commands::man::run(&flags, dyno),
        Command::Warden => return commands::warden::run(),
    };
    match done {
        Ok(answer) => answer.into(),
        Err(refusal) => {
            terminal::notice(&format!("dyno: {refusal}"));
            shell::ExitStatus::CouldNotTell.into()
        }
    }
}
