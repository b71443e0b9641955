//! The keymap: one table from which key handling, help, footer and palette are drawn; a configuration may give other keys.

mod effective;

pub use effective::{Bound, Keymap};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What a key can mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// One line down.
    Down,
    /// One line up.
    Up,
    /// Half a page down.
    HalfDown,
    /// Half a page up.
    HalfUp,
    /// A page down.
    PageDown,
    /// A page up.
    PageUp,
    /// To the first line.
    Top,
    /// To the last line.
    Bottom,
    /// Look at what is under the cursor.
    Open,
    /// To the other pane.
    OtherPane,
    /// Cancel what runs, else go back.
    Back,
    /// Select or deselect the finding.
    Select,
    /// Select every finding shown.
    SelectAll,
    /// Open the filter box.
    Filter,
    /// Open the box that finds a finding by some letters.
    Find,
    /// To the finding that was found.
    GoTo,
    /// Tell the whole of what the line at the bottom says.
    Message,
    /// Sort by the next column.
    SortNext,
    /// Turn the order round.
    SortReverse,
    /// Show the counts, each of which is a filter.
    Triage,
    /// In the counts: filter by the one under the cursor, or not any more.
    Pick,
    /// Group by the next thing.
    Group,
    /// Fold or unfold all groups.
    FoldAll,
    /// Back to the filter and grouping before.
    JumpBack,
    /// Forward again.
    JumpForward,
    /// Show the saved views.
    Views,
    /// Save filter, order and grouping under a name.
    SaveView,
    /// Find an action by its name.
    Palette,
    /// Do what is found in the palette.
    Run,
    /// Save under the name that was typed.
    KeepName,
    /// Pause before the next decision of a running series, or go on.
    PauseDeciding,
    /// Read the sources again.
    Refresh,
    /// Ask the provider of what is selected, or of the finding under the cursor.
    Check,
    /// Ask the providers of every finding shown.
    CheckAll,
    /// Open the dialog that marks done.
    MarkDone,
    /// Open the dialog that retries.
    Retry,
    /// Open the dialog that escalates.
    Escalate,
    /// Show hidden fields, on record; again hides them.
    Unmask,
    /// Copy the key to the clipboard.
    CopyKey,
    /// Show the audit.
    Audit,
    /// Show the proposals that wait for a second person.
    Proposals,
    /// Show the timeline of the item.
    Timeline,
    /// Show what happened more than once.
    Duplicates,
    /// Match what the providers did with what the jobs say.
    Reconcile,
    /// Match over the next window.
    Window,
    /// To the item in the list of findings.
    ToItem,
    /// Open the dialog that approves a proposal.
    Approve,
    /// Open the dialog that withdraws a proposal.
    Withdraw,
    /// Turn the mouse on or off.
    Mouse,
    /// Show the help.
    Help,
    /// Draw the whole screen anew, whatever else was written on it.
    Redraw,
    /// Stop as the shell's job.
    Suspend,
    /// End the program.
    Quit,
    /// End the program from anywhere.
    QuitNow,
    /// Keep the filter as typed.
    KeepFilter,
    /// To the dialog's next field.
    NextField,
    /// To the dialog's previous field.
    PreviousField,
    /// Insist against the advice, or not.
    Insist,
    /// Confirm on the dialog's button.
    Confirm,
    /// Confirm with the word that was typed.
    ConfirmTyped,
    /// Leave the dialog; nothing is written by that.
    Cancel,
    /// Close a message that was read.
    Close,
    /// Stop before the next decision of a running series.
    StopDeciding,
}

