//! `unstuck init`: writes a configuration from the databases it is pointed at.

use super::arguments::{Common, Init};
use super::failure::{Exit, Failure};
use super::session::look;
use crate::config::write::{self, Answers};
use crate::output::say;
use crate::preset::catalogue::Catalogue;
use std::path::Path;

/// Writes the configuration.
pub(super) async fn run(common: &Common, arguments: &Init) -> Result<Exit, Failure> {
    if common.db.is_empty() {
        return Err(Failure::usage(
            "no database is named",
            "Point it at one: unstuck init --db sqlite://jobs.db",
        ));
    }
    let catalogue = Catalogue::new(&[])
        .map_err(|fault| Failure::usage(fault.to_string(), "Report this: a built-in preset is wrong."))?;
    let looked = look(&common.db).await?.into_iter().map(|(database, tables)| Ok((database, tables?)));
    let looked = looked.collect::<Result<Vec<_>, Failure>>()?;
    let text = write::configuration(&looked, &catalogue, &Answers::default());
    if arguments.output == "-" {
        say::text(&text)?;
        return Ok(Exit::Fine);
    }
    write::write_new(Path::new(&arguments.output), &text).map_err(|what| {
        Failure::usage(what, "Name another file with --output, or `-` for standard output.")
    })?;
    let shown = crate::domain::text::clean(&arguments.output);
    say::aside(format_args!("Written to {shown}. Next: unstuck --config {shown} doctor"));
    Ok(Exit::Fine)
}
