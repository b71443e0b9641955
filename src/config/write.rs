//! The one writer of configurations: from what databases show and what somebody answered to a text that the loader reads.

use super::Database;
use super::load::known_systems;
use crate::domain::policy::Risk;
use crate::domain::text::is_plain;
use crate::preset::catalogue::Catalogue;
use crate::preset::source::{KindFrom, SourcePreset, Table};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

/// How many unknown tables are written as suggestions.
const SUGGESTED_TABLES_MAX: usize = 20;

/// What somebody answered; what nobody answered is written as a comment to fill in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answers {
    /// The policies, by kind.
    pub kinds: BTreeMap<String, KindAnswer>,
    /// Who is asked, by the name of the preset.
    pub providers: BTreeMap<String, ProviderAnswer>,
    /// The environment variables with the databases' passwords, by the addresses as they are shown.
    pub passwords: BTreeMap<String, String>,
    /// Whether the audit stays where the platform keeps it, rather than beside the file.
    pub audit_of_platform: bool,
}

/// The policy of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KindAnswer {
    /// What a wrong decision costs.
    pub risk: Risk,
    /// Who is asked, as `provider.operation`; `None` for nobody.
    pub check: Option<String>,
    /// What the provider knows the item by.
    pub reference: String,
}

/// Where one provider is, and how to get in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProviderAnswer {
    /// Where it is; `None` where its preset says it.
    pub base_url: Option<String>,
    /// Its database, where its preset reads one.
    pub database: Option<String>,
    /// The environment variable with its secret; `None` where it needs none.
    pub secret_env: Option<String>,
    /// What its preset leaves to fill in.
    pub variables: BTreeMap<String, String>,
}

/// A configuration that reads the known job systems of some databases.
pub fn configuration(looked: &[(Database, Vec<Table>)], catalogue: &Catalogue, answers: &Answers) -> String {
    let mut text = HEAD.to_owned();
    if !answers.audit_of_platform {
        text.push_str(AUDIT);
    }
    let mut kinds: BTreeSet<String> = answers.kinds.keys().cloned().collect();
    let mut names = BTreeSet::new();
    for (database, tables) in looked {
        write_database(&mut text, (&mut kinds, &mut names), (database, tables), (catalogue, answers));
    }
    for kind in &kinds {
        write_kind(&mut text, kind, answers.kinds.get(kind));
    }
    if answers.providers.is_empty() {
        text.push_str(TAIL);
    }
    for (preset, provider) in &answers.providers {
        write_provider(&mut text, preset, provider);
    }
    text
}

/// The kind that every item of a system gets in a written configuration; `None` where a column says each one's.
pub fn fixed_kind(database: &Database, preset: &SourcePreset) -> Option<String> {
    match kind_from(database, preset) {
        Some(KindFrom::Column(_)) => None,
        Some(KindFrom::Fixed(_)) | None => Some(preset.name.to_string()),
    }
}

/// The tables that no preset knows.
pub fn unknown_tables<'a>(tables: &'a [Table], known: &[SourcePreset]) -> Vec<&'a Table> {
    let belongs = |table: &Table| {
        known.iter().any(|preset| preset.tables().iter().any(|name| name.eq_ignore_ascii_case(&table.name)))
    };
    tables.iter().filter(|table| !belongs(table)).collect()
}

fn kind_from<'a>(database: &Database, preset: &'a SourcePreset) -> Option<&'a KindFrom> {
    let variant = preset.variants.iter().find(|variant| variant.engines.contains(&database.engine()));
    variant.map(|variant| &variant.kind)
}

/// The address of a database as a configuration names it wherever that lies, without a password.
pub fn address(database: &Database) -> String {
    match database {
        Database::File(path) => {
            format!("sqlite://{}", std::path::absolute(path).unwrap_or_else(|_| path.clone()).display())
        }
        Database::Server(server) => server.shown.clone(),
    }
}

