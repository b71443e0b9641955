//! `unstuck init`: writes a configuration from the databases it is pointed at.

use super::arguments::{Common, Init};
use super::failure::{Exit, Failure};
use super::session::look;
use crate::config::Database;
use crate::config::load::known_systems;
use crate::domain::text::is_plain;
use crate::output::say;
use crate::preset::catalogue::Catalogue;
use crate::preset::source::{KindFrom, Table};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;

/// How many unknown tables are written as suggestions.
const SUGGESTED_TABLES_MAX: usize = 20;

/// Writes the configuration.
pub(super) async fn run(common: &Common, arguments: &Init) -> Result<Exit, Failure> {
    if common.db.is_empty() {
        return Err(Failure::usage(
            "no database is named",
            "Point it at one: unstuck init --db sqlite://jobs.db",
        ));
    }
    let catalogue = Catalogue::new(&[])
        .map_err(|fault| Failure::usage(fault.to_string(), "Report this: a built-in preset is wrong."))?;
    let mut text = HEAD.to_owned();
    let mut kinds = Vec::new();
    let mut names = BTreeSet::new();
    for (database, tables) in look(&common.db).await? {
        write_database(&mut text, (&mut kinds, &mut names), (&database, &tables?), &catalogue);
    }
    kinds.sort();
    kinds.dedup();
    for kind in kinds {
        let _infallible = write!(text, "{}", KIND.replace("KIND", &kind));
    }
    text.push_str(TAIL);
    if arguments.output == "-" {
        say::text(&text)?;
        return Ok(Exit::Fine);
    }
    write_new(&arguments.output, &text)?;
    let shown = crate::domain::text::clean(&arguments.output);
    say::aside(format_args!("Written to {shown}. Next: unstuck --config {shown} doctor"));
    Ok(Exit::Fine)
}

fn write_database(
    text: &mut String,
    (kinds, names): (&mut Vec<String>, &mut BTreeSet<String>),
    (database, tables): (&Database, &[Table]),
    catalogue: &Catalogue,
) {
    let url = quoted(&match database {
        Database::File(path) => {
            format!("sqlite://{}", std::path::absolute(path).unwrap_or_else(|_| path.clone()).display())
        }
        Database::Server(server) => server.shown.clone(),
    });
    let known = known_systems(database.engine(), tables, catalogue);
    for preset in &known {
        let (own, name) = (quoted(&preset.name), quoted(&free_name(names, &preset.name, database)));
        let _infallible =
            write!(text, "\n# {}\n[[sources]]\nname = {name}\nurl = {url}\npreset = {own}\n", preset.title);
        if matches!(database, Database::Server(_)) {
            // An address is written down without its password.
            text.push_str(
                "# secret_env = \"…\" # the variable with the password, where the address needs one\n",
            );
        }
        let kind = preset
            .variants
            .iter()
            .find(|variant| variant.engines.contains(&database.engine()))
            .map(|variant| &variant.kind);
        match kind {
            Some(KindFrom::Column(column)) => {
                let _infallible = writeln!(
                    text,
                    "# The kind of an item is its {}: write a section [kinds.\"…\"] for each that matters.",
                    shown(column)
                );
            }
            Some(KindFrom::Fixed(_)) | None => {
                kinds.push(preset.name.to_string());
                let _infallible = writeln!(text, "kind = {own}");
            }
        }
    }
    let belongs = |table: &Table| {
        known.iter().any(|preset| preset.tables().iter().any(|name| name.eq_ignore_ascii_case(&table.name)))
    };
    for table in tables.iter().filter(|table| !belongs(table)).take(SUGGESTED_TABLES_MAX) {
        let columns: Vec<String> = table.columns.iter().map(|(name, _)| name.clone()).collect();
        let _infallible = write!(text, "{}", suggestion(&table.name, &url, &columns));
    }
}

