//! `unstuck list`: the findings.

use super::arguments::{Common, Format, List};
use super::failure::{Exit, Failure};
use super::session::{self, AuditUse, Troubles};
use crate::domain::filter::Filter;
use crate::output::{FindingLine, csv_rows, json, say, table};
use crate::ports::source::Source;
use crate::workflow::scan::Pages;
use crate::workflow::{Desk, Found};
use std::io::{BufWriter, IsTerminal, Write};
use std::sync::Arc;

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
    let settings = session::settings(common)?;
    let desk = session::desk(common, &settings, AuditUse::None)?;
    let mut printer = Printer::new(arguments.format, table::list_head());
    let mut troubles = Troubles::of(&settings);
    for source in session::sources(&desk, arguments.source.as_deref())? {
        if let Err(fault) = print_source(&desk, &source, &filter, &mut printer).await? {
            troubles.tell(&fault.into());
        }
    }
    let counted = printer.finish(Some(troubles.of_nothing_found()))?;
    let worst = troubles.worst();
    if worst == Exit::Fine && arguments.fail_on_findings && counted > 0 {
        return Ok(Exit::No);
    }
    Ok(worst)
}

/// Prints one source's findings; the inner error is the source's.
async fn print_source(
    desk: &Desk,
    source: &Arc<dyn Source>,
    filter: &Filter,
    printer: &mut Printer,
) -> Result<Result<(), crate::ports::source::SourceFault>, Failure> {
    let mut held: Vec<Found> = Vec::new();
    let mut pages = Pages::of(desk, source);
    let mut ended = Ok(());
    while let Some(read) = pages.next().await {
        match read {
            Ok(page) => held.extend(page.found.into_iter().filter(|found| filter.passes(&found.facts()))),
            Err(fault) => ended = Err(fault),
        }
        if held.len() > SORTED_FINDINGS_MAX {
            for found in held.drain(..) {
                printer.print(&FindingLine::of(&found))?;
            }
        }
    }
    // No known time first, then the oldest. Places are sorted, not findings: those are large.
    let mut order: Vec<usize> = (0..held.len()).collect();
    order.sort_by_key(|at| held.get(*at).map(|found| found.finding.since));
    for found in order.iter().filter_map(|at| held.get(*at)) {
        printer.print(&FindingLine::of(found))?;
    }
    Ok(ended)
}

/// Prints findings in one of the three spellings, buffered.
pub(super) struct Printer {
    spelling: Spelling,
    counted: usize,
    width: Option<usize>,
    is_check: bool,
}

enum Spelling {
    Text { out: BufWriter<std::io::Stdout>, head: Option<String> },
    Json(BufWriter<std::io::Stdout>),
    Csv(Box<csv::Writer<std::io::Stdout>>),
}

impl Printer {
    /// A printer onto stdout. The head is printed before the first line of text.
    pub(super) fn new(format: Format, head: String) -> Self {
        let out = || BufWriter::with_capacity(1 << 16, std::io::stdout());
        let is_check = head == table::check_head();
        let spelling = match (format.json, format.csv) {
            (true, _) => Spelling::Json(out()),
            (_, true) => Spelling::Csv(Box::new(csv::Writer::from_writer(std::io::stdout()))),
            _ => Spelling::Text { out: out(), head: Some(head) },
        };
        let width = if std::io::stdout().is_terminal() {
            crossterm::terminal::size().ok().map(|(columns, _)| usize::from(columns))
        } else {
            None
        };
        Self { spelling, counted: 0, width, is_check }
    }

    /// Prints one finding.
    pub(super) fn print(&mut self, line: &FindingLine) -> Result<(), Failure> {
        self.counted += 1;
        match &mut self.spelling {
            Spelling::Json(out) => writeln!(out, "{}", json::line(line))?,
            Spelling::Csv(writer) => {
                if self.counted == 1 {
                    csv_rows::write_head(writer)?;
                }
                csv_rows::write_row(writer, line)?;
            }
            Spelling::Text { out, head } => {
                if let Some(head) = head.take() {
                    writeln!(out, "{head}")?;
                }
                let row = if self.is_check {
                    table::check_row(line, self.width)
                } else {
                    table::list_row(line, self.width)
                };
                writeln!(out, "{row}")?;
            }
        }
        Ok(())
    }

    /// Hands on what is buffered, so that a reader sees it now.
    pub(super) fn flush(&mut self) -> Result<(), Failure> {
        match &mut self.spelling {
            Spelling::Text { out, .. } | Spelling::Json(out) => out.flush()?,
            Spelling::Csv(writer) => writer.flush()?,
        }
        Ok(())
    }

    /// Ends the output; how many findings were printed. Where there were none, a person reads `nothing_found`.
    pub(super) fn finish(mut self, nothing_found: Option<&str>) -> Result<usize, Failure> {
        if let (Spelling::Csv(writer), 0) = (&mut self.spelling, self.counted) {
            csv_rows::write_head(writer)?;
        }
        self.flush()?;
        if let (Some(nothing_found), 0, Spelling::Text { .. }) = (nothing_found, self.counted, &self.spelling)
        {
            say::aside(nothing_found);
        }
        Ok(self.counted)
    }
}

/// Prints checked findings as text.
pub(super) fn print_checked_table(
    checked: &[(Arc<Found>, Arc<crate::workflow::Checked>)],
) -> Result<(), Failure> {
    let mut printer = Printer::new(Format { json: false, csv: false }, table::check_head());
    for (found, checked) in checked {
        printer.print(&FindingLine::of_checked(found, checked))?;
    }
    printer.finish(None).map(drop)
}
