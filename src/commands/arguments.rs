//! What can be written on the command line.

mod audit;
mod watching;

pub use audit::{Audit, AuditAction, AuditInit, ExportFormat, Verify};
pub use watching::{
    Completions, IncidentAction, IncidentArguments, ReportArguments, ReportFormat, Shell, Watch,
};

use crate::domain::mark::{self, Mark};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Did it happen? Settles jobs that nobody can vouch for, with every decision on record.
#[derive(Debug, Parser)]
#[command(name = "unstuck", version, about, after_help = EXAMPLES, disable_help_subcommand = true)]
pub struct Arguments {
    /// What every command understands.
    #[command(flatten)]
    pub common: Common,
    /// Without a command: the console.
    #[command(subcommand)]
    pub command: Option<Command>,
}

const EXAMPLES: &str = "\
Examples:
  unstuck demo                                       a whole incident to try it on
  unstuck --db sqlite://jobs.db                      the console on a database, without configuration
  unstuck list --db sqlite://jobs.db --json          the findings, one JSON object a line
  unstuck check --all                                ask the providers of every finding
  unstuck decide invoice:7 --source jobs --done --reason \"charged, see ch_000007\"

Exit codes: 0 fine; 1 the answer is \"no\"; 2 usage or configuration; 3 a source, a provider or the audit could not be
reached; 130 stopped by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP. The console, and `watch` without --once, end with 0 then.";

/// What every command understands.
#[derive(Debug, Clone, Args)]
pub struct Common {
    /// The configuration file.
    #[arg(long, global = true, value_name = "FILE", env = "UNSTUCK_CONFIG")]
    pub config: Option<PathBuf>,
    /// A database to look into without any configuration: <sqlite://PATH>, <postgres://USER@HOST/DATABASE>,
    /// <mysql://USER@HOST/DATABASE>. May be given several times.
    #[arg(long, global = true, value_name = "URL")]
    pub db: Vec<String>,
    /// Who decides, for the record.
    #[arg(long, global = true, value_name = "NAME", env = "UNSTUCK_OPERATOR")]
    pub operator: Option<String>,
    /// Refuse every decision before anything leaves the program.
    #[arg(long, global = true)]
    pub read_only: bool,
    /// A deploy, restart or network incident, such as "2026-11-30T12:00:00Z deploy v1.42". May be given several times.
    #[arg(long = "mark", global = true, value_name = "TIME TEXT", value_parser = mark)]
    pub marks: Vec<Mark>,
    /// The audit file, instead of the configuration's or the platform's; or <postgres://USER@HOST/DATABASE>.
    #[arg(long, global = true, value_name = "FILE")]
    pub audit_file: Option<PathBuf>,
}

