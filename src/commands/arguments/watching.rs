//! What can be written after `watch`, `incident`, `report` and `completions`.

use crate::domain::moment::When;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// `watch`
#[derive(Debug, Args)]
pub struct Watch {
    /// How long from one look to the next, such as 60s or 5m.
    #[arg(long, default_value = "60s", value_name = "SPAN", value_parser = crate::domain::moment::parse_duration)]
    pub every: chrono::TimeDelta,
    /// Look once and end.
    #[arg(long)]
    pub once: bool,
    /// Remember in this file what was seen, so that the next watch tells only what is new since.
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// Send what is new, changed or gone to this address, once, as JSON. A secret goes into `[watch]` of the configuration.
    #[arg(long, value_name = "URL")]
    pub webhook: Option<String>,
    /// Write what is known to this file after each look, for the textfile collector of `node_exporter`.
    #[arg(long, value_name = "FILE")]
    pub metrics: Option<PathBuf>,
    /// Ask the providers about every finding at each look, and put that on record.
    #[arg(long)]
    pub check: bool,
    /// Only findings that pass this filter.
    #[arg(long = "where", value_name = "FILTER")]
    pub filter: Option<String>,
    /// Only this source.
    #[arg(long, value_name = "NAME")]
    pub source: Option<String>,
    /// With --once: end with 1 when there are findings, new or not.
    #[arg(long, requires = "once")]
    pub fail_on_findings: bool,
}

/// `incident`
#[derive(Debug, Args)]
pub struct IncidentArguments {
    /// What to do.
    #[command(subcommand)]
    pub action: IncidentAction,
}

/// What to do with incidents.
#[derive(Debug, Subcommand)]
pub enum IncidentAction {
    /// Give what is going on a name.
    #[command(
        after_help = "Examples:\n  unstuck incident open \"card outage\" --since 2h --note \"time-outs since the deploy\""
    )]
    Open {
        /// Its name.
        #[arg(value_name = "NAME")]
        name: String,
        /// Since when it counts, such as 2h or 2026-11-30T08:15; now where it is not said.
        #[arg(long, value_name = "TIME", value_parser = When::parse)]
        since: Option<When>,
        /// The first note.
        #[arg(long, value_name = "TEXT")]
        note: Option<String>,
    },
    /// Write something down about one.
    #[command(after_help = "Examples:\n  unstuck incident note \"card outage\" \"the provider is back\"")]
    Note {
        /// Its name.
        #[arg(value_name = "NAME")]
        name: String,
        /// What to write down.
        #[arg(value_name = "TEXT")]
        text: String,
    },
    /// It is over.
    #[command(after_help = "Examples:\n  unstuck incident close \"card outage\" --note \"all settled\"")]
    Close {
        /// Its name.
        #[arg(value_name = "NAME")]
        name: String,
        /// A last note.
        #[arg(long, value_name = "TEXT")]
        note: Option<String>,
    },
    /// Those there are, the latest first.
    #[command(after_help = "Examples:\n  unstuck incident list --json")]
    List {
        /// One JSON object an incident.
        #[arg(long)]
        json: bool,
    },
}

/// `report`
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// What happened in this incident's window.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["since", "until"])]
    pub incident: Option<String>,
    /// From when on, such as 12h or 2026-11-30T08:15; the last 24 h where neither this nor --incident is named.
    #[arg(long, value_name = "TIME", value_parser = When::parse)]
    pub since: Option<When>,
    /// Until when; now where it is not said.
    #[arg(long, value_name = "TIME", value_parser = When::parse, requires = "since")]
    pub until: Option<When>,
    /// As what.
    #[arg(long, default_value = "md", value_name = "FORMAT")]
    pub format: ReportFormat,
    /// The file to write; `-` is standard output.
    #[arg(long, default_value = "-", value_name = "FILE")]
    pub output: String,
}

/// How a report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// Markdown, for a pager.
    Md,
    /// One page that needs nothing else, for a browser.
    Html,
    /// One JSON object.
    Json,
    /// The decisions as comma-separated values.
    Csv,
}

/// `completions`
#[derive(Debug, Args)]
pub struct Completions {
    /// Which shell.
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

/// A shell that completions can be written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// Bash.
    Bash,
    /// Zsh.
    Zsh,
    /// Fish.
    Fish,
}
