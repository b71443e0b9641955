//! What the console knows, and nothing of how it is drawn.

pub mod answers;
pub mod approval;
pub mod audit;
pub mod bulk;
pub mod counts;
pub mod decision;
pub mod facets;
pub mod finder;
pub mod findings;
mod fuzzy;
pub mod groups;
pub mod item;
pub mod loading;
pub mod matching;
mod names;
pub mod notice;
mod order;
pub mod palette;
mod places;
pub mod proposals;
pub mod row;
pub mod settling;
mod sieve;
pub mod sort;
pub mod story;
mod texts;
pub mod trail;
pub mod triage;
mod words;

use crate::console::Setup;
use crate::console::keymap::{Action, Place};
use crate::console::task::Task;
use crate::console::theme::Theme;
use crate::domain::escalated::Escalated;
use crate::domain::item::Item;
use crate::domain::policy::Policy;
use crate::ports::record::RecordFault;
use crate::workflow::recover::Recovered;
use approval::ApprovalDialog;
use audit::AuditView;
use bulk::BulkDialog;
use chrono::{DateTime, TimeDelta, Utc};
use decision::DecisionDialog;
use finder::Finder;
use findings::{Findings, Identity};
use item::Looked;
pub use loading::Loading;
use matching::{MatchView, Matching, Reach};
pub use notice::{Notice, Tone};
use palette::Palette;
use proposals::ProposalsView;
use ratatui::layout::Size;
use settling::Settling;
use std::collections::HashMap;
use story::TimelineView;
use trail::{Jump, Outlook, Trail};
use triage::Triage;
use tui_input::Input;

/// Which screen is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Screen {
    /// Findings and item.
    Findings,
    /// The audit.
    Audit,
    /// The proposals that wait for a second person.
    Proposals,
    /// The timeline of one item.
    Timeline,
    /// What the providers did, matched with what the jobs say.
    Matching(Matching),
}

/// A screen that was left for another, to come back to.
pub type Way = (Screen, Focus);

/// Which pane has the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Focus {
    /// The list.
    List,
    /// What is beside it.
    Detail,
}

/// What lies on top of the screen: one thing at a time.
#[derive(Debug, Default)]
pub enum Dialog {
    /// Nothing.
    #[default]
    None,
    /// The help, scrolled so far.
    Help(u16),
    /// The filter box.
    Filter(FilterBox),
    /// The box that finds a finding by some letters.
    Find(Box<Finder>),
    /// A notice in full, scrolled so far.
    Message(Notice, u16),
    /// The counts, each of which is a filter.
    Triage(Box<Triage>),
    /// The palette.
    Palette(Box<Palette>),
    /// The name under which a view is saved, and why it is none yet.
    Name(Input, Option<String>),
    /// A decision on one item.
    Decision(Box<DecisionDialog>),
    /// A decision on several items.
    Bulk(Box<BulkDialog>),
    /// A proposal that is approved or withdrawn.
    Approval(Box<ApprovalDialog>),
    /// What comes of decisions, scrolled so far.
    Outcome(u16),
    /// Decisions that had broken off, scrolled so far.
    Recovered(Vec<Recovered>, u16),
}

/// The filter box.
#[derive(Debug)]
pub struct FilterBox {
    /// What is typed.
    pub input: Input,
    /// What was there before, for `Esc`.
    pub before: String,
    /// Where the operator was before, to go back to.
    pub from: Jump,
    /// Why it is no filter yet.
    pub fault: Option<String>,
}

/// One source as the header shows it.
#[derive(Debug, Clone)]
pub struct SourceState {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub place: String,
    /// Why it could not be read the last time: what, and what to do.
    pub fault: Option<(String, String)>,
    /// How far its clock is ahead of ours; `None` before it was read.
    pub clock_gap: Option<TimeDelta>,
}

