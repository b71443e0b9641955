//! `unstuck` at a terminal without any configuration: leads to one, then opens the console with it.

use super::arguments::Common;
use super::console;
use super::failure::{Exit, Failure};
use super::session::look;
use crate::adapters::system;
use crate::config::load::{self, Folders};
use crate::config::write::{self, fixed_kind, unknown_tables};
use crate::config::{ConfigFault, Database};
use crate::console::lead::{
    Answers, Ended, Finding, LeadMessage, LeadSetup, LeadTask, Needs, ProviderOffer, Seen, SeenDatabase,
    SeenKind, SeenSystem, Told, Tried, Variable,
};
use crate::domain::item::Item;
use crate::domain::mask::{MASK, is_hidden_name};
use crate::domain::text::clean;
use crate::output::say;
use crate::ports::source::Source;
use crate::preset::catalogue::Catalogue;
use crate::preset::provider::{Auth, How};
use crate::preset::source::Table;
use crate::preset::template::{Fields, Template};
use crate::runtime::event_loop::{Seat, is_terminal};
use crate::runtime::lead::Guide;
use crate::wiring;
use crate::workflow::Desk;
use crate::workflow::desk::template_fields;
use crate::workflow::scan::Pages;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How many entries of the current folder are looked at for SQLite files.
const ENTRIES_MAX: usize = 500;
/// How many of them are offered.
const FILES_MAX: usize = 30;
/// What a SQLite file begins with.
const SQLITE_HEADER: &[u8; 16] = b"SQLite format 3\0";
/// How many pages of a source are read to count its findings.
const PAGES_MAX: usize = 5;
/// How long one source may be read for that.
const READ_MAX: Duration = Duration::from_secs(10);
/// How long the catalogue of one database may be looked into. A connection that does not come about ends before that, and
/// says so itself.
const LOOK_MAX: Duration = Duration::from_secs(12);
/// How many kinds of one source have their first item read.
const KINDS_MAX: usize = 12;

/// Where the first configuration goes; `None` where there is one, where one is named, and where nobody sits at a terminal.
pub(super) fn place_of_first_run(common: &Common) -> Option<PathBuf> {
    if common.config.is_some() || !common.db.is_empty() || !is_terminal() {
        return None;
    }
    let file = Folders::of_platform().ok()?.config_file();
    (!file.exists()).then_some(file)
}

/// Leads to a configuration, and opens the console with it.
pub(super) async fn run(common: &Common, place: &Path) -> Result<Exit, Failure> {
    let folder = place.parent().unwrap_or(Path::new("."));
    let catalogue = Arc::new(load::read_catalogue(folder, None)?);
    let setup = LeadSetup {
        files: sqlite_files(Path::new(".")),
        place: place.display().to_string(),
        providers: offers(&catalogue),
        variables: Arc::new(system::variables()),
        no_color: system::wants_no_color(),
        ..LeadSetup::default()
    };
    let guide = Here { catalogue, known: Arc::default() };
    let mut seat = Seat::take()?;
    match crate::runtime::lead::run(&mut seat, setup, &guide).await? {
        Ended::Left => {
            drop(seat);
            say::aside("Nothing was written. `unstuck` begins anew; `unstuck demo` shows it at work.");
            Ok(Exit::Fine)
        }
        Ended::Written { path, has_sources: false } => {
            drop(seat);
            let shown = clean(&path);
            say::aside(format_args!(
                "Written to {shown}. Fill in the mapping of a table in it, then: unstuck --config {shown} doctor"
            ));
            Ok(Exit::Fine)
        }
        Ended::Written { path, has_sources: true } => {
            let common = Common { config: Some(PathBuf::from(&path)), ..common.clone() };
            console::open_configured(&common, Some(seat)).await
        }
    }
}