/// Reads a mark as it is typed.
fn mark(text: &str) -> Result<Mark, String> {
    mark::read_line(text).map_err(|why| format!("{why}; write it as \"TIME TEXT\""))
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// A whole incident on this machine: databases, a provider, the console on top.
    #[command(after_help = "Examples:\n  unstuck demo\n  unstuck demo --headless --seed 7")]
    Demo(Demo),
    /// The findings: items that need a person.
    #[command(
        after_help = "Examples:\n  unstuck list --db sqlite://jobs.db\n  unstuck list --where \"kind:invoice age>2h amount>=100\" --json"
    )]
    List(List),
    /// Ask the providers whether the effects happened.
    #[command(
        after_help = "Examples:\n  unstuck check invoice:7\n  unstuck check --all --where \"finding:ambiguous\" --json\n  unstuck check --all --plan"
    )]
    Check(Check),
    /// Everything that is known of one item: its timeline, and the six questions of an incident.
    #[command(
        after_help = "Examples:\n  unstuck show invoice:7 --source jobs\n  unstuck show invoice:7 --check --json"
    )]
    Show(Show),
    /// What happened more than once, with everything that a refund needs.
    #[command(after_help = "Examples:\n  unstuck duplicates\n  unstuck duplicates --csv > refunds.csv")]
    Duplicates(Duplicates),
    /// Match what the providers did over a window with what the jobs say, both ways.
    #[command(
        after_help = "Examples:\n  unstuck reconcile --since 2h\n  unstuck reconcile --since 7d --csv > mismatches.csv"
    )]
    Reconcile(Reconcile),
    /// Settle one item, or many, with a reason.
    #[command(
        after_help = "Examples:\n  unstuck decide invoice:7 --source jobs --done --reason \"charged: ch_000007\" --dry-run\n  unstuck decide --all --where \"kind:invoice verdict:happened\" --done --reason \"charged\""
    )]
    Decide(Decide),
    /// The decisions that wait for a second person.
    #[command(after_help = "Examples:\n  unstuck proposals\n  unstuck proposals --json")]
    Proposals(Proposals),
    /// Approve a proposal of somebody else's, and carry it out.
    #[command(
        after_help = "Examples:\n  unstuck approve 7c1f02ab --reason \"I see ch_000007 too\"\n  unstuck approve 7c1f02ab --reason \"I see it too\" --dry-run"
    )]
    Approve(Approve),
    /// Take a proposal back, or reject somebody else's.
    #[command(after_help = "Examples:\n  unstuck withdraw 7c1f02ab --reason \"the customer called\"")]
    Withdraw(Withdraw),
    /// The record of checks and decisions.
    #[command(
        after_help = "Examples:\n  unstuck audit list --key invoice:7\n  unstuck audit verify\n  unstuck audit export --format csv > audit.csv"
    )]
    Audit(Audit),
    /// Look again and again without a screen, and tell what is new, changed or gone.
    #[command(
        after_help = "Examples:\n  unstuck watch --every 60s --state watch.json\n  unstuck watch --once --state watch.json --fail-on-findings --metrics unstuck.prom\n  unstuck watch --every 10m --check --state watch.json --webhook https://alerts.example.com/hook"
    )]
    Watch(Watch),
    /// A name, a window and notes for what is going on: they go on record.
    #[command(
        after_help = "Examples:\n  unstuck incident open \"card outage\" --since 2h\n  unstuck incident list"
    )]
    Incident(IncidentArguments),
    /// What happened: every decision with its evidence, counts, money, and what is open.
    #[command(
        after_help = "Examples:\n  unstuck report --incident \"card outage\" --format html --output report.html\n  unstuck report --since 12h | less"
    )]
    Report(ReportArguments),
    /// Look at every source, provider, permission, clock and preset.
    #[command(
        after_help = "Examples:\n  unstuck doctor\n  unstuck doctor --preset payouts.toml --db postgres://ana@db/app"
    )]
    Doctor(Doctor),
    /// Write a configuration from the databases it is pointed at.
    #[command(after_help = "Examples:\n  unstuck init --db postgres://ana@db/app --output config.toml")]
    Init(Init),
    /// What it knows how to read and ask.
    #[command(after_help = "Examples:\n  unstuck presets\n  unstuck presets ledger > presets/ours.toml")]
    Presets(Presets),
    /// The script that completes commands and options in a shell.
    #[command(
        after_help = "Examples:\n  unstuck completions bash > ~/.local/share/bash-completion/completions/unstuck\n  unstuck completions fish > ~/.config/fish/completions/unstuck.fish"
    )]
    Completions(Completions),
}

/// `demo`
#[derive(Debug, Args)]
pub struct Demo {
    /// The same seed makes the same incident.
    #[arg(long, default_value_t = 7, value_name = "NUMBER")]
    pub seed: u64,
    /// How many items each table has.
    #[arg(long, default_value_t = 60, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub items: u32,
    /// No console: print findings, verdicts and a score against what the provider really did.
    #[arg(long)]
    pub headless: bool,
}