/// The scan of all sources.
#[derive(Debug, Clone, Copy)]
pub struct Scan {
    /// The number of the latest.
    pub run: u64,
    /// Since when it runs; `None` when none does.
    pub since: Option<DateTime<Utc>>,
    /// When the latest ended; `None` before the first.
    pub ended: Option<DateTime<Utc>>,
    /// The latest that brought something new after the first; 0 before.
    pub brought: u64,
    /// How many findings came since a key was pressed.
    pub fresh: usize,
}

/// Checks that run.
#[derive(Debug, Clone, Default)]
pub struct Checks {
    /// The number of the checks that run; `None` when none do.
    pub run: Option<u64>,
    /// How many were asked for.
    pub total: usize,
    /// How many are answered.
    pub done: usize,
    /// How many of them came to nothing that counts.
    pub unknown: usize,
    /// How many of them the record did not take.
    pub unrecorded: usize,
    /// Whether they were told to stop.
    pub cancelled: bool,
    /// Asked for meanwhile: these come next.
    pub waiting: Vec<Identity>,
}

/// Whether hidden fields are shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Unmask {
    /// They are hidden.
    #[default]
    Hidden,
    /// The look is being put on record.
    Asked(Identity),
    /// It is on record: those of this item are shown.
    Shown(Identity),
}

/// The console's state.
#[derive(Debug)]
pub struct Model {
    pub(in crate::console) setup: Setup,
    pub(in crate::console) theme: Theme,
    pub(in crate::console) now: DateTime<Utc>,
    pub(in crate::console) size: Size,
    pub(in crate::console) screen: Screen,
    pub(in crate::console) focus: Focus,
    /// The screens that were left, the latest last.
    pub(in crate::console) ways: Vec<Way>,
    pub(in crate::console) dialog: Dialog,
    pub(in crate::console) notice: Option<Notice>,
    pub(in crate::console) findings: Findings,
    pub(in crate::console) sources: Vec<SourceState>,
    pub(in crate::console) scan: Scan,
    pub(in crate::console) checks: Checks,
    pub(in crate::console) looked: Looked,
    pub(in crate::console) unmask: Unmask,
    pub(in crate::console) settling: Option<Settling>,
    /// What was escalated, whoever did it, also where its row is no finding.
    pub(in crate::console) escalations: HashMap<Identity, Escalated>,
    /// Why what others decided could not be read the last time; `None` where it was.
    pub(in crate::console) unread_record: Option<RecordFault>,
    /// Why the record did not take the latest entry that it was given; `None` once it takes entries again.
    pub(in crate::console) record_fault: Option<RecordFault>,
    pub(in crate::console) audit: AuditView,
    pub(in crate::console) proposals: ProposalsView,
    pub(in crate::console) timeline: TimelineView,
    pub(in crate::console) duplicates: MatchView,
    pub(in crate::console) reconcile: MatchView,
    pub(in crate::console) mouse: bool,
    pub(in crate::console) trail: Trail,
    /// Broken-off decisions that wait for another dialog to close.
    pub(in crate::console) recovered: Vec<Recovered>,
    last_run: u64,
}

/// The smallest terminal that is drawn on.
pub const SIZE_MIN: Size = Size { width: 20, height: 5 };

impl Model {
    /// A console at its start, and the first tasks.
    pub fn start(setup: Setup) -> (Self, Vec<Task>) {
        let sources = setup
            .sources
            .iter()
            .map(|(name, place)| SourceState {
                name: name.clone(),
                place: place.clone(),
                fault: None,
                clock_gap: None,
            })
            .collect();
        let model = Self {
            theme: Theme::new(setup.no_color),
            now: setup.now,
            size: setup.size,
            screen: Screen::Findings,
            focus: Focus::List,
            ways: Vec::new(),
            dialog: Dialog::None,
            notice: None,
            findings: Findings::default(),
            sources,
            scan: Scan { run: 1, since: Some(setup.now), ended: None, brought: 0, fresh: 0 },
            checks: Checks::default(),
            looked: Looked::default(),
            unmask: Unmask::Hidden,
            settling: None,
            escalations: HashMap::new(),
            unread_record: None,
            record_fault: None,
            audit: AuditView::default(),
            proposals: ProposalsView::default(),
            timeline: TimelineView::default(),
            duplicates: MatchView::new(Reach::Week),
            reconcile: MatchView::new(Reach::Day),
            mouse: false,
            trail: Trail::default(),
            recovered: Vec::new(),
            last_run: 1,
            setup,
        };
        (model, vec![Task::Recover, Task::Scan { run: 1 }])
    }