/// Where a key is pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// The list of findings.
    Findings,
    /// The item beside it.
    Item,
    /// The list of audit entries.
    Audit,
    /// One audit entry.
    Entry,
    /// The list of proposals that wait.
    Proposals,
    /// One proposal.
    Proposal,
    /// The timeline of an item.
    Timeline,
    /// The questions beside it.
    Questions,
    /// The list of what happened more than once.
    Duplicates,
    /// One reference of it.
    Duplicate,
    /// The list of what does not match.
    Reconcile,
    /// One line of it.
    Mismatch,
    /// The counts.
    Triage,
    /// The palette.
    Palette,
    /// The name of a view.
    Name,
    /// The filter box.
    Filter,
    /// The box that finds.
    Find,
    /// The reason in a dialog.
    Reason,
    /// The "insist" switch in a dialog.
    Insist,
    /// The button in a dialog.
    Button,
    /// The word to type in a dialog.
    Typed,
    /// A dialog in which nothing can be confirmed.
    Blocked,
    /// Decisions that are being written.
    Writing,
    /// Something to read: help, outcome, what was recovered.
    Reading,
}

impl Place {
    /// Whether printable keys are text there, and nothing else.
    pub fn is_text(self) -> bool {
        matches!(self, Self::Filter | Self::Find | Self::Reason | Self::Typed | Self::Palette | Self::Name)
    }
}

/// One key, as the table spells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    code: KeyCode,
    control: bool,
}

const fn key(code: KeyCode) -> Key {
    Key { code, control: false }
}

const fn char(character: char) -> Key {
    key(KeyCode::Char(character))
}

const fn ctrl(character: char) -> Key {
    Key { code: KeyCode::Char(character), control: true }
}

impl Key {
    /// Whether this key was pressed.
    pub fn is_pressed(self, event: KeyEvent) -> bool {
        let control = event.modifiers.contains(KeyModifiers::CONTROL);
        let other = event.modifiers.intersects(KeyModifiers::ALT | KeyModifiers::SUPER | KeyModifiers::META);
        self.code == event.code && self.control == control && !other
    }

    /// The key as the help spells it.
    pub fn spelled(self) -> String {
        let name = match self.code {
            KeyCode::Char(' ') => "Space".to_owned(),
            KeyCode::Char(character) => character.to_string(),
            KeyCode::PageUp => "PgUp".to_owned(),
            KeyCode::PageDown => "PgDn".to_owned(),
            KeyCode::BackTab => "Shift-Tab".to_owned(),
            other => other.to_string(),
        };
        if self.control { format!("Ctrl-{name}") } else { name }
    }

    /// An event as a terminal sends it, for tests.
    pub fn event(self) -> KeyEvent {
        KeyEvent::new(self.code, if self.control { KeyModifiers::CONTROL } else { KeyModifiers::NONE })
    }
}

/// Under which heading of the help a key stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Finding things out.
    Look,
    /// Decisions.
    Decide,
    /// Moving about.
    Move,
    /// Inside a dialog.
    Dialog,
    /// The program itself.
    Program,
}

impl Group {
    /// Every group, in the order of the help.
    pub const ALL: [Self; 5] = [Self::Look, Self::Decide, Self::Move, Self::Dialog, Self::Program];

    /// Its heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Look => "Look",
            Self::Decide => "Decide (each opens a dialog first)",
            Self::Move => "Move",
            Self::Dialog => "In a dialog",
            Self::Program => "Program",
        }
    }
}

/// One line of the keymap.
#[derive(Debug, Clone, Copy)]
pub struct Binding {
    /// What the keys mean.
    pub action: Action,
    /// The keys; the first one stands in the footer.
    pub keys: &'static [Key],
    /// Where they mean it.
    pub places: &'static [Place],
    /// Its heading in the help.
    pub group: Group,
    /// One line for the help.
    pub help: &'static str,
    /// Its word in the footer; empty where the footer does without.
    pub label: &'static str,
}

use Action as A;
use Place as P;

const LISTS: &[Place] = &[
    P::Findings,
    P::Item,
    P::Audit,
    P::Entry,
    P::Proposals,
    P::Proposal,
    P::Timeline,
    P::Questions,
    P::Duplicates,
    P::Duplicate,
    P::Reconcile,
    P::Mismatch,
];
const HAVE_KEYS: &[Place] = &[
    P::Findings,
    P::Item,
    P::Audit,
    P::Entry,
    P::Proposals,
    P::Proposal,
    P::Timeline,
    P::Questions,
    P::Reconcile,
    P::Mismatch,
];
const NOT_AUDIT: &[Place] = &[
    P::Proposals,
    P::Proposal,
    P::Timeline,
    P::Questions,
    P::Duplicates,
    P::Duplicate,
    P::Reconcile,
    P::Mismatch,
];
const NOT_PROPOSALS: &[Place] =
    &[P::Audit, P::Entry, P::Timeline, P::Questions, P::Duplicates, P::Duplicate, P::Reconcile, P::Mismatch];