/// How findings are printed.
#[derive(Debug, Clone, Copy, Args)]
#[group(multiple = false)]
pub struct Format {
    /// One JSON object a line.
    #[arg(long)]
    pub json: bool,
    /// Comma-separated values.
    #[arg(long)]
    pub csv: bool,
}

/// `list`
#[derive(Debug, Args)]
pub struct List {
    /// How findings are printed.
    #[command(flatten)]
    pub format: Format,
    /// Only findings that pass this filter, such as "kind:invoice age>2h".
    #[arg(long = "where", value_name = "FILTER")]
    pub filter: Option<String>,
    /// Only this source.
    #[arg(long, value_name = "NAME")]
    pub source: Option<String>,
    /// End with 1 when there are findings.
    #[arg(long)]
    pub fail_on_findings: bool,
}

/// `check`
#[derive(Debug, Args)]
pub struct Check {
    /// The items' keys.
    #[arg(value_name = "KEY", required_unless_present = "all", conflicts_with = "all")]
    pub keys: Vec<String>,
    /// Every finding.
    #[arg(long)]
    pub all: bool,
    /// How findings are printed.
    #[command(flatten)]
    pub format: Format,
    /// One by one or by reading the provider's list, instead of whichever is cheaper.
    #[arg(long, value_name = "WAY", requires = "all")]
    pub by: Option<By>,
    /// Only show how they would be asked about, and what that takes.
    #[arg(long, requires = "all")]
    pub plan: bool,
    /// Only findings that pass this filter.
    #[arg(long = "where", value_name = "FILTER")]
    pub filter: Option<String>,
    /// Only this source.
    #[arg(long, value_name = "NAME")]
    pub source: Option<String>,
    /// End with 1 when there are findings.
    #[arg(long)]
    pub fail_on_findings: bool,
}

/// `show`
#[derive(Debug, Args)]
pub struct Show {
    /// The item's key.
    #[arg(value_name = "KEY")]
    pub key: String,
    /// The source it is in; needed where several sources have the key.
    #[arg(long, value_name = "NAME")]
    pub source: Option<String>,
    /// Ask the provider anew, for the effects with their times.
    #[arg(long)]
    pub check: bool,
    /// One JSON object.
    #[arg(long)]
    pub json: bool,
}

/// `duplicates`
#[derive(Debug, Args)]
pub struct Duplicates {
    /// How far back, such as 2h or 7d.
    #[arg(long, value_name = "SPAN", default_value = "7d", value_parser = crate::domain::moment::parse_duration)]
    pub since: chrono::TimeDelta,
    /// Only items of this source.
    #[arg(long, value_name = "NAME")]
    pub source: Option<String>,
    /// How they are printed.
    #[command(flatten)]
    pub format: Format,
    /// End with 1 when there are any.
    #[arg(long)]
    pub fail_on_findings: bool,
}

/// `reconcile`
#[derive(Debug, Args)]
pub struct Reconcile {
    /// How far back, such as 2h or 7d.
    #[arg(long, value_name = "SPAN", value_parser = crate::domain::moment::parse_duration)]
    pub since: chrono::TimeDelta,
    /// Only items of this source, and no effects that no item accounts for.
    #[arg(long, value_name = "NAME")]
    pub source: Option<String>,
    /// How it is printed.
    #[command(flatten)]
    pub format: Format,
    /// End with 1 when something does not match.
    #[arg(long)]
    pub fail_on_findings: bool,
}

/// A way to ask about many findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum By {
    /// A question for each.
    Item,
    /// The provider's list over the window in which the effects can lie, matched here.
    Listing,
}

