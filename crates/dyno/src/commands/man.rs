//! `dyno man`: the pages of the manual, made from the flags and from the text that `--help` prints.

use std::fs;
use std::io;
use std::iter;
use std::path::PathBuf;

use clap::{Arg, Args, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use crate::shell::{ExitStatus, Refusal, print};

/// Print a page of the manual, or write all of them
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ManFlags {
    /// The page of this command [default: the page of dyno itself]
    command: Option<String>,
    /// Write the pages of all commands into this folder
    #[arg(long, value_name = "FOLDER", conflicts_with = "command")]
    to: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
Examples:
  dyno man load | man -l -
  dyno man --to ~/.local/share/man/man1

Exit codes:
  0    printed or written
  2    there is no such command, or the folder cannot be written to";

pub(crate) fn run(flags: &ManFlags, dyno: Command) -> Result<ExitStatus, Refusal> {
    let pages = pages(dyno);
    let Some(folder) = &flags.to else {
        let name = flags.command.as_ref().map_or("dyno".into(), |name| format!("dyno-{name}"));
        let page = pages.iter().find(|page| page.name == name).ok_or_else(|| {
            Refusal::new(format!("there is no page {name}; `dyno --help` lists the commands"))
        })?;
        return print(&page.text);
    };
    for page in pages {
        let path = folder.join(page.name + ".1");
        fs::write(&path, page.text)
            .map_err(|error| Refusal::new(format!("--to: {}: {error}", path.display())))?;
    }
    Ok(ExitStatus::Yes)
}

struct Page {
    name: String,
    text: String,
}

/// The page of dyno itself, and one for each command that `--help` shows.
fn pages(dyno: Command) -> Vec<Page> {
    let mut dyno = dyno.disable_help_subcommand(true).subcommand_help_heading("COMMANDS");
    dyno.build();
    with_commands(&dyno).into_iter().map(page).collect()
}

/// A command, and all below it that are shown.
fn with_commands(command: &Command) -> Vec<&Command> {
    let below = command.get_subcommands().filter(|it| !it.is_hide_set());
    iter::once(command).chain(below.flat_map(with_commands)).collect()
}

fn page(command: &Command) -> Page {
    let name = command.get_display_name().unwrap_or(command.get_name()).to_string();
    let mut text = Vec::new();
    write(command, &name, &mut text).expect("memory takes all that is written");
    Page { name, text: String::from_utf8_lossy(&text).into_owned() }
}

fn write(command: &Command, name: &str, text: &mut Vec<u8>) -> io::Result<()> {
    let generated = Man::new(command.clone().mut_args(complete));
    head(name).to_writer(text)?;
    generated.render_name_section(text)?;
    synopsis(command).to_writer(text)?;
    generated.render_description_section(text)?;
    let before = command.get_before_help().map(ToString::to_string).unwrap_or_default();
    sections(&before).to_writer(text)?;
    if command.has_subcommands() {
        generated.render_subcommands_section(text)?;
    }
    generated.render_options_section(text)?;
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    sections(&after).to_writer(text)?;
    if !command.has_subcommands() {
        let mut also = Roff::new();
        also.control("SH", ["SEE ALSO"]).text([bold("dyno"), roman("(1)")]);
        also.to_writer(text)?;
    }
    Ok(())
}

/// `--help` lists arguments by themselves, and shows the other names of a flag; the generator does neither.
fn complete(flag: Arg) -> Arg {
    if flag.is_positional() {
        return flag.help_heading("Arguments");
    }
    let names = flag.get_visible_aliases().unwrap_or_default();
    if names.is_empty() {
        return flag;
    }
    let help = flag.get_help().cloned().unwrap_or_default();
    let help = format!("{help} [alias: --{}]", names.join(", --"));
    flag.help(help)
}

/// The empty quotation marks are the date: the same flags always make the same page. No word is divided, and no gap
/// widened, to fill a line.
fn head(name: &str) -> Roff {
    let version = format!("dyno {}", env!("CARGO_PKG_VERSION"));
    let title = name.to_uppercase();
    let mut roff = Roff::new();
    roff.control("TH", [title.as_str(), "1", "\"\"", version.as_str(), "Manual of dyno"]);
    roff.control("nh", []).control("ad", ["l"]);
    roff
}

fn synopsis(command: &Command) -> Roff {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ");
    let program = command.get_bin_name().unwrap_or(command.get_name());
    let flags = usage.strip_prefix(program).unwrap_or(usage);
    let mut roff = Roff::new();
    roff.control("SH", ["SYNOPSIS"]).text([bold(program), roman(flags)]);
    roff
}

/// What `--help` prints before the commands, or after the flags: paragraphs, of which questions, examples and exit codes
/// have a heading.
fn sections(after: &str) -> Roff {
    let mut roff = Roff::new();
    let mut is_noted = false;
    for paragraph in after.split("\n\n") {
        match paragraph.split_once(":\n") {
            Some((heading @ ("Examples" | "Which command"), lines)) => {
                roff.control("SH", [heading.to_uppercase().as_str()]).control("nf", []);
                for line in lines.lines() {
                    roff.text([roman(line.trim_start())]);
                }
                roff.control("fi", []);
            }
            Some(("Exit codes", lines)) => {
                roff.control("SH", ["EXIT STATUS"]);
                for (code, meaning) in lines.lines().filter_map(|it| it.trim().split_once(' ')) {
                    roff.control("TP", []).text([bold(code)]).text([roman(meaning.trim())]);
                }
            }
            Some(_) | None => {
                let (control, heading) =
                    if is_noted { ("PP", None) } else { ("SH", Some("NOTES")) };
                roff.control(control, heading).text([roman(paragraph)]);
                is_noted = true;
            }
        }
    }
    roff
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::Cli;
    use crate::commands::in_groups;

    /// A page as its reader sees it, in one line.
    fn shown(page: &str) -> String {
        let escapes = [
            ("\\fB", ""),
            ("\\fI", ""),
            ("\\fR", ""),
            ("\\&", ""),
            ("\\-", "-"),
            ("\\*(Aq", "'"),
            ("\\\\", "\\"),
        ];
        let text = page.lines().filter(|line| !line.starts_with('.')).collect::<Vec<_>>().join(" ");
        words(&escapes.iter().fold(text, |text, (escape, plain)| text.replace(escape, plain)))
    }

    /// The words, whatever stands between them.
    fn words(text: &str) -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// All that `--help` says of a flag.
    fn said(flag: &Arg) -> Vec<String> {
        let help = flag.get_long_help().or(flag.get_help()).map(ToString::to_string);
        let long = flag.get_long().map(|name| format!("--{name}"));
        let short = flag.get_short().map(|name| format!("-{name},"));
        let aliases = flag.get_visible_aliases().unwrap_or_default();
        let mut said: Vec<String> = aliases.iter().map(|name| format!("--{name}")).collect();
        said.extend([help, long, short].into_iter().flatten());
        if flag.get_action().takes_values() {
            let names = flag.get_value_names().unwrap_or_default();
            said.extend(names.iter().map(ToString::to_string));
            let usual = flag.get_default_values().iter();
            said.extend(usual.map(|value| format!("[default: {}]", value.to_string_lossy())));
            for value in flag.get_possible_values() {
                said.extend(value.get_help().map(ToString::to_string));
                said.push(value.get_name().to_string());
            }
        }
        said
    }

    #[test]
    fn every_page_has_all_the_text_of_its_help() {
        let mut dyno = in_groups(Cli::command()).disable_help_subcommand(true);
        dyno.build();
        let pages = pages(in_groups(Cli::command()));
        for command in with_commands(&dyno) {
            let name = command.get_bin_name().unwrap_or("dyno").replace(' ', "-");
            let page = pages.iter().find(|page| page.name == name);
            let page = shown(&page.unwrap_or_else(|| panic!("{name} has no page")).text);
            let about = command.get_long_about().or(command.get_about()).map(ToString::to_string);
            let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            for part in ["Examples:\n", "\n\nExit codes:\n"] {
                assert!(after.contains(part), "the help of {name} has no part {part:?}");
            }
            let lines = after.lines().filter(|line| !["Examples:", "Exit codes:"].contains(line));
            let flags = command.get_arguments().filter(|it| !it.is_hide_set());
            let mut all: Vec<String> = flags.flat_map(said).collect();
            all.extend(about.iter().flat_map(|text| text.lines()).map(String::from));
            all.extend(lines.map(String::from));
            let before = command.get_before_help().map(ToString::to_string).unwrap_or_default();
            all.extend(before.lines().skip(1).map(String::from));
            for text in all {
                assert!(page.contains(&words(&text)), "not on {name}'s page: {text}\n{page}");
            }
        }
        assert_eq!(pages.len(), with_commands(&dyno).len());
    }

    #[test]
    fn only_what_dyno_s_own_children_shells_and_packages_start_is_hidden() {
        let dyno = Cli::command();
        let hidden = dyno.get_subcommands().filter(|it| it.is_hide_set());
        assert_eq!(
            hidden.map(Command::get_name).collect::<Vec<_>>(),
            ["completions", "man", "warden"]
        );
    }

    /// The arguments of a line as a shell splits them; what stands between apostrophes is one of them.
    fn arguments(line: &str) -> Vec<String> {
        let parts = line.split('\'').enumerate();
        let arguments = parts.flat_map(|(place, part)| match place % 2 {
            0 => part.split_whitespace().map(String::from).collect(),
            _ => vec![part.to_string()],
        });
        arguments.take_while(|argument| ![">", ">>", "|"].contains(&argument.as_str())).collect()
    }

    #[test]
    fn every_example_is_understood() {
        let mut examples = 0;
        let dyno = Cli::command();
        let hidden = dyno.get_subcommands().filter(|it| it.is_hide_set());
        for command in with_commands(&dyno).into_iter().chain(hidden) {
            let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let lines = after.lines().map(|line| line.trim_start_matches("  sudo ").trim_start());
            for line in lines.filter(|line| line.starts_with("dyno ")) {
                let parsed = Cli::try_parse_from(arguments(line));
                assert!(
                    parsed.is_ok(),
                    "{line}: {}",
                    parsed.err().map_or(String::new(), |it| it.to_string())
                );
                examples += 1;
            }
        }
        assert!(30 < examples, "{examples}");
    }
}