fn write_database(
    text: &mut String,
    (kinds, names): (&mut BTreeSet<String>, &mut BTreeSet<String>),
    (database, tables): (&Database, &[Table]),
    (catalogue, answers): (&Catalogue, &Answers),
) {
    let url = quoted(&address(database));
    let known = known_systems(database.engine(), tables, catalogue);
    for preset in &known {
        let (own, name) = (quoted(&preset.name), quoted(&free_name(names, &preset.name, database)));
        let _infallible = write!(
            text,
            "\n# {}\n[[sources]]\nname = {name}\nurl = {url}\npreset = {own}\n",
            crate::domain::text::clean(&preset.title)
        );
        if let Database::Server(server) = database {
            // An address is written down without its password.
            match answers.passwords.get(&server.shown) {
                Some(variable) => {
                    let _infallible = writeln!(text, "secret_env = {}", quoted(variable));
                }
                None => text.push_str(
                    "# secret_env = \"…\" # the variable with the password, where the address needs one\n",
                ),
            }
        }
        if let Some(KindFrom::Column(column)) = kind_from(database, preset) {
            let _infallible = writeln!(
                text,
                "# The kind of an item is its {}: write a section [kinds.\"…\"] for each that matters.",
                shown(column)
            );
        } else {
            kinds.insert(preset.name.to_string());
            let _infallible = writeln!(text, "kind = {own}");
        }
    }
    for table in unknown_tables(tables, &known).into_iter().take(SUGGESTED_TABLES_MAX) {
        let columns: Vec<String> = table.columns.iter().map(|(name, _)| name.clone()).collect();
        let _infallible = write!(text, "{}", suggestion(&table.name, &url, &columns));
    }
}

fn write_kind(text: &mut String, kind: &str, answer: Option<&KindAnswer>) {
    let risk = answer.map_or(Risk::CheckFirst, |answer| answer.risk);
    let check = match answer.and_then(|answer| answer.check.as_ref()) {
        Some(check) => format!("check = {}", quoted(check)),
        None => "# check = \"ledger.charge\"".to_owned(),
    };
    let reference = answer.map_or("{{ key }}", |answer| &answer.reference);
    let _infallible = write!(
        text,
        "\n[kinds.{}]\n{RISKS}\nrisk = \"{risk}\"\nstuck_after = \"30m\"\n{WHO}\n{check}\n{WHAT}\nreference = {}\n{KEY}\n",
        quoted(kind),
        quoted(reference)
    );
}

fn write_provider(text: &mut String, preset: &str, provider: &ProviderAnswer) {
    let _infallible =
        write!(text, "\n# Who is asked.\n[providers.{}]\npreset = {}\n", quoted(preset), quoted(preset));
    let fields = [
        ("base_url", &provider.base_url),
        ("database", &provider.database),
        ("secret_env", &provider.secret_env),
    ];
    for (field, value) in fields {
        if let Some(value) = value {
            let _infallible = writeln!(text, "{field} = {}", quoted(value));
        }
    }
    if !provider.variables.is_empty() {
        let _infallible = writeln!(text, "[providers.{}.variables]", quoted(preset));
        for (name, value) in &provider.variables {
            let _infallible = writeln!(text, "{} = {}", quoted(name), quoted(value));
        }
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

/// Writes a text to a file that is not there yet.
///
/// # Errors
/// What stands in the way, one line.
pub fn write_new(path: &Path, text: &str) -> Result<(), String> {
    use std::io::Write as _;
    let cannot = |fault: &std::io::Error| match fault.kind() {
        std::io::ErrorKind::AlreadyExists => {
            format!("{}: is there already and was left as it is", path.display())
        }
        _ => format!("{}: cannot be written ({fault})", path.display()),
    };
    let opened = std::fs::OpenOptions::new().write(true).create_new(true).open(path);
    opened.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|fault| cannot(&fault))
}

const HEAD: &str = "\
# unstuck: which databases are read, what each kind of job may take, and who is asked.
# Try it with `unstuck --config THIS doctor`; every field is explained in config.example.toml.
";

const AUDIT: &str = "
[audit]
path = \"audit.db\"
";

const RISKS: &str = "# \"safe\": a repeat does no harm; \"check_first\": look before deciding; \"financial\": a repeat costs somebody money.";
const WHO: &str = "# Who knows whether the effect happened. Without it every verdict is `unknown`.";
const WHAT: &str = "# What the provider knows the item by, and the idempotency key the workers send (leave it out if they send none).";
const KEY: &str = "# idempotency_key = \"{{ key }}\"";

const TAIL: &str = "
# Who is asked. `unstuck presets` lists the presets.
# [providers.ledger]
# preset = \"ledger\"
# base_url = \"https://ledger.example.com\"
# secret_env = \"UNSTUCK_LEDGER_TOKEN\"
";

#[cfg(test)]
mod tests;
