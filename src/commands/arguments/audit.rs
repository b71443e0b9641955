//! What can be written after `audit`.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// `audit`
#[derive(Debug, Args)]
pub struct Audit {
    /// What to do with it.
    #[command(subcommand)]
    pub action: AuditAction,
}

/// What to do with the audit.
#[derive(Debug, Subcommand)]
pub enum AuditAction {
    /// Make an audit for many operators in a PostgreSQL database. Nothing else ever makes one.
    #[command(
        after_help = "Examples:\n  unstuck audit init --grant on_call --dry-run\n  unstuck audit init --grant on_call"
    )]
    Init(AuditInit),
    /// The latest entries.
    #[command(after_help = "Examples:\n  unstuck audit list --key invoice:7 --limit 20")]
    List {
        /// Only entries of this key.
        #[arg(long, value_name = "KEY")]
        key: Option<String>,
        /// How many.
        #[arg(long, default_value_t = 50, value_name = "COUNT")]
        limit: usize,
        /// One JSON object a line.
        #[arg(long)]
        json: bool,
    },
    /// Find any change, removal or reordering. Ends with 1 when there is one.
    #[command(
        after_help = "Examples:\n  unstuck audit verify\n  unstuck audit verify --export audit.jsonl --key audit.pub"
    )]
    Verify(Verify),
    /// The public half of the key that signs the audit, and its fingerprint: keep a copy elsewhere.
    #[command(after_help = "Examples:\n  unstuck audit key > audit.pub")]
    Key,
    /// Everything, oldest first.
    #[command(after_help = "Examples:\n  unstuck audit export > audit.jsonl")]
    Export {
        /// As what.
        #[arg(long, default_value = "json", value_name = "FORMAT")]
        format: ExportFormat,
    },
}

/// `audit init`
#[derive(Debug, Args)]
pub struct AuditInit {
    /// Let this role look and add, and nothing else. May be given several times, also when the audit is there already.
    #[arg(long, value_name = "ROLE")]
    pub grant: Vec<String>,
    /// Show the statements and run none.
    #[arg(long)]
    pub dry_run: bool,
}

/// `audit verify`
#[derive(Debug, Args)]
pub struct Verify {
    /// Checkpoints that were kept elsewhere, or an export. May be given several times.
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Vec<PathBuf>,
    /// A copy of a public key, instead of this machine's. May be given several times: many operators may sign one audit.
    #[arg(long, value_name = "FILE")]
    pub key: Vec<PathBuf>,
    /// Verify an export (JSON Lines) instead of the audit.
    #[arg(long, value_name = "FILE", conflicts_with = "audit_file")]
    pub export: Option<PathBuf>,
}

/// How the audit is exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// JSON Lines.
    Json,
    /// Comma-separated values.
    Csv,
}