/// The SQLite files of a folder: names, and addresses. Nothing but files is opened, and of each its first bytes alone.
fn sqlite_files(folder: &Path) -> Vec<(String, String)> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let is_sqlite = |path: &Path| {
        let mut begin = [0; SQLITE_HEADER.len()];
        // Not a pipe, which would wait for its writer.
        path.metadata().is_ok_and(|known| known.is_file())
            && std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut begin)).is_ok()
            && begin == *SQLITE_HEADER
    };
    let mut names: Vec<String> = entries
        .take(ENTRIES_MAX)
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| is_sqlite(&folder.join(name)))
        .collect();
    names.sort();
    names.truncate(FILES_MAX);
    names.into_iter().map(|name| (name.clone(), format!("sqlite://{name}"))).collect()
}

/// Everybody who can be asked, by name.
fn offers(catalogue: &Catalogue) -> Arc<[ProviderOffer]> {
    let variables = |all: &BTreeMap<String, String>, is_required: bool| -> Vec<Variable> {
        let each = all.iter();
        each.map(|(name, means)| Variable { name: name.clone(), means: means.clone(), is_required }).collect()
    };
    let of_preset = catalogue.providers.values().flat_map(|preset| {
        let askable = preset.operations.iter().filter(|(_, one)| !matches!(one.how, How::Unanswerable(_)));
        askable.map(move |(name, operation)| ProviderOffer {
            check: format!("{}.{name}", preset.name),
            preset: preset.name.to_string(),
            title: format!("{}: {}", preset.title, operation.title),
            needs: if preset.is_sql() {
                Needs::Database
            } else {
                Needs::BaseUrl(preset.base_url.as_ref().map(ToString::to_string))
            },
            takes_secret: preset.is_sql() || preset.auth != Auth::None,
            variables: [variables(&preset.variables, true), variables(&preset.optional_variables, false)]
                .concat(),
        })
    });
    of_preset.collect()
}

/// What the looks of one run have found so far.
#[derive(Default)]
struct Known {
    /// Which run it is.
    run: u64,
    /// The databases that could be read, by their place.
    looked: BTreeMap<usize, (Database, Vec<Table>)>,
    /// The fields of each kind's first item.
    samples: BTreeMap<String, Fields>,
}

/// What one look has found.
#[derive(Default)]
struct FoundThere {
    looked: Option<(Database, Vec<Table>)>,
    samples: BTreeMap<String, Fields>,
}

impl Known {
    /// Takes in what a look has found; one of an earlier run is not wanted any more.
    fn take(&mut self, run: u64, at: usize, found: FoundThere) {
        if run < self.run {
            return;
        }
        if run > self.run {
            *self = Self { run, ..Self::default() };
        }
        self.looked.extend(found.looked.map(|looked| (at, looked)));
        for (kind, fields) in found.samples {
            self.samples.entry(kind).or_insert(fields);
        }
    }
}

/// Carries out what the first run wants, on this machine.
struct Here {
    catalogue: Arc<Catalogue>,
    known: Arc<Mutex<Known>>,
}

impl Guide for Here {
    fn carry_out(&self, task: LeadTask) -> BoxFuture<'static, LeadMessage> {
        let (catalogue, known) = (Arc::clone(&self.catalogue), Arc::clone(&self.known));
        async move {
            match task {
                LeadTask::Look { run, at, address } => {
                    let (seen, kinds, found) = look_into(&catalogue, &address).await;
                    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
                    known.take(run, at, found);
                    LeadMessage::Looked { run, at, seen, kinds }
                }
                LeadTask::Preview { run, kind, template } => {
                    let known = known.lock().unwrap_or_else(PoisonError::into_inner);
                    LeadMessage::Previewed { run, shown: preview(known.samples.get(&kind), &template) }
                }
                LeadTask::Compose { run, path, answers } => {
                    let known = known.lock().unwrap_or_else(PoisonError::into_inner);
                    let looked: Vec<_> = known.looked.values().cloned().collect();
                    let (text, fault) = compose(&looked, &catalogue, answers, Path::new(&path));
                    LeadMessage::Composed { run, text, fault }
                }
                LeadTask::Write { path, text } => match write_file(Path::new(&path), &text) {
                    Ok(()) => LeadMessage::Written { path },
                    Err(what) => LeadMessage::NotWritten(Told {
                        what,
                        do_next: "Press Tab and name another file.".to_owned(),
                    }),
                },
                // The loop's own.
                LeadTask::End(_) => LeadMessage::Paste(String::new()),
            }
        }
        .boxed()
    }
}

