//! `unstuck list`: the findings.

use super::arguments::{Common, Format, List};
use super::failure::{Exit, Failure};
use super::session::{self, AuditUse, Troubles};
use crate::domain::filter::Filter;
use crate::output::{FindingLine, csv_rows, json, say, table};
use crate::workflow::scan::Pages;
use crate::workflow::{Desk, Found};
use chrono::{DateTime, Utc};
use futures_util::future::join_all;
use rayon::iter::{IntoParallelRefIterator, ParallelExtend, ParallelIterator};
use std::io::{BufWriter, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many findings are held to be sorted; more are printed in the order of their source.
const SORTED_FINDINGS_MAX: usize = 100_000;

/// Prints the findings, the oldest first.
pub(super) async fn run(common: &Common, arguments: &List) -> Result<Exit, Failure> {
    let filter = session::filter(arguments.filter.as_deref())?;
    if filter.needs_check() {
        return Err(Failure::usage(
            "`list` asks no provider, so it knows no verdict and no advice",
            "Use `unstuck check --all --where …` for that filter.",
        ));
    }
    let settings = session::settings(common).await?;
    session::at_desk(common, &settings, AuditUse::Read, async |desk| {
        print_all(desk, Troubles::of(&settings), &filter, arguments).await
    })
    .await
}

async fn print_all(
    desk: &Desk,
    mut troubles: Troubles,
    filter: &Filter,
    arguments: &List,
) -> Result<Exit, Failure> {
    let mut printer = Printer::of_findings(arguments.format);
    let unpriced = AtomicUsize::new(0);
    // All begin at once: one that does not answer holds no other up.
    let sources = session::sources(desk, arguments.source.as_deref())?;
    let begun = join_all(sources.iter().map(|source| Pages::side_by_side(desk, source))).await;
    for pages in begun {
        let ended = match pages {
            Ok(pages) => print_source(pages, (filter, &unpriced), &mut printer).await?,
            Err(fault) => Err(fault),
        };
        if let Err(fault) = ended {
            troubles.tell(&fault.into());
        }
    }
    let counted = printer.finish(Some(troubles.of_nothing_found()))?;
    tell_unpriced(unpriced.into_inner());
    session::tell_waiting(desk).await;
    let worst = troubles.worst();
    if worst == Exit::Fine && arguments.fail_on_findings && counted > 0 {
        return Ok(Exit::No);
    }
    Ok(worst)
}

/// What has no known amount passes no word of money: that nothing was found does not mean that there is nothing.
fn tell_unpriced(count: usize) {
    let told = match count {
        0 => return,
        1 => "1 finding has no known amount or currency and was left out".to_owned(),
        many => format!("{many} findings have no known amount or currency and were left out"),
    };
    say::aside(format_args!(
        "{told}: only their provider may know it. `unstuck check --all --where …` asks first."
    ));
}

/// Prints one source's findings, and counts those that only a check could let pass; the inner error is the source's.
async fn print_source(
    mut pages: Pages<'_>,
    (filter, unpriced): (&Filter, &AtomicUsize),
    printer: &mut Printer,
) -> Result<Result<(), crate::ports::source::SourceFault>, Failure> {
    let mut held: Vec<Spelled> = Vec::new();
    let mut ended = Ok(());
    while let Some(read) = pages.next().await {
        match read {
            // Spelled while the next page is being read; a line is smaller than its finding.
            Ok(page) => {
                let passing = page.found.par_iter().filter(|found| {
                    let facts = found.facts();
                    let passes = filter.passes(&facts);
                    if !passes && filter.asks_for_money() && filter.may_pass(&facts) {
                        unpriced.fetch_add(1, Ordering::Relaxed);
                    }
                    passes
                });
                held.par_extend(passing.map(|found| {
                    let line = printer.spell(&FindingLine::of(found));
                    (found.finding.since, line.into_boxed_str())
                }));
            }
            Err(fault) => ended = Err(fault),
        }
        if held.len() > SORTED_FINDINGS_MAX {
            printer.print_spelled(&std::mem::take(&mut held))?;
        }
    }
    // No known time first, then the oldest.
    held.sort_by_key(|(since, _)| *since);
    printer.print_spelled(&held)?;
    Ok(ended)
}

/// A finding as it is printed, and since when it is so.
type Spelled = (Option<DateTime<Utc>>, Box<str>);

/// Prints findings in one of the three spellings, buffered.
pub(super) struct Printer {
    out: BufWriter<std::io::Stdout>,
    spelling: Spelling,
    /// The line above the first finding; `None` once it is printed, and where there is none.
    head: Option<String>,
    counted: usize,
}

/// How a finding is spelled.
#[derive(Clone, Copy)]
enum Spelling {
    /// For people, in so many columns.
    List(Option<usize>),
    /// The same with what a check said.
    Check(Option<usize>),
    /// One JSON object a line.
    Json,
    /// One row of a sheet.
    Csv,
}

impl Printer {
    /// A printer onto stdout of findings that no check was made of.
    pub(super) fn of_findings(format: Format) -> Self {
        Self::new(format, Spelling::List(columns()), table::list_head())
    }

    /// A printer onto stdout of findings with their checks.
    pub(super) fn of_checks(format: Format) -> Self {
        Self::new(format, Spelling::Check(columns()), table::check_head())
    }

    fn new(format: Format, text: Spelling, head: String) -> Self {
        let (spelling, head) = match (format.json, format.csv) {
            (true, _) => (Spelling::Json, None),
            (_, true) => (Spelling::Csv, Some(csv_rows::head())),
            _ => (text, Some(head + "\n")),
        };
        Self { out: BufWriter::with_capacity(1 << 16, std::io::stdout()), spelling, head, counted: 0 }
    }

    /// One finding as it is printed, its line break included.
    fn spell(&self, line: &FindingLine<'_>) -> String {
        match self.spelling {
            Spelling::Json => json::line(line) + "\n",
            Spelling::Csv => csv_rows::row(line),
            Spelling::List(width) => table::list_row(line, width) + "\n",
            Spelling::Check(width) => table::check_row(line, width) + "\n",
        }
    }

    fn print_spelled(&mut self, lines: &[Spelled]) -> Result<(), Failure> {
        for (_, line) in lines {
            self.write(line)?;
        }
        Ok(())
    }

    /// Prints one finding.
    pub(super) fn print(&mut self, line: &FindingLine<'_>) -> Result<(), Failure> {
        let spelled = self.spell(line);
        self.write(&spelled)
    }

    fn write(&mut self, spelled: &str) -> Result<(), Failure> {
        self.counted += 1;
        if let Some(head) = self.head.take() {
            self.out.write_all(head.as_bytes())?;
        }
        Ok(self.out.write_all(spelled.as_bytes())?)
    }

    /// Hands on what is buffered, so that a reader sees it now.
    pub(super) fn flush(&mut self) -> Result<(), Failure> {
        Ok(self.out.flush()?)
    }

    /// Ends the output; how many findings were printed. Where there were none, a person reads `nothing_found`.
    pub(super) fn finish(mut self, nothing_found: Option<&str>) -> Result<usize, Failure> {
        match (self.spelling, self.head.take()) {
            // A sheet without rows still has its columns.
            (Spelling::Csv, Some(head)) => self.out.write_all(head.as_bytes())?,
            (Spelling::List(_) | Spelling::Check(_), Some(_)) => {
                self.flush()?;
                nothing_found.into_iter().for_each(say::aside);
            }
            (Spelling::Json | Spelling::Csv | Spelling::List(_) | Spelling::Check(_), _) => {}
        }
        self.flush()?;
        Ok(self.counted)
    }
}

/// How wide the terminal is; `None` without one.
pub(super) fn columns() -> Option<usize> {
    let is_terminal = std::io::stdout().is_terminal();
    is_terminal.then(|| crossterm::terminal::size().ok().map(|(columns, _)| usize::from(columns))).flatten()
}

/// Prints checked findings, which are on record, as text.
pub(super) fn print_checked_table(
    checked: &[(Arc<Found>, Arc<crate::workflow::Checked>)],
) -> Result<(), Failure> {
    let mut printer = Printer::of_checks(Format { json: false, csv: false });
    for (found, checked) in checked {
        printer.print(&FindingLine::of_checked(found, checked, true))?;
    }
    printer.finish(None).map(drop)
}
