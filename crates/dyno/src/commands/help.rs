//! `dyno --help`: which command answers which question, and all commands in groups.

use clap::Command;
use clap::error::{ContextKind, ContextValue};

/// What a person looks for, and the command that answers it.
const QUESTIONS: &str = "\
Which command:
  how fast is it, and is every answer right?  dyno load URL
  what do users see at 2,000 requests/s?      dyno load URL -r 2000
  which of these servers is faster?           dyno race 'COMMAND A' 'COMMAND B'
  how much can it take with p99 <= 20 ms?     dyno capacity COMMAND --p99 20ms
  is my commit slower? (for CI)               dyno gate EXPERIMENT --base git:main --head git:HEAD
  which of many, at which loads? (a study)    dyno run EXPERIMENT
  how many connections can it keep open?      dyno hold ws://localhost:8080/
  does it follow the RFCs of HTTP?            dyno check URL
  how do two kept runs differ?                dyno compare 1 2
  since when is it slower?                    dyno trend history.jsonl
  can another tool's result be true?          dyno audit wrk.txt";

const GROUPS: [(&str, &[&str]); 3] = [
    ("Measure", &["load", "hold", "race", "capacity", "gate", "run", "check"]),
    ("Look", &["report", "compare", "trend", "view", "audit", "publish"]),
    ("Provide", &["serve", "servers", "runs", "agents"]),
];

/// The program, whose help has its commands in groups.
pub(crate) fn in_groups(dyno: Command) -> Command {
    let heading = *dyno.get_styles().get_header();
    let (questions, table) = QUESTIONS.split_once('\n').unwrap_or_default();
    let mut groups = String::new();
    for (title, names) in GROUPS {
        groups += &format!("{heading}{title}:{heading:#}\n");
        for command in names.iter().filter_map(|name| dyno.find_subcommand(name)) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            groups += &format!("  {:<10}{about}\n", command.get_name());
        }
        groups.push('\n');
    }
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{heading}{questions}{heading:#}\n{table}\n\n\
         {groups}{heading}Options:{heading:#}\n{{options}}{{after-help}}"
    );
    dyno.before_help(QUESTIONS).help_template(template)
}

/// An error that names the commands below others that are called like an unknown one: `dyno list`.
pub(crate) fn with_places(mut said: clap::Error, dyno: &Command) -> clap::Error {
    let Some(ContextValue::String(name)) = said.get(ContextKind::InvalidSubcommand) else {
        return said;
    };
    let owners = dyno.get_subcommands().filter(|command| command.find_subcommand(name).is_some());
    let places: Vec<String> = owners.map(|owner| format!("{} {name}", owner.get_name())).collect();
    let is_hidden = |name: &str| dyno.find_subcommand(name).is_some_and(Command::is_hide_set);
    let suggested: Vec<String> = match said.get(ContextKind::SuggestedSubcommand) {
        _ if !places.is_empty() => places,
        Some(ContextValue::Strings(names)) => {
            names.iter().filter(|name| !is_hidden(name)).cloned().collect()
        }
        _ => Vec::new(),
    };
    if !suggested.is_empty() {
        said.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(suggested));
    }
    said
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::Cli;

    #[test]
    fn every_command_that_is_shown_is_in_one_group_and_they_are_at_most_eighteen() {
        let dyno = Cli::command();
        let shown = dyno.get_subcommands().filter(|command| !command.is_hide_set());
        let shown: Vec<&str> = shown.map(Command::get_name).collect();
        let grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        assert_eq!(grouped, shown);
        assert!(shown.len() <= 18, "{shown:?}");
        let widest = in_groups(dyno).render_help().to_string();
        let widest = widest.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(100), "{widest:?}");
    }

    #[test]
    fn a_command_that_is_below_another_is_named_with_it() {
        for (typed, place) in [("list", "'servers list', 'runs list'"), ("rm", "'runs rm'")] {
            let dyno = in_groups(Cli::command());
            let said = dyno.clone().try_get_matches_from(["dyno", typed]).unwrap_err();
            let said = with_places(said, &dyno).to_string();
            assert!(said.contains(place), "{said}");
        }
        let dyno = in_groups(Cli::command());
        let said = dyno.clone().try_get_matches_from(["dyno", "agent"]).unwrap_err();
        let said = with_places(said, &dyno).to_string();
        assert!(said.contains("'agents'") && !said.contains("warden"), "{said}");
    }
}