    /// Whether something on the screen changes with time alone (ages, progress).
    pub fn wants_ticks(&self) -> bool {
        let is_busy = self.scan.since.is_some()
            || self.checks.run.is_some()
            || self.settling.is_some()
            || matches!(self.timeline.story, Loading::Loading { .. })
            || self.duplicates.is_running()
            || self.reconcile.is_running();
        is_busy || !self.findings.is_empty()
    }

    /// A number for a new task.
    pub(in crate::console) fn next_run(&mut self) -> u64 {
        self.last_run += 1;
        self.last_run
    }

    /// Whether the terminal is too small to draw on: then no key does anything but leave.
    pub(in crate::console) fn is_too_small(&self) -> bool {
        self.size.width < SIZE_MIN.width || self.size.height < SIZE_MIN.height
    }

    /// Where a key is pressed now.
    pub(in crate::console) fn place(&self) -> Place {
        match (&self.dialog, self.screen, self.focus) {
            (Dialog::Filter(_), ..) => Place::Filter,
            (Dialog::Find(_), ..) => Place::Find,
            (Dialog::Triage(_), ..) => Place::Triage,
            (Dialog::Palette(_), ..) => Place::Palette,
            (Dialog::Name(..), ..) => Place::Name,
            (Dialog::Decision(dialog), ..) => dialog.place(),
            (Dialog::Bulk(dialog), ..) => dialog.place(),
            (Dialog::Approval(dialog), ..) => dialog.place(),
            (Dialog::Outcome(_), ..) if self.is_settling() => Place::Writing,
            (Dialog::Help(_) | Dialog::Message(..) | Dialog::Outcome(_) | Dialog::Recovered(..), ..) => {
                Place::Reading
            }
            (Dialog::None, Screen::Findings, Focus::List) => Place::Findings,
            (Dialog::None, Screen::Findings, Focus::Detail) => Place::Item,
            (Dialog::None, Screen::Audit, Focus::List) => Place::Audit,
            (Dialog::None, Screen::Audit, Focus::Detail) => Place::Entry,
            (Dialog::None, Screen::Proposals, Focus::List) => Place::Proposals,
            (Dialog::None, Screen::Proposals, Focus::Detail) => Place::Proposal,
            (Dialog::None, Screen::Timeline, Focus::List) => Place::Timeline,
            (Dialog::None, Screen::Timeline, Focus::Detail) => Place::Questions,
            (Dialog::None, Screen::Matching(Matching::Duplicates), Focus::List) => Place::Duplicates,
            (Dialog::None, Screen::Matching(Matching::Duplicates), Focus::Detail) => Place::Duplicate,
            (Dialog::None, Screen::Matching(Matching::Reconcile), Focus::List) => Place::Reconcile,
            (Dialog::None, Screen::Matching(Matching::Reconcile), Focus::Detail) => Place::Mismatch,
        }
    }

    /// The view of a matching.
    pub(in crate::console) fn matching(&self, which: Matching) -> &MatchView {
        match which {
            Matching::Duplicates => &self.duplicates,
            Matching::Reconcile => &self.reconcile,
        }
    }

    /// The same, to change it.
    pub(in crate::console) fn matching_mut(&mut self, which: Matching) -> &mut MatchView {
        match which {
            Matching::Duplicates => &mut self.duplicates,
            Matching::Reconcile => &mut self.reconcile,
        }
    }

    /// Whether a finding came with the latest scan that brought something new.
    pub(in crate::console) fn is_new(&self, row: &findings::Row) -> bool {
        self.scan.brought > 0 && row.came_in == self.scan.brought
    }

