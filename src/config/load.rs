//! Finding and reading the configuration, or doing without one.

use super::check::check;
use super::file::ConfigFile;
use super::settings::{ConsoleSettings, Settings, SourceSettings};
use super::{ConfigFault, Database};
use crate::preset::catalogue::{Catalogue, one_line};
use crate::preset::source::{Engine, SourcePreset, Table};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The file's name in the platform's configuration folder.
const FILE_NAME: &str = "config.toml";
/// The audit's name in the state folder.
const AUDIT_NAME: &str = "audit.db";
/// The key's place beside the state folder's audit: in a folder of its own, so that whoever may hand the audit over does
/// not hand over the key.
const KEY_PLACE: &str = "keys/audit.key";
/// Where an operator's own presets are, beside the configuration.
const PRESETS_FOLDER: &str = "presets";

/// The platform's folders of this program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folders {
    /// Configuration.
    pub config: PathBuf,
    /// State: the audit.
    pub state: PathBuf,
}

impl Folders {
    /// The platform's folders.
    ///
    /// # Errors
    /// No home folder.
    pub fn of_platform() -> Result<Self, ConfigFault> {
        use etcetera::{BaseStrategy, choose_base_strategy};
        let base = choose_base_strategy().map_err(|_| {
            ConfigFault::new("there is no home folder", "Set $HOME, or name a file with --config.")
        })?;
        let state = base.state_dir().unwrap_or_else(|| base.data_dir());
        Ok(Self { config: base.config_dir().join("unstuck"), state: state.join("unstuck") })
    }

    /// Where the configuration is looked for when nobody names one.
    pub fn config_file(&self) -> PathBuf {
        self.config.join(FILE_NAME)
    }

    /// Where the audit is when nobody says.
    pub fn audit_file(&self) -> PathBuf {
        self.state.join(AUDIT_NAME)
    }
}

/// Where the key is when nobody says, by where the audit would be; `None` where no folder is known.
pub fn key_of(audit: &Path) -> Option<PathBuf> {
    audit.parent().filter(|folder| !folder.as_os_str().is_empty()).map(|folder| folder.join(KEY_PLACE))
}

/// Reads a configuration file.
///
/// # Errors
/// What is wrong with it, or with a preset it uses.
pub fn load(path: &Path, audit: PathBuf) -> Result<Settings, ConfigFault> {
    let text = std::fs::read_to_string(path).map_err(|fault| unreadable(path, &fault))?;
    read(&text, path, audit)
}

/// Reads the text of a configuration that is, or will be, in a file.
///
/// # Errors
/// What is wrong with it, or with a preset it uses.
pub fn read(text: &str, path: &Path, audit: PathBuf) -> Result<Settings, ConfigFault> {
    let shown = path.display();
    let file: ConfigFile = toml::from_str(text).map_err(|fault| {
        ConfigFault::new(
            format!("{shown}: {}", one_line(&fault, text)),
            "Mend the file; config.example.toml is a whole one.",
        )
    })?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let catalogue = read_catalogue(folder, file.presets.as_deref())?;
    let mut settings = check(&file, folder, audit, catalogue)
        .map_err(|fault| ConfigFault::new(format!("{shown}: {}", fault.what), fault.do_next))?;
    settings.file = Some(path.to_owned());
    Ok(settings)
}

fn unreadable(path: &Path, fault: &std::io::Error) -> ConfigFault {
    let what = match fault.kind() {
        std::io::ErrorKind::NotFound => format!("{}: there is no such file", path.display()),
        std::io::ErrorKind::InvalidData => format!("{}: is not UTF-8 text", path.display()),
        _ => format!("{}: cannot be read ({fault})", path.display()),
    };
    ConfigFault::new(what, "Name the configuration with --config, or do without one: --db sqlite://PATH.")
}

/// The built-in presets and those of a folder beside the configuration.
///
/// # Errors
/// A preset that is wrong, or a named folder that cannot be read.
pub fn read_catalogue(folder: &Path, named: Option<&str>) -> Result<Catalogue, ConfigFault> {
    let presets = folder.join(named.unwrap_or(PRESETS_FOLDER));
    let own = match (std::fs::read_dir(&presets), named) {
        (Ok(entries), _) => read_presets(entries, &presets)?,
        (Err(fault), Some(_)) => {
            return Err(ConfigFault::new(
                format!("{}: the presets cannot be read ({fault})", presets.display()),
                "Mend `presets`, or take the line out.",
            ));
        }
        (Err(_), None) => Vec::new(),
    };
    Catalogue::new(&own).map_err(|fault| {
        ConfigFault::new(fault.to_string(), "Mend the preset; docs/presets.md explains each field.")
    })
}

fn read_presets(entries: std::fs::ReadDir, folder: &Path) -> Result<Vec<(String, String)>, ConfigFault> {
    let unreadable = |fault: std::io::Error| {
        ConfigFault::new(
            format!("{}: cannot be read ({fault})", folder.display()),
            "Mend it, or move it away.",
        )
    };
    let mut own = Vec::new();
    for entry in entries {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let text = std::fs::read_to_string(&path).map_err(|fault| {
                let why = match fault.kind() {
                    std::io::ErrorKind::InvalidData => "is not UTF-8 text".to_owned(),
                    _ => format!("cannot be read ({fault})"),
                };
                ConfigFault::new(format!("{}: {why}", path.display()), "Mend it, or move it away.")
            })?;
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            own.push((name, text));
        }
    }
    own.sort();
    Ok(own)
}

