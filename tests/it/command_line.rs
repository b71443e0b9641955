//! The help, the man page, the reference and the completions: drawn from the arguments, and never behind them.

use crate::world::World;
use clap::{Command, CommandFactory};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use unstuck::commands::arguments::Arguments;

fn program() -> Command {
    // The width of a terminal is nobody's business in a file.
    let mut program = Arguments::command().term_width(100);
    program.build();
    program
}

fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Compares a committed file with what it is drawn from; `UNSTUCK_UPDATE=1` writes it instead.
fn compare(path: &str, drawn: &str) {
    let file = root(path);
    if std::env::vars_os().any(|(name, value)| name == "UNSTUCK_UPDATE" && value == "1") {
        std::fs::write(&file, drawn).unwrap();
    }
    let committed = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        committed == drawn,
        "{path} is behind the arguments: UNSTUCK_UPDATE=1 cargo test --test it command_line"
    );
}

/// Every command with those below it, by the words that call it.
fn commands(command: &Command, words: &str, all: &mut Vec<(String, Command)>) {
    all.push((words.to_owned(), command.clone()));
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        commands(below, &format!("{words} {}", below.get_name()), all);
    }
}

fn every_command() -> Vec<(String, Command)> {
    let mut all = Vec::new();
    commands(&program(), "unstuck", &mut all);
    all
}

#[test]
fn the_reference_is_what_help_says() {
    let mut drawn =
        "# Commands\n\nDrawn from the program's own help, which `unstuck COMMAND --help` prints.\n"
            .to_owned();
    for (words, mut command) in every_command() {
        let help = command.render_help().to_string();
        let help: Vec<&str> = help.lines().map(str::trim_end).collect();
        write!(drawn, "\n## `{words}`\n\n```text\n{}\n```\n", help.join("\n").trim_end()).unwrap();
    }
    compare("docs/commands.md", &drawn);
}

#[test]
fn the_man_page_is_what_help_says() {
    let mut drawn = Vec::new();
    let (_, first) = every_command().remove(0);
    clap_mangen::Man::new(first).date("").render(&mut drawn).unwrap();
    let mut drawn = String::from_utf8(drawn).unwrap();
    for (words, command) in every_command().into_iter().skip(1) {
        let man = clap_mangen::Man::new(command);
        let mut part = Vec::new();
        man.render_description_section(&mut part).unwrap();
        man.render_options_section(&mut part).unwrap();
        let part = String::from_utf8(part).unwrap();
        // The page has one section a command; what stands on its own in a page of its own stands below it here.
        let part = part.replace(".SH DESCRIPTION\n", "").replace(".SH OPTIONS\n", "");
        let part = part.replace(".ie \\n(.g .ds Aq \\(aq\n.el .ds Aq '\n", "");
        write!(drawn, ".SH {}\n{part}", words.to_uppercase()).unwrap();
    }
    // One page for all: there are no others to refer to.
    for (words, _) in every_command().into_iter().skip(1) {
        drawn = drawn.replace(&format!("{}(1)", words.replace(' ', "\\-")), &words);
    }
    compare("docs/man/unstuck.1", &drawn);
    assert!(drawn.contains(".SH UNSTUCK AUDIT VERIFY\n") && drawn.starts_with(".ie "), "{}", &drawn[..200]);
}

/// Whoever asks a command for help at 3 a.m. wants to see how it is called.
#[test]
fn every_command_shows_an_example_that_can_be_parsed() {
    for (words, command) in every_command() {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let examples: Vec<&str> =
            help.lines().filter(|line| line.trim_start().starts_with("unstuck")).collect();
        assert!(!examples.is_empty(), "`{words} --help` shows no example");
        for example in examples {
            let call = example.trim().split("   ").next().unwrap();
            let call = call.split(" > ").next().unwrap().split(" | ").next().unwrap();
            let arguments = shell_words(call);
            let parsed = program().try_get_matches_from(&arguments);
            assert!(parsed.is_ok(), "{words}: {call}: {}", parsed.unwrap_err());
            assert!(call.starts_with(&words), "{words} shows another command: {call}");
        }
    }
}

/// Words at spaces; double quotes hold one together.
fn shell_words(call: &str) -> Vec<String> {
    let parts = call.split('"').enumerate();
    let mut words: Vec<String> = Vec::new();
    for (at, part) in parts {
        if at % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

#[test]
fn each_shell_has_its_completions() {
    let world = World::new();
    for (shell, begins) in
        [("bash", "_unstuck() {"), ("zsh", "#compdef unstuck"), ("fish", "# Print an optspec")]
    {
        let ran = world.run(&format!("completions {shell}"));
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{shell}");
        assert!(ran.out.starts_with(begins), "{shell}: {}", &ran.out[..80]);
        for word in ["reconcile", "fail-on-findings", "incident", "checkpoint"] {
            assert!(ran.out.contains(word), "{shell} knows no {word}");
        }
    }
    assert_eq!(world.run("completions tcsh").code, Some(2));
}

/// Bash itself takes the script, and completes with it.
#[test]
fn bash_completes_with_it() {
    let world = World::new();
    world.write("unstuck.bash", world.run("completions bash").out);
    let script = "source ./unstuck.bash; COMP_WORDS=(unstuck incident o); COMP_CWORD=2; _unstuck unstuck o incident; echo ${COMPREPLY[@]}";
    let Ok(ran) =
        std::process::Command::new("bash").args(["-c", script]).current_dir(world.path("")).output()
    else {
        eprintln!("skipped: there is no bash");
        return;
    };
    assert_eq!(String::from_utf8_lossy(&ran.stdout).trim(), "open", "{ran:?}");
}
