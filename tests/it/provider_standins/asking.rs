//! A configuration that asks a stand-in, and the real program run with it.

use super::Imitation;
use super::stand_in::{LookUp, Started};
use crate::world::{Ran, World};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use unstuck::preset::catalogue::built_in_text;
use url::Url;

const TABLE: &str = "
CREATE TABLE payouts (id, kind, state, created_at, updated_at, error_message, args);
";
const SOURCE: &str = r#"
[[sources]]
name = "payouts"
url = "sqlite://jobs.db"
[sources.mapping]
table = "payouts"
key = "id"
kind_column = "kind"
status = "state"
error = "error_message"
payload = "args"
version = ["state", "updated_at"]
times = { format = "iso", TIMES }
state = [
    { is = "running", when = { state = "claimed" } },
    { is = "failed", when = { state = "error" } },
    { is = "done", when = { state = "paid" } },
]
[sources.mapping.decisions]
late_writer = "unguarded"
done = { unsupported = "nothing is decided here" }
retry = { unsupported = "nothing is decided here" }
"#;
/// Older than any preset's `settle`, younger than any `lookback`.
const TRIED: &str = "strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-1 hours')";

/// A signature as S3 takes it, made by nobody here.
pub const SIGNED: (&str, &str) = ("auth", "{ kind = \"header\", header = \"Authorization\" }");
/// For those who ask nobody who they are.
const ANY_TOKEN: &str = "anybody";

/// Jobs that timed out an hour ago, one for each look-up, and whom to ask about each.
pub struct Asking {
    world: World,
    tokens: Vec<String>,
}

impl Asking {
    pub fn new(imitation: &Imitation, started: &Started, look_ups: &[LookUp]) -> Self {
        let world = World::new();
        std::fs::create_dir(world.path("presets")).unwrap();
        let times = if imitation.has_window { "created = \"created_at\", " } else { "" };
        let mut config = SOURCE.replace("TIMES", &format!("{times}updated = \"updated_at\""));
        let database = world.database("jobs.db", TABLE);
        let jobs = Connection::open(database).unwrap();
        let mut groups: Vec<Group> = Vec::new();
        let mut tokens = Vec::new();
        for (number, look_up) in look_ups.iter().enumerate() {
            let group = Group::of(look_up);
            let nth = groups.iter().position(|known| *known == group).unwrap_or_else(|| {
                let nth = groups.len();
                tokens.push(
                    group
                        .ask
                        .get("token")
                        .or(started.token.as_ref())
                        .map_or(ANY_TOKEN, String::as_str)
                        .to_owned(),
                );
                config += &group.configured(nth, imitation, started, &world);
                groups.push(group);
                nth
            });
            let args = json!({ "reference": look_up.reference, "amount": look_up.amount, "currency": look_up.currency });
            let sql = format!(
                "INSERT INTO payouts VALUES (?1, ?2, 'error', {TRIED}, {TRIED}, 'Read timed out', ?3)"
            );
            jobs.execute(&sql, (number.to_string(), format!("kind{nth}"), args.to_string())).unwrap();
        }
        world.write("config.toml", config);
        Self { world, tokens }
    }

    /// Runs the program.
    pub fn run(&self, arguments: &str) -> Ran {
        let mut command = self.world.command();
        for (nth, token) in self.tokens.iter().enumerate() {
            command.env(format!("TOKEN{nth}"), token);
        }
        let arguments = format!("--config config.toml {arguments}");
        self.world.ran(command.args(arguments.split_whitespace()).output().unwrap())
    }

    /// What `check` says, look-up by look-up.
    pub fn check(&self, way: &str) -> Vec<Value> {
        let ran = self.run(&format!("check --all --json --by {way}"));
        assert!(matches!(ran.code, Some(0 | 3)), "{ran:?}");
        let mut lines = ran.json();
        lines.sort_by_key(|line| line["key"].as_str().unwrap().parse::<usize>().unwrap());
        lines
    }
}

/// Look-ups that are asked the same way.
#[derive(PartialEq)]
struct Group {
    operation: String,
    has_amount: bool,
    ask: BTreeMap<String, String>,
}

impl Group {
    fn of(look_up: &LookUp) -> Self {
        let has_amount = look_up.amount.is_some();
        Self { operation: look_up.operation.clone(), has_amount, ask: look_up.ask.clone() }
    }