fn told(fault: ConfigFault) -> Told {
    Told { what: fault.what, do_next: fault.do_next }
}

async fn look_into(catalogue: &Catalogue, address: &str) -> (Seen, Vec<SeenKind>, FoundThere) {
    let unread = |address: &str, told| {
        (Seen { address: address.to_owned(), result: Err(told) }, Vec::new(), FoundThere::default())
    };
    let database = match Database::parse(address) {
        Ok(database) => database,
        Err(fault) => return unread(address, told(fault)),
    };
    let shown = database.shown();
    let one = [address.to_owned()];
    let Ok(looked) = tokio::time::timeout(LOOK_MAX, look(&one)).await else {
        let told = Told {
            what: format!("{shown}: stopped answering (looked for {} s)", LOOK_MAX.as_secs()),
            do_next: "Check that the server runs and the network to it; Esc goes back.".to_owned(),
        };
        return unread(&shown, told);
    };
    let tables = match looked.map(|mut looked| looked.pop()) {
        Ok(Some((_, Ok(tables)))) => tables,
        Ok(Some((_, Err(fault)))) | Err(fault) => return unread(&shown, told(fault)),
        Ok(None) => Vec::new(),
    };
    let (mut counts, mut samples) = (BTreeMap::new(), BTreeMap::new());
    let mut there = look_at(catalogue, &database, &tables, (&mut counts, &mut samples)).await;
    there.had_password = has_password(address);
    let kinds = counts.into_iter().map(|(name, findings)| SeenKind { name, findings });
    let seen = Seen { address: shown, result: Ok(there) };
    (seen, kinds.collect(), FoundThere { looked: Some((database, tables)), samples })
}

fn has_password(address: &str) -> bool {
    url::Url::parse(address).is_ok_and(|url| {
        url.scheme() != "sqlite"
            && (url.password().is_some() || url.query_pairs().any(|(name, _)| name == "password"))
    })
}

/// What is in one database, with what needs a person counted as far as that is cheap.
async fn look_at(
    catalogue: &Catalogue,
    database: &Database,
    tables: &[Table],
    (counts, samples): (&mut BTreeMap<String, usize>, &mut BTreeMap<String, Fields>),
) -> SeenDatabase {
    let systems = load::known_systems(database.engine(), tables, catalogue);
    let unknown = unknown_tables(tables, &systems).iter().map(|table| table.name.clone()).collect();
    let mut there = SeenDatabase { unknown, ..SeenDatabase::default() };
    let settings =
        match load::detect(vec![(database.clone(), Ok(tables.to_vec()))], Path::new("."), PathBuf::new()) {
            Ok(settings) => settings,
            Err(fault) => {
                there.note = Some(told(fault));
                return there;
            }
        };
    let desk = wiring::desk(&settings, &wiring::Options { read_only: true, ..wiring::Options::default() });
    for preset in &systems {
        let kind = fixed_kind(database, preset);
        if let Some(kind) = &kind {
            counts.entry(kind.clone()).or_default();
        }
        let findings = match &desk {
            Err(fault) => Err(told(fault.clone())),
            Ok(desk) => {
                let source = desk.sources.iter().find(|source| source.facts().preset == preset.name);
                match source {
                    None => Ok(Finding { count: 0, has_more: false }),
                    Some(source) => count(desk, source, kind.as_deref(), (counts, samples)).await,
                }
            }
        };
        there.systems.push(SeenSystem {
            name: preset.name.to_string(),
            title: preset.title.clone(),
            findings,
        });
    }
    there
}

