//! The desk: everything one operator works with, handed in by `wiring`.

use crate::config::kind::Kind;
use crate::domain::approval::ApprovalRules;
use crate::domain::audit::Subject;
use crate::domain::decision::Operator;
use crate::domain::error_class::ErrorTable;
use crate::domain::item::{Item, Row};
use crate::domain::policy::CheckName;
use crate::ports::clock::Clock;
use crate::ports::escalation::Escalation;
use crate::ports::logs::Logs;
use crate::ports::provider::Provider;
use crate::ports::receipts::Receipts;
use crate::ports::record::{Record, RecordFault};
use crate::ports::source::Source;
use crate::preset::template::Fields;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Everything one operator works with.
pub struct Desk {
    /// The sources, in the order of the configuration.
    pub sources: Vec<Arc<dyn Source>>,
    /// The kinds that the configuration names.
    pub kinds: BTreeMap<Arc<str>, Arc<Kind>>,
    /// The policy of every other kind.
    pub other_kinds: Arc<Kind>,
    /// Who answers for which check.
    pub providers: BTreeMap<CheckName, Arc<dyn Provider>>,
    /// The audit, or why there is none: without it nothing is decided.
    pub record: Result<Arc<dyn Record>, RecordFault>,
    /// Where receipts go; `None` where nobody wants any.
    pub receipts: Option<Arc<dyn Receipts>>,
    /// Where what others wrote down is read.
    pub logs: Arc<dyn Logs>,
    /// Where escalations go; `None` puts them on the record alone.
    pub escalation: Option<Arc<dyn Escalation>>,
    /// Where the escalations of those kinds go whose policy names a place of its own.
    pub escalations: BTreeMap<Arc<str>, Arc<dyn Escalation>>,
    /// Time and ids.
    pub clock: Arc<dyn Clock>,
    /// What error texts prove.
    pub errors: Arc<ErrorTable>,
    /// Who sits here.
    pub operator: Operator,
    /// Whether every decision is refused.
    pub read_only: bool,
    /// What the configuration allows where two persons decide.
    pub approval_rules: ApprovalRules,
}

impl Desk {
    /// The kind that an item's kind name means.
    pub fn kind(&self, name: &str) -> &Arc<Kind> {
        self.kinds.get(name).unwrap_or(&self.other_kinds)
    }

    /// Where escalations of a kind go; `None` puts them on the record alone.
    pub fn escalation_of(&self, kind: &str) -> Option<&Arc<dyn Escalation>> {
        match &self.kind(kind).policy.escalate_to {
            Some(name) => self.escalations.get(name),
            None => self.escalation.as_ref(),
        }
    }

    /// The source of a name.
    pub fn source(&self, name: &str) -> Option<&Arc<dyn Source>> {
        self.sources.iter().find(|source| &*source.facts().name == name)
    }

    /// An item as the record finds it: by its source's name and by its source's table, as far as that is known by now.
    pub fn subject(&self, source: &str, key: &str) -> Subject {
        Subject { source: source.to_owned(), key: key.to_owned(), table: self.table_of(source) }
    }

    /// The table of a source, as it is called whatever the source is; `None` before it was read.
    pub fn table_of(&self, source: &str) -> Option<String> {
        self.source(source)?.facts().table.as_deref().map(str::to_owned)
    }

    /// Every field name that some policy hides: on record each is hidden for all kinds.
    pub fn masks(&self) -> Vec<String> {
        self.kinds.values().flat_map(|kind| kind.policy.mask.iter().cloned()).collect()
    }

    /// Account and machine, for the record.
    pub fn origin(&self) -> String {
        self.operator.origin()
    }
}

/// The fields of an item that templates may use: its own words, its columns, and its payload where that was read.
pub fn template_fields(item: &Item, row: Option<&Row>, payload: Option<&serde_json::Value>) -> Fields {
    use minijinja::Value;
    let columns = row.map(|row| row.columns.as_slice()).unwrap_or_default();
    let mut fields: Fields = item
        .fields
        .iter()
        .chain(columns)
        .filter_map(|(name, cell)| Some((name.to_string(), Value::from(cell.to_plain()?))))
        .collect();
    let own = [
        ("key", item.key.as_str()),
        ("kind", &*item.kind),
        ("status", &*item.status),
        ("source", &*item.source),
    ];
    fields.extend(own.map(|(name, text)| (name.to_owned(), Value::from(text))));
    if let Some(attempts) = item.attempts {
        fields.insert("attempts".to_owned(), Value::from(attempts.to_string()));
    }
    if let Some(payload) = payload {
        fields.insert("payload".to_owned(), crate::preset::template::json_value(payload));
    }
    fields
}