    /// A kind and a provider of its own.
    fn configured(&self, nth: usize, imitation: &Imitation, started: &Started, world: &World) -> String {
        let Self { operation, has_amount, ask } = self;
        let mut text = format!(
            "[kinds.kind{nth}]\nrisk = \"financial\"\nstuck_after = \"30m\"\ncheck = \"provider{nth}.{operation}\"\n\
             reference = \"{{{{ payload.reference }}}}\"\n"
        );
        if *has_amount {
            text += "amount = \"{{ payload.amount }}\"\ncurrency = \"{{ payload.currency }}\"\namount_unit = \"major\"\n";
        }
        let own_name = format!("own{nth}");
        let preset = match self.preset(&own_name, imitation) {
            Some(own) => {
                world.write(&format!("presets/{own_name}.toml"), own);
                &own_name
            }
            None => imitation.preset,
        };
        let base = format!("{}{}", started.url, ask.get("base").map_or("", String::as_str));
        write!(text, "[providers.provider{nth}]\npreset = \"{preset}\"\nbase_url = \"{base}\"\npace_per_second = 1000\n")
            .unwrap();
        // A store that asks nobody who they are is asked unsigned: with a secret the preset would sign.
        if ask.contains_key("token") || started.token.is_some() || imitation.preset != "s3" {
            writeln!(text, "secret_env = \"TOKEN{nth}\"").unwrap();
        }
        let mut variables: BTreeMap<&str, &str> = imitation.variables.iter().copied().collect();
        if let Some(bucket) = ask.get("bucket") {
            variables.insert("bucket", bucket);
        }
        writeln!(text, "[providers.provider{nth}.variables]").unwrap();
        for (name, value) in variables {
            writeln!(text, "{name} = \"{value}\"").unwrap();
        }
        writeln!(text, "[providers.provider{nth}.operations.{operation}]\npace_per_second = 1000").unwrap();
        if let Some(canary) = ask.get("canary") {
            writeln!(text, "canary = \"{canary}\"").unwrap();
        }
        if !imitation.has_window {
            // As far back as it sees would be a window too.
            text += "lookback = \"unlimited\"\n";
        }
        text
    }

    /// The preset's copy where something else is asked, or a user's own; `None` where the shipped one asks.
    fn preset(&self, name: &str, imitation: &Imitation) -> Option<String> {
        let token = self.ask.get("token");
        let path = self.ask.get("path");
        if imitation.own.is_none() && imitation.otherwise.is_empty() && token.is_none() && path.is_none() {
            return None;
        }
        let text = imitation.own.or_else(|| built_in_text(imitation.preset)).unwrap();
        let mut preset: toml::Table = toml::from_str(text).unwrap();
        // A stand-in's token is the header itself: nothing that a signature would be made from.
        let is_open = matches!(preset["auth"]["kind"].as_str(), Some("none" | "aws_sigv4"));
        imitation.otherwise.iter().for_each(|(place, value)| set(&mut preset, place, value));
        match token.map(String::as_str) {
            Some("") => set(&mut preset, "auth", "{ kind = \"none\" }"),
            Some(_) if is_open => set(&mut preset, SIGNED.0, SIGNED.1),
            Some(_) | None => {}
        }
        if let Some(path) = path {
            // What a stand-in refuses once, it refuses again.
            set(&mut preset, "limits.tries_max", "1");
            ask_at(path, preset["operations"][&self.operation].as_table_mut().unwrap());
        }
        preset.insert("name".to_owned(), name.into());
        Some(preset.to_string())
    }
}

/// The operation asks at another address, and its listing too.
fn ask_at(path: &str, operation: &mut toml::Table) {
    let url = Url::parse("http://stand-in").unwrap().join(path).unwrap();
    let query: toml::Table =
        url.query_pairs().map(|(n, v)| (n.into_owned(), v.into_owned().into())).collect();
    if let Some(listing) = operation.get_mut("listing").and_then(toml::Value::as_table_mut) {
        listing.remove("window");
        listing.insert("query".to_owned(), query.clone().into());
    }
    operation.remove("window");
    operation.insert("path".to_owned(), url.path().into());
    operation.insert("query".to_owned(), query.into());
}

/// Sets what is at a place of a preset, such as `operations.charge.path`, to a value in TOML.
fn set(preset: &mut toml::Table, place: &str, value: &str) {
    let value = toml::from_str::<toml::Table>(&format!("value = {value}")).unwrap().remove("value").unwrap();
    let (table, name) = match place.rsplit_once('.') {
        None => (preset, place),
        Some((outer, name)) => (outer.split('.').fold(preset, inner), name),
    };
    table.insert(name.to_owned(), value);
}

fn inner<'table>(table: &'table mut toml::Table, name: &str) -> &'table mut toml::Table {
    table.entry(name).or_insert_with(|| toml::Table::new().into()).as_table_mut().unwrap()
}