    /// Whether a check is older than the policy lets evidence count: a decision asks again anyway.
    pub(in crate::console) fn is_check_old(&self, row: &findings::Row) -> bool {
        let max = self.setup.evidence_age_max.get(&row.found.finding.item.kind).copied();
        let max = max.unwrap_or(Policy::EVIDENCE_AGE_MAX);
        row.checked.as_ref().is_some_and(|checked| self.now - checked.at > max)
    }

    /// The escalation of an item, whoever made it, and whether its row is still as that left it.
    pub(in crate::console) fn escalation_of(&self, item: &Item) -> Option<(&Escalated, bool)> {
        let escalated = self.escalations.get(&Identity::of(item))?;
        Some((escalated, escalated.is_of_row(item, &self.all_masks())))
    }

    /// Whether an item was escalated exactly as it is.
    pub(in crate::console) fn is_escalated(&self, item: &Item) -> bool {
        self.escalation_of(item).is_some_and(|(_, is_same)| is_same)
    }

    /// Whether a finding is from an earlier reading, because its source could not be read the last time.
    pub(in crate::console) fn is_from_before(&self, row: &findings::Row) -> bool {
        let source = &*row.found.finding.item.source;
        self.sources.iter().any(|state| state.fault.is_some() && state.name == source)
    }

    /// What of the findings is shown, and how.
    pub(in crate::console) fn outlook(&self) -> Outlook {
        Outlook {
            filter: self.findings.typed().to_owned(),
            sort: self.findings.sort(),
            grouping: self.findings.grouping(),
        }
    }

    /// Where the operator is now.
    pub(in crate::console) fn here(&self) -> Jump {
        Jump { outlook: self.outlook(), at: self.findings.current().map(findings::Row::identity) }
    }

    /// What the line at the bottom says: the latest notice, else that the record took something not, else that a source
    /// could not be read.
    pub(in crate::console) fn told_now(&self) -> Option<Notice> {
        let unrecorded = || {
            let fault = self.record_fault.as_ref()?;
            Some(Notice::alarm(format!("Not on record: {}", fault.what), fault.do_next.clone()))
        };
        self.notice.clone().or_else(unrecorded).or_else(|| {
            let unread = self.sources.iter().find_map(|source| Some((source, source.fault.as_ref()?)));
            let (source, (what, do_next)) = unread.filter(|_| self.screen == Screen::Findings)?;
            Some(Notice::alarm(format!("{}: {what}", source.name), do_next.clone()))
        })
    }

    /// The key of an action where keys are pressed now, as a sentence spells it.
    pub(in crate::console) fn key_of(&self, action: Action) -> String {
        self.setup.keys.told(self.place(), action)
    }

    /// Whether decisions are being written.
    pub(in crate::console) fn is_settling(&self) -> bool {
        self.settling.as_ref().is_some_and(|settling| !settling.ended)
    }

    /// Whether the hidden fields of an item are shown.
    pub(in crate::console) fn shows_hidden(&self, identity: &Identity) -> bool {
        matches!(&self.unmask, Unmask::Shown(shown) if shown == identity)
    }

    /// The names of fields that the policy of a kind hides.
    pub(in crate::console) fn masks_of(&self, kind: &str) -> &[String] {
        self.setup.masks.get(kind).map(|masks| &**masks).unwrap_or_default()
    }

    /// The names of fields that some policy hides: for what does not say of which kind its item is.
    pub(in crate::console) fn all_masks(&self) -> Vec<String> {
        self.setup.masks.values().flat_map(|masks| masks.iter().cloned()).collect()
    }

    /// Why decisions are refused, if they are: what, and what to do.
    pub(in crate::console) fn refuses_decisions(&self) -> Option<Notice> {
        if self.setup.read_only {
            return Some(Notice::alarm(
                "Read-only: nothing can be decided here.",
                "Start it without `--read-only` to decide.",
            ));
        }
        let fault = self.setup.audit_fault.as_ref()?;
        Some(Notice::alarm(
            format!("Without an audit nothing is decided: {}", crate::domain::text::clean(fault)),
            "Mend the audit, then start again.",
        ))
    }
}
