//! What happens on the first run, and what is to be done then: plain data.

use crate::domain::policy::Risk;
use crossterm::event::KeyEvent;
use std::collections::BTreeMap;

/// A fault: one line what, one line what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// What.
    pub what: String,
    /// What to do.
    pub do_next: String,
}

/// Somebody who can be asked about one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderOffer {
    /// What a configuration calls it: `provider.operation`.
    pub check: String,
    /// Its preset.
    pub preset: String,
    /// What it is, for people.
    pub title: String,
    /// Where it is.
    pub needs: Needs,
    /// Whether it takes a secret.
    pub takes_secret: bool,
    /// What its preset leaves to fill in.
    pub variables: Vec<Variable>,
}

/// What says where a provider is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Needs {
    /// An address; where its preset knows one, that.
    BaseUrl(Option<String>),
    /// A database's address.
    Database,
}

/// What a preset leaves to fill in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// What it is, for people.
    pub means: String,
    /// Whether nothing works without it.
    pub is_required: bool,
}

/// What was seen in one database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Its address, without a password.
    pub address: String,
    /// What is there, or why that cannot be said.
    pub result: Result<SeenDatabase, Told>,
}

/// What is in a database.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SeenDatabase {
    /// The job systems that are known.
    pub systems: Vec<SeenSystem>,
    /// Tables that no preset knows, by name.
    pub unknown: Vec<String>,
    /// Something about it to know before going on.
    pub note: Option<Told>,
    /// Whether its address held a password, which is not written down.
    pub had_password: bool,
}

/// One job system that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenSystem {
    /// Its preset's name.
    pub name: String,
    /// What it is, for people.
    pub title: String,
    /// What needs a person in it.
    pub findings: Result<Finding, Told>,
}

/// How much needs a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finding {
    /// How many were counted.
    pub count: usize,
    /// Whether there was more than was read.
    pub has_more: bool,
}

/// A kind of items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenKind {
    /// Its name.
    pub name: String,
    /// How many of its items need a person, among those that were read.
    pub findings: usize,
}

/// What was answered, for the writer of configurations.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answers {
    /// By kind.
    pub kinds: BTreeMap<String, KindAnswer>,
    /// By preset.
    pub providers: BTreeMap<String, ProviderAnswer>,
    /// The variables with passwords, by address.
    pub passwords: BTreeMap<String, String>,
}

/// What was answered of a kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KindAnswer {
    /// What a wrong decision costs.
    pub risk: Risk,
    /// Who is asked; `None` is nobody for now.
    pub check: Option<String>,
    /// What the provider knows the item by, a template.
    pub reference: String,
}

/// What was answered of a provider; `None` is what was left empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProviderAnswer {
    /// Its address.
    pub base_url: Option<String>,
    /// Its database.
    pub database: Option<String>,
    /// The variable with its secret.
    pub secret_env: Option<String>,
    /// What its preset leaves to fill in.
    pub variables: BTreeMap<String, String>,
}

/// What a reference comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tried {
    /// This, with the first item.
    Shown(String),
    /// It cannot be tried here, for this reason; it may be right.
    Untried(String),
    /// It can be no reference.
    Wrong(Told),
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeadMessage {
    /// A key.
    Key(KeyEvent),
    /// A pasted text.
    Paste(String),
    /// The terminal has another size.
    Resize {
        /// Columns.
        width: u16,
        /// Rows.
        height: u16,
    },
    /// One of the databases was looked into.
    Looked {
        /// Which look it was.
        run: u64,
        /// Which of them.
        at: usize,
        /// What is there.
        seen: Seen,
        /// The kinds that are there.
        kinds: Vec<SeenKind>,
    },
    /// A reference was tried on a kind's first item.
    Previewed {
        /// Which try it was.
        run: u64,
        /// What it came to.
        shown: Tried,
    },
    /// The text was put together.
    Composed {
        /// Which text it is.
        run: u64,
        /// The text.
        text: String,
        /// Why the program itself would refuse it.
        fault: Option<Told>,
    },
    /// The file was written.
    Written {
        /// Where.
        path: String,
    },
    /// The file was not written.
    NotWritten(Told),
}

/// What to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeadTask {
    /// Look into one database. All are looked into at once.
    Look {
        /// Which look it is.
        run: u64,
        /// Which of them.
        at: usize,
        /// Its address.
        address: String,
    },
    /// Try a reference on a kind's first item.
    Preview {
        /// Which try it is.
        run: u64,
        /// The kind.
        kind: String,
        /// The template.
        template: String,
    },
    /// Put the text together.
    Compose {
        /// Which text it is.
        run: u64,
        /// Where it is to go.
        path: String,
        /// What was answered.
        answers: Answers,
    },
    /// Write a file that is not there yet.
    Write {
        /// Where.
        path: String,
        /// What.
        text: String,
    },
    /// Leave.
    End(Ended),
}

/// How the first run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// Nothing was written.
    Left,
    /// A configuration was written.
    Written {
        /// Where.
        path: String,
        /// Whether it names a source, so that the console can open with it.
        has_sources: bool,
    },
}