/// A name that no source has yet: the preset's, else with the database's before it, else with a number behind.
fn free_name(names: &mut BTreeSet<String>, preset: &str, database: &Database) -> String {
    let longer = format!("{}.{preset}", database.stem());
    let numbered = (2..).map(|number| format!("{longer}#{number}"));
    let mut all = [preset.to_owned(), longer.clone()].into_iter().chain(numbered);
    let free = all.find(|name| !names.contains(name)).unwrap_or(longer);
    names.insert(free.clone());
    free
}

/// A table that no preset knows, as a mapping to fill in: commented out, because nothing is guessed in silence.
fn suggestion(name: &str, url: &str, columns: &[String]) -> String {
    let has = |wanted: &[&str]| {
        columns.iter().find(|column| wanted.iter().any(|word| column.eq_ignore_ascii_case(word)))
    };
    let or_ask = |column: Option<&String>| column.map_or_else(|| "\"?\"".to_owned(), |column| quoted(column));
    let lines = [
        String::new(),
        format!(
            "The table {} has the columns {}.",
            shown(name),
            columns.iter().map(|c| shown(c)).collect::<Vec<_>>().join(", ")
        ),
        "To read it, take the signs away and fill in what is marked with a question mark.".to_owned(),
        "[[sources]]".to_owned(),
        format!("name = {}", quoted(name)),
        format!("url = {url}"),
        "[sources.mapping]".to_owned(),
        format!("table = {}", quoted(name)),
        format!("key = {}", or_ask(has(&["id", "key", "uuid"]).or(columns.first()))),
        format!("status = {}", or_ask(has(&["status", "state"]))),
        format!(
            "version = [{}] # what must be unchanged when a decision is written",
            or_ask(has(&["updated_at", "status", "state"]))
        ),
        format!(
            "times = {{ format = \"iso\", updated = {} }}",
            or_ask(has(&["updated_at", "modified_at", "started_at", "created_at"]))
        ),
        "state = [".to_owned(),
        "    { is = \"running\", when = { status = [\"?\"] } },".to_owned(),
        "    { is = \"failed\", when = { status = [\"?\"] } },".to_owned(),
        "    { is = \"done\", when = { status = [\"?\"] } },".to_owned(),
        "]".to_owned(),
    ];
    lines.iter().fold(String::new(), |text, line| format!("{text}{}\n", format!("# {line}").trim_end()))
}

fn shown(text: &str) -> String {
    crate::domain::text::clean_cut(text, 80)
}

/// A text as TOML writes it, on one line and without anything hidden: a table's name may hold a line break.
fn quoted(text: &str) -> String {
    let mut written = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => written.extend(['\\', character]),
            plain if is_plain(plain) => written.push(plain),
            hidden => written.push_str(&format!("\\U{:08x}", u32::from(hidden))),
        }
    }
    written.push('"');
    written
}

fn write_new(path: &str, text: &str) -> Result<(), Failure> {
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).open(path).map_err(|fault| {
        let what = match fault.kind() {
            std::io::ErrorKind::AlreadyExists => format!("{path}: is there already and was left as it is"),
            _ => format!("{path}: cannot be written ({fault})"),
        };
        Failure::usage(what, "Name another file with --output, or `-` for standard output.")
    })?;
    Ok(file.write_all(text.as_bytes())?)
}

const HEAD: &str = "\
# unstuck: which databases are read, what each kind of job may take, and who is asked.
# Try it with `unstuck --config THIS doctor`; every field is explained in config.example.toml.

[audit]
path = \"audit.db\"
";

const KIND: &str = "
[kinds.\"KIND\"]
# \"safe\": a repeat does no harm; \"check_first\": look before deciding; \"financial\": a repeat costs somebody money.
risk = \"check_first\"
stuck_after = \"30m\"
# Who knows whether the effect happened. Without it every verdict is `unknown`.
# check = \"ledger.charge\"
# What the provider knows the item by, and the idempotency key the workers send (leave it out if they send none).
reference = \"{{ key }}\"
# idempotency_key = \"{{ key }}\"
";

const TAIL: &str = "
# Who is asked. `unstuck presets` lists the presets.
# [providers.ledger]
# preset = \"ledger\"
# base_url = \"https://ledger.example.com\"
# secret_env = \"UNSTUCK_LEDGER_TOKEN\"
";