const NOT_DUPLICATES: &[Place] =
    &[P::Audit, P::Entry, P::Proposals, P::Proposal, P::Timeline, P::Questions, P::Reconcile, P::Mismatch];
const NOT_RECONCILE: &[Place] =
    &[P::Audit, P::Entry, P::Proposals, P::Proposal, P::Timeline, P::Questions, P::Duplicates, P::Duplicate];
const PROPOSALS: &[Place] = &[P::Proposals, P::Proposal];
const SCROLLS: &[Place] = &[
    P::Triage,
    P::Findings,
    P::Item,
    P::Audit,
    P::Entry,
    P::Proposals,
    P::Proposal,
    P::Timeline,
    P::Questions,
    P::Duplicates,
    P::Duplicate,
    P::Reconcile,
    P::Mismatch,
    P::Reading,
    P::Writing,
    P::Blocked,
];
const SCROLLS_TOO: &[Place] = &[
    P::Triage,
    P::Palette,
    P::Findings,
    P::Item,
    P::Audit,
    P::Entry,
    P::Proposals,
    P::Proposal,
    P::Timeline,
    P::Questions,
    P::Duplicates,
    P::Duplicate,
    P::Reconcile,
    P::Mismatch,
    P::Reading,
    P::Writing,
    P::Blocked,
    P::Button,
    P::Insist,
    P::Reason,
    P::Typed,
    P::Filter,
    P::Find,
];
const ITEMS: &[Place] = &[P::Findings, P::Item];
const TIMELINE: &[Place] = &[P::Timeline, P::Questions];
const DUPLICATES: &[Place] = &[P::Duplicates, P::Duplicate];
const RECONCILE: &[Place] = &[P::Reconcile, P::Mismatch];
const MATCHINGS: &[Place] = &[P::Duplicates, P::Duplicate, P::Reconcile, P::Mismatch];
const HAVE_TIMELINES: &[Place] =
    &[P::Findings, P::Item, P::Duplicates, P::Duplicate, P::Reconcile, P::Mismatch];
const TO_ITEM: &[Place] =
    &[P::Timeline, P::Questions, P::Duplicates, P::Duplicate, P::Reconcile, P::Mismatch];
const ESCALATES: &[Place] = &[P::Findings, P::Item, P::Duplicates, P::Duplicate];
const TWO_PANES: &[Place] = &[
    P::Findings,
    P::Item,
    P::Timeline,
    P::Questions,
    P::Duplicates,
    P::Duplicate,
    P::Reconcile,
    P::Mismatch,
];
const FIELDS: &[Place] = &[P::Reason, P::Insist, P::Button, P::Typed];
const EVERYWHERE: &[Place] = &[
    P::Triage,
    P::Palette,
    P::Name,
    P::Findings,
    P::Item,
    P::Audit,
    P::Entry,
    P::Proposals,
    P::Proposal,
    P::Timeline,
    P::Questions,
    P::Duplicates,
    P::Duplicate,
    P::Reconcile,
    P::Mismatch,
    P::Filter,
    P::Find,
    P::Reason,
    P::Insist,
    P::Button,
    P::Typed,
    P::Blocked,
    P::Writing,
    P::Reading,
];

const fn bind(
    action: Action,
    keys: &'static [Key],
    places: &'static [Place],
    group: Group,
    label: &'static str,
    help: &'static str,
) -> Binding {
    Binding { action, keys, places, group, help, label }
}