/// `decide`
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub struct Decide {
    /// The item's key.
    #[arg(value_name = "KEY", required_unless_present = "all", conflicts_with = "all")]
    pub key: Option<String>,
    /// The source it is in; needed where several sources have the key.
    #[arg(long, value_name = "NAME")]
    pub source: Option<String>,
    /// What is chosen.
    #[command(flatten)]
    pub choice: ChoiceArguments,
    /// Why: it goes on record.
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
    /// Insist against the advice.
    #[arg(long = "override")]
    pub insists: bool,
    /// Show the exact statements and write nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Every finding that passes --where and whose advice is this choice.
    #[arg(long, requires = "filter")]
    pub all: bool,
    /// Which findings, such as "kind:invoice verdict:happened".
    #[arg(long = "where", value_name = "FILTER", requires = "all")]
    pub filter: Option<String>,
    /// One JSON object a decision.
    #[arg(long)]
    pub json: bool,
}

/// `proposals`
#[derive(Debug, Args)]
pub struct Proposals {
    /// One JSON object a proposal.
    #[arg(long)]
    pub json: bool,
}

/// `approve`
#[derive(Debug, Args)]
pub struct Approve {
    /// The proposal's id, or its end as `unstuck proposals` shows it.
    #[arg(value_name = "ID")]
    pub id: String,
    /// Why, in your own words: it goes on record beside the proposer's.
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
    /// Insist against the advice; needed where the proposer insists.
    #[arg(long = "override")]
    pub insists: bool,
    /// Show what was proposed, what it is now and the exact statements, and write nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// One JSON object.
    #[arg(long)]
    pub json: bool,
}

/// `withdraw`
#[derive(Debug, Args)]
pub struct Withdraw {
    /// The proposal's id, or its end as `unstuck proposals` shows it.
    #[arg(value_name = "ID")]
    pub id: String,
    /// Why: it goes on record.
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
}

/// Exactly one choice.
#[derive(Debug, Clone, Copy, Args)]
#[group(required = true, multiple = false)]
pub struct ChoiceArguments {
    /// Write down that the effect is there.
    #[arg(long)]
    pub done: bool,
    /// Let the job system try again.
    #[arg(long)]
    pub retry: bool,
    /// Hand it to somebody else.
    #[arg(long)]
    pub escalate: bool,
}

/// `doctor`
#[derive(Debug, Args)]
pub struct Doctor {
    /// Tries this preset file on the databases of `--db`, reads only, and says what it sees.
    #[arg(long, value_name = "FILE", conflicts_with = "provider")]
    pub preset: Option<PathBuf>,
    /// Asks this configured provider about --reference and shows step by step what comes of it.
    #[arg(long, value_name = "NAME", requires = "reference")]
    pub provider: Option<String>,
    /// What the provider knows the effect by.
    #[arg(long, value_name = "TEXT", requires = "provider")]
    pub reference: Option<String>,
    /// Which of the provider's operations; not needed where it has one.
    #[arg(long, value_name = "NAME", requires = "provider")]
    pub operation: Option<String>,
    /// When the effect was tried: how long ago (3h), or the moment. Without it an absence proves nothing.
    #[arg(long, value_name = "WHEN", requires = "provider")]
    pub tried: Option<String>,
    /// A field of the item, where the operation's request needs one; may be repeated.
    #[arg(long = "field", value_name = "NAME=VALUE", requires = "provider", value_parser = field)]
    pub fields: Vec<(String, String)>,
    /// Keeps the answers in this folder, personal details struck out. No file is written over.
    #[arg(long, value_name = "DIR", requires = "provider")]
    pub record: Option<PathBuf>,
    /// One JSON object a line.
    #[arg(long)]
    pub json: bool,
}

fn field(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// `init`
#[derive(Debug, Args)]
pub struct Init {
    /// The file to write; `-` is standard output.
    #[arg(long, default_value = "-", value_name = "FILE")]
    pub output: String,
}

/// `presets`
#[derive(Debug, Args)]
pub struct Presets {
    /// Prints the JSON schema of source presets, for editors.
    #[arg(long, conflicts_with = "name")]
    pub schema: bool,
    /// Print this one whole.
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// One JSON object a line.
    #[arg(long)]
    pub json: bool,
}