async fn count(
    desk: &Desk,
    source: &Arc<dyn Source>,
    fixed: Option<&str>,
    (counts, samples): (&mut BTreeMap<String, usize>, &mut BTreeMap<String, Fields>),
) -> Result<Finding, Told> {
    let mut found = Finding { count: 0, has_more: false };
    let mut firsts: BTreeMap<String, Item> = BTreeMap::new();
    let reading = async {
        let mut pages = Pages::in_order(desk, source);
        for _ in 0..PAGES_MAX {
            let Some(page) = pages.next().await else { return Ok(false) };
            for one in page?.found {
                let kind = fixed.map_or_else(|| one.finding.item.kind.to_string(), str::to_owned);
                found.count += 1;
                *counts.entry(kind.clone()).or_default() += 1;
                firsts.entry(kind).or_insert(one.finding.item);
            }
        }
        Ok(true)
    };
    let read = tokio::time::timeout(READ_MAX, reading).await.unwrap_or(Ok(true));
    found.has_more = read.map_err(|fault: crate::ports::source::SourceFault| Told {
        what: fault.what,
        do_next: fault.do_next,
    })?;
    for (kind, item) in firsts.into_iter().take(KINDS_MAX) {
        // Where its row is gone meanwhile, its own words are enough.
        let read = tokio::time::timeout(READ_MAX, source.read(item.key.as_str())).await;
        let row = read.ok().and_then(|read| read.ok().flatten()).map(|reading| reading.row);
        let mut fields = template_fields(&item, row.as_ref(), None);
        for (name, value) in &mut fields {
            if is_hidden_name(name, &[]) {
                *value = MASK.into();
            }
        }
        samples.entry(kind).or_insert(fields);
    }
    Ok(found)
}

fn preview(sample: Option<&Fields>, template: &str) -> Tried {
    let wrong = |what| {
        Tried::Wrong(Told {
            what,
            do_next: "Write it as in `{{ key }}` or `charge-{{ key }}`: a name of the item's own between the braces."
                .to_owned(),
        })
    };
    let template = match Template::parse(template) {
        Ok(template) => template,
        Err(what) => return wrong(what),
    };
    if template.uses_payload() {
        return Tried::Untried("it uses the payload, which is not read here".to_owned());
    }
    let Some(fields) = sample else { return Tried::Untried("there is no item to try it on".to_owned()) };
    match template.render(fields) {
        Ok(shown) => Tried::Shown(shown),
        // Another item may well have what the first one lacks.
        Err(why) => Tried::Untried(format!("{why}; use a column of its table, or key, kind, status, source")),
    }
}

/// The text, and why the program itself would refuse it; that no table is known is no fault of the text.
fn compose(
    looked: &[(Database, Vec<Table>)],
    catalogue: &Catalogue,
    answers: Answers,
    path: &Path,
) -> (String, Option<Told>) {
    let has_sources = looked
        .iter()
        .any(|(database, tables)| !load::known_systems(database.engine(), tables, catalogue).is_empty());
    let text = write::configuration(looked, catalogue, &answered(answers));
    let refused = load::read(&text, path, PathBuf::from("audit.db")).err().filter(|_| has_sources);
    (text, refused.map(told))
}

/// The answers in the words of the writer.
fn answered(answers: Answers) -> write::Answers {
    let Answers { kinds, providers, passwords } = answers;
    // A relative file of a provider counts from here, not from the configuration's folder.
    let whole = |address: String| Database::parse(&address).map_or(address, |known| write::address(&known));
    let kinds = kinds.into_iter().map(|(name, kind)| {
        (name, write::KindAnswer { risk: kind.risk, check: kind.check, reference: kind.reference })
    });
    let providers = providers.into_iter().map(|(name, one)| {
        let provider = write::ProviderAnswer {
            base_url: one.base_url,
            database: one.database.map(whole),
            secret_env: one.secret_env,
            variables: one.variables,
        };
        (name, provider)
    });
    write::Answers {
        kinds: kinds.collect(),
        providers: providers.collect(),
        passwords,
        audit_of_platform: true,
    }
}

fn write_file(path: &Path, text: &str) -> Result<(), String> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)
            .map_err(|fault| format!("{}: the folder cannot be made ({fault})", folder.display()))?;
    }
    write::write_new(path, text)
}
