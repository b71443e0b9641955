//! What the argument parser has against a call, in one line what and one line what to do.

use super::failure::{Exit, Failure};
use clap::error::{ContextKind, ErrorKind};

/// Ends a call that the parser does not hand on: a help that was asked for is printed, anything else is a wrong call.
///
/// # Errors
/// The wrong call.
pub fn ended(fault: &clap::Error) -> Result<Exit, Failure> {
    match fault.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            fault.print()?;
            Ok(Exit::Fine)
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            fault.print()?;
            Ok(Exit::Usage)
        }
        _ => Err(in_two_lines(fault)),
    }
}

/// The parser's paragraphs as two lines: what it has against the call, and its tips with where to read on.
fn in_two_lines(fault: &clap::Error) -> Failure {
    let text = fault.render().to_string();
    let paragraphs: Vec<&str> = text.split("\n\n").collect();
    let what =
        paragraphs.first().map(|first| one_line(first.trim_start_matches("error:"))).unwrap_or_default();
    let tips = text.lines().filter_map(|line| line.trim_start().strip_prefix("tip:"));
    let mut to_do: Vec<String> = tips.map(|tip| sentence(tip.trim())).collect();
    to_do.push(format!("`{} --help` shows what there is.", command_of(fault)));
    Failure::usage(what, to_do.join(" "))
}

/// The command that was called, by its usage line: `unstuck audit verify`.
fn command_of(fault: &clap::Error) -> String {
    let usage = fault.get(ContextKind::Usage).map(ToString::to_string).unwrap_or_default();
    let words = usage.split_whitespace().skip_while(|word| *word != "unstuck");
    let is_name =
        |word: &&str| word.chars().all(|c| c.is_ascii_lowercase() || c == '-') && !word.starts_with('-');
    let named: Vec<&str> = words.take_while(is_name).collect();
    if named.is_empty() { "unstuck".to_owned() } else { named.join(" ") }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn sentence(tip: &str) -> String {
    let mut letters = tip.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str().trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::arguments::Arguments;
    use clap::Parser;
    use rstest::rstest;

    #[rstest]
    #[case::option(
        "list --jsn",
        "unexpected argument '--jsn' found",
        "A similar argument exists: '--json'. `unstuck list --help` shows what there is."
    )]
    #[case::command(
        "chek",
        "unrecognized subcommand 'chek'",
        "A similar subcommand exists: 'check'. `unstuck --help` shows what there is."
    )]
    #[case::value(
        "report --format htm",
        "invalid value 'htm' for '--format <FORMAT>' [possible values: md, html, json, csv]",
        "A similar value exists: 'html'. `unstuck --help` shows what there is."
    )]
    #[case::missing(
        "decide inv-1 --done",
        "the following required arguments were not provided: --reason <TEXT>",
        "`unstuck decide --help` shows what there is."
    )]
    fn a_wrong_call_is_told_in_two_lines_with_the_parsers_tip(
        #[case] call: &str,
        #[case] what: &str,
        #[case] do_next: &str,
    ) {
        let fault = Arguments::try_parse_from(["unstuck"].into_iter().chain(call.split(' '))).unwrap_err();
        assert_eq!(ended(&fault), Err(Failure::usage(what, do_next)));
    }
}