/// The whole keymap.
#[rustfmt::skip]
pub const KEYMAP: &[Binding] = &[
    bind(A::Check, &[char('c')], ITEMS, Group::Look, "check", "ask the provider of this finding (or of those selected)"),
    bind(A::Open, &[key(KeyCode::Enter), char('l'), key(KeyCode::Right)], &[P::Findings, P::Audit, P::Proposals, P::Duplicates, P::Reconcile], Group::Look, "open", "look at it: row, payload, evidence, history"),
    bind(A::Open, &[key(KeyCode::Enter)], &[P::Item], Group::Look, "read again", "in the item: read row, payload and history again"),
    bind(A::MarkDone, &[char('d')], ITEMS, Group::Decide, "done", "mark done: the effect is there"),
    bind(A::Retry, &[char('r')], ITEMS, Group::Decide, "retry", "retry: let the job system try again"),
    bind(A::Escalate, &[char('e')], ESCALATES, Group::Decide, "escalate", "escalate: hand it to somebody else"),
    bind(A::Check, &[char('c')], TIMELINE, Group::Look, "ask", "in the timeline: ask the provider anew, for the effects with their times"),
    bind(A::Window, &[char('w')], MATCHINGS, Group::Look, "window", "in duplicates and reconcile: the next window (2h, 24h, 7d)"),
    bind(A::ToItem, &[char('o')], TO_ITEM, Group::Look, "its finding", "to the item in the list of findings, if it is one; Esc comes back"),
    bind(A::Filter, &[char('/')], ITEMS, Group::Look, "filter", "filter: words, kind:invoice finding:stuck verdict:unknown age>2h -timeout"),
    bind(A::Find, &[char('f')], ITEMS, Group::Look, "", "find a finding by some letters of its key or reference"),
    bind(A::Quit, &[char('q')], LISTS, Group::Program, "quit", "quit; a write that has begun is waited for"),
    bind(A::Back, &[key(KeyCode::Esc), char('h'), key(KeyCode::Left)], LISTS, Group::Move, "back", "cancel what runs, else back, else drop selection, else filter"),
    bind(A::CheckAll, &[char('C')], &[P::Findings], Group::Look, "check all", "ask the providers of all findings shown"),
    bind(A::Select, &[char(' ')], &[P::Findings], Group::Decide, "select", "select or deselect; a decision then takes all selected"),
    bind(A::SelectAll, &[char('a'), char('*')], &[P::Findings], Group::Decide, "", "select all findings shown, or none"),
    bind(A::SortNext, &[char('s')], ITEMS, Group::Look, "sort", "sort by the next column"),
    bind(A::SortReverse, &[char('S')], ITEMS, Group::Look, "", "turn the order round"),
    bind(A::Triage, &[char('t')], ITEMS, Group::Look, "triage", "triage: how many of what; each count is a filter by one key"),
    bind(A::Group, &[char('z')], ITEMS, Group::Look, "group", "group by error, hour, kind, source, reference, or not; Enter unfolds"),
    bind(A::FoldAll, &[char('Z')], &[P::Findings], Group::Look, "", "unfold all groups, or fold them"),
    bind(A::JumpBack, &[char('['), ctrl('o')], ITEMS, Group::Look, "", "undo a filter or grouping: back to the one before"),
    bind(A::JumpForward, &[char(']')], ITEMS, Group::Look, "", "forward again"),
    bind(A::Views, &[char('v')], ITEMS, Group::Look, "views", "saved views: filter, order and grouping under a name"),
    bind(A::SaveView, &[char('V')], ITEMS, Group::Look, "", "save this filter, order and grouping under a name"),
    bind(A::Refresh, &[char('R')], ITEMS, Group::Look, "refresh", "read the sources again"),
    bind(A::Refresh, &[char('R')], &[P::Audit, P::Entry], Group::Look, "refresh", "in the audit: read it again"),
    bind(A::Unmask, &[char('u')], ITEMS, Group::Look, "", "show hidden fields of this item (goes on record); again hides them"),
    bind(A::CopyKey, &[char('y')], HAVE_KEYS, Group::Look, "", "copy the key to the clipboard"),
    bind(A::CopyKey, &[char('y')], DUPLICATES, Group::Look, "", "in the duplicates: copy all that a refund needs to the clipboard"),
    bind(A::Audit, &[char('A')], ITEMS, Group::Look, "audit", "the audit: who did what, newest first"),
    bind(A::Audit, &[char('A')], NOT_AUDIT, Group::Look, "", "the audit, from another view"),
    bind(A::Audit, &[char('A')], &[P::Audit, P::Entry], Group::Look, "", "in the audit: back to where you came from"),
    bind(A::Approve, &[char('a')], PROPOSALS, Group::Decide, "approve", "in the proposals: approve somebody else's, and carry it out"),
    bind(A::Withdraw, &[char('w')], PROPOSALS, Group::Decide, "withdraw", "in the proposals: take yours back, or reject somebody else's"),
    bind(A::Proposals, &[char('P')], ITEMS, Group::Look, "proposals", "the proposals that wait for a second person"),
    bind(A::Proposals, &[char('P')], NOT_PROPOSALS, Group::Look, "", "the proposals, from another view"),
    bind(A::Proposals, &[char('P')], PROPOSALS, Group::Look, "", "in the proposals: back to where you came from"),
    bind(A::Refresh, &[char('R')], PROPOSALS, Group::Look, "refresh", "in the proposals: read them again"),
    bind(A::Timeline, &[char('T')], HAVE_TIMELINES, Group::Look, "timeline", "the timeline of this item: what happened when, and the six questions"),
    bind(A::Timeline, &[char('T')], TIMELINE, Group::Look, "", "in the timeline: back to where you came from"),
    bind(A::Refresh, &[char('R')], TIMELINE, Group::Look, "refresh", "in the timeline: read it again"),
    bind(A::Duplicates, &[char('D')], ITEMS, Group::Look, "duplicates", "duplicates: what happened more than once, how, and what was charged twice"),
    bind(A::Duplicates, &[char('D')], NOT_DUPLICATES, Group::Look, "", "the duplicates, from another view"),
    bind(A::Duplicates, &[char('D')], DUPLICATES, Group::Look, "", "in the duplicates: back to where you came from"),
    bind(A::Reconcile, &[char('M')], ITEMS, Group::Look, "reconcile", "reconcile: match effects and items both ways, whatever the items' state"),
    bind(A::Reconcile, &[char('M')], NOT_RECONCILE, Group::Look, "", "reconcile, from another view"),
    bind(A::Reconcile, &[char('M')], RECONCILE, Group::Look, "", "in reconcile: back to where you came from"),
    bind(A::Refresh, &[char('R')], MATCHINGS, Group::Look, "refresh", "in duplicates and reconcile: read the lists and match again"),
    bind(A::Down, &[char('j'), key(KeyCode::Down)], SCROLLS, Group::Move, "", "one line down"),
    bind(A::Up, &[char('k'), key(KeyCode::Up)], SCROLLS, Group::Move, "", "one line up"),
    bind(A::Down, &[key(KeyCode::Down), ctrl('n')], &[P::Palette, P::Find], Group::Dialog, "", "in the palette and in find: one line down"),
    bind(A::Up, &[key(KeyCode::Up), ctrl('p')], &[P::Palette, P::Find], Group::Dialog, "", "in the palette and in find: one line up"),
    bind(A::Down, &[key(KeyCode::Down)], &[P::Filter, P::Reason, P::Typed, P::Insist, P::Button], Group::Dialog, "", "scroll the text above down (filtering: the list)"),
    bind(A::Up, &[key(KeyCode::Up)], &[P::Filter, P::Reason, P::Typed, P::Insist, P::Button], Group::Dialog, "", "scroll it up"),
    bind(A::HalfDown, &[ctrl('d')], SCROLLS, Group::Move, "", "half a page down"),
    bind(A::HalfUp, &[ctrl('u')], SCROLLS, Group::Move, "", "half a page up"),
    bind(A::PageDown, &[key(KeyCode::PageDown), ctrl('f')], SCROLLS_TOO, Group::Move, "", "a page down"),
    bind(A::PageUp, &[key(KeyCode::PageUp), ctrl('b')], SCROLLS_TOO, Group::Move, "", "a page up"),
    bind(A::Top, &[char('g'), key(KeyCode::Home)], SCROLLS, Group::Move, "", "to the first line"),
    bind(A::Bottom, &[char('G'), key(KeyCode::End)], SCROLLS, Group::Move, "", "to the last line"),
    bind(A::OtherPane, &[key(KeyCode::Tab)], TWO_PANES, Group::Move, "", "between list and item, timeline and questions"),
    bind(A::Pick, &[key(KeyCode::Enter), char(' ')], &[P::Triage], Group::Dialog, "filter by it", "in triage: filter by the count (or press its letter); again undoes it"),
    bind(A::Close, &[key(KeyCode::Esc), char('t'), char('q')], &[P::Triage], Group::Dialog, "close", "in triage: close it; the filter stays"),
    bind(A::Run, &[key(KeyCode::Enter)], &[P::Palette], Group::Dialog, "do it", "in the palette: do what is found"),
    bind(A::GoTo, &[key(KeyCode::Enter)], &[P::Find], Group::Dialog, "go to it", "in find: put the cursor on it, out of its group; a filter that hides it goes"),
    bind(A::KeepName, &[key(KeyCode::Enter)], &[P::Name], Group::Dialog, "save", "save the view under the name typed"),
    bind(A::KeepFilter, &[key(KeyCode::Enter)], &[P::Filter], Group::Dialog, "keep the filter", "keep the filter as typed"),
    bind(A::NextField, &[key(KeyCode::Tab), key(KeyCode::Enter)], &[P::Reason, P::Insist], Group::Dialog, "next field", "to the next field"),
    bind(A::NextField, &[key(KeyCode::Tab)], &[P::Button, P::Typed], Group::Dialog, "", "to the next field"),
    bind(A::PreviousField, &[key(KeyCode::BackTab)], FIELDS, Group::Dialog, "", "to the previous field"),
    bind(A::Insist, &[char(' ')], &[P::Insist], Group::Dialog, "insist or not", "insist against the advice, or not"),
    bind(A::Confirm, &[char('y')], &[P::Button], Group::Dialog, "confirm", "confirm, on the button; Enter alone never does"),
    bind(A::ConfirmTyped, &[key(KeyCode::Enter)], &[P::Typed], Group::Dialog, "confirm what you typed", "confirm once the word asked for is typed"),
    bind(A::StopDeciding, &[key(KeyCode::Esc)], &[P::Writing], Group::Dialog, "stop before the next", "stop before the next one; the one begun is carried to its outcome"),
    bind(A::PauseDeciding, &[char(' ')], &[P::Writing], Group::Dialog, "pause", "pause before the next one; again goes on"),
    bind(A::Cancel, &[key(KeyCode::Esc)], &[P::Filter, P::Find, P::Palette, P::Name, P::Reason, P::Insist, P::Button, P::Typed, P::Blocked], Group::Dialog, "cancel", "leave the dialog; nothing is written"),
    bind(A::Close, &[key(KeyCode::Esc), key(KeyCode::Enter), char('q')], &[P::Reading], Group::Dialog, "close", "close what you have read"),
    bind(A::Mouse, &[char('m')], LISTS, Group::Program, "", "mouse on or off (off leaves selecting text to the terminal)"),
    bind(A::Palette, &[char(':')], LISTS, Group::Program, "palette", "palette: every action by its name"),
    bind(A::Message, &[char('!')], LISTS, Group::Program, "", "all of what the line at the bottom says, where there is no room for it"),
    bind(A::Help, &[char('?')], LISTS, Group::Program, "help", "this help"),
    bind(A::Redraw, &[ctrl('l')], EVERYWHERE, Group::Program, "", "draw everything anew, where something else wrote on the screen"),
    bind(A::Suspend, &[ctrl('z')], EVERYWHERE, Group::Program, "", "stop as the shell's job; `fg` comes back"),
    bind(A::QuitNow, &[ctrl('c')], EVERYWHERE, Group::Program, "", "quit from anywhere"),
];
