//! Which shape of a preset fits a database, and what is then known of the source.

use super::decide::plan;
use super::spell::{Column, Sql};
use crate::domain::decision::Choice;
use crate::domain::text::{clean, clean_cut};
use crate::ports::source::{
    Change, LateWriter, Leaves, PlannedStatement, SourceFacts, SourceFaultKind, Unsupported,
};
use crate::preset::source::{Engine, Look, Mapping, SourcePreset, Table, Writing};
use std::sync::{Arc, PoisonError, RwLock};

/// The shape that fits, and the columns of what is read.
#[derive(Debug, Clone, PartialEq)]
pub struct Picked {
    /// The shape.
    pub mapping: Arc<Mapping>,
    /// The columns.
    pub columns: Vec<Column>,
}

/// Why no shape fits: which kind of fault, what, and what to do.
pub type Misfit = (SourceFaultKind, String, &'static str);

/// The shape of a preset that fits what a database's catalogue shows.
///
/// # Errors
/// None fits, with what each misses.
pub fn pick(preset: &SourcePreset, engine: Engine, tables: &[Table]) -> Result<Arc<Mapping>, Misfit> {
    let name = clean_cut(&preset.name, 40);
    match preset.variant_for(engine, tables) {
        Look::Found(mapping) => Ok(Arc::clone(mapping)),
        Look::OtherEngine => Err((
            SourceFaultKind::Mismatch,
            match &preset.unreadable {
                Some(why) => format!("preset `{name}` cannot be read: {why}"),
                None => format!("preset `{name}` knows no {engine} tables"),
            },
            "`unstuck presets` lists what can be read, and on which engine.",
        )),
        Look::Unknown(misses) => Err((
            SourceFaultKind::Mismatch,
            format!(
                "has none of the shapes that preset `{name}` knows; what is missing: {}",
                clean_cut(&misses.join("; "), 400)
            ),
            "Nothing is read or written on an unknown shape: map the table yourself, see docs/presets.md.",
        )),
    }
}

/// A shape fits, and the table that it reads is not there.
pub fn no_table(mapping: &Mapping, engine: Engine) -> Misfit {
    let do_next = match engine {
        Engine::Postgres => {
            "Name table and schema in the configuration; `unstuck doctor` lists those there are."
        }
        Engine::Sqlite | Engine::Mysql => {
            "Name the right table in the configuration; `unstuck doctor` lists those there are."
        }
    };
    (SourceFaultKind::Mismatch, format!("has no table `{}`", clean(&mapping.table)), do_next)
}

/// A source as it is known by now: its preset, and since it was first read the shape that fits.
#[derive(Debug)]
pub struct Known {
    /// The engine.
    pub engine: Engine,
    /// The preset.
    pub preset: SourcePreset,
    now: RwLock<(Arc<SourceFacts>, Option<Arc<Picked>>)>,
}

impl Known {
    /// A source by its name and place; nothing is looked at.
    pub fn new(engine: Engine, preset: SourcePreset, name: &str, place: String, whole_place: String) -> Self {
        let first = preset.variants.iter().find(|variant| variant.engines.contains(&engine));
        let facts = SourceFacts {
            name: name.into(),
            place,
            whole_place,
            table: None,
            preset: Arc::clone(&preset.name),
            variant: Arc::default(),
            late_writer: LateWriter::Unguarded,
            leaves: Choice::ALL.map(|choice| (choice, Leaves::Unchanged)),
            unsupported: Vec::new(),
        };
        let facts = match first {
            Some(mapping) => with(&facts, mapping, Arc::default()),
            None => facts,
        };
        Self { engine, preset, now: RwLock::new((Arc::new(facts), None)) }
    }

    /// What is known of it.
    pub fn facts(&self) -> Arc<SourceFacts> {
        Arc::clone(&self.now.read().unwrap_or_else(PoisonError::into_inner).0)
    }

    /// The shape that was found when it was last read; the first for its engine before.
    pub fn picked(&self) -> Option<Arc<Picked>> {
        if let Some(picked) = &self.now.read().unwrap_or_else(PoisonError::into_inner).1 {
            return Some(Arc::clone(picked));
        }
        let first = self.preset.variants.iter().find(|variant| variant.engines.contains(&self.engine))?;
        Some(Arc::new(Picked { mapping: Arc::clone(first), columns: Vec::new() }))
    }

    /// The statements of a decision.
    ///
    /// # Errors
    /// The preset cannot carry it out.
    pub fn plan(&self, choice: Choice, change: &Change) -> Result<Vec<PlannedStatement>, Unsupported> {
        match self.picked() {
            Some(picked) => plan(&picked.sql(self.engine), choice, change),
            None => Err(Unsupported(format!("its preset knows no {} tables", self.engine))),
        }
    }

    /// Keeps what was found: the shape, and the table that it is read from, as the database itself calls it
    /// ([`SourceFacts::table`]).
    pub fn keep(&self, picked: Picked, table: &str) -> Arc<Picked> {
        let mut now = self.now.write().unwrap_or_else(PoisonError::into_inner);
        match &now.1 {
            Some(known) if **known == picked && now.0.table.as_deref() == Some(table) => Arc::clone(known),
            _ => {
                let facts = with(&now.0, &picked.mapping, Arc::clone(&picked.mapping.variant));
                let facts = SourceFacts { table: Some(table.into()), ..facts };
                let picked = Arc::new(picked);
                *now = (Arc::new(facts), Some(Arc::clone(&picked)));
                picked
            }
        }
    }
}

impl Picked {
    /// The SQL of it.
    pub fn sql(&self, engine: Engine) -> Sql<'_> {
        Sql { engine, mapping: &self.mapping, columns: &self.columns }
    }

    /// Makes sure that every column that the mapping names is there.
    ///
    /// # Errors
    /// The names of those that are not.
    pub fn check_columns(&self, engine: Engine) -> Result<(), Misfit> {
        let missing: Vec<String> =
            self.sql(engine).missing().into_iter().map(|column| format!("`{}`", clean(column))).collect();
        if missing.is_empty() {
            return Ok(());
        }
        Err((
            SourceFaultKind::Mismatch,
            format!("table `{}` has no column {}", clean(&self.mapping.table), missing.join(", ")),
            "Map the columns in the configuration; `unstuck doctor` lists those there are.",
        ))
    }
}

/// What is known, with what a shape says of decisions.
fn with(facts: &SourceFacts, mapping: &Mapping, variant: Arc<str>) -> SourceFacts {
    let reason = |choice| match mapping.decisions.of(choice) {
        Writing::Unsupported(reason) => Some((choice, reason.clone())),
        Writing::Statements { .. } => None,
    };
    SourceFacts {
        variant,
        late_writer: mapping.decisions.late_writer,
        leaves: Choice::ALL.map(|choice| (choice, mapping.decisions.of(choice).leaves())),
        unsupported: Choice::ALL.into_iter().filter_map(reason).collect(),
        ..facts.clone()
    }
}