/// What looking at a database's catalogue came to.
pub type Looked = (Database, Result<Vec<Table>, ConfigFault>);

/// Settings without a configuration: the known job systems of some databases.
///
/// # Errors
/// No database that can be read, or none with a known table.
pub fn detect(looked: Vec<Looked>, folder: &Path, audit: PathBuf) -> Result<Settings, ConfigFault> {
    let catalogue = read_catalogue(folder, None)?;
    let (mut sources, mut unread) = (Vec::new(), Vec::new());
    for (database, tables) in looked {
        let tables = match tables {
            Ok(tables) => tables,
            // The others are still worth a look; with none of them left, this is why.
            Err(fault) => {
                unread.push(fault);
                continue;
            }
        };
        let found = known_systems(database.engine(), &tables, &catalogue);
        let unreadable = || {
            catalogue.sources.values().map(|(_, preset)| preset).find_map(|preset| {
                preset
                    .unreadable
                    .as_ref()
                    .filter(|_| preset.has_tables(&tables))
                    .map(|why| (&preset.name, why))
            })
        };
        if let (true, Some((name, why))) = (found.is_empty(), unreadable()) {
            unread.push(ConfigFault::new(
                format!("{}: has the tables of `{name}`, which cannot be read", database.shown()),
                crate::domain::text::clean(why),
            ));
            continue;
        }
        if found.is_empty() {
            let names: Vec<&str> = tables.iter().map(|table| table.name.as_str()).collect();
            let there = if names.is_empty() {
                "it has none".to_owned()
            } else {
                format!("it has {}", crate::domain::text::clean_cut(&names.join(", "), 200))
            };
            unread.push(ConfigFault::new(
                format!("{}: no table that is known ({there})", database.shown()),
                "Map your table in a configuration: see config.example.toml, or run `unstuck init`.",
            ));
            continue;
        }
        sources.extend(found.into_iter().map(|preset| SourceSettings {
            name: preset.name.to_string(),
            database: database.clone(),
            preset,
        }));
    }
    if sources.is_empty() && !unread.is_empty() {
        return Err(unread.remove(0));
    }
    make_names_differ(&mut sources);
    Ok(without_configuration(sources, unread, catalogue, Database::File(audit)))
}

/// Settings that read some databases through one preset, whatever else is in them. Nothing is put on record.
///
/// # Errors
/// A database that cannot be looked into.
pub fn trial(looked: Vec<Looked>, preset: &SourcePreset) -> Result<Settings, ConfigFault> {
    let mut sources = Vec::new();
    for (database, tables) in looked {
        tables?;
        sources.push(SourceSettings { name: preset.name.to_string(), database, preset: preset.clone() });
    }
    make_names_differ(&mut sources);
    let catalogue = Catalogue::new(&[])
        .map_err(|fault| ConfigFault::new(fault.to_string(), "Report this: a built-in preset is wrong."))?;
    Ok(without_configuration(sources, Vec::new(), catalogue, Database::File(PathBuf::new())))
}

/// Settings without a configuration and without a source: for whoever only reads or adds to the audit.
///
/// # Errors
/// A built-in preset that is wrong, which is an error of the program.
pub fn audit_alone(audit: Database) -> Result<Settings, ConfigFault> {
    let catalogue = Catalogue::new(&[])
        .map_err(|fault| ConfigFault::new(fault.to_string(), "Report this: a built-in preset is wrong."))?;
    Ok(without_configuration(Vec::new(), Vec::new(), catalogue, audit))
}

fn without_configuration(
    sources: Vec<SourceSettings>,
    unread: Vec<ConfigFault>,
    catalogue: Catalogue,
    audit: Database,
) -> Settings {
    Settings {
        console: ConsoleSettings::default(),
        operator: None,
        audit_key: match &audit {
            Database::File(path) => key_of(path),
            Database::Server(_) => None,
        },
        audit_checkpoints: None,
        approvals_from_same_login: false,
        audit,
        audit_public_keys: Vec::new(),
        receipts: None,
        logs: Vec::new(),
        marks: Vec::new(),
        sources,
        kinds: BTreeMap::new(),
        providers: BTreeMap::new(),
        effects_databases: BTreeMap::new(),
        escalation: None,
        escalations: BTreeMap::new(),
        watch: None,
        unread,
        catalogue,
        file: None,
    }
}

/// The presets of the job systems that a database has.
pub fn known_systems(engine: Engine, tables: &[Table], catalogue: &Catalogue) -> Vec<SourcePreset> {
    let presets = catalogue.sources.values().map(|(_, preset)| preset);
    presets.filter(|preset| preset.is_in(engine, tables)).cloned().collect()
}

/// Several databases may have the same table: then the database's name comes before it.
fn make_names_differ(sources: &mut [SourceSettings]) {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for source in sources.iter() {
        *seen.entry(source.name.clone()).or_default() += 1;
    }
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    for source in sources.iter_mut().filter(|source| seen.get(&source.name).is_some_and(|count| *count > 1)) {
        let name = format!("{}.{}", source.database.stem(), source.name);
        let number = numbers.entry(name.clone()).or_default();
        *number += 1;
        source.name = if *number == 1 { name } else { format!("{name}#{number}") };
    }
}
